"""Native code for eager mode: the results, warnings and errors are NumPy's, to a few units."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag
from arraygrad.backends import numpy as numpy_backend
from arraygrad.backends.numpy import blocks, native
from arraygrad.backends.numpy.native import LARGE, SMALL
from arraygrad.backends.numpy.threads import alone
from arraygrad.compiler.llvm import native as llvm
from arraygrad.compiler.run import eager, open_entry, pool
from arraygrad.ops.define.op import Op, library_ops
from arraygrad.ops.special.standardizing import standardize
from arraygrad.sweep import engine

special = ag.special
ByNumpy = Callable[[Callable[[], Any]], Any]
FLOATS = [np.float32, np.float64]


@pytest.fixture(autouse=True)
def no_failures() -> Iterator[None]:
    """What has no native code was not meant to have any: the compiler did not fail."""
    yield
    assert not eager.failures


# --- ops -----------------------------------------------------------------------------------------

# The elementwise ops with native code, by the numbers that they are defined for.
ANY = """
    atan2 atan clip copysign cos cosh erf erfc exp exp2 expit expm1 floor_divide fmod
    gelu hypot log_expit logaddexp ndtr reciprocal relu round silu sin sinc sinh softplus tan tanh
    asinh weighted_exp where choose
"""
NUMBERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(ANY.split(), lambda x: x),
    **dict.fromkeys("log log2 log10 log1p sqrt pow xlogy xlog1py".split(), abs),
    **dict.fromkeys(("asin", "acos", "atanh"), lambda x: 0.9 * np.tanh(x)),
    "acosh": lambda x: 1 + abs(x),
}
OPS: dict[str, Op] = {op.name: op for op in library_ops() if op.name in NUMBERS}
# NumPy's functions round more roughly, or lose digits in sums near zero; or SciPy's do in a tail.
ROUGH = {"erf", "erfc", "gelu", "logaddexp", "ndtr", "sinc", "weighted_exp", "pow"}


def values(*shape: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype) * dtype(3)


def arguments(name: str, *shape: int, dtype: Any = np.float64) -> list[Any]:
    inputs = OPS[name].inputs
    found = [NUMBERS[name](values(*shape, dtype=dtype, seed=i)) for i in range(len(inputs))]
    if inputs[0] == "condition":
        found[0] = found[0] > 0
    if name == "clip":
        found[1], found[2] = -abs(found[1]), abs(found[2])
    return found


def check_close(name: str, found: Any, wanted: Any) -> None:
    unit = float(np.finfo(wanted.dtype).eps)
    assert found.dtype == wanted.dtype
    if name in ROUGH:
        np.testing.assert_allclose(found, wanted, rtol=200 * unit, atol=4 * unit)
    else:
        np.testing.assert_allclose(found, wanted, rtol=4 * unit, atol=0)


def test_all_ops_with_native_code_are_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager, "failures", Counter())  # some ops take integers only
    double = native.Kind("array", np.dtype(np.float64))
    for op in library_ops():
        if not op.runs_in_blocks or op.variadic or op.name in NUMBERS:
            continue
        if not op.module.startswith("arraygrad.ops"):
            continue  # those of `nn` are in a table of their own
        kernel = op.kernel((np.ndarray,) * len(op.inputs))
        if kernel.__qualname__.startswith(blocks._by_native_code.__name__):
            assert not eager.elementwise(op, [double] * len(op.inputs)), op.name


@crossed(name=NUMBERS, dtype=FLOATS, more=[-1, 0, 1, 37, 4096 * 2 + 5, 70_123])
def test_values(name: str, dtype: Any, more: int, by_numpy: ByNumpy) -> None:
    given = arguments(name, SMALL + more, dtype=dtype)
    kept = [a.copy() for a in given]
    found, wanted = OPS[name].function(*given), by_numpy(lambda: OPS[name].function(*given))
    check_close(name, found, wanted)
    if more < 0:
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(found, OPS[name].function(*given))
    for a, before in zip(given, kept, strict=True):
        np.testing.assert_array_equal(a, before)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: x,
    "columns": np.asfortranarray,
    "transposed": lambda x: x.transpose(1, 0, 2),
    "strided": lambda x: x[::-1, ::2],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "one value": lambda x: np.broadcast_to(x[0, 0, 0], x.shape),
    "no axes": lambda x: x[0, 0, 0, ...],
    "empty": lambda x: x[:, :0],
    "one element": lambda x: x[:1, :1, :1],
    "not aligned": lambda x: np.frombuffer(b"." + x.tobytes(), x.dtype, x.size, 1).reshape(x.shape),
    "other bytes": lambda x: x.astype(x.dtype.newbyteorder()),
    "read only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "in a file": lambda x: x.view(np.memmap),
}


@crossed(name=NUMBERS, layout=LAYOUTS, mixed=[False, True])
def test_layouts(name: str, layout: str, mixed: bool, by_numpy: ByNumpy) -> None:
    given = arguments(name, 10, 12, 14)
    given[:1] = [LAYOUTS[layout](given[0])]
    if not mixed:  # else the others are in rows, and broadcast
        given[1:] = [LAYOUTS[layout](a) for a in given[1:]]
    elif layout == "transposed":
        given[1:] = [a.reshape(12, 10, 14) for a in given[1:]]
    elif layout == "strided":
        given[1:] = [a[:, ::2] for a in given[1:]]
    elif layout == "empty":
        given[1:] = [a[:, :1] for a in given[1:]]
    found, wanted = OPS[name].function(*given), by_numpy(lambda: OPS[name].function(*given))
    assert type(found) is type(wanted)
    assert found.shape == wanted.shape
    assert found.size < 2 or found.strides == wanted.strides
    check_close(name, found, wanted)


class Outcome:
    """What a call returns or raises, and what it warns of."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.out = self.error = None
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                self.out = function()
            except FloatingPointError as error:
                self.error = str(error)
        self.warned = {str(one.message) for one in seen}


