"""Loops as functions: `scan`, `while_loop` and `fori_loop`; and `cond`, a choice between functions.

Eagerly, these are Python loops over ops, so derivatives and batches follow. While a function is
compiled, they become one step of the program, with a program of their own: see `compiler.loops`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from numbers import Number
from typing import Any, TypeVar

import numpy as np

from ..backends import backend_of
from ..core.array import AnyFunction, Array
from ..core.structures import taken_apart
from .carries import Form
from .eager_loops import Eager
from .trees import as_function

MOST_NUMBERS = 1 << 20  # steps of a `fori_loop` whose numbers are an array

C = TypeVar("C")

# While a function is compiled: what writes down loops and choices. It has the methods `scan`,
# `while_loop` and `cond`, which take and return lists of leaves.
WRITER: ContextVar[Any] = ContextVar("arraygrad_loop_writer", default=None)

Leaves = list[Any]


# --- scan ----------------------------------------------------------------------------------------


def scan(
    f: Callable[[C, Any], tuple[C, Any]],
    init: C,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    *,
    memory: int | None = None,
) -> tuple[C, Any]:
    """Run a function step by step over arrays, and hand a state from each step to the next.

    It is what this loop computes, for any structures of arrays::

        state, ys = init, []
        for x in xs:
            state, y = f(state, x)
            ys.append(y)
        return state, stack(ys)

    In a compiled function it is one step of the program: the time to compile does not depend on the
    number of steps, and neither does that of its derivatives.

    Parameters
    ----------
    f : callable
        ``f(state, x)`` returns a pair: the next state, of the same structure, shapes and dtypes,
        and a structure of arrays, or None.
    init : any structure of arrays and numbers
        The first state.
    xs : any structure of arrays, optional
        What the loop goes over: the first axis of each array.
    length : int, optional
        The number of steps; needed only without `xs`.
    reverse : bool
        Whether to go from the last element to the first. What `f` returns is put in the place of
        its `x` in any case.
    memory : int, optional
        About how many bytes may be kept for the reverse pass. If the steps need more, the loop
        keeps only some states, and computes the steps between them again.

    Returns
    -------
    (state, ys)
        The last state, and what `f` returned in each step, stacked along a new first axis.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> def interest(capital, rate):
    ...     capital = capital * (1 + rate)
    ...     return capital, capital
    >>> ag.func.scan(interest, np.array(100.0), np.array([0.1, 0.2]))
    (np.float64(132.0), array([110., 132.]))
    >>> ag.func.grad(lambda c: ag.func.scan(interest, c, np.array([0.1, 0.2]))[0])(np.array(100.0))
    array(1.32)
    """
    import optree

    as_function(f, "scan")
    carry = Form(init, "scan")
    leaves, spec = taken_apart(xs)
    count = _length(leaves, spec, length)
    if memory is not None and (isinstance(memory, bool) or not hasattr(memory, "__index__")):
        raise TypeError(f"scan(): memory is a number of bytes, not {memory!r}")
    ys_spec: Any = None
    is_array = len(leaves) == 1 and leaves[0] is xs  # most are: optree takes longer than a step
    gives_array = False

    def step(state: Leaves, x: Leaves) -> tuple[Leaves, Leaves]:
        nonlocal ys_spec, gives_array
        found = f(carry.tree(state), x[0] if is_array else optree.tree_unflatten(spec, x))
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError(
                "scan(): f must return a pair: the next state, and a result for this step or None"
            )
        if gives_array and hasattr(found[1], "dtype"):
            return carry.leaves_of(found[0], "f"), [found[1]]
        y, now = taken_apart(found[1])
        if ys_spec is not None and now != ys_spec:
            raise TypeError(
                f"scan(): f returned a second result of structure {now}, after one of structure "
                f"{ys_spec}: it must be the same in all steps"
            )
        for i, leaf in enumerate(y):
            if not hasattr(leaf, "dtype") and not isinstance(leaf, Number):
                raise TypeError(
                    f"scan(): f must return arrays and numbers, but leaf {i} of its second result "
                    f"is of type {type(leaf).__name__}"
                )
        ys_spec, gives_array = now, len(y) == 1 and y[0] is found[1]
        return carry.leaves_of(found[0], "f"), y

    run = WRITER.get() or Eager()
    state, ys = run.scan(step, carry.leaves, leaves, count, bool(reverse), memory)
    return carry.tree(state), optree.tree_unflatten(ys_spec, ys)


def _length(leaves: Leaves, spec: Any, length: int | None) -> int:
    """The number of steps of a scan."""
    import optree

    found: dict[str, int] = {}
    for leaf, path in zip(leaves, optree.treespec_paths(spec), strict=True):
        name = "xs" + "".join(f"[{key!r}]" for key in path)
        if not getattr(leaf, "ndim", 0):
            what = "a 0-d array" if hasattr(leaf, "ndim") else f"of type {type(leaf).__name__}"
            raise TypeError(f"scan(): {name} is {what}, but the loop goes over its first axis")
        found[name] = int(leaf.shape[0])
    if length is not None:
        if isinstance(length, bool) or not hasattr(length, "__index__"):
            raise TypeError(f"scan(): length must be an integer, not {length!r}")
        found["length"] = operator.index(length)
    if not found:
        raise TypeError("scan() needs xs to go over, or length=, the number of steps")
    if len(set(found.values())) > 1:
        told = ", ".join(f"{name}: {n}" for name, n in found.items())
        raise ValueError(f"scan(): the lengths of the loop differ: {told}")
    count = next(iter(found.values()))
    if count < 0:
        raise ValueError(f"scan(): length is {count}: it must not be negative")
    return count


# --- while_loop, fori_loop -----------------------------------------------------------------------


def while_loop(cond_fun: Callable[[C], Any], body_fun: Callable[[C], C], init_val: C) -> C:
    """Run a function on its own result, as long as a condition holds.

    Parameters
    ----------
    cond_fun : callable
        ``cond_fun(state)`` returns whether to go on: a 0-d array, or a Python bool.
    body_fun : callable
        ``body_fun(state)`` returns the next state, of the same structure, shapes and dtypes.
    init_val : any structure of arrays and numbers
        The first state.

    Returns
    -------
    The first state for which `cond_fun` is false.

    Notes
    -----
    Both modes of differentiation work. The number of steps counts as a constant. In a compiled
    function, the reverse pass runs the loop again and keeps the state of each step, so its memory
    grows with the number of steps. In a batch, the loop goes on until it has ended for all members;
    those that ended before stay as they are.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> def halved(x):
    ...     return ag.func.while_loop(lambda x: x > 1, lambda x: x / 2, x)
    >>> halved(np.array(10.0))
    np.float64(0.625)
    >>> ag.func.grad(halved)(np.array(10.0))
    array(0.0625)
    """
    as_function(cond_fun, "while_loop")
    as_function(body_fun, "while_loop")
    carry = Form(init_val, "while_loop")

    def condition(state: Leaves) -> Any:
        return _predicate(cond_fun(carry.tree(state)), "while_loop(): cond_fun")

    def body(state: Leaves) -> Leaves:
        return carry.leaves_of(body_fun(carry.tree(state)), "body_fun")

    run = WRITER.get() or Eager()
    return carry.tree(run.while_loop(condition, body, carry.leaves))  # type: ignore[no-any-return]


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, C], C], init_val: C) -> C:
    """Run a function for each integer from `lower` up to, and without, `upper`.

    Parameters
    ----------
    lower, upper : int, or 0-d array of integers
        If both are numbers, and not far apart, the loop is a `scan`. Else it is a `while_loop`.
    body_fun : callable
        ``body_fun(i, state)`` returns the next state, of the same structure, shapes and dtypes.
    init_val : any structure of arrays and numbers
        The first state.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.fori_loop(1, 5, lambda i, product: product * i, np.array(1))
    np.int64(24)
    """
    as_function(body_fun, "fori_loop")
    for name, value in (("lower", lower), ("upper", upper)):
        dtype = getattr(value, "dtype", None)
        is_integer = isinstance(value, int) if dtype is None else _is_integer(value)
        if not is_integer or getattr(value, "shape", ()) != ():
            raise TypeError(f"fori_loop(): {name} must be an integer, not {value!r}")
    are_known = isinstance(lower, int) and isinstance(upper, int)
    if are_known and upper - lower <= MOST_NUMBERS:
        numbers = np.arange(lower, upper)
        return scan(lambda state, i: (body_fun(i, state), None), init_val, numbers)[0]
    # The start has the dtype, library and batch of the numbers to come.
    start = np.int64(lower) if are_known else lower + 0 * upper

    def following(state: tuple[Any, C]) -> tuple[Any, C]:
        return state[0] + 1, body_fun(state[0], state[1])

    return while_loop(lambda state: state[0] < upper, following, (start, init_val))[1]


def _is_integer(array: Any) -> bool:
    return backend_of(array).kind(array.dtype) in "iu"


# --- cond ----------------------------------------------------------------------------------------


def cond(pred: Any, true_fun: Callable[..., C], false_fun: Callable[..., C], *operands: Any) -> C:
    """Call one of two functions, by the value of a predicate.

    Parameters
    ----------
    pred : bool, or 0-d array
    true_fun, false_fun : callable
        Called with `operands`. In a compiled function, both are compiled, and only one is run: they
        must return the same structure, shapes and dtypes. In a batch with a predicate for each
        member, both are run, and `where` chooses.
    *operands : any structures
        In a batch, a function gets the values of one of its own members in the place of those of
        the other function's members, so that it computes only where it is meant to.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> def logarithm(x):
    ...     return ag.func.cond(x > 0, ag.log, lambda x: -x, x)
    >>> logarithm(np.array(1.0)), logarithm(np.array(-3.0))
    (np.float64(0.0), np.float64(3.0))
    >>> ag.func.grad(logarithm)(np.array(2.0))
    array(0.5)
    """
    import optree

    as_function(true_fun, "cond")
    as_function(false_fun, "cond")
    pred = _predicate(pred, "cond(): pred")
    form: Form | None = None

    given, spec = taken_apart(operands)

    def branch(function: AnyFunction, name: str) -> Callable[[Leaves], Leaves]:
        def run(leaves: Leaves) -> Leaves:
            nonlocal form
            result = function(*optree.tree_unflatten(spec, leaves))
            if form is not None:
                return form.leaves_of(result, name)
            form = Form(result, "cond", f"the result of {name}")
            return form.leaves

        return run

    run = WRITER.get() if isinstance(pred, Array) else None
    chosen = branch(true_fun, "true_fun"), branch(false_fun, "false_fun")
    leaves = (run or Eager()).cond(pred, *chosen, given)
    assert form is not None
    return form.tree(leaves)  # type: ignore[no-any-return]


def switch(index: Any, branches: Sequence[Callable[..., C]], *operands: Any) -> C:
    """Call one of several functions, by an integer.

    Parameters
    ----------
    index : int, or 0-d array of integers
        Which function. Below zero it is the first, above the last number the last.
    branches : sequence of callable
        Called with `operands`. The rest is as in `cond`.
    *operands : any structures

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> @ag.compile
    ... def wave(k, x):
    ...     return ag.func.switch(k, [ag.sin, ag.cos, ag.tanh], x)
    >>> wave(np.array(1), np.array(0.0))
    array(1.)
    """
    if callable(branches):
        raise TypeError("switch(): branches must be a sequence of functions")
    if not branches:
        raise ValueError("switch(): branches is empty")
    is_one = not getattr(index, "shape", ())
    if not is_one or not (_is_integer(index) if hasattr(index, "dtype") else type(index) is int):
        raise TypeError(f"switch(): index must be one integer, not {index!r}")
    if len(branches) == 1:
        return as_function(branches[0], "switch")(*operands)  # type: ignore[no-any-return]
    half = len(branches) // 2
    low: Callable[..., C] = functools.partial(switch, index, branches[:half])
    high: Callable[..., C] = functools.partial(switch, index - half, branches[half:])
    return cond(index < half, low, high, *operands)


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """Apply a function to each slice along the first axis, one after the other.

    It needs the memory of one slice at a time, where `vmap` takes all at once. `f` and `xs` are as
    in `scan`.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.map(lambda row: ag.sum(row**2), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 5., 25.])
    """
    as_function(f, "map")
    return scan(lambda _, x: (None, f(x)), None, xs)[1]


def _predicate(value: Any, name: str) -> Any:
    """A condition, which must be one value."""
    if not hasattr(value, "dtype"):
        if not isinstance(value, Number):
            raise TypeError(f"{name} must be a bool or a 0-d array, not {type(value).__name__}")
        return bool(value)
    if tuple(value.shape) != ():
        raise TypeError(
            f"{name} must be one value, but has shape {tuple(value.shape)}: use any(), all(), or "
            "where() for a choice by elements"
        )
    return value
