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
    if program_of(step.function, (plain[0][0], plain[0][0], plain[-1]), {}) is None:
        return None
    with contextlib.suppress(NotFinite):  # then NumPy may warn or raise
        return tuple(_recurrence(*arrays, step=step, reverse=reverse)[:-1])
    return None


def _defined(step: Step, reverse: bool, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """What the op computes."""
    left, weight, bias, *start = arrays

    def along(state: tuple[Any, ...], left: Any) -> Any:
        right = linear(state[0], weight, bias)
        new = step.function(left, right, state[-1])
        return new, (*new, right)

    return scan(along, tuple(start), left, reverse=reverse)[1]  # type: ignore[no-any-return]


def _compute(xp: Any, *arrays: Any, step: Step, reverse: bool) -> tuple[Any, ...]:
    left, weight, bias, *state = arrays
    program = program_of(step.function, (left[0], left[0], state[-1]), {})
    if program is None:  # the op runs again, and NumPy's error state is another one
        return _defined(step, reverse, arrays)
    transposed = np.ascontiguousarray(weight.T)
    parts = [np.empty((len(left), *s.shape), left.dtype) for s in state]
    rights = np.empty_like(left)
    for t in _times(len(left), reverse):
        right = rights[t]
        np.matmul(state[0], transposed, out=right)
        right += bias
        state = program([left[t], right, state[-1]])
        for part, new in zip(parts, state, strict=True):
            part[t] = new
    return (*parts, rights)


def _times(count: int, reverse: bool) -> Iterator[int]:
    return iter(range(count - 1, -1, -1) if reverse else range(count))


def _pulled(left: Any, right: Any, last: Any, *gs: Any, step: Step) -> list[Any]:
    """The pullback of a step: by the last part of the state, and by one or both of the products."""

    def of(last: Any, left: Any, right: Any = right) -> tuple[Any, ...]:
        return step.function(left, right, last)

    _, pull = vjp(of, last, left) if step.adds else vjp(of, last, left, right)
    return list(pull(gs))


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
    program = program_of(_pulled, (left[0], left[0], start[-1], *by_state), {"step": step})
    if program is None:
        return None
    *parts, rights = out
    by_left = np.empty_like(left)
    by_right = by_left if step.adds else np.empty_like(left)
    times = list(_times(len(left), reverse))
    for t, before in zip(times[::-1], [*times[-2::-1], None], strict=True):
        last = start[-1] if before is None else parts[-1][before]
        seeds = [s if g is None else s + g[t] for g, s in zip(gs, by_state, strict=False)]
        by_last, *by_products = program([left[t], rights[t], last, *seeds])
        by_left[t], by_right[t] = by_products[0], by_products[-1]
        by_hidden = np.matmul(by_right[t], weight)
        by_state = [by_hidden, by_last] if len(start) > 1 else [by_hidden + by_last]
    rows = by_right.reshape(-1, by_right.shape[-1])
    hidden = np.empty_like(parts[0])  # the hidden states before the steps
    hidden[times[0]] = start[0]
    hidden[times[1:]] = parts[0][times[:-1]]
    before_all = hidden.reshape(-1, hidden.shape[-1])
    # What is wanted may be said of the first inputs only.
    by_weight = np.matmul(rows.T, before_all) if any(wanted[1:2]) else None
    by_bias = rows.sum(axis=0) if any(wanted[2:3]) else None
    return [by_left, by_weight, by_bias, *by_state]


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
