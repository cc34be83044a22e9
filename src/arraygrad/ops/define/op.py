"""`Op`, the class of all ops, and the functions that declare an op.

A declaration gives a name, a kind (see `core.kinds`), a function that computes the op, and a
derivative rule for each input (see `ops.define.rules`). Everything else follows from these. A call
of an op looks up the types of its arguments (see `ops.define.dispatch`). On plain arrays, the
backend's kernel runs. On an `Array` (a `Tensor`, a dual array, a batched array), a function of the
array's type runs the op on the arrays inside, and adds what its transform needs.

`unary`, `binary` and `constant` declare common ops in one line; `declare` is the general form. A
declared op cannot be changed.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple, Protocol, TypeVar, overload

from ...backends import common_backend
from ...core.array import AnyFunction
from ...core.cpython import importing_module
from ...core.kinds import Elementwise, Kind, Moves, Opaque, View
from .calling import function_of
from .check import check_declaration, check_function, checked_inputs, rules_by_input
from .dispatch import Table, check_operand
from .rules import Pullback, Rule, product_rule, zero_rule
from .rules import __name__ as rules_module
from .signatures import OperatorMethod, TwoArrays, Unary


class Own(NamedTuple):
    """An op's own functions, which replace the general ones for its kind.

    Attributes
    ----------
    batch : callable or None
        ``batch(op, arrays, flags, keywords)`` runs the op on a batch. `flags` says which arrays
        have the batch axis. It is their first axis, and the first axis of the result.
    cuts : callable or None
        ``cuts(position, *inputs)`` says on which elements of the input at `position` the result
        depends, given the constant inputs: an array of booleans, or None for all elements. Inputs
        that are not constant are None.
    kept : callable or None
        ``kept(out)`` returns what reverse rules get as `out`: the results, with something small in
        the place of each result that they do not read. Such a result may be overwritten.
    live : callable or None
        ``live(mask, pullback, wanted, saved)`` returns a list with a mask for each input that
        needs a gradient: the elements on which the elements of the result in `mask` depend; None
        for all.
    partial : callable or None
        ``partial(g, pullback, wanted, saved, spare)`` replaces the rules for a NumPy array `g`. It
        returns a list with a `Partial` for each input that needs a gradient; None for an input
        that is not `wanted`. It may write to `g` if `spare`.
    push : callable or None
        ``push(arrays, tangents, keywords)`` returns the results and their tangents, for an op of
        several results that computes these together. The tangent of a constant is None.
    types : callable or None
        ``types(inputs, keywords)`` returns a pair of shape and dtype for each result. Without it,
        `compile` finds out by the kind; for an op of which nothing is known, by running it.
    """

    batch: AnyFunction | None = None
    cuts: AnyFunction | None = None
    kept: AnyFunction | None = None
    live: AnyFunction | None = None
    partial: AnyFunction | None = None
    push: AnyFunction | None = None
    types: AnyFunction | None = None


class Op:
    """One declared operation.

    Attributes
    ----------
    name, module : str
        The op's name, and the module of its declaration.
    inputs : tuple of str
        The names of the array arguments.
    variadic : bool
        Whether the last input stands for any number of arrays.
    keywords : tuple of str or None
        The names of the other arguments; None if the op takes any.
    kind : Kind
        How the elements of the results depend on the elements of the inputs.
    rules : dict of str to Rule
        The derivative rule of each differentiable input.
    slopes : dict of str to callable
        The derivatives of inputs whose rule multiplies the cotangent by a derivative.
    joint : Rule or None
        One rule for all inputs, which replaces `rules`.
    jvp : Rule or None
        The forward rule, if it does not follow from the kind.
    holomorphic : bool
        Whether the sweep conjugates the rules for complex cotangents. False for rules that return
        the conjugate Wirtinger derivative themselves.
    multiple : bool
        Whether the result is a tuple of arrays.
    own : Own
        The op's own functions, which replace those for its kind.
    is_library : bool
        Whether the op is one of arraygrad's own. Only these have kernels by name in backends.
    function : callable
        The function that runs the op.
    table : Table
        The functions that run the op, by the types of its arrays.
    kernels : dict
        The functions that compute the op on plain arrays, by the arrays' types. Each is added at
        its first use.
    derived : dict
        What functions with `once_per_op` have found for this op.
    """

    name: str
    module: str
    inputs: tuple[str, ...]
    variadic: bool
    keywords: tuple[str, ...] | None
    kind: Kind
    view: View
    rules: dict[str, Rule]
    slopes: dict[str, AnyFunction]
    joint: Rule | None
    jvp: Rule | None
    compute: AnyFunction | None
    holomorphic: bool
    multiple: bool
    own: Own
    is_library: bool
    function: AnyFunction
    table: Table
    _declared: dict[str, Any]
    _pullbacks: dict[tuple[int, ...], Pullback | None]
    kernels: dict[tuple[type, ...], AnyFunction]
    derived: dict[Any, Any]

    def __init__(self, **declared: Any) -> None:
        found = {"view": declared["kind"].view, "_pullbacks": {}, "kernels": {}, "derived": {}}
        vars(self).update(declared, **found, _declared=declared)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"the op {self.name} is declared and cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"the op {self.name} is declared and cannot be changed")

    def __repr__(self) -> str:
        return f"<op {self.name}({', '.join(self.inputs)}), {self.kind}>"

    def __reduce__(self) -> Any:
        """Pickle an op of arraygrad by its name, and any other op by its declaration."""
        if self.is_library:
            return library_op, (self.module, self.name)
        return _again, (self._declared,)

    def without_rules(self) -> Op:
        """The op without rules, for workers that only compute: rules may not be picklable."""
        if self.is_library:
            return self
        nothing: Any = {"rules": {}, "slopes": {}, "joint": None, "jvp": None, "own": Own()}
        return _again(self._declared | nothing)

    def kernel(self, types: tuple[type, ...]) -> AnyFunction:
        """The function that computes the op on plain arrays of these types."""
        found = self.kernels.get(types)
        if found is None:
            if len(types) != len(self.inputs) and not self.variadic:
                raise TypeError(
                    f"{self.name} takes {len(self.inputs)} arrays ({', '.join(self.inputs)}), not "
                    f"{len(types)}"
                )
            for position, kind in enumerate(types):
                check_operand(self, position, kind)
            backend = common_backend(types)
            found = backend.kernel(self)
            if self.runs_in_blocks:
                found = backend.elementwise(found, types, self)
            self.kernels[types] = found
        return found

    @property
    def is_bare(self) -> bool:
        """Whether the op takes one or two arrays and nothing else, and returns one array."""
        is_short = len(self.inputs) <= 2 and not self.variadic
        return self.keywords == () and is_short and not self.multiple

    @property
    def runs_in_blocks(self) -> bool:
        """Whether the op and its rules can be computed block by block."""
        kind = self.kind
        elementwise = isinstance(kind, Elementwise) and not (kind.view or kind.whole)
        return elementwise and self.keywords == () and not self.kind.overwrites

    def pullback(self, positions: tuple[int, ...]) -> Pullback | None:
        """The `Pullback` for gradients of the inputs at `positions`; None if none has a rule."""
        try:
            return self._pullbacks[positions]
        except KeyError:
            usable = tuple([p for p in positions if self.input_name(p) in self.rules])
            made = Pullback(self, usable) if usable else None
            self._pullbacks[positions] = made
            if len(positions) > _FEW:  # keep those of the last few lengths and choices of inputs
                long = [known for known in list(self._pullbacks) if len(known) > _FEW]
                for known in long[:-_FEW]:
                    self._pullbacks.pop(known, None)
            return made

    def input_name(self, position: int) -> str:
        """The name of the input at a position; the starred input covers all positions after it."""
        return self.inputs[min(position, len(self.inputs) - 1)]


_FEW = 8  # inputs that need gradients; an op of more has only this many pullbacks at a time
R = TypeVar("R")


def once_per_op(function: Callable[[Op], R]) -> Callable[[Op], R]:
    """Run a function of an op once, and keep the result with the op: it goes when the op goes."""

    @functools.wraps(function)
    def found(op: Op) -> R:
        try:
            return op.derived[function]  # type: ignore[no-any-return]
        except KeyError:
            made = op.derived[function] = function(op)
            return made

    return found


_library: dict[str, Op] = {}  # arraygrad's own ops, by name
# Users' ops, by module and name. An op goes when its function goes.
_others: weakref.WeakValueDictionary[tuple[str, str], Op] = weakref.WeakValueDictionary()


def library_op(module: str, name: str) -> Op:
    """The op of arraygrad with a name; imports the module of its declaration if needed."""
    if name not in _library:
        import_module(module)
    place = name
    while name not in _library and "." in place:
        # What declares it is a part of the name, as in scipy.special.jv or scipy.stats.alpha.ppf.
        place = place.rpartition(".")[0]
        module = f"{__name__.partition('.')[0]}.{place}"
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            parent, _, own = module.rpartition(".")
            getattr(sys.modules[parent], own, None)  # the parent makes it when it is asked for
    return _library[name]


def library_ops() -> list[Op]:
    """All ops of arraygrad that have been declared so far."""
    return list(_library.values())


def _again(declared: dict[str, Any]) -> Op:
    return function_of(Op(**declared), None).op  # type: ignore[attr-defined, no-any-return]


def known_ops() -> list[Op]:
    """All ops that have been declared so far, users' ops among them."""
    return [*_library.values(), *_others.values()]


