"""`backward`, and the `.grad` it accumulates into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd.graph import get_gradient_edge
from arraygrad.errors import GraphFreedError, NoGradientError


def leaf(values: Any, **keywords: Any) -> ag.Tensor:
    return ag.tensor(values, requires_grad=True, **keywords)


def grad_of(tensor: ag.Tensor) -> Any:
    assert tensor.grad is not None
    return tensor.grad.tolist()


# --- accumulation --------------------------------------------------------------------------------


def test_gradients_add_up(x: ag.Tensor) -> None:
    assert x.grad is None
    for times in (1, 2, 3):
        assert (x**2).sum().backward() is None  # type: ignore[func-returns-value]
        assert grad_of(x) == [2 * times, 4 * times, 6 * times]


def test_gradients_add_up_in_place(x: ag.Tensor) -> None:
    x.sum().backward()
    first = x.grad
    assert first is not None
    array = first.array
    (x**2).sum().backward()
    assert x.grad is first
    assert first.array is array
    assert first.tolist() == [3, 5, 7]


def test_gradients_add_up_out_of_place_under_create_graph(x: ag.Tensor) -> None:
    x.sum().backward()
    first = x.grad
    (x**3).sum().backward(create_graph=True)
    assert x.grad is not first
    assert grad_of(x) == [4, 13, 28]
    assert first is not None
    assert first.tolist() == [1, 1, 1]
    assert x.grad is not None
    assert x.grad.requires_grad
    assert ag.grad(x.grad.sum(), x).tolist() == [6, 12, 18]


def test_a_grad_with_a_graph_is_replaced_not_written(x: ag.Tensor) -> None:
    (x**3).sum().backward(create_graph=True)
    first = x.grad
    assert first is not None
    (x**2).sum().backward()
    assert first.tolist() == [3, 12, 27]
    assert grad_of(x) == [5, 16, 33]


def test_a_grad_that_cannot_be_written_is_replaced(x: ag.Tensor) -> None:
    frozen = np.ones(3)
    frozen.flags.writeable = False
    x.grad = ag.asarray(frozen)
    x.sum().backward()
    assert frozen.tolist() == [1, 1, 1]
    assert grad_of(x) == [2, 2, 2]


def test_resetting_grad(x: ag.Tensor) -> None:
    x.sum().backward()
    x.grad = None
    assert x.grad is None
    (x**2).sum().backward()
    assert grad_of(x) == [2, 4, 6]


def test_create_graph_under_no_grad_still_records(x: ag.Tensor) -> None:
    y = (x**3).sum()
    with ag.no_grad():
        y.backward(create_graph=True)
    assert x.grad is not None
    assert ag.grad(x.grad.sum(), x).tolist() == [6, 12, 18]


def test_grad_shares_memory_with_nothing(x: ag.Tensor) -> None:
    z, seed = leaf([0.0, 0.0, 0.0]), np.ones(3)
    ag.autograd.backward(x + z, seed)
    assert x.grad is not None
    assert z.grad is not None
    assert not np.shares_memory(x.grad.array, z.grad.array)
    assert not np.shares_memory(x.grad.array, seed)
    x.backward(seed)
    assert seed.tolist() == [1, 1, 1]
    assert grad_of(x) == [2, 2, 2]
    assert grad_of(z) == [1, 1, 1]


def test_a_seed_is_copied_into_grad(x: ag.Tensor) -> None:
    seed = ag.tensor([1.0, 2.0, 3.0])
    x.backward(seed)
    assert x.grad is not seed
    assert x.grad is not None
    assert not np.shares_memory(x.grad.array, seed.array)


def test_a_scalar_leaf_is_its_own_output() -> None:
    x = leaf(2.0)
    x.backward()
    x.backward()
    assert grad_of(x) == 2


def test_grad_has_the_dtype_of_the_leaf() -> None:
    x = leaf([1.0, 2.0], dtype="float32")
    (x * ag.tensor([3.0, 4.0])).sum().backward()
    assert x.grad is not None
    assert x.grad.dtype == np.float32
    assert type(x.grad.array) is np.ndarray


# --- arguments -----------------------------------------------------------------------------------


def test_backward_of_several_tensors(x: ag.Tensor) -> None:
    ag.autograd.backward([(x**2).sum(), x * 2], [None, np.ones(3)])
    assert grad_of(x) == [4, 6, 8]


def test_backward_of_nothing_does_nothing() -> None:
    assert ag.autograd.backward([]) is None  # type: ignore[func-returns-value]


def test_backward_takes_a_gradient(x: ag.Tensor) -> None:
    (x**2).backward(ag.tensor([1.0, 0.0, 2.0]))
    assert grad_of(x) == [2, 0, 12]
    x.grad = None
    (x**2).backward(0.5)
    assert grad_of(x) == [1, 2, 3]


def test_backward_from_an_edge(x: ag.Tensor) -> None:
    y = x * 2
    ag.autograd.backward(get_gradient_edge(y), np.ones(3))
    assert grad_of(x) == [2, 2, 2]


def test_errors_speak_of_the_arguments_of_the_call(x: ag.Tensor) -> None:
    y = x**2
    with pytest.raises(RuntimeError, match=r"this tensor has shape \(3,\).*gradient"):
        y.backward()
    with pytest.raises(ValueError, match=r"^gradient has shape \(2,\)"):
        y.backward(np.ones(2))
    with pytest.raises(TypeError, match=r"^gradient must be a Tensor"):
        y.backward("one")
    with pytest.raises(NoGradientError, match=r"^this tensor does not require gradients"):
        ag.tensor(1.0).backward()
    with pytest.raises(RuntimeError, match=r"tensors\[0\] has shape .*grad_tensors\[0\]"):
        ag.autograd.backward(y)
    with pytest.raises(ValueError, match=r"grad_tensors has 2 entries for 1 outputs"):
        ag.autograd.backward(y, [1.0, 1.0])
    with pytest.raises(TypeError, match=r"tensors must be"):
        ag.autograd.backward(1.0)
    assert x.grad is None
    y.backward(1.0)
    assert grad_of(x) == [2, 4, 6]


def test_inputs_choose_where_to_accumulate(x: ag.Tensor) -> None:
    z = leaf([1.0, 1.0, 1.0])
    y = x * 2
    loss = (y**2 * z).sum()
    loss.backward(inputs=[y], retain_graph=True)
    assert x.grad is None
    assert z.grad is None
    assert grad_of(y) == [4, 8, 12]
    loss.backward(inputs=x, retain_graph=True)
    assert grad_of(x) == [8, 16, 24]
    assert z.grad is None
    loss.backward(inputs={"z": z, "again": (x,)})
    assert grad_of(z) == [4, 16, 36]
    assert grad_of(x) == [16, 32, 48]


def test_an_edge_among_inputs_stands_for_its_leaf(x: ag.Tensor) -> None:
    (x**2).sum().backward(inputs=[get_gradient_edge(x)])
    assert grad_of(x) == [2, 4, 6]


def test_an_input_given_twice_is_accumulated_once(x: ag.Tensor) -> None:
    (x**2).sum().backward(inputs=[x, x])
    assert grad_of(x) == [2, 4, 6]


def test_unused_inputs_of_backward_keep_their_grad(x: ag.Tensor) -> None:
    z = leaf(1.0)
    (x**2).sum().backward(inputs=[z])
    assert z.grad is None
    assert x.grad is None


def test_wrong_inputs_of_backward(x: ag.Tensor) -> None:
    loss = (x**2).sum()
    with pytest.raises(ValueError, match="inputs is empty"):
        loss.backward(inputs=[])
    with pytest.raises(NoGradientError, match=r"inputs\[1\]"):
        loss.backward(inputs=[x, ag.tensor(1.0)])
    with pytest.raises(TypeError, match=r"inputs\[0\]"):
        loss.backward(inputs=1.0)
    assert x.grad is None
    loss.backward()
    assert grad_of(x) == [2, 4, 6]


# --- lifetime ------------------------------------------------------------------------------------


def test_backward_frees_the_graph_unless_told_otherwise(x: ag.Tensor) -> None:
    y = (x**2).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert grad_of(x) == [4, 8, 12]
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        y.backward()
    assert grad_of(x) == [4, 8, 12]


def test_backward_again_where_nothing_was_saved(x: ag.Tensor) -> None:
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert grad_of(x) == [2, 2, 2]


def test_a_leaf_that_no_longer_requires_gradients_gets_none(x: ag.Tensor) -> None:
    z = leaf(2.0)
    y = (x * z).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None
    assert grad_of(z) == 6


def test_a_leaf_that_is_gone_does_not_stop_backward(x: ag.Tensor) -> None:
    gone = leaf([2.0, 2.0, 2.0])
    y = (x * gone).sum()
    del gone
    y.backward()
    assert grad_of(x) == [2, 2, 2]


# --- results that keep their gradient ------------------------------------------------------------


def test_only_leaves_keep_gradients(x: ag.Tensor) -> None:
    y = x * 2
    y.sum().backward()
    with pytest.warns(UserWarning, match="retain_grad"):
        assert y.grad is None


def test_retain_grad(x: ag.Tensor) -> None:
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad
    assert y.grad is None
    loss = (y**2).sum()
    loss.backward(retain_graph=True)
    assert grad_of(y) == [4, 8, 12]
    assert grad_of(x) == [8, 16, 24]
    loss.backward()
    assert grad_of(y) == [8, 16, 24]


def test_retain_grad_of_the_output(x: ag.Tensor) -> None:
    y = (x * 2).sum()
    y.retain_grad()
    y.backward()
    assert grad_of(y) == 1
    assert grad_of(x) == [2, 2, 2]


def test_retain_grad_on_a_leaf_changes_nothing(x: ag.Tensor) -> None:
    x.retain_grad()
    assert not x.retains_grad
    x.sum().backward()
    assert grad_of(x) == [1, 1, 1]


def test_retain_grad_needs_gradients() -> None:
    with pytest.raises(NoGradientError, match="retain_grad"):
        ag.tensor(1.0).retain_grad()


@pytest.mark.parametrize("retain_first", [True, False])
def test_retained_gradients_are_what_hooks_made(x: ag.Tensor, retain_first: bool) -> None:
    y = x * 2
    if retain_first:
        y.retain_grad()
    y.register_hook(lambda g: 10 * g)
    if not retain_first:
        y.retain_grad()
    y.sum().backward()
    assert grad_of(y) == [10, 10, 10]
    assert grad_of(x) == [20, 20, 20]


def test_inputs_of_backward_see_what_hooks_made(x: ag.Tensor) -> None:
    y = x * 2
    y.register_hook(lambda g: 10 * g)
    y.sum().backward(inputs=[y, x])
    assert grad_of(y) == [10, 10, 10]
    assert grad_of(x) == [20, 20, 20]


def test_only_the_inputs_asked_for_are_written(x: ag.Tensor) -> None:
    y = x * 2
    y.retain_grad()
    (y**2).sum().backward(inputs=[x])
    assert y.grad is None
    assert grad_of(x) == [8, 16, 24]


# --- the grad attribute --------------------------------------------------------------------------


def test_assigning_grad(x: ag.Tensor) -> None:
    mine = ag.tensor([1.0, 1.0, 1.0])
    x.grad = mine
    assert x.grad is mine
    x.sum().backward()
    assert mine.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (ag.tensor([1.0, 2.0]), RuntimeError, r"\(2,\).*\(3,\)"),
        (ag.tensor([1.0, 2.0, 3.0], dtype="float32"), RuntimeError, "float32.*float64"),
        (1.0, TypeError, "grad must be a Tensor or None, not float"),
        (np.ones(3), TypeError, "grad must be a Tensor or None, not ndarray"),
    ],
)
def test_assigning_what_is_no_gradient(
    x: ag.Tensor, value: Any, error: type[Exception], message: str
) -> None:
    before = x.grad = ag.tensor([0.0, 0.0, 0.0])
    with pytest.raises(error, match=message):
        x.grad = value
    assert x.grad is before


def test_a_tensor_is_not_its_own_gradient(x: ag.Tensor) -> None:
    with pytest.raises(RuntimeError, match="its own gradient"):
        x.grad = x


def test_a_failed_backward_writes_no_grad(x: ag.Tensor) -> None:
    z = leaf([1.0, 1.0, 1.0])
    y = x * z
    loss = (y**2).sum()

    def fail(g: ag.Tensor) -> None:
        raise KeyError("boom")

    handle = x.register_hook(fail)
    y.retain_grad()
    with pytest.raises(KeyError, match="boom"):
        loss.backward()
    assert x.grad is None
    assert z.grad is None
    assert y.grad is None
    handle.remove()
    loss.backward()
    assert grad_of(x) == [2, 4, 6]
    assert grad_of(z) == [2, 8, 18]
    assert grad_of(y) == [2, 4, 6]
