"""What the table of samples does not say about `arraygrad.nn`: states, keys, limits, bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import nn
from arraygrad.nn import attention
from arraygrad.testing import assert_close

rng = np.random.default_rng(0)


def leaf(*shape: int) -> ag.Tensor:
    return ag.tensor(np.random.default_rng(len(shape)).normal(size=shape), requires_grad=True)


# --- states --------------------------------------------------------------------------------------


def test_running_statistics_are_returned_and_constant() -> None:
    x, mean, var = leaf(5, 3, 4), np.zeros(3), np.ones(3)
    out, new_mean, new_var = nn.batch_norm(x, mean, var, training=True, momentum=0.25)
    values = x.detach().numpy()
    assert_close(new_mean, 0.25 * values.mean(axis=(0, 2)))
    assert_close(new_var, 0.75 + 0.25 * values.var(axis=(0, 2), ddof=1))
    assert not getattr(new_mean, "requires_grad", False)
    assert (mean == 0).all()
    assert (var == 1).all()
    assert out.requires_grad


def test_running_statistics_of_instances() -> None:
    x = rng.normal(size=(5, 3, 4))
    _, mean, var = nn.instance_norm(x, np.zeros(3), np.ones(3), momentum=1.0)
    assert_close(mean, x.mean(axis=2).mean(axis=0))
    assert_close(var, x.var(axis=2, ddof=1).mean(axis=0))
    assert nn.instance_norm(x)[1:] == (None, None)


def test_sequences_of_different_lengths() -> None:
    x, weights = leaf(4, 2, 3), [(leaf(8, 3), leaf(8, 2)), (leaf(8, 3), leaf(8, 2))]
    out, (h, c) = nn.lstm(x, weights, bidirectional=True, lengths=[4, 2])
    alone, (h1, c1) = nn.lstm(x[:2, 1:], weights, bidirectional=True)
    assert_close(out[:2, 1:].detach(), alone.detach())
    assert not out[2:, 1].detach().numpy().any()
    assert_close(h[:, 1:].detach(), h1.detach())
    assert_close(c[:, 1:].detach(), c1.detach())


def test_a_projected_lstm_is_torchs() -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.LSTM(3, 4, proj_size=2, dtype=torch.float64)
    x = rng.normal(size=(5, 2, 3))
    with torch.no_grad():
        expected, (h, c) = layer(torch.tensor(x))
        weights = [[w.detach().numpy() for w in layer.parameters()]]
    out, (h1, c1) = nn.lstm(x, weights)
    assert_close(out, expected.numpy())
    assert_close(h1, h.numpy())
    assert_close(c1, c.numpy())


# --- random numbers ------------------------------------------------------------------------------


def test_a_key_gives_the_same_numbers_and_a_generator_gives_others() -> None:
    x, key = np.ones(50), ag.random.key(1)
    assert_close(nn.dropout(x, 0.3, key=1), nn.dropout(x, 0.3, key=key))
    source = np.random.default_rng(1)
    first, second = (nn.dropout(x, 0.3, key=source) for _ in range(2))
    assert (first != second).any()
    assert set(np.unique(first)) == {0, 1 / 0.7}


def test_keys_of_a_batch_and_of_layers_differ() -> None:
    keys = ag.random.split(ag.random.key(1), 3)
    rows = ag.func.vmap(lambda key: nn.dropout(np.ones(50), key=key))(keys)
    assert_close(rows[1], nn.dropout(np.ones(50), key=keys[1]))
    assert (rows[0] != rows[1]).any()
    eye = [(np.eye(50), np.zeros((50, 50)))] * 3
    out, _ = nn.rnn(np.ones((1, 50)), eye, nonlinearity="relu", dropout=0.5, key=1)
    assert 0 < np.count_nonzero(out) < np.count_nonzero(nn.dropout(np.ones(50), key=1))


def test_attention_in_blocks_drops_the_same_in_both_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "_AT_ONCE", 10)
    q, k, v = leaf(7, 3), leaf(5, 3) * 1, leaf(5, 2)
    key = ag.random.key(0)
    out = nn.scaled_dot_product_attention(q, k, v, dropout_p=0.5, generator=key)
    # It is linear in the values: its gradient by them gives it back.
    assert_close((ag.grad(out.sum(), v) * v.detach()).sum(), out.detach().sum(), rtol=1e-12)


def test_random_functions_ask_for_a_key() -> None:
    for function in (nn.dropout, lambda x: nn.rrelu(x, training=True)):
        with pytest.raises(TypeError, match="pass key="):
            function(np.ones(3))


def test_dropout_keeps_mean_and_alpha_dropout_also_variance() -> None:
    x = np.random.default_rng(3).normal(size=200_000)
    assert nn.dropout(x + 1, 0.3, key=4).mean() == pytest.approx(1, abs=0.02)
    out = nn.alpha_dropout(x, 0.3, True, key=4)
    assert (out.mean(), out.std()) == pytest.approx((0, 1), abs=0.02)


def test_a_hard_class_has_the_derivative_of_the_soft_one() -> None:
    x = leaf(4, 5)
    hard, soft = (nn.gumbel_softmax(x, hard=h, key=2) for h in (True, False))
    assert_close(hard.detach().sum(axis=-1), np.ones(4))
    weights = rng.normal(size=(4, 5))
    assert_close(ag.grad((hard * weights).sum(), x), ag.grad((soft * weights).sum(), x))


@pytest.mark.parametrize(
    ("name", "deviation"),
    [
        ("uniform", 3**-0.5 / 2),
        ("normal", 1.0),
        ("xavier_uniform", 50**-0.5),
        ("xavier_normal", 50**-0.5),
        ("kaiming_uniform", (2 / 40) ** 0.5),
        ("kaiming_normal", (2 / 40) ** 0.5),
        ("trunc_normal", 0.8796),
    ],
)
def test_deviations_of_first_values(name: str, deviation: float) -> None:
    values = getattr(nn.init, name)((60, 40, 1), key=0).numpy()
    assert values.std() == pytest.approx(deviation, rel=0.05)
    assert getattr(nn.init, name)((2, 2), key=0, dtype=np.float32).dtype == np.float32


def test_orthogonal_first_values() -> None:
    for shape in ((5, 3), (3, 2, 4)):
        matrix = nn.init.orthogonal(shape, 2.0, key=0).numpy().reshape(shape[0], -1)
        rows, columns = matrix.shape
        product = matrix.T @ matrix if rows > columns else matrix @ matrix.T
        assert_close(product, 4 * np.eye(min(rows, columns)), atol=1e-12)


# --- memory and precision ------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{}, {"is_causal": True}, {"attn_mask": "mask"}])
def test_attention_in_blocks(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    q, k, v = leaf(2, 7, 3), leaf(2, 5, 3) + 0, leaf(2, 5, 2)
    if given.get("attn_mask"):
        given = {"attn_mask": np.random.default_rng(1).random((7, 5)) > 0.3}

    def run() -> list[Any]:
        out = nn.scaled_dot_product_attention(q, k, v, **given)
        first = ag.grad((out**2).sum(), [q, v], create_graph=True)
        return [out, *first, *ag.grad(sum((g**2).sum() for g in first), [q, v])]

    whole = run()
    monkeypatch.setattr(attention, "_AT_ONCE", 2 * 5 * 2)
    for mine, other in zip(run(), whole, strict=True):
        assert_close(mine.detach(), other.detach(), rtol=1e-10, atol=1e-12)


def test_attention_of_a_long_sequence_keeps_no_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 400 by 400 scores, no graph keeps more than a block."""
    monkeypatch.setattr(attention, "_AT_ONCE", 400 * 10)
    q, k, v = leaf(400, 4), leaf(400, 4) * 1, leaf(400, 4)
    saved: list[int] = []

    def pack(x: Any) -> Any:
        saved.append(math.prod(x.shape))
        return x

    with ag.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        out = nn.scaled_dot_product_attention(q, k, v)
    assert max(saved, default=0) < 400 * 400
    assert all(math.isfinite(g) for g in ag.grad(out.sum(), v).numpy().ravel())


