"""What a compiled function takes from outside: captures × changes × uses, each against eager mode.

A function of `x` that uses `w` from outside is a function of `(x, w)`: after each change of `w`,
the compiled function computes what the function itself computes.
"""

from __future__ import annotations

import argparse
import functools
import random
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import normal

import arraygrad as ag
from arraygrad.errors import DataDependentError

X = np.array([0.3, 1.2, -0.7])


def of_both(x: Any, w: Any) -> Any:
    """Uses `w` with `x`, and alone."""
    return ag.sum(ag.sin(w * x) + 0.5 * w * w)


# --- captures: where a function finds `w` --------------------------------------------------------

GLOBAL: Any = None


class Place:
    """Where `w` is: `get` and `set` it, and the function that reads it."""

    function: Callable[[Any], Any]

    def __init__(self, w: Any) -> None:
        self.set(w)

    def set(self, w: Any) -> None:
        raise NotImplementedError

    def get(self) -> Any:
        raise NotImplementedError

    def clear(self) -> None:
        raise NotImplementedError


class Closure(Place):
    def __init__(self, w: Any) -> None:
        def function(x: Any) -> Any:
            return of_both(x, w)

        def change(value: Any) -> None:
            nonlocal w
            w = value

        def clear() -> None:
            nonlocal w
            del w

        self.function, self.set, self.get, self.clear = function, change, lambda: w, clear  # type: ignore[method-assign]


class Global(Place):
    def set(self, w: Any) -> None:
        globals()["GLOBAL"] = w

    def get(self) -> Any:
        return GLOBAL

    def clear(self) -> None:
        del globals()["GLOBAL"]

    @property
    def function(self) -> Any:  # type: ignore[override]
        return lambda x: of_both(x, GLOBAL)


class Default(Place):
    def __init__(self, w: Any) -> None:
        self.function = lambda x, w=w: of_both(x, w)

    def set(self, w: Any) -> None:
        self.function.__defaults__ = (w,)

    def get(self) -> Any:
        return self.function.__defaults__[0]  # type: ignore[index]


class Holder(Place):
    """An attribute of an object that `make` makes."""

    make: Any
    read: Any = staticmethod(lambda holder: lambda x: of_both(x, holder.w))

    def __init__(self, w: Any) -> None:
        self.holder = self.make()
        self.holder.w = w
        self.function = self.read(self.holder)

    def set(self, w: Any) -> None:
        self.holder.w = w

    def get(self) -> Any:
        return self.holder.w

    def clear(self) -> None:
        del self.holder.w


def new_class() -> Any:
    class Settings:
        def loss(self, x: Any) -> Any:
            return of_both(x, self.w)  # type: ignore[attr-defined]

        @property
        def half(self) -> Any:
            return self.w * 0.5  # type: ignore[attr-defined]

    return Settings


def new_module() -> Any:
    made = types.ModuleType("a_users_module")
    sys.modules[made.__name__] = made
    return made


class Instance(Holder):
    make = staticmethod(lambda: new_class()())


class Class(Holder):
    make = staticmethod(new_class)


class ClassByInstance(Holder):
    make = staticmethod(new_class)
    read = staticmethod(lambda kind: (lambda o: lambda x: of_both(x, o.w))(kind()))


class Module(Holder):
    make = staticmethod(new_module)


class Namespace(Holder):
    make = types.SimpleNamespace


class Arguments(Holder):
    make = argparse.Namespace


class Method(Holder):
    make = staticmethod(lambda: new_class()())
    read = staticmethod(lambda o: lambda x: o.loss(x))


class Property(Holder):
    make = staticmethod(lambda: new_class()())
    read = staticmethod(lambda o: lambda x: of_both(x, o.half))


class ByText(Holder):
    make = staticmethod(lambda: new_class()())
    read = staticmethod(lambda o: lambda x: of_both(x, getattr(o, "w", 1.0)))


class ByDictionary(Holder):
    make = staticmethod(lambda: new_class()())
    read = staticmethod(lambda o: lambda x: of_both(x, vars(o)["w"]))


