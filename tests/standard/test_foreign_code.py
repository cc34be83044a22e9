"""SciPy's functions and scikit-learn's estimators, differentiated unchanged."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from pathlib import Path

import pytest

# Which of their functions take tensors changes from version to version.
pytest.importorskip("scipy", minversion="1.17")
pytest.importorskip("sklearn", minversion="1.9")

from standard import scipy_cases, sklearn_cases
from standard.foreign_code import report, run_with_setting
from standard.scipy_cases import CASES, REFUSED

PAGE = Path(__file__).parents[2] / "docs" / "scipy.md"

found = functools.cache(report)


def both(table: str) -> list[tuple[str, str]]:
    """A table's rows in both modules: the module, and the function's name."""
    modules = {"scipy_cases": scipy_cases, "sklearn_cases": sklearn_cases}
    return [(name, str(case)) for name, m in modules.items() for case in getattr(m, table)]


@pytest.mark.parametrize(("module", "name"), both("CASES"))
def test_gradients_agree_with_differences(module: str, name: str) -> None:
    assert found(module)[name] == ""


@pytest.mark.parametrize(("module", "name"), both("REFUSED"))
def test_gradients_are_not_dropped_silently(module: str, name: str) -> None:
    # A later version may learn to do it, and then has to do it right.
    assert found(module)[name] == "" or found(module)[name].startswith("NoGradientError: ")


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
