"""The documents that describe the systems of `arraygrad.compat`, and how to read them."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

_FOLDER = Path(__file__).parent / "seeds"

LUCID = "000_38339a6958e9b95b.txt"
LUCID_RENDERED = "001_08b01b41e4aee6eb.txt"
SORIX = "002_61d91fa95c3bc2be.txt"
RTORCH = "003_f36ca47dffd049ac.txt"
TORCH = "004_d09042bde4d2f6e8.txt"


def read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def examples(text: str) -> list[doctest.Example]:
    """The `>>>` examples of a document, in order."""
    headings = re.compile(r"^.*¶$", re.MULTILINE)  # a rendered page has them right after output
    return doctest.DocTestParser().get_examples(headings.sub("", text))


def python_signature(text: str) -> list[tuple[str, object]]:
    """Names and defaults of the parameters of the function that a document defines in Python.

    A parameter without a default is paired with `...`.
    """
    header = re.search(r"def grad\(.*?\n\s*\)", text, re.DOTALL)
    assert header is not None
    (function,) = ast.parse(header.group().strip() + ": pass").body
    assert isinstance(function, ast.FunctionDef)
    names = [argument.arg for argument in function.args.args]
    defaults = [ast.literal_eval(d) for d in function.args.defaults]
    return list(zip(names, [...] * (len(names) - len(defaults)) + defaults, strict=True))


def r_signature(text: str) -> list[tuple[str, object]]:
    """The same, of the function in a document's R usage. A default that is a name is its name."""
    usage = re.search(r"autograd_grad\((.*?)\n\)", text, re.DOTALL)
    assert usage is not None
    constants = {"NULL": None, "FALSE": False, "TRUE": True}
    found: list[tuple[str, object]] = []
    for parameter in usage.group(1).split(","):
        name, _, default = (part.strip() for part in parameter.partition("="))
        found.append((name, constants.get(default, default) if default else ...))
    return found


def rendered_signature(text: str) -> list[tuple[str, object]]:
    """The same, of a signature in a rendered page, with its parameters in asterisks."""
    signature = re.search(r"grad \((.*?)\) \[source\]", text, re.DOTALL)
    assert signature is not None
    found: list[tuple[str, object]] = []
    for parameter in re.findall(r"\*(.*?)\*", signature.group(1)):
        name, _, default = (part.strip() for part in parameter.partition("="))
        found.append((name, ast.literal_eval(default) if default else ...))
    return found


def r_example_as_python(text: str) -> str:
    """The R example of a document as Python, by the rules of spelling alone."""
    block = re.search(r"## Examples\s+``` r\n(.*?)```", text, re.DOTALL)
    assert block is not None
    lines = [line for line in block.group(1).splitlines() if not line.startswith("#>")]
    source = "\n".join(lines)
    for r, python in (
        (r"<-", "="),
        (r"\$", "."),
        (r"\^", "**"),
        (r"\bTRUE\b", "True"),
        (r"\bFALSE\b", "False"),
        (r"\blist\(([^()]*)\)", r"[\1]"),
        (r"\bif \((.*)\) \{\n((?:.*\n)*?)\}", _indented),
    ):
        source = re.sub(r, python, source)
    return source


def _indented(match: re.Match[str]) -> str:
    body = "".join(f"    {line}\n" for line in match.group(2).splitlines())
    return f"if {match.group(1)}:\n{body}"
