"""`torch.autograd.Function`: arraygrad's, with PyTorch's tensors in and out.

For each subclass there is one of arraygrad's, which calls the user's methods on tensors.
"""

from __future__ import annotations

import functools
import inspect
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ....arrays.batched import Batched
from ....arrays.dual import Dual
from ....autograd import function as native
from ....autograd.context import FunctionCtx as NativeCtx
from ....autograd.forward_ad import _open
from ....core.array import Array
from ....core.modes import no_grad
from ....core.nodes import Leaf, RemovableHandle, recorder
from ..handles import Tensor, name_of, new, unwrap, wrap
from ..random import current_randomness
from .nodes import Node, on_tensors, shown_edges

Rule = Callable[..., Any]


class FunctionCtx(NativeCtx):
    """The `ctx` that `forward` and `backward` share, which is also the node of the call."""

    def save_for_backward(self, *tensors: Any) -> None:
        super().save_for_backward(*map(unwrap, tensors))
        self._own = [weakref.ref(t) if isinstance(t, Tensor) else None for t in tensors]

    def save_for_forward(self, *tensors: Any) -> None:
        super().save_for_forward(*map(unwrap, tensors))

    def mark_dirty(self, *tensors: Any) -> None:
        super().mark_dirty(*map(unwrap, tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        super().mark_non_differentiable(*map(unwrap, tensors))

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        found = super().saved_tensors
        own = self.__dict__.get("_own", ())
        if len(own) != len(found):
            return tuple(map(wrap, found))
        return tuple(a if a is None else _known(a, r) for a, r in zip(found, own, strict=True))

    @property
    def next_functions(self) -> Any:
        return shown_edges(NativeCtx.next_functions.fget(self))  # type: ignore[attr-defined]

    def register_hook(self, hook: Any) -> RemovableHandle:
        return super().register_hook(on_tensors(hook))

    def register_prehook(self, hook: Any) -> RemovableHandle:
        return super().register_prehook(on_tensors(hook))

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn(
            "saved_variables is deprecated: use saved_tensors", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    def name(self) -> str:
        return type(self).__name__

    def _sequence_nr(self) -> int:
        return int(self.number)

    def __call__(self, *grads: Any) -> Any:
        pullback: Any = self.pullback
        function = pullback.function.user
        return function.backward(self, *grads)


Node.register(FunctionCtx)


def _known(array: Any, reference: Any) -> Any:
    """A saved tensor: the object that was saved, if it lives and has not changed since."""
    saved = None if reference is None else reference()
    if saved is not None:
        mine = saved._t
        same = getattr(mine, "_array", None) is getattr(array, "_array", mine)
        if same and getattr(mine, "_node", None) is getattr(array, "_node", None):
            return saved
    node = getattr(array, "_node", None)
    if isinstance(node, Leaf) and node.variable._array is array._array:
        return name_of(node.variable)
    return wrap(array)


class Function:
    """Base class for functions whose derivatives you define by static methods.

    `forward(ctx, *args)` computes, or `forward(*args)` and `setup_context(ctx, inputs, output)`;
    `backward(ctx, *grad_outputs)` returns a gradient, or None, for each argument; `jvp` and `vmap`
    are optional.
    """

    clear_saved_tensors_on_access = False
    boxed_grads_call = False
    generate_vmap_rule = False
    _native: type[native.Function] | None = None
    _backward_cls: type[NativeCtx]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            f"{type(self).__name__} is not instantiated: its methods are static, and "
            f"{type(self).__name__}.apply(...) calls it"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result. The subclass defines it."""
        raise NotImplementedError("a Function must define forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what `backward` needs. The subclass may define it."""
        raise NotImplementedError("setup_context is not defined")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the arguments. The subclass defines it."""
        raise NotImplementedError("a Function must define backward (or vjp) to be differentiated")

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangents of the results. The subclass may define it."""
        raise NotImplementedError("a Function must define jvp for forward mode")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Compute on a batch. The subclass may define it."""
        raise NotImplementedError("a Function must define vmap, or set generate_vmap_rule = True")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        made = cls.__dict__.get("_native")
        if made is None:
            made = cls._native = _native_of(cls)
            cls._backward_cls = made.context
        if kwargs or _has_defaults(cls, len(args)):
            args = _bound(cls, args, kwargs)
        arrays = [a._t if isinstance(a, Tensor) else a for a in args]
        if cls.setup_context is Function.setup_context and any(map(_is_transformed, arrays)):
            raise RuntimeError(
                f"{cls.__name__} must override setup_context to be used in transforms of torch.func"
            )
        result = made.apply(*arrays)
        known = {id(a._t): a for a in args if isinstance(a, Tensor)}
        if isinstance(result, tuple):
            return tuple(_result(r, known) for r in result)
        return _result(result, known)


InplaceFunction = Function


def _is_transformed(value: Any) -> bool:
    """Whether a value belongs to a transform, and not to a level of `forward_ad`."""
    if isinstance(value, Dual):
        return all(value.level != opened.number for opened in _open())
    return isinstance(value, Batched)


def _has_defaults(cls: type[Function], count: int) -> bool:
    """Whether `forward` takes more arguments by position than are given."""
    code = getattr(cls.forward, "__code__", None)
    apart = cls.setup_context is not Function.setup_context
    return apart and code is not None and count < code.co_argcount


def _bound(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments by position."""
    own = inspect.signature(cls.forward)
    apart = cls.setup_context is not Function.setup_context
    bound = own.bind(*args, **kwargs) if apart else own.bind(None, *args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            f"{cls.__name__}.forward has keyword-only parameters {sorted(bound.kwargs)}, but "
            "backward returns one gradient for each argument in order: make them positional"
        )
    return bound.args if apart else bound.args[1:]


def _result(value: Any, known: dict[int, Tensor]) -> Any:
    """A result as a tensor: the argument itself, if it was changed in place."""
    if isinstance(value, Array):
        found = known.get(id(value))
        made = wrap(value) if found is None else found
        view = getattr(value, "_view", None)
        if found is None and view is not None:
            source = known.get(id(view.base))
            if source is not None:
                made._of = source
        return made
    return value


def _native_of(cls: type[Function]) -> type[native.Function]:
    """The function of arraygrad that calls the methods of one of PyTorch's."""

    def forward(*args: Any) -> Any:
        return unwrap(cls.forward(*map(_argument, args)))

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        # Inputs that come back as outputs are the same objects.
        made = {id(i): _argument(i) for i in inputs if isinstance(i, Array)}

        def shown_value(value: Any) -> Any:
            return made.get(id(value), _argument(value))

        many = isinstance(output, tuple | list)
        outputs = tuple(map(shown_value, output)) if many else shown_value(output)
        cls.setup_context(ctx, tuple(map(shown_value, inputs)), outputs)

    def backward(ctx: Any, *grads: Any) -> Any:
        rule = cls.backward if cls.backward is not Function.backward else cls.vjp
        if rule is not cls.vjp and cls.vjp is not Function.vjp:
            raise RuntimeError(f"{cls.__name__} defines both backward and vjp: only one")
        if cls.boxed_grads_call:
            return unwrap(rule(ctx, [_argument(g) for g in grads[0]]))
        return unwrap(rule(ctx, *map(_argument, grads)))

    def jvp(ctx: Any, *tangents: Any) -> Any:
        return unwrap(cls.jvp(ctx, *map(_argument, tangents)))

    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        info = info._replace(randomness=current_randomness())
        found = cls.vmap(info, in_dims, *map(_argument, args))
        if not isinstance(found, tuple) or len(found) != 2:
            raise RuntimeError(f"{cls.__name__}.vmap must return its output and the out_dims of it")
        return unwrap(found[0]), found[1]

    members: dict[str, Any] = {
        "user": cls,
        "clear_saved_tensors_on_access": cls.clear_saved_tensors_on_access,
        "boxed_grads_call": cls.boxed_grads_call,
        "forward": staticmethod(forward),
        "backward": staticmethod(backward),
        "context": type(f"{cls.__name__}Backward", (FunctionCtx,), {}),
    }
    if cls.setup_context is not Function.setup_context:
        members["setup_context"] = staticmethod(setup_context)
    if cls.jvp is not Function.jvp:
        members["jvp"] = staticmethod(jvp)
    if cls.vmap is not Function.vmap:
        if cls.generate_vmap_rule:
            raise RuntimeError(
                f"{cls.__name__} has both a vmap method and generate_vmap_rule=True: only one"
            )
        members["vmap"] = staticmethod(vmap)
    return type(cls.__name__, (native.Function,), members)


def _argument(value: Any) -> Any:
    if isinstance(value, Array):
        made = new(Tensor)
        made._t = value
        return made
    return wrap(value) if isinstance(value, np.ndarray) else value


def once_differentiable(fn: Rule) -> Rule:
    """Decorate a `backward` that cannot be differentiated: differentiating it raises."""

    @functools.wraps(fn)
    def once(ctx: Any, *grads: Any) -> Any:
        barred = native.once_differentiable(lambda ctx, *gs: unwrap(fn(ctx, *map(_argument, gs))))
        if recorder() is None:
            with no_grad():
                return fn(ctx, *grads)
        return wrap(barred(ctx, *map(unwrap, grads)))

    return once


__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


def __dir__() -> list[str]:
    return __all__
