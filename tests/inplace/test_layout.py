"""Whether a result is a view is as NumPy has it, or a write that depends on it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import crossed

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


def by_columns(y: Any) -> Any:
    return y.reshape(2, 6, order="F")  # a copy


def turned_by_columns(y: Any) -> Any:
    return np.reshape(y.T, (2, 6), order="F")  # a view


def as_it_lies(y: Any) -> Any:
    return y.T.reshape((6, 2), order="A")  # a view


def flat_by_columns(y: Any) -> Any:
    return y.ravel("F")  # a copy


def turned_flat_by_columns(y: Any) -> Any:
    return np.ravel(y.T, order="F")  # a view


def flat_as_it_lies(y: Any) -> Any:
    return np.ravel(y.reshape(3, 2, 2).transpose(1, 2, 0), order="K")  # a view


def parts_as_they_lie(y: Any) -> Any:
    return y.T[:2].ravel("K")  # a copy


def copied(y: Any) -> Any:
    return y.flatten()  # a copy, as always


def copied_as_it_lies(y: Any) -> Any:
    return y.T.flatten("A")  # a copy


IS_VIEW = {
    sliced: False,
    rows: True,
    transposed: False,
    split: True,
    flat: True,
    twice: True,
    by_columns: False,
    turned_by_columns: True,
    as_it_lies: True,
    flat_by_columns: False,
    turned_flat_by_columns: True,
    flat_as_it_lies: True,
    parts_as_they_lie: False,
    copied: False,
    copied_as_it_lies: False,
}
WAYS = list(IS_VIEW)
# Where no memory is known, NumPy's decision is known for these.
SURE = [split, copied]
UNSURE = "may be a view or a copy|say order='C' or order='F'"


def program(way: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        y = x * 2.0
        view = way(y)
        view[...] = view * 3.0 + 1.0
        return y

    return run


def expected(way: Callable[[Any], Any], x: Any) -> Any:
    """By NumPy."""
    y = x * 2.0
    view = np.asarray(way(y))
    if x.flags.c_contiguous:
        assert np.shares_memory(view, y) == IS_VIEW[way]
    view[...] = view * 3.0 + 1.0
    return y


@pytest.mark.parametrize("way", WAYS)
def test_eagerly(way: Callable[[Any], Any]) -> None:
    for x in (X, np.asfortranarray(X), np.asarray(X.T, order="C").T, X[::-1][::-1], X[:, ::-1]):
        for run in (
            lambda x: program(way)(ag.asarray(x)).numpy(),
            lambda x: func.vjp(program(way), x)[0],
            lambda x: func.jvp(program(way), (x,), (x,))[0],
        ):
            if (x * 2.0).flags.c_contiguous or way in SURE:
                np.testing.assert_array_equal(run(x), expected(way, x))
            else:
                with pytest.raises((RuntimeError, ValueError), match=UNSURE):
                    run(x)


@crossed(axis=[0, 1, 2], way=WAYS)
def test_in_a_batch(way: Callable[[Any], Any], axis: int) -> None:
    batch = np.stack([X, X + 1], axis)
    run = func.vmap(program(way), in_axes=axis)
    if way in SURE:
        np.testing.assert_array_equal(run(batch), [expected(way, X), expected(way, X + 1)])
    else:
        with pytest.raises((RuntimeError, ValueError), match=UNSURE):
            run(batch)


def test_the_base_of_an_unsure_view_cannot_be_written() -> None:
    def run(x: Any) -> Any:
        y = x * 2.0
        flat = ag.reshape(y, (-1,))
        y[0] = 0.0
        return flat

    def read(x: Any) -> Any:
        y = x * 2.0
        total = ag.sum(ag.reshape(y, (-1,)))
        y[0] = 0.0
        return y + total

    with pytest.raises(RuntimeError, match=UNSURE):
        func.vmap(run)(X[None])
    np.testing.assert_array_equal(func.vmap(read)(X[None])[0], read(X))
    xp = pytest.importorskip("array_api_strict")
    flat = run(ag.tensor(xp.asarray(X)))
    with pytest.raises(RuntimeError, match=UNSURE):
        flat + 1
    np.testing.assert_array_equal(read(ag.tensor(xp.asarray(X))).numpy(), read(X))


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


@crossed(library=["array_api_strict", "torch", "jax.numpy", "dask.array"], way=WAYS)
def test_over_a_library(way: Callable[[Any], Any], library: str) -> None:
    xp = pytest.importorskip(library)
    if way in SURE:
        found = program(way)(ag.tensor(xp.asarray(X)))
        np.testing.assert_allclose(found.numpy(), expected(way, X), rtol=1e-6)
    else:
        with pytest.raises((RuntimeError, ValueError), match=UNSURE):
            program(way)(ag.tensor(xp.asarray(X)))


@pytest.mark.parametrize("way", WAYS)
def test_in_inference_mode(way: Callable[[Any], Any]) -> None:
    with ag.inference_mode():
        found = program(way)(ag.tensor(X))
        np.testing.assert_array_equal(found.numpy(), expected(way, X))


COMPUTED: list[Callable[[Any], Any]] = [
    lambda y: np.sin(y),
    lambda y: y + y,
    lambda y: y.copy(),
    lambda y: np.copy(y),
    lambda y: y.astype(float),
    lambda y: np.sort(y, axis=0),
    lambda y: np.partition(y, range(y.shape[0]), axis=0),
    lambda y: np.stack([y, y]),
    lambda y: np.stack([y, y], axis=-1),
    lambda y: np.concatenate([y, y]),
    lambda y: np.concatenate([y, y], axis=1),
    lambda y: np.delete(y, 0, axis=0),
    lambda y: np.insert(y, 0, 1.0, axis=0),
    lambda y: np.gradient(y, axis=0),
    lambda y: np.pad(y, 1),
    lambda y: np.cumsum(y, axis=0),
    lambda y: np.roll(y, 1, axis=0),
    lambda y: np.where(y > 2.0, y, 0.0),
    lambda y: np.clip(y, 2.0, 7.0),
    lambda y: np.zeros_like(y) + y[0, 0],
    lambda y: np.sum(np.ones((2, 3)) * y[0, :3], axis=0, keepdims=True),
    lambda y: y.T @ y,
    lambda y: np.einsum("ij,ij->ij", y, y),
    lambda y: np.take(y, [1, 0], axis=0),
    lambda y: y[:, [1, 0]],
    lambda y: np.tile(y, (2, 1)),
    lambda y: np.repeat(y, 2, axis=0),
]


def by_rows(x: Any) -> Any:
    return x


LAID_OUT: list[Callable[[Any], Any]] = [
    by_rows,
    lambda x: x.T,
    lambda x: x.T.copy().T,
    lambda x: x[:, ::-1],
    lambda x: np.sin(x.T),
]


@crossed(compute=COMPUTED, lay_out=LAID_OUT, size=[1, 300])
def test_results(compute: Callable[[Any], Any], lay_out: Callable[[Any], Any], size: int) -> None:
    """`reshape` of a result is a view where NumPy's is, or a write to it is refused."""

    def run(x: Any) -> Any:
        y = compute(lay_out(x))
        flat = y.reshape(-1)
        flat *= 10.0
        return y

    x = np.tile(X, (size, 1))
    y = compute(lay_out(x))
    may_be_refused = lay_out is not by_rows or not np.shares_memory(y.reshape(-1), y)
    for call in (lambda: run(ag.tensor(x)).numpy(), lambda: func.jvp(run, (x,), (x,))[0]):
        try:
            found = call()
        except RuntimeError as error:
            if not (may_be_refused and "may be a view or a copy" in str(error)):
                raise
        else:
            np.testing.assert_allclose(found, run(x))


