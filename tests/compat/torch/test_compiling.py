"""`torch.compile`: compiled modules and functions give what they give without it."""

from __future__ import annotations

from typing import Any

import pytest

import arraygrad.compat.torch as torch
from arraygrad.compat.torch import nn

pytest.importorskip("llvmlite")


def traces(compiled: Any) -> int:
    inner = getattr(compiled, "_compiled", compiled)
    return inner._native._traces  # type: ignore[no-any-return]


NETS = {
    "layers": (lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), True),
    "convolution": (
        lambda: nn.Sequential(nn.Unflatten(1, (1, 3)), nn.Conv1d(1, 4, 2), nn.ReLU(), nn.Flatten()),
        True,
    ),
    "running statistics": (lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), False),
    "dropout": (lambda: nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5)), False),
}


@pytest.mark.parametrize("name", NETS)
@pytest.mark.filterwarnings("ignore:torch.compile")
def test_training(name: str) -> None:
    make, is_traced = NETS[name]
    nets: list[Any] = []
    for _ in range(2):
        torch.manual_seed(0)
        nets.append(make())
    plain, compiled = nets[0], torch.compile(nets[1])
    x = torch.randn(8, 3)
    for net in (plain, compiled):
        optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
        torch.manual_seed(1)
        for _ in range(3):
            optimiser.zero_grad()
            (net(x) ** 2).mean().backward()
            optimiser.step()
    assert (traces(compiled) > 0) == is_traced
    for net in (plain, compiled):
        net.eval()
    torch.testing.assert_close(compiled(x), plain(x))
    assert traces(compiled) > 0  # without training, all of them are traced
    for (key, value), (other, same) in zip(
        plain.state_dict().items(), compiled.state_dict().items(), strict=True
    ):
        assert other == "_orig_mod." + key
        torch.testing.assert_close(value, same)


LAYERS = {
    "conv2d": lambda a, w: nn.functional.conv2d(a.reshape(2, 2, 3, 4), w.reshape(2, 2, 2, 3)),
    "max_pool1d": lambda a, w: nn.functional.max_pool1d(a.reshape(2, 2, 12), 3, 2),
    "layer_norm": lambda a, w: nn.functional.layer_norm(a, (12,), w[:12], w[12:]),
    "gelu": lambda a, w: nn.functional.gelu(a) * nn.functional.silu(w[:12]),
    "attention": lambda a, w: nn.functional.scaled_dot_product_attention(
        a.reshape(2, 2, 4, 3), w.reshape(2, 1, 4, 3), w.reshape(2, 1, 4, 3), is_causal=True
    ),
    "interpolate": lambda a, w: nn.functional.interpolate(
        a.reshape(2, 2, 3, 4), scale_factor=2, mode="bilinear"
    ),
    "embedding": lambda a, w: nn.functional.embedding(torch.tensor([[1, 0], [3, 1]]), a),
    "cross_entropy": lambda a, w: nn.functional.cross_entropy(
        a, torch.tensor([1, -100, 11, 3]), w[:12].exp()
    ),
    "huber_loss": lambda a, w: nn.functional.huber_loss(a, w[:12].expand(4, 12), delta=0.3),
    "lstm": lambda a, w: torch.func.functional_call(
        LSTM, dict(LSTM.named_parameters()), (a.reshape(4, 3, 4),)
    )[0],
    "func.grad": lambda a, w: torch.func.grad(lambda a: (a @ w[:12]).tanh().sum())(a),
    "func.vmap": lambda a, w: torch.func.vmap(lambda row: row * w[:12].softmax(0))(a),
}
LSTM = nn.LSTM(4, 3, dtype=torch.float64)


@pytest.mark.parametrize("name", LAYERS)
def test_functions_and_their_gradients(name: str) -> None:
    torch.manual_seed(2)
    values = [torch.randn(*shape, dtype=torch.float64) for shape in ((4, 12), (24,))]
    found = []
    for function in (LAYERS[name], torch.compile(LAYERS[name], fullgraph=True)):
        a, w = (v.clone().requires_grad_() for v in values)
        out = function(a, w)
        found.append([out, *torch.autograd.grad((out**2).sum(), (a, w), allow_unused=True)])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize(
    ("function", "index"),
    [
        (lambda i: nn.functional.embedding(i, torch.ones(3, 2)), -1),
        (lambda i: nn.functional.embedding(i, torch.ones(3, 2)), 3),
        (lambda i: nn.functional.cross_entropy(torch.ones(1, 3), i), -2),
        (lambda i: nn.functional.cross_entropy(torch.ones(1, 3), i), 3),
    ],
)
def test_wrong_indices(function: Any, index: int) -> None:
    wrong = torch.tensor([index])
    for run in (function, torch.compile(function, fullgraph=True)):
        with pytest.raises(IndexError):
            run(wrong)
    with pytest.raises(IndexError):
        torch.func.vmap(function)(wrong[None])


