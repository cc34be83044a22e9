"""`arraygrad.scipy.integrate`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import scipy.integrate
from scipy_checks import Case, crossed

import arraygrad as ag
from arraygrad.errors import DataDependentError, NotASolutionError, SingularError
from arraygrad.func import grad, hessian, jacfwd, jacrev, vmap
from arraygrad.scipy import integrate
from arraygrad.scipy.integrate import long_states, long_times, march, steps

P2 = np.array([1.3, 0.7])
T = np.linspace(0.0, 1.0, 4)
X5 = np.linspace(0.0, 1.0, 5)
FINE = {"rtol": 1e-10, "atol": 1e-12}


def spring(t: Any, y: Any, a: Any, b: Any) -> Any:
    return np.array([y[1], -a * y[0] - b * y[1] ** 3 + np.cos(t)])


def oscillation(m: Any, p: Any, method: str = "RK45", **keywords: Any) -> Any:
    """By `args`, the initial state, and both ends."""
    span = (0.1 * p[0], 1 + 0.1 * p[1])
    found = m.solve_ivp(spring, span, [p[0], 0.5], method, args=(p[0], p[1]), **FINE | keywords)
    return np.concatenate([found.y[:, -1], found.y[:, 0], found.t[-1:]])


def decay(m: Any, p: Any, method: str = "DOP853", **keywords: Any) -> Any:
    """By a closure, at given times."""

    def f(t: Any, y: Any) -> Any:
        return -p[0] * y + p[1] * np.sin(t) * y[::-1]

    return m.solve_ivp(f, (0, 1), [1.0, 0.5], method, t_eval=T, **FINE | keywords).y


def stiff(m: Any, p: Any, method: str) -> Any:
    def f(t: Any, y: Any) -> Any:
        return [-9 * p[0] * y[0] + y[1], p[1] * y[0] - y[1] ** 2]

    return m.solve_ivp(f, (0, 1), [1.0, p[0]], method, t_eval=T, rtol=1e-7, atol=1e-9).y


def falling(m: Any, p: Any, **keywords: Any) -> Any:
    def f(t: Any, y: Any) -> Any:
        return [y[1], -9.81 - p[0] * y[1] ** 3 / (1 + y[1] ** 2)]

    def ground(t: Any, y: Any) -> Any:
        return y[0] - 0.1 * p[1]

    def top(t: Any, y: Any) -> Any:
        return y[1]

    ground.terminal, ground.direction = True, -1  # type: ignore[attr-defined]
    found = m.solve_ivp(f, (0, 9), [1.0, 3 * p[1]], events=[top, ground], **FINE | keywords)
    events = [*found.t_events, *[np.ravel(y) for y in found.y_events]]
    return np.concatenate([*events, found.t[-1:], found.y[:, -1]])


def switched(m: Any, p: Any) -> Any:
    def f(t: Any, y: Any) -> Any:
        if t < 0.5:
            return -p[0] * y
        return p[1] * y if y[0] > 0 else -y

    return m.solve_ivp(f, (0, 1), [1.0], max_step=0.125, t_eval=T, **FINE).y


def rotating(m: Any, p: Any) -> Any:
    def f(t: Any, y: Any) -> Any:
        return 1j * p[0] * y - p[1] * y * np.abs(y) ** 2

    y = m.solve_ivp(f, (0, 1), np.array([1.0 + 0.5j, 0.3j]), t_eval=T, **FINE).y
    return np.concatenate([y.real, y.imag])


def columns(m: Any, p: Any) -> Any:
    def f(t: Any, y: Any) -> Any:
        return np.stack([y[1], -p[0] * np.sin(y[0]) - p[1] * y[1]])

    return m.solve_ivp(
        f, (1, 0), [1.0, 0.0], "Radau", T[::-1], vectorized=True, rtol=1e-7, atol=1e-9
    ).y


def continuous(m: Any, p: Any) -> Any:
    sol = m.solve_ivp(spring, (0, 1), p, dense_output=True, args=(1.0, 0.5), **FINE).sol
    return np.concatenate([sol(0.3), np.ravel(sol(p / 2)), sol(0.5 * p[0])])


def lsoda(m: Any, p: Any) -> Any:
    return m.odeint(spring, p, T, (p[0], p[1]), tfirst=True, rtol=1e-11, atol=1e-12)


def times(m: Any, p: Any) -> Any:
    return m.odeint(
        lambda y, t: -p[0] * y + np.sin(t), 1.0, np.stack([0 * p[0], p[0], p[1] + 1]), rtol=1e-11
    )


def bump(x: Any, a: Any, b: Any) -> Any:
    return np.exp(-a * x**2) * np.cos(b * x)


def corner(x: Any, a: Any, b: Any) -> Any:
    return x**a if x < b else b * np.exp(b - x)


def growth(p: Any) -> Any:
    return lambda x: np.exp(-x * p) * np.sin(x)


def chain(m: Any, p: Any) -> Any:
    def fun(x: Any, y: Any) -> Any:
        return np.vstack([y[1], p[0] * np.exp(-y[0])])

    def bc(a: Any, b: Any) -> Any:
        return np.array([a[0] - p[1], b[0] + b[1]])

    found = m.solve_bvp(fun, bc, np.linspace(0, 1, 8), np.zeros((2, 8)), tol=1e-9)
    return np.concatenate([found.y[:, 0], found.y[:, -1], found.sol(0.4), found.yp[:, 0]])


def sphere(m: Any, p: Any) -> Any:
    """Diffusion and reaction in a sphere: y'' + 2 y' / x = p₀ y³, and p₁ at the surface."""
    found = m.solve_bvp(
        lambda x, y: np.stack([y[1], p[0] * y[0] ** 3]),
        lambda a, b: np.stack([a[1], b[0] - p[1]]),
        np.linspace(0.0, 1.0, 5),
        np.stack([np.ones(5), np.zeros(5)]),
        S=np.array([[0.0, 0.0], [0.0, -2.0]]),
        tol=1e-9,
    )
    return np.stack([found.y[0, 0], found.y[1, -1]])


