"""Spectra of signals: periodograms, Welch's method, short-time Fourier transforms.

Windows are constants. Frequencies and times are those that SciPy gives for a signal of zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array
from ...fft import fft, ifft, irfft, rfft
from ...ops import abs as _abs
from ...ops import (
    angle,
    concat,
    conj,
    cos,
    expand_dims,
    imag,
    is_complex,
    matmul,
    matrix_transpose,
    mean,
    moveaxis,
    real,
    sin,
)
from ...ops import median as _median
from ..twins import floating, in_precision_of, refuse, twin
from .lines import SCIPY, added_at, extended, segments, zeros
from .smoothing import detrend as _detrend

__all__ = [
    "coherence",
    "csd",
    "istft",
    "lombscargle",
    "periodogram",
    "spectrogram",
    "stft",
    "welch",
]


def _like(x: Any) -> Any:
    """A plain signal of zeros, by which SciPy gives frequencies and times, or refuses options."""
    return np.zeros(x.shape, complex if is_complex(x) else float)


def _window(window: Any, length: int) -> Any:
    if isinstance(window, Array):
        raise NotImplementedError("spectra have no derivative by the window: detach() it")
    if isinstance(window, str | tuple):
        return SCIPY.get_window(window, length)
    return np.asarray(window)


def _transformed(
    x: Any,
    window: Any,
    length: int,
    step: int,
    nfft: int,
    detrend: Any,
    onesided: bool,
    boundary: str | None = None,
    padded: bool = False,
) -> Any:
    """The windowed transforms of all segments of lines."""
    x = extended(x, length // 2, boundary)
    if padded:
        missing = (-(x.shape[-1] - length) % step) % length
        x = concat((x, zeros(x, missing)), axis=-1) if missing else x
    parts = segments(x, length, step)
    if callable(detrend):
        parts = detrend(parts)
    elif detrend:
        parts = _detrend(parts, type=detrend, axis=-1)
    parts = parts * window
    return rfft(parts, n=nfft, axis=-1) if onesided else fft(parts, n=nfft, axis=-1)


def _sizes(
    n: int, window: Any, nperseg: Any, noverlap: Any, nfft: Any
) -> tuple[Any, int, int, int]:
    """The window as numbers, its length, the step, and the length of transforms."""
    if isinstance(window, str | tuple):
        length = min(256 if nperseg is None else int(nperseg), n)
    else:
        length = len(window) if nperseg is None else int(nperseg)
    overlap = length // 2 if noverlap is None else int(noverlap)
    return _window(window, length), length, length - overlap, int(nfft or length)


def _doubled(power: Any, nfft: int) -> Any:
    """The power of one side of the spectrum, with that of the other side added."""
    weights = np.full(nfft // 2 + 1, 2.0)
    weights[0] = 1.0
    if nfft % 2 == 0:
        weights[-1] = 1.0
    return power * weights


def _scale(scaling: str, fs: float, window: Any) -> Any:
    if scaling == "density":
        return 1.0 / (fs * (window * window).sum())
    if scaling == "spectrum":
        return 1.0 / window.sum() ** 2
    raise ValueError(f"Unknown scaling: {scaling!r}")


def _same_length(x: Any, y: Any) -> tuple[Any, Any]:
    n = max(x.shape[-1], y.shape[-1])
    x, y = (concat((v, zeros(v, n - v.shape[-1])), axis=-1) for v in (x, y))
    return x, y


def _cross(
    x: Any,
    y: Any,
    axis: int,
    detrend: Any,
    return_onesided: bool,
    scaling: str,
    fs: float,
    **segments: Any,
) -> Any:
    """The cross spectra of segments: the axis of segments is the last but one."""
    same = y is x
    x = moveaxis(floating(x), axis, -1)
    if not same:
        x, y = _same_length(x, moveaxis(floating(y), axis, -1))
    win, length, step, size = _sizes(x.shape[-1], **segments)
    onesided = return_onesided and not is_complex(x) and (same or not is_complex(y))
    options = (win, length, step, size, detrend, onesided)
    first = _transformed(x, *options)
    if same:
        power = real(first * conj(first))
    else:
        power = conj(first) * _transformed(y, *options)
    power = power * _scale(scaling, fs, win)
    return _doubled(power, size) if onesided else power


def _averaged(power: Any, average: str) -> Any:
    if average == "mean":
        return mean(power, axis=-2)
    if average != "median":
        raise ValueError(f"average must be 'median' or 'mean', got {average}")
    count = power.shape[-2]
    even = 2 * np.arange(1.0, (count - 1) // 2 + 1)
    bias = 1 + np.sum(1.0 / (even + 1) - 1.0 / even)
    if is_complex(power):
        both = _median(real(power), axis=-2) + _median(imag(power), axis=-2) * 1j
        return both / bias
    return _median(power, axis=-2) / bias


@twin(SCIPY.csd)
def csd(x: Any, y: Any, detrend: Any, axis: int, average: str, **options: Any) -> Any:
    """The cross power spectral density, by Welch's method."""
    x, y = (x, x) if y is x else (floating(x), floating(y))
    f, _ = SCIPY.csd(_like(x), _like(y), detrend=False, axis=axis, average=average, **options)
    power = _averaged(_cross(x, y, axis, detrend, **options), average)
    return f, moveaxis(in_precision_of(power, x, y), -1, axis)


