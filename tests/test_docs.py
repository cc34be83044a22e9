"""The code in the documentation runs, and prints what the documentation says."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
# Pages about what not everybody has installed.
NEEDS = {
    "dask-ops.md": ("dask.array",),
    "dask.md": ("dask.array", "distributed", "scipy"),
    "jax.md": ("jax",),
    "libraries.md": ("xarray",),
    "mlx.md": ("mlx.core",),
    "scientific-code.md": ("scipy",),
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """The code blocks of a page in a language, each with the line it starts on."""
    text = page.read_text(encoding="utf-8")
    pattern = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [(text[: m.start(1)].count("\n"), m.group(1)) for m in pattern.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in(page: Path) -> None:
    for module in NEEDS.get(page.name, ()):
        pytest.importorskip(module)
    names: dict[str, Any] = {"__name__": "__main__"}
    for line, source in blocks(page, "python"):
        if ">>>" in source:
            names = run_examples(source, names, str(page), line)
        else:
            exec(compile("\n" * line + source, page, "exec"), names)


def run_examples(text: str, names: dict[str, Any], place: str, line: int) -> dict[str, Any]:
    """The names after the examples in a text have run, each with the output that it shows."""
    report: list[str] = []
    test = doctest.DocTestParser().get_doctest(text, names, place, place, line)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    assert runner.run(test, out=report.append, clear_globs=False).failed == 0, "".join(report)
    return test.globs


def test_pages_that_show_code() -> None:
    with_code = {page.name for page in PAGES if blocks(page, "python")}
    assert {"README.md", "grad.md", "adding-an-op.md", "compat.md"} <= with_code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_repository(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_readme_has_one_command_to_try_and_one_to_test() -> None:
    commands = "".join(source for _, source in blocks(ROOT / "README.md", "sh")).splitlines()
    assert len(commands) == 2
    assert [c.startswith("python3 -m venv .venv && ") for c in commands] == [True, True]
    assert commands[0].endswith(".venv/bin/python -m arraygrad")
    assert commands[1].endswith(".venv/bin/pytest -n auto")


# --- docstrings ----------------------------------------------------------------------------------

MODULES = ["arraygrad"] + [
    f"arraygrad.{name}"
    for name in "autograd autograd.forward_ad autograd.graph backends fft func linalg nn nn.init "
    "optim optimize random special testing tree".split()
]


def public(module: str) -> dict[str, Any]:
    """The functions and classes of a module. Results and errors are described where they occur."""
    names = importlib.import_module(module)
    found = {name: getattr(names, name) for name in names.__all__}
    return {
        name: thing
        for name, thing in found.items()
        if callable(thing)
        and not (isinstance(thing, type) and issubclass(thing, tuple | Exception))
    }


def lacking(thing: Any) -> list[str]:
    """What a docstring does not have: parameters by their names, the result, an example."""
    text = inspect.getdoc(thing) or ""
    _, *rest = re.split(r"^([A-Z]\w+(?: \w+)*)\n-{3,}\n", text, flags=re.MULTILINE)
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    entries = re.findall(r"^(\S.*?)(?: : .*)?$", sections.get("Parameters", ""), re.MULTILINE)
    described = {name for entry in entries for name in entry.split(", ")}
    given = [str(p).partition(":")[0].partition("=")[0] for p in parameters_of(thing)]
    found = [name for name in given if name not in described]
    if not isinstance(thing, type) and not {"Returns", "Yields"} & {*sections}:
        found.append("Returns")
    return found if ">>>" in sections.get("Examples", "") else [*found, "Examples"]


def parameters_of(thing: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(thing).parameters.values())


@pytest.mark.parametrize("module", MODULES)
def test_docstrings_are_complete(module: str) -> None:
    found = {name: lacking(thing) for name, thing in public(module).items()}
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize("module", MODULES)
def test_examples_of(module: str) -> None:
    """The examples that come from tables; pytest finds those which are in the source."""
    names = {"np": np}
    for name, thing in public(module).items():
        if ">>>" not in (inspect.unwrap(thing).__doc__ or "") or hasattr(thing, "op"):
            run_examples(thing.__doc__, dict(names), name, 0)
