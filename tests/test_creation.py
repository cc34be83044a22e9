"""Making tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag


def test_tensor_copies() -> None:
    data = np.array([1.0, 2.0])
    t = ag.tensor(data)
    data[0] = 7
    assert t.tolist() == [1, 2]
    again = ag.tensor(t)
    assert not np.shares_memory(again.array, t.array)
    x = ag.tensor(data, requires_grad=True)
    assert not ag.tensor(x).requires_grad  # a new leaf


def test_asarray_shares_where_it_can() -> None:
    data = np.array([1.0, 2.0])
    t = ag.asarray(data)
    assert t.array is data
    assert ag.asarray(t) is t
    assert not np.shares_memory(ag.asarray(data, copy=True).array, data)
    assert ag.asarray(data, dtype="float32").dtype == np.float32
    assert ag.asarray(data, copy=False).array is data
    with pytest.raises(ValueError, match="copy"):
        ag.asarray(data, dtype="float32", copy=False)
    with pytest.raises(ValueError, match="numbers and sequences have to be copied"):
        ag.asarray([1, 2], copy=False)


def test_asarray_of_a_tensor_stays_in_its_graph() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    assert ag.asarray(x, dtype="float64", device="cpu") is x
    for made in (ag.asarray(x, copy=True), ag.asarray(x, dtype="float32")):
        assert made is not x
        assert ag.grad((made**2).sum(), x).tolist() == [2, 4]
    with pytest.raises(ValueError, match="copy=False"):
        ag.asarray(x, dtype="float32", copy=False)


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        (1, np.int64, 1),
        (1.5, np.float64, 1.5),
        (True, np.bool_, True),
        (1j, np.complex128, 1j),
        ([1, 2.5], np.float64, [1, 2.5]),
        ((1, 2), np.int64, [1, 2]),
        ([[1, 2], [3, 4]], np.int64, [[1, 2], [3, 4]]),
        (range(3), np.int64, [0, 1, 2]),
        (np.float32(2), np.float32, 2),
        ([np.ones(2), [3, 4]], np.float64, [[1, 1], [3, 4]]),
        ([], np.float64, []),
    ],
)
def test_data_of_many_kinds(data: Any, dtype: Any, values: Any) -> None:
    for make in (ag.tensor, ag.asarray):
        t = make(data)
        assert type(t.array) is np.ndarray
        assert t.dtype == dtype
        assert t.tolist() == values


def test_lists_of_tensors() -> None:
    t = ag.tensor([ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0])])
    assert t.tolist() == [[1, 2], [3, 4]]
    x = ag.tensor(1.0, requires_grad=True)
    with pytest.raises(TypeError, match=r"data holds tensors.*stack\(\)"):
        ag.tensor([x, [x]])


@pytest.mark.parametrize(
    "data",
    [
        "text",
        None,
        [1, None],
        {"a": 1},
        object(),
        np.array(["a"]),
        np.datetime64("2020"),
        (i for i in "a"),
    ],
)
def test_data_that_is_no_numbers(data: Any) -> None:
    with pytest.raises(TypeError, match="data must be numbers"):
        ag.tensor(data)


def test_ragged_data() -> None:
    for make in (ag.zeros, ag.ones, ag.empty, lambda shape: ag.full(shape, 1.0)):
        with pytest.raises(TypeError, match="shape must be an integer or a sequence of them, got"):
            make((2, None))
    with pytest.raises(ValueError, match="inhomogeneous"):
        ag.tensor([[1, 2], [3]])


@pytest.mark.parametrize("make", [ag.tensor, ag.asarray])
def test_arrays_that_compute_in_another_way_are_refused(make: Any) -> None:
    with pytest.raises(TypeError, match=r"MaskedArray.*ndarray"):
        make(np.ma.masked_array([1.0, 2.0], mask=[True, False]))


def test_dtypes() -> None:
    assert ag.tensor([1, 2], dtype=float).dtype == np.float64
    assert ag.tensor([1, 2], dtype="float16", requires_grad=True).dtype == np.float16
    assert ag.tensor(np.ones(2), dtype=np.int8).dtype == np.int8
    with pytest.raises(TypeError, match="nonsense"):
        ag.tensor([1], dtype="nonsense")


def test_devices() -> None:
    assert ag.tensor([1.0], device="cpu").device == "cpu"
    with pytest.raises(ValueError, match="gpu"):
        ag.tensor([1.0], device="gpu")


def test_only_floating_point_leaves_require_gradients() -> None:
    for dtype in ("float16", "float32", "float64", "complex64", "complex128"):
        assert ag.tensor([1], dtype=dtype, requires_grad=True).requires_grad
    for data in (1, True, [1, 2], np.uint8(3)):
        with pytest.raises(TypeError, match="only floating-point and complex"):
            ag.tensor(data, requires_grad=True)


def test_filled_tensors() -> None:
    assert ag.zeros((2, 1)).tolist() == [[0], [0]]
    assert ag.ones(2, dtype="int8").tolist() == [1, 1]
    assert ag.ones(2, dtype="int8").dtype == np.int8
    assert ag.full(2, 3).dtype == np.int64
    assert ag.full((), 2.5).item() == 2.5
    assert ag.empty((2, 3), dtype="float32").shape == (2, 3)
    assert ag.eye(2, 3, k=1).tolist() == [[0, 1, 0], [0, 0, 1]]
    for made in (ag.zeros(1), ag.ones(1), ag.eye(1)):
        assert made.dtype == np.float64
        assert not made.requires_grad
    with pytest.raises(TypeError, match="dtype object"):
        ag.zeros(2, dtype=object)


def test_ranges() -> None:
    assert ag.arange(3).tolist() == [0, 1, 2]
    assert ag.arange(1, 3).tolist() == [1, 2]
    assert ag.arange(3, 0, -1).tolist() == [3, 2, 1]
    assert ag.arange(0, 1, 0.25, dtype="float32").dtype == np.float32
    assert ag.linspace(0, 1, 3).tolist() == [0, 0.5, 1]
    assert ag.linspace(0, 1, 2, endpoint=False).tolist() == [0, 0.5]


def test_tensors_like_others() -> None:
    x = ag.tensor([[1.0, 2.0]], dtype="float32", requires_grad=True)
    for made, value in (
        (ag.zeros_like(x), 0),
        (ag.ones_like(x), 1),
        (ag.full_like(x, 7), 7),
    ):
        assert made.tolist() == [[value, value]]
        assert made.dtype == np.float32
        assert not made.requires_grad
    assert ag.empty_like(x).shape == (1, 2)
    assert ag.zeros_like(x, dtype="int64", device="cpu").dtype == np.int64
    assert ag.ones_like(np.zeros(2)).tolist() == [1, 1]
    with pytest.raises(TypeError, match="x must be a Tensor or an array, not float"):
        ag.ones_like(1.0)


def test_arrays_of_another_library_keep_it() -> None:
    strict = pytest.importorskip("array_api_strict")
    data = strict.asarray([1.0, 2.0])
    t = ag.tensor(data, requires_grad=True)
    assert type(t.array) is type(data)
    assert type(ag.asarray(data).array) is type(data)
    made = ag.zeros_like(t)
    assert type(made.array) is type(data)
    assert made.dtype == strict.float64


def test_steps_of_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="step must not be zero"):
        ag.arange(0, 3, 0)
