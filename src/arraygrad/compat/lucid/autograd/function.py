"""`Function`: a function whose derivative is given with it."""

from __future__ import annotations

from typing import Any

from ....arrays.tensor import Tensor as Native
from ....autograd import Function as NativeFunction
from ...facade import unwrapped
from .._C.engine import ShapeMismatch
from ..tensors import Tensor


class FunctionCtx:
    """What `forward` keeps for `backward`."""

    def __init__(self, inner: Any) -> None:
        self.__dict__["_inner"] = inner

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for `backward`."""
        self.__dict__["_saving"] = tensors
        self._inner.save_for_backward(*unwrapped(tensors))

    @property
    def saved_tensors(self) -> Any:
        """The tensors that were kept."""
        saving = self.__dict__.get("_saving")
        if saving is not None:  # still in `forward`
            return saving
        return Tensor._wrapped(self._inner.saved_tensors)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__dict__["_inner"], name)
        if callable(value):
            return lambda *args: value(*unwrapped(args))
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._inner, name, value)


class Function:
    """Subclass it, with static methods `forward(ctx, ...)` and `backward(ctx, ...)`; call `apply`.

    >>> from arraygrad.compat import lucid
    >>> class Double(lucid.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return 2 * g
    >>> x = lucid.tensor([1.0, 2.0], requires_grad=True)
    >>> Double.apply(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Compute the result. The subclass defines it."""
        raise NotImplementedError("define forward(ctx, ...) as a static method")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the arguments. The subclass defines it."""
        raise NotImplementedError("define backward(ctx, ...) as a static method")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Compute `forward`, and record it with `backward` as its derivative."""
        return Tensor._wrapped(_native(cls).apply(*unwrapped(args)))


def _native(cls: type[Function]) -> Any:
    """The function as one of arraygrad, made once for each class."""
    made = cls.__dict__.get("_made")
    if made is None:
        made = type(cls.__name__, (NativeFunction,), {**_methods(cls), "__doc__": cls.__doc__})
        cls._made = made  # type: ignore[attr-defined]
    return made


def _methods(cls: type[Function]) -> dict[str, Any]:
    def forward(ctx: Any, *args: Any) -> Any:
        facade = FunctionCtx(ctx)
        result = unwrapped(cls.forward(facade, *Tensor._wrapped(args)))
        facade.__dict__.pop("_saving", None)
        ctx._shapes = [tuple(a.shape) if isinstance(a, Native) else None for a in args]
        return result

    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        found = unwrapped(cls.backward(FunctionCtx(ctx), *Tensor._wrapped(grad_outputs)))
        return _checked(found, ctx._shapes, ctx.needs_input_grad, f"{cls.__name__}Backward")

    return {"forward": staticmethod(forward), "backward": staticmethod(backward)}


def _checked(found: Any, shapes: list[Any], needed: Any, name: str) -> tuple[Any, ...]:
    """What `backward` returned, one gradient for each argument; an error in Lucid's words."""
    grads = list(found) if isinstance(found, list | tuple) else [found]
    while len(grads) > len(shapes) and grads[-1] is None:
        grads.pop()
    if len(grads) != len(shapes):
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {len(shapes)}, "
            f"got {len(grads)})"
        )
    for i, (grad, shape) in enumerate(zip(grads, shapes, strict=True)):
        if grad is None:
            continue
        if shape is None:
            raise RuntimeError(
                f"function {name} returned a gradient different than None at position {i + 1}, but "
                "the corresponding forward input was not a Tensor"
            )
        if needed[i] and not _sums_to(tuple(grad.shape), shape):
            raise ShapeMismatch(
                f"Function {name} returned an invalid gradient at index {i} - got "
                f"{list(grad.shape)} but expected shape compatible with {list(shape)}"
            )
    return tuple(grads)


def _sums_to(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether an array of `wanted` can be broadcast to `shape`."""
    last = shape[len(shape) - len(wanted) :] if len(shape) >= len(wanted) else None
    pairs = zip(last or (), wanted, strict=False)
    return last is not None and all(w in (n, 1) for n, w in pairs)
