"""The functions that give a primitive its derivative rules."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .helpers import subval
from .primitives import SparseObject, as_cotangent, primitive, primitive_jvps, primitive_vjps
from .spaces import vspace

__all__ = [
    "add_outgrads", "def_linear", "defjvp", "defjvp_argnum", "defjvp_argnums", "defvjp",
    "defvjp_argnum", "defvjp_argnums", "primitive_with_deprecation_warnings", "sum_outgrads",
]  # fmt: skip

AnyFunction = Callable[..., Any]


def defvjp_argnums(fun: Any, vjpmaker: AnyFunction) -> None:
    """Give a primitive the rule ``vjpmaker(argnums, ans, args, kwargs)(g)``, for all arguments."""
    primitive_vjps[fun] = vjpmaker


def defvjp_argnum(fun: Any, vjpmaker: AnyFunction) -> None:
    """Give a primitive the rule ``vjpmaker(argnum, ans, args, kwargs)(g)``, for each argument."""

    def of_argnums(argnums: Any, ans: Any, args: Any, kwargs: Any) -> AnyFunction:
        vjps = [vjpmaker(argnum, ans, args, kwargs) for argnum in argnums]
        return lambda g: [vjp(g) for vjp in vjps]

    defvjp_argnums(fun, of_argnums)


def defvjp(fun: Any, *vjpmakers: Any, argnums: Iterable[int] | None = None) -> None:
    """Give a primitive rules ``vjpmaker(ans, *args, **kwargs)(g)``, one for each argument.

    None says that the derivative by the argument is zero.
    """
    makers = _by_argnum(fun, "VJP", vjpmakers, argnums)

    def of_argnums(numbers: Any, ans: Any, args: Any, kwargs: Any) -> AnyFunction:
        vjps = []
        for argnum in numbers:
            if argnum not in makers:
                raise NotImplementedError(
                    f"VJP of {_name(fun)} wrt argnums {tuple(numbers)} not defined"
                )
            maker = makers[argnum]
            zero = functools.partial(_zeros_of, args[argnum])
            vjps.append(zero if maker is None else maker(ans, *args, **kwargs))
        return lambda g: [vjp(g) for vjp in vjps]

    defvjp_argnums(fun, of_argnums)


def _zeros_of(value: Any, g: Any) -> Any:
    return vspace(value).zeros()


def defjvp_argnums(fun: Any, jvpmaker: AnyFunction) -> None:
    """Give a primitive the forward rule ``jvpmaker(argnums, gs, ans, args, kwargs)``."""
    primitive_jvps[fun] = jvpmaker


def defjvp_argnum(fun: Any, jvpmaker: AnyFunction) -> None:
    """Give a primitive the forward rule ``jvpmaker(argnum, g, ans, args, kwargs)``."""

    def of_argnums(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        pairs = zip(argnums, gs, strict=True)
        return sum_outgrads(jvpmaker(argnum, g, ans, args, kwargs) for argnum, g in pairs)

    defjvp_argnums(fun, of_argnums)


def defjvp(fun: Any, *jvpfuns: Any, argnums: Iterable[int] | None = None) -> None:
    """Give a primitive forward rules ``jvpfun(g, ans, *args, **kwargs)``, one for each argument.

    None says that the derivative by the argument is zero, "same" that the function is linear in it.
    """
    rules = _by_argnum(fun, "JVP", jvpfuns, argnums, "same")

    def of_argnum(argnum: int, g: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        if argnum not in rules:
            raise NotImplementedError(f"JVP of {_name(fun)} wrt argnum {argnum} not defined")
        rule = rules[argnum]
        if rule is None:
            return vspace(ans).zeros()
        if rule == "same":
            return fun(*subval(args, argnum, g), **kwargs)
        return rule(g, ans, *args, **kwargs)

    defjvp_argnum(fun, of_argnum)


def def_linear(fun: Any) -> None:
    """Say that a primitive is linear in each of its arguments, so that it is its forward rule."""
    defjvp_argnum(fun, lambda argnum, g, ans, args, kws: fun(*subval(args, argnum, g), **kws))


def _by_argnum(
    fun: Any, what: str, rules: tuple[Any, ...], argnums: Any, *words: str
) -> dict[int, Any]:
    numbers: Any = itertools.count() if argnums is None else argnums
    found = dict(zip(numbers, rules, strict=False))
    for rule in found.values():
        if rule is not None and rule not in words and not callable(rule):
            raise TypeError(f"Bad {what} {rule!r} for {_name(fun)}: give a function or None")
    return found


def _name(fun: Any) -> str:
    return str(getattr(fun, "__name__", fun))


def add_outgrads(previous: tuple[Any, bool] | None, g: Any) -> tuple[Any, bool]:
    """The sum of a cotangent and another one, which may be None; and whether it may be written."""
    if previous is None:
        return (as_cotangent(g), True) if isinstance(g, SparseObject) else (g, False)
    if isinstance(g, SparseObject):
        return g.mut_add(vspace(previous[0]).add(previous[0], g.vs.zeros())), True
    return vspace(g).add(previous[0], g), True


def sum_outgrads(gs: Iterable[Any]) -> Any:
    """The sum of cotangents, or of tangents."""
    total = functools.reduce(add_outgrads, gs, None)
    assert total is not None
    return total[0]


# --- HIPS's deprecated way to give rules ---------------------------------------------------------


def primitive_with_deprecation_warnings(f_raw: AnyFunction) -> AnyFunction:
    """A primitive with the deprecated methods `defvjp`, `defvjp_is_zero` and `defgrad`."""
    made: Any = primitive(f_raw)
    makers: dict[int, Any] = {}

    def define(name: str, more: dict[int, Any]) -> None:
        warnings.warn(f"the method {name} is deprecated: use autograd.extend", stacklevel=3)
        makers.update(more)
        defvjp(made, *(makers[n] for n in sorted(makers)), argnums=sorted(makers))

    def defgrad(gradfun: AnyFunction, argnum: int = 0) -> None:
        define("defgrad", {argnum: gradfun})

    def defvjp_is_zero(argnums: Iterable[int] = (0,)) -> None:
        define("defvjp_is_zero", dict.fromkeys(argnums))

    def of_method(vjp: AnyFunction, argnum: int = 0) -> None:
        def maker(ans: Any, *args: Any, **kwargs: Any) -> AnyFunction:
            space = vspace(args[argnum])
            return lambda g: vjp(g, ans, space, vspace(g), *args, **kwargs)

        define("defvjp", {argnum: maker})

    made.defvjp, made.defgrad, made.defvjp_is_zero = of_method, defgrad, defvjp_is_zero
    return made  # type: ignore[no-any-return]
