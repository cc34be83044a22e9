"""The beta distribution."""

from .methods import methods_of

__all__ = ["cdf", "logpdf", "pdf"]

cdf, logpdf, pdf = methods_of("beta", "cdf logpdf pdf")
