"""What an op is, and how a call finds the code that runs it.

An op is declared once: a name, a way to compute it, and a derivative rule for each input. The rest
follows from the declaration. Calling an op looks at the types of its arguments: on plain arrays it
is the backend's own function; on an `Array` (a `Tensor`, a dual array, a batched array) it is what
that type makes of the op, one level further out.

The families `unary`, `binary`, `linear` and `constant` declare the common shapes of op in one line
each; `declare` is the general form.

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
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np

from ..backends import backend_of, backend_of_type, common_backend, default
from ..errors import MixedArraysError

Rule = Callable[..., Any]
Function = Callable[..., Any]

# All ops by their names, for those who can only pass on a name.
OPS: dict[str, Op] = {}


class Operator(Protocol):
    """The function of an op on two arrays, with the forms that serve as Python's operators."""

    operator: Function
    reflected: Function

    def __call__(self, x: Any, y: Any, /) -> Any: ...


class Array:
    """Base of the array types that carry a transform around another array.

    `level` orders them: an op on several goes to the one with the highest level, which sees the
    others as plain values. Every type of one level is a class of its own.
    """

    __slots__ = ()
    _array: Any
    level: ClassVar[float] = 0

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """What an op means for this type, when at least one of `arrays` is of it."""
        raise NotImplementedError

    @classmethod
    def unary(cls, op: Op) -> Function:
        """A faster `apply` for an op on one array without keywords."""
        return lambda x: cls.apply(op, (x,), {})

    @classmethod
    def single(cls, op: Op) -> Function:
        """A faster `apply` for an op on one array, called with a dictionary of keywords."""
        return lambda x, params: cls.apply(op, (x,), params)

    @classmethod
    def binary(cls, op: Op, left: type, right: type) -> Function:
        """A faster `apply` for an op on two arrays without keywords."""
        return lambda x, y: cls.apply(op, (x, y), {})

    def detach(self) -> Any:
        """The same values, as constants for every derivative around."""
        raise NotImplementedError

    def over(self, function: Function) -> Any:
        """The same, over what `function` makes of each array inside."""
        return type(self)(function(self._array))  # type: ignore[call-arg]


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
        if self.make_forward is not _sum_of_rules:
            return None
        found = {}
        for name, rule in self.rules.items():
            call = ", ".join(self.expression(n) for n in parameters(rule))
            source = f"lambda g, arrays, out, params: rule({call})"
            found[self.inputs.index(name)] = eval(source, {"rule": rule, **_HELPERS})
        return found

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

    def expression(self, name: str) -> str:
        """Where a name in a rule comes from, as an expression over `arrays`, `out`, `params`."""
        if name in ("g", "gs", "out"):
            return name
        if name in self.inputs:
            position = self.inputs.index(name)
            starred = self.variadic and position == len(self.inputs) - 1
            return f"arrays[{position}:]" if starred else f"arrays[{position}]"
        if name == "shapes":
            return "[a.shape for a in arrays]"
        for suffix in ("_shape", "_dtype", "_device"):
            if name.endswith(suffix) and name.removesuffix(suffix) in self.inputs:
                array = self.expression(name.removesuffix(suffix))
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


# What the expressions of `Op.expression` refer to.
_HELPERS: dict[str, Any] = {
    "ndarray": np.ndarray,
    "shape_of": _shape_of,
    "device_of": _device_of,
}