@twin(SCIPY.welch)
def welch(x: Any, **options: Any) -> Any:
    """The power spectral density, by Welch's method."""
    x = floating(x)
    return csd(x, x, **options)


@twin(SCIPY.periodogram)
def periodogram(x: Any, window: Any, nfft: Any, axis: int, **options: Any) -> Any:
    """The power spectral density of the whole signal."""
    x = floating(x)
    n = x.shape[axis]
    refuse("periodogram", nfft=(nfft if nfft is None or nfft < n else None, None))
    window = "boxcar" if window is None else window
    return welch(x, window=window, nperseg=n, noverlap=0, nfft=nfft, axis=axis, **options)


@twin(SCIPY.coherence)
def coherence(x: Any, y: Any, **options: Any) -> Any:
    """The squared coherence of two signals."""
    f, xx = welch(x, **options)
    _, yy = welch(y, **options)
    _, xy = csd(x, y, **options)
    return f, (real(xy * conj(xy)) if is_complex(xy) else xy * xy) / xx / yy


def _on_axes(parts: Any, axis: int) -> Any:
    """The axes of segments and frequencies, as SciPy arranges them: frequencies at `axis`."""
    turned = matrix_transpose(parts)
    place = axis - 1 if axis < 0 else axis
    return moveaxis(turned, -2, place) if place not in (-2, turned.ndim - 2) else turned


@twin(SCIPY.stft)
def stft(x: Any, detrend: Any, axis: int, scaling: str, fs: float, **options: Any) -> Any:
    """The short-time Fourier transform."""
    x = floating(x)
    kinds = {"spectrum": "spectrum", "psd": "density"}
    f, t, _ = SCIPY.stft(_like(x), fs, detrend=False, axis=axis, scaling=scaling, **options)
    onesided = options.pop("return_onesided") and not is_complex(x)
    boundary, padded = options.pop("boundary"), options.pop("padded")
    lines = moveaxis(x, axis, -1)
    win, length, step, size = _sizes(lines.shape[-1], **options)
    parts = _transformed(lines, win, length, step, size, detrend, onesided, boundary, padded)
    parts = in_precision_of(parts * np.sqrt(_scale(kinds[scaling], fs, win)), x)
    return f, t, _on_axes(parts, axis)


