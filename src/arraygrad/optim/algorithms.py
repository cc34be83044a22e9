"""The algorithms: SGD, Adam and their relatives, with PyTorch's parameters and PyTorch's steps.

Each function gives a `Rule`. A learning rate is a number, an array (then it can be differentiated),
or a schedule: a function of the number of steps taken so far.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

from .. import ops
from ..backends import backend_of
from ..core.array import plain
from .rules import Rule, Slots
from .schedules import where
from .transforms import check_number, number_for

Options = dict[str, Any]
Numbers = tuple[Any, ...]
# The numbers of a step, the change of a parameter by them, what is remembered of each parameter,
# and perhaps options that are not the user's.
Algorithm = tuple[Any, ...]
P = ParamSpec("P")

# What the parameters mean: the functions' docstrings are made complete by it.
PARAMETERS = {
    "alpha": "float | How much of the mean stays at each step.",
    "amsgrad": "bool | Whether to use the largest second mean so far.",
    "beta2_decay": "float | The power of the step by which the means change.",
    "betas": "tuple of two floats | How much of the two means stays at each step.",
    "centered": "bool | Whether to scale by the variance instead of the mean square.",
    "d": "float | The largest mean size of a step.",
    "dampening": "float | How much of the gradient is left out of the momentum.",
    "decoupled_weight_decay": "bool | "
    "Whether parameters decay by themselves, apart from the gradients.",
    "eps": "float | Added to the root of the second mean.",
    "etas": "tuple of two floats | "
    "Factors of the length, where the sign changed and where it stayed.",
    "initial_accumulator_value": "float | What the sum starts from.",
    "lambd": "float | How fast parameters decay.",
    "lr": "float, array or schedule | The length of a step: a number, an array, or a schedule.",
    "lr_decay": "float | How fast the steps become shorter.",
    "maximize": "bool | Whether to go uphill.",
    "momentum": "float | How much of the last step is taken again.",
    "momentum_decay": "float | How fast the momentum grows.",
    "nesterov": "bool | Whether to look ahead along the momentum.",
    "rho": "float | How much of the running means stays at each step.",
    "step_sizes": "tuple of two floats | The shortest and the longest step.",
    "t0": "float | The number of steps before averaging starts.",
    "weight_decay": "float or array | A multiple of the parameters that is added to the gradients.",
    "adagrad.eps": "float | Added to the root of the sum.",
    "adadelta.lr": "float, array or schedule | A factor of the steps.",
    "adadelta.eps": "float | Added to the means.",
    "rmsprop.eps": "float | Added to the root of the mean.",
    "rprop.lr": "float, array or schedule | The length of the first step.",
    "asgd.lr": "float, array or schedule | The length of the first step.",
    "asgd.alpha": "float | The power by which the steps become shorter.",
    "lion.betas": "tuple of two floats | "
    "How much of the mean is used for the step, and how much of it stays.",
    "lion.weight_decay": "float or array | How fast parameters decay.",
    "adafactor.lr": "float, array or schedule | "
    "The largest length of a step, relative to the size of the parameters.",
    "adafactor.eps": "tuple of two floats | "
    "The smallest mean (by default that of the dtype), and the smallest size of parameters.",
    "adafactor.weight_decay": "float or array | How fast parameters decay.",
}
_NOT_NEGATIVE = (
    "alpha d eps initial_accumulator_value lr lr_decay momentum momentum_decay weight_decay"
)
_WORDS = {"lr": "learning rate", "eps": "epsilon value"}


def _check(options: Options, defaults: Options) -> None:
    """Raise for options that no algorithm can use."""
    for name, value in options.items():
        if not isinstance(defaults[name], tuple):
            check_number(name, value)
        elif isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
            raise TypeError(f"{name} must be a pair of numbers, not {value!r}")
    for name in _NOT_NEGATIVE.split():
        value = options.get(name, 0)
        if isinstance(value, int | float) and not value >= 0:
            said = _WORDS.get(name, f"{name} value")
            raise ValueError(f"Invalid {said}: {value}: {name} must not be negative")
    for i, beta in enumerate(options.get("betas", ())):
        if not hasattr(beta, "dtype") and not 0 <= beta < 1:
            raise ValueError(
                f"Invalid beta parameter at index {i}: {beta}: it must be at least 0 and below 1"
            )


def _first_length(p: Any, o: Options) -> Any:
    return o["lr"](0) if callable(o["lr"]) else o["lr"]


def _rule(make: Callable[P, Algorithm]) -> Callable[P, Rule]:
    """A function that gives a `Rule`, of one that gives an algorithm."""
    own = inspect.signature(make)
    defaults = {name: parameter.default for name, parameter in own.parameters.items()}

    @functools.wraps(make)
    def made(*args: P.args, **keywords: P.kwargs) -> Rule:
        bound = own.bind(*args, **keywords)
        bound.apply_defaults()
        _check(bound.arguments, defaults)
        numbers, change, slots, *more = make(*args, **keywords)
        added = more[0] if more else {}
        elementwise, reads = added.pop("elementwise", True), added.pop("reads_params", False)
        rule = Rule(numbers, change, slots, {**bound.arguments, **added})
        rule.elementwise, rule.reads_params = elementwise, reads
        return rule

    return made


@_rule
def sgd(
    lr: Any = 1e-3,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: Any = 0.0,
    nesterov: bool = False,
    *,
    maximize: bool = False,
) -> Algorithm:
    """Gradient descent, with momentum if it is not zero.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> rule = ag.optim.sgd(0.1)
    >>> changes, state = rule.update(np.array([2.0]), rule.init(np.zeros(1)))
    >>> changes
    array([-0.2])
    """
    if nesterov and (momentum <= 0 or dampening != 0):
        raise ValueError("Nesterov momentum requires a momentum and zero dampening")
    return _of_sgd, _sgd, {"momentum_buffer": lambda p, o: 0 if o["momentum"] else None}


def _of_sgd(o: Options, s: Slots, t: Any) -> Numbers:
    return o["lr"], where(t == 1, 1.0, 1 - o["dampening"]) if o["dampening"] else 1.0


def _sgd(o: Options, p: Any, g: Any, s: Slots, length: Any, weight: Any) -> Any:
    momentum = o["momentum"]
    if momentum:
        buffer = s.blend("momentum_buffer", momentum, weight * g)
        g = g + momentum * buffer if o["nesterov"] else buffer
    return -length * g


def _lr(o: Options, s: Slots, t: Any) -> Numbers:
    return (o["lr"],)


@_rule
def adam(
    lr: Any = 1e-3,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: Any = 0.0,
    amsgrad: bool = False,
    *,
    maximize: bool = False,
    decoupled_weight_decay: bool = False,
) -> Algorithm:
    """Adam: steps along a running mean of the gradients, scaled by one of their squares.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> rule = ag.optim.adam(0.1)
    >>> params = {"w": np.array([1.0, -3.0])}
    >>> state = rule.init(params)
    >>> for _ in range(100):
    ...     grads = {"w": 2 * params["w"]}
    ...     changes, state = rule.update(grads, state, params)
    ...     params = ag.optim.apply(params, changes)
    >>> bool(abs(params["w"]).max() < 0.2)
    True
    """
    largest = {"max_exp_avg_sq": lambda p, o: 0 if o["amsgrad"] else None}
    return _of_adam, _adam, {"exp_avg": 0, "exp_avg_sq": 0, **largest}


def adamw(
    lr: Any = 1e-3,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: Any = 1e-2,
    amsgrad: bool = False,
    *,
    maximize: bool = False,
) -> Rule:
    """Adam with weight decay apart from the gradients. The parameters are those of `adam`."""
    return adam(
        lr, betas, eps, weight_decay, amsgrad, maximize=maximize, decoupled_weight_decay=True
    )


def _moments(g: Any, s: Slots, betas: tuple[Any, Any]) -> tuple[Any, Any]:
    """The running means of the gradients and of their squares."""
    first, second = (number_for(beta, g) for beta in betas)
    mean = s.blend("exp_avg", first, (1 - first) * g)
    return mean, s.blend("exp_avg_sq", second, (1 - second) * g * g)


def _of_adam(o: Options, s: Slots, t: Any) -> Numbers:
    first, second = o["betas"]
    return o["lr"] / (1 - first**t), (1 - second**t) ** 0.5


def _adam(o: Options, p: Any, g: Any, s: Slots, length: Any, root: Any) -> Any:
    mean, square = _moments(g, s, o["betas"])
    if o["amsgrad"]:
        square = s.put("max_exp_avg_sq", ops.maximum(s["max_exp_avg_sq"], square))
    return -length * mean / (ops.sqrt(square) / root + o["eps"])


@_rule
def nadam(
    lr: Any = 2e-3,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: Any = 0.0,
    momentum_decay: float = 4e-3,
    decoupled_weight_decay: bool = False,
    *,
    maximize: bool = False,
) -> Algorithm:
    """Adam with Nesterov's momentum."""
    return _of_nadam, _nadam, {"exp_avg": 0, "exp_avg_sq": 0, "mu_product": 1.0}


