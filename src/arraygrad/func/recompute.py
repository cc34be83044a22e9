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
from ..engine import current_sweep
from ..errors import RuleError
from ..tensor import Tensor
from .trees import flatten

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
        Raise if the second run saves arrays of other shapes or dtypes than the first.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> y = ag.func.checkpoint(lambda x: ag.sin(ag.exp(x)))(x)
    >>> bool((ag.grad(y.sum(), x) == ag.cos(ag.exp(x)) * ag.exp(x)).all())
    True
    """

    @functools.wraps(function)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        run = _Run(function, args, kwargs, early_stop, check)
        with saved_tensors_hooks(run.pack, run.unpack):
            return function(*args, **kwargs)

    return checkpointed


class _Stop(Exception):
    """Everything that is needed has been computed."""


class _Run:
    """One call of a checkpointed function, and how to repeat it."""

    def __init__(
        self, function: Function, args: Any, kwargs: Any, early_stop: bool, check: bool
    ) -> None:
        self.function = function
        leaves, self.unflatten = flatten((args, kwargs))
        # Detached, so that the second run is recorded by itself and not on top of the first.
        self.leaves = [_Held(leaf) for leaf in leaves]
        self.early_stop = early_stop
        self.check = check
        self.modes: Modes = current_modes()
        self.saved: list[tuple[Any, Any]] = []

    def pack(self, tensor: Tensor) -> int:
        """Keep, instead of a tensor, the number it has among all that are saved."""
        self.saved.append((tensor.shape, tensor.dtype))
        return len(self.saved) - 1

    def unpack(self, number: int) -> Tensor:
        """The tensor with a number: from the second run, made once for each sweep."""
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

        def collect(tensor: Tensor) -> Tensor:
            number = len(collected)
            if number < len(self.saved):
                if self.check and (tensor.shape, tensor.dtype) != self.saved[number]:
                    raise RuleError(
                        f"a checkpointed function saved {self.saved[number]} as value {number} "
                        f"when it was first run, and {(tensor.shape, tensor.dtype)} when it was "
                        "run again: it must do the same each time"
                    )
                collected[number] = tensor
            if self.early_stop and len(collected) == len(self.saved):
                raise _Stop
            return tensor  # an outer transform may differentiate this run

        args, kwargs = self.unflatten([held.again() for held in self.leaves])
        outside = current_modes()
        set_modes(self.modes)
        try:
            with enable_grad(), saved_tensors_hooks(collect, lambda tensor: tensor):
                self.function(*args, **kwargs)
        except _Stop:
            pass
        finally:
            set_modes(outside)
        if len(collected) != len(self.saved):
            raise RuleError(
                f"a checkpointed function saved {len(self.saved)} arrays when it was first run "
                f"and {len(collected)} when it was run again: it must do the same each time"
            )
        return collected


class _Held:
    """An argument, to be passed again."""

    def __init__(self, value: Any) -> None:
        self.requires_grad = isinstance(value, Tensor) and value.requires_grad
        self.value = value.detach() if isinstance(value, Tensor) else value

    def again(self) -> Any:
        if self.requires_grad:
            return type(self.value)(self.value._array).requires_grad_()
        return self.value
