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


def _ready(x: Any, name: str) -> Any:
    """Integers as floating-point numbers; real numbers as complex, if a transform needs them."""
    if x.dtype.kind in "biu":
        x = ops.astype(x, usual(None))
    if x.dtype.kind == "f" and name in _COMPLEX:
        x = ops.astype(x, numpy_of(of_numpy(x.dtype).to_complex()))
    return x


_COMPLEX = {"fft", "ifft", "fftn", "ifftn", "hfft", "irfft", "irfftn"}


def _one(name: str) -> Callable[..., Tensor]:
    """A transform along one axis."""
    function = getattr(native, name)

    def made(input: Any, n: int | None = None, dim: int = -1, norm: Any = None) -> Any:
        return function(_ready(input, name), n=n, axis=dim, norm=norm or "backward")

    return _function(made, name=name, method=False, doc=function.__doc__)


def _many(own: str, name: str, conjugates: bool = False) -> Callable[..., Tensor]:
    """A transform along several axes: one of arraygrad's, or its conjugate with the other norm."""
    function, default = getattr(native, name), (-2, -1) if own.endswith("2") else None

    def made(input: Any, s: Any = None, dim: Any = default, norm: Any = None) -> Any:
        axes = (dim,) if isinstance(dim, int) else dim
        if axes is None and s is not None:
            axes = tuple(range(-len(s), 0))
        x, norm = _ready(input, name), norm or "backward"
        if not conjugates:
            return function(x, s=s, axes=axes, norm=norm)
        norm = {"backward": "forward", "forward": "backward"}.get(norm, norm)
        return ops.conj(function(ops.conj(x), s=s, axes=axes, norm=norm))

    turned = f"`{name}` of the conjugate, with the other norm: one side of it is Hermitian."
    return _function(made, name=own, method=False, doc=turned if conjugates else function.__doc__)


fft, ifft, rfft, irfft = _one("fft"), _one("ifft"), _one("rfft"), _one("irfft")
hfft, ihfft = _one("hfft"), _one("ihfft")
fftn, ifftn, rfftn, irfftn = (_many(name, name) for name in ("fftn", "ifftn", "rfftn", "irfftn"))
fft2, ifft2 = _many("fft2", "fftn"), _many("ifft2", "ifftn")
rfft2, irfft2 = _many("rfft2", "rfftn"), _many("irfft2", "irfftn")
hfftn, hfft2 = _many("hfftn", "irfftn", True), _many("hfft2", "irfftn", True)
ihfftn, ihfft2 = _many("ihfftn", "rfftn", True), _many("ihfft2", "rfftn", True)
fftshift, ifftshift = (
    _function(lambda input, dim=None, of=of: of(input, axes=dim), name=name, method=False)
    for name, of in (("fftshift", native.fftshift), ("ifftshift", native.ifftshift))
)


def _frequencies(name: str) -> Callable[..., Tensor]:
    def make(n: int, d: float = 1.0, *, dtype: Any) -> Any:
        return getattr(native, name)(n, d=d, dtype=usual(dtype))

    make.__name__, make.__doc__ = name, getattr(native, name).__doc__
    return makes(make)


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")
