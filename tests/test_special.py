"""Special functions, beyond the rows of the table: orders, large arguments, special points."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from rows import over
from samples import SAMPLES
from samples_special import by_scipy
from scipy import special as scipy_special

import arraygrad as ag
from arraygrad import special
from arraygrad.backends.special import kernel
from arraygrad.ops.special.sinc import _sinc_derivative
from arraygrad.testing import assert_close, gradcheck, gradgradcheck

inf, nan = math.inf, math.nan
Function = Callable[..., Any]


def test_every_function_has_a_row() -> None:
    assert set(special.__all__) - {s.op.removeprefix("special.") for s in SAMPLES} == set()


def test_names_are_those_of_scipy() -> None:
    younger = {"softplus"}  # than the oldest SciPy that will do
    assert {n for n in special.__all__ if not hasattr(scipy_special, n)} <= younger
    assert all(getattr(special, name).__doc__ for name in special.__all__)


def derivatives(function: Function, x: float, order: int) -> list[float]:
    """The derivatives of a function of one number, up to an order, by reverse mode."""
    at = ag.tensor(x, requires_grad=True)
    y = function(at)
    found = []
    for _ in range(order):
        (y,) = ag.grad(y, [at], create_graph=True, materialize_grads=True)
        found.append(y.item())
    return found


def gradients(function: Function, *values: Any) -> list[Any]:
    inputs = [ag.tensor(v, dtype=np.float64, requires_grad=True) for v in values]
    return [g.tolist() for g in ag.grad(ag.sum(function(*inputs)), inputs)]


# --- derivatives of higher order -----------------------------------------------------------------

_ELEMENTWISE: dict[str, tuple[Function, float]] = {
    "expit": (special.expit, 0.7),
    "softplus": (special.softplus, -0.7),
    "log_expit": (special.log_expit, 0.4),
    "logit": (special.logit, 0.3),
    "erf": (special.erf, 0.6),
    "erfc": (special.erfc, -0.6),
    "erfinv": (special.erfinv, 0.4),
    "ndtr": (special.ndtr, -0.5),
    "log_ndtr": (special.log_ndtr, -1.5),
    "ndtri": (special.ndtri, 0.3),
    "gammaln": (special.gammaln, 1.7),
    "digamma": (special.digamma, 1.7),
    "polygamma": (lambda x: special.polygamma(2, x), 1.7),
    "zeta": (lambda q: special.zeta(3.0, q), 1.7),
    "betaln": (lambda x: special.betaln(x, 2 * x), 1.3),
    "gamma": (special.gamma, 1.7),
    "gammainc": (lambda x: special.gammainc(2.5, x), 1.3),
    "gammaincc": (lambda x: special.gammaincc(2.5, x), 1.3),
    "betainc": (lambda x: special.betainc(2.5, 1.5, x), 0.4),
    "fdtr": (lambda x: special.fdtr(3.0, 4.0, x), 0.8),
    "fdtrc": (lambda x: special.fdtrc(3.0, 4.0, x), 0.8),
    "exp1": (special.exp1, 1.3),
    "expi": (special.expi, 1.3),
    "entr": (special.entr, 0.6),
    "rel_entr": (lambda x: special.rel_entr(x, 2 - x), 0.6),
    "kl_div": (lambda x: special.kl_div(2 - x, x), 0.6),
    "xlogy": (lambda x: special.xlogy(x, 2 - x), 0.6),
    "xlog1py": (lambda x: special.xlog1py(2 - x, x), 0.6),
    "i0": (special.i0, 1.2),
    "i1": (special.i1, 1.2),
    "i0e": (special.i0e, 1.2),
    "i1e": (special.i1e, -1.2),
    "sinc": (special.sinc, 0.3),
    "softmax": (lambda x: special.softmax(ag.stack([x, x * x, 1 - x]))[1], 0.6),
    "log_softmax": (lambda x: special.log_softmax(ag.stack([x, x * x, 1 - x]))[1], 0.6),
    "logsumexp": (lambda x: special.logsumexp(ag.stack([x, x * x, 1 - x])), 0.6),
    "logsumexp b": (
        lambda x: special.logsumexp(ag.stack([x, x * x]), b=ag.stack([1 - x, 3 * x])),
        0.6,
    ),
}


@pytest.mark.parametrize("name", _ELEMENTWISE)
def test_four_orders(name: str) -> None:
    """Each derivative against central differences of the one before."""
    function, x = _ELEMENTWISE[name]
    found = derivatives(function, x, 4)
    step = 1e-5
    for order in range(1, 5):
        ends = [
            derivatives(function, x + h, order - 1)[-1]
            if order > 1
            else function(ag.tensor(x + h)).item()
            for h in (step, -step)
        ]
        numerical = (ends[0] - ends[1]) / (2 * step)
        assert found[order - 1] == pytest.approx(numerical, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", _ELEMENTWISE)
def test_forward_mode_agrees_in_three_orders(name: str) -> None:
    function, x = _ELEMENTWISE[name]

    def derivative(f: Function) -> Function:
        return lambda x: ag.func.jvp(f, (x,), (ag.tensor(1.0),))[1]

    found = []
    for _ in range(3):
        function = derivative(function)
        found.append(function(ag.tensor(x)).item())
    assert found == pytest.approx(derivatives(_ELEMENTWISE[name][0], x, 3), rel=1e-9)


def test_bessel_functions_at_zero() -> None:
    # i0 = 1 + x²/4 + x⁴/64 + …, and i1 is its derivative.
    assert derivatives(special.i0, 0.0, 4) == pytest.approx([0, 1 / 2, 0, 3 / 8])
    assert derivatives(special.i1, 0.0, 4) == pytest.approx([1 / 2, 0, 3 / 8, 0])


def test_sinc_at_zero_and_near_it() -> None:
    pi = math.pi
    exact = [0, -(pi**2) / 3, 0, pi**4 / 5, 0, -(pi**6) / 7]
    assert derivatives(special.sinc, 0.0, 6) == pytest.approx(exact)
    # By its series; the quotient (cos z - sin z / z) / z has no digits left here.
    assert derivatives(special.sinc, 1e-9, 1)[0] == pytest.approx(-(pi**2) / 3 * 1e-9, rel=1e-12)


@pytest.mark.parametrize("n", range(1, 13))
def test_derivatives_of_sinc_are_smooth_where_the_methods_meet(n: int) -> None:
    """Against the integral of ``tⁿ cos(zt + nπ/2)`` over t from 0 to 1, by Gauss's rule."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    t = (nodes + 1) / 2
    z = np.linspace(-15, 15, 301)
    exact = (np.cos(z[:, None] * t + n * np.pi / 2) * t**n) @ weights / 2
    found = _sinc_derivative(z / np.pi, n=n) / np.pi**n
    np.testing.assert_allclose(found, exact, atol=1e-12)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_jacobians_of_a_batch(axis: int | None) -> None:
    """Two batches, one of arrays and one of directions, that do not meet in all arrays."""
    x = ag.tensor(np.random.default_rng(0).standard_normal((4, 2, 3)))
    for name in ("softmax", "log_softmax", "logsumexp"):

        def function(x: Any, name: str = name) -> Any:
            return getattr(special, name)(x, axis=axis)

        for jacobian in (ag.func.jacrev, ag.func.jacfwd):
            found = ag.func.vmap(jacobian(function))(x)
            assert_close(found, ag.stack([jacobian(function)(row) for row in x]))
        found = ag.func.vmap(ag.func.hessian(lambda x, f=function: ag.sum(f(x) ** 2)))(x)
        expected = [ag.func.hessian(lambda x, f=function: ag.sum(f(x) ** 2))(row) for row in x]
        assert_close(found, ag.stack(expected))


