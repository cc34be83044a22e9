"""Ops that users declare, and call as they are: no function around them checks the arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.func import jacrev, sparsity, vmap
from arraygrad.ops.define import AlongAxis, Elementwise, Matrices, Moves, Reduces, declare
from arraygrad.ops.define.op import library_ops
from arraygrad.ops.reductions import reduction

X = np.arange(1.0, 13.0).reshape(2, 2, 3)

# --- axes that count from the end ----------------------------------------------------------------

running: Any = declare(
    "running",
    "x",
    kind=AlongAxis(running=True, linear=True),
    compute=lambda xp, x, axis: np.cumsum(x, axis=axis),
    vjp=lambda g, axis: ag.flip(ag.cumulative_sum(ag.flip(g, axis=axis), axis=axis), axis=axis),
)
backwards: Any = declare(
    "backwards",
    "x",
    kind=Moves(axis="axis"),
    compute=lambda xp, x, axis: np.flip(x, axis),
    vjp=lambda g, axis: ag.flip(g, axis=axis),
)
turned: Any = declare(
    "turned",
    "x",
    kind=Moves(order="axes"),
    compute=lambda xp, x, axes: np.transpose(x, axes),
    vjp=lambda g, axes: ag.permute_dims(g, tuple(np.argsort(np.array(axes) % len(axes)))),
)
picked: Any = declare(
    "picked",
    "x",
    "index",
    kind=Moves(axis="axis", indices=("index",)),
    compute=lambda xp, x, index, axis: np.take(x, index, axis=axis),
    vjp_x=lambda g, x_shape, index, axis: g @ ag.eye(x_shape[-1])[index],
)
squares: Any = reduction(
    "squares",
    d=lambda x: 2 * x,
    compute=lambda xp, x, axis, keepdims: np.sum(x * x, axis=axis, keepdims=keepdims),
)
INDEX = np.array([2, 0])
CALLS: dict[str, tuple[Any, Any]] = {
    # name: a call with axes that count from the end, and the same with axes from the front
    "running": (lambda x: running(x, axis=-1), lambda x: running(x, axis=1)),
    "running, first": (lambda x: running(x, axis=-2), lambda x: running(x, axis=0)),
    "moved": (lambda x: backwards(x, axis=-1), lambda x: backwards(x, axis=1)),
    "in order": (lambda x: turned(x, axes=(-1, -2)), lambda x: turned(x, axes=(1, 0))),
    "taken": (lambda x: picked(x, INDEX, axis=-1), lambda x: picked(x, INDEX, axis=1)),
    "reduced": (
        lambda x: squares(x, axis=(-1,), keepdims=False),
        lambda x: squares(x, axis=(1,), keepdims=False),
    ),
    "reduced, kept": (
        lambda x: squares(x, axis=(-2,), keepdims=True),
        lambda x: squares(x, axis=(0,), keepdims=True),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_axes_count_from_the_end(name: str) -> None:
    from_end, from_front = CALLS[name]
    x = X[0]
    np.testing.assert_array_equal(from_end(x), from_front(x))
    np.testing.assert_array_equal(vmap(from_end)(X), np.stack([from_front(x) for x in X]))
    jacobian = jacrev(from_front)(x)
    np.testing.assert_array_equal(jacrev(from_end)(x), jacobian)
    pattern = jacobian.reshape(-1, x.size) != 0
    np.testing.assert_array_equal(sparsity(from_end, x).toarray(), pattern)
    _, tangent = ag.func.jvp(from_end, (x,), (x,))
    np.testing.assert_allclose(tangent, np.tensordot(jacobian, x, 2))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_live_with_axes_from_the_end(name: str) -> None:
    from_end, from_front = CALLS[name]
    found = []
    for call in (from_end, from_front):
        x = ag.tensor(np.where(np.arange(6).reshape(2, 3) < 2, 0.0, X[0]), requires_grad=True)
        y = call(ag.sqrt(x)).reshape(-1).clone()
        y[1:] = 0.0
        found.append(ag.grad(y.sum(), x).numpy())
    np.testing.assert_array_equal(*found)


def test_batches_of_indices_with_axes_from_the_end() -> None:
    index = np.array([[2, 0], [1, 1]])
    found = vmap(lambda x, i: picked(x, i, axis=-1))(X, index)
    np.testing.assert_array_equal(found, [np.take(x, i, axis=1) for x, i in zip(X, index)])  # noqa: B905


# --- several results -----------------------------------------------------------------------------


def total(gs: Any) -> Any:
    return sum(g * factor for g, factor in zip(gs, (2, 3), strict=True) if g is not None)


def twice(x: Any) -> Any:
    return 2 * x, 3 * x


SEVERAL: dict[str, Any] = {
    "elementwise": declare(
        "e2", "x", kind=Elementwise(), multiple=True, compute=lambda xp, x: twice(x), vjp=total
    ),
    "along an axis": declare(
        "a2",
        "x",
        kind=AlongAxis(),
        multiple=True,
        compute=lambda xp, x, axis: twice(x),
        vjp=lambda gs: total(gs),
    ),
    "reduces": declare(
        "r2",
        "x",
        kind=Reduces(),
        multiple=True,
        compute=lambda xp, x, axis, keepdims: twice(np.sum(x, axis=axis, keepdims=keepdims)),
        vjp=lambda gs, x_shape: ag.broadcast_to(ag.expand_dims(total(gs), axis=1), x_shape),
    ),
    "matrices": declare(
        "m2",
        "x",
        kind=Matrices(shapes=lambda x: (x, x)),
        multiple=True,
        compute=lambda xp, x: twice(x),
        vjp=lambda gs: total(gs),
    ),
}
KEYWORDS: dict[str, Any] = {
    "along an axis": {"axis": 1},
    "reduces": {"axis": (1,), "keepdims": False},
}


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("used", [(0,), (1,), (0, 1)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_overwritten_results_of_ops_with_several(name: str, used: tuple[int, ...]) -> None:
    """Nothing depends on the first row, where the slope of the square root is infinite."""
    x = ag.tensor([[0.0, 0.0], [1.0, 4.0]], requires_grad=True)
    parts = SEVERAL[name](ag.sqrt(x), **KEYWORDS.get(name, {}))
    loss: Any = 0.0
    for i in used:
        part = parts[i].clone()
        part[0] = 0.0
        loss = loss + part.sum()
    factor = sum((2, 3)[i] for i in used)
    dead = np.nan if name == "matrices" else 0.0  # of a matrix, all is live
    expected = [[dead, dead], [0.5 * factor, 0.25 * factor]]
    np.testing.assert_array_equal(ag.grad(loss, x).numpy(), expected)


# --- reductions ----------------------------------------------------------------------------------


def test_reductions_of_users_are_not_the_librarys() -> None:
    assert not squares.op.is_library
    mine: Any = reduction(
        "prod", d=lambda x: 2 * x, compute=lambda xp, x, axis, keepdims: np.sum(x * x)
    )
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    assert mine(x, axis=None, keepdims=False).item() == 5.0
    np.testing.assert_array_equal(ag.grad(mine(x, axis=None, keepdims=False), x), [2.0, 4.0])
    assert mine.op not in library_ops()
    with pytest.raises(TypeError, match="mistaken: the derivative by x must be a Python function"):
        reduction("mistaken", d=np.sin)
    for d in (lambda z: z, lambda g: g):
        with pytest.raises(TypeError, match=r"the derivative by x has a parameter '[zg]'"):
            reduction("mistaken", d=d, compute=lambda xp, x, axis, keepdims: x)


# --- rules that make tensors ---------------------------------------------------------------------

traces: Any = declare(
    "traces",
    "x",
    kind=Matrices(shapes=lambda x: ((),)),
    compute=lambda xp, x: np.trace(x, axis1=-2, axis2=-1),
    vjp=lambda g, x_shape: ag.eye(x_shape[-1]) * g,
)


def test_rules_can_make_tensors() -> None:
    """Functions such as `ag.eye` do, also where a sweep runs on plain arrays."""
    x = ag.tensor(X[:, :, :2], requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(type(g.array)))
    found = [ag.grad(traces(x[0]), x), ag.grad((x * x).sum() + traces(x[0]), x)]
    found += [ag.grad(traces(x[0]), x, np.ones(3), is_grads_batched=True)]
    traces(x[0]).backward()
    for g in (*found, x.grad):
        assert isinstance(g, ag.Tensor)
        assert type(g.array) is np.ndarray
    assert not any(issubclass(t, ag.Tensor) for t in seen)
    np.testing.assert_array_equal(found[0], [np.eye(2), np.zeros((2, 2))])
    assert type(ag.func.grad(lambda x: traces(x))(np.eye(2))) is np.ndarray


def test_forward_mode_of_two_inputs_with_any_names() -> None:
    product = declare(
        "product_of_two",
        "left",
        "right",
        kind=Elementwise(),
        compute=lambda xp, left, right: left * right,
        vjp_left=lambda g, right: g * right,
        vjp_right=lambda g, left: g * left,
    )
    _, tangent = ag.func.jvp(product, (np.array(2.0), np.array(3.0)), (1.0, 10.0))
    assert float(tangent) == 23.0
