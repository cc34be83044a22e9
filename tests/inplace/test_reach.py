"""Which elements of its inputs the cotangents of an op reach: for every op, against its Jacobian.

Where part of a result was overwritten, a sweep may leave out whatever only the overwritten elements
depended on. A set of live elements that is too small makes gradients zero without a word; one that
is too large lets NaN through. Both are looked for here, for every row of the table of samples:

- not too small: with any elements of the result overwritten, the gradient is that of the others;
- small enough: NaN does not come through to what only overwritten elements depended on.

A sweep does not always look at what is live: it does so under `detect_anomaly`, and when it is run
again because there was NaN in its results. These are two ways through the engine, so both are run.

That the first check can fail is shown by `test_a_reach_that_is_too_small_is_noticed`, which takes a
running sum for elementwise. When this was written, all ops were also tried by hand: the pullbacks
of each op that is not elementwise were taken for elementwise (``pullback.elementwise = True`` and
``pullback.live = None``), and if they had a `live`, that was made to miss one element at random.
Each change was noticed but those that are right, of `tril`, `triu`, `astype` and `broadcast_to`,
and those to ops with several results, of which nothing was followed at that time. A prototype that
follows what is live through all kinds of ops passed both checks, of every row; with one element
missed at random by any op in it, also of several results, the first check failed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rows import are_all_wanted, over
from samples import SAMPLES, Sample

import arraygrad as ag

Case = tuple[Sample, bool]

# There are zeros under the logarithm and under the root, which is the point.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# --- functions, their results and masks ----------------------------------------------------------


def leaves_of(arrays: Any) -> list[Any]:
    return [ag.tensor(a, requires_grad=a.dtype.kind in "fc") for a in arrays]


def results_of(call: Callable[..., Any], inputs: Any) -> list[Any]:
    """The results that can be differentiated."""
    found = call(*inputs)
    found = found if isinstance(found, tuple | list) else [found]
    return [r for r in found if isinstance(r, ag.Tensor) and r.requires_grad]


def on_arraygrad(sample: Sample) -> Callable[..., Any]:
    return lambda *arrays: sample.call(ag, *arrays)


def normal(rng: Any, like: Any) -> Any:
    values = rng.standard_normal(like.shape)
    if "complex" in str(like.dtype):
        values = values + 1j * rng.standard_normal(like.shape)
    return np.asarray(values)


def written(results: list[Any], alive: list[Any]) -> list[Any]:
    """Copies of the results in which all elements but those `alive` are overwritten."""
    copies = [r.clone() for r in results]
    for copy, mask in zip(copies, alive, strict=True):
        copy[~mask] = 0.5
    return copies


def single(shapes: list[Any], which: int, element: int) -> list[Any]:
    """Masks in which one element of one of the results survives."""
    masks = [np.zeros(shape, np.bool_) for shape in shapes]
    masks[which].reshape(-1)[element] = True
    return masks


def each_element(shapes: list[Any]) -> Iterator[list[Any]]:
    for which, shape in enumerate(shapes):
        for element in range(int(np.prod(shape))):
            yield single(shapes, which, element)


def two_elements(shapes: list[Any]) -> list[list[Any]]:
    masks = list(each_element(shapes))
    return [masks[len(masks) // 2], masks[-1]] if masks else []


# --- sweeps that look at what is live ------------------------------------------------------------

KEYWORDS = {"retain_graph": True, "materialize_grads": True}


def under_anomaly_detection(outputs: Any, inputs: Any, seeds: Any) -> Any:
    with ag.autograd.detect_anomaly():
        return ag.grad(outputs, inputs, seeds, **KEYWORDS)


def in_a_second_run(outputs: Any, inputs: Any, seeds: Any) -> Any:
    """With a NaN on the side in the first run, from a value that was overwritten."""
    other = ag.tensor([0.0, 1.0], requires_grad=True)
    values = ag.log(other)
    values[0] = 0.0
    *found, gradient = ag.grad(
        [*outputs, values], [*inputs, other], [*seeds, np.ones(2)], **KEYWORDS
    )
    assert gradient.tolist() == [0.0, 1.0]
    return found


SWEEPS = [under_anomaly_detection, in_a_second_run]

SEVERAL = "unstack linalg.eig linalg.eigh linalg.qr linalg.slogdet linalg.svd".split()

# --- not too small -------------------------------------------------------------------------------


def check_not_too_small(
    call: Callable[..., Any], arrays: Any, singles: Callable[..., Any] = each_element
) -> None:
    """Compare gradients of what was partly overwritten with those of the rest, never written.

    The inputs come from an elementwise op, which is what clears elements that are not live.
    """
    rng = np.random.default_rng(0)
    leaves = leaves_of(arrays)
    floats = [x for x in leaves if x.requires_grad]
    inputs = [x * 1.0 if x.requires_grad else x for x in leaves]
    results = results_of(call, inputs)
    if not results:  # the derivative of what is linear
        return
    weights = [normal(rng, r) for r in results]

    def check(alive: list[Any], *sweeps: Any, others: Any = (), more: Any = ()) -> None:
        left = [w * mask for w, mask in zip(weights, alive, strict=True)]
        expected = ag.grad([*results, *others], floats, [*left, *more], **KEYWORDS)
        for sweep in sweeps:
            found = sweep([*others, *written(results, alive)], floats, [*more, *weights])
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one.array, other.array, rtol=1e-9, atol=1e-11)

    shapes = [r.shape for r in results]
    for k, alive in enumerate(singles(shapes)):
        check(alive, SWEEPS[k % 2])
    check([np.zeros(shape, np.bool_) for shape in shapes], SWEEPS[0])
    some = [np.asarray(rng.random(shape) < 0.5) for shape in shapes]
    check(some, *SWEEPS)
    # Dead is only what is so for every use, of the results and of the inputs.
    inner = [x for x in inputs if x.requires_grad]
    for others in (results, inner):
        check(some, SWEEPS[1], others=others, more=[normal(rng, x) for x in others])


def test_what_survives_has_all_of_its_gradient(
    smooth_case: Case, request: pytest.FixtureRequest
) -> None:
    """With every element of the result as the only one that survives, and with several.

    Complex numbers, and a quick run, take two such elements.
    """
    sample, complex_numbers = smooth_case
    is_short = complex_numbers or not are_all_wanted(request.config)
    singles = two_elements if is_short else each_element
    check_not_too_small(on_arraygrad(sample), sample.arrays(complex_numbers), singles)


@over("row", [s for s in SAMPLES if s.op in SEVERAL])
def test_what_survives_of_one_result_of_several(row: Sample) -> None:
    """With the others not used at all."""
    for k in range(len(results_of(on_arraygrad(row), leaves_of(row.arrays())))):

        def one(*arrays: Any, k: int = k) -> Any:
            return results_of(on_arraygrad(row), arrays)[k]

        check_not_too_small(one, row.arrays(), two_elements)


def test_what_survives_of_a_gradient_has_all_of_its_gradient(smooth_case: Case) -> None:
    """The same for the op's derivative, as a function of the inputs and of the cotangents.

    It is made of ops of which some are in no row of the table.
    """
    sample, complex_numbers = smooth_case
    arrays = sample.arrays(complex_numbers)
    results = results_of(on_arraygrad(sample), leaves_of(arrays))
    seeds = [normal(np.random.default_rng(1), r) for r in results]

    def derivative(*given: Any) -> Any:
        inputs, cotangents = given[: len(arrays)], given[len(arrays) :]
        results = results_of(on_arraygrad(sample), inputs)
        floats = [x for x in inputs if x.requires_grad]
        return ag.grad(results, floats, cotangents, create_graph=True, materialize_grads=True)

    check_not_too_small(derivative, [*arrays, *seeds], two_elements)


def test_a_reach_that_is_too_small_is_noticed() -> None:
    def rule(g: Any) -> Any:
        return ag.flip(ag.cumulative_sum(ag.flip(g)))

    def running(x: Any) -> Any:
        return np.cumsum(x)

    x = np.array([1.0, 2.0, 3.0])
    check_not_too_small(ag.func.custom(vjp=rule)(running), [x])
    with pytest.raises(AssertionError):
        check_not_too_small(ag.func.custom(vjp=rule, batch="elementwise")(running), [x])


LIBRARIES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "array_api_strict": (
        lambda array: importlib.import_module("array_api_strict").asarray(array),
        np.asarray,
    ),
    "dask.array": (
        lambda array: importlib.import_module("dask_arrays").in_blocks(array),
        lambda array: array.compute(scheduler="synchronous"),
    ),
}


def overwrite(copy: Any, mask: Any, make: Callable[[Any], Any]) -> None:
    if mask.ndim and mask.any():
        copy[make(mask)] = 0.5
    elif mask.any():
        copy[()] = 0.5


OPS = sorted({s.op for s in SAMPLES if s.differentiable})


@over("op, library", [(op, library) for op in OPS for library in LIBRARIES], first=len(LIBRARIES))
def test_what_survives_in_other_libraries(op: str, library: str) -> None:
    """Their sweeps always look at what is live, and have ops of their own."""
    pytest.importorskip(library)
    make, to_numpy = LIBRARIES[library]
    for row in [s for s in SAMPLES if s.op == op and s.differentiable]:
        arrays, call = row.arrays(), on_arraygrad(row)
        own = leaves_of(arrays)
        ours = results_of(call, own)
        if sum(r.size for r in ours) > 1:
            break
    leaves = [ag.tensor(make(a), requires_grad=a.dtype.kind in "fc") for a in arrays]
    try:
        results = results_of(call, [x * 1.0 if x.requires_grad else x for x in leaves])
    except Exception:  # what they cannot run is a matter of tests/backends
        return
    if any(n != n for r in results for n in r.shape):  # lengths that are not known
        return
    rng = np.random.default_rng(0)
    shapes = [r.shape for r in ours]
    weights = [normal(rng, r) for r in ours]
    some = [np.asarray(rng.random(shape) < 0.5) for shape in shapes]
    for alive in [*two_elements(shapes)[:1], some]:
        copies = [r.clone() for r in results]
        for copy, mask in zip(copies, alive, strict=True):
            overwrite(copy, ~mask, make)
        floats = [x for x in leaves if x.requires_grad]
        found = ag.grad(copies, floats, [make(w) for w in weights], **KEYWORDS)
        left = [w * mask for w, mask in zip(weights, alive, strict=True)]
        expected = ag.grad(ours, [x for x in own if x.requires_grad], left, **KEYWORDS)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(to_numpy(one.array), other.array, rtol=1e-9, atol=1e-11)


# --- small enough --------------------------------------------------------------------------------

# Ops on matrices, each of a batch by itself.
MATRICES = {
    f"linalg.{name}"
    for name in (
        "cholesky det eig eigh eigvals eigvalsh inv pinv qr slogdet solve svd svdvals"
    ).split()
}


def jacobian_is_nonzero(call: Callable[..., Any], arrays: Any) -> list[Any]:
    """For each floating-point input, whether each element of the results changes with its own."""
    leaves = leaves_of(arrays)
    floats = [x for x in leaves if x.requires_grad]
    results = results_of(call, leaves)
    rng = np.random.default_rng(0)
    rows = []
    for alive in each_element([r.shape for r in results]):
        seeds = [normal(rng, r) * mask for r, mask in zip(results, alive, strict=True)]
        rows.append([g.array != 0 for g in ag.grad(results, floats, seeds, **KEYWORDS)])
    return [
        np.array([row[k] for row in rows], np.bool_).reshape(len(rows), *x.shape)
        for k, x in enumerate(floats)
    ]


def structure(call: Callable[..., Any], arrays: Any) -> list[Any]:
    """The same, for the function rather than at a point: what `func.sparsity` says, and no less."""
    places = [i for i, a in enumerate(arrays) if a.dtype.kind in "fc"]
    floats = [arrays[i] for i in places]

    def function(*values: Any) -> Any:
        full = list(arrays)
        for i, value in zip(places, values, strict=True):
            full[i] = value
        found = call(*full)
        found = found if isinstance(found, tuple | list) else [found]
        return [r for r, k in zip(found, kept, strict=True) if k]

    found = call(*leaves_of(arrays))
    found = found if isinstance(found, tuple | list) else [found]
    kept = [isinstance(r, ag.Tensor) and r.requires_grad for r in found]
    pattern = ag.func.sparsity(function, *floats, argnums=tuple(range(len(floats))))
    ends = np.cumsum([a.size for a in floats])[:-1]
    blocks = np.split(pattern.toarray() != 0, ends, axis=1)
    return [block.reshape(len(block), *a.shape) for block, a in zip(blocks, floats, strict=True)]


def of_the_same_matrices(results: list[Any], floats: list[Any]) -> list[Any]:
    """Each element of a result depends on all of the matrices that it was computed from."""
    batches = [x.shape[:-2] for x in floats]
    batch = np.broadcast_shapes(*batches)
    numbers = np.arange(int(np.prod(batch))).reshape(batch)
    of_results = [
        np.broadcast_to(numbers.reshape(batch + (1,) * (r.ndim - len(batch))), r.shape).reshape(-1)
        for r in results
    ]
    found = []
    for x in floats:
        own = np.arange(int(np.prod(x.shape[:-2]))).reshape(x.shape[:-2])
        where = np.broadcast_to(own, batch).reshape(-1)[np.concatenate(of_results)]
        of_elements = np.broadcast_to(own.reshape(own.shape + (1,) * (x.ndim - own.ndim)), x.shape)
        found.append(where.reshape(-1, *[1] * x.ndim) == of_elements)
    return found


def aligned(x: Any, result: Any) -> Any:
    """Each element of a result depends on the one in its place; None if shapes do not allow it."""
    try:
        numbers = np.broadcast_to(np.arange(x.size).reshape(x.shape), result.shape)
    except ValueError:
        return None
    return (numbers.reshape(-1, 1) == np.arange(x.size)).reshape(result.size, *x.shape)


def dependence(call: Callable[..., Any], arrays: Any, matrices: bool = False) -> list[Any]:
    """For each input, which of its elements those of the results depend on."""
    leaves = leaves_of(arrays)
    floats = [x for x in leaves if x.requires_grad]
    results = results_of(call, leaves)
    nonzero = jacobian_is_nonzero(call, arrays)
    known = of_the_same_matrices(results, floats) if matrices else structure(call, arrays)
    found = []
    for x, one, other in zip(floats, nonzero, known, strict=True):
        pattern = one | other
        begin = 0
        for r in results if pattern.any() else []:
            part = pattern[begin : begin + r.size]
            begin += r.size
            same = aligned(x, r)
            if same is not None and not (part & ~same).any():
                part[...] = same  # also where the derivative happens to be zero, as of steps
        found.append(pattern)
    return found


def survivors(size: int, rng: Any) -> Iterator[Any]:
    for element in (size // 2, size // 3):
        yield np.arange(size) == element
    some = rng.random(size) < 0.5
    some[rng.integers(size)] = True
    yield some


def wrong_gradients(call: Callable[..., Any], arrays: Any, matrices: bool = False) -> list[Any]:
    """Of what only overwritten elements depended on, gradients that are not zero; and other NaN.

    Each input is a root, plus a constant, of which the derivative is infinite at such elements.
    An empty list says that nothing was wrong; None that there are no such elements.
    """
    reached = dependence(call, arrays, matrices)
    size = len(reached[0])
    rng = np.random.default_rng(0)
    wrong: list[Any] | None = None
    for alive in survivors(size, rng) if size else []:
        roots, inputs = [], []
        patterns = iter(reached)
        for a in arrays:
            if a.dtype.kind not in "fc":
                inputs.append(ag.asarray(a))
                continue
            pattern = next(patterns)
            dead = pattern.any(axis=0) & ~pattern[alive].any(axis=0)
            roots.append(ag.tensor(np.where(dead, 0.0, 1.0), requires_grad=True))
            inputs.append(ag.sqrt(roots[-1]) + np.asarray(a - roots[-1].array))
        if all(x.array.all() for x in roots):
            continue
        wrong = wrong or []
        results = results_of(call, inputs)
        weights = [normal(rng, r) for r in results]
        ends = np.cumsum([r.size for r in results])[:-1]
        masks = [m.reshape(r.shape) for m, r in zip(np.split(alive, ends), results, strict=True)]
        left = [w * mask for w, mask in zip(weights, masks, strict=True)]
        found = ag.grad(written(results, masks), roots, weights, **KEYWORDS)
        inner = ag.grad(results, inputs_of(inputs), left, **KEYWORDS)
        for x, gradient, through in zip(roots, found, inner, strict=True):
            expected = np.where(x.array == 0, 0.0, 0.5 * through.array.real)
            if not np.allclose(gradient.array, expected, rtol=1e-9, atol=1e-11):
                wrong.append((gradient.array, expected))
    return wrong


def inputs_of(inputs: list[Any]) -> list[Any]:
    return [x for x in inputs if x.requires_grad]


# Rows in which a constant zero cuts the dependence, for `func.sparsity` but not for a sweep; or
# which are made of loops, of which a sweep does not know what is overwritten.
CUT = ("__rmatmul__", "gradient", "nn.interpolate", "nn.scaled_dot_product_attention")
CUT += ("nn.embedding_bag", "nn.rnn", "nn.gru")


def test_no_nan_comes_through_to_what_was_overwritten(smooth_case: Case) -> None:
    sample, complex_numbers = smooth_case
    arrays = sample.arrays(complex_numbers)
    wrong = wrong_gradients(on_arraygrad(sample), arrays, sample.op in MATRICES)
    if wrong is None or sample.op in CUT:
        return
    assert wrong == []


@pytest.mark.parametrize(
    "op",
    "__getitem__ bincount concat cumulative_sum diagonal fft.fft linalg.inv linalg.svd matmul max "
    "multiply sin special.logsumexp special.softmax take tril unstack var where".split(),
)
def test_there_is_something_to_be_found(op: str) -> None:
    """Of each kind of op, the table has rows with elements that NaN must not come through to."""
    rows = [s for s in SAMPLES if s.op == op and s.differentiable]
    found = (wrong_gradients(on_arraygrad(s), s.arrays(), op in MATRICES) for s in rows)
    assert any(wrong is not None for wrong in found)
