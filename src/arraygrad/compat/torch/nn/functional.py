"""`torch.nn.functional`: a table over `arraygrad.nn`, and what only PyTorch has or means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import nn
from ....arrays.creation import asarray
from ....arrays.dual import Dual
from ....arrays.tensor import Tensor as Native
from ..autograd import no_grad
from ..functions import elementwise, products, reductions
from ..handles import Tensor, unwrap, wrap
from ..publish import function
from .attention import multi_head_attention_forward, scaled_dot_product_attention
from .forms import activation, in_place, loss, plain

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "affine_grid", "alpha_dropout", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "celu_", "channel_shuffle", "conv1d", "conv2d",
    "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_embedding_loss",
    "cosine_similarity", "cross_entropy", "ctc_loss", "dropout", "dropout1d", "dropout2d",
    "dropout3d", "elu", "elu_", "embedding", "embedding_bag", "feature_alpha_dropout", "fold",
    "gaussian_nll_loss", "gelu", "glu", "grid_sample", "group_norm", "gumbel_softmax", "hardshrink",
    "hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "hinge_embedding_loss", "huber_loss",
    "instance_norm", "interpolate", "kl_div", "l1_loss", "layer_norm", "leaky_relu", "leaky_relu_",
    "linear", "local_response_norm", "log_softmax", "logsigmoid", "lp_pool1d", "lp_pool2d",
    "lp_pool3d", "margin_ranking_loss", "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d",
    "max_unpool2d", "max_unpool3d", "mish", "mse_loss", "multi_head_attention_forward",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss",
    "normalize", "one_hot", "pad", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle",
    "poisson_nll_loss", "prelu", "relu", "relu6", "relu_", "rms_norm", "rrelu", "rrelu_",
    "scaled_dot_product_attention", "selu", "selu_", "sigmoid", "silu", "smooth_l1_loss",
    "soft_margin_loss", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh",
    "tanhshrink", "threshold", "threshold_", "triplet_margin_loss",
    "triplet_margin_with_distance_loss", "unfold", "upsample", "upsample_bilinear",
    "upsample_nearest",
]  # fmt: skip


# --- activations ---

relu, relu6, hardtanh, threshold = map(activation, ("relu", "relu6", "hardtanh", "threshold"))
leaky_relu, rrelu, elu, selu, celu = map(activation, ("leaky_relu", "rrelu", "elu", "selu", "celu"))
silu, mish, hardswish, hardsigmoid = map(activation, ("silu", "mish", "hardswish", "hardsigmoid"))
relu_, hardtanh_, threshold_ = map(in_place, ("relu", "hardtanh", "threshold"))
leaky_relu_, rrelu_ = map(in_place, ("leaky_relu", "rrelu"))
elu_, selu_, celu_ = map(in_place, ("elu", "selu", "celu"))
gelu, softplus, logsigmoid = map(plain, ("gelu", "softplus", "logsigmoid"))
softshrink, glu = map(plain, ("softshrink", "glu"))
softsign, tanhshrink = (plain(name, dtypes="floating") for name in ("softsign", "tanhshrink"))
prelu = plain("prelu", method=True, dtypes="same")
hardshrink = plain("hardshrink", method=True)
sigmoid, tanh, pdist = elementwise.sigmoid, elementwise.tanh, products.pdist


def _along(softened: Any, sign: int = 1) -> Any:
    def made(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        usual = 0 if input.ndim in (0, 1, 3) else 1
        return softened(input if sign > 0 else -input, usual if dim is None else dim, dtype)

    return made


softmax, softmin = _along(reductions.softmax), _along(reductions.softmax, -1)
log_softmax = _along(reductions.log_softmax)
softmax.__doc__ = "Exponentials that sum up to one along an axis."
softmin.__doc__ = "`softmax` of minus the elements."
log_softmax.__doc__ = "The logarithm of softmax."


def gumbel_softmax(
    logits: Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A random class by its probability, as a smooth function of the logits.

    `eps` has no effect; PyTorch has it for old programs.
    """
    return _gumbel_softmax(logits, tau, hard, dim)


_gumbel_softmax = plain("gumbel_softmax")

# --- filters and windows ---

