"""`arraygrad.scipy.optimize`."""

from __future__ import annotations

import functools
import math
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from scipy_checks import Case, crossed

import arraygrad as ag
from arraygrad.errors import NoGradientError, NotASolutionError, SingularError
from arraygrad.func import grad, hvp, jacrev, jvp, vmap
from arraygrad.scipy import optimize, values
from arraygrad.scipy.solutions import solution_tolerance

P2 = np.array([1.3, 0.7])
P3 = np.array([1.3, 0.7, -0.4])
X = np.linspace(0.0, 1.0, 6)
NOISY = {"step": 1e-2, "tolerance": 1e-5, "second": 1e-5}
TIGHT = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}


def cubic(x: Any, a: Any, b: Any) -> Any:
    return x**3 + a * x - b


def cubic_slope(x: Any, a: Any, b: Any) -> Any:
    return 3 * x**2 + a


def system(x: Any, p: Any) -> Any:
    return [x[0] ** 3 + p[0] * x[1] - 1, x[1] + np.sin(x[0]) * p[1]]


def bowl(x: Any, p: Any) -> Any:
    return np.sum((x - p) ** 2) + np.sum(np.sin(x) * p[::-1]) + x[0] * x[1]


def decay(x: Any, a: Any, b: Any) -> Any:
    return a * np.exp(-b * x)


def decay_slopes(x: Any, a: Any, b: Any) -> Any:
    return np.stack([np.exp(-b * x), -a * x * np.exp(-b * x)], axis=-1)


def best(m: Any, p: Any, *, tol: float = 1e-11, **keywords: Any) -> Any:
    found = m.minimize(lambda x: bowl(x, p), np.zeros(p.shape), tol=tol, **keywords)
    return np.concatenate([found.x, np.reshape(found.fun, (1,))])


def fit(m: Any, p: Any, **keywords: Any) -> Any:
    y = p[0] * np.exp(-p[1] * X) + p[2] * np.sin(5 * X)
    keywords = {"jac": decay_slopes, **TIGHT, **keywords}
    popt, pcov = m.curve_fit(decay, X, y, [1.0, 1.0], **keywords)
    return np.concatenate([popt, np.ravel(pcov)])


def squares(m: Any, p: Any, **keywords: Any) -> Any:
    def residuals(x: Any) -> Any:
        return x[0] * np.exp(-x[1] * X) - p[0] * np.exp(-p[1] * X) - p[2] * np.sin(5 * X)

    def slopes(x: Any) -> Any:
        return decay_slopes(X, *x)

    found = m.least_squares(residuals, [1.0, 1.0], slopes, **TIGHT, **keywords)
    return np.concatenate([found.x, np.reshape(found.cost, (1,))])


MATRIX = np.random.default_rng(0).normal(size=(6, 3))


def _own_loss(z: Any, a: Any) -> Any:
    return np.stack([np.log1p(a * z), a / (1 + a * z), -(a**2) / (1 + a * z) ** 2])


def linear(m: Any, p: Any) -> Any:
    found = m.lsq_linear(MATRIX * p[0], np.sin(p[1] * np.arange(6.0)), ([-1, -1, p[2]], [1, 1, 1]))
    return np.concatenate([found.x, np.reshape(found.cost, (1,))])


def positive(m: Any, p: Any) -> Any:
    x, norm = m.nnls(MATRIX, np.cos(p[0] * np.arange(6.0)) + p[1])
    return np.concatenate([x, np.reshape(norm, (1,))])


def rising_fit(m: Any, p: Any, increasing: bool) -> Any:
    found = m.isotonic_regression(
        p[0] * X**2 - np.sin(5 * p[1] * X), weights=p[2] ** 2 + X**2, increasing=increasing
    )
    return found.x.sum() + (found.x**2).sum() + (found.weights**2).sum()


def program(m: Any, p: Any) -> Any:
    found = m.linprog([-1.0, -2.0], A_ub=[[1.0, p[1]], [1.0, 3.0]], b_ub=[4.0 * p[0], 6.0])
    return np.concatenate([found.x, np.reshape(found.fun, (1,))])


