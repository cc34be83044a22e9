"""The light way to derivatives of one's own: a decorator for plain functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..ops.op import declare

Function = Callable[..., Any]


def custom(
    *,
    vjp: Function | None = None,
    jvp: Function | None = None,
    linear: bool | str = False,
    holomorphic: bool = True,
    batch: str | Function = "loop",
    **vjps: Function,
) -> Callable[[Function], Function]:
    """Give a function of arrays its derivative rules.

    The function is called on plain arrays only. Its positional parameters are its inputs, its
    keyword-only parameters are passed to the rules by name. See `arraygrad.ops.op` for how rules
    are written; they are made of arraygrad's functions, so they can be differentiated in turn.

    Parameters
    ----------
    vjp, vjp_<input> : callable
        The rule of the only input, or of the input named: from the cotangent ``g`` and whatever
        else its parameters name, the cotangent of the input.
    jvp : callable, optional
        The forward rule: from the tangent ``t`` (or ``t_x`` for each input ``x``), that of the
        result.
    linear : bool or "each"
        Whether the function is linear in its inputs, together or each by itself; then it is its
        own forward rule.
    holomorphic : bool
        Whether the rules are conjugated for complex numbers; False if they already are.
    batch : str or callable
        How to run on a batch: ``"elementwise"`` for a function that broadcasts, ``"plain"`` for
        one that leaves leading axes alone; by default, a loop.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> @ag.func.custom(vjp=lambda g, x: g * 3 * x**2, jvp=lambda t, x: t * 3 * x**2)
    ... def cube(x):
    ...     return np.power(x, 3)
    >>> ag.func.grad(ag.func.grad(cube))(2.0)
    array(12.)
    """

    def decorate(function: Function) -> Function:
        code = function.__code__
        inputs = code.co_varnames[: code.co_argcount]
        run = declare(
            function.__name__,
            *inputs,
            compute=lambda xp, *arrays, **params: function(*arrays, **params),
            vjp=vjp,
            jvp=jvp,
            linear=linear,
            holomorphic=holomorphic,
            batch=batch,
            **vjps,  # type: ignore[arg-type]  # mypy takes these for any keyword
        )
        defaults = function.__kwdefaults__ or {}

        @functools.wraps(function)
        def wrapped(*arrays: Any, **params: Any) -> Any:
            return run(*arrays, **{**defaults, **params})

        return wrapped

    return decorate
