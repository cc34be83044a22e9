"""SciPy's minimisers with derivatives from arraygrad."""

from __future__ import annotations

import gc
import math
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.errors import NoGradientError

optimize = pytest.importorskip("scipy.optimize")

GRADIENT = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP"]
SECOND = ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr", "dogleg", "trust-exact"]


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@pytest.mark.parametrize("method", [*GRADIENT, *SECOND, "Nelder-Mead", "COBYLA", None])
def test_methods(method: str | None) -> None:
    def bowl(x: Any) -> Any:
        return ag.sum((x - np.array([1.0, 2.0])) ** 2) + (x[0] - 1) ** 4

    found = ag.optimize.minimize(bowl, np.array([1.5, 1.2]), method=method)
    assert found.success
    np.testing.assert_allclose(found.x, [1, 2], atol=2e-3)


@pytest.mark.parametrize("method", ["BFGS", "Newton-CG", "trust-exact"])
def test_as_good_as_scipys_with_derivatives_by_hand(method: str) -> None:
    x0 = np.array([1.3, 0.7, 0.8, 1.9, 1.2])
    by_hand = {"jac": optimize.rosen_der, "hess": optimize.rosen_hess}
    if method == "BFGS":
        by_hand.pop("hess")
    expected = optimize.minimize(optimize.rosen, x0, method=method, **by_hand)
    found = ag.optimize.minimize(
        rosenbrock, x0, method=method, hessian=None if method == "BFGS" else "matrix"
    )
    assert found.nit == expected.nit
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-6)


def test_products_and_matrices_lead_the_same_way() -> None:
    x0 = np.array([-1.2, 1.0, 0.3])
    ways = [
        ag.optimize.minimize(rosenbrock, x0, method="trust-ncg", hessian=how)
        for how in ("product", "matrix")
    ]
    assert ways[0].nit == ways[1].nit
    np.testing.assert_allclose(ways[0].x, ways[1].x, rtol=1e-8)


@pytest.mark.parametrize("method", ["BFGS", "Newton-CG", "trust-exact"])
def test_structures(method: str) -> None:
    data = np.array([[1.0, 2.0], [3.0, 5.0], [-1.0, 0.5]])

    def loss(p: Any) -> Any:
        fit = data @ p["w"][0] + p["b"]
        return ag.sum((fit - np.array([1.0, 2.0, 3.0])) ** 2) + ag.sum((p["w"][1] - 3) ** 2)

    x0 = {"w": [np.zeros(2), np.ones((2, 1), np.float32)], "b": 0.0}
    found = ag.optimize.minimize(loss, x0, method=method)
    assert found.x.keys() == found.jac.keys() == {"w", "b"}
    assert isinstance(found.x["w"], list)
    assert found.x["w"][1].shape == (2, 1)
    assert found.x["w"][1].dtype == np.float32
    assert np.shape(found.x["b"]) == ()
    np.testing.assert_allclose(found.x["w"][1], 3, rtol=1e-5)
    exact = np.linalg.solve(np.column_stack([data, np.ones(3)]), [1.0, 2.0, 3.0])
    np.testing.assert_allclose([*found.x["w"][0], found.x["b"]], exact, rtol=1e-3)


def test_more_arguments_and_tensors() -> None:
    found = ag.optimize.minimize(
        lambda x, a, b: ag.sum((x - a) ** 2) * b, ag.tensor([0.0, 0.0]), args=(np.ones(2), 3.0)
    )
    np.testing.assert_allclose(found.x, 1, rtol=1e-6)


def test_bounds() -> None:
    def loss(p: Any) -> Any:
        return ag.sum((p["a"] - 5) ** 2) + (p["b"] + 5) ** 2

    x0 = {"a": np.zeros(2), "b": 0.0}
    found = ag.optimize.minimize(loss, x0, lower=-1.0, upper={"a": np.array([2.0, 9.0]), "b": None})
    np.testing.assert_allclose(found.x["a"], [2, 5], rtol=1e-6)
    np.testing.assert_allclose(found.x["b"], -1, rtol=1e-6)
    with pytest.raises(ValueError, match="lower must be a number or have the structure of x0"):
        ag.optimize.minimize(loss, x0, lower={"a": 1.0})


