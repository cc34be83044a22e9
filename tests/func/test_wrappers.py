"""Each wrapper of `wrappers` around each op of the table of samples."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from rows import Row, over
from samples import SAMPLES, Sample, cases_of
from wrappers import WRAPPERS, Function, gradients

import arraygrad as ag

# A quick run takes the first rows for each wrapper.
WRAPPED = [
    Row(row.op, f"{row.name}, {wrapper}", (*row.value, wrapper), f"{row.variant} {wrapper}")
    for row in cases_of(s for s in SAMPLES if s.differentiable)
    for wrapper in WRAPPERS
]


def function_of(sample: Sample) -> Function:
    return lambda *inputs: sample.call(ag, *inputs)


@lru_cache(maxsize=1)
def inputs_and_gradients(sample: Sample, complex_numbers: bool) -> tuple[list[Any], list[Any]]:
    """The same for all wrappers: one that writes to its inputs makes the next ones fail."""
    arrays = sample.arrays(complex_numbers)
    return arrays, gradients(function_of(sample), arrays)


@over("sample, complex_numbers, wrapper", WRAPPED)
def test_gradients(sample: Sample, complex_numbers: bool, wrapper: str) -> None:
    arrays, expected = inputs_and_gradients(sample, complex_numbers)
    found = WRAPPERS[wrapper](function_of(sample), arrays)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_wrong_gradient_is_noticed(wrapper: str) -> None:
    """If a function does not do the same each time that it is called."""
    calls = iter(range(1, 100))

    def function(x: Any) -> Any:
        return x * float(next(calls))

    expected = gradients(function, [np.ones(2)])
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(WRAPPERS[wrapper](function, [np.ones(2)]), expected)
