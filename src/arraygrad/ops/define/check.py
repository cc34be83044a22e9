"""Mistakes in a declaration, found when it is made."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...core.kinds import KINDS, Elementwise, Kind, Moves
from .rules import SUFFIXES, parameters

Function = Callable[..., Any]


def check_declaration(
    name: str,
    inputs: tuple[str, ...],
    kind: Any,
    keywords: tuple[str, ...] | None,
    compute: Function | None,
    rules: dict[str, Function],
    joint: Function | None,
    jvp: Function | None,
    multiple: bool,
) -> tuple[str, ...] | None:
    """Raise if a declaration cannot be meant; return all keywords of the op, None if any is one."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"the name of an op must be a string, not {name!r}")
    if not inputs or not all(isinstance(n, str) for n in inputs):
        raise TypeError(f"{name}: say the names of its array arguments, as in declare(name, 'x')")
    if any(n.startswith("*") for n in inputs[:-1]):
        raise TypeError(f"{name}: only the last input can stand for any number of arrays")
    bare = tuple(n.lstrip("*") for n in inputs)
    if not isinstance(kind, Kind) or type(kind) not in KINDS:
        known = ", ".join(k.__name__ for k in KINDS)
        raise TypeError(f"{name}: kind must be an instance of one of {known}, not {kind!r}")
    found = _keywords(name, len(inputs), kind, keywords, compute)
    _check_kind(name, kind, bare, found, rules)
    unknown = [n for n in rules if n not in bare]
    if unknown:
        raise TypeError(
            f"{name}: a rule for {sorted(unknown)}, which are no inputs of it; the inputs are "
            f"{', '.join(bare)}"
        )
    allowed = {*bare, "out", "shapes", *(n + s for n in bare for s in SUFFIXES)}
    g = "gs" if multiple else "g"
    if joint is not None:
        if rules:
            raise TypeError(f"{name}: joint is the rule for all inputs, so there can be no others")
        _check_rule(name, "the joint rule", joint, allowed | {g, "wanted"}, found)
    for n, rule in rules.items():
        _check_rule(name, f"the rule for {n}", rule, allowed | {g, "i"}, found)
    if jvp is not None:
        if kind.linear:
            raise TypeError(f"{name}: jvp cannot be given, a linear op is its own forward rule")
        tangents = {"t", *(f"t_{n}" for n in bare)}
        _check_rule(name, "the forward rule", jvp, allowed | tangents, found)
    if kind.linear is True:
        for n, rule in rules.items():
            kept = [p for p in parameters(rule) if p == "out" or p in rules]
            if kept:
                raise TypeError(
                    f"{name}: the rule for {n} depends on {', '.join(kept)}, so the op is not "
                    "linear, as its kind says"
                )
    return found


def _keywords(
    name: str,
    count: int,
    kind: Kind,
    keywords: tuple[str, ...] | None,
    compute: Function | None,
) -> tuple[str, ...] | None:
    """All keywords of an op: those said, those that its kind names, those of `compute`."""
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
        if any(p.kind is p.VAR_KEYWORD for p in taken):
            return None
        positional = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if not any(p.kind is p.VAR_POSITIONAL for p in taken):
            found += [p.name for p in positional[1 + count :]]
        found += [p.name for p in taken if p.kind is p.KEYWORD_ONLY]
    return tuple(dict.fromkeys(found))


def _check_kind(
    name: str,
    kind: Kind,
    inputs: tuple[str, ...],
    keywords: tuple[str, ...] | None,
    rules: dict[str, Function],
) -> None:
    """Raise if a kind names what is no input, or says of an input what its rules do not."""
    constant: tuple[str, ...] = ()
    if isinstance(kind, Elementwise):
        constant = kind.whole
    elif isinstance(kind, Moves):
        constant = kind.indices
    named = constant + (kind.flat if isinstance(kind.flat, tuple) else ())
    for n in named:
        if n not in inputs:
            raise TypeError(
                f"{name}: the kind speaks of {n}, which is no input of the op; the inputs are "
                f"{', '.join(inputs)}"
            )
    for n in constant:
        if n in rules:
            raise TypeError(f"{name}: a rule for {n}, which by its kind has no derivative")


def _check_rule(
    name: str,
    what: str,
    rule: Any,
    allowed: set[str],
    keywords: tuple[str, ...] | None,
) -> None:
    """Raise unless a rule is a plain function, whose parameters all stand for something."""
    code = getattr(rule, "__code__", None)
    if code is None:
        raise TypeError(
            f"{name}: {what} must be a Python function, whose parameter names say what it needs, "
            f"not {rule!r}"
        )
    if code.co_flags & 0b1100 or code.co_kwonlyargcount:
        raise TypeError(
            f"{name}: {what} must name each of its parameters: no *args, **kwargs, or keywords"
        )
    if keywords is None:
        return
    for parameter in parameters(rule):
        if parameter not in allowed and parameter not in keywords:
            can = ", ".join(sorted(allowed | set(keywords)))
            raise TypeError(
                f"{name}: {what} has a parameter {parameter!r}, which is neither an input nor a "
                f"keyword of the op; it can have {can}"
            )
