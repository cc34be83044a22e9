"""Optimisers with PyTorch's groups, states and keywords, over the rules of `ag.optim`.

A facade says how its tensors hold arrays, and which rule each of its optimisers runs.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections import defaultdict
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from .. import optim
from ..arrays.creation import tensor, zeros_like
from ..arrays.tensor import Tensor as Native
from ..autograd import enable_grad, no_grad
from ..core.array import plain
from ..core.nodes import RemovableHandle
from ..core.versions import mark_written
from ..optim.rules import NUMBERS, Rule
from ..optim.transforms import norm


class Optimizer:
    """Changes parameters by their gradients. A subclass has a rule, or defines `step`."""

    rule: Rule | None = None

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Native) or hasattr(params, "requires_grad"):
            raise TypeError("params must be an iterable of tensors or dicts, not one Tensor")
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._hooks: dict[str, dict[int, Any]] = {"pre": {}, "post": {}}
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    # --- what a facade says ---

    def _tensor(self, value: Any) -> Any:
        """The tensor of arraygrad that a tensor of the facade holds; another value as it is."""
        return value if isinstance(value, Native) else getattr(value, "_inner", value)

    def _shown(self, array: Any) -> Any:
        """An array of the state as the user sees it."""
        return array

    def _gradient(self, tensor: Any) -> Any:
        """The gradient of a parameter, or None if the parameter is to stay as it is."""
        return tensor.grad

    # --- groups ---

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = {**self.defaults, **param_group}
        held = group["params"]
        if isinstance(held, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections")
        held = [held] if hasattr(held, "requires_grad") else list(held)
        if held and isinstance(held[0], tuple):  # as named_parameters() gives them
            group["param_names"], held = [name for name, _ in held], [p for _, p in held]
        if len({id(p) for p in held}) < len(held):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters: each is changed "
                "more than once in a step",
                stacklevel=3,
            )
        known = {id(p) for g in self.param_groups for p in g["params"]}
        for p in held:
            if not hasattr(p, "requires_grad"):
                raise TypeError(f"optimizer can only optimize Tensors, not {type(p).__name__}")
            if not p.is_leaf and not getattr(p, "retains_grad", False):
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(p) in known:
                raise ValueError("some parameters appear in more than one parameter group")
        if any(("param_names" in group) != ("param_names" in other) for other in self.param_groups):
            raise ValueError(
                "all optimizer param groups should be with/without names: pass all groups from "
                "named_parameters(), or none"
            )
        self.param_groups.append({**group, "params": held})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        for p in self._params():
            tensor = self._tensor(p)
            if set_to_none:
                tensor.grad = None
            elif tensor.grad is not None:
                tensor.grad = zeros_like(tensor.grad)

    def _params(self) -> list[Any]:
        return [p for group in self.param_groups for p in group["params"]]

    # --- steps ---

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take one step; `closure` computes the loss, and its gradients, anew."""
        for hook in list(self._hooks["pre"].values()):
            hook(self, (closure,), {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            options = {k: self._tensor(v) for k, v in group.items()}
            with nullcontext() if group.get("differentiable") else no_grad():
                self._advance(group["params"], options)
        for hook in list(self._hooks["post"].values()):
            hook(self, (closure,), {})
        return loss

    def _advance(self, params: list[Any], options: dict[str, Any]) -> None:
        """Change parameters by the rule: arrays of NumPy all at once."""
        at_once: dict[int, list[Any]] = {}  # by the number of the step
        is_apart = options.get("differentiable")
        for p in params:
            tensor = self._tensor(p)
            gradient = self._gradient(tensor)
            if gradient is None:
                continue
            if self.rule is None:
                raise NotImplementedError("an optimizer defines step()")
            rule, state = self.rule, self.state[p]
            slots = self._slots(rule, tensor, state, options)
            # What PyTorch saved has tensors for numbers, and no number of steps for SGD.
            step = int(state.get("step", 1 if rule.slots and len(state) > len(slots) else 0)) + 1
            array = tensor.array if isinstance(tensor, Native) else None
            if type(array) is np.ndarray and array.flags.writeable and not is_apart:
                for name, value in slots.items():
                    slots[name] = _plain(value)
                at_once.setdefault(step, []).append(
                    (array, np.asarray(_plain(gradient)), slots, state)
                )
            else:
                change, after = rule.change(tensor, gradient, slots, step, options)
                tensor += change
                for name, value in after.items():
                    state[name] = value if name in NUMBERS else self._shown(value)
                state["step"] = step
        for step, many in at_once.items():
            for array, _, _, _ in many:
                # A graph from before the step cannot be differentiated any more.
                mark_written(array, "step()")
            self.rule.write_arrays([given[:3] for given in many], step, options)  # type: ignore[union-attr]
            for _, _, slots, state in many:
                state["step"] = step
                for name in NUMBERS:
                    if name in slots:
                        state[name] = slots[name]

    def _slots(
        self, rule: Rule, tensor: Any, state: dict[str, Any], options: dict[str, Any]
    ) -> dict[str, Any]:
        """The arrays and numbers that a rule remembers of a parameter; made if there are none."""
        slots = {}
        for name, start in rule.slots.items():
            value = state.get(name)
            if value is None:
                if callable(start) and start(tensor, options) is None:
                    continue
                made = rule.slots_of(tensor, options, (name,))[name]
                value = state[name] = made if name in NUMBERS else self._shown(made)
            slots[name] = float(value) if name in NUMBERS else self._tensor(value)
        return slots

    def register_step_pre_hook(self, hook: Any) -> Any:
        """Call `hook(optimizer, args, kwargs)` before each step."""
        return RemovableHandle(self._hooks["pre"], hook)

    def register_step_post_hook(self, hook: Any) -> Any:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return RemovableHandle(self._hooks["post"], hook)

    # --- saving ---

    def state_dict(self) -> dict[str, Any]:
        """The options and the states, with numbers for the parameters."""
        number = {id(p): i for i, p in enumerate(self._params())}
        groups = [
            {**group, "params": [number[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        return {
            "state": {number[id(p)]: state for p, state in self.state.items()},
            "param_groups": groups,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over options and states, if they are of as many parameters of the same shapes."""
        given = copy.deepcopy({key: state_dict[key] for key in ("state", "param_groups")})
        groups = given["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        order: dict[Any, Any] = {}
        for ours, theirs in zip(self.param_groups, groups, strict=True):
            if len(ours["params"]) != len(theirs["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    "optimizer's group"
                )
            order.update(zip(theirs["params"], ours["params"], strict=True))
        loaded: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for key, state in given["state"].items():
            p = order.get(key, key)
            loaded[p] = {name: self._fitted(name, v, p) for name, v in state.items()}
        for ours, theirs in zip(self.param_groups, groups, strict=True):
            ours.update({key: value for key, value in theirs.items() if key != "params"})
        self.state = loaded

    def _fitted(self, name: str, value: Any, p: Any) -> Any:
        """A loaded value in the dtype of its parameter; of another shape, it is refused."""
        slots = {} if self.rule is None else self.rule.slots
        if name not in slots or name in NUMBERS or not hasattr(value, "shape"):
            return value
        tensor, held = self._tensor(p), self._tensor(value)
        factors = ("row_var", "col_var")
        if tuple(held.shape) != tuple(tensor.shape) and name not in factors:
            raise ValueError(
                f"loaded state dict has {name} of shape {tuple(held.shape)} for a parameter of "
                f"shape {tuple(tensor.shape)}"
            )
        return self._shown(np.asarray(plain(held)).astype(plain(tensor).dtype))

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            shown = {k: v for k, v in sorted(group.items()) if k != "params"}
            lines += [""] if i else []
            lines += [f"Parameter Group {i}", *(f"    {k}: {v}" for k, v in shown.items())]
        return "\n".join([*lines, ")"])


def _plain(value: Any) -> Any:
    """The array, or the number, in a tensor."""
    return value._array if type(value) is Native else plain(value)


# Keywords that choose between ways to compute the same in PyTorch.
_EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD
_WAYS = {"foreach": None, "capturable": False, "differentiable": False, "fused": None}


def optimizer(name: str, make: Callable[..., Rule], base: type[Optimizer]) -> Any:
    """The class of an optimiser that runs a rule, with the rule's parameters."""
    parameters = inspect.signature(make)

    def __init__(self: Optimizer, params: Any, *args: Any, **keywords: Any) -> None:  # noqa: N807
        ways = {**_WAYS, **{k: keywords.pop(k) for k in list(keywords) if k in _WAYS}}
        bound = parameters.bind(*args, **keywords)
        bound.apply_defaults()
        given = bound.arguments
        natives = {k: self._tensor(v) for k, v in given.items()}
        if getattr(natives["lr"], "size", 1) != 1:
            raise ValueError(f"Tensor lr must be 1-element, not of shape {natives['lr'].shape}")
        rule = make(**natives)  # which checks the options
        shown = {k: v for k, v in given.items() if v is not natives[k]}
        base.__init__(self, params, {**given, **rule.options, **shown, **ways})

    first, keyword = inspect.Parameter("params", _EITHER), inspect.Parameter.KEYWORD_ONLY
    own = [first, *parameters.parameters.values()]
    own += [inspect.Parameter(name, keyword, default=usual) for name, usual in _WAYS.items()]
    members = {
        "__init__": __init__,
        "__signature__": inspect.Signature(own),  # programs look whether there is `fused`
        "__doc__": make.__doc__,
        "__module__": base.__module__,
        "__qualname__": name,
        "rule": make(),
    }
    return type(name, (base,), members)


# --- gradients within bounds ---


def _gradients(parameters: Any) -> list[Any]:
    given = [parameters] if hasattr(parameters, "requires_grad") else parameters
    return [p.grad for p in given if p.grad is not None]


def clipping(shown: Callable[[Any], Any], native: Callable[[Any], Any]) -> Callable[..., Any]:
    """`clip_grad_norm_` of a facade: `shown` and `native` make its tensors from arrays and back."""

    def clip_grad_norm_(
        parameters: Any,
        max_norm: float,
        norm_type: float = 2.0,
        error_if_nonfinite: bool = False,
        foreach: bool | None = None,
    ) -> Any:
        """Scale all gradients down to a common norm; return the norm that they had.

        If the norm is NaN, all gradients become NaN; or `error_if_nonfinite` raises an error.
        """
        found = _gradients(parameters)
        zero = tensor(0.0, dtype=np.float32)
        with no_grad():
            total = norm([native(g.detach()) for g in found], norm_type) if found else zero
            if error_if_nonfinite and not np.isfinite(total.item()):
                raise RuntimeError(
                    f"The total norm of order {norm_type} for gradients from `parameters` is "
                    "non-finite, so it cannot be clipped. To clip anyway, leave out "
                    "error_if_nonfinite=True"
                )
            factor = float(np.minimum(1.0, max_norm / (total.item() + 1e-6)))  # NaN stays NaN
            for g in found:
                g.mul_(factor)
        return shown(total)

    return clip_grad_norm_


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Keep all elements of gradients between two bounds."""
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(-clip_value, clip_value)


# --- sorix and Lucid ---


class Plain(Optimizer):
    """The optimisers of sorix and Lucid: a parameter without a gradient has zeros."""

    def zero_grad(self, set_to_none: bool = False) -> None:
        """Set all gradients to zero."""
        for p in self._params():
            tensor = self._tensor(p)
            tensor.grad = None if set_to_none else zeros_like(tensor)

    def _gradient(self, tensor: Any) -> Any:
        found = super()._gradient(tensor)
        return zeros_like(tensor) if found is None else found


def _momentum(lr: float = 1e-3, momentum: float = 0.9, weight_decay: float = 0.0) -> Rule:
    """Gradient descent with momentum."""
    return optim.sgd(lr, momentum, weight_decay=weight_decay)


def _sgd(lr: float = 1e-3, momentum: float = 0.0, weight_decay: float = 0.0) -> Rule:
    """Gradient descent, with momentum if it is not zero."""
    return optim.sgd(lr, momentum, weight_decay=weight_decay)


def _rmsprop(
    lr: float = 1e-3,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    decay: float | None = None,
) -> Rule:
    """Steps scaled by a running mean of the squared gradients."""
    return optim.rmsprop(lr, alpha if decay is None else decay, eps, weight_decay)


SGD = optimizer("SGD", _sgd, Plain)
SGDMomentum = optimizer("SGDMomentum", _momentum, Plain)
RMSprop = optimizer("RMSprop", _rmsprop, Plain)
Adam = optimizer("Adam", optim.adam, Plain)
