"""Every op, over the whole table of samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rows import in_one_direction
from samples import SAMPLES, Draw, Sample, choices_of

import arraygrad as ag
from arraygrad import ops
from arraygrad.arrays.batched import Batched, batched_type
from arraygrad.arrays.dual import dual_type
from arraygrad.arrays.methods import ArrayMethods
from arraygrad.arrays.tensor import tensor_type_at
from arraygrad.core.array import plain
from arraygrad.testing import assert_close, gradcheck, gradgradcheck

Case = tuple[Sample, bool]


def call(sample: Sample, *arrays: Any) -> tuple[Any, ...]:
    """The results of a sample on arraygrad, always as a tuple."""
    return as_tuple(sample.call(ag, *arrays))


def as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def is_float(array: Any) -> bool:
    return bool(array.dtype.kind in "fc")


def tensors(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Leaves on the same memory, so with the same layout; those that can require gradients."""
    made = tuple(ag.asarray(a) for a in arrays)
    return tuple(
        t.requires_grad_() if is_float(a) else t for t, a in zip(made, arrays, strict=True)
    )


# --- the table is complete -----------------------------------------------------------------------


def test_every_public_op_has_a_row() -> None:
    ours = {name for name in ag.__all__ if getattr(ag, name) is getattr(ops, name, ag)} - {
        "broadcast_shapes"
    }  # of shapes, not of arrays: tested below
    assert ours > {"sin", "matmul", "where", "einsum"}
    assert ours - {s.op for s in SAMPLES} == set()


def test_every_operator_has_a_row() -> None:
    other = {"__bool__", "__contains__", "__dir__", "__hash__", "__len__"}
    other |= {"__array_ufunc__", "__array_function__", "__array_namespace__"}
    other |= {"__dlpack__", "__dlpack_device__"}
    operators = {
        name
        for name, value in vars(ArrayMethods).items()
        if name.startswith("__") and callable(value)
    }
    assert operators - other - {s.op for s in SAMPLES} == set()


def test_rows_have_different_names() -> None:
    names = [str(s) for s in SAMPLES]
    assert sorted(names) == sorted(set(names))


def test_every_differentiable_row_is_for_an_op_with_a_rule() -> None:
    for sample in SAMPLES:
        function = getattr(ag, sample.op, None)
        if hasattr(function, "op") and sample.op not in ("clip",):
            assert bool(function.op.rules) == sample.differentiable, str(sample)


# --- values --------------------------------------------------------------------------------------


def test_values_on_tensors(case: Case) -> None:
    sample, complex_numbers = case
    arrays = sample.arrays(complex_numbers)
    expected = as_tuple(sample.expected(*arrays))
    results = call(sample, *tensors(arrays))
    assert len(results) == len(expected)
    for result, value in zip(results, expected, strict=True):
        assert isinstance(result, ag.Tensor)
        assert isinstance(result.array, np.ndarray)
        assert_close(result.detach(), value, rtol=1e-12, atol=1e-12, equal_nan=True)


def test_values_on_arrays(case: Case) -> None:
    sample, complex_numbers = case
    arrays = sample.arrays(complex_numbers)
    for result, value in zip(
        call(sample, *arrays), as_tuple(sample.expected(*arrays)), strict=True
    ):
        assert isinstance(result, np.ndarray | np.generic)
        assert_close(result, value, rtol=1e-12, atol=1e-12, equal_nan=True)


def test_inputs_are_not_written(sample: Sample) -> None:
    arrays = sample.arrays()
    before = [a.copy() for a in arrays]
    outputs = [o for o in call(sample, *tensors(arrays)) if o.requires_grad]
    for output in outputs:
        output.backward(ag.ones_like(output), retain_graph=True)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_results_share_memory_only_where_those_of_numpy_do(sample: Sample) -> None:
    arrays = sample.arrays()
    results = [plain(r) for r in as_tuple(sample.call(ag, *arrays))]
    for result, expected in zip(results, as_tuple(sample.expected(*arrays)), strict=True):
        for array in arrays:
            assert not np.shares_memory(result, array) or np.shares_memory(expected, array)


