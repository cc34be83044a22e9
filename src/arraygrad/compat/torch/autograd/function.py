"""`torch.autograd.Function`: arraygrad's, with PyTorch's tensors in and out.

For each subclass there is one of arraygrad's, which calls the user's methods on tensors.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from ....arrays.batched import Batched
from ....arrays.dual import Dual
from ....arrays.tensor import Tensor as Native
from ....autograd import function as native
from ....autograd.context import FunctionCtx as NativeCtx
from ....autograd.forward_ad import open_levels
from ....core.array import Array
from ....core.memory import owner_of
from ....core.modes import no_grad
from ....core.nodes import recorder
from ..handles import Tensor, new, origin_of, unwrap, wrap
from ..random import current_randomness
from ..views import how_now, note_view
from .context import FunctionCtx

Rule = Callable[..., Any]

# Which results of the `forward` that ran last are views; None if none of them is.
_views: ContextVar[list[bool] | None] = ContextVar("arraygrad_function_views", default=None)


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
        warnings.warn(
            f"{type(self).__name__} should not be instantiated: its methods are static, and "
            f"{type(self).__name__}.apply(...) calls it",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated: make forward "
            f"and backward static methods, and call {type(self).__name__}.apply(...)"
        )

    def __getattr__(self, name: str) -> Any:
        if name in ("metadata", "name", "next_functions", "register_hook", "_register_hook_dict"):
            raise RuntimeError(
                f"Attribute {name!r} is invalid for an instance of a Function: the underlying "
                "PyNode has already been deallocated. Use the grad_fn of a result of apply()"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result. The subclass defines it."""
        raise NotImplementedError("You must implement the forward function of a Function")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what `backward` needs. The subclass may define it."""
        raise NotImplementedError("setup_context is not implemented")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the arguments. The subclass defines it."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method of a Function to differentiate "
            "it; for forward mode, you must implement the jvp function, or one of these"
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangents of the results. The subclass may define it."""
        raise NotImplementedError("You must implement the jvp function of a Function")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Compute on a batch. The subclass may define it."""
        raise NotImplementedError(
            "To use a Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True"
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        made = cls.__dict__.get("_native")
        if made is None:
            made = cls._native = _native_of(cls)
            cls._backward_cls = made.context
        if kwargs or len(args) < made.takes:  # type: ignore[union-attr]
            args = _bound(cls, args, kwargs)
        arrays = []
        for a in args:
            array = a._t if isinstance(a, Tensor) else a
            if type(array) is not Native and isinstance(array, Array):
                _check_transformed(cls, array)
            arrays.append(array)
        try:
            result = made.apply(*arrays)
        except native.SetupContextError as error:
            raise _no_setup_context(cls) from error
        views = _views.get()
        if views is not None:
            _views.set(None)
        if not isinstance(result, tuple):
            if not isinstance(result, Array):
                return result
            recorded = getattr(result, "_node", None) is not None
            if views is None and recorded and origin_of(result) is None:
                for a in arrays:
                    if a is result:
                        break
                else:  # as most often, it is new
                    tensor = new(Tensor)
                    tensor._t = result
                    return tensor
        known = {id(a._t): a for a in args if isinstance(a, Tensor)}
        if not isinstance(result, tuple):
            one = _result(result, known, "function")
            if views is not None and views[0]:
                one._how = how_now("function")
            return one
        how = "several" if len(result) > 1 else "function"
        found = [_result(r, known, how) for r in result]
        for i, r in enumerate(result):  # what is one result stays one
            for k in range(i):
                if r is result[k] and isinstance(r, Array):
                    found[i] = found[k]
        for part, is_view in zip(found, views or (), strict=False):
            if is_view:
                part._how = how_now(how)
        return tuple(found)


InplaceFunction = Function
BackwardCFunction = FunctionCtx


def _check_transformed(cls: type[Function], array: Any) -> None:
    """Raise if an array of a transform meets a function that is not made for transforms."""
    batched = False
    while isinstance(array, Array):
        if isinstance(array, Batched):
            batched = True
        is_own = isinstance(array, Dual) and any(array.level == o.level for o in open_levels())
        if not isinstance(array, Native) and not is_own:
            if cls.setup_context is Function.setup_context:
                raise _no_setup_context(cls)
        array = array.primal if isinstance(array, Dual) else array._array
    if batched and cls.vmap is Function.vmap and not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support: implement "
            "the vmap staticmethod, or set generate_vmap_rule=True"
        )


def _no_setup_context(cls: type[Function]) -> RuntimeError:
    return native.SetupContextError(
        f"the autograd.Function {cls.__name__} must override the setup_context staticmethod to be "
        "used in transforms of torch.func"
    )


def _bound(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments by position."""
    own = inspect.signature(cls.forward)
    apart = cls.setup_context is not Function.setup_context
    bound = own.bind(*args, **kwargs) if apart else own.bind(None, *args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise NotImplementedError(
            f"{cls.__name__}.forward has kwarg-only Tensor args {sorted(bound.kwargs)}, but "
            "backward returns one gradient for each argument in order: make them positional"
        )
    return bound.args if apart else bound.args[1:]


def _result(value: Any, known: dict[int, Tensor], how: str) -> Any:
    """A result as a tensor: the argument itself, if it was changed in place."""
    if isinstance(value, Array):
        found = known.get(id(value))
        made = wrap(value) if found is None else found
        view = getattr(value, "_view", None)
        if found is None and view is not None:
            source = known.get(id(view.base))
            if source is not None:
                note_view(made, source, how)
        return made
    return value


def _native_of(cls: type[Function]) -> type[native.Function]:
    """The function of arraygrad that calls the methods of one of PyTorch's."""
    apart = cls.setup_context is not Function.setup_context
    pushes = cls.jvp is not Function.jvp
    rule = cls.backward if cls.backward is not Function.backward else cls.vjp
    twice = rule is not cls.vjp and cls.vjp is not Function.vjp

    def forward(*args: Any) -> Any:
        given = list(map(_argument, args))
        found = cls.forward(*given)
        if type(found) is Tensor and not hasattr(found, "_of") and _views.get() is None:
            if apart or not (pushes or given[0]._dirty):  # one result, which is no view
                return found._t
        parts = found if isinstance(found, tuple | list) else (found,)
        views = [isinstance(p, Tensor) and hasattr(p, "_of") for p in parts]
        if True in views or _views.get() is not None:
            _views.set(views if True in views else None)
        if not apart and (pushes or given[0]._dirty):
            inputs = unwrap(given[1:])
            _check_dirty(given[0], inputs, unwrap(parts))
            given[0].viewed = _shared(parts, inputs, given[0])
        return found._t if type(found) is Tensor else unwrap(found)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        # Inputs that come back as outputs are the same objects.
        made = {id(i): _argument(i) for i in inputs if isinstance(i, Array | np.ndarray)}

        def shown_value(value: Any) -> Any:
            return made.get(id(value), _argument(value))

        many = isinstance(output, tuple | list)
        outputs = tuple(map(shown_value, output)) if many else shown_value(output)
        shown = tuple(map(shown_value, inputs))
        cls.setup_context(ctx, shown, outputs)
        parts = outputs if many else (outputs,)
        given = unwrap(shown)
        _check_dirty(ctx, given, unwrap(parts))
        _check_saved(ctx, given, unwrap(parts))
        if pushes:
            ctx.viewed = _shared(parts, given, ctx)

    def backward(ctx: Any, *grads: Any) -> Any:
        if twice:
            raise RuntimeError(
                f"Implementing both 'backward' and 'vjp' for {cls.__name__} is not allowed: define "
                "one of them"
            )
        if not ctx._materialize_non_diff_grads:
            constant = ctx._constant_places
            grads = tuple(None if i in constant else g for i, g in enumerate(grads))
        if cls.boxed_grads_call:
            return unwrap(rule(ctx, [_argument(g) for g in grads[0]]))
        found = rule(ctx, *map(_argument, grads))
        return found._t if type(found) is Tensor else unwrap(found)

    def jvp(ctx: Any, *tangents: Any) -> Any:
        given = [_argument(t) for t in tangents]
        found = cls.jvp(ctx, *given)
        _check_tangents(ctx, given, found if isinstance(found, tuple | list) else (found,))
        return unwrap(found)

    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        info = info._replace(randomness=current_randomness())
        found = cls.vmap(info, in_dims, *map(_argument, args))
        expected = "Expected the vmap staticmethod to have two returns, an output and out_dims"
        if not isinstance(found, tuple):
            raise RuntimeError(f"{expected}. Got a {type(found).__name__} instead")
        if len(found) != 2:
            raise RuntimeError(f"{expected}. Got {len(found)} returns instead")
        output, out_dims = found
        many, several = isinstance(output, tuple | list), isinstance(out_dims, tuple | list)
        if several and (not many or len(out_dims) != len(output) or type(output) is list):
            raise RuntimeError(
                f"The vmap staticmethod of {cls.__name__} returned an incompatible (output, "
                f"out_dims) tuple: out_dims={out_dims} is not of the structure of the output"
            )
        return unwrap(output), out_dims

    code = getattr(cls.forward, "__code__", None)
    members: dict[str, Any] = {
        "user": cls,
        "takes": code.co_argcount if apart and code is not None else 0,  # arguments by position
        "clear_saved_tensors_on_access": cls.clear_saved_tensors_on_access,
        "boxed_grads_call": cls.boxed_grads_call,
        "forward": staticmethod(forward),
        "backward": staticmethod(backward),
        "context": type(f"{cls.__name__}Backward", (FunctionCtx,), {}),
    }
    if apart:
        members["setup_context"] = staticmethod(setup_context)
    if pushes:
        members["jvp"] = staticmethod(jvp)
    if cls.vmap is not Function.vmap:
        if cls.generate_vmap_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True "
                "and an overridden vmap staticmethod: keep one of them"
            )
        members["vmap"] = staticmethod(vmap)
    return type(cls.__name__, (native.Function,), members)


