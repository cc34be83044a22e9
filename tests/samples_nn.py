"""Rows of the table of samples for `arraygrad.nn`.

Here a row on tensors is compared with the same row on arrays. `tests/nn/test_against_torch.py` says
what the values must be: it runs all rows by `torch.nn.functional`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from samples import SAMPLES, Draw, row

import arraygrad as ag

# For each row, by its name, how to call PyTorch: with `torch.nn.functional` and the tensors.
BY_TORCH: dict[str, Callable[..., Any]] = {}

_TORCH_NAMES = {"axis": "dim", "keepdims": "keepdim"}


def layer(
    name: str,
    inputs: Callable[[Draw], Any],
    *args: Any,
    label: str = "",
    how: Callable[..., Any] | None = None,
    by_torch: Callable[..., Any] | None = None,
    flags: dict[str, Any] | None = None,
    **given: Any,
) -> None:
    """A row for one call of a function, with numbers after the arrays, and keywords.

    Where arrays and numbers are in another order, `how` calls the function of a namespace.
    """
    words = [*map(str, args), *(f"{k}={v}" for k, v in given.items())]

    def call(xp: Any, *arrays: Any) -> Any:
        return how(xp.nn, *arrays) if how else getattr(xp.nn, name)(*arrays, *args, **given)

    def theirs(functional: Any, *tensors: Any) -> Any:
        renamed = {_TORCH_NAMES.get(k, k): v for k, v in given.items()}
        return getattr(functional, name)(*tensors, *args, **renamed)

    row(
        f"nn.{name}",
        inputs,
        call,
        label or ",".join(words),
        reference=lambda *arrays: call(ag, *arrays),
        torch=False,
        **(flags or {}),
    )
    BY_TORCH[str(SAMPLES[-1])] = by_torch or how or theirs


def _any(*shapes: tuple[int, ...]) -> Callable[[Draw], Any]:
    return lambda d: tuple(d.any(*shape) for shape in shapes)


def _distinct(*shape: int) -> Callable[[Draw], Any]:
    return lambda d: d.distinct(*shape)


# --- activations ---------------------------------------------------------------------------------


def _three(d: Draw) -> Any:
    """Numbers on both sides of ±3, but not near."""
    return d.any(3, 4) * d.rng.choice([1.0, 2.9], (3, 4))


for _name in (
    "celu elu gelu hardsigmoid hardswish leaky_relu logsigmoid mish relu selu sigmoid silu "
    "softplus softsign tanh tanhshrink"
).split():
    layer(_name, _three)
layer("relu6", lambda d: d.any(3, 4) * 5)
layer("hardtanh", lambda d: d.any(3, 4) * 1.1, -0.9, 1.2)
layer("threshold", _three, 0.1, 7.0)
layer("celu", _three, 0.7)
layer("gelu", _three, approximate="tanh")
layer("softplus", _three, beta=3.0, threshold=0.5)
layer("softshrink", _three, 0.2)
layer("hardshrink", _three, 0.25)
layer("prelu", _any((3, 4, 2), (4,)), label="one a channel")
layer("prelu", _any((3, 4), (1,)))
layer("rrelu", _three)
layer("softmax", _any((2, 3)), axis=1)
layer("softmin", _any((2, 3)), axis=0)
layer("log_softmax", _any((2, 3)), axis=-1)
layer("glu", _any((3, 4)), axis=1)
layer(
    "gumbel_softmax",
    _any((3, 4)),
    tau=0.7,
    key=3,
    by_torch=lambda f, x: _gumbel(f, x),
)


def _gumbel(functional: Any, x: Any) -> Any:
    drawn = ag.random.uniform(ag.random.key(3), tuple(x.shape))
    return functional.softmax((x - x.new_tensor(np.log(-np.log(drawn)))) / 0.7, -1)


# --- filters and windows -------------------------------------------------------------------------

layer("conv1d", _any((2, 4, 7), (6, 2, 3), (6,)), stride=2, padding=1, groups=2)
layer("conv2d", _any((3, 4, 5), (2, 3, 3, 3)), padding="same", dilation=(1, 2))
layer("conv2d", _any((2, 2, 5, 5), (3, 2, 2, 3), (3,)), (2, 1), (1, 0), 2)
layer("conv3d", _any((1, 2, 3, 3, 2), (2, 1, 2, 2, 2)), padding="valid", groups=2)
layer("conv_transpose1d", _any((2, 4, 3), (4, 2, 3), (4,)), 3, 1, 2, groups=2, dilation=2)
layer(
    "conv_transpose2d",
    _any((1, 2, 3, 2), (2, 2, 3, 2), (2,)),
    stride=(2, 3),
    padding=(1, 0),
    output_padding=(1, 2),
)
layer("conv_transpose3d", _any((2, 2, 2, 2), (2, 1, 2, 2, 2)), padding=1)
layer("max_pool1d", _distinct(2, 3, 8), 3, 2, 1, 2, True)
layer("max_pool2d", _distinct(2, 5, 7), (3, 2), ceil_mode=True, padding=1)
layer("max_pool2d", _distinct(1, 2, 4, 4), 2, return_indices=True)
layer("max_pool3d", _distinct(1, 2, 3, 4, 3), 2, stride=1, dilation=(1, 2, 1))
layer("avg_pool1d", _any((2, 3, 8)), 4, 3, 2, ceil_mode=True)
layer("avg_pool2d", _any((1, 2, 6, 5)), 3, 2, 1, True, False)
layer("avg_pool2d", _any((2, 6, 5)), (2, 3), divisor_override=5)
layer("avg_pool3d", _any((1, 2, 3, 2, 3)), 2, 1, 1)
layer("lp_pool1d", lambda d: d.positive(2, 3, 8), 3, 3, 2)
layer("lp_pool2d", lambda d: d.positive(1, 2, 5, 7), 2, (2, 3), ceil_mode=True)
layer("lp_pool3d", lambda d: d.positive(1, 2, 3, 2, 3), 2, 2)
layer("adaptive_avg_pool1d", _any((2, 3, 7)), 3)
layer("adaptive_avg_pool2d", _any((1, 2, 7, 4)), (3, None))
layer("adaptive_avg_pool3d", _any((2, 3, 3, 4)), (1, 2, 3))
layer("adaptive_max_pool1d", _distinct(2, 3, 7), 4)
layer("adaptive_max_pool2d", _distinct(1, 2, 5, 4), (2, 5), return_indices=True)
layer("adaptive_max_pool3d", _distinct(1, 2, 3, 4, 5), 2)
layer(
    "max_unpool1d", lambda d: (d.any(2, 3), np.array([[0, 3, 5], [1, 2, 4]])), 2, output_size=(7,)
)
layer("max_unpool2d", lambda d: (d.any(1, 2, 2), np.array([[[0, 3], [9, 10]]])), 2)
layer("max_unpool3d", lambda d: (d.any(1, 1, 1, 2), np.array([[[[0, 9]]]])), 2)
layer("unfold", _any((2, 2, 5, 6)), (2, 3), dilation=2, padding=1, stride=(1, 2))
layer("fold", _any((2, 12, 9)), (4, 5), (2, 3), padding=1, stride=2)
layer("pixel_shuffle", _any((2, 8, 2, 3)), 2)
layer("pixel_unshuffle", _any((2, 3, 4, 6)), 2)
layer("channel_shuffle", _any((2, 6, 2)), 3)
layer("pad", _any((2, 3, 4, 5)), (2, -1, -1, 2), "reflect")
layer("pad", _any((2, 3, 4)), (-3, 2), "replicate")
layer("pad", _any((3, 4, 4)), (-1, 2, 2, 3), "circular")
layer("pad", _any((3, 4)), (1, -2, -1, 1), value=2.0)
layer("interpolate", _any((2, 3, 7)), 5)
layer("interpolate", _any((2, 3, 7)), scale_factor=1.7, mode="nearest-exact")
layer("interpolate", _any((2, 3, 7)), 9, mode="linear")
layer("interpolate", _any((2, 3, 7)), 3, mode="area")
layer("interpolate", _any((1, 2, 5, 7)), scale_factor=(1.7, 0.6), mode="bilinear")
layer(
    "interpolate",
    _any((1, 2, 5, 4)),
    scale_factor=1.7,
    mode="bilinear",
    recompute_scale_factor=True,
)
layer("interpolate", _any((1, 2, 5, 4)), (7, 1), mode="bicubic", align_corners=True)
layer("interpolate", _any((1, 2, 2, 3, 4)), (3, 2, 5), mode="trilinear", align_corners=True)
layer("interpolate", _any((1, 2, 7, 9)), (3, 11), mode="bilinear", antialias=True)
layer("interpolate", _any((1, 2, 7, 9)), (3, 4), mode="bicubic", antialias=True)
layer(
    "interpolate",
    _any((1, 1, 6, 5)),
    scale_factor=0.4,
    mode="bilinear",
    antialias=True,
    align_corners=True,
)
layer("affine_grid", _any((2, 2, 3)), (2, 3, 4, 5), align_corners=False)
layer("affine_grid", _any((2, 3, 4)), (2, 3, 2, 2, 3), align_corners=True)


def _image_and_grid(image: tuple[int, ...], grid: tuple[int, ...], factor: float) -> Any:
    return lambda d: (d.any(*image), d.rng.uniform(-factor, factor, grid))


layer("grid_sample", _image_and_grid((2, 3, 4, 5), (2, 2, 3, 2), 1.2), align_corners=False)
layer(
    "grid_sample",
    _image_and_grid((1, 2, 4, 5), (1, 2, 3, 2), 2.0),
    "bicubic",
    "reflection",
    False,
)
layer(
    "grid_sample",
    _image_and_grid((1, 2, 3, 4, 2), (1, 2, 1, 3, 3), 2.0),
    "bilinear",
    "border",
    True,
)
layer(
    "grid_sample",
    _image_and_grid((1, 2, 4, 5), (1, 2, 3, 2), 2.0),
    "nearest",
    "reflection",
    True,
)

# --- normalisation -------------------------------------------------------------------------------


layer(
    "layer_norm",
    _any((3, 4, 5), (4, 5), (4, 5)),
    how=lambda f, x, w, b: f.layer_norm(x, (4, 5), w, b),
)
layer("rms_norm", _any((3, 4, 5), (4, 5)), how=lambda f, x, w: f.rms_norm(x, (4, 5), w))
layer("rms_norm", _any((3, 4)), (4,), eps=0.1)
layer("group_norm", _any((3, 4, 5), (4,), (4,)), how=lambda f, x, w, b: f.group_norm(x, 2, w, b))
layer("local_response_norm", _any((2, 5, 3)), 3, 0.5)
layer("normalize", _any((3, 4)), 3.0, axis=(0, 1))
layer("normalize", _any((3, 4)))


def _statistics(*shape: int) -> Callable[[Draw], Any]:
    return lambda d: (d.any(*shape), *(d.any(shape[1]) for _ in range(3)), d.positive(shape[1]))


# The new running statistics, which are constants, are in tests/nn/test_normalizing.py.
for _name, _flag in (("batch_norm", "training"), ("instance_norm", "use_input_stats")):
    for _on in (True, False):
        layer(
            _name,
            _statistics(3, 4, 5),
            label=f"{_flag}={_on}",
            how=lambda f, x, w, b, m, v, n=_name, given={_flag: _on}: getattr(f, n)(
                x, m, v, w, b, **given
            )[0],
            by_torch=lambda f, x, w, b, m, v, n=_name, given={_flag: _on}: getattr(f, n)(
                x, m.detach().clone(), v.detach().clone(), w, b, **given
            ),
        )

# --- linear maps, attention, tables --------------------------------------------------------------

layer("linear", _any((2, 3, 4), (5, 4), (5,)))
layer("bilinear", _any((2, 3, 4), (2, 3, 5), (6, 4, 5), (6,)))
layer("scaled_dot_product_attention", _any((2, 4, 3), (2, 5, 3), (2, 5, 2)), is_causal=True)
layer("scaled_dot_product_attention", _any((4, 3), (5, 3), (5, 2), (4, 5)), scale=0.7)
layer(
    "scaled_dot_product_attention",
    lambda d: (
        d.any(2, 4, 3),
        d.any(2, 5, 3),
        d.any(2, 5, 2),
        d.rng.permutation(20).reshape(4, 5) > 7,
    ),
    label="mask of booleans",
)
layer(
    "scaled_dot_product_attention",
    _any((1, 4, 2, 3), (1, 2, 5, 3), (1, 2, 5, 2)),
    enable_gqa=True,
)
_INDEX = np.array([[0, 3, 1, 2], [2, 2, 4, 1]])


def _index_and(*shapes: tuple[int, ...]) -> Callable[[Draw], Any]:
    return lambda d: (_INDEX, *(d.any(*shape) for shape in shapes))


layer("embedding", _index_and((5, 3)))
layer("embedding_bag", _index_and((5, 3)), mode="sum")
layer("embedding_bag", _index_and((5, 3)), mode="max")
layer(
    "embedding_bag",
    _index_and((5, 3), (2, 4)),
    label="weights",
    how=lambda f, i, w, p: f.embedding_bag(i, w, mode="sum", per_sample_weights=p),
)
layer(
    "embedding_bag",
    lambda d: (_INDEX.reshape(-1), d.any(5, 3)),
    label="offsets",
    how=lambda f, i, w: f.embedding_bag(i, w, np.array([0, 3, 3])),
    by_torch=lambda f, i, w: f.embedding_bag(i, w, i.new_tensor([0, 3, 3])),
)
layer("one_hot", lambda d: _INDEX, 6, flags={"differentiable": False})
layer("dropout", _any((3, 4)), 0.5, False)
for _name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"):
    layer(
        _name, _any((3, 4, 2)), 0.4, True, key=1, by_torch=lambda f, x, n=_name: _dropped(f, x, n)
    )
layer(
    "feature_alpha_dropout",
    _any((3, 4, 2)),
    0.4,
    True,
    key=1,
    by_torch=lambda f, x: _dropped(f, x, "feature_alpha_dropout"),
)


def _dropped(functional: Any, x: Any, name: str) -> Any:
    """PyTorch's functions draw other numbers: these are their formulas."""
    of_elements = name in ("dropout", "alpha_dropout")
    shape = tuple(x.shape) if of_elements else (*x.shape[:2], 1)
    kept = x.new_tensor(ag.random.uniform(ag.random.key(1), shape) >= 0.4)
    if "alpha" not in name:
        return x * kept / 0.6
    low = -1.7580993408473766
    a = (0.6 * (1 + 0.4 * low**2)) ** -0.5
    return a * (x * kept + low * (1 - kept)) - a * low * 0.4


