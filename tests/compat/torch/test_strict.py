"""What PyTorch refuses, and what mixed operands give, beside PyTorch itself."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from arraygrad.compat import torch as ours

torch = pytest.importorskip("torch", minversion="2.12")

SAME = {
    "number * t": lambda t: np.float64(2) * t.ones(2),
    "number + t": lambda t: np.int64(2) + t.ones(2),
    "number - t": lambda t: np.float32(2) - t.ones(2),
    "number / t": lambda t: np.float64(2) / t.ones(2),
    "number // t": lambda t: np.float64(2) // t.ones(2),
    "number ** t": lambda t: np.float64(2) ** t.ones(2),
    "number < t": lambda t: np.float64(2) < t.ones(2),
    "number + integers": lambda t: np.float64(2) + t.tensor([1, 2]),
    "t * number": lambda t: t.ones(2) * np.float64(2),
    "clamp nan": lambda t: t.clamp(t.tensor([1.0, 2.0]), min=float("nan")),
    "clamp nan of a tensor": lambda t: t.clamp(
        t.tensor([1.0, 2.0]), max=t.tensor([float("nan"), 0.0])
    ),
    "clamp_min nan": lambda t: t.tensor([1.0]).clamp_min(float("nan")),
    "logcumsumexp": lambda t: t.logcumsumexp(t.tensor([0.0, 1.0, 1000.0, 2.0]), 0),
    "logcumsumexp of a matrix": lambda t: t.logcumsumexp(
        t.tensor([[0.0, -1e9, 3.0], [float("-inf"), 1.0, 2.0]]), 1
    ),
    "half std": lambda t: t.tensor([300.0, -300.0, 5], dtype=t.float16).std(),
    "half cosine_similarity": lambda t: t.cosine_similarity(
        t.full((90,), 300.0, dtype=t.float16), t.full((90,), 300.0, dtype=t.float16), dim=0
    ),
    "half cumprod": lambda t: t.full((2000,), 1.001, dtype=t.float16).cumprod(0),
    "half norm": lambda t: t.full((4,), 300.0, dtype=t.float16).norm(),
    "half dist": lambda t: t.dist(t.full((4,), 300.0, dtype=t.float16), t.zeros(4).half()),
    "division of floats by zero": lambda t: t.tensor([1.0, -1.0]) // 0,
    "multinomial of zeros": lambda t: t.multinomial(t.tensor([0.0, 1.0]), 1),
    "normal of half": lambda t: t.normal(t.ones(2).half(), 0.0),
    "normal with a layout": lambda t: t.normal(1.0, 0.0, (2,), layout=t.strided),
    "matrix_exp of half": lambda t: t.matrix_exp(t.zeros(2, 2).half()),
    "dlpack": lambda t: t.from_dlpack(t.ones(2)),
    "where of two numbers": lambda t: t.where(t.tensor([True, False]), 1, 2.0),
    "groups of one number": lambda t: t.nn.GroupNorm(4, 4)(t.ones(2, 4)).detach(),
    "names of arguments of views": lambda t: (
        t.squeeze(input=t.ones(1, 2), dim=0) + t.unbind(input=t.ones(2, 2))[1]
    ),
    "functional_call with other names": lambda t: t.func.functional_call(
        t.nn.ReLU(), {"no_such": t.ones(1)}, t.ones(2)
    ),
    "jit": lambda t: t.jit.script(t.sin)(t.ones(2)) if t is ours else t.ones(2).sin(),
}
SHOWN = {
    "weights from before counts of batches": lambda t: t.nn.BatchNorm1d(1).load_state_dict(
        {name: t.ones(1) for name in ("weight", "bias", "running_mean", "running_var")}
    ),
    "counts of batches are missing": lambda t: t.nn.BatchNorm1d(1).load_state_dict(
        {}, strict=False
    ),
    "get of parameters": lambda t: t.nn.ParameterDict({"a": t.ones(1)}).get("b"),
    "repr of parameters": lambda t: repr(t.nn.ParameterList([t.ones(1), t.ones(2, 3)])).replace(
        "    (", "  ("
    ),
}
REFUSED = {
    "index_select of a table": lambda t: t.arange(5).index_select(0, t.tensor([[0]])),
    "flatten backwards": lambda t: t.ones(2, 3).flatten(1, 0),
    "out of another kind": lambda t: t.add(t.ones(2), 1, out=t.empty(2, dtype=t.long)),
    "out of another kind for amax": lambda t: t.amax(t.ones(2, 2), 0, out=t.empty(2).int()),
    "functional_call with two values": lambda t: t.func.functional_call(
        t.nn.Linear(1, 1), ({"bias": t.ones(1)}, {"bias": t.ones(1)}), t.ones(1)
    ),
    "functional_call with another name": lambda t: t.func.functional_call(
        t.nn.ReLU(), {"no_such": t.ones(1)}, t.ones(2), strict=True
    ),
    "threshold of Adafactor": lambda t: t.optim.Adafactor([t.ones(1)], d=0.5),
    "eps of Adafactor": lambda t: t.optim.Adafactor([t.ones(1)], eps=(-1.0, 1.0)),
    "groups of one number in one sample": lambda t: t.nn.GroupNorm(4, 4)(t.ones(1, 4)),
    "rates in a tensor": lambda t: t.optim.Adam([t.ones(1)], lr=t.tensor([0.1, 0.2])),
    "groups with and without names": lambda t: t.optim.SGD(
        [{"params": [("a", t.ones(1))]}, {"params": [t.ones(1)]}]
    ),
    "size of a GRU": lambda t: t.nn.GRU(2, 0),
    "size of a GRU of another type": lambda t: t.nn.GRU(2, 3.5),
    "layers of a GRU": lambda t: t.nn.GRU(2, 3, 0),
    "bias of a GRU": lambda t: t.nn.GRU(2, 3, bias=1),
    "dropout of an LSTM": lambda t: t.nn.LSTM(2, 3, dropout=2.0),
    "input of a cell": lambda t: t.nn.GRUCell(2, 3)(t.ones(4, 3)),
    "axes of the input of a cell": lambda t: t.nn.LSTMCell(2, 3)(t.ones(1, 4, 2)),
    "state of a cell": lambda t: t.nn.RNNCell(2, 3)(t.ones(4, 2), t.ones(1, 3)),
    "mode of training": lambda t: t.nn.Linear(1, 1).train("yes"),
    "multinomial of integers": lambda t: t.multinomial(t.tensor([1, 2]), 1),
    "multinomial of a cube": lambda t: t.multinomial(t.ones(1, 1, 2), 1),
    "multinomial of nothing": lambda t: t.multinomial(t.ones(2), 0),
    "hstack of nothing": lambda t: t.hstack([]),
    "minus of a mask": lambda t: -t.tensor([True]),
    "cat of nothing": lambda t: t.cat([]),
    "roll of nothing": lambda t: t.ones(2).roll(()),
    "roll of two": lambda t: t.ones(2, 2).roll((1, 2)),
    "max of complex": lambda t: t.tensor([1j]).max(),
    "argmax of complex": lambda t: t.tensor([1j]).argmax(),
    "integers // 0": lambda t: t.tensor([1, 2]) // 0,
    "integers // zeros": lambda t: t.tensor([1, 2]) // t.tensor([1, 0]),
    "integers % 0": lambda t: t.tensor([1, 2]) % 0,
    "integers //= 0": lambda t: t.tensor([1, 2]).__ifloordiv__(0),
    "fmod": lambda t: t.fmod(t.tensor([1, 2]), 0),
    "div trunc": lambda t: t.div(t.tensor([1, 2]), 0, rounding_mode="trunc"),
    "div floor": lambda t: t.div(t.tensor([1, 2]), 0, rounding_mode="floor"),
    "matmul": lambda t: t.ones(2, 2).double() @ t.ones(2, 2),
    "mm": lambda t: t.mm(t.ones(2, 2).double(), t.ones(2, 2)),
    "bmm": lambda t: t.bmm(t.ones(1, 2, 2).double(), t.ones(1, 2, 2)),
    "dot": lambda t: t.dot(t.ones(2).double(), t.ones(2)),
    "mv": lambda t: t.mv(t.ones(2, 2), t.tensor([1, 2])),
    "addmm": lambda t: t.addmm(t.ones(1, 1), t.ones(1, 1), t.ones(1, 1).double()),
    "Linear": lambda t: t.nn.Linear(2, 2)(t.ones(2).double()),
    "complex <": lambda t: t.tensor([1j]) < t.tensor([2j]),
    "complex clamp": lambda t: t.clamp(t.tensor([1j]), 0),
    "complex sign": lambda t: t.tensor([1j]).sign(),
    "complex relu": lambda t: t.relu(t.tensor([1j])),
    "complex maximum": lambda t: t.maximum(t.tensor([1j]), t.tensor([1j])),
    "var of integers": lambda t: t.tensor([1, 2]).var(),
    "normal": lambda t: t.normal(0.0, -1.0, (2,)),
    "normal_": lambda t: t.ones(2).normal_(0, -1),
    "uniform_": lambda t: t.ones(2).uniform_(2, 1),
    "exponential_": lambda t: t.ones(2).exponential_(-1),
    "geometric_": lambda t: t.ones(2).geometric_(2),
    "bernoulli": lambda t: t.bernoulli(t.tensor([2.0])),
    "bernoulli_": lambda t: t.ones(2).bernoulli_(2),
    "multinomial": lambda t: t.multinomial(t.tensor([-1.0, 1.0]), 1),
    "multinomial of too many": lambda t: t.multinomial(t.tensor([1.0, 1.0]), 3),
    "randint": lambda t: t.randint(3, 3, (2,)),
    "randperm": lambda t: t.randperm(-1),
    "Dropout": lambda t: t.nn.Dropout(2),
    "dropout": lambda t: t.nn.functional.dropout(t.ones(2), -1),
    "padding by a word": lambda t: t.nn.Conv2d(2, 2, 3, padding="no"),
    "same with strides": lambda t: t.nn.Conv2d(2, 2, 3, padding="same", stride=2),
    "LSTM": lambda t: t.nn.LSTM(3, 4)(t.ones(2, 3).double()),
    "GRUCell": lambda t: t.nn.GRUCell(3, 4)(t.ones(2, 3).double()),
    "topk of too many": lambda t: t.ones(3).topk(5),
    "norm of integers": lambda t: t.norm(t.tensor([1, 2])),
    "linalg.norm of integers": lambda t: t.linalg.norm(t.tensor([1, 2])),
    "unfold of too many": lambda t: t.ones(3).unfold(0, 5, 1),
    "where of numbers": lambda t: t.where(t.ones(2), 1, 2),
    "masked_fill": lambda t: t.ones(2).masked_fill(t.ones(2), 1.0),
    "masked_select": lambda t: t.ones(2).masked_select(t.ones(2)),
    "batch_size": lambda t: t.utils.data.DataLoader([1, 2], batch_size=0),
    "batch_size=None": lambda t: t.utils.data.DataLoader([1], batch_size=None, drop_last=True),
    "num_workers": lambda t: t.utils.data.DataLoader([1, 2], num_workers=-1),
    "num_samples": lambda t: t.utils.data.RandomSampler([1, 2], num_samples=0),
}


@pytest.mark.parametrize("name", SAME)
def test_the_result_is_pytorchs(name):
    with np.errstate(all="ignore"):
        found, expected = SAME[name](ours), SAME[name](torch)
    assert isinstance(found, ours.Tensor)
    assert str(found.dtype) == str(expected.dtype)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-6)


@pytest.mark.parametrize("lib", [ours, torch], ids=["ours", "torch"])
def test_a_number_written_to_integers_loses_its_fraction(lib):
    x = lib.arange(3)
    x[0] = -2.7
    assert x.tolist() == [-2, 1, 2]


@pytest.mark.parametrize("name", SHOWN)
def test_the_text_is_pytorchs(name):
    assert str(SHOWN[name](ours)) == str(SHOWN[name](torch))


@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses_is_refused(name):
    with pytest.raises((IndexError, RuntimeError, TypeError, ValueError)) as caught:
        REFUSED[name](torch)
    with pytest.raises(caught.type):
        REFUSED[name](ours)


@pytest.mark.parametrize("lib", [ours, torch], ids=["ours", "torch"])
def test_matrices_that_are_not_regular_have_an_error_of_their_own(lib):
    for name in ("cholesky", "inv"):
        with pytest.raises(lib.linalg.LinAlgError):
            getattr(lib.linalg, name)(-lib.ones(2, 2))


@pytest.mark.parametrize("lib", [ours, torch], ids=["ours", "torch"])
def test_a_buffer_stays_a_tensor(lib):
    module = lib.nn.BatchNorm1d(2)
    with pytest.raises(TypeError, match="cannot assign"):
        module.running_mean = 3


# What people search for: PyTorch's words for the commonest mistakes.
WORDS = {
    "matmul": lambda t: t.ones(2, 3) @ t.ones(2, 3),
    "mm": lambda t: t.mm(t.ones(2, 3), t.ones(2, 3)),
    "linear": lambda t: t.nn.Linear(3, 2)(t.ones(4, 5, 4)),
    "add": lambda t: t.ones(2, 3, 4) + t.ones(5, 4),
    "mse_loss": lambda t: t.nn.MSELoss()(t.ones(3), t.ones(4)),
    "view": lambda t: t.ones(2, 3).view(4, 2),
    "reshape": lambda t: t.ones(2, 3).reshape((4, -1)),
    "sum": lambda t: t.ones(2, 3).sum(3),
}


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_the_commonest_mistakes_have_pytorchs_words(name):
    said = []
    for t in (torch, ours):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            WORDS[name](t)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_a_number_of_numpy_on_the_left_is_differentiated():
    x = ours.ones(2, requires_grad=True)
    (np.float64(3) * x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_function_of_numpy_gives_a_tensor():
    found = np.sin(ours.zeros(2))
    assert isinstance(found, ours.Tensor)
    assert found.tolist() == [0.0, 0.0]


def test_logcumsumexp_has_finite_gradients():
    def slope(lib):
        x = lib.tensor([0.0, 1.0, 1000.0, 2.0], requires_grad=True)
        lib.logcumsumexp(x, 0).sum().backward()
        return x.grad.numpy()

    np.testing.assert_allclose(slope(ours), slope(torch), 1e-4)


def test_loaders():
    data = ours.utils.data

    class Fetched(data.Dataset):
        def __getitems__(self, places):
            return [10 * i for i in places]

        def __len__(self):
            return 5

    assert [b.tolist() for b in data.DataLoader(Fetched(), 2)] == [[0, 10], [20, 30], [40]]
    part = data.Subset(Fetched(), [4, 1])
    assert [b.tolist() for b in data.DataLoader(part, 2)] == [[40, 10]]
    sampler = data.SubsetRandomSampler([3, 4])
    assert sorted(
        data.DataLoader(Fetched(), 2, sampler=sampler).__iter__().__next__().tolist()
    ) == [30, 40]
    with pytest.warns(UserWarning, match="no workers"):
        loader = data.DataLoader([1, 2], num_workers=2, pin_memory=True, persistent_workers=True)
    assert [b.tolist() for b in loader] == [[1], [2]]
    assert data.get_worker_info() is None


def test_mixed_precision_and_the_machine_change_nothing():
    p = ours.ones(2, requires_grad=True)
    sgd, scaler = ours.optim.SGD([p], lr=0.5), ours.amp.GradScaler(enabled=True)
    with ours.autocast("cpu", dtype=ours.bfloat16), ours.cuda.amp.autocast(enabled=False):
        loss = p.sum()
    scaler.scale(loss).backward()
    scaler.unscale_(sgd)
    scaler.step(sgd)
    scaler.update()
    scaler.load_state_dict(scaler.state_dict())
    assert p.tolist() == [0.5, 0.5]
    ours.cuda.manual_seed_all(3)
    ours.backends.cudnn.benchmark = True
    ours.use_deterministic_algorithms(True)
    assert ours.are_deterministic_algorithms_enabled()
    ours.set_float32_matmul_precision("high")
    assert not ours.cuda.is_available()
    assert ours.accelerator.current_accelerator() is None
    with pytest.raises(AssertionError, match="CUDA"):
        ours.cuda.synchronize()
    device = ours.device("cuda" if ours.cuda.is_available() else "cpu")
    assert ours.ones(1, device=device).device == device


def test_print_options():
    try:
        ours.set_printoptions(precision=2)
        assert repr(ours.tensor([1.23456])) == "tensor([1.23])"
        ours.set_printoptions(sci_mode=True)
        assert repr(ours.tensor([1.23456])) == "tensor([1.23e+00])"
    finally:
        ours.set_printoptions(profile="default")
    assert repr(ours.tensor([1.23456])) == "tensor([1.2346])"


SCRIPT = """
import arraygrad.compat.torch
arraygrad.compat.torch.install()
import torch, torch.nn as nn, torch.nn.functional as F, torch.backends.cudnn as cudnn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset
from torch.cuda.amp import GradScaler, autocast
from torch.nn.modules import Linear
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.distributions.normal import Normal
from torch.distributions.transforms import TanhTransform
from torch.optim.lr_scheduler import _LRScheduler
from torch.utils.data.dataset import Dataset
from torch.utils.data.sampler import SubsetRandomSampler
assert isinstance(nn.BatchNorm1d(2), _BatchNorm)
assert isinstance(nn.ConvTranspose1d(1, 1, 1), _ConvNd)
assert issubclass(StepLR, _LRScheduler) and torch.nn.modules.linear.Linear is Linear
assert not torch.distributed.is_available() and not torch.compiler.is_compiling()
from torch.utils.hooks import RemovableHandle
from torch.utils._pytree import tree_map
assert torch is arraygrad.compat.torch and Linear is nn.Linear
assert tree_map(lambda x: x + 1, {"a": [1, None][:1]}) == {"a": [2]}
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).to(device)
adam = torch.optim.AdamW(net.parameters(), lr=0.05)
schedule = StepLR(adam, 10)
x = torch.randn(32, 3)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
losses = []
for epoch in range(20):
    for a, b in loader:
        adam.zero_grad()
        loss = F.mse_loss(net(a.to(device)), b.to(device))
        loss.backward()
        adam.step()
    schedule.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
"""


def test_an_unchanged_script_runs_after_install():
    source = str(Path(ours.__file__).parents[3])
    call = [sys.executable, "-W", "error", "-c", SCRIPT]
    run = subprocess.run(
        call, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": source}
    )
    assert run.returncode == 0, run.stderr


def test_install_does_not_replace_pytorch_itself():
    with pytest.raises(RuntimeError, match="imported already"):
        ours.install()


@pytest.mark.parametrize("lib", [ours, torch], ids=["ours", "torch"])
def test_gradcheck_varies_the_given_tensors(lib):
    x = lib.tensor([1.0, 2.0], dtype=lib.float64, requires_grad=True)
    y = lib.tensor([3.0, 4.0], dtype=lib.float64, requires_grad=True)
    assert lib.autograd.gradcheck(lambda _: x**2, (x,))
    assert lib.autograd.gradcheck(lambda a, b, c: a * x * y * c, (x, y, 3.0))
    assert lib.autograd.gradgradcheck(lambda _: x**3, (x,))
    assert x.tolist() == [1.0, 2.0]
