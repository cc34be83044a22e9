"""`Function`: an op whose derivatives the user defines, in PyTorch's vocabulary.

A lighter way, a decorator for plain functions, is in `func.custom_rules`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from ..arrays.batched import Batched, batched_type
from ..arrays.dual import Dual
from ..arrays.tensor import Tensor, tensor_type_at
from ..arrays.writes.tensors import move, put_into_base
from ..arrays.writes.views import by_function
from ..backends import backend_of
from ..core import upward
from ..core.array import Array, is_transformed
from ..core.describing import describe
from ..core.levels import new_level
from ..core.memory import owner_of
from ..core.modes import no_grad, without_grad
from ..core.nodes import (
    Leaf,
    Node,
    make_outputs,
    recorder,
)
from ..ops.forward import check_tangents
from ..sweep.engine import Sweep
from .context import SEVERAL, FunctionCtx, FunctionPullback, pullback_of

if TYPE_CHECKING:
    from ..arrays.pattern import Pattern

Rule = Callable[..., Any]


class VmapInfo(NamedTuple):
    """What the `vmap` of a `Function` is told about the batch."""

    batch_size: int
    randomness: str = "error"


class Function:
    """Base class for functions whose derivatives you define.

    Subclasses define static methods, and are called by `apply`:

    - ``forward(ctx, *args)`` computes the output. Or ``forward(*args)`` computes the output and
      ``setup_context(ctx, inputs, output)`` saves values: only this form works in every transform.
    - ``backward(ctx, *grad_outputs)`` (or ``vjp``) returns one gradient, or None, per argument.
    - ``jvp(ctx, *tangents)``, optional, is the forward mode. By default, forward mode is the
      transpose of `backward`.
    - ``vmap(info, in_dims, *args)``, optional, returns ``(output, out_dims)``. By default,
      `forward` and `backward` run on batched arrays.

    Parameters
    ----------
    *args, **kwargs
        None: the class is not called, but subclassed.

    Attributes
    ----------
    clear_saved_tensors_on_access : bool
        Whether the graph lets go of the saved tensors when `backward` reads them, so that it can
        free them one by one. They can be read only once then.
    boxed_grads_call : bool
        Whether `backward(ctx, grads)` gets one list, from which it can remove gradients.

    Examples
    --------
    >>> import arraygrad as ag
    >>> class Cube(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(x):
    ...         return x**3
    ...     @staticmethod
    ...     def setup_context(ctx, inputs, output):
    ...         ctx.save_for_backward(*inputs)
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * 3 * x**2
    >>> x = ag.tensor(2.0, requires_grad=True)
    >>> ag.grad(Cube.apply(x), x)
    tensor(12.)
    """

    clear_saved_tensors_on_access = False
    boxed_grads_call = False
    context: type[FunctionCtx] = FunctionCtx
    setup_context: Rule | None = None
    vmap: Rule | None = None
    jvp: Rule | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            f"{type(self).__name__} is not instantiated: its methods are static, and "
            f"{type(self).__name__}.apply(...) calls it"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result. The subclass defines it."""
        raise NotImplementedError("a Function must define forward")

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Any, **_: Any) -> Any:  # so any override fits
        """Compute the gradients of the arguments. The subclass defines it."""
        raise NotImplementedError(
            "a Function must define backward (or vjp) to be differentiated in reverse mode"
        )

    vjp = backward

    @classmethod
    def reverse_rule(cls) -> Rule:
        """`backward`, under either of its names."""
        return cls.backward if cls.backward is not Function.backward else cls.vjp

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        if kwargs or (cls.setup_context and _has_defaults(cls.forward, len(args))):
            args = _positional(cls, args, kwargs)
        level: float = 0  # that of what lies below all transforms
        for value in args:
            if isinstance(value, Array) and value.level > level:
                level, top = value.level, type(value)
        if not level:
            ctx = cls.context(cls, (), (), len(args))
            return _compute(cls, ctx, args)
        if issubclass(top, Tensor):
            return _record(cls, level, args)[0]
        if issubclass(top, Dual):
            return _push(cls, top, args)
        if issubclass(top, Batched):
            return _batch(cls, top, args)
        from ..arrays.pattern import Pattern  # which only sparse derivatives need

        if issubclass(top, Pattern):
            return _follow(cls, top, args)
        raise TypeError(
            f"{cls.__name__}, an autograd.Function, cannot be called inside a loop of a compiled "
            "function, which is traced before it is differentiated: write it with func.custom"
        )


