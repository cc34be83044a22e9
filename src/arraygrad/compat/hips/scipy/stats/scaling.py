"""Distributions that can be shifted and scaled, from formulas for the standard one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import numpy as np
from ...numpy.numpy_wrapper import wrapped

__all__ = ["density", "log_density", "probability"]

AnyFunction = Callable[..., Any]


def _scaled(raw: AnyFunction, formula: AnyFunction, shapes: int) -> AnyFunction:
    """SciPy's function, with ``formula(z, scale, *shapes)`` for boxes."""

    def for_boxes(x: Any, *args: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        parameters, more = args[:shapes], args[shapes:]
        loc, scale = (*more, *(loc, scale)[len(more) :])
        return formula((x - loc) / scale, scale, *parameters)

    return wrapped(raw, for_boxes)


def log_density(raw: AnyFunction, formula: AnyFunction, shapes: int = 0) -> AnyFunction:
    """`logpdf`, from ``formula(z, *shapes)``."""
    return _scaled(raw, lambda z, scale, *p: formula(z, *p) - np.log(scale), shapes)


def density(raw: AnyFunction, formula: AnyFunction, shapes: int = 0) -> AnyFunction:
    """`pdf`, from the formula for the logarithm."""
    return _scaled(raw, lambda z, scale, *p: np.exp(formula(z, *p)) / scale, shapes)


def probability(raw: AnyFunction, formula: AnyFunction, shapes: int = 0) -> AnyFunction:
    """`cdf` and the like, from ``formula(z, *shapes)``."""
    return _scaled(raw, lambda z, scale, *p: formula(z, *p), shapes)
