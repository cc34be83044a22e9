"""The backend for PyTorch.

PyTorch's tensors can be written, so kernels add by index in place, and gradients accumulate in
place. PyTorch has no slices with negative steps and no moments of integers. If an index mixes
integers and index arrays, PyTorch orders the axes of the result differently from NumPy.

PyTorch's own autograd stays active for tensors with `requires_grad`. So its `backward()` works
through arraygrad's functions. But a leaf of arraygrad must be detached from PyTorch's autograd, or
both would record ops.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from array_api_compat import torch as xp

from ..core.cpython import POPPED, getrefcount
from ..core.indices import Part, Template, fill
from .base import Backend
from .standard import index_of, put_into_copy, standard_kernels

if TYPE_CHECKING:
    from ..ops.regions import Region


class TorchBackend(Backend):
    """PyTorch's tensors."""

    defers = True

    def own(self, held: list[Any]) -> Any:
        array = held.pop()
        if (
            type(array) is torch.Tensor
            and getrefcount(array) <= POPPED
            and not array._is_view()
            and not array.requires_grad
            and not array.is_inference()
            and array.is_contiguous()
            and not array.is_conj()
            and not array.is_neg()
        ):
            return array
        return self.copy(array)

    def copy(self, array: Any) -> Any:
        # `clone` would keep the strides of a broadcast tensor.
        return torch.empty(array.shape, dtype=array.dtype, device=array.device).copy_(array)

    def from_numpy(self, array: Any, device: Any) -> Any:
        return torch.asarray(np.array(array, order="C"), device=device)

    def to_numpy(self, array: Any) -> Any:
        array = array.detach().cpu().resolve_conj().resolve_neg()
        return (array.float() if array.dtype is torch.bfloat16 else array).numpy()

    def check_leaf(self, array: Any) -> None:
        if array.requires_grad:
            raise TypeError(
                "the torch.Tensor has requires_grad set, so PyTorch and arraygrad would both "
                "record what is done with it: pass x.detach()"
            )


# --- indexing ------------------------------------------------------------------------------------


def _forwards(part: Any, n: int) -> slice:
    """The slice with a positive step that has the same elements as one with a negative step."""
    taken = range(n)[part]
    return slice(taken[-1], taken[0] + 1, -part.step)


def _is_backwards(part: Any) -> bool:
    return isinstance(part, slice) and part.step is not None and part.step < 0


def _basic(x: Any, parts: list[Part]) -> tuple[Any, list[int]]:
    """The view at the integers and slices of an index, and the axes of the view to flip."""
    key: list[Any] = []
    turned: list[int] = []
    lengths = iter(x.shape)
    axis = 0
    for part in parts:
        n = 1 if part.new else next(lengths)
        value = slice(None) if part.is_array else part.value
        if _is_backwards(value):
            turned.append(axis)
            value = _forwards(value, n)
        key.append(None if part.new else value)
        axis += not isinstance(value, int)
    return (x[tuple(key)] if key else x), turned


def _getitem(x: Any, *indices: Any, template: Template) -> Any:
    # PyTorch and NumPy order axes differently if there are integers, 0-d arrays, or an empty `...`.
    if not any(_is_backwards(part) for part in template) and not (
        indices
        and (
            any(p is ... or isinstance(p, int) for p in template)
            or not all(i.ndim for i in indices)
        )
    ):
        return x[fill(template, indices)]
    index = index_of(xp, template, indices, tuple(x.shape))
    parts = index.parts
    out, turned = _basic(x, parts)
    out = out.flip(turned) if turned else out
    kept = [p for p in parts if not isinstance(p.value, int)]
    arrays = [k for k, p in enumerate(kept) if p.is_array]
    if not arrays:
        return out
    rest = [k for k in range(out.ndim) if k not in arrays]
    out = out.permute(*arrays, *rest)[tuple(kept[k].value for k in arrays)]
    n, lead = out.ndim - len(rest), index.lead
    return out.movedim(tuple(range(n)), tuple(range(lead, lead + n)))


