"""The site: `sphinx-build -W docs build/site`. The pages are those in this folder.

The reference has a page for every public name: each module says by `__all__` which these are.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import arraygrad

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
# These take longer than a site should, or need a library that the extra `docs` does not bring.
SHOWN_ONLY = ("autoencoder", "characters", "digits")

project = "arraygrad"
author = "The arraygrad developers"
version = release = arraygrad.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = f"arraygrad {version}"
html_theme_options = {
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"api": [], "generated/*": [], "gallery": []}
html_show_sourcelink = False

myst_heading_anchors = 4

autosummary_imported_members = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False


def gallery() -> str:
    """The examples: what each says about itself, its code, and what it prints."""
    text = [""]
    for path in [*sorted(EXAMPLES.glob("*/*.py")), *sorted(EXAMPLES.glob("*.py"))]:
        words = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        title, _, rest = words.partition("\n")
        place = path.relative_to(EXAMPLES).as_posix()
        text += [f"(example-{path.stem})=", f"## {title.rstrip('.')}", ""]
        text += [f"`examples/{place}`", "", rest.strip(), ""]
        if path.parent != EXAMPLES:
            text += [f"![{title}](figures/{path.stem.replace('_', '-')}.svg)", ""]
        text += [f"```{{literalinclude}} ../examples/{place}", ":language: python", "```", ""]
        if path.parent == EXAMPLES and path.stem not in SHOWN_ONLY:
            ran = subprocess.run(
                [sys.executable, str(path)], capture_output=True, text=True, check=True
            )
            text += ["It prints:", "", "```text", ran.stdout.rstrip(), "```", ""]
    return "\n".join(text)


def to_pages(app: Any, name: str, source: list[str]) -> None:
    """Lead links to files outside of this folder to the pages that show them."""
    if name == "gallery":
        source[0] += gallery()
    source[0] = re.sub(r"\]\(\.\./examples/(\w+/)?(\w+)\.py\)", r"](#example-\2)", source[0])
    source[0] = source[0].replace("](../examples)", "](gallery.md)")
    source[0] = re.sub(r"\[([^\]]*)\]\(\.\./[^)]*\)", r"\1", source[0])
    # Doctest needs the empty line at the end of an example, readers do not.
    source[0] = re.sub(r"(?ms)^(```python\n.*?)\n+^```$", r"\1\n```", source[0])


def escape_stars(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Shapes such as (samples, *lengths) are no emphasis."""
    lines[:] = [re.sub(r"(?<=[(, ])\*(?=\w+[,)])", r"\\*", line) for line in lines]


def setup(app: Any) -> None:
    """Have Sphinx call the functions above."""
    app.connect("autodoc-process-docstring", escape_stars, priority=1)  # before numpydoc
    app.connect("source-read", to_pages)
