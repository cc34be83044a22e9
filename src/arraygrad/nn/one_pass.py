"""Functions of several ops as one op, which native code computes.

`one_pass` is for elementwise functions. The rules of such an op follow from the function: they are
its `vjp`, and so are one pass, too. An op has all that belongs to its kind: forward mode, batches,
second derivatives. `one_program` is for other functions. The op of such a function, and all of its
transforms, are those of the compiled function.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..arrays.tensor import Tensor
from ..backends.numpy import native
from ..core.array import Array, plain
from ..core.kinds import Elementwise
from ..core.modes import current_modes
from ..core.nodes import recorder
from ..func.reverse import vjp
from ..ops.define.library import declare
from ..ops.define.rules import Rule
from ..ops.shape import broadcast_to

F = TypeVar("F", bound=Callable[..., Any])


def one_pass(function: F) -> F:
    """The function as an op, where native code computes it; else as it is.

    Its arguments are arrays and numbers. Arrays that broadcast are left to the function itself.
    """
    name = function.__name__.strip("_")
    inputs = tuple(inspect.signature(function).parameters)
    rules: dict[str, Any] = {
        f"vjp_{n}": Rule(("g", *inputs), _rule(function, i), is_whole=True)
        for i, n in enumerate(inputs)
    }
    of_arrays = declare(
        name,
        *inputs,
        kind=Elementwise(),
        compute=lambda xp, *arrays: function(*arrays),
        **rules,
    )

    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        shapes = {a.shape for a in arguments if hasattr(a, "shape")}
        x = plain(arguments[0])
        is_large = type(x) is np.ndarray and x.size >= native.SMALL and len(shapes) == 1
        if is_large and native.compiler() is not None:
            return of_arrays(*arguments)
        return function(*arguments)

    run.op = of_arrays.op  # type: ignore[attr-defined]  # other processes find the op by it
    return run  # type: ignore[return-value]


def _rule(function: Callable[..., Any], position: int) -> Callable[..., Any]:
    """The reverse rule for one of the arguments."""

    def rule(g: Any, *values: Any) -> Any:
        def of_one(x: Any) -> Any:
            return function(*values[:position], x, *values[position + 1 :])

        out, pull = vjp(of_one, values[position])
        (found,) = pull(g if g.shape == out.shape else broadcast_to(g, out.shape))
        return found

    return rule


def one_program(function: F) -> F:
    """The function as an op, where a program computes it; else as it is.

    Its positional arguments are arrays or None, its keywords are settings that can be hashed. There
    is one program for each signature, for arrays of `native.FEW` elements and more.
    """

    @functools.wraps(function)
    def run(*arrays: Any, **settings: Any) -> Any:
        program = program_of(function, arrays, settings)
        if program:
            try:
                return program([a for a in arrays if a is not None])
            except (IndexError, native.NotFinite):
                pass  # the function itself says which index is wrong; NumPy may warn or raise
        return function(*arrays, **settings)

    return run  # type: ignore[return-value]


def program_of(
    function: Callable[..., Any], arrays: tuple[Any, ...], settings: dict[str, Any]
) -> Any:
    """The program of a function for arrays like these; None if there is none."""
    kinds = _kinds_of(arrays)
    made = None if kinds is None else native.compiler()
    if made is None:
        return None
    chosen = tuple([(key, type(value), value) for key, value in settings.items()])
    return made.kept((function, kinds, chosen), _program, function, arrays, settings)


def _program(
    function: Callable[..., Any], arrays: tuple[Any, ...], settings: dict[str, Any]
) -> Any:
    if not all(a is None or native.is_common(a.shape) for a in arrays):
        raise native.NotCommon

    from ..compiler.call.compiled import compile
    from ..compiler.call.derivative import Differentiable
    from ..compiler.run.open_kernel import NotOpen

    def flat(leaves: list[Any]) -> Any:
        try:
            return function(*leaves, **settings)
        except ValueError as error:  # of arguments, which the function says to the user
            raise NotOpen from error

    name = function.__name__.strip("_")
    places = [i for i, a in enumerate(arrays) if a is not None]
    return Differentiable(flat, list(arrays), places, compile, name=name, reports=True)


def is_in_program(x: Any) -> bool:
    """Whether a program is being written, in which ops that follow each other become one pass."""
    return isinstance(plain(x), Array)


def is_eager(*arrays: Any) -> bool:
    """Whether arrays are NumPy's, or tensors over them, and no function is traced."""
    for a in arrays:
        if type(a._array if isinstance(a, Tensor) else a) is not np.ndarray:
            return False
    return current_modes().closing is None


def _kinds_of(arrays: tuple[Any, ...]) -> Any:
    """What the programs for different arrays differ by; None if there is none for these arrays."""
    modes = current_modes()
    # Hooks are for the arrays that ops save, and anomaly detection is for the op that made a NaN.
    if modes.closing or modes.saved_hooks is not None or modes.anomaly:
        return None
    found: list[Any] = [recorder() is None]
    size, dtype = 0, None
    for a in arrays:
        if a is None:
            found.append(None)
            continue
        inner = a._array if isinstance(a, Tensor) else a
        if type(inner) is not np.ndarray or not inner.dtype.isnative:
            return None
        kind = inner.dtype.char
        if kind in "fd":
            if dtype not in (None, kind):
                return None
            dtype = kind
        elif kind not in "lqi?":
            return None
        size = max(size, inner.size)
        requires = None if inner is a else a._node is not None
        found.append((inner.shape, inner.dtype, requires))
    if size < native.FEW or not native.can_compute():
        return None
    return tuple(found)
