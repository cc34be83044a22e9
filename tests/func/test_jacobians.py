"""`jvp`, `jacrev`, `jacfwd`, `jacobian`, `hessian` and `hvp`: arguments, results, mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.arrays.batched import Batched
from arraygrad.func import hessian, hvp, jacfwd, jacobian, jacrev, jvp, vjp
from arraygrad.testing import assert_close

A = np.array([1.0, 2.0, 3.0])
Z = np.array([1 + 2j, 3 - 1j])
ALL = pytest.mark.parametrize("jac", [jacrev, jacfwd, jacobian])


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


# --- jvp -----------------------------------------------------------------------------------------


def test_jvp_of_structures() -> None:
    def f(x: Any, p: Any) -> Any:
        return {"product": x * p["y"], "sum": (x.sum(), 3.0), "best": ag.argmax(x)}

    value, tangent = jvp(f, (A, {"y": 2 * A}), (np.ones(3), {"y": A}))
    close(value["product"], 2 * A * A)
    close(tangent["product"], 2 * A + A * A)
    close(tangent["sum"][0], 3)
    assert tangent["sum"][1] == 0
    assert tangent["best"] == 0
    assert type(value["product"]) is type(tangent["product"]) is np.ndarray


def test_jvp_aux_and_tensors() -> None:
    value, tangent, aux = jvp(
        lambda x: (x**2, {"x": x, "s": "text"}), (ag.tensor(A),), (A,), has_aux=True
    )
    assert isinstance(value, ag.Tensor)
    assert isinstance(tangent, ag.Tensor)
    assert isinstance(aux["x"], ag.Tensor)
    close(tangent, 2 * A * A)


def test_jvp_numbers_and_dtypes() -> None:
    value, tangent = jvp(lambda x: x**2, (3.0,), (1.0,))
    assert (value, tangent) == (9, 6)
    x = A.astype(np.float32)
    _, tangent = jvp(lambda x: x**2, (x,), (np.ones(3),))
    assert tangent.dtype == np.float32
    _, tangent = jvp(lambda x: x**2, (A,), (np.ones(3, int),))
    close(tangent, 2 * A)
    _, tangent = jvp(lambda z: z**2, (Z,), (np.ones(2),))
    close(tangent, 2 * Z)


@pytest.mark.parametrize(
    ("primals", "tangents", "error", "message"),
    [
        (A, A, TypeError, "must be tuples"),
        ((A,), (np.ones(2),), ValueError, r"tangent 0 has shape \(2,\), .* \(3,\)"),
        ((A,), (1.0,), ValueError, r"tangent 0 has shape \(\)"),
        ((A,), (A, A), ValueError, "structure of primals"),
        (([A],), (A,), ValueError, "structure of primals"),
        ((A,), (A * 1j,), TypeError, "tangent 0 is complex"),
        ((np.arange(3),), (np.arange(3),), TypeError, r"primals\[0\] has dtype int64"),
        (({"a": 1},), ({"a": 1},), TypeError, r"primals\[0\]\['a'\] has dtype int64"),
    ],
)
def test_jvp_mistakes(primals: Any, tangents: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        jvp(lambda x: x, primals, tangents)


# --- Jacobians -----------------------------------------------------------------------------------


@ALL
def test_shape_and_values(jac: Any) -> None:
    x = np.arange(6.0).reshape(2, 3) + 1
    found = jac(lambda x: ag.stack([x[0] * x[1], x[0] ** 2]))(x)
    assert type(found) is np.ndarray
    assert found.shape == (2, 3, 2, 3)
    assert found.flags.writeable
    for i in range(3):
        close(found[0, i, 0, i], x[1, i])
        close(found[0, i, 1, i], x[0, i])
        close(found[1, i, 0, i], 2 * x[0, i])
    assert np.count_nonzero(found) == 9


@ALL
def test_structures_and_argnums(jac: Any) -> None:
    found = jac(lambda x, p: {"a": x * p["y"], "b": [p["y"].sum()]}, (0, -1))(A, {"y": 2 * A})
    assert list(found) == ["a", "b"]
    close(found["a"][0], np.diag(2 * A))
    close(found["a"][1]["y"], np.diag(A))
    close(found["b"][0][0], np.zeros(3))
    close(found["b"][0][1]["y"], np.ones(3))
    close(jac(lambda x, y: x * y, 1)(A, A), np.diag(A))


@ALL
def test_aux(jac: Any) -> None:
    found, aux = jac(lambda x: (x**2, {"x": x, "s": "text", "n": None}), has_aux=True)(A)
    close(found, np.diag(2 * A))
    assert type(aux["x"]) is np.ndarray
    assert aux["s"] == "text"


@ALL
@pytest.mark.parametrize("chunk_size", [1, 2, 3, 7, 100])
def test_chunks(jac: Any, chunk_size: int) -> None:
    rng = np.random.default_rng(1)
    w = rng.normal(size=(5, 7))
    found = jac(lambda x: (ag.tanh(w @ x), x[:2]), chunk_size=chunk_size)(rng.normal(size=7))
    whole = jac(lambda x: (ag.tanh(w @ x), x[:2]))(rng.normal(size=7))
    assert [f.shape for f in found] == [f.shape for f in whole] == [(5, 7), (2, 7)]
    again = jac(lambda x: ag.tanh(w @ x), chunk_size=chunk_size)(np.ones(7))
    close(again, jac(lambda x: ag.tanh(w @ x))(np.ones(7)))


@ALL
def test_results_without_a_derivative(jac: Any) -> None:
    found = jac(lambda x: (x, np.ones(2), 3.0, ag.argmax(x), None))(A)
    close(found[0], np.eye(3))
    close(found[1], np.zeros((2, 3)))
    close(found[2], np.zeros(3))
    close(found[3], np.zeros(3))
    assert [f.dtype for f in found[:4]] == [np.float64] * 4
    assert found[4] is None
    assert all(f.flags.writeable for f in found[:4])


@ALL
def test_an_input_that_is_not_used(jac: Any) -> None:
    found = jac(lambda x, y: x**2, 1)(A, np.ones((2, 1)))
    assert found.shape == (3, 2, 1)
    assert not found.any()
    found[:] = 1  # the caller's own


@ALL
def test_nothing_in_and_nothing_out(jac: Any) -> None:
    assert jac(lambda x: x**2)(np.zeros(0)).shape == (0, 0)
    assert jac(lambda x: x[:0])(A).shape == (0, 3)
    assert jac(lambda x: ag.ones((2,)) * x.sum())(np.zeros((0, 4))).shape == (2, 0, 4)


@ALL
def test_dtypes_do_not_depend_on_the_mode(jac: Any) -> None:
    a, b = jac(lambda x, y: x * y, (0, 1))(A.astype(np.float32), A)
    assert (a.dtype, b.dtype) == (np.float32, np.float64)
    assert jac(lambda x: x * (1 + 2j))(A.astype(np.float32)).dtype == np.complex64
    assert jac(lambda x: x**2)(3.0) == 6


@ALL
def test_complex(jac: Any) -> None:
    close(jac(lambda z: z**2 * 1j, holomorphic=True)(Z), np.diag(2j * Z))
    close(jac(lambda x: x**2 * (1 + 2j))(A), np.diag(2 * A * (1 + 2j)))
    complex_part, real_part = jac(lambda x: (ag.exp(1j * x), x**2))(A)
    close(complex_part, np.diag(1j * np.exp(1j * A)))
    close(real_part, np.diag(2 * A))
    assert real_part.dtype == np.float64
    # Through a function that is real to real, by way of complex numbers.
    close(jac(lambda x: ag.real(ag.exp(1j * x)))(A), np.diag(-np.sin(A)))
    close(jac(lambda x: x * (1 + 2j), chunk_size=2)(A), np.eye(3) * (1 + 2j))


@ALL
def test_complex_mistakes(jac: Any) -> None:
    with pytest.raises(ValueError, match="input 0 is complex"):
        jac(lambda z: z**2)(Z)
    with pytest.raises(ValueError, match="input 0 is complex"):
        jac(lambda z: z**2)(1j)
    with pytest.raises(ValueError, match="input 0 is real"):
        jac(lambda z: z * 1j, holomorphic=True)(A)
    with pytest.raises(ValueError, match="result 0 has dtype float64"):
        jac(lambda z: ag.abs(z), holomorphic=True)(Z)


@ALL
def test_mistakes(jac: Any) -> None:
    with pytest.raises(TypeError, match="argument 0 has dtype int64"):
        jac(lambda x: x**2)(np.arange(3))
    with pytest.raises(TypeError, match="result 1 is of type str"):
        jac(lambda x: (x, "text"))(A)
    with pytest.raises(ValueError, match="chunk_size must be at least 1"):
        jac(lambda x: x, chunk_size=0)
    with pytest.raises(TypeError, match="takes a function"):
        jac(None)
    with pytest.raises(ValueError, match="argument 4"):
        jac(lambda x: x, 4)(A)


@ALL
def test_tensors_in_tensors_out(jac: Any) -> None:
    x = ag.tensor(A, requires_grad=True)
    found = jac(lambda x: x**3)(x)
    assert found.requires_grad
    close(ag.grad(found.sum(), x), 6 * A)


def test_the_cheaper_mode_is_chosen() -> None:
    runs: list[type] = []

    def wide(x: Any) -> Any:
        runs.append(type(x))
        return ag.stack([x.sum(), x.prod()])

    def tall(x: Any) -> Any:
        runs.append(type(x))
        return ag.concat([x, x**2, x**3])

    jacobian(wide)(np.ones(50))
    assert [issubclass(kind, ag.Tensor) for kind in runs] == [True]
    runs.clear()
    close(jacobian(tall)(A), np.vstack([np.eye(3), np.diag(2 * A), np.diag(3 * A**2)]))
    assert [issubclass(kind, ag.Tensor) for kind in runs] == [True, False]


# --- second derivatives --------------------------------------------------------------------------


def test_hessian() -> None:
    def f(p: Any) -> Any:
        return (p["a"] ** 2).sum() * p["b"]

    found = hessian(f)({"a": A, "b": 2.0})
    close(found["a"]["a"], 4 * np.eye(3))
    close(found["a"]["b"], 2 * A)
    close(found["b"]["a"], 2 * A)
    close(found["b"]["b"], 0)
    close(hessian(lambda x: x**3)(2.0), 12)
    blocks = hessian(lambda x, y: (x * y**2).sum(), (0, 1))(A, A)
    close(blocks[0][1], np.diag(2 * A))
    close(blocks[1][1], np.diag(2 * A))
    matrix, aux = hessian(lambda x: ((x**3).sum(), x * 2), has_aux=True, chunk_size=2)(A)
    close(matrix, np.diag(6 * A))
    close(aux, 2 * A)


def test_hvp() -> None:
    v = np.array([1.0, 0.0, -1.0])
    close(hvp(lambda x: (x**3).sum(), (A,), (v,)), 6 * A * v)
    a, b = hvp(lambda x, p: (x * p[0] ** 2).sum(), (A, [A]), (v, [np.zeros(3)]))
    close(a, 0 * A)
    close(b[0], 2 * A * v)
    with pytest.raises(ValueError, match="one real number"):
        hvp(lambda x: x**2, (A,), (v,))
    with pytest.raises(ValueError, match="tangent 0 has shape"):
        hvp(lambda x: (x**2).sum(), (A,), (np.ones(2),))


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
def test_against_torch() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    w, x = rng.normal(size=(4, 3)), rng.normal(size=3)

    def ours(x: Any) -> Any:
        return ag.tanh(w @ x) * x.sum()

    def theirs(x: Any) -> Any:
        return torch.tanh(torch.tensor(w) @ x) * x.sum()

    expected = torch.func.jacrev(theirs)(torch.tensor(x)).numpy()
    for jac in (jacrev, jacfwd, jacobian):
        assert_close(jac(ours)(x), expected, rtol=1e-12, atol=1e-12)
    expected = torch.func.hessian(lambda x: (theirs(x) ** 2).sum())(torch.tensor(x)).numpy()
    assert_close(hessian(lambda x: (ours(x) ** 2).sum())(x), expected, rtol=1e-10, atol=1e-10)


def test_hessian_of_many_results() -> None:
    """The matrix of each result, structured like the results, as jax and torch have it."""
    x = np.array([0.5, 1.0, 1.5])
    found = hessian(lambda x: {"cubes": x**3, "sum": (x**2).sum()})(x)
    expected = np.zeros((3, 3, 3))
    expected[range(3), range(3), range(3)] = 6 * x
    np.testing.assert_allclose(found["cubes"], expected)
    np.testing.assert_allclose(found["sum"], 2 * np.eye(3))
    (_, mixed), _ = hessian(lambda x, y: x * y, (0, 1))(x, x)
    np.testing.assert_allclose(mixed, expected != 0)
    assert hessian(lambda x: (x**2).sum(keepdims=True))(x).shape == (1, 3, 3)
    np.testing.assert_allclose(
        hessian(lambda z: (z**3).sum(), holomorphic=True)(x + 1j), np.diag(6 * (x + 1j))
    )
    with pytest.raises(ValueError, match="one real number"):
        hessian(lambda x: x**3, sparse=True)(x)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: jvp(lambda x: "text", (x,), (x,)),
        lambda x: vjp(lambda x: [x, "text"], x),
        lambda x: hessian(lambda x: "text")(x),
        lambda x: jacfwd(lambda x: "text")(x),
    ],
)
def test_results_that_are_no_arrays_are_refused(call: Any) -> None:
    with pytest.raises(TypeError, match="is of type str: return it as aux"):
        call(np.ones(2))


@pytest.mark.parametrize("jacobian", [ag.func.jacrev, ag.func.jacfwd])
def test_one_row_at_a_time_needs_no_batches(jacobian: Any) -> None:
    class Square(ag.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            assert not isinstance(getattr(g, "array", g), Batched)
            return 2 * ctx.saved_tensors[0] * g

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            assert not isinstance(getattr(t, "array", t), Batched)
            return 2 * ctx.saved_tensors[0] * t

    x = np.array([1.0, 2.0, 3.0])
    assert jacobian(Square.apply, chunk_size=1)(x).tolist() == np.diag(2 * x).tolist()


def test_jvp_can_insist_on_dependence() -> None:
    x, t = np.array([1.0, 2.0]), np.ones(2)
    assert_close(jvp(lambda x: (x * x, 3 * x), (x,), (t,), strict=True)[1], (2 * x, 3 * t))
    with pytest.raises(ValueError, match=r"result 1 .* strict=True"):
        jvp(lambda x: (x * x, np.zeros(2)), (x,), (t,), strict=True)
