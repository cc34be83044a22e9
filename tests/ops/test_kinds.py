"""What ops are declared as: kinds, mistakes in declarations, and ops in other processes."""

from __future__ import annotations

import copy
import functools
import inspect
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import Row, over

import arraygrad as ag
import arraygrad.fft
import arraygrad.linalg
import arraygrad.special
from arraygrad.core.kinds import KINDS, Kind
from arraygrad.ops.define import (
    Contracts,
    Elementwise,
    Matrices,
    Moves,
    Op,
    Opaque,
    Reduces,
    binary,
    constant,
    declare,
    unary,
)
from arraygrad.ops.define.op import library_ops
from arraygrad.ops.define.rules import parameters

OPS = library_ops()

# --- arraygrad's own -----------------------------------------------------------------------------


@over("op", [Row("all", op.name, op) for op in OPS], first=len(OPS))
def test_every_op_has_a_kind(op: Op) -> None:
    assert type(op.kind) in KINDS
    assert op.is_library
    with pytest.raises(AttributeError, match="never changes"):
        op.kind.linear = False  # type: ignore[misc]
    for name in op.rules:
        assert name in op.inputs
    assert set(op.kind.keywords) <= set(op.keywords or op.kind.keywords)


def test_names_are_unique_and_every_kind_is_used() -> None:
    assert len({op.name for op in OPS}) == len(OPS) > 180
    assert {type(op.kind) for op in OPS} == set(KINDS)


@over("op", [Row("all", op.name, op) for op in OPS], first=len(OPS))
def test_ops_cannot_be_changed(op: Op) -> None:
    for name in (*vars(op), "anything"):
        with pytest.raises(AttributeError, match=f"the op {op.name} is declared"):
            setattr(op, name, None)
        with pytest.raises(AttributeError, match=f"the op {op.name} is declared"):
            delattr(op, name)


def test_functions_of_matrices_know_the_shapes_of_their_results() -> None:
    of_one = np.array([[2.0, 1.0], [1.0, 3.0]])
    keywords = {"mode": "reduced", "full_matrices": True, "rtol": 1e-9, "upper": True}
    for op in OPS:
        # Those of `arraygrad.scipy`, which another test may have imported, are tested there.
        if not isinstance(op.kind, Matrices) or not op.module.startswith("arraygrad.ops"):
            continue
        given = {n: keywords[n] for n in op.keywords or ()}
        out = op.function(*[of_one] * len(op.inputs), **given)
        shapes = tuple(np.shape(o) for o in (out if op.multiple else (out,)))
        assert op.kind.shapes(*[(2, 2)] * len(op.inputs), **given) == shapes


# --- mistakes ------------------------------------------------------------------------------------


def one(xp: Any, x: Any) -> Any:
    return x


def two(xp: Any, x: Any, y: Any) -> Any:
    return x


class Rules:
    def rule(self, g: Any) -> Any:
        return g


declare_one = functools.partial(declare, "mistaken", "x", compute=one)
declare_two = functools.partial(declare, "mistaken", "x", "y", compute=two)
declare_any = functools.partial(declare, "mistaken", "*xs", compute=lambda xp, *xs: xs[0])
unary_one = functools.partial(unary, "mistaken", compute=one)
binary_two = functools.partial(binary, "mistaken", compute=two)
ALL_KINDS = "Elementwise, Moves, Reduces, AlongAxis, Contracts, Matrices, Opaque"
OF_X = "out, shapes, x, x_device, x_dtype, x_shape"

MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    # name: a declaration, a part of the message
    # parameters that stand for nothing
    "unary d": (lambda: unary_one(d=lambda z: z), f"the derivative by x .* 'z'.* have {OF_X}"),
    "unary vjp": (lambda: unary_one(vjp=lambda g, z: g), "the rule for x .* 'z'.* can have g, i, "),
    "derivative of g": (lambda: unary_one(d=lambda g, x: g), f"parameter 'g'.* can have {OF_X}"),
    "binary dy": (lambda: binary_two(dy=lambda z: z), "the derivative by y .* 'z'.* x, .* y, "),
    "binary vjp_x": (lambda: binary_two(vjp_x=lambda g, z: g), "the rule for x .* 'z'"),
    "declare": (lambda: declare_one(vjp=lambda g, z: g), "the rule for x .* 'z'.* can have g, i, "),
    "shape of none": (lambda: declare_one(vjp=lambda g, z_shape: g), "'z_shape'.* x_shape"),
    "shape of many": (lambda: declare_any(vjp=lambda g, xs_shape: g), "'xs_shape'.* shapes, xs"),
    "one result": (lambda: declare_one(vjp=lambda gs: gs), "parameter 'gs'.* can have g, i, out"),
    "many results": (
        lambda: declare_one(vjp=lambda g: g, multiple=True),
        "parameter 'g'.* can have gs, i, out",
    ),
    "forward rule": (
        lambda: declare_one(vjp=lambda g: g, jvp=lambda t, z: t),
        "the forward rule .* 'z'.* t, t_x, x",
    ),
    "tangent of none": (
        lambda: declare_one(vjp=lambda g: g, jvp=lambda t_z: t_z),
        "the forward rule .* 't_z'.* t, t_x, x",
    ),
    "tangent of many": (
        lambda: declare_any(vjp=lambda g: g, jvp=lambda t_x: t_x),
        "the forward rule .* 't_x'",
    ),
    "joint rule": (
        lambda: declare_two(joint=lambda g, z: (g, z)),
        "the joint rule .* 'z'.* wanted",
    ),
    "misspelt keyword": (
        lambda: declare("mistaken", "x", compute=lambda xp, x, k: x, vjp=lambda g, n: g),
        "'n', which is neither an input nor a keyword of the op; it can have g, i, k, out",
    ),
    "misspelt option": (
        lambda: declare_one(vjp=lambda g: g, mutliple=True),
        "'mutliple' is no parameter",
    ),
    # kinds
    "word for a kind": (lambda: declare_one(kind="elementwise"), f"one of {ALL_KINDS}, not 'elem"),
    "class for a kind": (lambda: unary_one(kind=Elementwise), f"one of {ALL_KINDS}, not <class"),
    "no certain kind": (lambda: declare_one(kind=Kind()), f"one of {ALL_KINDS}, not Kind"),
    "flat, no input": (
        lambda: declare_two(kind=Elementwise(flat=("z",))),
        "the kind speaks of z, which is no input of the op; the inputs are x, y",
    ),
    "whole, no input": (lambda: declare_two(kind=Elementwise(whole=("z",))), "z, .* are x, y"),
    "index, no input": (lambda: declare_two(kind=Moves(indices=("z",))), "z, .* are x, y"),
    "flat, no tuple": (lambda: declare_one(kind=Elementwise(flat="x")), r"as \('x',\), not 'x'"),
    "whole, no tuple": (lambda: declare_one(kind=Elementwise(whole="x")), r"as \('x',\), not 'x'"),
    "index with a rule": (
        lambda: declare_two(kind=Moves(indices=("y",)), vjp_x=lambda g: g, vjp_y=lambda g: g),
        "a rule for y, which by its kind has no derivative",
    ),
    "axis, no keyword": (
        lambda: declare("mistaken", "x", compute=lambda xp, x, axis: x, kind=Moves(axis="along")),
        "speaks of the keyword along, which compute does not take; it takes axis",
    ),
    # rules that are no plain functions
    "builtin": (
        lambda: declare_one(vjp=math.sin),
        r"must be a Python function, .* not builtin_function_or_method \(<built-in",
    ),
    "builtin derivative": (lambda: unary_one(d=math.sin), "must be a Python function"),
    "partial": (
        lambda: declare_one(vjp=functools.partial(lambda g, x: g, x=1)),
        r"must be a Python function, .* not partial \(functools.partial",
    ),
    "method": (lambda: declare_one(vjp=Rules().rule), r"a Python function, .* not method \(<bound"),
    "*args": (lambda: declare_one(vjp=lambda *args: args[0]), r"no \*args, \*\*kwargs"),
    "*args of d": (lambda: unary_one(d=lambda *args: args[0]), r"no \*args, \*\*kwargs"),
    "**kwargs": (lambda: declare_one(vjp=lambda g, **kwargs: g), r"no \*args, \*\*kwargs"),
    "keyword-only": (lambda: declare_one(vjp=lambda g, *, x: g), r"no \*args, \*\*kwargs"),
    # rules too many
    "no input": (
        lambda: declare_two(vjp_z=lambda g: g),
        r"a rule for \['z'\], which are no inputs of it; the inputs are x, y",
    ),
    "no prefix": (lambda: declare_one(x=lambda g: g), "the rule for an input x is called vjp_x"),
    "vjp and vjp_x": (
        lambda: declare_one(vjp=lambda g: g, vjp_x=lambda g: g),
        "vjp is the rule of the only input; give each input one rule: vjp_x",
    ),
    "vjp of two": (lambda: declare_two(vjp=lambda g: g), "one rule: vjp_x, vjp_y"),
    "d and vjp": (
        lambda: unary_one(d=lambda x: x, vjp=lambda g: g),
        "both a derivative and a rule",
    ),
    "dy and vjp_y": (
        lambda: binary_two(dy=lambda x: x, vjp_y=lambda g: g),
        r"both a derivative and a rule \(vjp\) for y",
    ),
    "joint and vjp_x": (
        lambda: declare_two(joint=lambda g, wanted: (g, g), vjp_x=lambda g: g),
        "joint is the rule for all inputs",
    ),
    "joint and vjp": (
        lambda: declare_one(joint=lambda g, wanted: (g,), vjp=lambda g: g),
        "joint is the rule for all inputs",
    ),
    # linear ops
    "linear, with jvp": (
        lambda: declare_one(kind=Opaque(linear=True), vjp=lambda g: g, jvp=lambda t: t),
        "a linear op is its own forward rule",
    ),
    "linear in each, with jvp": (
        lambda: declare_one(kind=Opaque(linear="each"), vjp=lambda g: g, jvp=lambda t: t),
        "a linear op is its own forward rule",
    ),
    "moves, with jvp": (
        lambda: declare_one(kind=Moves(), vjp=lambda g: g, jvp=lambda t: t),
        "a linear op is its own forward rule",
    ),
    "linear, by x": (
        lambda: declare_one(kind=Elementwise(linear=True), vjp=lambda g, x: g),
        "the rule for x depends on x, so the op is not linear",
    ),
    "linear, by the other": (
        lambda: declare_two(kind=Opaque(linear=True), vjp_x=lambda g: g, vjp_y=lambda g, x: g),
        "the rule for y depends on x, so the op is not linear",
    ),
    "linear, by out": (
        lambda: declare_one(kind=Reduces(linear=True), compute=None, vjp=lambda g, out: g),
        "the rule for x depends on out, so the op is not linear",
    ),
    "linear, by slope": (
        lambda: unary_one(kind=Elementwise(linear=True), d=lambda x: x),
        "the rule for x depends on x, so the op is not linear",
    ),
    "linear, jointly": (
        lambda: declare_two(kind=Opaque(linear=True), joint=lambda g, y, wanted: (g, y)),
        "depends on y, so the op is not linear",
    ),
    "linear in each, by itself": (
        lambda: declare_two(kind=Contracts(), vjp_x=lambda g, x: g, vjp_y=lambda g, x: g),
        "the rule for x depends on x, so the op is not linear in it",
    ),
    "linear in some way": (
        lambda: declare_one(kind=Opaque(linear="both"), vjp=lambda g: g),
        "linear must be True, False or 'each', not 'both'",
    ),
    "moves, not linear": (
        lambda: declare_one(kind=Moves(linear=False), vjp=lambda g: g),
        "linear follows from the kind Moves: leave it out",
    ),
    # names, inputs, what computes
    "no name": (lambda: declare(None, "x"), "the name of an op must be a string, not None"),
    "no inputs": (lambda: declare("mistaken", compute=one), "the names of its array arguments"),
    "number as an input": (lambda: declare("mistaken", 1), "the names of its array arguments"),
    "input of two words": (lambda: declare("mistaken", "x y"), "names; got x y"),
    "input twice": (
        lambda: declare("mistaken", "x", "x", compute=two),
        "names; got x, x",
    ),
    "star not last": (lambda: declare("mistaken", "*x", "y"), "only the last input"),
    "compute, no function": (lambda: declare("mistaken", "x", compute="sin"), "not 'sin'"),
    "compute of too few": (lambda: declare("mistaken", "x", "y", compute=one), "xp and then x, y"),
    "compute of one": (lambda: declare("mistaken", "*xs", compute=one), r"xp and then \*xs"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_found_when_an_op_is_declared(name: str) -> None:
    mistaken, message = MISTAKES[name]
    for _ in range(2):  # what is wrong is not declared, so its name is still free
        with pytest.raises(TypeError, match=message) as caught:
            mistaken()
        assert caught.type is TypeError
    assert "mistaken" not in {op.name for op in library_ops()}


def test_a_name_is_declared_once_in_a_module() -> None:
    options: dict[str, Any] = {"compute": one, "vjp": lambda g: g}
    first: Any = declare("declared_once", "x", **options)
    with pytest.raises(ValueError, match=r"declared_once has been declared in .*test_kinds before"):
        declare("declared_once", "x", **options)
    with pytest.raises(ValueError, match="give this one another name, or pass replace=True"):
        unary("declared_once", d=lambda x: x, compute=one)
    second: Any = declare("declared_once", "x", replace=True, **options)
    assert first.op is not second.op
    elsewhere = eval("lambda xp, x: x", {"__name__": "elsewhere"})
    declare("declared_once", "x", compute=elsewhere)
    for _ in range(2):  # where these were declared, nothing tells
        constant("declared_without_functions", "x")


def test_names_of_the_library_are_free_for_others() -> None:
    sine: Any = unary("sin", d=lambda x: 2 * x, compute=lambda xp, x: x * x)
    assert sine.op is not ag.sin.op  # type: ignore[attr-defined]
    np.testing.assert_array_equal(sine(np.array([3.0])), [9.0])
    with pytest.raises(ValueError, match=r"sin has been declared in arraygrad.ops.elementwise"):
        unary("sin", d=lambda x: x, is_library=True)


def test_rules_can_ask_for_all_that_messages_name() -> None:
    asked: list[Any] = []

    def rule(g: Any, x: Any, x_shape: Any, x_dtype: Any, x_device: Any, out: Any, k: Any) -> Any:
        asked.extend([x_shape, k])
        return g * 2

    twice: Any = declare("asks", "x", compute=lambda xp, x, k: 2 * x, vjp=rule, kind=Elementwise())
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    np.testing.assert_array_equal(ag.grad(twice(x, k=3).sum(), x), [2.0, 2.0])
    assert asked == [(2,), 3]
    assert parameters(rule) == tuple(inspect.signature(rule).parameters)


def test_a_joint_rule_of_a_product_needs_both_factors() -> None:
    product: Any = declare(
        "joint_product",
        "x",
        "y",
        kind=Elementwise(linear="each"),
        compute=lambda xp, x, y: x * y,
        joint=lambda g, x, y, wanted: (g * y, g * x),
    )
    x, y = (ag.tensor(values, requires_grad=True) for values in ([1.0, 2.0], [3.0, 4.0]))
    assert ag.testing.gradgradcheck(product, (x, y))


# --- other processes -----------------------------------------------------------------------------


@over("op", [Row("all", op.name, op) for op in OPS], first=len(OPS))
def test_ops_of_the_library_are_pickled_by_name(op: Op) -> None:
    assert pickle.loads(pickle.dumps(op)) is op
    assert copy.deepcopy(op) is op


def in_another_process(code: str, sent: bytes) -> str:
    """What code prints that finds `sent` in its standard input."""
    done = subprocess.run(
        [sys.executable, "-c", f"import pickle, sys\nsent = sys.stdin.buffer.read()\n{code}"],
        input=sent,
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return done.stdout.decode().strip()


def test_another_process_finds_all_ops_of_the_library() -> None:
    code = "print(all(type(op).__name__ == 'Op' and op.is_library for op in pickle.loads(sent)))"
    assert in_another_process(code, pickle.dumps(OPS)) == "True"


def test_ops_of_users_are_pickled_by_value() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    cubed: Any = unary("cubed", d=lambda x: 3 * x * x, compute=lambda xp, x: x**3)
    traces: Any = declare(
        "traces",
        "x",
        kind=Matrices(shapes=lambda x: ((),)),
        compute=lambda xp, x: xp.linalg.trace(x),
        vjp=lambda g, x_shape: ag.eye(*x_shape) * g,
    )
    sent = cloudpickle.dumps([cubed.op, traces.op])
    again = pickle.loads(sent)
    for op, other in zip((cubed.op, traces.op), again, strict=True):
        assert other is not op
        assert (other.name, other.module, other.inputs) == (op.name, op.module, op.inputs)
        assert type(other.kind) is type(op.kind)
        assert other.function.op is other
        with pytest.raises(AttributeError, match="cannot be changed"):
            other.name = "another"
    x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    for op in again:
        assert ag.testing.gradcheck(op.function, x)
    code = """
import arraygrad as ag
cubed, traces = (op.function for op in pickle.loads(sent))
x = ag.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
print(ag.grad(cubed(x).sum() + traces(x), x).numpy().tolist())
"""
    assert in_another_process(code, sent) == "[[4.0, 12.0], [27.0, 49.0]]"


def test_an_interrupted_import_can_be_repeated() -> None:
    """Python runs a module again if an interrupt came in the middle of its import."""
    code = """
import importlib
import arraygrad as ag
from arraygrad.ops.special import incomplete
del sys.modules["arraygrad.ops.special.incomplete"]
again = importlib.import_module("arraygrad.ops.special.incomplete")
print(again.exp1 is not incomplete.exp1, float(again.exp1(ag.tensor(1.0))) > 0.2)
"""
    assert in_another_process(code, b"").split() == ["True", "True"]
