"""`custom`: plain functions with derivative rules of their own."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.func import custom, grad, hessian, jacfwd, jacrev, jvp, vmap

A = np.array([1.0, 2.0, 3.0])
M = np.arange(6.0).reshape(2, 3) + 1
Z = A + 1j


def close(found: Any, expected: Any) -> None:
    found = found.detach() if isinstance(found, ag.Tensor) else found
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def cube(x: Any) -> Any:
    assert type(x) in (np.ndarray, np.float64, float)
    return np.power(x, 3)


def complex_cube(x: Any) -> Any:
    return np.power(x, 3)


VARIANTS = {
    "both": custom(vjp=lambda g, x: g * 3 * x**2, jvp=lambda t, x: t * 3 * x**2),
    "vjp": custom(vjp=lambda g, x: g * 3 * x**2),
    "vjp of the output": custom(vjp=lambda g, out, x: g * 3 * out / x),
    "jvp": custom(jvp=lambda t, x: t * 3 * x**2),
    "jvp by name": custom(jvp=lambda x, t_x: t_x * 3 * x**2),
    "elementwise": custom(vjp=lambda g, x: g * 3 * x**2, batch="elementwise"),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_rules_for_one_mode_are_enough(variant: str) -> None:
    f = VARIANTS[variant](cube)
    assert f.__name__ == "cube"
    assert type(f(A)) is np.ndarray
    x = ag.tensor(A, requires_grad=True)
    first = ag.grad(f(x).sum(), x, create_graph=True)
    close(first, 3 * A**2)
    close(ag.grad(first.sum(), x), 6 * A)
    close(grad(grad(grad(f)))(2.0), 6)
    close(jvp(f, (A,), (A,))[1], 3 * A**3)
    for outer in (jacrev, jacfwd):
        for inner in (jacrev, jacfwd):
            close(np.einsum("iii->i", outer(inner(f))(A)), 6 * A)
    close(vmap(f)(M), M**3)
    close(vmap(grad(lambda x: f(x).sum()))(M), 3 * M**2)
    close(jvp(vmap(f), (M,), (M,))[1], 3 * M**3)
    close(ag.grad(f(x), x, np.eye(3), is_grads_batched=True), np.diag(3 * A**2))


@pytest.mark.parametrize("variant", VARIANTS)
def test_complex_numbers(variant: str) -> None:
    f = VARIANTS[variant](complex_cube)
    for jac in (jacrev, jacfwd):
        close(jac(f, holomorphic=True)(Z), np.diag(3 * Z**2))


def test_two_inputs() -> None:
    @custom(vjp_x=lambda g, y: g * y, vjp_y=lambda g, x: g * x, linear="each")
    def dot(x: Any, y: Any) -> Any:
        return np.sum(x * y)

    close(grad(dot, (0, 1))(A, 2 * A)[1], A)
    close(jvp(dot, (A, 2 * A), (A, A))[1], 3 * (A * A).sum())
    close(jvp(lambda x: dot(x, A), (A,), (A,))[1], (A * A).sum())
    close(hessian(dot, (0, 1))(A, A)[0][1], np.eye(3))
    close(vmap(dot, (0, None))(M, A), M @ A)

    @custom(jvp=lambda t_x, t_y, x, y: t_x * y + x * t_y)
    def product(x: Any, y: Any) -> Any:
        return x * y

    close(jacrev(product, (0, 1))(A, 2 * A)[0], np.diag(2 * A))
    close(jacrev(product, (0, 1))(A, 2 * A)[1], np.diag(A))
    close(hessian(lambda x, y: product(x, y).sum(), (0, 1))(A, A)[0][1], np.eye(3))

    @custom(jvp=lambda t_x, y: t_x * y)
    def in_x_only(x: Any, y: Any) -> Any:
        return x * y

    a, b = grad(lambda x, y: in_x_only(x, y).sum(), (0, 1))(A, 2 * A)
    close(a, 2 * A)
    close(b, 0 * A)


def test_broadcasting_and_reductions() -> None:
    @custom(vjp_x=lambda g, y: g * y, vjp_y=lambda g, x: g * x)
    def product(x: Any, y: Any) -> Any:
        return x * y

    a, b = grad(lambda x, y: product(x, y).sum(), (0, 1))(M, A)
    close(a, M * 0 + A)
    close(b, M.sum(0))
    close(jvp(product, (M, A), (M, A))[1], 2 * M * A)

    @custom(jvp=lambda t: t.sum())
    def total(x: Any) -> Any:
        return np.sum(x)

    close(grad(total)(M), np.ones((2, 3)))


def test_keywords_and_defaults() -> None:
    @custom(vjp=lambda g, x, n: g * n * x ** (n - 1))
    def power(x: Any, *, n: int = 3) -> Any:
        return x**n

    close(grad(power)(2.0), 12)
    close(grad(lambda x: power(x, n=2))(2.0), 4)
    close(jvp(lambda x: power(x, n=4), (2.0,), (1.0,))[1], 32)
    close(power(x=A), A**3)

    @custom(vjp_x=lambda g, y: g * y, vjp_y=lambda g, x: g * x)
    def product(x: Any, y: Any = 2.0) -> Any:
        return x * y

    close(grad(product)(3.0), 2)
    close(grad(lambda x: product(x, y=x))(3.0), 6)


def test_several_results() -> None:
    @custom(multiple=True, vjp=lambda gs, x: sum(g * k for g, k in zip(gs, (2, 2 * x)) if g is not None))  # fmt: skip  # noqa: B905, E501
    def both(x: Any) -> Any:
        return 2 * x, x**2

    @custom(multiple=True, jvp=lambda t, x: (2 * t, 2 * x * t))
    def forward(x: Any) -> Any:
        return 2 * x, x**2

    for f in (both, forward):
        close(grad(lambda x, f=f: f(x)[1].sum())(A), 2 * A)
        close(grad(lambda x, f=f: (f(x)[0] * f(x)[1]).sum())(A), 6 * A**2)
        _, (a, b) = jvp(f, (A,), (A,))
        close(a, 2 * A)
        close(b, 2 * A * A)
        close(vmap(f)(M)[1], M**2)
        close(hessian(lambda x, f=f: f(x)[1].sum())(A), 2 * np.eye(3))


@pytest.mark.xfail(
    strict=True, raises=AttributeError, reason="ops of two inputs are recorded with one result"
)
def test_several_results_of_two_inputs() -> None:
    @custom(multiple=True, vjp_x=lambda gs, y: gs[0] * y, vjp_y=lambda gs, x: gs[0] * x + gs[1])
    def both(x: Any, y: Any) -> Any:
        return x * y, y

    def total(x: Any, y: Any) -> Any:
        a, b = both(x, y)
        return (a + b).sum()

    close(grad(total)(A, 2 * A), 2 * A)
    close(grad(total, 1)(A, 2 * A), A + 1)


def test_any_number_of_inputs() -> None:
    @custom(vjp=lambda g, shapes, i: ag.broadcast_to(g * (i + 1), shapes[i]))
    def weighted(*xs: Any) -> Any:
        return sum(np.sum(x) * (k + 1) for k, x in enumerate(xs))

    a, b = grad(weighted, (0, 1))(A, M)
    close(a, np.ones(3))
    close(b, 2 * np.ones((2, 3)))
    close(jvp(weighted, (A, M), (A, M))[1], A.sum() + 2 * M.sum())


def test_batches() -> None:
    slow = custom(vjp=lambda g, x: g * 3 * x**2)(cube)
    with pytest.warns(UserWarning, match="cube has no batching rule"):
        vmap(slow, warn_fallback=True)(M)
    fast = custom(vjp=lambda g, x: g * 3 * x**2, batch="elementwise")(cube)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(vmap(fast, warn_fallback=True)(M), M**3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: custom(), "needs a rule"),
        (lambda: custom(vjp=lambda g, q: g)(cube), "parameter 'q', which is neither an input"),
        (lambda: custom(jvp=lambda t, q: t)(cube), "parameter 'q'"),
        (lambda: custom(vjp=lambda t: t)(cube), "parameter 't'"),
        (lambda: custom(vjp_z=lambda g: g)(cube), r"\['z'\], which are no inputs"),
        (lambda: custom(vjp=lambda g: g)(np.cbrt), "whose parameters have names, not ufunc"),
        (lambda: custom(vjp=lambda g: g)(lambda: 1), "no positional parameters"),
    ],
)
def test_mistakes(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()
