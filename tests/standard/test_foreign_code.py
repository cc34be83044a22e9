"""SciPy's functions and scikit-learn's estimators, differentiated unchanged."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from rows import LARGE, Row, are_all_wanted, over

# Which of their functions take tensors changes from version to version.
pytest.importorskip("scipy", minversion="1.17")
pytest.importorskip("sklearn", minversion="1.9")

from standard import scipy_cases, sklearn_cases
from standard.foreign_code import report, run_with_setting
from standard.scipy_cases import CASES, REFUSED

PAGE = Path(__file__).parents[2] / "docs" / "scipy.md"


def both() -> list[Row]:
    """The functions in the tables of both modules: their names, and whether they are refused.

    A quick run takes one function of each package.
    """
    rows, packages = [], set()
    for tables in (scipy_cases, sklearn_cases):
        for is_refused, cases in ((False, tables.CASES), (True, tables.REFUSED)):
            for name in map(str, cases):
                package = (name.rpartition(".")[0], is_refused)
                # One item, which starts one process.
                rows.append(Row("both", name, (name, is_refused), quick=package not in packages))
                packages.add(package)
    return rows


ROWS = both()


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> dict[str, str]:
    """What is wrong with each function, found in a process of its own."""
    every = are_all_wanted(request.config)
    wanted = request.config.getoption("--row")
    names = [row.name for row in ROWS if (row.name in wanted if wanted else every or row.quick)]
    return report(names, sys.maxsize if every else LARGE)


@over("name, is_refused", ROWS)
def test_gradients_agree_with_differences_or_are_refused(
    name: str, is_refused: bool, outcomes: dict[str, str]
) -> None:
    outcome = outcomes[name]
    # What is refused a later version may learn to do, and then has to do it right.
    assert outcome == "" or (is_refused and outcome.startswith("NoGradientError: "))


def table(names: list[str]) -> dict[str, str]:
    """The functions of each of SciPy's packages, as the documentation lists them."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        match = re.match(r"(spatial\.transform|[a-z]+)\.(.*)", name)
        assert match is not None
        found[match[1]].append(match[2])
    return {
        package: ", ".join(f"`{member}`" for member in sorted(members))
        for package, members in sorted(found.items())
    }


def test_documentation_lists_what_works() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert dict(rows) == table([case.name for case in CASES])


def test_documentation_lists_the_estimators_that_work() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for case in sklearn_cases.CASES:
        assert f"`{case.name}`" in text


def test_documentation_says_how_many() -> None:
    assert f"{len(CASES)} functions" in PAGE.read_text(encoding="utf-8")
    assert len({case.name for case in CASES}) == len(CASES)


def test_documentation_names_what_is_refused() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for case in REFUSED:
        assert f"`{case.name}`" in text


def test_code_in_the_documentation_runs() -> None:
    # These blocks need the setting, which those that tests/test_docs.py runs do without.
    text = PAGE.read_text(encoding="utf-8")
    run_with_setting(["-c", "".join(re.findall(r"^```py\n(.*?)^```$", text, re.M | re.S))])
