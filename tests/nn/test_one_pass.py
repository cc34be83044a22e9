"""Functions of ops as ops: in every mode, they give what the functions give."""

from __future__ import annotations

import functools
import gc
import itertools
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from rows import crossed
from wrappers import WRAPPERS, gradients

import arraygrad as ag
from arraygrad.backends.numpy.native import SMALL, compiler
from arraygrad.compiler.run.executable import Executable
from arraygrad.nn import (
    activations,
    attention,
    classifying,
    convolutions,
    losses,
    normalizing,
    one_pass,
    pooling,
    recurrent,
    steps,
    windows,
)
from arraygrad.sweep import engine

Function = Callable[..., Any]
Y = np.random.default_rng(1).random(SMALL)
FUNCTIONS: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "leaky_relu": (activations._leaky_relu, (0.1,)),
    "elu": (activations._elu, (1.5,)),
    "celu": (activations._celu, (1.5,)),
    "gelu_by_tanh": (activations._gelu_by_tanh, ()),
    "mish": (activations._mish, ()),
    "hardswish": (activations._hardswish, ()),
    "squared_difference": (losses._squared_difference, (Y,)),
    "smooth_l1": (losses._smooth_l1, (Y, 0.5)),
    "huber": (losses._huber, (Y, 2)),
    "entropy_of_logits": (losses._entropy_of_logits, (Y, 1)),
}


RNG = np.random.default_rng(2)
WEIGHT, BIAS = RNG.normal(size=8), RNG.normal(size=8)
FILTERS = RNG.normal(size=(8, 4, 3, 3))
IMAGES = (2, 8, 6, 10)
POOLED = {"options": ((2, 3), (2, 2), (1, 0), (1, 1)), "ceil_mode": False}
ENDS = {"ends": ((1, 1), (0, 2)), "steps": (1, 2), "spread": (1, 1)}
DENSE = {"ends": ((1, 1), (0, 2)), "steps": (1, 1), "spread": (2, 1)}
SLIDE = windows.Slide((3, 3), (1, 1), (1, 1), IMAGES[2:])
SPREAD = {"slide": SLIDE, "whole": SLIDE.span, "ends": (1, 0)}

# The function, the shape of its first argument, its other arguments, and its settings.
PROGRAMS: dict[str, tuple[Function, tuple[int, ...], tuple[Any, ...], dict[str, Any]]] = {
    "layer_norm": (normalizing._layer_norm, (40, 8), (WEIGHT, BIAS), {"shape": (8,), "eps": 1e-5}),
    "rms_norm": (normalizing._rms_norm, (40, 8), (WEIGHT,), {"shape": (8,), "eps": 1e-5}),
    "group_norm": (normalizing._group_norm, IMAGES, (WEIGHT, None), {"groups": 2, "eps": 1e-5}),
    "by_statistics": (
        normalizing._by_statistics, IMAGES, (BIAS, WEIGHT**2, None, BIAS), {"eps": 1e-5},
    ),
    "by_batch": (
        lambda *given, **settings: normalizing._by_batch(*given, **settings)[0],
        IMAGES, (WEIGHT, BIAS), {"axes": (0, 2, 3), "eps": 1e-5, "follows": True},
    ),
    "cross_entropy": (
        classifying._cross_entropy, (40, 8), (np.arange(40) % 8, WEIGHT**2),
        {"ignore_index": 3, "how": "mean", "label_smoothing": 0.1},
    ),
    "largest_of": (pooling._largest_of, IMAGES, (), {**POOLED, "places": False}),
    "averaged": (
        pooling._averaged, IMAGES, (), {**POOLED, "count_include_pad": False, "divisor": None},
    ),
    "convolved": (convolutions._convolved, IMAGES, (FILTERS, BIAS), {**ENDS, "groups": 2}),
    "filtered": (convolutions._convolved, IMAGES, (FILTERS, BIAS), {**DENSE, "groups": 2}),
    "by channel": (convolutions._convolved, IMAGES, (FILTERS[:, :1], BIAS), {**DENSE, "groups": 8}),
    "depthwise": (convolutions._convolved, IMAGES, (FILTERS[:, :1], None), {**ENDS, "groups": 8}),
    "spread": (convolutions._spread, IMAGES, (FILTERS, None), {**SPREAD, "groups": 1}),
    "linear": (
        attention._linear_program, (2, 10, 16), (RNG.normal(size=(5, 16)), RNG.normal(size=5)), {},
    ),
    "attention": (
        attention._attention, (2, 10, 16), (RNG.normal(size=(2, 10, 16)),) * 2 + (None,),
        {"is_causal": True, "scale": None},
    ),
}  # fmt: skip


