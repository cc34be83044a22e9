"""`Backend`: the base class for one array library. `registry` finds the backend of an array."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Kernel = Callable[..., Any]


def is_short_float(dtype: Any) -> bool:
    """Whether a dtype is bfloat16 or a shorter float, which NumPy itself does not have.

    PyTorch, JAX and MLX have these dtypes. The package `ml_dtypes` adds them to NumPy.
    """
    name = str(getattr(dtype, "name", dtype)).rpartition(".")[2]
    return name == "bfloat16" or name.startswith(("float8_", "float6_", "float4_"))


class Backend:
    """One array library.

    The functions of the namespace `xp` compute the ops. A library that works differently overrides
    methods:

    ==================================  ==========================================================
    `to_numpy`, `from_numpy`            if `np.asarray` and `xp.asarray` do not convert its arrays
    `dtype`, `kind`                     if `xp` has no attributes named like the dtypes, or no
                                        `isdtype`
    `device`, `full`, `integers`        if its arrays have no `device`, or its functions take none
    `own`, `add_into`                   if its arrays can be written: then gradients are added in
                                        place, and not copied if nobody else refers to them
    `has_values`, `known_values`        if its arrays can be lazy: values are computed later
    `check_leaf`                        to refuse arrays that cannot be differentiated
    ==================================  ==========================================================

    Parameters
    ----------
    name : str
        The library's name in error messages.
    xp : module
        The library's Array API namespace, or any object with the same functions.
    kernels : mapping of str to callable, optional
        Functions that compute ops, by the op's name, where the namespace's own function is missing,
        slower or different. A kernel is called with the arrays, and with the op's other arguments
        as keywords. `standard.standard_kernels(xp)` returns kernels for indexing and more that
        need only functions of the standard.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.backends.backend_of(ag.ones(2)).kind(ag.float64)  # of a dtype: boolean, integer, …
    'f'
    """

    # Whether it is cheap to merge two axes into one. It is not for arrays in several chunks.
    merges_axes = True
    # Whether ``array * other`` lets an array of arraygrad on the right act, as NumPy's arrays do.
    defers = False

    def __init__(self, name: str, xp: Any, kernels: Mapping[str, Kernel] | None = None) -> None:
        self.name = name
        self.xp = xp
        self.kernels: dict[str, Kernel] = dict(kernels or {})
        self._kinds: dict[Any, str] = {}

    def kind(self, dtype: Any) -> str:
        """The kind of a dtype in one letter: b(ool), i(nteger), f(loat), c(omplex) or o(ther)."""
        known = self._kinds.get(dtype)
        if known is None:
            known = self._kinds[dtype] = self._find_kind(dtype)
        return known

    def _find_kind(self, dtype: Any) -> str:
        if is_short_float(dtype):
            return "f"
        names = ("bool", "b"), ("integral", "i"), ("real floating", "f"), ("complex floating", "c")
        for name, letter in names:
            if self.xp.isdtype(dtype, name):
                return letter
        return "o"

    def kernel(self, op: Any) -> Kernel:
        """The function that computes an op on arrays of this library.

        A kernel belongs to arraygrad's own op with the same name. A user's op with this name does
        not use it: the function in the op's declaration computes the op.
        """
        if op.name in self.kernels and (op.is_library or op.compute is None):
            return self.kernels[op.name]
        by_kind = self.kernel_by_kind(op)
        if by_kind is not None:
            return by_kind
        if op.compute is not None:
            return functools.partial(op.compute, self.xp)
        found = getattr(self.xp, op.name, None)
        if found is None:
            raise NotImplementedError(
                f"{self.name} has no function {op.name!r}: give its Backend a kernel of that name"
            )
        return found  # type: ignore[no-any-return]

    def kernel_by_kind(self, op: Any) -> Kernel | None:
        """The kernel for all ops of this op's kind, if the library has one; else None."""
        return None

    def shape(self, array: Any) -> tuple[int, ...]:
        """The shape that derivative rules keep: a tuple, or a subclass with more attributes."""
        return tuple(array.shape)

    def elementwise(self, kernel: Kernel, types: tuple[type, ...], op: Any) -> Kernel:
        """A faster kernel than `kernel` for an elementwise op on arguments of these types."""
        return kernel

    def full(self, like: Any, shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
        """A new array filled with `value`, on the device of `like`."""
        return self.xp.full(shape, value, dtype=dtype, device=self.device(like))

    def dtype(self, dtype: Any) -> Any:
        """The library's own dtype for a dtype of NumPy, a Python type or a name."""
        if isinstance(dtype, str):
            return getattr(self.xp, dtype)
        if isinstance(dtype, type) and issubclass(dtype, np.generic | bool | int | float | complex):
            dtype = np.dtype(dtype)
        return getattr(self.xp, dtype.name) if isinstance(dtype, np.dtype) else dtype

    def integers(self, like: Any, values: list[int]) -> Any:
        """Integers as a one-dimensional array that can index `like`."""
        if not values:  # an empty list does not determine a dtype
            return self.xp.arange(0, device=self.device(like))
        return self.xp.asarray(values, device=self.device(like))

    def device(self, array: Any) -> Any:
        """The device of an array."""
        return array.device

    def has_values(self, array: Any) -> bool:
        """Whether the values of an array are known now, not only after a later computation."""
        return True

    def compiled(self, function: Callable[[list[Any]], list[Any]]) -> Any:
        """A function of arrays, compiled by the library itself; None if it cannot do that."""
        return None

    def lacks_values(self, error: Exception) -> bool:
        """Whether a function could not be compiled by the library as it needs values of arrays."""
        return False

    def survivors(self, region: Any) -> Any:
        """Which values of a write to a region stay; None if all do."""
        return region.survivors()

    def arranged(self, array: Any, like: Any) -> Any:
        """The array in the same chunks as `like`; their last axes have the same lengths."""
        return array

    def known_values(self, array: Any) -> Any:
        """The values as a NumPy array if they are known now; else None."""
        return self.to_numpy(array) if self.has_values(array) else None

    def copy(self, array: Any) -> Any:
        """A copy that shares no memory with `array`."""
        return self.xp.asarray(array, copy=True)

    def own(self, held: list[Any]) -> Any:
        """The array in the one-element list `held`, or a copy if others may use its memory.

        This empties the list, so that a backend can count the other references to the array.
        """
        return self.copy(held.pop())

    def add_into(self, array: Any, other: Any) -> bool:
        """Add `other` to `array` in place, if the library's arrays can be written."""
        return False

    def item(self, array: Any) -> Any:
        """The only element of an array as a Python number."""
        if hasattr(array, "item"):  # the standard does not require this method
            return array.item()
        number: Any = {"b": bool, "i": int, "f": float, "c": complex}[self.kind(array.dtype)]
        return number(self.xp.reshape(array, ()))

    def check_leaf(self, array: Any) -> None:
        """Raise if an array cannot be a leaf of a graph."""

    def from_numpy(self, array: Any, device: Any) -> Any:
        """A NumPy array as an array of this library, on the given device."""
        return self.xp.asarray(array, device=device)

    def without_nan(self, array: Any, error: Exception) -> Any:
        """The array; raises `error` if it has NaN. For a lazy array, its computation raises."""
        if bool(self.xp.any(self.xp.isnan(array))):
            raise error
        return array

    def to_numpy(self, array: Any) -> Any:
        """The array's values as a NumPy array on the host."""
        return np.asarray(array)
