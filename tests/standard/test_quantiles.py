"""Quantiles by every method, of arrays of all kinds, compared with NumPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.ops.quantiles import METHODS


def randomly(seed: int) -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 6, size=rng.integers(1, 4)).tolist())
    x = rng.standard_normal(shape) if seed % 2 else rng.integers(-3, 4, shape).astype(float)
    q = [0.3, [0.0, 1.0, 0.5], np.round(rng.random(4), 1), np.asarray(0.25)][rng.integers(4)]
    axes = tuple(rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)].tolist())
    axis = [None, axes[0], axes][rng.integers(3)]
    return x, q, {"axis": axis, "keepdims": bool(rng.integers(2))}


@pytest.mark.parametrize("method", METHODS)
def test_each_method_as_in_numpy(method: str) -> None:
    for seed in range(25):
        x, q, keywords = randomly(seed)
        keywords["method"] = method
        np.testing.assert_allclose(
            ag.quantile(x, q, **keywords), np.quantile(x, q, **keywords), atol=1e-12
        )
        t = ag.tensor(x, requires_grad=True)
        np.testing.assert_allclose(
            np.percentile(t, np.multiply(q, 100), **keywords).detach().array,
            np.percentile(x, np.multiply(q, 100), **keywords),
            atol=1e-12,
        )


@pytest.mark.parametrize("method", METHODS)
def test_without_nan(method: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy's, for nothing but NaN
        for seed in range(25):
            x, q, keywords = randomly(seed)
            x[np.random.default_rng(seed).random(x.shape) < 0.3] = np.nan
            keywords["method"] = method
            t = ag.tensor(x, requires_grad=True)
            for name in ("quantile", "nanquantile"):
                expected = getattr(np, name)(x, q, **keywords)
                found = getattr(ag, name)(t, q, **keywords)
                np.testing.assert_allclose(found.detach().array, expected, atol=1e-12)
            if not np.isnan(expected).all():
                gradient = ag.grad(ag.nansum(np.nanquantile(t, q, **keywords)), t).array
                assert np.isfinite(gradient).all()
                assert gradient.sum() == pytest.approx((~np.isnan(expected)).sum())
                assert not gradient[np.isnan(x)].any()


def in_one_axis(x: Any, axis: Any) -> Any:
    """An array with the axes to reduce in one, the last."""
    axes = list(range(x.ndim)) if axis is None else np.atleast_1d(axis).tolist()
    rest = [k for k in range(x.ndim) if k not in axes]
    return x.transpose(*rest, *axes).reshape(*(x.shape[k] for k in rest), -1)


def by_numpy(name: str, x: Any, q: Any, axis: Any, keepdims: bool, weights: Any) -> Any:
    """NumPy's quantile along one axis: of several, its older versions mix up the weights."""
    x, weights = (in_one_axis(a, axis) for a in (x, weights))
    return getattr(np, name)(x, q, axis=-1, method="inverted_cdf", weights=weights)


def test_weights() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for seed in range(40):
            x, q, keywords = randomly(seed)
            keywords["weights"] = np.random.default_rng(seed).integers(1, 4, x.shape)
            found = ag.quantile(x, q, method="inverted_cdf", **keywords)
            expected = by_numpy("quantile", x, q, **keywords)
            np.testing.assert_array_equal(found, expected.reshape(found.shape))
            x[np.random.default_rng(seed).random(x.shape) < 0.3] = np.nan
            t = ag.tensor(x, requires_grad=True)
            found = np.nanquantile(t, q, method="inverted_cdf", **keywords).detach().array
            expected = by_numpy("nanquantile", x, q, **keywords)
            np.testing.assert_array_equal(found, expected.reshape(found.shape))


def test_weights_of_an_axis() -> None:
    x = np.arange(6.0).reshape(2, 3)
    found = ag.quantile(x, 0.5, axis=1, method="inverted_cdf", weights=[1.0, 1.0, 5.0])
    assert found.tolist() == [2, 5]


def test_mistakes() -> None:
    with pytest.raises(ValueError, match=r"method must be one of .*hazen.*, not 'best'"):
        ag.quantile(np.ones(3), 0.5, method="best")
    with pytest.raises(ValueError, match=r"weights are for method='inverted_cdf'"):
        ag.quantile(np.ones(3), 0.5, weights=np.ones(3))
    with pytest.raises(ValueError, match=r"weights has shape \(2,\)"):
        ag.quantile(np.ones(3), 0.5, weights=np.ones(2), method="inverted_cdf")
    with pytest.raises(ValueError, match="must be finite and not negative"):
        ag.quantile(np.ones(3), 0.5, weights=-np.ones(3), method="inverted_cdf")
    with pytest.raises(ValueError, match="nanmedian of no elements"):
        ag.nanmedian(np.ones((0, 3)), axis=0)
    with pytest.raises(ValueError, match=r"weights has shape \(2,\)"):
        ag.average(np.ones(3), weights=np.ones(2))


def test_averages_over_several_axes_by_their_weights() -> None:
    x, w = np.arange(24.0).reshape(2, 3, 4), np.arange(1.0, 9.0).reshape(4, 2)
    expected = np.average(x, axis=(2, 0), weights=w)
    np.testing.assert_allclose(ag.average(x, axis=(2, 0), weights=w), expected)
    assert ag.average(np.array([1.0, np.inf]), weights=[1.0, 1.0]) == np.inf