# --- large arguments, and small ones -------------------------------------------------------------


def test_sigmoids_far_out() -> None:
    x = ag.tensor([-inf, -1000.0, -40.0, 40.0, 1000.0, inf], requires_grad=True)
    for function in (special.expit, special.softplus, special.log_expit):
        expected = by_scipy(function.__name__)(x.array)
        np.testing.assert_allclose(function(x).array, expected, rtol=1e-14)
    np.testing.assert_allclose(
        ag.grad(special.softplus(x), x, 1.0).array, scipy_special.expit(x.array), rtol=1e-14
    )
    np.testing.assert_allclose(
        ag.grad(special.log_expit(x), x, 1.0).array, scipy_special.expit(-x.array), rtol=1e-14
    )
    assert ag.grad(special.expit(x), x, 1.0).tolist()[:2] == [0, 0]


def test_softmax_of_large_numbers() -> None:
    x = np.array([[1000.0, 1001.0, -1000.0], [-5000.0, -5000.0, -5000.0]])
    for name in ("softmax", "log_softmax"):
        expected = getattr(scipy_special, name)(x, axis=1)
        np.testing.assert_allclose(getattr(special, name)(x, axis=1), expected, rtol=1e-13)
    leaf = ag.tensor(x, requires_grad=True)
    gradient = ag.grad(special.log_softmax(leaf, axis=1)[:, 2], leaf, 1.0)
    expected = np.array([[0, 0, 1.0]] * 2) - scipy_special.softmax(x, axis=1)
    np.testing.assert_allclose(gradient.array, expected, rtol=1e-13)


