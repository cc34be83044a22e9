"""`associative_scan`: all partial results of an associative function, by few calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .. import ops
from .carries import Form
from .trees import as_function

X = TypeVar("X")
Leaves = list[Any]


def associative_scan(f: Callable[[X, X], X], xs: X, reverse: bool = False, axis: int = 0) -> X:
    """All partial results of an associative function, as cumulative sums are those of addition.

    The function is called about twice the logarithm of the length, on many elements at once.

    Parameters
    ----------
    f : callable
        ``f(a, b)`` combines two structures like `xs`, with any length along the axis: element by
        element along this axis. It must be associative: ``f(f(a, b), c)`` is ``f(a, f(b, c))``.
    xs : any structure of arrays
    reverse : bool
        Whether to combine from the end: then the first element of the result combines all, and
        `a` is what comes later along the axis.
    axis : int
        The axis along which the elements are.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.associative_scan(ag.add, np.array([1.0, 2.0, 3.0, 4.0]))
    array([ 1.,  3.,  6., 10.])

    The states of the recurrence ``s = a * s + b``, all at once:

    >>> def combined(first, second):
    ...     (a, b), (c, d) = first, second
    ...     return a * c, b * c + d
    >>> ag.func.associative_scan(combined, (np.full(3, 2.0), np.ones(3)))[1]
    array([1., 3., 7.])
    """
    as_function(f, "associative_scan")
    form = Form(xs, "associative_scan", "xs")
    leaves = form.leaves
    if not leaves:
        return xs
    axes, lengths = [], set()
    for leaf in leaves:
        ndim = getattr(leaf, "ndim", 0)
        if not -ndim <= axis < ndim:
            raise ValueError(
                f"associative_scan(): axis is {axis}, but an array of xs has {ndim} axes"
            )
        axes.append(axis % ndim)
        lengths.add(leaf.shape[axis])
    if len(lengths) > 1:
        raise ValueError(
            f"associative_scan(): the arrays of xs have different lengths along axis {axis}: "
            f"{sorted(lengths)}"
        )

    def combine(first: Leaves, second: Leaves) -> Leaves:
        combined = f(form.tree(first), form.tree(second))
        return Form(form.tree(first), "associative_scan", "xs").leaves_of(combined, "f")

    if reverse:
        found = _scanned(
            combine,
            [ops.flip(x, axis=a) for x, a in zip(leaves, axes, strict=True)],
            axes,
        )
        return form.tree([ops.flip(x, axis=a) for x, a in zip(found, axes, strict=True)])  # type: ignore[no-any-return]
    return form.tree(_scanned(combine, leaves, axes))  # type: ignore[no-any-return]


def _scanned(combine: Callable[[Leaves, Leaves], Leaves], xs: Leaves, axes: list[int]) -> Leaves:
    """Pairs of neighbours are combined; their partial results are those at every second place.

    The results at the other places are those before them, combined with one more element.
    """
    n = xs[0].shape[axes[0]]
    if n < 2:
        return xs
    at_odd = _scanned(combine, combine(_part(xs, axes, 0, n - 1), _part(xs, axes, 1, n)), axes)
    first = _part(xs, axes, 0, 1)
    if n > 2:
        before = at_odd
        if n % 2 == 0:
            before = [x[_slice(a, slice(0, -1))] for x, a in zip(at_odd, axes, strict=True)]
        others = combine(before, _part(xs, axes, 2, n))
        first = [ops.concat((x, y), axis=a) for x, y, a in zip(first, others, axes, strict=True)]
    return [_woven(x, y, a) for x, y, a in zip(first, at_odd, axes, strict=True)]


def _part(xs: Leaves, axes: list[int], start: int, stop: int) -> Leaves:
    """Every second element."""
    return [x[_slice(a, slice(start, stop, 2))] for x, a in zip(xs, axes, strict=True)]


def _slice(axis: int, part: slice) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, part)


def _woven(even: Any, odd: Any, axis: int) -> Any:
    """The elements of two arrays in turns, from the first of `even` on."""
    n, m = even.shape[axis], odd.shape[axis]
    pairs = ops.stack((even[_slice(axis, slice(0, m))], odd), axis=axis + 1)
    shape = (*odd.shape[:axis], 2 * m, *odd.shape[axis + 1 :])
    woven = ops.reshape(pairs, shape)
    if n > m:
        woven = ops.concat((woven, even[_slice(axis, slice(m, n))]), axis=axis)
    return woven
