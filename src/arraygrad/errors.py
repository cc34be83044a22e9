"""The errors arraygrad raises that have no exact counterpart among Python's own.

Each is a subclass of the built-in a PyTorch or NumPy user would catch.
"""

__all__ = [
    "AnomalyError",
    "GraphFreedError",
    "LazyError",
    "MixedArraysError",
    "NoGradientError",
    "RuleError",
    "UnusedInputError",
    "WrittenError",
]


def __dir__() -> list[str]:
    return __all__


class GraphFreedError(RuntimeError):
    """The graph was differentiated before, without being retained."""


class UnusedInputError(RuntimeError):
    """A gradient was asked for with respect to something the outputs do not depend on."""


class NoGradientError(RuntimeError):
    """A tensor takes part in differentiation that does not require gradients."""


class WrittenError(RuntimeError):
    """A value that is needed for a gradient was changed in place."""


class MixedArraysError(TypeError):
    """Arrays of different libraries, or on different devices, met in one operation."""


class RuleError(RuntimeError):
    """A derivative rule, a custom backward or a hook returned something that does not fit."""


class AnomalyError(RuntimeError):
    """Anomaly detection found NaN in a gradient."""


class LazyError(TypeError):
    """The values, or the lengths, of a lazy array are needed, and nothing computes them unasked."""
