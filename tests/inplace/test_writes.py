"""Writing: what works, what is refused, and where the gradient goes."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

import arraygrad as ag


def leaf(*values: float) -> Any:
    return ag.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


def gradient(out: Any, x: Any) -> list[float]:
    return ag.grad(out.sum(), x, materialize_grads=True).tolist()


# --- rows of the table of torch's semantics ------------------------------------------------------


def test_what_was_not_saved_can_be_written() -> None:
    x = leaf()
    y = x + 1
    y += 1
    assert gradient(y, x) == [1, 1, 1]


def test_leaves_cannot_be_written() -> None:
    x = leaf()
    for write in (lambda: x.add_(1), lambda: x[:2].add_(1), lambda: x.__setitem__(0, 1.0)):
        with pytest.raises(RuntimeError, match=r"leaf that requires gradients|view of such a leaf"):
            write()
    assert x.tolist() == [1, 2, 3]


def test_leaf_under_no_grad() -> None:
    x = leaf()
    with ag.no_grad():
        x -= 0.5
        x[0] = 7.0
    assert x.tolist() == [7, 1.5, 2.5]
    assert x.is_leaf
    assert x.requires_grad


def test_augmented_assignment_of_a_part() -> None:
    x = leaf()
    y = x * 1
    y[0] *= 10
    y[1:] += x[:2]
    y[[0, 1]] -= 1
    assert y.tolist() == [9, 2, 5]
    assert gradient(y * ag.asarray([1.0, 10.0, 100.0]), x) == [20, 110, 100]


def test_write_to_a_view_reaches_the_base() -> None:
    x = leaf()
    y = x * 1
    v = y[:1]
    v.mul_(20)
    y[0] = v[0] * 1
    z = y * ag.asarray([0.0, 11.0, 1.0])
    assert y.tolist() == [20, 2, 3]
    assert gradient(z, x) == [0, 11, 1]


def test_mask() -> None:
    x = leaf()
    y = x * 2
    y[y > 3] = 0.0
    assert gradient(y, x) == [2, 0, 0]


def test_the_value_that_survived_gets_the_gradient() -> None:
    x, v = leaf(), leaf(5.0, 6.0)
    y = x * 1
    y[[0, 0]] = v
    assert y.tolist() == [6, 2, 3]
    assert [g.tolist() for g in ag.grad(y.sum(), (x, v))] == [[0, 1, 1], [0, 1]]


def test_broadcasting() -> None:
    x, v = ag.tensor(np.ones((2, 3)), requires_grad=True), leaf()
    y = x * 1
    y[:, 1:] = v[1:]
    y[0] = 4.0
    y[1:2, :1] = ag.asarray([[[9.0]]])  # leading axes of length one are dropped
    assert y.tolist() == [[4, 4, 4], [9, 2, 3]]
    assert [g.tolist() for g in ag.grad(y.sum(), (x, v))] == [[[0] * 3] * 2, [0, 1, 1]]


@pytest.mark.parametrize(
    ("write", "error"),
    [
        (lambda y: y.add_(np.ones((2, 3))), "gave shape"),
        (lambda y: y.__setitem__(0, np.ones(2)), "cannot be written to a part of shape"),
        (lambda y: y.copy_(np.ones(2)), "shapes|part of shape"),
        (lambda y: y.fill_(np.ones(3)), "takes a number"),
        (lambda y: y.__setitem__(5, 1.0), "out of range"),
        (lambda y: y.__setitem__(0, 1j), "complex"),
        (lambda y: y.__setitem__(slice(None), np.ones(3) * 1j), "complex128"),
        (lambda y: y.mul_(1j), "complex128"),
        (lambda y: y.__setitem__(0, "one"), "only numbers"),
        (lambda y: ag.broadcast_to(y, (2, 3)).add_(1), "broadcast"),
        (lambda y: ag.broadcast_to(y, (2, 3)).__setitem__(0, 1.0), "broadcast"),
    ],
)
def test_refused(write: Any, error: str) -> None:
    x = leaf()
    y = x * 2
    with pytest.raises((TypeError, ValueError, RuntimeError, IndexError), match=error):
        write(y)
    assert y.tolist() == [2, 4, 6]
    assert y._version == 0
    assert gradient(y * y, x) == [8, 16, 24]


def test_integers() -> None:
    n = ag.tensor([1, 2, 3])
    n += 1
    n[0] = 7
    n <<= 1
    assert n.tolist() == [14, 6, 8]
    with pytest.raises(TypeError, match="float64"):
        n += 0.5
    with pytest.raises(TypeError, match="float64"):
        n[0] = ag.tensor(0.5)


def test_half_precision() -> None:
    x = ag.tensor(np.array([1, 2], np.float16), requires_grad=True)
    w = leaf(3.0, 4.0)
    y = x * 1
    y *= w  # computed in double precision, kept in half
    assert y.dtype == np.float16
    first, second = ag.grad(y.sum(), (x, w))
    assert (first.dtype, second.dtype) == (np.float16, np.float64)
    assert (first.tolist(), second.tolist()) == ([3, 4], [1, 2])


def test_numbers() -> None:
    x = leaf(2.0)[0]
    y = x * 3
    v, w = y.reshape(()), y[...]
    y += 1
    assert (float(v.detach()), float(w.detach()), float(y.detach())) == (7, 7, 7)
    w *= 2
    assert ag.grad(y, x).item() == 6
    z = ag.tensor(1.0) * 2
    z += 1
    assert z.item() == 3


def test_nothing() -> None:
    x = ag.tensor(np.ones((0, 3)), requires_grad=True)
    y = x * 1
    y += 1
    y[...] = 2.0
    y[0:0] = x
    assert ag.grad(y.sum(), x).shape == (0, 3)


def test_complex_parts() -> None:
    z = ag.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    r = leaf(5.0, 6.0)
    y = z * 1
    y.imag[...] = r
    y.real *= 2
    assert y.tolist() == [2 + 5j, 6 + 6j]
    first, second = ag.grad((y.real * y.imag).sum(), (z, r))
    assert first.tolist() == [10, 12]
    assert second.tolist() == [2, 6]


def test_self_assignments() -> None:
    x = leaf()
    y = x * 1
    y[1:] = y[:-1]
    y[::-1] = y
    y *= y
    y += y
    assert y.tolist() == [8, 2, 2]
    assert gradient(y, x) == gradient(2 * x[[1, 0, 0]] ** 2, x)


@pytest.mark.parametrize(
    "name", "abs_ asin_ atan_ cos_ exp_ log_ neg_ reciprocal_ sqrt_ square_ tanh_ cumsum_".split()
)
def test_underscore_methods(name: str) -> None:
    x = leaf(0.3, 0.6)
    y = x * 1
    function = {
        "neg_": ag.negative,
        "cumsum_": ag.cumulative_sum,
    }.get(name) or getattr(ag, name[:-1])
    assert getattr(y, name)() is y
    np.testing.assert_allclose(y.detach().numpy(), function(x).detach().numpy())
    np.testing.assert_allclose(gradient(y * y, x), gradient(function(x) ** 2, x))


def test_every_operator() -> None:
    x = leaf(2.0, 3.0)
    y = x * 1
    y += 1
    y -= 2
    y *= 6
    y /= 2
    y **= 2
    assert y.tolist() == [9, 36]
    assert gradient(y, x) == [18, 36]
    y //= 2
    y %= 4
    assert y.tolist() == [0, 2]
    matrix = ag.tensor(np.eye(2), requires_grad=True)
    z = matrix * 2
    z @= ag.asarray([[0.0, 1.0], [1.0, 0.0]])
    assert z.tolist() == [[0, 2], [2, 0]]


def test_copy_fill_zero() -> None:
    x, w = leaf(), leaf(4.0, 5.0, 6.0)
    y = x * 1
    y.copy_(w)
    assert [g.tolist() for g in ag.grad(y.sum(), (x, w), retain_graph=True)] == [[0] * 3, [1] * 3]
    y.fill_(w[0])
    assert ag.grad(y.sum(), w, retain_graph=True).tolist() == [3, 0, 0]
    y.zero_()
    assert y.tolist() == [0, 0, 0]
    assert gradient(y, w) == [0, 0, 0]


def test_index_arrays_may_change_afterwards() -> None:
    x = leaf()
    y = x * 1
    index, mask = np.array([0, 1]), np.array([True, False, False])
    y[index] = x[1:] * 5
    y[mask] = 0.0
    index[:] = 2
    mask[:] = True
    assert gradient(y, x) == [0, 0, 5 + 1]


# --- other ways of differentiating ---------------------------------------------------------------


def test_second_order() -> None:
    def function(x: Any) -> Any:
        y = x * 1
        y[0] = x[1] * x[2]
        v = y[1:]
        v *= x[0]
        y[[2, 2]] = x[:2] ** 3
        return (y**2).sum()

    assert ag.testing.gradcheck(function, (leaf(0.5, 1.2, 0.7),))
    assert ag.testing.gradgradcheck(function, (leaf(0.5, 1.2, 0.7),))


def test_batched_cotangents() -> None:
    x = leaf()
    y = x * 1
    y[0] = x[1] * x[2]
    v = y[1:]
    v *= x[0]
    rows = [ag.grad(y, x, row, retain_graph=True).tolist() for row in np.eye(3)]
    assert ag.grad(y, x, np.eye(3), is_grads_batched=True).tolist() == rows


def test_threads() -> None:
    found: dict[int, list[float]] = {}

    def work(k: int) -> None:
        x = leaf(float(k), 1.0, 2.0)
        y = ag.zeros(300)
        y[0] = x[0]
        for i in range(1, 300):
            y[i] = y[i - 1] * 1.0 + x[1]
        found[k] = gradient(y, x)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[k] == [300, 299 * 300 / 2, 0] for k in range(4))


# --- other libraries -----------------------------------------------------------------------------

REFUSED = [
    ("dask.array", False),  # NumPy's nonzero() takes no 0-d masks
    ("dask.array", True),
]


@pytest.mark.parametrize("library", ["numpy", "array_api_strict", "dask.array"])
@pytest.mark.parametrize(
    "mask", [[False, False], [False, True], [True, True], False, True], ids=str
)
def test_masks(library: str, mask: Any, request: pytest.FixtureRequest) -> None:
    xp = pytest.importorskip(library)
    if (library, mask) in REFUSED:
        request.applymarker(pytest.mark.xfail(strict=True, raises=(IndexError, ValueError)))
    x = ag.tensor(xp.asarray(np.ones(np.shape(mask))), requires_grad=True)
    y = x * 2
    y[xp.asarray(np.asarray(mask))] = 0.5
    assert ag.grad(ag.sum(y), x).tolist() == np.where(mask, 0.0, 2.0).tolist()


# --- cost and memory -----------------------------------------------------------------------------


def fill(n: int) -> float:
    """The time it takes to fill an array from itself and to differentiate that."""
    x = ag.tensor(0.5, requires_grad=True)
    h = ag.zeros(n)
    start = time.process_time()
    h[0] = x
    for i in range(1, n):
        h[i] = h[i - 1] * x
    ag.grad(h.sum(), x)
    return time.process_time() - start


def test_writes_cost_the_same_however_many() -> None:
    fill(1000)
    short = min(fill(2000) for _ in range(3))
    long = min(fill(16_000) for _ in range(2))
    assert long < 8 * short * 2.5  # it would be 64 times as much if each cost as much as the array


def test_a_graph_of_writes_goes_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf()
        y = x * 1
        views = [y[:2], y[1:], y.reshape((3, 1))]
        for _ in range(100_000):
            y[0] = x[1]
        node = weakref.ref(y.grad_fn)
        tensor = weakref.ref(y)
        assert [v.requires_grad for v in views] == [True] * 3
        del y, views
        assert node() is None
        assert tensor() is None
    finally:
        gc.enable()
