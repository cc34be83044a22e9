"""What the benchmarks time is right: all systems compute the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import __main__ as benchmarks
from benchmarks.anatomy import OPS, flame, sample
from benchmarks.losses import LOSSES
from benchmarks.systems import Arraygrad, Torch
from benchmarks.transforms import TRANSFORMS

import arraygrad as ag

# Those that take long, and whose formulas are those of others, too.
_LONG = {"chain of 50,000 multiply-adds", "sparse Hessian, n = 10,000", "checkpointing"}


def as_arrays(result: Any) -> list[Any]:
    if hasattr(result, "toarray"):
        return [result.toarray()]
    if isinstance(result, tuple | list):
        return [a for part in result for a in as_arrays(part)]
    return [np.asarray(result.detach() if hasattr(result, "detach") else result)]


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - _LONG))
def test_losses(name: str) -> None:
    systems = [Arraygrad(), *([Torch()] if Torch.installed() else [])]
    jobs = LOSSES[name]().jobs(systems)
    ours, *others = [as_arrays(job()) for job in jobs.values()]
    for theirs in others:
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3 * np.abs(b).max())


@pytest.mark.parametrize("name", sorted(TRANSFORMS.keys() - _LONG - {"forward mode"}))
def test_transforms(name: str) -> None:
    jobs = TRANSFORMS[name]()
    jobs.pop("one product", None)
    jobs.pop("a known pattern", None)
    ours, *others = [as_arrays(job()) for job in jobs.values()]
    for theirs in others:
        ours_whole = np.concatenate([a.reshape(-1) for a in ours])
        theirs_whole = np.concatenate([b.reshape(-1) for b in theirs])
        scale = np.abs(theirs_whole).max()
        np.testing.assert_allclose(ours_whole, theirs_whole, rtol=1e-3, atol=1e-3 * scale)


def test_the_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One row, measured, printed, written and compared with itself."""
    written = tmp_path / "ratios.json"
    arguments = ["forward mode", "--seconds", "0.01", "--json", str(written)]
    benchmarks.main([*arguments, "--markdown", str(tmp_path / "ratios.md")])
    table = json.loads(written.read_text())
    low, ratio, high = table["forward mode"]["recording"]
    assert 0 < low <= high
    assert ratio > 0
    assert f"| forward mode | {ratio:.2f} (" in (tmp_path / "ratios.md").read_text()
    benchmarks.main([*arguments, "--compare", str(written)])
    assert f"was {ratio:.2f}" in capsys.readouterr().out


def test_flame_graph(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    x = ag.tensor(np.ones(4), requires_grad=True)

    def job() -> None:
        for call in OPS.values():
            ag.grad(ag.sum(call(ag, x)), x)

    seen = sample(job, 0.2)
    assert any("engine.Sweep.run" in stack for stack in seen)
    flame(seen, tmp_path / "flame.png")
    assert (tmp_path / "flame.png").stat().st_size > 1000
