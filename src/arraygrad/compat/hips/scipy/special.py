"""`autograd.scipy.special`: the functions of `scipy.special`, with derivatives."""

from __future__ import annotations

from ....scipy.names import scipy_module
from ..primitives import primitive
from ..rules import defjvp, defvjp
from .twins import lazily

__all__ = """
beta betainc betaln digamma erf erfc erfcinv erfinv expit gamma gammainc gammaincc gammaln gammasgn
i0 i1 iv ive j0 j1 jn logit logsumexp multigammaln polygamma psi rgamma y0 y1 yn
""".split()

gammasgn = primitive(scipy_module("scipy.special").gammasgn)
defvjp(gammasgn, None)
defjvp(gammasgn, None)

__getattr__ = lazily("special", globals())
