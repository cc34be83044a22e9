"""Calls with arguments drawn at random, beside array-api-strict: shapes, axes, dtypes and indices.

What array-api-strict refuses is outside the standard, and not compared.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import arraygrad as ag

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
REAL = [*INTEGERS, *FLOATS]
NUMBERS = [*REAL, *COMPLEX]
ALL = ["bool", *NUMBERS]


class Draw:
    """Random shapes, arrays, axes and indices."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        least = int(self.rng.random() > 0.1)
        lengths = self.rng.integers(least, 5, size=self.rng.integers(0, 4))
        self.shape: tuple[int, ...] = tuple(lengths.tolist())

    def one_of(self, choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def array(self, dtypes: list[str], shape: Any = None, special: bool = True) -> Any:
        rng, dtype = self.rng, self.one_of(dtypes)
        shape = self.shape if shape is None else shape
        if dtype == "bool":
            return np.asarray(rng.random(shape) < 0.5)
        if "int" in dtype:
            return np.asarray(rng.integers(0 if dtype[0] == "u" else -5, 6, size=shape), dtype)

        def floats() -> Any:
            values = rng.integers(-4, 5, size=shape) / 2 + rng.integers(2) * rng.normal(size=shape)
            odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])[rng.integers(0, 5, size=shape)]
            return np.where(rng.random(shape) < 0.2 * special, odd, values)

        if dtype not in COMPLEX:
            return np.asarray(floats(), dtype)
        return np.stack([floats(), floats()], axis=-1).view(np.complex128)[..., 0].astype(dtype)

    def axis(self) -> int:
        self.shape = self.shape or (3,)
        return int(self.rng.integers(-len(self.shape), len(self.shape)))

    def axes(self) -> Any:
        some = self.rng.permutation(len(self.shape))[: self.rng.integers(0, len(self.shape) + 1)]
        return self.one_of([None, self.axis(), tuple(some.tolist())])

    def narrower(self) -> tuple[int, ...]:
        """A shape that broadcasts to the drawn one."""
        kept = tuple(1 if self.rng.random() < 0.3 else n for n in self.shape)
        return kept[self.rng.integers(0, len(kept) + 1) :]

    def key(self) -> Any:
        def part(n: int) -> Any:
            if n and self.rng.random() < 0.35:
                return int(self.rng.integers(-n, n))
            ends = [self.one_of([None, int(self.rng.integers(-n, n + 1))]) for _ in range(2)]
            return slice(*ends, self.one_of([None, 1, 2, -1, -2, 3]))

        parts = [part(n) for n in self.shape]
        if self.rng.random() < 0.3:
            i = int(self.rng.integers(0, len(parts) + 1))
            parts[i : self.rng.integers(i, len(parts) + 1)] = [Ellipsis]
        if self.rng.random() < 0.3:
            parts.insert(int(self.rng.integers(0, len(parts) + 1)), None)
        return tuple(parts)


def compare(call: Callable[..., Any], *arrays: Any) -> None:
    results = []
    for space in (strict, ag):
        made = [space.asarray(a.copy()) for a in arrays]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                results.append(call(space, *made))
            except (TypeError, ValueError, IndexError, OverflowError):
                if space is strict:
                    return
                raise
    assert_same(results[1], results[0])


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert isinstance(found, tuple)
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b)
        return
    assert isinstance(found, ag.Tensor)
    wanted = np.asarray(expected._array)
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    small = wanted.dtype in (np.float32, np.complex64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-4 if small else 1e-10)


# Each draws arguments, and gives the call and the arrays to compare it on.
Random = Callable[[Draw], tuple[Any, ...]]
RANDOM: dict[str, Random] = {}


def drawn(function: Random) -> Random:
    RANDOM[function.__name__] = function
    return function


@drawn
def reading(d: Draw) -> tuple[Any, ...]:
    key = d.key()
    return lambda xp, x: x[key], d.array(ALL)


@drawn
def writing(d: Draw) -> tuple[Any, ...]:
    key, x = d.key(), d.array(ALL)
    shape = d.one_of([x[key].shape, (1,) * x[key].ndim, ()])
    return lambda xp, x, v: (operator.setitem(x, key, v), x)[1], x, d.array(ALL, shape)


