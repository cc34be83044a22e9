"""The table of samples over PyTorch's tensors, and what is special about them."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pytest
from backend_table import Case, Library, check

import arraygrad as ag
from arraygrad.errors import MixedArraysError

torch = pytest.importorskip("torch")

to_numpy = torch.Tensor.numpy

TORCH = Library(
    name="PyTorch",
    make=lambda array: torch.asarray(np.ascontiguousarray(array).reshape(array.shape), copy=True),
    to_numpy=lambda array: to_numpy(array.resolve_conj().resolve_neg()),
    gaps={"special.erf-complex complex": "it has no error function of complex numbers"},
)

# PyTorch has no such functions, or not their derivatives: SciPy's run on the host.
BY_SCIPY = "betainc betaln exp1 expi fdtr fdtrc i0 i0e i1 i1e".split()


def never_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no tensor become a NumPy array."""

    def refuse(self: Any, *args: Any, **keywords: Any) -> NoReturn:
        raise AssertionError("a tensor was moved to the host")

    for name in ("__array__", "numpy", "cpu", "tolist"):
        monkeypatch.setattr(torch.Tensor, name, refuse)


def test_rows(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    if case[0].op.removeprefix("special.") not in BY_SCIPY:
        never_numpy(monkeypatch)  # for this row only
    check(TORCH, case)


# --- PyTorch's own autograd ----------------------------------------------------------------------


def test_a_leaf_that_torch_records_is_refused() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match=r"pass x\.detach\(\)"):
        ag.tensor(x, requires_grad=True)
    with pytest.raises(TypeError, match=r"pass x\.detach\(\)"):
        ag.asarray(x).requires_grad_()
    leaf = ag.tensor(x.detach(), requires_grad=True)
    assert ag.grad((leaf**2).sum(), leaf).tolist() == [2, 2]


def test_torch_differentiates_through_our_functions() -> None:
    x = torch.tensor([0.5, 1.5], dtype=torch.float64, requires_grad=True)
    y = ag.sum(ag.special.logsumexp(x * 2) + ag.take(x, torch.tensor([0, 0])))
    y.backward()
    expected = 2 * 2 * torch.softmax(2 * x.detach(), 0) + torch.tensor([2, 0])
    assert torch.allclose(x.grad, expected)
    through = ag.asarray(x) ** 2
    through.array.sum().backward()
    assert torch.allclose(x.grad, expected + 2 * x.detach())


def test_torch_differentiates_our_gradients() -> None:
    w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    x = ag.tensor(torch.tensor([3.0, 4.0], dtype=torch.float64), requires_grad=True)
    g = ag.grad(ag.sum(x**2 * w**3), x)
    assert g.array.requires_grad
    g.array.sum().backward()
    assert w.grad.tolist() == [2 * 3 * 3 * 1, 2 * 4 * 3 * 4]


# --- memory --------------------------------------------------------------------------------------


