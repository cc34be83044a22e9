"""Writing down a `scan`, while a function is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.nodes import recorder
from ...func import budget
from ...func.shapes import ShapeDtype
from ...ops import concat, reshape
from ..trace.bodies import is_smooth
from .lifted import closed, like_first
from .scan_reverse import Kept
from .scanning import Scan


def scan(
    step: Any, init: list[Any], xs: list[Any], count: int, reverse: bool, memory: int | None
) -> tuple[list[Any], list[Any]]:
    """Write down a scan, as `func.scan` does it."""
    s = len(init)

    def flat(given: list[Any]) -> list[Any]:
        state, y = step(given[:s], given[s:])
        return [*map(like_first, state, init), *y]

    elements = _elements(xs)
    if not all(hasattr(x, "dtype") for x in init):
        body, _ = closed(flat, [*init, *elements], may_not_run=not count)
        init = [
            x if hasattr(x, "dtype") else np.asarray(x, out.dtype)
            for x, out in zip(init, body.outputs, strict=False)
        ]
    body, captured = closed(flat, [*init, *elements], may_not_run=not count)
    loop = Scan(body, len(captured), s, count, reverse)
    taken = [*captured, *init, *xs]
    if memory is not None and recorder() is not None:
        # All that may be recorded: a transform around this loop is not known inside another body.
        flags = tuple(map(is_smooth, taken))
        own, each = budget.size(init), Kept(loop, flags).bytes()
        length = budget.segment(count, own, each, memory)
        if length < count:
            rest = budget.left_over(count, length, own, memory)
            return _in_segments(step, init, xs, count, reverse, length, rest)
    out = loop.run(taken)
    return out[:s], out[s:]


def _elements(arrays: list[Any]) -> list[ShapeDtype]:
    """What the elements of arrays along their first axes are like."""
    return [ShapeDtype(x.shape[1:], x.dtype) for x in arrays]


def _in_segments(
    step: Any, init: list[Any], xs: list[Any], count: int, reverse: bool, length: int, memory: int
) -> tuple[list[Any], list[Any]]:
    """A scan of segments, each of which is a scan that the reverse pass computes again."""
    whole = count // length
    extra = count - whole * length
    # The segments come first, then what is left over.
    middle = [x[extra:] if reverse else x[: whole * length] for x in xs]
    pieces = [reshape(x, (whole, length, *x.shape[1:])) for x in middle]
    s = len(init)

    def segment(given: list[Any]) -> list[Any]:
        state, ys = scan(step, given[:s], given[s:], length, reverse, memory)
        return [*state, *ys]

    body, captured = closed(segment, [*init, *_elements(pieces)])
    loop = Scan(body, len(captured), s, whole, reverse, recomputes=True)
    out = loop.run([*captured, *init, *pieces])
    state = out[:s]
    ys = [reshape(y, (whole * length, *y.shape[2:])) for y in out[s:]]
    if extra:
        rest = [x[:extra] if reverse else x[whole * length :] for x in xs]
        state, more = scan(step, state, rest, extra, reverse, memory)
        pairs = zip(more, ys, strict=True) if reverse else zip(ys, more, strict=True)
        ys = [concat(pair, axis=0) for pair in pairs]
    return state, ys
