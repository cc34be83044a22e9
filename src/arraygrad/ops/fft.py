"""Discrete Fourier transforms: the standard's `fft` extension.

All functions use four ops, each over any number of axes: the transform of complex numbers and its
inverse, and the transform of real numbers to half of their spectrum and its inverse. All four are
linear, and the adjoint of each is another one, up to a factor. So derivatives of all orders are
transforms, too. Frequencies (`fftfreq`) are in `arrays.frequencies`.
"""

from __future__ import annotations

import operator
from typing import Any, Literal

from ..backends import backend_of
from ..core.array import AnyFunction, plain
from ..core.axes import many_axes, one_axis
from ..core.kinds import AlongAxis
from .define.library import declare
from .define.signatures import Axis, one_array
from .elementwise import conj, is_complex
from .shape import concat, roll

__all__ = [
    "fft", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn",
    "rfft", "rfftn",
]  # fmt: skip

Norm = Literal["backward", "ortho", "forward"] | None

Axes = tuple[int, ...]
Lengths = tuple[int, ...]

# The adjoint of a transform is the inverse transform with the opposite norm: if the transform has
# no factor, the adjoint has none either, while the inverse has the factor 1/n.
_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _as_complex(xp: Any, x: Any) -> Any:
    """The array as complex numbers: the standard's transforms accept no others."""
    if xp.isdtype(x.dtype, "complex floating"):
        return x
    return xp.astype(x, xp.complex64 if x.dtype == xp.float32 else xp.complex128)


def _given(axes: Axes, s: Lengths, **keywords: Any) -> dict[int, int]:
    """The lengths of a transform along its axes."""
    return dict(zip(axes, s, strict=True))


