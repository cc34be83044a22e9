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
    ("RMSprop", {"lr": 0.05, "momentum": 0.5, "centered": True, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.05, "lr_decay": 0.1, "initial_accumulator_value": 0.2}),
    ("Adamax", {"lr": 0.05, "maximize": True}),
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


@pytest.mark.parametrize("values", [[3.0, 4.0], [0.1, 0.1], [np.nan, 1.0], [np.inf, 1.0]])
@pytest.mark.parametrize("norm_type", [2.0, 1.0, np.inf])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_clipped_gradients(values: list[float], norm_type: float) -> None:
    found = []
    for torch in (ours, theirs):
        parameters = [torch.nn.Parameter(torch.zeros(n)) for n in (2, 1)]
        parameters[0].grad, parameters[1].grad = torch.tensor(values), torch.tensor([2.0])
        clip = torch.nn.utils.clip_grad_norm_
        if not np.isfinite(values).all():
            with pytest.raises(RuntimeError, match=r"The total norm of order .* is non-finite"):
                clip(parameters, 1.0, norm_type, error_if_nonfinite=True)
        total = clip(parameters, 1.0, norm_type, foreach=False)
        torch.nn.utils.clip_grad_value_(parameters, 0.3, foreach=False)
        found.append([total.item(), *(p.grad.tolist() for p in parameters)])
    for ours_, theirs_ in zip(*found, strict=True):
        np.testing.assert_allclose(ours_, theirs_, rtol=1e-6)


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
    with pytest.raises(RuntimeError, match="Missing"):
        other.load_state_dict({})
    assert net.double().scale.dtype == ours.float64
    assert not net.eval().training
    assert not net.inner.training
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
        ours.func.functional_call(nets[0], {"wrong": x}, (x,), strict=True)
    assert ours.equal(ours.func.functional_call(nets[0], {"wrong": x}, (x,)), nets[0](x))


def test_running_statistics_are_written_inside_a_transform() -> None:
    net, x = ours.nn.BatchNorm1d(2), ours.arange(6.0).reshape(3, 2)
    values = {name: p.detach() for name, p in net.named_parameters()}

    def loss(p: Any, b: Any) -> Any:
        return (ours.func.functional_call(net, (p, b), (x,)) ** 2).sum()

    inside, outside = ({name: b.clone() for name, b in net.named_buffers()} for _ in range(2))
    ours.func.jacfwd(ours.func.grad(loss))(values, inside)
    loss(values, outside)
    for name, b in inside.items():
        assert ours.equal(b, outside[name])
    with pytest.raises(RuntimeError, match="differ over the batch"):
        ours.vmap(lambda s: net(s * x))(ours.ones(2))


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


CONVOLUTIONS: list[dict[str, Any]] = [
    {},
    {"stride": 2, "padding": 1, "dilation": (1, 2)},
    {"padding": "same", "stride": 1},
]


