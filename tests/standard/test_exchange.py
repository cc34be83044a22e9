"""Tensors among the arrays of other libraries: namespaces, DLPack, and devices."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
import pytest

import arraygrad as ag
from arraygrad.arrays.batched import batched_type
from arraygrad.arrays.dual import dual_type


@pytest.mark.parametrize("version", [None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"])
def test_the_namespace_of_a_tensor(version: str | None) -> None:
    assert ag.ones(2).__array_namespace__(api_version=version) is ag
    assert array_api_compat.array_namespace(ag.ones(2), ag.zeros(3), api_version=version) is ag


def test_an_unknown_revision() -> None:
    with pytest.raises(ValueError, match=r"api_version must be one of .*2025.12.* not '2019.12'"):
        ag.ones(2).__array_namespace__(api_version="2019.12")


def test_the_namespace_inside_transforms() -> None:
    """Code that follows the standard asks its arguments for their namespace."""

    def norm(x: Any) -> Any:
        xp = array_api_compat.array_namespace(x)
        return xp.sqrt(xp.sum(xp.asarray(x, dtype=xp.float64) ** 2))

    x = np.array([3.0, 4.0])
    np.testing.assert_allclose(ag.func.grad(norm)(x), [0.6, 0.8])
    value, slope = ag.func.jvp(norm, (x,), (np.array([1.0, 0.0]),))
    np.testing.assert_allclose([value, slope], [5.0, 0.6])
    np.testing.assert_allclose(ag.func.vmap(norm)(np.stack([x, 2 * x])), [5.0, 10.0])
    np.testing.assert_allclose(
        ag.func.hessian(norm)(x), (np.eye(2) - np.outer(x, x) / 25) / 5, atol=1e-12
    )


# --- DLPack --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", [ag.bool, ag.int8, ag.uint16, ag.int64, ag.float32, ag.float64, ag.complex128]
)
def test_dlpack_shares_memory(dtype: Any) -> None:
    x = ag.ones((2, 3), dtype=dtype)
    array = np.from_dlpack(x)
    assert np.shares_memory(array, x.array)
    assert array.dtype == dtype
    back = ag.from_dlpack(array)
    assert isinstance(back, ag.Tensor)
    assert np.shares_memory(back.array, x.array)
    assert back.shape == (2, 3)


def test_dlpack_of_views() -> None:
    x = ag.asarray(np.arange(12.0).reshape(3, 4))
    assert np.from_dlpack(x[::-1, 1::2]).tolist() == [[9, 11], [5, 7], [1, 3]]
    assert np.from_dlpack(x.T).shape == (4, 3)
    assert np.from_dlpack(x[1, 2]).shape == ()


def test_dlpack_and_torch() -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.arange(4.0)
    ours = ag.from_dlpack(theirs)
    theirs[0] = 7
    assert ours.tolist() == [7, 1, 2, 3]
    again = torch.from_dlpack(ours)
    again[1] = 9
    assert ours.tolist() == [7, 9, 2, 3]


def test_dlpack_copies_on_demand() -> None:
    data = np.zeros(2)
    copied = ag.from_dlpack(data, copy=True)
    assert not np.shares_memory(copied.array, data)
    assert np.shares_memory(ag.from_dlpack(data, copy=False, device="cpu").array, data)
    x = ag.asarray(data)
    exported = np.from_dlpack(x, copy=True)
    assert not np.shares_memory(exported, data)


def test_dlpack_device() -> None:
    assert tuple(ag.ones(2).__dlpack_device__()) == tuple(np.ones(2).__dlpack_device__())


def test_dlpack_refuses_what_has_gradients() -> None:
    x = ag.tensor([1.0], requires_grad=True)
    for refused in (x, 2 * x):
        with pytest.raises(BufferError, match=r"requires gradients.*detach\(\)"):
            np.from_dlpack(refused)
    assert np.from_dlpack(x.detach()).tolist() == [1]
    with ag.no_grad():
        assert np.from_dlpack(2 * x).tolist() == [2]


def test_dlpack_refuses_values_inside_transforms() -> None:
    arrays = (batched_type(1.0)(np.ones((2, 3))), dual_type(1.0)(np.ones(2), np.ones(2)))
    for array in arrays:
        with pytest.raises(BufferError, match="inside a transform"):
            np.from_dlpack(array)
        with pytest.raises(BufferError, match="inside a transform"):
            np.from_dlpack(ag.tensor(array))


def test_from_dlpack_of_something_else() -> None:
    with pytest.raises(TypeError, match="x must speak DLPack, but list has no __dlpack__"):
        ag.from_dlpack([1.0])


# --- making arrays out of others -----------------------------------------------------------------


def test_asarray_of_tensors_in_sequences_stays_in_their_graph() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    made = ag.asarray([[x[0], 5.0], [x[1] ** 2, x[0] * x[1]]])
    assert made.detach().tolist() == [[1, 5], [4, 2]]
    assert ag.grad(made.sum(), x).tolist() == [3, 5]
    with pytest.raises(ValueError, match="copy"):
        ag.asarray([x[0], x[1]], copy=False)


def test_asarray_inside_transforms() -> None:
    x = np.array([1.0, 2.0])
    _, slope = ag.func.jvp(lambda x: ag.asarray(x, copy=True) ** 2, (x,), (x,))
    assert slope.tolist() == [2, 8]
    assert ag.func.vmap(lambda x: ag.asarray([x, 2 * x]))(x).tolist() == [[1, 2], [2, 4]]


def test_filled_with_a_tensor() -> None:
    x = ag.tensor(2.0, requires_grad=True)
    for made in (ag.full((2, 3), x), ag.full_like(ag.zeros((2, 3)), x)):
        assert made.shape == (2, 3)
        assert ag.grad((made**2).sum(), x).item() == 24
    with pytest.raises(ValueError, match=r"fill_value must be .* 0-d, got shape \(2,\)"):
        ag.full((2,), ag.ones(2))


def test_linspace_between_tensors() -> None:
    a, b = (ag.tensor(v, requires_grad=True) for v in (1.0, 5.0))
    made = ag.linspace(a, b, 5)
    assert made.detach().tolist() == [1, 2, 3, 4, 5]
    gradients = ag.grad((made * ag.arange(5)).sum(), (a, b))
    np.testing.assert_allclose([g.item() for g in gradients], [2.5, 7.5])


@pytest.mark.parametrize("transform", [ag.func.grad, ag.func.jacfwd, ag.func.hessian])
def test_arrays_like_others_can_be_written_inside_transforms(transform: Any) -> None:
    def with_writes(x: Any) -> Any:
        out = ag.zeros_like(x)
        out[1] = x[0] ** 3
        return (out * x).sum()

    def without(x: Any) -> Any:
        return x[0] ** 3 * x[1]

    x = np.array([2.0, 3.0])
    np.testing.assert_allclose(transform(with_writes)(x), transform(without)(x))


def test_dtypes_of_other_libraries() -> None:
    strict = pytest.importorskip("array_api_strict")
    x = ag.asarray(strict.asarray([1.0, 2.0]))
    assert ag.astype(x, ag.float32).dtype == strict.float32
    assert ag.zeros_like(x, dtype=ag.int8).dtype == strict.int8
    assert ag.isdtype(x.dtype, "real floating")
    assert ag.finfo(x.dtype).bits == 64
    assert ag.result_type(x, ag.float32) == strict.float64


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: ag.median(x, axis=1), lambda x: np.median(x, axis=1)),
        (lambda x: ag.quantile(x, [0.2, 0.7]), lambda x: np.quantile(x, [0.2, 0.7])),
        (lambda x: ag.percentile(x, 30.0), lambda x: np.percentile(x, 30.0)),
        (lambda x: ag.nanmean(x, axis=0), lambda x: np.nanmean(x, axis=0)),
        (lambda x: ag.nanvar(x, correction=1), lambda x: np.nanvar(x, correction=1)),
        (lambda x: ag.nanmedian(x), lambda x: np.nanmedian(x)),
        (lambda x: ag.pad(x, 2, mode="reflect"), lambda x: np.pad(x, 2, mode="reflect")),
        (lambda x: ag.pad(x, 1), lambda x: np.pad(x, 1)),
        (lambda x: ag.diff(x, axis=0), lambda x: np.diff(x, axis=0)),
        (lambda x: ag.gradient(x, axis=1), lambda x: np.gradient(x, axis=1)),
        (lambda x: ag.trapezoid(x), lambda x: np.trapezoid(x)),
        (lambda x: ag.convolve(x[0, :], x[1, :]), lambda x: np.convolve(x[0], x[1])),
        (lambda x: ag.kron(x, x), lambda x: np.kron(x, x)),
        (lambda x: ag.diag(x[0, :], 1), lambda x: np.diag(x[0], 1)),
        (lambda x: ag.unique_values(x), lambda x: np.unique(x)),
        (lambda x: ag.histogram(x, 3)[0], lambda x: np.histogram(x, 3)[0]),
        (lambda x: ag.cov(x), lambda x: np.cov(x)),
        (lambda x: ag.fmax(x, 0.5), lambda x: np.fmax(x, 0.5)),
        (lambda x: ag.cbrt(x), lambda x: np.cbrt(x)),
        (lambda x: ag.meshgrid(x[0, :], x[1, :])[0], lambda x: np.meshgrid(x[0], x[1])[0]),
    ],
)
def test_beyond_the_standard_over_torch(call: Any, expected: Any) -> None:
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(0).standard_normal((3, 4))
    x = ag.tensor(torch.asarray(values), requires_grad=True)
    result = call(x)
    assert isinstance(result.array, torch.Tensor)
    np.testing.assert_allclose(result.detach().array.numpy(), expected(values), rtol=1e-10)
    if result.requires_grad:
        y = ag.tensor(values, requires_grad=True)
        found, same = ag.grad(ag.sum(result**2), x), ag.grad(ag.sum(call(y) ** 2), y)
        np.testing.assert_allclose(found.array.numpy(), same.array, rtol=1e-10)
