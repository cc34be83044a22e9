"""Linear maps, and attention: means of values, weighted by how well keys fit queries."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .. import ops, special
from ..core.kinds import Contracts
from ..func import checkpoint
from ..ops.define.library import declare
from ..ops.define.signatures import three_arrays, two_arrays
from .common import check_arrays, check_same_dtype, check_share, constant, kind, shape_of
from .draws import is_generator, part_of
from .dropping import dropout
from .one_pass import is_eager, one_program

__all__ = ["bilinear", "linear", "scaled_dot_product_attention"]

_AXES = "abcdefghijklmnopqrstuvwxy"


@two_arrays
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """`input @ weight.T + bias`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.nn.linear(ag.ones((2, 3)), ag.ones((4, 3)), ag.ones(4)).shape
    (2, 4)
    """
    if bias is not None:
        check_arrays(bias=bias)
    if not input.ndim or weight.ndim not in (1, 2) or input.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"weight {shape_of(weight)} does not fit input {shape_of(input)}: their last axes must "
            "have the same length"
        )
    is_long = math.prod(input.shape) * weight.shape[0] >= _LONG
    return (_linear_program if is_long else _linear)(input, weight, bias)


def _linear(input: Any, weight: Any, bias: Any) -> Any:
    if weight.ndim > 1 and input.ndim > 1 and is_eager(input, weight):
        product = _products(input, weight)
    else:
        product = ops.matmul(input, ops.matrix_transpose(weight) if weight.ndim > 1 else weight)
    return product if bias is None else product + bias


# Multiplications from which on a program is as fast as a BLAS, and adds the bias, too.
_LONG = 1 << 20
_linear_program = one_program(_linear)


def _by_weight(g: Any, x: Any) -> Any:
    if x.ndim > 2:
        g, x = (ops.reshape(a, (-1, a.shape[-1])) for a in (g, x))
    return ops.matmul(ops.matrix_transpose(g), x)


# The gradient of the weight has the weight's order in memory, which an optimiser needs.
_products = declare(
    "linear",
    "x",
    "weight",
    kind=Contracts(labels=lambda n, _: (_AXES[:n], "z" + _AXES[n - 1], _AXES[: n - 1] + "z")),
    compute=lambda xp, x, weight: xp.matmul(x, weight.T),
    vjp_x=lambda g, weight: ops.matmul(g, weight),
    vjp_weight=_by_weight,
)


@three_arrays
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """`input1 @ weight[k] @ input2 + bias[k]`, for each `k`.

    >>> ag.nn.bilinear(ag.tensor([[1.0, 2.0]]), ag.tensor([[3.0]]), ag.ones((4, 2, 1)))
    tensor([[9., 9., 9., 9.]])
    """
    check_arrays(bias=bias)
    if tuple(input1.shape[:-1]) != tuple(input2.shape[:-1]):
        raise ValueError(
            "input1 and input2 must have the same axes but for the last, not shapes "
            f"{shape_of(input1)} and {shape_of(input2)}"
        )
    if (input1.shape[-1], input2.shape[-1]) != tuple(weight.shape[1:]):
        raise ValueError(
            f"weight {shape_of(weight)} does not fit inputs of {input1.shape[-1]} and "
            f"{input2.shape[-1]} features"
        )
    out = ops.einsum("...i,kij,...j->...k", input1, weight, input2)
    return out if bias is None else out + bias


# --- attention ---

# How many scores may be in memory at once, unless those of one query are more.
_AT_ONCE = 1 << 22


def attention_weights(query: Any, key: Any, mask: Any, scale: Any) -> Any:
    """How much each query takes from each key; nothing where all keys are masked."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = ops.matmul(query * scale, ops.matrix_transpose(key))
    if mask is None:
        return special.softmax(scores, axis=-1)
    scores = ops.where(mask, scores, -math.inf) if kind(mask) == "b" else scores + mask
    masked = ops.all(ops.equal(scores, -math.inf), axis=-1, keepdims=True)
    return ops.where(masked, 0, special.softmax(ops.where(masked, 0, scores), axis=-1))


