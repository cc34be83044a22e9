"""Products that sum over shared axes: `matmul`, `tensordot`, `vecdot`, `einsum`.

Only `matmul` and the internal op `contract` have derivative rules; the others are made of them.
NumPy's products (`dot`, `inner`, …) are in `numerics`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy import ndarray

from ..backends import backend_of
from ..core.axes import many_axes, one_axis
from ..core.kinds import Contracts
from .define.arguments import naming
from .define.library import declare
from .define.op import Op, Own
from .define.signatures import A, TwoArrays, two_arrays
from .elementwise import conj, is_complex
from .matrices import diagonal
from .padding import padded
from .reductions import _sum
from .shape import _permute_dims, _reshape, astype, expand_dims, matrix_transpose, ravel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..arrays.tensor import Tensor

__all__ = ["einsum", "matmul", "outer", "tensordot", "vecdot"]

Sublist = Sequence[SupportsIndex | EllipsisType]
_LOWER = "abcdefghijklmnopqrstuvwxyz"
_LETTERS = _LOWER + _LOWER.upper()


def _matmul_x(g: Any, x_shape: tuple[int, ...], y: Any) -> Any:
    ndim = y.ndim
    if ndim == 1:
        return g * y if len(x_shape) == 1 else _outer(g, y)
    if len(x_shape) == 1:
        return matmul(y, g) if ndim == 2 else _column(y, g)
    return matmul(g, _turned(y, ndim))


def _turned(x: Any, ndim: int) -> Any:
    """The transposed matrices. For NumPy's arrays, the attribute is faster than an op."""
    if type(x) is ndarray:
        return x.mT
    return _permute_dims(x, axes=(*range(ndim - 2), ndim - 1, ndim - 2))


def _matmul_y(g: Any, x: Any, y_shape: tuple[int, ...]) -> Any:
    ndim = x.ndim
    if ndim == 1:
        return g * x if len(y_shape) == 1 else _outer(x, g)
    if len(y_shape) == 1:
        # Do not transpose the matrix: XLA would copy it.
        return matmul(g, x) if ndim == 2 else _column(matrix_transpose(x), g)
    if len(y_shape) == 2 and ndim > 2:  # one product instead of a batch of products and a sum
        if not backend_of(x).merges_axes:
            lead = _LOWER[: x.ndim - 1]
            return _contract(x, g, left=lead + "y", right=lead + "z", to="yz")
        rows = math.prod(x.shape[:-1])
        x = _reshape(x, shape=(rows, x.shape[-1]))
        g = _reshape(g, shape=(rows, g.shape[-1]))
        ndim = 2
    return matmul(_turned(x, ndim), g)


def _outer(x: Any, y: Any) -> Any:
    """The outer product over the last axes of `x` and `y`."""
    column = _reshape(x, shape=(*x.shape, 1))
    return matmul(column, _reshape(y, shape=(*y.shape[:-1], 1, y.shape[-1])))


def _column(x: Any, v: Any) -> Any:
    """`x @ v` for a batch `v` of vectors."""
    product = matmul(x, expand_dims(v, axis=-1))
    return _reshape(product, shape=product.shape[:-1])


def _matmul_labels(x_ndim: int, y_ndim: int) -> tuple[str, str, str]:
    """The labels of the axes of a product: a batch, which broadcasts, then rows and columns."""
    batch = _LOWER[: max(x_ndim, y_ndim, 2) - 2]
    rows, columns = "X" * (x_ndim > 1), "Y" * (y_ndim > 1)
    left = batch[len(batch) - max(x_ndim - 2, 0) :] + rows + "Z"
    right = batch[len(batch) - max(y_ndim - 2, 0) :] + "Z" + columns
    return left, right, batch + rows + columns