def once_differentiable(backward: Rule) -> Rule:
    """Decorate a `backward` that cannot be differentiated: differentiating it raises.

    Parameters
    ----------
    backward : callable
        The method, below ``@staticmethod``.

    Examples
    --------
    >>> import arraygrad as ag
    >>> class Square(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     @ag.autograd.once_differentiable
    ...     def backward(ctx, g):
    ...         return 2 * g * ctx.saved_tensors[0]
    >>> x = ag.tensor(3.0, requires_grad=True)
    >>> ag.grad(Square.apply(x), x)
    tensor(6.)
    """

    @functools.wraps(backward)
    def once(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        with no_grad():
            results = backward(ctx, *grad_outputs)
        if recorder() is None:
            return results
        many = isinstance(results, tuple | list)
        edges = [g._node for g in grad_outputs if isinstance(g, Tensor) and g._node is not None]
        edges += ctx.edges
        barred = []
        for result in results if many else (results,):
            if not isinstance(result, Tensor):
                barred.append(result)
                continue
            node = Node(_ONCE, tuple(edges), (), result.shape, result.dtype)
            barred.append(result.like(result.array, node))
        return tuple(barred) if many else barred[0]

    return once


describe([once_differentiable], {}, {"Rule": "callable | The method."}, {})


def _refuse(sweep: Sweep, node: Node, g: Any) -> Any:
    raise RuntimeError(
        "a backward marked with @once_differentiable was differentiated: its gradient cannot be "
        "taken again"
    )


_ONCE = FunctionPullback(Function, (), 0, False)
_ONCE.name, _ONCE.backward = "OnceDifferentiable", _refuse


# --- running forward -----------------------------------------------------------------------------


def _has_defaults(forward: Rule, count: int) -> bool:
    """Whether a function takes more arguments by position than are given."""
    code = getattr(forward, "__code__", None)
    return code is not None and count < code.co_argcount


def _positional(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """All arguments by position, in the order of `backward`'s gradients."""
    import inspect

    own = inspect.signature(cls.forward)
    bound = own.bind(*args, **kwargs) if cls.setup_context else own.bind(None, *args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            f"{cls.__name__}.forward has keyword-only parameters {sorted(bound.kwargs)}, but "
            "backward returns one gradient for each argument in order: make them positional"
        )
    return bound.args if cls.setup_context else bound.args[1:]


def _compute(cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...]) -> Any:
    """Run `forward`, in either of its forms, without recording the ops inside."""
    if cls.setup_context is None:
        return without_grad(cls.forward, ctx, *args)
    return without_grad(_compute_apart, cls, ctx, args)


def _compute_apart(cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...]) -> Any:
    output = cls.forward(*args)
    cls.setup_context(ctx, args, output)  # type: ignore[misc]
    return output


class SetupContextError(RuntimeError):
    """A function with its context in `forward` met a transform."""


def _needs_setup_context(cls: type[Function]) -> None:
    if cls.setup_context is None:
        raise SetupContextError(
            f"{cls.__name__} keeps its context in forward(ctx, ...), which works for tensors but "
            "not inside transforms: define forward(*args) and setup_context(ctx, inputs, output)"
        )


