"""`custom`: plain functions with derivative rules of their own."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import func
from arraygrad.arrays.batched import Batched
from arraygrad.errors import RuleError
from arraygrad.func import custom, grad, hessian, jacfwd, jacrev, jvp, vmap
from arraygrad.ops.define import AlongAxis, Contracts, Elementwise, Matrices, Moves, Opaque

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


@pytest.mark.parametrize("linear", [False, True, "each"])
def test_rules_of_linear_functions_are_conjugated(linear: bool | str) -> None:
    f = custom(vjp=lambda g: g * 2j, linear=linear)(lambda x: x * 2j)
    x = ag.tensor(Z, requires_grad=True)
    close(ag.grad(f(x), x, Z), ag.grad(x * 2j, x, Z).detach())
    close(jvp(f, (Z,), (Z,))[1], Z * 2j)
    as_they_are = custom(vjp=lambda g: g * -2j, linear=linear, holomorphic=False)(lambda x: x * 2j)
    close(ag.grad(as_they_are(x), x, Z), ag.grad(x * 2j, x, Z).detach())


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


def scaled_sum(x: Any, y: Any, *, c: float = 2.0) -> Any:
    return np.sum(c * x * y**2)


def rule_x(g: Any, y: Any, c: float) -> Any:
    return g * c * y**2


def rule_y(g: Any, x: Any, y: Any, c: float) -> Any:
    return g * 2 * c * x * y


RULES_OF_TWO = {
    "by name": custom(vjp_x=rule_x, vjp_y=rule_y),
    "in order": custom(vjp=(rule_x, rule_y)),
    "at once": custom(vjp=lambda g, x, y, c: (rule_x(g, y, c), rule_y(g, x, y, c))),
    "at once, what is wanted": custom(
        vjp=lambda g, x, y, c, wanted: [
            rule_x(g, y, c) if wanted[0] else None,
            rule_y(g, x, y, c) if wanted[1] else None,
        ]
    ),
}


@pytest.mark.parametrize("variant", RULES_OF_TWO)
def test_rules_of_two_inputs(variant: str) -> None:
    f = RULES_OF_TWO[variant](scaled_sum)
    b = 2 * A
    for found, expected in zip(grad(f, (0, 1))(A, b), (2 * b**2, 4 * A * b), strict=True):
        close(found, expected)
    close(grad(f, 1)(A, b), 4 * A * b)
    close(grad(lambda x: f(x, x, c=1.0))(A), 3 * A**2)
    close(jvp(f, (A, b), (A, b))[1], (2 * b**2 * A + 4 * A * b * b).sum())
    close(jvp(lambda y: f(A, y), (b,), (A,))[1], (4 * A * b * A).sum())
    close(hessian(f, (0, 1))(A, b)[1][0], np.diag(4 * b))
    close(vmap(grad(f, 1), (0, None))(M, A), 4 * M * A)
    x, y = ag.tensor(A, requires_grad=True), ag.tensor(b, requires_grad=True)
    first = ag.grad(f(x, y), y, create_graph=True)
    close(ag.grad(first.sum(), x), 4 * b)
    assert ag.func.sparsity(f, A, A).shape == (1, 3)


def test_one_rule_of_two_inputs_is_conjugated() -> None:
    f = custom(vjp=lambda g, x, y: (g * y, g * x))(lambda x, y: x * y)
    x, y = ag.tensor(Z, requires_grad=True), ag.tensor(Z * 1j, requires_grad=True)
    for found, expected in zip(ag.grad(f(x, y), (x, y), Z), ag.grad(x * y, (x, y), Z), strict=True):
        close(found, expected.detach())


def scattered(g: Any, index: Any) -> Any:
    return g @ (index[:, None] == np.arange(3)).astype(float)


@pytest.mark.parametrize(
    "rules",
    [
        {"vjp_x": scattered, "vjp_index": None},
        {"vjp": (scattered, None)},
        {"vjp": lambda g, index: (scattered(g, index), None)},
    ],
)
def test_inputs_that_are_constants(rules: Any) -> None:
    @custom(**rules)
    def pick(x: Any, index: Any) -> Any:
        return x[index]

    index = np.array([2, 0])
    close(grad(lambda x: pick(x, index).sum())(A), [1, 0, 1])
    close(jvp(lambda x: pick(x, index), (A,), (A,))[1], A[index])
    x = ag.tensor(A, requires_grad=True)
    close(ag.grad(pick(x, index), x, A[:2]), [2, 0, 1])


def test_rules_of_any_number_of_inputs_at_once() -> None:
    @custom(vjp=lambda g, x, others: (g * sum(others), *(g * x for _ in others)))
    def product(x: Any, *others: Any) -> Any:
        return x * sum(others)

    a, b, c = grad(lambda x, y, z: product(x, y, z).sum(), (0, 1, 2))(A, 2 * A, 3 * A)
    close(a, 5 * A)
    close(b, A)
    close(c, A)
    close(grad(lambda y: product(A, y, A).sum())(A), A)
    close(grad(lambda x: product(x).sum())(A), 0 * A)
    close(jvp(product, (A, A, A), (A, A, A))[1], 4 * A**2)


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


@pytest.mark.parametrize("complex_first", [False, True])
def test_results_of_which_one_is_real_and_one_complex(complex_first: bool) -> None:
    """The size of a number, and the number turned: each cotangent has the dtype of its result."""
    order = -1 if complex_first else 1

    def rule(gs: Any, z: Any) -> Any:
        size, turned = gs[::order]
        terms = [] if size is None else [size * ag.conj(z) / ag.abs(z)]
        return sum(terms + ([] if turned is None else [turned * 1j]))

    def tangents(t: Any, z: Any) -> Any:
        return (ag.real(t * ag.conj(z)) / ag.abs(z), t * 1j)[::order]

    def polar(z: Any) -> Any:
        return (np.abs(z), z * 1j)[::order]

    def of_ops(z: Any) -> Any:
        return (ag.abs(z), z * 1j)[::order]

    t, weights = Z - 2j * A, (A, Z * (2 - 3j))[::order]
    real = np.array([3.0, 4.0])
    for f in (custom(multiple=True, vjp=rule)(polar), custom(multiple=True, jvp=tangents)(polar)):
        for found, expected in zip(jvp(f, (Z,), (t,))[1], jvp(of_ops, (Z,), (t,))[1], strict=True):
            close(found, expected)
        for x in (Z, real):
            leaf = ag.tensor(x, requires_grad=True)
            for k in (0, 1):
                g = weights[k][: x.size]
                expected = ag.grad(of_ops(leaf)[k], leaf, g)
                close(ag.grad(f(leaf)[k], leaf, g), expected)
                close(ag.grad(f(leaf)[k], leaf, g, create_graph=True), expected)
            both = [w[: x.size] for w in weights]
            close(ag.grad(f(leaf), leaf, both), ag.grad(of_ops(leaf), leaf, both).detach())


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


# --- kinds ---------------------------------------------------------------------------------------


def in_one_call(f: Any, *args: Any, in_axes: Any = 0) -> Any:
    """The function on a batch, without a loop."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return vmap(f, in_axes, warn_fallback=True)(*args)