def _batched_matmul(op: Op, arrays: Any, flags: Any, params: Any) -> Any:
    x, y = arrays
    in_x, in_y = flags
    x_ndim, y_ndim = x.ndim - in_x, y.ndim - in_y
    # One large product rather than many small ones.
    if in_x and not in_y and x_ndim <= 2 and y_ndim == 2:
        return _rows_times(op, x, y)
    if in_y and not in_x and y_ndim == 1 and x_ndim == 2:
        return op.function(y, matrix_transpose(x))
    # Vectors become matrices; else the batch axis and the vector's axis would form a matrix.
    if x_ndim == 1:
        x = _reshape(x, shape=(*x.shape[:-1], 1, x.shape[-1]))
    if y_ndim == 1:
        y = _reshape(y, shape=(*y.shape, 1))
    ndim = max(x_ndim, y_ndim, 2)
    out = op.function(padded(x, in_x, ndim), padded(y, in_y, ndim))
    if y_ndim == 1:
        out = _reshape(out, shape=out.shape[:-1])
    if x_ndim == 1:
        last = () if y_ndim == 1 else out.shape[-1:]
        out = _reshape(out, shape=(*out.shape[: -1 if y_ndim == 1 else -2], *last))
    return out


def _rows_times(op: Op, x: Any, y: Any) -> Any:
    if x.ndim == 2 or not backend_of(x).merges_axes:
        return op.function(x, y)
    rows = _reshape(x, shape=(math.prod(x.shape[:-1]), x.shape[-1]))
    return _reshape(op.function(rows, y), shape=(*x.shape[:-1], y.shape[-1]))


matmul: TwoArrays[[]] = declare(
    "matmul",
    "x",
    "y",
    vjp_x=_matmul_x,
    vjp_y=_matmul_y,
    kind=Contracts(labels=_matmul_labels),
    own=Own(batch=_batched_matmul),
    doc="The matrix product; for vectors, the inner product. Leading axes are a batch.",
)


# The sum of products over all labels that are not in `to`. It is for libraries that cannot merge
# axes cheaply, and so cannot use a matrix product.
_contract = declare(
    "contract",
    "x",
    "y",
    compute=lambda xp, x, y, left, right, to: einsum(f"{left},{right}->{to}", x, y),
    vjp_x=lambda g, y, left, right, to: _contract(g, y, left=to, right=right, to=left),
    vjp_y=lambda g, x, left, right, to: _contract(g, x, left=to, right=left, to=right),
    kind=Contracts(labels=("left", "right", "to")),
)


