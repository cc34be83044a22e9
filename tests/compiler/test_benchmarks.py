"""What the benchmarks of compiled functions time is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import optree
import pytest

jax = pytest.importorskip("jax")

from benchmarks.compiled import WORKLOADS, jobs  # noqa: E402

SMALL = [name for name, w in WORKLOADS.items() if max(a.size for a in w.arrays) < 600_000]


@pytest.mark.parametrize("name", SMALL)
def test_all_systems_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = jax.config.jax_enable_x64
    try:
        found = {system: job() for system, (job, _) in jobs(name).items()}
    finally:
        jax.config.update("jax_enable_x64", before)
    wanted = optree.tree_leaves(found.pop("eager"))
    for results in found.values():
        for a, b in zip(optree.tree_leaves(results), wanted, strict=True):
            compare(np.asarray(a), np.asarray(b))


def compare(a: Any, b: Any) -> None:
    scale = np.abs(b).max()
    np.testing.assert_allclose(
        a, b, rtol=0, atol=scale * (2e-5 if b.dtype == np.float32 else 1e-11)
    )
