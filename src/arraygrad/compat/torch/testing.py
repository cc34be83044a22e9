"""`torch.testing`: comparisons of tensors."""

from __future__ import annotations

from typing import Any

from ...testing import closeness as native
from .transforming import arrays_of

__all__ = ["assert_close"]


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
