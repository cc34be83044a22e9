"""`torch.special`: special functions under PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ... import special as native
from .functions import elementwise, reductions
from .handles import Tensor
from .publish import elementwise_binary, elementwise_unary
from .publish import function as _function

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
    "zeta",
]


def __dir__() -> list[str]:
    return __all__


digamma = psi = elementwise.digamma
erf, erfc, erfinv = elementwise.erf, elementwise.erfc, elementwise.erfinv
exp2, expm1, log1p = elementwise.exp2, elementwise.expm1, elementwise.log1p
expit, gammaln, i0 = elementwise.sigmoid, elementwise.lgamma, elementwise.i0
gammainc, gammaincc = elementwise.igamma, elementwise.igammac
logit: Callable[..., Tensor] = elementwise.logit
multigammaln: Callable[..., Tensor] = elementwise.mvlgamma
polygamma: Callable[..., Tensor] = elementwise.polygamma
sinc, xlogy = elementwise.sinc, elementwise.xlogy
log_softmax: Callable[..., Tensor] = reductions.log_softmax
logsumexp: Callable[..., Tensor] = reductions.logsumexp
softmax: Callable[..., Tensor] = reductions.softmax
entr = elementwise_unary(native.entr, in_place=False)
i0e = elementwise_unary(native.i0e, in_place=False)
i1 = elementwise_unary(native.i1, in_place=False)
i1e = elementwise_unary(native.i1e, in_place=False)
log_ndtr = elementwise_unary(native.log_ndtr, in_place=False)
ndtr = elementwise_unary(native.ndtr, in_place=False)
ndtri = elementwise_unary(native.ndtri, in_place=False)
xlog1py = elementwise_binary(native.xlog1py, in_place=False, method=False)
zeta = elementwise_binary(native.zeta, in_place=False, method=False)


@_function(method=False)
def erfcx(input: Any) -> Any:
    """`exp(x**2) * erfc(x)`, without overflow."""
    return ops.exp(input * input + native.log_ndtr(-input * np.sqrt(2.0))) * 2
