"""`ag.compile`: signatures, guards, what functions may do, and what is refused."""

from __future__ import annotations

import copy
import functools
import pickle
import subprocess
import sys
import threading
import types
import warnings
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.core.cpython import PORTABLE
from arraygrad.errors import DataDependentError


def counted(function: Any) -> tuple[Any, Callable[[], int]]:
    """A function, and how often its Python code has run: in a queue, which guards do not see."""
    runs: SimpleQueue[int] = SimpleQueue()

    def run(*args: Any, **kwargs: Any) -> Any:
        runs.put(1)
        return function(*args, **kwargs)

    return run, runs.qsize


# --- signatures ----------------------------------------------------------------------------------


def test_one_trace_for_each_signature() -> None:
    run, runs = counted(lambda x, y=None: ag.sin(x) if y is None else {"z": (x, y * 2)})
    f = ag.compile(run)
    x = np.arange(3.0)
    for _ in range(3):
        np.testing.assert_array_equal(f(x), np.sin(x))
    assert runs() == 1
    f(x.astype(np.float32)), f(np.arange(4.0)), f(x[::-1])
    assert runs() == 3
    found = f(x, y=x)
    np.testing.assert_array_equal(found["z"][1], 2 * x)
    assert runs() == 4


def test_dtypes_and_structures_are_kept() -> None:
    f = ag.compile(lambda tree: [tree["a"] * 2, (tree["b"][0] + 1, 3, None)])
    x = np.ones((2, 3), np.float32)
    doubled, (more, three, none) = f({"a": x, "b": [np.arange(2)]})
    assert doubled.dtype == np.float32
    assert more.dtype == np.arange(2).dtype
    assert three == 3
    assert none is None
    assert type(doubled) is np.ndarray


def test_tensors_in_tensors_out(x: ag.Tensor) -> None:
    f = ag.compile(lambda x: x * 2)
    assert type(f(x.detach().numpy())) is np.ndarray
    found = f(x.detach())
    assert isinstance(found, ag.Tensor)
    assert not found.requires_grad
    assert f(x).requires_grad
    with ag.no_grad():
        assert not f(x).requires_grad


def test_static_arguments() -> None:
    @ag.compile(static_argnames="power")
    def f(x: Any, power: Any = 2) -> Any:
        return x**power if power > 1 else -x

    x = np.array([2.0, 3.0])
    np.testing.assert_array_equal(f(x, 3), x**3)
    np.testing.assert_array_equal(f(x, power=1), -x)
    np.testing.assert_array_equal(f(x), x**2)
    with pytest.raises(TypeError, match="static argument 1 is a list"):
        f(x, [1])
    g = ag.compile(lambda kind, x: ag.sin(x) if kind == "sin" else x, static_argnums=0)
    np.testing.assert_array_equal(g("sin", x), np.sin(x))
    np.testing.assert_array_equal(g("none", x), x)


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"static_argnums": "x"}, TypeError),
        ({"static_argnums": (0, True)}, TypeError),
        ({"static_argnums": -1}, ValueError),
        ({"static_argnames": (1,)}, TypeError),
    ],
)
def test_wrong_static_arguments(keywords: Any, error: Any) -> None:
    with pytest.raises(error, match="static_arg"):
        ag.compile(lambda x: x, **keywords)


def test_numbers_are_part_of_the_signature() -> None:
    f = ag.compile(lambda x, n: x * n)
    x = np.ones(2, np.float32)
    assert f(x, 2.0).dtype == np.float32
    np.testing.assert_array_equal(f(x, 3), 3 * x)
    assert f(x, 0.0)[0] == 0
    assert np.signbit(f(x, -0.0)[0])


def test_many_signatures_warn() -> None:
    f = ag.compile(lambda x: x + 1)
    for n in range(63):
        f(np.zeros(n))
    with pytest.warns(UserWarning, match="0-d arrays"):
        f(np.zeros(63))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(f(np.zeros(200)), np.ones(200))