@three_arrays
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    generator: Any = None,
) -> Any:
    """Means of the values, weighted by the softmax of the products of queries and keys.

    Long sequences are computed in blocks of queries, and again in the reverse sweep: the memory
    grows linearly with the length.

    Parameters
    ----------
    query, key, value : arrays, (..., queries, features), (..., keys, features), (..., keys, n)
    attn_mask : array, (..., queries, keys), optional
        Booleans, which say what a query may see; or numbers that are added to the products.
    dropout_p : float
        The probability to leave out a weight.
    is_causal : bool
        Whether query `i` sees only keys up to `i`.
    scale : float, optional
        A factor of the products; by default, one over the square root of the number of features.
    enable_gqa : bool
        Whether the third axis from the end, the heads, may be shorter in `key` and `value`: each
        of their heads serves several heads of queries.
    generator
        Where the random numbers of dropout come from, as `key` in `dropout`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> q = k = ag.zeros((2, 1))
    >>> ag.nn.scaled_dot_product_attention(q, k, ag.tensor([[1.0], [3.0]]), is_causal=True)
    tensor([[1.],
            [2.]])
    """
    check_share("dropout_p", dropout_p)
    check_arrays(attn_mask=attn_mask)
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim < 2:
            raise ValueError(f"{name} must have two axes or more, not shape {shape_of(x)}")
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"query {shape_of(query)} and key {shape_of(key)} must have as many features, key and "
            f"value {shape_of(value)} as many rows"
        )
    if is_causal and attn_mask is not None:
        raise ValueError("Explicit attn_mask should not be set when is_causal=True")
    if attn_mask is not None and kind(attn_mask) not in "bf":
        raise ValueError(f"attn_mask must be of booleans or floats, not of {attn_mask.dtype}")
    if attn_mask is not None and kind(attn_mask) == "f":
        check_same_dtype(query, attn_mask=attn_mask)
    if enable_gqa:
        key, value = _repeated(key, query, "key"), _repeated(value, query, "value")
    queries, keys = query.shape[-2], key.shape[-2]
    last = () if attn_mask is None else tuple(attn_mask.shape[-2:])
    if any(n not in (1, m) for n, m in zip(last[::-1], (keys, queries), strict=False)):
        raise ValueError(
            f"attn_mask of shape {shape_of(attn_mask)} is not for {queries} queries and {keys} keys"
        )

    def block(first: int, end: int, q: Any, k: Any, v: Any, mask: Any) -> Any:
        if is_causal:
            mask = constant(np.tri(end - first, keys, first, dtype=np.bool_), query)
        weights = attention_weights(q, k, mask, scale)
        if dropout_p:
            drawn_by = part_of(generator, first, "scaled_dot_product_attention")
            weights = dropout(weights, dropout_p, key=drawn_by)
        return ops.matmul(weights, v)

    lead = ops.broadcast_shapes(*(tuple(x.shape[:-2]) for x in (query, key, value)))
    rows = max(1, _AT_ONCE // max(1, math.prod(lead) * keys))
    if queries <= rows and not dropout_p:
        return _attention(query, key, value, attn_mask, is_causal=is_causal, scale=scale)
    if queries <= rows or (dropout_p and is_generator(generator)):  # which has no second run
        return block(0, queries, query, key, value, attn_mask)
    parts = []
    for first in range(0, queries, rows):
        end = min(first + rows, queries)
        mask = attn_mask
        if mask is not None and mask.ndim > 1 and mask.shape[-2] > 1:
            mask = mask[..., first:end, :]
        part = checkpoint(functools.partial(block, first, end))
        parts.append(part(query[..., first:end, :], key, value, mask))
    return ops.concat(parts, axis=-2)


@one_program
def _attention(query: Any, key: Any, value: Any, mask: Any, *, is_causal: bool, scale: Any) -> Any:
    if is_causal:
        shape = query.shape[-2], key.shape[-2]
        mask = constant(np.tri(*shape, dtype=np.bool_), query)
    return ops.matmul(attention_weights(query, key, mask, scale), value)


def _repeated(x: Any, query: Any, name: str) -> Any:
    """Each head several times, so that there are as many as of queries."""
    heads = query.shape[-3] if query.ndim > 2 else 0
    if x.ndim < 3 or not heads or heads % x.shape[-3]:
        raise ValueError(f"the {heads} heads of query must be a multiple of those of {name}")
    return ops.repeat(x, heads // x.shape[-3], axis=-3)
