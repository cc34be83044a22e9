"""`torch.testing`: comparisons of tensors, and random ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .dtypes import numpy_of
from .handles import Tensor
from .random import rand, randint

__all__ = ["assert_close", "make_tensor"]


# For each dtype, the relative and the absolute difference that counts as equal.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


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
    try:
        if check_stride:
            raise NotImplementedError("check_stride=True is PyTorch's alone: strides differ here")
        _compare(actual, expected, rtol, atol, equal_nan, check_dtype, "")
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


def _compare(
    a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool, check_dtype: bool, place: str
) -> None:
    rest = (rtol, atol, equal_nan, check_dtype)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            raise AssertionError(f"the keys differ{place}: {sorted(a)} and {sorted(b)}")
        for key in b:
            _compare(a[key], b[key], *rest, f"{place} at {key!r}")
        return
    if isinstance(a, Sequence) and isinstance(b, Sequence) and not isinstance(a, str):
        if len(a) != len(b):
            raise AssertionError(f"the lengths differ{place}: {len(a)} and {len(b)}")
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            _compare(x, y, *rest, f"{place} at {i}")
        return
    if a is None or b is None:
        if a is not b:
            raise AssertionError(f"None and {b if a is None else a!r}{place}")
        return
    if isinstance(a, Tensor) != isinstance(b, Tensor) and not np.isscalar(a) == np.isscalar(b):
        raise AssertionError(f"{type(a).__name__} and {type(b).__name__}{place} are not alike")
    x, y = (np.asarray(v.numpy(force=True) if isinstance(v, Tensor) else v) for v in (a, b))
    if x.shape != y.shape:
        raise AssertionError(f"the shapes differ{place}: {x.shape} and {y.shape}")
    if check_dtype and isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype != b.dtype:
        raise AssertionError(f"the dtypes differ{place}: {a.dtype} and {b.dtype}")
    wanted = np.promote_types(x.dtype, y.dtype).name
    relative, absolute = _TOLERANCES.get(wanted, (0.0, 0.0))
    relative, absolute = (relative if rtol is None else rtol), (absolute if atol is None else atol)
    close = np.isclose(x, y, rtol=relative, atol=absolute, equal_nan=equal_nan)
    if not close.all():
        apart = int((~close).sum())
        with np.errstate(invalid="ignore"):
            largest = np.max(np.abs(np.asarray(x, complex) - y)) if x.size else 0.0
        raise AssertionError(
            f"the values are not close{place}: {apart} of {close.size} elements differ, the "
            f"largest difference is {largest} (rtol={relative}, atol={absolute})"
        )


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