def _half(axes: Axes, s: Lengths, **keywords: Any) -> dict[int, int]:
    """The lengths of a transform that keeps half of the frequencies along its last axis."""
    return {**_given(axes, s), axes[-1]: s[-1] // 2 + 1}


def _transform(name: str, adjoint: AnyFunction, lengths: AnyFunction = _given) -> AnyFunction:
    """Declare a transform by its adjoint, ``adjoint(g, s, axis, norm)``."""
    convert = _as_complex if name != "rfft" else lambda xp, x: x
    return declare(
        name,
        "x",
        compute=lambda xp, x, s, axis, norm: getattr(xp.fft, f"{name}n")(
            convert(xp, x), s=s, axes=axis, norm=norm
        ),
        vjp=lambda g, x_shape, s, axis, norm: _resized(
            adjoint(g, s, axis, _OPPOSITE[norm]), x_shape, axis
        ),
        kind=AlongAxis(linear=True, lengths=lengths),
        holomorphic=False,
    )


_fft = _transform("fft", lambda g, s, axis, norm: _ifft(g, s=s, axis=axis, norm=norm))
_ifft = _transform("ifft", lambda g, s, axis, norm: _fft(g, s=s, axis=axis, norm=norm))
# For a real signal, only half of the frequencies are kept. The inverse counts the middle ones
# twice, because each also stands for its conjugate, which was left out. The adjoint of `rfft` must
# not count them twice, so it halves them first. The adjoint of `irfft` must double them.
_rfft = _transform(
    "rfft",
    lambda g, s, axis, norm: _irfft(_middle_times(0.5, g, s, axis), s=s, axis=axis, norm=norm),
    lengths=_half,
)
_irfft = _transform(
    "irfft",
    lambda g, s, axis, norm: _middle_times(2, _rfft(g, s=s, axis=axis, norm=norm), s, axis),
)


def _middle_times(factor: float, x: Any, s: Lengths, axis: Axes) -> Any:
    """Half a spectrum, with each frequency that stands for two multiplied by a factor.

    These are all frequencies except zero, and except the highest if the signal has even length.
    """
    n, last = s[-1], axis[-1]
    backend, like = backend_of(x), plain(x)
    middle = (n - 1) // 2
    parts = [(1, 1), (middle, factor), (n // 2 - middle, 1)]
    weights = backend.xp.concat([backend.full(like, (k,), v, x.dtype) for k, v in parts])
    return x * backend.xp.reshape(weights, (-1,) + (1,) * (x.ndim - 1 - last))


def _resized(x: Any, shape: tuple[int, ...], axes: Axes) -> Any:
    """Cut an array, or fill it up with zeros, along some axes. Each is the adjoint of the other."""
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
    """A length from the user, as an integer; raises if it is less than one."""
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
    """The lengths and the axes of a transform; `half` if the last axis has half a spectrum."""
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
    # As in NumPy, -1 stands for the length of the axis.
    lengths = tuple(
        _ownlength(x, place, half and place == places[-1])
        if isinstance(n, int) and n == -1
        else length(n, "s")
        for n, place in zip(s, places, strict=True)
    )
    return lengths, places


def _ownlength(x: Any, axis: int, half: bool) -> int:
    """The length of the signal along an axis, if the user does not give it."""
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
        Real numbers are converted to complex; their gradient is real.
    n : int, optional
        The length to transform: `x` is cut, or filled up with zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}
        "backward": the inverse has the factor 1/n. "forward": this transform has it. "ortho": both
        have the factor 1/sqrt(n).

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
    """The inverse of `fft`.

    >>> ag.fft.ifft(ag.tensor([1.0 + 0j, 0.0]))
    tensor([0.5+0.j, 0.5+0.j])
    """
    s, axes = _one(x, n, axis, half=False)
    return _ifft(x, s=s, axis=axes, norm=_norm(norm))


@one_array
def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The transform of real numbers, for frequencies from zero to n/2; these give the others.

    >>> ag.fft.rfft(ag.ones(4))
    tensor([4.+0.j, 0.+0.j, 0.+0.j])
    """
    s, axes = _one(_real(x, "rfft"), n, axis, half=False)
    return _rfft(x, s=s, axis=axes, norm=_norm(norm))


@one_array
def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The inverse of `rfft`: `n` real numbers.

    By default, `n` is even. Pass `n` if the length of the signal was odd.

    >>> ag.fft.irfft(ag.tensor([4.0 + 0j, 0.0, 0.0]))
    tensor([1., 1., 1., 1.])
    """
    s, axes = _one(x, n, axis, half=True)
    return _irfft(x, s=s, axis=axes, norm=_norm(norm))


@one_array
def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The real spectrum, of length `n`, of a Hermitian signal; `x` is half of the signal.

    >>> ag.fft.hfft(ag.tensor([1.0 + 0j, 0.0, 0.0]))
    tensor([1., 1., 1., 1.])
    """
    s, axes = _one(x, n, axis, half=True)
    return _irfft(conj(x), s=s, axis=axes, norm=_OPPOSITE[_norm(norm)])


@one_array
def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """The inverse of `hfft`: half of a Hermitian signal.

    >>> ag.real(ag.fft.ihfft(ag.ones(4)))
    tensor([1., 0., 0.])
    """
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
        The length to transform along each of the axes; -1 for the length of the axis.
    axes : sequence of int, optional
        By default all axes or, with `s`, the last ``len(s)`` axes.
    norm : {"backward", "ortho", "forward"}
        As for `fft`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.fft.fftn(ag.ones((2, 2)))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    lengths, places = _many(x, s, axes, half=False)
    return _fft(x, s=lengths, axis=places, norm=_norm(norm))


@one_array
def ifftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Norm = "backward") -> Any:
    """The inverse of `fftn`.

    >>> ag.fft.ifftn(ag.ones((2, 2)) + 0j)
    tensor([[1.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    lengths, places = _many(x, s, axes, half=False)
    return _ifft(x, s=lengths, axis=places, norm=_norm(norm))


@one_array
def rfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Norm = "backward") -> Any:
    """The transform of real numbers over several axes, with half of the frequencies on the last.

    >>> ag.fft.rfftn(ag.ones((2, 2)))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    lengths, places = _many(_real(x, "rfftn"), s, axes, half=False)
    return _rfft(x, s=lengths, axis=places, norm=_norm(norm))


@one_array
def irfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Norm = "backward") -> Any:
    """The inverse of `rfftn`: real numbers. By default, the length of the last axis is even.

    >>> ag.fft.irfftn(ag.ones((2, 2)) + 0j)
    tensor([[1., 0.],
            [0., 0.]])
    """
    lengths, places = _many(x, s, axes, half=True)
    return _irfft(x, s=lengths, axis=places, norm=_norm(norm))


# --- the order of frequencies --------------------------------------------------------------------


@one_array
def fftshift(x: Any, /, *, axes: Axis = None) -> Any:
    """Move frequency zero to the middle, along the given axes or along all.

    >>> ag.fft.fftshift(ag.fft.fftfreq(4))
    tensor([-0.5 , -0.25,  0.  ,  0.25])
    """
    places = _all_axes(x, axes)
    return roll(x, tuple(x.shape[a] // 2 for a in places), axis=places)


@one_array
def ifftshift(x: Any, /, *, axes: Axis = None) -> Any:
    """Undo `fftshift`.

    >>> ag.fft.ifftshift(ag.tensor([-1.0, 0.0, 1.0]))
    tensor([ 0.,  1., -1.])
    """
    places = _all_axes(x, axes)
    return roll(x, tuple(-(x.shape[a] // 2) for a in places), axis=places)


def _all_axes(x: Any, axes: Any) -> Axes:
    return tuple(range(x.ndim)) if axes is None else many_axes(axes, x.ndim, "axes") or ()
