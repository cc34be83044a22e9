"""Sparse Jacobians and Hessians: find the pattern, colour it, and compute few products.

The pattern is found by running the function on pattern arrays (`arrays.pattern`). Entries outside
the pattern are never computed. All products run as one batch. The colouring is in `func.coloring`.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from .. import ops
from ..arrays.dependence import scipy_sparse, seeds
from ..arrays.pattern import pattern_type
from ..arrays.tensor import Tensor
from ..backends import backend_of
from ..core.array import AnyFunction, Array
from ..core.levels import new_level
from .coloring import color_both, color_columns, color_symmetric, fewest_products
from .reverse import Argnums, Chosen, Tape, grad, split_aux
from .rows import check_complex, chunked, outputs_of, pull_rows, push_rows
from .trees import arrays_of, as_function, flatten, lowered, tree_map


def sparsity(
    function: AnyFunction, *args: Any, argnums: Argnums = 0, kind: str = "jacobian"
) -> Any:
    """Where a function's Jacobian or Hessian can be other than zero.

    The pattern is valid not only at this point. It is valid at all points where the function takes
    the same branches of its Python code (`if`, `int(x)`) and writes to the same places
    (`y[i] = x`). It may have a few places too many, never one too few.

    Parameters
    ----------
    function : callable
        Returns an array or any structure of them; for the Hessian, a real number.
    *args
        The arguments to call it with: arrays, tensors, or structures of them.
    argnums : int or tuple of int
        The arguments that vary. The other arguments are constants, and part of the function: zeros
        in them may cut dependences.
    kind : {"jacobian", "hessian"}

    Returns
    -------
    scipy.sparse.csr_array of bool
        A row for each element of the output, a column for each element of the input, both in the
        order of a flattened array. The arrays of a structure follow each other. The pattern of a
        Hessian is symmetric.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.sparsity(lambda x: x[1:] * x[:-1], np.zeros(4)).toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    >>> ag.func.sparsity(lambda x: (x**3).sum(), np.zeros(3), kind="hessian").nnz
    3
    """
    if kind not in ("jacobian", "hessian"):
        raise ValueError(f'kind must be "jacobian" or "hessian", not {kind!r}')
    if kind == "hessian":
        function = grad(function, argnums)
    chosen = Chosen(as_function(function, "sparsity"), argnums, args, {})
    pattern = _find(chosen, _plain(chosen), False)
    return _symmetric(pattern) if kind == "hessian" else pattern


def sparse_jacobian(
    function: AnyFunction,
    argnums: Argnums,
    has_aux: bool,
    holomorphic: bool,
    chunk_size: int | None,
    mode: str,
    pattern: Any,
) -> AnyFunction:
    """`jacobian(..., sparse=True)` and the like.

    `mode` is "forward", "reverse", "symmetric" or "auto". "auto" takes forward mode, reverse mode
    or both together, whichever needs the fewest products.
    """
    plan = None if pattern is None else _plan(_as_pattern(pattern, mode), mode)

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        chosen = Chosen(function, argnums, args, kwargs)
        inputs = _plain(chosen)
        check_complex(inputs, holomorphic)
        way = plan or _plan(_as_pattern(_find(chosen, inputs, has_aux), mode), mode)
        options = has_aux, holomorphic, chunk_size
        steps = [way] if isinstance(way, _Plan) else [way.forward, way.reverse]
        entries = []
        for step in steps:
            products, outputs, aux = _products(chosen, inputs, step, *options)
            entries.append(products[step.product, step.place])
        if isinstance(way, _TwoWay):
            entries = [np.where(way.by_row, entries[1], entries[0])]
        matrix = _matrix(way.pattern, entries[0], _real_rows(outputs))
        return (matrix, aux) if has_aux else matrix

    return differentiated


class _Plan(NamedTuple):
    """How to read the entries of a sparse matrix from few products.

    Attributes
    ----------
    pattern : csr_array
    mode : {"forward", "reverse", "symmetric"}
        Whether columns, rows, or both are coloured.
    colors : ndarray
        The colour of each column or row; -1 for a column or row without entries.
    product, place : ndarray
        For each entry: the number of the product that contains it, and the place in the product.
    """

    pattern: Any
    mode: str
    colors: Any
    product: Any
    place: Any

    @property
    def products(self) -> int:
        """The number of products."""
        return int(self.colors.max(initial=-1)) + 1

    @classmethod
    def make(cls, pattern: Any, mode: str) -> _Plan:
        """Colour a pattern, and find the product and place of each entry."""
        entries = pattern.tocoo()
        row, column = entries.row, entries.col
        if mode == "forward":
            colors = color_columns(pattern)
            return cls(pattern, mode, colors, colors[column], row)
        if mode == "reverse":
            colors = color_columns(pattern.T)
            return cls(pattern, mode, colors, colors[row], column)
        colors = color_symmetric(pattern)
        # If no other entry of the row has a column of the same colour, the entry is read in its
        # own row. Otherwise the transposed entry is the only one of its colour in its row.
        key = row * (int(colors.max(initial=0)) + 1) + colors[column]
        alone = np.bincount(key, minlength=1)[key] == 1
        product = np.where(alone, colors[column], colors[row])
        return cls(pattern, mode, colors, product, np.where(alone, row, column))

    def directions(self, start: int, stop: int) -> Any:
        """For each colour in a range, the sum of the unit vectors of its rows or columns."""
        vectors = np.zeros((stop - start, self.colors.size))
        (members,) = np.nonzero((self.colors >= start) & (self.colors < stop))
        vectors[self.colors[members] - start, members] = 1
        return vectors


class _TwoWay(NamedTuple):
    """A plan that reads some entries from products with columns, and the others from rows.

    Attributes
    ----------
    pattern : csr_array
    forward, reverse : _Plan
    by_row : ndarray of bool
        Which entries are read from `reverse`.
    """

    pattern: Any
    forward: _Plan
    reverse: _Plan
    by_row: Any

    @property
    def products(self) -> int:
        """The number of products."""
        return self.forward.products + self.reverse.products

    @classmethod
    def make(cls, pattern: Any) -> _TwoWay:
        """Colour a pattern."""
        rows, columns, by_row = color_both(pattern)
        entries = pattern.tocoo()
        row, column = entries.row, entries.col
        return cls(
            pattern,
            _Plan(pattern, "forward", columns, columns[column], row),
            _Plan(pattern, "reverse", rows, rows[row], column),
            by_row,
        )


def _plan(pattern: Any, mode: str) -> _Plan | _TwoWay:
    """The plan for a pattern."""
    if mode != "auto":
        return _Plan.make(pattern, mode)
    in_rows = np.diff(pattern.indptr)
    in_columns = np.bincount(pattern.indices, minlength=1)
    # A row with n entries needs at least n colours for its columns.
    least = {"forward": int(in_rows.max(initial=0)), "reverse": int(in_columns.max())}
    first, second = ("forward", "reverse")
    if least["reverse"] < least["forward"]:
        first, second = second, first
    best = _Plan.make(pattern, first)
    if least[second] < best.products:
        best = min(best, _Plan.make(pattern, second), key=lambda p: p.products)
    # Both modes together run the function twice, so they must save half of the products. They can
    # if a few rows or columns have many more entries than the others.
    few = min(fewest_products(in_rows)[0], fewest_products(in_columns)[0])
    if 2 * few < best.products:
        both = _TwoWay.make(pattern)
        if 2 * both.products < best.products:
            return both
    return best


def _matrix(pattern: Any, entries: Any, real: Any) -> Any:
    """The matrix with this pattern and these entries. `real` says which rows are real."""
    if real is not None:
        within = np.repeat(real, np.diff(pattern.indptr))
        entries[within] = entries[within].real
    parts = (entries, pattern.indices, pattern.indptr)
    return scipy_sparse().csr_array(parts, shape=pattern.shape, copy=True)


def _structured(chosen: Chosen, leaves: list[Any]) -> tuple[Any, ...]:
    """Leaves as values of the chosen arguments."""
    values: tuple[Any, ...] = flatten(chosen.values)[1](leaves)
    return values


def _find(chosen: Chosen, inputs: list[Any], has_aux: bool) -> Any:
    """The pattern of a function's Jacobian."""
    given = seeds([tuple(x.shape) for x in inputs])
    with new_level() as level:
        make = pattern_type(level)
        patterns = [make(x, each) for x, each in zip(inputs, given, strict=True)]
        result, _ = split_aux(chosen.run(*_structured(chosen, patterns)), has_aux)
    rows = []
    total = sum(math.prod(x.shape) for x in inputs)
    for value in outputs_of(tree_map(lambda leaf: lowered(leaf, level), result), False)[0]:
        if isinstance(value, make):
            rows.append(value.dependence.rows())
        else:
            rows.append(scipy_sparse().csr_array((np.size(value), total), dtype=bool))
    if not rows:
        raise ValueError("the function returned no arrays to differentiate")
    found = scipy_sparse().csr_array(scipy_sparse().vstack(rows, format="csr"))
    found.sort_indices()
    return found