conv1d, conv2d, conv3d = (plain(f"conv{n}d", dtypes="same") for n in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    plain(f"conv_transpose{n}d", dtypes="same") for n in (1, 2, 3)
)
max_pool1d, max_pool2d, max_pool3d = (plain(f"max_pool{n}d") for n in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (plain(f"avg_pool{n}d") for n in (1, 2, 3))
lp_pool1d, lp_pool2d, lp_pool3d = (plain(f"lp_pool{n}d") for n in (1, 2, 3))
max_unpool1d, max_unpool2d, max_unpool3d = (plain(f"max_unpool{n}d") for n in (1, 2, 3))
adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (
    plain(f"adaptive_avg_pool{n}d") for n in (1, 2, 3)
)
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (
    plain(f"adaptive_max_pool{n}d") for n in (1, 2, 3)
)
fold, unfold, pixel_shuffle = map(plain, ("fold", "unfold", "pixel_shuffle"))
pixel_unshuffle, channel_shuffle = map(plain, ("pixel_unshuffle", "channel_shuffle"))
interpolate, grid_sample, affine_grid = map(plain, ("interpolate", "grid_sample", "affine_grid"))
_pad = plain("pad")


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """More elements at the ends, or fewer; `pad` starts with the last axis."""
    if mode != "constant" and not (len(pad) <= 6 and input.ndim - len(pad) // 2 in (1, 2)):
        raise NotImplementedError(
            f'mode "{mode}" pads the last 1, 2 or 3 axes after one or two others: {len(pad)} '
            f"numbers do not fit an input of {input.ndim} axes"
        )
    return _pad(input, pad, mode, value)


def _older(name: str, usual: str, align_corners: Any = None) -> Any:
    def made(
        input: Any,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = usual,
        align_corners: Any = align_corners,
    ) -> Any:
        return interpolate(input, size, scale_factor, mode, align_corners)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = "`interpolate`, by an older name."
    return made


upsample, upsample_nearest = _older("upsample", "nearest"), _older("upsample_nearest", "nearest")
upsample_bilinear = _older("upsample_bilinear", "bilinear", True)

# --- normalisation, with running statistics that PyTorch writes ---

layer_norm, rms_norm, group_norm = map(plain, ("layer_norm", "rms_norm", "group_norm"))
normalize, local_response_norm = map(plain, ("normalize", "local_response_norm"))


def _constant(value: Any, level: float) -> Any:
    """What the value of a transform is below it; None where it differs over a batch."""
    while getattr(value, "level", -1) > level:
        if not isinstance(value, Dual | Native):
            return None
        value = value.primal if isinstance(value, Dual) else value._array
    return asarray(value)


def _following(name: str) -> Any:
    published = function(getattr(nn, name), method=False)

    def made(
        input: Tensor, running_mean: Any = None, running_var: Any = None, *args: Any, **options: Any
    ) -> Any:
        found: Any = published(input, running_mean, running_var, *args, **options)
        out, *new = found
        with no_grad():
            for running, value in zip((running_mean, running_var), new, strict=True):
                if running is None or value._t is running._t:
                    continue
                kept = _constant(value._t, running._t.level)
                if kept is None:
                    raise RuntimeError(
                        f"vmap: {name} attempted to write running statistics that differ over the "
                        "batch: call eval(), or use track_running_stats=False, or arraygrad.nn, "
                        "which returns them"
                    )
                running.copy_(wrap(kept))
        return out

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"`arraygrad.nn.{name}`, which writes the running statistics."
    return made


batch_norm, instance_norm = map(_following, ("batch_norm", "instance_norm"))

# --- linear maps, dropout, tables ---

linear, bilinear = (plain(name, dtypes="same") for name in ("linear", "bilinear"))
one_hot = plain("one_hot")

dropout, dropout1d, dropout2d, dropout3d = (
    activation(name) for name in ("dropout", "dropout1d", "dropout2d", "dropout3d")
)
alpha_dropout, feature_alpha_dropout = map(activation, ("alpha_dropout", "feature_alpha_dropout"))


def _read(
    weight: Tensor,
    input: Tensor,
    max_norm: float | None,
    norm_type: float,
    sparse: bool,
    padding_idx: int | None,
) -> int | None:
    """The row for padding. Rows that are read and longer than a norm are scaled, in place."""
    if sparse:
        raise NotImplementedError("sparse=True is not supported: gradients are dense")
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return check_padding(padding_idx, weight.shape[0])


@no_grad()
def _shorten(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    used = input.reshape(-1).unique()
    rows = weight.detach()[used]
    size = rows.norm(norm_type, dim=1, keepdim=True)
    weight[used] = rows * (max_norm / (size + 1e-7)).where(size > max_norm, 1.0)


_embedding, _embedding_bag = map(plain, ("embedding", "embedding_bag"))


def check_padding(padding_idx: int | None, rows: int) -> int | None:
    """The row for padding, counted from the front."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx}")
    return padding_idx % rows


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of a matrix that an index names."""
    row = _read(weight, input, max_norm, norm_type, sparse, padding_idx)
    return _embedding(input, weight, row, scale_grad_by_freq)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The sum, mean or maximum of the rows that each bag of indices names."""
    row = _read(weight, input, max_norm, norm_type, sparse, padding_idx)
    options = (scale_grad_by_freq, mode, per_sample_weights, include_last_offset, row)
    return _embedding_bag(input, weight, offsets, *options)


# --- losses and distances ---

mse_loss, l1_loss, smooth_l1_loss = map(loss, ("mse_loss", "l1_loss", "smooth_l1_loss"))
kl_div, binary_cross_entropy = map(loss, ("kl_div", "binary_cross_entropy"))
binary_cross_entropy_with_logits = loss("binary_cross_entropy_with_logits")
poisson_nll_loss = loss("poisson_nll_loss", between="eps")
nll_loss, cross_entropy = (
    loss(name, between="ignore_index") for name in ("nll_loss", "cross_entropy")
)
multi_margin_loss, multilabel_margin_loss = map(
    loss, ("multi_margin_loss", "multilabel_margin_loss")
)
multilabel_soft_margin_loss = loss("multilabel_soft_margin_loss")
margin_ranking_loss, hinge_embedding_loss = map(
    loss, ("margin_ranking_loss", "hinge_embedding_loss")
)
soft_margin_loss, cosine_embedding_loss = map(loss, ("soft_margin_loss", "cosine_embedding_loss"))
triplet_margin_loss = loss("triplet_margin_loss")
huber_loss, gaussian_nll_loss = (
    plain(name, dtypes="floating") for name in ("huber_loss", "gaussian_nll_loss")
)
ctc_loss = plain("ctc_loss")
cosine_similarity, pairwise_distance = (
    plain(name, dtypes="floating") for name in ("cosine_similarity", "pairwise_distance")
)
_triplets = plain("triplet_margin_with_distance_loss")


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """`triplet_margin_loss` with a distance of one's own."""

    def distance(x: Any, y: Any) -> Any:
        return unwrap((distance_function or pairwise_distance)(wrap(x), wrap(y)))

    options = {"margin": margin, "swap": swap, "reduction": reduction}
    return _triplets(anchor, positive, negative, distance_function=distance, **options)
