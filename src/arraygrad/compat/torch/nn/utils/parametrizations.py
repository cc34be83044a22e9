"""`torch.nn.utils.parametrizations`: weights by norm and direction, and of a largest stretch."""

from __future__ import annotations

from typing import Any

from ...autograd import no_grad
from ...functions.products import mv
from ...handles import Tensor
from ...random import randn
from ..functional import normalize
from ..module import Module
from .parametrize import register_parametrization

__all__ = ["spectral_norm", "weight_norm"]


def norms(v: Tensor, dim: int | None) -> Tensor:
    """The norms of the slices of a weight along an axis, or of all of it."""
    axes = [a for a in range(v.ndim) if dim is None or a != dim % v.ndim]
    return v.norm(2, axes, keepdim=True) if dim is not None else v.norm()  # type: ignore[no-any-return]


class _WeightNorm(Module):
    """A weight from its norms and its direction."""

    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, g: Tensor, v: Tensor) -> Any:
        """The weight."""
        return v * (g / norms(v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The norms and the direction of a weight."""
        return norms(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Have a weight computed from its norms, `original0`, and its direction, `original1`."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    """A weight over the largest factor by which it stretches vectors, found by iteration."""

    def __init__(self, weight: Tensor, count: int, eps: float, dim: int) -> None:
        super().__init__()
        self.n_power_iterations, self.eps, self.dim = count, eps, dim
        matrix = self._matrix(weight.detach())
        for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
            drawn = normalize(randn(size, dtype=weight.dtype), dim=0, eps=eps)
            self.register_buffer(name, drawn)
        self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Any:
        return weight.movedim(self.dim, 0).flatten(1) if weight.ndim > 1 else weight.reshape(1, -1)

    def _iterate(self, matrix: Tensor, count: int) -> None:
        with no_grad():
            for _ in range(count):
                self._u.copy_(normalize(mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Any:
        """The weight over its largest stretch."""
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        return weight / (self._u.clone() * mv(matrix, self._v.clone())).sum()

    def right_inverse(self, value: Tensor) -> Tensor:
        """The weight itself."""
        return value


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Have a weight divided by the largest factor by which it stretches vectors."""
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    made = _SpectralNorm(getattr(module, name), n_power_iterations, eps, dim)
    return register_parametrization(module, name, made)
