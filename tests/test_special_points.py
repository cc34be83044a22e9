"""Ties, kinks, poles, empty arrays and dtypes: what a gradient is where the formula does not say.

The values are those that torch gives, observed by running it; where ours are meant to differ, the
test says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.testing import assert_close

inf, nan = math.inf, math.nan
Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Computing a value at a pole makes NumPy warn; that is not what is tested here."""
    with np.errstate(all="ignore"):
        yield


def gradients(function: Function, *values: Any) -> list[Any]:
    """The gradients of the sum of a function's result, as lists."""
    inputs = [
        ag.tensor(v, dtype=None if np.iscomplexobj(v) else np.float64, requires_grad=True)
        for v in values
    ]
    found = ag.grad(ag.sum(function(*inputs)), inputs)
    return [g.tolist() for g in found]


def check(function: Function, inputs: list[Any], expected: list[Any]) -> None:
    found = gradients(function, *inputs)
    for g, e in zip(found, expected, strict=True):
        np.testing.assert_array_equal(g, e)


# --- ties in selections --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "inputs", "expected"),
    [
        (ag.max, [[1, 3, 3]], [[0, 0.5, 0.5]]),
        (ag.min, [[1, 1, 3]], [[0.5, 0.5, 0]]),
        (lambda x: ag.max(x, axis=0), [[1, 3, 3]], [[0, 0.5, 0.5]]),
        (lambda x: ag.min(x, axis=1), [[[1, 1, 3]]], [[[0.5, 0.5, 0]]]),
        (lambda x: ag.max(x, axis=(0, 1)), [[[2, 2], [2, 2]]], [[[0.25, 0.25], [0.25, 0.25]]]),
        (ag.max, [[1, nan, 3]], [[0, 1, 0]]),
        (lambda x: ag.sort(x)[0], [[2, 1, 1]], [[0, 1, 0]]),
        (lambda x: ag.sort(x, descending=True)[0], [[1, 2, 2]], [[0, 1, 0]]),
        (ag.maximum, [2.0, 2.0], [0.5, 0.5]),
        (ag.minimum, [2.0, 2.0], [0.5, 0.5]),
        (lambda a: ag.maximum(a, a), [2.0], [1.0]),
        (lambda a: ag.maximum(a, 2.0), [2.0], [0.5]),
    ],
)
def test_ties(function: Function, inputs: list[Any], expected: list[Any]) -> None:
    check(function, inputs, expected)


def test_second_derivative_of_max_with_ties() -> None:
    x = ag.tensor([1.0, 3.0, 3.0], requires_grad=True)
    g = ag.grad(ag.max(x) ** 2, x, create_graph=True)
    assert g.tolist() == [0.0, 3.0, 3.0]
    assert ag.grad(g.sum(), x).tolist() == [0.0, 1.0, 1.0]