def _of_nadam(o: Options, s: Slots, t: Any) -> Numbers:
    first, second = o["betas"]
    now, then = (first * (1 - 0.5 * 0.96 ** (n * o["momentum_decay"])) for n in (t, t + 1))
    product = s["mu_product"] = s["mu_product"] * now
    weights = o["lr"] * (1 - now) / (1 - product), o["lr"] * then / (1 - product * then)
    return 1 - second**t, *weights


def _nadam(o: Options, p: Any, g: Any, s: Slots, bias: Any, of_gradient: Any, of_mean: Any) -> Any:
    mean, square = _moments(g, s, o["betas"])
    return -(of_gradient * g + of_mean * mean) / (ops.sqrt(square / bias) + o["eps"])


@_rule
def radam(
    lr: Any = 1e-3,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: Any = 0.0,
    decoupled_weight_decay: bool = False,
    *,
    maximize: bool = False,
) -> Algorithm:
    """Adam that does not scale its first steps."""
    return _of_radam, _radam, {"exp_avg": 0, "exp_avg_sq": 0}


def _of_radam(o: Options, s: Slots, t: Any) -> Numbers:
    first, second = o["betas"]
    most, bias = 2 / (1 - second) - 1, 1 - second**t
    length = o["lr"] / (1 - first**t)
    rho = most - 2 * t * second**t / bias
    scaled = rho > 5 if most > 5 else False
    if scaled is False:
        return length, None, None
    safe = where(scaled, rho, 6.0)
    whole = (most - 4) * (most - 2)
    factor = (bias * (safe - 4) * (safe - 2) * most / (whole * safe)) ** 0.5
    return length, factor, where(scaled, 1.0, 0.0)


