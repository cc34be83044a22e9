"""Filters that choose an element of a window by its rank: maxima, medians, erosions, openings.

Each element of the result is an element of the image. Which one it is, SciPy's filter says for the
ranks of the elements in the place of the elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import AnyFunction
from ...core.kinds import Opaque
from ...ops import concat, ravel, reshape, take
from ...ops.define.library import constant
from ..twins import by_scipy, in_precision_of, refuse, twin
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


def _places_of(x: Any, *, name: str, options: Any) -> Any:
    """The places of the elements that a filter chooses; the last place is that of `cval`."""
    given = dict(options)
    order = np.argsort(np.append(np.ravel(x), given["cval"]), kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(len(order))
    given["cval"] = ranks[-1]
    found = getattr(SCIPY, name)(ranks[:-1].reshape(x.shape), **given)
    return order[found.astype(int)]


_places = constant("scipy.ndimage.places", "x", kind=Opaque(), compute=by_scipy(_places_of))


def _by_rank(name: str) -> AnyFunction:
    def filtered(input: Any, **options: Any) -> Any:
        refuse(name, **{k: (options.pop(k, None), None) for k in ("output", "structure")})
        image = image_of(input)
        places = _places(image, name=name, options=tuple(options.items()))
        elements = concat((ravel(image), np.asarray([options["cval"]], float)))
        return in_precision_of(reshape(take(elements, ravel(places), axis=0), image.shape), image)

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
