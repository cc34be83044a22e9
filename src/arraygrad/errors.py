"""The exception classes of arraygrad. Where a built-in exception says the same, we raise that.

Each class is a subclass of the built-in exception that a user of PyTorch or NumPy would catch.
"""

__all__ = [
    "AnomalyError", "DataDependentError", "DerivativeError", "GraphFreedError", "LazyError",
    "MixedArraysError", "NoGradientError", "NotASolutionError", "OuterWriteError", "RuleError",
    "SingularError", "UnusedInputError", "WrittenError",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


class GraphFreedError(RuntimeError):
    """The graph was differentiated before, and `retain_graph` was not set."""


class UnusedInputError(RuntimeError):
    """The outputs do not depend on an input whose gradient was requested."""


class NoGradientError(RuntimeError):
    """An input or output of a differentiation does not require gradients."""


class WrittenError(RuntimeError):
    """A gradient needs a value that was changed in place. `place` is the node that saved it."""

    place: tuple[object, None]


class OuterWriteError(TypeError):
    """A value of a transform was to be written into an array from outside the transform."""


class MixedArraysError(TypeError):
    """One operation got arrays of different libraries, or on different devices."""


class RuleError(RuntimeError):
    """A derivative rule, a custom backward or a hook returned a value that does not fit."""


class AnomalyError(RuntimeError):
    """Anomaly detection found NaN in a gradient. `place`: the node, and which input of it."""

    place: tuple[object, int]


class DataDependentError(TypeError):
    """A compiled function needs a value, or a shape, that is known only when it runs."""


class LazyError(TypeError):
    """Values or lengths of a lazy array are needed, but only the user may start a computation."""


class NotASolutionError(ValueError):
    """What a solver of SciPy returned is not a solution, so it has no derivative."""


class SingularError(ValueError):
    """A solution is not a smooth function of its parameters: the Jacobian is singular."""


class DerivativeError(RuntimeError):
    """A derivative differs from a difference of values. See `arraygrad.scipy.check`."""