def _as_pattern(given: Any, mode: str) -> Any:
    """A pattern as a sorted array of booleans; made symmetric for the symmetric mode."""
    pattern = scipy_sparse().csr_array(given, dtype=bool, copy=True)
    if pattern.ndim != 2:
        raise ValueError(f"sparsity must be a matrix, it has shape {pattern.shape}")
    pattern.sum_duplicates()
    pattern.eliminate_zeros()
    return _symmetric(pattern) if mode == "symmetric" else pattern


def _symmetric(pattern: Any) -> Any:
    if pattern.shape[0] != pattern.shape[1]:
        raise ValueError(f"sparsity of a Hessian must be square, it has shape {pattern.shape}")
    both = scipy_sparse().csr_array(pattern + pattern.T)
    both.sort_indices()
    return both


def _products(
    chosen: Chosen,
    inputs: list[Any],
    plan: _Plan,
    has_aux: bool,
    holomorphic: bool,
    chunk_size: int | None,
) -> tuple[Any, list[Any], Any]:
    """The products of a plan, one in each row; the function's outputs; and aux."""
    outputs: list[Any] = []
    aux: Any = None
    values = _structured(chosen, inputs)
    count = max(plan.products, 1)  # a product with zeros if the matrix has no entries
    _check_shape(plan, 1, inputs)

    def columns(start: int, stop: int) -> list[Any]:
        nonlocal outputs, aux
        directions = plan.directions(start, stop)
        tangents, value, aux = push_rows(chosen, values, directions, has_aux)
        outputs, _ = outputs_of(value, holomorphic)
        _check_shape(plan, 0, outputs)
        return tangents

    if plan.mode != "reverse":
        blocks = chunked(columns, count, chunk_size)
        return _side_by_side(blocks), outputs, aux

    tape = Tape(chosen.run, values, chosen.name, chosen.given)
    result, aux = split_aux(tape.result, has_aux)
    outputs, _ = outputs_of(result, holomorphic)
    _check_shape(plan, 0, outputs)

    def rows(start: int, stop: int) -> list[Any]:
        return pull_rows(tape, outputs, plan.directions(start, stop), holomorphic)

    blocks = chunked(rows, count, chunk_size)
    return _side_by_side(blocks), outputs, tree_map(tape.strip, aux)


