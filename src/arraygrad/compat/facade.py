"""A tensor class of another system: an object around a tensor of arraygrad.

What the systems share is here: operators, attributes, hooks. Each has a subclass with its own
names, defaults and errors.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..arrays.tensor import Tensor
from ..autograd import is_grad_enabled
from ..core.array import Array
from .operators import Operators


def unwrapped(value: Any) -> Any:
    """The tensors of arraygrad in a value, which may be a list, tuple or dict of such values."""
    if isinstance(value, Facade):
        return value._inner
    if isinstance(value, dict):
        return {key: unwrapped(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = map(unwrapped, value)
        return type(value)(items) if type(value) in (list, tuple) else type(value)(*items)
    return value


class Facade(Operators):
    """A tensor of another system."""

    _inner: Tensor
    # The functions that are methods, too; they take and give tensors of arraygrad.
    _methods: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    # NumPy leaves operators with arrays on their left to this class.
    __array_priority__ = 2000

    @classmethod
    def _of(cls, inner: Any) -> Self:
        made = cls.__new__(cls)
        made._inner = inner
        return made

    @classmethod
    def _wrapped(cls, value: Any) -> Any:
        """A value with the tensors of arraygrad in it as tensors of this class."""
        if isinstance(value, Array):
            return cls._of(value)
        if isinstance(value, list | tuple):
            items = map(cls._wrapped, value)
            return type(value)(items) if type(value) in (list, tuple) else type(value)(*items)
        return value

    @classmethod
    def _lifted(cls, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of arraygrad's tensors as a function of tensors of this class."""

        @functools.wraps(function)
        def lifted(*args: Any, **keywords: Any) -> Any:
            inner = [a._inner if isinstance(a, Facade) else unwrapped(a) for a in args]
            return cls._wrapped(function(*inner, **unwrapped(keywords)))

        return lifted

    @classmethod
    def _adopt(cls, methods: Mapping[str, Callable[..., Any]]) -> None:
        """Make functions methods of this class."""
        cls._methods = methods
        for name, function in methods.items():
            setattr(cls, name, cls._lifted(function))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # A method that writes in place, under a name that arraygrad has, too.
            if name.endswith("_") and not name.startswith("_"):
                write = getattr(self._inner, name, None)
                if write is None and name[:-1] in self._methods:
                    write = functools.partial(self._overwritten, self._methods[name[:-1]])
                if write is not None:
                    return functools.partial(self._written, write)
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    else:

        def __getattr__(self, name: str) -> Any: ...

    def _overwritten(self, function: Callable[..., Any], *args: Any, **keywords: Any) -> None:
        self._inner.copy_(function(self._inner, *args, **keywords))

    def _check_writable(self) -> None:
        if self.requires_grad and self.is_leaf and is_grad_enabled():
            raise RuntimeError(
                "In-place operations are not allowed here: a leaf tensor that requires grad would "
                "be written. Write to a clone(), or under no_grad() if the change should not be "
                "differentiated"
            )

    def _written(self, write: Callable[..., Any], *args: Any, **keywords: Any) -> Self:
        self._check_writable()
        write(*unwrapped(args), **unwrapped(keywords))
        return self

    # --- attributes ---

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._inner.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._inner.ndim

    @property
    def requires_grad(self) -> bool:
        """Whether what is computed with the tensor is recorded."""
        return self._inner.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._inner.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was not computed from others that require gradients."""
        return self._inner.is_leaf

    @property
    def grad_fn(self) -> Any:
        """The node of the op that computed the tensor."""
        return self._inner.grad_fn

    @property
    def grad(self) -> Any:
        """The gradient that `backward()` accumulated, or None."""
        kept = getattr(self._inner, "_grad", None)  # `.grad` warns if nothing is kept
        return None if kept is None else self._wrapped(kept)

    @grad.setter
    def grad(self, value: Any) -> None:
        self._inner.grad = unwrapped(value)

    @property
    def T(self) -> Self:  # noqa: N802  (the systems' name)
        """The tensor with its axes in reverse order."""
        return self._of(self._inner.transpose())

    # --- methods ---

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Start or stop to record what is computed with this leaf."""
        self._inner.requires_grad_(requires_grad)
        return self

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Call `hook(gradient)` when the gradient is known; what it returns takes its place."""
        kind = type(self)

        def called(g: Any) -> Any:
            given = g.clone()  # which the hook may keep, or write to
            before = given._version
            result = hook(kind._of(given))
            if result is None and given._version != before:
                return given
            if result is not None and not isinstance(result, Facade):
                name = getattr(hook, "__name__", repr(hook))
                raise TypeError(
                    f"the hook {name} must return a Tensor or None, not {type(result).__name__}"
                )
            return unwrapped(result)

        return self._inner.register_hook(called)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of one axis."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    def cpu(self) -> Self:
        """The tensor itself."""
        return self

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor in `.grad`, although it is not a leaf."""
        self._inner.retain_grad()

    def detach(self) -> Self:
        """The same values, cut off from the graph."""
        return self._of(self._inner.detach())

    def item(self) -> Any:
        """The value of a tensor with one element."""
        return self._inner.item()

    def tolist(self) -> Any:
        """The values as nested lists."""
        return self._inner.tolist()

    def numpy(self) -> Any:
        """The values as a NumPy array that shares memory, also if gradients are required."""
        return self._inner.detach().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Self:
        return self._of(self._inner[unwrapped(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_writable()
        self._inner[unwrapped(key)] = unwrapped(value)

    def __bool__(self) -> bool:
        return bool(self._inner)

    def __float__(self) -> float:
        return float(self._inner.item())

    def __int__(self) -> int:
        return int(self._inner.item())

    def __index__(self) -> int:
        return self._inner.__index__()

    def __format__(self, spec: str) -> str:
        return format(self._inner, spec) if spec else str(self)

    def __hash__(self) -> int:
        return id(self)

    def _check_scalar(self) -> None:
        """Refuse to start from several elements without a gradient for them."""
        if self._inner.size != 1:
            raise RuntimeError(
                f"backward() starts by itself only for scalar outputs, and this one has shape "
                f"{tuple(self.shape)}: pass a gradient, or reduce the output, e.g. by sum()"
            )

    # --- operators; `_operands` lets a system convert what meets ---

    @classmethod
    def _operands(cls, x: Any, y: Any) -> tuple[Any, Any]:
        return unwrapped(x), unwrapped(y)

    def _operate(self, op: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
        return self._wrapped(op(*self._operands(x, y)))

    def __neg__(self) -> Self:
        return self._of(-self._inner)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self._of(abs(self._inner))

    def __invert__(self) -> Self:
        return self._of(~self._inner)


def _forward(op: Callable[[Any, Any], Any]) -> Any:
    return lambda self, other: self._operate(op, self, other)


def _reflected(op: Callable[[Any, Any], Any]) -> Any:
    return lambda self, other: self._operate(op, other, self)


for _name in "add sub mul truediv floordiv mod pow matmul and or xor".split():
    _op = getattr(operator, _name + "_" if _name in ("and", "or") else _name)
    setattr(Facade, f"__{_name}__", _forward(_op))
    setattr(Facade, f"__r{_name}__", _reflected(_op))
for _name in "eq ne lt le gt ge".split():
    setattr(Facade, f"__{_name}__", _forward(getattr(operator, _name)))


# --- functions that make tensors ---


def _arange(start: Any, stop: Any = None, step: Any = 1) -> Any:
    return np.arange(start, step=step) if stop is None else np.arange(start, stop, step)


# The functions and their parameters; the names of the parameters are those of sorix and Lucid.
_VALUES: dict[str, Callable[..., Any]] = {
    "arange": _arange,
    "eye": lambda n, m=None: np.eye(n, m),
    "full": lambda size, fill_value: np.full(sizes((size,)), fill_value),
    "linspace": lambda start, stop, num=50: np.linspace(start, stop, num),
    "logspace": lambda start, stop, num=50, base=10.0: np.logspace(start, stop, num, base=base),
}
_FILLS: dict[str, Callable[..., Any]] = {"zeros": np.zeros, "ones": np.ones, "empty": np.zeros}


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape, given as `2, 3` or as `(2, 3)`."""
    only = given[0] if len(given) == 1 else given
    return tuple(only) if isinstance(only, list | tuple) else (only,)


def makers(
    finish: Callable[..., Any],
    like: Callable[..., Any],
    options: str,
    names: Mapping[str, str],
    **fills: Callable[..., Any],
) -> dict[str, Callable[..., Any]]:
    """The functions that make tensors: `zeros`, `full_like`, `arange` and so on.

    `finish(array, **options)` makes a tensor, `like(array, x, **options)` one like another. The
    options come last, in a system's own order; `names` are other names of parameters. `fills` are
    more functions of a shape.
    """
    last = [
        inspect.Parameter(o, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        for o in options.split()
    ]

    def made(name: str, values: Callable[..., Any]) -> Callable[..., Any]:
        own = list(inspect.signature(values).parameters.values())
        own = [p.replace(name=names.get(p.name, p.name)) for p in own]
        signature = inspect.Signature([*own, *last])

        def function(*args: Any, **keywords: Any) -> Any:
            given = signature.bind(*args, **keywords)
            given.apply_defaults()
            first = [given.arguments.pop(p.name) for p in own]
            return finish(values(*first), **given.arguments)

        function.__name__, function.__doc__ = name, f"`numpy.{name}` as a tensor."
        return function

    def filled(fill: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *size, **keywords: finish(fill(sizes(size)), **keywords)

    def alike(fill: Callable[..., Any]) -> Callable[..., Any]:
        def function(x: Any, *args: Any, **keywords: Any) -> Any:
            return like(fill(tuple(x.shape), *args), x, **keywords)

        return function

    shapes: dict[str, Callable[..., Any]] = {**_FILLS, **fills}
    likes: dict[str, Callable[..., Any]] = {**shapes, "full": np.full}
    return {
        **{name: made(name, values) for name, values in _VALUES.items()},
        **{name: filled(fill) for name, fill in shapes.items()},
        **{f"{name}_like": alike(fill) for name, fill in likes.items()},
    }
