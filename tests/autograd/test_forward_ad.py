"""`forward_ad`: dual arrays by hand, in torch's vocabulary. Rows are of torch_semantics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.autograd.forward_ad import (
    dual_level,
    enter_dual_level,
    exit_dual_level,
    make_dual,
    unpack_dual,
)
from arraygrad.func import grad, jacrev, jvp, vmap

A = np.array([1.0, 2.0, 3.0])
ONES = np.ones(3)


def close(found: Any, expected: Any) -> None:
    found = found.detach() if isinstance(found, ag.Tensor) else found
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_basic() -> None:  # row 381
    with dual_level():
        x = make_dual(ag.tensor([2.0]), ag.tensor([1.0]))
        primal, tangent = unpack_dual(x**3)
        assert isinstance(primal, ag.Tensor)
        assert (primal.tolist(), tangent.tolist()) == ([8.0], [12.0])
        plain = unpack_dual(ag.tensor([2.0]))
        assert plain.tangent is None
        result = unpack_dual(make_dual(A, ONES) * 2)
        assert type(result.primal) is type(result.tangent) is np.ndarray


def test_unpack_what_it_was_made_of() -> None:
    with dual_level():
        x, t = ag.tensor(A), ag.tensor(ONES)
        primal, tangent = unpack_dual(make_dual(x, t))
        assert primal is x
        assert tangent is t


def test_constants_have_no_tangent() -> None:
    with dual_level():
        x = make_dual(A, ONES)
        assert unpack_dual(x > 1).tangent is None
        assert unpack_dual(ag.argmax(x)).tangent is None
        assert unpack_dual(x.detach()).tangent is None


def test_decisions_and_numbers() -> None:
    with dual_level():
        x = make_dual(np.array(-1.0), np.array(1.0))
        assert bool(x)
        assert not bool(x * 0)
        y = x if x > 0 else -x
        close(unpack_dual(y).tangent, -1)
        for convert in (float, int, complex, lambda x: x.item()):
            with pytest.raises(TypeError, match="losing its tangent"):
                convert(x)
        with pytest.raises(TypeError, match="cannot become a NumPy array"):
            np.asarray(x)
        with pytest.raises(TypeError, match="make a leaf over it"):
            x.requires_grad_()
        assert not x.requires_grad
        close(unpack_dual(x.clone()).tangent, 1)


def test_nested_levels() -> None:  # row 380, which torch refuses
    with dual_level() as outer:
        x = make_dual(A, ONES)
        with dual_level() as inner:
            assert inner > outer
            y = make_dual(x, ONES)
            first = unpack_dual(y**3).tangent
            second = unpack_dual(first, level=outer)
            close(second.primal, 3 * A**2)
            close(second.tangent, 6 * A)
        assert unpack_dual(x**2).tangent.tolist() == [2, 4, 6]


def test_the_gradient_for_a_dual_number_is_dual() -> None:
    x = ag.tensor(A, requires_grad=True)
    with dual_level():
        made = make_dual(x, ONES / 2)
        inner = ag.sin(made)
        y = ag.sum(inner**3)
        for target, value, tangent in (
            (made, 3 * np.sin(A) ** 2 * np.cos(A), 6 * np.sin(A) * np.cos(A) ** 2),
            (inner, 3 * np.sin(A) ** 2, 6 * np.sin(A) * np.cos(A)),
        ):
            found = unpack_dual(ag.grad(y, target, create_graph=True))
            close(found.primal, value)
            if target is made:
                tangent = tangent - 3 * np.sin(A) ** 3
            close(found.tangent, tangent / 2)


def test_unpack_an_outer_level_from_inside() -> None:
    with dual_level() as outer:
        x = make_dual(A, ONES)
        with dual_level() as inner:
            y = make_dual(2 * A, ONES) * x  # d/dx = y, d/dy = x
            primal, tangent = unpack_dual(y, level=outer)
            close(unpack_dual(primal, level=inner).tangent, A)
            close(unpack_dual(tangent, level=inner).primal, 2 * A)
            close(unpack_dual(tangent, level=inner).tangent, ONES)
            assert unpack_dual(make_dual(A, ONES), level=outer).tangent is None

        def inside(row: Any) -> Any:
            result = unpack_dual(row * x, level=outer)
            close(result.primal._array, np.eye(3) * A)
            return result.tangent

        close(vmap(inside)(np.eye(3)), np.eye(3))


def test_levels_by_hand() -> None:
    first = enter_dual_level()
    second = enter_dual_level()
    with pytest.raises(RuntimeError, match=f"level {first} is not the innermost"):
        exit_dual_level(level=first)
    exit_dual_level(level=second)
    exit_dual_level()
    with pytest.raises(RuntimeError, match="nothing to close"):
        exit_dual_level()


def test_an_error_closes_the_level() -> None:
    with pytest.raises(ZeroDivisionError), dual_level():
        raise ZeroDivisionError
    with pytest.raises(RuntimeError, match="needs an open level"):
        make_dual(A, ONES)


def test_outside_a_level() -> None:  # row 379
    with pytest.raises(RuntimeError, match=r"make_dual\(\) needs an open level"):
        make_dual(A, ONES)
    with pytest.raises(RuntimeError, match=r"unpack_dual\(\) needs an open level"):
        unpack_dual(A)
    with dual_level(), pytest.raises(RuntimeError, match="needs an open level"):
        make_dual(A, ONES, level=77)


@pytest.mark.parametrize(
    ("tensor", "tangent", "error", "message"),
    [
        (A, np.ones(2), ValueError, r"tangent has shape \(2,\), its tensor has \(3,\)"),
        (A, ONES.astype(np.float32), ValueError, "tangent has dtype float32"),
        (np.arange(3), np.arange(3), TypeError, "floating-point"),
        (1.0, 1.0, TypeError, "tensor must be a Tensor or an array, not float"),
        (A, None, TypeError, "tangent must be a Tensor or an array, not NoneType"),
    ],
)
def test_mistakes(tensor: Any, tangent: Any, error: type[Exception], message: str) -> None:
    with dual_level(), pytest.raises(error, match=message):
        make_dual(tensor, tangent)


def test_a_level_further_out_is_refused_for_what_is_inside() -> None:
    with dual_level() as outer, dual_level():
        x = make_dual(A, ONES)
        with pytest.raises(ValueError, match="further inside"):
            make_dual(x, ONES, level=outer)


# --- with reverse mode ---------------------------------------------------------------------------


def test_reverse_mode_over_tangents() -> None:
    x = ag.tensor(A, requires_grad=True)
    with dual_level():
        y = (make_dual(x, ag.tensor(A)) ** 3).sum()
        primal, tangent = unpack_dual(y)
        close(ag.grad(primal, x, retain_graph=True), 3 * A**2)
        close(ag.grad(tangent, x), 6 * A * A)


def test_reverse_mode_inside() -> None:
    with dual_level():
        leaf = ag.tensor(make_dual(ag.tensor(A), ag.tensor(ONES)), requires_grad=True)
        gradient = ag.grad((leaf**3).sum(), leaf)
        primal, tangent = unpack_dual(gradient)
        close(primal, 3 * A**2)
        close(tangent, 6 * A)


def test_transforms_inside() -> None:
    with dual_level():
        x = make_dual(A, ONES)
        close(unpack_dual(grad(lambda x: (x**3).sum())(x)).tangent, 6 * A)
        close(unpack_dual(vmap(lambda x: x**3)(x)).tangent, 3 * A**2)
        close(unpack_dual(jacrev(lambda x: x**3)(x)).tangent, np.diag(6 * A))
        _, pushed = jvp(lambda x: x**3, (x,), (ONES,))
        close(unpack_dual(pushed).tangent, 6 * A)


def test_inside_transforms() -> None:
    def slope(x: Any) -> Any:
        with dual_level():
            return unpack_dual(make_dual(x, ONES) ** 3).tangent

    close(grad(lambda x: slope(x).sum())(A), 6 * A)
    close(vmap(slope)(np.stack([A, 2 * A])), 3 * np.stack([A, 2 * A]) ** 2)
    close(jvp(slope, (A,), (A,))[1], 6 * A * A)


def test_no_grad_does_not_stop_tangents() -> None:
    with dual_level(), ag.no_grad():
        close(unpack_dual(make_dual(A, ONES) ** 2).tangent, 2 * A)
