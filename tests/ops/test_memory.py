"""What ops keep: nothing that grows with their use, and nothing of an op that is gone."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import func
from arraygrad.ops.shape import _concat, _stack

X = np.ones(3)


@pytest.mark.parametrize("join", [ag.stack, ag.concat])
def test_joining_any_number_of_arrays_keeps_nothing(join: Any) -> None:
    op = (_stack if join is ag.stack else _concat).op  # type: ignore[attr-defined]
    xs = [ag.tensor(X, requires_grad=True) for _ in range(60)]
    for n in range(10, 60):
        y = join(xs[:n])
        assert ag.grad(y.sum(), xs[n - 1]).tolist() == [1, 1, 1]
    assert len([p for p in op._pullbacks if len(p) > 8]) <= 8


def uses(f: Any) -> None:
    func.jvp(f, (X,), (X,))
    func.vmap(f)(np.ones((2, 3)))
    func.grad(lambda x: ag.sum(f(x)))(X)
    func.jacfwd(f)(X)


def test_ops_of_users_are_freed() -> None:
    def make() -> Any:
        @func.custom(vjp=lambda g: 2 * g, jvp=lambda t: 2 * t)
        def doubled(x: Any) -> Any:
            return 2 * x

        uses(doubled)
        names = doubled.__code__.co_freevars
        run = doubled.__closure__[names.index("run")].cell_contents
        return weakref.ref(run.op)

    held = make()
    gc.collect()
    assert held() is None


def test_compiled_functions_are_freed() -> None:
    pytest.importorskip("llvmlite")

    def f(x: Any) -> Any:
        return x * ag.sin(x)

    compiled = ag.compile(f)
    uses(compiled)
    held = weakref.ref(compiled)
    of_function = weakref.ref(f)
    del compiled, f
    gc.collect()
    assert held() is None
    assert of_function() is None
