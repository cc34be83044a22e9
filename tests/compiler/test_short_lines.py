"""Innermost axes of few elements: their loops are written out, and alternating numbers sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from loops_table import close
from rows import crossed

import arraygrad as ag
from arraygrad.compiler.fuse.fusion import Kernel, Plan
from arraygrad.compiler.fuse.kernels import body_of
from arraygrad.compiler.lower.lowering import Lowering
from arraygrad.compiler.trace.traced import Trace

SHAPES = [(50, 3), (17, 2), (16, 4), (33, 5), (7, 3), (40, 3, 3), (9, 30, 3), (5000, 3), (20, 2, 2)]


def normalized(x: Any) -> Any:
    return x / ag.sqrt(ag.sum(x * x, axis=-1, keepdims=True) + 1)


def softmax(x: Any) -> Any:
    e = ag.exp(x - ag.max(x, axis=-1, keepdims=True))
    return e / ag.sum(e, axis=-1, keepdims=True)


def pairs(x: Any) -> Any:
    """Sums over both axes of all pairs, of each coordinate."""
    d = x[..., :, None, :] - x[..., None, :, :]
    r = ag.sum(d * d, axis=-1, keepdims=True) + 1
    return ag.sum(d / r, axis=-2) * ag.max(1 / r * d, axis=-3) + ag.mean(1 / r)


def turned(x: Any) -> Any:
    """The axes in another order, and parts of them."""
    y = ag.moveaxis(x, 0, -1) * 2
    return ag.mean(y[..., 1:], axis=0) * ag.mean(x[..., 0]) + ag.prod(x[..., ::-1], axis=-1).mean()


def padded(x: Any) -> Any:
    last = ag.concat((x[..., 1:], x[..., :1] * 3), axis=-1)
    return last * ag.sum(last, axis=-1, keepdims=True) - ag.any(x > 2, axis=-1, keepdims=True)


@crossed(f=[normalized, softmax, pairs, turned, padded], shape=SHAPES)
def test_as_eager(f: Any, shape: tuple[int, ...]) -> None:
    if f is pairs and len(shape) == 2 and shape[0] > 100:
        shape = (100, shape[1])
    x = np.random.default_rng(0).normal(size=shape)
    close(ag.compile(f)(x), f(x), rtol=1e-10)
    g = ag.func.grad(lambda x: ag.sum(ag.sin(f(x))))
    close(ag.compile(g)(x), g(x), rtol=1e-9)


@crossed(n=[2, 3, 4], dtype=[np.float32, np.int32, np.int64, np.bool_])
def test_all_dtypes(dtype: Any, n: int) -> None:
    x = np.random.default_rng(1).integers(-3, 4, (41, n)).astype(dtype)

    def f(x: Any) -> Any:
        return ag.where(ag.max(x, axis=-1, keepdims=True) > 1, x, ag.where(x > 0, x, x[:, ::-1]))

    found = ag.compile(f)(x)
    np.testing.assert_array_equal(found, f(x))
    assert found.dtype == f(x).dtype


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_alternate(dtype: Any) -> None:
    draw = np.random.default_rng(2)
    for n in (3, 16, 37, 9000):
        x = (draw.normal(size=n) + 1j * draw.normal(size=n)).astype(dtype)
        f = lambda x: x * x + ag.conj(x)  # noqa: E731
        close(ag.compile(f)(x), f(x), rtol=1e-5 if dtype == np.complex64 else 1e-13)


def test_infinite_and_missing_values_stay_in_their_rows() -> None:
    x = np.ones((40, 3))
    x[5, 1], x[17, 2], x[39, 0] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ag.compile(softmax)(x), softmax(x))


def _body(f: Any, x: Any) -> Any:
    trace = Trace((x,))
    node = f(*trace.inputs).node
    lowering = Lowering([t.node for t in trace.inputs], trace)
    outputs = lowering.lower([node])
    plan = Plan([lowering.values[trace.inputs[0].node]], outputs, lowering.values.__getitem__)
    (kernel,) = plan.steps
    assert isinstance(kernel, Kernel)
    return body_of(kernel, plan.stored)


def test_the_loop_around_a_short_one_is_the_innermost() -> None:
    assert _body(normalized, np.ones((50, 3))).dims == [50]
    assert _body(normalized, np.ones((7, 50, 3))).dims == [350]
    assert _body(normalized, np.ones((6000, 2))).limit == 6000
    assert _body(normalized, np.ones((50, 30))).dims == [50, 30]
    assert _body(normalized, np.ones((5, 3))).dims == [5, 3]
    assert _body(lambda x: x * 2, np.ones((50, 3))).dims == [150]


def test_alternating_numbers_are_read_and_written_at_once() -> None:
    text = ag.compile(normalized).llvm(np.ones((64, 3)))
    assert "scatter" not in text
    assert "shufflevector" in text
