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


DEVICE = array_api_strict.Device("device1")


def is_there(array: Any) -> None:
    assert array.device == DEVICE


ELSEWHERE = dataclasses.replace(
    STRICT,
    make=lambda array: array_api_strict.asarray(
        np.ascontiguousarray(array).reshape(array.shape), device=DEVICE
    ),
    to_numpy=lambda array: array._array,
    check=is_there,
    listed=False,
)

# Of which the results' shapes depend on values.
DATA_DEPENDENT = {"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"}
DATA_DEPENDENT |= {"histogram", "argwhere"}

# SciPy computes these, on the host.
BY_SCIPY = (
    "betainc betaln digamma entr erf erfc erfinv exp1 expi fdtr fdtrc gamma gammainc gammaincc "
    "gammaln i0 i0e i1 i1e log_ndtr logit ndtr ndtri polygamma psi zeta"
).split()


def keep_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing become a NumPy array."""

    def refuse(self: Any, *args: Any, **keywords: Any) -> NoReturn:
        raise AssertionError("an array was moved to the host")

    monkeypatch.setattr(type(array_api_strict.asarray(0)), "__array__", refuse)


def test_rows(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """On another device, with no way to NumPy, and without shapes that depend on values."""
    if case[0].op.rpartition(".")[2] in (*BY_SCIPY, "gelu"):
        check(STRICT, case)
        return
    keep_there(monkeypatch)  # for this row only
    label = case[0].label
    masked = case[0].op == "__getitem__" and any(w in label for w in ("mask", "bool", "True"))
    fixed = not masked and case[0].op not in DATA_DEPENDENT
    with array_api_strict.ArrayAPIStrictFlags(
        boolean_indexing=not fixed, data_dependent_shapes=not fixed
    ):
        check(ELSEWHERE, case)


@pytest.mark.parametrize("name", BY_SCIPY)
def test_what_scipy_computes_says_so_elsewhere(name: str) -> None:
    x = ag.asarray(array_api_strict.asarray([0.5], device=DEVICE))
    arguments = {"polygamma": (1, x), "betaln": (x, x), "zeta": (x + 1,)}
    arguments |= {"betainc": (x, x, x), "fdtr": (x, x, x), "fdtrc": (x, x, x)}
    arguments |= {"gammainc": (x, x), "gammaincc": (x, x)}
    with pytest.raises(TypeError, match=r"SciPy's runs on the host only.*to_device\(\)"):
        getattr(ag.special, name)(*arguments.get(name, (x,)))


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
