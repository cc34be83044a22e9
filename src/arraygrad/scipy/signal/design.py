"""Filters by their critical frequencies: Butterworth's and others, as `iirfilter` has them.

SciPy computes the coefficients. Their derivatives by the frequencies are those of the same steps:
the zeros and poles of a prototype are moved to the frequencies, and mapped from analog to digital.
The order and the ripples of the prototype are constants. `firwin` is a filter by its cutoffs,
`firwin2` by its gains.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.array import AnyFunction, plain
from ...core.kinds import Opaque
from ...ops import (
    concat,
    cos,
    expand_dims,
    is_complex,
    matmul,
    prod,
    real,
    reshape,
    sqrt,
    stack,
    sum,
    take,
    take_along_axis,
    tan,
)
from ...ops.define.library import constant
from ...ops.special.sinc import sinc
from ..names import scipy_module
from ..twins import by_scipy, double, has_arrays, has_values, twin
from ..values import attach
from .lines import SCIPY

__all__ = ["bessel", "butter", "cheby1", "cheby2", "ellip", "firwin", "firwin2", "iirfilter"]

_OPTIMIZE = scipy_module("scipy.optimize")
_PASS, _STOP = ("band", "bandpass", "pass", "bp"), ("bs", "bandstop", "bands", "stop")
_TOP, _BOTTOM = slice(0, 3), slice(3, 6)  # the columns of a section


def _designed(Wn: Any, *, order: int, which: int, options: Any) -> Any:
    found = SCIPY.iirfilter(order, Wn, **dict(options))
    return np.asarray(found[which] if isinstance(found, tuple) else found)


# A part of what SciPy designs.
_values = constant(
    "scipy.signal.iirfilter_values", "Wn", kind=Opaque(), compute=by_scipy(_designed)
)


def _sections_of(z: Any, p: Any, sos: Any) -> Any:
    """Which zeros, and which poles, belong to the sections."""
    both = []
    for roots, columns in ((z, _TOP), (p, _BOTTOM)):
        there = np.concatenate([np.roots(section[columns]) for section in sos])
        both.append(_order_of(roots, there))
    return np.stack(both)


_sections = constant(
    "scipy.signal.sections_of", "z", "p", "sos", kind=Opaque(), compute=by_scipy(_sections_of)
)


def _order_of(roots: Any, values: Any) -> Any:
    """Which of our roots each of SciPy's is: of two imaginary ones, a rounding error decides."""
    return _OPTIMIZE.linear_sum_assignment(np.abs(values[:, None] - roots))[1]


_order = constant(
    "scipy.signal.order_of_roots", "roots", "values", kind=Opaque(), compute=by_scipy(_order_of)
)


def _with_roots(values: Any, roots: Any) -> Any:
    """SciPy's zeros or poles, with the derivatives of ours."""
    roots = take_along_axis(roots, _order(roots, values), axis=0)
    return attach(values, roots if is_complex(values) else real(roots))


def _moved(z: Any, p: Any, k: Any, w: Any, btype: str) -> tuple[Any, Any, Any]:
    """The zeros, poles and gain of a prototype at other frequencies."""
    more = len(p) - len(z)
    if btype not in (*_PASS, *_STOP):
        w = w if w.ndim == 0 else w[0]
        if btype.startswith("l"):
            return z * w, p * w, k * w**more
        gain = k * np.real(np.prod(-z) / np.prod(-p))
        return concat((w / z, np.zeros(more, complex))), w / p, gain + 0 * w
    half, centre = (w[1] - w[0]) / 2, sqrt(w[0] * w[1])

    def split(x: Any) -> Any:
        root = sqrt(x * x - centre * centre)
        return concat((x + root, x - root))

    if btype in _PASS:
        zeros = concat((split(z * half), np.zeros(more, complex)))
        return zeros, split(p * half), k * (2 * half) ** more
    ends = centre * 1j * np.repeat([1.0, -1.0], more)
    gain = k * np.real(np.prod(-z) / np.prod(-p))
    return concat((split(half / z), ends)), split(half / p), gain + 0 * half


def _digital(z: Any, p: Any, k: Any) -> tuple[Any, Any, Any]:
    """By the bilinear transform, at two samples for each unit of time."""
    more = p.shape[0] - z.shape[0]
    gain = k * real(prod(4 - z) / prod(4 - p))
    return concat(((4 + z) / (4 - z), np.full(more, -1.0 + 0j))), (4 + p) / (4 - p), gain


def _polynomial(roots: Any) -> Any:
    """The coefficients of a polynomial, by its roots, which are real or in pairs."""
    out: Any = np.ones(1, complex)
    for i in range(roots.shape[0]):
        zero = np.zeros(1, complex)
        out = concat((out, zero)) - concat((zero, out)) * roots[i]
    return real(out)


def _by_sections(z: Any, p: Any, k: Any, sos: Any) -> Any:
    if z.shape[0] % 2:
        z, p = (concat((roots, np.zeros(1, complex))) for roots in (z, p))
    places = _sections(z, p, sos)
    halves = []
    for row, roots in enumerate((z, p)):
        first, second = (
            take_along_axis(roots, take(places, row, axis=0)[start::2], axis=0) for start in (0, 1)
        )
        one = real(first) * 0 + 1
        halves.append(stack((one, -real(first + second), real(first * second)), axis=1))
    is_first = (np.arange(sos.shape[0]) == 0)[:, None]
    top = halves[0] * (is_first * (k - 1) + 1)
    return concat((top, halves[1]), axis=1)


