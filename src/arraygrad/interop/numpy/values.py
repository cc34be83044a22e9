"""Conversions between tensors and NumPy arrays in structures of arguments, without lost gradients.

NumPy's functions without a rule run on these plain values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...arrays.batched import Batched, batched_type
from ...arrays.creation import asarray
from ...backends import backend_of
from ...core.array import Array, plain


def is_plain(x: Any) -> bool:
    """Whether an array is a tensor on a plain array, and requires no gradients."""
    return (
        not getattr(x, "requires_grad", True)
        and not isinstance(x._array, Array)
        and (hasattr(x, "_node"))
    )


def holds_gradients(tree: Any) -> bool:
    """Whether a structure contains an array that requires gradients or belongs to a transform."""
    if isinstance(tree, Array):
        return not is_plain(tree)
    if isinstance(tree, list | tuple | set):
        return any(holds_gradients(item) for item in tree)
    if isinstance(tree, dict):
        return any(holds_gradients(item) for item in tree.values())
    return False


def plain_values(tree: Any) -> Any:
    """The structure, with tensors replaced by NumPy arrays."""
    if isinstance(tree, Array):
        if _batch_level(tree):
            raise TypeError(
                "the values of a batched array are needed, which are others for each member of the "
                "batch: call the function outside vmap, or use where() with a mask"
            )
        return backend_of(tree).to_numpy(plain(tree))
    return _mapped(plain_values, tree)


def on_values(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The results of NumPy's own function for the values.

    It is for functions without numbers to differentiate. For a batch, the function runs on each
    member. Arrays of all members are stacked; any other answer must be the same for all members.
    """
    level = _batch_level((args, kwargs))
    if not level:
        return function(*plain_values(args), **plain_values(kwargs))
    count = _members((args, kwargs), level)
    answers = []
    for i in range(max(count, 1)):  # an empty batch has the answers of any
        own_args, own_kwargs = _member((args, kwargs), level, i if count else None)
        answers.append(on_values(function, *own_args, **own_kwargs))
    return _of_batch(answers, level, count, function.__name__)


def _mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*map(function, tree))
    if isinstance(tree, list | tuple):
        return type(tree)(map(function, tree))
    if isinstance(tree, dict):
        return {key: function(item) for key, item in tree.items()}
    return tree


def _batch_level(tree: Any) -> float:
    """The level of the innermost transform that a structure has batched arrays of; 0 if none."""
    while isinstance(tree, Array):
        if isinstance(tree, Batched):
            return tree.level
        tree = tree._array
    if isinstance(tree, dict):
        tree = list(tree.values())
    return max(map(_batch_level, tree), default=0.0) if isinstance(tree, list | tuple) else 0.0


def _batch(x: Any, level: float) -> Any:
    """The array over all members of a batch that an array belongs to; None if it does not."""
    while isinstance(x, Array) and x.level >= level:
        if isinstance(x, Batched) and x.level == level:
            return x._array
        x = x._array
    return None


def _members(tree: Any, level: float) -> int:
    """How many members the batch has."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list | tuple):
        return max((_members(item, level) for item in tree), default=0)
    batch = _batch(tree, level)
    return 0 if batch is None else int(batch.shape[0])


def _member(tree: Any, level: float, index: int | None) -> Any:
    """The structure for one member of the batch; for None, with zeros."""
    if not isinstance(tree, Array):
        return _mapped(lambda item: _member(item, level, index), tree)
    batch = _batch(tree, level)
    if batch is None:
        return tree
    if index is None:
        return np.zeros(tuple(batch.shape[1:]), backend_of(batch).to_numpy(plain(batch)).dtype)
    return batch[index]


def _of_batch(answers: list[Any], level: float, count: int, name: str) -> Any:
    """One answer for a batch, from those for its members."""
    first = answers[0]
    if isinstance(first, list | tuple):
        parts = zip(*answers, strict=True)
        return type(first)(_of_batch(list(part), level, count, name) for part in parts)
    if isinstance(first, np.ndarray | np.generic | Array):
        arrays = [np.asarray(a) if isinstance(a, np.generic) else a for a in answers]
        return batched_type(level)(ops.stack(arrays)[:count])
    if any(answer != first for answer in answers):
        raise TypeError(
            f"numpy.{name} has one answer, which is not the same for all members of the batch: "
            "call it outside vmap, or keep to functions that give arrays"
        )
    return first


def as_tensors(tree: Any) -> Any:
    """The structure, with NumPy arrays of numbers replaced by tensors."""
    if isinstance(tree, np.ndarray | np.generic) and tree.dtype.kind in "biufc":
        return asarray(tree)
    return _mapped(as_tensors, tree)


def written(out: Any, result: Any, name: str) -> Any:
    """The result; or `out`, after the result was written to it."""
    if out is None:
        return result
    if isinstance(out, tuple):
        if len(out) != 1:
            raise TypeError(f"{name}: out must be one array for its one result")
        return written(out[0], result, name)
    if hasattr(out, "copy_"):
        return out.copy_(result)
    if holds_gradients(result):
        raise TypeError(
            f"{name}: the result takes part in differentiation, and would lose that in the NumPy "
            "array it is to be written to. Leave out= away, and write `a = a + b` for `a += b`"
        )
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{name}: out must be a Tensor or a NumPy array, not {type(out).__name__}")
    np.copyto(out, plain_values(result), casting="same_kind")
    return out


def no_rule(name: str) -> TypeError:
    """The error for a function that has no rule."""
    return TypeError(
        f"{name} has no derivative rule in arraygrad, and would cut its arguments off from their "
        "gradients: detach() them first if that is meant, or write it with functions that have one"
    )
