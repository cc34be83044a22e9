"""The figures of the documentation: all that pages name exist, and what is drawn is shown."""

from __future__ import annotations

import ast
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def drawn() -> set[str]:
    """The figures that the script draws, without running it."""
    script = ast.parse((DOCS / "draw_figures.py").read_text(encoding="utf-8"))
    return {
        f"{node.name.replace('_', '-')}.svg"
        for node in script.body
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    }


def test_pages_and_figures_belong_together() -> None:
    named = {
        name
        for page in DOCS.glob("*.md")
        for name in re.findall(r"!\[[^\]]+\]\(figures/([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert drawn() <= named <= {path.name for path in (DOCS / "figures").iterdir()}


def test_figures_are_small() -> None:
    for name in drawn():
        path = DOCS / "figures" / name
        assert path.stat().st_size < 100_000
        assert "<svg" in path.read_text(encoding="utf-8")
