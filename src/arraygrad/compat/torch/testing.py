"""`torch.testing`: comparisons of tensors, and random ones."""

from __future__ import annotations

from typing import Any

from ...testing import closeness as native
from .dtypes import numpy_of
from .handles import Tensor
from .random import rand, randint
from .transforming import arrays_of

__all__ = ["assert_close", "make_tensor"]


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Any = None,
) -> None:
    """Raise an AssertionError unless two structures of tensors and numbers are close."""
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must be given together, or neither")
    if check_stride:
        raise NotImplementedError("check_stride=True is PyTorch's alone: strides differ here")
    options: Any = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "check_dtype": check_dtype}
    try:
        native.assert_close(arrays_of(actual), arrays_of(expected), **options)
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of random numbers in a range."""
    size = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    kind = numpy_of(dtype).kind
    if kind in "biu":
        made = randint(
            int(low or 0), int((2 if kind == "b" else 10) if high is None else high), size
        )
        made = made.to(dtype)
    else:
        low, high = (-9.0 if low is None else low), (9.0 if high is None else high)
        made = rand(*size, dtype=dtype) * (high - low) + low
    if exclude_zero:
        made = made.masked_fill(made.eq(0), 1)
    return made.requires_grad_() if requires_grad else made
