"""`checkpoint`: the same derivatives, for less memory and one more run."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd.graph import disable_saved_tensors_hooks, saved_tensors_hooks
from arraygrad.backends.numpy.blocks import LARGE
from arraygrad.errors import GraphFreedError, RuleError, WrittenError
from arraygrad.func import checkpoint, grad, hessian, jacrev, jvp, vmap

A = np.array([0.5, 1.0, 1.5])
M = np.stack([A, A + 0.25])


def f(x: Any) -> Any:
    return ag.sin(ag.exp(x * 0.1) * x)


def total(x: Any) -> Any:
    return f(x).sum()


def close(found: Any, expected: Any) -> None:
    found = found.detach() if isinstance(found, ag.Tensor) else found
    expected = expected.detach() if isinstance(expected, ag.Tensor) else expected
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.fixture
def x() -> ag.Tensor:
    return ag.tensor(A, requires_grad=True)


class Counter:
    """A function that counts how often it is called, and how far it gets."""

    def __init__(self) -> None:
        self.calls = self.ends = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        y = f(x)
        z = y + 1  # saves nothing
        self.ends += 1
        return z


# --- derivatives ---------------------------------------------------------------------------------


def test_first_and_higher_derivatives(x: ag.Tensor) -> None:
    close(checkpoint(f)(x), f(A))
    close(ag.grad(checkpoint(f)(x).sum(), x), grad(total)(A))
    first = ag.grad(checkpoint(f)(x).sum(), x, create_graph=True)
    second = ag.grad(first.sum(), x, create_graph=True)
    close(second, grad(lambda x: grad(total)(x).sum())(A))
    close(
        ag.grad(second.sum(), x),
        grad(lambda x: grad(lambda x: grad(total)(x).sum())(x).sum())(A),
    )


def test_backward(x: ag.Tensor) -> None:
    checkpoint(f)(x).sum().backward()
    checkpoint(f)(x).sum().backward()
    close(x.grad, 2 * grad(total)(A))


@pytest.mark.parametrize(
    ("plain", "checkpointed", "argument"),
    [
        (grad(total), grad(lambda x: checkpoint(f)(x).sum()), A),
        (hessian(total), hessian(lambda x: checkpoint(f)(x).sum()), A),
        (jacrev(f), jacrev(checkpoint(f)), A),
        (lambda x: jvp(f, (x,), (A,))[1], lambda x: jvp(checkpoint(f), (x,), (A,))[1], A),
        (vmap(f), vmap(checkpoint(f)), M),
        (vmap(grad(total)), vmap(grad(lambda x: checkpoint(f)(x).sum())), M),
        (
            grad(lambda m: vmap(f)(m).sum()),
            grad(lambda m: vmap(checkpoint(f))(m).sum()),
            M,
        ),
        (
            grad(lambda m: vmap(f)(m).sum()),
            grad(lambda m: checkpoint(vmap(f))(m).sum()),
            M,
        ),
        # Functions that differentiate inside; also after the batch around them is gone.
        (
            grad(lambda m: vmap(grad(total))(m).sum()),
            grad(lambda m: vmap(checkpoint(grad(total)))(m).sum()),
            M,
        ),
        (
            jacrev(vmap(lambda x: grad(lambda y: total(x + y) * x.sum())(A))),
            jacrev(vmap(checkpoint(lambda x: grad(lambda y: total(x + y) * x.sum())(A)))),
            M,
        ),
        (
            grad(lambda x: grad(total)(x).sum()),
            grad(lambda x: checkpoint(grad(total))(x).sum()),
            A,
        ),
        (
            grad(lambda x: hessian(total)(x).sum()),
            grad(lambda x: checkpoint(hessian(checkpoint(total)))(x).sum()),
            A,
        ),
    ],
)
def test_in_transforms(plain: Any, checkpointed: Any, argument: Any) -> None:
    close(checkpointed(argument), plain(argument))


def test_a_function_that_calls_ag_grad(x: ag.Tensor) -> None:
    def slope(x: Any) -> Any:
        return ag.grad((x**3).sum(), x, create_graph=True)

    close(ag.grad(checkpoint(slope)(x).sum(), x), 6 * A)


def test_a_function_that_calls_ag_grad_of_its_own_graph(x: ag.Tensor) -> None:
    """What the gradient inside frees is also saved by the function."""

    def f(x: Any) -> Any:
        y = ag.tensor(x.detach().numpy(), requires_grad=True)
        z = ag.exp(y)
        g = ag.grad(z.sum(), y)
        return ag.exp(x) * z.detach() * g

    for stops in (True, False):
        result = checkpoint(f, early_stop=stops)(x)
        close(ag.grad(result.sum(), x), np.exp(3 * A))


def test_nested(x: ag.Tensor) -> None:
    def deep(x: Any) -> Any:
        return checkpoint(f)(x) * checkpoint(lambda y: checkpoint(ag.cos)(y))(x)

    expected = grad(lambda x: (f(x) * ag.cos(x)).sum())(A)
    close(ag.grad(checkpoint(deep)(x).sum(), x), expected)
    first = ag.grad(checkpoint(deep)(x).sum(), x, create_graph=True)
    close(
        ag.grad(first.sum(), x),
        grad(lambda x: grad(lambda x: (f(x) * ag.cos(x)).sum())(x).sum())(A),
    )


def test_structures_and_keywords(x: ag.Tensor) -> None:
    def g(p: Any, *, k: Any) -> Any:
        return {"a": p["x"][0] ** 2 * k[0], "b": [p["x"][0], "text"]}

    result = checkpoint(g)({"x": [x]}, k=(2.0,))
    assert result["b"][1] == "text"
    close(ag.grad(result["a"].sum(), x), 4 * A)


def test_closures(x: ag.Tensor) -> None:
    w = ag.tensor(2 * A, requires_grad=True)
    a, b = ag.grad(checkpoint(lambda x: f(x * w))(x).sum(), [x, w])
    c, d = ag.grad(f(x * w).sum(), [x, w])
    close(a, c)
    close(b, d)
    first = ag.grad(checkpoint(lambda x: f(x * w))(x).sum(), x, create_graph=True)
    close(
        ag.grad(first.sum(), w),
        ag.grad(ag.grad(f(x * w).sum(), x, create_graph=True).sum(), w),
    )


def test_batched_gradients(x: ag.Tensor) -> None:
    counter = Counter()
    found = ag.grad(checkpoint(counter)(x), x, np.eye(3), is_grads_batched=True)
    close(found, jacrev(f)(A))
    assert counter.calls == 2


def test_retain_graph(x: ag.Tensor) -> None:
    counter = Counter()
    y = checkpoint(counter)(x).sum()
    close(ag.grad(y, x, retain_graph=True), grad(total)(A))
    close(ag.grad(y, x), grad(total)(A))
    assert counter.calls == 3
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        ag.grad(y, x)


def test_results_may_be_differentiated_apart(x: ag.Tensor) -> None:
    a, b = checkpoint(lambda x: (f(x), ag.cos(x)))(x)
    close(ag.grad(a.sum(), x, retain_graph=True), grad(total)(A))
    close(ag.grad(b.sum(), x), -np.sin(A))


# --- the second run ------------------------------------------------------------------------------


def test_early_stop(x: ag.Tensor) -> None:
    counter = Counter()
    ag.grad(checkpoint(counter)(x).sum(), x)
    assert (counter.calls, counter.ends) == (2, 1)
    counter = Counter()
    ag.grad(checkpoint(counter, early_stop=False)(x).sum(), x)
    assert (counter.calls, counter.ends) == (2, 2)


class Layers:
    """A chain of layers that notes which it was asked for."""

    def __init__(self, weights: Any) -> None:
        self.weights = weights
        self.begun: list[int] = []

    def __call__(self, x: Any) -> Any:
        for i in range(4):
            self.begun.append(i)
            x = ag.tanh(x @ self.weights)
        return x


@pytest.fixture
def layers() -> Layers:
    return Layers(ag.tensor(np.outer(A, A) - 0.5, requires_grad=True))


def test_the_second_run_stops_where_the_rest_is_at_hand(layers: Layers, x: ag.Tensor) -> None:
    both = [x, layers.weights]
    # The last layer's result is the next chain's argument, and its argument is saved before it.
    y = checkpoint(layers)(checkpoint(layers)(x))
    expected = ag.grad(layers(layers(x)).sum(), both)
    layers.begun.clear()
    found = ag.grad(y.sum(), both, retain_graph=True)
    assert layers.begun == [0, 1, 2] * 2
    for g, e in zip(found, expected, strict=True):
        close(g, e)
    total = y.sum()
    del y
    layers.begun.clear()
    for g, e in zip(ag.grad(total, both), expected, strict=True):
        close(g, e)
    assert layers.begun == [0, 1, 2, 3, 0, 1, 2]


def test_a_result_that_was_written_is_computed_again(layers: Layers, x: ag.Tensor) -> None:
    expected = ag.grad(layers(x).sum(), x)
    y = checkpoint(layers)(x)
    y += 1
    layers.begun.clear()
    close(ag.grad(y.sum(), x), expected)
    assert layers.begun == [0, 1, 2, 3]


def test_second_derivatives_where_the_rest_is_at_hand(layers: Layers, x: ag.Tensor) -> None:
    def second(f: Any) -> Any:
        y = f(x)
        (first,) = ag.grad((y * y).sum(), [x], create_graph=True)
        return ag.grad(first.sum(), layers.weights)

    close(second(checkpoint(layers)), second(layers))


def five_reads(x: Any) -> Any:
    return x[0] * (x[1] + x[2] + x[3] + x[4])


def five_reads_by_arrays(x: Any) -> Any:
    first = np.arange(2)
    return sum((x[first + i] ** 2).sum() for i in range(5))


def five_writes(x: Any) -> Any:
    y = ag.zeros(5)
    for i in range(5):
        y[i] = x[i] * x[4 - i]
    return (y * y).sum()


def many_elements(x: Any) -> Any:
    y = ag.tile(x, (2 * LARGE // 6,))
    for _ in range(4):
        y = ag.sin(y) * y
    return y.sum()


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("function", [five_reads, five_reads_by_arrays, five_writes, many_elements])
def test_one_sweep_runs_the_function_once_more(function: Any, create_graph: bool) -> None:
    calls = 0

    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return function(x)

    x = ag.tensor(np.linspace(0.1, 0.6, 6), requires_grad=True)
    found = ag.grad(checkpoint(counted)(x), x, create_graph=create_graph)
    assert calls == 2
    close(found, ag.grad(function(x), x))


def test_nothing_is_run_again_without_need(x: ag.Tensor) -> None:
    counter = Counter()
    y = checkpoint(counter)(x)
    assert y.requires_grad
    with ag.no_grad():
        assert not checkpoint(counter)(x).requires_grad
    ag.grad(checkpoint(lambda x: x + 1)(x).sum(), x)
    assert counter.calls == 2


class Changing:
    """A function that does another thing when it is called again."""

    def __init__(self, first: Any, then: Any) -> None:
        self.functions = [first, then]

    def __call__(self, x: Any) -> Any:
        return self.functions.pop(0)(x)


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        (lambda x: (ag.sin(x) * x).sum(), lambda x: ag.sin(x).sum(), "saved 3 arrays .* and 1"),
        (lambda x: ag.sin(x).sum(), lambda x: ag.sin(x[:2]).sum(), r"shape \(3,\).*shape \(2,\)"),
        (
            lambda x: ag.sin(x).sum(),
            lambda x: ag.sin(ag.astype(x, np.float32)).sum(),
            "dtype float64 .* dtype float32",
        ),
        (lambda x: ag.sin(x).sum(), lambda x: ag.cos(ag.sin(x)).sum(), "saved 1 arrays .* and 2"),
    ],
)
def test_a_second_run_that_differs_is_noticed(
    x: ag.Tensor, first: Any, then: Any, message: str
) -> None:
    y = checkpoint(Changing(first, then), early_stop=False)(x)
    with pytest.raises(RuleError, match=message):
        ag.grad(y, x)


def test_another_op_in_the_second_run_is_noticed(x: ag.Tensor) -> None:
    y = checkpoint(Changing(ag.sin, ag.cos))(x).sum()
    with pytest.raises(RuleError, match=r"a result of sin .* a result of cos"):
        ag.grad(y, x)


def test_another_choice_of_inputs_in_the_second_run_is_noticed(x: ag.Tensor) -> None:
    w = ag.tensor(2 * A)
    y = checkpoint(lambda x: ag.exp(x * w))(x).sum()
    w.requires_grad_()  # now products of it save what they are multiplied by, too
    with pytest.raises(RuleError, match=r"multiply .*by input 0\).*by input 0, 1\)"):
        ag.grad(y, x)


# Neither exp nor a sum saves what it is given: only the checkpoint needs it unchanged.
@pytest.mark.parametrize("allow", [True, False])
def test_an_argument_that_was_written_is_restored_or_refused(x: ag.Tensor, allow: bool) -> None:
    y = x * 1
    z = checkpoint(lambda y: ag.exp(y) * y)(y).sum()
    with ag.autograd.graph.allow_mutation_on_saved_tensors(allow):
        y += 1
    if allow:
        close(ag.grad(z, x), np.exp(A) * (1 + A))
    else:
        with pytest.raises(WrittenError, match="run on again"):
            ag.grad(z, x)


def test_a_tensor_from_outside_that_was_written_is_noticed(x: ag.Tensor) -> None:
    w = ag.tensor(2 * A, requires_grad=True)
    z = checkpoint(lambda x: ag.exp(x + w))(x).sum()
    with ag.no_grad():
        w += 1
    with pytest.raises(WrittenError, match="run on again"):
        ag.grad(z, [x, w])
    y = checkpoint(lambda x: x * ag.sin(x * w))(x).sum()
    close(ag.grad(y, w), A**2 * np.cos(A * (2 * A + 1)))


def test_writes_inside(x: ag.Tensor) -> None:
    def fills(x: Any) -> Any:
        y = x * 1
        y[0] = ag.exp(x[1]) * x[2]
        y += ag.sin(x)
        return y * y

    close(ag.grad(checkpoint(fills)(x).sum(), x), ag.grad(fills(x).sum(), x))
    first = ag.grad(checkpoint(fills)(x).sum(), x, create_graph=True)
    close(ag.grad(first.sum(), x), grad(lambda x: grad(lambda x: fills(x).sum())(x).sum())(A))

    def spoils(x: Any) -> Any:
        y = ag.exp(x)
        z = y * y
        y += 1
        return z

    close(ag.grad(checkpoint(spoils, early_stop=False)(x).sum(), x), 2 * np.exp(2 * A))
    close(ag.grad(checkpoint(spoils)(x).sum(), x), 2 * np.exp(2 * A))  # stops before the write


def test_the_check_can_be_left_out(x: ag.Tensor) -> None:
    changing = Changing(lambda x: ag.sin(x).sum(), lambda x: ag.cos(ag.sin(x)).sum())
    y = checkpoint(changing, check=False, early_stop=False)(x)
    close(ag.grad(y, x), np.cos(A))


def test_errors_leave_the_modes_as_they_were(x: ag.Tensor) -> None:
    def fails(x: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        checkpoint(fails)(x)
    with ag.no_grad():
        with pytest.raises(ZeroDivisionError):
            checkpoint(fails)(x)
        assert not ag.is_grad_enabled()
    y = checkpoint(Changing(ag.sin, fails))(x)
    with pytest.raises(ZeroDivisionError):
        ag.grad(y.sum(), x, retain_graph=True)
    assert ag.is_grad_enabled()
    # Nodes are recorded as usual afterwards: nothing of the checkpoint is left in force.
    close(ag.grad(ag.sin(x).sum(), x), np.cos(A))


def test_within_other_hooks_and_anomaly_detection(x: ag.Tensor) -> None:
    packed: list[Any] = []

    def pack(t: Any) -> Any:
        packed.append(t.shape)
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        y = checkpoint(lambda x: f(x[:2]))(x).sum()
    # Of the inside, nothing is packed but the argument; the sum saves nothing.
    assert packed == [(3,)]
    close(ag.grad(y, x)[:2], grad(total)(A)[:2])
    with ag.autograd.detect_anomaly():
        close(ag.grad(checkpoint(f)(x).sum(), x), grad(total)(A))


def test_grad_modes_inside(x: ag.Tensor) -> None:
    def g(x: Any) -> Any:
        with ag.no_grad():
            constant = x**2
        return constant * x

    close(ag.grad(checkpoint(g)(x).sum(), x), A**2)


def test_the_second_run_has_the_modes_of_the_first(x: ag.Tensor) -> None:
    def g(x: Any) -> Any:
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            pass
        return f(x)

    y = checkpoint(g)(x).sum()
    with disable_saved_tensors_hooks("not in this sweep"):
        found = ag.grad(y, x)
    close(found, grad(total)(A))


def test_a_function_is_needed() -> None:
    with pytest.raises(TypeError, match="takes a function"):
        checkpoint(3)  # type: ignore[arg-type]


# --- memory --------------------------------------------------------------------------------------

SIZE = 10_000


def chain(x: Any, length: int) -> Any:
    for _ in range(length):
        x = ag.sin(x)
    return x


def in_segments(x: Any, length: int) -> Any:
    step = round(length**0.5)
    for _ in range(length // step):
        x = checkpoint(lambda y: chain(y, step))(x)
    return x


def by_halves(x: Any, length: int) -> Any:
    """Checkpoints in checkpoints: only the way down to one place is ever in memory."""
    if length <= 4:
        return chain(x, length)
    half = length // 2
    x = checkpoint(lambda y: by_halves(y, half))(x)
    return checkpoint(lambda y: by_halves(y, length - half))(x)


def peak(function: Any, length: int) -> float:
    """The most memory that a gradient needs, in arrays."""
    x = ag.tensor(np.ones(SIZE), requires_grad=True)
    tracemalloc.start()
    try:
        ag.grad(function(x, length).sum(), x)
        return tracemalloc.get_traced_memory()[1] / (8 * SIZE)
    finally:
        tracemalloc.stop()


def test_memory_falls_to_the_square_root() -> None:
    assert peak(chain, 400) > 390
    assert peak(in_segments, 100) < 2 * 10 + 12
    assert peak(in_segments, 400) < 2 * 20 + 16
    assert peak(in_segments, 900) < 2 * 30 + 28


def test_nested_checkpoints_do_not_keep_the_inner_arguments() -> None:
    assert peak(by_halves, 256) < 40
    x = ag.tensor(np.linspace(0, 1, 5), requires_grad=True)
    close(ag.grad(by_halves(x, 64).sum(), x), ag.grad(chain(x, 64).sum(), x))


def test_a_function_that_writes_outside_is_not_run_twice() -> None:
    """The second run stops before it writes."""
    calls, total = ag.zeros(1), ag.tensor([0.0, 0.0])

    def counts(x: Any) -> Any:
        calls[0] += 1.0
        return ag.sin(x) * x

    def accumulates(x: Any) -> Any:
        y = ag.sin(x)
        total.add_(y.detach())
        return y * x

    for function, tensor in ((counts, calls), (accumulates, total)):
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        y = checkpoint(function)(x)
        once = tensor.tolist()
        with pytest.raises(RuntimeError, match="writes to a tensor from outside it"):
            ag.grad(y.sum(), x)
        assert tensor.tolist() == once


def test_a_function_that_writes_inside_is_run_again() -> None:
    def fills(x: Any) -> Any:
        y = ag.zeros_like(x)
        y[0] = x[0] * 2.0
        y[1:] = ag.sin(x[1:])
        return y * x

    x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    expected = ag.grad(fills(x).sum(), x)
    ag.testing.assert_close(ag.grad(checkpoint(fills)(x).sum(), x), expected)


def test_a_write_before_and_after_an_inner_checkpoint() -> None:
    def inner(y: Any) -> Any:
        return ag.sin(y) * y

    def outer(x: Any, inner: Any) -> Any:
        y = x * 1.0
        y[0] = 5.0 * x[1]
        z = inner(y)
        y[1] = 7.0
        return z * y

    x = np.array([0.3, 1.2, -0.7])
    expected = ag.func.grad(lambda x: outer(x, inner).sum())(x)
    checkpoint = ag.func.checkpoint
    for function in (
        lambda x: outer(x, checkpoint(inner)),
        checkpoint(lambda x: outer(x, inner)),
        checkpoint(lambda x: outer(x, checkpoint(inner))),
        checkpoint(lambda x: checkpoint(lambda x: outer(x, checkpoint(inner)))(x)),
    ):
        np.testing.assert_allclose(ag.func.grad(lambda x: function(x).sum())(x), expected)  # noqa: B023


def test_a_checkpoint_of_a_compiled_function() -> None:
    w = ag.tensor([1.0, 2.0, 4.0], requires_grad=True)
    compiled = ag.compile(lambda x: ag.sin(x * w) * x)
    x = np.array([0.3, 1.2, -0.7])
    for _ in range(3):
        found = ag.func.grad(lambda x: ag.func.checkpoint(compiled)(x).sum())(x)
        exact = np.cos(x * w.array) * w.array * x + np.sin(x * w.array)
        np.testing.assert_allclose(found.detach().array, exact)
        with ag.no_grad():
            w.mul_(0.5)
