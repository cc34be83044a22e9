"""Sparse Jacobians and Hessians: against dense ones, over the table and over named patterns."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from rows import crossed
from samples import Sample

import arraygrad as ag
from arraygrad.core.indices import HOLE
from arraygrad.core.kinds import AlongAxis, Contracts, Elementwise, Matrices, Opaque
from arraygrad.func.coloring import color_both, color_columns, color_symmetric
from arraygrad.func.trees import flatten
from arraygrad.ops.define import declare
from arraygrad.ops.indexing import _add_along_axis, _index_add
from arraygrad.ops.linalg import _cofactors_along

RNG = np.random.default_rng(0)


def dense_jacobian(function: Callable[..., Any], *args: Any) -> Any:
    """The Jacobian with respect to all arguments, flattened, by the dense way."""
    places = tuple(range(len(args)))
    values = flatten(function(*args))[0]
    blocks = [np.asarray(block) for block in flatten(ag.func.jacfwd(function, places)(*args))[0]]
    sizes = [np.size(x) for x in flatten(args)[0]]
    rows = []
    for value in values:
        mine, blocks = blocks[: len(sizes)], blocks[len(sizes) :]
        shaped = [b.reshape(np.size(value), n) for b, n in zip(mine, sizes, strict=True)]
        rows.append(np.hstack(shaped))
    return np.vstack(rows)


def sparse_jacobian(function: Callable[..., Any], *args: Any, way: str = "jacobian") -> Any:
    return getattr(ag.func, way)(function, tuple(range(len(args))), sparse=True)(*args)


def spread(pattern: Any) -> set[tuple[int, int]]:
    return set(zip(*(index.tolist() for index in pattern.nonzero()), strict=True))


# --- the whole table -----------------------------------------------------------------------------


def smooth_function(sample: Sample) -> tuple[Callable[..., Any], list[Any]]:
    """A sample as a function of its floating-point inputs, and these."""
    arrays = sample.arrays()
    places = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]

    def function(*values: Any) -> Any:
        full = list(arrays)
        for place, value in zip(places, values, strict=True):
            full[place] = value
        return sample.call(ag, *full)

    return function, [arrays[i] for i in places]


def test_jacobian_of_every_op(smooth_sample: Sample) -> None:
    function, args = smooth_function(smooth_sample)
    dense = dense_jacobian(function, *args)
    pattern = ag.func.sparsity(function, *args, argnums=tuple(range(len(args))))
    assert pattern.shape == dense.shape
    assert not np.any(dense[~pattern.toarray()])
    for way in ("jacrev", "jacfwd"):
        np.testing.assert_allclose(
            sparse_jacobian(function, *args, way=way).toarray(), dense, rtol=1e-12, atol=1e-14
        )


def test_hessian_of_every_op(smooth_sample: Sample) -> None:
    function, args = smooth_function(smooth_sample)
    places = tuple(range(len(args)))

    def total(*values: Any) -> Any:
        outs = [ag.real(out) for out in flatten(function(*values))[0]]
        return sum(ag.sum(out * out * out) for out in outs)

    dense = dense_jacobian(ag.func.grad(total, places), *args)
    found = ag.func.hessian(total, places, sparse=True)(*args)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-9, atol=1e-12)


def of_both_parts(sample: Sample) -> tuple[Callable[..., Any], list[Any]]:
    """A complex sample as a function of real numbers: of the real and imaginary parts."""
    arrays = [np.asarray(a) for a in sample.arrays(complex_numbers=True)]
    places = [i for i, a in enumerate(arrays) if a.dtype.kind == "c"]

    def function(*values: Any) -> Any:
        full = list(arrays)
        for place, x, y in zip(places, values[::2], values[1::2], strict=True):
            full[place] = x + 1j * y
        outs = flatten(sample.call(ag, *full))[0]
        return [part(out) for out in outs for part in (ag.real, ag.imag)]

    return function, [part for i in places for part in (arrays[i].real, arrays[i].imag)]


def test_jacobian_of_every_op_on_complex_numbers(smooth_complex_sample: Sample) -> None:
    function, args = of_both_parts(smooth_complex_sample)
    dense = dense_jacobian(function, *args)
    pattern = ag.func.sparsity(function, *args, argnums=tuple(range(len(args))))
    assert pattern.shape == dense.shape
    assert not np.any(dense[~pattern.toarray()])


def test_hessian_of_every_op_on_complex_numbers(smooth_complex_sample: Sample) -> None:
    function, args = of_both_parts(smooth_complex_sample)
    places = tuple(range(len(args)))

    def total(*values: Any) -> Any:
        return sum(ag.sum(out * out * out) for out in function(*values))

    dense = dense_jacobian(ag.func.grad(total, places), *args)
    found = ag.func.hessian(total, places, sparse=True)(*args)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-9, atol=1e-11)


def test_steps_and_constants_give_no_dependence(constant_sample: Sample) -> None:
    function, args = smooth_function(constant_sample)
    if not args:
        args, function = [np.ones(2)], lambda x: constant_sample.call(ag, *constant_sample.arrays())
    pattern = ag.func.sparsity(function, *args, argnums=tuple(range(len(args))))
    assert pattern.nnz == 0


# --- what the pattern is -------------------------------------------------------------------------


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def laplacian(u: Any) -> Any:
    """The five-point stencil on a square, zero outside."""
    n = round(u.shape[0] ** 0.5)
    u = ag.reshape(u, (n, n))
    row, column = np.zeros((1, n)), np.zeros((n, 1))
    around = ag.concat((u[1:], row)) + ag.concat((row, u[:-1]))
    around = around + ag.concat((u[:, 1:], column), axis=1) + ag.concat((column, u[:, :-1]), axis=1)
    return ag.ravel(around - 4 * u + ag.exp(u))


def blocks(x: Any) -> Any:
    x = ag.reshape(x, (-1, 3))
    return ag.ravel(x * ag.sum(x * x, axis=1, keepdims=True))


def arrow(x: Any) -> Any:
    return (x[0] * x[1:] ** 2).sum() + x[0] ** 3


BAND = np.triu(np.tril(RNG.standard_normal((12, 12)), 1), -1)

JACOBIANS: dict[str, tuple[Callable[..., Any], int, int | None]] = {
    # name: the function, the size of x, the number of entries if every one is to be found
    "banded by a matrix": (lambda x: ag.sin(BAND @ x), 12, 34),
    "banded from the left": (lambda x: ag.sin(x @ BAND), 12, 34),
    "banded by slices": (lambda x: x[2:] * x[1:-1] - x[:-2], 12, 30),
    "arrow": (lambda x: ag.concat((ag.sum(x)[None], x[1:] * x[0])), 8, 22),
    "block diagonal": (blocks, 12, 36),
    "laplacian": (laplacian, 16, 64),
    "tall": (lambda x: ag.concat((x, x**2, ag.exp(x))), 5, 15),
    "wide": (lambda x: ag.sum(ag.reshape(x, (3, 4)), axis=1), 12, 12),
    "one output": (lambda x: ag.prod(x), 5, 5),
    "0-d input and output": (lambda x: ag.sin(x[0]), 1, 1),
    "repeated indices": (lambda x: x[np.array([0, 0, 2, 0])] * x[np.array([1, 0, 0, 3])], 4, 7),
    "take along an axis": (
        lambda x: ag.take_along_axis(ag.reshape(x, (2, 3)), np.array([[2, 2], [0, 1]]), axis=1),
        6,
        4,
    ),
    "boolean mask": (lambda x: x[np.array([True, False, True])] ** 2, 3, 2),
    "triangle": (lambda x: ag.tril(ag.reshape(x, (3, 3))), 9, 6),
    "repeat, tile, flip, roll": (
        lambda x: ag.tile(ag.repeat(x, 2), 2) + ag.flip(ag.roll(ag.tile(x, 4), 1)),
        3,
        18,
    ),
    "constant where": (lambda x: ag.where(np.arange(6) < 2, x, x[::-1]), 6, 6),
    "mask in a product": (lambda x: x * (np.arange(6) % 2), 6, 3),
    "running sum": (lambda x: ag.cumulative_sum(x**2), 5, 15),
    "running sum along an axis": (
        lambda x: ag.cumulative_sum(ag.reshape(x, (2, 3)), axis=0),
        6,
        9,
    ),
    "batched matmul": (
        lambda x: ag.matmul(ag.reshape(x, (2, 2, 3)), np.array([[1.0, 0], [0, 1], [2, 0]])),
        12,
        12,
    ),
    "matmul of two": (
        lambda x: ag.matmul(ag.reshape(x[:6], (2, 3)), ag.reshape(x[6:], (3, 1))),
        9,
        12,
    ),
    "einsum": (lambda x: ag.einsum("ij,ij->i", ag.reshape(x, (3, 2)), np.ones((3, 2))), 6, 6),
    "by python's loop": (lambda x: ag.stack([x[i] * x[i + 1] for i in range(4)]), 5, 8),
    "constant": (lambda x: ag.asarray(np.ones(3)), 4, 0),
    "steps": (lambda x: ag.floor(x) + ag.sign(x) + ag.round(x), 4, 0),
    "detached by comparison": (lambda x: ag.where(x > 0, 1.0, 2.0), 4, 0),
    "softmax": (lambda x: ag.exp(x) / ag.sum(ag.exp(x)), 4, 16),
    "where": (lambda x: ag.where(x > 0, x, x[::-1]), 6, None),
    "maximum": (lambda x: ag.maximum(x[1:], x[:-1]), 6, None),
    "max along an axis": (lambda x: ag.max(ag.reshape(x, (2, 3)), axis=1), 6, None),
    "sort": (lambda x: ag.sort(ag.reshape(x, (2, 3)), axis=1), 6, None),
    "index that depends on x": (lambda x: x[ag.argsort(x)], 5, None),
    "largest element": (lambda x: x[ag.argmax(x)] * x, 5, None),
    "no elements": (lambda x: x[:0], 3, 0),
}


@crossed(name=JACOBIANS, way=["jacobian", "jacrev", "jacfwd"])
def test_jacobians(name: str, way: str) -> None:
    function, size, entries = JACOBIANS[name]
    x = RNG.standard_normal(size)
    dense = dense_jacobian(function, x)
    found = getattr(ag.func, way)(function, sparse=True)(x)
    assert isinstance(found, scipy.sparse.csr_array)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12, atol=1e-15)
    if entries is not None:
        assert found.nnz == entries


@pytest.mark.parametrize("name", JACOBIANS)
def test_pattern_holds_at_other_points(name: str) -> None:
    function, size, _ = JACOBIANS[name]
    # At the point where it is found, everything that can happen to be zero is, and all is tied.
    pattern = ag.func.sparsity(function, np.zeros(size)).toarray()
    for _ in range(3):
        dense = dense_jacobian(function, RNG.standard_normal(size))
        if dense.shape == pattern.shape:
            assert not np.any(dense[~pattern])


def test_a_constant_factor_cuts_off_where_it_is_zero_only() -> None:
    factor = np.array([2.0, 0.0, -3.0, np.nan])
    for function in (lambda x: x * factor, lambda x: factor * x):
        assert spread(ag.func.sparsity(function, np.ones(4))) == {(0, 0), (2, 2), (3, 3)}


def test_a_value_of_zero_is_no_structure() -> None:
    x = np.zeros(3)
    assert spread(ag.func.sparsity(lambda x: x**2 * x[::-1], x)) == {
        (0, 0),
        (0, 2),
        (1, 1),
        (2, 0),
        (2, 2),
    }
    assert ag.func.sparsity(lambda x: ag.prod(x), x).nnz == 3
    assert ag.func.sparsity(lambda x: (x**3).sum(), x, kind="hessian").nnz == 3
    assert ag.func.jacobian(lambda x: x**2, sparse=True)(x).nnz == 3


def test_choices_depend_on_all_that_they_choose_from() -> None:
    x = np.array([3.0, 1.0, 2.0])
    everything = {(i, j) for i in range(3) for j in range(3)}
    assert spread(ag.func.sparsity(ag.sort, x)) == everything
    assert spread(ag.func.sparsity(lambda x: x[ag.argsort(x)], x)) == everything
    assert spread(ag.func.sparsity(lambda x: ag.take(x, ag.argsort(x)), x)) == everything
    assert ag.func.sparsity(lambda x: x[ag.argmax(x)], x).nnz == 3
    assert ag.func.sparsity(lambda x: ag.max(x), x).nnz == 3
    assert ag.func.sparsity(lambda x: ag.where(x > 2, x, 0.0), x).nnz == 3


def test_python_control_flow_is_followed_at_the_point() -> None:
    def function(x: Any) -> Any:
        return x[:2] * 2 if x[0] > 0 and float(x[1]) > 0 and int(x[2]) == 7 else x[1:]

    assert spread(ag.func.sparsity(function, np.array([1.0, 1.0, 7.0]))) == {(0, 0), (1, 1)}
    assert spread(ag.func.sparsity(function, np.array([-1.0, 1.0, 7.0]))) == {(0, 1), (1, 2)}


def test_dense_intermediates_stay_small() -> None:
    x = np.linspace(0, 1, 20_000)

    def spread_of(x: Any) -> Any:
        centred = (x - ag.mean(x)) / ag.std(x)
        return ag.sum(ag.exp(centred - ag.max(centred)))

    assert ag.func.sparsity(spread_of, x).nnz == 20_000


def test_unknown_ops_depend_on_everything() -> None:
    @ag.func.custom(vjp=lambda g, x: g * x, jvp=lambda t, x: t * x)
    def halves(x: Any) -> Any:
        return x * x / 2

    assert ag.func.sparsity(halves, np.ones(3)).nnz == 9
    found = ag.func.jacobian(halves, sparse=True)(np.arange(3.0)).toarray()
    np.testing.assert_array_equal(found, np.diag(np.arange(3.0)))


def test_the_derivative_says_what_a_custom_op_depends_on() -> None:
    @ag.func.custom(vjp=lambda g: g, jvp=lambda t: t, batch="elementwise")
    def straight_through(x: Any) -> Any:
        return np.round(x)

    x = np.array([0.2, 1.7])
    assert spread(ag.func.sparsity(straight_through, x)) == {(0, 0), (1, 1)}
    found = ag.func.jacobian(straight_through, sparse=True)(x).toarray()
    np.testing.assert_array_equal(found, np.eye(2))


def test_a_custom_op_is_elementwise_only_if_it_says_so() -> None:
    @ag.func.custom(
        vjp=lambda g, x: g - ag.mean(g, axis=-1, keepdims=True),
        jvp=lambda t, x: t - ag.mean(t, axis=-1, keepdims=True),
        batch="plain",
    )
    def centred(x: Any) -> Any:
        return x - x.mean(axis=-1, keepdims=True)

    @ag.func.custom(
        vjp=lambda g, x: g * ag.cos(x), jvp=lambda t, x: t * ag.cos(x), batch="elementwise"
    )
    def sine(x: Any) -> Any:
        return np.sin(x)

    x = np.zeros(3)
    assert ag.func.sparsity(centred, x).nnz == 9
    assert ag.func.sparsity(sine, x).nnz == 3
    for function in (centred, sine):
        found = ag.func.jacobian(function, sparse=True)(x).toarray()
        np.testing.assert_allclose(found, dense_jacobian(function, x))


# As `contract`, which only Dask's arrays need.
product_by_labels = declare(
    "product_by_labels",
    "x",
    "y",
    kind=Contracts(labels=("left", "right", "to")),
    compute=lambda xp, x, y, left, right, to: np.einsum(f"{left},{right}->{to}", x, y),
    vjp_x=lambda g, y, left, right, to: product_by_labels(g, y, left=to, right=right, to=left),
    vjp_y=lambda g, x, left, right, to: product_by_labels(g, x, left=to, right=left, to=right),
)


@pytest.mark.parametrize("labels", ["ij,jk->ik", "bij,bjk->bik", "ijk,kj->i", "i,j->ji", "ij,->j"])
@pytest.mark.parametrize("holes", [0.0, 0.6, 1.0])
def test_products_by_labels(labels: str, holes: float) -> None:
    sides, to = labels.split("->")
    left, right = sides.split(",")
    sizes = dict(zip("bijk", (2, 3, 4, 2), strict=True))
    x, y = (RNG.standard_normal([sizes[c] for c in side]) for side in (left, right))
    some_x, some_y = (np.where(RNG.random(z.shape) < holes, 0, z) for z in (x, y))
    product = functools.partial(product_by_labels, left=left, right=right, to=to)
    cases: list[tuple[Callable[..., Any], Any]] = [
        (lambda x: product(x, some_y), (x,)),
        (lambda y: product(some_x, y), (y,)),
        (product, (x, y)),
    ]
    for function, args in cases:
        pattern = ag.func.sparsity(function, *args, argnums=tuple(range(len(args))))
        np.testing.assert_array_equal(pattern.toarray(), dense_jacobian(function, *args) != 0)


def test_batches_of_products_broadcast() -> None:
    x, y = RNG.standard_normal((3, 1, 2, 2)), RNG.standard_normal((4, 2, 1))
    y[1] = 0
    for function, z in (
        (lambda x: ag.matmul(x, y), x),
        (lambda y: ag.matmul(x * (x > 0), y), y),
        (lambda z: ag.matmul(np.array([0.0, 1]), z), x),
        (lambda z: ag.matmul(z, np.array([0.0, 1])), x),
    ):
        pattern = ag.func.sparsity(function, z)
        np.testing.assert_array_equal(pattern.toarray(), dense_jacobian(function, z) != 0)


def test_elements_that_are_added_up() -> None:
    of_lines = _add_along_axis.op  # type: ignore[attr-defined]
    added_along_axis = declare(
        "added_along_axis",
        "x",
        "indices",
        kind=of_lines.kind,
        compute=lambda xp, x, indices, axis, shape: np.zeros(shape),
        vjp_x=of_lines.rules["x"],
        replace=True,
    )
    x, indices = RNG.standard_normal((2, 3)), np.array([[1, 1, 3], [0, 2, 0]])
    found = ag.func.sparsity(lambda x: added_along_axis(x, indices, axis=1, shape=(2, 4)), x)
    assert spread(found) == {(1, 0), (1, 1), (3, 2), (4, 3), (6, 4), (4, 5)}
    depends = ag.func.sparsity(
        lambda x: added_along_axis(x, ag.argsort(x, axis=1), axis=1, shape=(2, 4)), x
    )
    assert depends.nnz == 8 * 3
    # One line, which is added in two places.
    twice = ag.func.sparsity(
        lambda x: _index_add(x, indices, template=(0, HOLE), shape=(1, 4)), x[0]
    )
    assert spread(twice) == {(1, 0), (1, 1), (3, 2), (0, 0), (2, 1), (0, 2)}


def test_batches_of_matrices_broadcast() -> None:
    one, two = RNG.standard_normal((3, 3)), RNG.standard_normal((2, 3, 3))
    for function in (lambda z: _cofactors_along(z, two), lambda z: _cofactors_along(two, z)):
        for z in (one, two):
            pattern = ag.func.sparsity(function, z)
            assert pattern.nnz == 18 * 9
            assert not np.any(dense_jacobian(function, z)[~pattern.toarray()])


def test_indices_that_depend_on_the_input() -> None:
    x = RNG.standard_normal((2, 3))
    for shape in ((), (2,), (2, 2)):

        def taken(x: Any, shape: Any = shape) -> Any:
            order = ag.astype(ag.floor(ag.sum(x) * 0 + np.zeros(shape)), np.int64)
            return ag.take(x, order, axis=0)

        found = ag.func.sparsity(taken, x)
        assert found.nnz == 2 * found.shape[0]  # not the other columns
    mask = ag.func.sparsity(lambda x: x[x > 0], x)
    assert mask.nnz == mask.shape[0] * 6


def test_numbers_that_are_zero() -> None:
    x = RNG.standard_normal(3)
    assert ag.func.sparsity(lambda x: 0 * x, x).nnz == 0
    assert ag.func.sparsity(lambda x: x * 0.0, x).nnz == 0
    assert ag.func.sparsity(lambda x: ag.where(np.array([1.0, 0, 2]), x, x[::-1]), x).nnz == 3


def test_what_a_batch_around_holds_is_not_known() -> None:
    x = np.ones(4)

    def check(row: Any, indices: Any) -> Any:
        assert ag.func.sparsity(lambda x: x * row, x).nnz == 4
        assert ag.func.sparsity(lambda x: ag.where(row > 0, x, x[::-1]), x).nnz == 8
        assert ag.func.sparsity(lambda x: ag.sum(x * row), x).nnz == 4
        assert ag.func.sparsity(lambda x: ag.matmul(x, row), x).nnz == 4
        assert ag.func.sparsity(lambda x: x[indices], x).nnz == 12
        assert ag.func.sparsity(lambda x: ag.concat([x, row]), x).nnz == 4
        return row

    ag.func.vmap(check)(np.eye(2, 4), np.array([[0, 1, 2], [1, 1, 1]]))


def test_the_kind_of_an_op_says_what_it_depends_on() -> None:
    options = {"vjp_x": lambda g: g, "vjp_y": lambda g: g, "replace": True}
    x, y = np.ones((2, 1, 2, 3)), np.ones((3, 2, 3))

    def entries(kind: Any, compute: Any, **keywords: Any) -> list[int]:
        function = declare("of_some_kind", "x", "y", kind=kind, compute=compute, **options)
        pattern = ag.func.sparsity(lambda x, y: function(x, y, **keywords), x, y, argnums=(0, 1))
        return [pattern[:, : x.size].nnz, pattern[:, x.size :].nnz]

    size = 2 * 3 * 2 * 3
    assert entries(Elementwise(), lambda xp, x, y: x + y) == [size, size]
    assert entries(Elementwise(flat=("y",)), lambda xp, x, y: x + y) == [size, 0]
    assert entries(Elementwise(flat="real"), lambda xp, x, y: x + y) == [0, 0]
    line = AlongAxis(), lambda xp, x, y, axis: x + y
    assert entries(*line, axis=2) == [2 * size, 2 * size]
    assert entries(*line, axis=(2, 3)) == [6 * size, 6 * size]
    running = AlongAxis(running=True), lambda xp, x, y, axis: x + y
    assert entries(*running, axis=3) == [2 * size, 2 * size]
    matrices = Matrices(shapes=lambda x, y: (x,)), lambda xp, x, y: x + y
    assert entries(*matrices) == [6 * size, 6 * size]
    assert entries(Opaque(leading=True), lambda xp, x, y: x + y) == [12 * size, 18 * size]


def test_writing_to_parts_of_complex_numbers() -> None:
    def real_parts(x: Any) -> Any:
        z = x * (1 + 1j)
        z.real[:] = x[::-1]
        return (z.real * z.imag).sum()

    def one_imaginary_part(x: Any) -> Any:
        z = x * (1 + 1j)
        z.imag[0] = x[1]
        return (z.imag**2 * z.real).sum()

    x = RNG.standard_normal(3)
    for function, entries in ((real_parts, 5), (one_imaginary_part, 5)):
        found = ag.func.hessian(function, sparse=True)(x)
        np.testing.assert_allclose(found.toarray(), ag.func.hessian(function)(x), atol=1e-14)
        assert found.nnz == entries


def test_writing_in_place() -> None:
    def energy(x: Any) -> Any:
        y = ag.sin(x)
        y[0] = x[1] ** 2
        y[1:3] *= x[2]
        return (y**2).sum()

    x = RNG.standard_normal(4)
    dense = dense_jacobian(ag.func.grad(energy), x)
    found = ag.func.hessian(energy, sparse=True)(x)
    np.testing.assert_allclose(found.toarray(), dense, atol=1e-14)
    assert found.nnz <= 6


def test_function_classes_depend_on_everything() -> None:
    class Twice(ag.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return 2 * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g

    x = np.ones(3)
    assert ag.func.sparsity(Twice.apply, x).nnz == 9
    found = ag.func.jacobian(lambda x: Twice.apply(x)[:2], sparse=True)(x)
    np.testing.assert_array_equal(found.toarray(), 2 * np.eye(3)[:2])
    energy = ag.func.hessian(lambda x: (Twice.apply(x) ** 2).sum(), sparse=True)(x)
    np.testing.assert_array_equal(energy.toarray(), 8 * np.eye(3))


def test_transforms_inside_the_function() -> None:
    def function(x: Any) -> Any:
        each = ag.func.vmap(ag.func.grad(lambda row: (row[0] * row[1] ** 2).sum()))
        return each(ag.reshape(x, (3, 2)))

    x = RNG.standard_normal(6)
    assert ag.func.sparsity(function, x).nnz == 9
    found = ag.func.jacobian(function, sparse=True)(x)
    np.testing.assert_allclose(found.toarray(), dense_jacobian(function, x))


# --- Hessians ------------------------------------------------------------------------------------

HESSIANS: dict[str, tuple[Callable[..., Any], int, int | None]] = {
    # name: the function, the size of x, the number of entries
    "rosenbrock": (rosenbrock, 9, 25),
    "arrow": (arrow, 7, 19),
    "block diagonal": (lambda x: (ag.sum(ag.reshape(x, (4, 3)), axis=1) ** 3).sum(), 12, 36),
    "laplacian": (lambda x: (laplacian(x) ** 2).sum(), 25, None),
    "quadratic form": (lambda x: x @ BAND @ x, 12, 34),
    "dense": (lambda x: ag.log(ag.sum(ag.exp(x))), 5, 25),
    "part of x only": (lambda x: (x**3)[:2].sum(), 5, 2),
    "linear": (lambda x: (3 * x).sum(), 4, 0),
    "constant": (lambda x: ag.asarray(1.0), 4, 0),
    "absolute values": (lambda x: ag.abs(x).sum() + (x[0] * x[1]), 4, 2),
    "where": (lambda x: ag.where(x > 0, x**3, 0.0).sum(), 4, 4),
    "maximum": (lambda x: (ag.maximum(x[1:], x[:-1]) ** 2).sum(), 5, None),
    "sort": (lambda x: (ag.sort(x)[:2] ** 2).sum(), 4, None),
    "running sum": (lambda x: (ag.cumulative_sum(x)[:2] ** 2).sum(), 5, 4),
    "repeated indices": (lambda x: (x[np.array([0, 0, 2])] * x[np.array([1, 0, 2])]).sum(), 4, 4),
    "product": (lambda x: ag.prod(x[:3]) + x[3], 4, None),
}


@pytest.mark.parametrize("name", HESSIANS)
def test_hessians(name: str) -> None:
    function, size, entries = HESSIANS[name]
    x = RNG.standard_normal(size)
    dense = dense_jacobian(ag.func.grad(function), x)
    found = ag.func.hessian(function, sparse=True)(x)
    assert isinstance(found, scipy.sparse.csr_array)
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12, atol=1e-13)
    pattern = ag.func.sparsity(function, np.zeros(size), kind="hessian").toarray()
    np.testing.assert_array_equal(pattern, pattern.T)
    assert not np.any(dense[~pattern])
    if entries is not None:
        assert found.nnz == entries


def random_patterns(size: int, density: float, symmetric: bool) -> Any:
    shape = (size, size + 3 * (not symmetric))
    matrix = scipy.sparse.coo_array(RNG.random(shape) * (RNG.random(shape) < density))
    return matrix + matrix.T if symmetric else matrix


@pytest.mark.parametrize("density", [0.0, 0.02, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("size", [1, 7, 40])
def test_random_quadratic_forms(size: int, density: float) -> None:
    matrix = random_patterns(size, density, symmetric=True).toarray()
    x = RNG.standard_normal(size)
    found = ag.func.hessian(lambda x: ag.sum(x * (matrix @ x)) / 2, sparse=True)(x)
    np.testing.assert_allclose(found.toarray(), matrix, rtol=1e-12, atol=1e-14)


# --- colours -------------------------------------------------------------------------------------


@pytest.mark.parametrize("density", [0.0, 0.02, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("size", [1, 7, 40])
def test_columns_of_a_colour_share_no_row(size: int, density: float) -> None:
    pattern = random_patterns(size, density, symmetric=False)
    colors = color_columns(pattern)
    dense = pattern.toarray() != 0
    assert np.array_equal(colors < 0, ~dense.any(axis=0))
    for color in range(colors.max() + 1):
        assert dense[:, colors == color].sum(axis=1).max() == 1


@pytest.mark.parametrize("density", [0.0, 0.02, 0.1, 0.4, 1.0])
@pytest.mark.parametrize(("full_rows", "full_columns"), [(0, 0), (1, 1), (3, 0), (0, 2), (2, 3)])
def test_rows_and_columns_together(density: float, full_rows: int, full_columns: int) -> None:
    dense = random_patterns(20, density, symmetric=False).toarray() != 0
    dense[RNG.integers(0, 20, full_rows)] = True
    dense[:, RNG.integers(0, 23, full_columns)] = True
    rows, columns, by_row = color_both(scipy.sparse.csr_array(dense))
    for (i, j), of_row in zip(np.argwhere(dense), by_row, strict=True):
        same, line = (rows == rows[i], dense[:, j]) if of_row else (columns == columns[j], dense[i])
        assert (rows[i] if of_row else columns[j]) >= 0
        assert np.count_nonzero(same & line) == 1
    matrix = RNG.standard_normal(dense.shape) * dense
    found = ag.func.jacobian(lambda x: matrix @ x, sparse=True)(np.zeros(23))
    np.testing.assert_allclose(found.toarray(), matrix, rtol=1e-12, atol=1e-14)


class Runs:
    """A function with a full row and a full column, that counts how it was run."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, ...]] = []

    def __call__(self, x: Any) -> Any:
        inside = x.tangent if hasattr(x, "tangent") else x
        self.seen.append(tuple(getattr(inside, "_array", inside).shape))
        top = ag.sum(x * x)[None]
        return ag.concat((top, x[0] * x[1:] + 1j * x[1:] ** 3))[1:], top


