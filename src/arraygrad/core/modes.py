"""Switching recording off and on: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`.

Each is a context manager and a decorator. Each thread and each asynchronous task has its own modes.
The state of anomaly detection and of hooks is here, too; their interface is in `autograd`.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeVar, overload

from .closing import Closing, Staged
from .nodes import RECORDER, STAGE, record
from .saved import Hooks, NodeHooks, record_with_care

F = TypeVar("F", bound=Callable[..., Any])


class Modes(NamedTuple):
    """The modes: they decide whether and how ops are recorded.

    Attributes
    ----------
    grad : bool
        Whether to record ops.
    inference : bool
        Whether results are marked as inference tensors.
    saved_hooks : pair of callables or None
        The innermost `saved_tensors_hooks`.
    hooks_forbidden : str or None
        Why `saved_tensors_hooks` may not be used here.
    anomaly : {None, "trace", "nan"}
        "trace" if nodes keep the user's lines, "nan" if sweeps also look for NaN.
    keeps_written : bool or None
        Whether a write keeps the values that it replaces, for nodes that saved them, and a sweep
        restores them. None is the default: they do.
    closing : Closing or None
        What tensors from outside are replaced by, while a function is closed.
    """

    grad: bool = True
    inference: bool = False
    saved_hooks: Hooks | None = None
    hooks_forbidden: str | None = None
    anomaly: str | None = None
    keeps_written: bool | None = None
    closing: Closing | None = None


class _Before(weakref.ref["ModeContext"]):
    """The modes before a block, until the block is left; a reference to its context manager.

    If an interrupt comes before `__exit__`, `_leave` is called when the context manager goes.
    """

    __slots__ = ("modes",)
    modes: Modes


_modes: ContextVar[Modes] = ContextVar("arraygrad_modes", default=Modes())
_blocks: ContextVar[tuple[_Before, ...]] = ContextVar("arraygrad_blocks", default=())
current_modes = _modes.get


def set_modes(modes: Modes) -> None:
    """Put modes in force, for this thread and task."""
    recorder: Callable[..., Any] | None
    if not modes.grad or modes.inference:
        recorder = None
    elif modes.saved_hooks is None and modes.anomaly is None:
        recorder = record
    elif modes.anomaly is None and isinstance(modes.saved_hooks, NodeHooks):
        recorder = modes.saved_hooks.record
    else:
        recorder = functools.partial(record_with_care, modes.saved_hooks, modes.anomaly)
    closing = modes.closing
    _modes.set(modes)
    RECORDER.set(recorder)
    STAGE.set(recorder if closing is None else Staged(closing, recorder))


def is_tracing() -> bool:
    """Whether a function is being closed to become a program, which runs in its place."""
    closing = _modes.get().closing
    return closing is not None and closing.traces


def stand_in_for(x: Any) -> Any:
    """The stand-in of an array while a function is traced; else the array itself."""
    return _modes.get().closing.inside(x) if is_tracing() else x  # type: ignore[union-attr]


def note_gradient(x: Any, gradient: Any) -> None:
    """Tell the function that is being traced, if there is one, that it has read a `.grad`."""
    closing = _modes.get().closing
    if closing is not None and closing.traces:
        closing.reads.append((x, functools.partial(getattr, x, "grad"), gradient))


class ModeContext:
    """A context manager and decorator that changes some of the modes.

    As a decorator it wraps functions, generators, coroutines and asynchronous generators; of a
    generator, each step runs in the mode and the caller's code between steps does not.

    Ctrl-C can arrive before `__exit__` runs. The old modes then return when the context manager is
    deleted.
    """

    def __init__(self, **changes: Any) -> None:
        self._changes = changes

    def __enter__(self) -> Self:
        before = _Before(self, _leave)
        before.modes = _modes.get()
        modes = self._changed(before.modes)
        _blocks.set((*_blocks.get(), before))
        set_modes(modes)
        return self

    def _changed(self, modes: Modes) -> Modes:
        """The modes inside, given those outside."""
        return modes._replace(**self._changes)

    def __exit__(self, *exc: object) -> None:
        blocks = _blocks.get()
        if blocks:  # else entered in another task, whose modes these never were
            set_modes(blocks[-1].modes)
            _blocks.set(blocks[:-1])

    def __call__(self, function: F) -> F:
        if not callable(function):
            raise TypeError(
                f"{type(self).__name__} decorates functions, not {type(function).__name__}"
            )
        if isinstance(function, type):
            raise TypeError(
                f"{type(self).__name__} decorates functions, not classes: decorate the methods"
            )
        return _decorated(self, function)


def _leave(before: Any) -> None:
    """Leave a block that was entered and not left, and all blocks inside it."""
    blocks = _blocks.get()
    if before in blocks:  # else entered in another thread or task
        set_modes(before.modes)
        _blocks.set(blocks[: blocks.index(before)])


class _Turn(ModeContext):
    """Runs a decorated function, or the steps of a generator, with the changes of a context.

    If a generator yields inside a ``with`` block, the modes of this block are in force again at its
    next step, and not for the caller in between.
    """

    def __init__(self, context: ModeContext) -> None:
        super().__init__()
        self._changed = context._changed  # type: ignore[method-assign]
        self._depth = 0
        self._at_yield: tuple[Modes, tuple[_Before, ...]] | None = None

    def __enter__(self) -> Self:
        super().__enter__()
        self._depth = len(_blocks.get())
        if self._at_yield is not None:
            modes, inner = self._at_yield
            _blocks.set(_blocks.get() + inner)
            set_modes(modes)
        return self

    def __exit__(self, *exc: object) -> None:
        blocks = _blocks.get()
        inner = blocks[self._depth :]
        self._at_yield = (_modes.get(), inner) if inner else None
        _blocks.set(blocks[: self._depth])
        super().__exit__()


def _decorated(context: ModeContext, function: F) -> F:
    """`function`, run inside `context`. It may be a generator or a coroutine, too."""
    import inspect  # takes longer to import than the rest of this package

    if inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def async_generator(*args: Any, **kwargs: Any) -> Any:
            steps, turn = function(*args, **kwargs), _Turn(context)
            try:
                with turn:
                    value = await steps.__anext__()
                while True:
                    try:
                        sent = yield value
                    except BaseException as error:
                        with turn:
                            value = await steps.athrow(error)
                    else:
                        with turn:
                            value = await steps.asend(sent)
            except StopAsyncIteration:
                return

        return async_generator  # type: ignore[return-value]

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            with _Turn(context):
                return await function(*args, **kwargs)

        return coroutine  # type: ignore[return-value]

    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def generator(*args: Any, **kwargs: Any) -> Any:
            steps, turn = function(*args, **kwargs), _Turn(context)
            try:
                with turn:
                    value = next(steps)
                while True:
                    try:
                        sent = yield value
                    except BaseException as error:
                        with turn:
                            value = steps.throw(error)
                    else:
                        with turn:
                            value = steps.send(sent)
            except StopIteration as stop:
                return stop.value

        return generator  # type: ignore[return-value]

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with _Turn(context):
            return function(*args, **kwargs)

    return wrapped  # type: ignore[return-value]


def _with_grad(modes: Modes, grad: bool) -> Modes:
    """The same modes, with or without recording."""
    return modes._replace(grad=grad) if modes.saved_hooks is not None else _known(modes, grad)


@functools.lru_cache(256)  # without hooks, which belong to the user, there are few modes
def _known(modes: Modes, grad: bool) -> Modes:
    return modes._replace(grad=grad)


def without_grad(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function where nothing is recorded. It takes a quarter of the time of a block."""
    before, blocks = _modes.get(), _blocks.get()
    try:
        set_modes(_with_grad(before, False))
        return function(*args)
    finally:
        set_modes(before)
        if _blocks.get() is not blocks:
            _blocks.set(blocks)


