"""Programs of Lucid: its tensors, hooks, functions, and derivatives of functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad.compat.lucid as lucid
import arraygrad.compat.lucid.nn.functional as F  # noqa: N812  (as in Lucid)
from arraygrad.compat.lucid import nn
from arraygrad.compat.lucid._C import engine
from arraygrad.compat.lucid.autograd import Function, checkpoint, hessian, hvp, jacobian, jvp, vjp


def leaf(*values: float) -> Any:
    return lucid.tensor(list(values), requires_grad=True)


def test_tensors() -> None:
    x = leaf(1.0, 2.0)
    assert x.dtype == lucid.float32
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert lucid.tensor(np.ones(2)).dtype == lucid.float64
    assert x.device == lucid.device("cpu")
    with pytest.raises(RuntimeError, match="metal"):
        lucid.ones(2, device="metal")
    x.data.mul_(3.0)
    assert x.tolist() == [3.0, 6.0]
    assert isinstance(np.ones(2) * x, lucid.Tensor)
    assert lucid.ones(2, 3).sum(dim=1, keepdim=True).shape == (2, 1)
    assert lucid.arange(6).view(2, 3).max(dim=0).tolist() == [3, 4, 5]
    with pytest.raises(TypeError, match="same"):
        x.sum(dim=0, axis=0)


def test_gradients_are_arrays() -> None:
    x = leaf(1.0, 2.0, 3.0)
    gradient = lucid.autograd.grad((x * x).sum(), x)
    assert isinstance(gradient, np.ndarray)
    assert gradient.tolist() == [2.0, 4.0, 6.0]
    assert x.grad is None


def test_one_input_gives_an_array_and_several_give_a_tuple() -> None:
    x, z = leaf(1.0, 2.0, 3.0), leaf(1.0)
    for inputs in (x, [x], (x,)):
        gradient = lucid.autograd.grad((x * x).sum(), inputs)
        assert type(gradient) is np.ndarray
        assert gradient.tolist() == [2.0, 4.0, 6.0]
    several = lucid.autograd.grad((x * x).sum(), [x, z], allow_unused=True)
    assert isinstance(several, tuple)
    assert several[1] is None
    assert lucid.autograd.grad((x * x).sum(), z, allow_unused=True) is None


def test_a_gradient_is_iterated_over_as_an_array() -> None:
    x = leaf(1.0, 2.0, 3.0)
    gradient = lucid.autograd.grad((x * x).sum(), x)
    assert list(gradient) == [2.0, 4.0, 6.0]
    a, b, c = lucid.autograd.grad((x * x).sum(), x)
    assert (a, b, c) == (2.0, 4.0, 6.0)
    assert max(gradient) == 6.0


def test_create_graph_gives_tensors() -> None:
    x = leaf(2.0)
    (first,) = lucid.autograd.grad(x**3, x, create_graph=True)
    assert isinstance(first, lucid.Tensor)
    assert lucid.autograd.grad(first, x).tolist() == [12.0]
    z = leaf(1.0)
    with pytest.raises(RuntimeError, match="not reachable"):
        lucid.autograd.grad(x * 2, [x, z])
    assert lucid.autograd.grad(x * 2, [x, z], materialize_grads=True)[1].tolist() == [0.0]


def test_shared_intermediates_count_once_for_each_use() -> None:
    x = leaf(3.0)
    h = x * x
    out1, out2 = (h * h).sum(), h.sum()
    assert lucid.autograd.grad((out1, out2), x).tolist() == [4 * 27 + 6]


def test_backward() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        y.backward()
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        lucid.autograd.backward([y], [lucid.ones(2)] * 2)
    with pytest.raises(TypeError, match="must be a Tensor or None"):
        lucid.autograd.backward([y], [[1.0, 1.0]])
    y.backward(lucid.full((2,), 3.0, dtype=lucid.float64))
    assert x.grad.dtype == lucid.float32
    assert x.grad.tolist() == [6.0, 6.0]
    assert y.grad is None
    x.grad = None
    lucid.autograd.backward([(x * 2).sum(), (x * 3).sum()])
    assert x.grad.tolist() == [5.0, 5.0]


def test_hooks() -> None:
    x = leaf(1.0, 1.0)
    y = x * 2
    seen: list[Any] = []
    y.register_hook(seen.append)
    y.register_hook(lambda g: g.mul_(10))
    y.retain_grad()
    with x.register_hook(lambda g: g + 1):
        (y * 3).sum().backward()
    assert seen[0].tolist() == [3.0, 3.0]
    assert y.grad.tolist() == [30.0, 30.0]
    assert x.grad.tolist() == [61.0, 61.0]

    def wrong(g: Any) -> Any:
        return 3

    x.register_hook(wrong)
    with pytest.raises(TypeError, match="wrong"):
        x.sum().backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        lucid.ones(2).register_hook(wrong)


def test_a_write_in_a_hook_without_a_result() -> None:
    x = leaf(1.0)

    def double(g: Any) -> None:
        g.mul_(2.0)

    x.register_hook(double)
    x.sum().backward()
    assert x.grad.tolist() == [2.0]


def test_writes_in_place_are_recorded() -> None:
    x = leaf(0.5, 1.0)
    y = x * 1.0
    y.mul_(2.0).add_(1.0)
    y[0:1].exp_()
    y.relu_()
    (g,) = lucid.autograd.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), [2 * np.exp(2.0), 2.0], rtol=1e-6)
    np.testing.assert_allclose(lucid.autograd.grad(g.sum(), x), [4 * np.exp(2.0), 0.0], rtol=1e-6)


class Square(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.save_for_backward(x)
        (same,) = ctx.saved_tensors
        assert same is x
        ctx.factor = factor
        return factor * x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        assert isinstance(x, lucid.Tensor)
        return 2 * ctx.factor * x * g, None


def test_functions_with_their_derivative() -> None:
    x = leaf(3.0)
    (first,) = lucid.autograd.grad(Square.apply(x, 2.0), x, create_graph=True)
    assert first.tolist() == [12.0]
    assert lucid.autograd.grad(first, x).tolist() == [4.0]
    x.data.fill_(5.0)
    with pytest.raises(NotImplementedError, match="forward"):
        Function.apply(x)


def f(x: Any) -> Any:
    return (lucid.exp(2.0 * x) * lucid.cos(x)).sum() + (x * x).sum() * x[0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_derivatives_of_functions(create_graph: bool) -> None:
    at = np.array([0.3, -0.7, 1.1])
    x = lucid.tensor(at, requires_grad=True)
    v = lucid.tensor(np.array([0.5, 2.0, -1.5]))
    h = hessian(f, x, create_graph=create_graph)
    g = jacobian(f, x, create_graph=create_graph)
    _, product = hvp(f, x, v, create_graph=create_graph)
    _, slope = jvp(f, x, v, create_graph=create_graph)
    value, again = vjp(f, x, create_graph=create_graph)
    assert value.item() == f(x).item()
    found = [t.detach().numpy() for t in (h, g, product, slope, again)]
    np.testing.assert_allclose(found[0] @ v.numpy(), found[2])
    np.testing.assert_allclose(found[1] @ v.numpy(), found[3])
    np.testing.assert_allclose(found[1], found[4])
    e = np.exp(2 * at)
    expected = e * (2 * np.cos(at) - np.sin(at)) + 2 * at * at[0] + [at @ at, 0, 0]
    np.testing.assert_allclose(found[1], expected)
    assert {t.requires_grad for t in (h, g, product, slope, again)} == {create_graph}
    with lucid.no_grad():
        np.testing.assert_allclose(jacobian(f, x).numpy(), expected)


def test_derivatives_of_functions_refuse_what_does_not_fit() -> None:
    with pytest.raises(RuntimeError, match="single element"):
        hessian(lambda a: a * a, lucid.tensor([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="Entry 0 in v has invalid size"):
        vjp(lambda a: a * a, lucid.tensor([2.0]), lucid.tensor(1.0))
    pair = lucid.tensor([1.0, 2.0]), lucid.tensor([3.0])
    blocks = hessian(lambda x, y: (x * x * y).sum(), pair)
    assert blocks[0][1].tolist() == [[2.0], [4.0]]
    assert blocks[1][1].tolist() == [[0.0]]


def test_checkpoints_and_modules() -> None:
    lucid.manual_seed(7)
    first, second = nn.Linear(4, 4), nn.Linear(4, 2, bias=False)
    net = nn.Sequential(first, nn.ReLU(), second)
    assert [name for name, _ in net.named_parameters()] == ["0.weight", "0.bias", "2.weight"]
    x = lucid.randn(3, 4)
    net(x).sum().backward()
    expected = [p.grad.numpy().copy() for p in net.parameters()]
    net.zero_grad()
    checkpoint(net, x.requires_grad_()).sum().backward()
    for p, g in zip(net.parameters(), expected, strict=True):
        np.testing.assert_allclose(p.grad.numpy(), g, rtol=1e-6)
    assert not net.eval().training
    assert not isinstance(first.weight * 2, nn.Parameter)


@pytest.mark.parametrize(
    "name", "relu relu6 leaky_relu elu selu silu mish gelu hardsigmoid hardswish softplus".split()
)
def test_activations_have_two_derivatives(name: str) -> None:
    x = lucid.tensor(np.array([-4.0, -1.0, -0.25, 0.25, 1.0, 4.0]), requires_grad=True)
    assert lucid.autograd.gradcheck(getattr(F, name), [x])
    assert lucid.autograd.gradgradcheck(getattr(F, name), [x])


def test_losses() -> None:
    logits = np.random.default_rng(0).standard_normal((4, 5))
    x, places = lucid.tensor(logits, requires_grad=True), lucid.tensor([0, 3, 1, 4])
    expected = -np.log(np.exp(logits) / np.exp(logits).sum(1, keepdims=True))[
        range(4), [0, 3, 1, 4]
    ]
    found = F.cross_entropy(x, places, reduction="none")
    np.testing.assert_allclose(found.numpy(), expected)
    same = F.nll_loss(F.log_softmax(x, dim=1), places)
    np.testing.assert_allclose(same.item(), expected.mean())
    with pytest.raises(ValueError, match="reduction"):
        F.mse_loss(x, x, reduction="median")
    for wrong in ([0, 3, 1, -1], [0, 3, 1, 5], [0.5, 3.0, 1.0, 4.0], logits.tolist()):
        with pytest.raises(ValueError, match="target"):
            F.cross_entropy(x, lucid.tensor(wrong))


def test_linear_algebra() -> None:
    a = lucid.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    lucid.linalg.det(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[3.0, -1.0], [-1.0, 2.0]])


def test_complex_numbers_and_transforms() -> None:
    x = lucid.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    losses = []
    for _ in range(40):
        loss = ((lucid.abs(lucid.fft.fft(x, dim=0)) - 2.0) ** 2).sum()
        x.grad = None
        loss.backward()
        losses.append(loss.item())
        with lucid.no_grad():
            x -= 0.02 * x.grad
    assert losses[-1] < 0.1 * losses[0]
    assert x.is_leaf
    assert not x.grad.is_complex()
    z = lucid.complex(leaf(3.0), leaf(4.0))
    assert z.dtype == lucid.complex64
    assert lucid.abs(z).tolist() == [5.0]


def test_backward_into_some_tensors() -> None:
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    h = a * b
    (h * h).sum().backward(inputs=[h, b])
    assert a.grad is None
    assert b.grad.tolist() == [6.0, 32.0]
    assert h.grad.tolist() == [6.0, 16.0]
    with pytest.raises(RuntimeError, match="empty"):
        a.sum().backward(inputs=[])
    with pytest.raises(RuntimeError, match="does not require grad"):
        a.sum().backward(inputs=[lucid.ones(2)])


def test_dropout_is_repeated_in_a_checkpoint() -> None:
    linear, drop = nn.Linear(16, 16), nn.Dropout(0.5)
    x = lucid.randn(8, 16, requires_grad=True)

    def segment(x: Any) -> Any:
        return drop(linear(x))

    lucid.manual_seed(0)
    checkpoint(segment, x).sum().backward()
    found, x.grad = x.grad, None
    lucid.manual_seed(0)
    segment(x).sum().backward()
    np.testing.assert_allclose(found.numpy(), x.grad.numpy(), rtol=1e-6)
    drop.eval()
    assert drop(x) is x
    with pytest.raises(NotImplementedError, match="reentrant"):
        checkpoint(segment, x, use_reentrant=True)
    other = nn.Linear(16, 16)
    other.load_state_dict(linear.state_dict())
    assert other.weight.tolist() == linear.weight.tolist()
    with pytest.raises(KeyError, match="weight"):
        other.load_state_dict({})


def test_a_step_of_an_optimiser() -> None:
    p = nn.Parameter(lucid.tensor([1.0, 2.0]))
    p.grad = lucid.tensor([0.5, 0.25])
    optimizer = lucid.optim.SGD([p], lr=1.0)
    optimizer.step()
    assert p.tolist() == [0.5, 1.75]
    optimizer.zero_grad()
    assert p.grad.tolist() == [0.0, 0.0]


def test_what_is_out_of_range_is_refused() -> None:
    x = leaf(1.0, 2.0, 3.0)
    assert lucid.index_fill(x, 0, [-1], 9.0).tolist() == [1.0, 2.0, 9.0]
    with pytest.raises(IndexError, match="length 3"):
        lucid.index_fill(x, 0, [3], 9.0)
    with pytest.raises(RuntimeError, match="complex"):
        lucid.autograd.grad(x * 2, x, np.array([1j, 0, 0]))
    with pytest.raises(RuntimeError, match="complex"):
        (x * 2).backward(np.array([1j, 0, 0]))
    assert nn.Dropout(1.0)(x).tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="probability"):
        nn.Dropout(1.5)


def test_gradients_that_do_not_fit_are_refused_by_lucids_errors() -> None:
    x = leaf(1.0, 2.0, 3.0)
    for hook, error in (
        (lambda g: g[:2], engine.ShapeMismatch),
        (lambda g: g.to(lucid.float16), engine.DtypeMismatch),
    ):
        with x.register_hook(hook), pytest.raises(error, match="what a hook returned"):
            (x * 2.0).sum().backward()
    assert x.grad is None
    for bad, kind in (
        (lucid.ones(3, 1), engine.ShapeMismatch),
        (lucid.ones(3, dtype=lucid.float64), engine.DtypeMismatch),
    ):
        with pytest.raises(kind, match="mismatch"):
            x.grad = bad
    y = x * 2
    for call in (
        lambda: lucid.autograd.grad(y, x, grad_outputs=lucid.ones(2)),
        lambda: lucid.autograd.backward(y, lucid.ones(2)),
        lambda: y.backward(lucid.ones(2)),
    ):
        with pytest.raises(engine.ShapeMismatch, match=r"shape \(2,\), but must have \(3,\)"):
            call()
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
        lucid.autograd.backward([y.sum(), lucid.tensor(1.0)])


def test_words_of_lucid() -> None:
    x = leaf(1.0, 2.0)
    for write in (lambda: x.mul_(2.0), lambda: x.fill_(0.0), lambda: F.relu_(x)):
        with pytest.raises(RuntimeError, match="leaf tensor that requires grad"):
            write()
    with pytest.raises(RuntimeError, match="leaf tensor that requires grad"):
        x[0] = 1.0
    loss = (x * x).sum()
    loss.backward()
    for again in (loss.backward, lambda: lucid.autograd.grad(loss, x)):
        with pytest.raises(RuntimeError, match=r"second time.*retain_graph=True"):
            again()
    assert not engine.is_mutation_on_saved_allowed()
    with lucid.autograd.graph.allow_mutation_on_saved_tensors():
        assert engine.is_mutation_on_saved_allowed()


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (lambda g: (g, None, g), "incorrect number of gradients .expected 2, got 3"),
        (lambda g: (g, g), "different than None at position 2"),
        (lambda g: (g[:1], None), r"at index 0 - got \[1\] but expected .* with \[3\]"),
    ],
)
def test_gradients_of_a_function_are_checked(returned: Any, words: str) -> None:
    class Scale(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            return x * factor

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return returned(g)

    with pytest.raises(RuntimeError, match=words):
        Scale.apply(leaf(1.0, 2.0, 3.0), 2.0).sum().backward()


def test_a_gradient_of_a_function_is_summed_to_the_shape_of_its_input() -> None:
    class Repeated(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return lucid.ones(4, 2, 3), None, None

    x = lucid.ones(1, 3, requires_grad=True)
    Repeated.apply(x).sum().backward()
    assert x.grad.tolist() == [[8.0] * 3]


def test_nextafter_changes_as_its_first_argument_does() -> None:
    x, y = leaf(1.0, -2.0, float("inf")), leaf(2.0, -3.0, 0.0)
    values = lucid.nextafter(x, y)
    np.testing.assert_array_equal(values.numpy(), np.nextafter(x.numpy(), y.numpy()))
    (values[:2] * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 0.0]
    assert y.grad.tolist() == [0.0, 0.0, 0.0]


def test_gradients_are_clipped() -> None:
    a, b = leaf(0.0, 0.0), leaf(0.0)
    a.grad, b.grad = lucid.tensor([3.0, 0.0]), lucid.tensor([-4.0])
    assert nn.utils.clip_grad_norm_([a, b, leaf(1.0)], max_norm=1.0).item() == 5.0
    np.testing.assert_allclose([*a.grad.tolist(), *b.grad.tolist()], [0.6, 0.0, -0.8], rtol=1e-5)
    nn.utils.clip_grad_value_([a, b], 0.5)
    assert [*a.grad.tolist(), *b.grad.tolist()] == [0.5, 0.0, -0.5]
    assert nn.utils.clip_grad_norm_(leaf(1.0), 1.0).item() == 0.0


class Twice(nn.Module):
    def forward(self, x: Any) -> Any:
        return x * 2.0


def test_hooks_see_and_change_the_gradients_of_a_module() -> None:
    module, seen = Twice(), []
    with module.register_full_backward_hook(lambda m, gi, go: seen.append((m, gi, go))):
        x = leaf(1.0, 2.0)
        (module(x) * 3).sum().backward()
    assert [(m, gi[0].tolist(), go[0].tolist()) for m, gi, go in seen] == [
        (module, [6.0, 6.0], [3.0, 3.0])
    ]
    module.register_full_backward_pre_hook(lambda m, go: (go[0] * 5,))
    module.register_full_backward_hook(lambda m, gi, go: [g * go[0] for g in gi])
    (g,) = lucid.autograd.grad(module(x * x).sum(), x, create_graph=True)
    assert g.tolist() == [2 * 1 * 50, 2 * 2 * 50]
    (second,) = lucid.autograd.grad(g.sum(), x, create_graph=True)
    assert second.tolist() == [100.0, 100.0]
    assert len(seen) == 1


def test_hooks_of_a_module_whose_arguments_need_no_gradients() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            self.w = nn.Parameter([3.0])

        def forward(self, x: Any, factor: float) -> Any:
            return x * self.w * factor, x

    module, seen = Scaled(), []
    module.register_full_backward_hook(lambda m, gi, go: seen.append(gi))
    module(lucid.ones(1), 2.0)[0].sum().backward()
    assert seen == [(None, None)]
    assert module.w.grad.tolist() == [2.0]
    with lucid.no_grad():
        assert module(lucid.ones(1), 2.0)[0].tolist() == [6.0]


@pytest.mark.parametrize(
    ("returned", "error", "words"),
    [
        (lambda g: g[0], TypeError, "tuple of grad_input"),
        (lambda g: (g[0], g[0]), RuntimeError, "got 2, but expected 1"),
        (lambda g: (3,), TypeError, "tensor or None, not int"),
        (lambda g: (lucid.ones(1),), engine.ShapeMismatch, r"grad_input\[0\]"),
        (lambda g: (g[0].to(lucid.float16),), engine.DtypeMismatch, r"grad_input\[0\]"),
    ],
)
def test_what_hooks_of_modules_return_is_checked(returned: Any, error: Any, words: str) -> None:
    module, x = Twice(), leaf(1.0, 2.0)
    module.register_full_backward_hook(lambda m, gi, go: returned(gi))
    out = module(x).sum()
    with pytest.raises(error, match=words):
        out.backward()
    assert x.grad is None
