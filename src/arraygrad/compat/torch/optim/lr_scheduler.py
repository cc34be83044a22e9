"""`torch.optim.lr_scheduler`: learning rates that change from step to step."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from .optimizer import Optimizer

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]


def __dir__() -> list[str]:
    return __all__


class LRScheduler:
    """Sets the learning rates of an optimiser. A subclass defines `_rate`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if last_epoch != -1:
            raise NotImplementedError("last_epoch is not supported: use load_state_dict()")
        self.optimizer, self.last_epoch = optimizer, 0
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._set()

    def _rate(self, base: float, epoch: int, number: int) -> float:
        raise NotImplementedError

    def _set(self) -> None:
        for i, (group, base) in enumerate(
            zip(self.optimizer.param_groups, self.base_lrs, strict=True)
        ):
            group["lr"] = self._rate(base, self.last_epoch, i)
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def step(self) -> None:
        """Go on to the next rates."""
        self.last_epoch += 1
        self._set()

    def get_last_lr(self) -> list[float]:
        """The present rates."""
        return list(self._last_lr)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state."""
        self.__dict__.update(state_dict)


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        several = isinstance(lr_lambda, list | tuple)
        self.lr_lambdas: list[Callable[[int], float]] = (
            list(lr_lambda) if several else [lr_lambda] * count
        )
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        return base * self.lr_lambdas[number](epoch)


class StepLR(LRScheduler):
    """The rate times `gamma` after each `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        return base * self.gamma ** (epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """The rate times `gamma` at each milestone."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        return base * self.gamma ** bisect_right(self.milestones, epoch)


class ExponentialLR(LRScheduler):
    """The rate times `gamma` after each epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        return base * self.gamma**epoch


class ConstantLR(LRScheduler):
    """The rate times a factor for the first epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        return base * (self.factor if epoch < self.total_iters else 1.0)


class LinearLR(LRScheduler):
    """The rate times a factor that goes from one value to another."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        share = min(epoch, self.total_iters) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * share)


class PolynomialLR(LRScheduler):
    """The rate falls to zero like a power of the epochs that are left."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        left = 1 - min(epoch, self.total_iters) / self.total_iters
        return float(base * left**self.power)


class CosineAnnealingLR(LRScheduler):
    """The rate goes along a cosine, from the first one to `eta_min` in `T_max` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,  # noqa: N803
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        return (
            self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * epoch / self.T_max)) / 2
        )


class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate falls along a cosine, again and again; each time `T_mult` times as slowly."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,  # noqa: N803
        T_mult: int = 1,  # noqa: N803
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or T_mult < 1:
            raise ValueError(f"T_0 {T_0} and T_mult {T_mult} must be positive integers")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        length = self.T_0
        while epoch >= length:
            epoch -= length
            length *= self.T_mult
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * epoch / length)) / 2


class MultiplicativeLR(LRScheduler):
    """The rate before times a function of the epoch."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        several = isinstance(lr_lambda, list | tuple)
        count = len(optimizer.param_groups)
        self.lr_lambdas: list[Callable[[int], float]] = (
            list(lr_lambda) if several else [lr_lambda] * count
        )
        super().__init__(optimizer, last_epoch)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        return base * math.prod(self.lr_lambdas[number](k) for k in range(1, epoch + 1))


class CyclicLR(LRScheduler):
    """The rate goes up and down between two bounds."""

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float,
        max_lr: float,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        *,
        cycle_momentum: bool = True,
    ) -> None:
        if mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(f"mode {mode!r} is not known")
        if cycle_momentum:
            raise NotImplementedError("CyclicLR(): pass cycle_momentum=False, momenta stay")
        self.base_lr, self.max_lr, self.mode, self.gamma = base_lr, max_lr, mode, gamma
        self.up = step_size_up
        self.down = step_size_up if step_size_down is None else step_size_down
        super().__init__(optimizer)

    def _rate(self, base: float, epoch: int, number: int) -> float:
        cycle, place = divmod(epoch, self.up + self.down)
        height = place / self.up if place <= self.up else 1 - (place - self.up) / self.down
        scale = {"triangular": 1.0, "triangular2": 0.5**cycle, "exp_range": self.gamma**epoch}
        return self.base_lr + (self.max_lr - self.base_lr) * height * scale[self.mode]


class OneCycleLR(LRScheduler):
    """The rate goes up from a small value to the largest, and down to one that is smaller yet."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
    ) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError(
                    "You must define either total_steps OR (epochs AND steps_per_epoch)"
                )
            total_steps = epochs * steps_per_epoch
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be 'cos' or 'linear', not {anneal_strategy!r}")
        self.total_steps, self.up = total_steps, pct_start * total_steps - 1
        self.anneal_strategy, self.div_factor = anneal_strategy, div_factor
        self.final_div_factor, self.cycle_momentum = final_div_factor, cycle_momentum
        self.momenta = base_momentum, max_momentum
        groups = optimizer.param_groups
        self.max_lrs = list(max_lr) if isinstance(max_lr, list | tuple) else [max_lr] * len(groups)
        if cycle_momentum and not any("momentum" in g or "betas" in g for g in groups):
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        super().__init__(optimizer)

    def _between(self, start: float, end: float, share: float) -> float:
        if self.anneal_strategy == "linear":
            return start + (end - start) * share
        return end + (start - end) / 2 * (1 + math.cos(math.pi * share))

    def _along(self, epoch: int, first: float, middle: float, last: float) -> float:
        """A value on its way from the first to the middle one, and on to the last."""
        if epoch > self.total_steps - 1:
            raise ValueError(
                f"Tried to step {epoch + 1} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        if epoch <= self.up:
            return self._between(first, middle, epoch / self.up)
        return self._between(middle, last, (epoch - self.up) / (self.total_steps - 1 - self.up))

    def _rate(self, base: float, epoch: int, number: int) -> float:
        largest = self.max_lrs[number]
        first = largest / self.div_factor
        return self._along(epoch, first, largest, first / self.final_div_factor)

    def _set(self) -> None:
        super()._set()
        if self.cycle_momentum:
            low, high = self.momenta
            momentum = self._along(self.last_epoch, high, low, high)
            for group in self.optimizer.param_groups:
                if "betas" in group:
                    group["betas"] = (momentum, *group["betas"][1:])
                else:
                    group["momentum"] = momentum


class SequentialLR:
    """Schedules one after the other, each from its milestone on."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[Any], milestones: Sequence[int]
    ) -> None:
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects one milestone less than schedulers")
        self.optimizer, self.last_epoch = optimizer, 0
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self._schedulers[0]._set()

    def step(self) -> None:
        """Go on to the next rates."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        if number and self._milestones[number - 1] == self.last_epoch:
            self._schedulers[number].last_epoch = 0
            self._schedulers[number]._set()
        else:
            self._schedulers[number].step()

    def get_last_lr(self) -> list[float]:
        """The present rates."""
        return [group["lr"] for group in self.optimizer.param_groups]


class ReduceLROnPlateau:
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
        min_lr: float = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(f"mode {mode!r} or threshold_mode {threshold_mode!r} is not known")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.eps = cooldown, min_lr, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0

    def _better(self, value: float) -> bool:
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "abs":
            bound = self.best + sign * self.threshold
        else:
            bound = self.best * (1 + sign * self.threshold)
        return value < bound if self.mode == "min" else value > bound

    def step(self, metrics: Any) -> None:
        """Take note of the measure after an epoch."""
        value = float(metrics)
        self.last_epoch += 1
        if self._better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group in self.optimizer.param_groups:
                lower = max(group["lr"] * self.factor, self.min_lr)
                if group["lr"] - lower > self.eps:
                    group["lr"] = lower
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def get_last_lr(self) -> list[float]:
        """The present rates."""
        return [group["lr"] for group in self.optimizer.param_groups]
