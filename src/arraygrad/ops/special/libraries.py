"""Ops that are computed by the special functions of the array libraries."""

from __future__ import annotations

from typing import Any

from ...backends import backend_of
from ...backends.special import kernel
from ...core.array import AnyFunction
from ..define.library import binary, unary
from ..define.op import Operator
from ..define.rules import Rule
from ..define.signatures import Unary


def _library(name: str) -> AnyFunction:
    return lambda xp, *arrays: kernel(xp, name)(*arrays)


def library_unary(
    name: str, d: Rule | None = None, *, vjp: Rule | None = None, doc: str | None = None
) -> Unary:
    """Declare a function of one array that the library computes under this name."""
    return unary(name, d, vjp=vjp, compute=_library(name), doc=doc)


def library_binary(
    name: str,
    *,
    vjp_x: Rule | None = None,
    vjp_y: Rule | None = None,
    doc: str | None = None,
) -> Operator:
    """Declare a function of two arrays that the library computes under this name."""
    return binary(name, vjp_x=vjp_x, vjp_y=vjp_y, compute=_library(name), doc=doc)


def of_arrays(name: str) -> AnyFunction:
    """The library's function, which may not take numbers, of arrays like the last argument."""

    def compute(xp: Any, *arrays: Any) -> Any:
        last = arrays[-1]
        if hasattr(last, "dtype"):
            like = {"dtype": last.dtype, "device": backend_of(last).device(last)}
            arrays = tuple([a if hasattr(a, "dtype") else xp.asarray(a, **like) for a in arrays])
        return kernel(xp, name)(*arrays)

    return compute


def both_arrays(xp: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands, of which one may be a number, as arrays."""
    if not hasattr(x, "dtype"):
        x = xp.asarray(x, dtype=getattr(y, "dtype", None))
    if not hasattr(y, "dtype"):
        y = xp.asarray(y, dtype=x.dtype)
    return x, y
