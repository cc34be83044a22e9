"""`torch.func`: transforms of functions, with PyTorch's keywords."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import optree

from ... import func as native
from ...autograd.graph import disable_saved_tensors_hooks
from .handles import Tensor
from .mapping import check_randomness, vmap
from .random import batch_of_random_numbers
from .transforming import Call, check_tensors, leaves_of

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def _check_argnums(argnums: Any, args: tuple[Any, ...] | None = None) -> None:
    """Raise unless `argnums` names arguments: before these are known, and after."""
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    places = (argnums,) if isinstance(argnums, int) else argnums
    if not places:
        raise RuntimeError("argnums must be non-empty")
    for place in places:
        if not isinstance(place, int):
            raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {argnums!r}")
    if args is None:
        return
    for place in places:
        if not -len(args) <= place < len(args):
            raise RuntimeError(f"Got argnum={place}, but only {len(args)} positional inputs")
    if len({place % len(args) for place in places}) < len(places):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")


def _without_hooks() -> disable_saved_tensors_hooks:
    return disable_saved_tensors_hooks(
        "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks"
    )


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient of `func`."""
    return _gradient(func, argnums, has_aux, native.grad)


def grad_and_value(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of `func`, and its value."""
    both = _gradient(func, argnums, has_aux, native.value_and_grad)
    return functools.wraps(func, updated=())(lambda *args, **kwargs: both(*args, **kwargs)[::-1])


def _gradient(
    func: Callable[..., Any], argnums: Any, has_aux: bool, transform: Any
) -> Callable[..., Any]:
    _check_argnums(argnums)

    @functools.wraps(func, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        _check_argnums(argnums, args)
        call = Call(func, "grad_and_value(f)(*args)", has_aux)
        with _without_hooks():
            return call.run(transform(call, argnums, has_aux=has_aux), *args, **kwargs)

    return gradient


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of a function, and the function that multiplies vectors with its Jacobian."""
    call = Call(func, "vjp(f, *primals)", has_aux, checked=True)
    results: list[Any] = []

    def run(*args: Any) -> Any:
        found: Any = native.vjp(call, *args, has_aux=has_aux)  # type: ignore[call-overload]
        results.append(found[1])
        return found[0], found[2:]

    with _without_hooks():
        value, aux = call.run(run, *primals)
    pull = results[0]

    def product(
        *cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> Any:
        given: Any = cotangents[0] if len(cotangents) == 1 else cotangents
        wanted, got = (optree.tree_structure(tree, none_is_leaf=True) for tree in (value, given))
        if wanted != got:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {got}, outputs: {wanted}"
            )
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
    api = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{api}: Expected primals to be a tuple, got {type(primals)}")
    trees: list[Any] = [primals, tangents]
    if optree.tree_structure(trees[0]) != optree.tree_structure(trees[1]):
        raise RuntimeError(
            f"{api}: Expected primals and tangents to have the same python structure"
        )
    check_tensors(primals, api, "Expected primals to only contain Tensors")
    check_tensors(tangents, api, "Expected tangents to only contain Tensors")
    call = Call(func, api, has_aux, checked=True)
    run = functools.partial(native.jvp, call, strict=strict, has_aux=has_aux)
    return call.run(run, primals, tangents)  # type: ignore[no-any-return]


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, ...]:
    """The value of a function, and the function that multiplies its Jacobian with vectors."""
    call = Call(func, "linearize(f, *primals)")
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
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian(native.jacrev, func, argnums, has_aux, chunk_size=chunk_size)


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func`, by forward mode.

    The function runs once, for all columns, unless random numbers are to be others for each.
    """
    check_randomness(randomness)
    if randomness == "different":
        return _by_columns(func, argnums, has_aux)

    @functools.wraps(func, updated=())
    def once(*args: Any, **kwargs: Any) -> Any:
        with batch_of_random_numbers(None, 1, randomness):
            return func(*args, **kwargs)

    return _jacobian(native.jacfwd, once, argnums, has_aux)


def _jacobian(
    transform: Any, func: Callable[..., Any], argnums: Any, has_aux: bool, **keywords: Any
) -> Callable[..., Any]:
    _check_argnums(argnums)
    own = transform.__name__

    def real(*args: Any, **kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        _check_real(result[0] if has_aux else result, own, "outputs")
        return result

    @functools.wraps(func, updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        _check_argnums(argnums, args)
        for place in (argnums,) if isinstance(argnums, int) else argnums:
            check_tensors(args[place], own, "Expected inputs to be tensors")
            _check_real(args[place], own, "inputs")
        api = "vjp(f, *primals)" if own == "jacrev" else "jvp(f, primals, tangents)"
        call = Call(real, api, has_aux, checked=True)
        found = transform(call, argnums, has_aux=has_aux, **keywords)
        with _without_hooks() if own == "jacrev" else nullcontext():
            return call.run(found, *args, **kwargs)

    return jacobian


def _by_columns(func: Callable[..., Any], argnums: Any, has_aux: bool) -> Callable[..., Any]:
    """The Jacobian by forward mode, with a run of the function for each element of the argument."""
    if not isinstance(argnums, int) or has_aux:
        raise NotImplementedError(
            'jacfwd(): randomness="different" is for one argument, without has_aux'
        )

    @functools.wraps(func, updated=())
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        from .creation import eye

        _check_argnums(argnums, args)
        place = argnums % len(args)
        x = args[place]
        check_tensors((x,), "jacfwd", "Expected inputs to be tensors")
        basis = eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape)

        def of_one(value: Any) -> Any:
            return func(*args[:place], value, *args[place + 1 :], **kwargs)

        def column(tangent: Any) -> Any:
            return jvp(of_one, (x,), (tangent,))[1]

        columns = vmap(column, out_dims=-1, randomness="different")(basis)
        return optree.tree_map(lambda c: c.reshape(*c.shape[:-1], *x.shape), columns)

    return jacobian


def _check_real(tree: Any, api: str, what: str) -> None:
    for leaf in leaves_of(tree):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(f"{api}: Expected all {what} to be real, but got {leaf.dtype}")


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of `func`."""
    return jacfwd(jacrev(func, argnums), argnums)


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
        if twice := [name for name in part if name in values]:
            raise ValueError(
                f"{twice} appeared in multiple dictionaries; behavior of functional call is "
                "ambiguous"
            )
        values.update(part)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    return module._with_tensors(values, strict, tie_weights, arguments, kwargs or {})


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and buffers of several modules of one kind, side by side."""
    from .functions.joining import stack

    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )

    def joined(each: Callable[[Any], Any]) -> dict[str, Any]:
        parts = [dict(each(model)) for model in models]
        for name in parts[0]:
            if len({part[name].requires_grad for part in parts}) > 1:
                raise RuntimeError(
                    f"stack_module_state: Expected {name} from each model to have the same "
                    ".requires_grad"
                )
        return {
            name: stack([p[name] for p in parts]).detach().requires_grad_(value.requires_grad)
            for name, value in parts[0].items()
        }

    return joined(lambda m: m.named_parameters()), joined(lambda m: m.named_buffers())
