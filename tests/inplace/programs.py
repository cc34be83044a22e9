"""Random programs of views and writes, run three ways.

`Ours` runs a program in arraygrad and `Theirs` in torch, both in place. `Model` runs it without any
in-place operation: it keeps every piece of memory as a flat list of numbers that is never written
but replaced, and a tensor as the places of its elements in such a list. So it knows what the values
and gradients are, whatever the others refuse.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np

import arraygrad as ag

# --- the steps of a program ----------------------------------------------------------------------

Step = tuple[Any, ...]

UNARY = ("exp_", "sin_", "tanh_", "neg_", "square_", "reciprocal_", "clamp_")
METHODS = {"+=": "add_", "-=": "sub_", "*=": "mul_", "/=": "div_", "**=": "pow_"}
BINARY = tuple(METHODS)


class Program:
    """Draws the next step, given the shapes and dtypes of the tensors so far."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.numbers = np.random.default_rng(seed)

    def start(self) -> list[Any]:
        """The values of the leaves."""
        shapes: list[tuple[int, ...]] = [(2, 3), (3,), (), (2, 1, 3), (4,), (0, 2)]
        weights = (5, 4, 1, 2, 3, 0.3)
        leaves = []
        for _ in range(2):
            (shape,) = self.pick.choices(shapes, weights)
            values = self.numbers.uniform(0.5, 1.5, shape)
            if self.pick.random() < 0.2:
                values = values + 1j * self.numbers.uniform(0.5, 1.5, shape)
            leaves.append(values)
        return leaves

    def step(self, infos: list[tuple[tuple[int, ...], bool]]) -> Step:
        """A step: its kind, the number of the tensor it is about, and what else it needs."""
        pick = self.pick
        # Rather something new than the leaves, which cannot be written.
        t = max(pick.randrange(len(infos)), pick.randrange(len(infos)))
        shape, is_complex = infos[t]
        quiet = pick.random() < 0.1
        kind = pick.choices(
            ("view", "fresh", "unary", "binary", "assign", "copy_", "clone", "detach"),
            (8, 3, 3, 5, 5, 1, 1, 0.7),
        )[0]
        if kind == "view":
            return ("view", t, quiet, *self.view(shape, is_complex))
        if kind == "fresh":
            return ("fresh", t, pick.choice(("scaled", "sin", "product")), self.other(infos, shape))
        if kind == "unary":
            return ("unary", t, quiet, pick.choice(UNARY))
        if kind == "binary":
            return ("binary", t, quiet, pick.choice(BINARY), self.value(infos, shape))
        if kind == "assign":
            index = self.index(shape)
            part = np.broadcast_to(0, shape)[index].shape
            return ("assign", t, quiet, index, self.value(infos, part))
        if kind == "copy_":
            return ("copy_", t, quiet, self.value(infos, shape))
        return (kind, t)

    def other(self, infos: list[Any], shape: tuple[int, ...]) -> int | None:
        """A tensor that can be combined with one of a shape without making it larger."""
        fitting = [i for i, (s, _) in enumerate(infos) if fits(s, shape)]
        return self.pick.choice(fitting) if fitting else None

    def value(self, infos: list[Any], shape: tuple[int, ...]) -> Any:
        """A number, the number of a tensor, or an array: something to write."""
        pick = self.pick
        if pick.random() < 0.65:
            other = self.other(infos, shape)
            if other is not None:
                return ("tensor", other)
        if pick.random() < 0.5:
            return ("number", pick.uniform(0.5, 1.5))
        return ("array", self.numbers.uniform(0.5, 1.5, shape))

    def view(self, shape: tuple[int, ...], is_complex: bool) -> tuple[Any, ...]:
        pick, ndim = self.pick, len(shape)
        kinds = ["getitem", "reshape", "expand_dims", "squeeze", "broadcast_to", "flip"]
        weights = [8.0, 3.0, 1.0, 1.0, 1.0, 0.7]
        if ndim:
            kinds += ["permute", "unstack"]
            weights += [3.0, 0.7]
        if ndim == 2 and min(shape):
            kinds, weights = [*kinds, "diagonal"], [*weights, 1.5]
        if is_complex:
            kinds, weights = [*kinds, "real", "imag"], [*weights, 3, 3]
        (kind,) = pick.choices(kinds, weights)
        size = int(np.prod(shape))
        if kind == "getitem":
            return (kind, self.basic(shape))
        if kind == "reshape":
            options = [(size,), (1, size), (*shape, 1)]
            options += [(d, size // d) for d in (2, 3) if size and size % d == 0]
            return (kind, pick.choice(options))
        if kind == "expand_dims":
            return (kind, pick.randint(0, ndim))
        if kind == "broadcast_to":
            wide = tuple(2 if n == 1 and pick.random() < 0.7 else n for n in shape)
            return (kind, (2, *wide) if wide == shape or pick.random() < 0.5 else wide)
        if kind == "permute":
            return (kind, tuple(pick.sample(range(ndim), ndim)))
        if kind == "unstack":
            axis = pick.randrange(ndim)
            if not shape[axis]:
                return ("reshape", (size,))
            return (kind, axis, pick.randrange(shape[axis]))
        if kind == "diagonal":
            return (kind, pick.randint(-1, 1))
        return (kind,)

    def basic(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """An index of integers, slices, `None` and `...`."""
        pick = self.pick
        index: list[Any] = []
        for n in shape[: pick.randint(0, len(shape))]:
            draw = pick.random()
            if draw < 0.35 and n:
                index.append(pick.randrange(-n, n))
            elif draw < 0.9:
                start, stop = pick.choice((None, 0, 1, -2)), pick.choice((None, 2, -1, 3))
                index.append(slice(start, stop, pick.choice((None, None, 1, 2, 2, -1))))
            else:
                index.append(slice(None))
        if pick.random() < 0.2:
            index.insert(pick.randint(0, len(index)), None)
        if pick.random() < 0.3:
            index.append(Ellipsis)
        return tuple(index)

    def index(self, shape: tuple[int, ...]) -> Any:
        """Any index at all."""
        pick = self.pick
        draw = pick.random()
        if draw < 0.6 or not shape or not min(shape):
            return self.basic(shape)
        if draw < 0.75:
            return self.numbers.random(shape[: pick.randint(1, len(shape))]) < 0.5
        if draw < 0.9 or len(shape) == 1:
            count = pick.randint(1, 3)
            if pick.random() < 0.7:  # no place twice
                count = min(count, shape[0])
                return np.array(pick.sample(range(shape[0]), count))
            return self.numbers.integers(-shape[0], shape[0], count)
        rows = np.array([pick.randrange(shape[0])])
        return (rows, slice(None, None, 2), *([slice(None)] * (len(shape) - 2)))


def fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether an array of a shape broadcasts to another."""
    try:
        return np.broadcast_shapes(shape, wanted) == wanted
    except ValueError:
        return False


def repeats(index: Any, shape: tuple[int, ...]) -> bool:
    """Whether an index names an element twice."""
    places = np.arange(int(np.prod(shape))).reshape(shape)[index]
    return len(np.unique(places)) != places.size


# --- in arraygrad --------------------------------------------------------------------------------


class Ours:
    """The program in arraygrad."""

    lib: Any = ag

    def __init__(self, leaves: list[Any]) -> None:
        self.leaves = [self.leaf(values) for values in leaves]
        self.tensors = list(self.leaves)

    def leaf(self, values: Any) -> Any:
        return ag.tensor(values, requires_grad=True)

    def value(self, value: Any) -> Any:
        kind, what = value
        return self.tensors[what] if kind == "tensor" else self.constant(what)

    def constant(self, value: Any) -> Any:
        return value

    def run(self, step: Step) -> None:
        """Run a step; whatever it makes is added to the tensors."""
        kind, t, *rest = step
        x = self.tensors[t]
        if kind in ("clone", "detach"):
            self.tensors.append(getattr(x, kind)())
        elif kind == "fresh":
            self.tensors.append(self.fresh(x, *rest))
        else:
            quiet, *rest = rest
            with self.lib.set_grad_enabled(not quiet):
                if kind == "view":
                    self.tensors.append(self.view(x, *rest))
                else:
                    getattr(self, kind)(t, *rest)

    def fresh(self, x: Any, what: str, other: int | None) -> Any:
        if what == "sin":
            return self.lib.sin(x)
        return x * 1.5 if what == "scaled" or other is None else x * self.tensors[other]

    def view(self, x: Any, kind: str, *args: Any) -> Any:
        if kind == "getitem":
            return x[args[0]]
        if kind == "unstack":
            return ag.unstack(x, axis=args[0])[args[1]]
        if kind == "diagonal":
            return ag.linalg.diagonal(x, offset=args[0])
        if kind in ("real", "imag"):
            return getattr(x, kind)
        function = ag.permute_dims if kind == "permute" else getattr(ag, kind)
        return function(x, axis=args[0]) if kind == "expand_dims" else function(x, *args)

    def unary(self, t: int, name: str) -> None:
        x = self.tensors[t]
        getattr(x, name)(*((0.7, 1.2) if name == "clamp_" else ()))

    def binary(self, t: int, name: str, value: Any) -> None:
        x, y = self.tensors[t], self.value(value)
        if not x.ndim:  # where an operator may give a new number, as in NumPy
            getattr(x, METHODS[name])(2 if name == "**=" else y)
        elif name == "+=":
            x += y
        elif name == "-=":
            x -= y
        elif name == "*=":
            x *= y
        elif name == "/=":
            x /= y
        else:
            x **= 2
        assert x is self.tensors[t]

    def assign(self, t: int, index: Any, value: Any) -> None:
        self.tensors[t][self.index(index)] = self.value(value)

    def index(self, index: Any) -> Any:
        return index

    def copy_(self, t: int, value: Any) -> None:
        kind, what = value
        if kind == "number":
            self.tensors[t].fill_(what) if what > 1 else self.tensors[t].zero_()
        else:
            self.tensors[t].copy_(self.value(value))

    # --- what came of it ---

    def values(self, t: int) -> Any:
        return np.array(self.tensors[t].detach().numpy())

    def facts(self, t: int) -> tuple[Any, ...]:
        x = self.tensors[t]
        return (x.requires_grad, x.is_leaf, x._version, x._base is None)

    def loss(self, weights: dict[int, Any]) -> Any:
        total: Any = 0.0
        for t, weight in weights.items():
            part = self.tensors[t] * self.constant(weight)
            total = total + self.lib.real(part * part).sum()
        return total

    def gradients(self, weights: dict[int, Any], second: bool) -> list[Any]:
        loss = self.loss(weights)
        grads = self.grad(loss, second)
        found = [np.array(g.detach().numpy()) for g in grads]
        if second:
            again: Any = sum(self.lib.real(g * g).sum() for g in grads)
            found += [np.array(g.detach().numpy()) for g in self.grad(again, False)]
        return found

    def grad(self, loss: Any, create_graph: bool) -> Any:
        return ag.grad(
            loss,
            self.leaves,
            retain_graph=True,
            create_graph=create_graph,
            materialize_grads=True,
        )


# --- in torch ------------------------------------------------------------------------------------


class Theirs(Ours):
    """The program in torch."""

    def __init__(self, leaves: list[Any]) -> None:
        import torch

        self.lib = torch
        super().__init__(leaves)

    def leaf(self, values: Any) -> Any:
        return self.lib.tensor(values, requires_grad=True)

    def constant(self, value: Any) -> Any:
        return self.lib.tensor(value) if isinstance(value, np.ndarray) else value

    def index(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return tuple(self.constant(part) for part in index)
        return self.constant(index)

    def view(self, x: Any, kind: str, *args: Any) -> Any:
        torch = self.lib
        if kind == "unstack":
            return torch.unbind(x, args[0])[args[1]]
        if kind == "diagonal":
            return torch.diagonal(x, args[0])
        if kind == "broadcast_to":
            return x.expand(args[0])
        if kind == "permute":
            return x.permute(args[0])
        if kind == "expand_dims":
            return x.unsqueeze(args[0])
        if kind in ("squeeze", "reshape"):
            return getattr(torch, kind)(x, *args)
        return super().view(x, kind, *args)

    def grad(self, loss: Any, create_graph: bool) -> Any:
        return self.lib.autograd.grad(
            loss,
            self.leaves,
            retain_graph=True,
            create_graph=create_graph,
            materialize_grads=True,
        )


# --- without writing -----------------------------------------------------------------------------


class Memory:
    """Real numbers, and one history of them for each family of views."""

    def __init__(self) -> None:
        self.families: list[Family] = []


class Family:
    """One history of the numbers in a memory: a flat tensor that is replaced by every write."""

    def __init__(self, memory: Memory, flat: Any) -> None:
        self.memory = memory
        self.flat = flat
        memory.families.append(self)


class Places:
    """A tensor: which numbers of a memory its elements are, or their parts, if complex."""

    def __init__(self, family: Family, real: Any, imag: Any = None, constant: bool = False) -> None:
        self.family = family
        self.real = real
        self.imag = imag
        self.constant = constant

    @property
    def value(self) -> Any:
        """The tensor's value, as a function of the leaves."""
        flat = self.family.flat.detach() if self.constant else self.family.flat
        found = _at(flat, self.real)
        return found if self.imag is None else found + 1j * _at(flat, self.imag)


def _at(flat: Any, places: Any) -> Any:
    return ag.reshape(ag.take(flat, np.reshape(places, -1)), places.shape)


def _flat(value: Any) -> Any:
    """The numbers of a tensor in a row, the imaginary parts after the real ones."""
    value = ag.asarray(value) if not isinstance(value, ag.Tensor) else value
    if value.dtype.kind != "c":
        return ag.reshape(value, (-1,))
    parts = [ag.reshape(ag.real(value), (-1,)), ag.reshape(ag.imag(value), (-1,))]
    return ag.concat(parts)


class Model:
    """The program without in-place operations."""

    def __init__(self, leaves: list[Any]) -> None:
        self.leaves = [ag.tensor(values, requires_grad=True) for values in leaves]
        self.tensors = [self.new(leaf) for leaf in self.leaves]

    def new(self, value: Any) -> Places:
        """A tensor with memory of its own."""
        size = int(np.prod(value.shape))
        places = np.arange(size).reshape(value.shape)
        family = Family(Memory(), _flat(value))
        return Places(family, places, places + size if value.dtype.kind == "c" else None)

    def value(self, value: Any) -> Any:
        kind, what = value
        return self.tensors[what].value if kind == "tensor" else what

    def run(self, step: Step, shares: bool) -> None:
        """Run a step. `shares` says whether the view that it makes shares memory."""
        kind, t, *rest = step
        x = self.tensors[t]
        if kind == "clone":
            self.tensors.append(self.new(x.value))
        elif kind == "detach":
            family = Family(x.family.memory, x.family.flat.detach())
            self.tensors.append(Places(family, x.real, x.imag))
        elif kind == "fresh":
            what, other = rest
            value = x.value
            if what == "sin":
                value = ag.sin(value)
            elif what == "scaled" or other is None:
                value = value * 1.5
            else:
                value = value * self.tensors[other].value
            self.tensors.append(self.new(value))
        elif kind == "view":
            quiet, *rest = rest
            self.view(x, quiet, shares, *rest)
        else:
            quiet, *rest = rest
            getattr(self, kind)(x, quiet, *rest)

    def view(self, x: Places, quiet: bool, shares: bool, kind: str, *args: Any) -> None:
        if kind in ("real", "imag"):
            places = getattr(x, kind)
            made = Places(x.family, places, None, x.constant or quiet)
        else:
            real, imag = (
                None if p is None else _view_of_array(p, kind, *args) for p in (x.real, x.imag)
            )
            made = Places(x.family, real, imag, x.constant or quiet)
        if not shares:
            value = made.value
            made = self.new(value.detach() if quiet else value)
        self.tensors.append(made)

    def unary(self, x: Places, quiet: bool, name: str) -> None:
        functions: dict[str, Any] = {"neg_": ag.negative}
        if name == "clamp_":
            value = ag.clip(x.value, 0.7, 1.2)
        else:
            value = functions.get(name, getattr(ag, name[:-1], None))(x.value)
        self.write(x, quiet, ..., value)

    def binary(self, x: Places, quiet: bool, name: str, value: Any) -> None:
        y = self.value(value)
        results = {
            "+=": lambda: x.value + y,
            "-=": lambda: x.value - y,
            "*=": lambda: x.value * y,
            "/=": lambda: x.value / y,
            "**=": lambda: x.value**2,
        }
        self.write(x, quiet, ..., results[name]())

    def assign(self, x: Places, quiet: bool, index: Any, value: Any) -> None:
        self.write(x, quiet, index, self.value(value))

    def copy_(self, x: Places, quiet: bool, value: Any) -> None:
        if value[0] == "number":
            value = ("number", value[1] if value[1] > 1 else 0.0)
        self.write(x, quiet, ..., self.value(value))

    def write(self, x: Places, quiet: bool, index: Any, value: Any) -> None:
        part = x.real[index]
        if not isinstance(value, ag.Tensor):
            value = ag.asarray(value)
        while value.ndim > part.ndim:
            value = value[0]
        value = ag.broadcast_to(value, part.shape)
        if x.imag is not None and value.dtype.kind != "c":
            value = value + 0j
        places = part.reshape(-1)
        if x.imag is not None:
            places = np.concatenate([places, x.imag[index].reshape(-1)])
        before = x.family.flat
        source = np.zeros(before.shape, int)
        source[places] = np.arange(1, places.size + 1)
        if places.size:
            taken = ag.take(_flat(value), np.maximum(source - 1, 0))
            after = ag.where(source > 0, taken, before)
        else:
            after = before
        for family in x.family.memory.families:
            if family is x.family and not quiet:
                family.flat = after
            else:  # only the values change
                now = ag.where(source > 0, after.detach(), family.flat.detach())
                family.flat = family.flat + (now - family.flat.detach())

    # --- what came of it ---

    def values(self, t: int) -> Any:
        return self.tensors[t].value.detach().numpy()

    def gradients(self, weights: dict[int, Any], second: bool) -> list[Any]:
        total: Any = 0.0
        for t, weight in weights.items():
            part = self.tensors[t].value * weight
            total = total + ag.real(part * part).sum()
        grads = ag.grad(
            total, self.leaves, retain_graph=True, create_graph=second, materialize_grads=True
        )
        found = [g.detach().numpy() for g in grads]
        if second:
            again: Any = sum(ag.real(g * g).sum() for g in grads)
            grads = ag.grad(again, self.leaves, retain_graph=True, materialize_grads=True)
            found += [g.numpy() for g in grads]
        return found


def _view_of_array(p: Any, kind: str, *args: Any) -> Any:
    """The places of a view's elements."""
    if kind == "getitem":
        return p[args[0]] if args[0] else p[...]
    if kind == "unstack":
        return np.take(p, args[1], axis=args[0])
    if kind == "diagonal":
        return np.diagonal(p, args[0])
    name = "transpose" if kind == "permute" else kind
    return np.asarray(getattr(np, name)(p, *args))


# --- one program, three ways ---------------------------------------------------------------------


class Comparison:
    """Runs a program step by step and compares what comes of it."""

    def __init__(self, leaves: list[Any], with_torch: bool) -> None:
        self.ours = Ours(leaves)
        self.model = Model(leaves)
        self.theirs = Theirs(leaves) if with_torch else None
        self.log: list[Step] = []
        self.refused = 0
        self.beyond = 0
        # Whether a part was written to itself, which torch counts as a write, and whether there are
        # views made under no_grad, which torch says require gradients.
        self.skipped = self.quiet_views = False

    def infos(self) -> list[tuple[tuple[int, ...], bool]]:
        return [(t.shape, t.dtype.kind == "c") for t in self.ours.tensors]

    def run(self, step: Step) -> None:
        self.log.append(step)
        before = [self.ours.values(t) for t in range(len(self.ours.tensors))]
        version = self.ours.tensors[step[1]]._version
        mine = _outcome(self.ours, step)
        theirs = self.in_torch(step)
        if mine is not None:
            self.refused += 1
            assert theirs is not None, f"only we refuse: {mine!r}"
            for t, values in enumerate(before):
                np.testing.assert_array_equal(self.ours.values(t), values)
            return
        kind, t = step[0], step[1]
        if kind in ("assign", "copy_") and self.ours.tensors[t]._version == version:
            self.skipped = True
        shares = True
        if kind == "view":
            self.quiet_views |= step[2]
            made, source = self.ours.tensors[-1], self.ours.tensors[t]
            shares = np.may_share_memory(made.array, source.array) or not made.array.size
        self.model.run(step, shares)
        if theirs is not None:
            self.beyond += 1
            self.theirs = None
        elif self.theirs is not None and kind == "view":
            made, source = self.theirs.tensors[-1], self.theirs.tensors[t]
            same = made.untyped_storage().data_ptr() == source.untyped_storage().data_ptr()
            if same != shares and made.numel():
                self.theirs = None  # it is a copy there, and a view here, or the other way round

    def in_torch(self, step: Step) -> Any:
        """What torch raises for a step, if it does; it is left out from where it differs."""
        if self.theirs is None:
            return RuntimeError("torch has been left behind")
        if self.is_apart(*step):
            self.theirs = None
            return RuntimeError("torch is left out")
        return _outcome(self.theirs, step)

    def is_apart(self, kind: str, t: int, *rest: Any) -> bool:
        """Whether we mean to differ from torch, which does not refuse."""
        x = self.ours.tensors[t]
        if kind == "view" and rest[1] == "flip":
            return True  # a copy there
        if kind in ("view", "fresh", "clone", "detach"):
            return False
        if not x.array.flags.writeable:
            return True  # it writes to a broadcast if the part is none, or empty
        if kind not in ("assign", "copy_"):
            return False
        what, other = rest[-1]
        if what == "tensor" and self.ours.tensors[other].dtype.kind == "c" != x.dtype.kind:
            return True  # it drops the imaginary part, and warns
        if what == "tensor" and np.may_share_memory(self.ours.tensors[other].array, x.array):
            return True  # it may read what it has just written
        # Its gradient goes also to the values that were overwritten.
        return kind == "assign" and repeats(rest[1], x.shape)

    def check(self, weights: dict[int, Any], second: bool) -> None:
        count = len(self.ours.tensors)
        for t in range(count):
            values = self.ours.values(t)
            np.testing.assert_allclose(values, self.model.values(t), rtol=1e-9, atol=1e-12)
            if self.theirs is not None:
                np.testing.assert_allclose(values, self.theirs.values(t), rtol=1e-9, atol=1e-12)
                self.check_facts(t)
        mine = _try(lambda: self.ours.gradients(weights, second))
        theirs = None
        if self.theirs is not None:
            theirs = _try(lambda: self.theirs.gradients(weights, second))
        assert not isinstance(mine, ag.errors.WrittenError), "a write broke a gradient"
        if isinstance(mine, Exception):
            self.refused += 1
            if self.theirs is not None and not self.quiet_views:
                assert isinstance(theirs, Exception), f"only we refuse: {mine!r}"
            return
        expected = self.model.gradients(weights, second)
        _same(mine, expected, "without writing")
        if isinstance(theirs, Exception):
            self.beyond += 1
        elif theirs is not None:
            _same(mine, theirs, "torch")

    def check_facts(self, t: int) -> None:
        """What the tensor says of itself."""
        assert self.theirs is not None
        mine, theirs = _try(lambda: self.ours.facts(t)), _try(lambda: self.theirs.facts(t))
        if isinstance(mine, Exception):
            assert isinstance(theirs, Exception), f"tensor {t}: {mine!r}"
        if isinstance(theirs, Exception) or self.quiet_views:
            return
        if self.skipped:
            mine, theirs = mine[:2] + mine[3:], theirs[:2] + theirs[3:]
        assert mine == theirs, f"tensor {t}: {mine}, {theirs}"


def _try(function: Any) -> Any:
    try:
        return function()
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return error


def _outcome(side: Any, step: Step) -> Any:
    """The error that a step raises, or None."""
    found = _try(lambda: side.run(step))
    return found if isinstance(found, Exception) else None


def _same(mine: list[Any], others: list[Any], what: str) -> None:
    for a, b in zip(mine, others, strict=True):
        scale = np.max(np.abs(b), initial=1.0)
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9 * scale, err_msg=what)


def compare(seed: int, with_torch: bool) -> Comparison:
    """Run and check the program of a seed."""
    program = Program(seed)
    comparison = Comparison(program.start(), with_torch)
    try:
        # Otherwise there would be little but refusals to write to leaves.
        comparison.run(("fresh", 0, "scaled", None))
        comparison.run(("fresh", 1, "scaled", None))
        for _ in range(program.pick.randint(2, 14)):
            step = program.step(comparison.infos())
            if step[0] in ("unary", "binary", "fresh") and _too_large(comparison.ours, step[1]):
                continue
            comparison.run(step)
        infos = comparison.infos()
        chosen = program.pick.sample(range(len(infos)), min(3, len(infos)))
        weights = {t: program.numbers.uniform(0.5, 1.5, infos[t][0]) for t in chosen}
        with np.errstate(all="ignore"):
            comparison.check(weights, program.pick.random() < 0.3)
    except Exception as error:
        lines = "\n".join(map(str, comparison.log))
        raise AssertionError(f"program {seed}:\n{lines}\n{error!r}") from error
    return comparison


def _too_large(ours: Ours, t: int) -> bool:
    """Whether a tensor's numbers have grown so far that they no longer compare."""
    values = ours.values(t)
    return bool(values.size) and not 1e-3 < np.min(np.abs(values)) <= np.max(np.abs(values)) < 20


if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        compare(number, with_torch=False)
