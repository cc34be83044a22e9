"""The figures of the documentation: all that pages name exist, and what is drawn is shown."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

DOCS = Path(__file__).parents[1] / "docs"
NUMBER = re.compile(r"[-+−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
SVG = "{http://www.w3.org/2000/svg}"


def drawn() -> set[str]:
    """The figures that the script draws, without running it."""
    script = ast.parse((DOCS / "draw_figures.py").read_text(encoding="utf-8"))
    return {
        f"{node.name.replace('_', '-')}.svg"
        for node in script.body
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    } | {
        f"{path.stem.replace('_', '-')}.svg"
        for path in (DOCS.parent / "examples" / "gallery").glob("*.py")
    }


def test_pages_and_figures_belong_together() -> None:
    named = {
        name
        for page in DOCS.glob("*.md")
        for name in re.findall(r"!\[[^\]]+\]\(figures/([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert drawn() <= named <= {path.name for path in (DOCS / "figures").iterdir()}


def test_programs_are_short() -> None:
    programs = list((DOCS.parent / "examples" / "gallery").glob("*.py"))
    assert len(programs) >= 12
    for path in programs:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 60, path


def test_figures_are_small() -> None:
    for name in drawn():
        path = DOCS / "figures" / name
        assert path.stat().st_size < 100_000
        assert "<svg" in path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The figures, drawn again: in another process, as SciPy must not be imported before."""
    for module in ("matplotlib", "xarray", "dask.distributed"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("figures")
    script = [sys.executable, "-W", "error", str(DOCS / "draw_figures.py"), str(folder)]
    paths = os.pathsep.join([str(DOCS.parent / "src"), os.environ.get("PYTHONPATH", "")])
    subprocess.run(script, check=True, env=os.environ | {"PYTHONPATH": paths, "MPLBACKEND": "svg"})
    return folder


def read(path: Path) -> tuple[str, list[str], list[Any]]:
    """The version of matplotlib that drew a figure; its labels; the coordinates of its curves."""
    text = path.read_text(encoding="utf-8")
    version = re.search(r"Matplotlib v([\d.]+)", text)
    assert version is not None
    root = ElementTree.fromstring(text)
    labels = ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]
    curves = [numbers(element.get("d", "")) for element in root.iter(f"{SVG}path")]
    marks = [[float(use.get("x", 0)), float(use.get("y", 0))] for use in root.iter(f"{SVG}use")]
    return version[1], labels, [*curves, np.ravel(marks)]


def numbers(text: str) -> Any:
    """The numbers in a text, in order."""
    return np.array([float(found.replace("−", "-")) for found in NUMBER.findall(text)])


@pytest.mark.parametrize("name", sorted(drawn()))
def test_figures_show_what_the_code_computes_now(again: Path, name: str) -> None:
    version, labels, curves = read(DOCS / "figures" / name)
    version_now, labels_now, curves_now = read(again / name)
    # Another processor gives other last digits, so numbers need not be the same.
    assert [NUMBER.sub("0", label) for label in labels] == [
        NUMBER.sub("0", label) for label in labels_now
    ]
    for label, now in zip(labels, labels_now, strict=True):
        np.testing.assert_allclose(numbers(label), numbers(now), rtol=0.01, atol=0.011)
    if version == version_now:  # else curves have other sizes and places
        assert len(curves) == len(curves_now)
        for curve, now in zip(curves, curves_now, strict=True):
            np.testing.assert_allclose(curve, now, atol=0.5)  # points; a figure is 400 wide