def test_values_in_lower_precision(case: Case) -> None:
    """Results and gradients keep the inputs' dtype; Python numbers do not change it."""
    sample, complex_numbers = case
    for dtype in [np.complex64] if complex_numbers else [np.float32, np.float16]:
        if dtype is np.float16 and (not sample.half or sample.op in ("nextafter", "astype")):
            continue
        arrays = tuple(
            a.astype(np.complex64 if a.dtype.kind == "c" else dtype) if is_float(a) else a
            for a in sample.arrays(complex_numbers)
        )
        leaves = tensors(arrays)
        results = call(sample, *leaves)
        for result, value in zip(results, as_tuple(sample.expected(*arrays)), strict=True):
            assert_close(result.detach(), value, rtol=2e-2, atol=2e-2, equal_nan=True)
        floats = [x for x in leaves if x.requires_grad]
        live = [r for r in results if r.requires_grad]
        if not live:
            continue
        gradients = ag.grad(live, floats, [ag.ones_like(r) for r in live], allow_unused=True)
        for x, gradient in zip(floats, gradients, strict=True):
            assert gradient is None or (gradient.dtype == x.dtype and gradient.shape == x.shape)


# --- derivatives ---------------------------------------------------------------------------------


def test_what_is_not_differentiable_requires_no_gradients(constant_sample: Sample) -> None:
    results = call(constant_sample, *tensors(constant_sample.arrays()))
    assert not any(r.requires_grad for r in results)


def test_first_derivatives(smooth_case: Case, pytestconfig: Any) -> None:
    """Reverse mode, forward mode and batched sweeps against finite differences."""
    sample, complex_numbers = smooth_case
    leaves = tensors(sample.arrays(complex_numbers))
    gradcheck(
        lambda *a: sample.call(ag, *a),
        leaves,
        atol=1e-7,
        rtol=1e-6,
        check_forward=True,
        fast_mode=in_one_direction(pytestconfig, *leaves),
    )
    if sample.flat and not complex_numbers:
        for result in call(sample, *leaves):
            for gradient in ag.grad(result, leaves, 1.0, allow_unused=True):
                assert gradient is None or not np.any(gradient.array)


def test_second_derivatives(smooth_case: Case, pytestconfig: Any) -> None:
    sample, complex_numbers = smooth_case
    leaves = tensors(sample.arrays(complex_numbers))
    gradgradcheck(
        lambda *a: sample.call(ag, *a),
        leaves,
        atol=1e-6,
        rtol=1e-5,
        check_forward=True,
        fast_mode=in_one_direction(pytestconfig, *leaves),
    )


def test_batched_sweeps_can_be_differentiated(smooth_case: Case) -> None:
    """The gradients of `is_grads_batched` under `create_graph`, against a loop of single ones."""
    sample, complex_numbers = smooth_case
    leaves = tensors(sample.arrays(complex_numbers))
    floats = [x for x in leaves if x.requires_grad]
    output = next(r for r in call(sample, *leaves) if r.requires_grad)
    rng = np.random.default_rng(1)
    seeds = rng.standard_normal((2, *output.shape)).astype(output.dtype)
    keywords = {"create_graph": True, "materialize_grads": True}
    batched = ag.grad(output, floats, seeds, is_grads_batched=True, **keywords)
    single = [ag.grad(output, floats, seed, **keywords) for seed in seeds]
    for j, gradient in enumerate(batched):
        for i in range(2):
            assert_close(gradient[i].detach(), single[i][j].detach(), rtol=1e-11, atol=1e-11)
    weights = [ag.asarray(rng.standard_normal(g.shape)) for g in batched]
    found = ag.grad(
        [ag.sum(ag.real(g * w)) for g, w in zip(batched, weights, strict=True)],
        floats,
        retain_graph=True,  # both go through the function's own graph
        materialize_grads=True,
    )
    expected = ag.grad(
        [ag.sum(ag.real(single[i][j] * w[i])) for j, w in enumerate(weights) for i in range(2)],
        floats,
        materialize_grads=True,
    )
    assert_close(found, expected, rtol=1e-9, atol=1e-9)