# --- recurrent networks --------------------------------------------------------------------------


def _layers(gates: int, features: int, hidden: int, ways: int, layers: int) -> list[Any]:
    shapes = []
    for layer in range(layers):
        for _ in range(ways):
            rows, columns = gates * hidden, ways * hidden if layer else features
            shapes += [(rows, columns), (rows, hidden), (rows,), (rows,)]
    return shapes


def _grouped(arrays: Any) -> list[Any]:
    return [arrays[i : i + 4] for i in range(0, len(arrays), 4)]


def _by_module(kind: str, bidirectional: bool, layers: int) -> Callable[..., Any]:
    def call(functional: Any, x: Any, state: Any, *weights: Any) -> Any:
        import torch

        options = (True, layers, 0.0, False, bidirectional, False)
        if kind == "lstm":
            out, h, c = torch.lstm(x, (state, state), weights, *options)
            return out, h, c
        return getattr(torch, {"rnn": "rnn_tanh"}.get(kind, kind))(x, state, weights, *options)

    return call


def _whole(name: str, bidirectional: bool) -> Callable[..., Any]:
    def call(functional: Any, x: Any, state: Any, *weights: Any) -> Any:
        given = (state, state) if name == "lstm" else state
        out, last = getattr(functional, name)(
            x, _grouped(weights), given, bidirectional=bidirectional
        )
        return (out, *last) if name == "lstm" else (out, last)

    return call


