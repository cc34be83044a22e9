"""What an array library does in its own way: the class `Backend`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Kernel = Callable[..., Any]


def is_short_float(dtype: Any) -> bool:
    """Whether a dtype is one of the floats that NumPy does not know: bfloat16 and shorter ones.

    PyTorch, JAX and MLX have them, and NumPy by the package `ml_dtypes`.
    """
    name = str(getattr(dtype, "name", dtype)).rpartition(".")[2]
    return name == "bfloat16" or name.startswith(("float8_", "float6_", "float4_"))


class Backend:
    """One array library.

    What is not given here is computed by the functions of the namespace `xp`. A library that does
    things differently overrides methods:

    ==================================  ==========================================================
    `to_numpy`, `from_numpy`            if its arrays do not convert by `np.asarray` and
                                        `xp.asarray`
    `dtype`, `kind`                     if its dtypes are not attributes of `xp` by their names, or
                                        there is no `xp.isdtype`
    `device`, `full`, `integers`        if its arrays have no `device`, or its functions do not
                                        take one
    `own`, `add_into`                   if its arrays can be written: gradients are then added up
                                        in place, and not copied when nobody else has them
    `has_values`, `known_values`        if arrays can stand for values that are computed later
    `check_leaf`                        to refuse arrays that cannot be differentiated
    ==================================  ==========================================================

    Parameters
    ----------
    name : str
        What error messages call it.
    xp : module
        Its Array API namespace, or any object with such functions.
    kernels : mapping of str to callable, optional
        Implementations of ops, by the op's name, where the namespace's own function is missing,
        slower or different. They are called with arrays, and the op's other arguments by keyword.
        `standard.standard_kernels(xp)` has those for indexing, and more, by the standard's
        functions alone.
    """

    # Whether making one axis of two costs little: it does unless arrays are in pieces.
    merges_axes = True

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

        Kernels have the names of arraygrad's own ops. Somebody else's op of the same name has
        nothing to do with them: it is computed as it was declared.
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
        """The kernel that follows from an op's kind, for a library that computes by kinds."""
        return None

    def shape(self, array: Any) -> tuple[int, ...]:
        """An array's shape as derivative rules keep it: a tuple, which may carry more with it."""
        return tuple(array.shape)

    def elementwise(self, kernel: Kernel, types: tuple[type, ...]) -> Kernel:
        """The kernel of an elementwise op, for arguments of these types, made faster."""
        return kernel

    def full(self, like: Any, shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
        """A new array filled with `value`, on the device of `like`."""
        return self.xp.full(shape, value, dtype=dtype, device=self.device(like))

    def dtype(self, dtype: Any) -> Any:
        """A dtype as the library spells it; NumPy's are found by their names."""
        if isinstance(dtype, str):
            return getattr(self.xp, dtype)
        if isinstance(dtype, type) and issubclass(dtype, np.generic | bool | int | float | complex):
            dtype = np.dtype(dtype)
        return getattr(self.xp, dtype.name) if isinstance(dtype, np.dtype) else dtype

    def integers(self, like: Any, values: list[int]) -> Any:
        """Integers as a one-dimensional array to index `like` with."""
        if not values:  # which say nothing of their dtype
            return self.xp.arange(0, device=self.device(like))
        return self.xp.asarray(values, device=self.device(like))

    def device(self, array: Any) -> Any:
        """Where an array lives."""
        return array.device

    def has_values(self, array: Any) -> bool:
        """Whether the values of an array can be looked at, or are only known later."""
        return True

    def arranged(self, array: Any, like: Any) -> Any:
        """The values of an array, cut into pieces as `like` is, which has the same last axes."""
        return array

    def known_values(self, array: Any) -> Any:
        """The values as a NumPy array if they are known by now; None if not."""
        return self.to_numpy(array) if self.has_values(array) else None

    def copy(self, array: Any) -> Any:
        """A copy that shares no memory with `array`."""
        return self.xp.asarray(array, copy=True)

    def own(self, held: list[Any]) -> Any:
        """The array in the one-element list `held`, or a copy if anyone else can see its memory.

        The list is emptied, so that a backend can count who else refers to the array.
        """
        return self.copy(held.pop())

    def add_into(self, array: Any, other: Any) -> bool:
        """Add `other` to `array` in place, if the library's arrays can be written."""
        return False

    def item(self, array: Any) -> Any:
        """The only element of an array as a Python number."""
        if hasattr(array, "item"):  # which the standard does not ask for
            return array.item()
        number: Any = {"b": bool, "i": int, "f": float, "c": complex}[self.kind(array.dtype)]
        return number(self.xp.reshape(array, ()))

    def check_leaf(self, array: Any) -> None:
        """Raise if gradients with respect to an array cannot be recorded."""

    def from_numpy(self, array: Any, device: Any) -> Any:
        """A NumPy array as one of this library, on a device of it."""
        return self.xp.asarray(array, device=device)

    def without_nan(self, array: Any, error: Exception) -> Any:
        """The array; raises `error` if there is NaN in it, or lets that happen once it is known."""
        if bool(self.xp.any(self.xp.isnan(array))):
            raise error
        return array

    def to_numpy(self, array: Any) -> Any:
        """The array's values as a NumPy array on the host."""
        return np.asarray(array)
