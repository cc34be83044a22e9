"""Convolutions by native code: as matrix products compute them, for all shapes and layouts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag
from arraygrad.nn.convolutions import _convolved
from arraygrad.ops.filters import _filtered

# The shapes of the signal and of the filters, the zeros at the ends, dilations, and groups.
SHAPES: dict[str, Any] = {
    "an image": ((2, 16, 32, 32), (32, 16, 3, 3), (1, 1), (1, 1), 1),
    "odd": ((3, 5, 17, 13), (7, 5, 3, 3), (1, 1), (1, 1), 1),
    "dilated": ((1, 3, 9, 30), (5, 3, 5, 2), (2, 1), (1, 3), 1),
    "groups": ((2, 6, 12, 11), (9, 2, 3, 3), (1, 1), (1, 1), 3),
    "by channel": ((3, 16, 13, 12), (16, 1, 3, 3), (1, 1), (1, 2), 16),
    "by channel, without zeros": ((3, 16, 13, 12), (16, 1, 2, 4), (0, 0), (1, 1), 16),
    "by channel, many places": ((2, 3, 20, 21), (3, 1, 9, 8), (4, 0), (1, 1), 3),
    "short lines": ((2, 6, 12, 4), (20, 3, 3, 3), (1, 1), (1, 1), 2),
    "one line": ((2, 8, 40), (16, 8, 5), (2,), (1,), 1),
    "a long line": ((1, 2, 3, 600), (9, 2, 3, 3), (0, 0), (1, 1), 1),
    "one window": ((2, 3, 4, 5), (8, 3, 4, 5), (0, 0), (1, 1), 1),
    "a volume": ((2, 2, 8, 9, 10), (3, 2, 3, 2, 3), (1, 1, 1), (1, 1, 1), 1),
    "many channels": ((2, 130, 7, 7), (70, 130, 3, 3), (1, 1), (1, 1), 1),
    "one channel": ((4, 1, 28, 28), (8, 1, 5, 5), (0, 0), (1, 1), 1),
    "more zeros than the filter has places": ((2, 3, 9, 9), (4, 3, 2, 2), (3, 2), (1, 1), 1),
    "no samples": ((0, 3, 9, 9), (4, 3, 2, 2), (1, 1), (1, 1), 1),
    "large": ((4, 32, 96, 96), (24, 32, 3, 3), (1, 1), (1, 1), 1),
}


def both(name: str, dtype: Any) -> tuple[list[Any], dict[str, Any]]:
    """The arrays and settings of a row."""
    signal, filters, zeros, spread, groups = SHAPES[name]
    draw = np.random.default_rng(0)
    arrays = [draw.normal(size=shape).astype(dtype) for shape in (signal, filters, filters[:1])]
    ends = tuple((n, n) for n in zeros)
    return arrays, {"ends": ends, "steps": (1,) * len(zeros), "spread": spread, "groups": groups}


def with_gradients(function: Any, arrays: list[Any], settings: dict[str, Any]) -> list[Any]:
    """The result, and the gradients by all arrays for some cotangent."""
    tensors = [ag.tensor(a, requires_grad=True) for a in arrays]
    out = function(*tensors, **settings)
    g = np.random.default_rng(1).normal(size=out.shape).astype(out.dtype)
    return [x.detach().numpy() for x in (out, *ag.grad(out, tensors, g))]


@crossed(name=SHAPES, dtype=[np.float32, np.float64])
def test_as_matrix_products(name: str, dtype: Any) -> None:
    arrays, settings = both(name, dtype)
    wanted = with_gradients(_convolved.__wrapped__, arrays, settings)  # type: ignore[attr-defined]
    for _ in range(2):  # the second time without Python
        found = with_gradients(_convolved, arrays, settings)
        for x, y in zip(found, wanted, strict=True):
            most = np.abs(y).max(initial=1)
            np.testing.assert_allclose(x / most, y / most, rtol=0, atol=50 * np.finfo(dtype).eps)


def test_other_layouts() -> None:
    arrays, settings = both("odd", np.float32)
    wanted = _convolved(*arrays, **settings)
    turned = [np.asarray(a.T, order="C").T for a in arrays]
    stepped = [np.repeat(a, 2, axis=-1)[..., ::2] for a in arrays]
    for given in (turned, stepped):
        np.testing.assert_array_equal(_convolved(*given, **settings), wanted)


def test_threads_get_the_same_bits() -> None:
    arrays, settings = both("an image", np.float32)
    wanted = with_gradients(_convolved, arrays, settings)
    with ThreadPoolExecutor(4) as threads:
        jobs = [threads.submit(with_gradients, _convolved, arrays, settings) for _ in range(12)]
        for job in jobs:
            for x, y in zip(job.result(), wanted, strict=True):
                np.testing.assert_array_equal(x, y)


# --- the op --------------------------------------------------------------------------------------

WAYS: dict[str, dict[str, Any]] = {
    "dense": {"ends": ((0, 0), (0, 0)), "stride": (1, 1), "dilation": (1, 1)},
    "apart": {"ends": ((1, 0), (2, 1)), "stride": (2, 3), "dilation": (2, 1)},
    "far outside": {"ends": ((4, 5), (3, 0)), "stride": (1, 2), "dilation": (1, 1)},
}
X, W = (
    np.random.default_rng(i).normal(size=s)
    for i, s in enumerate([(2, 2, 3, 6, 7), (2, 4, 3, 2, 3)])
)


@pytest.mark.parametrize("way", WAYS)
def test_derivatives(way: str) -> None:
    def f(x: Any, w: Any) -> Any:
        return _filtered(x, w, **WAYS[way])

    tensors = [ag.tensor(a, requires_grad=True) for a in (X, W)]
    assert ag.testing.gradcheck(f, tensors, check_forward=True)
    assert ag.testing.gradgradcheck(f, tensors, fast_mode=True)


@crossed(way=WAYS, axes=[(0, None), (None, 0), (0, 0)])
def test_batches_and_programs(way: str, axes: tuple[Any, Any]) -> None:
    def f(x: Any, w: Any) -> Any:
        return _filtered(x, w, **WAYS[way])

    x, w = (
        (np.stack([a, 2 - a, a * a]) if axis == 0 else a)
        for a, axis in zip((X, W), axes, strict=True)
    )
    one = [f(x if axes[0] is None else x[i], w if axes[1] is None else w[i]) for i in range(3)]
    for run in (ag.func.vmap(f, in_axes=axes), ag.compile(ag.func.vmap(f, in_axes=axes))):
        np.testing.assert_allclose(run(x, w), np.stack(one), rtol=1e-12, atol=1e-12)


def test_programs_read_views() -> None:
    def f(x: Any, w: Any) -> Any:
        way = WAYS["dense"]
        turned = _filtered(ag.permute_dims(x, (0, 1, 2, 4, 3)), w, **way)
        return turned + _filtered(ag.flip(x, axis=(3, 4))[..., :6, :], w[..., ::-1], **way)

    x, w = X[..., :6], np.concatenate([W, W], axis=-1)[..., :2]
    np.testing.assert_allclose(ag.compile(f)(x, w), f(x, w), rtol=1e-12, atol=1e-12)