# --- singular points -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "inputs", "expected"),
    [
        (ag.abs, [[0.0, -0.0]], [[0, 0]]),
        (ag.abs, [[0j]], [[0]]),
        (ag.sqrt, [[0.0]], [[inf]]),
        (lambda x: ag.sqrt(x) * 0, [[0.0]], [[nan]]),
        (lambda x: ag.sqrt(ag.sum(x**2)), [[0.0, 0.0]], [[nan, nan]]),
        (lambda x: x**0, [[0.0]], [[0]]),
        (lambda x, p: x**p, [[0.0], [0.0]], [[0], [0]]),
        (lambda x, p: x**p, [[0.0], [2.0]], [[0], [0]]),
        (lambda x, p: x**p, [[0.0], [-1.0]], [[-inf], [-inf]]),
        (lambda x: x**0.5, [[0.0]], [[inf]]),
        (lambda x, p: x**p, [[-2.0], [2.0]], [[-4], [nan]]),
        (lambda x: x**0.5, [[-2.0]], [[nan]]),
        (lambda x: 0.0**x, [[0.0, 2.0]], [[0, 0]]),
        (lambda x: x**2, [[0.0]], [[0]]),
        (lambda x: x**-1, [[0.0]], [[-inf]]),
        (lambda x: x**1.0, [[0.0]], [[1]]),
        (lambda x: ag.where(x > 0, ag.log(x), 0.0), [[0.0, 1.0]], [[nan, 1]]),
        (lambda x: ag.where(x > 0, ag.sqrt(x), 0.0), [[-1.0, 1.0]], [[nan, 0.5]]),
        (lambda x: ag.clip(x, 0, 1), [[-1, 0, 0.5, 1, 2]], [[0, 1, 1, 1, 0]]),
        (ag.clip, [[0.0], [0.0], [1.0]], [[1], [0], [0]]),
        (ag.clip, [[2.0], [0.0], [1.0]], [[0], [0], [1]]),
        (ag.clip, [[-1.0], [0.0], [1.0]], [[0], [1], [0]]),
        (ag.clip, [[0.5], [2.0], [1.0]], [[0], [0], [1]]),  # min > max: max wins
        (lambda x: ag.clip(x, 0, 1), [[nan]], [[0]]),
        (ag.sign, [[0.5]], [[0]]),
        (ag.floor, [[0.5]], [[0]]),
        (ag.ceil, [[0.5]], [[0]]),
        (ag.trunc, [[0.5]], [[0]]),
        (ag.round, [[0.7]], [[0]]),
        (ag.remainder, [[5.5], [2.0]], [[1], [-2]]),
        (ag.remainder, [[-5.5], [2.0]], [[1], [3]]),
        # torch has no derivative here and says so only when asked: zero is what it is
        (ag.floor_divide, [[5.5], [2.0]], [[0], [0]]),
        (ag.prod, [[0.0, 2.0, 3.0]], [[6, 0, 0]]),
        (ag.prod, [[0.0, 0.0, 3.0]], [[0, 0, 0]]),
        (ag.cumulative_prod, [[2.0, 0.0, 3.0, 0.0]], [[1, 8, 0, 0]]),
        (ag.std, [[2.0, 2.0]], [[0, 0]]),
        (ag.var, [[2.0]], [[0]]),
        (ag.log, [[0.0]], [[inf]]),
        (lambda x: 1 / x, [[0.0]], [[-inf]]),
        (ag.reciprocal, [[0.0]], [[-inf]]),
        (ag.log1p, [[-1.0]], [[inf]]),
        (ag.atan2, [[0.0], [0.0]], [[0], [0]]),
        (ag.hypot, [[0.0], [0.0]], [[nan], [nan]]),
        (ag.asin, [[1.0]], [[inf]]),
        (ag.acosh, [[1.0]], [[inf]]),
        (ag.atanh, [[1.0]], [[inf]]),
        (ag.logaddexp, [[-inf], [-inf]], [[nan], [nan]]),
        (ag.logaddexp, [[inf, 1.0], [0.0, inf]], [[1, 0], [0, 1]]),
        (ag.logaddexp, [[1e300], [1e300]], [[0.5], [0.5]]),
        (ag.logaddexp, [[0.0], [1e300]], [[0], [1]]),
        (ag.divide, [[0.0], [0.0]], [[inf], [nan]]),
    ],
)
def test_singular_points(function: Function, inputs: list[Any], expected: list[Any]) -> None:
    check(function, inputs, expected)


