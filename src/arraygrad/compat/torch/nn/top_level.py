"""The functions of `nn.functional` that PyTorch has at its top level, too."""

from .functional import *

__all__ = [  # noqa: F405
    "adaptive_avg_pool1d", "adaptive_max_pool1d", "alpha_dropout", "avg_pool1d", "batch_norm",
    "bilinear", "binary_cross_entropy_with_logits", "celu", "channel_shuffle", "conv1d", "conv2d",
    "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_embedding_loss",
    "cosine_similarity", "dropout", "embedding", "feature_alpha_dropout", "group_norm",
    "hardshrink", "hinge_embedding_loss", "kl_div", "layer_norm", "margin_ranking_loss",
    "max_pool1d", "max_pool2d", "max_pool3d", "pairwise_distance", "pixel_shuffle",
    "pixel_unshuffle", "poisson_nll_loss", "prelu", "rms_norm", "rrelu", "selu",
    "triplet_margin_loss",
]  # fmt: skip
