"""What guards notice: each way to hold a number outside of a function, and to change it.

A compiled function computes what the function itself computes, after each change.
"""

from __future__ import annotations

import array
import builtins
import collections
import configparser
import contextvars
import ctypes
import dataclasses
import enum
import functools
import io
import operator
import random
import sys
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.interpolate
import scipy.sparse
from rows import Row, over

import arraygrad as ag

X = np.array([1.0, 2.0, 3.0])

# A function, and what changes the number that the function reads.
Case = tuple[Callable[[Any], Any], Callable[[], Any]]
CASES: dict[str, Callable[[], Case]] = {}


def case(make: Callable[[], Case]) -> Callable[[], Case]:
    CASES[make.__name__.replace("_", " ")] = make
    return make


# --- containers and buffers ----------------------------------------------------------------------


@case
def a_set() -> Case:
    held = {1, 2}
    return lambda x: x * 2 if 3 in held else x, lambda: held.add(3)


@case
def a_queue() -> Case:
    held = collections.deque([1.0, 2.0])
    return lambda x: x * held[0], lambda: held.appendleft(5.0)


@case
def a_long_list() -> Case:
    held = [1.0] * 3000
    return lambda x: x * held[2500], lambda: held.__setitem__(2500, 2.0)


@case
def a_large_dictionary() -> Case:
    held = dict.fromkeys(range(3000), 1.0)
    return lambda x: x * held[2500], lambda: held.__setitem__(2500, 2.0)


@case
def many_lists() -> Case:
    held = [[[float(i)] for i in range(60)] for _ in range(60)]
    return (
        lambda x: x * sum(part[0] for row in held for part in row),
        lambda: held[59][59].__setitem__(0, 1e6),
    )


@case
def the_sign_of_zero_in_a_list() -> Case:
    held = [0.0]
    return lambda x: 1 / (x * held[0]), lambda: held.__setitem__(0, -0.0)


@case
def the_type_of_an_item() -> Case:
    held = [2]
    return lambda x: x.astype(int) * held[0], lambda: held.__setitem__(0, 2.0)  # type: ignore[call-overload]


@case
def a_frozen_set_in_a_list() -> Case:
    held = [frozenset({1})]
    return lambda x: x * len(held[0]), lambda: held.__setitem__(0, frozenset({1, 3}))


@case
def a_read_only_mapping() -> Case:
    inside = {"a": 1.0}
    held = types.MappingProxyType(inside)
    return lambda x: x * held["a"], lambda: inside.update(a=3.0)


@case
def a_key_that_appears() -> Case:
    held: dict[str, float] = {}
    return lambda x: x * held.get("a", 1.0), lambda: held.update(a=3.0)


@case
def a_counter() -> Case:
    held = collections.Counter(a=1)
    return lambda x: x * sum(held.values()), lambda: held.update(b=5)


@case
def tensors_in_another_order() -> Case:
    held = [ag.tensor(1.0), ag.tensor(2.0)]
    return lambda x: x * held[0] + held[1], held.reverse


@case
def an_array_of_the_standard_library() -> Case:
    held = array.array("d", [1.0, 2.0])
    return lambda x: x * held[0], lambda: held.__setitem__(0, 4.0)


@case
def bytes_that_change() -> Case:
    held = bytearray(b"ab")
    return lambda x: x * held[0], lambda: held.__setitem__(0, 9)


@case
def bytes_that_grow() -> Case:
    held = bytearray(b"ab")
    return lambda x: x * len(held), lambda: held.extend(b"c")


@case
def an_array_of_objects() -> Case:
    held = np.array([1.0, None], dtype=object)
    return lambda x: x * held[0], lambda: held.__setitem__(0, 3.0)


@case
def a_view_that_numpy_reads() -> Case:
    whole = np.arange(6.0)
    held = whole[::2]
    return lambda x: x * np.cos(held), lambda: whole.__setitem__(0, 10.0)


def _set(array: Any, name: str, value: Any) -> None:
    with warnings.catch_warnings():  # from NumPy 2.5 on, but programs do it
        warnings.simplefilter("ignore", DeprecationWarning)
        setattr(array, name, value)


@case
def the_shape_of_an_array() -> Case:
    held = np.array([2.0, 3.0, 4.0])
    return lambda x: x * held.ndim, lambda: _set(held, "shape", (3, 1))


