"""Derivative rules: the parameters that they may have, and the `Pullback` that runs them.

A derivative rule is an ordinary function made of ops. Its parameter names say which values it
needs, and these values are saved for it:

====================  ==========================================================================
``g``                 the cotangent of the output (``gs``, a list, for an op with many outputs)
an input's name       that input
``out``               the output
``x_shape``           the shape of input ``x`` (also ``_dtype``, ``_device``), without keeping ``x``
``shapes``, ``i``     the shapes of all inputs, and this input's position, for a starred input
any other name        that keyword of the op
====================  ==========================================================================

A rule returns the transposed derivative without conjugation. For complex numbers, the sweep
conjugates the cotangent before and after the rule. The result is the conjugate Wirtinger
derivative, as in PyTorch. The result of a rule may have the broadcast shape: the sweep sums it over
the broadcast axes, and casts it to the input's dtype.

Forward rules are in `ops.forward`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends import backend_of
from ...backends.filled import zeros_like
from ...backends.numpy import native
from ...core.array import AnyFunction, plain
from ...core.cpython import is_identity
from ...core.indices import Template
from ...core.kinds import AlongAxis, Elementwise, Kind, Moves, Reduces
from ...core.versions import read_only

if TYPE_CHECKING:
    from .op import Op

# --- the parameters of a rule -------------------------------------------------------------------

SUFFIXES = ("_shape", "_dtype", "_device")  # appended to an input's name


class Rule:
    """A derivative rule: the names of the values that it needs, and a function of these values.

    A declaration takes Python functions, whose parameters have these names. Rules that are made
    from others, such as the product with a derivative, are written as a `Rule`. A rule `is_whole`
    if native code computes it, and NumPy would take much longer, also block by block.
    """

    __slots__ = ("function", "is_whole", "names")

    def __init__(
        self, names: tuple[str, ...], function: AnyFunction, is_whole: bool = False
    ) -> None:
        self.names = names
        self.function = function
        self.is_whole = is_whole

    @classmethod
    def of(cls, rule: AnyFunction) -> Rule:
        """The rule that a Python function is."""
        return rule if isinstance(rule, Rule) else cls(parameters(rule), rule)

    def __call__(self, *values: Any) -> Any:
        return self.function(*values)

    @property
    def is_identity(self) -> bool:
        """Whether the rule is known to be ``lambda g: g``."""
        return self.names == ("g",) and is_identity(self.function)


def parameters(rule: AnyFunction) -> tuple[str, ...]:
    """The names of a rule's parameters, in order."""
    if isinstance(rule, Rule):
        return rule.names
    code = rule.__code__
    return code.co_varnames[: code.co_argcount]


def product_rule(d: AnyFunction, times: Callable[[Any, Any], Any] | None = None) -> Rule:
    """The reverse rule that multiplies the cotangent by the derivative `d`, or calls `times`."""
    names = ("g", *parameters(d))
    if times is None:
        return Rule(names, lambda g, *values: g * d(*values))
    return Rule(names, lambda g, *values: times(g, d(*values)))


def zero_rule(kind: Kind, name: str) -> Rule:
    """The reverse rule of an input with a zero derivative."""
    if isinstance(kind, Elementwise):  # the sweep sums over broadcast axes
        return Rule(("g",), lambda g: zeros_like(g))
    return Rule(("g", f"{name}_shape"), zeros_like)


# Where a value is that a rule needs: in which part of a call, and a function of this part. Parts
# are the arrays, the output (in a tuple), the keywords, and in forward mode also the tangents.
Source = tuple[int, AnyFunction]
_ARRAYS, _OUT, _KEYWORDS = range(3)


def source_of(op: Op, name: str) -> Source:
    """Where the value of a rule's parameter is, in a call of the op."""
    if name == "out":
        return _OUT, itemgetter(0)
    if name in op.inputs:
        position = op.inputs.index(name)
        starred = op.variadic and position == len(op.inputs) - 1
        return _ARRAYS, itemgetter(slice(position, None) if starred else position)
    if name == "shapes":
        return _ARRAYS, lambda arrays: [a.shape for a in arrays]
    for suffix in SUFFIXES:
        if name.endswith(suffix) and name.removesuffix(suffix) in op.inputs:
            return _ARRAYS, _attribute_of(op.inputs.index(name.removesuffix(suffix)), suffix)
    return _KEYWORDS, itemgetter(name)


