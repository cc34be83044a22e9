"""Native kernels for large arrays of eager mode: the results are NumPy's, to a few units."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag
from arraygrad.backends import numpy as numpy_backend
from arraygrad.backends.numpy import blocks, native
from arraygrad.compiler.run import eager
from arraygrad.ops.special import activations
from arraygrad.ops.special.standardizing import standardize
from arraygrad.sweep import engine

SIZE = 70_123  # two chunks, and a rest
special = ag.special


@pytest.fixture(autouse=True)
def no_failures() -> Iterator[None]:
    """What has no kernel was not meant to have one: the compiler did not fail."""
    yield
    assert not eager.failures


@pytest.fixture(autouse=True)
def thousands_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take fewer elements for large than it pays for, to save time; forget what was made."""
    for module in (blocks, engine, numpy_backend, native):
        monkeypatch.setattr(module, "LARGE", 2000)
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 4096)
    monkeypatch.setattr(eager, "_once", set())


def by_numpy(function: Callable[[], Any]) -> Any:
    """What a function gives without native code."""
    before = native.LARGE
    native.LARGE = 10**12
    try:
        return function()
    finally:
        native.LARGE = before


def values(*shape: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype) * dtype(3)


def units(found: Any, wanted: Any) -> float:
    """The largest difference, in units in the last place."""
    return float(np.max(np.abs(found - wanted) / np.spacing(np.abs(wanted))))


def used() -> int:
    """How many kernels there are."""
    return sum(kernel is not None for kernel in eager._kernels.values())


ELEMENTWISE: dict[str, Callable[[Any], Any]] = {
    "exp": ag.exp,
    "expm1": ag.expm1,
    "log": lambda x: ag.log(abs(x) + 1e-3),
    "log1p": lambda x: ag.log1p(abs(x)),
    "sin": ag.sin,
    "cos": ag.cos,
    "tanh": ag.tanh,
    "expit": special.expit,
    "softplus": special.softplus,
    "log_expit": special.log_expit,
    "erf": special.erf,
    "silu": activations.silu,
    "gelu": activations.gelu,
    "logaddexp": lambda x: ag.logaddexp(x, x[::-1].copy()),
    "numbers": lambda x: ag.logaddexp(x, 0.5),
}


@crossed(name=ELEMENTWISE, dtype=[np.float32, np.float64])
def test_elementwise(name: str, dtype: Any) -> None:
    function, x = ELEMENTWISE[name], values(SIZE, dtype=dtype)
    before = dict(eager._kernels)
    eager._kernels.clear()
    try:
        found = function(x)
        assert used()
    finally:
        eager._kernels.update(before)
    wanted = by_numpy(lambda: function(x))
    assert found.dtype == wanted.dtype
    if name in ("gelu", "erf", "logaddexp", "numbers"):
        # SciPy loses more of the distribution's tail, the erf of eager mode is rougher; and sums
        # near zero lose digits.
        unit = float(np.finfo(dtype).eps)
        np.testing.assert_allclose(found, wanted, rtol=200 * unit, atol=4 * unit)
    else:
        assert units(found, wanted) <= 4
    np.testing.assert_array_equal(found, function(x))


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_gradients(name: str) -> None:
    x = ag.tensor(values(SIZE), requires_grad=True)
    seed = values(SIZE, seed=1)

    def gradient() -> Any:
        return ag.grad(ELEMENTWISE[name](x), x, seed).array

    np.testing.assert_allclose(gradient(), by_numpy(gradient), rtol=1e-11, atol=1e-13)


ROWS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: special.softmax(x, axis=-1),
    "log_softmax": lambda x: special.log_softmax(x, axis=-1),
    "logsumexp": lambda x: special.logsumexp(x, axis=-1),
    "logsumexp, kept": lambda x: special.logsumexp(x, axis=-1, keepdims=True),
    "standardize": lambda x: standardize(x, axis=-1, eps=1e-5),
    "cross entropy": lambda x: -special.log_softmax(x, axis=-1)[..., 3],
}


@crossed(name=ROWS, shape=[(300, 77), (3, 50, 33), (40, 2000)], dtype=[np.float32, np.float64])
def test_lines(name: str, shape: tuple[int, ...], dtype: Any) -> None:
    x = ag.tensor(values(*shape, dtype=dtype), requires_grad=True)

    def both() -> Any:
        out = ROWS[name](x)
        seed = values(*out.shape, dtype=dtype, seed=1)
        return out.array, ag.grad(out, x, seed).array

    close = {"rtol": 1e-5, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-13}
    for found, wanted in zip(both(), by_numpy(both), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, **close)


