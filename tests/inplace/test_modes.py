"""Programs of views and writes mean the same eagerly, in every transform and over every library.

Each is drawn at random and run eagerly first, where `test_programs` compares it with a model that
never writes. Then the same steps are run on the arrays of a transform, or of another library.
Each has its number as its seed.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from inplace.programs import Ours, Program, Step, _too_large, _try
from rows import crossed

import arraygrad as ag
from arraygrad import func

BATCH = 20
FIRST = range(0, 100, BATCH)


class Drawn:
    """A program that runs eagerly to the end: its steps, what they start from, and its gradients.

    `is_local` says that it has no `no_grad()` in it, which transforms see in their own way.
    """

    def __init__(self, seed: int) -> None:
        program = Program(seed)
        self.start = program.start()
        self.steps: list[Step] = []
        self.is_local = True
        ours = Ours(self.start)
        first = [("fresh", 0, "scaled", None), ("fresh", 1, "scaled", None)]
        with np.errstate(all="ignore"):
            for turn in range(program.pick.randint(4, 16)):
                infos = [(t.shape, t.dtype.kind == "c") for t in ours.tensors]
                step = first[turn] if turn < 2 else program.step(infos)
                if step[0] in ("unary", "binary", "fresh") and _too_large(ours, step[1]):
                    continue
                if isinstance(_try(lambda step=step: ours.run(step)), Exception):  # type: ignore[misc]
                    continue
                self.steps.append(step)
                self.is_local &= step[0] in ("clone", "fresh", "detach") or not step[2]
            chosen = program.pick.sample(range(len(ours.tensors)), min(3, len(ours.tensors)))
            self.weights = {
                t: program.numbers.uniform(0.5, 1.5, ours.values(t).shape) for t in chosen
            }
            self.values = [ours.values(t) for t in range(len(ours.tensors))]
            self.gradients = _try(lambda: ours.gradients(self.weights, False))
        assert not isinstance(self.gradients, ag.errors.WrittenError)
        self.is_refused = isinstance(self.gradients, Exception)
        self.kinds = {str(part) for step in self.steps for part in step[:4]}

    def run(self, leaves: Any, lib: Any = None) -> Ours:
        """The program on arrays of a transform, or of another library."""
        replay = Replay(list(leaves), lib)
        for step in self.steps:
            replay.run(step)
        return replay

    def loss(self, *leaves: Any) -> Any:
        return self.run(leaves).loss(self.weights)

    def is_finite(self) -> bool:
        found = [*self.gradients, *self.values]
        return all(np.isfinite(a).all() and (np.abs(a) < 1e8).all() for a in found)


class Replay(Ours):
    """A program on given arrays."""

    def __init__(self, leaves: list[Any], lib: Any = None) -> None:
        self.numpy = lib
        super().__init__(leaves)

    def leaf(self, values: Any) -> Any:
        return values

    def constant(self, value: Any) -> Any:
        if self.numpy is None or not isinstance(value, np.ndarray):
            return value
        return self.numpy.asarray(value)

    def index(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return tuple(self.constant(part) for part in index)
        return self.constant(index)


def close(found: Any, expected: Any) -> None:
    scale = np.max(np.abs(expected), initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8 * scale)


# --- transforms ----------------------------------------------------------------------------------


def by_grad(drawn: Drawn) -> None:
    found = func.grad(drawn.loss, argnums=(0, 1))(*drawn.start)
    for one, expected in zip(found, drawn.gradients, strict=True):
        close(one, expected)


def by_jvp(drawn: Drawn) -> None:
    rng = np.random.default_rng(0)
    tangents = [rng.uniform(-1, 1, x.shape).astype(x.dtype) for x in drawn.start]
    _, found = func.jvp(drawn.loss, tuple(drawn.start), tuple(tangents))
    pairs = zip(drawn.gradients, tangents, strict=True)
    close(found, sum(np.sum(np.real(np.conj(g) * t)) for g, t in pairs))


def by_vmap(drawn: Drawn) -> None:
    """Over a batch axis at the front, in the middle, and at the end."""
    for place in (0, 1, -1):
        axes = tuple(min(place, x.ndim) for x in drawn.start)
        batches = [np.stack([x, x * 1.01], axis) for x, axis in zip(drawn.start, axes, strict=True)]
        found = func.vmap(func.grad(drawn.loss, argnums=(0, 1)), in_axes=axes)(*batches)
        for one, expected in zip(found, drawn.gradients, strict=True):
            close(one[0], expected)


def by_vjp_over_jvp(drawn: Drawn) -> None:
    """Two transforms in one another: the value must be the same, and so the first derivative."""
    rng = np.random.default_rng(1)
    tangents = tuple(rng.uniform(-1, 1, x.shape).astype(x.dtype) for x in drawn.start)

    def pushed(*leaves: Any) -> Any:
        return func.jvp(drawn.loss, leaves, tangents)[1]

    value, _ = func.vjp(pushed, *drawn.start)
    pairs = zip(drawn.gradients, tangents, strict=True)
    close(value, sum(np.sum(np.real(np.conj(g) * t)) for g, t in pairs))


def by_pattern(drawn: Drawn) -> None:
    """The sparse Jacobian is the dense one."""
    if any(x.dtype.kind == "c" or not x.size for x in drawn.start):
        return

    def results(x: Any) -> Any:
        first = ag.reshape(x[: drawn.start[0].size], drawn.start[0].shape)
        second = ag.reshape(x[drawn.start[0].size :], drawn.start[1].shape)
        made = drawn.run([first * 1.0, second * 1.0])
        parts = [ag.ravel(made.tensors[t] * made.constant(w)) for t, w in drawn.weights.items()]
        return ag.concat([ag.real(p) for p in parts])

    x = np.concatenate([a.ravel() for a in drawn.start])
    close(func.jacobian(results, sparse=True)(x).toarray(), func.jacfwd(results)(x))


# What detach() gives inside these is a plain array, which has no methods of a tensor.
FORWARD = ("jvp", "vjp of jvp", "sparse")

TRANSFORMS: dict[str, Callable[[Drawn], None]] = {
    "grad": by_grad,
    "jvp": by_jvp,
    "vmap": by_vmap,
    "vjp of jvp": by_vjp_over_jvp,
    "sparse": by_pattern,
}


def each(first: int, check: Callable[[Drawn], None], without: set[str]) -> int:
    """Check a batch of programs; returns how many there were."""
    count = 0
    with np.errstate(all="ignore"):
        for seed in range(first, first + BATCH):
            drawn = Drawn(seed)
            if drawn.is_refused or not drawn.is_local or drawn.kinds & without:
                continue
            if not drawn.is_finite():
                continue
            try:
                check(drawn)
            except Exception as error:
                # Where there is no memory to share, and where its order may not be NumPy's.
                if "written through detach()" in str(error) or "view or a copy" in str(error):
                    continue
                lines = "\n".join(map(str, drawn.steps))
                start = "\n".join(map(repr, drawn.start))
                raise AssertionError(f"program {seed}:\n{start}\n{lines}\n{error!r}") from error
            count += 1
    return count


@crossed(transform=TRANSFORMS, first=FIRST)
def test_in_a_transform(first: int, transform: str) -> None:
    without = {"detach"} if transform in FORWARD else set()
    count = each(first, TRANSFORMS[transform], without)
    assert count > 1


# --- libraries -----------------------------------------------------------------------------------


def by_library(name: str, drawn: Drawn) -> None:
    lib = importlib.import_module(name)
    leaves = [ag.tensor(lib.asarray(x), requires_grad=True) for x in drawn.start]
    made = drawn.run(leaves, lib)
    for t, expected in enumerate(drawn.values):
        close(np.asarray(made.tensors[t].detach().numpy()), expected)
    grads = ag.grad(made.loss(drawn.weights), leaves, materialize_grads=True)
    for one, expected in zip(grads, drawn.gradients, strict=True):
        close(np.asarray(one.numpy()), expected)


@contextmanager
def in_double_precision(library: str) -> Iterator[None]:
    """JAX has it only if it is switched on, for all of the process."""
    if library != "jax.numpy":
        yield
        return
    config = importlib.import_module("jax").config
    before = config.jax_enable_x64
    config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        config.update("jax_enable_x64", before)


@crossed(library=["array_api_strict", "torch", "jax.numpy", "dask.array"], first=FIRST)
def test_over_a_library(first: int, library: str) -> None:
    pytest.importorskip(library)
    warnings.filterwarnings("ignore", "Casting complex values to real")  # torch's
    with in_double_precision(library):
        count = each(
            first, lambda drawn: by_library(library, drawn), {"clamp_"}
        )  # of complex numbers
    assert count > 1
