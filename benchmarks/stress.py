"""Compiled functions under stress: threads, eviction, new traces, interrupts, garbage collection.

    python -m benchmarks.stress --seconds 300

Threads call the same compiled functions with other shapes, change what the functions read from
outside, make and drop functions, and differentiate them, while another thread collects garbage and
the main thread is interrupted. Each result is compared with NumPy's. A crash ends the process.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import importlib
import itertools
import random
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import arraygrad as ag

mode = 0.0  # what `_switched` reads from outside; any thread may change it
SMALL, LONG = 200, 400_000  # lengths: of many signatures, and of work for several threads


@ag.compile
def _switched(x: Any) -> Any:
    if mode == 2.0:  # this one has no native entry point
        return ag.linalg.solve(2.0 * ag.eye(2), x[:2])
    return ag.sin(x) * mode + x


@ag.compile
def _many_shapes(x: Any) -> Any:
    return ag.exp(-x) * (x + 1)


@ag.compile
def _loop(x: Any) -> Any:
    return ag.func.scan(lambda c, y: (ag.tanh(c + y), c), x[0], x)


@ag.compile
def _lines(x: Any) -> Any:
    return ag.special.softmax(ag.sin(x) * 3, axis=1)


def _close(found: Any, *expected: Any) -> None:
    """Check that a result is one of those that it may be."""
    found = np.asarray(found)
    for one in expected:
        if found.shape == one.shape and np.allclose(found, one, rtol=1e-9, atol=1e-12):
            return
    raise AssertionError(f"a wrong result of shape {found.shape}")


def _switch(rng: random.Random) -> None:
    global mode
    x = np.linspace(0.0, 1.0, LONG if rng.random() < 0.2 else 5)
    mode = rng.choice([0.0, 1.0, 2.0])
    _close(_switched(x), x, np.sin(x) + x, x[:2] / 2)


def _other_shape(rng: random.Random) -> None:
    x = np.linspace(0.0, 1.0, rng.randrange(2, SMALL))
    _close(_many_shapes(x), np.exp(-x) * (x + 1))


def _gradient(rng: random.Random) -> None:
    x = ag.tensor(np.linspace(0.0, 1.0, rng.randrange(2, SMALL)), requires_grad=True)
    _close(ag.grad(_many_shapes(x).sum(), x).array, -np.exp(-x.array) * x.array)


def _new_function(rng: random.Random) -> None:
    factor = rng.random()
    x = np.linspace(0.0, 1.0, rng.choice([3, 1000, LONG]))
    function = ag.compile(lambda x: ag.cos(x) * factor - x)
    for _ in range(rng.randrange(1, 4)):
        _close(function(x), np.cos(x) * factor - x)


def _scan(rng: random.Random) -> None:
    x = np.linspace(0.0, 1.0, rng.randrange(2, 40))
    state, rows = x[0], []
    for y in x:
        rows.append(state)
        state = np.tanh(state + y)
    last, found = _loop(x)
    _close(last, np.asarray(state))
    _close(found, np.asarray(rows))


def _long_lines(rng: random.Random) -> None:
    x = np.linspace(0.0, 1.0, 3 * 9000).reshape(3, 9000)
    e = np.exp(np.sin(x) * 3)
    _close(_lines(x), e / e.sum(axis=1, keepdims=True))


def _large_in_eager_mode(rng: random.Random) -> None:
    x = ag.tensor(np.linspace(0.0, 1.0, 800_000), requires_grad=True)
    _close(ag.grad((ag.sin(x) * 1.1).sum(), x).array, 1.1 * np.cos(x.array))


WORK: list[Callable[[random.Random], None]] = [
    _switch,
    _other_shape,
    _gradient,
    _new_function,
    _scan,
    _long_lines,
    _large_in_eager_mode,
]


class Stress:
    """Threads that work until they have done enough, or one of them has failed."""

    def __init__(self, goes_on: Callable[[int], bool]) -> None:
        self.goes_on = goes_on
        self.counts: Counter[str] = Counter()
        self.errors: list[BaseException] = []
        self._is_armed = False

    def work(self, seed: int) -> None:
        """What each thread does."""
        rng = random.Random(seed)
        for i in itertools.count():
            if self.errors or not self.goes_on(i):
                return
            task = rng.choice(WORK)
            try:
                task(rng)
                self.counts[task.__name__.strip("_")] += 1
            except KeyboardInterrupt:
                self.counts["interrupts"] += 1
            except BaseException as error:
                self.errors.append(error)

    def run(self, threads: int) -> None:
        """Work in several threads; the main one is interrupted."""
        before = signal.signal(signal.SIGINT, self._interrupt)
        others = [threading.Thread(target=self.work, args=(i,)) for i in range(1, threads)]
        done = threading.Event()
        helpers = [threading.Thread(target=f, args=(done,)) for f in (_collect, _interrupt_main)]
        try:
            for thread in (*others, *helpers):
                thread.start()
            self._is_armed = True
            self.work(0)
        finally:
            self._is_armed = False
            for thread in others:
                thread.join()
            done.set()
            for thread in helpers:
                thread.join()
            signal.signal(signal.SIGINT, before)
        if self.errors:
            raise self.errors[0]

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        # Not outside of a task, where nobody would catch it.
        while frame is not None:
            if frame.f_code in _CODES:
                if self._is_armed:
                    raise KeyboardInterrupt
                return
            frame = frame.f_back


_CODES = {task.__code__ for task in WORK}  # type: ignore[attr-defined]


def _collect(done: threading.Event) -> None:
    while not done.wait(0.003):
        gc.collect()


def _interrupt_main(done: threading.Event) -> None:
    rng, pause = random.Random(0), 0.05
    while not done.wait(rng.random() * pause):
        signal.raise_signal(signal.SIGINT)
        pause = min(1.1 * pause, 2.0)  # on a slow machine, too, a task comes to its end


def main() -> None:
    """Run for some time, or a number of tasks in each thread."""
    parser = argparse.ArgumentParser(description="Stress compiled functions")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--tasks", type=int, help="tasks of each thread, instead of a time")
    parser.add_argument("--threads", type=int, default=6)
    chosen = parser.parse_args()
    faulthandler.enable()
    # The shell has a job in the background ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")  # compiled for many signatures
    # An interrupt in the middle of an import leaves Python's own lock of imports held.
    importlib.import_module("optree")
    importlib.import_module("arraygrad.compiler.run.eager")
    importlib.import_module("llvmlite.binding")
    sys.setswitchinterval(1e-4)
    end = time.monotonic() + chosen.seconds
    if chosen.tasks is None:
        stress = Stress(lambda i: time.monotonic() < end)
    else:
        stress = Stress(lambda i: i < chosen.tasks)
    stress.run(chosen.threads)
    print(dict(stress.counts))


if __name__ == "__main__":
    main()