CASES = [
    Case("brentq", lambda m, p: m.brentq(lambda x: cubic(x, *p), 0, 2, xtol=1e-14), P2),
    Case("brentq-args", lambda m, p: m.brentq(cubic, 0, 2, args=(p[0], p[1]), xtol=1e-14), P2),
    Case("toms748", lambda m, p: m.toms748(functools.partial(cubic, a=p[0], b=p[1]), 0, 2), P2),
    Case("newton", lambda m, p: m.newton(cubic, 1.0, cubic_slope, (p[0], p[1])), P2),
    Case(
        "newton-vector",
        lambda m, p: m.newton(lambda x: cubic(x, p, 1.0), np.ones(2), lambda x: 3 * x**2 + p),
        P2,
        skip=("batch",),
    ),
    Case(
        "root_scalar",
        lambda m, p: m.root_scalar(cubic, (p[0], p[1]), bracket=[0, 2], xtol=1e-14).root,
        P2,
    ),
    Case("root", lambda m, p: m.root(system, [1.0, 0.0], (p,), tol=1e-14).x, P2, value=1e-14),
    Case(
        "root-lm",
        lambda m, p: m.root(lambda x: system(x, p), [1, 0], method="lm").x,
        P2,
        value=1e-8,
    ),
    Case("fsolve", lambda m, p: m.fsolve(lambda x: system(x, p), [1, 0], xtol=1e-12), P2),
    Case(
        "fixed_point",
        lambda m, p: m.fixed_point(lambda x: np.cos(x * p[0]) * p[1], 0.5, xtol=1e-14),
        P2,
    ),
    Case(
        "minimize_scalar",
        lambda m, p: m.minimize_scalar(lambda x: bowl(np.stack([x, x]), p), tol=1e-13).x,
        P2,
        **NOISY,
    ),
    Case("minimize", best, P2, value=1e-5, **NOISY),
    Case(
        "minimize-bounds",
        functools.partial(best, bounds=[(0.5, None), (None, -0.2), (0.0, 2.0)]),
        P3,
        value=1e-5,
        **NOISY,
    ),
    Case(
        "minimize-constraints",
        lambda m, p: best(m, p, constraints={"type": "eq", "fun": lambda x: x @ x - p[0]}),
        P3,
        value=1e-5,
        **NOISY,
    ),
    Case(
        "minimize-limits",
        lambda m, p: best(
            m,
            p,
            constraints=scipy.optimize.NonlinearConstraint(
                lambda x: [x @ x, x[0] + p[0] * x[1]], [-np.inf, -9.0], [p[0] / 9, 9.0]
            ),
        ),
        P3,
        value=1e-5,
        **NOISY,
    ),
    Case("least_squares", squares, P3, **NOISY),
    Case(
        "least_squares-loss", functools.partial(squares, loss="soft_l1", f_scale=0.3), P3, **NOISY
    ),
    Case("curve_fit", fit, P3, **NOISY),
    Case(
        "curve_fit-number",
        lambda m, p: fit(m, p, jac=None, sigma=1 + p[2], absolute_sigma=True),
        P3,
        value=1e-6,
        **NOISY,
    ),
    Case(
        "least_squares-own-loss",
        lambda m, p: squares(m, p, loss=lambda z: _own_loss(z, p[1])),
        P3,
        **NOISY,
    ),
    Case(
        "curve_fit-sigma",
        lambda m, p: fit(m, p, sigma=1 + p[2] * X, absolute_sigma=True),
        P3,
        **NOISY,
    ),
    Case("lsq_linear", linear, P3, tolerance=1e-5),
    Case("nnls", positive, P2),
    Case("linprog", program, P2),
    *[
        Case(f"isotonic_regression-{rising}", functools.partial(rising_fit, increasing=rising), P3)
        for rising in (True, False)
    ],
]


def dip(x: Any, p: Any) -> Any:
    return np.sum((x - p) ** 2) + x[0] ** 2 * x[1] ** 2


