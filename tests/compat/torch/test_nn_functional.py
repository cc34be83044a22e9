"""`compat.torch.nn.functional` beside PyTorch: values, gradients, second derivatives, vmap, errors.

A row is an expression in the leaves `a`, `b`, `c`, `d` of the shapes that follow it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch as ours

theirs = pytest.importorskip("torch")

ROWS: list[tuple[Any, ...]] = [
    # convolutions
    ("F.conv1d(a, b, c, stride=2, padding=1, groups=2)", (2, 4, 7), (6, 2, 3), (6,)),
    ("F.conv2d(a, b, padding='same', dilation=(1, 2))", (3, 5, 6), (2, 3, 2, 4)),
    ("F.conv2d(a, b, c, (2, 1), (1, 0), 2)", (2, 3, 7, 6), (4, 3, 2, 3), (4,)),
    ("F.conv3d(a, b, padding='valid', groups=2)", (1, 2, 3, 4, 3), (2, 1, 2, 2, 2)),
    ("F.conv_transpose1d(a, b, c, 3, 1, 2, groups=2, dilation=2)", (2, 4, 3), (4, 2, 3), (4,)),
    ("F.conv_transpose2d(a, b, c, stride=(2, 3), padding=(1, 0), output_padding=(1, 2))",
     (2, 3, 3, 2), (3, 2, 3, 2), (2,)),
    ("F.conv_transpose3d(a, b, padding=1)", (2, 3, 2, 3), (2, 2, 2, 3, 2)),
    # pooling
    ("F.max_pool1d(a, 3, 2, 1, 2, True)", (2, 3, 8)),
    ("F.max_pool2d(a, (3, 2), ceil_mode=True, padding=1, return_indices=True)", (2, 5, 7)),
    ("F.max_pool3d(a, 2, stride=1, dilation=(1, 2, 1))", (1, 2, 3, 4, 3)),
    ("F.avg_pool1d(a, 4, 3, 2, ceil_mode=True)", (2, 3, 8)),
    ("F.avg_pool2d(a, 3, 2, 1, True, False)", (2, 3, 6, 5)),
    ("F.avg_pool2d(a, (2, 3), divisor_override=5)", (2, 6, 5)),
    ("F.avg_pool3d(a, 2, 1, 1)", (1, 2, 3, 2, 3)),
    ("F.lp_pool1d(a * a + 1, 3, 3, 2)", (2, 3, 8)),
    ("F.lp_pool2d(a * a + 1, 2, (2, 3), ceil_mode=True)", (2, 3, 5, 7)),
    ("F.adaptive_avg_pool1d(a, 3)", (2, 3, 7)),
    ("F.adaptive_avg_pool2d(a, (3, None))", (2, 3, 7, 4)),
    ("F.adaptive_avg_pool3d(a, (1, 2, 3))", (2, 3, 3, 4)),
    ("F.adaptive_max_pool1d(a, 4, return_indices=True)", (2, 3, 7)),
    ("F.adaptive_max_pool2d(a, (2, 5))", (2, 3, 5, 4)),
    ("F.adaptive_max_pool3d(a, 2)", (1, 2, 3, 4, 5)),
    ("F.max_unpool1d(*F.max_pool1d(a, 2, return_indices=True), 2, output_size=(7,))", (2, 3, 7)),
    ("F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2)", (2, 3, 4, 6)),
    ("F.max_unpool3d(*F.max_pool3d(a, 2, return_indices=True), 2)", (1, 2, 4, 2, 2)),
    # rearranging
    ("F.unfold(a, (2, 3), dilation=2, padding=1, stride=(1, 2))", (2, 3, 5, 6)),
    ("F.fold(a, (4, 5), (2, 3), padding=1, stride=2)", (2, 12, 9)),
    ("F.pixel_shuffle(a, 2), F.pixel_unshuffle(b, 2)", (2, 8, 2, 3), (2, 3, 4, 6)),
    ("F.channel_shuffle(a, 3)", (2, 6, 2)),
    ("F.pad(a, (2, -1, -1, 2), 'reflect')", (2, 3, 4, 5)),
    ("F.pad(a, (-3, 2), 'replicate')", (2, 3, 4)),
    ("F.pad(a, (-1, 2, 2, 3), 'circular')", (3, 4, 4)),
    ("F.pad(a, (1, 0, 0, 2, 1, 1), 'replicate')", (1, 2, 2, 3, 2)),
    ("F.pad(a, (1, -2, -1, 1), value=2.0)", (3, 4)),
    # other sizes
    ("F.interpolate(a, 5), F.interpolate(a, scale_factor=1.7, mode='nearest-exact')", (2, 3, 7)),
    ("F.interpolate(a, 9, mode='linear'), F.interpolate(a, 3, mode='area')", (2, 3, 7)),
    ("F.interpolate(a, scale_factor=(1.7, 0.6), mode='bilinear')", (1, 2, 5, 7)),
    ("F.interpolate(a, scale_factor=1.7, mode='bilinear', recompute_scale_factor=True)",
     (1, 2, 5, 4)),
    ("F.interpolate(a, (7, 1), mode='bicubic', align_corners=True)", (1, 2, 5, 4)),
    ("F.interpolate(a, scale_factor=2.3, mode='bicubic')", (1, 2, 3, 4)),
    ("F.interpolate(a, (3, 2, 5), mode='trilinear', align_corners=True)", (1, 2, 2, 3, 4)),
    ("F.affine_grid(a, (2, 3, 4, 5), align_corners=False)", (2, 2, 3)),
    ("F.affine_grid(a, (2, 3, 1, 2, 3), align_corners=True)", (2, 3, 4)),
    # activations
    ("F.hardswish(3 * a), F.hardsigmoid(3 * a), F.mish(a), F.celu(a, 0.7)", (3, 4)),
    ("F.softshrink(a), F.hardshrink(a, 0.3), F.softplus(a, 3, 0.5), F.softmin(a, 1)", (3, 4)),
    ("F.glu(a, 1), F.prelu(a, b), F.prelu(a, c)", (3, 4), (4,), (1,)),
    ("F.rrelu(a), F.tanhshrink(a), F.softsign(a), F.silu(a)", (3, 4)),
    # normalisation
    ("F.group_norm(a, 2, b, c)", (3, 4, 5), (4,), (4,)),
    ("F.instance_norm(a, weight=b, bias=c)", (3, 4, 5), (4,), (4,)),
    ("F.rms_norm(a, (4, 5), b)", (3, 4, 5), (4, 5)),
    ("F.layer_norm(a, (4, 5), b)", (3, 4, 5), (4, 5)),
    ("F.local_response_norm(a, 3, 0.5)", (2, 5, 3)),
    ("F.normalize(a, 3, (0, 1)), F.normalize(b, dim=0)", (3, 4), ()),
    ("F.batch_norm(a, None, None, b, c, True)", (3, 4, 5), (4,), (4,)),
    ("F.batch_norm(a, b.detach(), c.detach() ** 2 + 1)", (3, 4, 5), (4,), (4,)),
    # linear maps, attention
    ("F.bilinear(a, b, c, d)", (2, 3, 4), (2, 3, 5), (6, 4, 5), (6,)),
    ("F.scaled_dot_product_attention(a, b, c, is_causal=True)", (2, 4, 3), (2, 5, 3), (2, 5, 2)),
    ("F.scaled_dot_product_attention(a, b, c, d, scale=0.7)", (4, 3), (5, 3), (5, 2), (4, 5)),
    ("F.scaled_dot_product_attention(a, b, b, enable_gqa=True)", (1, 4, 2, 3), (1, 2, 5, 3)),
    ("F.multi_head_attention_forward(a, a, b, 4, 2, c, None, None, None, True, 0.0, d, None)",
     (3, 2, 4), (3, 2, 4), (12, 4), (4, 4)),
    ("F.multi_head_attention_forward(a, b, b, 4, 2, None, None, None, None, False, 0.0, c, None,"
     " use_separate_proj_weight=True, q_proj_weight=c, k_proj_weight=d, v_proj_weight=d,"
     " attn_mask=torch.ones(3, 5).triu(1) > 0, average_attn_weights=False)",
     (3, 4), (5, 3), (4, 4), (4, 3)),
    # rows of matrices
    ("F.embedding(i, a, padding_idx=1, scale_grad_by_freq=True)", (5, 3)),
    ("F.embedding_bag(i, a, mode='sum', per_sample_weights=b)", (5, 3), (2, 4)),
    ("F.embedding_bag(i, a, padding_idx=2)", (5, 3)),
    ("F.embedding_bag(i.reshape(-1), a, torch.tensor([0, 3, 3]), mode='max')", (5, 3)),
    ("F.embedding_bag(i.reshape(-1), a, torch.tensor([0, 2, 8]), include_last_offset=True)",
     (5, 3)),
    # losses
    ("F.cross_entropy(a, torch.softmax(b, 1), c, label_smoothing=0.2)", (3, 4), (3, 4), (4,)),
    ("F.cross_entropy(a, t, w, ignore_index=1, label_smoothing=0.2)", (3, 4)),
    ("F.cross_entropy(a, t, w, ignore_index=1, reduction='sum')", (3, 4)),
    ("F.cross_entropy(a, i, label_smoothing=0.1, reduction='none')", (2, 5, 4)),
    ("F.nll_loss(a, i[0, 0])", (4,)),
    ("F.multi_margin_loss(a, t, 2, 0.7, w), F.multi_margin_loss(a[0], t[:1])", (3, 4)),
    ("F.multilabel_margin_loss(a, torch.tensor([[3, 0, -1, 1], [-1, 0, 1, 2]]))", (2, 4)),
    ("F.multilabel_soft_margin_loss(a, s, w)", (3, 4)),
    ("F.soft_margin_loss(a, 2 * s - 1), F.hinge_embedding_loss(a, 2 * s - 1, 0.5)", (3, 4)),
    ("F.margin_ranking_loss(a, b, 2 * s - 1, 0.3, reduction='sum')", (3, 4), (3, 4)),
    ("F.cosine_embedding_loss(a, b, torch.tensor([1, -1, 1]), 0.1)", (3, 4), (3, 4)),
    ("F.triplet_margin_loss(a, b, c, 2.0, 3, swap=True)", (3, 4), (3, 4), (3, 4)),
    ("F.triplet_margin_with_distance_loss(a, b, c, distance_function=F.cosine_similarity)",
     (3, 4), (3, 4), (3, 4)),
    ("F.gaussian_nll_loss(a, b, c * c, full=True), F.gaussian_nll_loss(a, b, 0.3)",
     (3, 4), (3, 4), (3,)),
    ("F.poisson_nll_loss(a, 3 * s, full=True), F.poisson_nll_loss(a * a, b, log_input=False)",
     (3, 4), (3, 4)),
    ("F.mse_loss(a, b, weight=s), F.l1_loss(a, b, weight=s), F.huber_loss(a, b, delta=0.3)",
     (3, 4), (3, 4)),
    ("F.binary_cross_entropy(torch.sigmoid(a), s.to(a.dtype)), F.smooth_l1_loss(a, b, beta=0.2)",
     (3, 4), (3, 4)),
    ("F.cosine_similarity(a, b, dim=-2), F.cosine_similarity(c, c * 2, dim=0)",
     (1, 2, 3), (2, 1, 3), ()),
    ("F.pairwise_distance(a, b, 3, keepdim=True), F.pdist(a, 3)", (3, 4), (3, 4)),
    # PyTorch has first derivatives only
    ("F.grid_sample(a, b, align_corners=False)", (2, 3, 4, 5), (2, 2, 3, 2)),
    ("F.grid_sample(a, 2 * b, 'bicubic', 'reflection', False)", (1, 2, 4, 5), (1, 2, 3, 2)),
    ("F.grid_sample(a, 2 * b, 'bilinear', 'border', True)", (1, 2, 3, 4, 2), (1, 2, 1, 3, 3)),
    ("F.grid_sample(a, 2 * b, 'nearest', 'reflection', True)", (1, 2, 4, 5), (1, 2, 3, 2)),
    ("F.ctc_loss(a.log_softmax(2), i % 4 + 1, (4, 6), (3, 2))", (6, 2, 6)),
    ("F.ctc_loss(a.log_softmax(1), torch.tensor([1, 1, 2]), (5,), (3,), reduction='sum')", (5, 4)),
]  # fmt: skip


def names(torch: Any, dtype: Any) -> dict[str, Any]:
    return {
        "torch": torch,
        "F": torch.nn.functional,
        "i": torch.tensor([[0, 3, 1, 2], [2, 2, 4, 1]]),
        "t": torch.tensor([2, 1, 0]),
        "w": torch.tensor([0.5, 1.0, 2.0, 0.3], dtype=dtype),
        "s": torch.tensor([[0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]]),
    }


def leaves(shapes: tuple[Any, ...], seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def results(torch: Any, row: tuple[Any, ...], inputs: list[Any]) -> list[Any]:
    scope = names(torch, inputs[0].dtype)
    scope.update(zip("abcd", inputs, strict=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = eval(row[0], scope)
    flat: list[Any] = []

    def walk(value: Any) -> None:
        for part in value if isinstance(value, tuple) else (value,):
            walk(part) if isinstance(part, tuple) else flat.append(part)

    walk(found)
    return flat


def one_number(torch: Any, tensors: list[Any]) -> Any:
    """A sum of the tensors with different weights for all elements."""
    total: Any = 0.0
    for k, t in enumerate(tensors):
        if t is not None and t.is_floating_point():
            weights = np.sin(np.arange(t.numel()) + k).reshape(tuple(t.shape))
            total = total + (t * torch.tensor(weights, dtype=t.dtype)).sum()
    return total


def derivatives(torch: Any, row: tuple[Any, ...]) -> tuple[list[Any], list[Any], list[Any] | None]:
    inputs = [torch.tensor(x, requires_grad=True) for x in leaves(row[1:])]
    values = results(torch, row, inputs)
    grad = torch.autograd.grad
    first = grad(one_number(torch, values), inputs, create_graph=True, allow_unused=True)
    again = one_number(torch, [g * g for g in first if g is not None])
    try:
        second = grad(again, inputs, allow_unused=True) if again.requires_grad else None
    except (RuntimeError, NotImplementedError) as error:
        if torch is ours or "not implemented" not in str(error):
            raise
        second = None
    return values, list(first), second


def close(mine: Any, other: Any, **tolerance: float) -> None:
    if mine is None or other is None:  # PyTorch and arraygrad do not always know of a zero
        rest = mine if mine is not None else other
        assert rest is None or not rest.detach().numpy().any()
        return
    assert tuple(mine.shape) == tuple(other.shape)
    assert str(mine.dtype) == str(other.dtype)
    np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), **tolerance)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_values_and_derivatives(row: tuple[Any, ...]) -> None:
    mine, other = derivatives(ours, row), derivatives(theirs, row)
    for ours_, theirs_ in zip(mine, other, strict=True):
        if theirs_ is not None and ours_ is not None:
            for x, y in zip(ours_, theirs_, strict=True):
                close(x, y, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_single_precision_stays(row: tuple[Any, ...]) -> None:
    mine, other = (
        results(torch, row, [torch.tensor(x, dtype=torch.float32) for x in leaves(row[1:])])
        for torch in (ours, theirs)
    )
    for x, y in zip(mine, other, strict=True):
        close(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_vmap_is_a_loop(row: tuple[Any, ...]) -> None:
    pairs = [
        ours.tensor(np.stack(pair))
        for pair in zip(leaves(row[1:]), leaves(row[1:], 1), strict=True)
    ]

    def function(*inputs: Any) -> Any:
        return tuple(results(ours, row, list(inputs)))

    together = ours.func.vmap(function)(*pairs)
    single = [function(*(p[k] for p in pairs)) for k in range(2)]
    for x, *members in zip(together, *single, strict=True):
        close(x, ours.stack(members), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_forward_mode_is_reverse_mode(row: tuple[Any, ...]) -> None:
    def function(*inputs: Any) -> Any:
        return one_number(ours, results(ours, row, list(inputs)))

    inputs, tangents = (tuple(map(ours.tensor, leaves(row[1:], seed))) for seed in (0, 1))
    _, forward = ours.func.jvp(function, inputs, tangents)
    gradients = ours.func.grad(function, tuple(range(len(inputs))))(*inputs)
    reverse = sum(float((g * t).sum()) for g, t in zip(gradients, tangents, strict=True))
    assert float(forward) == pytest.approx(reverse, rel=1e-9, abs=1e-11)


ERRORS = [
    "F.conv2d(a, torch.ones(2, 2, 9, 9))",
    "F.conv2d(a, torch.ones(2, 3, 2, 2))",
    "F.conv2d(a, torch.ones(2, 2, 2, 2), padding='same', stride=2)",
    "F.conv_transpose2d(a, torch.ones(2, 2, 2, 2), output_padding=1)",
    "F.max_pool2d(a, 2, padding=2)",
    "F.max_pool2d(a[0, 0], 2)",
    "F.avg_pool2d(a, 2, divisor_override=0)",
    "F.max_unpool2d(a, torch.zeros(1, 2, 3, 4, dtype=torch.int64), 2, output_size=(1, 1))",
    "F.fold(a[0], (3, 3), (2, 2))",
    "F.pixel_shuffle(a, 3)",
    "F.channel_shuffle(a, 3)",
    "F.pad(a, (9, 9), 'reflect')",
    "F.pad(a, (3, 3, 3, 3), 'reflect')",
    "F.pad(a, (1, 1, 9, 0), 'circular')",
    "F.pad(a[0, 0, 0], (1, 1), 'replicate')",
    "F.interpolate(a, 3, mode='linear')",
    "F.interpolate(a)",
    "F.interpolate(a, 3, 2.0)",
    "F.interpolate(a, 3, align_corners=True)",
    "F.grid_sample(a, a, align_corners=True)",
    "F.grid_sample(a, torch.ones(1, 2, 2, 2), align_corners=True)",
    "F.affine_grid(a[0], (2, 2, 2), True)",
    "F.adaptive_avg_pool2d(a, (1, 2, 3))",
    "F.lp_pool2d(a, 2.0, 9)",
    "F.unfold(a, 9)",
    "F.pad(a, (1, 1), 'mirror')",
    "F.interpolate(a, 3, mode='cubic')",
    "F.hardtanh(a, 1.0, -1.0)",
    "F.gelu(a, approximate='erf')",
    "F.celu(a, 0.0)",
    "F.instance_norm(a[:, :, :1, :1])",
    "F.huber_loss(a, a, delta=0.0)",
    "F.smooth_l1_loss(a, a, beta=-1.0)",
    "F.kl_div(a, a, reduction='all')",
    "F.nll_loss(a[0], torch.tensor([0, 1]))",
    "F.nll_loss(a[0, 0], torch.tensor([0.0, 1.0, 1.0]))",
    "F.multilabel_margin_loss(a[0, 0], torch.tensor([0]))",
    "F.margin_ranking_loss(a, a, torch.ones(2))",
    "F.cosine_embedding_loss(a, a, a)",
    "F.pairwise_distance(a, a[..., :2])",
    "F.embedding(torch.tensor([1]), a[0, 0], padding_idx=9)",
    "F.grid_sample(a, torch.ones(1, 2, 2, 2), mode='cubic', align_corners=True)",
    "F.group_norm(a, 3)",
    "F.layer_norm(a, (3,))",
    "F.batch_norm(a, None, None)",
    "F.batch_norm(a[:, :, :1, :1], None, None, training=True)",
    "F.local_response_norm(a[0, 0], 2)",
    "F.glu(a, 2)",
    "F.prelu(a, torch.ones(3))",
    "F.softshrink(a, -1.0)",
    "F.embedding(torch.tensor([7]), a[0, 0])",
    "F.embedding(torch.tensor([1.0]), a[0, 0])",
    "F.embedding_bag(torch.tensor([1]), a[0, 0])",
    "F.embedding_bag(torch.tensor([[1]]), a[0, 0], mode='min')",
    "F.one_hot(torch.tensor([-1]))",
    "F.nll_loss(a[0, 0], torch.tensor([0, 1, 9]))",
    "F.nll_loss(a[0, 0], torch.tensor([0, 1]))",
    "F.mse_loss(a, a, reduction='all')",
    "F.cross_entropy(a[0, 0], torch.tensor([0, 1, 2]), label_smoothing=2.0)",
    "F.binary_cross_entropy(torch.ones(2), torch.ones(3))",
    "F.multi_margin_loss(a[0, 0], torch.tensor([0, 1, 2]), p=3)",
    "F.triplet_margin_loss(a, a, a, margin=-1.0)",
    "F.gaussian_nll_loss(a, a, torch.tensor(-1.0))",
    "F.ctc_loss(a[0, 0], torch.tensor([1, 2]), (9,), (2,))",
    "F.bilinear(a, a, torch.ones(2, 3, 3))",
]


@pytest.mark.parametrize("expression", ERRORS)
def test_errors_are_pytorchs(expression: str) -> None:
    raised = []
    for torch in (theirs, ours):
        scope = names(torch, torch.float64)
        scope["a"] = torch.tensor(np.arange(24.0).reshape(1, 2, 3, 4))
        with pytest.raises(Exception) as caught:  # noqa: PT011  (the type is compared)
            eval(expression, scope)
        raised.append(caught.type)
    assert issubclass(raised[1], raised[0])