def test_half_precision_is_summed_in_single_precision() -> None:
    x = np.full((2, 4000), 60.0, np.float16)
    assert_close(nn.rms_norm(x * 5, 4000), np.ones((2, 4000), np.float16))
    assert_close(nn.normalize(x), np.full((2, 4000), 4000**-0.5, np.float16), rtol=1e-3)
    assert_close(nn.cosine_similarity(x, x), np.ones(2, np.float16), rtol=1e-3)
    wide = np.linspace(-600, 600, 4000).astype(np.float16)[None]
    assert nn.layer_norm(wide, 4000).std() == pytest.approx(1, abs=1e-2)


# --- limits --------------------------------------------------------------------------------------


def test_gumbel_softmax_of_half_precision_is_finite() -> None:
    """A number just below one is one in float16."""
    drawn = nn.gumbel_softmax(np.zeros((20_000, 2), np.float16), key=0)
    assert np.isfinite(drawn).all()


def test_certain_probabilities() -> None:
    p = ag.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    loss = nn.binary_cross_entropy(p, np.array([0.0, 1.0, 1.0, 0.0]), reduction="sum")
    assert loss.item() == 200
    assert ag.grad(loss, p).tolist() == [0, 0, -1e12, 1e12]


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("hardswish", 0, math.inf),
        ("hardsigmoid", 0, 1),
        ("relu6", 0, 6),
        ("elu", -1, math.inf),
        ("softplus", 0, math.inf),
        ("logsigmoid", -math.inf, 0),
        ("leaky_relu", -math.inf, math.inf),
        ("softsign", math.nan, math.nan),
    ],
)
def test_at_infinity(name: str, low: float, high: float) -> None:
    x = ag.tensor([-math.inf, math.inf], requires_grad=True)
    with np.errstate(invalid="ignore"):
        assert_close(getattr(nn, name)(x).detach(), np.array([low, high], float), equal_nan=True)


