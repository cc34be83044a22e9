"""An item with no axes left is a number, as in NumPy: later writes do not change it."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import func

X = np.array([3.0, 4.0, 5.0, 7.0])


def doubled(y: Any) -> Any:
    old = y[0]
    y[0] = 2 * old
    return y[0] - old


def of_a_matrix(y: Any) -> Any:
    m = y.reshape(2, 2)
    old = m[1, 0]
    m[1] = 10 * m[0] * old
    return m.sum() - old**2


def gauss_seidel(y: Any) -> Any:
    change = 0.0
    for _ in range(3):
        for i in range(1, 3):
            before = y[i]
            y[i] = (y[i - 1] * y[i + 1]) ** 0.5
            change = change + abs(y[i] - before)
    return change


def exchanged(y: Any) -> Any:
    y[0], y[2] = y[2], y[0]
    y[1:][0], y[3] = y[3], y[1:][0]
    return y[0] + 2 * y[1] + 3 * y[2] + 4 * y[3]


def shuffled(y: Any) -> Any:
    random.Random(0).shuffle(y)
    return (y * np.arange(1.0, 5.0)).sum()


def shuffled_by_numpy(y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # NumPy's, that it may not be right
        np.random.default_rng(0).shuffle(y)
    return (y**2 * np.arange(1.0, 5.0)).sum()


def added_to(y: Any) -> Any:
    first = y[0]
    first += y[1] ** 2
    y[1] += first
    y[1] *= y[1]
    return y.sum() * first


def iterated(y: Any) -> Any:
    before = list(y)
    y[...] = y[::-1] * 2.0
    return sum(b * a for b, a in zip(before, y, strict=True))


def carried(y: Any) -> Any:
    for i, value in enumerate(y):
        if i < 3:
            y[i + 1] += value**2
    return y.sum()


def a_block(y: Any) -> Any:
    whole = np.block(y)
    whole *= 3.0
    return whole @ y


def grids(y: Any) -> Any:
    rows, columns = np.meshgrid(y, y[:2], copy=False)
    y[1] = y[0] * y[2]
    return np.sum(rows * columns)


def a_diagonal(y: Any) -> Any:
    square = np.outer(y, y)
    part = np.einsum("ii->i", square[:3, :3])
    part += y[1:]
    return np.sum(square**2)


def unstacked(y: Any) -> Any:
    a, b, *_ = np.unstack(y)
    y[:2] = 0.0
    return a * b + y.sum()


def a_view(y: Any) -> Any:
    first = y[0, ...]
    y[0] = y[1] ** 2
    part = y[2:3]
    y[2] = first * 3
    return first * part[0]


def no_axes(y: Any) -> Any:
    total = np.sum(y * y)
    old = total[()]
    total *= 2.0
    return total * old


def partial_sums(y: Any) -> Any:
    total, sums = 0.0, []
    for value in y:
        total += value**2
        sums.append(total)
    return (np.stack(sums) * np.arange(4.0)).sum()


def best_so_far(y: Any) -> Any:
    cost = y @ y
    before = cost
    cost -= y[0]
    cost /= 2.0
    cost **= 2
    return cost - before


def count(y: Any) -> Any:
    n = np.argmin(y)
    first = n
    n += 1
    n *= 2
    return y[n] * y[first]


PROGRAMS = [
    partial_sums,
    best_so_far,
    count,
    doubled,
    of_a_matrix,
    gauss_seidel,
    exchanged,
    shuffled,
    shuffled_by_numpy,
    added_to,
    iterated,
    carried,
    a_block,
    a_diagonal,
    grids,
    unstacked,
    a_view,
    no_axes,
]


def run(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: program(np.copy(x))


def slope(program: Callable[[Any], Any], t: Any) -> Any:
    """The derivative in a direction, by central differences of NumPy's values."""
    h = 1e-5
    return (run(program)(X + h * t) - run(program)(X - h * t)) / (2 * h)


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program: Callable[[Any], Any]) -> None:
    f, t = run(program), np.array([1.0, -2.0, 0.5, 0.25])
    value, derivative = f(X), slope(program, t)
    close = {"rtol": 1e-6, "atol": 1e-6}
    x = ag.tensor(X, requires_grad=True)
    out = f(x)
    np.testing.assert_allclose(out.item(), value)
    np.testing.assert_allclose(ag.grad(out, x).numpy() @ t, derivative, **close)
    np.testing.assert_allclose(func.grad(f)(X) @ t, derivative, **close)
    np.testing.assert_allclose(func.jvp(f, (X,), (t,)), (value, derivative), **close)
    np.testing.assert_allclose(func.vmap(f)(np.stack([X, X + 1])), [value, f(X + 1)])
    per_sample = func.vmap(func.grad(f))(np.stack([X, X + 1]))
    np.testing.assert_allclose(per_sample[0] @ t, derivative, **close)
    np.testing.assert_allclose(func.jacfwd(func.grad(f))(X), func.jacrev(func.grad(f))(X))
    with ag.no_grad():
        np.testing.assert_allclose(f(x).item(), value)


