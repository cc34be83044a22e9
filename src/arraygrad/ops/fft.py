"""Discrete Fourier transforms: the standard's `fft` extension.

Four ops do the work, over any number of axes: from complex numbers to complex ones, there and
back, and from real numbers to half of their spectrum, there and back. All are linear, and each
is, up to a factor, the adjoint of another; so all orders of derivatives are transforms, too.
"""

from __future__ import annotations

import operator
from typing import Any, Literal

from ..backends import backend_of
from ..core.array import plain
from ..core.axes import many_axes, one_axis
from ..core.kinds import AlongAxis
from .define.library import declare
from .define.signatures import Axis, one_array
from .elementwise import conj, is_complex
from .shape import concat, roll

Norm = Literal["backward", "ortho", "forward"] | None

Axes = tuple[int, ...]
Lengths = tuple[int, ...]

# A transform with no factor has an inverse with the factor 1/n in it; the adjoint of either is the
# other one, with what the other would do for the opposite norm.
_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _as_complex(xp: Any, x: Any) -> Any:
    """The numbers as complex ones, which is all that the standard's transforms take."""
    if xp.isdtype(x.dtype, "complex floating"):
        return x
    return xp.astype(x, xp.complex64 if x.dtype == xp.float32 else xp.complex128)


def _given(axes: Axes, s: Lengths, **keywords: Any) -> dict[int, int]:
    """The lengths of a transform along its axes."""
    return dict(zip(axes, s, strict=True))