@pytest.mark.parametrize("method", [None, "trust-constr"])
def test_constraints(method: str | None) -> None:
    found = ag.optimize.minimize(
        lambda p: p["x"] ** 2 + p["y"] ** 2,
        {"x": 3.0, "y": 1.0},
        method=method,
        constraints=[
            {"type": "eq", "fun": lambda p: p["x"] + 2 * p["y"] - 5},
            {"type": "ineq", "fun": lambda p: p["x"] - 2},
        ],
    )
    np.testing.assert_allclose([found.x["x"], found.x["y"]], [2, 1.5], rtol=1e-3)
    with pytest.raises(TypeError, match="a constraint must be a dict"):
        ag.optimize.minimize(rosenbrock, np.zeros(2), constraints=[lambda x: x])


@pytest.mark.parametrize("method", [*GRADIENT, *SECOND, "COBYLA"])
def test_the_data_are_freed_without_the_garbage_collector(method: str) -> None:
    class Data:
        center = np.array([1.0, 2.0])

    def fit() -> weakref.ref[Data]:
        data = Data()
        ag.optimize.minimize(
            lambda x, data: ag.sum((x - data.center) ** 2),
            np.zeros(2),
            (data,),
            method=method,
            callback=lambda x: bool(data.center[0] < 0),
            constraints=[{"type": "ineq", "fun": lambda x: ag.sum(x * data.center)}]
            if method in ("SLSQP", "COBYLA")
            else (),
        )
        return weakref.ref(data)

    gc.collect()
    gc.disable()
    try:
        assert fit()() is None
    finally:
        gc.enable()


def test_callback_sees_the_structure_and_can_stop() -> None:
    seen = []

    def callback(p: Any) -> bool:
        seen.append(p["x"].copy())
        return len(seen) == 3

    found = ag.optimize.minimize(
        lambda p: rosenbrock(p["x"]), {"x": np.array([-1.2, 1.0])}, callback=callback
    )
    assert len(seen) == 3
    assert not found.success
    assert seen[0].shape == (2,)


def test_progress_as_a_bar(capsys: Any) -> None:
    found = ag.optimize.minimize(rosenbrock, np.array([-1.2, 1.0]), progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert f"minimize: {found.nit} iterations" in err
    assert err.splitlines()[-1] == found.message


def test_progress(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as without tqdm
    ag.optimize.minimize(rosenbrock, np.array([-1.2, 1.0]))
    assert capsys.readouterr() == ("", "")
    found = ag.optimize.minimize(rosenbrock, np.array([-1.2, 1.0]), progress=True)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0].startswith("iteration     1  value ")
    assert lines[-2].startswith(f"iteration {found.nit:5d}  value ")
    assert lines[-1] == found.message


@pytest.mark.parametrize("method", ["RK45", "Radau"])
@pytest.mark.parametrize("has_tqdm", [True, False])
def test_progress_in_time(
    method: str, has_tqdm: bool, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)

    def end(y: Any) -> Any:
        span, solve = (3.0, 1.0), ag.scipy.integrate.solve_ivp
        return solve(lambda t, y: -y, span, y, method, rtol=1e-8, progress=True).y[0, -1]

    assert np.allclose(ag.func.grad(end)(np.ones(1)), np.exp(2), rtol=1e-5)
    out, err = capsys.readouterr()
    assert out == ""
    assert "solve_ivp" in err
    assert "t = 1 of 1" in err.splitlines()[-2]
    assert err.splitlines()[-1].startswith("The solver successfully")


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"hessian": "product"}, ValueError, "'BFGS' does not use second derivatives"),
        ({"method": "dogleg", "hessian": "product"}, ValueError, "needs the whole Hessian"),
        ({"method": "trust-ncg", "hessian": "all"}, ValueError, "hessian must be 'product'"),
        ({"x0": np.ones(2) * 1j}, TypeError, "leaf 0 has dtype complex128: take the real"),
        ({"x0": {}}, ValueError, "x0 has no arrays or numbers"),
        ({"fun": lambda x: x * 2}, ValueError, "must return a scalar value"),
    ],
)
def test_mistakes(keywords: dict[str, Any], error: type[Exception], message: str) -> None:
    given = {"fun": rosenbrock, "x0": np.zeros(2)} | keywords
    with pytest.raises(error, match=message):
        ag.optimize.minimize(given.pop("fun"), given.pop("x0"), **given)