def test_the_base_of_a_transposed_result() -> None:
    y = ag.tensor(X).T + 0.0
    flat = y.reshape(-1)
    with ag.no_grad():
        y[0] = 5.0
    with pytest.raises(RuntimeError, match=UNSURE):
        flat.numpy()
    with pytest.raises(RuntimeError, match=UNSURE):
        flat * 2


def test_an_array_of_the_users_has_the_layout_it_has() -> None:
    data = np.asfortranarray(X)
    y = ag.asarray(data)
    with pytest.raises(RuntimeError, match=UNSURE):
        ag.ravel(y)[0] = 100.0
    y[0][1] = 50.0
    assert data[0, 0] == 1.0
    assert data[0, 1] == 50.0


LAYOUTS: list[Callable[[Any], Any]] = [
    lambda y: y,
    lambda y: y.T,
    lambda y: y[::-1, :, ::2],
    lambda y: y.transpose(1, 2, 0),
    lambda y: y.transpose(0, 2, 1)[:, 1:],
    lambda y: y.transpose(2, 0, 1)[..., ::-1],
    lambda y: y[:, 1],
    lambda y: y[:, :1].T,
    lambda y: y[0, 0, ::-1],
    lambda y: y[0, 0, 0, ...],
    lambda y: y[:0],
    lambda y: y.real,
    lambda y: y.T.imag,
    lambda y: y.reshape(6, 4).T.reshape(2, 2, 6, order="F"),
]


