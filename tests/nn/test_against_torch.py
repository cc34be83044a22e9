"""All rows of `arraygrad.nn` by `torch.nn.functional`: values, gradients, second derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from samples import SAMPLES, Sample
from samples_nn import BY_TORCH

import arraygrad as ag
from arraygrad.testing import assert_close

torch = pytest.importorskip("torch")

# Some constants in PyTorch's own functions have single precision: hence the tolerances.
ROWS = [sample for sample in SAMPLES if str(sample) in BY_TORCH]


def as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def number(outputs: Any, scale: Any) -> Any:
    """A sum of all outputs that have gradients, with other weights for all elements."""
    total: Any = 0.0
    for k, out in enumerate(outputs):
        if out.requires_grad:
            weights = np.sin(np.arange(int(np.prod(out.shape))) + k).reshape(tuple(out.shape))
            total = total + (out * scale(weights)).sum()
    return total


@pytest.mark.parametrize("nn_row", ROWS, ids=str)
def test_row(nn_row: Sample) -> None:
    sample, arrays = nn_row, nn_row.arrays()
    ours = [ag.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    theirs = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    found = as_tuple(sample.call(ag, *ours))
    wanted = as_tuple(BY_TORCH[str(sample)](torch.nn.functional, *theirs))
    for mine, other in zip(found, wanted, strict=True):
        assert_close(mine.detach(), other.detach().numpy(), rtol=1e-7, atol=1e-10)
    if not sample.differentiable:
        return
    floats = [k for k, a in enumerate(arrays) if a.dtype.kind == "f"]
    mine = ag.grad(
        number(found, np.asarray), [ours[k] for k in floats], create_graph=True, allow_unused=True
    )
    other = torch.autograd.grad(
        number(wanted, torch.tensor),
        [theirs[k] for k in floats],
        create_graph=True,
        allow_unused=True,
    )
    same(mine, other)
    pairs = [(a, b) for a, b in zip(mine, other, strict=True) if a is not None and b is not None]
    squares = [sum((g * g).sum() for g in both) for both in zip(*pairs, strict=True)]
    if not squares[1].requires_grad:
        return
    try:
        second = torch.autograd.grad(squares[1], [theirs[k] for k in floats], allow_unused=True)
    except (RuntimeError, NotImplementedError):  # PyTorch has no second derivatives of some
        return
    same(ag.grad(squares[0], [ours[k] for k in floats], allow_unused=True), second)


def same(mine: Any, other: Any) -> None:
    """Compare gradients; PyTorch has none by some inputs, such as weights of classes."""
    for ours, theirs in zip(mine, other, strict=True):
        if theirs is not None and ours is None:
            assert not theirs.detach().numpy(force=True).any()
        elif theirs is not None:
            assert_close(ours.detach(), theirs.detach().numpy(force=True), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize(("name", "gates"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
def test_all_steps_of_a_network(name: str, gates: int, biases: bool, reverse: bool) -> None:
    """Sequences of a size for which steps have programs, and the gradients by all arrays."""
    rng = np.random.default_rng(0)
    shapes = [(8 * gates, 6), (8 * gates, 8), (8 * gates,), (8 * gates,)][: 4 if biases else 2]
    ways = 1 + reverse
    values = [rng.normal(size=(5, 16, 6)), rng.normal(size=(ways, 16, 8))]
    values += [0.3 * rng.normal(size=shape) for _ in range(ways) for shape in shapes]

    own = [ag.tensor(v, requires_grad=True) for v in values]
    x, state, *flat = own
    weights = [flat[i : i + len(shapes)] for i in range(0, len(flat), len(shapes))]
    start = (state, state) if name == "lstm" else state
    out, last = getattr(ag.nn, name)(x, weights, start, bidirectional=reverse)
    parts = last if name == "lstm" else (last,)
    found = ag.grad((out**2).sum() + sum((p**3).sum() for p in parts), own)

    theirs = [torch.tensor(v, requires_grad=True) for v in values]
    x, state, *flat = theirs
    given = (state, state) if name == "lstm" else state
    function = getattr(torch, {"rnn": "rnn_tanh"}.get(name, name))
    out, *parts = function(x, given, flat, biases, 1, 0.0, True, reverse, False)
    wanted = torch.autograd.grad((out**2).sum() + sum((p**3).sum() for p in parts), theirs)
    for f, w in zip(found, wanted, strict=True):
        np.testing.assert_allclose(f.array, w.numpy(), rtol=1e-9, atol=1e-11)
