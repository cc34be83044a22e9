"""What the benchmarks time is right: all systems compute the same."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import __main__ as benchmarks
from benchmarks.anatomy import OPS, flame, sample
from benchmarks.importing import ratio
from benchmarks.losses import LOSSES
from benchmarks.systems import Arraygrad, Torch
from benchmarks.transforms import TRANSFORMS

import arraygrad as ag

# It takes long, and its formula is that of another, too.
_LONG = {"chain of 50,000 multiply-adds"}
_BESIDE_TORCH = TRANSFORMS.keys() - {
    "sparse Hessian, n = 10,000",
    "forward mode",
    "checkpointing",
}


def as_arrays(result: Any) -> list[Any]:
    if hasattr(result, "toarray"):
        return [result.toarray()]
    if isinstance(result, tuple | list):
        return [a for part in result for a in as_arrays(part)]
    return [np.asarray(result.detach() if hasattr(result, "detach") else result)]


def agree(ours: Any, theirs: Any) -> None:
    """All gradients together: a small one may be all rounding."""
    a, b = (np.concatenate([part.reshape(-1) for part in as_arrays(x)]) for x in (ours, theirs))
    np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3 * np.abs(b).max())


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - _LONG))
def test_losses(name: str) -> None:
    workload = LOSSES[name]()
    jobs = workload.jobs([Arraygrad()])
    gradients = jobs.pop("arraygrad")()
    assert [g.shape for g in gradients] == [p.shape for p in workload.parameters]
    for by_hand in jobs.values():
        agree(gradients, by_hand())


@pytest.mark.parametrize("name", sorted(LOSSES.keys() - _LONG))
def test_losses_beside_torch(name: str) -> None:
    pytest.importorskip("torch")
    ours, theirs, *_ = LOSSES[name]().jobs([Arraygrad(), Torch()]).values()
    agree(ours(), theirs())


@pytest.mark.parametrize("name", sorted(_BESIDE_TORCH))
def test_transforms_beside_torch(name: str) -> None:
    pytest.importorskip("torch")
    jobs = TRANSFORMS[name]()
    agree(jobs["arraygrad"](), jobs["torch"]())


@pytest.fixture
def _precision_of_jax() -> Iterator[None]:
    """What JAX computes in, as it was: the benchmarks switch doubles on for the whole process."""
    if importlib.util.find_spec("jax") is None:
        yield
        return
    from jax import config

    before = config.jax_enable_x64
    yield
    config.update("jax_enable_x64", before)


@pytest.mark.usefixtures("_precision_of_jax")
def test_the_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One row, measured, printed, written and compared with itself."""
    written = tmp_path / "ratios.json"
    arguments = ["forward mode", "--seconds", "0.01", "--json", str(written)]
    benchmarks.main([*arguments, "--markdown", str(tmp_path / "ratios.md")])
    table = json.loads(written.read_text())
    low, ratio, high = table["forward mode"]["recording"]
    assert 0 < low <= high
    assert ratio > 0
    assert f"{ratio:.2f} (" in (tmp_path / "ratios.md").read_text()
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


def test_programs_of_hips_run_in_a_process_of_their_own() -> None:
    command = [sys.executable, "-m", "benchmarks.hips_clients", "--work", "arraygrad"]
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [*command, "HIPS's example lstm"],
        input="go\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src")},
    )
    assert done.returncode == 0, done.stderr
    seconds, result = map(float, done.stdout.split())
    assert seconds > 0
    assert result > 0


def test_importing_is_timed() -> None:
    assert ratio(1) > 0