def eigenvalue(m: Any, p: Any) -> Any:
    def fun(x: Any, y: Any, k: Any) -> Any:
        return np.stack([y[1], -(k[0] ** 2) * y[0] * (1 + p[0] * x)])

    def bc(a: Any, b: Any, k: Any) -> Any:
        return np.stack([a[0], b[0], a[1] - k[0]])

    x = (
        np.stack([0 * p[1], 0.3 + 0 * p[1], 0.6 + 0 * p[1], p[1]])
        if hasattr(p, "level")
        else [0, 0.3, 0.6, p[1]]
    )
    start = np.sin(np.array([[0, 1.0, 2.0, 3.0], [1.5, 2.5, 3.5, 4.5]]))
    return m.solve_bvp(fun, bc, x, start, [4.0], tol=1e-8).p


def damped_wave(m: Any, p: Any) -> Any:
    found = m.solve_bvp(
        lambda x, y: np.stack([y[1], (1j * p[1] - p[0] * (1 + x)) * y[0]]),
        lambda a, b: np.stack([a[0] - 1j * p[1], b[0] - p[0]]),
        np.linspace(0.0, 1.0, 11),
        np.zeros((2, 11), complex),
        tol=1e-8,
    )
    y = np.concatenate([found.y[:, -1], np.ravel(found.sol(X5))])
    return np.concatenate([y.real, y.imag])


ADAPTED = {"tolerance": 1e-5, "second": 1e-5, "step": 1e-3}  # the steps change with the parameters


def forced(m: Any, p: Any) -> Any:
    def force(t: Any) -> Any:
        return m.quad(lambda s: p[0] * np.sin(s * t), 0, p[1])[0]

    return m.solve_ivp(lambda t, y: force(t) - y, (0, 1), [1.0], t_eval=[0.5, 1.0], rtol=1e-6).y


