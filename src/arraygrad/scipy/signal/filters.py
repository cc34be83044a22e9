"""Filters in time: `lfilter` and those made of it, and their response.

A filter is linear in the signal. With time reversed it is its own adjoint. With respect to the
coefficients, its derivative is what the filter ``1 / a`` makes of the delayed signal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg
from ...backends.filled import zeros_like
from ...core.array import plain
from ...core.axes import one_axis
from ...core.kinds import Contracts, Opaque
from ...ops import concat, expand_dims, flip, matmul, moveaxis, stack, sum
from ...ops.define.library import declare
from ...ops.define.op import Own
from ...ops.padding import loop
from ..names import newer
from ..twins import by_scipy, floating, has_values, in_precision_of, twin
from .gustafsson import gustafsson
from .lines import SCIPY, extended, zeros

__all__ = [
    "filtfilt",
    "freqz",
    "freqz_sos",
    "lfilter",
    "lfilter_zi",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
]

# --- lfilter -------------------------------------------------------------------------------------

_MANY = 64  # from this number of lags on, Fourier transforms are faster than products
_BLOCK = 8192  # as many products stay in the cache, and BLAS starts no threads for them


def _unit(like: Any) -> Any:
    """The coefficients of a filter that leaves signals as they are."""
    return zeros_like(like, (1,)) + 1


def _lags_of(w: Any, x: Any, *, count: int) -> Any:
    n = x.shape[-1]
    if not x.size:
        return np.zeros(count, np.result_type(w, x))
    # One correlation of all lines, with zeros between them.
    longer = np.zeros((*x.shape[:-1], n + count - 1), x.dtype)
    longer[..., count - 1 :] = x
    if x.ndim > 1:
        apart = np.zeros_like(longer, dtype=w.dtype)
        apart[..., :n] = w
        w = apart.reshape(-1)[: longer.size - count + 1]
    line = longer.reshape(-1)
    if count > _MANY:
        return SCIPY.convolve(line, w[::-1], mode="valid", method="fft")[::-1].copy()
    out = np.zeros(count, np.result_type(w, x))
    w = np.conj(w) if np.iscomplexobj(w) else w
    for start in range(0, w.size, _BLOCK):
        part = w[start : start + _BLOCK]
        out += np.correlate(line[start : start + part.size + count - 1], part)[::-1]
    return out


# For each lag k, the sum of w[t] x[t - k] over time and over all lines.
_lags = declare(
    "scipy.signal.lags",
    "w",
    "x",
    kind=Contracts(),
    compute=by_scipy(_lags_of),
    vjp_w=lambda g, x: _lfilter(g, _unit(g), x, backward=False),
    vjp_x=lambda g, w: _lfilter(g, _unit(g), w, backward=True),
)


def _lfilter_rule(
    g: Any, wanted: Any, b: Any, a: Any, x: Any, out: Any, backward: bool
) -> tuple[Any, Any, Any]:
    if not (wanted[0] or wanted[1]):
        return None, None, _lfilter(b, a, g, backward=not backward)
    w = _lfilter(_unit(a), a, g, backward=not backward)

    def lags(signal: Any, count: int) -> Any:
        return _lags(signal, w, count=count) if backward else _lags(w, signal, count=count)

    by_b = lags(x, b.shape[0]) if wanted[0] else None
    by_a = -lags(out, a.shape[0]) if wanted[1] else None
    return by_b, by_a, _lfilter(b, _unit(b), w, backward=not backward) if wanted[2] else None


def _lfilter_along(
    t_b: Any, t_a: Any, t_x: Any, b: Any, a: Any, x: Any, out: Any, backward: bool
) -> Any:
    change = _lfilter(t_b, _unit(b), x, backward=backward)
    change = change - _lfilter(t_a, _unit(a), out, backward=backward)
    moved = _lfilter(b, a, t_x, backward=backward)
    return moved + _lfilter(_unit(a), a, change, backward=backward)


def _lfilter_of(b: Any, a: Any, x: Any, *, backward: bool) -> Any:
    if not x.size:
        return np.zeros(x.shape, np.result_type(b, a, x))
    if not backward:
        return SCIPY.lfilter(b, a, x, axis=-1)
    if x.ndim == len(a) == 1 <= min(len(b), len(x)):  # without turning the signal twice
        return np.convolve(x, b[::-1] / a)[len(b) - 1 :]
    return np.ascontiguousarray(SCIPY.lfilter(b, a, x[..., ::-1], axis=-1)[..., ::-1])


def _lfilter_batch(op: Any, arrays: Any, flags: Any, params: Any) -> Any:
    # A batch of signals is more lines; a batch of filters is a loop.
    if flags[0] or flags[1]:
        return loop(op, arrays, flags, params)
    return op.function(*arrays, **params)


# With `backward`, time is reversed: this is the adjoint.
_lfilter = declare(
    "scipy.signal.lfilter",
    "b",
    "a",
    "x",
    kind=Opaque(),
    compute=by_scipy(_lfilter_of),
    joint=_lfilter_rule,
    jvp=_lfilter_along,
    own=Own(batch=_lfilter_batch),
)


def _coefficients(b: Any, a: Any) -> tuple[Any, Any]:
    """The coefficients of a filter, as vectors."""
    b, a = floating(b), floating(a)
    b = expand_dims(b, axis=0) if b.ndim == 0 else b
    a = expand_dims(a, axis=0) if a.ndim == 0 else a
    if b.ndim != 1 or a.ndim != 1:
        raise ValueError("the coefficients b and a must be vectors")
    if has_values(a) and (plain(a)[..., 0] == 0).any():
        raise ValueError("the first coefficient of a must not be zero")
    return b, a


def _normalised(b: Any, a: Any) -> tuple[Any, Any]:
    """The coefficients for which the first of `a` is one."""
    b, a = _coefficients(b, a)
    first = a[0]
    if isinstance(a, np.ndarray) and first == 1:
        return b, a
    return b / first, a / first


def _filtered(b: Any, a: Any, x: Any, state: Any = None) -> tuple[Any, Any]:
    """The output along the last axis, and the final state if there is an initial one."""
    if state is None:
        return _lfilter(b, a, x, backward=False), None
    count, n = max(b.shape[0], a.shape[0]) - 1, x.shape[-1]
    # The state is added to what enters the filter 1 / a. After the signal, the output that is
    # still to come says what state is left.
    longer = concat((x, zeros(x, count)), axis=-1)
    state = state + zeros(longer, count)
    entering = concat((state, zeros(longer, n)), axis=-1)
    out = _lfilter(b, a, longer, backward=False) + _lfilter(_unit(a), a, entering, backward=False)
    return out[..., :n], _lfilter(a, _unit(a), out[..., n:], backward=False)


@twin(SCIPY.lfilter)
def lfilter(b: Any, a: Any, x: Any, axis: int, zi: Any) -> Any:
    """Filter signals by a rational transfer function, by the coefficients and the signals."""
    lines = moveaxis(floating(x), axis, -1)
    if zi is None:
        b, a = _coefficients(b, a)
        return moveaxis(_lfilter(b, a, lines, backward=False), -1, axis)
    state = moveaxis(floating(zi), axis, -1)
    out, left = _filtered(*_normalised(b, a), lines, state)
    return moveaxis(out, -1, axis), moveaxis(left, -1, axis)


@twin(SCIPY.lfilter_zi)
def lfilter_zi(b: Any, a: Any) -> Any:
    """The state of a filter whose input has always been one."""
    b, a = _normalised(b, a)
    n = max(b.shape[0], a.shape[0])
    if n < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    b, a = (
        concat((b, zeros(b, n - b.shape[0])), axis=0),
        concat((a, zeros(a, n - a.shape[0])), axis=0),
    )
    below = np.eye(n - 1, k=1)
    first = expand_dims(a[1:], axis=1) * np.eye(1, n - 1)
    out = linalg.solve(np.eye(n - 1) - below + first, b[1:] - a[1:] * b[0])
    return in_precision_of(out, b, a)


@twin(SCIPY.sosfilt)
def sosfilt(sos: Any, x: Any, axis: int, zi: Any) -> Any:
    """Filter signals by sections of second order, one after the other."""
    sos, x = floating(sos), floating(x)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError(f"sos array must be shape (n_sections, 6), got {tuple(sos.shape)}")
    lines = moveaxis(x, axis, -1)
    states = None if zi is None else moveaxis(floating(zi), one_axis(axis, x.ndim) + 1, -1)
    left = []
    for k in range(sos.shape[0]):
        b, a = _normalised(sos[k, :3], sos[k, 3:])
        lines, last = _filtered(b, a, lines, None if states is None else states[k])
        left.append(last)
    out = moveaxis(lines, -1, axis)
    if zi is None:
        return out
    return out, moveaxis(stack(left), -1, one_axis(axis, x.ndim) + 1)


@twin(SCIPY.sosfilt_zi)
def sosfilt_zi(sos: Any) -> Any:
    """The states of all sections for an input that has always been one."""
    sos = floating(sos)
    found, scale = [], 1.0
    for k in range(sos.shape[0]):
        b, a = sos[k, :3], sos[k, 3:]
        found.append(scale * lfilter_zi(b, a))
        scale = scale * sum(b) / sum(a)
    return stack(found)


def _edge(padtype: str | None, padlen: int | None, x: Any, count: int) -> int:
    if padtype is None:
        return 0
    edge = 3 * count if padlen is None else padlen
    if x.shape[-1] <= edge:
        raise ValueError(
            f"The length of the input vector x must be greater than padlen, which is {edge}."
        )
    return int(edge)


@twin(SCIPY.filtfilt)
def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: int,
    padtype: str | None,
    padlen: int | None,
    method: str,
    irlen: Any,
) -> Any:
    """Filter signals forwards and then backwards."""
    b, a = _normalised(b, a)
    lines = moveaxis(floating(x), axis, -1)
    if method == "gust":
        out = gustafsson(lambda *given: _filtered(*given)[0], b, a, lines, irlen)
        return moveaxis(out, -1, axis)
    if method != "pad":
        raise ValueError("method must be 'pad' or 'gust'.")
    edge = _edge(padtype, padlen, lines, max(b.shape[0], a.shape[0]))
    longer = extended(lines, edge, padtype)
    state = lfilter_zi(b, a)
    for _ in range(2):
        longer, _ = _filtered(b, a, longer, state * longer[..., :1])
        longer = flip(longer, axis=-1)
    return moveaxis(longer[..., edge : longer.shape[-1] - edge], -1, axis)


@twin(SCIPY.sosfiltfilt)
def sosfiltfilt(sos: Any, x: Any, axis: int, padtype: str | None, padlen: int | None) -> Any:
    """Filter signals by sections of second order, forwards and then backwards."""
    sos = floating(sos)
    lines = moveaxis(floating(x), axis, -1)
    count = 2 * sos.shape[0] + 1
    if padtype is not None and padlen is None:
        # Sections whose last coefficients are zero for all members of a batch are of first order.
        values = plain(sos).reshape(-1, *sos.shape)
        count -= int(min((values[:, :, k] == 0).all(axis=0).sum() for k in (2, 5)))
    edge = _edge(padtype, padlen, lines, count)
    longer = extended(lines, edge, padtype)
    states = sosfilt_zi(sos)
    for _ in range(2):
        first = longer[..., :1]
        for k in range(sos.shape[0]):
            b, a = _normalised(sos[k, :3], sos[k, 3:])
            longer, _ = _filtered(b, a, longer, states[k] * first)
        longer = flip(longer, axis=-1)
    return moveaxis(longer[..., edge : longer.shape[-1] - edge], -1, axis)


@twin(SCIPY.freqz)
def freqz(b: Any, a: Any, worN: Any, whole: bool, fs: float, include_nyquist: bool) -> Any:
    """The response of a filter at frequencies."""
    b, a = floating(b), floating(a)
    b = expand_dims(b, axis=0) if b.ndim == 0 else b
    a = expand_dims(a, axis=0) if a.ndim == 0 else a
    if b.ndim != 1 or a.ndim != 1:
        raise ValueError("freqz of tensors takes vectors of coefficients")
    w, _ = SCIPY.freqz(np.ones(1), 1, worN, whole, None, fs, include_nyquist)
    waves = np.exp(-2j * np.pi * w / fs)[:, None]
    top = matmul(waves ** np.arange(b.shape[0]), b)
    return w, in_precision_of(top / matmul(waves ** np.arange(a.shape[0]), a), b, a)


@twin(newer(SCIPY, "freqz_sos"))
def freqz_sos(sos: Any, **options: Any) -> Any:
    """The response of a filter by its sections: the product of their responses."""
    sos = floating(sos)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError(f"sos must have the shape (n_sections, 6), not {tuple(sos.shape)}")
    responses = [freqz(sos[i, :3], sos[i, 3:], **options) for i in range(sos.shape[0])]
    w, out = responses[0]
    for _, response in responses[1:]:
        out = out * response
    return w, out
