"""What all twins share: names, signatures, refusals, and how they are found."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.special
import scipy.stats

import arraygrad as ag
from arraygrad.core.cpython import PORTABLE
from arraygrad.core.kinds import Matrices
from arraygrad.errors import NoGradientError
from arraygrad.ops.define.op import library_ops
from arraygrad.scipy.twins import array_like, has_arrays

_MODULES = (
    "fft interpolate linalg ndimage signal sparse sparse.linalg spatial spatial.distance special "
    "stats"
).split()


def x() -> Any:
    return ag.tensor([1.0, 2.0, 3.5], requires_grad=True)


def m() -> Any:
    return ag.tensor(np.eye(3) + 0.1, requires_grad=True)


@pytest.mark.parametrize("name", _MODULES)
def test_other_names_are_those_of_scipy(name: str) -> None:
    ours = importlib.import_module(f"arraygrad.scipy.{name}")
    original = importlib.import_module(f"scipy.{name}")
    public = [n for n in dir(original) if not n.startswith("_")]
    assert all(hasattr(ours, n) for n in public)
    same = [n for n in public if getattr(ours, n) is getattr(original, n)]
    assert 0 < len(same) < len(public) or name == "sparse.linalg"
    with pytest.raises(AttributeError, match="no_such_name"):
        ours.no_such_name


def twins(name: str) -> list[str]:
    """The public names of a module that are not SciPy's own."""
    ours = vars(importlib.import_module(f"arraygrad.scipy.{name}"))
    original = importlib.import_module(f"scipy.{name}")
    return sorted(
        n
        for n, value in ours.items()
        if not n.startswith("_")
        and hasattr(original, n)
        and getattr(original, n) is not value
        and not isinstance(value, ModuleType)
    )


def test_the_table_in_the_docs_is_complete() -> None:
    page = Path(__file__).parents[2] / "docs" / "scipy-functions.md"
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    told = {module: re.findall(r"`(\w+)`", names) for module, names in rows}
    modules = {*_MODULES, "integrate", "optimize"} - {"spatial"}
    for name, names in told.items():  # of SciPy's older versions, those that they have
        scipy = importlib.import_module(f"scipy.{name}")
        told[name] = [n for n in names if hasattr(scipy, n)] or names
    without = {"milp", "UnivariateSpline"}  # they say what to use
    assert told == {name: [n for n in twins(name) if n not in without] for name in modules}


def test_importing_arraygrad_does_not_import_scipy() -> None:
    program = "import sys, arraygrad; print(any(m.startswith('scipy') for m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


# What SciPy has had since its versions 1.15, 1.16 and 1.17.
_NEWER = {
    "integrate": "cubature lebedev_rule nsum tanhsinh",
    "interpolate": "AAA FloaterHormannInterpolator generate_knots make_splprep make_splrep",
    "ndimage": "vectorized_filter",
    "optimize": "elementwise",
    "signal": "closest_STFT_dual_window freqz_sos whittaker_henderson",
    "sparse": "expand_dims permute_dims safely_cast_index_arrays swapaxes",
    "sparse.linalg": "funm_multiply_krylov is_sptriangular spbandwidth",
    "special": "assoc_legendre_p assoc_legendre_p_all legendre_p legendre_p_all log_wright_bessel "
    "softplus sph_harm_y sph_harm_y_all sph_legendre_p sph_legendre_p_all",
    "stats": "Binomial Mixture Normal Uniform dpareto_lognorm landau lmoment make_distribution "
    "matrix_t normal_inverse_gamma order_statistic quantile truncate",
}
_ON_THE_OLDEST_SCIPY = """
import importlib, arraygrad as ag, numpy as np
known = {module: importlib.import_module(f"scipy.{module}") for module in NEWER}
for module, names in NEWER.items():
    for name in names.split():
        vars(known[module]).pop(name, None)
for module in MODULES:
    importlib.import_module(f"arraygrad.scipy.{module}")
x = ag.tensor(np.eye(6)[:1], requires_grad=True)
assert ag.scipy.special.softplus(x).requires_grad
for call in (ag.scipy.signal.freqz_sos, lambda x: ag.scipy.special.sph_harm_y(1, 1, x, x)):
    try:
        call(x)
    except NotImplementedError as error:
        assert "needs a newer SciPy than" in str(error)
    else:
        raise AssertionError("SciPy has the name still")
"""


