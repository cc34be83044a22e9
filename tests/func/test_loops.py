"""Loops as functions, run eagerly: they compute what Python's loops do, under every transform."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import optree
import pytest
from loops_table import (
    LOOPS,
    POINT,
    TRANSFORMS,
    Function,
    captured,
    chosen,
    close,
    counted,
    grown,
    scanned,
)
from rows import crossed

import arraygrad as ag
from arraygrad.func import (
    associative_scan,
    budget,
    cond,
    fori_loop,
    loops,
    scan,
    vmap,
    while_loop,
)

rng = np.random.default_rng(0)


@crossed(name=LOOPS, transform=TRANSFORMS)
def test_a_loop_is_what_python_computes(name: str, transform: str) -> None:
    loop, by_hand = LOOPS[name]
    make = TRANSFORMS[transform]
    close(make(loop)(POINT), make(by_hand)(POINT), rtol=1e-10)


@pytest.mark.parametrize("transform", ["value", "grad", "hessian", "jvp", "tensor"])
def test_a_while_loop(transform: str) -> None:
    make = TRANSFORMS[transform]
    with np.errstate(all="raise"):
        found = make(grown)(POINT)
    steps, now = 0, POINT
    while (now**2).sum() < 50:
        now, steps = 1.7 * now + POINT * now, steps + 1
    close(found, make(lambda x: counted_steps(x, steps))(POINT), rtol=1e-10)


def counted_steps(x: Any, steps: int) -> Any:
    now = x
    for _ in range(steps):
        now = 1.7 * now + x * now
    return ag.sum(ag.sin(now))


# --- batches ---


@crossed(
    transform=["value", "grad", "hessian"], function=[scanned, captured, grown, counted, chosen]
)
def test_a_batch_is_each_member_by_itself(function: Function, transform: str) -> None:
    rows = np.array([POINT, -POINT, 3 * POINT, 0.1 * POINT])
    if function is captured:
        rows = np.array([POINT, 2 * POINT])
    one = TRANSFORMS[transform](function)
    close(vmap(one)(rows), np.stack([one(row) for row in rows]), rtol=1e-9)


def test_members_that_have_ended_stay_finite() -> None:
    """The body divides by zero after the last step: no member may be run beyond its end."""

    def countdown(x: Any) -> Any:
        return while_loop(lambda s: s[0] > 0, lambda s: (s[0] - 1, s[1] / s[0]), (x, x))[1]

    starts = np.array([1.0, 4.0, 2.0, 0.0])
    found = vmap(ag.func.value_and_grad(countdown))(starts)
    close(
        found,
        tuple(
            map(
                np.array,
                zip(*[ag.func.value_and_grad(countdown)(np.array(s)) for s in starts], strict=True),
            )
        ),
    )


def _by_operands(x: Any, w: Any) -> Any:
    return ag.sum(cond(x[0] > 0, lambda x, w: w * ag.sqrt(x), lambda x, w: x * w[0], x, w))


def _by_captured(x: Any, w: Any) -> Any:
    return ag.sum(cond(x[0] > 0, lambda: w * ag.log(x), lambda: x * w[0]))


def _with_a_transform_inside(x: Any, w: Any) -> Any:
    def slope() -> Any:
        return ag.sum(ag.func.grad(lambda y: ag.sum(w * ag.log(y)))(x))

    def other() -> Any:
        return cond(x[1] < 1, lambda: ag.sum(x * w[0]), lambda: ag.log(x[1]) * w[1])

    return cond(x[0] > 0, slope, other)


def _checkpointed(x: Any, w: Any) -> Any:
    return ag.sum(ag.func.checkpoint(_by_captured)(x, w))


CHOICES = [_by_operands, _by_captured, _with_a_transform_inside, _checkpointed]
OF_CHOICES: dict[str, Function] = {
    "members": lambda f: lambda rows: vmap(f)(rows),
    "grad of the batch": lambda f: ag.func.grad(lambda rows: ag.sum(vmap(f)(rows))),
    "grad of members": lambda f: lambda rows: vmap(ag.func.grad(f))(rows),
    "hessian of members": lambda f: lambda rows: vmap(ag.func.hessian(f))(rows),
    "jacfwd of members": lambda f: lambda rows: vmap(ag.func.jacfwd(ag.func.jacfwd(f)))(rows),
    "grad of jvp": lambda f: ag.func.grad(
        lambda rows: ag.sum(ag.func.jvp(vmap(f), (rows,), (rows,))[1])
    ),
}
ROWS = {
    "both": [[-1.0, -2], [0, 0], [4, 2], [-1, 3]],
    "all": [[4.0, 2], [2, 2]],
    "none": [[-1.0, -2], [0, 0]],
    "empty": np.zeros((0, 2)),
}


@crossed(function=CHOICES, transform=OF_CHOICES, rows=ROWS, compiled=[False, True])
def test_a_branch_runs_for_its_members_only(
    function: Function, transform: str, rows: str, compiled: bool
) -> None:
    """For the others, the branch may have no slope: nothing of it reaches them, nor weights."""
    w = np.array([2.0, 3.0])
    batch = np.array(ROWS[rows])
    make = OF_CHOICES[transform]

    def of_rows(rows: Any) -> Any:
        return make(lambda x: function(x, w))(rows)

    found = (ag.compile(of_rows) if compiled else of_rows)(batch)
    each = [of_rows(row[None])[0] for row in batch]
    close(found, np.stack(each) if each else np.zeros(found.shape))


@pytest.mark.parametrize("compiled", [False, True])
def test_weights_have_no_slope_by_members_of_the_other_branch(compiled: bool) -> None:
    def of_weights(w: Any) -> Any:
        return ag.sum(vmap(lambda x: _by_operands(x, w))(np.array(ROWS["both"])))

    slope = ag.func.grad(of_weights)
    found = (ag.compile(slope) if compiled else slope)(np.array([2.0, 3.0]))
    close(found, np.array([2.0 - 1 - 2 - 1 + 3, np.sqrt(2.0)]))


def test_a_batch_of_elements() -> None:
    def last(xs: Any) -> Any:
        return scan(lambda s, x: (s * 0.5 + x, s), np.zeros(2), xs, reverse=True)

    batch = rng.normal(size=(4, 6, 2))
    close(vmap(last)(batch), optree.tree_map(lambda *a: np.stack(a), *[last(b) for b in batch]))


# --- structures, lengths, libraries ---


def test_no_steps_and_no_results() -> None:
    state, ys = scan(lambda s, x: (s + x["a"], (x["a"] * 2, 1)), np.ones(2), {"a": np.ones((0, 2))})
    close((state, ys), (np.ones(2), (np.ones((0, 2)), np.ones(0, int))))
    state, nothing = scan(lambda s, _: (s * 2, None), 1.0, length=3)
    assert (state, nothing) == (8.0, None)
    assert fori_loop(5, 2, lambda i, s: s + i, 7) == 7
    gradient = ag.func.grad(lambda x: scan(lambda s, _: (s * x, None), x, length=0)[0])
    assert gradient(np.array(3.0)) == 1


def test_numbers_take_the_dtype_of_the_state() -> None:
    xs = np.ones(3, np.float32)
    state, ys = scan(lambda s, x: (s + x, s * x), 0.0, xs)
    assert (state.dtype, ys.dtype) == (np.float32, np.float32)


def test_bounds_may_be_arrays() -> None:
    close(fori_loop(np.array(1), np.array(4), lambda i, s: s * i, np.array(1.0)), np.array(6.0))
    close(
        vmap(lambda n: fori_loop(0, n, lambda i, s: s + i, np.array(0)))(np.array([0, 3, 5])),
        np.array([0, 3, 10]),
    )


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_other_libraries(library: str) -> None:
    xp = pytest.importorskip(library)
    xs = xp.asarray([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        state, _ = scan(lambda s, x: (s * 0.5 + x, s), x[0] * 0, x)
        state = while_loop(lambda s: s < 50, lambda s: s * s, state)
        return ag.sum(associative_scan(ag.multiply, x)) + cond(state > 0, lambda: state, lambda: 0)

    found = ag.func.grad(f)(xs)
    assert type(found) is type(xs)
    wanted = ag.func.grad(f)(np.asarray(xs, dtype=np.float64))
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-4)


# --- associative_scan ---


@crossed(reverse=[False, True], n=[0, 1, 2, 3, 4, 7, 8, 13])
def test_partial_results(n: int, reverse: bool) -> None:
    """Products of matrices are associative, but do not commute."""
    matrices = rng.normal(size=(2, n, 3, 3))
    calls = []

    def product(a: Any, b: Any) -> Any:
        calls.append(None)
        return b @ a if reverse else a @ b

    found = associative_scan(product, matrices, reverse=reverse, axis=1)
    wanted = matrices.copy()
    for i in range(n - 2, -1, -1) if reverse else range(1, n):
        before = wanted[:, i + 1] if reverse else wanted[:, i - 1]
        now = matrices[:, i]
        wanted[:, i] = now @ before if reverse else before @ now
    close(found, wanted, rtol=1e-9)
    assert len(calls) <= 2 * max(n, 1).bit_length()


def test_a_linear_recurrence_of_pairs() -> None:
    a, b = rng.normal(size=(2, 9))

    def combined(first: Any, second: Any) -> Any:
        return first[0] * second[0], first[1] * second[0] + second[1]

    def by_scan(a: Any, b: Any) -> Any:
        return ag.sum(scan(lambda s, x: (x[0] * s + x[1],) * 2, 0.0, (a, b))[1] ** 2)

    def by_pairs(a: Any, b: Any) -> Any:
        return ag.sum(associative_scan(combined, (a, b))[1] ** 2)

    close(ag.func.grad(by_pairs, (0, 1))(a, b), ag.func.grad(by_scan, (0, 1))(a, b), rtol=1e-9)


# --- the memory budget ---


@crossed(memory=[0, 100, 5_000, 10**7], steps=[2, 7, 100, 1000])
def test_segments_are_smaller_than_the_loop(steps: int, memory: int) -> None:
    length = budget.segment(steps, 80, 1000, memory)
    assert 1 <= length <= steps
    assert (length == steps) == (1000 * steps <= memory)


def test_less_memory_is_kept() -> None:
    size = 5_000

    def kept(arrays: int | None) -> float:
        """How many arrays are in memory after a scan that may keep so many."""
        x = ag.tensor(np.ones(size), requires_grad=True)
        memory = None if arrays is None else arrays * 8 * size
        tracemalloc.start()
        try:
            state, _ = scan(lambda s, _: (ag.sin(s) * ag.exp(-s), 0), x, length=64, memory=memory)
            assert state.requires_grad
            return tracemalloc.get_traced_memory()[0] / (8 * size)
        finally:
            tracemalloc.stop()

    kept(50)  # else the modules and programs of the first call are counted
    assert kept(50) < kept(None) / 6
    assert kept(10**6) > kept(None) / 1.1


# --- bad input ---


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scan(1, 0.0, length=2), r"scan\(\) takes a function"),
        (lambda: scan(lambda s, x: (s, x), 0.0), "needs xs to go over, or length="),
        (lambda: scan(lambda s, x: (s, x), 0.0, np.array(1.0)), "xs is a 0-d array"),
        (lambda: scan(lambda s, x: (s, x), 0.0, {"a": 3}), r"xs\['a'\] is of type int"),
        (lambda: scan(lambda s, x: (s, x), 0.0, length=2.0), "length must be an integer"),
        (lambda: scan(lambda s, x: (s, x), 0.0, np.ones(2), memory="1 GB"), "number of bytes"),
        (lambda: scan(lambda s, x: s, 0.0, np.ones(2)), "f must return a pair"),
        (lambda: scan(lambda s, x: (s, "no"), 0.0, np.ones(2)), "leaf 0 .* is of type str"),
        (lambda: scan(lambda s, x: (s, x), "no", np.ones(2)), "init is of type str"),
        (
            lambda: scan(lambda s, x: ({"a": s["a"][:1]}, x), {"a": np.ones(2)}, np.ones(2)),
            r"init\['a'\] has shape \(2,\) and dtype float64, but f returned shape \(1,\)",
        ),
        (
            lambda: scan(lambda s, x: (s, x), (0, np.ones(2, "f")), (np.ones(2), np.ones(3)), 2),
            None,
        ),
        (
            lambda: scan(lambda s, x: ((s[0], s[1] * x), x), (0, np.ones(2, "f")), np.ones(2)),
            r"init\[1\] has shape \(2,\) and dtype float32, but f returned .* float64",
        ),
        (lambda: scan(lambda s, x: ([s], x), 0.0, np.ones(2)), "f returned the structure"),
        (lambda: while_loop(lambda s: s < 1, lambda s: (s, s), 0.0), "body_fun returned the struc"),
        (lambda: while_loop(lambda s: s < 1, lambda s: s, np.zeros(2)), "must be one value"),
        (lambda: while_loop(lambda s: None, lambda s: s, 0.0), "not NoneType"),
        (lambda: fori_loop(0, 1.5, lambda i, s: s, 0.0), "upper must be an integer"),
        (lambda: cond(np.ones(2) > 0, lambda: 1, lambda: 2), "where\\(\\) for a choice by elem"),
        (lambda: cond("yes", lambda: 1, lambda: 2), "pred must be a bool or a 0-d array"),
        (lambda: associative_scan(ag.add, np.ones(3), axis=1), "axis is 1"),
        (lambda: associative_scan(ag.add, (np.ones(3), np.ones(4))), "different lengths"),
        (lambda: associative_scan(lambda a, b: a[:0], np.ones(3)), "xs has shape"),
    ],
)
def test_errors_name_what_is_wrong(call: Function, message: str | None) -> None:
    with pytest.raises((TypeError, ValueError), match=message or "lengths of the loop differ"):
        call()


def test_results_of_steps_must_agree() -> None:
    states = iter(range(3))
    with pytest.raises(TypeError, match="it must be the same in all steps"):
        scan(lambda s, x: (s, x if next(states) < 1 else (x, x)), 0.0, np.ones(3))


def test_branches_of_a_batch_must_agree() -> None:
    with pytest.raises(TypeError, match=r"the result of true_fun\['a'\] has shape \(\)"):
        vmap(lambda x: cond(x > 0, lambda: {"a": x}, lambda: {"a": ag.stack((x, x))}))(np.ones(2))


def test_many_steps_need_no_array_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MOST_NUMBERS", 3)

    def f(x: Any) -> Any:
        return ag.func.fori_loop(2, 8, lambda i, c: c * x + i, x)

    def by_numbers(x: Any) -> Any:
        found = x
        for i in range(2, 8):
            found = found * x + i
        return found

    x = np.array(0.7)
    for run in (f, ag.compile(f)):
        np.testing.assert_allclose(run(x), by_numbers(x))
        np.testing.assert_allclose(ag.func.grad(run)(x), ag.func.grad(by_numbers)(x))
