"""The native entry point of small programs: the same results, or left to the general way."""

from __future__ import annotations

import sys
import threading
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.compiler.llvm import objects

pytestmark = pytest.mark.skipif(objects.LAYOUT is None, reason="not on this Python")


def f(x: Any, y: Any) -> Any:
    return ag.exp(x) * y, (ag.sin(x).sum(), x > y)


x = np.random.default_rng(0).normal(size=(3, 5))
y = np.random.default_rng(1).normal(size=5)


def agree(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        assert type(found) is tuple
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            agree(a, b)
        return
    assert type(found) is np.ndarray
    assert found.dtype == wanted.dtype
    assert found.shape == np.shape(wanted)
    assert found.flags.carray
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def entry(compiled: Any, *arrays: Any) -> Any:
    """What a call with these NumPy arrays runs, from the second one on."""
    for _ in range(2):
        compiled(*arrays)
    return compiled._ways[0].call


def is_native(compiled: Any, *arrays: Any) -> bool:
    """Whether calls with NumPy arrays go to a native entry point."""
    return isinstance(entry(compiled, *arrays), BuiltinFunctionType)


def test_results() -> None:
    compiled = ag.compile(f)
    for _ in range(3):
        agree(compiled(x, y), f(x, y))
    assert is_native(compiled, x, y)
    agree(compiled._ways[0].call(x, y), f(x, y))


@pytest.mark.parametrize(
    "arguments",
    [
        (x[:2], y),
        (x, y[:1]),
        (x.astype(np.float32), y),
        (x.astype(">f8"), y),
        (x, y.reshape(1, 5)),
        (x[::-1], y),
        (np.asfortranarray(x), y),
        (x, ag.tensor(y)),
        (x.tolist(), y),
        (x,),
        (x, y, y),
        (),
    ],
)
def test_other_arguments_are_left_to_the_general_way(arguments: Any) -> None:
    compiled = ag.compile(f)
    assert entry(compiled, x, y)(*arguments) is NotImplemented


def test_unaligned_arrays() -> None:
    compiled = ag.compile(f)
    wanted = compiled(x, y)
    memory = np.zeros(x.nbytes + 1, np.uint8)
    shifted = memory[1:].view(np.float64).reshape(x.shape)
    shifted[...] = x
    assert entry(compiled, x, y)(shifted, y) is NotImplemented
    agree(compiled(shifted, y), wanted)


def test_references_are_counted() -> None:
    compiled = ag.compile(f)
    found = compiled(x, y)
    before = sys.getrefcount(x), sys.getrefcount(y)
    for _ in range(100):
        found = compiled(x, y)
        compiled._ways[0].call(x)
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before
    product, (total, _) = found
    del found
    assert sys.getrefcount(product) == sys.getrefcount(total) == 2


def test_arrays_from_outside() -> None:
    c = np.ones((5, 3))
    turned = c.T

    def g(x: Any) -> Any:
        return x * turned, x.sum()

    compiled = ag.compile(g)
    call = entry(compiled, x)
    c[2, 1] = 7
    agree(call(x), g(x))


whole = np.random.default_rng(2).normal(size=(6, 10, 3))


@pytest.mark.parametrize(
    ("part", "has_entry"),
    [
        (whole[:3, :5, 1], True),
        (whole[::2, 1::2, 0], True),
        (whole[2::-1, 4::-1, 2], True),
        (whole[1, 5:, :].T, True),
        (np.broadcast_to(whole[0, 0, :, None], (3, 5)), True),
        (whole.reshape(-1)[3:18].reshape(3, 5), True),
        (np.lib.stride_tricks.sliding_window_view(whole.reshape(-1)[:7], 5), False),
        (whole.transpose(2, 0, 1)[:, 0, 9:4:-1], True),
    ],
)
def test_parts_of_arrays_from_outside(part: Any, has_entry: bool) -> None:
    compiled = ag.compile(lambda x: x * part)
    agree(compiled(x), x * part)
    call = entry(compiled, x)
    assert (call(x) is not NotImplemented) == has_entry
    agree(compiled(x), x * part)


def test_an_array_from_outside_that_was_resized() -> None:
    c = np.ones((3, 5))
    compiled = ag.compile(lambda x: x * c)
    call = entry(compiled, x)
    agree(call(x), x)
    c.resize((1, 5), refcheck=False)
    assert call(x) is NotImplemented


def test_checked_programs_have_none() -> None:
    checked = ag.compile(f, check=True)
    assert not is_native(checked, x, y)


def perceptron(w: Any, v: Any, x: Any) -> Any:
    return ((ag.tanh(x @ w) @ v) ** 2).sum()


def test_long_programs_in_threads() -> None:
    """While one thread is in the program, another takes the general way, with equal results."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=s) / 20 for s in ((300, 200), (200, 300), (400, 300))]
    gradient = ag.func.grad(perceptron, argnums=(0, 1, 2))
    compiled = ag.compile(gradient)
    wanted = compiled(*arrays)
    for a, b in zip(wanted, gradient(*arrays), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(10):
            found = compiled(*arrays)
            if not all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True)):
                wrong.append(found)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
    call = compiled._ways[0].call
    before = ag.get_num_threads()
    try:
        for number in (1, 2, 3):
            ag.set_num_threads(number)
            for a, b in zip(call(*arrays), wanted, strict=True):
                np.testing.assert_array_equal(a, b)
    finally:
        ag.set_num_threads(before)


def test_many_kernels_and_intermediate_values() -> None:
    def g(x: Any) -> Any:
        for _ in range(5):
            x = ag.exp(ag.sin(x) - ag.max(ag.sin(x), axis=1, keepdims=True)) + ag.cos(x)[::-1]
        return x, x.sum(axis=1)

    compiled = ag.compile(g)
    assert is_native(compiled, x)
    agree(compiled(x), g(x))


def test_the_second_call_makes_it() -> None:
    """To make it takes longer than most calls, and many functions are called once."""
    compiled = ag.compile(f)
    agree(compiled(x, y), f(x, y))
    assert not compiled._ways
    agree(compiled(x, y), f(x, y))
    assert len(compiled._ways) == 1
