"""Each wrapper of `wrappers` around each op of the table of samples.

The first rows of each op are run, or all of them if asked for: see CONTRIBUTING.md.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from backend_table import ALL_ROWS
from samples import SAMPLES, Sample
from wrappers import WRAPPERS, gradients

import arraygrad as ag

Case = tuple[Sample, bool]


def cases() -> list[Case]:
    """Two rows of each op, of which one is run with complex numbers, too; or all of them."""
    rows: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in SAMPLES:
        if sample.differentiable:
            rows[sample.op].append(sample)
    found = []
    for of_op in rows.values():
        chosen = of_op if ALL_ROWS else of_op[:2]
        found += [(s, False) for s in chosen]
        with_complex = [(s, True) for s in of_op if s.complex]
        found += with_complex if ALL_ROWS else with_complex[:1]
    return found


CASES = cases()


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("wrapped", CASES, ids=[f"{s}{' complex' * c}" for s, c in CASES])
def test_gradients(wrapped: Case, wrapper: str) -> None:
    sample, complex_numbers = wrapped
    arrays = sample.arrays(complex_numbers)

    def function(*inputs: Any) -> Any:
        return sample.call(ag, *inputs)

    expected = gradients(function, arrays)
    found = WRAPPERS[wrapper](function, arrays)
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
