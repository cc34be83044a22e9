"""Checks of an op's declaration: they raise at the declaration, not at the first use."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from types import FunctionType
from typing import Any

from ...core.array import AnyFunction
from ...core.kinds import KINDS, Contracts, Elementwise, Kind, Moves
from .rules import SUFFIXES, Rule, parameters


def checked_inputs(name: Any, inputs: tuple[Any, ...]) -> tuple[str, ...]:
    """The names of the inputs, without the star of the last one; raises if a name is not valid."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"the name of an op must be a string, not {name!r}")
    if not inputs or not all(isinstance(n, str) for n in inputs):
        raise TypeError(f"{name}: say the names of its array arguments, as in declare(name, 'x')")
    if any(n.startswith("*") for n in inputs[:-1]):
        raise TypeError(f"{name}: only the last input can stand for any number of arrays")
    bare = (*inputs[:-1], inputs[-1].removeprefix("*"))
    for n in bare:
        if not n.isidentifier() or bare.count(n) > 1:
            raise TypeError(
                f"{name}: input names must be different, valid Python names; got "
                f"{', '.join(inputs)}"
            )
    return bare


def rules_by_input(
    name: str, inputs: tuple[str, ...], vjp: AnyFunction | None, vjps: dict[str, AnyFunction]
) -> dict[str, AnyFunction]:
    """The rules in a declaration, by input. `vjp` is the rule of the only input."""
    for key in vjps:
        if not key.startswith("vjp_"):
            raise TypeError(
                f"{name}: {key!r} is no parameter of a declaration; the rule for an input x is "
                "called vjp_x"
            )
    rules = {key.removeprefix("vjp_"): rule for key, rule in vjps.items()}
    if vjp is not None:
        if len(inputs) != 1 or rules:
            raise TypeError(
                f"{name}: vjp is the rule of the only input; give each input one rule: "
                f"{', '.join(f'vjp_{n}' for n in inputs)}"
            )
        rules[inputs[0]] = vjp
    return rules


def check_declaration(
    name: str,
    inputs: tuple[str, ...],
    kind: Any,
    keywords: tuple[str, ...] | None,
    compute: AnyFunction | None,
    rules: dict[str, AnyFunction],
    slopes: dict[str, AnyFunction],
    joint: AnyFunction | None,
    jvp: AnyFunction | None,
    multiple: bool,
) -> tuple[str, ...] | None:
    """Raise if a declaration has a mistake. Return all keywords of the op; None if it takes any."""
    bare = tuple(n.removeprefix("*") for n in inputs)
    check_is_kind(name, kind)
    found = _keywords(name, inputs, kind, keywords, compute)
    _check_kind(name, kind, bare, rules)
    unknown = [n for n in rules if n not in bare]
    if unknown:
        raise TypeError(
            f"{name}: a rule for {sorted(unknown)}, which are no inputs of it; the inputs are "
            f"{', '.join(bare)}"
        )
    if joint is not None and rules:
        raise TypeError(f"{name}: joint is the rule for all inputs, so there can be no others")
    if jvp is not None and kind.linear:
        raise TypeError(f"{name}: jvp cannot be given, a linear op is its own forward rule")
    known = None if found is None else names_for_rules(inputs) | set(found)

    def check(what: str, rule: AnyFunction, *more: str) -> None:
        check_rule(f"{name}: {what}", rule, known and known.union(more), bare)

    g = "gs" if multiple else "g"
    for n, d in slopes.items():
        check(f"the derivative by {n}", d)
    for n, rule in rules.items():
        check(f"the rule for {n}", rule, g, "i")
    if joint is not None:
        check("the joint rule", joint, g, "wanted")
    if jvp is not None:
        check("the forward rule", jvp, "t", *(f"t_{n}" for n in bare))
    if kind.linear:
        # A joint rule does not say which values it needs for which input.
        by_joint = dict.fromkeys(bare, joint) if joint and kind.linear is True else {}
        _check_linear(name, kind, rules | by_joint)
    return found


def check_is_kind(name: str, kind: Any) -> None:
    """Raise unless `kind` is one."""
    if type(kind) not in KINDS:
        known = ", ".join(k.__name__ for k in KINDS)
        raise TypeError(f"{name}: kind must be an instance of one of {known}, not {kind!r}")


def check_keywords(name: str, kind: Kind, taken: Collection[str], function: str) -> None:
    """Raise if a kind names a keyword that the function does not take."""
    for n in kind.keywords:
        if n not in taken and n != "keepdims":  # which may be always on
            raise TypeError(
                f"{name}: the kind speaks of the keyword {n}, which {function} does not take; it "
                f"takes {', '.join(taken) or 'none'}"
            )


