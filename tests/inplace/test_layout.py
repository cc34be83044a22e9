"""Whether a result is a view follows from the op and the logical layout, wherever it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import func

X = np.arange(1.0, 13.0).reshape(3, 4)


def sliced(y: Any) -> Any:
    return ag.reshape(y[:, :2], (6,))  # a copy


def rows(y: Any) -> Any:
    return ag.reshape(y[1:], (8,))  # a view


def transposed(y: Any) -> Any:
    return ag.reshape(ag.permute_dims(y, (1, 0)), (12,))  # a copy


def split(y: Any) -> Any:
    return ag.reshape(ag.permute_dims(y, (1, 0)), (2, 2, 3))  # a view


def flat(y: Any) -> Any:
    return ag.ravel(y)  # a view


def twice(y: Any) -> Any:
    return ag.ravel(ag.reshape(y, (2, 6)))[::-1]  # a view


WAYS = [sliced, rows, transposed, split, flat, twice]
IS_VIEW = {sliced: False, rows: True, transposed: False, split: True, flat: True, twice: True}


def program(way: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        y = x * 2.0
        view = way(y)
        view[...] = view * 3.0 + 1.0
        return y

    return run


def expected(way: Callable[[Any], Any], x: Any) -> Any:
    """By NumPy, on a C-contiguous array."""
    y = np.ascontiguousarray(x) * 2.0
    view = np.asarray(way(y))
    assert np.shares_memory(view, y) == IS_VIEW[way]
    view[...] = view * 3.0 + 1.0
    return y


@pytest.mark.parametrize("way", WAYS)
def test_eagerly(way: Callable[[Any], Any]) -> None:
    for x in (X, np.asfortranarray(X), X[::-1][::-1]):
        np.testing.assert_array_equal(program(way)(ag.tensor(x)).numpy(), expected(way, x))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_in_a_batch(way: Callable[[Any], Any], axis: int) -> None:
    batch = np.stack([X, X + 1], axis)
    found = func.vmap(program(way), in_axes=axis)(batch)
    np.testing.assert_array_equal(found, [expected(way, X), expected(way, X + 1)])


@pytest.mark.parametrize("way", WAYS)
def test_with_tangents(way: Callable[[Any], Any]) -> None:
    value, tangent = func.jvp(program(way), (X,), (np.ones_like(X),))
    np.testing.assert_array_equal(value, expected(way, X))
    np.testing.assert_array_equal(tangent, expected(way, X + 1) - value)


@pytest.mark.parametrize("way", WAYS)
def test_sparse_jacobian(way: Callable[[Any], Any]) -> None:
    def of_line(x: Any) -> Any:
        return ag.ravel(program(way)(ag.reshape(x, (3, 4)) * 1.0))

    found = func.jacobian(of_line, sparse=True)(X.ravel()).toarray()
    np.testing.assert_array_equal(found, func.jacrev(of_line)(X.ravel()))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("library", ["array_api_strict", "torch", "jax.numpy", "dask.array"])
def test_over_a_library(way: Callable[[Any], Any], library: str) -> None:
    xp = pytest.importorskip(library)
    found = program(way)(ag.tensor(xp.asarray(X)))
    np.testing.assert_allclose(found.numpy(), expected(way, X), rtol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_in_inference_mode(way: Callable[[Any], Any]) -> None:
    with ag.inference_mode():
        found = program(way)(ag.tensor(X))
        np.testing.assert_array_equal(found.numpy(), expected(way, X))


def test_fortran_order_that_an_op_gives_is_no_layout() -> None:
    """What an op computes is C-contiguous, also where NumPy lays it out otherwise."""
    y = ag.tensor(X.T) + 0.0
    first, second = y[1], ag.ravel(y)
    second[3] = 100.0
    assert y[1, 0].item() == 100.0
    assert first[0].item() == 100.0


def test_an_array_of_the_users_has_the_layout_it_has() -> None:
    data = np.asfortranarray(X)
    y = ag.asarray(data)
    ag.ravel(y)[0] = 100.0  # a copy, as in NumPy
    y[0][1] = 50.0
    assert data[0, 0] == 1.0
    assert data[0, 1] == 50.0


OF_NUMBERS: list[Callable[[Any], Any]] = [
    lambda y: y[None],
    lambda y: y[()],
    lambda y: y[...],
    lambda y: ag.reshape(y, (1,)),
    lambda y: ag.expand_dims(y, axis=0),
    lambda y: ag.ravel(y),
    lambda y: ag.flip(y),
]


@pytest.mark.parametrize("view", OF_NUMBERS)
def test_views_of_a_single_number(view: Callable[[Any], Any]) -> None:
    def run(x: Any) -> Any:
        y = x * 2.0
        view(y)[...] = x * x
        return y

    x = np.array(3.0)
    assert run(ag.tensor(x)).item() == 9.0
    assert [float(v) for v in func.jvp(run, (x,), (np.array(1.0),))] == [9.0, 6.0]
    assert float(func.jacfwd(run)(x)) == 6.0
    assert float(func.grad(run)(x)) == 6.0
    assert func.vmap(run)(np.array([3.0, 4.0])).tolist() == [9.0, 16.0]
    with ag.inference_mode():
        assert run(ag.tensor(x)).item() == 9.0


def test_writes_in_sparse_derivatives() -> None:
    def through_a_view(x: Any) -> Any:
        y = x * 1.0
        h = y[:2]
        h += 3 * x[2:] ** 2
        return y

    def to_an_element(x: Any) -> Any:
        y = x * 1.0
        y[0] = x[1] * x[2]
        return y

    x = np.arange(1.0, 5.0)
    for function in (through_a_view, to_an_element):
        dense = func.jacrev(function)(x)
        for sparse in (func.jacobian, func.jacrev, func.jacfwd):
            np.testing.assert_array_equal(sparse(function, sparse=True)(x).toarray(), dense)


def through_detach(x: Any) -> Any:
    y = x * 2.0
    y.detach()[0] = 50.0
    return y * y


def test_writes_through_detach() -> None:
    """They change the values, and no derivative knows of it, as eagerly."""
    x = np.array([1.0, 2.0])
    two = np.stack([x, x])

    def total(x: Any) -> Any:
        return ag.sum(through_detach(x))

    assert through_detach(ag.tensor(x)).tolist() == [2500.0, 16.0]
    assert func.grad(total)(x).tolist() == [200.0, 16.0]
    assert func.vmap(func.grad(total))(two).tolist() == [[200.0, 16.0]] * 2
    value, tangent = func.jvp(func.vmap(through_detach), (two,), (np.ones((2, 2)),))
    assert value.tolist() == [[2500.0, 16.0]] * 2
    assert tangent.tolist() == [[200.0, 16.0]] * 2
    strict = pytest.importorskip("array_api_strict")
    leaf = ag.tensor(strict.asarray(x), requires_grad=True)
    y = leaf * 2.0
    y.detach()[0] = 50.0
    assert ag.grad(ag.sum(y * y), leaf).tolist() == [200.0, 16.0]


def test_derivatives_are_not_lost_through_detach() -> None:
    def function(x: Any) -> Any:
        y = x * 2.0
        y.detach()[0] = x[1]
        return ag.sum(y)

    with pytest.raises(RuntimeError, match=r"cannot be written through detach\(\)"):
        func.vmap(func.grad(function))(np.ones((2, 3)))