ROUGH: Any = {"tolerance": 1e-4, "second": 1e-3, "step": 1e-2, "skip": ("batch",)}
COARSE = {"rtol": 1e-8, "atol": 1e-9}
CASES = [
    Case("RK45-ends", oscillation, P2, **ADAPTED, skip=("batch",)),
    Case("BDF-ends", functools.partial(oscillation, method="BDF", **COARSE), P2, **ROUGH),
    Case(
        "LSODA-ends", functools.partial(oscillation, method="LSODA"), P2, **ADAPTED, skip=("batch",)
    ),
    Case("RK45", functools.partial(decay, method="RK45"), P2, **ADAPTED),
    Case("RK23", functools.partial(decay, method="RK23", rtol=1e-7), P2, **ADAPTED),
    Case("DOP853", decay, P2, **ADAPTED),
    Case("Radau", functools.partial(stiff, method="Radau"), P2, **ADAPTED),
    Case("BDF", functools.partial(stiff, method="BDF"), P2, **ADAPTED),
    Case("LSODA", functools.partial(decay, method="LSODA"), P2, **ADAPTED),
    Case("events", functools.partial(falling, t_eval=[0.0, 0.1]), P2, **ADAPTED | {"step": 1e-2}),
    Case("events-BDF", functools.partial(falling, method="BDF", **COARSE), P2, **ROUGH),
    Case("events-end", falling, P2, **ADAPTED | {"step": 1e-2}, skip=("batch",)),
    Case("branches", switched, P2, **ADAPTED, skip=("batch",)),
    Case("complex", rotating, P2, **ADAPTED),
    Case("vectorized-backward", columns, P2, **ADAPTED),
    Case("dense_output", continuous, P2, **ADAPTED, skip=("batch",)),
    Case("odeint", lsoda, P2, **ADAPTED),
    Case("odeint-times", times, P2, **ADAPTED),
    Case("solve_bvp", chain, P2, skip=("batch",)),
    Case("solve_bvp-singular-term", sphere, P2, skip=("batch",)),
    Case("solve_bvp-complex", damped_wave, P2, **ADAPTED, skip=("batch",)),
    Case("solve_bvp-parameter", eigenvalue, P2, **ADAPTED, skip=("batch",)),
    Case("quad-ends", lambda m, p: m.quad(lambda x: bump(x, *p), -p[0], p[1] ** 2)[0], P2),
    Case("quad", lambda m, p: m.quad(bump, 0, 1, (p[0], p[1]))[0], P2),
    Case("quad-closure", lambda m, p: m.quad(lambda x: bump(x, *p), 1, -1)[0], P2),
    Case("quad-half-line", lambda m, p: m.quad(bump, p[1], np.inf, (p[0], p[1]))[0], P2),
    Case("quad-line", lambda m, p: m.quad(bump, -np.inf, np.inf, (p[0], p[1]))[0], P2),
    Case("quad-left", lambda m, p: m.quad(bump, -np.inf, p[0], (p[0], p[1]))[0], P2),
    Case("quad-singular", lambda m, p: m.quad(lambda x: x ** (-p[1]) * p[0], 0, 1)[0], P2),
    Case(
        "quad-branches",
        lambda m, p: m.quad(corner, 0, 1, (p[0], 0.5), points=[0.5])[0],
        P2,
        skip=("batch",),
    ),
    Case(
        "quad-cauchy",
        lambda m, p: m.quad(bump, -p[0], p[1], (p[0], p[1]), weight="cauchy", wvar=p[1] / 3)[0],
        P2,
    ),
    *[
        Case(
            f"quad-{wave}-half-line",
            lambda m, p, wave=wave: m.quad(
                lambda x: np.exp(-p[0] * x), p[1], np.inf, weight=wave, wvar=2 * p[0]
            )[0],
            P2,
        )
        for wave in ("cos", "sin")
    ],
    Case("quad-cos", lambda m, p: m.quad(np.exp, 0, p[1], weight="cos", wvar=9 * p[0])[0], P2),
    Case(
        "quad-alg", lambda m, p: m.quad(np.cos, 0, 1, weight="alg", wvar=(-p[1] / 2, p[0]))[0], P2
    ),
    Case(
        "quad-alg-ends",
        lambda m, p: m.quad(np.cos, -p[0], p[1], weight="alg-log", wvar=(-p[1] / 2, 0.4))[0],
        P2,
    ),
    Case(
        "quad-complex",
        lambda m, p: np.real(
            m.quad(lambda x: p[0] * np.exp(1j * p[1] * x), 0, 1, complex_func=True)[0]
        ),
        P2,
    ),
    Case(
        "dblquad",
        lambda m, p: m.dblquad(lambda y, x: np.exp(-p[0] * x * y), 0, 1, 0, lambda x: p[1] * x)[0],
        P2,
    ),
    Case(
        "nquad",
        lambda m, p: m.nquad(lambda x, y, a: np.sin(a * x) + y**2, [[0, p[1]], [0, 1]], (p[0],))[0],
        P2,
    ),
    Case("quad-in-solve_ivp", forced, P2, **ADAPTED),
    Case("quad_vec", lambda m, p: m.quad_vec(growth(p), 0, 1)[0], P2),
    Case("quad_vec-half-line", lambda m, p: m.quad_vec(growth(p), p[0], np.inf)[0], P2),
    Case(
        "quad_vec-line",
        lambda m, p: m.quad_vec(lambda x: np.exp(-p * x**2) * (x + 1), -np.inf, np.inf)[0],
        P2,
    ),
    Case("fixed_quad", lambda m, p: m.fixed_quad(bump, 0, p[1], (p[0], p[1]), 7)[0], P2),
    Case("trapezoid", lambda m, p: m.trapezoid(np.exp(p[0] * T), T**2 * p[1]), P2),
    Case("simpson", lambda m, p: m.simpson(np.exp(p[0] * T), x=p[1] * np.exp(T * p[0])), P2),
    Case("simpson-odd", lambda m, p: m.simpson(np.exp(p[0] * X5), dx=p[1]), P2),
    Case(
        "cumulative_simpson",
        lambda m, p: m.cumulative_simpson(np.exp(p[0] * T), x=p[1] * np.exp(T), initial=0.0),
        P2,
    ),
    Case(
        "cumulative_trapezoid",
        lambda m, p: m.cumulative_trapezoid(np.outer(p, T**2), dx=p[0], axis=0, initial=0),
        P2,
    ),
    Case("romb", lambda m, p: m.romb(np.exp(np.outer(X5, p)), p[1], axis=0), P2),
]


