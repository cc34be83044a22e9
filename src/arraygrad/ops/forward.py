"""Forward rules: they compute the tangent of an op's result. `Dual` is in `arrays.dual`.

A forward rule follows from the op's kind and reverse rules, unless the declaration contains one.

===========================  ======================================================================
declared with ``jvp=``       that rule
flat                         zero
linear                       the op itself, on the tangents
linear in each input         the op itself, with one input replaced by its tangent, for each input
elementwise                  the reverse rules: the Jacobian is diagonal
reduction with ``d=``        the sum of tangents times `d`
along an axis, symmetric     the reverse rule
===========================  ======================================================================
"""

from __future__ import annotations

import functools
from operator import itemgetter
from typing import Any

from ..backends.filled import zeros_like
from ..core.array import AnyFunction
from ..core.cpython import is_identity
from ..core.kinds import AlongAxis, Elementwise, Reduces
from ..errors import RuleError
from .define.op import Op, once_per_op
from .define.rules import Rule, parameters, source_of, sums_rules
from .elementwise import conj, is_complex, real
from .reductions import _sum


@once_per_op
def forward_of(op: Op) -> AnyFunction | None:
    """The function ``forward(primals, tangents, out, keywords)``; None if there is no rule."""
    kind = op.kind
    if op.jvp is not None:
        return _named(op, op.jvp)
    if isinstance(kind.flat, tuple) and kind.flat and op.rules.keys() <= set(kind.flat):
        return _zero_of_result
    if kind.linear:
        return _replacing(op) if kind.linear == "each" else _on_tangents(op)
    if isinstance(kind, Elementwise) and kind.real:
        return _real_part(op)
    if sums_rules(op):
        return _sum_of_rules(op)
    if isinstance(kind, Reduces) and op.slopes:
        return _reduced(op)
    if isinstance(kind, AlongAxis) and kind.symmetric:
        return _sum_of_rules(op)
    return None


_MORE = 3  # the part of a call with the cotangent, or with the tangents; see `Source`


@once_per_op
def tangent_rules(op: Op) -> dict[int, AnyFunction]:
    """The reverse rules as functions of `t, arrays, out, params`, by the inputs' positions."""
    return {op.inputs.index(name): _rule_of_arrays(op, name) for name in op.rules}


def _rule_of_arrays(op: Op, name: str) -> AnyFunction:
    d = op.slopes.get(name)
    if d is None or not isinstance(op.kind, Elementwise):
        return _of_arrays(op, op.rules[name])
    names, same = parameters(d), is_identity(d)
    if names == ("out",):
        if same:
            return lambda g, arrays, out, params: g * out
        return lambda g, arrays, out, params: g * d(out)
    if len(names) == 1 and names[0] in op.inputs:
        i = op.inputs.index(names[0])
        if same:
            return lambda g, arrays, out, params: g * arrays[i]
        return lambda g, arrays, out, params: g * d(arrays[i])
    slope = _of_arrays(op, Rule.of(d))
    return lambda g, arrays, out, params: g * slope(g, arrays, out, params)


def _of_arrays(op: Op, rule: Rule) -> AnyFunction:
    """A rule as a function of `g, arrays, out, params`."""
    function, names = rule.function, rule.names
    if not op.variadic and all(n in ("g", "out", *op.inputs) for n in names):  # as most often
        places = [("g", "out", *op.inputs).index(n) for n in names]
        if len(places) > 1:
            take = itemgetter(*places)
            return lambda g, arrays, out, params: function(*take((g, out, *arrays)))
        if places:
            (only,) = places
            return lambda g, arrays, out, params: function((g, out, *arrays)[only])
    sources = [(_MORE, itemgetter(0)) if n == "g" else source_of(op, n) for n in names]

    def run(g: Any, arrays: Any, out: Any, params: Any) -> Any:
        call = arrays, (out,), params, (g,)
        return function(*[find(call[part]) for part, find in sources])

    return run


def _sum_of_rules(op: Op) -> AnyFunction:
    rules = tangent_rules(op)

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        terms = [
            rules[i](t, primals, out, params)
            for i, t in enumerate(tangents)
            if t is not None and i in rules
        ]
        return functools.reduce(lambda a, b: a + b, terms) if terms else None

    return forward


def _real_part(op: Op) -> AnyFunction:
    """For a function that is real even for complex inputs: its slope is the rule applied to one."""
    rule = tangent_rules(op)[0]

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        (x,), (t,) = primals, tangents
        if not is_complex(x):
            return rule(t, primals, out, params)
        return real(t * conj(rule(1.0, primals, out, params)))

    return forward