class Pullback:
    """What one application of an op keeps, and how cotangents get back through it.

    There is one for each choice of inputs that need gradients, so nothing is kept, and no rule is
    run, for the sake of an input that needs none.
    """

    __slots__ = (
        "arity",
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
        self.is_like_output = op.make_forward is _sum_of_rules
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
        self.keeps_arrays = any(n == "out" or n in op.inputs for n in self.kept)
        values = "".join(op.expression(n) + ", " for n in self.kept)
        self.keep: Function = eval(f"lambda arrays, out, params: ({values})", dict(_HELPERS))
        self.joint: Function | None = None
        self.rules: tuple[Rule | None, ...] = ()
        if op.joint is not None:
            self.joint = _joint(_positional(op.joint, ("wanted", *self.kept), 0), self)
        else:
            self.rules = tuple(
                _of_saved(rule, self.kept, position)
                for rule, position in zip(rules, positions, strict=True)
            )


def _joint(rule: Rule, pullback: Pullback) -> Function:
    """A rule for all inputs as the engine calls it: for the edges that need it."""

    def joint(sweep: Any, node: Any, g: Any, saved: tuple[Any, ...]) -> list[Any]:
        wanted = [False] * pullback.arity
        for position, edge in zip(pullback.positions, node.edges, strict=True):
            wanted[position] = edge in sweep.needed
        parts = rule(g, tuple(wanted), *saved)
        return [parts[position] for position in pullback.positions]

    return joint


def parameters(rule: Rule) -> tuple[str, ...]:
    """The names of a rule's parameters, in order."""
    code = rule.__code__
    return code.co_varnames[: code.co_argcount]


def _positional(rule: Rule, kept: tuple[str, ...], position: int) -> Rule:
    """`rule` as a function of the cotangent and of everything in `kept`, by position."""
    takes = parameters(rule)
    if takes[1:] == kept and takes[0] in ("g", "gs"):
        return rule
    first = "gs" if "gs" in takes else "g"
    call = ", ".join(str(position) if n == "i" else n for n in takes)
    return eval(f"lambda {', '.join((first, *kept))}: rule({call})", {"rule": rule})  # type: ignore[no-any-return]


def _of_saved(rule: Rule, kept: tuple[str, ...], position: int) -> Rule | None:
    """`rule` as a function of the cotangent and of what was saved; None if it is `lambda g: g`."""
    if rule.__code__.co_code == _unchanged.__code__.co_code and parameters(rule) == ("g",):
        return None
    source = {"g": "g", "gs": "g", "i": str(position)}
    call = ", ".join(source.get(n) or f"saved[{kept.index(n)}]" for n in parameters(rule))
    return eval(f"lambda g, saved: rule({call})", {"rule": rule})  # type: ignore[no-any-return]


def _unchanged(g: Any) -> Any:
    return g


# --- forward rules -----------------------------------------------------------------------------


def _sum_of_rules(op: Op) -> Function:
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


def _replacing(op: Op) -> Function:
    """Linear in each input separately: put in the tangents one at a time."""

    def forward(primals: Any, tangents: Any, out: Any, params: Any) -> Any:
        terms = [
            op.function(*primals[:i], t, *primals[i + 1 :], **params)
            for i, t in enumerate(tangents)
            if t is not None
        ]
        return functools.reduce(lambda a, b: a + b, terms)

    return forward


def _on_tangents(op: Op) -> Function:
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


def _named(jvp: Rule, op: Op) -> Function:
    """A forward rule written out: `t` (of the first input), or `t_x` for an input `x`."""
    takes = parameters(jvp)
    fixed = op.inputs[:-1] if op.variadic else op.inputs
    tangent_of = {f"t_{n}": i for i, n in enumerate(fixed)} | {"t": 0}
    arguments = ", ".join(
        f"tangents[{tangent_of[n]}]" if n in tangent_of else op.expression(n) for n in takes
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


# --- declarations ------------------------------------------------------------------------------


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
        op.make_forward = functools.partial(_named, jvp)
    elif linear:
        op.make_forward = _replacing if linear == "each" else _on_tangents

    op.single = single = _Single(op)
    op.table = pair = _Binary(op)

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
            return run(*_in_one_library(arrays, error), **params)

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
) -> Function:
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
        op.make_forward = functools.partial(_named, jvp)
    elif vjp is not None:
        op.make_forward = _sum_of_rules
    op.table = table = _Unary(op)

    def run(x: Any, /) -> Any:
        return table[type(x)](x)

    return _function(op, run, doc)


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
        op.make_forward = _sum_of_rules
    op.table = table = _Binary(op)

    def run(x: Any, y: Any, /) -> Any:
        try:
            return table[type(x)][type(y)](x, y)
        except MixedArraysError as error:
            return run(*_in_one_library((x, y), error))

    def operator(x: Any, y: Any, /) -> Any:
        try:
            found = table[type(x)][type(y)]
        except UnsupportedOperand:
            return NotImplemented
        try:
            return found(x, y)
        except MixedArraysError as error:
            return run(*_in_one_library((x, y), error))

    def reflected(x: Any, y: Any, /) -> Any:
        try:
            found = table[type(y)][type(x)]
        except UnsupportedOperand:
            return NotImplemented
        try:
            return found(y, x)
        except MixedArraysError as error:
            return run(*_in_one_library((y, x), error))

    function: Any = _function(op, run, doc)
    function.operator = operator
    function.reflected = reflected
    return function  # type: ignore[no-any-return]


def constant(
    name: str,
    *inputs: str,
    batch: str | Function = "elementwise",
    compute: Function | None = None,
    doc: str | None = None,
) -> Any:  # an Operator, for two inputs that broadcast; else a Function
    """Declare an op that has no derivative: its result never requires gradients."""
    if batch == "elementwise" and inputs == ("x",):
        return unary(name, compute=compute, doc=doc)
    if batch == "elementwise" and inputs == ("x", "y"):
        return binary(name, compute=compute, doc=doc)
    return declare(name, *inputs, batch=batch, compute=compute, doc=doc)


def _times(d: Rule) -> Rule:
    """The rule that multiplies the cotangent by the derivative `d`."""
    names = ", ".join(parameters(d))
    factor = names if d.__code__.co_code == _ITSELF else f"d({names})"
    return eval(f"lambda g, {names}: g * {factor}", {"d": d})  # type: ignore[no-any-return]


_ITSELF = (lambda x: x).__code__.co_code


def _function(op: Op, run: Any, doc: str | None) -> Function:
    """Make `run` the function of `op`."""
    run.op = op
    run.__doc__ = doc
    run.__name__ = run.__qualname__ = op.name
    op.function = run
    return run  # type: ignore[no-any-return]


# --- finding the code for a call ---------------------------------------------------------------


class UnsupportedOperand(TypeError):
    """An operand that no array library knows."""


class _Unary(dict[type, Function]):
    """For each type of argument, the function that runs the op."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, kind: type) -> Function:
        found = kind.unary(self.op) if issubclass(kind, Array) else self.op.kernel((kind,))
        self[kind] = found
        return found


class _Single(dict[type, Function]):
    """For each type of a single argument, the function of it and of the keywords."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, kind: type) -> Function:
        if issubclass(kind, Array):
            found = kind.single(self.op)
        else:
            kernel = self.op.kernel((kind,))
            found = lambda x, params: kernel(x, **params)  # noqa: E731
        self[kind] = found
        return found


class _Binary(dict[type, "_Right"]):
    """For each pair of types of arguments, the function that runs the op."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __missing__(self, left: type) -> _Right:
        found = self[left] = _Right(self.op, left)
        return found


class _Right(dict[type, Function]):
    def __init__(self, op: Op, left: type) -> None:
        self.op = op
        self.left = left

    def __missing__(self, right: type) -> Function:
        kinds = [k for k in (self.left, right) if issubclass(k, Array)]
        for k in (self.left, right):
            if not issubclass(k, Array):
                _check_operand(self.op, k)
        if kinds:
            found = max(kinds, key=lambda k: k.level).binary(self.op, self.left, right)
        else:
            found = self.op.kernel((self.left, right))
        self[right] = found
        return found


def _check_operand(op: Op, kind: type) -> None:
    try:
        backend_of_type(kind)
    except TypeError as error:
        raise UnsupportedOperand(f"{op.name}: {error}") from None


# --- constants that adopt the library of what they meet ----------------------------------------


def _in_one_library(arrays: tuple[Any, ...], error: MixedArraysError) -> list[Any]:
    """The operands, with NumPy's constants moved to the library and device of the others.

    Only what the user did not bring as a NumPy array is moved: constants that a function of
    arraygrad made, and NumPy's numbers. For anything else `error` is raised again.
    """
    plains = [plain(a) for a in arrays]
    backends = [backend_of_type(type(p)) for p in plains]
    others = [p for p, b in zip(plains, backends, strict=True) if b not in (None, default)]
    if not others or default not in backends:
        raise error
    # A number of NumPy's among plain arrays may be the value of a tensor further out.
    if not any(isinstance(a, Array) for a in arrays):
        raise error
    return [
        _adopted(a, others[0], error) if b is default else a
        for a, b in zip(arrays, backends, strict=True)
    ]


def _adopted(array: Any, like: Any, error: MixedArraysError) -> Any:
    if isinstance(array, np.generic):
        return array.item()
    if not is_made(array):
        raise error
    return in_library_of(like, array)


def is_made(array: Any) -> bool:
    """Whether an array is a constant, or a view of one, that a function of arraygrad made."""
    view = getattr(array, "_view", None)
    made = array if view is None else view.base
    return getattr(made, "_made", False) and made._node is None


def as_arrays(*values: Any) -> list[Any]:
    """Numbers and sequences as arrays, in the library of the arrays among them; NumPy's if none."""
    arrays = [v if hasattr(v, "dtype") else np.asarray(v) for v in values]
    like = next((a for a in arrays if backend_of(a) is not default), None)
    if like is None:
        return arrays
    return [
        in_library_of(like, a) if is_made(a) or a is not v else a
        for v, a in zip(values, arrays, strict=True)
    ]


def in_library_of(like: Any, array: Any) -> Any:
    """A NumPy array, perhaps under transforms, in the library and on the device of `like`."""
    if isinstance(array, Array):
        return array.over(functools.partial(in_library_of, like))
    backend = backend_of(like)
    return backend.from_numpy(array, backend.device(plain(like)))


def zeros_like(x: Any, shape: tuple[int, ...] | None = None, dtype: Any = None) -> Any:
    """Plain zeros with the library of `x`, and with its shape and dtype unless given others."""
    shape = x.shape if shape is None else shape
    return backend_of(x).full(plain(x), shape, 0, x.dtype if dtype is None else dtype)


def ones_like(x: Any) -> Any:
    """Plain ones with the shape, dtype and library of `x`."""
    return backend_of(x).full(plain(x), x.shape, 1, x.dtype)


def plain(x: Any) -> Any:
    """The array of the backend's own type under all transforms."""
    while isinstance(x, Array):
        x = x._array
    return x