@twin(SCIPY.spectrogram)
def spectrogram(
    x: Any, fs: float, noverlap: Any, detrend: Any, axis: int, mode: str, **options: Any
) -> Any:
    """The spectra of consecutive segments."""
    x = floating(x)
    if mode == "phase":
        raise NotImplementedError(
            "spectrogram of tensors has the modes psd, complex, magnitude and angle, not 'phase'"
        )
    given = {"fs": fs, "noverlap": noverlap, "detrend": False, "axis": axis, "mode": mode}
    f, t, _ = SCIPY.spectrogram(_like(x), **given, **options)
    lines = moveaxis(x, axis, -1)
    return_onesided, scaling = options.pop("return_onesided"), options.pop("scaling")
    win, length, step, size = _sizes(lines.shape[-1], noverlap=noverlap, **options)
    if noverlap is None:
        step = length - length // 8
    if mode == "psd":
        options |= {"window": win, "nperseg": length, "noverlap": length - step}
        power = _cross(lines, lines, -1, detrend, return_onesided, scaling, fs, **options)
        return f, t, _on_axes(in_precision_of(power, x), axis)
    onesided = return_onesided and not is_complex(x)
    parts = _transformed(lines, win, length, step, size, detrend, onesided)
    parts = in_precision_of(parts * np.sqrt(_scale(scaling, fs, win)), x)
    if mode != "complex":
        parts = _abs(parts) if mode == "magnitude" else angle(parts)
    return f, t, _on_axes(parts, axis)


@twin(SCIPY.istft)
def istft(
    Zxx: Any,
    fs: float,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    input_onesided: bool,
    boundary: bool,
    time_axis: int,
    freq_axis: int,
    scaling: str,
    window: Any,
) -> Any:
    """The inverse of the short-time Fourier transform."""
    z = floating(Zxx)
    refuse("istft", time_axis=(time_axis % z.ndim, z.ndim - 1))
    refuse("istft", freq_axis=(freq_axis % z.ndim, z.ndim - 2))
    t, _ = SCIPY.istft(
        np.zeros(z.shape, complex), fs, window, nperseg, noverlap, nfft, input_onesided, boundary
    )
    default = 2 * (z.shape[-2] - 1) if input_onesided else z.shape[-2]
    length = default if nperseg is None else int(nperseg)
    if nfft is None:
        nfft = length if input_onesided and length == default + 1 else default
    step = length - (length // 2 if noverlap is None else int(noverlap))
    win = _window(window, length)
    parts = matrix_transpose(z)
    parts = irfft(parts, n=nfft, axis=-1) if input_onesided else ifft(parts, n=nfft, axis=-1)
    scale = win.sum() if scaling == "spectrum" else np.sqrt(fs * (win**2).sum())
    parts = parts[..., :length] * (win * scale)
    count = z.shape[-1]
    total = length + (count - 1) * step
    place = np.arange(count)[:, None] * step + np.arange(length)
    out = added_at(parts, place, total)
    norm = np.zeros(total)
    np.add.at(norm, place, np.broadcast_to(win**2, place.shape))
    if boundary:
        out, norm = out[..., length // 2 : -(length // 2)], norm[length // 2 : -(length // 2)]
    return t, in_precision_of(out / np.where(norm > 1e-10, norm, 1.0), z)


@twin(SCIPY.lombscargle)
def lombscargle(
    x: Any,
    y: Any,
    freqs: Any,
    precenter: Any = False,
    normalize: Any = False,
    weights: Any = None,
    floating_mean: bool = False,
) -> Any:
    """The periodogram of a signal at unequal times: the best wave of each frequency.

    SciPy turns each wave so that its parts are orthogonal. Without that, the parts a and b of
    ``a cos + b sin`` solve two equations, which is the same, and smooth everywhere.
    """
    x, y, freqs = map(floating, (x, y, freqs))
    if precenter is True:
        y = y - mean(y)
    w = np.full(x.shape, 1.0) if weights is None else floating(weights)
    w = w / w.sum()
    phase = expand_dims(x, axis=1) * freqs
    c, s, wy = cos(phase), sin(phase), w * y
    yc, ys, yy = matmul(wy, c), matmul(wy, s), matmul(wy, y)
    cc, cs = matmul(w, c * c), matmul(w, c * s)
    ss = 1 - cc
    if floating_mean:
        mc, ms, my = matmul(w, c), matmul(w, s), wy.sum()
        yc, ys, yy = yc - my * mc, ys - my * ms, yy - my * my
        cc, cs, ss = cc - mc * mc, cs - mc * ms, ss - ms * ms
    size = cc * ss - cs * cs
    a, b = (ss * yc - cs * ys) / size, (cc * ys - cs * yc) / size
    if normalize == "amplitude":
        return a + 1j * b
    power = a * yc + b * ys
    return power / yy if normalize in (True, "normalize") else power * (x.shape[0] / 2)
