"""`custom`: a decorator that gives a plain function its own derivative rules.

PyTorch's way to do this, a class with `forward` and `backward`, is in `autograd.function`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from inspect import CO_VARARGS
from numbers import Number
from types import FunctionType
from typing import Any

import numpy as np

from ..arrays.members import batch_in, joined, members
from ..backends import backend_of
from ..core.array import AnyFunction, plain
from ..core.kinds import Elementwise, Kind, Moves, Opaque
from ..errors import RuleError
from ..ops import broadcast_to, copy
from ..ops.define.check import check_is_kind, check_keywords, check_rule, names_for_rules
from ..ops.define.op import Own, declare
from ..ops.define.rules import Rule, parameters
from .reverse import vjp
from .trees import unwrapped

# One type for each number of parameters: so type checkers know the parameters of a lambda.
RuleFunction = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any, Any], Any]
)
_pull_back = vjp  # `custom` has a parameter called `vjp`
_BATCHES = ("loop", "plain", "elementwise")
_NO_RULE = "custom() needs a rule: vjp=, vjp_<input>= or jvp="


def custom(
    *,
    vjp: RuleFunction | Sequence[RuleFunction | None] | None = None,
    jvp: RuleFunction | None = None,
    kind: Kind | None = None,
    linear: bool | str = False,
    holomorphic: bool = True,
    batch: str | AnyFunction | None = None,
    multiple: bool = False,
    batched_rules: bool = True,
    **vjps: RuleFunction | None,
) -> Callable[[AnyFunction], AnyFunction]:
    """Give a function of arrays its derivative rules.

    The function is called on plain arrays only. Its positional parameters are its inputs, its
    keyword-only parameters are passed to the rules by name. `arraygrad.ops.define.rules` says how
    rules are written; they are made of arraygrad's functions, so they can be differentiated, too.

    Rules for one mode are enough: the rules for the other mode are their transposes.

    Parameters
    ----------
    vjp, vjp_<input> : callable, None, or for `vjp` a tuple of these
        The reverse rules. A rule takes the cotangent ``g``, and the values that its other
        parameters name; it returns the cotangent of an input. A function of several inputs has

        - a rule for each input by its name, ``vjp_x=..., vjp_y=...``;
        - or a tuple of rules in the order of the inputs, ``vjp=(..., ...)``;
        - or one rule that returns a tuple with a cotangent for each input, ``vjp=...``. It may have
          a parameter ``wanted``, which says for each input whether its cotangent is needed.

        A function of any number of inputs, ``f(*arrays)``, has one rule: for the input at position
        ``i``, or for all of them if it takes ``wanted``.

        Every input must have a rule. None in place of a rule, or of a cotangent, says that the
        input is a constant.
    jvp : callable, optional
        The forward rule: from the tangent ``t`` of the only input, or ``t_x`` of each input ``x``,
        that of the result. An input whose tangent it does not take is a constant. Of any number of
        inputs ``*arrays`` it takes ``t_arrays``: a tuple with a tangent, or None for a constant.
    kind : Kind, optional
        How the elements of the result depend on those of the inputs: an instance of `Elementwise`,
        `Moves`, `Reduces`, `AlongAxis`, `Contracts`, `Matrices` or `Opaque` of
        `arraygrad.ops.define`. Batches, sparse derivatives, Dask's blocks and, for a linear kind,
        the forward rule follow from it. Keywords that it names are keyword-only parameters of the
        function. An input that the kind calls flat, whole or an index needs no rule. Without a
        kind, `linear` and `batch` say what is known.
    linear : bool or "each"
        Whether the function is linear in its inputs, together or each by itself; then it is its
        own forward rule. Not together with `kind`, which says so itself.
    holomorphic : bool
        Whether the rules are conjugated where a result is complex; False if they already are.
    batch : str or callable, optional
        How to run on a batch: ``"elementwise"`` for a function that acts element by element, on
        inputs that broadcast; ``"plain"`` for any other that leaves leading axes alone;
        ``"loop"``, the default without a `kind`. Sparse derivatives rely on what is elementwise.
        Or a function ``batch(op, arrays, flags, keywords)``, which goes with any kind: `flags` says
        which of the arrays have the batch for their first axis; the result has it, too.
        ``op.function`` runs the function, at any level of nesting.
    multiple : bool
        Whether the function returns a tuple of arrays. Rules then take ``gs`` instead of ``g``,
        with a cotangent or None for each array, and ``jvp`` returns a tuple.
    batched_rules : bool
        Whether rules can take batched arrays, as a Jacobian makes them. False for rules that need
        the values of one cotangent, because they call SciPy, for example: such a rule is called
        once for each member of a batch.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> @ag.func.custom(vjp=lambda g, x: g * 3 * x**2)
    ... def cube(x):
    ...     return np.power(x, 3)
    >>> ag.func.grad(ag.func.grad(cube))(2.0)
    array(12.)

    A function of two inputs:

    >>> @ag.func.custom(vjp=lambda g, x, y: (g * y, g * x))
    ... def product(x, y):
    ...     return np.multiply(x, y)
    >>> ag.func.grad(product, argnums=(0, 1))(2.0, 3.0)
    (array(3.), array(2.))

    A function of the matrices in the last two axes. So a batch of them is computed at once:

    >>> from arraygrad.ops.define import Matrices
    >>> @ag.func.custom(
    ...     vjp=lambda g, x_shape: g[..., None, None] * np.eye(*x_shape[-2:]),
    ...     kind=Matrices(shapes=lambda x: ((),), linear=True),
    ... )
    ... def trace(x):
    ...     return np.trace(x, axis1=-2, axis2=-1)
    >>> ag.func.vmap(trace)(np.ones((5, 3, 3)))
    array([3., 3., 3., 3., 3.])

    A function of any number of inputs, with one rule for all of them, and a forward rule:

    >>> @ag.func.custom(
    ...     vjp=lambda g, arrays, wanted: [2 * g * a for a in arrays],
    ...     jvp=lambda arrays, t_arrays: sum(
    ...         2 * a * t for a, t in zip(arrays, t_arrays) if t is not None
    ...     ),
    ... )
    ... def sum_of_squares(*arrays):
    ...     return sum(np.square(a) for a in arrays)
    >>> ag.func.grad(sum_of_squares, argnums=(0, 2))(1.0, 2.0, 3.0)
    (array(2.), array(6.))
    >>> ag.func.jvp(lambda x: sum_of_squares(x, 2.0), (1.0,), (1.0,))
    (np.float64(5.0), np.float64(2.0))
    """
    for key in vjps:
        if not key.startswith("vjp_"):
            raise TypeError(
                f"custom() got an unexpected keyword argument {key!r}: the rule of an input {key} "
                f"would be vjp_{key}="
            )
    if linear not in (False, True, "each"):
        raise ValueError(f"custom(): linear={linear!r} must be False, True or 'each'")
    if batch is not None and not callable(batch) and batch not in _BATCHES:
        names = ", ".join(map(repr, _BATCHES))
        raise ValueError(f"custom(): batch={batch!r} must be a function or one of {names}")
    kind, own, said = _kind_of(kind, linear, batch)
    if vjp is None and jvp is None and not vjps and not _without_rules(kind):
        raise TypeError(_NO_RULE)

    def decorate(function: AnyFunction) -> AnyFunction:
        inputs, keywords = _signature(function)
        names = [name.lstrip("*") for name in inputs]
        known = names_for_rules(inputs) | {*keywords, "i", "gs" if multiple else "g"}
        check_keywords(
            "custom()", kind, keywords, f"{function.__name__} after an asterisk (*, axis)"
        )
        if jvp is not None:
            _check_forward_rule(function, inputs, jvp, known)
        rules: dict[str, Any]
        only_forward = False
        if vjp is not None and not isinstance(vjp, tuple | list) and _is_joint(inputs, vjp):
            linearly = said if kind.linear is True else None
            rules = {"joint": _rule_of_all(function, inputs, vjp, vjps, known, linearly)}
        else:
            rules = _rules_of_each(function, names, vjp, vjps, known, _without_rules(kind))
            only_forward = not rules
            if jvp is not None and only_forward:
                if inputs[-1].startswith("*"):
                    raise TypeError(
                        f"custom(): {function.__name__} takes any number of inputs, {inputs[-1]}, "
                        "and needs a reverse rule, vjp=, besides jvp="
                    )
                rules = _transposed(jvp, names, multiple)
        if not rules and not kind.flat:
            raise TypeError(_NO_RULE)
        forward = jvp
        if not batched_rules:
            rules = {name: _one_by_one(rule) for name, rule in rules.items()}
            forward = None if jvp is None else _one_by_one(jvp)

        # It takes any keywords, so that it is called once with all of a large array: the function
        # may do what several threads must not do at once.
        def compute(xp: Any, *arrays: Any, **params: Any) -> Any:
            # The function may write to its arguments. The caller's arrays stay as they are.
            given = [copy(a) if hasattr(a, "dtype") else a for a in arrays]
            result = function(*given, **params)  # the arrays are plain, so must be the result
            return _checked_result(function.__name__, result, multiple)

        run: Any = declare(
            function.__name__,
            *inputs,
            compute=compute,
            jvp=forward,
            kind=kind,
            keywords=tuple(keywords),
            holomorphic=holomorphic and not only_forward,
            own=own,
            multiple=multiple,
            replace=True,
            **rules,
        )

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
        wrapped.op = run.op  # type: ignore[attr-defined]
        return wrapped

    return decorate


def _checked_result(name: str, result: Any, multiple: bool) -> Any:
    """The results of a function as plain arrays."""
    if multiple and not isinstance(result, tuple | list):
        raise TypeError(
            f"custom(): {name} must return a tuple of arrays, because of multiple=True, not "
            f"{type(result).__name__}"
        )
    found = []
    for value in result if multiple else (result,):
        value = unwrapped(value)
        if isinstance(value, Number) and not hasattr(value, "dtype"):
            value = np.asarray(value)
        if not hasattr(value, "dtype"):
            way = "; for several arrays, say multiple=True" if isinstance(value, tuple) else ""
            raise TypeError(
                f"custom(): {name} must return an array, not {type(value).__name__}{way}"
            )
        found.append(value)
    return tuple(found) if multiple else found[0]


def _kind_of(
    kind: Kind | None, linear: bool | str, batch: str | AnyFunction | None
) -> tuple[Kind, Own, str]:
    """The kind of an op, what it does in its own way, and where it is said to be linear."""
    own = Own(batch=batch if callable(batch) else None)
    if kind is None:
        if batch == "elementwise":
            return Elementwise(linear=linear), own, "linear=True"  # type: ignore[arg-type]
        made = Opaque(linear=linear, leading=batch == "plain")  # type: ignore[arg-type]
        return made, own, "linear=True"
    check_is_kind("custom()", kind)
    name = type(kind).__name__
    if linear is not False:
        raise TypeError(
            f"custom() got both kind= and linear=: say it in the kind, {name}(linear={linear!r})"
        )
    if batch is not None and not callable(batch):
        raise TypeError(
            f"custom() got both kind= and batch={batch!r}: how to run on a batch follows from the "
            f"kind {name}; batch= can be a function that does it in another way"
        )
    return kind, own, f"the linear kind {name}"


def _without_rules(kind: Kind) -> tuple[str, ...]:
    """The inputs that need no rule, by what their kind says of them."""
    found = kind.flat if isinstance(kind.flat, tuple) else ()
    if isinstance(kind, Elementwise):
        found += kind.whole
    return found + kind.indices if isinstance(kind, Moves) else found


def _signature(function: AnyFunction) -> tuple[list[str], tuple[str, ...]]:
    """The names of a function's inputs, as `declare` takes them, and the names of its keywords."""
    if not isinstance(function, FunctionType):
        raise TypeError(
            f"custom() decorates Python functions, whose parameters have names, not "
            f"{type(function).__name__}: call it from one"
        )
    code = function.__code__
    count, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    inputs = list(code.co_varnames[:count])
    if code.co_flags & CO_VARARGS:
        inputs.append("*" + code.co_varnames[total])
    if not inputs:
        raise TypeError(f"custom(): {function.__name__} has no positional parameters")
    return inputs, code.co_varnames[count:total]


