"""Signals at other rates, by Fourier transforms or filters, and analytic signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array
from ...core.axes import one_axis
from ...fft import fft, ifft, irfft, rfft
from ...ops import is_complex, moveaxis
from ..twins import floating, in_precision_of, is_single, refuse, twin
from .filters import lfilter, sosfilt, sosfiltfilt
from .lines import SCIPY, at_places, dotted

__all__ = ["decimate", "hilbert", "resample", "resample_poly", "upfirdn"]


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
def resample(x: Any, num: int, t: Any, axis: int, window: Any, domain: str) -> Any:
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
    if shape is None or not is_complex(out):  # SciPy's windows have double precision
        out = in_precision_of(out, lines)
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
def resample_poly(x: Any, up: int, down: int, axis: int, window: Any, cval: Any) -> Any:
    """Change the rate of signals by a rational factor, with a filter of finite length."""
    refuse("resample_poly", cval=(cval or None, None))
    if isinstance(window, Array):
        raise NotImplementedError(
            "resample_poly has no derivative with respect to its window here: detach() the window, "
            "or use upfirdn"
        )
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


@twin(SCIPY.upfirdn)
def upfirdn(h: Any, x: Any, up: int, down: int, axis: int) -> Any:
    """Put zeros between the elements of signals, filter them, and take each element `down`."""
    h, lines = floating(h), moveaxis(floating(x), axis, -1)
    if h.ndim != 1 or h.shape[0] == 0:
        raise ValueError("h must be 1-D with non-zero length")
    if up < 1 or down < 1:
        raise ValueError("Both up and down must be >= 1")
    n = (lines.shape[-1] - 1) * up + 1
    place = np.full(n + h.shape[0] - 1, -1)
    place[:n:up] = np.arange(lines.shape[-1])
    out = lfilter(h, np.ones(1, np.float32), at_places(lines, place))
    return moveaxis(out[..., ::down], -1, axis)


@twin(SCIPY.decimate)
def decimate(x: Any, q: int, n: int | None, ftype: Any, axis: int, zero_phase: bool) -> Any:
    """Filter signals, and take each element number `q`."""
    x = floating(x)
    real = np.float32 if is_single(x) else np.float64
    every = (slice(None),) * one_axis(axis, x.ndim) + (slice(None, None, q),)
    if ftype == "iir":
        sos = SCIPY.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos").astype(real)
        out = sosfiltfilt(sos, x, axis=axis) if zero_phase else sosfilt(sos, x, axis=axis)
        return out[every]
    if ftype != "fir":
        raise NotImplementedError("decimate of tensors has ftype='iir' and ftype='fir'")
    b = SCIPY.firwin(20 * q + 1 if n is None else n + 1, 1.0 / q, window="hamming").astype(real)
    if zero_phase:
        return resample_poly(x, 1, q, axis=axis, window=b)
    return lfilter(b, np.ones(1, real), x, axis=axis)[every]


@twin(SCIPY.hilbert)
def hilbert(x: Any, N: int | None, axis: int) -> Any:
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
    out = ifft(fft(lines, n=n, axis=-1) * weights, axis=-1)
    return moveaxis(in_precision_of(out, lines), -1, axis)