def _record(cls: type[Function], level: float, args: tuple[Any, ...]) -> tuple[Any, FunctionCtx]:
    """Run the function on tensors of a level, and record it as one node, which is returned, too."""
    make = tensor_type_at(level)
    recording = recorder() is not None
    wanted, edges, deeper = [], [], False
    for i, value in enumerate(args):
        if isinstance(value, Tensor) and value.level == level:
            node = value._node
            if recording and node is not None:
                wanted.append(i)
                edges.append(node)
            value = value._array
        if type(value) is not np.ndarray:
            deeper = deeper or is_transformed(value)
    ctx = cls.context(cls, tuple(edges), tuple(wanted), len(args))
    if make is not Tensor:
        ctx._made = make
    if deeper:
        # There are transforms further out, which use the derivatives of the function, too.
        ours = [isinstance(a, Tensor) and a.level == level for a in args]
        raw = tuple(a._array if own else a for a, own in zip(args, ours, strict=True))
        if not wanted:
            lower = cls.apply(*raw)
            if isinstance(lower, tuple | list):
                return tuple(make(o) if hasattr(o, "dtype") else o for o in lower), ctx
            return make(lower) if hasattr(lower, "dtype") else lower, ctx
        _needs_setup_context(cls)
        lower = cls.apply(*raw)
        many = isinstance(lower, tuple | list)
        inputs = tuple(make(r) if own else r for r, own in zip(raw, ours, strict=True))
        # An input that comes back was changed in place, as the function is about to say.
        same = {id(r): i for r, i, own in zip(raw, inputs, ours, strict=True) if own}
        wrapped = [
            same.get(id(o), make(o) if hasattr(o, "dtype") else o)
            for o in (lower if many else (lower,))
        ]
        result = tuple(wrapped) if many else wrapped[0]
        cls.setup_context(ctx, inputs, result)  # type: ignore[misc]
    else:
        inputs = args
        result = _compute(cls, ctx, args)
        many = isinstance(result, SEVERAL)
    if not (many or ctx._dirty or ctx._constant):  # as most often, there is one new output
        return _attach_one(ctx, inputs, result, make), ctx
    outputs = tuple(result) if many else (result,)
    return _attach(ctx, args, inputs, outputs, many, make), ctx


def _attach(
    ctx: FunctionCtx,
    args: tuple[Any, ...],
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    many: bool,
    make: Any,
) -> Any:
    """The outputs as tensors whose gradients go through `ctx`.

    `inputs` are what the function was given for the arguments `args`.
    """
    dirty, constant = ctx._dirty, ctx._constant
    if constant:
        ctx._constant_places = tuple(
            i for i, o in enumerate(outputs) if any(o is c for c in constant)
        )
    for d in dirty:
        if not any(d is i for i in inputs):
            raise RuntimeError(
                f"{ctx.name()} marked something as dirty that is no input: mark_dirty() is for the "
                "inputs that forward changes in place"
            )
    if not all(any(o is d for o in outputs) for d in dirty):
        raise RuntimeError(
            f"{ctx.name()} marked a tensor as dirty that forward did not return: return every "
            "tensor that it changes in place"
        )
    if dirty:
        ctx._dirty_places = tuple(_dirty_places(ctx, outputs))
    ctx.seal(inputs, outputs)
    arrays = [o._array if isinstance(o, Tensor) and o.level == make.level else o for o in outputs]
    differentiable = [
        bool(ctx.edges) and ops.is_inexact(a) and not any(o is c for c in constant)
        for o, a in zip(outputs, arrays, strict=True)
    ]
    assert ctx.pullback is not None
    if many:
        positions, arity = ctx.pullback.positions, ctx.pullback.arity
        ctx.pullback = pullback_of(ctx.pullback.function, positions, arity, True)  # type: ignore[attr-defined]
        ctx.shape = [getattr(a, "shape", ()) for a in arrays]  # type: ignore[assignment]
        ctx.dtype = [getattr(a, "dtype", None) for a in arrays]
        nodes: list[Node] = make_outputs(ctx)
    else:
        ctx.shape, ctx.dtype = getattr(arrays[0], "shape", ()), getattr(arrays[0], "dtype", None)
        nodes = [ctx]
    results: list[Any] = []
    for output, array, node, diff in zip(outputs, arrays, nodes, differentiable, strict=True):
        again = next((r for r, o in zip(results, outputs, strict=False) if o is output), None)
        if again is not None and isinstance(output, Tensor):
            results.append(again)  # returned twice: all of its gradient goes to the first place
        elif any(output is d for d in dirty):
            output = next(a for a, i in zip(args, inputs, strict=True) if i is output)
            base = output if output._view is None else output._view.base
            if isinstance(base._node, Leaf):
                raise RuntimeError(
                    "a leaf that requires gradients was changed in place by a Function: work on a "
                    "clone() of it"
                )
            if diff and output._view is not None:
                put_into_base(output, None, node)
            elif diff:
                move(output, node)
            results.append(output)
        elif not hasattr(array, "dtype"):
            results.append(array)
        else:
            result = make(array, node if diff else None)
            source = _shared(inputs, array)
            results.append(result if source is None else _as_view(source, result))
    return tuple(results) if many else results[0]


