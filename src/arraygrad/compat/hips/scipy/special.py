"""`autograd.scipy.special`: the functions of `scipy.special`, with derivatives."""

from __future__ import annotations

from typing import Any

from ....scipy.names import scipy_module
from ..primitives import primitive
from ..rules import defjvp, defvjp
from .twins import twin

__all__ = """
beta betainc betaln digamma erf erfc erfcinv erfinv expit gamma gammainc gammaincc gammaln gammasgn
i0 i1 iv ive j0 j1 jn logit logsumexp multigammaln polygamma psi rgamma y0 y1 yn
""".split()

gammasgn = primitive(scipy_module("scipy.special").gammasgn)
defvjp(gammasgn, None)
defjvp(gammasgn, None)


def __getattr__(name: str) -> Any:
    """A function, made when it is first asked for."""
    found = globals()[name] = twin("special", name)
    return found
