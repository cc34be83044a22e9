"""How tests go through the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rows import ITEMS

TABLE = """
import pytest
from rows import Row, over

ROWS = [Row(f"op {i}", f"row {i}, {k}", (i, k)) for i in range(100) for k in range(3)]

@over("i, k", ROWS)
def test_table(i, k):
    if i == 7:
        pytest.skip("not the seventh")
    assert i not in (50, 51, 99), f"{i} is wrong"
"""


@pytest.fixture(autouse=True)
def without_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """The options of the run that this test is part of are not those of the run inside it."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


class Reports:
    """What pytest says of each item."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call":
            self.items.append(report)


def run(folder: Path, *options: str) -> list[Any]:
    """The reports of the items of a table of a hundred ops, each with three rows."""
    file = folder / "test_of_a_table.py"
    file.write_text(TABLE, encoding="utf-8")
    reports = Reports()
    settings = ["-c", "/dev/null", "--rootdir", str(folder), "--import-mode=importlib", "-q"]
    plugins = ["-p", "rows", "-p", "no:cacheprovider"]
    pytest.main([*settings, *plugins, str(file), *options], plugins=[reports])
    return reports.items


def checked(items: list[Any]) -> int:
    return sum(dict(item.user_properties)["rows"] for item in items)


def test_a_large_table_has_few_items(tmp_path: Path) -> None:
    items = run(tmp_path)
    assert len(items) <= ITEMS
    assert checked(items) == 99  # the first row of each op, but for the one that is left out
    assert checked(run(tmp_path, "--rows=all")) == 3 * 99


def test_every_row_that_fails_is_named(tmp_path: Path) -> None:
    failed = [item for item in run(tmp_path, "--rows=all") if item.failed]
    text = "".join(item.longreprtext for item in failed)
    names = [f"row {i}, {k}" for i in (50, 51, 99) for k in range(3)]
    for name in names:
        assert f"again: pytest test_of_a_table.py::test_table --row '{name}'" in text
        assert f"{name.split()[1].strip(',')} is wrong" in text
    assert text.count("again: ") == len(names)


def test_a_row_alone(tmp_path: Path) -> None:
    (item,) = run(tmp_path, "--row", "row 51, 2")
    assert item.failed
    assert "1 of 1 rows failed" in item.longreprtext


def test_an_op_alone(tmp_path: Path) -> None:
    (item,) = run(tmp_path, "--op", "op 5")
    assert item.passed
    assert item.nodeid.endswith("[op 5]")
    assert checked([item]) == 3


def test_what_is_left_out_is_said(tmp_path: Path, capsys: Any) -> None:
    run(tmp_path, "--rows=all")
    assert "SKIPPED 3 rows: not the seventh" in capsys.readouterr().out
    (item,) = run(tmp_path, "--op", "op 7")
    assert item.skipped
