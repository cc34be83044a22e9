"""`compat.torch.autograd`, `func` and checkpoints: what they adapt, against closed forms."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch
from arraygrad.compat.torch.utils.checkpoint import (
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_early_stop,
)

grad, functional = torch.autograd.grad, torch.autograd.functional


def close(found: Any, expected: Any) -> None:
    values = found.numpy(force=True) if isinstance(found, torch.Tensor) else found
    np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-6)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.tensor([1.0, 2.0, 3.0], dtype=torch.double, requires_grad=True)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: float) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        ctx.factor = factor
        return factor * x**3

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * ctx.factor * g * x**2, None

    @staticmethod
    def jvp(ctx: Any, t: torch.Tensor, _: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * ctx.factor * t * x**2


class Apart(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> Any:
        return x**2, x.round()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor, _: Any) -> Any:
        return 2 * g * ctx.saved_tensors[0]


def test_a_function_of_ones_own(x: torch.Tensor) -> None:
    y = Cube.apply(x, 2.0)
    assert type(y.grad_fn).__name__ == y.grad_fn.name() == "CubeBackward"
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert y.grad_fn.saved_tensors[0] is x
    assert y.grad_fn.factor == 2.0
    (g,) = grad(y.sum(), x, create_graph=True)
    close(g, [6.0, 24.0, 54.0])
    close(grad(g.sum(), x)[0], [12.0, 24.0, 36.0])
    assert torch.autograd.gradcheck(lambda x: Cube.apply(x, 2.0), x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda x: Cube.apply(x, 2.0), x)


def test_a_function_of_ones_own_in_transforms(x: torch.Tensor) -> None:
    values = x.detach()
    close(torch.func.grad(lambda x: Apart.apply(x)[0].sum())(values), [2.0, 4.0, 6.0])
    close(torch.func.hessian(lambda x: Apart.apply(x)[0].sum())(values), 2 * np.eye(3))
    close(torch.vmap(lambda x: Apart.apply(x)[0])(values), [1.0, 4.0, 9.0])
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.vmap(lambda x: Cube.apply(x, 2.0))(values)


def test_a_function_that_writes_returns_its_argument() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.mark_dirty(x)
            return x.mul_(2)  # type: ignore[no-any-return]

        @staticmethod
        @torch.autograd.once_differentiable
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            return 2 * g

    leaf = torch.ones(2, requires_grad=True)
    t = leaf.clone()
    assert Double.apply(t) is t
    (g,) = grad((t * t).sum(), leaf, create_graph=True)
    close(g, [8.0, 8.0])
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_hooks_get_tensors(x: torch.Tensor) -> None:
    seen: list[Any] = []
    y = x * 2
    x.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: seen.append(g))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t))
    y.sum().backward()
    close(x.grad, [20.0, 20.0, 20.0])
    assert isinstance(seen[0], torch.Tensor)
    assert seen[-1] is x
    assert isinstance(seen[1][0][0], torch.Tensor)
    x.register_post_accumulate_grad_hook(lambda t: t)
    with pytest.raises(RuntimeError, match="None"):
        x.sum().backward()


def test_saved_tensors_hooks_and_edges(x: torch.Tensor) -> None:
    packed: list[Any] = []

    def pack(t: torch.Tensor) -> int:
        packed.append(t.detach() * 1)
        return len(packed) - 1

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda i: packed[i]):
        y = x * x
    assert all(isinstance(t, torch.Tensor) for t in packed)
    edge = torch.autograd.graph.get_gradient_edge(y)
    close(grad(y.sum(), x, retain_graph=True)[0], [2.0, 4.0, 6.0])
    close(grad((3 * y).sum(), edge)[0], [3.0, 3.0, 3.0])


def test_a_graph_is_freed_without_the_garbage_collector() -> None:
    class Marker:
        pass

    def references(apply: Any) -> list[Any]:
        leaf, marker = torch.randn(4, requires_grad=True), Marker()
        out = apply(leaf)
        leaf.register_post_accumulate_grad_hook(lambda t: marker and None)
        out.register_hook(lambda g: marker and None)
        out.grad_fn.register_hook(lambda given, result: marker and None)
        out.sum().backward(retain_graph=True)
        kept = (marker, leaf, out, out.grad_fn, out.native, leaf.native)
        return [weakref.ref(k) for k in kept]

    gc.disable()
    try:
        for apply in (lambda x: x * 2, lambda x: Cube.apply(x, 2.0), lambda x: x.clone()[:2].exp()):
            assert [r() for r in references(apply)] == [None] * 6
    finally:
        gc.enable()


def test_functional(x: torch.Tensor) -> None:
    def f(x: torch.Tensor) -> Any:
        return x**2

    close(functional.jacobian(f, x), np.diag([2.0, 4.0, 6.0]))
    close(functional.jacobian(f, x, vectorize=True), np.diag([2.0, 4.0, 6.0]))
    forward = functional.jacobian(f, x, vectorize=True, strategy="forward-mode")
    close(forward, np.diag([2.0, 4.0, 6.0]))
    close(functional.hessian(lambda x: f(x).sum(), x), 2 * np.eye(3))
    v = torch.tensor([1.0, 0.0, 2.0], dtype=torch.double)
    for product in (functional.vjp, functional.jvp):
        value, found = product(f, x, v)
        close(value, [1.0, 4.0, 9.0])
        close(found, [2.0, 0.0, 12.0])
    for product in (functional.vhp, functional.hvp):
        close(product(lambda x: (x**3).sum(), x, v)[1], [6.0, 0.0, 36.0])
    pair = functional.jacobian(lambda a, b: (a * b, a), (x, x))
    assert len(pair) == 2
    assert len(pair[1]) == 2
    close(pair[1][1], np.zeros((3, 3)))
    with pytest.raises(RuntimeError, match="strict"):
        functional.jacobian(lambda x: x.detach(), x, strict=True)
    with pytest.raises(RuntimeError, match="single element"):
        functional.hessian(f, x)


def test_func_keywords(x: torch.Tensor) -> None:
    values = x.detach()
    gradient, (value, aux) = torch.func.grad_and_value(
        lambda x: ((x**2).sum(), x + 1), has_aux=True
    )(values)
    close(gradient, [2.0, 4.0, 6.0])
    close(value, 14.0)
    close(aux, [2.0, 3.0, 4.0])
    rows = torch.arange(6.0).reshape(2, 3)
    mapped = torch.vmap(lambda r, s: r * s, in_dims=(1, None), out_dims=1, chunk_size=2)
    close(mapped(rows, torch.tensor([1.0, 2.0])), rows.numpy() * [[1.0], [2.0]])
    out, push = torch.func.linearize(torch.sin, values)
    close(push(torch.ones(3, dtype=torch.double)), np.cos(out.asin().numpy() * 0 + values.numpy()))
    with pytest.raises(RuntimeError, match="strict"):
        torch.func.jvp(lambda x: torch.ones(2), (values,), (values,), strict=True)
    with pytest.raises(RuntimeError, match="aux"):
        torch.func.grad(lambda x: (x.sum(), "text"), has_aux=True)(values)
    with pytest.raises(ValueError, match="in_dim=5"):
        torch.vmap(torch.sin, in_dims=5)(values)


def test_randomness_in_vmap() -> None:
    rows = torch.zeros(4, 2)
    with pytest.raises(RuntimeError, match="randomness"):
        torch.vmap(lambda r: r + torch.randn(2))(rows)
    same = torch.vmap(lambda r: r + torch.randn(2), randomness="same")(rows)
    assert torch.equal(same[0], same[3])
    different = torch.vmap(lambda r: r + torch.randn(2), randomness="different")(rows)
    assert len(np.unique(different.numpy())) == 8
    chunks = torch.vmap(lambda r: r + torch.rand(2), randomness="same", chunk_size=3)(rows)
    assert torch.equal(chunks[0], chunks[3])
    noisy = torch.func.jacfwd(lambda x: torch.rand(()) * x, randomness="different")(torch.ones(3))
    assert len(set(noisy.diagonal().tolist())) == 3


def test_writes_to_arguments_of_vmap_are_seen_outside() -> None:
    rows = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    torch.vmap(lambda column: column.mul_(10), in_dims=1)(rows)
    close(rows, 10 * np.arange(6.0).reshape(2, 3))
    assert torch.vmap(lambda row: row.view(3, 1))(rows)._base is rows


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoint(x: torch.Tensor, use_reentrant: bool) -> None:
    runs: list[int] = []

    def f(x: torch.Tensor) -> Any:
        runs.append(1)
        return torch.nn.functional.dropout((x * 2).exp().sin(), 0.5)

    torch.manual_seed(0)
    y = checkpoint(f, x, use_reentrant=use_reentrant)
    y.sum().backward()
    assert len(runs) == 1 + use_reentrant
    kept = (y != 0).numpy()
    inner = 2 * x.detach().numpy()
    close(x.grad, 2 * kept * np.cos(np.exp(inner)) * np.exp(inner) * 2)


def test_checkpoint_contexts(x: torch.Tensor) -> None:
    class Count:
        entered = 0

        def __enter__(self) -> None:
            self.entered += 1

        def __exit__(self, *exc: object) -> None:
            pass

    first, second = Count(), Count()
    reached: list[int] = []

    def f(x: torch.Tensor) -> Any:
        reached.append(1)
        return x.sin().exp()

    out = checkpoint(f, x, use_reentrant=False, context_fn=lambda: (first, second))
    out.sum().backward()
    assert (first.entered, second.entered) == (1, 0)
    assert len(reached) == 1  # its ops run again, but not the function
    with set_checkpoint_early_stop(False):
        checkpoint(f, x, use_reentrant=False)
    with pytest.warns(UserWarning, match="use_reentrant"):
        checkpoint(f, x)
    layers = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    data = torch.randn(4, 3, requires_grad=True)
    expected = layers(data)
    close(checkpoint_sequential(layers, 2, data, use_reentrant=False), expected.detach().numpy())


def test_old_names(x: torch.Tensor) -> None:
    v = torch.autograd.Variable(x, requires_grad=True)
    assert v is not x
    assert v.is_leaf
    assert isinstance(x, torch.autograd.Variable)
    assert torch.Tensor([1.0, 2.0]).shape == (2,)
    assert torch.Tensor(2, 3).shape == (2, 3)


def test_a_reentrant_checkpoint_refuses_what_it_would_get_wrong(x: torch.Tensor) -> None:
    y = checkpoint(torch.exp, x, use_reentrant=True).sum()
    with pytest.raises(RuntimeError, match="use_reentrant=False"):
        grad(y, x, retain_graph=True)
    with pytest.raises(RuntimeError, match="use_reentrant=False"):
        y.backward(inputs=[x], retain_graph=True)
    y.backward()
    close(x.grad, np.exp([1.0, 2.0, 3.0]))


def test_gradcheck_options(x: torch.Tensor) -> None:
    check = torch.autograd.gradcheck
    both = {"check_forward_ad": True, "check_batched_forward_grad": True}
    assert check(torch.sin, x, **both)

    class NoBatch(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return 2 * x

        @staticmethod
        def jvp(ctx: Any, t: torch.Tensor) -> torch.Tensor:
            return 2 * t + 0 * torch.randn(3, dtype=t.dtype)

    assert check(NoBatch.apply, x, check_forward_ad=True, check_backward_ad=False)
    with pytest.raises(torch.autograd.GradcheckError, match="batch"):
        check(NoBatch.apply, x, check_backward_ad=False, **both)
    with pytest.raises(NotImplementedError, match="masked"):
        check(torch.sin, x, masked=True)
    with pytest.raises(ValueError, match="to require gradient"):
        check(torch.sin, x.detach())
    wrong = lambda x: x.detach() * x  # noqa: E731
    with pytest.raises(torch.autograd.GradcheckError):
        check(wrong, x)
    assert not check(wrong, x, raise_exception=False)


def test_callbacks_of_backward(x: torch.Tensor) -> None:
    engine, calls = torch.autograd.Variable._execution_engine, []

    def hook(g: torch.Tensor) -> None:
        engine.queue_callback(lambda: calls.append(x.grad is not None))

    x.register_hook(hook)
    x.sum().backward()
    assert calls == [True]
    with pytest.raises(RuntimeError, match="backward"):
        engine.queue_callback(print)


def test_writes_to_saved_tensors_are_refused_unless_they_are_allowed() -> None:
    def written() -> Any:
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        z = (y * y).sum()
        y.add_(1)
        return z, x

    z, x = written()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(z, x)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        z, x = written()
        z.backward()
    assert x.grad.tolist() == [8, 8, 8]
