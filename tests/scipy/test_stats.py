"""Distributions, beyond the table: random numbers, ends of supports, what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from cases_stats import CONTINUOUS
from crossing import IS_RECENT
from rows import over
from scipy.stats._distr_params import distcont

import arraygrad as ag
from arraygrad.errors import NoGradientError
from arraygrad.scipy import stats
from arraygrad.scipy.stats.distribution import AS_EXACT


@pytest.mark.parametrize(
    ("name", "shapes"),
    [("gamma", (2.5,)), ("beta", (0.8, 2.0)), ("t", (3.5,)), ("truncnorm", (-0.5, 1.5))],
)
def test_random_numbers_move_like_quantiles(name: str, shapes: tuple[float, ...]) -> None:
    tensors = [ag.tensor(s, requires_grad=True) for s in shapes]
    drawn = getattr(stats, name).rvs(*tensors, size=5, random_state=1)
    original = getattr(scipy.stats, name)
    expected = original.rvs(*shapes, size=5, random_state=1)
    np.testing.assert_allclose(drawn.detach(), expected, rtol=1e-14)
    q = original.cdf(expected, *shapes)
    for i, gradient in enumerate(ag.grad(drawn.sum(), tensors)):
        step = np.eye(len(shapes))[i] * 1e-5
        above, below = (original.ppf(q, *(shapes + s)) for s in (step, -step))
        assert gradient.item() == pytest.approx(((above - below) / 2e-5).sum(), rel=1e-5)


def test_random_normal_vectors() -> None:
    root = ag.tensor([[1.0, 0.3], [0.0, 0.8]], requires_grad=True)
    mean = ag.tensor([1.0, -1.0], requires_grad=True)
    drawn = stats.multivariate_normal.rvs(mean, root @ root.T, size=3, random_state=2)
    values = root.detach().numpy()
    expected = scipy.stats.multivariate_normal.rvs(
        [1.0, -1.0], values @ values.T, size=3, random_state=2
    )
    np.testing.assert_allclose(drawn.detach(), expected, rtol=1e-12)
    by_mean, by_root = ag.grad(drawn.sum(), [mean, root])
    assert by_mean.tolist() == [3.0, 3.0]
    assert np.abs(by_root.numpy()).max() > 0


@pytest.mark.parametrize(
    ("name", "fixed"), [("norm", {}), ("gamma", {"floc": 0.0}), ("t", {"f0": 3.0})]
)
def test_fits_by_the_data(name: str, fixed: dict[str, float]) -> None:
    """By the condition that the gradient of the likelihood is zero, differentiated by hand."""
    data = scipy.stats.gamma.rvs(3.0, size=12, random_state=5)
    x = ag.tensor(data, requires_grad=True)
    distribution = getattr(stats, name)
    found = distribution.fit(x, **fixed)
    expected = getattr(scipy.stats, name).fit(data, **fixed)
    np.testing.assert_allclose(
        [float(np.asarray(p.detach())) if isinstance(p, ag.Tensor) else p for p in found],
        expected,
        rtol=1e-3,
    )
    free = [k for k, p in enumerate(found) if isinstance(p, ag.Tensor) and p.requires_grad]
    values = np.array([found[k].item() for k in free])

    def gradient(parameters: Any, at: Any) -> Any:
        def loss(moving: Any) -> Any:
            every = [float(np.asarray(getattr(p, "array", p))) for p in found]
            for k, place in enumerate(free):
                every[place] = moving[k]
            return ag.sum(distribution.logpdf(at, *every))

        return ag.func.grad(loss)(parameters)

    hessian = ag.func.jacrev(gradient)(values, data)
    mixed = ag.func.jacrev(gradient, argnums=1)(values, data)
    for row, k in zip(-np.linalg.solve(hessian, mixed), free, strict=True):
        np.testing.assert_allclose(
            ag.grad(found[k], x, retain_graph=True), row, rtol=1e-5, atol=1e-8
        )


def test_quantiles_of_counts_are_constants() -> None:
    p = ag.tensor([0.3, 0.6], requires_grad=True)
    found = stats.binom.ppf(0.7, 9, p)
    assert not found.requires_grad
    assert found.tolist() == scipy.stats.binom.ppf(0.7, 9, [0.3, 0.6]).tolist()
    batch = ag.func.vmap(lambda p: stats.poisson.isf(0.3, p, loc=1))(np.array([1.5, 8.0]))
    assert batch.tolist() == scipy.stats.poisson.isf(0.3, [1.5, 8.0], loc=1).tolist()
    with pytest.raises(NotImplementedError, match="outside vmap"):
        ag.func.vmap(lambda p: stats.poisson.rvs(p, size=2))(np.array([1.5, 8.0]))


def test_outside_of_the_support() -> None:
    x = ag.tensor([-1.0, 0.5, np.nan], requires_grad=True)
    density = stats.gamma.pdf(x, 2.0)
    np.testing.assert_array_equal(density.detach(), scipy.stats.gamma.pdf(x.detach(), 2.0))
    assert stats.gamma.cdf(x, 2.0)[0].item() == 0.0
    gradient = ag.grad(density[:2].sum(), x)
    assert gradient[0].item() == 0.0
    assert np.isfinite(gradient[1].item())


_ENDS = np.array([-0.1, 0.0, 1.0, 1.1])
_AT = np.array([-3.0, -0.5, 0.0, 0.5, 1.0, 7.0, 50.0, np.nan])
_SHAPES = {"t": (3.3,), "lognorm": (0.6,), "pareto": (2.6,), "beta": (2.0, 1.5), "invgamma": (2.7,)}
_COUNTS = {"binom": (7, 0.3), "poisson": (2.3,), "nbinom": (3.2, 0.4), "geom": (0.35,)}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [*_SHAPES, "expon", "cauchy", "uniform", "laplace", "halfnorm"])
def test_ends_are_those_of_scipy(name: str) -> None:
    shapes = _SHAPES.get(name, ())
    ours, original = getattr(stats, name), getattr(scipy.stats, name)
    for methods, at in (("ppf isf", _ENDS), ("pdf logpdf cdf sf logcdf logsf", _AT)):
        for method in methods.split():
            x = ag.tensor(at, requires_grad=True)
            found = getattr(ours, method)(x, *shapes, loc=0.5, scale=2.0).detach().numpy()
            expected = getattr(original, method)(at, *shapes, loc=0.5, scale=2.0)
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-15, err_msg=method)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [*_COUNTS, "bernoulli"])
def test_ends_of_counts_are_those_of_scipy(name: str) -> None:
    shapes = _COUNTS.get(name, (0.3,))
    for method in ("pmf", "logpmf", "cdf", "sf", "logcdf", "logsf"):
        tensors = [ag.tensor(float(s), requires_grad=True) for s in shapes]
        found = getattr(getattr(stats, name), method)(_AT, *tensors).detach().numpy()
        expected = getattr(getattr(scipy.stats, name), method)(_AT, *shapes)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-14, err_msg=method)
        tensors[-1] = ag.tensor(-0.3, requires_grad=True)
        own = getattr(getattr(scipy.stats, name), method)(1, *shapes[:-1], -0.3)
        found = getattr(getattr(stats, name), method)(1, *tensors).item()
        np.testing.assert_equal(found, own, err_msg=method)


@pytest.mark.parametrize("counts", [[1, 2, 3], [1, 2, 2], [-1, 4, 3]])
def test_multinomial_is_that_of_scipy(counts: list[float]) -> None:
    """Also for counts that do not make the sum."""
    p = np.array([0.2, 0.3, 0.5])
    found = stats.multinomial.logpmf(counts, 6, ag.tensor(p, requires_grad=True))
    assert found.item() == pytest.approx(scipy.stats.multinomial.logpmf(counts, 6, p))


def test_wishart_of_several_matrices() -> None:
    x = np.stack([np.eye(3) * 2, np.eye(3) + 0.2, np.diag([1.0, 2.0, 3.0])], axis=-1)
    scale = np.eye(3) + 0.1
    found = stats.wishart.logpdf(ag.tensor(x, requires_grad=True), 4.5, scale)
    np.testing.assert_allclose(found.detach(), scipy.stats.wishart.logpdf(x, 4.5, scale))


def test_parameters_that_are_not_valid_give_nan() -> None:
    a = ag.tensor([-1.0, 2.0], requires_grad=True)
    assert np.isnan(stats.gamma.logpdf(1.0, a).detach().numpy()).tolist() == [True, False]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: stats.norm.fit(x, method="MM"), "norm.fit of tensors has method='MLE'"),
        (lambda x: stats.dirichlet.logpdf(x, x), "sum along the first axis must be one"),
        (lambda x: stats.multinomial.logpmf([1, 2], 3, x), "must have the sum one"),
        (lambda x: stats.wishart.logpdf(np.eye(3), x[0], np.eye(3)), "df must be larger than 2"),
        (lambda x: stats.gamma.logpdf(x), "missing the parameters a"),
        (lambda x: stats.norm.pdf(x, shape=1.0), "unexpected parameter 'shape'"),
    ],
)
def test_refused(call: Any, message: str) -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=message):
        call(x)


def test_normal_vectors_in_a_subspace() -> None:
    """A singular covariance: SciPy's values, and derivatives by a factor of the covariance."""
    points = np.array([[1.0, 2.0, 3.0], [0.1, -0.3, -0.2], [1.0, 0.0, 0.0]])  # the last is outside
    start = np.array([[1.0, 0.2], [0.3, 1.5]])

    def density(root: Any, module: Any) -> Any:
        lift = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        cov = lift @ (root @ root.T) @ lift.T
        return module.multivariate_normal.logpdf(points, np.zeros(3), cov, allow_singular=True)

    root = ag.tensor(start, requires_grad=True)
    found = density(root, stats)
    np.testing.assert_allclose(found.detach(), density(start, scipy.stats), rtol=1e-10)
    assert found[2].item() == -np.inf
    gradient = ag.grad(found[:2].sum(), root)
    for i, j in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[i, j] = 1e-6
        above, below = (density(start + s, scipy.stats)[:2].sum() for s in (step, -step))
        assert gradient[i, j].item() == pytest.approx((above - below) / 2e-6, rel=1e-5)
    with pytest.raises(ValueError, match="semidefinite"):
        stats.multivariate_normal.logpdf(
            points, np.zeros(3), ag.tensor(np.diag([1.0, 1.0, -1.0])), allow_singular=True
        )