def test_the_oldest_scipy_has_all_names_that_twins_need() -> None:
    modules = [*_MODULES, "integrate", "optimize"]
    program = f"NEWER, MODULES = {_NEWER!r}, {modules!r}\n{_ON_THE_OLDEST_SCIPY}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_twins_have_signatures_and_lists_become_arrays() -> None:
    ours, original = ag.scipy.linalg.solve_banded, scipy.linalg.solve_banded
    assert inspect.signature(ours) == inspect.signature(original)
    assert ours.__name__ == "solve_banded"
    t = ag.tensor(2.0, requires_grad=True)
    assert has_arrays(([{"a": (1, t)}],))
    assert not has_arrays(([{"a": (1, 2.0)}],))
    joined = array_like([[1.0, t], [3.0, 4.0]])
    assert ag.grad(joined[0, 1], t).item() == 1.0
    by_list = ag.scipy.linalg.toeplitz([1.0, t])
    assert by_list.tolist() == [[1.0, 2.0], [2.0, 1.0]]


# --- a tensor that reaches SciPy's own function ---------------------------------------------------


@pytest.mark.skipif(PORTABLE, reason="what runs is not known")
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: scipy.linalg.expm(m()), "linalg.expm"),
        (lambda: scipy.signal.lfilter([1.0], [1.0], x()), "signal.lfilter"),
        (lambda: scipy.interpolate.CubicSpline([0, 1, 2], x()), "interpolate.CubicSpline"),
        (lambda: scipy.stats.norm.logpdf(x()), "stats.norm.logpdf"),
        (lambda: scipy.fft.dct(x()), "fft.dct"),
        (lambda: scipy.spatial.distance.cdist(m(), m()), "spatial.distance.cdist"),
        (
            lambda: scipy.sparse.linalg.spsolve(scipy.sparse.csc_array(np.eye(3)), x()),
            "sparse.linalg.spsolve",
        ),
        (lambda: scipy.ndimage.gaussian_filter(x(), 1.0), "ndimage.gaussian_filter"),
        (
            lambda: scipy.integrate.solve_ivp(lambda t, y: -x() * y, (0, 1), np.ones(3)),
            "integrate.solve_ivp",
        ),
        (lambda: scipy.integrate.quad(lambda y: x()[0] * y, 0, 1), "integrate.quad"),
    ],
)
def test_errors_name_the_twin(call: Any, name: str) -> None:
    with pytest.raises(NoGradientError, match=f"use arraygrad.scipy.{name};"):
        call()


def test_errors_in_the_code_of_users_do_not_name_a_twin() -> None:
    t = x()

    def slope(_: float, y: Any) -> Any:
        return np.array([t[0], t[1], y[2]])

    with pytest.raises(NoGradientError, match=r"numpy.stack\(\)"):
        scipy.integrate.solve_ivp(slope, (0, 1), np.ones(3))


