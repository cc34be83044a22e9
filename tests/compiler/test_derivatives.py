"""A compiled function under every transform: it acts as the function itself does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rows import Row, over

import arraygrad as ag

x = np.random.default_rng(0).normal(size=(4, 3))
v = np.random.default_rng(1).normal(size=(4, 3))


def f(x: Any) -> Any:
    return (ag.sin(x) * x).sum() + ag.special.logsumexp(x)


def pair(x: Any) -> Any:
    return {"a": ag.tanh(x) @ x.T, "b": (ag.argmax(x), x[0])}


def close(a: Any, b: Any) -> None:
    import optree

    found, wanted = optree.tree_leaves(a), optree.tree_leaves(b)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        one = one.detach() if isinstance(one, ag.Tensor) else one
        other = other.detach() if isinstance(other, ag.Tensor) else other
        assert type(one) is type(other) or np.ndim(one) == 0
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12, atol=1e-14)


TRANSFORMS = {
    "grad": ag.func.grad,
    "grad of grad": lambda f: ag.func.grad(lambda x: (ag.func.grad(f)(x) ** 2).sum()),
    "three times": lambda f: ag.func.grad(
        lambda x: ag.func.grad(lambda y: (ag.func.grad(f)(y) ** 2).sum())(x).sum()
    ),
    "hessian": ag.func.hessian,
    "jvp": lambda f: lambda x: ag.func.jvp(f, (x,), (v,)),
    "jvp of grad": lambda f: lambda x: ag.func.jvp(ag.func.grad(f), (x,), (v,)),
    "grad of jvp": lambda f: ag.func.grad(lambda x: ag.func.jvp(f, (x,), (v,))[1]),
    "vmap": ag.func.vmap,
    "vmap of grad": lambda f: ag.func.vmap(ag.func.grad(f)),
    "grad of vmap": lambda f: ag.func.grad(lambda x: ag.func.vmap(f)(x).prod()),
    "jacfwd of jacrev": lambda f: ag.func.jacfwd(ag.func.jacrev(f)),
    "compile": ag.compile,
    "compile of hessian": lambda f: ag.compile(ag.func.hessian(f)),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
def test_transforms(transform: Any) -> None:
    close(transform(ag.compile(f))(x), transform(f)(x))


@pytest.mark.parametrize("transform", ["jvp", "vmap", "compile"])
def test_transforms_of_a_structure(transform: str) -> None:
    of = TRANSFORMS[transform]
    given = np.stack([x, v]) if transform == "vmap" else x
    close(of(ag.compile(pair))(given), of(pair)(given))


def test_only_what_depends_on_the_tensor_requires_gradients() -> None:
    t = ag.tensor(x, requires_grad=True)
    out = ag.compile(lambda t, y: (t * 2, y * 2, ag.argmax(t), t.detach()))(t, x)
    assert out[0].requires_grad
    assert type(out[1]) is np.ndarray
    assert not out[2].requires_grad
    assert not out[3].requires_grad


def test_backward_and_hooks() -> None:
    t = ag.tensor(x, requires_grad=True)
    seen = []
    y = t * 1
    y.register_hook(lambda g: seen.append(g) or g * 2)
    out = ag.compile(f)(y)
    out.register_hook(lambda g: g * 3)
    out.backward()
    close(t.grad.numpy(), 6 * ag.func.grad(f)(x))
    close(seen[0].numpy(), 3 * ag.func.grad(f)(x))


def test_create_graph() -> None:
    def second(function: Any) -> Any:
        t = ag.tensor(x, requires_grad=True)
        (g,) = ag.grad(function(t), [t], create_graph=True)
        (h,) = ag.grad((g**2).sum(), [t], create_graph=True)
        return ag.grad((h**2).sum(), t).numpy()

    close(second(ag.compile(f)), second(f))


def test_some_inputs_only() -> None:
    def g(a: Any, b: Any, c: Any) -> Any:
        return (a * b).sum() * c

    a, b = ag.tensor(x, requires_grad=True), ag.tensor(v, requires_grad=True)
    c = ag.tensor(2.0)
    out = ag.compile(g)(a, b, c)
    close(ag.grad(out, b, retain_graph=True).numpy(), 2 * x)
    close(ag.grad(out, [b, a])[1].numpy(), 2 * v)


def test_batched_cotangents() -> None:
    t = ag.tensor(x, requires_grad=True)
    gs = np.random.default_rng(2).normal(size=(5, 4, 3))

    def pulled(function: Any) -> Any:
        return ag.grad(function(t), t, gs, is_grads_batched=True).numpy()

    close(pulled(ag.compile(lambda t: ag.sin(t) * t)), pulled(lambda t: ag.sin(t) * t))


def test_tensors_from_outside_are_differentiated() -> None:
    w = ag.tensor(v.T, requires_grad=True)
    b = ag.tensor(np.ones(4), requires_grad=True)

    def g(x: Any) -> Any:
        return ag.tanh(x @ w + b).sum()

    compiled = ag.compile(g)
    t = ag.tensor(x, requires_grad=True)
    for given in (x, t):
        leaves = [w, b] + [t] * (given is t)
        for a, e in zip(ag.grad(compiled(given), leaves), ag.grad(g(given), leaves), strict=True):
            close(a.numpy(), e.numpy())
    with ag.no_grad():
        w -= 0.5
    close(compiled(x).detach().numpy(), g(x).detach().numpy())
    (h,) = ag.grad(compiled(t), [w], create_graph=True)
    (e,) = ag.grad(g(t), [w], create_graph=True)
    close(ag.grad((h**2).sum(), b).numpy(), ag.grad((e**2).sum(), b).numpy())
    assert not ag.no_grad()(compiled)(x).requires_grad


def test_a_tensor_from_outside_may_start_and_stop_to_require_gradients() -> None:
    w = ag.tensor(np.full_like(x, 2.0))
    f = ag.compile(lambda x: ag.sum(x * w))
    assert not f(x).requires_grad
    w.requires_grad_()
    np.testing.assert_allclose(ag.grad(f(x), w).array, x)
    w.requires_grad_(False)
    assert not f(x).requires_grad


def test_tensors_from_outside_inside_a_transform() -> None:
    def outer(w: Any, wrap: Any) -> Any:
        return wrap(lambda x: (x * w).sum() + (w**3).sum())(x)

    for transform in (ag.func.grad, ag.func.hessian):
        found = transform(lambda w: outer(w, ag.compile))(v)
        close(found, transform(lambda w: outer(w, lambda f: f))(v))


def test_complex_numbers() -> None:
    def g(z: Any) -> Any:
        return ag.abs(ag.exp(z) * z).sum()

    z = x + 1j * v

    def pulled(function: Any) -> Any:
        t = ag.tensor(z, requires_grad=True)
        return ag.grad(function(t), t).numpy()

    close(pulled(ag.compile(g)), pulled(g))


def test_a_saved_argument_is_restored_after_a_write() -> None:
    t = ag.tensor(x, requires_grad=True)
    y = t * 1
    out = ag.compile(lambda y: ag.sin(y).sum())(y)
    y += 1
    np.testing.assert_allclose(ag.grad(out, t).array, np.cos(x), rtol=1e-12)


def test_gradcheck() -> None:
    t = ag.tensor(x, requires_grad=True)
    assert ag.testing.gradcheck(ag.compile(f), (t,))
    assert ag.testing.gradgradcheck(ag.compile(f), (t,))


def test_what_is_saved() -> None:
    """Cheap values are computed again; products and reductions are kept, and outputs not twice."""
    from arraygrad.compiler.call.derivative import Differentiable

    def saved(function: Any) -> list[str]:
        leaves = [ag.tensor(x, requires_grad=True)]
        made = Differentiable(lambda leaves: function(*leaves), leaves, [0], ag.compile)
        return [node.op.name for node in made.saved]  # type: ignore[attr-defined]

    assert saved(lambda x: (x * x * x).sum()) == []
    assert saved(lambda x: ag.exp(x)) == []
    assert saved(lambda x: ag.sin(x @ x.T).sum()) == ["matmul"]
    assert saved(lambda x: ag.exp(ag.sin(ag.exp(ag.sin(x)))).sum()) != []


def test_what_is_cheap_to_compute_from_saved_values_is_not_saved() -> None:
    def f(x: Any, w: Any) -> Any:
        h = ag.tanh(x @ w + w @ x)  # costly: two products, which are not needed themselves
        return (h @ h.T).sum()  # whose pullback reads h, its transpose, and 1 - h**2

    x, w = (ag.tensor(np.random.default_rng(i).normal(size=(4, 4))) for i in range(2))
    x.requires_grad_()
    compiled = ag.compile(f)
    for _ in range(3):  # by Python, and then by native entry points
        np.testing.assert_allclose(
            ag.grad(compiled(x, w), x).numpy(), ag.grad(f(x, w), x).numpy(), rtol=1e-12
        )
    ((program,),) = compiled._programs.values()
    assert len(program._op.saved) == 1


def test_hooks_get_arrays_only() -> None:
    """What a program keeps for itself is no array of the user's."""
    x = ag.tensor(np.linspace(0.1, 1.0, 6), requires_grad=True)
    function = ag.compile(lambda x: ag.exp(ag.sum(ag.sin(x))) * x)
    with ag.autograd.graph.saved_tensors_hooks(lambda a: np.array(a.array), ag.asarray):
        out = function(x)
    wanted = ag.grad(function(x).sum(), x)
    np.testing.assert_allclose(ag.grad(out.sum(), x).array, wanted.array)


