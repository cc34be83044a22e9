"""Functions of arraygrad inside PyTorch, and functions of PyTorch inside arraygrad.

Arrays share their memory on the way: nothing is copied, if it is on the CPU.

>>> import arraygrad as ag
>>> from arraygrad.interop.torch import wrap
>>> import torch  # doctest: +SKIP
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)  # doctest: +SKIP
>>> wrap(lambda x: (x**3).sum())(x).backward()  # doctest: +SKIP
>>> x.grad  # doctest: +SKIP
tensor([ 3., 12.])
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


def _torch() -> Any:
    import torch

    return torch


def _array(tensor: Any) -> Any:
    """The memory of a tensor of PyTorch as a NumPy array."""
    return tensor.detach().resolve_conj().numpy()


def _tensor(array: Any) -> Any:
    """The memory of an array as a tensor of PyTorch. An array that cannot be written is copied."""
    values = np.asarray(plain(array))
    return _torch().from_numpy(values if values.flags.writeable else values.copy())


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _like(value: Any, results: tuple[Any, ...]) -> Any:
    return results if isinstance(value, tuple | list) else results[0]


def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arraygrad as one of PyTorch, which PyTorch differentiates to any order.

    Parameters
    ----------
    function : callable
        A function of arrays that returns an array, or a tuple of arrays. It is computed by NumPy.

    Returns
    -------
    callable
        Takes tensors on the CPU. Other arguments, and those by keyword, are passed as they are.
    """
    torch = _torch()

    class Bridge(torch.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(ctx: Any, run: Any, *tensors: Any) -> Any:
            value, ctx.pull = vjp(run, *map(_array, tensors))
            ctx.run, ctx.many = run, isinstance(value, tuple | list)
            ctx.save_for_backward(*tensors)
            found = tuple(map(_tensor, _tuple(value)))
            return found if ctx.many else found[0]

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            if not torch.is_grad_enabled():
                given = tuple(map(_array, cotangents))
                return (None, *map(_tensor, _tuple(ctx.pull(given if ctx.many else given[0]))))
            tensors, many, run = ctx.saved_tensors, ctx.many, ctx.run

            def again(*values: Any) -> Any:  # the gradient, as a function that has derivatives
                pull = vjp(run, *values[: len(tensors)])[1]
                given = values[len(tensors) :]
                return _tuple(pull(given if many else given[0]))

            return (None, *_tuple(wrap(again)(*tensors, *cotangents)))

    @functools.wraps(function)
    def wrapped(*args: Any, **keywords: Any) -> Any:
        places = [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)]

        def run(*values: Any) -> Any:
            full = list(args)
            for i, value in zip(places, values, strict=True):
                full[i] = value
            return function(*full, **keywords)

        return Bridge.apply(run, *(args[i] for i in places))

    return wrapped


class _Bridge(Function):
    """A function of PyTorch, and its gradient by PyTorch."""

    @staticmethod
    def forward(ctx: Any, function: Any, *arrays: Any) -> Any:
        ctx.function = function
        ctx.save_for_backward(*arrays)
        with _torch().no_grad():
            value = function(*map(_tensor, arrays))
        return _like(value, tuple(Tensor(_array(v)) for v in _tuple(value)))

    @staticmethod
    def backward(ctx: Any, *cotangents: Any, **_: Any) -> Any:
        arrays, function = ctx.saved_tensors, ctx.function

        def gradient(*values: Any) -> Any:
            torch = _torch()
            with torch.enable_grad():
                inputs = [
                    v if v.requires_grad else v.detach().requires_grad_(v.dtype.is_floating_point)
                    for v in values[: len(arrays)]
                ]
                outputs = _tuple(function(*inputs))
                moving = [x for x in inputs if x.requires_grad]
                found = torch.autograd.grad(
                    outputs, moving, values[len(arrays) :], create_graph=True, allow_unused=True
                )
            rest = iter(found)
            grads = (next(rest) if x.requires_grad else None for x in inputs)
            return tuple(
                torch.zeros_like(x) if g is None else g for x, g in zip(inputs, grads, strict=True)
            )

        return (None, *_tuple(unwrap(gradient)(*arrays, *cotangents)))


def unwrap(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of PyTorch as one of arraygrad, which has gradients of any order.

    Parameters
    ----------
    function : callable
        A function of tensors that returns a tensor, or a tuple of tensors.

    Returns
    -------
    callable
        Takes arrays, on the CPU, or tensors of arraygrad.
    """

    @functools.wraps(function)
    def unwrapped(*arrays: Any) -> Any:
        return _Bridge.apply(function, *arrays)

    return unwrapped
