"""`torch.nn.modules`, and its parts, by which programs name the classes of layers: all are `nn`."""

from __future__ import annotations

import sys
from typing import Any

__all__: list[str] = []  # its names are those of `nn`
PARTS = (
    "activation", "adaptive", "batchnorm", "channelshuffle", "container", "conv", "distance",
    "dropout", "flatten", "fold", "instancenorm", "lazy", "linear", "loss", "module",
    "normalization", "padding", "pixelshuffle", "pooling", "rnn", "sparse", "transformer",
    "upsampling",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    package = sys.modules[__name__.rpartition(".")[0]]
    return package if name in PARTS else getattr(package, name)
