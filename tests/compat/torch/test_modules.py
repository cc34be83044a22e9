"""`torch.nn.Module` and containers beside PyTorch's own: lists, hooks, states, what is refused."""

from collections import OrderedDict

import numpy as np
import pytest

from arraygrad.compat import torch as ours

torch = pytest.importorskip("torch", minversion="2.12")
BOTH = pytest.mark.parametrize("lib", [ours, torch], ids=["ours", "torch"])


def linear(lib, size, bias=True):
    layer = lib.nn.Linear(size, size, bias)
    with lib.no_grad():
        layer.weight.copy_(lib.arange(float(size * size)).reshape(size, size) / 10)
        if bias:
            layer.bias.fill_(0.5)
    return layer


def names(module):
    return list(module.state_dict())


@BOTH
@pytest.mark.parametrize("kind", ["ModuleList", "Sequential"])
def test_modules_as_lists(lib, kind):
    nn = lib.nn
    a, b, c, d = (linear(lib, i) for i in (1, 2, 3, 4))
    held = nn.ModuleList([a, b]) if kind == "ModuleList" else nn.Sequential(a, b)
    held.append(c)
    held.insert(1, d)
    assert list(held) == [a, d, b, c]
    assert list(held._modules) == ["0", "1", "2", "3"]
    held[-1] = a
    held.extend([b])
    assert list(held) == [a, d, b, a, b]
    assert held.pop(1) is d
    assert list(held) == [a, b, a, b]
    del held[0]
    assert list(held._modules) == ["0", "1", "2"]
    assert isinstance(held[1:], type(held))
    assert list(held[1:]) == [a, b]
    both = held + (nn.ModuleList([c]) if kind == "ModuleList" else nn.Sequential(c))
    assert isinstance(both, type(held))
    assert list(both) == [b, a, b, c]
    held += nn.ModuleList([d]) if kind == "ModuleList" else nn.Sequential(d)
    assert len(held) == 4
    assert held[-1] is d
    with pytest.raises(IndexError):
        held[4]
    with pytest.raises(TypeError):
        held.append(3)
    with pytest.raises(TypeError):
        held.extend(3)


@BOTH
def test_sequential_keeps_names_and_multiplies(lib):
    a, b = linear(lib, 2), linear(lib, 2)
    held = lib.nn.Sequential(OrderedDict(first=a, second=b))
    held[0] = b
    assert list(held._modules) == ["first", "second"]
    assert list(held[1:]._modules) == ["second"]
    twice = lib.nn.Sequential(a, b) * 2
    assert list(twice) == [a, b, a, b]
    with pytest.raises(ValueError, match="Non-positive"):
        held * 0
    with pytest.raises(TypeError, match="unsupported"):
        held * "a"


@BOTH
def test_parameters_as_lists(lib):
    held = lib.nn.ParameterList([lib.ones(1)])
    held.append(lib.zeros(2))
    held.extend([lib.ones(3)])
    held[-1] = lib.nn.Parameter(lib.ones(4))
    held += [lib.ones(5)]
    assert [len(p) for p in held] == [1, 2, 4, 5]
    assert all(isinstance(p, lib.nn.Parameter) for p in held)
    assert [len(p) for p in held[1:3]] == [2, 4]
    assert len(list(held.parameters())) == 4


@BOTH
def test_shared_modules_are_met_once(lib):
    inner = linear(lib, 2)
    net = lib.nn.Sequential(inner, lib.nn.ReLU(), inner)
    assert len(list(net.children())) == 2
    assert [name for name, _ in net.named_children()] == ["0", "1"]
    seen = []
    net.apply(seen.append)
    assert len(seen) == 3
    assert names(net) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert len(list(net.parameters())) == 2


@BOTH
def test_names_are_checked(lib):
    module = lib.nn.Module()
    module.taken = 3
    parameter = lib.nn.Parameter(lib.ones(1))
    for call, kind in [
        (lambda: module.register_parameter("a.b", parameter), KeyError),
        (lambda: module.register_parameter("", parameter), KeyError),
        (lambda: module.register_parameter("taken", parameter), KeyError),
        (lambda: module.register_parameter(3, parameter), TypeError),
        (lambda: module.register_parameter("p", lib.ones(1)), TypeError),
        (lambda: module.register_buffer("a.b", lib.ones(1)), KeyError),
        (lambda: module.register_buffer("taken", lib.ones(1)), KeyError),
        (lambda: module.register_buffer("b", 3), TypeError),
        (lambda: module.add_module("a.b", module), KeyError),
        (lambda: module.add_module("taken", module), KeyError),
        (lambda: module.add_module("m", 3), TypeError),
        (lambda: module.get_parameter("p"), AttributeError),
        (lambda: module.get_submodule("m.n"), AttributeError),
    ]:
        with pytest.raises(kind):
            call()
    module.register_parameter("p", parameter)
    module.register_buffer("b", lib.ones(1), persistent=False)
    module.register_buffer("b", lib.ones(1))
    assert module.get_parameter("p") is parameter
    assert module.get_buffer("b") is module.b
    assert names(module) == ["p", "b"]