USES: dict[str, Any] = {
    "value": lambda f: f(POINT),
    "grad": lambda f: ag.func.grad(f)(POINT),
    "jvp": lambda f: ag.func.jvp(f, (POINT,), (POINT,))[1],
    "vmap": lambda f: ag.func.vmap(f)(np.stack([POINT, 2 * POINT])),
    "hvp": lambda f: ag.func.jvp(ag.func.grad(f), (POINT,), (POINT,))[1],
    "second": lambda f: ag.func.grad(lambda x: ag.sum(ag.func.grad(f)(x) * POINT))(POINT),
    "gradients of a batch": lambda f: ag.func.vmap(ag.func.grad(f))(np.stack([POINT, 2 * POINT])),
}
POINT = np.array([0.3, 1.2, -0.7])


NAMES = list(USES)
# A quick run takes each use after the one before it in the table.
PAIRS = [
    Row(before, f"{before}, {use}, {is_captured}", (before, use, is_captured), quick=is_next)
    for i, before in enumerate(NAMES)
    for use in NAMES
    for is_next in [use == NAMES[(i + 1) % len(NAMES)]]
    for is_captured in (False, True)
]


@over("before, use, is_captured", PAIRS)
def test_each_use_beside_a_parameter_after_each_other_use(
    before: str, use: str, is_captured: bool
) -> None:
    """Which arguments have derivatives is a part of the signature."""
    w = ag.tensor([0.5, 1.5, -1.0], requires_grad=True)

    def total(x: Any, w: Any) -> Any:
        return ag.sum(ag.sin(w * x) + 0.5 * w * w)

    one = ag.compile(lambda x: total(x, w))
    two = ag.compile(total)
    function = one if is_captured else lambda x: two(x, w)
    USES[before](function)
    found, wanted = USES[use](function), USES[use](lambda x: total(x, w))
    np.testing.assert_allclose(found.detach(), wanted.detach(), rtol=1e-10)
    (by_w,), (w_wanted,) = (ag.grad(ag.sum(r * r), [w]) for r in (found, wanted))
    np.testing.assert_allclose(by_w, w_wanted, rtol=1e-10)


def test_more_of_a_while_loop_has_tangents_than_cotangents() -> None:
    start, k = np.array([0.3, 0.7]), np.array([1.3, 0.9])

    def step(k: Any) -> Any:
        return lambda s: (s[0] + 1, s[1] * k, ag.sin(s[2]) + 0.1 * s[1])

    def by_loop(u: Any, k: Any) -> Any:
        return ag.func.while_loop(lambda s: s[0] < 3, step(k), (np.int64(0), k * 1.0, u))[2]

    def by_python(u: Any, k: Any) -> Any:
        state = (0, k * 1.0, u)
        for _ in range(3):
            state = step(k)(state)
        return state[2]

    def slope(function: Any) -> Any:
        return lambda k: ag.func.grad(lambda u: ag.sum(function(u, k) ** 2))(start)

    _, expected = ag.func.jvp(slope(by_python), (k,), (np.ones(2),))
    _, found = ag.func.jvp(ag.compile(slope(by_loop)), (k,), (np.ones(2),))
    np.testing.assert_allclose(found, expected, rtol=1e-13)