def test_gradients_are_the_callers_own(smooth_sample: Sample) -> None:
    """They share memory with nothing, are writeable, and nobody sees what is written to them."""
    sample = smooth_sample
    arrays = sample.arrays()
    leaves = tensors(arrays)
    floats = [x for x in leaves if x.requires_grad]
    results = [r for r in call(sample, *leaves) if r.requires_grad]
    seeds = [np.ones(r.shape, r.dtype) for r in results]
    for create_graph in (False, True):
        gradients = ag.grad(
            results,
            floats,
            seeds,
            retain_graph=True,
            create_graph=create_graph,
            materialize_grads=True,
        )
        others = [*arrays, *seeds, *(plain(r) for r in results)]
        for gradient in gradients:
            array = gradient.array
            assert isinstance(array, np.ndarray)
            assert array.flags.writeable
            for other in others:
                assert not np.shares_memory(array, other)
            others.append(array)


# --- batching ------------------------------------------------------------------------------------

_SIZE = 3


def members(sample: Sample, complex_numbers: bool) -> list[tuple[Any, ...]]:
    return [sample.arrays(complex_numbers, seed) for seed in range(_SIZE)]


def unbatched(result: Any, size: int = _SIZE) -> Any:
    if isinstance(result, Batched):
        return plain(result)
    return np.broadcast_to(plain(result), (size, *result.shape))


def test_batched_inputs_against_a_loop(batch_case: Case) -> None:
    """With every choice of which inputs carry the batch."""
    sample, complex_numbers = batch_case
    drawn = members(sample, complex_numbers)
    stacks = [np.stack(arrays) for arrays in zip(*drawn, strict=True)]
    batched = batched_type(1.0)
    for chosen in choices_of(len(stacks)):
        # A plain array cannot be indexed by a batched one, a tensor can.
        other = ag.asarray if sample.op == "__getitem__" else np.asarray
        inputs = [
            batched(stack) if pick else other(drawn[0][i])
            for i, (stack, pick) in enumerate(zip(stacks, chosen, strict=True))
        ]
        results = call(sample, *inputs)
        loop = [
            as_tuple(
                sample.expected(*(drawn[k if pick else 0][i] for i, pick in enumerate(chosen)))
            )
            for k in range(_SIZE)
        ]
        for result, *values in zip(results, *loop, strict=True):
            assert result.shape == np.shape(values[0])
            expected = np.stack(values)
            assert_close(unbatched(result), expected, rtol=1e-11, atol=1e-11, equal_nan=True)


def test_batches_of_batches(batch_sample: Sample) -> None:
    sample = batch_sample
    outer, inner = batched_type(2.0), batched_type(1.0)
    drawn = [sample.arrays(seed=seed) for seed in range(6)]
    # The innermost array has the inner batch in front, then the outer one.
    inputs = [
        outer(inner(np.stack(arrays).reshape(2, 3, *arrays[0].shape)))
        for arrays in zip(*drawn, strict=True)
    ]
    loop = [as_tuple(sample.expected(*arrays)) for arrays in drawn]
    for result, *values in zip(call(sample, *inputs), *loop, strict=True):
        expected = np.stack(values).reshape(2, 3, *np.shape(values[0]))
        assert_close(plain(result), expected, rtol=1e-11, atol=1e-11, equal_nan=True)


def test_a_batch_of_nothing(batch_sample: Sample) -> None:
    sample = batch_sample
    arrays = sample.arrays()
    inputs = [batched_type(1.0)(np.zeros((0, *a.shape), a.dtype)) for a in arrays]
    expected = as_tuple(sample.expected(*arrays))
    for result, value in zip(call(sample, *inputs), expected, strict=True):
        assert unbatched(result, 0).shape == (0, *np.shape(value))


# --- transforms of transforms --------------------------------------------------------------------


