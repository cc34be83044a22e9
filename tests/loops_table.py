"""Loops and choices as functions of an array of three elements, and transforms of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree

import arraygrad as ag
from arraygrad.func import cond, fori_loop, scan, while_loop

rng = np.random.default_rng(0)
W = rng.normal(size=(3, 3)) / 2
XS = rng.normal(size=(5, 3))
POINT = np.array([0.4, -0.3, 0.8])
DIRECTION = np.array([1.0, 0.5, -2.0])

Function = Callable[..., Any]


def close(a: Any, b: Any, rtol: float = 1e-12) -> None:
    found, wanted = optree.tree_leaves(a), optree.tree_leaves(b)
    assert len(found) == len(wanted) > 0
    for one, other in zip(found, wanted, strict=True):
        one = one.detach() if isinstance(one, ag.Tensor) else one
        other = other.detach() if isinstance(other, ag.Tensor) else other
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-13)


# --- loops, and the same by Python: functions of an array of three elements ---


def step(state: Any, x: Any) -> Any:
    h = ag.tanh(state["h"] @ W + x) + 0.1 * state["h"]
    return {"h": h, "n": state["n"] + 1}, (h * x, ag.sum(h))


def scanned(x: Any, **options: Any) -> Any:
    state, (ys, sums) = scan(step, {"h": x, "n": 0}, XS, **options)
    return ag.sum(state["h"] ** 2) * state["n"] + ag.sum(ys * sums[:, None])


def scanned_by_hand(x: Any, reverse: bool = False) -> Any:
    state, total = {"h": x, "n": 0}, 0.0
    for row in XS[::-1] if reverse else XS:
        state, (y, s) = step(state, row)
        total = total + ag.sum(y * s)
    return ag.sum(state["h"] ** 2) * state["n"] + total


def captured(x: Any) -> Any:
    """All of it from outside: the state does not depend on the argument at first."""
    return scan(lambda s, w: (s * w + x.sum(), x * s), np.array(0.5), XS[:, 0])[1].sum()


def captured_by_hand(x: Any) -> Any:
    s, total = np.array(0.5), 0.0
    for w in XS[:, 0]:
        total = total + (x * s).sum()
        s = s * w + x.sum()
    return total


def grown(x: Any) -> Any:
    state = while_loop(
        lambda s: ag.sum(s["x"] ** 2) < 50, lambda s: {"x": 1.7 * s["x"] + x * s["x"]}, {"x": x}
    )
    return ag.sum(ag.sin(state["x"]))


def counted(x: Any) -> Any:
    return ag.sum(fori_loop(2, 6, lambda i, s: s * x + i, x))


def counted_by_hand(x: Any) -> Any:
    s = x
    for i in range(2, 6):
        s = s * x + i
    return ag.sum(s)


def chosen(x: Any) -> Any:
    sums = cond(x[0] > 0, lambda x: {"y": ag.sum(ag.exp(x) * x)}, lambda x: {"y": -ag.sum(x)}, x)
    return sums["y"]


def chosen_by_hand(x: Any) -> Any:
    return ag.sum(ag.exp(x) * x)


LOOPS: dict[str, tuple[Function, Function]] = {
    "scan": (scanned, scanned_by_hand),
    "reversed scan": (
        lambda x: scanned(x, reverse=True),
        lambda x: scanned_by_hand(x, reverse=True),
    ),
    "scan with little memory": (lambda x: scanned(x, memory=0), scanned_by_hand),
    "scan with some memory": (lambda x: scanned(x, memory=250), scanned_by_hand),
    "reversed scan with little memory": (
        lambda x: scanned(x, reverse=True, memory=60),
        lambda x: scanned_by_hand(x, reverse=True),
    ),
    "scan of captured arrays": (captured, captured_by_hand),
    "fori_loop": (counted, counted_by_hand),
    "cond": (chosen, chosen_by_hand),
}

TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "value": lambda f: f,
    "grad": ag.func.grad,
    "grad of grad": lambda f: ag.func.grad(lambda x: (ag.func.grad(f)(x) ** 2).sum()),
    "jvp": lambda f: lambda x: ag.func.jvp(f, (x,), (DIRECTION,)),
    "hessian": ag.func.hessian,
    "jacfwd of jacrev": lambda f: ag.func.jacfwd(ag.func.jacrev(f)),
    "checkpoint": lambda f: ag.func.grad(ag.func.checkpoint(f)),
    "linearize": lambda f: lambda x: ag.func.linearize(f, x)[1](DIRECTION),
    "tensor": lambda f: lambda x: ag.grad(f(t := ag.tensor(x, requires_grad=True)), t),
}