@drawn
def masks(d: Draw) -> tuple[Any, ...]:
    return (
        lambda xp, x, m, v: (x[m], operator.setitem(x, m, v), x)[::2],
        d.array(ALL),
        d.array(["bool"]),
        d.array(ALL, ()),
    )


@drawn
def places(d: Draw) -> tuple[Any, ...]:
    shape = d.one_of([(3,), (2, 3), ()])
    some = [d.rng.integers(-n, n, size=shape) if n else np.zeros(shape, int) for n in d.shape]
    return lambda xp, x, *i: x[i], d.array(ALL), *map(np.asarray, some)


@drawn
def reductions(d: Draw) -> tuple[Any, ...]:
    name = d.one_of("sum prod max min mean all any count_nonzero".split())
    dtypes = {"mean": [*FLOATS, *COMPLEX], "max": REAL, "min": REAL}.get(name, NUMBERS)
    axes, keep = d.axes(), bool(d.rng.integers(2))
    return lambda xp, x: getattr(xp, name)(x, axis=axes, keepdims=keep), d.array(dtypes)


@drawn
def spreads(d: Draw) -> tuple[Any, ...]:
    name, correction = d.one_of(["var", "std"]), d.one_of([0.0, 0.5, 1.0])
    axes = d.axes()
    return lambda xp, x: getattr(xp, name)(x, axis=axes, correction=correction), d.array(FLOATS)


@drawn
def running(d: Draw) -> tuple[Any, ...]:
    name, first = d.one_of(["cumulative_sum", "cumulative_prod"]), bool(d.rng.integers(2))
    dtype, axis = d.one_of([None, *NUMBERS]), d.axis()
    return (
        lambda xp, x: getattr(xp, name)(
            x, axis=axis, include_initial=first, dtype=dtype and getattr(xp, dtype)
        ),
        d.array(NUMBERS, special=False),
    )


@drawn
def order(d: Draw) -> tuple[Any, ...]:
    name = d.one_of(["sort", "argsort"])
    axis, down = d.axis(), bool(d.rng.integers(2))
    return lambda xp, x: getattr(xp, name)(x, axis=axis, descending=down), d.array(REAL)


@drawn
def extremes(d: Draw) -> tuple[Any, ...]:
    name, axis = d.one_of(["argmax", "argmin"]), d.one_of([None, d.axis()])
    return lambda xp, x: getattr(xp, name)(x, axis=axis, keepdims=True), d.array(REAL)


@drawn
def sets(d: Draw) -> tuple[Any, ...]:
    name = d.one_of("unique_counts unique_inverse unique_all".split())
    return lambda xp, x: tuple(getattr(xp, name)(x)), d.array(["bool", *INTEGERS])


@drawn
def arranging(d: Draw) -> tuple[Any, ...]:
    axis, axes = d.axis(), d.axes()
    order = tuple((d.rng.permutation(len(d.shape)) - len(d.shape) * d.rng.integers(2)).tolist())
    calls: list[Callable[[Any, Any], Any]] = [
        lambda xp, x: xp.flip(x, axis=axes),
        lambda xp, x: xp.roll(x, 3, axis=axis),
        lambda xp, x: xp.roll(x, -2),
        lambda xp, x: xp.repeat(x, 2, axis=axis),
        lambda xp, x: xp.tile(x, (2, 1, 2)),
        lambda xp, x: xp.unstack(x, axis=axis),
        lambda xp, x: xp.expand_dims(x, axis=axis),
        lambda xp, x: xp.permute_dims(x, order),
        lambda xp, x: xp.moveaxis(x, axis, 0),
        lambda xp, x: xp.reshape(x, (-1,)),
        lambda xp, x: xp.tril(x, k=1) if x.ndim > 1 else x,
        lambda xp, x: xp.nonzero(x),
    ]
    return d.one_of(calls), d.array(ALL)


@drawn
def joining(d: Draw) -> tuple[Any, ...]:
    name, axis = d.one_of(["concat", "stack"]), d.axis()
    return lambda xp, *x: getattr(xp, name)(x, axis=axis), d.array(REAL), d.array(REAL)


