"""Writing the table of what runs on which library, after a run in which everything went as said."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from backend_table import LIBRARIES, document
from samples import SAMPLES

PAGE = Path(__file__).parents[2] / "docs" / "backend-table.md"


def pytest_addoption(parser: Any) -> None:
    """Add the option that writes the table."""
    parser.addoption(
        "--write-backend-table",
        action="store_true",
        help="write docs/backend-table.md after all rows of all libraries have run",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Run all rows for the table."""
    if config.getoption("--write-backend-table", default=False):
        config.option.rows = "all"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Do not check the old table before a new one is written."""
    if config.getoption("--write-backend-table", default=False):
        items[:] = [item for item in items if item.name != "test_the_committed_table"]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the table, unless something failed or was left out."""
    if not session.config.getoption("--write-backend-table", default=False):
        return
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    left_out = [
        name for name in ("failed", "error", "skipped", "deselected") if reporter.stats.get(name)
    ]
    if exitstatus or left_out:
        raise pytest.UsageError(f"the table is not written: tests were {', '.join(left_out)}")
    ran: Counter[str] = Counter()
    for report in reporter.stats.get("passed", []):
        path, _, name = report.nodeid.partition("::")
        if name.startswith("test_rows["):
            ran[path] += dict(report.user_properties)["rows"]
    rows = sum(1 + sample.complex for sample in SAMPLES)
    if list(ran.values()).count(rows) < len(LIBRARIES):
        raise pytest.UsageError("the table is not written: run all of tests/backends")
    PAGE.write_text(document([LIBRARIES[name] for name in sorted(LIBRARIES)]), encoding="utf-8")
