"""`torch.utils.checkpoint`: values that are computed again in the reverse sweep."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from ....func import checkpoint as native
from ....sweep.engine import current_sweep
from ..autograd.differentiate import backward
from ..autograd.function import Function
from ..handles import Tensor, unwrap, wrap
from ..random import get_rng_state, set_rng_state

__all__ = [
    "CheckpointError", "checkpoint", "checkpoint_sequential", "noop_context_fn",
    "set_checkpoint_early_stop",
]  # fmt: skip


class CheckpointError(RuntimeError):
    """Never raised here: the function is not run again, so it cannot do another thing."""


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Do nothing: only the steps that are needed are computed again."""
    yield


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Any,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Any = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Tensor | Any:
    """The result of a function whose intermediate values are computed again when they are needed.

    Without it, the ops of the function are computed again, and the function is run once. So the
    second of the two contexts, `determinism_check`, `debug`, `early_stop` and `preserve_rng_state`
    have nothing to do. With `use_reentrant=True`, `backward` runs inside the reverse sweep, which
    needs an argument that requires gradients; `autograd.grad` is not possible then.
    """
    if _is_reentrant(use_reentrant, "checkpoint"):
        if kwargs:
            raise ValueError(f"unexpected keyword arguments: {', '.join(kwargs)}")
        if context_fn is not noop_context_fn or debug:
            raise ValueError("context_fn and debug are for use_reentrant=False")
        return _Reentrant.apply(function, preserve_rng_state, *args)
    with context_fn()[0]:
        return wrap(native(lambda: unwrap(function(*args, **kwargs)))())


def _is_reentrant(given: bool | None, name: str) -> bool:
    if given is None:
        warnings.warn(
            f"{name}(): say use_reentrant=False, which is recommended, or True", stacklevel=3
        )
    return given is None or given


class _Reentrant(Function):
    """Runs a function without recording it, and again, with recording, in `backward`."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        ctx.function = function
        ctx.state = get_rng_state() if preserve else None
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*(a if isinstance(a, Tensor) else None for a in args))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        from ..autograd import enable_grad

        sweep = current_sweep()
        if sweep is not None and sweep.is_partial:
            raise RuntimeError(
                "torch.utils.checkpoint is incompatible with grad() and with backward(inputs=...) "
                "when use_reentrant=True, because it calls backward() itself: use "
                "use_reentrant=False"
            )
        saved = ctx.saved_tensors
        inputs = [
            other if tensor is None else tensor.detach().requires_grad_(tensor.requires_grad)
            for tensor, other in zip(saved, ctx.others, strict=True)
        ]
        before = get_rng_state() if ctx.state is not None else None
        try:
            if ctx.state is not None:
                set_rng_state(ctx.state)
            with enable_grad():
                outputs = ctx.function(*inputs)
        finally:
            if before is not None:
                set_rng_state(before)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        live = [
            (o, g)
            for o, g in zip(outputs, grads, strict=True)
            if isinstance(o, Tensor) and o.requires_grad
        ]
        if not live:
            raise RuntimeError(
                "none of output has requires_grad=True: this checkpoint is not needed"
            )
        backward([o for o, _ in live], [g for _, g in live])
        return (
            None,
            None,
            *(i.grad if isinstance(i, Tensor) and i.is_leaf else None for i in inputs),
        )


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Tensor | Any:
    """The result of functions one after the other, with a checkpoint for each of some segments."""
    if kwargs:
        raise ValueError(f"unexpected keyword arguments: {', '.join(kwargs)}")
    use_reentrant = _is_reentrant(use_reentrant, "checkpoint_sequential")
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def through(part: list[Any]) -> Any:
        def run(value: Any) -> Any:
            for step in part:
                value = step(value)
            return value

        return run

    length = len(steps) // segments
    for i in range(segments - 1):
        input = checkpoint(
            through(steps[i * length : (i + 1) * length]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return through(steps[(segments - 1) * length :])(input)
