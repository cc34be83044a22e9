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
