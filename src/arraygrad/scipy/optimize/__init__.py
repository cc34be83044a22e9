"""`scipy.optimize` with derivatives: roots, minima and fits as functions of their parameters.

SciPy finds the solution. Its derivatives, by all arrays that the user's functions depend on, are
those of an implicit function (see `scipy.implicit`), not those of the steps of the solver. Where a
solver did not find a solution, differentiating raises an error.

`minimize`, `root`, `least_squares` and `curve_fit` give SciPy's methods exact derivatives of the
user's functions, where the user gives none (see `exact`). `arraygrad.optimize` has them for any
structure of arrays.
"""

from ..names import others_from
from .fits import curve_fit, isotonic_regression, least_squares, leastsq, lsq_linear, nnls
from .minima import (
    basinhopping,
    differential_evolution,
    direct,
    dual_annealing,
    fmin,
    fmin_bfgs,
    fmin_cg,
    fmin_l_bfgs_b,
    fmin_ncg,
    fmin_powell,
    minimize,
    minimize_scalar,
    shgo,
)
from .programs import linear_sum_assignment, linprog, milp
from .roots import (
    bisect,
    brenth,
    brentq,
    fixed_point,
    fsolve,
    newton,
    ridder,
    root,
    root_scalar,
    toms748,
)

__all__ = [
    "basinhopping",
    "bisect",
    "brenth",
    "brentq",
    "curve_fit",
    "differential_evolution",
    "direct",
    "dual_annealing",
    "fixed_point",
    "fmin",
    "fmin_bfgs",
    "fmin_cg",
    "fmin_l_bfgs_b",
    "fmin_ncg",
    "fmin_powell",
    "fsolve",
    "isotonic_regression",
    "least_squares",
    "leastsq",
    "linear_sum_assignment",
    "linprog",
    "lsq_linear",
    "milp",
    "minimize",
    "minimize_scalar",
    "newton",
    "nnls",
    "ridder",
    "root",
    "root_scalar",
    "shgo",
    "toms748",
]

__getattr__ = others_from("scipy.optimize")


def __dir__() -> list[str]:
    return __all__
