"""The Dirichlet distribution."""

from .....scipy.names import scipy_module
from .methods import methods_of

__all__ = ["logpdf", "pdf", "rvs"]

logpdf, pdf = methods_of("dirichlet", "logpdf pdf")
rvs = scipy_module("scipy.stats").dirichlet.rvs
