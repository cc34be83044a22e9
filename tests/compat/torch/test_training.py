"""`compat.torch.nn` and `optim` beside PyTorch: the same loop gives the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch as ours

theirs = pytest.importorskip("torch")
DATA = np.random.default_rng(1).normal(size=(8, 3))
TARGET = np.sin(DATA.sum(1, keepdims=True))

OPTIMISERS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.5, "dampening": 0.2, "maximize": True}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.1, "betas": (0.8, 0.9)}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.1}),
]


def trained(torch: Any, name: str, options: dict[str, Any]) -> list[Any]:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    with torch.no_grad():
        for k, p in enumerate(model.parameters()):
            p.copy_(torch.linspace(-1, 1 + k, p.numel(), dtype=torch.float64).reshape(p.shape))
    optimiser = getattr(torch.optim, name)(model.parameters(), **options)
    x, y = torch.tensor(DATA), torch.tensor(TARGET)
    for _ in range(5):
        optimiser.zero_grad()
        loss = nn.MSELoss()(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return [loss.item(), *(p.detach().numpy() for p in model.parameters())]


@pytest.mark.parametrize(("name", "options"), OPTIMISERS)
def test_the_same_weights(name: str, options: dict[str, Any]) -> None:
    for found, expected in zip(
        trained(ours, name, options), trained(theirs, name, options), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


class Net(ours.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = ours.nn.Linear(3, 2)
        self.scale = ours.nn.Parameter(ours.ones(2))
        self.register_buffer("shift", ours.zeros(2))

    def forward(self, x: ours.Tensor) -> Any:
        return self.inner(x) * self.scale + self.shift


def test_modules() -> None:
    net = Net()
    names = [name for name, _ in net.named_parameters()]
    assert names == ["scale", "inner.weight", "inner.bias"]
    assert set(net.state_dict()) == {*names, "shift"}
    other = Net()
    other.load_state_dict(net.state_dict())
    x = ours.randn(4, 3)
    assert ours.equal(net(x), other(x))
    with pytest.raises(RuntimeError, match="missing"):
        other.load_state_dict({})
    assert net.double().scale.dtype == ours.float64
    assert not net.eval().training
    assert net.train().inner.training
    with pytest.raises(TypeError, match="scale"):
        net.scale = 3.0
    handle = net.register_forward_hook(lambda module, args, result: result * 0)
    assert not net(x.double()).any()
    handle.remove()
    assert net(x.double()).any()


def test_a_module_as_a_function_of_its_parameters() -> None:
    nets = [Net(), Net()]
    x = ours.randn(5, 3)
    parameters, buffers = ours.func.stack_module_state(nets)

    def call(p: Any, b: Any, x: Any) -> Any:
        return ours.func.functional_call(nets[0], (p, b), (x,))

    both = ours.vmap(call, in_dims=(0, 0, None))(parameters, buffers, x)
    for found, net in zip(both, nets, strict=True):
        assert ours.allclose(found, net(x))
    values = {name: p.detach() for name, p in nets[0].named_parameters()}
    gradients = ours.func.grad(lambda p: call(p, {}, x).sum())(values)
    nets[0](x).sum().backward()
    for name, p in nets[0].named_parameters():
        assert ours.allclose(gradients[name], p.grad, atol=1e-6)
    with pytest.raises(RuntimeError, match="unexpected"):
        ours.func.functional_call(nets[0], {"wrong": x}, (x,))


def test_states_of_optimisers() -> None:
    p = ours.nn.Parameter(ours.ones(2))
    adam = ours.optim.Adam([{"params": [p], "lr": 0.5}])
    p.sum().backward()
    adam.step()
    fresh = ours.optim.Adam([p])
    fresh.load_state_dict(adam.state_dict())
    assert fresh.param_groups[0]["lr"] == 0.5
    assert fresh.state[p]["step"] == 1
    with pytest.raises(ValueError, match="lr"):
        ours.optim.SGD([p], lr=-1)
    with pytest.raises(ValueError, match="empty"):
        ours.optim.SGD([])
