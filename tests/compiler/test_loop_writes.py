"""Reading and writing at the number of a step, in compiled loops and in batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag
from arraygrad.func import cond, fori_loop, grad, jvp, scan, vmap, while_loop

# What a step does to the state (4, 5), or (20, 5), given its number and a row of 5.
Write = Callable[[Any, Any, Any], None]


def _row(s: Any, i: Any, x: Any) -> None:
    s[i] = s[i - 1] * x + 1


def _element(s: Any, i: Any, x: Any) -> None:
    s[i, 2] = ag.sum(s[i - 1]) + x[i]


def _two(s: Any, i: Any, x: Any) -> None:
    s[i, -1 - i] = s[i, i] + x[0]


def _column(s: Any, i: Any, x: Any) -> None:
    s[:, i] = s[:, i] * 2 + x[1]


def _part(s: Any, i: Any, x: Any) -> None:
    s[i, 1:4] = x[:3] * s[i, 2:]


def _backwards(s: Any, i: Any, x: Any) -> None:
    s[..., i, ::-2] = x[:3] + s[i - 2, 0]


def _broadcast(s: Any, i: Any, x: Any) -> None:
    s[::2, i] = x[3] * s[0, i]


def _added(s: Any, i: Any, x: Any) -> None:
    s[i] += ag.sin(x)
    s[i - 1, 1] *= x[2]


def _number(s: Any, i: Any, x: Any) -> None:
    s[i, :2] = 7


def _nothing(s: Any, i: Any, x: Any) -> None:
    s[i, 3:3] = 1.0
    s[i] = s[i] + x


WRITES: dict[str, Write] = {
    write.__name__[1:]: write
    for write in (
        *(_row, _element, _two, _column, _part),
        *(_backwards, _broadcast, _added, _number, _nothing),
    )
}
X = np.linspace(-1, 1, 5)


def written(write: Write, rows: int, reverse: bool = False) -> Any:
    def f(x: Any) -> Any:
        def step(s: Any, i: Any) -> Any:
            write(s, i, x)
            return s, s[i]

        init = ag.ones((rows, 5)) * ag.sum(x) + np.arange(5.0 * rows).reshape(rows, 5) / 9
        return scan(step, init, np.arange(4), reverse=reverse)

    return f


def plain(write: Write, rows: int, reverse: bool) -> Any:
    """What a loop in NumPy does."""
    s = np.ones((rows, 5)) * X.sum() + np.arange(5.0 * rows).reshape(rows, 5) / 9
    ys = {}
    for i in range(3, -1, -1) if reverse else range(4):
        write(s, i, X)
        ys[i] = s[i].copy()
    return s, np.stack([ys[i] for i in range(4)])


def close(found: Any, wanted: Any) -> None:
    for x, y in zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]:
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-10, atol=1e-12)


@crossed(name=WRITES, rows=[4, 20])
def test_as_numpy(name: str, rows: int) -> None:
    for reverse in (False, True):
        f, wanted = written(WRITES[name], rows, reverse), plain(WRITES[name], rows, reverse)
        close(ag.compile(f, check=reverse)(X), wanted)
        close(f(X), wanted)


@pytest.mark.parametrize("name", WRITES)
def test_derivatives(name: str) -> None:
    def total(x: Any) -> Any:
        last, ys = written(WRITES[name], 4)(x)
        return ag.sum(last**2) + ag.sum(ag.sin(ys))

    def directional(x: Any) -> Any:
        return jvp(grad(total), (x,), (ag.cos(x),))[1]

    for function in (grad(total), directional):
        close(ag.compile(function)(X), function(X))
    batch = np.stack([X, X**2])
    close(ag.compile(vmap(grad(total)))(batch), vmap(grad(total))(batch))


def test_they_are_native() -> None:
    for rows, how in ((20, "kernels in native code"), (4, "in native code")):
        assert how in ag.compile(written(_row, rows)).explain(X)
    small = ag.compile(lambda x: fori_loop(0, 3, lambda i, s: s * x[i], ag.ones(())))
    assert "numbers in registers" in small.explain(X)


@pytest.mark.parametrize("size", [5, 50])
@pytest.mark.parametrize(("start", "stop"), [(-1, 0), (0, 1)])
def test_integers_out_of_range(size: int, start: int, stop: int) -> None:
    """One too few at the start, or one too many at the end."""

    def of(x: Any, step: Any) -> Any:
        return fori_loop(start - size, stop + size, step, x * 1)

    def read(i: Any, s: Any) -> Any:
        return s + s[i]

    def write(i: Any, s: Any) -> Any:
        s[i] = 1.0
        return s

    for step in (read, write):
        f = ag.compile(lambda x, step=step: of(x, step))
        wrong = start - size if start else size
        number = 0 if start else 2 * size
        told = rf"(?s)index {wrong} is out of .* axis 0.* step {number} of a loop"
        for run in (f, f, lambda x, step=step: of(x, step)):
            with pytest.raises(IndexError, match=told):
                run(np.ones(size))


def test_integers_that_do_not_depend_on_the_state() -> None:
    """They are read for all steps at once."""
    f = ag.compile(lambda x, n: scan(lambda s, i: (s + x[i], None), ag.zeros(()), n)[0])
    close(f(X, np.array([0, -1, 4])), X[0] + 2 * X[4])
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        f(X, np.array([0, 5, 4]))


def test_outside_of_loops() -> None:
    def f(x: Any, i: Any, j: Any) -> Any:
        y = x * 2
        y[i, j] = x[j, i] + 1
        y[j] += 3.0
        return y

    x = np.arange(9.0).reshape(3, 3)
    compiled = ag.compile(f)
    for i, j in ((0, 1), (2, -1), (-3, 0)):
        close(compiled(x, np.array(i), np.array(j)), f(x, i, j))
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        compiled(x, np.array(0), np.array(3))


def test_in_a_while_loop_and_a_choice() -> None:
    def f(x: Any) -> Any:
        def step(given: Any) -> Any:
            i, s = given
            s[i] = s[i - 1] + x[i]
            return i + 1, s

        return while_loop(lambda given: x[given[0]] < 0.9, step, (np.array(0), x * 1))[1]

    close(ag.compile(f)(X), f(X))
    total = grad(lambda x: ag.sum(f(x) ** 2))
    close(ag.compile(total)(X), total(X))

    def chosen(x: Any, i: Any) -> Any:
        def yes(x: Any) -> Any:
            x[i] = 5.0
            return x

        return cond(i > 1, yes, lambda x: x, x * 1)

    for i in (0, 3):
        close(ag.compile(chosen)(X, np.array(i)), chosen(X, np.array(i)))


def test_an_integer_for_each_member_of_a_batch() -> None:
    def f(x: Any, i: Any, v: Any) -> Any:
        x = x * 1
        x[i, 1:] = v
        x[0, i] += 1.0
        return x

    x, places, v = np.arange(24.0).reshape(2, 4, 3), np.array([2, -3]), np.array([[7.0], [8.0]])
    wanted = [f(*given) for given in zip(x, places, v, strict=True)]
    close(vmap(f)(x, places, v), np.stack(wanted))
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        vmap(f)(x, np.array([2, 3]), v)
    pairs = list(zip(x, places, strict=True))
    gradient = vmap(grad(lambda x, i: ag.sum(f(x, i, x[i, 1:] ** 2) ** 2)))
    single = [grad(lambda x, i: ag.sum(f(x, i, x[i, 1:] ** 2) ** 2))(*g) for g in pairs]
    close(gradient(x, places), np.stack(single))


def test_writes_to_the_whole_state() -> None:
    def add(s: Any, x: Any) -> Any:
        s += x
        s[1:] *= 2
        return s, s[0]

    xs = np.arange(12.0).reshape(4, 3)
    state, ys = np.zeros(3), []
    for x in xs:
        state += x
        state[1:] *= 2
        ys.append(state[0])
    found = ag.compile(lambda xs: scan(add, np.zeros(3), xs))(xs)
    close(found, (state, np.array(ys)))
