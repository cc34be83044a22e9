"""An interrupt at any point leaves no mode, sweep or lock behind, and no wrong number follows.

A level may stay. Transforms that follow then have higher levels, which does no harm.
"""

from __future__ import annotations

import contextvars
import gc
import random
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd import accumulation, forward_ad
from arraygrad.core import modes, nodes
from arraygrad.func import checkpoint, grad, hessian, jacfwd, jacrev, jvp, vmap
from arraygrad.ops.padding import WARN_FALLBACK
from arraygrad.sweep.engine import current_sweep

X = np.array([1.0, 2.0])


def state() -> tuple[Any, ...]:
    """All that could stay behind."""
    return (
        modes.current_modes(),
        nodes.RECORDER.get(),
        current_sweep(),
        WARN_FALLBACK.get(),
        accumulation._accumulating._is_owned(),  # type: ignore[attr-defined]
    )


def numbers(found: Any) -> list[Any]:
    """The results of some work, as lists that can be compared."""
    return [np.asarray(array).tolist() for array in found]


def f(x: Any) -> Any:
    return (ag.sin(x) * x**3).sum()


def modes_nested() -> Any:
    x = ag.tensor(X, requires_grad=True)
    for _ in range(3):
        with ag.no_grad(), ag.enable_grad(), ag.inference_mode(), ag.autograd.detect_anomaly():
            f(x)
        with ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            y = f(x)
        gradient = ag.grad(y, x)
    return gradient


def decorated() -> Any:
    @ag.no_grad()
    def plain() -> Any:
        return f(X)

    @ag.no_grad
    def steps() -> Any:
        for _ in range(3):
            with ag.enable_grad():
                yield f(X)

    for _ in range(3):
        found = [plain(), *steps()]
    return found


def sweeps() -> Any:
    x = ag.tensor(X, requires_grad=True)
    x.register_hook(lambda g: g * 1)
    y = ag.grad(f(x), x, create_graph=True)
    y.sum().backward()
    for _ in range(5):
        x.sum().backward()
    return x.grad, ag.grad(checkpoint(f)(x), x)


def transforms() -> Any:
    return (
        hessian(f)(X),
        vmap(grad(f))(np.stack([X, X])),
        jacrev(jacfwd(lambda x: x * x))(X),
        *jvp(grad(f), (X,), (X,)),
    )


def duals() -> Any:
    with forward_ad.dual_level(), forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(X, X)))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
# Python drops what is raised where an object goes, also an interrupt, with no more than a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("work", [modes_nested, decorated, sweeps, transforms, duals])
def test_interrupts(work: Callable[[], Any]) -> None:
    contextvars.copy_context().run(interrupt, work)  # levels stay in it


def interrupt(work: Callable[[], Any]) -> None:
    """Interrupt some work at random times."""
    expected = numbers(work())  # fills tables
    before = state()
    start = time.perf_counter()
    for _ in range(5):
        work()
    length = (time.perf_counter() - start) / 5
    rng = random.Random(0)
    interrupted = 0
    gc.collect()
    errors = np.geterr()  # which NumPy's errstate may leave behind
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for attempt in range(6000):
            if attempt >= 600 and interrupted > 100:
                break
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, length))
                    found = work()
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
            else:  # the work was over before: it takes less time than was measured
                length = max(0.995 * length, 5e-6)
                assert numbers(found) == expected
            assert state() == before
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        np.seterr(**errors)
    assert interrupted > 100
    assert numbers(work()) == expected
