"""A tensor that reaches SciPy's own function: the error names the differentiable one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.special
import scipy.stats

import arraygrad as ag
from arraygrad.core.cpython import PORTABLE
from arraygrad.errors import NoGradientError
from arraygrad.func import grad, jvp

CALLS: dict[str, Callable[[Any], Any]] = {
    "integrate.solve_ivp": lambda a: scipy.integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0]),
    "integrate.quad": lambda a: scipy.integrate.quad(lambda x: a * x, 0, 1),
    "optimize.minimize": lambda a: scipy.optimize.minimize(lambda x: (x[0] - a) ** 2, [1.0]),
    "optimize.brentq": lambda a: scipy.optimize.brentq(lambda x: x**2 - a, 0, 2),
    "linalg.expm": lambda a: scipy.linalg.expm(a * np.eye(2)),
    "linalg.svd": lambda a: scipy.linalg.svd(a * np.eye(2)),
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
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: scipy.signal.wiener(x), "signal.wiener has no derivative here; .*lfilter"),
        (lambda x: ag.scipy.signal.wiener(x), "wiener has no derivative here; .*lfilter"),
        (lambda x: scipy.stats.dgamma.pdf(x, 1), r"stats.dgamma.pdf has no .*gamma"),
        (lambda x: scipy.special.factorial2(x), "those in arraygrad.scipy.special.__all__"),
        (lambda x: scipy.cluster.vq.whiten(x[:, None]), "scipy.cluster.vq.whiten "),
        (
            lambda x: pytest.importorskip("pandas").DataFrame(np.eye(3)) @ x,
            r"to_numpy\(\) of what pandas has",
        ),
    ],
)
def test_the_error_says_what_can_be_used(call: Callable[[Any], Any], message: str) -> None:
    x = ag.tensor([0.1, 0.2, 0.3], requires_grad=True)
    with pytest.raises(NoGradientError, match=message):
        call(x)
    with pytest.raises((NoGradientError, TypeError), match=message):
        jvp(call, (np.ones(3),), (np.ones(3),))


@pytest.mark.skipif(PORTABLE, reason="the caller is known by its frame")
def test_functions_of_the_standard_need_a_switch_of_scipy() -> None:
    pytest.importorskip("scipy", minversion="1.17")
    if os.environ.get("SCIPY_ARRAY_API"):
        pytest.skip("the switch is on")
    with pytest.raises(NoGradientError, match=r"stats.skew .* SCIPY_ARRAY_API=1"):
        scipy.stats.skew(ag.tensor([0.1, 0.2, 0.4], requires_grad=True))


def test_a_number_for_the_user_is_only_warned_of() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    with pytest.warns(UserWarning, match="cuts the number off"):
        scipy.optimize.brentq(lambda x: x**2 - float(a), 0, 2)
