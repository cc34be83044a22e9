"""The contract of `grad`, question by question, in each of the four systems.

Native arraygrad answers the same questions in the tests of `autograd`.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.compat import lucid, rtorch, sorix, torch
from arraygrad.errors import GraphFreedError, NoGradientError, UnusedInputError

SYSTEMS = {
    "lucid": SimpleNamespace(grad=lucid.autograd.grad, tensor=lucid.tensor),
    "sorix": SimpleNamespace(grad=sorix.grad, tensor=sorix.tensor),
    "torch": SimpleNamespace(grad=torch.autograd.grad, tensor=torch.tensor),
    "rtorch": SimpleNamespace(grad=rtorch.autograd_grad, tensor=rtorch.torch_tensor),
}


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> Any:
    return SimpleNamespace(name=request.param, **vars(SYSTEMS[request.param]))


@pytest.fixture
def unused() -> ag.Tensor:
    return ag.tensor([4.0, 5.0], requires_grad=True)


@pytest.fixture
def constant() -> ag.Tensor:
    return ag.tensor([7.0, 8.0, 9.0])


def values(gradient: Any) -> Any:
    """Gradients as nested lists, with tuples and None as they are."""
    if isinstance(gradient, tuple | list):
        return type(gradient)(values(g) for g in gradient)
    if isinstance(gradient, dict):
        return {key: values(g) for key, g in gradient.items()}
    return None if gradient is None else gradient.tolist()


def wrapped(name: str, gradient: Any) -> Any:
    """One gradient in the form the system gives it in."""
    return {"lucid": lambda g: g, "rtorch": lambda g: [g]}.get(name, lambda g: (g,))(gradient)


# --- the form of the result ---


def test_one_bare_input(system: Any, x: ag.Tensor) -> None:
    assert values(system.grad((x * x).sum(), x)) == wrapped(system.name, [2.0, 4.0, 6.0])


@pytest.mark.parametrize("make", [list, tuple, iter])
def test_sequence_of_one(system: Any, x: ag.Tensor, make: Callable[..., Any]) -> None:
    found = system.grad(make([(x * x).sum()]), make([x]))
    assert values(found) == wrapped(system.name, [2.0, 4.0, 6.0])


@pytest.mark.parametrize("make", [list, tuple, iter])
def test_sequence_of_two(system: Any, x: ag.Tensor, make: Callable[..., Any]) -> None:
    z = ag.tensor(2.0, requires_grad=True)
    found = system.grad((x * z).sum(), make([x, z]))
    assert type(found) is (list if system.name == "rtorch" else tuple)
    assert values(found) == type(found)(([2.0, 2.0, 2.0], 6.0))


def test_outputs_are_summed_over(system: Any, x: ag.Tensor) -> None:
    found = system.grad([(x * x).sum(), x.sum()], x)
    assert values(found) == wrapped(system.name, [3.0, 5.0, 7.0])


def test_dict_of_inputs(system: Any, x: ag.Tensor) -> None:
    y = (x * x).sum()
    if system.name == "torch":
        assert values(system.grad(y, {"x": x})) == {"x": [2.0, 4.0, 6.0]}
    else:
        with pytest.raises(TypeError, match="inputs"):
            system.grad(y, {"x": x})


def test_torch_takes_no_other_mapping(x: ag.Tensor) -> None:
    with pytest.raises(TypeError, match="OrderedDict"):
        torch.autograd.grad((x * x).sum(), OrderedDict(x=x))


def test_kind_of_gradient(system: Any, x: ag.Tensor) -> None:
    found = system.grad((x * x).sum(), [x, x])[0]
    kinds = {"lucid": np.ndarray, "torch": torch.Tensor}
    assert type(found) is kinds.get(system.name, ag.Tensor)


def test_scalar_gradient_of_lucid_is_an_array() -> None:
    x = lucid.tensor(3.0, requires_grad=True)
    gradient = lucid.autograd.grad(x * x, x)
    assert type(gradient) is np.ndarray
    assert gradient.shape == ()
    assert gradient == 6


def test_nothing_is_written(system: Any, x: ag.Tensor) -> None:
    x.grad = before = ag.tensor([1.0, 1.0, 1.0])
    system.grad((x * x).sum(), x)
    assert x.grad is before
    assert before.tolist() == [1.0, 1.0, 1.0]


# --- where the sweep starts ---


def test_non_scalar_output(system: Any, x: ag.Tensor) -> None:
    if system.name == "lucid":
        assert values(system.grad(x * x, x)) == [2.0, 4.0, 6.0]
    else:
        with pytest.raises(RuntimeError, match=r"outputs\[0\].*grad_outputs"):
            system.grad(x * x, x)


def test_output_with_one_element(system: Any) -> None:
    x = ag.tensor([[3.0]], requires_grad=True)
    assert values(system.grad(x * x, x)) == wrapped(system.name, [[6.0]])


def test_grad_outputs_tensor(system: Any, x: ag.Tensor) -> None:
    g = ag.tensor([1.0, 0.0, 10.0])
    expected = wrapped(system.name, [2.0, 0.0, 60.0])
    assert values(system.grad(x * x, x, g)) == expected
    assert values(system.grad([x * x], [x], [g])) == expected


def test_grad_outputs_array(system: Any, x: ag.Tensor) -> None:
    g = np.array([1.0, 0.0, 10.0])
    if system.name in ("lucid", "sorix"):
        expected = wrapped(system.name, [2.0, 0.0, 60.0])
        assert values(system.grad(x * x, x, g)) == expected
        assert values(system.grad([x * x], x, [g])) == expected
    else:
        for given in (g, [g]):
            with pytest.raises(TypeError, match="grad_outputs"):
                system.grad(x * x, x, given)


def test_grad_outputs_number(system: Any, x: ag.Tensor) -> None:
    if system.name == "lucid":
        assert values(system.grad(x * x, x, 10)) == [20.0, 40.0, 60.0]
        assert values(system.grad([x * x, x.sum()], x, (10, 1.0))) == [21.0, 41.0, 61.0]
    else:
        with pytest.raises(TypeError, match="grad_outputs"):
            system.grad(x * x, x, 10.0)


def test_grad_outputs_none_for_a_scalar(system: Any, x: ag.Tensor) -> None:
    g = ag.tensor([1.0, 1.0, 1.0])
    found = system.grad([(x * x).sum(), 2 * x], x, [None, g])
    assert values(found) == wrapped(system.name, [4.0, 6.0, 8.0])


@pytest.mark.parametrize("shape", [(2,), (3, 1, 2)])
def test_shape_that_cannot_fit(system: Any, x: ag.Tensor, shape: tuple[int, ...]) -> None:
    expected = RuntimeError if system.name == "torch" else ValueError
    with pytest.raises(expected):
        system.grad(x * x, x, ag.ones(shape))


def test_shape_that_broadcasts(system: Any, x: ag.Tensor) -> None:
    small, large = ag.tensor([10.0]), ag.ones((2, 3))
    if system.name in ("sorix", "rtorch"):
        assert values(system.grad(x * x, x, small)) == wrapped(system.name, [20.0, 40.0, 60.0])
        y = x * x
        assert values(system.grad(y, x, large)) == wrapped(system.name, [4.0, 8.0, 12.0])
    else:
        for g in (small, large):
            expected = RuntimeError if system.name == "torch" else ValueError
            with pytest.raises(expected, match=r"grad_outputs?\[0\] has (a )?shape"):
                system.grad(x * x, x, g)


def test_shape_that_broadcasts_under_no_grad(x: ag.Tensor) -> None:
    y = x * x
    with ag.no_grad():
        assert values(sorix.grad(y, x, np.array([10.0]))) == ([20.0, 40.0, 60.0],)


def test_too_many_grad_outputs(system: Any, x: ag.Tensor) -> None:
    given = [ag.tensor([1.0, 1.0, 1.0]), ag.tensor(1.0)]
    if system.name in ("torch", "rtorch"):
        assert values(system.grad(x * x, x, given)) == wrapped(system.name, [2.0, 4.0, 6.0])
    else:
        with pytest.raises(ValueError, match="grad_outputs has 2 entries for 1 outputs"):
            system.grad(x * x, x, given)


def test_too_few_grad_outputs(system: Any, x: ag.Tensor) -> None:
    outputs, given = [x.sum(), (x * x).sum()], [ag.tensor(10.0)]
    if system.name == "rtorch":
        assert values(system.grad(outputs, x, given)) == [[12.0, 14.0, 16.0]]
    else:
        expected = RuntimeError if system.name == "torch" else ValueError
        with pytest.raises(expected, match="grad_outputs has 1 entries for 2 outputs"):
            system.grad(outputs, x, given)


# --- the graph afterwards ---


def test_retain_graph_default(system: Any, x: ag.Tensor) -> None:
    y = (x * x).sum()
    system.grad(y, x)
    if system.name == "sorix":
        assert values(system.grad(y, x)) == ([2.0, 4.0, 6.0],)
    else:
        with pytest.raises(GraphFreedError, match="retain_graph=True"):
            system.grad(y, x)


def test_retain_graph_true(system: Any, x: ag.Tensor) -> None:
    y = (x * x).sum()
    system.grad(y, x, retain_graph=True)
    assert values(system.grad(y, x)) == wrapped(system.name, [2.0, 4.0, 6.0])


def test_retain_graph_false(system: Any, x: ag.Tensor) -> None:
    y = (x * x).sum()
    system.grad(y, x, retain_graph=False)
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        system.grad(y, x)


@pytest.mark.parametrize("name", ["sorix", "torch", "rtorch"])
def test_create_graph(name: str, x: ag.Tensor) -> None:
    grad = SYSTEMS[name].grad
    y = (x**3).sum()
    (g,) = grad(y, x, create_graph=True)
    assert values(grad(g.sum(), x)) == wrapped(name, [6.0, 12.0, 18.0])
    assert values(grad(y, x)) == wrapped(name, [3.0, 12.0, 27.0])


# --- inputs and outputs outside the graph ---


def test_unused_input(system: Any, x: ag.Tensor, unused: ag.Tensor) -> None:
    y = (x * x).sum()
    with pytest.raises(UnusedInputError, match=r"inputs\[1\].*allow_unused=True"):
        system.grad(y, [x, unused])
    found = system.grad(y, [x, unused], allow_unused=True)  # the failed call freed nothing
    assert values(found) == type(found)(([2.0, 4.0, 6.0], None))


def test_input_that_needs_no_gradient(system: Any, x: ag.Tensor, constant: ag.Tensor) -> None:
    y = (x * constant).sum()
    with pytest.raises(RuntimeError, match=r"inputs\[1\] does not require gradients"):
        system.grad(y, [x, constant])
    if system.name == "lucid":
        assert values(system.grad(y, [x, constant], allow_unused=True)) == ([7.0, 8.0, 9.0], None)
        assert system.grad(y, constant, allow_unused=True) is None
    else:
        with pytest.raises(NoGradientError, match=r"inputs\[1\]"):
            system.grad(y, [x, constant], allow_unused=True)


def test_output_that_needs_no_gradient(system: Any, x: ag.Tensor, constant: ag.Tensor) -> None:
    fixed = constant.sum()
    if system.name == "sorix":
        with pytest.raises(UnusedInputError, match=r"inputs\[0\]"):
            system.grad(fixed, x)
        assert system.grad(fixed, x, allow_unused=True) == (None,)
        assert values(system.grad([fixed, x.sum()], x)) == ([1.0, 1.0, 1.0],)
        return
    with pytest.raises(NoGradientError, match=r"outputs\[1\] does not require gradients"):
        system.grad([x.sum(), fixed], x)
    if system.name == "lucid":
        assert values(system.grad([x.sum(), fixed], x, allow_unused=True)) == [1.0, 1.0, 1.0]
        assert system.grad(fixed, x, allow_unused=True) is None
    else:
        with pytest.raises(NoGradientError, match=r"outputs\[1\]"):
            system.grad([x.sum(), fixed], x, allow_unused=True)


def test_things_that_are_no_tensors(system: Any, x: ag.Tensor) -> None:
    y = x.sum()
    with pytest.raises(TypeError, match="outputs must be"):
        system.grad(1.0, x)
    with pytest.raises(TypeError, match="inputs"):
        system.grad(y, 1.0)
    with pytest.raises(
        AssertionError if system.name == "torch" else TypeError, match=r"outputs\[0\]"
    ):
        system.grad([1.0], x)
    for bad in (1.0, None):
        with pytest.raises(
            RuntimeError if system.name == "torch" else TypeError, match=r"inputs\[0\]"
        ):
            system.grad(y, [bad])


def test_no_inputs(system: Any, x: ag.Tensor) -> None:
    with pytest.raises(
        RuntimeError if system.name == "torch" else ValueError, match=r"inputs.*empty"
    ):
        system.grad(x.sum(), [])


def test_no_outputs(system: Any, x: ag.Tensor) -> None:
    with pytest.raises(UnusedInputError):
        system.grad([], x)
    assert system.grad([], x, allow_unused=True) == wrapped(system.name, None)


def test_gradient_edges_are_torchs(system: Any, x: ag.Tensor) -> None:
    y = x * x
    z, edge = (3 * y).sum(), ag.autograd.graph.get_gradient_edge(y)
    if system.name == "torch":
        assert values(system.grad(z, edge)) == ([3.0, 3.0, 3.0],)
        assert values(system.grad(edge, x, ag.ones(3))) == ([2.0, 4.0, 6.0],)
        with pytest.raises(RuntimeError, match="shape"):
            system.grad(edge, x, ag.ones(2))
    else:
        with pytest.raises(TypeError, match="inputs"):
            system.grad(z, edge)
        with pytest.raises(TypeError, match="outputs"):
            system.grad(edge, x)


# --- torch's further parameters ---


def test_torch_materialize_grads(x: ag.Tensor, unused: ag.Tensor) -> None:
    y = (x * x).sum()
    with pytest.raises(ValueError, match="allow_unused"):
        torch.autograd.grad(y, [x, unused], materialize_grads=True, allow_unused=False)
    found = torch.autograd.grad(y, [x, unused], materialize_grads=True)
    assert values(found) == ([2.0, 4.0, 6.0], [0.0, 0.0])


def test_torch_only_inputs_is_ignored_with_a_warning(x: ag.Tensor) -> None:
    y = (x * x).sum()
    with pytest.warns(FutureWarning, match="only_inputs"):
        found = torch.autograd.grad(y, x, only_inputs=False)
    assert values(found) == ([2.0, 4.0, 6.0],)
    assert x.grad is None


def test_torch_parameters_by_position(x: ag.Tensor, unused: ag.Tensor) -> None:
    y = x * x
    g = ag.eye(3)
    found = torch.autograd.grad(y, [x, unused], g, True, False, True, True, True, False)
    assert values(found) == ([[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]], None)


def test_torch_batched_cotangents(x: ag.Tensor) -> None:
    y = x * x
    assert values(torch.autograd.grad(y, {"x": x}, ag.eye(3)[:2], is_grads_batched=True)) == {
        "x": [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0]]
    }


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (lambda: ag.ones((4, 2)), RuntimeError),
        (lambda: None, RuntimeError),
        (lambda: [None], RuntimeError),
        (lambda: ag.tensor(1.0), IndexError),
    ],
)
def test_torch_bad_batches(x: ag.Tensor, given: Callable[[], Any], error: type) -> None:
    with pytest.raises(error, match=r"grad_outputs|is_grads_batched"):
        torch.autograd.grad(x * x, x, given(), is_grads_batched=True)


def test_torch_batch_missing_for_a_scalar(x: ag.Tensor) -> None:
    with pytest.raises(ValueError, match="grad_outputs"):
        torch.autograd.grad(x.sum(), x, is_grads_batched=True)


def test_torch_batches_of_different_sizes(x: ag.Tensor) -> None:
    with pytest.raises(ValueError, match="batch"):
        torch.autograd.grad(
            [x * x, x + 1], x, [ag.ones((2, 3)), ag.ones((4, 3))], is_grads_batched=True
        )


def test_torch_complex_and_real_do_not_mix(x: ag.Tensor) -> None:
    with pytest.raises(RuntimeError, match="complex"):
        torch.autograd.grad(x * x, x, ag.tensor([1j, 1j, 1j]))
    z = ag.tensor([1.0 + 2.0j], requires_grad=True)
    with pytest.raises(RuntimeError, match="complex"):
        torch.autograd.grad(z * z, z, ag.ones(1))
    with pytest.raises(RuntimeError, match="complex"):
        torch.autograd.grad(z * z, z)


def test_torch_wrong_shape_for_the_first_of_two(x: ag.Tensor) -> None:
    with pytest.raises(RuntimeError, match="shape"):
        torch.autograd.grad([x.sum(), (x * x).sum()], x, ag.ones(2))


# --- the other names ---


@pytest.mark.parametrize("name", ["torch", "rtorch"])
def test_single_precision(name: str) -> None:
    tensor = SYSTEMS[name].tensor
    assert tensor([1.0, 2.0]).dtype == np.float32
    assert tensor([1.0 + 1j]).dtype == np.complex64
    assert tensor([1, 2]).dtype == np.int64
    assert tensor([True]).dtype == np.bool_
    assert tensor(np.array([1.0])).dtype == np.float64
    assert tensor([np.float64(1.0)]).dtype == np.float64
    assert tensor([1.0], dtype=np.float64).dtype == np.float64
    with pytest.raises(RuntimeError, match="requires_grad"):
        tensor([1, 2], requires_grad=True)


def test_r_has_no_scalars() -> None:
    assert rtorch.torch_tensor(0.5).shape == (1,)
    assert rtorch.torch_tensor(np.float64(0.5)).shape == (1,)
    assert rtorch.torch_tensor([[0.5, 1.0]]).shape == (1, 2)


def test_runif_draws_from_its_interval() -> None:
    drawn = np.array(rtorch.runif(1000, 2.0, 4.0))
    assert drawn.shape == (1000,)
    assert 2.0 <= drawn.min() < 2.1
    assert 3.9 < drawn.max() < 4.0
    assert len(set(drawn)) > 990


def test_sorix_modes() -> None:
    x = sorix.tensor([1.0], requires_grad=True)
    with sorix.set_grad_enabled(False):
        assert not sorix.is_grad_enabled()
        assert not (x * x).requires_grad
    assert sorix.is_grad_enabled()


def test_torch_backward(x: ag.Tensor, unused: ag.Tensor) -> None:
    torch.autograd.backward(x * x, ag.ones(3))
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0, 6.0]
    y = (x * unused.sum()).sum()
    torch.autograd.backward([y], inputs=[unused])
    assert x.grad.tolist() == [2.0, 4.0, 6.0]
    assert unused.grad is not None
    assert unused.grad.tolist() == [6.0, 6.0]
    y = (x * x).sum()
    torch.autograd.backward(y, inputs=[torch.autograd.graph.get_gradient_edge(x)])
    assert x.grad.tolist() == [4.0, 8.0, 12.0]
    with pytest.raises(RuntimeError, match=r"inputs.*backward.*cannot be empty"):
        torch.autograd.backward(x.sum(), inputs=[])
    with pytest.raises(RuntimeError, match=r"grad_output\[0\] has a shape"):
        torch.autograd.backward(x * x, ag.ones(2))


def test_torch_modes(x: ag.Tensor) -> None:
    with torch.no_grad():
        assert not (x * x).requires_grad
        with torch.enable_grad():
            assert (x * x).requires_grad
    with torch.inference_mode():
        assert not (x * x).requires_grad


def test_no_warning_in_ordinary_use(system: Any, x: ag.Tensor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.grad((x * x).sum(), x)


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("from arraygrad.compat.torch.autograd import grad", "grad is torch.autograd.grad"),
        ("import arraygrad.compat.torch.autograd as autograd", "autograd is torch.autograd"),
        (
            "from arraygrad.compat.torch.autograd.graph import get_gradient_edge as edge",
            "edge is torch.autograd.graph.get_gradient_edge",
        ),
        ("from arraygrad.compat.lucid.autograd import grad", "grad is lucid.autograd.grad"),
    ],
)
def test_parts_are_imported_as_in_their_system(statement: str, value: str) -> None:
    names: dict[str, Any] = {"torch": torch, "lucid": lucid}
    exec(statement, names)
    assert eval(value, names)
