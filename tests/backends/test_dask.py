"""The table of samples over Dask's arrays, in several blocks along each axis."""

from __future__ import annotations

import pytest
from backend_table import Case, Library, as_tuple, check
from rows import over
from samples import SAMPLES, Sample

import arraygrad as ag

pytest.importorskip("dask.array")
import dask
from dask_arrays import in_blocks, lazily  # noqa: F401

_UNKNOWN = (
    "the lengths of the result depend on values, so that they are not known before it is "
    "computed, and no seeds of its shape can be given"
)
_SIZED = "the shape of the result depends on values, which arraygrad never computes by itself"

DASK = Library(
    name="Dask",
    make=in_blocks,
    compute=lambda arrays: dask.compute(*arrays, scheduler="synchronous"),
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


def test_rows(case: Case) -> None:
    check(DASK, case)


@over("row", [s for s in SAMPLES if s.differentiable and str(s) not in DASK.gaps])
def test_gradients_are_in_the_blocks_of_their_inputs(row: Sample) -> None:
    leaves = [ag.tensor(in_blocks(a), requires_grad=a.dtype.kind in "fc") for a in row.arrays()]
    inputs = [x for x in leaves if x.requires_grad]
    try:
        outputs = [r for r in as_tuple(row.call(ag, *leaves)) if r.requires_grad]
    except ag.errors.MixedArraysError:
        return
    gradients = ag.grad(outputs, inputs, [1.0] * len(outputs), materialize_grads=True)
    for x, gradient in zip(inputs, gradients, strict=True):
        assert gradient.array.chunks == x.array.chunks
