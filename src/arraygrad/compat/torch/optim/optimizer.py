"""The base of the optimisers: groups of parameters with options, and their states."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ..autograd import enable_grad, no_grad
from ..handles import Tensor


class Optimizer:
    """Changes parameters by their gradients. A subclass defines `_update`."""

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError("params must be an iterable of tensors or dicts, not one Tensor")
        given = list(params)
        if not given:
            raise ValueError("params is empty: there is nothing to optimise")
        self.defaults = defaults
        self.state: dict[Any, dict[str, Any]] = {}
        self.param_groups: list[dict[str, Any]] = []
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own."""
        group = {**self.defaults, **param_group}
        held = group["params"]
        group["params"] = [held] if isinstance(held, Tensor) else list(held)
        known = {id(p) for g in self.param_groups for p in g["params"]}
        for p in group["params"]:
            if not isinstance(p, Tensor):
                raise TypeError(f"a parameter must be a Tensor, not {type(p).__name__}")
            if not p.is_leaf and not p.retains_grad:
                raise ValueError("only leaves can be optimised")
            if id(p) in known:
                raise ValueError("a parameter is in two groups")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    p.grad = p.grad.detach() * 0

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take one step; `closure` computes the loss, and its gradients, anew."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(p, p.grad.detach(), group, self.state.setdefault(p, {}))
        return loss

    def _update(self, p: Tensor, g: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        raise NotImplementedError

    def _decayed(self, p: Tensor, g: Tensor, group: dict[str, Any]) -> Tensor:
        """The gradient, turned around to go up, and with weight decay."""
        g = -g if group["maximize"] else g
        return g + group["weight_decay"] * p.detach() if group["weight_decay"] else g

    def state_dict(self) -> dict[str, Any]:
        """The options and the states, with numbers for the parameters."""
        order = [p for group in self.param_groups for p in group["params"]]
        number = {id(p): i for i, p in enumerate(order)}
        groups = [
            {**group, "params": [number[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        return {
            "state": {number[id(p)]: s for p, s in self.state.items()},
            "param_groups": groups,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over options and states."""
        held = copy.deepcopy(state_dict)
        order = [p for group in self.param_groups for p in group["params"]]
        for group, given in zip(self.param_groups, held["param_groups"], strict=True):
            group.update({key: value for key, value in given.items() if key != "params"})
        self.state = {order[i]: s for i, s in held["state"].items()}


def check_positive(**options: Any) -> None:
    """Raise if an option is negative."""
    for name, value in options.items():
        if value < 0:
            raise ValueError(f"{name} must not be negative, but is {value}")
