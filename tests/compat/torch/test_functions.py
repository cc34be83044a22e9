"""Functions of `compat.torch` beside PyTorch's: values, dtypes and gradients; and under `vmap`.

A row is an expression. Its names are tensors of doubles: `x`, `y` of shape (2, 3), `v`, `w` of
length 4, `s` a number, `m` matrices of shape (2, 3, 3), `h` such ones that are positive definite,
`r` of shape (4, 3), `c` and `cm` complex ones, `long` of length 40; `i` are integers, `b` booleans.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch as ours

theirs = pytest.importorskip("torch")
pytest.importorskip("scipy")

RNG = np.random.default_rng(16)


def complex_numbers(*shape: int) -> Any:
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


_M = RNG.normal(size=(2, 3, 3))
LEAVES: dict[str, Any] = {
    "x": RNG.normal(size=(2, 3)),
    "y": RNG.uniform(0.5, 2.0, size=(2, 3)),
    "v": RNG.normal(size=4),
    "w": RNG.uniform(0.5, 2.0, size=4),
    "s": np.asarray(0.7),
    "m": _M + 2 * np.eye(3),
    "h": _M @ _M.swapaxes(1, 2) + np.eye(3),
    "r": RNG.normal(size=(4, 3)),
    "c": complex_numbers(2, 3),
    "cm": complex_numbers(2, 3, 3) + 2 * np.eye(3),
    "long": RNG.normal(size=40),
}
CONSTANTS: dict[str, Any] = {
    "i": np.array([[0, 1, 1], [2, 0, 1]]),
    "b": np.array([[True, False, True], [False, True, True]]),
}
SINGULAR = "torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64)"

ROWS = [
    # linear algebra
    "torch.linalg.lu(m)[1:], torch.linalg.lu(r).P, torch.linalg.lu(r.mT)[2]",
    "torch.lu_unpack(*torch.linalg.lu_factor(cm))",
    "torch.linalg.lu_solve(*torch.linalg.lu_factor(m), x.mT)",
    "torch.linalg.lu_solve(*torch.linalg.lu_factor(cm), cm, left=False, adjoint=True)",
    "torch.linalg.lu_factor_ex(m).info",
    f"torch.linalg.inv_ex({SINGULAR}).info, torch.linalg.solve_ex(m, x).result",
    f"torch.linalg.cholesky_ex({SINGULAR} - 1).info, torch.linalg.cholesky_ex(h).L",
    "torch.linalg.solve(m, x), torch.linalg.solve(m, m, left=False), torch.linalg.solve(m, v[:3])",
    "torch.cholesky_solve(r.mT, torch.linalg.cholesky(h)), "
    "torch.cholesky_inverse(h.triu(), True).triu()",
    "torch.triangular_solve(x.mT, m, upper=False, unitriangular=True)",
    "torch.triangular_solve(x.mT, m, transpose=True)",
    "torch.linalg.householder_product(r, v[:3]), torch.ormqr(r, v[:3], r, transpose=True)",
    "torch.ormqr(r, v[:3], x.mT @ v.expand(2, 4), left=False)",
    "torch.geqrf(r.detach()), torch.geqrf(cm.detach())",
    "torch.linalg.matrix_exp(m), torch.matrix_exp(cm)",
    "torch.linalg.matrix_rank(m, atol=2.0), torch.linalg.matrix_rank(h, 1.0, hermitian=True)",
    "torch.linalg.matrix_rank(h, atol=torch.tensor([0.1, 9.0]), rtol=torch.tensor(0.01))",
    "torch.linalg.pinv(r, atol=1.0), torch.linalg.pinv(h, hermitian=True)",
    "torch.linalg.lstsq(r, v), torch.linalg.lstsq(r, r, driver='gelsd').residuals",
    "torch.linalg.lstsq(m, m, driver='gelss').singular_values, torch.linalg.lstsq(m, x).solution",
    "torch.linalg.tensorinv(torch.eye(4, dtype=torch.float64).reshape(2, 2, 4) + v)",
    "torch.linalg.vector_norm(s, dim=0, keepdim=True), torch.norm(s, 1, 0), torch.linalg.vander(v)",
    "torch.vander(v.detach()), torch.vander(w.detach(), 2, increasing=True), "
    "torch.linalg.vander(s, N=3)",
    "torch.logdet(cm), torch.tensordot(m, x[:, :1], dims=([1], [1]))",
    # covariances, counts, integrals
    "torch.cov(x), torch.cov(c, correction=0), torch.cov(v, aweights=w), torch.corrcoef(c)",
    "torch.cov(x, fweights=torch.tensor([1, 2, 3]), aweights=y[0]), torch.corrcoef(x)",
    "torch.cumulative_trapezoid(x, y), torch.trapezoid(x, dx=0.5, dim=0), torch.trapz(v, w)",
    "torch.gradient(v), torch.gradient(x, spacing=2.0, dim=1), torch.gradient(v, spacing=(w,))",
    "torch.gradient(r, spacing=[v, y[0]], edge_order=2)",
    "torch.histc(x, 5), torch.histogram(x.detach(), 4, density=True), torch.histc(x, 3, -1, 1)",
    "torch.histogram(x.detach(), 3, range=(-1.0, 1.0), weight=y.detach())",
    "torch.histogram(x.detach(), w.detach().sort().values)",
    "torch.histogramdd(x.detach(), [2, 3, 2])",
    "torch.searchsorted(x.sort().values, y, right=True), torch.bucketize(y, w.sort().values)",
    "torch.searchsorted(v, w, sorter=v.argsort(), out_int32=True), "
    "torch.bucketize(0.5, v.sort()[0])",
    "torch.bincount(i.ravel(), i.ravel()), torch.gcd(i * 6, i + 4), torch.lcm(i, i + 1)",
    "torch.frexp(x), torch.frexp(y * 2.0**-1060).exponent",
    "torch.unravel_index(i, (2, 2)), torch.combinations(v), torch.cartesian_prod(v, w)",
    "torch.combinations(v, 3, with_replacement=True), torch.nonzero_static(b, size=5)",
    # places
    "torch.take_along_dim(x, i[:, :1], 1), torch.take_along_dim(x, i), "
    "torch.nonzero(s, as_tuple=True)",
    "s.scatter(0, torch.tensor(0), 2.5), s.index_add(0, torch.tensor([0]), v[0])",
    "s.index_fill(0, torch.tensor([0]), 3.0), s.scatter_reduce(0, torch.tensor(0), v[0], 'prod')",
    "x.masked_scatter(b, y), v.masked_scatter(torch.ones(2, 4, dtype=bool), v.expand(2, 4) * 2)",
    "b.scatter_reduce(1, i, b, 'sum'), i.scatter_reduce(1, i, i + 5, 'mean')",
    "i.index_add(1, i[0], i), i.scatter_reduce(1, i, i + 5, 'amax')",
    "i.scatter_reduce(1, i, i - 5, 'amin', include_self=False)",
    "x.gather(1, i[:1]), x.gather(0, i[:1, :2])",
    "x.flip(dims=(0, 1)), s.flip(0), torch.atleast_2d([v, s]), s.unfold(0, 1, 1)",
    "x.t().as_strided((2, 2), (1, 2)), x[1].as_strided((2,), (1,))",
    "x.detach()[1].as_strided((2,), (1,), 0)",
    "torch.nextafter(x, y), torch.nextafter(y, x).sin()",
    "(leaf := x.detach().t()[1:].requires_grad_()).as_strided((2, 2), (2, 1), 0), torch.autograd"
    ".grad(leaf.as_strided((2, 2), (2, 1), 0).sum(), leaf)",
    "torch.as_strided_scatter(x.detach(), y, (2, 3), (3, 1)), torch.diag_embed(x, 1, 0, 2)",
    "torch.constant_pad_nd(x, (1, -1, 0, 2), 3.0), torch.fill(x, s), torch.fill(x, 2)",
    "torch.segment_reduce(v, 'max', lengths=torch.tensor([1, 3])), "
    "torch.linspace(-2, 3, 7, dtype=int)",
    "torch.segment_reduce(r, 'mean', offsets=torch.tensor([0, 2, 2, 4]), initial=1.0)",
    "torch.arange(-0.9, 5.5, 2.1, dtype=torch.int64), torch.scalar_tensor(2, requires_grad=True)",
    # elements
    "torch.exp(b), torch.sqrt(b), torch.atan2(b, b), torch.copysign(b, b), torch.sin(i.short())",
    "torch.square(b), torch.sign(b), torch.conj(b), torch.heaviside(i - 1, i), torch.isclose(b, b)",
    "torch.rsqrt(i + 1), torch.logit(b, 0.1), torch.mvlgamma(i + 3, 2), torch.polygamma(1, i + 1)",
    "torch.float_power(i, 2), torch.pow(i - 1, i - 1), torch.logsumexp(i, 1), torch.median(i)",
    "torch.logaddexp(c, c * 3), torch.logcumsumexp(c * 4, 1), torch.prod(b, dtype=bool)",
    "torch.logcumsumexp(v * torch.tensor([0.0, 1.0, 1e3, 2.0]), 0), torch.logcumsumexp(x, 1)",
    "torch.addmv(i[:, 0], i, i[0], beta=2.5, alpha=1.5), torch.addr(b, b[:, 0], b[0], beta=0)",
    "torch.addmm(x.detach() * float('nan'), x, m[0], beta=0), b.masked_fill(b, 3), torch.mode(s)",
    "torch.cummax(x, 1), torch.cummin(i, 0), torch.mode(i), torch.nanmedian(x), "
    "torch.nanmedian(s, 0)",
    # special functions
    "torch.special.bessel_y0(y.detach()), torch.special.bessel_j1(y.detach())",
    "torch.special.modified_bessel_k1(y.detach()), torch.special.scaled_modified_bessel_k0(i + 1)",
    "torch.special.airy_ai(x.detach()), torch.special.spherical_bessel_j0(x.detach())",
    "torch.special.chebyshev_polynomial_v(x.detach(), i), torch.special.erfcx(x * 9)",
    "torch.special.shifted_chebyshev_polynomial_w(x.detach(), 3)",
    "torch.special.hermite_polynomial_he(x.detach(), i - 1)",
    "torch.special.laguerre_polynomial_l(x.detach(), 4)",
    "torch.special.legendre_polynomial_p(x.detach().float(), i)",
    # signals
    "torch.fft.hfftn(cm), torch.fft.ihfft2(m, norm='ortho'), torch.fft.hfft2(c, s=(3, 4))",
    "torch.stft(long, 8, 3, window=torch.hann_window(6, dtype=torch.float64), win_length=6,"
    " return_complex=True)",
    "torch.stft(torch.complex(long, long), 8, center=False, normalized=True)",
    "torch.istft(torch.stft(long, 8, 2, return_complex=True), 8, 2, length=38)",
    "torch.istft(cm.repeat(1, 3, 3), 9, window=1 + 0.1 * long[:9], return_complex=True)",
    "[getattr(torch.signal.windows, n)(7, sym=k) for k in (True, False) for n in"
    " ('hann', 'hamming', 'bartlett', 'blackman', 'kaiser', 'cosine', 'exponential', 'gaussian',"
    " 'general_hamming', 'nuttall')], torch.kaiser_window(6, False, 3.0)",
    "torch.signal.windows.exponential(5, center=1.0, tau=2.0, sym=False)",
    "torch.logspace(torch.tensor(1.0), 3, 4)",
    "torch.signal.windows.general_cosine(5, a=[0.4, 0.3, 0.3])",
    "torch.hamming_window(5, True, 0.5, 0.4), torch.bartlett_window(1), torch.blackman_window(0)",
]


def scope_of(torch: Any) -> dict[str, Any]:
    scope = {name: torch.tensor(value, requires_grad=True) for name, value in LEAVES.items()}
    scope |= {name: torch.tensor(value) for name, value in CONSTANTS.items()}
    return scope | {"torch": torch}


def tensors_in(result: Any, torch: Any) -> list[Any]:
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, tuple | list):
        return [t for item in result for t in tensors_in(item, torch)]
    return []


def outcome(row: str, torch: Any) -> tuple[Any, list[Any]]:
    """What both libraries should agree on: dtypes, shapes, values and gradients; or the error."""
    scope = scope_of(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, and of the logarithm of zero
        try:
            found = tensors_in(eval(row, scope), torch)
        except Exception as error:
            built_in = (t for t in type(error).__mro__ if t.__module__ == "builtins")
            return next(built_in).__name__, []
        said = [(str(t.dtype), tuple(t.shape), t.requires_grad) for t in found]
        values = [t.detach().resolve_conj().numpy() for t in found]
        total = sum((t * t.conj()).real.sum() for t in found if t.requires_grad)
        if isinstance(total, torch.Tensor):
            total.backward()
    gradients = [scope[name].grad for name in LEAVES]
    return said, values + [
        np.zeros(()) if g is None else g.resolve_conj().numpy() for g in gradients
    ]


@pytest.mark.parametrize("row", ROWS)
def test_as_in_torch(row: str) -> None:
    (said, values), (expected_said, expected) = outcome(row, ours), outcome(row, theirs)
    assert isinstance(expected_said, list)  # not an error, in which both would agree as well
    assert said == expected_said
    for found, wanted in zip(values, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "row", ["x.scatter(1, i + 5, y)", "x.gather(1, i - 1)", "x.index_fill(1, i[0] + 5, 0.0)"]
)
def test_places_that_do_not_exist(row: str) -> None:
    said, _ = outcome(row, ours)
    assert isinstance(said, str)
    assert said == outcome(row, theirs)[0]


# Functions of x that PyTorch's own vmap, or a loop, is the measure for.
MAPPED = [
    "torch.linalg.lu_factor(t(x)), torch.linalg.inv_ex(t(x)), torch.linalg.solve(t(x), x[0])",
    "torch.cov(x), torch.corrcoef(x), torch.gradient(x, dim=0), torch.frexp(x)",
    "torch.cummax(x, 0), torch.mode(x, 0), torch.nanmedian(x), torch.cumulative_trapezoid(x)",
    "torch.stft(x, 2, 1, return_complex=True), torch.special.legendre_polynomial_p(x, 2)",
    "torch.diag_embed(x), torch.combinations(x[0]), torch.constant_pad_nd(x, (1, 1))",
    "torch.linalg.matrix_rank(t(x)), torch.linalg.pinv(x, atol=0.1), torch.geqrf(x)",
]


@pytest.mark.parametrize("row", MAPPED)
def test_a_batch_is_as_its_members_one_by_one(row: str) -> None:
    def square(x: Any) -> Any:
        return x.mT @ x + ours.eye(3, dtype=ours.float64)

    def apply(x: Any) -> tuple[Any, ...]:
        return tuple(tensors_in(eval(row, {"torch": ours, "x": x, "t": square}), ours))

    batch = ours.tensor(np.random.default_rng(3).normal(size=(4, 2, 3)))
    together = ours.vmap(apply)(batch)
    for k, member in enumerate(batch):
        for whole, part in zip(together, apply(member), strict=True):
            np.testing.assert_allclose(whole[k].numpy(), part.numpy(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "row", ["torch.histc(x)", "torch.histogram(x, 3)", "torch.unique(x)", "x.resize_(1)"]
)
def test_a_batch_is_refused_where_its_members_would_mix(row: str) -> None:
    def apply(x: Any) -> Any:
        return eval(row, {"torch": ours, "x": x})

    with pytest.raises(RuntimeError):
        ours.vmap(apply)(ours.ones(2, 3))


@pytest.mark.parametrize("row", ["torch.geqrf(m)", "torch.histogram(x, 3)"])
def test_what_has_no_derivative_says_so(row: str) -> None:
    with pytest.raises(RuntimeError, match="derivative"):
        eval(row, scope_of(ours))


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_many_elements_are_joined_without_a_table_of_all_pairs(reduce: str) -> None:
    place = np.random.default_rng(0).integers(0, 100_000, 200_000)
    source = np.round(np.sin(np.arange(200_000.0)), 2)  # with ties, which share the gradient
    found = []
    for torch in (ours, theirs):
        x = torch.zeros(100_000, dtype=torch.float64, requires_grad=True)
        src = torch.tensor(source, requires_grad=True)
        out = x.scatter_reduce(0, torch.tensor(place), src, reduce)
        gradients = torch.autograd.grad((out * out.detach()).sum(), [x, src])
        found.append([t.detach().numpy() for t in (out, *gradients)])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("include_self", [True, False])
def test_extremes_at_places_inside_vmap(include_self: bool) -> None:
    x = ours.tensor([[1.0, float("inf"), -2.0], [0.0, 3.0, 3.0]])
    index, src = (
        ours.tensor([[0, 0, 1], [2, 2, 2]]),
        ours.tensor([[1.0, 5.0, 2.0], [3.0, 3.0, 1.0]]),
    )

    def one(x: Any, index: Any, src: Any) -> Any:
        return x.scatter_reduce(0, index, src, "amax", include_self=include_self)

    def slope(x: Any, index: Any, src: Any) -> Any:
        return ours.func.grad(lambda s: one(x, index, s)[:].nan_to_num(posinf=0.0).sum())(src)

    for function in (one, slope):
        together = ours.vmap(function)(x, index, src)
        for k in range(2):
            np.testing.assert_array_equal(together[k], function(x[k], index[k], src[k]))
    shared = ours.vmap(one, in_dims=(0, None, 0))(x, index[0], src)
    np.testing.assert_array_equal(shared[1], one(x[1], index[0], src[1]))