_BOX = [(-2.0, 2.0), (0.0, 0.3)]  # the second variable is held at its bound
_SEARCHES = {
    "basinhopping": lambda m, p: (
        m.basinhopping(lambda x: dip(x, p), [0.5, 0.5], niter=2, minimizer_kwargs={"tol": 1e-10}).x
    ),
    "direct": lambda m, p: m.direct(dip, _BOX, args=(p,), maxfun=4000, vol_tol=0, len_tol=1e-9).x,
    "dual_annealing": lambda m, p: m.dual_annealing(dip, _BOX, (p,), maxiter=5).x,
    "differential_evolution": lambda m, p: m.differential_evolution(dip, _BOX, (p,), tol=1e-6).x,
    "shgo": lambda m, p: m.shgo(dip, _BOX, (p,)).x,
    "fmin": lambda m, p: m.fmin(dip, [0.5, 0.5], (p,), xtol=1e-10, ftol=1e-12, disp=False),
    "fmin_bfgs": lambda m, p: m.fmin_bfgs(dip, [0.5, 0.5], None, (p,), gtol=1e-8, disp=False),
    "fmin_cg": lambda m, p: m.fmin_cg(dip, [0.5, 0.5], None, (p,), gtol=1e-7, disp=False),
    "fmin_powell": lambda m, p: m.fmin_powell(dip, [0.5, 0.5], (p,), xtol=1e-9, disp=False),
    "fmin_l_bfgs_b": lambda m, p: m.fmin_l_bfgs_b(
        dip, [0.5, 0.2], args=(p,), approx_grad=True, bounds=_BOX
    )[0],
    "leastsq": lambda m, p: m.leastsq(
        lambda x: np.stack([x[0] - p[0], x[1] - p[1], x[0] * x[1]]), [0.5, 0.5]
    )[0],
}


@pytest.mark.parametrize("name", _SEARCHES)
def test_minima_of_all_searches(name: str) -> None:
    at = np.array([1.2, 0.8])
    x = _SEARCHES[name](scipy.optimize, at)
    held = abs(x[1] - 0.3) < 1e-4
    # The second derivatives of the function, and mixed ones by the parameters, which are -2.
    second = np.array([[2 + 2 * x[1] ** 2, 4 * x[0] * x[1]], [4 * x[0] * x[1], 2 + 2 * x[0] ** 2]])
    expected = np.diag([2 / second[0, 0], 0.0]) if held else 2 * np.linalg.inv(second)
    with solution_tolerance(1e-3):  # not all of them find it better
        found = jacrev(lambda p: _SEARCHES[name](optimize, p))(at)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6)


def test_values_at_minima_have_derivatives() -> None:
    def lowest(p: Any) -> Any:
        return optimize.fmin(dip, [0.5, 0.5], (p,), 1e-10, 1e-12, full_output=True, disp=False)[1]

    at = np.array([1.2, 0.8])
    x = scipy.optimize.fmin(dip, [0.5, 0.5], (at,), 1e-10, 1e-12, disp=False)
    np.testing.assert_allclose(grad(lowest)(at), 2 * (at - x), rtol=1e-6)


@crossed(CASES)
def test_derivatives(check: Any, call: Case) -> None:
    check(call, optimize, scipy.optimize)


# --- what functions close over ----------------------------------------------------------------

GLOBAL = ag.tensor(2.0, requires_grad=True)


def with_global(x: Any) -> Any:
    return x**2 - GLOBAL


class WithAttribute:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __call__(self, x: Any) -> Any:
        return x**2 - self.a


def test_globals_attributes_and_structures_are_found() -> None:
    slope = 1 / (2 * math.sqrt(2))
    root = optimize.brentq(with_global, 0, 2)
    assert ag.grad(root, GLOBAL).item() == pytest.approx(slope)
    a = ag.tensor(2.0, requires_grad=True)
    held = {"deep": [(a,)]}
    for function in (
        WithAttribute(a),
        WithAttribute(a).__call__,
        lambda x: x**2 - held["deep"][0][0],
        lambda x, a=a: x**2 - a,
        functools.partial(lambda a, x: x**2 - a, a),
    ):
        assert ag.grad(optimize.brentq(function, 0, 2), a).item() == pytest.approx(slope)


def test_a_batch_in_an_attribute_is_found() -> None:
    found = vmap(lambda a: optimize.brentq(WithAttribute(a), 0, 2))(np.array([1.0, 2.0, 3.0]))
    assert np.array_equal(found, [scipy.optimize.brentq(WithAttribute(a), 0, 2) for a in (1, 2, 3)])


