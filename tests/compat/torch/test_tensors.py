"""Tensors of `compat.torch`: identity, writing, conversions, copies, printing, what is refused."""

from __future__ import annotations

import copy
import io
import pickle
import sys
from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch


def close(found: Any, expected: Any) -> None:
    values = found.numpy(force=True) if isinstance(found, torch.Tensor) else found
    np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-6)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)


def test_the_same_tensor_is_the_same_object(x: torch.Tensor) -> None:
    (x * x).sum().backward()
    assert x.grad is x.grad
    y = x * 2
    assert y.grad_fn is y.grad_fn
    assert y.grad_fn.next_functions[0][0].variable is x
    assert y[0]._base is y
    assert y.view(-1)[1]._base is y


class Scaled:
    """A number times the identity: no tensor, but functions take it."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> torch.Tensor:
        assert types == (cls,)
        dense = [a.factor * torch.eye(2) if isinstance(a, Scaled) else a for a in args]
        return func(*dense, **(kwargs or {}))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, t: torch.add(x, t),
        lambda x, t: t + x,
        lambda x, t: t * x,
        lambda x, t: torch.sub(t, x),
        lambda x, t: t.matmul(x),
        lambda x, t: torch.exp(x) @ t,
        lambda x, t: torch.sum(x, dim=0) * t,
        lambda x, t: torch.linalg.cholesky(x) + t,
    ],
)
def test_an_argument_of_another_class_computes_by_its_torch_function(call: Any) -> None:
    t = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    found, expected = call(Scaled(3.0), t), call(3.0 * torch.eye(2), t)
    assert torch.equal(found, expected)
    assert torch.equal(*(torch.autograd.grad(y.sum(), t)[0] for y in (found, expected)))


def test_operators_are_methods_for_a_torch_function() -> None:
    class Names:
        @classmethod
        def __torch_function__(cls, func: Any, *rest: Any) -> Any:
            return func

    t = torch.ones(2)
    assert (t + Names()) is torch.Tensor.add
    assert (t / Names()) is torch.Tensor.div
    assert torch.linalg.svd(Names()) is torch.linalg.svd


def test_older_programs_give_the_factor_first() -> None:
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
    assert torch.equal(torch.add(x, 2, y), x + 2 * y)
    assert torch.equal(x.clone().add_(2, y), x + 2 * y)
    assert torch.equal(x.clone().sub_(0.5, y), x - 0.5 * y)
    assert torch.equal(torch.addcmul(x, 0.5, y, y), x + 0.5 * y * y)
    assert torch.equal(x.clone().addcdiv_(-0.5, y, x), x - 0.5 * y / x)


def test_methods_in_place_come_from_those_out_of_place(x: torch.Tensor) -> None:
    for name, args in {
        "add_": (2.0,),
        "mul_": (3.0,),
        "clamp_": (2.0, 5.0),
        "sigmoid_": (),
        "relu_": (),
        "addcmul_": (torch.ones(2, 3), torch.ones(2, 3)),
        "masked_fill_": (torch.tensor([True, False, True]), 9.0),
        "index_add_": (1, torch.tensor([0, 0]), torch.ones(2, 2)),
        "scatter_": (1, torch.tensor([[0], [1]]), 7.0),
        "cumsum_": (1,),
        "tril_": (),
        "lerp_": (torch.zeros(2, 3), 0.5),
    }.items():
        apart, inside = x.clone(), x.clone()
        expected = getattr(apart, name[:-1])(*args)
        version = inside._version
        assert getattr(inside, name)(*args) is inside
        assert inside._version > version
        close(inside, expected.detach().numpy())
        weights = torch.arange(6.0).reshape(2, 3)
        by_write = torch.autograd.grad((inside * weights).sum(), x)[0]
        close(by_write, torch.autograd.grad((expected * weights).sum(), x)[0].numpy())


def test_alpha_and_rounding_in_place() -> None:
    t = torch.tensor([1.0, 7.0])
    close(t.add_(torch.ones(2), alpha=2).sub_(1, alpha=3), [0.0, 6.0])
    close(t.div_(4, rounding_mode="floor"), [0.0, 1.0])


def test_other_shapes_in_place() -> None:
    t = torch.arange(6.0).reshape(2, 3)
    assert t.t_().shape == (3, 2)
    assert t.unsqueeze_(0).shape == (1, 3, 2)
    assert t.squeeze_().transpose_(0, 1).shape == (2, 3)
    close(t, [[0, 1, 2], [3, 4, 5]])
    with pytest.raises(RuntimeError, match="leaf"):
        torch.ones(2, 2, requires_grad=True).t_()
    assert torch.zeros(2).resize_(3).shape == (3,)


def test_data_is_outside_of_the_graph(x: torch.Tensor) -> None:
    y = (x * x).sum()
    x.data.mul_(2)  # not noticed, as in PyTorch
    close(torch.autograd.grad(y, x)[0], 4 * np.arange(1, 7).reshape(2, 3))
    x.data = torch.zeros(4)
    assert x.shape == (4,)
    assert x.requires_grad
    assert x.is_leaf
    close(torch.autograd.grad((3 * x).sum(), x)[0], 3 * np.ones(4))


def test_data_written_in_a_loop_keeps_the_leaf() -> None:
    w = torch.ones(2, requires_grad=True)
    calls: list[int] = []
    w.register_hook(lambda g: calls.append(1))
    for _ in range(3):
        (w * w).sum().backward()
        w.data -= 0.25 * w.grad
        w.data = w.data - 0.25 * w.grad
        w.grad.zero_()
    close(w, [0.0, 0.0])
    assert len(calls) == 3
    other = torch.full((2,), 7.0)
    w.data = other
    other.add_(1)  # the memory is shared, as in PyTorch
    close(w, [8.0, 8.0])
    with pytest.raises(RuntimeError, match="int64"):
        w.data = torch.tensor([1, 2])


def test_a_gradient_can_be_deleted(x: torch.Tensor) -> None:
    x.sum().backward()
    del x.grad
    assert x.grad is None
    x.grad = torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="shape"):
        x.grad = torch.ones(2)
    with pytest.raises(TypeError, match="float"):
        x.grad = 1.0


def test_results_can_be_written_to_another_tensor() -> None:
    out = torch.zeros(2)
    assert torch.add(torch.ones(2), torch.ones(2), out=out) is out
    close(out, [2.0, 2.0])
    values, indices = torch.zeros(1), torch.zeros(1, dtype=torch.int64)
    torch.max(torch.tensor([[1.0, 5.0]]), 1, out=(values, indices))
    assert (values.item(), indices.item()) == (5.0, 1)
    with pytest.raises(RuntimeError, match="out="):
        torch.sin(torch.ones(2, requires_grad=True), out=out)


def test_a_tangent_is_written_into_a_tensor_from_outside() -> None:
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        t = torch.zeros(3)
        t[1:] = dual
        close(fw.unpack_dual(t).tangent, [0.0, 3.0, 4.0])
        whole = torch.ones(2, 2)
        part = whole[0]
        part.mul_(dual)  # a view: its base follows
        close(fw.unpack_dual(whole * 2).tangent, [[6.0, 8.0], [0.0, 0.0]])
    leaf = torch.ones(2, requires_grad=True)
    with fw.dual_level():
        dual = fw.make_dual(leaf, torch.ones(2))
        tangent = fw.unpack_dual(dual**3).tangent
    close(torch.autograd.grad(tangent.sum(), leaf)[0], [6.0, 6.0])


def test_conversions() -> None:
    t = torch.tensor([1.5, 2.5])
    assert t.double().dtype is torch.double
    assert t.double().dtype.is_floating_point
    assert t.to(torch.complex64).is_complex()
    assert t.long().tolist() == [1, 2]
    assert t.type() == "torch.FloatTensor"
    assert t.type(torch.DoubleTensor).dtype == torch.float64
    assert t.double().type(torch.Tensor).dtype == torch.float32
    assert isinstance(t, torch.FloatTensor)
    assert not isinstance(t, torch.LongTensor)
    assert t.to("cpu") is t
    assert t.cpu() is t
    assert str(t.device) == "cpu"
    assert np.dtype(torch.float32) == np.float32
    assert torch.float32 == np.float32
    assert torch.finfo(torch.float32).eps == np.finfo(np.float32).eps
    assert t.shape.numel() == 2
    assert t.size(0) == 2
    assert t.numel() == t.nelement() == 2
    assert torch.from_numpy(np.ones(2)).dtype == torch.float64
    memory = np.zeros(2)
    torch.from_numpy(memory).add_(1)
    assert memory.tolist() == [1.0, 1.0]


def test_numpy_arrays_as_operands() -> None:
    t = torch.tensor([1.0, 2.0])
    for found in (np.array([3.0, 4.0]) * t, t * np.array([3.0, 4.0])):
        assert isinstance(found, torch.Tensor)
        assert found.dtype == torch.float64
        close(found, [3.0, 8.0])
    assert (t * np.float64(2)).dtype == torch.float32


def test_copies(x: torch.Tensor) -> None:
    x.grad = torch.ones(2, 3)
    deep = copy.deepcopy(x)
    assert deep is not x
    assert deep.requires_grad
    assert deep.grad is not x.grad
    result = pickle.loads(pickle.dumps(x * 2))
    assert result.is_leaf
    assert result.requires_grad
    again = pickle.loads(pickle.dumps(x))
    assert again.requires_grad
    close(again, x.detach().numpy())
    with pytest.raises(RuntimeError, match="detach"):
        copy.deepcopy(x * 2)
    file = io.BytesIO()
    torch.save({"x": x}, file)
    file.seek(0)
    close(torch.load(file)["x"], x.detach().numpy())


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.tensor([1.0, 2.5]), "tensor([1.0000, 2.5000])"),
        (lambda: torch.tensor([1.0, 2.0]), "tensor([1., 2.])"),
        (lambda: torch.tensor([1, 2]), "tensor([1, 2])"),
        (lambda: torch.tensor([True]), "tensor([True])"),
        (lambda: torch.tensor([True, False]), "tensor([ True, False])"),
        (lambda: torch.tensor([1 + 2j]), "tensor([1.+2.j])"),
        (lambda: torch.tensor([1e4, 1.0]), "tensor([1.0000e+04, 1.0000e+00])"),
        (lambda: torch.tensor([np.nan, 1.0]), "tensor([nan, 1.])"),
        (
            lambda: torch.tensor([0.5, 6e4], dtype=torch.float16),
            "tensor([5.0000e-01, 6.0000e+04], dtype=torch.float16)",
        ),
        (lambda: torch.arange(2000), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
        (lambda: torch.ones(1, dtype=torch.float64), "tensor([1.], dtype=torch.float64)"),
        (lambda: torch.ones(1, requires_grad=True), "tensor([1.], requires_grad=True)"),
        (lambda: torch.ones(1, requires_grad=True) * 2, "tensor([2.], grad_fn=<MulBackward0>)"),
        (
            lambda: torch.ones(1).max(0),
            "torch.return_types.max(\nvalues=tensor(1.),\nindices=tensor(0))",
        ),
    ],
)
def test_printing(make: Any, text: str) -> None:
    assert repr(make()) == text


def test_what_is_pytorchs_alone_raises_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotImplementedError, match="to_sparse"):
        torch.ones(2).to_sparse()
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(NotImplementedError, match="bfloat16"):
        torch.ones(2, dtype=torch.bfloat16)
    with pytest.raises(RuntimeError, match="cuda"):
        torch.ones(2, device="cuda")
    assert not torch.cuda.is_available()
    with pytest.raises(TypeError, match="'shape'"):
        torch.zeros(2, shape=3)
    with pytest.raises(NotImplementedError, match="channels_last"):
        torch.empty(2, memory_format=torch.channels_last)
    with pytest.raises(AttributeError, match=r"torch\.onnx is not in"):
        torch.onnx  # type: ignore[attr-defined]


def test_functions_in_place() -> None:
    t = torch.tensor([0.0, 1.0])
    assert torch.exp_(t) is t  # type: ignore[attr-defined]
    close(t, np.exp([0.0, 1.0]))


def test_random_numbers_follow_the_seed() -> None:
    torch.manual_seed(3)
    first, state = torch.randn(3), torch.get_rng_state()
    second = torch.rand(3)
    torch.manual_seed(3)
    assert torch.equal(torch.randn(3), first)
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(3), second)
    with torch.random.fork_rng():
        inside = torch.rand(1)
    assert torch.equal(torch.rand(1), inside)
    assert torch.randint(0, 3, (100,)).unique().tolist() == [0, 1, 2]
    assert torch.randint(high=3, size=(100,)).unique().tolist() == [0, 1, 2]
    assert torch.randint_like(torch.zeros(100), high=3).unique().tolist() == [0, 1, 2]
    assert sorted(torch.randperm(5).tolist()) == list(range(5))


def test_writes_at_places_that_differ_over_a_batch() -> None:
    rng = np.random.default_rng(0)
    x, values = rng.normal(size=(3, 2, 4, 3)), rng.normal(size=(3, 2, 2, 3))
    index = np.array([[1, 2], [0, 3], [2, 1]])

    def written(x: Any, i: Any, v: Any) -> Any:
        y = x.clone()
        y[:, i] = v
        z = x.clone()
        z[..., i, :] = 7.0
        return y + z

    given = [torch.tensor(a) for a in (x, index, values)]
    expected = torch.stack([written(*part) for part in zip(*given, strict=True)])
    assert torch.equal(torch.vmap(written)(*given), expected)
    gradients = torch.vmap(torch.func.grad(lambda *a: (written(*a) ** 2).sum(), (0, 2)))(*given)
    for b in range(3):
        one = torch.func.grad(lambda *a: (written(*a) ** 2).sum(), (0, 2))(*(g[b] for g in given))
        for together, alone in zip(gradients, one, strict=True):
            torch.testing.assert_close(together[b], alone)


def test_copies_for_views_cannot_be_written() -> None:
    x = torch.arange(6.0)
    for part in (x.unfold(0, 2, 2), x.as_strided((2, 2), (3, 1))):
        with pytest.raises(RuntimeError, match="clone"):
            part.zero_()
        assert part.clone().zero_().sum() == 0
    assert x.sum() == 15


def test_contiguous_tensors_have_their_elements_in_order() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
    y = x.transpose(0, 2).contiguous()
    assert y.stride() == (6, 2, 1)
    assert y._base is None
    y.view(-1)[:2].sum().backward()
    assert x.grad.nonzero().tolist() == [[0, 0, 0], [1, 0, 0]]
    assert torch.vmap(lambda t: t.t().contiguous().view(-1))(x.detach()).shape == (2, 12)


def test_other_data_leaves_views_with_the_old_memory() -> None:
    x = torch.ones(4)
    view = x.view(2, 2)
    x.data = torch.zeros(4)
    assert view.add_(1).tolist() == [[2.0, 2.0]] * 2
    assert x.tolist() == [0.0] * 4
