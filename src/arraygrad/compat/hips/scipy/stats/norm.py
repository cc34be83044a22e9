"""The normal distribution."""

from .methods import methods_of

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]

cdf, logcdf, logpdf, logsf, pdf, sf = methods_of("norm", "cdf logcdf logpdf logsf pdf sf")