def test_a_row_for_padding_and_rows_that_are_read_often() -> None:
    weight, index = leaf(4, 2), np.array([1, 1, 2, 3])
    plain = ag.grad(nn.embedding(index, weight).sum(), weight)
    assert plain[:, 0].tolist() == [0, 2, 1, 1]
    padded = ag.grad(nn.embedding(index, weight, padding_idx=2).sum(), weight)
    assert padded[:, 0].tolist() == [0, 2, 0, 1]
    scaled = ag.grad(nn.embedding(index, weight, scale_grad_by_freq=True).sum(), weight)
    assert scaled[:, 0].tolist() == [0, 1, 1, 1]


def test_unpooling_where_windows_overlap() -> None:
    x = leaf(1, 1, 3)
    out = nn.max_unpool1d(x, np.array([[[2, 2, 0]]]), 3, 1)
    assert out.detach().tolist() == [[[x[0, 0, 2].item(), 0, x[0, 0, 1].item(), 0, 0]]]
    assert ag.grad(out.sum(), x).tolist() == [[[0, 1, 1]]]


# --- bad input -----------------------------------------------------------------------------------

x3, x4 = np.ones((2, 3, 5)), np.ones((2, 3, 5, 5))
BAD: list[tuple[Any, str]] = [
    (lambda: nn.conv2d(x4, np.ones((4, 2, 3, 3))), r"needs an input of 2 channels.*\(2, 3, 5, 5\)"),
    (lambda: nn.conv2d(x4, np.ones((4, 3, 3, 3)), stride=-1), "stride must be at least 1"),
    (lambda: nn.conv2d(x4, np.ones((4, 3, 3, 3)), padding="some"), "padding must be ints"),
    (lambda: nn.conv2d(x4, np.ones((4, 3, 7, 7))), "larger than the input"),
    (lambda: nn.conv2d(x4, np.ones((4, 3, 3))), r"weight must have 4 axes, not shape \(4, 3, 3\)"),
    (lambda: nn.conv1d(x3, np.ones((4, 3, 3)), np.ones(3)), r"bias must have shape \(4,\)"),
    (lambda: nn.conv1d(x3, np.ones((4, 3, 3), np.float32)), "input is of float64, but weight"),
    (lambda: nn.max_pool2d(x4, 3, padding=2), "at most half of the kernel size"),
    (lambda: nn.max_pool2d(x3[0], 3), r"input must have 3 or 4 axes, not shape \(3, 5\)"),
    (lambda: nn.dropout(x3, 2.0, key=0), "p must be between 0 and 1, not 2.0"),
    (lambda: nn.cross_entropy(np.ones((3, 4)), np.zeros(2, int)), "batch_size"),
    (lambda: nn.cross_entropy(np.ones((3, 4)), np.zeros(3)), "integer dtype, not float64"),
    (lambda: nn.mse_loss(x3, x3, reduction="some"), "not a valid value for reduction"),
    (lambda: nn.binary_cross_entropy(x3 * 2, x3), "between 0 and 1"),
    (lambda: nn.layer_norm(x3, 4), r"the last axes of input \(2, 3, 5\) must be \(4,\)"),
    (lambda: nn.batch_norm(x3), "running_mean and running_var are needed"),
    (lambda: nn.batch_norm(x3, weight=np.ones(2), training=True), "weight must have one number"),
    (lambda: nn.linear(x3, np.ones((4, 4))), "their last axes must have the same length"),
    (lambda: nn.scaled_dot_product_attention(x3, x3, x3, np.ones((3, 3), int)), "attn_mask must"),
    (lambda: nn.scaled_dot_product_attention(x3, x3, x3, np.ones((4, 3), bool)), "3 queries"),
    (lambda: nn.one_hot(np.array([0, 4]), -2), "num_classes must be at least -1"),
    (lambda: nn.local_response_norm(x3, 0), "size must be at least 1"),
    (lambda: nn.multi_margin_loss(x3[0], np.zeros(3, int), 1, 1.0, x3[0, 0, :2]), "for each of 5"),
    (lambda: nn.multi_margin_loss(x3, np.zeros(2, int)), "at most two axes"),
    (lambda: nn.rnn(x3, [(np.ones((4, 5)), np.ones((4, 3)))]), r"weight_hh must have the shape"),
    (lambda: nn.rnn(x3, [(np.ones((4, 2)), np.ones((4, 4)))]), r"weight_ih must have 1 rows"),
    (lambda: nn.pad(x3, (1, 2, 3)), "pad must be pairs"),
    (lambda: nn.interpolate(x3, 4, mode="cubic"), "mode must be one of"),
    (lambda: nn.init.xavier_normal((3,), key=0), "no fan in and fan out"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: nn.layer_norm(x, 3),
        lambda x: nn.group_norm(x, 1),
        lambda x: nn.batch_norm(x, training=True)[0],
        lambda x: nn.normalize(x),
        lambda x: nn.cosine_similarity(x, x[::-1]),
        lambda x: nn.dropout(x, 0.5, key=3),
    ],
)
def test_integers_give_what_floats_give(call: Any) -> None:
    x = np.array([[1, 2, 3], [4, 5, 7]])
    np.testing.assert_allclose(call(x), call(x.astype(float)))


