"""Sample inputs of searching, arranging, numerics and statistics: the standard's and NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from samples import row

# --- searching: no derivative, except that of values ---------------------------------------------

_sparse = np.array([[0.0, 2.0, 0.0], [1.5, 0.0, -1.0]])
row("nonzero", lambda d: _sparse.copy(), differentiable=False, batch=False)
row(
    "searchsorted",
    lambda d: (np.sort(d.distinct(5)), d.any(2, 3)),
    differentiable=False,
)
row(
    "searchsorted",
    lambda d: (np.array([1.0, 2.0, 2.0, 3.0]), np.array([2.0, 3.0, 0.0, np.nan])),
    label="right",
    keywords={"side": "right"},
    differentiable=False,
)
row(
    "searchsorted",
    lambda d: (np.array([1.0, 2.0, 2.0, 3.0]), np.array([2.0, 3.0, 0.0, np.nan])),
    label="equal elements",
    differentiable=False,
    variant="equal elements",
)
row(
    "searchsorted",
    lambda d: (d.distinct(5), np.array([0.1, 0.7])),
    lambda xp, x, y: xp.searchsorted(x, y, sorter=xp.argsort(x)),
    "sorter",
    differentiable=False,
    torch=False,
)
row(
    "isin",
    lambda d: (d.integers(2, 3), d.integers(2, 2)),
    differentiable=False,
    torch=False,
)
row(
    "isin",
    lambda d: (d.integers(4), d.integers(3)),
    keywords={"invert": True},
    differentiable=False,
    torch=False,
)
for _name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    row(_name, lambda d: d.distinct(2, 3), batch=False, torch=False)
    row(
        _name,
        lambda d: d.integers(9),
        label="integers",
        differentiable=False,
        batch=False,
        torch=False,
    )
row("unique_values", lambda d: d.distinct(), label="0-d", batch=False, torch=False)
row(
    "digitize",
    lambda d: (d.any(2, 3), np.array([-1.0, 0.0, 1.0])),
    differentiable=False,
    batch=False,
    torch=False,
)
row(
    "digitize",
    lambda d: (d.any(4), np.array([1.0, 0.0, -1.0])),
    label="falling",
    differentiable=False,
    batch=False,
    torch=False,
)
row("bincount", lambda d: d.integers(6), differentiable=False, batch=False, torch=False)
row(
    "bincount",
    lambda d: (d.integers(6), d.any(6)),
    lambda xp, x, w: xp.bincount(x, w, minlength=7),
    "weights",
    reference=lambda x, w: np.bincount(x, w, minlength=7).astype(w.dtype),
    batch=False,
    torch=False,
)
row(
    "bincount",
    lambda d: (d.integers(6), d.any(6)),
    lambda xp, x, w: xp.bincount(x, w, length=2),
    "length",
    reference=lambda x, w: np.bincount(x, w, minlength=2)[:2].astype(w.dtype),
    torch=False,
)
row(
    "segment_sum",
    lambda d: (d.any(5, 2), np.array([0, 2, 3, 0, -1])),
    lambda xp, x, i: xp.segment_sum(x, i, 3),
    reference=lambda x, i: np.stack([x[i == k].sum(0) for k in range(3)]),
    torch=False,
)
row("histogram", lambda d: d.any(9), differentiable=False, batch=False, torch=False)
row(
    "histogram",
    lambda d: d.any(3, 4),
    keywords={"bins": 4, "range": (-1.0, 1.0), "density": True},
    differentiable=False,
    batch=False,
    torch=False,
)

# --- arranging -----------------------------------------------------------------------------------

row("meshgrid", lambda d: (d.any(2), d.any(3)), complex=True, torch=False)
row("meshgrid", lambda d: (d.any(2), d.any(3), d.any(2)), keywords={"indexing": "ij"}, torch=False)
row("meshgrid", lambda d: (d.any(2), d.any(3), d.any(1)), label="three", torch=False)
row("meshgrid", lambda d: (d.any(2),), label="one", torch=False)
for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    for _shape in ((), (3,), (2, 3), (2, 1, 3)):
        row(_name, lambda d, s=_shape: d.any(*s), label=f"shape={_shape}", torch=False)
    row(_name, lambda d: (d.any(), d.any(2)), label="two", torch=False)
for _name in ("hstack", "vstack", "dstack", "column_stack"):
    for _shapes in (((3,), (3,)), ((2, 3), (2, 3)), ((), ())):
        row(
            _name,
            lambda d, shapes=_shapes: tuple(d.any(*s) for s in shapes),
            lambda xp, *a, n=_name: getattr(xp, n)(a),
            f"{_shapes}",
            torch=False,
        )
for _name in ("split", "array_split"):
    row(
        _name,
        lambda d: d.any(6, 2),
        lambda xp, x, n=_name: getattr(xp, n)(x, 3),
        "three",
        torch=False,
    )
    row(
        _name,
        lambda d: d.any(2, 5),
        lambda xp, x, n=_name: getattr(xp, n)(x, [1, 3], axis=1),
        "at",
        torch=False,
    )
row("array_split", lambda d: d.any(5), lambda xp, x: xp.array_split(x, 3), "unequal", torch=False)
for _k in (0, 1, 2, 3, -1):
    row("rot90", lambda d: d.any(2, 3), keywords={"k": _k}, torch=False)
row("rot90", lambda d: d.any(2, 3, 2), keywords={"axes": (1, 2)}, torch=False)
for _shape, _keywords in (
    ((3, 3), {}),
    ((2, 3), {"offset": 1}),
    ((3, 2), {"offset": -1}),
    ((2, 3, 4), {"axis1": 2, "axis2": 0}),
):
    row("diagonal", lambda d, s=_shape: d.any(*s), keywords=_keywords, complex=True, torch=False)
    row("trace", lambda d, s=_shape: d.any(*s), keywords=_keywords, complex=True, torch=False)
for _k in (0, 1, -2):
    row("diag", lambda d: d.any(3), label=f"vector, k={_k}", keywords={"k": _k}, torch=False)
    row("diag", lambda d: d.any(3, 4), label=f"matrix, k={_k}", keywords={"k": _k}, torch=False)
for _mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
    row(
        "pad",
        lambda d: d.any(4),
        keywords={"pad_width": (2, 1), "mode": _mode},
        complex=True,
        torch=False,
    )
    row(
        "pad",
        lambda d: d.any(2, 3),
        keywords={"pad_width": ((1, 0), (2, 5)), "mode": _mode},
        torch=False,
    )
row("pad", lambda d: d.any(2, 3), keywords={"pad_width": 1, "constant_values": 2.5}, torch=False)
row(
    "pad",
    lambda d: d.any(2, 3),
    keywords={"pad_width": 1, "constant_values": ((1.0, 2.0), (3.0, 4.0))},
    torch=False,
)

# --- differences, integrals, interpolation, convolution, products --------------------------------

row("diff", lambda d: d.any(4), complex=True)
row("diff", lambda d: d.any(2, 4), keywords={"axis": 0})
row("diff", lambda d: d.any(2, 4), keywords={"n": 2})
row("diff", lambda d: d.any(2, 4), keywords={"n": 0})
row(
    "diff",
    lambda d: (d.any(2, 4), d.any(2, 1), d.any(2, 2)),
    lambda xp, x, a, b: xp.diff(x, prepend=a, append=b),
    "joined",
)
row("diff", lambda d: d.booleans(4), label="booleans", differentiable=False, torch=False)
row("trapezoid", lambda d: d.any(2, 4), complex=True, torch=False)
row("trapezoid", lambda d: d.any(4, 2), keywords={"dx": 0.5, "axis": 0}, torch=False)
row("trapezoid", lambda d: (d.any(2, 4), d.distinct(4)), label="x", torch=False)
row("trapezoid", lambda d: (d.any(2, 4), d.distinct(2, 4)), label="x, two axes", torch=False)
row("gradient", lambda d: d.any(5), torch=False)
row("gradient", lambda d: d.any(3, 4), label="two axes", torch=False)
row(
    "gradient",
    lambda d: d.any(3, 4),
    lambda xp, f: xp.gradient(f, 0.5, axis=1),
    "spacing",
    torch=False,
)
row("gradient", lambda d: d.any(4, 5), keywords={"edge_order": 2}, torch=False)
row(
    "gradient",
    lambda d: (d.any(3, 4), np.array([0.0, 0.5, 2.0, 2.5])),
    lambda xp, f, x: xp.gradient(f, x, axis=1),
    "coordinates",
    torch=False,
)
row(
    "gradient",
    lambda d: (d.any(4), np.array([0.0, 0.5, 2.0, 2.5])),
    lambda xp, f, x: xp.gradient(f, x, edge_order=2),
    "coordinates, order 2",
    torch=False,
)
_points = np.array([-2.0, -0.5, 0.2, 1.0, 2.5])


def _interp(**keywords: Any) -> Any:
    """NumPy's, which always computes in double precision."""
    return lambda x, xp, fp: np.asarray(np.interp(x, xp, fp, **keywords)).astype(fp.dtype)


