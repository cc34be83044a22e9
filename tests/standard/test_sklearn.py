"""scikit-learn's estimators, differentiated with respect to the data they are fitted to."""

from __future__ import annotations

from pathlib import Path

import pytest
from standard.foreign_code import report
from standard.sklearn_cases import CASES, REFUSED

PAGE = Path(__file__).parents[2] / "docs" / "scipy.md"


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    return report("sklearn_cases")


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_gradients_agree_with_differences(name: str, found: dict[str, str]) -> None:
    assert found[name] == ""


@pytest.mark.parametrize("name", [case.name for case in REFUSED])
def test_gradients_are_not_dropped_silently(name: str, found: dict[str, str]) -> None:
    assert found[name] == "" or found[name].startswith("NoGradientError: ")


def test_documentation_lists_what_works() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for case in CASES:
        assert f"`{case.name}`" in text
