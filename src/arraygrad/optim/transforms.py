"""What turns gradients into changes of parameters: transforms, and chains of them.

A transform is used in one of two ways, by the same code. As functions without side effects:
`init`, `update` and `apply`. Or by `Optimizer`, which writes into tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

import numpy as np

from .. import ops
from ..arrays.tensor import Tensor
from ..autograd import no_grad
from ..core.array import plain
from ..core.axes import same_shape
from ..func.trees import flatten, flatten_like


class Transform:
    """Turns gradients into changes of parameters. Subclasses define `init` and `update`.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> class Signs(ag.optim.Transform):
    ...     def init(self, params):
    ...         return ()
    ...     def update(self, grads, state, params=None):
    ...         return ag.tree.map(np.sign, grads), state
    >>> Signs().update({"w": np.array([2.0, -3.0])}, ())[0]
    {'w': array([ 1., -1.])}
    """

    def init(self, params: Any) -> Any:
        """The state before the first step.

        Parameters
        ----------
        params : any structure
            The parameters.
        """
        return ()

    def update(self, grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        """What to add to the parameters, and the next state. Nothing is changed in place.

        Parameters
        ----------
        grads : any structure
            The gradients, in the structure of the parameters.
        state : any structure
            What `init`, or the last `update`, gave.
        params : any structure
            The parameters. They may be left out where the step does not depend on them.
        """
        raise NotImplementedError("a transform defines update()")

    def write(self, params: list[Tensor], grads: list[Any], state: Any) -> Any:
        """Change tensors in place, and give the next state. The one given is not used any more."""
        arrays = [p.detach().array for p in params]
        changes, state = self.update(grads, state, arrays)
        with no_grad():
            for p, change in zip(params, changes, strict=True):
                p += change
        return state


class Chain(Transform):
    """Transforms, each of which gets what the one before gave."""

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms = transforms

    def init(self, params: Any) -> Any:
        return tuple(transform.init(params) for transform in self.transforms)

    def update(self, grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        states = []
        for transform, own in zip(self.transforms, state, strict=True):
            grads, after = transform.update(grads, own, params)
            states.append(after)
        return grads, tuple(states)

    def write(self, params: list[Tensor], grads: list[Any], state: Any) -> Any:
        *first, last = self.transforms
        arrays = [p.detach().array for p in params]
        grads, states = Chain(first).update(grads, state[:-1], arrays)
        return (*states, last.write(params, grads, state[-1]))


def chain(*transforms: Transform) -> Transform:
    """Transforms one after another, such as clipping before Adam.

    Parameters
    ----------
    *transforms : Transform
        Each gets the changes that the one before gave; the first one gets the gradients.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> rule = ag.optim.chain(ag.optim.clip_by_norm(1.0), ag.optim.sgd(0.1))
    >>> state = rule.init(np.zeros(2))
    >>> rule.update(np.array([3.0, 4.0]), state)[0]
    array([-0.06, -0.08])
    """
    if not transforms:
        raise ValueError("chain() needs at least one transform")
    for transform in transforms:
        check_transform(transform)
    return Chain(transforms)


def apply(params: Any, updates: Any) -> Any:
    """The parameters after a step: the changes are added to them.

    Parameters
    ----------
    params : any structure
        The parameters.
    updates : any structure
        What `update` gave for them.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> ag.optim.apply({"w": np.ones(2)}, {"w": np.array([0.5, -0.5])})
    {'w': array([1.5, 0.5])}
    """
    return _joined(lambda p, change: p + change, params, updates, "params", "updates")


def _joined(function: Callable[..., Any], tree: Any, other: Any, name: str, others: str) -> Any:
    """What a function gives for the leaves of two structures of one form."""
    leaves, unflatten = flatten(tree)
    more = flatten_like(other, tree, others, name)
    check_shapes(leaves, more, others)
    return unflatten([function(*pair) for pair in zip(leaves, more, strict=True)])


class Stateless(Transform):
    """A function of the gradients and the parameters, as lists of arrays."""

    def __init__(self, function: Callable[[list[Any], list[Any] | None], list[Any]]) -> None:
        self._function = function

    def update(self, grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        leaves, unflatten = flatten(grads)
        given = None if params is None else flatten_like(params, grads, "params", "grads")
        return unflatten(self._function(leaves, given)), state


def number_for(value: Any, p: Any) -> Any:
    """A number, or an array of one number, that does not change the library and dtype of `p`."""
    if not hasattr(value, "dtype"):
        return value
    if isinstance(value, np.generic | np.ndarray) and not isinstance(plain(p), np.ndarray):
        return float(value)
    return ops.astype(value, p.dtype)


def ema(mean: Any, params: Any, decay: float) -> Any:
    """An exponential average of parameters: `decay` times the mean, plus the rest of `params`.

    Parameters
    ----------
    mean : any structure
        The average so far.
    params : any structure
        The parameters now.
    decay : float
        Between 0 and 1: how much of the average stays.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> ag.optim.ema(np.array([1.0]), np.array([3.0]), 0.75)
    array([1.5])
    """
    check_number("decay", decay)
    if not 0 <= decay <= 1:
        raise ValueError(f"decay must be between 0 and 1, but is {decay}")
    return _joined(lambda m, p: m + (1 - decay) * (p - m), mean, params, "mean", "params")


def average(mean: Any, params: Any, count: Any) -> Any:
    """The mean of `count` sets of parameters, and one set more.

    Parameters
    ----------
    mean : any structure
        The mean so far.
    params : any structure
        The parameters now.
    count : int
        How many sets of parameters the mean is of.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> ag.optim.average(np.array([1.0]), np.array([4.0]), 2)
    array([2.])
    """
    share = 1 / (count + 1)
    return _joined(lambda m, p: m + number_for(share, m) * (p - m), mean, params, "mean", "params")


def norm(tree: Any, ord: float = 2.0) -> Any:
    """The norm of all numbers in a structure of arrays.

    Parameters
    ----------
    tree : any structure
        The arrays.
    ord : float
        The order; `inf` gives the largest absolute value.

    Returns
    -------
    array
        A number.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> float(ag.optim.norm({"a": np.array([3.0]), "b": np.array([4.0])}))
    5.0
    """
    sizes = [ops.abs(leaf) for leaf in flatten(tree)[0]]
    if ord == float("inf"):
        return ops.max(ops.stack([ops.max(size) for size in sizes]))
    return sum(ops.sum(size**ord) for size in sizes) ** (1 / ord)


def clip_by_norm(max_norm: float, ord: float = 2.0) -> Transform:
    """Scale all gradients down together, so that their norm is at most `max_norm`.

    Parameters
    ----------
    max_norm : float
        The largest norm.
    ord : float
        The order of the norm.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> clip = ag.optim.clip_by_norm(1.0)
    >>> clip.update(np.array([3.0, 4.0]), clip.init(np.zeros(2)))[0]
    array([0.6, 0.8])
    """
    _check(max_norm=max_norm)

    def clip(grads: list[Any], params: list[Any] | None) -> list[Any]:
        factor = max_norm / ops.clip(norm(grads, ord), max_norm, None)
        return [g * number_for(factor, g) for g in grads]

    return Stateless(clip)


def clip_by_value(max_value: float) -> Transform:
    """Limit each element of the gradients to between `-max_value` and `max_value`.

    Parameters
    ----------
    max_value : float
        The largest absolute value.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> clip = ag.optim.clip_by_value(1.0)
    >>> clip.update(np.array([0.5, 4.0]), clip.init(np.zeros(2)))[0]
    array([0.5, 1. ])
    """
    _check(max_value=max_value)
    return Stateless(lambda grads, params: [ops.clip(g, -max_value, max_value) for g in grads])


def decay_weights(weight_decay: float) -> Transform:
    """Add a multiple of the parameters to the gradients.

    Parameters
    ----------
    weight_decay : float
        The factor of the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> decay, params = ag.optim.decay_weights(0.1), np.ones(2)
    >>> decay.update(np.zeros(2), decay.init(params), params)[0]
    array([0.1, 0.1])
    """
    _check(weight_decay=weight_decay)

    def decay(grads: list[Any], params: list[Any] | None) -> list[Any]:
        if params is None:
            raise ValueError("decay_weights() needs the parameters: update(grads, state, params)")
        return [g + weight_decay * p for g, p in zip(grads, params, strict=True)]

    return Stateless(decay)


def scale(factor: Any) -> Transform:
    """Multiply by a number.

    Parameters
    ----------
    factor : float or array
        The number.

    Examples
    --------
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> half = ag.optim.scale(0.5)
    >>> half.update(np.array([3.0, 4.0]), half.init(np.zeros(2)))[0]
    array([1.5, 2. ])
    """
    return Stateless(lambda grads, params: [g * number_for(factor, g) for g in grads])


def check_transform(transform: Any) -> None:
    """Raise for what is no transform, such as the function that makes one."""
    if not isinstance(transform, Transform):
        raise TypeError(f"transform must be one, such as adam(), not {transform!r}")


def check_shapes(params: list[Any], others: list[Any], name: str) -> None:
    """Raise unless arrays have the shapes of the parameters."""
    for i, (p, x) in enumerate(zip(params, others, strict=True)):
        if not hasattr(x, "shape") and not isinstance(x, Number):
            raise TypeError(f"{name}: number {i} must be an array, not {type(x).__name__}")
        own, shape = (tuple(getattr(array, "shape", ())) for array in (p, x))
        if not same_shape(own, shape):
            raise ValueError(f"{name}: number {i} has shape {shape} for parameters of shape {own}")


def check_number(name: str, value: Any) -> None:
    """Raise for text and None."""
    if value is None or isinstance(value, str):
        raise TypeError(f"{name} must be a number, not {value!r}")


def _check(**values: Any) -> None:
    for name, value in values.items():
        check_number(name, value)
        if not value >= 0:
            raise ValueError(f"{name} must not be negative, but is {value}")
