"""Optimisers of sorix and Lucid: each changes the parameters in place, by their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..arrays.creation import zeros_like
from ..autograd.graph import increment_version
from .facade import Facade


class Optimizer:
    """The base of all optimisers: groups of parameters, each with its own settings."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, weight_decay: float = 0.0, **more: Any
    ) -> None:
        self.defaults = {"lr": lr, "weight_decay": weight_decay, **more}
        self.param_groups: list[dict[str, Any]] = []
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Take over parameters, with the settings that the group has, and the defaults."""
        params = param_group["params"]
        params = [params] if isinstance(params, Facade) else list(params)
        kind = np.result_type(*(p._inner.dtype for p in params), np.float16)
        state = {name: np.zeros(sum(p._inner.size for p in params), kind) for name in self.moments}
        self.param_groups.append(
            {**self.defaults, **param_group, "params": params, "state": {"t": 0, **state}}
        )

    moments: tuple[str, ...] = ()

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        for group in self.param_groups:
            for p in group["params"]:
                gradient = p._inner.grad
                if gradient is None or gradient.requires_grad:
                    p._inner.grad = zeros_like(p._inner)
                else:
                    gradient.array.fill(0)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once; `closure`, if given, computes the loss first."""
        loss = None if closure is None else closure()
        for group in self.param_groups:
            gradient = np.concatenate([_gradient(p) for p in group["params"]])
            if group["weight_decay"]:
                values = np.concatenate([p._inner.array.reshape(-1) for p in group["params"]])
                gradient = gradient + group["weight_decay"] * values
            group["state"]["t"] += 1
            change = self.change(group, group["state"], gradient)
            at = 0
            for p in group["params"]:
                data = p._inner.array
                data -= change[at : at + data.size].reshape(data.shape)
                at += data.size
            # A graph from before the step cannot be differentiated any more: it would be wrong.
            increment_version([p._inner for p in group["params"]])
        return loss

    def change(self, group: dict[str, Any], state: dict[str, Any], gradient: Any) -> Any:
        """What to subtract from the parameters of a group."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """The settings and what the optimiser remembers, without the parameters."""
        without = ("params", "state")
        return {
            "state": [
                {k: np.copy(v) if isinstance(v, np.ndarray) else v for k, v in g["state"].items()}
                for g in self.param_groups
            ],
            "param_groups": [
                {k: v for k, v in g.items() if k not in without} for g in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        for i, group in enumerate(self.param_groups):
            group["state"].update(state_dict["state"][i])
            group.update(state_dict["param_groups"][i])


def _gradient(p: Facade) -> Any:
    """The gradient of a parameter as a vector; zeros if it has none."""
    found = p._inner.grad
    return np.zeros(p._inner.size, p._inner.dtype) if found is None else found.array.reshape(-1)


class SGD(Optimizer):
    """Gradient descent, with momentum if it is not zero."""

    moments = ("velocity",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr, weight_decay, momentum=momentum)

    def change(self, group: dict[str, Any], state: dict[str, Any], gradient: Any) -> Any:
        state["velocity"] = group["momentum"] * state["velocity"] + gradient
        return group["lr"] * state["velocity"]


class SGDMomentum(SGD):
    """Gradient descent with momentum."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr, momentum, weight_decay)


class RMSprop(Optimizer):
    """Steps scaled by a running mean of the squared gradients."""

    moments = ("square",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decay: float | None = None,
    ) -> None:
        alpha = alpha if decay is None else decay
        super().__init__(params, lr, weight_decay, alpha=alpha, eps=eps)

    def change(self, group: dict[str, Any], state: dict[str, Any], gradient: Any) -> Any:
        alpha = group["alpha"]
        state["square"] = alpha * state["square"] + (1 - alpha) * gradient**2
        return group["lr"] * gradient / (np.sqrt(state["square"]) + group["eps"])


class Adam(Optimizer):
    """Steps by running means of the gradients and of their squares, both corrected at the start."""

    moments = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr, weight_decay, betas=betas, eps=eps)

    def change(self, group: dict[str, Any], state: dict[str, Any], gradient: Any) -> Any:
        first, second = group["betas"]
        state["exp_avg"] = first * state["exp_avg"] + (1 - first) * gradient
        state["exp_avg_sq"] = second * state["exp_avg_sq"] + (1 - second) * gradient**2
        mean = state["exp_avg"] / (1 - first ** state["t"])
        square = state["exp_avg_sq"] / (1 - second ** state["t"])
        return group["lr"] * mean / (np.sqrt(square) + group["eps"])
