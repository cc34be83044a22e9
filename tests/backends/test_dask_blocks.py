"""What is special about Dask's arrays: blocks, lengths that are not known, and being lazy."""

from __future__ import annotations

import operator
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.errors import LazyError
from arraygrad.ops.define import (
    AlongAxis,
    Contracts,
    Elementwise,
    Matrices,
    Moves,
    declare,
)
from arraygrad.ops.define.op import library_ops
from arraygrad.testing import assert_close

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
from dask_arrays import in_blocks, lazily  # noqa: E402, F401

rng = np.random.default_rng(0)
X = rng.normal(size=(6, 3))
ROWS = np.array([True, False, True, True, False, True])
W = rng.normal(size=3)


def computed(tensor: Any) -> Any:
    """The values of a lazy tensor as a NumPy array."""
    return np.asarray(tensor.detach().array.compute(scheduler="synchronous"))


def agree(function: Callable[..., Any], *values: Any, second: bool = True) -> None:
    """Compare a loss, its gradients, and their derivatives on Dask's arrays and on NumPy's."""
    found: list[list[Any]] = []
    for make in (np.array, in_blocks):
        inputs = [ag.tensor(make(v), requires_grad=v.dtype.kind in "fc") for v in values]
        leaves = [x for x in inputs if x.requires_grad]
        loss = function(*inputs)
        first = ag.grad(loss, leaves, create_graph=True, materialize_grads=True)
        results = [loss, *first]
        if second:
            again = sum(ag.sum(ag.abs(g) ** 2) for g in first)
            results += ag.grad(again, leaves, materialize_grads=True)
        found.append(results)
    for expected, result in zip(*found, strict=True):
        value = expected.detach().numpy()
        assert_close(computed(result), value, rtol=1e-11, atol=1e-11)


# --- lengths that are not known ------------------------------------------------------------------

