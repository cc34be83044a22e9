"""`autograd.scipy.signal`: HIPS's `convolve`, over some axes and with sums over others."""

from __future__ import annotations

from typing import Any

import numpy as _np

from .. import numpy as np
from ..numpy.numpy_wrapper import wrapped
from .twins import lazily

__all__ = ["convolve"]


def convolve(A: Any, B: Any, axes: Any = None, dot_axes: Any = ((), ()), mode: str = "full") -> Any:
    """The convolution of two arrays.

    Parameters
    ----------
    A, B : array
    axes : pair of lists of int, optional
        The axes of `A`, and of `B`, to convolve along; by default, all.
    dot_axes : pair of lists of int
        The axes of `A`, and of `B`, to sum over.
    mode : {"full", "valid", "same"}
        What to keep; with "same", as many elements as `A` has.

    Returns
    -------
    array
        Its axes are the other axes of `A`, the other axes of `B`, and those of the convolution.
    """
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"mode must be 'full', 'valid' or 'same', not {mode!r}")
    if axes is None:
        axes = (range(np.ndim(A)), range(np.ndim(B)))
    along_a, along_b = ([int(i) for i in part] for part in axes)
    sums_a, sums_b = ([int(i) for i in part] for part in dot_axes)
    sizes = [(np.shape(A)[i], np.shape(B)[j]) for i, j in zip(along_a, along_b, strict=True)]
    swap = any(m < n for m, n in sizes)
    if mode == "valid" and swap:
        if any(m > n for m, n in sizes):
            raise ValueError("one array must be at least as large as the other along all axes")
        kept = [i for i in range(np.ndim(A)) if i not in along_a and i not in sums_a]
        other = [j for j in range(np.ndim(B)) if j not in along_b and j not in sums_b]
        swapped = convolve(B, A, (along_b, along_a), (sums_b, sums_a), mode)
        front = [*range(len(other), len(other) + len(kept)), *range(len(other))]
        return np.transpose(swapped, front + list(range(len(front), swapped.ndim)))

    pads = [(0, 0)] * np.ndim(A)
    for axis, (_, n) in zip(along_a, sizes, strict=True):
        after = (n - 1) // 2
        pads[axis] = {"full": (n - 1, n - 1), "valid": (0, 0), "same": (n - 1 - after, after)}[mode]
    windows = np.pad(A, pads) if mode != "valid" else A
    # Beside each axis of `A`, where a window starts, there is one for the place in it.
    windows = _windows(windows, [n for _, n in sizes], along_a) if sizes else windows
    letters_a = list(range(np.ndim(A)))
    letters_b = list(range(100, 100 + np.ndim(B)))
    for j, i in zip(sums_b, sums_a, strict=True):
        letters_b[j] = letters_a[i]
    kept = [x for i, x in enumerate(letters_a) if i not in along_a and i not in sums_a]
    kept += [x for j, x in enumerate(letters_b) if j not in along_b and j not in sums_b]
    inside = [letters_b[j] for j in along_b]
    labels = (letters_a + inside, letters_b, kept + along_a)
    return np.einsum("{},{}->{}".format(*map(_letters, labels)), windows, np.flip(B, along_b))


_windows = wrapped(_np.lib.stride_tricks.sliding_window_view)


def _letters(labels: list[int]) -> str:
    """Labels of axes as letters: capitals for those of `B`."""
    return "".join(chr(ord("a") + x) if x < 100 else chr(ord("A") + x - 100) for x in labels)


__getattr__ = lazily("signal", globals())
