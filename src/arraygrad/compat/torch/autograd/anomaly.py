"""`detect_anomaly` and `set_detect_anomaly`, which warn as PyTorch's do."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from ....autograd import anomaly as native
from ....core.nodes import Node
from ..node_names import shown_name


class detect_anomaly(native.detect_anomaly):  # noqa: N801  (torch's name)
    """Find out which op gives NaN or raises in the reverse sweep, and which line called the op."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(check_nan)
        warnings.warn(
            "Anomaly Detection has been enabled. It is slow, and meant for debugging only",
            stacklevel=2,
        )


set_detect_anomaly = native.set_detect_anomaly
is_anomaly_enabled = native.is_anomaly_enabled
is_anomaly_check_nan_enabled = native.is_anomaly_check_nan_enabled


def warn_of(error: Exception) -> None:
    """Say in a warning which node an error comes from, and which lines of the program made it."""
    node: Any = getattr(error, "place", (None,))[0]
    if not isinstance(node, Node) or getattr(error, "is_told", False):
        return
    error.is_told = True  # type: ignore[attr-defined]
    lines = None if node.extras is None else node.extras.metadata.get("traceback")
    text = f"Error detected in {shown_name(node)}. "
    if lines is None:
        text += (
            "No forward pass information available: enable detect_anomaly() where the tensors are "
            "computed, too"
        )
    else:
        text += f"Traceback of forward call that caused the error:\n{lines}"
    try:
        warnings.warn(text, stacklevel=4)
    except Warning as raised:  # where warnings are errors, the error itself is the one to raise
        sys.stderr.write(f"{raised}\n")
