"""`arraygrad.scipy.check`: derivatives compared with differences while they are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from cases_interpolate import CASES as INTERPOLATE
from cases_linalg import CASES as LINALG
from cases_ndimage import CASES as NDIMAGE
from cases_signal import CASES as SIGNAL
from cases_special import CASES as SPECIAL
from cases_stats import CASES as STATS
from crossing import Case, results
from rows import over

import arraygrad as ag
from arraygrad.errors import DerivativeError
from arraygrad.scipy.checking import state
from arraygrad.scipy.twins import twin


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    ag.scipy.check(True)
    yield
    ag.scipy.check(False)


MODULES = [SPECIAL, LINALG, SIGNAL, INTERPOLATE, STATS, NDIMAGE]


def run(case: Case) -> None:
    results(case, ag.scipy, *(ag.tensor(a, requires_grad=True) for a in case.arrays))


@pytest.mark.filterwarnings("ignore")  # of SciPy, for differences
@over("case", [case for cases in MODULES for case in cases])
def test_cases_pass(case: Case) -> None:
    ag.scipy.check(True)  # nothing was seen
    run(case)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "cases", MODULES, ids=["special", "linalg", "signal", "interpolate", "stats", "ndimage"]
)
def test_functions_are_compared(cases: list[Case]) -> None:
    for case in cases:
        run(case)
        if len(state.seen) > 3:
            return
    pytest.fail(f"only these were compared: {state.seen}")


def test_solvers_pass() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    optimize, integrate = ag.scipy.optimize, ag.scipy.integrate
    optimize.brentq(lambda x: x**2 - a, 0.0, 3.0)
    optimize.minimize(lambda x: np.sum((x - a) ** 2 + x**4), [0.0, 1.0], tol=1e-12)
    integrate.quad(lambda x: np.exp(-a * x), 0, 1)
    integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], rtol=1e-9, atol=1e-9, t_eval=[1.0])
    assert {name.rpartition(".")[2] for name in state.seen} == {
        "brentq",
        "minimize",
        "quad",
        "solve_ivp",
    }


def test_a_wrong_derivative_is_noticed() -> None:
    @twin(scipy.linalg.expm)
    def expm(A: Any) -> Any:  # noqa: N803
        return ag.scipy.linalg.expm(A) * 1.0 + 0.01 * (A - A.detach())

    x = ag.tensor(np.eye(2) + 0.1, requires_grad=True)
    with pytest.raises(DerivativeError, match=r"scipy.linalg.expm: the derivative is"):
        expm(x)
    expm(x)  # only the first use is compared
    ag.scipy.check(False)
    expm(x)


def test_plain_arrays_and_constants_are_not_compared() -> None:
    ag.scipy.linalg.expm(np.eye(2))
    ag.scipy.linalg.expm(ag.tensor(np.eye(2)))
    assert not state.seen