def _reduced(op: Op) -> AnyFunction:
    """For a reduction with a slope: the sum of the tangents times the slope."""
    slope = _of_arrays(op, Rule.of(op.slopes[op.inputs[0]]))
    is_real = op.kind.real  # type: ignore[attr-defined]

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        d, (t,) = slope(None, primals, out, params), tangents
        product = real(t * conj(d)) if is_real and is_complex(d) else t * d
        return _sum(product, axis=params["axis"], keepdims=params["keepdims"])

    return forward


def _replacing(op: Op) -> AnyFunction:
    """For an op that is linear in each input: the sum over inputs, each replaced by its tangent."""

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        terms = [
            op.function(*primals[:i], t, *primals[i + 1 :], **params)
            for i, t in enumerate(tangents)
            if t is not None
        ]
        return functools.reduce(lambda a, b: a + b, terms)

    return forward


def _on_tangents(op: Op) -> AnyFunction:
    """For an op that is linear in its differentiable inputs together: the op on the tangents."""

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        full = []
        for i, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
            if op.input_name(i) not in op.rules:
                full.append(primal)
            else:
                full.append(_zero(primal) if tangent is None else tangent)
        return op.function(*full, **params)

    return forward


def _named(op: Op, jvp: Rule) -> AnyFunction:
    """For a declared rule: its parameters are `t` (for the first input), or `t_x` for input `x`.

    A constant has the tangent zero, or None if it belongs to a starred input.
    """
    fixed = op.inputs[:-1] if op.variadic else op.inputs
    function, count = jvp.function, len(fixed)
    tangent_of: dict[str, AnyFunction] = {f"t_{n}": itemgetter(i) for i, n in enumerate(fixed)}
    tangent_of["t"] = itemgetter(0)
    if op.variadic:
        tangent_of[f"t_{op.inputs[-1]}"] = lambda tangents: tuple(tangents[count:])
    sources = [(_MORE, tangent_of[n]) if n in tangent_of else source_of(op, n) for n in jvp.names]

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        tangents = list(tangents)
        for i, primal in enumerate(primals[: len(fixed)]):
            if tangents[i] is None:
                tangents[i] = _zero(primal)
        call = primals, (out,), params, tangents
        found = function(*[find(call[part]) for part, find in sources])
        if not op.is_library:
            broadcasts = isinstance(op.kind, Elementwise) and len(primals) > 1
            _check_rule(op, out, found, broadcasts)
        return found

    return forward


def _check_rule(op: Op, out: Any, found: Any, broadcasts: bool) -> None:
    """Raise if a user's forward rule has not given a tangent for each result."""
    if not op.multiple:
        out, found = (out,), (found,)
    elif not isinstance(found, tuple | list):
        raise RuleError(
            f"the rule jvp of {op.name} must return a tuple with a tangent for each of the "
            f"{len(out)} results, but returned {type(found).__name__}"
        )
    check_tangents(f"the rule jvp of {op.name}", out, found, broadcasts)
    if any(t is None for t in found):
        raise RuleError(f"the rule jvp of {op.name} returned None: return zeros for a constant")


def check_tangents(name: str, outputs: Any, tangents: Any, broadcasts: bool = False) -> None:
    """Raise unless a user's rule gave a tangent, or None, of the right shape for each output."""
    if len(tangents) != len(outputs):
        raise RuleError(
            f"{name} returned {len(tangents)} tangents for {len(outputs)} outputs: return one for "
            "each"
        )
    for i, (output, tangent) in enumerate(zip(outputs, tangents, strict=True)):
        if tangent is None or tangent is output:
            continue
        wanted = tuple(getattr(output, "shape", ()))
        shape = getattr(tangent, "shape", None)
        if shape is None or (tuple(shape) != wanted and not broadcasts):
            what = type(tangent).__name__ if shape is None else f"one of shape {tuple(shape)}"
            raise RuleError(
                f"{name} returned {what} as the tangent of output {i}, which has shape {wanted}"
            )
        if is_complex(tangent) and not is_complex(output):
            raise RuleError(
                f"{name} returned a complex tangent for output {i}, which is real: take the part "
                "that is meant, by real()"
            )


def _zero_of_result(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
    return tuple(map(zeros_like, out)) if isinstance(out, tuple) else zeros_like(out)


def _zero(x: Any) -> Any:
    """The zero tangent of an array or number."""
    return zeros_like(x) if hasattr(x, "dtype") else 0.0
