"""RMSprop, Adagrad and Adamax: steps scaled by what gradients were before."""

from __future__ import annotations

from typing import Any

from ..creation import full_like, zeros_like
from ..functions.elementwise import maximum
from ..handles import Tensor
from .optimizer import Optimizer, check_positive


class RMSprop(Optimizer):
    """Steps scaled by a running mean of the squares of gradients."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check_positive(lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum)
        options = {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay}
        more = {"momentum": momentum, "centered": centered, "maximize": maximize}
        super().__init__(params, options | more)

    def _update(self, p: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        g = self._decayed(p, g, group)
        if not state:
            state["step"], state["square_avg"] = 0, zeros_like(p)
            if group["momentum"]:
                state["momentum_buffer"] = zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = zeros_like(p)
        alpha = group["alpha"]
        state["step"] += 1
        square = state["square_avg"].mul_(alpha).add_((1 - alpha) * g * g)
        if group["centered"]:
            mean = state["grad_avg"].mul_(alpha).add_((1 - alpha) * g)
            square = square - mean * mean
        step = g / (square.sqrt() + group["eps"])
        if group["momentum"]:
            step = state["momentum_buffer"].mul_(group["momentum"]).add_(step)
        p.sub_(group["lr"] * step)


class Adagrad(Optimizer):
    """Steps scaled by the sum of the squares of all gradients before."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        check_positive(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, eps=eps)
        options = {"lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay, "eps": eps}
        more = {"initial_accumulator_value": initial_accumulator_value, "maximize": maximize}
        super().__init__(params, options | more)

    def _update(self, p: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        g = self._decayed(p, g, group)
        if not state:
            state["step"] = 0
            state["sum"] = full_like(p, group["initial_accumulator_value"])
        state["step"] += 1
        rate = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        total = state["sum"].add_(g * g)
        p.sub_(rate * g / (total.sqrt() + group["eps"]))


class Adamax(Optimizer):
    """Adam, scaled by the largest gradient so far."""

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        check_positive(lr=lr, eps=eps, weight_decay=weight_decay)
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, options | {"maximize": maximize})

    def _update(self, p: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        g = self._decayed(p, g, group)
        if not state:
            state["step"], state["exp_avg"] = 0, zeros_like(p)
            state["exp_inf"] = zeros_like(p)
        first, second = group["betas"]
        state["step"] += 1
        mean = state["exp_avg"].mul_(first).add_((1 - first) * g)
        largest = maximum(state["exp_inf"] * second, g.abs() + group["eps"])
        state["exp_inf"] = largest
        p.sub_(group["lr"] / (1 - first ** state["step"]) * mean / largest)