def test_gradients_are_accumulated_in_the_same_tensor() -> None:
    x = ag.tensor(torch.ones(3), requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first
    assert first.tolist() == [5, 5, 5]


def test_gradients_are_the_callers_own() -> None:
    seed = torch.ones(3)
    x = ag.tensor(torch.ones(3), requires_grad=True)
    y = ag.tensor(torch.ones(3), requires_grad=True)
    for outputs in (x + y, ag.reshape(x + y, (3, 1)).mT[0], (x + y).flip()):
        a, b = ag.grad(outputs, [x, y], seed)
        a.array[0] = 9.0
        assert b.tolist() == [1, 1, 1]
        assert seed.tolist() == [1, 1, 1]
    broadcast = ag.grad(x.sum(), x)
    broadcast.array[0] = 9.0
    assert broadcast.tolist() == [9, 1, 1]


def test_a_gradient_that_nobody_else_has_is_not_copied() -> None:
    from arraygrad.backends import backend_of

    backend = backend_of(torch.ones(1))
    made = torch.ones(3)
    place = made.data_ptr()
    held = [made]
    assert backend.own(held).data_ptr() != place
    held = [made]
    del made
    assert backend.own(held).data_ptr() == place
    for other in (torch.ones(3)[:2], torch.ones(1).expand(3), torch.ones(2, 3).mT):
        held = [other]
        place = other.data_ptr()
        del other
        assert backend.own(held).data_ptr() != place


def test_writing_to_tensors() -> None:
    def program(array: Any) -> Any:
        x = ag.tensor(array, requires_grad=True)
        y = x * 1.0
        y[0] = x[1] * 2
        y[1:] *= 3
        part = y[:2]
        part *= 4
        y[[0, 0]] = x[:2]
        y = y * x
        y -= 1
        return ag.grad((y**2).sum(), x)

    expected = program(np.array([1.0, 2.0, 3.0]))
    found = program(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    assert isinstance(found.array, torch.Tensor)
    np.testing.assert_allclose(found.numpy(), expected.numpy())


# --- devices and dtypes --------------------------------------------------------------------------


def test_devices_do_not_mix() -> None:
    x = ag.asarray(torch.ones(3, device="meta"))
    with pytest.raises(RuntimeError, match=r"meta.*cpu|cpu.*meta"):
        ag.matmul(x, ag.asarray(torch.ones(3)))


def test_constants_adopt_library_and_device() -> None:
    x = ag.asarray(torch.ones(3, device="meta"))
    for made in (
        x * ag.arange(3),
        ag.asarray([1.0, 2.0, 3.0]) - x,
        ag.where(ag.asarray([True, False, True]), x, 0),
    ):
        assert made.device == torch.device("meta")


def test_dtypes_by_any_name() -> None:
    x = ag.tensor(torch.ones(2), requires_grad=True)
    for name in (torch.float64, ag.float64, np.float64, float, "float64"):
        assert ag.astype(x, name).dtype is torch.float64
        assert ag.tensor(torch.ones(2), dtype=name).dtype is torch.float64
    assert ag.zeros_like(x, dtype=ag.int32).dtype is torch.int32
    assert ag.isdtype(x.dtype, "real floating")
    assert ag.result_type(x, ag.float64) is torch.float64


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision(name: str) -> None:
    dtype = getattr(torch, name)
    x = ag.tensor(torch.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=dtype), requires_grad=True)
    y = ag.sum(ag.tanh(x) * ag.special.softmax(x @ x, axis=1) + x.mean(axis=0) * 0.5)
    assert y.dtype is dtype
    g = ag.grad(y, x)
    assert g.dtype is dtype
    wide = ag.tensor(x.detach().array.to(torch.float64), requires_grad=True)
    z = ag.sum(ag.tanh(wide) * ag.special.softmax(wide @ wide, axis=1) + wide.mean(axis=0) * 0.5)
    np.testing.assert_allclose(g.numpy(), ag.grad(z, wide).numpy(), rtol=0.05, atol=0.02)
    assert ag.isdtype(dtype, "real floating")


# --- mixing --------------------------------------------------------------------------------------


def test_numpy_arrays_do_not_mix() -> None:
    x = ag.tensor(torch.ones(3), requires_grad=True)
    with pytest.raises(MixedArraysError, match="torch and numpy"):
        x * np.ones(3)
    with pytest.raises(MixedArraysError, match="torch and numpy"):
        x * ag.asarray(np.ones(3))
    with pytest.raises(MixedArraysError, match="torch and numpy"):
        x * ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    assert (x * np.float32(2)).dtype is torch.float32
    assert x[np.array([0, 2])].tolist() == [1, 1]
    assert x[ag.asarray([True, False, True])].tolist() == [1, 1]


def test_the_namespace_makes_arrays_there() -> None:
    x = ag.tensor(torch.ones(2, 2, dtype=torch.float64, device="meta"))
    xp = x.__array_namespace__()
    made = [
        xp.zeros(2), xp.ones((2, 1)), xp.empty(3), xp.full(2, 1.5), xp.arange(3), xp.eye(2),
        xp.linspace(0, 1, 3), xp.asarray([1.0]), xp.tensor([1.0], requires_grad=True),
        xp.zeros_like(x), xp.ones_like(x), xp.full_like(x, 2.0), xp.empty_like(x),
        xp.tril(xp.ones((2, 2))), *xp.meshgrid(xp.arange(2), xp.arange(3)),
        xp.asarray(np.ones(2)), xp.asarray(x), xp.full(2, xp.asarray(1.0)),
    ]  # fmt: skip
    for array in made:
        assert array.device == torch.device("meta")
    assert xp.zeros(2, device="cpu").device == torch.device("cpu")
    assert xp.ones(2, dtype=xp.float32).dtype is xp.float32 is torch.float32
    assert xp.ones(2, dtype=ag.float32).dtype is torch.float32
    assert xp is ag.asarray(torch.zeros(1, device="meta")).__array_namespace__()
    assert xp.zeros(2, dtype=xp.bfloat16).dtype is torch.bfloat16
    assert xp.linalg is ag.linalg
    assert "sin" in dir(xp)
    assert ag.asarray(np.ones(1)).__array_namespace__() is ag
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(np.ones(2), copy=False)


# --- exchange ------------------------------------------------------------------------------------


def test_dlpack_shares_memory() -> None:
    x = torch.arange(3.0)
    there = ag.from_dlpack(x)
    x[0] = 7.0
    assert there.tolist() == [7, 1, 2]
    back = torch.from_dlpack(ag.asarray(np.arange(3.0)))
    assert back.tolist() == [0, 1, 2]
    ours = torch.from_dlpack(ag.asarray(x))
    ours[1] = 8.0
    assert x.tolist() == [7, 8, 2]


def test_dlpack_into_the_library_of_a_tensor() -> None:
    data = np.arange(3.0)
    xp = ag.asarray(torch.ones(1)).__array_namespace__()
    there = xp.from_dlpack(ag.asarray(data))
    assert isinstance(there.array, torch.Tensor)
    data[0] = 7.0
    assert there.tolist() == [7, 1, 2]
    assert xp.from_dlpack(data, copy=True).array.data_ptr() != there.array.data_ptr()
    assert ag.grad((there.requires_grad_() ** 2).sum(), there).tolist() == [14, 2, 4]
    with pytest.raises(BufferError, match="detach"):
        torch.from_dlpack(there)


def test_parts_of_complex_numbers_are_written_by_index() -> None:
    z = ag.tensor(torch.tensor([1 + 1j, 2 + 1j, 3 + 2j]), requires_grad=True)
    y = z * 1
    y.real[torch.tensor([2, 0])] = torch.tensor([5.0, 6.0])
    assert y.tolist() == [6 + 1j, 2 + 1j, 5 + 2j]
    assert ag.grad((y.real * y.imag).sum(), z).tolist() == [6j, 1 + 2j, 5j]


def test_jacobians_of_plain_tensors() -> None:
    """`size` of PyTorch's tensors is a method."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)

    def f(x: Any) -> Any:
        return ag.stack([ag.sum(x * x), x[0] * x[1]])

    expected = [[2.0, 4.0], [2.0, 1.0]]
    for transform in (ag.func.jacfwd, ag.func.jacrev, ag.func.jacobian):
        found = transform(f)(x)
        assert isinstance(found, torch.Tensor)
        assert found.tolist() == expected
    assert ag.func.hessian(lambda x: ag.sum(x**3))(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert ag.func.sparsity(lambda x: x * x, x).toarray().tolist() == [[True, False], [False, True]]
    assert ag.func.jacobian(f, sparse=True)(x).toarray().tolist() == expected
