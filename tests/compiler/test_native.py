"""Native code on other processors, without llvmlite, in threads and forks; and its memory."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import are_all_wanted

import arraygrad as ag
from arraygrad.compiler.llvm import native, objects
from arraygrad.compiler.run import memory, pool

TESTS = Path(__file__).parents[1]


def loss(x: Any) -> Any:
    return (ag.special.softmax(ag.sin(x), axis=1) * x).sum() + ag.tanh(x).mean()


@pytest.mark.parametrize("target", ["haswell", "generic"])
def test_other_processors(target: str, request: pytest.FixtureRequest) -> None:
    """AVX2, and the oldest processors: in a process of its own. A quick run takes few programs."""
    last = 212 if are_all_wanted(request.config) else 204
    code = (
        "from compiler.test_random import check\n"
        "from arraygrad.compiler.llvm.native import vector_bytes\n"
        f"assert vector_bytes() == {32 if target == 'haswell' else 16}\n"
        f"for seed in range(200, {last}):\n"
        "    check(seed)"
    )
    path = os.pathsep.join([str(TESTS), *sys.path])
    environment = os.environ | {"ARRAYGRAD_TARGET": target, "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_without_the_layout_of_objects() -> None:
    code = (
        "from compiler.test_random import check\n"
        "from arraygrad.compiler.llvm import objects\n"
        "assert objects.LAYOUT is None\n"
        "check(300), check(301)"
    )
    path = os.pathsep.join([str(TESTS), *sys.path])
    environment = os.environ | {"ARRAYGRAD_PORTABLE": "1", "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_the_layout_of_objects_is_known() -> None:
    if objects.LAYOUT is None:
        pytest.skip("not on this Python")
    assert objects.reference is id


def test_without_llvmlite() -> None:
    code = (
        "import sys; sys.modules['llvmlite'] = sys.modules['llvmlite.binding'] = None\n"
        "import numpy as np, arraygrad as ag\n"
        "try:\n    ag.compile(lambda x: x + 1)(np.ones(2))\n"
        "except ImportError as error:\n    assert 'arraygrad[compile]' in str(error)\n"
        "else:\n    raise AssertionError"
    )
    path = os.pathsep.join(sys.path)
    environment = os.environ | {"PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_equal_kernels_are_one() -> None:
    made = [ag.compile(lambda x: ag.cos(x) * 0.123456)(np.ones(7)) for _ in range(2)]
    np.testing.assert_array_equal(*made)
    kept = ag.compile(lambda x: ag.cos(x) * 0.654321)
    kept(np.ones(7))
    before = len(native._known)
    ag.compile(lambda y: ag.cos(y) * 0.654321)(np.ones(7))
    assert len(native._known) <= before


def test_threads_share_one_program() -> None:
    x = np.random.default_rng(0).normal(size=(200, 300))
    f = ag.compile(ag.func.value_and_grad(loss))
    wanted = f(x)
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(20):
            value, gradient = f(x)
            if value != wanted[0] or not np.array_equal(gradient, wanted[1]):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x = np.random.default_rng(0).normal(size=(900, 1100)).astype(np.float32)
    f = ag.compile(ag.func.value_and_grad(loss))
    before = ag.get_num_threads()
    found = []
    try:
        for number in (1, 2, 3):
            ag.set_num_threads(number)
            found.append(f(x))
    finally:
        ag.set_num_threads(before)
    for value, gradient in found[1:]:
        assert value == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])


def test_without_threads_in_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on other systems than Linux: Python's threads share the chunks of kernels."""
    x = np.random.default_rng(0).normal(size=(900, 1100))
    expected = ag.func.value_and_grad(loss)(x)
    monkeypatch.setattr(pool, "has_threads", lambda: False)
    before = ag.get_num_threads()
    try:
        ag.set_num_threads(3)
        found = ag.compile(ag.func.value_and_grad(loss))(x)
    finally:
        ag.set_num_threads(before)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_after_a_fork() -> None:
    """In a process of its own, without the threads of other tests."""
    code = (
        "import os, numpy as np, arraygrad as ag\n"
        "from compiler.test_native import loss\n"
        "x = np.random.default_rng(0).normal(size=(900, 1100))\n"
        "f = ag.compile(loss)\n"
        "wanted = f(x)  # starts the threads\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if f(x) == wanted else 1)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0"
    )
    path = os.pathsep.join([str(TESTS), *sys.path])
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": path})


def test_memory_is_flat() -> None:
    x = np.random.default_rng(0).normal(size=(40, 50))
    f = ag.compile(ag.func.value_and_grad(loss))
    for _ in range(20):
        f(x)
    tracemalloc.start()
    try:
        f(x)
        gc.collect()
        start = tracemalloc.get_traced_memory()[0]
        for _ in range(1000):
            f(x)
        gc.collect()  # also empties lists of free objects
        assert tracemalloc.get_traced_memory()[0] - start < 20_000
    finally:
        tracemalloc.stop()


def test_buffers_that_live_together_do_not_overlap() -> None:
    rng = np.random.default_rng(0)
    buffers = []
    for _ in range(60):
        first = int(rng.integers(0, 30))
        last = first + int(rng.integers(0, 6))
        shape = (int(rng.integers(1, 300)),)
        buffers.append(memory.Buffer(shape, np.dtype(np.float64), first, last))
    size = memory.arranged(buffers)
    for i, a in enumerate(buffers):
        assert a.offset % memory.ALIGNMENT == 0
        assert a.offset + a.size <= size
        for b in buffers[:i]:
            if a.first <= b.last and b.first <= a.last:
                assert a.offset + a.size <= b.offset or b.offset + b.size <= a.offset
    assert size < sum(b.size for b in buffers) / 3


def test_programs_share_memory() -> None:
    # The kernels are the same, which saves time: each function has a program of its own.
    compiled = [ag.compile(lambda x: ag.sum(ag.sort(ag.sin(x)))) for _ in range(39)]
    native = [ag.compile(lambda x: ag.cos(x - ag.sum(ag.sin(x)))) for _ in range(39)]
    x = np.linspace(0, 1, memory.LARGE // 8)
    for function in (*compiled, *native):
        for _ in range(2):
            function(x)
    held = {id(pool): pool.size for pool, ref in memory._idle if ref() is not None}
    assert sum(held.values()) <= memory.IDLE
    assert all(block.array.nbytes <= 1 << 27 for block in memory._shared.values())


def test_engines_in_a_cycle_are_closed_once() -> None:
    """The collector finalises all of a cycle. It must not come to LLVM's own object."""
    closed: list[bool] = []

    class Watched:
        def close(self) -> None:
            closed.append(True)

        __del__ = close

    engine = native.Engine("define void @f() {\n  ret void\n}", ["f"])
    native._engines[engine._number] = Watched()
    cycle: list[Any] = [engine]
    cycle.append(cycle)
    del engine, cycle
    gc.collect()
    assert not closed