@pytest.mark.parametrize("given", ["text", object(), {1, 2}])
def test_arguments_that_are_no_arrays(given: Any) -> None:
    with pytest.raises(TypeError, match=r"argument 1\['a'\].*static_argnums"):
        ag.compile(lambda x, y: x)(np.ones(2), {"a": given})


def test_results_that_are_no_arrays() -> None:
    with pytest.raises(TypeError, match=r"result 1 is of type str"):
        ag.compile(lambda x: (x, "text"))(np.ones(2))


def test_not_a_function() -> None:
    with pytest.raises(TypeError, match="compile"):
        ag.compile(3)  # type: ignore[call-overload]


def test_methods_that_python_makes_anew_are_no_change() -> None:
    items = [1.0, 2.0]
    f = ag.compile(lambda x: x * items.__len__() + items.index(2.0))
    for _ in range(3):
        f(np.ones(2))
    assert f._traces == 1


def test_as_a_method() -> None:
    class Model:
        w = 3.0

        @ag.compile(static_argnums=0)
        def apply(self, x: Any) -> Any:
            return self.w * x

    np.testing.assert_array_equal(Model().apply(np.ones(2)), [3.0, 3.0])


# --- memory --------------------------------------------------------------------------------------


def test_results_share_no_memory() -> None:
    x, constant = np.arange(6.0).reshape(2, 3), np.ones(3)
    f = ag.compile(lambda x: (x, x.T, x[0], constant, ag.zeros_like(x) + 0 * x, x))
    results = [np.asarray(r) for r in f(x)]
    for i, a in enumerate(results):
        assert a.flags.writeable
        assert a.flags.c_contiguous
        for b in (x, constant, *results[:i]):
            assert not np.shares_memory(a, b)


def test_arrays_from_outside_are_read_in_each_call() -> None:
    c = np.array([1.0, 2.0])

    def f(x: Any) -> Any:
        return x * c

    compiled = ag.compile(f)
    x = np.ones(2)
    np.testing.assert_array_equal(compiled(x), [1.0, 2.0])
    c[0] = 5.0
    np.testing.assert_array_equal(compiled(x), [5.0, 2.0])
    c = np.array([3.0, 3.0, 3.0])[:2]
    np.testing.assert_array_equal(compiled(x), [3.0, 3.0])


def test_a_mask_from_outside_that_changes() -> None:
    mask = np.array([True, False, True])
    f = ag.compile(lambda x: x[mask])
    x = np.arange(3.0)
    np.testing.assert_array_equal(f(x), [0.0, 2.0])
    mask[2] = False
    np.testing.assert_array_equal(f(x), [0.0])


def test_variables_of_functions_that_are_called() -> None:
    factor = 2.0

    def inner(x: Any) -> Any:
        return x * factor

    f = ag.compile(lambda x: inner(x) + 1)
    assert f(np.ones(()))[()] == 3.0
    factor = 4.0
    assert f(np.ones(()))[()] == 5.0


class Model:
    """An object with attributes, of which some are in a container, some in the type."""

    power = 2

    def __init__(self) -> None:
        self.weights = {"w": np.array([1.0, 2.0]), "b": [np.ones(2)]}
        self.scale = 1.0

    @property
    def scaled(self) -> Any:
        return self.scale * self.weights["b"][0]  # type: ignore[index]

    def __call__(self, x: Any) -> Any:
        return (x * self.weights["w"]) ** self.power + self.scaled


def change_item(model: Any) -> None:
    model.weights["w"] = np.array([5.0, 6.0])


def change_elements(model: Any) -> None:
    model.weights["w"][:] = 7.0


def change_list(model: Any) -> None:
    model.weights["b"][0] = np.zeros(2)


def change_elements_of_list(model: Any) -> None:
    model.weights["b"][0][:] = 3.0


def change_number(model: Any) -> None:
    model.scale = 4.0