UNKNOWN: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "sum": (lambda x, m: (x[m] ** 2).sum(), (X, ROWS)),
    "mask of all axes": (lambda x, m: ag.sin(x[m]).sum(), (X, X > 0)),
    "mask of itself": (lambda x: ag.exp(x[x > 0]).sum(), (X,)),
    "mask of the last axis": (lambda x, m: (x[:, m] ** 3).sum(), (X.T.copy(), ROWS)),
    "mask of two of three axes": (
        lambda x, m: (x[m] ** 2).sum(),
        (rng.normal(size=(3, 2, 4)), np.array([[True, False], [True, True], [False, False]])),
    ),
    "mask that takes nothing": (lambda x: (x[x > 99] ** 2).sum(), (X,)),
    "mean": (lambda x, m: ag.exp(x[m]).mean(), (X, ROWS)),
    "mean over the unknown": (lambda x, m: (ag.exp(x[m]).mean(axis=0) ** 2).sum(), (X, ROWS)),
    "mean, kept": (lambda x, m: (x[m].mean(axis=0, keepdims=True) * x[m]).sum(), (X, ROWS)),
    "var": (lambda x, m: ag.exp(x[m]).var(), (X, ROWS)),
    "std": (lambda x, m: ag.exp(x[m]).std(axis=0, correction=1).sum(), (X, ROWS)),
    "matrix times vector": (lambda x, m, w: ag.tanh(x[m] @ w).sum(), (X, ROWS, W)),
    "matrix times itself": (lambda x, m: (x[m].T @ x[m]).sum(), (X, ROWS)),
    "broadcasting": (lambda x, m, w: ag.tanh(x[m] + w).sum(), (X, ROWS, W)),
    "max": (lambda x, m: (ag.max(x[m] * x[m], axis=0) ** 2).sum(), (X, ROWS)),
    "logsumexp": (lambda x, m: ag.special.logsumexp(x[m], axis=1).sum(), (X, ROWS)),
    "softmax": (lambda x, m: (ag.special.softmax(x[m], axis=1) ** 2).sum(), (X, ROWS)),
    "column": (lambda x, m: (x[m][:, 1] ** 2).sum(), (X, ROWS)),
    "new axes": (lambda x, m: (x[m][:, None] * x[m][:, :, None]).sum(), (X, ROWS)),
    "where": (lambda x, m: ag.where(x[m] > 0, x[m] ** 2, x[m]).sum(), (X, ROWS)),
    "norm": (lambda x, m: ag.linalg.vector_norm(x[m], ord=3), (X, ROWS)),
    "positions": (lambda x: (x[ag.nonzero(x > 0)] ** 2).sum(), (X,)),
    "mask and slice": (lambda x, m: (x[m, 1:] ** 2).sum(), (X, ROWS)),
    "unique": (lambda x: (ag.unique_values(x) ** 2).sum(), (np.array([2.0, 1.0, 2.0, 3.0]),)),
    "histogram": (
        lambda x, w: (ag.histogram(x, bins=3, range=(-1, 1), weights=w)[0] ** 2).sum(),
        (X[:, 0].copy(), X[:, 1].copy()),
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_lengths(name: str) -> None:
    function, values = UNKNOWN[name]
    agree(function, *values, second=name != "unique")


def test_seeds_and_batches_of_unknown_length() -> None:
    x = ag.tensor(in_blocks(X), requires_grad=True)
    mask = in_blocks(ROWS)
    part = x[mask]
    seed = np.arange(12.0).reshape(4, 3)
    expected = np.zeros_like(X)
    expected[ROWS] = seed
    for chunks in (3, 1, 4):  # as many blocks as the part has, and others
        gradient = ag.grad(part, x, da.from_array(seed, chunks=(chunks, 3)), retain_graph=True)
        assert_close(computed(gradient), expected)
    longer = ag.grad(part, x, da.from_array(np.ones((5, 3))), retain_graph=True)
    with pytest.raises(ValueError, match="5 elements along an axis where a mask takes 4"):
        computed(longer)
    seeds = ag.asarray(in_blocks(np.array([1.0, 3.0])))
    batched = ag.grad(ag.sum(part * part), x, seeds, is_grads_batched=True)
    assert_close(computed(batched), np.stack([2 * X, 6 * X]) * ROWS[:, None])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ag.sort(x, axis=0),
        lambda x: ag.reshape(x, (3, 4)),
        lambda x: ag.fft.fft(x, n=4, axis=0),
    ],
)
def test_what_needs_lengths_says_so(function: Callable[[Any], Any]) -> None:
    x = ag.tensor(in_blocks(X))[in_blocks(ROWS)]
    with pytest.raises((LazyError, ValueError), match=r"compute_chunk_sizes|cannot reshape"):
        function(x)


# --- values that are not known -------------------------------------------------------------------


def test_what_needs_values_says_so() -> None:
    places = ag.tensor(in_blocks(np.array([0, 2, 1])))
    with pytest.raises(LazyError, match=r"bincount needs the values .* compute\(\)"):
        ag.bincount(places)
    with pytest.raises(LazyError, match="histogram needs the values"):
        ag.histogram(ag.tensor(in_blocks(X[0])), bins=3)
    x = ag.tensor(in_blocks(X))
    with pytest.raises(TypeError, match="values are not known yet"):
        x[places] = 1.0


def test_asking_for_numbers_computes() -> None:
    total = ag.sum(ag.tensor(in_blocks(X)))
    with dask.config.set(scheduler="synchronous"):
        assert float(total) == total.item() == total.numpy()
        assert_close(float(total), X.sum())


def test_positions_outside_are_noticed_when_they_are_computed() -> None:
    x = ag.tensor(in_blocks(X), requires_grad=True)
    with pytest.raises(IndexError, match="index 6 is out of range for axis 0"):
        x[[0, 6]]
    wrong = x[ag.asarray(in_blocks(np.array([0, 6, 1])))]
    gradient = ag.grad(ag.sum(wrong), x)
    for lazy in (wrong, gradient):
        with pytest.raises(IndexError, match="index 6 is out of range for axis 0 with length 6"):
            computed(lazy)


def test_zero_dimensional_positions_stay_lazy() -> None:
    agree(lambda x: (x[ag.argmax(x[:, 0])] ** 3).sum(), X)


