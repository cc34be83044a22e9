"""Filters that slide over arrays: the sums of products that convolutions are made of.

Its derivatives are such sums, too. Programs are made of this op, because native code has loops for
it; other libraries compute convolutions as matrix products (`nn.convolutions`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ..core.kinds import Contracts
from .arrangement import pad
from .define.library import declare
from .define.op import Op, Own
from .indexing import _index_add
from .reductions import _sum
from .shape import _reshape, flip, moveaxis, permute_dims, stack

FEW = 64  # places of a filter up to which each has a sum of its own
Ints = tuple[int, ...]
_ALL = (slice(None),) * 3
Ends = tuple[tuple[int, int], ...]  # the zeros before and after each axis


def _windows_of(x: Any, w: Any, ends: Ends, stride: Ints, dilation: Ints) -> Ints:
    """How often the filters fit along each axis."""
    axes = zip(x.shape[3:], w.shape[3:], ends, stride, dilation, strict=True)
    return tuple((n + sum(e) - d * (k - 1) - 1) // s + 1 for n, k, e, s, d in axes)


def _by_places(xp: Any, x: Any, w: Any, ends: Ends, stride: Ints, dilation: Ints) -> Any:
    """A sum of matrix products, one for each place in a filter."""
    windows = _windows_of(x, w, ends, stride, dilation)
    x = pad(x, [(0, 0)] * 3 + list(ends))
    columns = (*x.shape[:3], math.prod(windows))
    out: Any = 0
    for place in itertools.product(*map(range, w.shape[3:])):
        along = zip(place, windows, stride, dilation, strict=True)
        cut = [slice(d * i, d * i + s * (n - 1) + 1, s) for i, n, s, d in along]
        seen = xp.reshape(x[(*_ALL, *cut)], columns)
        out = out + xp.matmul(w[(*_ALL, *place)], seen)
    return xp.reshape(out, (*out.shape[:-1], *windows))


def _by_x(g: Any, w: Any, x_shape: Ints, ends: Ends, stride: Ints, dilation: Ints) -> Any:
    lengths = tuple(s * (n - 1) + 1 for n, s in zip(g.shape[3:], stride, strict=True))
    if lengths != g.shape[3:]:
        template = (*_ALL, *(slice(None, None, s) for s in stride))
        g = _index_add(g, template=template, shape=(*g.shape[:3], *lengths))
    axes = zip(lengths, x_shape[3:], w.shape[3:], ends, dilation, strict=True)
    own = [(d * (k - 1) - e, n + e - m) for m, n, k, (e, _), d in axes]
    w = flip(moveaxis(w, 1, 2), axis=tuple(range(3, w.ndim)))
    return _slid(g, w, own, (1,) * len(stride), dilation)


def _by_w(g: Any, x: Any, w_shape: Ints, ends: Ends, stride: Ints, dilation: Ints) -> Any:
    if w_shape[1] == w_shape[2] == 1 and math.prod(w_shape) <= FEW * w_shape[0]:
        return _by_weights(g, x, w_shape, ends, stride, dilation)
    axes = zip(g.shape[3:], w_shape[3:], x.shape[3:], ends, stride, dilation, strict=True)
    seen = [(e, s * (m - 1) + d * (k - 1) + 1 - n - e) for m, k, n, (e, _), s, d in axes]
    rest = tuple(range(3, g.ndim))
    x, g = permute_dims(x, (2, 1, 0, *rest)), permute_dims(g, (1, 2, 0, *rest))
    return permute_dims(_slid(x, g, seen, dilation, stride), (1, 2, 0, *rest))


def _by_weights(g: Any, x: Any, w_shape: Ints, *how: Any) -> Any:
    """The cotangent of one filter for each channel: a sum for each of its places."""
    axes = list(zip(g.shape[3:], x.shape[3:], *how, strict=True))
    found = []
    for place in itertools.product(*map(range, w_shape[3:])):
        inside, seen = [], []
        for i, (m, n, (e, _), s, d) in zip(place, axes, strict=True):
            shift = d * i - e  # window j sees the element s * j + shift
            first, last = max(0, -(shift // s)), min(m, (n - 1 - shift) // s + 1)
            inside.append(slice(first, max(first, last)))
            seen.append(slice(s * first + shift, max(s * (last - 1) + shift + 1, 0), s))
        products = g[(*_ALL, *inside)] * x[(*_ALL, *seen)]
        found.append(_sum(products, axis=(0, 2, *range(3, g.ndim)), keepdims=False))
    return _reshape(stack(found, axis=-1), shape=w_shape)


def _slid(x: Any, w: Any, ends: Sequence[Any], stride: Ints, dilation: Ints) -> Any:
    """The op, where a negative number of zeros means that elements are left out."""
    if any(min(e) < 0 for e in ends):
        lengths = zip(x.shape[3:], ends, strict=True)
        x = x[(*_ALL, *(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in lengths))]
    positive = tuple((max(a, 0), max(b, 0)) for a, b in ends)
    return _filtered(x, w, ends=positive, stride=stride, dilation=dilation)


def _batched(op: Op, arrays: Any, flags: tuple[bool, ...], params: Any) -> Any:
    """A batch of arrays is more samples; of filters, more filters; of both, more groups."""
    x, w = arrays
    size = (x if flags[0] else w).shape[0]
    if not flags[1]:
        x, axis = _joined(x, 0), 0
    elif not flags[0]:
        w, axis = _joined(w, 1), 2
    else:
        x, w, axis = _joined(x, 1), _joined(w, 0), 1
    out = op.function(x, w, **params)
    each = out.shape[axis] // size
    shape = (*out.shape[:axis], size, each, *out.shape[axis + 1 :])
    return moveaxis(_reshape(out, shape=shape), axis, 0)


def _joined(x: Any, axis: int) -> Any:
    """The first axis, joined to another one."""
    x = moveaxis(x, 0, axis)
    before, (size, n, *after) = x.shape[:axis], x.shape[axis:]
    return _reshape(x, shape=(*before, size * n, *after))


def _types(inputs: Any, params: Any) -> Any:
    x, w = inputs
    return [((x.shape[0], *w.shape[:2], *_windows_of(x, w, **params)), x.dtype)]


# For `x` of shape (samples, groups, channels, *lengths), with zeros at its ends, and `w` of shape
# (groups, filters, channels, *sizes), the shape of the result is (samples, groups, filters,
# *windows).
_filtered = declare(
    "filtered",
    "x",
    "w",
    compute=_by_places,
    vjp_x=_by_x,
    vjp_w=_by_w,
    kind=Contracts(),
    own=Own(batch=_batched, types=_types),
)