def change_type(model: Any) -> None:
    type(model).power = 3


CHANGES = [change_item, change_elements, change_list, change_elements_of_list, change_number]


@pytest.mark.parametrize("change", [*CHANGES, change_type], ids=lambda f: f.__name__)
def test_attributes_and_items_that_change(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "power", 2)
    x = np.array([3.0, -1.0])
    ways = {
        "object": lambda model: ag.compile(model),
        "method": lambda model: ag.compile(model.__call__),
        "closure": lambda model: ag.compile(lambda x: model(x)),
        "static": lambda model: functools.partial(
            ag.compile(lambda model, x: model(x), static_argnums=0), model
        ),
    }
    for make in ways.values():
        model = Model()
        f = make(model)
        np.testing.assert_allclose(f(x), model(x))
        np.testing.assert_allclose(f(x), model(x))
        change(model)
        np.testing.assert_allclose(f(x), model(x))
        monkeypatch.undo()
        monkeypatch.setattr(Model, "power", 2)


def test_containers_that_grow() -> None:
    terms = [1.0]
    f = ag.compile(lambda x: sum(x * t for t in terms))
    assert f(np.ones(()))[()] == 1.0
    terms.append(2.0)
    assert f(np.ones(()))[()] == 3.0


def test_a_function_that_is_defined_again() -> None:
    def inner(x: Any) -> Any:
        return x * 2

    f = ag.compile(lambda x: inner(x) + 1)
    assert f(np.ones(()))[()] == 3.0

    def inner(x: Any) -> Any:  # type: ignore[no-redef]  # noqa: F811
        return x * 3

    assert f(np.ones(()))[()] == 4.0


def test_elements_of_arrays_that_only_numpy_computes_with() -> None:
    c = np.array([1.0, np.nan])
    run, runs = counted(lambda x: x + c * 2)
    f = ag.compile(run)
    f(np.ones(2))
    np.testing.assert_array_equal(f(np.ones(2)), [3.0, np.nan])
    assert runs() == 1
    c[1] = 1.0
    np.testing.assert_array_equal(f(np.ones(2)), [3.0, 3.0])


# --- what functions may do -----------------------------------------------------------------------


