"""The code in the documentation runs, and prints what the documentation says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

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
            report: list[str] = []
            test = doctest.DocTestParser().get_doctest(source, names, page.name, str(page), line)
            outcome = doctest.DocTestRunner(optionflags=FLAGS).run(
                test, out=report.append, clear_globs=False
            )
            assert outcome.failed == 0, "".join(report)
            names = test.globs
        else:
            exec(compile("\n" * line + source, page, "exec"), names)


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