def in_time(name: str, layers: int = 1, **options: Any) -> tuple[Any, ...]:
    """A recurrent network as a function with a row in the table: all of its results as one."""

    def run(x: Any, *flat: Any) -> Any:
        weights = [flat[i : i + 4] for i in range(0, 4 * layers, 4)]
        state = flat[4 * layers :] if name == "lstm" else flat[-1]
        out, last = getattr(ag.nn, name)(x, weights, state, **options)
        parts = [out, *(last if name == "lstm" else [last])]
        return ag.concat([ag.reshape(part, (-1,)) for part in parts])

    def plainly(*given: Any) -> Any:
        with mock.patch.object(recurrent, "all_steps", return_value=None):
            return run(*given)

    run.__wrapped__ = plainly  # type: ignore[attr-defined]
    rows, ways = 8 * recurrent._GATES[name], 1 + options.get("bidirectional", False)
    shapes: list[tuple[int, ...]] = []
    for layer in range(layers):
        features = 8 * ways if layer >= ways else 6
        shapes += [(rows, features), (rows, 8), (rows,), (rows,)]
    shapes += [(layers, 16, 8)] * (1 + (name == "lstm"))
    rng = np.random.default_rng(3)
    return run, (5, 16, 6), tuple(0.4 * rng.normal(size=shape) for shape in shapes), {}


NETWORKS = {
    "rnn": in_time("rnn"),
    "rnn of relu, two ways": in_time("rnn", 2, nonlinearity="relu", bidirectional=True),
    "gru": in_time("gru"),
    "lstm": in_time("lstm"),
    "lstm, two layers": in_time("lstm", 4, bidirectional=True),
}


def points(dtype: Any, shape: tuple[int, ...] = (SMALL,)) -> Any:
    x = 3 * np.random.default_rng(0).normal(size=shape).astype(dtype)
    x.reshape(-1)[:4] = [0.0, -0.0, 3.0, -3.0]
    return x


def value(f: Function, x: Any) -> Any:
    return f(x)