class Item(Place):
    """An item of a container."""

    key: Any = 0

    def __init__(self, w: Any) -> None:
        held: Any = self.new(w)
        key = self.key

        def function(x: Any) -> Any:
            return of_both(x, held[key])

        def replace(value: Any) -> None:
            nonlocal held
            held = self.new(value)

        self.function, self.replace, self._held = function, replace, lambda: held

    def new(self, w: Any) -> Any:
        return [w, 0]

    def set(self, w: Any) -> None:
        self._held()[self.key] = w

    def get(self) -> Any:
        return self._held()[self.key]

    def clear(self) -> None:
        del self._held()[self.key]


class DictItem(Item):
    key = "w"

    def new(self, w: Any) -> Any:
        return {"w": w}


class TupleItem(Item):
    def new(self, w: Any) -> Any:
        return (w, 0)

    def set(self, w: Any) -> None:
        self.replace(w)


class Partial(Place):
    def __init__(self, w: Any) -> None:
        self._held = {"w": w}
        self.function = lambda x: functools.partial(of_both, w=self._held["w"])(x)

    def set(self, w: Any) -> None:
        self._held["w"] = w

    def get(self) -> Any:
        return self._held["w"]


class Nested(Closure):
    def __init__(self, w: Any) -> None:
        super().__init__(w)
        inner = self.function
        self.function = lambda x: (lambda y: inner(y))(x)


PLACES: list[type[Place]] = [
    Closure,
    Global,
    Default,
    Instance,
    Class,
    ClassByInstance,
    Module,
    Namespace,
    Arguments,
    Method,
    Property,
    ByText,
    ByDictionary,
    Item,
    DictItem,
    TupleItem,
    Partial,
    Nested,
]

# --- what `w` is ---------------------------------------------------------------------------------

VALUES = np.array([1.0, 2.0, 4.0])
KINDS: dict[str, Callable[[], Any]] = {
    "a tensor that requires gradients": lambda: ag.tensor(VALUES, requires_grad=True),
    "a tensor": lambda: ag.tensor(VALUES),
    "an array": VALUES.copy,
}

# --- changes -------------------------------------------------------------------------------------


def by_tensor(place: Place) -> None:
    w = place.get()
    with ag.no_grad():
        if isinstance(w, ag.Tensor):
            w.sub_(0.5)
        else:
            w -= 0.5


def by_numpy(place: Place) -> None:
    w = place.get()
    (w.array if isinstance(w, ag.Tensor) else w)[...] += 0.25


def by_a_view(place: Place) -> None:
    with ag.no_grad():
        part = place.get()[1:]
        part *= 3.0


def rebound(place: Place) -> None:
    w = place.get()
    place.set(ag.tensor([3.0, 2.0, 1.0], requires_grad=getattr(w, "requires_grad", False)))


def without_gradients(place: Place) -> None:
    place.set(ag.tensor([3.0, 0.5, 1.0]))


def with_gradients(place: Place) -> None:
    place.get().requires_grad_()


def replaced(place: Place) -> None:
    if isinstance(place, Item):
        place.replace(ag.tensor([0.1, 0.2, 0.3], requires_grad=True))


CHANGES = [by_tensor, by_numpy, by_a_view, rebound, without_gradients, with_gradients, replaced]

# --- uses ----------------------------------------------------------------------------------------


def values(result: Any) -> Any:
    return np.asarray(result.detach().array if isinstance(result, ag.Tensor) else result)


def value(function: Any, w: Any) -> Any:
    return values(function(X))


def gradient(function: Any, w: Any) -> Any:
    if not getattr(w, "requires_grad", False):
        return value(function, w)
    return values(ag.grad(function(X), w))


def gradient_by_x(function: Any, w: Any) -> Any:
    x = ag.tensor(X, requires_grad=True)
    return values(ag.grad(function(x), x))


def without_grad(function: Any, w: Any) -> Any:
    with ag.no_grad():
        return values(function(X))


def second_order(function: Any, w: Any) -> Any:
    x = ag.tensor(X, requires_grad=True)
    first = ag.grad(function(x), x, create_graph=True)
    targets = [x, w] if getattr(w, "requires_grad", False) else [x]
    return np.stack([values(g) for g in ag.grad((first**2).sum(), targets)])


def by_transforms(function: Any, w: Any) -> Any:
    pushed = ag.func.jvp(function, (X,), (np.ones(3),))[1]
    many = ag.func.vmap(function)(np.stack([X, 2 * X]))
    return np.concatenate(
        [values(ag.func.grad(function)(X)), values(many), np.atleast_1d(values(pushed))]
    )