@pytest.mark.parametrize(
    ("function", "value", "expected"),
    [
        (ag.prod, [0.0, 0.0, 3.0], [3, 3, 0]),
        (lambda x: ag.sum(x**3), [0.0], [0]),
        (lambda x: ag.sum(x**2), [0.0], [2]),
        (lambda x: ag.sum(ag.abs(x)), [0.0], [0]),
        # torch gives NaN, as its unselected branch is not finite
        (lambda p: ag.sum(ag.zeros(2) ** p), [1.0, 2.0], [0, 0]),
        (lambda p: ag.sum(0.0**p), [1.0, 2.0], [0, 0]),
        (lambda x: ag.sum(x ** ag.tensor([2.0, 3.0])), [0.0, 0.0], [2, 0]),
        (ag.std, [2.0, 2.0, 2.0], [0, 0, 0]),
        (lambda x: ag.atan2(x[0], x[1]), [0.0, 0.0], [0, 0]),
        (lambda x: ag.sum(ag.angle(x)), [0j], [0]),
        (lambda x: ag.sum(ag.real(ag.sign(x))), [0j], [0]),
        (lambda x: ag.sum(ag.abs(x)), [0j], [0]),
        (ag.linalg.vector_norm, [0.0, 0.0], [0, 0]),
        (lambda x: ag.linalg.vector_norm(x, ord=3), [0.0, 0.0], [0, 0]),
        (lambda x: ag.linalg.det(x * ag.eye(3)), [0.0, 0.0, 2.0], [2, 2, 0]),
        (lambda x: ag.linalg.matrix_norm(x * ag.eye(2)), [0.0, 0.0], [0, 0]),
    ],
)
def test_second_derivatives(function: Function, value: list[float], expected: list[float]) -> None:
    x = ag.tensor(value, requires_grad=True)
    g = ag.grad(function(x), x, create_graph=True)
    assert ag.grad(ag.real(g.sum()), x, materialize_grads=True).tolist() == expected


@pytest.mark.parametrize("exponent", [0.5, ag.asarray([0.5]), ag.asarray([0.5] * 5)])
def test_a_power_of_one_half_is_no_root(exponent: Any) -> None:
    """At minus zero and minus infinity the standard's power is that of C, where NumPy's is not."""
    x = ag.tensor([-0.0, -inf, 0.0, -2.0, 4.0], requires_grad=True)
    out = x**exponent
    np.testing.assert_array_equal(out.detach().array, [0, inf, 0, nan, 2])
    assert not ag.signbit(out)[0]
    np.testing.assert_array_equal(ag.grad(out.sum(), x).array, [inf, 0, inf, nan, 0.25])


def test_the_logarithm_of_no_determinant_has_no_gradient() -> None:
    """The same error as torch's; the determinant itself is differentiable there."""
    x = ag.tensor(np.zeros((2, 2)), requires_grad=True)
    out = ag.linalg.slogdet(x)
    assert out.logabsdet.item() == -inf
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        ag.grad(out.logabsdet, x)


def test_mixed_second_derivative_of_a_power_at_exponent_zero() -> None:
    """It is 1 / x; torch says 0."""
    x, p = ag.tensor(2.0, requires_grad=True), ag.tensor(0.0, requires_grad=True)
    g = ag.grad(x**p, x, create_graph=True)
    assert g.item() == 0.0
    assert ag.grad(g, p).item() == 0.5


@pytest.mark.parametrize("function", [ag.std, ag.var])
def test_spread_of_one_element_is_not_defined(function: Function) -> None:
    x = ag.tensor([1.0], requires_grad=True)
    with pytest.warns(RuntimeWarning, match="[Dd]egrees of freedom"):
        out = function(x, correction=1)
    assert np.isnan(out.item())
    assert np.isnan(ag.grad(out, x).item())


def test_mean_of_nothing() -> None:
    x = ag.zeros((0,)).requires_grad_()
    with pytest.warns(RuntimeWarning, match="empty"):
        out = ag.mean(x)
    assert np.isnan(out.item())
    assert ag.grad(out, x).shape == (0,)


@pytest.mark.parametrize("function", [ag.max, ag.min, ag.argmax, ag.argmin])
@pytest.mark.parametrize("axis", [None, 1])
def test_extremes_of_nothing(function: Function, axis: int | None) -> None:
    with pytest.raises(ValueError, match=r"of no elements: x has shape"):
        function(ag.zeros((2, 0)).requires_grad_(), axis=axis)
    assert function(ag.zeros((2, 0)), axis=0).shape == (0,)


