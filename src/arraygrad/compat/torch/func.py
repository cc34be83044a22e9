"""`torch.func`: transforms of functions, with PyTorch's keywords."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import optree

from ... import func as native
from ...arrays.batched import Batched
from ...core.array import Array
from ...core.levels import in_flight
from .handles import Tensor, wrap
from .random import batch_of_random_numbers

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]


def __dir__() -> list[str]:
    return __all__


def _arrays(tree: Any) -> Any:
    return optree.tree_map(lambda v: v._t if isinstance(v, Tensor) else v, tree, none_is_leaf=True)


def _tensors(tree: Any) -> Any:
    return optree.tree_map(_tensor, tree, none_is_leaf=True)


def _tensor(value: Any) -> Any:
    is_array = isinstance(value, Array) or hasattr(value, "__array_interface__")
    return wrap(value) if is_array else value


class _Call:
    """A function of tensors as one of arrays. It remembers what the function raised."""

    def __init__(self, function: Callable[..., Any], has_aux: bool = False) -> None:
        self._function, self._has_aux = function, has_aux
        self.raised: BaseException | None = None
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            result = self._function(*_tensors(args), **_tensors(kwargs))
        except BaseException as error:
            self.raised = error
            raise
        if self._has_aux and not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(
                "with has_aux=True, the function must return a pair of its output and aux"
            )
        return _arrays(result)

    def run(self, transformed: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call the transformed function; its own complaints are PyTorch's RuntimeErrors."""
        try:
            return _tensors(transformed(*_arrays(args), **_arrays(kwargs)))
        except (ValueError, TypeError) as error:
            if error is self.raised:
                raise
            raise RuntimeError(str(error)) from error


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of `func`."""

    @functools.wraps(func, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, has_aux)
        return call.run(native.grad(call, argnums, has_aux=has_aux), *args, **kwargs)

    return gradient


def grad_and_value(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of `func`, and its value."""

    @functools.wraps(func, updated=())
    def both(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, has_aux)
        transformed = native.value_and_grad(call, argnums, has_aux=has_aux)
        value, gradient = call.run(transformed, *args, **kwargs)
        return gradient, value

    return both


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of a function, and the function that multiplies vectors with its Jacobian."""
    call = _Call(func, has_aux)
    results: list[Any] = []

    def run(*args: Any) -> Any:
        found = native.vjp(call, *args, has_aux=has_aux)
        results.append(found[1])
        return found[0], found[2:]

    value, aux = call.run(run, *primals)
    pull = results[0]

    def product(
        *cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> Any:
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        found = call.run(lambda g: pull(g), given)
        return found if isinstance(found, tuple) else (found,)

    return (value, product, *aux)


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """The value of a function, and its derivative along tangents."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp(): primals and tangents must be tuples")
    if not primals:
        raise RuntimeError("jvp(): there must be at least one primal")
    call = _Call(func, has_aux)
    run = functools.partial(native.jvp, call, strict=strict, has_aux=has_aux)  # type: ignore[call-overload]
    return call.run(run, primals, tangents)


def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """The value of a function, and the function that multiplies its Jacobian with vectors."""
    call = _Call(func)
    results: list[Any] = []

    def run(*args: Any) -> Any:
        value, push = native.linearize(call, *args)
        results.append(push)
        return value

    value = call.run(run, *primals)
    push = results[0]
    return value, lambda *tangents: call.run(lambda *t: push(*t), *tangents)


def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`, by reverse mode."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"jacrev(): chunk_size must be positive, not {chunk_size}")
    return _jacobian(native.jacrev, func, argnums, has_aux, chunk_size=chunk_size)


def jacfwd(
    func: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`, by forward mode."""
    _check_randomness(randomness)
    return _jacobian(native.jacfwd, func, argnums, has_aux)


def _jacobian(
    transform: Any, func: Callable[..., Any], argnums: Any, has_aux: bool, **keywords: Any
) -> Callable[..., Any]:
    @functools.wraps(func, updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, has_aux)
        found = transform(call, argnums, has_aux=has_aux, **keywords)
        return call.run(found, *args, **kwargs)

    return jacobian


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of `func`."""
    return jacfwd(jacrev(func, argnums), argnums)


def _check_randomness(randomness: str) -> None:
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(f'randomness must be "error", "same" or "different", not {randomness!r}')


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that maps `func` over an axis of its arguments, all at once.

    `randomness` says what random functions inside do: raise, draw the same numbers for all members
    of the batch, or other numbers for each.
    """
    _check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap(): chunk_size must be positive, not {chunk_size}")

    def inside(*args: Any, **kwargs: Any) -> Any:
        leaves = optree.tree_leaves((args, kwargs))
        found = (v._t for v in leaves if isinstance(v, Tensor))
        batch = next(t for t in found if isinstance(t, Batched) and t.level == in_flight())
        with batch_of_random_numbers(type(batch), batch._array.shape[0], randomness):
            return _checked(func(*args, **kwargs))

    functools.update_wrapper(inside, func, updated=())

    @functools.wraps(func, updated=())
    def mapped(*args: Any, **kwargs: Any) -> Any:
        call = _Call(inside)
        places = _in_dims(in_dims, args)
        outputs = tuple(out_dims) if isinstance(out_dims, list) else out_dims
        transformed = native.vmap(call, places, outputs, chunk_size=chunk_size)
        try:
            return _tensors(transformed(*_arrays(args), **_arrays(kwargs)))
        except (TypeError, IndexError) as error:
            if error is call.raised:
                raise
            raise ValueError(str(error)) from error

    return mapped


def _in_dims(in_dims: Any, args: tuple[Any, ...]) -> Any:
    """The axes to map over, which must be an int, or a tuple or list of axes for the arguments."""
    if not isinstance(in_dims, int | tuple | list):
        raise ValueError(
            "vmap(): in_dims must be an int, or a tuple with an entry for each argument, not "
            f"{type(in_dims).__name__}"
        )
    if not args:
        raise ValueError("vmap(): there is nothing to map over: call it with an argument")
    return tuple(in_dims) if isinstance(in_dims, list) else in_dims


def _checked(result: Any) -> Any:
    for leaf in optree.tree_leaves(result, none_is_leaf=True):
        if not isinstance(leaf, Tensor):
            raise ValueError(f"vmap(): the function must return tensors, not {type(leaf).__name__}")
    return result


# --- modules as functions of their parameters ---


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The result of a module, with other tensors for its parameters and buffers."""
    given = parameter_and_buffer_dicts
    values: dict[str, Any] = {}
    for part in given if isinstance(given, tuple | list) else (given,):
        values.update(part)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    return module._with_tensors(values, strict, arguments, kwargs or {})


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and buffers of several modules of one kind, side by side."""
    from .functions.shapes import stack

    if not models:
        raise RuntimeError("stack_module_state(): there must be at least one module")

    def joined(each: Callable[[Any], Any]) -> dict[str, Any]:
        parts = [dict(each(model)) for model in models]
        return {
            name: stack([p[name] for p in parts]).detach().requires_grad_(value.requires_grad)
            for name, value in parts[0].items()
        }

    return joined(lambda m: m.named_parameters()), joined(lambda m: m.named_buffers())
