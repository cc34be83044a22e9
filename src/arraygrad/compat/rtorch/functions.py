"""The functions `torch_…` of tensors, by the names they have after `torch_`.

In R, each is a method of tensors as well: `torch_sum(x)` is `x$sum()`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...arrays.tensor import Tensor
from ...ops import decompositions, linalg
from . import along, elementwise, shapes
from .adapted import ADAPTED


def einsum(equation: str, tensors: list[Tensor]) -> Tensor:
    """A sum of products, in Einstein's notation."""
    return ops.einsum(equation, *tensors)


def equal(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements."""
    return self.shape == other.shape and bool(ops.all(elementwise.BINARY["eq"](self, other)))


def allclose(self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    """Whether two tensors are equal up to rounding."""
    return bool(np.allclose(self.detach().numpy(), other.detach().numpy(), rtol, atol))


def in_place(self: Tensor, name: str, *args: Any, **keywords: Any) -> Tensor:
    """Write the result of a function to its first tensor: `x$exp_()`, `x$add_(1)`."""
    if name not in FUNCTIONS:
        raise AttributeError(f"tensors have no method {name}_")
    result = FUNCTIONS[name](self, *args, **keywords)
    if not isinstance(result, Tensor) or result.shape != self.shape:
        raise RuntimeError(
            f"{name}_() cannot write its result in place: it must have the shape of the tensor"
        )
    return self.copy_(result)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **ADAPTED,
    **elementwise.UNARY,
    **elementwise.BINARY,
    "add": elementwise.add,
    "all": along.all,
    "allclose": allclose,
    "any": along.any,
    "argmax": along.argmax,
    "argmin": along.argmin,
    "argsort": along.argsort,
    "bmm": ops.matmul,
    "cat": shapes.cat,
    "chunk": shapes.chunk,
    "clamp": elementwise.clamp,
    "clone": Tensor.clone,
    "cumprod": along.cumprod,
    "cumsum": along.cumsum,
    "detach": Tensor.detach,
    "diag": shapes.diag,
    "dot": ops.vecdot,
    "einsum": einsum,
    "equal": equal,
    "expand": shapes.expand,
    "expand_as": shapes.expand_as,
    "flatten": shapes.flatten,
    "flip": shapes.flip,
    "gather": shapes.gather,
    "index_select": shapes.index_select,
    "lerp": elementwise.lerp,
    "linalg_cholesky": decompositions.cholesky,
    "linalg_det": linalg.det,
    "linalg_inv": linalg.inv,
    "linalg_solve": linalg.solve,
    "log_softmax": along.log_softmax,
    "logsumexp": along.logsumexp,
    "masked_fill": shapes.masked_fill,
    "masked_select": shapes.masked_select,
    "matmul": ops.matmul,
    "max": along.max,
    "mean": along.mean,
    "min": along.min,
    "mm": ops.matmul,
    "mv": ops.matmul,
    "narrow": shapes.narrow,
    "norm": along.norm,
    "outer": ops.outer,
    "permute": shapes.permute,
    "prod": along.prod,
    "repeat": shapes.repeat,
    "reshape": shapes.reshape,
    "round": elementwise.round,
    "select": shapes.select,
    "softmax": along.softmax,
    "sort": along.sort,
    "split": shapes.split,
    "squeeze": shapes.squeeze,
    "stack": shapes.stack,
    "std": along.std,
    "sub": elementwise.sub,
    "sum": along.sum,
    "t": shapes.t,
    "to": shapes.to,
    "topk": along.topk,
    "trace": ops.trace,
    "transpose": shapes.transpose,
    "tril": shapes.tril,
    "triu": shapes.triu,
    "unbind": shapes.unbind,
    "unsqueeze": shapes.unsqueeze,
    "var": along.var,
    "view": shapes.reshape,
    "where": elementwise.where,
}
