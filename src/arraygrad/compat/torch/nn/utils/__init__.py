"""`torch.nn.utils`: gradients clipped, parameters as one vector, weights by norm and direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ....optimisers import clip_grad_value_, clipping
from ...functions.joining import cat
from ...handles import Tensor, unwrap, wrap
from ..parameter import Parameter
from . import parametrizations, parametrize, rnn
from .parametrizations import norms as _norms
from .parametrizations import spectral_norm

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "parametrizations",
    "parametrize", "remove_spectral_norm", "remove_weight_norm", "rnn", "spectral_norm",
    "vector_to_parameters", "weight_norm",
]  # fmt: skip


clip_grad_norm_: Callable[..., Tensor] = clipping(wrap, unwrap)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters as one vector."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Take over parameters from one vector."""
    start = 0
    for p in parameters:
        p.data = vec[start : start + p.numel()].view_as(p).data
        start += p.numel()


# --- weights as norms and directions ---


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Have a weight computed from its norms, `<name>_g`, and its direction, `<name>_v`."""
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(_norms(weight, dim).detach()))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))

    def compute(module: Any, _: Any = None) -> None:
        g, v = getattr(module, f"{name}_g"), getattr(module, f"{name}_v")
        module.__dict__[name] = v * (g / _norms(v, dim))

    compute(module)
    module.__dict__.setdefault("_weight_norms", {})[name] = module.register_forward_pre_hook(
        compute
    )
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make a weight one parameter again."""
    hook = module.__dict__.get("_weight_norms", {}).pop(name, None)
    if hook is None:
        raise ValueError(f"weight_norm of {name!r} not found in {module}")
    hook.remove()
    weight = module.__dict__.pop(name).detach()
    del module._parameters[f"{name}_g"], module._parameters[f"{name}_v"]
    module.register_parameter(name, Parameter(weight))
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make a weight one parameter again."""
    return parametrize.remove_parametrizations(module, name)