class Operator(TwoArrays[[]], Protocol):
    """The function of an op on two arrays, with two more functions for Python's operators."""

    operator: OperatorMethod
    reflected: OperatorMethod


def declare(
    name: str,
    *inputs: str,
    kind: Kind | None = None,
    keywords: tuple[str, ...] | None = (),
    compute: AnyFunction | None = None,
    vjp: AnyFunction | None = None,
    joint: AnyFunction | None = None,
    jvp: AnyFunction | None = None,
    holomorphic: bool = True,
    multiple: bool = False,
    own: Own | None = None,
    doc: str | None = None,
    replace: bool = False,
    is_library: bool = False,
    slopes: dict[str, AnyFunction] | None = None,
    **vjps: AnyFunction,
) -> AnyFunction:
    """Declare an op in general form, and return the function that runs it.

    Parameters
    ----------
    name : str
        The op's name. Without `compute`, the backend's function of this name computes the op.
    *inputs : str
        The names of the array arguments; ``"*arrays"`` for any number of arrays. All other
        arguments are passed by keyword.
    kind : Kind, optional
        How the elements of the results depend on the elements of the inputs: an instance of
        `Elementwise`, `Moves`, `Reduces`, `AlongAxis`, `Contracts`, `Matrices` or `Opaque`. By
        default ``Opaque()``.
    keywords : tuple of str, or None
        More keywords of the op, besides the keywords of the kind and of `compute`; None if the op
        takes any keyword.
    compute : callable, optional
        ``compute(xp, *arrays, **keywords)`` computes the op, if the standard's namespace `xp` has
        no function for it.
    vjp, vjp_<input> : callable, optional
        The derivative rule of the only input, or of the input with this name.
    joint : callable, optional
        One rule for all inputs, if their rules share work. Its parameter ``wanted`` says for each
        input whether its cotangent is needed. It returns a cotangent, or None, for each input.
    jvp : callable, optional
        The forward rule, if it does not follow from the kind.
    holomorphic : bool
        Whether the sweep conjugates the rules for complex cotangents. False for rules that return
        the conjugate Wirtinger derivative themselves, and for linear functions with real
        coefficients, where conjugation changes nothing.
    multiple : bool
        Whether the result is a tuple of arrays.
    own : Own, optional
        The op's own functions, which replace those for its kind.
    doc : str, optional
        The docstring of the function.
    replace : bool
        Whether the declaration may replace an op of the same name in the same module. In an
        interactive session, it always may.
    """
    kind = Opaque() if kind is None else kind
    bare = checked_inputs(name, inputs)
    rules = rules_by_input(name, bare, vjp, vjps)
    slopes = slopes or {}
    if isinstance(kind, Kind) and isinstance(kind.flat, tuple):
        rules.update((n, zero_rule(kind, n)) for n in kind.flat if n not in rules)
    known = check_declaration(
        name, inputs, kind, keywords, compute, rules, slopes, joint, jvp, multiple
    )
    if joint is not None:
        rules = dict.fromkeys(bare, joint)
    op = Op(
        name=name,
        module=(is_library and importing_module())
        or _module_of(*slopes.values(), *rules.values(), joint, jvp, compute),
        inputs=bare,
        variadic=inputs[-1].startswith("*"),
        keywords=known,
        kind=kind,
        rules={n: Rule.of(rule) for n, rule in rules.items()},
        slopes=slopes,
        joint=joint and Rule.of(joint),
        jvp=jvp and Rule.of(jvp),
        compute=compute,
        holomorphic=holomorphic and not isinstance(kind, Moves),
        multiple=multiple,
        own=own or Own(),
        is_library=is_library,
    )
    _register(op, replace)
    return function_of(op, doc)


