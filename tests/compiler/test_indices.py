"""Reading and adding at integers in native code: `take`, `x[i]`, `take_along_axis`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 37))
AT, J = rng.integers(-50, 50, size=400), rng.integers(-37, 37, size=400)
NEAR = rng.integers(0, 37, size=(50, 12)).astype(np.int32)

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: ag.take(x, AT, axis=0) * 2,
    "columns": lambda x: ag.sin(ag.take(x, J, axis=1)),
    "elements": lambda x: ag.exp(x[AT, J]),
    "axes of the index": lambda x: x[:, J.reshape(20, 20)].sum(axis=-1),
    "broadcast": lambda x: x[AT[:30, None], J[None, :40]] * 3,
    "apart": lambda x: ag.reshape(x, (5, 10, 37))[AT[:6] % 5, :, J[:6]] ** 2,
    "along an axis": lambda x: ag.take_along_axis(x, NEAR, axis=1) ** 2,
    "what was computed": lambda x: ag.take(ag.tanh(x) * x, AT, axis=0) + 1,
    "a transpose": lambda x: x.T[J] * 2,
    "places that are computed": lambda x: ag.take_along_axis(x, ag.argsort(x, axis=1), axis=1) ** 2,
    "a part, with zeros around": lambda x: ag.pad(x[AT[:40]], [(1, 2), (0, 3)]) * 2,
    "twice": lambda x: x[AT][AT % 400] * x[AT[::-1].copy()],
    "few lines, each often": lambda x: x[AT % 2] ** 2,
    "no lines": lambda x: x[AT[:0]] * 2,
    "one number": lambda x: ag.take(x[0], J[3:4]) * 2,
    "mean of lines": lambda x: x[AT] - x[AT].mean(axis=1, keepdims=True),
}


@crossed(name=FUNCTIONS, dtype=[np.float32, np.float64])
def test_values_and_gradients(name: str, dtype: Any) -> None:
    function, x = FUNCTIONS[name], X.astype(dtype)
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-11}
    found = ag.compile(function)(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, function(x), **close)
    gradient = ag.func.grad(lambda x: (function(x) ** 2).sum())
    np.testing.assert_allclose(ag.compile(gradient)(x), gradient(x), **close)


def test_it_is_native() -> None:
    gradient = ag.func.grad(lambda x, i: (ag.tanh(x[i]) ** 2).sum())
    assert "NumPy computes" not in ag.compile(gradient).explain(X, AT)


@crossed(derive=[False, True], wrong=[50, -51, 2**40])
def test_integers_out_of_range(wrong: int, derive: bool) -> None:
    def read(x: Any, i: Any) -> Any:
        return (x[i] ** 2).sum()

    function = ag.compile(ag.func.grad(read) if derive else read)
    i = np.array([0, 3, 49, -50])
    function(X, i)
    i[2] = wrong
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 50"):
        function(X, i)


def test_errors_leave_a_function_usable() -> None:
    function = ag.compile(lambda x, i: (x * 2, x[i].sum(axis=0), ag.take(x, i, axis=1)))
    right, wrong = np.array([0, -37, 36]), np.array([0, 36, 37])
    for i in (right, right, wrong, right, wrong):  # the second call is the first by native code
        if i is wrong:
            with pytest.raises(IndexError, match="index 37 is out of bounds for axis 1"):
                function(X, i)
        else:
            for found, expected in zip(
                function(X, i), (X * 2, X[i].sum(axis=0), X[:, i]), strict=True
            ):
                np.testing.assert_allclose(found, expected)


def test_indices_in_loops_and_choices() -> None:
    def function(x: Any, i: Any) -> Any:
        def step(state: Any, j: Any) -> Any:
            return state + x[j], None

        rows = ag.func.scan(step, x[0], i)[0]
        return ag.func.cond(i[0] > 0, lambda i: x[i].sum(), lambda i: x[i - 1].sum(), i), rows

    i = np.array([1, 2, -3])
    for found, wanted in zip(ag.compile(function)(X, i), function(X, i), strict=True):
        np.testing.assert_allclose(found, wanted)
    compiled = ag.compile(function)
    for wrong, told in (
        (np.array([1, 50, 0]), r"(?s)index 50 is out of bounds for axis 0 .* step 1 of a loop"),
        (np.array([0, 0, -50]), "index -51 is out of bounds for axis 0"),
    ):
        for run in (compiled, compiled, function):
            with pytest.raises(IndexError, match=told):
                run(X, wrong)


def test_an_index_from_outside_may_change() -> None:
    i = np.array([0, 3, 49])
    function = ag.compile(lambda x: x[i] * 2)
    function(X)
    i[1] = -1
    np.testing.assert_array_equal(function(X), X[i] * 2)
    i[1] = 70
    with pytest.raises(IndexError, match="index 70"):
        function(X)


def test_sums_do_not_depend_on_the_number_of_threads() -> None:
    x, i = rng.normal(size=(300, 64)), rng.integers(0, 300, 40_000)
    gradient = ag.compile(ag.func.grad(lambda x: (ag.sin(x[i]) ** 2).sum()))
    before, found = ag.get_num_threads(), []
    try:
        for number in (1, 2, 3):
            ag.set_num_threads(number)
            found.append(gradient(x))
    finally:
        ag.set_num_threads(before)
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    wanted = np.zeros_like(x)
    np.add.at(wanted, i, np.sin(2 * x[i]))
    np.testing.assert_allclose(found[0], wanted, rtol=1e-9, atol=1e-9)