@case
def the_dtype_of_an_array() -> Case:
    held = np.array([2.0, 3.0, 4.0])
    return lambda x: x * held, lambda: _set(held, "dtype", np.int64)


@case
def a_list_in_an_array_of_objects() -> Case:
    held = np.array([None, [1.0]], dtype=object)
    return lambda x: x * held[1][0], lambda: held[1].__setitem__(0, 3.0)


@case
def values_of_a_dictionary() -> Case:
    held = {"a": 1.0}
    values = held.values()
    return lambda x: x * max(values), lambda: held.update(a=3.0)


@case
def a_chain_of_dictionaries() -> Case:
    held = collections.ChainMap({"a": 1.0})
    return lambda x: x * held["a"], lambda: held.update(a=3.0)


@case
def settings_of_a_file() -> Case:
    held = configparser.ConfigParser()
    held["model"] = {"rate": "1.0"}
    return lambda x: x * held.getfloat("model", "rate"), lambda: held.set("model", "rate", "3.0")


@case
def a_dictionary_with_weak_keys() -> Case:
    owner = Held()
    held = weakref.WeakKeyDictionary({owner: 1.0})
    return lambda x: x * held[owner], lambda: held.__setitem__(owner, 3.0)


@case
def a_number_of_c() -> Case:
    held = ctypes.c_double(1.0)
    return lambda x: x * held.value, lambda: setattr(held, "value", 3.0)


class Settings(dict):  # type: ignore[type-arg]
    rate = 1.0

    def scale(self) -> float:
        return self.rate


@case
def an_attribute_of_a_dictionary() -> Case:
    held = Settings()
    return lambda x: x * held.rate, lambda: setattr(held, "rate", 3.0)


@case
def a_method_of_a_dictionary() -> Case:
    held = Settings()
    return lambda x: x * held.scale(), lambda: setattr(held, "rate", 3.0)


# --- variables -----------------------------------------------------------------------------------

NUMBER = 1.0


def set_number(value: float) -> None:
    global NUMBER
    NUMBER = value


@case
def a_global_variable_by_its_name() -> Case:
    set_number(1.0)
    return lambda x: x * globals()["NUMBER"], lambda: set_number(2.0)


@case
def a_context_variable() -> Case:
    held: contextvars.ContextVar[float] = contextvars.ContextVar("held", default=1.0)
    return lambda x: x * held.get(), lambda: held.set(3.0)


@case
def a_context_variable_without_a_value() -> Case:
    held: contextvars.ContextVar[float] = contextvars.ContextVar("held")
    return lambda x: x * held.get(1.0), lambda: held.set(3.0)


@case
def a_weak_reference() -> Case:
    held = Held()
    refers = weakref.ref(held)
    return lambda x: x * refers().inner, lambda: setattr(held, "inner", 3.0)  # type: ignore[union-attr]


@case
def a_list_behind_a_decorator() -> Case:
    scale = [1.0]

    def scaled(function: Any) -> Any:
        return lambda *args: function(*args) * scale[0]

    return scaled(lambda x: x), lambda: scale.__setitem__(0, 4.0)


@case
def a_dictionary_in_a_partial() -> Case:
    held = {"k": 1.0}
    return functools.partial(lambda x, o: x * o["k"], o=held), lambda: held.update(k=5.0)


@case
def an_attribute_of_a_function() -> Case:
    def function(x: Any) -> Any:
        return x * function.rate  # type: ignore[attr-defined]

    function.rate = 1.0  # type: ignore[attr-defined]
    return function, lambda: setattr(function, "rate", 3.0)


@case
def a_function_that_is_reloaded() -> Case:
    def inner(x: Any) -> Any:
        return x

    return lambda x: inner(x), lambda: setattr(inner, "__code__", (lambda x: x * 3).__code__)


def a_module() -> types.ModuleType:
    made = types.ModuleType("a_module_of_a_user")
    made.rate = 1.0  # type: ignore[attr-defined]
    sys.modules[made.__name__] = made
    return made


@case
def a_module_that_the_function_imports() -> Case:
    held = a_module()

    def function(x: Any) -> Any:
        import a_module_of_a_user  # type: ignore[import-not-found]

        return x * a_module_of_a_user.rate

    return function, lambda: setattr(held, "rate", 3.0)


@case
def a_name_that_the_function_imports() -> Case:
    held = a_module()

    def function(x: Any) -> Any:
        from a_module_of_a_user import rate

        return x * rate

    return function, lambda: setattr(held, "rate", 3.0)