def test_mean_of_more_than_a_float16_can_count() -> None:
    x = ag.ones((70_000,), dtype=np.float16).requires_grad_()
    assert_close(ag.grad(ag.mean(x), x)[0], np.float16(1 / 70_000))


# --- indexing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x[[0, 0, 1]], [2, 1, 0]),
        (lambda x: ag.take(x, np.array([0, 2, 0])), [2, 0, 1]),
        (lambda x: ag.take_along_axis(x, np.array([0, 2, 0])), [2, 0, 1]),
        (lambda x: x[x > 1], [0, 1, 1]),
        (lambda x: x[None, ..., ::2], [1, 0, 1]),
        (lambda x: x[::-1] * np.array([1.0, 2.0, 3.0]), [3, 2, 1]),  # torch has no negative steps
        (lambda x: x[0], [1, 0, 0]),
        (lambda x: sum(x), [1, 1, 1]),
        (lambda x: x[0:0], [0, 0, 0]),
        (lambda x: x[ag.asarray(np.array([1, 1]))], [0, 2, 0]),
        (lambda x: x[ag.asarray(1)], [0, 1, 0]),
    ],
)
def test_indexing(function: Function, expected: list[float]) -> None:
    check(function, [[1.0, 2.0, 3.0]], [expected])


def test_an_integer_index_gives_a_0d_tensor() -> None:
    assert ag.tensor([1.0, 2.0, 3.0])[0].shape == ()


@pytest.mark.parametrize("key", [3, -4, (0, 0), (..., 3), np.array([3]), 1.5, "a"])
def test_bad_indices(key: Any) -> None:
    x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with pytest.raises(IndexError):
        x[key]


# --- shapes and layout ---------------------------------------------------------------------------


def test_zero_dimensions() -> None:
    check(lambda x: x * x, [3.0], [6.0])


def test_nothing_in_one_axis() -> None:
    x, y = ag.zeros((4, 0)).requires_grad_(), ag.ones((4, 1)).requires_grad_()
    g, h = ag.grad(ag.sum(x + y), [x, y])
    assert g.shape == (4, 0)
    assert h.tolist() == [[0.0]] * 4
    x = ag.zeros((0, 3)).requires_grad_()
    assert ag.grad(ag.sum(x), x).shape == (0, 3)


def test_broadcasting() -> None:
    x, y = ag.ones((3, 1)).requires_grad_(), ag.ones((1, 4)).requires_grad_()
    g, h = ag.grad(ag.sum(x * y), [x, y])
    assert g.tolist() == [[4.0]] * 3
    assert h.tolist() == [[3.0] * 4]
    check(lambda x: x * np.ones((2, 3)), [1.0], [6.0])
    check(lambda x: ag.broadcast_to(x, (4, 3)), [[[1.0, 1.0, 1.0]]], [[[4.0, 4.0, 4.0]]])


@pytest.mark.parametrize("layout", [lambda a: a.T, lambda a: a[::-2, ::2], np.asfortranarray])
def test_layouts(layout: Function) -> None:
    a = layout(np.arange(24.0).reshape(4, 6))
    x = ag.asarray(a).requires_grad_()
    assert np.shares_memory(x.array, a)
    assert_close(ag.grad(ag.sum(x * x), x), 2 * a)
    ag.sum(x * x).backward()
    assert_close(x.grad, 2 * a)


def test_part_of_an_array() -> None:
    check(lambda x: x[::2] * 2, [[1.0, 2.0, 3.0]], [[2, 0, 2]])


# --- dtypes and complex numbers ------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_gradients_have_the_dtype_of_the_input(dtype: Any) -> None:
    x = ag.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    assert_close(ag.grad(ag.sum(x * x), x), np.array([2.0, 4.0], dtype))