# --- reverse rules -------------------------------------------------------------------------------


def _is_joint(inputs: list[str], rule: Any) -> bool:
    """Whether a rule is one for all inputs. For any number of inputs, its parameters say so."""
    if len(inputs) > 1:
        return True
    starred = inputs[0].startswith("*") and isinstance(rule, FunctionType)
    return starred and "wanted" in parameters(rule)


def _rules_of_each(
    function: AnyFunction,
    names: list[str],
    vjp: Any,
    vjps: dict[str, AnyFunction | None],
    known: set[str],
    without: tuple[str, ...],
) -> dict[str, Any]:
    """The rule of each input that is not a constant, by name, as `declare` takes them."""
    if vjp is None and not vjps:
        return {}
    given: dict[str, tuple[str, Any]]  # for each input, the name of its rule, and the rule
    if isinstance(vjp, tuple | list):
        if len(vjp) != len(names):
            rules = "1 rule" if len(vjp) == 1 else f"{len(vjp)} rules"
            raise ValueError(
                f"custom(): vjp has {rules}, but {function.__name__} has {len(names)} inputs: "
                f"{', '.join(names)}. Give one for each, None for a constant"
            )
        given = {name: (f"vjp[{i}]", vjp[i]) for i, name in enumerate(names)}
    elif vjp is not None:
        given = {names[0]: ("vjp", vjp)}
    else:
        given = {key.removeprefix("vjp_"): (key, rule) for key, rule in vjps.items()}
    if vjp is not None and vjps:
        raise _given_twice(vjps)
    for name in given:
        if name not in names:
            are = "its input is" if len(names) == 1 else "its inputs are"
            raise TypeError(
                f"custom(): a rule was given for {name!r}, which is no input of "
                f"{function.__name__}: {are} {', '.join(names)}"
            )
    missing = [name for name in names if name not in given and name not in without]
    if missing:
        raise TypeError(
            f"custom(): no rule for {', '.join(missing)} of {function.__name__}: give "
            f"{_by_name(missing)}, as vjp_{missing[0]}=None if it is a constant"
        )
    found = {}
    for name, (label, rule) in given.items():
        if rule is not None:
            _check_rule(function, names, label, rule, known)
            found[f"vjp_{name}"] = rule
    return found


