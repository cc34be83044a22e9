"""Functions of other libraries' arrays, compiled by the library itself: JAX has `jax.jit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import backend_of
from ...core.array import Array
from ...core.structures import taken_apart
from .guards import Guards
from .signature import Arguments
from .tracing import NotTraceable


class Elsewhere:
    """A function, compiled for one signature by the library of its arguments."""

    def __init__(self, function: Any, arguments: Arguments) -> None:
        self._function = arguments.with_leaves(function)
        self._positions = arguments.arrays
        self._leaves = [None if hasattr(x, "dtype") else x for x in arguments.leaves]
        self.backend = backend_of(arguments.leaves[self._positions[0]])
        self._run = self.backend.compiled(self._traced)
        self.guards = Guards(function, arguments.static)
        self._is_traced = False
        self._needs_values = False

    def _traced(self, arrays: list[Any]) -> list[Any]:
        """Call the function. Its results that are arrays are returned, the others noted."""
        leaves = list(self._leaves)
        for i, array in zip(self._positions, arrays, strict=True):
            leaves[i] = array
        results, self._spec = taken_apart(self._function(leaves))
        self._is_array = [self._is_mine(x) for x in results]
        if any(isinstance(x, Array) for x in results):  # a tensor from outside took part
            raise NotTraceable
        pairs = list(zip(self._is_array, results, strict=True))
        self._others = [None if is_array else x for is_array, x in pairs]
        return [x for is_array, x in pairs if is_array]

    def _is_mine(self, value: Any) -> bool:
        return hasattr(value, "dtype") and backend_of(value) is self.backend

    def fits(self, arguments: Arguments) -> bool:
        """Whether what the function reads from outside is as it was."""
        return self.guards.hold()

    def run(self, leaves: list[Any]) -> Any:
        """Call the function on the leaves of its arguments."""
        import optree

        if self._needs_values:
            return self._function(leaves)
        try:
            found = iter(self._run([leaves[i] for i in self._positions]))
        except NotTraceable:
            return self._function(leaves)
        except Exception as error:
            # As the loops and choices of `func` do, which the library does not know.
            if not self.backend.lacks_values(error):
                raise
            self._needs_values = True
            self.guards.traced()
            return self._function(leaves)
        if not self._is_traced:
            self._is_traced = True
            self.guards.traced()  # the library has copies of the arrays from outside
        parts = zip(self._is_array, self._others, strict=True)
        return optree.tree_unflatten(self._spec, [next(found) if own else x for own, x in parts])


def is_compiled_elsewhere(arguments: Arguments) -> bool:
    """Whether all arrays among the arguments are those of one library that compiles functions."""
    arrays = [arguments.leaves[i] for i in arguments.arrays]
    if any(isinstance(x, Array | np.ndarray) for x in arrays):
        return False
    backend = backend_of(arrays[0])
    if backend.compiled(list) is None:
        return False
    return all(backend_of(x) is backend and backend.has_values(x) for x in arrays)