def directions(arrays: tuple[Any, ...], seed: int) -> list[Any]:
    """A tangent for each floating-point array, None for the others."""
    rng = np.random.default_rng(seed)

    def one(a: Any) -> Any:
        t = rng.standard_normal(a.shape)
        return np.asarray(t + 1j * rng.standard_normal(a.shape) if a.dtype.kind == "c" else t)

    return [one(a) if is_float(a) else None for a in arrays]


def pushed(sample: Sample, level: float, arrays: Any, tangents: Any) -> list[tuple[Any, Any]]:
    """The results and their tangents by forward mode; a zero tangent is None."""
    dual = dual_type(level)
    inputs = [a if t is None else dual(a, t) for a, t in zip(arrays, tangents, strict=True)]
    return [
        (r.primal, r.tangent) if isinstance(r, dual) else (r, None) for r in call(sample, *inputs)
    ]


def test_gradients_of_a_batch_against_a_loop(smooth_batch_case: Case) -> None:
    """Tensors over batched arrays: what the rules save is batched, too."""
    sample, complex_numbers = smooth_batch_case
    drawn = members(sample, complex_numbers)
    batched = batched_type(1.0)
    over = tensor_type_at(1.5)
    inputs = [over(batched(np.stack(arrays))) for arrays in zip(*drawn, strict=True)]
    floats = [x.requires_grad_() for x in inputs if is_float(x)]
    results = call(sample, *inputs)
    live = [k for k, r in enumerate(results) if r.requires_grad]
    seeds = [directions(tuple(plain(results[k]) for k in live), seed=1)]
    gradients = ag.grad(
        [results[k] for k in live], floats, [batched(s) for s in seeds[0]], materialize_grads=True
    )
    for member, arrays in enumerate(drawn):
        leaves = tensors(arrays)
        outputs = call(sample, *leaves)
        expected = ag.grad(
            [outputs[k] for k in live],
            [x for x in leaves if x.requires_grad],
            [s[member] for s in seeds[0]],
            materialize_grads=True,
        )
        for gradient, value in zip(gradients, expected, strict=True):
            assert gradient.shape == value.shape
            array = gradient._array
            found = plain(array)[member] if isinstance(array, Batched) else plain(array)
            assert_close(found, value, rtol=1e-10, atol=1e-10)


def test_tangents_of_a_batch_against_a_loop(smooth_batch_case: Case) -> None:
    """Dual arrays over batched ones, and batched arrays over dual ones."""
    sample, complex_numbers = smooth_batch_case
    drawn = members(sample, complex_numbers)
    tangents = [directions(arrays, seed) for seed, arrays in enumerate(drawn)]
    loop = [pushed(sample, 1.0, a, t) for a, t in zip(drawn, tangents, strict=True)]
    stacks = [np.stack(arrays) for arrays in zip(*drawn, strict=True)]
    slopes = [None if t[0] is None else np.stack(t) for t in zip(*tangents, strict=True)]

    inner = batched_type(1.0)
    batches = [inner(a) for a in stacks]
    found = pushed(sample, 2.0, batches, [None if t is None else inner(t) for t in slopes])

    outer, dual = batched_type(2.0), dual_type(1.0)
    inputs = [outer(a if t is None else dual(a, t)) for a, t in zip(stacks, slopes, strict=True)]
    results = [unwrap(r, outer) for r in call(sample, *inputs)]
    turned = [(r.primal, r.tangent) if isinstance(r, dual) else (r, None) for r in results]
    # A constant tangent of a batched array need not be batched.
    found = [(plain(r), None if t is None else unbatched(t)) for r, t in found]
    for pairs in (found, turned):
        for k, (values, slope) in enumerate(pairs):
            for member in range(_SIZE):
                expected_value, expected_slope = loop[member][k]
                assert_close(values[member], expected_value, rtol=1e-11, atol=1e-11)
                if expected_slope is None:
                    assert slope is None
                else:
                    assert_close(slope[member], expected_slope, rtol=1e-10, atol=1e-10)