POINTS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, -1e-42, 1e-38, 1.0, -1.0, 88.8, -745.2, 1e300]
STATES: list[dict[str, Any]] = [
    {},
    {"all": "ignore"},
    {"all": "raise", "under": "ignore"},
    {"under": "raise"},
]


@crossed(name=NUMBERS, dtype=FLOATS, state=STATES)
def test_special_values(name: str, dtype: Any, state: Any, by_numpy: ByNumpy) -> None:
    for point in POINTS:
        for position in range(len(OPS[name].inputs)):
            given = arguments(name, SMALL + 37, dtype=dtype)
            if given[position].dtype == np.bool_:
                continue
            places = [0, 21, SMALL, -1]
            with np.errstate(all="ignore"):
                given[position][places] = point

            def call(given: Any = given) -> Any:
                return OPS[name].function(*given)

            with np.errstate(**state):
                found, wanted = Outcome(call), by_numpy(lambda: Outcome(call))
            assert (found.error, found.warned) == (wanted.error, wanted.warned), point
            if wanted.out is not None:
                one, other = found.out[places], wanted.out[places]
                np.testing.assert_array_equal(
                    np.signbit(one[other == 0]), np.signbit(other[other == 0])
                )
                check_close(name, one, other)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "number",
    [2, -1, 0.5, -0.0, True, 2**60, 10**400, 1e300, np.inf, np.float32(3), np.float64(3), 1j]
    + [np.asarray(2.0), np.asarray(2.0, np.float32), np.bool_(True), np.int64(3), [2.0]],
    ids=repr,
)
def test_numbers(number: Any, dtype: Any, by_numpy: ByNumpy) -> None:
    x = values(SMALL, dtype=dtype)
    for function in (
        lambda: ag.where(x > 0, x, number),
        lambda: ag.where(x > 0, number, x),
        lambda: ag.logaddexp(x, number),
        lambda: ag.hypot(number, x),
        lambda: ag.pow(abs(x), number),
    ):
        both = []
        for call in (lambda f: f(), by_numpy):
            try:
                both.append(call(lambda f=function: Outcome(f)))
            except (TypeError, OverflowError, ValueError) as error:
                both.append(type(error))
        found, wanted = both
        if isinstance(wanted, type) or wanted.out is None:
            assert found == wanted or found.error == wanted.error
            continue
        assert (found.out.dtype, found.warned) == (wanted.out.dtype, wanted.warned)
        np.testing.assert_allclose(
            found.out, wanted.out, rtol=1e-5 if dtype == np.float32 else 1e-13
        )