@two_arrays
def vecdot(x: Any, y: Any, /, *, axis: int = -1) -> Any:
    """The sum of ``conj(x) * y`` along an axis.

    >>> ag.vecdot(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), ag.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    if axis >= 0:  # it counts in the broadcast shape: count from the end, which both share
        axis -= max(x.ndim, y.ndim)
    n, m = x.shape[one_axis(axis, x.ndim)], y.shape[one_axis(axis, y.ndim)]
    if n != m:
        raise ValueError(f"vecdot: x has length {n} along axis {axis}, y has {m}")
    product = (conj(x) if is_complex(x) else x) * y  # NumPy's conjugates of booleans are int8
    out = _sum(product, axis=(one_axis(axis, product.ndim),), keepdims=False)
    return astype(out, product.dtype, copy=False)  # a sum of short integers has a wider dtype


@two_arrays
def tensordot(x: Any, y: Any, /, *, axes: Any = 2) -> Any:
    """The product of two arrays, summed over pairs of their axes.

    `axes` is the number of pairs (the last axes of `x` with the first of `y`), or two sequences of
    axes.

    >>> ag.tensordot(ag.ones((2, 3, 4)), ag.ones((3, 4, 5))).shape
    (2, 5)
    """
    if hasattr(axes, "__index__"):
        n = int(axes)
        if n < 0 or n > min(x.ndim, y.ndim):
            raise ValueError(f"axes={n} is out of range for shapes {x.shape} and {y.shape}")
        left, right = tuple(range(x.ndim - n, x.ndim)), tuple(range(n))
    else:
        if isinstance(axes, str) or not hasattr(axes, "__len__") or len(axes) != 2:
            raise TypeError(f"axes must be an integer or a pair of sequences, not {axes!r}")
        first, second = axes
        left = many_axes(first if isinstance(first, tuple | list) else (first,), x.ndim) or ()
        right = many_axes(second if isinstance(second, tuple | list) else (second,), y.ndim) or ()
    if [x.shape[a] for a in left] != [y.shape[b] for b in right]:
        raise ValueError(
            f"tensordot: axes {left} of shape {x.shape} and {right} of {y.shape} do not match"
        )
    rest_x = tuple(a for a in range(x.ndim) if a not in left)
    rest_y = tuple(b for b in range(y.ndim) if b not in right)
    if not backend_of(x).merges_axes:
        names = _LETTERS
        of_y = names[x.ndim : x.ndim + y.ndim]
        paired = dict(zip(right, left, strict=True))
        labels = "".join(names[paired[b]] if b in paired else of_y[b] for b in range(y.ndim))
        kept = "".join(names[a] for a in rest_x) + "".join(of_y[b] for b in rest_y)
        return _contract(x, y, left=names[: x.ndim], right=labels, to=kept)
    inner = math.prod(x.shape[a] for a in left)
    rows = tuple(x.shape[a] for a in rest_x)
    columns = tuple(y.shape[b] for b in rest_y)
    # Without rows, or without columns, one of the two is a vector.
    a = _arranged(x, rest_x + left, (math.prod(rows), inner) if rows else (inner,))
    b = _arranged(y, right + rest_y, (inner, math.prod(columns)) if columns else (inner,))
    out = matmul(a, b)
    return out if out.shape == rows + columns else _reshape(out, shape=rows + columns)


def _arranged(x: Any, order: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """The array with its axes in another order, and then in another shape."""
    if order != tuple(range(len(order))):
        x = _permute_dims(x, axes=order)
    return x if x.shape == shape else _reshape(x, shape=shape)


# --- einsum --------------------------------------------------------------------------------------


@overload
def einsum(  # type: ignore[overload-overlap]  # only NumPy arrays come before a mixture
    subscripts: str, /, *operands: NDArray[Any]
) -> NDArray[Any]: ...
@overload
def einsum(subscripts: str, /, *operands: Tensor | NDArray[Any]) -> Tensor: ...
@overload
def einsum(subscripts: str, /, *operands: A) -> A: ...
@overload
def einsum(operand: A, sublist: Sublist, /, *more: A | Sublist) -> A: ...
def einsum(subscripts: Any, /, *operands: Any) -> Any:
    """Einstein's summation convention: label the axes, multiply, sum over labels not in the output.

    The subscripts are as in NumPy: with repeated labels (diagonals), ``...``, and an implied
    output; or numbers, ``einsum(a, [0, 1], b, [1, 2], [0, 2])``. With more than two operands, the
    cheapest order of pairwise products is used.

    Examples
    --------
    >>> import arraygrad as ag
    >>> a = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ag.grad(ag.einsum("ii", a), a)  # the trace
    tensor([[1., 0.],
            [0., 1.]])
    """
    if not isinstance(subscripts, str):
        subscripts, *operands = _spelt_out((subscripts, *operands))  # type: ignore[assignment]
    return _einsum(subscripts, *operands)


@naming("*operands")
def _einsum(subscripts: str, /, *operands: Any) -> Any:
    terms, output = _labels(subscripts, operands)
    pairs = [_single(x, labels) for x, labels in zip(operands, terms, strict=True)]
    for i, j in _path(terms, output, operands):
        (x, a), (y, b) = pairs[i], pairs[j]
        pairs = [p for k, p in enumerate(pairs) if k not in (i, j)]
        wanted = set(output).union(*(labels for _, labels in pairs))
        pairs.append(_pair(x, a, y, b, wanted))
    return _arrange(*pairs[0], output)


def _spelt_out(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of `einsum`, with one string in the place of lists of numbers."""
    if len(arguments) == 1:
        raise TypeError("einsum: there must be subscripts, a string in front or lists of numbers")
    terms = [_letters(sublist) for sublist in arguments[1::2]]
    operands, output = arguments[::2], ""
    if len(arguments) % 2:
        operands, output = arguments[:-1:2], f"->{_letters(arguments[-1])}"
    return ",".join(terms) + output, *operands