def _radam(o: Options, p: Any, g: Any, s: Slots, length: Any, factor: Any, share: Any) -> Any:
    mean, square = _moments(g, s, o["betas"])
    if factor is None:
        return -length * mean
    adapted = factor / (ops.sqrt(square) + o["eps"])
    return -length * mean * (share * adapted + (1 - share))


@_rule
def adamax(
    lr: Any = 2e-3,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: Any = 0.0,
    *,
    maximize: bool = False,
) -> Algorithm:
    """Adam, scaled by the largest gradients instead of a mean of their squares."""
    return _of_adamax, _adamax, {"exp_avg": 0, "exp_inf": 0}


def _of_adamax(o: Options, s: Slots, t: Any) -> Numbers:
    return (o["lr"] / (1 - o["betas"][0] ** t),)


def _adamax(o: Options, p: Any, g: Any, s: Slots, length: Any) -> Any:
    first, second = o["betas"]
    mean = s.blend("exp_avg", first, (1 - first) * g)
    largest = s.put("exp_inf", ops.maximum(second * s["exp_inf"], ops.abs(g) + o["eps"]))
    return -length * mean / largest


@_rule
def adagrad(
    lr: Any = 1e-2,
    lr_decay: float = 0.0,
    weight_decay: Any = 0.0,
    initial_accumulator_value: float = 0.0,
    eps: float = 1e-10,
    *,
    maximize: bool = False,
) -> Algorithm:
    """Steps scaled by the sum of all squared gradients."""
    return _of_adagrad, _adagrad, {"sum": lambda p, o: o["initial_accumulator_value"]}