def test_universal_functions_of_scipy_take_tensors() -> None:
    t = x()
    assert ag.grad(scipy.special.jv(0, t).sum(), t).tolist() == pytest.approx(
        (-scipy.special.j1(t.detach().numpy())).tolist()
    )
    ai, *_ = scipy.special.airy(t)
    assert ai.requires_grad


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _by(lambda v: ag.scipy.special.jv(v, 1.0)), "jv has no derivative .* to v"),
        (lambda: _by(lambda a: ag.scipy.special.hyp1f1(a, 2.0, 0.5)), "hyp1f1 .* to a"),
        (lambda: _by(lambda v: ag.scipy.special.ive(0.5, v + 0j)), "not holomorphic"),
        (lambda: ag.scipy.linalg.solve_continuous_are(m(), m(), m(), m(), e=m()), "with e="),
        (lambda: ag.scipy.linalg.svd(m(), lapack_driver="gesvd"), "lapack_driver='gesvd'"),
        (lambda: ag.scipy.linalg.qr(m(), mode="raw"), "modes full, r and economic"),
        (lambda: ag.scipy.linalg.eig(m(), m(), left=True, right=False), "pass right=True"),
        (lambda: ag.scipy.special.elliprj(_four(), 1.0, 1.0, -1.0), "p is negative"),
        (lambda: ag.scipy.signal.stft(x(), window=ag.tensor([1.0, 1.0]), nperseg=2), "the window"),
        (lambda: ag.scipy.signal.firwin2(5, x() - 1, x()), "by gain only"),
        (lambda: ag.scipy.signal.resample_poly(x(), 2, 3, window=x()), "to its window here"),
        (lambda: ag.scipy.spatial.distance.pdist(m(), "hamming"), "'hamming' has no derivative"),
        (lambda: ag.scipy.spatial.distance.cdist(m() + 0j, m()), "between complex vectors"),
        (lambda: ag.scipy.spatial.distance.euclidean(x(), x() + 0j), "between complex vectors"),
        (lambda: ag.scipy.ndimage.sobel(m(), output=float), "with output="),
        (lambda: ag.scipy.ndimage.convolve1d(np.arange(4), x()), "images of int64 have no"),
        (lambda: ag.scipy.fft.dct(m() + 0j, orthogonalize=True), "ignores orthogonalize="),
        (
            lambda: ag.scipy.interpolate.make_interp_spline(
                [0, 1, 2, 3], _four(), bc_type="natural"
            ),
            "use CubicSpline",
        ),
        (
            lambda: ag.scipy.interpolate.UnivariateSpline([0, 1, 2, 3], _four()),
            "use make_smoothing_spline",
        ),
        (lambda: ag.scipy.interpolate.splrep([0, 1, 2, 3], _four(), s=1.0), "splrep with s=1.0"),
        (
            lambda: ag.scipy.interpolate.griddata(m(), np.ones(3), np.ones((1, 3)), "cubic"),
            "linear and nearest",
        ),
        (lambda: ag.scipy.sparse.linalg.cg(m(), x(), M=np.eye(3)), "cg with M="),
        (
            lambda: ag.func.vmap(lambda a: ag.scipy.sparse.linalg.splu(a).solve(np.ones(3)))(
                np.stack([np.eye(3), np.eye(3)])
            ),
            "use spsolve inside vmap",
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises((NotImplementedError, TypeError), match=message):
        call()


def _by(function: Any) -> Any:
    t = ag.tensor(0.7, requires_grad=True)
    return ag.grad(ag.real(ag.sum(function(t))), t)


def _four() -> Any:
    return ag.tensor([1.0, 2.0, 0.0, 1.0], requires_grad=True)


def test_what_scipy_refuses_is_refused() -> None:
    bad = ag.tensor([[1.0, np.nan], [0.0, 1.0]], requires_grad=True)
    with pytest.raises(ValueError, match="infs or NaNs"):
        ag.scipy.linalg.solve(bad, [1.0, 2.0])
    with pytest.raises(ValueError, match="length of the input vector"):
        ag.scipy.signal.filtfilt([1.0, 0.5], [1.0, 0.2], x())
    with pytest.raises(ValueError, match="outside of the interpolation range"):
        ag.scipy.interpolate.interp1d([0, 1, 2], x())(5.0)
    with pytest.raises(ValueError, match="must be square"):
        ag.scipy.sparse.linalg.spsolve(ag.tensor(np.ones((2, 3))), np.ones(2))


def test_an_iteration_that_has_not_converged_has_no_derivative() -> None:
    a = ag.tensor(np.diag(np.arange(1.0, 31)), requires_grad=True)
    found, info = ag.scipy.sparse.linalg.cg(a, np.ones(30), rtol=1e-12, maxiter=2)
    assert info == 2
    with pytest.raises(RuntimeError, match="not converged"):
        ag.grad(found.sum(), a)


_KEYWORDS: dict[str, Any] = {
    "alone": True,
    "assume_a": None,
    "balanced": True,
    "driver": None,
    "hermitian": True,
    "l_and_u": (1, 0),
    "lower": True,
    "method": None,
    "options": (),
    "output": "complex",
    "power": 0.5,
    "unit": False,
}


def test_functions_of_matrices_know_the_shapes_of_their_results() -> None:
    importlib.import_module("arraygrad.scipy.linalg")
    of_one = np.array([[2.0, 0.5], [0.5, 3.0]])
    ours = [op for op in library_ops() if op.module.startswith("arraygrad.scipy.linalg")]
    assert len(ours) > 20
    for op in ours:
        if not isinstance(op.kind, Matrices):
            continue
        given = {n: _KEYWORDS[n] for n in op.keywords or ()}
        column = of_one[:, :1]
        is_column = [op.name.endswith("solve_toeplitz") and n != "b" for n in op.inputs]
        inputs = [column if c else of_one for c in is_column]
        out = op.function(*inputs, **given)
        shapes = tuple(np.shape(o) for o in (out if op.multiple else (out,)))
        assert op.kind.shapes(*map(np.shape, inputs), **given) == shapes, op.name


@pytest.mark.parametrize("fill_value", [0.0, (1.0, 2.0), np.nan])
def test_interp1d_raises_outside_of_its_range(fill_value: Any) -> None:
    y = ag.tensor([1.0, 2.0, 4.0], requires_grad=True)
    curve = ag.scipy.interpolate.interp1d([0.0, 1.0, 2.0], y, fill_value=fill_value)
    with pytest.raises(ValueError, match="outside of the interpolation range"):
        curve(np.array([3.0]))


_PLAIN_REFUSES: dict[str, Any] = {
    "nodes that fall": lambda sp, y: sp.interpolate.CubicSpline([0, 2, 1, 3], y)(0.5),
    "nodes twice": lambda sp, y: sp.interpolate.PchipInterpolator([0, 1, 1, 3], y)(0.5),
    "not a number": lambda sp, y: sp.interpolate.CubicSpline([0, 1, 2, 3], y * np.nan)(0.5),
    "no period": lambda sp, y: sp.interpolate.CubicSpline(range(4), y, bc_type="periodic")(0.5),
    "B-spline": lambda sp, y: sp.interpolate.make_interp_spline([0, 2, 1, 3], y)(0.5),
    "knots that fall": lambda sp, y: sp.interpolate.BSpline([0, 2, 1, 3, 4, 5], y, 1)(0.5),
    "too few knots": lambda sp, y: sp.interpolate.BSpline([0, 1, 2, 3], y, 3)(0.5),
    "lengths": lambda sp, y: sp.interpolate.interp1d([0, 1, 2], y)(0.5),
    "grid": lambda sp, y: sp.interpolate.RegularGridInterpolator(([0, 2, 1, 3],), y)([[0.5]]),
    "grid shape": lambda sp, y: sp.interpolate.RegularGridInterpolator(([0, 1, 2],), y)([[0.5]]),
    "first coefficient": lambda sp, y: sp.signal.lfilter([1.0], [0.0, 1.0], y),
    "order": lambda sp, y: sp.ndimage.gaussian_filter1d(y, 1.0, order=-1),
    "few points": lambda sp, y: sp.spatial.distance.pdist(y[None] * np.eye(4), "mahalanobis"),
    "gains": lambda sp, y: sp.signal.firwin2(8, [0, 0.2, 0.5, 1], y),
    "not a vector": lambda sp, y: sp.spatial.distance.cosine(y[None], y[None]),
    "image order": lambda sp, y: sp.ndimage.shift(y, 0.5, order=6),
    "rank": lambda sp, y: sp.ndimage.shift(y, [1.0, 2.0]),
    "modes": lambda sp, y: sp.ndimage.correlate(y, np.ones(2), mode=["wrap"]),
    "axes": lambda sp, y: sp.fft.dctn(y, s=(4, 7), axes=(0,)),
}


@pytest.mark.parametrize("name", _PLAIN_REFUSES)
def test_bad_input_is_refused_as_scipy_does(name: str) -> None:
    call, y = _PLAIN_REFUSES[name], np.array([1.0, 2.0, 0.5, 3.0])
    with pytest.raises((ValueError, RuntimeError)):
        call(scipy, y)
    with pytest.raises((ValueError, RuntimeError)):
        call(ag.scipy, ag.tensor(y, requires_grad=True))


def test_a_grid_that_falls() -> None:
    at = np.array([[0.3], [1.6]])
    values = ag.tensor([1.0, 2.0, 5.0], requires_grad=True)
    found = ag.scipy.interpolate.RegularGridInterpolator(([2, 1, 0],), values)(at)
    own = scipy.interpolate.RegularGridInterpolator(([2, 1, 0],), [1.0, 2.0, 5.0])(at)
    np.testing.assert_allclose(found.detach(), own)


def test_right_angles_are_exact() -> None:
    image = np.arange(6.0).reshape(2, 3)
    found = ag.scipy.ndimage.rotate(ag.tensor(image, requires_grad=True), 90)
    np.testing.assert_allclose(found.detach(), scipy.ndimage.rotate(image, 90), atol=1e-12)


def test_a_large_sparse_matrix_is_scaled_without_a_dense_one() -> None:
    x = ag.tensor(np.ones(200_000), requires_grad=True)
    scaled = ag.scipy.sparse.diags_array(x).multiply(x[:, None])
    assert ag.grad(scaled.multiply(scaled).sum(), x).tolist() == [4.0] * 200_000


def test_norms_of_lsqr_refuse_to_be_differentiated() -> None:
    b = ag.tensor([1.0, 2.0, 4.0], requires_grad=True)
    found = ag.scipy.sparse.linalg.lsqr(scipy.sparse.csr_array(np.eye(3, 2)), b)
    with pytest.raises(NotImplementedError, match=r"lsqr\(\).r1norm has no derivatives"):
        ag.grad(found[3], b)


@pytest.mark.parametrize(
    "call",
    [
        lambda v, m, t: ag.scipy.stats.norm.logpdf(v, t, v),
        lambda v, m, t: ag.scipy.stats.poisson.logpmf(v, t),
        lambda v, m, t: ag.scipy.stats.multivariate_normal.logpdf(v, t, m),
        lambda v, m, t: ag.scipy.stats.gaussian_kde(t)(v),
        lambda v, m, t: ag.scipy.special.xlogy(v, t),
        lambda v, m, t: ag.scipy.linalg.solve(m, t),
        lambda v, m, t: ag.scipy.signal.lfilter(t, [1.0], v),
        lambda v, m, t: ag.scipy.ndimage.correlate1d(t, v),
        lambda v, m, t: ag.scipy.spatial.distance.cdist(m, t[None]),
        lambda v, m, t: ag.scipy.interpolate.CubicSpline(v, t)(v / 2 + 0.5),
        lambda v, m, t: ag.scipy.integrate.trapezoid(t, v),
        lambda v, m, t: (
            ag.scipy.integrate.solve_ivp(lambda _, y: -t * y, (0, 1), v, t_eval=v / 4).y
        ),
        lambda v, m, t: ag.scipy.optimize.root(lambda p: p - t, v).x,
        lambda v, m, t: ag.scipy.optimize.minimize(lambda p: ((p - t) ** 2).sum(), v).x,
        lambda v, m, t: ag.scipy.optimize.curve_fit(lambda x, p: p * x * t[0], v, v)[0],
    ],
)
def test_frames_are_arrays(call: Any) -> None:
    pd = pytest.importorskip("pandas")
    vector, matrix = np.array([1.0, 2.0, 4.0]), np.eye(3) + 0.1
    t, other = x(), x()
    found = call(pd.Series(vector), pd.DataFrame(matrix), t)
    expected = call(vector, matrix, other)
    assert found.tolist() == expected.tolist()
    assert ag.grad(found.sum(), t).tolist() == ag.grad(expected.sum(), other).tolist()