def _check_shape(plan: _Plan, axis: int, arrays: list[Any]) -> None:
    size = sum(math.prod(array.shape) for array in arrays)
    if plan.pattern.shape[axis] != size:
        what = ("rows, but the function returned", "columns, but its arguments have")[axis]
        raise ValueError(
            f"sparsity has {plan.pattern.shape[axis]} {what} {size} elements: use the pattern of "
            "this function, for arguments of these shapes"
        )


def _side_by_side(blocks: list[Any]) -> Any:
    """Products for several arrays as one NumPy array, with one axis for all elements."""
    flat = []
    for block in blocks:
        array = block
        while isinstance(array, Tensor):
            array = array.array  # the caller's graph cannot hold a sparse result
        if isinstance(array, Array):
            raise TypeError(_INSIDE)
        values = backend_of(array).to_numpy(array)
        flat.append(values.reshape(values.shape[0], -1))
    return np.concatenate(flat, axis=1)


def _plain(chosen: Chosen) -> list[Any]:
    """The arrays of the chosen arguments, without the tensors around them."""
    inputs = []
    for array in arrays_of(chosen.values, chosen.name)[0]:
        while isinstance(array, Tensor):
            array = array.array
        if isinstance(array, Array):
            raise TypeError(_INSIDE)
        inputs.append(array)
    return inputs


_INSIDE = (
    "a sparse derivative is a SciPy array, which cannot be batched or differentiated by a "
    "transform around it: call it outside, or leave out sparse=True"
)


def _real_rows(outputs: list[Any]) -> Any:
    """Which rows belong to real outputs; None if all outputs are real, or all complex."""
    of_complex = [ops.is_complex(o) for o in outputs]
    if all(of_complex) or not any(of_complex):
        return None
    return np.repeat(~np.array(of_complex), [math.prod(o.shape) for o in outputs])
