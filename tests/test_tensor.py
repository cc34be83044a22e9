"""`Tensor` as an object: what it shows, converts to, copies to, and refuses."""

from __future__ import annotations

import copy
import functools
import io
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.errors import NoGradientError
from arraygrad.testing import assert_close


def leaf(values: Any, **keywords: Any) -> ag.Tensor:
    return ag.tensor(values, requires_grad=True, **keywords)


# --- attributes ----------------------------------------------------------------------------------


def test_shape_and_dtype() -> None:
    t = ag.tensor(np.zeros((2, 3), np.float32))
    assert (t.shape, t.ndim, t.size, t.dtype) == ((2, 3), 2, 6, np.float32)
    assert t.device == "cpu"
    assert ag.tensor(1.0).shape == ()
    assert ag.tensor(1.0).size == 1


def test_array_is_the_plain_array() -> None:
    data = np.ones(3)
    t = ag.asarray(data)
    assert t.array is data
    x = leaf([1.0, 2.0])
    assert type((x * 2).array) is np.ndarray
    assert type(x.sum().array) is np.ndarray  # not a NumPy scalar
    assert x.sum().array.shape == ()


def test_leaves_and_results(x: ag.Tensor) -> None:
    constant, result = ag.tensor(1.0), x * 2
    assert (x.requires_grad, x.is_leaf, x.grad_fn) == (True, True, None)
    assert (constant.requires_grad, constant.is_leaf, constant.grad_fn) == (False, True, None)
    assert (result.requires_grad, result.is_leaf) == (True, False)
    assert result.grad_fn is not None
    assert (constant * 2).is_leaf


def test_requires_grad_of_a_leaf_can_be_changed() -> None:
    t = ag.tensor([1.0])
    assert t.requires_grad_() is t
    assert t.requires_grad
    t.requires_grad = False
    assert not (t * 2).requires_grad
    t.requires_grad = True
    assert (t * 2).requires_grad
    integers = ag.tensor([1])
    assert integers.requires_grad_(False) is integers


def test_results_of_comparisons_and_casts_to_integers_are_cut_off(x: ag.Tensor) -> None:
    for cut in (x > 1, x == x, ag.argmax(x), ag.isnan(x), ag.astype(x, "int64"), ag.sign(x) > 0):
        assert not cut.requires_grad
        assert cut.is_leaf


def test_detach(x: ag.Tensor) -> None:
    y = x * 2
    d = y.detach()
    assert d is not y
    assert d.array is y.array
    assert not d.requires_grad
    assert d.is_leaf
    assert d.grad is None
    assert y.requires_grad


def test_clone(x: ag.Tensor) -> None:
    c = x.clone()
    assert not np.shares_memory(c.array, x.array)
    assert ag.grad((c**2).sum(), x).tolist() == [2, 4, 6]


def test_attributes_cannot_be_invented(x: ag.Tensor) -> None:
    with pytest.raises(AttributeError):
        x.reqires_grad = True  # type: ignore[attr-defined]


def test_tensors_can_be_referred_to_weakly(x: ag.Tensor) -> None:
    assert weakref.ref(x)() is x


# --- numbers and containers ----------------------------------------------------------------------


def test_conversion_to_numbers() -> None:
    t = ag.tensor(2.5)
    assert (float(t), int(t), complex(t), bool(t), t.item()) == (2.5, 2, 2.5 + 0j, True, 2.5)
    assert type(t.item()) is float
    assert type(ag.tensor(2).item()) is int
    assert type(ag.tensor(True).item()) is bool
    assert float(ag.tensor([[2.5]])) == 2.5
    assert not ag.tensor([0.0])
    assert complex(ag.tensor(1j)) == 1j
    with pytest.raises(TypeError):
        float(ag.tensor(1j))


def test_numbers_out_of_a_graph() -> None:
    x = leaf(2.0)
    for kind in (float, int, complex):
        with pytest.warns(UserWarning, match=r"requires gradients.*item\(\)"):
            assert kind(x) == 2
    assert x.item() == 2.0
    assert x.tolist() == 2.0
    assert bool(x)


def test_many_elements_are_no_number(x: ag.Tensor) -> None:
    for convert, error in ((float, TypeError), (int, TypeError), (bool, ValueError)):
        with pytest.raises(error, match="3"):
            convert(x)
    with pytest.raises(ValueError, match=r"item\(\)"):
        x.item()
    with pytest.raises(ValueError, match="0 elements"):
        bool(ag.tensor([]))


def test_an_integer_is_an_index() -> None:
    assert [10, 20, 30][ag.tensor(1)] == 20
    assert list(range(ag.tensor(3))) == [0, 1, 2]
    for wrong in (ag.tensor(1.0), ag.tensor([1])):
        with pytest.raises(TypeError, match="0-d tensor of integers"):
            [10, 20][wrong]