def _of_adagrad(o: Options, s: Slots, t: Any) -> Numbers:
    return (o["lr"] / (1 + (t - 1) * o["lr_decay"]),)


def _adagrad(o: Options, p: Any, g: Any, s: Slots, length: Any) -> Any:
    return -length * g / (ops.sqrt(s.blend("sum", 1, g * g)) + o["eps"])


@_rule
def adadelta(
    lr: Any = 1.0,
    rho: float = 0.9,
    eps: float = 1e-6,
    weight_decay: Any = 0.0,
    *,
    maximize: bool = False,
) -> Algorithm:
    """Steps as long as the last steps, in proportion to the gradients."""
    if not 0 <= rho <= 1:
        raise ValueError(f"Invalid rho value: {rho}: it must be between 0 and 1")
    return _lr, _adadelta, {"square_avg": 0, "acc_delta": 0}


def _adadelta(o: Options, p: Any, g: Any, s: Slots, length: Any) -> Any:
    rho, eps = o["rho"], o["eps"]
    size = ops.sqrt(s.blend("square_avg", rho, (1 - rho) * g * g) + eps)
    delta = ops.sqrt(s["acc_delta"] + eps) / size * g
    s.blend("acc_delta", rho, (1 - rho) * delta * delta)
    return -length * delta


@_rule
def rmsprop(
    lr: Any = 1e-2,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: Any = 0.0,
    momentum: float = 0.0,
    centered: bool = False,
    *,
    maximize: bool = False,
) -> Algorithm:
    """Steps scaled by a running mean of the squared gradients."""
    slots = {
        "square_avg": 0,
        "momentum_buffer": lambda p, o: 0 if o["momentum"] else None,
        "grad_avg": lambda p, o: 0 if o["centered"] else None,
    }
    return _lr, _rmsprop, slots


def _rmsprop(o: Options, p: Any, g: Any, s: Slots, length: Any) -> Any:
    alpha = o["alpha"]
    square = s.blend("square_avg", alpha, (1 - alpha) * g * g)
    if o["centered"]:
        mean = s.blend("grad_avg", alpha, (1 - alpha) * g)
        square = square - mean * mean
    step = g / (ops.sqrt(square) + o["eps"])
    if o["momentum"]:
        step = s.blend("momentum_buffer", o["momentum"], step)
    return -length * step


@_rule
def rprop(
    lr: Any = 1e-2,
    etas: tuple[float, float] = (0.5, 1.2),
    step_sizes: tuple[float, float] = (1e-6, 50.0),
    *,
    maximize: bool = False,
) -> Algorithm:
    """Steps by the signs of the gradients alone; longer while a sign stays."""
    if not 0 < etas[0] < 1 < etas[1]:
        raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")

    return _no_numbers, _rprop, {"prev": 0, "step_size": _first_length}


def _no_numbers(o: Options, s: Slots, t: Any) -> Numbers:
    return ()


def _rprop(o: Options, p: Any, g: Any, s: Slots) -> Any:
    less, more = o["etas"]
    agree = g * s["prev"]
    up, down = ops.astype(agree > 0, p.dtype), ops.astype(agree < 0, p.dtype)
    factor = up * more + down * less + (1 - up - down)
    length = s.put("step_size", ops.clip(s["step_size"] * factor, *o["step_sizes"]))
    g = s.put("prev", ops.where(agree < 0, 0, g))
    return -ops.sign(g) * length


@_rule
def asgd(
    lr: Any = 1e-2,
    lambd: float = 1e-4,
    alpha: float = 0.75,
    t0: float = 1e6,
    weight_decay: Any = 0.0,
    *,
    maximize: bool = False,
) -> Algorithm:
    """Gradient descent whose state has the average `ax` of the parameters."""
    return _of_asgd, _asgd, {"eta": _first_length, "mu": 1.0, "ax": 0}, {"reads_params": True}


