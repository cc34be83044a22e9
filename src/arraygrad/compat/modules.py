"""What the modules of Lucid and sorix share: they find their parameters among their attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .facade import Facade


class Module:
    """A function with parameters: the tensors and modules among its attributes."""

    training = True

    def forward(self, *args: Any, **keywords: Any) -> Any:
        """Compute the result. The subclass defines it."""
        raise NotImplementedError("define forward() in the subclass")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.forward(*args, **keywords)

    def _named(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """The tensors of this module and of those in it, with their names."""
        for name, value in parts(vars(self)):
            if isinstance(value, Module):
                yield from value._named(f"{prefix}{name}.")
            else:
                yield prefix + name, value

    def train(self, mode: bool = True) -> Any:
        """Say that the module is being trained, to this module and those in it."""
        self.training = mode
        for _, value in parts(vars(self)):
            if isinstance(value, Module):
                value.train(mode)
        return self

    def eval(self) -> Any:
        """Say that the module is being used."""
        return self.train(False)


def parts(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The tensors and modules in an attribute, which may be a list, tuple or dict of them."""
    if isinstance(value, Facade | Module):
        yield name, value
    elif isinstance(value, dict | list | tuple):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from parts(item, f"{name}.{key}" if name else str(key))


def applied(base: type, name: str, function: Callable[..., Any], doc: str) -> Any:
    """A type of modules that call a function."""
    members = {"forward": lambda self, *args: function(*args), "__doc__": doc}
    return type(name, (base,), {**members, "__module__": base.__module__})
