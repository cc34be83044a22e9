"""`autograd.wrap_util`: operators on functions of one argument, for functions of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["get_doc", "get_name", "unary_to_nary", "wrap_nary_f", "wraps"]

AnyFunction = Callable[..., Any]


def unary_to_nary(unary_operator: AnyFunction) -> AnyFunction:
    """From ``operator(fun, x)``, make ``operator(fun, argnum)(*args, **kwargs)``."""

    @wraps(unary_operator)
    def nary_operator(fun: AnyFunction, argnum: Any = 0, *op_args: Any, **op_kwargs: Any) -> Any:
        single = type(argnum) is int
        if not single and type(argnum) not in (tuple, list):
            raise AssertionError(f"argnum must be an int, or a tuple or list of them: {argnum!r}")

        name = get_name(fun)

        @wrap_nary_f(fun, unary_operator, argnum)
        def nary_f(*args: Any, **kwargs: Any) -> Any:
            def unary_f(x: Any) -> Any:
                items = list(args)
                if single:
                    items[argnum] = x
                else:
                    for i, part in zip(argnum, x, strict=True):
                        items[i] = part
                return fun(*items, **kwargs)

            unary_f.__name__ = name
            x = args[argnum] if single else tuple([args[i] for i in argnum])
            return unary_operator(unary_f, x, *op_args, **op_kwargs)

        return nary_f

    return nary_operator


def wraps(
    fun: Any, namestr: str = "{fun}", docstr: str = "{doc}", **words: Any
) -> Callable[[AnyFunction], AnyFunction]:
    """A decorator that gives a function the name and docstring of `fun`, in these patterns."""

    def rename(f: AnyFunction) -> AnyFunction:
        names = {"fun": get_name(fun), "doc": get_doc(fun)} | words
        f.__name__ = namestr.format(**names)
        f.__doc__ = docstr.format(**names)
        return f

    return rename


_ABOUT = """\
    {op} of function {fun} with respect to argument number {argnum}. Takes the
    arguments of {fun} and returns the {op}.
    """


def wrap_nary_f(fun: Any, op: Any, argnum: Any) -> Callable[[AnyFunction], AnyFunction]:
    """A decorator that names the function which an operator made of `fun`."""
    return wraps(fun, "{op}_of_{fun}_wrt_argnum_{argnum}", _ABOUT, op=get_name(op), argnum=argnum)


def get_name(f: Any) -> str:
    """The name of a function."""
    return getattr(f, "__name__", "[unknown name]")


def get_doc(f: Any) -> str:
    """The docstring of a function; empty if it has none."""
    return getattr(f, "__doc__", "") or ""