def _argument(value: Any) -> Any:
    if isinstance(value, Array):
        made = new(Tensor)
        made._t = value
        return made
    return wrap(value) if isinstance(value, _NUMPY) else value


_NUMPY = (np.ndarray, np.generic)


# --- what PyTorch checks -------------------------------------------------------------------------


def _check_dirty(ctx: Any, inputs: Any, outputs: Any) -> None:
    """Forget what was marked as dirty and is no input, with a warning.

    The rest must be returned, and of a function with several results, it must not be a view.
    """
    if not ctx._dirty:
        return
    own = tuple(d for d in ctx._dirty if any(d is i for i in inputs))
    if len(own) < len(ctx._dirty):
        warnings.warn(
            "Only input Tensors should be given to ctx.mark_dirty(): others need not be marked",
            stacklevel=2,
        )
        ctx._dirty = own
    if not all(any(d is o for o in outputs) for d in own):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output: "
            "return all inputs that are modified inplace"
        )
    if len(outputs) > 1 and any(getattr(d, "_view", None) is not None for d in own):
        raise RuntimeError(
            "your Function modifies inplace an input that is a view of another Tensor, and returns "
            "several results, which is forbidden: give it a clone() of the view"
        )


def _check_saved(ctx: Any, inputs: Any, outputs: Any) -> None:
    """Raise if `setup_context` saves an input that `forward` returned as it is."""
    saved = [*ctx._pending, *(ctx._for_forward or ())]
    for value in saved:
        is_input = any(value is i for i in inputs)
        is_output = any(value is o for o in outputs)
        if value is not None and is_input and is_output and not any(value is d for d in ctx._dirty):
            raise RuntimeError(
                "An input that has been returned as-is as output is being saved for backward, "
                "which setup_context cannot do: return a view of it, x.view_as(x), from forward"
            )


