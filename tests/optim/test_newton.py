"""L-BFGS: PyTorch's steps, and minima of functions of structures."""

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import optim


def valley(x):
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


@pytest.mark.parametrize("line_search", ["strong_wolfe", None])
@pytest.mark.parametrize("seed", range(6))
def test_steps_are_pytorchs(line_search, seed):
    torch = pytest.importorskip("torch")
    x0 = np.random.default_rng(seed).standard_normal(4)
    lr = 1.0 if line_search else 1e-3
    x = torch.tensor(x0, requires_grad=True)
    theirs = torch.optim.LBFGS([x], lr=lr, max_iter=7, history_size=5, line_search_fn=line_search)

    def closure():
        theirs.zero_grad()
        loss = valley(x)
        loss.backward()
        return loss

    found, state = x0, None
    for _ in range(4):
        theirs.step(closure)
        found, state = optim.lbfgs(
            valley, found, lr=lr, max_iter=7, history_size=5, line_search=line_search, state=state
        )
        np.testing.assert_allclose(found, x.detach().numpy(), 1e-6, 1e-8)


def test_a_structure_with_complex_numbers():
    target = {"a": np.arange(3.0), "b": np.array([1 + 2j, -3j])}

    def distance(p):
        return ((p["a"] - target["a"]) ** 2).sum() + (abs(p["b"] - target["b"]) ** 2).sum()

    start = {"a": np.ones(3), "b": np.ones(2, complex)}
    found, state = optim.lbfgs(distance, start)
    assert isinstance(optim.lbfgs(valley, ag.tensor([0.5, 0.5]))[0], ag.Tensor)
    for name, value in target.items():
        np.testing.assert_allclose(found[name], value, atol=1e-7)
    assert state["loss"] < 1e-12
    assert start["a"].tolist() == [1, 1, 1]


def test_no_line_search_of_another_name():
    with pytest.raises(RuntimeError, match="strong_wolfe"):
        optim.lbfgs(valley, np.zeros(2), line_search="armijo")
