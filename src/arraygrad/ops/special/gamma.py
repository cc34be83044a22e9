"""The gamma and beta functions, and derivatives of their logarithms.

Incomplete gamma and beta functions are in `incomplete`.
"""

from __future__ import annotations

from .libraries import library_binary, library_unary

gammaln = library_unary(
    "gammaln",
    d=lambda x: digamma(x),
    doc="The logarithm of the absolute value of the gamma function.",
)
digamma = library_unary(
    "digamma", d=lambda x: polygamma(1, x), doc="The derivative of the gamma function's logarithm."
)
psi = digamma
polygamma = library_binary(
    "polygamma",
    vjp_y=lambda g, x, y: g * polygamma(x + 1, y),
    doc="``polygamma(n, x)``: the derivative of `digamma` of order `n`, an integer, at `x`.",
)
betaln = library_binary(
    "betaln",
    vjp_x=lambda g, x, y: g * (digamma(x) - digamma(x + y)),
    vjp_y=lambda g, x, y: g * (digamma(y) - digamma(x + y)),
    doc="The logarithm of the absolute value of the beta function.",
)
gamma = library_unary(
    "gamma", vjp=lambda g, x, out: g * (out * digamma(x)), doc="The gamma function."
)
