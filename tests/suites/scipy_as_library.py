"""A pytest plugin: SciPy's own tests of array libraries, with arraygrad as the library.

It needs ``SCIPY_ARRAY_API=1`` and ``-m array_api_backends``.
"""

from __future__ import annotations

from typing import Any

import pytest
from expected import mark

import arraygrad as ag

# Tests that fail, by a pattern of their names, and why this is right.
EXPECTED = {
    r"TestRBFInterpolatorNeighborsNone": "SciPy calls .view(float), which the standard has not",
    r"TestBracket(Minimum|Root)::test_dtypes?\[.*float16": "there is no arraygrad.float16",
    r"TestChandrupatlaMinimize::test_dtype\[.*float16": "there is no arraygrad.float16",
    r"test_chandrupatla.py::.*::test_input_validation": "errors have words of their own",
    r"Test(Power|VectorizedFilter)::test_input_validation": "errors have words of their own",
    r"test_gaussian_filter_float16": "there is no arraygrad.float16",
    r"test_support_alternative_backends\[arraygrad-(chdtrc-|(fdtrc?|stdtr)-intp)": (
        "SciPy has formulas of its own for other libraries, with NaN elsewhere"
    ),
    r"test_support_alternative_backends\[arraygrad-polygamma-float32": "float32 is kept",
    r"mismatched_dtypes\[arraygrad-(betaln|gammaincc?|kl_div|rel_entr|xlogy|zeta)\]": (
        "an integer leaves float32 as it is"
    ),
}


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Mark the tests that are expected to fail."""
    mark(items, EXPECTED)


def pytest_configure(config: Any) -> None:
    """Let the fixture that gives a library give arraygrad only."""
    import scipy.conftest

    scipy.conftest.xp_known_backends.add("arraygrad")
    library = pytest.param(ag, id="arraygrad", marks=pytest.mark.array_api_backends)
    # SciPy adds to the list that older revisions of the standard have; now it is a tuple.
    type(ag.__array_namespace_info__()).devices = lambda info: ["cpu"]  # type: ignore
    marker = scipy.conftest.xp._fixture_function_marker
    object.__setattr__(marker, "params", (library,))
