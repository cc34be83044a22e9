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
from .twins import by_scipy, floating, refuse, twin

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
        x: Any,
        type: int = 2,
        n: Any = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: Any = None,
        orthogonalize: bool | None = None,
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
        x: Any,
        type: int = 2,
        s: Any = None,
        axes: Any = None,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: Any = None,
        *,
        orthogonalize: bool | None = None,
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


dct, idct, dst, idst = _of_line("dct"), _of_line("idct"), _of_line("dst"), _of_line("idst")
dctn, idctn, dstn, idstn = _of_axes("dctn"), _of_axes("idctn"), _of_axes("dstn"), _of_axes("idstn")

# --- Fourier transforms --------------------------------------------------------------------------


def _fourier(name: str) -> AnyFunction:
    @twin(getattr(SCIPY, name))
    def run(
        x: Any,
        n: Any = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: Any = None,
        *,
        plan: Any = None,
    ) -> Any:
        refuse(name, plan=(plan, None))
        return getattr(ours, name)(floating(x), n=n, axis=axis, norm=norm or "backward")

    return run


def _fourier_over_axes(name: str, default: Any) -> AnyFunction:
    function = getattr(ours, name.replace("2", "n"))

    @twin(getattr(SCIPY, name))
    def run(
        x: Any,
        s: Any = None,
        axes: Any = default,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: Any = None,
        *,
        plan: Any = None,
    ) -> Any:
        refuse(name, plan=(plan, None))
        x = floating(x)
        if s is not None and axes is None:
            axes = tuple(range(x.ndim - len(s), x.ndim))
        return function(x, s=s, axes=axes, norm=norm or "backward")

    return run


fft, ifft, rfft, irfft = _fourier("fft"), _fourier("ifft"), _fourier("rfft"), _fourier("irfft")
hfft, ihfft = _fourier("hfft"), _fourier("ihfft")
fftn, ifftn = _fourier_over_axes("fftn", None), _fourier_over_axes("ifftn", None)
rfftn, irfftn = _fourier_over_axes("rfftn", None), _fourier_over_axes("irfftn", None)
fft2, ifft2 = _fourier_over_axes("fft2", (-2, -1)), _fourier_over_axes("ifft2", (-2, -1))
rfft2, irfft2 = _fourier_over_axes("rfft2", (-2, -1)), _fourier_over_axes("irfft2", (-2, -1))
fftshift = twin(SCIPY.fftshift)(lambda x, axes=None: ours.fftshift(floating(x), axes=axes))
ifftshift = twin(SCIPY.ifftshift)(lambda x, axes=None: ours.ifftshift(floating(x), axes=axes))


def __dir__() -> list[str]:
    return __all__
