"""Namespaces for `x.__array_namespace__()`: arraygrad's functions, for the library of `x`.

For a NumPy array, the namespace is the module `arraygrad` itself. For an array of another library,
it is a `Namespace`: functions such as `zeros` create arrays of this library, on the device of `x`,
and dtypes are those of this library.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import numpy as np

from ..arrays import creation
from ..backends import Backend, backend_of_type, default
from ..core.array import Array

_MADE_FROM_NUMBERS = ("arange", "empty", "eye", "full", "linspace", "ones", "zeros")
_MADE_FROM_DATA = ("asarray", "tensor")
_DTYPES_OF_ITS_OWN = ("bfloat16", "float16")  # dtypes that the standard does not have


class Namespace(ModuleType):
    """The module `arraygrad`, with functions that create arrays of one library on one device.

    Examples
    --------
    >>> import arraygrad as ag
    >>> import array_api_strict
    >>> x = ag.asarray(array_api_strict.asarray([1.0, 2.0]))
    >>> xp = x.__array_namespace__()
    >>> type(xp.ones(2).array) is type(x.array), xp.exp is ag.exp
    (True, True)
    """

    def __init__(self, backend: Backend, device: Any) -> None:
        super().__init__("arraygrad", f"arraygrad, making arrays of {backend.name} on {device}.")
        self._backend = backend
        self._device = device

    def __getattr__(self, name: str) -> Any:
        import arraygrad

        if name in _DTYPES_OF_ITS_OWN and hasattr(self._backend.xp, name):
            return getattr(self._backend.xp, name)
        found = getattr(arraygrad, name)
        if name in _MADE_FROM_NUMBERS:
            found = self._from_numbers(found)
        elif name in _MADE_FROM_DATA:
            found = self._from_data(found)
        elif name == "from_dlpack":
            found = self._from_dlpack(found)
        elif isinstance(found, np.dtype):
            found = self._backend.dtype(found)
        elif name == "__array_namespace_info__":
            found = getattr(self._backend.xp, name, found)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        import arraygrad

        return dir(arraygrad)

    def __repr__(self) -> str:
        return f"<namespace 'arraygrad' for {self._backend.name} on {self._device}>"

    def _keywords(self, dtype: Any, device: Any) -> dict[str, Any]:
        keywords = {"device": self._device if device is None else device}
        if dtype is not None:
            keywords["dtype"] = self._backend.dtype(dtype)
        return keywords

    def _from_numbers(self, function: Any) -> Any:
        make = getattr(self._backend.xp, function.__name__)

        @functools.wraps(function)
        def made(*args: Any, dtype: Any = None, device: Any = None, **keywords: Any) -> Any:
            if any(isinstance(a, Array) for a in args):  # the library of this array decides
                return function(*args, dtype=dtype, device=device, **keywords)
            return creation.new(make(*args, **keywords, **self._keywords(dtype, device)))

        return made

    def _from_dlpack(self, function: Any) -> Any:
        @functools.wraps(function)
        def made(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
            given = {"device": device, "copy": copy}
            keywords = {name: value for name, value in given.items() if value is not None}
            return creation.new(self._backend.xp.from_dlpack(x, **keywords))

        return made

    def _from_data(self, function: Any) -> Any:
        @functools.wraps(function)
        def made(data: Any, /, *, dtype: Any = None, device: Any = None, **keywords: Any) -> Any:
            if not isinstance(data, Array) and not creation.holds_arrays(data):
                copy = keywords.get("copy")
                if _is_numpy(data):
                    if copy is False:
                        raise ValueError(
                            f"copy=False, but a NumPy array has to be copied to become one of "
                            f"{self._backend.name}: leave copy out"
                        )
                    data = self._backend.from_numpy(data, self._device)
                elif not hasattr(data, "dtype"):
                    data = self._backend.xp.asarray(data, **self._keywords(dtype, device))
            return function(data, dtype=dtype, device=device, **keywords)

        return made


def _is_numpy(data: Any) -> bool:
    try:
        return backend_of_type(type(data)) is default
    except TypeError:
        return False


@functools.lru_cache(256)
def namespace(backend: Backend, device: Any) -> Any:
    """The namespace for arrays of a library on a device."""
    if isinstance(backend, type(default)):
        import arraygrad

        return arraygrad
    return Namespace(backend, device)
