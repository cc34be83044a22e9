"""Splines, beyond the table: penalties by cross-validation."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.interpolate
import scipy.optimize

import arraygrad as ag
from arraygrad.errors import NotASolutionError
from arraygrad.scipy import interpolate

_rng = np.random.default_rng(3)
_X = np.arange(12.0) * 0.7 + _rng.uniform(0, 0.3, 12)
_Y = np.sin(_X) + 0.2 * _rng.normal(size=12)
_W = _rng.uniform(0.5, 2.0, 12)
_AT = np.linspace(0.5, 8.0, 5)


def _best_penalty(x: Any, y: Any, w: Any) -> float:
    """The minimum of the score by its definition: the spline of each unit vector is a column."""

    def score(lam: float) -> Any:
        influence = np.stack(
            [scipy.interpolate.make_smoothing_spline(x, e, w, lam)(x) for e in np.eye(len(x))], 1
        )
        rest = y - influence @ y
        return np.sum(rest**2) / (1 - np.trace(influence) / len(x)) ** 2

    near = _penalty_of_scipy(x, y, w)
    found = scipy.optimize.minimize_scalar(
        score, bounds=(0.9 * near, 1.1 * near), method="bounded", options={"xatol": 1e-10}
    )
    return float(found.x)


def _penalty_of_scipy(x: Any, y: Any, w: Any) -> float:
    """The penalty that SciPy found: the one whose spline is SciPy's."""
    own = scipy.interpolate.make_smoothing_spline(x, y, w)(x)

    def distance(lam: float) -> Any:
        return np.sum((scipy.interpolate.make_smoothing_spline(x, y, w, lam)(x) - own) ** 2)

    return float(scipy.optimize.minimize_scalar(distance, bounds=(0, len(x)), method="bounded").x)


def test_a_penalty_by_cross_validation_depends_on_the_data() -> None:
    given = (_X, _Y, _W)

    def total(x: Any, y: Any, w: Any) -> Any:
        return interpolate.make_smoothing_spline(x, y, w)(_AT).sum()

    def reference(x: Any, y: Any, w: Any) -> Any:
        lam = _best_penalty(x, y, w)
        return scipy.interpolate.make_smoothing_spline(x, y, w, lam)(_AT).sum()

    tensors = [ag.tensor(a, requires_grad=True) for a in given]
    found = total(*tensors)
    expected = scipy.interpolate.make_smoothing_spline(*given)(_AT).sum()
    assert found.item() == pytest.approx(expected, rel=1e-9)
    gradients = ag.grad(found, tensors)
    along = [_rng.normal(size=12) for _ in given]
    for k, (gradient, t) in enumerate(zip(gradients, along, strict=True)):
        moved = [
            [a + step * t if i == k else a for i, a in enumerate(given)] for step in (1e-3, -1e-3)
        ]
        difference = (reference(*moved[0]) - reference(*moved[1])) / 2e-3
        assert float(gradient.numpy() @ t) == pytest.approx(difference, rel=1e-3, abs=1e-4)
    _, tangent = ag.func.jvp(total, given, tuple(along))
    pairs = zip(gradients, along, strict=True)
    assert float(tangent) == pytest.approx(sum(float(g.numpy() @ t) for g, t in pairs), rel=1e-9)
    fixed = interpolate.make_smoothing_spline(_X, tensors[1], _W, lam=_penalty_of_scipy(*given))(
        _AT
    ).sum()
    assert abs(ag.grad(fixed, tensors[1]).numpy() - gradients[1].numpy()).max() > 1e-3


def test_penalties_by_cross_validation_of_batches_and_columns() -> None:
    slope = ag.func.grad(lambda y: interpolate.make_smoothing_spline(_X, y, _W)(_AT).sum())
    members = np.stack([_Y, _Y + 0.1 * _X])
    np.testing.assert_allclose(ag.func.vmap(slope)(members), [slope(y) for y in members], rtol=1e-7)
    again = ag.func.jacfwd(slope)(_Y)
    np.testing.assert_allclose(again, ag.func.jacrev(slope)(_Y), rtol=1e-6, atol=1e-8)
    columns = np.stack([_Y, _Y + 0.1 * _X], axis=1)
    found = interpolate.make_smoothing_spline(_X, ag.tensor(columns, requires_grad=True), _W)(_AT)
    one = [scipy.interpolate.make_smoothing_spline(_X, y, _W)(_AT) for y in columns.T]
    np.testing.assert_allclose(found.detach(), np.stack(one, axis=1), rtol=1e-9)


