"""Norms of vectors and matrices. Where a norm is zero, its gradient is zero, too."""

from __future__ import annotations

import math
import numbers
from typing import Any

from ..core.axes import count, kept, many_axes
from ..core.kinds import Reduces
from .define.library import declare
from .define.signatures import Axis, one_array
from .elementwise import abs, equal, logical_or, real, sign, where
from .matrices import check_matrices
from .reductions import _keep, count_nonzero, library_reduction, max, min, sum
from .shape import _reshape, astype
from .spectra import svdvals

__all__ = ["matrix_norm", "vector_norm"]

Axes = tuple[int, ...] | None


def _slope(x: Any, out: Any, axis: Axes, keepdims: bool, ord: float) -> Any:
    """The derivative of a norm by each element; its modulus is ``(|x| / norm) ** (ord - 1)``."""
    norm = _keep(out, x.shape, axis, keepdims)
    flat = equal(norm, 0)
    norm = where(flat, 1, norm)
    if ord == 2:
        return where(flat, 0, x / norm)
    flat = logical_or(flat, equal(x, 0))
    return where(flat, 0, sign(x) * (where(flat, 1, abs(x)) / norm) ** (ord - 1))


_vector_norm = library_reduction(
    "vector_norm",
    d=_slope,
    kind=Reduces(real=True),
    compute=lambda xp, x, axis, keepdims, ord: xp.linalg.vector_norm(
        x, axis=axis, keepdims=keepdims, ord=ord
    ),
    holomorphic=False,
)


# It is constant wherever it is continuous, so its derivative is zero, like that of `floor`.
_count_norm = declare(
    "count_norm",
    "x",
    compute=lambda xp, x, axis, keepdims: astype(
        count_nonzero(x, axis=axis, keepdims=keepdims), real(x).dtype
    ),
    kind=Reduces(flat=("x",), real=True),
)


def _extreme(x: Any, ord: float, axis: Axes, keepdims: bool = False) -> Any:
    """The largest of numbers that are not negative, or the smallest if `ord` is negative.

    The largest of none is zero, as the standard's own norms have it.
    """
    if ord < 0:
        return min(x, axis=axis, keepdims=keepdims)
    return (max if count(x.shape, axis) else sum)(x, axis=axis, keepdims=keepdims)


@one_array
def vector_norm(x: Any, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Any:
    """The norm of vectors: ``sum(abs(x) ** ord) ** (1 / ord)`` over all axes, or some.

    At a vector of zeros, the gradient is zero. Ties share the gradient of a largest element evenly.

    Parameters
    ----------
    x : array
    axis : int or tuple of int, optional
        The axes that form a vector; by default, all axes.
    keepdims : bool
        Whether to keep these axes at length one.
    ord : float
        Any number. `inf` gives the largest absolute value, `-inf` the smallest. 0 counts the
        elements that are not zero; the gradient of the count is zero.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([3.0, 4.0], requires_grad=True)
    >>> ag.grad(ag.linalg.vector_norm(x), x)
    tensor([0.6, 0.8])
    """
    if not isinstance(ord, numbers.Real):
        raise ValueError(f"vector_norm: ord must be a number, not {ord!r}")
    axis = many_axes(axis, x.ndim)
    if ord == 0:
        return _count_norm(x, axis=axis, keepdims=keepdims)
    if ord == 1:
        return sum(abs(x), axis=axis, keepdims=keepdims)
    if math.isinf(ord):
        return _extreme(abs(x), ord, axis, keepdims)
    return _vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


@one_array
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of matrices.

    Parameters
    ----------
    x : array of shape (..., m, n)
    keepdims : bool
        Whether to keep the last two axes at length one.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}
        "fro": the square root of the sum of squares. "nuc": the sum of the singular values. 1: the
        largest sum of absolute values in a column. 2: the largest singular value. inf: the largest
        sum of absolute values in a row. -1, -2 and -inf: the smallest instead of the largest.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[3.0, 0.0], [0.0, 4.0]], requires_grad=True)
    >>> ag.grad(ag.linalg.matrix_norm(x, ord="nuc"), x)
    tensor([[1., 0.],
            [0., 1.]])
    """
    check_matrices(x, "matrix_norm")
    last = (x.ndim - 2, x.ndim - 1)
    if ord == "fro":
        return vector_norm(x, axis=last, keepdims=keepdims)
    if ord == "nuc":
        norm = sum(svdvals(x), axis=-1)
    elif ord in (2, -2):
        norm = _extreme(svdvals(x), ord, last[:1])
    elif ord in (1, -1, math.inf, -math.inf):
        along = -1 if math.isinf(ord) else -2
        norm = _extreme(sum(abs(x), axis=along), ord, last[:1])
    else:
        raise ValueError(
            f"matrix_norm: ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, not {ord!r}"
        )
    return _reshape(norm, shape=kept(x.shape, last)) if keepdims else norm
