"""`Module`: an object with parameters, buffers and modules, that is called like a function."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ....core.nodes import RemovableHandle
from ..autograd import no_grad
from ..dtypes import NAMED
from ..handles import Tensor
from .around import Around
from .parameter import Buffer, Parameter

__all__ = ["Module"]


class _Incompatible(NamedTuple):
    """What `load_state_dict` did not find, and what it has no place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        found = zip(self._fields, self, strict=True)
        return f"_IncompatibleKeys({', '.join(f'{name}={keys}' for name, keys in found)})"


class Module:
    """Base class of layers and networks: a subclass defines `forward`."""

    training: bool
    # The types of parameters, buffers and calls with hooks; another system has its own.
    _parameter: Any = Parameter
    _buffer: Any = Tensor
    _around_call: Any = Around
    _misfit: type[Exception] = RuntimeError  # what a state that does not fit raises
    # What a compiled function that uses the module looks at before each call.
    __guarded__ = ("__dict__", "forward")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__dict__["_parameters"] = OrderedDict()
        self.__dict__["_buffers"] = OrderedDict()
        self.__dict__["_modules"] = OrderedDict()
        self.__dict__["_transient"] = set()
        for place in _HOOKS.split():
            self.__dict__[place] = {}
        self.training = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result. The subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} must define forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (self._before or self._around or self._around_before or self._after):
            return self.forward(*args, **kwargs)
        done: set[int] = set()
        try:
            return self._call(args, kwargs, done)
        except Exception:
            for key, (hook, takes, always) in list(self._after.items()):
                if always and key not in done:
                    with suppress(Exception):
                        hook(self, args, *((kwargs,) if takes else ()), None)
            raise

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], done: set[int]) -> Any:
        """Call `forward` with all hooks. `done` gets the numbers of those that ran after it."""
        for hook, takes in list(self._before.values()):
            changed = hook(self, args, *((kwargs,) if takes else ()))
            if changed is None:
                continue
            if takes:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {changed}."
                    )
                args, kwargs = changed
            else:
                args = changed if isinstance(changed, tuple) else (changed,)
        around = None
        if self._around or self._around_before:
            around = self._around_call(self, self._around_before.values(), self._around.values())
            args = around.enter(args)
        result = self.forward(*args, **kwargs)
        for key, (hook, takes, _) in list(self._after.items()):
            done.add(key)
            changed = hook(self, args, *((kwargs,) if takes else ()), result)
            result = result if changed is None else changed
        return result if around is None else around.leave(result)

    # --- its parts are attributes ---

    def __setattr__(self, name: str, value: Any) -> None:
        parts = self.__dict__.get("_parameters")
        if isinstance(value, self._parameter | Module) and parts is None:
            raise AttributeError("call Module.__init__() before the parts of a module are assigned")
        if parts is None:
            super().__setattr__(name, value)
            return
        if isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
            return
        own, tensor = self._parameter, self._buffer
        kinds: Any = (("_parameters", own), ("_modules", Module), ("_buffers", tensor))
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
            if name in held:
                raise TypeError(
                    f"cannot assign {type(value).__name__} as {name!r}: it is a "
                    f"{kind.__name__}, or None"
                )
        super().__setattr__(name, value)  # which finds properties

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

    def _check_name(self, name: Any, place: str, kind: str) -> None:
        """Raise if a part of a kind cannot have a name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[place]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter."""
        self._check_name(name, "_parameters", "parameter")
        if param is not None and not isinstance(param, self._parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and not param.is_leaf:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                "created explicitly."
            )
        self.__dict__["_parameters"][name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the module and is no parameter."""
        self._check_name(name, "_buffers", "buffer")
        if tensor is not None and not isinstance(tensor, self._buffer):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self.__dict__["_buffers"][name] = tensor
        if persistent:
            self.__dict__["_transient"].discard(name)
        else:
            self.__dict__["_transient"].add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name(name, "_modules", "module")
        self.__dict__["_modules"][name] = module

    register_module = add_module

    # --- iterating over parts ---

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules that are parts of this one."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

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
        for name, module in self._modules.items():
            if module is not None:
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
            if not hasattr(found, part):
                raise AttributeError(f"{type(found).__name__} has no attribute `{part}`")
            found = getattr(found, part)
            if not isinstance(found, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return found  # type: ignore[no-any-return]

    def _part(self, target: str, place: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if name not in owner.__dict__[place]:
            raise AttributeError(f"{type(owner).__name__} has no {kind} `{name}`")
        return owner.__dict__[place][name]

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path such as `"0.weight"`."""
        return self._part(target, "_parameters", "parameter")  # type: ignore[no-any-return]

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path."""
        return self._part(target, "_buffers", "buffer")  # type: ignore[no-any-return]

    def get_extra_state(self) -> Any:
        """What else to save, and give to `set_extra_state`. A subclass may define both."""
        raise RuntimeError("a module with an extra state defines get_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        """Take over what `get_extra_state` gave."""
        raise RuntimeError("a module with an extra state defines set_extra_state()")

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
                        if isinstance(value, self._parameter):
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
        return self.to(NAMED["double"])

    def float(self) -> Module:
        """The module in single precision."""
        return self.to(NAMED["float"])

    def half(self) -> Module:
        """The module in half precision."""
        return self.to(NAMED["half"])

    def type(self, dst_type: Any) -> Module:
        """The module in another dtype, integers included."""
        return self._each(lambda t: t.to(dst_type))

    def cpu(self) -> Module:
        """The module itself."""
        return self

    def share_memory(self) -> Module:
        """The module itself."""
        return self

    def train(self, mode: bool = True) -> Module:
        """Make modules such as dropout behave as in training, or not."""
        if not isinstance(mode, bool):
            raise ValueError(f"training mode is expected to be boolean, not {mode!r}")
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

    # --- saving ---

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """The values of all parameters and buffers, by name."""
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        about = {"version": getattr(self, "_version", 1)}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = about
        for hook in self._save_before.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._save_after.values():
            hook(self, destination, prefix, about)
        return destination

    def _own_state(self) -> dict[str, Any]:
        """The parameters and buffers that are saved, of this module alone."""
        held = {**self._parameters, **self._buffers}
        return {n: v for n, v in held.items() if v is not None and n not in self._transient}

    def _has_extra_state(self) -> bool:
        return type(self).get_extra_state is not Module.get_extra_state

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, value in self._own_state().items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if self._has_extra_state():
            destination[f"{prefix}_extra_state"] = self.get_extra_state()

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Take over values by name: all of them, or, if something does not fit, none.

        With `assign`, the tensors themselves are taken, in their dtypes.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        given, about = OrderedDict(state_dict), getattr(state_dict, "_metadata", {})
        missing: list[str] = []
        errors: list[str] = []
        known: set[str] = set()
        todo: list[Callable[[], None]] = []
        for path, module in self.named_modules(remove_duplicate=False):
            prefix = f"{path}." if path else ""
            for hook in module._load_before.values():
                hook(module, given, prefix, about.get(path, {}), strict, missing, [], errors)
            for name, value in module._own_state().items():
                full = prefix + name
                known.add(full)
                if full not in given:
                    missing.append(full)
                elif not isinstance(given[full], self._buffer):
                    errors.append(
                        f"While copying the parameter named {full!r}, expected torch.Tensor or "
                        f"Tensor-like object from checkpoint but received {type(given[full])}"
                    )
                elif given[full].shape != value.shape:
                    errors.append(
                        f"size mismatch for {full}: copying a param with shape "
                        f"{given[full].shape} from checkpoint, the shape in current model is "
                        f"{value.shape}."
                    )
                else:
                    todo.append(_taken(module, name, value, given[full], assign))
            if module._has_extra_state():
                full = f"{prefix}_extra_state"
                known.add(full)
                if full in given:
                    todo.append(functools.partial(module.set_extra_state, given[full]))
                else:
                    missing.append(full)
        unexpected = [name for name in given if name not in known]
        if strict:
            for word, names in (("Unexpected", unexpected), ("Missing", missing)):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    errors.insert(0, f"{word} key(s) in state_dict: {listed}. ")
        if errors:
            listed = "\n\t".join(errors)
            raise self._misfit(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}"
            )
        with no_grad():
            for take in todo:
                take()
        found = _Incompatible(missing, unexpected)
        for module in self.modules():
            for hook in module._load_after.values():
                hook(module, found)
        return found

    def _with_tensors(self, values: Any, strict: bool, ties: bool, args: Any, kwargs: Any) -> Any:
        """Call the module with other tensors for some of its own."""
        places = {}
        for path, module in self.named_modules():
            for held in (module._parameters, module._buffers):
                for name in held:
                    places[f"{path}.{name}" if path else name] = (held, name)
        unknown = [name for name in values if name not in places]
        missing = [name for name in places if name not in values]
        if strict and (unknown or missing):
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

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)`, or `hook(module, args, kwargs)`, before each call."""
        return _added(self._before, hook, prepend, with_kwargs)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, result)` after each call; `always_call`: also after an error."""
        return _added(self._after, hook, prepend, with_kwargs, always_call)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the gradients of the results are known."""
        return _added(self._around_before, hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when both have been computed."""
        return _added(self._around, hook, prepend)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before the state is taken."""
        return _added(self._save_before, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` when the state is taken."""
        return _added(self._save_after, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, ...)` before values are taken over."""
        return _added(self._load_before, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` when values have been taken over."""
        return _added(self._load_after, hook)

    def extra_repr(self) -> str:
        """What the name of the module is followed by in print."""
        return ""

    def _lines(self) -> list[str]:
        return [f"({name}): {module!r}" for name, module in self._modules.items()]

    def __repr__(self) -> str:
        lines = self._lines()
        inside = self.extra_repr()
        if lines:
            inside = (
                "\n  "
                + "\n".join([inside, *lines] if inside else lines).replace("\n", "\n  ")
                + "\n"
            )
        return f"{type(self).__name__}({inside})"


_HOOKS = "_before _after _around_before _around _save_before _save_after _load_before _load_after"


def _added(hooks: dict[int, Any], hook: Any, prepend: bool = False, *more: Any) -> RemovableHandle:
    """Add a hook, with what else is known of it, at the end or at the front."""
    handle = RemovableHandle(hooks, hook)
    if more:
        hooks[handle._key] = (hook, *more)
    if prepend:
        rest = {key: value for key, value in hooks.items() if key != handle._key}
        first = hooks[handle._key]
        hooks.clear()
        hooks.update({handle._key: first, **rest})
    return handle


def _taken(module: Module, name: str, own: Any, given: Any, assign: bool) -> Callable[[], None]:
    """What puts a value in the place of a parameter or buffer."""
    if not assign:
        return lambda: own.copy_(given)
    place = module._parameters if name in module._parameters else module._buffers
    if isinstance(own, Parameter) and not isinstance(given, Parameter):
        return lambda: place.update({name: Parameter(given, own.requires_grad)})
    return lambda: place.update({name: given})