def spread_numbers(*shape: int) -> Any:
    """Complex numbers whose exponentials go round the origin several times."""
    rng = np.random.default_rng(0)
    return 3 * rng.standard_normal(shape) + 8j * rng.standard_normal(shape)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("keywords", [{}, {"axis": 1}, {"axis": (0, 2), "keepdims": True}])
@pytest.mark.parametrize("make", [np.asarray, strict.asarray], ids=["numpy", "strict"])
def test_logsumexp_of_complex_numbers(make: Any, keywords: Any, dtype: Any) -> None:
    """The principal value, whose imaginary part is within π."""
    x = (spread_numbers(3, 4, 5) + np.array([0, 2000, -2000])[:, None, None]).astype(dtype)
    tolerance = 100 * np.finfo(dtype).eps
    expected = scipy_special.logsumexp(x, **keywords)
    found = np.asarray(special.logsumexp(make(x), **keywords))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, tolerance, tolerance)
    weights = np.linspace(1, 2, 5, dtype=x.real.dtype)
    for b in (weights, weights * dtype(1j)):
        expected = scipy_special.logsumexp(x, b=b, **keywords)
        found = np.asarray(special.logsumexp(make(x), b=make(b), **keywords))
        np.testing.assert_allclose(found, expected, tolerance, tolerance)


def test_derivatives_of_logsumexp_of_complex_numbers() -> None:
    x = ag.tensor(spread_numbers(2, 4), requires_grad=True)
    b = ag.tensor(np.linspace(1, 2, 4), requires_grad=True)
    for check in (gradcheck, gradgradcheck):
        assert check(lambda x: special.logsumexp(x, axis=1), (x,))
        assert check(lambda x, b: special.logsumexp(x, axis=1, b=b), (x, b))
    rows = spread_numbers(3, 2, 4)
    _, tangent = ag.func.jvp(special.logsumexp, (rows,), (rows,))
    np.testing.assert_allclose(tangent, (special.softmax(rows) * rows).sum(), 1e-12)
    each = ag.func.vmap(special.logsumexp)(rows)
    np.testing.assert_allclose(each, scipy_special.logsumexp(rows, axis=(1, 2)), 1e-12)


@pytest.mark.parametrize(
    "values", [[-inf, -inf], [inf, 1], [complex(-inf, 3), 2 + 4j], [1000 + 4j, 1000 + 4j]]
)
def test_logsumexp_of_infinite_complex_numbers(values: Any) -> None:
    x = np.array(values, np.complex128)
    with np.errstate(invalid="ignore", over="ignore"):
        found, expected = special.logsumexp(x), scipy_special.logsumexp(x)
    np.testing.assert_allclose([found.real, found.imag], [expected.real, expected.imag], 1e-14)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_derivatives_of_the_softmax_of_complex_numbers(name: str, axis: int | None) -> None:
    x = ag.tensor(spread_numbers(2, 3) / 3, requires_grad=True)
    for check in (gradcheck, gradgradcheck):
        assert check(lambda x: getattr(special, name)(x, axis=axis), (x,))


