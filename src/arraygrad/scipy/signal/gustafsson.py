"""Gustafsson's method for `filtfilt`.

It finds the states at both ends for which it does not matter which direction comes first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import linalg
from ...ops import concat, flip, matmul, matrix_transpose, reshape
from ..twins import in_precision_of
from .lines import zeros


def gustafsson(run: Any, b: Any, a: Any, x: Any, irlen: int | None) -> Any:
    """Lines, filtered forwards and backwards; `run(b, a, x, state)` is the filter."""
    order, n = max(b.shape[0], a.shape[0]) - 1, x.shape[-1]
    if not order:
        return x * b[0] ** 2
    count = n if irlen is None or n <= 2 * irlen else int(irlen)
    # The answers to each unit state, along rows; and the same, reversed and filtered.
    start = run(b, a, np.zeros((order, count)), np.eye(order))
    through = run(b, a, flip(start, axis=-1), None)
    late, back = flip(start, axis=-1), flip(through, axis=-1)
    first = flip(run(b, a, flip(run(b, a, x, None), axis=-1), None), axis=-1)
    second = run(b, a, flip(run(b, a, flip(x, axis=-1), None), axis=-1), None)
    change = second - first
    if count == n:
        system = concat((back - start, late - through), axis=0)
        answers = concat((back, late), axis=0)
    else:
        change = concat((change[..., :count], change[..., n - count :]), axis=-1)
        none = zeros(start, count)
        left = concat((back - start, none), axis=-1)
        system = concat((left, concat((none, late - through), axis=-1)), axis=0)
        gap = zeros(start, n - count)
        answers = concat((concat((back, gap), axis=-1), concat((gap, late), axis=-1)), axis=0)
    flat = reshape(change, (-1, change.shape[-1]))
    states = linalg.lstsq(matrix_transpose(system), matrix_transpose(flat), rcond=None)[0]
    moved = matmul(matrix_transpose(states), answers)
    return in_precision_of(first + reshape(moved, first.shape), b, a, x)
