"""Objects that NumPy makes arrays of, such as the columns of a table, together with tensors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag
from arraygrad.testing import assert_close, gradcheck, gradgradcheck


class Column:
    """An array-like without arithmetic."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype)


class Labelled(Column):
    """An array-like with attributes of an array, but none of its functions."""

    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)
    dtype = property(lambda self: self.values.dtype)

    def __len__(self) -> int:
        return len(self.values)


def series(values: Any) -> Any:
    return pytest.importorskip("pandas").Series(values)


def pandas_index(values: Any) -> Any:
    return pytest.importorskip("pandas").Index(values)


LIKES = [Column, Labelled, series, pandas_index]
X = np.array([1.5, 2.0, 0.5])
W = [2.0, 3.0, 4.0]

CALLS: dict[str, Any] = {
    "x * w": lambda x, w: x * w,
    "w * x": lambda x, w: w * x,
    "w - x": lambda x, w: w - x,
    "x / w": lambda x, w: x / w,
    "w / x": lambda x, w: w / x,
    "w ** x": lambda x, w: w**x,
    "x @ w": lambda x, w: x @ w,
    "x += w": lambda x, w: operator.iadd(x * 1, w),
    "np.multiply": lambda x, w: np.multiply(x, w),
    "np.hypot": lambda x, w: np.hypot(x, w),
    "np.dot": lambda x, w: np.dot(w, x),
    "np.stack": lambda x, w: np.stack([x, w]),
    "np.where": lambda x, w: np.where(x > 1, x, w),
    "np.interp": lambda x, w: np.interp(x, [0.0, 1.0, 3.0], w),
    "ag.add": lambda x, w: ag.add(w, x),
    "ag.where": lambda x, w: ag.where(np.array([True, False, True]), x, w),
    "np.add.outer": lambda x, w: np.add.outer(x, w),
}


@crossed(name=CALLS, like=LIKES)
def test_operands(like: Any, name: str) -> None:
    call = CALLS[name]

    def product(x: Any) -> Any:
        return call(x, like(W))

    t = ag.tensor(X, requires_grad=True)
    found = product(t)
    assert isinstance(found, ag.Tensor)
    assert_close(found.detach(), call(X, np.array(W)))
    assert found.dtype == call(X, np.array(W)).dtype
    assert gradcheck(product, t)
    assert gradgradcheck(product, t)
    batch = np.stack([X, X + 1])
    assert_close(ag.func.vmap(product)(batch), np.stack([call(x, np.array(W)) for x in batch]))
    _, tangent = ag.func.jvp(product, (X,), (np.array(W),))
    assert_close(tangent, ag.func.jacrev(product)(X) @ np.array(W))


@crossed(index=[[2, 0], [0, 0, -1], [True, False, True], []], like=LIKES)
def test_indices(like: Any, index: Any) -> None:
    plain = np.array(index, bool if index and isinstance(index[0], bool) else np.intp)
    key = like(plain)
    t = ag.tensor(X, requires_grad=True)
    weights = np.arange(1.0, 1 + len(X[plain]))
    expected = np.zeros(3)
    np.add.at(expected, plain, weights)
    assert_close(t[key].detach(), X[plain])
    assert_close(ag.grad((t[key] * weights).sum(), t), expected)
    assert_close(t[:, None][key, 0].detach(), X[plain])
    if plain.dtype != bool:
        assert_close(np.take(t, key).detach(), X[plain])

    def write(x: Any) -> Any:
        y = x * 1
        y[key] = like(weights)
        y[key] = y[key] * x[0]
        return y

    y = X.copy()
    y[plain] = weights
    y[plain] = y[plain] * X[0]
    assert_close(write(t).detach(), y)
    assert_close(ag.func.jvp(write, (X,), (X,))[0], y)
    assert_close(ag.func.vmap(write)(X[None])[0], y)
    assert gradcheck(write, t)


@pytest.mark.parametrize("like", LIKES)
def test_tensors_of_array_likes(like: Any) -> None:
    assert ag.tensor(like(W)).tolist() == W
    x = ag.asarray(like([1, 2]))
    assert (x.tolist(), x.dtype.kind) == ([1, 2], "i")
    with pytest.raises(TypeError, match="numbers"):
        ag.asarray(like(["a", "b"]))
    with pytest.raises(TypeError, match="numbers"):
        x * like(["a", "b"])


def test_of_another_library_they_are_numpys_arrays() -> None:
    strict = pytest.importorskip("array_api_strict")
    x = ag.asarray(strict.asarray([1.0, 2.0]))
    with pytest.raises(TypeError, match="two libraries"):
        x * Column([1.0, 2.0])


def test_those_that_compute_themselves_do() -> None:
    class Unit(Column):
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> str:
            return "by the unit"

        def __mul__(self, other: Any) -> str:
            return "by the unit"

        __rmul__ = __mul__

    class Later(Labelled):
        __array_priority__ = 2000

        def __rmul__(self, other: Any) -> str:
            return "by the other"

        __rmatmul__ = __rmul__

    x = ag.tensor(X, requires_grad=True)
    assert x * Unit(W) == Unit(W) * x == np.multiply(x, Unit(W)) == "by the unit"
    assert x * Later(W) == x @ Later(W) == "by the other"


def test_masked_arrays_are_no_array_likes() -> None:
    x = ag.tensor(X, requires_grad=True)
    with pytest.raises(TypeError, match="MaskedArray"):
        ag.add(x, np.ma.masked_array(W, [True, False, False]))
