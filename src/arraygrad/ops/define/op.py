"""What an op is, and how one is declared.

An op is declared once: a name, a way to compute it, and a derivative rule for each input, see
`ops.rules`. The rest follows from the declaration. Calling an op looks at the types of its
arguments, see `ops.dispatch`: on plain arrays it is the backend's own function; on an `Array` (a
`Tensor`, a dual array, a batched array) it is what that type makes of the op, one level further
out.

`unary`, `binary` and `constant` declare the common shapes of op in one line each; `declare` is the
general form.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol, cast, overload

from ...backends import common_backend
from ...core.array import Array, Function
from ...errors import MixedArraysError
from .adoption import in_one_library
from .dispatch import BinaryTable, SingleTable, UnaryTable, UnsupportedOperand
from .rules import (
    Pullback,
    Rule,
    is_identity,
    named,
    on_tangents,
    parameters,
    replacing,
    sum_of_rules,
    tangent_rules,
)
from .signatures import TwoArrays, Unary

# All ops by their names, for those who can only pass on a name.
OPS: dict[str, Op] = {}


class Op:
    """One declared operation.

    Attributes
    ----------
    name : str
    inputs : tuple of str
        The names of the array arguments; a single starred name for a sequence of them.
    rules : dict of str to callable
        The derivative rule of each differentiable input.
    joint : callable or None
        One rule for all inputs, in the place of `rules`.
    forward : callable or None
        `forward(primals, tangents, out, params)` gives the output's tangent.
    holomorphic : bool
        Whether the rules are conjugated for complex cotangents. Rules that already give the
        conjugate Wirtinger derivative say False.
    batch : str or callable
        How to run the op over a hidden leading axis: a name in `ops.batching`, or a function.
    view : bool
        Whether the result may share memory with the (first) input, so that writes show in both.
    """

    def __init__(
        self,
        name: str,
        inputs: tuple[str, ...],
        *,
        compute: Function | None = None,
        rules: dict[str, Rule] | None = None,
        joint: Rule | None = None,
        holomorphic: bool = True,
        batch: str | Function = "loop",
        multiple: bool = False,
        view: bool = False,
    ) -> None:
        self.name = name
        self.inputs = tuple(n.lstrip("*") for n in inputs)
        self.variadic = inputs[-1].startswith("*")
        self.compute = compute
        self.rules = dict.fromkeys(self.inputs, joint) if joint else rules or {}
        self.joint = joint
        self.holomorphic = holomorphic
        self.batch = batch
        self.multiple = multiple
        self.view = view
        self.elementwise = False  # each element of the result by itself, and so are the rules
        self.make_forward: Callable[[Op], Function] | None = None
        # `direct(sweep, node, g, table, owned, spare)` adds what the rules would give for a NumPy
        # array to the cotangents itself, at less cost; it may write to `g` if `spare`.
        self.direct: Function | None = None
        # `live(mask, pullback, wanted, saved)` gives, for an op that only moves elements or adds
        # them up, which elements of its inputs those of the result in `mask` depend on.
        self.live: Function | None = None
        self.overwrites = False  # whether some elements of its inputs cannot matter to the result
        self.function: Function
        self.table: Any = None
        self.single: Any = None
        self._pullbacks: dict[tuple[int, ...], Pullback | None] = {}
        self.kernels: dict[tuple[type, ...], Function] = {}
        OPS[name] = self

    @functools.cached_property
    def forward(self) -> Function | None:
        """The forward rule, made when it is first needed."""
        return None if self.make_forward is None else self.make_forward(self)

    @functools.cached_property
    def tangent_rules(self) -> dict[int, Function] | None:
        """For an elementwise op: `rule(t, arrays, out, params)` by the position of its input."""
        return tangent_rules(self) if self.make_forward is sum_of_rules else None

    def kernel(self, types: tuple[type, ...]) -> Function:
        """The function that computes the op on plain arrays of these types."""
        found = self.kernels.get(types)
        if found is None:
            backend = common_backend(types)
            found = backend.kernel(self)
            if self.elementwise:
                found = backend.elementwise(found, types)
            self.kernels[types] = found
        return found

    def pullback(self, positions: tuple[int, ...]) -> Pullback | None:
        """How cotangents get back to the inputs at `positions`; None if none has a rule."""
        try:
            return self._pullbacks[positions]
        except KeyError:
            usable = tuple(p for p in positions if self.input_name(p) in self.rules)
            made = Pullback(self, usable) if usable else None
            self._pullbacks[positions] = made
            return made

    def input_name(self, position: int) -> str:
        """The name of the input at a position; the starred one takes all that follow."""
        return self.inputs[min(position, len(self.inputs) - 1)]


class Operator(TwoArrays[[]], Protocol):
    """The function of an op on two arrays, with the forms that serve as Python's operators."""

    operator: Function
    reflected: Function