def test_a_full_row_and_a_full_column_cost_three_products() -> None:
    function, x = Runs(), RNG.standard_normal(500)
    found, aux = ag.func.jacobian(lambda x: (function(x), 7), has_aux=True, sparse=True)(x)
    assert aux == 7
    assert (2, 500) in function.seen  # the columns; the one row by a sweep
    np.testing.assert_allclose(found.toarray(), dense_jacobian(Runs(), x), rtol=1e-12, atol=1e-13)
    pattern = ag.func.sparsity(Runs(), x)
    known = ag.func.jacobian(Runs(), sparse=True, sparsity=pattern, chunk_size=1)(x)
    np.testing.assert_allclose(known.toarray(), found.toarray())


@pytest.mark.parametrize("density", [0.0, 0.02, 0.05, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("size", [1, 7, 20])
def test_star_colouring(size: int, density: float) -> None:
    for _ in range(5):
        pattern = random_patterns(size, density, symmetric=True)
        colors = color_symmetric(pattern)
        near = [set(np.flatnonzero(row)) - {i} for i, row in enumerate(pattern.toarray())]
        for v in range(size):
            for w in near[v]:
                assert colors[v] != colors[w]
                for x in near[w] - {v}:
                    for y in near[x] - {v, w}:
                        assert len({colors[v], colors[w], colors[x], colors[y]}) > 2


@pytest.mark.parametrize(
    ("function", "size", "most"),
    [(rosenbrock, 10_000, 3), (arrow, 10_000, 2), (lambda x: (x**4).sum(), 10_000, 1)],
    ids=["tridiagonal", "arrow", "diagonal"],
)
def test_large_hessians_need_few_products(function: Any, size: int, most: int) -> None:
    calls = 0

    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return function(x)

    x = RNG.standard_normal(size)
    pattern = ag.func.sparsity(function, x, kind="hessian")
    # One product at a time, so that each is a call.
    found = ag.func.hessian(counted, sparse=True, sparsity=pattern, chunk_size=1)(x)
    assert calls <= most
    v = RNG.standard_normal(size)
    np.testing.assert_allclose(found @ v, ag.func.hvp(function, (x,), (v,)), rtol=1e-9)


def test_jacobian_takes_the_way_with_fewer_products() -> None:
    x = np.ones(10_000)
    sums = ag.func.jacobian(lambda x: ag.concat((ag.sum(x)[None], x[1:3])), sparse=True)(x)
    assert sums.nnz == 10_002  # three rows, not ten thousand columns
    steps = ag.func.jacobian(lambda x: ag.concat((x * x[0], x**2)), sparse=True)(x)
    assert steps.nnz == 29_999  # three columns' colours at most, not ten thousand rows
    calls = 0

    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x[1:] * x[:-1]

    ag.func.jacobian(counted, sparse=True, chunk_size=1)(x)
    assert calls <= 3  # one for the pattern, one for each colour


# --- arguments and results -----------------------------------------------------------------------


def test_structures_are_flattened_in_order() -> None:
    def function(parameters: Any, scale: Any) -> Any:
        return {"first": parameters["a"] * scale, "second": [ag.sum(parameters["b"] ** 2, axis=1)]}

    parameters = {"a": RNG.standard_normal(3), "b": RNG.standard_normal((2, 2))}
    scale = np.array(2.0)
    found = ag.func.jacobian(function, (0, 1), sparse=True)(parameters, scale)
    np.testing.assert_allclose(found.toarray(), dense_jacobian(function, parameters, scale))
    assert found.nnz == 6 + 4
    only = ag.func.jacobian(function, 0, sparse=True)(parameters, scale)
    np.testing.assert_allclose(only.toarray(), found.toarray()[:, :7])


def test_hessian_of_several_arguments() -> None:
    def function(x: Any, y: Any) -> Any:
        return (x * y**2).sum() + x[0] ** 3

    x, y = RNG.standard_normal(3), RNG.standard_normal(3)
    dense = dense_jacobian(ag.func.grad(function, (0, 1)), x, y)
    found = ag.func.hessian(function, (0, 1), sparse=True)(x, y)
    np.testing.assert_allclose(found.toarray(), dense, atol=1e-15)
    assert found.nnz == ag.func.sparsity(function, x, y, argnums=(0, 1), kind="hessian").nnz == 10


def test_aux_and_keywords() -> None:
    def function(x: Any, *, power: int) -> Any:
        return x**power, {"sum": ag.sum(x)}

    x = np.array([1.0, 2.0])
    for way in ("jacobian", "jacrev", "jacfwd"):
        found, aux = getattr(ag.func, way)(function, has_aux=True, sparse=True)(x, power=3)
        np.testing.assert_array_equal(found.toarray(), np.diag(3 * x**2))
        assert float(aux["sum"]) == 3
        assert not isinstance(aux["sum"], ag.Tensor)
    twice = ag.func.hessian(lambda x: (ag.sum(x**3), "aux"), has_aux=True, sparse=True)(x)
    np.testing.assert_array_equal(twice[0].toarray(), np.diag(6 * x))
    assert twice[1] == "aux"


@pytest.mark.parametrize("chunk_size", [1, 2, 100])
def test_chunks(chunk_size: int) -> None:
    x = RNG.standard_normal(16)
    dense = dense_jacobian(laplacian, x)
    for way in ("jacobian", "jacrev"):
        found = getattr(ag.func, way)(laplacian, sparse=True, chunk_size=chunk_size)(x)
        np.testing.assert_allclose(found.toarray(), dense, rtol=1e-12)


def test_a_known_pattern_is_used() -> None:
    calls = 0

    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x[1:] * x[:-1]

    x = RNG.standard_normal(6)
    pattern = ag.func.sparsity(counted, x)
    jacobian = ag.func.jacobian(counted, sparse=True, sparsity=pattern)
    calls = 0
    first = jacobian(x)
    assert calls == 1
    first.data[:] = 0  # the result is the caller's own
    first.indices[:] = 0
    np.testing.assert_allclose(jacobian(2 * x).toarray(), dense_jacobian(counted, 2 * x))
    wider = ag.func.jacobian(counted, sparse=True, sparsity=np.ones((5, 6)))(x)
    np.testing.assert_allclose(wider.toarray(), dense_jacobian(counted, x))


def test_a_known_pattern_of_a_hessian_may_be_one_triangle() -> None:
    x = RNG.standard_normal(8)
    pattern = scipy.sparse.triu(ag.func.sparsity(rosenbrock, x, kind="hessian"))
    found = ag.func.hessian(rosenbrock, sparse=True, sparsity=pattern)(x)
    np.testing.assert_allclose(found.toarray(), dense_jacobian(ag.func.grad(rosenbrock), x))


def test_tensors_and_numbers() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    scale = ag.tensor(3.0, requires_grad=True)
    for way in ("jacobian", "jacrev", "jacfwd"):
        found = getattr(ag.func, way)(lambda x: scale * x**2, sparse=True)(x)
        np.testing.assert_array_equal(found.toarray(), np.diag([6.0, 12.0]))
    assert ag.func.jacobian(ag.sin, sparse=True)(0.0).toarray().tolist() == [[1.0]]


def test_dtype_is_that_of_the_derivative() -> None:
    x = np.ones(3, np.float32)
    assert ag.func.jacobian(ag.sin, sparse=True)(x).dtype == np.float32
    assert ag.func.hessian(lambda x: ag.sum(x**3), sparse=True)(x).dtype == np.float32
    assert ag.func.jacobian(lambda x: ag.floor(x), sparse=True)(x).dtype == np.float32


def test_complex_numbers() -> None:
    x = RNG.standard_normal(4)
    z = x + 1j * x[::-1]

    def of_real(x: Any) -> Any:
        return (x[1:] * x[:-1]) * (2 + 1j), x**2

    for way in ("jacobian", "jacrev", "jacfwd"):
        found = getattr(ag.func, way)(of_real, sparse=True)(x)
        np.testing.assert_allclose(found.toarray(), dense_jacobian(of_real, x))
        holomorphic = getattr(ag.func, way)(lambda z: z**2, sparse=True, holomorphic=True)(z)
        np.testing.assert_allclose(holomorphic.toarray(), np.diag(2 * z))
    with pytest.raises(ValueError, match="holomorphic"):
        ag.func.jacobian(lambda z: z**2, sparse=True)(z)


def test_other_libraries() -> None:
    strict = pytest.importorskip("array_api_strict")
    x = RNG.standard_normal(9)
    indices = strict.asarray([0, 0, 2])

    def function(x: Any) -> Any:
        grid = ag.reshape(x, (3, 3))
        return ag.take(ag.tril(grid) ** 2, indices, axis=0) + ag.sum(grid, axis=1)

    found = ag.func.jacobian(function, sparse=True)(strict.asarray(x))
    other = ag.func.jacobian(
        lambda x: (
            ag.take(ag.tril(ag.reshape(x, (3, 3))) ** 2, np.array([0, 0, 2]), axis=0)
            + ag.sum(ag.reshape(x, (3, 3)), axis=1)
        ),
        sparse=True,
    )(x)
    np.testing.assert_allclose(found.toarray(), other.toarray())
    assert found.nnz == other.nnz


# --- mistakes ------------------------------------------------------------------------------------


def test_mistakes_are_named() -> None:
    x = np.ones(3)
    with pytest.raises(ValueError, match=r"kind must be .* not 'gradient'"):
        ag.func.sparsity(ag.sin, x, kind="gradient")
    with pytest.raises(ValueError, match="pass sparse=True as well"):
        ag.func.jacobian(ag.sin, sparsity=np.eye(3))
    with pytest.raises(ValueError, match="sparsity has 4 columns"):
        ag.func.jacobian(ag.sin, sparse=True, sparsity=np.ones((3, 4)))(x)
    for way in ("jacrev", "jacfwd"):
        with pytest.raises(ValueError, match="sparsity has 4 rows"):
            getattr(ag.func, way)(ag.sin, sparse=True, sparsity=np.ones((4, 3)))(x)
    with pytest.raises(ValueError, match="must be square"):
        ag.func.hessian(rosenbrock, sparse=True, sparsity=np.ones((3, 4)))
    with pytest.raises(ValueError, match="matrix"):
        ag.func.jacobian(ag.sin, sparse=True, sparsity=np.ones(3))
    with pytest.raises(ValueError, match="no arrays"):
        ag.func.jacobian(lambda x: [], sparse=True)(x)
    with pytest.raises(ValueError, match="chunk_size"):
        ag.func.jacobian(ag.sin, sparse=True, chunk_size=0)
    with pytest.raises(TypeError):
        ag.func.sparsity(ag.sin, np.arange(3))


def test_no_sparse_results_inside_other_transforms() -> None:
    x = np.ones((2, 3))
    jacobian = ag.func.jacobian(lambda x: x**2, sparse=True)
    with pytest.raises(TypeError, match="SciPy array"):
        ag.func.vmap(lambda row: jacobian(row))(x)
    with pytest.raises(TypeError, match="SciPy array"):
        ag.func.vmap(lambda row: jacobian(x[0] * row))(x)
    outer = ag.func.vmap(lambda row: ag.func.jacobian(lambda x: x * row, sparse=True)(x[0]))
    with pytest.raises(TypeError, match="SciPy array"):
        outer(x)


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    real = importlib.import_module

    def missing(name: str, package: str | None = None) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r"arraygrad\[scipy\]"):
        ag.func.sparsity(ag.sin, np.ones(2))
    assert len(ag.func.jacobian(ag.sin)(np.ones(2))) == 2
