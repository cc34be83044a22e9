"""The names of nodes, as PyTorch has them."""

from __future__ import annotations

from typing import Any

from ...core.nodes import Leaf

# What PyTorch calls ops that have another name here.
_NAMES = {
    "multiply": "mul",
    "subtract": "sub",
    "divide": "div",
    "negative": "neg",
    "copy": "clone",
    "concat": "cat",
    "permute_dims": "permute",
    "broadcast_to": "expand",
    "astype": "to_copy",
    "expit": "sigmoid",
    "matmul": "mm",
    "cumulative_sum": "cumsum",
    "cumulative_prod": "cumprod",
    "reshape": "view",
    "getitem": "select",
    "unstack": "unbind",
    "put": "copy_slices",
}


def node_name(node: Any) -> str:
    """PyTorch's name for a node."""
    if isinstance(node, Leaf):
        return "AccumulateGrad"
    own = node.pullback.name
    own = _NAMES.get(own, own)
    if own == "copy_slices":
        return "CopySlices"
    if own == "OnceDifferentiable":
        return "Error"
    return "".join(part.capitalize() for part in own.strip("_").split("_")) + "Backward0"


def shown_name(node: Any) -> str:
    """The same, also for the node of a user's function, whose name has no number."""
    return str(node.name()) if hasattr(node, "needs_input_grad") else node_name(node)