def test_values_have_double_precision_as_those_of_scipy() -> None:
    x = ag.tensor(np.array([0.3, 0.5], np.float32), requires_grad=True)
    out = stats.gamma.logpdf(x, 2.5)
    np.testing.assert_allclose(
        out.detach(), scipy.stats.gamma.logpdf(x.detach().numpy(), 2.5), rtol=1e-14
    )
    assert out.dtype == np.float64
    assert ag.grad(out.sum(), x).dtype == np.float32


def test_variance_on_a_circle() -> None:
    """For many kappa, 1 / kappa + 1 / (2 kappa**2); it falls from that of equal probabilities."""
    kappa = ag.tensor([1e-9, 1.5, 1e4], requires_grad=True)
    found = stats.vonmises.var(kappa, scale=2.0)
    density = scipy.stats.vonmises(1.5).pdf
    middle = scipy.integrate.quad(lambda y: y * y * density(y), -np.pi, np.pi)[0]
    expected = 4 * np.array([np.pi**2 / 3, middle, 1.0000500054e-4])
    np.testing.assert_allclose(found.detach(), expected, rtol=1e-8)
    assert (ag.grad(found.sum(), kappa).numpy() < 0).all()


def test_normal_variables_far_out() -> None:
    """Between two points in a tail, or up to infinity: values as SciPy's, with derivatives."""
    for low, high, x in ((40.0, 45.0, 40.1), (-np.inf, -30.0, -30.5), (0.0, np.inf, 100.0)):
        t = ag.tensor(x, requires_grad=True)
        for method in ("logpdf", "logcdf", "logsf", "cdf"):
            found = getattr(stats.truncnorm, method)(t, low, high)
            ours = ag.grad(found, t).item()
            own = getattr(scipy.stats.truncnorm, method)
            assert found.item() == pytest.approx(own(x, low, high), rel=1e-9, abs=1e-300)
            slope = (own(x + 1e-5, low, high) - own(x - 1e-5, low, high)) / 2e-5
            assert ours == pytest.approx(slope, rel=1e-5, abs=1e-8), method
    a = ag.tensor(0.5, requires_grad=True)
    variance = stats.truncnorm.var(a, np.inf)
    assert variance.item() == pytest.approx(scipy.stats.truncnorm.var(0.5, np.inf))
    own = scipy.stats.truncnorm.var
    slope = (own(0.5 + 1e-4, np.inf) - own(0.5 - 1e-4, np.inf)) / 2e-4
    assert ag.grad(variance, a).item() == pytest.approx(slope, rel=1e-5)


