"""The traced array: stands for a value of a program that is being written.

Its level is below all others, so every transform sees an op first and passes it on: derivatives,
batches and writes are traced as they are. No value is known while tracing. The backend of traced
arrays says so, as that of Dask does; what asks for a value gets an error that names the user's line
and the ways out.
"""

from __future__ import annotations

import gc
import itertools
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...arrays.methods import TransformMethods
from ...arrays.tensor import Tensor
from ...arrays.writes.transforms import Replaceable, link
from ...backends import register
from ...backends.numpy import NumpyBackend
from ...core.array import Array
from ...core.closing import lent
from ...core.cpython import lasting
from ...core.kinds import Moves, Opaque
from ...core.nodes import next_number
from ...core.saved import user_frames
from ...errors import DataDependentError
from ...ops.define.op import Op
from .inference import result_types, stand_in
from .interpret import values_of
from .program import Constant, Input, Node, Program, needed
from .simplify import simplified

_numbers = itertools.count()


class Trace:
    """One run of a function on traced arrays.

    Parameters
    ----------
    arguments : sequence of arrays
        NumPy arrays, each of which becomes an input of the program. Their values are used only to
        find out what a user's op, of which nothing is known, returns.
    program : Program, optional
        The program to write to; by default a new one.

    Attributes
    ----------
    program : Program
    inputs : list of Traced
        The traced arrays for the arguments.
    """

    def __init__(self, arguments: Sequence[Any] = (), program: Program | None = None) -> None:
        self.program = program or Program()
        self.start = next_number()  # nodes with smaller ones were made before
        self.number = next(_numbers)  # traces with smaller ones are around this one, or closed
        self._values: dict[Node, Any] = {}
        self.given: list[Traced] = []  # what stands for arrays from outside
        self._made_up: set[Node] = set()  # inputs whose values are none of the arguments'
        # Decisions by values, for `compile(specialize=True)`: what was decided by, and how.
        self.specializes = False
        self.decisions: list[tuple[Node, Any]] = []
        # Arrays from outside whose elements the program depends on, and copies of them: masks, and
        # what Python has read.
        self.read: list[tuple[Any, Any]] = []
        # What a new array without arguments becomes: in the body of a loop, it is lifted.
        self.wrap: Callable[[Traced], Any] | None = None
        # The results of writes to NumPy arrays, which may belong to tensors from outside.
        self._written: list[tuple[weakref.ref[Traced], Any]] = []
        self.is_open = True
        self.inputs = [self.input(array) for array in arguments]

    def input(self, array: Any) -> Traced:
        """A new input of the program, like an array."""
        node = self.program.input(array.shape, array.dtype)
        self._values[node] = array
        traced = Traced(node, self)
        traced.is_given = True
        return traced

    def captured(self, array: Any) -> Traced:
        """What stands for an array from outside."""
        traced = Traced(self.program.captured(array), self)
        traced.is_given = True
        self.given.append(traced)
        return traced

    def input_like(self, x: Any) -> Traced:
        """A new input with the shape and dtype of `x`, of unknown value."""
        made = self.input(stand_in(tuple(x.shape), np.dtype(x.dtype)))
        self._made_up.add(made.node)
        return made

    def decide(self, x: Traced, kind: type, what: str) -> Any:
        """The value of an array as a Python object, by which the function decides what to do."""
        is_known = self.is_open and x.size == 1
        if not (self.specializes and is_known) or self._made_up.intersection(needed([x.node])):
            raise _needs_value(what, can_specialize=not self.specializes)
        value = kind(np.asarray(values_of([x.node], self._values)[0]).item())
        self.decisions.append((x.node, value))
        return value

    def values(self, x: Traced) -> Any:
        """The values of an array that depends on arrays from outside alone; None for any other.

        Python reads them, so before each run these arrays are compared with what they are now.
        """
        nodes = needed([x.node])
        if not self.is_open or any(isinstance(n, Input) for n in nodes):
            return None
        arrays = [n.array for n in nodes if isinstance(n, Constant)]
        self.read += [(array, np.array(array, order="C")) for array in arrays]
        return np.array(values_of([x.node], self._values)[0])

    def close(self) -> bool:
        """End the trace. The traced arrays that still exist can no longer be used.

        Tensors from outside that the function has written get their arrays back. Returns whether
        there were any.
        """
        self.is_open = False
        self._values.clear()
        kept = [(found, array) for ref, array in self._written if (found := ref()) is not None]
        put_back = [_put_back(found, array) for found, array in kept]
        return any(put_back)

    def node(self, value: Any) -> Any:
        """A value as an argument in the program. Python's numbers stay as they are."""
        if isinstance(value, Traced):
            if value._trace is not self or not self.is_open:
                raise _outlived()
            return value.node
        return self.program.constant(value) if isinstance(value, np.ndarray) else value

    def apply(self, op: Op, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
        """Write down an op. Returns its result, or a tuple of its results."""
        if not self.is_open:
            raise _outlived()
        args = [self.node(a) for a in arrays]
        names = tuple(name for name, value in params.items() if isinstance(value, Traced))
        moving = [params[name] for name in names]
        params = {name: value for name, value in params.items() if name not in names}
        self._fix_masks(op, args)
        args += map(self.node, moving)
        known = params | {n: stand_in(v.shape, v.dtype) for n, v in zip(names, moving, strict=True)}
        types = result_types(op, args[: len(arrays)], known, lambda: self._known(args, names))
        found = simplified(self.program, op, tuple(args), params, types, names)
        if not op.multiple:
            traced = Traced(found, self)
            if op.kind.overwrites:
                before = arrays[0]
                traced.written = before.written if isinstance(before, Traced) else before
                if traced.written is not None:
                    self._written.append((weakref.ref(traced), traced.written))
            return traced
        return tuple(Traced(self.program.result(found, i), self) for i in range(len(types)))

    def _fix_masks(self, op: Op, args: list[Any]) -> None:
        """Take masks from outside as they are now; raise if a shape depends on unknown values."""
        kind = op.kind
        if isinstance(kind, Opaque) and kind.shape_by_values:
            raise _unknown_shape(
                f"{op.name}() returns as many elements as it finds: use where() with a mask"
            )
        if not isinstance(kind, Moves) or kind.template is None:
            return
        for i, a in enumerate(args):
            if getattr(a, "dtype", None) != np.bool_ or op.input_name(i) not in kind.indices:
                continue
            mask = self.values(Traced(a, self))
            if mask is None:
                raise _unknown_shape(
                    "x[mask] has as many elements as the mask has true ones: use where(mask, x, 0)"
                )
            args[i] = self.program.constant(mask)

    def _known(self, args: list[Any], names: tuple[str, ...]) -> list[Any]:
        """Arguments as arrays with values, computed from the arguments of the function."""
        return values_of(args[: len(args) - len(names)], self._values)

    def full(self, value: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array with one value."""
        made = Traced(self.program.full(value, tuple(shape), dtype), self)
        return made if self.wrap is None else self.wrap(made)


def _put_back(traced: Traced, array: Any) -> bool:
    """Give tensors that hold a traced array a NumPy array instead."""
    held = [x for x in gc.get_referrers(traced) if isinstance(x, Tensor) and x._array is traced]
    for tensor in held:
        tensor._array = array
    return bool(held)


class Traced(Replaceable, TransformMethods, Array):
    """A value of a program that is being written."""

    __slots__ = ("_trace", "is_given", "written")
    level = -math.inf
    is_plain = True

    def __init__(self, node: Any, trace: Trace) -> None:
        self._array = node
        self._trace = trace
        self.is_given = False  # whether it is an argument, which the function must not write
        self.written: Any = None  # the NumPy array whose place it took, if a write made it

    def is_outlived_by(self, leaf: Any) -> bool:
        return bool(leaf.number < self._trace.start)

    @property
    def node(self) -> Any:
        """The value's node in the program."""
        return self._array

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        given = lent(cls.level, arrays)
        if given is not None:
            return op.function(*given, **params)
        trace = next((a._trace for a in arrays if isinstance(a, Traced)), None)
        assert trace is not None
        out = trace.apply(op, arrays, params)
        if op.view and len(arrays) == 1:
            link(op, arrays[0], params, out)
        return out

    def _take_over(self, other: Any) -> None:
        if self.is_given:
            raise TypeError(
                "a compiled function cannot write to its arguments, or to arrays from outside"
                f"{_place()}: write to a copy, x = x.copy(), and return it"
            )
        self._array = other.node if isinstance(other, Traced) else self._trace.node(other)

    def detach(self) -> Traced:
        return self

    def over(self, function: Any) -> Any:
        return self  # there is no array inside

    def _read(self, refuse: Callable[[], Any]) -> Any:
        """The values for Python, which are known if they depend on arrays from outside alone."""
        found = self._trace.values(self)
        return refuse() if found is None else found

    def item(self) -> Any:
        """The value, if it is known."""

        def refuse() -> Any:
            raise _needs_value("a number", can_specialize=False)

        return self._read(refuse).item()

    def tolist(self) -> Any:
        """The values, if they are known."""
        return self.__array__().tolist()

    def __float__(self) -> float:
        def refuse() -> Any:  # NumPy asks for it, too, to write it to an array
            raise _needs_value("a number", f". {_MADE_HERE}", can_specialize=False)

        return float(self._read(refuse))

    def __complex__(self) -> complex:
        def refuse() -> Any:
            raise _needs_value("a number", f". {_MADE_HERE}", can_specialize=False)

        return complex(self._read(refuse))

    def __bool__(self) -> bool:
        what = "the truth of an array, as in `if` and `while`,"
        return bool(self._read(lambda: self._trace.decide(self, bool, what)))

    def __index__(self) -> int:
        if self.dtype.kind not in "biu":
            raise TypeError(f"only integers can be used as indices, not {self.dtype}")
        return int(self)

    def __format__(self, form: str) -> str:
        def refuse() -> Any:
            raise _needs_value("the text of a value", can_specialize=False)

        return format(self._read(refuse).item(), form) if form else repr(self)

    def __int__(self) -> int:
        return int(self._read(lambda: self._trace.decide(self, int, "an integer")))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        found = self._trace.values(self)
        if found is not None:
            return np.array(found, dtype=dtype)
        raise _data_dependent(
            "a NumPy array was asked for while the function was compiled, when no values are "
            f"known. {_MADE_HERE}; index an array of NumPy by ag.asarray(table)[i]; or compute "
            "this part outside of the compiled function"
        )

    def __repr__(self) -> str:
        return f"Traced(shape={self.shape}, dtype={self.dtype})"


class TracedBackend(NumpyBackend):
    """Arrays without values: results have NumPy's dtypes, and are computed later."""

    def full(self, like: Any, shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
        if isinstance(value, Array):
            return super().full(like, shape, value, dtype)
        return like._trace.full(value, shape, dtype)

    def has_values(self, array: Any) -> bool:
        return not isinstance(array, Traced)

    def known_values(self, array: Any) -> Any:
        return None if isinstance(array, Traced) else np.asarray(array)

    def copy(self, array: Any) -> Any:
        return Traced(array.node, array._trace) if isinstance(array, Traced) else np.array(array)

    def own(self, held: list[Any]) -> Any:
        return self.copy(held.pop())

    def add_into(self, array: Any, other: Any) -> bool:
        return False

    def item(self, array: Any) -> Any:
        return array.item()

    def without_nan(self, array: Any, error: Exception) -> Any:
        raise TypeError(
            "detect_anomaly() looks at values, which are not known while a function is compiled: "
            "set ARRAYGRAD_COMPILE=0 to run compiled functions step by step"
        )

    def to_numpy(self, array: Any) -> Any:
        return array.__array__() if isinstance(array, Traced) else np.asarray(array)


register(Traced, TracedBackend("numpy", np))


# --- errors --------------------------------------------------------------------------------------

_MADE_HERE = (
    "Join arrays by stack() rather than numpy.array(), and write to an array that ag.zeros(), "
    "zeros_like(x) or x.copy() gives rather than to one of NumPy"
)


def _needs_value(what: str, more: str = "", can_specialize: bool = True) -> Exception:
    way = "compile(f, specialize=True) for few decisions, each outcome of which is compiled; "
    return _data_dependent(
        f"{what} was asked for while the function was compiled, when no values are known. Use "
        "where(condition, x, y) for a choice by elements, func.cond and func.while_loop for "
        "decisions; name the argument in static_argnums or static_argnames if it is a setting; "
        f"{way if can_specialize else ''}or compute this part outside of the compiled function"
        f"{more}"
    )


def _unknown_shape(advice: str) -> Exception:
    return _data_dependent(
        "the shape of a result depends on values, which are not known while the function is "
        f"compiled. {advice}, or compute this part outside of the compiled function"
    )


def _data_dependent(message: str) -> Exception:
    return lasting(DataDependentError(message[:1].lower() + message[1:] + _place()))


def _place() -> str:
    """The user's line that is being run."""
    frames = user_frames()
    if not frames:
        return ""
    last = frames[-1]
    return f"\n  in {last.filename}, line {last.lineno}: {last.line}"


def _outlived() -> RuntimeError:
    return RuntimeError(
        "a value of a compiled function was used after the function had been compiled: it was kept "
        "in a variable outside, or written to an array from outside. Return it from the function"
    )
