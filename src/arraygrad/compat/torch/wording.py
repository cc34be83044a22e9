"""PyTorch's words in front of arraygrad's errors: they are what people know, and search for."""

from __future__ import annotations

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


def as_in_torch(name: str, error: ValueError) -> Exception:
    """PyTorch's error for a ValueError of a function.

    Bad values of arguments are RuntimeErrors in PyTorch, where they are found in C++. Options are
    checked in Python, and have other errors.
    """
    kinds = ((NotImplementedError, NotImplementedError), (OptionError, ValueError))
    kind = next((theirs for ours, theirs in kinds if isinstance(error, ours)), RuntimeError)
    return kind(f"{name}(): {error}")
