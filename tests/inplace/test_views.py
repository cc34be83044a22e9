"""Views: memory shared with a base, at any depth, and places in the graph that follow it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag

VIEWS: dict[str, Any] = {
    "slice": lambda y: y[1:, ::2],
    "backwards": lambda y: y[::-1, ::-2],
    "element": lambda y: y[0, 1, ...],
    "new axis": lambda y: y[None, ..., 0],
    "reshape": lambda y: y.reshape((3, 2)),
    "permute_dims": lambda y: y.permute_dims((1, 0)),
    "expand_dims": lambda y: ag.expand_dims(y, axis=1),
    "squeeze": lambda y: y[:1].squeeze(0),
    "flip": lambda y: ag.flip(y, axis=1),
    "unstack": lambda y: ag.unstack(y, axis=1)[2],
    "iteration": lambda y: list(y)[1],
    "diagonal": lambda y: ag.linalg.diagonal(y, offset=1),
    "mT": lambda y: y.mT,
    "many": lambda y: y.mT[1:][::-1].reshape((2, 1, 2))[0].mT,
}


@pytest.mark.parametrize("name", VIEWS)
def test_writes_show_in_both(name: str) -> None:
    x = ag.tensor(np.arange(1.0, 7.0).reshape(2, 3), requires_grad=True)
    y = x * 1
    v = VIEWS[name](y)
    assert v._base is y
    y *= 2
    np.testing.assert_array_equal(v.detach().numpy(), VIEWS[name](2 * x).detach().numpy())
    followed = ag.grad(v.sum(), x, retain_graph=True)
    assert followed.tolist() == ag.grad(VIEWS[name](2 * x).sum(), x).tolist()
    v += 1
    v *= v
    marked = ag.grad(VIEWS[name](x * 1).sum(), x).numpy() > 0
    expected = ag.where(marked, (2 * x + 1) ** 2, 2 * x)
    np.testing.assert_allclose(y.detach().numpy(), expected.detach().numpy())
    weights = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(
        ag.grad((y * weights).sum(), x).numpy(), ag.grad((expected * weights).sum(), x).numpy()
    )


def test_overlapping_views() -> None:
    x = ag.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = x * 1
    first, second = y[:3], y[1:]
    first *= 10
    second += 1
    first[1:] = second[:2] * 2
    assert y.tolist() == [10, 42, 62, 5]
    assert ag.grad(y.sum(), x).tolist() == [10, 20, 20, 1]


def test_not_views() -> None:
    y = ag.tensor(np.arange(6.0).reshape(2, 3))
    for copy in (y[[0, 1]], y[y > 1], y.mT.reshape((6,)), y.clone(), y + 0):
        assert copy._base is None
        copy[...] = 9.0
    assert y.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_view_of_what_begins_to_require_gradients() -> None:
    y = ag.tensor([1.0, 2.0])
    v = y[:1]
    y.requires_grad_()
    assert v.requires_grad
    assert ag.grad((v * v).sum(), y).tolist() == [2, 0]
    y.requires_grad_(False)
    assert not v.requires_grad


def test_a_view_that_is_a_leaf() -> None:
    y = ag.zeros(3)
    v = y[:2].requires_grad_()
    assert v.is_leaf
    assert not y.requires_grad
    with pytest.raises(RuntimeError, match="leaf"):
        v += 1
    y += 1  # constants may come in from the other side
    assert v.tolist() == [1, 1]
    assert ag.grad((v * v).sum(), v).tolist() == [2, 2]
    w = ag.tensor(2.0, requires_grad=True)
    y *= w
    assert not v.is_leaf  # as in torch: its place is that of the base now
    assert ag.grad(v.sum(), w).item() == 2


def test_writing_a_value_into_a_constant() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = ag.zeros(3)
    v = y[1:]
    assert y.is_leaf
    v[0] = x[1]
    assert not y.is_leaf
    assert v.requires_grad
    assert ag.grad(y.sum(), x).tolist() == [0, 1]


def test_views_made_under_no_grad() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with ag.no_grad():
        v = y[:1]
        v += 1
        assert y.tolist() == [2, 2]
    assert not v.requires_grad
    with pytest.raises(RuntimeError, match="made under no_grad"):
        v += 1
    with pytest.raises(RuntimeError, match="made under no_grad"):
        v[:].mul_(2)
    y[:1] = v  # a constant, although it is that part
    assert ag.grad(y.sum(), x, retain_graph=True).tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="base has since been written"):
        v * 2
    with ag.no_grad():
        assert (v * 2).tolist() == [4]


@pytest.mark.parametrize("index", [0, slice(1), [0], np.array([True, False])])
def test_a_value_that_is_refused_is_not_written(index: Any) -> None:
    base = ag.sin(ag.tensor([1.0, 2.0], requires_grad=True))
    with ag.no_grad():
        value = base[0, ...]
    base *= 2
    y = ag.zeros(2)
    with pytest.raises(RuntimeError, match="made under no_grad"):
        y[index] = value
    assert not y.requires_grad
    assert y.tolist() == [0, 0]


def test_detach() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    d = y.detach()
    d *= 3
    assert y.tolist() == [3, 6]
    assert (y._version, d._version) == (1, 1)
    assert ag.grad(y.sum(), x).tolist() == [1, 1]
    assert not d.requires_grad


def test_detach_in_place() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with pytest.raises(RuntimeError, match="view cannot be cut off"):
        y[:1].detach_()
    assert y.detach_() is y
    assert (y.is_leaf, y.requires_grad) == (True, False)
    assert not x.detach_().requires_grad


def test_hooks_stay_with_the_old_value() -> None:
    x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: 10 * g)
    y *= 3
    assert ag.grad(y.sum(), x).tolist() == [60, 60, 60]


@pytest.mark.parametrize("of_view", [False, True])
@pytest.mark.parametrize("write", [False, True])
def test_retained_gradients_are_those_of_the_newest_value(of_view: bool, write: bool) -> None:
    x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    v = y[:2]
    kept, written = (v if of_view else y), (v if write else y)
    kept.retain_grad()
    written *= 3
    assert kept.retains_grad
    (kept * 5).sum().backward()
    assert kept.grad.tolist() == [5] * kept.size


def test_inference_mode() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with ag.inference_mode():
        y += 1
        made = ag.ones(2)
        made += 1
        made[0] = 5.0
    assert made.tolist() == [5, 2]
    assert ag.grad(y.sum(), x).tolist() == [1, 1]
    for write in (lambda: made.add_(1), lambda: made[:1].add_(1)):
        with pytest.raises(RuntimeError, match="inference tensor"):
            write()
    with pytest.raises(RuntimeError, match="inference tensor"):
        made.requires_grad_()
    with pytest.raises(RuntimeError, match="Inference tensor"):
        x * made


def test_read_only_arrays() -> None:
    array = np.ones(3)
    array.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        ag.asarray(array)[0] = 1.0


def again(y: Any) -> None:
    y[0] = y[1]
    y[1] = y[0]


def later(y: Any) -> None:
    y[0] = y[1]
    first = y[0]
    y[2] = y[0] * 3
    y[1] = first


def changed(y: Any) -> None:
    row = y[0]
    y[1] = row * 2
    row += y[1]
    y[1] = row


def at_once(y: Any) -> None:
    y[[0, 1]] = y[[1, 0]]


def shifted(y: Any) -> None:
    for i in range(2):
        y[i + 1] = y[i]


def halves(y: Any) -> None:
    first, second = y[:1], y[1:2]
    y[:1] = second
    y[1:2] = first  # a view, also in NumPy


@pytest.mark.parametrize("write", [again, later, changed, at_once, shifted, halves])
def test_items_may_be_written_to_each_other(write: Any) -> None:
    x = np.arange(1.0, 7.0).reshape(3, 2)

    def run(x: Any) -> Any:
        y = x * 1.0
        write(y)
        return y

    expected = run(x)
    for found in (
        run(ag.tensor(x)).numpy(),
        run(ag.tensor(x, requires_grad=True)).detach().numpy(),
        ag.func.jvp(run, (x,), (x,))[0],
        ag.func.vmap(run)(x[None])[0],
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "repeated",
    [
        lambda x: ag.tile(x, (1, 1)),
        lambda x: ag.tile(x, (3, 1, 1)),
        lambda x: ag.tile(x[:1], (3, 1)),
        lambda x: ag.repeat(x, 1, axis=0),
        lambda x: ag.repeat(x[:1], 3, axis=0),
    ],
)
def test_repetitions_are_no_views(repeated: Any) -> None:
    x = ag.tensor(np.eye(2))
    y = repeated(x)
    y[..., 0] = 7.0
    assert x.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert (y[..., 0] == 7.0).all()


SAME_VALUES = {
    "pad by nothing": lambda y: np.pad(y, 0),
    "pad by nothing, edge": lambda y: np.pad(y, 0, mode="edge"),
    "choose of one": lambda y: np.choose(np.zeros(y.shape, int), [y]),
    "rot90 by nothing": lambda y: np.rot90(y, 0),
    "rot90 by a turn": lambda y: np.rot90(y, 4),
    "roll by nothing": lambda y: np.roll(y, 0),
    "sum over no axes": lambda y: np.sum(y, axis=()),
    "delete nothing": lambda y: np.delete(y, [], 0),
    "concatenate one": lambda y: np.concatenate([y]),
    "clip without effect": lambda y: np.clip(y, -9.0, 9.0),
    "flip along no axes": lambda y: np.flip(y, ()),
}


@pytest.mark.parametrize("same", SAME_VALUES.values(), ids=SAME_VALUES.keys())
def test_results_with_the_same_values_share_memory_as_in_numpy(same: Any) -> None:
    def run(x: Any) -> Any:
        y = np.copy(x)
        z = same(y)
        z[0] *= 10.0
        y[1] += 1.0
        return y * 2.0 + z

    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected, slopes = run(x), run(x + 1.0) - run(x)  # the program is linear
    np.testing.assert_array_equal(run(ag.tensor(x)).numpy(), expected)
    found = ag.func.jvp(run, (x,), (np.ones_like(x),))
    np.testing.assert_allclose(found, (expected, slopes))
    np.testing.assert_array_equal(ag.func.vmap(run)(x[None])[0], expected)
    np.testing.assert_allclose(ag.func.grad(lambda x: run(x).sum())(x).sum(), slopes.sum())


def test_pad_of_a_number_is_a_copy() -> None:
    y = ag.tensor(1.5)
    z = ag.pad(y, 1)
    z *= 2.0
    assert (y.item(), z.item()) == (1.5, 3.0)


def explicit_steps(x: Any) -> Any:
    """Heat conduction, with an array for the change that is made once."""
    u = np.copy(x)
    change = np.zeros_like(u)
    for _ in range(3):
        change[1:-1] = u[2:] * u[:-2] - 2.0 * u[1:-1]
        u += 0.1 * change
    part = u[1:3]
    part -= change[1:3]
    u[-1] = change[1] * u[0]
    u[...] = u + np.zeros_like(u)
    return u


def test_values_of_arrays_made_in_a_transform_can_be_written_to_its_arrays() -> None:
    x, t = np.array([1.0, 3.0, 2.0, 5.0]), np.array([0.5, -1.0, 2.0, 0.25])
    value = explicit_steps(x)
    slope = (explicit_steps(x + 1e-6 * t) - explicit_steps(x - 1e-6 * t)) / 2e-6
    found = ag.func.jvp(explicit_steps, (x,), (t,))
    np.testing.assert_allclose(found, (value, slope), rtol=1e-7)
    np.testing.assert_allclose(ag.func.vmap(explicit_steps)(np.stack([x, t]))[0], value)
    jacobian = ag.func.jacrev(explicit_steps)(x)
    np.testing.assert_allclose(jacobian @ t, slope, rtol=1e-7)
    np.testing.assert_allclose(ag.func.jacfwd(explicit_steps)(x), jacobian)
    second = ag.func.jacrev(ag.func.jacrev(explicit_steps))(x)
    for outer, inner in ((ag.func.jacfwd, ag.func.jacfwd), (ag.func.jacrev, ag.func.jacfwd)):
        np.testing.assert_allclose(outer(inner(explicit_steps))(x), second, atol=1e-14)
