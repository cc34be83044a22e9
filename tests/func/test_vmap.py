"""`vmap`: axes, structures, chunks, mistakes, and every op of the table against a loop."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from samples import Sample, choices_of

import arraygrad as ag
from arraygrad.func import grad, jvp, vmap
from arraygrad.ops.contractions import _matmul_x, _matmul_y
from arraygrad.ops.define import Contracts, declare
from arraygrad.testing import assert_close

A = np.arange(6.0).reshape(2, 3) + 1


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


# --- contractions whose labels a function gives --------------------------------------------------


def users(name: str, labels: Any, compute: Any, vjp_x: Any, vjp_y: Any) -> Any:
    return declare(
        name,
        "x",
        "y",
        kind=Contracts(labels=labels),
        compute=compute,
        vjp_x=vjp_x,
        vjp_y=vjp_y,
        replace=True,
    )


MATMUL = users(
    "users_matmul", ag.matmul.op.kind.labels, lambda xp, x, y: xp.matmul(x, y), _matmul_x, _matmul_y
)
ALL_PRODUCTS = users(
    "users_products",
    lambda m, n: ("ik", "jk", "ij"),
    lambda xp, x, y: x @ y.T,
    lambda g, y: g @ y,
    lambda g, x: g.T @ x,
)
PAIRS = users(  # with at most one batch axis, and this in both
    "users_pairs",
    lambda m, n: {(1, 1): ("k", "k", ""), (2, 2): ("bk", "bk", "b")}[m, n],
    lambda xp, x, y: xp.sum(x * y, axis=-1),
    lambda g, y: g[..., None] * y,
    lambda g, x: g[..., None] * x,
)
CONTRACTIONS: list[tuple[Any, Any, Any]] = [
    (MATMUL, (3,), (3,)),
    (MATMUL, (2, 3), (3,)),
    (MATMUL, (3,), (3, 4)),
    (MATMUL, (2, 3), (3, 4)),
    (MATMUL, (5, 2, 3), (3, 4)),
    (MATMUL, (2, 3), (5, 3, 4)),
    (MATMUL, (1, 2, 3), (5, 3, 4)),
    (MATMUL, (6, 1, 2, 3), (5, 3, 4)),
    (MATMUL, (0, 3), (3, 4)),
    (ALL_PRODUCTS, (2, 3), (4, 3)),
    (PAIRS, (3,), (3,)),
]


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize(("op", "left", "right"), CONTRACTIONS)
def test_contractions_by_labels(op: Any, left: Any, right: Any, axes: Any) -> None:
    rng = np.random.default_rng(0)
    shapes = [(7,) * (axis == 0) + s for s, axis in zip((left, right), axes, strict=True)]
    x, y = (rng.normal(size=shape) for shape in shapes)
    members = [(x[i] if axes[0] == 0 else x, y[i] if axes[1] == 0 else y) for i in range(7)]
    # No labels say how a batch of both could be one call for `all_products`.
    looped = op is ALL_PRODUCTS and axes == (0, 0)
    with pytest.warns(UserWarning, match="no batching rule") if looped else nullcontext():
        found = vmap(op, axes, warn_fallback=True)(x, y)
    close(found, np.stack([op(*member) for member in members]))

    def loss(x: Any, y: Any) -> Any:
        return (vmap(op, axes)(x, y) ** 2).sum()

    def by_loop(x: Any, y: Any) -> Any:
        return sum(
            (op(x[i] if axes[0] == 0 else x, y[i] if axes[1] == 0 else y) ** 2).sum()
            for i in range(7)
        )

    for k in (0, 1):
        close(grad(loss, k)(x, y), grad(by_loop, k)(x, y))
    close(jvp(loss, (x, y), (x, y))[1], jvp(by_loop, (x, y), (x, y))[1])


# --- axes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("in_axes", "expected"), [(0, [6, 15]), (1, [5, 7, 9]), (-1, [5, 7, 9])])
def test_in_axes(in_axes: int, expected: list[float]) -> None:
    assert vmap(lambda x: x.sum(), in_axes)(A).tolist() == expected


@pytest.mark.parametrize("in_axes", [(0, None), [0, None], (np.int64(0), None)])
def test_none_passes_an_argument_whole(in_axes: Any) -> None:
    close(vmap(lambda x, y: x * y, in_axes)(A, 2.0), 2 * A)
    close(vmap(lambda x, y: x @ y, in_axes)(A, A.T), A @ A.T)


@pytest.mark.parametrize("out_axes", [0, 1, 2, -1, -2, -3])
def test_out_axes(out_axes: int) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    found = vmap(lambda m: m * 2, in_axes=1, out_axes=out_axes)(x)
    close(found, np.moveaxis(2 * x, 1, out_axes))


def test_axes_of_structures() -> None:
    def f(p: Any, q: Any) -> Any:
        return {"sum": p["a"] + p["b"][0], "q": (q, p["b"][1])}

    p = {"a": A, "b": [A.T, np.float64(7)]}
    axes = ({"a": 0, "b": [1, None]}, None)
    found = vmap(f, axes, {"sum": 1, "q": (None, None)})(p, "whole")
    close(found["sum"], (2 * A).T)
    assert found["q"] == ("whole", 7)
    # One entry may stand for a whole structure.
    found = vmap(lambda p, x: p["a"].sum() + p["b"].sum() + x, (1, 0))({"a": A, "b": A}, np.ones(3))
    close(found, 2 * A.sum(0) + 1)
    found = vmap(lambda x: (x, {"y": x * 2}), out_axes=(0, -1))(A)
    close(found[1]["y"], 2 * A.T)


def test_keywords_are_mapped_over_their_first_axis() -> None:
    close(vmap(lambda x, *, k: x * k)(A, k=np.array([1.0, 10.0])), A * [[1], [10]])


def test_results_that_do_not_depend_on_the_example() -> None:
    a, _, c = vmap(lambda x: (3.0, x, np.ones(2)), out_axes=(None, 0, 1))(A)
    assert a == 3.0
    assert c.shape == (2, 2)
    repeated = vmap(lambda x: 3.0)(A)
    assert repeated.tolist() == [3, 3]
    repeated[0] = 1  # the caller's own
    assert vmap(lambda x: None)(A) is None


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 5, 7, 100])
def test_chunks(chunk_size: int) -> None:
    x, seen = np.arange(35.0).reshape(7, 5), []

    def f(x: Any, y: Any) -> Any:
        seen.append(x._array.shape[0])
        return x * y, x.sum(), "same"

    a, b, c = vmap(f, (0, None), (1, 0, None), chunk_size=chunk_size)(x, np.arange(5.0))
    close(a, (x * np.arange(5)).T)
    close(b, x.sum(1))
    assert c == "same"
    assert seen == [min(chunk_size, 7 - k) for k in range(0, 7, chunk_size)]


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_a_batch_of_nothing(chunk_size: int | None) -> None:
    found = vmap(lambda x: (x.sum(), x * 2, 1.0), chunk_size=chunk_size)(np.zeros((0, 3)))
    assert [f.shape for f in found] == [(0,), (0, 3), (0,)]
    found = vmap(grad(lambda x: ag.sin(x).sum()))(np.zeros((0, 3)))
    assert found.shape == (0, 3)


def test_nested_with_mixed_axes() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    y = np.arange(20.0).reshape(4, 5)
    # for x over axis 2 (4), for y over axis 0 (4); inside, x over axis 1 (3) and y whole
    inner = vmap(lambda u, v: u[:, None] * v, in_axes=(1, None), out_axes=1)
    found = vmap(inner, in_axes=(2, 0), out_axes=-1)(x, y)
    close(found, np.einsum("abc,cd->abdc", x, y))


def test_tensors_in_tensors_out() -> None:
    assert isinstance(vmap(lambda x: x * 2)(ag.tensor(A)), ag.Tensor)
    x = ag.tensor(A, requires_grad=True)
    found = vmap(lambda x: (x**3).sum(), in_axes=1)(x)
    close(ag.grad(found.sum(), x), 3 * A**2)


# --- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: vmap(lambda x: x, 2)(A), IndexError, r"axis 2 of argument 0, .* \(2, 3\)"),
        (lambda: vmap(lambda x: x, 0, 2)(A), IndexError, "out_axes puts .* result 0 at 2"),
        (lambda: vmap(lambda x: x, 0, None)(A), ValueError, "out_axes is None for result 0"),
        (lambda: vmap(lambda x: x, None)(A), ValueError, "nothing to map over"),
        (lambda: vmap(lambda x, y: x)(A, A.T), ValueError, "2 in argument 0, 3 in argument 1"),
        (lambda: vmap(lambda x, y: x)(A, 1.0), ValueError, "argument 1, which is of type float"),
        (lambda: vmap(lambda x: x)(np.float64(1)), ValueError, "argument 0, which is a 0-d array"),
        (lambda: vmap(lambda x, k: x)(A, k=[1.0]), ValueError, r"argument 'k'\[0\]"),
        (lambda: vmap(lambda x: x, True)(A), TypeError, "in_axes must consist of integers"),
        (lambda: vmap(lambda x: x, 1.0)(A), TypeError, "in_axes must consist of integers"),
        (lambda: vmap(lambda x: x, (0,))(A, A), ValueError, "in_axes must have the structure"),
        (lambda: vmap(lambda x: x, 0, (0, 0))(A), ValueError, "out_axes must have the structure"),
        (lambda: vmap(lambda x: "s")(A), TypeError, "result 0 is of type str"),
        (lambda: vmap(lambda x: x, chunk_size=0), ValueError, "chunk_size must be at least 1"),
        (lambda: vmap(3), TypeError, "takes a function"),
    ],
)
def test_mistakes(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x if x.sum() > 0 else -x, "use where"),
        (lambda x: float(x.sum()), "one for each member of the batch"),
        (lambda x: int(x.sum()), "one for each member of the batch"),
        (lambda x: x.sum().item(), "one for each member of the batch"),
        (lambda x: np.asarray(x), "cannot become a NumPy array"),
        (lambda x: x.requires_grad_(), "make a leaf over it"),
        (lambda x: ag.grad(x.sum(), x), "outputs is a Batched array"),
    ],
)
def test_what_cannot_be_done_to_a_batch_says_so(function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        vmap(function)(A)


def test_masks_that_differ_are_refused() -> None:
    with pytest.raises(IndexError, match="where"):
        vmap(lambda x: x[x > 2])(A)


# --- the whole table -----------------------------------------------------------------------------

SIZE = 2


def as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def places(ndim: int) -> list[int]:
    """The axes to put a batch at: in front, at the end, and one from within."""
    return [0, -1, ndim // 2]


def test_every_op_against_a_loop(batch_sample: Sample) -> None:
    """With every choice of which inputs are mapped, over several axes, and no loop inside."""
    sample = batch_sample
    drawn = [sample.arrays(seed=seed) for seed in range(SIZE)]
    # A plain array cannot be indexed by a batched one, a tensor can.
    whole = ag.asarray if sample.op == "__getitem__" else np.asarray
    count = len(drawn[0])
    for number, chosen in enumerate(choices_of(count)):
        axes: list[int | None] = []
        inputs: list[Any] = []
        for i, pick in enumerate(chosen):
            if pick:
                axis = places(drawn[0][i].ndim)[(number + i) % 3]
                axes.append(axis)
                inputs.append(np.stack([arrays[i] for arrays in drawn], axis))
            else:
                axes.append(None)
                inputs.append(whole(drawn[0][i]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if sample.op in LOOPS else "error")
            found = vmap(
                lambda *arrays: as_tuple(sample.call(ag, *arrays)),
                tuple(axes),
                warn_fallback=True,
            )(*inputs)
        loop = [
            as_tuple(sample.expected(*(drawn[k if p else 0][i] for i, p in enumerate(chosen))))
            for k in range(SIZE)
        ]
        for result, *values in zip(found, *loop, strict=True):
            value = result.detach().array if isinstance(result, ag.Tensor) else result
            assert_close(value, np.stack(values), rtol=1e-11, atol=1e-11, equal_nan=True)


# Ops whose backends have no batched kernel: their documentation says that they loop.
LOOPS: set[str] = {"searchsorted"}


def scalar(sample: Sample, *arrays: Any) -> Any:
    """One real number out of all that a sample returns."""
    total: Any = 0.0
    for k, part in enumerate(as_tuple(sample.call(ag, *arrays))):
        values = ag.real(part) + 2 * ag.imag(part) if part.dtype.kind == "c" else part
        total = total + (k + 1) * ag.sum(ag.sin(values))
    return total


def test_gradients_of_examples_against_a_loop(smooth_batch_sample: Sample) -> None:
    """vmap of grad, and jvp of vmap, for every op that has a derivative."""
    sample = smooth_batch_sample
    drawn = [sample.arrays(seed=seed) for seed in range(SIZE)]
    floats = tuple(i for i, a in enumerate(drawn[0]) if a.dtype.kind == "f")
    stacks = [np.stack(arrays) for arrays in zip(*drawn, strict=True)]
    per_example = grad(lambda *arrays: scalar(sample, *arrays), floats)
    found = vmap(per_example)(*stacks)
    loop = [per_example(*arrays) for arrays in drawn]
    for gradient, *members in zip(found, *loop, strict=True):
        assert_close(gradient, np.stack(members), rtol=1e-10, atol=1e-10)

    tangents = tuple(np.cos(stacks[i] + 1) for i in floats)

    def of_floats(*values: Any) -> Any:
        full = list(stacks)
        for i, value in zip(floats, values, strict=True):
            full[i] = value
        return vmap(lambda *arrays: scalar(sample, *arrays))(*full)

    _, pushed = jvp(of_floats, tuple(stacks[i] for i in floats), tangents)
    expected = [
        sum(float((g * t[k]).sum()) for g, t in zip(loop[k], tangents, strict=True))
        for k in range(SIZE)
    ]
    assert_close(pushed, np.array(expected), rtol=1e-9, atol=1e-9)


def test_an_index_for_each_member_may_be_a_tensor() -> None:
    """As in a gradient inside a batch, where all arrays are tensors."""

    def chosen(x: Any) -> Any:
        return x[ag.argmax(x)] ** 2 + x[ag.astype(x[0] > 0, "int64")]

    rows = np.array([[1.0, 3.0, 2.0], [-5.0, 1.0, 4.0]])
    found = ag.func.vmap(ag.func.grad(chosen))(rows)
    np.testing.assert_allclose(found, [ag.func.grad(chosen)(row) for row in rows])