@crossed(CASES)
def test_derivatives(check: Any, call: Case) -> None:
    check(call, integrate, scipy.integrate)


def heat(p: Any, method: str, n: int) -> Any:
    def f(t: Any, y: Any) -> Any:
        change = p[0] * (np.roll(y, 1) + np.roll(y, -1) - 2 * y) + p[1] * t * np.sin(y)
        return change if t < 0.5 else change * p[1]

    y0 = np.sin(np.arange(float(n)) * p[0])
    return (integrate.solve_ivp(f, (0, 1), y0, method, t_eval=T, rtol=1e-4).y ** 2).sum()


@pytest.mark.parametrize("method", ["RK45", "Radau"])
# The Jacobian of 48 numbers has five colours: few enough to use its entries only.
@pytest.mark.parametrize("n", [4, 48], ids=["dense", "sparse"])
def test_long_states(method: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    function = functools.partial(heat, method=method, n=n)
    monkeypatch.setattr(march, "_LONG", (100, 100))
    expected = grad(function)(P2), jacfwd(function)(P2), hessian(function)(P2)
    monkeypatch.setattr(march, "_MOST", 0)
    monkeypatch.setattr(long_states, "_CHUNK", 2000)
    found = grad(function)(P2), jacfwd(function)(P2), hessian(function)(P2)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    monkeypatch.setattr(long_states, "_NARROW", 0)  # not as a band
    np.testing.assert_allclose(grad(function)(P2), expected[0], rtol=1e-9)
    np.testing.assert_allclose(jacfwd(function)(P2), expected[1], rtol=1e-9)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
@pytest.mark.parametrize("stiffness", [1.0, 1e4])
def test_steps_one_by_one_and_all_at_once(
    method: str, stiffness: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(6, 6)) / 3 - np.diag(np.geomspace(1.0, stiffness, 6))
    start = rng.normal(size=6)

    def end(p: Any) -> Any:
        def f(t: Any, y: Any) -> Any:
            return p[0] * np.tanh(matrix @ y) + np.sin(p[1] * t)

        return integrate.solve_ivp(f, (0, 3), start, method=method, rtol=1e-5).y[:, -1]

    p = np.array([1.2, 0.7])
    found = [jacrev(end)(p), jacfwd(end)(p)]
    monkeypatch.setattr(march, "_MOST", 0)
    found += [jacrev(end)(p), jacfwd(end)(p)]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-8, atol=1e-10)