for _name, _gates, _ways, _depth in (("rnn", 1, 2, 1), ("gru", 3, 1, 2), ("lstm", 4, 1, 1)):
    _shapes = [(2, 1, 2), (_ways * _depth, 1, 2), *_layers(_gates, 2, 2, _ways, _depth)]
    layer(
        _name,
        lambda d, shapes=_shapes: tuple(d.unit(*shape) for shape in shapes),
        label=f"{_ways} ways, {_depth} layers",
        how=_whole(_name, _ways == 2),
        by_torch=_by_module(_name, _ways == 2, _depth),
    )
    layer(
        f"{_name}_cell",
        lambda d, g=_gates: tuple(
            d.unit(*shape) for shape in [(2, 3), (2, 2), *_layers(g, 3, 2, 1, 1)]
        ),
        how=lambda f, x, h, *w, n=_name: getattr(f, f"{n}_cell")(
            x, (h, h) if n == "lstm" else h, w
        ),
        by_torch=lambda f, x, h, *w, n=_name: _cell_by_torch(n, x, h, w),
    )


def _cell_by_torch(name: str, x: Any, state: Any, weights: Any) -> Any:
    import torch

    given = (state, state) if name == "lstm" else state
    return getattr(torch, f"{name.replace('rnn', 'rnn_tanh')}_cell")(x, given, *weights)


