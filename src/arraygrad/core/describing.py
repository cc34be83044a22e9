"""Docstrings made complete: parameters, results and examples from tables, in the place of copies.

A docstring in the source says what is particular to a function. The names of the parameters and
their defaults are in the signature, and many functions share what `axis` or `keepdims` means: it is
written once, in a table of the module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any

_SECTION = re.compile(r"^([A-Z]\w+(?: \w+)*)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)
_IMPORT = ">>> import arraygrad as ag"

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
    # Not by `inspect`, which would take a tenth of the time of `import arraygrad`.
    text = function.__doc__ or ""
    indent = text[len(text.rstrip(" ")) :]
    head, *rest = _SECTION.split(text.replace(f"\n{indent}", "\n"))
    head, prompt, example = head.partition(">>>")
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    example = sections.pop("Examples", prompt + example) or examples.get(function.__name__, "")
    inner: Any = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    kind = inner.__annotations__.get("return", "Any")
    result = returns.get(function.__name__) or returns.get(kind, kind.removesuffix("[Any]"))
    whole = {
        "Parameters": _parameters(inner, sections.pop("Parameters", ""), parameters),
        "Returns": sections.pop("Returns", _entry("", result)),
        **sections,
        "Examples": example if _IMPORT in example or not example else f"{_IMPORT}\n{example}",
    }
    texts = [f"{t}\n{'-' * len(t)}\n{text.strip()}\n" for t, text in whole.items() if text]
    return "\n".join((head.strip() + "\n", *texts))


def _parameters(function: Any, written: str, table: Mapping[str, str]) -> str:
    """The section on parameters: what is written about them, and the table for the others."""
    entries = {}
    for entry in _ENTRY.split(written)[1:]:
        for name in entry.partition("\n")[0].partition(" : ")[0].split(", "):
            entries[name] = entry
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