def _attach_one(ctx: FunctionCtx, inputs: tuple[Any, ...], output: Any, make: Any) -> Any:
    """The same for the usual case of one output that is new."""
    ctx.seal(inputs, (output,))
    ours = isinstance(output, Tensor) and output.level == make.level
    array = output._array if ours else output
    dtype = getattr(array, "dtype", None)
    if dtype is None:
        ctx.shape, ctx.dtype = (), None
        return array
    ctx.shape, ctx.dtype = array.shape, dtype
    kind = dtype.kind if type(array) is np.ndarray else backend_of(array).kind(dtype)
    result = make(array, ctx if ctx.edges and kind in "fc" else None)
    source = _shared(inputs, array)
    return result if source is None else _as_view(source, result)


def _shared(inputs: tuple[Any, ...], array: Any) -> Tensor | None:
    """The first tensor, which may require gradients, that holds the memory of a NumPy array."""
    if isinstance(array, np.ndarray) and array.size:
        owner = owner_of(array)
        for value in inputs:
            if isinstance(value, Tensor) and owner_of(value._array) is owner:
                return value
    return None


def _as_view(source: Tensor, result: Tensor) -> Tensor:
    """An output of a function that shares memory with an input, as a view of it."""
    view: Tensor = source._shared((by_function, {}), source._array, result._array, result._node)
    return view


# --- the other transforms ------------------------------------------------------------------------


def _push(cls: type[Function], top: type[Dual], args: tuple[Any, ...]) -> Any:
    """Forward mode: call the function's `jvp`, or transpose its `backward`."""
    primals = tuple(a.primal if isinstance(a, top) else a for a in args)
    tangents = [a.tangent if isinstance(a, top) else None for a in args]
    output, ctx = _with_context(cls, primals)
    many = isinstance(output, tuple | list)
    outputs = tuple(output) if many else (output,)
    ctx._needs = tuple(t is not None for t in tangents)
    moving = [ops.is_inexact(o) and not any(o is c for c in ctx._constant) for o in outputs]
    if cls.jvp is not None:
        if ctx._materialize:
            tangents = [
                ops.zeros_like(p) if t is None and ops.is_inexact(p) else t
                for p, t in zip(primals, tangents, strict=True)
            ]
        pushed = cls.jvp(ctx.in_forward_mode(), *tangents)
        pushed = tuple(pushed) if isinstance(pushed, tuple | list) else (pushed,)
        check_tangents(f"{cls.__name__}.jvp", outputs, pushed)
    else:
        pushed = _transposed(cls, ctx, outputs, moving, tangents)
    results = [
        top(o, t) if m and t is not None else o
        for o, t, m in zip(outputs, pushed, moving, strict=True)
    ]
    for i in _dirty_places(ctx, outputs):
        # The argument that was changed in place takes over the result, and is returned itself.
        argument = next((a for a, p in zip(args, primals, strict=True) if p is outputs[i]), None)
        if isinstance(argument, top) and isinstance(results[i], top):
            argument._take_over(results[i])
            results[i] = argument
    return tuple(results) if many else results[0]


def _dirty_places(ctx: FunctionCtx, outputs: tuple[Any, ...]) -> list[int]:
    """Which outputs are inputs that were changed in place."""
    return [i for i, o in enumerate(outputs) if any(o is d for d in ctx._dirty)]