def _half(axes: Axes, s: Lengths, **keywords: Any) -> dict[int, int]:
    """The same, where half of the frequencies are kept along the last axis."""
    return {**_given(axes, s), axes[-1]: s[-1] // 2 + 1}


_fft = declare(
    "fft",
    "x",
    compute=lambda xp, x, s, axis, norm: xp.fft.fftn(_as_complex(xp, x), s=s, axes=axis, norm=norm),
    vjp=lambda g, x_shape, s, axis, norm: _resized(
        _ifft(g, s=s, axis=axis, norm=_OPPOSITE[norm]), x_shape, axis
    ),
    kind=AlongAxis(linear=True, lengths=_given),
    holomorphic=False,
)
_ifft = declare(
    "ifft",
    "x",
    compute=lambda xp, x, s, axis, norm: xp.fft.ifftn(
        _as_complex(xp, x), s=s, axes=axis, norm=norm
    ),
    vjp=lambda g, x_shape, s, axis, norm: _resized(
        _fft(g, s=s, axis=axis, norm=_OPPOSITE[norm]), x_shape, axis
    ),
    kind=AlongAxis(linear=True, lengths=_given),
    holomorphic=False,
)
# Of a real signal's frequencies only half are kept. The inverse counts those in the middle twice,
# once for the conjugate that was left out, which the adjoint of keeping them must not do; and the
# adjoint of the inverse must.
_rfft = declare(
    "rfft",
    "x",
    compute=lambda xp, x, s, axis, norm: xp.fft.rfftn(x, s=s, axes=axis, norm=norm),
    vjp=lambda g, x_shape, s, axis, norm: _resized(
        _irfft(_middle_times(0.5, g, s, axis), s=s, axis=axis, norm=_OPPOSITE[norm]), x_shape, axis
    ),
    kind=AlongAxis(linear=True, lengths=_half),
    holomorphic=False,
)
_irfft = declare(
    "irfft",
    "x",
    compute=lambda xp, x, s, axis, norm: xp.fft.irfftn(
        _as_complex(xp, x), s=s, axes=axis, norm=norm
    ),
    vjp=lambda g, x_shape, s, axis, norm: _resized(
        _middle_times(2, _rfft(g, s=s, axis=axis, norm=_OPPOSITE[norm]), s, axis), x_shape, axis
    ),
    kind=AlongAxis(linear=True, lengths=_given),
    holomorphic=False,
)


def _middle_times(factor: float, x: Any, s: Lengths, axis: Axes) -> Any:
    """Half a spectrum, with all frequencies multiplied that stand for two.

    Those are all but zero, and but the highest if the signal has even length.
    """
    n, last = s[-1], axis[-1]
    backend, like = backend_of(x), plain(x)
    middle = (n - 1) // 2
    parts = [(1, 1), (middle, factor), (n // 2 - middle, 1)]
    weights = backend.xp.concat([backend.full(like, (k,), v, x.dtype) for k, v in parts])
    return x * backend.xp.reshape(weights, (-1,) + (1,) * (x.ndim - 1 - last))


def _resized(x: Any, shape: tuple[int, ...], axes: Axes) -> Any:
    """Cut off or fill up with zeros, along some axes: the adjoint of doing the opposite."""
    for axis in axes:
        missing = shape[axis] - x.shape[axis]
        if missing < 0:
            x = x[(slice(None),) * axis + (slice(0, shape[axis]), ...)]
        elif missing > 0:
            pad = (*x.shape[:axis], missing, *x.shape[axis + 1 :])
            x = concat((x, backend_of(x).full(plain(x), pad, 0, x.dtype)), axis=axis)
    return x


# --- the arguments -------------------------------------------------------------------------------


def _norm(norm: Any) -> str:
    if norm is None:
        return "backward"
    if norm not in _OPPOSITE:
        raise ValueError(f'norm must be "backward", "ortho" or "forward", not {norm!r}')
    return norm  # type: ignore[no-any-return]


def length(n: Any, name: str) -> int:
    """A length that a user passed, as an integer of at least one."""
    try:
        number = operator.index(n)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(n).__name__}") from None
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}: nothing has no frequencies")
    return number


def _one(x: Any, n: int | None, axis: int, half: bool) -> tuple[Lengths, Axes]:
    """The length and the axis of a transform over one axis; `half` if `x` is half a spectrum."""
    place = one_axis(axis, x.ndim)
    if n is not None:
        return (length(n, "n"),), (place,)
    return (_ownlength(x, place, half),), (place,)


def _many(x: Any, s: Any, axes: Any, half: bool) -> tuple[Lengths, Axes]:
    """The lengths and the axes of a transform over several; `half` of the last, as above."""
    if s is not None and not isinstance(s, tuple | list):
        raise TypeError(f"s must be a sequence of integers, not {type(s).__name__}")
    if axes is None:
        count = x.ndim if s is None else len(s)
        if count > x.ndim:
            raise ValueError(f"s has {count} lengths, but x has {x.ndim} axes")
        places: Axes = tuple(range(x.ndim - count, x.ndim))
    else:
        places = many_axes(tuple(axes) if isinstance(axes, range) else axes, x.ndim, "axes") or ()
    if not places:
        raise ValueError("axes must name at least one axis to transform")
    if s is None:
        s = (-1,) * len(places)
    elif len(s) != len(places):
        raise ValueError(f"s has {len(s)} lengths for {len(places)} axes")
    # As in NumPy, -1 stands for the length that there is.
    lengths = tuple(
        _ownlength(x, place, half and place == places[-1])
        if isinstance(n, int) and n == -1
        else length(n, "s")
        for n, place in zip(s, places, strict=True)
    )
    return lengths, places


def _ownlength(x: Any, axis: int, half: bool) -> int:
    """How long the signal is along an axis, if the user does not say."""
    length = x.shape[axis]
    if half:
        length = 2 * (length - 1)
    if length < 1:
        found = f"axis {axis} of x has length {x.shape[axis]}"
        raise ValueError(f"{found}, which leaves no signal: give its length, by n or s")
    return length  # type: ignore[no-any-return]


def _real(x: Any, name: str) -> Any:
    if is_complex(x):
        raise TypeError(f"{name} transforms real numbers, x has dtype {x.dtype}: use fft, or real")
    return x


# --- over one axis -------------------------------------------------------------------------------


@one_array
def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The discrete Fourier transform along one axis.

    Parameters
    ----------
    x : array
        Real numbers count as complex; their gradient is real.
    n : int, optional
        The length to transform: `x` is cut off, or filled up with zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}
        Whether the factor 1/n is in the inverse, half in each, or in this transform.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    >>> ag.fft.fft(x).detach()
    tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    >>> power = ag.sum(ag.abs(ag.fft.fft(x, norm="ortho")) ** 2)
    >>> ag.grad(power, x)  # of the sum of squares, says Parseval
    tensor([2., 4., 6., 8.])
    """
    s, axes = _one(x, n, axis, half=False)
    return _fft(x, s=s, axis=axes, norm=_norm(norm))


@one_array
def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The inverse of `fft`."""
    s, axes = _one(x, n, axis, half=False)
    return _ifft(x, s=s, axis=axes, norm=_norm(norm))