def gradient(f: Function, x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    out = f(leaf)
    return ag.grad(out, leaf, np.cos(np.arange(out.size)).reshape(out.shape)).array


def of_a_sum(f: Function, x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    return ag.grad(f(leaf).sum(), leaf).array


def second(f: Function, x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    g = ag.grad(ag.sin(f(leaf)).sum(), leaf, create_graph=True)
    return ag.grad((g * x).sum(), leaf, materialize_grads=True).array


def forward(f: Function, x: Any) -> Any:
    return ag.func.jvp(f, (x,), (np.sin(x),))[1]


def forward_over_reverse(f: Function, x: Any) -> Any:
    return ag.func.jvp(ag.func.grad(lambda x: f(x).sum()), (x,), (np.sin(x),))[1]


def batch(f: Function, x: Any) -> Any:
    return ag.func.vmap(f)(np.stack([x, 2 * x]))


def gradient_of_batch(f: Function, x: Any) -> Any:
    return ag.func.vmap(ag.func.grad(lambda x: f(x).sum()))(np.stack([x, 2 * x]))


def compiled(f: Function, x: Any) -> Any:
    return ag.compile(ag.func.grad(lambda x: f(x).sum()))(x)


def checkpointed(f: Function, x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    return ag.grad(ag.func.checkpoint(f)(leaf).sum(), leaf).array


def strided(f: Function, x: Any) -> Any:
    return gradient(f, np.repeat(x, 2, axis=-1)[..., ::2])


def by_all(f: Function, x: Any, more: tuple[Any, ...]) -> Any:
    """The gradients by all arguments, of which some depend on others."""
    leaf = ag.tensor(x, requires_grad=True)
    is_float = [a is not None and a.dtype.kind == "f" for a in more]
    factor = 1 + ag.square(leaf.sum()) / 99
    given = [a * factor if is_one else a for a, is_one in zip(more, is_float, strict=True)]
    first = ag.grad(ag.sin(f(leaf, *given)).sum(), leaf, create_graph=True)
    return ag.grad((first * x).sum(), leaf).array


def under_hooks(f: Function, x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    with ag.autograd.graph.saved_tensors_hooks(lambda a: np.array(a.array), ag.asarray):
        out = f(leaf)
    return ag.grad(ag.sin(out).sum(), leaf).array


def batched_cotangents(f: Function, x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    out = f(leaf)
    seeds = np.cos(np.arange(2 * out.size)).reshape(2, *out.shape)
    return ag.grad(out, leaf, seeds, is_grads_batched=True).array


MODES = [value, gradient, of_a_sum, second, forward, forward_over_reverse, batch]
MODES += [gradient_of_batch, compiled, checkpointed, strided]


@crossed(name=FUNCTIONS, mode=MODES, dtype=[np.float64, np.float32])
def test_modes(name: str, mode: Callable[..., Any], dtype: Any) -> None:
    function, more = FUNCTIONS[name]
    given = [a.astype(dtype) if isinstance(a, np.ndarray) else a for a in more]
    plainly = function.__wrapped__  # type: ignore[attr-defined]
    x = points(dtype)
    found = mode(lambda x: function(x, *given), x)
    wanted = mode(lambda x: plainly(x, *given), x)
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype
    unit = float(np.finfo(dtype).eps)
    np.testing.assert_allclose(found, wanted, rtol=500 * unit, atol=50 * unit)


def plainly_of(function: Function) -> Function:
    """The function as a composition of ops."""
    if hasattr(function, "__wrapped__"):
        return function.__wrapped__  # type: ignore[no-any-return]
    return lambda *given, **settings: normalizing._by_batch.__wrapped__(*given, **settings)[0]  # type: ignore[attr-defined]


ALL = [strided, value, *MODES[1:-1], under_hooks, batched_cotangents, by_all]


@crossed(name=PROGRAMS | NETWORKS, wrapper=WRAPPERS)
def test_programs_in_wrappers(name: str, wrapper: str) -> None:
    function, shape, more, settings = (PROGRAMS | NETWORKS)[name]
    arrays = [points(np.float64, shape)]
    found = WRAPPERS[wrapper](lambda x: function(x, *more, **settings), arrays)
    wanted = gradients(lambda x: plainly_of(function)(x, *more, **settings), arrays)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


@crossed(name=PROGRAMS | NETWORKS, mode=ALL)
def test_programs(name: str, mode: Callable[..., Any]) -> None:
    function, shape, more, settings = (PROGRAMS | NETWORKS)[name]
    x = points(np.float64, shape)
    own = functools.partial(function, **settings)
    plainly = functools.partial(plainly_of(function), **settings)
    if mode is by_all:
        found, wanted = by_all(own, x, more), by_all(plainly, x, more)
    else:
        found = mode(lambda x: own(x, *more), x)
        wanted = mode(lambda x: plainly(x, *more), x)
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-9, atol=1e-10)


@pytest.mark.skipif(compiler() is None, reason="no native code in eager mode")
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_one_op(name: str) -> None:
    function, shape, more, settings = PROGRAMS[name]
    x = ag.tensor(points(np.float64, shape), requires_grad=True)
    out = function(x, *more, **settings)
    is_convolution = name in ("by channel", "depthwise", "filtered")
    wanted = "convolved" if is_convolution else name.replace("_", "")
    assert out.grad_fn.name().lower() == wanted + "backward"


@pytest.mark.skipif(compiler() is None, reason="no native code in eager mode")
@pytest.mark.parametrize("name", ["layer_norm", "group_norm", "cross_entropy"])
def test_programs_run_without_python(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the second call on, a program and its pullback run by their native entries."""
    function, shape, more, settings = PROGRAMS[name]
    x = ag.tensor(points(np.float64, shape), requires_grad=True)

    def run() -> None:
        out = function(x, *more, **settings)
        ag.grad(out, x, np.ones(out.shape))

    run()
    run()
    monkeypatch.setattr(Executable, "run", mock.Mock(side_effect=AssertionError))
    run()


@pytest.mark.skipif(compiler() is None, reason="no native code in eager mode")
@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
def test_all_steps_are_one_op(name: str) -> None:
    _, shape, more, _ = NETWORKS[name]
    x = ag.tensor(points(np.float64, shape), requires_grad=True)
    out, _ = getattr(ag.nn, name)(x, [more[:4]])
    assert out.grad_fn.name() == "RecurrenceBackward"
    assert [node.name() for node, _ in out.grad_fn.next_functions if node] == ["AddBackward"]


@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
def test_steps_for_other_arrays(name: str) -> None:
    """Steps are computed by ops where there is no program, or NumPy may warn."""
    function, shape, more, _ = NETWORKS[name]
    x = points(np.float64, shape)
    wanted = function(x, *more)
    with np.errstate(under="raise"):
        np.testing.assert_allclose(function(x, *more), wanted, rtol=1e-12)
    half = [a.astype(np.float16) for a in (x, *more)]
    np.testing.assert_allclose(function(*half), wanted, rtol=0.1, atol=0.02)
    x[2, 0, 0] = np.nan
    out = function(x, *more).reshape(-1)[: 5 * 16 * 8].reshape(5, 16, 8)
    assert np.isnan(out[2:, 0]).all()
    assert np.isfinite(out[:, 1:]).all()


@pytest.mark.parametrize("seed", [np.inf, np.nan])
@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
def test_cotangents_of_steps_that_are_not_finite(name: str, seed: float) -> None:
    function, shape, more, _ = NETWORKS[name]
    leaf = ag.tensor(points(np.float64, shape), requires_grad=True)

    def by_input(f: Function) -> Any:
        out = f(leaf, *more)
        g = np.ones(out.shape)
        g[0] = seed
        with np.errstate(all="ignore"):
            return ag.grad(out, leaf, g).array

    np.testing.assert_allclose(by_input(function), by_input(plainly_of(function)), rtol=1e-9)


@pytest.mark.parametrize("name", ["rnn", "gru", "lstm"])
def test_what_is_overwritten_after_all_steps(name: str) -> None:
    """The op keeps its results: what is written to them later does not matter."""
    _, shape, more, _ = NETWORKS[name]
    leaf = ag.tensor(points(np.float64, shape), requires_grad=True)

    def by_input(write: bool) -> Any:
        out, _ = getattr(ag.nn, name)(leaf, [more[:4]])
        twice = out * 2
        if write:
            out *= 2
        return ag.grad((out if write else twice).sum(), leaf).array

    np.testing.assert_allclose(by_input(True), by_input(False), rtol=1e-12)


def test_programs_for_other_arrays() -> None:
    """Arrays that programs are not for: the functions are computed by ops, and are right."""
    x = np.random.default_rng(0).normal(size=(40, 8))
    wanted = ag.nn.layer_norm(x[:3], 8)
    for given in (x.astype(">f8"), x[::-1][::-1], np.asfortranarray(x), x.view(np.memmap)):
        np.testing.assert_allclose(np.asarray(ag.nn.layer_norm(given, 8))[:3], wanted, rtol=1e-12)
    assert ag.nn.layer_norm(x[:0], 8).shape == (0, 8)
    with np.errstate(under="raise"):
        np.testing.assert_allclose(ag.nn.layer_norm(x, 8)[:3], wanted, rtol=1e-12)
    half = ag.nn.layer_norm(x.astype(np.float16), 8)
    assert half.dtype == np.float16
    x[0, 0] = np.inf
    with pytest.warns(RuntimeWarning, match="invalid value"):
        out = ag.nn.layer_norm(x, 8)
    assert np.isnan(out[0]).all()
    assert np.isfinite(out[1:]).all()
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        ag.nn.layer_norm(x, 8)


def test_programs_say_what_is_wrong() -> None:
    x, classes = np.zeros((40, 8)), np.full(40, 8)
    with pytest.raises(IndexError, match="Target 8 is out of bounds: there are 8 classes"):
        ag.nn.cross_entropy(x, classes)
    with pytest.raises(ValueError, match="larger than the input"):
        ag.nn.conv2d(np.zeros((4, 2, 6, 6)), np.zeros((2, 2, 7, 7)))


@pytest.mark.skipif(compiler() is None, reason="no native code in eager mode")
def test_few_programs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither programs nor the arrays of a call stay: the number of shapes does not matter."""
    made = compiler()
    monkeypatch.setattr(made, "MOST", 4)
    monkeypatch.setattr(made, "_entries", type(made._entries)())
    first = ag.nn.avg_pool1d(np.arange(512.0).reshape(1, 2, 256), 2)
    for n in range(1, 9):
        x = ag.tensor(np.ones((n, 2, 256)), requires_grad=True)
        ag.nn.avg_pool1d(x, 2)
        gone = weakref.ref(x)
        del x
        assert gone() is None
        assert len(made._entries) <= 4
    assert not made.failures
    again = ag.nn.avg_pool1d(np.arange(512.0).reshape(1, 2, 256), 2)
    np.testing.assert_array_equal(again, first)
    weights = [(np.ones((8, 4)), np.ones((8, 8)))]
    ag.nn.rnn(np.zeros((1, 16, 4)), weights)
    before = set(made._entries)
    assert any(key[0] is steps._advanced for key in before)
    for n in range(2, 9):  # all lengths of a sequence have the same programs
        ag.nn.rnn(np.zeros((n, 16, 4)), weights)
        assert set(made._entries) == before
    for n in range(65, 1000, 2):  # lengths of a text: no code is made for them
        ag.nn.softmax(np.ones((16, n)))
        ag.nn.layer_norm(np.ones((n, 8)), 8)
    assert len(made._entries) <= 4


def test_ten_thousand_shapes_leave_nothing_behind() -> None:
    """Shapes for which no code is made: what all caches together keep does not grow."""
    shapes = itertools.product(range(33, 233, 2), range(1, 6), range(1, 6), range(1, 5))
    blocks = []
    for i, shape in enumerate(shapes, 1):
        x = ag.tensor(np.ones(shape, np.float32), requires_grad=True)
        out = ag.nn.softmax(ag.nn.gelu(x), axis=-1)
        ag.grad(out, x, out)
        if i in (3_000, 10_000):
            del x, out
            gc.collect()
            blocks.append(sys.getallocatedblocks())
    assert blocks[1] - blocks[0] < 3_000


@pytest.mark.skipif(compiler() is None, reason="no native code in eager mode")
def test_ten_thousand_entries_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the shapes for which code is made, the last ones are kept."""
    made = compiler()
    monkeypatch.setattr(made, "_entries", type(made._entries)())
    for i in range(10_000):
        made.kept(("shape", i), object)
    assert len(made._entries) == made.MOST
    assert ("shape", 9_999) in made._entries


@pytest.mark.skipif(compiler() is None, reason="no native code in eager mode")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_are_one_op_from_a_thousand_elements_on(name: str) -> None:
    function, more = FUNCTIONS[name]
    x = ag.tensor(points(np.float64), requires_grad=True)
    assert function(x, *more).grad_fn.name().lower() == name.replace("_", "") + "backward"
    few = [a[:5] if isinstance(a, np.ndarray) else a for a in more]
    np.testing.assert_allclose(
        function(x[:5], *few).array, function(x, *more).array[:5], rtol=1e-13
    )


@pytest.mark.skipif(compiler() is None, reason="no native code in eager mode")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_rules_of_large_arrays_are_native(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep in blocks would run the rule in Python for each block."""
    function, more = FUNCTIONS[name]
    x = ag.tensor(points(np.float64), requires_grad=True)
    monkeypatch.setattr(engine, "LARGE", SMALL)

    def run() -> None:
        out = function(x, *more)
        ag.grad(out, x, np.ones(out.shape))

    run()
    monkeypatch.setattr(one_pass, "vjp", mock.Mock(side_effect=AssertionError))
    run()


@pytest.mark.parametrize("argument", [1, 2])
def test_gradients_by_other_arguments(argument: int) -> None:
    function = losses._smooth_l1
    given: list[Any] = [points(np.float64), Y, np.full(SMALL, 0.7)]
    leaf = given[argument] = ag.tensor(given[argument], requires_grad=True)
    found = ag.grad(function(*given).sum(), leaf).array
    wanted = ag.grad(function.__wrapped__(*given).sum(), leaf).array  # type: ignore[attr-defined]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


def test_arrays_that_broadcast() -> None:
    x = ag.tensor(points(np.float64, (32, 32)), requires_grad=True)
    loss = ag.nn.binary_cross_entropy_with_logits
    y = Y.reshape(32, 32)
    found = ag.grad(loss(x, y, pos_weight=np.full(32, 2.0)), x).array
    wanted = ag.grad(loss(x, y, pos_weight=np.full((32, 32), 2.0)), x).array
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_warnings_are_numpys() -> None:
    x = points(np.float64)
    x[5] = 1e200
    with pytest.warns(RuntimeWarning, match="overflow"):
        losses._squared_difference(x, Y)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        losses._squared_difference(x, Y)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        assert np.isinf(losses._squared_difference(x, Y)[5])


_WEIGHT = np.random.default_rng(1).standard_normal((4, 2, 3, 3))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ag.nn.conv2d(x, ag.tensor(_WEIGHT), padding=1),
        lambda x: ag.nn.conv_transpose2d(x, ag.tensor(_WEIGHT.swapaxes(0, 1))),
        lambda x: ag.nn.max_pool2d(x, 2),
        lambda x: ag.nn.avg_pool2d(x, 2),
        lambda x: ag.nn.layer_norm(x, (8,)),
        lambda x: ag.nn.group_norm(x, 2),
        lambda x: ag.nn.linear(x, ag.tensor(np.ones((3, 8)))),
    ],
    ids=["conv", "transposed", "max_pool", "avg_pool", "layer_norm", "group_norm", "linear"],
)
def test_a_result_that_no_gradient_reads_can_be_overwritten(function: Any) -> None:
    values = np.random.default_rng(0).standard_normal((16, 2, 8, 8))
    found = []
    for writes in (False, True):
        x = ag.tensor(values, requires_grad=True)
        y = function(x)
        if writes:
            y *= 2.0
        else:
            y = y * 2.0
        (first,) = ag.grad((y**2).sum(), (x,), create_graph=True)
        (second,) = ag.grad((first * first).sum(), (x,))
        found.append((first.detach().numpy(), second.detach().numpy()))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-10, atol=1e-10)


def test_a_result_that_a_gradient_reads_is_read_as_it_was() -> None:
    values = np.linspace(0.1, 1.0, 64)
    x = ag.tensor(values, requires_grad=True)
    y = ag.compile(ag.nn.softmax)(x)
    weights = np.arange(64.0)
    (wanted,) = ag.grad((2 * ag.nn.softmax(x) * weights).sum(), (x,))
    y *= 2.0
    try:
        (found,) = ag.grad((y * weights).sum(), (x,))
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)  # noqa: PT017  (either is right)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)