def test_the_weights_of_logsumexp_add_up_to_one() -> None:
    """Also where the numbers are so large that adding log(2) to them changes nothing."""
    x = ag.tensor([1e9, 1e9], dtype=np.float32, requires_grad=True)
    assert ag.grad(special.logsumexp(x), x).tolist() == [0.5, 0.5]


def test_normal_distribution_far_to_the_left() -> None:
    x = np.array([-50.0, -1000.0, -1e10])
    leaf = ag.tensor(x, requires_grad=True)
    np.testing.assert_allclose(special.log_ndtr(leaf).array, scipy_special.log_ndtr(x))
    first = ag.grad(special.log_ndtr(leaf), leaf, 1.0, create_graph=True)
    # The hazard is -x - 1/x + 2/x³ - 10/x⁵ + 74/x⁷ - … there.
    series = -x - 1 / x + 2 / x**3 - 10 / x**5 + 74 / x**7
    np.testing.assert_allclose(first.array, series, rtol=1e-12)
    (second,) = ag.grad(first[0], [leaf])
    assert second.tolist()[0] == pytest.approx(-1 + 50.0**-2 - 6 * 50.0**-4, rel=1e-5)
    assert derivatives(special.log_ndtr, 100.0, 2) == [0, 0]


def test_scaled_bessel_functions_far_out() -> None:
    for x in (-1000.0, 1000.0):
        found = derivatives(special.i0e, x, 1)[0]
        exact = scipy_special.i1e(x) - np.sign(x) * scipy_special.i0e(x)
        assert found == pytest.approx(exact, rel=1e-9)


# --- special points ------------------------------------------------------------------------------


def test_nothing_but_minus_infinity() -> None:
    assert special.logsumexp(np.array([-inf, -inf])) == -inf
    assert special.logsumexp(np.array([inf, 1.0])) == inf
    for name in ("softmax", "log_softmax", "logsumexp"):
        assert np.isnan(gradients(getattr(special, name), [-inf, -inf])[0]).all()
    assert np.isnan(special.softmax(np.array([-inf, -inf]))).all()
    assert gradients(special.logsumexp, [-inf, 0.0]) == [[0, 1]]
    assert gradients(lambda x: special.softmax(x)[1], [-inf, 0.0, 0.0]) == [[0, 0.25, -0.25]]


def test_reductions_of_nothing() -> None:
    empty = ag.tensor(np.zeros((0, 3)), requires_grad=True)
    assert special.softmax(empty, axis=0).shape == (0, 3)
    assert special.log_softmax(empty, axis=0).shape == (0, 3)
    total = special.logsumexp(empty, axis=0)
    assert total.tolist() == [-inf] * 3
    assert ag.grad(total, empty, 1.0).shape == (0, 3)