@one_array
def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The frequencies of real numbers from zero to n/2: the others are their conjugates."""
    s, axes = _one(_real(x, "rfft"), n, axis, half=False)
    return _rfft(x, s=s, axis=axes, norm=_norm(norm))


@one_array
def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The inverse of `rfft`: real numbers, `n` of them.

    By default their number is even; give `n` if it was odd.
    """
    s, axes = _one(x, n, axis, half=True)
    return _irfft(x, s=s, axis=axes, norm=_norm(norm))


@one_array
def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The real spectrum, of length `n`, of a signal of which half is given as it is symmetric."""
    s, axes = _one(x, n, axis, half=True)
    return _irfft(conj(x), s=s, axis=axes, norm=_OPPOSITE[_norm(norm)])


@one_array
def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The inverse of `hfft`: half of a symmetric signal."""
    s, axes = _one(_real(x, "ihfft"), n, axis, half=False)
    return conj(_rfft(x, s=s, axis=axes, norm=_OPPOSITE[_norm(norm)]))


# --- over several axes ---------------------------------------------------------------------------


@one_array
def fftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Norm = "backward") -> Any:
    """The discrete Fourier transform over several axes.

    Parameters
    ----------
    x : array
    s : sequence of int, optional
        The length to transform along each of the axes; -1 for the one it has.
    axes : sequence of int, optional
        By default all, or as many of the last as `s` has lengths.
    norm : {"backward", "ortho", "forward"}
        As for `fft`.
    """
    lengths, places = _many(x, s, axes, half=False)
    return _fft(x, s=lengths, axis=places, norm=_norm(norm))


@one_array
def ifftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Norm = "backward") -> Any:
    """The inverse of `fftn`."""
    lengths, places = _many(x, s, axes, half=False)
    return _ifft(x, s=lengths, axis=places, norm=_norm(norm))


@one_array
def rfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Norm = "backward") -> Any:
    """The transform of real numbers over several axes; half of the frequencies along the last."""
    lengths, places = _many(_real(x, "rfftn"), s, axes, half=False)
    return _rfft(x, s=lengths, axis=places, norm=_norm(norm))


@one_array
def irfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Norm = "backward") -> Any:
    """The inverse of `rfftn`: real numbers. The length of the last axis is even unless given."""
    lengths, places = _many(x, s, axes, half=True)
    return _irfft(x, s=lengths, axis=places, norm=_norm(norm))


# --- the order of frequencies --------------------------------------------------------------------


@one_array
def fftshift(x: Any, /, *, axes: Axis = None) -> Any:
    """Put the frequency zero in the middle, along the given axes or along all."""
    places = _all_axes(x, axes)
    return roll(x, tuple(x.shape[a] // 2 for a in places), axis=places)


@one_array
def ifftshift(x: Any, /, *, axes: Axis = None) -> Any:
    """Undo `fftshift`."""
    places = _all_axes(x, axes)
    return roll(x, tuple(-(x.shape[a] // 2) for a in places), axis=places)


def _all_axes(x: Any, axes: Any) -> Axes:
    return tuple(range(x.ndim)) if axes is None else many_axes(axes, x.ndim, "axes") or ()
