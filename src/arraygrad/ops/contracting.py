"""Batches for contractions whose labels follow from the numbers of axes.

The batch axis has a label of its own. A contraction of the same op has to be found for the labels
with it:

- If one input has the batch, the batch can become a part of an axis that only this input and the
  result have. It does not matter whether such an axis is long.
- If inputs with more axes have labels that mean the same, the op is called with more axes.
"""

from __future__ import annotations

import itertools
from typing import Any

from ..backends import backend_of
from .define.op import Op
from .padding import Flags, Params, loop, repeated, visible_ndim
from .shape import _permute_dims, _reshape, moveaxis

Terms = tuple[str, str, str]  # the labels of the two inputs and of the result
_BATCH = "*"  # a label that no axis has
# How many axes more than the batch the inputs may get, the fewest first.
_EXTRA = sorted(itertools.product(range(3), repeat=2), key=sum)


def contracted(op: Op, arrays: tuple[Any, ...], flags: Flags, params: Params) -> Any:
    """Run a contraction on a batch; once for each member if there is no other way."""
    ndims = [visible_ndim(a, b) for a, b in zip(arrays, flags, strict=True)]
    terms = _labels(op, *ndims)
    if terms is None:
        return loop(op, arrays, flags, params)
    if not all(flags):
        of = flags.index(True)
        shared = [c for c in terms[of] if c in terms[2] and c not in terms[1 - of]]
        if shared and backend_of(arrays[0]).merges_axes:
            return _merged(op, arrays, of, terms, shared[0], params)
    for inputs, on in ((arrays, flags), (repeated(arrays, flags), (True, True))):
        wanted = (_BATCH * on[0] + terms[0], _BATCH * on[1] + terms[1], _BATCH + terms[2])
        for extra in _EXTRA:
            larger = _labels(op, *(len(w) + e for w, e in zip(wanted, extra, strict=False)))
            place = None if larger is None else _places(wanted, larger)
            if place is not None and larger is not None:
                return _called(op, inputs, wanted, larger, place, params)
    return loop(op, arrays, flags, params)


def _labels(op: Op, *ndims: int) -> Terms | None:
    """The labels for inputs with these numbers of axes; None if the op does not take them."""
    try:
        left, right, to = op.kind.labels(*ndims)  # type: ignore[attr-defined]
    except (LookupError, TypeError, ValueError):
        return None
    if (len(left), len(right)) != ndims or any(len(set(t)) < len(t) for t in (left, right, to)):
        return None
    return left, right, to


def _merged(op: Op, arrays: Any, of: int, terms: Terms, label: str, params: Params) -> Any:
    """Run the op with the batch of one input as a part of the axis with a label."""
    axis, x = terms[of].index(label), arrays[of]
    size, n = x.shape[0], x.shape[axis + 1]
    x = moveaxis(x, 0, axis)
    x = _reshape(x, shape=(*x.shape[:axis], size * n, *x.shape[axis + 2 :]))
    out = op.function(*(x if i == of else a for i, a in enumerate(arrays)), **params)
    axis = terms[2].index(label)
    out = _reshape(out, shape=(*out.shape[:axis], size, n, *out.shape[axis + 1 :]))
    return moveaxis(out, axis, 0)


def _places(wanted: Terms, given: Terms) -> dict[str, str] | None:
    """For each label that is given, the wanted one in its place; a label more has none.

    Labels in the same terms can take each other's places. None if the wanted ones do not fit.
    """
    places: dict[str, str] = {}
    free = dict.fromkeys("".join(given))
    for c in dict.fromkeys("".join(wanted)):
        terms = [c in term for term in wanted]
        alike = (g for g in free if g not in places and [g in term for term in given] == terms)
        place = next(alike, None)
        if place is None:
            return None
        places[place] = c
    return places


def _called(
    op: Op, arrays: Any, wanted: Terms, given: Terms, places: dict[str, str], params: Params
) -> Any:
    """Run the op on inputs with the axes of `given`, and give the result those of `wanted`."""
    inputs = []
    for x, labels, target in zip(arrays, wanted, given, strict=False):
        order = [labels.index(places[c]) for c in target if c in places]
        lengths = iter([x.shape[i] for i in order])
        shape = tuple(next(lengths) if c in places else 1 for c in target)
        x = x if order == sorted(order) else _permute_dims(x, axes=tuple(order))
        inputs.append(x if tuple(x.shape) == shape else _reshape(x, shape=shape))
    out = op.function(*inputs, **params)
    kept = [places[c] for c in given[2] if c in places]
    if len(kept) < len(given[2]):
        shape = tuple(n for n, c in zip(out.shape, given[2], strict=True) if c in places)
        out = _reshape(out, shape=shape)
    order = [kept.index(c) for c in wanted[2]]
    return out if order == sorted(order) else _permute_dims(out, axes=tuple(order))
