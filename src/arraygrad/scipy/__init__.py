"""SciPy's functions with derivatives, under SciPy's names.

On plain arrays, each function is SciPy's own. On tensors, and inside transforms, SciPy computes the
values, and the result carries derivatives. All other names of a module are SciPy's.

>>> import arraygrad as ag
>>> from arraygrad.scipy.optimize import brentq
>>> a = ag.tensor(2.0, requires_grad=True)
>>> root = brentq(lambda x: x**2 - a, 0.0, 2.0)
>>> round(float(ag.grad(root, a).item()), 6)  # 1 / (2 sqrt(2))
0.353553
"""

from typing import TYPE_CHECKING

__all__ = (
    "check",
    "fft",
    "install",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
)

if not TYPE_CHECKING:

    def __getattr__(name):
        """Import a module when it is first used."""
        import importlib

        places = {"check": ".checking", "install": ".installing"}
        if name in places:
            return getattr(importlib.import_module(places[name], __name__), name)
        if name in __all__:
            return importlib.import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