def test_a_compiled_module_is_its_module() -> None:
    module = nn.Linear(3, 2)
    compiled = torch.compile(module)
    assert compiled.in_features == 3
    assert next(compiled.parameters()) is module.weight
    compiled.eval()
    assert not module.training
    with pytest.raises(AttributeError, match="has no attribute 'missing'"):
        compiled.missing


def test_what_changes_is_noticed() -> None:
    module, scale = nn.Sequential(nn.Linear(3, 2)), torch.ones(2)

    @torch.compile(fullgraph=True)
    def scaled(x: Any) -> Any:
        return module(x) * scale

    x = torch.randn(4, 3)
    changes = [
        lambda: scale.mul_(2),
        lambda: setattr(scale, "data", torch.full((2,), 5.0)),
        lambda: setattr(module[0], "bias", None),
        lambda: setattr(module[0], "weight", nn.Parameter(torch.ones(2, 3))),
        lambda: module.append(nn.ReLU()),
        lambda: module[0].register_forward_hook(lambda module, args, out: out + 1),
    ]
    torch.testing.assert_close(scaled(x), module(x) * scale)
    for change in changes:
        change()
        torch.testing.assert_close(scaled(x), module(x) * scale)


SCALE = {"by": 2.0}


class Scaled(nn.Module):
    def forward(self, x: Any) -> Any:
        return self.helped(x)

    def helped(self, x: Any) -> Any:
        return x * SCALE["by"]


def test_variables_of_the_methods_of_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    net = torch.compile(Scaled(), fullgraph=True)
    x = torch.ones(2)
    assert net(x).tolist() == [2.0, 2.0]
    monkeypatch.setitem(SCALE, "by", 3.0)
    assert net(x).tolist() == [3.0, 3.0]


def test_structures_and_settings() -> None:
    @torch.compile
    def function(x: Any, flag: bool = True, *, name: str = "a") -> Any:
        return {"x": x * 2 if flag else x, "n": 3, name: (x.sum(), [x + 1])}

    x = torch.arange(3.0)
    for keywords in ({}, {"flag": False}, {"name": "b"}):
        found, wanted = function(x, **keywords), function.__wrapped__(x, **keywords)
        torch.testing.assert_close(found, wanted)
        assert list(found) == list(wanted)
    assert traces(function) == 3


@pytest.mark.filterwarnings("ignore:torch.compile")
def test_functions_that_cannot_be_traced_run_as_they_are() -> None:
    weight = torch.ones(3, requires_grad=True)

    def decides(x: Any) -> Any:
        return x if x.sum() > 0 else -x

    def differentiates(x: Any) -> Any:
        loss = (x * weight).sum()
        loss.backward()
        return loss.detach()

    def writes(x: Any) -> Any:
        return x.add_(1)

    x = torch.tensor([-1.0, 0.5, -3.0])
    torch.testing.assert_close(torch.compile(decides)(x), -x)
    torch.testing.assert_close(torch.compile(differentiates)(x), x.sum())
    torch.testing.assert_close(weight.grad, x)
    y = x.clone()
    assert torch.compile(writes)(y) is y
    torch.testing.assert_close(y, x + 1)
    for function in (decides, differentiates, writes):
        with pytest.raises((RuntimeError, TypeError)):
            torch.compile(function, fullgraph=True)(x)
    torch.testing.assert_close(weight.grad, x)


def test_random_numbers_are_drawn_in_each_call() -> None:
    noisy = torch.compile(lambda x: x + torch.randn(3))
    x = torch.zeros(3)
    torch.manual_seed(3)
    with pytest.warns(UserWarning, match="runs as it is written.*draws random numbers"):
        found = [noisy(x)]
    found += [noisy(x)]  # it is said once
    torch.manual_seed(3)
    torch.testing.assert_close(found, [torch.randn(3), torch.randn(3)])
    with pytest.raises(Exception, match="random numbers"):
        torch.compile(lambda x: x + torch.randn(3), fullgraph=True)(x)


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"mode": "fastest"}, RuntimeError),
        ({"backend": "mine"}, RuntimeError),
        ({"dynamic": True}, NotImplementedError),
        ({"options": {}}, NotImplementedError),
    ],
)
def test_settings_of_pytorchs_own_compiler(keywords: Any, error: Any) -> None:
    with pytest.raises(error, match="compile"):
        torch.compile(torch.sin, **keywords)


@pytest.mark.parametrize("keywords", [{"disable": True}, {"backend": "eager"}])
def test_without_compiling(keywords: Any) -> None:
    assert torch.compile(torch.sin, **keywords) is torch.sin