@BOTH
def test_forward_hooks(lib):
    seen = []

    class Scaled(lib.nn.Module):
        def forward(self, x, factor=1.0):
            if factor is None:
                raise ValueError("no factor")
            return x * factor

    module = Scaled()

    def note(word, value=None):
        def hook(*args):
            seen.append((word, len(args)))
            return value

        return hook

    handles = [
        module.register_forward_pre_hook(note("second")),
        module.register_forward_pre_hook(note("first"), prepend=True),
        module.register_forward_pre_hook(
            lambda m, args, kwargs: (args, {"factor": 3.0}), with_kwargs=True
        ),
        module.register_forward_hook(note("after", lib.ones(1)), with_kwargs=True),
    ]
    assert module(lib.ones(2), factor=2.0).tolist() == [1.0]
    assert seen == [("first", 2), ("second", 2), ("after", 4)]
    for handle in handles:
        handle.remove()
    seen.clear()
    module.register_forward_hook(note("always"), always_call=True)
    module.register_forward_hook(note("not"))
    with pytest.raises(ValueError, match="no factor"):
        module(lib.ones(2), factor=None)
    assert seen == [("always", 3)]
    module.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="forward pre-hook must return None or a tuple"):
        module(lib.ones(2))


@BOTH
def test_backward_hooks(lib):
    layer, seen = linear(lib, 2), []
    layer.register_full_backward_pre_hook(lambda m, out: (out[0] * 2,))
    layer.register_full_backward_hook(
        lambda m, inside, out: seen.append((inside[0].tolist(), out[0].tolist()))
    )
    layer.register_full_backward_hook(lambda m, inside, out: (inside[0] * 10,), prepend=True)
    x = lib.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    np.testing.assert_allclose(seen[0][0], [[4.0, 8.0]], 1e-6)
    np.testing.assert_allclose(seen[0][1], [[2.0, 2.0]], 1e-6)
    np.testing.assert_allclose(x.grad.tolist(), [[4.0, 8.0]], 1e-6)
    np.testing.assert_allclose(layer.bias.grad.tolist(), [2.0, 2.0], 1e-6)

    class Scaled(lib.nn.Module):
        def forward(self, x, factor):
            return inner(x) * factor

    inner, module, found = linear(lib, 2), Scaled(), []
    module.register_full_backward_hook(lambda m, inside, out: found.append(inside))
    module(x, 3.0).sum().backward()
    assert found[0][1] is None  # there is one gradient for each argument


@BOTH
def test_hooks_of_states(lib):
    net, seen = lib.nn.Sequential(linear(lib, 2)), []
    net[0].register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(prefix))

    def add(module, state, prefix, about):
        state[prefix + "more"] = lib.ones(1)

    net[0].register_state_dict_post_hook(add)
    state = net.state_dict()
    assert list(state) == ["0.weight", "0.bias", "0.more"]
    assert list(state._metadata) == ["", "0"]

    def drop(module, state, prefix, *rest):
        state.pop(prefix + "more", None)

    net[0].register_load_state_dict_pre_hook(drop)
    net.register_load_state_dict_post_hook(lambda m, keys: seen.append(tuple(keys)))
    net.load_state_dict(state)
    assert "0.more" in state
    assert seen == ["0.", ([], [])]


@BOTH
def test_an_extra_state(lib):
    class Counting(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 0

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    first, second = Counting(), Counting()
    first.count = 7
    second.load_state_dict(first.state_dict())
    assert second.count == 7
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "_extra_state"'):
        second.load_state_dict({})


@BOTH
def test_a_state_that_does_not_fit_changes_nothing(lib):
    net = lib.nn.Sequential(linear(lib, 2), linear(lib, 3))
    before = [p.detach().clone() for p in net.parameters()]
    state = {name: value * 0 for name, value in net.state_dict().items()}
    for change, word in [
        ({"1.bias": lib.ones(5)}, r"size mismatch for 1\.bias"),
        ({"other": lib.ones(1)}, r'Unexpected key\(s\) in state_dict: "other"'),
        ({"1.bias": 3}, "received <class 'int'>"),
    ]:
        with pytest.raises(RuntimeError, match=word) as caught:
            net.load_state_dict({**state, **change})
        assert str(caught.value).startswith("Error(s) in loading state_dict for Sequential:")
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "1\.bias"'):
        net.load_state_dict({n: v for n, v in state.items() if n != "1.bias"})
    with pytest.raises(TypeError, match="dict-like"):
        net.load_state_dict([])
    if lib is ours:  # PyTorch copies what fits, and then raises
        for p, old in zip(net.parameters(), before, strict=True):
            assert p.tolist() == old.tolist()
    found = net.load_state_dict({"other": lib.ones(1)}, strict=False)
    assert found.unexpected_keys == ["other"]
    assert len(found.missing_keys) == 4


@BOTH
def test_values_are_copied_or_assigned(lib):
    layer = linear(lib, 2)
    weight, state = layer.weight, {"weight": lib.zeros(2, 2).double(), "bias": lib.ones(2)}
    layer.load_state_dict(state)
    assert layer.weight is weight
    assert weight.dtype == lib.float32
    layer.load_state_dict(state, assign=True)
    assert layer.weight is not weight
    assert layer.weight.dtype == lib.float64
    assert isinstance(layer.weight, lib.nn.Parameter)
    state["weight"][0, 0] = 5.0
    assert layer.weight[0, 0].item() == 5.0


@BOTH
def test_dtypes(lib):
    net = lib.nn.Sequential(linear(lib, 2), lib.nn.BatchNorm1d(2))
    assert net.half()[0].weight.dtype == lib.float16
    assert net[1].num_batches_tracked.dtype == lib.int64
    assert net.double()[1].running_mean.dtype == lib.float64
    assert net.type(lib.float32)[0].weight.dtype == lib.float32
