"""Functions that can be inverted, of which `torch.distributions` makes laws of other laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .creation import as_tensor
from .nn.functional import softplus

__all__ = ["AffineTransform", "ExpTransform", "SigmoidTransform", "TanhTransform", "Transform"]


class Transform:
    """A function that can be inverted. With `cache_size=1`, its last result is inverted exactly."""

    _call: Callable[..., Any]
    _invert: Callable[..., Any]
    _log_slope: Callable[..., Any]  # of the argument, and the result

    def __init__(self, cache_size: int = 0) -> None:
        self._caches = bool(cache_size)
        self._last: tuple[Any, Any] = (None, None)

    def __call__(self, x: Any) -> Any:
        """The results for some numbers."""
        y = self._call(x)
        self._last = (x, y) if self._caches else (None, None)
        return y

    def inv(self, y: Any) -> Any:
        """The numbers that have some results."""
        return self._last[0] if y is self._last[1] else self._invert(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of how much the function stretches, at each number."""
        return self._log_slope(x, y)


def _transform(name: str, formula: str, call: Any, invert: Any, log_slope: Any) -> Any:
    steps = {"_call": call, "_invert": invert, "_log_slope": log_slope}
    members: dict[str, Any] = {key: staticmethod(step) for key, step in steps.items()}
    return type(name, (Transform,), {**members, "__doc__": formula, "__module__": __name__})


ExpTransform = _transform(
    "ExpTransform", "y = exp(x).", lambda x: x.exp(), lambda y: y.log(), lambda x, y: x
)
TanhTransform = _transform(
    "TanhTransform",
    "y = tanh(x).",
    lambda x: x.tanh(),
    lambda y: y.atanh(),
    lambda x, y: 2 * (math.log(2.0) - x - softplus(-2 * x)),
)
SigmoidTransform = _transform(
    "SigmoidTransform",
    "y = 1 / (1 + exp(-x)).",
    lambda x: x.sigmoid(),
    lambda y: y.log() - (-y).log1p(),
    lambda x, y: -softplus(-x) - softplus(x),
)


class AffineTransform(Transform):
    """y = loc + scale * x."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale = loc, scale
        self._call = lambda x: loc + scale * x
        self._invert = lambda y: (y - loc) / scale
        self._log_slope = lambda x, y: as_tensor(scale, dtype=x.dtype).abs().log() + 0 * x
