"""Modules that hold modules or parameters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Self

from .module import Module
from .parameter import Parameter


class _Listed(Module):
    """Modules in order."""

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, key: Any) -> Any:
        return list(self._modules.values())[key]


class Sequential(_Listed):
    """Modules one after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        """Apply all modules."""
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Sequential(*found) if isinstance(key, slice) else found


class ModuleList(_Listed):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)


class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        for i, value in enumerate(values):
            own = value if isinstance(value, Parameter) else Parameter(value)
            self.register_parameter(str(i), own)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def __len__(self) -> int:
        return len(self._parameters)

    def __getitem__(self, key: Any) -> Any:
        return list(self._parameters.values())[key]
