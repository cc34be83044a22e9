"""Sums, means, variances and centers of mass of an image, or of the parts that labels name.

All are SciPy's own code, which makes them of counts and sums. Labels and their index are constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import AnyFunction
from ...ops import conj, ravel, reshape, stack, take
from ..sparse.arrays import scattered
from ..twins import double, twin, with_ours
from .filters import SCIPY, image_of

__all__ = ["center_of_mass", "mean", "standard_deviation", "sum", "sum_labels", "variance"]


def _stats(input: Any, labels: Any = None, index: Any = None, centered: bool = False) -> Any:
    """How many elements each part has, their sum and, if asked for, that of squared differences."""
    image = image_of(input) if np.ndim(index) == 0 or labels is None else double(image_of(input))
    if labels is None:
        labels, index = np.ones((), int), 1
    elif index is None:
        labels, index = np.asarray(labels) > 0, True
    labels = np.ravel(np.broadcast_to(np.asarray(labels), image.shape))
    names, wanted = np.unique(np.asarray(index), return_inverse=True)
    places = np.minimum(np.searchsorted(names, labels), len(names) - 1)
    places = np.where(names[places] == labels, places, len(names))  # the last is for all others
    counts = np.bincount(places, minlength=len(names) + 1)

    def in_all(x: Any) -> Any:
        return scattered(ravel(x), places, len(names) + 1)

    def in_wanted(sums: Any) -> Any:
        return reshape(take(sums, np.ravel(wanted), axis=0), np.shape(index))

    sums = in_all(image)
    found = np.reshape(counts[np.ravel(wanted)], np.shape(index)), in_wanted(sums)
    if not centered:
        return found
    apart = ravel(image) - take(sums / np.maximum(counts, 1), places, axis=0)
    return *found, in_wanted(in_all(apart * conj(apart)))


def _of_parts(name: str, **ours: Any) -> AnyFunction:
    run = with_ours(getattr(SCIPY, name), _stats=_stats, **ours)
    run.__doc__ = f"`scipy.ndimage.{name}`, with derivatives by the image."
    return twin(getattr(SCIPY, name))(run)


mean, variance, sum_labels = map(_of_parts, ("mean", "variance", "sum_labels"))
standard_deviation = _of_parts("standard_deviation", variance=variance)
sum = _of_parts("sum", sum_labels=sum_labels)


@twin(SCIPY.center_of_mass)
def center_of_mass(input: Any, labels: Any, index: Any) -> Any:
    """The center of mass of an image or of its parts, with derivatives by the image."""
    image = image_of(input)
    total = sum_labels(image, labels, index)
    grids = np.meshgrid(*map(np.arange, image.shape), indexing="ij")
    centers = [sum_labels(image * grid.astype(float), labels, index) / total for grid in grids]
    if not total.ndim:
        return tuple(centers)
    return [tuple(center) for center in stack(centers, axis=-1)]