@case
def a_variable_in_a_text_that_is_run() -> Case:
    set_number(1.0)
    return lambda x: x * eval("NUMBER + 1"), lambda: set_number(2.0)


@case
def a_getter_of_an_attribute() -> Case:
    held, get = types.SimpleNamespace(inner=1.0), operator.attrgetter("inner")
    return lambda x: x * get(held), lambda: setattr(held, "inner", 3.0)


@case
def a_partial_getter() -> Case:
    held = types.SimpleNamespace(inner=1.0)
    get = functools.partial(getattr, held, "inner")
    return lambda x: x * get(), lambda: setattr(held, "inner", 3.0)


@case
def a_caller_of_a_method() -> Case:
    class Own:
        rate = 1.0

        def scale(self) -> float:
            return self.rate

    held, call = Own(), operator.methodcaller("scale")
    return lambda x: x * call(held), lambda: setattr(held, "rate", 3.0)


@case
def the_gradient_of_a_tensor() -> Case:
    held = ag.tensor(X, requires_grad=True)
    held.grad = ag.tensor(X)
    return lambda x: x * held.grad.array, lambda: setattr(held, "grad", ag.tensor(3 * X))


# --- objects, by what Python calls ---------------------------------------------------------------


class Descriptor:
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return instance.inner


class Meta(type):
    inner_of_class: float

    @property
    def of_class(cls) -> float:
        return cls.inner_of_class


class Base:
    inner: float

    def by_base(self) -> float:
        return self.inner


class Held(Base, metaclass=Meta):
    inner_of_class = 1.0
    described = Descriptor()

    def __init__(self) -> None:
        self.inner = 1.0

    def __mul__(self, x: Any) -> Any:
        return x * self.inner

    def __getitem__(self, i: int) -> float:
        return self.inner

    def __iter__(self) -> Any:
        return iter([self.inner])

    def __enter__(self) -> float:
        return self.inner

    def __exit__(self, *args: Any) -> None:
        pass

    def __bool__(self) -> bool:
        return self.inner == 1.0

    def __len__(self) -> int:
        return int(self.inner)

    def __getattr__(self, name: str) -> float:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.inner * 2

    def by_base(self) -> float:
        return super().by_base()

    @classmethod
    def of_kind(cls) -> float:
        return cls.inner_of_class

    @functools.cached_property
    def again(self) -> Any:
        return lambda: self.inner


def with_block(held: Held, x: Any) -> Any:
    with held as value:
        return x * value


READS: dict[str, Callable[[Held, Any], Any]] = {
    "an operator": lambda held, x: held * x,
    "an item of an object": lambda held, x: x * held[0],
    "a loop over an object": lambda held, x: x * sum(held),
    "with": with_block,
    "the truth of an object": lambda held, x: x if held else 2 * x,
    "the length of an object": lambda held, x: x * len(held),
    "a descriptor": lambda held, x: x * held.described,
    "an attribute that is computed": lambda held, x: x * held.anything,
    "a method of the base": lambda held, x: x * held.by_base(),
    "a cached property": lambda held, x: x * held.again(),
}


def read_by(read: Callable[[Held, Any], Any]) -> Case:
    held = Held()
    return lambda x: read(held, x), lambda: setattr(held, "inner", 3.0)


CASES |= {name: functools.partial(read_by, read) for name, read in READS.items()}


@case
def a_property_of_a_class() -> Case:
    class Own(Held):
        inner_of_class = 1.0

    return lambda x: x * Own.of_class, lambda: setattr(Own, "inner_of_class", 3.0)


@case
def what_a_metaclass_computes() -> Case:
    class Computing(type):
        def __getattr__(cls, name: str) -> float:
            return cls.inside[name]  # type: ignore[index,no-any-return]

    class Own(metaclass=Computing):
        inside: ClassVar = {"rate": 1.0}

    return lambda x: x * Own.rate, lambda: Own.inside.update(rate=3.0)


@case
def a_class_method() -> Case:
    class Own(Held):
        inner_of_class = 1.0

    held = Own()
    return lambda x: x * held.of_kind(), lambda: setattr(Own, "inner_of_class", 3.0)


@case
def what_a_new_object_reads() -> Case:
    scale = [1.0]

    class Made:
        def __init__(self) -> None:
            self.scale = scale[0]

    return lambda x: x * Made().scale, lambda: scale.__setitem__(0, 3.0)


