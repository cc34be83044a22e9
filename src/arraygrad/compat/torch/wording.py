"""PyTorch's words in front of arraygrad's errors: they are what people know, and search for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import (
    AnomalyError,
    GraphFreedError,
    NoGradientError,
    RuleError,
    UnusedInputError,
    WrittenError,
)
from ...nn.common import OptionError
from .node_names import shown_name


class LinAlgError(RuntimeError):
    """A matrix is singular, or not positive definite."""


# For each kind of error, the words by which users of PyTorch know it.
_KNOWN: dict[type[Exception], str] = {
    GraphFreedError: "Trying to backward through the graph a second time (or directly access saved "
    "tensors after they have already been freed). Specify retain_graph=True if you need to "
    "backward through the graph a second time",
    UnusedInputError: "One of the differentiated Tensors appears to not have been used in the "
    "graph. Set allow_unused=True if this is the desired behavior",
    WrittenError: "one of the variables needed for gradient computation has been modified by an "
    "inplace operation",
    NoGradientError: "element of tensors does not require grad and does not have a grad_fn",
    RuleError: "a function returned an invalid gradient, of which the graph expected shape, dtype "
    "or number to be others",
}


def reword(error: Exception) -> None:
    """Put PyTorch's words for an error of arraygrad in front of its message."""
    words = _KNOWN.get(type(error))
    if isinstance(error, AnomalyError):
        node, position = error.place
        words = f"Function {shown_name(node)!r} returned nan values in its {position}th output."
    if words is not None and not str(error).startswith(words):
        error.args = (f"{words}: {error}", *error.args[1:])


def as_in_torch(name: str, error: ValueError, args: tuple[Any, ...] = ()) -> Exception:
    """PyTorch's error for a ValueError of a function.

    Bad values of arguments are RuntimeErrors in PyTorch, where they are found in C++. Options are
    checked in Python, and have other errors.
    """
    shapes = [tuple(x.shape) for x in args if hasattr(x, "shape")]
    words = _of_shapes(name, str(error), shapes, args)
    if words is not None:
        return RuntimeError(words)
    kinds = (
        (NotImplementedError, NotImplementedError),
        (OptionError, ValueError),
        (np.linalg.LinAlgError, LinAlgError),
    )
    kind = next((theirs for ours, theirs in kinds if isinstance(error, ours)), RuntimeError)
    return kind(f"{name}(): {error}")


def _of_shapes(name: str, message: str, shapes: list[Any], args: tuple[Any, ...]) -> str | None:
    """PyTorch's words for the commonest mistakes: shapes that do not fit."""
    if name in ("view", "reshape") and message.startswith("cannot reshape"):
        size = list(args[1] if len(args) == 2 and isinstance(args[1], tuple | list) else args[1:])
        return f"shape '{size}' is invalid for input of size {math.prod(shapes[0])}"
    if len(shapes) < 2:
        return None
    a, b = shapes[:2]
    if name in ("matmul", "mm", "linear") and len(b) == 2 and a:
        rows, columns = b if name != "linear" else b[::-1]
        if a[-1] != rows:
            left = f"{math.prod(a[:-1])}x{a[-1]}"
            return f"mat1 and mat2 shapes cannot be multiplied ({left} and {rows}x{columns})"
    if "could not be broadcast together" in message:
        for back in range(1, min(len(a), len(b)) + 1):
            if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
                place = max(len(a), len(b)) - back
                return (
                    f"The size of tensor a ({a[-back]}) must match the size of tensor b "
                    f"({b[-back]}) at non-singleton dimension {place}"
                )
    return None
