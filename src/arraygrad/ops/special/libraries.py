"""Declaring ops that the special functions of the array libraries compute.

The functions themselves are in `backends.special`.
"""

from __future__ import annotations

from typing import Any

from ...backends import backend_of
from ...backends.special import kernel
from ...core.array import AnyFunction
from ..define.library import binary, unary
from ..define.op import Operator
from ..define.signatures import Unary


def _library(name: str) -> AnyFunction:
    return lambda xp, *arrays: kernel(xp, name)(*arrays)


def library_unary(
    name: str,
    d: AnyFunction | None = None,
    *,
    vjp: AnyFunction | None = None,
    doc: str | None = None,
) -> Unary:
    """Declare a function of one array that the library's function `name` computes."""
    return unary(name, d, vjp=vjp, compute=_library(name), doc=doc)


def library_binary(
    name: str,
    *,
    vjp_x: AnyFunction | None = None,
    vjp_y: AnyFunction | None = None,
    doc: str | None = None,
) -> Operator:
    """Declare a function of two arrays that the library's function `name` computes."""
    return binary(name, vjp_x=vjp_x, vjp_y=vjp_y, compute=_library(name), doc=doc)


def of_arrays(name: str) -> AnyFunction:
    """The library's function, called with arrays only: numbers become arrays like the last one."""

    def compute(xp: Any, *arrays: Any) -> Any:
        last = arrays[-1]
        if hasattr(last, "dtype"):
            like = {"dtype": last.dtype, "device": backend_of(last).device(last)}
            arrays = tuple([a if hasattr(a, "dtype") else xp.asarray(a, **like) for a in arrays])
        return kernel(xp, name)(*arrays)

    return compute


def both_arrays(xp: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands as arrays; one may be a number."""
    if not hasattr(x, "dtype"):
        x = xp.asarray(x, dtype=getattr(y, "dtype", None))
    if not hasattr(y, "dtype"):
        y = xp.asarray(y, dtype=x.dtype)
    return x, y
