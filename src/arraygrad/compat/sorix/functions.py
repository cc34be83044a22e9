"""sorix's functions: of tensors, and those that make tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops
from ...random import Stream
from .. import files
from ..torchlike import FUNCTIONS, sizes
from .kinds import Device, numpy_dtype
from .tensor import Tensor

_random = Stream()


def _made(array: Any, device: str | Device, requires_grad: bool, dtype: Any) -> Tensor:
    """A tensor with the values of an array; single precision unless a dtype is given."""
    single = dtype is None and array.dtype == np.float64
    return Tensor(array.astype(np.float32) if single else array, device, requires_grad, dtype)


def _filled(fill: Any) -> Any:
    def function(
        *size: Any, device: str | Device = "cpu", requires_grad: bool = False, dtype: Any = None
    ) -> Tensor:
        return _made(fill(sizes(size)), device, requires_grad, dtype)

    return function


def _filled_like(fill: Any) -> Any:
    def function(
        input: Any, device: str | Device = "cpu", requires_grad: bool = False, dtype: Any = None
    ) -> Tensor:
        kind = numpy_dtype(dtype) or input.data.dtype
        return Tensor(fill(tuple(input.shape)).astype(kind), device, requires_grad)

    return function


zeros, zeros_like = _filled(np.zeros), _filled_like(np.zeros)
ones, ones_like = _filled(np.ones), _filled_like(np.ones)
empty, empty_like = zeros, zeros_like
rand = _filled(lambda shape: _random.generator().random(shape))
randn = _filled(lambda shape: _random.generator().standard_normal(shape))


def full(
    size: Any,
    fill_value: Any,
    device: str | Device = "cpu",
    requires_grad: bool = False,
    dtype: Any = None,
) -> Tensor:
    """A tensor with one value everywhere."""
    return _made(np.full(sizes((size,)), fill_value), device, requires_grad, dtype)


def full_like(
    input: Any,
    fill_value: Any,
    device: str | Device = "cpu",
    requires_grad: bool = False,
    dtype: Any = None,
) -> Tensor:
    """One value in the shape of a tensor."""
    kind = numpy_dtype(dtype) or input.data.dtype
    return Tensor(np.full(tuple(input.shape), fill_value, kind), device, requires_grad)


def eye(
    n: int,
    m: int | None = None,
    device: str | Device = "cpu",
    requires_grad: bool = False,
    dtype: Any = None,
) -> Tensor:
    """A matrix with ones on its diagonal."""
    return _made(np.eye(n, m), device, requires_grad, dtype)


def arange(
    start: float,
    end: float | None = None,
    step: float = 1,
    device: str | Device = "cpu",
    requires_grad: bool = False,
    dtype: Any = None,
) -> Tensor:
    """Numbers in equal steps, without the end."""
    first, last = (0, start) if end is None else (start, end)
    return _made(np.arange(first, last, step), device, requires_grad, dtype)


def linspace(
    start: float,
    end: float,
    steps: int = 100,
    device: str | Device = "cpu",
    requires_grad: bool = False,
    dtype: Any = None,
) -> Tensor:
    """A number of equidistant points, with both ends."""
    return _made(np.linspace(start, end, steps), device, requires_grad, dtype)


def logspace(
    start: float,
    end: float,
    steps: int = 100,
    base: float = 10.0,
    device: str | Device = "cpu",
    requires_grad: bool = False,
    dtype: Any = None,
) -> Tensor:
    """Powers of `base` with equidistant exponents."""
    return _made(np.logspace(start, end, steps, base=base), device, requires_grad, dtype)


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
reshape = _lifted(FUNCTIONS["reshape"])
flatten, repeat = _lifted(FUNCTIONS["flatten"]), _lifted(FUNCTIONS["repeat"])
for _name in (
    "cat stack squeeze unsqueeze t clamp unbind split chunk permute where transpose sigmoid "
    "softmax diag sin cos tan tanh exp log sqrt mean sum add sub mul div matmul pow abs sign round "
    "floor ceil relu"
).split():
    globals()[_name] = _lifted(FUNCTIONS[_name])
