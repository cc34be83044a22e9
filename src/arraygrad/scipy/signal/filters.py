"""Filters in time: `lfilter` and those made of it, smoothing, trends, and changes of the rate.

A filter is linear in the signal. With time reversed it is its own adjoint. With respect to the
coefficients, its derivative is what the filter ``1 / a`` makes of the delayed signal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg
from ...core.array import Array, plain
from ...core.axes import one_axis
from ...core.kinds import Opaque
from ...fft import fft, ifft, irfft, rfft
from ...ops import concat, expand_dims, flip, is_complex, matmul, moveaxis, real, stack, sum
from ...ops.define.library import declare
from ...ops.define.op import Own
from ...ops.padding import loop
from ..twins import by_scipy, floating, refuse, twin
from .gustafsson import gustafsson
from .lines import SCIPY, at_places, extended, padded_places, zeros

# --- lfilter -------------------------------------------------------------------------------------

_ONE = np.ones(1)
_MANY = 64  # from this number of lags on, Fourier transforms are faster than products


def _lags(w: Any, x: Any, count: int) -> Any:
    """For each lag k, the sum of ``w[t] x[t - k]`` over time and over all lines."""
    n = x.shape[-1]
    if count <= _MANY:
        dot = matmul if x.ndim == 1 else lambda u, v: sum(u * v)
        found = [dot(w[..., k:], x[..., : n - k]) for k in range(min(count, n))]
        found += [found[0] * 0] * (count - len(found))
        return stack(found)
    size = 2 * max(n, count)
    product = fft(w, n=size, axis=-1) * fft(flip(x, axis=-1), n=size, axis=-1)
    for _ in range(x.ndim - 1):
        product = sum(product, axis=0)
    out = ifft(product, axis=-1)[n - 1 : n - 1 + count]
    return out if is_complex(w) or is_complex(x) else real(out)


def _lfilter_rule(
    g: Any, wanted: Any, b: Any, a: Any, x: Any, out: Any, backward: bool
) -> tuple[Any, Any, Any]:
    if not (wanted[0] or wanted[1]):
        return None, None, _lfilter(b, a, g, backward=not backward)
    w = _lfilter(_ONE, a, g, backward=not backward)

    def lags(signal: Any, count: int) -> Any:
        return _lags(signal, w, count) if backward else _lags(w, signal, count)

    by_b = lags(x, b.shape[0]) if wanted[0] else None
    by_a = -lags(out, a.shape[0]) * (np.arange(a.shape[0]) > 0) if wanted[1] else None
    return by_b, by_a, _lfilter(b, _ONE, w, backward=not backward) if wanted[2] else None


def _lfilter_along(
    t_b: Any, t_a: Any, t_x: Any, b: Any, a: Any, x: Any, out: Any, backward: bool
) -> Any:
    change = _lfilter(t_b, _ONE, x, backward=backward)
    t_a = t_a * (np.arange(t_a.shape[0]) > 0)
    change = change - _lfilter(t_a, _ONE, out, backward=backward)
    moved = _lfilter(b, a, t_x, backward=backward)
    return moved + _lfilter(_ONE, a, change, backward=backward)


def _lfilter_of(b: Any, a: Any, x: Any, *, backward: bool) -> Any:
    if not backward:
        return SCIPY.lfilter(b, a, x, axis=-1)
    return np.ascontiguousarray(SCIPY.lfilter(b, a, x[..., ::-1], axis=-1)[..., ::-1])


def _lfilter_batch(op: Any, arrays: Any, flags: Any, params: Any) -> Any:
    # A batch of signals is more lines; a batch of filters is a loop.
    if flags[0] or flags[1]:
        return loop(op, arrays, flags, params)
    return op.function(*arrays, **params)


# The first coefficient of `a` is one. With `backward`, time is reversed: this is the adjoint.
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
    b, a = floating(b), floating(a)
    b = expand_dims(b, axis=0) if b.ndim == 0 else b
    a = expand_dims(a, axis=0) if a.ndim == 0 else a
    if b.ndim != 1 or a.ndim != 1:
        raise ValueError("the coefficients b and a must be vectors")
    first = a[0]
    if (np.asarray(plain(first)) == 0).any():
        raise ValueError("the first coefficient of a must not be zero")
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
    out = _lfilter(b, a, longer, backward=False) + _lfilter(_ONE, a, entering, backward=False)
    return out[..., :n], _lfilter(a, _ONE, out[..., n:], backward=False)


@twin(SCIPY.lfilter)
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter signals by a rational transfer function, by the coefficients and the signals."""
    b, a = _coefficients(b, a)
    x = floating(x)
    lines = moveaxis(x, axis, -1)
    state = None if zi is None else moveaxis(floating(zi), axis, -1)
    out, left = _filtered(b, a, lines, state)
    out = moveaxis(out, -1, axis)
    return out if zi is None else (out, moveaxis(left, -1, axis))


