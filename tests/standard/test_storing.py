"""Tensors that require gradients, and arrays of others that would store their numbers."""

from __future__ import annotations

import array
import gc
import math
import sys
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.core.cpython import PORTABLE
from arraygrad.errors import NoGradientError

only_with_frames = pytest.mark.skipif(PORTABLE, reason="what a number is wanted for is not known")

x = ag.tensor([1.5, 2.0], requires_grad=True)


@only_with_frames
@pytest.mark.parametrize(
    "store",
    [np.zeros(2), np.zeros(2, np.float32), np.zeros(2, np.complex128), array.array("d", [0.0])],
    ids=lambda a: str(getattr(a, "dtype", "array")),
)
def test_storing_a_number_would_lose_its_gradient(store: Any) -> None:
    with pytest.raises(NoGradientError, match=r"zeros\(\).*stack\(\)"):
        store[0] = x[0]
    assert store[0] == 0


@only_with_frames
def test_adding_to_an_element_would_too() -> None:
    store = np.ones(2)
    with pytest.raises(NoGradientError):
        store[0] += x[0]
    assert store[0] == 1


def test_what_says_that_it_is_meant_is_stored() -> None:
    store = np.zeros(4)
    store[0] = x[0].item()
    store[1] = x[0].detach()
    store[2] = ag.tensor(1.5)
    with pytest.warns(UserWarning, match="cuts the number off"):
        store[3] = float(x[0])
    assert store.tolist() == [1.5] * 4


def test_numbers_are_for_looking_at() -> None:
    with pytest.warns(UserWarning, match="cuts the number off"):
        assert float(x[0]) == 1.5
    seen = {}
    with pytest.warns(UserWarning, match="cuts the number off"):
        seen["x"] = int(x[1])
    assert seen == {"x": 2}


@only_with_frames
def test_a_pattern_would_lose_what_it_depends_on() -> None:
    def stored(x: Any) -> Any:
        store = np.zeros(3)
        store[0] = x[0]
        return x * store[0]

    with pytest.raises(NoGradientError):
        ag.func.sparsity(stored, np.ones(3))


def test_numbers_for_python_are_warned_of() -> None:
    y = x[0]
    for call, expected in (
        (lambda: math.isnan(y), False),
        (lambda: math.sin(y), math.sin(1.5)),
        (lambda: math.floor(y), 1),
        (lambda: float(y), 1.5),
        (lambda: "%.1f" % y, "1.5"),  # noqa: UP031
        (lambda: list(map(float, [y])), [1.5]),
        (lambda: math.sin(float(y)), math.sin(1.5)),
    ):
        with pytest.warns(UserWarning, match="cuts the number off"):
            assert call() == expected


@pytest.mark.parametrize("keywords", [{}, {"otypes": [float]}, {"signature": "(n)->(n)"}])
def test_numpys_vectorize_would_lose_gradients(keywords: Any) -> None:
    square = np.vectorize(lambda v: v * v, **keywords)
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(NoGradientError, match=r"numpy.stack\(\)"):
        square(x)
    for transform in (ag.func.grad, ag.func.jacfwd, ag.func.vmap):
        with pytest.raises((NoGradientError, TypeError), match="NumPy array"):
            transform(lambda x: square(x).sum())(np.ones((2, 2)))
    assert square(x.detach()).tolist() == [1.0, 4.0]


@only_with_frames
@pytest.mark.parametrize(
    "transform",
    [
        lambda f: f(ag.tensor(np.ones(3), requires_grad=True)),
        lambda f: ag.compile(f)(np.ones(3)),
        lambda f: ag.compile(ag.func.grad(f))(np.ones(3)),
        lambda f: ag.func.grad(f)(np.ones(3)),
        lambda f: ag.func.jvp(f, (np.ones(3),), (np.ones(3),)),
        lambda f: ag.func.vmap(f)(np.ones((2, 3))),
        lambda f: ag.func.hessian(f)(np.ones(3)),
    ],
)
def test_a_write_to_an_array_of_numpy_ends_with_the_way_out(transform: Any) -> None:
    def f(x: Any) -> Any:
        out = np.zeros(3)
        out[0] = x[0]  # NumPy says: setting an array element with a sequence
        return out.sum()

    kinds = (ag.errors.NoGradientError, ag.errors.DataDependentError)
    with pytest.raises(kinds, match=r"zeros_like\(|stack\(\)") as caught:
        transform(f)
    assert caught.value.__cause__ is None
    assert caught.traceback[-1].name == "f"
    assert sys.gettrace() is None


@only_with_frames
def test_the_garbage_collector_may_run_before_the_error_arrives() -> None:
    def called(phase: str, info: dict[str, int]) -> None:
        """As a finaliser would be."""

    store, before = np.zeros(2), gc.get_threshold()
    gc.callbacks.append(called)
    gc.set_threshold(1)
    try:
        with pytest.raises(NoGradientError):
            store.flat[0] = x[0]
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(called)
    assert sys.gettrace() is None


@only_with_frames
def test_numpys_other_words_are_replaced_too() -> None:
    store = np.zeros(2)
    with pytest.raises(NoGradientError):
        store.flat[0] = x[0]  # NumPy says: Error setting single item of array
    try:
        raise KeyError
    except KeyError:
        with pytest.raises(NoGradientError):
            store[0] = x[0]


@only_with_frames
def test_what_python_code_raises_instead_stays() -> None:
    class Store:
        def __setitem__(self, place: Any, value: Any) -> None:
            self._set(place, value)

        def _set(self, place: Any, value: Any) -> None:
            try:
                np.zeros(2)[0] = value
            except NoGradientError as error:
                raise ValueError("no tensors here") from error

    with pytest.raises(ValueError, match="no tensors here"):
        Store()[0] = x[0]
    assert sys.gettrace() is None


@only_with_frames
def test_in_a_debugger_the_way_out_is_the_cause() -> None:
    seen = []

    def store(out: Any) -> None:
        out[0] = x[0]

    def debugger(frame: Any, event: str, arg: Any) -> Any:
        seen.append(event)
        return debugger

    sys.settrace(debugger)
    try:
        with pytest.raises(ValueError, match="sequence") as caught:
            store(np.zeros(2))
    finally:
        sys.settrace(None)
    assert isinstance(caught.value.__cause__, NoGradientError)
    assert "exception" in seen
