"""`scipy.integrate` with derivatives: differential equations and integrals."""

from ..names import others_from
from .boundary import solve_bvp
from .equations import odeint, solve_ivp
from .quadrature import dblquad, fixed_quad, nquad, quad, quad_vec, tplquad
from .samples import cumulative_simpson, cumulative_trapezoid, romb, simpson, trapezoid

__all__ = [
    "cumulative_simpson",
    "cumulative_trapezoid",
    "dblquad",
    "fixed_quad",
    "nquad",
    "odeint",
    "quad",
    "quad_vec",
    "romb",
    "simpson",
    "solve_bvp",
    "solve_ivp",
    "tplquad",
    "trapezoid",
]

__getattr__ = others_from("scipy.integrate")


def __dir__() -> list[str]:
    return __all__