@pytest.mark.parametrize("options", CONVOLUTIONS)
def test_convolutions(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(2)
    data = [rng.normal(size=s) for s in ((2, 4, 7, 6), (6, 2, 3, 3), (6,))]
    found = []
    for torch in (ours, theirs):
        leaves = [torch.tensor(d, requires_grad=True) for d in data]
        out = torch.nn.functional.conv2d(*leaves, groups=2, **options)
        pooled = torch.nn.functional.max_pool2d(out, 2) + torch.nn.functional.avg_pool2d(out, 2)
        pooled.square().sum().backward()
        found.append([out.detach().numpy(), *(x.grad.numpy() for x in leaves)])
    for mine, expected in zip(*found, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-9)


def test_dropout_keeps_the_mean() -> None:
    F = ours.nn.functional  # noqa: N806
    ours.manual_seed(0)
    x = ours.ones(200, 50, 4)
    for drop in (F.dropout, F.dropout2d):
        out = drop(x, 0.25)
        assert set(out.unique().tolist()) == {0.0, float(np.float32(1 / 0.75))}
        assert abs(out.mean().item() - 1) < 0.03
    channels = F.dropout2d(x, 0.5)
    assert ours.equal(channels[..., 0], channels[..., 3])
    normal = ours.randn(400, 50)
    for drop in (F.alpha_dropout, F.feature_alpha_dropout):
        out = drop(normal, 0.3, training=True)
        assert abs(out.mean().item()) < 0.05
        assert abs(out.std().item() - 1) < 0.05
        assert drop(normal, 0.3) is normal
    assert ours.nn.Dropout(0.5).eval()(x) is x


def test_activations_in_place() -> None:
    F = ours.nn.functional  # noqa: N806
    leaf = ours.tensor([-1.0, 2.0], requires_grad=True)
    for activate in (
        lambda t: F.relu(t, inplace=True),
        lambda t: F.relu(t, True),
        ours.nn.ReLU(inplace=True),
        ours.nn.ReLU(True),
    ):
        t = leaf.clone()
        assert activate(t) is t
        assert t.tolist() == [0.0, 2.0]
        (gradient,) = ours.autograd.grad(t.sum(), leaf)
        assert gradient.tolist() == [0.0, 1.0]
    t = leaf.clone()
    assert F.leaky_relu(t, 0.1, True) is t
    assert F.leaky_relu(leaf, 0.1).tolist() == t.tolist()


def test_hooks_on_the_gradients_of_a_module() -> None:
    seen: list[Any] = []
    layer = ours.nn.Linear(3, 2)
    layer.register_full_backward_hook(lambda module, given, out: seen.append((module, given, out)))
    x = ours.ones(4, 3, requires_grad=True)
    layer(x).sum().backward()
    (module, (given,), (out,)) = seen[0]
    assert module is layer
    assert ours.equal(out, ours.ones(4, 2))
    assert ours.equal(given, x.grad)
    layer.register_full_backward_hook(lambda module, given, out: (given[0] * 0,))
    x.grad = None
    layer(x).sum().backward()
    assert not x.grad.any()


def test_buffers() -> None:
    module = ours.nn.Module()
    module.count = ours.nn.Buffer(ours.zeros(1), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["count"]
    assert module.state_dict() == {}


LAYERS = [
    ("LSTM", (3, 4, 2), {"bidirectional": True}),
    ("GRU", (3, 4), {"batch_first": True}),
    ("RNN", (3, 4), {"nonlinearity": "relu"}),
    ("LSTMCell", (3, 4), {}),
    ("GRUCell", (3, 4), {}),
    ("BatchNorm1d", (5,), {"momentum": None}),
    ("GroupNorm", (5, 5), {}),
]


@pytest.mark.parametrize(("name", "sizes", "options"), LAYERS)
def test_layers(name: str, sizes: tuple[int, ...], options: dict[str, Any]) -> None:
    data = np.random.default_rng(4).normal(size=(6, 3) if name.endswith("Cell") else (6, 5, 3))
    found = []
    for torch in (ours, theirs):
        layer = getattr(torch.nn, name)(*sizes, **options).double()
        with torch.no_grad():
            for k, p in enumerate(layer.parameters()):
                p.copy_(torch.linspace(-1, 1 + k, p.numel(), dtype=torch.float64).reshape(p.shape))
        x = torch.tensor(data, requires_grad=True)
        layer(x)
        out = layer(x)
        flat = [out] if isinstance(out, torch.Tensor) else [out[0], *out[1]]
        sum(f.sin().sum() for f in flat).backward()
        buffers = [b.numpy() for b in layer.buffers()]
        results = [f.detach().numpy() for f in flat]
        found.append([*results, x.grad.numpy(), *buffers, *(p.grad for p in layer.parameters())])
    for mine, expected in zip(*found, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-7, atol=1e-9)


def test_attention() -> None:
    data = np.random.default_rng(5).normal(size=(4, 2, 6))
    found = []
    for torch in (ours, theirs):
        layer = torch.nn.MultiheadAttention(6, 2, batch_first=True).double()
        with torch.no_grad():
            for p in layer.parameters():
                p.copy_(torch.linspace(-1, 1, p.numel(), dtype=torch.float64).reshape(p.shape))
        x = torch.tensor(data, requires_grad=True)
        mask = torch.tensor([[False, True], [False, False]])
        out, weights = layer(x, x, x, attn_mask=mask)
        out.square().sum().backward()
        found.append([out.detach().numpy(), weights.detach().numpy(), x.grad.numpy()])
    for mine, expected in zip(*found, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-7, atol=1e-9)


SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("StepLR", {"step_size": 2}),
    ("MultiStepLR", {"milestones": [2, 3], "gamma": 0.5}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.1}),
    ("LambdaLR", {"lr_lambda": lambda epoch: 1 / (1 + epoch)}),
    ("LinearLR", {"total_iters": 4}),
    ("ConstantLR", {"total_iters": 3}),
    ("PolynomialLR", {"total_iters": 4, "power": 2.0}),
]


@pytest.mark.parametrize(("name", "options"), SCHEDULES)
def test_schedules(name: str, options: dict[str, Any]) -> None:
    rates = []
    for torch in (ours, theirs):
        sgd = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=2.0)
        schedule = getattr(torch.optim.lr_scheduler, name)(sgd, **options)
        own = []
        for _ in range(6):
            own.append(schedule.get_last_lr()[0])
            sgd.step()
            schedule.step()
        rates.append(own)
    np.testing.assert_allclose(*rates, rtol=1e-9)
    losses = [3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]
    plateau = []
    for torch in (ours, theirs):
        sgd = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=2.0)
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(sgd, patience=1, cooldown=1)
        for loss in losses:
            schedule.step(loss)
        plateau.append(sgd.param_groups[0]["lr"])
    assert plateau[0] == plateau[1]
