"""`func.eval_shape`: a trace that nothing is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.structures import taken_apart
from ...func.shapes import ShapeDtype
from ...func.trees import as_function
from .tracing import NotTraceable, Outcome, run_traced


def shapes_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The shapes and dtypes of what a function returns, in its structure."""
    as_function(function, "eval_shape")
    leaves, spec = taken_apart((args, kwargs))
    places = [i for i, leaf in enumerate(leaves) if hasattr(leaf, "dtype")]
    for i in places:  # the values do not matter, and take no memory
        leaves[i] = np.broadcast_to(np.zeros((), leaves[i].dtype), tuple(leaves[i].shape))

    def flat(values: list[Any]) -> Any:
        own, named = spec.unflatten(values)
        return function(*own, **named)

    try:
        return run_traced(flat, leaves, places, _shapes)
    except NotTraceable as reason:
        raise TypeError(f"eval_shape(): the function cannot be traced: {reason}") from None


def _shapes(outcome: Outcome) -> Any:
    found = []
    for is_output, what in outcome.results:
        value = outcome.outputs[what] if is_output else np.asarray(what)
        found.append(ShapeDtype(tuple(value.shape), value.dtype))
    return outcome.spec.unflatten(found)
