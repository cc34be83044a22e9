"""`scipy.signal` with derivatives. Names that have none here are SciPy's own.

>>> import arraygrad as ag
>>> from arraygrad.scipy import signal
>>> b = ag.tensor([1.0, 0.5], requires_grad=True)
>>> ag.grad(signal.lfilter(b, [1.0], [1.0, 2.0, 3.0]).sum(), b)
tensor([6., 3.])
"""

from __future__ import annotations

from ..names import others_from
from .convolution import (
    convolve,
    convolve2d,
    correlate,
    correlate2d,
    fftconvolve,
    oaconvolve,
)
from .filters import (
    filtfilt,
    freqz,
    lfilter,
    lfilter_zi,
    sosfilt,
    sosfilt_zi,
    sosfiltfilt,
)
from .rates import decimate, hilbert, resample, resample_poly
from .smoothing import detrend, savgol_filter
from .spectra import (
    coherence,
    csd,
    istft,
    periodogram,
    spectrogram,
    stft,
    welch,
)
from .systems import (
    dlsim,
    lsim,
)

__all__ = [
    "coherence",
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "decimate",
    "detrend",
    "dlsim",
    "fftconvolve",
    "filtfilt",
    "freqz",
    "hilbert",
    "istft",
    "lfilter",
    "lfilter_zi",
    "lsim",
    "oaconvolve",
    "periodogram",
    "resample",
    "resample_poly",
    "savgol_filter",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
    "spectrogram",
    "stft",
    "welch",
]

__getattr__ = others_from("scipy.signal")


def __dir__() -> list[str]:
    return __all__
