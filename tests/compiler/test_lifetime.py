"""Native code lives as long as anything can call it. Each program runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAMS = {
    "a guard flips, and flips back": """
        MODE = 0
        f = ag.compile(lambda x: x * 2.0 if MODE == 0 else ag.linalg.solve(ag.eye(5), x))
        x = np.arange(5.0)
        for MODE in (0, 1, 0):
            for _ in range(3):
                found = f(x)
            gc.collect()
            others = [ag.compile(lambda x, i=i: ag.sin(x) * i)(x) for i in range(5)]
            assert np.array_equal(found, x if MODE else x * 2)
        """,
    "the 65th signature": """
        warnings.simplefilter("ignore")
        f = ag.compile(lambda x: x * 2.0 + 1)
        x = np.arange(5.0)
        for i in range(100):
            f(float(i))
            gc.collect()
            assert np.array_equal(f(x), x * 2 + 1)
        """,
    "a thread runs while another traces again": """
        MODE = 0
        f = ag.compile(lambda x: ag.sin(x) * 2.0 if MODE == 0 else ag.cos(x) + 1)
        x = np.linspace(0, 1, 300_000)
        def call():
            for _ in range(60):
                f(x)
        threads = [threading.Thread(target=call) for _ in range(3)]
        for thread in threads:
            thread.start()
        for i in range(20):
            MODE = i % 2
            f(x)
            gc.collect()
        for thread in threads:
            thread.join()
        """,
    "the first call from several threads": """
        sys.setswitchinterval(1e-5)
        x = np.linspace(0, 1, 1000)
        together = threading.Barrier(16)
        def call():
            f = ag.compile(lambda x: x * 2.0)
            together.wait()
            for _ in range(10):
                f(x)
        threads = [threading.Thread(target=call) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """,
    "a thread with a small stack": """
        x = np.sin(np.arange(80_000.0)).reshape(4, 20_000)
        f = ag.compile(lambda x: ag.special.softmax(ag.sin(x) * ag.exp(x), axis=1))
        expected = f(x)
        threading.stack_size(1 << 16)
        found = []
        thread = threading.Thread(target=lambda: found.append(f(x)))
        thread.start()
        thread.join()
        assert np.array_equal(found[0], expected)
        """,
    "a function that is called after its compiled function has gone": """
        f = ag.compile(lambda x: ag.sin(x) * 2.0)
        x = np.arange(5.0)
        f(x), f(x)
        call, build = f._ways[0].call, f._ways[0].build
        del f
        gc.collect()
        others = [ag.compile(lambda x, i=i: ag.cos(x) * i)(x) for i in range(5)]
        found = call(x)
        found = found if build is None else build(found)
        assert np.array_equal(found, np.sin(x) * 2)
        """,
}


def run(*arguments: str) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    subprocess.run([sys.executable, *arguments], check=True, env=environment, timeout=300)


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_freed_while_it_can_be_called(name: str) -> None:
    lines = PROGRAMS[name].strip().splitlines()
    text = "\n".join([lines[0], *(line[8:] for line in lines[1:])])
    head = "import gc, sys, threading, warnings, numpy as np, arraygrad as ag\n"
    run("-X", "faulthandler", "-c", head + text)


def test_stress() -> None:
    """A short form of what runs for minutes before a release."""
    run("-m", "benchmarks.stress", "--tasks", "8", "--threads", "3")
