"""The graph itself: nodes, edges, and how saved values are kept."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd.graph import (
    GradientEdge,
    Node,
    disable_saved_tensors_hooks,
    get_gradient_edge,
    save_on_cpu,
    saved_tensors_hooks,
)
from arraygrad.errors import GraphFreedError, NoGradientError, RuleError


def leaf(values: Any, **keywords: Any) -> ag.Tensor:
    return ag.tensor(values, requires_grad=True, **keywords)


# --- nodes ---------------------------------------------------------------------------------------


def test_results_have_a_node_with_a_readable_name(x: ag.Tensor) -> None:
    node = ag.sum(ag.cumulative_sum(x)).grad_fn
    assert isinstance(node, Node)
    assert node.name() == "SumBackward"
    assert repr(node) == "<SumBackward>"
    ((before, number),) = node.next_functions
    assert before is not None
    assert (before.name(), number) == ("CumulativeSumBackward", 0)
    ((accumulate, _),) = before.next_functions
    assert accumulate is not None
    assert accumulate.name() == "AccumulateGrad"
    assert accumulate.next_functions == ()
    assert accumulate.variable is x  # type: ignore[attr-defined]


def test_leaves_have_no_node(x: ag.Tensor) -> None:
    assert x.grad_fn is None
    assert ag.tensor(1.0).grad_fn is None
    with ag.no_grad():
        assert (x * 2).grad_fn is None


def test_next_functions_have_a_place_for_every_input(x: ag.Tensor) -> None:
    y = leaf([1.0, 1.0, 1.0])
    names = [
        [None if n is None else n.name() for n, _ in made.grad_fn.next_functions]
        for made in (x * y, x * 2, 2 * x, ag.concat([x, x.detach(), y]))
    ]
    assert names == [
        ["AccumulateGrad", "AccumulateGrad"],
        ["AccumulateGrad", None],
        [None, "AccumulateGrad"],
        ["AccumulateGrad", None, "AccumulateGrad"],
    ]


def test_the_number_of_an_output_is_part_of_the_edge(x: ag.Tensor) -> None:
    a, b, _ = ag.unstack(x)
    assert (a.output_nr, b.output_nr, x.output_nr) == (0, 1, 0)
    assert a.grad_fn is b.grad_fn
    (edge, _) = (b * 2).grad_fn.next_functions
    assert edge == (b.grad_fn, 1)


def test_metadata_is_for_notes(x: ag.Tensor) -> None:
    y = x * 2
    assert y.grad_fn is not None
    y.grad_fn.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}
    assert ag.grad(y.sum(), x).tolist() == [2, 2, 2]


# --- edges ---------------------------------------------------------------------------------------


def test_get_gradient_edge(x: ag.Tensor) -> None:
    y = x * 2
    edge = get_gradient_edge(y)
    assert isinstance(edge, GradientEdge)
    assert edge.node is y.grad_fn
    assert edge.output_nr == 0
    assert get_gradient_edge(x).node.name() == "AccumulateGrad"
    assert get_gradient_edge(ag.unstack(x)[2]).output_nr == 2


def test_what_has_no_gradient_edge(x: ag.Tensor) -> None:
    with pytest.raises(NoGradientError, match=r"gradient edge.*requires_grad=True"):
        get_gradient_edge(x.detach())
    with pytest.raises(TypeError, match="tensor must be a Tensor, not float"):
        get_gradient_edge(1.0)  # type: ignore[arg-type]


def test_edges_of_one_of_several_outputs(x: ag.Tensor) -> None:
    _, b, c = ag.unstack(x)
    y = b**2 * 3
    edges = [get_gradient_edge(b), get_gradient_edge(c)]
    assert ag.grad(y, edges[0], retain_graph=True).item() == 12
    assert ag.grad(y, edges, allow_unused=True, retain_graph=True)[1] is None
    assert ag.grad(edges[1], x).tolist() == [0, 0, 1]
    del b, c
    assert ag.grad(y, edges[0], create_graph=True).item() == 12
    gone = GradientEdge(edges[0].node, 0)  # an output that nobody holds
    assert ag.grad(gone, x).tolist() == [1, 0, 0]


def test_an_edge_does_not_keep_values_alive(x: ag.Tensor) -> None:
    y = x + 1
    edge, values = get_gradient_edge(y), weakref.ref(y.array)
    del y
    assert values() is None
    assert ag.grad(edge, x, np.ones(3)).tolist() == [1, 1, 1]


# --- saved values --------------------------------------------------------------------------------


def test_pack_and_unpack(x: ag.Tensor) -> None:
    log: list[str] = []

    def pack(tensor: ag.Tensor) -> ag.Tensor:
        assert isinstance(tensor, ag.Tensor)
        assert not tensor.requires_grad
        assert not ag.is_grad_enabled()
        log.append("pack")
        return tensor * 10

    def unpack(packed: ag.Tensor) -> ag.Tensor:
        assert not ag.is_grad_enabled()
        log.append("unpack")
        return packed * 10

    with saved_tensors_hooks(pack, unpack):
        y = (x * x).sum()
    assert log == ["pack", "pack"]
    assert ag.grad(y, x).tolist() == [200, 400, 600]
    assert log == ["pack", "pack", "unpack", "unpack"]


def test_values_are_packed_once_and_unpacked_for_each_sweep(x: ag.Tensor) -> None:
    log: list[str] = []
    with saved_tensors_hooks(
        lambda t: log.append("pack") or t,  # type: ignore[func-returns-value]
        lambda t: log.append("unpack") or t,  # type: ignore[func-returns-value]
    ):
        y = ag.exp(x).sum()
    for _ in range(2):
        ag.grad(y, x, retain_graph=True)
    g = ag.grad(y, x, create_graph=True)
    ag.grad(g.sum(), x)
    assert log[0] == "pack"
    assert log.count("pack") == 1
    assert log.count("unpack") == 4


def test_anything_may_stand_for_a_saved_value(x: ag.Tensor) -> None:
    store: dict[int, Any] = {}

    def pack(tensor: ag.Tensor) -> int:
        store[len(store)] = tensor.numpy().copy()
        return len(store) - 1

    with saved_tensors_hooks(pack, lambda key: ag.asarray(store[key])):
        y = (x**3).sum()
    assert store
    assert ag.grad(y, x).tolist() == [3, 12, 27]


def test_the_innermost_hooks_apply(x: ag.Tensor) -> None:
    def times(factor: float) -> saved_tensors_hooks:
        return saved_tensors_hooks(lambda t: t * factor, lambda t: t)

    with times(2):
        a = ag.exp(x)
        with times(5):
            b = ag.exp(x)
        c = ag.exp(x)
    d = ag.exp(x)
    for made, factor in ((a, 2), (b, 5), (c, 2), (d, 1)):
        np.testing.assert_allclose(ag.grad(made.sum(), x).numpy(), factor * np.exp([1.0, 2, 3]))


def test_hooks_see_all_that_is_saved_and_nothing_else(x: ag.Tensor) -> None:
    packed: list[Any] = []
    z = ag.tensor([4.0, 5.0, 6.0])
    with saved_tensors_hooks(lambda t: packed.append(t.tolist()) or t, lambda t: t):  # type: ignore[func-returns-value]
        x * z
        assert packed == [[4, 5, 6]]
        x + z
        x * 2
        (x.detach() * z)
        with ag.no_grad():
            x * z
        assert packed == [[4, 5, 6]]


def test_packed_values_under_create_graph(x: ag.Tensor) -> None:
    with saved_tensors_hooks(lambda t: t.numpy().copy(), ag.asarray):
        y = (x**3).sum()
        g = ag.grad(y, x, create_graph=True)
        h = ag.grad(g.sum(), x, create_graph=True)
    assert g.tolist() == [3, 12, 27]
    assert h.tolist() == [6, 12, 18]
    assert ag.grad(h.sum(), x).tolist() == [6, 6, 6]


def test_a_graph_with_packed_values_is_freed_like_others(x: ag.Tensor) -> None:
    class Box:
        def __init__(self, tensor: ag.Tensor) -> None:
            self.tensor = tensor

    boxes: list[weakref.ref[Box]] = []

    def pack(tensor: ag.Tensor) -> Box:
        box = Box(tensor)
        boxes.append(weakref.ref(box))
        return box

    with saved_tensors_hooks(pack, lambda box: box.tensor):
        y = ag.exp(x).sum()
    gc.disable()
    try:
        ag.grad(y, x, retain_graph=True)
        assert boxes[0]() is not None
        ag.grad(y, x)
        assert boxes[0]() is None
    finally:
        gc.enable()
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        ag.grad(y, x)


def test_packed_values_of_an_op_with_hooks(x: ag.Tensor) -> None:
    unpacked: list[int] = []
    with saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(1) or t):  # type: ignore[func-returns-value]
        y = ag.exp(x)
    y.register_hook(lambda g: g * 2)
    np.testing.assert_allclose(ag.grad(y.sum(), x).numpy(), 2 * np.exp([1.0, 2, 3]))
    assert len(unpacked) == 1


def test_a_pack_hook_that_raises_leaves_the_modes_alone(x: ag.Tensor) -> None:
    def fail(value: Any) -> Any:
        raise KeyError("pack")

    with saved_tensors_hooks(fail, fail), pytest.raises(KeyError, match="pack"):
        ag.exp(x)
    assert ag.is_grad_enabled()
    y = ag.exp(x).sum()
    np.testing.assert_allclose(ag.grad(y, x).numpy(), np.exp([1.0, 2, 3]))


def test_an_unpack_hook_that_raises_leaves_the_graph_as_it_was(x: ag.Tensor) -> None:
    fails = [True]

    def unpack(tensor: ag.Tensor) -> ag.Tensor:
        if fails:
            raise KeyError("unpack")
        return tensor

    with saved_tensors_hooks(lambda t: t, unpack):
        y = ag.exp(x).sum()
    with pytest.raises(KeyError, match="unpack"):
        ag.grad(y, x)
    assert ag.is_grad_enabled()
    fails.clear()
    np.testing.assert_allclose(ag.grad(y, x).numpy(), np.exp([1.0, 2, 3]))


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (1.0, TypeError, "unpack hook.*must return a Tensor, not float"),
        (np.ones(3), TypeError, "unpack hook.*must return a Tensor, not ndarray"),
        (ag.tensor([1.0, 2.0]), RuleError, r"unpack hook.*\(2,\).*\(3,\)"),
    ],
)
def test_an_unpack_hook_that_returns_what_does_not_fit(
    x: ag.Tensor, returned: Any, error: type[Exception], message: str
) -> None:
    with saved_tensors_hooks(lambda t: t, lambda t: returned):
        y = ag.exp(x)
    with pytest.raises(error, match=message):
        ag.grad(y.sum(), x)


def test_saved_tensors_hooks_must_be_callable() -> None:
    with pytest.raises(TypeError, match="pack_hook must be callable, not int"):
        saved_tensors_hooks(1, print)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unpack_hook must be callable, not NoneType"):
        saved_tensors_hooks(print, None)  # type: ignore[arg-type]


def test_saved_tensors_hooks_as_a_decorator(x: ag.Tensor) -> None:
    @saved_tensors_hooks(lambda t: t * 10, lambda t: t)
    def model(x: ag.Tensor) -> Any:
        return ag.exp(x).sum()

    np.testing.assert_allclose(ag.grad(model(x), x).numpy(), 10 * np.exp([1.0, 2, 3]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_save_on_cpu(dtype: str) -> None:
    x = leaf([1.0, 2.0, 3.0], dtype=dtype)
    for arguments in ({}, {"pin_memory": True}):
        with save_on_cpu(**arguments):
            y = ag.real((x**3).sum())
        g = ag.grad(y, x, create_graph=True)
        assert g.dtype == x.dtype
        assert g.tolist() == [3, 12, 27]


def test_save_on_cpu_brings_arrays_back_to_their_library() -> None:
    strict = pytest.importorskip("array_api_strict")
    x = leaf(strict.asarray([1.0, 2.0]))
    with save_on_cpu():
        y = ag.sum(ag.exp(x))
    g = ag.grad(y, x)
    assert type(g.array) is type(x.array)
    np.testing.assert_allclose(g.tolist(), np.exp([1.0, 2.0]))


def test_disabling_saved_tensors_hooks(x: ag.Tensor) -> None:
    hooks = saved_tensors_hooks(lambda t: t * 10, lambda t: t)

    @hooks
    def decorated() -> Any:
        return ag.exp(x)

    with disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), hooks:
            pass
        with pytest.raises(RuntimeError, match="not here"):
            decorated()
        y = ag.exp(x)
        inner = disable_saved_tensors_hooks("nor here")
        with pytest.raises(RuntimeError, match="nor here"), inner, save_on_cpu():
            pass
        with pytest.raises(RuntimeError, match="not here"), hooks:
            pass
    np.testing.assert_allclose(ag.grad(y.sum(), x).numpy(), np.exp([1.0, 2, 3]))
    with hooks:
        ag.exp(x)


def test_hooks_in_force_cannot_be_disabled(x: ag.Tensor) -> None:
    with saved_tensors_hooks(lambda t: t * 10, lambda t: t):
        with pytest.raises(RuntimeError, match="too late"), disable_saved_tensors_hooks("too late"):
            pass
        y = ag.exp(x)
    np.testing.assert_allclose(ag.grad(y.sum(), x).numpy(), 10 * np.exp([1.0, 2, 3]))