def unary(
    name: str,
    d: AnyFunction | None = None,
    *,
    vjp: AnyFunction | None = None,
    kind: Kind | None = None,
    compute: AnyFunction | None = None,
    doc: str | None = None,
    **others: Any,
) -> Unary:
    """Declare an elementwise function of one array by its derivative.

    `d` returns the derivative at each element, given `x` or `out`. `vjp` is the alternative: it
    returns the product with the cotangent, where this is shorter or more accurate. The other
    parameters are as in `declare`.
    """
    slopes = {} if d is None else {"x": d}
    rules = _rules(name, {"x": vjp}, slopes)
    kind = Elementwise() if kind is None else kind
    return declare(name, "x", kind=kind, compute=compute, doc=doc, slopes=slopes, **rules, **others)


def binary(
    name: str,
    dx: AnyFunction | None = None,
    dy: AnyFunction | None = None,
    *,
    vjp_x: AnyFunction | None = None,
    vjp_y: AnyFunction | None = None,
    kind: Kind | None = None,
    compute: AnyFunction | None = None,
    doc: str | None = None,
    **others: Any,
) -> Operator:
    """Declare an elementwise function of two arrays that broadcast, by its derivatives.

    `dx` and `dy` are like `d` in `unary`, `vjp_x` and `vjp_y` are like `vjp`. The other parameters
    are as in `declare`.
    """
    slopes = {n: d for n, d in (("x", dx), ("y", dy)) if d is not None}
    rules = _rules(name, {"x": vjp_x, "y": vjp_y}, slopes)
    kind = Elementwise() if kind is None else kind
    return declare(  # type: ignore[return-value]
        name, "x", "y", kind=kind, compute=compute, doc=doc, slopes=slopes, **rules, **others
    )


