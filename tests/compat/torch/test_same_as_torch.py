"""`compat.torch` beside PyTorch: the same expression gives the same values, dtypes, shapes, errors.

`x` and `y` are leaves of shape (2, 3), `m` is square, `v` a vector, `c` complex, `i` integers.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch as ours

theirs = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
DATA = {
    "x": RNG.normal(size=(2, 3)),
    "y": RNG.normal(size=(2, 3)) + 3.0,
    "m": RNG.normal(size=(3, 3)) + 3 * np.eye(3),
    "v": RNG.normal(size=3),
    "c": RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3)),
}
# Values, and gradients of the sum of all real results with respect to x, y, m and v.
EXPRESSIONS = [
    # dtypes
    "torch.ones(2) + torch.ones(2, dtype=torch.float64)",
    "torch.ones(2) * torch.arange(2)",
    "torch.ones(2) * torch.tensor(2.0, dtype=torch.float64)",
    "torch.arange(3) * 1.5",
    "torch.arange(3) / 2",
    "torch.arange(4).sin()",
    "torch.arange(3).float().mean()",
    "torch.arange(3) + 1j",
    "torch.arange(6).reshape(2, 3).sum(dtype=torch.float32)",
    "torch.tensor([True, False]).sum()",
    "torch.tensor([1, 2], dtype=torch.int8) + torch.tensor([1, 2], dtype=torch.uint8)",
    "x.to(torch.float32)",
    "x.float() + x.double()",
    "(x > 0).long()",
    "F.softsign(i), F.tanhshrink(i)",
    # elementwise
    "torch.sin(x) * y.exp() - x / y",
    "x ** 2 + 2 ** x",
    "2 - x, 3 / y, y % 2, -x, abs(x)",
    "torch.add(x, y, alpha=3)",
    "torch.sub(x, y, alpha=2)",
    "torch.div(x, y, rounding_mode='floor')",
    "torch.addcmul(x, y, y, value=0.5), torch.addcdiv(x, x, y)",
    "torch.clamp(x, -0.5, 0.5), x.clamp(min=0.1), x.clip(max=y - 3)",
    "torch.where(x > 0, x, y), torch.where(x > 0, x, 0.0), x.where(y > 3, y)",
    "torch.maximum(x, y), torch.fmin(x, y), torch.hypot(x, y), torch.atan2(x, y)",
    "torch.lerp(x, y, 0.3), torch.rsqrt(y), torch.frac(y), torch.sgn(x)",
    "torch.logit(torch.sigmoid(x)), torch.special.erf(x), torch.lgamma(y), torch.special.i1(x)",
    "x.relu(), torch.threshold(x, 0.1, 20.0), torch.nan_to_num(x)",
    "torch.logical_and(x > 0, y > 3), torch.eq(x, x), x.ne(y), x.isfinite()",
    "torch.isposinf(1 / (x - x).detach()), torch.isneginf(x), torch.isreal(c), torch.isreal(x)",
    # reductions
    "x.sum(), x.sum(0), x.sum(dim=1, keepdim=True), x.sum((0, 1))",
    "x.mean(-1), x.prod(), x.prod(1), y.logsumexp(1)",
    "x.std(), x.var(0), x.var(1, unbiased=False), x.std(0, correction=0, keepdim=True)",
    "x.max(), x.max(1), x.min(dim=0, keepdim=True), torch.max(x, y), x.amax(0), x.aminmax()",
    "x.argmax(), x.argmin(1, keepdim=True), x.sort(1), x.argsort(), x.topk(2), x.kthvalue(2)",
    "x.median(), x.median(1), x.quantile(0.3, dim=1), x.cumsum(1), x.cumprod(0), x.cummax(1)",
    "x.softmax(1), torch.log_softmax(x, 0), x.logcumsumexp(1), x.norm(), x.norm(1, dim=0)",
    "(x > 0).all(), (x > 0).any(1), x.count_nonzero(0), torch.var_mean(x, 1)",
    "x.diff(), torch.trapezoid(x), torch.bincount(i[0]), i.unique(return_counts=True)",
    # shapes
    "x.view(3, 2), x.view(-1), x.reshape(6), x.t(), x.T, x.transpose(0, 1), x.permute(1, 0)",
    "x.unsqueeze(1), x.unsqueeze(-1).squeeze(), x[None].squeeze(0), x.expand(4, 2, 3)",
    "x.flatten(), x.unflatten(1, (3, 1)), x.view_as(y), x.repeat(2, 1), x.tile(2)",
    "x.split(2, dim=1), x.chunk(2), x.unbind(1), x.tensor_split(2, dim=1), x.narrow(1, 1, 2)",
    "torch.cat([x, y]), torch.stack([x, y], dim=1), torch.cat([x, torch.ones(1, 3)])",
    "torch.hstack([x, y]), torch.vstack([x, y]), torch.meshgrid(v, v, indexing='ij')",
    "x.flip(1), x.roll(1, 0), torch.rot90(x), x.tril(), x.triu(1), torch.diag(v), m.diagonal()",
    "torch.diag_embed(x), torch.diag_embed(x, 1, 0, 2), torch.diagflat(v), m.trace()",
    "x.movedim(0, 1), x.swapaxes(0, 1), x.unfold(1, 2, 1), torch.atleast_3d(x)",
    "torch.view_as_real(c), torch.view_as_complex(torch.stack([x, y], -1))",
    "torch.broadcast_tensors(v, x), torch.block_diag(x, m), x.repeat_interleave(2, dim=1)",
    # indices
    "x[0], x[:, 1], x[..., None], x[[0, 0, 1]], x[x > 0], x[torch.tensor([1]), 2]",
    "x.index_select(1, torch.tensor([0, 2])), x.gather(1, i), x.take(torch.tensor([0, 5]))",
    "x.masked_fill(x > 0, 2.0), x.masked_select(x > 0), x.select(1, 2)",
    "x.scatter(1, i.argsort(), y), x.scatter_add(1, i, y), x.scatter(1, i, 2.0)",
    "x.scatter_reduce(1, i, y, 'amax'), x.scatter_reduce(1, i, y, 'mean', include_self=False)",
    "x.index_add(1, torch.tensor([0, 0, 2]), y), x.index_fill(0, torch.tensor([1]), 5.0)",
    "x.index_copy(0, torch.tensor([1, 0]), y), x.index_put((torch.tensor([0]),), v)",
    "x.select_scatter(v, 0, 1), x.slice_scatter(y[:1], 0, 1), m.diagonal_scatter(v)",
    "(x > 0).nonzero(), torch.argwhere(x > 0), torch.tril_indices(3, 3)",
    # products and linear algebra
    "x @ m, torch.mm(x, m), x.matmul(v), torch.mv(m, v), torch.dot(v, v), torch.outer(v, v)",
    "torch.addmm(x, x, m, beta=0.5, alpha=2), torch.einsum('ij,jk->ik', x, m), torch.kron(x, m)",
    "torch.bmm(m[None], m[None]), torch.tensordot(x, m, dims=1), torch.cdist(x, y)",
    "torch.linalg.inv(m), torch.linalg.det(m), torch.linalg.solve(m, v), torch.linalg.norm(x)",
    "torch.linalg.cholesky(m @ m.T), torch.linalg.eigvalsh(m + m.T), torch.linalg.svdvals(m)",
    "torch.linalg.solve_triangular(m.triu(), m, upper=True), torch.logdet(m @ m.T)",
    "torch.fft.rfft(x), torch.fft.fft(x, dim=0), torch.fft.irfft(c), torch.fft.fftn(x)",
    # making tensors
    "torch.zeros(2, 3), torch.ones((2,)), torch.full((2,), 3), torch.full((2,), 3.0), torch.eye(2)",
    "torch.arange(5), torch.arange(1, 2, 0.25), torch.linspace(0, 1, 3), torch.logspace(0, 1, 3)",
    "torch.zeros_like(x), torch.full_like(x, 2), x.new_zeros(2), x.new_tensor([1]), x.new_ones(2)",
    "torch.tensor([1, 2.5]), torch.tensor([[True]]), torch.tensor(2), torch.as_tensor([1.0])",
    # losses and activations
    "F.linear(x, m, v), F.mse_loss(x, y), F.l1_loss(x, y)",
    "F.smooth_l1_loss(x, y), F.huber_loss(x, y)",
    "F.cross_entropy(x, torch.tensor([0, 2])), F.nll_loss(x.log_softmax(1), torch.tensor([0, 2]))",
    "F.cross_entropy(x, torch.tensor([0, 2]), label_smoothing=0.1, reduction='sum')",
    "F.binary_cross_entropy_with_logits(x, (y > 3).double()), F.kl_div(x, y.softmax(1))",
    "F.relu(x), F.gelu(x), F.gelu(x, approximate='tanh'), F.silu(x), F.elu(x), F.leaky_relu(x)",
    "F.softplus(x), F.logsigmoid(x), F.hardtanh(x), F.relu6(y), F.selu(x), F.softsign(x)",
    "F.layer_norm(x, (3,), v, v), F.normalize(x), F.pad(x, (1, 2)), F.pad(x, (1, -1), value=2.0)",
    "F.cosine_similarity(x, y), F.one_hot(i), F.embedding(i, m)",
    "F.cross_entropy(x, torch.tensor([0, 2]), weight=v.detach().abs(), label_smoothing=0.1)",
    "F.cross_entropy(x, torch.tensor([0, -100]), label_smoothing=0.2)",
    "F.cross_entropy(x, y.softmax(1), weight=v.detach().abs(), label_smoothing=0.3)",
    "F.embedding(i, m, padding_idx=0), F.glu(torch.cat([x, y, x, y], 1)), F.prelu(x, v)",
    "F.celu(x, 0.5), F.mish(x), F.hardswish(x * 3), F.hardsigmoid(x * 3), F.softshrink(x)",
    "F.triplet_margin_loss(x, y, -x, swap=True), F.gaussian_nll_loss(x, y, y * y, full=True)",
    "F.poisson_nll_loss(y, y, log_input=False, full=True), F.pairwise_distance(x, y, p=1)",
    "F.cosine_embedding_loss(x, y, torch.tensor([1, -1])), F.hinge_embedding_loss(x, x.sign())",
    "F.margin_ranking_loss(x, y, x.sign().detach(), margin=0.3, reduction='sum')",
    "F.group_norm(x.reshape(1, 6, 1), 2), F.rms_norm(x, (3,), v)",
    "F.batch_norm(x, None, None, v, v, True)",
    "F.scaled_dot_product_attention(m, m, m, is_causal=True)",
    "F.scaled_dot_product_attention(m, m, m, attn_mask=m > 1)",
    # NaN, and special points
    "[f(torch.tensor([float('nan'), 1.0])) for f in (F.relu, F.hardtanh, F.elu, F.hardshrink)]",
    "torch.tensor([[1.0, float('nan'), 0.0]]).median(1), torch.tensor([float('nan')]).clamp(0, 1)",
    "torch.zeros(2, requires_grad=True).norm(), torch.zeros(2, requires_grad=True) ** 0",
    # less usual functions
    "torch.gcd(i, i + 2), torch.frexp(x), torch.histc(x, 5), torch.combinations(v, 2, True)",
    "torch.corrcoef(x), torch.cumulative_trapezoid(x, v), torch.gradient(v, spacing=2.0)",
    "torch.unique(i, dim=1, return_inverse=True, return_counts=True), torch.float_power(i, 2)",
    "torch.matrix_exp(m), torch.linalg.lu(m), torch.linalg.tensorinv(m.reshape(3, 1, 3, 1))",
    "torch.linalg.lu_solve(*torch.linalg.lu_factor(m), m, left=False)",
    "torch.cholesky_solve(x.T, torch.linalg.cholesky(m @ m.T))",
    "torch.linalg.solve(torch.stack([m, m]), torch.stack([v, v]))",
    # errors
    "torch.zeros(3, 4).gather(0, torch.zeros(1, 5, dtype=torch.long))",
    "x.scatter(1, i + 5, y)",
    "torch.randn(2, -1)",
    "torch.tensor([[1, 2], [3]])",
    "torch.full((2,), 'a')",
    "F.mse_loss(x, y, reduction='foo')",
    "x + torch.ones(4)",
    "torch.mm(x, x)",
    "x.view(4)",
    "x.sum(5)",
    "x[7]",
    "torch.ones(2).requires_grad_().add_(1)",
    "x.detach().to(torch.int64).requires_grad_()",
    "x.numpy()",
    "torch.sin(2.0)",
    "x.expand(5)",
    "x.item()",
    "x.unsqueeze(9)",
    "torch.stack([x, m])",
    "x.index_select(0, torch.tensor([9]))",
    "torch.ones(2, 2, requires_grad=True).backward()",
    "torch.add(x, y, out=torch.zeros(2, 3, dtype=torch.float64))",
    "len(torch.tensor(1.0))",
    "bool(x)",
    "torch.maximum(x, 2)",
    "torch.maximum(2, x)",
    "torch.eq(2, x)",
    "torch.atan2(2, 3)",
    "torch.logical_and(x, 2)",
    "torch.gcd(i, 2)",
    "torch.complex(x, i)",
    "torch.complex(x, y.float())",
    "torch.arange(0, -3, 2)",
    "torch.arange(0, 3, 0)",
    "torch.linspace(x[0], y[0], 3)",
    "torch.eye(-1)",
    "torch.cat([torch.tensor(1.0), torch.tensor(2.0)])",
    "torch.narrow(x, 1, -4, 0)",
    "torch.masked_scatter(x, i, y)",
    "x.scatter(1, i, y.float())",
    "torch.kthvalue(torch.tensor(1.0), 3)",
    "torch.amax(torch.ones(2, 0, 3), 1)",
    "x.mean(dtype=torch.int64)",
    "torch.fliplr(v)",
    "torch.isclose(x, y, rtol=-0.4)",
    "torch.cov(x, fweights=torch.ones(3))",
    "torch.func.jvp(torch.sin, (x,), [x])",
    "torch.autograd.grad(x.sum(), [])",
    # out= of functions that make tensors
    "torch.arange(3, out=torch.zeros(3, dtype=torch.float64))",
    "torch.eye(2, out=torch.zeros(2, 2, dtype=torch.int64))",
    "torch.linspace(0, 1, 3, out=torch.zeros(3))",
    "torch.full((2,), 3.0, out=torch.zeros(2))",
]


def names(torch: Any, leaves: list[Any]) -> dict[str, Any]:
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    for name, values in DATA.items():
        scope[name] = torch.tensor(values, requires_grad=True)
        leaves.append(scope[name])
    scope["i"] = torch.tensor([[0, 1, 1], [2, 0, 1]])
    return scope


def tensors_in(result: Any, torch: Any) -> list[Any]:
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, tuple | list):
        return [t for item in result for t in tensors_in(item, torch)]
    return []


def outcome(text: str, torch: Any) -> Any:
    """The results in words and arrays that both libraries share, or the kind of error."""
    leaves: list[Any] = []
    scope = names(torch, leaves)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's
        try:
            found = tensors_in(eval(text, scope), torch)
        except Exception as error:
            built_in = (t for t in type(error).__mro__ if t.__module__ == "builtins")
            return next(built_in).__name__, []
        said = [(str(t.dtype), tuple(t.shape)) for t in found]
        values = [t.detach().numpy() for t in found]
        total = sum(t.abs().sum() for t in found if t.requires_grad)
        if isinstance(total, torch.Tensor):
            total.backward()
    return said, values + [None if x.grad is None else x.grad.numpy() for x in leaves]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_the_same_values_and_gradients(text: str) -> None:
    (said, values), (expected_said, expected) = outcome(text, ours), outcome(text, theirs)
    assert said == expected_said
    for found, wanted in zip(values, expected, strict=True):
        assert (found is None) == (wanted is None)
        if wanted is not None:
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