row("interp", lambda d: (d.any(2, 3), _points.copy(), d.any(5)), reference=_interp(), torch=False)
row(
    "interp",
    lambda d: (d.any(), _points.copy(), d.any(5)),
    label="0-d",
    reference=_interp(),
    torch=False,
)
row(
    "interp",
    lambda d: (3 * d.any(6), _points.copy(), d.any(5)),
    label="outside",
    keywords={"left": -7.0, "right": 7.0},
    reference=_interp(left=-7.0, right=7.0),
    torch=False,
)
row(
    "interp",
    lambda d: (3 * d.any(6), np.array([0.4, 2.1, 1.1]), d.any(3)),
    keywords={"period": 2.5},
    reference=_interp(period=2.5),
    torch=False,
)
for _name in ("convolve", "correlate"):
    for _mode in ("full", "same", "valid"):
        for _n, _m in ((5, 3), (5, 2), (2, 5), (3, 5), (4, 4), (1, 3)):
            row(
                _name,
                lambda d, n=_n, m=_m: (d.any(n), d.any(m)),
                label=f"{_mode} {_n} {_m}",
                keywords={"mode": _mode},
                complex=_n == 5,
                torch=False,
            )
for _a, _b in [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 2)), ((), (2, 2)), ((2, 3), (4, 3, 2))]:
    row(
        "dot",
        lambda d, a=_a, b=_b: (d.any(*a), d.any(*b)),
        label=f"{_a},{_b}",
        complex=True,
        torch=False,
    )