def test_small_probabilities_keep_their_digits() -> None:
    q = ag.tensor([1e-12, 1e-3], requires_grad=True)
    for name, shapes in (("cauchy", ()), ("truncnorm", (-8.0, 8.0)), ("f", (3.0, 7.0))):
        if name == "cauchy" and not IS_RECENT:
            continue  # SciPy 1.14 loses digits itself
        for method in ("ppf", "isf"):
            found = getattr(getattr(stats, name), method)(q, *shapes)
            own = getattr(getattr(scipy.stats, name), method)
            np.testing.assert_allclose(found.detach(), own(q.detach().numpy(), *shapes), rtol=1e-12)
    shape = ag.tensor(8.0, requires_grad=True)
    found = stats.truncnorm.isf(0.2, -1.0, shape / 4)
    own = scipy.stats.truncnorm.isf
    slope = (own(0.2, -1.0, 2.0 + 1e-6) - own(0.2, -1.0, 2.0 - 1e-6)) / 8e-6
    assert ag.grad(found, shape).item() == pytest.approx(slope, rel=1e-6)


def test_random_numbers_have_the_shape_of_scipys() -> None:
    mean = ag.tensor([0.0, 1.0, 2.0], requires_grad=True)
    for size in (None, 3, (2, 3)):
        drawn = stats.norm(mean).rvs(size, random_state=5)
        own = scipy.stats.norm([0.0, 1.0, 2.0]).rvs(size, random_state=5)
        np.testing.assert_allclose(drawn.detach(), own)
    assert stats.norm.rvs(mean[0], random_state=5).shape == ()
    with pytest.raises(ValueError, match="size does not match"):
        stats.norm.rvs(mean, size=1)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quantiles_of_zero_and_one_have_derivatives() -> None:
    """One-sided by the probability; the ends do not move with the shape parameters."""
    q = ag.tensor([0.0, 1.0], requires_grad=True)
    assert ag.grad(stats.uniform.ppf(q, scale=3.0).sum(), q).tolist() == [3.0, 3.0]
    assert ag.grad(stats.expon.ppf(q[0]), q).tolist() == [1.0, 0.0]
    far = ag.func.grad(lambda b: stats.pareto.isf(1e-200, b))(7.0)  # q ** (-1 / b)
    assert far == pytest.approx(1e-200 ** (-1 / 7) * np.log(1e-200) / 49, rel=1e-12)
    by_ends = ag.func.grad(lambda a, b: stats.truncnorm.ppf(0.0, a, b), argnums=(0, 1))
    assert by_ends(-0.5, 1.0) == pytest.approx((1.0, 0.0), rel=1e-14)
    by_end = ag.func.grad(lambda b: stats.truncnorm.isf(1e-17, 0.1, b))  # SciPy's is above 2
    assert by_end(2.0) == pytest.approx(1.0)
    for name, shapes in (("gamma", (2.5,)), ("beta", (2.0, 1.5))):
        tensors = [ag.tensor(s, requires_grad=True) for s in shapes]
        for method in ("ppf", "isf"):
            both = getattr(getattr(stats, name), method)(np.array([0.0, 0.3, 1.0]), *tensors)
            middle = getattr(getattr(stats, name), method)(0.3, *tensors)
            finite = both[np.isfinite(both.detach().numpy())].sum()
            assert [g.item() for g in ag.grad(finite, tensors)] == [
                g.item() for g in ag.grad(middle, tensors)
            ]


