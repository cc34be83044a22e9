"""Adam, and Adam with weight decay of its own."""

from __future__ import annotations

import math
from typing import Any

from ..creation import zeros_like
from ..functions.elementwise import maximum
from ..handles import Tensor
from .optimizer import Optimizer, check_positive


class Adam(Optimizer):
    """Steps along running means of the gradient, scaled by those of its square."""

    _apart = False  # whether weight decay is apart from the gradient

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check_positive(lr=lr, eps=eps, weight_decay=weight_decay)
        for i, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"betas[{i}] must be at least 0 and below 1, but is {beta}")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
            },
        )

    def _update(self, p: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if group["maximize"]:
            g = -g
        decay = group["weight_decay"]
        if decay and self._apart:
            p.mul_(1 - group["lr"] * decay)
        elif decay:
            g = g + decay * p.detach()
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_like(p)
        first, second = group["betas"]
        state["step"] += 1
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.mul_(first).add_((1 - first) * g)
        square.mul_(second).add_((1 - second) * g * g)
        if group["amsgrad"]:
            square = state["max_exp_avg_sq"] = maximum(state["max_exp_avg_sq"], square)
        scale = square.sqrt() / math.sqrt(1 - second ** state["step"]) + group["eps"]
        p.sub_(group["lr"] / (1 - first ** state["step"]) * mean / scale)


class AdamW(Adam):
    """Adam, with weight decay apart from the gradient."""

    _apart = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
