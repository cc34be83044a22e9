"""`scipy.integrate` with derivatives: differential equations and integrals."""

from ..names import others_from
from .equations import odeint, solve_ivp

__all__ = ["odeint", "solve_ivp"]

__getattr__ = others_from("scipy.integrate")