class _Switch(ModeContext):
    """A mode that can decorate without being called: `@no_grad` as well as `@no_grad()`."""

    _effect: ClassVar[dict[str, Any]] = {}

    def __new__(cls, function: Any = None) -> Any:
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()  # type: ignore[misc]  # Python only does it for what is returned
        return made(function)

    def __init__(self) -> None:
        self._changes = self._effect

    def _changed(self, modes: Modes) -> Modes:
        return _with_grad(modes, self._effect["grad"])


class ModeSetter(ModeContext):
    """Changes the modes when it is called; in a ``with`` statement, until the end of the block."""

    def __init__(self, **changes: Any) -> None:
        super().__init__(**changes)
        self._first: Modes | None = _modes.get()
        set_modes(self._first._replace(**changes))

    def __enter__(self) -> Self:
        self._undo()  # the block ends with the modes before the call
        return super().__enter__()

    def __call__(self, function: F) -> F:
        self._undo()  # a decorator does not change the modes outside the function
        return super().__call__(function)

    def _undo(self) -> None:
        """Put back the modes before the call."""
        if self._first is not None:
            set_modes(self._first)
            self._first = None


class set_grad_enabled(ModeSetter):  # noqa: N801  (torch's name)
    """Switch recording on or off: from the call on; in a ``with`` statement, for the block.

    Parameters
    ----------
    mode : bool
        Whether to record.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor(2.0, requires_grad=True)
    >>> with ag.set_grad_enabled(False):
    ...     (x * x).requires_grad
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(grad=bool(mode))


if TYPE_CHECKING:  # mypy ignores what `__new__` returns: a call of a class gives an instance of it

    class Switch(Protocol):
        """The type of `no_grad` and `enable_grad` for type checkers."""

        @overload
        def __call__(self) -> ModeContext: ...
        @overload
        def __call__(self, function: F, /) -> F: ...

    class InferenceSwitch(Protocol):
        """The type of `inference_mode` for type checkers."""

        @overload
        def __call__(self, mode: bool = True) -> ModeContext: ...
        @overload
        def __call__(self, mode: F, /) -> F: ...

    no_grad: Switch
    enable_grad: Switch
    inference_mode: InferenceSwitch
else:

    class no_grad(_Switch):  # noqa: N801  (torch's name)
        """Record no ops inside.

        Parameters
        ----------
        function : callable, optional
            With one, a decorated function is returned, as by ``@no_grad``.

        Examples
        --------
        >>> import arraygrad as ag
        >>> x = ag.tensor(2.0, requires_grad=True)
        >>> with ag.no_grad():
        ...     y = x * x
        >>> y.requires_grad
        False
        """

        _effect: ClassVar[dict[str, Any]] = {"grad": False}

    class enable_grad(_Switch):  # noqa: N801  (torch's name)
        """Record again inside `no_grad`. Inside `inference_mode` nothing is ever recorded.

        Parameters
        ----------
        function : callable, optional
            As of `no_grad`.

        Examples
        --------
        >>> import arraygrad as ag
        >>> x = ag.tensor(2.0, requires_grad=True)
        >>> with ag.no_grad(), ag.enable_grad():
        ...     (x * x).requires_grad
        True
        """

        _effect: ClassVar[dict[str, Any]] = {"grad": True}

    class inference_mode(ModeContext):  # noqa: N801  (torch's name)
        """Record no ops inside, and mark the results as inference tensors.

        It is the strict form of `no_grad`: a graph cannot save an inference tensor by mistake.

        Parameters
        ----------
        mode : bool or callable, default True
            With False, ops are recorded inside. With a function, a decorated one is returned.

        Examples
        --------
        >>> import arraygrad as ag
        >>> x = ag.tensor(2.0, requires_grad=True)
        >>> with ag.inference_mode():
        ...     (x * x).requires_grad
        False
        """

        def __new__(cls, mode: Any = True) -> Any:
            made = super().__new__(cls)
            if callable(mode):
                made.__init__()  # type: ignore[misc]  # Python only does it for what is returned
                return made(mode)
            return made

        def __init__(self, mode: bool = True) -> None:
            super().__init__(inference=bool(mode), grad=not mode)


def is_grad_enabled() -> bool:
    """Whether ops are recorded here, unless `inference_mode` is in force.

    >>> import arraygrad as ag
    >>> ag.is_grad_enabled()
    True
    """
    return _modes.get().grad


def is_inference_mode_enabled() -> bool:
    """Whether `inference_mode` is in force here.

    >>> ag.autograd.is_inference_mode_enabled()
    False
    """
    return _modes.get().inference
