"""What the project says of itself fits together."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_oldest_versions_are_those_that_are_allowed() -> None:
    """The versions that `.ci/run` installs as the oldest are the limits in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["test"], *extras["scipy"]]
    limits: dict[str, set[str]] = {}
    for requirement in wanted:
        name, _, version = requirement.partition(">=")
        limits.setdefault(name, set()).add(version)
    lines = (ROOT / ".ci" / "minimum.txt").read_text().splitlines()
    for line in lines:
        if not line.startswith("#"):
            name, _, version = line.partition("==")
            assert any(version == v or version == f"{v}.0" for v in limits[name]), line
