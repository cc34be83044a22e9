"""What may meet what: constants, lists, indices and writes over other libraries' arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.errors import MixedArraysError

Make = Callable[[Any], Any]


def of_torch(values: Any) -> Any:
    return pytest.importorskip("torch").asarray(np.array(values))


def of_strict(values: Any) -> Any:
    xp = pytest.importorskip("array_api_strict")
    return xp.asarray(np.array(values), device=xp.Device("device1"))


@pytest.fixture(params=[of_torch, of_strict], ids=["torch", "array_api_strict"])
def make(request: pytest.FixtureRequest) -> Make:
    made: Make = request.param
    return made


def values(x: Any) -> Any:
    array = x.detach().array
    return array._array if hasattr(array, "_array") else np.asarray(array)


CONSTANTS: dict[str, Callable[[Any], Any]] = {
    "product": lambda x: x @ ag.eye(2),
    "reflected": lambda x: ag.ones((2, 2)) - x,
    "a view of one": lambda x: x * ag.reshape(ag.linspace(1, 4, 4), (2, 2)).mT,
    "from a list": lambda x: x + ag.asarray([[1.0, 2.0], [3.0, 4.0]]),
    "a copy of a list": lambda x: x + ag.tensor([1.0, 2.0]),
    "joined": lambda x: ag.concat([x, ag.zeros((1, 2))]),
    "stacked": lambda x: ag.stack([ag.full((2, 2), 3.0), x]),
    "chosen": lambda x: ag.where(ag.asarray([True, False]), x, ag.zeros((2, 2))),
    "clipped": lambda x: ag.clip(x, ag.zeros(2), ag.ones(2)),
    "solved": lambda x: ag.linalg.solve(x, ag.eye(2)),
    "summed": lambda x: ag.einsum("ij,j->i", x, ag.asarray([1.0, 2.0])),
    "interpolated": lambda x: ag.interp(x[0], [-2.0, 0.0, 2.0], [0.0, 1.0, 4.0]),
    "integrated": lambda x: ag.trapezoid(x, [0.0, 0.5]),
    "convolved": lambda x: ag.convolve(x[0], [1.0, 2.0]),
    "averaged": lambda x: ag.average(x, axis=1, weights=ag.asarray([1.0, 3.0])),
    "a number of NumPy's": lambda x: np.float64(2.0) * x ** np.int64(2),
    "spaced between": lambda x: ag.linspace(x[0, 0], x[1, 1], 5),
    "filled": lambda x: ag.full((2,), x[0, 0]),
    "in a sequence": lambda x: ag.asarray([x[0, 0], 2.0, x[1, 1]]),
    "indexed by a list": lambda x: x[[1, 0, 1]],
    "indexed by NumPy": lambda x: x[np.array([True, False]), np.array([1])],
    "indexed by a constant": lambda x: x[ag.asarray([1, 1])],
    "taken": lambda x: ag.take(x, np.array([1, 0]), axis=0),
    "taken along": lambda x: ag.take_along_axis(x, ag.asarray([[1, 0], [0, 0]]), axis=1),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_adopt_the_library(make: Make, name: str) -> None:
    found = []
    for array in (np.array([[1.0, -0.5], [0.25, 2.0]]), make([[1.0, -0.5], [0.25, 2.0]])):
        x = ag.tensor(array, requires_grad=True)
        y = CONSTANTS[name](x)
        g = ag.grad(y, x, ag.ones(y.shape))
        assert type(y.array) is type(g.array) is type(x.array)
        assert y.device == g.device == x.device
        found.append((values(y), values(g)))
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-12, atol=1e-12)


def written(x: Any) -> tuple[Any, ...]:
    """Writes by index, by view and by operator, and a value that depends on all of them."""
    y = x * 2
    y[0] = x[1] * 10
    y += x
    tail = y[1:]
    tail *= x[1:]
    y[np.array([0, 0])] = x[:2] * 3
    y[::-2] = [1.0, 5.0]
    y[[True, False, True]] = ag.asarray([7.0, 8.0])
    y[1:] += ag.ones(2)
    states = ag.zeros_like(x)
    for t in range(2):
        states[t + 1] = states[t] * 0.5 + y[t] + x[t]
    return y, tail, states, (y * y).sum() + tail.sum() + (states**2).sum()


def test_writing(make: Make) -> None:
    expected = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    found = ag.tensor(make([1.0, 2.0, 3.0]), requires_grad=True)
    ours = [*written(expected), ag.grad(written(expected)[-1], expected)]
    theirs = [*written(found), ag.grad(written(found)[-1], found)]
    for a, b in zip(ours, theirs, strict=True):
        assert type(b.array) is type(found.array)
        np.testing.assert_allclose(values(b), values(a), rtol=1e-12)


def test_what_the_user_brought_does_not_mix(make: Make) -> None:
    x = ag.tensor(make([1.0, 2.0]), requires_grad=True)
    brought = np.array([1.0, 2.0])
    leaf = ag.tensor([1.0, 2.0], requires_grad=True)
    for other in (brought, ag.asarray(brought), ag.tensor(brought), leaf, leaf * 2, leaf.sum()):
        with pytest.raises(MixedArraysError, match="numpy"):
            x * other
        with pytest.raises(MixedArraysError, match="numpy"):
            ag.stack([x, other])
    buffer = ag.zeros(2)
    buffer[:] = 3
    assert (x * buffer).shape == (2,)
    buffer[1:] += brought[1:]
    with pytest.raises(MixedArraysError, match="numpy"):
        x * buffer
    y = x * 1
    with pytest.raises(MixedArraysError, match="numpy"):
        y[:] = brought
    with pytest.raises(MixedArraysError, match="numpy"):
        ag.grad(x, x, brought)


def test_a_numpy_array_is_not_indexed_by_another_library(make: Make) -> None:
    with pytest.raises(MixedArraysError, match="numpy"):
        ag.asarray(np.ones(3))[make([0, 1])]


def test_another_librarys_array_is_not_written_to_numpys(make: Make) -> None:
    x = ag.zeros(2)
    with pytest.raises(MixedArraysError, match="cannot be written to one of numpy"):
        x[:] = make([1.0, 2.0])
    with pytest.raises(MixedArraysError, match="cannot be written to one of numpy"):
        x[0] = ag.asarray(make(1.0))
    assert x.tolist() == [0, 0]


def test_writing_other_dtypes(make: Make) -> None:
    x = ag.zeros_like(ag.asarray(make([1.0, 2.0])))
    x[:] = ag.astype(ag.asarray(make([1.0, 2.0])), "float32")
    x[1] = np.float32(4.0)
    assert values(x).tolist() == [1, 4]
    with pytest.raises(TypeError, match="complex128 cannot be written into dtype"):
        x[:] = ag.asarray(make([1j, 2j]))


def test_two_other_libraries_do_not_mix() -> None:
    x, y = ag.asarray(of_torch([1.0])), ag.asarray(of_strict([1.0]))
    for mix in (lambda: x * y, lambda: ag.stack([y, x]), lambda: ag.where(x > 0, x, y)):
        with pytest.raises(MixedArraysError, match=r"torch|array_api_strict"):
            mix()
    with pytest.raises(MixedArraysError, match=r"torch and array_api_strict"):
        ag.where(ag.asarray([True]), x, y)


@pytest.mark.parametrize("apply", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_a_complex_number_with_a_tensor_without_axes(apply: Callable[..., Any]) -> None:
    """Its value is a scalar of NumPy's, for which Python's complex numbers give Python's."""
    x = ag.tensor(0.5, requires_grad=True)
    out = apply(1j, ag.sin(x))
    assert out.dtype == np.complex128
    assert out.item() == apply(1j, np.sin(0.5))


def test_ops_on_complex_numbers_of_python() -> None:
    assert (ag.negative(1j), ag.add(1j, 1), ag.divide(1j, 2)) == (-1j, 1 + 1j, 0.5j)
