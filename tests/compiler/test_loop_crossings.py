"""Loops of all forms, crossed with each other, with transforms, with interrupts and with threads.

Eager loops are compared with plain Python loops, and compiled ones with eager ones.
"""

from __future__ import annotations

import signal
import threading
from collections import namedtuple
from typing import Any

import numpy as np
import optree
import pytest
from rows import crossed

import arraygrad as ag
from arraygrad.func import (
    associative_scan,
    checkpoint,
    cond,
    custom,
    fori_loop,
    grad,
    jvp,
    scan,
    vmap,
    while_loop,
)

X = np.array([0.3, -0.7, 1.1])
XS = np.array([0.5, -0.2, 0.9, 0.4])
Pair = namedtuple("Pair", "a b")


@custom(vjp=lambda g, x: g * ag.cos(x))
def sine(x: Any) -> Any:
    return np.sin(x)


def _written(s: Any, a: Any) -> Any:
    s[0] = s[1] * a
    s += a
    s[1:] *= 2
    return s, s[0]


# The first state and the step, as functions of an array.
STEPS: dict[str, tuple[Any, Any]] = {
    "a dictionary": (
        lambda x: {"u": x, "v": (x * 2, None)},
        lambda x: (
            lambda s, a: (
                {"u": s["v"][0] * a + ag.sum(x), "v": (ag.sin(s["u"]), None)},
                {"y": s["u"][0], "n": None},
            )
        ),
    ),
    "a named tuple": (
        lambda x: Pair(x, x[0]),
        lambda x: lambda s, a: (Pair(s.a * s.b + a, ag.sum(s.a)), (s.b, s.a)),
    ),
    "two that change places": (
        lambda x: (x, x * 2),
        lambda x: lambda s, a: ((s[1], s[0]), s[0] + a),
    ),
    "one array twice": (lambda x: (x, x), lambda x: lambda s, a: ((s[0] * a, s[1]), None)),
    "a state that stays": (lambda x: x, lambda x: lambda s, a: (s, s)),
    "a state from outside": (lambda x: x, lambda x: lambda s, a: (x * 1.0, s * a)),
    "no state": (lambda x: (), lambda x: lambda s, a: ((), ag.sin(x) * a)),
    "None as a state": (lambda x: None, lambda x: lambda s, a: (None, x * a)),
    "numbers": (lambda x: (x, 0), lambda x: lambda s, a: ((s[0] * a + s[1], s[1] + 1), 2.0)),
    "truth": (
        lambda x: (x, True),
        lambda x: lambda s, a: ((ag.where(s[1], s[0] * a, s[0]), ag.sum(s[0]) > 0), s[1]),
    ),
    "a rule of the user": (lambda x: x, lambda x: lambda s, a: (sine(s) * a + x, sine(x))),
    "a checkpoint": (
        lambda x: x,
        lambda x: lambda s, a: (checkpoint(lambda t: ag.sin(t) * a + x)(s), None),
    ),
    "a gradient": (
        lambda x: x,
        lambda x: lambda s, a: (grad(lambda t: ag.sum(ag.sin(t) * x * t))(s) * a, s),
    ),
    "a batch": (lambda x: x, lambda x: lambda s, a: (vmap(lambda t: ag.sin(t) * a)(s) + x, s)),
    "a tangent": (
        lambda x: x,
        lambda x: lambda s, a: (jvp(lambda t: ag.sin(t) * x, (s,), (x,))[1] * a, s),
    ),
    "a choice of elements": (
        lambda x: x,
        lambda x: lambda s, a: (ag.where(s > 0.2, s * a, ag.exp(s)), ag.argmax(s)),
    ),
    "complex numbers": (lambda x: x + 0j, lambda x: lambda s, a: (s * (a + 1j) + x, ag.abs(s))),
    "writes": (lambda x: x * 1, lambda x: _written),
}


def scanned(name: str, xs: Any, reverse: bool) -> Any:
    init, step = STEPS[name]
    return lambda x: scan(step(x), init(x), xs, reverse=reverse)


def by_python(name: str, xs: Any, reverse: bool) -> Any:
    init, step = STEPS[name]
    state, rows, f = init(X), {}, step(X)
    for i in range(len(xs) - 1, -1, -1) if reverse else range(len(xs)):
        state, y = f(state, xs[i])
        rows[i] = optree.tree_map(np.array, y)
    ys = [rows[i] for i in range(len(xs))]
    return state, optree.tree_map(lambda *leaves: np.stack(leaves), *ys)


def close(found: Any, wanted: Any) -> None:
    pairs = [optree.tree_leaves(x) for x in (found, wanted)]
    for x, y in zip(*pairs, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-9, atol=1e-10)


