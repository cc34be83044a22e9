"""`checkpoint`: compute again in the reverse sweep what would otherwise be stored.

The function is recorded as usual, except that its nodes save nothing: in the place of each saved
array stands its number. When the sweep asks for the first of them, the function is run again, and
what it would save is collected, number by number, for this one sweep.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd.graph import saved_tensors_hooks
from ..autograd.modes import Modes, current_modes, enable_grad, set_modes
from ..autograd.saved import Hooks, pack, unpack
from ..engine import current_sweep
from ..errors import RuleError
from ..levels import at_level, in_flight
from ..tensor import Tensor, tensor_type_at
from .trees import as_function, flatten

Function = Callable[..., Any]


def checkpoint(function: Function, *, early_stop: bool = True, check: bool = True) -> Function:
    """A function with the same results that stores nothing inside for the gradient.

    The reverse sweep runs it again when it gets there, which costs one more forward pass and
    saves the memory of everything between its arguments and its results. Checkpoints nest.

    Parameters
    ----------
    function : callable
        Must do the same when it is called again. It may use tensors from outside.
    early_stop : bool
        Stop the second run as soon as all that is needed has been computed.
    check : bool
        Raise if the second run saves arrays of other shapes or dtypes than the first, or, without
        `early_stop`, more of them.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> y = ag.func.checkpoint(lambda x: ag.sin(ag.exp(x)))(x)
    >>> bool((ag.grad(y.sum(), x) == ag.cos(ag.exp(x)) * ag.exp(x)).all())
    True
    """
    as_function(function, "checkpoint")

    @functools.wraps(function)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        run = _Run(function, args, kwargs, early_stop, check)
        try:
            with saved_tensors_hooks(run.pack, run.unpack):
                return function(*args, **kwargs)
        finally:
            run.forget()

    return checkpointed


class _Stop(Exception):
    """Everything that is needed has been computed."""


class _Kept:
    """Stands for a saved tensor: its number, and while the function still runs, the tensor.

    The function may differentiate inside, and must then not be run again from within itself.
    """

    __slots__ = ("number", "tensor")

    def __init__(self, number: int, tensor: Tensor) -> None:
        self.number = number
        self.tensor: Tensor | None = tensor


class _Run:
    """One call of a checkpointed function, and how to repeat it."""

    def __init__(
        self, function: Function, args: Any, kwargs: Any, early_stop: bool, check: bool
    ) -> None:
        self.function = function
        leaves, self.unflatten = flatten((args, kwargs))
        hooks = current_modes().saved_hooks  # those of a checkpoint around this one, say
        self.leaves = [_Held(leaf, hooks) for leaf in leaves]
        self.early_stop = early_stop
        self.check = check
        self.modes: Modes = current_modes()
        self.level = in_flight()  # transforms inside must be above those that made the arguments
        self.saved: list[tuple[Any, Any]] = []
        self.running: list[_Kept] = []

    def pack(self, tensor: Tensor) -> _Kept:
        """Keep, instead of a tensor, the number it has among all that are saved."""
        kept = _Kept(len(self.saved), tensor)
        self.saved.append((tensor.shape, tensor.dtype))
        self.running.append(kept)
        return kept

    def forget(self) -> None:
        """The first run is over: from now on tensors come from a second."""
        for kept in self.running:
            kept.tensor = None
        self.running = []

    def unpack(self, kept: _Kept) -> Tensor:
        """The tensor with a number: from the second run, made once for each sweep."""
        if kept.tensor is not None:
            return kept.tensor
        number = kept.number
        sweep = current_sweep()
        if sweep is None:
            return self.repeat()[number]
        found: dict[int, Tensor] = sweep.notes.get(self, {})
        if number not in found:
            found = sweep.notes[self] = self.repeat()
        return found.pop(number)

    def repeat(self) -> dict[int, Tensor]:
        """Run the function again and collect what it saves."""
        collected: dict[int, Tensor] = {}
        count = 0

        def collect(tensor: Tensor) -> Tensor:
            nonlocal count
            if count < len(self.saved):
                if self.check and (tensor.shape, tensor.dtype) != self.saved[count]:
                    raise RuleError(
                        f"a checkpointed function saved {_told(self.saved[count])} as value "
                        f"{count} when it was first run, and "
                        f"{_told((tensor.shape, tensor.dtype))} when it was run again: it must do "
                        "the same each time"
                    )
                collected[count] = tensor
            count += 1
            if self.early_stop and count >= len(self.saved):
                raise _Stop
            return tensor  # an outer transform may differentiate this run

        args, kwargs = self.unflatten([held.again() for held in self.leaves])
        outside = current_modes()
        set_modes(self.modes)
        try:
            with (
                at_level(self.level),
                enable_grad(),
                saved_tensors_hooks(collect, lambda tensor: tensor),
            ):
                self.function(*args, **kwargs)
        except _Stop:
            pass
        finally:
            set_modes(outside)
        if count < len(self.saved) or (self.check and count > len(self.saved)):
            raise RuleError(
                f"a checkpointed function saved {len(self.saved)} arrays when it was first run "
                f"and {count} when it was run again: it must do the same each time"
            )
        return collected


def _told(saved: tuple[Any, Any]) -> str:
    return f"an array of shape {saved[0]} and dtype {saved[1]}"


class _Held:
    """An argument, to be passed again."""

    def __init__(self, value: Any, hooks: Hooks | None) -> None:
        self.value = value
        self.type: type[Tensor] | None = None
        self.hooks = hooks
        if isinstance(value, Tensor):
            # Without its node, so that the second run is recorded by itself and not on top of
            # the first.
            self.type, self.requires_grad = tensor_type_at(value.level), value.requires_grad
            self.value = pack(value._array, hooks) if hooks else value._array

    def again(self) -> Any:
        """The argument; a tensor as a new leaf."""
        if self.type is None:
            return self.value
        tensor = self.type(unpack(self.value, self.hooks) if self.hooks else self.value)
        return tensor.requires_grad_() if self.requires_grad else tensor