@pytest.mark.parametrize("given", [1.5, "a", None, (1, 2.0)])
def test_lengths_that_are_no_integers(given: Any) -> None:
    with pytest.raises(TypeError, match="kernel_size must be one int or 2 ints, not"):
        nn.max_pool2d(x4, given)
    with pytest.raises(TypeError, match="pad must be one int or 2 ints, not"):
        nn.pad(x4, given if isinstance(given, tuple) else (given, 1))
    if given is not None:
        with pytest.raises(TypeError, match="size must be one int or 2 ints, not"):
            nn.interpolate(x4, size=given)
        with pytest.raises(TypeError, match="output_size must be one int or 2 ints, not"):
            nn.adaptive_avg_pool2d(x4, given)
        with pytest.raises(TypeError, match="stride must be one int or 2 ints, not"):
            nn.conv2d(x4, np.ones((4, 3, 3, 3)), stride=given)


@pytest.mark.parametrize("loss", [nn.mse_loss, nn.l1_loss, nn.smooth_l1_loss, nn.huber_loss])
def test_losses_warn_of_targets_that_broadcast(loss: Any) -> None:
    with pytest.warns(UserWarning, match=r"target has shape \(3, 1\), but input \(3,\)") as caught:
        loss(np.zeros(3), np.ones((3, 1)))
    assert caught[0].filename == __file__
    loss(np.zeros(3), np.ones(()))


