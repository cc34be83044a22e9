"""The functions of `arraygrad.special`, and some elementary ones, as twins of SciPy's."""

from __future__ import annotations

from typing import Any

from ... import ops
from ... import special as ours
from ...core.array import AnyFunction
from ..twins import array_like, double, refuse, twin
from .declaring import SCIPY, elementwise

__all__ = [
    "betaln",
    "cbrt",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "exp1",
    "exp2",
    "expi",
    "expit",
    "expm1",
    "factorial",
    "gamma",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log1p",
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


def _over_axes(name: str, function: AnyFunction) -> AnyFunction:
    return twin(getattr(SCIPY, name))(lambda x, axis=None: function(array_like(x), axis=axis))


@twin(SCIPY.logsumexp)
def logsumexp(a: Any, axis: Any, b: Any, keepdims: bool, return_sign: bool) -> Any:
    """The logarithm of a sum of exponentials."""
    if return_sign:
        raise NotImplementedError("logsumexp of tensors has no return_sign=True")
    b = None if b is None else array_like(b)
    return ours.logsumexp(array_like(a), axis=axis, b=b, keepdims=keepdims)


@twin(SCIPY.factorial)
def factorial(n: Any, exact: bool) -> Any:
    """The factorial, between integers by the gamma function; zero below zero."""
    refuse("factorial", exact=(exact, False))
    n = double(n)
    return ops.where(n < 0, 0.0, ours.gamma(ops.where(n < 0, 0.0, n) + 1))


softmax = _over_axes("softmax", ours.softmax)
log_softmax = _over_axes("log_softmax", ours.log_softmax)
betaln = elementwise("betaln", ours.betaln)
digamma = elementwise("digamma", ours.digamma)
entr = elementwise("entr", ours.entr)
erf = elementwise("erf", ours.erf)
erfc = elementwise("erfc", ours.erfc)
erfinv = elementwise("erfinv", ours.erfinv)
exp1 = elementwise("exp1", ours.exp1)
expi = elementwise("expi", ours.expi)
expit = elementwise("expit", ours.expit)
gamma = elementwise("gamma", ours.gamma)
gammaln = elementwise("gammaln", ours.gammaln)
i0 = elementwise("i0", ours.i0)
i0e = elementwise("i0e", ours.i0e)
i1 = elementwise("i1", ours.i1)
i1e = elementwise("i1e", ours.i1e)
kl_div = elementwise("kl_div", ours.kl_div)
log_expit = elementwise("log_expit", ours.log_expit)
log_ndtr = elementwise("log_ndtr", ours.log_ndtr)
logit = elementwise("logit", ours.logit)
ndtr = elementwise("ndtr", ours.ndtr)
ndtri = elementwise("ndtri", ours.ndtri)
polygamma = twin(SCIPY.polygamma)(lambda n, x: ours.polygamma(array_like(n), double(x)))
psi = elementwise("psi", ours.psi)
rel_entr = elementwise("rel_entr", ours.rel_entr)
sinc = elementwise("sinc", ours.sinc)
xlog1py = elementwise("xlog1py", ours.xlog1py)
xlogy = elementwise("xlogy", ours.xlogy)
zeta = elementwise("zeta", ours.zeta)
exp2 = elementwise("exp2", ops.exp2)
expm1 = elementwise("expm1", ops.expm1)
log1p = elementwise("log1p", ops.log1p)
cbrt = elementwise("cbrt", ops.cbrt)
# SciPy has had this one since 1.15.
softplus = twin(getattr(SCIPY, "softplus", ours.softplus))(lambda x: ours.softplus(array_like(x)))
