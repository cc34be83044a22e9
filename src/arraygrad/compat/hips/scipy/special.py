"""`autograd.scipy.special`."""

from __future__ import annotations

import math
from typing import Any

import numpy as _np
import scipy.special as _scipy

from .... import special as _own
from .. import numpy as np
from .formulas import by_formula, by_slopes

__all__ = [
    "beta",
    "betainc",
    "betaln",
    "digamma",
    "erf",
    "erfc",
    "erfcinv",
    "erfinv",
    "expit",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
    "i0",
    "i1",
    "iv",
    "ive",
    "j0",
    "j1",
    "jn",
    "logit",
    "logsumexp",
    "multigammaln",
    "polygamma",
    "psi",
    "rgamma",
    "y0",
    "y1",
    "yn",
]


def _ours(name: str) -> Any:
    return by_formula(getattr(_scipy, name), getattr(_own, name))


betainc = _ours("betainc")
betaln = _ours("betaln")
digamma = _ours("digamma")
erf = _ours("erf")
erfc = _ours("erfc")
erfinv = _ours("erfinv")
expit = _ours("expit")
gamma = _ours("gamma")
gammainc = _ours("gammainc")
gammaincc = _ours("gammaincc")
gammaln = _ours("gammaln")
i0 = _ours("i0")
i1 = _ours("i1")
log_ndtr = _ours("log_ndtr")
logit = _ours("logit")
ndtr = _ours("ndtr")
polygamma = _ours("polygamma")
psi = _ours("psi")
xlog1py = _ours("xlog1py")
xlogy = _ours("xlogy")


def _logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    if return_sign:
        raise NotImplementedError("logsumexp of boxes has no return_sign")
    return _own.logsumexp(a, axis=axis, b=b, keepdims=keepdims)


logsumexp = by_formula(_scipy.logsumexp, _logsumexp)
beta = by_formula(_scipy.beta, lambda a, b: gamma(a) * gamma(b) / gamma(a + b))
gammasgn = by_slopes(_scipy.gammasgn, lambda ans, x: _np.zeros(_np.shape(x)))
rgamma = by_slopes(_scipy.rgamma, lambda ans, x: -psi(x) * ans)
multigammaln = by_formula(
    _scipy.multigammaln,
    lambda a, d: np.sum(gammaln(np.expand_dims(a, -1) - _np.arange(d) / 2), -1)
    + d * (d - 1) / 4 * math.log(math.pi),
)
erfcinv = by_slopes(_scipy.erfcinv, lambda ans, x: -math.sqrt(math.pi) / 2 * np.exp(ans**2))

j0 = by_slopes(_scipy.j0, lambda ans, x: -j1(x))
j1 = by_slopes(_scipy.j1, lambda ans, x: (j0(x) - jn(2, x)) / 2)
jn = by_slopes(_scipy.jv, None, lambda ans, n, x: (jn(n - 1, x) - jn(n + 1, x)) / 2)
y0 = by_slopes(_scipy.y0, lambda ans, x: -y1(x))
y1 = by_slopes(_scipy.y1, lambda ans, x: (y0(x) - yn(2, x)) / 2)
yn = by_slopes(_scipy.yn, None, lambda ans, n, x: (yn(n - 1, x) - yn(n + 1, x)) / 2)
iv = by_slopes(_scipy.iv, None, lambda ans, n, x: (iv(n - 1, x) + iv(n + 1, x)) / 2)
ive = by_slopes(_scipy.ive, None, lambda ans, n, x: ans * (n / x - np.sign(x)) + ive(n + 1, x))
