"""What the project says of itself fits together."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OLDEST = ROOT / ".ci" / "minimum.txt"


@pytest.mark.skipif(not OLDEST.exists(), reason="it is in the repository, and in no package")
def test_the_oldest_versions_are_those_that_are_allowed() -> None:
    """The versions that `.ci/run` installs as the oldest are the limits in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    # The tests of functions that take tensors need newer ones than users do, and are left out.
    newer = ("scikit-learn>", "scipy>")
    tests = [r for r in extras["test"] if not r.startswith(newer)]
    allowed = [*project["dependencies"], *extras["scipy"], *tests]
    lines = OLDEST.read_text("utf-8").splitlines()
    pinned = [line for line in lines if not line.startswith("#")]
    assert sorted(pinned) == sorted(r.replace(">=", "==") for r in allowed)
