"""`torch.optim.swa_utils`: averages of the weights of a network over its training."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any

from ..autograd import no_grad
from ..creation import tensor
from ..handles import Tensor
from ..nn.module import Module
from .lr_scheduler import Optional, each_group

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

Mean = Callable[[Any, Any, Any], Any]
Means = Callable[[Any, Any, Any], None]


def get_ema_avg_fn(decay: float = 0.999) -> Mean:
    """The mean in which older weights count less and less."""
    _check_decay(decay)
    return lambda mean, now, count: decay * mean + (1 - decay) * now


def get_swa_avg_fn() -> Mean:
    """The mean in which all weights count the same."""
    return lambda mean, now, count: mean + (now - mean) / (count + 1)


def get_ema_multi_avg_fn(decay: float = 0.999) -> Means:
    """`get_ema_avg_fn` for lists of tensors, in place."""
    return _of_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Means:
    """`get_swa_avg_fn` for lists of tensors, in place."""
    return _of_lists(get_swa_avg_fn())


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1].")


def _of_lists(one: Mean) -> Means:
    def update(means: Any, now: Any, count: Any) -> None:
        for mean, value in zip(means, now, strict=True):
            mean.copy_(one(mean, value, count))

    return update


class AveragedModel(Module):
    """A copy of a network, `module`, whose parameters are means of the network's parameters."""

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Mean | None = None,
        multi_avg_fn: Means | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the network with the means."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the network's parameters into the means."""
        means, now = list(self.module.parameters()), list(model.parameters())
        rest = list(zip(self.module.buffers(), model.buffers(), strict=True))
        if self.use_buffers:
            means += [mean for mean, _ in rest]  # type: ignore[misc]
            now += [value for _, value in rest]  # type: ignore[misc]
            rest = []
        update = self.multi_avg_fn or _of_lists(self.avg_fn or get_swa_avg_fn())
        values = [value.detach() for value in now]
        with no_grad():
            if self.n_averaged.item() == 0:
                for mean, value in zip(means, values, strict=True):
                    mean.copy_(value)
            else:
                update([mean.detach() for mean in means], values, self.n_averaged)
            for own, value in rest:
                own.copy_(value)
            self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch norms anew, as means over all batches."""
    norms = [m for m in model.modules() if getattr(m, "running_mean", None) is not None]
    if not norms:
        return
    momenta = [m.momentum for m in norms]
    for m in norms:
        m.reset_running_stats()
        m.momentum = None  # all batches count the same
    was_training = model.training
    model.train()
    for batch in loader:
        inputs = batch[0] if isinstance(batch, list | tuple) else batch
        model(inputs if device is None else inputs.to(device))
    for m, momentum in zip(norms, momenta, strict=True):
        m.momentum = momentum
    model.train(was_training)


class SWALR(Optional):
    """The rates go to a constant, `swa_lr`, within `anneal_epochs` steps."""

    _options = {"swa_lr": ..., "anneal_epochs": 10, "anneal_strategy": "cos"}  # noqa: RUF012

    def _check_options(self) -> None:
        if self.anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "anneal_strategy must by one of 'cos' or 'linear', instead got "
                f"{self.anneal_strategy}"
            )
        if not isinstance(self.anneal_epochs, int) or self.anneal_epochs < 0:
            raise ValueError(
                f"anneal_epochs must be equal or greater than 0, got {self.anneal_epochs}"
            )

    def _start(self, optimizer: Any, first: bool) -> None:
        rates = each_group(optimizer, self.swa_lr, "swa_lr")
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate

    def _share(self, step: int) -> float:
        """How much of the way is done after a step."""
        done = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return done if self.anneal_strategy == "linear" else (1 - math.cos(math.pi * done)) / 2

    def get_lr(self) -> list[Any]:
        """The rates, each from the last one."""
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        found = []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            start = end if before == 1 else (group["lr"] - before * end) / (1 - before)
            found.append(end * now + start * (1 - now))
        return found
