"""The signature of a call: all that a program depends on, besides the values of arrays.

These are the structure of the arguments, the shape and dtype of each array, whether it is a tensor
and requires gradients, the values of numbers, and the static arguments.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable
from numbers import Number
from typing import Any

import numpy as np

from ...arrays.tensor import Tensor
from ...backends import backend_of_type, default
from ...backends.arraylikes import values_of
from ...core.array import Array, plain
from ...core.structures import taken_apart

_STATIC = "name it in static_argnums or static_argnames if it is a setting"


class Static:
    """Which arguments of a function are static: compared by value, and passed as they are.

    A parameter that is named, or whose position is given, may be passed either way.
    """

    def __init__(self, function: Any, argnums: Any, argnames: Any) -> None:
        numbers = (argnums,) if hasattr(argnums, "__index__") else tuple(argnums)
        names = (argnames,) if isinstance(argnames, str) else tuple(argnames)
        for number in numbers:
            if isinstance(number, bool) or not hasattr(number, "__index__"):
                raise TypeError(f"compile(): static_argnums must be integers, not {number!r}")
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"compile(): static_argnames must be names, not {name!r}")
        for number in numbers:
            if number < 0:
                raise ValueError("compile(): static_argnums count from the front, from 0 on")
        parameters = _parameters(function)
        positional = [p.name for p in parameters or () if p.kind in _BY_POSITION]
        if parameters is not None:
            _check(numbers, names, parameters, positional)
        self.positions = {*numbers, *(positional.index(n) for n in names if n in positional)}
        self.names = {*names, *(positional[i] for i in numbers if i < len(positional))}

    def split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
        """The static arguments, and the others; in these, None stands for a static one."""
        if not self.positions and not self.names:
            return (), args, kwargs
        fixed: list[tuple[Any, Any]] = [
            (i, args[i]) for i in sorted(self.positions) if i < len(args)
        ]
        fixed += [(name, kwargs[name]) for name in sorted(self.names) if name in kwargs]
        for place, value in fixed:
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"the static argument {place!r} is a {type(value).__name__}, which cannot be "
                    "hashed: static arguments are compared by value, so pass a tuple for a list"
                ) from None
        args = tuple(None if i in self.positions else a for i, a in enumerate(args))
        kwargs = {name: a for name, a in kwargs.items() if name not in self.names}
        return tuple((place, _exact(value), value) for place, value in fixed), args, kwargs


def _exact(value: Any) -> Any:
    """What tells a value from equal ones: 1 equals True and 1.0, and -0.0 equals 0.0."""
    if isinstance(value, Number):
        return type(value), repr(value)
    if isinstance(value, tuple):
        return type(value), tuple(map(_exact, value))
    if isinstance(value, frozenset):
        return type(value), frozenset(map(_exact, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value), tuple(_exact(getattr(value, f.name)) for f in dataclasses.fields(value))
    return type(value)


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters(function: Any) -> list[inspect.Parameter] | None:
    """The parameters of a function, or None if they are not known."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _check(
    numbers: Iterable[int],
    names: Iterable[str],
    parameters: list[inspect.Parameter],
    positional: list[str],
) -> None:
    """Refuse settings for parameters that a function does not have."""
    kinds = {p.kind for p in parameters}
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        for number in numbers:
            if number >= len(positional):
                raise ValueError(
                    f"compile(): static_argnums has {number}, but the function takes "
                    f"{len(positional)} arguments by position, which are counted from 0 on"
                )
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        for name in names:
            if all(p.name != name for p in parameters):
                raise ValueError(
                    f"compile(): static_argnames has {name!r}, but the function has no such "
                    "parameter"
                )


def joined(fixed: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The arguments of a function again, with the static ones at their places."""
    full, named = list(args), dict(kwargs)
    for place, _, value in fixed:
        if isinstance(place, str):
            named[place] = value
        else:
            full[place] = value
    return tuple(full), named


class Arguments:
    """The arguments of one call, taken apart.

    Attributes
    ----------
    leaves : list
        The arrays and numbers in the arguments.
    key : tuple
        The signature, which can be hashed.
    """

    def __init__(self, static: Static, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._fixed, *self._given = static.split(args, kwargs)
        leaves, self._spec = taken_apart(tuple(self._given))
        self.leaves = [values_of(leaf) for leaf in leaves]
        self.key = (self._fixed, self._spec, tuple(map(self._describe, self.leaves)))

    def _describe(self, leaf: Any) -> Any:
        if isinstance(leaf, Array | np.ndarray | np.generic):
            grad = leaf.requires_grad if isinstance(leaf, Tensor) else None
            return tuple(leaf.shape), leaf.dtype, grad, isinstance(leaf, Tensor)
        if isinstance(leaf, Number):
            return type(leaf), repr(leaf)
        if is_foreign(leaf):
            return type(leaf), tuple(leaf.shape), str(leaf.dtype)
        raise TypeError(
            f"{self._name(leaf)} of a compiled function is of type {type(leaf).__name__}, which is "
            f"no array or number: {_STATIC}"
        )

    def _name(self, leaf: Any) -> str:
        import optree

        for path, i in zip(optree.treespec_paths(self._spec), range(len(self.leaves)), strict=True):
            if self.leaves[i] is leaf:
                kind, key, *rest = path
                steps = "".join(f"[{step!r}]" for step in rest)
                return f"argument {key if kind == 0 else repr(key)}{steps}"
        return "an argument"

    def with_leaves(self, function: Callable[..., Any]) -> Callable[[Iterable[Any]], Any]:
        """The function as one of the leaves of these arguments."""
        return functools.partial(_call, function, self._fixed, self._spec)

    @property
    def structure(self) -> tuple[Any, Any]:
        """The static arguments, and the structure of the others."""
        return self._fixed, self._spec

    @property
    def static(self) -> list[Any]:
        """The values of the static arguments."""
        return [value for _, _, value in self._fixed]

    @property
    def arrays(self) -> list[int]:
        """The positions of the leaves that are arrays."""
        return [i for i, leaf in enumerate(self.leaves) if hasattr(leaf, "dtype")]


def _call(function: Any, fixed: Any, spec: Any, leaves: Iterable[Any]) -> Any:
    import optree

    args, kwargs = joined(fixed, *optree.tree_unflatten(spec, leaves))
    return function(*args, **kwargs)


def is_foreign(leaf: Any) -> bool:
    """Whether a leaf is another array than those of NumPy's own type, plain or under transforms.

    Subclasses, as masked arrays are, may mean something else by `*`.
    """
    inner = plain(leaf)
    if isinstance(inner, np.ndarray) and type(inner) not in (np.ndarray, np.memmap):
        return True
    if isinstance(inner, Array) or not hasattr(inner, "dtype"):
        return False
    try:
        return backend_of_type(type(inner)) is not default
    except TypeError:
        return False
