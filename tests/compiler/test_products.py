"""Matrix products in native code: all shapes, layouts and dtypes, against NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiler.test_random import guards, untouched  # noqa: F401
from rows import numbered, over

import arraygrad as ag
from arraygrad.compiler.emit import products, tiles
from arraygrad.compiler.run.executable import ByBlas, ByNumpy, Native

TESTS = Path(__file__).parents[1]
LENGTHS = (0, 1, 2, 3, 7, 16, 17, 33, 100)
LAYOUTS = ("plain", "transposed", "reversed", "every other")


def laid_out(rng: Any, shape: tuple[int, ...], dtype: Any, layout: str) -> tuple[Any, Any]:
    """A contiguous array, and a function that gives its view of some shape."""
    *batch, m, n = shape
    if layout == "transposed":
        return rng.normal(size=(*batch, n, m)).astype(dtype), ag.matrix_transpose
    if layout == "reversed":
        return rng.normal(size=shape).astype(dtype), lambda x: x[..., ::-1, ::-1]
    if layout == "every other":
        return rng.normal(size=(*batch, 2 * m, 2 * n)).astype(dtype), lambda x: x[..., ::2, 1::2]
    return rng.normal(size=shape).astype(dtype), lambda x: x


def close(found: Any, wanted: Any, scale: Any) -> None:
    """Equal up to rounding: relative to the sum of absolute products."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    allowed = 40 * np.finfo(wanted.dtype).eps
    assert (np.abs(found - wanted) <= allowed * scale).all()


def check(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, k, n = (int(rng.choice(LENGTHS)) for _ in range(3))
    dtype = rng.choice([np.float32, np.float64])
    batches = [(), (), (), (1,), (3,), (2, 3), (2, 1), (1, 3)]
    left, right = (batches[int(i)] for i in rng.integers(0, len(batches), 2))
    try:
        np.broadcast_shapes(left, right)
    except ValueError:
        right = left
    a, view_a = laid_out(rng, (*left, m, k), dtype, str(rng.choice(LAYOUTS)))
    b, view_b = laid_out(rng, (*right, k, n), dtype, str(rng.choice(LAYOUTS)))

    def product(a: Any, b: Any) -> Any:
        return view_a(a) @ view_b(b)

    compiled = ag.compile(product)
    scale = np.abs(view_a(a)) @ np.abs(view_b(b))
    for _ in range(2):  # the second call is by the native entry point
        close(compiled(a, b), product(a, b), scale)


@over("seed", numbered(60), first=3)
def test_products(seed: int) -> None:
    check(seed)


@over("seed", numbered(100, 130), first=3)
def test_no_product_writes_outside(seed: int, guards: list[Any]) -> None:  # noqa: F811
    check(seed)
    assert untouched(guards)


@pytest.mark.parametrize("target", ["haswell", "generic"])
def test_other_processors(target: str) -> None:
    code = "from compiler.test_products import check\nfor seed in range(200, 215): check(seed)"
    path = os.pathsep.join([str(TESTS), *sys.path])
    environment = os.environ | {"ARRAYGRAD_TARGET": target, "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(70, 65, 1000), (300, 900, 200), (1000, 33, 30), (64, 1025, 410), (515, 31, 513)]
)
def test_blocks_and_chunks(shape: tuple[int, int, int], dtype: Any) -> None:
    """Several blocks of the summed axis, and several chunks, whose edges overlap."""
    m, n, k = shape
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(k, m)).astype(dtype), rng.normal(size=(n, k)).astype(dtype)
    compiled = ag.compile(lambda a, b: (a.T @ b.T, b @ a))
    scale = np.abs(a.T) @ np.abs(b.T)
    for _ in range(2):
        first, second = compiled(a, b)
        close(first, a.T @ b.T, scale)
        close(second, b @ a, scale.T)


def test_a_sum_over_many_elements_is_accurate() -> None:
    """Blocks of the summed axis are added up by themselves first."""
    rng = np.random.default_rng(0)
    a, b = (rng.random(size=s).astype(np.float32) for s in ((5, 200_000), (200_000, 6)))
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(ag.compile(lambda a, b: a @ b)(a, b), wanted, rtol=5e-6)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_non_finite_elements(special: float) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(9, 20)), rng.normal(size=(20, 11))
    a[3, 4] = special
    b[4, 5] = 0.0
    with np.errstate(invalid="ignore"):
        wanted = a @ b
    found = ag.compile(lambda a, b: a @ b)(a, b)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_allclose(found, wanted)
    # A subnormal number stays one.
    tiny = np.full((4, 2), 5e-324)
    np.testing.assert_array_equal(ag.compile(lambda a: a @ np.eye(2))(tiny), tiny)