def _with_context(cls: type[Function], args: tuple[Any, ...]) -> tuple[Any, FunctionCtx]:
    """The function's result, and a context for its forward rule."""
    if cls.setup_context is not None:
        output = cls.apply(*args)
        ctx = cls.context(cls, (), (), len(args))
        cls.setup_context(ctx, args, output)
        return output, ctx
    arrays = [a for a in args if isinstance(a, Array)]
    if any(not isinstance(a, Tensor) or isinstance(a._array, Array) for a in arrays):
        _needs_setup_context(cls)
    if arrays:
        output, ctx = _record(cls, Tensor.level, args)
        if ctx.edges:
            ctx._for_forward = ctx._for_forward or ctx.saved_tensors
    else:
        ctx = cls.context(cls, (), (), len(args))
        output = _compute(cls, ctx, args)
    inner = cls.context(cls, (), (), len(args))
    inner.__dict__.update(ctx.__dict__)
    inner._for_forward, inner._materialize = ctx._for_forward, ctx._materialize
    inner._pending, inner.saved, inner._places = ctx._pending, ctx.saved, ctx._places
    outputs = output if isinstance(output, tuple | list) else (output,)
    inner._constant = tuple(outputs[i] for i in ctx._constant_places)
    inner._dirty = tuple(outputs[i] for i in ctx._dirty_places)
    return output, inner


def _transposed(
    cls: type[Function],
    ctx: FunctionCtx,
    outputs: tuple[Any, ...],
    moving: list[bool],
    tangents: list[Any],
) -> list[Any]:
    """The tangents of the outputs, by transposing `backward`, which is linear in cotangents."""
    rule = cls.reverse_rule()
    places = [i for i, m in enumerate(moving) if m]
    still = [
        ops.zeros_like(o) if hasattr(o, "dtype") and (m or ctx._materialize) else None
        for o, m in zip(outputs, moving, strict=True)
    ]

    def pull(*cotangents: Any) -> list[Any]:
        full = list(still)
        for i, cotangent in zip(places, cotangents, strict=True):
            full[i] = cotangent
        returned = rule(ctx, *full)
        results = returned if isinstance(returned, tuple | list) else (returned,)
        return [
            None if t is None or r is None else r for r, t in zip(results, tangents, strict=False)
        ]

    value, push = upward.vjp(pull, *(still[i] for i in places))
    used = [None if v is None else t for v, t in zip(value, tangents, strict=False)]
    pushed: list[Any] = [None] * len(outputs)
    for i, tangent in zip(places, push(used), strict=True):
        pushed[i] = tangent
    return pushed


def _follow(cls: type[Function], top: type[Pattern], args: tuple[Any, ...]) -> Any:
    """Pattern arrays: the derivative is unknown, so all results depend on all arguments."""
    output = cls.apply(*(a._array if isinstance(a, top) else a for a in args))
    if not isinstance(output, tuple | list):
        return top.on_everything(args, [output])[0]
    return tuple(top.on_everything(args, output))


def _batch(cls: type[Function], top: type[Batched], args: tuple[Any, ...]) -> Any:
    """Batched arrays: call the function's `vmap`, or run the function on them."""
    raw = tuple(a._array if isinstance(a, top) else a for a in args)
    in_dims = tuple(0 if isinstance(a, top) else None for a in args)
    size = next(r.shape[0] for r, d in zip(raw, in_dims, strict=True) if d is not None)
    if cls.vmap is not None:
        # As in PyTorch, arguments of `vmap` have the axis where they had it; others in front.
        in_dims = tuple(getattr(a, "_given_axis", d) for a, d in zip(args, in_dims, strict=True))
        moved = (ops.moveaxis(r, 0, d) if d else r for r, d in zip(raw, in_dims, strict=True))
        output, out_dims = cls.vmap(VmapInfo(size), in_dims, *moved)
    else:
        _needs_setup_context(cls)
        output, out_dims = _vectorized(cls, in_dims, size).apply(*raw), 0
    many = isinstance(output, tuple | list)
    outputs = output if many else (output,)
    dims = out_dims if isinstance(out_dims, tuple | list) else [out_dims] * len(outputs)
    results = [
        o if d is None or not hasattr(o, "dtype") else top(ops.moveaxis(o, d, 0))
        for o, d in zip(outputs, dims, strict=True)
    ]
    return tuple(results) if many else results[0]


