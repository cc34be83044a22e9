"""Finding the op behind a bad gradient."""

from __future__ import annotations

from ..core.modes import ModeContext, ModeSetter, current_modes


class detect_anomaly(ModeContext):  # noqa: N801  (torch's name)
    """Find out which op makes a NaN, or raises, in the reverse sweep, and who called it.

    Inside, each node remembers the lines of the user's code that made it; an error in the sweep
    carries them. With `check_nan`, a NaN in any gradient is an error. It holds for `grad` and
    `backward`, and for the sweeps of transforms in `arraygrad.func`. This is slow: for debugging
    only.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor(0.0, requires_grad=True)
    >>> with ag.autograd.detect_anomaly():
    ...     y = ag.sqrt(x) * 0
    ...     ag.grad(y, x)
    Traceback (most recent call last):
        ...
    arraygrad.errors.AnomalyError: SqrtBackward returned NaN in the gradient of its input 0...
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(anomaly="nan" if check_nan else "trace")


class set_detect_anomaly(ModeSetter):  # noqa: N801  (torch's name)
    """Switch anomaly detection on or off: at once, and as a context manager for its block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        kind = ("nan" if check_nan else "trace") if mode else None
        super().__init__(anomaly=kind)


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on here."""
    return current_modes().anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection looks for NaN here."""
    return current_modes().anomaly == "nan"