@pytest.mark.parametrize(
    ("name", "shapes", "end", "slope"),
    [
        ("gamma", (1.0,), 0.0, -1.0),
        ("chi2", (2.0,), 0.0, -0.5),
        ("weibull_min", (1.0,), 0.0, -1.0),
        ("f", (2.0, 5.0), 0.0, -1.4),
        ("beta", (1.0, 3.0), 0.0, -2.0),
        ("beta", (3.0, 1.0), 1.0, 2.0),
    ],
)
def test_densities_where_a_power_of_zero_is_one(
    name: str, shapes: tuple[float, ...], end: float, slope: float
) -> None:
    """`slope` is the standard density's relative to its value, on the side of the support."""
    distribution, scale = getattr(stats, name), 2.0
    expected = {"x": slope / scale, "loc": -slope / scale, "scale": -(1 + end * slope) / scale}

    def log_density(x: Any, loc: Any, scale: Any) -> Any:
        return distribution.logpdf(x, *shapes, loc=loc, scale=scale)

    at = 0.5 + end * scale, 0.5, scale
    found = ag.func.grad(log_density, argnums=(0, 1, 2))(*at)
    assert found == pytest.approx(tuple(expected.values()), rel=1e-12)
    if not end:  # the density there is a number over the scale
        by_scale = ag.func.grad(ag.func.grad(log_density, argnums=2), argnums=2)
        assert by_scale(*at) == pytest.approx(scale**-2, rel=1e-12)