def _letters(sublist: Any) -> str:
    """A list of numbers and ellipses as subscripts; letters are in NumPy's order, as it counts."""
    if not isinstance(sublist, Sequence | np.ndarray) or isinstance(sublist, str):
        raise TypeError(
            "einsum: subscripts must be one string before the operands, or a list of numbers after "
            f"each operand, not {type(sublist).__name__}"
        )
    letters = ""
    for label in sublist:
        is_number = isinstance(label, int | np.integer) and not isinstance(label, bool)
        if label is not Ellipsis and not is_number:
            raise TypeError(
                f"einsum: a list of subscripts must be integers and ellipses, not {label!r}"
            )
        if is_number and not 0 <= label < len(_LETTERS):
            raise ValueError(f"einsum: subscript {label} is not within 0 and {len(_LETTERS) - 1}")
        letters += sorted(_LETTERS)[label] if is_number else "..."
    return letters


def _labels(subscripts: str, operands: tuple[Any, ...]) -> tuple[list[str], str]:
    """The labels of each operand and of the output; labels replace ellipses."""
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ValueError(f"einsum: {len(terms)} terms in {subscripts!r}, {len(operands)} operands")
    free = [c for c in _LETTERS if c not in text]
    widest = 0
    for term, x in zip(terms, operands, strict=True):
        if "..." in term:
            widest = max(widest, x.ndim - len(term.replace("...", "")))
    dots = "".join(free[:widest])
    spelt = []
    for term, x in zip(terms, operands, strict=True):
        if "..." in term:
            n = x.ndim - len(term.replace("...", ""))
            term = term.replace("...", dots[len(dots) - n :] if n >= 0 else "")
        if len(term) != x.ndim or not all(c in _LETTERS for c in term):
            raise ValueError(f"einsum: {term!r} in {subscripts!r} does not fit shape {x.shape}")
        spelt.append(term)
    everything = "".join(spelt)
    if not arrow:
        output = dots + "".join(
            sorted(c for c in set(everything) if everything.count(c) == 1 and c not in dots)
        )
    output = output.replace("...", dots)
    for c in output:
        if c not in everything or output.count(c) > 1:
            raise ValueError(f"einsum: output label {c!r} in {subscripts!r} cannot be formed")
    sizes: dict[str, int] = {}
    for term, x in zip(spelt, operands, strict=True):
        for c, n in zip(term, x.shape, strict=True):
            if n == n and n != x.shape[term.index(c)]:  # axes of a diagonal do not broadcast
                raise ValueError(f"einsum: {term!r} in {subscripts!r} does not fit shape {x.shape}")
            if sizes.setdefault(c, n) != n and n == n:
                if 1 not in (n, sizes[c]):
                    raise ValueError(f"einsum: label {c!r} has lengths {sizes[c]} and {n}")
                sizes[c] = max(n, sizes[c])
    return spelt, output


def _path(terms: list[str], output: str, operands: tuple[Any, ...]) -> list[tuple[int, int]]:
    """The pairs of operands to contract, in order. Each result is appended to the operands."""
    if len(operands) < 3:
        return [(0, 1)] * (len(operands) - 1)
    dummies = [np.broadcast_to(np.float64(0), x.shape) for x in operands]
    spelt = f"{','.join(terms)}->{output}"
    pairs: list[tuple[int, int]] = []
    left = len(operands)
    for step in np.einsum_path(spelt, *dummies, optimize="greedy")[0][1:]:
        group = sorted(step)
        while len(group) > 1:
            pairs.append((group[0], group[1]))
            left -= 1
            group = [k - 2 for k in group[2:]] + [left - 1]
    return pairs


