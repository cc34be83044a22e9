"""The registry of backends: it finds the backend of an array by the array's type."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..errors import MixedArraysError
from .base import Backend
from .numpy import numpy_backend

default: Backend = numpy_backend

_backends: dict[type, Backend | None] = {
    **dict.fromkeys((bool, int, float, complex)),
    **dict.fromkeys((np.ndarray, np.generic), default),
    # np.float64 is a subclass of float, but belongs to NumPy.
    **dict.fromkeys((np.float64, np.float32, np.float16, np.complex128, np.complex64), default),
}


def register(array_type: type, backend: Backend) -> None:
    """Use `backend` for arrays of type `array_type` and its subclasses.

    Call it once, before you use the first array of this type.

    Parameters
    ----------
    array_type : type
        Its instances need `shape`, `ndim`, `dtype` and Python's operators. An operator must return
        NotImplemented for an operand that it does not know.
    backend : Backend
        What computes with them.

    Returns
    -------
    None

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
        If it is not a type of array.
    """
    try:
        return _backends[array_type]
    except KeyError:
        return _resolve(array_type)


def backend_of(array: Any) -> Backend:
    """The backend of an array, plain or under transforms. For Python numbers, it is NumPy's.

    Parameters
    ----------
    array : array or number
        Of any library.

    Returns
    -------
    Backend

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.backends.backend_of(ag.ones(2)).name
    'numpy'
    """
    while not getattr(array, "is_plain", True):  # an `Array` that holds another array
        array = array._array
    return backend_of_type(type(array)) or default


def common_backend(types: tuple[type, ...]) -> Backend:
    """The one backend of all the given types of plain arrays and numbers."""
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
    for base in array_type.__mro__:  # the nearest known base class
        if base in _backends:
            backend = _backends[base]
            if backend is default:
                _check_numpy_type(array_type)
            _backends[array_type] = backend
            return backend
    backend = _backends[array_type] = _of_module(array_type)
    return backend


# The libraries with a module here, by the top-level module of their array types.
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
        found: Backend = importlib.import_module(f".{_FILES[module]}", __package__).backend
        return found
    if not hasattr(array_type, "__array_namespace__"):
        is_sequence = issubclass(array_type, list | tuple)
        way = ": make it one by asarray() or stack()" if is_sequence else ""
        raise TypeError(f"expected an array or a number, got {array_type.__name__}{way}")
    # Arrays of the standard name their namespace themselves.
    standard = importlib.import_module(".standard", __package__)
    return standard.standard_backend(array_type)  # type: ignore[no-any-return]


def _check_numpy_type(array_type: type) -> None:
    if issubclass(array_type, np.ma.MaskedArray | np.matrix):
        raise TypeError(
            f"{array_type.__name__} does not compute like other arrays and cannot be "
            "differentiated: convert it to an ndarray first"
        )
