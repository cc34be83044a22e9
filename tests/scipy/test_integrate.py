"""`arraygrad.scipy.integrate`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import scipy.integrate
from scipy_checks import Case, crossed

import arraygrad as ag
from arraygrad.errors import NotASolutionError, SingularError
from arraygrad.func import grad, jacrev
from arraygrad.scipy import integrate

P2 = np.array([1.3, 0.7])
T = np.linspace(0.0, 1.0, 4)
FINE = {"rtol": 1e-10, "atol": 1e-12}


def spring(t: Any, y: Any, a: Any, b: Any) -> Any:
    return np.array([y[1], -a * y[0] - b * y[1] ** 3 + np.cos(t)])


def oscillation(m: Any, p: Any, method: str = "RK45", **keywords: Any) -> Any:
    """By `args`, the initial state, and both ends."""
    span = (0.1 * p[0], 1 + 0.1 * p[1])
    found = m.solve_ivp(spring, span, [p[0], 0.5], method, args=(p[0], p[1]), **FINE | keywords)
    return np.concatenate([found.y[:, -1], found.t[-1:]])


def decay(m: Any, p: Any, method: str = "DOP853", **keywords: Any) -> Any:
    """By a closure, at given times."""

    def f(t: Any, y: Any) -> Any:
        return -p[0] * y + p[1] * np.sin(t) * y[::-1]

    return m.solve_ivp(f, (0, 1), [1.0, 0.5], method, t_eval=T, **FINE | keywords).y


def stiff(m: Any, p: Any, method: str) -> Any:
    def f(t: Any, y: Any) -> Any:
        return [-9 * p[0] * y[0] + y[1], p[1] * y[0] - y[1] ** 2]

    return m.solve_ivp(f, (0, 1), [1.0, p[0]], method, t_eval=T, rtol=1e-7, atol=1e-9).y


def falling(m: Any, p: Any, **keywords: Any) -> Any:
    def f(t: Any, y: Any) -> Any:
        return [y[1], -9.81 - p[0] * y[1] ** 3 / (1 + y[1] ** 2)]

    def ground(t: Any, y: Any) -> Any:
        return y[0] - 0.1 * p[1]

    def top(t: Any, y: Any) -> Any:
        return y[1]

    ground.terminal, ground.direction = True, -1  # type: ignore[attr-defined]
    found = m.solve_ivp(f, (0, 9), [1.0, 3 * p[1]], events=[top, ground], **FINE | keywords)
    events = [*found.t_events, *[np.ravel(y) for y in found.y_events]]
    return np.concatenate([*events, found.t[-1:], found.y[:, -1]])


def switched(m: Any, p: Any) -> Any:
    def f(t: Any, y: Any) -> Any:
        if t < 0.5:
            return -p[0] * y
        return p[1] * y if y[0] > 0 else -y

    return m.solve_ivp(f, (0, 1), [1.0], max_step=0.125, t_eval=T, **FINE).y


def rotating(m: Any, p: Any) -> Any:
    def f(t: Any, y: Any) -> Any:
        return 1j * p[0] * y - p[1] * y * np.abs(y) ** 2

    y = m.solve_ivp(f, (0, 1), np.array([1.0 + 0.5j, 0.3j]), t_eval=T, **FINE).y
    return np.concatenate([y.real, y.imag])


def columns(m: Any, p: Any) -> Any:
    def f(t: Any, y: Any) -> Any:
        return np.stack([y[1], -p[0] * np.sin(y[0]) - p[1] * y[1]])

    return m.solve_ivp(
        f, (1, 0), [1.0, 0.0], "Radau", T[::-1], vectorized=True, rtol=1e-7, atol=1e-9
    ).y


def continuous(m: Any, p: Any) -> Any:
    sol = m.solve_ivp(spring, (0, 1), p, dense_output=True, args=(1.0, 0.5), **FINE).sol
    return np.concatenate([sol(0.3), np.ravel(sol(p / 2)), sol(0.5 * p[0])])


def lsoda(m: Any, p: Any) -> Any:
    return m.odeint(spring, p, T, (p[0], p[1]), tfirst=True, rtol=1e-11, atol=1e-12)


def times(m: Any, p: Any) -> Any:
    return m.odeint(
        lambda y, t: -p[0] * y + np.sin(t), 1.0, np.stack([0 * p[0], p[0], p[1] + 1]), rtol=1e-11
    )


ADAPTED = {"tolerance": 1e-5, "second": 1e-5, "step": 1e-3}  # the steps change with the parameters
CASES = [
    Case("RK45-ends", oscillation, P2, **ADAPTED, skip=("batch",)),
    Case("RK45", functools.partial(decay, method="RK45"), P2, **ADAPTED),
    Case("RK23", functools.partial(decay, method="RK23", rtol=1e-7), P2, **ADAPTED),
    Case("DOP853", decay, P2, **ADAPTED),
    Case("Radau", functools.partial(stiff, method="Radau"), P2, **ADAPTED),
    Case("BDF", functools.partial(stiff, method="BDF"), P2, **ADAPTED),
    Case("LSODA", functools.partial(decay, method="LSODA"), P2, **ADAPTED),
    Case("events", functools.partial(falling, t_eval=[0.0, 0.1]), P2, **ADAPTED | {"step": 1e-2}),
    Case("events-end", falling, P2, **ADAPTED | {"step": 1e-2}, skip=("batch",)),
    Case("branches", switched, P2, **ADAPTED, skip=("batch",)),
    Case("complex", rotating, P2, **ADAPTED),
    Case("vectorized-backward", columns, P2, **ADAPTED),
    Case("dense_output", continuous, P2, **ADAPTED, skip=("batch",)),
    Case("odeint", lsoda, P2, **ADAPTED),
    Case("odeint-times", times, P2, **ADAPTED),
]


@crossed(CASES)
def test_derivatives(check: Any, call: Case) -> None:
    check(call, integrate, scipy.integrate)