def _index_add(x: Any, *indices: Any, template: Template, shape: tuple[int, ...]) -> Any:
    out = torch.zeros(shape, dtype=x.dtype, device=x.device)
    index = index_of(xp, template, indices, shape)
    view, turned = _basic(out, index.parts)
    kept = [p for p in index.parts if not isinstance(p.value, int)]
    arrays = [k for k, p in enumerate(kept) if p.is_array]
    if not arrays:
        view.copy_(x.flip(turned) if turned else x)
        return out
    places = xp.broadcast_arrays(*(kept[k].value for k in arrays))
    n, lead = places[0].ndim, index.lead
    rest = [k for k in range(view.ndim) if k not in arrays]
    view = view.permute(*arrays, *rest)
    x = x.broadcast_to(
        (*view.shape[len(arrays) :][:lead], *places[0].shape, *view.shape[len(arrays) + lead :])
    ).movedim(tuple(range(lead, lead + n)), tuple(range(n)))
    # The flipped axes belong to slices. They come after the axes of the index arrays.
    turned = [n + rest.index(axis) for axis in turned]
    view.index_put_(tuple(places), x.flip(turned) if turned else x, accumulate=True)
    return out


def _put(x: Any, value: Any, region: Region) -> Any:
    return put_into_copy(backend, x, value, region, _share_memory)


def _share_memory(x: Any, y: Any) -> bool:
    return bool(x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr())


# --- reductions and transforms -------------------------------------------------------------------


def _count_nonzero(x: Any, axis: Any, keepdims: bool) -> Any:
    # For an empty tuple of axes, PyTorch's own function counts along all axes.
    return xp.sum((x != 0).to(torch.int64), axis=axis, keepdims=keepdims)


def _var(x: Any, axis: Any, keepdims: bool, correction: float) -> Any:
    axes = tuple(range(x.ndim)) if axis is None else axis
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(torch.float64)
    if not axes:
        return torch.zeros_like(x.real) / max(1 - correction, 0)
    n = math.prod(x.shape[a] for a in axes)
    out = torch.var(x, axes, correction=0, keepdim=keepdims)
    return out if correction == 0 else out * n / max(n - correction, 0)


def _std(x: Any, axis: Any, keepdims: bool, correction: float) -> Any:
    return torch.sqrt(_var(x, axis, keepdims, correction))


def _transform(name: str, function: Any) -> Any:
    """A Fourier transform that also accepts arrays without elements."""

    def transform(x: Any, s: tuple[int, ...], axis: tuple[int, ...], norm: str) -> Any:
        if x.numel():
            return function(x, s, axis, norm)
        shape = list(x.shape)
        for a, n in zip(axis, s, strict=True):
            shape[a] = n
        if name == "rfft":
            shape[axis[-1]] = s[-1] // 2 + 1
        single = x.dtype in (torch.float32, torch.complex64)
        real, wide = (
            (torch.float32, torch.complex64) if single else (torch.float64, torch.complex128)
        )
        return torch.zeros(shape, dtype=real if name == "irfft" else wide, device=x.device)

    return transform


def _polygamma(n: Any, x: Any) -> Any:
    # PyTorch's own function has only nine digits for n = 1, and takes only one n for all elements.
    n = torch.as_tensor(n, dtype=x.dtype, device=x.device)
    higher = torch.exp(torch.lgamma(n + 1)) * torch.special.zeta(n + 1, x)
    return torch.where(n == 0, torch.digamma(x), torch.where(n % 2 == 0, -higher, higher))


def _gamma(x: Any) -> Any:
    # The gamma function is negative between -1 and 0, between -3 and -2, …
    sign = torch.where((x < 0) & (torch.floor(x) % 2 != 0), -1, 1)
    return sign * torch.exp(torch.lgamma(x))


_standard = standard_kernels(xp)
backend = TorchBackend(
    "torch",
    xp,
    {
        **{name: _standard[name] for name in ("imag", "angle", "mean", "rel_entr", "kl_div")},
        "getitem": _getitem,
        "index_add": _index_add,
        "put": _put,
        "count_nonzero": _count_nonzero,
        "var": _var,
        "std": _std,
        "fft": _transform("fft", torch.fft.fftn),
        "ifft": _transform("ifft", torch.fft.ifftn),
        "rfft": _transform("rfft", torch.fft.rfftn),
        "irfft": _transform("irfft", torch.fft.irfftn),
        "polygamma": _polygamma,
        "gamma": _gamma,
    },
)
