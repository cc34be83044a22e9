"""`torch.cuda`: there is no GPU here, and seeds for it may be set."""

from __future__ import annotations

from typing import Any

from . import amp

__all__ = [
    "amp", "current_device", "device_count", "empty_cache", "get_device_name", "init",
    "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "memory_allocated", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """False."""
    return False


is_initialized = is_bf16_supported = is_available


def device_count() -> int:
    """Zero."""
    return 0


max_memory_allocated = memory_allocated = device_count


def manual_seed(seed: int) -> None:
    """Nothing: there are no generators on GPUs."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Nothing: there is no memory of GPUs."""


def _absent(*args: Any, **keywords: Any) -> Any:
    """Raise: there is no GPU."""
    raise AssertionError("Torch not compiled with CUDA enabled: here, tensors are on the CPU")


init = synchronize = current_device = get_device_name = _absent
