"""`autograd.scipy.integrate`: `odeint`, with derivatives by the adjoint equation."""

from __future__ import annotations

from typing import Any

import numpy as _np

from ....scipy.names import scipy_module
from .. import numpy as np
from ..derivatives import make_vjp
from ..misc.flatten import flatten
from ..primitives import primitive
from ..rules import defvjp_argnums
from .twins import lazily

__all__ = ["odeint"]

odeint = primitive(scipy_module("scipy.integrate").odeint)


def _pull(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    func, y0, t = args[:3]
    given = args[3] if len(args) > 3 else ()
    flat, unflatten = flatten(given)
    size, steps = np.shape(ans)[1], len(t)

    def backward(state: Any, time: Any, flat: Any) -> Any:
        """The derivatives by time of y, of its cotangent, and of those of time and arguments."""
        pull, slope = make_vjp(
            lambda given: func(given[0], given[1], *unflatten(given[2])), (state[:size], time, flat)
        )
        return np.concatenate([np.ravel(part) for part in (slope, *pull(-state[size : 2 * size]))])

    def vjp(g: Any) -> Any:
        by_y, by_start = g[-1], 0.0
        by_times, by_args = [], _np.zeros(np.size(flat))
        for i in range(steps - 1, 0, -1):
            by_time = np.dot(func(ans[i], t[i], *given), g[i])
            by_times.append(by_time)
            state = np.concatenate([ans[i], by_y, np.reshape(by_start - by_time, (1,)), by_args])
            times = np.array([t[i], t[i - 1]])
            before = odeint(backward, state, times, (flat,), **kwargs)[1]
            by_y = before[size : 2 * size] + g[i - 1]
            by_start, by_args = before[2 * size], before[2 * size + 1 :]
        by_times.append(by_start)
        by_t = np.array(by_times[::-1])
        parts = (None, np.reshape(by_y, np.shape(y0)), by_t, unflatten(by_args))
        return [parts[i] for i in argnums]

    return vjp


defvjp_argnums(odeint, _pull)

__getattr__ = lazily("integrate", globals())