def test_promotion_is_undone_on_the_way_back() -> None:
    x = ag.tensor([1.0, 2.0], dtype=np.float32, requires_grad=True)
    y = ag.tensor([3.0, 4.0], dtype=np.float64, requires_grad=True)
    assert (x * y).dtype == np.float64
    g, h = ag.grad(ag.sum(x * y), [x, y])
    assert_close(g, np.array([3.0, 4.0], np.float32))
    assert_close(h, np.array([1.0, 2.0]))


def test_python_numbers_do_not_promote() -> None:
    x = ag.tensor([1.0, 2.0], dtype=np.float32, requires_grad=True)
    for result in (x * 2.5, 2.5 * x, x + 1, 1 - x, x / 3, 3 / x, x**2, 2**x, ag.maximum(x, 0.0)):
        assert result.dtype == np.float32
        assert ag.grad(ag.sum(result), x).dtype == np.float32
    assert (x * ag.tensor(2.5)).dtype == np.float64  # a 0-d tensor is an array like any other


def test_integers_take_part_without_gradients() -> None:
    x = ag.tensor([1.0, 2.0], dtype=np.float32, requires_grad=True)
    n = ag.tensor([3, 4])
    g = ag.grad(ag.sum(x * n), x)
    assert_close(g, np.array([3.0, 4.0], np.float32))


def test_a_real_input_of_a_complex_result_has_a_real_gradient() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    z = ag.tensor([3.0 + 1j, 2.0 - 1j])
    assert_close(ag.grad(ag.sum(ag.real(x * z)), x), np.array([3.0, 2.0]))
    assert_close(ag.grad(ag.sum(x * z), x, 1 + 0j), np.array([3.0, 2.0]))
    assert_close(ag.grad(ag.sum(x * z), x, 1j), np.array([1.0, -1.0]))


@pytest.mark.parametrize(
    ("function", "z", "expected"),
    [
        (lambda z: ag.real(z * ag.conj(z)), 1 + 2j, 2 + 4j),
        (lambda z: ag.real(z**2), 1 + 2j, 2 - 4j),
        (ag.imag, 1 + 2j, 1j),
        (ag.abs, 3 + 4j, 0.6 + 0.8j),
        (ag.angle, 3 + 4j, -0.16 + 0.12j),
    ],
)
def test_complex_gradients(function: Function, z: complex, expected: complex) -> None:
    x = ag.tensor([z], requires_grad=True)
    assert_close(ag.grad(ag.sum(function(x)), x), np.array([expected]))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_sign_of_zero_picks_the_side_of_a_branch_cut(sign: float) -> None:
    z = ag.tensor(complex(-2.0, sign * 0.0), requires_grad=True)
    near = ag.tensor(complex(-2.0, sign * 1e-12), requires_grad=True)
    assert_close(ag.grad(ag.acosh(z), z, 1 + 0j), ag.grad(ag.acosh(near), near, 1 + 0j))


def test_forward_mode_does_not_warn_at_a_pole() -> None:
    with np.errstate(over="warn"):
        _, tangent = ag.func.jvp(lambda x: ag.logaddexp(x, 1e300), (0.0,), (1.0,))
    assert tangent == 0.0


def test_a_holomorphic_function_gives_the_conjugate_derivative() -> None:
    z = ag.tensor([1 + 2j], requires_grad=True)
    assert ag.grad(z * z, z, np.array([1 + 0j])).tolist() == [2 - 4j]


def test_astype_and_its_way_back() -> None:
    x = ag.tensor([1.0], dtype=np.float32, requires_grad=True)
    assert_close(ag.grad(ag.astype(x, np.float64), x), np.array([1.0], np.float32))
    assert_close(ag.grad(ag.sum(x, dtype=np.float64), x), np.array([1.0], np.float32))
    z = ag.tensor([1 + 2j], requires_grad=True)
    with pytest.warns(np.exceptions.ComplexWarning):
        real = ag.astype(z, np.float64)
    assert_close(ag.grad(real, z), np.array([1 + 0j]))


