"""The table of samples over MLX's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backend_table import Case, Library, check

import arraygrad as ag

mx = pytest.importorskip("mlx.core")
mx.set_default_device(mx.cpu)

# What NumPy's default dtypes are in MLX, and the other way round.
_SINGLE = {"float64": np.float32, "complex128": np.complex64}
_DOUBLE = {"float32": np.float64, "complex64": np.complex128, "int32": np.int64}


def single(array: Any) -> Any:
    array = np.asarray(array)
    return mx.array(array.astype(_SINGLE.get(array.dtype.name, array.dtype)))


doubles: list[Any] = []


def widened(array: Any) -> Any:
    doubles.extend([array] * (array.dtype == mx.float64))
    found = np.array(array)
    return found.astype(_DOUBLE.get(found.dtype.name, found.dtype))


_NO_COMPLEX128 = "MLX has no complex128, which the row asks for"
_NO_0D_MASK = (
    "MLX has no index by a mask, and ours is built from the places in it, without axes none"
)
GAPS = {
    "astype-complex": _NO_COMPLEX128,
    "sum-dtype": _NO_COMPLEX128,
    "linalg.trace-dtype=<class 'numpy.complex128'>": _NO_COMPLEX128,
    "__getitem__-True": _NO_0D_MASK,
    "__getitem__-0-d mask, True": _NO_0D_MASK,
    "__getitem__-0-d mask, False": _NO_0D_MASK,
    "__getitem__-0-d, 0-d mask": _NO_0D_MASK,
}
MLX = Library(name="MLX", make=single, to_numpy=widened, gaps=GAPS, rtol=1e-3, atol=1e-4)


def test_rows(case: Case) -> None:
    doubles.clear()
    check(MLX, case)
    asked_for = str(case[0]) == "astype-no copy"
    assert bool(doubles) == asked_for, "the GPUs that MLX is made for have no doubles"


def test_writes_replace_the_array() -> None:
    values = mx.array([1.0, 2.0, 3.0])
    x = ag.tensor(values, requires_grad=True)
    y = x * 2
    y[0] = x[1] * x[2]
    y += 1
    assert mx.allclose(ag.grad((y * y).sum(), x).array, mx.array([0.0, 62.0, 56.0]))
    y.detach()[1] = 0
    assert values.tolist() == [1.0, 2.0, 3.0]


def test_a_returned_gradient_is_ones_own() -> None:
    x = ag.tensor(mx.array([1.0, 2.0]), requires_grad=True)
    seed = mx.array([1.0, 1.0])
    g = ag.grad(x + 1, x, seed).array
    g[0] = 7.0
    assert seed.tolist() == [1.0, 1.0]


def test_nothing_is_computed_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def compute(*_: Any) -> Any:
        raise AssertionError("computed unasked")

    x = ag.tensor(mx.array([[1.0, 2.0], [3.0, 5.0]]), requires_grad=True)
    with monkeypatch.context() as patched:
        for name in ("__array__", "__bool__", "__float__", "__int__", "item", "tolist"):
            patched.setattr(mx.array, name, compute)
        g = ag.grad((ag.tanh(x @ x) * ag.linalg.inv(x)).sum(), x, create_graph=True)
        second = ag.grad((g * g).sum(), x)
    assert np.isfinite(np.array(second.array)).all()


def test_lucid_gives_plain_arrays_of_mlx() -> None:
    x = ag.tensor(mx.array([1.0, 2.0]), requires_grad=True)
    g = ag.compat.lucid.autograd.grad((x * x).sum(), x)
    assert isinstance(g, mx.array)
    assert g.tolist() == [2.0, 4.0]


def test_half_precision() -> None:
    for dtype in (mx.float16, mx.bfloat16):
        x = ag.tensor(mx.array([1.0, 2.0], dtype=dtype), requires_grad=True)
        g = ag.grad((x * x * 0.5).sum(), x)
        assert g.dtype == dtype
        assert g.numpy().tolist() == [1.0, 2.0]


def test_inside_compile_and_grad_of_mlx() -> None:
    def gradient(w: Any, x: Any) -> Any:
        leaf = ag.tensor(w, requires_grad=True)
        return ag.grad(ag.sum(ag.tanh(ag.matmul(x, leaf)) ** 2), leaf).array

    def loss(w: Any, x: Any) -> Any:
        return mx.sum(mx.tanh(x @ w) ** 2)

    w, x = mx.array([0.1, 0.2, 0.3]), mx.ones((2, 3))
    assert mx.allclose(mx.compile(gradient)(w, x), mx.grad(loss)(w, x))
    ours = mx.grad(lambda w: mx.sum(gradient(w, x) ** 2))(w)
    assert mx.allclose(ours, mx.grad(lambda w: mx.sum(mx.grad(loss)(w, x) ** 2))(w))
