"""Between structures of arrays, which users have, and vectors, which SciPy's solvers have."""

from __future__ import annotations

import importlib
import math
from numbers import Real
from typing import Any

import numpy as np

from .. import ops
from ..arrays.creation import from_sequence
from ..backends import backend_of
from ..backends.arraylikes import values_of
from ..core.array import AnyFunction, Array
from ..func.trees import flatten
from ..interop.lazy import compute


def solvers() -> Any:
    """The solvers of vectors, which are imported when they are first used."""
    return importlib.import_module("arraygrad.scipy.optimize")


def as_numbers(x0: Any) -> Any:
    """A starting point; a list or tuple of numbers is one array, as for SciPy."""
    return np.asarray(x0) if is_numbers(x0) else x0


def is_numbers(x0: Any) -> bool:
    """Whether a starting point is a list or tuple of numbers, or of lists of them."""
    if type(x0) not in (list, tuple) or not x0:
        return False
    return all(isinstance(item, Real) or is_numbers(item) for item in x0)


def as_array(x: Any) -> Any:
    """What a function returned, as an array."""
    return x if hasattr(x, "dtype") else from_sequence(x)


def as_vector(tree: Any) -> Any:
    """What a function returned, any structure, as one vector; made of ops."""
    leaves = flatten(as_array(tree) if isinstance(tree, list | tuple) and _is_flat(tree) else tree)[
        0
    ]
    parts = [ops.ravel(as_array(leaf)) for leaf in leaves]
    return parts[0] if len(parts) == 1 else ops.concat(parts)


def _is_flat(tree: Any) -> bool:
    return all(not isinstance(item, dict) and not getattr(item, "ndim", 0) for item in tree)


class Space:
    """Converts between the structure of `x0` and one vector of numbers."""

    def __init__(self, x0: Any) -> None:
        leaves, self.unflatten = flatten(as_numbers(x0))
        self.leaves = [self._checked(leaf, i) for i, leaf in enumerate(leaves)]
        if not self.leaves:
            raise ValueError("x0 has no arrays or numbers in it")
        self.sizes = [math.prod(leaf.shape) for leaf in self.leaves]
        self.ends = np.cumsum(self.sizes)[:-1]
        self.start = self.vector(self.unflatten(self.leaves))

    def _checked(self, leaf: Any, i: int) -> Any:
        leaf = leaf.detach() if isinstance(leaf, Array) else values_of(leaf)
        leaf = leaf.array if hasattr(leaf, "array") else leaf
        array = leaf if hasattr(leaf, "dtype") else np.asarray(leaf)
        kind = backend_of(array).kind(array.dtype)
        if kind in "bi":
            return backend_of(array).xp.astype(array, backend_of(array).xp.float64)
        if kind != "f":
            hint = ": take the real and the imaginary part apart" if kind == "c" else ""
            raise TypeError(f"x0 must be real numbers, but leaf {i} has dtype {array.dtype}{hint}")
        return array

    def vector(self, tree: Any) -> Any:
        """The numbers of a structure as one vector."""
        parts = [np.ravel(backend_of(a).to_numpy(a)) for a in flatten(compute(tree))[0]]
        return np.concatenate([np.asarray(p, np.float64) for p in parts])

    def structure(self, vector: Any) -> Any:
        """The numbers of a vector in the structure of `x0`, with its dtypes and libraries."""
        parts = np.split(np.asarray(vector), self.ends)
        return self.unflatten(
            [
                backend_of(leaf).xp.asarray(part.reshape(leaf.shape), dtype=leaf.dtype)
                for part, leaf in zip(parts, self.leaves, strict=True)
            ]
        )

    def within(self, vector: Any) -> Any:
        """`structure`, made of ops, for a vector that is being differentiated."""
        parts = ops.array_split(vector, [int(end) for end in self.ends])
        return self.unflatten(
            [
                ops.astype(ops.reshape(part, leaf.shape), leaf.dtype, copy=False)
                for part, leaf in zip(parts, self.leaves, strict=True)
            ]
        )

    def of_vectors(self, function: AnyFunction, convert: AnyFunction | None = None) -> AnyFunction:
        """A function of structures as one of vectors."""

        def of_vector(vector: Any, *more: Any) -> Any:
            is_plain = isinstance(vector, np.ndarray)
            result = function((self.structure if is_plain else self.within)(vector), *more)
            return result if convert is None else convert(result)

        return of_vector

    def joined(self, numbers: Any) -> Any:
        """A vector from its numbers, which may be arrays of arraygrad."""
        is_plain = not any(isinstance(x, Array) for x in numbers)
        return np.asarray(numbers) if is_plain else from_sequence(numbers)

    def restored(self, vector: Any) -> Any:
        """A result in the structure of `x0`, with its derivatives."""
        return (self.within if isinstance(vector, Array) else self.structure)(vector)

    def either(self, lower: Any, upper: Any, bounds: Any) -> Any:
        """Bounds for SciPy: from `lower` and `upper`, or those given in SciPy's form."""
        if lower is None and upper is None:
            return bounds
        if bounds is not None:
            raise ValueError("bounds were given twice: pass lower and upper, or bounds")
        return self.bounds(lower, upper)

    def bounds(self, lower: Any, upper: Any) -> list[tuple[Any, Any]]:
        """A pair of bounds for each number of the vector."""
        low = self._bound(lower, "lower", -np.inf)
        high = self._bound(upper, "upper", np.inf)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _bound(self, given: Any, name: str, none: float) -> Any:
        if given is None or isinstance(given, int | float):
            value = none if given is None else given
            return np.full(self.start.shape, value, np.float64)
        import optree

        model = self.unflatten(self.leaves)
        leaves, spec = optree.tree_flatten(given, none_is_leaf=True)
        wanted = optree.tree_structure(model, none_is_leaf=True)
        if spec != wanted:
            raise ValueError(f"{name} must be a number or have the structure of x0, {wanted}")
        return np.concatenate(
            [
                np.ravel(np.broadcast_to(none if bound is None else np.asarray(bound), leaf.shape))
                for bound, leaf in zip(leaves, self.leaves, strict=True)
            ]
        ).astype(np.float64)