def test_elementwise() -> None:
    calls = []

    @custom(vjp_x=lambda g, y: g * y, vjp_y=lambda g, x: g * x, kind=Elementwise(linear="each"))
    def product(x: Any, y: Any) -> Any:
        calls.append(x)
        return np.multiply(x, y)

    close(in_one_call(product, M, A, in_axes=(0, None)), M * A)
    assert len(calls) == 1
    close(jvp(product, (A, A), (A, 2 * A))[1], 3 * A * A)
    found = ag.func.sparsity(product, A, A, argnums=(0, 1)).toarray()
    np.testing.assert_array_equal(found, np.hstack([np.eye(3), np.eye(3)]))
    calls.clear()
    product(np.ones(1 << 20), 2.0)  # not in blocks, by several threads
    assert [x.size for x in calls] == [1 << 20]


def test_along_an_axis() -> None:
    @custom(
        vjp=lambda g, axis: ag.flip(ag.cumulative_sum(ag.flip(g, axis=axis), axis=axis), axis=axis),
        kind=AlongAxis(running=True, linear=True),
    )
    def running(x: Any, *, axis: int = -1) -> Any:
        return np.cumsum(x, axis=axis)

    for axis in (0, 1, -1):
        stack = np.stack([M, 2 * M])
        close(in_one_call(partial(running, axis=axis), stack), np.cumsum(stack, axis % 2 + 1))
        close(jvp(partial(running, axis=axis), (M,), (M,))[1], np.cumsum(M, axis))
        jacobian = jacrev(partial(running, axis=axis))(M).reshape(6, 6)
        pattern = ag.func.sparsity(partial(running, axis=axis), M)
        np.testing.assert_array_equal(pattern.toarray(), jacobian != 0)
    close(grad(lambda x: running(x)[1, 1])(M), [[0, 0, 0], [1, 1, 0]])


