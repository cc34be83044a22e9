"""sorix's functions: of tensors, and those that make tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...interop import torch_files as files
from ...random import Stream
from ..facade import makers, sizes
from ..torchlike import FUNCTIONS
from .kinds import Device, numpy_dtype
from .tensor import Tensor

__all__ = """
abs add arange argmax argmin as_tensor cat ceil chunk clamp cos diag div empty empty_like exp
eye flatten floor from_numpy full full_like gather linspace load log logspace manual_seed matmul
mean mul ones ones_like permute pow rand randint randn randperm repeat reshape round save
sigmoid sign sin softmax split sqrt squeeze stack sub sum t tanh transpose unbind unsqueeze
where zeros zeros_like
""".split()

_random = Stream()


def _made(array: Any, device: Any = None, requires_grad: Any = False, dtype: Any = None) -> Tensor:
    """A tensor with the values of an array; single precision unless a dtype is given."""
    single = dtype is None and array.dtype == np.float64
    values = array.astype(np.float32) if single else array
    return Tensor(values, device or "cpu", bool(requires_grad), dtype)


def _like(array: Any, x: Any, dtype: Any = None, **options: Any) -> Tensor:
    return _made(array.astype(numpy_dtype(dtype) or x.data.dtype), dtype=dtype, **options)


def _uniform(shape: tuple[int, ...]) -> Any:
    return _random.generator().random(shape)


def _normal(shape: tuple[int, ...]) -> Any:
    return _random.generator().standard_normal(shape)


_NAMES_OF = {"stop": "end", "num": "steps"}
_MADE = makers(_made, _like, "device requires_grad dtype", _NAMES_OF, rand=_uniform, randn=_normal)
zeros, ones, empty, full = (_MADE[name] for name in ("zeros", "ones", "empty", "full"))
zeros_like, ones_like, empty_like = (_MADE[f"{n}_like"] for n in ("zeros", "ones", "empty"))
rand, randn, full_like, eye = (_MADE[name] for name in ("rand", "randn", "full_like", "eye"))
arange, linspace, logspace = (_MADE[name] for name in ("arange", "linspace", "logspace"))


def randint(
    low: int,
    high: int,
    size: Any,
    device: str | Device = "cpu",
    requires_grad: bool = False,
    dtype: Any = None,
) -> Tensor:
    """Whole numbers from `low` to `high - 1`."""
    return _made(
        _random.generator().integers(low, high, sizes((size,))), device, requires_grad, dtype
    )


def randperm(
    n: int, device: str | Device = "cpu", requires_grad: bool = False, dtype: Any = None
) -> Tensor:
    """The numbers below `n` in random order."""
    return _made(_random.generator().permutation(n), device, requires_grad, dtype)


def manual_seed(seed: int) -> None:
    """Let the random numbers start anew from a seed."""
    _random.restart(seed)
    np.random.seed(seed)  # noqa: NPY002  (sorix seeds NumPy's generator, too)


def as_tensor(x: Any) -> Tensor:
    """The tensor itself, or a new one."""
    return x if isinstance(x, Tensor) else Tensor(x)


def from_numpy(x: Any) -> Tensor:
    """A tensor that shares memory with an array."""
    return Tensor(x)


def save(obj: Any, f: Any) -> None:
    """Write an object to a file: tensors, arrays, and what Python can pickle."""
    files.write(obj, f, _described)


def load(f: Any, *, weights_only: bool = True) -> Any:
    """Read a structure of tensors, arrays and numbers from a file that `save` wrote.

    With `weights_only=False`, the file may run any code: only for files that you trust.
    """
    return files.read(f, _NAMES, trusted=not weights_only)


def _described(obj: Any) -> Any:
    if isinstance(obj, Tensor):
        return _NAMES["sorix.tensor"], (obj.data, obj.requires_grad)
    if type(obj) is np.ndarray and obj.dtype.kind in "biufc":
        return _NAMES["sorix.array"], files.parts_of(obj)
    return NotImplemented


_NAMES = {
    "sorix.array": files.Named("sorix.array", files.array_on),
    "sorix.tensor": files.Named("sorix.tensor", lambda x, needs: Tensor(x, requires_grad=needs)),
}


# --- functions of tensors; an array gives an array, as in sorix ---


def _lifted(function: Any) -> Any:
    return Tensor._lifted(function)


def _argextreme(op: Any) -> Any:
    def function(x: Any, axis: int = 1, keepdims: bool = True, *, dim: int | None = None) -> Any:
        return op(x, axis=axis if dim is None else dim, keepdims=keepdims)

    return _lifted(function)


argmax, argmin = _argextreme(ops.argmax), _argextreme(ops.argmin)


def _gather(x: Any, dim: int, index: Any) -> Any:
    return ops.take_along_axis(x, index, axis=dim)


gather = _lifted(_gather)
for _name in (
    "reshape flatten repeat cat stack squeeze unsqueeze t clamp unbind split chunk permute "
    "where transpose sigmoid softmax diag sin cos tan tanh exp log sqrt mean sum add sub mul "
    "div matmul pow abs sign round floor ceil relu"
).split():
    globals()[_name] = _lifted(FUNCTIONS[_name])
