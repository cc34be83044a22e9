"""What PyTorch asks of its machine and lets be set: here, there is a CPU and nothing to choose."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .dtypes import check_device, device
from .printing import OPTIONS, PROFILES

__all__ = [
    "accelerator", "are_deterministic_algorithms_enabled", "backends", "compiler", "distributed",
    "get_default_device", "get_float32_matmul_precision", "get_num_interop_threads",
    "is_autocast_enabled", "jit", "mps", "set_default_device", "set_float32_matmul_precision",
    "set_num_interop_threads", "set_printoptions", "use_deterministic_algorithms", "version", "xpu",
]  # fmt: skip


def _no(*args: Any) -> bool:
    return False


def _absent(name: str, **more: Any) -> SimpleNamespace:
    """A device, or a library, that is not there. What else programs set may be set."""
    return SimpleNamespace(
        __name__=f"torch.{name}",
        is_available=_no,
        is_built=_no,
        device_count=lambda: 0,
        manual_seed=lambda seed: None,
        **more,
    )


mps, xpu = _absent("mps"), _absent("xpu")
accelerator = _absent("accelerator", current_accelerator=lambda check_available=False: None)
_CUDNN = {"enabled": False, "benchmark": False, "deterministic": False, "allow_tf32": False}
backends = SimpleNamespace(
    __name__="torch.backends",
    cuda=_absent("backends.cuda", matmul=SimpleNamespace(allow_tf32=False)),
    cudnn=_absent("backends.cudnn", version=lambda: None, **_CUDNN),
    mkldnn=_absent("backends.mkldnn", enabled=False),
    **{name: _absent(f"backends.{name}") for name in ("mkl", "mps", "openmp")},
)
version = SimpleNamespace(__name__="torch.version", cuda=None, hip=None, git_version="Unknown")


def _unchanged(function: Any = None, *args: Any, **keywords: Any) -> Any:
    """The function itself: what is compiled in PyTorch runs as it is written here."""
    return _unchanged if function is None else function


jit = SimpleNamespace(
    __name__="torch.jit",
    is_scripting=_no,
    is_tracing=_no,
    **dict.fromkeys(("export", "ignore", "interface", "script", "trace", "unused"), _unchanged),
)
compiler = SimpleNamespace(
    __name__="torch.compiler",
    is_compiling=_no,
    reset=lambda: None,
    **dict.fromkeys(("allow_in_graph", "disable"), _unchanged),
)
distributed = SimpleNamespace(
    __name__="torch.distributed",
    is_available=_no,
    is_initialized=_no,
    get_rank=lambda group=None: 0,
)
is_autocast_enabled = _no
_chosen: dict[str, Any] = {"deterministic": False, "precision": "highest", "interop": 1}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Every algorithm here gives the same numbers again, with or without this."""
    _chosen["deterministic"] = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """What was set."""
    return bool(_chosen["deterministic"])


def set_float32_matmul_precision(precision: str) -> None:
    """Products of matrices have full precision, whatever is set."""
    if precision not in ("highest", "high", "medium"):
        raise ValueError(f'precision must be "highest", "high" or "medium", not {precision!r}')
    _chosen["precision"] = precision


def get_float32_matmul_precision() -> str:
    """What was set."""
    return str(_chosen["precision"])


def set_num_interop_threads(number: int) -> None:
    """Nothing runs beside something else here, whatever is set."""
    _chosen["interop"] = int(number)


def get_num_interop_threads() -> int:
    """What was set."""
    return int(_chosen["interop"])


def set_default_device(device: Any) -> None:
    """Tensors are made on the CPU: another device raises."""
    check_device(device)


def get_default_device() -> device:
    """The CPU."""
    return device("cpu")


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed."""
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}, not {profile!r}")
    given = dict(
        zip(PROFILES["default"], (precision, threshold, edgeitems, linewidth), strict=True)
    )
    OPTIONS.update({} if profile is None else PROFILES[profile])
    OPTIONS.update({name: value for name, value in given.items() if value is not None})
    OPTIONS["sci_mode"] = sci_mode
