"""Packed sequences, and parameters that are computed from others: beside PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad.compat.torch as ours

theirs = pytest.importorskip("torch")

X = np.random.default_rng(0).standard_normal((3, 5, 4)).astype(np.float32)
LENGTHS = [2, 5, 3]


def alike(kind: str, *args: Any, **options: Any) -> tuple[Any, Any]:
    """A module of PyTorch, and ours with its parameters."""
    theirs.manual_seed(0)
    other = getattr(theirs.nn, kind)(*args, **options)
    mine = getattr(ours.nn, kind)(*args, **options)
    mine.load_state_dict({k: ours.tensor(v.numpy()) for k, v in other.state_dict().items()})
    return mine, other


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [a for part in value for a in flat(part)]
    return [] if value is None else [value.detach().numpy()]


def close(found: Any, expected: Any, atol: float = 1e-6) -> None:
    pairs = list(zip(flat(found), flat(expected), strict=True))
    assert pairs
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=atol)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("enforce_sorted", [False, True])
def test_sequences_are_packed_and_padded(batch_first: bool, enforce_sorted: bool) -> None:
    lengths = sorted(LENGTHS, reverse=True) if enforce_sorted else LENGTHS
    packed, padded = [], []
    for m in (ours, theirs):
        x = m.tensor(X if batch_first else X.swapaxes(0, 1).copy())
        rnn = m.nn.utils.rnn
        packed.append(rnn.pack_padded_sequence(x, lengths, batch_first, enforce_sorted))
        padded.append(rnn.pad_packed_sequence(packed[-1], batch_first, -1.0, 6))
        parts = [m.tensor(X[i, :n]) for i, n in enumerate(LENGTHS)]
        side = rnn.pad_sequence(parts, batch_first, 2.0, "left")
        padded[-1] += (side, *rnn.unpack_sequence(rnn.pack_sequence(parts, False)))
    close(*packed)
    close(*padded)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2}])
def test_recurrent_layers_over_packed_sequences(kind: str, options: dict[str, Any]) -> None:
    mine, other = alike(kind, 4, 3, **options)
    results = []
    for m, layer in ((ours, mine), (theirs, other)):
        x = m.tensor(X.swapaxes(0, 1).copy(), requires_grad=True)
        packed = m.nn.utils.rnn.pack_padded_sequence(x, LENGTHS, enforce_sorted=False)
        ways = 2 * 2 if options else 1
        start = m.ones(ways, 3, 3) * m.arange(3).reshape(1, 3, 1) / 3
        out, state = layer(packed, (start, start) if kind == "LSTM" else start)
        (m.nn.utils.rnn.pad_packed_sequence(out)[0] ** 2).sum().backward()
        results.append((list(out), state, x.grad, [p.grad for p in layer.parameters()]))
    close(*results, atol=1e-5)


def test_lengths_that_do_not_fit() -> None:
    for m in (ours, theirs):
        x, rnn = m.tensor(X), m.nn.utils.rnn
        for lengths in ([5, 5], [5, 3, 0], [2, 5, 3]):
            with pytest.raises(RuntimeError):
                rnn.pack_padded_sequence(x, lengths, batch_first=True)


class Symmetric(ours.nn.Module):  # type: ignore[misc]
    def forward(self, x: Any) -> Any:
        return x.triu() + x.triu(1).mT


class TheirSymmetric(theirs.nn.Module):  # type: ignore[misc]
    forward = Symmetric.forward


def test_a_parameter_is_computed_by_a_module() -> None:
    mine, other = alike("Linear", 3, 3)
    grads = []
    for m, layer, kind in ((ours, mine, Symmetric), (theirs, other, TheirSymmetric)):
        tool = m.nn.utils.parametrize
        tool.register_parametrization(layer, "weight", kind())
        assert tool.is_parametrized(layer, "weight")
        assert not tool.is_parametrized(layer, "bias")
        with tool.cached():
            assert layer.weight is layer.weight
        layer(m.ones(2, 3)).square().sum().backward()
        names = [name for name, _ in layer.named_parameters()]
        assert names == ["bias", "parametrizations.weight.original"]
        assert isinstance(layer, m.nn.Linear)
        grads.append((layer.weight, [p.grad for p in layer.parameters()]))
        tool.remove_parametrizations(layer, "weight")
        assert [name for name, _ in layer.named_parameters()] == ["bias", "weight"]
        assert type(layer) is m.nn.Linear
        with pytest.raises(ValueError, match="does not have"):
            tool.register_parametrization(layer, "nothing", kind())
    close(*grads)


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weights_by_norm_and_direction(dim: int | None) -> None:
    mine, other = alike("Conv1d", 2, 3, 2)
    results = []
    for m, layer in ((ours, mine), (theirs, other)):
        m.nn.utils.parametrizations.weight_norm(layer, dim=dim)
        layer.weight = m.ones(3, 2, 2) * 0.5
        layer(m.ones(1, 2, 4)).square().sum().backward()
        results.append((layer.weight, list(layer.state_dict().values()), list(layer.state_dict())))
        results[-1] = (*results[-1][:2], [p.grad for p in layer.parameters()])
    close(*results)


def test_weights_of_a_largest_stretch() -> None:
    mine, other = alike("Linear", 4, 3)
    for m, layer in ((ours, mine), (theirs, other)):
        m.nn.utils.parametrizations.spectral_norm(layer, n_power_iterations=50)
    for _ in range(3):
        found = mine(ours.ones(2, 4))
    expected = other(theirs.ones(2, 4))
    close(found, expected, atol=1e-4)
    assert abs(np.linalg.norm(mine.weight.detach(), 2) - 1) < 1e-4
    state = [k for k in other.state_dict() if k != "bias"]
    assert set(mine.state_dict()) == {*state, "bias"}
    for m, layer in ((ours, mine), (theirs, other)):
        if m is ours:
            assert m.nn.utils.remove_spectral_norm(layer) is layer
        else:
            m.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert set(mine.state_dict()) == set(other.state_dict()) == {"weight", "bias"}
    close(mine(ours.ones(2, 4)), found, atol=1e-4)
