"""Cases of `scipy.ndimage`."""

from __future__ import annotations

from typing import Any

import numpy as np
from crossing import IS_RECENT, Case

_rng = np.random.default_rng(17)
_MODES = ("reflect", "constant", "nearest", "mirror", "wrap")


def _any(*shape: int) -> Any:
    return _rng.normal(size=shape)


def _case(name: str, *arrays: Any, label: str = "", flags: Any = None, **keywords: Any) -> Case:
    options = ", ".join(f"{k}={v}" for k, v in keywords.items())
    return Case(
        f"ndimage.{name}({options}){label}",
        lambda sp, *args: getattr(sp.ndimage, name)(*args, **keywords),
        arrays,
        **(flags or {}),
    )


CASES = [
    *[_case("convolve", _any(5, 4), _any(3, 2), mode=mode, cval=0.5) for mode in _MODES],
    _case("correlate", _any(5, 4), _any(3, 2), origin=(1, -1)),
    _case("convolve", _any(5, 4), _any(4, 2), origin=(-1, 0)),
    _case("correlate1d", _any(5, 4), _any(4), axis=0, mode="wrap"),
    _case("convolve1d", _any(5), _any(2), origin=-1),
    *[
        _case(name, _any(5, 3), _any(*shape) + 1j * _any(*shape), label=" complex weights")
        for name, shape in (("correlate", (3, 2)), ("convolve", (3, 2)), ("correlate1d", (3,)))
    ],
    *[
        _case("gaussian_filter1d", _any(8), np.array(0.9), order=order, flags={"rtol": 1e-9})
        for order in (0, 1, 2)
    ],
    Case(
        "ndimage.gaussian_filter",
        lambda sp, x: sp.ndimage.gaussian_filter(x, (0.8, 1.2), order=(0, 1), mode="nearest"),
        (_any(6, 5),),
    ),
    _case("gaussian_laplace", _any(6, 5), sigma=0.7),
    _case("gaussian_gradient_magnitude", _any(6, 5), sigma=0.7),
    # In the corners, the slope is exactly zero.
    _case("gaussian_gradient_magnitude", _any(4, 5), sigma=0.7, mode="mirror"),
    _case("uniform_filter", _any(6, 5), size=3),
    _case("uniform_filter1d", _any(6), size=4, mode="mirror"),
    _case("sobel", _any(5, 4), axis=0),
    _case("prewitt", _any(5, 4), mode="constant", cval=1.0),
    _case("laplace", _any(5, 4)),
    *[_case("spline_filter", _any(6, 5), mode=mode) for mode in ("mirror", "reflect", "grid-wrap")],
    _case("spline_filter1d", _any(6), order=2, axis=0),
    _case("spline_filter1d", _any(5), order=5, mode="reflect"),
]

_inside = _rng.uniform(0.6, 3.3, size=(2, 4)) + 0.01
_outside = np.array([[-1.3, 0.4, 5.2, 2.2], [0.3, 5.7, -2.4, 1.1]])
CASES += [
    *[_case("map_coordinates", _any(5, 5), _inside, order=order) for order in (1, 2, 3)],
    Case(
        "ndimage.map_coordinates(order=0)",
        lambda sp, x: sp.ndimage.map_coordinates(x, _inside, order=0),
        (_any(5, 5),),
    ),
    *[
        _case("map_coordinates", _any(5, 5), _outside, order=order, mode=mode, cval=0.4)
        for order in (1, 3)
        for mode in (*_MODES, "grid-wrap", "grid-constant")
        if (order, mode) not in ((1, "constant"), (3, "constant"))
    ],
    *[
        _case("map_coordinates", _any(5, 5), _outside, order=3, prefilter=False, mode=mode)
        for mode in ("mirror", "nearest")
    ],
    *[
        Case(
            f"ndimage.map_coordinates(order={order}) with a constant outside",
            lambda sp, x, order=order: sp.ndimage.map_coordinates(
                x, _outside, order=order, cval=0.4
            ),
            (_any(5, 5),),
        )
        for order in (1, 3)
    ],
    _case(
        "affine_transform",
        _any(4, 5),
        np.array([[0.81, 0.29], [-0.23, 0.93]]),
        np.array([0.31, 0.27]),
    ),
    _case("affine_transform", _any(4, 5), np.array([0.7, 1.1]), np.array([0.33, 0.2]), order=1),
    _case("shift", _any(4, 5), np.array([0.3, -0.6])),
    _case("shift", _any(4, 5), np.array([0.3, -0.6]), order=1, mode="wrap"),
    _case("zoom", _any(4, 5), zoom=1.7),
    _case("zoom", _any(4, 5), zoom=(0.6, 2.0), order=1, mode="nearest"),
    _case("rotate", _any(4, 5), np.array(25.0), reshape=False),
    Case(
        "ndimage.rotate, another shape",
        lambda sp, x: sp.ndimage.rotate(x, 25.0, mode="mirror"),
        (_any(4, 5),),
    ),
]

