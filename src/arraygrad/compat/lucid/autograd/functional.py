"""Derivatives of functions: Jacobians, Hessians, products with them, checks, checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import func, testing
from ....arrays.creation import ones_like
from ....autograd import enable_grad
from ...facade import Facade, unwrapped
from ..tensor import Tensor


def _inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Lucid's tensors as a function of arraygrad's."""
    return lambda *args: unwrapped(function(*Tensor._wrapped(args)))


def _arguments(inputs: Any, create_graph: bool) -> tuple[tuple[Any, ...], bool]:
    """The inputs as tensors of arraygrad, and whether there is a single one."""
    single = isinstance(inputs, Facade)
    given = (inputs,) if single else tuple(inputs)
    arrays = tuple(unwrapped(x) if create_graph else unwrapped(x).detach() for x in given)
    return arrays, single


def _result(value: Any, create_graph: bool) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_result(item, create_graph) for item in value)
    if not create_graph and hasattr(value, "detach"):
        value = value.detach()
    return Tensor._wrapped(value)


def jacobian(function: Callable[..., Any], inputs: Any, create_graph: bool = False) -> Any:
    """The Jacobian; for a tuple of inputs, a tuple with one for each."""
    xs, single = _arguments(inputs, create_graph)
    with enable_grad():
        found = func.jacrev(_inner(function), 0 if single else tuple(range(len(xs))))(*xs)
    return _result(found, create_graph)


def hessian(function: Callable[..., Any], inputs: Any, create_graph: bool = False) -> Any:
    """The Hessian of a function with one value; for a tuple of inputs, a tuple of tuples."""
    xs, single = _arguments(inputs, create_graph)
    inner = _inner(function)

    def value(*args: Any) -> Any:
        out = inner(*args)
        if out.size != 1:
            raise RuntimeError(
                f"hessian() needs a function with one element, and its result has shape {out.shape}"
            )
        return out.reshape(())

    with enable_grad():
        found = func.hessian(value, 0 if single else tuple(range(len(xs))))(*xs)
    return _result(found, create_graph)


def vjp(
    function: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False
) -> Any:
    """The value, and the product of a cotangent with the Jacobian."""
    xs, single = _arguments(inputs, create_graph)
    with enable_grad():
        out, pull = func.vjp(_inner(function), *xs)
        seed = unwrapped(v)
        if seed is None:
            seed = ones_like(out)
        elif hasattr(seed, "shape") and tuple(seed.shape) != tuple(out.shape):
            raise RuntimeError(
                f"v has shape {tuple(seed.shape)}, but the result has shape {tuple(out.shape)}"
            )
        found = pull(seed)
    return _result(out, create_graph), _result(found[0] if single else tuple(found), create_graph)


def jvp(
    function: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False
) -> Any:
    """The value, and the product of the Jacobian with a tangent."""
    xs, _ = _arguments(inputs, create_graph)
    tangents = tuple(unwrapped((v,) if isinstance(v, Facade) else v or ()))
    if v is None:
        tangents = tuple(ones_like(x) for x in xs)
    with enable_grad():
        out, found = func.jvp(_inner(function), xs, tangents)
    return _result(out, create_graph), _result(found, create_graph)


def hvp(
    function: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False
) -> Any:
    """The value, and the product of the Hessian with a vector."""
    xs, single = _arguments(inputs, create_graph)
    vectors = tuple(unwrapped((v,) if isinstance(v, Facade) else v or ()))
    if v is None:
        vectors = tuple(ones_like(x) for x in xs)
    inner = _inner(function)
    gradient = func.grad(lambda *a: inner(*a).reshape(()), tuple(range(len(xs))))
    with enable_grad():
        out = inner(*xs)
        _, found = func.jvp(gradient, xs, vectors)
    return _result(out, create_graph), _result(found[0] if single else tuple(found), create_graph)


def checkpoint(function: Callable[..., Any], *args: Any) -> Any:
    """Compute `function(*args)` without keeping what it computes: backward computes it again."""
    return Tensor._wrapped(func.checkpoint(_inner(function))(*unwrapped(args)))


def gradcheck(function: Callable[..., Any], inputs: Any, **keywords: Any) -> bool:
    """Compare the derivatives of a function with finite differences."""
    xs = unwrapped([inputs] if isinstance(inputs, Facade) else list(inputs))
    return testing.gradcheck(_inner(function), xs, **keywords)


def gradgradcheck(function: Callable[..., Any], inputs: Any, **keywords: Any) -> bool:
    """Compare the second derivatives of a function with finite differences."""
    xs = unwrapped([inputs] if isinstance(inputs, Facade) else list(inputs))
    return testing.gradgradcheck(_inner(function), xs, **keywords)
