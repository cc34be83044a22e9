"""A sweep over large arrays computes in memory that it has, rather than in ever new arrays.

It adds to cotangents in place once nobody else has them, runs elementwise stretches in blocks, and
writes their result over a cotangent that is of no more use. Nothing but the memory taken shows it
when one of these stops, so that is measured: the peak during a sweep, in arrays of the size of the
input, of which one is the gradient itself.

That the bounds can be passed was tried by hand when they were set, with the engine changed so that
no cotangent is ever spare (``engine._ALONE = -1``), that none is ever owned (a set for `owned` that
stays empty), that no array is large (``engine.LARGE``), or that reading has no `direct` rule. Each
failed the tests of its section below.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.core.cpython import COUNTS_REFERENCES

pytestmark = pytest.mark.skipif(
    not COUNTS_REFERENCES, reason="without counts of references, no memory is known to be free"
)

SIDE = 1024
SIZE = SIDE * SIDE  # more than what counts as large
MATRIX = np.eye(SIDE)
SLACK = 0.3  # blocks, and what is small


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Have the blocks of one thread only, and the modules that the first sweep imports."""
    before = ag.get_num_threads()
    ag.set_num_threads(1)
    peak_of_sweep(ag.sin)
    yield
    ag.set_num_threads(before)


def leaf() -> Any:
    values = np.linspace(0.1, 0.9, SIZE).reshape(SIDE, SIDE)
    return ag.tensor(values, requires_grad=True)


def peak(function: Callable[[], Any]) -> float:
    """The most memory taken by a function, in arrays of the size of the input."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        function()
        return (tracemalloc.get_traced_memory()[1] - before) / (SIZE * 8)
    finally:
        tracemalloc.stop()


def peak_of_sweep(function: Callable[[Any], Any]) -> float:
    x = leaf()
    out = function(x)
    seed = np.ones(out.shape)
    return peak(lambda: ag.grad(out, x, seed))


def repeated(function: Callable[[Any], Any], times: int) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for _ in range(times):
            x = function(x)
        return x

    return run


def summed(function: Callable[[Any], Any], times: int) -> Callable[[Any], Any]:
    """The sum of what a function gives for the same array, again and again."""

    def run(x: Any) -> Any:
        total = function(x)
        for _ in range(times - 1):
            total = total + function(x)
        return total

    return run


def test_memory_is_seen() -> None:
    assert peak(lambda: np.zeros(SIZE)) == pytest.approx(1, abs=0.01)
    kept = []
    for _ in range(3):
        assert peak(lambda: kept.append(np.sqrt(np.ones(SIZE)))) == pytest.approx(2, abs=0.01)


# --- cotangents in between are never as large as the arrays: fails if nothing is large -----------


@pytest.mark.parametrize("times", [1, 16])
def test_chains(times: int) -> None:
    assert peak_of_sweep(repeated(ag.sin, times)) < 1 + SLACK
    assert peak_of_sweep(repeated(lambda x: x * ag.cos(x) + x / 2, times)) < 1 + SLACK
    assert peak_of_sweep(lambda x: ag.sum(repeated(ag.tanh, times)(x))) < 1 + SLACK


# --- written over: fails if no cotangent is spare ------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x: ag.tanh(x) @ MATRIX, id="matrix product"),
        pytest.param(lambda x: ag.tanh(ag.exp(x) + x) @ MATRIX, id="several ops"),
        pytest.param(lambda x: ag.sin(x)[:, ::-1], id="slice"),
    ],
)
def test_a_cotangent_of_no_more_use_is_written_over(function: Any) -> None:
    """That of the product, or of the slice, is the gradient's memory as well."""
    assert peak_of_sweep(function) < 1 + SLACK


# --- added to in place: fails if no cotangent is owned -------------------------------------------


@pytest.mark.parametrize("times", [2, 8])
@pytest.mark.parametrize(
    ("function", "most"),
    [
        # The sum so far, one more cotangent, and an array in between in computing it.
        pytest.param(lambda x: ag.cumulative_sum(x, axis=0), 3, id="running sum"),
        pytest.param(lambda x: x @ MATRIX, 3, id="matrix product"),
        pytest.param(lambda x: x[::-1], 1, id="slice"),
        pytest.param(lambda x: ag.flip(x, axis=0), 1, id="flip"),
        pytest.param(ag.sin, 1, id="elementwise"),
    ],
)
def test_many_uses_of_a_leaf(function: Any, most: int, times: int) -> None:
    assert peak_of_sweep(summed(function, times)) < most + SLACK


@pytest.mark.parametrize("count", [2, 16, 64])
def test_reading_in_pieces(count: int) -> None:
    def function(x: Any) -> Any:
        pieces = ag.reshape(x, (count, -1))
        total = pieces[0]
        for i in range(1, count):
            total = total + pieces[i]
        return total

    assert peak_of_sweep(function) < 1 + SLACK


@pytest.mark.parametrize("count", [2, 16, 64])
def test_writing_in_pieces(count: int) -> None:
    def function(x: Any) -> Any:
        out = x * 2.0
        for i in range(count):
            out[i] = x[i] * 3.0
        return out

    assert peak_of_sweep(function) < 2 + SLACK


# --- handed out as it is -------------------------------------------------------------------------


def test_the_gradient_of_backward_is_not_copied() -> None:
    total = ag.sum(ag.sin(leaf()))
    assert peak(total.backward) < 1 + SLACK


def test_gradients_are_added_in_place() -> None:
    x = leaf()
    ag.sum(ag.sin(x)).backward()
    total = ag.sum(ag.sin(x))
    assert peak(total.backward) < 1 + SLACK