def in_a_compiled_function(function: Any, w: Any) -> Any:
    return gradient(ag.compile(lambda x: 2 * function(x)), w)


USES = [value, gradient, gradient_by_x, without_grad, second_order, by_transforms]
USES += [in_a_compiled_function]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_change_is_seen(place: type[Place], kind: str) -> None:
    """Each change, seen by the value and by the gradient."""
    held = place(KINDS[kind]())
    function = held.function
    compiled = ag.compile(function)
    for change in (lambda place: None, *CHANGES):
        change(held)
        for use in (gradient, without_grad):
            for _ in range(2):  # the second call takes a shorter way
                np.testing.assert_allclose(
                    use(compiled, held.get()), use(function, held.get()), rtol=1e-12
                )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_each_use(use: Any, kind: str) -> None:
    """Each use, after each change."""
    held = Closure(KINDS[kind]())
    function = held.function
    compiled = ag.compile(function)
    for change in (lambda place: None, by_tensor, by_numpy, rebound, without_gradients):
        change(held)
        w = held.get()
        np.testing.assert_allclose(use(compiled, w), use(function, w), rtol=1e-12)


@pytest.mark.parametrize("place", [Closure, Global, Instance, Module, DictItem])
def test_what_was_deleted_is_missed(place: type[Place]) -> None:
    held = place(KINDS["a tensor"]())
    function = held.function
    compiled = ag.compile(function)
    compiled(X)
    held.clear()
    with pytest.raises((NameError, AttributeError, KeyError)):
        function(X)
    with pytest.raises((NameError, AttributeError, KeyError)):
        compiled(X)


READS: dict[str, Callable[[Any, Any], Any]] = {
    "float": lambda x, w: x * float(w[0]),
    "int": lambda x, w: x[: int(w[1])],
    "bool": lambda x, w: x if w[0] > 0.7 else -x,
    "item": lambda x, w: x * w[1].item(),
    "tolist": lambda x, w: x * w.tolist()[0],
    "asarray": lambda x, w: x * (np.asarray(w) + 1),
    "array": lambda x, w: x * (w.array * 2),
    "numpy": lambda x, w: x * (w.numpy() * 2),
    "a sum": lambda x, w: x * float((w * 2).sum()),
    "a mask": lambda x, w: x[w > 1.5],
}


@pytest.mark.parametrize("name", READS)
def test_a_value_that_python_reads(name: str) -> None:
    w, read = ag.tensor(VALUES), READS[name]  # the function knows of no other way to read
    compiled = ag.compile(lambda x: read(x, w))
    for _ in range(4):
        for x in (X, X, ag.tensor(X, requires_grad=True)):
            np.testing.assert_array_equal(values(compiled(x)), values(read(x, w)))
        w.sub_(0.25)


def test_a_write_between_a_call_and_its_gradient() -> None:
    for kind in (True, False):
        w = ag.tensor(VALUES, requires_grad=kind)
        x = ag.tensor(X, requires_grad=True)
        compiled = ag.compile(lambda x: (w * w * x).sum())  # noqa: B023
        for _ in range(2):
            before, y = w.array.copy(), compiled(x)
            with ag.no_grad():
                w.mul_(10.0)
            np.testing.assert_allclose(ag.grad(y, x).array, before**2)


def test_an_intermediate_tensor_is_an_ordinary_edge() -> None:
    v = ag.tensor(VALUES, requires_grad=True)
    w = ag.exp(v)
    compiled = ag.compile(lambda x: (w * w * x).sum())
    exact = 2 * np.exp(2 * VALUES) * X
    for _ in range(2):
        np.testing.assert_allclose(ag.grad(compiled(X), v, retain_graph=True).array, exact)
    np.testing.assert_allclose(ag.grad(compiled(X), w).array, 2 * np.exp(VALUES) * X)
    np.testing.assert_allclose(ag.grad((w * X).sum(), v).array, np.exp(VALUES) * X)


def test_batched_cotangents() -> None:
    w = ag.tensor(VALUES, requires_grad=True)
    y = ag.compile(lambda x: w * w * x)(X)
    found = ag.grad(y, w, np.eye(3), is_grads_batched=True)
    np.testing.assert_allclose(found.array, np.diag(2 * VALUES * X))


