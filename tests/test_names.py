"""A user's function is computed by its own code, whatever it is called.

Array libraries have kernels for arraygrad's ops. A function of a user's must never be taken for one
of these because it has the same name, nor for another function of the user's; and arraygrad's own
ops must stay what they are.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import crossed
from samples import SAMPLES

import arraygrad as ag
from arraygrad.ops.define import binary, declare, unary
from arraygrad.ops.define.op import library_ops

for _name in ("fft", "linalg", "special"):
    importlib.import_module(f"arraygrad.{_name}")
NAMES = sorted(op.name for op in library_ops())
PARTS = [NAMES[i::8] for i in range(8)]


# --- libraries -----------------------------------------------------------------------------------


LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "numpy": np.asarray,
    "array_api_strict": lambda array: importlib.import_module("array_api_strict").asarray(array),
    "dask.array": lambda array: importlib.import_module("dask_arrays").in_blocks(array),
    "torch": lambda array: importlib.import_module("torch").asarray(array),
    "jax.numpy": lambda array: importlib.import_module("jax.numpy").asarray(array),
}


def values(result: Any) -> Any:
    """What a result comes to, as a NumPy array."""
    array = result.detach().array if isinstance(result, ag.Tensor) else result
    if hasattr(array, "compute"):
        array = array.compute(scheduler="synchronous")
    return np.asarray(array)


# --- ways to have a function of one's own --------------------------------------------------------
# Each gives 42 more than zero times its input, and pretends that its derivative is 7.


def constant(x: Any) -> Any:
    return x * 0 + 42.0


def named(name: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return constant(x)

    function.__name__ = function.__qualname__ = name
    return function


def rule(g: Any) -> Any:
    return g * 7


def by_custom(name: str) -> Any:
    return ag.func.custom(vjp=rule)(named(name))


def by_custom_elementwise(name: str) -> Any:
    return ag.func.custom(vjp=rule, batch="elementwise")(named(name))


def by_custom_with_tangents(name: str) -> Any:
    return ag.func.custom(jvp=lambda t: t * 7)(named(name))


def by_unary(name: str) -> Any:
    return unary(name, vjp=rule, compute=lambda xp, x: constant(x), replace=True)


def by_binary(name: str) -> Any:
    function = binary(
        name,
        vjp_x=rule,
        vjp_y=lambda g: g * 0,
        compute=lambda xp, x, y: constant(x),
        replace=True,
    )
    return lambda x: function(x, x)


def by_declare(name: str) -> Any:
    return declare(name, "x", vjp=rule, compute=lambda xp, x: constant(x), replace=True)


def by_declare_with_keywords(name: str) -> Any:
    function = declare(
        name,
        "x",
        vjp=lambda g, axis: g * axis,
        compute=lambda xp, x, axis: constant(x),
        replace=True,
    )
    return lambda x: function(x, axis=7)


def by_function_class(name: str) -> Any:
    def backward(ctx: Any, g: Any) -> Any:
        return rule(g)

    members = {
        "forward": staticmethod(constant),
        "setup_context": staticmethod(lambda ctx, inputs, output: None),
        "backward": staticmethod(backward),
    }
    made: Any = type(name, (ag.autograd.Function,), members)
    return made.apply


WAYS = [
    by_custom,
    by_custom_elementwise,
    by_custom_with_tangents,
    by_unary,
    by_binary,
    by_declare,
    by_declare_with_keywords,
    by_function_class,
]


def is_own(function: Any, make: Callable[[Any], Any]) -> bool:
    """Whether a function gives what was written above, on arrays and on tensors."""
    given = np.array([0.5, 0.25, 0.75])
    x = ag.tensor(make(given), requires_grad=True)
    try:
        on_array, on_tensor = values(function(make(given))), values(function(x))
        gradient = values(ag.grad(ag.sum(function(x)), x))
    except Exception:  # as of a kernel that takes other arguments
        return False
    return bool((on_array == 42).all() and (on_tensor == 42).all() and (gradient == 7).all())


@crossed(way=WAYS, library=LIBRARIES, part=range(8))
def test_functions_with_the_names_of_ops(
    way: Callable[[str], Any], library: str, part: int
) -> None:
    pytest.importorskip(library)
    make = LIBRARIES[library]
    wrong = [name for name in PARTS[part] if not is_own(way(name), make)]
    assert wrong == []


@crossed(way=WAYS, library=LIBRARIES)
def test_functions_with_names_of_their_own(way: Callable[[str], Any], library: str) -> None:
    pytest.importorskip(library)
    assert is_own(way("a_name_of_its_own"), LIBRARIES[library])


# --- what else may go by a name ------------------------------------------------------------------


@pytest.mark.parametrize(
    "way",
    [by_custom, by_custom_elementwise, by_unary, by_function_class],
    ids=lambda way: way.__name__,
)
def test_their_sparsity(way: Callable[[str], Any]) -> None:
    """Each element depends on its own, even if the function is called `sign`."""
    x = np.array([0.5, 0.25, 0.75])
    wrong = []
    for name in NAMES:
        try:
            pattern = ag.func.sparsity(way(name), x).toarray()
        except Exception:  # as of a kernel that takes other arguments
            continue
        if not pattern.diagonal().all():
            wrong.append(name)
    assert wrong == []


def test_in_rules_on_large_arrays() -> None:
    """A product with one is left out there; but only a product is one."""
    product = binary(
        "multiply", vjp_x=rule, vjp_y=rule, compute=lambda xp, x, y: x + y + 1, replace=True
    )
    function = unary("its_own", vjp=lambda g, x: product(g, x), compute=lambda xp, x: x + 0)
    for size in (4, 1 << 20):
        x = ag.tensor(np.ones(size), requires_grad=True)
        assert ag.grad(ag.sum(function(x)), x)[0] == 3


def test_two_functions_of_one_name_on_dask() -> None:
    pytest.importorskip("dask.array")

    def first(x: Any) -> Any:
        return x + 1

    def second(x: Any) -> Any:
        return x * 10

    first.__name__ = second.__name__ = "thing"
    functions = [ag.func.custom(vjp=rule, batch="elementwise")(f) for f in (first, second)]
    x = LIBRARIES["dask.array"](np.array([1.0, 2.0, 3.0]))
    assert [values(f(x)).tolist() for f in functions] == [[2, 3, 4], [10, 20, 30]]


@pytest.mark.parametrize("library", ["numpy", "dask.array"])
def test_ops_stay_what_they_are(library: str) -> None:
    """After functions were declared with their names."""
    pytest.importorskip(library)
    make = LIBRARIES[library]
    first = {s.op: s for s in reversed(SAMPLES) if "unique" not in s.op}

    def results() -> dict[str, Any]:
        found = {}
        for op, sample in first.items():
            try:
                given = sample.call(ag, *(ag.tensor(make(a)) for a in sample.arrays()))
                given = given if isinstance(given, tuple | list) else [given]
                found[op] = [values(r) for r in given]
            except Exception as error:  # what they cannot run is a matter of tests/backends
                found[op] = [np.asarray(type(error).__name__)]
        return found

    before = results()
    for name in NAMES:
        by_custom_elementwise(name)
    after = results()
    wrong = [op for op in before if not all(map(np.array_equal, before[op], after[op]))]
    assert wrong == []
