"""Docstrings made complete: parameters, results and examples from tables, in the place of copies.

A docstring in the source says what is particular to a function. The names of the parameters and
their defaults are in the signature, and many functions share what `axis` or `keepdims` means: it is
written once, in a table of the module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any

_AG = "arraygrad as ag"

ARRAY = "array | A tensor if an argument is a tensor; otherwise an array of the arguments' library."


def describe(
    functions: Iterable[Any],
    parameters: Mapping[str, str],
    returns: Mapping[str, str],
    examples: Mapping[str, str],
) -> None:
    """Add to docstrings what they leave to tables.

    Parameters
    ----------
    functions : iterable
        Whatever is no function among them stays as it is.
    parameters : mapping
        The types and meanings of parameters, as in ``"int | The axis."``. The keys are names. For
        a meaning of its own, they are names with the function, ``"take.axis"``, or with the
        annotation, ``"axis: int"``. What a docstring says about a parameter comes first.
    returns : mapping
        The types and meanings of results, by the name of the function or the annotation of the
        result. Other annotations stand as they are.
    examples : mapping
        Doctests, by the name of the function, for docstrings that have none.
    """
    for function in functions:
        if isinstance(function, FunctionType) and function.__doc__:  # none under `python -OO`
            function.__doc__ = _described(function, parameters, returns, examples)


def _described(
    function: FunctionType,
    parameters: Mapping[str, str],
    returns: Mapping[str, str],
    examples: Mapping[str, str],
) -> str:
    # Neither by `inspect` nor by regular expressions: `import arraygrad` must not take long.
    text = function.__doc__ or ""
    indent = text[len(text.rstrip(" ")) :]
    head, sections = _sections(text.replace(f"\n{indent}", "\n") if indent else text)
    head, prompt, example = head.partition(">>>")
    example = sections.pop("Examples", prompt + example) or examples.get(function.__name__, "")
    inner: Any = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    kind = inner.__annotations__.get("return", "Any")
    result = returns.get(function.__name__) or returns.get(kind, kind.removesuffix("[Any]"))
    whole = {
        "Parameters": _parameters(inner, sections.pop("Parameters", ""), parameters),
        "Returns": sections.pop("Returns", "") or _entry("", result),
        **sections,
        "Examples": f">>> import {_AG}\n{example}" if example and _AG not in example else example,
    }
    texts = [f"{t}\n{'-' * len(t)}\n{text.strip()}\n" for t, text in whole.items() if text]
    return "\n".join((head.strip() + "\n", *texts))


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """What comes before the first section, and the sections by their titles."""
    *parts, last = text.split("\n---")  # a part ends with the title of the next
    if not parts:
        return text, {}
    bodies, titles = zip(*[part.rsplit("\n", 1) for part in parts], strict=True)
    # A part begins with the rest of the line below its title.
    found = [body.lstrip("-") for body in (*bodies[1:], last)]
    return bodies[0], dict(zip(titles, found, strict=True))


def _parameters(function: Any, written: str, table: Mapping[str, str]) -> str:
    """The section on parameters: what is written about them, and the table for the others."""
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in written.splitlines(keepends=True):
        if not line.startswith((" ", "\n")):  # a new entry, perhaps of several parameters
            names = line.rstrip().partition(" : ")[0].split(", ")
        for name in names:
            entries[name] = entries.get(name, "") + line
    found = []
    for name, given in _names(function):
        kind = function.__annotations__.get(name.lstrip("*"))
        own = table.get(f"{function.__name__}.{name}") or table.get(f"{name}: {kind}")
        meaning = own or table.get(name, "")
        found.append(entries.get(name) or _entry(name, meaning, given))
    return "".join(dict.fromkeys(found))


def _names(function: Any) -> list[tuple[str, str]]:
    """The names of parameters, with stars, each with what numpydoc writes about its default."""
    if hasattr(function, "op"):
        return [(name, "") for name in function.op.inputs]
    code, end = function.__code__, function.__code__.co_argcount
    positional, others = code.co_varnames[:end], [*code.co_varnames[end:]]
    by_name = [others.pop(0) for _ in range(code.co_kwonlyargcount)]
    stars = [f"*{others.pop(0)}"] if code.co_flags & CO_VARARGS else []
    last = [f"**{others.pop(0)}"] if code.co_flags & CO_VARKEYWORDS else []
    defaults = dict(function.__kwdefaults__ or {})
    if function.__defaults__:
        defaults.update(zip(reversed(positional), reversed(function.__defaults__), strict=False))
    names = (*positional, *stars, *by_name, *last)
    return [(name, _default(defaults[name]) if name in defaults else "") for name in names]


def _default(value: Any) -> str:
    return ", optional" if value is None else f", default {value!r}"


def _entry(name: str, meaning: str, given: str = "") -> str:
    """An entry of a section: a name, the type, and what it means in the line below."""
    kind, _, text = meaning.partition(" | ")
    head = f"{name} : {kind}{given}" if name else kind
    return f"{head}\n    {text}\n" if text else f"{head}\n" if kind else ""
