"""`autograd.differential_operators`: gradients, Jacobians, Hessians of functions.

Each takes a function and the number of an argument, or a list of numbers, and returns a function of
the same arguments.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as _np

from ... import ops
from ...core.array import Array
from ...func.rows import chunked, pull_rows
from ...sweep.plan import planned
from . import numpy as np
from .boxes import isbox
from .derivatives import Trace
from .derivatives import make_jvp as _make_jvp
from .derivatives import make_vjp as _make_vjp
from .primitives import primitive
from .rules import defvjp_argnum
from .spaces import vspace
from .structures import mapped
from .wrap_util import unary_to_nary, wraps

__all__ = [
    "checkpoint", "deriv", "elementwise_grad", "grad", "grad_and_aux", "grad_named", "hessian",
    "hessian_tensor_product", "hessian_vector_product", "holomorphic_grad", "jacobian",
    "make_ggnvp", "make_hvp", "make_jvp", "make_jvp_reversemode", "make_vjp", "multigrad_dict",
    "tensor_jacobian_product", "value_and_grad", "vector_jacobian_product",
]  # fmt: skip

AnyFunction = Callable[..., Any]
_FLOATS = (Array, _np.floating)

make_vjp = unary_to_nary(_make_vjp)
make_jvp = unary_to_nary(_make_jvp)


def _one(name: str, value: Any) -> Any:
    """The cotangent one, for a function that gives one real number."""
    if isinstance(value, _FLOATS) and not value.shape and value.dtype.kind == "f":
        return _np.array(1, value.dtype)
    space = vspace(value)
    if space.size != 1:
        raise TypeError(
            f"{name} only applies to real scalar-output functions. Try jacobian, elementwise_grad "
            "or holomorphic_grad."
        )
    return space.ones()


@unary_to_nary
def grad(fun: AnyFunction, x: Any) -> Any:
    """
    Returns a function which computes the gradient of `fun`, which gives one real number.

    >>> from arraygrad.compat.hips import grad
    >>> grad(lambda x, y: x**2 * y, 1)(3.0, 2.0)
    np.float64(9.0)
    """
    vjp, value = _make_vjp(fun, x)
    return vjp(_one("Grad", value))


@unary_to_nary
def value_and_grad(fun: AnyFunction, x: Any) -> Any:
    """A function that gives the value of `fun`, and its gradient."""
    vjp, value = _make_vjp(fun, x)
    return value, vjp(_one("value_and_grad", value))


@unary_to_nary
def elementwise_grad(fun: AnyFunction, x: Any) -> Any:
    """A function that gives the sum over each column of the Jacobian of `fun`.

    For a function that acts element by element, these are the derivatives of the elements.
    """
    vjp, value = _make_vjp(fun, x)
    if vspace(value).iscomplex:
        raise TypeError("Elementwise_grad only applies to real-output functions.")
    return vjp(vspace(value).ones())


@unary_to_nary
def deriv(fun: AnyFunction, x: Any) -> Any:
    """A function that gives the derivative along the direction of ones, by forward mode."""
    return _make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def grad_and_aux(fun: AnyFunction, x: Any) -> Any:
    """The gradient of the first result of `fun`, and its second result as it is."""
    trace = Trace(lambda x: tuple(fun(x)), x)
    value, aux = trace.value
    zeros = mapped(lambda leaf: vspace(leaf).zeros(), aux)
    return trace.vjp((vspace(value).ones(), zeros)), aux


@unary_to_nary
def holomorphic_grad(fun: AnyFunction, x: Any) -> Any:
    """The complex derivative of a holomorphic function."""
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=2)
    return grad(lambda x: np.real(fun(x)))(x)


def grad_named(fun: AnyFunction, argname: str) -> AnyFunction:
    """The gradient with respect to the argument of a name."""
    names = list(inspect.signature(fun).parameters)
    return grad(fun, names.index(argname))  # type: ignore[no-any-return]


# --- matrices ------------------------------------------------------------------------------------


@unary_to_nary
def jacobian(fun: AnyFunction, x: Any) -> Any:
    """The Jacobian, of shape ``value.shape + x.shape``, by reverse mode.

    All rows go through one sweep. Rules of primitives still see one cotangent at a time.

    >>> from arraygrad.compat.hips import jacobian
    >>> jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    trace = Trace(fun, x)
    if isinstance(trace.x, dict | list | tuple):
        raise TypeError(
            "jacobian takes one array or number to differentiate by: give one argnum, or use "
            "make_vjp for containers"
        )
    space, shape = vspace(trace.value), _np.shape(trace.value)
    if space.iscomplex:
        raise ValueError(
            "the Jacobian of a complex result is not one matrix in HIPS's convention: take the "
            "Jacobians of its real and imaginary parts"
        )
    (out,) = trace.outputs
    rows = math.prod(shape)
    if not isbox(out) or out.level != trace.tape.level:
        return _np.zeros(shape + _np.shape(trace.x), vspace(trace.x).dtype)

    def some(start: int, stop: int) -> list[Any]:
        unit = _np.eye(stop - start, rows, start)
        return pull_rows(trace.tape, trace.outputs, unit, holomorphic=True)  # conjugates

    (found,) = chunked(some, rows, _rows_at_once(trace, rows))
    return ops.reshape(found, shape + _np.shape(trace.x))


