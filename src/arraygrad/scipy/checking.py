"""The switch that compares derivatives of SciPy's functions with differences of SciPy's values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from .. import ops
from ..core.array import AnyFunction, Array
from ..errors import DerivativeError
from ..func import jvp
from .formula import carries, const
from .substitution import substituted

F = TypeVar("F", bound=AnyFunction)
_STEP = 1e-4  # relative to the size of an argument
_CLOSE = 1e-4  # how close a derivative must be to the difference, relative to the largest one
# Their vectors have a phase that is not a function of the matrix.
_UP_TO_PHASE = {f"scipy.linalg.{name}" for name in ("eig", "eigh", "svd", "schur", "ldl")}
# Some of their columns are an arbitrary basis.
_ARBITRARY = {"scipy.linalg.null_space", "scipy.linalg.qr"}
# Where there is no derivative, or SciPy does not take the arguments beside the given ones.
_REFUSED = (NotImplementedError, ValueError, np.linalg.LinAlgError)


class _State:
    """Whether functions are checked, and which of them were already."""

    on = False
    seen: set[str]


state = _State()
state.seen = set()


def check(on: bool = True) -> None:
    """Compare each derivative of `arraygrad.scipy` with a difference, when it is first used.

    At the first call of each function with arrays that have derivatives, the derivative along a
    direction is compared with the difference of SciPy's own values. If they differ by more than the
    error of the difference, `arraygrad.errors.DerivativeError` is raised. The call takes several
    times longer; later calls of the function are not checked, until `check` is called again.
    Functions of sparse arrays, and objects such as splines, are not checked.

    Parameters
    ----------
    on : bool
        Whether to check.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.scipy.check(True)
    >>> x = ag.tensor(np.eye(2) + 0.1, requires_grad=True)
    >>> y = ag.scipy.linalg.expm(x)  # the derivative was compared with a difference
    >>> ag.scipy.check(False)
    """
    state.on = on
    state.seen.clear()


def verified(name: str) -> Callable[[F], F]:
    """Let a function be compared with differences while the switch is on."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            if state.on:
                compare(name, function, args, kwargs)
            return function(*args, **kwargs)

        return run  # type: ignore[return-value]

    return decorate


def compare(name: str, function: AnyFunction, args: Any, kwargs: Any) -> None:
    """Raise if a derivative differs from a difference, unless this was looked at before.

    Called with plain values, the function must be SciPy's.
    """
    if name in state.seen or name in _ARBITRARY:
        return
    given: list[Any] = []

    def collect(array: Any) -> Any:
        if carries(array) and not any(array is known for known in given):
            given.append(array)
        return array

    substituted((args, kwargs), collect, {})
    values = [const(array) for array in given]
    if not values or any(isinstance(v, Array) or v.dtype.kind not in "fc" for v in values):
        return  # nothing to differentiate by, or a batch
    state.on = False  # what the function calls is a part of it
    try:
        _compare(name, function, (args, kwargs), given, values)
    finally:
        state.on = True
        state.seen.add(name)


def _compare(name: str, function: AnyFunction, call: Any, given: Any, values: Any) -> None:
    rng = np.random.default_rng(2)
    along = tuple(_direction(rng, v) for v in values)

    def at(*moved: Any) -> list[Any]:
        def replace(array: Any) -> Any:
            for known, other in zip(given, moved, strict=True):
                if array is known:
                    return other
            return const(array)

        args, kwargs = substituted(call, replace, {})
        numbers = _numbers(function(*args, **kwargs))
        return [ops.abs(x) ** 2 for x in numbers] if name in _UP_TO_PHASE else list(numbers)

    def sides(step: float) -> list[tuple[Any, Any]]:
        pairs = list(zip(values, along, strict=True))
        both = [at(*(v + s * t for v, t in pairs)) for s in (step, -step)]
        return [(np.asarray(a), np.asarray(b)) for a, b in zip(*both, strict=True)]

    try:
        found, tangents = jvp(lambda *moved: at(*moved), tuple(values), along)
        with np.errstate(all="ignore"):
            near, far = sides(_STEP), sides(2 * _STEP)
    except _REFUSED:
        return
    for value, tangent, (up, down), (top, bottom) in zip(found, tangents, near, far, strict=True):
        value, tangent = np.asarray(value), np.asarray(tangent)
        if not (tangent.shape == up.shape == down.shape) or np.isnan(tangent).all():
            continue  # a result that refuses derivatives, or whose length depends on the values
        if np.max(np.abs(up + down - 2 * value), initial=0.0) > 1e-2 * np.max(
            np.abs(value), initial=0.0
        ):
            continue  # it jumps, as the signs of eigenvectors do
        close, wide = (up - down) / (2 * _STEP), (top - bottom) / (4 * _STEP)
        expected = close + (close - wide) / 3  # of the fourth order
        known = np.isfinite(expected)
        scale = np.max(np.abs(expected), where=known, initial=0.0)
        allowed = _CLOSE * scale + 3 * np.abs(close - wide) + 1e-7
        bad = known & ~(np.abs(tangent - expected) <= allowed)
        if bad.any():
            place = np.unravel_index(np.argmax(bad), bad.shape)
            raise DerivativeError(
                f"{name}: the derivative is {tangent[place]}, but the difference of SciPy's values "
                f"is {expected[place]} ± {allowed[place]:.1e}. Please report this, with the "
                "arguments"
            )


def _direction(rng: Any, value: Any) -> Any:
    along = rng.uniform(0.5, 1.5, value.shape) * np.maximum(np.abs(value), 0.1)
    return along.astype(value.dtype)


def _numbers(result: Any) -> Iterator[Any]:
    """The arrays and numbers in a result that can have derivatives."""
    if isinstance(result, dict):
        for key in sorted(result):
            yield from _numbers(result[key])
    elif isinstance(result, list | tuple):
        for part in result:
            yield from _numbers(part)
    elif isinstance(result, float | complex) or (
        isinstance(result, np.ndarray | np.generic | Array)
        and np.dtype(str(result.dtype).rpartition(".")[2]).kind in "fc"
    ):
        yield result
