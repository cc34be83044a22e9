"""Shortcuts for calls with structures, numbers and settings, once there is a program for them.

The signature of a call need not be made again: the native entry point checks the arrays, and
numbers are compared with those of the call for which the function was traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...arrays.tensor import Tensor
from ..run.entry import Entry
from ..run.executable import Executable
from .guards import Guards

MOST = 8  # shortcuts for one structure, with other shapes or numbers


class Shortcut:
    """A program for calls whose arguments have one structure.

    Parameters
    ----------
    leaves : sequence
        The arrays, tensors and numbers of the call that the program was made for.
    executable, build, guards
        The program, what makes the results of its outputs, and when it is right.
    """

    def __init__(
        self,
        leaves: Sequence[Any],
        executable: Executable,
        build: Callable[[Sequence[Any]], Any],
        guards: Guards,
    ) -> None:
        self.guards = guards
        self._executable, self._build = executable, build
        self._numbers = [(i, x) for i, x in enumerate(leaves) if not hasattr(x, "dtype")]
        self._tensors = [(i, x.requires_grad) for i, x in enumerate(leaves) if type(x) is Tensor]
        numbers = {i for i, _ in self._numbers}
        self._arrays = [i for i in range(len(leaves)) if i not in numbers]
        self._scalars = [i for i, x in enumerate(leaves) if isinstance(x, np.generic)]
        self._entry: Entry | None = None

    def __call__(self, leaves: Sequence[Any]) -> Any:
        """The results; NotImplemented if the program is not for these leaves."""
        for i, value in self._numbers:
            if not _is_same(leaves[i], value):
                return NotImplemented
        if self._tensors or self._scalars:
            leaves = list(leaves)
            for i in self._scalars:
                if isinstance(leaves[i], np.generic):  # not a number
                    leaves[i] = np.asarray(leaves[i])
            for i, is_smooth in self._tensors:
                x = leaves[i]
                if type(x) is not Tensor or x.requires_grad is not is_smooth:
                    return NotImplemented
                leaves[i] = x._array
        arrays = [leaves[i] for i in self._arrays] if self._numbers else leaves
        found = self._found(arrays)
        return found if found is NotImplemented else self._build(found)

    def _found(self, arrays: Sequence[Any]) -> Any:
        if self._entry is None:
            self._entry = Entry(self._executable)
        found: Any = NotImplemented
        if self._entry.call is not None:
            found = self._entry.call(*arrays)
        if found is not NotImplemented:
            return found
        return self._executable(arrays) if self._executable.fits(arrays) else NotImplemented


def _is_same(x: Any, value: Any) -> bool:
    """Whether two numbers are the same. Some equal ones are not, as 0.0 and -0.0, or 1 and True."""
    if x is value:
        return True
    kind = type(x)
    return kind is type(value) and kind in (bool, int, float) and x == value and bool(x)
