"""Large NumPy arrays: blocks and threads change nothing but the time it takes."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import scipy.special
from rows import crossed, numbered, over

import arraygrad as ag
from arraygrad.backends import numpy as numpy_backend
from arraygrad.backends.numpy import blocks, threads
from arraygrad.backends.numpy.blocks import Blocks
from arraygrad.backends.numpy.threads import share
from arraygrad.core.array import plain
from arraygrad.ops.define.op import unary
from arraygrad.sweep import engine

SIZE = 10_123  # not a multiple of anything


@pytest.fixture(autouse=True)
def thousands_are_large(monkeypatch, only_numpy):
    """Take fewer elements for large than it pays for, to save time; and no native code."""
    for module in (blocks, engine, numpy_backend):
        monkeypatch.setattr(module, "LARGE", 2000)
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 4096)


@pytest.fixture(params=[1, 3])
def number(request):
    before = ag.get_num_threads()
    ag.set_num_threads(request.param)
    yield request.param
    ag.set_num_threads(before)


def values(*shape, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def weights(out):
    return (1 + np.cos(np.arange(out.size))).reshape(out.shape).astype(out.dtype)


def gradients(function, *arrays):
    leaves = [ag.tensor(a, requires_grad=True) for a in arrays]
    out = function(*leaves)
    return [g.array for g in ag.grad(out, leaves, weights(out))]


def in_pieces(function, *arrays):
    """The same, for rows so short that nothing is large."""
    seeds = weights(function(*arrays))
    found = []
    step = max(1, 1000 * len(seeds) // seeds.size)
    for begin in range(0, len(seeds), step):
        leaves = [ag.tensor(a[begin : begin + step], requires_grad=True) for a in arrays]
        found.append(ag.grad(function(*leaves), leaves, seeds[begin : begin + step]))
    return [np.concatenate([g[i].array for g in found]) for i in range(len(arrays))]


def both(function, *arrays):
    return zip(gradients(function, *arrays), in_pieces(function, *arrays), strict=True)


FUNCTIONS = {
    "chain": lambda x, y: ag.tanh(x) * ag.special.expit(y) + ag.exp(x),
    "one op": lambda x, y: ag.logaddexp(x, y),
    "many uses": lambda x, y: (x * x + x) / (1 + y * y) - x,
    "passed on": lambda x, y: x + y,
    "passed on twice": lambda x, y: (x + y) + x,
    "numbers": lambda x, y: 2 - x**3 / 4 + 0.5 * y,
    "choices": lambda x, y: ag.where(x > y, ag.sin(x), y) + ag.maximum(x, 2 * y),
    "steps": lambda x, y: ag.floor(x) + ag.abs(y),
    "constants": lambda x, y: x * np.float64(3) + np.asarray(2.0) * y,
    "clipped": lambda x, y: ag.clip(x, -0.5, 0.5) * y,
    "the same twice, then added to": lambda x, y: ag.where(x > y, x, 2 * y) + ag.tanh(x + y),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_blocks_give_the_same_bits(name, number):
    function, arrays = FUNCTIONS[name], (values(SIZE), values(SIZE, seed=1))
    for found, expected in both(function, *arrays):
        np.testing.assert_array_equal(found, expected)
    whole = function(*arrays)
    pieces = [function(*(a[i : i + 999] for a in arrays)) for i in range(0, SIZE, 999)]
    np.testing.assert_array_equal(whole, np.concatenate(pieces))


def test_a_sum_over_what_was_broadcast(number):
    """The cotangent of a product is written over, and shared by both sides of the sum."""
    x, w, b = values(300, 7), values(7, 50, seed=1), values(50, seed=2)
    v = values(50, 9, seed=3)
    dw, db, dv = gradients(lambda w, b, v: ag.tanh(x @ w + b) @ v, w, b, v)
    h = np.tanh(x @ w + b)
    seed = weights(h @ v)
    dh = seed @ v.T * (1 - h * h)
    for found, expected in ((dw, x.T @ dh), (db, dh.sum(axis=0)), (dv, h.T @ seed)):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float16", "float32", "longdouble", "complex64", "complex128"])
def test_other_dtypes(dtype, number):
    arrays = values(SIZE, dtype=dtype), values(SIZE, seed=1, dtype=dtype)
    if np.dtype(dtype).kind == "c":
        arrays = arrays[0] + dtype_of(dtype, 0.5j) * arrays[1], arrays[1]

    def function(x, y):
        return ag.tanh(x) * y + x * x

    for found, expected in both(function, *arrays):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)


def dtype_of(dtype, number):
    return np.asarray(number, dtype)


@pytest.mark.parametrize(
    "arrange",
    [
        lambda x: x,
        lambda x: np.asfortranarray(x),
        lambda x: x[::-1, ::2],
        lambda x: np.ascontiguousarray(x.T).T[:, ::2],
    ],
    ids=["rows", "columns", "strided", "strided columns"],
)
def test_arrays_in_any_order(arrange, number):
    x, y = arrange(values(110, 90)), arrange(values(110, 90, seed=1))

    def function(x, y):
        return ag.sin(x) * ag.exp(y) + x

    for found, expected in both(function, x, y):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(function(x, y), np.sin(x) * np.exp(y) + x)


def test_arrays_in_a_file(tmp_path, number):
    x = np.memmap(tmp_path / "x", np.float64, "w+", shape=(110, 90))
    x[...] = values(110, 90)
    w = ag.tensor(values(110, 90, seed=1), requires_grad=True)
    g = ag.grad(ag.sum(ag.tanh(w * x) * x + x / (2 + w)), w)
    t = np.tanh(w.array * x)
    expected = (1 - t * t) * x * x - x / (2 + w.array) ** 2
    np.testing.assert_allclose(g.array, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ag.special.expit(x), scipy.special.expit(x), rtol=1e-12)
    np.testing.assert_array_equal(ag.logaddexp(x, w.array), np.logaddexp(x, w.array))


def test_the_order_in_memory_is_kept():
    x = np.asfortranarray(values(110, 90))
    assert ag.tanh(x).flags.f_contiguous


@pytest.mark.parametrize("shape", [(90,), (1, 90), (110, 1), (1,), ()])
def test_broadcasting(shape, number):
    x, b = values(110, 90), values(*shape, seed=1)

    def function(x, b):
        return ag.tanh(x * b) * ag.exp(b) + b

    found = gradients(function, x, b)
    wide = gradients(function, x, np.broadcast_to(b, x.shape).copy())
    np.testing.assert_array_equal(found[0], wide[0])
    axes = tuple(range(2 - len(shape))) + tuple(
        i + 2 - len(shape) for i, n in enumerate(shape) if n == 1
    )
    expected = wide[1].sum(axis=axes).reshape(shape)
    np.testing.assert_allclose(found[1], expected, rtol=1e-9, atol=1e-9)


def test_square_arrays_broadcast_along_the_right_axis(number):
    x, b = values(70, 70), values(70, seed=1)
    np.testing.assert_array_equal(ag.atan2(x, b), np.arctan2(x, b))
    np.testing.assert_array_equal(ag.atan2(x, b[:, None]), np.arctan2(x, b[:, None]))
    (found, _) = gradients(lambda x, b: ag.tanh(x * b), x, b)
    np.testing.assert_array_equal(found, weights(x) * (1 - np.tanh(x * b) ** 2) * b)


def test_a_result_can_be_larger_than_its_inputs(number):
    x, y = values(70, 1), values(1, 70, seed=1)
    np.testing.assert_array_equal(ag.atan2(x, y), np.arctan2(x, y))
    found = gradients(lambda x, y: ag.sin(x * y) + x, x, y)
    expected = (weights(x * y) * (np.cos(x * y) * y + 1)).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found[0], expected, rtol=1e-9, atol=1e-9)


def test_mixed_dtypes(number):
    x, y = values(SIZE, dtype=np.float32), values(SIZE, seed=1)

    def function(x, y):
        return ag.exp(x) * y + ag.sin(y)

    found = gradients(function, x, y)
    assert [g.dtype for g in found] == [np.float32, np.float64]
    expected = in_pieces(function, x, y)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@crossed(axis=[0, 2, (1, 2)], name=["softmax", "log_softmax", "logsumexp"])
def test_lines_by_themselves(name, axis, number):
    x = values(8, 20, 40)
    x[3] = -np.inf if name == "logsumexp" else 0
    function = getattr(ag.special, name)
    found, slope = function(x, axis=axis), gradients(lambda x: function(x, axis=axis), x)[0]
    if axis != 0:
        for i in range(8):  # which are small
            part = function(x[i : i + 1], axis=axis)
            np.testing.assert_array_equal(found[i : i + 1], part)
    expected = getattr(scipy.special, name)(x, axis=axis)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert slope.shape == x.shape


def random_function(seed):
    """A function of two arrays and two that broadcast, by random steps from random values."""
    rng = np.random.default_rng(seed)
    ones = [ag.tanh, ag.exp, ag.sin, ag.abs, ag.special.expit, ag.special.softplus, ag.square]
    ones += [lambda x: -x, lambda x: 2.5 * x, lambda x: x**3, lambda x: 1 - x, ag.floor]
    twos = [ag.add, ag.subtract, ag.multiply, ag.maximum, ag.logaddexp, ag.atan2]
    twos += [lambda x, y: x / (2 + y * y), lambda x, y: ag.where(x > y, x, y * y)]
    steps = []
    for known in range(4, 12):
        several = rng.integers(3)
        chosen = (twos if several else ones)[rng.integers(len(twos if several else ones))]
        steps.append((chosen, rng.integers(known, size=2 if several else 1)))

    def function(*arrays):
        seen = list(arrays)
        for step, places in steps:
            seen.append(ag.tanh(step(*(seen[i] for i in places))))
        return seen[-1] + sum(seen[4:-1]) * arrays[0]

    return function


@over("seed", numbered(40), first=3)
def test_random_functions(seed, monkeypatch):
    function = random_function(seed)
    arrays = [
        values(*shape, seed=i) for i, shape in enumerate([(60, 70), (60, 70), (70,), (60, 1)])
    ]
    leaves = [ag.tensor(a, requires_grad=True) for a in arrays]
    kept = [a.copy() for a in arrays]
    weights, seeds = values(70, 70, seed=8), values(60, 70, seed=9)
    seeds[0, 0] = 1

    def found():
        out = function(*leaves)
        twice = function(out @ weights, *leaves[1:]) @ weights
        pairs = [(out, seeds), (out.sum(), None), (twice, seeds)]
        given = [ag.grad(o, leaves, s, retain_graph=True, materialize_grads=True) for o, s in pairs]
        return [g.array for several in given for g in several]

    in_blocks = found()
    for module in (blocks, engine, numpy_backend):
        monkeypatch.setattr(module, "LARGE", 10**9)
    for i, (one, other) in enumerate(zip(in_blocks, found(), strict=True)):
        if i % 4 < 2:
            np.testing.assert_array_equal(one, other)
        else:  # sums over rows and columns
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    for array, before in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, before)


def by_values(g, x):
    return g * 2 if (x > 0).all() else g * 3


def by_numbers(g, x):
    return g * float(x[0])


def by_arrays(g, x):
    return g * np.where(np.asarray(x) > 0, 2, 3)


def by_positions(g, x):
    return g * np.arange(x.shape[0])


def by_plain_arrays(g, x):
    return g * np.where(plain(x) > 0, 2, 3)


@pytest.mark.parametrize("rule", [by_values, by_numbers, by_arrays, by_positions, by_plain_arrays])
def test_rules_that_look_at_values_are_run_for_every_block(rule, number):
    op = unary("positive", vjp=rule, replace=True)
    x = np.sort(values(SIZE))
    leaf = ag.tensor(x, requires_grad=True)
    g = ag.grad((op(leaf) * leaf).sum(), leaf).array - x
    if rule in (by_arrays, by_plain_arrays):
        np.testing.assert_array_equal(g, (x + np.where(x > 0, x * 2, x * 3)) - x)
    step = Blocks.of((x,))._step
    for begin in range(0, SIZE, step):
        part = x[begin : begin + step]
        np.testing.assert_array_equal(g[begin : begin + step], (part + rule(part, part)) - part)


@pytest.mark.parametrize(
    "rule",
    [
        lambda g, x: g * ag.special.softplus(2 * x),
        lambda g, x: ag.special.softplus(g),  # no derivative at all, but a rule
        lambda g, x: ag.special.softplus(g * x) + g,
    ],
)
def test_kernels_that_read_again_what_they_were_given(rule, number):
    op = unary("positive", vjp=rule, replace=True)
    x, m = values(100, 90), values(90, 90, seed=1)
    leaf = ag.tensor(x, requires_grad=True)
    seed = values(100, 90, seed=2)
    g = seed @ m.T
    np.testing.assert_array_equal(ag.grad(op(leaf) @ m, leaf, seed).array, rule(g, x))


def test_a_cotangent_that_leaves_is_read_again(number):
    x, y, m = values(100, 90), values(100, 90, seed=1), values(90, 90, seed=2)
    leaves = [ag.tensor(a, requires_grad=True) for a in (x, y)]
    seed = values(100, 90, seed=3)
    last = ag.sin(leaves[1])  # the sweep comes to it after the others
    dx, dy = ag.grad(((leaves[0] + ag.tanh(leaves[1])) * 3 + last) @ m, leaves, seed)
    g, t = seed @ m.T, np.tanh(y)
    np.testing.assert_array_equal(dx.array, g * 3)
    np.testing.assert_array_equal(dy.array, g * 3 * (1 - t * t) + g * np.cos(y))


@pytest.mark.parametrize("shift", [0, -30, 100, -1000, -np.inf])
def test_a_softmax_of_numbers_of_any_size(shift, number):
    x = values(80, 90, dtype=np.float32)
    x[7] = x[7] + np.float32(shift)  # one row unlike the others
    y = ag.special.softmax(x, axis=-1)
    with np.errstate(invalid="ignore"):
        expected = scipy.special.softmax(x.astype(np.float64), axis=-1)
    np.testing.assert_allclose(y, expected, rtol=3e-6)
    tops = np.zeros((3, 5), np.float32)
    tops[0], tops[1] = -90, 90
    np.testing.assert_array_equal(ag.special.softmax(tops, axis=-1), np.float32(0.2))
    rows = np.array([[0, -80, -100], [0, -80, -np.inf]], np.float32)
    expected = scipy.special.softmax(rows.astype(np.float64), axis=-1)
    np.testing.assert_allclose(ag.special.softmax(rows, axis=-1), expected, rtol=1e-3, atol=1e-44)


# --- the graph around ----------------------------------------------------------------------------


def test_gradients_of_values_in_between(number):
    x = ag.tensor(values(SIZE), requires_grad=True)
    y = ag.tanh(x)
    z = y * y + y
    dy, dx = ag.grad(z.sum(), [y, x])
    np.testing.assert_array_equal(dy.array, (1 + y.array) + y.array)
    np.testing.assert_array_equal(dx.array, dy.array * (1 - y.array * y.array))
    assert not np.shares_memory(dy.array, dx.array)


def test_hooks_see_and_change_what_is_in_between(number):
    x = ag.tensor(values(SIZE), requires_grad=True)
    y = ag.exp(x)
    seen = []
    y.register_hook(lambda g: seen.append(g.array.copy()) or 2 * g)
    g = ag.grad((3 * y * y).sum(), x)
    np.testing.assert_array_equal(seen[0], 3 * y.array + 3 * y.array)
    np.testing.assert_array_equal(g.array, 2 * seen[0] * y.array)


def test_nothing_of_the_callers_is_written(number):
    x = ag.tensor(values(SIZE), requires_grad=True)
    seed = np.ones(SIZE)
    y = ag.sin(x) + x
    first = ag.grad(y, x, seed, retain_graph=True)
    kept = first.array.copy()
    second = ag.grad(y, x, seed, retain_graph=True)
    np.testing.assert_array_equal(seed, 1)
    np.testing.assert_array_equal(first.array, kept)
    assert not np.shares_memory(first.array, second.array)
    only = ag.grad(x + 0 * x, x, seed)
    assert not np.shares_memory(only.array, seed)


def test_other_ops_in_between(number):
    x = values(70, 70)

    def function(x):
        y = ag.tanh(x)
        return (y - ag.mean(y, axis=0)) * ag.exp(y @ (x / 70)) + ag.cumulative_sum(y, axis=1)

    found = gradients(function, x)[0]
    direction = values(70, 70, seed=1)
    _, slope = ag.func.jvp(lambda x: (function(x) * weights(x)).sum(), (x,), (direction,))
    np.testing.assert_allclose((found * direction).sum(), slope.item(), rtol=1e-9)


def test_second_derivatives(number):
    x = ag.tensor(values(SIZE), requires_grad=True)
    (first,) = [ag.grad((ag.tanh(x) ** 2).sum(), x, create_graph=True)]
    second = ag.grad(first.sum(), x)
    t = np.tanh(x.array)
    np.testing.assert_allclose(second.array, 2 * (1 - t * t) * (1 - 3 * t * t), atol=1e-12)


def test_what_was_saved_is_restored_after_a_write(number):
    x = ag.tensor(values(SIZE), requires_grad=True)
    y = ag.exp(x)
    z = ag.sin(y) * 2
    expected = ag.grad(z.sum(), x, retain_graph=True).array
    y.detach()[0] = 1.0
    y.detach()[100:] *= 2.0
    np.testing.assert_array_equal(ag.grad(z.sum(), x).array, expected)


# --- threads -------------------------------------------------------------------------------------


def test_all_pieces_are_done_once():
    before = ag.get_num_threads()
    ag.set_num_threads(4)
    try:
        for count in (0, 1, 2, 50):
            done = []
            share(done.append, count)
            assert sorted(done) == list(range(count))
    finally:
        ag.set_num_threads(before)


def test_work_is_shared(number):
    together = threading.Barrier(number, timeout=20)
    names = set()

    def piece(index):
        together.wait()
        names.add(threading.current_thread().name)

    share(piece, number)
    assert len(names) == number


def test_the_first_error_is_raised_and_the_rest_left(number):
    done = []

    def piece(index):
        if index == 5:
            raise KeyError("the sixth")
        done.append(index)

    with pytest.raises(KeyError, match="the sixth"):
        share(piece, 10_000)
    assert len(done) < 10_000
    share(done.append, 3)  # and the threads are there for others


def test_pieces_may_share_work_themselves(number):
    done = []
    share(lambda i: share(lambda j: done.append((i, j)), 5), 5)
    assert len(set(done)) == 25


def test_the_callers_context_holds_in_all_threads(number):
    together = threading.Barrier(number, timeout=20)
    seen = []

    def piece(index):
        together.wait()
        seen.append(np.geterr()["invalid"])

    with np.errstate(invalid="raise"):
        share(piece, number)
    assert seen == ["raise"] * number


def test_the_callers_error_state_holds(number):
    x = np.zeros(SIZE)
    x[-1] = -1.0
    with np.errstate(invalid="raise", divide="ignore"), pytest.raises(FloatingPointError):
        ag.log(x)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(ag.log(x)[-1])
    with np.errstate(invalid="warn", divide="ignore"), pytest.warns(RuntimeWarning):
        ag.log(x)


def test_errors_of_kernels_and_rules_go_through(number):
    x = values(SIZE)
    with pytest.raises(TypeError, match="softplus and log_expit take real numbers"):
        ag.special.softplus(x + 1j * x)

    def rule(g, x):
        if x.size > 1:
            raise ValueError("not this block")
        return 2 * g

    op = unary("positive", vjp=rule, replace=True)
    leaf = ag.tensor(x, requires_grad=True)
    with pytest.raises(ValueError, match="not this block"):
        ag.grad(op(leaf).sum(), leaf)


def test_a_sweep_leaves_nothing_for_the_collector(number):
    x = ag.tensor(values(SIZE), requires_grad=True)
    function = FUNCTIONS["chain"]

    def left():
        gc.collect()
        gc.disable()
        try:
            ag.grad(function(x, x).sum(), x)
            return gc.collect()
        finally:
            gc.enable()

    # Other threads of the process may leave something, too, but not each time.
    assert 0 in [left() for _ in range(4)]


def test_several_threads_at_once(number):
    x = values(SIZE)
    expected = gradients(FUNCTIONS["chain"], x, x)[0]
    found = {}

    def work(name):
        found[name] = gradients(FUNCTIONS["chain"], x, x)[0]

    workers = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    for result in found.values():
        np.testing.assert_array_equal(result, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_makes_threads_of_its_own():
    code = """
