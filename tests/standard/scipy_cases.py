"""SciPy's functions to differentiate, and some that cannot be.

The functions are SciPy's own, with ``SCIPY_ARRAY_API=1``: `foreign_code` runs them on tensors, and
on NumPy arrays to compare with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import (
    differentiate,
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    spatial,
    special,
    stats,
)
from scipy.cluster import hierarchy, vq
from scipy.optimize import elementwise
from scipy.spatial import distance
from scipy.spatial.transform import RigidTransform, Rotation, Slerp
from standard.foreign_code import Case, like

__all__ = ["CASES", "REFUSED"]

RNG = np.random.default_rng(0)

UNIT = RNG.uniform(0.1, 0.9, 6)
POSITIVE = RNG.uniform(0.5, 2.0, 6)
REAL = RNG.standard_normal(6)
OTHER = RNG.standard_normal(6)
SAMPLE = RNG.uniform(0.5, 2.0, 20)
SECOND = RNG.uniform(0.5, 2.0, 12)
PAIRED = RNG.uniform(0.5, 2.0, 20)
SIGNAL = RNG.standard_normal(24)
TALL = RNG.standard_normal((5, 3))
SQUARE = RNG.standard_normal((4, 4)) + 4 * np.eye(4)
GRID = np.cumsum(POSITIVE)
TAPS = np.array([1.0, 0.5, 0.25])
POLES = np.array([1.0, -0.3, 0.1])
SECTIONS = np.array([[1.0, 0.5, 0.15, 1.0, -0.3, 0.1], [1.0, 0.4, -0.2, 1.0, 0.2, -0.1]])
QUATERNIONS = RNG.standard_normal((3, 4))
VECTORS = RNG.standard_normal((3, 3))
TWISTS = RNG.standard_normal((3, 6))
AXES = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])

CASES: list[Case] = []
REFUSED: list[Case] = []


def case(name: str, function: Callable[..., Any], *arguments: Any, step: float = 1e-4) -> None:
    CASES.append(Case(name, function, arguments, step))


def refused(name: str, function: Callable[..., Any], *arguments: Any) -> None:
    REFUSED.append(Case(name, function, arguments))


def each(module: Any, prefix: str, names: str, *arguments: Any) -> None:
    for name in names.split():
        case(f"{prefix}.{name}", getattr(module, name), *arguments)


def full(x: Any, value: float) -> Any:
    return array_namespace(x).full(x.shape, value)


# --- special -------------------------------------------------------------------------------------

each(
    special,
    "special",
    "digamma entr erf erfc erfinv exp1 expi expit expm1 gamma gammaln i0 i0e i1 i1e log1p "
    "log_expit log_ndtr logit ndtr ndtri sinc",
    UNIT,
)
each(special, "special", "betaln kl_div rel_entr xlog1py xlogy", UNIT, POSITIVE)
each(special, "special", "log_softmax logsumexp softmax", REAL)
case("special.betainc", lambda x: special.betainc(like(x, 2.5), like(x, 1.5), x), UNIT)
case("special.betaincc", lambda x: special.betaincc(like(x, 2.5), like(x, 1.5), x), UNIT)
case("special.chdtr", lambda x: special.chdtr(like(x, 3.0), x), UNIT)
case("special.chdtrc", lambda x: special.chdtrc(like(x, 3.0), x), UNIT)
case("special.fdtr", lambda x: special.fdtr(like(x, 3.0), like(x, 5.0), x), UNIT)
case("special.fdtrc", lambda x: special.fdtrc(like(x, 3.0), like(x, 5.0), x), UNIT)
case("special.gammainc", lambda x: special.gammainc(like(x, 2.5), x), UNIT)
case("special.gammaincc", lambda x: special.gammaincc(like(x, 2.5), x), UNIT)
case("special.polygamma", lambda x: special.polygamma(2, x), POSITIVE)
case("special.stdtr", lambda t: special.stdtr(like(t, 3.0), t), REAL)
case("special.zeta", lambda q: special.zeta(like(q, 2.5), q), POSITIVE)

# --- stats ---------------------------------------------------------------------------------------

each(
    stats,
    "stats",
    "circmean circstd circvar differential_entropy entropy gmean gstd gzscore hmean iqr kstat "
    "kstatvar kurtosis lmoment median_abs_deviation sem skew tmax tmean tmin tsem tstd tvar "
    "variation zscore",
    SAMPLE,
)
case("stats.boxcox_llf", lambda x: stats.boxcox_llf(0.5, x), SAMPLE)
case("stats.describe", lambda x: stats.describe(x).kurtosis, SAMPLE)
case("stats.directional_stats", lambda x: stats.directional_stats(x).mean_direction, TALL)
case("stats.false_discovery_control", stats.false_discovery_control, UNIT)
case("stats.moment", lambda x: stats.moment(x, order=3), SAMPLE)
case("stats.pmean", lambda x: stats.pmean(x, 3), SAMPLE)
case("stats.quantile", lambda x: stats.quantile(x, like(x, 0.3)), SAMPLE)
case("stats.sigmaclip", lambda x: stats.sigmaclip(x, 1.5, 1.5).clipped, SAMPLE)
case("stats.trim_mean", lambda x: stats.trim_mean(x, 0.1), SAMPLE)
case("stats.yeojohnson_llf", lambda x: stats.yeojohnson_llf(0.5, x), SAMPLE)
case("stats.zmap", stats.zmap, SAMPLE, SECOND)

for _test in (stats.jarque_bera, stats.kurtosistest, stats.normaltest, stats.skewtest):
    case(f"stats.{_test.__name__}", lambda x, test=_test: test(x).pvalue, SAMPLE)
for _test in (stats.alexandergovern, stats.bartlett, stats.f_oneway, stats.levene, stats.ttest_ind):
    case(f"stats.{_test.__name__}", lambda x, y, test=_test: test(x, y).pvalue, SAMPLE, SECOND)
for _test in (stats.pearsonr, stats.ttest_rel):
    case(f"stats.{_test.__name__}", lambda x, y, test=_test: test(x, y).pvalue, SAMPLE, PAIRED)
case("stats.chisquare", lambda x: stats.chisquare(x).pvalue, SAMPLE)
case("stats.combine_pvalues", lambda p: stats.combine_pvalues(p).pvalue, UNIT)
case("stats.power_divergence", lambda x: stats.power_divergence(x, lambda_=1.5).pvalue, SAMPLE)
case("stats.ttest_1samp", lambda x: stats.ttest_1samp(x, 0.8).pvalue, SAMPLE)

# --- signal --------------------------------------------------------------------------------------


def in_any_order(roots: Any) -> Any:
    return array_namespace(roots).sum(roots**3)


each(signal, "signal", "fftconvolve oaconvolve", SIGNAL, TAPS)
each(signal, "signal", "envelope hilbert", SIGNAL)
case("signal.gausspulse", lambda t: signal.gausspulse(t, fc=2), REAL)
case("signal.convolve", lambda x, h: signal.convolve(x, h, method="fft"), SIGNAL, TAPS)
case("signal.correlate", lambda x, h: signal.correlate(x, h, method="fft"), SIGNAL, TAPS)
case("signal.bilinear_zpk", lambda z, p: signal.bilinear_zpk(z, p, 1.0, 2.0)[2], TAPS, POLES)
case("signal.firwin", lambda cutoff: signal.firwin(9, cutoff), np.array(0.3))
case("signal.freqs", lambda b, a: signal.freqs(b, a, like(b, [0.5, 1.0]))[1], TAPS, POLES)
case("signal.freqz", lambda b, a: signal.freqz(b, a, worN=8)[1], TAPS, POLES)
case("signal.freqz_zpk", lambda z, p: signal.freqz_zpk(z, p, 1.0, 8)[1], 0.7 * TAPS, 0.7 * POLES)
case("signal.gauss_spline", lambda x: signal.gauss_spline(x, 3), REAL)
case("signal.group_delay", lambda b, a: signal.group_delay((b, a), w=8)[1], TAPS, POLES)
case("signal.hilbert2", signal.hilbert2, SQUARE)
case("signal.lp2bp", lambda b, a: signal.lp2bp(b, a, 2.0)[0], TAPS, POLES)
case("signal.lp2bs", lambda b, a: signal.lp2bs(b, a, 2.0)[0], TAPS, POLES)
case("signal.lp2hp", lambda b, a: signal.lp2hp(b, a, 2.0)[0], TAPS, POLES)
case("signal.lp2lp", lambda b, a: signal.lp2lp(b, a, 2.0)[0], TAPS, POLES)
case("signal.lp2bp_zpk", lambda z, p: signal.lp2bp_zpk(z, p, 1.0, 2.0)[0], TAPS, POLES)
case("signal.lp2bs_zpk", lambda z, p: signal.lp2bs_zpk(z, p, 1.0, 2.0)[0], TAPS + 0.1, POLES)
case("signal.lp2hp_zpk", lambda z, p: signal.lp2hp_zpk(z, p, 1.0, 2.0)[0], TAPS, POLES)
case("signal.lp2lp_zpk", lambda z, p: signal.lp2lp_zpk(z, p, 1.0, 2.0)[0], TAPS, POLES)
case("signal.minimum_phase", signal.minimum_phase, np.array([1.0, 2.0, 3.0, 2.5, 1.0]))
case("signal.normalize", lambda b, a: signal.normalize(b, a)[0], TAPS, POLES)
case("signal.resample", lambda x: signal.resample(x, 15), SIGNAL)
case("signal.sos2tf", lambda sos: signal.sos2tf(sos)[0], SECTIONS)
case("signal.sos2zpk", lambda sos: in_any_order(signal.sos2zpk(sos)[0]), SECTIONS)
case("signal.tf2zpk", lambda b, a: signal.tf2zpk(b, a)[0], TAPS, POLES)
case("signal.vectorstrength", lambda x: signal.vectorstrength(x, 1.0)[0], REAL)
case("signal.zpk2tf", lambda z, p: signal.zpk2tf(z, p, 1.0)[0], TAPS, POLES)

# --- fft -----------------------------------------------------------------------------------------

each(
    fft,
    "fft",
    "fft fft2 fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft "
    "irfft2 irfftn rfft rfft2 rfftn",
    SQUARE,
)
case("fft.fht", lambda x: fft.fht(x, 0.1, 0.5), SIGNAL)
case("fft.ifht", lambda x: fft.ifht(x, 0.1, 0.5), SIGNAL)

# --- integrate and differentiate -----------------------------------------------------------------

for _rule in (integrate.trapezoid, integrate.cumulative_trapezoid, integrate.cumulative_simpson):
    case(f"integrate.{_rule.__name__}", lambda y, x, rule=_rule: rule(y, x=x), REAL, GRID)


def bell(x: Any, *more: Any) -> Any:
    return array_namespace(x).exp(-sum(more, 1.0) * x * x)


def bells(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.exp(-xp.sum(x * x, axis=-1))


case(
    "integrate.cubature",
    lambda a, b: integrate.cubature(bells, a, b).estimate,
    UNIT[:2],
    POSITIVE[:2] + 1,
)
case(
    "integrate.fixed_quad",
    lambda a, b: integrate.fixed_quad(bell, a, b)[0],
    np.array(0.1),
    np.array(0.8),
)


def power_sums(s: Any) -> Any:
    one = full(s, 1.0)
    to = [integrate.nsum(lambda k, s: k**-s, one, full(s, n), args=(s,)) for n in (40.0, np.inf)]
    return to[0].sum + to[1].sum


case("integrate.nsum", power_sums, POSITIVE + 2)
case("integrate.romb", integrate.romb, SIGNAL[:9])
case(
    "integrate.tanhsinh",
    lambda a, b, c: (
        integrate.tanhsinh(bell, a, b, args=(c,)).integral
        + integrate.tanhsinh(bell, a, full(a, np.inf), args=(c,)).integral
    ),
    UNIT,
    POSITIVE + 1,
    OTHER**2,
)


def wave(x: Any) -> Any:
    return array_namespace(x).sin(x) * x


def waves(x: Any) -> Any:
    return array_namespace(x).sin(x) * array_namespace(x).sum(x, axis=0)


def total(x: Any) -> Any:
    return array_namespace(x).sum(wave(x) * x, axis=0)


# These are differences themselves.
case("differentiate.derivative", lambda x: differentiate.derivative(wave, x).df, UNIT, step=1e-3)
case("differentiate.hessian", lambda x: differentiate.hessian(total, x).ddf, UNIT[:3], step=2e-3)
case("differentiate.jacobian", lambda x: differentiate.jacobian(waves, x).df, UNIT[:3], step=1e-3)

# --- optimize ------------------------------------------------------------------------------------

each(optimize, "optimize", "rosen rosen_der rosen_hess", REAL)
case("optimize.rosen_hess_prod", optimize.rosen_hess_prod, REAL, OTHER)
case(
    "optimize.elementwise.find_root",
    lambda a: (
        elementwise.find_root(lambda x, a: x**3 - a, (full(a, 0.0), full(a, 3.0)), args=(a,)).x
    ),
    POSITIVE,
)


def valley(x: Any, a: Any) -> Any:
    return (x - a) ** 4 + (x - a) ** 2 + a * a


case(
    "optimize.elementwise.find_minimum",
    lambda a: (
        elementwise.find_minimum(valley, (full(a, -1.0), full(a, 0.3), full(a, 5.0)), args=(a,)).f_x
    ),
    POSITIVE,
)
case(
    "optimize.elementwise.bracket_minimum",
    lambda a: elementwise.bracket_minimum(valley, full(a, 0.0), args=(a,)).f_bracket[0],
    POSITIVE,
)
case(
    "optimize.elementwise.bracket_root",
    lambda a: elementwise.bracket_root(lambda x, a: x**3 - a, full(a, 0.0), args=(a,)).f_bracket[0],
    POSITIVE,
)

# --- linalg and cluster --------------------------------------------------------------------------

case("linalg.block_diag", linalg.block_diag, SQUARE, TALL)
case("linalg.fiedler", linalg.fiedler, REAL)
case(
    "linalg.orthogonal_procrustes",
    lambda a, b: linalg.orthogonal_procrustes(a, b)[0],
    SQUARE,
    SQUARE @ SQUARE.T,
)
case("linalg.solve_circulant", linalg.solve_circulant, REAL, OTHER)
case("cluster.vq.whiten", vq.whiten, TALL)

# --- spatial.transform ---------------------------------------------------------------------------


def rotation(name: str, function: Callable[..., Any], *arguments: Any) -> None:
    case(f"spatial.transform.{name}", function, *arguments)


turned = Rotation.from_quat
rotation(
    "Rotation.align_vectors",
    lambda a, b: Rotation.align_vectors(a, b)[0].as_matrix(),
    VECTORS,
    TWISTS[:, :3],
)
rotation("Rotation.apply", lambda q, x: turned(q).apply(x), QUATERNIONS, VECTORS)
rotation("Rotation.as_davenport", lambda q: turned(q).as_davenport(like(q, AXES), "e"), QUATERNIONS)
rotation("Rotation.as_euler", lambda q: turned(q).as_euler("zyx"), QUATERNIONS)
rotation("Rotation.as_matrix", lambda q: turned(q).as_matrix(), QUATERNIONS)
rotation("Rotation.as_mrp", lambda q: turned(q).as_mrp(), QUATERNIONS)
rotation("Rotation.as_quat", lambda q: turned(q).as_quat(), QUATERNIONS)
rotation("Rotation.as_rotvec", lambda q: turned(q).as_rotvec(), QUATERNIONS)
rotation(
    "Rotation.from_davenport",
    lambda v: Rotation.from_davenport(like(v, AXES), "e", v).as_quat(),
    VECTORS,
)
rotation("Rotation.from_euler", lambda v: Rotation.from_euler("xyz", v).as_quat(), VECTORS)
rotation(
    "Rotation.from_matrix",
    lambda m: Rotation.from_matrix(1.0 * m).as_quat(),  # a copy, since it writes to its argument
    VECTORS + 3 * Rotation.from_rotvec(VECTORS).as_matrix(),
)
rotation("Rotation.from_mrp", lambda v: Rotation.from_mrp(v).as_quat(), VECTORS)
rotation("Rotation.from_rotvec", lambda v: Rotation.from_rotvec(v).as_matrix(), VECTORS)
rotation("Rotation.inv", lambda q: turned(q).inv().as_matrix(), QUATERNIONS)
rotation("Rotation.magnitude", lambda q: turned(q).magnitude(), QUATERNIONS)
rotation("Rotation.mean", lambda q: turned(q).mean().as_matrix(), QUATERNIONS)
rotation(
    "Rotation.__mul__",
    lambda q, p: (turned(q) * turned(p)).as_matrix(),
    QUATERNIONS,
    QUATERNIONS[::-1],
)
rotation("Rotation.__pow__", lambda q: (turned(q) ** 0.5).as_matrix(), QUATERNIONS)
rotation("Slerp", lambda q: Slerp([0, 1, 2], turned(q))([0.5, 1.5]).as_matrix(), QUATERNIONS)
moved = RigidTransform.from_exp_coords
rotation("RigidTransform.apply", lambda t, x: moved(t).apply(x), TWISTS, VECTORS)
rotation("RigidTransform.as_dual_quat", lambda t: moved(t).as_dual_quat(), TWISTS)
rotation("RigidTransform.as_exp_coords", lambda t: moved(t).as_exp_coords(), TWISTS)
rotation("RigidTransform.from_exp_coords", lambda t: moved(t).as_matrix(), TWISTS)
rotation(
    "RigidTransform.from_dual_quat",
    lambda q: RigidTransform.from_dual_quat(q).as_matrix(),
    RNG.standard_normal((2, 8)),
)
rotation(
    "RigidTransform.from_components",
    lambda t, q: RigidTransform.from_components(t, turned(q)).as_matrix(),
    VECTORS,
    QUATERNIONS,
)
rotation(
    "RigidTransform.from_translation",
    lambda t: RigidTransform.from_translation(t).as_matrix(),
    VECTORS,
)
rotation("RigidTransform.mean", lambda t: moved(t).mean().as_matrix(), TWISTS)
rotation("RigidTransform.__pow__", lambda t: (moved(t) ** 0.5).as_matrix(), TWISTS)
rotation("RigidTransform.inv", lambda t: moved(t).inv().as_matrix(), TWISTS)
rotation(
    "RigidTransform.__mul__", lambda t, s: (moved(t) * moved(s)).as_matrix(), TWISTS, -TWISTS[::-1]
)

# --- compiled for NumPy only ---------------------------------------------------------------------

for _name in ("dct", "dst", "dctn"):
    refused(f"fft.{_name}", getattr(fft, _name), SQUARE)
for _name in ("det", "inv", "expm", "cholesky", "svdvals"):
    refused(f"linalg.{_name}", getattr(linalg, _name), SQUARE @ SQUARE.T)
refused("cluster.hierarchy.linkage", lambda x: hierarchy.linkage(x)[:, 2], TALL)
refused("cluster.vq.kmeans2", lambda x: vq.kmeans2(x, x[:2, :], minit="matrix")[0], TALL)
refused("integrate.simpson", integrate.simpson, REAL)
refused("integrate.solve_ivp", lambda y: integrate.solve_ivp(lambda t, y: -y, (0, 1), y).y, REAL)
refused("interpolate.CubicSpline", lambda y: interpolate.CubicSpline(like(y, GRID), y)(y), REAL)
refused("ndimage.gaussian_filter", lambda x: ndimage.gaussian_filter(x, 1.0), SQUARE)
refused("signal.detrend", signal.detrend, SIGNAL)
refused("signal.lfilter", signal.lfilter, TAPS, POLES, SIGNAL)
refused("signal.savgol_filter", lambda x: signal.savgol_filter(x, 5, 2), SIGNAL)
refused("signal.welch", lambda x: signal.welch(x, nperseg=8)[1], SIGNAL)
refused("spatial.distance.cdist", distance.cdist, TALL, TALL + 1)
refused("spatial.procrustes", lambda a, b: spatial.procrustes(a, b)[1], TALL, TALL**2)
refused("special.exprel", special.exprel, UNIT)
refused("stats.linregress", lambda x, y: stats.linregress(x, y).slope, SAMPLE, PAIRED)
refused("stats.norm.logpdf", stats.norm.logpdf, REAL)
refused("stats.wasserstein_distance", stats.wasserstein_distance, SAMPLE, SECOND)
