"""Sample inputs of quantiles: by all methods, with weights, and of what is not NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
from samples import row

for _method in ("hazen", "midpoint", "averaged_inverted_cdf", "closest_observation"):
    row(
        "quantile",
        lambda d: d.distinct(3, 5),
        lambda xp, x, m=_method: xp.quantile(x, 0.3, axis=1, method=m),
        _method,
        torch=False,
        half=False,
    )
row(
    "quantile",
    lambda d: (d.distinct(5), np.array([1.0, 3.0, 1.0, 2.0, 1.0])),
    lambda xp, x, w: xp.quantile(x, 0.6, method="inverted_cdf", weights=w),
    "weights",
    torch=False,
    half=False,
    batch=False,
)

_axes: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((5,), {}),
    ((3, 4), {"axis": -1, "keepdims": True}),
    ((2, 3, 4), {"axis": (2, 0)}),
]
for _name, _q in (("nanquantile", 0.4), ("nanpercentile", 40.0)):
    for _shape, _keywords in _axes:
        row(
            _name,
            lambda d, s=_shape: (d.distinct(*s), np.arange(np.prod(s)).reshape(s) % 3 != 1),
            lambda xp, x, mask, n=_name, q=_q, k=_keywords: getattr(xp, n)(
                xp.where(mask, x, np.nan), q, **k
            ),
            f"{_shape},{_keywords}",
            torch=False,
            half=False,
        )
