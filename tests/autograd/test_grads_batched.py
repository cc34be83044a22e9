"""`grad(…, is_grads_batched=True)`: many vector-Jacobian products in one sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd.graph import get_gradient_edge, saved_tensors_hooks
from arraygrad.errors import UnusedInputError


def leaf(values: Any, **keywords: Any) -> ag.Tensor:
    return ag.tensor(values, requires_grad=True, **keywords)


def batched(outputs: Any, inputs: Any, grad_outputs: Any, **keywords: Any) -> Any:
    return ag.grad(outputs, inputs, grad_outputs, is_grads_batched=True, **keywords)


def test_a_jacobian_in_one_call(x: ag.Tensor) -> None:
    jacobian = batched(x**2, x, np.eye(3))
    assert isinstance(jacobian, ag.Tensor)
    assert jacobian.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    assert not jacobian.requires_grad
    jacobian.array[...] = 0  # the caller's own


def test_a_scalar_output_takes_a_vector_of_cotangents(x: ag.Tensor) -> None:
    assert batched((x**2).sum(), x, np.array([1.0, 2.0])).tolist() == [[2, 4, 6], [4, 8, 12]]


def test_the_same_as_a_loop() -> None:
    rng = np.random.default_rng(0)
    a, b = leaf(rng.normal(size=(4, 3))), leaf(rng.normal(size=(3, 2)))
    y = ag.tanh(a @ b) + ag.sum(a, axis=1, keepdims=True) * b[0]
    y = ag.concat([y, ag.cumulative_sum(y, axis=0)[::-2]])
    seeds = rng.normal(size=(5, *y.shape))
    together = batched(y, [a, b], seeds, retain_graph=True)
    for i, seed in enumerate(seeds):
        alone = ag.grad(y, [a, b], seed, retain_graph=True)
        for many, one in zip(together, alone, strict=True):
            np.testing.assert_allclose(many.numpy()[i], one.numpy(), rtol=1e-12, atol=1e-12)


def test_several_outputs_and_any_structure_of_inputs(x: ag.Tensor) -> None:
    z = leaf(2.0)
    result = batched([x * z, x.sum()], {"x": x, "z": [z]}, [np.eye(3)[:2], np.ones(2)])
    assert result["x"].tolist() == [[3, 1, 1], [1, 3, 1]]
    assert result["z"][0].tolist() == [1, 2]


def test_a_gradient_that_does_not_depend_on_the_batch_has_its_axis_too(x: ag.Tensor) -> None:
    g = batched(x.sum(), x, np.array([1.0, 2.0, 3.0, 4.0]))
    assert g.shape == (4, 3)
    assert g.array.flags.writeable


def test_an_empty_batch(x: ag.Tensor) -> None:
    g = batched(x**2, x, np.zeros((0, 3)))
    assert g.shape == (0, 3)
    assert batched(x.sum(), x, np.zeros(0)).shape == (0, 3)


def test_unused_inputs_of_a_batch(x: ag.Tensor) -> None:
    z = leaf([[1.0, 2.0]])
    y = x**2
    with pytest.raises(UnusedInputError, match=r"inputs\[1\]"):
        batched(y, [x, z], np.eye(3))
    assert batched(y, [x, z], np.eye(3), allow_unused=True, retain_graph=True)[1] is None
    zeros = batched(y, [x, z], np.eye(3)[:2], materialize_grads=True)[1]
    assert zeros.shape == (2, 1, 2)
    assert zeros.numpy().sum() == 0


def test_differentiating_a_batch(x: ag.Tensor) -> None:
    jacobian = batched(x**3, x, np.eye(3), create_graph=True)
    assert jacobian.requires_grad
    assert jacobian.tolist() == [[3, 0, 0], [0, 12, 0], [0, 0, 27]]
    assert ag.grad(jacobian.sum(), x).tolist() == [6, 12, 18]


def test_a_batch_of_hessian_vector_products(x: ag.Tensor) -> None:
    g = ag.grad((x**3).sum() + x[0] * x[1], x, create_graph=True)
    hessian = batched(g, x, np.eye(3))
    assert hessian.tolist() == [[6, 1, 0], [1, 12, 0], [0, 0, 18]]


def test_a_batch_of_constant_gradients_under_create_graph(x: ag.Tensor) -> None:
    jacobian = batched(2 * x, x, np.eye(3), create_graph=True)
    assert jacobian.requires_grad
    assert ag.grad(jacobian.sum(), x, materialize_grads=True).tolist() == [0, 0, 0]


def test_gradients_flow_into_batched_grad_outputs(x: ag.Tensor) -> None:
    v = leaf(np.eye(3))
    g = batched(x**2, x, v, create_graph=True)
    assert ag.grad(g.sum(), v).tolist() == [[2, 4, 6]] * 3


def test_edges_as_outputs_of_a_batch(x: ag.Tensor) -> None:
    y = x**2
    assert batched(get_gradient_edge(y), get_gradient_edge(x), np.eye(3)).tolist() == [
        [2, 0, 0],
        [0, 4, 0],
        [0, 0, 6],
    ]


def test_complex_batches() -> None:
    z = leaf([1 + 2j, 3j])
    g = batched(z * z, z, np.eye(2, dtype=complex) * 1j)
    expected = [ag.grad(z * z, z, row * 1j).tolist() for row in np.eye(2, dtype=complex)]
    assert g.tolist() == expected


def test_dtypes_of_a_batch() -> None:
    x = leaf([1.0, 2.0], dtype="float32")
    g = batched(x**2, x, np.eye(2))
    assert g.dtype == np.float32
    assert g.tolist() == [[2, 0], [0, 4]]


def test_an_output_that_is_the_input(x: ag.Tensor) -> None:
    seeds = np.eye(3)
    g = batched(x, x, seeds)
    assert g.tolist() == seeds.tolist()
    assert not np.shares_memory(g.numpy(), seeds)


def test_repeated_inputs_of_a_batch(x: ag.Tensor) -> None:
    a, b = batched(x**2, [x, x], np.eye(3))
    assert a.tolist() == b.tolist()
    assert not np.shares_memory(a.numpy(), b.numpy())


@pytest.mark.parametrize("given", [None, [None], 1.0, [2]])
def test_a_batch_needs_grad_outputs(x: ag.Tensor, given: Any) -> None:
    with pytest.raises(ValueError, match=r"grad_outputs\[0\] must be an array .*is_grads_batched"):
        batched((x**2).sum(), x, given)


@pytest.mark.parametrize("shape", [(3,), (2, 2), (3, 1), (2, 3, 3)])
def test_a_batch_of_the_wrong_shape(x: ag.Tensor, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"grad_outputs\[0\] has shape .*\(batch, 3\)"):
        batched(x**2, x, np.ones(shape))


def test_a_batch_without_an_axis(x: ag.Tensor) -> None:
    with pytest.raises(ValueError, match=r"grad_outputs\[0\] is 0-d.*batch axis"):
        batched((x**2).sum(), x, np.ones(()))


def test_batches_of_different_sizes(x: ag.Tensor) -> None:
    with pytest.raises(ValueError, match=r"grad_outputs has batches of different sizes: \[2, 3\]"):
        batched([x**2, x.sum()], x, [np.ones((2, 3)), np.ones(3)])


def test_a_failed_batch_leaves_the_graph_as_it_was(x: ag.Tensor) -> None:
    y = x**2
    with pytest.raises(ValueError, match="grad_outputs"):
        batched(y, x, np.ones(3))
    assert batched(y, x, np.eye(3)).tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]


@pytest.mark.parametrize("create_graph", [False, True])
def test_hooks_see_one_member_of_the_batch(x: ag.Tensor, create_graph: bool) -> None:
    shapes = []
    y = x**2

    def hook(g: Any) -> Any:
        shapes.append(g.shape)
        return 10 * g

    y.register_hook(hook)
    x.register_hook(lambda g: g + x)
    g = batched((3 * y), x, np.eye(3), create_graph=create_graph)
    assert shapes == [(3,)]
    assert g.tolist() == (np.diag([60.0, 120.0, 180.0]) + [1, 2, 3]).tolist()
    if create_graph:
        assert ag.grad(g.sum(), x).tolist() == [64, 65, 66]  # the hook on x ran again


@pytest.mark.parametrize("create_graph", [False, True])
def test_node_hooks_run_on_batches(x: ag.Tensor, create_graph: bool) -> None:
    y = x**2
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 3, *inputs[1:]))
    g = batched(y, x, np.eye(3), create_graph=create_graph)
    assert g.tolist() == np.diag([12.0, 24.0, 36.0]).tolist()


def test_a_hook_may_return_a_gradient_without_the_batch(x: ag.Tensor) -> None:
    x.register_hook(lambda g: ag.tensor([7.0, 8.0, 9.0]))
    assert batched(x**2, x, np.eye(3)[:2]).tolist() == [[7, 8, 9]] * 2


def test_packed_values_serve_a_batch(x: ag.Tensor) -> None:
    with saved_tensors_hooks(lambda t: t.numpy(), ag.asarray):
        y = x**2
    assert batched(y, x, np.eye(3)).tolist() == np.diag([2.0, 4.0, 6.0]).tolist()


def test_several_outputs_of_one_op(x: ag.Tensor) -> None:
    a, _, c = ag.unstack(x)
    g = batched([a**2, c**2], x, [np.array([1.0, 2.0]), np.array([0.0, 1.0])])
    assert g.tolist() == [[2, 0, 0], [4, 0, 6]]


def test_a_batch_leaves_grad_alone(x: ag.Tensor) -> None:
    y = x**2
    y.retain_grad()
    batched(y, x, np.eye(3))
    assert x.grad is None
    assert y.grad is None
