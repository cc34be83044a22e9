"""Conversions between tensors and NumPy arrays in structures of arguments, without lost gradients.

NumPy's functions without a rule run on these plain values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays.creation import asarray
from ...backends import backend_of
from ...core.array import Array


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
        return backend_of(tree).to_numpy(tree.array)  # type: ignore[attr-defined]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*map(plain_values, tree))
    if isinstance(tree, list | tuple):
        return type(tree)(map(plain_values, tree))
    if isinstance(tree, dict):
        return {key: plain_values(item) for key, item in tree.items()}
    return tree


def detached(tree: Any) -> Any:
    """The structure, with tensors replaced by NumPy arrays, also if they require gradients."""
    if isinstance(tree, Array):
        tree = tree.detach()
        if isinstance(tree, Array) and not is_plain(tree):
            raise TypeError(f"a {type(tree).__name__} array has no plain values inside a transform")
        return plain_values(tree)
    if isinstance(tree, list | tuple):
        return type(tree)(map(detached, tree))
    if isinstance(tree, dict):
        return {key: detached(item) for key, item in tree.items()}
    return tree


def as_tensors(tree: Any) -> Any:
    """The structure, with NumPy arrays of numbers replaced by tensors."""
    if isinstance(tree, np.ndarray | np.generic) and tree.dtype.kind in "biufc":
        return asarray(tree)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*map(as_tensors, tree))
    if isinstance(tree, list | tuple):
        return type(tree)(map(as_tensors, tree))
    return tree


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