# --- rules ---------------------------------------------------------------------------------------

SEEDS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda g: g,
    "columns": np.asfortranarray,
    "one value": lambda g: np.broadcast_to(np.ones((), g.dtype), g.shape),
    "strided": lambda g: np.concatenate([g, g], axis=1)[:, ::2],
}


@crossed(name=NUMBERS, dtype=FLOATS, seed=SEEDS, rows=[31, 32, 33, 200])
def test_gradients(name: str, dtype: Any, seed: str, rows: int, by_numpy: ByNumpy) -> None:
    op = OPS[name]
    for position in range(len(op.inputs)):
        given = arguments(name, rows, 32, dtype=dtype)
        if given[position].dtype == np.bool_ or op.input_name(position) not in op.rules:
            continue
        leaf = given[position] = ag.tensor(given[position], requires_grad=True)
        g = SEEDS[seed](values(rows, 32, dtype=dtype, seed=7))

        def gradient(given: Any = given, leaf: Any = leaf, g: Any = g) -> Any:
            return ag.grad(op.function(*given), leaf, g).array

        found, wanted = gradient(), by_numpy(gradient)
        unit = float(np.finfo(dtype).eps)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted, rtol=1e3 * unit, atol=100 * unit)
        np.testing.assert_array_equal(found, gradient())


CHOICES: dict[str, Callable[[Any], Any]] = {
    "relu": ag.nn.relu,
    "maximum": lambda x: ag.maximum(x, 0),
    "minimum": lambda x: ag.minimum(x, 1.0),
    "where": lambda x: ag.where(x > 0, x, 0.5 * x),
    "clip": lambda x: ag.clip(x, -1.0, 1.0),
    "abs": ag.abs,
    "sqrt": lambda x: ag.sqrt(abs(x)),
    "divide": lambda x: 2 / x,
    "pow": lambda x: abs(x) ** 2.5 + x**2 + x**3,
}


@crossed(name=CHOICES, dtype=FLOATS)
def test_gradients_at_special_values(name: str, dtype: Any, by_numpy: ByNumpy) -> None:
    x = values(SMALL + 37, dtype=dtype)
    with np.errstate(all="ignore"):
        x[[*range(13)]] = POINTS
        x[-13:] = POINTS
    leaf = ag.tensor(x, requires_grad=True)

    def gradient() -> Any:
        with np.errstate(all="ignore"):
            return ag.grad(CHOICES[name](leaf).sum(), leaf).array

    rtol = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(gradient(), by_numpy(gradient), rtol=rtol)


def test_a_sweep_does_not_warn(by_numpy: ByNumpy) -> None:
    x = ag.tensor(np.zeros(SMALL), requires_grad=True)
    assert np.isinf(ag.grad(ag.sqrt(x).sum(), x).array).all()


# --- lines ---------------------------------------------------------------------------------------

