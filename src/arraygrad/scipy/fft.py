"""`scipy.fft` with derivatives: Fourier, cosine and sine transforms, which are linear.

The adjoint of a cosine or sine transform is the one of the inverse type, with some weights. Names
that have no derivatives here are SciPy's own.

>>> import arraygrad as ag
>>> from arraygrad.scipy import fft
>>> x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
>>> ag.grad(fft.dct(x)[0], x)
tensor([2., 2., 2.])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import fft as ours
from ..core.array import AnyFunction
from ..core.axes import many_axes, one_axis
from ..core.kinds import AlongAxis
from ..ops import is_complex
from ..ops.define.library import declare
from ..ops.fft import _resized
from .names import others_from, scipy_module
from .twins import by_scipy, floating, twin

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftn",
    "fftshift",
    "hfft",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftn",
]

SCIPY = scipy_module("scipy.fft")

__getattr__ = others_from("scipy.fft")

# --- cosine and sine transforms ------------------------------------------------------------------

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _weights(name: str, type: int, n: int) -> tuple[Any, Any]:
    """Weights before and after the inverse type that make it the adjoint."""
    before, after = np.ones(n), np.ones(n)
    special = 0 if name == "dct" else n - 1
    if type == 1 and name == "dct":
        after[1:-1] = 2
        before = 1 / after
    elif type == 2:
        before[special] = 2
    elif type == 3:
        after[special] = 0.5
    return before, after


def _transposed(g: Any, name: str, type: int, axis: int) -> Any:
    shape = (-1,) + (1,) * (g.ndim - 1 - axis)
    before, after = (w.reshape(shape) for w in _weights(name, type, g.shape[axis]))
    return _plain(g * before, name=name, type=_INVERSE[type], axis=axis) * after


# Without any factors: as SciPy with norm="backward".
_plain = declare(
    "scipy.fft.cosine",
    "x",
    kind=AlongAxis(linear=True),
    compute=by_scipy(lambda x, *, name, type, axis: getattr(SCIPY, name)(x, type, axis=axis)),
    vjp=_transposed,
    holomorphic=False,
)
# Orthogonal matrices: the inverse is the adjoint.
_orthogonal = declare(
    "scipy.fft.orthogonal_cosine",
    "x",
    kind=AlongAxis(linear=True),
    compute=by_scipy(
        lambda x, *, name, type, axis: getattr(SCIPY, name)(x, type, axis=axis, norm="ortho")
    ),
    vjp=lambda g, name, type, axis: _orthogonal(g, name=name, type=_INVERSE[type], axis=axis),
    holomorphic=False,
)


def _transform(
    name: str, x: Any, type: int, n: Any, axis: int, norm: str, orthogonalize: bool | None
) -> Any:
    if type not in _INVERSE:
        raise ValueError(f"type must be 1, 2, 3 or 4, not {type!r}")
    if norm not in _OPPOSITE:
        raise ValueError(f'norm must be "backward", "ortho" or "forward", not {norm!r}')
    x = floating(x)
    if is_complex(x) and orthogonalize not in (None, norm == "ortho"):
        raise NotImplementedError(
            f"SciPy's {name} ignores orthogonalize= for complex numbers: transform real and "
            "imaginary parts"
        )
    axis = one_axis(axis, x.ndim)
    if n is not None:
        x = _resized(x, (*x.shape[:axis], int(n), *x.shape[axis + 1 :]), (axis,))
    count = x.shape[axis]
    size = 2 * (count + (0 if type > 1 else -1 if name == "dct" else 1))
    if norm == "ortho" if orthogonalize is None else orthogonalize:
        out = _orthogonal(x, name=name, type=type, axis=axis)
        factor = {"backward": math.sqrt(size), "ortho": 1, "forward": 1 / math.sqrt(size)}[norm]
    else:
        out = _plain(x, name=name, type=type, axis=axis)
        factor = {"backward": 1, "ortho": 1 / math.sqrt(size), "forward": 1 / size}[norm]
    return out if factor == 1 else out * factor


def _of_line(name: str) -> AnyFunction:
    inverse = name.startswith("i")

    @twin(getattr(SCIPY, name))
    def run(
        x: Any, type: int, n: Any, axis: int, norm: str | None, orthogonalize: bool | None
    ) -> Any:
        norm = norm or "backward"
        if inverse:
            type, norm = _INVERSE.get(type, type), _OPPOSITE.get(norm, norm)
        return _transform(name.removeprefix("i"), x, type, n, axis, norm, orthogonalize)

    return run


def _of_axes(name: str) -> AnyFunction:
    line = _of_line(name.removesuffix("n"))

    @twin(getattr(SCIPY, name))
    def run(
        x: Any, type: int, s: Any, axes: Any, norm: str | None, orthogonalize: bool | None
    ) -> Any:
        x = floating(x)
        lengths = None if s is None else np.atleast_1d(s).tolist()
        if axes is None and lengths is not None:
            axes = tuple(range(x.ndim - len(lengths), x.ndim))
        along = many_axes(axes, x.ndim) or tuple(range(x.ndim))
        if lengths is not None and len(lengths) != len(along):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        for i, axis in enumerate(along):
            n = None if lengths is None else lengths[i]
            x = line(x, type, n, axis, norm, orthogonalize=orthogonalize)
        return x

    return run


dct, idct, dst, idst = map(_of_line, ("dct", "idct", "dst", "idst"))
dctn, idctn, dstn, idstn = map(_of_axes, ("dctn", "idctn", "dstn", "idstn"))

# --- Fourier transforms --------------------------------------------------------------------------


def _fourier(name: str) -> AnyFunction:
    @twin(getattr(SCIPY, name))
    def run(x: Any, n: Any, axis: int, norm: str | None) -> Any:
        return getattr(ours, name)(floating(x), n=n, axis=axis, norm=norm or "backward")

    return run


def _fourier_over_axes(name: str) -> AnyFunction:
    function = getattr(ours, name.replace("2", "n"))

    @twin(getattr(SCIPY, name))
    def run(x: Any, s: Any, axes: Any, norm: str | None) -> Any:
        x = floating(x)
        if s is not None and axes is None:
            axes = tuple(range(x.ndim - len(s), x.ndim))
        return function(x, s=s, axes=axes, norm=norm or "backward")

    return run


fft, ifft, rfft, irfft, hfft, ihfft = map(_fourier, "fft ifft rfft irfft hfft ihfft".split())
fftn, ifftn, rfftn, irfftn = map(_fourier_over_axes, "fftn ifftn rfftn irfftn".split())
fft2, ifft2, rfft2, irfft2 = map(_fourier_over_axes, "fft2 ifft2 rfft2 irfft2".split())
fftshift = twin(SCIPY.fftshift)(lambda x, axes: ours.fftshift(floating(x), axes=axes))
ifftshift = twin(SCIPY.ifftshift)(lambda x, axes: ours.ifftshift(floating(x), axes=axes))


def __dir__() -> list[str]:
    return __all__
