"""Adadelta, NAdam and RAdam: other ways to scale steps by running means."""

from __future__ import annotations

import math
from typing import Any

from ..creation import zeros_like
from ..handles import Tensor
from .optimizer import Optimizer, check_positive


class Adadelta(Optimizer):
    """Steps scaled by running means of the squares of gradients and of steps."""

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        check_positive(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay)
        options = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, options | {"maximize": maximize})

    def _update(self, p: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        g = self._decayed(p, g, group)
        if not state:
            state["step"] = 0
            state["square_avg"], state["acc_delta"] = zeros_like(p), zeros_like(p)
        rho, eps = group["rho"], group["eps"]
        state["step"] += 1
        squares = state["square_avg"].mul_(rho).add_((1 - rho) * g * g)
        step = (state["acc_delta"] + eps).sqrt() / (squares + eps).sqrt() * g
        state["acc_delta"].mul_(rho).add_((1 - rho) * step * step)
        p.sub_(group["lr"] * step)


class _WithMoments(Optimizer):
    """An optimiser with running means of gradients and of their squares."""

    def _moments(
        self, p: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The gradient with weight decay, and both means; decoupled decay changes `p` itself."""
        if group["decoupled_weight_decay"]:
            g = -g if group["maximize"] else g
            p.mul_(1 - group["lr"] * group["weight_decay"])
        else:
            g = self._decayed(p, g, group)
        if not state:
            state["step"], state["mu_product"] = 0, 1.0
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)
        first, second = group["betas"]
        state["step"] += 1
        mean = state["exp_avg"].mul_(first).add_((1 - first) * g)
        squares = state["exp_avg_sq"].mul_(second).add_((1 - second) * g * g)
        return g, mean, squares


class NAdam(_WithMoments):
    """Adam with Nesterov's momentum."""

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check_positive(lr=lr, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        more = {"momentum_decay": momentum_decay, "maximize": maximize}
        decay = {"decoupled_weight_decay": decoupled_weight_decay}
        super().__init__(params, options | more | decay)

    def _update(self, p: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        g, mean, squares = self._moments(p, g, group, state)
        (first, second), step, lr = group["betas"], state["step"], group["lr"]
        now, following = (
            first * (1 - 0.5 * 0.96 ** (k * group["momentum_decay"])) for k in (step, step + 1)
        )
        state["mu_product"] *= now
        size = (squares / (1 - second**step)).sqrt() + group["eps"]
        p.sub_(lr * (1 - now) / (1 - state["mu_product"]) * g / size)
        p.sub_(lr * following / (1 - state["mu_product"] * following) * mean / size)


class RAdam(_WithMoments):
    """Adam that takes plain steps while the mean of squares is not yet reliable."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check_positive(lr=lr, eps=eps, weight_decay=weight_decay)
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        more = {"decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize}
        super().__init__(params, options | more)

    def _update(self, p: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        _, mean, squares = self._moments(p, g, group, state)
        (first, second), step = group["betas"], state["step"]
        mean = mean / (1 - first**step)
        limit = 2 / (1 - second) - 1
        length = limit - 2 * step * second**step / (1 - second**step)
        if length > 5:
            share = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
            size = squares.sqrt() + group["eps"]
            mean = mean * (math.sqrt(share * (1 - second**step)) / size)
        p.sub_(group["lr"] * mean)
