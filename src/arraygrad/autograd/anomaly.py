"""Anomaly detection: modes that find the op behind a bad gradient. `sweep.ways` does the checks."""

from __future__ import annotations

from ..core.modes import ModeContext, ModeSetter, current_modes


class detect_anomaly(ModeContext):  # noqa: N801  (torch's name)
    """Find out which op gives NaN or raises in the reverse sweep, and which line called the op.

    Inside, each node keeps the lines of the user's code that recorded it, and an error in the sweep
    shows these lines. With `check_nan`, a NaN in any gradient is an error. This applies to `grad`
    and `backward`, and to the sweeps of transforms in `arraygrad.func`. It is slow: use it for
    debugging only.

    Parameters
    ----------
    check_nan : bool, default True
        Whether a NaN is an error.

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
    """Switch anomaly detection on or off: as a function, or as a context manager for a block.

    Parameters
    ----------
    mode : bool
        Whether it is on.
    check_nan : bool, default True
        Whether a NaN is an error.

    Examples
    --------
    >>> import arraygrad as ag
    >>> with ag.autograd.set_detect_anomaly(True, check_nan=False):
    ...     ag.autograd.is_anomaly_enabled(), ag.autograd.is_anomaly_check_nan_enabled()
    (True, False)
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        kind = ("nan" if check_nan else "trace") if mode else None
        super().__init__(anomaly=kind)


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on.

    >>> ag.autograd.is_anomaly_enabled()
    False
    """
    return current_modes().anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection is on, and a NaN is an error.

    >>> ag.autograd.is_anomaly_check_nan_enabled()
    False
    """
    return current_modes().anomaly == "nan"