def test_a_reverse_pass_over_a_forward_one() -> None:
    compiled = ag.compile(lambda x: ag.sin(x) * x)

    def pushed(x: Any) -> Any:
        return ag.func.jvp(compiled, (x,), (np.ones(3),))[1].sum()

    for _ in range(3):
        np.testing.assert_allclose(ag.func.grad(pushed)(X), 2 * np.cos(X) - X * np.sin(X))
        compiled(ag.tensor(X, requires_grad=True))


def test_a_tensor_of_a_transform_in_flight() -> None:
    def outer(w: Any) -> Any:
        return ag.compile(lambda x: (w * w * x).sum())(X)

    for _ in range(2):
        np.testing.assert_allclose(ag.func.grad(outer)(VALUES), 2 * VALUES * X)
        np.testing.assert_allclose(
            ag.func.vmap(outer)(np.stack([VALUES, X])), [(VALUES**2 * X).sum(), (X**3).sum()]
        )
        np.testing.assert_allclose(
            ag.func.jvp(outer, (VALUES,), (X,))[1], (2 * VALUES * X * X).sum()
        )


def test_a_tensor_made_inside_and_written() -> None:
    def function(x: Any) -> Any:
        out = ag.zeros(3) if isinstance(x, np.ndarray) else ag.zeros_like(x)
        out = ag.asarray(out)
        first = out + x
        out[0] = x[1]
        return first + 2 * out

    np.testing.assert_array_equal(values(ag.compile(function)(X)), values(function(X)))


def test_a_captured_tensor_is_not_written() -> None:
    w = ag.tensor(VALUES)
    part = w[1:]

    def by_view(x: Any) -> Any:
        part.mul_(2.0)
        return x * w

    def by_a_new_view(x: Any) -> Any:
        w[:2].mul_(2.0)
        return x * w

    def itself(x: Any) -> Any:
        w.mul_(2.0)
        return x * w

    for function in (by_view, by_a_new_view, itself):
        with pytest.raises(TypeError, match="outside"):
            ag.compile(function)(X)
        np.testing.assert_array_equal(w.array, VALUES)


def test_a_function_that_captures_a_leaf_runs_once_in_its_first_call() -> None:
    w, held = ag.tensor(VALUES, requires_grad=True), types.SimpleNamespace(count=0)

    def function(x: Any) -> Any:
        held.count += 1
        return x * w

    compiled = ag.compile(function)
    np.testing.assert_array_equal(ag.grad(compiled(X).sum(), w), X)
    assert held.count == 1


def test_hooks_of_a_captured_tensor() -> None:
    """Those of a gradient inside the function are not traced; those of a gradient by it run."""
    w = ag.tensor(VALUES, requires_grad=True)
    inside = ag.compile(lambda x: ag.grad((w * x).sum(), w))
    outside = ag.compile(lambda x: w * x)
    np.testing.assert_array_equal(inside(X), X)
    handle = w.register_hook(lambda g: 5 * g)
    with pytest.warns(UserWarning, match="a tensor from outside that has hooks"):
        np.testing.assert_array_equal(inside(X), 5 * X)
    np.testing.assert_array_equal(ag.grad(outside(X).sum(), w), 5 * X)
    handle.remove()
    np.testing.assert_array_equal(inside(X), X)
    np.testing.assert_array_equal(ag.grad(outside(X).sum(), w), X)


def _of_its_source(w: Any, h: Any, x: Any) -> Any:
    return ag.grad((h * x).sum() + (w * x).sum(), w, retain_graph=True)


def _of_its_source_alone(w: Any, h: Any, x: Any) -> Any:
    return ag.grad((h * x).sum(), [w], retain_graph=True, materialize_grads=True)[0]


def _at_an_edge(w: Any, h: Any, x: Any) -> Any:
    edge = ag.autograd.graph.get_gradient_edge(w)
    return ag.grad((h * w * x).sum(), [edge], retain_graph=True, materialize_grads=True)[0]


