"""The checkers themselves: they pass what is right, and say what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import arraygrad as ag
from arraygrad.ops.define import Elementwise, Opaque, Own, declare, unary
from arraygrad.testing import GradcheckError, assert_close, gradcheck, gradgradcheck


def leaf(*shape: int, dtype: Any = np.float64, seed: int = 0) -> ag.Tensor:
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.5, 1.5, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.uniform(0.5, 1.5, shape)
    return ag.tensor(values, dtype=dtype, requires_grad=True)


# Ops with something wrong with them.
wrong_rule = unary("wrong_rule", vjp=lambda g, x: g * x, compute=lambda xp, x: x * x)
wrong_forward = unary(
    "wrong_forward",
    vjp=lambda g, x: 2 * g * x,
    jvp=lambda t, x: t * x,
    compute=lambda xp, x: x * x,
)
no_forward = declare(
    "no_forward",
    "x",
    compute=lambda xp, x: x * x,
    vjp=lambda g, x: 2 * g * x,
    kind=Opaque(leading=True),
)
wrong_batch = declare(
    "wrong_batch",
    "x",
    compute=lambda xp, x: x * x,
    vjp=lambda g, x: 2 * wrong_batch_rule(g) * x,
    jvp=lambda t, x: 2 * t * x,
    kind=Elementwise(),
)
wrong_batch_rule = declare(
    "wrong_batch_rule",
    "x",
    compute=lambda xp, x: x * 1,
    vjp=lambda g: g,
    kind=Elementwise(linear=True),
    own=Own(batch=lambda op, arrays, flags, params: arrays[0] * 3),
)
conjugated = unary(
    "conjugated",
    vjp=lambda g, x: 2 * g * ag.conj(x),
    holomorphic=False,
    compute=lambda xp, x: x * x,
)
not_conjugated = unary(
    "not_conjugated", vjp=lambda g, x: 2 * g * x, holomorphic=False, compute=lambda xp, x: x * x
)
wrong_second = unary(
    "wrong_second", vjp=lambda g, x: g * wrong_rule(x), compute=lambda xp, x: x**3 / 3
)


@pytest.mark.parametrize("fast_mode", [False, True])
class TestGradcheck:
    def test_one_tensor(self, fast_mode: bool) -> None:
        assert gradcheck(ag.exp, leaf(2, 3), fast_mode=fast_mode)

    def test_several_arguments_of_several_kinds(self, fast_mode: bool) -> None:
        def function(x: Any, power: int, y: Any, name: str, constant: Any) -> Any:
            assert name == "name"
            return x**power * y + constant

        constant = ag.tensor([1.0, 2.0])
        assert gradcheck(function, (leaf(2), 3, leaf(3, 1), "name", constant), fast_mode=fast_mode)

    def test_containers_of_tensors(self, fast_mode: bool) -> None:
        def function(weights: Any, x: Any) -> Any:
            return {"out": weights["a"] @ x, "more": [weights["b"][0] * 2]}

        weights = {"a": leaf(2, 3), "b": [leaf(2, seed=1)]}
        assert gradcheck(function, (weights, leaf(3)), fast_mode=fast_mode)

    def test_several_outputs_not_all_of_them_floating_point(self, fast_mode: bool) -> None:
        def function(x: Any) -> Any:
            return x * 2, ag.argmax(x), ag.sum(x * x), x.detach() * 0

        assert gradcheck(function, leaf(3), fast_mode=fast_mode)

    def test_ops_with_several_outputs(self, fast_mode: bool) -> None:
        assert gradcheck(lambda x: ag.unstack(x), leaf(3, 2), fast_mode=fast_mode)

    def test_a_wrong_rule(self, fast_mode: bool) -> None:
        with pytest.raises(
            GradcheckError, match="output 0 with respect to input 0 by reverse mode"
        ):
            gradcheck(wrong_rule, leaf(3), fast_mode=fast_mode)
        assert not gradcheck(wrong_rule, leaf(3), fast_mode=fast_mode, raise_exception=False)

    def test_a_wrong_forward_rule(self, fast_mode: bool) -> None:
        with pytest.raises(GradcheckError, match="by forward mode"):
            gradcheck(wrong_forward, leaf(3), fast_mode=fast_mode)
        assert gradcheck(wrong_forward, leaf(3), fast_mode=fast_mode, check_forward=False)

    def test_a_wrong_batching_rule(self, fast_mode: bool) -> None:
        with pytest.raises(GradcheckError, match="by a batched sweep"):
            gradcheck(wrong_batch, leaf(3), fast_mode=fast_mode)
        assert gradcheck(wrong_batch, leaf(3), fast_mode=fast_mode, check_batched=False)

    def test_lost_dependence(self, fast_mode: bool) -> None:
        with pytest.raises(GradcheckError):
            gradcheck(lambda x, y: x * y.detach(), (leaf(2), leaf(2)), fast_mode=fast_mode)
        with pytest.raises(GradcheckError):
            gradcheck(lambda x: x.detach() * 2, leaf(2), fast_mode=fast_mode)

    def test_complex_numbers(self, fast_mode: bool) -> None:
        z = leaf(2, dtype=np.complex128)
        assert gradcheck(lambda z: z * z, z, fast_mode=fast_mode)
        assert gradcheck(lambda z: ag.abs(z) ** 2, z, fast_mode=fast_mode)
        assert gradcheck(lambda x: ag.exp(1j * x), leaf(3), fast_mode=fast_mode)
        assert gradcheck(conjugated, z, fast_mode=fast_mode, check_forward=False)
        with pytest.raises(GradcheckError):
            gradcheck(not_conjugated, z, fast_mode=fast_mode, check_forward=False)

    def test_float32(self, fast_mode: bool) -> None:
        x = leaf(3, dtype=np.float32)
        with pytest.warns(UserWarning, match="input 0 .* float32"):
            assert gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-3, fast_mode=fast_mode)

    def test_empty_arrays(self, fast_mode: bool) -> None:
        assert gradcheck(lambda x: x * 2, leaf(0, 3), fast_mode=fast_mode)
        assert gradcheck(lambda x: ag.sum(x, axis=0), leaf(0, 3), fast_mode=fast_mode)

    def test_a_random_function(self, fast_mode: bool) -> None:
        rng = np.random.default_rng(0)
        noisy = unary(
            "noisy",
            vjp=lambda g: g * rng.uniform(1 - 1e-9, 1),
            compute=lambda xp, x: x,
            replace=True,
        )
        with pytest.raises(GradcheckError, match="nondet_tol"):
            gradcheck(noisy, leaf(3), fast_mode=fast_mode)
        assert gradcheck(noisy, leaf(3), fast_mode=fast_mode, nondet_tol=1e-6)

    def test_second_derivatives(self, fast_mode: bool) -> None:
        assert gradgradcheck(lambda x, y: ag.sin(x) * y, (leaf(3), leaf(3)), fast_mode=fast_mode)
        assert gradcheck(wrong_second, leaf(3), fast_mode=fast_mode)
        with pytest.raises(GradcheckError):
            gradgradcheck(wrong_second, leaf(3), fast_mode=fast_mode)


def test_a_missing_forward_rule() -> None:
    assert gradcheck(no_forward, leaf(3))
    assert gradcheck(no_forward, leaf(3), check_forward=True)  # the reverse rule, transposed


def test_the_report_says_where() -> None:
    def function(x: Any, y: Any) -> Any:
        hidden = y.detach()[1] if isinstance(y, ag.Tensor) else y[1]
        return x, ag.stack([y[0], hidden])

    with pytest.raises(GradcheckError) as caught:
        gradcheck(function, (leaf(2), leaf(2)))
    report = str(caught.value)
    assert "output 1 with respect to input 1" in report
    assert "1 of 4 entries differ, most at element [1] of the output and [1] of the input" in report
    assert "reverse mode:\n[[1. 0.]\n [0. 0.]]" in report
    assert "finite differences:\n[[1. 0.]\n [0. 1.]]" in report


def test_the_report_names_parts_of_complex_numbers() -> None:
    with pytest.raises(GradcheckError, match=r"\[0\] \((real|imaginary) part\) of the input"):
        gradcheck(lambda z: ag.real(z).detach() + 0 * z, leaf(1, dtype=np.complex128))


def test_positions_count_all_tensors() -> None:
    with pytest.raises(GradcheckError, match="input 2"):
        gradcheck(lambda a, b, c: a * b + wrong_rule(c), (leaf(2), ag.tensor([1.0, 2.0]), leaf(2)))


def test_inputs_may_be_results() -> None:
    x = leaf(3)
    assert gradcheck(lambda y: y * y, 2 * x)


def test_nothing_is_left_behind() -> None:
    x = leaf(3)
    before = x.array.copy()
    gradcheck(lambda x: x * x, x)
    assert x.grad is None
    np.testing.assert_array_equal(x.array, before)


def test_no_input_requires_gradients() -> None:
    with pytest.raises(ValueError, match="no tensor that requires gradients"):
        gradcheck(ag.exp, ag.tensor([1.0]))
    with pytest.raises(ValueError, match="no tensor that requires gradients"):
        gradgradcheck(ag.exp, ag.tensor([1.0]))


def test_no_output_to_check() -> None:
    with pytest.raises(ValueError, match="no floating-point tensor"):
        gradcheck(ag.argmax, leaf(3))
    with pytest.raises(ValueError, match="no tensor that requires gradients"):
        gradgradcheck(lambda x: x.detach(), leaf(3))


def test_outputs_that_change() -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(x)
        return x if len(calls) < 3 else (x, x)

    with pytest.raises(GradcheckError, match="different number, shape or dtype"):
        gradcheck(function, leaf(2))


def test_gradgradcheck_with_given_gradients() -> None:
    x = leaf(3)
    g = ag.tensor([1.0, 2.0, 3.0])
    assert gradgradcheck(lambda x: x**3, x, g)
    assert gradgradcheck(lambda x: (x**3, x * 2), x, [g, g])


def test_undefined_and_zero_gradients_must_agree() -> None:
    def rule(gs: list[Any]) -> Any:
        total = sum((k + 1) * g for k, g in enumerate(gs) if g is not None)
        return total if None in gs else 2 * total  # wrong when all are given

    pair = declare(
        "pair",
        "x",
        compute=lambda xp, x: (x * 1, x * 2),
        vjp=rule,
        multiple=True,
    )
    x = ag.tensor(1.5, requires_grad=True)
    with pytest.raises(GradcheckError, match="by zeros for other outputs"):
        gradcheck(pair, x, check_batched=False, check_forward=False)
    assert gradcheck(pair, x, check_batched=False, check_forward=False, check_undefined=False)


# --- assert_close --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (1.0, 1.0 + 1e-9),
        (ag.tensor([1.0, 2.0]), np.array([1.0, 2.0])),
        (ag.tensor(1.0), 1.0),
        (np.float32(0.1), 0.1),
        (ag.tensor([1, 2]), ag.tensor([1, 2])),
        ([ag.tensor([1.0]), 2.0], (ag.tensor([1.0]), 2.0)),
        ({"a": ag.tensor([1.0]), "b": None}, {"b": None, "a": np.array([1.0])}),
        (ag.tensor([1 + 1j]), np.array([1 + 1j + 1e-9])),
        (np.zeros((0, 2)), np.zeros((0, 2))),
        (np.inf, np.inf),
    ],
)
def test_close(actual: Any, expected: Any) -> None:
    assert_close(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (1.0, 1.1, "1 of 1 elements differ, most: 1.0 and 1.1"),
        ([1.0], [1.0, 2.0], "expected 2 items, got 1"),
        (1.0, [1.0], "expected 1 items, got float"),
        ({"a": 1.0}, {"b": 1.0}, r"expected keys \['b'\], got \['a'\]"),
        (1.0, {"b": 1.0}, r"expected keys \['b'\], got float"),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 3.0]}, r"\['a'\]: \[1\]: 1 of 1"),
        (np.zeros(2), np.zeros((1, 2)), r"shapes differ: \(2,\) and \(1, 2\)"),
        (np.zeros(2), np.zeros(2, np.float32), "dtypes differ: float64 and float32"),
        (np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 5]]), r"most at \[1, 1\]: 4 and 5"),
        (np.nan, np.nan, "1 of 1"),
        (None, 1.0, "expected 1.0, got None"),
        (np.inf, 1.0, "inf and 1.0"),
    ],
)
def test_not_close(actual: Any, expected: Any, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_close(actual, expected)


def test_options_of_assert_close() -> None:
    assert_close(np.nan, np.nan, equal_nan=True)
    assert_close(np.zeros(2), np.zeros(2, np.float32), check_dtype=False)
    assert_close(1.0, 1.05, rtol=0.1)
    assert_close(1.0, 1.05, atol=0.1)
    with pytest.raises(AssertionError):
        assert_close(1.0, 1.05, rtol=0.0, atol=0.01)


def test_forward_mode_alone() -> None:
    class OnlyForward(ag.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 3 * x

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            return 3 * tangent

    x = ag.tensor([0.5, 1.5], requires_grad=True)
    assert gradcheck(OnlyForward.apply, x, check_reverse=False, check_forward=True)
    with pytest.raises(NotImplementedError, match="backward"):
        gradcheck(OnlyForward.apply, x)


@settings(max_examples=30)
@given(ag.testing.tensors(dtype=np.float32, min_value=1.0, max_value=2.0, requires_grad=False))
def test_tensors_of_hypothesis(x: ag.Tensor) -> None:
    assert x.dtype == np.float32
    assert not x.requires_grad
    assert 1 <= x.ndim <= 3
    assert bool(ag.all((x >= 1) & (x <= 2)))


@settings(max_examples=30)
@given(ag.testing.tensors(6, unique=True))
def test_tensors_without_ties(x: ag.Tensor) -> None:
    assert gradcheck(lambda x: ag.max(x[:3]) * ag.sort(x), x)


def test_tensors_of_integers_are_refused() -> None:
    with pytest.raises(TypeError, match="real floating dtypes, not of int64"):
        ag.testing.tensors(dtype=np.int64)