def test_zeros_keep_their_sign_across_blocks() -> None:
    x = in_blocks(np.array([-0.0, 0.0, -0.0, 0.0]))
    places = in_blocks(np.array([0, 1, 2, 3, 0]))
    found = computed(ag.asarray(x)[ag.asarray(places)])
    assert np.signbit(found).tolist() == [True, False, True, False, True]


@pytest.mark.parametrize("size", ["1B", "128MiB"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, i, j: (x[i] ** 2).sum(),
        lambda x, i, j: (x[:, j] ** 3).sum(),
        lambda x, i, j: (x[i[:, None], j] ** 3).sum(),
        lambda x, i, j: (x[1:][i - 1, None, ::-1] ** 2).sum(),
        lambda x, i, j: (ag.take(x, j, axis=1)[:, 1:] @ x[i].T).sum(),
        lambda x, i, j: (ag.stack([x, x])[1, i, 1:] * ag.stack([x, x])[j[:2] - 1, 3:, 1:]).sum(),
    ],
)
def test_positions_among_many_blocks_and_in_one(function: Callable[..., Any], size: str) -> None:
    places = np.array([3, -1, 3]), np.array([1, 1, 2, 0])
    with dask.config.set({"array.chunk-size": size}):
        agree(function, X, *places)


# --- writing -------------------------------------------------------------------------------------


def writing(write: Callable[..., Any]) -> Callable[..., Any]:
    def loss(x: Any, *others: Any) -> Any:
        y = x * 1.0
        write(y, *others)
        return (y**3).sum()

    return loss


WRITES: dict[str, tuple[Callable[..., Any], Any]] = {
    "integer": (lambda y, v: operator.setitem(y, 1, v), rng.normal(size=3)),
    "slices": (lambda y, v: operator.setitem(y, np.s_[1:4, ::2], v), rng.normal(size=(3, 2))),
    "backwards": (lambda y, v: operator.setitem(y, np.s_[::-1, 0], v), rng.normal(size=6)),
    "repeated": (lambda y, v: operator.setitem(y, [0, 2, 0], v), rng.normal(size=(3, 3))),
    "pairs": (lambda y, v: operator.setitem(y, ([0, 2, 0], [1, 1, 1]), v), rng.normal(size=3)),
    "slice and repeated": (
        lambda y, v: operator.setitem(y, (np.s_[1:], [0, 2, 0]), v),
        rng.normal(size=(5, 3)),
    ),
    "known mask": (lambda y, v: operator.setitem(y, ROWS, v), rng.normal(size=3)),
    "lazy mask": (lambda y, v: operator.setitem(y, y > 0, v), np.array(1.5)),
    "slice of a view": (lambda y, v: operator.setitem(y[1:], np.s_[:, 0], v), rng.normal(size=5)),
    "transpose": (lambda y, v: operator.setitem(y.T[1], np.s_[1:3], v), rng.normal(size=2)),
    "reshape": (
        lambda y, v: operator.setitem(ag.reshape(y, (2, 3, 3)), np.s_[1], v),
        rng.normal(size=3),
    ),
    "flip": (lambda y, v: ag.flip(y, axis=0)[0].copy_(v), rng.normal(size=3)),
    "diagonal": (lambda y, v: ag.linalg.diagonal(y, offset=-1).copy_(v), rng.normal(size=3)),
    "in place": (lambda y, v: operator.iadd(y, v), rng.normal(size=3)),
    "view in place": (lambda y, v: y[:, 1].mul_(v), rng.normal(size=6)),
    "fill": (lambda y, v: y.fill_(v), np.array(2.0)),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str) -> None:
    write, value = WRITES[name]
    agree(writing(write), X, value, second=False)


def test_writes_to_complex_parts() -> None:
    def loss(x: Any, v: Any) -> Any:
        y = ag.astype(x, ag.complex128) * (1 + 2j)
        ag.real(y)[1] = v
        ag.imag(y)[2] = v
        return ag.real(y * y * ag.conj(y)).sum()

    agree(loss, X, W, second=False)