def total(f: Any) -> Any:
    """A number from all results that can have a derivative."""

    def summed(x: Any) -> Any:
        leaves = [y for y in optree.tree_leaves(f(x)) if getattr(y, "dtype", None) is not None]
        smooth = [ag.sum(ag.sin(ag.abs(y) + 1)) for y in leaves if y.dtype.kind in "fc"]
        return sum(smooth, 0.0 * ag.sum(x))

    return summed


TRANSFORMS: dict[str, Any] = {
    "value": lambda f: f,
    "grad": lambda f: grad(total(f)),
    "jvp of grad": lambda f: lambda x: jvp(grad(total(f)), (x,), (x + 1,))[1],
    "grad of vmap": lambda f: grad(lambda x: ag.sum(vmap(total(f))(ag.stack((x, x * 2))))),
}


@pytest.mark.parametrize("name", STEPS)
def test_eager_and_compiled_scans(name: str) -> None:
    for xs in (XS, XS[:1]):
        for reverse in (False, True):
            f, wanted = scanned(name, xs, reverse), by_python(name, xs, reverse)
            close(f(X), wanted)
            close(ag.compile(f, check=reverse)(X), wanted)


@crossed(name=STEPS, transform=[t for t in TRANSFORMS if t != "value"])
def test_transforms_of_scans(name: str, transform: str) -> None:
    f = TRANSFORMS[transform](scanned(name, XS, False))
    close(ag.compile(f)(X), f(X))


@pytest.mark.parametrize("name", ["a dictionary", "no state", "numbers", "a state that stays"])
def test_batches_of_elements_and_no_steps(name: str) -> None:
    init, step = STEPS[name]

    def elements(x: Any) -> Any:
        return vmap(lambda xs: scan(step(x), init(x), xs))(ag.stack((XS, XS * 2)))

    def none(x: Any) -> Any:
        return scan(step(x), init(x), XS[:0])

    for f in (elements, none):
        for transform in ("value", "grad"):
            g = TRANSFORMS[transform](f)
            close(ag.compile(g)(X), g(X))


# --- loops in loops ---