@pytest.mark.parametrize("df", [1e9, 1e15, np.inf])
def test_values_and_slopes_of_t_for_many_degrees_of_freedom(df: float) -> None:
    def by_x(method: str) -> Any:
        return ag.func.grad(lambda x: getattr(stats.t, method)(x, df))(1.3)

    x = ag.tensor(1.3, requires_grad=True)
    for method in ("logpdf", "pdf", "cdf", "sf"):
        value = getattr(stats.t, method)(x, df).item()
        assert value == getattr(scipy.stats.t, method)(1.3, df)
    assert by_x("logpdf") == pytest.approx(-1.3, rel=1e-7)
    assert by_x("cdf") == pytest.approx(scipy.stats.norm.pdf(1.3), rel=1e-7)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("t", (1e12,)),
        ("gamma", (1e12,)),
        ("beta", (1e9, 2e9)),
        ("chi2", (1e12,)),
        ("invgamma", (1e9,)),
    ],
)
def test_entropies_are_those_of_scipy(name: str, shapes: tuple[float, ...]) -> None:
    tensors = [ag.tensor(s, requires_grad=True) for s in shapes]
    found = getattr(stats, name).entropy(*tensors)
    assert found.item() == getattr(scipy.stats, name).entropy(*shapes)


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("x", [np.inf, -np.inf])
@pytest.mark.filterwarnings("ignore:invalid value")  # SciPy's own, in densities
def test_at_infinity_location_and_scale_change_nothing(name: str, x: float) -> None:
    shapes = [s[0] for s in CONTINUOUS[name][0]]
    for method in ("cdf", "sf", "pdf", "logcdf", "logsf"):
        for start in (0.3, 0.0):  # 0 may be an end of the support
            loc, scale = ag.tensor(start, requires_grad=True), ag.tensor(2.0, requires_grad=True)
            out = getattr(getattr(stats, name), method)(x, *shapes, loc=loc, scale=scale)
            assert [g.item() for g in ag.grad(out, [loc, scale])] == [0, 0]