def declare(
    name: str,
    *inputs: str,
    compute: Function | None = None,
    vjp: Rule | None = None,
    joint: Rule | None = None,
    jvp: Rule | None = None,
    linear: bool | str = False,
    holomorphic: bool = True,
    batch: str | Function = "loop",
    multiple: bool = False,
    view: bool = False,
    doc: str | None = None,
    **vjps: Rule,
) -> Function:
    """Declare an op in general form, and return the function that runs it.

    Parameters
    ----------
    name : str
        The name of the backend's function that computes the op, unless `compute` does.
    *inputs : str
        The names of the array arguments; ``"*arrays"`` for any number of them. Everything that
        is not an array is passed by keyword.
    compute : callable, optional
        `compute(xp, *arrays, **keywords)`, for what the standard's namespace `xp` does not have.
    vjp, vjp_<input> : callable, optional
        The derivative rule of the only input, or of the input named.
    joint : callable, optional
        One rule for all inputs, where they share work: it also takes ``wanted``, which says of
        each input whether it needs its cotangent, and returns one, or None, for each.
    jvp : callable, optional
        The forward rule, where it does not follow from the reverse ones.
    linear : bool or "each"
        Whether the op is linear in its differentiable inputs, together or each by itself: then
        the op is its own forward rule.
    """
    rules = {key.removeprefix("vjp_"): rule for key, rule in vjps.items()}
    if vjp is not None:
        rules[inputs[0].lstrip("*")] = vjp
    unknown = rules.keys() - {n.lstrip("*") for n in inputs}
    if unknown:
        raise TypeError(f"{name}: a rule for {sorted(unknown)}, which are no inputs of it")
    op = Op(
        name,
        inputs,
        compute=compute,
        rules=rules,
        joint=joint,
        holomorphic=holomorphic and not (linear and linear != "each"),
        batch=batch,
        multiple=multiple,
        view=view,
    )
    if jvp is not None:
        op.make_forward = functools.partial(named, jvp)
    elif linear:
        op.make_forward = replacing if linear == "each" else on_tangents

    op.single = single = SingleTable(op)
    op.table = pair = BinaryTable(op)

    def run(*arrays: Any, **params: Any) -> Any:
        if len(arrays) == 1:
            (x,) = arrays
            return single[type(x)](x, params)
        try:
            if len(arrays) == 2 and not params:
                x, y = arrays
                return pair[type(x)][type(y)](x, y)
            top: type[Array] | None = None
            for array in arrays:
                if isinstance(array, Array) and (top is None or array.level > top.level):
                    top = type(array)
            if top is not None:
                return top.apply(op, arrays, params)
            return op.kernel(tuple(map(type, arrays)))(*arrays, **params)
        except MixedArraysError as error:
            return run(*in_one_library(arrays, error), **params)

    if doc is not None:  # it is called by users, who may look at what it takes
        positional = inspect.Parameter.POSITIONAL_ONLY
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(n, positional) for n in op.inputs]
        )
    return _function(op, run, doc)


