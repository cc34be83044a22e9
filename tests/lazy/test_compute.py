"""Lazy tensors: nothing is computed until asked for, and then everything at once."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.backends.numpy import threads
from arraygrad.backends.numpy.blocks import LARGE
from arraygrad.errors import AnomalyError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


class Runs:
    """A scheduler that counts how often it is called, and each task by its name."""

    def __init__(self) -> None:
        self.count = 0
        self.tasks: Counter[str] = Counter()

    def __call__(self, graph: Any, keys: Any, **keywords: Any) -> Any:
        self.count += 1
        plain = graph.__dask_graph__() if hasattr(graph, "__dask_graph__") else graph
        self.tasks.update(str(k if isinstance(k, str) else k[0]) for k in dict(plain))
        return dask.get(graph, keys, **keywords)


@pytest.fixture
def runs() -> Iterator[Runs]:
    counted = Runs()
    with dask.config.set(scheduler=counted):
        yield counted


class Calls:
    """A function of one block that counts how often it is called."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, block: Any) -> Any:
        self.count += 1
        return block

    def __dask_tokenize__(self) -> Any:
        return "calls"


DATA = np.random.default_rng(0).normal(size=(12, 3))
LABELS = (DATA.sum(axis=1) > 0).astype(float)
WEIGHTS = np.array([0.5, -1.0, 2.0])


def lazy(array: Any, chunks: Any = 4) -> Any:
    return da.from_array(array, chunks=chunks)


def loss_of(w: Any, x: Any, y: Any) -> Any:
    z = x @ w
    return ag.mean(ag.logaddexp(z, 0.0) - y * z)


def expected() -> tuple[Any, Any]:
    w = ag.tensor(WEIGHTS, requires_grad=True)
    loss = loss_of(w, ag.asarray(DATA), ag.asarray(LABELS))
    return loss.detach().numpy(), ag.grad(loss, w).numpy()


# --- nothing is computed by itself ---------------------------------------------------------------


def make() -> None:
    ag.tensor(lazy(DATA), requires_grad=True)
    ag.tensor(lazy(DATA), dtype=np.float32)
    ag.asarray(lazy(DATA), copy=True)
    ag.zeros_like(ag.asarray(lazy(DATA)))


def record() -> None:
    w = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    x = ag.asarray(lazy(DATA))
    loss_of(w, x, lazy(LABELS))
    ag.exp(x * w).reshape((36,)).sum()
    ag.tanh(x.T @ x / 3).max(axis=0)


def look() -> None:
    x = ag.tensor(lazy(DATA), requires_grad=True)
    for text in (repr(x), str(x * 2), f"{x.sum()}", repr(x.mean().grad_fn)):
        assert text
    assert x.shape == (12, 3)
    assert x.dtype == np.float64
    assert (x.ndim, x.size, len(x), x.device) == (2, 36, 12, "cpu")


def differentiate() -> None:
    w = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    x = ag.tensor(lazy(DATA), requires_grad=True)
    loss = loss_of(w, x, lazy(LABELS))
    ag.grad(loss, [w, x], retain_graph=True, materialize_grads=True)
    first = ag.grad(loss, w, create_graph=True)
    ag.grad(first.sum(), w)


def accumulate() -> None:
    w = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    seen = []
    w.register_hook(lambda g: seen.append(g) or 2 * g)
    w.register_post_accumulate_grad_hook(seen.append)
    for _ in range(3):
        loss_of(w, ag.asarray(lazy(DATA)), lazy(LABELS)).backward()
    assert len(seen) == 6
    with ag.no_grad():
        w -= 0.1 * w.grad
    loss_of(w, ag.asarray(lazy(DATA)), lazy(LABELS)).backward()


def transform() -> None:
    x, y = lazy(DATA), lazy(LABELS)
    f = lambda w: loss_of(w, x, y)  # noqa: E731
    ag.func.value_and_grad(f)(lazy(WEIGHTS))
    ag.func.jvp(f, (lazy(WEIGHTS),), (lazy(WEIGHTS),))
    ag.func.hvp(f, (lazy(WEIGHTS),), (lazy(WEIGHTS),))
    ag.func.vjp(f, lazy(WEIGHTS))[1](1.0)


def look_for_nan() -> None:
    with ag.autograd.detect_anomaly():
        differentiate()


def copy_them() -> None:
    x = ag.tensor(lazy(DATA), requires_grad=True)
    copy.deepcopy(x)
    pickle.dumps(x)
    x.detach().clone()


