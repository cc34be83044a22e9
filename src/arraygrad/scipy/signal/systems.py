"""Linear systems: their response to an input, by `lsim` and `dlsim`; `ss2tf`, `cont2discrete`.

All states follow from a recurrence ``x[i] = x[i-1] A + v[i]``. It is one op; its derivative is the
recurrence with time reversed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.filled import zeros_like
from ...core.kinds import Opaque
from ...linalg import trace
from ...ops import concat, expand_dims, flip, matmul, matrix_transpose, ones_like, reshape, stack
from ...ops.define.library import declare
from .. import linalg as our_linalg
from ..linalg import expm
from ..twins import by_scipy, double, floating, in_precision_of, twin, with_ours
from .lines import SCIPY

__all__ = ["cont2discrete", "dlsim", "lsim", "ss2tf"]


def _states_of(a: Any, v: Any) -> Any:
    out = np.empty(v.shape, np.result_type(a, v))
    out[0] = v[0]
    for i in range(1, len(v)):
        out[i] = out[i - 1] @ a + v[i]
    return out


def _by_a(g: Any, a: Any, out: Any) -> Any:
    w = flip(_states(matrix_transpose(a), flip(g, axis=0)), axis=0)
    return matmul(matrix_transpose(out[:-1]), w[1:])


def _along(t_a: Any, t_v: Any, a: Any, out: Any) -> Any:
    before = concat((zeros_like(out, (1, *out.shape[1:])), out[:-1]), axis=0)
    return _states(a, t_v + matmul(before, t_a))


# Rows are times; the first state is v[0].
_states = declare(
    "scipy.signal.states",
    "a",
    "v",
    kind=Opaque(),
    compute=by_scipy(lambda a, v: _states_of(a, v)),
    vjp_a=_by_a,
    vjp_v=lambda g, a: flip(_states(matrix_transpose(a), flip(g, axis=0)), axis=0),
    jvp=_along,
)


def _matrices(system: Any, name: str, count: int) -> tuple[Any, ...]:
    """The matrices A, B, C, D of a system in state space, and its time step if it has one."""
    if isinstance(system, tuple | list) and len(system) == count:
        parts = [floating(part) for part in system[:4]]
        made = [reshape(p, (1, 1)) if p.ndim == 0 else p for p in parts]
        return (*made, *system[4:])
    if isinstance(system, tuple | list):
        raise NotImplementedError(
            f"{name} of tensors takes a system in state space, (A, B, C, D"
            f"{', dt' if count == 5 else ''})"
        )
    space = system.to_ss()
    return (space.A, space.B, space.C, space.D, *((space.dt,) if count == 5 else ()))


def _inputs(u: Any, n: int, width: int) -> Any:
    u = floating(u)
    u = expand_dims(u, axis=1) if u.ndim == 1 else u
    if u.shape != (n, width):
        raise ValueError(f"the input must have shape ({n}, {width}), got {tuple(u.shape)}")
    return u


def _outputs(x: Any, u: Any, c: Any, d: Any) -> Any:
    return matmul(x, matrix_transpose(c)) + matmul(u, matrix_transpose(d))


def _without_axes(x: Any) -> Any:
    return reshape(x, tuple(n for n in x.shape if n != 1))


@twin(SCIPY.lsim)
def lsim(system: Any, U: Any, T: Any, X0: Any, interp: bool) -> Any:
    """The output and the states of a continuous system. Times are constants."""
    a, b, c, d = _matrices(system, "lsim", 4)
    times = np.atleast_1d(np.asarray(T))
    n, states, inputs = len(times), a.shape[0], b.shape[1]
    x0 = zeros_like(a, (states,)) if X0 is None else reshape(floating(X0), (states,))
    steps = np.diff(times)
    if n < 2 or times[0] != 0 or not np.allclose(steps, steps[0]):
        raise NotImplementedError(
            "lsim of tensors needs two or more equally spaced times from zero"
        )
    u = zeros_like(a, (n, inputs)) if np.ndim(U) == 0 and not U else _inputs(U, n, inputs)
    step = steps[0]
    rows = [
        concat((a * step, b * step, zeros_like(a, (states, inputs))), axis=1),
        np.hstack((np.zeros((inputs, states + inputs)), np.eye(inputs))),
        np.zeros((inputs, states + 2 * inputs)),
    ]
    if not interp:  # the input is constant over a step
        rows[1] = rows[2]
    power = matrix_transpose(expm(concat(rows, axis=0)))
    once = power[:states]
    now, later = power[states : states + inputs], power[states + inputs :]
    if interp:
        moved = matmul(u[:-1], now - later) + matmul(u[1:], later)
    else:
        moved = matmul(u[:-1], now)
    x = _states(once[:, :states], concat((expand_dims(x0, axis=0), moved[:, :states]), axis=0))
    x = in_precision_of(x, a)
    return times, _without_axes(_outputs(x, u, c, d)), _without_axes(x)


@twin(SCIPY.dlsim)
def dlsim(system: Any, u: Any, x0: Any) -> Any:
    """The output and the states of a discrete system, at its own time steps."""
    a, b, c, d, dt = _matrices(system, "dlsim", 5)
    u = floating(u)
    n = u.shape[0]
    u = _inputs(u, n, b.shape[1])
    states = a.shape[0]
    start = zeros_like(a, (states,)) if x0 is None else reshape(floating(x0), (states,))
    moved = matmul(u[:-1], matrix_transpose(b))
    x = _states(matrix_transpose(a), concat((expand_dims(start, axis=0), moved), axis=0))
    return np.linspace(0.0, (n - 1) * dt, num=n), double(_outputs(x, u, c, d)), double(x)


@twin(SCIPY.cont2discrete)
def cont2discrete(system: Any, dt: Any, method: str, alpha: Any) -> Any:
    """A discrete system in state space for a continuous one; `dt` and `alpha` have derivatives."""
    return _discrete(_matrices(system, "cont2discrete", 4), dt, method, alpha)


_discrete = with_ours(SCIPY.cont2discrete, linalg=our_linalg, cont2discrete=cont2discrete)


def _characteristic(a: Any) -> Any:
    """The characteristic polynomial of a matrix, by the method of Faddeev and LeVerrier.

    Unlike the eigenvalues, it has derivatives where they coincide.
    """
    unit, power = np.eye(a.shape[0]), np.eye(a.shape[0])
    coefficients = [ones_like(a[0, 0])]
    for k in range(1, a.shape[0] + 1):
        moved = matmul(a, power)
        coefficients.append(-trace(moved) / k)
        power = moved + coefficients[-1] * unit
    return stack(coefficients)


@twin(SCIPY.ss2tf)
def ss2tf(A: Any, B: Any, C: Any, D: Any, input: int) -> Any:
    """The transfer function of a system in state space: numerators in rows, and a denominator."""
    given = _matrices((A, B, C, D), "ss2tf", 4)
    a, b, c, d = map(double, given)
    if not 0 <= input < b.shape[1]:
        raise ValueError("System does not have the input specified.")
    below = _characteristic(a)
    column = b[:, input : input + 1]
    rows = [
        _characteristic(a - matmul(column, c[k : k + 1])) + (d[k, input] - 1) * below
        for k in range(c.shape[0])
    ]
    return in_precision_of(stack(rows), *given), in_precision_of(below, given[0])
