"""What all tests share: the parameters that run a test over the table of samples, and a leaf."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rows import Row, parametrize
from samples import SAMPLES, Sample, cases_of

import arraygrad as ag
from arraygrad.backends.numpy import native

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


@pytest.fixture
def x() -> ag.Tensor:
    """Three numbers to differentiate with respect to, where others would do as well."""
    return ag.tensor([1.0, 2.0, 3.0], requires_grad=True)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt, also where the shell has the tests ignore it, as in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _leave_to_numpy(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(native.Entries, "__call__", lambda entries, *arguments: NotImplemented)
    patch.setattr(native.Lines, "__call__", lambda lines, *call: NotImplemented)
    patch.setattr(native, "piece", lambda *call: (None, []))


@pytest.fixture
def only_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let NumPy compute what native code would."""
    _leave_to_numpy(monkeypatch)


@pytest.fixture
def by_numpy() -> Callable[[Callable[[], Any]], Any]:
    """Call a function without native code."""

    def call(function: Callable[[], Any]) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            _leave_to_numpy(patch)
            return function()

    return call


@pytest.fixture
def nothing_escaped() -> None:
    """Let go of arrays that earlier tests have left: a transform keeps away from their levels."""
    gc.collect()


def pytest_generate_tests(metafunc: Any) -> None:
    """Run a test that takes a sample or case, and has no table of its own, over the table."""
    if metafunc.definition.get_closest_marker("rows"):
        return
    for prefix, choose in _CHOSEN.items():
        if f"{prefix}sample" in metafunc.fixturenames:
            rows = [Row(s.op, str(s), s, s.variant) for s in SAMPLES if choose(s)]
            parametrize(metafunc, f"{prefix}sample", rows)
        if f"{prefix}case" in metafunc.fixturenames:
            rows = cases_of(s for s in SAMPLES if choose(s))
            if prefix == "torch_":
                rows = [row for row in rows if row.value[1] or row.value[0].torch != "complex"]
            parametrize(metafunc, f"{prefix}case", rows)