def test_state_that_a_function_keeps_is_its_own() -> None:
    a, calls, seen = ag.tensor(2.0, requires_grad=True), 0, []

    def f(x: Any) -> Any:
        nonlocal calls
        calls += 1
        seen.append(x)
        return x**2 - a

    optimize.brentq(f, 0, 2)
    assert calls == len(seen) > 3


def test_solutions_nest_and_functions_may_differentiate() -> None:
    def inner(a: Any) -> Any:
        return optimize.brentq(lambda x: x**3 - a, 0, 2, xtol=1e-14)

    def outer(b: Any) -> Any:
        return optimize.brentq(lambda a: inner(a) - b, 0.1, 8, xtol=1e-14)

    assert grad(outer)(1.5) == pytest.approx(3 * 1.5**2)  # outer(b) is b³
    assert grad(grad(outer))(1.5) == pytest.approx(6 * 1.5)

    def slope_of(a: Any) -> Any:
        return optimize.brentq(lambda x: grad(lambda y: y**3 / 3 - a * y)(x), 0, 2)

    assert grad(slope_of)(2.0) == pytest.approx(1 / (2 * math.sqrt(2)))


def test_high_orders() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    value: Any = optimize.brentq(lambda x: x**2 - a, 0, 2, xtol=1e-15)
    expected = math.sqrt(2.0)
    for k in range(5):
        assert value.item() == pytest.approx(expected)
        value = ag.grad(value, a, create_graph=True)
        expected *= (0.5 - k) / 2


def test_many_unknowns_need_no_matrix() -> None:
    def total(c: Any) -> Any:
        x = optimize.fixed_point(
            lambda x: 0.5 * np.cos(x) * c + 0.1 * np.roll(x, 1), np.zeros(2000)
        )
        return np.sum(x)

    c, e = np.linspace(0.5, 1.0, 2000), np.eye(1, 2000)[0]
    slope = (total(c + 1e-4 * e) - total(c - 1e-4 * e)) / 2e-4
    assert grad(total)(c)[0] == pytest.approx(slope, rel=1e-6)
    curvature = (grad(total)(c + 1e-4 * e) - grad(total)(c - 1e-4 * e)) / 2e-4
    np.testing.assert_allclose(hvp(total, (c,), (e,)), curvature, atol=1e-6)


# --- results ----------------------------------------------------------------------------------


def test_results_are_scipys_objects() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    x, report = optimize.brentq(lambda x: x**2 - a, 0, 2, full_output=True)
    assert isinstance(report, scipy.optimize.RootResults)
    assert report.root is x
    found = optimize.minimize(lambda x: (x[0] - a) ** 2, [0.0])
    assert isinstance(found, scipy.optimize.OptimizeResult)
    assert found.success
    x, report, flag, _message = optimize.fsolve(lambda x: x**2 - a, 1.0, full_output=True)
    assert flag == 1
    assert x.requires_grad
    start = ag.tensor([1.0], requires_grad=True)
    assert isinstance(optimize.root(lambda x: x**2 - 2, start).x, ag.Tensor)
    with ag.no_grad():
        x = optimize.brentq(lambda x: x**2 - a, 0, 2)
    assert isinstance(x, ag.Tensor)
    assert not x.requires_grad
    assert type(optimize.brentq(lambda x: x**2 - 2, 0, 2)) is float


def test_an_assignment_is_a_constant_choice() -> None:
    costs = ag.tensor([[4.0, 1.0], [2.0, 3.0]], requires_grad=True)
    rows, columns = optimize.linear_sum_assignment(costs)
    assert ag.grad(costs[rows, columns].sum(), costs).tolist() == [[0, 1], [1, 0]]


def test_an_active_bound_passes_its_own_derivative_on() -> None:
    def best(high: Any) -> Any:
        return optimize.minimize(
            lambda x: np.sum((x - 3) ** 2), [0.0, 0.0], bounds=[(0, high)] * 2
        ).x

    assert jacrev(best)(np.array(1.0)).tolist() == [1, 1]