for _a, _b in [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((), (2, 2))]:
    row(
        "inner",
        lambda d, a=_a, b=_b: (d.any(*a), d.any(*b)),
        label=f"{_a},{_b}",
        complex=True,
        torch=False,
    )
row("vdot", lambda d: (d.any(2, 3), d.any(6)), complex=True, torch=False)
for _a, _b in [((2,), (3,)), ((2, 2), (2, 3)), ((2,), (2, 3)), ((2, 1, 2), (2, 2)), ((), (2,))]:
    row(
        "kron",
        lambda d, a=_a, b=_b: (d.any(*a), d.any(*b)),
        label=f"{_a},{_b}",
        complex=True,
        torch=False,
    )

# --- quantiles, and reductions without NaN -------------------------------------------------------

_axes: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((5,), {}),
    ((2, 3), {}),
    ((3, 4), {"axis": 0}),
    ((3, 4), {"axis": -1, "keepdims": True}),
    ((2, 3, 4), {"axis": (0, 2)}),
    ((2, 3, 4), {"axis": (2, 0), "keepdims": True}),
]
for _shape, _keywords in _axes:
    _label = f"{_shape},{_keywords}"
    row("median", lambda d, s=_shape: d.distinct(*s), label=_label, keywords=_keywords, torch=False)
    row(
        "quantile",
        lambda d, s=_shape: d.distinct(*s),
        lambda xp, x, k=_keywords: xp.quantile(x, 0.3, **k),
        _label,
        torch=False,
        half=False,
    )
    row(
        "percentile",
        lambda d, s=_shape: d.distinct(*s),
        lambda xp, x, k=_keywords: xp.percentile(x, 77.0, **k),
        _label,
        torch=False,
        half=False,
    )
row(
    "percentile",
    lambda d: (d.distinct(5), np.array([10.0, 77.0])),
    label="several",
    torch=False,
    half=False,
    batch=False,
)
row(
    "quantile",
    lambda d: (d.distinct(5), np.array([0.1, 0.6])),
    label="derivative in q",
    torch=False,
    half=False,
    batch=False,
)
row("quantile", lambda d: d.distinct(1), lambda xp, x: xp.quantile(x, 0.3), "one", torch=False)