def _rule_of_all(
    function: AnyFunction,
    inputs: list[str],
    rule: Any,
    vjps: dict[str, AnyFunction | None],
    known: set[str],
    linearly: str | None,
) -> AnyFunction:
    """One rule for all inputs, with a check that it returns a cotangent for each."""
    names = [name.lstrip("*") for name in inputs]
    if vjps:
        raise _given_twice(vjps)
    if linearly is not None:
        raise TypeError(
            f"custom(): {linearly} does not go with one rule for all inputs of "
            f"{function.__name__}, as some may be constants: give {_by_name(names)}"
        )
    _check_rule(function, names, "vjp", rule, known | {"wanted"})
    variadic = inputs[-1].startswith("*")

    def check(returned: Any, wanted: tuple[bool, ...]) -> Any:
        if isinstance(returned, tuple | list):
            count = len(returned)
            if not any(wanted[count:]) if variadic else count == len(names):
                return returned
            what = "a tuple of 1 entry" if count == 1 else f"a tuple of {count} entries"
        else:
            what = "an array" if hasattr(returned, "dtype") else type(returned).__name__
        raise RuleError(
            f"the rule vjp for {function.__name__} must return a tuple with a cotangent, or None, "
            f"for each of its inputs {', '.join(names)}, but returned {what}: return one for each, "
            f"or give each a rule of its own, {_by_name(names)}"
        )

    takes = parameters(rule)
    if "wanted" in takes:
        place = takes.index("wanted")
        return Rule(takes, lambda *values: check(rule(*values), values[place]))
    return Rule((*takes, "wanted"), lambda *values: check(rule(*values[:-1]), values[-1]))