def test_writes_to_arrays_larger_than_memory() -> None:
    x = ag.tensor(da.ones((10**7, 10**4), chunks=(10**6, 10**3)), requires_grad=True)
    v = ag.tensor(in_blocks(W), requires_grad=True)
    y = x * 2
    y[[0, 5, 0], [1, 2, 1]] = v
    y[3:8] = 0.0
    y[y > 3] = 1.0
    y[7] *= 2
    for gradient, leaf in zip(ag.grad(ag.sum(y * y), [x, v]), (x, v), strict=True):
        assert gradient.array.chunks == leaf.array.chunks


def test_views_follow_their_base() -> None:
    def loss(x: Any, v: Any) -> Any:
        y = x * 2
        row = y[1]
        y[1] = v
        row *= 3
        return (y * y).sum() + row.sum()

    agree(loss, X, W)


def test_the_users_array_stays_as_it_was() -> None:
    array = in_blocks(X)
    before = array.name
    x = ag.tensor(array)
    x[0] = 1.0
    assert array.name == before


# --- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_dtypes(dtype: str) -> None:
    values = X.astype(dtype)
    x = ag.tensor(in_blocks(values), requires_grad=True)
    loss = ag.sum(ag.abs(ag.exp(x)[1:] @ x.T) / 2)
    gradient = ag.grad(loss, x)
    assert gradient.dtype == dtype
    assert loss.dtype == np.float32
    again = ag.tensor(values, requires_grad=True)
    expected = ag.grad(ag.sum(ag.abs(ag.exp(again)[1:] @ again.T) / 2), again)
    assert_close(computed(gradient), expected.numpy(), rtol=1e-4, atol=1e-4)


