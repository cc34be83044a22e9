"""Whole programs, as users of PyTorch write them: with `compat.torch` and PyTorch, one result."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch as ours

theirs = pytest.importorskip("torch")

Program = Callable[[Any], list[Any]]


def data(torch: Any, *shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    """The same numbers for both: those of the random generators differ."""
    count = int(np.prod(shape))
    values = np.linspace(low, high, count) + 0.1 * np.sin(np.arange(count))
    return torch.tensor(values.reshape(shape))


def filled(torch: Any, model: Any) -> Any:
    with torch.no_grad():
        for k, p in enumerate(model.parameters()):
            p.copy_(data(torch, *p.shape, low=-0.5 - 0.1 * k, high=0.6))
    return model


def values(tensors: Any) -> list[Any]:
    return [t.detach().numpy().copy() for t in tensors]


def training(torch: Any) -> list[Any]:
    """Batches, Adam, a schedule, clipping; save and load, and go on."""
    nn, cross_entropy = torch.nn, torch.nn.functional.cross_entropy

    def model() -> Any:
        layers = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)
        return nn.Sequential(*layers).double()

    net = filled(torch, model())
    adam = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, T_max=10)
    x, y = data(torch, 12, 4), torch.tensor([0, 1, 2] * 4)
    losses = []
    for _ in range(3):
        for rows, classes in zip(x.split(4), y.split(4), strict=True):
            adam.zero_grad(set_to_none=True)
            loss = cross_entropy(net(rows), classes)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            adam.step()
            losses.append(loss.item())
        schedule.step()
    file = io.BytesIO()
    torch.save({"net": net.state_dict(), "adam": adam.state_dict()}, file)
    file.seek(0)
    saved = torch.load(file, weights_only=False)
    other = model()
    other.load_state_dict(saved["net"])
    again = torch.optim.Adam(other.parameters())
    again.load_state_dict(saved["adam"])
    cross_entropy(other(x), y).backward()
    again.step()
    names = list(net.state_dict())
    return [names, losses, *values(net.parameters()), *values(other.eval().parameters())]


def functions(torch: Any) -> list[Any]:
    """Functions with their own derivatives, in both forms, and a second derivative."""

    class Leaky(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, bound: float) -> Any:
            ctx.save_for_backward(x)
            ctx.bound = bound
            return x.clamp(-bound, bound)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return torch.where(x.abs() < ctx.bound, g, 0.1 * g), None

    class Both(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y, x + y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            x, y = ctx.saved_tensors
            return a * y + b, a * x + b

    x = data(torch, 5).requires_grad_()
    y = data(torch, 5, low=1.0, high=2.0).requires_grad_()
    clipped = Leaky.apply(x * 2, 0.5)
    product, total = Both.apply(clipped, y)
    (product.sum() + total.pow(2).sum()).backward()
    (g,) = torch.autograd.grad(Both.apply(x, y)[0].pow(3).sum(), x, create_graph=True)
    second = torch.autograd.grad(g.sum(), (x, y))
    assert torch.autograd.gradcheck(Both.apply, (x, y))
    return [clipped.grad_fn.name(), *values((x.grad, y.grad, *second))]


def gradient_penalty(torch: Any) -> list[Any]:
    """The critic of a Wasserstein GAN: the loss has the norm of a gradient in it."""
    nn = torch.nn
    critic = filled(
        torch, nn.Sequential(nn.Linear(3, 6), nn.LeakyReLU(0.2), nn.Linear(6, 1)).double()
    )
    optimiser = torch.optim.RMSprop(critic.parameters(), lr=0.01)
    real, fake = data(torch, 5, 3), data(torch, 5, 3, low=1.0, high=2.0)
    share = data(torch, 5, 1, low=0.1, high=0.9)
    losses = []
    for _ in range(3):
        between = (share * real + (1 - share) * fake).requires_grad_()
        out = critic(between)
        (g,) = torch.autograd.grad(out, between, torch.ones_like(out), create_graph=True)
        penalty = ((g.norm(2, dim=1) - 1) ** 2).mean()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
        critic.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return [losses, *values(critic.parameters())]


def meta_learning(torch: Any) -> list[Any]:
    """A step of descent inside the loss, over tasks at once; gradients for each task."""
    nn, func = torch.nn, torch.func
    net = filled(torch, nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)).double())
    start = {name: p.detach() for name, p in net.named_parameters()}

    def loss(p: Any, x: Any, y: Any) -> Any:
        return ((func.functional_call(net, p, (x,)) - y) ** 2).mean()

    def adapted(p: Any, x: Any, y: Any) -> Any:
        g = func.grad(loss)(p, x, y)
        return {name: p[name] - 0.1 * g[name] for name in p}

    def over_tasks(p: Any, xs: Any, ys: Any) -> Any:
        return torch.vmap(lambda x, y: loss(adapted(p, x, y), 2 * x, y))(xs, ys).mean()

    xs = data(torch, 3, 6, 1)
    ys = xs.sin()
    gradients, value = func.grad_and_value(over_tasks)(start, xs, ys)
    each = torch.vmap(func.grad(loss), in_dims=(None, 0, 0))(start, xs, ys)
    curved = func.hessian(lambda b: loss({**start, "2.bias": b}, xs[0], ys[0]))(start["2.bias"])
    return values([value, curved, *gradients.values(), *each.values()])


def second_derivatives(torch: Any) -> list[Any]:
    """The product of a Hessian and a vector, in five ways."""
    functional, forward = torch.autograd.functional, torch.autograd.forward_ad

    def f(x: Any) -> Any:
        return (x.sin() * x.roll(1) ** 2).sum()

    x, v = data(torch, 6), data(torch, 6, low=0.0)
    leaf = x.clone().requires_grad_()
    (g,) = torch.autograd.grad(f(leaf), leaf, create_graph=True)
    (by_hand,) = torch.autograd.grad(g, leaf, v)
    with forward.dual_level():
        slope = forward.unpack_dual(f(forward.make_dual(x, v))).tangent
    pushed = torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]
    products = functional.hvp(f, x, v)[1], functional.vhp(f, x, v)[1]
    return values([by_hand, pushed, *products, functional.hessian(f, x) @ v, slope])


def checkpoints(torch: Any) -> list[Any]:
    """Blocks that are computed again, in both variants."""
    nn, checkpoint = torch.nn, torch.utils.checkpoint
    blocks = [nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(4)]
    net = filled(torch, nn.Sequential(*blocks).double())
    x = data(torch, 3, 4).requires_grad_()
    checkpoint.checkpoint_sequential(net, 2, x, use_reentrant=False).sum().backward()
    found = values([x.grad, *(p.grad for p in net.parameters())])
    checkpoint.checkpoint(lambda t: net(t).pow(2), x, use_reentrant=True).sum().backward()
    return found + values([x.grad])


def hooks(torch: Any) -> list[Any]:
    """Hooks of all kinds, and the order in which they are called."""
    nn, seen = torch.nn, []
    net = filled(torch, nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)).double())
    net[0].register_forward_hook(lambda module, args, out: seen.append(("out", tuple(out.shape))))
    net[1].register_forward_pre_hook(lambda module, args: seen.append("before"))
    net[2].register_full_backward_hook(
        lambda module, g_in, g_out: seen.append((tuple(g_in[0].shape), tuple(g_out[0].shape)))
    )
    net[0].weight.register_post_accumulate_grad_hook(lambda p: seen.append(tuple(p.grad.shape)))
    x = data(torch, 4, 2).requires_grad_()
    hidden = net[0](x)
    hidden.register_hook(lambda g: 2 * g)
    hidden.retain_grad()
    net[2](net[1](hidden)).sum().backward()
    pack = torch.autograd.graph.saved_tensors_hooks(
        lambda t: (seen.append("pack"), t.clone())[1],
        lambda t: (seen.append("unpack"), t)[1],
    )
    with pack:
        square = (x.detach().requires_grad_() ** 2).sum()
    square.backward()
    return [seen, *values([x.grad, hidden.grad, *(p.grad for p in net.parameters())])]


PROGRAMS: list[Program] = [
    training,
    functions,
    gradient_penalty,
    meta_learning,
    second_derivatives,
    checkpoints,
    hooks,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_same_results(program: Program) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's
        expected = program(theirs)
    for mine, wanted in zip(program(ours), expected, strict=True):
        numbers = isinstance(wanted, list) and isinstance(wanted[0], float)
        if numbers or isinstance(wanted, np.ndarray):
            np.testing.assert_allclose(mine, wanted, rtol=1e-8, atol=1e-10)
        else:
            assert mine == wanted
