"""Functions of arrays that Lucid and sorix have as PyTorch has them.

Dtypes follow NumPy's rules here. So functions of elements are arraygrad's own, and what moves or
joins elements is that of `compat.torch`. All take `axis` and `keepdims`, too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import nn, ops
from ..ops.special import gamma, normal, sigmoids
from ..ops.special import softmax as softmax_ops
from . import torch

_RENAMED = {"axis": "dim", "keepdims": "keepdim"}


def of_torch(name: str, **defaults: Any) -> Callable[..., Any]:
    """The function on arrays that a function of `compat.torch` is made of."""
    native = getattr(torch, name).__wrapped__

    @functools.wraps(native)
    def function(*args: Any, **keywords: Any) -> Any:
        for ours, theirs in _RENAMED.items():
            if ours in keywords:
                if theirs in keywords:
                    raise TypeError(f"{theirs} and {ours} are the same: pass one of them")
                keywords[theirs] = keywords.pop(ours)
        return native(*args, **({} if len(args) > 1 else defaults) | keywords)

    return function


def reduction(op: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction with the keywords `dim` and `keepdim`, or `axis` and `keepdims`."""

    def function(
        x: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False
    ) -> Any:
        if dim is not None and axis is not None:
            raise TypeError("dim and axis are the same: pass one of them")
        where = axis if dim is None else dim
        where = tuple(where) if isinstance(where, list) else where
        return op(x, axis=where, keepdims=keepdim or keepdims)

    function.__name__ = getattr(op, "__name__", "reduction")
    return function


_SAME = "add diag dot inner matmul maximum minimum outer pow remainder trace where "
_SAME += "abs sign floor ceil trunc exp exp2 expm1 log log2 log10 log1p sqrt square "
_SAME += "reciprocal sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh round "
_SAME += "isnan isinf isfinite real imag conj"
_REDUCTIONS = "sum mean prod all any argmax argmin"
_OF_TORCH = "chunk cumprod cumsum diagonal expand flatten flip masked_fill max min norm "
_OF_TORCH += "permute repeat reshape roll sort split squeeze std t transpose tril triu unbind "
_OF_TORCH += "unsqueeze var"

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(ops, name) for name in _SAME.split()},
    **{name: reduction(getattr(ops, name)) for name in _REDUCTIONS.split()},
    **{name: of_torch(name) for name in _OF_TORCH.split()},
    **{name: of_torch(name, dim=-1) for name in ("softmax", "log_softmax")},
    "cat": lambda tensors, dim=0: ops.concat(list(tensors), axis=dim),
    "stack": lambda tensors, dim=0: ops.stack(list(tensors), axis=dim),
    "clamp": lambda x, min=None, max=None: ops.clip(x, min, max),
    "clip": lambda x, min=None, max=None: ops.clip(x, min, max),
    "view": of_torch("reshape"),
    "arcsin": ops.asin,
    "arccos": ops.acos,
    "arctan": ops.atan,
    "clone": ops.copy,
    "digamma": gamma.digamma,
    "div": ops.divide,
    "eq": ops.equal,
    "erf": normal.erf,
    "erfc": normal.erfc,
    "ge": ops.greater_equal,
    "gt": ops.greater,
    "le": ops.less_equal,
    "lgamma": gamma.gammaln,
    "logsumexp": reduction(softmax_ops.logsumexp),
    "lt": ops.less,
    "mm": ops.matmul,
    "mul": ops.multiply,
    "mv": ops.matmul,
    "ne": ops.not_equal,
    "neg": ops.negative,
    "relu": nn.relu,
    "rsqrt": lambda x: 1 / ops.sqrt(x),
    "sigmoid": sigmoids.expit,
    "sub": ops.subtract,
}
