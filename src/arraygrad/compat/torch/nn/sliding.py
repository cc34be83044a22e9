"""Windows that slide over the last axes of a signal: where they are, and what they see.

Each place in a window sees a slice of the signal as the window slides, so that all windows together
are as many slices as a window has places. Convolutions, `unfold` and `fold` are made of them.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from .... import ops
from ....ops.indexing import _index_add

Ints = tuple[int, ...]


def each(value: Any, count: int, name: str) -> Ints:
    """One number for each axis."""
    if not isinstance(value, tuple | list):
        return (int(value),) * count
    if len(value) == 1:
        return (int(value[0]),) * count
    if len(value) != count:
        raise RuntimeError(f"{name} must be one int or {count} ints, not {tuple(value)}")
    return tuple(int(v) for v in value)


def at_least(low: int, **options: Ints) -> None:
    """Raise if a number is below its bound."""
    for name, values in options.items():
        if any(v < low for v in values):
            raise RuntimeError(f"{name} must be at least {low}, not {values}")


def batched(x: Any, count: int, name: str = "input") -> tuple[Any, bool]:
    """The signal with an axis of samples, and whether it had none."""
    if x.ndim not in (count + 1, count + 2):
        raise RuntimeError(
            f"{name} must have {count + 1} or {count + 2} axes, not shape {tuple(x.shape)}"
        )
    return (x[None], True) if x.ndim == count + 1 else (x, False)


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
        parts = [x[(Ellipsis, *cut)] for cut in self.cuts()]
        return ops.stack(parts, axis=-len(self.size) - 1)

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
        raise RuntimeError(f"windows of {size} are larger than the input of {tuple(lengths)}")
    return Slide(size, stride, dilation, windows)


def padded(x: Any, widths: list[tuple[int, int]]) -> Any:
    """Zeros at the ends of the last axes."""
    if not any(a or b for a, b in widths):
        return x
    return ops.pad(x, [(0, 0)] * (x.ndim - len(widths)) + widths)
