"""Graphs grown at random, differentiated at random places, against torch."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest
from rows import numbered, over

import arraygrad as ag

torch = pytest.importorskip("torch")

# Each makes an array of shape (2, 3) from two: with arraygrad, and with torch.
OPS: list[tuple[Any, Any]] = [
    (lambda a, b: a + b, lambda a, b: a + b),
    (lambda a, b: a * b, lambda a, b: a * b),
    (lambda a, b: a - b[:, ::2].sum(), lambda a, b: a - b[:, ::2].sum()),
    (lambda a, b: ag.sin(a) * 2, lambda a, b: torch.sin(a) * 2),
    (lambda a, b: ag.tanh(a @ b.T) @ b, lambda a, b: torch.tanh(a @ b.T) @ b),
    (
        lambda a, b: a * ag.sum(b, axis=1, keepdims=True),
        lambda a, b: a * torch.sum(b, dim=1, keepdim=True),
    ),
    (
        lambda a, b: ag.stack(ag.unstack(a, axis=1)[::-1], axis=1) + b,
        lambda a, b: torch.stack(torch.unbind(a, dim=1)[::-1], dim=1) + b,
    ),
    (
        lambda a, b: ag.stack([ag.unstack(a)[1], ag.unstack(b)[0]]),
        lambda a, b: torch.stack([torch.unbind(a)[1], torch.unbind(b)[0]]),
    ),
    (lambda a, b: ag.where(a > b, a, 2 * b), lambda a, b: torch.where(a > b, a, 2 * b)),
    (lambda a, b: a[[0, 0]] * b[0], lambda a, b: a[[0, 0]] * b[0]),
    (lambda a, b: ag.concat([a[:1], b[1:]]), lambda a, b: torch.cat([a[:1], b[1:]])),
    (lambda a, b: a.detach() * b, lambda a, b: a.detach() * b),
    (lambda a, b: ag.cumulative_sum(a, axis=1), lambda a, b: torch.cumsum(a, 1)),
]


class Grown:
    """The same random graph in both libraries, with the same random hooks."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        start = [self.numbers.uniform(0.5, 1.5, (2, 3)) for _ in range(3)]
        self.ours = [ag.tensor(a, requires_grad=True) for a in start]
        self.theirs = [torch.tensor(a, requires_grad=True) for a in start]
        self.calls: tuple[list[int], list[int]] = ([], [])
        for _ in range(self.pick.randint(3, 25)):
            mine, other = self.pick.choice(OPS)
            i, j = (self.pick.randrange(len(self.ours)) for _ in range(2))
            self.ours.append(mine(self.ours[i], self.ours[j]) * 0.5)
            self.theirs.append(other(self.theirs[i], self.theirs[j]) * 0.5)

    def hook(self, count: int) -> None:
        for _ in range(count):
            k = self.some(1)[0]
            factor = self.pick.uniform(0.5, 2)
            for tensors, calls in ((self.ours, 0), (self.theirs, 1)):
                log = self.calls[calls]
                tensors[k].register_hook(lambda g, f=factor, log=log: log.append(k) or g * f)  # noqa: B023

    def some(self, count: int) -> list[int]:
        """Numbers of some of the arrays that require gradients."""
        usable = [k for k, t in enumerate(self.ours) if t.requires_grad]
        return self.pick.sample(usable, min(count, len(usable)))


def same(ours: Any, theirs: Any) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        if other is None:
            assert mine is None
        else:
            np.testing.assert_allclose(
                mine.detach().numpy(), other.detach().numpy(), rtol=1e-9, atol=1e-11
            )


@over("seed", numbered(150), first=3)
def test_gradients_at_random_places(seed: int) -> None:
    graph = Grown(seed)
    assert [t.requires_grad for t in graph.ours] == [t.requires_grad for t in graph.theirs]
    outs, ins = graph.some(graph.pick.randint(1, 3)), graph.some(graph.pick.randint(1, 5))
    seeds = [graph.numbers.normal(size=(2, 3)) for _ in outs]
    mine = ag.grad(
        [graph.ours[k] for k in outs],
        [graph.ours[k] for k in ins],
        seeds,
        allow_unused=True,
        create_graph=True,
    )
    theirs = torch.autograd.grad(
        [graph.theirs[k] for k in outs],
        [graph.theirs[k] for k in ins],
        [torch.tensor(s) for s in seeds],
        allow_unused=True,
        create_graph=True,
    )
    same(mine, theirs)
    again = ag.grad(
        [graph.ours[k] for k in outs],
        [graph.ours[k] for k in ins],
        seeds,
        allow_unused=True,
        retain_graph=True,
    )
    same(again, theirs)  # the sweep on plain arrays
    pairs = [(m, t) for m, t in zip(mine, theirs, strict=True) if t is not None and t.requires_grad]
    if pairs:
        second = ag.grad(
            sum((m**2).sum() for m, _ in pairs), graph.ours[:3], materialize_grads=True
        )
        expected = torch.autograd.grad(
            sum((t**2).sum() for _, t in pairs), graph.theirs[:3], materialize_grads=True
        )
        same(second, expected)


@over("seed", numbered(60), first=3)
def test_backward_with_random_hooks(seed: int) -> None:
    graph = Grown(seed)
    graph.hook(4)
    for k in graph.some(3):
        graph.ours[k].retain_grad()
        graph.theirs[k].retain_grad()
    (out,) = graph.some(1)
    weights = graph.numbers.normal(size=(2, 3))
    for _ in range(2):
        graph.ours[out].backward(weights, retain_graph=True)
        graph.theirs[out].backward(torch.tensor(weights), retain_graph=True)
    assert sorted(graph.calls[0]) == sorted(graph.calls[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # .grad of results that do not retain it
        same([t.grad for t in graph.ours], [t.grad for t in graph.theirs])


@over("seed", numbered(60), first=3)
def test_batches_at_random_places(seed: int) -> None:
    graph = Grown(seed)
    outs, ins = graph.some(2), graph.some(4)
    seeds = [graph.numbers.normal(size=(3, 2, 3)) for _ in outs]
    outputs, inputs = [graph.ours[k] for k in outs], [graph.ours[k] for k in ins]
    for create_graph in (False, True):
        together = ag.grad(
            outputs,
            inputs,
            seeds,
            is_grads_batched=True,
            materialize_grads=True,
            retain_graph=True,
            create_graph=create_graph,
        )
        for i in range(3):
            alone = ag.grad(
                outputs, inputs, [s[i] for s in seeds], materialize_grads=True, retain_graph=True
            )
            same([g[i] for g in together], alone)
