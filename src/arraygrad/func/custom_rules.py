"""The light way to derivatives of one's own: a decorator for plain functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..backends import backend_of
from ..core.array import plain
from ..ops import broadcast_to
from ..ops.define.op import declare
from ..ops.define.rules import parameters
from .reverse import linearize, vjp

Function = Callable[..., Any]
# By their number, as a checker does not otherwise know the parameters of a lambda.
Rule = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any, Any], Any]
)
_pull_back = vjp  # `custom` has a parameter of that name


def custom(
    *,
    vjp: Rule | None = None,
    jvp: Rule | None = None,
    linear: bool | str = False,
    holomorphic: bool = True,
    batch: str | Function = "loop",
    multiple: bool = False,
    **vjps: Rule,
) -> Callable[[Function], Function]:
    """Give a function of arrays its derivative rules.

    The function is called on plain arrays only. Its positional parameters are its inputs, its
    keyword-only parameters are passed to the rules by name. See `arraygrad.ops.rules` for how rules
    are written; they are made of arraygrad's functions, so they can be differentiated in turn.

    Rules for one mode are enough: those for the other are made by transposing them.

    Parameters
    ----------
    vjp, vjp_<input> : callable
        The rule of the only input, or of the input named: from the cotangent ``g`` and whatever
        else its parameters name, the cotangent of the input. An input without a rule is a
        constant.
    jvp : callable, optional
        The forward rule: from the tangent ``t`` (or ``t_x`` for each input ``x``), that of the
        result.
    linear : bool or "each"
        Whether the function is linear in its inputs, together or each by itself; then it is its
        own forward rule.
    holomorphic : bool
        Whether the rules are conjugated for complex numbers; False if they already are.
    batch : str or callable
        How to run on a batch: ``"elementwise"`` for a function that broadcasts, ``"plain"`` for
        one that leaves leading axes alone; by default, a loop.
    multiple : bool
        Whether the function returns a tuple of arrays. Rules then take ``gs``, with a cotangent
        or None for each of them, in place of ``g``, and ``jvp`` returns a tuple.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> @ag.func.custom(vjp=lambda g, x: g * 3 * x**2)
    ... def cube(x):
    ...     return np.power(x, 3)
    >>> ag.func.grad(ag.func.grad(cube))(2.0)
    array(12.)
    """
    if vjp is None and jvp is None and not vjps:
        raise TypeError("custom() needs a rule: vjp=, vjp_<input>= or jvp=")

    def decorate(function: Function) -> Function:
        inputs, keywords = _signature(function)
        names = [name.lstrip("*") for name in inputs]
        known = {*names, *keywords, "out", "shapes", "i", "gs" if multiple else "g"}
        known |= {f"{name}_{what}" for name in names for what in ("shape", "dtype", "device")}
        for rule in (vjp, *vjps.values()):
            _check_rule(function, rule, known)
        _check_rule(function, jvp, known | {"t"} | {f"t_{name}" for name in names})
        rules: dict[str, Any] = dict(vjps)
        if vjp is not None:
            rules["vjp"] = vjp
        only_forward = jvp is not None and not rules
        if jvp is not None and only_forward:
            rules = _transposed(jvp, names, multiple)
        run: Any = declare(
            function.__name__,
            *inputs,
            compute=lambda xp, *arrays, **params: function(*arrays, **params),
            jvp=jvp,
            linear=linear,
            holomorphic=holomorphic and not only_forward,
            batch=batch,
            multiple=multiple,
            **rules,
        )
        if run.op.make_forward is None:
            run.op.make_forward = lambda op: functools.partial(_linearized, op)

        @functools.wraps(function)
        def wrapped(*arrays: Any, **params: Any) -> Any:
            given = list(arrays)
            for name in names[len(given) :]:
                if name in params:
                    given.append(params.pop(name))
                elif name in defaults:
                    given.append(defaults[name])
            return run(*given, **{**(function.__kwdefaults__ or {}), **params})

        optional = function.__defaults__ or ()
        defaults = dict(zip(names[len(names) - len(optional) :], optional, strict=True))
        return wrapped

    return decorate


def _signature(function: Function) -> tuple[list[str], tuple[str, ...]]:
    """The names of a function's inputs, as `declare` takes them, and of its keywords."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise TypeError(
            f"custom() decorates Python functions, whose parameters have names, not "
            f"{type(function).__name__}: call it from one"
        )
    count, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    inputs = list(code.co_varnames[:count])
    if code.co_flags & 4:  # takes *args
        inputs.append("*" + code.co_varnames[total])
    if not inputs:
        raise TypeError(f"custom(): {function.__name__} has no positional parameters")
    return inputs, code.co_varnames[count:total]


def _check_rule(function: Function, rule: Function | None, known: set[str]) -> None:
    if rule is None:
        return
    for name in parameters(rule):
        if name not in known:
            raise TypeError(
                f"custom(): a rule for {function.__name__} has a parameter {name!r}, which is "
                f"neither an input nor a keyword of it; it can have {', '.join(sorted(known))}"
            )


def _transposed(jvp: Function, names: list[str], multiple: bool) -> dict[str, Function]:
    """The reverse rules: a forward rule is linear in the tangents, so transpose it."""
    takes = parameters(jvp)
    input_of = {"t": names[0]} | {f"t_{name}": name for name in names}
    tangents = [name for name in takes if name in input_of]
    shapes = [f"{input_of[t]}_{what}" for t in tangents for what in ("shape", "dtype")]
    kept = [name for name in takes if name not in input_of] + shapes

    def pull(tangent: str, g: Any, *values: Any) -> Any:
        gs = g if multiple else (g,)
        like = next(part for part in gs if part is not None)
        given = dict(zip(kept, values, strict=True))
        for t in tangents:
            shape, dtype = given[f"{input_of[t]}_shape"], given[f"{input_of[t]}_dtype"]
            given[t] = backend_of(like).full(plain(like), shape, 0, dtype)

        def push(direction: Any) -> Any:
            results = jvp(*((given | {tangent: direction})[name] for name in takes))
            pairs = zip(results if multiple else (results,), gs, strict=True)
            # What no cotangent came for plays no part; a constant tangent may be of lower rank.
            return [broadcast_to(r, part.shape) for r, part in pairs if part is not None]

        _, pulled = _pull_back(push, given[tangent])
        return pulled([part for part in gs if part is not None])[0]

    first = "gs" if multiple else "g"
    source = f"lambda {', '.join((first, *kept))}: pull(tangent, {', '.join((first, *kept))})"
    return {f"vjp_{input_of[t]}": eval(source, {"pull": pull, "tangent": t}) for t in tangents}


def _linearized(op: Any, primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    """The forward rule where only reverse rules were given."""
    live = [i for i, tangent in enumerate(tangents) if tangent is not None]

    def of_live(*values: Any) -> Any:
        full = list(primals)
        for i, value in zip(live, values, strict=True):
            full[i] = value
        return op.function(*full, **params)

    _, push = linearize(of_live, *(primals[i] for i in live))
    return push(*(tangents[i] for i in live))
