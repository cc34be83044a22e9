"""Arrays that are not computed until somebody asks: running Dask's graphs from tensors.

Recording, differentiating and printing such tensors computes nothing; the functions here do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVarTuple, cast, overload

from ..arrays.tensor import Tensor
from ..core.array import Array
from ..func.trees import flatten

Ts = TypeVarTuple("Ts")


@overload
def compute(*structures: Tensor, **keywords: Any) -> tuple[Tensor, ...]: ...
@overload
def compute(*structures: Any, **keywords: Any) -> tuple[Any, ...]: ...
def compute(*structures: Any, **keywords: Any) -> tuple[Any, ...]:
    """Compute everything that is lazy in some structures, together, as one Dask graph.

    What several of them need, such as the forward pass of a loss and of its gradients, is
    computed once.

    Parameters
    ----------
    *structures
        Tensors, arrays and anything else, by themselves or in nested structures.
    **keywords
        Passed on to `dask.compute`: ``scheduler="threads"``, for instance.

    Returns
    -------
    tuple
        What was given, one entry for each, with NumPy arrays (or whatever the blocks are made of)
        in the place of Dask's, and tensors over these in the place of tensors. Such a tensor is a
        constant: it requires no gradients, whatever the lazy one did. What was not lazy is
        returned as it is.

    See Also
    --------
    persist : compute, and keep the results where they are.

    Notes
    -----
    With Dask arrays as `w` and as the data behind `loss`,
    ``value, gradient = ag.compute(loss, ag.grad(loss, w))`` reads the data once.
    """
    return _run("compute", structures, keywords, _constant)


def persist(*structures: *Ts, **keywords: Any) -> tuple[*Ts]:
    """Start computing what is lazy in some structures, and keep the results in the workers.

    On a cluster this returns at once, and the blocks stay on the machines that computed them;
    without one, it returns when they are in this machine's memory. Use it on what is used again
    and again, such as data that fits in the memory of all workers together.

    Parameters
    ----------
    *structures, **keywords
        As in `compute`; the keywords are those of `dask.persist`.

    Returns
    -------
    tuple
        What was given, one entry for each, with lazy arrays that have nothing left to compute.
        A leaf that requires gradients becomes a new leaf that does; the result of an op keeps its
        place in the graph, but the values that the graph has saved are not persisted with it.
    """
    return cast("tuple[*Ts]", _run("persist", structures, keywords, _in_place_of))


def is_lazy(array: Any) -> bool:
    """Whether an array, wrapped or plain, is a plan of Dask's rather than values."""
    while isinstance(array, Array):
        array = array._array
    return hasattr(array, "__dask_graph__")


def _run(
    name: str,
    structures: tuple[Any, ...],
    keywords: dict[str, Any],
    wrap: Callable[[Tensor, Any], Tensor],
) -> tuple[Any, ...]:
    leaves, unflatten = flatten(structures)
    places = [i for i, leaf in enumerate(leaves) if is_lazy(leaf)]
    if not places:
        return structures
    import dask

    plans = [_plan(leaves[i], name) for i in places]
    values = getattr(dask, name)(*plans, traverse=False, **keywords)
    for i, value in zip(places, values, strict=True):
        leaf = leaves[i]
        leaves[i] = wrap(leaf, value) if isinstance(leaf, Tensor) else value
    return tuple(unflatten(leaves))


def _plan(leaf: Any, name: str) -> Any:
    """The Dask collection that a leaf stands for."""
    array = leaf.array if isinstance(leaf, Tensor) else leaf
    if isinstance(array, Array):
        raise TypeError(
            f"{name}() was given a {type(array).__name__} array, which stands for values inside a "
            f"transform: {name} what the transform returns"
        )
    return array


def _constant(tensor: Tensor, value: Any) -> Tensor:
    return tensor.like(value)


def _in_place_of(tensor: Tensor, value: Any) -> Tensor:
    if tensor.is_leaf:
        return tensor.like(value).requires_grad_(tensor.requires_grad)
    return tensor.like(value, tensor._node)
