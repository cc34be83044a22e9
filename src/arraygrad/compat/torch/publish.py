"""From functions on arrays to PyTorch's functions, methods, methods in place, and `out=`.

A function of PyTorch is written once, as a function of arraygrad's arrays with PyTorch's
parameters. What a decorator makes of it

- takes and returns tensors, and takes `out=`,
- is a method, if the first parameter is a tensor,
- is a method in place, with an underscore, if `in_place=True`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Literal, Protocol, overload

import numpy as np

from ... import ops
from ...arrays.batched import Batched
from ...arrays.creation import asarray, tensor
from ...arrays.dual import Dual
from ...autograd.context import SEVERAL
from ...core.array import Array
from .dtypes import default_for, result_type
from .handles import Tensor, is_recorded, lift, new, note_birth, origin_of, unwrap, wrap
from .inside import INSIDE
from .views import check_written, not_written, note_view, write_through
from .wording import as_in_torch

AnyFunction = Callable[..., Any]

Dtypes = Literal["same", "promoted", "floating"]

METHODS: dict[str, AnyFunction] = {}

# The types of arguments that a function takes as they are.
_PLAIN = frozenset((bool, int, float, complex, str, type(None)))


class Published(Protocol):
    """A function of PyTorch, and the function on arrays that it was made of."""

    __name__: str
    __wrapped__: AnyFunction

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Call it on tensors."""
        ...


@overload
def function(native: AnyFunction, **how: Any) -> Published: ...
@overload
def function(**how: Any) -> Callable[[AnyFunction], Published]: ...
def function(native: AnyFunction | None = None, **how: Any) -> Any:
    """PyTorch's function for a function on arrays: see `_function` for its options."""
    return functools.partial(_function, **how) if native is None else _function(native, **how)


