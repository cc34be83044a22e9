"""The table of samples over array-api-strict, on its first device and on another."""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn

import array_api_strict
import numpy as np
import pytest
from backend_table import Case, Library, check

import arraygrad as ag

STRICT = Library(
    name="array-api-strict",
    make=lambda array: array_api_strict.asarray(np.ascontiguousarray(array).reshape(array.shape)),
    gaps={
        "__add__-number=True": "the standard has no arithmetic of booleans and numbers",
        "__mul__-integers": "the standard has no arithmetic of integers and floats",
        "to_device": 'its devices have other names than "cpu"',
    },
)


# Of which the results' shapes depend on values.
DATA_DEPENDENT = {"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"}
DATA_DEPENDENT |= {"histogram", "argwhere"}


def test_rows(case: Case) -> None:
    label = case[0].label
    masked = case[0].op == "__getitem__" and any(w in label for w in ("mask", "bool", "True"))
    fixed = not masked and case[0].op not in DATA_DEPENDENT
    with array_api_strict.ArrayAPIStrictFlags(
        boolean_indexing=not fixed, data_dependent_shapes=not fixed
    ):
        check(STRICT, case)


# --- another device ------------------------------------------------------------------------------

DEVICE = array_api_strict.Device("device1")


def is_there(array: Any) -> None:
    assert array.device == DEVICE


# SciPy computes these, on the host; elsewhere they raise an error that says so.
BY_SCIPY = (
    "betainc betaln digamma entr erf erfc erfinv exp1 expi fdtr fdtrc gamma gammainc gammaincc "
    "gammaln i0 i0e i1 i1e log_ndtr logit ndtr ndtri polygamma psi zeta"
).split()

ELSEWHERE = dataclasses.replace(
    STRICT,
    name="array-api-strict on another device",
    make=lambda array: array_api_strict.asarray(
        np.ascontiguousarray(array).reshape(array.shape), device=DEVICE
    ),
    to_numpy=lambda array: array._array,
    gaps={**STRICT.gaps, **{f"special.{name}": "SciPy runs on the host" for name in BY_SCIPY}},
    check=is_there,
    listed=False,
)


@pytest.fixture
def kept_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing become a NumPy array."""

    def refuse(self: Any, *args: Any, **keywords: Any) -> NoReturn:
        raise AssertionError("an array was moved to the host")

    monkeypatch.setattr(type(array_api_strict.asarray(0)), "__array__", refuse)


@pytest.mark.usefixtures("kept_there")
def test_rows_on_another_device(case: Case) -> None:
    if ELSEWHERE.gap(case) is not None:
        with pytest.raises((TypeError, ValueError)):  # not the fixture's
            check(dataclasses.replace(ELSEWHERE, gaps={}), case)
    else:
        check(ELSEWHERE, case)


def test_what_scipy_computes_says_so() -> None:
    x = ag.asarray(array_api_strict.asarray([1.0], device=DEVICE))
    with pytest.raises(TypeError, match=r"SciPy's runs on the host only.*to_device\(\)"):
        ag.special.expi(x)


def test_devices_do_not_mix() -> None:
    x = ag.asarray(array_api_strict.asarray([1.0], device=DEVICE))
    y = ag.asarray(array_api_strict.asarray([1.0]))
    with pytest.raises(ValueError, match=r"device1.*CPU_DEVICE"):
        x * y


def test_moving_to_a_device_and_back() -> None:
    x = ag.tensor(array_api_strict.asarray([1.0, 2.0]), requires_grad=True)
    there = x.to_device(DEVICE)
    assert there.device == DEVICE
    g = ag.grad((there**2).sum(), x)
    assert g.device == x.device
    assert g.tolist() == [2, 4]