def _shared(outputs: Any, inputs: Any, ctx: Any) -> dict[int, tuple[int, bool]]:
    """Which outputs are on the memory of which inputs, and whether they were changed in place."""
    found = {}
    for i, output in enumerate(outputs):
        mine = _memory(output._t) if isinstance(output, Tensor) else None
        for k, value in enumerate(inputs):
            if mine is not None and mine is _memory(value):
                found[i] = k, any(output._t is d for d in ctx._dirty)
    return found


def _memory(array: Any) -> Any:
    while isinstance(array, Array):
        array = array.primal if isinstance(array, Dual) else array._array
    return owner_of(array) if isinstance(array, np.ndarray) else None


def _check_tangents(ctx: Any, tangents: list[Any], found: Any) -> None:
    """Raise if `jvp` does not treat the memory of tangents as `forward` treats that of values."""
    for i, (source, dirty) in ctx.__dict__.get("viewed", {}).items():
        given = tangents[source]
        got = found[i] if i < len(found) else None
        if not isinstance(given, Tensor) or not isinstance(got, Tensor):
            continue
        if dirty:
            if got is not given:
                raise RuntimeError(
                    "An inplace custom Function is not modifying the forward mode gradients "
                    "inplace: its jvp function must modify the corresponding gradient inplace"
                )
        elif not hasattr(got, "_of"):
            raise RuntimeError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp "
                "is not returning a view: return a view of the tangent"
            )
        elif _memory(got._t) is not _memory(given._t):
            raise RuntimeError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp "
                "is not returning a view of the given tangent, i.e. jvp is not returning a view of "
                "the same base"
            )
    for i, value in enumerate(found):
        if value is not None and i in ctx._constant_places:
            raise RuntimeError(
                f"jvp returned a tangent for output {i}, which is marked as non-differentiable: "
                "You should return None at that position instead"
            )


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