def unwrap(result: Any, kind: type) -> Any:
    return result._array if isinstance(result, kind) else result


def test_forward_over_forward(smooth_case: Case) -> None:
    """The derivative of a tangent along another direction, against a finite difference of it."""
    sample, complex_numbers = smooth_case
    arrays = sample.arrays(complex_numbers)
    first, second = directions(arrays, 1), directions(arrays, 2)
    inner = dual_type(1.0)
    moving = [a if t is None else inner(a, t) for a, t in zip(arrays, second, strict=True)]
    found = pushed(sample, 2.0, moving, first)
    step = 1e-6
    ends = []
    for sign in (step, -step):
        moved = [a if t is None else a + sign * t for a, t in zip(arrays, second, strict=True)]
        ends.append(pushed(sample, 1.0, moved, first))
    for (_, tangent), (_, after), (_, before) in zip(found, *ends, strict=True):
        if after is None:
            assert tangent is None
            continue
        numerical = (after - before) / (2 * step)
        exact = tangent.tangent if isinstance(tangent, inner) else np.zeros_like(numerical)
        assert_close(exact, numerical, rtol=1e-6, atol=1e-7)


# --- methods and attributes ----------------------------------------------------------------------


def test_methods_are_the_functions() -> None:
    methods = {n: v for n, v in vars(ArrayMethods).items() if callable(v) and n[0] != "_"}
    assert set(methods) >= {"sum", "exp", "take"}
    for name in methods:
        assert methods[name] is getattr(ops, name)


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(lambda x: x.reshape(3, 2), id="reshape"),
        pytest.param(lambda x: x.reshape((3, 2)), id="reshape tuple"),
        pytest.param(lambda x: x.reshape(-1), id="reshape -1"),
        pytest.param(lambda x: x.transpose(), id="transpose"),
        pytest.param(lambda x: x.transpose(1, 0), id="transpose axes"),
        pytest.param(lambda x: x.T, id="T"),
        pytest.param(lambda x: x.mT, id="mT"),
        pytest.param(lambda x: x.real, id="real"),
        pytest.param(lambda x: x.sum(axis=0), id="sum"),
    ],
)
@pytest.mark.parametrize("complex_numbers", [False, True])
def test_methods_like_those_of_numpy(method: Any, complex_numbers: bool) -> None:
    x = Draw(0, complex_numbers).any(2, 3)
    assert_close(method(ag.asarray(x)), method(x))
    assert gradcheck(method, ag.tensor(x, requires_grad=True))


@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (2, 3, 4), (2, 0, 1, 3)])
def test_the_transpose_reverses_all_axes(shape: tuple[int, ...]) -> None:
    x = Draw(0).any(*shape)
    assert_close(ag.asarray(x).T, x.T)
    assert gradcheck(lambda x: x.T, ag.tensor(x, requires_grad=True))
    assert_close(ag.func.vmap(lambda x: x.T)(np.stack([x, -x])), np.stack([x.T, -x.T]))
    y = ag.asarray(x).clone()
    y.T[...] = 7.0  # a view
    assert (y.array == 7.0).all()


def test_permute_dims_method() -> None:
    x = Draw(0).any(2, 3, 4)
    expected = np.transpose(x, (2, 0, 1))
    assert_close(ag.asarray(x).permute_dims(2, 0, 1), expected)
    assert_close(ag.asarray(x).permute_dims((2, 0, 1)), expected)


def test_containment_and_length() -> None:
    x = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert 3.0 in x
    assert 5.0 not in x
    assert len(x) == 2
    with pytest.raises(TypeError, match="0-d"):
        len(ag.tensor(1.0))


# --- other ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shapes", [((2, 1), (3,)), ((), (2,)), ((0, 3), (1, 1)), ((4, 1, 3), (2, 1)), ()]
)
def test_broadcast_shapes(shapes: tuple[tuple[int, ...], ...]) -> None:
    assert ag.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)


def test_broadcast_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"\(2, 3\), \(2,\) do not broadcast"):
        ag.broadcast_shapes((2, 3), (2,))