def test_writes_and_views() -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        row = y[0]
        row *= 2.0
        y[:, 1] = x[:, 0]
        z = ag.zeros(3)
        z[0] = y[0, 0]
        z[1:] += x[0, :2]
        return y, row, z

    x = np.arange(6.0).reshape(2, 3) + 1
    for a, b in zip(ag.compile(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    t = ag.tensor(x)
    for a, b in zip(ag.compile(f)(t), f(t), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_numpy_functions() -> None:
    def f(x: Any) -> Any:
        return np.sin(x) + np.concatenate([x[:1], x[1:]]) @ np.eye(3)

    x = np.arange(3.0)
    np.testing.assert_allclose(ag.compile(f)(x), f(x), rtol=1e-15)


@pytest.mark.parametrize("limit", [2**40, -(2**40), 2**70])
def test_comparisons_with_numbers_that_the_dtype_does_not_have(limit: int) -> None:
    x = np.array([1, -2, 3], np.int32)
    np.testing.assert_array_equal(ag.compile(lambda x: ag.less(x, limit))(x), x < limit)


def test_grad_inside() -> None:
    def f(x: Any) -> Any:
        x = ag.tensor(x).requires_grad_()
        y = (ag.sin(x) * x).sum()
        return ag.grad(y, x)

    x = np.arange(3.0)
    np.testing.assert_allclose(np.asarray(ag.compile(f)(x)), np.asarray(f(x)), rtol=1e-15)


def test_custom_functions_and_checkpoints() -> None:
    @ag.func.custom(vjp=lambda g, x: g * 3 * x**2)
    def cube(x: Any) -> Any:
        assert type(x) is np.ndarray
        return np.power(x, 3)

    class Double(ag.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    def f(x: Any) -> Any:
        return (cube(x) + Double.apply(x) + ag.func.checkpoint(ag.sin)(x)).sum()

    x = np.arange(3.0)
    gradient = ag.func.grad(f)
    np.testing.assert_allclose(ag.compile(gradient)(x), gradient(x), rtol=1e-15)


def test_inside_another_compiled_function() -> None:
    run, runs = counted(lambda x: ag.sin(x).sum())
    inner = ag.compile(run)
    outer = ag.compile(lambda x: ag.func.grad(inner)(x) * 2)
    x = np.arange(3.0)
    for _ in range(3):
        np.testing.assert_allclose(outer(x), 2 * np.cos(x), rtol=1e-15)
    assert runs() == 1


def test_a_value_that_is_computed_twice_is_computed_once() -> None:
    calls = []

    @ag.func.custom(vjp=lambda g: g)
    def noted(x: Any) -> Any:
        calls.append(1)
        return x + 0

    f = ag.compile(lambda x: ag.exp(x) + noted(ag.exp(x)) + noted(x))
    x = np.ones(3)
    f(x)
    calls.clear()
    f(x)
    assert len(calls) == 2  # a user's function may do more than return a value


def test_other_libraries_run_eagerly() -> None:
    strict = pytest.importorskip("array_api_strict")
    run, runs = counted(lambda x: x * 2)
    f = ag.compile(run)
    for _ in range(2):
        assert isinstance(f(strict.ones(3)), type(strict.ones(3)))
    assert runs() == 2


def test_jax_compiles_functions_of_its_arrays() -> None:
    jnp = pytest.importorskip("jax.numpy")
    shift = jnp.array([1.0, 2.0, 3.0])
    run, runs = counted(lambda x: {"y": ag.func.grad(lambda x: (x * x * shift).sum())(x), "n": 3})
    f = ag.compile(run)
    x = jnp.arange(3.0)
    for _ in range(3):
        found = f(x)
        assert isinstance(found["y"], type(x))
        assert found["n"] == 3
        np.testing.assert_allclose(found["y"], [0.0, 4.0, 12.0])
    assert runs() == 1
    shift = jnp.ones(3)
    np.testing.assert_allclose(f(x)["y"], [0.0, 2.0, 4.0])


def test_functions_that_jax_cannot_compile_run_eagerly() -> None:
    """They decide by values: as loops and choices do, of which `jax.jit` does not know."""
    jnp = pytest.importorskip("jax.numpy")

    def halved(x: Any) -> Any:
        x = ag.func.while_loop(lambda x: ag.sum(x) > 4, lambda x: x / 2, x)
        return ag.sum(ag.func.cond(x[1] > 1, lambda x: x * x, lambda x: x, x))

    run, runs = counted(ag.func.grad(halved))
    f = ag.compile(run)
    for _ in range(3):
        np.testing.assert_allclose(f(jnp.arange(5.0)), [0.25, 0.25, 0.25, 0.25, 0.25])
    assert runs() == 4  # of which one was a trial


def test_tensors_over_jax_arrays_run_eagerly() -> None:
    jnp = pytest.importorskip("jax.numpy")
    x, w = jnp.arange(3.0), ag.tensor(jnp.ones(3), requires_grad=True)
    f = ag.compile(lambda x: (w * x * x).sum())
    for _ in range(2):
        np.testing.assert_allclose(ag.grad(f(x), w).array, [0.0, 1.0, 4.0])
    leaf = ag.tensor(x, requires_grad=True)
    np.testing.assert_allclose(ag.grad(f(leaf), leaf).array, [0.0, 2.0, 4.0])


def test_subclasses_of_numpys_arrays_run_eagerly() -> None:
    f = ag.compile(lambda x: (x * x).sum())
    x = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    assert f(x) == 10.0
    f(np.ones(3))
    assert f(x) == 10.0


def test_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARRAYGRAD_COMPILE", "0")
    run, runs = counted(lambda x: x if x.sum() > 0 else -x)
    f = ag.compile(run)
    f(np.ones(2)), f(-np.ones(2))
    assert runs() == 2


# --- what is refused -----------------------------------------------------------------------------


def branches(x: Any) -> Any:
    if x.sum() > 0:
        return x
    return -x


@pytest.mark.parametrize(
    "function",
    [
        branches,
        lambda x: float(x[0]) * x,
        lambda x: x[int(x[0])],
        lambda x: x * x[0].item(),
        lambda x: np.asarray(x) * 2,
        lambda x: [1, 2, 3][x.astype(np.int64)[0]] * x,
        lambda x: x[x > 0],
        lambda x: ag.nonzero(x)[0],
        lambda x: ag.unique_values(x),
        lambda x: x * len(ag.bincount(x.astype(np.int64))),
        lambda x: x.tolist(),
    ],
)
def test_values_are_not_known(function: Any) -> None:
    x = np.arange(1.0, 4.0)
    for given in (x, ag.tensor(x)):
        with pytest.raises(DataDependentError) as caught:
            ag.compile(function)(given)
        message = str(caught.value)
        assert "compiled" in message
        assert "outside" in message
        if "bincount" not in message:
            assert "test_compile.py, line" in message


def test_the_error_names_the_line() -> None:
    with pytest.raises(DataDependentError, match=r"in .*test_compile.py, line \d+: if x.sum\(\)"):
        ag.compile(branches)(np.ones(2))


@pytest.mark.parametrize("wrap", [np.array, ag.tensor])
def test_arguments_cannot_be_written(wrap: Any) -> None:
    def f(x: Any) -> Any:
        x[0] = 1.0
        return x

    given = wrap([3.0, 4.0])
    with pytest.raises(TypeError, match=r"writes? to its argument"):
        ag.compile(f)(given)
    assert given[0] == 3.0


def test_tensors_from_outside_cannot_be_written() -> None:
    w = ag.tensor([1.0, 2.0])

    def f(x: Any) -> Any:
        w[0] = x[0]
        return w * x

    with pytest.raises(TypeError, match="tensor from outside"):
        ag.compile(f)(np.ones(2) * 7)
    assert w.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("is_nested", [False, True])
def test_plain_writes_to_tensors_from_outside_are_refused(is_nested: bool) -> None:
    """Such a write needs no value of the trace: it would happen, once."""
    state = {"of": [ag.tensor([1.0, 2.0])]} if is_nested else ag.tensor([1.0, 2.0])

    def decayed(x: Any) -> Any:
        held: Any = state["of"][0] if isinstance(state, dict) else state
        held[:1] *= 0.5
        return x * held

    with pytest.raises(TypeError, match="writes to a tensor from outside"):
        ag.compile(decayed)(np.ones(2))
    np.testing.assert_array_equal(decayed(np.ones(2)), [0.5, 2.0])


def test_tensors_made_inside_can_be_written() -> None:
    def function(x: Any) -> Any:
        buffer, weight = ag.zeros(2), ag.tensor([2.0, 3.0], requires_grad=True)
        buffer[0] = 1.0
        (ag.asarray(x) * weight).sum().backward()
        return x * buffer + weight.grad

    np.testing.assert_array_equal(ag.compile(function)(np.array([4.0, 5.0])), [8.0, 5.0])


def test_gradients_of_tensors_from_outside_are_not_accumulated() -> None:
    weight = ag.tensor([2.0, 3.0], requires_grad=True)

    def function(x: Any) -> Any:
        (x * weight).sum().backward()
        return x

    with pytest.raises(RuntimeError, match=r"backward\(\) in a compiled function"):
        ag.compile(function)(ag.tensor([1.0, 1.0]))
    assert weight.grad is None


def test_a_value_that_was_kept_cannot_be_used() -> None:
    kept = types.SimpleNamespace()

    def f(x: Any) -> Any:
        kept.value = x * 2
        return x

    ag.compile(f)(np.ones(2))
    with pytest.raises(RuntimeError, match="after the function had been compiled"):
        kept.value + 1


def test_a_function_that_fills_a_list_is_not_compiled() -> None:
    kept: list[Any] = [1.0]
    notes: dict[str, Any] = {}

    def f(x: Any) -> Any:
        kept.append(x * 2)
        notes["last"] = x
        return x * len(kept)

    compiled = ag.compile(f)
    with pytest.warns(UserWarning, match="not compiled"):
        found = [compiled(np.ones(2)) for _ in range(3)]
    np.testing.assert_array_equal(found, [[2, 2], [3, 3], [4, 4]])
    np.testing.assert_array_equal(kept[1:], np.full((3, 2), 2.0))
    np.testing.assert_array_equal(notes["last"], np.ones(2))


def test_an_error_in_the_function_leaves_nothing_behind() -> None:
    def f(x: Any) -> Any:
        raise KeyError("mine")

    compiled = ag.compile(f)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            compiled(np.ones(2))


# --- threads -------------------------------------------------------------------------------------


def test_threads() -> None:
    f = ag.compile(ag.func.value_and_grad(lambda x: (ag.sin(x) * x).sum()))
    wrong = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for n in range(1, 30):
            x = rng.normal(size=n % 5 + 1)
            value, gradient = f(x)
            if not np.allclose(value, (np.sin(x) * x).sum(), rtol=1e-12):
                wrong.append(x)
            if not np.allclose(gradient, np.cos(x) * x + np.sin(x), rtol=1e-12):
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_importing_arraygrad_imports_no_compiler() -> None:
    code = "import sys, arraygrad; assert not {'llvmlite', 'arraygrad.compiler'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- decisions by values -------------------------------------------------------------------------


def test_specialize_remembers_each_branch() -> None:
    run, runs = counted(branches)
    f = ag.compile(run, specialize=True)
    x = np.ones(2)
    for _ in range(3):
        np.testing.assert_array_equal(f(x), x)
        np.testing.assert_array_equal(f(-3 * x), 3 * x)
    assert runs() == 2


def newton(a: Any) -> Any:
    """The square root, by as many steps as it takes."""
    x = a
    while abs(x * x - a) > 1e-9:
        x = (x + a / x) / 2
    return x


def test_specialize_loops_and_integers() -> None:
    f = ag.compile(newton, specialize=True)
    for a in (2.0, 9.0, 2.0, 100.0):
        assert abs(f(np.array(a)) - a**0.5) < 1e-9
    g = ag.compile(lambda x, n: sum((x for _ in range(n)), start=0 * x), specialize=True)
    np.testing.assert_array_equal(g(np.ones(2), np.array(3)), [3.0, 3.0])
    np.testing.assert_array_equal(g(np.ones(2), np.array(5)), [5.0, 5.0])


def test_specialize_under_derivatives() -> None:
    f = ag.compile(branches, specialize=True)
    for sign in (1.0, -1.0, 1.0):
        x = ag.tensor([sign, sign], requires_grad=True)
        assert ag.grad(f(x).sum(), x).tolist() == [sign, sign]
        assert ag.func.jvp(f, (x.detach(),), (np.ones(2),))[1].tolist() == [sign, sign]
    gradient = ag.compile(ag.func.grad(lambda x: branches(x).sum()), specialize=True)
    assert gradient(np.ones(2)).tolist() == [1.0, 1.0]
    assert gradient(-np.ones(2)).tolist() == [-1.0, -1.0]
    with pytest.raises((DataDependentError, TypeError)):  # another branch for each member
        ag.func.vmap(f)(np.array([[1.0, 1.0], [-1.0, -1.0]]))


def test_specialize_refuses_numbers() -> None:
    with pytest.raises(DataDependentError):
        ag.compile(lambda x: x * float(x[0]), specialize=True)(np.ones(2))


# --- dtypes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u1", "i2", "i4", "i8", "u8", "f2", "f4", "c8", "c16"]
)
def test_all_dtypes(dtype: str) -> None:
    x = np.array([[0, 1, 2], [3, 1, 0]]).astype(dtype)

    def f(x: Any) -> Any:
        same = ag.where(x == x, x, 0), ag.permute_dims(x, (1, 0)), ag.concat([x, x]), x[:, ::-1]
        converted = ag.astype(x, np.float32 if x.dtype.kind != "c" else np.complex128)
        return *same, converted, x != 1, ag.sum(x, axis=0), x * x, x[0, 0]

    for a, b in zip(ag.compile(f)(x), f(x), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def _square(x: Any) -> Any:
    return x * x


_squared = ag.compile(_square)


@ag.compile(static_argnames="n")
def _decorated(x: Any, n: int = 2) -> Any:
    return x * n


@pytest.mark.parametrize("function", [_squared, _decorated])
@pytest.mark.parametrize(
    "copied", [lambda f: pickle.loads(pickle.dumps(f)), copy.copy, copy.deepcopy]
)
def test_compiled_functions_can_be_pickled_and_copied(function: Any, copied: Any) -> None:
    x = np.array([1.0, 2.0])
    again = copied(function)
    assert type(again) is type(function)
    np.testing.assert_array_equal(again(x), function(x))
    if function is _decorated:
        assert again is function
        np.testing.assert_array_equal(again(x, n=3), 3 * x)


def test_settings_for_parameters_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="static_argnums has 1, but the function takes 1"):
        ag.compile(_square, static_argnums=1)
    with pytest.raises(ValueError, match="static_argnames has 'y', but the function has no such"):
        ag.compile(_square, static_argnames="y")
    x = np.array([1.0, 2.0])
    any_of_them = ag.compile(lambda *x, **y: x[0] * x[1], static_argnums=1, static_argnames="z")
    np.testing.assert_array_equal(any_of_them(x, 2.0), 2 * x)


def test_dtypes_of_results_are_known_in_a_trace() -> None:
    def function(x: Any, y: Any) -> Any:
        ours = ag.result_type(x, y, 1.5), ag.result_type(x, ag.float32)
        theirs = np.result_type(x, y), np.result_type(x, np.float64)
        return [x.astype(dtype) for dtype in (*ours, *theirs)]

    x, y = np.ones(2, np.float32), np.ones(2, np.int32)
    for found, wanted in zip(ag.compile(function)(x, y), function(x, y), strict=True):
        assert found.dtype == wanted.dtype


def test_writing_to_arrays_of_numpy_is_refused() -> None:
    def single(x: Any) -> Any:
        y = np.zeros(3)
        y[0] = x[0]
        return y

    def whole(x: Any) -> Any:
        y = np.zeros(3)
        y[:] = x
        return y

    for function in (single, whole, lambda x: np.array([x[0], x[1]])):
        with pytest.raises((DataDependentError, ValueError)) as caught:
            ag.compile(function)(np.ones(3))
        # Without frames, NumPy's error for an element stays, and ours is its cause.
        error = caught.value.__cause__ if PORTABLE and function is single else caught.value
        assert isinstance(error, DataDependentError)
        assert "write to an array that ag.zeros()" in str(error)


@pytest.mark.parametrize("make", [np.zeros_like, np.ones_like, np.empty_like])
def test_arrays_that_numpy_makes_are_no_tensors(make: Any) -> None:
    def function(x: Any) -> Any:
        y = make(x)
        y[:] = 2 * x
        return y

    compiled = ag.compile(function)
    x = np.array([1.0, 2.0])
    found = compiled(x)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, 2 * x)
    t = ag.tensor(x, requires_grad=True)
    np.testing.assert_array_equal(ag.grad(compiled(t).sum(), t), [2.0, 2.0])
