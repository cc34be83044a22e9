"""What JAX's users know: the names, in all transforms, with JAX's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import Row, over

import arraygrad as ag

X = np.array([1.0, 2.0, 3.0])
I = np.array([0, 2, 0])  # noqa: E741
BRANCHES = [lambda x: x, lambda x: x**2, lambda x: x**3]

# For each name, a function of one vector, and what it is in NumPy with JAX's meaning.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "at.set": (lambda x: x.at[1].set(5 * x[0]), lambda x: [x[0], 5 * x[0], x[2]]),
    "at.add": (lambda x: x.at[I].add(x), lambda x: [2 * x[0] + x[2], x[1], x[1] + x[2]]),
    "at.get": (lambda x: x.at[1:].get() ** 2, lambda x: x[1:] ** 2),
    "segment_sum": (lambda x: ag.segment_sum(x, I, 3), lambda x: [x[0] + x[2], 0 * x[0], x[1]]),
    "map": (lambda x: ag.func.map(lambda v: v**2, x), lambda x: x**2),
    "switch": (lambda x: ag.func.switch(np.array(1), BRANCHES, x), lambda x: x**2),
    "switch, above": (lambda x: ag.func.switch(np.array(9), BRANCHES, x), lambda x: x**3),
    "switch, a number": (lambda x: ag.func.switch(-1, BRANCHES, x), lambda x: x),
    "tree.ravel": (lambda x: ag.tree.ravel([x[:1], {"a": x[1:]}])[0] ** 2, lambda x: x**2),
    "unravel": (lambda x: ag.tree.ravel([X[:1], X[1:]])[1](x)[1] ** 2, lambda x: x[1:] ** 2),
}  # fmt: skip


@over("name", [Row("as in JAX", name, name, quick=True) for name in FUNCTIONS])
def test_in_all_transforms(name: str) -> None:
    own, plain = FUNCTIONS[name]

    def by_stack(x: Any) -> Any:
        found = plain(x)
        return ag.stack(found) if isinstance(found, list) else found

    for transform in (
        lambda f: f(ag.tensor(X)),
        lambda f: ag.func.jacrev(f)(X),
        lambda f: ag.func.jacfwd(f)(X),
        lambda f: ag.func.hessian(lambda x: (f(x) ** 2).sum())(X),
        lambda f: ag.func.vmap(f)(np.stack([X, 2 * X])),
        lambda f: ag.func.vmap(ag.func.jacrev(f))(np.stack([X, 2 * X])),
        lambda f: ag.compile(f)(X),
        lambda f: ag.compile(ag.func.jacrev(f))(X),
    ):
        found, expected = transform(own), transform(by_stack)
        assert np.allclose(found, expected)


def test_the_index_of_a_switch() -> None:
    call = ag.compile(lambda k, x: ag.func.switch(k, BRANCHES, x))
    numbers = np.array([-1, 0, 1, 2, 7])
    assert [call(k, X).tolist() for k in map(np.asarray, numbers)] == [
        (X**power).tolist() for power in (1, 1, 2, 3, 3)
    ]
    found = ag.func.vmap(lambda k: ag.func.switch(k, BRANCHES, np.array(2.0)))(numbers)
    assert found.tolist() == [2, 2, 4, 8, 8]
    for wrong in (1.0, True, np.array([1])):
        with pytest.raises(TypeError, match="one integer"):
            ag.func.switch(wrong, BRANCHES, X)


def test_stop_gradient_stops_all_orders_and_modes() -> None:
    def f(x: Any) -> Any:
        return ag.func.grad(lambda y: y * ag.func.stop_gradient({"a": x * y})["a"])(x)

    assert f(np.array(2.0)) == 4
    assert ag.func.grad(f)(np.array(2.0)) == 0
    assert ag.func.jvp(f, (np.array(2.0),), (np.array(1.0),))[1] == 0
    assert ag.compile(ag.func.grad(lambda x: x * ag.func.stop_gradient(x)))(np.array(3.0)) == 3


def test_linear_transpose() -> None:
    transpose = ag.func.linear_transpose(lambda p: p["a"][::-1] + 2 * p["b"], {"a": X, "b": X})
    (found,) = transpose(X)
    assert found["a"].tolist() == [3, 2, 1]
    assert found["b"].tolist() == [2, 4, 6]


def test_eval_shape() -> None:
    shapes = ag.func.eval_shape(lambda a, *, b: {"y": a @ b, "n": 3}, np.ones((2, 3)), b=np.ones(3))
    assert (shapes["y"].shape, shapes["y"].dtype) == ((2,), np.float64)
    assert shapes["n"].shape == ()
    wide = ag.func.shapes.ShapeDtype((10**6, 10**6), np.dtype(np.float32))
    assert ag.func.eval_shape(lambda x: (x * 2).sum(axis=0), wide).shape == (10**6,)
    with pytest.raises(ag.errors.DataDependentError):
        ag.func.eval_shape(lambda x: x[x > 0], X)


def test_argnums_by_name() -> None:
    def f(a: Any, b: Any, *, c: Any) -> Any:
        return (a * b * c).sum()

    assert ag.func.grad(f, "b")(X, 2 * X, c=3.0).tolist() == [3, 6, 9]
    assert ag.func.grad(f, "b")(X, b=2 * X, c=3.0).tolist() == [3, 6, 9]
    by_a, by_c = ag.func.grad(f, ("a", "c"))(X, X, c=np.array(2.0))
    assert (by_a.tolist(), by_c) == ([2, 4, 6], 14)
    assert ag.func.jacfwd(f, (0, "c"))(X, X, c=np.array(2.0))[1] == 14
    assert ag.func.hessian(f, "c")(X, X, c=np.array(2.0)) == 0
    with pytest.raises(ValueError, match="'z', which was not given"):
        ag.func.grad(f, "z")(X, X, c=1.0)
    with pytest.raises(TypeError, match="argument 'c'"):
        ag.func.grad(f, "c")(X, X, c="text")


def test_trees() -> None:
    assert ag.tree.map(lambda a, b: a + b, {"a": 1, "b": (2,)}, {"a": 3, "b": (4,)}) == {
        "a": 4,
        "b": (6,),
    }
    with pytest.raises(ValueError, match="structure 1 must have the structure of the first"):
        ag.tree.map(lambda a, b: a + b, {"a": 1}, {"b": 2})
    vector, unravel = ag.tree.ravel([np.float32(1), np.ones((2, 2))])
    assert vector.tolist() == [1] * 5
    assert unravel(vector)[0].dtype == np.float32
    assert ag.tree.ravel([])[0].shape == (0,)
    with pytest.raises(ValueError, match=r"must have shape \(5,\)"):
        unravel(np.ones(4))


def test_segment_sum_refuses() -> None:
    with pytest.raises(TypeError, match="segment_ids must be integers"):
        ag.segment_sum(X, X)
    with pytest.raises(TypeError, match="segment_ids must be integers of shape"):
        ag.segment_sum(X, I[:2])
    assert ag.segment_sum(X, I).tolist() == [4, 0, 2]


def test_values_inside_of_compiled_code() -> None:
    seen: list[Any] = []

    def note(x: Any) -> Any:
        seen.append(np.array(x))
        return x

    tap = ag.func.custom(vjp=lambda g: g)(note)
    call = ag.compile(ag.func.grad(lambda x: (tap(2 * x) ** 2).sum()))
    assert call(X).tolist() == [8, 16, 24]
    seen.clear()
    call(10 * X)
    assert [value.tolist() for value in seen] == [[20, 40, 60]]


# --- functions of all members of a batch ---------------------------------------------------------

BATCH = np.array([[1.0, 2.0, -1.0], [3.0, 2.0, 0.5], [-2.0, 1.5, 0.5], [0.5, 0.25, 4.0]])
func = ag.func

# For each name, a function of one member, and the same function of the whole batch.
COLLECTIVES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "psum": (
        lambda x: (func.psum(x**2, "i") * x).sum(),
        lambda x: ((x**2).sum(axis=0) * x).sum(axis=1),
    ),
    "psum of a structure": (
        lambda x: (func.psum({"a": [x**2]}, "i")["a"][0] * x).sum(),
        lambda x: ((x**2).sum(axis=0) * x).sum(axis=1),
    ),
    "psum of a number": (lambda x: func.psum(0.5, "i") * x.sum(), lambda x: 2 * x.sum(axis=1)),
    "pmean": (
        lambda x: ((x - func.pmean(x, "i")) ** 3).sum(),
        lambda x: ((x - x.mean(axis=0)) ** 3).sum(axis=1),
    ),
    "pmax": (
        lambda x: (func.pmax(x, "i") * x).sum(),
        lambda x: (ag.max(x, axis=0) * x).sum(axis=1),
    ),
    "pmin": (
        lambda x: (func.pmin(x, "i") * x).sum(),
        lambda x: (ag.min(x, axis=0) * x).sum(axis=1),
    ),
    "axis_index": (
        lambda x: func.axis_index("i") * (x**2).sum(),
        lambda x: np.arange(4) * (x**2).sum(axis=1),
    ),
}


@over("name", [Row("collectives", name, name, quick=True) for name in COLLECTIVES])
def test_functions_of_all_members(name: str) -> None:
    one, whole = COLLECTIVES[name]

    def mapped(x: Any) -> Any:
        return func.vmap(one, axis_name="i")(x)

    total = func.grad(lambda x: whole(x).sum())
    two = np.stack([BATCH, 2 * BATCH])
    for found, expected in (
        (mapped(BATCH), whole(BATCH)),
        (func.jacrev(mapped)(BATCH), func.jacrev(whole)(BATCH)),
        (func.jacfwd(mapped)(BATCH), func.jacfwd(whole)(BATCH)),
        (func.vmap(func.grad(one), axis_name="i")(BATCH), total(BATCH)),
        (func.vmap(func.vmap(one, axis_name="i"))(two), [whole(b) for b in two]),
        (
            func.vmap(func.vmap(one), axis_name="i")(np.moveaxis(two, 0, 1)),
            np.stack([whole(b) for b in two], axis=1),
        ),
        (ag.compile(func.vmap(func.grad(one), axis_name="i"))(BATCH), total(BATCH)),
        (func.vmap(ag.compile(one), axis_name="i")(BATCH), whole(BATCH)),
    ):
        assert np.allclose(found, expected)


def test_a_collective_result_is_the_same_for_all() -> None:
    total = func.vmap(lambda x: func.psum(x, "i"), out_axes=None, axis_name="i")
    assert total(BATCH).tolist() == BATCH.sum(axis=0).tolist()


def test_ties_share_a_derivative_at_infinity_too() -> None:
    gradient = func.vmap(func.grad(lambda x: func.pmax(x, "i")), axis_name="i")
    assert gradient(np.array([1.0, 4.0, 4.0])).tolist() == [0.0, 1.5, 1.5]
    assert gradient(np.array([1.0, np.inf, 4.0])).tolist() == [0.0, 3.0, 0.0]


def test_an_axis_without_a_name() -> None:
    compiled = ag.compile(lambda x: func.psum(x, "i"))
    assert func.vmap(compiled, axis_name="i")(np.ones(3)).tolist() == [3.0] * 3
    with pytest.raises(NameError, match=r"vmap\(\.\.\., axis_name='i'\)"):
        compiled(np.ones(3))
    with pytest.raises(NameError, match="named axes: 'j'"):
        func.vmap(lambda x: func.pmean(x, "i"), axis_name="j")(np.ones(3))
    with pytest.raises(ValueError, match="chunk_size"):
        func.vmap(lambda x: x, axis_name="i", chunk_size=2)


# --- looking at values ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda f: f(ag.tensor(X)), [[2, 4, 6]]),
        (lambda f: ag.func.grad(f)(X), [[2, 4, 6]]),
        (lambda f: ag.func.jvp(f, (X,), (X,)), [[2, 4, 6]]),
        (lambda f: ag.func.vmap(f)(np.stack([X, -X])), [[[2, 4, 6], [-2, -4, -6]]]),
        (lambda f: [ag.compile(f)(k * X) for k in (1, 2)], [[2, 4, 6], [4, 8, 12]]),
        (lambda f: list(map(ag.compile(ag.func.grad(f)), (X, 2 * X))), [[2, 4, 6], [4, 8, 12]]),
        (
            lambda f: ag.compile(lambda x: ag.func.fori_loop(0, 2, lambda i, s: s + f(s), x))(X),
            [[2, 4, 6], [114, 116, 118]],
        ),
    ],
)
def test_a_tap_sees_values_each_time(run: Any, expected: Any) -> None:
    seen: list[Any] = []
    run(lambda x: (ag.func.tap(lambda v: seen.append(v.tolist()), 2 * x) ** 2).sum())
    assert seen == expected


def test_a_tap_changes_no_derivative_and_shares_no_memory() -> None:
    f = ag.func.hessian(lambda x: (ag.func.tap(id, x) ** 3).sum())
    assert np.allclose(f(X), np.diag(6 * X))
    tapped = ag.func.tap(id, X)
    tapped[0] = 7.0
    assert X[0] == 1.0
    with pytest.raises(TypeError, match="tap"):
        ag.func.tap(X, X)  # type: ignore[arg-type]
