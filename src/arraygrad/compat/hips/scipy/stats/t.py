"""Student's t distribution."""

from .methods import methods_of

__all__ = ["cdf", "logcdf", "logpdf", "pdf"]

cdf, logcdf, logpdf, pdf = methods_of("t", "cdf logcdf logpdf pdf")
