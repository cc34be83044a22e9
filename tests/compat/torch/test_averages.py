"""Averages of weights, and names of NumPy in calls: PyTorch's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad.compat.torch as ours

X = np.random.default_rng(0).standard_normal((16, 3))


def trained(torch: Any, **options: Any) -> list[Any]:
    """The rates and the means of a network after three epochs."""
    nn, utils = torch.nn, torch.optim.swa_utils
    net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(True), nn.Linear(8, 1)).double()
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape))))
    if "multi_avg_fn" in options:
        options["multi_avg_fn"] = getattr(utils, options["multi_avg_fn"])()
    strategy = options.pop("anneal_strategy", "cos")
    averaged = utils.AveragedModel(net, **options)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = utils.SWALR(optimizer, 0.02, anneal_epochs=2, anneal_strategy=strategy)
    x = torch.from_numpy(X)
    rates = []
    for _ in range(4):
        optimizer.zero_grad()
        (net(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
        optimizer.step()
        averaged.update_parameters(net)
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
    state = [v.detach().numpy().copy() for v in averaged.state_dict().values()]
    utils.update_bn([[x[:8]], [x[8:]]], averaged)
    averaged.eval()
    return [rates, *state, averaged(x).detach().numpy()]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"anneal_strategy": "linear"},
        {"avg_fn": lambda mean, now, count: 0.9 * mean + 0.1 * now, "use_buffers": True},
        {"multi_avg_fn": "get_ema_multi_avg_fn"},
        {"multi_avg_fn": "get_swa_multi_avg_fn"},
    ],
    ids=["equal", "linear", "function", "ema", "swa"],
)
def test_averages_are_those_of_pytorch(options: dict[str, Any]) -> None:
    theirs = pytest.importorskip("torch")
    for found, wanted in zip(trained(ours, **options), trained(theirs, **options), strict=True):
        # PyTorch computes the share of the new weights in single precision.
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-12)


def test_an_average_of_equal_weights() -> None:
    net = ours.nn.Linear(2, 1)
    averaged = ours.optim.swa_utils.AveragedModel(net)
    for value in (1.0, 2.0, 6.0):
        ours.nn.init.constant_(net.weight, value)
        averaged.update_parameters(net)
    np.testing.assert_allclose(averaged.module.weight.detach(), [[3.0, 3.0]])
    with pytest.raises(ValueError, match="Invalid decay"):
        ours.optim.swa_utils.get_ema_avg_fn(2.0)


def test_numpys_names_of_keywords() -> None:
    x = ours.tensor([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_array_equal(x.sum(axis=-1), [3.0, 8.0])
    np.testing.assert_array_equal(ours.mean(x, axis=0, keepdims=True), [[2.0, 3.5]])
    np.testing.assert_array_equal(ours.cumprod(x, axis=1), [[1.0, 2.0], [3.0, 15.0]])
    with pytest.raises(TypeError, match="axis"):
        ours.matmul(x, x, axis=0)


def test_loading_says_that_all_keys_matched() -> None:
    net = ours.nn.Linear(2, 1)
    assert repr(net.load_state_dict(net.state_dict())) == "<All keys matched successfully>"
    found = net.load_state_dict({"weight": net.weight}, strict=False)
    assert repr(found) == "_IncompatibleKeys(missing_keys=['bias'], unexpected_keys=[])"


def test_dtypes_beside_bfloat16() -> None:
    pytest.importorskip("ml_dtypes")
    short = ours.ones(2, dtype=ours.bfloat16)
    assert ours.result_type(short, ours.ones(2, dtype=ours.int64)) == ours.bfloat16
    assert ours.result_type(short, ours.ones(2, dtype=ours.float16)) == ours.float32
    assert ours.result_type(short, ours.ones(2, dtype=ours.float64)) == ours.float64
    assert ours.tensor([1.005]).bfloat16().float().tolist() == [1.0078125]
    assert ours.finfo(ours.bfloat16).eps == 2.0**-7
    for refused in (lambda: short.requires_grad_(), lambda: ours.nn.Linear(2, 2).to(ours.bfloat16)):
        with pytest.raises(RuntimeError, match="compute in float32"):
            refused()
