"""The functions of `arraygrad.special`, and some elementary ones, as twins of SciPy's."""

from __future__ import annotations

from typing import Any

from ... import ops
from ... import special as ours
from ...core.array import AnyFunction
from ..twins import array_like, twin
from .declaring import SCIPY


def _elementwise(name: str, function: AnyFunction) -> AnyFunction:
    """The twin of a function of arrays and numbers."""

    def run(*args: Any) -> Any:
        return function(*(x if isinstance(x, int | float) else array_like(x) for x in args))

    return twin(getattr(SCIPY, name))(run)


def _over_axes(name: str, function: AnyFunction) -> AnyFunction:
    return twin(getattr(SCIPY, name))(lambda x, axis=None: function(array_like(x), axis=axis))


@twin(SCIPY.logsumexp)
def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """The logarithm of a sum of exponentials."""
    if return_sign:
        raise NotImplementedError("logsumexp of tensors has no return_sign=True")
    b = None if b is None else array_like(b)
    return ours.logsumexp(array_like(a), axis=axis, b=b, keepdims=keepdims)


softmax = _over_axes("softmax", ours.softmax)
log_softmax = _over_axes("log_softmax", ours.log_softmax)
betaln = _elementwise("betaln", ours.betaln)
digamma = _elementwise("digamma", ours.digamma)
entr = _elementwise("entr", ours.entr)
erf = _elementwise("erf", ours.erf)
erfc = _elementwise("erfc", ours.erfc)
erfinv = _elementwise("erfinv", ours.erfinv)
exp1 = _elementwise("exp1", ours.exp1)
expi = _elementwise("expi", ours.expi)
expit = _elementwise("expit", ours.expit)
gamma = _elementwise("gamma", ours.gamma)
gammaln = _elementwise("gammaln", ours.gammaln)
i0 = _elementwise("i0", ours.i0)
i0e = _elementwise("i0e", ours.i0e)
i1 = _elementwise("i1", ours.i1)
i1e = _elementwise("i1e", ours.i1e)
kl_div = _elementwise("kl_div", ours.kl_div)
log_expit = _elementwise("log_expit", ours.log_expit)
log_ndtr = _elementwise("log_ndtr", ours.log_ndtr)
logit = _elementwise("logit", ours.logit)
ndtr = _elementwise("ndtr", ours.ndtr)
ndtri = _elementwise("ndtri", ours.ndtri)
polygamma = _elementwise("polygamma", ours.polygamma)
psi = _elementwise("psi", ours.psi)
rel_entr = _elementwise("rel_entr", ours.rel_entr)
sinc = _elementwise("sinc", ours.sinc)
xlog1py = _elementwise("xlog1py", ours.xlog1py)
xlogy = _elementwise("xlogy", ours.xlogy)
zeta = _elementwise("zeta", ours.zeta)
exp2 = _elementwise("exp2", ops.exp2)
expm1 = _elementwise("expm1", ops.expm1)
log1p = _elementwise("log1p", ops.log1p)
cbrt = _elementwise("cbrt", ops.cbrt)
# SciPy has had this one since 1.15.
softplus = twin(getattr(SCIPY, "softplus", ours.softplus))(lambda x: ours.softplus(array_like(x)))
