"""Filters that choose an element of a window by its rank: maxima, medians, erosions, openings.

Each element of the result is an element of the image.
"""

from __future__ import annotations

from typing import Any

from ...core.array import AnyFunction
from ..signal.smoothing import by_rank
from ..twins import refuse, twin
from .filters import SCIPY, image_of

__all__ = [
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "percentile_filter",
    "rank_filter",
]


def _by_rank(name: str) -> AnyFunction:
    def filtered(input: Any, **options: Any) -> Any:
        refuse(name, **{k: (options.pop(k, None), None) for k in ("output", "structure")})
        image = image_of(input)
        return by_rank(getattr(SCIPY, name), image, options.pop("cval"), **options)

    filtered.__doc__ = f"`scipy.ndimage.{name}`, with derivatives by the image."
    return twin(getattr(SCIPY, name))(filtered)


maximum_filter = _by_rank("maximum_filter")
maximum_filter1d = _by_rank("maximum_filter1d")
minimum_filter = _by_rank("minimum_filter")
minimum_filter1d = _by_rank("minimum_filter1d")
median_filter = _by_rank("median_filter")
percentile_filter = _by_rank("percentile_filter")
rank_filter = _by_rank("rank_filter")
grey_closing = _by_rank("grey_closing")
grey_dilation = _by_rank("grey_dilation")
grey_erosion = _by_rank("grey_erosion")
grey_opening = _by_rank("grey_opening")