@pytest.mark.parametrize("method", ["L-BFGS-B", "SLSQP"])
def test_a_minimum_close_to_a_bound_is_free(method: str) -> None:
    def best(a: Any) -> Any:
        given: Any = {"bounds": [(0.0, None)] * 2, "method": method, "tol": 1e-13}
        return optimize.minimize(
            lambda x: np.sum((x - a) ** 2) + x[0] * x[1], [1.0, 1.0], **given
        ).x

    # The first is free, although it is close to its bound; the second is held there.
    slopes = jacrev(best)(np.array([3e-6, -1.0]))
    np.testing.assert_allclose(slopes, [[1, 0], [0, 0]], atol=1e-6)


def test_a_constraint_that_is_close_but_not_active() -> None:
    def best(a: Any, limit: float) -> Any:
        rule = {"type": "ineq", "fun": lambda x: limit - x @ x}
        given: Any = {"constraints": rule, "tol": 1e-14}
        return optimize.minimize(lambda x: np.sum((x - a) ** 2), [0.1, 0.2], **given).x

    a = np.array([0.6, 0.8])
    np.testing.assert_allclose(jacrev(best)(a, 1 + 3e-6), np.eye(2), atol=1e-6)
    along = np.outer(a, a)  # on the circle, a minimum follows only the direction of a
    np.testing.assert_allclose(jacrev(best)(a, 0.25), (np.eye(2) - along) / 2, atol=1e-6)


def test_a_minimum_at_the_end_of_an_interval() -> None:
    def best(end: Any) -> Any:
        return optimize.minimize_scalar(lambda x: (x - 3) ** 2, bounds=(0, end), method="bounded").x

    assert grad(best)(1.0) == pytest.approx(1.0)


# --- errors -----------------------------------------------------------------------------------


def test_a_double_root_is_refused() -> None:
    a = ag.tensor([0.0, 1.0], requires_grad=True)
    found = optimize.root(lambda x: [x[0] ** 2 - a[0], x[0] + x[1] - a[1]], [0.0, 1.0])
    with pytest.raises(SingularError, match="condition number"):
        ag.grad(found.x.sum(), a)


def test_too_many_equations_are_refused() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    with pytest.raises(ValueError, match="3 for 2 unknowns"):
        optimize.root(lambda x: [x[0] - a, x[1], x[0] * x[1]], [1.0, 1.0], method="lm")


def test_a_root_without_a_slope_is_refused() -> None:
    with pytest.raises(SingularError, match="condition number"):
        grad(lambda a: optimize.newton(lambda x: (x - a) ** 2, 1.0, lambda x: 2 * (x - a)))(1.0)


def test_what_is_no_solution_is_refused() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    found = optimize.minimize(
        lambda x: (x[0] - a) ** 4 + (x[0] - a) ** 2, [5.0], options={"maxiter": 1}
    )
    assert not found.success
    with pytest.raises(NotASolutionError, match="not a solution"):
        ag.grad(found.x[0], a, retain_graph=True)
    with solution_tolerance(10.0):
        ag.grad(found.x[0], a)


def test_numbers_that_would_lose_derivatives_are_refused() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    with pytest.raises(NoGradientError, match="float"):
        optimize.brentq(lambda x: x**2 - float(GLOBAL), 0, 2)
    with pytest.raises(NoGradientError, match="float"):
        optimize.brentq(lambda x: x**2 - float(a), 0, 2)
    with pytest.raises(NoGradientError, match="NumPy rather than of math"):
        optimize.brentq(lambda x: math.exp(x) - a, 0, 2)
    with pytest.raises(TypeError, match="no callable sin") as caught:
        optimize.root(lambda x: np.sin(np.array([x[0] - a, 0.0])), [0.0, 0.0])
    assert "numpy.stack()" in caught.value.__notes__[0]


def test_writes_to_arrays() -> None:
    def solved(a: Any, zeros: Any) -> Any:
        def f(x: Any) -> Any:
            out = zeros(x)
            out[0] = x[0] - a
            out[1:] = x[1:] * x[0] - 1
            return out

        return optimize.root(f, [1.0, 1.0]).x

    slopes = jacrev(lambda a: solved(a, np.zeros_like))(np.array(2.0))
    np.testing.assert_allclose(slopes, [1.0, -0.25], atol=1e-7)
    with pytest.raises(NoGradientError, match="keep it an array") as caught:
        jacrev(lambda a: solved(a, lambda x: np.zeros(2)))(np.array(2.0))
    assert "zeros_like()" in caught.value.__notes__[0]