LINES: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: special.softmax(x, axis=-1),
    "log_softmax": lambda x: special.log_softmax(x, axis=-1),
    "logsumexp": lambda x: special.logsumexp(x, axis=-1),
    "logsumexp, kept": lambda x: special.logsumexp(x, axis=-1, keepdims=True),
    "standardize": lambda x: standardize(x, axis=-1, eps=1e-5),
    "cross entropy": lambda x: -special.log_softmax(x, axis=-1)[..., 3],
    "softmax, several axes": lambda x: special.softmax(x, axis=tuple(range(1, x.ndim))),
    "logsumexp, several axes": lambda x: special.logsumexp(x, axis=tuple(range(x.ndim))[:0:-1]),
    "standardize, several axes": lambda x: standardize(x, axis=tuple(range(1, x.ndim)), eps=1e-5),
}
# Few and many, short and long ones; one for which no native code is made; large arrays.
SHAPES = [(103, 10), (16, 64), (3, 50, 32), (2, 3, 7, 80), (300, 77), (40, 2000), (513, 1536)]


@crossed(name=LINES, shape=SHAPES, dtype=FLOATS)
def test_lines(name: str, shape: tuple[int, ...], dtype: Any, by_numpy: ByNumpy) -> None:
    x = ag.tensor(values(*shape, dtype=dtype), requires_grad=True)

    def both() -> Any:
        out = LINES[name](x)
        seed = values(*out.shape, dtype=dtype, seed=1)
        return out.array, ag.grad(out, x, seed).array

    close = {"rtol": 1e-5, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-13}
    for found, wanted, again in zip(both(), by_numpy(both), both(), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, **close)
        np.testing.assert_array_equal(found, again)


@crossed(name=LINES, arrange=[np.asfortranarray, lambda x: x[:, ::2], lambda x: x[:0]])
def test_lines_in_any_order(name: str, arrange: Any, by_numpy: ByNumpy) -> None:
    x = arrange(values(40, 160))
    found, wanted = LINES[name](x), by_numpy(lambda: LINES[name](x))
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@crossed(name=LINES, state=STATES)
def test_lines_with_infinities(name: str, state: Any, by_numpy: ByNumpy) -> None:
    x = values(300, 64)
    x[3], x[4, 5], x[5, 6], x[6, 7] = -np.inf, -np.inf, np.inf, np.nan
    with np.errstate(all="ignore"):
        found, wanted = LINES[name](x), by_numpy(lambda: LINES[name](x))
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


# --- sums of all elements ------------------------------------------------------------------------


@crossed(
    name=["sum", "mean"], shape=[(1 << 15,), (96, 512), (40, 1000), (3, 512, 513)], dtype=FLOATS
)
def test_sums_of_all_elements(name: str, shape: tuple[int, ...], dtype: Any) -> None:
    x = values(*shape, dtype=dtype)
    scale = getattr(np, name)(abs(x), dtype=np.float64)
    before, found = ag.get_num_threads(), []
    try:
        for number in (1, 2):
            ag.set_num_threads(number)
            found.append(getattr(ag, name)(x))
    finally:
        ag.set_num_threads(before)
    assert found[0] == found[1]
    for array in (x, x.T, x[1:]):
        out = getattr(ag, name)(array)
        assert out.dtype == dtype
        exact = getattr(np, name)(array, dtype=np.longdouble)
        assert abs(out - exact) <= 2 * np.finfo(dtype).eps * scale


@pytest.mark.parametrize(
    ("ends", "message"),
    [((3e38, 3e38), "overflow"), ((np.inf, -np.inf), "invalid"), ((np.nan, np.inf), None)],
)
def test_sums_of_all_elements_warn_as_numpys(ends: Any, message: str | None) -> None:
    x = np.repeat(np.array(ends, np.float32), 1 << 14)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        out = ag.sum(x)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, np.sum(x))
    assert len(found) == (message is not None)
    assert all(message in str(w.message) for w in found)  # type: ignore[operator]


# --- several ops in a large sweep ----------------------------------------------------------------


