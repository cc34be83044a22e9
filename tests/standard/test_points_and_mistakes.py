"""Functions beyond elementary ones: at ties, kinks and gaps, and with wrong arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import arraygrad as ag

NAN, INF = math.nan, math.inf


def slope(function: Any, *values: Any) -> Any:
    """The gradients of a sum of results with respect to all arguments, as lists."""
    inputs = [ag.tensor(v, dtype=ag.float64, requires_grad=True) for v in values]
    found = ag.grad(ag.sum(function(*inputs)), inputs, materialize_grads=True)
    return [g.tolist() for g in found]


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        (ag.median, [2, 2, 1, 3], [0.5, 0.5, 0, 0]),
        (ag.median, [3, 1, 5], [1, 0, 0]),
        (lambda x: ag.quantile(x, 0.5), [2, 2, 1, 3], [0.5, 0.5, 0, 0]),
        (lambda x: ag.quantile(x, 0.0), [2, 2, 1, 3], [0, 0, 1, 0]),
        (lambda x: ag.quantile(x, 1.0), [2, 2, 1, 3], [0, 0, 0, 1]),
        (ag.nanmedian, [NAN, 1, 3], [0, 0.5, 0.5]),
        (ag.nansum, [NAN, 1.0], [0, 1]),
        (ag.nanmean, [NAN, 1.0], [0, 1]),
        (ag.nanmax, [NAN, 3.0, 3.0], [0, 0.5, 0.5]),
        (ag.nanprod, [NAN, 0.0, 3.0], [0, 3, 0]),
        (ag.nanstd, [2.0, 2.0, NAN], [0, 0, 0]),
        (ag.unique_values, [3, 1, 3], [1, 1, 0]),
        (ag.nan_to_num, [NAN, INF, -INF, 2], [0, 0, 0, 1]),
        (ag.cbrt, [8.0], [1 / 12]),
        (
            lambda x: ag.interp(x, ag.asarray([0.0, 1.0]), ag.asarray([0.0, 5.0])),
            [-1, 0.5, 2],
            [0, 5, 0],
        ),
        (lambda x: ag.interp(x, ag.asarray([0.0]), ag.asarray([3.0])), [-1, 0.5], [0, 0]),
        (lambda x: ag.pad(x, 1, mode="edge"), [1.0, 2.0], [2, 2]),
    ],
)
def test_slopes(function: Any, values: Any, expected: Any) -> None:
    (found,) = slope(function, values)
    np.testing.assert_allclose(found, expected)


def test_of_equals_the_first() -> None:
    """As torch has it for `fmax`, unlike `maximum`, where they share."""
    assert slope(ag.fmax, [1.0, NAN], [1.0, 2.0]) == [[1, 0], [0, 1]]
    assert slope(ag.fmin, [1.0, 3.0], [1.0, NAN]) == [[1, 1], [0, 0]]


def test_nothing_but_nan() -> None:
    x = ag.tensor([[NAN, NAN], [1.0, NAN]])
    for function in (ag.nanmean, ag.nanmax, ag.nanmin, ag.nanmedian, ag.nanvar):
        with np.errstate(invalid="ignore"):
            found = function(x, axis=1).tolist()
        assert math.isnan(found[0])
        assert not math.isnan(found[1])
    assert math.isnan(ag.quantile(x[1], 0.5).item())  # as in NumPy, NaN wins


def test_quantiles_between_infinities() -> None:
    x = ag.tensor([INF, INF, -INF])
    assert ag.quantile(x, 0.75).item() == INF
    assert ag.median(ag.tensor([INF, 1.0, -INF])).item() == 1
    assert ag.quantile(ag.tensor([-INF, 1.0]), 1.0).item() == 1
    assert ag.quantile(ag.tensor([1.0, INF]), 0.25).item() == INF
    assert slope(lambda x: ag.quantile(x, 0.5), [INF, 1.0, -INF]) == [[0, 1, 0]]


def test_values_at_the_points_of_an_interpolation() -> None:
    points, heights = np.array([0.0, 0.1, 0.7, 0.7, 2.0]), np.array([1.0, -2.0, 5.0, 3.0, 4.0])
    x = np.concatenate([points, [-1.0, 3.0]])
    np.testing.assert_allclose(ag.interp(x, points, heights), np.interp(x, points, heights))


def test_what_depends_on_values_is_refused_inside_vmap() -> None:
    rows = np.array([[1.0, 0.0], [2.0, 3.0]])
    for function in (ag.nonzero, ag.unique_values, ag.histogram):
        with pytest.raises(TypeError, match="different shapes for the members of a batch"):
            ag.func.vmap(function)(rows)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: ag.pad(x, 1, mode="mean"), ValueError, "mode must be one of constant, edge"),
        (lambda x: ag.pad(x, -1), ValueError, "pad_width must be integers that are not negative"),
        (lambda x: ag.pad(x[:0], 1, mode="wrap"), ValueError, "cannot extend axis 0"),
        (lambda x: ag.pad(x, 1, stat_length=2), TypeError, "does not support stat_length"),
        (lambda x: ag.split(x, 2), ValueError, r"length 3 cannot be split in 2.*array_split"),
        (lambda x: ag.array_split(x, 0), ValueError, "indices_or_sections must be positive"),
        (lambda x: ag.rot90(x), IndexError, "axes 1 is out of range"),
        (lambda x: ag.diag(x[None, None]), ValueError, "diag is for vectors and matrices"),
        (lambda x: ag.meshgrid(x, indexing="yx"), ValueError, "indexing must be 'xy' or 'ij'"),
        (lambda x: ag.meshgrid(x, x[None]), ValueError, r"arrays\[1\] must be one-dimensional"),
        (lambda x: ag.interp(x, x, x[:2]), ValueError, "xp and fp must be one-dimensional"),
        (lambda x: ag.interp(x, x, x, period=0), ValueError, "period must not be zero"),
        (lambda x: ag.convolve(x, x, "part"), ValueError, "mode must be 'full', 'same' or"),
        (lambda x: ag.convolve(x, x[:0]), ValueError, "v must be one-dimensional and not empty"),
        (lambda x: ag.diff(x, n=-1), ValueError, "n must not be negative, got -1"),
        (lambda x: ag.gradient(x, 1, 2), TypeError, "varargs must be none, one or 1 spacings"),
        (lambda x: ag.gradient(x[:1]), ValueError, "axis 0 needs at least 2 elements, it has 1"),
        (lambda x: ag.gradient(x, edge_order=3), ValueError, "edge_order must be 1 or 2"),
        (lambda x: ag.quantile(x, 1.5), ValueError, "q must be between 0 and 1"),
        (lambda x: ag.quantile(x, 0.5, method="best"), ValueError, "method must be one of"),
        (lambda x: ag.median(x[:0]), ValueError, "median of no elements"),
        (lambda x: ag.nanmedian(x[:0]), ValueError, "nanmedian of no elements"),
        (lambda x: ag.quantile(x * 1j, 0.5), TypeError, "real numbers"),
        (lambda x: ag.average(x, weights=x[:2]), ValueError, "weights has shape"),
        (lambda x: ag.searchsorted(x, 1.0, side="up"), ValueError, "side must be 'left'"),
        (lambda x: ag.searchsorted(x[None], 1.0), ValueError, "x1 must be one-dimensional"),
        (lambda x: ag.bincount(x), TypeError, "x must be one-dimensional and integer"),
        (lambda x: ag.bincount(ag.asarray([-1])), ValueError, "must not have negative elements"),
        (lambda x: ag.digitize(x, x[None]), ValueError, "bins must be one-dimensional"),
        (lambda x: ag.nonzero(x[0]), ValueError, "x is 0-d"),
        (lambda x: ag.cov(x[None, None]), ValueError, "cov is for vectors and matrices"),
        (lambda x: ag.result_type(), ValueError, "needs at least one"),
        (lambda x: ag.isdtype("nothing", "bool"), TypeError, "expected a dtype or an array"),
    ],
)
def test_mistakes(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(ag.tensor([1.0, 2.0, 3.0]))