def test_numpy_array_may_join_numbers() -> None:
    def both(a: Any) -> Any:
        root = optimize.root(lambda x: np.array([x[0] - a * x[1], 2 * x[1] - 1]) * x[1], [1.0, 1.0])
        low = optimize.minimize(lambda x: np.sum(np.array([x[0] - a, 2 * x[1]]) ** 2), [1.0, 1.0])
        return np.concatenate([root.x, low.x])

    np.testing.assert_allclose(jacrev(both)(np.array(2.0)), [0.5, 0, 1, 0], atol=1e-9)


def test_integers_are_refused() -> None:
    c = ag.tensor([-1.0, -1.0], requires_grad=True)
    with pytest.raises(ValueError, match="milp"):
        optimize.milp(c)
    with pytest.raises(ValueError, match="integrality"):
        optimize.linprog(c, A_ub=[[1.0, 1.0]], b_ub=[1.5], integrality=[1, 1])
    with pytest.raises(SingularError, match="constraints are active"):
        optimize.linprog(c, A_ub=[[1.0, 1.0]], b_ub=ag.tensor([0.0], requires_grad=True))


def test_scipys_own_errors_stay() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    with pytest.raises(ValueError, match="different signs"):
        optimize.brentq(lambda x: x**2 + a, 0, 2)


# --- many unknowns --------------------------------------------------------------------------------


def _ridge(penalty: Any, rows: Any, target: Any) -> Any:
    def objective(w: Any) -> Any:
        rest = rows @ w - target
        return 0.5 * (rest @ rest) + 0.5 * penalty * (w @ w)

    def slope(w: Any) -> Any:
        return rows.T @ (rows @ w - target) + penalty * w

    start = np.zeros(rows.shape[1])
    options = {"gtol": 1e-10, "ftol": 1e-16, "maxiter": 2000}
    return optimize.minimize(objective, start, jac=slope, method="L-BFGS-B", options=options).x


def test_many_unknowns_by_conjugate_gradients() -> None:
    rng = np.random.default_rng(0)
    rows, target = rng.standard_normal((400, 250)), rng.standard_normal(400)
    penalty = np.array(30.0)
    matrix = rows.T @ rows + penalty * np.eye(250)
    w = np.linalg.solve(matrix, rows.T @ target)
    first = np.linalg.solve(matrix, w)
    loss: Any = lambda p: (_ridge(p, rows, target) ** 2).sum()  # noqa: E731
    slope = grad(loss)
    np.testing.assert_allclose(slope(penalty), -2 * w @ first, rtol=1e-6)
    np.testing.assert_allclose(ag.func.jvp(loss, (penalty,), (1.0,))[1], -2 * w @ first, rtol=1e-6)
    second = 2 * first @ first + 4 * w @ np.linalg.solve(matrix, first)
    np.testing.assert_allclose(grad(slope)(penalty), second, rtol=1e-6)


def test_many_unknowns_that_are_not_determined() -> None:
    """Half of the unknowns have no curvature: no derivative, whatever the loss depends on."""
    rows = np.random.default_rng(0).standard_normal((100, 250))

    def loss(shift: Any) -> Any:
        def objective(w: Any) -> Any:
            rest = rows @ w - shift
            return rest @ rest

        found = optimize.minimize(
            objective, np.zeros(250), jac=lambda w: 2 * rows.T @ (rows @ w - 1)
        )
        return (rows @ found.x).sum()

    with pytest.raises(SingularError):
        grad(loss)(np.array(1.0))


def test_fixed_point_of_many_unknowns_takes_linear_memory() -> None:
    def total(source: Any) -> Any:
        found = optimize.fixed_point(
            lambda x: 0.5 * np.tanh(np.roll(x, 1) + 0.3 * x) + source,
            np.zeros(source.shape),
            method="iteration",
        )
        return (found**2).sum()

    n = 20_000
    gradient = grad(total)
    tracemalloc.start()
    found = gradient(np.ones(n))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 8 * n
    # All unknowns are equal: x = tanh(1.3 x) / 2 + 1.
    x = scipy.optimize.brentq(lambda x: 0.5 * np.tanh(1.3 * x) + 1 - x, 0, 2)
    slope = 1 / (1 - 0.65 / np.cosh(1.3 * x) ** 2)
    np.testing.assert_allclose(found, 2 * x * slope, rtol=1e-6)


