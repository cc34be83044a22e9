"""Windows that slide over the last axes of a signal, and weighted sums along one axis.

Each place in a window sees a slice of the signal as the window slides, so that all windows together
are as many slices as a window has places. Convolutions, `unfold` and `fold` are made of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import ops
from ..ops.indexing import _index_add
from .common import Ints, constant
from .one_pass import is_in_program


class Slide(NamedTuple):
    """Windows over the last axes, at equal distances: a number of each for each axis."""

    size: Ints
    stride: Ints
    dilation: Ints
    windows: Ints

    @property
    def span(self) -> Ints:
        """From the first place of the first window to the last place of the last one."""
        return tuple(s * (n - 1) + d * (k - 1) + 1 for k, s, d, n in zip(*self, strict=True))

    def cuts(self) -> list[tuple[slice, ...]]:
        """For each place in a window, the slices that it sees as the window slides."""
        along = [
            [slice(d * i, d * i + s * (n - 1) + 1, s) for i in range(k)]
            for k, s, d, n in zip(*self, strict=True)
        ]
        return list(itertools.product(*along))

    def seen(self, x: Any) -> Any:
        """What the windows see: an axis of the places in a window comes before the windows."""
        return ops.stack(self.parts(x), axis=-len(self.size) - 1)

    def parts(self, x: Any) -> list[Any]:
        """For each place in a window, what it sees."""
        if not is_in_program(x) or all(s == 1 for s in self.stride):
            return [x[(Ellipsis, *cut)] for cut in self.cuts()]
        # A program adds up what a place has seen by slices without steps: so the elements at equal
        # distances get an axis of their own.
        count = len(self.size)
        steps = list(zip(self.stride, x.shape[-count:], strict=True))
        x = padded(x, [(0, -n % s) for s, n in steps])
        apart = [m for s, n in steps for m in (-(-n // s), s)]
        x = ops.reshape(x, (*x.shape[:-count], *apart))
        return [
            x[(Ellipsis, *itertools.chain(*where))]
            for where in itertools.product(
                *(
                    [(slice(d * i // s, d * i // s + n), d * i % s) for i in range(k)]
                    for k, s, d, n in zip(*self, strict=True)
                )
            )
        ]

    def added(self, seen: Any, lengths: Ints) -> Any:
        """The transpose: what windows see, added up at the places it is from."""
        lead = tuple(seen.shape[: -len(self.size) - 1])
        template, shape = (slice(None),) * len(lead), (*lead, *lengths)
        parts = ops.unstack(seen, axis=len(lead))
        out: Any = 0
        for part, cut in zip(parts, self.cuts(), strict=True):
            out = out + _index_add(part, template=(*template, *cut), shape=shape)
        return out


def slide_over(lengths: Ints, size: Ints, stride: Ints, dilation: Ints) -> Slide:
    """As many windows as fit into axes of some lengths."""
    windows = tuple(
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(lengths, size, stride, dilation, strict=True)
    )
    if any(n < 1 for n in windows):
        raise ValueError(f"windows of {size} are larger than the input of {tuple(lengths)}")
    return Slide(size, stride, dilation, windows)


def padded(x: Any, widths: Sequence[tuple[int, int]]) -> Any:
    """Zeros at the ends of the last axes."""
    if not any(a or b for a, b in widths):
        return x
    return ops.pad(x, [(0, 0)] * (x.ndim - len(widths)) + list(widths))


def cut(x: Any, ends: Ints) -> Any:
    """The last axes without some elements at both ends."""
    if not any(ends):
        return x
    lengths = x.shape[-len(ends) :]
    inside = (slice(c, n - c) for n, c in zip(lengths, ends, strict=True))
    return x[(Ellipsis, *inside)]


def weighted(x: Any, axis: int, index: Any, weight: Any = None) -> Any:
    """`out[l] = Σ_k weight[k, l] * x[index[k, l]]` along an axis. An index of -1 means zero.

    Parameters
    ----------
    x : array
    axis : int
        An axis, counted from the back.
    index, weight : ndarray
        Tables with one column for each element of the result. Without `weight`, all are one.
    """
    taps, length = index.shape
    if (index < 0).any():
        widths = [(0, 0)] * x.ndim
        widths[axis] = (0, 1)
        index = np.where(index < 0, x.shape[axis], index)
        x = ops.pad(x, widths)
    if weight is None and taps == 1:
        return ops.take(x, index[0], axis=axis)
    after = x.ndim + axis  # the axis of the taps
    shape = (*x.shape[:after], taps, length, *x.shape[after + 1 :])
    found = ops.reshape(ops.take(x, index.reshape(-1), axis=axis), shape)
    if weight is not None:
        factors = constant(weight.reshape((taps, length, *(1,) * (-axis - 1))), x)
        found = found * ops.astype(factors, ops.real(x).dtype)  # complex numbers have real weights
    return ops.sum(found, axis=after)
