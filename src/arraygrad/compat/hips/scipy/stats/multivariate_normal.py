"""The normal distribution in several dimensions."""

from .methods import methods_of

__all__ = ["entropy", "logpdf", "pdf"]

entropy, logpdf, pdf = methods_of("multivariate_normal", "entropy logpdf pdf")
