"""The native entry point of small programs: the same results, or left to the general way."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.compiler import objects

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


def test_results() -> None:
    compiled = ag.compile(f)
    for _ in range(3):
        agree(compiled(x, y), f(x, y))
    assert compiled._entry is not None
    agree(compiled._entry[0](x, y), f(x, y))


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
    compiled(x, y)
    assert compiled._entry[0](*arguments) is NotImplemented


def test_unaligned_arrays() -> None:
    compiled = ag.compile(f)
    wanted = compiled(x, y)
    memory = np.zeros(x.nbytes + 1, np.uint8)
    shifted = memory[1:].view(np.float64).reshape(x.shape)
    shifted[...] = x
    assert compiled._entry[0](shifted, y) is NotImplemented
    agree(compiled(shifted, y), wanted)


def test_references_are_counted() -> None:
    compiled = ag.compile(f)
    found = compiled(x, y)
    before = sys.getrefcount(x), sys.getrefcount(y)
    for _ in range(100):
        found = compiled(x, y)
        compiled._entry[0](x)
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before
    product, (total, _) = found
    del found
    assert sys.getrefcount(product) == sys.getrefcount(total) == 2


def test_programs_with_variables_from_outside_have_none() -> None:
    c = np.ones(5)
    compiled = ag.compile(lambda x: x * c)
    compiled(x)
    assert compiled._entry is None
    checked = ag.compile(f, check=True)
    checked(x, y)
    assert checked._entry is None


def test_many_kernels_and_intermediate_values() -> None:
    def g(x: Any) -> Any:
        for _ in range(5):
            x = ag.exp(ag.sin(x) - ag.max(ag.sin(x), axis=1, keepdims=True)) + ag.cos(x)[::-1]
        return x, x.sum(axis=1)

    compiled = ag.compile(g)
    compiled(x)
    assert compiled._entry is not None
    agree(compiled(x), g(x))