def test_integers_and_booleans() -> None:
    numbers = np.arange(6).reshape(2, 3)
    x = ag.tensor(in_blocks(numbers))
    for found, expected in [
        (x // 2, numbers // 2),
        (x << 1, numbers << 1),
        (ag.sum(x, axis=0), numbers.sum(axis=0)),
        (x > 2, numbers > 2),
        (~(x > 2), ~(numbers > 2)),
        (x[[1, 0]], numbers[[1, 0]]),
        ((x > 2)[ag.asarray(in_blocks(np.array([1, 0, 1])))], (numbers > 2)[[1, 0, 1]]),
        (ag.take_along_axis(x, ag.argsort(x, descending=True)), numbers[:, ::-1]),
    ]:
        assert found.dtype == expected.dtype
        assert_close(computed(found), expected)


def test_constants_are_cut_like_what_they_are_like() -> None:
    x = ag.tensor(in_blocks(X))
    for made in (ag.zeros_like(x), ag.ones_like(x), ag.full_like(x, 3.0)):
        assert made.array.chunks == x.array.chunks


def test_copies_and_casts_that_change_nothing_add_no_tasks() -> None:
    x = in_blocks(X)
    tensor = ag.tensor(x)
    assert tensor.array is not x
    for same in (tensor, tensor.clone(), ag.astype(tensor, ag.float64)):
        assert same.array.name == x.name


@pytest.mark.parametrize("start", [-4, -3, -2, 2, 3])
def test_slices_that_begin_before_the_first_element(start: int) -> None:
    """Dask takes some of them for all elements of the axis."""
    values = X[:3]
    x = ag.tensor(in_blocks(values), requires_grad=True)
    for key in (
        slice(start, None, -1),
        (..., None, slice(start, None, -1)),
        (slice(start, None, -1), [2, 0]),
    ):
        found = x[key]
        assert found.shape == values[key].shape
        np.testing.assert_array_equal(computed(found), values[key])
        expected = np.zeros(values.shape)
        expected[key] = 1
        np.testing.assert_array_equal(computed(ag.grad(found.sum(), x)), expected)


def test_slices_and_their_gradients_touch_each_block_once() -> None:
    x = ag.tensor(da.zeros(1000, chunks=10), requires_grad=True)
    gradient = ag.grad(ag.sum(x[305:695] ** 2), x).array
    assert gradient.chunks == x.array.chunks
    assert len(dict(gradient.__dask_graph__())) < 1000


def test_tasks_grow_with_the_number_of_blocks() -> None:
    def tasks(blocks: int) -> int:
        x = ag.tensor(da.ones((blocks * 10, 4), chunks=(10, 4)), requires_grad=True)
        y = ag.special.softmax(ag.tanh(x) * x, axis=1)
        first = ag.asarray(da.zeros((1, 4), dtype=int))
        loss = ag.mean(ag.take_along_axis(ag.sort(y, axis=1), first, axis=1))
        return len(dask.optimize(ag.grad(loss, x).array)[0].__dask_graph__())

    few, more, most = tasks(4), tasks(8), tasks(16)
    assert most - more <= 2.1 * (more - few)


def test_chunks_are_not_cut_to_pieces() -> None:
    x = ag.tensor(da.ones(4096, chunks=1024), requires_grad=True)
    gradient = ag.grad(ag.sum(ag.cumulative_prod(x)), x).array
    assert len(dict(gradient.__dask_graph__())) < 1000


def test_products_over_several_axes_move_no_chunks() -> None:
    x = ag.tensor(in_blocks(rng.normal(size=(4, 6, 3))), requires_grad=True)
    w = ag.tensor(in_blocks(rng.normal(size=(3, 2))), requires_grad=True)
    loss = (
        ag.sum((x @ w) ** 2)
        + ag.sum(ag.tensordot(x, x, axes=([0, 1], [0, 1])))
        + ag.einsum("ijk,ijl->", x, x)
    )
    for lazy in (loss, *ag.grad(loss, [x, w])):
        assert not [name for name in lazy.array.dask.layers if name.startswith("rechunk")]


def test_graphs_are_small_to_send() -> None:
    x = ag.tensor(da.ones((40, 4), chunks=(10, 4)), requires_grad=True)
    loss = ag.sum(ag.special.erf(x) * ag.linalg.det(ag.reshape(x, (10, 4, 4)))[0])
    (gradient,) = dask.optimize(ag.grad(loss, x).array)
    sent = pickle.dumps(dict(gradient.__dask_graph__()))
    assert len(sent) < 200_000
    assert b"<lambda>" not in sent


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ag.sum(ag.linalg.qr(x).R ** 4),
        lambda x: ag.sum(ag.linalg.svd(x, full_matrices=False).S ** 3),
        lambda x: ag.sum(ag.linalg.svd(x.T, full_matrices=False).S ** 3),
        lambda x: ag.sum(ag.linalg.cholesky(ag.exp(-((x[:, :1] - x[:, 0]) ** 2))) ** 3),
    ],
    ids=["qr", "svd", "svd, wide", "cholesky"],
)
def test_large_matrices_are_decomposed_in_tiles(function: Callable[[Any], Any]) -> None:
    with dask.config.set({"array.chunk-size": "32B"}):  # so that all matrices are large
        agree(function, X, second=False)


# --- ops of the user's ---------------------------------------------------------------------------


def seen_by(function: Callable[..., Any], shapes: list[Any]) -> Callable[..., Any]:
    """A way to compute an op that notes the shape of each NumPy array that it is called with."""

    def compute(xp: Any, x: Any, *others: Any, **params: Any) -> Any:
        assert isinstance(x, np.ndarray)
        shapes.append(x.shape)
        return function(x, *others, **params)

    return compute


def test_an_elementwise_op_is_computed_block_by_block() -> None:
    shapes: list[Any] = []
    damped = declare(
        "damped",
        "x",
        "y",
        kind=Elementwise(),
        compute=seen_by(lambda x, y, rate: np.exp(-rate * x) * y, shapes),
        keywords=("rate",),
        vjp_x=lambda g, out, rate: -rate * g * out,
        vjp_y=lambda g, x, rate: g * ag.exp(-rate * x),
        replace=True,
    )
    agree(lambda x, w: ag.sum(damped(x, w, rate=0.5)), X, W)
    x = ag.tensor(in_blocks(X))
    shapes.clear()
    assert_close(computed(damped(x, 2.0, rate=1)), 2 * np.exp(-X))
    assert max(map(np.prod, shapes)) == 6  # a block