def _given_twice(vjps: dict[str, AnyFunction | None]) -> TypeError:
    return TypeError(
        f"custom() got both vjp= and {'=, '.join(vjps)}=: give vjp= for all inputs, or each input "
        "a rule by its name"
    )


def _by_name(names: list[str]) -> str:
    return ", ".join(f"vjp_{name}=" for name in names)


# --- checks of rules -----------------------------------------------------------------------------


def _check_rule(
    function: AnyFunction, names: list[str], label: str, rule: Any, known: set[str]
) -> None:
    """Raise unless a rule is a plain function whose parameters all stand for something."""
    name = function.__name__
    check_rule(f"custom(): the rule {label} for {name}", rule, known, names, name)


def _check_forward_rule(
    function: AnyFunction, inputs: list[str], jvp: Any, known: set[str]
) -> None:
    """Raise unless the forward rule is a plain function that takes tangents by name."""
    names = [name.lstrip("*") for name in inputs]
    tangents = ["t", f"t_{names[0]}"] if len(names) == 1 else [f"t_{name}" for name in names]
    if inputs[0].startswith("*"):  # of which there may be more than one
        tangents = tangents[1:]
    if isinstance(jvp, FunctionType):
        if not set(parameters(jvp)) & {"t", *tangents}:
            raise TypeError(
                f"custom(): the rule jvp for {function.__name__} takes no tangent: name those that "
                f"it needs, {', '.join(tangents)}"
            )
    _check_rule(function, names, "jvp", jvp, known.union(tangents))


def _one_by_one(rule: Any) -> Rule:
    """A rule that cannot take batched arrays, with the same parameters: for batches, too."""

    def each(*values: Any) -> Any:
        kind = batch_in(values)
        if kind is None:
            return rule(*values)
        given, count = members(values, kind)
        return joined([rule(*own) for own in given], kind, count, lambda nothing: None)

    return Rule(parameters(rule), each)


# --- the other mode ------------------------------------------------------------------------------


def _transposed(jvp: AnyFunction, names: list[str], multiple: bool) -> dict[str, AnyFunction]:
    """The reverse rules, by transposing a forward rule, which is linear in the tangents."""
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
            # Results without a cotangent are left out. A constant tangent may have fewer axes.
            return [broadcast_to(r, part.shape) for r, part in pairs if part is not None]

        _, pulled = _pull_back(push, given[tangent])
        return pulled([part for part in gs if part is not None])[0]

    taken = ("gs" if multiple else "g", *kept)
    return {f"vjp_{input_of[t]}": Rule(taken, functools.partial(pull, t)) for t in tangents}