@overload
def constant(name: str, x: str, /, *, kind: Elementwise | None = None, **others: Any) -> Unary: ...
@overload
def constant(
    name: str, x: str, y: str, /, *, kind: Elementwise | None = None, **others: Any
) -> Operator: ...
@overload
def constant(
    name: str, /, *inputs: str, kind: Kind | None = None, **others: Any
) -> AnyFunction: ...
def constant(name: str, /, *inputs: str, kind: Kind | None = None, **others: Any) -> Any:
    """Declare an op without a derivative: its result never requires gradients.

    The op is elementwise unless `kind` says otherwise. The other parameters are as in `declare`.
    """
    return declare(name, *inputs, kind=Elementwise() if kind is None else kind, **others)


def _rules(
    name: str, given: dict[str, AnyFunction | None], slopes: dict[str, AnyFunction]
) -> dict[str, Any]:
    """The reverse rules of an elementwise op: those given, and those that follow from slopes."""
    twice = [n for n in slopes if given[n] is not None]
    if twice:
        raise TypeError(f"{name}: both a derivative and a rule (vjp) for {', '.join(twice)}")
    for n, d in slopes.items():
        check_function(f"{name}: the derivative by {n}", d)
    rules = given | {n: product_rule(d) for n, d in slopes.items()}
    return {f"vjp_{n}": rule for n, rule in rules.items() if rule is not None}


def _module_of(*functions: Any) -> str:
    """The module of an op's declaration: the first one that its functions have; or ""."""
    for function in functions:
        module = getattr(function, "__module__", None)
        if function is not None and module not in (None, rules_module):
            return str(module)
    return ""


def _register(op: Op, replace: bool) -> None:
    known: MutableMapping[Any, Op] = _library if op.is_library else _others
    key = op.name if op.is_library else (op.module, op.name)
    before = known.get(key)
    # In an interactive session, users run a declaration again in order to replace the op. And if
    # the import of a module of arraygrad was interrupted, Python runs the module again.
    again = before is not None and before.module == op.module
    replace = replace or (again and (op.module == "__main__" or op.is_library))
    if before is not None and not replace:
        raise ValueError(
            f"an op named {op.name} has been declared in {before.module} before: give this one "
            "another name, or pass replace=True"
        )
    if op.is_library or op.module:  # else the module of the declaration is not known
        known[key] = op
