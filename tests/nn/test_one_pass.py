"""Functions of ops as ops: in every mode, they give what the functions give."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag
from arraygrad.backends.numpy.native import SMALL, compiler
from arraygrad.nn import activations, losses

Function = Callable[..., Any]
Y = np.random.default_rng(1).random(SMALL)
FUNCTIONS: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "leaky_relu": (activations._leaky_relu, (0.1,)),
    "elu": (activations._elu, (1.5,)),
    "celu": (activations._celu, (1.5,)),
    "gelu_by_tanh": (activations._gelu_by_tanh, ()),
    "mish": (activations._mish, ()),
    "hardswish": (activations._hardswish, ()),
    "squared_difference": (losses._squared_difference, (Y,)),
    "smooth_l1": (losses._smooth_l1, (Y, 0.5)),
    "huber": (losses._huber, (Y, 2)),
    "entropy_of_logits": (losses._entropy_of_logits, (Y, 1)),
}


def points(dtype: Any, shape: tuple[int, ...] = (SMALL,)) -> Any:
    x = 3 * np.random.default_rng(0).normal(size=shape).astype(dtype)
    x.reshape(-1)[:4] = [0.0, -0.0, 3.0, -3.0]
    return x


def value(f: Function, x: Any) -> Any:
    return f(x)


def gradient(f: Function, x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    return ag.grad(f(leaf), leaf, np.cos(x)).array


def of_a_sum(f: Function, x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    return ag.grad(f(leaf).sum(), leaf).array


def second(f: Function, x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    (g,) = [ag.grad(f(leaf), leaf, np.cos(x), create_graph=True)]
    return ag.grad((g * x).sum(), leaf, materialize_grads=True).array


def forward(f: Function, x: Any) -> Any:
    return ag.func.jvp(f, (x,), (np.sin(x),))[1]


def forward_over_reverse(f: Function, x: Any) -> Any:
    return ag.func.jvp(ag.func.grad(lambda x: f(x).sum()), (x,), (np.sin(x),))[1]


def batch(f: Function, x: Any) -> Any:
    return ag.func.vmap(f)(np.stack([x, 2 * x]))


def gradient_of_batch(f: Function, x: Any) -> Any:
    return ag.func.vmap(ag.func.grad(lambda x: f(x).sum()))(np.stack([x, 2 * x]))


def compiled(f: Function, x: Any) -> Any:
    return ag.compile(ag.func.grad(lambda x: f(x).sum()))(x)


def checkpointed(f: Function, x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    return ag.grad(ag.func.checkpoint(f)(leaf).sum(), leaf).array


def strided(f: Function, x: Any) -> Any:
    return gradient(f, np.repeat(x, 2)[::2])


MODES = [value, gradient, of_a_sum, second, forward, forward_over_reverse, batch]
MODES += [gradient_of_batch, compiled, checkpointed, strided]


@crossed(name=FUNCTIONS, mode=MODES, dtype=[np.float64, np.float32])
def test_modes(name: str, mode: Callable[..., Any], dtype: Any) -> None:
    function, more = FUNCTIONS[name]
    given = [a.astype(dtype) if isinstance(a, np.ndarray) else a for a in more]
    plainly = function.__wrapped__  # type: ignore[attr-defined]
    x = points(dtype)
    found = mode(lambda x: function(x, *given), x)
    wanted = mode(lambda x: plainly(x, *given), x)
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype
    unit = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(found, wanted, rtol=500 * unit, atol=50 * unit)


@pytest.mark.skipif(compiler() is None, reason="no native code in eager mode")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_are_one_op_from_a_thousand_elements_on(name: str) -> None:
    function, more = FUNCTIONS[name]
    x = ag.tensor(points(np.float64), requires_grad=True)
    assert function(x, *more).grad_fn.name().lower() == name.replace("_", "") + "backward"
    few = [a[:5] if isinstance(a, np.ndarray) else a for a in more]
    np.testing.assert_allclose(
        function(x[:5], *few).array, function(x, *more).array[:5], rtol=1e-13
    )


@pytest.mark.parametrize("argument", [1, 2])
def test_gradients_by_other_arguments(argument: int) -> None:
    function = losses._smooth_l1
    given: list[Any] = [points(np.float64), Y, np.full(SMALL, 0.7)]
    leaf = given[argument] = ag.tensor(given[argument], requires_grad=True)
    found = ag.grad(function(*given).sum(), leaf).array
    wanted = ag.grad(function.__wrapped__(*given).sum(), leaf).array  # type: ignore[attr-defined]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


def test_arrays_that_broadcast() -> None:
    x = ag.tensor(points(np.float64, (32, 32)), requires_grad=True)
    loss = ag.nn.binary_cross_entropy_with_logits
    y = Y.reshape(32, 32)
    found = ag.grad(loss(x, y, pos_weight=np.full(32, 2.0)), x).array
    wanted = ag.grad(loss(x, y, pos_weight=np.full((32, 32), 2.0)), x).array
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_warnings_are_numpys() -> None:
    x = points(np.float64)
    x[5] = 1e200
    with pytest.warns(RuntimeWarning, match="overflow"):
        losses._squared_difference(x, Y)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        losses._squared_difference(x, Y)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        assert np.isinf(losses._squared_difference(x, Y)[5])