NESTED: dict[str, Any] = {
    "scan in while": lambda x: while_loop(
        lambda s: s[0] < 3,
        lambda s: (s[0] + 1, scan(lambda t, a: (ag.sin(t) * a + x, None), s[1], XS)[0]),
        (0, x),
    )[1],
    "while in scan": lambda x: scan(
        lambda s, a: (while_loop(lambda t: ag.sum(t**2) < 4, lambda t: t * 1.5 + a, s) * 0.3, s[0]),
        x,
        XS,
    ),
    "cond in while": lambda x: while_loop(
        lambda s: s[0] < 4,
        lambda s: (
            s[0] + 1,
            cond(s[1][0] > 0.2, lambda t: ag.sin(t) * x, lambda t: t + 0.3 * x, s[1]),
        ),
        (0, x),
    )[1],
    "scan in cond": lambda x: cond(
        ag.sum(x) > 0,
        lambda: scan(lambda s, a: (s * a + x, s), x, XS[:2]),
        lambda: (x, ag.stack((x, x))),
    ),
    "associative scan in scan": lambda x: scan(
        lambda s, a: (associative_scan(ag.multiply, s) * a + x, s), x, XS
    ),
    "a number of steps in an array": lambda x: fori_loop(
        ag.asarray(0), ag.asarray(3), lambda i, s: s * ag.sin(x) + i, x
    ),
    "a sine of a constant in registers": lambda x: while_loop(
        lambda s: s < 5, lambda s: s + ag.abs(ag.sin(x[0])), ag.sum(x)
    ),
    "a number as a state": lambda x: scan(lambda s, a: (s * a + x[0], np.int64(2)), 1.0, x),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested(name: str) -> None:
    for transform in TRANSFORMS.values():
        f = transform(NESTED[name])
        close(ag.compile(f)(X), f(X))


# --- mistakes, interrupts, threads ---

MISTAKES: dict[str, tuple[Any, str]] = {
    "another dtype": (
        lambda x: scan(lambda s, a: (s * 0.5, None), np.array([1, 2]), x[:2]),
        "dtype",
    ),
    "another shape": (lambda x: scan(lambda s, a: (s[:2], None), x, length=3), "shape"),
    "another structure": (lambda x: scan(lambda s, a: ((s, s), None), x, length=3), "structure"),
    "no pair": (lambda x: scan(lambda s, a: s, x, length=3), "pair"),
    "no array": (lambda x: scan(lambda s, a: (s, "text"), x, length=3), "second result"),
    "while, another dtype": (
        lambda x: while_loop(lambda s: ag.sum(s) < 5, lambda s: ag.astype(s, np.float32), x),
        "dtype",
    ),
    "several values": (lambda x: cond(x > 0, lambda: x, lambda: x), "one value"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    function, message = MISTAKES[name]
    for f in (function, ag.compile(function)):
        with pytest.raises(TypeError, match=message):
            f(X)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_a_step(error: type[BaseException]) -> None:
    calls = [0]

    @custom(vjp=lambda g: g)
    def counted(x: Any) -> Any:
        calls[0] += 1
        if calls[0] == 3:
            raise error
        return np.array(x)

    def f(x: Any) -> Any:
        return scan(lambda s, a: (counted(s) * a + x, s), x, XS)

    calls[0] = 10
    compiled = ag.compile(f)
    wanted = compiled(X)
    for g in (f, compiled):
        calls[0] = 0
        with pytest.raises(error):
            g(X)
        assert calls[0] == 3
        calls[0] = 10
        close(g(X), wanted)


@pytest.mark.usefixtures("interruptible")
def test_long_loops_can_be_interrupted() -> None:
    loops = (
        lambda x: scan(lambda s, _: (ag.sin(s) * x, None), x, length=10**10)[0],
        lambda x: while_loop(lambda s: s[0] < 1, lambda s: (s[0] * 1, s[1] * x), (x * 0, x))[1],
    )
    for loop in loops:
        compiled = ag.compile(loop)
        timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            compiled(np.array(0.5))
        timer.join()


def test_threads_that_compile_and_run_loops() -> None:
    def f(x: Any) -> Any:
        return scan(lambda s, a: (cond(a > 0.3, lambda: s * x, lambda: ag.sin(s) + x), s), x, XS)

    shared = ag.compile(f)
    wrong: list[int] = []

    def work(k: int) -> None:
        own = ag.compile(lambda x: f(x))
        for x in (k * X, X - k):
            for g in (own, shared):
                try:
                    close(g(x), f(x))
                except BaseException:
                    wrong.append(k)
                    raise

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_tensors_from_outside_and_hooks() -> None:
    w = ag.tensor([0.5, -0.3, 0.2], requires_grad=True)

    def loss(x: Any) -> Any:
        ys = scan(lambda s, a: (ag.sin(s * w) * a + w, s), x, XS)[1]
        grown = while_loop(lambda s: s < 3, lambda s: s + ag.sum(w * w), ag.sum(w) * 0 + 1.0)
        return ag.sum(ys) + grown + cond(x[0] > 0, lambda: ag.sum(w * x), lambda: ag.sum(w))

    found = []
    for f in (loss, ag.compile(loss)):
        t = ag.tensor(X, requires_grad=True)
        t.register_hook(lambda g: 2 * g)
        found.append(tuple(g.numpy() for g in ag.grad(f(t), (w, t))))
    close(*found)


def test_the_first_state_is_not_written() -> None:
    for f in (lambda x: scan(_written, x, XS), lambda x: while_loop(_is_low, _doubled, x)):
        for g in (f, ag.compile(f)):
            x = X.copy()
            g(x)
            np.testing.assert_array_equal(x, X)


def _is_low(s: Any) -> Any:
    return ag.max(s) < 5


def _doubled(s: Any) -> Any:
    s *= 2
    return s


def test_a_checkpoint_in_a_choice_uses_arrays_of_transforms_from_outside() -> None:
    matrix = ag.tensor([[1.0, -2.0], [0.5, 1.0]])

    def function(x: Any) -> Any:
        inside = checkpoint(lambda y: ag.where(matrix @ x > 0, y, 0.3 * y))
        return cond(ag.sum(x) > 0, inside, ag.exp, x * 2)

    def by_python(x: Any) -> Any:
        y = x * 2
        return np.where(matrix.numpy() @ x > 0, y, 0.3 * y) if x.sum() > 0 else np.exp(y)

    batch = np.array([[0.3, 1.2], [-0.7, 0.1], [2.0, 0.4]])
    expected = np.stack([by_python(x) for x in batch])
    for mapped in (vmap(function), vmap(ag.compile(function)), ag.compile(vmap(function))):
        np.testing.assert_allclose(mapped(batch), expected, rtol=1e-13)


def test_a_checkpoint_in_a_choice_takes_a_part_of_a_tensor_from_outside() -> None:
    def function(x: Any, w: Any) -> Any:
        return cond(x > 0, checkpoint(lambda y: y * w[1] * x + w[0]), ag.exp, x)

    x, w = np.array(2.0), np.array([3.0, 5.0])
    for slopes in (ag.func.grad(function, argnums=1), ag.func.jacfwd(function, argnums=1)):
        np.testing.assert_allclose(ag.compile(slopes)(x, w), [1, 4])
