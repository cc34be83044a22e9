"""A pytest plugin: SciPy's own tests of array libraries, with arraygrad as the library.

It needs ``SCIPY_ARRAY_API=1`` and ``-m array_api_backends``.
"""

from __future__ import annotations

from typing import Any

import pytest

import arraygrad as ag


def pytest_configure(config: Any) -> None:
    """Let the fixture that gives a library give arraygrad only."""
    import scipy.conftest

    scipy.conftest.xp_known_backends.add("arraygrad")
    library = pytest.param(ag, id="arraygrad", marks=pytest.mark.array_api_backends)
    marker = scipy.conftest.xp._fixture_function_marker
    object.__setattr__(marker, "params", (library,))
