"""Cases of `scipy.interpolate`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.interpolate
from crossing import IS_RECENT, Case
from scipy.sparse.linalg import spsolve

_rng = np.random.default_rng(11)
_x = np.array([0.0, 0.7, 1.5, 2.1, 3.0, 4.2])
_y = _rng.normal(size=6)
_columns = _rng.normal(size=(6, 2))
_q = np.array([-0.3, 0.35, 1.6, 2.6, 4.0])
_inside = np.array([0.35, 1.6, 2.6, 4.0])


def _curve(name: str, y: Any, at: Any = _q, label: str = "", **options: Any) -> Case:
    """By nodes, values and points."""
    return Case(
        f"interpolate.{name}({', '.join(f'{k}={v}' for k, v in options.items())}){label}",
        lambda sp, x, y, q: getattr(sp.interpolate, name)(x, y, **options)(q),
        (_x, y, at),
    )


def _of(name: str, use: Any, *arrays: Any, label: str) -> Case:
    return Case(
        f"interpolate.{name} {label}",
        lambda sp, *args: use(getattr(sp.interpolate, name), *args),
        arrays,
    )


_spline = np.array([0.0, 0, 0, 0, 1, 2, 3, 3, 3, 3])
_coefficients = _rng.normal(size=6)
_points = _rng.normal(size=(7, 2))
_grid = np.array([0.0, 1.0, 2.5]), np.array([-1.0, 0.5, 1.0, 2.0])

CASES = [
    *[
        _curve(name, y, at, label, axis=axis, **seed)
        for name, seed in (
            ("BarycentricInterpolator", {"random_state": 0}),
            ("KroghInterpolator", {}),
        )
        for y, at, axis, label in (
            (_y, _q, 0, ""),
            (_y, _x[1:4] + 0, 0, " at nodes"),
            (_columns.T, _q[:4].reshape(2, 2), 1, " of columns"),
        )
    ],
    *[
        Case(
            f"interpolate.{name} der={der}",
            lambda sp, x, y, q, name=name, der=der, seed=seed: getattr(sp.interpolate, name)(
                x, y, q, der=der, **seed
            ),
            (_x, _columns, _inside),
        )
        for name, seed in (
            ("krogh_interpolate", {}),
            *[("barycentric_interpolate", {"rng": 0}) for _ in range(IS_RECENT)],
        )
        for der in (0, 2)
    ],
    # Coefficients with as many rows as columns: the axis must not be mistaken.
    *[
        _of(
            "BSpline",
            lambda make, c, q, axis=axis, nu=nu: make(_spline, c, 3, axis=axis)(q, nu),
            _rng.normal(size=(6, 6)),
            _inside * 0.7,
            label=f"axis={axis} nu={nu}",
        )
        for axis in (0, 1, -1)
        for nu in (0, 1)
    ],
    *[
        _of(
            "BSpline",
            lambda make, c, q, e=e: (
                make(_spline, c, 3, e).integrate(q[0], q[1]),
                make(_spline, c, 3, e).antiderivative(2)(q),
            ),
            _coefficients,
            np.array([0.3, 2.4]),
            label=f"integrals, extrapolate={e}",
        )
        for e in (True, False)
    ],
    _of(
        "BSpline",
        lambda make, q: make(_spline, _coefficients, 3).integrate(q[0], q[1]),
        np.array([-0.3, 2.4]),
        label="plain, its integral",
    ),
    _of(
        "RBFInterpolator",
        lambda make, y, d, q: make(y, d, kernel="gaussian", epsilon=2.0, degree=-1)(q),
        _rng.normal(size=(5, 2)),
        _rng.normal(size=5),
        _rng.normal(size=(3, 2)),
        label="without polynomials",
    ),
    *[
        _curve("CubicSpline", _y, bc_type=bc)
        for bc in ("not-a-knot", "natural", "clamped", ((1, 0.5), (2, -0.3)))
    ],
    Case(
        "interpolate.CubicSpline periodic",
        lambda sp, x, y, q: sp.interpolate.CubicSpline(
            x, np.concatenate((y, y[:1])), bc_type="periodic"
        )(q),
        (_x, _y[:5], _q * 2),
    ),
    _curve("CubicSpline", _columns),
    _curve("CubicSpline", _columns.T, axis=1),
    Case(
        "interpolate.CubicSpline of three points",
        lambda sp, x, y, q: sp.interpolate.CubicSpline(x, y)(q),
        (_x[:3], _y[:3], _q),
    ),
    *[
        _of(
            "CubicSpline",
            lambda c, y, q, bc=bc: c(_x, y, bc_type=bc)(q),
            _columns,
            _q,
            label=f"on constant nodes, {bc}",
        )
        for bc in ("not-a-knot", "natural", "clamped")
    ],
    _curve("PchipInterpolator", _y),
    _curve("PchipInterpolator", np.cumsum(np.abs(_columns), axis=0), label=" rising"),
    _curve("Akima1DInterpolator", _y, at=_inside),
    _curve("Akima1DInterpolator", _y, at=_inside, method="makima"),
    _of(
        "CubicHermiteSpline",
        lambda c, x, y, d, q: c(x, y, d)(q),
        _x,
        _y,
        _rng.normal(size=6),
        _q,
        label="by slopes",
    ),
    _of("CubicSpline", lambda c, y, q: c(_x, y)(q, 1), _y, _inside, label="slope"),
    _of(
        "CubicSpline", lambda c, y, q: c(_x, y).derivative(2)(q), _y, _q, label="second derivative"
    ),
    _of(
        "CubicSpline", lambda c, y, q: c(_x, y).antiderivative()(q), _y, _q, label="antiderivative"
    ),
    _of(
        "CubicSpline",
        lambda c, x, y, a, b: c(x, y).integrate(a, b),
        _x,
        _y,
        np.array(0.4),
        np.array(3.3),
        label="integral",
    ),
    _of("CubicSpline", lambda c, q: c(_x, _y)(q), _q, label="constant, at tensors"),
    _of(
        "PPoly",
        lambda c, k, x, q: c(k, x)(q),
        _rng.normal(size=(3, 5)),
        _x,
        _q,
        label="by coefficients",
    ),
    _of(
        "BSpline",
        lambda c, t, k, q: c(t, k, 3)(q),
        np.array([-0.9, -0.5, -0.2, 0.0, 1.0, 2.0, 3.0, 3.3, 3.6, 4.0]),
        _coefficients,
        np.array([-0.2, 0.5, 1.5, 2.9]),
        label="",
    ),
    _of(
        "BSpline",
        lambda c, k, q: c(_spline, k, 3)(q, 1),
        _coefficients,
        np.array([0.5, 1.5, 2.9]),
        label="slope",
    ),
    _of(
        "BSpline",
        lambda c, k: c(_spline, k, 3).integrate(0.3, 2.2),
        _coefficients,
        label="integral",
    ),
    *[_curve("make_interp_spline", _y, k=k) for k in (1, 2, 3, 5)],
    _curve("make_interp_spline", _columns),
    _of("make_interp_spline", lambda c, y: c(_x, y, k=0)(_inside), _y, label="steps"),
    *[
        _of(
            "RectBivariateSpline",
            lambda c, x, y, z, q, p, g=grid, d=dx: c(x, y, z, kx=2)(q, p, dx=d, dy=1, grid=g),
            _x,
            _x[:4] + 0,
            _rng.normal(size=(6, 4)),
            np.array([0.35, 1.6, 4.0]),
            np.array([0.1, 0.4, 1.7]),
            label=f"grid={grid}, dx={dx}",
        )
        for grid in (True, False)
        for dx in (0, 1)
    ],
    _of(
        "RectBivariateSpline",
        lambda c, z, q: (s := c(_x, _x, z)).ev(q, q[::-1]) + s(q, [2.0])[:, 0],
        _rng.normal(size=(6, 6)),
        _q,
        label="beyond the range",
    ),
    _of(
        "make_lsq_spline",
        lambda c, x, y, w, q: c(x, y, [0, 0, 0, 2, 4.2, 4.2, 4.2], k=2, w=w)(q),
        np.linspace(0.1, 4.1, 7),
        _rng.normal(size=7),
        _rng.uniform(0.5, 1, size=7),
        _inside,
        label="",
    ),
    _of(
        "make_smoothing_spline",
        lambda c, x, y, w, lam, q: c(x, y, w=w, lam=lam)(q),
        _x,
        _y,
        _rng.uniform(0.5, 1.5, size=6),
        np.array(0.2),
        _inside,
        label="",
    ),
    *(
        [
            _of(
                "make_smoothing_spline",
                lambda c, y: c(_x, y, lam=0.1)(_inside),
                _columns,
                label="of columns",
            )
        ]
        if "axis" in inspect.signature(scipy.interpolate.make_smoothing_spline).parameters
        else []
    ),
    _curve("interp1d", _y, at=_inside),
    *[_curve("interp1d", _y, at=_inside, kind=kind) for kind in ("cubic", "quadratic")],
    *[
        _of("interp1d", lambda c, y, k=kind: c(_x, y, kind=k)(_inside), _y, label=kind)
        for kind in ("nearest", "previous", "next")
    ],
    _curve("interp1d", _columns.T, fill_value="extrapolate"),
    _of(
        "interp1d",
        lambda c, y: c(_x, y, bounds_error=False, fill_value=(1.0, 2.0))(_q),
        _y,
        label="filled",
    ),
    _of(
        "RegularGridInterpolator",
        lambda c, a, b, v, q: c((a, b), v)(q),
        *_grid,
        _rng.normal(size=(3, 4)),
        np.array([[0.3, 0.2], [1.7, 1.4], [2.4, -0.9]]),
        label="linear",
    ),
    _of(
        "RegularGridInterpolator",
        lambda c, v: c(_grid, v, method="nearest")(np.array([[0.3, 0.2], [1.7, 1.4]])),
        _rng.normal(size=(3, 4, 2)),
        label="nearest",
    ),
    _of(
        "interpn",
        lambda c, a, b, v, q: c((a, b), v, q),
        *_grid,
        _rng.normal(size=(3, 4)),
        np.array([[0.3, 0.2], [1.7, 1.4], [2.4, -0.9]]),
        label="linear",
    ),
    *[
        _of(
            "RBFInterpolator",
            lambda c, y, d, q, k=kernel: c(y, d, kernel=k, epsilon=1.1, smoothing=0.1)(q),
            _points,
            _rng.normal(size=7),
            _rng.normal(size=(3, 2)),
            label=kernel,
        )
        for kernel in (
            "linear",
            "thin_plate_spline",
            "cubic",
            "quintic",
            "multiquadric",
            "inverse_multiquadric",
            "inverse_quadratic",
            "gaussian",
        )
    ],
]

# Scattered points, and FITPACK's names.
_scattered = _rng.normal(size=(9, 2))
_within = _scattered[[[0, 1, 2], [3, 4, 5], [6, 7, 8]]].mean(axis=1) + 0.01
CASES += [
    _of(
        "griddata",
        lambda make, points, values, at: make(points, values, at),
        _scattered,
        _rng.normal(size=(9, 2)),
        _within,
        label="linear",
    ),
    _of(
        "griddata",
        lambda make, values: make(_scattered, values, _within, method="nearest"),
        _rng.normal(size=9),
        label="nearest",
    ),
    Case(
        "interpolate.griddata in one dimension",
        lambda sp, values, at: sp.interpolate.griddata(_x[::-1], values, at, fill_value=1.5),
        (_y, _q),
    ),
    _of(
        "LinearNDInterpolator",
        lambda make, x, y: make(_scattered, np.arange(9.0))(x, y),
        _within[:, 0],
        _within[:, 1],
        label="at tensors",
    ),
    _of(
        "NearestNDInterpolator",
        lambda make, values: make(_scattered, values)(_within),
        _rng.normal(size=9),
        label="of tensors",
    ),
    *[
        Case(
            f"interpolate.splev of splrep, k={k}, ext={ext}",
            lambda sp, x, y, q, k=k, ext=ext: tuple(
                sp.interpolate.splev(q, sp.interpolate.splrep(x, y, k=k), der, ext)
                for der in (0, 1)
            ),
            (_x, _y, _q + 0.013),
            batch=False,
            rtol=1e-8,
        )
        for k, ext in ((1, 0), (2, 1), (3, 3), (5, 0))
    ],
    Case(
        "interpolate.splint, splder, splantider",
        lambda sp, y, ends: (
            lambda tck: (
                sp.interpolate.splint(ends[0], ends[1], tck),
                sp.interpolate.splev(1.3, sp.interpolate.splder(tck)),
                sp.interpolate.splev(1.3, sp.interpolate.splantider(tck)),
            )
        )(sp.interpolate.splrep(_x, y)),
        (_y, np.array([-1.0, 2.5])),
        rtol=1e-8,
    ),
    _of(
        "InterpolatedUnivariateSpline",
        lambda make, y, q: (make(_x, y, k=2)(q), make(_x, y).integral(0.3, 2.0)),
        _y,
        _q,
        label="of tensors",
    ),
    _of(
        "InterpolatedUnivariateSpline",
        lambda make, q: make(_x, _y, ext="zeros")(q),
        _q,
        label="at tensors",
    ),
    _of("UnivariateSpline", lambda make, q: make(_x, _y, s=0.5)(q), _q, label="at tensors"),
]

# One point, and more derivatives than a polynomial has.
CASES += [
    _of(
        "RegularGridInterpolator",
        lambda make, v, q: make(_grid, v)(q),
        _rng.normal(size=(3, 4, 2)),
        np.array([0.6, 0.2]),
        label="at one point",
    ),
    Case(
        "interpolate.PPoly, all derivatives",
        lambda sp, c, q: sp.interpolate.PPoly(c, [0.0, 1.0, 2.0])(q, np.array([2])[0]) + q[:, None],
        (_rng.normal(size=(2, 2, 3)), np.array([0.3, 1.2])),
        second=False,
    ),
    *[
        Case(
            f"interpolate.{name} rescaled",
            lambda sp, p, v, q, name=name: (
                getattr(sp.interpolate, name)(p * np.array([1.0, 50.0]), v, rescale=True)(
                    q * np.array([1.0, 50.0])
                )
                + 0 * p.sum()
                + 0 * q.sum()
            ),
            (_rng.normal(size=(9, 2)), _rng.normal(size=9), 0.3 * _rng.normal(size=(3, 2))),
        )
        for name in ("LinearNDInterpolator", "NearestNDInterpolator")
    ],
]

CASES += [
    Case(
        f"interpolate.RBFInterpolator {kernel}, neighbors",
        lambda sp, y, d, q, kernel=kernel: sp.interpolate.RBFInterpolator(
            y, d, neighbors=6, kernel=kernel, smoothing=np.linspace(0, 1, 9), epsilon=1.2
        )(q),
        (_rng.normal(size=(9, 2)), _rng.normal(size=9), 0.5 * _rng.normal(size=(3, 2))),
        rtol=1e-8,
        tolerance=1e-5,
    )
    for kernel in ("thin_plate_spline", "gaussian")
]

# By default, SciPy solves for the coefficients of a grid by iteration, with a few correct digits.
_wide_grid = np.array([0.0, 1.0, 2.5, 3.1, 4.0, 5.2]), np.array([-1.0, 0.5, 1.0, 2.0, 2.2, 3.7])
_two = np.array([[0.3, 0.2], [1.7, 1.4], [4.4, 3.1]])
CASES += [
    *[
        _of(
            "RegularGridInterpolator",
            lambda c, a, b, v, q, o=options, m=method: c((a, b), v, m, **o)(q),
            *_wide_grid,
            _rng.normal(size=(6, 6)),
            _two,
            label=method,
        )
        for method, options in (
            ("pchip", {}),
            *[(m, {"solver": spsolve}) for m in ("slinear", "cubic", "quintic") * IS_RECENT],
        )
    ],
    _of(
        "interpn",
        lambda c, v, q: c(_wide_grid, v, q, "splinef2d"),
        _rng.normal(size=(6, 6)),
        _two,
        label="splinef2d",
    ),
    *[
        _of(
            "RegularGridInterpolator",
            lambda c, v, q: c(_wide_grid, v, "cubic", False, None, solver=spsolve)(q, nu=(1, 2)),
            _rng.normal(size=(6, 6, 2)),
            _two + 2,
            label="derivatives beyond the grid",
        )
        for _ in range(IS_RECENT)
    ],
]
