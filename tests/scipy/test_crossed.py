"""Every case of SciPy's functions: values, gradients, forward mode, second order, batches."""

from __future__ import annotations

from cases_interpolate import CASES as INTERPOLATE
from cases_linalg import CASES as LINALG
from cases_ndimage import CASES as NDIMAGE
from cases_signal import CASES as SIGNAL
from cases_sparse import CASES as SPARSE
from cases_special import CASES as SPECIAL
from cases_stats import CASES as STATS
from crossing import (
    Case,
    check_batch,
    check_forward,
    check_gradient,
    check_precision,
    check_second,
    check_values,
)
from rows import over

CASES = [*SPECIAL, *LINALG, *SIGNAL, *SPARSE, *INTERPOLATE, *STATS, *NDIMAGE]
each = over("given", CASES)


def test_names_are_different() -> None:
    assert len({str(case) for case in CASES}) == len(CASES)


@each
def test_values(given: Case) -> None:
    check_values(given)


@each
def test_gradient(given: Case) -> None:
    check_gradient(given)


@each
def test_forward_mode(given: Case) -> None:
    check_forward(given)


@over("given", [case for case in CASES if case.second])
def test_second_derivative(given: Case) -> None:
    check_second(given)


@over("given", [case for case in CASES if case.batch])
def test_batch(given: Case) -> None:
    check_batch(given)


SOLVED = [case for case in LINALG if case.op == "linalg.lu_solve"]


@over("given", [*SPECIAL, *SIGNAL, *INTERPOLATE, *STATS, *NDIMAGE, *SOLVED])
def test_precision(given: Case) -> None:
    check_precision(given)