def _attribute_of(i: int, suffix: str) -> AnyFunction:
    """The function that finds the shape, dtype or device of one of the arrays."""
    if suffix == "_dtype":
        return lambda arrays: arrays[i].dtype
    if suffix == "_device":
        return lambda arrays: device_of(arrays[i])

    def shape(arrays: Any) -> tuple[int, ...]:
        x = arrays[i]
        return x.shape if type(x) is np.ndarray else shape_of(x)

    return shape


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of an array; a subclass of tuple if its library adds attributes."""
    inner = plain(x)
    if type(inner) is np.ndarray:
        return x.shape  # type: ignore[no-any-return]
    shape = backend_of(inner).shape(inner)
    if inner is x:
        return shape
    # Batch axes are in front, so the last axes of the shape belong to one member of the batch.
    return shape.last(x.ndim) if hasattr(shape, "last") else x.shape  # type: ignore[no-any-return]


def device_of(x: Any) -> Any:
    """The device of an array. Not all libraries have an attribute for it."""
    return backend_of(x).device(plain(x))


# --- backward -----------------------------------------------------------------------------------


# A cotangent of an input that is zero outside of a part: the values there, and the index of the
# part (a template and the arrays for its holes). The index None is the whole input: nobody else
# refers to the values then.
Partial = tuple[Any, tuple[Template, tuple[Any, ...]] | None]


class Pullback:
    """The reverse rules of an op for one choice of inputs that need gradients.

    An op has one pullback for each such choice. So no value is saved, and no rule runs, for an
    input that needs no gradient. All nodes of the op with the same choice share the pullback.

    Attributes
    ----------
    name : str
        The op's name.
    kind : Kind
        The op's kind.
    positions : tuple of int
        The positions of the inputs that need gradients.
    arity : int
        The number of inputs; for a starred input, at least this number.
    kept : tuple of str
        The names of the saved values.
    keep : callable
        ``keep(arrays, out, keywords)`` returns the values to save.
    sources : tuple of int or None
        Where each saved value comes from: an input's position, -1 for the output, None for a value
        that cannot have a gradient.
    starred : tuple of int, or None
        For a saved starred input: its place among the saved values, and the position of its first
        array.
    arrays : list of int
        The places of the saved values that are arrays, or sequences of arrays.
    rules : tuple of callable or None
        ``rule(g, saved)`` for each of the positions; None for ``lambda g: g``.
    native : tuple of callable or None
        The same rules for NumPy arrays of `native.SMALL` elements and more.
    joint : callable or None
        ``joint(g, wanted, saved)`` replaces `rules`, and returns a list.
    partial, live : callable or None
        See `Own`.
    holomorphic, multiple : bool
        As in `Op`.
    simple : bool
        Whether the pullback consists of one rule for each input and nothing else.
    in_blocks : bool
        Whether the rules can run block by block.
    is_like_output : bool
        Whether the results of the rules have the shape and dtype of the output.
    is_users : bool
        Whether the rules are a user's: a sweep runs them once, as it does with hooks.
    selects : bool
        Whether the result may be independent of some elements of the inputs.
    backward : callable or None
        ``backward(sweep, node, g)``, a user's function, replaces the rules, and returns a list.
    """

    def __init__(self, op: Op, positions: tuple[int, ...]) -> None:
        kind = op.kind
        self.name = op.name
        self.kind = kind
        self.positions = positions
        self.arity = max(len(op.inputs), *(p + 1 for p in positions), 0)
        self.holomorphic = op.holomorphic
        self.multiple = op.multiple
        self.partial = op.own.partial
        self.live = op.own.live
        self.is_like_output = sums_rules(op)
        self.selects = isinstance(kind, Moves)
        self.is_users = not op.is_library
        self.backward: AnyFunction | None = None
        special = op.multiple or op.joint is not None or self.partial is not None
        self.simple = not (special or kind.overwrites)
        names = [op.input_name(p) for p in positions]
        rules = [op.rules[n] for n in dict.fromkeys(names)]
        self.in_blocks = op.runs_in_blocks and not any(r.is_whole for r in rules)
        given = {"g", "gs", "i", "wanted"}
        needed = {n for r in rules for n in r.names} - given
        if isinstance(kind, Reduces | AlongAxis):
            needed.add(kind.axis)  # `sweep.liveness` needs it
        self.kept = tuple(sorted(needed))
        fixed = op.inputs[:-1] if op.variadic else op.inputs
        source = {name: position for position, name in enumerate(fixed)} | {"out": -1}
        self.sources = tuple(source.get(name) for name in self.kept)
        self.starred: tuple[int, int] | None = None
        if op.variadic and op.inputs[-1] in self.kept:
            self.starred = self.kept.index(op.inputs[-1]), len(fixed)
        self.arrays = [i for i, n in enumerate(self.kept) if n == "out" or n in op.inputs]
        self.keeps_arrays = bool(self.arrays)
        self.keep = _keeper(op, self.kept)
        self.joint: AnyFunction | None = None
        self.rules: tuple[AnyFunction | None, ...] = ()
        if op.joint is not None:
            run = _of_saved(op, op.joint, self.kept)(0)
            takes_wanted = "wanted" in op.joint.names
            self.joint = lambda g, wanted, saved: (
                run(g, saved, wanted) if takes_wanted else run(g, saved)
            )
        else:
            made = {n: _rule_of_saved(op, n, self.kept) for n in dict.fromkeys(names)}
            self.rules = tuple([made[n](p) for n, p in zip(names, positions, strict=True)])
        self.native = self.rules
        has_native = op.is_library and op.runs_in_blocks and op.joint is None
        if has_native and op.name not in native.BY_VALUE:
            both = zip(names, self.rules, strict=True)
            self.native = tuple([r and _native_rule(op.rules[n], self.kept, r) for n, r in both])


def sums_rules(op: Op) -> bool:
    """Whether an op is elementwise and its reverse rules, on tangents, are its forward rules."""
    kind = op.kind
    if not isinstance(kind, Elementwise) or op.jvp is not None or op.joint is not None:
        return False
    return bool(op.rules) and not (kind.linear or kind.real or kind.view or op.multiple)


def _keeper(op: Op, kept: tuple[str, ...]) -> AnyFunction:
    """``keep(arrays, out, keywords)``, which gives a tuple of the values."""
    sources = [source_of(op, n) for n in kept]
    if op.own.kept is not None and "out" in kept:
        of_results = op.own.kept
        sources[kept.index("out")] = _OUT, lambda call: of_results(call[0])

    def keep(arrays: Any, out: Any, params: Any) -> tuple[Any, ...]:
        call, values = (arrays, (out,), params), []
        for part, find in sources:  # no comprehension, which would be one more call
            values.append(find(call[part]))
        return tuple(values)

    return keep


def _rule_of_saved(op: Op, name: str, kept: tuple[str, ...]) -> Callable[[int], AnyFunction | None]:
    """The rule of an input as ``rule(g, saved)``, given a position; None for ``lambda g: g``."""
    rule, d = op.rules[name], op.slopes.get(name)
    if rule.is_identity:
        return lambda _: None
    if d is None or not isinstance(op.kind, Elementwise):
        return _of_saved(op, rule, kept)
    # Multiply here: this saves a call.
    places = [kept.index(n) for n in parameters(d)]
    if len(places) != 1:
        return lambda _: lambda g, saved: g * d(*[saved[i] for i in places])
    (only,) = places
    if is_identity(d):
        return lambda _: lambda g, saved: g * saved[only]
    return lambda _: lambda g, saved: g * d(saved[only])


def _native_rule(rule: Rule, kept: tuple[str, ...], otherwise: AnyFunction) -> AnyFunction:
    """A rule of an elementwise op as ``rule(g, saved)``, by native code if there is any."""
    function, places = rule.function, [kept.index(n) for n in rule.names if n != "g"]
    entries = native.Entries(lambda compiler, kinds: compiler.rule(function, kinds), is_quiet=True)

    def run(g: Any, saved: Any) -> Any:
        if entries.gains:
            out = entries(g, *[saved[i] for i in places])
            if out is not NotImplemented:
                return out
        return otherwise(g, saved)

    return run if rule.names[:1] == ("g",) else otherwise


_G, _POSITION, _WANTED = -1, -2, -3  # what is no saved value
_NOT_SAVED = {"g": _G, "gs": _G, "i": _POSITION, "wanted": _WANTED}


def _of_saved(op: Op, rule: Rule, kept: tuple[str, ...]) -> Callable[[int], AnyFunction]:
    """`rule` as a function of the cotangent and the saved values, given an input's position."""
    function = rule.function
    places = [_NOT_SAVED[n] if n in _NOT_SAVED else kept.index(n) for n in rule.names]
    if op.is_library and places[:1] == [_G] and all(i >= 0 for i in places[1:]):
        return lambda _: _simple(function, places[1:])
    # A user's rule might write to its arguments.
    shown = _same if op.is_library else _read_only

    def of_position(position: int) -> AnyFunction:
        def run(g: Any, saved: Any, wanted: Any = ()) -> Any:
            known = {_G: shown(g), _POSITION: position, _WANTED: wanted}
            return function(*[known[i] if i < 0 else saved[i] for i in places])

        return run

    return of_position


def _simple(function: AnyFunction, places: list[int]) -> AnyFunction:
    """A function of the cotangent and a few saved values, as one of the cotangent and `saved`."""
    if not places:
        return lambda g, saved: function(g)
    if len(places) == 1:
        (only,) = places
        return lambda g, saved: function(g, saved[only])
    if len(places) == 2:
        first, second = places
        return lambda g, saved: function(g, saved[first], saved[second])
    return lambda g, saved: function(g, *[saved[i] for i in places])


def _same(g: Any) -> Any:
    return g


def _read_only(g: Any) -> Any:
    return list(map(read_only, g)) if isinstance(g, list) else read_only(g)
