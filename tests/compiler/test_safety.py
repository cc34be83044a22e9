"""Interrupts, threads, memory over many calls, and processors that nobody knows."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraygrad as ag

TESTS = Path(__file__).parents[1]


def loss(x: Any) -> Any:
    return (ag.special.softmax(ag.sin(x), axis=1) * x).sum() + ag.tanh(x).mean()


def run(code: str, **environment: str) -> None:
    """Run code in a process of its own, which can be interrupted.

    The shell has a job in the background ignore interrupts, and so its children.
    """
    code = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n{code}"
    path = os.pathsep.join([str(TESTS), *sys.path])
    variables = os.environ | {"PYTHONPATH": path} | environment
    subprocess.run([sys.executable, "-c", code], check=True, env=variables, timeout=120)


@pytest.mark.parametrize(
    "function",
    ["ag.compile(ag.func.value_and_grad(loss))", "lambda x: (ag.special.expit(x), ag.exp(x))"],
    ids=["compiled", "eager"],
)
def test_interrupts(function: str) -> None:
    """Each leaves the threads usable, and later results right."""
    code = f"""
import _thread, threading, numpy as np, arraygrad as ag
from compiler.test_safety import loss
ag.set_num_threads(2)
x = np.random.default_rng(0).normal(size=(1000, 1100))
f = {function}
wanted = f(x)
caught = 0
for i in range(15):
    timer = threading.Timer(0.003 + 0.0007 * i, _thread.interrupt_main)
    try:
        timer.start()
        while True:
            f(x)
    except KeyboardInterrupt:
        caught += 1
    timer.join()
    for found, true in zip(f(x), wanted):
        np.testing.assert_array_equal(found, true)
assert caught == 15
"""
    run(code)


def test_threads_share_the_kernels_of_eager_mode() -> None:
    x = np.random.default_rng(0).normal(size=1_000_000)
    leaf = ag.tensor(x, requires_grad=True)

    def both() -> Any:
        y = ag.special.expit(leaf)
        return y.array, ag.grad(y * y, leaf, x).array

    wrong: list[int] = []
    wanted = both()

    def work() -> None:
        wrong.extend(1 for _ in range(5) if not all(map(np.array_equal, both(), wanted)))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("size", [3, 5_000])
def test_memory_over_ten_thousand_calls(size: int) -> None:
    """By the native entry point, and by Python."""
    resource = pytest.importorskip("resource")
    x = np.random.default_rng(0).normal(size=(2, size))
    f = ag.compile(ag.func.value_and_grad(loss))
    for _ in range(500):
        f(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(10_000 if size < 100 else 2_000):
        f(x)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 4096  # kilobytes


def test_an_unknown_processor() -> None:
    code = """
import llvmlite.binding as llvm
def unknown():
    raise RuntimeError("unknown")
llvm.get_host_cpu_features = unknown
from arraygrad.compiler.llvm import native
assert native._host() == ("generic", "", 16)
from compiler.test_random import check
check(400), check(401)
"""
    run(code)


def test_code_for_arm() -> None:
    """Vectors of 16 bytes become instructions of another processor, too; they are not run."""
    code = """
import llvmlite.binding as llvm, numpy as np, arraygrad as ag
from compiler.test_safety import loss
llvm.initialize_all_targets(), llvm.initialize_all_asmprinters()
try:
    target = llvm.Target.from_triple("aarch64-unknown-linux-gnu")
except RuntimeError:  # a binding without it
    raise SystemExit
machine = target.create_target_machine(cpu="generic", features="+neon", opt=2)
x = np.random.default_rng(0).normal(size=(40, 50))
i = np.arange(30)
for dtype in (np.float32, np.float64):
    for function in (
        ag.func.value_and_grad(loss),
        lambda x: ag.atan2(ag.log2(abs(x)), ag.special.ndtr(x)).max(axis=0),
        ag.func.grad(lambda x: (x[i] ** 2).sum()),
    ):
        text = ag.compile(function).llvm(x.astype(dtype))
        module = llvm.parse_assembly(text)
        module.verify()
        assembly = machine.emit_assembly(module)
        assert "fmla" in assembly and (".4s" in assembly or ".2d" in assembly)
"""
    run(code, ARRAYGRAD_TARGET="generic")
