"""Derivatives of functions: Jacobians, Hessians, products with them, checks, checkpoints.

The derivatives are those of `torch.autograd.functional`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import func, testing
from ....autograd import no_grad
from ...facade import Facade, unwrapped
from ...torch.autograd import functional as torch_functional
from ...torch.handles import unwrap, wrap
from ..tensors import Tensor


def _inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Lucid's tensors as a function of arraygrad's."""
    return lambda *args: unwrapped(function(*Tensor._wrapped(args)))


def _derived(name: str, takes_vector: bool) -> Callable[..., Any]:
    """A function of `torch.autograd.functional`, on Lucid's tensors."""
    native = getattr(torch_functional, name)

    def derivative(
        function: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False
    ) -> Any:
        def on_torch(*args: Any) -> Any:
            return wrap(unwrapped(function(*Tensor._wrapped(unwrap(args)))))

        given = wrap(unwrapped(inputs))
        if not takes_vector:
            return _lucid(native(on_torch, given, v or create_graph))
        vector = wrap(unwrapped(v))
        if v is None:  # ones, in the form of the inputs, or of the result
            like = given
            if name == "vjp":
                with no_grad():
                    like = on_torch(*(given if isinstance(given, tuple | list) else (given,)))
            many = isinstance(like, tuple | list)
            vector = tuple(t.detach() * 0 + 1 for t in like) if many else like.detach() * 0 + 1
        return _lucid(native(on_torch, given, vector, create_graph))

    derivative.__name__, derivative.__doc__ = name, native.__doc__
    return derivative


def _lucid(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_lucid, value))
    return Tensor._of(value._t)


jacobian, hessian = _derived("jacobian", False), _derived("hessian", False)
vjp, jvp, hvp = (_derived(name, True) for name in ("vjp", "jvp", "hvp"))


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """Compute `function(*args)` without keeping what it computes: backward computes it again.

    The ops of the function are computed again. The function itself runs once, so random numbers
    stay as they were: `use_reentrant` and `preserve_rng_state` can only have their defaults.
    """
    if use_reentrant or not preserve_rng_state:
        raise NotImplementedError(
            "checkpoint() is never reentrant here, and random numbers stay as they were drawn: "
            "leave out use_reentrant and preserve_rng_state"
        )
    return Tensor._wrapped(func.checkpoint(_inner(function))(*unwrapped(args)))


def gradcheck(function: Callable[..., Any], inputs: Any, **keywords: Any) -> bool:
    """Compare the derivatives of a function with finite differences."""
    xs = unwrapped([inputs] if isinstance(inputs, Facade) else list(inputs))
    return testing.gradcheck(_inner(function), xs, **keywords)


def gradgradcheck(function: Callable[..., Any], inputs: Any, **keywords: Any) -> bool:
    """Compare the second derivatives of a function with finite differences."""
    xs = unwrapped([inputs] if isinstance(inputs, Facade) else list(inputs))
    return testing.gradgradcheck(_inner(function), xs, **keywords)
