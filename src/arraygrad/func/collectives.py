"""Functions of all members of a `vmap` whose axis has a name: `psum`, `pmax` and relatives.

An axis with a name stands in the context as an array: the index of each member. It is an input of
the ops, so that they know which of several batches is meant.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

from .. import ops
from ..arrays.batched import Batched
from ..core.kinds import Opaque
from ..ops.define.op import Own, declare
from ..ops.padding import everywhere
from .trees import tree_map

T = TypeVar("T")
_INDICES: ContextVar[dict[Hashable, Batched]] = ContextVar("arraygrad_named_axes")


@contextmanager
def named(axis_name: Hashable, index: Any) -> Iterator[None]:
    """Give the axis of a batch a name inside the block."""
    before = _INDICES.set(_INDICES.get({}) | {axis_name: index})
    try:
        yield
    finally:
        _INDICES.reset(before)


def axis_index(axis_name: Hashable) -> Batched:
    """The index of this member of a `vmap` along an axis with a name.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.vmap(lambda x: x * ag.func.axis_index("i"), axis_name="i")(np.ones(3))
    array([0., 1., 2.])
    """
    found = _INDICES.get({})
    if axis_name not in found:
        known = ", ".join(map(repr, found)) or "none"
        raise NameError(
            f"there is no axis {axis_name!r} here (named axes: {known}): call this function inside "
            f"vmap(..., axis_name={axis_name!r})"
        )
    return found[axis_name]


def psum(x: T, axis_name: Hashable) -> T:
    """The sum of an array over all members of a `vmap`; each member gets it.

    The derivative is that of all members together: a cotangent is summed over the members, too.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.vmap(lambda x: x / ag.func.psum(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    index = axis_index(axis_name)
    return tree_map(lambda x: _over(_psum, ops.sum, x, index), x)  # type: ignore[no-any-return]


def pmean(x: T, axis_name: Hashable) -> T:
    """The mean of an array over all members of a `vmap`; each member gets it: see `psum`.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.vmap(lambda x: x - ag.func.pmean(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """
    count = axis_index(axis_name)._array.shape[0]
    return tree_map(lambda x: x / count, psum(x, axis_name))  # type: ignore[no-any-return]


def pmax(x: T, axis_name: Hashable) -> T:
    """The largest value of an array over all members of a `vmap`; each member gets it: see `psum`.

    Members that share the largest value share the derivative.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.vmap(lambda x: x / ag.func.pmax(x, "i"), axis_name="i")(np.array([1.0, 4.0]))
    array([0.25, 1.  ])
    """
    index = axis_index(axis_name)
    return tree_map(lambda x: _over(_pmax, ops.max, x, index), x)  # type: ignore[no-any-return]


def pmin(x: T, axis_name: Hashable) -> T:
    """The smallest value of an array over all members of a `vmap`: see `pmax`.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.vmap(lambda x: x - ag.func.pmin(x, "i"), axis_name="i")(np.array([1.0, 4.0]))
    array([0., 3.])
    """
    index = axis_index(axis_name)
    return tree_map(lambda x: _over(_pmin, ops.min, x, index), x)  # type: ignore[no-any-return]


# --- the ops -------------------------------------------------------------------------------------


def _over(op: Any, reduce: Any, x: Any, index: Any) -> Any:
    if type(x) is type(index):  # the result is the same for all members, and not one for each
        return reduce(x._array, axis=0)
    return op(x if hasattr(x, "dtype") else np.asarray(x), index)


def _declare(name: str, reduce: Any, **rules: Any) -> Any:
    def batch(op: Any, arrays: Any, flags: Any, params: Any) -> Any:
        x, index = arrays
        if not flags[1]:  # the batch of another `vmap`
            return op.function(x, index)
        size = index.shape[0]
        reduced = reduce(everywhere(x, flags[0], size), axis=0)
        return ops.broadcast_to(reduced, (size, *reduced.shape))

    def compute(xp: Any, x: Any, index: Any) -> Any:
        raise RuntimeError(f"{name}() of a compiled function was called outside of its vmap")

    own = Own(batch=batch, types=lambda inputs, params: [(inputs[0].shape, inputs[0].dtype)])
    return declare(name, "x", "index", kind=Opaque(), compute=compute, own=own, **rules)


def _share(x: Any, out: Any, index: Any) -> Any:
    """The derivative of an extreme value, which members that have it share."""
    is_it = ops.astype(x == out, out.dtype)
    return is_it / _psum(is_it, index)


_psum: Any = _declare(
    "psum",
    ops.sum,
    vjp_x=lambda g, index: _psum(g, index),
    jvp=lambda t_x, index: _psum(t_x, index),
)
_EXTREME: dict[str, Any] = {
    "vjp_x": lambda g, x, out, index: _psum(g, index) * _share(x, out, index),
    "jvp": lambda t_x, x, out, index: _psum(t_x * _share(x, out, index), index),
}
_pmax = _declare("pmax", ops.max, **_EXTREME)
_pmin = _declare("pmin", ops.min, **_EXTREME)
