"""`torch.optim.lr_scheduler`: learning rates that change from step to step.

As in PyTorch, most schedules compute the next rate from the present one, so that several of them,
or a rate set by hand, work together.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...optimisers import Optimizer
from ..handles import Tensor

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


def _set(group: dict[str, Any], rate: Any) -> None:
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(rate)
    else:
        group["lr"] = rate


def _rates(optimizer: Optimizer) -> list[Any]:
    rates = [group["lr"] for group in optimizer.param_groups]
    return [rate.clone() if isinstance(rate, Tensor) else rate for rate in rates]


def each_group(optimizer: Optimizer, value: Any, name: str) -> list[Any]:
    """One value for each group."""
    groups = optimizer.param_groups
    if not isinstance(value, list | tuple):
        return [value] * len(groups)
    if len(value) != len(groups):
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {len(groups)}."
        )
    return list(value)


class LRScheduler:
    """Sets the learning rates of an optimiser. A subclass defines `get_lr`."""

    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer, self.last_epoch = optimizer, last_epoch
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                rate = group["lr"]
                group.setdefault("initial_lr", rate.clone() if isinstance(rate, Tensor) else rate)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Any]:
        """The rates at `last_epoch`, from the present ones."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next rates, or to those of an epoch."""
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
        rates = self.get_lr() if closed is None else closed()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            _set(group, rate)
        self._last_lr = _rates(self.optimizer)

    def get_last_lr(self) -> list[Any]:
        """The rates that were set last."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state."""
        self.__dict__.update(state_dict)


_LRScheduler = LRScheduler  # its name before PyTorch 2.0


