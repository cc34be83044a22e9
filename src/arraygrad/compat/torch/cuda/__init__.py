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
    """False, as every such question."""
    return False


def device_count() -> int:
    """Zero, as the memory that is allocated."""
    return 0


def manual_seed(seed: int | None = None) -> None:
    """Nothing: there are no generators on GPUs, and no memory of theirs."""


def synchronize(*args: Any, **keywords: Any) -> Any:
    """Raise: there is no GPU."""
    raise AssertionError("Torch not compiled with CUDA enabled: here, tensors are on the CPU")


is_initialized = is_bf16_supported = is_available
max_memory_allocated = memory_allocated = device_count
manual_seed_all = empty_cache = manual_seed
init = current_device = get_device_name = synchronize
