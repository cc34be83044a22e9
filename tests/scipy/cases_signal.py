"""Cases of `scipy.signal`, `scipy.fft` and `scipy.spatial.distance`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.signal
from crossing import IS_RECENT, Case

_rng = np.random.default_rng(5)


def _any(*shape: int) -> Any:
    return _rng.normal(size=shape)


def _complex(*shape: int) -> Any:
    return _any(*shape) + 1j * _any(*shape)


def _case(
    module: str, name: str, *arrays: Any, label: str = "", flags: Any = None, **keywords: Any
) -> Case:
    named = {k: "a function" if callable(v) else v for k, v in keywords.items()}
    options = ", ".join(f"{k}={v}" for k, v in named.items())

    def call(sp: Any, *args: Any) -> Any:
        for part in module.split("."):
            sp = getattr(sp, part)
        return getattr(sp, name)(*args, **keywords)

    return Case(f"{module}.{name}({options}){label}", call, arrays, **(flags or {}))


def _signal(name: str, *arrays: Any, **keywords: Any) -> Case:
    return _case("signal", name, *arrays, **keywords)


_b, _a = scipy.signal.butter(2, 0.3)
_sos = scipy.signal.butter(4, 0.3, output="sos")


def _sections(sos: Any) -> Any:
    """Sections whose first coefficient of the denominator is one, as SciPy demands."""
    return sos * np.array([1, 1, 1, 0, 1, 1]) + np.array([0, 0, 0, 1, 0, 0])


def _designed(name: str, sp: Any, wn: Any, **options: Any) -> Any:
    return getattr(sp.signal, name)(Wn=wn, **options)


def _designs() -> list[Case]:
    """Filters by their critical frequencies: each sort, each band, and each form of the result."""
    one, two = np.array(0.3), np.array([0.2, 0.45])
    sorts: Any = {
        "butter": {},
        "cheby1": {"rp": 1.0},
        "cheby2": {"rs": 30.0},
        "ellip": {"rp": 1.0, "rs": 30.0},
        "bessel": {"norm": "mag"},
    }
    forms = {"ba": (3,), "sos": (3, 4), "zpk": (2,)}
    return [
        Case(
            f"signal.{name}(btype={btype}, output={output}, {order=})",
            functools.partial(_designed, name, N=order, btype=btype, output=output, **ripples),
            (wn,),
        )
        for name, ripples in sorts.items()
        for btype, wn in {"low": one, "high": one, "bandpass": two, "bandstop": two}.items()
        for output, orders in forms.items()
        for order in orders
    ]


CASES = [
    Case(
        "signal.firwin2",
        lambda sp, gain: [
            sp.signal.firwin2(9, [0, 0.4, 0.4, 1.5], gain, fs=3.0, window=None, nfreqs=40),
            sp.signal.firwin2(8, [0, 0.4, 0.7, 1], gain * np.array([1, 1, 1, 0])),
            sp.signal.firwin2(
                9, [0, 0.4, 0.7, 1], gain * np.array([0, 1, 1, 0]), antisymmetric=True
            ),
            sp.signal.firwin2(
                8, [0, 0.4, 0.7, 1], gain * np.array([0, 1, 1, 1]), antisymmetric=True
            ),
        ],
        (np.array([1.0, 0.8, 0.3, 0.2]),),
    ),
    *_designs(),
    Case(
        "signal.iirfilter",
        lambda sp, wn: (
            sp.signal.iirfilter(3, wn, rp=1.0, ftype="cheby1", fs=9.0),
            sp.signal.butter(3, wn, "bandstop", analog=True),
            sp.signal.butter(2, [wn[0], wn[1]], "bp", output="zpk"),
        ),
        (np.array([0.2, 0.45]),),
    ),
    *[
        Case(
            "signal.freqz_sos",
            lambda sp, sos: sp.signal.freqz_sos(_sections(sos), 5)[1],
            (_any(2, 6),),
        )
        for _ in range(IS_RECENT)
    ],
    *[
        _signal("upfirdn", _any(4), _any(5), up=up, down=down)
        for up, down in ((1, 1), (3, 2), (2, 5), (1, 7))
    ],
    _signal("upfirdn", _any(3), _any(4, 2), up=2, down=3, axis=0),
    _signal("upfirdn", _complex(3), _complex(2), up=3, label=" complex"),
    *[
        _signal(name, _any(5), _any(3), mode=mode)
        for name in ("convolve", "correlate", "fftconvolve", "oaconvolve")
        for mode in ("full", "same", "valid")
    ],
    _signal("convolve", _any(3), _any(5), mode="same", label=" longer second"),
    _signal("correlate", _any(3), _any(5), mode="valid", label=" longer second"),
    _signal("convolve", _any(4, 3), _any(2, 2), method="fft"),
    _signal("correlate", _complex(4), _complex(2), label=" complex", mode="same"),
    _signal("fftconvolve", _any(2, 4), _any(2, 3), axes=1),
    *[
        _signal(name, _any(4, 5), _any(3, 2), mode=mode, boundary=boundary)
        for name in ("convolve2d", "correlate2d")
        for mode, boundary in (("full", "fill"), ("same", "wrap"), ("full", "symm"))
    ],
    _signal("correlate2d", _any(4, 5), _any(3, 2), mode="valid"),
    _signal("convolve2d", _any(4, 5), _any(2, 2), mode="same", fillvalue=1.5),
    # Filters.
    _signal("lfilter", _b, _a * 1.5, _any(8)),
    _signal("lfilter", _any(3), np.array([1.0]), _any(2, 6), label=" without a"),
    _signal("lfilter", _any(2), np.array([1.2, 0.3, 0.1]), _any(6, 2), axis=0),
    Case(
        "signal.lfilter, zi",
        lambda sp, b, a, x, zi: sp.signal.lfilter(b, a, x, zi=zi),
        (_b, _a, _any(2, 6), _any(2, 2)),
    ),
    Case(
        "signal.lfilter, many taps",
        lambda sp, b, x: sp.signal.lfilter(b, [1.0], x),
        (_any(70), _any(2, 80)),
    ),
    _signal("lfilter", _complex(3), _complex(3) * 0.1 + np.eye(1, 3)[0], _complex(6), label=" c"),
    _signal("lfilter_zi", _b, _a),
    Case("signal.sosfilt", lambda sp, s, x: sp.signal.sosfilt(_sections(s), x), (_sos, _any(2, 8))),
    Case(
        "signal.sosfilt, zi",
        lambda sp, x, zi: sp.signal.sosfilt(_sos, x, zi=zi),
        (_any(2, 8), _any(2, 2, 2)),
    ),
    Case("signal.sosfilt_zi", lambda sp, s: sp.signal.sosfilt_zi(_sections(s)), (_sos,)),
    _signal("filtfilt", _b, _a, _any(12)),
    _signal("filtfilt", _b, _a, _any(12), padtype="even", padlen=4),
    _signal("filtfilt", _b, _a, _any(12, 2), padtype=None, axis=0),
    *[
        _signal("filtfilt", _b, _a, _any(2, 12), method="gust", irlen=n, flags={"rtol": 1e-8})
        for n in (None, 4)
    ],
    Case(
        "signal.sosfiltfilt",
        lambda sp, s, x: sp.signal.sosfiltfilt(_sections(s), x, padlen=6),
        (_sos, _any(10)),
    ),
    _signal("savgol_filter", _any(9), window_length=5, polyorder=2),
    _signal("savgol_filter", _any(9), window_length=4, polyorder=2),
    _signal("savgol_filter", _any(9), window_length=5, polyorder=2, deriv=1, delta=0.5),
    *[
        _signal("savgol_filter", _any(7), window_length=5, polyorder=2, mode=mode)
        for mode in ("mirror", "nearest", "wrap", "constant")
    ],
    _signal("detrend", _any(2, 7)),
    _signal("detrend", _any(7, 2), axis=0, type="constant"),
    _signal("detrend", _any(9), bp=4),
    *[
        _signal("resample", _any(n), num=m, label=f" of {n}")
        for n, m in ((6, 9), (6, 4), (7, 4), (5, 8), (8, 6))
    ],
    *[
        _signal("resample", _complex(n), num=m, label=f" of {n} complex")
        for n, m in ((6, 9), (6, 4), (7, 4), (8, 6))
    ],
    *[
        _signal("resample", make(7, 2), num=5, window=window, label=f" of {make.__name__}")
        for make in (_any, _complex)
        for window in ("hann", ("kaiser", 2.0))
    ],
    _signal("resample", _complex(6), num=9, window=lambda f: 1 + f**2),
    *[
        _signal("resample", _complex(6), num=4, domain="freq", window=np.arange(1.0, 7.0))
        for _ in range(IS_RECENT)
    ],
    _signal("resample_poly", _any(12), up=2, down=3),
    _signal("resample_poly", _any(9, 2), up=3, down=1),
    _signal("decimate", _any(40), q=3),
    _signal("decimate", _any(30), q=3, ftype="fir"),
    _signal("decimate", _any(30), q=2, ftype="fir", zero_phase=False),
    _signal("hilbert", _any(6)),
    _signal("hilbert", _any(7), N=9),
    Case("signal.freqz", lambda sp, b, a: sp.signal.freqz(b, a, worN=5)[1], (_b, _a)),
    # Spectra.
    _signal("welch", _any(20), nperseg=8),
    _signal("welch", _any(20, 2), nperseg=8, axis=0, average="median", detrend="linear"),
    _signal("welch", _complex(20), nperseg=8, return_onesided=False, label=" complex"),
    *[
        _signal("welch", _complex(20, 2), nperseg=8, axis=0, label=" complex, one side asked for")
        for _ in range(IS_RECENT)  # older versions warn
    ],
    _signal("periodogram", _any(8), window=np.hanning(8)),
    _signal("csd", _any(20), _any(18), nperseg=7, scaling="spectrum"),
    _signal("csd", _any(20), _any(20), nperseg=6, average="median"),
    _signal("spectrogram", _any(2, 24), nperseg=8, mode="angle", window="hamming"),
    _signal("fftconvolve", _any(5, 1), _any(3, 2), mode="valid", label=" of planes"),
    _signal("oaconvolve", _any(2, 5, 1), _any(2, 3, 2), mode="valid", axes=[1, 2]),
    _signal("coherence", _any(20), _any(20), nperseg=6),
    _signal("periodogram", _any(9)),
    _signal("periodogram", _any(8), nfft=12, window="hann", fs=2.0),
    _signal("spectrogram", _any(2, 24), nperseg=8),
    _signal("spectrogram", _any(24), nperseg=8, mode="magnitude"),
    _signal("stft", _any(20), nperseg=8),
    _signal("stft", _any(20, 2), nperseg=8, axis=0, boundary="even", scaling="psd"),
    _signal("istft", _complex(5, 4)),
    _signal("istft", _complex(2, 5, 4), nperseg=8, noverlap=6),
    *[
        _signal("lombscargle", _any(9) * 3, _any(9), np.array([0.7, 1.9, 2.2]), **options)
        for options in (
            {},
            {"normalize": True},
            *(
                (
                    {"floating_mean": True, "normalize": True},
                    {"floating_mean": True, "normalize": "amplitude"},
                )
                if IS_RECENT
                else ()
            ),
        )
    ],
    # Systems.
    Case(
        "signal.ss2tf",
        lambda sp, a, b, c, d: sp.signal.ss2tf(a, b, c, d, input=1),
        (_any(3, 3), _any(3, 2), _any(2, 3), _any(2, 2)),
    ),
    Case(
        "signal.ss2tf of a defective matrix",
        lambda sp, a, b, c, d: sp.signal.ss2tf(a, b, c, d),
        (np.array([[1.0, 1.0], [0.0, 1.0]]), _any(2, 1), _any(1, 2), _any(1, 1)),
    ),
    *[
        Case(
            f"signal.lsim, interp={interp}",
            lambda sp, a, b, c, d, u, x0, interp=interp: sp.signal.lsim(
                (a, b, c, d), u, np.linspace(0, 1, 5), X0=x0, interp=interp
            )[1:],
            (_any(2, 2), _any(2, 1), _any(1, 2), _any(1, 1), _any(5), _any(2)),
        )
        for interp in (True, False)
    ],
    Case(
        "signal.dlsim",
        lambda sp, a, b, c, d, u, x0: sp.signal.dlsim((a, b, c, d, 0.5), u, x0=x0)[1:],
        (_any(2, 2), _any(2, 1), _any(1, 2), _any(1, 1), _any(5), _any(2)),
    ),
    # Transforms.
    *[
        _case("fft", name, _any(5), type=type, norm=norm)
        for name in ("dct", "dst", "idct", "idst")
        for type in (1, 2, 3, 4)
        for norm in ("backward", "ortho")
    ],
    _case("fft", "dct", _any(5), norm="forward", orthogonalize=True, type=2),
    _case("fft", "dct", _any(5), norm="ortho", orthogonalize=False, type=3),
    _case("fft", "dct", _any(5, 2), n=7, axis=0),
    _case("fft", "dct", _complex(4), label=" complex"),
    _case("fft", "dctn", _any(3, 4)),
    _case("fft", "idstn", _any(3, 4), axes=[0], norm="ortho"),
    _case("fft", "fft", _complex(5), n=4),
    _case("fft", "rfft", _any(5)),
    _case("fft", "irfft", _complex(4)),
    _case("fft", "fft2", _any(2, 3, 4)),
    _case("fft", "ifftn", _complex(3, 4)),
    _case("fft", "fftshift", _any(5)),
]

# --- distances -----------------------------------------------------------------------------------

_metrics: dict[str, dict[str, Any]] = {
    "euclidean": {},
    "sqeuclidean": {"w": np.array([0.5, 1.0, 2.0])},
    "cityblock": {"w": np.array([0.5, 1.0, 2.0])},
    "chebyshev": {},
    "minkowski": {"p": 3, "w": np.array([0.5, 1.0, 2.0])},
    "seuclidean": {},
    "mahalanobis": {},
    "cosine": {},
    "correlation": {},
    "canberra": {},
    "braycurtis": {},
}
for _name, _options in _metrics.items():
    CASES += [
        _case(
            "spatial.distance",
            "cdist",
            _any(4, 3) + 2,
            _any(3, 3) + 2,
            label=f" {_name}",
            metric=_name,
            **_options,
        ),
        _case("spatial.distance", "pdist", _any(5, 3), label=f" {_name}", metric=_name, **_options),
    ]
CASES += [
    _case("spatial.distance", "pdist", _rng.uniform(0.2, 1, (3, 4)), metric="jensenshannon"),
    _case("spatial.distance", "squareform", _any(6)),
    Case(
        "spatial.distance.squareform of a matrix",
        lambda sp, x: sp.spatial.distance.squareform(x + x.T - 2 * np.diag(np.diag(x))),
        (_any(3, 3),),
    ),
    *[
        _case("spatial.distance", name, _any(3), _any(3))
        for name in ("euclidean", "cosine", "minkowski", "canberra")
    ],
]

_stable = _any(3, 3) - 2 * np.eye(3), _any(3, 2), _any(1, 3), np.zeros((1, 2))
CASES += [
    Case(
        f"signal.cont2discrete({method})",
        lambda sp, *args, m=method, alpha=alpha: sp.signal.cont2discrete(
            (*args[:3], _stable[3]), args[3], m, alpha
        )[:4],
        (*_stable[:3], np.array(0.1)),
    )
    for method, alpha in (
        ("zoh", None),
        ("foh", None),
        ("gbt", 0.3),
        ("bilinear", None),
        ("euler", None),
        ("backward_diff", None),
        ("impulse", None),
    )
]
CASES += [
    Case(
        f"signal.firwin {n}, {cutoff}, {options}",
        lambda sp, cutoff, n=n, o=options: sp.signal.firwin(n, cutoff, **o),
        (np.array(cutoff),),
    )
    for n, cutoff, options in (
        (7, 0.3, {}),
        (7, 0.3, {"pass_zero": False}),
        (8, [0.2, 0.5], {"pass_zero": "bandpass", "scale": False}),
        (7, [0.2, 0.5], {"pass_zero": "bandstop", "width": 0.1}),
        (8, [1.0, 2.0, 3.0], {"fs": 8.0, "window": "hann"}),
    )
]
CASES += [
    _signal("medfilt", _any(7)),
    _signal("medfilt", _any(4, 5), kernel_size=(3, 1)),
    _signal("medfilt2d", _any(4, 5), kernel_size=3),
]