def test_length_and_iteration(x: ag.Tensor) -> None:
    assert len(x) == 3
    assert [t.item() for t in x] == [1, 2, 3]
    assert ag.grad(sum(t**2 for t in x), x).tolist() == [2, 4, 6]
    a, b, c = x
    assert ag.grad(a * b + 0 * c, x).tolist() == [2, 1, 0]
    assert [row.tolist() for row in ag.tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="0-d"):
        len(x.sum())
    with pytest.raises(TypeError, match="0-d"):
        iter(x.sum())


def test_membership(x: ag.Tensor) -> None:
    assert 2.0 in x
    assert 5 not in x


def test_tensors_are_hashed_by_identity(x: ag.Tensor) -> None:
    other = x.detach()
    table = {x: "x", other: "other"}
    assert table[x] == "x"
    assert table[other] == "other"
    assert len({x, x, other}) == 2


def test_comparison_with_anything_else(x: ag.Tensor) -> None:
    assert (x == 2).tolist() == [False, True, False]
    assert (x == None) is False  # noqa: E711
    assert (x != "a") is True


def test_lists(x: ag.Tensor) -> None:
    assert x.tolist() == [1, 2, 3]
    assert ag.tensor([[1, 2]]).tolist() == [[1, 2]]
    assert ag.tensor([True]).tolist() == [True]
    assert ag.tensor(np.zeros((0, 2))).tolist() == []


# --- NumPy ---------------------------------------------------------------------------------------


def test_to_numpy() -> None:
    data = np.ones(3)
    t = ag.asarray(data)
    assert t.numpy() is data
    assert np.asarray(t) is data
    assert np.array(t, dtype="float32").dtype == np.float32
    assert not np.shares_memory(np.array(t, copy=True), data)
    assert np.asarray(t, copy=False) is data
    with pytest.raises(ValueError, match="copy"):
        np.asarray(t, dtype="float32", copy=False)


def test_numpy_is_refused_where_it_would_lose_the_gradient(x: ag.Tensor) -> None:
    for tensor in (x, x * 2):
        for convert in (lambda t: t.numpy(), np.asarray, np.array, lambda t: np.asarray(t, "f4")):
            with pytest.raises(NoGradientError, match=r"detach\(\)"):
                convert(tensor)
        assert tensor.detach().numpy().tolist() == tensor.tolist()


def test_numpy_arrays_leave_operators_to_tensors(x: ag.Tensor) -> None:
    data = np.array([4.0, 5.0, 6.0])
    for made in (data * x, x * data, data + x, data / x, data @ x, data**x, data > x):
        assert isinstance(made, ag.Tensor)
    for number in (np.float64(2), np.float32(2), np.int64(2), np.array(2.0)):
        assert isinstance(number * x, ag.Tensor)
        assert ag.grad((number * x).sum(), x).tolist() == [2, 2, 2]


# --- text ----------------------------------------------------------------------------------------


def test_representation(x: ag.Tensor) -> None:
    assert repr(ag.tensor([1.0, 2.5])) == "tensor([1. , 2.5])"
    assert repr(ag.tensor(2)) == "tensor(2)"
    assert repr(x) == "tensor([1., 2., 3.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 4., 6.], grad_fn=<MultiplyBackward>)"
    assert repr(ag.tensor([1], dtype="int8")) == "tensor([1], dtype=int8)"
    assert repr(ag.tensor(np.zeros((0, 3)))) == "tensor([], shape=(0, 3))"
    assert repr(ag.zeros(0, dtype=ag.int64)) == "tensor([], dtype=int64)"
    assert repr(ag.tensor([[1, 2], [3, 4]])) == "tensor([[1, 2],\n        [3, 4]])"
    assert str(x) == repr(x)
    assert len(repr(ag.tensor(np.arange(1e6)))) < 200


def test_format() -> None:
    t = leaf(3.14159)
    assert f"{t:.2f}" == "3.14"
    assert f"{ag.tensor(5):03d}" == "005"
    assert f"{t}" == str(t)
    with pytest.raises(TypeError, match="2 elements"):
        f"{ag.tensor([1.0, 2.0]):.2f}"
    seen: list[str] = []
    ag.func.hessian(lambda t: seen.append(f"{t:.2f}") or t**2)(np.array(3.14159))  # type: ignore[func-returns-value]
    assert set(seen) == {"3.14"}
    for text in (lambda t: f"{t:.2f}", lambda t: t.tolist()):
        with pytest.raises(TypeError, match="one for each member of the batch"):
            ag.func.vmap(text)(np.ones(3))
    with pytest.raises(TypeError, match="losing its tangent"):
        ag.func.jvp(lambda t: t.tolist(), (np.ones(3),), (np.ones(3),))


# --- copies --------------------------------------------------------------------------------------


def roundtrip(tensor: ag.Tensor) -> ag.Tensor:
    buffer = io.BytesIO()
    pickle.dump(tensor, buffer)
    buffer.seek(0)
    loaded: ag.Tensor = pickle.load(buffer)
    return loaded


