"""Hooks that see the gradients that go through a module, and may change them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....autograd import Function
from ...facade import Facade, unwrapped
from .._C.engine import check_alike
from ..tensors import Tensor

__all__ = ["Handle", "Hooks"]


class Hooks:
    """The hooks of a module, in the order in which they were registered."""

    def __init__(self) -> None:
        self.before: dict[int, Callable[..., Any]] = {}  # of hook(module, grad_output)
        self.after: dict[int, Callable[..., Any]] = {}  # of hook(module, grad_input, grad_output)

    def __bool__(self) -> bool:
        return bool(self.before or self.after)

    def call(self, module: Any, args: tuple[Any, ...], keywords: Any) -> Any:
        """The result of a module. The gradients of what goes in and comes out meet the hooks."""
        run = _Run(self, module, len(args))
        run.places = [i for i, a in enumerate(args) if isinstance(a, Facade) and a.requires_grad]
        inner = list(args)
        if run.places:
            passed = _Entrance.apply(run, *(unwrapped(args[i]) for i in run.places))
            for place, tensor in zip(run.places, passed, strict=True):
                inner[place] = Tensor._of(tensor)
        result = module.forward(*inner, **keywords)
        single = not isinstance(result, tuple)
        outputs = unwrapped((result,) if single else result)
        if not any(getattr(out, "requires_grad", False) for out in outputs):
            return result
        found = Tensor._wrapped(_Exit.apply(run, *outputs))
        return found[0] if single else found


class Handle:
    """Removes a hook, by `remove()` or at the end of a ``with``."""

    def __init__(self, hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        self._hooks = hooks
        hooks[id(self)] = hook

    def remove(self) -> None:
        """Do not call the hook any more."""
        self._hooks.pop(id(self), None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class _Run:
    """One call of a module: where its tensors are, and the gradients of its results."""

    def __init__(self, hooks: Hooks, module: Any, count: int) -> None:
        self.hooks, self.module, self.count = hooks, module, count
        self.places: list[int] = []
        self.outputs: tuple[Any, ...] = ()

    def leave(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the results, as the hooks before the module change them."""
        grads = tuple(Tensor._wrapped(gradients))
        for hook in list(self.hooks.before.values()):
            grads = _replaced(hook(self.module, grads), grads, "grad_output")
        self.outputs = grads
        if not self.places:  # nothing reaches the entrance
            self.enter(())
        return unwrapped(grads)  # type: ignore[no-any-return]

    def enter(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the arguments, as the hooks after the module change them."""
        grads: list[Any] = [None] * self.count
        for place, gradient in zip(self.places, Tensor._wrapped(gradients), strict=True):
            grads[place] = gradient
        inputs = tuple(grads)
        for hook in list(self.hooks.after.values()):
            inputs = _replaced(hook(self.module, inputs, self.outputs), inputs, "grad_input")
        return tuple(unwrapped(inputs[place]) for place in self.places)


def _replaced(result: Any, given: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    """The gradients that a hook returned, or those that it got if it returned None."""
    if result is None:
        return given
    if not isinstance(result, tuple | list):
        raise TypeError(f"a hook must return a tuple of {name}, or None, not {type(result)}")
    if len(result) != len(given):
        raise RuntimeError(
            f"a hook returned an invalid number of {name}, got {len(result)}, but expected "
            f"{len(given)}"
        )
    for i, (new, old) in enumerate(zip(result, given, strict=True)):
        if new is None:
            continue
        if not isinstance(new, Facade):
            raise TypeError(f"{name}[{i}] must be a tensor or None, not {type(new).__name__}")
        if old is None:
            raise RuntimeError(f"a hook returned {name}[{i}], a gradient where none flows")
        check_alike(new, old, f"{name}[{i}]")
    return tuple(result)


class _Unchanged(Function):
    """Tensors as they are, on their way into a module or out of it."""

    @staticmethod
    def forward(ctx: Any, run: _Run, *tensors: Any) -> tuple[Any, ...]:
        ctx.run = run
        return tuple(t.clone() for t in tensors)


class _Entrance(_Unchanged):
    """The arguments of a module."""

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        return (None, *ctx.run.enter(gradients))


class _Exit(_Unchanged):
    """The results of a module."""

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        return (None, *ctx.run.leave(gradients))
