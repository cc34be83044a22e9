"""The layers of `compat.torch.nn` beside PyTorch's: with the same parameters, the same results."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch as ours

theirs = pytest.importorskip("torch")

LAYERS: list[tuple[Any, ...]] = [
    # a layer, and the shapes of its inputs
    ("Bilinear(3, 4, 2)", (5, 3), (5, 4)),
    ("Conv1d(4, 6, 3, groups=2, padding='same', padding_mode='circular')", (2, 4, 7)),
    ("Conv2d(2, 3, (2, 3), stride=2, padding=(1, 2), padding_mode='reflect', bias=False)",
     (1, 2, 5, 6)),
    ("Conv3d(2, 3, 2, dilation=2)", (1, 2, 3, 4, 5)),
    ("ConvTranspose1d(4, 6, 3, 2, 1, 1, groups=2)", (2, 4, 5)),
    ("ConvTranspose2d(2, 3, 2, dilation=2, bias=False)", (2, 3, 4)),
    ("ConvTranspose3d(2, 3, 2)", (1, 2, 3, 2, 3)),
    ("PReLU(4)", (3, 4)),
    ("LayerNorm((3, 4), bias=False)", (2, 3, 4)),
    ("RMSNorm(4)", (2, 3, 4)),
    ("GroupNorm(2, 4)", (3, 4, 5)),
    ("BatchNorm1d(4)", (3, 4)),
    ("BatchNorm2d(4, momentum=None)", (3, 4, 2, 2)),
    ("BatchNorm3d(2, affine=False, track_running_stats=False)", (3, 2, 2, 2, 2)),
    ("InstanceNorm1d(4, affine=True, track_running_stats=True)", (3, 4, 5)),
    ("InstanceNorm2d(4)", (4, 3, 5)),
    ("InstanceNorm3d(2)", (3, 2, 2, 2, 2)),
    ("MultiheadAttention(4, 2, batch_first=True, add_bias_kv=True)",
     (2, 3, 4), (2, 5, 4), (2, 5, 4)),
    ("MultiheadAttention(4, 2, kdim=3, vdim=5, add_zero_attn=True)", (3, 4), (5, 3), (5, 5)),
    ("MaxPool1d(3, 2, 1, ceil_mode=True)", (2, 3, 8)),
    ("MaxPool3d(2, return_indices=True)", (2, 4, 4, 4)),
    ("AvgPool1d(3, 2, 1, False, False)", (2, 3, 8)),
    ("AvgPool3d(2, divisor_override=3)", (2, 4, 4, 4)),
    ("LPPool2d(2, 2)", (2, 4, 4)),
    ("AdaptiveAvgPool2d((2, None))", (2, 5, 4)),
    ("AdaptiveMaxPool1d(3)", (2, 3, 7)),
    ("Unfold(2, stride=2)", (2, 3, 4, 5)),
    ("Fold((4, 5), 2)", (2, 8, 12)),
    ("Upsample(scale_factor=2.0, mode='bilinear')", (1, 2, 3, 4)),
    ("UpsamplingBilinear2d((5, 6))", (1, 2, 3, 4)),
    ("PixelShuffle(2)", (2, 4, 3, 3)),
    ("ChannelShuffle(2)", (2, 4, 3)),
    ("LocalResponseNorm(2)", (2, 4, 3)),
    ("ReflectionPad2d(1)", (2, 3, 4)),
    ("ReplicationPad1d((1, 2))", (2, 3, 4)),
    ("CircularPad3d(1)", (2, 3, 2, 2)),
    ("ConstantPad1d(2, 3.5)", (2, 3, 4)),
    ("ZeroPad2d((1, -1, 0, 2))", (2, 3, 4)),
    ("Softmax2d()", (2, 3, 4)),
    ("GLU(0)", (2, 3)),
    ("Softplus(2.0, 0.5)", (2, 3)),
    ("CELU(0.5)", (2, 3)),
    ("Unflatten(1, (2, 3))", (2, 6)),
    ("CosineSimilarity(0)", (2, 3), (2, 3)),
    ("PairwiseDistance(3.0)", (2, 3), (2, 3)),
    ("TripletMarginLoss(0.5, swap=True)", (2, 3), (2, 3), (2, 3)),
    ("HuberLoss('sum', 0.5)", (2, 3), (2, 3)),
    ("SmoothL1Loss(beta=0.5)", (2, 3), (2, 3)),
    ("GaussianNLLLoss(full=True, eps=10.0)", (2, 3), (2, 3), (2, 3)),
]  # fmt: skip


def flat(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("layer", LAYERS, ids=[row[0] for row in LAYERS])
def test_same_parameters_same_results(layer: tuple[Any, ...]) -> None:
    expression, *shapes = layer
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape) for shape in shapes]
    if "Gaussian" in expression:
        arrays[2] = arrays[2] ** 2
    other = eval(f"nn.{expression}", {"nn": theirs.nn}).double()
    mine = eval(f"nn.{expression}", {"nn": ours.nn}).double()
    state = other.state_dict()
    mine.load_state_dict({name: ours.tensor(v.numpy()) for name, v in state.items()})
    for _ in range(2):  # twice in training, then in evaluation
        expected = flat(other(*map(theirs.tensor, arrays)))
        found = flat(mine(*map(ours.tensor, arrays)))
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), atol=1e-12)
    other.eval(), mine.eval()
    expected = flat(other(*map(theirs.tensor, arrays)))
    found = flat(mine(*map(ours.tensor, arrays)))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), atol=1e-12)
    assert list(mine.state_dict()) == list(other.state_dict())
    for name, value in other.state_dict().items():
        np.testing.assert_allclose(mine.state_dict()[name].numpy(), value.numpy())


def test_embedding_shortens_rows_and_leaves_out_padding() -> None:
    def run(torch: Any) -> list[Any]:
        weight = torch.tensor(np.arange(12.0).reshape(4, 3), requires_grad=True)
        index = torch.tensor([[0, 1], [3, 1]])
        out = torch.nn.functional.embedding(index, weight, 1, max_norm=4.0)
        (grad,) = torch.autograd.grad((out * out).sum(), [weight])
        return [out.detach().numpy(), weight.detach().numpy(), grad.numpy()]

    for x, y in zip(run(ours), run(theirs), strict=True):
        np.testing.assert_allclose(x, y)


def test_layers_in_a_table_take_their_own_options_only() -> None:
    assert ours.nn.MaxPool2d(2, ceil_mode=True).padding == 0
    for make in (
        lambda: ours.nn.MaxPool2d(),
        lambda: ours.nn.ReLU(slope=2),
        lambda: ours.nn.GLU(0, 1),
        lambda: ours.nn.GLU(0, dim=1),
    ):
        with pytest.raises(TypeError):
            make()


def test_random_slopes_and_classes() -> None:
    ours.manual_seed(0)
    x = ours.tensor(np.linspace(-2, -1, 50), requires_grad=True)
    slopes = (ours.nn.functional.rrelu(x, 0.1, 0.3, training=True) / x).detach().numpy()
    assert ((slopes >= 0.1) & (slopes <= 0.3)).all()
    assert slopes.std() > 0.02
    logits = ours.tensor(np.log([0.2, 0.8]), requires_grad=True)
    many = ours.nn.functional.gumbel_softmax(logits.expand(2000, 2), hard=True)
    assert set(many.detach().numpy().ravel().tolist()) <= {0.0, 1.0}
    assert abs(many.detach().numpy()[:, 1].mean() - 0.8) < 0.05
    assert ours.autograd.grad(many[:, 1].sum(), [logits])[0].numpy().any()


def test_running_statistics_that_differ_over_a_batch_are_not_written() -> None:
    layer, x = ours.nn.BatchNorm1d(3), ours.randn(4, 3)
    before = layer.running_mean.clone()
    with pytest.raises(RuntimeError, match="differ over the batch"):
        ours.func.vmap(layer)(ours.randn(2, 4, 3))
    assert (layer.running_mean == before).all()
    assert ours.func.grad(lambda x: layer(x).sum())(x).shape == (4, 3)
    assert ours.allclose(layer.running_mean, 0.1 * x.mean(0))
    assert not layer.running_mean.requires_grad


PRINTED = """Linear(2, 3) Bilinear(2, 3, 4, bias=False) Flatten() Unflatten(1, (2, 3)) Dropout(0.2)
Dropout2d() ReLU() ReLU(True) LeakyReLU(0.2, True) ELU(0.5) GELU("tanh") Softplus() Softshrink()
LPPool2d(2, 3) Hardtanh() Threshold(0.1, 20.0) Softmax(dim=1) LogSoftmax(-1) PReLU()
MaxPool2d(2) AvgPool2d(3, 2)
MaxPool1d(3, 2, 1, return_indices=True) AdaptiveAvgPool2d((1, 1)) Unfold(2) PixelShuffle(2)
Upsample(size=(4, 4), mode="bilinear") Identity(3) ZeroPad2d(1) ConstantPad1d(2, 3.5) LayerNorm(4)
ReflectionPad2d((1, 1, 2, 2)) LayerNorm((2, 3), elementwise_affine=False) RMSNorm(4) GroupNorm(2, 4)
Embedding(5, 3) Embedding(5, 3, padding_idx=0) EmbeddingBag(5, 3, mode="sum") Conv2d(1, 4, 3)
Conv1d(2, 4, 3, 2, 1, 2, 2, False) Conv2d(1, 4, (3, 2), padding="same", padding_mode="circular")
ConvTranspose2d(4, 2, 2, stride=2, output_padding=1) BatchNorm2d(4) InstanceNorm2d(3) MSELoss()
CrossEntropyLoss(label_smoothing=0.1) CosineSimilarity() LSTM(2, 3, batch_first=True) GRU(2, 3)
LSTM(2, 3, 2, bidirectional=True, dropout=0.1) RNNCell(2, 3) LSTMCell(2, 3, bias=False)
Sequential(nn.Linear(2, 3), nn.ReLU()) ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])
ModuleDict({"a": nn.ReLU()}) Parameter(torch.ones(2))"""


@pytest.mark.parametrize("text", re.split(r"(?<=\))\s(?=[A-Z])", PRINTED))
def test_modules_print_as_in_pytorch(text: str) -> None:
    pytest.importorskip("torch", minversion="2.13")  # which prints the bias of norms
    mine, other = (
        str(eval(f"nn.{text}", {"nn": torch.nn, "torch": torch})) for torch in (ours, theirs)
    )
    assert mine == other


def test_lazy_layers_become_layers_when_they_are_called() -> None:
    def run(torch: Any) -> list[Any]:
        nn, seen = torch.nn, []
        net = nn.Sequential(
            nn.LazyConv2d(4, kernel_size=3, padding=1), nn.LazyBatchNorm2d(), nn.ReLU(),
            nn.Flatten(), nn.LazyLinear(3, bias=False),
        )  # fmt: skip
        net[0].register_forward_hook(lambda module, args, out: seen.append(type(module).__name__))
        net.eval()
        before = list(net.parameters())  # which an optimiser may have already
        x = torch.tensor(np.linspace(-1, 1, 48).reshape(2, 2, 4, 3).astype(np.float32))
        net(x)
        assert all(p is own for p, own in zip(before, net.parameters(), strict=True))
        assert not net[1].training
        shapes = [(name, tuple(p.shape)) for name, p in net.named_parameters()]
        with torch.no_grad():
            for i, p in enumerate(net.parameters()):
                p.copy_(torch.linspace(-0.5, 0.1 * i, p.numel()).reshape(p.shape))
        net.train()
        return [seen, shapes, net(x).detach().numpy()]

    for mine, other in zip(run(ours), run(theirs), strict=True):
        if isinstance(other, np.ndarray):
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
        else:
            assert mine == other
