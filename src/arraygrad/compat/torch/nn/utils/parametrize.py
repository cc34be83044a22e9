"""`torch.nn.utils.parametrize`: parameters that are computed from others whenever they are read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from ...autograd import no_grad
from ...handles import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations",
]  # fmt: skip

_cache: ContextVar[dict[tuple[int, str], Any] | None] = ContextVar("arraygrad_cached", default=None)


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Compute each parameter once inside."""
    token = _cache.set({} if _cache.get() is None else _cache.get())
    try:
        yield
    finally:
        _cache.reset(token)


class ParametrizationList(ModuleList):
    """The modules that compute a parameter, and what they compute it from: `original`."""

    def __init__(self, modules: Any, original: Tensor) -> None:
        super().__init__(modules)
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    original = module.right_inverse(original)
        many = isinstance(original, tuple | list)
        self._names = [f"original{i}" for i in range(len(original))] if many else ["original"]
        for name, value in zip(self._names, original if many else (original,), strict=True):
            known = isinstance(value, Parameter)
            own: Any = value if known else Parameter(value.detach())
            self.register_parameter(name, own)

    def forward(self) -> Any:
        """The parameter."""
        first, *rest = self
        value = first(*(getattr(self, name) for name in self._names))
        for module in rest:
            value = module(value)
        return value

    def right_inverse(self, value: Tensor) -> None:
        """Write what the parameter is computed from, so that it has a value."""
        with no_grad():
            found: Any = value
            for module in reversed(list(self)):
                found = module.right_inverse(found)
            many = isinstance(found, tuple | list)
            for name, part in zip(self._names, found if many else (found,), strict=True):
                getattr(self, name).copy_(part)


def _property(name: str) -> property:
    def read(self: Any) -> Any:
        known, key = _cache.get(), (id(self), name)
        if known is None:
            return self.parametrizations[name]()
        if key not in known:
            known[key] = self.parametrizations[name]()
        return known[key]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def _rebuilt(module: Any) -> Any:
    """The type of a module, without the parameters that are computed."""
    return type(module).__mro__[1] if hasattr(type(module), "_is_parametrized") else type(module)


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Any:
    """Have a parameter computed by a module from `parametrizations.<name>.original`."""
    if is_parametrized(module, tensor_name):
        held = module.parametrizations[tensor_name]
        held.append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module {module!r} does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    if not is_parametrized(module):
        module.parametrizations = ModuleDict()
        own = type(module)
        named = f"Parametrized{own.__name__}"
        module.__class__ = type(named, (own,), {"_is_parametrized": True})
    place = module._parameters if tensor_name in module._parameters else module._buffers
    original = place.pop(tensor_name)
    made = ParametrizationList([parametrization], original)
    if not unsafe and tuple(made().shape) != tuple(original.shape):
        place[tensor_name] = original
        raise ValueError(
            f"Registering a parametrization may not change the shape of the tensor, but "
            f"{tuple(original.shape)} would be {tuple(made().shape)}: pass unsafe=True"
        )
    module.parametrizations[tensor_name] = made
    setattr(type(module), tensor_name, _property(tensor_name))
    return module


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module has computed parameters, or one of a name."""
    held = module._modules.get("parametrizations")
    if not isinstance(held, ModuleDict) or not len(held):
        return False
    return tensor_name is None or tensor_name in held


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a parameter an ordinary one again: with its value, or with that of the original."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held = module.parametrizations[tensor_name]
    with no_grad():
        value = held() if leave_parametrized else held.original
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if not len(module.parametrizations):
        del module._modules["parametrizations"]
        module.__class__ = _rebuilt(module)
    module.register_parameter(tensor_name, Parameter(value.detach()))
    return module