@pytest.fixture
def thousands_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take fewer elements for large than it pays for, to save time."""
    for module in (blocks, engine, numpy_backend, native):
        monkeypatch.setattr(module, "LARGE", 2000)
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 4096)


@pytest.mark.usefixtures("thousands_are_large")
def test_gradients_that_overwrite_what_they_read(by_numpy: ByNumpy) -> None:
    """The cotangent that comes in is one that goes out, and others are read after it."""
    x, y = (ag.tensor(values(100, 300, seed=i), requires_grad=True) for i in (0, 1))
    m = values(300, 200, seed=2)

    def gradients() -> Any:
        out = ((ag.tanh(x) * y + ag.exp(-y * y) * x) * 2.5) @ m
        return [g.array for g in ag.grad(out, [x, y], values(100, 200, seed=3))]

    for found, wanted in zip(gradients(), by_numpy(gradients), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11)


@pytest.mark.usefixtures("thousands_are_large")
def test_numbers_are_not_part_of_native_code() -> None:
    x = ag.tensor(values(3000), requires_grad=True)

    def gradient(factor: float) -> Any:
        return ag.grad((ag.tanh(factor * x) * factor).sum(), x).array

    gradient(0.1)
    made = len(eager._entries)
    for factor in (0.2, 0.3, 0.4):
        t = np.tanh(factor * x.array)
        np.testing.assert_allclose(gradient(factor), factor**2 * (1 - t * t), rtol=1e-12)
    assert len(eager._entries) == made


@pytest.mark.usefixtures("thousands_are_large")
def test_a_long_sweep(by_numpy: ByNumpy) -> None:
    x = ag.tensor(values(3000), requires_grad=True)

    def gradient() -> Any:
        y = x
        for _ in range(60):
            y = ag.sin(y) * 0.9 + 0.1 * x
        return ag.grad(y.sum(), x).array

    made = len(eager._entries)
    np.testing.assert_allclose(gradient(), by_numpy(gradient), rtol=1e-10)
    assert len(eager._entries) <= made + 8  # parts of it that are alike


# --- what is kept --------------------------------------------------------------------------------


def test_few_entries_are_kept_and_bits_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def results() -> list[Any]:
        x = values(SMALL // 16, 16)
        return [special.softmax(x, axis=1), ag.expm1(x), special.log_softmax(x, axis=1)]

    first = results()
    monkeypatch.setattr(eager, "_entries", type(eager._entries)())
    monkeypatch.setattr(eager, "MOST", 2)
    counts = []
    for n in range(2, 12):
        special.softmax(values(SMALL, n), axis=1)
        assert len(eager._entries) <= 2
        counts.append(len(llvm._engines))
    assert counts[-1] <= counts[3]  # those that nobody can call are closed
    for found, wanted in zip(results(), first, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_the_same_call_gives_the_same_bits_whatever_was_called_before() -> None:
    x, y = values(SMALL), values(SMALL, dtype=np.float32)
    calls: list[Callable[[], Any]] = [
        lambda: ag.tanh(x),
        lambda: ag.tanh(y),
        lambda: ag.tanh(x[::2]),
        lambda: ag.tanh(x.reshape(32, 32).T),
        lambda: ag.hypot(x, 2),
        lambda: ag.hypot(x, 2.5),
        lambda: ag.hypot(x, x[::-1].copy()),
        lambda: ag.log(np.zeros(SMALL)),
    ]
    with np.errstate(all="ignore"):
        first = [call() for call in calls]
        for seed in range(5):
            for i in np.random.default_rng(seed).permutation(len(calls)):
                np.testing.assert_array_equal(calls[i](), first[i])


# --- threads -------------------------------------------------------------------------------------


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x = values(open_entry.SHARED + 4321)
    x2 = values(open_entry.SHARED // 16 + 3, 16)
    before, found = ag.get_num_threads(), []
    try:
        for number in (1, 2, 3):
            ag.set_num_threads(number)
            found.append((special.expit(x), special.softmax(x2, axis=1)))
    finally:
        ag.set_num_threads(before)
    for other in found[1:]:
        for one, another in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, another)


def test_a_result_that_is_not_finite_is_found_in_any_part(by_numpy: ByNumpy) -> None:
    before = ag.get_num_threads()
    try:
        ag.set_num_threads(2)
        for place in (0, open_entry.SMALLEST_CHUNK, -1):
            x = np.ones(open_entry.SHARED + 17)
            ag.log(x)
            x[place] = 0
            with pytest.warns(RuntimeWarning, match="divide by zero"):
                ag.log(x)
    finally:
        ag.set_num_threads(before)


@pytest.mark.skipif(
    native.compiler() is None or not pool.has_threads(), reason="no threads in native code"
)
def test_work_is_shared_unless_the_caller_is_one_of_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = ctypes.create_string_buffer(1024)  # a pool with no threads: the caller does it all
    start = -(-ctypes.addressof(memory) // 64) * 64
    kernels = ctypes.c_int32.from_address(start)
    small, large = values(SMALL), values(open_entry.SHARED)
    wanted = np.tanh(large)
    ag.tanh(small)
    cell = pool.pool_cell.value
    try:
        pool.pool_cell.value = start
        ag.tanh(small)
        assert kernels.value == 0
        np.testing.assert_allclose(ag.tanh(large), wanted, rtol=1e-15)
        assert kernels.value == 1
        with alone():
            np.testing.assert_allclose(ag.tanh(large), wanted, rtol=1e-15)
        assert kernels.value == 1
    finally:
        pool.pool_cell.value = cell


def test_many_threads_at_once() -> None:
    given = [values(SMALL + 1000 * i, seed=i) for i in range(6)]

    def work(x: Any) -> list[Any]:
        leaf = ag.tensor(x, requires_grad=True)
        out = special.softplus(ag.sin(leaf))
        return [out.array, ag.grad(out.sum(), leaf).array]

    wanted = [work(x) for x in given]
    eager._entries.clear()
    wrong: list[Any] = []

    def many(i: int) -> None:
        try:
            with np.errstate(all="raise" if i % 2 else "warn", under="ignore"):
                for _ in range(50):
                    for one, other in zip(work(given[i]), wanted[i], strict=True):
                        np.testing.assert_array_equal(one, other)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=many, args=(i,)) for i in range(len(given))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- without native code -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "size", "imported"),
    [
        ({}, SMALL - 1, False),
        ({}, SMALL, True),
        ({"ARRAYGRAD_COMPILE": "0"}, SMALL, False),
        ({"ARRAYGRAD_PORTABLE": "1"}, SMALL, False),
    ],
)
def test_when_llvmlite_is_imported(settings: Any, size: int, imported: bool) -> None:
    code = (
        "import sys, numpy as np, arraygrad as ag\n"
        f"x = ag.tensor(np.ones({size}), requires_grad=True)\n"
        "y = ag.special.expit(x)\n"
        "assert np.allclose(y.array, 1 / (1 + np.exp(-1)))\n"
        "assert np.allclose(ag.grad(y.sum(), x).array, y.array * (1 - y.array))\n"
        f"assert np.allclose(ag.special.softmax(np.ones(({size} // 16, 16)), axis=1), 1 / 16)\n"
        f"assert ('llvmlite' in sys.modules) is {imported}"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ARRAYGRAD_P")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment | settings)


def test_without_llvmlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    native.compiler.cache_clear()
    try:
        assert native.compiler() is None
        refuses = native.Entries(lambda compiler, kinds: pytest.fail("there is no compiler"))
        assert refuses(values(LARGE)) is NotImplemented
    finally:
        native.compiler.cache_clear()


def test_a_sweep_over_a_large_array_in_another_order() -> None:
    values = np.linspace(-1.0, 1.0, 900_000).reshape(3, -1, 2).transpose(1, 0, 2)
    x = ag.tensor(values, requires_grad=True)
    np.testing.assert_allclose(ag.grad(ag.exp(x).sum(), x), np.exp(values))