class Optional(LRScheduler):
    """A schedule whose options are attributes: `_options` has their usual values."""

    _options: dict[str, Any] = {}  # noqa: RUF012  (a table for each subclass)

    def __init__(self, optimizer: Optimizer, *args: Any, **keywords: Any) -> None:
        names = [*self._options, "last_epoch"]
        given = dict(zip(names, args, strict=False)) | keywords
        values = {**self._options, "last_epoch": -1, **given}
        wrong = [name for name, value in values.items() if name not in names or value is ...]
        if wrong or len(args) > len(names):
            raise TypeError(f"{type(self).__name__} takes {', '.join(names)}: see {wrong}")
        last_epoch = values.pop("last_epoch")
        self.__dict__.update(values)
        self._check_options()
        self._start(optimizer, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def _check_options(self) -> None:
        """Raise for options that cannot be."""

    def _start(self, optimizer: Optimizer, first: bool) -> None:
        """Prepare the groups of the optimiser, if this is the first run."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class _Factor(Optional):
    """A schedule whose rates are the first ones times a factor, by default."""

    def _factor(self, epoch: int) -> Any:
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        epoch, groups = self.last_epoch, self.optimizer.param_groups
        if epoch == 0:
            return [group["lr"] * self._factor(0) for group in groups]
        before = self._factor(epoch - 1)
        if self._is_initial or not before:
            return [group["lr"] for group in groups]
        return [group["lr"] * (self._factor(epoch) / before) for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self._factor(self.last_epoch) for base in self.base_lrs]


class StepLR(_Factor):
    """The rate times `gamma` after each `step_size` epochs."""

    _options = {"step_size": ..., "gamma": 0.1}  # noqa: RUF012

    def _factor(self, epoch: int) -> Any:
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(_Factor):
    """The rate times `gamma` at each milestone."""

    _options = {"milestones": ..., "gamma": 0.1}  # noqa: RUF012

    def _check_options(self) -> None:
        self.__dict__["milestones"] = Counter(self.milestones)

    def _factor(self, epoch: int) -> Any:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), epoch)


class ExponentialLR(_Factor):
    """The rate times `gamma` after each epoch."""

    _options = {"gamma": ...}  # noqa: RUF012

    def _factor(self, epoch: int) -> Any:
        return self.gamma**epoch


class ConstantLR(_Factor):
    """The rate times a factor for the first epochs."""

    _options = {"factor": 1 / 3, "total_iters": 5}  # noqa: RUF012

    def _check_options(self) -> None:
        if not 0 <= self.factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")

    def _factor(self, epoch: int) -> Any:
        return self.factor if epoch < self.total_iters else 1.0


class LinearLR(_Factor):
    """The rate times a factor that goes from one value to another."""

    _options = {"start_factor": 1 / 3, "end_factor": 1.0, "total_iters": 5}  # noqa: RUF012

    def _check_options(self) -> None:
        if not 0 < self.start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be > 0 and <= 1.")
        if not 0 <= self.end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")

    def _factor(self, epoch: int) -> Any:
        share = min(epoch, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * share


class PolynomialLR(_Factor):
    """The rate falls to zero like a power of the epochs that are left."""

    _options = {"total_iters": 5, "power": 1.0}  # noqa: RUF012

    def _factor(self, epoch: int) -> Any:
        return float((1 - min(epoch, self.total_iters) / self.total_iters) ** self.power)


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.lr_lambdas: list[Callable[[int], float]] = each_group(
            optimizer, lr_lambda, "lr_lambda"
        )
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser and plain functions, which cannot be saved."""
        state = super().state_dict()
        state["lr_lambdas"] = [
            None if callable(f) and hasattr(f, "__code__") else dict(f.__dict__)
            for f in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state."""
        held = self.lr_lambdas
        super().load_state_dict(state_dict)
        self.lr_lambdas = held
        for function, values in zip(held, state_dict["lr_lambdas"], strict=True):
            if values is not None:
                function.__dict__.update(values)


class MultiplicativeLR(LambdaLR):
    """The rate before times a function of the epoch."""

    def get_lr(self) -> list[Any]:
        pairs = zip(self.optimizer.param_groups, self.lr_lambdas, strict=True)
        if self._is_initial:
            return [group["lr"] for group, _ in pairs]
        return [group["lr"] * function(self.last_epoch) for group, function in pairs]


class CosineAnnealingLR(Optional):
    """The rate goes along a cosine, from the first one to `eta_min` in `T_max` epochs."""

    _options = {"T_max": ..., "eta_min": 0.0}  # noqa: RUF012

    def _height(self, epoch: float) -> Any:
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2

    def get_lr(self) -> list[Any]:
        epoch, low, groups = self.last_epoch, self.eta_min, self.optimizer.param_groups
        if self._is_initial:
            return [group["lr"] for group in groups]
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # it was at its lowest
            up = self._height(self.T_max + 1)
            pairs = zip(self.base_lrs, groups, strict=True)
            return [group["lr"] + (base - low) * up for base, group in pairs]
        ratio = self._height(epoch) / self._height(epoch - 1)
        return [ratio * (group["lr"] - low) + low for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        height, low = self._height(self.last_epoch), self.eta_min
        return [low + (base - low) * height for base in self.base_lrs]


class CosineAnnealingWarmRestarts(Optional):
    """The rate falls along a cosine, again and again; each time `T_mult` times as slowly."""

    _options = {"T_0": ..., "T_mult": 1, "eta_min": 0.0}  # noqa: RUF012

    def _check_options(self) -> None:
        if not isinstance(self.T_0, int) or self.T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {self.T_0}")
        if not isinstance(self.T_mult, int) or self.T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {self.T_mult}")

    def get_lr(self) -> list[Any]:
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next rates, or to those of an epoch, which may be a fraction."""
        now = self.last_epoch + 1 if epoch is None else epoch
        if now < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        self.T_i, self.T_cur = self.T_0, now
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
        self._update_lr(math.floor(now))


def _set_momentum(group: dict[str, Any], momentum: float) -> None:
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


class _Cycle(Optional):
    """A schedule that may change the momentum, too."""

    def _start(self, optimizer: Optimizer, first: bool) -> None:
        if not self.cycle_momentum:
            return
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        largest = each_group(optimizer, self.max_momentum, "max_momentum")
        base = each_group(optimizer, self.base_momentum, "base_momentum")
        for group, low, high in zip(optimizer.param_groups, base, largest, strict=True):
            if first:
                _set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low


class CyclicLR(_Cycle):
    """The rate goes up and down between two bounds."""

    _options = {  # noqa: RUF012
        "base_lr": ..., "max_lr": ..., "step_size_up": 2000, "step_size_down": None,
        "mode": "triangular", "gamma": 1.0, "scale_fn": None, "scale_mode": "cycle",
        "cycle_momentum": True, "base_momentum": 0.8, "max_momentum": 0.9,
    }  # fmt: skip

    def _check_options(self) -> None:
        self._scale_fn_custom = self.__dict__.pop("scale_fn")
        modes = ("triangular", "triangular2", "exp_range")
        if self.mode not in modes and self._scale_fn_custom is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.up = self.step_size_up
        self.down = self.up if self.step_size_down is None else self.step_size_down

    def _start(self, optimizer: Optimizer, first: bool) -> None:
        self._low = each_group(optimizer, self.base_lr, "base_lr")
        self.max_lrs = each_group(optimizer, self.max_lr, "max_lr")
        for group, rate in zip(optimizer.param_groups if first else (), self._low, strict=False):
            _set(group, rate)
        super()._start(optimizer, first)

    def __init__(self, optimizer: Optimizer, *args: Any, **keywords: Any) -> None:
        super().__init__(optimizer, *args, **keywords)
        self.base_lrs = self._low

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, of its number or of the epoch."""
        if self._scale_fn_custom is not None:
            return float(self._scale_fn_custom(x))
        if self.mode == "triangular":
            return 1.0
        return float(0.5 ** (x - 1) if self.mode == "triangular2" else self.gamma**x)

    def get_lr(self) -> list[Any]:
        cycle, place = divmod(self.last_epoch, self.up + self.down)
        height = place / self.up if place <= self.up else 1 - (place - self.up) / self.down
        by_cycle = self.scale_mode == "cycle" and not (
            self.mode == "exp_range" and self._scale_fn_custom is None
        )
        height *= self.scale_fn(cycle + 1 if by_cycle else self.last_epoch)
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                high, low = group["max_momentum"], group["base_momentum"]
                _set_momentum(group, high - (high - low) * height)
        return [a + (b - a) * height for a, b in zip(self._low, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser and the user's function."""
        return {**super().state_dict(), "_scale_fn_custom": None}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state."""
        super().load_state_dict({**state_dict, "_scale_fn_custom": self._scale_fn_custom})


class OneCycleLR(_Cycle):
    """The rate goes up from a small value to the largest, and down to one that is smaller yet."""

    _options = {  # noqa: RUF012
        "max_lr": ..., "total_steps": None, "epochs": None, "steps_per_epoch": None,
        "pct_start": 0.3, "anneal_strategy": "cos", "cycle_momentum": True, "base_momentum": 0.85,
        "max_momentum": 0.95, "div_factor": 25.0, "final_div_factor": 1e4, "three_phase": False,
    }  # fmt: skip
    total_steps: Any

    def _check_options(self) -> None:
        if self.total_steps is None:
            if self.epochs is None or self.steps_per_epoch is None:
                raise ValueError(
                    "You must define either total_steps OR (epochs AND steps_per_epoch)"
                )
            self.total_steps = self.epochs * self.steps_per_epoch
        if not isinstance(self.total_steps, int) or self.total_steps <= 0:
            raise ValueError(f"Expected positive integer total_steps, but got {self.total_steps}")
        if not 0 <= self.pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {self.pct_start}")
        if self.anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "anneal_strategy must be one of 'cos' or 'linear', instead got "
                f"{self.anneal_strategy}"
            )
        # The last epoch of each phase, and the values at its ends.
        up, end = self.pct_start * self.total_steps - 1, self.total_steps - 1
        rising = (up, ("initial_lr", "max_lr"), ("max_momentum", "base_momentum"))
        back = (2 * up, ("max_lr", "initial_lr"), ("base_momentum", "max_momentum"))
        rest = (end, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum"))
        falling = (end, ("max_lr", "min_lr"), ("base_momentum", "max_momentum"))
        phases = (rising, back, rest) if self.three_phase else (rising, falling)
        names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
        self._schedule_phases: list[dict[str, Any]] = [
            dict(zip(names, (last, *rates, *momenta), strict=True))
            for last, rates, momenta in phases
        ]

    def _start(self, optimizer: Optimizer, first: bool) -> None:
        rates = each_group(optimizer, self.max_lr, "max_lr")
        for group, rate in zip(optimizer.param_groups if first else (), rates, strict=False):
            group["max_lr"], group["initial_lr"] = rate, rate / self.div_factor
            group["min_lr"] = group["initial_lr"] / self.final_div_factor
        super()._start(optimizer, first)

    def _between(self, start: float, end: float, share: float) -> float:
        if self.anneal_strategy == "linear":
            return start + (end - start) * share
        return end + (start - end) / 2 * (1 + math.cos(math.pi * share))

    def get_lr(self) -> list[Any]:
        epoch = self.last_epoch
        if epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {epoch} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        phases = self._schedule_phases
        ends = [phase["end_step"] for phase in phases]
        number = min(bisect_left(ends, epoch), len(ends) - 1)
        start, phase = ends[number - 1] if number else 0.0, phases[number]
        share = (epoch - start) / (ends[number] - start)
        found = []
        for group in self.optimizer.param_groups:
            found.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                low, high = group[phase["start_momentum"]], group[phase["end_momentum"]]
                _set_momentum(group, self._between(low, high, share))
        return found


class _Several(LRScheduler):
    """Schedules of one optimiser."""

    def _check(self, schedulers: Sequence[Any], optimizer: Any) -> Any:
        name = type(self).__name__
        if len(schedulers) < 1:
            raise ValueError(f"{name} expects at least one scheduler, but got no scheduler.")
        optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        for i, scheduler in enumerate(schedulers):
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                    "additional kwargs to be specified when calling `step`"
                )
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got one "
                    f"at index {i} of another"
                )
        self._schedulers = list(schedulers)
        return optimizer

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser, and the states of the schedules."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state."""
        held = self._schedulers
        super().load_state_dict({**state_dict, "_schedulers": held})
        for scheduler, state in zip(held, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class ChainedScheduler(_Several):
    """Schedules that all make a step at each step."""

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        self.optimizer = self._check(schedulers, optimizer)
        self._last_lr = _rates(self.optimizer)

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next rates."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = _rates(self.optimizer)


class SequentialLR(_Several):
    """Schedules one after the other, each from its milestone on."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[Any],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._milestones, self.last_epoch = list(milestones), last_epoch + 1
        for group in optimizer.param_groups:
            _set(group, group["initial_lr"])
        for scheduler in schedulers:
            _undo(scheduler)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next rates."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number and self._milestones[number - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


def _undo(scheduler: Any) -> None:
    """Take back the step that a schedule makes when it is made."""
    for inner in getattr(scheduler, "_schedulers", ()):
        _undo(inner)
    if not hasattr(scheduler, "_schedulers"):
        scheduler.last_epoch -= 1


class ReduceLROnPlateau(LRScheduler):
    """Lowers the rates when a measure has not improved for some epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.eps = cooldown, eps
        self.min_lrs = each_group(optimizer, min_lr, "min_lrs")
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0
        self._last_lr = _rates(optimizer)

    def is_better(self, a: float, best: float) -> bool:
        """Whether a measure is enough better than the best one so far."""
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "abs":
            bound = best + sign * self.threshold
        else:
            bound = best * (1 + sign * self.threshold)
        return a < bound if self.mode == "min" else a > bound

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take note of the measure after an epoch."""
        value = float(metrics.item() if isinstance(metrics, Tensor) else metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(value, self.best):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, low in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                lower = max(float(group["lr"]) * self.factor, low)
                if float(group["lr"]) - lower > self.eps:
                    _set(group, lower)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = _rates(self.optimizer)
