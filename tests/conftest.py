"""What all tests share: the parameters that run a test over the table of samples, and a leaf."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Any

import pytest
from samples import SAMPLES, Sample

import arraygrad as ag

# Modules of tables and tools, which pytest would import a second time in its search for doctests.
collect_ignore_glob = ["samples*.py", "backend_table.py", "dask_arrays.py", "fake_cupy.py"]
collect_ignore_glob += ["scipy_checks.py"]
collect_ignore_glob += ["standard/scipy_cases.py", "standard/sklearn_cases.py"]

# A test gets the samples its checks make sense for, by the name of its parameter; `..._case` is a
# pair of a sample and whether to run it with complex numbers.
_CHOSEN: dict[str, Callable[[Sample], bool]] = {
    "": lambda sample: True,
    "smooth_": lambda sample: sample.differentiable,
    "smooth_complex_": lambda sample: sample.differentiable and sample.complex,
    "smooth_batch_": lambda sample: sample.differentiable and sample.batch,
    "constant_": lambda sample: not sample.differentiable,
    "batch_": lambda sample: sample.batch,
    "torch_": lambda sample: bool(sample.torch),
}
# For a quick look, as with other versions of what arraygrad needs: see CONTRIBUTING.md.
FEW_ROWS = bool(os.environ.get("ARRAYGRAD_FEW_ROWS"))
_FIRST = list({sample.op: sample for sample in reversed(SAMPLES)}.values())[::-1]


@pytest.fixture
def x() -> ag.Tensor:
    """Three numbers to differentiate with respect to, where others would do as well."""
    return ag.tensor([1.0, 2.0, 3.0], requires_grad=True)


@pytest.fixture
def nothing_escaped() -> None:
    """Let go of arrays that earlier tests have left: a transform keeps away from their levels."""
    gc.collect()


def pytest_generate_tests(metafunc: Any) -> None:
    """Run a test that takes a sample or case over the table."""
    for prefix, choose in _CHOSEN.items():
        chosen = [s for s in (_FIRST if FEW_ROWS else SAMPLES) if choose(s)]
        if f"{prefix}sample" in metafunc.fixturenames:
            metafunc.parametrize(f"{prefix}sample", chosen, ids=str)
        if f"{prefix}case" in metafunc.fixturenames:
            cases = [(s, c) for s in chosen for c in (False, True) if s.complex or not c]
            if prefix == "torch_":
                cases = [(s, c) for s, c in cases if c or s.torch != "complex"]
            names = [f"{s}{' complex' * c}" for s, c in cases]
            metafunc.parametrize(f"{prefix}case", cases, ids=names)
