"""What compiled loops compute after the last step of a reverse pass, and in each step."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from rows import crossed, over, rotated

import arraygrad as ag
from arraygrad.compiler.loops import stacking
from arraygrad.compiler.trace.bodies import traced_body
from arraygrad.func import scan, vmap

rng = np.random.default_rng(1)
W, V = rng.normal(size=(2, 4, 4)) / 3
XS = rng.normal(size=(6, 3, 4))
INDICES = rng.integers(-4, 4, 6)

# Bodies: from the state (3, 4), an element (3, 4), an index, and two matrices (4, 4).
Step = Callable[[Any, Any, Any, Any, Any], Any]
BODIES: dict[str, Step] = {
    "a recurrent net": lambda h, x, i, w, v: ag.tanh(x @ w + h @ v),
    "a matrix that is used twice": lambda h, x, i, w, v: ag.tanh(x @ w + ag.sin(h @ w) @ w.T),
    "products of vectors": lambda h, x, i, w, v: h + w @ ag.sin(h[0]) * (x[1] @ v),
    "einsum": lambda h, x, i, w, v: ag.sin(ag.einsum("ij,ki->kj", w, h * x) + ag.einsum("jj", v)),
    "a part of a matrix": lambda h, x, i, w, v: ag.sin(h[:, 1:] @ w[1:] + (x[:, :3] @ v[1:, :])),
    "a scaled matrix": lambda h, x, i, w, v: ag.sin(h @ (2 * w) + x @ ag.exp(v)),
    "a bias": lambda h, x, i, w, v: ag.tanh(h @ w + v[0] + 3 * x),
    "matrices of a batch": lambda h, x, i, w, v: ag.sin(
        ag.reshape(ag.stack((w, v)) @ ag.reshape(h, (1, 3, 4)).mT, (2, 12))[1].reshape((3, 4)) + x
    ),
    "rows at an index": lambda h, x, i, w, v: ag.sin(h * w[i] + x @ v),
    "rows at an index from the state": lambda h, x, i, w, v: ag.sin(
        h @ v + w[ag.astype(ag.sum(h) > 0, "int64")] + x
    ),
    "products of constants": lambda h, x, i, w, v: ag.sin(
        h @ (w @ v) + ag.linalg.inv(v + 2) @ x[0]
    ),
    "no product": lambda h, x, i, w, v: ag.sin(h * w[0] + x * v[1]),
}
BODIES["a product of the state"] = lambda h, x, i, w, v: ag.sin(h @ (h.T @ h) @ w + x)
TRANSFORMS: dict[str, Callable[..., Any]] = {
    "value": lambda f: f,
    "grad": lambda f: ag.func.grad(f, (0, 1, 2)),
    "grad of grad": lambda f: ag.func.grad(
        lambda *a: sum(ag.sum(g**2) for g in ag.func.grad(f, (0, 1))(*a)), (0, 1, 2)
    ),
    "jvp of grad": lambda f: lambda *a: ag.func.jvp(ag.func.grad(f, (0, 1)), a, a)[1],
    "batch of grads": lambda f: (
        lambda w, v, xs: vmap(ag.func.grad(f, (0, 1)), (0, None, None))(ag.stack((w, v)), v, xs)
    ),
}


def total(step: Step, reverse: bool = False, memory: int | None = None) -> Any:
    def f(w: Any, v: Any, xs: Any) -> Any:
        def body(h: Any, given: Any) -> Any:
            x, i = given
            h = step(h, x, i, w, v)
            return h, h[0]

        init = ag.ones((3, 4)) * ag.mean(w)
        last, ys = scan(body, init, (xs, INDICES), reverse=reverse, memory=memory)
        return ag.sum(last**2) + ag.sum(ys * ag.arange(24.0).reshape((6, 4)))

    return f


def close(found: Any, wanted: Any) -> None:
    for x, y in zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]:
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


FEW = ("a recurrent net", "products of vectors", "a part of a matrix", "a product of the state")
CASES = [(n, t) for t in TRANSFORMS for n in (BODIES if t == "grad" else FEW)]


@over("name, transform", rotated(CASES))
def test_as_eager(name: str, transform: str) -> None:
    f = TRANSFORMS[transform](total(BODIES[name]))
    close(ag.compile(f)(W, V, XS), f(W, V, XS))


@crossed(memory=[0, 400], reverse=[False, True])
def test_within_a_budget(memory: int, reverse: bool) -> None:
    for name in ("a recurrent net", "rows at an index"):
        f = ag.func.grad(total(BODIES[name], reverse, memory), (0, 1, 2))
        close(ag.compile(f)(W, V, XS), f(W, V, XS))


def test_complex_numbers() -> None:
    def f(w: Any, xs: Any) -> Any:
        last, _ = scan(lambda h, x: (ag.sin(h @ w + x @ w), None), xs[0], xs)
        return ag.sum(ag.abs(last))

    w, xs = (W + 1j * V) / 4, (XS + 0.5j) / 4
    g = ag.func.grad(f, (0, 1))
    close(ag.compile(g)(w, xs), g(w, xs))


def test_products_are_outside_of_the_loops() -> None:
    """One large product for each matrix in the reverse pass, where each step would have one."""
    f = ag.func.grad(total(BODIES["a recurrent net"]), (0, 1))
    program = ag.compile(f).program(W, V, XS)
    assert program.count("scan(") == 2
    products = [line for line in program.splitlines() if "matmul" in line]
    assert len(products) == 2  # the gradients of both matrices


def test_what_is_the_same_in_all_steps_is_computed_once() -> None:
    calls = []

    @ag.func.custom(vjp=lambda g: g)
    def noted(x: Any) -> Any:
        calls.append(None)
        return np.array(x)

    def f(w: Any, xs: Any) -> Any:
        return scan(lambda h, x: (h @ ag.linalg.inv(w) + noted(x), None), xs[0], xs)[0]

    compiled = ag.compile(f)
    close(compiled(W, XS), f(W, XS))
    assert "inv(" in compiled.program(W, XS)
    calls.clear()
    compiled(W, XS)
    assert len(calls) == len(XS)  # a user's function may do more than return a value


def test_memory_is_as_before_if_a_product_would_need_more() -> None:
    """The cotangents of large states are not put side by side for a small matrix."""
    w, xs = np.eye(2), rng.normal(size=(40, 20_000, 2))

    def f(w: Any, xs: Any) -> Any:
        return ag.sum(scan(lambda h, x: (h @ w + x, None), xs[0], xs)[0])

    compiled = ag.compile(ag.func.grad(f))
    compiled(w, xs)
    tracemalloc.start()
    compiled(w, xs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * xs.nbytes  # the states


# --- the passes by themselves ---


def _traced(function: Any, shapes: Any) -> Any:
    return traced_body(function, [np.empty(shape) for shape in shapes])


def test_which_values_are_put_side_by_side() -> None:
    def body(given: Any) -> Any:
        g, h, w = given
        return [h.T @ g, ag.sum(g, axis=0), (h.T @ g) @ w, ag.sin(g)[0]]

    made = _traced(body, [(3, 4), (3, 4), (4, 4)])
    g, h, w = made.inputs
    product, bias, further, other = made.outputs

    def is_fixed(node: Any) -> bool:
        return node is w

    sums = stacking.Sums(made.outputs, is_fixed, [h], 1000)
    assert sums.stacked == [g]  # for the product; and the bias is then a sum over it
    assert sums.added == [other]
    # Without room, the products are added up by the loop; one of them makes two of the sums.
    without = stacking.Sums(made.outputs, is_fixed, [h], 0)
    assert not without.stacked
    assert set(without.added) == {product, bias, other}
    gs, hs, weights = (
        rng.normal(size=(5, 3, 4)),
        rng.normal(size=(5, 3, 4)),
        rng.normal(size=(4, 4)),
    )
    added = sum(np.sin(g)[0] for g in gs)
    found = sums.values([added], {g: gs, h: hs}, {w: weights}.__getitem__, 5)
    exact = np.einsum("tbi,tbj->ij", hs, gs)
    np.testing.assert_allclose(found[product], exact)
    np.testing.assert_allclose(found[bias], gs.sum((0, 1)))
    np.testing.assert_allclose(found[further], exact @ weights)
