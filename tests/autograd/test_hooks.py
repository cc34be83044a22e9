"""Hooks: on tensors, on nodes, on several tensors, and after accumulation."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd.graph import register_multi_grad_hook
from arraygrad.errors import NoGradientError, RuleError


def leaf(values: Any, **keywords: Any) -> ag.Tensor:
    return ag.tensor(values, requires_grad=True, **keywords)


def boom(*args: Any) -> None:
    raise KeyError("boom")


# --- tensor hooks --------------------------------------------------------------------------------


def test_a_hook_sees_the_gradient(x: ag.Tensor) -> None:
    seen: list[ag.Tensor] = []
    x.register_hook(seen.append)
    g = ag.grad((x**2).sum(), x)
    (h,) = seen
    assert isinstance(h, ag.Tensor)
    assert h.tolist() == g.tolist() == [2, 4, 6]
    assert not h.requires_grad


@pytest.mark.parametrize("where", ["leaf", "middle", "output"])
def test_a_hook_replaces_the_gradient(x: ag.Tensor, where: str) -> None:
    y = x * 2
    z = y.sum()
    {"leaf": x, "middle": y, "output": z}[where].register_hook(lambda g: 10 * g)
    assert ag.grad(z, x, retain_graph=True).tolist() == [20, 20, 20]
    z.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [20, 20, 20]


def test_a_hook_may_return_a_plain_array(x: ag.Tensor) -> None:
    x.register_hook(lambda g: np.array([7.0, 8.0, 9.0]))
    assert ag.grad(x.sum(), x).tolist() == [7, 8, 9]


def test_hooks_run_in_the_order_of_registration(x: ag.Tensor) -> None:
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: None)
    x.register_hook(lambda g: g * 10)
    assert ag.grad((2 * x).sum(), x).tolist() == [30, 30, 30]


def test_a_hook_is_called_once_with_the_total(x: ag.Tensor) -> None:
    seen: list[Any] = []
    y = x * 1
    y.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: seen.append(g.tolist()))
    z = (y * 3).sum() + y.sum() + (y * x.detach()).sum()
    ag.grad(z, x)
    assert seen == [[5, 6, 7], [5, 6, 7]]


@pytest.mark.parametrize("inputs", ["y", "x", "yx", "xy"])
def test_a_hook_is_called_once_whatever_is_asked_for(x: ag.Tensor, inputs: str) -> None:
    calls: list[int] = []
    y = x * 2
    y.register_hook(lambda g: calls.append(1))
    ag.grad(y.sum(), [{"x": x, "y": y}[name] for name in inputs])
    assert len(calls) == 1


def test_a_hook_does_not_run_where_the_sweep_does_not_go(x: ag.Tensor) -> None:
    z = leaf([1.0, 1.0, 1.0])
    y = x * 2
    y.register_hook(boom)
    x.register_hook(boom)
    assert ag.grad((y + z).sum(), z).tolist() == [1, 1, 1]


def test_removing_hooks(x: ag.Tensor) -> None:
    first = x.register_hook(lambda g: g * 2)
    with x.register_hook(lambda g: g * 5) as second:
        assert ag.grad(x.sum(), x).tolist() == [10, 10, 10]
    assert ag.grad(x.sum(), x).tolist() == [2, 2, 2]
    second.remove()
    first.remove()
    first.remove()
    assert ag.grad(x.sum(), x).tolist() == [1, 1, 1]


def test_a_hook_may_remove_itself_and_others(x: ag.Tensor) -> None:
    calls: list[str] = []

    def once(g: ag.Tensor) -> None:
        calls.append("once")
        handle.remove()
        other.remove()

    handle = x.register_hook(once)
    other = x.register_hook(lambda g: calls.append("other"))
    for _ in range(2):
        ag.grad(x.sum(), x)
    assert calls == ["once", "other"]  # those of a gradient are fixed when it arrives


def test_a_hook_may_add_hooks(x: ag.Tensor) -> None:
    calls: list[str] = []

    def adding(g: ag.Tensor) -> None:
        calls.append("adding")
        x.register_hook(lambda g: calls.append("added"))

    x.register_hook(adding)
    ag.grad(x.sum(), x)
    assert calls == ["adding"]
    ag.grad(x.sum(), x)
    assert calls == ["adding", "adding", "added"]


def test_hooks_stay_through_requires_grad(x: ag.Tensor) -> None:
    x.register_hook(lambda g: g * 2)
    x.requires_grad_(False).requires_grad_()
    assert ag.grad(x.sum(), x).tolist() == [2, 2, 2]


def test_the_mode_inside_a_hook_is_that_of_the_sweep(x: ag.Tensor) -> None:
    modes: list[bool] = []
    x.register_hook(lambda g: modes.append(ag.is_grad_enabled()))
    y = (x**2).sum()
    ag.grad(y, x, retain_graph=True)
    ag.grad(y, x, create_graph=True)
    with ag.no_grad():
        ag.grad(y, x, create_graph=True)
    assert modes == [False, True, True]


def test_what_a_hook_does_is_recorded_under_create_graph(x: ag.Tensor) -> None:
    x.register_hook(lambda g: g * x)
    g = ag.grad((x**2).sum(), x, create_graph=True)
    assert g.tolist() == [2, 8, 18]  # 2x·x
    again = ag.grad(g.sum(), x)
    assert again.tolist() == [4, 16, 36]  # (4x)·x: the hook has run again


def test_a_constant_from_a_hook_under_create_graph(x: ag.Tensor) -> None:
    for constant in (ag.tensor([5.0, 5.0, 5.0]), np.full(3, 5.0)):
        with x.register_hook(lambda g, c=constant: c):  # type: ignore[misc]
            g = ag.grad((x**2).sum(), x, create_graph=True)
            assert g.tolist() == [5, 5, 5]
        assert ag.grad(g.sum(), x, materialize_grads=True).tolist() == [0, 0, 0]


def test_a_hook_that_raises_leaves_everything_as_it_was(x: ag.Tensor) -> None:
    y = (x**2).sum()
    with x.register_hook(boom), pytest.raises(KeyError, match="boom"):
        ag.grad(y, x)
    assert ag.is_grad_enabled()
    assert x.grad is None
    assert ag.grad(y, x).tolist() == [2, 4, 6]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (ag.tensor([1.0, 2.0]), RuleError, r"hook 'wrong'.*\(3,\).*\(2,\)"),
        (ag.tensor(1.0), RuleError, r"hook 'wrong'.*\(3,\).*\(\)"),
        (ag.tensor([1.0, 2.0, 3.0], dtype="float32"), RuleError, "hook 'wrong'.*float64.*float32"),
        (1.0, TypeError, "hook 'wrong' must return a Tensor or None, not float"),
        ([1.0, 2.0, 3.0], TypeError, "hook 'wrong' must return a Tensor or None, not list"),
    ],
)
def test_a_hook_that_returns_what_does_not_fit(
    x: ag.Tensor, returned: Any, error: type[Exception], message: str, create_graph: bool
) -> None:
    def wrong(g: ag.Tensor) -> Any:
        return returned

    y = x**2
    z = y.sum()
    for tensor in (x, y, z) if not (hasattr(returned, "shape") and not returned.shape) else (x, y):
        with tensor.register_hook(wrong), pytest.raises(error, match="hook 'wrong'") as caught:
            ag.grad(z, x, create_graph=create_graph)
        if tensor is not z:
            caught.match(message)
    assert ag.grad(z, x).tolist() == [2, 4, 6]


def test_what_cannot_have_hooks() -> None:
    for register in ("register_hook", "register_post_accumulate_grad_hook"):
        with pytest.raises(NoGradientError, match=register):
            getattr(ag.tensor(1.0), register)(print)
        with pytest.raises(TypeError, match="hook must be callable, not int"):
            getattr(leaf(1.0), register)(1)


def test_a_hook_lives_no_longer_than_its_graph(x: ag.Tensor) -> None:
    class Hook:
        def __call__(self, g: ag.Tensor) -> None:
            pass

    hook = Hook()
    gone = weakref.ref(hook)
    y = x * 2
    handle = y.register_hook(hook)
    del hook
    assert gone() is not None
    gc.disable()
    try:
        del y, handle
        assert gone() is None
    finally:
        gc.enable()


# --- after accumulation --------------------------------------------------------------------------


def test_post_accumulate_hooks_run_in_backward_only(x: ag.Tensor) -> None:
    seen: list[Any] = []

    def hook(tensor: ag.Tensor) -> None:
        assert tensor is x
        assert tensor.grad is not None
        seen.append(tensor.grad.tolist())

    handle = x.register_post_accumulate_grad_hook(hook)
    y = (x**2).sum()
    ag.grad(y, x, retain_graph=True)
    assert seen == []
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    assert seen == [[2, 4, 6], [4, 8, 12]]
    handle.remove()
    y.backward()
    assert len(seen) == 2


def test_a_post_accumulate_hook_may_step_and_reset(x: ag.Tensor) -> None:
    def step(tensor: ag.Tensor) -> None:
        assert tensor.grad is not None
        tensor.array[...] -= 0.5 * tensor.grad.array
        tensor.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x**2).sum().backward()
    assert x.grad is None
    assert x.tolist() == [0, 0, 0]


def test_post_accumulate_hooks_run_in_order_after_tensor_hooks(x: ag.Tensor) -> None:
    log: list[str] = []
    x.register_post_accumulate_grad_hook(lambda t: log.append("first"))
    x.register_post_accumulate_grad_hook(lambda t: log.append("second"))
    x.register_hook(lambda g: log.append("tensor"))
    x.sum().backward()
    assert log == ["tensor", "first", "second"]


def test_post_accumulate_hooks_only_on_leaves_that_were_reached(x: ag.Tensor) -> None:
    z = leaf(1.0)
    z.register_post_accumulate_grad_hook(boom)
    x.sum().backward()
    ((x * z).sum()).backward(inputs=[x])
    with pytest.raises(RuntimeError, match="leaves"):
        (x * 2).register_post_accumulate_grad_hook(print)


def test_the_post_accumulate_hook_of_a_leaf_that_only_the_graph_knows() -> None:
    seen: list[Any] = []

    def make() -> ag.Tensor:
        hidden = leaf([1.0, 2.0])
        hidden.register_post_accumulate_grad_hook(
            lambda t: seen.append(None if t.grad is None else t.grad.tolist())
        )
        return (hidden**2).sum()

    make().backward()
    assert seen == [[2, 4]]


# --- node hooks ----------------------------------------------------------------------------------


def test_a_node_hook_sees_what_goes_in_and_comes_out(x: ag.Tensor) -> None:
    seen: list[Any] = []
    y = x * 2
    assert y.grad_fn is not None
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs, outputs)))
    ag.grad(y.sum(), x)
    ((inputs, outputs),) = seen
    assert [None if g is None else g.tolist() for g in inputs] == [[2, 2, 2], None]
    assert [g.tolist() for g in outputs] == [[1, 1, 1]]


def test_node_hooks_replace_and_run_in_order(x: ag.Tensor) -> None:
    y = x * 2
    node = y.grad_fn
    assert node is not None
    node.register_prehook(lambda grads: (grads[0] * 7,))
    node.register_prehook(lambda grads: (grads[0] + 1,))
    node.register_hook(lambda inputs, outputs: (inputs[0] * 10, None))
    handle = node.register_hook(lambda inputs, outputs: (inputs[0] + 5, None))
    y.register_hook(lambda g: g * 3)  # a tensor's hooks come before its node's
    assert ag.grad(y.sum(), x, retain_graph=True).tolist() == [(3 * 7 + 1) * 2 * 10 + 5] * 3
    handle.remove()
    assert ag.grad(y.sum(), x).tolist() == [(3 * 7 + 1) * 2 * 10] * 3


def test_a_node_hook_may_cut_a_path(x: ag.Tensor) -> None:
    y = x * 2
    assert y.grad_fn is not None
    y.grad_fn.register_hook(lambda inputs, outputs: (None, None))
    z = (y + x).sum()
    assert ag.grad(z, x).tolist() == [1, 1, 1]


def test_a_node_hook_gives_no_gradient_to_what_was_not_asked_for(x: ag.Tensor) -> None:
    z = leaf([1.0, 1.0, 1.0])
    other = z * 2
    y = x * other
    assert y.grad_fn is not None
    other.register_hook(boom)
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0], outputs[0]))
    assert ag.grad(y.sum(), x).tolist() == [2, 2, 2]


def test_a_node_whose_result_is_asked_for_does_not_run(x: ag.Tensor) -> None:
    y = x * 2
    assert y.grad_fn is not None
    y.grad_fn.register_hook(boom)
    y.grad_fn.register_prehook(boom)
    assert ag.grad(y.sum(), y).tolist() == [1, 1, 1]


def test_a_prehook_does_not_change_what_arrived_at_the_tensor(x: ag.Tensor) -> None:
    y = x * 2
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    gy, gx = ag.grad(y.sum(), [y, x])
    assert gy.tolist() == [1, 1, 1]
    assert gx.tolist() == [20, 20, 20]


def test_node_hooks_under_create_graph(x: ag.Tensor) -> None:
    y = x**2
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: (grads[0] * x,))
    handle = y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * x, *inputs[1:]))
    g = ag.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [2, 16, 54]  # 2x·x·x
    handle.remove()
    assert ag.grad(g.sum(), x).tolist() == [6, 24, 54]


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        ((ag.tensor([1.0]), None), RuleError, r"\(3,\).*\(1,\)"),
        ((1.0, None), TypeError, "must return a Tensor"),
        ((ag.ones(3),), RuleError, "returned 1 gradients for 2 inputs"),
        ((ag.ones(3), None, None), RuleError, "returned 3 gradients for 2 inputs"),
    ],
)
def test_a_node_hook_that_returns_what_does_not_fit(
    x: ag.Tensor, returned: Any, error: type[Exception], message: str
) -> None:
    def wrong(inputs: Any, outputs: Any) -> Any:
        return returned

    y = x * 2
    assert y.grad_fn is not None
    with y.grad_fn.register_hook(wrong), pytest.raises(error, match=f"hook 'wrong'.*{message}"):
        ag.grad(y.sum(), x)
    assert ag.grad(y.sum(), x).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("returned", "error"),
    [((ag.ones(2),), RuleError), ((ag.ones(3),) * 2, RuleError), ("wrong", TypeError)],
)
def test_a_prehook_that_returns_what_does_not_fit(
    x: ag.Tensor, returned: Any, error: type[Exception]
) -> None:
    y = x * 2
    assert y.grad_fn is not None
    with y.grad_fn.register_prehook(lambda grads: returned), pytest.raises(error, match="prehook"):
        ag.grad(y.sum(), x)
    assert ag.grad(y.sum(), x).tolist() == [2, 2, 2]


def test_node_hooks_of_a_leaf_run_around_accumulation(x: ag.Tensor) -> None:
    log: list[Any] = []
    y = (x**2).sum()
    node = ag.autograd.graph.get_gradient_edge(x).node

    def pre(grads: Any) -> Any:
        log.append(("pre", x.grad))
        return (grads[0] * 10,)

    def post(inputs: Any, outputs: Any) -> None:
        assert x.grad is not None
        log.append(("post", inputs, outputs[0].tolist(), x.grad.tolist()))

    node.register_prehook(pre)
    node.register_hook(post)
    assert ag.grad(y, x, retain_graph=True).tolist() == [2, 4, 6]
    assert log == []
    y.backward()
    assert log == [("pre", None), ("post", (), [20, 40, 60], [20, 40, 60])]


def test_a_leaf_prehook_that_raises_writes_nothing(x: ag.Tensor) -> None:
    z = leaf(2.0)
    y = (x * z).sum()
    node = ag.autograd.graph.get_gradient_edge(x).node
    with node.register_prehook(boom), pytest.raises(KeyError):
        y.backward()
    assert x.grad is None
    assert z.grad is None
    y.backward()
    assert z.grad is not None
    assert z.grad.item() == 6


# --- hooks on several tensors --------------------------------------------------------------------


@pytest.fixture
def pair() -> tuple[ag.Tensor, ag.Tensor]:
    return leaf([1.0, 2.0, 3.0]), leaf([4.0, 5.0, 6.0])


def lists(gradients: Any) -> list[Any]:
    return [None if g is None else g.tolist() for g in gradients]


def test_a_hook_on_all_gradients(pair: tuple[ag.Tensor, ag.Tensor]) -> None:
    a, b = pair
    seen: list[Any] = []
    handle = register_multi_grad_hook(pair, lambda grads: seen.append(lists(grads)))
    y = (a * b).sum()
    y.backward(retain_graph=True)
    ag.grad(y, [b, a], retain_graph=True)
    assert seen == [[[4, 5, 6], [1, 2, 3]]] * 2
    handle.remove()
    y.backward()
    assert len(seen) == 2


def test_tensors_outside_the_sweep_give_none(pair: tuple[ag.Tensor, ag.Tensor]) -> None:
    a, b = pair
    seen: list[Any] = []
    with register_multi_grad_hook([b, a], lambda grads: seen.append(lists(grads))):
        ag.grad((2 * a).sum(), a)
        ag.grad((a * b).sum(), b)
    assert seen == [[None, [2, 2, 2]], [[1, 2, 3], None]]


def test_a_hook_on_any_gradient(pair: tuple[ag.Tensor, ag.Tensor]) -> None:
    a, b = pair
    calls: list[Any] = []
    register_multi_grad_hook(pair, lambda g: calls.append(g.tolist()), mode="any")
    y = (a * b).sum()
    for expected in (1, 2, 3):
        ag.grad(y, pair, retain_graph=True)
        assert len(calls) == expected
    ag.grad((2 * b).sum(), b)
    assert calls[-1] == [2, 2, 2]


def test_a_shared_hook_on_a_tensor_given_twice_and_on_a_result(x: ag.Tensor) -> None:
    seen: list[Any] = []
    y = x * 2
    register_multi_grad_hook([x, y, x], lambda grads: seen.append(lists(grads)))
    ag.grad(y.sum(), x)
    assert seen == [[[2, 2, 2], [1, 1, 1], [2, 2, 2]]]


def test_a_sweep_that_failed_does_not_disturb_the_next(pair: tuple[ag.Tensor, ag.Tensor]) -> None:
    a, b = pair
    for mode in ("all", "any"):
        calls: list[Any] = []
        y = (a * b).sum()
        with register_multi_grad_hook(pair, calls.append, mode=mode):
            for tensor in pair:
                with tensor.register_hook(boom), pytest.raises(KeyError):
                    ag.grad(y, pair)
            calls.clear()
            ag.grad(y, pair)
        assert len(calls) == 1


def test_sweeps_within_sweeps_are_told_apart(pair: tuple[ag.Tensor, ag.Tensor]) -> None:
    a, b = pair
    seen: list[Any] = []
    inner = (3 * a).sum()
    register_multi_grad_hook(pair, lambda grads: seen.append(lists(grads)))
    c = b * 1
    c.register_hook(lambda g: seen.append("begin") or seen.append(ag.grad(inner, a).tolist()))
    ag.grad((a * c).sum(), pair)
    assert seen == ["begin", [[3, 3, 3], None], [3, 3, 3], [[4, 5, 6], [1, 2, 3]]]


def test_a_shared_hook_under_create_graph(pair: tuple[ag.Tensor, ag.Tensor]) -> None:
    a, b = pair
    seen: list[Any] = []
    handle = register_multi_grad_hook(pair, seen.extend)
    ag.grad((a**2 * b).sum(), pair, create_graph=True)
    handle.remove()
    assert ag.grad(seen[0].sum(), b).tolist() == [2, 4, 6]


def test_shared_hooks_make_no_cycle(x: ag.Tensor) -> None:
    y, z = x * 2, x * 3
    nodes = [weakref.ref(y.grad_fn), weakref.ref(z.grad_fn)]
    for mode in ("all", "any"):
        register_multi_grad_hook([y, z], print, mode=mode)
    gc.disable()
    try:
        register_multi_grad_hook([y, z], lambda g: None, mode="any")
        with register_multi_grad_hook([y, z], boom), pytest.raises(KeyError):
            ag.grad((y * z).sum(), x)
        del y, z
        assert [node() for node in nodes] == [None, None]
    finally:
        gc.enable()


def test_what_cannot_share_a_hook(x: ag.Tensor) -> None:
    with pytest.raises(ValueError, match='mode must be "all" or "any"'):
        register_multi_grad_hook([x], print, mode="some")
    with pytest.raises(NoGradientError, match=r"tensors\[1\]"):
        register_multi_grad_hook([x, ag.tensor(1.0)], print)
    with pytest.raises(TypeError, match="fn must be callable"):
        register_multi_grad_hook([x], 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"tensors\[0\] must be a Tensor"):
        register_multi_grad_hook([1.0], print)  # type: ignore[list-item]


# --- ops with several outputs --------------------------------------------------------------------


def test_hooks_on_the_outputs_of_one_op(x: ag.Tensor) -> None:
    seen: list[Any] = []
    a, b, c = ag.unstack(x)
    a.register_hook(lambda g: seen.append(g.tolist()))
    b.register_hook(lambda g: g * 10)
    c.register_hook(boom)  # c is not used
    g = ag.grad(2 * a + 3 * b + a * b, x)
    assert g.tolist() == [4, 40, 0]
    assert seen == [4]


def test_outputs_of_one_op_as_inputs_of_grad(x: ag.Tensor) -> None:
    a, b, c = ag.unstack(x)
    y = a**2 * b
    ga, gb, gx = ag.grad(y, [a, b, x], retain_graph=True)
    assert (ga.item(), gb.item(), gx.tolist()) == (4, 1, [4, 1, 0])
    assert ag.grad(y, [b, c], allow_unused=True)[1] is None


def test_outputs_of_one_op_that_retain_their_gradients(x: ag.Tensor) -> None:
    a, b, _ = ag.unstack(x)
    b.retain_grad()
    assert b.retains_grad
    assert not a.retains_grad
    (a * b).backward()
    assert b.grad is not None
    assert b.grad.item() == 1
    assert x.grad is not None
    assert x.grad.tolist() == [2, 1, 0]


def test_node_hooks_see_all_outputs_of_their_op(x: ag.Tensor) -> None:
    seen: list[Any] = []
    a, _, c = ag.unstack(x)
    node = a.grad_fn
    assert node is c.grad_fn
    assert node is not None
    node.register_prehook(lambda grads: seen.append(lists(grads)))
    node.register_prehook(lambda grads: (grads[0], grads[1], grads[2] * 10))
    node.register_hook(lambda inputs, outputs: seen.append((lists(inputs), lists(outputs))))
    assert ag.grad(2 * a + 3 * c, x).tolist() == [2, 0, 30]
    assert seen == [[2, None, 3], ([[2, 0, 30]], [2, None, 30])]


def test_second_derivatives_through_several_outputs(x: ag.Tensor) -> None:
    a, b, _ = ag.unstack(x)
    g = ag.grad(a**2 * b, x, create_graph=True)
    assert g.tolist() == [4, 1, 0]
    assert ag.grad(g, x, np.array([1.0, 0.0, 0.0])).tolist() == [4, 2, 0]


def test_an_output_of_several_as_the_output_of_grad(x: ag.Tensor) -> None:
    a, b, c = ag.unstack(x)
    assert ag.grad(b, x).tolist() == [0, 1, 0]
    assert ag.grad([a, c, c], x).tolist() == [1, 0, 2]


def test_post_accumulate_hooks_record_only_what_backward_does(x: ag.Tensor) -> None:
    seen: list[bool] = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(ag.is_grad_enabled()))
    (x * x).sum().backward()
    (x * x).sum().backward(create_graph=True)
    assert seen == [False, True]


def test_prehooks_of_a_node_that_the_sweep_ends_at(x: ag.Tensor) -> None:
    """As in torch: they are called, and what they return goes nowhere."""
    y = x * 2
    seen: list[Any] = []
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda g: seen.append(g[0].tolist()) or (g[0] * 10,))
    (3 * y).sum().backward(inputs=[y])
    assert y.grad is not None
    assert y.grad.tolist() == [3.0] * y.size == seen[0]
    ag.grad((3 * y).sum(), y)
    assert len(seen) == 1


def test_the_edges_behind_once_differentiable(x: ag.Tensor) -> None:
    class Double(ag.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        @ag.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    found = ag.grad(Double.apply(x).sum(), x, create_graph=True)
    stack = [found.grad_fn]
    names = set()
    while stack:
        node = stack.pop()
        if node is not None:
            names.add(node.name())
            stack += [n for n, _ in node.next_functions]
    assert "AccumulateGrad" in names
