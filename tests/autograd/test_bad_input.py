"""Mistakes: each is an error that names the argument and the way out, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd import is_anomaly_enabled, is_inference_mode_enabled
from arraygrad.errors import (
    GraphFreedError,
    MixedArraysError,
    NoGradientError,
    RuleError,
    UnusedInputError,
)


class World:
    """Tensors and a graph that every mistake has at hand, and that none may change."""

    def __init__(self) -> None:
        self.x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
        self.w = ag.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
        self.x.grad = ag.tensor([7.0, 7.0, 7.0])
        self.y = self.x**2
        self.y.retain_grad()
        self.loss = (self.y @ self.w).sum()
        self.unrelated = ag.tensor(1.0, requires_grad=True)
        self.constant = ag.tensor([1.0, 2.0, 3.0])
        self.integers = ag.tensor([1, 2, 3])

    def check(self) -> None:
        assert ag.is_grad_enabled()
        assert not is_inference_mode_enabled()
        assert not is_anomaly_enabled()
        assert self.x.tolist() == [1, 2, 3]
        assert self.integers.tolist() == [1, 2, 3]
        assert self.x.requires_grad
        assert self.x.is_leaf
        assert not self.constant.requires_grad
        assert not self.integers.requires_grad
        assert self.x.grad is not None
        assert self.x.grad.tolist() == [7, 7, 7]
        assert self.w.grad is None
        assert self.y.grad is None
        gx, gw, gy = ag.grad(self.loss, [self.x, self.w, self.y], retain_graph=True)
        assert gx.tolist() == [2, 8, 18]
        assert gw.tolist() == [[1], [4], [9]]
        assert gy.tolist() == [1, 2, 3]
        self.loss.backward()
        assert self.x.grad.tolist() == [9, 15, 25]
        assert self.y.grad is not None
        assert self.y.grad.tolist() == [1, 2, 3]


def with_hook(t: World, hook: Callable[..., Any]) -> None:
    with t.y.register_hook(hook):
        t.loss.backward()


def twice(t: World) -> None:
    other = (t.x**2).sum()
    ag.grad(other, t.x)
    ag.grad(other, t.x)


def raises(g: Any) -> Any:
    raise LookupError("hook says no")


MISTAKES: dict[str, tuple[Callable[[World], Any], type[Exception], str]] = {
    "integers that should require gradients": (
        lambda t: ag.tensor([1, 2], requires_grad=True),
        TypeError,
        r"floating-point.*int64.*(dtype=|astype)",
    ),
    "an integer tensor that should require gradients": (
        lambda t: t.integers.requires_grad_(),
        TypeError,
        r"floating-point.*int64.*astype",
    ),
    "the same by assignment": (
        lambda t: setattr(t.integers, "requires_grad", True),
        TypeError,
        r"floating-point.*int64",
    ),
    "booleans that should require gradients": (
        lambda t: (t.constant > 1).requires_grad_(),
        TypeError,
        r"floating-point.*bool",
    ),
    "grad_outputs of the wrong shape": (
        lambda t: ag.grad(t.y, t.x, np.ones(2)),
        ValueError,
        r"grad_outputs\[0\] has shape \(2,\), but outputs\[0\] has shape \(3,\)",
    ),
    "grad_outputs in the wrong number": (
        lambda t: ag.grad([t.y, t.loss], t.x, [np.ones(3)]),
        ValueError,
        "grad_outputs has 1 entry for 2 outputs",
    ),
    "grad_outputs of the wrong kind": (
        lambda t: ag.grad(t.y, t.x, ["one"]),
        TypeError,
        r"grad_outputs\[0\] must be a Tensor, an array, a number or None, not str",
    ),
    "complex grad_outputs of a real output": (
        lambda t: ag.grad(t.y, t.x, 1j),
        TypeError,
        r"grad_outputs\[0\] is complex, but outputs\[0\] is real",
    ),
    "no grad_outputs for a vector": (
        lambda t: ag.grad(t.y, t.x),
        RuntimeError,
        r"outputs\[0\] has shape \(3,\).*sum\(\)",
    ),
    "a gradient of the wrong shape for backward": (
        lambda t: t.y.backward(np.ones((3, 1))),
        ValueError,
        r"gradient has shape \(3, 1\)",
    ),
    "no inputs": (lambda t: ag.grad(t.loss, []), ValueError, "inputs is empty"),
    "no inputs for backward": (
        lambda t: t.loss.backward(inputs=()),
        ValueError,
        "inputs is empty",
    ),
    "an input outside the graph": (
        lambda t: ag.grad(t.loss, [t.x, t.unrelated]),
        UnusedInputError,
        r"inputs\[1\] was not used.*allow_unused=True.*materialize_grads=True",
    ),
    "an input that needs no gradient": (
        lambda t: ag.grad(t.loss, {"a": t.x, "b": t.constant}),
        NoGradientError,
        r"inputs\['b'\] does not require gradients.*requires_grad",
    ),
    "an output that needs no gradient": (
        lambda t: ag.grad([t.loss, t.constant.sum()], t.x),
        NoGradientError,
        r"outputs\[1\] does not require gradients",
    ),
    "backward of a tensor that needs no gradient": (
        lambda t: t.constant.sum().backward(),
        NoGradientError,
        "does not require gradients",
    ),
    "an input that is no tensor": (
        lambda t: ag.grad(t.loss, [t.x, 1.0]),
        TypeError,
        r"inputs\[1\] must be a Tensor or a GradientEdge, not float",
    ),
    "an output that is no tensor": (
        lambda t: ag.grad(np.ones(()), t.x),
        TypeError,
        "outputs must be a Tensor",
    ),
    "a freed graph": (twice, GraphFreedError, "retain_graph=True"),
    "requires_grad off on a result": (
        lambda t: t.y.requires_grad_(False),
        RuntimeError,
        r"PowBackward.*detach\(\)",
    ),
    "numpy() on a tensor that requires gradients": (
        lambda t: t.x.numpy(),
        NoGradientError,
        r"numpy\(\).*detach\(\)",
    ),
    "np.asarray on a tensor that requires gradients": (
        lambda t: np.asarray(t.y),
        NoGradientError,
        r"NumPy array.*detach\(\)",
    ),
    "tensors that require gradients as data": (
        lambda t: ag.tensor([t.unrelated, t.unrelated]),
        TypeError,
        r"data holds tensors that require gradients.*stack\(\)",
    ),
    "the truth of many elements": (
        lambda t: bool(t.x),
        ValueError,
        r"3 elements.*any\(\) or all\(\)",
    ),
    "the truth of no elements": (lambda t: bool(t.x[:0]), ValueError, "0 elements"),
    "one number of many elements": (lambda t: t.x.item(), ValueError, r"item\(\).*3"),
    "float() of many elements": (lambda t: float(t.x), TypeError, r"float\(\).*3"),
    "an axis out of range": (lambda t: t.x.sum(axis=1), IndexError, "axis 1.*1"),
    "a negative axis out of range": (lambda t: ag.max(t.x, axis=-2), IndexError, "axis -2"),
    "an axis named twice": (lambda t: t.w.sum(axis=(0, -2)), ValueError, "axis"),
    "an index out of range": (lambda t: t.x[3], IndexError, "3 is out of range.*3"),
    "an index array out of range": (
        lambda t: t.x[np.array([0, 5])],
        IndexError,
        "5.*out of bounds",
    ),
    "too many indices": (lambda t: t.x[0, 0], IndexError, "too many indices"),
    "a mask of the wrong length": (
        lambda t: t.x[np.array([True, False])],
        IndexError,
        "boolean",
    ),
    "shapes that do not broadcast": (lambda t: t.x + np.ones(2), ValueError, "broadcast"),
    "shapes that cannot be multiplied": (lambda t: t.w @ t.w, ValueError, "match|mismatch"),
    "a shape with another number of elements": (
        lambda t: t.x.reshape((2, 2)),
        ValueError,
        "reshape",
    ),
    "a hook that raises": (lambda t: with_hook(t, raises), LookupError, "hook says no"),
    "a hook that returns the wrong shape": (
        lambda t: with_hook(t, lambda g: g[:2]),
        RuleError,
        r"hook.*\(3,\).*\(2,\)",
    ),
    "a hook that returns the wrong dtype": (
        lambda t: with_hook(t, lambda g: g.astype("float32")),
        RuleError,
        "hook.*float64.*float32",
    ),
    "a hook that returns a number": (
        lambda t: with_hook(t, lambda g: 1.0),
        TypeError,
        "hook.*must return a Tensor or None, not float",
    ),
    "a hook that is no function": (
        lambda t: t.x.register_hook("print"),  # type: ignore[arg-type]
        TypeError,
        "hook must be callable, not str",
    ),
    "create_graph in inference mode": (
        lambda t: ag.inference_mode()(lambda: t.loss.backward(create_graph=True))(),
        RuntimeError,
        "create_graph=True",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_and_changes_nothing(mistake: str) -> None:
    make, error, message = MISTAKES[mistake]
    world = World()
    with pytest.raises(error, match=message):
        make(world)
    world.check()


def strict_array() -> Any:
    return pytest.importorskip("array_api_strict").ones(3)


@pytest.mark.parametrize(
    "make",
    [
        lambda t: t.x + strict_array(),
        lambda t: t.x @ strict_array(),
        lambda t: ag.stack([t.x, ag.asarray(strict_array())]),
        lambda t: ag.where(t.x > 1, ag.asarray(strict_array()), t.x),
        lambda t: ag.grad(t.y, t.x, strict_array()),
    ],
)
def test_arrays_of_two_libraries_do_not_mix(make: Callable[[World], Any]) -> None:
    world = World()
    with pytest.raises(MixedArraysError, match=r"array_api_strict.*numpy|numpy.*array_api_strict"):
        make(world)
    world.check()


def test_what_is_no_array_is_no_operand() -> None:
    world = World()
    for make in (lambda: world.x + "a", lambda: world.x * None, lambda: [1] @ world.x):
        with pytest.raises(TypeError):
            make()
    world.check()
