"""Functions of arraygrad inside PyTorch and JAX, and theirs inside arraygrad."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import arraygrad as ag

A, B = np.array([[0.5, -1.0], [2.0, 0.3]]), np.array([1.5, 0.7])


def ours(a: Any, b: Any) -> Any:
    """A function of arraygrad, with two results."""
    return ag.linalg.det(a) * ag.sin(b), (a @ b) ** 2


def total(a: Any, b: Any) -> Any:
    first, second = ours(a, b)
    return first.sum() + second.sum()


def expected() -> tuple[Any, Any]:
    first = ag.func.grad(total, (0, 1))(A, B)
    return first, ag.func.hessian(total, 0)(A, B)


def test_a_function_of_arraygrad_inside_pytorch() -> None:
    torch = pytest.importorskip("torch")
    from arraygrad.interop.torch import wrap

    a, b = (torch.tensor(x, requires_grad=True) for x in (A, B))
    first, second = wrap(ours)(a, b)
    np.testing.assert_allclose(second.detach(), (A @ B) ** 2)
    loss = first.sum() + second.sum()
    grads = torch.autograd.grad(loss, (a, b), create_graph=True)
    gradient, hessian = expected()
    for found, wanted in zip(grads, gradient, strict=True):
        np.testing.assert_allclose(found.detach(), wanted)
    rows = [torch.autograd.grad(g, a, retain_graph=True)[0] for g in grads[0].reshape(-1)]
    np.testing.assert_allclose(torch.stack(rows).reshape(2, 2, 2, 2), hessian, atol=1e-12)
    loss.backward()
    np.testing.assert_allclose(a.grad, gradient[0])
    assert torch.autograd.gradcheck(wrap(ours), (a, b))
    assert wrap(lambda x, n, k=1: x * n * k)(b.detach(), 2, k=3).tolist() == (B * 6).tolist()


def test_memory_is_shared_with_pytorch() -> None:
    torch = pytest.importorskip("torch")
    from arraygrad.interop.torch import unwrap, wrap

    x, seen = torch.ones(3), []
    wrap(lambda y: seen.append(y) or y * 2)(x)
    assert np.shares_memory(ag.asarray(seen[0]).detach().numpy(), x.numpy())
    y = np.ones(3)
    unwrap(lambda t: seen.append(t) or t * 2)(y)
    assert np.shares_memory(seen[1].numpy(), y)


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    """JAX computes in float64."""
    if importlib.util.find_spec("jax") is None:
        yield
        return
    import jax

    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_function_of_another_library_inside_arraygrad(library: str) -> None:
    other: Any = pytest.importorskip(library)
    if library == "torch":
        from arraygrad.interop.torch import unwrap

        linalg, sin = other.linalg, other.sin
    else:
        from arraygrad.interop.jax import unwrap

        linalg, sin = other.numpy.linalg, other.numpy.sin

    def theirs(a: Any, b: Any) -> Any:
        return linalg.det(a) * sin(b), (a @ b) ** 2

    bridged = unwrap(theirs)

    def loss(a: Any, b: Any) -> Any:
        first, second = bridged(a, b)
        return first.sum() + second.sum()

    gradient, hessian = expected()
    a, b = (ag.tensor(x, requires_grad=True) for x in (A, B))
    found = ag.grad(loss(a, b), (a, b), create_graph=True)
    for one, wanted in zip(found, gradient, strict=True):
        np.testing.assert_allclose(one.detach(), wanted)
    rows = [ag.grad(g, a, retain_graph=True) for g in found[0].reshape(-1)]
    np.testing.assert_allclose(ag.stack(rows).reshape(2, 2, 2, 2), hessian, atol=1e-12)


def test_a_function_of_arraygrad_inside_jax() -> None:
    jax = pytest.importorskip("jax")
    from arraygrad.interop.jax import wrap

    bridged = wrap(ours)

    def loss(a: Any, b: Any) -> Any:
        first, second = bridged(a, b)
        return first.sum() + second.sum()

    gradient, hessian = expected()
    for transform in (lambda f: f, jax.jit):
        found = transform(jax.grad(loss, (0, 1)))(A, B)
        for one, wanted in zip(found, gradient, strict=True):
            np.testing.assert_allclose(one, wanted)
    np.testing.assert_allclose(jax.jacrev(jax.grad(loss))(A, B), hessian, atol=1e-12)
    batch = jax.vmap(loss, (0, None))(np.stack([A, 2 * A]), B)
    np.testing.assert_allclose(batch, [total(A, B), total(2 * A, B)])
