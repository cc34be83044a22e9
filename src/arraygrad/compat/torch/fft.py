"""`torch.fft`: arraygrad's Fourier transforms, with `dim` for `axis`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import fft as native
from ... import ops
from .creation import makes, usual
from .dtypes import numpy_of, of_numpy
from .handles import Tensor
from .publish import function as _function

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2",
    "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2",
    "rfftfreq", "rfftn",
]  # fmt: skip


def _one(name: str) -> Callable[..., Tensor]:
    """A transform along one axis."""
    function = getattr(native, name)

    def made(input: Any, n: int | None = None, dim: int = -1, norm: Any = None) -> Any:
        return function(_ready(input, name), n=n, axis=dim, norm=norm or "backward")

    made.__doc__ = function.__doc__
    found: Callable[..., Tensor] = _function(made, name=name, method=False)
    return found


def _ready(x: Any, name: str) -> Any:
    """Integers as floating-point numbers; real numbers as complex, if a transform needs them."""
    if x.dtype.kind in "biu":
        x = ops.astype(x, usual(None))
    if x.dtype.kind == "f" and name in _COMPLEX:
        x = ops.astype(x, numpy_of(of_numpy(x.dtype).to_complex()))
    return x


_COMPLEX = {"fft", "ifft", "fftn", "ifftn", "hfft", "irfft", "irfftn"}


def _many(name: str, default: Any = None) -> Callable[..., Tensor]:
    """A transform along several axes."""
    function = getattr(native, name)

    def made(input: Any, s: Any = None, dim: Any = default, norm: Any = None) -> Any:
        axes = (dim,) if isinstance(dim, int) else dim
        if axes is None and s is not None:
            axes = tuple(range(-len(s), 0))
        return function(_ready(input, name), s=s, axes=axes, norm=norm or "backward")

    made.__doc__ = function.__doc__
    own = name if default is None else f"{name[:-1]}2"
    found: Callable[..., Tensor] = _function(made, name=own, method=False)
    return found


fft, ifft, rfft, irfft = _one("fft"), _one("ifft"), _one("rfft"), _one("irfft")
hfft, ihfft = _one("hfft"), _one("ihfft")
fftn, ifftn, rfftn, irfftn = _many("fftn"), _many("ifftn"), _many("rfftn"), _many("irfftn")
fft2, ifft2 = _many("fftn", (-2, -1)), _many("ifftn", (-2, -1))
rfft2, irfft2 = _many("rfftn", (-2, -1)), _many("irfftn", (-2, -1))

_OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _hermitian(name: str, default: Any = None) -> Callable[..., Tensor]:
    """A transform with a Hermitian side along several axes: one of real numbers, conjugated."""
    back = name.startswith("ih")

    def made(input: Any, s: Any = None, dim: Any = default, norm: Any = None) -> Any:
        other = _OPPOSITE[norm or "backward"]
        if back:
            return ops.conj(rfftn.__wrapped__(input, s, dim, other))  # type: ignore[attr-defined]
        x = _ready(input, "irfftn")
        return irfftn.__wrapped__(ops.conj(x), s, dim, other)  # type: ignore[attr-defined]

    made.__doc__ = (
        "The inverse of `hfftn`: half of the Hermitian transform of real numbers."
        if back
        else "The real transform of a signal that is Hermitian, of which half is given."
    )
    found: Callable[..., Tensor] = _function(made, name=name, method=False)
    return found


hfftn, ihfftn = _hermitian("hfftn"), _hermitian("ihfftn")
hfft2, ihfft2 = _hermitian("hfft2", (-2, -1)), _hermitian("ihfft2", (-2, -1))


fftshift = _function(
    lambda input, dim=None: native.fftshift(input, axes=dim), name="fftshift", method=False
)
ifftshift = _function(
    lambda input, dim=None: native.ifftshift(input, axes=dim), name="ifftshift", method=False
)


def _frequencies(name: str) -> Callable[..., Tensor]:
    def make(n: int, d: float = 1.0, *, dtype: Any) -> Any:
        return getattr(native, name)(n, d=d, dtype=usual(dtype))

    make.__name__, make.__doc__ = name, getattr(native, name).__doc__
    return makes(make)


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")
