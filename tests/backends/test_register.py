"""A library that is not known: the one of the documentation, and mistakes with it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest
from backend_table import Case, Library, check

import arraygrad as ag
from arraygrad.backends import Backend, backend_of, register
from arraygrad.backends.standard import standard_kernels
from arraygrad.errors import MixedArraysError

PAGE = Path(__file__).parents[2] / "docs" / "backends.md"


def documented(square: str = "x * x") -> dict[str, Any]:
    """What the page defines."""
    names: dict[str, Any] = {"__name__": "documented"}
    for source in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S):
        if ">>>" not in source:
            exec(source.replace("lambda x: x * x", f"lambda x: {square}"), names)
    return names


COUNTED = documented()["Counted"]

LIBRARY = Library(
    name="counted",
    make=lambda array: COUNTED(np.array(array)),
    to_numpy=lambda array: array.values,
    gaps={"to_device": "it has no devices"},
    listed=False,
)


def test_rows_of_the_documented_library(case: Case) -> None:
    check(LIBRARY, case)


def test_it_passes_the_check() -> None:
    ag.testing.check_backend(lambda array: COUNTED(np.array(array)))


def test_the_check_lists_all_faults() -> None:
    wrong = documented(square="x * x / 2")["Counted"]
    with pytest.raises(AssertionError, match="Counted differs from NumPy") as caught:
        ag.testing.check_backend(lambda array: wrong(np.array(array)))
    found = str(caught.value).splitlines()[1:]
    assert [line.partition(": ")[0] for line in found] == [
        "functions, the value",
        "functions, the gradient",
        "functions, the forward derivative",
        "functions, the second derivative",
        "functions, a batch",
    ]
    assert "12 of 12 elements differ" in found[0]


def test_it_does_not_mix_with_others() -> None:
    x = ag.asarray(COUNTED([1.0]))
    with pytest.raises(MixedArraysError, match="counted and array_api_strict"):
        x * ag.asarray(array_api_strict.asarray([1.0]))
    assert isinstance((x * ag.ones(1)).array, COUNTED)
    assert isinstance(x.__array_namespace__().zeros(2).array, COUNTED)


def test_mistakes() -> None:
    backend = Backend("mine", array_api_strict)
    with pytest.raises(TypeError, match="array_type must be a type"):
        register("ndarray", backend)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="backend must be a Backend"):
        register(type("Mine", (), {}), array_api_strict)
    with pytest.raises(ValueError, match="'numpy' already"):
        register(np.ndarray, backend)


def test_what_a_namespace_lacks_is_named() -> None:
    class Few:
        asarray = array_api_strict.asarray
        isdtype = array_api_strict.isdtype

    class Mine(type(array_api_strict.asarray(0))): ...  # type: ignore[misc]

    register(Mine, Backend("mine", Few, standard_kernels(Few)))
    array = Mine._new(np.ones(2), array_api_strict.Device("CPU_DEVICE"))
    assert backend_of(array).name == "mine"
    with pytest.raises(NotImplementedError, match=r"mine has no function 'sin'.*kernel"):
        ag.sin(array)


def test_a_type_that_says_nothing() -> None:
    class Unknown:
        shape: tuple[int, ...] = ()
        dtype = np.dtype(float)

    with pytest.raises(TypeError, match="expected an array or a number, got Unknown"):
        ag.sin(Unknown())

    class Vague(Unknown):
        def __array_namespace__(self) -> None: ...

    Vague.__module__ = "json.decoder"
    with pytest.raises(TypeError, match=r"json is no namespace.*backends\.register\(\)"):
        ag.sin(Vague())