def _kept(shape: tuple[int, ...]) -> Any:
    """Where NaN is not put."""
    return np.arange(np.prod(shape)).reshape(shape) % 3 != 1


_of_order = ("nanmax", "nanmin", "nanmedian")
for _name in ("nansum", "nanmean", "nanprod", "nanvar", "nanstd", *_of_order):
    for _shape, _keywords in _axes:
        row(
            _name,
            lambda d, n=_name, s=_shape: (
                (d.distinct if n in _of_order else d.any)(*s),
                _kept(s),
            ),
            lambda xp, x, mask, n=_name, k=_keywords: getattr(xp, n)(
                xp.where(mask, x, np.nan), **k
            ),
            f"{_shape},{_keywords}",
            complex=_name not in _of_order,
            torch=False,
        )
    row(_name, lambda d: d.integers(5, low=1), label="integers", differentiable=False, torch=False)
for _name in ("nansum", "nanmean", "nanprod", "nanmax", "nanmin"):
    row(_name, lambda d: d.any(), label="0-d", keywords={"axis": -1}, torch=False)
for _name in ("nanvar", "nanstd"):
    row(
        _name,
        lambda d: d.any(6),
        keywords={"correction": 1},
        torch=False,
    )
row("average", lambda d: d.any(2, 3), label="no weights", torch=False)
row(
    "average",
    lambda d: (d.any(2, 3), d.positive(3)),
    lambda xp, x, w: xp.average(x, axis=1, weights=w),
    "axis",
    torch=False,
)
row(
    "average",
    lambda d: (d.any(2, 3), d.positive(2, 3)),
    lambda xp, x, w: xp.average(x, weights=w, keepdims=True),
    "all",
    torch=False,
)


def _cov(**keywords: Any) -> Any:
    """NumPy's, which always computes in double precision."""
    return lambda x: np.cov(x, **keywords).astype(x.dtype)


row("cov", lambda d: d.any(3, 5), reference=_cov(), complex=True, torch=False)
row("cov", lambda d: d.any(5), label="vector", reference=_cov(), torch=False)
row(
    "cov",
    lambda d: d.any(5, 2),
    keywords={"rowvar": False, "correction": 0},
    reference=_cov(rowvar=False, ddof=0),
    torch=False,
)

# --- elementwise ---------------------------------------------------------------------------------

for _shape in ((2, 3), (), (0, 2)):
    row("cbrt", lambda d, s=_shape: d.any(*s), label=f"shape={_shape}", torch=False)
    row("deg2rad", lambda d, s=_shape: d.any(*s), label=f"shape={_shape}", torch=False)
    row("rad2deg", lambda d, s=_shape: d.any(*s), label=f"shape={_shape}", torch=False)
for _name in ("fmax", "fmin"):
    row(_name, lambda d: (d.distinct(2, 3), d.distinct(3) + 0.1), torch=False)
    row(
        _name,
        lambda d: (d.distinct(4), _kept((4,))),
        lambda xp, x, mask, n=_name: getattr(xp, n)(xp.where(mask, x, np.nan), 0.1),
        "NaN",
        torch=False,
    )
row(
    "fmod",
    lambda d: (d.fractional(2, 3) + 0.1, d.integers(3, low=2, high=4) * 1.0),
    torch=False,
)
row("heaviside", lambda d: (d.any(2, 3), d.any(3)), flat=True, torch=False)
row("logaddexp2", lambda d: (d.any(2, 3), d.any(3)), torch=False)
row("nan_to_num", lambda d: d.any(2, 3), torch=False)
row(
    "nan_to_num",
    lambda d: (d.any(3), _kept((3,))),
    lambda xp, x, mask: xp.nan_to_num(xp.where(mask, x, np.nan), nan=2.0),
    "NaN",
    torch=False,
)

# --- masks without axes --------------------------------------------------------------------------

for _mask in (True, False):
    row(
        "__getitem__",
        lambda d: d.any(2, 3),
        lambda xp, x, m=_mask: x[np.asarray(m)],
        f"0-d mask, {_mask}",
        torch=False,
    )
row(
    "__getitem__",
    lambda d: d.any(),
    lambda xp, x: x[np.asarray(True)],
    "0-d, 0-d mask",
    torch=False,
)