@pytest.mark.filterwarnings("ignore")  # SciPy's, about its logarithms of zero
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        *[("gamma", (2.5,)), ("gamma", (0.5,)), ("beta", (2.0, 3.0)), ("beta", (0.5, 3.0))],
        *[("chi2", (4.0,)), ("lognorm", (0.7,)), ("invgamma", (2.0,)), ("f", (3.0, 5.0))],
        *[("f", (1.0, 5.0)), ("maxwell", ()), ("rayleigh", ()), ("weibull_min", (0.5,))],
    ],
)
def test_at_the_end_of_the_support_shapes_and_scale_change_nothing(
    name: str, shapes: tuple[float, ...]
) -> None:
    ways = ["cdf", "sf", "logsf"]
    if getattr(scipy.stats, name).pdf(0.0, *shapes) == 0:
        ways.append("pdf")
    for method in ways:

        def total(x: Any, shapes: Any, scale: Any, method: str = method) -> Any:
            return ag.sum(getattr(getattr(stats, name), method)(x, *shapes, scale=scale))

        at = np.array([0.0, 0.3]), shapes, 2.0
        by = ag.func.grad(total, argnums=(1, 2))
        alone = by(np.array([0.3]), *at[1:])
        for found in (by(*at), ag.compile(by)(*at)):
            np.testing.assert_allclose(np.hstack([*found[0], found[1]]), [*alone[0], alone[1]])


REFUSED = (NotImplementedError, NoGradientError, TypeError)
# SciPy's own values take long; erlang warns of shapes that are not integers.
LEFT_OUT = {"erlang", "kstwo", "levy_stable", "studentized_range", "vonmises_line"}


def test_other_continuous_distributions_are_differentiated_or_refused() -> None:
    done = []
    for name, shapes in distcont:
        if name in stats.__all__ or name in LEFT_OUT:
            continue
        ours, own = getattr(stats, name), getattr(scipy.stats, name)
        q = np.array([0.15, 0.3, 0.6, 0.9])
        for which, points in (
            ("logpdf", own.ppf(q, *shapes)),
            ("cdf", own.ppf(q, *shapes)),
            ("ppf", q),
        ):

            def call(module: Any, v: Any, which: str = which, count: int = len(shapes)) -> Any:
                given = [v[4 + i] for i in range(count)]
                return getattr(module, which)(v[:4], *given, loc=v[-2], scale=v[-1])

            at = np.array([*(points if which == "ppf" else points * 1.3 + 0.2), *shapes, 0.2, 1.3])
            try:
                found = ag.func.jacrev(lambda v, ours=ours, call=call: call(ours, v))(at)
            except REFUSED:
                continue
            steps = 1e-5 * np.maximum(0.1, np.abs(at)) * np.eye(len(at))
            expected = [(call(own, at + s) - call(own, at - s)) / (2 * s.sum()) for s in steps]
            scale = np.abs(expected).max()
            np.testing.assert_allclose(
                found, np.transpose(expected), 1e-3, 1e-4 * scale, err_msg=name
            )
            done.append((name, which))
    assert len(done) > 150
    assert {("rice", "logpdf"), ("burr", "cdf"), ("nakagami", "ppf")} <= {*done}
    with pytest.raises(NotImplementedError, match=r"burr has derivatives of its density"):
        stats.burr.mean(ag.tensor(10.5, requires_grad=True), 4.3)


# --- compiled ------------------------------------------------------------------------------------

HOSTILE_POINTS = np.array(
    [-np.inf, -1e300, -1e10, -40.0, -5.0, -1.0, -1e-8, -0.0, 0.0, 1e-300, 1e-8, 0.3, 0.999999, 1.0]
    + [2.0, 7.0, 50.0, 1e3, 1e10, 1e300, np.inf, np.nan]
)
HOSTILE_SHAPES = [1e-3, 0.5, 1.0, 2.5, 30.0, 1e4, 1e8, -1.0]


