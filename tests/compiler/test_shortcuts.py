"""The second and later calls with structures, numbers and settings."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import arraygrad as ag

_rng = np.random.default_rng(9)


def _pair(n: int = 3, dtype: Any = np.float64) -> dict[str, Any]:
    return {"w": _rng.normal(size=(n, 2)).astype(dtype), "b": [np.ones(2, dtype)]}


def test_structures_of_other_shapes_and_dtypes() -> None:
    def function(p: Any, x: Any) -> Any:
        return {"y": ag.tanh(x @ p["w"] + p["b"][0]), "norm": (p["w"] ** 2).sum()}

    compiled = ag.compile(function)
    calls = [(_pair(), np.ones((4, 3))), (_pair(5), np.ones((4, 5)))]
    calls += [(_pair(3, np.float32), np.ones((4, 3), np.float32)), (_pair(), np.ones((3, 4)).T)]
    for p, x in calls * 3:
        found, wanted = compiled(p, x), function(p, x)
        for key in wanted:
            np.testing.assert_allclose(found[key], wanted[key], rtol=1e-6)
            assert found[key].dtype == wanted[key].dtype
            assert found[key].shape == wanted[key].shape


@pytest.mark.parametrize(
    "numbers", [[0.0, -0.0, 0, False], [1, 1.0, True, np.float64(1), np.float32(1)], [np.nan, 2.0]]
)
def test_numbers_that_are_equal_are_not_the_same(numbers: list[Any]) -> None:
    def function(x: Any, s: Any) -> Any:
        return ag.atan2(x * 0, x * s), x * s, np.result_type(s)

    compiled = ag.compile(lambda x, s: function(x, s)[:2])
    x = np.array([1.0, 2.0], np.float32)
    for number in numbers * 3:
        for found, wanted in zip(compiled(x, number), function(x, number), strict=False):
            np.testing.assert_array_equal(found, wanted)
            assert found.dtype == wanted.dtype


def test_complex_numbers_with_signs_of_zeros() -> None:
    compiled = ag.compile(lambda x, s: x + s)
    x = np.array([-1.0, -2.0])
    for number in (complex(0, -0.0), complex(0, 0.0)) * 3:
        found = ag.compile(lambda x, s: ag.angle(x + s))(x, number)
        np.testing.assert_array_equal(found, np.angle(x + number))
        np.testing.assert_array_equal(compiled(x, number), x + number)


def test_keywords_and_settings() -> None:
    @ag.compile(static_argnames="power")
    def function(x: Any, *, scale: Any, power: int = 2) -> Any:
        return scale * x**power

    x = np.array([1.0, 2.0, 3.0])
    for _ in range(3):
        for power in (1, 2, 3):
            for scale in (x, 2.0):
                found = function(x, scale=scale, power=power)
                np.testing.assert_allclose(found, scale * x**power)
        np.testing.assert_allclose(function(x, scale=x), x**3)


def test_what_comes_from_outside_is_seen() -> None:
    settings = {"scale": 2.0}
    compiled = ag.compile(lambda d: d["x"] * settings["scale"])
    x = {"x": np.array([1.0, 2.0])}
    for scale in (2.0, 2.0, 3.0, 3.0, 2.0):
        settings["scale"] = scale
        np.testing.assert_array_equal(compiled(x), x["x"] * scale)


def test_tensors() -> None:
    Pair = namedtuple("Pair", "x y")
    compiled = ag.compile(lambda pair: Pair(pair.x * pair.y, pair.y))
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for smooth in (False, False, True, True, False):
        found = compiled(Pair(ag.tensor(x, requires_grad=smooth), y))
        assert found.x.requires_grad == smooth
    for _ in range(3):
        w = ag.tensor(x, requires_grad=True)
        with ag.no_grad():
            assert not compiled(Pair(w, y)).x.requires_grad
        np.testing.assert_array_equal(ag.grad(compiled(Pair(w, y)).x.sum(), w), y)
        assert type(compiled(Pair(x, y)).x) is np.ndarray


def test_subclasses_and_steps_by_numpy() -> None:
    compiled = ag.compile(lambda d: ag.sort(d["x"]) * d["s"])
    x = np.array([3.0, 1.0, 2.0])
    masked = np.ma.array(x, mask=[True, False, False])
    for _ in range(3):
        np.testing.assert_array_equal(compiled({"x": x, "s": np.float64(2)}), [2.0, 4.0, 6.0])
        np.testing.assert_array_equal(compiled({"x": x[:2], "s": np.float64(2)}), [2.0, 6.0])
    plain = ag.compile(lambda d: d["x"] * 2)
    for _ in range(3):
        np.testing.assert_array_equal(plain({"x": x}), x * 2)
        assert plain({"x": masked}).mask[0]