def test_astype_to_integers_ends_the_graph() -> None:
    x = ag.tensor([1.5], requires_grad=True)
    assert not ag.astype(x, np.int64).requires_grad


# --- constants among the cotangents --------------------------------------------------------------


@pytest.mark.parametrize("create_graph", [False, True])
def test_zero_derivatives_in_a_batched_sweep(create_graph: bool) -> None:
    x = ag.tensor([1.2, 2.3], requires_grad=True)
    y = x * x
    z = y + ag.floor(x) + ag.floor(x)
    g = ag.grad(z, x, np.eye(2), is_grads_batched=True, create_graph=create_graph)
    assert_close(g.detach(), np.diag([2.4, 4.6]))


def test_hooks_get_tensors_when_the_gradient_is_constant() -> None:
    x = ag.tensor([1.2, 2.3], requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g))
    ag.grad(ag.sum(ag.floor(x)), x, create_graph=True)
    assert isinstance(seen[0], ag.Tensor)


@pytest.mark.parametrize("name", ["max", "min"])
def test_an_extreme_that_is_nan_belongs_to_what_is_nan(name: str) -> None:
    """As in torch: `x.max()`, while its `amax` gives NaN for all."""
    extreme = getattr(ag, name)
    check(extreme, [[1.0, nan, nan]], [[0.0, 0.5, 0.5]])
    check(extreme, [[nan, 1.0, 2.0]], [[1.0, 0.0, 0.0]])
    rows = [[1.0, nan], [2.0, 2.0]]
    check(lambda x: extreme(x, axis=1), [rows], [[[0.0, 1.0], [0.5, 0.5]]])
    check(lambda x: extreme(x, axis=0, keepdims=True)[..., 1:], [rows], [[[0.0, 1.0], [0.0, 0.0]]])


@pytest.mark.parametrize("base", [-2.0, 2.0, -2 + 0j])
def test_complex_powers_of_negative_numbers(base: Any) -> None:
    x, y = np.asarray(base), np.asarray(1 + 2j)
    slope = x**y * np.log(x + 0j)
    direct = ag.tensor(y, requires_grad=True)
    for out in (x**direct, base**direct, ag.tensor(x) ** direct):
        assert_close(ag.grad(out, direct, ag.ones_like(out)), np.conj(slope))
    for power in (lambda y: x**y, lambda y: base**y):
        assert_close(ag.func.jvp(power, (y,), (np.ones_like(y),))[1], slope)
    if isinstance(base, complex):
        return  # it is on the cut of the logarithm
    both = ag.tensor(x, requires_grad=True), direct
    assert ag.testing.gradcheck(ag.pow, both)
    assert ag.testing.gradgradcheck(ag.pow, both)


def test_the_spread_of_one_number_is_flat() -> None:
    for function in (np.std, ag.std, np.nanstd):

        def push(x: Any, function: Function = function) -> Any:
            return ag.func.jvp(function, (x,), (ag.ones_like(x),))[1]

        assert ag.func.grad(push)(np.array([2.0])).tolist() == [0.0]
        assert ag.func.hessian(function)(np.array([2.0])).tolist() == [[0.0]]


def test_second_derivatives_of_logaddexp_far_away() -> None:
    """One operand does not matter: its weight is zero, not a quotient of infinities."""
    x = ag.tensor([0.0, 1.0, 1000.0], requires_grad=True)
    (gradient,) = ag.grad(ag.logaddexp(x, np.array([1e30, 1.0, 0.0])).sum(), [x], create_graph=True)
    assert gradient.detach().tolist() == [0, 0.5, 1]
    assert ag.grad(gradient.sum(), x).tolist() == [0, 0.25, 0]
