"""What was overwritten has the gradient zero: also where it was infinite, or NaN."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FIRST = np.array([True, False, False])


def masked(x: Any) -> Any:
    y = ag.log(x)
    y[FIRST] = 0.0
    return y


def by_index(x: Any) -> Any:
    y = ag.log(x)
    y[0] = x[1]
    return y


def of_several_uses(x: Any) -> Any:
    h = x * 2
    y = ag.log(h) + h / (h * h)
    y[0] = 0.0
    return y


def through_a_view(x: Any) -> Any:
    y = ag.reshape(ag.log(x), (3, 1)) * ag.asarray([1.0, 2.0])
    y.T[:, 0] = 0.0
    return y


def in_two_steps(x: Any) -> Any:
    y = ag.log(x)
    y[:2] *= x[:2] ** -2.0
    y[0] = 1.0
    return y


def after_a_reading(x: Any) -> Any:
    y = ag.log(x)
    taken = ag.take_along_axis(y, ag.asarray([1, 2, 1]), axis=0)
    y[FIRST] = 2.0
    return y * taken + y[1]


def summed_before(x: Any) -> Any:
    y = ag.sum(ag.stack([ag.log(x), x]), axis=0)
    y[FIRST] = 0.0
    return y


def running(x: Any) -> Any:
    y = ag.cumulative_sum(ag.flip(ag.log(x)))
    y[-1] = 0.0
    return y


def along_lines(x: Any) -> Any:
    y = ag.special.softmax(ag.reshape(ag.log(x), (3, 1)) * ag.asarray([1.0, 2.0]), axis=1)
    y[0] = 0.0
    return y


def multiplied(x: Any) -> Any:
    y = ag.reshape(ag.log(x), (3, 1)) @ ag.asarray([[1.0, 2.0]])
    y[0] = 0.0
    return y


def of_matrices(x: Any) -> Any:
    y = ag.linalg.det(ag.reshape(ag.log(x), (3, 1, 1)) * ag.asarray([[2.0, 1.0], [1.0, 3.0]]))
    y[0] = 0.0
    return y


def by_out(x: Any) -> Any:
    return np.log(x, out=ag.zeros_like(x), where=x > 0)


def by_a_mask_of_a_sum(x: Any) -> Any:
    return np.sum(np.log(x), where=x > 0)


def copied(x: Any) -> Any:
    y = ag.zeros_like(x)
    np.copyto(y, 1 / x, where=~FIRST)
    return y


def without_nan(x: Any) -> Any:
    return ag.nansum(x * x / x)


CASES = [
    masked,
    by_index,
    of_several_uses,
    through_a_view,
    in_two_steps,
    after_a_reading,
    summed_before,
    running,
    along_lines,
    multiplied,
    of_matrices,
    by_out,
    by_a_mask_of_a_sum,
    copied,
    without_nan,
]


def number(function: Callable[[Any], Any], x: Any) -> Any:
    return ag.sum(function(x) ** 2)


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", [1, 2])
def test_it_is_as_if_it_had_never_been_there(function: Any, order: int) -> None:
    """At zero, where the overwritten value has no derivative: the same as next to it."""

    def derivative(first: float) -> Any:
        take: Any = ag.func.grad(lambda x: number(function, x))
        return (take if order == 1 else ag.func.hessian(lambda x: number(function, x)))(
            np.array([first, 1.3, 2.1])
        )

    found = derivative(0.0)
    assert np.isfinite(found).all()
    near = derivative(0.0 if function is by_out else 1e-3)
    if function not in (by_a_mask_of_a_sum, without_nan):  # there the mask is that of other values
        np.testing.assert_allclose(found, near, rtol=1e-12, atol=1e-12)
    x = ag.tensor([0.0, 1.3, 2.1], requires_grad=True)
    step = ag.func.jvp(lambda x: number(function, x), (x.array,), (np.array([0.0, 1.0, -1.0]),))
    if order == 1:
        np.testing.assert_allclose(found @ [0.0, 1.0, -1.0], step[1])


def test_what_is_covered_altogether_gets_no_gradient_at_all() -> None:
    # Its value came from an op that mixes all elements, which would make NaN of zeros.
    a = ag.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    for cover in (lambda y: y.fill_(1.0), lambda y: y.__setitem__([1, 0], a[1]), ag.Tensor.zero_):
        z = ag.asarray(np.full((2, 2), np.inf)) @ x + a[0]
        cover(z)
        assert ag.grad(z.sum(), x, retain_graph=True).tolist() == [0.0, 0.0]
        (g,) = ag.grad(z.sum() + x[0] ** 2, [x], create_graph=True)
        assert g.tolist() == [2.0, 0.0]
        assert ag.grad(g[0], x).tolist() == [2.0, 0.0]


def test_a_connected_input_is_not_unused() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y[...] = x[0]
    half = ag.tensor([1.0, 2.0], requires_grad=True)
    z = half * 1
    z[:] = 0.0
    total = (y + z).sum()
    assert [g.tolist() for g in ag.grad(total, (x, half), retain_graph=True)] == [[2, 0], [0, 0]]
    total.backward()
    assert half.grad is not None
    assert half.grad.tolist() == [0, 0]


def test_hooks_may_put_in_what_they_like() -> None:
    x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g + 1)
    z = ag.exp(y) * 0 + y
    z[0] = 0.0
    assert ag.grad(z.sum(), x).tolist() == [2, 4, 4]


def test_anomaly_detection_finds_nothing_wrong() -> None:
    x = ag.tensor([0.0, 1.0, 2.0], requires_grad=True)
    with ag.autograd.detect_anomaly():
        assert ag.grad(masked(x).sum(), x).tolist() == [0, 1, 0.5]


def test_real_parts_are_parts_of_elements() -> None:
    z = ag.tensor([1.0 + 2.0j, 3.0 - 1.0j], requires_grad=True)
    w = z * z
    w.real[...] = 0.0
    expected = [4 + 2j, -2 + 6j]  # of the imaginary part, 2 Re(z) Im(z)
    assert ag.grad(ag.sum(ag.imag(w)), z).tolist() == expected


def test_jacobians() -> None:
    def function(x: Any) -> Any:
        y, z = ag.log(x), ag.sqrt(x) * 1
        y[0] = 0.0
        z[:] = x[1]
        return y + z

    x = np.array([0.0, 1.0, 2.0])
    expected = [[0, 1, 0], [0, 2, 0], [0, 1, 0.5]]
    np.testing.assert_allclose(ag.func.jacrev(function)(x), expected)
    np.testing.assert_allclose(ag.func.jacfwd(function)(x), expected)
    np.testing.assert_allclose(ag.func.vmap(ag.func.jacrev(function))(x[None])[0], expected)


def test_per_sample() -> None:
    rows = np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0]])
    found = ag.func.vmap(ag.func.grad(lambda x: ag.sum(masked(x))))(rows)
    np.testing.assert_allclose(found, [[0, 1, 1 / 2], [0, 1 / 3, 1 / 4]])


def test_writing_element_by_element_takes_time_in_proportion() -> None:
    def seconds(n: int) -> float:
        x = ag.tensor(np.ones(n), requires_grad=True)
        y = x * 1
        for i in range(n):
            y[i] = x[i] * 2
        total = y.sum()
        start = time.process_time()
        assert ag.grad(total, x)[0] == 2
        return time.process_time() - start

    assert min(seconds(1600) for _ in range(3)) < 16 * min(seconds(200) for _ in range(3))


@pytest.mark.parametrize("library", ["numpy", "torch", "dask.array", "array_api_strict"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_number_in_a_partly_overwritten_array(library: str, create_graph: bool) -> None:
    xp = pytest.importorskip(library)
    x = ag.tensor(xp.asarray(np.array([1.0, 2.0, 3.0])), requires_grad=True)
    s = ag.sin(x[0])
    a = x * s
    a[1] = 0.0
    (found,) = ag.grad([a.sum()], [x], create_graph=create_graph)
    expected = [np.sin(1) + 4 * np.cos(1), 0.0, np.sin(1)]
    np.testing.assert_allclose(found.detach().tolist(), expected)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_written_number_in_two_partly_overwritten_arrays() -> None:
    x = ag.tensor([1.0, 2.0, np.nan], requires_grad=True)
    s = ag.zeros(())
    s[...] = x[0]
    s *= 2
    a, b = x * s, ag.log(x - 1) * s
    a[2], b[0], b[2] = 0.0, 0.0, 0.0
    # The sum is 2 x0 (x0 + x1 + log(x1 - 1)).
    assert ag.grad(a.sum() + b.sum(), x).tolist() == [8.0, 4.0, 0.0]


def test_numbers_used_in_partly_overwritten_arrays() -> None:
    """The masks of arrays without axes are arrays, too, which can be written."""
    x = ag.tensor([0.0, 2.0, 3.0], requires_grad=True)
    total = x.sum()
    total[...] = total * 2
    first, second = ag.sqrt(x) * total, ag.log(x + 1) * total
    first[0] = 0.0
    second[1] = 0.0
    y = first.sum() + second.sum()
    found = ag.grad(y, x)

    def expected(x: Any) -> Any:
        t = 2 * (x[0] + x[1] + x[2])
        return t * (np.sqrt(x[1]) + np.sqrt(x[2]) + np.log(x[0] + 1) + np.log(x[2] + 1))

    h = 1e-6 * np.eye(3)
    at = np.array([0.0, 2.0, 3.0])
    slopes = [(expected(at + e) - expected(at - e)) / 2e-6 for e in h]
    np.testing.assert_allclose(found.numpy(), slopes, rtol=1e-6)


def test_a_users_rule_runs_once() -> None:
    calls: list[int] = []

    @ag.func.custom(vjp=lambda g, x: (calls.append(1), g / x)[1], batch="elementwise")
    def log(x: Any) -> Any:
        return np.log(x)

    x = ag.tensor([0.0, 2.0, 3.0], requires_grad=True)
    with np.errstate(divide="ignore"):
        y = log(x)
    y[0] = 1.0
    np.testing.assert_allclose(ag.grad(y.sum(), x).numpy(), [0.0, 1 / 2, 1 / 3])
    assert len(calls) == 1
