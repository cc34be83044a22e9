"""Reverse mode as a transform of functions: `grad`, `value_and_grad`, `vjp`, `linearize`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import ops
from ..autograd.modes import enable_grad, is_grad_enabled
from ..backends import backend_of
from ..engine import Sweep
from ..graph import Node
from ..levels import new_level
from ..ops.op import Array
from ..tensor import Tensor, tensor_type_at
from .trees import as_array, flatten, flatten_like, tree_map

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


class Recording:
    """A function's run on tensors of a level of their own.

    `leaves` are the tensors that stood for the inputs, `outputs` what the function returned for
    them, leaf by leaf, with everything of the level still recorded.
    """

    def __init__(self, function: Function, args: tuple[Any, ...], name: str) -> None:
        flat, unflatten = flatten(args)
        arrays = [as_array(leaf, name) for leaf in flat]
        with new_level() as self.level, enable_grad():
            make = tensor_type_at(self.level)
            self.leaves = [make(array).requires_grad_() for array in arrays]
            self.result = function(*unflatten(self.leaves))

    def strip(self, value: Any) -> Any:
        """A value as it is outside the transform."""
        if isinstance(value, Tensor) and value.level == self.level:
            return value.array
        return value

    def pull(self, outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        """The cotangents of the inputs for cotangents of some outputs."""
        pairs: list[tuple[Node, Any]] = [
            (out._node, cotangent)
            for out, cotangent in zip(outputs, cotangents, strict=True)
            if isinstance(out, Tensor) and out.level == self.level and out._node is not None
        ]
        targets = [leaf._node for leaf in self.leaves]
        assert all(t is not None for t in targets)
        sweep = Sweep([node for node, _ in pairs], targets, self.level, False)  # type: ignore[arg-type]
        results = sweep.run(pairs)
        gradients = []
        for target, leaf in zip(targets, self.leaves, strict=True):
            held = [results[target]]  # type: ignore[index]
            results[target] = None  # type: ignore[index]
            gradients.append(own(held, leaf._array))
        return gradients


def own(held: list[Any], like: Any) -> Any:
    """A cotangent that shares no memory with anything; zeros in place of None."""
    if held[0] is None:
        return ops.zeros_like(like)
    return held.pop() if isinstance(held[0], Array) else backend_of(held[0]).own(held)


def value_and_grad(function: Function, argnums: Argnums = 0, *, has_aux: bool = False) -> Function:
    """A function that returns `function`'s value and its gradient.

    Parameters
    ----------
    function : callable
        Returns a real number (a 0-d array); with `has_aux`, a pair of that and anything else.
    argnums : int or tuple of int
        The positional arguments to differentiate with respect to; each may be any structure of
        arrays. A tuple gives a tuple of gradients.
    has_aux : bool

    Returns
    -------
    callable
        Called like `function`; returns `(value, gradient)`, or `((value, aux), gradient)`. Plain
        arrays in give plain arrays out, tensors give tensors.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.value_and_grad(lambda x: (x**2).sum())(np.array([1.0, 2.0]))
    (array(5.), array([2., 4.]))
    """

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        chosen, run = of_chosen(function, argnums, args, kwargs)
        recording = Recording(run, chosen, "the arguments in argnums")
        value, aux = split_aux(recording.result, has_aux)
        gradients = recording.pull([value], [_one(value)])
        _, unflatten = flatten(chosen)
        shaped = unflatten(gradients)
        result = shaped[0] if isinstance(argnums, int) else tuple(shaped)
        value = _leave(recording.strip(value))
        if not has_aux:
            return value, _leave_all(result)
        return (value, _leave_all(tree_map(recording.strip, aux))), _leave_all(result)

    return differentiated


def grad(function: Function, argnums: Argnums = 0, *, has_aux: bool = False) -> Function:
    """The gradient of a function as a function. See `value_and_grad`.

    With `has_aux`, it returns `(gradient, aux)`.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.grad(lambda x: ag.sin(x))(np.array(0.0))
    array(1.)
    >>> ag.func.grad(ag.func.grad(lambda x: x**3))(np.array(2.0))
    array(12.)
    """
    both = value_and_grad(function, argnums, has_aux=has_aux)

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return differentiated


def vjp(function: Function, *primals: Any, has_aux: bool = False) -> Any:
    """A function's value, and the function that pulls cotangents back through it.

    Returns
    -------
    (value, pull) or (value, pull, aux)
        `pull(cotangents)` takes the structure of `value` and returns a tuple with the structure
        of each primal. It can be called any number of times.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> value, pull = ag.func.vjp(ag.sin, np.array([0.0, 1.0]))
    >>> pull(np.array([1.0, 0.0]))
    (array([1., 0.]),)
    """
    recording = Recording(function, primals, "primals")
    result, aux = split_aux(recording.result, has_aux)
    outputs, unflatten_out = flatten(result)
    value = unflatten_out([_leave(recording.strip(out)) for out in outputs])
    _, unflatten_in = flatten(primals)

    def pull(cotangents: Any) -> Any:
        flat = flatten_like(cotangents, value, "cotangents", "the function's value")
        for i, (given, out) in enumerate(zip(flat, outputs, strict=True)):
            if tuple(given.shape) != tuple(out.shape):
                raise ValueError(
                    f"cotangent {i} has shape {tuple(given.shape)}, its value {tuple(out.shape)}"
                )
        return unflatten_in(recording.pull(outputs, flat))

    if has_aux:
        return value, pull, _leave_all(tree_map(recording.strip, aux))
    return value, pull


def linearize(function: Function, *primals: Any) -> tuple[Any, Function]:
    """A function's value, and its derivative there as a linear function of tangents.

    The function is run once; each call of the derivative costs about as much as a `pull`.

    Returns
    -------
    (value, push)
        `push(*tangents)` takes the structure of the primals and returns that of the value.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> value, push = ag.func.linearize(ag.sin, np.array([0.0, 1.0]))
    >>> push(np.array([2.0, 0.0]))
    array([2., 0.])
    """
    value, pull = vjp(function, *primals)
    # Pulling back is linear in the cotangents: its own transpose is pushing forward.
    cotangents = tree_map(ops.zeros_like, value)
    _, push = vjp(pull, cotangents)

    def pushed(*tangents: Any) -> Any:
        return push(tangents)[0]

    return value, pushed


def of_chosen(
    function: Function, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], Function]:
    """The arguments that `argnums` names, and `function` as a function of them alone."""
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for place in places:
        if not -len(args) <= place < len(args):
            raise ValueError(
                f"argnums names argument {place}, but {len(args)} positional were given"
            )

    def run(*values: Any) -> Any:
        full = list(args)
        for place, value in zip(places, values, strict=True):
            full[place] = value
        return function(*full, **kwargs)

    return tuple(args[place] for place in places), run


def split_aux(result: Any, has_aux: bool) -> tuple[Any, Any]:
    """A function's result as its value and what it returned beside it."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError("with has_aux=True the function must return a pair (value, aux)")
    return result


def _one(value: Any) -> Any:
    """The cotangent one of a function's value, which must be a real number."""
    if not hasattr(value, "shape") or value.shape != ():
        shape = getattr(value, "shape", None)
        what = type(value).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise ValueError(f"the function must return a number (a 0-d array), it returned {what}")
    if backend_of(value).kind(value.dtype) == "c":
        raise ValueError("the function must return a real number, it returned a complex one")
    return ops.ones_like(value)


def _leave(value: Any) -> Any:
    """A result on its way out: cut off, if the caller records nothing."""
    if isinstance(value, Tensor) and not is_grad_enabled():
        return value.detach()
    return value


def _leave_all(tree: Any) -> Any:
    return tree if is_grad_enabled() else tree_map(_leave, tree)
