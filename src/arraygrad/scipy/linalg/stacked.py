"""Functions of one matrix of SciPy, run over the leading axes of stacks of matrices."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ...backends import backend_of
from ...core.array import AnyFunction, plain
from ...core.kinds import Matrices
from ...errors import SingularError
from ...ops import conj, expand_dims, is_complex, matrix_transpose, real, tril, triu
from ...ops.define.library import declare
from ..names import scipy_module
from ..twins import by_scipy, floating, has_values

SCIPY = scipy_module("scipy.linalg")


def stacked(function: AnyFunction, multiple: bool = False) -> AnyFunction:
    """`compute` of an op: a function of matrices, over the leading axes that they broadcast to."""

    def run(*arrays: Any, **keywords: Any) -> Any:
        lead = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
        if not lead:
            return function(*arrays, **keywords)
        if 0 in lead:
            units = [np.eye(*a.shape[-2:], dtype=a.dtype) for a in arrays]
            found = function(*units, **keywords)
            if multiple:
                return tuple(np.empty((*lead, *part.shape), part.dtype) for part in found)
            return np.empty((*lead, *found.shape), found.dtype)
        wide = [np.broadcast_to(a, (*lead, *a.shape[-2:])) for a in arrays]
        rows = [function(*(a[i] for a in wide), **keywords) for i in np.ndindex(*lead)]
        if multiple:
            return tuple(_stack(column, lead) for column in zip(*rows, strict=True))
        return _stack(rows, lead)

    run.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return by_scipy(run)


def _stack(rows: Any, lead: tuple[int, ...]) -> Any:
    out = np.stack(rows)
    return out.reshape(*lead, *out.shape[1:])


def matrix_op(
    name: str,
    *inputs: str,
    compute: AnyFunction,
    shapes: AnyFunction,
    multiple: bool = False,
    **rules: Any,
) -> AnyFunction:
    """Declare an op on matrices that a function of SciPy computes."""
    return declare(
        f"scipy.linalg.{name}",
        *inputs,
        compute=stacked(compute, multiple),
        kind=Matrices(shapes=shapes),
        multiple=multiple,
        **rules,
    )


def matrix(x: Any, name: str, square: bool = True) -> Any:
    """An argument as matrices of floating-point numbers."""
    x = floating(x)
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "a square matrix" if square else "a matrix"
        raise ValueError(f"{name}: expected {kind}, got shape {tuple(x.shape)}")
    return x


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    turned = matrix_transpose(x)
    return conj(turned) if is_complex(x) else turned


def hermitian(x: Any, lower: bool) -> Any:
    """The Hermitian matrix that has the lower or upper triangle of `x`: SciPy reads no other.

    Of the diagonal, it reads the real part.
    """
    part = tril(x, k=-1) if lower else triu(x, k=1)
    middle = tril(triu(x))
    return part + adjoint(part) + (real(middle) if is_complex(x) else middle)


def symmetric(x: Any, lower: bool) -> Any:
    """The symmetric matrix that has the lower or upper triangle of `x`."""
    part = tril(x, k=-1) if lower else triu(x, k=1)
    return part + matrix_transpose(part) + tril(triu(x))


def regular(a: Any, name: str) -> Any:
    """Matrices of which a function has a derivative; raises if a matrix is singular."""
    values = plain(a)
    if has_values(values) and 0 not in values.shape:
        s = np.linalg.svd(backend_of(values).to_numpy(values), compute_uv=False)
        lowest, highest = s[..., -1], s[..., 0]
        if np.any(lowest <= max(a.shape[-2:]) * np.finfo(s.dtype).eps * highest):
            raise SingularError(
                f"{name}: the matrix is singular (its singular values are between "
                f"{np.min(lowest):.1e} and {np.max(highest):.1e}), so that there is no derivative"
            )
    return a


def columns(b: Any) -> tuple[Any, bool]:
    """Right-hand sides as the columns of matrices, and whether it was one vector."""
    return (expand_dims(b, axis=-1), True) if b.ndim == 1 else (b, False)


def uncolumned(x: Any, was_vector: bool) -> Any:
    """The solution in the form of its right-hand side."""
    return x[..., 0] if was_vector else x
