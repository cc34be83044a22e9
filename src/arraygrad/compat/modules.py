"""What modules of several systems share: hooks on their gradients, and modules of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


class Around:
    """One call of a module: the gradients of its arguments and results meet its hooks.

    `kind` is the type of tensors, `pass_on(change, *tensors)` gives the tensors with gradients
    that go through `change`, and `check(new, old, name)` raises for what a hook may not return.
    """

    kind: Any
    pass_on: Callable[..., Any]

    def __init__(self, module: Any, before: Iterable[Any], after: Iterable[Any]) -> None:
        self.module, self.before, self.after = module, list(before), list(after)
        self.outputs: Any = None

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, with the gradients that come back to them seen by the hooks."""
        self.count = len(args)
        self.places = self._places(args) if any(map(self._is_live, args)) else []
        return self._passed(args, self.places, self._at_inputs)

    def leave(self, result: Any) -> Any:
        """The result, with its gradients seen on their way in."""
        parts = result if isinstance(result, tuple) else (result,)
        if not any(map(self._is_live, parts)):
            return result
        found = self._passed(parts, self._places(parts), self._at_outputs)
        return found if isinstance(result, tuple) else found[0]

    def _is_live(self, value: Any) -> bool:
        return isinstance(value, self.kind) and value.requires_grad

    def _places(self, values: tuple[Any, ...]) -> list[int]:
        return [i for i, value in enumerate(values) if isinstance(value, self.kind)]

    def _passed(self, values: tuple[Any, ...], places: list[int], change: Any) -> tuple[Any, ...]:
        passed = self.pass_on(change, *(values[i] for i in places)) if places else ()
        return _with(values, places, passed)

    def _at_outputs(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in self.before:
            gradients = self._replaced(hook(self.module, gradients), gradients, "grad_output")
        self.outputs = gradients
        if not self.places:  # nothing comes back to the arguments
            self._at_inputs(())
        return gradients

    def _at_inputs(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        outputs, self.outputs = self.outputs, None
        if outputs is None:  # they came here another way, as in a second derivative
            return gradients
        inputs = _with((None,) * self.count, self.places, gradients)
        for hook in self.after:
            found = hook(self.module, inputs, outputs)
            inputs = self._replaced(found, inputs, "grad_input")
        return tuple(inputs[place] for place in self.places)

    def _replaced(self, result: Any, given: tuple[Any, ...], name: str) -> tuple[Any, ...]:
        """The gradients that a hook returned, or those that it got if it returned None."""
        if result is None:
            return given
        if not isinstance(result, tuple | list):
            raise TypeError(f"a hook must return a tuple of {name}, or None, not {type(result)}")
        if len(result) != len(given):
            raise RuntimeError(
                f"Backward hook returned an invalid number of {name}, got {len(result)}, but "
                f"expected {len(given)}"
            )
        for i, (new, old) in enumerate(zip(result, given, strict=True)):
            if new is None:
                continue
            if not isinstance(new, self.kind):
                raise TypeError(f"{name}[{i}] must be a tensor or None, not {type(new).__name__}")
            if old is None:
                raise RuntimeError(f"a hook returned {name}[{i}], a gradient where none flows")
            self.check(new, old, f"{name}[{i}]")
        return tuple(result)

    def check(self, new: Any, old: Any, name: str) -> None:
        """Raise if one gradient cannot replace another."""


def _with(values: tuple[Any, ...], places: list[int], others: Any) -> tuple[Any, ...]:
    """Values with others at some places."""
    found = list(values)
    for place, other in zip(places, others, strict=True):
        found[place] = other
    return tuple(found)


def applied(base: type, name: str, function: Callable[..., Any], doc: str) -> Any:
    """A type of modules that call a function."""
    members = {"forward": lambda self, *args: function(*args), "__doc__": doc}
    return type(name, (base,), {**members, "__module__": base.__module__})
