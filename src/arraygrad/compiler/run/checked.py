"""A program that compares every array it computes with NumPy's: for ``compile(check=True)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..lower.core import Core
from ..trace.interpret import values_of
from ..trace.program import Node
from .executable import Arrays, Executable

TOLERANCE = {np.dtype(np.float16): 4e-3, np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-9}
TOLERANCE |= {np.dtype(np.complex64): 1e-4, np.dtype(np.complex128): 1e-9}


class CheckedExecutable(Executable):
    """An executable program whose steps are checked.

    A step is right if its results differ from NumPy's by rounding only: relative to the largest
    element, by 1e-4 for float32, 1e-9 for float64, and not at all for integers and booleans.
    """

    is_checked = True

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for some inputs."""
        values: dict[Node, Any] = dict(zip(self.inputs, arrays, strict=True))
        nodes = {x: node for node, x in self.lowering.values.items()}
        number = -1

        def check(found: Arrays, written: list[Core]) -> None:
            nonlocal number
            number += 1
            for x in written:
                if x in nodes:
                    (wanted,) = values_of([nodes[x]], values)
                    compare(found[x], wanted, nodes[x], f"step {number} of a compiled function")

        return self.run(arrays, check)


def compare(found: Any, wanted: Any, node: Node, where: str) -> None:
    """Raise an error if an array is not NumPy's, up to rounding. It says where that is."""
    if not found.size:
        return
    wanted = np.reshape(wanted, found.shape)
    allowed = TOLERANCE.get(found.dtype, 0.0)
    with np.errstate(all="ignore"):
        finite = np.abs(wanted[np.isfinite(wanted)]).astype(np.float64)
        scale = max(1.0, float(finite.max(initial=0.0)))
        close = np.isclose(found, wanted, rtol=allowed, atol=allowed * scale, equal_nan=True)
    if not close.all():
        place = tuple(int(i) for i in np.argwhere(~close)[0])
        raise AssertionError(
            f"{where}, {node.what()}: the element at {place} is "
            f"{found[place]}, but by NumPy {wanted[place]}. Please report it, with the function"
        )
