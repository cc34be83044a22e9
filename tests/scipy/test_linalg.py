"""`arraygrad.scipy.linalg`: derivatives where digits are easily lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg
from crossing import IS_RECENT

import arraygrad as ag
from arraygrad.errors import SingularError
from arraygrad.scipy import linalg

_rng = np.random.default_rng(5)


def _along(function: Any, a: Any, e: Any) -> Any:
    return np.asarray(ag.func.jvp(function, (a,), (e,))[1])


def test_expm_of_a_matrix_in_bad_units() -> None:
    """Changing units by powers of two changes no digit of the derivative."""
    a, e = _rng.normal(size=(2, 5, 5))
    a = np.triu(a)
    units = 2.0 ** (10 * np.arange(5))
    ratio = units / units[:, None]
    expected = ratio * _along(linalg.expm, a, e)
    found = _along(linalg.expm, ratio * a, ratio * e)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_expm_of_a_huge_matrix(kind: Any) -> None:
    a, e = -0.1 * np.finfo(kind).max * np.eye(2, dtype=kind), np.ones((2, 2), kind)
    np.testing.assert_array_equal(_along(linalg.expm, a, e), np.zeros((2, 2)))


@pytest.mark.parametrize(
    "function",
    [linalg.expm, linalg.logm, lambda a: linalg.fractional_matrix_power(a, 0.3), linalg.sqrtm],
    ids=["expm", "logm", "power", "sqrtm"],
)
@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_a_direction_may_have_any_size(function: Any, size: float) -> None:
    a, e = np.eye(3) + 0.3 * _rng.normal(size=(3, 3)), _rng.normal(size=(3, 3))
    expected = _along(function, a, e)
    np.testing.assert_allclose(_along(function, a, size * e) / size, expected, rtol=1e-11)


def test_expm_without_rows() -> None:
    a = ag.tensor(np.zeros((0, 0)), requires_grad=True)
    assert ag.grad(linalg.expm(a).sum(), a).shape == (0, 0)


def test_an_empty_stack() -> None:
    a = ag.tensor(np.zeros((0, 3, 3)), requires_grad=True)
    for function in (linalg.expm, linalg.sqrtm, lambda a: linalg.lu(a)[2]):
        assert function(a).shape == (0, 3, 3)


def test_det_has_scipys_precision() -> None:
    a = ag.tensor(np.eye(2, dtype=np.float32), requires_grad=True)
    out = linalg.det(a)
    assert out.dtype == np.float64
    assert ag.grad(out, a).dtype == np.float32


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sqrtm", linalg.sqrtm),
        ("logm", linalg.logm),
        ("fractional_matrix_power", lambda a: linalg.fractional_matrix_power(a, 0.3)),
        ("polar", lambda a: linalg.polar(a)[0]),
        ("polar", lambda a: linalg.polar(a)[1]),
        ("polar", lambda a: linalg.orthogonal_procrustes(a, a)[0]),
    ],
)
@pytest.mark.filterwarnings("ignore")  # SciPy warns about the values
def test_a_singular_matrix_has_no_derivative(name: str, function: Any) -> None:
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(SingularError, match=f"{name}: the matrix is singular"):
        ag.func.grad(lambda a: ag.sum(ag.real(function(a))))(a)
    with pytest.raises(SingularError, match=f"{name}: the matrix is singular"):
        _along(function, a, a)


_TWICE = (lambda v: v @ np.diag([1.0, 1.0, 2.0]) @ np.linalg.inv(v))(_rng.normal(size=(3, 3)))
_FREE = np.array([[0.0, 1.0], [0.0, 0.0]])  # a mass without force: it goes on for ever


@pytest.mark.parametrize(
    ("function", "at", "message"),
    [
        (lambda a: linalg.funm(a, np.exp), _TWICE, "values coincide"),
        (lambda a: linalg.funm(a, np.exp), np.eye(2), "values coincide"),
        (lambda a: linalg.schur(a)[0], _TWICE, "schur: values coincide"),
        (lambda a: linalg.schur(a)[0], np.eye(3), "schur: values coincide"),
        (lambda a: linalg.solve_sylvester(a, a, np.eye(2)), _FREE, "equation is singular"),
        (lambda a: linalg.solve_continuous_lyapunov(a, np.eye(2)), _FREE, "equation is singular"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # SciPy warns about the values
def test_what_is_not_determined_has_no_derivative(function: Any, at: Any, message: str) -> None:
    with pytest.raises(SingularError, match=message):
        ag.func.grad(lambda a: ag.sum(ag.real(function(a)) * np.arange(1.0, len(a) + 1)))(at)


def test_an_integer_power_of_a_singular_matrix_has_a_derivative() -> None:
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(_along(lambda a: linalg.fractional_matrix_power(a, 2), a, a), 10 * a)


@pytest.mark.parametrize("a", [_rng.normal(size=(3, 3)), _rng.normal(size=(3, 3)) + 0.5j])
def test_eigenvectors_are_those_of_scipy(a: Any) -> None:
    expected = scipy.linalg.eig(a, left=True)
    found = linalg.eig(ag.tensor(a, requires_grad=True), left=True)
    for value, tensor in zip(expected, found, strict=True):
        np.testing.assert_allclose(tensor.detach().numpy(), value, rtol=1e-12, atol=1e-13)


@pytest.mark.filterwarnings("ignore:Matrix is exactly singular")
@pytest.mark.parametrize("k", [1, 2])  # also if the other value is not among those that are found
def test_sparse_vectors_of_values_that_coincide_have_no_gradient(k: int) -> None:
    a = ag.tensor(np.diag([1.0, 1.0, 3.0, 4.0, 5.0, 5.0]), requires_grad=True)
    _, vectors = ag.scipy.sparse.linalg.eigsh(a, k=k)
    with pytest.raises(SingularError, match=r"coincide.*the gap is"):
        ag.grad((vectors**2 * np.arange(6.0)[:, None]).sum(), a)


def test_the_other_value_of_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy returns one value of a pair by chance, and is called twice for values alone."""
    ours, original = ag.scipy.sparse.linalg.eigs, scipy.sparse.linalg.eigs

    def eigs(*args: Any, return_eigenvectors: bool = True, **options: Any) -> Any:
        values, vectors = original(*args, **options)
        return (values, vectors) if return_eigenvectors else values.conj()

    monkeypatch.setattr(scipy.sparse.linalg, "eigs", eigs)
    a = np.diag([1.0, 1.0, 0.1, 0.2]) + np.diag([5.0, 0.0, 0.0], 1) - np.diag([3.0, 0.0, 0.0], -1)

    def size(x: Any) -> Any:
        return ag.abs(ours(x, k=1, return_eigenvectors=False))[0]

    h = 1e-6 * np.eye(4)  # which moves the real part only
    expected = np.max(np.abs(np.linalg.eigvals(a + h))) - np.max(np.abs(np.linalg.eigvals(a - h)))
    assert np.trace(ag.func.grad(size)(a)) == pytest.approx(expected / 2e-6, rel=1e-6)


@pytest.mark.filterwarnings("ignore")  # of SciPy, about the logarithm
def test_powers_of_a_singular_matrix_have_scipys_values() -> None:
    for power in (0.2, 1.5, 2.0):
        t = ag.tensor(power, requires_grad=True)
        zeros = [np.zeros((2, 2))] if IS_RECENT else []  # of which SciPy 1.14 divides by zero
        for a in (*zeros, np.ones((2, 2)), np.array([[1.0, 2.0], [3.0, 6.0]])):
            found = linalg.fractional_matrix_power(a, t)
            expected = scipy.linalg.fractional_matrix_power(a, power)
            np.testing.assert_allclose(found.detach(), expected, atol=1e-12)
