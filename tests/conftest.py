"""What all tests share."""

from __future__ import annotations

from typing import Any

from samples import SAMPLES


def pytest_generate_tests(metafunc: Any) -> None:
    """Run a test that takes `sample` over the table; `case` also over its complex variants."""
    if "sample" in metafunc.fixturenames:
        metafunc.parametrize("sample", SAMPLES, ids=str)
    if "case" in metafunc.fixturenames:
        cases = [(s, c) for s in SAMPLES for c in (False, True) if s.complex or not c]
        metafunc.parametrize("case", cases, ids=[f"{s}{' complex' * c}" for s, c in cases])
