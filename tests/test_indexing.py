"""Random indices of every kind, against NumPy: values, gradients and batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rows import numbered, over

import arraygrad as ag
from arraygrad.arrays.batched import batched_type
from arraygrad.arrays.tensor import tensor_type_at
from arraygrad.core.array import plain

_SIZE = 3
Key = tuple[Any, ...]
batched = batched_type(1.0)


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> Key:
    """Integers, slices, None, `...` and integer arrays that broadcast, in any order."""
    smallest = min(shape)
    common = tuple(rng.integers(1, 3, rng.integers(0, 3)))
    parts: list[Any] = []
    used = 0
    while used < len(shape) and rng.random() < 0.85:
        kind = rng.random()
        if kind < 0.1 and not any(part is Ellipsis for part in parts):
            parts.append(Ellipsis)
            used += int(rng.integers(0, len(shape) - used + 1))
            continue
        if kind < 0.2:
            parts.append(None)
            continue
        used += 1
        if kind < 0.4:
            parts.append(int(rng.integers(-smallest, smallest)))
        elif kind < 0.6:
            ends = [None if rng.random() < 0.4 else int(rng.integers(-5, 5)) for _ in range(2)]
            parts.append(slice(*ends, int(rng.choice([-2, -1, 1, 2]))))
        else:
            own = common[int(rng.integers(0, len(common) + 1)) :]
            own = tuple(1 if rng.random() < 0.3 else int(n) for n in own)
            parts.append(rng.integers(-smallest, smallest, own))
    return tuple(parts)


def added(shape: tuple[int, ...], key: Key, g: Any) -> Any:
    """What the gradient must be."""
    out = np.zeros(shape)
    np.add.at(out, key, g)
    return out


def random_index(seed: int) -> tuple[np.random.Generator, Any, Key]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(tuple(map(int, rng.integers(1, 4, rng.integers(1, 5)))))
    return rng, x, random_key(rng, x.shape)


@over("seed", numbered(300), first=3)
def test_values_and_gradients(seed: int) -> None:
    rng, x, key = random_index(seed)
    leaf = ag.asarray(x).requires_grad_()
    out = leaf[key]
    np.testing.assert_array_equal(out.detach().array, x[key])
    g = rng.standard_normal((_SIZE, *out.shape))
    single = ag.grad(out, leaf, g[0], retain_graph=True)
    np.testing.assert_allclose(single.array, added(x.shape, key, g[0]))
    together = ag.grad(out, leaf, g, is_grads_batched=True)
    for k in range(_SIZE):
        np.testing.assert_allclose(together.array[k], added(x.shape, key, g[k]))


@over("seed", numbered(300), first=3)
def test_batches(seed: int) -> None:
    """A batch of arrays, with the same index for all or with index arrays of their own."""
    rng, x, key = random_index(seed)
    xs = rng.standard_normal((_SIZE, *x.shape))
    smallest = min(x.shape)
    mixed, keys = list(key), [list(key) for _ in range(_SIZE)]
    for place, part in enumerate(key):
        if isinstance(part, np.ndarray) and rng.random() < 0.6:
            own = rng.integers(-smallest, smallest, (_SIZE, *part.shape))
            mixed[place] = batched(own)
            for k in range(_SIZE):
                keys[k][place] = own[k]
    expected = np.stack([xs[k][tuple(keys[k])] for k in range(_SIZE)])
    np.testing.assert_array_equal(plain(batched(xs)[tuple(mixed)]), expected)

    leaf = tensor_type_at(1.5)(batched(xs)).requires_grad_()
    g = rng.standard_normal(expected.shape)
    gradient = plain(ag.grad(leaf[tuple(mixed)], leaf, batched(g)))
    for k in range(_SIZE):
        np.testing.assert_allclose(gradient[k], added(x.shape, tuple(keys[k]), g[k]))


@pytest.mark.parametrize("index", [0, slice(0, 2), np.array([0, 0]), np.array([True, False, True])])
def test_what_was_read_is_not_added_to_the_cotangent_of_another_array(index: Any) -> None:
    x, y = (ag.tensor(np.ones(3), requires_grad=True) for _ in range(2))
    part, seed = x[index], np.ones(3)
    given = np.full(part.shape, 5.0)
    of_x, of_y = ag.grad([x + y, part], [x, y], [seed, given])  # both get `seed` itself first
    expected = np.ones(3)
    np.add.at(expected, index, given)
    np.testing.assert_array_equal(of_x, expected)
    np.testing.assert_array_equal(of_y, np.ones(3))
    np.testing.assert_array_equal(seed, np.ones(3))


@over("seed", numbered(-1, 100), first=3)
@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_libraries(library: str, seed: int) -> None:
    """As NumPy has it, also where the library has another order of axes, or no such index."""
    xp = pytest.importorskip(library)
    rng, x, key = random_index(abs(seed))
    if seed < 0:
        x, places = rng.standard_normal((2, 3)), np.array([0, 1, 1, 0])
        key = (None, places, ..., places)
    ours = tuple(xp.asarray(part) if isinstance(part, np.ndarray) else part for part in key)
    leaf = ag.asarray(xp.asarray(x)).requires_grad_()
    out = leaf[ours]
    np.testing.assert_array_equal(np.asarray(out.detach().array), x[key])
    g = rng.standard_normal(out.shape)
    gradient = ag.grad(out, leaf, xp.asarray(g)).array
    np.testing.assert_allclose(np.asarray(gradient), added(x.shape, key, g))
