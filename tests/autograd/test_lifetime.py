"""Long graphs, memory, and threads."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from rows import Row, over

import arraygrad as ag
from arraygrad.autograd.graph import register_multi_grad_hook, saved_tensors_hooks
from arraygrad.errors import GraphFreedError


def leaf(values: Any) -> ag.Tensor:
    return ag.tensor(values, requires_grad=True)


@pytest.fixture
def without_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


# --- long graphs ---------------------------------------------------------------------------------


@pytest.fixture
def little_stack() -> Iterator[None]:
    before = sys.getrecursionlimit()
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    sys.setrecursionlimit(depth + 200)
    yield
    sys.setrecursionlimit(before)


@over("count", [Row("ops", f"{n:,}", n) for n in (200_000, 1_000_000)])
def test_a_long_chain_of_ops(little_stack: None, count: int) -> None:
    x = leaf(np.ones(()))
    y = x
    for _ in range(count):
        y = y + x
    node = weakref.ref(y.grad_fn)
    assert ag.grad(y, x).item() == count + 1
    del y
    assert node() is None


def test_a_chain_that_is_never_differentiated(little_stack: None) -> None:
    y = leaf(1.0)
    for _ in range(100_000):
        y = y * 1.0
    del y


def test_a_chain_of_a_hundred_thousand_ops_differentiated_twice(little_stack: None) -> None:
    x = leaf(1.0)
    y = x * x
    for _ in range(100_000):
        y = y * 1.0
    g = ag.grad(y, x, create_graph=True)
    assert g.item() == 2
    assert ag.grad(g, x).item() == 2
    del y, g


def test_a_long_chain_with_packed_values_and_hooks(little_stack: None) -> None:
    x = leaf(1.0)
    y = x
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        for _ in range(20_000):
            y = y * x
    y.register_hook(lambda g: g)
    y.backward()
    assert x.grad is not None
    assert x.grad.item() == 20_001
    del y


def test_a_long_chain_over_several_outputs(little_stack: None) -> None:
    x = leaf([1.0, 2.0])
    y = x
    for _ in range(20_000):
        a, b = ag.unstack(y)
        y = ag.stack([b, a])
    assert ag.grad(y[0] * 3, x).tolist() == [3, 0]
    del a, b, y


# --- memory --------------------------------------------------------------------------------------


def model(w: ag.Tensor, b: ag.Tensor) -> Any:
    x = np.linspace(-1, 1, 12).reshape(4, 3)
    return ((ag.tanh(x @ w + b) - 0.5) ** 2).mean()


def plain(w: ag.Tensor, b: ag.Tensor) -> None:
    ag.grad(model(w, b), [w, b])


def accumulating(w: ag.Tensor, b: ag.Tensor) -> None:
    model(w, b).backward()


def twice(w: ag.Tensor, b: ag.Tensor) -> None:
    g, _ = ag.grad(model(w, b), [w, b], create_graph=True)
    ag.grad((g**2).sum(), w)


def after_an_exception(w: ag.Tensor, b: ag.Tensor) -> None:
    y = w * 2

    def fail(g: ag.Tensor) -> None:
        raise KeyError

    y.register_hook(fail)
    with suppress(KeyError):
        ag.grad(model(y, b), [w, b])


def with_hooks(w: ag.Tensor, b: ag.Tensor) -> None:
    y = w * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda i, o: None)  # type: ignore[union-attr]
    register_multi_grad_hook([y], lambda g: None)
    shared = register_multi_grad_hook([y, b], lambda g: None, mode="any")
    first, *_ = ag.unstack(y)
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        (model(y, b) + first.sum()).backward()
    shared.remove()


def batched(w: ag.Tensor, b: ag.Tensor) -> None:
    ag.grad(w**2, w, np.ones((2, 3, 2)), is_grads_batched=True)


def unused(w: ag.Tensor, b: ag.Tensor) -> None:
    with suppress(RuntimeError):
        ag.grad(w.sum(), [w, b])


@pytest.mark.parametrize(
    ("step", "times"),
    [
        (plain, 500),
        (accumulating, 250),
        (twice, 500),
        (after_an_exception, 500),
        (with_hooks, 250),
        (batched, 250),
        (unused, 250),
    ],
)
def test_memory_stays_flat_without_the_garbage_collector(
    step: Callable[[ag.Tensor, ag.Tensor], None], times: int, without_gc: None
) -> None:
    w, b = leaf(np.ones((3, 2))), leaf(np.zeros(2))

    def run(times: int) -> None:
        for _ in range(times):
            step(w, b)
        w.grad = b.grad = None

    run(times // 5)  # what is made only once, and what Python keeps for reuse
    gc.collect()
    blocks = sys.getallocatedblocks()
    run(times)
    assert gc.collect() == 0  # and Python's lists of blocks for reuse are empty again
    assert sys.getallocatedblocks() - blocks < times // 2  # so not one for each


def test_backward_with_create_graph_makes_no_cycle(without_gc: None) -> None:
    x = leaf([1.0, 2.0])
    (x**3).sum().backward(create_graph=True)
    assert x.grad is not None
    node, tensor = weakref.ref(x.grad.grad_fn), weakref.ref(x)
    del x
    assert tensor() is None
    assert node() is None


def test_a_graph_goes_with_its_last_output(without_gc: None) -> None:
    x = leaf([1.0, 2.0])
    a = x * 2
    b = ag.exp(a)
    c, d = ag.unstack(b)
    nodes = [weakref.ref(t.grad_fn) for t in (a, b, c)]
    values = weakref.ref(b.array)
    del a, b, c
    assert all(node() is not None for node in nodes)
    del d
    assert [node() for node in nodes] == [None] * 3
    assert values() is None


def test_the_graph_holds_arrays_not_tensors(without_gc: None) -> None:
    x = leaf([1.0, 2.0])
    y = ag.exp(x)
    z = y.sum()
    tensor = weakref.ref(y)
    del y
    assert tensor() is None
    hidden = leaf([3.0, 4.0])
    product = (hidden * x).sum()
    tensor = weakref.ref(hidden)
    del hidden
    assert tensor() is None
    assert ag.grad(product + z, x).tolist() == (np.exp([1.0, 2.0]) + [3, 4]).tolist()


def test_freeing_the_graph_lets_go_of_its_arrays(without_gc: None) -> None:
    x = leaf(np.ones(1000))
    y = ag.exp(x)
    values = weakref.ref(y.array)
    z = y.sum()
    del y
    ag.grad(z, x, retain_graph=True)
    assert values() is not None
    ag.grad(z, x)
    assert values() is None


def test_only_what_the_rules_need_is_kept(without_gc: None) -> None:
    x = leaf(np.ones(10))
    y = x + 1
    z = y * 2 + 3
    values = weakref.ref(y.array)
    del y
    assert values() is None
    assert ag.grad(z.sum(), x).tolist() == [2] * 10


# --- threads -------------------------------------------------------------------------------------


def run_in_threads(count: int, work: Callable[[int], None]) -> list[BaseException]:
    errors: list[BaseException] = []
    ready = threading.Barrier(count)

    def target(number: int) -> None:
        try:
            ready.wait(30)
            work(number)
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=target, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return errors


def test_two_threads_with_graphs_of_their_own_and_a_shared_leaf() -> None:
    x = leaf(np.ones(3))
    hooks: list[int] = []
    x.register_hook(lambda g: hooks.append(1))

    def work(number: int) -> None:
        for _ in range(300):
            y = x * (number + 2)
            assert ag.grad((y * y).sum(), x).tolist() == [2 * (number + 2) ** 2] * 3
            (x * (number + 1)).sum().backward()

    assert run_in_threads(2, work) == []
    assert x.grad is not None
    assert x.grad.tolist() == [900] * 3
    assert len(hooks) == 1200


def test_two_threads_on_the_same_graph() -> None:
    x = leaf(np.ones(3))
    y = (x**2).sum()

    def work(number: int) -> None:
        for _ in range(200):
            y.backward(retain_graph=True)

    assert run_in_threads(2, work) == []
    assert x.grad is not None
    assert x.grad.tolist() == [800] * 3


@pytest.mark.parametrize("create_graph", [False, True])
def test_threads_adding_to_the_same_large_grad_lose_nothing(create_graph: bool) -> None:
    x = leaf(np.ones(300_000))  # large enough for NumPy to let other threads in while it adds
    y = (x**2).sum()

    def work(number: int) -> None:
        for _ in range(30):
            y.backward(retain_graph=True, create_graph=create_graph)

    assert run_in_threads(4, work) == []
    assert x.grad is not None
    assert np.unique(x.grad.detach().numpy()).tolist() == [240]


def test_a_shared_hook_tells_the_threads_apart() -> None:
    a, b = leaf(np.ones(2)), leaf(np.ones(2))
    seen: list[Any] = []
    register_multi_grad_hook([a, b], lambda grads: seen.append([g.tolist() for g in grads]))

    def work(number: int) -> None:
        for _ in range(200):
            ag.grad((a * (number + 1) + b * (number + 10)).sum(), [a, b])

    assert run_in_threads(2, work) == []
    assert sorted(seen) == [[[1, 1], [10, 10]]] * 200 + [[[2, 2], [11, 11]]] * 200


def test_threads_that_free_a_graph_under_each_other_get_an_error_or_the_truth() -> None:
    for _ in range(30):
        x = leaf([1.0, 2.0, 3.0])
        y = ag.exp(x)
        for _ in range(20):
            y = y * x
        z, found = y.sum(), []
        expected = ag.grad(z, x, retain_graph=True).tolist()
        errors = run_in_threads(
            2, lambda number, z=z, x=x, found=found: found.append(ag.grad(z, x).tolist())
        )
        assert all(isinstance(error, GraphFreedError) for error in errors)
        assert found == [expected] * (2 - len(errors))
        assert found


def test_the_sweep_runs_in_the_thread_that_called() -> None:
    x = leaf(1.0)
    names: list[str] = []
    x.register_hook(lambda g: names.append(threading.current_thread().name))
    ag.grad(x * 2, x)
    assert names == [threading.current_thread().name]
