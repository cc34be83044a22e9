"""The Poisson distribution."""

from .methods import methods_of

__all__ = ["cdf", "logpmf", "pmf"]

cdf, logpmf, pmf = methods_of("poisson", "cdf logpmf pmf")