@pytest.mark.parametrize("make", [copy.deepcopy, roundtrip])
def test_independent_copies(x: ag.Tensor, make: Any) -> None:
    x.grad = ag.tensor([7.0, 7.0, 7.0])
    c = make(x)
    assert c is not x
    assert c.tolist() == x.tolist()
    assert c.requires_grad
    assert c.is_leaf
    assert not np.shares_memory(c.array, x.array)
    assert c.grad is not x.grad
    assert c.grad.tolist() == [7, 7, 7]
    (c**2).sum().backward()
    assert x.grad.tolist() == [7, 7, 7]
    assert c.grad.tolist() == [9, 11, 13]
    constant = make(ag.tensor([1], dtype="int8"))
    assert not constant.requires_grad
    assert constant.dtype == np.int8


def test_shallow_copies(x: ag.Tensor) -> None:
    c = copy.copy(x)
    assert c is not x
    assert c.array is x.array
    assert c.requires_grad
    with pytest.raises(RuntimeError, match="not used"):
        ag.grad((x**2).sum(), c)


def test_a_deep_copy_keeps_what_is_shared() -> None:
    x = leaf([1.0])
    a, b = copy.deepcopy([x, x])
    assert a is b
    shared = ag.tensor([5.0])
    y = leaf([2.0])
    x.grad = y.grad = shared
    a, b = copy.deepcopy([x, y])
    assert a.grad is b.grad
    assert a.grad is not shared


def test_hooks_are_not_copied(x: ag.Tensor) -> None:
    x.register_hook(lambda g: g * 10)
    c = copy.deepcopy(x)
    assert ag.grad(c.sum(), c).tolist() == [1, 1, 1]


@pytest.mark.parametrize("make", [copy.deepcopy, pickle.dumps])
def test_results_of_ops_cannot_be_copied_deeply(x: ag.Tensor, make: Any) -> None:
    y = x * 2
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        make(y)
    assert make(y.detach()) is not None


def test_a_shallow_copy_of_a_result_keeps_its_derivative(x: ag.Tensor) -> None:
    y = x**2
    c = copy.copy(y)
    assert ag.grad((c * y).sum(), x).tolist() == (4 * x**3).tolist()
    y = x**2
    before, c = y.tolist(), copy.copy(y)
    c[0] = 7.0  # as in NumPy, the copy has memory of its own
    assert y.tolist() == before
    assert ag.grad((c**2).sum(), y).tolist() == [0, 2 * before[1], 2 * before[2]]


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_a_copy_inside_a_transform_keeps_the_derivative(make: Any) -> None:
    def cubes(x: Any) -> Any:
        y = make(x)
        y[0] *= x[0]
        y[0] *= x[0]
        return (y * make(x * 1)[0]).sum() + (x**4).sum()

    def by_numpy(x: Any) -> Any:
        y = x.clone()
        y[0] *= x[0]
        y[0] *= x[0]
        return (y * x[0]).sum() + (x**4).sum()

    point, batch = np.array([2.0, 3.0]), np.array([[2.0, 3.0], [-1.0, 0.5]])
    func = ag.func
    by_patterns = functools.partial(func.hessian, sparse=True)
    assert_close(by_patterns(cubes)(point).toarray(), func.hessian(by_numpy)(point))
    for transform in (func.grad, func.jacfwd, func.hessian, lambda f: func.jacfwd(func.grad(f))):
        assert_close(transform(cubes)(point), transform(by_numpy)(point))
        found = func.vmap(transform(cubes))(batch)
        assert_close(found, func.vmap(transform(by_numpy))(batch))


def test_an_argument_of_a_transform_cannot_be_pickled() -> None:
    with pytest.raises(TypeError, match="inside a transform"):
        ag.func.grad(lambda x: pickle.loads(pickle.dumps(x)).sum())(np.ones(2))


# --- mistakes ------------------------------------------------------------------------------------


def test_a_tensor_wraps_arrays_only() -> None:
    with pytest.raises(TypeError, match=r"use arraygrad.tensor\(\)"):
        ag.Tensor([1.0, 2.0])


def test_there_is_no_assignment_to_elements_of_a_leaf(x: ag.Tensor) -> None:
    with pytest.raises((TypeError, RuntimeError)):
        x[0] = 1.0  # type: ignore[index]
    assert x.tolist() == [1, 2, 3]


def test_asking_a_result_for_gradients_that_it_has() -> None:
    x = ag.tensor([1.0], requires_grad=True)
    y = x * 2
    assert y.requires_grad_() is y
    y.requires_grad = True
    with pytest.raises(RuntimeError, match="can only be changed on a leaf"):
        y.requires_grad_(False)


def test_values_of_a_leaf_where_nothing_is_recorded() -> None:
    x = ag.tensor([1.0], requires_grad=True)
    with ag.no_grad():
        assert x.numpy().tolist() == [1.0]
    with pytest.raises(NoGradientError, match="detach"):
        x.numpy()
