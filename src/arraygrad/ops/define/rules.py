"""Derivative rules: what one may ask for, and how the two directions of differentiation call it.

A derivative rule is an ordinary function made of ops. Its parameter names say what it needs, and
so what is kept for it:

====================  ==========================================================================
``g``                 the cotangent of the output (``gs``, a list, for an op with many outputs)
an input's name       that input
``out``               the output
``x_shape``           the shape of input ``x`` (also ``_dtype``, ``_device``), without keeping ``x``
``shapes``, ``i``     all inputs' shapes, and this input's position, where inputs are a sequence
any other name        that keyword of the op
====================  ==========================================================================

A rule states the transposed derivative without conjugation; for complex numbers the engine
conjugates on the way in and out, which makes it torch's conjugate Wirtinger derivative. Rules may
return more axes than the input has: the engine sums over what was broadcast, and casts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends import backend_of
from ...backends.filled import zeros_like
from ...core.array import Function, plain
from ...core.cpython import is_identity

if TYPE_CHECKING:
    from .op import Op

Rule = Callable[..., Any]

# --- what a rule's names stand for --------------------------------------------------------------


def parameters(rule: Rule) -> tuple[str, ...]:
    """The names of a rule's parameters, in order."""
    code = rule.__code__
    return code.co_varnames[: code.co_argcount]


def expression(op: Op, name: str) -> str:
    """Where a name in a rule comes from, as an expression over `arrays`, `out`, `params`."""
    if name in ("g", "gs", "out"):
        return name
    if name in op.inputs:
        position = op.inputs.index(name)
        starred = op.variadic and position == len(op.inputs) - 1
        return f"arrays[{position}:]" if starred else f"arrays[{position}]"
    if name == "shapes":
        return "[a.shape for a in arrays]"
    for suffix in ("_shape", "_dtype", "_device"):
        if name.endswith(suffix) and name.removesuffix(suffix) in op.inputs:
            array = expression(op, name.removesuffix(suffix))
            own = f"{array}.{suffix[1:]}"
            if suffix == "_dtype":
                return own
            return f"({own} if type({array}) is ndarray else {suffix[1:]}_of({array}))"
    return f"params[{name!r}]"


def _shape_of(x: Any) -> tuple[int, ...]:
    """The shape of an array, with what its library wants remembered along with it."""
    inner = plain(x)
    shape = backend_of(inner).shape(inner)
    if inner is x:
        return shape
    # Batch axes are in front: what is remembered of the others holds for the array inside, too.
    return shape.last(x.ndim) if hasattr(shape, "last") else x.shape  # type: ignore[no-any-return]


def _device_of(x: Any) -> Any:
    """Where an array is; not all libraries have an attribute that says so."""
    return backend_of(x).device(plain(x))


# What the expressions of `expression` refer to.
_HELPERS: dict[str, Any] = {
    "ndarray": np.ndarray,
    "shape_of": _shape_of,
    "device_of": _device_of,
}


# --- backward -----------------------------------------------------------------------------------


class Pullback:
    """What one application of an op keeps, and how cotangents get back through it.

    There is one for each choice of inputs that need gradients, so nothing is kept, and no rule is
    run, for the sake of an input that needs none.
    """

    __slots__ = (
        "arity",
        "arrays",
        "direct",
        "elementwise",
        "holomorphic",
        "in_blocks",
        "is_like_output",
        "joint",
        "keep",
        "keeps_arrays",
        "kept",
        "live",
        "multiple",
        "name",
        "overwrites",
        "positions",
        "rules",
        "simple",
        "sources",
    )

    def __init__(self, op: Op, positions: tuple[int, ...]) -> None:
        self.name = op.name
        self.positions = positions
        self.arity = max(len(op.inputs), *(p + 1 for p in positions), 0)
        self.holomorphic = op.holomorphic
        self.multiple = op.multiple
        self.direct = op.direct
        self.in_blocks = op.elementwise  # so it can be run, see `large`
        # Whether what the rules give is like the output: the forward rules rest on it, too.
        self.is_like_output = op.make_forward is sum_of_rules
        self.live = op.live
        self.overwrites = op.overwrites
        self.elementwise = op.batch == "elementwise"
        special = op.multiple or op.joint is not None or op.direct is not None
        self.simple = not (special or op.overwrites)
        rules = [op.rules[op.input_name(p)] for p in positions]
        given = {"g", "gs", "i", "wanted"}
        self.kept = tuple(sorted({n for r in rules for n in parameters(r)} - given))
        # Where each kept value came from: an input's position, -1 for the output, None for
        # anything that cannot carry a gradient.
        fixed = op.inputs[:-1] if op.variadic else op.inputs
        source = {name: position for position, name in enumerate(fixed)} | {"out": -1}
        self.sources = tuple(source.get(name) for name in self.kept)
        # The places of those that are arrays, or sequences of them.
        self.arrays = [i for i, n in enumerate(self.kept) if n == "out" or n in op.inputs]
        self.keeps_arrays = bool(self.arrays)
        values = "".join(expression(op, n) + ", " for n in self.kept)
        self.keep: Function = eval(f"lambda arrays, out, params: ({values})", dict(_HELPERS))
        self.joint: Function | None = None
        self.rules: tuple[Rule | None, ...] = ()
        if op.joint is not None:
            self.joint = _joint(_of_saved(op.joint, self.kept, takes="g, wanted, saved"), self)
        else:
            self.rules = tuple(  # None for `lambda g: g`, which need not be called
                None
                if is_identity(rule) and parameters(rule) == ("g",)
                else _of_saved(rule, self.kept, position)
                for rule, position in zip(rules, positions, strict=True)
            )


