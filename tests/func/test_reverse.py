"""`grad`, `value_and_grad`, `vjp` and `linearize`: arguments, results, mistakes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.func import grad, linearize, value_and_grad, vjp
from arraygrad.testing import assert_close

A = np.array([1.0, 2.0, 3.0])


class Pair(NamedTuple):
    first: Any
    second: Any


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


# --- what goes in, what comes out ----------------------------------------------------------------


@pytest.mark.parametrize(
    "transformed",
    [
        grad(lambda x: (2 * x).sum()),
        lambda x: value_and_grad(lambda y: 2 * y[0])(x)[1],
        ag.func.jacrev(lambda x: 2 * x),
        ag.func.jacfwd(lambda x: 2 * x),
        ag.func.hessian(lambda x: (x * x).sum()),
        lambda x: ag.func.hvp(lambda y: (y * y).sum(), (x,), (A,)),
        lambda x: ag.func.jvp(lambda y: 2 * y, (x,), (A,))[1],
        lambda x: ag.func.jvp(lambda y: y > 0, (x,), (A,))[1],
        lambda x: vjp(lambda y: 2 * y, x)[1](A)[0],
        lambda x: linearize(lambda y: 2 * y, x)[1](A),
    ],
)
def test_tensors_in_tensors_out_though_the_derivative_is_constant(transformed: Any) -> None:
    assert isinstance(transformed(ag.tensor(A)), ag.Tensor)
    assert isinstance(transformed(A), np.ndarray)


def test_arrays_in_arrays_out() -> None:
    value, gradient = value_and_grad(lambda x: (x**2).sum())(A)
    assert type(gradient) is np.ndarray
    assert isinstance(value, np.ndarray | np.generic)
    assert value == 14
    close(gradient, [2, 4, 6])


def test_tensors_in_tensors_out() -> None:
    gradient = grad(lambda x: (x**2).sum())(ag.tensor(A))
    assert isinstance(gradient, ag.Tensor)
    assert not gradient.requires_grad
    x = ag.tensor(A, requires_grad=True)
    gradient = grad(lambda x: (x**3).sum())(x)
    assert gradient.requires_grad
    close(ag.grad(gradient.sum(), x), 6 * A)


def test_python_numbers() -> None:
    gradient = grad(lambda x: x**3)(2.0)
    assert isinstance(gradient, np.ndarray)
    assert gradient == 12
    assert grad(lambda z: ag.abs(z) ** 2)(1.0 + 2.0j) == 2.0 + 4.0j


def test_the_gradient_is_the_callers_own() -> None:
    w = np.ones(3)
    gradient = grad(lambda x: (x * w).sum())(A)
    assert gradient.flags.writeable
    gradient[:] = 7
    assert w.tolist() == [1, 1, 1]
    a, b = grad(lambda x, y: (x + y).sum(), (0, 1))(A, A)
    assert not np.shares_memory(a, b)


@pytest.mark.parametrize("argnums", [1, -1, np.int64(1)])
def test_argnums(argnums: int) -> None:
    close(grad(lambda x, y: (x * y).sum(), argnums)(A, 2 * A), A)


def test_argnums_tuple() -> None:
    found = grad(lambda x, y, z: (x * y * z).sum(), (2, 0))(A, 2 * A, 3 * A)
    assert isinstance(found, tuple)
    close(found[0], 2 * A * A)
    close(found[1], 6 * A * A)
    (single,) = grad(lambda x, y: (x * y).sum(), (1,))(A, 2 * A)
    close(single, A)
    first, last = grad(lambda x, y: (x * y).sum(), [0, -1])(A, 2 * A)
    close(first, 2 * A)
    close(last, A)


def test_structures() -> None:
    def f(p: Any) -> Any:
        return (p["a"] * p["b"][0]).sum() + p["b"][1] ** 2 + p["c"].first * p["c"].second

    tree = {"a": A, "b": [2 * A, np.float64(3)], "c": Pair(1.0, 5.0)}
    found = grad(f)(tree)
    assert list(found) == ["a", "b", "c"]
    assert isinstance(found["b"], list)
    assert isinstance(found["c"], Pair)
    close(found["a"], 2 * A)
    close(found["b"][0], A)
    close(found["b"][1], 6)
    close(found["c"].first, 5)
    close(found["c"].second, 1)


def test_none_is_an_empty_structure() -> None:
    found = grad(lambda p: (p[0] * 2).sum())((A, None))
    close(found[0], [2, 2, 2])
    assert found[1] is None


def test_keyword_arguments_are_passed_on() -> None:
    close(grad(lambda x, *, k: (x * k["v"]).sum())(A, k={"v": A}), A)


def test_aux() -> None:
    def f(x: Any) -> Any:
        return (x**2).sum(), {"twice": 2 * x, "name": "f", "nothing": None}

    gradient, aux = grad(f, has_aux=True)(A)
    close(gradient, 2 * A)
    assert type(aux["twice"]) is np.ndarray
    close(aux["twice"], 2 * A)
    assert aux["name"] == "f"
    assert aux["nothing"] is None
    (value, aux), gradient = value_and_grad(f, has_aux=True)(A)
    assert value == 14
    close(aux["twice"], 2 * A)
    close(gradient, 2 * A)


def test_unused_inputs_have_zeros() -> None:
    a, b = grad(lambda x, y: (x**2).sum(), (0, 1))(A, np.ones((2, 2), np.float32))
    close(a, 2 * A)
    assert b.tolist() == [[0, 0], [0, 0]]
    assert b.dtype == np.float32
    assert grad(lambda x: ag.asarray(3.0))(A).tolist() == [0, 0, 0]


def test_constant_results() -> None:
    value, gradient = value_and_grad(lambda x: 3.0)(A)
    assert value == 3.0
    assert gradient.tolist() == [0, 0, 0]
    assert grad(lambda x: np.float64(3))(A).tolist() == [0, 0, 0]


def test_wraps_the_function() -> None:
    def energy(x: Any) -> Any:
        """How much."""
        return x**2

    assert grad(energy).__name__ == "energy"
    assert grad(energy).__doc__ == "How much."


def test_a_leaf_made_inside_is_stripped() -> None:
    """A tensor over the function's argument does not leave the transform as one."""
    gradient, aux = grad(lambda x: ((x**2).sum(), ag.asarray(x)), has_aux=True)(A)
    close(gradient, 2 * A)
    assert type(aux) is np.ndarray