def test_scipy_is_imported_only_when_used() -> None:
    import subprocess
    import sys

    code = "import sys, arraygrad; arraygrad.optimize.minimize; assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_bounds_and_constraints_in_scipys_forms() -> None:
    def loss(x: Any) -> Any:
        return ag.sum((x - 3) ** 2)

    start = [0.0, 0.0]
    for bounds in ([(0, 1), (None, 2)], optimize.Bounds([0, -np.inf], [1, 2])):
        found = ag.optimize.minimize(loss, start, bounds=bounds)
        assert found.x.tolist() == [1, 2]
    with pytest.raises(ValueError, match="twice"):
        ag.optimize.minimize(loss, start, bounds=[(0, 1)] * 2, lower=0.0)
    disc = optimize.NonlinearConstraint(lambda x: x @ x, -np.inf, 2.0)
    line = optimize.LinearConstraint([[1.0, -1.0]], 0.0, 0.0)
    for method in ("SLSQP", "trust-constr"):
        found = ag.optimize.minimize(loss, start, method=method, constraints=[disc, line])
        np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-3)
        found = ag.optimize.minimize(loss, start, method=method, constraints=disc)
        np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-3)


@pytest.mark.parametrize("form", ["dict", "NonlinearConstraint"])
def test_second_derivatives_of_constraints(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by a minimum: SciPy finds that with wrong second derivatives, too."""

    def powers(x: Any) -> Any:
        return ag.stack([x[0] ** 2 * x[1], x[0] ** 3, x[0]])

    given: Any = {"type": "ineq", "fun": powers}
    if form != "dict":
        given = optimize.NonlinearConstraint(powers, 0.0, np.inf)
    taken: dict[str, Any] = {}
    run = optimize.minimize
    monkeypatch.setattr(optimize, "minimize", lambda *a, **k: taken.update(k) or run(*a, **k))
    ag.optimize.minimize(ag.sum, [1.0, 2.0], method="trust-constr", constraints=given, tol=1.0)
    (constraint,) = taken["constraints"]
    weights = np.array([2.0, 5.0, 7.0])
    expected = 2 * np.array([[4.0, 6.0], [6.0, 0.0]]) + 5 * np.array([[18.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(constraint.hess(np.array([3.0, 2.0]), weights), expected)


def test_a_derivative_that_the_user_gave_is_used() -> None:
    calls = []

    def slope(x: Any) -> Any:
        calls.append(x)
        return 2 * np.asarray(x)[None]

    for rule in (
        {"type": "ineq", "fun": lambda x: 2 - x @ x, "jac": lambda x: -slope(x)},
        optimize.NonlinearConstraint(lambda x: x @ x, -np.inf, 2.0, jac=slope),
    ):
        calls.clear()
        found = ag.optimize.minimize(lambda x: ag.sum((x - 3) ** 2), [0.0, 0.0], constraints=rule)
        np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-6)
        assert calls


@pytest.mark.parametrize("method", ["trust-constr", "Newton-CG"])
def test_sparse_hessians(method: str) -> None:
    found = ag.optimize.minimize(rosenbrock, np.full(30, 1.1), method=method, hessian="sparse")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)
    with pytest.raises(ValueError, match="no sparse Hessian"):
        ag.optimize.minimize(rosenbrock, np.zeros(2), method="trust-exact", hessian="sparse")


def test_roots_of_structures() -> None:
    def equations(at: Any, a: Any) -> Any:
        return {"one": at["x"] ** 2 - a, "two": [at["y"] * at["x"][0] - 1.0]}

    a = np.array([4.0, 9.0])
    found = ag.optimize.root(equations, {"x": np.ones(2), "y": 1.0}, (a,))
    np.testing.assert_allclose(found.x["x"], [2.0, 3.0])
    assert found.x["y"] == pytest.approx(0.5)
    assert found.njev >= 1
    found = ag.optimize.root(lambda x: [x[0] - 1, x[0] * x[1] - 2], [3.0, 3.0], method="broyden1")
    np.testing.assert_allclose(found.x, [1.0, 2.0], atol=1e-5)


def test_least_squares_of_structures() -> None:
    t = np.linspace(0.0, 1.0, 9)
    y = 3 * np.exp(-2 * t)

    def misfit(p: Any) -> Any:
        return p["start"] * np.exp(-p["rate"] * t) - y

    x0 = {"start": 1.0, "rate": 1.0}
    found = ag.optimize.least_squares(misfit, x0)
    assert found.x["rate"] == pytest.approx(2.0)
    assert set(found.grad) == {"start", "rate"}
    found = ag.optimize.least_squares(misfit, x0, upper={"start": None, "rate": 1.5})
    assert found.x["rate"] == pytest.approx(1.5)
    n = 40
    found = ag.optimize.least_squares(lambda x: x**3 - np.arange(1, n + 1), np.ones(n), sparse=True)
    np.testing.assert_allclose(found.x, np.cbrt(np.arange(1, n + 1)), atol=1e-6)
    found = ag.optimize.least_squares(lambda x: x - 3, [0.5, 0.5], bounds=([0, 0], [1, 9]))
    np.testing.assert_allclose(found.x, [1, 3])
    with pytest.raises(TypeError, match="takes no jac"):
        ag.optimize.least_squares(misfit, x0, jac="3-point")


def test_curves_of_structures() -> None:
    t = np.linspace(0.0, 1.0, 9)
    y = 3 * np.exp(-2 * t) + 0.1 * np.sin(9 * t)

    def curve(t: Any, a: Any, b: Any) -> Any:
        return a * np.exp(-b * t)

    expected, covariance = optimize.curve_fit(curve, t, y)
    found, own = ag.optimize.curve_fit(curve, t, y)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(own, covariance, rtol=1e-5)
    for p0 in (None, [1.0, 1.0], np.ones(2)):
        np.testing.assert_allclose(ag.optimize.curve_fit(curve, t, y, p0)[0], expected, rtol=1e-6)
    tree, own = ag.optimize.curve_fit(
        lambda t, p: curve(t, p["a"], p["b"]), t, y, {"a": 1.0, "b": 1.0}
    )
    np.testing.assert_allclose([tree["a"], tree["b"]], expected, rtol=1e-6)
    np.testing.assert_allclose(own, covariance, rtol=1e-5)


def test_a_method_that_is_no_name() -> None:
    with pytest.raises(TypeError, match="method must be the name of one of SciPy's methods, not l"):
        ag.optimize.minimize(lambda x: ag.sum(x * x), np.ones(2), method=["BFGS"])


def test_what_is_found_has_derivatives() -> None:
    t = np.linspace(0.0, 1.0, 9)
    a = np.array([3.0, 2.0])

    def curve(t: Any, p: Any) -> Any:
        return p["start"] * np.exp(-p["rate"] * t)

    def found(a: Any) -> Any:
        y, x0 = a[0] * np.exp(-a[1] * t), {"start": 1.0, "rate": 1.0}

        def residuals(p: Any) -> Any:
            return curve(t, p) - y

        fits = [
            ag.optimize.minimize(lambda p: ag.sum(residuals(p) ** 2), x0, tol=1e-9).x,
            ag.optimize.least_squares(residuals, x0, xtol=1e-14).x,
            ag.optimize.curve_fit(curve, t, y, x0)[0],
            ag.optimize.root(lambda p: [p["start"] - a[0], p["rate"] - a[1] * p["start"]], x0).x,
        ]
        return np.stack([fit[key] for fit in fits for key in ("start", "rate")])

    for transform in (ag.func.jacrev, ag.func.jacfwd):
        slopes = transform(found)(a)
        np.testing.assert_allclose(
            slopes, [*np.eye(2), *np.eye(2), *np.eye(2), [1, 0], [2, 3]], atol=1e-5
        )


def _overwriting(x: Any) -> Any:
    value = rosenbrock(x)
    x *= 1.0
    return value


def test_exact_derivatives_unless_a_function_cannot_compute_with_tensors() -> None:
    calls = []

    def counted(x: Any) -> Any:
        calls.append(x)
        return rosenbrock(x)

    found = ag.scipy.optimize.minimize(counted, np.full(50, 1.1))
    assert found.success
    assert len(calls) < 200  # 50 differences for each of them would be thousands
    for function in (
        lambda x: math.cosh(x[0] - 1),
        lambda x: np.array([x[0] - 1, x[1]]) @ np.array([x[0] - 1, x[1]]),
    ):
        expected = optimize.minimize(function, [0.0, 1.0])
        assert ag.scipy.optimize.minimize(function, [0.0, 1.0]).nfev == expected.nfev
    by_hand = ag.scipy.optimize.minimize(rosenbrock, [0.0, 1.0], jac=optimize.rosen_der)
    assert by_hand.nit == optimize.minimize(rosenbrock, [0.0, 1.0], jac=optimize.rosen_der).nit
    assert ag.scipy.optimize.minimize(_overwriting, [0.0, 1.0], constraints=None).success
    assert not ag.scipy.optimize.minimize(lambda x: math.nan, [0.0]).success
    with pytest.raises(ZeroDivisionError):
        ag.scipy.optimize.minimize(lambda x: 1 / 0, [0.0])


@pytest.mark.parametrize("method", ["BFGS", "Newton-CG", "trust-ncg", "trust-exact"])
def test_compiled_derivatives(method: str) -> None:
    scale = ag.tensor(2.0, requires_grad=True)  # in a closure, where its value is a constant

    def bowl(p: Any, power: int) -> Any:
        return ag.sum((p["x"] - 1.5) ** power * scale + p["x"] ** 2) + (p["y"] - scale) ** 2

    start = {"x": np.array([1.0, 2.0]), "y": 0.5}
    args = (start, (4,))
    eager = ag.optimize.minimize(bowl, *args, method=method)
    found = ag.optimize.minimize(bowl, *args, method=method, compile=True)
    assert found.nfev == eager.nfev
    np.testing.assert_allclose(found.x["x"].detach(), eager.x["x"].detach(), rtol=1e-6)
    assert ag.grad(found.x["y"], scale).item() == pytest.approx(1.0)


def test_compiled_jacobians() -> None:
    t = np.linspace(0.0, 2.0, 20)
    y = 3 * np.exp(-0.7 * t) + 0.01 * np.cos(20 * t)

    def curve(t: Any, a: Any, b: Any) -> Any:
        return a * np.exp(-b * t)

    both = [
        [
            ag.optimize.root(lambda x: [x[0] ** 3 - x[1], x[1] - 8.0], [1.0, 1.0], compile=c).x,
            ag.optimize.least_squares(lambda p: curve(t, *p) - y, [1.0, 1.0], compile=c).x,
            *ag.optimize.curve_fit(curve, t, y, compile=c),
        ]
        for c in (False, True)
    ]
    for eager, compiled in zip(*both, strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-9)
    with pytest.raises(ValueError, match="sparse Jacobian cannot be compiled"):
        ag.optimize.least_squares(lambda x: x, [1.0], sparse=True, compile=True)
    with pytest.raises(NoGradientError, match="keep it an array"):  # and not differences
        ag.optimize.minimize(lambda x: math.exp(x[0]) - x[0], [1.0], compile=True)


def test_fits_know_their_errors() -> None:
    rng = np.random.default_rng(0)
    t = np.linspace(0.0, 2.0, 40)
    y = 3 * np.exp(-0.7 * t) + 0.05 * rng.normal(size=40)

    def misfit(p: Any, y: Any) -> Any:
        return p["a"] * np.exp(-p["b"] * t) - y

    start = {"a": 1.0, "b": 1.0}
    found = ag.optimize.least_squares(misfit, start, (y,))
    _, covariance = optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t), t, y)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-5)
    assert found.standard_errors["b"] == pytest.approx(covariance[1, 1] ** 0.5, rel=1e-5)

    def error(y: Any) -> Any:
        return ag.optimize.least_squares(misfit, start, (y,), xtol=1e-14).standard_errors["a"]

    along = rng.normal(size=40)
    slope = (error(y + 1e-4 * along) - error(y - 1e-4 * along)) / 2e-4
    assert ag.func.grad(error)(y) @ along == pytest.approx(slope, rel=1e-5)

    x = rng.normal(2.0, 0.5, size=100)

    def minus_log_likelihood(p: Any) -> Any:
        return ag.sum(p["log_s"] + 0.5 * ((x - p["m"]) / np.exp(p["log_s"])) ** 2)

    best = ag.optimize.minimize(minus_log_likelihood, {"m": 1.0, "log_s": 0.0})
    assert best.standard_errors["m"] == pytest.approx(x.std() / 10, rel=1e-4)
    assert best.standard_errors["log_s"] == pytest.approx(200**-0.5, rel=1e-4)


@pytest.mark.parametrize("keywords", [{"lower": 0.5}, {"options": {"maxiter": 1}}])
def test_errors_of_what_is_no_free_minimum_are_refused(keywords: dict[str, Any]) -> None:
    found = ag.optimize.minimize(lambda x: ag.sum((100 * x) ** 2 + x**4), [2.0, 1.0], **keywords)
    with pytest.raises(ValueError, match="a bound or a constraint holds it"):
        found.covariance
    robust = ag.optimize.least_squares(lambda x: x - np.arange(3.0), [1.0], loss="huber")
    with pytest.raises(ValueError, match="with a loss"):
        robust.standard_errors
