"""Programs of sorix: tensors on arrays, in-place writes, optimisers, the bridge to SciPy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import arraygrad.compat.sorix as sorix
from arraygrad.compat.sorix import nn, optim
from arraygrad.compat.sorix.tensor import DType, Size


def leaf(*values: float) -> Any:
    return sorix.tensor(list(values), requires_grad=True)


def test_data_is_the_array() -> None:
    array = np.array([1.0, 2.0])
    x = sorix.tensor(array)
    assert x.data is not None
    array[0] = 5.0
    assert x.data.tolist() == [5.0, 2.0]
    x.data[1] = 7.0
    assert array.tolist() == [5.0, 7.0]
    assert sorix.tensor([1.0]).dtype == "float32"
    assert sorix.tensor(array).dtype == np.float64
    assert sorix.tensor([1]).dtype == int


def test_data_that_is_replaced_leaves_the_graph_as_it_was() -> None:
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    x.data = np.array([5.0, 6.0], np.float32)
    y.backward()
    assert x.grad.data.tolist() == [2.0, 4.0]
    (x * x).sum().backward()
    assert x.grad.data.tolist() == [12.0, 16.0]
    x.data = np.zeros(3)
    assert x.requires_grad
    assert x.shape == (3,)


def test_gradients_are_tensors_that_numpy_reads() -> None:
    a, b = leaf(2.0, 3.0), leaf(4.0, 5.0)
    (a / b).sum().backward()
    assert np.allclose(a.grad, [1 / 4, 1 / 5])
    assert np.allclose(b.grad, [-2 / 16, -3 / 25])
    assert isinstance(np.array([[3.0], [4.0]]) @ sorix.tensor([[1.0, 2.0]]), sorix.Tensor)


def test_gradients_of_whole_numbers() -> None:
    x = sorix.tensor([2, 3], dtype=sorix.int64, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.dtype == x.dtype
    assert x.grad.data.tolist() == [4, 6]
    x.grad = None
    (x * 0.5).sum().backward()
    assert x.grad.data.tolist() == [0.5, 0.5]


def test_second_derivatives_and_a_graph_that_is_kept() -> None:
    x = leaf(2.0)
    (first,) = sorix.grad(x * x * x, x, create_graph=True)
    (second,) = sorix.grad(first, x, create_graph=True)
    (third,) = sorix.grad(second, x)
    assert [g.item() for g in (first, second, third)] == [12.0, 12.0, 6.0]
    y = x * x
    assert sorix.grad(y, x)[0].item() == sorix.grad(y, x)[0].item() == 4.0
    assert x.grad is None


def test_backward() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="scalar"):
        (x * 2).backward()
    with pytest.raises(ValueError, match="shape"):
        (x * 2).backward(np.ones(3))
    (x * 2).backward(np.array([1.0, 10.0]))
    assert np.allclose(x.grad, [2.0, 20.0])
    y = (x * x).sum()
    assert y._prev
    y.backward()
    assert not y._prev
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_a_long_chain_needs_no_recursion() -> None:
    x = y = leaf(1.0)
    for _ in range(5000):
        y = y + x
    y.backward()
    assert x.grad.item() == 5001.0


def test_shared_intermediates_count_once_for_each_use() -> None:
    x = leaf(3.0)
    h = x * x
    (h * h + h).backward()
    assert x.grad.item() == 4 * 27 + 6


def test_writes_in_place() -> None:
    x = sorix.tensor([1.0, 2.0])
    assert x.add_(1.0).mul_(2.0).sub_(np.array([1.0, 1.0])).div_(3.0) is x
    assert x.data.tolist() == [1.0, 5 / np.float32(3)]
    x[0:1] = [9.0]
    assert x.data[0] == 9.0
    w = leaf(-2.0, 3.0)
    writes = [lambda: w.add_(1.0), lambda: w.fill_(0.0), lambda: w.clamp_(0, 1)]
    for write in (*writes, lambda: w.__setitem__(0, 1.0)):
        with pytest.raises(RuntimeError, match="In-place operations are not allowed"):
            write()
    with sorix.no_grad():
        w.clamp_(min=-1.0, max=1.0)
    assert w.data.tolist() == [-1.0, 1.0]
    y = w * 2
    y.mul_(3.0)  # recorded: a result may be written
    y.sum().backward()
    assert w.grad.data.tolist() == [6.0, 6.0]


def test_types_keep_the_graph() -> None:
    x = leaf(1.0, 2.0)
    x.double().sum().backward()
    assert x.grad.data.tolist() == [1.0, 1.0]
    assert x.astype(int).dtype == sorix.int64


def test_shapes_and_names() -> None:
    x = sorix.randn(2, 3, requires_grad=True)
    assert x.size() == x.shape == (2, 3)
    assert x.size(1) == 3
    assert x.numel == 6
    assert x.dim() == 2
    assert x.t().shape == x.T.shape == x.permute(1, 0).shape == (3, 2)
    assert sorix.cat([x, x], dim=1).shape == (2, 6)
    assert [p.shape for p in sorix.split(x, 2, dim=1)] == [(2, 2), (2, 1)]
    assert [p.shape for p in x.chunk(2, dim=1)] == [(2, 2), (2, 1)]
    assert sorix.stack([x, x]).shape == (2, 2, 3)
    assert sorix.gather(x, 1, sorix.tensor([[0], [2]])).shape == (2, 1)
    assert sorix.argmax(x).shape == (2, 1)
    assert repr(Size((2, 3))) == "sorix.Size([2, 3])"
    assert repr(DType("float32")) == "sorix.float32"
    assert repr(sorix.tensor([True])) == "tensor([ True], dtype=sorix.bool)"
    assert [float(v) for v in sorix.arange(3)] == [0.0, 1.0, 2.0]
    again = pickle.loads(pickle.dumps(x))
    assert again.requires_grad
    assert np.array_equal(again.data, x.data)


def test_devices() -> None:
    x = sorix.tensor([1.0])
    assert x.to("cpu") is x.cpu() is x
    assert x.device == "cpu"
    with pytest.raises(RuntimeError, match="CuPy"):
        x.cuda()
    with pytest.raises(ValueError, match="Invalid device"):
        x.to("tpu")


@pytest.mark.parametrize(
    ("make", "first", "second"),
    [
        (lambda p: optim.SGD(p, lr=0.1), 9.8, 9.4),
        (lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1), 9.7, 9.7 - 0.1 * (4 + 0.97)),
        (lambda p: optim.SGDMomentum(p, lr=0.1), 9.8, 9.8 - 0.1 * (0.9 * 2 + 4)),
        (
            lambda p: optim.RMSprop(p, lr=0.1, decay=0.9),
            10 - 0.2 / np.sqrt(0.4),
            10 - 0.2 / np.sqrt(0.4) - 0.4 / np.sqrt(0.9 * 0.4 + 1.6),
        ),
        (
            lambda p: optim.Adam(p, lr=0.1),
            9.9,
            9.9 - 0.1 * (0.18 + 0.4) / 0.19 / np.sqrt((0.999 * 0.004 + 0.016) / (1 - 0.999**2)),
        ),
    ],
    ids=["SGD", "SGD-weight_decay", "SGDMomentum", "RMSprop", "Adam"],
)
def test_two_steps(make: Any, first: float, second: float) -> None:
    p = leaf(10.0)
    optimizer = make([p])
    for gradient, expected in ((2.0, first), (4.0, second)):
        p.grad = np.array([gradient])
        optimizer.step()
        assert np.allclose(p.data, [expected], rtol=1e-7)
    optimizer.zero_grad()
    assert p.grad.item() == 0.0


def test_groups_and_states_of_optimisers() -> None:
    p, q = leaf(10.0), leaf(10.0)
    p.grad = q.grad = np.array([1.0])
    optim.SGD([{"params": [p], "lr": 0.1}, {"params": [q], "lr": 0.5}]).step()
    assert np.allclose([p.data[0], q.data[0]], [9.9, 9.5])
    first, second = optim.Adam([p], lr=0.1), optim.Adam([q], lr=1.0)
    first.step()
    second.load_state_dict(first.state_dict())
    assert second.param_groups[0]["lr"] == 0.1
    assert second.state_dict()["state"][0]["step"] == 1
    with pytest.raises(ValueError, match="empty"):
        optim.SGD([])


def test_a_graph_from_before_a_step_is_not_differentiated() -> None:
    p = leaf(10.0)
    loss = p * p
    loss.backward(retain_graph=True)
    optim.SGD([p], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_network_learns() -> None:
    sorix.manual_seed(0)
    x = sorix.randn(64, 2)
    target = (x.data @ np.array([[1.0], [-2.0]]) > 0).astype(np.float32)
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    loss = nn.BCEWithLogitsLoss()
    optimizer = optim.Adam(net.parameters(), lr=0.05)
    assert len(net.parameters()) == 4
    values = []
    for _ in range(60):
        optimizer.zero_grad()
        out = loss(net(x), target)
        out.backward()
        optimizer.step()
        values.append(out.item())
    assert values[-1] < 0.2 * values[0]


def test_losses_are_those_of_their_definitions() -> None:
    x, places = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]]), np.array([1, 2])
    p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    found = nn.CrossEntropyLoss()(sorix.tensor(x), sorix.tensor(places))
    assert np.isclose(found.item(), -np.log(p[[0, 1], places]).mean())
    y = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    s = 1 / (1 + np.exp(-x))
    expected = -(y * np.log(s) + (1 - y) * np.log(1 - s)).mean()
    assert np.isclose(nn.BCEWithLogitsLoss()(sorix.tensor(x), y).item(), expected)
    rows = sorix.tensor(np.eye(3)[places])
    same = nn.CrossEntropyLoss(one_hot=True)(sorix.tensor(x), rows)
    assert np.isclose(same.item(), found.item())
    for loss, target in (
        (nn.CrossEntropyLoss(weight=sorix.tensor([1.0, 2.0, 5.0])), sorix.tensor(places)),
        (nn.CrossEntropyLoss(sorix.tensor([1.0, 2.0, 5.0]), one_hot=True), rows),
    ):
        weighted = -(np.log(p[[0, 1], places]) * [2.0, 5.0]).sum() / 7.0
        assert np.isclose(loss(sorix.tensor(x), target).item(), weighted)


def test_losses_have_their_derivatives_where_logits_are_zero() -> None:
    x = leaf(0.0, 0.0)
    nn.BCEWithLogitsLoss()(x, np.array([0.0, 1.0])).backward()
    assert np.allclose(x.grad, [0.25, -0.25])
    x = leaf(-1.0, 0.0, 2.0)
    nn.LeakyReLU(0.1)(x).sum().backward()
    assert np.allclose(x.grad, [0.1, 0.1, 1.0])


@pytest.mark.parametrize("target", [[-1, 0], [0, 3], [0.5, 1.0], [[0, 1], [1, 0]]])
def test_targets_that_are_no_classes_are_refused(target: Any) -> None:
    with pytest.raises(ValueError, match="target"):
        nn.CrossEntropyLoss()(sorix.tensor(np.eye(2, 3)), sorix.tensor(np.array(target)))


def test_the_bridge_to_scipy() -> None:
    scipy_optimize = pytest.importorskip("scipy.optimize")
    x, y = sorix.tensor([0.0, 0.0]), leaf(3.0)
    bridge = optim.ScipyBridge([x, y], lambda: (x[0] - 2.0) ** 2 + (x[1] - 3.0) ** 2 + 5.0)
    assert x.requires_grad
    assert bridge.total_size == 3
    loss, gradient = bridge.objective(np.array([1.5, 2.5, 3.0]))
    assert loss == 5.5
    assert gradient.tolist() == [-1.0, -1.0, 0.0]
    assert x.data.tolist() == [1.5, 2.5]
    found = scipy_optimize.minimize(bridge.objective, bridge.get_x(), jac=True, method="L-BFGS-B")
    assert found.success
    assert np.allclose(found.x, [2.0, 3.0, 3.0], atol=1e-5)


def test_nothing_is_rounded_unnoticed() -> None:
    whole = sorix.tensor([1, 2])
    with pytest.raises(TypeError, match="int64"):
        whole.add_(np.array([0.5, 0.5]))
    with pytest.raises(TypeError, match="parameter 0"):
        optim.ScipyBridge(whole, lambda: (whole - 2.5).sum())
    x = sorix.tensor([1, 2], requires_grad=True)
    with pytest.raises(ValueError, match="read-only"):
        x.data[0] = 5
    (x * x).sum().backward()
    optim.SGD([x], lr=0.1).step()
    assert np.allclose(x.data, [0.8, 1.6])
    with sorix.no_grad():
        x.mul_(5)
    assert x.data.tolist() == [4, 8]
    assert x.dtype == sorix.int64
