"""Each pass of the compiler by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.compiler.fuse.fusion import Kernel, Plan
from arraygrad.compiler.fuse.kernels import body_of
from arraygrad.compiler.lower.core import (
    Builder,
    Elements,
    Filled,
    Padded,
    Reduction,
    View,
    through,
)
from arraygrad.compiler.lower.lowering import Lowering
from arraygrad.compiler.trace.interpret import values_of
from arraygrad.compiler.trace.program import Call, Full, Program, needed, text
from arraygrad.compiler.trace.traced import Trace

x = np.arange(12.0).reshape(3, 4)


def traced(function: Any, *arrays: Any) -> tuple[Trace, Any]:
    trace = Trace(arrays)
    return trace, function(*trace.inputs).node


def plan_of(function: Any, *arrays: Any) -> Plan:
    trace, node = traced(function, *arrays)
    lowering = Lowering([t.node for t in trace.inputs], trace)
    outputs = lowering.lower([node])
    given = [lowering.values[t.node] for t in trace.inputs]
    return Plan(given, outputs, lowering.values.__getitem__)


def lowered(function: Any, *arrays: Any) -> Any:
    trace, node = traced(function, *arrays)
    return Lowering([t.node for t in trace.inputs], trace).lower([node])[0]


# --- program -------------------------------------------------------------------------------------


def test_each_value_exists_once() -> None:
    _, node = traced(lambda x: ag.exp(x) * ag.exp(x) + ag.exp(x), x)
    names = [n.op.name for n in needed([node]) if isinstance(n, Call)]
    assert names == ["exp", "multiply", "add"]


def test_values_that_differ_are_not_one() -> None:
    _, node = traced(lambda x: (x * 0.0) + (x * -0.0) + (x * 1) + (x * 1.0) + x * True, x)
    assert text([node]).count("multiply(") == 5
    program = Program()
    zeros = {program.full(v, (2,), d) for v in (0.0, -0.0, np.nan) for d in ("f4", "f8")}
    assert len(zeros) == 6


def test_what_is_constant_is_folded() -> None:
    _, node = traced(lambda x: ag.exp(ag.zeros_like(x).array[0, ::2] * 3 + 1) * 2, x)
    assert isinstance(node, Full)
    assert node.shape == (2,)
    assert node.value == np.exp(1.0) * 2


def test_products_with_one_are_the_other_factor() -> None:
    _, node = traced(lambda x: ag.ones_like(x).array * ag.sin(x), x)
    assert node.op.name == "sin"
    _, node = traced(lambda x: ag.ones_like(x).array * x[0], x)  # of another shape
    assert node.op.name == "multiply"


def test_the_reference_runs_by_numpy() -> None:
    trace, node = traced(lambda x: ag.linalg.svdvals(x) * 2, x)
    (found,) = values_of([node], {trace.inputs[0].node: x})
    np.testing.assert_array_equal(found, np.linalg.svdvals(x) * 2)


# --- lowering ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x[1],
        lambda x: x[::-1, 1:3],
        lambda x: x[:, None, ::2],
        lambda x: ag.broadcast_to(x, (2, 3, 4)),
        lambda x: ag.linalg.diagonal(x, offset=1),
        lambda x: ag.flip(x)[2:, 0],
        lambda x: ag.permute_dims(x[None], (2, 0, 1)),
    ],
)
def test_views_are_maps(view: Any) -> None:
    value = lowered(view, x)
    assert isinstance(value, View)
    wanted = view(x)
    assert value.shape == wanted.shape
    for index in np.ndindex(*wanted.shape):
        places = [(None, i, 0) for i in index]
        source = tuple(at for _, at, _ in through(places, value.map))
        assert x[source] == wanted[index]


def test_a_view_of_a_view_is_one_view() -> None:
    value = lowered(lambda x: x.T[1:][::-1][:2], x)
    assert isinstance(value, View)
    assert not isinstance(value.args[0], View)


def test_what_an_op_is_made_of() -> None:
    names = set()
    rest = [lowered(lambda x: ag.special.logsumexp(x, axis=1), x)]
    while rest:
        value = rest.pop()
        names.add(type(value))
        rest += value.args
    assert {Elements, Reduction} <= names
    padded = lowered(lambda x: ag.func.vjp(lambda x: x[1:], x)[1](x[1:])[0], x)
    assert isinstance(padded.args[0], Padded)
    assert isinstance(lowered(lambda x: ag.zeros_like(x).array + 1, x), Filled)


def test_simple_forms() -> None:
    builder = Builder()
    one = builder.filled(1.0, (3, 1), np.float64)
    assert builder.broadcast(one, (3, 4)) is builder.filled(1.0, (3, 4), np.float64)
    assert builder.reshape(one, (3,)) is builder.filled(1.0, (3,), np.float64)


# --- fusion --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "kernels"),
    [
        (lambda x: ag.exp(ag.sin(x) * 2) + x, 1),
        (lambda x: ag.special.softmax(x, axis=1), 1),
        (lambda x: ag.exp(x).sum(), 1),
        (lambda x: ag.exp(x - ag.sum(x, axis=1, keepdims=True)), 1),
        (lambda x: ag.exp(x - ag.sum(x, axis=0, keepdims=True)), 2),  # columns are known at the end
        (lambda x: ag.exp(x)[::-1] + ag.exp(x), 2),  # read at another place
        (lambda x: (x * 2)[::-1] + x, 1),  # cheap: computed again
        (lambda x: ag.sin(x) @ x.T, 1),
    ],
)
def test_what_is_computed_together(function: Any, kernels: int) -> None:
    steps = plan_of(function, x).steps
    assert sum(isinstance(step, Kernel) for step in steps) == kernels


def test_large_arrays_are_not_read_in_columns_to_join_a_kernel() -> None:
    a, b, v = np.zeros((200, 200)), np.zeros((200, 200)), np.zeros(200)

    def kernels(a: Any, b: Any, v: Any) -> int:
        steps = plan_of(lambda a, b, v: b @ ag.tanh(a @ v), a, b, v).steps
        return sum(isinstance(step, Kernel) for step in steps)

    assert kernels(a, b, v) == 2
    assert kernels(a[:20, :20], b[:20, :20], v[:20]) == 1


def test_a_chain_of_stencils_does_not_explode() -> None:
    def size(count: int) -> int:
        def heat(x: Any) -> Any:
            for _ in range(count):
                x = x + 0.1 * (ag.roll(x, 1, axis=0) + ag.roll(x, -1, axis=0) - 2 * x)
            return x

        plan = plan_of(heat, x)
        return sum(len(body_of(step, plan.stored).instructions) for step in plan.steps)  # type: ignore[arg-type]

    assert size(20) < 2.5 * size(10)


def test_loops_are_merged_and_cut() -> None:
    plan = plan_of(lambda x: ag.exp(x) + 1, np.zeros((300, 40)))
    body = body_of(*plan.steps, plan.stored)  # type: ignore[arg-type]
    assert body.limit == 12000
    assert len(body.dims) == 2
    plan = plan_of(lambda x: ag.exp(x + x[:1]) + 1, np.zeros((30, 40)))
    assert body_of(*plan.steps, plan.stored).dims == [30, 40]  # type: ignore[arg-type]