def _design(
    name: str, order: Any, Wn: Any, ripples: Any, btype: str, analog: bool, output: str, fs: Any
) -> Any:
    """The coefficients of a filter with derivatives by its frequencies."""
    rp, rs, ftype = ripples
    if has_arrays((order, rp, rs, fs)):
        raise NotImplementedError(
            f"scipy.signal.{name} has derivatives by Wn only: detach() the other arguments"
        )
    w = double(Wn)
    options = {"rp": rp, "rs": rs, "btype": btype, "analog": analog, "ftype": ftype}
    given = tuple({**options, "output": output, "fs": fs}.items())

    def value(which: int) -> Any:
        return _values(w, order=order, which=which, options=given)

    first = value(0)  # raises if the arguments are not valid
    prototype = SCIPY.iirfilter(
        order, 1.0, **{**options, "btype": "low", "analog": True, "output": "zpk"}
    )
    scaled = w if fs is None else w * (2 / fs)
    warped = scaled if analog else 4 * tan(scaled * (math.pi / 2))
    z, p, k = map(np.asarray, prototype)
    z, p, k = _moved(z, p, k, warped, btype.lower())
    if not analog:
        z, p, k = _digital(z, p, k)
    if output == "zpk":
        return _with_roots(first, z), _with_roots(value(1), p), attach(value(2), k)
    if output == "sos":
        if analog:
            raise NotImplementedError(
                f"scipy.signal.{name} has derivatives for analog filters with output='ba' or "
                "output='zpk', not 'sos'"
            )
        return attach(first, _by_sections(z, p, k, first))
    numerator = _polynomial(z) * expand_dims(k, axis=0)
    return attach(first, numerator), attach(value(1), _polynomial(p))


@twin(SCIPY.iirfilter)
def iirfilter(
    N: Any,
    Wn: Any,
    rp: Any,
    rs: Any,
    btype: str,
    analog: bool,
    ftype: str,
    output: str,
    fs: Any,
) -> Any:
    """A filter by its order and its critical frequencies; the frequencies have derivatives."""
    return _design("iirfilter", N, Wn, (rp, rs, ftype), btype, analog, output, fs)


def _filter(name: str) -> AnyFunction:
    @twin(getattr(SCIPY, name))
    def run(N: Any, Wn: Any, btype: str, analog: bool, output: str, fs: Any, **rest: Any) -> Any:
        norm = rest.get("norm")
        ripples = rest.get("rp"), rest.get("rs"), name if norm is None else f"{name}_{norm}"
        return _design(name, N, Wn, ripples, btype, analog, output, fs)

    run.__doc__ = f"scipy.signal.{name}; the critical frequencies have derivatives."
    return run


butter, cheby1, cheby2 = map(_filter, ("butter", "cheby1", "cheby2"))
ellip, bessel = map(_filter, ("ellip", "bessel"))


@twin(SCIPY.firwin)
def firwin(
    numtaps: int, cutoff: Any, width: Any, window: Any, pass_zero: Any, scale: bool, fs: Any
) -> Any:
    """The taps of a filter by its cutoff frequencies. The window and `fs` are constants."""
    if has_arrays((numtaps, width, window, fs)):
        raise NotImplementedError("firwin has derivatives by cutoff only: detach() the others")
    options = {"width": width, "window": window, "pass_zero": pass_zero, "scale": scale, "fs": fs}
    edges = reshape(double(cutoff), (-1,)) * (2 / (2 if fs is None else fs))
    value = _taps(cutoff, numtaps=numtaps, options=tuple(options.items()))  # it checks them all
    passes = int(pass_zero in ("bandstop", "lowpass", True))
    ends: Any = (np.zeros(passes), edges, np.ones((edges.shape[0] + passes) % 2))
    bands = reshape(concat(ends), (-1, 2))
    away = np.arange(numtaps) - (numtaps - 1) / 2
    if width is not None:
        attenuation = SCIPY.kaiser_atten(numtaps, width / (1 if fs is None else fs / 2))
        window = ("kaiser", SCIPY.kaiser_beta(attenuation))
    shares = bands[:, 1:] * sinc(bands[:, 1:] * away) - bands[:, :1] * sinc(bands[:, :1] * away)
    taps = sum(shares, axis=0) * SCIPY.get_window(window, numtaps, fftbins=False)
    if scale:
        low, high = bands[0, 0], bands[0, 1]
        is_last = not passes and edges.shape[0] == 1
        middle = low * 0 if passes else high if is_last else (low + high) / 2
        taps = taps / sum(taps * cos(math.pi * middle * away))
    return attach(value, taps)


def _designed_taps(cutoff: Any, *, numtaps: int, options: Any) -> Any:
    return SCIPY.firwin(numtaps, cutoff, **dict(options))


_taps = constant(
    "scipy.signal.firwin_values", "cutoff", kind=Opaque(), compute=by_scipy(_designed_taps)
)


@twin(SCIPY.firwin2)
def firwin2(numtaps: int, freq: Any, gain: Any, **options: Any) -> Any:
    """The taps of a filter by its gains, in which they are linear. Frequencies are constants.

    Gains that must be zero, at the ends of the frequencies, are constants, too.
    """
    if has_arrays((freq, options)):
        raise NotImplementedError("firwin2 has derivatives by gain only: detach() the others")
    gain = double(gain)
    if gain.ndim == 1 and has_values(gain):
        for row in plain(gain).reshape(-1, gain.shape[0]):  # one for each member of a batch
            SCIPY.firwin2(numtaps, freq, row, **options)  # it raises if something is wrong
    units = np.eye(gain.shape[0])
    if options["antisymmetric"]:
        units[0] = 0
    if options["antisymmetric"] == bool(numtaps % 2):
        units[-1] = 0
    taps = np.stack([SCIPY.firwin2(numtaps, freq, unit, **options) for unit in units])
    return matmul(gain, taps)
