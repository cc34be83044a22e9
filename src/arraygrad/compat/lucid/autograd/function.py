"""`Function`: a function whose derivative is given with it."""

from __future__ import annotations

from typing import Any

from ....autograd import Function as NativeFunction
from ...facade import unwrapped
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
        return result

    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return unwrapped(cls.backward(FunctionCtx(ctx), *Tensor._wrapped(grad_outputs)))

    return {"forward": staticmethod(forward), "backward": staticmethod(backward)}
