"""`torch.func`: transforms of functions, with PyTorch's keywords."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import optree

from ... import func as native
from ...arrays.batched import Batched
from ...arrays.dual import Dual
from ...core.array import Array
from ...core.levels import in_flight
from .handles import Tensor, wrap
from .random import batch_of_random_numbers, get_rng_state, set_rng_state

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


def _leaves(tree: Any, none_is_leaf: bool = False) -> list[Any]:
    return list(optree.tree_leaves(tree, none_is_leaf=none_is_leaf))


def _arrays(tree: Any) -> Any:
    return optree.tree_map(lambda v: v._t if isinstance(v, Tensor) else v, tree, none_is_leaf=True)


def _tensors(tree: Any) -> Any:
    return optree.tree_map(_tensor, tree, none_is_leaf=True)


def _tensor(value: Any) -> Any:
    is_array = isinstance(value, Array) or hasattr(value, "__array_interface__")
    return wrap(value) if is_array else value


class _Call:
    """A function of tensors as one of arrays. It remembers what the function raised."""

    def __init__(
        self, function: Callable[..., Any], has_aux: bool = False, what: str | None = None
    ) -> None:
        self._function, self._has_aux, self._what = function, has_aux, what
        self.raised: BaseException | None = None
        self.ran = False
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.ran = True
        given = [
            (leaf, leaf._array)
            for leaf in _leaves((args, kwargs))
            if isinstance(leaf, Batched | Dual)
        ]
        try:
            result = self._function(*_tensors(args), **_tensors(kwargs))
        except BaseException as error:
            self.raised = error
            raise
        for leaf, array in given:  # a write to an argument is one to the tensor that was given
            if leaf._array is not array and hasattr(array, "copy_"):
                array.copy_(leaf._array)
                _point_to(leaf, array)
        if self._has_aux and not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(
                "with has_aux=True, the function must return a pair of its output and aux"
            )
        if self._has_aux:
            _check_tensors(result[1], "aux")
        if self._what is not None:
            _check_tensors(result[0] if self._has_aux else result, self._what)
        return _arrays(result)

    def run(self, transformed: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call the transformed function; its own complaints are PyTorch's RuntimeErrors."""
        try:
            return _named(transformed(*_arrays(args), **_arrays(kwargs)), (args, kwargs))
        except (ValueError, TypeError) as error:
            if error is self.raised:
                raise
            raise RuntimeError(str(error)) from error


def _point_to(leaf: Any, array: Any) -> None:
    """Have an array of a transform, and its views, hold an array with the same values."""
    leaf._array = array
    for reference in list(getattr(leaf, "_views", {}).values()):
        view = reference()
        if view is not None:
            now = leaf
            for function, keywords in view._linked.steps:
                now = function(now, **keywords)
            view._take_over(now)


def _check_tensors(tree: Any, what: str) -> None:
    leaves = _leaves(tree, none_is_leaf=True)
    if not leaves:
        raise RuntimeError(f"{what} must have at least one Tensor in it")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{what} must consist of Tensors, not {type(leaf).__name__}")


def _check_argnums(argnums: Any) -> None:
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be an int or a tuple, not {type(argnums).__name__}")
    if argnums == ():
        raise RuntimeError("argnums must not be empty")


def _named(result: Any, given: Any) -> Any:
    """A result as tensors, which are views of the tensors that were given if their arrays are."""
    found = _tensors(result)
    leaves = [v for v in _leaves(found) if isinstance(v, Tensor)]
    views = [v for v in leaves if getattr(v._t, "_view", None) is not None]
    if views:
        known = {id(t._t): t for t in _leaves(given) if isinstance(t, Tensor)}
        for view in views:
            base = known.get(id(view._t._view.base))
            if base is not None:
                view._of = base
    return found


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of `func`."""
    _check_argnums(argnums)

    @functools.wraps(func, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, has_aux)
        return call.run(native.grad(call, argnums, has_aux=has_aux), *args, **kwargs)

    return gradient


def grad_and_value(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of `func`, and its value."""
    _check_argnums(argnums)

    @functools.wraps(func, updated=())
    def both(*args: Any, **kwargs: Any) -> Any:
        call = _Call(func, has_aux)
        transformed = native.value_and_grad(call, argnums, has_aux=has_aux)
        value, gradient = call.run(transformed, *args, **kwargs)
        return gradient, value

    return both


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of a function, and the function that multiplies vectors with its Jacobian."""
    call = _Call(func, has_aux, "the output of the function of vjp()")
    results: list[Any] = []

    def run(*args: Any) -> Any:
        found: Any = native.vjp(call, *args, has_aux=has_aux)  # type: ignore[call-overload]
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
) -> tuple[Any, ...]:
    """The value of a function, and its derivative along tangents."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp(): primals and tangents must be tuples")
    if not primals:
        raise RuntimeError("jvp(): there must be at least one primal")
    _check_tensors(primals, "the primals of jvp()")
    _check_tensors(tangents, "the tangents of jvp()")
    call = _Call(func, has_aux, "the output of the function of jvp()")
    run = functools.partial(native.jvp, call, strict=strict, has_aux=has_aux)
    return call.run(run, primals, tangents)  # type: ignore[no-any-return]


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, ...]:
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
    """A function that returns the Jacobian of `func`, by forward mode.

    The function runs once, for all columns: so random numbers are the same for all.
    """
    _check_randomness(randomness)
    if randomness == "different":
        raise NotImplementedError('jacfwd(): randomness="different" is not there: use "same"')

    @functools.wraps(func, updated=())
    def once(*args: Any, **kwargs: Any) -> Any:
        with batch_of_random_numbers(None, 1, randomness):
            return func(*args, **kwargs)

    return _jacobian(native.jacfwd, once, argnums, has_aux)