# The most elements of an array that a sweep for many rows should make.
_MOST = 1 << 22


def _rows_at_once(trace: Trace, rows: int) -> int:
    """How many rows to compute at a time, by the largest array in the graph."""
    out: Any = trace.outputs[0]
    leaf: Any = trace.tape.leaves[0]
    nodes = planned([out._node], {leaf._node})[0]
    largest: int = max(1, out.size, leaf.size, *(_size(node.shape) for node in nodes))
    return max(1, min(rows, _MOST // largest))


def _size(shape: Any) -> int:
    if isinstance(shape, list):
        return max(map(_size, shape), default=1)
    return math.prod(shape)


@unary_to_nary
def hessian(fun: AnyFunction, x: Any) -> Any:
    """The matrix of second derivatives, by reverse mode twice."""
    return jacobian(jacobian(fun))(x)


# --- products ------------------------------------------------------------------------------------


@unary_to_nary
def make_hvp(fun: AnyFunction, x: Any) -> Any:
    """A function that multiplies the Hessian at `x` by vectors, and the gradient there."""
    return _make_vjp(grad(fun), x)


def hessian_tensor_product(fun: AnyFunction, argnum: int = 0) -> AnyFunction:
    """A function of the arguments and an array: the product of the Hessian with the array."""
    gradient = grad(fun, argnum)

    def product(*args: Any, **kwargs: Any) -> Any:
        *given, vector = args
        return np.tensordot(gradient(*given, **kwargs), vector, _np.ndim(vector))

    return grad(product, argnum)  # type: ignore[no-any-return]


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: AnyFunction, argnum: int = 0) -> AnyFunction:
    """A function of the arguments and an array: the product of the array with the Jacobian."""

    def product(*args: Any, **kwargs: Any) -> Any:
        *given, vector = args
        return np.tensordot(vector, fun(*given, **kwargs), axes=_np.ndim(vector))

    return jacobian(product, argnum)  # type: ignore[no-any-return]


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: AnyFunction, x: Any) -> Any:
    """A function that multiplies the Jacobian at `x` by vectors, by reverse mode twice."""
    vjp, value = _make_vjp(fun, x)
    return _make_vjp(vjp, vspace(value).zeros())[0]


def _half_square(x: Any) -> Any:
    return np.sum(x**2, axis=-1) / 2


def make_ggnvp(f: AnyFunction, g: AnyFunction = _half_square, f_argnum: int = 0) -> AnyFunction:
    """Products with the generalised Gauss–Newton matrix of ``g(f(x))`` at a point."""

    @unary_to_nary
    def make(f: AnyFunction, x: Any) -> Any:
        f_vjp, value = _make_vjp(f, x)
        g_hvp, g_gradient = _make_vjp(grad(g), value)
        f_jvp, _ = _make_vjp(f_vjp, vspace(g_gradient).zeros())
        return lambda v: f_vjp(g_hvp(f_jvp(v)))

    return make(f, f_argnum)  # type: ignore[no-any-return]


# --- other ---------------------------------------------------------------------------------------


def multigrad_dict(fun: AnyFunction) -> AnyFunction:
    """A function that gives the gradients by all arguments, as a dict by their names."""
    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_dict(values: dict[str, Any]) -> Any:
            bound.arguments.update(values)
            return fun(*bound.args, **bound.kwargs)

        return grad(of_dict)(dict(bound.arguments))

    return gradients


def checkpoint(fun: AnyFunction) -> AnyFunction:
    """The function, without its intermediate values: the sweep computes them again."""
    wrapped = primitive(fun)
    defvjp_argnum(wrapped, lambda argnum, ans, args, kw: make_vjp(fun, argnum)(*args, **kw)[0])
    return wraps(fun)(wrapped)
