"""`Module`: an object with parameters, buffers and modules, that is called like a function."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ....core.nodes import RemovableHandle
from ..autograd import no_grad
from ..handles import Tensor
from .around import Around
from .parameter import Buffer, Parameter

__all__ = [
    "Module",
]  # fmt: skip


class _Incompatible(NamedTuple):
    """What `load_state_dict` did not find, and what it has no place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class Module:
    """Base class of layers and networks: a subclass defines `forward`."""

    training: bool
    # What a compiled function that uses the module looks at before each call.
    __guarded__ = ("__dict__", "forward")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__["_parameters"] = OrderedDict()
        self.__dict__["_buffers"] = OrderedDict()
        self.__dict__["_modules"] = OrderedDict()
        self.__dict__["_transient"] = set()
        self.__dict__["_before"] = {}
        self.__dict__["_after"] = {}
        self.__dict__["_around"] = {}
        self.training = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result. The subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} must define forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for hook in list(self._before.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        around = None
        if self._around:
            around = Around(self, list(self._around.values()))
            args = around.enter(args)
        result = self.forward(*args, **kwargs)
        if around is not None:
            result = around.leave(result)
        for hook in list(self._after.values()):
            changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    # --- its parts are attributes ---

    def __setattr__(self, name: str, value: Any) -> None:
        parts = self.__dict__.get("_parameters")
        if isinstance(value, Parameter | Module) and parts is None:
            raise AttributeError("call Module.__init__() before the parts of a module are assigned")
        if parts is None:
            self.__dict__[name] = value
            return
        if isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
            return
        kinds = (("_parameters", Parameter), ("_modules", Module), ("_buffers", Tensor))
        for place, kind in kinds:
            held = self.__dict__[place]
            if isinstance(value, kind) and (place != "_buffers" or name in held):
                for other, _ in kinds:
                    if other != place:
                        self.__dict__[other].pop(name, None)
                self.__dict__.pop(name, None)
                held[name] = value
                return
            if name in held and value is None:
                held[name] = None
                return
            if name in held and place != "_buffers":
                raise TypeError(
                    f"cannot assign {type(value).__name__} as {name!r}: it is a "
                    f"{kind.__name__}, or None"
                )
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        for place in ("_parameters", "_buffers", "_modules"):
            held = self.__dict__.get(place, {})
            if name in held:
                return held[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for place in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[place]:
                del self.__dict__[place][name]
                return
        super().__delattr__(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter."""
        self.__dict__["_parameters"][name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module and is no parameter."""
        self.__dict__["_buffers"][name] = tensor
        if not persistent:
            self.__dict__["_transient"].add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module."""
        self.__dict__["_modules"][name] = module

    register_module = add_module

    # --- iterating over parts ---

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules that are parts of this one."""
        return ((n, m) for n, m in self._modules.items() if m is not None)

    def children(self) -> Iterator[Module]:
        """The modules that are parts of this one."""
        return (module for _, module in self.named_children())

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """The module itself, and all modules inside it."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self.named_children():
            path = f"{prefix}.{name}" if prefix else name
            yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """The module itself, and all modules inside it."""
        return (module for _, module in self.named_modules())

    def _named(
        self, place: str, prefix: str, recurse: bool, once: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        owners: Any = [(prefix, self)]
        if recurse:
            owners = self.named_modules(prefix=prefix, remove_duplicate=once)
        for path, module in owners:
            for name, value in module.__dict__[place].items():
                if value is not None and id(value) not in seen:
                    if once:
                        seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, with their names."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers, with their names."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module at a path such as `"0.linear"`."""
        found: Any = self
        for part in target.split(".") if target else ():
            found = getattr(found, part)
        return found  # type: ignore[no-any-return]

    # --- all parts at once ---

    def apply(self, fn: Callable[[Module], Any]) -> Module:
        """Call a function on this module and on all modules inside it."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _each(self, convert: Callable[[Tensor], Tensor]) -> Module:
        with no_grad():
            for module in self.modules():
                for held in (module._parameters, module._buffers):
                    for name, value in held.items():
                        if value is None:
                            continue
                        if isinstance(value, Parameter):
                            value.data = convert(value.data)
                            if value.grad is not None:
                                value.grad = convert(value.grad)
                        else:
                            held[name] = convert(value)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Module:
        """The module with another dtype."""
        return self._each(lambda t: t.to(*args, **kwargs) if t.dtype.kind in "fc" else t)

    def double(self) -> Module:
        """The module in double precision."""
        return self.to(_double())

    def float(self) -> Module:
        """The module in single precision."""
        return self.to(_single())

    def cpu(self) -> Module:
        """The module itself."""
        return self

    def train(self, mode: bool = True) -> Module:
        """Make modules such as dropout behave as in training, or not."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Module:
        """Make modules such as dropout behave as after training."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Whether gradients are computed for the parameters."""
        for value in self.parameters():
            value.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of the parameters."""
        for value in self.parameters():
            if value.grad is not None:
                if set_to_none:
                    value.grad = None
                else:
                    value.grad = value.grad.detach() * 0

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> dict[str, Tensor]:
        """The values of all parameters and buffers, by name."""
        found = OrderedDict()
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=False):
            for held in (module._parameters, module._buffers):
                for name, value in held.items():
                    if value is not None and name not in module._transient:
                        found[f"{path}.{name}" if path else name] = value
        return OrderedDict((n, v if keep_vars else v.detach()) for n, v in found.items())

    def load_state_dict(self, state_dict: Any, strict: bool = True) -> Any:
        """Take over values by name."""
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        if strict and (missing or unexpected):
            raise RuntimeError(
                f"load_state_dict(): missing names {missing}, unexpected names {unexpected}"
            )
        for name, value in own.items():
            if name in state_dict and state_dict[name].shape != value.shape:
                raise RuntimeError(
                    f"load_state_dict(): size mismatch for {name}: copying a param with shape "
                    f"{state_dict[name].shape}, the shape in current model is {value.shape}"
                )
        with no_grad():
            for name, value in own.items():
                if name in state_dict:
                    value.copy_(state_dict[name])
        return _Incompatible(missing, unexpected)

    def _with_tensors(self, values: Any, strict: bool, ties: bool, args: Any, kwargs: Any) -> Any:
        """Call the module with other tensors for some of its own."""
        places = {}
        for path, module in self.named_modules():
            for held in (module._parameters, module._buffers):
                for name in held:
                    places[f"{path}.{name}" if path else name] = (held, name)
        unknown = [name for name in values if name not in places]
        missing = [name for name in places if name not in values]
        if unknown or (strict and missing):
            raise RuntimeError(
                f"functional_call(): unexpected names {unknown}, missing names {missing}"
            )
        old = {name: held[key] for name, (held, key) in places.items()}
        tied = {}
        if ties:  # the same parameter under another name
            tied = {id(v): values[n] for n, v in old.items() if n in values and v is not None}
        try:
            for name, (held, key) in places.items():
                if name in values:
                    held[key] = values[name]
                elif id(old[name]) in tied:
                    held[key] = tied[id(old[name])]
            return self(*args, **kwargs)
        finally:
            for name, (held, key) in places.items():
                held[key] = old[name]

    # --- hooks ---

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, args)` before each call."""
        return RemovableHandle(self._before, hook)

    def register_forward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, args, result)` after each call."""
        return RemovableHandle(self._after, hook)

    def register_full_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when both have been computed."""
        return RemovableHandle(self._around, hook)

    def extra_repr(self) -> str:
        """What the name of the module is followed by in print."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {module!r}" for name, module in self.named_children()]
        inside = self.extra_repr()
        if lines:
            inside = (
                "\n  "
                + "\n".join([inside, *lines] if inside else lines).replace("\n", "\n  ")
                + "\n"
            )
        return f"{type(self).__name__}({inside})"


def _double() -> Any:
    from ..dtypes import float64

    return float64


def _single() -> Any:
    from ..dtypes import float32

    return float32
