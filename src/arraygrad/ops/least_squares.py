"""Least squares: the best solution of linear systems that have no exact solution, or many.

Systems with one solution are in `linalg`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, overload

import numpy as np

from ..backends import backend_of
from ..core.array import plain
from .contractions import matmul
from .decompositions import pinv
from .define.arguments import naming
from .define.signatures import A, AnyArray
from .elementwise import conj, greater, is_complex, real
from .matrices import check_matrices
from .reductions import max, sum
from .shape import _reshape, as_inexact, astype, expand_dims
from .spectra import svdvals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..arrays.tensor import Tensor

__all__ = ["LstsqResult", "lstsq"]


class LstsqResult(NamedTuple, Generic[A]):
    """The result of `lstsq`.

    Attributes
    ----------
    solution : array of shape (..., n) or (..., n, k)
        The solution with the smallest norm among those with the smallest residual.
    residuals : array of shape (..., k)
        The sum of squared residuals for each column (one for a vector), if the systems have more
        equations than unknowns; else the length is zero.
    rank : array of integers, of shape (...)
    singular_values : array of shape (..., min(m, n))
    """

    solution: A
    residuals: A
    rank: A
    singular_values: A


@overload
def lstsq(a: NDArray[Any], b: NDArray[Any], /, rcond: Any = None) -> LstsqResult[NDArray[Any]]: ...
@overload
def lstsq(a: Tensor, b: AnyArray, /, rcond: Any = None) -> LstsqResult[Tensor]: ...
@overload
def lstsq(a: AnyArray, b: Tensor, /, rcond: Any = None) -> LstsqResult[Tensor]: ...
@overload
def lstsq(a: A, b: A, /, rcond: Any = None) -> LstsqResult[A]: ...
@naming("a", "b")
def lstsq(a: Any, b: Any, /, rcond: Any = None) -> LstsqResult[Any]:
    """Solve linear systems in the sense of least squares.

    The gradient is for changes that keep the rank of the matrices, as for `pinv`.

    Parameters
    ----------
    a : array of shape (..., m, n)
    b : array of shape (m,) or (..., m, k)
        A vector, or the columns of matrices.
    rcond : float, optional
        Singular values below `rcond` times the largest count as zero. By default, `rcond` is the
        larger of m and n times the precision of the dtype; -1 is the precision itself, as for
        NumPy.

    Examples
    --------
    >>> import arraygrad as ag
    >>> t = ag.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> y = ag.tensor([1.0, 2.0, 4.0], requires_grad=True)
    >>> slope = ag.linalg.lstsq(t, y).solution[1]
    >>> ag.grad(slope, y)[::2]
    tensor([-0.5,  0.5])
    """
    check_matrices(a, "lstsq", "a")
    a = as_inexact(a)
    m, n = a.shape[-2:]
    is_vector = b.ndim == 1
    if (b.shape[0] if is_vector else b.shape[-2] if b.ndim else 0) != m:
        raise np.linalg.LinAlgError(
            f"lstsq: a has shape {tuple(a.shape)}, so that b must have {m} rows, but it has shape "
            f"{tuple(b.shape)}"
        )
    columns = expand_dims(b, axis=-1) if is_vector else b
    if isinstance(rcond, int | float) and rcond < 0:
        rcond = float(backend_of(a).xp.finfo(a.dtype).eps)
    solution = matmul(pinv(a, rtol=rcond), columns)
    values = svdvals(a)
    rest = columns - matmul(a, solution)
    squares = sum(real(rest * conj(rest)) if is_complex(rest) else rest * rest, axis=-2)
    return LstsqResult(
        _reshape(solution, shape=tuple(solution.shape[:-1])) if is_vector else solution,
        squares if m > n else squares[..., :0],
        _rank(values, m, n, rcond),
        values,
    )


def _rank(values: Any, m: int, n: int, rtol: Any) -> Any:
    """The number of singular values that do not count as zero."""
    integers = backend_of(values).xp.int64
    if not values.shape[-1]:
        return sum(astype(values, integers), axis=-1)
    if rtol is None:
        rtol = backend_of(values).xp.finfo(values.dtype).eps * (m if m > n else n)
    else:
        rtol = plain(rtol)
        rtol = expand_dims(rtol, axis=-1) if getattr(rtol, "ndim", 0) else rtol
    large = greater(values, max(values, axis=-1, keepdims=True) * rtol)
    return sum(astype(large, integers), axis=-1)
