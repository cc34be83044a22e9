"""What a `Function`, a hook or a rule of the user's may do to memory that others use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import func
from arraygrad.autograd import Function


class Double(Function):
    """Doubles its argument in place."""

    @staticmethod
    def forward(x: Any) -> Any:
        x *= 2.0
        return x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_dirty(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2.0


class First(Function):
    """Returns a view of its argument."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x[:1]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return ag.concat([g, ag.zeros_like(g)])


X = np.array([1.0, 3.0])


def test_a_dirty_view_reaches_its_base() -> None:
    x = ag.tensor(X, requires_grad=True)
    y = x * 1.0
    Double.apply(y[:1])
    assert y.tolist() == [2.0, 3.0]
    assert ag.grad((y * y).sum(), x).tolist() == [8.0, 6.0]


def test_a_dirty_base_reaches_its_views() -> None:
    x = ag.tensor(X, requires_grad=True)
    y = x * 1.0
    first = y[:1]
    Double.apply(y)
    assert first.tolist() == [2.0]
    assert ag.grad((first * first).sum(), x).tolist() == [8.0, 0.0]


def test_leaves_are_not_changed_in_place() -> None:
    for view in (lambda x: x, lambda x: x[:1]):
        x = ag.tensor(X, requires_grad=True)
        with pytest.raises(RuntimeError, match="leaf that requires gradients was changed in place"):
            Double.apply(view(x))


def test_only_inputs_can_be_dirty() -> None:
    class Wrong(Double):
        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_dirty(ag.zeros(2))

    with pytest.raises(RuntimeError, match="dirty that is no input"):
        Wrong.apply(ag.tensor(X, requires_grad=True) * 1.0)


def test_dirty_inputs_in_transforms() -> None:
    def function(x: Any) -> Any:
        y = x * 1.0
        return (Double.apply(y) * y).sum()

    assert func.grad(function)(X).tolist() == [8.0, 24.0]
    assert func.grad(lambda x: ag.sum(func.grad(function)(x)))(X).tolist() == [8.0, 8.0]
    with pytest.raises(RuntimeError, match="dirty"):  # refused, not wrong
        func.vmap(func.grad(function))(np.stack([X, X]))


def test_views_that_a_function_returns() -> None:
    x = ag.tensor(X, requires_grad=True)
    y = x * 1.0
    first = First.apply(y)
    assert ag.grad((first * first).sum(), x, retain_graph=True).tolist() == [2.0, 0.0]
    with pytest.raises(RuntimeError, match="returned it as a view of its input"):
        first *= 2.0
    y *= 2.0
    with pytest.raises(RuntimeError, match="written since"):
        first * 1.0


def test_a_view_of_a_leaf_cannot_be_written() -> None:
    x = ag.tensor(X, requires_grad=True)
    with pytest.raises(RuntimeError, match="view"):
        First.apply(x).zero_()
    assert x.tolist() == X.tolist()


# --- cotangents ----------------------------------------------------------------------------------


def spoil(g: Any) -> Any:
    g *= 100.0
    return g


class Spoils(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return spoil(g)


def by_hook(x: Any) -> Any:
    y = x * 1.0
    y.register_hook(spoil)
    return y


WAYS: dict[str, Callable[[Any], Any]] = {
    "hook": by_hook,
    "node hook": lambda x: _hooked(
        x * 1.0, "register_hook", lambda inputs, outputs: spoil(outputs[0])
    ),
    "prehook": lambda x: _hooked(x * 1.0, "register_prehook", lambda outputs: spoil(outputs[0])),
    "Function": Spoils.apply,
    "custom": func.custom(vjp=lambda g: spoil(g))(lambda x: x * 1.0),
}


def _hooked(y: Any, method: str, hook: Any) -> Any:
    getattr(y.grad_fn, method)(hook)
    return y


@pytest.mark.parametrize("way", WAYS)
def test_cotangents_cannot_be_written(way: str) -> None:
    """Another branch, and the caller, have the same array."""
    x = ag.tensor(X, requires_grad=True)
    seed = np.ones(2)
    y = x * 1.0
    with pytest.raises((RuntimeError, ValueError), match="read-only"):
        ag.grad(WAYS[way](y) + y, x, seed)
    assert seed.tolist() == [1.0, 1.0]


def test_cotangents_can_be_cloned() -> None:
    x = ag.tensor(X, requires_grad=True)
    y = x * 1.0
    y.register_hook(lambda g: g.clone().mul_(10.0))
    assert ag.grad(y + x, x, np.ones(2)).tolist() == [11.0, 11.0]


class Saves(ag.autograd.Function):
    """Saves what it has written: its argument, or a copy of it."""

    @staticmethod
    def forward(ctx: Any, x: Any, copies: bool) -> Any:
        y = x.clone() if copies else x
        y.mul_(3)
        if not copies:
            ctx.mark_dirty(y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (y,) = ctx.saved_tensors
        return g * y, None


@pytest.mark.parametrize("copies", [True, False])
def test_what_forward_wrote_before_is_saved_as_it_is_then(copies: bool) -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = Saves.apply(x * 1, copies)
    assert ag.grad(y.sum(), x, retain_graph=True).tolist() == [3, 6]
    y += 1
    assert ag.grad(y.sum(), x).tolist() == [3, 6]
