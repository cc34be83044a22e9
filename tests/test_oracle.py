"""The table of samples against torch: values and gradients, where torch has the op."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from samples import Sample

import arraygrad as ag
from arraygrad.testing import assert_close

torch = pytest.importorskip("torch")
xp = pytest.importorskip("array_api_compat.torch")


def as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


def test_against_torch(torch_case: tuple[Sample, bool]) -> None:
    sample, complex_numbers = torch_case
    arrays = [np.ascontiguousarray(a) if a.ndim else a for a in sample.arrays(complex_numbers)]
    ours = [ag.tensor(a, requires_grad=a.dtype.kind in "fc") for a in arrays]
    theirs = [torch.asarray(a, copy=True).requires_grad_(a.dtype.kind in "fc") for a in arrays]
    results = as_list(sample.call(ag, *ours))
    expected = as_list(sample.call(xp, *theirs))
    for result, value in zip(results, expected, strict=True):
        assert_close(result.detach(), value.detach().resolve_conj().numpy(), rtol=1e-10, atol=1e-10)
    if not sample.differentiable:
        return
    rng = np.random.default_rng(1)
    live = [k for k, r in enumerate(results) if r.requires_grad]
    seeds = [_seed(results[k], rng) for k in live]
    inputs = [k for k, x in enumerate(ours) if x.requires_grad]
    gradients = ag.grad(
        [results[k] for k in live], [ours[k] for k in inputs], seeds, materialize_grads=True
    )
    found = torch.autograd.grad(
        [expected[k] for k in live],
        [theirs[k] for k in inputs],
        [torch.asarray(s) for s in seeds],
        materialize_grads=True,
    )
    for gradient, value in zip(gradients, found, strict=True):
        assert_close(gradient, value.resolve_conj().numpy(), rtol=1e-10, atol=1e-10)


def _seed(result: Any, rng: np.random.Generator) -> Any:
    seed = rng.standard_normal(result.shape)
    if result.dtype.kind == "c":
        seed = seed + 1j * rng.standard_normal(result.shape)
    return np.asarray(seed)
