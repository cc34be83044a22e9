from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frames import frames

import arraygrad as ag
from arraygrad.core.cpython import PORTABLE
from arraygrad.ops.define.op import Op, known_ops
from arraygrad.sweep.engine import Sweep

VALUES = np.linspace(0.1, 0.9, 1000)


def used(usages: Any) -> dict[str, tuple[int, int]]:
    return {u.name: (u.calls, u.backward_calls) for u in usages}


def test_ops_and_lines_are_counted_in_both_directions() -> None:
    x = ag.tensor(VALUES, requires_grad=True)
    with ag.profile() as p:
        for _ in range(3):
            y = ag.sin(x) * x
        z = y.sum()
        ag.grad(z, x)
    assert used(p.by_op()) == {"sin": (3, 1), "multiply": (3, 1), "sum": (1, 1)}
    of_sin = next(u for u in p.by_op() if u.name == "sin")
    assert of_sin.nbytes == 3 * VALUES.nbytes
    assert 0 < of_sin.seconds < p.seconds
    assert 0 < of_sin.backward_seconds < p.seconds
    if not PORTABLE:
        lines = {name.partition("  ")[2]: counts for name, counts in used(p.by_line()).items()}
        assert lines == {"y = ag.sin(x) * x": (6, 2), "z = y.sum()": (1, 1)}
    assert "sin" in str(p)
    assert "<td>sin</td>" in p._repr_html_()


def test_rules_and_kernels_inside_others_count_for_these() -> None:
    class Cube(ag.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x * x * g

    x = ag.tensor(VALUES, requires_grad=True)
    with ag.profile() as p:
        ag.grad(Cube.apply(x).sum(), x)
        ag.func.hessian(lambda v: ag.sum(ag.sin(v)))(VALUES[:4])
        q, r = ag.linalg.qr(x.reshape(25, 40))
        ag.grad(r.sum() + q.sum(), x)
    found = used(p.by_op())
    assert found["multiply"][1] == 0  # of the rule of Cube
    assert found["Cube"] == (0, 1)
    assert found["qr"] == (1, 1)
    assert not PORTABLE or all(u.name == "(not known)" for u in p.by_line())


def test_peak_is_what_lives_at_one_time() -> None:
    with ag.profile() as p:
        x = ag.negative(VALUES)
        y = ag.negative(x)
        del x
        for _ in range(5):
            y = ag.negative(y)
    assert p.peak == 2 * VALUES.nbytes
    assert sum(size for size, _, _ in p.at_peak()) == p.peak
    assert "negative" in str(p).partition("at the peak")[2]


def test_compiled_functions_are_ops_and_say_what_is_not_native() -> None:
    @ag.compile
    def ordered(x: Any) -> Any:
        return ag.sort(ag.tanh(x))

    x = ag.tensor(VALUES, requires_grad=True)
    with ag.profile() as p:
        for _ in range(2):
            ag.grad(ordered(x).sum(), x)
        ordered(VALUES)
    assert used(p.by_op()) == {"ordered (compiled)": (3, 2), "sum": (2, 2)}
    assert "argsort" in p.not_native()["ordered"][0]
    assert "argsort" in str(p)
    loop = ag.compile(lambda x: ag.func.fori_loop(0, 5, lambda i, c: ag.sin(c), x))
    with ag.profile() as p:
        loop(VALUES)
    assert p.not_native() == {}


def test_trace(tmp_path: Path) -> None:
    x = ag.tensor(VALUES, requires_grad=True)
    with ag.profile() as p:
        ag.grad(ag.sin(x).sum(), x)
        thread = threading.Thread(target=lambda: ag.cos(VALUES))
        thread.start()
        thread.join()
    p.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    found = [(e["name"], e["cat"]) for e in events]
    expected = [("sin", "forward"), ("sum", "forward"), ("sum", "backward"), ("sin", "backward")]
    assert found == [*expected, ("cos", "forward")]
    assert events[-1]["tid"] != events[0]["tid"]
    assert all(e["ph"] == "X" and e["ts"] >= 0 and e["dur"] >= 0 for e in events)


def test_nothing_is_left_when_it_is_off() -> None:
    def step() -> Any:
        x = ag.tensor(VALUES, requires_grad=True)
        return ag.grad((ag.sin(x) * x).sum(), x)

    def broken(g: Any) -> Any:
        raise ZeroDivisionError

    step()
    before = frames(step)[0], Op.kernel, Sweep.run, Sweep.newest_first
    x = ag.tensor(VALUES, requires_grad=True)
    y = ag.func.custom(vjp=broken)(ag.sin)(x)
    with ag.profile() as p:
        with pytest.raises(ZeroDivisionError) as error:
            ag.grad(y.sum(), x)
        step()
        with pytest.raises(RuntimeError, match="only one"), ag.profile():
            pass
    assert error.value.__traceback__ is not None  # it keeps the sweep that failed
    assert used(p.by_op())["multiply"] == (1, 1)
    step()
    assert before == (frames(step)[0], Op.kernel, Sweep.run, Sweep.newest_first)
    kernels = [k for op in known_ops() for k in [*op.kernels.values(), *op.table.values()]]
    assert not [k for k in kernels if "profile" in getattr(k, "__qualname__", "")]