@pytest.mark.parametrize("program", PROGRAMS)
def test_compiled(program: Callable[[Any], Any]) -> None:
    pytest.importorskip("llvmlite")
    f = run(program)
    np.testing.assert_allclose(ag.compile(f)(X), f(X))
    np.testing.assert_allclose(ag.compile(func.grad(f))(X), func.grad(f)(X))


@pytest.mark.parametrize("program", [doubled, exchanged, added_to, iterated, carried, a_view])
@pytest.mark.parametrize("library", ["array_api_strict", "torch", "jax.numpy", "dask.array"])
def test_over_a_library(program: Callable[[Any], Any], library: str) -> None:
    xp = pytest.importorskip(library)
    given = xp.asarray(X)
    x = ag.tensor(given, requires_grad=True)
    out = program(x * 1.0)
    found = ag.grad(out, x)
    rtol = 1e-5 if library == "jax.numpy" else 1e-12
    np.testing.assert_allclose(out.detach().numpy(), run(program)(X), rtol=rtol)
    np.testing.assert_allclose(found.numpy(), func.grad(run(program))(X), rtol=rtol)


def test_items_of_a_leaf_may_be_written() -> None:
    x = ag.tensor(X, requires_grad=True)
    item = x[0]
    item *= 3.0
    assert ag.grad(item * x[0], x).tolist() == [18.0, 0.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match="view of such a leaf"):
        x[0, ...].mul_(3.0)


def test_sparse_derivatives() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        first = y[0]
        y[0] = y[1] * y[2]
        y[3] = first**2
        return y

    found = func.jacobian(f, sparse=True)(X)
    np.testing.assert_array_equal(found.toarray(), func.jacrev(f)(X))
    assert found.nnz == 5


def test_arrays_without_axes_are_written() -> None:
    """As in NumPy: what `tensor` and `zeros` make, parameters, and views without axes."""
    b = ag.tensor(2.0, requires_grad=True)
    same = b
    with ag.no_grad():
        b -= 0.5
    assert same is b
    assert b.item() == 1.5
    total = alias = ag.zeros(())
    total += b * b
    total += b
    assert alias.item() == 3.75
    assert ag.grad(alias, b).item() == 4.0
    (b * b).backward()
    gradient = b.grad
    gradient *= 2.0
    assert b.grad.item() == 6.0
    x = ag.tensor([1.0, 2.0])
    view = x[0, ...]
    view += 4.0
    assert x.tolist() == [5.0, 2.0]


def test_methods_write_numbers() -> None:
    """`add_` writes whatever it is called on, as in PyTorch."""
    total = alias = ag.sum(ag.tensor([1.0, 2.0]))
    total.add_(1.0)
    assert alias.item() == 4.0