@crossed(
    given=[np.ascontiguousarray, np.asfortranarray, lambda x: x[:, ::-1]],
    order=["C", "F", "A", "K", "f", None],
    layout=LAYOUTS,
)
def test_orders_are_numpys(layout: Any, order: str | None, given: Any) -> None:
    data = given((np.arange(24.0) + 1j).reshape(2, 3, 4))
    x, t = layout(data), layout(ag.asarray(data))
    known = data.flags.c_contiguous
    if not known and order in ("A", "K") and sum(n > 1 for n in x.shape) > 1 and x.size:
        with pytest.raises(ValueError, match=UNSURE):
            t.ravel(order)
        return
    for make in (
        lambda x: x.ravel(order),
        lambda x: x.flatten(order),
        lambda x: np.ravel(x, order),
    ):
        expected, found = make(x), make(t).array
        np.testing.assert_array_equal(found, expected)
        if known:
            assert np.shares_memory(found, data) == np.shares_memory(expected, data)
    if order != "K" and x.size:
        for shape in ((x.size // 2, 2), (2, -1), -1) if x.size > 1 else ((1, 1), ()):
            expected = x.reshape(shape, order=order)
            np.testing.assert_array_equal(t.reshape(shape, order=order).numpy(), expected)
            found = np.reshape(t, shape, order=order).array
            np.testing.assert_array_equal(found, expected)
            if known:
                assert np.shares_memory(found, data) == np.shares_memory(expected, data)


@crossed(layout=LAYOUTS[:6], order=["C", "F", "A", "K"])
def test_gradients_in_all_orders(layout: Any, order: str) -> None:
    weights = np.random.default_rng(0).normal(size=24)

    def loss(x: Any) -> Any:
        y = layout(x).ravel(order)
        z = y if order == "K" else layout(x).reshape(2, -1, order=order)[1]
        return (y**3 * weights[: y.shape[0]]).sum() + (z**2 * weights[: z.shape[0]]).sum()

    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    t = ag.tensor(x, requires_grad=True)
    assert ag.testing.gradcheck(loss, t)
    assert ag.testing.gradgradcheck(loss, t)
    both = np.stack([x, -x])
    if order in ("A", "K"):
        with pytest.raises(ValueError, match=UNSURE):
            func.vmap(loss)(both)
    else:
        np.testing.assert_allclose(func.vmap(loss)(both), [loss(x), loss(-x)])


def test_orders_that_numpys_memory_would_decide() -> None:
    y = ag.tensor(X).T + 0.0  # NumPy's sum lies by columns, as its operand does
    assert y.ravel("F").tolist() == X.ravel().tolist()
    for order in ("A", "K"):
        with pytest.raises(ValueError, match=UNSURE):
            y.ravel(order)
    with pytest.raises(ValueError, match=UNSURE):
        ag.broadcast_to(ag.tensor([1.0, 2.0]), (3, 2)).ravel("K")


def test_wrong_orders() -> None:
    y = ag.tensor(X)
    for call in (lambda: y.reshape(12, order="K"), lambda: y.ravel("X"), lambda: y.flatten("CF")):
        with pytest.raises(ValueError, match="order must be one of 'C', 'F', 'A'"):
            call()
    with pytest.raises(TypeError, match="order must be a string, not int"):
        np.ravel(y, 1)


OF_NUMBERS: list[Callable[[Any], Any]] = [
    lambda y: y[None],
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


def of_a_broadcast(y: Any) -> Any:
    return ag.reshape(ag.broadcast_to(y[0], (2, 4)), (8,))  # a copy


@pytest.mark.parametrize("way", [*WAYS, of_a_broadcast])
def test_what_detach_gives_has_the_layout_of_the_tensor(way: Any) -> None:
    def run(detach: Any) -> Any:
        y = ag.asarray(X) * 2.0
        view = way(detach(y))
        view += 100.0
        return y.array, view.array

    for found, expected in zip(run(lambda y: y.detach()), run(lambda y: y), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_view_of_what_detach_gives_of_a_broadcast() -> None:
    x = ag.tensor(np.ones(4), requires_grad=True)
    flat = ag.reshape(ag.broadcast_to(x, (2, 4)).detach(), (8,))
    with pytest.raises(RuntimeError, match=UNSURE):
        flat += 1
    part = ag.broadcast_to(x, (2, 4)).detach()[0]
    with pytest.raises(RuntimeError, match="broadcast"):
        part += 1


def test_the_values_of_a_leaf_can_be_written_through_detach() -> None:
    def run(x: Any) -> Any:
        y = x * x
        x.detach()[1] = 5.0  # which no gradient knows of
        return (y + x * x).sum()

    def outer(x: Any) -> Any:
        return func.grad(run)(x * 1.0)

    x = np.array([2.0, 3.0])
    assert outer(ag.tensor(x)).tolist() == [8.0, 16.0]
    assert func.vmap(outer)(x[None]).tolist() == [[8.0, 16.0]]