@pytest.mark.parametrize(
    ("function", "inputs", "expected"),
    [
        # What torch gives.
        (special.xlogy, [0, 0], [0, nan]),
        (special.xlogy, [0, 2], [math.log(2), 0]),
        (special.xlogy, [0, -1], [0, 0]),
        (special.xlogy, [1, 0], [-inf, inf]),
        (special.xlog1py, [0, -1], [0, nan]),
        (special.entr, [0], [inf]),
        (special.logit, [0], [inf]),
        (special.logit, [-0.5], [nan]),
        (special.i0e, [0], [0]),
        (special.sinc, [0], [0]),
        # The derivatives from the right, where they exist.
        (special.rel_entr, [0, 1], [-inf, 0]),
        (lambda y: special.rel_entr(0.0, y), [0], [0]),
        (lambda y: special.kl_div(0.0, y), [0], [1]),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_special_points(function: Function, inputs: list[Any], expected: list[Any]) -> None:
    np.testing.assert_array_equal(gradients(function, *inputs), expected)


def test_xlogy_at_zero_twice() -> None:
    """At a zero of `x` it is ``x log y`` that is differentiated, unless `y` is zero, too."""
    x = ag.tensor([0.0, 0.0], requires_grad=True)
    y = ag.tensor([2.0, 0.0])
    (first,) = ag.grad(ag.sum(special.xlogy(x, y) * x), [x], create_graph=True)
    (second,) = ag.grad(ag.sum(first), [x])
    assert second.tolist() == [2 * math.log(2), 0]


def test_values_of_products_with_logarithms() -> None:
    x = np.array([0.0, 0.0, 0.0, 2.0, 0.0])
    y = np.array([0.0, -1.0, nan, 3.0, inf])
    np.testing.assert_array_equal(special.xlogy(x, y), scipy_special.xlogy(x, y))
    np.testing.assert_array_equal(special.xlog1py(x, y), scipy_special.xlog1py(x, y))
    assert special.xlogy(2.0, 3.0) == scipy_special.xlogy(2.0, 3.0)


def test_weights_of_zero_silence_anything() -> None:
    a = ag.tensor([1000.0, 0.0, inf], requires_grad=True)
    b = ag.tensor([0.0, 1.0, 0.0], requires_grad=True)
    total = special.logsumexp(a, b=b)
    assert total.item() == scipy_special.logsumexp(a.array, b=b.array) == 0
    assert ag.grad(total, a).tolist() == [0, 1, 0]
    # The gradient of a weight of zero is not zero: it is the exponential.
    a = ag.tensor([1.0, 0.0])
    b = ag.tensor([0.0, 1.0], requires_grad=True)
    assert ag.grad(special.logsumexp(a, b=b), b).tolist() == pytest.approx([math.e, 1])
    with np.errstate(invalid="ignore"):
        assert math.isnan(special.logsumexp(a, b=-1.0).item())


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (-1e5, [100000.00001, -0.9999999999, 2e-15]),
        (-1e3, [1000.000999998, -0.999999000006, 1.9999760003e-09]),
        (-8.5, [8.614595320165171, -0.987192308807728, 0.00279454208534991]),
        (-7.9, [8.022817246208783, -0.985340321015672, 0.00340485942627149]),
    ],
)
def test_log_ndtr_far_to_the_left(x: float, expected: list[float]) -> None:
    """The hazard and minus the argument are all but equal there; values by 120 digits."""
    found = derivatives(special.log_ndtr, x, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=2e-11)


def test_derivatives_of_zeta() -> None:
    x = ag.tensor([2.5, 0.0, -1.0, 40.0, 0.5, -2.0], requires_grad=True)
    value = special.zeta(x)
    assert value.detach().tolist() == pytest.approx(scipy_special.zeta(x.detach().array).tolist())
    n, glaisher = 10**6, 1.2824271291006226
    rest = (math.log(n) / 1.5 + 1 / 1.5**2) * n**-1.5 + math.log(n) / 2 * n**-2.5
    expected = [
        -sum(math.log(k) / k**2.5 for k in range(1, n)) - rest,
        -math.log(2 * math.pi) / 2,
        1 / 12 - math.log(glaisher),
        -math.log(2) * 2.0**-40 - math.log(3) * 3.0**-40,
        -3.9226461392091517,
        -scipy_special.zeta(3.0) / (4 * math.pi**2),
    ]
    np.testing.assert_allclose(ag.grad(value.sum(), x).array, expected, rtol=1e-9)
    q = ag.tensor(1.5, requires_grad=True)
    by_q = -2.5 * scipy_special.zeta(3.5, 1.5)
    assert ag.grad(special.zeta(2.5, q), q).item() == pytest.approx(by_q)


