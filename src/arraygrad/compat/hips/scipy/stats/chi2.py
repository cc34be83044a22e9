"""The chi-squared distribution."""

from .methods import methods_of

__all__ = ["cdf", "logpdf", "pdf"]

cdf, logpdf, pdf = methods_of("chi2", "cdf logpdf pdf")