def lorenz(p: Any, method: str = "RK45") -> Any:
    def f(t: Any, y: Any) -> Any:
        return np.stack([p[0] * (y[1] - y[0]), y[0] * (2 - y[2]) - y[1], y[0] * y[1] - p[1] * y[2]])

    span, at = (0.0, -1 - p[0]), np.stack([-0.3 * p[0], -0.31 * p[0], 0 * p[0] - 1, -1 - p[0]])
    found = integrate.solve_ivp(f, span, [1.0, p[1], 0.0], method, t_eval=at, rtol=1e-4)
    return (found.y**2).sum()


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_many_steps(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    p = ag.tensor(P2)
    chaos = functools.partial(lorenz, method=method)
    expected = chaos(p), grad(chaos)(P2), jacfwd(chaos)(P2), hessian(chaos)(P2)
    _compute_stages_again(monkeypatch)
    found = chaos(p), grad(chaos)(P2), jacfwd(chaos)(P2), hessian(chaos)(P2)
    assert found[0].item() == expected[0].item()
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def _compute_stages_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_MOST", "_MOST_LONG", "_MOST_IMPLICIT"):
        monkeypatch.setattr(steps, name, 0)
    monkeypatch.setattr(long_times, "_SHORT", 80)
    monkeypatch.setattr(long_times, "_PARTS", 3)


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_many_implicit_steps(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(p: Any) -> Any:
        def f(t: Any, y: Any) -> Any:
            return [-9 * p[0] * y[0] + y[1], p[1] * y[0] - y[1] ** 2]

        found = integrate.solve_ivp(f, (0, 1), [1.0, p[0]], method, t_eval=[0.5, 1.0], rtol=1e-3)
        return (found.y**2).sum()

    expected = end(ag.tensor(P2)).item(), grad(end)(P2), jacfwd(end)(P2)
    _compute_stages_again(monkeypatch)
    found = end(ag.tensor(P2)).item(), grad(end)(P2), jacfwd(end)(P2)
    assert found[0] == expected[0]
    np.testing.assert_allclose(found[1], expected[1], rtol=2e-2)
    np.testing.assert_allclose(found[2], found[1], rtol=1e-9)


def test_many_steps_that_cannot_be_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(a: Any) -> Any:
        def f(t: Any, y: Any) -> Any:
            return -a * y if t < 0.5 else a * y

        return integrate.solve_ivp(f, (0, 1), [1.0], t_eval=[1.0]).y[0, 0]

    def turned(a: Any) -> Any:
        found = integrate.solve_ivp(lambda t, y: 1j * a * y, (0, 1), [1 + 0j], t_eval=[1.0])
        return np.abs(found.y[0, 0] - 1)

    def both(a: Any) -> Any:
        return vmap(turned)(a * np.array([1.0, 2.0])).sum()

    for function in (end, turned, both):
        expected = grad(function)(0.7)
        with monkeypatch.context() as patch:
            patch.setattr(steps, "_MOST", 0)
            np.testing.assert_allclose(grad(function)(0.7), expected, rtol=1e-12)


def test_results_are_scipys_objects() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    own, scipys = (
        m.solve_ivp(lambda t, y: -2.0 * y, (0, 1), [1.0], dense_output=True)
        for m in (integrate, scipy.integrate)
    )
    assert type(own) is type(scipys)
    assert own.nfev == scipys.nfev
    assert np.array_equal(own.y, scipys.y)
    found = integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], dense_output=True)
    assert type(found) is type(scipys)
    assert found.nfev == scipys.nfev
    assert found.sol(0.5).requires_grad
    assert found.sol.t_max == 1.0
    value, error = integrate.quad(lambda x: a * x, 0, 1)
    assert value.requires_grad
    assert isinstance(error, float)
    assert type(integrate.quad(lambda x: x, 0, 1)[0]) is float


def test_a_solver_that_fails_is_refused() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    with pytest.raises(NotASolutionError, match="step size"):
        integrate.solve_ivp(lambda t, y: a * y**2, (0, 2), [1.0])


def test_what_has_no_values_yet_is_refused() -> None:
    def end(a: Any) -> Any:
        return integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0]).y[0, -1]

    with pytest.raises(DataDependentError, match="compile the function that the solver calls"):
        ag.compile(end)(np.array(0.5))