def _keywords(
    name: str,
    inputs: tuple[str, ...],
    kind: Kind,
    keywords: tuple[str, ...] | None,
    compute: AnyFunction | None,
) -> tuple[str, ...] | None:
    """All keywords of an op: from its declaration, from its kind, and from `compute`."""
    if keywords is None:
        return None
    found = [*kind.keywords, *keywords]
    if compute is not None:
        try:
            taken = list(inspect.signature(compute).parameters.values())
        except (TypeError, ValueError):
            raise TypeError(
                f"{name}: compute must be a function compute(xp, *arrays, **keywords), not "
                f"{compute!r}"
            ) from None
        positional = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        takes_any = any(p.kind is p.VAR_POSITIONAL for p in taken)
        if not takes_any and (len(positional) <= len(inputs) or inputs[-1].startswith("*")):
            raise TypeError(f"{name}: compute must take xp and then {', '.join(inputs)}")
        if any(p.kind is p.VAR_KEYWORD for p in taken):
            return None
        own = [] if takes_any else [p.name for p in positional[1 + len(inputs) :]]
        own += [p.name for p in taken if p.kind is p.KEYWORD_ONLY]
        check_keywords(name, kind, own, "compute")
        found += own
    return tuple(dict.fromkeys(found))


def _check_kind(
    name: str, kind: Kind, inputs: tuple[str, ...], rules: dict[str, AnyFunction]
) -> None:
    """Raise if a kind names something that is not an input, or contradicts the rules."""
    constant: Any = ()
    if isinstance(kind, Elementwise):
        constant = kind.whole
    elif isinstance(kind, Moves):
        constant = kind.indices
    for names in (constant, () if kind.flat == "real" else kind.flat):
        if not isinstance(names, tuple):
            raise TypeError(
                f"{name}: inputs in a kind are a tuple of names, as ('x',), not {names!r}"
            )
        for n in names:
            if n not in inputs:
                raise TypeError(
                    f"{name}: the kind speaks of {n}, which is no input of the op; the inputs are "
                    f"{', '.join(inputs)}"
                )
    for n in constant:
        if n in rules:
            raise TypeError(f"{name}: a rule for {n}, which by its kind has no derivative")
    if isinstance(kind, Moves | Contracts) and kind.linear != type(kind)().linear:
        raise TypeError(f"{name}: linear follows from the kind {type(kind).__name__}: leave it out")


def _check_linear(name: str, kind: Kind, rules: dict[str, AnyFunction]) -> None:
    """Raise if the rules of a linear op depend on the output or on inputs it is linear in."""
    if kind.linear not in (True, "each"):
        raise TypeError(f"{name}: linear must be True, False or 'each', not {kind.linear!r}")
    for n, rule in rules.items():
        changing = {"out", *(rules if kind.linear is True else (n,))}
        kept = [p for p in parameters(rule) if p in changing]
        if kept:
            raise TypeError(
                f"{name}: the rule for {n} depends on {', '.join(kept)}, so the op is not linear "
                "in it, as its kind says"
            )


# --- rules of ops, and rules of `func.custom` ----------------------------------------------------

# Names that mean the same in every rule. An input of such a name would be ambiguous.
_RESERVED = {"g", "gs", "i", "out", "shapes", "t", "wanted"}


def names_for_rules(inputs: Collection[str]) -> set[str]:
    """The names that each rule of an op can have for parameters, besides the op's keywords."""
    single = [n for n in inputs if not n.startswith("*")]
    bare = {n.removeprefix("*") for n in inputs}
    return bare | {"out", "shapes"} | {n + suffix for n in single for suffix in SUFFIXES}


def check_rule(
    what: str,
    rule: Any,
    known: Collection[str] | None,
    inputs: Collection[str],
    owner: str = "the op",
) -> None:
    """Raise unless a rule is a plain function, and each of its parameters has a meaning.

    Parameters
    ----------
    what : str
        The rule in the words of the error message.
    rule : object
    known : collection of str, or None
        The names that parameters can have; None for any.
    inputs : collection of str
        The names of the op's inputs.
    owner : str
        What the error message calls the op.
    """
    check_function(what, rule, known)
    code = None if isinstance(rule, Rule) else rule.__code__
    if code is None:
        pass
    elif code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or code.co_kwonlyargcount:
        found = inspect.signature(rule, follow_wrapped=False).parameters.values()
        first = next(p for p in found if p.kind > p.POSITIONAL_OR_KEYWORD)
        by_keyword = first.kind is first.KEYWORD_ONLY
        takes = f"{first.name} by keyword only" if by_keyword else str(first).split(":")[0]
        raise TypeError(
            f"{what} takes {takes}: it must have a parameter for each value that it needs, no "
            f"*args, **kwargs, or keywords{_can_have(known)}"
        )
    for name in parameters(rule):
        if known is not None and name not in known:
            raise TypeError(
                f"{what} has a parameter {name!r}, which is neither an input nor a keyword of "
                f"{owner}{_can_have(known)}"
            )
        if name in _RESERVED and name in inputs:
            raise TypeError(
                f"{what} has a parameter {name!r}, which is also what rules call something else: "
                "rename the input"
            )


def check_function(what: str, rule: Any, known: Collection[str] | None = None) -> None:
    """Raise unless a rule is a function written in Python: its parameters have names."""
    if not isinstance(rule, FunctionType | Rule):
        raise TypeError(
            f"{what} must be a Python function, whose parameter names say what it needs, not "
            f"{type(rule).__name__} ({rule!r}): call it from one{_can_have(known)}"
        )


def _can_have(known: Collection[str] | None) -> str:
    return "" if known is None else f"; it can have {', '.join(sorted(known))}"