@drawn
def pairs(d: Draw) -> tuple[Any, ...]:
    kinds = {
        "add subtract multiply equal": NUMBERS,
        "divide": FLOATS,
        "maximum minimum less greater_equal": REAL,
        "atan2 hypot logaddexp copysign nextafter": FLOATS,
        "bitwise_and bitwise_xor": ["bool", *INTEGERS],
    }
    names = d.one_of(list(kinds))
    name, special = d.one_of(names.split()), kinds[names] is not NUMBERS
    x, y = (d.array(kinds[names], s, special) for s in (d.shape, d.narrower()))
    return lambda xp, x, y: getattr(xp, name)(x, y), x, y


@drawn
def with_numbers(d: Draw) -> tuple[Any, ...]:
    name, turned = d.one_of("add multiply subtract less maximum equal".split()), d.rng.integers(2)
    x = d.array(REAL)
    number: Any = d.one_of([0, 1, 3]) if x.dtype.kind in "iu" else d.one_of([0, 1.5, -2.0, np.inf])
    if turned:
        return lambda xp, x: getattr(xp, name)(number, x), x
    return lambda xp, x: getattr(xp, name)(x, number), x


@drawn
def in_place(d: Draw) -> tuple[Any, ...]:
    function = d.one_of([operator.iadd, operator.isub, operator.imul])
    return lambda xp, x, y: function(x, y), d.array(NUMBERS), d.array(NUMBERS, d.narrower(), False)


@drawn
def products(d: Draw) -> tuple[Any, ...]:
    p, q, r = d.rng.integers(0 if d.rng.random() < 0.1 else 1, 4, size=3).tolist()
    calls = [
        (lambda xp, a, b: xp.matmul(a, b), (*d.shape[:1], p, q), (q, r)),
        (lambda xp, a, b: a @ b, (q,), (*d.shape[:1], q, r)),
        (lambda xp, a, b: xp.vecdot(a, b), (p, q), (q,)),
        (lambda xp, a, b: xp.tensordot(a, b, axes=1), (p, q), (q, r)),
        (lambda xp, a, b: xp.tensordot(a, b, axes=((0,), (-1,))), (q, p), (r, q)),
        (lambda xp, a, b: xp.linalg.outer(a, b), (p,), (q,)),
    ]
    call, first, second = d.one_of(calls)
    return call, *(d.array(NUMBERS, s, False) for s in (first, second))


@drawn
def taking(d: Draw) -> tuple[Any, ...]:
    axis = d.axis()
    n = d.shape[axis] if d.shape else 0
    if not n:
        return lambda xp, x: xp.positive(x), d.array(NUMBERS)
    shape = list(d.shape)
    shape[axis] = 2
    if d.rng.integers(2):
        return lambda xp, x, i: xp.take(x, i, axis=axis), d.array(ALL), d.rng.integers(-n, n, 3)
    return (
        lambda xp, x, i: xp.take_along_axis(x, i, axis=axis),
        d.array(ALL),
        np.asarray(d.rng.integers(0, n, shape)),
    )


@drawn
def creating(d: Draw) -> tuple[Any, ...]:
    start, stop, step = (int(n) for n in d.rng.integers(-6, 7, size=3))
    dtype = d.one_of([None, *REAL])
    floating = d.one_of([None, *FLOATS, *COMPLEX])
    return (
        lambda xp: (
            xp.arange(start, stop, step or 1),
            xp.arange(start / 2, stop, (step or 1) * 0.75, dtype=xp.float32),
            xp.linspace(start, stop, abs(step), dtype=floating and getattr(xp, floating)),
            xp.eye(abs(start), abs(stop), k=step, dtype=dtype and getattr(xp, dtype)),
            xp.full(d.shape, 3, dtype=dtype and getattr(xp, dtype)),
        ),
    )


@pytest.mark.parametrize("name", RANDOM)
def test_random_calls(name: str) -> None:
    for seed in range(60):
        call, *arrays = RANDOM[name](Draw(seed))
        compare(call, *arrays)


def test_numbers_that_do_not_fit_are_not_written() -> None:
    x = ag.asarray([1, 2])
    x[0] = 3.0
    for value in (1.5, np.nan, 1j, ag.asarray(1.5)):
        with pytest.raises(TypeError, match="cannot be written into dtype int64"):
            x[1] = value
    assert x.tolist() == [3, 2]