@twin(SCIPY.lfilter_zi)
def lfilter_zi(b: Any, a: Any) -> Any:
    """The state of a filter whose input has always been one."""
    b, a = _coefficients(b, a)
    n = max(b.shape[0], a.shape[0])
    b, a = (
        concat((b, zeros(b, n - b.shape[0])), axis=0),
        concat((a, zeros(a, n - a.shape[0])), axis=0),
    )
    below = np.eye(n - 1, k=1)
    first = expand_dims(a[1:], axis=1) * np.eye(1, n - 1)
    return linalg.solve(np.eye(n - 1) - below + first, b[1:] - a[1:] * b[0])


@twin(SCIPY.sosfilt)
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter signals by sections of second order, one after the other."""
    sos, x = floating(sos), floating(x)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ValueError(f"sos array must be shape (n_sections, 6), got {tuple(sos.shape)}")
    lines = moveaxis(x, axis, -1)
    states = None if zi is None else moveaxis(floating(zi), one_axis(axis, x.ndim) + 1, -1)
    left = []
    for k in range(sos.shape[0]):
        b, a = _coefficients(sos[k, :3], sos[k, 3:])
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
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
    method: str = "pad",
    irlen: Any = None,
) -> Any:
    """Filter signals forwards and then backwards."""
    b, a = _coefficients(b, a)
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
def sosfiltfilt(
    sos: Any, x: Any, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Any:
    """Filter signals by sections of second order, forwards and then backwards."""
    sos = floating(sos)
    lines = moveaxis(floating(x), axis, -1)
    # Sections whose last coefficients are zero for all members of a batch are of first order.
    values = plain(sos).reshape(-1, *sos.shape)
    shorter = min((values[:, :, k] == 0).all(axis=0).sum() for k in (2, 5))
    edge = _edge(padtype, padlen, lines, int(2 * sos.shape[0] + 1 - shorter))
    longer = extended(lines, edge, padtype)
    states = sosfilt_zi(sos)
    for _ in range(2):
        first = longer[..., :1]
        for k in range(sos.shape[0]):
            b, a = _coefficients(sos[k, :3], sos[k, 3:])
            longer, _ = _filtered(b, a, longer, states[k] * first)
        longer = flip(longer, axis=-1)
    return moveaxis(longer[..., edge : longer.shape[-1] - edge], -1, axis)


# --- smoothing and trends ------------------------------------------------------------------------


def dotted(x: Any, weights: Any, places: Any) -> Any:
    """For each row of `places`, the sum of the elements there times the weights."""
    return sum(at_places(x, places) * weights, axis=-1)


@twin(SCIPY.savgol_filter)
def savgol_filter(
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: float = 0.0,
) -> Any:
    """Smooth signals by fits of polynomials to the points in a window."""
    lines = moveaxis(floating(x), axis, -1)
    n, half, before = lines.shape[-1], window_length // 2, (window_length - 1) // 2
    weights = SCIPY.savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta)[::-1]
    if mode == "interp":
        if window_length > n:
            raise ValueError(
                "If mode is 'interp', window_length must be less than or equal to the size of x."
            )
        # At the ends, the polynomial through the first or last window is used.
        ends = SCIPY.savgol_filter(
            np.eye(window_length), window_length, polyorder, deriv, delta, axis=0
        )
        place = np.arange(half - before, n - half - before)[:, None] + np.arange(window_length)
        inner = dotted(lines, weights, place)
        left = matmul(lines[..., :window_length], ends[:half].T)
        right = matmul(lines[..., n - window_length :], ends[window_length - half :].T)
        out = concat((left, inner, right), axis=-1)
    else:
        places = padded_places(n, before, window_length - 1 - before, mode)
        rows = places[np.arange(n)[:, None] + np.arange(window_length)]
        out = dotted(lines - cval if mode == "constant" else lines, weights, rows)
        if mode == "constant" and cval:
            out = out + cval * weights.sum()
    return moveaxis(out, -1, axis)


@twin(SCIPY.detrend)
def detrend(
    data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False
) -> Any:
    """Subtract the mean, or straight lines between break points."""
    lines = moveaxis(floating(data), axis, -1)
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    if type in ("constant", "c"):
        out = lines - sum(lines, axis=-1, keepdims=True) / lines.shape[-1]
        return moveaxis(out, -1, axis)
    n = lines.shape[-1]
    ends = np.sort(np.unique(np.concatenate((np.atleast_1d(0), np.atleast_1d(bp), [n]))))
    if (ends > n).any():
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    parts = []
    for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        ramp = np.arange(1, stop - start + 1) / (stop - start)
        columns = np.stack((ramp, np.ones_like(ramp)), axis=1)
        part = lines[..., start:stop]
        fit = matmul(matmul(part, np.linalg.pinv(columns).T), columns.T)
        parts.append(part - fit)
    return moveaxis(concat(parts, axis=-1), -1, axis)


# --- other rates ---------------------------------------------------------------------------------


def _spectral_window(window: Any, n: int) -> Any:
    """The weights of the frequencies of a transform; None for ones."""
    if window is None:
        return None
    if isinstance(window, Array):
        raise NotImplementedError("resample has no derivative by the window: detach() it")
    if callable(window):
        return np.asarray(window(np.fft.fftfreq(n)))
    if isinstance(window, np.ndarray):
        if window.shape != (n,):
            raise ValueError(f"the window must have the shape ({n},), not {window.shape}")
        return window
    # Versions of SciPy differ in how they shift a window of odd length: ask this one.
    spectrum = SCIPY.resample(np.ones(n, complex), n, window=window, domain="freq")
    return np.fft.fft(spectrum).real


@twin(SCIPY.resample)
def resample(
    x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time"
) -> Any:
    """Resample periodic signals by Fourier transforms."""
    if domain not in ("time", "freq"):
        raise ValueError(f"Parameter domain='{domain}' not in ('time', 'freq')!")
    lines = moveaxis(floating(x), axis, -1)
    n = lines.shape[-1]
    small = min(num, n)
    half = small // 2
    shape = _spectral_window(window, n)
    if is_complex(lines) or domain == "freq":
        spectrum = fft(lines, axis=-1) if domain == "time" else lines
        spectrum = spectrum if shape is None else spectrum * shape
        weights = np.ones(num)
        place = np.full(num, -1)
        place[: half + 1] = np.arange(half + 1)
        rest = small - half - 1
        if rest:
            place[num - rest :] = np.arange(n - rest, n)
        extra = None
        if small % 2 == 0 and num < n:  # two frequencies become one
            extra = spectrum[..., n - half : n - half + 1]
        elif small % 2 == 0 and n < num:  # one becomes two
            weights[half] = 0.5
            place[num - half], weights[num - half] = half, 0.5
        out = at_places(spectrum, place) * weights
        if extra is not None:
            out = out + extra * np.eye(1, num, num - half)[0]
        out = ifft(out * (num / n), axis=-1)
    else:
        weights = np.ones(half + 1)
        if small % 2 == 0 and num != n:
            weights[half] = 2.0 if num < n else 0.5
        if shape is not None:  # the mean of those of a frequency and its negative
            turned = np.roll(shape[::-1], 1)
            weights = weights * ((shape + turned) / 2)[: half + 1]
        spectrum = rfft(lines, axis=-1)[..., : half + 1] * (weights * (num / n))
        out = irfft(spectrum, n=num, axis=-1)
    out = moveaxis(out, -1, axis)
    if t is None:
        return out
    return out, np.arange(num) * (t[1] - t[0]) * n / float(num) + t[0]


def _taps(n: int, count: int, up: int, down: int, h: Any, shift: int) -> tuple[Any, Any]:
    """For ``y[m] = sum of x[i] h[m down + shift - i up]``: the places i, and the weights."""
    last = (np.arange(count) * down + shift) // up  # the last i that meets a weight
    width = len(h) // up + 1
    place = last[:, None] - np.arange(width)
    tap = np.arange(count)[:, None] * down + shift - place * up
    known = (tap >= 0) & (tap < len(h)) & (place >= 0) & (place < n)
    return np.where(known, place, -1), np.where(known, h[np.clip(tap, 0, len(h) - 1)], 0.0)


@twin(SCIPY.resample_poly)
def resample_poly(
    x: Any,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
    cval: Any = None,
) -> Any:
    """Change the rate of signals by a rational factor, with a filter of finite length."""
    refuse("resample_poly", padtype=(padtype, "constant"), cval=(cval or None, None))
    lines = moveaxis(floating(x), axis, -1)
    common = int(np.gcd(up, down))
    up, down = up // common, down // common
    if up == down == 1:
        return moveaxis(lines * 1.0, -1, axis)
    n = lines.shape[-1]
    count = -(-n * up // down)
    if isinstance(window, list | np.ndarray):
        h = np.asarray(window)
        half = (len(h) - 1) // 2
    else:
        fastest = max(up, down)
        half = 10 * fastest
        h = SCIPY.firwin(2 * half + 1, 1.0 / fastest, window=window)
    place, weights = _taps(n, count, up, down, h * up, half)
    return moveaxis(dotted(lines, weights, place), -1, axis)


@twin(SCIPY.decimate)
def decimate(
    x: Any,
    q: int,
    n: int | None = None,
    ftype: Any = "iir",
    axis: int = -1,
    zero_phase: bool = True,
) -> Any:
    """Filter signals, and take each element number `q`."""
    x = floating(x)
    every = (slice(None),) * one_axis(axis, x.ndim) + (slice(None, None, q),)
    if ftype == "iir":
        sos = SCIPY.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos")
        out = sosfiltfilt(sos, x, axis=axis) if zero_phase else sosfilt(sos, x, axis=axis)
        return out[every]
    if ftype != "fir":
        raise NotImplementedError("decimate of tensors has ftype='iir' and ftype='fir'")
    b = SCIPY.firwin(20 * q + 1 if n is None else n + 1, 1.0 / q, window="hamming")
    if zero_phase:
        return resample_poly(x, 1, q, axis=axis, window=b)
    return lfilter(b, np.ones(1), x, axis=axis)[every]


@twin(SCIPY.hilbert)
def hilbert(x: Any, N: int | None = None, axis: int = -1) -> Any:  # noqa: N803  (SciPy's name)
    """The analytic signal: negative frequencies are left out."""
    lines = moveaxis(floating(x), axis, -1)
    if is_complex(lines):
        raise ValueError("x must be real.")
    n = lines.shape[-1] if N is None else N
    weights = np.zeros(n)
    weights[0] = 1
    weights[1 : (n + 1) // 2] = 2
    if n % 2 == 0:
        weights[n // 2] = 1
    return moveaxis(ifft(fft(lines, n=n, axis=-1) * weights, axis=-1), -1, axis)


@twin(SCIPY.freqz)
def freqz(
    b: Any,
    a: Any = 1,
    worN: Any = 512,  # noqa: N803  (SciPy's name)
    whole: bool = False,
    plot: Any = None,
    fs: float = 2 * np.pi,
    include_nyquist: bool = False,
) -> Any:
    """The response of a filter at frequencies."""
    refuse("freqz", plot=(plot, None))
    b, a = floating(b), floating(a)
    b = expand_dims(b, axis=0) if b.ndim == 0 else b
    a = expand_dims(a, axis=0) if a.ndim == 0 else a
    if b.ndim != 1 or a.ndim != 1:
        raise ValueError("freqz of tensors takes vectors of coefficients")
    w, _ = SCIPY.freqz(np.ones(1), 1, worN, whole, None, fs, include_nyquist)
    waves = np.exp(-2j * np.pi * w / fs)[:, None]
    top = matmul(waves ** np.arange(b.shape[0]), b)
    return w, top / matmul(waves ** np.arange(a.shape[0]), a)