PROGRAMS = [
    make,
    record,
    look,
    differentiate,
    accumulate,
    transform,
    look_for_nan,
    copy_them,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_nothing_is_computed_by_itself(runs: Runs, program: Callable[[], None]) -> None:
    program()
    assert runs.count == 0


@pytest.mark.parametrize(
    "asked",
    [bool, float, ag.Tensor.item, ag.Tensor.tolist, ag.Tensor.numpy, np.asarray, ag.Tensor.compute],
    ids=lambda f: f.__name__,
)
def test_values_that_are_asked_for_are_computed_once(
    runs: Runs, asked: Callable[[ag.Tensor], Any]
) -> None:
    total = ag.asarray(lazy(LABELS)).sum()
    assert asked(total) == asked(ag.tensor(LABELS.sum()))
    assert runs.count == 1


# --- compute -------------------------------------------------------------------------------------


def test_a_loss_and_its_gradient_are_one_run_that_shares_the_forward_pass(runs: Runs) -> None:
    calls = Calls()
    x = lazy(DATA).map_blocks(calls, meta=np.empty((0, 0)))
    w = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    loss = loss_of(w, x, lazy(LABELS))
    gradient = ag.grad(loss, w)
    value, found = ag.compute(loss, gradient)
    assert runs.count == 1
    assert calls.count == 3  # once for each block
    want = expected()
    np.testing.assert_allclose(value.numpy(), want[0], rtol=1e-14)
    np.testing.assert_allclose(found.numpy(), want[1], rtol=1e-13)
    loss.compute()
    gradient.compute()
    assert calls.count == 9  # one by one, the data is made twice more


def test_no_task_of_the_forward_pass_is_there_twice(runs: Runs) -> None:
    w = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    loss = loss_of(w, lazy(DATA), lazy(LABELS))
    ag.compute(loss, ag.grad(loss, w))
    products = {name: n for name, n in runs.tasks.items() if name.startswith("matmul")}
    assert list(products.values()) == [3]  # X @ w, in three blocks, for both


class Pair(NamedTuple):
    a: Any
    b: Any


def test_structures_come_back_as_they_were() -> None:
    w = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    plain = ag.tensor(1.0, requires_grad=True)
    given = {"a": [w, lazy(LABELS), None], "b": Pair(plain, (2.0, "text", DATA)), "c": {}}
    (found,) = ag.compute(given)
    assert list(found) == ["a", "b", "c"]
    assert type(found["a"]) is list
    assert type(found["b"]) is Pair
    assert type(found["a"][0]) is ag.Tensor
    assert type(found["a"][0].array) is np.ndarray
    assert type(found["a"][1]) is np.ndarray
    assert found["a"][2] is None
    assert found["b"].a is plain
    assert found["b"].b[:2] == (2.0, "text")
    assert found["b"].b[2] is DATA
    assert ag.compute() == ()


def test_computed_tensors_are_constants() -> None:
    w = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    for tensor in (w, w * 2):
        computed = tensor.compute()
        assert not computed.requires_grad
        assert computed.is_leaf
        assert tensor.requires_grad


def test_numbers_come_back_as_0d_arrays() -> None:
    value = ag.asarray(lazy(DATA)).sum().compute()
    assert type(value.array) is np.ndarray
    assert value.shape == ()


def test_tensors_that_are_not_lazy_are_returned_as_they_are() -> None:
    x = ag.tensor(WEIGHTS, requires_grad=True)
    y = x * 2
    for tensor in (x, y):
        assert tensor.compute() is tensor
        assert tensor.persist() is tensor
        assert ag.compute([tensor])[0][0] is tensor


def test_keywords_go_to_dask() -> None:
    counted = Runs()
    x = ag.asarray(lazy(DATA))
    x.compute(scheduler=counted)
    ag.compute(x, scheduler=counted)
    x.persist(scheduler=counted)
    ag.persist(x, scheduler=counted)
    assert counted.count == 4
    with pytest.raises(ValueError, match="threads"):
        x.compute(scheduler="no such")


def test_inside_a_transform_there_are_no_values_to_compute() -> None:
    with pytest.raises(TypeError, match="compute what the transform returns"):
        ag.func.jvp(lambda x: ag.compute(x * x)[0], (lazy(WEIGHTS),), (lazy(WEIGHTS),))


# --- persist -------------------------------------------------------------------------------------


def test_what_is_persisted_is_computed_once(runs: Runs) -> None:
    calls = Calls()
    x = ag.asarray(lazy(DATA).map_blocks(calls, meta=np.empty((0, 0)))).persist()
    assert isinstance(x.array, da.Array)
    assert calls.count == 3
    w = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    for _ in range(2):
        loss = loss_of(w, x, lazy(LABELS))
        np.testing.assert_allclose(ag.grad(loss, w).compute().numpy(), expected()[1], rtol=1e-13)
    assert calls.count == 3


def test_a_persisted_leaf_is_a_leaf() -> None:
    w = ag.tensor(lazy(WEIGHTS), requires_grad=True).persist()
    assert w.is_leaf
    loss_of(w, lazy(DATA), lazy(LABELS)).backward()
    assert w.grad is not None
    np.testing.assert_allclose(w.grad.compute().numpy(), expected()[1], rtol=1e-13)


def test_a_persisted_result_keeps_its_place_in_the_graph() -> None:
    w = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    (z,) = ag.persist(lazy(DATA) @ w)
    gradient = ag.grad(z.sum(), w)
    np.testing.assert_allclose(gradient.compute().numpy(), DATA.sum(axis=0), rtol=1e-13)


def test_parameters_can_be_persisted_from_step_to_step(runs: Runs) -> None:
    w, steps = lazy(WEIGHTS), []
    for _ in range(4):
        before = sum(runs.tasks.values())
        leaf = ag.tensor(w, requires_grad=True)
        gradient = ag.grad(loss_of(leaf, lazy(DATA), lazy(LABELS)), leaf)
        (w,) = ag.persist(w - 0.5 * gradient.array)
        steps.append(sum(runs.tasks.values()) - before)
    assert len(set(steps)) == 1  # no step computes the steps before it again
    want = WEIGHTS
    for _ in range(4):
        p = 1 / (1 + np.exp(-DATA @ want))
        want = want - 0.5 * DATA.T @ (p - LABELS) / 12
    np.testing.assert_allclose(np.asarray(w), want, rtol=1e-12)


# --- the rest of the library ---------------------------------------------------------------------


def test_anomaly_detection_speaks_up_when_the_gradient_is_computed(runs: Runs) -> None:
    x = ag.tensor(lazy(np.array([0.0, 1.0, 4.0]), 1), requires_grad=True)
    with ag.autograd.detect_anomaly():
        gradient = ag.grad((ag.sqrt(x) * 0).sum(), x)
    assert runs.count == 0
    with np.errstate(all="ignore"), pytest.raises(AnomalyError, match=r"SqrtBackward(.|\n)*sqrt"):
        gradient.compute()


@pytest.mark.usefixtures("only_numpy")  # native code shares in another way
def test_a_block_is_computed_by_the_thread_that_dask_gave_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = []
    monkeypatch.setattr(threads, "_number", 2)
    monkeypatch.setattr(threads._pool, "put", lambda *args: shared.append(args))
    large = np.full(LARGE * 4, 0.5)
    np.testing.assert_array_equal(ag.exp(ag.asarray(lazy(large, -1))).numpy(), np.exp(large))
    assert not shared
    ag.exp(ag.asarray(large))  # which is shared, without Dask
    assert shared


def test_minimize_runs_one_graph_for_each_value_and_gradient(runs: Runs) -> None:
    pytest.importorskip("scipy")
    x, y = lazy(DATA), lazy(LABELS)

    def loss(parameters: Any) -> Any:
        w = parameters["w"]
        return loss_of(w, x, y) + 0.1 * ag.sum(w * w) + (parameters["b"] - 1.0) ** 2

    start = {"w": lazy(np.zeros(3)), "b": da.zeros(())}
    found = ag.optimize.minimize(loss, start, method="L-BFGS-B", tol=1e-10)
    assert runs.count == found.nfev + 1  # and the start
    gradient = ag.func.grad(loss)(found.x)
    for part in ag.compute(gradient)[0].values():
        np.testing.assert_allclose(part, 0.0, atol=1e-4)


def test_a_gradient_is_an_array_of_its_own() -> None:
    seed = da.ones(3, chunks=3)
    x = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    y = ag.tensor(lazy(WEIGHTS), requires_grad=True)
    first, second = ag.grad(x + y, [x, y], grad_outputs=seed)
    first.array[0] = 5.0  # which Dask does by changing the array object
    np.testing.assert_array_equal(np.asarray(first), [5.0, 1.0, 1.0])
    np.testing.assert_array_equal(np.asarray(second), np.ones(3))
    np.testing.assert_array_equal(np.asarray(seed), np.ones(3))


@pytest.mark.parametrize("chunks", [(4, 3), (4, 2), (12, 3), (5, 1)], ids=str)
def test_gradients_have_the_blocks_of_what_they_are_of(chunks: tuple[int, int]) -> None:
    x = ag.tensor(lazy(DATA, chunks), requires_grad=True)
    w = ag.asarray(lazy(WEIGHTS, chunks[1]))
    losses = {
        "sum": ag.sum(x * x),
        "mean": ag.mean(ag.exp(x)),
        "rows": ag.sum(ag.mean(x, axis=0) ** 2),
        "columns": ag.sum(ag.sum(x, axis=1, keepdims=True) ** 2),
        "product": ag.sum(ag.tanh(x @ w)),
        "matrix": ag.sum(ag.tanh(x.T @ x)),
    }
    for name, loss in losses.items():
        gradient = ag.grad(loss, x, retain_graph=True).array
        assert gradient.chunks == x.array.chunks, name


def test_tasks_grow_with_blocks_and_not_faster(runs: Runs) -> None:
    def tasks(blocks: int) -> int:
        x = da.zeros((blocks * 10, 3), chunks=(10, 3))
        w = ag.tensor(lazy(WEIGHTS, -1), requires_grad=True)
        loss = loss_of(w, x, da.zeros(blocks * 10, chunks=10))
        before = sum(runs.tasks.values())
        ag.compute(loss, ag.grad(loss, w))
        return sum(runs.tasks.values()) - before

    few, many = tasks(20), tasks(200)
    assert many <= 10.5 * few
    assert many <= 6 * 200  # data twice, the product, two sums over blocks and their trees