# --- losses --------------------------------------------------------------------------------------

_TARGET = np.array([2, 1, 0])
_BINARY = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
_SIGNS = 2 * _BINARY - 1


def _and(target: Any, *shapes: tuple[int, ...]) -> Callable[[Draw], Any]:
    """Random arrays, with a target after the first one."""
    return lambda d: (d.any(*shapes[0]), target, *(d.any(*shape) for shape in shapes[1:]))


def _sharing(d: Draw) -> Any:
    shares = d.positive(3, 4)
    return d.any(3, 4), shares / shares.sum(axis=1, keepdims=True), d.positive(4)


layer("cross_entropy", _sharing, label="shares", label_smoothing=0.2)
for _given in ({"label_smoothing": 0.2}, {"reduction": "sum"}):
    layer(
        "cross_entropy",
        lambda d: (d.any(3, 4), _TARGET, d.positive(4)),
        ignore_index=1,
        **_given,
        by_torch=lambda f, x, t, w, given=_given: f.cross_entropy(
            x, t, w.detach(), ignore_index=1, **given
        ),
    )
layer("cross_entropy", _and(_INDEX, (2, 5, 4)), label_smoothing=0.1, reduction="none")
layer("nll_loss", _and(np.array(3), (4,)), label="one sample")
layer("nll_loss", _and(_TARGET, (3, 4)), reduction="sum")
layer(
    "multi_margin_loss",
    lambda d: (d.distinct(3, 4) * 0.3, _TARGET),
    2,
    0.7,
)
layer("multi_margin_loss", _and(np.array(0), ()), label="one number")
layer("multilabel_margin_loss", _and(np.array(0), ()), label="one number")
layer(
    "multilabel_margin_loss",
    lambda d: (d.distinct(2, 4) * 0.3, np.array([[3, 0, -1, 1], [-1, 0, 1, 2]])),
)
layer("multilabel_soft_margin_loss", _and(_BINARY, (3, 4)))
layer("soft_margin_loss", _and(_SIGNS, (3, 4)))
layer("hinge_embedding_loss", _and(_SIGNS, (3, 4)), 0.1)
layer(
    "margin_ranking_loss",
    lambda d: (d.any(3, 4), 2.5 + d.any(3, 4), _SIGNS),
    0.3,
    reduction="sum",
)
layer(
    "cosine_embedding_loss",
    lambda d: (d.positive(3, 4), d.positive(3, 4), np.array([1, -1, 1])),
    0.1,
)
layer(
    "triplet_margin_loss",
    lambda d: tuple(d.distinct(3, 4) + k for k in range(3)),
    2.0,
    3,
    swap=True,
)
layer(
    "triplet_margin_with_distance_loss",
    _any((3, 4), (3, 4), (3, 4)),
    label="cosine",
    how=lambda f, a, p, n: f.triplet_margin_with_distance_loss(
        a, p, n, distance_function=f.cosine_similarity, margin=3.0
    ),
)
layer("gaussian_nll_loss", lambda d: (d.any(3, 4), d.any(3, 4), d.positive(3)), full=True)
layer("gaussian_nll_loss", _any((3, 4), (3, 4)), 0.3)
layer("poisson_nll_loss", _and(3 * _BINARY, (3, 4)), full=True)
layer("poisson_nll_loss", lambda d: (d.positive(3, 4), d.any(3, 4)), log_input=False)
layer("mse_loss", _any((3, 4), (3, 4)))
layer(
    "mse_loss",
    lambda d: (d.any(3, 4), d.any(3, 4), d.positive(3, 4)),
    label="weight",
    how=lambda f, x, y, w: f.mse_loss(x, y, weight=w),
)
layer("l1_loss", lambda d: (d.any(3, 4), 4 * d.any(3, 4)), reduction="sum")
layer("huber_loss", lambda d: (d.any(3, 4), 4 * d.any(3, 4)), delta=0.3)
layer("smooth_l1_loss", lambda d: (d.any(3, 4), 4 * d.any(3, 4)), beta=0.2)
layer("kl_div", lambda d: (d.any(3, 4), d.positive(3, 4)), reduction="batchmean")
layer("kl_div", _any((3, 4), (3, 4)), reduction="sum", log_target=True)
layer("binary_cross_entropy", lambda d: (d.rng.uniform(0.1, 0.9, (3, 4)), _BINARY * 1.0))
layer(
    "binary_cross_entropy_with_logits",
    lambda d: (d.any(3, 4), _BINARY * 1.0, d.positive(4)),
    label="weight",
    by_torch=lambda f, x, t, w: f.binary_cross_entropy_with_logits(x, t, w.detach()),
)
layer("cosine_similarity", _any((1, 2, 3), (2, 1, 3)), axis=-2)
layer("pairwise_distance", _any((3, 4), (3, 4)), 3, keepdims=True)
_LABELS = np.array([[1, 2], [3, 3]])
layer(
    "ctc_loss",
    lambda d: d.any(4, 2, 4),
    how=lambda f, x: f.ctc_loss(f.log_softmax(x, 2), _LABELS, (3, 4), (2, 2)),
    by_torch=lambda f, x: f.ctc_loss(
        f.log_softmax(x, 2), x.new_tensor(_LABELS).long(), (3, 4), (2, 2)
    ),
)
layer(
    "ctc_loss",
    lambda d: d.any(3, 3),
    label="one sample",
    how=lambda f, x: f.ctc_loss(f.log_softmax(x, 1), _LABELS[0], (3,), (2,), reduction="sum"),
    by_torch=lambda f, x: f.ctc_loss(
        f.log_softmax(x, 1), x.new_tensor(_LABELS[0]).long(), (3,), (2,), reduction="sum"
    ),
)
