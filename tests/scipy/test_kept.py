"""What a function keeps from one call to the next: it depends on what it was computed from."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import func
from arraygrad.errors import NoGradientError
from arraygrad.scipy import integrate, interpolate, optimize


def _dictionary(a: Any) -> Callable[..., Any]:
    kept: dict[str, Any] = {}

    def get(x: Any) -> Any:
        if "a" not in kept:
            kept["a"] = 2 * a
        return kept["a"] / 2

    return get


def _list(a: Any) -> Callable[..., Any]:
    kept: list[Any] = []

    def get(x: Any) -> Any:
        kept.append(kept[-1] if kept else a * 1)
        return kept[-1]

    return get


def _variable(a: Any) -> Callable[..., Any]:
    kept = None

    def get(x: Any) -> Any:
        nonlocal kept
        kept = np.sqrt(a) if kept is None else kept
        return kept**2

    return get


def _attribute(a: Any) -> Callable[..., Any]:
    kept = SimpleNamespace()

    def get(x: Any) -> Any:
        if not hasattr(kept, "a"):
            kept.a = a + 0
        return kept.a

    return get


def _default(a: Any) -> Callable[..., Any]:
    def get(x: Any, kept: Any = {}) -> Any:  # noqa: B006
        return kept.setdefault("a", a * 1)

    return get


def _by_place(a: Any) -> Callable[..., Any]:
    kept: dict[bool, Any] = {}

    def get(x: Any) -> Any:
        key = bool(np.sum(x) > 0.75)
        if key not in kept:
            kept[key] = a * (3 if key else 4) / 4
        return kept[key] * 4 / (3 if key else 4)

    return get


def _spline(a: Any) -> Callable[..., Any]:
    kept: list[Any] = []

    def get(x: Any) -> Any:
        if not kept:
            kept.append(interpolate.CubicSpline([0.0, 1.0, 2.0], np.stack([a * 0, a, 2 * a])))
        return kept[0](1.0)

    return get


KEEPS = [_dictionary, _list, _variable, _attribute, _default, _by_place, _spline]
SOLVERS: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "brentq": lambda get: optimize.brentq(lambda x: x**3 - get(x), 0, 2),
    "fsolve": lambda get: optimize.fsolve(lambda x: x**3 - get(x), [1.0])[0],
    "minimize": lambda get: optimize.minimize(lambda x: ((x - get(x)) ** 2).sum(), [0.5]).x[0],
    "least_squares": lambda get: optimize.least_squares(lambda x: x**2 - get(x), [1.0]).x[0],
    "quad": lambda get: integrate.quad(lambda x: np.exp(-get(x) * x), 0, 1)[0],
    "solve_ivp": lambda get: integrate.solve_ivp(lambda t, y: -get(t) * y, (0, 1), [1.0]).y[0, -1],
    "odeint": lambda get: integrate.odeint(lambda y, t: -get(t) * y, [1.0], [0.0, 1.0])[-1, 0],
}


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_is_kept_has_derivatives(solver: str) -> None:
    solve, a = SOLVERS[solver], 1.44
    given = func.grad(lambda a: solve(lambda x: a))(a)
    for keep in KEEPS:
        for name, derivative in {
            "reverse": lambda f: func.grad(f)(a),
            "forward": lambda f: func.jvp(f, (a,), (1.0,))[1],
            "batch": lambda f: func.vmap(func.grad(f))(np.array([a, a]))[1],
        }.items():
            if name == "batch" and keep is _by_place:  # it takes decisions
                continue
            found = derivative(lambda a, keep=keep: solve(keep(a)))
            assert found == pytest.approx(given, rel=1e-6), (keep.__name__, name)


def test_more_arguments_may_be_kept() -> None:
    def root(a: Any) -> Any:
        kept: dict[str, Any] = {}

        def f(x: Any, a: Any) -> Any:
            return x - kept.setdefault("a", 2 * a)

        return optimize.brentq(f, 0, 9, args=(a,))

    assert func.grad(root)(1.5) == 2


def _towards_the_first(y0: Any, method: str) -> Any:
    kept: list[Any] = []

    def slope(t: Any, y: Any) -> Any:
        if not kept:
            kept.append(y)
        return kept[0] / 2 - y

    return integrate.solve_ivp(slope, (0, 1), y0, method=method, rtol=1e-6).y[0, -1]


def test_the_first_argument_may_be_what_was_given() -> None:
    found = func.grad(_towards_the_first)(np.array([2.0]), "RK45")
    assert found == pytest.approx((1 + np.exp(-1)) / 2, rel=1e-5)


def test_what_is_kept_of_the_argument_is_refused() -> None:
    with pytest.raises(NoGradientError, match=r"kept an array of shape \(1,\).*detach\(\)"):
        func.grad(_towards_the_first)(np.array([2.0]), "LSODA")  # it calls with a copy


BEST: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "brentq": lambda f: optimize.brentq(f, 0, 2),
    "minimize": lambda f: optimize.minimize(lambda x: f(x[0]) ** 2, [1.0]),
    "Nelder-Mead": lambda f: optimize.minimize(lambda x: f(x[0]) ** 2, [1.0], method="Nelder-Mead"),
    "least_squares": lambda f: optimize.least_squares(f, [1.0]),
    "solve_ivp": lambda f: integrate.solve_ivp(lambda t, y: -f(y), (0, 9), [1.0]),
}


@pytest.mark.parametrize("solver", BEST)
def test_the_best_point_so_far_is_no_constant(solver: str) -> None:
    def best(a: Any) -> Any:
        kept = [np.inf, None]

        def f(x: Any) -> Any:
            value = x**2 - a
            if np.sum(abs(value)) < kept[0]:
                kept[:] = np.sum(abs(value)), x
            return value

        BEST[solver](f)
        return np.sum(kept[1] * 2.0)

    with pytest.raises(NoGradientError, match=r"kept an array .* depends on its arguments"):
        func.grad(best)(1.3)


def test_what_is_kept_may_be_compared_and_read() -> None:
    a, best, seen = ag.tensor(2.0, requires_grad=True), [np.inf], []

    def f(x: Any) -> Any:
        seen.append(x)
        value = x**2 - a
        if abs(value) < best[-1]:
            best.append(abs(value))
        return value

    assert ag.grad(optimize.brentq(f, 0, 2), a).item() == pytest.approx(8**-0.5)
    assert len(seen) > 3
    assert len(best) > 2
    assert np.array(seen[0]) == 0
    assert float(best[1]) == 2
