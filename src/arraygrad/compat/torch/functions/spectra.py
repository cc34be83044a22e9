"""Fourier transforms of short stretches of a signal, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import fft as native
from .... import nn, ops
from ....arrays.creation import asarray
from ....core.array import plain
from ..publish import function


def _lengths(name: str, n_fft: int, hop: Any, win: Any, window: Any) -> tuple[int, int]:
    """The step between stretches and the length of the window."""
    hop = n_fft // 4 if hop is None else hop
    win = n_fft if win is None else win
    if hop <= 0:
        raise RuntimeError(f"{name}(): hop_length must be positive, not {hop}")
    if not 0 < win <= n_fft:
        raise RuntimeError(f"{name}(): win_length must be from 1 to n_fft={n_fft}, not {win}")
    if window is not None and tuple(window.shape) != (win,):
        raise RuntimeError(
            f"{name}(): window must have the shape ({win},), not {tuple(window.shape)}"
        )
    return hop, win


def _centred(window: Any, win: int, n_fft: int, dtype: Any) -> Any:
    """The window with zeros on both sides up to the length of the transform."""
    window = asarray(np.ones(win, dtype)) if window is None else window
    left = (n_fft - win) // 2
    return ops.pad(window, ((left, n_fft - win - left),))


@function
def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The Fourier transforms of stretches of a signal: frequencies, then stretches."""
    hop, win = _lengths("stft", n_fft, hop_length, win_length, window)
    if input.ndim not in (1, 2):
        raise RuntimeError(f"stft(): input must have one or two axes, not {input.ndim}")
    is_complex = input.dtype.kind == "c" or (window is not None and window.dtype.kind == "c")
    onesided = not is_complex if onesided is None else onesided
    if return_complex is None:
        if not is_complex:
            raise RuntimeError("stft requires the return_complex parameter for real inputs")
        return_complex = True
    if onesided and is_complex:
        raise RuntimeError("stft(): onesided is for real numbers only")
    if align_to_window and center:
        raise RuntimeError("stft(): align_to_window is only for center=False")
    weights = _centred(window, win, n_fft, input.dtype)
    x = ops.reshape(input, (1, -1)) if input.ndim == 1 else input
    if center or align_to_window:
        width = n_fft // 2 if center else (n_fft - win) // 2
        mode = {"replicate": "edge", "circular": "wrap"}.get(pad_mode, pad_mode)
        x = ops.pad(x, ((0, 0), (width, width)), mode=mode if center else "constant")
    if not 0 < n_fft <= x.shape[1]:
        raise RuntimeError(f"stft(): n_fft must be from 1 to {x.shape[1]}, not {n_fft}")
    count = 1 + (x.shape[1] - n_fft) // hop
    places = np.arange(count)[:, None] * hop + np.arange(n_fft)
    stretches = ops.multiply(x[:, places], weights)
    norm: Any = "ortho" if normalized else "backward"
    if onesided:
        found = native.rfft(stretches, axis=-1, norm=norm)
    else:
        kind = np.promote_types(stretches.dtype, np.complex64)
        found = native.fft(ops.astype(stretches, kind), axis=-1, norm=norm)
    found = ops.matrix_transpose(found)
    found = found if input.ndim == 2 else ops.squeeze(found, axis=0)
    return found if return_complex else ops.stack([ops.real(found), ops.imag(found)], axis=-1)


@function
def istft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """The signal that has given Fourier transforms of stretches, by least squares."""
    hop, win = _lengths("istft", n_fft, hop_length, win_length, window)
    if input.dtype.kind != "c":
        raise RuntimeError("istft requires a complex-valued input tensor: use view_as_complex()")
    if input.ndim not in (2, 3):
        raise RuntimeError(f"istft(): input must have two or three axes, not {input.ndim}")
    bins = input.shape[-2]
    onesided = bins != n_fft if onesided is None else onesided
    if bins != (n_fft // 2 + 1 if onesided else n_fft):
        raise RuntimeError(f"istft(): {bins} frequencies do not fit n_fft={n_fft}")
    if not return_complex and window is not None and window.dtype.kind == "c":
        raise RuntimeError("istft(): a complex window has complex signals: return_complex=True")
    if return_complex and onesided:
        raise RuntimeError("istft(): a onesided transform has real signals: return_complex=False")
    real = np.empty(0, input.dtype).real.dtype
    weights = _centred(window, win, n_fft, real)
    x = ops.matrix_transpose(input if input.ndim == 3 else ops.expand_dims(input, 0))
    norm: Any = "ortho" if normalized else "backward"
    if return_complex:
        stretches = native.ifft(x, axis=-1, norm=norm)
    else:  # the second half of the frequencies is not read
        stretches = native.irfft(x[..., : n_fft // 2 + 1], n=n_fft, axis=-1, norm=norm)
    count = x.shape[1]
    total = n_fft + hop * (count - 1)
    signal = _overlapped(ops.multiply(stretches, weights), hop, total)
    square = ops.broadcast_to(weights * weights, (1, count, n_fft))
    envelope = _overlapped(square, hop, total)
    start = n_fft // 2 if center else 0
    end = total - (n_fft // 2 if center else 0) if length is None else start + length
    signal, envelope = signal[:, start:end], envelope[:, start:end]
    if bool(np.any(np.abs(np.asarray(plain(envelope))) < 1e-11)):
        raise RuntimeError(
            "istft(): the window overlap add min is 0: the windows leave out a part of the signal"
        )
    signal = ops.divide(signal, envelope)
    if length is not None and signal.shape[1] < length:
        signal = ops.pad(signal, ((0, 0), (0, length - signal.shape[1])))
    return signal if input.ndim == 3 else ops.squeeze(signal, axis=0)


def _overlapped(stretches: Any, hop: int, total: int) -> Any:
    """Stretches laid side by side at equal steps, and added where they overlap."""
    sizes = ((1, total), (1, stretches.shape[-1]))
    return nn.fold(ops.matrix_transpose(stretches), *sizes, stride=(1, hop))[:, 0, 0]
