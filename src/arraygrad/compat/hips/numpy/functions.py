"""The functions of `autograd.numpy`, and those that differ from NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as _np

from ....arrays.creation import from_sequence
from ....core.array import Array
from ..boxes import isbox
from ..structures import holds_boxes
from .numpy_wrapper import wrap_namespace, wrapped

wrap_namespace(vars(_np), globals())
globals().pop("test", None)  # which runs NumPy's tests

_where = wrapped(_np.where)


def where(condition: Any, *args: Any, **kwargs: Any) -> Any:
    """`numpy.where`; of Python numbers and lists it gives Python numbers and lists."""
    result = _where(condition, *args, **kwargs)
    given = (condition, *args, *kwargs.values())
    if len(given) == 1 or any(map(_is_array, given)) or not isinstance(result, _np.ndarray):
        return result
    return result.tolist()


def _is_array(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_is_array, x))
    return isinstance(x, Array | _np.ndarray | _np.generic)


class _Joined:
    """`numpy.r_` or `numpy.c_`, for boxes too."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        if not holds_boxes(items):
            return self._raw[key]
        return self._with_boxes(items)

    def _with_boxes(self, items: tuple[Any, ...]) -> Any:
        """Find out from numbers where each element goes, and take the elements from there."""
        axis = ()
        if isinstance(items[0], str):
            axis, items = items[:1], items[1:]
        arrays = [x if isinstance(x, slice) else from_sequence(x) for x in items]
        arrays = [self._raw[x] if isinstance(x, slice) else x for x in arrays]
        count, numbered, flat = 0, [], []
        for array in arrays:
            size = int(_np.prod(array.shape, dtype=int))
            numbered.append(_np.arange(count, count + size).reshape(array.shape))
            flat.append(_np.reshape(array, (-1,)))
            count += size
        places = self._raw[(*axis, *(n if n.ndim else int(n) for n in numbered))]
        return _np.concatenate(flat)[_np.asarray(places)]


r_ = _Joined(_np.r_)
c_ = _Joined(_np.c_)


def array(A: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N803  (HIPS's name)
    """`numpy.array`, for boxes and sequences of boxes too."""
    if not holds_boxes(A):
        return _np.array(A, *args, **kwargs)
    dtype = args[0] if args else kwargs.pop("dtype", None)
    ndmin = kwargs.pop("ndmin", 0)
    unknown = kwargs.keys() - {"copy", "order", "subok", "like"}
    if unknown or len(args) > 1:
        raise TypeError(f"array() got arguments it does not know: {sorted(unknown)}")
    made = A if isbox(A) else from_sequence(A)
    if dtype is not None:
        made = _np.astype(made, _np.dtype(dtype))
    return _np.reshape(made, (1,) * max(ndmin - made.ndim, 0) + made.shape)


def concatenate_args(axis: int, *args: Any) -> Any:
    """The arrays `args`, joined along an axis."""
    return concatenate(args, axis)  # type: ignore[name-defined]  # noqa: F821


def array_from_args(array_args: Any, array_kwargs: Any, *args: Any) -> Any:
    """The array with the items `args`."""
    return array(list(args), *array_args, **array_kwargs)


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:  # noqa: N803
    """Matrices with the last axis of `D` on their diagonals."""
    if (offset, axis1, axis2) != (0, -1, -2):
        raise NotImplementedError("make_diagonal needs offset=0, axis1=-1, axis2=-2")
    return D[..., None] * _np.eye(D.shape[-1])
