"""A tensor that reaches SciPy's own function: the error names the differentiable one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.optimize

import arraygrad as ag
from arraygrad.core.cpython import PORTABLE
from arraygrad.errors import NoGradientError
from arraygrad.func import grad, jvp

CALLS: dict[str, Callable[[Any], Any]] = {
    "integrate.solve_ivp": lambda a: scipy.integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0]),
    "integrate.quad": lambda a: scipy.integrate.quad(lambda x: a * x, 0, 1),
    "optimize.minimize": lambda a: scipy.optimize.minimize(lambda x: (x[0] - a) ** 2, [1.0]),
    "linalg.expm": lambda a: scipy.linalg.expm(a * np.eye(2)),
    "interpolate.CubicSpline": lambda a: scipy.interpolate.CubicSpline(
        np.arange(3.0), a * np.ones(3)
    ),
}


@pytest.mark.skipif(PORTABLE, reason="the caller is known by its frame")
@pytest.mark.parametrize("name", CALLS)
def test_the_error_names_the_differentiable_function(name: str) -> None:
    message = rf"scipy\.{name} cannot carry gradients: use arraygrad\.scipy\.{name}"
    with pytest.raises(NoGradientError, match=message):
        CALLS[name](ag.tensor(2.0, requires_grad=True))
    with pytest.raises(NoGradientError, match=message):
        grad(CALLS[name])(2.0)
    with pytest.raises(NoGradientError, match=message):
        jvp(CALLS[name], (2.0,), (1.0,))


@pytest.mark.skipif(PORTABLE, reason="the caller is known by its frame")
def test_brentq_fails_at_once() -> None:
    a, calls = ag.tensor(2.0, requires_grad=True), []

    def f(x: Any) -> Any:
        calls.append(x)
        return x**2 - a

    with pytest.raises(SystemError) as caught:  # it goes on after an exception
        scipy.optimize.brentq(f, 0, 2)
    assert len(calls) <= 2
    assert "arraygrad.scipy.optimize.brentq" in str(caught.value.__cause__)


def test_a_number_for_the_user_is_only_warned_of() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    with pytest.warns(UserWarning, match="cuts the number off"):
        scipy.optimize.brentq(lambda x: x**2 - float(a), 0, 2)
