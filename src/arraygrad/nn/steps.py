"""All steps of a recurrent network as one op, each of them computed by a program.

The op keeps the products of the hidden states with the weights. In the reverse sweep, the pullback
of a step is a program, too, and the gradient of the weights is one product over all steps. Other
derivatives, and all that is no plain array, are those of the loop that defines the op.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import ops
from ..backends.numpy.native import NotFinite
from ..core.array import Array
from ..core.kinds import Opaque
from ..func import jvp, scan, vjp, vmap
from ..ops.define.library import declare
from ..ops.define.op import Own
from ..ops.define.rules import Rule
from .attention import linear
from .one_pass import is_eager, program_of


class Step(NamedTuple):
    """A step of a recurrent network.

    `function` takes the products of the input and of the hidden state with the weights, and the
    last part of the state. It returns the new state. `adds` says whether it takes only the sum of
    the two products: then the gradients by them are the same.
    """

    function: Callable[[Any, Any, Any], tuple[Any, ...]]
    adds: bool


def all_steps(step: Step, arrays: tuple[Any, ...], reverse: bool) -> tuple[Any, ...] | None:
    """The parts of the state after each step; None if there is no program for a step.

    Parameters
    ----------
    step : callable
    arrays : tuple of arrays
        The products of the inputs of all steps with their weights; the weights and the bias of the
        hidden state; the parts of the first state.
    reverse : bool
        Whether the last step comes first.
    """
    if not is_eager(*arrays):
        return None
    plain = [a._array if isinstance(a, Array) else a for a in arrays]
    if program_of(_advanced, (plain[0][0], *plain[1:]), {"step": step}) is None:
        return None
    with contextlib.suppress(NotFinite):  # then NumPy may warn or raise
        return tuple(_recurrence(*arrays, step=step, reverse=reverse)[:-1])
    return None


def _advanced(left: Any, weight: Any, bias: Any, *state: Any, step: Step) -> tuple[Any, ...]:
    """The state after a step, and the product of the hidden state before it with the weights."""
    right = linear(state[0], weight, bias)
    return (*step.function(left, right, state[-1]), right)


def _defined(step: Step, reverse: bool, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """What the op computes."""
    left, weight, bias, *start = arrays

    def along(state: tuple[Any, ...], left: Any) -> Any:
        new = _advanced(left, weight, bias, *state, step=step)
        return new[:-1], new

    return scan(along, tuple(start), left, reverse=reverse)[1]  # type: ignore[no-any-return]


def _compute(xp: Any, *arrays: Any, step: Step, reverse: bool) -> tuple[Any, ...]:
    left, weight, bias, *state = arrays
    program = program_of(_advanced, (left[0], weight, bias, *state), {"step": step})
    if program is None:  # the op runs again, and NumPy's error state is another one
        return _defined(step, reverse, arrays)
    parts = [np.empty((len(left), *s.shape), left.dtype) for s in (*state, left[0])]
    for t in _times(len(left), reverse):
        *state, right = program([left[t], weight, bias, *state])
        for part, new in zip(parts, (*state, right), strict=True):
            part[t] = new
    return tuple(parts)


def _times(count: int, reverse: bool) -> Iterator[int]:
    return iter(range(count - 1, -1, -1) if reverse else range(count))


def _pulled(
    left: Any, right: Any, last: Any, weight: Any, *seeds: Any, step: Step
) -> tuple[Any, ...]:
    """The pullback of a step: by the state before it, and by one or both of the products.

    For each part of the state there are two seeds: from the next step, and from outside or None.
    """

    def of(last: Any, left: Any, right: Any = right) -> tuple[Any, ...]:
        return step.function(left, right, last)

    _, pull = vjp(of, last, left) if step.adds else vjp(of, last, left, right)
    gs = (s if g is None else s + g for s, g in zip(seeds[::2], seeds[1::2], strict=True))
    by_last, *by_products = pull(tuple(gs))
    by_hidden = ops.matmul(by_products[-1], weight)
    by_state = (by_hidden, by_last) if len(seeds) > 2 else (by_hidden + by_last,)
    return (*by_state, *by_products)


def _by_weights(by_right: Any, hidden: Any) -> tuple[Any, Any]:
    """The gradients of the weights and of the bias, from the hidden states before all steps."""
    rows = ops.reshape(by_right, (-1, by_right.shape[-1]))
    hidden = ops.reshape(hidden, (-1, hidden.shape[-1]))
    return ops.matmul(ops.matrix_transpose(rows), hidden), ops.sum(rows, axis=0)


def _pull(
    gs: Sequence[Any], wanted: Any, out: Any, arrays: Sequence[Any], step: Step, reverse: bool
) -> Any:
    given = (*arrays, *out, *(g for g in gs if g is not None))
    if gs[-1] is None and all(type(a) is np.ndarray for a in given):
        with contextlib.suppress(NotFinite):  # then NumPy may warn or raise
            found = _pull_by_programs(gs, wanted, out, arrays, step, reverse)
            if found is not None:
                return found
    _, pull = vjp(lambda *given: _defined(step, reverse, given), *arrays)
    both = zip(gs, out, strict=True)
    return pull(tuple(ops.zeros_like(x) if g is None else g for g, x in both))


def _pull_by_programs(
    gs: Sequence[Any], wanted: Any, out: Any, arrays: Sequence[Any], step: Step, reverse: bool
) -> list[Any] | None:
    """The cotangents of plain arrays; None if there is no program for a step."""
    left, weight, _, *start = arrays
    by_state = [np.zeros_like(s) for s in start]
    gs = [g if g is None else np.ascontiguousarray(g) for g in gs]
    *parts, rights = out
    times = list(_times(len(left), reverse))

    def given(t: int, last: Any) -> list[Any]:
        seeds = ((s, g if g is None else g[t]) for s, g in zip(by_state, gs, strict=False))
        return [left[t], rights[t], last, weight, *(x for both in seeds for x in both)]

    program = program_of(_pulled, tuple(given(0, start[-1])), {"step": step})
    if program is None:
        return None
    by_left = np.empty_like(left)
    by_right = by_left if step.adds else np.empty_like(left)
    for t, before in zip(times[::-1], [*times[-2::-1], None], strict=True):
        arguments = given(t, start[-1] if before is None else parts[-1][before])
        found = program([x for x in arguments if x is not None])
        by_state, by_products = list(found[: len(start)]), found[len(start) :]
        by_left[t], by_right[t] = by_products[0], by_products[-1]
    hidden = np.empty_like(parts[0])  # the hidden states before the steps
    hidden[times[0]] = start[0]
    hidden[times[1:]] = parts[0][times[:-1]]
    # What is wanted may be said of the first inputs only.
    if not any(wanted[1:3]):
        return [by_left, None, None, *by_state]
    program = program_of(_by_weights, (by_right, hidden), {})
    weights = _by_weights(by_right, hidden) if program is None else program([by_right, hidden])
    return [by_left, *weights, *by_state]


def _push(arrays: Any, tangents: Any, step: Step, reverse: bool) -> Any:
    given = tuple(
        ops.zeros_like(a) if t is None else t for a, t in zip(arrays, tangents, strict=True)
    )
    return jvp(lambda *given: _defined(step, reverse, given), tuple(arrays), given)[1]


def _batch(op: Any, arrays: Any, flags: tuple[bool, ...], params: Any) -> Any:
    axes = tuple(0 if flag else None for flag in flags)
    return vmap(lambda *given: _defined(params["step"], params["reverse"], given), in_axes=axes)(
        *arrays
    )


_recurrence = declare(
    "recurrence",
    "*arrays",
    kind=Opaque(),
    keywords=("step", "reverse"),
    compute=_compute,
    joint=Rule(("gs", "wanted", "out", "arrays", "step", "reverse"), _pull),
    jvp=Rule(("arrays", "t_arrays", "step", "reverse"), _push),
    multiple=True,
    own=Own(batch=_batch),
)
