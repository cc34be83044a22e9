"""A pytest plugin: SciPy's own tests, with the functions of `arraygrad.scipy` on plain arrays."""

from __future__ import annotations

from typing import Any

from expected import mark

import arraygrad as ag

# Tests that fail, by a pattern of their names, and why this is right.
EXPECTED = {
    r"test_equal_bounds\[.*-constraints[2567]-.*-kwds[12]-SLSQP\]": (
        "fixed variables have a gradient"
    ),
    r"TestNfev::test_root_nfev\[(hybr|lm)\]": "an exact Jacobian takes fewer evaluations",
    r"test_duplicate_evaluations\[trust-constr\]": "a product with the Hessian evaluates again",
    r"TestLM::test_full_result$": "an exact Jacobian is counted",
    r"TestSLSQP::test_gh1758": "the gradient is infinite at a bound: SciPy fails with it, too",
    r"TestMakeND::test_(2D_(mixed|separable_t|vs_RGI(?!_linear))|3D_random_vs_RGI)": (
        "SciPy knows its spsolve"
    ),
    r"test_chandrupatla_collection\[ridder\]": "the test knows SciPy's own ridder",
    r"TestCurveFit::test_gh4555$": "the model is degenerate: an exact Jacobian leads elsewhere",
}


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Mark the tests that are expected to fail."""
    mark(items, EXPECTED)


def pytest_collection_finish(session: Any) -> None:
    """Replace functions in the test modules, which have been imported, and in parameters."""
    session.installed = installed = ag.scipy.install()
    new_of = {id(old): new for old, new in installed.pairs}
    for item in session.items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        for key, value in params.items():
            if type(value) in (tuple, list):
                params[key] = type(value)(new_of.get(id(part), part) for part in value)
            else:
                params[key] = new_of.get(id(value), value)


def pytest_sessionfinish(session: Any) -> None:
    """Put SciPy's own functions back."""
    if hasattr(session, "installed"):
        session.installed.undo()
