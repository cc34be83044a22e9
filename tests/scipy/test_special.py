"""Special functions at points where formulas divide by zero: derivatives of the fourth order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
from crossing import IS_RECENT

import arraygrad as ag
from arraygrad.scipy import special


def derivatives(function: Callable[[Any], Any], x: float, order: int = 4) -> list[float]:
    at = ag.tensor(x, requires_grad=True)
    y, found = function(at), []
    for _ in range(order):
        (y,) = ag.grad(y, [at], create_graph=True, materialize_grads=True)
        found.append(y.item())
    return found


def _central(n: int) -> float:
    """A coefficient of the series of the elliptic integrals: (2n)! / (2**n n!)**2, squared."""
    return (math.comb(2 * n, n) / 4**n) ** 2


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("ellipk", 0.0, lambda n: math.pi / 2 * _central(n) * math.factorial(n)),
        ("ellipe", 0.0, lambda n: -math.pi / 2 * _central(n) / (2 * n - 1) * math.factorial(n)),
        ("ellipkm1", 1.0, lambda n: math.pi / 2 * _central(n) * math.factorial(n) * (-1) ** n),
        ("exprel", 0.0, lambda n: 1 / (n + 1)),
        ("spence", 1.0, lambda n: (-1) ** n * math.factorial(n) / n**2),
        ("dawsn", 0.0, lambda n: {1: 1.0, 2: 0.0, 3: -4.0, 4: 0.0}[n]),
        ("j1", 0.0, lambda n: {1: 0.5, 2: 0.0, 3: -0.375, 4: 0.0}[n]),
        ("cosm1", 0.0, lambda n: {1: 0.0, 2: -1.0, 3: 0.0, 4: 1.0}[n]),
    ],
)
def test_series(name: str, x: float, expected: Callable[[int], float]) -> None:
    found = derivatives(getattr(special, name), x)
    assert found == pytest.approx([expected(n) for n in range(1, 5)], rel=1e-12, abs=1e-12)


def test_lambert_at_zero() -> None:
    found = derivatives(lambda z: ag.real(special.lambertw(z)), 0.0)
    assert found == pytest.approx([(-n) ** (n - 1) for n in range(1, 5)], rel=1e-12)


def test_incomplete_elliptic_integrals_without_parameter() -> None:
    """Both are the angle for m = 0; the derivative by m is half the integral of sin squared."""
    half = (1.3 - math.sin(1.3) * math.cos(1.3)) / 4
    assert derivatives(lambda m: special.ellipkinc(1.3, m), 0.0, 1)[0] == pytest.approx(half)
    assert derivatives(lambda m: special.ellipeinc(1.3, m), 0.0, 1)[0] == pytest.approx(-half)
    turns = derivatives(lambda m: special.ellipkinc(1.3 + 4 * math.pi, m), 0.0, 1)[0]
    assert turns == pytest.approx(half + math.pi, rel=1e-13)


def test_student_at_the_centre() -> None:
    """By symmetry, the distribution function is one half for all degrees of freedom."""
    assert derivatives(lambda df: special.stdtr(df, 0.0), 3.0, 2) == [0.0, 0.0]


def test_real_functions_of_complex_numbers_keep_gradients_real() -> None:
    x = ag.tensor(0.7, requires_grad=True)
    gradient = ag.grad(ag.imag(special.hankel1(1, x)), x)
    assert gradient.dtype == ag.float64
    y = ag.tensor(0.7, requires_grad=True)
    assert gradient.item() == pytest.approx(ag.grad(special.yv(1, y), y).item())


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("boxcox", (0.0, 0.4)),
        ("gdtr", (-0.4, 0.5, -0.5)),
        ("bdtr", (0.4, 3.0, 0.4)),
        ("nbdtr", (-1.0, 3.0, 0.4)),
        ("pdtr", (-0.4, 0.5)),
        ("voigt_profile", (0.3, 0.0, 0.5)),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_values_are_those_of_scipy_everywhere(name: str, arguments: tuple[float, ...]) -> None:
    """Also where a formula has none, or another, such as for negative parameters."""
    first, *others = arguments
    found = getattr(special, name)(ag.tensor(first, requires_grad=True), *others)
    expected = getattr(scipy.special, name)(*arguments)
    np.testing.assert_array_equal(found.detach(), expected)


@pytest.mark.filterwarnings("ignore:floating point number truncated:RuntimeWarning")
@pytest.mark.parametrize("name", ["yn", "kn", "expn"])
def test_orders_lose_their_fraction(name: str) -> None:
    slope = ag.func.grad(lambda x, n: getattr(special, name)(n, x))
    assert slope(np.array(0.7), 2.9) == slope(np.array(0.7), 2)


@pytest.mark.parametrize("name", ["ellipk", "ellipe", "j0", "gammaln", "expi"])
def test_gradients_have_the_precision_of_the_argument(name: str) -> None:
    x = ag.tensor(np.array([0.3, 0.5], np.float32), requires_grad=True)
    out = getattr(special, name)(x)
    assert out.dtype == getattr(scipy.special, name)(x.detach().numpy()).dtype
    assert ag.grad(out.sum(), x).dtype == np.float32


def test_keywords_of_universal_functions_are_refused() -> None:
    x = ag.tensor([0.5, 1.5], requires_grad=True)
    for name, keywords in (("j0", {"out": np.zeros(2)}), ("chdtr", {"where": [True, False]})):
        with pytest.raises(TypeError, match=f"{name} of tensors takes no {next(iter(keywords))}="):
            getattr(special, name)(*([2.0] if name == "chdtr" else []), x, **keywords)
    assert special.j0([x[0], 2.0]).tolist() == pytest.approx(scipy.special.j0([0.5, 2.0]))


def test_integrals_of_carlson_left_of_zero_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="negative real part"):
        special.elliprf(1.0, 2.0, ag.tensor(-3.0 + 0.4j, requires_grad=True))


@pytest.mark.parametrize(
    ("name", "at", "expected"),
    [
        ("poch", (0.0, 2.0), 1.0),  # z (z + 1)
        ("poch", (-1.0, 3.0), -1.0),  # z (z + 1) (z + 2)
        ("poch", (-2.0, 2.0), -3.0),
        ("poch", (-3.0, -1.0), -1 / 16),  # 1 / (z - 1)
        ("beta", (-2.0, 1.0), -1 / 4),  # 1 / a
        ("beta", (-2.0, 2.0), 3 / 4),  # 1 / (a (a + 1))
        ("binom", (1.0, 3.0), -1 / 6),  # n (n - 1) (n - 2) / 6
        ("beta", (-0.5, -0.5), -2 * np.pi * 2),
    ],
)
def test_derivatives_at_removable_points(name: str, at: Any, expected: float) -> None:
    own, first, other = getattr(special, name), *at
    found = ag.func.grad(lambda x: own(x, other))(first)
    h = 1e-4
    steps = [getattr(scipy.special, name)(first + k * h, other) for k in (1, -1, 2, -2)]
    numbers = (8 * (steps[0] - steps[1]) - (steps[2] - steps[3])) / (12 * h)
    assert found == pytest.approx(numbers, rel=1e-6)
    if name != "beta":
        assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("name", "at", "by", "expected"),
    [
        ("fdtr", (1.0, 5.0, 0.0), 0, 0.0),
        ("fdtr", (1.0, 5.0, 0.0), 1, 0.0),
        ("fdtr", (2.0, 5.0, 0.0), 2, 1.0),
        # For few numerators, p is almost C sqrt(x): then dx/dp = 2 x / p.
        ("fdtri", (1.0, 10.0, 1e-10), 2, 2e10 * scipy.special.fdtri(1.0, 10.0, 1e-10)),
        ("ellipkinc", (1.25, 1.0), 1, 1.930738405110685),
        ("ellipkinc", (0.5, 1.0), 1, 0.025067566595210035),
        ("stdtr", (3.0, 1e-12), 0, 9.732981649988488e-15),
        ("stdtr", (900.0, 1e-6), 0, 1.2309605935880242e-13),
        ("gammainc", (1e-5, 100.0), 0, -3.683980294645447e-46),
        ("dawsn", (1e8,), 0, -5e-17),
        ("erfcx", (1e8,), 0, -1e-16 / np.sqrt(np.pi)),
        ("voigt_profile", (3e7, 1.0, 2.0), 0, -4 / np.pi / 3e7**3),
    ],
)
def test_derivatives_in_tails_and_at_limits(
    name: str, at: tuple[float, ...], by: int, expected: float
) -> None:
    found = ag.func.grad(getattr(special, name), argnums=by)(*at)
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("k", [0.0, 2.0])
def test_binom_has_no_derivative_where_scipy_has_no_value(k: float) -> None:
    assert np.isnan(scipy.special.binom(-1.0, k))
    assert np.isnan(ag.func.grad(lambda n: special.binom(n, k))(-1.0))


@pytest.mark.filterwarnings("ignore")
def test_a_count_without_its_fraction_is_a_constant() -> None:
    for name in ("bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc"):
        own = getattr(special, name)
        by_p, by_n = ag.func.grad(lambda p, n, f=own: f(2, n, p), argnums=(0, 1))(0.3, 5.5)
        h = 1e-5
        theirs = getattr(scipy.special, name)
        difference = (theirs(2, 5.5, 0.3 + h) - theirs(2, 5.5, 0.3 - h)) / (2 * h)
        assert by_n == 0
        assert by_p == pytest.approx(difference, rel=1e-6), name


@pytest.mark.parametrize(
    ("function", "at", "derivatives"),
    [
        (lambda x: special.gammainc(1.0, x), 0.0, (1.0, -1.0, 1.0)),
        (lambda x: special.gammainc(2.0, x), 0.0, (0.0, 1.0, -2.0)),
        (lambda x: special.gammaincc(3.0, x), 0.0, (0.0, 0.0, -1.0)),
        (lambda x: special.gammainc(0.5, x), 0.0, (np.inf, -np.inf, np.inf)),
        (lambda x: special.betainc(1.0, 1.0, x), 0.0, (1.0, 0.0, 0.0)),
        (lambda x: special.betainc(2.0, 3.0, x), 0.0, (0.0, 12.0, -48.0)),
        (lambda x: special.betainc(2.0, 3.0, x), 1.0, (0.0, 0.0, 24.0)),
        (lambda x: special.betainc(1000.0, 1000.0, x), 0.0, (0.0, 0.0, 0.0)),
    ],
)
def test_derivatives_of_all_orders_at_the_ends(
    function: Any, at: float, derivatives: tuple[float, ...]
) -> None:
    for expected in derivatives:
        function = ag.func.grad(function)
        np.testing.assert_allclose(function(at), expected, rtol=1e-12)


@pytest.mark.skipif(not IS_RECENT, reason="older versions of SciPy have no sph_harm_y")
def test_spherical_harmonics_at_the_poles() -> None:
    size = -0.5 * np.sqrt(1.5 / np.pi)  # of the sine of theta, for n = m = 1
    for theta in (0.0, np.pi):
        for order, expected in ((1, size * np.cos(theta) * np.exp(0.7j)), (0, 0.0)):
            _, found = ag.func.jvp(
                lambda t, m=order: special.sph_harm_y(1, m, t, 0.7), (theta,), (1.0,)
            )
            assert complex(found) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(("name", "count"), [("elliprf", 3), ("elliprd", 3), ("elliprj", 4)])
@pytest.mark.parametrize("small", [1e-24, 1e-14, 1e-6])
def test_symmetric_integrals_of_arguments_far_apart(name: str, count: int, small: float) -> None:
    """They are homogeneous of degree -1/2 or -3/2, and their values are SciPy's: by Euler, the sum
    of slopes times arguments is the value times the degree."""
    function, degree = getattr(special, name), -0.5 if name == "elliprf" else -1.5
    for place in range(count):
        at = [small if i == place else 0.7 + 0.3 * i for i in range(count)]
        slopes = ag.func.grad(function, argnums=tuple(range(count)))(*at)
        total = sum(s * x for s, x in zip(slopes, at, strict=True))
        assert total == pytest.approx(degree * function(*at), rel=1e-13)
        step = 1e-3 * small
        far = [[x + k * step * (i == place) for i, x in enumerate(at)] for k in (-2, -1, 1, 2)]
        low, before, after, high = (function(*point) for point in far)
        difference = (8 * (after - before) - (high - low)) / (12 * step)
        noise = 1e-14 * function(*at) / step
        assert slopes[place] == pytest.approx(difference, rel=1e-6, abs=noise)


def test_symmetric_integrals_that_are_infinite_have_no_slope() -> None:
    """Where their last argument is zero; where another one is, the slopes by the rest are known."""
    for name, count in (("elliprc", 2), ("elliprd", 3), ("elliprj", 4)):
        slope = ag.func.grad(getattr(special, name))(*np.arange(count - 1.0) + 0.5, 0.0)
        assert math.isnan(slope)
    by_others = ag.func.grad(special.elliprf, argnums=(1, 2))(0.0, 1.0, 1.0)
    assert by_others == pytest.approx((-math.pi / 8, -math.pi / 8), rel=1e-13)