import os, threading
import numpy as np, arraygrad as ag
ag.set_num_threads(2)
x = np.ones(1_000_000)
ag.exp(x)
child = os.fork()
if child == 0:
    alone = threading.active_count() == 1
    right = np.allclose(ag.exp(x), np.exp(1.0), rtol=1e-15)
    os._exit(0 if alone and right and threading.active_count() == 2 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_an_import_starts_no_threads():
    code = """
import threading, numpy as np, arraygrad as ag
ag.exp(np.ones(10))
assert threading.active_count() == 1
assert ag.get_num_threads() == 3
"""
    environment = os.environ | {"ARRAYGRAD_NUM_THREADS": "3"}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=environment)


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_the_setting_must_be_a_number(text, monkeypatch):
    monkeypatch.setenv("ARRAYGRAD_NUM_THREADS", text)
    with pytest.raises(ValueError, match="ARRAYGRAD_NUM_THREADS must be a positive integer"):
        threads._from_environment()


@pytest.mark.parametrize("wrong", [0, -2, 1.0, "2", True])
def test_the_number_of_threads_must_be_one(wrong):
    with pytest.raises(ValueError, match="number must be a positive integer"):
        ag.set_num_threads(wrong)


def test_products_use_as_many_threads():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    before = ag.get_num_threads()
    try:
        for number in (2, 1):
            ag.set_num_threads(number)
            found = [x for x in threadpoolctl.threadpool_info() if x["user_api"] == "blas"]
            assert {x["num_threads"] for x in found} <= {number}
    finally:
        ag.set_num_threads(before)


