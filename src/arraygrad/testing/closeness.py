"""Arrays and structures of arrays against each other: `assert_close`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..backends import backend_of
from ..core.array import plain


def values_of(x: Any) -> Any:
    """The values of an array of any library, as an array of NumPy."""
    return np.asarray(backend_of(x).to_numpy(plain(x)))


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
) -> None:
    """Raise unless two arrays, or two structures of arrays, are nearly equal.

    Parameters
    ----------
    actual, expected : Tensor, array, number, or structure of them
        Structures must have the same form. Arrays must have the same shape: there is no
        broadcasting.
    rtol, atol : float, optional
        The largest relative and absolute difference of an element. By default, the less precise of
        the two dtypes decides; integers and booleans must be equal.
    equal_nan : bool
        Whether NaN equals NaN.
    check_dtype : bool
        Whether the dtypes must be the same. Python numbers fit any dtype.

    Raises
    ------
    AssertionError
        If they are not nearly equal. The message says where they differ most.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.testing.assert_close(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 2.0 + 1e-9]))
    >>> ag.testing.assert_close(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 3.0]))
    Traceback (most recent call last):
        ...
    AssertionError: 1 of 2 elements differ, most at [1]: 2.0 and 3.0 (rtol=1e-07, atol=1e-07)
    """

    def compare(actual: Any, expected: Any, where: str) -> None:
        if isinstance(expected, Mapping):
            if not isinstance(actual, Mapping) or actual.keys() != expected.keys():
                got = list(actual) if isinstance(actual, Mapping) else type(actual).__name__
                raise AssertionError(f"{where}expected keys {list(expected)}, got {got}")
            for key in expected:
                compare(actual[key], expected[key], f"{where}[{key!r}]: ")
            return
        if isinstance(expected, list | tuple):
            if not isinstance(actual, list | tuple) or len(actual) != len(expected):
                got = (
                    f"{len(actual)}" if isinstance(actual, list | tuple) else type(actual).__name__
                )
                raise AssertionError(f"{where}expected {len(expected)} items, got {got}")
            for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
                compare(a, b, f"{where}[{i}]: ")
            return
        if actual is None or expected is None:
            if actual is not expected:
                raise AssertionError(f"{where}expected {expected!r}, got {actual!r}")
            return
        a, b = values_of(actual), values_of(expected)
        if a.shape != b.shape:
            raise AssertionError(f"{where}the shapes differ: {a.shape} and {b.shape}")
        typed = hasattr(actual, "dtype") and hasattr(expected, "dtype")
        if check_dtype and typed and a.dtype != b.dtype:
            raise AssertionError(f"{where}the dtypes differ: {a.dtype} and {b.dtype}")
        typed_sides = [x for x, side in ((a, actual), (b, expected)) if hasattr(side, "dtype")]
        usual = max(map(_tolerances, typed_sides or [a, b]))
        relative = usual[0] if rtol is None else rtol
        absolute = usual[1] if atol is None else atol
        close = np.isclose(a, b, rtol=relative, atol=absolute, equal_nan=equal_nan)
        if not np.all(close):
            distance = np.where(close, -1.0, np.nan_to_num(np.abs(a * 1.0 - b), nan=np.inf))
            worst = np.unravel_index(np.argmax(distance), a.shape) if a.ndim else ()
            place = f" at [{', '.join(str(int(i)) for i in worst)}]" if worst else ""
            raise AssertionError(
                f"{where}{int(np.sum(~close))} of {a.size} elements differ, most{place}: "
                f"{a[worst]} and {b[worst]} (rtol={relative:g}, atol={absolute:g})"
            )

    compare(actual, expected, "")


def _tolerances(x: Any) -> tuple[float, float]:
    """The relative and absolute tolerance for a dtype, as in PyTorch; zero for integers."""
    if x.dtype.kind not in "fc":
        return 0.0, 0.0
    return {2: (1e-3, 1e-5), 4: (1.3e-6, 1e-5)}.get(x.real.dtype.itemsize, (1e-7, 1e-7))
