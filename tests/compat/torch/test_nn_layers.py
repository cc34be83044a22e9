"""The layers of `compat.torch.nn` beside PyTorch's: with the same parameters, the same results."""

from __future__ import annotations

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
    assert "kernel_size=2" in repr(ours.nn.MaxPool2d(2))
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


def test_running_statistics_are_not_written_from_inside_a_transform() -> None:
    layer, x = ours.nn.BatchNorm1d(3), ours.randn(4, 3)
    before = layer.running_mean.clone()
    for transform in (
        lambda f: ours.func.grad(lambda x: f(x).sum())(x),
        lambda f: ours.func.vmap(f)(ours.randn(2, 4, 3)),
    ):
        with pytest.raises(RuntimeError, match="transform"):
            transform(layer)
        assert (layer.running_mean == before).all()
    layer.eval()
    assert ours.func.grad(lambda x: layer(x).sum())(x).shape == (4, 3)
