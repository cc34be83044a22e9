"""`torch.special`: special functions under PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable

from ... import special as native
from .functions import elementwise, reductions
from .functions.by_scipy import *
from .functions.by_scipy import __all__ as _by_scipy
from .handles import Tensor
from .publish import elementwise_binary, elementwise_unary

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc",
    "gammaln", "i0", "i0e", "i1", "i1e", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp",
    "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round", "sinc", "softmax", "xlog1py",
    "xlogy", "zeta",
    *_by_scipy,
]  # fmt: skip


digamma = psi = elementwise.digamma
erf, erfc, erfinv = elementwise.erf, elementwise.erfc, elementwise.erfinv
exp2, expm1, log1p = elementwise.exp2, elementwise.expm1, elementwise.log1p
expit, gammaln, i0 = elementwise.sigmoid, elementwise.lgamma, elementwise.i0
gammainc, gammaincc = elementwise.igamma, elementwise.igammac
logit: Callable[..., Tensor] = elementwise.logit
multigammaln: Callable[..., Tensor] = elementwise.mvlgamma
polygamma: Callable[..., Tensor] = elementwise.polygamma
sinc, xlogy = elementwise.sinc, elementwise.xlogy
round: Callable[..., Tensor] = elementwise.round
log_softmax: Callable[..., Tensor] = reductions.log_softmax
logsumexp: Callable[..., Tensor] = reductions.logsumexp
softmax: Callable[..., Tensor] = reductions.softmax
entr, i0e, i1, i1e, log_ndtr, ndtr, ndtri = (
    elementwise_unary(f, in_place=False, method=False)
    for f in (native.entr, native.i0e, native.i1, native.i1e, native.log_ndtr, native.ndtr,
              native.ndtri)
)  # fmt: skip
xlog1py, zeta = (
    elementwise_binary(f, in_place=False, method=False) for f in (native.xlog1py, native.zeta)
)
