"""The faults that `faults.py` plants, one at a time: wrong signs, lost terms, stale values.

Each stands for a class of mistakes. A text must occur once in its file, and what replaces it must
run: a fault that breaks the import is noticed by everybody, and says nothing about the tests.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """A fault, and the tests that should notice it.

    Attributes
    ----------
    name : str
        What is wrong.
    file : str
        A file below `src/arraygrad`.
    text, instead : str
        A text of this file, and the one that takes its place.
    tests : str
        The arguments of pytest: the tests that concern the file.
    """

    name: str
    file: str
    text: str
    instead: str
    tests: str


_OPS = "tests/test_samples.py --op"
_GRAD = "tests/autograd/test_grad.py tests/autograd/test_backward.py"
_CROSSED = "tests/scipy/test_crossed.py --op"

# --- ops: rules, forward rules, batches ----------------------------------------------------------

_RULES = [
    Fault(
        "the derivative of cos has the wrong sign",
        "ops/elementwise.py",
        "d=lambda x: -sin(x)",
        "d=lambda x: sin(x)",
        f"{_OPS} cos",
    ),
    Fault(
        "the rule of conj does not conjugate",
        "ops/elementwise.py",
        "vjp=lambda g: conj(g),",
        "vjp=lambda g: g,",
        f"{_OPS} conj",
    ),
    Fault(
        "a conjugate is dropped in the rule of sign",
        "ops/elementwise.py",
        "real(g * conj(unit))",
        "real(g * unit)",
        f"{_OPS} sign",
    ),
    Fault(
        "ties of a maximum give the gradient to both",
        "ops/elementwise.py",
        "where(equal(x, y), g * 0.5,",
        "where(equal(x, y), g,",
        f"tests/test_special_points.py {_OPS} maximum",
    ),
    Fault(
        "the second derivative of a running product takes the elements for constants",
        "ops/reductions.py",
        "return sums * _before(x, axis)",
        "return sums * _before(x.detach() if hasattr(x, 'detach') else x, axis)",
        f"{_OPS} cumulative_prod",
    ),
    Fault(
        "the variance forgets its correction in the derivative",
        "ops/reductions.py",
        "    n = n - correction\n",
        "    n = n\n",
        f"{_OPS} var",
    ),
    Fault(
        "the factor of a product is not transposed for the gradient",
        "ops/contractions.py",
        "return matmul(g, x) if ndim == 2 else",
        "return matmul(x, g) if ndim == 2 else",
        f"{_OPS} matmul",
    ),
    Fault(
        "the spectrum of a real signal counts middle frequencies once in the adjoint",
        "ops/fft.py",
        "_middle_times(2, _rfft(",
        "_middle_times(1, _rfft(",
        f"{_OPS} irfft",
    ),
    Fault(
        "a term of the pseudo-inverse is lost in forward mode",
        "ops/decompositions.py",
        "        - matmul(matmul(right, x), out)\n        + outer\n",
        "        - matmul(matmul(right, x), out)\n",
        f"{_OPS} pinv",
    ),
    Fault(
        "an op that is linear in each input drops all tangents but the first",
        "ops/forward.py",
        "            if t is not None\n        ]\n        return functools.reduce("
        "lambda a, b: a + b, terms)",
        "            if t is not None\n        ]\n        return terms[0]",
        f"{_OPS} matmul",
    ),
    Fault(
        "the tangent of a real function of complex numbers is not conjugated",
        "ops/forward.py",
        "return real(t * conj(rule(1.0, primals, out, params)))",
        "return real(t * rule(1.0, primals, out, params))",
        f"{_OPS} abs",
    ),
    Fault(
        "an axis is not shifted under vmap",
        "ops/batching.py",
        "return axis + 1 if axis >= 0 else axis",
        "return axis",
        f"{_OPS} cumulative_sum",
    ),
    Fault(
        "several axes are not shifted under vmap",
        "ops/batching.py",
        "return tuple([a + 1 if a >= 0 else a for a in axis])",
        "return tuple(axis)",
        f"{_OPS} sum",
    ),
    Fault(
        "vmap leaves the axes of separate index arrays in front",
        "ops/batching.py",
        "return moveaxis(out, front, 0) if front else out",
        "return out",
        f"{_OPS} getitem",
    ),
    Fault(
        "under vmap, searchsorted counts equal elements on the left side, too",
        "ops/searching.py",
        'if params["side"] == "right" else less(x1, x2)',
        'if params["side"] == "right" else less_equal(x1, x2)',
        f"{_OPS} searchsorted",
    ),
    Fault(
        "rows that are added at repeated places overwrite each other",
        "backends/numpy/indexing.py",
        "np.add.at(flat, elements.reshape(-1), self.values.reshape(-1))",
        "flat[elements.reshape(-1)] += self.values.reshape(-1)",
        "tests/test_indexing.py tests/backends/test_numpy_indexing.py",
    ),
    Fault(
        "negative indices are not counted from the end where rows are added",
        "backends/numpy/indexing.py",
        "return np.where(index < 0, index + n, index) if index.size and",
        "return np.where(index < 0, index + n - 1, index) if index.size and",
        "tests/test_indexing.py tests/backends/test_numpy_indexing.py",
    ),
    Fault(
        "an error does not say which lengths do not fit",
        "ops/contractions.py",
        'has lengths {sizes[c]} and {n}"',
        'does not fit"',
        "tests/test_op_errors.py tests/standard/test_points_and_mistakes.py",
    ),
]

# --- the sweep, writes, transforms ---------------------------------------------------------------

_CORE = [
    Fault(
        "of two cotangents of an array, the second is lost",
        "sweep/engine.py",
        "total = table[edge] = have + part",
        "total = table[edge] = have",
        _GRAD,
    ),
    Fault(
        "cotangents are added to an array that somebody else holds",
        "sweep/engine.py",
        "have = self.table[edge] = np.array(have)",
        "pass",
        "tests/autograd/test_grad.py tests/inplace/test_writes.py tests/test_indexing.py",
    ),
    Fault(
        "hooks of a leaf are not called",
        "sweep/engine.py",
        "                    g = self.call_hooks(node, g)\n                results[node] = g",
        "                    pass\n                results[node] = g",
        "tests/autograd/test_hooks.py",
    ),
    Fault(
        "what a hook on a node returns is ignored",
        "sweep/hooks.py",
        "            parts = self._replaced(parts, result,",
        "            self._replaced(parts, result,",
        "tests/autograd/test_hooks.py tests/autograd/test_graph_tools.py",
    ),
    Fault(
        "a complex node does not conjugate what its rules give",
        "sweep/engine.py",
        "part = ops.conj(g if rule is None else rule(g, saved))",
        "part = g if rule is None else rule(g, saved)",
        f"{_OPS} exp",
    ),
    Fault(
        "one row is taken for the sum over broadcast axes",
        "sweep/fit.py",
        "part = _sum(part, axis=axes, keepdims=False)",
        "part = part[tuple(0 if i in axes else slice(None) for i in range(part.ndim))]",
        f"{_OPS} add",
    ),
    Fault(
        "a gradient keeps a wider dtype than its input",
        "sweep/fit.py",
        "    if part.dtype != edge.dtype:\n",
        "    if is_complex(part.dtype) and not is_complex(edge.dtype):\n",
        f"tests/test_short_floats.py {_GRAD}",
    ),
    Fault(
        "a real input gets the size of a complex cotangent instead of its real part",
        "sweep/fit.py",
        "part = ops.real(part)",
        "part = ops.abs(part)",
        f"{_OPS} multiply",
    ),
    Fault(
        "the live elements of two uses are intersected",
        "sweep/liveness.py",
        "np.asarray(known.mask | mask)",
        "np.asarray(known.mask & mask)",
        "tests/inplace/test_overwritten.py",
    ),
    Fault(
        "a running op is said to depend on later elements only",
        "sweep/liveness.py",
        "later = np.flip(np.logical_or.accumulate(np.flip(mask, axis), axis), axis)",
        "later = np.logical_or.accumulate(mask, axis)",
        "tests/inplace/test_overwritten.py",
    ),
    Fault(
        "in blocks of a large array, an earlier cotangent is lost",
        "sweep/blocks.py",
        "part if have is None else have + part",
        "part",
        "tests/test_large.py",
    ),
    Fault(
        "blocks say that a shared cotangent is theirs to overwrite",
        "sweep/blocks.py",
        "                owned.discard(target)\n",
        "                owned.add(target)\n",
        "tests/test_large.py",
    ),
    Fault(
        "the last block of a large array is left out",
        "backends/numpy/blocks.py",
        "        share(piece, self._count)",
        "        share(piece, max(self._count - 1, 1))",
        "tests/test_large.py",
    ),
    Fault(
        "a graph is kept though it should be freed",
        "sweep/engine.py",
        "                node.saved = FREED",
        "                pass",
        _GRAD,
    ),
    Fault(
        "grad() frees the graph though it should be kept",
        "autograd/differentiate.py",
        "    if not retain_graph:\n        sweep.release()\n    return",
        "    if True:\n        sweep.release()\n    return",
        _GRAD,
    ),
    Fault(
        ".grad shares its memory with the cotangent that backward() was given",
        "autograd/accumulation.py",
        "return backend_of(held[0]).own(held)",
        "return held.pop()",
        _GRAD,
    ),
    Fault(
        "backward() replaces .grad instead of adding to it",
        "autograd/accumulation.py",
        "        tensor._grad = ops.copy(gradient) if have is None else have + gradient",
        "        tensor._grad = ops.copy(gradient)",
        _GRAD,
    ),
    Fault(
        "a checkpoint takes an array from outside for what it was before a write",
        "func/recompute.py",
        "            if newest_write(array, self._given[made.place].number) is None:\n",
        "            if True:\n",
        "tests/func/test_checkpoint.py",
    ),
    Fault(
        "a checkpoint computes again from an array that was overwritten",
        "func/recompute.py",
        "        if found is None or array is not self.array:\n",
        "        if True:\n",
        "tests/func/test_checkpoint.py",
    ),
    Fault(
        "a checkpoint lets go of a value that another node still needs",
        "func/recompute.py",
        "return values[place] if values.left[place] else values.pop(place)",
        "return values.pop(place)",
        "tests/func/test_checkpoint.py",
    ),
    Fault(
        "a checkpoint gives out memory that its result shares with something else",
        "func/recompute.py",
        "owner_of(x) is owner_of(value) for x in others):\n",
        "False for x in others):\n",
        "tests/func/test_checkpoint.py",
    ),
    Fault(
        "vmap in chunks repeats a constant result too often for the last chunk",
        "func/vectorize.py",
        "sizes = [min(step, size - start) for start",
        "sizes = [step for start",
        "tests/func/test_vmap.py",
    ),
    Fault(
        "vmap puts every mapped axis in front, whatever out_axes says",
        "func/vectorize.py",
        "return ops.moveaxis(joined, 0, axis) if axis else joined",
        "return joined",
        "tests/func/test_vmap.py",
    ),
    Fault(
        "a dual array takes the tangent of another level for its own",
        "arrays/dual.py",
        "tangents = [a.tangent if type(a) is cls else None for a in arrays]",
        "tangents = [a.tangent if isinstance(a, Dual) else None for a in arrays]",
        "tests/func/test_nesting.py",
    ),
    Fault(
        "a value of an inner transform reaches the outer one with its tangent",
        "func/forward.py",
        "caller.result(value.primal if isinstance(value, make) else value)",
        "caller.result(value)",
        "tests/func/test_nesting.py tests/func/test_jacobians.py",
    ),
    Fault(
        "the imaginary part of a complex Jacobian of real inputs is lost",
        "func/rows.py",
        "return [a + 1j * b for a, b in zip(found, turned, strict=True)]",
        "return found",
        "tests/func/test_jacobians.py",
    ),
    Fault(
        "the cotangent of overwritten elements is not cleared",
        "ops/writing.py",
        "            part.fill(0)",
        "            pass",
        "tests/inplace/test_writes.py",
    ),
    Fault(
        "of several values written to one place, all get the gradient",
        "ops/writing.py",
        "return part if survive is None else where(in_library(survive, g), part, 0)",
        "return part",
        "tests/inplace/test_writes.py",
    ),
    Fault(
        "a write is not noted, so that a saved value that changed is used",
        "core/versions.py",
        "        number = self.last = LAST_WRITE[0] = next_number()\n",
        "        number = self.last = next_number()\n",
        "tests/inplace/test_versions.py",
    ),
    Fault(
        "a write to a part of an array counts as a write to all of it",
        "core/versions.py",
        "                stamps[... if index is None else index] = number\n                return",
        "                stamps[... if index is None else index] = number",
        "tests/inplace/test_versions.py tests/inplace/test_items.py",
    ),
    Fault(
        "a slice of a tensor is a copy",
        "core/kinds.py",
        'return "always" if self.template is None else "index"',
        'return "always" if self.template is None else ""',
        "tests/inplace/test_views.py",
    ),
    Fault(
        "a copy is a view",
        "backends/numpy/__init__.py",
        '"copy": np.array,',
        '"copy": np.asarray,',
        f"{_OPS} copy",
    ),
    Fault(
        "a sparse Jacobian misses the entries of a constant factor that is not zero",
        "ops/elementwise.py",
        "return None if factor is None else factor != 0",
        "return None if factor is None else factor > 0",
        "tests/func/test_sparse.py",
    ),
    Fault(
        "two columns of a sparse Jacobian that share a row get one colour",
        "func/coloring.py",
        "            used[row] |= free\n",
        "            used[row] = free\n",
        "tests/func/test_sparse.py",
    ),
    Fault(
        "the last element of an associative scan over an even number is lost",
        "func/associative.py",
        "        others = combine(before, _part(xs, axes, 2, n))",
        "        others = combine(before, _part(xs, axes, 0, n - 2 + n % 2))",
        "tests/func/test_loops.py",
    ),
    Fault(
        "a custom forward rule is transposed without the conjugate",
        "func/custom_rules.py",
        "holomorphic=holomorphic and not only_forward,",
        "holomorphic=holomorphic,",
        "tests/func/test_custom.py",
    ),
]

# --- backends ------------------------------------------------------------------------------------

_BACKENDS = [
    Fault(
        "by the standard alone, sums over repeated places lose the last one",
        "backends/standard.py",
        'last = xp.searchsorted(places, numbers, side="right") - 1',
        'last = xp.searchsorted(places, numbers, side="left")',
        "tests/backends/test_array_api_strict.py --op getitem --op take",
    ),
    Fault(
        "by the standard alone, the variance of complex numbers is that of their real part",
        "backends/standard.py",
        "        return first + second\n",
        "        return first\n",
        "tests/backends/test_array_api_strict.py --op var",
    ),
    Fault(
        "for PyTorch's arrays, values that are added at one place overwrite each other",
        "backends/torch.py",
        "x.flip(turned) if turned else x, accumulate=True)",
        "x.flip(turned) if turned else x, accumulate=False)",
        "tests/backends/test_torch.py --op getitem --op take",
    ),
    Fault(
        "for Dask's arrays, the gradient of a mask is taken from the next element",
        "backends/dask/masks.py",
        "count[mask] - 1)])",
        "count[mask] - 1 - (count[mask] == total)])",
        "tests/backends/test_dask.py tests/backends/test_dask_blocks.py -k mask",
    ),
]

# --- the compiler --------------------------------------------------------------------------------

_COMPILER = [
    Fault(
        "the last element of a line's masked vector is lost",
        "compiler/emit/lines.py",
        "i1 {str(i < length % lanes).lower()}",
        "i1 {str(i < max(length % lanes - 1, 1)).lower()}",
        "tests/compiler/test_native.py tests/compiler/test_folds.py",
    ),
    Fault(
        "a whole vector of a line is left out after the unrolled part",
        "compiler/emit/lines.py",
        "for start in range(most, whole, lanes):",
        "for start in range(most + lanes, whole, lanes):",
        "tests/compiler/test_folds.py tests/compiler/test_native.py",
    ),
    Fault(
        "the lanes behind the end of a line take part in a fold",
        "compiler/emit/lines.py",
        "return x if mask is None else self.w.choose(mask, x, self.w.like(x, fold.start))",
        "return x",
        "tests/compiler/test_folds.py tests/compiler/test_native.py",
    ),
    Fault(
        "the part of the last thread is lost in a sum",
        "compiler/emit/folds.py",
        "w.loop(one, count, 1, part)",
        'w.loop(one, w.logic("sub", count, one), 1, part)',
        "tests/compiler/test_folds.py tests/compiler/test_native.py tests/compiler/test_indices.py",
    ),
    Fault(
        "the last elements are lost where parts of a sum are combined",
        "compiler/emit/folds.py",
        "w.loop(stopped, size, 1, lambda i: at(i, 0))",
        'w.loop(stopped, w.logic("sub", size, w.number(1, "i64")), 1, lambda i: at(i, 0))',
        "tests/compiler/test_folds.py tests/compiler/test_native.py tests/compiler/test_indices.py",
    ),
    Fault(
        "a product with any constant above one is simplified away",
        "compiler/trace/simplify.py",
        "isinstance(one, Full) and one.value == 1",
        "isinstance(one, Full) and one.value >= 1",
        "tests/compiler/test_passes.py tests/compiler/test_compile.py",
    ),
    Fault(
        "memory is given to another value while it is still read",
        "compiler/run/memory.py",
        "while used and used[0][0] < buffer.first:",
        "while used and used[0][0] <= buffer.first:",
        "tests/compiler/test_passes.py tests/compiler/test_native.py tests/compiler/test_random.py",
    ),
    Fault(
        "a program is used again after a tensor from outside stopped requiring gradients",
        "compiler/call/quick.py",
        " and {name}._node {word} None",
        "",
        "tests/compiler/test_captures.py",
    ),
    Fault(
        "an op on a tensor from outside alone is a constant of the program",
        "arrays/recording.py",
        '"    if make is not plainly and type(make) is Staged:"',
        '"    if False:"',
        "tests/compiler/test_captures.py",
    ),
    Fault(
        "a kernel for large arrays writes one element of a result that has one value",
        "compiler/run/open_kernel.py",
        "if any(x.shape[:1] != (LENGTH,) for x in outputs):",
        "if False:",
        "tests/func/test_large_wrappers.py",
    ),
    Fault(
        "eager native code does not look for results that are not finite",
        "compiler/run/open_entry.py",
        'self.require(self.let(f"call i1 @finite(ptr {parts}, i64 {chunks})"), wrong)',
        "pass",
        "tests/compiler/test_eager.py",
    ),
    Fault(
        "native code is used where NumPy is asked to notice underflow",
        "backends/numpy/native.py",
        'return np.geterr()["under"] != "ignore"',
        "return False",
        "tests/compiler/test_eager.py",
    ),
    Fault(
        "a program is used again after NumPy has written to an array from outside",
        "compiler/call/guards.py",
        "found.equal(array.tobytes, copy.tobytes())",
        "pass",
        "tests/compiler/test_captures.py tests/compiler/test_compile.py",
    ),
    Fault(
        "a program is used again after an array that decides shapes has changed",
        "compiler/call/guards.py",
        "        pairs = list(read)\n",
        "        pairs = []\n",
        "tests/compiler/test_captures.py tests/compiler/test_compile.py",
    ),
    Fault(
        "the imaginary part of a compiled complex product has the wrong sign",
        "compiler/lower/complexes.py",
        "return real, n.of(add, n.of(multiply, a, d), n.of(multiply, b, c))",
        "return real, n.of(subtract, n.of(multiply, a, d), n.of(multiply, b, c))",
        "tests/compiler/test_complexes.py",
    ),
    Fault(
        "a diagonal moves the wrong way in a view of a matrix",
        "compiler/lower/diagonals.py",
        "offset = found.offset + top - left",
        "offset = found.offset - top + left",
        "tests/compiler/test_diagonals.py",
    ),
    Fault(
        "compiled remainders have the sign of the dividend",
        "compiler/llvm/quotients.py",
        'moved = w.choose(_differ(w, rest, y), w.exact("fadd", rest, y), rest)',
        "moved = rest",
        "tests/compiler/test_quotients.py",
    ),
    Fault(
        "negative indices of compiled reads are not counted from the end",
        "compiler/lower/indices.py",
        "x = w.choose(is_from_end, w.add(x, w.like(x, length)), x)",
        "x = w.choose(is_from_end, w.add(x, w.like(x, length - 1)), x)",
        "tests/compiler/test_indices.py",
    ),
    Fault(
        "the reverse pass of a while loop leaves out the first step",
        "compiler/loops/while_reverse.py",
        "states = self.loop.states_of(given)[:-1]",
        "states = self.loop.states_of(given)[1:-1]",
        "tests/compiler/test_loops.py tests/compiler/test_loop_crossings.py",
    ),
    Fault(
        "the reverse pass of a compiled while loop goes through the kept states from the first",
        "compiler/run/loop_steps.py",
        "rows, steps = pieces.pop()",
        "rows, steps = pieces.pop(0)",
        "tests/compiler/test_loops.py",
    ),
    Fault(
        "the cotangent of a loop's state is not passed on by the reverse pass",
        "compiler/loops/scan_reverse.py",
        "first[node] = zeros_like(out[k]) if gs[k] is None else gs[k]",
        "first[node] = zeros_like(out[k])",
        "tests/compiler/test_loops.py tests/compiler/test_loop_crossings.py",
    ),
    Fault(
        "numbers that differ in sign of zero only share a program",
        "compiler/call/shortcuts.py",
        "kind in (bool, int, float) and x == value and bool(x)",
        "kind in (bool, int, float) and x == value",
        "tests/compiler/test_shortcuts.py",
    ),
]

# --- SciPy ---------------------------------------------------------------------------------------

_SCIPY = [
    Fault(
        "a term of the derivative of erfcx is lost",
        "scipy/special/integrals.py",
        "2 * x * out - 2 / _ROOT_PI, -2",
        "2 * x * out, -2",
        f"{_CROSSED} erfcx",
    ),
    Fault(
        "the series of the elliptic integral near zero has the wrong factor",
        "scipy/special/elliptic.py",
        "series = hyp2f1(1.5, 1.5, 2.0, small) * (math.pi / 8)",
        "series = hyp2f1(1.5, 1.5, 2.0, small) * (math.pi / 4)",
        f"tests/scipy/test_special.py {_CROSSED} ellipk",
    ),
    Fault(
        "the derivative by the lower end of an integral has the wrong sign",
        "scipy/integrate/quadrature.py",
        "((b, 0.5), (a, -0.5))",
        "((b, 0.5), (a, 0.5))",
        "tests/scipy/test_integrate.py -k quad",
    ),
    Fault(
        "the solution of an equation does not depend on its start time",
        "scipy/integrate/path.py",
        "self.times = ops.where(is_first, start, inner)",
        "self.times = inner",
        "tests/scipy/test_integrate.py -k RK45",
    ),
    Fault(
        "in many dimensions, a stage of an implicit method is not moved by the others",
        "scipy/integrate/stages.py",
        "self._solve(slopes, h, b + h * self._tableau.b[:, None] * total)",
        "self._solve(slopes, h, b)",
        "tests/scipy/test_integrate.py -k long",
    ),
    Fault(
        "in many dimensions, later stages of an explicit method are not pulled back",
        "scipy/integrate/long_states.py",
        "w[s] = b[s] + h * (tableau.b[s] * total + later)",
        "w[s] = b[s] + h * tableau.b[s] * total",
        "tests/scipy/test_integrate.py -k long",
    ),
    Fault(
        "the derivative of the matrix exponential takes factors to commute",
        "scipy/linalg/exponential.py",
        "changes[k] += changes[i] @ powers[j]",
        "changes[k] += powers[j] @ changes[i]",
        f"tests/scipy/test_linalg.py {_CROSSED} expm",
    ),
    Fault(
        "the gradient by one matrix of Riccati's equation has the wrong sign",
        "scipy/linalg/equations.py",
        "        -matmul(matmul(gain, w), adjoint(gain)) if wanted[3] else None,",
        "        matmul(matmul(gain, w), adjoint(gain)) if wanted[3] else None,",
        f"{_CROSSED} solve_continuous_are",
    ),
    Fault(
        "the tangent of an implicit function has the wrong sign",
        "scipy/implicit.py",
        "solved(formula, out, theta, -t, False, solver, check)",
        "solved(formula, out, theta, t, False, solver, check)",
        "tests/scipy/test_optimize.py -k derivatives",
    ),
    Fault(
        "elements of a sparse matrix at the same place are not added",
        "scipy/sparse/arrays.py",
        "    if len(number) == len(pattern.rows):\n",
        "    if True:\n",
        "tests/scipy/test_crossed.py -k sparse",
    ),
    Fault(
        "an iteration gives the gradient for the transposed matrix",
        "scipy/sparse/linalg/solvers.py",
        "w, state = _iterative(turned, gs[0], pattern=other,",
        "w, state = _iterative(data, gs[0], pattern=pattern,",
        "tests/scipy/test_crossed.py -k 'gmres or bicgstab or sparse'",
    ),
    Fault(
        "the slope at the end of a monotone spline uses the wrong weights",
        "scipy/interpolate/cubic.py",
        "d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)",
        "d = ((2 * h1 + h0) * m0 - h1 * m1) / (h0 + h1)",
        f"{_CROSSED} PchipInterpolator",
    ),
    Fault(
        "the density of the log-normal distribution forgets a term of its parameter",
        "scipy/stats/on_the_half_line.py",
        "- log(s) - 0.5 * _LOG_2PI\n    )",
        "- 0.5 * _LOG_2PI\n    )",
        f"tests/scipy/test_stats.py {_CROSSED} lognorm",
    ),
    Fault(
        "the upper quantiles move as the lower ones",
        "scipy/stats/quantiles.py",
        'side = 1 if which == "ppf" else -1',
        "side = 1",
        f"{_CROSSED} weibull_min",
    ),
    Fault(
        "a correlation does not conjugate its weights",
        "scipy/signal/convolution.py",
        "return conj(turned) if is_complex(y) else turned",
        "return turned",
        f"{_CROSSED} correlate",
    ),
    Fault(
        "the origin of a reversed filter of even length is off by one",
        "scipy/ndimage/filters.py",
        "[-o - (1 if n % 2 == 0 else 0) for o, n in",
        "[-o for o, n in",
        f"{_CROSSED} convolve",
    ),
    Fault(
        "a Hessian of a constraint ignores the multipliers",
        "scipy/optimize/exact.py",
        "return ops.sum(vector(x) * weights)",
        "return ops.sum(vector(x))",
        "tests/test_optimize.py",
    ),
]

# --- networks and optimisers ---------------------------------------------------------------------

_NETWORKS = [
    Fault(
        "momentum is forgotten from step to step",
        "optim/algorithms.py",
        's.blend("momentum_buffer", momentum, weight * g)',
        "weight * g",
        "tests/optim/test_rules.py tests/compat/test_sorix.py",
    ),
    Fault(
        "Adam does not correct the mean of its first steps",
        "optim/algorithms.py",
        'return o["lr"] / (1 - first**t), (1 - second**t) ** 0.5',
        'return o["lr"], (1 - second**t) ** 0.5',
        "tests/optim/test_rules.py tests/compat/test_sorix.py tests/compat/hips/test_misc.py",
    ),
    Fault(
        "ignored targets count in the mean of a cross entropy",
        "nn/classifying.py",
        "return ops.sum(loss) / ops.sum(factor) if how ==",
        "return ops.mean(loss) if how ==",
        "tests/nn -k 'nll or cross'",
    ),
    Fault(
        "a divergence takes the logarithm of its target for the target",
        "nn/losses.py",
        "loss = ops.exp(target) * (target - input)",
        "loss = target * (target - input)",
        "tests/nn tests/compat/torch/test_nn_functional.py -k kl_div",
    ),
    Fault(
        "the statistics of a group include one axis too few",
        "nn/normalizing.py",
        "tuple(range(2, grouped.ndim)), eps)",
        "tuple(range(3, grouped.ndim)), eps)",
        "tests/nn tests/compat/torch/test_nn_functional.py -k group_norm",
    ),
]

# --- other systems -------------------------------------------------------------------------------

_COMPAT = [
    Fault(
        "torch: a 0-d tensor counts like any other for the dtype",
        "compat/torch/dtypes.py",
        "rank, own = (0 if operand.ndim else 1), np.dtype(operand.dtype)",
        "rank, own = 0, np.dtype(operand.dtype)",
        "tests/compat/torch/test_tensors.py tests/compat/torch/test_same_as_torch.py",
    ),
    Fault(
        "torch: what a forward hook of a module returns is ignored",
        "compat/torch/nn/module.py",
        "            result = result if changed is None else changed\n",
        "            pass\n",
        "tests/compat/torch/test_training.py",
    ),
    Fault(
        "torch: modules of modules stay in training",
        "compat/torch/nn/module.py",
        "        for module in self.modules():\n            module.training = mode",
        "        for module in [self]:\n            module.training = mode",
        "tests/compat/torch/test_training.py tests/compat/torch/test_nn_layers.py",
    ),
    Fault(
        "torch: gather along an axis reads from the whole of the others",
        "compat/torch/functions/indexing.py",
        "return ops.take_along_axis(input[cut], _integers(index), axis=axis)",
        "return ops.take_along_axis(input, _integers(index), axis=axis)",
        "tests/compat/torch/test_functions.py -k gather",
    ),
    Fault(
        "torch: a write to an argument of vmap is not seen outside",
        "compat/torch/transforming.py",
        "                array.copy_(leaf._array)\n",
        "",
        "tests/compat/torch/test_autograd.py",
    ),
    Fault(
        "torch, lucid: what hooks after a module return is ignored",
        "compat/modules.py",
        'inputs = self._replaced(found, inputs, "grad_input")',
        'self._replaced(found, inputs, "grad_input")',
        "tests/compat/test_lucid.py tests/compat/torch/test_modules.py",
    ),
    Fault(
        "lucid: grad() frees the graph of create_graph",
        "compat/lucid/autograd/differentiate.py",
        "retain_graph=bool(retain_graph) or create_graph,",
        "retain_graph=bool(retain_graph),",
        "tests/compat/test_lucid.py tests/compat/test_table.py",
    ),
    Fault(
        "sorix: weights of classes do not divide the cross entropy",
        "compat/sorix/nn/__init__.py",
        "return losses.sum() / (np.asarray(target.data) @ np.asarray(self.weight.data)).sum()",
        "return losses.mean()",
        "tests/compat/test_sorix.py",
    ),
    Fault(
        "rtorch: a range leaves out its end",
        "compat/rtorch/indexing.py",
        "stop = length if last is None else axis(last, length, name) + 1",
        "stop = length if last is None else axis(last, length, name)",
        "tests/compat/test_rtorch.py",
    ),
    Fault(
        "R: places are counted from zero",
        "compat/rtorch/functions.py",
        "return result + 1 if places == (0,) else result",
        "return result",
        "tests/compat/test_rtorch.py",
    ),
    Fault(
        "PyTorch: a value of a transform is written to a captured tensor",
        "compat/torch/handles.py",
        '    if getattr(array, "_born", 0) >= int(value.level):\n        return',
        "    return",
        "tests/compat/torch/test_dtypes.py",
    ),
    Fault(
        "PyTorch: dtypes of several tensors are NumPy's",
        "compat/torch/publish.py",
        "            wanted = result_type(*arrays)\n",
        "            wanted = np.result_type(*(a.dtype for a in arrays))\n",
        "tests/compat/torch/test_dtypes.py",
    ),
    Fault(
        "hips: complex cotangents are not conjugated",
        "compat/hips/derivatives.py",
        "        g = ops.astype(g, dtype)\n    return _conj(g)",
        "        g = ops.astype(g, dtype)\n    return g",
        "tests/compat/hips/test_operators.py",
    ),
    Fault(
        "hips: the first argument is differentiated, whatever its name",
        "compat/hips/differential_operators.py",
        "return grad(fun, names.index(argname))",
        "return grad(fun, 0)",
        "tests/compat/hips/test_operators.py",
    ),
]

FAULTS = [*_RULES, *_CORE, *_BACKENDS, *_COMPILER, *_SCIPY, *_NETWORKS, *_COMPAT]