@pytest.mark.parametrize("gradient", [_of_its_source, _of_its_source_alone, _at_an_edge])
def test_a_gradient_in_a_graph_from_outside(gradient: Any) -> None:
    w = ag.tensor(VALUES, requires_grad=True)
    h = w * w
    compiled = ag.compile(lambda x: gradient(w, h, x))
    with pytest.warns(UserWarning, match="computes a gradient in a graph from outside"):
        np.testing.assert_array_equal(compiled(X), gradient(w, h, X))
    np.testing.assert_array_equal(compiled(2 * X), gradient(w, h, 2 * X))


def test_a_gradient_by_an_argument_that_others_were_made_from() -> None:
    def residual(u: Any, x: Any) -> Any:
        return ag.grad((u * x).sum(), x, retain_graph=True)

    compiled = ag.compile(residual)
    x = ag.tensor(X, requires_grad=True)
    u = ag.tensor(VALUES, requires_grad=True)
    np.testing.assert_array_equal(compiled(u, x), VALUES)  # neither was made from the other
    with pytest.warns(UserWarning, match="computes a gradient in a graph from outside"):
        np.testing.assert_array_equal(compiled(x * x, x), residual(x * x, x))


def test_hooks_of_an_argument() -> None:
    compiled = ag.compile(lambda x: ag.grad((x * x).sum(), x))
    x = ag.tensor(X, requires_grad=True)
    np.testing.assert_array_equal(compiled(x), 2 * X)
    x.register_hook(lambda g: 5 * g)
    with pytest.warns(UserWarning, match="a tensor from outside that has hooks"):
        np.testing.assert_array_equal(compiled(x), 10 * X)


def test_signs_and_types_tell_static_arguments_apart() -> None:
    f = ag.compile(lambda x, k: x * k, static_argnums=1)
    assert not np.signbit(f(np.ones(2), 0.0)).any()
    assert np.signbit(f(np.ones(2), -0.0)).all()
    g = ag.compile(lambda x, k: x * (1 if isinstance(k[0], int) else 2), static_argnums=1)
    np.testing.assert_array_equal([g(1.0, (2,)), g(1.0, (2.0,))], [1, 2])


def test_modes_are_read() -> None:
    f = ag.compile(lambda x: x * (2 if ag.is_grad_enabled() else 3))
    np.testing.assert_array_equal(f(X), X * 2)
    with ag.no_grad():
        np.testing.assert_array_equal(f(X), X * 3)


def test_an_iterator_is_read_in_each_call() -> None:
    numbers = iter([1.0, 2.0, 3.0])
    f = ag.compile(lambda x: x * next(numbers))
    with pytest.warns(UserWarning, match="not compiled"):
        np.testing.assert_array_equal(f(X), X)
    for k in (2, 3):
        np.testing.assert_array_equal(f(X), X * k)


def test_numpys_random_numbers_warn() -> None:
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="same numbers"):
        ag.compile(lambda x: x + rng.normal(size=3))(X)


def test_a_large_array_that_is_compared_is_named() -> None:
    large, small = np.ones((200, 300)), np.ones(3)
    told = ag.compile(lambda x: x * large.sum() + small).explain(X)
    assert "(200, 300)" in told
    assert "(3,) and" not in told


def test_errors_say_what_helps() -> None:
    table = np.arange(5.0)
    with pytest.raises(DataDependentError, match=r"ag.asarray\(table\)\[i\]"):
        ag.compile(lambda i: table[i])(np.array(2))
    with pytest.raises(DataDependentError, match="text of a value"):
        ag.compile(lambda x: x * len(f"{x[0]:.2f}"))(X)
    with pytest.raises(DataDependentError) as found:
        ag.compile(lambda x: x * 2 if x > 0 else x, specialize=True)(X)
    assert "specialize=True) for few decisions" not in str(found.value)


# --- random numbers, which would be the same in each call ----------------------------------------

GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: GENERATOR.normal(),
        lambda: np.random.normal(),  # noqa: NPY002
        lambda: random.random(),
        lambda: normal(),  # noqa: NPY002
    ],
)
def test_random_numbers_in_a_trace(draw: Any) -> None:
    with pytest.warns(UserWarning, match="draws random numbers"):
        ag.compile(lambda x: x * draw())(X)


def test_random_numbers_that_are_arguments() -> None:
    f = ag.compile(lambda x, noise: x * noise)
    for _ in range(2):
        noise = GENERATOR.normal(size=X.shape)
        np.testing.assert_array_equal(f(X, noise), X * noise)
