"""Plain arrays in, plain arrays out: also where a function makes tensors of its own inside.

Every transform on every function of a table; and what comes out for tensors.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import optree
import pytest
import scipy.sparse
from rows import crossed, over

import arraygrad as ag
from arraygrad import func

X = np.array([1.0, 2.0, 3.0])


# --- functions that make tensors -----------------------------------------------------------------


def constant(x: Any) -> Any:
    out = ag.zeros(3)
    out[0] = 1.0
    return out


def filled(x: Any) -> Any:
    out = ag.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2
    return out


def filled_in_part(x: Any) -> Any:
    out = ag.zeros(3)
    out[1] = x[0]
    return out


def filled_at_once(x: Any) -> Any:
    out = ag.zeros(3)
    out += x
    return out


def filled_like(x: Any) -> Any:
    out = ag.zeros_like(x)
    out[0] = x[1]
    return out


def left_empty(x: Any) -> Any:
    return ag.zeros_like(x)


def factor(x: Any) -> Any:
    weights = ag.zeros(3)
    weights[0] = 2.0
    return x * weights


def summand(x: Any) -> Any:
    return x + ag.arange(3.0)


def matrix(x: Any) -> Any:
    return ag.eye(3) @ x


def from_list(x: Any) -> Any:
    return ag.asarray([x[0], x[1], 3.0]) * ag.asarray([1.0, 2.0, 3.0])


def choice(x: Any) -> Any:
    return ag.where(ag.tensor([True, False, True]), x, ag.zeros(3))


def detached(x: Any) -> Any:
    return ag.tensor(x) * 2


def gradient_inside(x: Any) -> Any:
    leaf = ag.tensor(x, requires_grad=True)
    return ag.grad((leaf**2).sum(), leaf)


def gradient_of_a_constant(x: Any) -> Any:
    leaf = ag.tensor(np.ones(3), requires_grad=True)
    return ag.grad((leaf**2).sum(), leaf)


OUTSIDE = ag.tensor([1.0, 2.0, 4.0])


def closed_over(x: Any) -> Any:
    return x * OUTSIDE


FUNCTIONS = [
    constant,
    filled,
    filled_in_part,
    filled_at_once,
    filled_like,
    left_empty,
    factor,
    summand,
    matrix,
    from_list,
    choice,
    detached,
    gradient_inside,
    gradient_of_a_constant,
    closed_over,
]


# --- the transforms ------------------------------------------------------------------------------


def total(f: Any) -> Any:
    return lambda x: f(x).sum()


def beside(f: Any) -> Any:
    """A number, and what the function returns as aux."""
    return lambda x: ((x**3).sum(), {"aux": f(x)})


def squares_beside(f: Any) -> Any:
    return lambda x: (x**2, [f(x), "text"])


def pulled(f: Any, x: Any) -> Any:
    value, pull = func.vjp(f, x)
    return value, pull(np.ones(3)), pull(np.zeros(3))


def pulled_beside(f: Any, x: Any) -> Any:
    value, pull, aux = func.vjp(beside(f), x, has_aux=True)
    return value, pull(np.array(1.0)), aux


def pushed(f: Any, x: Any) -> Any:
    value, push = func.linearize(f, x)
    return value, push(np.ones(3))


TRANSFORMS = {
    "grad": lambda f, x: func.grad(total(f))(x),
    "grad, aux": lambda f, x: func.grad(beside(f), has_aux=True)(x),
    "value_and_grad": lambda f, x: func.value_and_grad(total(f))(x),
    "value_and_grad, aux": lambda f, x: func.value_and_grad(beside(f), has_aux=True)(x),
    "vjp": pulled,
    "vjp, aux": pulled_beside,
    "linearize": pushed,
    "jvp": lambda f, x: func.jvp(f, (x,), (np.ones(3),)),
    "jvp, aux": lambda f, x: func.jvp(beside(f), (x,), (np.ones(3),), has_aux=True),
    "jacrev": lambda f, x: func.jacrev(f)(x),
    "jacrev, aux": lambda f, x: func.jacrev(squares_beside(f), has_aux=True)(x),
    "jacrev, chunks": lambda f, x: func.jacrev(f, chunk_size=2)(x),
    "jacfwd": lambda f, x: func.jacfwd(f)(x),
    "jacfwd, aux": lambda f, x: func.jacfwd(squares_beside(f), has_aux=True)(x),
    "jacfwd, chunks": lambda f, x: func.jacfwd(f, chunk_size=2)(x),
    "jacobian": lambda f, x: func.jacobian(f)(x),
    "jacobian, sparse": lambda f, x: func.jacobian(
        squares_beside(f), has_aux=True, sparse=True, sparsity=scipy.sparse.eye_array(3)
    )(x),
    "jacrev, sparse": lambda f, x: func.jacrev(
        squares_beside(f), has_aux=True, sparse=True, sparsity=scipy.sparse.eye_array(3)
    )(x),
    "hessian": lambda f, x: func.hessian(total(f))(x),
    "hessian, aux": lambda f, x: func.hessian(beside(f), has_aux=True)(x),
    "hessian, sparse": lambda f, x: func.hessian(beside(f), has_aux=True, sparse=True)(x),
    "hvp": lambda f, x: func.hvp(total(f), (x,), (np.ones(3),)),
    "vmap": lambda f, x: func.vmap(f)(ag.stack([x, x])),
    "vmap, chunks": lambda f, x: func.vmap(f, chunk_size=1)(ag.stack([x, x])),
    "vmap of grad": lambda f, x: func.vmap(func.grad(total(f)))(ag.stack([x, x])),
    "vmap of jvp": lambda f, x: func.vmap(lambda x: func.jvp(f, (x,), (x,)))(ag.stack([x, x])),
    "grad of vmap": lambda f, x: func.grad(lambda r: func.vmap(f)(r).sum())(ag.stack([x, x])),
    "jvp of grad": lambda f, x: func.jvp(func.grad(total(f)), (x,), (x,)),
    "grad of grad": lambda f, x: func.grad(lambda x: func.grad(total(f))(x).sum())(x),
}


def leaves(result: Any) -> list[Any]:
    return [leaf for leaf in optree.tree_leaves(result) if not isinstance(leaf, str)]


@over("name, function", itertools.product(TRANSFORMS, FUNCTIONS), first=len(FUNCTIONS))
def test_arrays_give_arrays(name: str, function: Any) -> None:
    found = leaves(TRANSFORMS[name](function, X))
    assert found
    for leaf in found:
        assert isinstance(leaf, np.ndarray | np.generic | float | scipy.sparse.csr_array)


@crossed(name=[name for name in TRANSFORMS if "sparse" not in name], requires_grad=[False, True])
def test_tensors_give_tensors(name: str, requires_grad: bool) -> None:
    x = ag.tensor(X, requires_grad=requires_grad)
    for leaf in leaves(TRANSFORMS[name](lambda x: filled(x) * x, x)):
        assert isinstance(leaf, ag.Tensor)


@pytest.mark.parametrize("name", [name for name in TRANSFORMS if "sparse" not in name])
def test_what_is_recorded_stays_a_tensor(name: str) -> None:
    """A tensor from outside that requires gradients: its gradient can be asked for afterwards."""
    w = ag.tensor([1.0, 2.0, 4.0], requires_grad=True)
    found = leaves(TRANSFORMS[name](lambda x: x**2 * w, X))
    recorded = [leaf for leaf in found if isinstance(leaf, ag.Tensor)]
    assert recorded
    assert all(leaf.requires_grad for leaf in recorded)
    ag.grad([leaf.sum() for leaf in recorded], w)


def test_tensors_that_are_given_otherwise() -> None:
    """As arguments that are not differentiated, as keywords, tangents and cotangents."""
    w = ag.tensor([1.0, 2.0, 4.0])
    assert isinstance(func.grad(lambda x, w: (x * w).sum())(X, w), ag.Tensor)
    assert isinstance(func.grad(lambda x, w: (x * w).sum())(X, w=w), ag.Tensor)
    assert isinstance(func.jacfwd(lambda x, w: x * w)(X, w=w), ag.Tensor)
    assert isinstance(func.vmap(lambda x, w: x * w, (0, None))(X, w), ag.Tensor)
    _, pull = func.vjp(ag.sin, X)
    assert isinstance(pull(w)[0], ag.Tensor)
    assert type(pull(X)[0]) is np.ndarray
    value, tangent = func.jvp(ag.sin, (X,), (w,))
    assert type(value) is np.ndarray
    assert isinstance(tangent, ag.Tensor)
    _, push = func.linearize(ag.sin, w)
    assert isinstance(push(X), ag.Tensor)


def test_a_custom_function_may_make_tensors() -> None:
    @func.custom(vjp=lambda g: g * 2)
    def doubled(x: Any) -> Any:
        out = ag.zeros(3)
        for i in range(3):
            out[i] = x[i] * 2
        return out

    @func.custom(vjp=lambda gs: gs[1] * 2, multiple=True)
    def both(x: Any) -> Any:
        return ag.ones(3), doubled(x)

    assert type(doubled(X)) is np.ndarray
    assert [type(part) for part in both(X)] == [np.ndarray] * 2
    x = ag.tensor(X, requires_grad=True)
    for out in (doubled(x), both(x)[1]):
        assert type(out.array) is np.ndarray
        assert ag.grad(out.sum(), x).tolist() == [2, 2, 2]
    assert type(func.vmap(doubled)(np.stack([X, X]))) is np.ndarray


def _slope(loss: Any) -> Any:
    """Takes the gradient of a loss by `ag.grad`, of a tensor made inside."""

    def slope(x: Any) -> Any:
        x = ag.tensor(x, requires_grad=True)
        return ag.grad(loss(x), x)

    return slope


@pytest.mark.parametrize("loss", [lambda x: (x**3).sum(), lambda x: (3 * x).sum()])
@pytest.mark.parametrize(
    "transform",
    [
        func.vmap,
        lambda f: func.vmap(f, chunk_size=1),
        lambda f: lambda x: func.jvp(f, (x,), (x,)),
        lambda f: func.vmap(lambda x: func.grad(lambda y: f(y).sum())(x)),
        lambda f: func.vmap(func.vmap(lambda x: f(x * np.ones(2)))),
        func.jacfwd,
        func.jacrev,
    ],
)
def test_gradients_taken_inside_are_what_was_given(transform: Any, loss: Any) -> None:
    run = transform(_slope(loss))
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    plain = run(rows)
    for requires_grad in (False, True):
        found = run(ag.tensor(rows, requires_grad=requires_grad))
        for array, tensor in zip(_each(plain), _each(found), strict=True):
            assert isinstance(array, np.ndarray)
            assert isinstance(tensor, ag.Tensor)
            assert type(tensor.array) is np.ndarray
            assert tensor.tolist() == array.tolist()


def _each(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)
