"""The checks that every differentiable function of SciPy has to pass. The cases are in `scipy/`.

A case is a function of a module, SciPy's own or arraygrad's, and of a vector of parameters.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from rows import Row, over

import arraygrad as ag
from arraygrad.func import jacfwd, jacrev, jvp, vmap


@dataclass(eq=False)
class Case:
    """A call of a function of SciPy, to be compared with finite differences of SciPy's own.

    Attributes
    ----------
    call : callable
        ``call(module, parameters)`` returns an array.
    at : array
        The parameters.
    step, tolerance : float
        The step of the finite differences, and how far these may be off.
    second : float
        How far finite differences of our own first derivatives may be from the second.
    value : float
        How far the value may be from SciPy's, where SciPy solves by differences.
    skip : tuple of str
        The checks that do not apply.
    """

    name: str
    call: Callable[[Any, Any], Any]
    at: Any
    step: float = 1e-4
    tolerance: float = 1e-6
    second: float = 1e-6
    value: float = 0.0
    skip: tuple[str, ...] = field(default=())


def _differences(function: Callable[[Any], Any], at: Any, step: float) -> Any:
    """The Jacobian by central differences of the fourth order."""
    columns = []
    for k in range(at.size):
        e = np.zeros(at.size)
        e[k] = step
        near = function(at + e) - function(at - e)
        far = function(at + 2 * e) - function(at - 2 * e)
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=-1)


@functools.lru_cache(1)  # the checks of a case follow each other
def _scipys_value(case: Case, scipys: Any) -> Any:
    return np.asarray(case.call(scipys, case.at))


@functools.lru_cache(1)
def _jacobian(case: Case, own: Any) -> Any:
    return np.asarray(jacrev(lambda p: case.call(own, p))(case.at))


def _assert_same(case: Case, found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=case.value, atol=case.value)


def _value(case: Case, own: Any, scipys: Any) -> None:
    expected = _scipys_value(case, scipys)
    _assert_same(case, case.call(own, case.at), expected)
    leaf = ag.tensor(case.at, requires_grad=True)
    found = case.call(own, leaf)
    assert found.requires_grad
    _assert_same(case, found.detach().numpy(), expected)


def _first(case: Case, own: Any, scipys: Any) -> None:
    reference = _differences(lambda p: np.asarray(case.call(scipys, p)), case.at, case.step)
    np.testing.assert_allclose(
        _jacobian(case, own), reference, rtol=case.tolerance, atol=case.tolerance
    )


def _modes(case: Case, own: Any, scipys: Any) -> None:
    def function(p: Any) -> Any:
        return case.call(own, p)

    reverse = _jacobian(case, own)
    np.testing.assert_allclose(jacfwd(function)(case.at), reverse, rtol=1e-8, atol=1e-9)
    value, tangent = jvp(function, (case.at,), (np.ones(case.at.size),))
    _assert_same(case, value, _scipys_value(case, scipys))
    np.testing.assert_allclose(tangent, reverse.sum(-1), rtol=1e-8, atol=1e-9)
    leaf = ag.tensor(case.at, requires_grad=True)
    by_hand = ag.grad(ag.sum(function(leaf)), leaf)
    summed = reverse.reshape(-1, case.at.size).sum(0)
    np.testing.assert_allclose(by_hand.numpy(), summed, rtol=1e-8, atol=1e-9)


def _second(case: Case, own: Any, scipys: Any) -> None:
    def total(p: Any) -> Any:
        return ag.sum(case.call(own, p))

    reference = _differences(jacrev(total), case.at, case.step)
    close = {"rtol": case.second, "atol": case.second}
    np.testing.assert_allclose(jacfwd(jacrev(total))(case.at), reference, **close)
    np.testing.assert_allclose(jacrev(jacrev(total))(case.at), reference, **close)
    np.testing.assert_allclose(jacrev(jacfwd(total))(case.at), reference, **close)
    leaf = ag.tensor(case.at, requires_grad=True)
    first = ag.grad(total(leaf), leaf, create_graph=True)
    by_hand = ag.grad(ag.sum(first), leaf, materialize_grads=True).numpy()
    np.testing.assert_allclose(by_hand, reference.sum(0), **close)


def _batch(case: Case, own: Any, scipys: Any) -> None:
    def function(p: Any) -> Any:
        return case.call(own, p)

    members = np.stack([case.at, case.at * (1 + 1e-3), case.at * (1 - 2e-3)])
    others = [np.asarray(case.call(scipys, p)) for p in members[1:]]
    values = np.stack([_scipys_value(case, scipys), *others])
    _assert_same(case, vmap(function)(members), values)
    expected = np.stack([_jacobian(case, own), *(jacrev(function)(p) for p in members[1:])])
    close = {"rtol": 1e-8, "atol": 1e-9}
    np.testing.assert_allclose(vmap(jacrev(function))(members), expected, **close)
    np.testing.assert_allclose(vmap(jacfwd(function))(members), expected, **close)
    outside = jacrev(lambda m: ag.sum(vmap(function)(m)))(members)
    np.testing.assert_allclose(outside, expected.reshape(3, -1, case.at.size).sum(1), **close)


CHECKS = {"value": _value, "first": _first, "modes": _modes, "second": _second, "batch": _batch}


def crossed(cases: list[Case]) -> pytest.MarkDecorator:
    """Arguments `check` and `call` for a test: each check that applies to each case."""
    return over(
        "check, call",
        [
            Row(case.name.split("-")[0], f"{case.name}-{name}", (check, case), variant=name)
            for case in cases
            for name, check in CHECKS.items()
            if name not in case.skip
        ],
    )