def unary(
    name: str,
    d: Rule | None = None,
    *,
    vjp: Rule | None = None,
    jvp: Rule | None = None,
    holomorphic: bool = True,
    compute: Function | None = None,
    view: bool = False,
    doc: str | None = None,
) -> Unary:
    """Declare an elementwise function of one array by its derivative.

    `d` gives the derivative at each element from `x` or `out`; `vjp` instead gives the product
    with the cotangent, where that is shorter or more exact.
    """
    if d is not None:
        vjp = _times(d)
    op = Op(
        name,
        ("x",),
        compute=compute,
        rules={"x": vjp} if vjp else {},
        holomorphic=holomorphic,
        batch="elementwise",
        view=view,
    )
    op.elementwise = not view
    if jvp is not None:
        op.make_forward = functools.partial(named, jvp)
    elif vjp is not None:
        op.make_forward = sum_of_rules
    op.table = table = UnaryTable(op)

    def run(x: Any, /) -> Any:
        return table[type(x)](x)

    return cast("Unary", _function(op, run, doc))


def binary(
    name: str,
    dx: Rule | None = None,
    dy: Rule | None = None,
    *,
    vjp_x: Rule | None = None,
    vjp_y: Rule | None = None,
    compute: Function | None = None,
    doc: str | None = None,
) -> Operator:
    """Declare an elementwise function of two arrays that broadcast, by its derivatives."""
    vjp_x = _times(dx) if dx is not None else vjp_x
    vjp_y = _times(dy) if dy is not None else vjp_y
    rules = {n: rule for n, rule in (("x", vjp_x), ("y", vjp_y)) if rule is not None}
    op = Op(name, ("x", "y"), compute=compute, rules=rules, batch="elementwise")
    op.elementwise = True
    if rules:
        op.make_forward = sum_of_rules
    op.table = table = BinaryTable(op)

    def run(x: Any, y: Any, /) -> Any:
        try:
            return table[type(x)][type(y)](x, y)
        except MixedArraysError as error:
            return run(*in_one_library((x, y), error))

    def operator(x: Any, y: Any, /) -> Any:
        try:
            found = table[type(x)][type(y)]
        except UnsupportedOperand:
            return NotImplemented
        try:
            return found(x, y)
        except MixedArraysError as error:
            return run(*in_one_library((x, y), error))

    def reflected(x: Any, y: Any, /) -> Any:
        try:
            found = table[type(y)][type(x)]
        except UnsupportedOperand:
            return NotImplemented
        try:
            return found(y, x)
        except MixedArraysError as error:
            return run(*in_one_library((y, x), error))

    function: Any = _function(op, run, doc)
    function.operator = operator
    function.reflected = reflected
    return cast("Operator", function)


@overload
def constant(
    name: str, x: str, /, *, compute: Function | None = None, doc: str | None = None
) -> Unary: ...
@overload
def constant(
    name: str, x: str, y: str, /, *, compute: Function | None = None, doc: str | None = None
) -> Operator: ...
@overload
def constant(
    name: str,
    *inputs: str,
    batch: str | Function,
    compute: Function | None = None,
    doc: str | None = None,
) -> Function: ...
def constant(
    name: str,
    *inputs: str,
    batch: str | Function = "elementwise",
    compute: Function | None = None,
    doc: str | None = None,
) -> Any:
    """Declare an op that has no derivative: its result never requires gradients."""
    if batch == "elementwise" and inputs == ("x",):
        return unary(name, compute=compute, doc=doc)
    if batch == "elementwise" and inputs == ("x", "y"):
        return binary(name, compute=compute, doc=doc)
    return declare(name, *inputs, batch=batch, compute=compute, doc=doc)


def _times(d: Rule) -> Rule:
    """The rule that multiplies the cotangent by the derivative `d`."""
    names = ", ".join(parameters(d))
    factor = names if is_identity(d) else f"d({names})"
    return eval(f"lambda g, {names}: g * {factor}", {"d": d})  # type: ignore[no-any-return]


def _function(op: Op, run: Any, doc: str | None) -> Function:
    """Make `run` the function of `op`."""
    run.op = op
    run.__doc__ = doc
    run.__name__ = run.__qualname__ = op.name
    op.function = run
    return run  # type: ignore[no-any-return]