def _of_asgd(o: Options, s: Slots, t: Any) -> Numbers:
    lr, lambd = o["lr"], o["lambd"]
    eta, mu = s["eta"], s["mu"]
    s["eta"] = lr / (1 + lambd * lr * t) ** o["alpha"]
    s["mu"] = 1 / where(t - o["t0"] > 1, t - o["t0"], 1.0)
    return eta, mu


def _asgd(o: Options, p: Any, g: Any, s: Slots, eta: Any, mu: Any) -> Any:
    delta = -eta * (g + o["lambd"] * p)
    s.blend("ax", 1 - mu, mu * (p + delta))
    return delta


@_rule
def lion(
    lr: Any = 1e-4,
    betas: tuple[float, float] = (0.9, 0.99),
    weight_decay: Any = 0.0,
    *,
    maximize: bool = False,
) -> Algorithm:
    """Lion: steps by the signs of a running mean, with weight decay apart from the gradients."""
    return _lr, _lion, {"exp_avg": 0}, {"decoupled_weight_decay": True}


def _lion(o: Options, p: Any, g: Any, s: Slots, length: Any) -> Any:
    first, second = o["betas"]
    direction = ops.sign(first * s["exp_avg"] + (1 - first) * g)
    s.blend("exp_avg", second, (1 - second) * g)
    return -length * direction


@_rule
def adafactor(
    lr: Any = 1e-2,
    beta2_decay: float = -0.8,
    eps: tuple[float | None, float] = (None, 1e-3),
    d: float = 1.0,
    weight_decay: Any = 0.0,
    *,
    maximize: bool = False,
) -> Algorithm:
    """Adam's scaling with little memory: of a matrix, it keeps means over rows and over columns."""
    if beta2_decay > 0:
        raise ValueError(f"Invalid beta2_decay: {beta2_decay}: it must not be positive")
    if (eps[0] is not None and eps[0] < 0) or eps[1] < 0:
        raise ValueError(f"Invalid eps: {eps}: epsilon1 and epsilon2 should be >= 0")
    if d < 1:
        raise ValueError(f"Invalid d: {d}: Clipping threshold d should be >= 1")

    def line(axis: int) -> Any:
        def made(p: Any, o: Options) -> Any:
            if p.ndim < 2:
                return None
            shape = list(p.shape)
            shape[axis] = 1
            return backend_of(plain(p)).full(plain(p), tuple(shape), 0, p.dtype)

        return made

    slots = {
        "row_var": line(-1),
        "col_var": line(-2),
        "variance": lambda p, o: 0 if p.ndim < 2 else None,
    }
    more = {"decoupled_weight_decay": True, "elementwise": False, "reads_params": True}
    return _of_adafactor, _adafactor, slots, more


def _of_adafactor(o: Options, s: Slots, t: Any) -> Numbers:
    bound = t**-0.5
    return where(o["lr"] < bound, o["lr"], bound), t ** o["beta2_decay"]


def _adafactor(o: Options, p: Any, g: Any, s: Slots, length: Any, weight: Any) -> Any:
    smallest, least = o["eps"]
    limits = backend_of(plain(p)).xp.finfo(p.dtype)
    tiny = float(limits.eps) if smallest is None else smallest
    if p.ndim > 1:
        rows = s.blend("row_var", 1 - weight, weight * ops.mean(g * g, axis=-1, keepdims=True))
        columns = s.blend("col_var", 1 - weight, weight * ops.mean(g * g, axis=-2, keepdims=True))
        whole = ops.mean(rows, axis=-2, keepdims=True)
        estimate = rows @ columns / ops.clip(whole, tiny, None)
    else:
        estimate = s.blend("variance", 1 - weight, weight * g * g)
    update = g / ops.sqrt(ops.clip(estimate, tiny**2, None))
    size = ops.clip(ops.sqrt(ops.mean(p * p)), least, None)
    shrunk = ops.clip(ops.sqrt(ops.mean(update * update)) / o["d"], 1.0, None)
    return -length * size / shrunk * update