@case
def the_last_of_many_objects() -> Case:
    first = last = Linked()
    for _ in range(300):
        last.next = Linked()
        last = last.next

    def function(x: Any) -> Any:
        total, now = 0.0, first
        while now is not None:
            total, now = total + now.number, now.next  # type: ignore[assignment]
        return x * total

    return function, lambda: setattr(last, "number", 100.0)


@dataclasses.dataclass
class Linked:
    number: float = 1.0
    next: Linked | None = None


@case
def a_member_of_an_enumeration() -> Case:
    class Mode(enum.Enum):
        ONE = 1.0
        TWO = 2.0

    held = [Mode.ONE]
    return lambda x: x * held[0].value, lambda: held.__setitem__(0, Mode.TWO)


# --- objects of installed packages ---------------------------------------------------------------


@case
def a_sparse_matrix() -> Case:
    held = scipy.sparse.csr_array(np.diag(X))
    return lambda x: x * held.diagonal(), lambda: held.data.__setitem__(0, 5.0)


@case
def a_spline() -> Case:
    held = scipy.interpolate.CubicSpline(np.arange(4.0), np.arange(4.0) ** 2)
    return lambda x: x * held(1.5), lambda: held.c.fill(0.0)


@case
def a_polynomial() -> Case:
    held = np.poly1d([1.0, 2.0])
    return lambda x: x * held(2.0), lambda: held.coeffs.__setitem__(0, 7.0)


@case
def a_table() -> Case:
    held = pytest.importorskip("pandas").DataFrame({"a": X})
    held["a"] = 2 * X
    held["a"].to_numpy()  # which fills caches of its own
    return lambda x: x * held["a"].to_numpy(), lambda: held.__setitem__("a", 3 * X)


@case
def an_estimator() -> Case:
    held = pytest.importorskip("sklearn.linear_model").LinearRegression()
    held.coef_ = np.ones(3)
    return lambda x: x * held.coef_.sum(), lambda: setattr(held, "coef_", np.full(3, 4.0))


# --- names that appear, types, and what Python's syntax reads ------------------------------------


def _written(text: str, **variables: Any) -> tuple[Any, dict[str, Any]]:
    """A function in a module of its own, and the variables of that."""
    scope = {"ag": ag, "__name__": "__main__", **variables}
    exec(text, scope)
    return scope["function"], scope


@case
def a_builtin_function_that_a_global_variable_hides() -> Case:
    function, scope = _written("def function(x): return x * len((1, 2, 3))")
    return function, lambda: scope.update(len=lambda _: 7)


@case
def a_global_variable_that_appears() -> Case:
    function, scope = _written("""def function(x):
        try:
            return x * FACTOR
        except NameError:
            return x""")
    return function, lambda: scope.update(FACTOR=5)


@case
def a_builtin_function_of_the_user(name: str = "a_function_of_tests") -> Case:
    setattr(builtins, name, lambda: 2)
    function, _ = _written(f"def function(x): return x * {name}()")
    return function, lambda: setattr(builtins, name, lambda: 9)


@case
def an_attribute_that_appears() -> Case:
    held = types.SimpleNamespace()

    def function(x: Any) -> Any:
        try:
            return x * held.factor
        except AttributeError:
            return x

    return function, lambda: setattr(held, "factor", 5.0)


