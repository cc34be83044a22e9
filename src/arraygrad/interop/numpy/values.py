"""Conversions between tensors and NumPy arrays in structures of arguments, without lost gradients.

NumPy's functions without a rule run on these plain values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...arrays.creation import asarray
from ...arrays.members import batch_in, joined, mapped, members
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
        if batch_in(tree, deep=True):
            raise TypeError(
                "the values of a batched array are needed, which are others for each member of the "
                "batch: call the function outside vmap, or use where() with a mask"
            )
        return backend_of(tree).to_numpy(plain(tree))
    return mapped(plain_values, tree)


def on_values(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The results of NumPy's own function for the values.

    It is for functions without numbers to differentiate. For a batch, the function runs on each
    member. Arrays of all members are stacked; any other answer must be the same for all members.
    """
    kind = batch_in((args, kwargs), deep=True)
    if kind is None:
        return function(*plain_values(args), **plain_values(kwargs))
    given, count = members((args, kwargs), kind, deep=True)

    def only(answers: list[Any]) -> Any:
        if any(answer != answers[0] for answer in answers):
            raise TypeError(
                f"numpy.{function.__name__} has one answer, which is not the same for all members "
                "of the batch: call it outside vmap, or keep to functions that give arrays"
            )
        return answers[0]

    answers = [on_values(function, *own_args, **own_kwargs) for own_args, own_kwargs in given]
    return joined(answers, kind, count, only)


def as_tensors(tree: Any) -> Any:
    """The structure, with NumPy arrays of numbers replaced by tensors."""
    if isinstance(tree, np.ndarray | np.generic) and tree.dtype.kind in "biufc":
        return asarray(tree)
    return mapped(as_tensors, tree)


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
