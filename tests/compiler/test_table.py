"""Every row of the table of samples, compiled, agrees with eager: values and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import optree
from samples import Sample

import arraygrad as ag
from arraygrad.errors import DataDependentError


def values(tree: Any) -> list[Any]:
    return [
        x.numpy() if isinstance(x, ag.Tensor) else np.asarray(x) for x in optree.tree_leaves(tree)
    ]


def agree(compiled: Any, eager: Any) -> None:
    found, wanted = values(compiled), values(eager)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def refused(sample: Sample) -> bool:
    """Whether a row needs values: these cannot run on a batch either, or are a mask."""
    return not sample.batch or any(a.dtype.kind == "b" for a in sample.arrays())


def gradients(sample: Sample) -> Any:
    """The pullback of ones through a row, as a function of its arrays."""

    def pulled(*arrays: Any) -> Any:
        moving = [i for i, a in enumerate(arrays) if a.dtype.kind in "fc"]

        def of_moving(*values: Any) -> Any:
            full = list(arrays)
            for i, value in zip(moving, values, strict=True):
                full[i] = value
            return sample.call(ag, *full)

        value, pull = ag.func.vjp(of_moving, *(arrays[i] for i in moving))
        return pull(optree.tree_map(ag.ones_like, value))

    return pulled


def test_values(case: tuple[Sample, bool]) -> None:
    sample, complex_numbers = case
    arrays = sample.arrays(complex_numbers)
    try:
        found = ag.compile(lambda *a: sample.call(ag, *a))(*arrays)
    except DataDependentError:
        assert refused(sample)
        return
    agree(found, sample.call(ag, *arrays))


def test_gradients(smooth_case: tuple[Sample, bool]) -> None:
    sample, complex_numbers = smooth_case
    arrays = sample.arrays(complex_numbers)
    pulled = gradients(sample)
    try:
        found = ag.compile(pulled)(*arrays)
    except DataDependentError:
        assert refused(sample)
        return
    agree(found, pulled(*arrays))


def test_as_an_op(smooth_sample: Sample) -> None:
    """The compiled function itself is differentiated, by a sweep outside."""
    row = smooth_sample

    def run(function: Any) -> Any:
        leaves = [
            ag.tensor(a, requires_grad=True) if a.dtype.kind == "f" else a for a in row.arrays()
        ]
        outputs = [
            x for x in optree.tree_leaves(function(*leaves)) if getattr(x, "requires_grad", False)
        ]
        inputs = [x for x in leaves if isinstance(x, ag.Tensor)]
        ones = [ag.ones_like(x) for x in outputs]
        return ag.grad(outputs, inputs, ones, materialize_grads=True) if outputs else ()

    def call(*arrays: Any) -> Any:
        return row.call(ag, *arrays)

    try:
        found = run(ag.compile(call))
    except DataDependentError:
        assert refused(row)
        return
    agree(found, run(call))
