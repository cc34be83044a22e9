"""SciPy's solvers with exact derivatives, over any structure of arrays.

What they find has derivatives, too. For vectors, they are those of `arraygrad.scipy.optimize`.
SciPy is imported when it is first used.
"""

from .equations import curve_fit, least_squares, root
from .minima import minimize

__all__ = ["curve_fit", "least_squares", "minimize", "root"]


def __dir__() -> list[str]:
    return __all__
