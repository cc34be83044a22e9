"""The gamma distribution."""

from .methods import methods_of

__all__ = ["cdf", "logpdf", "pdf"]

cdf, logpdf, pdf = methods_of("gamma", "cdf logpdf pdf")
