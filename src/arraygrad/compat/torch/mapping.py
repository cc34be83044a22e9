"""`torch.vmap`: a function over an axis of its arguments, all at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import optree

from ... import func as native
from ...arrays.batched import Batched
from ...core.levels import in_flight
from .handles import Tensor
from .random import batch_of_random_numbers, get_rng_state, set_rng_state
from .transforming import Call, arrays_of, leaves_of, named


def check_randomness(randomness: str) -> None:
    """Raise unless it is one of three words."""
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that maps `func` over an axis of its arguments, all at once.

    `randomness` says what random functions inside do: raise, draw the same numbers for all members
    of the batch, or other numbers for each.
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    def inside(*args: Any, **kwargs: Any) -> Any:
        found = (v._t for v in leaves_of(args) if isinstance(v, Tensor))
        batch = next(t for t in found if isinstance(t, Batched) and t.level == in_flight())
        if state:  # all chunks get the same numbers
            set_rng_state(state[-1])
        with batch_of_random_numbers(type(batch), batch._array.shape[0], randomness):
            result = _checked(func(*args, **kwargs), out_dims, type(batch))
            if isinstance(result, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
                alone.append(True)
                return (result,)
            return result

    functools.update_wrapper(inside, func, updated=())
    state: list[Tensor] = []
    alone: list[bool] = []

    @functools.wraps(func, updated=())
    def mapped(*args: Any, **kwargs: Any) -> Any:
        # As in PyTorch, arguments that are given by keyword are passed whole.
        call = Call(functools.partial(inside, **kwargs), "vmap")
        alone.clear()
        _check_inputs(in_dims, args)
        same = randomness == "same" and chunk_size is not None
        if same:
            state.append(get_rng_state())
        outputs = tuple(out_dims) if isinstance(out_dims, list) else out_dims
        transformed = native.vmap(call, in_dims, outputs, chunk_size=chunk_size)
        try:
            found = named(transformed(*arrays_of(args)), (args, kwargs))
            return found[0] if alone else found
        except (TypeError, IndexError) as error:
            if error is call.raised or (call.ran and isinstance(error, IndexError)):
                raise
            raise ValueError(str(error)) from error
        finally:
            if same:
                state.pop()

    return mapped


def _check_inputs(in_dims: Any, args: tuple[Any, ...]) -> None:
    """Raise unless `in_dims` names axes of one length in the arguments."""
    call = f"vmap(f, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, int | tuple):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}"
        )
    if not args:
        raise ValueError(f"{call}: got no inputs: there is nothing to map over")
    try:
        prefix: Any = in_dims
        full: Any = args
        each: list[Any] = optree.broadcast_prefix(prefix, full, none_is_leaf=True)
    except ValueError as error:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`"
        ) from error
    sizes = []
    for dim, value in zip(each, leaves_of(args, none_is_leaf=True), strict=True):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"{call}: Got in_dim={dim} for an input but in_dim must be either an integer "
                "dimension or None"
            )
        if not isinstance(value, Tensor):
            raise ValueError(
                f"{call}: Got in_dim={dim} for an input but the input is of type {type(value)}. We "
                "cannot vmap over non-Tensor arguments: use None as the respective in_dim"
            )
        if not -value.ndim <= dim < value.ndim:
            raise ValueError(
                f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of "
                f"dimensionality {value.ndim}, so expected in_dim to be from {-value.ndim} up to "
                f"{value.ndim - 1}"
            )
        sizes.append(value.shape[dim])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over: all in_dims are None")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )


def _checked(result: Any, out_dims: Any, batched: type) -> Any:
    """The results of a function, which must be tensors with a place for the mapped axis."""
    leaves = leaves_of(result, none_is_leaf=True)
    if not all(d is None or isinstance(d, int) for d in leaves_of(out_dims, none_is_leaf=True)):
        raise ValueError(
            "vmap(f, ...): `out_dims` must be an int, None or a python collection of ints, which "
            f"say where the mapped axis goes in the results, not {out_dims!r}"
        )
    try:
        one = isinstance(result, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1
        each = (
            list(out_dims) if one else optree.broadcast_prefix(out_dims, result, none_is_leaf=True)
        )
    except ValueError as error:
        raise ValueError(
            "vmap(f, ...): out_dims is not compatible with the structure of `outputs`"
        ) from error
    for dim, leaf in zip(each, leaves, strict=True):
        if not isinstance(leaf, Tensor):
            if dim is None:
                continue
            raise ValueError(f"vmap(f, ...): `f` must only return Tensors, got type {type(leaf)}")
        if dim is None:
            if isinstance(leaf._t, batched):
                raise ValueError(
                    "vmap(f, ...): `f` can not return a BatchedTensor when out_dim is None"
                )
        elif not -leaf.ndim - 1 <= dim <= leaf.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-leaf.ndim - 1}, "
                f"{leaf.ndim}], but got {dim})"
            )
    return result