def test_a_fit_to_lists() -> None:
    y = ag.tensor(2.1, requires_grad=True)
    slope, _ = optimize.curve_fit(lambda x, a: a * x, [1, 2, 3], [1.0, y, 2.9])
    assert abs(ag.grad(slope[0], y).item() - 2 / 14) < 1e-8


def test_a_bound_that_is_about_to_become_active_is_refused() -> None:
    def best(a: Any, **given: Any) -> Any:
        return optimize.minimize(lambda x: np.sum((x - a) ** 2), [1.0], tol=1e-12, **given).x[0]

    with pytest.raises(SingularError, match="a bound is about to become active"):
        grad(lambda a: best(a, bounds=[(0, None)]))(0.0)
    rule = {"type": "ineq", "fun": lambda x: x}
    with pytest.raises(SingularError, match="a constraint is about to become active"):
        grad(lambda a: best(a, constraints=rule))(0.0)
    with pytest.raises(SingularError, match="a bound is about to become active"):  # not quite there
        grad(lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2, bounds=(0, 1)).x)(1.0)


def test_small_unknowns_must_be_solutions_too() -> None:
    def root(a: Any, **given: Any) -> Any:
        return optimize.root(lambda x: x**2 - a, [3e-6, 4e-6], **given).x[0]

    a = np.array(1e-12)
    assert grad(root)(a) == pytest.approx(0.5e6, rel=1e-6)
    with pytest.raises(NotASolutionError, match="not a solution"):
        grad(lambda a: root(a, options={"maxfev": 2}))(a)
    # A minimum at zero is found as well as one elsewhere: its derivative is the same close by.
    low = grad(lambda a: optimize.minimize(lambda x: np.sum(np.cosh(x - a)), [1.0]).x[0])
    assert low(0.0) == pytest.approx(1.0)


def test_a_double_root_found_almost_is_refused() -> None:
    def root(a: Any) -> Any:
        return optimize.newton(lambda x: (x - a) ** 2, 1.5, lambda x: 2 * (x - a), maxiter=100)

    with pytest.raises(SingularError, match="double root"):
        grad(root)(1.0)


T3, Y3 = np.linspace(0.0, 2.0, 9), np.exp(-np.linspace(0.0, 2.0, 9))


@pytest.mark.parametrize("loss", ["soft_l1", "cauchy", "huber"])
def test_curve_fit_with_a_loss(loss: str) -> None:
    y = Y3 + 0.15 * np.cos(np.arange(9.0))

    def fit(m: Any, y: Any) -> Any:
        given: Any = {"loss": loss, "f_scale": 0.1, "method": "trf", "jac": "3-point"} | TIGHT
        return m.curve_fit(lambda t, a, k: a * np.exp(-k * t), T3, y, [1.0, 1.0], **given)

    found = jacrev(lambda y: fit(optimize, y)[0])(y)
    e = 1e-4 * np.eye(9)
    numbers = [
        (fit(scipy.optimize, y + e[i])[0] - fit(scipy.optimize, y - e[i])[0]) / 2e-4
        for i in range(9)
    ]
    np.testing.assert_allclose(found, np.stack(numbers, axis=1), rtol=1e-3, atol=1e-4)
    with pytest.raises(NotImplementedError, match="covariance has no derivatives"):
        jacrev(lambda y: fit(optimize, y)[1])(y)


