"""The committed table of what runs where says what the libraries' gaps say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from backend_table import LIBRARIES, Library, cells, document
from samples import SAMPLES

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "backend-table.md"


def libraries() -> dict[str, Library]:
    """Those whose test files can be imported, which needs the library itself."""
    for path in sorted(HERE.glob("test_*.py")):
        if "Library(" in path.read_text(encoding="utf-8") and path != Path(__file__):
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec is not None
            assert spec.loader is not None
            try:
                spec.loader.exec_module(importlib.util.module_from_spec(spec))
            except pytest.skip.Exception:
                continue
    return LIBRARIES


def committed() -> dict[str, dict[str, tuple[str, list[str]]]]:
    """The table as committed: by library and op, a word and the reasons."""
    text = PAGE.read_text(encoding="utf-8")
    reasons = dict(re.findall(r"^(\d+)\. (.*?)\. Rows: ", text, re.MULTILINE))
    head, _, *body = [line.strip("|").split(" | ") for line in text.splitlines() if line[:1] == "|"]
    names = [name.strip() for name in head[1:]]
    found: dict[str, dict[str, tuple[str, list[str]]]] = {name: {} for name in names}
    for op, *marked in body:
        for name, mark in zip(names, marked, strict=True):
            numbers = re.findall(r"\[(\d+)\]", mark)
            found[name][op.strip(" `")] = mark.split()[0], [reasons[n] for n in numbers]
    return found


def test_the_committed_table() -> None:
    table = committed()
    known = libraries()
    assert table.keys() >= known.keys(), "run pytest tests/backends --write-backend-table"
    for name, library in known.items():
        column = table[name]
        assert column.keys() == {sample.op for sample in SAMPLES}
        for op, gaps in cells(library).items():
            word, reasons = column[op]
            assert reasons == [f"{name}: {reason}" for reason in gaps], op
            assert (word == "yes") == (not gaps), op


def test_gaps_name_rows_that_exist() -> None:
    rows = {n for s in SAMPLES for n in (s.op, str(s), f"{s.op}-{s.label}")}
    rows |= {f"{name} complex" for name in rows}
    for library in libraries().values():
        assert set(library.gaps) <= rows, library.name


def test_a_page_of_no_and_of_some() -> None:
    library = Library("made up", lambda x: x, gaps={"sort": "why", "sum-booleans": "because"})
    del LIBRARIES["made up"]
    page = document([library])
    assert "| `sort` | no [1](#gaps) |" in page
    assert "| `sum` | partly [2](#gaps) |" in page
    assert "| `sin` | yes |" in page
    assert "2. made up: because. Rows: `sum-booleans`." in page
