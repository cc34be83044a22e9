"""Reading, adding and sorting by NumPy's kernels of ours, against NumPy's own functions."""

from __future__ import annotations

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag
from arraygrad.backends.numpy import indexing as numpy_indexing
from arraygrad.core.indices import HOLE

rng = np.random.default_rng(0)
ALL = slice(None)


@pytest.fixture(autouse=True, params=[True, False], ids=["many", "few"])
def many(request, monkeypatch):
    """Take small arrays for large ones, too."""
    if request.param:
        monkeypatch.setattr(numpy_indexing, "_MANY", 1)


def integers(n, *shape):
    return rng.integers(-n, n, shape)


INDICES = {
    "rows": ((50, 4), (HOLE,), (integers(50, 200),)),
    "numbers": ((50,), (HOLE,), (integers(50, 200),)),
    "few rows of many": ((50, 4), (HOLE,), (integers(50, 3),)),
    "rows of rows": ((50, 4, 3), (HOLE,), (integers(50, 20, 5),)),
    "pairs that broadcast": ((5, 6, 4), (HOLE, HOLE), (integers(5, 20, 1), integers(6, 7))),
    "pairs": ((5, 6), (HOLE, HOLE), (integers(5, 20), integers(6, 20))),
    "a middle axis": ((5, 6, 4), (ALL, HOLE), (integers(6, 8, 2),)),
    "the last axis": ((5, 6, 4), (ALL, ALL, HOLE), (integers(4, 8),)),
    "apart": ((5, 6, 4), (HOLE, ALL, HOLE), (integers(5, 8), integers(4, 8))),
    "with a number": ((5, 6, 4), (HOLE, 2), (integers(5, 8),)),
    "of length one": ((1, 1, 4), (HOLE, HOLE), (np.zeros(8, int), np.zeros(8, int))),
    "rows of nothing": ((5, 0), (HOLE,), (integers(5, 8),)),
    "no rows": ((5, 4), (HOLE,), (np.zeros(0, int),)),
    "no rows of none": ((0, 4), (HOLE,), (np.zeros(0, int),)),
    "a mask": ((5, 4), (HOLE,), (np.array([True, False, True, True, False]),)),
    "unsigned": ((5, 4), (HOLE,), (rng.integers(0, 5, 50).astype(np.uint8),)),
    "one": ((5, 4), (HOLE,), (np.asarray(3),)),
}


@crossed(name=INDICES, dtype=["float32", "float64", "complex64", "float16", "longdouble"])
def test_adding(name, dtype):
    shape, template, indices = INDICES[name]
    rest = iter(indices)
    index = tuple(next(rest) if part is HOLE else part for part in template)
    x = rng.standard_normal(shape).astype(dtype)
    read = numpy_indexing.getitem(x, *indices, template=template)
    np.testing.assert_array_equal(read, x[index])
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if dtype == "float16" else {"rtol": 1e-5, "atol": 1e-5}
    for values in (rng.standard_normal(np.shape(read)).astype(dtype), np.asarray(2.5, dtype)):
        expected = np.zeros(shape, dtype)
        np.add.at(expected, index, values)
        found = numpy_indexing.index_add(values, *indices, template=template, shape=shape)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, **tolerance)
        into = x.copy()
        numpy_indexing.add_at(into, values, indices, template)
        np.testing.assert_allclose(into, x + expected, **tolerance)


def test_adding_without_scipy(monkeypatch):
    shape, template, indices = INDICES["rows"]
    values = rng.standard_normal((200, 4))
    expected = numpy_indexing.index_add(values, *indices, template=template, shape=shape)
    monkeypatch.setattr(numpy_indexing, "scipy_part", lambda name: None)
    found = numpy_indexing.index_add(values, *indices, template=template, shape=shape)
    np.testing.assert_array_equal(found, expected)  # the sums are made in the same order


@pytest.mark.parametrize("shape", [(7,), (5, 6), (3, 4, 5), (3, 0, 5), (1, 4)])
@pytest.mark.parametrize("ties", [True, False])
def test_sorting_is_stable(shape, ties):
    x = rng.standard_normal(shape)
    if ties:
        x = np.round(x)
        x.reshape(-1)[1::3] = np.nan
    for axis in range(len(shape)):
        order = numpy_indexing.argsort(x, axis, False, True)
        np.testing.assert_array_equal(order, np.argsort(x, axis=axis, kind="stable"))
        if not ties:
            order = numpy_indexing.argsort(x, axis, True, True)
            np.testing.assert_array_equal(order, np.argsort(-x, axis=axis, kind="stable"))
        found = numpy_indexing.take_along_axis(x, order, axis)
        np.testing.assert_array_equal(found, np.take_along_axis(x, order, axis))


def test_lines_with_ties_among_others_without():
    x = rng.standard_normal((30, 40))
    x[3, 5] = x[3, 6] = x[3, 20]
    x[7, :3] = np.nan
    for axis in (0, 1):
        order = numpy_indexing.argsort(x, axis, False, True)
        np.testing.assert_array_equal(order, np.argsort(x, axis=axis, kind="stable"))


def test_reading_along_an_axis():
    x = rng.standard_normal((4, 5, 6))
    for indices in (integers(5, 4, 3, 6), integers(5, 1, 2, 1), rng.integers(0, 5, (4, 9, 6))):
        found = numpy_indexing.take_along_axis(x, indices, 1)
        np.testing.assert_array_equal(found, np.take_along_axis(x, indices, 1))
    with pytest.raises(IndexError):
        numpy_indexing.take_along_axis(x, np.full((4, 5, 6), 5), 1)
    with pytest.raises(IndexError):
        numpy_indexing.getitem(x, np.full(3, 4), template=(HOLE,))


def test_few_rows_read_often_add_up():
    x = ag.tensor(rng.standard_normal((300, 8)), requires_grad=True)
    rows = [rng.integers(0, 300, 5) for _ in range(6)]
    g = ag.grad(sum((x[r] ** 2).sum() for r in rows) + (x**3).sum(), x)
    counts = np.bincount(np.concatenate(rows), minlength=300)[:, None]
    np.testing.assert_allclose(g.array, 2 * counts * x.array + 3 * x.array**2)
