"""From the functions of `arraygrad.nn` to those of `torch.nn.functional`.

A function of PyTorch has `dim` where arraygrad has `axis`, perhaps `inplace`, the two old
parameters of losses, and draws its random numbers from PyTorch's generator.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

from .... import nn
from ..handles import unwrap
from ..publish import Published, function, written
from ..random import rand, randn

_RENAMED = {"dim": "axis", "keepdim": "keepdims"}
_OURS = {ours: theirs for theirs, ours in _RENAMED.items()}


class Source:
    """PyTorch's generator as a `key` of arraygrad's: inside vmap, it draws what `vmap` says."""

    @staticmethod
    def random(shape: tuple[int, ...]) -> Any:
        """Numbers from 0 to 1."""
        return unwrap(rand(*shape))

    @staticmethod
    def standard_normal(shape: tuple[int, ...]) -> Any:
        """Normal numbers."""
        return unwrap(randn(*shape))


def renamed(native: Any) -> Any:
    """The function with PyTorch's names of parameters, and its `key` bound to PyTorch's."""
    parameters = inspect.signature(native).parameters
    bound = {"key": Source} if "key" in parameters else {}
    names = [p for p in parameters.values() if p.name not in bound]
    if not bound and _OURS.keys().isdisjoint(parameters):
        return native

    @functools.wraps(native)
    def made(*args: Any, **keywords: Any) -> Any:
        given = {_RENAMED.get(name, name): value for name, value in keywords.items()}
        return native(*args, **given, **bound)

    made.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(name=_OURS.get(p.name, p.name)) for p in names]
    )
    return made


def plain(name: str, *, method: bool = False, dtypes: Any = None) -> Published:
    """The function of a name, as it is."""
    return function(renamed(getattr(nn, name)), method=method, name=name, dtypes=dtypes)


def activation(name: str) -> Published:
    """A function that takes `inplace` after its own parameters, and can write its result."""
    native = renamed(getattr(nn, name))
    apart, inside = function(native, method=False, name=name), written(native, f"{name}_")
    own = inspect.signature(native)
    count = len(own.parameters)
    last = inspect.Parameter("inplace", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False)

    @functools.wraps(native)
    def made(*args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        if len(args) > count:
            *given, inplace = args
            args = tuple(given)
        out = (inside if inplace else apart)(*args, **kwargs)
        # Dropout that does nothing gives the tensor itself.
        return args[0] if args and out._t is args[0]._t else out

    made.__name__ = made.__qualname__ = name
    made.__signature__ = own.replace(parameters=[*own.parameters.values(), last])  # type: ignore[attr-defined]
    return made


def in_place(name: str) -> Any:
    """The function that writes its result into its input."""
    return written(renamed(getattr(nn, name)), f"{name}_")


def loss(name: str, between: str | None = None) -> Published:
    """A loss, which also takes the two old parameters for `reduction`.

    They stand before `reduction`, with the parameter `between` between them.
    """
    native = getattr(nn, name)
    own = inspect.signature(native)
    names = list(own.parameters)
    first = names.index("reduction" if between is None else between)
    middle = [] if between is None else [between]
    rest = [n for n in names[first:] if n != between]
    order = [*names[:first], "size_average", *middle, "reduce", *rest]
    # Between an input and a target of numbers, dtypes are promoted; classes are integers.
    numbers = between != "ignore_index" and "multi" not in name
    published = function(native, method=False, dtypes="floating" if numbers else None)

    @functools.wraps(native)
    def made(*args: Any, **keywords: Any) -> Any:
        if first < len(args) <= len(order):
            keywords = dict(zip(order, args, strict=False)) | keywords
            args = ()
        average, each = keywords.pop("size_average", None), keywords.pop("reduce", None)
        if average is not None or each is not None:
            keywords["reduction"] = _chosen(average, each)
        return published(*args, **keywords)

    old = inspect.Parameter("old", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    all_of_them = [own.parameters[n] if n in names else old.replace(name=n) for n in order]
    made.__signature__ = own.replace(parameters=all_of_them)  # type: ignore[attr-defined]
    return made


def _chosen(size_average: Any, reduce: Any) -> str:
    """The reduction that the two old parameters mean."""
    average = size_average is None or size_average
    reduction = "none" if reduce is not None and not reduce else "mean" if average else "sum"
    warnings.warn(
        "size_average and reduce args will be deprecated, please use "
        f"reduction={reduction!r} instead.",
        stacklevel=3,
    )
    return reduction


# --- layers ---


def classes(base: type, kind: str, **members: Any) -> list[Any]:
    """Classes for one, two and three axes: each of `members` is a function of that number."""
    return [
        type(
            f"{kind}{n}d",
            (base,),
            {key: make(n) for key, make in members.items()}
            | {"__doc__": base.__doc__, "__module__": base.__module__},
        )
        for n in (1, 2, 3)
    ]