def test_matrices() -> None:
    @custom(
        vjp=lambda g, x_shape: g[..., None, None] * np.eye(*x_shape[-2:]),
        kind=Matrices(shapes=lambda x: ((),), linear=True),
    )
    def trace(x: Any) -> Any:
        return np.trace(x, axis1=-2, axis2=-1)

    stack = np.arange(18.0).reshape(2, 3, 3)
    close(in_one_call(trace, stack), np.trace(stack, axis1=1, axis2=2))
    close(in_one_call(grad(trace), stack), np.broadcast_to(np.eye(3), (2, 3, 3)))
    pattern = ag.func.sparsity(trace, stack).toarray()
    np.testing.assert_array_equal(pattern, np.repeat(np.eye(2), 9, axis=1))


def test_a_batching_rule_goes_with_any_kind() -> None:
    calls = []

    def reversed_batch(op: Any, arrays: Any, flags: Any, keywords: Any) -> Any:
        calls.append((flags, keywords))
        return op.function(*arrays)

    kinds: list[Any] = [Elementwise(), Opaque(), Contracts(), None]
    for kind in kinds:
        rules = {"vjp_x": lambda g, y: g * y, "vjp_y": lambda g, x: g * x}
        product = custom(**rules, kind=kind, batch=reversed_batch)(lambda x, y: x * y)  # type: ignore[arg-type]
        close(in_one_call(product, M, A, in_axes=(0, None)), M * A)
    assert calls == [((True, False), {})] * len(kinds)


