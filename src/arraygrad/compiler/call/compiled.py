"""`compile`: a function that is traced once for each signature, and then runs as a program."""

from __future__ import annotations

import functools
import os
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from ...arrays.tensor import Tensor
from ...core.array import Array, plain
from ...core.locks import held
from ...core.modes import is_tracing
from ...core.nodes import recorder
from ...core.structures import taken_apart
from ...func.trees import as_function
from ..loops.control import writing_loops
from ..run.checked import CheckedExecutable
from ..run.entry import Entry
from ..run.executable import Executable
from ..trace.bodies import is_recorded
from ..trace.traced import Traced
from . import report
from .decisions import Decisions
from .derivative import Differentiable, moves
from .elsewhere import Elsewhere, is_compiled_elsewhere
from .guards import Guards
from .shortcuts import MOST, Shortcut
from .signature import Arguments, Static, is_foreign
from .tracing import NotTraceable, Outcome, run_traced

P = ParamSpec("P")
R = TypeVar("R")

PATIENCE = (
    4  # programs in a row that no second call can use, after which the function runs as it is
)
MANY = 64  # programs that a function keeps; and the number of traces after which it warns


class Compiled(Generic[P, R]):
    """A compiled function. It is called like the function that it was made from."""

    def __init__(
        self,
        function: Any,
        static_argnums: Any,
        static_argnames: Any,
        check: bool,
        specialize: bool,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._options = {"check": check, "specialize": specialize}
        self._settings = (static_argnums, static_argnames, check, specialize)
        self._static = Static(function, static_argnums, static_argnames)
        # For each signature, the programs for it: several only for different decisions by values.
        self._programs: OrderedDict[Any, list[Any]] = OrderedDict()
        # Those for calls with plain arrays only, the last one first: found much faster.
        self._ways: tuple[Way, ...] = ()
        # Programs for other calls without derivatives, by static arguments and structure.
        self._shortcuts: dict[Any, list[Shortcut]] = {}
        self._lock = threading.Lock()
        self._traces = 0
        self._useless = 0  # the programs in a row that no second call can use

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if not kwargs:
                for call, quick, guards, build in self._ways:
                    if quick() or guards.hold():
                        found = call(*args)
                        if found is not NotImplemented:
                            return found if build is None else build(found)  # type: ignore[no-any-return]
            if self._shortcuts:
                fixed, *given = self._static.split(args, kwargs)
                leaves, spec = taken_apart(tuple(given))
                for shortcut in self._shortcuts.get((fixed, spec, recorder() is None), ()):
                    if shortcut.guards.hold():
                        found = shortcut(leaves)
                        if found is not NotImplemented:
                            return found  # type: ignore[no-any-return]
            return self._general(args, kwargs)  # type: ignore[no-any-return]
        except IndexError:  # a program does not know the user's axes, nor the step of a loop
            pass
        return self._function(*args, **kwargs)  # type: ignore[no-any-return]

    def _general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with any arguments."""
        if is_tracing() or self._useless >= PATIENCE:
            return self._function(*args, **kwargs)  # it becomes a part of another trace
        arguments = Arguments(self._static, args, kwargs)
        leaves = arguments.leaves
        if any(isinstance(plain(leaf), Traced) for leaf in leaves):
            return self._function(*args, **kwargs)  # in the body of a loop
        if any(map(is_foreign, leaves)):
            return self._of_others(arguments)
        is_op = any(isinstance(leaf, Array) and _needs_op(leaf) for leaf in leaves)
        # What an op saves depends on whether its arguments are recorded; and its derivatives are
        # those by the arguments that may have some.
        saves = is_op and any(map(is_recorded, leaves))
        moving = tuple(map(moves, leaves)) if is_op else None
        key = (arguments.key, moving, saves, recorder() is None)
        program = self._found(key, arguments)
        is_new = program is None
        if program is None:
            try:
                program = _Program(self._function, arguments, is_op, **self._options)
            except NotTraceable as reason:
                if reason.args:  # it is the function's own doing
                    self._warn(str(reason))
                    self._useless = PATIENCE
                return self._function(*args, **kwargs)
            self._keep(key, program)
            self._useless = 0 if program.guards.hold() else self._useless + 1
            if self._useless == PATIENCE:
                self._warn("changes what it reads from outside")
        is_simple = not (kwargs or program.is_op or self._options["specialize"])
        is_simple = is_simple and all(type(a) is np.ndarray for a in args)
        if is_simple and not is_new:  # many functions are called once
            way = program.way  # it takes over the memory of the first call
            held(self._lock, self._add_way, way)
            found = way.call(*args)
            if found is not NotImplemented:
                return found if way.build is None else way.build(found)
        results = program.run(leaves)
        if not (is_simple or program.is_op or any(self._options.values())):
            shortcuts = self._shortcuts.setdefault((*arguments.structure, recorder() is None), [])
            shortcuts.insert(0, program.shortcut(leaves))
            del shortcuts[MOST:]
        return results

    def _warn(self, what: str) -> None:
        """Warn that the function runs as it is from now on."""
        name = getattr(self._function, "__name__", "a function")
        warnings.warn(
            f"{name} {what}, which happens in each call: so it is not compiled, and runs as it is. "
            "Pass what it reads as an argument, and return what it computes",
            stacklevel=4,
        )

    def _of_others(self, arguments: Arguments) -> Any:
        """A call with arrays of other libraries."""
        if any(self._options.values()) or not is_compiled_elsewhere(arguments):
            return arguments.with_leaves(self._function)(arguments.leaves)
        program = self._found(arguments.key, arguments)
        if program is None:
            program = Elsewhere(self._function, arguments)
            self._keep(arguments.key, program)
        return program.run(arguments.leaves)

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What a call with these arguments does: its steps, what was fused, memory and times.

        The steps by NumPy's kernels are those for which there is no native code.
        """
        program, arrays = self._program(args, kwargs)
        return report.explanation(program.executable, arrays, program.guards.compared())

    def not_native(self) -> list[str]:
        """The steps of the calls so far for which there is no native code, and why."""
        programs = [p for same in list(self._programs.values()) for p in same]
        executables = [e for p in programs if isinstance(p, _Program) for e in p.executables()]
        return list(dict.fromkeys(line for e in executables for line in report.not_native(e)))

    def traffic(self, *args: Any, **kwargs: Any) -> report.Traffic:
        """What the ops of a call with these arguments read and write, and what its kernels do."""
        return report.traffic_of(self.executable(*args, **kwargs))

    def program(self, *args: Any, **kwargs: Any) -> str:
        """The program for these arguments: one line for each value."""
        return report.program_text(self.executable(*args, **kwargs))

    def llvm(self, *args: Any, **kwargs: Any) -> str:
        """The kernels for these arguments, as LLVM reads them."""
        return report.llvm_text(self.executable(*args, **kwargs))

    def assembly(self, *args: Any, **kwargs: Any) -> str:
        """The kernels for these arguments, as the processor reads them."""
        return report.assembly_text(self.executable(*args, **kwargs))

    def executable(self, *args: Any, **kwargs: Any) -> Executable:
        """What runs for these arguments: its steps, and the program that they were made from."""
        return self._program(args, kwargs)[0].executable

    def _program(self, args: Any, kwargs: Any) -> tuple[_Program, list[Any]]:
        """The program for some arguments, all of which must be plain, and their arrays."""
        arguments = Arguments(self._static, args, kwargs)
        if any(isinstance(x, Array) or is_foreign(x) for x in arguments.leaves):
            raise TypeError("to look inside a compiled function, pass NumPy arrays")
        program = _Program(self._function, arguments, False, **self._options)
        return program, [np.asarray(arguments.leaves[i]) for i in arguments.arrays]

    def __reduce__(self) -> Any:
        """Pickle it by its name, as functions are; if it has none, by the function and settings."""
        found: Any = sys.modules.get(getattr(self, "__module__", ""))
        name = getattr(self, "__qualname__", "")
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (Compiled, (self._function, *self._settings))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method, it takes the instance as its first argument."""
        return self if instance is None else MethodType(self, instance)

    def _found(self, key: Any, arguments: Arguments) -> Any:
        """The program for a signature, if there is one that is right for these arguments."""
        programs = held(self._lock, self._used, key)
        return next((p for p in reversed(programs) if p.fits(arguments)), None)

    def _used(self, key: Any) -> list[Any]:
        """The programs for a signature, which becomes the one that was used last."""
        programs = list(self._programs.get(key, ()))
        if programs:
            self._programs.move_to_end(key)
        return programs

    def _add(self, key: Any, program: Any) -> int:
        """Add a program. Returns how many have been."""
        others = [p for p in self._programs.get(key, ()) if p.guards.hold()]
        self._programs[key] = [*others[1 - MANY :], program]
        if len(self._programs) > MANY:
            self._programs.popitem(last=False)
            self._ways = ()
            self._shortcuts.clear()
        self._traces += 1
        return self._traces

    def _add_way(self, way: Way) -> None:
        others = [w for w in self._ways if w is not way]
        self._ways = (way, *others[: MOST - 1])

    def _keep(self, key: Any, program: Any) -> None:
        if held(self._lock, self._add, key, program) == MANY:
            name = getattr(self._function, "__name__", "a function")
            warnings.warn(
                f"{name} has been compiled for {MANY} signatures, as its arguments keep changing "
                "in shape, dtype or structure, or are numbers, each value of which is a signature. "
                "Pass numbers that change as 0-d arrays, and fill arrays up to a few sizes",
                stacklevel=3,
            )


class Way(NamedTuple):
    """How to call a program with NumPy arrays that are all its arguments.

    Attributes
    ----------
    call : callable
        Returns the results, or the outputs; NotImplemented for other arrays than the program's.
    quick, guards
        When the program is right: the guards, and the shortest way to ask them.
    build : callable or None
        Makes the results of the outputs.
    """

    call: Any
    quick: Any
    guards: Guards
    build: Any


def _needs_op(array: Any) -> bool:
    """Whether an argument is inside a transform, or its gradients are recorded."""
    if isinstance(array, Tensor) and not isinstance(array._array, Array):
        return array.requires_grad and recorder() is not None
    return True


class _Program:
    """A function, compiled for one signature."""

    def __init__(
        self, function: Any, arguments: Arguments, is_op: bool, *, check: bool, specialize: bool
    ) -> None:
        self._make = CheckedExecutable if check else Executable
        self.guards = Guards(function, arguments.static)
        self._positions = arguments.arrays
        self._op: Differentiable | None = None
        self._plain: Executable | None = None
        self._build: Any = None
        given = arguments.leaves, self._positions
        again = functools.partial(compile, check=check, specialize=specialize)
        flat = writing_loops(arguments.with_leaves(function))
        as_op = functools.partial(Differentiable, flat, *given, again, self._make, specialize)
        records = recorder() is not None

        def finish(outcome: Outcome) -> None:
            if outcome.smooth and records:  # by captured tensors
                self._op = as_op(outcome=outcome)
            else:
                self._finish(outcome)

        with self.guards.refused_writes():
            if is_op:
                self._op = as_op()
            else:
                run_traced(flat, *given, finish, specialize)
            if self._op is not None:
                self.decisions = self._op.decisions
                self.guards.traced(self._op.hidden, self._op.read, self._op.reads)

    def _finish(self, outcome: Outcome) -> None:
        self._build = outcome.form()
        self.decisions = Decisions(outcome, self._make)
        self._structure = outcome.structure()
        self._plain = self._make(outcome.trace.program, outcome.inputs, outcome.outputs)
        self.guards.traced(outcome.captured, outcome.trace.read, outcome.reads)

    def fits(self, arguments: Arguments) -> bool:
        """Whether it is right for these arguments, and what it reads from outside."""
        arrays = [arguments.leaves[i] for i in self._positions]
        is_right = self.guards.hold() and self.decisions.hold(arrays)
        return is_right and (self._op is None or self._op.fits(arguments.leaves))

    @property
    def is_op(self) -> bool:
        """Whether it takes part in derivatives and other transforms."""
        return self._op is not None

    @functools.cached_property
    def way(self) -> Way:
        """How to call it with NumPy arrays only: by the native entry point, if it can have one."""
        plain, build = self.executable, self._build
        call = Entry(plain, self._structure).call
        if call is None:
            call = lambda *arrays: plain(arrays) if plain.fits(arrays) else NotImplemented  # noqa: E731
        elif self._structure is not None:
            build = None
        return Way(call, self.guards.quick, self.guards, build)

    @property
    def executable(self) -> Executable:
        """What runs on plain arrays."""
        assert self._plain is not None
        return self._plain

    def executables(self) -> list[Executable]:
        """All programs that its calls, and their derivatives, have run so far."""
        return [self.executable] if self._op is None else self._op.executables()

    def shortcut(self, leaves: Sequence[Any]) -> Shortcut:
        """The same program for calls with leaves like these."""
        return Shortcut(leaves, self.executable, self._build, self.guards)

    def run(self, leaves: Sequence[Any]) -> Any:
        """Call the function on the leaves of its arguments."""
        arrays = [leaves[i] for i in self._positions]
        if self._op is not None:
            return self._op(arrays)
        assert self._plain is not None
        return self._build(self._plain([np.asarray(plain(a)) for a in arrays]))


@overload
def compile(
    function: Callable[P, R],
    *,
    static_argnums: Any = (),
    static_argnames: Any = (),
    check: bool = False,
    specialize: bool = False,
) -> Compiled[P, R]: ...
@overload
def compile(
    function: None = None,
    *,
    static_argnums: Any = (),
    static_argnames: Any = (),
    check: bool = False,
    specialize: bool = False,
) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...
def compile(
    function: Any = None,
    *,
    static_argnums: Any = (),
    static_argnames: Any = (),
    check: bool = False,
    specialize: bool = False,
) -> Any:
    """Compile a function of arrays: it is traced once, and then runs as a program.

    Parameters
    ----------
    function : callable, optional
        A function of arrays, tensors, numbers and structures of them, which returns such. Without
        it, `compile` returns a decorator.
    static_argnums : int or sequence of int
        The positions of arguments that are settings: any values that can be hashed. The function is
        traced again for each new value.
    static_argnames : str or sequence of str
        The names of such arguments.
    check : bool
        Whether each call compares what its steps compute with NumPy, and raises if they differ by
        more than rounding. It is slow, and meant to find out what is wrong.
    specialize : bool
        Whether the function may decide by values, as in ``if x.sum() > 0``, and use integers of
        arrays, as in ``range(n)``. It is traced again for each new outcome. Before each run, the
        values that decide are computed, and compared with those of the trace.

    Returns
    -------
    Compiled
        Called like `function`. It is traced anew for arguments of other structure, shapes or
        dtypes, and for other numbers. Its methods show what a call with some arguments consists of:
        `explain`, `program`, `llvm` and `assembly`.

    Raises
    ------
    DataDependentError
        In a call, if the function needs a value, or a shape depends on values.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> @ag.compile
    ... def norm(x):
    ...     return ag.sqrt((x**2).sum())
    >>> norm(np.array([3.0, 4.0]))
    array(5.)
    >>> ag.compile(ag.func.grad(norm))(np.array([3.0, 4.0]))
    array([0.6, 0.8])

    A compiled function can be differentiated, too:

    >>> x = ag.tensor([3.0, 4.0], requires_grad=True)
    >>> ag.grad(norm(x), x)
    tensor([0.6, 0.8])
    """
    if function is None:
        return functools.partial(
            compile,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            check=check,
            specialize=specialize,
        )
    as_function(function, "compile")
    if os.environ.get("ARRAYGRAD_COMPILE") == "0":
        return function
    return Compiled(function, static_argnums, static_argnames, check, specialize)