# --- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda x: x * 2, r"one real number .* array of shape \(3,\)"),
        (lambda x: x.sum().reshape(1), r"array of shape \(1,\)"),
        (lambda x: (x.sum(), 1), "returned tuple"),
        (lambda x: "text", "returned str"),
        (lambda x: None, "returned NoneType"),
        (lambda x: (x * 1j).sum(), "real floating-point number, but it returned complex128"),
        (lambda x: ag.argmax(x), "real floating-point number, but it returned int64"),
    ],
)
def test_only_real_numbers_have_gradients(returned: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        grad(returned)(A)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (np.array([1, 2]), "argument 1 has dtype int64: only floating-point"),
        (3, "argument 1 has dtype int64"),
        (True, "argument 1 has dtype bool"),
        ({"a": [A, np.array([True])]}, r"argument 1\['a'\]\[1\] has dtype bool"),
        ([A, "text"], r"argument 1\[1\] is of type str"),
    ],
)
def test_what_cannot_be_differentiated_is_named(argument: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        grad(lambda x, y: x.sum(), 1)(A, argument)


@pytest.mark.parametrize(
    ("argnums", "error", "message"),
    [
        (2, ValueError, "argument 2, but 2 were given by position"),
        (-3, ValueError, "argument -3"),
        ((), ValueError, "argnums is empty"),
        ((0, 0), ValueError, "twice"),
        ((0, -2), ValueError, "twice"),
        ("z", ValueError, "argument 'z', which was not given"),
        (1.0, TypeError, "argnums must be an int"),
        (True, TypeError, "argnums must be an int"),
    ],
)
def test_wrong_argnums(argnums: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        grad(lambda x, y: (x * y).sum(), argnums)(A, A)


def test_arguments_by_keyword_are_not_differentiated() -> None:
    with pytest.raises(ValueError, match="by keyword"):
        grad(lambda x: x.sum())(x=A)


@pytest.mark.parametrize("transform", [grad, value_and_grad, vjp, linearize])
def test_a_function_is_needed(transform: Any) -> None:
    with pytest.raises(TypeError, match=rf"{transform.__name__}\(\) takes a function, not int"):
        transform(3)


@pytest.mark.parametrize("result", [lambda x: x.sum(), lambda x: [x.sum(), 1]])
def test_aux_needs_a_pair(result: Any) -> None:
    with pytest.raises(TypeError, match="has_aux=True"):
        grad(result, has_aux=True)(A)


@pytest.mark.usefixtures("nothing_escaped")
def test_an_error_in_the_function_leaves_everything_as_it_was() -> None:
    def fails(x: Any) -> Any:
        raise ZeroDivisionError

    with ag.no_grad():
        with pytest.raises(ZeroDivisionError):
            grad(fails)(A)
        assert not ag.is_grad_enabled()
    # The level is closed, too: the next transform is the outermost.
    assert grad(lambda x: x.level * x)(1.0) == 1


# --- vjp -----------------------------------------------------------------------------------------


def test_vjp_of_structures() -> None:
    def f(x: Any, p: Any) -> Any:
        return {"product": x * p["y"], "sum": (x.sum(), p["y"].sum())}

    value, pull = vjp(f, A, {"y": 2 * A})
    close(value["product"], 2 * A * A)
    gx, gp = pull({"product": np.ones(3), "sum": (1.0, np.float64(10))})
    close(gx, 2 * A + 1)
    close(gp["y"], A + 10)
    again, _ = pull({"product": np.zeros(3), "sum": (1, 0)})  # as often as one likes
    close(again, [1, 1, 1])


def test_vjp_casts_cotangents() -> None:
    _, pull = vjp(lambda x: x * 2, A.astype(np.float32))
    assert pull(np.ones(3))[0].dtype == np.float32
    assert pull(np.ones(3, int))[0].tolist() == [2, 2, 2]
    _, pull = vjp(lambda x: x * 1j, A)
    close(pull(np.ones(3))[0], [0, 0, 0])
    close(pull(1j * np.ones(3))[0], [1, 1, 1])


def test_vjp_with_results_that_have_no_derivative() -> None:
    value, pull = vjp(lambda x: (x * 2, ag.argmax(x), 5.0), A)
    assert value[1] == 2
    assert value[2] == 5.0
    close(pull((A, 0, 0.0))[0], 2 * A)


def test_vjp_aux() -> None:
    value, pull, aux = vjp(lambda x: (x.sum(), {"x": x, "s": "text"}), A, has_aux=True)
    assert value == 6
    assert type(aux["x"]) is np.ndarray
    close(pull(1.0)[0], [1, 1, 1])


@pytest.mark.parametrize(
    ("cotangents", "error", "message"),
    [
        (np.ones(3), ValueError, "structure of the function's value"),
        ((np.ones(3),), ValueError, "structure of the function's value"),
        ((np.ones(3), {"z": 1.0}), ValueError, "structure"),
        ((np.ones(2), {"k": 1.0}), ValueError, r"cotangent 0 has shape \(2,\), .* \(3,\)"),
        ((1.0, {"k": 1.0}), ValueError, r"cotangent 0 has shape \(\)"),
        ((np.ones(3) * 1j, {"k": 1.0}), TypeError, "cotangent 0 is complex"),
        ((np.ones(3), {"k": "one"}), TypeError, "cotangent 1 must be an array or a number"),
    ],
)
def test_wrong_cotangents(cotangents: Any, error: type[Exception], message: str) -> None:
    _, pull = vjp(lambda x: (x * 2, {"k": x.sum()}), A)
    with pytest.raises(error, match=message):
        pull(cotangents)


def test_vjp_of_a_bare_result_wants_a_bare_cotangent() -> None:
    _, pull = vjp(lambda x: x * 2, A)
    with pytest.raises(ValueError, match="structure"):
        pull((A,))
    with pytest.raises(TypeError, match=r"primals\[1\] has dtype int64"):
        vjp(lambda x, y: x, A, np.arange(3))


# --- linearize -----------------------------------------------------------------------------------


def test_linearize_runs_once() -> None:
    calls = []

    def f(x: Any, y: Any) -> Any:
        calls.append(1)
        return {"product": x * y, "constant": 3.0, "best": ag.argmax(x)}

    value, push = linearize(f, A, 2 * A)
    close(value["product"], 2 * A * A)
    for direction in np.eye(3):
        tangent = push(direction, np.zeros(3))
        close(tangent["product"], 2 * A * direction)
        assert tangent["constant"] == 0
        assert tangent["best"] == 0
    assert len(calls) == 1


def test_linearize_complex() -> None:
    z = np.array([1 + 2j, 3 - 1j])
    _, push = linearize(lambda z: z**2, z)
    close(push(np.array([1j, 2 + 1j])), 2 * z * np.array([1j, 2 + 1j]))
    _, push = linearize(lambda x: x * (1 + 2j), A)
    close(push(A), A * (1 + 2j))


def test_wrong_tangents() -> None:
    _, push = linearize(lambda x: x * 2, A)
    with pytest.raises(ValueError, match=r"tangent 0 has shape \(2,\), but its primal"):
        push(np.ones(2))
    with pytest.raises(ValueError, match="structure of the primals"):
        push(A, A)
    with pytest.raises(TypeError, match="tangent 0 is complex"):
        push(A * 1j)


def test_against_torch() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 4, 3))

    def ours(x: Any, y: Any) -> Any:
        return (ag.tanh(x @ y.T) ** 2).sum() + ag.exp(-x).sum()

    def theirs(x: Any, y: Any) -> Any:
        return (torch.tanh(x @ y.T) ** 2).sum() + torch.exp(-x).sum()

    found = grad(ours, (0, 1))(x, y)
    expected = torch.func.grad(theirs, (0, 1))(torch.tensor(x), torch.tensor(y))
    for a, b in zip(found, expected, strict=True):
        assert_close(a, b.numpy(), rtol=1e-12, atol=1e-12)