class Named:
    """An object whose text, number of attributes, and attributes depend on what it holds."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return len(self.text)

    def __eq__(self, other: object) -> bool:
        return self is other


class Hiding:
    def __init__(self) -> None:
        self.table = {"factor": 2.0}

    def __getattribute__(self, name: str) -> Any:
        table = object.__getattribute__(self, "table")
        return table[name] if name == "factor" else object.__getattribute__(self, name)


def _by_match(held: Any) -> Any:
    def function(x: Any) -> Any:
        match held:
            case Named(text="ab"):
                return x * 2
            case _:
                return x

    return function


_OF_OBJECTS: dict[str, Callable[[Any], Any]] = {
    "all attributes": lambda held: lambda x: x * len(vars(held)),
    "attributes by __dict__": lambda held: lambda x: x * len(held.__dict__),
    "names of attributes": lambda held: lambda x: x * len(dir(held)),
}
_OF_TEXTS: dict[str, Callable[[Any], Any]] = {
    "str": lambda held: lambda x: x * len(str(held)),
    "repr": lambda held: lambda x: x * len(repr(held)),
    "a formatted text": lambda held: lambda x: x * len(f"{held}"),
    "hash": lambda held: lambda x: x * hash(held),
    "match": _by_match,
}


def _of_objects(of: Any, change: Callable[[Any], None]) -> Callable[[], Case]:
    def make() -> Case:
        held = Named("ab")
        return of(held), lambda: change(held)

    return make


CASES.update(
    {n: _of_objects(of, lambda held: setattr(held, "more", 1)) for n, of in _OF_OBJECTS.items()}
)
CASES.update(
    {n: _of_objects(of, lambda held: setattr(held, "text", "abc")) for n, of in _OF_TEXTS.items()}
)


@case
def the_class_of_an_object() -> Case:
    class Other(Named):
        pass

    held = Named("")
    return (
        lambda x: x * 2 if isinstance(held, Other) else x,
        lambda: setattr(held, "__class__", Other),
    )


@case
def an_attribute_that_a_method_of_python_finds() -> Case:
    held = Hiding()
    return lambda x: x * held.factor, lambda: held.table.update(factor=5.0)


@case
def a_weak_set() -> Case:
    held, kept = weakref.WeakSet(), [Named("")]
    held.update(kept)
    return lambda x: x * len(held), lambda: (kept.append(Named("")), held.add(kept[-1]))


@case
def a_method_of_an_object_made_inside() -> Case:
    factors = [2.0]

    class Factor:
        def __enter__(self) -> Any:
            return factors[0]

        def __exit__(self, *error: object) -> None:
            pass

    def function(x: Any) -> Any:
        with Factor() as factor:
            return x * factor

    return function, lambda: factors.__setitem__(0, 5.0)


# --- rules of users' ops -------------------------------------------------------------------------


@case
def a_rule_of_a_custom_function() -> Case:
    scale = [1.0]
    own = ag.func.custom(vjp=lambda g: g * scale[0])(lambda x: np.array(x))
    return ag.func.grad(lambda x: own(x).sum()), lambda: scale.__setitem__(0, 3.0)


@case
def a_derivative_of_an_op() -> Case:
    scale = [1.0]
    own = ag.ops.define.unary(
        "own_square", d=lambda x: x * scale[0], compute=lambda xp, x: x * x / 2
    )
    return ag.func.grad(lambda x: own(x).sum()), lambda: scale.__setitem__(0, 3.0)


@over("make", [Row(name, name, make) for name, make in CASES.items()], first=len(CASES))
def test_a_change_is_noticed(make: Callable[[], Case]) -> None:
    function, change = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # divisions by zero
        compiled = ag.compile(function)
        before = np.asarray(function(X))
        for _ in range(3):
            np.testing.assert_array_equal(compiled(X), before)
        assert compiled._traces <= 2  # a cache may be filled in the first
        change()
        expected = np.asarray(function(X))
        found = np.asarray(compiled(X))
    assert found.tobytes() != before.tobytes()
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


# --- functions that change what they read --------------------------------------------------------


def a_variable() -> Any:
    count = 0

    def function(x: Any) -> Any:
        nonlocal count
        count += 1
        return x * count

    return function


def an_attribute() -> Any:
    held = types.SimpleNamespace(count=0)

    def function(x: Any) -> Any:
        held.count += 1
        return x * held.count

    return function


def a_dictionary() -> Any:
    held: dict[str, int] = {}

    def function(x: Any) -> Any:
        held["count"] = held.get("count", 0) + 1
        return x * held["count"]

    return function


def a_list() -> Any:
    held: list[int] = []

    def function(x: Any) -> Any:
        held.append(len(held))
        return x * len(held)

    return function


def a_growing_set() -> Any:
    held: set[int] = set()

    def function(x: Any) -> Any:
        held.add(len(held))
        return x * len(held)

    return function


def a_default() -> Any:
    held = collections.defaultdict(lambda: 2.0)

    def function(x: Any) -> Any:
        return x * held[len(held)] * len(held)

    return function


def a_method_of_a_list() -> Any:
    held: list[int] = []
    append = held.append

    def function(x: Any) -> Any:
        append(1)
        return x * len(held)

    return function


def an_array() -> Any:
    held = np.zeros(3)

    def function(x: Any) -> Any:
        held[1:] += 1
        return x * held

    return function


CHANGES = [
    a_variable,
    an_attribute,
    a_dictionary,
    a_list,
    a_growing_set,
    a_default,
    a_method_of_a_list,
    an_array,
]


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("make", CHANGES, ids=lambda make: make.__name__)
def test_each_call_changes_what_it_reads(make: Any, requires_grad: bool) -> None:
    x = ag.tensor(X, requires_grad=True) if requires_grad else X
    eager = make()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*not compiled")
        compiled = ag.compile(make())
        for _ in range(12):
            found, expected = compiled(x), eager(x)
            if requires_grad:
                np.testing.assert_array_equal(ag.grad(found.sum(), x), ag.grad(expected.sum(), x))
            else:
                np.testing.assert_array_equal(found, expected)


# Ways to put an array into something from outside, and what finds it there.
def _into_a_global_variable() -> Any:
    text = """def function(x):
        global kept
        kept = x * 2
        return x"""
    function, scope = _written(text)
    return function, lambda: scope["kept"]


def _into_a_variable() -> Any:
    kept = None

    def function(x: Any) -> Any:
        nonlocal kept
        kept = x * 2
        return x

    return function, lambda: kept


def _into_a_list() -> Any:
    kept: list[Any] = [None]

    def function(x: Any) -> Any:
        kept[0] = (x * 2, 1)
        return x

    return function, lambda: kept[0][0]


class Keeps:
    def __call__(self, x: Any) -> Any:
        self.kept = x * 2
        return x

    def method(self, x: Any) -> Any:
        return self(x)


def _into_an_object() -> Any:
    made = Keeps()
    return made, lambda: made.kept


def _into_the_object_of_a_method() -> Any:
    made = Keeps()
    return made.method, lambda: made.kept


STORES = [
    _into_a_global_variable,
    _into_a_variable,
    _into_a_list,
    _into_an_object,
    _into_the_object_of_a_method,
]


@over("make", [Row(make.__name__, make.__name__, make) for make in STORES], first=len(STORES))
def test_what_a_function_keeps_is_an_array(make: Any) -> None:
    function, kept = make()
    compiled = ag.compile(function)
    with pytest.warns(UserWarning, match="puts arrays into a variable, a container or an object"):
        compiled(X)
    for i in range(3):
        compiled(X * i)
        np.testing.assert_array_equal(kept(), X * i * 2)


def test_a_cache_that_is_filled_once() -> None:
    held: dict[str, Any] = {}

    def function(x: Any) -> Any:
        if "table" not in held:
            held["table"] = np.arange(3.0)
        return x * held["table"]

    compiled = ag.compile(function)
    for _ in range(6):
        np.testing.assert_array_equal(compiled(X), X * np.arange(3.0))
    assert compiled._traces == 2  # the first one filled it


def test_a_function_that_reaches_too_much_runs_as_it_is(monkeypatch: Any) -> None:
    monkeypatch.setattr("arraygrad.compiler.call.reachable.MOST", 100)
    held = [[float(i)] for i in range(200)]
    compiled = ag.compile(lambda x: x * held[150][0])
    with pytest.warns(UserWarning, match="reads too much from outside"):
        compiled(X)
    held[150][0] = -1.0
    np.testing.assert_array_equal(compiled(X), -X)


def test_a_function_that_prints_to_a_file_is_compiled() -> None:
    log = io.StringIO()

    def function(x: Any) -> Any:
        print("traced", file=log)
        return x * 2

    compiled = ag.compile(function)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(X), 2 * X)
    assert log.getvalue() == "traced\n"


class Unreadable:
    @property
    def secret(self) -> Any:
        raise ValueError("not now")

    number = 1.0


def test_attributes_that_cannot_be_read() -> None:
    held = Unreadable()
    compiled = ag.compile(lambda x: x * held.number if hasattr(x, "secret") else x * 2)
    np.testing.assert_array_equal(compiled(X), 2 * X)


class Unnamed:
    """An object that has some attributes only, not even a class."""

    def __getattribute__(self, name: str) -> Any:
        return {"number": 3.0}[name]


def test_an_object_that_has_no_class_is_not_compiled() -> None:
    held = Unnamed()
    compiled = ag.compile(lambda x: x * held.number)
    with pytest.warns(UserWarning, match="reads from a Unnamed, whose __class__ cannot be read"):
        np.testing.assert_array_equal(compiled(X), 3 * X)


@pytest.mark.parametrize("source", [random.Random(0).random, np.random.RandomState(0).rand])
def test_older_sources_of_random_numbers_warn(source: Any) -> None:
    with pytest.warns(UserWarning, match="draws random numbers"):
        ag.compile(lambda x: x * source())(X)
