"""Reverse mode as a transform of functions: `grad`, `value_and_grad`, `vjp`, `linearize`.

Jacobians and Hessians are in `func.jacobians`.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, SupportsIndex, overload

import numpy as np

from .. import ops
from ..arrays.creation import operand
from ..arrays.tensor import Tensor, tensor_type_at
from ..backends import backend_of
from ..core.array import AnyFunction, Array
from ..core.levels import at_level, new_level
from ..core.modes import ModeContext, current_modes, is_grad_enabled
from ..core.nodes import Node
from ..sweep.engine import Sweep
from .signatures import Both, First, LikeFirst, P, R, S, Ts, ValueAndLikeFirst, X, Y
from .trees import (
    Given,
    Path,
    arrays_of,
    as_array,
    as_function,
    check_result,
    flatten,
    flatten_like,
    item_of,
    like_given,
    lowered,
    tree_map,
    unrecorded,
    vector_like,
)

Argnums = SupportsIndex | str | Sequence[int | str]


class Tape:
    """One run of a function on tensors of a new level, to be differentiated.

    All ops on this level are recorded, whatever the caller's grad mode is.

    Parameters
    ----------
    function : callable
    args : tuple
        The arguments of the function, which become leaves of the new level.
    name : str or callable
        What errors call the arguments.
    given : Given, optional
        All arguments of the transform, if these are more than `args`.
    kind : callable
        The type of the tensors, given their level.

    Attributes
    ----------
    level : int
        The level of the run.
    leaves : list of Tensor
        The arrays in `args`, as leaves.
    result : structure of arrays
        The function's result, still with its nodes of this level.
    """

    def __init__(
        self,
        function: AnyFunction,
        args: tuple[Any, ...],
        name: str | Callable[[Path], str],
        given: Given | None = None,
        kind: Callable[[float], type[Tensor]] = tensor_type_at,
    ) -> None:
        self.given = given or Given(args)
        arrays, unflatten = arrays_of(args, item_of(name) if isinstance(name, str) else name)
        with new_level() as self.level:
            make = kind(self.level)
            self.leaves = [make._leaf_over(array) for array in arrays]
            modes = current_modes()
            if modes.grad and not modes.inference:
                result = function(*unflatten(self.leaves))
            else:
                with ModeContext(grad=True, inference=False):
                    result = function(*unflatten(self.leaves))
        if type(result) is not make:
            result = tree_map(lambda leaf: lowered(leaf, self.level), result)
        self.result = result

    def strip(self, value: Any) -> Any:
        """A value as the caller sees it: without this level, under `no_grad` without any node."""
        value = lowered(value, self.level)
        if isinstance(value, Tensor) and value.level == self.level:
            value = value.array
        return self.given.result(value if is_grad_enabled() else unrecorded(value))

    def pull(self, outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        """The cotangents of the leaves, from the cotangents of some outputs."""
        level = self.level
        pairs: list[tuple[Node, Any]] = [
            (out._node, operand(cotangent, isinstance(out._array, Array)))
            for out, cotangent in zip(outputs, cotangents, strict=True)
            if isinstance(out, Tensor) and out.level == level and out._node is not None
        ]
        targets: list[Any] = [leaf._node for leaf in self.leaves]
        modes, starts = current_modes(), [node for node, _ in pairs]
        restores = modes.keeps_written is not False
        sweep = Sweep(starts, targets, level, False, modes.anomaly, restores)
        with at_level(level):
            results = sweep.run(pairs)
        gradients = []
        for leaf in self.leaves:
            held = [results[leaf._node]]  # type: ignore[index]
            results[leaf._node] = None  # type: ignore[index]
            gradients.append(own(held, leaf._array))
        return gradients


def own(held: list[Any], like: Any) -> Any:
    """A cotangent that shares no memory with another array; zeros in place of None."""
    if held[0] is None:
        return ops.zeros_like(like)
    return held.pop() if isinstance(held[0], Array) else backend_of(held[0]).own(held)


@overload
def value_and_grad(
    function: Callable[Concatenate[Tensor, P], R],
    argnums: First = 0,
    *,
    has_aux: Literal[False] = False,
) -> ValueAndLikeFirst[P, R]: ...
@overload
def value_and_grad(
    function: Callable[Concatenate[X, P], R], argnums: First = 0, *, has_aux: bool = False
) -> Callable[Concatenate[X, P], tuple[R, X]]: ...
@overload
def value_and_grad(  # type: ignore[overload-overlap]
    function: Callable[Concatenate[X, Y, P], R], argnums: Both, *, has_aux: bool = False
) -> Callable[Concatenate[X, Y, P], tuple[R, tuple[X, Y]]]: ...
@overload
def value_and_grad(
    function: Callable[P, R], argnums: Argnums = 0, *, has_aux: bool = False
) -> Callable[P, tuple[R, Any]]: ...
def value_and_grad(function: AnyFunction, argnums: Argnums = 0, *, has_aux: bool = False) -> Any:
    """A function that returns `function`'s value and its gradient.

    Parameters
    ----------
    function : callable
        Returns a real number (a 0-d array); with `has_aux`, a pair of that and anything else.
    argnums : int, str, or tuple of them
        The positions or names of the arguments to differentiate with respect to; each may be any
        structure of arrays. A tuple gives a tuple of gradients.
    has_aux : bool

    Returns
    -------
    callable
        Called like `function`; returns `(value, gradient)`, or `((value, aux), gradient)`. Plain
        arrays give plain arrays, tensors give tensors. If `function` also uses a tensor from
        outside that requires gradients, plain arrays give tensors, too.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.value_and_grad(lambda x: (x**2).sum())(np.array([1.0, 2.0]))
    (array(5.), array([2., 4.]))
    """
    as_function(function, "value_and_grad")

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        chosen = Chosen(function, argnums, args, kwargs)
        tape = Tape(chosen.run, chosen.values, chosen.name, chosen.given)
        value, aux = split_aux(tape.result, has_aux)
        if hasattr(value, "shape"):
            (number,), labelled = flatten(value)  # an array, maybe one of xarray's
        else:
            number, labelled = value, operator.itemgetter(0)
        gradients = tape.pull([number], [_one(number)])
        found = chosen.shaped([tape.strip(gradient) for gradient in gradients])
        value = labelled([tape.strip(number)])
        return ((value, tree_map(tape.strip, aux)), found) if has_aux else (value, found)

    return differentiated


@overload
def grad(
    function: Callable[Concatenate[Tensor, P], Any],
    argnums: First = 0,
    *,
    has_aux: Literal[False] = False,
) -> LikeFirst[P]: ...
@overload
def grad(
    function: Callable[Concatenate[X, P], Any],
    argnums: First = 0,
    *,
    has_aux: Literal[False] = False,
) -> Callable[Concatenate[X, P], X]: ...
@overload
def grad(  # type: ignore[overload-overlap]
    function: Callable[Concatenate[X, Y, P], Any],
    argnums: Both,
    *,
    has_aux: Literal[False] = False,
) -> Callable[Concatenate[X, Y, P], tuple[X, Y]]: ...
@overload
def grad(
    function: Callable[Concatenate[X, P], tuple[Any, S]],
    argnums: First = 0,
    *,
    has_aux: Literal[True],
) -> Callable[Concatenate[X, P], tuple[X, S]]: ...
@overload
def grad(
    function: Callable[P, Any], argnums: Argnums = 0, *, has_aux: bool = False
) -> Callable[P, Any]: ...
def grad(function: AnyFunction, argnums: Argnums = 0, *, has_aux: bool = False) -> Any:
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
    both = value_and_grad(as_function(function, "grad"), argnums, has_aux=has_aux)

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return differentiated


@overload
def vjp(
    function: Callable[[*Ts], R], *primals: *Ts, has_aux: Literal[False] = False
) -> tuple[R, Callable[[Any], tuple[*Ts]]]: ...
@overload
def vjp(
    function: Callable[[*Ts], tuple[R, S]], *primals: *Ts, has_aux: Literal[True]
) -> tuple[R, Callable[[Any], tuple[*Ts]], S]: ...
def vjp(  # type: ignore[misc]
    function: AnyFunction, *primals: Any, has_aux: bool = False
) -> Any:
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
    return _vjp(as_function(function, "vjp"), primals, has_aux, primals)


def _vjp(function: AnyFunction, primals: tuple[Any, ...], has_aux: bool, arguments: Any) -> Any:
    """`vjp`, for a transform that was called with `arguments`."""
    tape = Tape(function, primals, "primals", Given(arguments))
    result, aux = split_aux(tape.result, has_aux)
    outputs, unflatten_out = flatten(result)
    check_result(outputs)
    value = unflatten_out([tape.strip(out) for out in outputs])
    inputs, unflatten_in = flatten(primals)

    def pull(cotangents: Any) -> Any:
        flat = flatten_like(cotangents, value, "cotangents", "the function's value")
        seeds = [
            vector_like(given, out, f"cotangent {i}", "its value")
            for i, (given, out) in enumerate(zip(flat, outputs, strict=True))
        ]
        result = Given(arguments, cotangents).result
        pulled = [result(g) for g in tape.pull(outputs, seeds)]
        return unflatten_in([like_given(*pair) for pair in zip(pulled, inputs, strict=True)])

    return (value, pull, tree_map(tape.strip, aux)) if has_aux else (value, pull)


def linearize(function: Callable[[*Ts], R], *primals: *Ts) -> tuple[R, Callable[..., R]]:
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
    value, pull = vjp(as_function(function, "linearize"), *primals)
    outputs, rebuild = flatten(value)
    moving = [i for i, out in enumerate(outputs) if ops.is_inexact(out)]

    def zeros() -> list[Any]:
        return [ops.zeros_like(out) if hasattr(out, "dtype") else 0.0 for out in outputs]

    def pull_moving(*cotangents: Any) -> Any:
        full = zeros()
        for i, cotangent in zip(moving, cotangents, strict=True):
            full[i] = cotangent
        return pull(rebuild(full))

    # `pull` is linear in the cotangents, and its transpose pushes tangents forward. It is run at
    # the cotangent zero, where a NaN is no anomaly.
    start = zeros()
    with ModeContext(anomaly=current_modes().anomaly and "trace"):
        _, transposed = _vjp(pull_moving, tuple(start[i] for i in moving), False, primals)

    def push(*tangents: Any) -> Any:
        flat = flatten_like(tangents, primals, "tangents", "the primals")
        seeds = [
            vector_like(given, primal, f"tangent {i}", "its primal")
            for i, (given, primal) in enumerate(zip(flat, flatten(primals)[0], strict=True))
        ]
        pushed = zeros()
        for i, tangent in zip(moving, transposed(flatten(primals)[1](seeds)), strict=True):
            pushed[i] = like_given(tangent, outputs[i])
        return rebuild(pushed)

    return value, push


class Chosen:
    """The arguments that `argnums` names, and the function as a function of them alone."""

    def __init__(
        self, function: AnyFunction, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.given = Given(args, kwargs)
        self.single = not isinstance(argnums, tuple | list)
        numbers: Any = (argnums,) if self.single else argnums
        self.places = tuple(_place(function, number, args, kwargs) for number in numbers)
        if not self.places:
            raise ValueError("argnums is empty: name at least one argument")
        if len(set(self.places)) != len(self.places):
            raise ValueError(f"argnums names an argument twice: {argnums}")
        self.values = tuple(
            kwargs[place] if isinstance(place, str) else args[place] for place in self.places
        )

    def run(self, *values: Any) -> Any:
        """Call the function with other values for the chosen arguments."""
        full: Any = dict(enumerate(self.args)) | self.kwargs
        full |= zip(self.places, values, strict=True)
        named = {name: full.pop(name) for name in self.kwargs}
        return self.function(*full.values(), **named)

    def name(self, path: Path) -> str:
        """What errors call the part of the values at a path."""
        return item_of(f"argument {self.places[path[0]]!r}")(path[1:])

    def shaped(self, leaves: list[Any]) -> Any:
        """Leaves in the structure of the values; for a single argnum, in that of its argument."""
        given, unflatten = flatten(self.values)
        shaped = unflatten([like_given(*pair) for pair in zip(leaves, given, strict=True)])
        return shaped[0] if self.single else shaped


def _place(
    function: AnyFunction, number: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> int | str:
    """The position in `args`, or the name in `kwargs`, that an item of `argnums` names."""
    if isinstance(number, str):
        if number in kwargs:
            return number
        names = list(inspect.signature(function).parameters)
        if number not in names[: len(args)]:
            raise ValueError(f"argnums names argument {number!r}, which was not given")
        return names.index(number)
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TypeError(f"argnums must be an int, a name or a tuple of them, not {number!r}")
    place = operator.index(number)
    if not -len(args) <= place < len(args):
        raise ValueError(
            f"argnums names argument {place}, but {len(args)} were given by position: name an "
            "argument that is given by keyword by its name"
        )
    return place % len(args)


def stop_gradient(tree: X, /) -> X:
    """The same values, as constants for all derivatives around them.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.grad(lambda x: x * ag.func.stop_gradient(x))(np.array(3.0))
    array(3.)
    """
    constant: X = tree_map(lambda x: x.detach() if isinstance(x, Array) else x, tree)
    return constant


def linear_transpose(function: AnyFunction, *primals: Any) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a linear function: it takes cotangents of the result to the arguments.

    Parameters
    ----------
    function : callable
        It must be linear in all arguments together. This is not checked.
    *primals : any structures
        Arguments; only their shapes and dtypes matter.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> transpose = ag.func.linear_transpose(lambda x: ag.cumulative_sum(x), np.ones(3))
    >>> transpose(np.array([1.0, 10.0, 100.0]))
    (array([111., 110., 100.]),)
    """
    zeros = tree_map(lambda x: ops.zeros_like(as_array(x, "a primal")), primals)
    return vjp(as_function(function, "linear_transpose"), *zeros)[1]


def split_aux(result: Any, has_aux: bool) -> tuple[Any, Any]:
    """A function's result as a pair: its value, and aux or None."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError("with has_aux=True the function must return a pair (value, aux)")
    return result


def _one(value: Any) -> Any:
    """The cotangent of a function's value, which must be a real number: one."""
    if isinstance(value, int | float):  # a constant
        return np.asarray(1.0)
    if not hasattr(value, "shape") or value.shape != ():
        shape = getattr(value, "shape", None)
        what = type(value).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise ValueError(
            f"the function must return one real number (a 0-d array), but it returned {what}: "
            "reduce it, for example by sum(), or use jacobian()"
        )
    if backend_of(value).kind(value.dtype) != "f":
        raise ValueError(
            f"the function must return a real floating-point number, but it returned {value.dtype}"
        )
    return ops.ones_like(value)