def _jacobian(
    transform: Any, func: Callable[..., Any], argnums: Any, has_aux: bool, **keywords: Any
) -> Callable[..., Any]:
    _check_argnums(argnums)
    own = f"{transform.__name__}()"

    def real(*args: Any, **kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        _check_real(result[0] if has_aux else result, f"the outputs of the function of {own}")
        return result

    @functools.wraps(func, updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        places = (argnums,) if isinstance(argnums, int) else argnums
        for place in places:
            if isinstance(place, int) and -len(args) <= place < len(args):
                _check_tensors(args[place], f"argument {place} of the function of {own}")
                _check_real(args[place], f"argument {place} of the function of {own}")
        call = _Call(real, has_aux, f"the output of the function of {own}")
        found = transform(call, argnums, has_aux=has_aux, **keywords)
        return call.run(found, *args, **kwargs)

    return jacobian


def _check_real(tree: Any, what: str) -> None:
    for leaf in _leaves(tree):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(f"{what} must be real, not {leaf.dtype}")


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
        leaves = _leaves((args, kwargs))
        found = (v._t for v in leaves if isinstance(v, Tensor))
        batch = next(t for t in found if isinstance(t, Batched) and t.level == in_flight())
        if state:  # all chunks get the same numbers
            set_rng_state(state[-1])
        with batch_of_random_numbers(type(batch), batch._array.shape[0], randomness):
            result = _checked(func(*args, **kwargs), out_dims)
            if isinstance(result, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
                alone.append(True)
                return (result,)
            return result

    functools.update_wrapper(inside, func, updated=())
    state: list[Tensor] = []
    alone: list[bool] = []

    @functools.wraps(func, updated=())
    def mapped(*args: Any, **kwargs: Any) -> Any:
        call = _Call(inside)
        alone.clear()
        places = _in_dims(in_dims, args)
        same = randomness == "same" and chunk_size is not None
        if same:
            state.append(get_rng_state())
        outputs = tuple(out_dims) if isinstance(out_dims, list) else out_dims
        transformed = native.vmap(call, places, outputs, chunk_size=chunk_size)
        try:
            found = _named(transformed(*_arrays(args), **_arrays(kwargs)), (args, kwargs))
            return found[0] if alone else found
        except (TypeError, IndexError) as error:
            if error is call.raised or (call.ran and isinstance(error, IndexError)):
                raise
            raise ValueError(str(error)) from error
        finally:
            if same:
                state.pop()

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


def _checked(result: Any, out_dims: Any) -> Any:
    if None in _leaves(out_dims, none_is_leaf=True):
        return result
    for leaf in _leaves(result, none_is_leaf=True):
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
) -> Tensor | Any:
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
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state(): the modules must be of one class")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state(): the modules must all be in training, or none")

    def joined(each: Callable[[Any], Any]) -> dict[str, Any]:
        parts = [dict(each(model)) for model in models]
        for name in parts[0]:
            if len({part[name].requires_grad for part in parts}) > 1:
                raise RuntimeError(
                    f"stack_module_state(): {name} must require gradients in all modules, or none"
                )
        return {
            name: stack([p[name] for p in parts]).detach().requires_grad_(value.requires_grad)
            for name, value in parts[0].items()
        }

    return joined(lambda m: m.named_parameters()), joined(lambda m: m.named_buffers())
