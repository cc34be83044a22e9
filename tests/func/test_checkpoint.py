"""`checkpoint`: the same derivatives, for less memory and steps that are computed twice."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from rows import crossed

import arraygrad as ag
from arraygrad.autograd.graph import saved_tensors_hooks
from arraygrad.backends.numpy.blocks import LARGE
from arraygrad.errors import GraphFreedError, WrittenError
from arraygrad.func import checkpoint, grad, hessian, jacrev, jvp, recompute, vmap

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

    close(ag.grad(checkpoint(f)(x).sum(), x), np.exp(3 * A))


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
    found = ag.grad(checkpoint(f)(x), x, np.eye(3), is_grads_batched=True)
    close(found, jacrev(f)(A))


def test_retain_graph(x: ag.Tensor) -> None:
    y = checkpoint(f)(x).sum()
    close(ag.grad(y, x, retain_graph=True), grad(total)(A))
    close(ag.grad(y, x), grad(total)(A))
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        ag.grad(y, x)


def test_results_may_be_differentiated_apart(x: ag.Tensor) -> None:
    a, b = checkpoint(lambda x: (f(x), ag.cos(x)))(x)
    close(ag.grad(a.sum(), x, retain_graph=True), grad(total)(A))
    close(ag.grad(b.sum(), x), -np.sin(A))


# --- the function runs once ----------------------------------------------------------------------


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
def test_a_sweep_runs_each_step_once_more(
    function: Any, create_graph: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    compute = recompute._Run._compute

    def counted(run: Any) -> Any:
        runs.append(run)
        return compute(run)

    monkeypatch.setattr(recompute._Run, "_compute", counted)
    calls = []
    x = ag.tensor(np.linspace(0.1, 0.6, 6), requires_grad=True)
    y = checkpoint(lambda x: calls.append(1) or function(x))(x)
    found = ag.grad(y, x, create_graph=create_graph)
    assert len(calls) == 1
    assert len(runs) <= 1
    close(found, ag.grad(function(x), x))


def test_only_steps_that_are_needed_run_again(x: ag.Tensor) -> None:
    def g(x: Any) -> Any:
        y = ag.exp(ag.sin(x) * x)  # exp saves its result, which is returned: so it is there
        return y, ag.cos(x).sum() + 1

    kept = checkpoint(g)(x)
    run = kept[0].grad_fn.saved[0].run
    assert [step.function.__name__ for step in run._steps] == ["sin", "multiply", "exp"]
    close(ag.grad(kept[0].sum(), x), ag.grad(g(x)[0].sum(), x))


def test_a_result_that_was_written_is_computed_again(x: ag.Tensor) -> None:
    expected = ag.grad(ag.exp(x).sum(), x)
    y = checkpoint(ag.exp)(x)
    y += 1
    close(ag.grad(y.sum(), x), expected)


def test_what_is_drawn_and_counted_is_as_in_the_one_run(x: ag.Tensor) -> None:
    generator = np.random.default_rng(0)
    numbers, calls = [], [0]

    def g(x: Any) -> Any:
        numbers.append(generator.normal(size=3))
        calls[0] += 1
        return ag.exp(x) * numbers[-1] * calls[0] * x

    for _ in range(3):
        found = ag.grad(checkpoint(g)(x).sum(), x)
        close(found, np.exp(A) * (1 + A) * numbers[-1] * calls[0])
    assert calls == [3]


def test_results_share_no_memory(x: ag.Tensor) -> None:
    y = x * 1
    for function in (lambda y: (y * 1)[::2], lambda y: (y + 0).T, lambda y: ag.sin(y)[1:]):
        part = checkpoint(function)(y)
        expected = function(y).detach().numpy() + 1
        part += 1
        close(part, expected)
        close(y, A)
    part = checkpoint(lambda y: y[1:])(y)  # of an argument, it is a view, as without a checkpoint
    part += 1
    close(y, [0.5, 2, 2.5])
    a, b = checkpoint(lambda y: [ag.sin(y)] * 2)(y)
    assert a is b
    for several in (lambda z: (z, z.T), lambda z: (z[1:], z), lambda z: (z, ag.reshape(z, (3, 1)))):
        for i in range(2):
            found = checkpoint(lambda x: several(ag.sin(x)))(x)  # noqa: B023
            other = found[1 - i].detach().numpy().copy()
            found[i].mul_(2)
            close(found[1 - i], other)


def test_a_tensor_from_outside_is_written_between_two_uses(x: ag.Tensor) -> None:
    w, memory = ag.tensor(2 * A), ag.zeros(3)

    def g(x: Any) -> Any:
        y = ag.sin(x * w)
        w.mul_(2)
        memory.copy_(y.detach())
        z = ag.cos(x * w) * ag.exp(memory * x)
        w[0] = 5.0
        return y * z * w * x

    expected = ag.grad(g(x).sum(), x)
    w.copy_(ag.tensor(2 * A))
    close(ag.grad(checkpoint(g)(x).sum(), x), expected)


def test_an_argument_comes_back_as_it_is(x: ag.Tensor) -> None:
    found = checkpoint(lambda x: (x, ag.sin(x)))(x)
    assert found[0] is x


def test_arrays_that_are_kept_outside(x: ag.Tensor) -> None:
    kept = []

    def g(x: Any) -> Any:
        kept.append(ag.exp(x))
        return kept[0] * x

    y = checkpoint(g)(x)
    close(kept[0], np.exp(A))
    assert repr(kept[0]) == repr(ag.exp(x))
    close(kept[0] * 2 + x, 2 * np.exp(A) + A)
    close(ag.grad(y.sum(), x, retain_graph=True), np.exp(A) * (1 + A))
    close(ag.grad(kept[0].sum(), x), np.exp(A))
    later = checkpoint(lambda x: kept[0].detach() * ag.sin(x))(x)  # in another checkpoint
    close(ag.grad(later.sum(), x), np.exp(A) * np.cos(A))


# --- what the function takes from outside, and changes -------------------------------------------


class Kept:
    """A place for a tensor."""

    def __init__(self, w: Any) -> None:
        self.w = w


def by_variable(w: Any) -> tuple[Any, Any]:
    return (lambda x: ag.sin(x * w) * w), lambda: w


def by_attribute(w: Any) -> tuple[Any, Any]:
    kept = Kept(w)
    return (lambda x: ag.sin(x * kept.w) * kept.w), lambda: kept.w


def by_item(w: Any) -> tuple[Any, Any]:
    kept = {"w": [w]}
    return (lambda x: ag.sin(x * kept["w"][0]) * kept["w"][0]), lambda: kept["w"][0]


def by_view(w: Any) -> tuple[Any, Any]:
    return (lambda x: ag.sin(x * w[:]) * w[:]), lambda: w[:2]


def by_itself(w: Any) -> tuple[Any, Any]:
    return (lambda x: ag.sin(x * (w * w) ** 0.5) * (w + 0)), lambda: w


def in_nested_checkpoints(w: Any) -> tuple[Any, Any]:
    inner = checkpoint(lambda x: ag.sin(x * w))
    return (lambda x: inner(x) * w), lambda: w


PLACES = [by_variable, by_attribute, by_item, by_view, by_itself, in_nested_checkpoints]


def multiply(w: Any) -> None:
    w *= 3


def assign(w: Any) -> None:
    w[0] = 7.0


def copy(w: Any) -> None:
    w.copy_(w * 2 + 1)


CHANGES = [multiply, assign, copy]


def made_of_numbers(x: Any) -> Any:
    return ag.tensor(np.array([2.0, 3.0, 4.0]))


def made_of_the_argument(x: Any) -> Any:
    return ag.copy(x) * 2 + 1


USES = {
    "ag.grad": lambda f: (lambda x: ag.grad(f(x), x).numpy())(ag.tensor(A, requires_grad=True)),
    "grad": lambda f: grad(f)(A),
    "vmap of grad": lambda f: vmap(grad(f))(M),
    "grad of vmap": lambda f: grad(lambda m: vmap(f)(m).sum())(M),
    "jvp of grad": lambda f: jvp(grad(f), (A,), (A,)),
    "grad of jvp": lambda f: grad(lambda x: jvp(f, (x,), (A,))[1])(A),
    "hessian": lambda f: hessian(f)(A),
    "compile of grad": lambda f: ag.compile(grad(f))(A),
    "grad of compile": lambda f: grad(ag.compile(f))(A),
}


@crossed(place=PLACES, change=CHANGES, make=[made_of_numbers, made_of_the_argument], use=USES)
def test_a_tensor_from_outside_is_written_later(
    place: Any, change: Any, make: Any, use: str
) -> None:
    def program(x: Any, around: Any) -> Any:
        w = make(x)
        function, written = place(w)
        y = around(function)(x)
        change(written())
        return (y * y).sum() + (w * 0).sum()

    try:
        expected = USES[use](lambda x: program(x, lambda function: function))
    except TypeError as error:  # a compiled function cannot write to a tensor made of numbers
        with pytest.raises(TypeError, match=re.escape(str(error))):
            USES[use](lambda x: program(x, checkpoint))
        return
    found = USES[use](lambda x: program(x, checkpoint))
    for one, other in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        close(one, other)


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
        with pytest.raises(WrittenError, match="compute values again"):
            ag.grad(z, x)


def test_a_leaf_from_outside_that_was_written_is_restored(x: ag.Tensor) -> None:
    w = ag.tensor(2 * A, requires_grad=True)
    z = checkpoint(lambda x: ag.exp(x + w))(x).sum()
    with ag.no_grad():
        w += 1
    close(ag.grad(z, [x, w])[1], np.exp(3 * A))
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

    close(ag.grad(checkpoint(spoils)(x).sum(), x), 2 * np.exp(2 * A))


def test_errors_leave_the_modes_as_they_were(x: ag.Tensor) -> None:
    def fails(x: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        checkpoint(fails)(x)
    with ag.no_grad():
        with pytest.raises(ZeroDivisionError):
            checkpoint(fails)(x)
        assert not ag.is_grad_enabled()
    # Nodes are recorded as usual afterwards: nothing of the checkpoint is left in force.
    close(ag.grad(ag.sin(x).sum(), x), np.cos(A))


def test_within_other_hooks_and_anomaly_detection(x: ag.Tensor) -> None:
    packed: list[Any] = []

    def pack(t: Any) -> Any:
        packed.append(t.shape)
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        y = checkpoint(lambda x: f(x[:2]))(x).sum()
    # Of the inside, nothing is packed but what its first step reads; the sum saves nothing.
    assert packed == [(2,)]
    close(ag.grad(y, x)[:2], grad(total)(A)[:2])
    with ag.autograd.detect_anomaly():
        close(ag.grad(checkpoint(f)(x).sum(), x), grad(total)(A))


def test_grad_modes_inside(x: ag.Tensor) -> None:
    def g(x: Any) -> Any:
        with ag.no_grad():
            constant = x**2
        return constant * x

    close(ag.grad(checkpoint(g)(x).sum(), x), A**2)


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


def test_a_function_that_writes_outside_writes_once() -> None:
    calls, total = ag.zeros(1), ag.tensor([0.0, 0.0])

    def counts(x: Any) -> Any:
        calls[0] += 1.0
        return ag.sin(x) * x

    def accumulates(x: Any) -> Any:
        y = ag.sin(x)
        total.add_(y.detach())
        total[:1] += 1.0
        return y * x

    for function, tensor in ((counts, calls), (accumulates, total)):
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        y = checkpoint(function)(x)
        once = tensor.tolist()
        assert type(tensor.array) is np.ndarray
        found = ag.grad(y.sum(), x)
        values = np.array([1.0, 2.0])
        close(found, np.cos(values) * values + np.sin(values))
        assert tensor.tolist() == once
    close(total, [np.sin(1) + 1, np.sin(2)])


def test_a_function_that_fills_an_array() -> None:
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


READS: dict[str, Any] = {
    "comparison": lambda x: x * x if ag.sum(x) > 0 else x,
    "truth": lambda x: x * x if ag.sum(x) else x,
    "float": lambda x: x * float(ag.sum(x).detach()),
    "int": lambda x: x * int(ag.sum(x).detach()),
    "complex": lambda x: x * complex(ag.sum(x).detach()).real,
    "index": lambda x: x * [2.0, 3.0, 5.0, 7.0][ag.argmax(x)],
    "in": lambda x: x * (3.0 if 2.0 in x else 5.0),
    "largest": max,
    "steps": lambda x: _doubled_until(x, 50.0),
}


def _doubled_until(x: Any, limit: float) -> Any:
    while ag.sum(x * x) < limit:
        x = 2 * x * x
    return x


@pytest.mark.parametrize("name", READS)
def test_python_reads_values(name: str) -> None:
    def total(x: Any) -> Any:
        return ag.sum(READS[name](x))

    values = np.array([1.0, 1.5, 2.0])
    wanted = grad(total)(values)
    found = grad(checkpoint(total))(values)
    np.testing.assert_allclose(found, wanted)
    leaf = ag.tensor(values, requires_grad=True)
    checkpoint(total)(leaf).backward()
    np.testing.assert_allclose(leaf.grad, wanted)


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
