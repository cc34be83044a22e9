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
from ..core.structures import taken_apart
from ..func.trees import arrays_of, flatten, flatten_like, item_of
from .transforms import Transform, check_shapes, check_transform, number_for

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


# The numbers of a step, from the options, the slots and the number of the step.
Numbers = Callable[[dict[str, Any], Slots, Any], tuple[Any, ...]]
# What to add to a parameter, from the options, the parameter, its gradient, the slots and the
# numbers of the step. Of the options, it reads neither the learning rate nor the weight decay.
Change = Callable[..., Any]


class Rule(Transform):
    """An algorithm that works on each parameter by itself.

    Parameters
    ----------
    numbers : callable
        From the options, the slots and the number of the step: a tuple of the numbers that are
        other ones at each step.
    change : callable
        From the options, a parameter, its gradient, the slots and the numbers of the step: what to
        add to the parameter.
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
    reads_params = False  # whether a change depends on the parameters, also without weight decay

    def __init__(
        self, numbers: Numbers, change: Change, slots: dict[str, Any], options: dict[str, Any]
    ) -> None:
        self._numbers, self._change = numbers, change
        self.slots, self.options = slots, options
        self._passes: dict[Any, Any] = {}  # native functions; see `_one_pass`

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
        options, held, numbers = self._at(step, slots, options)
        is_complex = backend_of(plain(p)).kind(p.dtype) == "c"
        arrays = [name for name in held if name not in NUMBERS]
        if is_complex:  # real and imaginary parts are parameters of their own
            p, g = _parted(p), _parted(g)
            held.update({name: _parted(held[name]) for name in arrays})
        delta = self._changed(options, p, g, held, [number_for(n, p) for n in numbers])
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
            is_whole = all(type(a) is np.ndarray and a.ndim and a.shape == p.shape for a in arrays)
            if has_native and is_whole:
                key = (*slots, *[a.dtype for a in arrays])
                if key not in known:
                    known[key] = self._one_pass(arrays, tuple(slots), step, options)
                run, numbers = known[key]
                if run and run(*arrays, *numbers, p, *held) is not NotImplemented:
                    continue
            self._write_by_numpy(p, g, slots, step, options)

    def _write_by_numpy(
        self, p: Any, g: Any, slots: dict[str, Any], step: int, options: dict[str, Any]
    ) -> None:
        """Change an array and its slots in place."""
        options, given, found = self._at(step, slots, options)
        arrays = {name: a for name, a in given.items() if name not in NUMBERS}
        numbers = {name: a for name, a in given.items() if name in NUMBERS}
        if p.dtype.kind == "c":  # real and imaginary parts are parameters of their own
            p, g, *views = (a[..., None].view(p.real.dtype) for a in (p, g, *arrays.values()))
            arrays = dict(zip(arrays, views, strict=True))
        of_step = [number_for(n, p) for n in found]
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
                parts[0] += self._changed(options, parts[0], gradient[part], held, of_step)
        else:
            held = Slots(arrays, **numbers)
            held.owned = True
            p += self._changed(options, p, g, held, of_step)
        slots.update(numbers)

    def _one_pass(
        self, arrays: list[Any], names: tuple[str, ...], step: int, options: dict[str, Any]
    ) -> tuple[Any, list[Any]]:
        """A native function of a parameter, its gradient and slots, and the numbers it takes.

        It is the same one for all steps. Only the numbers of the step differ.
        """
        options, _, of_step = self._at(step, {}, options)
        given = {n: tuple(v) if isinstance(v := options[n], list) else v for n in self.options}
        parts = [x for v in given.values() for x in (v if isinstance(v, tuple) else (v,))]
        if not self.elementwise or any(hasattr(x, "dtype") for x in parts):
            return None, []
        dtype = arrays[0].dtype
        numbers = [None if n is None else np.asarray(n, dtype) for n in of_step]
        kinds = [a if a is None else a.dtype for a in (*arrays, *numbers)]
        key = (names, *kinds, *(value for n, value in given.items() if n not in _OF_STEP))
        found = self._passes.get(key)
        if found is None:
            if len(self._passes) >= _MOST:
                self._passes.clear()
            found = self._passes[key] = self._traced(arrays, names, numbers, options)
        return found[0], [*(n for n in numbers if n is not None), *found[1]]

    def _traced(
        self, arrays: list[Any], names: tuple[str, ...], numbers: list[Any], options: dict[str, Any]
    ) -> tuple[Any, list[Any]]:
        """The native function for `_one_pass`, and the numbers that are the same at each step."""
        program = Program(arrays[0].shape)
        p, g, *values = map(program.input, arrays)
        held = Slots(zip(names, values, strict=True))
        of_step = [None if n is None else program.scalar(n) for n in numbers]
        try:
            with np.errstate(all="ignore"):
                results = [p + self._changed(options, p, g, held, of_step)]
        except NotTraceable:  # it is more than ops on elements
            return None, []
        results += [held[name] for name in names]
        if not all(program.is_like(value, p) for value in results):
            return None, []
        return native.piece(program, results, [arrays[0], *arrays[2:]])

    def _at(
        self, step: Any, slots: dict[str, Any], options: dict[str, Any]
    ) -> tuple[dict[str, Any], Slots, tuple[Any, ...]]:
        """The options and slots at a step, and its numbers: the last one is the decay, or None."""
        options, held = {**self.options, **options}, Slots(slots)
        if callable(options.get("lr")):
            options["lr"] = options["lr"](step - 1)
        numbers = self._numbers(options, held, step)
        decay = options["weight_decay"] if _has_decay(options) else None
        if decay is not None and options.get("decoupled_weight_decay"):
            decay = options["lr"] * decay
        return options, held, (*numbers, decay)

    def _changed(
        self, options: dict[str, Any], p: Any, g: Any, held: Slots, numbers: Sequence[Any]
    ) -> Any:
        """What to add to a parameter, with gradients turned and weights decayed as asked for."""
        *numbers, decay = numbers
        g = -g if options.get("maximize") else g
        if decay is None:
            return self._change(options, p, g, held, *numbers)
        if options.get("decoupled_weight_decay"):
            return self._change(options, p, g, held, *numbers) - decay * p
        return self._change(options, p, g + decay * p, held, *numbers)

    # --- structures of parameters ---

    def init(self, params: Any) -> dict[str, Any]:
        leaves, unflatten = arrays_of(params, item_of("params"))
        if not leaves:
            raise ValueError("params has no arrays")
        each = [self.slots_of(p) for p in leaves]
        names = [name for name in self.slots if any(name in slots for slots in each)]
        trees = {name: unflatten([slots.get(name) for slots in each]) for name in names}
        return {"step": np.zeros(()), **trees}  # an array, which a compiled function goes on from

    def update(self, grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        leaves, unflatten = flatten(grads)
        if params is None and (self.reads_params or _has_decay(self.options)):
            raise ValueError("this rule needs the parameters: update(grads, state, params)")
        needed = {"step", *(name for name, value in self.slots.items() if not callable(value))}
        if not isinstance(state, dict) or not needed <= set(state) <= {"step", *self.slots}:
            raise ValueError("state must be what init() or update() of this rule gave")
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
_OF_STEP = ("lr", "weight_decay")  # options that a step reads only as numbers
_MOST = 64  # native functions that a rule keeps


def _has_decay(options: dict[str, Any]) -> bool:
    decay = options.get("weight_decay", 0)
    return hasattr(decay, "dtype") or decay != 0


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
    check_shapes(values, leaves, "grads")
    return values


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
        check_transform(transform)
        self.transform = transform
        self._params, _ = flatten(params)
        for i, p in enumerate(self._params):
            if not isinstance(p, Tensor) or not p.is_leaf or not p.requires_grad:
                raise TypeError(f"params: number {i} must be a leaf tensor that requires gradients")
        if len({id(p) for p in self._params}) < len(self._params):
            raise ValueError("params has a tensor twice, which would take two steps at once")
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
        check_shapes(self._params, arrays, "grads")
        self.state = self.transform.write(self._params, arrays, self.state)