def test_fields_of_results_have_derivatives_or_refuse() -> None:
    a = ag.tensor(2.0, requires_grad=True)
    found = optimize.minimize(lambda x: np.sum((x - a) ** 2) + x[0] ** 4, [0.5, 0.5])
    assert ag.grad(found.jac.sum(), a).item() == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(NotImplementedError, match=r"minimize\(\).hess_inv has no derivatives"):
        ag.grad(found.hess_inv.sum(), a)
    fit = optimize.least_squares(lambda x: np.exp(a * x) - 2.0, [0.5])
    slope = ag.grad(fit.jac.sum(), a).item()  # a exp(a x), and exp(a x) is 2
    assert slope == pytest.approx(2.0, rel=1e-6)
    b = ag.tensor([4.0, 3.0], requires_grad=True)
    program = optimize.linprog([-1.0, -2.0], [[1.0, 1.0], [0.0, 1.0]], b)
    assert ag.grad(program.slack.sum(), b, retain_graph=True).tolist() == pytest.approx([0.0, 0.0])
    for marginals in (program, optimize.linprog(-b, [[1.0, 1.0], [0.0, 1.0]], [4.0, 3.0])):
        with pytest.raises(NotImplementedError, match=r"linprog\(\).ineqlin.marginals"):
            ag.grad(marginals.ineqlin.marginals.sum(), b)
    equation = optimize.root(lambda x: x**3 + x - a, [1.0])
    _, infodict, _, _ = optimize.fsolve(lambda x: x**3 + x - a, 1.0, full_output=True)
    x = np.arange(4.0)
    fitted = optimize.curve_fit(lambda x, p: p * x, x, a * x, full_output=True)
    line = optimize.lsq_linear(np.array([[1.0], [2.0]]), np.array([1.0, 2.5]) * a)
    inverse = optimize.minimize(
        lambda x: np.sum((x - a) ** 2) + x[0] ** 4, [0.5], method="L-BFGS-B"
    ).hess_inv
    for field in (
        *(inverse.todense(), inverse @ np.ones(1), inverse @ np.eye(1)),
        *(equation.fjac, equation.fun, infodict["qtf"], fitted[2]["fvec"]),
        *(line.unbounded_sol[0], line.optimality),
    ):
        with pytest.raises(NotImplementedError, match=r"has no derivatives"):
            ag.grad(field.sum(), a)
    rule = {"type": "ineq", "fun": lambda x: 1 - x}
    found = optimize.minimize(
        lambda x: np.sum((x - a) ** 2), [0.5], method="trust-constr", constraints=rule
    )
    with pytest.raises(NotImplementedError, match=r"minimize\(\).jac\[0\] has no derivatives"):
        ag.grad(found.jac[0].sum(), a)
    _, tangent = jvp(
        lambda a: optimize.minimize(lambda x: np.sum((x - a) ** 2), [0.0]).hess_inv, (2.0,), (1.0,)
    )
    assert np.isnan(tangent).all()


def test_success_is_that_of_each_member() -> None:
    def found(start: Any) -> Any:
        return optimize.root(lambda x: x**2 + 1.0 - 2.0 * start, start).success

    members = vmap(lambda s: ag.asarray(found(s)) * 1)(np.array([1.0, 0.25]))
    assert np.asarray(members).tolist() == [1, 0]


def test_a_value_that_was_kept_is_no_gradient_of_zero() -> None:
    kept = {(0.0, 0.0): scipy.optimize.rosen(np.zeros(2))}

    def function(x: Any) -> Any:
        place = tuple(np.asarray(ag.asarray(x).detach()).tolist())
        return kept[place] if place in kept else scipy.optimize.rosen(x)

    found = optimize.minimize(function, np.zeros(2))
    assert np.allclose(found.x, 1.0, atol=1e-4)


def test_functions_go_to_workers() -> None:
    given = values.Valued(scipy.optimize.rosen, scipy.optimize.rosen, lambda x: x)
    assert pickle.loads(pickle.dumps(given)) is scipy.optimize.rosen


def test_objects_that_can_be_called_keep_their_attributes() -> None:
    found = optimize.root(lambda x, of: of.cdf(x) - 0.7, [0.1], args=(scipy.stats.norm,))
    assert found.x == pytest.approx(scipy.stats.norm.ppf(0.7))

    class Steps:
        stepsize = 0.5

        def __call__(self, x: Any) -> Any:
            return x + self.stepsize

    own = Steps()
    optimize.basinhopping(lambda x: np.sum(x**2), [1.0], niter=3, interval=1, take_step=own)
    assert own.stepsize != 0.5  # SciPy adapts it