@pytest.mark.parametrize("x", [1.1, 3.0, 30.0])
@pytest.mark.parametrize("q", [0.05, 1.0, 7.5, 1e4])
def test_zeta_of_hurwitz_by_both_arguments(x: float, q: float) -> None:
    inputs = [ag.tensor(x, requires_grad=True), ag.tensor(q, requires_grad=True)]
    scale = special.zeta(x, q)
    assert gradcheck(lambda x, q: special.zeta(x, q) / scale, inputs, rtol=1e-4, atol=1e-6)
    if q == 1.0:
        assert gradgradcheck(special.zeta, inputs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
@pytest.mark.parametrize("a", [0.01, 0.8, 7.0, 150.0])
@pytest.mark.parametrize("share", [0.1, 0.8, 1.1, 3.0])
def test_incomplete_gamma_by_its_parameter(name: str, a: float, share: float) -> None:
    """By the derivative of ``P(a + 1, x) = P(a, x) - x**a exp(-x) / gamma(a + 1)``."""
    x = a * share
    at = ag.tensor(a, requires_grad=True)
    function = getattr(special, name)
    step = ag.exp(at * math.log(x) - x - special.gammaln(at + 1))
    sign = 1 if name == "gammainc" else -1
    for order in (1, 2):
        left = function(at + 1, x) - function(at, x)
        right = -sign * step
        for _ in range(order):
            left, right = (ag.grad(y, at, create_graph=True) for y in (left, right))
        scale = abs(derivatives(lambda y: function(y, x), a, order)[-1])
        assert abs(left.item() - right.item()) < 1e-9 * (scale + abs(right.item()))


@pytest.mark.parametrize("a", [0.05, 0.9, 40.0])
@pytest.mark.parametrize("b", [0.3, 6.0])
@pytest.mark.parametrize("x", [1e-5, 0.3, 0.97])
def test_incomplete_beta_by_its_parameters(a: float, b: float, x: float) -> None:
    """By symmetry, and by ``I(a + 1, b) = I(a, b) - x**a (1 - x)**b / (a B(a, b))``."""
    p, q = (ag.tensor(v, requires_grad=True) for v in (a, b))
    value = special.betainc(p, q, x)
    step = ag.exp(p * math.log(x) + q * math.log1p(-x) - special.betaln(p, q)) / p
    found = ag.grad(value - special.betainc(p + 1, q, x), [p, q], retain_graph=True)
    expected = ag.grad(step, [p, q])
    scale = sum(abs(g.item()) for g in ag.grad(value, [p, q]))
    for left, right in zip(found, expected, strict=True):
        assert abs(left.item() - right.item()) < 1e-9 * (scale + abs(right.item()))


def test_the_distribution_of_f() -> None:
    x = np.array([0.0, 0.4, 1.0, 30.0, 1e6])
    for name in ("fdtr", "fdtrc"):
        expected = getattr(scipy_special, name)(3.0, 5.0, x)
        np.testing.assert_allclose(getattr(special, name)(3.0, 5.0, x), expected, rtol=1e-12)


# --- dtypes, libraries, and what is imported -----------------------------------------------------


@over("name, dtype", [(n, d) for n in special.__all__ for d in (np.float16, np.float32)], first=2)
def test_dtypes_stay(name: str, dtype: Any) -> None:
    x = ag.tensor([0.3, 0.4], dtype=dtype, requires_grad=True)
    function = getattr(special, name)
    first: dict[str, tuple[Any, ...]] = {
        **dict.fromkeys(("xlogy", "xlog1py", "rel_entr", "kl_div", "betaln"), (x,)),
        **dict.fromkeys(("zeta", "gammainc", "gammaincc"), (2.0,)),
        "polygamma": (2,),
        **dict.fromkeys(("betainc", "fdtr", "fdtrc"), (2.0, 3.0)),
    }
    y = function(*first.get(name, ()), x)
    assert y.dtype == dtype
    assert ag.grad(ag.sum(y), x).dtype == dtype


def test_integers_are_numbers_too() -> None:
    x = np.array([0, 1, 3])
    for name in ("expit", "softplus", "log_expit", "softmax", "log_softmax", "logsumexp", "sinc"):
        expected = by_scipy(name)(x.astype(float))
        np.testing.assert_allclose(getattr(special, name)(x), expected, atol=1e-15)


def test_numbers_are_accepted() -> None:
    assert special.erf(0.5) == scipy_special.erf(0.5)
    assert special.expit(0.5) == pytest.approx(scipy_special.expit(0.5))


_IN_TORCH = (
    "expit logit erf erfc erfinv gammaln digamma psi entr i0 i0e i1 i1e ndtr log_ndtr ndtri sinc"
).split()


@pytest.mark.parametrize("name", _IN_TORCH)
def test_against_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    x = np.array([0.05, 0.3, 0.6, 0.95])
    ours, theirs = ag.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    y, expected = getattr(special, name)(ours), getattr(torch.special, name)(theirs)
    assert_close(y.detach(), expected.detach().numpy(), rtol=1e-10)
    seed = np.array([1.0, -2.0, 3.0, -4.0])
    (value,) = torch.autograd.grad(expected, theirs, torch.tensor(seed))
    assert_close(ag.grad(y, ours, seed), value.numpy(), rtol=1e-10)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_reductions_against_torch(name: str, axis: int) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 4, 5)) * 10
    ours, theirs = ag.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    y = getattr(special, name)(ours, axis=axis)
    expected = getattr(torch.special, name)(theirs, axis)
    assert_close(y.detach(), expected.detach().numpy(), rtol=1e-10)
    seed = rng.standard_normal(y.shape)
    (value,) = torch.autograd.grad(expected, theirs, torch.tensor(seed))
    assert_close(ag.grad(y, ours, seed), value.numpy(), rtol=1e-10)


