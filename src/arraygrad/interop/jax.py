"""Functions of arraygrad inside JAX, and functions of JAX inside arraygrad.

A function that is made of arraygrad's ops alone runs on JAX's arrays by itself. `wrap` is for
functions that compute with NumPy or SciPy: JAX calls them back, also from compiled functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.tensor import Tensor
from ..autograd import Function
from ..core.array import plain
from ..func import vjp

__all__ = ["unwrap", "wrap"]


def __dir__() -> list[str]:
    return __all__


def _arrays(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_arrays, value))
    return np.asarray(plain(value))


def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arraygrad as one of JAX, with gradients of any order, also under `jax.jit`.

    Parameters
    ----------
    function : callable
        A function of arrays that returns an array, or a tuple of arrays. Their shapes must depend
        on the shapes of the arguments only: `function` is called once on ones to find them.

    Returns
    -------
    callable
        Takes JAX's arrays.
    """
    import jax

    def compute(*arrays: Any) -> Any:
        return _arrays(function(*map(np.asarray, arrays)))

    def called(*arrays: Any) -> Any:
        found = compute(*(np.ones(x.shape, x.dtype) for x in arrays))
        shapes = jax.tree.map(lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype), found)
        return jax.pure_callback(compute, shapes, *arrays, vmap_method="sequential")

    wrapped = jax.custom_vjp(called)

    def pulled(arrays: Any, cotangent: Any) -> Any:
        def gradient(*values: Any) -> Any:
            count = len(arrays)
            given = values[count:] if isinstance(cotangent, tuple) else values[count]
            found = vjp(function, *values[:count])[1](given)
            return found if isinstance(found, tuple) else (found,)

        rest = cotangent if isinstance(cotangent, tuple) else (cotangent,)
        return tuple(wrap(gradient)(*arrays, *rest))

    wrapped.defvjp(lambda *arrays: (wrapped(*arrays), arrays), pulled)
    return functools.wraps(function)(wrapped)


class _Bridge(Function):
    """A function of JAX, and its gradient by JAX."""

    @staticmethod
    def forward(ctx: Any, function: Any, *arrays: Any) -> Any:
        ctx.function = function
        ctx.save_for_backward(*arrays)
        found = _arrays(function(*map(_arrays, arrays)))
        return tuple(map(Tensor, found)) if isinstance(found, tuple) else Tensor(found)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any, **_: Any) -> Any:
        arrays, function = ctx.saved_tensors, ctx.function

        def gradient(*values: Any) -> Any:
            import jax

            out, pull = jax.vjp(function, *values[: len(arrays)])
            given = values[len(arrays) :]
            return tuple(pull(tuple(given) if isinstance(out, tuple) else given[0]))

        return (None, *unwrap(gradient)(*arrays, *cotangents))


def unwrap(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of JAX as one of arraygrad, which has gradients of any order.

    Parameters
    ----------
    function : callable
        A function of JAX's arrays that returns an array, or a tuple of arrays.

    Returns
    -------
    callable
        Takes NumPy arrays, or tensors of arraygrad over them. Results are NumPy arrays.
    """

    @functools.wraps(function)
    def unwrapped(*arrays: Any) -> Any:
        return _Bridge.apply(function, *arrays)

    return unwrapped
