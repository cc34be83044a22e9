"""Rules: algorithms that change each parameter by itself, as functions or in place.

The algorithms are in `algorithms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .. import ops
from ..arrays.tensor import Tensor
from ..arrays.traced import NotTraceable, Program
from ..autograd.graph import increment_version
from ..backends import backend_of
from ..backends.numpy import native
from ..core.array import plain
from ..core.axes import same_shape
from ..core.structures import taken_apart
from ..func.trees import flatten, flatten_like
from .transforms import Transform, number_for

# As many elements as a processor's cache holds, of a parameter, its gradient and its state. A large
# array is changed part by part: what one operation wrote is then still in the cache for the next.
BLOCK = 1 << 15


class Slots(dict[str, Any]):
    """What a rule remembers of one parameter: arrays by their names."""

    owned = False  # whether the arrays may be written

    def blend(self, name: str, factor: Any, value: Any) -> Any:
        """`factor` times what was there, plus `value`."""
        old = self[name]
        if self.owned:
            old *= factor
            old += value
        else:
            old = factor * old + value
        self[name] = old
        return old

    def put(self, name: str, value: Any) -> Any:
        """Another value, in the same memory if that may be written."""
        if self.owned and isinstance(self[name], np.ndarray):
            self[name][...] = value
        else:
            self[name] = value
        return self[name]


# A rule gets the options, the slots and the number of the step, and gives a function of the
# parameter, its gradient and the slots: what to add to the parameter.
Change = Callable[[Any, Any, Slots], Any]
Start = Callable[[dict[str, Any], Slots, Any], Change]


class Rule(Transform):
    """An algorithm that works on each parameter by itself.

    Parameters
    ----------
    start : callable
        From the options, the slots and the number of the step, a function of the parameter, its
        gradient and the slots: what to add to the parameter.
    slots : dict
        The names of the arrays that the rule remembers, and how each of them starts: a number for
        all elements, or a function of the parameter and the options.
    options : dict
        Learning rate, weight decay and so on, under PyTorch's names.

    Examples
    --------
    >>> import arraygrad as ag
    >>> ag.optim.adam(0.1).options["lr"]
    0.1
    """

    elementwise = True

    def __init__(self, start: Start, slots: dict[str, Any], options: dict[str, Any]) -> None:
        self._start, self.slots, self.options = start, slots, options

    # --- one parameter ---

    def slots_of(
        self, p: Any, options: dict[str, Any] | None = None, names: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """The slots of a parameter before the first step, or some of them."""
        options = self.options if options is None else options
        made = {}
        for name in self.slots if names is None else names:
            value = self.slots[name]
            if callable(value):
                value = value(p, options)
            if value is None:
                continue
            if not hasattr(value, "dtype") and name not in NUMBERS:
                backend = backend_of(plain(p))
                both = complex(value, value) if backend.kind(p.dtype) == "c" else value
                value = backend.full(plain(p), tuple(p.shape), both, p.dtype)
            made[name] = value
        return made

    def change(
        self, p: Any, g: Any, slots: dict[str, Any], step: Any, options: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """What to add to a parameter at a step, counted from 1; and its next slots."""
        run, held = self._started(slots, step, options)
        is_complex = backend_of(plain(p)).kind(p.dtype) == "c"
        arrays = [name for name in held if name not in NUMBERS]
        if is_complex:  # real and imaginary parts are parameters of their own
            p, g = _parted(p), _parted(g)
            held.update({name: _parted(held[name]) for name in arrays})
        delta = run(p, g, held)
        if is_complex:
            delta = _joined(delta)
            held.update({name: _joined(held[name]) for name in arrays})
        return delta, held

    def write_arrays(
        self,
        given: Sequence[tuple[Any, Any, dict[str, Any]]],
        step: int,
        options: dict[str, Any],
    ) -> None:
        """Change NumPy arrays and their slots in place. `given` has arrays, gradients and slots."""
        size = sum([p.size for p, _, _ in given])
        has_native = size >= native.SMALL and native.compiler() is not None
        known: dict[Any, Any] = {}  # native code, which has the numbers of the step
        run, numbers = None, ()
        for p, g, slots in given:
            held = slots.values()
            if run and run(p, g, *held, *numbers, p, *held) is not NotImplemented:
                continue
            g = g if g.flags.c_contiguous else np.ascontiguousarray(g)
            arrays = [p, g, *held]
            if has_native and all(type(a) is np.ndarray and a.ndim for a in arrays):
                key = (*slots, *[a.dtype for a in arrays])
                if key not in known:
                    known[key] = self._one_pass(
                        arrays, tuple(slots), step, {**self.options, **options}
                    )
                run, numbers = known[key]
                if run and run(*arrays, *numbers, p, *held) is not NotImplemented:
                    continue
            self._write_by_numpy(p, g, slots, step, options)

    def _write_by_numpy(
        self, p: Any, g: Any, slots: dict[str, Any], step: int, options: dict[str, Any]
    ) -> None:
        """Change an array and its slots in place."""
        run, given = self._started(slots, step, options)
        arrays = {name: a for name, a in given.items() if name not in NUMBERS}
        numbers = {name: a for name, a in given.items() if name in NUMBERS}
        if p.dtype.kind == "c":  # real and imaginary parts are parameters of their own
            p, g, *views = (a[..., None].view(p.real.dtype) for a in (p, g, *arrays.values()))
            arrays = dict(zip(arrays, views, strict=True))
        together = (p, *arrays.values())
        if (
            self.elementwise
            and p.size > BLOCK
            and all(a.flags.c_contiguous and a.shape == p.shape for a in together)
        ):
            flat, gradient = [a.reshape(-1) for a in together], np.ascontiguousarray(g).reshape(-1)
            for at in range(0, p.size, BLOCK):
                part = slice(at, at + BLOCK)
                parts = [a[part] for a in flat]
                held = Slots(zip(arrays, parts[1:], strict=True), **numbers)
                held.owned = True
                parts[0] += run(parts[0], gradient[part], held)
        else:
            held = Slots(arrays, **numbers)
            held.owned = True
            p += run(p, g, held)
        slots.update(numbers)

    def _one_pass(
        self, arrays: list[Any], names: tuple[str, ...], step: int, options: dict[str, Any]
    ) -> tuple[Any, list[Any]]:
        """A native function of a parameter, its gradient and slots, and the numbers it takes."""
        if not self.elementwise or any(hasattr(options[name], "dtype") for name in self.options):
            return None, []
        program = Program(arrays[0].shape)
        p, g, *values = map(program.input, arrays)
        try:
            run, held = self._started(dict(zip(names, values, strict=True)), step, options)
            with np.errstate(all="ignore"):
                results = [p + run(p, g, held), *(held[name] for name in names)]
        except NotTraceable:  # it is more than ops on elements
            return None, []
        if not all(program.is_like(value, p) for value in results):
            return None, []
        return native.piece(program, results, [arrays[0], *arrays[2:]])

    def _started(
        self, slots: dict[str, Any], step: Any, options: dict[str, Any]
    ) -> tuple[Change, Slots]:
        """The rule of one step, with gradients turned and weights decayed as the options say."""
        options = {**self.options, **options}
        if callable(options.get("lr")):
            options["lr"] = options["lr"](step - 1)
        decay, turned = options.get("weight_decay", 0), options.get("maximize", False)
        apart = options.get("decoupled_weight_decay", False)
        has_decay = hasattr(decay, "dtype") or decay != 0
        given = Slots(slots)
        start = self._start(options, given, step)

        def run(p: Any, g: Any, held: Slots) -> Any:
            g = -g if turned else g
            if has_decay and not apart:
                g = g + number_for(decay, p) * p
            delta = start(p, g, held)
            return (
                delta - number_for(options["lr"] * decay, p) * p if has_decay and apart else delta
            )

        return run, given

    # --- structures of parameters ---

    def init(self, params: Any) -> dict[str, Any]:
        leaves, unflatten = flatten(params)
        if not leaves:
            raise ValueError("params has no arrays")
        each = [self.slots_of(p) for p in leaves]
        names = [name for name in self.slots if any(name in slots for slots in each)]
        trees = {name: unflatten([slots.get(name) for slots in each]) for name in names}
        return {"step": np.zeros(()), **trees}  # an array, which a compiled function goes on from

    def update(self, grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        leaves, unflatten = flatten(grads)
        values = _values(params, grads, leaves)
        count = state["step"] + 1
        held = _each(state, grads)
        changes, after = [], []
        for p, g, slots in zip(values, leaves, held, strict=True):
            delta, slots = self.change(p, g, slots, count, {})
            changes.append(delta)
            after.append(slots)
        names = [name for name in state if name != "step"]
        new = {name: unflatten([slots.get(name) for slots in after]) for name in names}
        return unflatten(changes), {"step": count, **new}

    def write(self, params: list[Tensor], grads: list[Any], state: Any) -> Any:
        if not all(isinstance(plain(p), np.ndarray) for p in params):
            return super().write(params, grads, state)
        step = int(state["step"]) + 1
        held = _each(state, params)
        arrays = [p.detach().array for p in params]
        gradients = [np.asarray(plain(g)) for g in grads]
        self.write_arrays(list(zip(arrays, gradients, held, strict=True)), step, {})
        increment_version(params)  # a graph from before the step would give wrong gradients
        numbers = {n: [slots.get(n) for slots in held] for n in state if n in NUMBERS}
        return {**state, "step": np.asarray(float(step)), **numbers}


# Slots that are one number for a parameter.
NUMBERS = ("eta", "mu", "mu_product")


def _each(state: dict[str, Any], like: Any) -> list[dict[str, Any]]:
    """The slots of each parameter, from a state of structures."""
    names = [name for name in state if name != "step"]
    count = len(flatten(like)[0])
    columns = [_column(state[name], count) for name in names]
    return [
        {n: column[i] for n, column in zip(names, columns, strict=True) if column[i] is not None}
        for i in range(count)
    ]


def _column(tree: Any, count: int) -> list[Any]:
    found, _ = taken_apart(tree, none_is_leaf=True)
    if len(found) != count:
        raise ValueError(f"state belongs to {len(found)} arrays, but grads has {count}")
    return found


def _values(params: Any, grads: Any, leaves: list[Any]) -> list[Any]:
    if params is None:
        return leaves
    values = flatten_like(params, grads, "params", "grads")
    _check_shapes(values, leaves)
    return values


def _check_shapes(params: list[Any], grads: list[Any]) -> None:
    for i, (p, g) in enumerate(zip(params, grads, strict=True)):
        if not same_shape(p.shape, g.shape):
            raise ValueError(
                f"grads: number {i} has shape {tuple(g.shape)} for parameters of shape "
                f"{tuple(p.shape)}"
            )


def _parted(x: Any) -> Any:
    """The real and the imaginary parts, along a new last axis."""
    return ops.stack((ops.real(x), ops.imag(x)), axis=-1)


def _joined(x: Any) -> Any:
    return x[..., 0] + 1j * x[..., 1]


class Optimizer:
    """Steps of tensors, in place, as PyTorch's optimisers make them.

    Parameters
    ----------
    params : any structure
        Tensors that require gradients.
    transform : Transform
        How the tensors change, such as `adam(1e-3)`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = ag.optim.Optimizer(x, ag.optim.sgd(0.25))
    >>> for _ in range(2):
    ...     optimizer.zero_grad()
    ...     (x**2).sum().backward()
    ...     optimizer.step()
    >>> x
    tensor([ 0.25, -0.5 ], requires_grad=True)
    """

    def __init__(self, params: Any, transform: Transform) -> None:
        if not isinstance(transform, Transform):
            raise TypeError(f"transform must be one, such as adam(), not {transform!r}")
        self.transform = transform
        self._params, _ = flatten(params)
        for i, p in enumerate(self._params):
            if not isinstance(p, Tensor) or not p.is_leaf or not p.requires_grad:
                raise TypeError(f"params: number {i} must be a leaf tensor that requires gradients")
        self.state = transform.init([p.detach().array for p in self._params])

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for p in self._params:
            p.grad = None

    def step(self, grads: Any = None) -> None:
        """Change the tensors once.

        Parameters
        ----------
        grads : any structure, optional
            The gradients, in the structure of the tensors; by default `.grad` of each.
        """
        if grads is None:
            found = [p.grad for p in self._params]
            for i, g in enumerate(found):
                if g is None:
                    raise ValueError(
                        f"params: number {i} has no gradient: call backward(), or pass grads"
                    )
        else:
            found = flatten(grads)[0]
            if len(found) != len(self._params):
                raise ValueError(f"grads has {len(found)} arrays for {len(self._params)} tensors")
        arrays = [g.detach().array if isinstance(g, Tensor) else g for g in found]
        _check_shapes(self._params, arrays)
        self.state = self.transform.write(self._params, arrays, self.state)
