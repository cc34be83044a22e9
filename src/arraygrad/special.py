"""`arraygrad.special`: special functions, with `scipy.special`'s names.

This module only collects the names; the ops are in `ops.special`.
"""

from .ops.special.bessel import i0, i0e, i1, i1e
from .ops.special.entropies import entr, kl_div, rel_entr, xlog1py, xlogy
from .ops.special.gamma import betaln, digamma, gamma, gammaln, polygamma, psi
from .ops.special.incomplete import betainc, exp1, expi, fdtr, fdtrc, gammainc, gammaincc
from .ops.special.normal import erf, erfc, erfinv, log_ndtr, ndtr, ndtri
from .ops.special.sigmoids import expit, log_expit, logit, softplus
from .ops.special.sinc import sinc
from .ops.special.softmax import log_softmax, logsumexp, softmax
from .ops.special.zeta import zeta

__all__ = [
    "betainc",
    "betaln",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "fdtr",
    "fdtrc",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "rel_entr",
    "sinc",
    "softmax",
    "softplus",
    "xlog1py",
    "xlogy",
    "zeta",
]


def __dir__() -> list[str]:
    return __all__