@over(
    "name, which",
    [(name, which) for name, several in AS_EXACT.items() for which in several.split()],
)
def test_compiled_values_by_formulas_are_scipys(name: str, which: str) -> None:
    law, scipys = getattr(stats, name), getattr(scipy.stats, name)
    shapes = np.meshgrid(*[HOSTILE_SHAPES] * len(law.shapes)) if law.shapes else []
    shapes = [s.reshape(-1, 1) for s in shapes]
    points = HOSTILE_POINTS
    scales: list[tuple[float, ...]] = [(0.0, 1.0), (0.7, 2.3), (-3.0, 1e-3), (0.0, 1e5)]
    if law.is_discrete:
        points, scales = np.floor(np.clip(points, -1e6, 1e6)), [(0.0,), (2.0,)]
    compiled = ag.compile(lambda *given: getattr(law, which)(*given))
    for scale in scales:
        given = [points, *shapes, *map(np.asarray, scale)]
        with np.errstate(all="ignore"):
            found, expected = compiled(*given), getattr(scipys, which)(*given)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-305)


@pytest.mark.parametrize("df", [5.0, 99.0, 101.0, 1e3, 1e5, 1e7])
def test_students_density_by_its_degrees_of_freedom(df: float) -> None:
    """For many degrees, differences of gamma functions leave no digits of the derivative."""
    mpmath.mp.dps = 50

    def exact(v: Any, x: float) -> Any:
        size = mpmath.loggamma((v + 1) / 2) - mpmath.loggamma(v / 2) - mpmath.log(v * mpmath.pi) / 2
        return size - (v + 1) / 2 * mpmath.log1p(mpmath.mpf(x) ** 2 / v)

    for x in (0.0, 0.7, 5.0, 40.0):
        expected = mpmath.diff(
            lambda v, x=x: exact(v, x), mpmath.mpf(df), h=df * mpmath.mpf(10) ** -15
        )
        found = ag.func.grad(lambda v, x=x: stats.t.logpdf(x, v))(np.asarray(df))
        assert float(found) == pytest.approx(float(expected), rel=1e-8, abs=0)


def _step_of(function: Any, at: float) -> float:
    h = 1e-4 * at
    return float((function(at + h) - function(at - h)) / (2 * h))


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [  # of a parameter that grows, the entropy follows its logarithm
        ("gamma", (1e15,), 0.5e-15),
        ("chi2", (1e15,), 0.5e-15),
        ("invgamma", (1e15,), -1.5e-15),
        ("t", (1e15,), -1e-30),
        ("beta", (1e15, 1e15), -0.25e-15),
        ("f", (1e15, 1e15), -0.25e-15),
        ("vonmises", (1e15,), -0.5e-15),
    ],
)
def test_entropies_of_large_parameters(name: str, parameters: Any, expected: float) -> None:
    entropy = getattr(stats, name).entropy
    found = ag.func.grad(entropy)(*map(np.array, parameters))
    assert float(found) == pytest.approx(expected, rel=1e-9)
    assert np.isfinite(ag.func.grad(ag.func.grad(entropy))(*map(np.array, parameters)))


@pytest.mark.parametrize("name", ["gamma", "chi2", "invgamma", "t", "vonmises"])
@pytest.mark.parametrize("at", [150.0, 190.0, 210.0, 450.0, 550.0])
def test_entropies_by_both_formulas(name: str, at: float) -> None:
    entropy = getattr(stats, name).entropy
    first, second = ag.func.grad(entropy), ag.func.grad(ag.func.grad(entropy))
    expected = _step_of(getattr(scipy.stats, name).entropy, at)
    assert float(first(np.array(at))) == pytest.approx(expected, rel=1e-5)
    expected = _step_of(lambda p: first(np.array(p)), at)
    assert float(second(np.array(at))) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("poisson", (2e3,)), ("binom", (5000.0, 0.3)), ("nbinom", (50.0, 0.2)), ("geom", (1e-4,))],
)
def test_entropies_of_many_counts(name: str, parameters: Any) -> None:
    *fixed, at = parameters
    found = ag.func.grad(lambda p: getattr(stats, name).entropy(*fixed, p))(np.array(at))
    expected = _step_of(lambda p: getattr(scipy.stats, name).entropy(*fixed, p), at)
    assert float(found) == pytest.approx(expected, rel=1e-4)


