"""Random programs, compiled, agree with eager; and no kernel writes outside of its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compiler.random_programs import RandomProgram
from rows import numbered, over

import arraygrad as ag
from arraygrad.compiler.run import executable, memory

GUARD = 256
MARK = 0xA5


def guarded(shape: tuple[int, ...], dtype: Any, kept: list[Any]) -> Any:
    """An array with marked memory before and after it."""
    size = int(np.prod(shape)) * dtype.itemsize
    whole = np.full(size + 2 * GUARD + 64, MARK, np.uint8)
    start = GUARD + -(whole.__array_interface__["data"][0] + GUARD) % 64
    kept.append((whole, start, size))
    return np.ndarray(shape, dtype, whole, start)


def untouched(kept: list[Any]) -> bool:
    return all(
        (whole[:start] == MARK).all() and (whole[start + size :] == MARK).all()
        for whole, start, size in kept
    )


@pytest.fixture
def guards(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """All memory of programs, between marks."""
    kept: list[Any] = []

    def array(self: Any, buffer: Any) -> Any:
        found = guarded(buffer.shape, buffer.dtype, kept)
        if found.dtype.kind == "f":
            found.fill(np.nan)  # what is read before it is written shows
        return found

    monkeypatch.setattr(memory.Memory, "array", array)
    monkeypatch.setattr(executable, "new_array", lambda s, d: guarded(s, d, kept))
    return kept


def agree(found: Any, wanted: Any, dtype: Any) -> None:
    tolerance = 2e-3 if dtype is np.float32 else 1e-9
    for a, b in zip(found, wanted, strict=True):
        a, b = (np.asarray(v.detach() if isinstance(v, ag.Tensor) else v) for v in (a, b))
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def check(seed: int) -> None:
    program = RandomProgram(seed)
    arrays = program.arrays
    smooth = tuple(i for i, a in enumerate(arrays) if a.dtype.kind == "f")
    with np.errstate(all="ignore"):
        agree(ag.compile(program)(*arrays), program(*arrays), program.dtype)
        if smooth:
            gradient = ag.func.grad(program.total, argnums=smooth)
            compiled = ag.compile(gradient)
            wanted = gradient(*arrays)
            for _ in range(2):  # the second call uses the memory of the first
                agree(compiled(*arrays), wanted, program.dtype)


@over("seed", numbered(60), first=3)
def test_random_programs(seed: int) -> None:
    check(seed)


@over("seed", numbered(100, 160), first=3)
def test_no_kernel_writes_outside(seed: int, guards: list[Any]) -> None:
    check(seed)
    assert untouched(guards)