def test_late_threads_keep_no_arrays():
    import weakref

    class Piece:
        def __call__(self, index):
            pass

    piece = Piece()
    gone = weakref.ref(piece)
    before = ag.get_num_threads()
    ag.set_num_threads(3)
    try:
        share(piece, 3)
    finally:
        ag.set_num_threads(before)
    del piece
    assert gone() is None


def test_nothing_to_cut():
    assert Blocks.of((np.float64(1), 2.0)) is None
    assert Blocks.of((np.ones(SIZE), "no number")) is None
    assert Blocks.of((np.ones(100),)) is None


@crossed(dtype=["float32", "float64"], power=[3, 4.0, 5, 6, 7.0, 8])
def test_small_powers_are_products(power, dtype):
    x = np.array([-2.5, -1e-3, -0.0, 0.0, 0.7, 3.0, np.inf, -np.inf, np.nan], dtype)
    found, expected = ag.asarray(x) ** power, x**power
    assert found.dtype == dtype
    np.testing.assert_allclose(found.array, expected, rtol=8 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(np.signbit(found.array), np.signbit(expected))
    g = gradients(lambda x: x**power, x[:6])[0]
    np.testing.assert_allclose(g, weights(x[:6]) * power * x[:6] ** (power - 1), rtol=1e-5)


def test_the_error_function_of_many_float32():
    x = np.concatenate([values(20_000) * 1.5, np.linspace(-12, 12, 20_001)]).astype(np.float32)
    x = np.concatenate([x, np.float32([0, -0.0, 1e-38, 1e-45, 3e38, -3e38, np.inf, -np.inf])])
    found, expected = ag.special.erf(x), scipy.special.erf(x.astype(np.float64))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=3e-7, atol=1e-45)
    assert np.abs(found).max() == 1
    np.testing.assert_array_equal(np.signbit(found), np.signbit(x))
    np.testing.assert_array_equal(ag.special.erf(-x), -found)
    assert np.isnan(ag.special.erf(np.full(2000, np.nan, np.float32))).all()
    with np.errstate(all="raise", under="ignore"):
        ag.special.erf(x)


@crossed(dtype=["float32", "float64", "complex128"], axis=[0, 1])
def test_running_products_of_many_lines(axis, dtype):
    x = (1 + 0.1 * values(90, 80)).astype(dtype)
    x[3, 5] = x[7, 5] = 0
    lines = x if axis == 1 else x.T

    def function(x, axis=axis):
        return ag.cumulative_prod(x, axis=axis)

    found = gradients(function, x)[0]
    seeds = weights(x) if axis == 1 else weights(x).T
    for i in range(len(lines)):  # one line goes another way
        leaf = ag.tensor(lines[i : i + 1], requires_grad=True)
        line = ag.grad(function(leaf, axis=1), leaf, seeds[i : i + 1]).array[0]
        tolerance = 1e-4 if dtype == "float32" else 1e-10
        part = found[i] if axis == 1 else found[:, i]
        np.testing.assert_allclose(part, line, rtol=tolerance, atol=tolerance)
