"""Modules, and parameters, in lists and dictionaries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from .module import Module
from .parameter import Parameter

__all__ = [
    "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential",
]  # fmt: skip


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


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def update(self, modules: Any) -> None:
        """Add modules."""
        for name, module in modules.items() if isinstance(modules, Mapping) else modules:
            self.add_module(name, module)

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __getitem__(self, name: str) -> Any:
        return self._modules[name]

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def items(self) -> Any:
        """The names and the modules."""
        return self._modules.items()


class ParameterDict(Module):
    """Parameters by name."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        for name, value in dict(parameters or {}).items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        own = value if isinstance(value, Parameter) else Parameter(value)
        self.register_parameter(name, own)

    def __getitem__(self, name: str) -> Any:
        return self._parameters[name]

    def __contains__(self, name: str) -> bool:
        return name in self._parameters

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def keys(self) -> Any:
        """The names."""
        return self._parameters.keys()

    def values(self) -> Any:
        """The parameters."""
        return self._parameters.values()

    def items(self) -> Any:
        """The names and the parameters."""
        return self._parameters.items()