def test_an_op_along_an_axis_keeps_the_other_axes_in_their_blocks() -> None:
    shapes: list[Any] = []
    padded = declare(
        "padded",
        "x",
        kind=AlongAxis(linear=True, lengths=lambda axes, n: {axes[0]: n}),
        compute=seen_by(
            lambda x, axis, n: np.concatenate(
                [
                    x,
                    np.zeros_like(
                        x, shape=(*x.shape[:axis], n - x.shape[axis], *x.shape[axis + 1 :])
                    ),
                ],
                axis=axis,
            ).astype(complex),
            shapes,
        ),
        keywords=("n",),
        vjp=lambda g, x_shape, axis: g[(slice(None),) * axis + (slice(x_shape[axis]),)],
        replace=True,
    )
    for axis in (0, 1):
        agree(lambda x: ag.sum(ag.abs(padded(x, axis=axis, n=10) + 1) ** 2), X)  # noqa: B023
    shapes.clear()
    out = padded(in_blocks(X), axis=0, n=10**12)  # nothing of which is made to find its dtype
    assert (out.shape, out.dtype, out.numblocks) == ((10**12, 3), complex, (1, 2))
    assert all(0 in shape for shape in shapes)


def test_an_op_along_an_axis_of_several_arrays() -> None:
    weighted = declare(
        "weighted",
        "x",
        "w",
        kind=AlongAxis(linear="each"),
        compute=lambda xp, x, w, axis: x * np.cumsum(w, axis=axis - x.ndim),
        vjp_x=lambda g, w, axis: weighted(g, w, axis=axis),
        replace=True,
    )
    x, w = in_blocks(X), in_blocks(W)
    out = weighted(x, w, axis=1)
    assert out.chunks == x.chunks
    assert_close(out.compute(scheduler="synchronous"), X * np.cumsum(W))


def test_an_op_of_matrices_has_one_in_each_task() -> None:
    shapes: list[Any] = []
    gram = declare(
        "gram",
        "x",
        kind=Matrices(shapes=lambda x: (x[1:] * 2, ())),
        compute=seen_by(lambda x: (x.mT @ x, np.linalg.norm(x, axis=(-2, -1)) ** 2), shapes),
        vjp=lambda gs, x: x @ (gs[0] + ag.matrix_transpose(gs[0])),
        multiple=True,
        replace=True,
    )
    stack = np.random.default_rng(1).normal(size=(4, 3, 2))
    agree(lambda x: ag.sum(gram(x)[0] ** 2), stack)
    shapes.clear()
    products, squares = gram(in_blocks(stack))
    assert (products.chunks, squares.chunks) == (((2, 2), (2,), (2,)), ((2, 2),))
    assert_close(squares.compute(scheduler="synchronous"), (stack**2).sum(axis=(1, 2)))
    assert shapes == [(2, 3, 2)] * 2


def test_an_op_that_contracts_adds_up_what_pairs_of_blocks_give() -> None:
    products = declare(
        "products_of_rows",
        "x",
        "y",
        kind=Contracts(labels=lambda m, n: ("ik", "jk", "ij")),
        compute=lambda xp, x, y: np.einsum("ik,jk->ij", x, y),
        replace=True,
    )
    x, y = X[:4], X[3:]
    out = products(in_blocks(x), in_blocks(y))
    assert out.chunks == ((2, 2), (2, 1))
    assert_close(out.compute(scheduler="synchronous"), x @ y.T)


def test_an_elementwise_op_with_several_results() -> None:
    @ag.func.custom(
        vjp=lambda gs, x: gs[0] * ag.cos(x) - gs[1] * ag.sin(x), batch="elementwise", multiple=True
    )
    def sine_and_cosine(x: Any) -> Any:
        return np.sin(x), np.cos(x)

    def loss(x: Any) -> Any:
        sine, cosine = sine_and_cosine(x)
        return ag.sum(sine * cosine)

    agree(loss, X)


