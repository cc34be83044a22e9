"""The table of samples over CuPy: over CuPy itself where there is a GPU, else over a stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fake_cupy
import numpy as np
import pytest
from backend_table import Case, Library, check

import arraygrad as ag
from arraygrad.core.cpython import COUNTS_REFERENCES

try:
    import cupy

    cupy.cuda.runtime.getDeviceCount()
    REAL = True
except Exception:  # not installed, or no driver, or no device
    REAL = False


@pytest.fixture(autouse=True, scope="module")
def cupy_module() -> Iterator[Any]:
    if REAL:
        yield cupy
        return
    with fake_cupy.installed() as module:
        yield module


def make(array: Any) -> Any:
    import cupy

    return cupy.asarray(np.ascontiguousarray(array).reshape(array.shape))


EIG = "CuPy before version 14 has no eigenvalues of matrices that are not symmetric"
CUPY = Library(
    name="CuPy (stand-in)",
    make=make,
    to_numpy=lambda array: array.get(),
    gaps={
        "linalg.eig": EIG,
        "linalg.eigvals": EIG,
        "to_device": "its devices are GPUs; numpy() gives a NumPy array",
    },
)


def test_rows(case: Case) -> None:
    check(CUPY, case)


# --- its manners ---------------------------------------------------------------------------------


def test_a_training_step_does_not_wait(cupy_module: Any) -> None:
    rng = np.random.default_rng(0)
    x, target = (make(rng.standard_normal(shape)) for shape in ((8, 3), (8, 2)))
    w1, w2 = (ag.tensor(make(rng.standard_normal(s)), requires_grad=True) for s in ((3, 4), (4, 2)))
    fake_cupy.WAITED.clear()
    for _ in range(2):
        hidden = ag.tanh(x @ w1)
        loss = ag.mean((hidden @ w2 - target) ** 2) + ag.special.logsumexp(hidden[:, [0, 0, 1]])
        loss.backward()
        ag.grad(ag.sum(w1 * w1), w1)
    assert fake_cupy.WAITED == []
    assert float(loss.detach()) > 0
    assert REAL or fake_cupy.WAITED == ["item"]


def test_adding_by_index_is_one_scatter(cupy_module: Any) -> None:
    x = ag.tensor(make(np.arange(6.0).reshape(2, 3)), requires_grad=True)
    fake_cupy.CALLED.clear()
    g = ag.grad(x[:, make(np.array([0, 0, 2]))].sum(), x)
    assert g.tolist() == [[2, 0, 1], [2, 0, 1]]
    assert REAL or fake_cupy.CALLED.count("scatter_add") == 1
    counts = ag.bincount(ag.asarray(make(np.array([1, 1, 0]))))
    assert counts.tolist() == [1, 2]


def test_special_functions_are_its_own(cupy_module: Any) -> None:
    x = ag.tensor(make(np.array([0.5])), requires_grad=True)
    fake_cupy.CALLED.clear()
    g = ag.grad(ag.special.gammaln(x).sum(), x)
    assert isinstance(g.array, cupy_module.ndarray)
    assert REAL or {"special.gammaln", "special.digamma"} <= set(fake_cupy.CALLED)


def test_gradients_are_accumulated_in_place_and_not_shared(cupy_module: Any) -> None:
    x = ag.tensor(make(np.ones(3)), requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad is not None
    first, kept = id(x.grad.array), x.grad
    (x * 3).sum().backward()
    assert x.grad is kept
    assert id(kept.array) == first or not COUNTS_REFERENCES
    w = ag.tensor(make(np.ones(3)), requires_grad=True)
    product = (w * kept).sum()  # saves the array, which is replaced then
    (x * 4).sum().backward()
    assert x.grad is kept
    assert kept.tolist() == [9, 9, 9]
    assert ag.grad(product, w).tolist() == [5, 5, 5]
    a, b = ag.grad(x + 1, [x, x], make(np.ones(3)))
    a.array[0] = 5.0
    assert b.tolist() == [1, 1, 1]


def test_numpy_arrays_do_not_mix(cupy_module: Any) -> None:
    x = ag.tensor(make(np.ones(3)), requires_grad=True)
    with pytest.raises(TypeError, match="cupy and numpy"):
        x * np.ones(3)
    assert isinstance((x * ag.arange(3)).array, cupy_module.ndarray)
    assert isinstance(x.__array_namespace__().zeros(3).array, cupy_module.ndarray)
    assert isinstance(x.detach().numpy(), np.ndarray)


def test_writing(cupy_module: Any) -> None:
    def program(array: Any) -> Any:
        x = ag.tensor(array, requires_grad=True)
        y = x * 1.0
        y[0] = x[1] * 2
        part = y[1:]
        part *= 3
        y[[2, 0]] = x[:2]
        y[[1, 1]] = x[1:]
        return ag.grad((y**2).sum(), x)

    expected = program(np.array([1.0, 2.0, 3.0]))
    assert program(make(np.array([1.0, 2.0, 3.0]))).tolist() == expected.tolist()