def test_a_matrix_times_itself() -> None:
    a = np.random.default_rng(0).normal(size=(23, 23))
    compiled = ag.compile(lambda a: (a @ a, a.T @ a, a @ a.T, a.T @ a.T))
    for _ in range(2):
        for found, wanted in zip(compiled(a), (a @ a, a.T @ a, a @ a.T, a.T @ a.T), strict=True):
            close(found, wanted, np.abs(a) @ np.abs(a) + np.abs(a.T) @ np.abs(a) + 1)


def steps_of(function: Any, *arrays: Any) -> list[Any]:
    return ag.compile(function)._program(arrays, {})[0].executable.steps


def test_a_linear_model_is_one_pass_over_its_matrix() -> None:
    def loss(w: Any, x: Any, y: Any) -> Any:
        z = x @ w
        return ag.mean(ag.logaddexp(0 * z, z) - y * z)

    rng = np.random.default_rng(0)
    w, x, y = rng.normal(size=10), rng.normal(size=(200, 10)), rng.normal(size=200)
    gradient = ag.func.value_and_grad(loss)
    steps = steps_of(gradient, w, x, y)
    reading = [s for s in steps if any(r.shape == (200, 10) for r in s.reads)]
    assert len(reading) == 1
    for a, b in zip(ag.compile(gradient)(w, x, y), gradient(w, x, y), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_batch_of_rows_is_a_matrix() -> None:
    a, b = np.random.default_rng(0).normal(size=(30, 1, 8)), np.eye(8)
    (step,) = steps_of(lambda a, b: a @ b, a, b)
    assert step.nest.product.shape[-2:] == (30, 8)
    np.testing.assert_allclose(ag.compile(lambda a, b: a @ b)(a, b), a)


def test_a_transposed_product_is_a_product() -> None:
    a, b = np.ones((3, 8)), np.ones((8, 5))
    (step,) = steps_of(lambda a, b: (a @ b).T, a, b)
    assert step.nest.product.shape == (5, 3)
    both = ag.compile(lambda a, b: ((a @ b).T, a @ b))
    np.testing.assert_array_equal(both(a, b)[0], both(a, b)[1].T)


def test_products_with_one_number_are_sums() -> None:
    x = np.random.default_rng(0).normal(size=(6, 9))
    gradient = ag.func.grad(lambda x: ag.sum(x @ x.T))
    steps = steps_of(gradient, x)
    assert all(isinstance(s, Native) and not isinstance(s.nest, products.Tiles) for s in steps)
    np.testing.assert_allclose(ag.compile(gradient)(x), gradient(x))


def test_large_products_are_left_to_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "LARGEST", 1000)
    a, b = np.random.default_rng(0).normal(size=(2, 20, 30)), np.eye(30)

    def f(a: Any, b: Any) -> Any:
        return ag.tanh(ag.sin(a) @ b), a @ b.T

    kinds = {type(s) for s in steps_of(f, a, b)}
    assert ByBlas in kinds
    assert ByNumpy not in kinds
    for found, wanted in zip(ag.compile(f)(a, b), f(a, b), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int64, np.complex128, np.float16])
def test_other_dtypes_are_left_to_numpy(dtype: Any) -> None:
    a = np.arange(12).reshape(3, 4).astype(dtype)
    np.testing.assert_array_equal(ag.compile(lambda a: a @ a.T)(a), a @ a.T)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 300), (16, 64), (64, 10), (1000, 1000), (3, 5)])
@pytest.mark.parametrize(("lanes", "registers"), [(16, 32), (8, 16), (2, 16)])
def test_tiles_fit_into_registers(m: int, n: int, lanes: int, registers: int) -> None:
    tile = tiles.best_tile(m, n, lanes, registers)
    assert 1 <= tile.rows <= m
    assert tile.rows * tile.vectors + tile.vectors < registers
    assert (tile.vectors - 1) * lanes < n
