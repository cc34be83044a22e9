"""Diagonals of matrices. Triangles are in `shape`, NumPy's function `diag` is in `arrangement`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..core.kinds import Moves
from .define.library import declare
from .define.signatures import one_array
from .indexing import _index_add
from .shape import _reshape

__all__ = ["diagonal"]


def check_matrices(x: Any, name: str, argument: str = "x") -> None:
    """Raise unless `x` has two axes or more."""
    if x.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{name}: {argument} must have at least 2 dimensions, got shape {tuple(x.shape)}"
        )


@one_array
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """A diagonal of matrices: the main one, or the one `offset` above it (below, if negative).

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ag.grad(ag.linalg.diagonal(x) @ ag.tensor([1.0, 10.0]), x)
    tensor([[ 1.,  0.],
            [ 0., 10.]])
    """
    check_matrices(x, "diagonal")
    return _diagonal(x, offset=operator.index(offset))


def _on_diagonal(shape: tuple[int, ...], offset: int) -> slice:
    """The slice of a diagonal in the flattened matrices of a shape."""
    m, n = shape[-2:]
    start = offset if offset >= 0 else -offset * n
    length = max(min(m, n - offset) if offset >= 0 else min(m + offset, n), 0)
    if not length:  # `start` may be outside
        return slice(0, 0)
    return slice(start, start + (length - 1) * (n + 1) + 1, n + 1)


def _from_diagonal(g: Any, x_shape: tuple[int, ...], offset: int) -> Any:
    """Matrices with `g` on a diagonal and zeros elsewhere."""
    *lead, m, n = x_shape
    template = (Ellipsis, _on_diagonal(x_shape, offset))
    return _reshape(_index_add(g, template=template, shape=(*lead, m * n)), shape=x_shape)


_diagonal = declare(
    "diagonal",
    "x",
    compute=lambda xp, x, offset: xp.linalg.diagonal(x, offset=offset),
    vjp=_from_diagonal,
    kind=Moves(shares=True),
)
