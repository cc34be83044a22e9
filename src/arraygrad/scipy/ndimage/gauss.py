"""Gauss filters and their derivatives, by the image and by the width."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array, plain
from ...ops import equal, exp, flip, sqrt, stack, where
from ...ops import sum as _sum
from ..twins import array_like, twin
from .filters import SCIPY, along_axis, axes_of, for_all_axes, image_of, modes_of, numbers

__all__ = [
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
]


def _gauss_weights(sigma: Any, order: int, truncate: float, radius: Any) -> Any:
    """The weights of a Gauss function or of its derivative, by its width, too."""
    if radius is None:
        reaches = {int(truncate * float(width) + 0.5) for width in np.ravel(plain(sigma))}
        if len(reaches) > 1:
            raise NotImplementedError(
                "widths of a batch need weights of different lengths: pass radius"
            )
        radius = reaches.pop()
    reach = int(radius)
    place = np.arange(-reach, reach + 1)
    bell = exp(place**2 * (-0.5 / (sigma * sigma)))
    bell = bell / _sum(bell)
    # Derivatives are the bell times a polynomial, by its coefficients: q' - x q / sigma**2.
    terms: list[Any] = [1.0]
    for _ in range(order):
        following: list[Any] = [0.0] * (len(terms) + 1)
        for power, term in enumerate(terms):
            if power:
                following[power - 1] = following[power - 1] + power * term
            following[power + 1] = following[power + 1] - term / (sigma * sigma)
        terms = following
    factor: Any = 0.0
    for power, term in enumerate(terms):
        factor = factor + term * place.astype(float) ** power
    return flip(bell * factor, axis=0)


@twin(SCIPY.gaussian_filter1d)
def gaussian_filter1d(
    input: Any,
    sigma: Any,
    axis: int,
    order: int,
    mode: str,
    cval: Any,
    truncate: float,
    radius: Any,
) -> Any:
    """A Gauss filter along an axis, by the image and by the width."""
    if order < 0:
        raise ValueError("order must be non-negative")
    sigma = sigma if isinstance(sigma, Array) else float(sigma)
    weights = _gauss_weights(array_like(sigma), order, truncate, radius)
    return along_axis(image_of(input), weights, axis, mode, cval, 0)


@twin(SCIPY.gaussian_filter)
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any,
    mode: Any,
    cval: Any,
    truncate: float,
    radius: Any,
    axes: Any,
) -> Any:
    """A Gauss filter, by the image and by the width."""
    x = image_of(input)
    along = axes_of(x, axes)
    count = len(along)
    widths, orders = numbers(sigma, count), numbers(order, count)
    modes, reaches = modes_of(mode, count), numbers(radius, count)
    for k, axis in enumerate(along):
        width = widths[k]
        if not isinstance(width, Array) and width <= 1e-15:
            continue
        x = gaussian_filter1d(
            x, width, axis, orders[k], None, modes[k], cval, truncate, radius=reaches[k]
        )
    return x


@twin(SCIPY.gaussian_laplace)
def gaussian_laplace(input: Any, sigma: Any, axes: Any = None, **options: Any) -> Any:
    """The sum of second derivatives of a Gauss filter."""
    widths = for_all_axes(sigma, image_of(input), axes, 0)
    parts = _gauss_parts(2, input, widths, axes, **options)
    return sum(parts[1:], start=parts[0]) if parts else image_of(input) * 1.0


@twin(SCIPY.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(input: Any, sigma: Any, axes: Any = None, **options: Any) -> Any:
    """The length of the gradient of a Gauss filter."""
    parts = _gauss_parts(1, input, sigma, axes, **options)
    if not parts:
        return image_of(input) * 1.0
    squares = _sum(stack(parts) ** 2, axis=0)
    flat = equal(squares, 0)  # there, as everywhere, the derivative of a length of zero is zero
    return where(flat, 0.0, sqrt(where(flat, 1.0, squares)))


def _gauss_parts(
    order: int, input: Any, sigma: Any, axes: Any, mode: Any, **options: Any
) -> list[Any]:
    """The derivatives of a Gauss filter along some axes, each with the mode of its axis."""
    x = image_of(input)
    along = axes_of(x, axes)
    found = []
    for axis, one_mode in zip(along, modes_of(mode, len(along)), strict=True):
        orders = [order if k == axis else 0 for k in range(x.ndim)]
        found.append(gaussian_filter(x, sigma, orders, mode=one_mode, **options))
    return found
