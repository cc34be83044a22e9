"""Optimisers: rules that turn gradients into steps, as functions or in place; learning rates.

The parameters are arrays in any structure. A rule has PyTorch's parameters and takes PyTorch's
steps.

>>> import arraygrad as ag
>>> x = ag.tensor([3.0, -1.0], requires_grad=True)
>>> optimizer = ag.optim.Optimizer(x, ag.optim.adam(0.1))
>>> for _ in range(200):
...     optimizer.step(ag.grad((x**2).sum(), x))
>>> bool(abs(x.detach()).max() < 0.01)
True
"""

from typing import TYPE_CHECKING

from ..core.describing import describe as _describe
from .algorithms import PARAMETERS as _PARAMETERS
from .algorithms import (
    adadelta,
    adafactor,
    adagrad,
    adam,
    adamax,
    adamw,
    asgd,
    lion,
    nadam,
    radam,
    rmsprop,
    rprop,
    sgd,
)
from .newton import lbfgs
from .rules import Optimizer, Rule
from .schedules import cosine, exponential, join, linear, one_cycle, piecewise, polynomial
from .transforms import (
    Transform,
    apply,
    average,
    chain,
    clip_by_norm,
    clip_by_value,
    decay_weights,
    ema,
    norm,
    scale,
)

__all__ = [
    "Optimizer", "Rule", "Transform", "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamw",
    "apply", "asgd", "average", "chain", "clip_by_norm", "clip_by_value", "cosine", "decay_weights",
    "ema", "exponential", "join", "lbfgs", "linear", "lion", "nadam", "norm", "one_cycle",
    "piecewise", "polynomial", "radam", "rmsprop", "rprop", "scale", "sgd",
]  # fmt: skip

_STEP = """
>>> import numpy as np
>>> import arraygrad as ag
>>> params = np.ones(2)
>>> rule = ag.optim.{name}()
>>> step, state = rule.update(2 * params, rule.init(params), params)
>>> bool(np.all(step < 0))
True
"""
_SCHEDULE = "callable | The learning rate, as a function of the number of steps so far."
_RETURNS = {
    "Algorithm": "Rule | With `init` and `update`; for `Optimizer`, or for a loop of one's own.",
    "Any": "structure of arrays | With the structure of the argument.",
    "Rule": "Rule | With `init` and `update`; for `Optimizer`, or for a loop of one's own.",
    "Schedule": _SCHEDULE,
    "Transform": "Transform | A part of a `chain`.",
}
_describe(
    map(globals().get, __all__),
    _PARAMETERS,
    _RETURNS,
    {name: _STEP.format(name=name) for name in __all__},
)


if not TYPE_CHECKING:  # which would otherwise accept every misspelt name

    def __getattr__(name):
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}: it has functions; PyTorch's classes "
            "are in arraygrad.compat.torch.optim"
        )


def __dir__() -> list[str]:
    return __all__
