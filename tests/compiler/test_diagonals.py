"""Unit vectors of Jacobians: products with them are known, and take no product of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from loops_table import close
from rows import crossed

import arraygrad as ag
from arraygrad.core.memory import fix, is_fixed

_draw = np.random.default_rng(0)
W, V, X = _draw.normal(size=(7, 5)), _draw.normal(size=(6, 7)), _draw.normal(size=5)


def layers(x: Any) -> Any:
    return ag.tanh(V @ ag.tanh(W @ x))


CASES: dict[str, Any] = {
    "layers": layers,
    "several results": lambda x: (V @ ag.tanh(W @ x), ag.sin(x), x @ W.T @ V.T),
    "quotients and signs": lambda x: -(V.T @ (V @ (W @ x))) / ag.exp(W @ x),
    "einsum": lambda x: ag.einsum("ij,j->i", V, ag.einsum("ij,j->i", W, x)),
    "one row": lambda x: W[:1] @ x,
    "a part": lambda x: W[:, :3] @ ag.tanh(x)[1:4],
    "rows": lambda x: ag.stack((x, x * 2)) @ W.T,
    "a batch of matrices": lambda x: ag.stack((W, W * 2)) @ x,
    "a batch of batches": lambda x: (W * x)[:, None, :] @ V.T[:5],
    "no product": lambda x: ag.tanh(x) * 3,
    "float32": lambda x: ag.astype(W, np.float32) @ ag.astype(x, np.float32),
}


@crossed(
    name=CASES,
    transform=[ag.func.jacrev, ag.func.jacfwd],
    chunk_size=[None, 3],
)
def test_as_eager(name: str, transform: Any, chunk_size: int | None) -> None:
    f = transform(CASES[name], chunk_size=chunk_size)
    close(ag.compile(f)(X), f(X), rtol=1e-5 if name == "float32" else 1e-10)


def test_hessian() -> None:
    f = ag.func.hessian(lambda x: ag.sum(layers(x) ** 2))
    close(ag.compile(f)(X), f(X), rtol=1e-10)


def _products(f: Any, *arrays: Any) -> int:
    return str(ag.compile(f).explain(*arrays)).count("product of matrices")


def test_products_that_are_left() -> None:
    assert _products(ag.func.jacrev(lambda x: ag.tanh(W @ x)), X) == 0
    assert _products(ag.func.jacfwd(lambda x: ag.tanh(W @ x)), X) == 0
    assert _products(ag.func.jacrev(layers), X) == 1
    assert _products(ag.func.jacfwd(layers), X) == 1


def test_infinite_numbers_stay_in_their_rows() -> None:
    w = np.ones((3, 3))
    w[1, 2] = np.inf
    found = ag.compile(ag.func.jacrev(lambda x, w: w @ x))(np.ones(3), w)
    np.testing.assert_array_equal(found, w)


def test_arrays_of_users_may_change() -> None:
    units = np.eye(3)
    f = ag.compile(lambda x: units @ x)
    x = _draw.normal(size=(3, 3))
    np.testing.assert_array_equal(f(x), x)
    units[0, 1] = 2
    np.testing.assert_allclose(f(x), units @ x)


def test_which_arrays_are_fixed() -> None:
    x = np.eye(3)
    assert not is_fixed(x)
    fix(x)
    assert is_fixed(x)
    assert not is_fixed(np.eye(3))
    assert not is_fixed(x[:2])