# Values for single axes belong to the axes in the order in which these are given.
CASES += [
    _case("gaussian_filter", _any(4, 5), sigma=0.8, axes=(1, 0), mode=["nearest", "wrap"]),
    _case("uniform_filter", _any(4, 5, 3), size=[2, 3], axes=(2, 0), mode=["mirror", "constant"]),
    _case("gaussian_laplace", _any(4, 5), sigma=[0.7, 0.9], mode=["nearest", "wrap"]),
    _case("gaussian_gradient_magnitude", _any(4, 5), sigma=0.7, mode=["nearest", "wrap"]),
]
if IS_RECENT:  # older versions have no axes here
    CASES += [
        _case("laplace", _any(4, 5), axes=(1, 0), mode=["nearest", "wrap"]),
        _case("correlate", _any(4, 5, 3), _any(3, 2), axes=(2, 0), origin=[-1, 1]),
        _case("convolve", _any(4, 5, 3), _any(3, 2), axes=(2, 0), origin=[0, 1]),
        _case("convolve", _any(4, 5), _any(4, 3), axes=(1, 0), origin=[1, 0]),
        _case("gaussian_laplace", _any(4, 5, 2), sigma=[0.7, 0.9], axes=(1, 0)),
        _case("gaussian_gradient_magnitude", _any(4, 5), sigma=0.7, axes=1, mode="wrap"),
    ]
_near = np.array([[-0.3, 0.4, 0.2], [0.3, 1.4, 2.2]])
CASES += [
    *[_case("map_coordinates", _any(1, 4), _near, order=n, mode="grid-constant") for n in (1, 4)],
    *[
        _case("map_coordinates", _any(5, 5), _outside, order=order, mode=mode, cval=0.4)
        for order in (4, 5)
        for mode in ("reflect", "nearest", "mirror", "grid-wrap", "grid-constant")
    ],
]

CASES += [
    *[_case("median_filter", _any(4, 5), size=(3, 2), mode=m, cval=0.1) for m in _MODES],
    *[_case(f"grey_{kind}", _any(4, 5), size=3) for kind in ("dilation", "opening", "closing")],
    _case("grey_erosion", _any(6), footprint=np.array([True, False, True]), origin=1),
    *[_case(f"{kind}imum_filter", _any(4, 5), size=2, axes=(1,)) for kind in ("max", "min")],
    *[_case(f"{kind}imum_filter1d", _any(4, 5), size=3, axis=0) for kind in ("max", "min")],
    _case("percentile_filter", _any(7), percentile=30, size=4),
    _case("rank_filter", _any(7), rank=-2, size=4),
]

_labels = np.array([[0, 1, 1, 3, 3], [2, 2, 1, 0, 3], [2, 2, 2, 1, 1]])
CASES += [
    _case(name, _any(3, 5), label=f" {label}", labels=labels, index=index)
    for name in ("center_of_mass", "mean", "standard_deviation", "sum", "sum_labels", "variance")
    for label, labels, index in (
        ("of all", None, None),
        ("of what has labels", _labels, None),
        ("of one part", _labels, 3),
        ("of parts", _labels, [2, 3, 1, 2]),
    )
]
CASES += [_case("sum", _any(3, 5), label=" of a row", labels=_labels[0], index=[[1, 3], [9, 0]])]