def test_a_continuous_solution_of_a_batch_is_refused() -> None:
    def middle(a: Any) -> Any:
        found = integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], dense_output=True)
        return found.sol(0.5)

    with pytest.raises(ValueError, match="cannot be called under vmap"):
        vmap(middle)(np.array([0.5, 1.0]))


def test_no_times() -> None:
    a = ag.tensor(0.5, requires_grad=True)
    found = integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], t_eval=[])
    assert len(found.t) == len(found.y) == 0


def test_an_event_without_a_slope_is_refused() -> None:
    def jumps(t: Any, y: Any) -> Any:
        return np.sign(y[0] - 0.5)

    def time_of(a: Any) -> Any:
        found = integrate.solve_ivp(lambda t, y: [a], (0, 1), [0.0], events=jumps)
        return found.t_events[0][0]

    with pytest.raises(SingularError, match="singular"):
        grad(time_of)(0.7)


def test_members_of_a_batch_take_their_own_steps() -> None:
    with pytest.raises(ValueError, match="t_eval"):
        vmap(grad(lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0, 9), [1.0]).y[0, -1]))(
            np.array([1.0, 30.0])
        )


def test_integrals_that_cannot_be_differentiated_are_refused() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    far = lambda x: a / (1 + (5 * x - 200) ** 2)  # noqa: E731
    with pytest.raises(NotASolutionError, match="Split the range"):
        integrate.quad(far, 0, np.inf, weight="cos", wvar=9.0)
    with pytest.raises(NotASolutionError, match="points="):
        integrate.quad(lambda x: a * np.abs(x - 0.3) ** -0.9, 0, 1, epsabs=1e-3, epsrel=1e-3)[
            0
        ].backward()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("integrand", "at", "expected"),
    [
        (lambda x, a: 1 + a / np.sqrt(x), 0.0, 2.0),  # singular, where the value is not
        (lambda x, a: x**a, 0.0, -1.0),
        (lambda x, a: 1 + a * np.exp(-(((x - 0.3) / 1e-2) ** 2)), 0.0, 1e-2 * np.sqrt(np.pi)),
        (lambda x, a: a * np.exp(-(((x - 0.3) / 1e-3) ** 2)), 0.0, 1e-3 * np.sqrt(np.pi)),
        (lambda x, a: np.abs(x - a), 0.3, -0.4),
        (lambda x, a: np.abs(x - a), 0.4999, -0.0002),  # between the points of two intervals
        (lambda x, a: np.abs(x - a), 0.9999, 0.9998),  # beyond the last point
        (lambda x, a: x**a, -0.9, -100.0),
        (lambda x, a: np.where(x > a, x - a, 0.0), 0.3, -0.7),
        (lambda x, a: x - a if x > a else 0 * x, 0.3, -0.7),
        (lambda x, a: np.where(x > 0.3, a * x, 0.0), 1.0, 0.455),
    ],
)
def test_derivatives_are_resolved_where_the_integral_is(
    integrand: Any, at: float, expected: float
) -> None:
    for function in (integrate.quad, integrate.quad_vec):
        found = grad(lambda a, f=function: f(lambda x: integrand(x, a), 0, 1)[0])(at)
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("integrand", "at", "expected"),
    [
        (lambda x, a: 1 + a**2 / np.sqrt(x), 0.0, 4.0),  # singular, where the others are not
        (lambda x, a: x**a, 0.0, 2.0),
        (lambda x, a: 1 + (a * np.exp(-(((x - 0.3) / 1e-3) ** 2) / 2)) ** 2, 0.0, 3.5449077e-3),
        (lambda x, a: np.maximum(x - a, 0.0) ** 2, 0.3, 1.4),
        (lambda x, a: np.where(x > a, (x - a) ** 2, 0.0), 0.3, 1.4),
    ],
)
def test_second_derivatives_are_resolved_where_the_first_are(
    integrand: Any, at: float, expected: float
) -> None:
    for function in (integrate.quad, integrate.quad_vec):

        def integral(a: Any, f: Any = function) -> Any:
            return f(lambda x: integrand(x, a), 0, 1)[0]

        for second in (grad(grad(integral)), jacfwd(jacfwd(integral)), jacfwd(grad(integral))):
            assert second(at) == pytest.approx(expected, rel=1e-6)
        found = vmap(grad(grad(integral)))(np.full(2, at))
        assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("weight", "wvar", "end"), [("alg", (0.5, 0.5), 0.0), ("cauchy", 0.2, -1.0), ("cos", 5.0, 0.0)]
)
def test_derivatives_with_a_weight_are_resolved(weight: str, wvar: Any, end: float) -> None:
    def integral(function: Any) -> Any:
        return integrate.quad(function, end, 1, weight=weight, wvar=wvar)[0]

    for part in (lambda x: np.exp(-(((x - 0.3) / 1e-2) ** 2)), lambda x: np.abs(x - 0.45)):
        found = grad(lambda a, f=part: integral(lambda x: 1 + a * f(x)))(0.0)
        assert found == pytest.approx(integral(part), rel=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_derivatives_that_do_not_exist_are_refused() -> None:
    with pytest.raises(NotASolutionError, match="split the range"):
        grad(lambda a: integrate.quad(lambda x: 1 + a / x, 0, 1)[0])(0.0)
    for jump in (
        lambda x, a: np.where(x > a, x, 0.0),
        lambda x, a: x if x > a else 0 * x,
        lambda x, a: np.sign(x - a),
        lambda x, a: np.floor(x / a) * x,
        lambda x, a: x % a,
    ):
        with pytest.raises(SingularError, match=r"jumps near x = 0\.[23]"):
            grad(lambda a, f=jump: integrate.quad(lambda x: f(x, a), 0, 1)[0])(0.3)
    for kink in (
        lambda x, a: np.abs(x - a),
        lambda x, a: np.maximum(x, a) * a,
        lambda x, a: np.where(x > a, x - a, 0.0),
    ):

        def integral(a: Any, f: Any = kink) -> Any:
            return integrate.quad(lambda x: f(x, a), 0, 1)[0]

        for second in (grad(grad(integral)), jacfwd(jacfwd(integral)), hessian(integral)):
            with pytest.raises(SingularError, match=r"jumps near x = 0\.[23]"):
                second(0.3)
        with pytest.raises(SingularError, match=r"jumps near x = 0\.[23]"):
            vmap(hessian(integral))(np.array([0.3, 0.31]))

    def branch(a: Any) -> Any:
        return integrate.quad(lambda x: (x - a) * a if x > a else 0 * x, 0, 1)[0]

    assert grad(branch)(0.3) == pytest.approx(0.245 - 0.21, rel=1e-6)
    with pytest.raises(NotImplementedError, match=r"quad, which jumps near x = 0\.[23]"):
        grad(grad(branch))(0.3)
    assert np.isnan(jacfwd(jacfwd(branch))(0.3))
    assert np.isnan(jacfwd(grad(branch))(0.3))


def test_ends_of_any_order() -> None:
    function = lambda b: integrate.quad(np.exp, 0.0, b)[0]  # noqa: E731
    for _ in range(10):
        function = jacfwd(function)
    assert function(0.5) == pytest.approx(np.exp(0.5), rel=1e-9)


@pytest.mark.parametrize("method", ["RK45", "LSODA"])
def test_a_jump_at_a_time_that_depends_on_parameters_is_refused(method: str) -> None:
    def final(rates: Any) -> Any:
        return lambda a: integrate.solve_ivp(
            lambda t, y: rates(t, y, a), (0, 1), [1.0], method, rtol=1e-8, atol=1e-8
        ).y[0, -1]

    with pytest.raises(SingularError, match=r"jumps near t = 0\.5"):
        grad(final(lambda t, y, a: np.where(t < a, -y, 2 * y)))(0.5)
    with pytest.raises(SingularError, match=r"jumps near t = 0\.4"):  # by the state
        grad(final(lambda t, y, a: -a * y if y[0] > 0.8 else -3 * y))(0.5)
    # A jump at a given time, and a kink, shift nothing.
    slope = grad(final(lambda t, y, a: np.where(t < 0.5, -a * y, 2 * y)))(0.5)
    assert slope == pytest.approx(-0.5 * np.exp(-0.25 + 1), rel=1e-6)
    slope = grad(final(lambda t, y, a: np.where(t < a, -y, -y + (t - a))))(0.5)
    assert slope == pytest.approx(-(1 - np.exp(-0.5)), rel=1e-3)
