"""Functions of tensors with PyTorch's names and keywords (`dim`, `keepdim`).

Lucid and sorix have them, too. They take and give tensors of arraygrad.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import nn, ops
from ..ops import norms
from ..ops.special import gamma, normal, sigmoids
from ..ops.special import softmax as softmax_ops


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape, given as `2, 3` or as `(2, 3)`."""
    only = given[0] if len(given) == 1 else given
    return tuple(only) if isinstance(only, list | tuple) else (only,)


def reduction(op: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction with the keywords `dim` and `keepdim`, or `axis` and `keepdims`."""

    def function(
        x: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False
    ) -> Any:
        where = _either(dim, axis)
        where = tuple(where) if isinstance(where, list) else where
        return op(x, axis=where, keepdims=keepdim or keepdims)

    function.__name__ = getattr(op, "__name__", "reduction")
    return function


def _either(dim: Any, axis: Any) -> Any:
    if dim is not None and axis is not None:
        raise TypeError("dim and axis are the same: pass one of them")
    return axis if dim is None else dim


def _extreme(all_of: Any, place: Any, two: Any) -> Callable[..., Any]:
    def function(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if hasattr(dim, "shape"):
            return two(x, dim)
        if dim is None:
            return all_of(x)
        index = place(x, axis=dim, keepdims=True)
        values = ops.take_along_axis(x, index, axis=dim)
        if not keepdim:
            index, values = (ops.squeeze(v, axis=dim) for v in (index, values))
        return values, index

    return function


def clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    """Elements below `min` or above `max` become these."""
    return ops.clip(x, min, max)


def var(x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False) -> Any:
    """The variance; unbiased, with one less than the number of elements in the denominator."""
    return ops.var(x, axis=dim, correction=float(unbiased), keepdims=keepdim)


def std(x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False) -> Any:
    """The standard deviation, the square root of `var`."""
    return ops.std(x, axis=dim, correction=float(unbiased), keepdims=keepdim)


def norm(x: Any, p: float = 2, dim: Any = None, keepdim: bool = False) -> Any:
    """The p-norm of the elements."""
    return norms.vector_norm(x, axis=dim, ord=p, keepdims=keepdim)


def softmax(x: Any, dim: int = -1, *, axis: int | None = None) -> Any:
    """Exponentials that add up to one along an axis."""
    return softmax_ops.softmax(x, axis=dim if axis is None else axis)


def log_softmax(x: Any, dim: int = -1) -> Any:
    """The logarithm of `softmax`."""
    return softmax_ops.log_softmax(x, axis=dim)


def cumsum(x: Any, dim: int) -> Any:
    """The running sum."""
    return ops.cumulative_sum(x, axis=dim)


def cumprod(x: Any, dim: int) -> Any:
    """The running product."""
    return ops.cumulative_prod(x, axis=dim)


def sort(x: Any, dim: int = -1, descending: bool = False) -> Any:
    """The elements in order, and the places where they were."""
    order = ops.argsort(x, axis=dim, descending=descending)
    return ops.take_along_axis(x, order, axis=dim), order


def reshape(x: Any, *shape: Any) -> Any:
    """The same elements in another shape."""
    return ops.reshape(x, sizes(shape))


def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Several axes as one."""
    if not x.ndim:
        return ops.reshape(x, (1,))
    last = end_dim % x.ndim
    return ops.reshape(x, (*x.shape[: start_dim % x.ndim], -1, *x.shape[last + 1 :]))


def squeeze(x: Any, dim: Any = None, *, axis: Any = None) -> Any:
    """Without axes of length one; with `dim`, without this one if it has length one."""
    where = _either(dim, axis)
    if where is None or x.shape[where] == 1:
        return ops.squeeze(x, axis=where)
    return x


def unsqueeze(x: Any, dim: int) -> Any:
    """With one more axis, of length one."""
    return ops.expand_dims(x, dim)


def transpose(x: Any, dim0: int, dim1: int) -> Any:
    """With two axes exchanged."""
    return ops.swapaxes(x, dim0, dim1)


def t(x: Any) -> Any:
    """The transpose of a matrix; a vector stays what it is."""
    if x.ndim > 2:
        raise RuntimeError(f"t() expects at most 2 dimensions, not {x.ndim}")
    return ops.matrix_transpose(x) if x.ndim == 2 else x


def permute(x: Any, *dims: Any) -> Any:
    """With the axes in another order."""
    return ops.permute_dims(x, sizes(dims))


def expand(x: Any, *shape: Any) -> Any:
    """Repeated along axes of length one; -1 keeps a length."""
    wanted = sizes(shape)
    own = (-1,) * (len(wanted) - x.ndim) + tuple(x.shape)
    return ops.broadcast_to(x, tuple(o if n == -1 else n for n, o in zip(wanted, own, strict=True)))


def repeat(x: Any, *repeats: Any) -> Any:
    """Copies of the tensor side by side, so many along each axis."""
    return ops.tile(x, sizes(repeats))


def flip(x: Any, *dims: Any) -> Any:
    """With the order reversed along some axes."""
    return ops.flip(x, axis=sizes(dims))


def roll(x: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved along axes; what leaves at one end comes in at the other."""
    pair = (tuple(v) if isinstance(v, list) else v for v in (shifts, dims))
    shift, axis = pair
    return ops.roll(x, shift, axis=axis)


def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors joined along an axis that they have."""
    return ops.concat(list(tensors), axis=dim)


def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors joined along a new axis."""
    return ops.stack(list(tensors), axis=dim)


def unbind(x: Any, dim: int = 0) -> tuple[Any, ...]:
    """The parts along an axis, without it."""
    return tuple(ops.unstack(x, axis=dim))


def split(x: Any, split_size_or_sections: Any, dim: int = 0) -> list[Any]:
    """Parts of some length along an axis; the last may be shorter."""
    length = x.shape[dim]
    lengths = split_size_or_sections
    if isinstance(lengths, int):
        lengths = [min(lengths, length - at) for at in range(0, length, lengths)]
    return list(ops.split(x, np.cumsum(lengths)[:-1].tolist(), axis=dim))


def chunk(x: Any, chunks: int, dim: int = 0) -> list[Any]:
    """So many parts along an axis, of equal length except the last."""
    return split(x, -(-x.shape[dim] // chunks), dim)


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """A value where the mask holds, and the elements elsewhere."""
    return ops.where(mask, ops.astype(np.asarray(value), x.dtype), x)


def tril(x: Any, diagonal: int = 0) -> Any:
    """The part of matrices below a diagonal."""
    return ops.tril(x, k=diagonal)


def triu(x: Any, diagonal: int = 0) -> Any:
    """The part of matrices above a diagonal."""
    return ops.triu(x, k=diagonal)


_ELEMENTWISE = "abs sign floor ceil trunc exp exp2 expm1 log log2 log10 log1p sqrt square "
_ELEMENTWISE += "reciprocal sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh round "
_ELEMENTWISE += "isnan isinf isfinite real imag conj"
_REDUCTIONS = "sum mean prod all any argmax argmin"

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(ops, name) for name in _ELEMENTWISE.split()},
    **{name: reduction(getattr(ops, name)) for name in _REDUCTIONS.split()},
    "add": ops.add,
    "arcsin": ops.asin,
    "arccos": ops.acos,
    "arctan": ops.atan,
    "cat": cat,
    "chunk": chunk,
    "clamp": clamp,
    "clip": clamp,
    "clone": ops.copy,
    "cumprod": cumprod,
    "cumsum": cumsum,
    "diag": ops.diag,
    "diagonal": ops.diagonal,
    "digamma": gamma.digamma,
    "div": ops.divide,
    "dot": ops.dot,
    "eq": ops.equal,
    "erf": normal.erf,
    "erfc": normal.erfc,
    "expand": expand,
    "flatten": flatten,
    "flip": flip,
    "ge": ops.greater_equal,
    "gt": ops.greater,
    "inner": ops.inner,
    "le": ops.less_equal,
    "lgamma": gamma.gammaln,
    "log_softmax": log_softmax,
    "logsumexp": reduction(softmax_ops.logsumexp),
    "lt": ops.less,
    "masked_fill": masked_fill,
    "matmul": ops.matmul,
    "max": _extreme(ops.max, ops.argmax, ops.maximum),
    "maximum": ops.maximum,
    "min": _extreme(ops.min, ops.argmin, ops.minimum),
    "minimum": ops.minimum,
    "mm": ops.matmul,
    "mul": ops.multiply,
    "mv": ops.matmul,
    "ne": ops.not_equal,
    "neg": ops.negative,
    "norm": norm,
    "outer": ops.outer,
    "permute": permute,
    "pow": ops.pow,
    "relu": nn.relu,
    "remainder": ops.remainder,
    "repeat": repeat,
    "reshape": reshape,
    "roll": roll,
    "rsqrt": lambda x: 1 / ops.sqrt(x),
    "sigmoid": sigmoids.expit,
    "softmax": softmax,
    "sort": sort,
    "split": split,
    "squeeze": squeeze,
    "stack": stack,
    "std": std,
    "sub": ops.subtract,
    "t": t,
    "trace": ops.trace,
    "transpose": transpose,
    "tril": tril,
    "triu": triu,
    "unbind": unbind,
    "unsqueeze": unsqueeze,
    "var": var,
    "view": reshape,
    "where": ops.where,
}