LIBRARIES = ["torch", "array_api_strict"]


@over("name, library", [(name, library) for name in _ELEMENTWISE for library in LIBRARIES], first=2)
def test_over_other_libraries(name: str, library: str) -> None:
    """Two orders, over arrays that SciPy's functions do not compute on."""
    xp = pytest.importorskip(library)
    function, x = _ELEMENTWISE[name]
    expected = derivatives(function, x, 2)
    at = ag.tensor(xp.asarray(x, dtype=xp.float64), requires_grad=True)
    y = function(at)
    assert isinstance(y.array, type(at.array))
    assert y.item() == pytest.approx(function(ag.tensor(x)).item(), rel=1e-9)
    (first,) = ag.grad(y, [at], create_graph=True)
    (second,) = ag.grad(first, [at])
    assert [first.item(), second.item()] == pytest.approx(expected, rel=1e-8)


def test_what_training_needs_works_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel.cache_clear()
    for module in [m for m in sys.modules if m.partition(".")[0] == "scipy"]:
        monkeypatch.setitem(sys.modules, module, None)
    x = ag.tensor([0.3, 0.4], requires_grad=True)
    for name in ("expit", "softplus", "log_expit", "logsumexp", "softmax", "log_softmax", "sinc"):
        ag.grad(ag.sum(getattr(special, name)(x)), x)
    ag.grad(ag.sum(special.xlogy(x, x)), x)
    with pytest.raises(ImportError, match=r"special\.erf computes with SciPy.*arraygrad\[scipy\]"):
        special.erf(x)


def test_importing_does_not_import_scipy() -> None:
    code = "import sys, arraygrad; print(any(m.startswith('scipy') for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_kinks_of_nothing() -> None:
    """Sigmoids and their kin are smooth through zero, whichever branch computes them."""
    x = ag.tensor([-1e-3, 0.0, 1e-3], requires_grad=True)
    for function in (special.softplus, special.log_expit, special.expit):
        assert gradcheck(function, x)


@pytest.mark.parametrize(
    "z", [1 + 1j, 0.3 - 2j, -2.5 + 0.1j, -7.3 - 4j, 60 + 5j, 0.5 + 40j, 3 + 0j]
)
def test_digamma_of_complex_numbers(z: complex) -> None:
    import scipy.special

    x = ag.tensor([z], requires_grad=True)
    out = scipy.special.digamma(x)
    assert_close(out.detach(), scipy.special.digamma(np.asarray([z])))
    first = ag.grad(out, x, ag.ones_like(x))
    # By the trapezoidal rule on a circle, which is exact to rounding.
    around = np.exp(2j * np.pi * np.arange(64) / 64)
    values = scipy.special.digamma(z + 0.05 * around)
    expected = np.atleast_1d(np.mean(values / around) / 0.05)
    assert_close(np.conj(first.numpy()), expected, rtol=1e-11, atol=1e-12)
    assert gradgradcheck(ag.special.digamma, [x])