def test_a_mask_for_other_queries_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "_AT_ONCE", 8)
    with pytest.raises(ValueError, match="3 queries and 3 keys"):
        nn.scaled_dot_product_attention(x3, x3, x3, np.ones((4, 3), bool))


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_losses_of_no_samples() -> None:
    none = np.ones((0, 3))
    assert np.isnan(nn.cross_entropy(none, none))
    assert np.isnan(nn.multi_margin_loss(none, np.zeros(0, int)))
    assert np.isnan(nn.multilabel_margin_loss(none, np.zeros((0, 3), int)))
    assert nn.multi_margin_loss(none, np.zeros(0, int), reduction="sum") == 0
    assert nn.kl_div(np.array(0.5), np.array(0.0), reduction="batchmean") == 0


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_a_norm_of_zeros_in_a_window_has_no_slope(p: float) -> None:
    """As in PyTorch: activations after `relu` are zero in many windows."""
    x = ag.tensor([[0.0, 0.0, 3.0, 4.0]], requires_grad=True)
    slopes = ag.grad(nn.lp_pool1d(x, p, 2).sum(), x)
    norm = (3**p + 4**p) ** (1 / p)
    expected = [[0, 0, (3 / norm) ** (p - 1), (4 / norm) ** (p - 1)]]
    np.testing.assert_allclose(slopes, expected)


@pytest.mark.parametrize("count", [5, 5000])
@pytest.mark.parametrize("loss", [nn.smooth_l1_loss, nn.huber_loss])
def test_robust_losses_at_infinity_and_zero(loss: Any, count: int) -> None:
    """The slope stays one for an infinite error, and the curvature is one where there is none."""

    def total(v: Any) -> Any:
        return loss(v, np.zeros_like(v), reduction="sum")

    at = np.resize([np.inf, -np.inf, 0.0, 0.5, -2.0], count)
    expected = np.resize([1.0, -1.0, 0.0, 0.5, -1.0], count)
    slope = ag.func.grad(total)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(slope(at), expected)
        _, change = ag.func.jvp(slope, (at,), (np.ones(count),))
        for i, value in enumerate(expected[:5]):
            along = (np.arange(count) == i) * 1.0
            assert ag.func.jvp(total, (at,), (along,))[1] == value
    np.testing.assert_array_equal(change, np.resize([0.0, 0.0, 1.0, 1.0, 0.0], count))


def test_classes_out_of_range() -> None:
    with pytest.raises(IndexError, match="Target 4 is out of bounds: there are 4 classes"):
        nn.cross_entropy(np.ones((3, 4)), np.array([0, 4, 1]))
    with pytest.raises(IndexError, match="Input -1 is out of bounds: there are 5 rows"):
        nn.embedding(np.array([-1]), np.ones((5, 2)))
    with pytest.raises(TypeError, match="relu: input must be an array, not list"):
        nn.relu([1.0])


def test_all_functions_are_in_the_table() -> None:
    from samples import SAMPLES

    rows = {sample.op for sample in SAMPLES}
    assert [name for name in nn.__all__ if f"nn.{name}" not in rows] == ["init"]