@pytest.mark.parametrize("name", ROWS)
def test_lines_with_infinities(name: str) -> None:
    x = values(300, 77)
    x[3], x[4, 5], x[5, 6], x[6, 7] = -np.inf, -np.inf, np.inf, np.nan
    with np.errstate(all="ignore"):
        found, wanted = ROWS[name](x), by_numpy(lambda: ROWS[name](x))
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_special_values(name: str) -> None:
    x = values(SIZE)
    x[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e300, -1e300]
    with np.errstate(all="ignore"):
        found, wanted = ELEMENTWISE[name](x), by_numpy(lambda: ELEMENTWISE[name](x))
    np.testing.assert_array_equal(found[:8], wanted[:8])
    np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(wanted[:2]))


def test_warnings_and_errors_are_numpys() -> None:
    x = values(SIZE) ** 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ag.log(x)
    x[7] = 0
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        ag.log(x)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        ag.log(x)
    with np.errstate(under="raise"), pytest.raises(FloatingPointError):
        ag.exp(-1000 * x - 1000)


@pytest.mark.parametrize(
    "arrange",
    [np.asfortranarray, lambda x: x[::-1, ::2], lambda x: np.broadcast_to(x[:1], x.shape)],
    ids=["columns", "strided", "broadcast"],
)
def test_any_order_in_memory(arrange: Any) -> None:
    x = arrange(values(300, 80))
    found = special.softplus(x)
    assert found.flags.f_contiguous == by_numpy(lambda: special.softplus(x)).flags.f_contiguous
    np.testing.assert_allclose(found, by_numpy(lambda: special.softplus(x)), rtol=1e-15)


def test_gradients_that_overwrite_what_they_read() -> None:
    """The cotangent that comes in is one that goes out, and others are read after it."""
    x, y = (ag.tensor(values(100, 300, seed=i), requires_grad=True) for i in (0, 1))
    m = values(300, 200, seed=2)

    def gradients() -> Any:
        out = ((ag.tanh(x) * y + ag.exp(-y * y) * x) * 2.5) @ m
        return [g.array for g in ag.grad(out, [x, y], values(100, 200, seed=3))]

    for found, wanted in zip(gradients(), by_numpy(gradients), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11)


def test_numbers_are_not_part_of_a_kernel() -> None:
    x = ag.tensor(values(SIZE), requires_grad=True)

    def gradient(factor: float) -> Any:
        return ag.grad((ag.tanh(factor * x) * factor).sum(), x).array

    gradient(0.1)
    made = len(eager._kernels)
    for factor in (0.2, 0.3, 0.4):
        t = np.tanh(factor * x.array)
        np.testing.assert_allclose(gradient(factor), factor**2 * (1 - t * t), rtol=1e-12)
    assert len(eager._kernels) == made


def test_functions_that_keep_changing_are_left_to_numpy() -> None:
    x = ag.tensor(values(3000), requires_grad=True)

    def gradient(count: int) -> Any:
        y = x
        for i in range(count):
            y = ag.sin(y) if count >> i & 1 else ag.tanh(y)
        return ag.grad(y.sum(), x).array

    before, most = len(eager._kernels), 4
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eager, "MOST_ONCE", most)
        for count in range(1, 12):
            wanted = by_numpy(lambda count=count: gradient(count))
            np.testing.assert_allclose(gradient(count), wanted, rtol=1e-9, atol=1e-12)
    assert len(eager._kernels) - before <= most


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x = values(300_000)
    before, found = ag.get_num_threads(), []
    try:
        for number in (1, 2, 3):
            ag.set_num_threads(number)
            found.append(special.expit(x))
    finally:
        ag.set_num_threads(before)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


@pytest.mark.parametrize(
    ("setting", "size", "imported"),
    [("", 10, False), ("0", 1_000_000, False), ("", 1_000_000, True)],
)
def test_when_llvmlite_is_imported(setting: str, size: int, imported: bool) -> None:
    code = (
        "import sys, numpy as np, arraygrad as ag\n"
        f"y = ag.special.expit(np.ones({size}))\n"
        "assert np.allclose(y, 1 / (1 + np.exp(-1)))\n"
        f"assert ('llvmlite' in sys.modules) is {imported}"
    )
    environment = os.environ | {"ARRAYGRAD_COMPILE": setting}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_without_llvmlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    native.compiler.cache_clear()
    try:
        assert native.compiler() is None
        x = values(SIZE)
        np.testing.assert_allclose(special.expit(x), 1 / (1 + np.exp(-x)), rtol=1e-14)
    finally:
        native.compiler.cache_clear()
