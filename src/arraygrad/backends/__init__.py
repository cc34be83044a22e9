"""Array libraries: which one an array belongs to, and what that library does in its own way.

`numpy.py` is the default. A library that needs more than the standard offers has a file of its own
here; any other that follows the standard needs none. For arrays that are not known here, anyone can
`register` a `Backend`, without a change to this package: `docs/backends.md` shows how.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import MixedArraysError

__all__ = ["Backend", "backend_of", "register"]

Kernel = Callable[..., Any]


def __dir__() -> list[str]:
    return __all__


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
        """The function that computes an op on arrays of this library."""
        if op.name in self.kernels:
            return self.kernels[op.name]
        if op.compute is not None:
            return functools.partial(op.compute, self.xp)
        found = getattr(self.xp, op.name, None)
        if found is None:
            raise NotImplementedError(
                f"{self.name} has no function {op.name!r}: give its Backend a kernel of that name"
            )
        return found  # type: ignore[no-any-return]

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
        import numpy as np

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
        import numpy as np

        return np.asarray(array)


_backends: dict[type, Backend | None] = {bool: None, int: None, float: None, complex: None}


def register(array_type: type, backend: Backend) -> None:
    """Use `backend` for arrays of type `array_type`, and of subclasses of it.

    To be called once, before the first array of that type is used.

    Parameters
    ----------
    array_type : type
        Its instances need `shape`, `ndim`, `dtype` and Python's operators, which return
        NotImplemented for operands that they do not know.
    backend : Backend

    Examples
    --------
    >>> import array_api_strict
    >>> from arraygrad.backends import Backend, register
    >>> from arraygrad.backends.standard import standard_kernels
    >>> class Mine(type(array_api_strict.zeros(1))): ...
    >>> register(Mine, Backend("mine", array_api_strict, standard_kernels(array_api_strict)))
    """
    if not isinstance(array_type, type):
        raise TypeError(f"array_type must be a type, not {array_type!r}")
    if not isinstance(backend, Backend):
        raise TypeError(f"backend must be a Backend, not {type(backend).__name__}")
    known = _backends.get(array_type)
    if known is not None and known is not backend:
        raise ValueError(
            f"{array_type.__name__} has the backend {known.name!r} already: register before its "
            "arrays are first used, and only once"
        )
    _backends[array_type] = backend


def backend_of_type(array_type: type) -> Backend | None:
    """The backend of a type of plain array; None for Python numbers.

    Raises
    ------
    TypeError
        If the type is no array.
    """
    try:
        return _backends[array_type]
    except KeyError:
        return _resolve(array_type)


def backend_of(array: Any) -> Backend:
    """The backend of an array of any kind, wrapped or plain. Python numbers are NumPy's."""
    while hasattr(array, "level"):  # one of our own, wrapped around another
        array = array._array
    return backend_of_type(type(array)) or default


def common_backend(types: tuple[type, ...]) -> Backend:
    """The one backend that all the given types of plain arrays and numbers belong to."""
    found: Backend | None = None
    for array_type in types:
        backend = backend_of_type(array_type)
        if backend is None or backend is found:
            continue
        if found is not None:
            raise MixedArraysError(
                f"an operation met arrays of two libraries, {found.name} and {backend.name}: "
                "convert one of them first, or make constants by the functions of "
                "x.__array_namespace__(), which puts them where x is"
            )
        found = backend
    return found or default


def _resolve(array_type: type) -> Backend | None:
    for base in array_type.__mro__:  # the nearest that is known
        if base in _backends:
            backend = _backends[base]
            if backend is default:
                _check_numpy_type(array_type)
            _backends[array_type] = backend
            return backend
    backend = _backends[array_type] = _of_module(array_type)
    return backend


# The libraries with a file of their own here, by the top-level modules of their arrays' types.
_FILES = {
    "array_api_strict": "array_api_strict",
    "cupy": "cupy",
    "dask": "dask",
    "jax": "jax",
    "jaxlib": "jax",
    "mlx": "mlx",
    "torch": "torch",
}


def _of_module(array_type: type) -> Backend:
    module = array_type.__module__.partition(".")[0]
    if module in _FILES:
        found: Backend = importlib.import_module(f".{_FILES[module]}", __name__).backend
        return found
    if not hasattr(array_type, "__array_namespace__"):
        raise TypeError(f"expected an array or a number, got {array_type.__name__}")
    from .standard import standard_backend

    return standard_backend(array_type)


def _check_numpy_type(array_type: type) -> None:
    import numpy as np

    if issubclass(array_type, np.ma.MaskedArray | np.matrix):
        raise TypeError(
            f"{array_type.__name__} does not compute like other arrays and cannot be "
            "differentiated: convert it to an ndarray first"
        )


from .numpy import numpy_backend  # noqa: E402  (needs Backend, above)

default: Backend = numpy_backend
