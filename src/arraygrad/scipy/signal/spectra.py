"""Spectra of signals: periodograms, Welch's method, short-time Fourier transforms.

Windows are constants. Frequencies and times are those that SciPy gives for a signal of zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array
from ...fft import fft, ifft, irfft, rfft
from ...ops import abs as _abs
from ...ops import angle, concat, conj, imag, is_complex, matrix_transpose, mean, moveaxis, real
from ...ops import median as _median
from ..twins import floating, in_precision_of, refuse, twin
from .lines import SCIPY, added_at, extended, segments, zeros
from .smoothing import detrend as _detrend


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
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    return_onesided: bool,
    scaling: str,
    axis: int,
) -> Any:
    """The cross spectra of segments: the axis of segments is the last but one."""
    same = y is x
    x = moveaxis(floating(x), axis, -1)
    if not same:
        x, y = _same_length(x, moveaxis(floating(y), axis, -1))
    win, length, step, size = _sizes(x.shape[-1], window, nperseg, noverlap, nfft)
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
def csd(
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> Any:
    """The cross power spectral density, by Welch's method."""
    given = (fs, window, nperseg, noverlap, nfft)
    options = (*given, detrend, return_onesided, scaling, axis)
    x, y = (x, x) if y is x else (floating(x), floating(y))
    f, _ = SCIPY.csd(_like(x), _like(y), *given, False, return_onesided, scaling, axis, average)
    power = _averaged(_cross(x, y, *options), average)
    return f, moveaxis(in_precision_of(power, x, y), -1, axis)


@twin(SCIPY.welch)
def welch(
    x: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> Any:
    """The power spectral density, by Welch's method."""
    x = floating(x)
    f, power = csd(
        x,
        x,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
    )
    return f, power


@twin(SCIPY.periodogram)
def periodogram(
    x: Any,
    fs: float = 1.0,
    window: Any = "boxcar",
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> Any:
    """The power spectral density of the whole signal."""
    x = floating(x)
    n = x.shape[axis]
    refuse("periodogram", nfft=(nfft if nfft is None or nfft < n else None, None))
    window = "boxcar" if window is None else window
    return welch(x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis)


@twin(SCIPY.coherence)
def coherence(
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> Any:
    """The squared coherence of two signals."""
    options = (fs, window, nperseg, noverlap, nfft, detrend)
    f, xx = welch(x, *options, axis=axis)
    _, yy = welch(y, *options, axis=axis)
    _, xy = csd(x, y, *options, axis=axis)
    return f, (real(xy * conj(xy)) if is_complex(xy) else xy * xy) / xx / yy


def _on_axes(parts: Any, axis: int) -> Any:
    """The axes of segments and frequencies, as SciPy arranges them: frequencies at `axis`."""
    turned = matrix_transpose(parts)
    place = axis - 1 if axis < 0 else axis
    return moveaxis(turned, -2, place) if place not in (-2, turned.ndim - 2) else turned


@twin(SCIPY.stft)
def stft(
    x: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: Any = 256,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> Any:
    """The short-time Fourier transform."""
    x = floating(x)
    kinds = {"spectrum": "spectrum", "psd": "density"}
    f, t, _ = SCIPY.stft(
        _like(x),
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        False,
        return_onesided,
        boundary,
        padded,
        axis,
        scaling,
    )
    lines = moveaxis(x, axis, -1)
    win, length, step, size = _sizes(lines.shape[-1], window, nperseg, noverlap, nfft)
    onesided = return_onesided and not is_complex(x)
    parts = _transformed(lines, win, length, step, size, detrend, onesided, boundary, padded)
    parts = in_precision_of(parts * np.sqrt(_scale(kinds[scaling], fs, win)), x)
    return f, t, _on_axes(parts, axis)


@twin(SCIPY.spectrogram)
def spectrogram(
    x: Any,
    fs: float = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> Any:
    """The spectra of consecutive segments."""
    x = floating(x)
    if mode == "phase":
        raise NotImplementedError(
            "spectrogram of tensors has the modes psd, complex, magnitude and angle, not 'phase'"
        )
    f, t, _ = SCIPY.spectrogram(
        _like(x), fs, window, nperseg, noverlap, nfft, False, return_onesided, scaling, axis, mode
    )
    lines = moveaxis(x, axis, -1)
    win, length, step, size = _sizes(lines.shape[-1], window, nperseg, noverlap, nfft)
    if noverlap is None:
        step = length - length // 8
    if mode == "psd":
        power = _cross(
            lines,
            lines,
            fs,
            win,
            length,
            length - step,
            nfft,
            detrend,
            return_onesided,
            scaling,
            -1,
        )
        return f, t, _on_axes(in_precision_of(power, x), axis)
    onesided = return_onesided and not is_complex(x)
    parts = _transformed(lines, win, length, step, size, detrend, onesided)
    parts = in_precision_of(parts * np.sqrt(_scale(scaling, fs, win)), x)
    if mode != "complex":
        parts = _abs(parts) if mode == "magnitude" else angle(parts)
    return f, t, _on_axes(parts, axis)


@twin(SCIPY.istft)
def istft(
    Zxx: Any,  # noqa: N803  (SciPy's name)
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
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