def test_the_entropy_of_too_many_counts_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="a sum over 2e"):
        stats.poisson.entropy(ag.tensor(1e9))


@pytest.mark.parametrize("df", [1e4, 1e10, 1e15, np.inf])
def test_student_t_of_large_df(df: float) -> None:
    x, square = 0.7, 0.7**2
    density = np.exp(-square / 2) / np.sqrt(2 * np.pi)
    expected = density * x * (square + 1) / 4  # times the square of 1 / df
    scale = 1.0 if np.isinf(df) else df**2
    for name, sign in (("cdf", 1), ("sf", -1)):
        found = ag.func.grad(lambda df: getattr(stats.t, name)(x, df))(np.array(df))  # noqa: B023
        limit = 0.0 if np.isinf(df) else expected * sign
        assert float(found) * scale == pytest.approx(limit, rel=1e-3)
    assert np.isfinite(ag.func.grad(lambda df: stats.t.ppf(0.7, df))(np.array(df)))


def test_frozen_distributions_of_plain_arrays_are_scipys() -> None:
    given = [1.0, 2.0], [[2.0, 0.3], [0.3, 1.0]]
    own, scipys = (m.multivariate_normal(*given) for m in (stats, scipy.stats))
    assert np.array_equal(own.mean, scipys.mean)
    assert np.array_equal(own.rvs(3, random_state=1), scipys.rvs(3, random_state=1))
    assert own.cdf([1.0, 1.0], lower_limit=[0.0, 0.0]) == pytest.approx(
        scipys.cdf([1.0, 1.0], lower_limit=[0.0, 0.0]), rel=1e-3
    )
    x = ag.tensor([1.5, 1.0], requires_grad=True)
    slope = np.linalg.solve(given[1], [-0.5, 1.0])
    np.testing.assert_allclose(ag.grad(own.logpdf(x), x), slope, rtol=1e-10)
    gamma = stats.gamma(2.0, scale=3.0)
    assert gamma.expect(lambda x: x) == pytest.approx(6.0)
    assert gamma.interval(0.9) == scipy.stats.gamma(2.0, scale=3.0).interval(0.9)


def test_the_f_distribution_far_out() -> None:
    """For one degree of freedom twice, x is the square of a variable of Cauchy's."""
    for x in (1e-20, 1e20):
        slope = 1 / (np.pi * np.sqrt(x) * (1 + x))
        by_x = ag.func.grad(lambda x: stats.f.cdf(x, 1.0, 1.0))(x)
        assert by_x == pytest.approx(slope, rel=1e-12, abs=0)
        by_scale = ag.func.grad(lambda s, x=x: stats.f.logcdf(x, 1.0, 1.0, scale=s))(1.0)
        expected = -x * slope / (2 / np.pi * np.arctan(np.sqrt(x)))
        assert by_scale == pytest.approx(expected, rel=1e-12, abs=0)


def test_an_op_of_a_distribution_that_is_made_when_used_can_be_pickled() -> None:
    program = """if True:
        import pickle, sys
        from arraygrad.ops.define.op import library_op
        op = library_op("arraygrad.scipy.stats.distribution", "scipy.stats.nakagami.ppf")
        assert op.module.startswith("arraygrad.scipy."), op.module
        assert pickle.loads(pickle.dumps(op)) is op
    """
    subprocess.run([sys.executable, "-c", program], check=True)