def test_a_penalty_at_the_end_of_the_range_is_a_constant() -> None:
    x = np.linspace(0.0, 1.0, 10)
    y = ag.tensor(np.sin(6 * x) + 0.5 * _rng.normal(size=10), requires_grad=True)
    found = interpolate.make_smoothing_spline(x, y)(0.4)
    fixed = interpolate.make_smoothing_spline(x, y, lam=10.0)(0.4)
    np.testing.assert_allclose(ag.grad(found, y), ag.grad(fixed, y), rtol=1e-4)


def test_a_penalty_that_is_too_small_for_scipy() -> None:
    x = np.linspace(0.0, 1e-2, 30)
    y = ag.tensor(np.sin(600 * x) + 0.1 * _rng.normal(size=30), requires_grad=True)
    with pytest.raises(NotASolutionError, match="another unit of x, or pass lam"):
        interpolate.make_smoothing_spline(x, y)
    interpolate.make_smoothing_spline(x, y.detach())


@pytest.mark.parametrize("kind", ["previous", "next", "nearest", "nearest-up", "linear"])
def test_interp1d_beyond_its_nodes(kind: str) -> None:
    nodes, y = np.arange(4.0), np.array([1.0, 2.0, 4.0, 3.0])
    at = np.array([-0.5, 0.0, 0.5, 2.9, 3.0, 3.5])
    given = {"kind": kind, "fill_value": "extrapolate"}
    expected = scipy.interpolate.interp1d(nodes, y, **given)(at)
    found = interpolate.interp1d(nodes, ag.tensor(y, requires_grad=True), **given)(at)
    np.testing.assert_allclose(found.detach().numpy(), expected)


def test_a_fit_of_many_points_needs_no_dense_matrix() -> None:
    x = np.linspace(0, 1, 30_000)
    y = ag.tensor(np.sin(9 * x), requires_grad=True)
    knots = np.r_[np.zeros(3), np.linspace(0, 1, 2_000), np.ones(3)]
    tracemalloc.start()
    ag.grad(ag.scipy.interpolate.make_lsq_spline(x, y, knots).c.sum(), y)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100e6  # the matrix would have 480 MB


_MADE: list[Any] = [
    lambda x, y: interpolate.CubicSpline(x, y),
    lambda x, y: interpolate.PchipInterpolator(x, y),
    lambda x, y: interpolate.make_interp_spline(x, y),
    lambda x, y: interpolate.interp1d(x, y),
    lambda x, y: interpolate.KroghInterpolator(x, y),
    lambda x, y: interpolate.RBFInterpolator(x[:, None], y),
    lambda x, y: interpolate.BarycentricInterpolator(x, y),
    lambda x, y: interpolate.RegularGridInterpolator((x,), y),
]


@pytest.mark.parametrize("make", _MADE)
def test_objects_of_plain_arrays_keep_what_scipys_keep(make: Any) -> None:
    y = np.array([1.0, 3.0, 2.0, 5.0])
    made = make(np.arange(4.0), y)
    at = np.array([[1.5]])
    for curve in (made, pickle.loads(pickle.dumps(made))):
        np.testing.assert_allclose(curve(ag.tensor(at)), curve(at), rtol=1e-13)
    y[:] = 9.0  # some of SciPy's classes copy, and others do not
    np.testing.assert_allclose(made(ag.tensor(at)), made(at), rtol=1e-13)


def test_values_may_be_set_later() -> None:
    curve = interpolate.BarycentricInterpolator(np.arange(3.0), [0.0, 0.0, 0.0])
    curve.set_yi([0.0, 1.0, 4.0])
    assert ag.func.grad(curve)(1.5) == pytest.approx(3.0)


@pytest.mark.parametrize("method", ["linear", "nearest", "slinear", "cubic", "quintic", "pchip"])
def test_a_grid_of_tensors_gives_tensors(method: str) -> None:
    nodes = np.linspace(0.0, 1.0, 6)
    values = ag.tensor(np.outer(nodes, nodes**2))  # which need no gradient
    points = np.array([[0.2, 0.7], [0.5, 0.1]])
    assert isinstance(interpolate.interpn((nodes, nodes), values, points, method), ag.Tensor)
