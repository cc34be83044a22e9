"""Many rows or columns of a Jacobian at once, as one batched array.

For dense Jacobians (`func.jacobians`) and sparse ones (`func.sparse`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from ..arrays.batched import Batched, batched_type
from ..backends import backend_of
from ..core.levels import above
from ..core.memory import fix
from .forward import push
from .reverse import Chosen, Tape
from .trees import check_result, flatten


def outputs_of(result: Any, holomorphic: bool) -> tuple[list[Any], Any]:
    """The arrays of a function's result, and a function that builds the result from others."""
    leaves, rebuild = flatten(result)
    outputs = []
    check_result(leaves)
    for i, leaf in enumerate(leaves):
        out = leaf if hasattr(leaf, "dtype") else np.asarray(leaf)
        if holomorphic and not ops.is_complex(out):
            raise ValueError(
                f"holomorphic=True needs complex results, but result {i} has dtype {out.dtype}"
            )
        outputs.append(out)
    return outputs, rebuild


def in_precision_of(x: Any, part: Any) -> Any:
    """Derivatives with respect to `x`, in the precision of `x`, as in reverse mode."""
    dtype = x.dtype
    if ops.is_complex(part) and not ops.is_complex(x):
        dtype = (ops.zeros_like(x[..., :0] if x.ndim else x) * 1j).dtype
    return part if part.dtype == dtype else ops.astype(part, dtype)


def pull_rows(tape: Tape, outputs: list[Any], rows: Any, holomorphic: bool) -> list[Any]:
    """The products of `rows` with the Jacobian: for each input, an array with an axis of rows.

    Each row of `rows`, a NumPy array, goes over all elements of all outputs.
    """
    wrap = batched_type(above(tape.level))

    def pulled(seeds: list[Any]) -> list[Any]:
        if rows.shape[0] == 1:  # so that rules need not know of batches
            found = tape.pull(outputs, [s[0] for s in seeds])
            return [ops.expand_dims(g, axis=0) for g in found]
        gradients = tape.pull(outputs, [wrap(s) for s in seeds])
        return [_rows(g, rows.shape[0], wrap) for g in gradients]

    seeds = _cut(rows, outputs)
    found = pulled(seeds)
    if holomorphic:
        return [ops.conj(f) for f in found]
    if any(ops.is_complex(o) for o in outputs):  # real inputs: get the imaginary part as well
        turned = pulled([s * 1j if ops.is_complex(s) else s for s in seeds])
        return [a + 1j * b for a, b in zip(found, turned, strict=True)]
    return found


def push_rows(
    chosen: Chosen, values: tuple[Any, ...], rows: Any, has_aux: bool
) -> tuple[list[Any], Any, Any]:
    """The products of the Jacobian with directions, for each output; the value; and aux.

    Each row of `rows`, a NumPy array, is a direction, and goes over all elements of all inputs. The
    products have the first axis of `rows`.
    """
    inputs = [x if hasattr(x, "shape") else np.asarray(x) for x in flatten(values)[0]]
    kinds: list[type[Batched]] = []

    def tangents(level: int) -> list[Any]:
        kinds.append(batched_type(above(level)))  # above the dual arrays
        cut = _cut(rows, inputs)
        return [t[0] for t in cut] if rows.shape[0] == 1 else [kinds[0](t) for t in cut]

    value, tangent, aux = push(chosen.run, values, tangents, has_aux=has_aux, given=chosen.given)
    found = [t if hasattr(t, "dtype") else np.asarray(t) for t in flatten(tangent)[0]]
    if rows.shape[0] == 1:
        return [ops.expand_dims(t, axis=0) for t in found], value, aux
    return [_rows(t, rows.shape[0], kinds[0]) for t in found], value, aux


def chunked(
    compute: Callable[[int, int], list[Any]], total: int, chunk_size: int | None
) -> list[Any]:
    """The results of `compute(start, stop)` for all chunks of `range(total)`, joined."""
    step = max(1, total if chunk_size is None else chunk_size)
    pieces = [compute(i, min(i + step, total)) for i in range(0, max(total, 1), step)]
    if len(pieces) == 1:
        return pieces[0]
    return [ops.concat(column, axis=0) for column in zip(*pieces, strict=True)]


def _cut(rows: Any, arrays: list[Any]) -> list[Any]:
    """Rows over the elements of all arrays, cut into one part for each array, with its shape."""
    parts = []
    offset = 0
    for array in arrays:
        part = rows[:, offset : offset + math.prod(array.shape)]
        shaped = part.reshape(rows.shape[0], *array.shape)
        backend, plain = backend_of(array), ops.plain(array)
        made = backend.xp.asarray(shaped, device=backend.device(plain))
        parts.append(ops.astype(made, array.dtype, copy=False))
        offset += math.prod(array.shape)
    for made in (rows, *parts):
        if isinstance(made, np.ndarray):
            fix(made)
    return parts


def _rows(derivative: Any, size: int, batched: type[Batched]) -> Any:
    """A derivative along a batch of directions, as an array with the batch axis in front."""
    if isinstance(derivative, batched):
        return derivative._array
    return ops.copy(ops.broadcast_to(derivative, (size, *derivative.shape)))


def real_rows(block: Any, out: Any) -> Any:
    """The rows of an output: real if the output is, also if another output is complex."""
    return ops.real(block) if ops.is_complex(block) and not ops.is_complex(out) else block


def check_complex(inputs: list[Any], holomorphic: bool) -> None:
    """Raise unless all inputs are complex if `holomorphic`, and real if not."""
    for i, x in enumerate(inputs):
        complex_input = ops.is_complex(x) or isinstance(x, complex)
        if complex_input and not holomorphic:
            raise ValueError(
                f"input {i} is complex: its Jacobian exists as one complex matrix only if the "
                "function is holomorphic. Pass holomorphic=True if it is, or split the input "
                "into real and imaginary parts"
            )
        if holomorphic and not complex_input:
            raise ValueError(f"holomorphic=True needs complex inputs, but input {i} is real")
