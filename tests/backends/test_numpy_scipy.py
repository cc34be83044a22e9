"""SciPy's functions in the place of NumPy's give the same, and NumPy's still do without SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from rows import over

import arraygrad as ag
from arraygrad.backends.numpy import scipy as numpy_scipy

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True, params=[True, False], ids=["with SciPy", "without"])
def scipy(request, monkeypatch):
    if request.param:
        pytest.importorskip("scipy")
    else:
        monkeypatch.setattr(numpy_scipy, "scipy_part", lambda name: None)


REAL, ANY = ["float32", "float64"], ["float32", "float64", "complex64", "complex128"]


TRANSFORMS = [
    (name, dtype, norm)
    for name in ("fft", "ifft", "irfft", "fftn", "rfft", "rfftn")
    for dtype in (REAL if name.startswith("r") else ANY)
    for norm in ("backward", "ortho", "forward")
]


@over("name, dtype, norm", TRANSFORMS, first=len(TRANSFORMS))
def test_long_transforms(name, dtype, norm):
    x = rng.standard_normal((70, 80)).astype(dtype)
    if dtype.startswith("c"):
        x = x + np.asarray(1j, dtype) * rng.standard_normal((70, 80)).astype(dtype)
    found, expected = getattr(ag.fft, name)(x, norm=norm), getattr(np.fft, name)(x, norm=norm)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("arrange", ["lower", "upper", "turned", "full"])
def test_wide_systems(arrange, dtype):
    full = rng.standard_normal((40, 40)) + 20 * np.eye(40)
    parts = {"lower": np.tril, "upper": np.triu, "turned": lambda x: np.tril(x).T}
    a = parts.get(arrange, lambda x: x)(full).astype(dtype)
    b = rng.standard_normal((40, 3)).astype(dtype)
    x = ag.linalg.solve(a, b)
    assert x.dtype == dtype
    np.testing.assert_allclose(a @ x, b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(a @ ag.linalg.solve(a, b[:, 0]), b[:, 0], rtol=1e-4, atol=1e-5)


def test_a_singular_triangle_is_an_error():
    a = np.tril(np.ones((40, 40)))
    a[7, 7] = 0
    with pytest.raises(np.linalg.LinAlgError):
        ag.linalg.solve(a, np.ones((40, 2)))


def test_the_gradient_of_a_wide_cholesky_factor():
    x = rng.standard_normal((40, 40))
    x = x @ x.T + 40 * np.eye(40)
    weights, direction = rng.standard_normal((40, 40)), rng.standard_normal((40, 40))
    leaf = ag.tensor(x, requires_grad=True)
    g = ag.grad((ag.linalg.cholesky(leaf) * weights).sum(), leaf)
    _, slope = ag.func.jvp(lambda x: (ag.linalg.cholesky(x) * weights).sum(), (x,), (direction,))
    np.testing.assert_allclose((g.array * direction).sum(), slope.item())
