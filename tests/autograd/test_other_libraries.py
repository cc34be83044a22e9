"""The same semantics over arrays of other libraries than NumPy."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd.graph import get_gradient_edge, save_on_cpu, saved_tensors_hooks
from arraygrad.errors import GraphFreedError, NoGradientError, RuleError

Make = Callable[[Any], Any]


def of_torch(values: Any) -> Any:
    torch = pytest.importorskip("torch")
    return torch.tensor(values, dtype=torch.float64)


def of_strict(values: Any) -> Any:
    strict = pytest.importorskip("array_api_strict")
    return strict.asarray(values, dtype=strict.float64)


@pytest.fixture(params=[of_torch, of_strict], ids=["torch", "array_api_strict"])
def array(request: pytest.FixtureRequest) -> Make:
    made: Make = request.param
    return made


@pytest.fixture
def x(array: Make) -> ag.Tensor:
    return ag.tensor(array([1.0, 2.0, 3.0]), requires_grad=True)


def test_gradients_are_of_the_same_library(x: ag.Tensor) -> None:
    g = ag.grad(ag.sum(x**2), x)
    assert type(g.array) is type(x.array)
    assert g.dtype == x.dtype
    assert g.tolist() == [2, 4, 6]


def test_seeds_of_every_kind(x: ag.Tensor, array: Make) -> None:
    for seed in (array([1.0, 0.0, 2.0]), ag.asarray(array([1.0, 0.0, 2.0]))):
        assert ag.grad(x**2, x, seed).tolist() == [2, 0, 12]
    assert ag.grad(x**2, x, 0.5).tolist() == [1, 2, 3]
    assert ag.grad(get_gradient_edge(x**2), x, 0.5).tolist() == [1, 2, 3]
    assert ag.grad(get_gradient_edge(ag.sum(x)), x).tolist() == [1, 1, 1]


def test_gradients_are_the_callers_own(x: ag.Tensor, array: Make) -> None:
    seed = array([1.0, 1.0, 1.0])
    a, b = ag.grad(x + 1, [x, x], seed)
    a.array[0] = 5.0
    assert b.tolist() == [1, 1, 1]
    assert ag.asarray(seed).tolist() == [1, 1, 1]


def test_backward_accumulates(x: ag.Tensor) -> None:
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    loss = ag.sum(y**2)
    for times in (1, 2):
        loss.backward(retain_graph=True)
        assert x.grad is not None
        assert y.grad is not None
        assert x.grad.tolist() == [80 * times, 160 * times, 240 * times]
        assert y.grad.tolist() == [40 * times, 80 * times, 120 * times]
    assert type(x.grad.array) is type(x.array)


def test_unused_inputs(x: ag.Tensor, array: Make) -> None:
    other = ag.tensor(array([[1.0, 2.0]]), requires_grad=True)
    zeros = ag.grad(ag.sum(x), [x, other], materialize_grads=True)[1]
    assert type(zeros.array) is type(x.array)
    assert zeros.tolist() == [[0, 0]]


def test_second_derivatives(x: ag.Tensor) -> None:
    g = ag.grad(ag.sum(x**3), x, create_graph=True)
    assert ag.grad(ag.sum(g), x).tolist() == [6, 12, 18]


def test_batches(x: ag.Tensor, array: Make) -> None:
    jacobian = ag.grad(x**2, x, array(np.eye(3).tolist()), is_grads_batched=True)
    assert type(jacobian.array) is type(x.array)
    assert jacobian.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]


def test_several_outputs(x: ag.Tensor) -> None:
    a, _, c = ag.unstack(x)
    assert ag.grad(a * c, x).tolist() == [3, 0, 1]


def test_a_freed_graph(x: ag.Tensor) -> None:
    y = ag.sum(x**2)
    ag.grad(y, x)
    with pytest.raises(GraphFreedError):
        ag.grad(y, x)


def test_a_hook_that_returns_an_array_of_another_library(x: ag.Tensor) -> None:
    x.register_hook(lambda g: np.ones(3))
    with pytest.raises(RuleError, match="hook"):
        ag.grad(ag.sum(x), x)


def test_saved_values(x: ag.Tensor) -> None:
    with save_on_cpu():
        y = ag.sum(ag.exp(x))
    np.testing.assert_allclose(ag.grad(y, x).tolist(), np.exp([1.0, 2, 3]))
    with saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        y = ag.sum(ag.exp(x))
    np.testing.assert_allclose(ag.grad(y, x).tolist(), 2 * np.exp([1.0, 2, 3]))


def test_anomalies(x: ag.Tensor) -> None:
    with ag.autograd.detect_anomaly():
        y = ag.sum(ag.sqrt(x - 1) * 0)
        with pytest.raises(RuntimeError, match="SqrtBackward returned NaN"):
            ag.grad(y, x)


def test_values_come_out(x: ag.Tensor, array: Make) -> None:
    assert x.tolist() == [1, 2, 3]
    assert x[1].item() == 2
    assert ag.tensor(array([[5.0]])).item() == 5
    assert float(x.detach()[0]) == 1
    assert bool(x.detach()[0])
    assert isinstance(x.detach().numpy(), np.ndarray)
    assert np.asarray(x.detach()).tolist() == [1, 2, 3]
    with pytest.raises(NoGradientError):
        np.asarray(x)


def test_copies(x: ag.Tensor) -> None:
    for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(made.array) is type(x.array)
        assert made.requires_grad
        made.array[0] = 9.0
        assert x.tolist() == [1, 2, 3]


def test_only_floating_point_requires_gradients(array: Make) -> None:
    truth = ag.tensor(array([1.0, 2.0])) > 1
    with pytest.raises(TypeError, match="floating-point"):
        truth.requires_grad_()
