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
from .design import bessel, butter, cheby1, cheby2, ellip, iirfilter
from .filters import (
    filtfilt,
    freqz,
    freqz_sos,
    lfilter,
    lfilter_zi,
    sosfilt,
    sosfilt_zi,
    sosfiltfilt,
)
from .rates import decimate, hilbert, resample, resample_poly, upfirdn
from .smoothing import detrend, savgol_filter
from .spectra import (
    coherence,
    csd,
    istft,
    lombscargle,
    periodogram,
    spectrogram,
    stft,
    welch,
)
from .systems import (
    dlsim,
    lsim,
    ss2tf,
)

__all__ = [
    "bessel",
    "butter",
    "cheby1",
    "cheby2",
    "coherence",
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "decimate",
    "detrend",
    "dlsim",
    "ellip",
    "fftconvolve",
    "filtfilt",
    "freqz",
    "freqz_sos",
    "hilbert",
    "iirfilter",
    "istft",
    "lfilter",
    "lfilter_zi",
    "lombscargle",
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
    "ss2tf",
    "stft",
    "upfirdn",
    "welch",
]

__getattr__ = others_from("scipy.signal")


def __dir__() -> list[str]:
    return __all__
