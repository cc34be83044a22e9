"""Libraries of arrays against NumPy: `check_backend`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import func, linalg, ops
from ..arrays.creation import tensor
from ..autograd import grad
from ..core.array import plain
from .closeness import assert_close, values_of


def _written(x: Any) -> Any:
    y = ops.copy(x)
    y[0, :] *= 2
    y[:, 1] = x[:, 0] ** 2
    return y * x


# Functions of a matrix of 3 by 4, for what a library must be able to do.
_PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: 2 - x * x / (1 + x**2),
    "functions": lambda x: ops.sin(x) * ops.exp(-x) + ops.tanh(ops.sqrt(ops.square(x) + 1)),
    "broadcasting": lambda x: x + x[0, :] * x[:, :1],
    "choices": lambda x: ops.where(x > 0, x * x, -x) + ops.maximum(x, x[0, :]),
    "sums": lambda x: ops.sum(x, axis=0) * ops.mean(x) + ops.prod(x, axis=0),
    "extremes": lambda x: ops.max(x, axis=1) - ops.min(x, axis=1) + ops.std(x, axis=1),
    "running sums": lambda x: ops.cumulative_sum(x * x, axis=1),
    "sorting": lambda x: ops.sort(x, axis=1) * ops.flip(x, axis=0),
    "slices": lambda x: x[1:, ::2] * x[:2, 1::2],
    "index arrays": lambda x: x[[0, 2, 2]] * ops.take(x, np.array([1]), axis=1),
    "shapes": lambda x: ops.reshape(x, (4, 3)) * ops.permute_dims(x, (1, 0)),
    "joining": lambda x: ops.concat([x, ops.stack([x[0], x[1]])]) ** 2,
    "products": lambda x: x @ x.mT + ops.tensordot(x, x, axes=((1,), (1,))),
    "equations": lambda x: linalg.solve(x.mT @ x + ops.diag(1 + 0 * x[0]), x.mT),
    "complex numbers": lambda x: ops.real((x + 1j * x[::-1]) ** 2),
    "writes": _written,
}


def _ways(program: Callable[[Any], Any], x: Any) -> dict[str, Callable[[], Any]]:
    """What is compared of a function: its value, and derivatives in each way."""

    def total(x: Any) -> Any:
        return ops.sum(program(x) ** 2)

    def gradient() -> Any:
        leaf = tensor(x, requires_grad=True)
        return grad(total(leaf), leaf)

    return {
        "the value": lambda: program(tensor(x)),
        "the gradient": gradient,
        "the forward derivative": lambda: func.jvp(total, (tensor(x),), (tensor(x),))[1],
        "the second derivative": lambda: func.hvp(total, (tensor(x),), (tensor(x),)),
        "a batch": lambda: func.vmap(total)(ops.stack([tensor(x), tensor(x)])),
    }


def check_backend(make: Callable[[Any], Any]) -> None:
    """Raise unless a library of arrays computes values and derivatives as NumPy does.

    A library that `arraygrad.backends.register` has made known can be checked by one test. The
    check runs small programs over the library's arrays and over NumPy's: arithmetic, reductions,
    indices, writes, linear algebra and more; the value, the gradient, forward mode, the second
    derivative, and a batch.

    Parameters
    ----------
    make : callable
        Returns an array of the library, given one of NumPy.

    Raises
    ------
    AssertionError
        If something differs or raises. The message lists everything that does.

    Examples
    --------
    >>> import array_api_strict
    >>> import arraygrad as ag
    >>> ag.testing.check_backend(array_api_strict.asarray)
    """
    own = make(np.cos(np.arange(12.0)).reshape(3, 4))
    values = values_of(own)  # the library may have no float64
    kind, wrong = (np.ndarray, np.generic) if type(own) is np.ndarray else type(own), []
    for name, program in _PROGRAMS.items():
        expected = _ways(program, values)
        for way, found in _ways(program, own).items():
            try:
                result = found()
                if not isinstance(plain(result), kind):
                    raise TypeError(f"the result is a {type(plain(result)).__name__}")
                assert_close(result, expected[way]())
            except Exception as error:
                wrong.append(f"{name}, {way}: {type(error).__name__}: {error}")
    if wrong:
        raise AssertionError(f"{type(own).__name__} differs from NumPy:\n" + "\n".join(wrong))
