"""Optimisers, schedules, transformers, weight norms and data loaders beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch as ours

theirs = pytest.importorskip("torch")

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(4, 5, 8)), RNG.normal(size=(4, 3, 8))


def with_weights(torch: Any, module: Any) -> Any:
    """The module in double precision, with the same weights in both systems."""
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.3))
    return module.double()


def trained(torch: Any, optimiser: Any, schedule: Any = None, steps: int = 12) -> list[float]:
    """Losses, rates and momenta of some steps."""
    layers = torch.nn.Linear(8, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1)
    model = with_weights(torch, torch.nn.Sequential(*layers))
    optimiser = optimiser(torch.optim, model.parameters())
    schedule = schedule and schedule(torch.optim.lr_scheduler, optimiser)
    x, found = torch.tensor(X), []

    def closure() -> Any:
        optimiser.zero_grad()
        loss = (model(x) ** 2).mean() + (model(x) - 1).abs().mean()
        loss.backward()
        return loss

    for _ in range(steps):
        found.append(optimiser.step(closure).item())
        group = optimiser.param_groups[0]
        found += [group["lr"], group.get("momentum", 0.0), group.get("betas", (0.0,))[0]]
        if schedule:
            schedule.step()
    return found


OPTIMISERS: list[Callable[[Any, Any], Any]] = [
    lambda o, p: o.LBFGS(p, lr=0.1, max_iter=5),
    lambda o, p: o.LBFGS(p, history_size=3),
    lambda o, p: o.Adadelta(p, weight_decay=0.1),
    lambda o, p: o.NAdam(p, lr=0.05, weight_decay=0.01),
    lambda o, p: o.NAdam(p, lr=0.05, weight_decay=0.01, decoupled_weight_decay=True),
    lambda o, p: o.RAdam(p, lr=0.05),
    lambda o, p: o.RAdam(p, lr=0.05, betas=(0.8, 0.9), weight_decay=0.1),
]


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_optimisers(optimiser: Any) -> None:
    # PyTorch keeps a product of momenta of NAdam in single precision.
    np.testing.assert_allclose(
        trained(ours, optimiser), trained(theirs, optimiser), rtol=1e-6, atol=1e-7
    )


SCHEDULES: list[Callable[[Any, Any], Any]] = [
    lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9),
    lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, 2, cycle_momentum=False),
    lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, mode="triangular2", cycle_momentum=False),
    lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, mode="exp_range", gamma=0.9, cycle_momentum=False),
    lambda s, o: s.OneCycleLR(o, 0.2, total_steps=15),
    lambda s, o: s.OneCycleLR(o, 0.2, epochs=5, steps_per_epoch=3, anneal_strategy="linear"),
    lambda s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)], [4]),
    lambda s, o: s.SequentialLR(o, [s.LinearLR(o, 0.1, 1, 3), s.CosineAnnealingLR(o, 6)], [3]),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_schedules(schedule: Any, name: str) -> None:
    def optimiser(optim: Any, parameters: Any) -> Any:
        more = {"momentum": 0.5} if name == "SGD" else {}
        return getattr(optim, name)(parameters, lr=0.1, **more)

    np.testing.assert_allclose(
        trained(ours, optimiser, schedule), trained(theirs, optimiser, schedule), rtol=1e-9
    )


def transformed(torch: Any, hints: dict[str, bool], **options: Any) -> tuple[list[str], Any]:
    model = with_weights(torch, torch.nn.Transformer(8, 2, 2, 2, 16, dropout=0.0, **options))
    x, y = torch.tensor(X), torch.tensor(Y)
    if not options.get("batch_first"):
        x, y = x.transpose(0, 1), y.transpose(0, 1)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3).double()
    out = model(x, y, tgt_mask=mask, **hints)
    (out**2).sum().backward()
    parts = [out.detach(), *(p.grad for p in model.parameters())]
    return [n for n, _ in model.named_parameters()], [p.numpy() for p in parts]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "options",
    [{}, {"batch_first": True}, {"norm_first": True, "activation": "gelu", "bias": False}],
)
@pytest.mark.parametrize("hints", [{}, {"tgt_is_causal": True, "memory_is_causal": False}])
def test_transformers(options: dict[str, Any], hints: dict[str, bool]) -> None:
    (names, found), (expected_names, expected) = (
        transformed(torch, hints, **options) for torch in (ours, theirs)
    )
    assert names == expected_names
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def normed(torch: Any) -> list[float]:
    layer = with_weights(torch, torch.nn.utils.weight_norm(torch.nn.Conv1d(5, 2, 3)))
    optimiser, x, found = torch.optim.SGD(layer.parameters(), lr=0.1), torch.tensor(X), []
    for _ in range(4):
        optimiser.zero_grad()
        loss = (layer(x) ** 2).mean()
        loss.backward()
        optimiser.step()
        found.append(loss.item())
    found.append(layer(x).sum().item())
    torch.nn.utils.remove_weight_norm(layer)
    return [*found, layer(x).sum().item(), len(list(layer.parameters()))]


@pytest.mark.filterwarnings("ignore")
def test_weight_norm() -> None:
    np.testing.assert_allclose(normed(ours), normed(theirs), rtol=1e-9)


def loaded(torch: Any, data: Any) -> list[Any]:
    class Samples(data.Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return 5

        def __getitem__(self, i: int) -> Any:
            return {"a": np.arange(3) + i, "b": float(i), "c": (i, str(i))}

    class Stream(data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Any:
            return iter(range(5))

    pairs = data.TensorDataset(torch.arange(10.0), torch.arange(10))
    parts = data.random_split(pairs, [0.5, 0.25, 0.25])
    both = pairs + pairs
    return [
        list(data.DataLoader(pairs, batch_size=4)),
        len(data.DataLoader(pairs, batch_size=4, drop_last=True)),
        list(data.DataLoader(Samples(), batch_size=2)),
        list(data.DataLoader(Samples(), batch_size=None)),
        list(data.DataLoader(Stream(), batch_size=2)),
        sorted(i for b in data.DataLoader(pairs, 3, shuffle=True) for i in b[1].tolist()),
        [len(part) for part in parts],
        sorted(i for part in parts for i in part.indices),
        [len(both), both[13], both[-1]],
        len(list(data.WeightedRandomSampler([1, 2, 3], 7))),
    ]


def shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(shown, value))
    return (value.tolist(), str(value.dtype)) if hasattr(value, "dtype") else value


def test_data() -> None:
    from torch.utils import data

    assert shown(loaded(ours, ours.utils.data)) == shown(loaded(theirs, data))


def test_first_values() -> None:
    init = ours.nn.init
    w = init.orthogonal_(ours.empty(4, 6, dtype=ours.float64), gain=2.0)
    np.testing.assert_allclose((w @ w.T).numpy(), 4 * np.eye(4), atol=1e-12)
    assert init.trunc_normal_(w, std=0.5, a=-0.5, b=0.4).abs().max() <= 0.5
    assert init.calculate_gain("leaky_relu", 0.2) == theirs.nn.init.calculate_gain(
        "leaky_relu", 0.2
    )
    bound = np.sqrt(6 / 400)
    drawn = init.kaiming_uniform_(ours.empty(400, 30), mode="fan_out", nonlinearity="relu")
    assert 0.95 * bound < drawn.abs().max() <= bound
    with pytest.raises(ValueError, match="Mode"):
        init.kaiming_normal_(w, mode="fan")