def _joint(rule: Rule, pullback: Pullback) -> Function:
    """A rule for all inputs as the engine calls it: for the edges that need it."""

    def joint(sweep: Any, node: Any, g: Any, saved: tuple[Any, ...]) -> list[Any]:
        wanted = [False] * pullback.arity
        for position, edge in zip(pullback.positions, node.edges, strict=True):
            wanted[position] = edge in sweep.needed
        parts = rule(g, tuple(wanted), saved)
        return [parts[position] for position in pullback.positions]

    return joint


def _of_saved(
    rule: Rule, kept: tuple[str, ...], position: int = 0, takes: str = "g, saved"
) -> Rule:
    """`rule` as a function of the cotangent and of what was saved."""
    source = {"g": "g", "gs": "g", "wanted": "wanted", "i": str(position)}
    call = ", ".join(source.get(n) or f"saved[{kept.index(n)}]" for n in parameters(rule))
    return eval(f"lambda {takes}: rule({call})", {"rule": rule})  # type: ignore[no-any-return]


# --- forward ------------------------------------------------------------------------------------


def tangent_rules(op: Op) -> dict[int, Function]:
    """The rules as functions of `t, arrays, out, params`, by the positions of their inputs."""
    found = {}
    for name, rule in op.rules.items():
        call = ", ".join(expression(op, n) for n in parameters(rule))
        source = f"lambda g, arrays, out, params: rule({call})"
        found[op.inputs.index(name)] = eval(source, {"rule": rule, **_HELPERS})
    return found


def sum_of_rules(op: Op) -> Function:
    """Elementwise: the Jacobian is diagonal, so the reverse rules serve forwards too."""
    rules = op.tangent_rules or {}

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        terms = [
            rules[i](t, primals, out, params)
            for i, t in enumerate(tangents)
            if t is not None and i in rules
        ]
        return functools.reduce(lambda a, b: a + b, terms) if terms else None

    return forward


def replacing(op: Op) -> Function:
    """Linear in each input separately: put in the tangents one at a time."""

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        terms = [
            op.function(*primals[:i], t, *primals[i + 1 :], **params)
            for i, t in enumerate(tangents)
            if t is not None
        ]
        return functools.reduce(lambda a, b: a + b, terms)

    return forward


def on_tangents(op: Op) -> Function:
    """Linear in its differentiable inputs together: the op itself, on the tangents."""

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        full = []
        for i, (primal, tangent) in enumerate(zip(primals, tangents, strict=True)):
            if op.input_name(i) not in op.rules:
                full.append(primal)
            else:
                full.append(_zero(primal) if tangent is None else tangent)
        return op.function(*full, **params)

    return forward


def named(jvp: Rule, op: Op) -> Function:
    """A forward rule written out: `t` (of the first input), or `t_x` for an input `x`."""
    takes = parameters(jvp)
    fixed = op.inputs[:-1] if op.variadic else op.inputs
    tangent_of = {f"t_{n}": i for i, n in enumerate(fixed)} | {"t": 0}
    arguments = ", ".join(
        f"tangents[{tangent_of[n]}]" if n in tangent_of else expression(op, n) for n in takes
    )
    names = {"jvp": jvp, **_HELPERS}
    call = eval(f"lambda arrays, tangents, out, params: jvp({arguments})", names)

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        tangents = [_zero(p) if t is None else t for p, t in zip(primals, tangents, strict=True)]
        return call(primals, tangents, out, params)

    return forward


def _zero(x: Any) -> Any:
    """The zero tangent of an array or number."""
    return zeros_like(x) if hasattr(x, "dtype") else 0.0
