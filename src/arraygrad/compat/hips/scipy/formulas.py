"""Functions of SciPy with derivatives: by a formula for boxes, or by their slopes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..numpy.numpy_vjps import unbroadcast_f
from ..primitives import primitive
from ..rules import defjvp, defvjp
from ..structures import holds_boxes

__all__ = ["by_formula", "by_slopes"]

AnyFunction = Callable[..., Any]


def by_formula(raw: AnyFunction, formula: AnyFunction) -> AnyFunction:
    """SciPy's function for plain values, and a formula of the same arguments for boxes."""

    def f(*args: Any, **kwargs: Any) -> Any:
        if any(map(holds_boxes, args)) or any(map(holds_boxes, kwargs.values())):
            return formula(*args, **kwargs)
        return raw(*args, **kwargs)

    functools.update_wrapper(f, raw, updated=())
    f.fun = raw  # type: ignore[attr-defined]
    return f


def by_slopes(raw: AnyFunction, *slopes: AnyFunction | None) -> AnyFunction:
    """A function that acts element by element, with ``slope(ans, *args)`` for each argument.

    None is for an argument whose derivative is not known.
    """
    made = primitive(raw)
    known = [i for i, slope in enumerate(slopes) if slope is not None]

    def vjp(i: int) -> AnyFunction:
        slope = slopes[i]
        assert slope is not None

        def maker(ans: Any, *args: Any) -> AnyFunction:
            factor = slope(ans, *args)
            return unbroadcast_f(args[i], lambda g: g * factor)

        return maker

    def jvp(i: int) -> AnyFunction:
        slope = slopes[i]
        assert slope is not None
        return lambda g, ans, *args: g * slope(ans, *args) + 0 * ans

    defvjp(made, *map(vjp, known), argnums=known)
    defjvp(made, *map(jvp, known), argnums=known)
    return made