def _function(
    native: AnyFunction,
    *,
    name: str | None = None,
    method: bool = True,
    in_place: bool = False,
    parts: bool = False,
    dtypes: Dtypes | None = None,
    doc: str | None = None,
) -> Published:
    """PyTorch's function for a function on arrays with PyTorch's parameters.

    `parts` says that it returns several views at once, which PyTorch does not let be written.
    `dtypes` is the rule for tensors of several dtypes: they must be the "same"; they are "promoted"
    by PyTorch's rules; or promoted, and integers made "floating".
    """
    if dtypes is not None:
        native = _by_rule(native, name or native.__name__, dtypes)
    how = "several" if parts else None
    own = name or native.__name__

    @functools.wraps(native)
    def made(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        named = kwargs
        if kwargs:
            if "axis" in kwargs or "keepdims" in kwargs:
                kwargs = _by_own_names(native, kwargs)
            named = {k: v._t if type(v) is Tensor else unwrap(v) for k, v in kwargs.items()}
        given = [a._t if type(a) is Tensor else a if type(a) in _PLAIN else unwrap(a) for a in args]
        try:
            result = native(*given, **named)
        except ValueError as error:
            raise as_in_torch(own, error, (*args, *kwargs.values())) from error
        except (AttributeError, TypeError) as error:
            if (theirs := _by_their_own(made, args, kwargs)) is not None:
                return theirs[0]
            # An attribute is missing of a number where a tensor is needed.
            if isinstance(error, TypeError) or all(isinstance(value, Tensor) for value in args):
                raise
            raise _no_tensor(own, args) from error
        if INSIDE:
            note_birth(result, args)
        if out is not None:
            return into(out, result, own)
        if isinstance(result, Array):
            shown = new(Tensor)
            shown._t = result
            if origin_of(result) is not None:
                source = _first(args, kwargs)
                if isinstance(source, Tensor):
                    note_view(shown, source)
            return shown
        shown = wrap(result)
        if type(shown) is tuple:
            sources = _sources(args or (_first(args, kwargs),), len(shown))
            for part, source in zip(shown, sources, strict=True):
                if type(part) is Tensor and origin_of(part._t) is not None:
                    note_view(part, source, how)
        return shown

    made.__name__ = made.__qualname__ = own
    made.__doc__ = doc or native.__doc__ or f"PyTorch's `{own}`."
    if method:
        METHODS[own] = made
    if in_place:
        METHODS[own + "_"] = written(native, own + "_")
    return made


def _by_their_own(made: AnyFunction, args: Any, kwargs: dict[str, Any]) -> tuple[Any] | None:
    """A call by the `__torch_function__` of an argument, in a tuple; None if there is none."""
    kinds = [k for k in dict.fromkeys(map(type, (*args, *kwargs.values()))) if _has_own(k)]
    for kind in sorted(kinds, key=lambda k: -len(k.__mro__)):  # a subclass before its bases
        result = kind.__torch_function__(made, tuple(kinds), args, kwargs)  # type: ignore[attr-defined]
        if result is not NotImplemented:
            return (result,)
    return None


def _has_own(kind: type) -> bool:
    return hasattr(kind, "__torch_function__")


def _by_own_names(native: AnyFunction, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keywords by PyTorch's names, of which some may be NumPy's: PyTorch takes these, too."""
    taken = inspect.signature(native).parameters
    own = {"axis": "dim", "keepdims": "keepdim"}
    return {own[k] if k not in taken and own.get(k) in taken else k: v for k, v in kwargs.items()}


def _by_rule(native: AnyFunction, name: str, rule: Dtypes) -> AnyFunction:
    """A function on arrays, with a rule for their dtypes."""

    @functools.wraps(native)
    def ruled(*args: Any, **kwargs: Any) -> Any:
        arrays = []
        for value in (*args, *kwargs.values()):
            if isinstance(value, Array):
                arrays.append(value)
            elif isinstance(value, SEVERAL):
                arrays += [v for v in value if isinstance(v, Array)]
        found = [array.dtype for array in arrays]
        wanted = found[0] if found else None
        if found.count(wanted) == len(found):
            if rule != "floating" or wanted is None or wanted.kind not in "biu":
                return native(*args, **kwargs)
            wanted = default_for("f")
        elif rule == "same":
            others = ", ".join(sorted(set(map(str, found))))
            raise RuntimeError(f"{name}(): expected tensors of the same dtype, but got {others}")
        else:
            wanted = result_type(*arrays)
            if rule == "floating" and wanted.kind in "biu":
                wanted = default_for("f")

        def converted(value: Any) -> Any:
            return ops.astype(value, wanted) if isinstance(value, Array) else value

        named = {key: converted(value) for key, value in kwargs.items()}
        return native(*map(converted, args), **named)

    return ruled


def _first(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The first argument, which PyTorch calls `input` or `self`."""
    return args[0] if args else next((kwargs[k] for k in ("input", "self") if k in kwargs), None)


def _sources(args: tuple[Any, ...], count: int) -> Any:
    """What each of several results may be a view of: one tensor, or one for each of them."""
    several = args[0] if isinstance(args[0], tuple | list) else args
    if len(several) == count and all(isinstance(t, Tensor) for t in several):
        return several
    return (args[0],) * count


def elementwise_unary(
    native: Any, name: str | None = None, *, in_place: bool = True, method: bool = True
) -> Callable[..., Tensor]:
    """PyTorch's function for an elementwise op on one array. Integers become the default dtype."""
    own = name or native.__name__

    def made(input: Any, *, out: Any = None) -> Any:
        try:
            array = input._t
        except AttributeError:
            if (theirs := _by_their_own(made, (input,), {})) is not None:
                return theirs[0]
            raise TypeError(f"{own}(): input must be a Tensor, not {_kind(input)}") from None
        result = native(array)
        if array._array.dtype.kind in "biu":
            result = _of_integers(result, native, array)
        if INSIDE:
            note_birth(result, (input,))
        if out is not None:
            return into(out, result, own)
        tensor = new(Tensor)
        tensor._t = result
        return tensor

    return _published(made, native, own, method, in_place)


# The kinds of dtypes that a Python number does not change.
_FITTING = {int: "iufc", float: "fc", bool: "biufc", complex: "c"}


def elementwise_binary(
    native: Any,
    name: str | None = None,
    *,
    numbers: Literal["either", "second", "none"] = "either",
    in_place: bool = True,
    method: bool = True,
) -> Callable[..., Tensor]:
    """PyTorch's function for an elementwise op on two arrays, with PyTorch's rules for dtypes.

    `numbers` says which operand may be a number.
    """
    own = name or native.__name__

    def made(input: Any, other: Any, *, out: Any = None) -> Any:
        if isinstance(other, Tensor):
            y = other._t
            if isinstance(input, Tensor):
                x = input._t
                if x._array.dtype is not y._array.dtype:
                    x, y = as_promoted(x, y)
            else:
                if numbers != "either":
                    raise _no_tensor(own, (input, other))
                x = input
                if y._array.dtype.kind not in _FITTING.get(type(x), ""):
                    if (theirs := _by_their_own(shown(), (input, other), {})) is not None:
                        return theirs[0]
                    x, y = as_promoted(x, y)
            like = y
        elif type(other) not in _PLAIN and (theirs := _by_their_own(shown(), (input, other), {})):
            return theirs[0]
        else:
            if numbers == "none" or not isinstance(input, Tensor):
                raise _no_tensor(own, (input, other))
            x, y = input._t, other
            if x._array.dtype.kind not in _FITTING.get(type(y), ""):
                x, y = as_promoted(x, y)
            like = x
        try:
            result = native(x, y)
        except ValueError as error:
            raise as_in_torch(own, error, (x, y)) from error
        if like._array.dtype.kind in "biu":
            result = _of_integers(result, native, x, y)
        if INSIDE:
            note_birth(result, (input, other))
        if out is not None:
            return into(out, result, own)
        tensor = new(Tensor)
        tensor._t = result
        return tensor

    def shown() -> AnyFunction:
        """The function that users know: an operator's is the method."""
        return METHODS.get("div" if own == "true_divide" else own, made)

    return _published(made, native, own, method, in_place)


def _published(
    made: Callable[..., Tensor], native: Any, own: str, method: bool, in_place: bool
) -> Callable[..., Tensor]:
    """The function with its name, which may be a method, and one that writes in place."""
    made.__name__ = made.__qualname__ = own
    made.__doc__ = native.__doc__
    if method:
        METHODS[own] = made
    if in_place:
        METHODS[own + "_"] = written(native, own + "_")
    return made


def written(native: Any, name: str) -> AnyFunction:
    """The method that replaces the values of a tensor by `native` of them."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        values = [a._t if type(a) is Tensor else unwrap(a) for a in args]
        keywords = {key: unwrap(value) for key, value in kwargs.items()}
        for value in values:
            lift(self, value)
        for value in keywords.values():
            lift(self, value)
        check_written(self, *values)
        try:
            self._t._change(native, tuple(values), keywords, name)
        except (ValueError, TypeError, RuntimeError) as error:
            raise not_written(self, name, error) from error
        write_through(self)
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{name[:-1]}`, in place."
    return method


def as_promoted(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands of one dtype, by PyTorch's rules. A Python number stays one."""
    x, y = (
        asarray(v) if isinstance(v, np.ndarray) else v.item() if isinstance(v, np.generic) else v
        for v in (x, y)
    )
    if not isinstance(x, Array) and not isinstance(y, Array):
        x = ops_tensor(x)
    wanted = result_type(x, y)
    x = ops.astype(x, wanted) if isinstance(x, Array) and x.dtype != wanted else x
    y = ops.astype(y, wanted) if isinstance(y, Array) and y.dtype != wanted else y
    return x, y


def ops_tensor(value: Any) -> Any:
    """A number as an array with PyTorch's dtype for it."""
    return tensor(value, dtype=default_for(np.asarray(value).dtype.kind))


def _of_integers(result: Any, native: AnyFunction, *operands: Any) -> Any:
    """Floating-point numbers that were computed from integers, in the default dtype.

    NumPy computes with few digits if the integers are short; then they are converted first.
    """
    kind = result.dtype.kind
    wanted = default_for(kind)
    if kind not in "fc" or result.dtype == wanted:
        return result
    if result.dtype.itemsize < wanted.itemsize:
        return native(*(floating(v) for v in operands))
    return ops.astype(result, wanted)


def floating(x: Any) -> Any:
    """Integers as floating-point numbers of the default dtype; other arrays as they are."""
    if isinstance(x, Array) and x.dtype.kind in "biu":
        return ops.astype(x, default_for("f"))
    return x


def into(out: Any, result: Any, name: str) -> Any:
    """Write a result into the tensor, or the tensors, that were given as `out`."""
    if isinstance(result, tuple):
        if not isinstance(out, tuple | list) or len(out) != len(result):
            raise TypeError(f"{name}(): out must be a tuple of {len(result)} tensors")
        parts = [into(o, r, name) for o, r in zip(out, result, strict=True)]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): out must be a Tensor, not {_kind(out)}")
    if is_recorded(result) or is_recorded(out._t):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    if isinstance(result, Batched) or isinstance(out._t, Batched):
        raise RuntimeError(
            f"Batching rule not implemented for aten::{name}.out; the fallback path doesn't work "
            "on out= or view ops: leave out= away inside vmap"
        )
    if isinstance(result, Dual) or isinstance(out._t, Dual):
        raise RuntimeError(
            f"{name}(): an out= function has no forward mode: a tensor has a tangent"
        )
    if not np.can_cast(result.dtype, out._t.dtype, "same_kind"):
        raise RuntimeError(
            f"{name}(): result type {result.dtype} can't be cast to the desired output type "
            f"{out._t.dtype} of out"
        )
    if out.shape == result.shape:
        lift(out, result)
        out._t.copy_(result)
    else:
        out._t = ops.astype(result, out._t.dtype)
    return out


def _no_tensor(name: str, args: tuple[Any, ...]) -> TypeError:
    """The error for a number in the place of a tensor."""
    places = [i for i, value in enumerate(args) if not isinstance(value, Tensor | tuple | list)]
    place = places[0] if places else 0
    return TypeError(
        f"{name}(): argument in position {place + 1} must be Tensor, not {_kind(args[place])}"
    )


def _kind(value: Any) -> str:
    return type(value).__name__