def _vectorized(cls: type[Function], in_dims: tuple[Any, ...], size: int) -> type[Function]:
    """A `Function` that takes arrays with a batch axis in front, and runs `cls` on the batch."""

    def enter(level: int, values: Any, dims: Any) -> tuple[Any, ...]:
        make = batched_type(level)
        return tuple(v if d is None else make(v) for v, d in zip(values, dims, strict=True))

    def leave(level: int, value: Any) -> Any:
        make = batched_type(level)
        while isinstance(value, Tensor) and value.level > level:
            value = value.array
        if isinstance(value, make):
            return value._array
        return ops.broadcast_to(value, (size, *value.shape)) if hasattr(value, "dtype") else value

    def run(level: int, ctx: FunctionCtx) -> tuple[FunctionCtx, Any]:
        """Run the function on batched arrays, to fill its context."""
        inputs = [
            other if tensor is None else tensor
            for tensor, other in zip(ctx.saved_tensors, ctx.others, strict=True)
        ]
        batched = enter(level, inputs, in_dims)
        inner = cls.context(cls, (), (), len(inputs))
        inner._needs = ctx.needs_input_grad
        output = cls.forward(*batched)
        cls.setup_context(inner, batched, output)  # type: ignore[misc]
        return inner, output

    class Vectorized(Function):
        @staticmethod
        def forward(*args: Any) -> Any:
            with new_level() as level:
                output = cls.forward(*enter(level, args, in_dims))
                if isinstance(output, tuple | list):
                    return tuple(leave(level, o) for o in output)
                return leave(level, output)

        @staticmethod
        def setup_context(ctx: FunctionCtx, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*(i if hasattr(i, "dtype") else None for i in inputs))
            ctx.others = [None if hasattr(i, "dtype") else i for i in inputs]
            outputs = output if isinstance(output, tuple | list) else (output,)
            with new_level() as level:  # find out what the function's context says of its outputs
                inner = cls.context(cls, (), (), len(inputs))
                dims = [0 if hasattr(o, "dtype") else None for o in outputs]
                batched = enter(level, outputs, dims)
                cls.setup_context(  # type: ignore[misc]
                    inner,
                    enter(level, inputs, in_dims),
                    batched if isinstance(output, tuple | list) else batched[0],
                )
            marked = zip(outputs, batched, strict=True)
            ctx.mark_non_differentiable(
                *(o for o, b in marked if any(b is c for c in inner._constant))
            )
            ctx.set_materialize_grads(inner._materialize)

        @staticmethod
        def backward(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
            with new_level() as level:
                inner, _ = run(level, ctx)
                gs = enter(level, grad_outputs, [None if g is None else 0 for g in grad_outputs])
                returned = cls.reverse_rule()(inner, *gs)
                results = returned if isinstance(returned, tuple | list) else (returned,)
                left = [leave(level, r) for r in results]
            return tuple(
                r if r is None or d is not None else ops.sum(r, axis=0)
                for r, d in zip(left, in_dims, strict=False)
            )

    if cls.jvp is not None:
        rule = cls.jvp

        def pushed(ctx: FunctionCtx, *tangents: Any) -> Any:
            with new_level() as level:
                inner, output = run(level, ctx)
                dims = [None if t is None else d for t, d in zip(tangents, in_dims, strict=True)]
                results = rule(inner.in_forward_mode(), *enter(level, tangents, dims))
                if isinstance(output, tuple | list):
                    return tuple(leave(level, r) for r in results)
                return leave(level, results)

        Vectorized.jvp = staticmethod(pushed)

    Vectorized.__name__ = Vectorized.__qualname__ = cls.__name__
    return Vectorized