def test_inputs_that_need_no_rule_by_their_kind() -> None:
    steps = custom(kind=Elementwise(flat=("x",)))(lambda x: np.floor(x))
    close(grad(lambda x: (steps(x) * x).sum())(A + 0.5), A)
    assert ag.func.sparsity(steps, A).nnz == 0

    @custom(vjp_x=lambda g: g, kind=Elementwise(whole=("table",)))
    def nudged(x: Any, table: Any) -> Any:
        return x + np.max(table)

    close(grad(lambda x: (nudged(x, A) ** 2).sum())(A), 2 * (A + 3))

    @custom(vjp_x=scattered, kind=Moves(indices=("index",), axis="axis"))
    def picked(x: Any, index: Any, *, axis: int = 0) -> Any:
        return np.take(x, index, axis=axis)

    close(jvp(lambda x: picked(x, np.array([2, 0])), (A,), (A,))[1], [3, 1])
    close(in_one_call(picked, M, np.array([2, 0]), in_axes=(0, None)), M[:, [2, 0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: custom(), "needs a rule"),
        (lambda: custom(vjp=lambda g, q: g)(cube), "parameter 'q', which is neither an input"),
        (lambda: custom(jvp=lambda t, q: t)(cube), "parameter 'q'"),
        (lambda: custom(vjp=lambda t: t)(cube), "parameter 't'"),
        (lambda: custom(vjp_z=lambda g: g)(cube), "'z', which is no input of cube: its input is x"),
        (lambda: custom(vjp=lambda g: g)(np.cbrt), "whose parameters have names, not ufunc"),
        (lambda: custom(vjp=lambda g: g)(lambda: 1), "no positional parameters"),
        (lambda: custom(vjp=lambda g: g)([].append), "not builtin_function_or_method"),
        (lambda: custom(x=lambda g: g), "unexpected keyword argument 'x': .* vjp_x="),
        (lambda: custom(vjp_x=None)(cube), "needs a rule"),
        (lambda: custom(vjp=(None, None))(scaled_sum), "needs a rule"),
        # no plain functions
        (lambda: custom(vjp=np.sin)(cube), "vjp for cube must be a Python function.*not ufunc"),
        (lambda: custom(vjp=3)(cube), "vjp for cube .*not int"),  # type: ignore[arg-type]
        (lambda: custom(vjp_x=partial(np.multiply, 2))(cube), "vjp_x for cube .*not partial"),
        (lambda: custom(jvp=np.sin)(cube), "jvp for cube .*not ufunc"),
        (lambda: custom(vjp=lambda *args: args)(cube), r"vjp for cube takes \*args"),
        (lambda: custom(vjp=lambda g, **kw: g)(cube), r"vjp for cube takes \*\*kw"),
        (lambda: custom(vjp=lambda g, *, x: g)(cube), "vjp for cube takes x by keyword only"),
        # several inputs
        (lambda: custom(vjp_x=rule_x)(scaled_sum), "no rule for y .* vjp_y=.* vjp_y=None"),
        (lambda: custom(vjp=(rule_x,))(scaled_sum), "1 rule, but scaled_sum has 2 inputs: x, y"),
        (lambda: custom(vjp=(rule_x, np.sin))(scaled_sum), r"vjp\[1\] for scaled_sum .*not ufunc"),
        (lambda: custom(vjp={"x": rule_x})(scaled_sum), "vjp for scaled_sum .*not dict"),  # type: ignore[arg-type]
        (lambda: custom(vjp=rule_x, vjp_y=rule_y)(scaled_sum), "both vjp= and vjp_y="),
        (lambda: custom(vjp=lambda g, z: (g, g))(scaled_sum), "'z', which .*can have .*wanted"),
        (lambda: custom(jvp=lambda t, y: t * y)(scaled_sum), "'t', .* t_x, t_y"),
        (lambda: custom(jvp=lambda y: y)(scaled_sum), "takes no tangent.* t_x, t_y"),
        (lambda: custom(jvp=lambda t: t)(lambda *xs: xs[0]), "'t', .* t_xs"),
        (lambda: custom(jvp=lambda t_xs: t_xs[0])(lambda *xs: xs[0]), r"\*xs, and needs .* vjp="),
        (lambda: custom(vjp=lambda g, x: (g, g), linear=True)(scaled_sum), "linear=True.* vjp_x="),
        (lambda: custom(vjp=lambda g: g)(lambda g: g), "'g', which is also .* rename the input"),
        (lambda: custom(vjp=lambda g: g, batch="rows")(cube), "batch='rows'.*elementwise"),
        (lambda: custom(vjp=lambda g: g, linear="all")(cube), "linear='all'.*each"),
        (lambda: custom(vjp=lambda xs_shape: 0)(lambda *xs: xs[0]), "'xs_shape'.* shapes, xs"),
        # kinds
        (lambda: custom(vjp=lambda g: g, kind="rows"), r"custom\(\): kind .* one of Elementwise, "),  # type: ignore[arg-type]
        (lambda: custom(vjp=lambda g: g, kind=Matrices), "kind .* not <class"),  # type: ignore[arg-type]
        (
            lambda: custom(vjp=lambda g: g, kind=Elementwise(), linear=True),
            r"both kind= and linear=: .* Elementwise\(linear=True\)",
        ),
        (
            lambda: custom(vjp=lambda g: g, kind=Opaque(), batch="plain"),
            "both kind= and batch='plain': .* the kind Opaque; .* a function",
        ),
        (lambda: custom(vjp=lambda g: g, kind=Opaque(), batch="loop"), "kind= and batch='loop'"),
        (
            lambda: custom(vjp=lambda g: g, kind=AlongAxis())(cube),
            "speaks of the keyword axis, which cube .* does not take; it takes none",
        ),
        (
            lambda: custom(vjp=lambda g: (g, g), kind=Moves())(lambda x, y: x),
            "the linear kind Moves does not go with one rule for all inputs .* vjp_x=",
        ),
        (lambda: custom(vjp=lambda g, x: g, kind=Elementwise(linear=True))(cube), "not linear"),
        (lambda: custom(jvp=lambda t: t, kind=Moves())(cube), "its own forward rule"),
        (lambda: custom(vjp=lambda g: g, kind=Elementwise(whole=("y",)))(cube), "speaks of y"),
        (lambda: custom(kind=Elementwise()), "needs a rule"),
    ],
)
def test_mistakes(call: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


@pytest.mark.parametrize(
    ("returned", "what"),
    [(lambda g: g, "an array"), (lambda g: (g,), "1 entry"), (lambda g: (g, g, g), "3 entries")],
)
def test_one_rule_must_return_one_gradient_for_each_input(returned: Any, what: str) -> None:
    f = custom(vjp=lambda g, x, y: returned(g * x * y))(lambda x, y: x * y)
    message = f"its inputs x, y, .*{what}.*vjp_x=, vjp_y="
    with pytest.raises(RuleError, match=message):
        grad(lambda x: f(x, A).sum())(A)
    with pytest.raises(RuleError, match=message):
        jvp(f, (A, A), (A, A))


def test_any_number_of_inputs_can_be_differentiated_twice() -> None:
    @ag.func.custom(vjp=lambda g, a, xs: (2 * g * a, *(3 * g * x**2 for x in xs)))
    def powers(a: Any, *xs: Any) -> Any:
        return a**2 + sum(x**3 for x in xs)

    x, y = (ag.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    first = ag.grad(powers(y, x, x, y), (x, y), create_graph=True)
    assert ag.grad(first[0], x).item() == 2 * 6 * 2.0
    assert ag.grad(first[1], y).item() == 2 + 6 * 3.0


# --- any number of inputs, one rule for all ------------------------------------------------------


def _values_of_one(*arrays: Any) -> None:
    assert all(not isinstance(a, Batched) for a in arrays)


def _sums_vjp(gs: Any, arrays: Any, factor: Any, wanted: Any) -> list[Any]:
    _values_of_one(*[g for g in gs if g is not None])
    g, h = (0.0 if part is None else part for part in gs)
    return [factor * 2 * g * a + h if w else None for a, w in zip(arrays, wanted, strict=False)]


def _sums_jvp(arrays: Any, t_arrays: Any, factor: Any) -> Any:
    moving = [(a, t) for a, t in zip(arrays, t_arrays, strict=True) if t is not None]
    _values_of_one(*[t for _, t in moving])
    first = sum(factor * 2 * a * t for a, t in moving)
    return first, sum(t for _, t in moving)


@custom(vjp=_sums_vjp, jvp=_sums_jvp, multiple=True, batched_rules=False)
def sums(*arrays: Any, factor: float) -> Any:
    return factor * sum(np.square(a) for a in arrays), np.sum(arrays, axis=0)


def test_one_rule_for_any_number_of_inputs_and_several_results() -> None:
    def f(x: Any, y: Any) -> Any:
        first, second = sums(x, A, y, x, factor=3.0)
        return (first * second).sum()

    def same(x: Any, y: Any) -> Any:
        return (3.0 * (2 * x**2 + A**2 + y**2) * (2 * x + A + y)).sum()

    x, y = A + 0.5, A - 0.2
    for i in (0, 1):
        close(grad(f, i)(x, y), grad(same, i)(x, y))
        for outer in (jacrev, jacfwd):  # the rules see one cotangent, or tangent, at a time
            for inner in (jacrev, jacfwd):
                close(outer(inner(f, i), 0)(x, y), hessian_of(same, i)(x, y))
    close(jvp(f, (x, y), (y, x))[1], jvp(same, (x, y), (y, x))[1])
    first, second = jacrev(lambda x: sums(x, A, factor=1.0))(x)
    close(first, np.diag(2 * x))
    close(second, np.eye(3))


def hessian_of(f: Any, i: int) -> Any:
    return jacfwd(jacrev(f, i), 0)


def test_second_derivatives_by_create_graph_see_starred_inputs() -> None:
    f = custom(vjp=lambda g, xs, i: g * xs[1 - i])(lambda *xs: xs[0] * xs[1])
    x = ag.tensor(2.0, requires_grad=True)
    first = ag.grad(f(x, x), x, create_graph=True)
    close(ag.grad(first, x), 2.0)
    product = custom(vjp=lambda g, xs, wanted: [g * xs[1], g * xs[0]])(lambda *xs: xs[0] * xs[1])
    first = ag.grad(product(x, x), x, create_graph=True)
    close(ag.grad(first, x), 2.0)


def test_rules_that_take_no_batches_run_on_an_empty_one() -> None:
    f = custom(vjp=lambda g, x: g * x, batched_rules=False)(lambda x: x**2 / 2)
    x = ag.tensor(A, requires_grad=True)
    assert ag.grad(f(x), x, np.ones((0, 3)), is_grads_batched=True).shape == (0, 3)
    close(ag.grad(f(x), x, np.eye(3), is_grads_batched=True), np.diag(A))


def test_a_function_that_writes_to_its_argument_leaves_the_callers_alone() -> None:
    @func.custom(vjp=lambda g, x: g * 3 * x**2)
    def cube(x: Any) -> Any:
        x *= x * x
        return x

    x = np.array([2.0, 3.0])
    assert cube(x).tolist() == [8.0, 27.0]
    assert func.grad(lambda x: ag.sum(cube(x)))(x).tolist() == [12.0, 27.0]
    assert func.jvp(cube, (x,), (x,))[1].tolist() == [24.0, 81.0]
    assert x.tolist() == [2.0, 3.0]
    leaf = ag.tensor(x, requires_grad=True)
    out = cube(leaf)
    out *= 0.0  # not the argument
    assert leaf.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda t, x: ag.sum(t), r"one of shape \(\) as the tangent of output 0"),
        (lambda t, x: ag.stack([t, t]), r"one of shape \(2, 2\) as the tangent"),
        (lambda t, x: t * 1j, "complex tangent for output 0, which is real"),
        (lambda t, x: None, "returned None"),
        (lambda t, x: 1.0, "returned float as the tangent"),
    ],
)
def test_wrong_forward_rules(rule: Any, message: str) -> None:
    x = np.array([2.0, 3.0])

    @func.custom(jvp=rule)
    def doubled(x: Any) -> Any:
        return 2 * x

    with pytest.raises(RuleError, match=message):
        func.jvp(doubled, (x,), (x,))

    @func.custom(jvp=lambda t, x: (t, rule(t, x)), multiple=True)
    def twice(x: Any) -> Any:
        return x, 2 * x

    with pytest.raises(RuleError, match=message.replace("output 0", "output 1")):
        func.jvp(twice, (x,), (x,))


