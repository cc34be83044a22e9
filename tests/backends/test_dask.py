"""The table of samples over Dask's arrays, in several blocks along each axis.

All of it takes minutes. Some rows of each op are run, unless `ALL_ROWS` are asked for, or the table
of the docs.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from backend_table import ALL_ROWS, Case, Library, as_tuple, check
from samples import SAMPLES, Sample

import arraygrad as ag

pytest.importorskip("dask.array")
from dask_arrays import in_blocks, lazily  # noqa: F401

_UNKNOWN = (
    "the lengths of the result depend on values, so that they are not known before it is "
    "computed, and no seeds of its shape can be given"
)
_SIZED = "the shape of the result depends on values, which arraygrad never computes by itself"

DASK = Library(
    name="Dask",
    make=in_blocks,
    to_numpy=lambda array: array.compute(scheduler="synchronous"),
    gaps={
        "__getitem__-mask of itself": _UNKNOWN,
        "__getitem__-index is an input, mask": _UNKNOWN,
        "unique_all-": _UNKNOWN,
        "unique_counts-": _UNKNOWN,
        "unique_inverse-": _UNKNOWN,
        "unique_values-": _UNKNOWN,
        "unique_values-0-d": _UNKNOWN,
        "bincount-": _SIZED,
        "bincount-weights": _SIZED,
        "histogram-": _SIZED,
    },
)


def _some(cases: list[Case]) -> list[Case]:
    """The first row of each op, and one of eight of the others."""
    rows: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        rows[case[0].op].append(case)
    return [case for of_op in rows.values() for case in of_op[:1] + of_op[5::8]]


def pytest_generate_tests(metafunc: Any) -> None:
    """Run `test_rows` over the table, or over a part of it."""
    if "row" not in metafunc.fixturenames:
        return
    rows = [(s, c) for s in SAMPLES for c in (False, True) if s.complex or not c]
    wanted = metafunc.config.getoption("--write-backend-table", default=False)
    if not wanted and not ALL_ROWS:
        rows = _some(rows)
    metafunc.parametrize("row", rows, ids=[f"{s}{' complex' * c}" for s, c in rows])


def test_rows(row: Case) -> None:
    check(DASK, row)


_SMOOTH = [s for s in SAMPLES if s.differentiable and str(s) not in DASK.gaps]


@pytest.mark.parametrize("first", [*{s.op: s for s in reversed(_SMOOTH)}.values()], ids=str)
def test_gradients_are_in_the_blocks_of_their_inputs(first: Sample) -> None:
    leaves = [ag.tensor(in_blocks(a), requires_grad=a.dtype.kind in "fc") for a in first.arrays()]
    inputs = [x for x in leaves if x.requires_grad]
    try:
        outputs = [r for r in as_tuple(first.call(ag, *leaves)) if r.requires_grad]
    except ag.errors.MixedArraysError:
        return
    gradients = ag.grad(outputs, inputs, [1.0] * len(outputs), materialize_grads=True)
    for x, gradient in zip(inputs, gradients, strict=True):
        assert gradient.array.chunks == x.array.chunks
