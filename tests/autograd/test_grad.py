"""`grad`: what may be passed to it, what comes back, and what it leaves alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd.graph import GradientEdge, get_gradient_edge
from arraygrad.errors import GraphFreedError, MixedArraysError, NoGradientError, UnusedInputError


def leaf(values: Any, **keywords: Any) -> ag.Tensor:
    return ag.tensor(values, requires_grad=True, **keywords)


def shares(a: ag.Tensor, b: ag.Tensor) -> bool:
    return bool(np.shares_memory(a.detach().numpy(), b.detach().numpy()))


# --- the form of inputs is the form of the result ------------------------------------------------


def test_one_bare_input_gives_one_gradient(x: ag.Tensor) -> None:
    g = ag.grad((x**2).sum(), x)
    assert isinstance(g, ag.Tensor)
    assert g.tolist() == [2, 4, 6]
    assert not g.requires_grad
    assert g.is_leaf


@pytest.mark.parametrize("form", [list, tuple, iter, lambda inputs: (t for t in inputs)])
def test_sequences_and_iterators_give_tuples(x: ag.Tensor, form: Any) -> None:
    z = leaf([4.0, 5.0, 6.0])
    one = ag.grad((x**2).sum(), form([x]))
    assert type(one) is tuple
    assert [g.tolist() for g in one] == [[2, 4, 6]]
    two = ag.grad((x * z).sum(), form([x, z]))
    assert type(two) is tuple
    assert [g.tolist() for g in two] == [[4, 5, 6], [1, 2, 3]]


def test_views_of_a_dict_are_sequences(x: ag.Tensor) -> None:
    parameters = {"a": x, "b": leaf(2.0)}
    loss = (parameters["a"] * parameters["b"]).sum()
    a, b = ag.grad(loss, parameters.values())
    assert a.tolist() == [2, 2, 2]
    assert b.item() == 6


def test_mappings_give_mappings_with_the_same_keys(x: ag.Tensor) -> None:
    z = leaf([1.0, 4.0, 9.0])
    loss = (x**2 * z).sum()
    plain = ag.grad(loss, {"z": z, "x": x}, retain_graph=True)
    assert type(plain) is dict
    assert list(plain) == ["z", "x"]
    assert plain["x"].tolist() == [2, 16, 54]
    assert plain["z"].tolist() == [1, 4, 9]
    ordered = ag.grad(loss, OrderedDict(z=z, x=x))
    assert type(ordered) is OrderedDict
    assert list(ordered) == ["z", "x"]


def test_nested_structures_come_back_nested(x: ag.Tensor) -> None:
    class Layer(NamedTuple):
        weight: Any
        bias: Any

    b = leaf(1.0)
    loss = (x**2).sum() + 3 * b
    result = ag.grad(loss, {"layers": [Layer(x, b), {"again": (x,)}]})
    assert isinstance(result["layers"], tuple)
    first, second = result["layers"]
    assert isinstance(first, Layer)
    assert first.weight.tolist() == [2, 4, 6]
    assert first.bias.item() == 3
    assert type(second["again"]) is tuple
    assert second["again"][0].tolist() == [2, 4, 6]


@pytest.mark.parametrize("empty", [[], (), {}, iter(()), {"a": []}])
def test_empty_inputs_are_an_error(x: ag.Tensor, empty: Any) -> None:
    with pytest.raises(ValueError, match="inputs is empty"):
        ag.grad((x**2).sum(), empty)


@pytest.mark.parametrize("wrong", [1.0, None, "x", object(), np.ones(3), {1.0}])
def test_inputs_of_the_wrong_kind_are_named(x: ag.Tensor, wrong: Any) -> None:
    kind = type(wrong).__name__
    loss = (x**2).sum()
    for inputs, place in (
        (wrong, r"inputs\[0\]"),
        ([x, wrong], r"inputs\[1\]"),
        ({"a": x, "b": [x, wrong]}, r"inputs\['b'\]\[1\]"),
    ):
        with pytest.raises(TypeError, match=rf"{place} must be .* not {kind}"):
            ag.grad(loss, inputs)
    assert ag.grad(loss, x).tolist() == [2, 4, 6]


# --- outputs -------------------------------------------------------------------------------------


def test_outputs_may_be_a_sequence_or_an_iterator(x: ag.Tensor) -> None:
    def outputs() -> Iterator[ag.Tensor]:
        yield (x**2).sum()
        yield (3 * x).sum()

    for given in (outputs(), list(outputs()), tuple(outputs())):
        assert ag.grad(given, x).tolist() == [5, 7, 9]


def test_an_output_given_twice_counts_twice(x: ag.Tensor) -> None:
    y = (x**2).sum()
    assert ag.grad([y, y, y], x).tolist() == [6, 12, 18]


def test_without_outputs_every_input_is_unused(x: ag.Tensor) -> None:
    with pytest.raises(UnusedInputError, match=r"inputs\[0\]"):
        ag.grad([], x)
    assert ag.grad([], x, allow_unused=True) is None
    assert ag.grad([], x, materialize_grads=True).tolist() == [0, 0, 0]


@pytest.mark.parametrize("wrong", [2.0, None, np.ones(()), {"a": 1}])
def test_outputs_of_the_wrong_kind_are_named(x: ag.Tensor, wrong: Any) -> None:
    with pytest.raises(TypeError, match="outputs must be a Tensor"):
        ag.grad(wrong, x)


def test_a_wrong_entry_of_outputs_is_named(x: ag.Tensor) -> None:
    with pytest.raises(TypeError, match=r"outputs\[1\] must be .* not float"):
        ag.grad([(x**2).sum(), 1.0], x)


def test_an_output_that_is_the_input_has_gradient_one() -> None:
    x = leaf(3.0)
    assert ag.grad(x, x).item() == 1
    v = leaf([1.0, 2.0, 3.0])
    assert ag.grad(v, v, ag.tensor([1.0, 5.0, 7.0])).tolist() == [1, 5, 7]


# --- grad_outputs --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1,), (1, 1, 1)])
def test_one_element_of_any_shape_needs_no_grad_outputs(shape: tuple[int, ...]) -> None:
    x = leaf(np.full(shape, 2.0))
    g = ag.grad(x**2, x)
    assert g.shape == shape
    assert g.item() == 4


@pytest.mark.parametrize("shape", [(3,), (0,), (2, 2)])
def test_any_other_number_of_elements_does(shape: tuple[int, ...]) -> None:
    x = leaf(np.ones(shape))
    for given in (None, [None]):
        with pytest.raises(RuntimeError, match=r"outputs\[0\] has shape .*grad_outputs"):
            ag.grad(x * 2, x, given)


def test_a_complex_output_needs_grad_outputs() -> None:
    z = leaf(1 + 2j)
    with pytest.raises(RuntimeError, match=r"outputs\[0\] is complex"):
        ag.grad(z * z, z)
    assert ag.grad(z * z, z, 1.0).item() == 2 - 4j  # the conjugate of 2z, as torch has it


@pytest.mark.parametrize(
    "given",
    [
        ag.tensor([1.0, 1.0, 1.0]),
        np.ones(3),
        np.ones(3, np.float32),
        np.ones(3, np.int64),
        1.0,
        1,
        True,
        np.float64(1.0),
    ],
)
def test_grad_outputs_may_be_tensors_arrays_and_numbers(x: ag.Tensor, given: Any) -> None:
    for form in (given, [given], (given,), iter([given])):
        g = ag.grad(x**2, x, form)
        assert g.tolist() == [2, 4, 6]
        assert g.dtype == x.dtype


def test_a_complex_number_as_grad_output_of_a_complex_output() -> None:
    z = leaf([1 + 2j, 3j])
    g = ag.grad(z * 2, z, 1j)
    assert g.tolist() == [2j, 2j]
    assert ag.grad(z * 2, z, 1).tolist() == [2, 2]


def test_each_output_has_its_own_grad_output(x: ag.Tensor) -> None:
    outputs = [(x**2).sum(), x * 2, 3 * x]
    g = ag.grad(outputs, x, [None, np.array([1.0, 0, 0]), 10.0])
    assert g.tolist() == [2 + 2 + 30, 4 + 30, 6 + 30]


def test_a_grad_output_of_a_number_stands_for_a_constant_array(x: ag.Tensor) -> None:
    assert ag.grad(x**2, x, 0.5).tolist() == [1, 2, 3]


@pytest.mark.parametrize("shape", [(2,), (1,), (), (3, 1), (1, 3)])
def test_grad_outputs_must_have_the_shape_of_the_output(
    x: ag.Tensor, shape: tuple[int, ...]
) -> None:
    with pytest.raises(
        ValueError, match=r"grad_outputs\[0\] has shape .* outputs\[0\] has shape"
    ) as e:
        ag.grad(x**2, x, np.ones(shape))
    assert str(shape) in str(e.value)
    assert "(3,)" in str(e.value)


def test_a_vector_is_no_grad_output_of_a_number(x: ag.Tensor) -> None:
    with pytest.raises(ValueError, match=r"grad_outputs\[0\] has shape \(1,\)"):
        ag.grad((x**2).sum(), x, np.ones(1))


@pytest.mark.parametrize("given", [[1.0], [1.0, 1.0, 1.0], [], np.ones(2)])
def test_the_number_of_grad_outputs_must_be_that_of_outputs(x: ag.Tensor, given: Any) -> None:
    with pytest.raises(ValueError, match=r"grad_outputs has \d entr.* 2 outputs"):
        ag.grad([(x**2).sum(), x.sum()], x, given)


@pytest.mark.parametrize("wrong", ["one", object(), [1.0, 2.0, 3.0]])
def test_grad_outputs_of_the_wrong_kind_are_named(x: ag.Tensor, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"grad_outputs\[0\] must be a Tensor"):
        ag.grad(x**2, x, [wrong])


def test_a_grad_outputs_that_is_no_sequence_is_named(x: ag.Tensor) -> None:
    with pytest.raises(TypeError, match="grad_outputs must be"):
        ag.grad(x**2, x, object())


def test_real_and_complex_do_not_mix_in_grad_outputs(x: ag.Tensor) -> None:
    z = leaf([1 + 0j, 2j, 3.0])
    for output, wrong in ((x**2, np.ones(3, complex)), (z * z, np.ones(3)), (x**2, 1j)):
        with pytest.raises(TypeError, match=r"grad_outputs\[0\].*complex"):
            ag.grad(output, [x if output.dtype == x.dtype else z], wrong)


def test_grad_outputs_of_another_library_are_refused(x: ag.Tensor) -> None:
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(
        MixedArraysError, match=r"grad_outputs\[0\] is an array of array_api_strict"
    ):
        ag.grad(x**2, x, strict.ones(3))


def test_gradients_flow_into_grad_outputs_under_create_graph(x: ag.Tensor) -> None:
    v = leaf([1.0, 1.0, 1.0])
    g = ag.grad(x**2, x, v, create_graph=True)
    assert ag.grad(g.sum(), v).tolist() == [2, 4, 6]
    assert not ag.grad(x**2, x, v).requires_grad


def test_grad_outputs_of_another_dtype_still_carry_gradients_under_no_grad() -> None:
    x = leaf([1.0, 2.0], dtype="float32")
    v = leaf([1.0, 1.0])
    y = x**2
    with ag.no_grad():
        g = ag.grad(y, x, v, create_graph=True)
    assert ag.grad(g.sum(), v).tolist() == [2, 4]


# --- what takes part -----------------------------------------------------------------------------


def test_an_output_that_needs_no_gradient_is_an_error(x: ag.Tensor) -> None:
    used = (x**2).sum()
    for output in (ag.tensor(1.0), used.detach(), (x > 0).sum(), ag.astype(x, "int64")):
        for allow_unused in (None, True):
            with pytest.raises(NoGradientError, match=r"outputs\[1\] does not require gradients"):
                ag.grad([used, output], x, [None, None], allow_unused=allow_unused)
    assert ag.grad(used, x).tolist() == [2, 4, 6]


def test_an_input_that_needs_no_gradient_is_an_error(x: ag.Tensor) -> None:
    loss = (x**2).sum()
    for wrong in (ag.tensor([1.0]), x.detach()):
        for keywords in ({}, {"allow_unused": True}, {"materialize_grads": True}):
            with pytest.raises(NoGradientError, match=r"inputs\[1\] does not require gradients"):
                ag.grad(loss, [x, wrong], **keywords)


def test_a_leaf_that_no_longer_requires_gradients_is_an_error(x: ag.Tensor) -> None:
    loss = (x**2).sum()
    x.requires_grad_(False)
    with pytest.raises(NoGradientError, match=r"inputs\[0\]"):
        ag.grad(loss, x)
    x.requires_grad_()
    assert ag.grad(loss, x).tolist() == [2, 4, 6]


def test_unused_inputs(x: ag.Tensor) -> None:
    loss, other = (x**2).sum(), leaf([[1.0, 2.0]], dtype="float32")
    for allow_unused in (None, False):
        with pytest.raises(UnusedInputError, match=r"inputs\[1\] was not used.*allow_unused=True"):
            ag.grad(loss, [x, other], allow_unused=allow_unused)
    with pytest.raises(UnusedInputError, match=r"inputs\['b'\] was not used"):
        ag.grad(loss, {"a": x, "b": other})
    g, none = ag.grad(loss, [x, other], allow_unused=True, retain_graph=True)
    assert g.tolist() == [2, 4, 6]
    assert none is None
    for allow_unused in (None, True):
        g, zeros = ag.grad(
            loss, [x, other], materialize_grads=True, allow_unused=allow_unused, retain_graph=True
        )
        assert g.tolist() == [2, 4, 6]
        assert zeros.tolist() == [[0, 0]]
        assert zeros.dtype == other.dtype
        assert not zeros.requires_grad


def test_none_in_place_of_unused_inputs_in_structures(x: ag.Tensor) -> None:
    result = ag.grad(x.sum(), {"a": [x, leaf(1.0)]}, allow_unused=True)
    assert result["a"][0].tolist() == [1, 1, 1]
    assert result["a"][1] is None


def test_materialize_grads_excludes_allow_unused_false(x: ag.Tensor) -> None:
    loss = x.sum()
    with pytest.raises(ValueError, match=r"materialize_grads=True.*allow_unused=False"):
        ag.grad(loss, x, materialize_grads=True, allow_unused=False)


def test_an_input_used_only_through_detach_is_unused(x: ag.Tensor) -> None:
    z = leaf(1.0)
    with pytest.raises(UnusedInputError):
        ag.grad((x.detach() * z).sum(), x)


def test_an_input_times_zero_is_used(x: ag.Tensor) -> None:
    assert ag.grad((x * 0).sum(), x).tolist() == [0, 0, 0]


def test_a_result_made_after_the_output_is_unused(x: ag.Tensor) -> None:
    loss = (x**2).sum()
    with pytest.raises(UnusedInputError):
        ag.grad(loss, x[0])


# --- inputs that are results of ops, and edges ---------------------------------------------------


def test_an_input_may_be_the_result_of_an_op(x: ag.Tensor) -> None:
    y = x * 2
    assert ag.grad((y**2).sum(), y).tolist() == [4, 8, 12]


def test_a_result_and_what_it_was_made_from_together(x: ag.Tensor) -> None:
    y = x * 2
    for inputs in ([y, x], [x, y]):
        gradients = ag.grad((y**2).sum(), inputs, retain_graph=True)
        by_id = {id(i): g.tolist() for i, g in zip(inputs, gradients, strict=True)}
        assert by_id == {id(y): [4, 8, 12], id(x): [8, 16, 24]}


def test_the_output_itself_among_the_inputs(x: ag.Tensor) -> None:
    y = (x * 2).sum()
    gy, gx = ag.grad(y, [y, x])
    assert gy.item() == 1
    assert gx.tolist() == [2, 2, 2]


def test_edges_as_inputs_and_outputs(x: ag.Tensor) -> None:
    y = x * 2
    loss = (y**2).sum()
    at_y, at_x, at_loss = map(get_gradient_edge, (y, x, loss))
    assert ag.grad(loss, at_y, retain_graph=True).tolist() == [4, 8, 12]
    gx, gy = ag.grad(at_loss, [at_x, at_y], retain_graph=True)
    assert gx.tolist() == [8, 16, 24]
    assert gy.tolist() == [4, 8, 12]
    assert ag.grad(at_y, x, np.ones(3), retain_graph=True).tolist() == [2, 2, 2]
    assert ag.grad(at_y, x, 3.0, retain_graph=True).tolist() == [6, 6, 6]
    with pytest.raises(RuntimeError, match=r"outputs\[0\] has shape \(3,\)"):
        ag.grad(at_y, x)


def test_an_edge_keeps_no_tensor_alive(x: ag.Tensor) -> None:
    loss = (x**2).sum()
    edge = get_gradient_edge(loss)
    del loss
    assert ag.grad(edge, x).tolist() == [2, 4, 6]


def test_edges_that_are_unused(x: ag.Tensor) -> None:
    edge = get_gradient_edge(leaf(1.0))
    loss = x.sum()
    with pytest.raises(UnusedInputError):
        ag.grad(loss, edge)
    assert ag.grad(loss, [edge], allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="materialize_grads=True needs tensors"):
        ag.grad(loss, [x, edge], materialize_grads=True)


def test_edges_that_lead_nowhere_are_refused(x: ag.Tensor) -> None:
    y = x * 2
    assert y.grad_fn is not None
    beyond = GradientEdge(y.grad_fn, 1)
    for call in (
        lambda: ag.grad(y.sum(), beyond),
        lambda: ag.grad(beyond, x, np.ones(3)),
        lambda: ag.grad(GradientEdge(ag.unstack(x)[0].grad_fn, 3), x),
    ):
        with pytest.raises(ValueError, match=r"puts\[0\].*output_nr"):
            call()
    with pytest.raises(TypeError, match=r"inputs\[0\].*node"):
        ag.grad(y.sum(), GradientEdge(None, 0))  # type: ignore[arg-type]


def test_edges_over_another_library() -> None:
    strict = pytest.importorskip("array_api_strict")
    x = leaf(strict.asarray([1.0, 2.0]))
    y = x * 2
    loss = (y * y).sum()
    for output, given in ((get_gradient_edge(loss), None), (get_gradient_edge(y), strict.ones(2))):
        g = ag.grad(output, x, given, retain_graph=True)
        assert type(g.array) is type(x.array)
    g = ag.grad(get_gradient_edge(y), x, 2.0)
    assert type(g.array) is type(x.array)
    assert g.tolist() == [4, 4]


# --- the graph's lifetime ------------------------------------------------------------------------


def test_a_graph_serves_once_unless_it_is_retained(x: ag.Tensor) -> None:
    y = (x**2).sum()
    assert ag.grad(y, x, retain_graph=True).tolist() == [2, 4, 6]
    assert ag.grad(y, x).tolist() == [2, 4, 6]
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        ag.grad(y, x)


def test_a_graph_that_saved_nothing_can_be_used_again(x: ag.Tensor) -> None:
    y = (x + 1).sum()
    for _ in range(3):
        assert ag.grad(y, x).tolist() == [1, 1, 1]


def test_create_graph_retains_by_default(x: ag.Tensor) -> None:
    y = (x**2).sum()
    ag.grad(y, x, create_graph=True)
    assert ag.grad(y, x).tolist() == [2, 4, 6]


def test_create_graph_without_retain_graph(x: ag.Tensor) -> None:
    y = (x**2).sum()
    g = ag.grad(y, x, create_graph=True, retain_graph=False)
    assert g.requires_grad
    with pytest.raises(GraphFreedError):
        ag.grad(y, x)
    assert ag.grad(g.sum(), x).tolist() == [2, 2, 2]


def test_only_what_was_used_is_freed(x: ag.Tensor) -> None:
    y = x**2
    loss = (y**2).sum()
    assert ag.grad(loss, y).tolist() == [2, 8, 18]
    assert ag.grad(y.sum(), x).tolist() == [2, 4, 6]


def test_a_shared_part_is_freed_for_both(x: ag.Tensor) -> None:
    y = x**2
    first, second = y.sum(), (3 * y).sum()
    ag.grad(first, x)
    with pytest.raises(GraphFreedError):
        ag.grad(second, x)


# --- gradients are the caller's own --------------------------------------------------------------


def test_gradients_share_memory_with_nothing(x: ag.Tensor) -> None:
    z, seed = leaf([4.0, 5.0, 6.0]), np.array([1.0, 2.0, 3.0])
    y = x + z
    kept = ag.exp(y)
    gradients = ag.grad([y, kept], [x, z, x, y], [seed, seed], retain_graph=True)
    for i, g in enumerate(gradients):
        assert g.array.flags.writeable
        for other in (x, z, y, kept, ag.asarray(seed), *gradients[:i]):
            assert not shares(g, other)
        before = [o.tolist() for j, o in enumerate(gradients) if j != i]
        g.array[...] = -1
        assert before == [o.tolist() for j, o in enumerate(gradients) if j != i]
    assert seed.tolist() == [1, 2, 3]
    again = ag.grad([y, kept], x, [seed, seed])
    np.testing.assert_allclose(again.numpy(), seed * (1 + np.exp([5.0, 7.0, 9.0])))


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_seed_handed_straight_through_is_copied(x: ag.Tensor, create_graph: bool) -> None:
    seed = ag.tensor([1.0, 2.0, 3.0])
    for output in (x, x + 1, x.reshape((3, 1)).reshape((3,))):
        g = ag.grad(output, x, seed, create_graph=create_graph)
        assert g is not seed
        assert not shares(g, seed)


def test_a_broadcast_gradient_is_writeable(x: ag.Tensor) -> None:
    g = ag.grad(x.sum(), x)
    g.array[0] = 5.0
    assert g.tolist() == [5, 1, 1]


def test_what_a_hook_kept_is_not_handed_out(x: ag.Tensor) -> None:
    seen: list[ag.Tensor] = []
    x.register_hook(seen.append)
    g = ag.grad((x**2).sum(), x)
    g.array[...] = 0
    assert seen[0].tolist() == [2, 4, 6]


def test_a_repeated_input_gets_a_gradient_each(x: ag.Tensor) -> None:
    a, b = ag.grad((x**2).sum(), [x, x])
    assert a.tolist() == b.tolist() == [2, 4, 6]
    assert a is not b
    assert not shares(a, b)


def test_grad_writes_nobodys_grad(x: ag.Tensor) -> None:
    y = x * 2
    y.retain_grad()
    mine = ag.tensor([7.0, 7.0, 7.0])
    x.grad = mine
    ag.grad((y**2).sum(), [x, y])
    assert x.grad is mine
    assert mine.tolist() == [7, 7, 7]
    assert y.grad is None


def test_a_hooked_input_gives_what_the_hook_made_whatever_else_is_asked(x: ag.Tensor) -> None:
    y = x * 2
    y.register_hook(lambda g: 10 * g)
    z = y.sum()
    assert ag.grad(z, y, retain_graph=True).tolist() == [10, 10, 10]
    gy, gx = ag.grad(z, [y, x], retain_graph=True)
    assert gy.tolist() == [10, 10, 10]
    assert gx.tolist() == [20, 20, 20]
    gx, gy = ag.grad(z, [x, y])
    assert gy.tolist() == [10, 10, 10]
    assert gx.tolist() == [20, 20, 20]


# --- create_graph --------------------------------------------------------------------------------


def test_every_order_of_derivative(x: ag.Tensor) -> None:
    y: Any = (x**5).sum()
    expected = [[5, 80, 405], [20, 160, 540], [60, 240, 540], [120, 240, 360], [120, 120, 120]]
    for values in expected:
        y = ag.grad(y.sum(), x, create_graph=True)
        assert y.tolist() == values
        assert y.requires_grad
    assert ag.grad(y.sum(), x, materialize_grads=True).tolist() == [0, 0, 0]


def test_a_constant_gradient_can_be_differentiated_by_the_usual_rules(x: ag.Tensor) -> None:
    for output in (x.sum(), (2 * x).sum()):
        g = ag.grad(output, x, create_graph=True)
        assert g.requires_grad
        with pytest.raises(UnusedInputError, match=r"inputs\[0\]"):
            ag.grad(g.sum(), x)
        assert ag.grad(g.sum(), x, allow_unused=True) is None
        assert ag.grad(g.sum(), x, materialize_grads=True).tolist() == [0, 0, 0]
        assert ag.grad(g.sum(), g).tolist() == [1, 1, 1]


def test_the_zeros_of_an_unused_input_can_be_differentiated_too(x: ag.Tensor) -> None:
    z = leaf(1.0)
    _, zeros = ag.grad((x**2).sum(), [x, z], materialize_grads=True, create_graph=True)
    assert zeros.requires_grad
    assert ag.grad(zeros, z, materialize_grads=True).item() == 0


def test_the_first_power_has_a_second_derivative(x: ag.Tensor) -> None:
    g = ag.grad((x**1).sum(), x, create_graph=True)
    assert ag.grad(g.sum(), x, materialize_grads=True).tolist() == [0, 0, 0]


def test_a_repeated_input_under_create_graph(x: ag.Tensor) -> None:
    a, b = ag.grad((x**3).sum(), [x, x], create_graph=True)
    assert ag.grad(a.sum(), x, retain_graph=True).tolist() == [6, 12, 18]
    assert ag.grad((a + b).sum(), x).tolist() == [12, 24, 36]


def test_mixed_second_derivatives() -> None:
    x, y = leaf(2.0), leaf(3.0)
    gx, gy = ag.grad(x**2 * y**3, [x, y], create_graph=True)
    assert ag.grad(gx, [x, y], retain_graph=True)[1].item() == 6 * 2 * 9
    assert ag.grad(gy, [x, y])[0].item() == 6 * 2 * 9


# --- dtypes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_gradients_have_the_dtype_of_the_input(dtype: str) -> None:
    x = leaf([1.0, 2.0], dtype=dtype)
    g = ag.grad(ag.abs(x * x).sum(), x)
    assert g.dtype == np.dtype(dtype)
    np.testing.assert_allclose(g.numpy(), [2, 4], rtol=1e-3)


def test_gradients_are_cast_back_through_promotion() -> None:
    a, b = leaf([1.0, 2.0], dtype="float32"), leaf([3.0, 4.0])
    ga, gb = ag.grad((a * b).sum(), [a, b])
    assert (ga.dtype, gb.dtype) == (np.float32, np.float64)
    assert ga.tolist() == [3, 4]
    assert gb.tolist() == [1, 2]


def test_real_inputs_of_complex_outputs_have_real_gradients() -> None:
    x, z = leaf([3.0]), leaf([1 + 2j])
    y = x * z
    gx, gz = ag.grad(y.real.sum(), [x, z])
    assert gx.tolist() == [1]
    assert gz.tolist() == [3]


# --- threads and recursion -----------------------------------------------------------------------


def test_grad_inside_a_hook(x: ag.Tensor) -> None:
    inner = leaf(3.0)

    def hook(g: ag.Tensor) -> ag.Tensor:
        with ag.enable_grad():
            y = inner**2
        return g * ag.grad(y, inner)

    x.register_hook(hook)
    assert ag.grad((x**2).sum(), x).tolist() == [12, 24, 36]
