"""Tensors of several dtypes in one function, and writes to tensors from outside: as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import arraygrad.compat.torch as ours

torch = pytest.importorskip("torch")

PROMOTED: dict[str, Callable[..., Any]] = {
    "addcmul": lambda m, a, b: m.addcmul(a, b, b, value=2),
    "addr": lambda m, a, b: m.addr(m.ones(3, 3), a, b),
    "cosine_similarity": lambda m, a, b: m.cosine_similarity(a, b, dim=0),
    "dist": lambda m, a, b: m.dist(a, b),
    "kron": lambda m, a, b: m.kron(a, b),
    "l1_loss": lambda m, a, b: m.nn.functional.l1_loss(a, b),
    "max": lambda m, a, b: m.max(a, b),
    "mse_loss": lambda m, a, b: m.nn.functional.mse_loss(a, b),
    "outer": lambda m, a, b: m.outer(a, b),
    "pairwise_distance": lambda m, a, b: m.nn.functional.pairwise_distance(a, b),
    "rsub": lambda m, a, b: m.rsub(a, b),
    "smooth_l1_loss": lambda m, a, b: m.nn.functional.smooth_l1_loss(a, b),
}
SAME: dict[str, Callable[..., Any]] = {
    "addmv": lambda m, a, b: m.addmv(a, m.ones(3, 3), b),
    "cdist": lambda m, a, b: m.cdist(a[None], b[None]),
    "conv1d": lambda m, a, b: m.nn.functional.conv1d(a[None, None], b[None, None]),
    "cross": lambda m, a, b: m.cross(a, b),
    "einsum": lambda m, a, b: m.einsum("i,i", a, b),
    "index_add": lambda m, a, b: a.index_add(0, m.tensor([0, 1, 2]), b),
    "index_put": lambda m, a, b: a.index_put((m.tensor([0]),), b[:1]),
    "lerp": lambda m, a, b: m.lerp(a, b, 0.5),
    "masked_scatter": lambda m, a, b: a.masked_scatter(m.tensor([True, False, False]), b),
    "prelu": lambda m, a, b: m.nn.functional.prelu(a, b[:1]),
    "tensordot": lambda m, a, b: m.tensordot(a, b, 1),
}
PAIRS = ("float32 float64", "float32 int64", "int64 float32", "float16 float32")


@pytest.mark.parametrize("name", PROMOTED)
def test_dtypes_are_promoted(name: str) -> None:
    for pair in PAIRS:
        found = [
            PROMOTED[name](m, *(m.ones(3, dtype=getattr(m, d)) for d in pair.split()))
            for m in (ours, torch)
        ]
        assert str(found[0].dtype) == str(found[1].dtype), pair
        assert abs(found[0].sum().item() - found[1].sum().item()) < 1e-3


@pytest.mark.parametrize("name", SAME)
def test_dtypes_must_be_the_same(name: str) -> None:
    for m in (ours, torch):
        with pytest.raises(RuntimeError, match=r"(?i)type"):
            SAME[name](m, m.ones(3, dtype=m.float64), m.ones(3))


def _copy(m: Any, c: Any, x: Any) -> None:
    c.copy_(x)


def _put(m: Any, c: Any, x: Any) -> None:
    c[0] = x[0]


TRANSFORMS: dict[str, Callable[..., Any]] = {
    "grad": lambda m, f, x: m.func.grad(lambda x: f(x).sum())(x),
    "jacfwd": lambda m, f, x: m.func.jacfwd(f)(x),
    "jacrev": lambda m, f, x: m.func.jacrev(f)(x),
    "jvp": lambda m, f, x: m.func.jvp(f, (x,), (x,)),
    "vjp": lambda m, f, x: m.func.vjp(f, x)[0],
}


@pytest.mark.parametrize(
    "write", [_copy, _put, lambda m, c, x: c.mul_(x), lambda m, c, x: c.add_(x)]
)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_captured_tensor_is_not_written_inside_a_transform(name: str, write: Any) -> None:
    for m in (ours, torch):
        captured = m.zeros(2)

        def leaks(x: Any, m: Any = m, captured: Any = captured) -> Any:
            write(m, captured, x)
            return x * x

        with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
            TRANSFORMS[name](m, leaks, m.ones(2))
        assert not captured.requires_grad
        assert captured.tolist() == [0.0, 0.0]


def test_a_captured_tensor_stays_one_under_another_name() -> None:
    captured = ours.zeros(2)
    for name in (
        lambda c: c.contiguous(),
        lambda c: c.view(2),
        lambda c: c.detach(),
        lambda c: c[:],
    ):

        def leaks(x: Any, name: Any = name) -> Any:
            name(captured).copy_(x)
            return (x * x).sum()

        with pytest.raises(RuntimeError, match="mutate a captured Tensor"):
            ours.func.grad(leaks)(ours.ones(2))
    assert captured.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("make", ["zeros", "clone", "sum", "new_zeros", "taken"])
def test_a_tensor_that_is_made_inside_a_transform_is_written(make: str) -> None:
    constant = {m: m.ones(2) for m in (ours, torch)}

    def writes(m: Any) -> Any:
        def function(x: Any) -> Any:
            if make == "zeros":
                made = m.zeros(2)
            elif make == "new_zeros":
                made = x.new_zeros(2)
            else:
                made = constant[m].clone() if make == "clone" else constant[m] + 0
            if make == "taken":
                made = constant[m][m.tensor([0, 1])]
            made[0] = x[0] * 3
            return (made * made).sum()

        return m.func.grad(function)(m.ones(2))

    assert writes(ours).tolist() == writes(torch).tolist() == [18.0, 0.0]


def test_a_dual_tensor_writes_to_what_it_was_made_of() -> None:
    for m in (ours, torch):
        fwd = m.autograd.forward_ad
        primal, tangent = m.ones(2), m.ones(2)
        with fwd.dual_level():
            dual = fwd.make_dual(primal, tangent)
            dual.mul_(3)
            dual[0] = 7.0
            assert fwd.unpack_dual(dual).tangent.tolist() == [0.0, 3.0]
        assert primal.tolist() == [7.0, 3.0]
        assert tangent.tolist() == [0.0, 3.0]


def test_an_inference_tensor_has_no_version() -> None:
    for m in (ours, torch):
        with m.inference_mode():
            x = m.ones(2)
        with pytest.raises(RuntimeError, match="do not track version counter"):
            x._version
