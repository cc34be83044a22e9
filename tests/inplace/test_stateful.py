"""The same steps as in `programs`, drawn by hypothesis, which looks for the shortest that fail."""

from __future__ import annotations

import gc
import importlib.util
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from inplace.programs import Comparison, Program

WITH_TORCH = importlib.util.find_spec("torch") is not None


@pytest.fixture(autouse=True)
def unfrozen() -> Iterator[None]:
    """Let the garbage collector see all objects: hypothesis asks it who refers to them."""
    gc.unfreeze()
    yield
    gc.freeze()


class Writing(RuleBasedStateMachine):
    """Tensors that are looked at, written, and differentiated in between."""

    @initialize(seed=st.integers(0, 2**32 - 1))
    def start(self, seed: int) -> None:
        self.comparison = Comparison(Program(seed).start(), WITH_TORCH)
        for leaf in (0, 1):
            self.comparison.run(("fresh", leaf, "scaled", None))

    @rule(seed=st.integers(0, 2**32 - 1))
    def step(self, seed: int) -> None:
        if len(self.comparison.ours.tensors) < 12:
            step = Program(seed).step(self.comparison.infos())
            values = self.comparison.ours.values(step[1])
            if not values.size or 1e-3 < np.abs(values).min() <= np.abs(values).max() < 20:
                self.run(lambda: self.comparison.run(step))

    @rule(seed=st.integers(0, 2**32 - 1))
    def differentiate(self, seed: int) -> None:
        numbers = np.random.default_rng(seed)
        infos = self.comparison.infos()
        chosen = numbers.choice(len(infos), min(3, len(infos)), replace=False)
        weights = {int(t): numbers.uniform(0.5, 1.5, infos[t][0]) for t in chosen}
        self.run(lambda: self.comparison.check(weights, bool(seed % 3 == 0)))

    def run(self, function: Any) -> None:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # torch's, about casts
            function()


Writing.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
test_writing = Writing.TestCase