def test_forward_rules_with_too_few_tangents() -> None:
    @func.custom(jvp=lambda t: (t,), multiple=True)
    def twice(x: Any) -> Any:
        return x, 2 * x

    @func.custom(jvp=lambda t: t, multiple=True)
    def again(x: Any) -> Any:
        return x, 2 * x

    x = np.ones(2)
    with pytest.raises(RuleError, match="1 tangents for 2 outputs"):
        func.jvp(twice, (x,), (x,))
    with pytest.raises(RuleError, match="must return a tuple with a tangent for each of the 2"):
        func.jvp(again, (x,), (x,))


def test_a_forward_rule_of_inputs_that_broadcast() -> None:
    @func.custom(vjp=(lambda g: g, None), jvp=lambda t_x: t_x, batch="elementwise")
    def first(x: Any, y: Any) -> Any:
        return x + 0 * y

    _, tangent = func.jvp(lambda x: first(x, np.ones((2, 3))), (np.ones(3),), (np.arange(3.0),))
    assert tangent.tolist() == [[0.0, 1.0, 2.0]] * 2


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "must return an array, not NoneType"),
        ([1.0, 2.0], "must return an array, not list"),
        ((np.ones(2), np.ones(2)), "must return an array, not tuple; .* multiple=True"),
    ],
)
def test_functions_that_return_no_array(returned: Any, message: str) -> None:
    @func.custom(vjp=lambda g: g)
    def wrong(x: Any) -> Any:
        return returned

    for call in (wrong, func.grad(wrong), func.vmap(wrong)):
        with pytest.raises(TypeError, match=message):
            call(np.ones(2))

    @func.custom(vjp=lambda gs: gs[0], multiple=True)
    def several(x: Any) -> Any:
        return returned[0] if isinstance(returned, tuple) else None

    with pytest.raises(TypeError, match="must return a tuple of arrays, because of multiple=True"):
        several(np.ones(2))


def test_functions_that_return_a_number() -> None:
    @func.custom(vjp=lambda g, x: g * ag.cos(x))
    def sine(x: Any) -> Any:
        return math.sin(x)

    assert float(func.grad(sine)(0.0)) == 1.0
    assert float(func.jvp(sine, (0.0,), (2.0,))[1]) == 2.0