def test_an_opaque_op_is_given_the_dask_array() -> None:
    given: list[Any] = []

    @ag.func.custom(vjp=lambda g, x: 2 * g * x)
    def total_square(x: Any) -> Any:
        given.append(type(x))
        return (x * x).sum()

    x = ag.tensor(in_blocks(X), requires_grad=True)
    total = total_square(x)
    assert given == [da.Array]
    assert_close(computed(total), (X * X).sum())
    assert_close(computed(ag.grad(total, x)), 2 * X)


def test_ops_of_one_name_compute_their_own() -> None:
    def scaled_by(factors: Any) -> Callable[..., Any]:
        @ag.func.custom(vjp=lambda g: g * factors, batch="elementwise")
        def scaled(x: Any) -> Any:
            return x * factors

        return scaled

    @ag.func.custom(vjp=lambda g: g, batch="elementwise")
    def sinc(x: Any) -> Any:
        return x + 1

    many = np.arange(2000.0)
    other = many.copy()
    other[1000] = -1  # which no text of it would show
    x = ag.tensor(da.zeros(2000, chunks=1000)) + 1
    functions = [scaled_by(2.0), scaled_by(3.0), scaled_by(many[:1000]), scaled_by(other[:1000])]
    functions += [scaled_by(many[1000:]), scaled_by(other[1000:]), sinc, ag.special.sinc]
    functions += [
        declare("scaled", "x", kind=Elementwise(), compute=compute, replace=True)
        for compute in (lambda xp, x: x * 2, lambda xp, x: x * 5)
    ]
    found = [function(x) for function in functions]
    one = np.ones(1000)
    ends = [2 * one, 3 * one, many[:1000], other[:1000], many[1000:], other[1000:]]
    ends += [2 * one, 0 * one, 2 * one, 5 * one]
    values = ag.compute(*found, scheduler="synchronous")  # together, in one graph
    for value, expected in zip(values, ends, strict=True):
        assert_close(value.numpy(), np.tile(expected, 2), atol=1e-15)
    again = [function(x) for function in functions]
    assert [y.array.name for y in again] == [y.array.name for y in found]


def test_keywords_tell_apart_what_is_computed() -> None:
    shifted = declare(
        "shifted", "x", kind=Elementwise(), compute=lambda xp, x, by: x + by, replace=True
    )
    x = in_blocks(np.arange(3))
    large = np.zeros(3000)
    large[1500] = 1
    for by in (1, 1.0, np.float32(1), [1.0], large[1400:1401], large[1500:1501]):
        out = shifted(x, by=by)
        expected = np.arange(3) + by
        assert out.dtype == expected.dtype
        assert_close(out.compute(scheduler="synchronous"), expected)
    names = {shifted(x, by=by).name for by in (large, np.roll(large, 1))}
    assert len(names) == 2


def test_a_view_by_an_op_of_the_users_can_be_written_to() -> None:
    every = declare(
        "every_second",
        "x",
        kind=Moves(axis="axis", shares=True),
        compute=lambda xp, x, axis: x[(slice(None),) * axis + (slice(None, None, 2),)],
        vjp=lambda g, x_shape, axis: _between_zeros(g, x_shape, axis),
        replace=True,
    )

    def write(y: Any, v: Any) -> None:
        every(y, axis=0)[1:] = v

    agree(writing(write), X, rng.normal(size=(2, 3)), second=False)


def _between_zeros(g: Any, shape: Any, axis: int) -> Any:
    pairs = ag.stack([g, ag.zeros_like(g)], axis=axis + 1)
    return ag.reshape(pairs, (*g.shape[:axis], 2 * g.shape[axis], *g.shape[axis + 1 :]))


def test_every_op_is_found_in_the_module_that_declares_it() -> None:
    for op in library_ops():  # as workers do
        declared = [getattr(value, "op", None) for value in vars(sys.modules[op.module]).values()]
        # A constant is only the name of a node. In a twin of another library, a function is around.
        is_twin = op.module.startswith(("arraygrad.compat.", "arraygrad.scipy."))
        is_bare = op.name != "constant" and not is_twin
        assert op in declared or not is_bare
        assert pickle.loads(pickle.dumps(op)) is op