def _single(x: Any, labels: str) -> tuple[Any, str]:
    """One operand, with a diagonal in the place of repeated labels."""
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            order = [k for k in range(x.ndim) if k not in (i, j)]
            x = diagonal(_permute_dims(x, axes=(*order, i, j)))
            labels = "".join(labels[k] for k in order) + c
    return x, labels


def _pair(x: Any, a: str, y: Any, b: str, wanted: set[str]) -> tuple[Any, str]:
    """The product of two operands, summed over the labels that are not wanted."""
    x, a = _drop(x, a, wanted | set(b))
    y, b = _drop(y, b, wanted | set(a))
    shared = [c for c in a if c in b]
    # An axis of length one broadcasts against a longer one with the same label: drop the short one.
    for c in shared:
        n, m = x.shape[a.index(c)], y.shape[b.index(c)]
        if n == 1 and m != 1:
            x, a = _drop(x, a, set(a) - {c})
        elif m == 1 and n != 1:
            y, b = _drop(y, b, set(b) - {c})
    x, a = _drop(x, a, wanted | set(b))
    y, b = _drop(y, b, wanted | set(a))
    shared = [c for c in a if c in b]
    batch = [c for c in shared if c in wanted]
    inner = [c for c in shared if c not in wanted]
    only_a = [c for c in a if c not in shared]
    only_b = [c for c in b if c not in shared]
    sizes = dict(zip(a, x.shape, strict=True)) | dict(zip(b, y.shape, strict=True))
    labels = "".join(batch + only_a + only_b)
    if not inner:  # no sum: an elementwise product
        left = _reshape(
            _arrange(x, a, "".join(batch + only_a)),
            shape=tuple(sizes[c] if c in a else 1 for c in labels),
        )
        right = _reshape(
            _arrange(y, b, "".join(batch + only_b)),
            shape=tuple(sizes[c] if c in b else 1 for c in labels),
        )
        return left * right, labels
    if not backend_of(x).merges_axes:
        return _contract(x, y, left=a, right=b, to=labels), labels

    def sized(labels: list[str]) -> int:
        return math.prod(sizes[c] for c in labels)

    outer = tuple(sizes[c] for c in batch)
    left = _reshape(
        _arrange(x, a, "".join(batch + only_a + inner)),
        shape=(*outer, sized(only_a), sized(inner)),
    )
    right = _reshape(
        _arrange(y, b, "".join(batch + inner + only_b)),
        shape=(*outer, sized(inner), sized(only_b)),
    )
    return _reshape(matmul(left, right), shape=tuple(sizes[c] for c in labels)), labels


def _drop(x: Any, labels: str, wanted: set[str]) -> tuple[Any, str]:
    """Sum over the labels that are not wanted."""
    gone = tuple(i for i, c in enumerate(labels) if c not in wanted)
    if not gone:
        return x, labels
    return _sum(x, axis=gone, keepdims=False), "".join(c for c in labels if c in wanted)


def _arrange(x: Any, labels: str, output: str) -> Any:
    """The array with its axes in the order of `output`, summed over labels not in `output`."""
    x, labels = _drop(x, labels, set(output))
    order = tuple(labels.index(c) for c in output)
    return x if order == tuple(range(x.ndim)) else _permute_dims(x, axes=order)


@two_arrays
def outer(x: Any, y: Any, /) -> Any:
    """The outer product: each element of `x` times each element of `y`.

    >>> ag.outer(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 10.0]))
    tensor([[ 1., 10.],
            [ 2., 20.]])
    """
    return expand_dims(ravel(x), axis=1) * ravel(y)
