"""`compute` and `persist`: compute the lazy arrays of Dask that are in tensors.

Ops, `grad` and printing do not compute a lazy array. The functions here do. How ops run on Dask
arrays is in `backends.dask`.
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
    """Compute all lazy arrays in some structures together, as one Dask graph.

    Values that several of them need are computed once: for example, the forward pass of a loss and
    of its gradients.

    Parameters
    ----------
    *structures
        Tensors, arrays and other objects, by themselves or in nested structures.
    **keywords
        Passed on to `dask.compute`: ``scheduler="threads"``, for instance.

    Returns
    -------
    tuple
        The structures, one entry for each. A Dask array becomes a NumPy array, or an array of the
        type of its blocks. A lazy tensor becomes a tensor with such an array; it is a constant, and
        requires no gradients. Everything else is returned as it is.

    See Also
    --------
    persist : compute, and keep the results where they are.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)  # with Dask arrays, the data is read once
    >>> loss = (x**2).sum()
    >>> value, gradient = ag.compute(loss, ag.grad(loss, x))
    """
    return _run("compute", structures, keywords, Tensor.like)


def persist(*structures: *Ts, **keywords: Any) -> tuple[*Ts]:
    """Start to compute the lazy arrays in some structures, and keep the results in the workers.

    On a cluster, `persist` returns at once, and the blocks stay on the machines that computed them.
    Without a cluster, it returns when the blocks are in this machine's memory. Use it for arrays
    that are used again and again, such as data that fits in the memory of all workers together.

    Parameters
    ----------
    *structures, **keywords
        As in `compute`; the keywords are those of `dask.persist`.

    Returns
    -------
    tuple
        The structures, one entry for each. Their lazy arrays refer to the blocks on the workers. A
        leaf that requires gradients becomes a new leaf that requires gradients. The result of an op
        keeps its node, but the values that the graph has saved are not persisted with it.

    Examples
    --------
    >>> import arraygrad as ag
    >>> (x,) = ag.persist(ag.ones(3))  # what is not lazy stays as it is
    """
    return cast("tuple[*Ts]", _run("persist", structures, keywords, _in_place_of))


def is_lazy(array: Any) -> bool:
    """Whether an array, plain or inside other arrays, is a Dask array, not yet computed."""
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
    """The Dask array of a leaf."""
    array = leaf.array if isinstance(leaf, Tensor) else leaf
    if isinstance(array, Array):
        raise TypeError(
            f"{name}() was given a {type(array).__name__} array, which stands for values inside a "
            f"transform: {name} what the transform returns"
        )
    return array


def _in_place_of(tensor: Tensor, value: Any) -> Tensor:
    if tensor.is_leaf:
        return tensor.like(value).requires_grad_(tensor.requires_grad)
    return tensor.like(value, tensor._node)
