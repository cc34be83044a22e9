"""`torch.autograd.functional`: Jacobians, Hessians and their products with vectors.

Functions of one tensor or of a tuple of them, which return one tensor or a tuple of them.
"""

from __future__ import annotations

from typing import Any

from ....autograd import enable_grad
from ....autograd.differentiate import _CONSTANT
from ..creation import eye, ones_like, zeros_like
from ..functions.joining import stack
from ..handles import Tensor
from ..inside import refuse_inside
from .differentiate import grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(value: Any, name: str, function: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether several tensors were given, and these as a tuple."""
    several = isinstance(value, tuple | list)
    found = tuple(value) if several else (value,)
    for i, item in enumerate(found):
        if not isinstance(item, Tensor):
            what = "of the user-provided function given to" if name == "outputs" else "given to"
            raise TypeError(
                f"The {name} {what} {function} must be either a Tensor or a tuple of Tensors, but "
                f"entry {i} is of type {type(item)}"
            )
    return several, found


def _leaves(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """Inputs to differentiate with respect to; part of the caller's graph if that is wanted."""
    return tuple(
        x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_()
        for x in inputs
    )


def _closed(value: Any, create_graph: bool) -> Any:
    """Results that are not part of a graph, unless that is wanted."""
    if isinstance(value, tuple):
        return tuple(_closed(v, create_graph) for v in value)
    if not isinstance(value, Tensor) or create_graph or not value.requires_grad:
        return value
    return value.detach()


def _one(several: bool, value: tuple[Any, ...]) -> Any:
    return value if several else value[0]


_OUTPUT = "Output {} of the user-provided function"


def _check_strict(tensors: tuple[Tensor, ...], strict: bool, first: bool = False) -> None:
    """Raise if outputs, or `first` derivatives, do not depend on the inputs in strict mode."""
    for i, tensor in enumerate(tensors) if strict else ():
        if tensor.requires_grad and not (first and _is_constant(tensor)):
            continue
        what = f"{_OUTPUT.format(i)} does not require gradients. It does not depend on the inputs"
        if first:
            what = (
                f"The jacobian of the user-provided function with respect to input {i} is "
                "independent of the input"
            )
        raise RuntimeError(f"{what}. This is not allowed in strict mode: leave out strict=True")


def _vectors(v: Any, like: tuple[Tensor, ...], function: str) -> tuple[Tensor, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            returns, is_given = "user-provided function returns", "input to the user-provided"
            whose = returns if function == "vjp" else f"{is_given} function is"
            raise RuntimeError(
                f"The vector v can only be None if the {whose} a single Tensor with a single "
                f"element: pass v to {function}()"
            )
        return tuple(map(ones_like, like))
    _, found = _tuple(v, "v", function)
    if len(found) != len(like):
        wanted = "a single Tensor" if len(like) == 1 else f"{len(like)} Tensors"
        raise RuntimeError(
            f"{function}(): The given v should contain {wanted}. It contains {len(found)}"
        )
    for i, (x, y) in enumerate(zip(found, like, strict=True)):
        if x.shape != y.shape:
            raise RuntimeError(
                f"{function}(): Entry {i} in v has invalid size: should be {y.shape} but got "
                f"{x.shape}"
            )
    return found


def _gradients(outputs: Any, inputs: Any, vectors: Any, create_graph: bool) -> tuple[Any, ...]:
    """Gradients, with None for inputs that no output depends on."""
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    given, seeds = zip(*pairs, strict=True)
    found: tuple[Any, ...] = grad(
        given, inputs, seeds, create_graph=create_graph, allow_unused=True
    )
    return found


def _filled(
    found: tuple[Any, ...],
    like: tuple[Tensor, ...],
    strict: bool,
    create_graph: bool,
    what: str = "The output of the user-provided function",
) -> tuple[Tensor, ...]:
    """Gradients with zeros for None, which `strict` does not allow: `what` depends on nothing."""
    results = []
    for i, (g, x) in enumerate(zip(found, like, strict=True)):
        if strict and g is None:
            raise RuntimeError(
                f"{what} is independent of input {i}, which strict=True does not allow"
            )
        if strict and create_graph and (not g.requires_grad or _is_constant(g)):
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {i}. "
                "This is not allowed in strict mode with create_graph=True"
            )
        results.append(zeros_like(x) if g is None else g)
    return tuple(results)


def _is_constant(g: Tensor) -> bool:
    """Whether a gradient can be differentiated, but depends on nothing."""
    node = getattr(g._t, "_node", None)
    return node is not None and node.pullback is _CONSTANT


def _product(
    function: str, func: Any, inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[Any, Any]:
    """The outputs of a function, and a product of a vector and its Jacobian or Hessian."""
    second = function in ("vhp", "hvp")
    with enable_grad():
        several, given = _tuple(inputs, "inputs", function)
        leaves = _leaves(given, create_graph)
        run = _scalar(func, function) if second else func
        several_out, outputs = _tuple(run(*leaves), "outputs", function)
        _check_strict(outputs, strict)
        vectors = _vectors(v, outputs if function == "vjp" else leaves, function)
        parts = outputs
        if second:
            first = _gradients(outputs, leaves, (None,), True)
            parts = _filled(first, leaves, strict, False)
            _check_strict(parts, strict, first=True)
        if function in ("vjp", "vhp"):
            found = _gradients(parts, leaves, vectors, create_graph)
            products = _filled(found, leaves, strict, create_graph)
        else:
            products = _along(parts, leaves, vectors, create_graph, strict)
    several = several_out if function == "jvp" else several
    return (
        _closed(_one(several_out, outputs), create_graph),
        _closed(_one(several, products), create_graph),
    )


def _along(
    outputs: Any, leaves: Any, vectors: Any, create_graph: bool, strict: bool
) -> tuple[Any, ...]:
    """The product of the Jacobian of outputs by leaves with a vector.

    The gradient is linear in the cotangents: its own gradient is the product.
    """
    dummies = tuple(zeros_like(o).requires_grad_() for o in outputs)
    rows = _filled(_gradients(outputs, leaves, dummies, True), leaves, strict, False)
    _check_strict(rows, strict, first=True)
    found = _gradients(rows, dummies, vectors, create_graph)
    return _filled(found, outputs, strict, create_graph)


def _products(name: str, doc: str) -> Any:
    def product(
        func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
    ) -> tuple[Any, Any]:
        return _product(name, func, inputs, v, create_graph, strict)

    product.__name__ = product.__qualname__ = name
    product.__doc__ = doc
    return product


vjp = _products("vjp", "The outputs of a function, and the product of a vector with its Jacobian.")
jvp = _products("jvp", "The outputs of a function, and the product of its Jacobian with a vector.")
vhp = _products("vhp", "The value of a function, and the product of a vector with its Hessian.")
hvp = _products("hvp", "The value of a function, and the product of its Hessian with a vector.")


def jacobian(
    func: Any,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensor | tuple[Any, ...]:
    """The Jacobian of a function: for each output, and for each input."""
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f'strategy must be "reverse-mode" or "forward-mode", not {strategy!r}')
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                "create_graph=True is for strategy='reverse-mode': use torch.func.jacfwd"
            )
        if strict:
            raise RuntimeError("strict=True is for strategy='reverse-mode'")
        if not vectorize:
            raise NotImplementedError("strategy='forward-mode' needs vectorize=True")
        return _by_columns(func, inputs)  # type: ignore[no-any-return]
    if vectorize and strict:
        raise RuntimeError("strict=True and vectorize=True are not supported together")
    with enable_grad():
        several, given = _tuple(inputs, "inputs", "jacobian")
        leaves = _leaves(given, create_graph)
        several_out, outputs = _tuple(func(*leaves), "outputs", "jacobian")
        _check_strict(outputs, strict)
        rows = tuple(
            _rows(o, leaves, create_graph, strict, vectorize, i) for i, o in enumerate(outputs)
        )
    rows = _closed(rows, create_graph)
    inner = tuple(_one(several, row) for row in rows)
    return _one(several_out, inner)  # type: ignore[no-any-return]


def _rows(
    output: Tensor,
    leaves: tuple[Tensor, ...],
    create_graph: bool,
    strict: bool,
    vectorize: bool,
    number: int,
) -> tuple[Tensor, ...]:
    """The Jacobian of one output: one sweep for all its elements, or one for each."""
    shape, count = tuple(output.shape), output.numel()
    if not output.requires_grad or not count:
        return tuple(_zeros(shape, x) for x in leaves)

    def pulled(seeds: Tensor, batched: bool) -> Any:
        return grad(
            output,
            leaves,
            seeds,
            retain_graph=True,
            create_graph=create_graph,
            allow_unused=True,
            is_grads_batched=batched,
        )

    basis = eye(count, dtype=output.dtype).reshape(count, *shape)
    if vectorize:
        return tuple(
            _zeros(shape, x) if g is None else g.reshape(*shape, *x.shape)
            for g, x in zip(pulled(basis, True), leaves, strict=True)
        )
    what = _OUTPUT.format(number)
    rows = [_filled(pulled(e, False), leaves, strict, create_graph, what) for e in basis]
    return tuple(
        stack(column).reshape(*shape, *x.shape)
        for column, x in zip(zip(*rows, strict=True), leaves, strict=True)
    )


def _zeros(shape: tuple[int, ...], x: Tensor) -> Tensor:
    return x.new_zeros(*shape, *x.shape) if shape or x.ndim else x.new_zeros(())  # type: ignore[no-any-return]


def _by_columns(func: Any, inputs: Any) -> Any:
    """The Jacobian by forward mode, for all elements of the inputs at once."""
    from ..func import jacfwd

    refuse_inside("torch.autograd.functional.jacobian(strategy='forward-mode')")
    several, given = _tuple(inputs, "inputs", "jacobian")
    leaves = tuple(x.detach() for x in given)
    found = jacfwd(func, argnums=tuple(range(len(leaves))))(*leaves)
    outputs = found if isinstance(found[0], tuple) else (found,)
    inner = tuple(_one(several, row) for row in outputs)
    return inner if isinstance(found[0], tuple) else inner[0]


def _scalar(func: Any, function: str) -> Any:
    """The function, which must return one element."""

    def checked(*args: Any) -> Any:
        several, found = _tuple(func(*args), "outputs", function)
        if several:
            raise RuntimeError(f"The function given to {function} should return a single Tensor")
        if found[0].numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {function} should contain a single "
                f"element, not {found[0].numel()}"
            )
        return found[0].reshape(())

    return checked


def hessian(
    func: Any,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Tensor | tuple[Any, ...]:
    """The Hessian of a function that returns a number."""
    several, given = _tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'outer_jacobian_strategy must be "forward-mode" or "reverse-mode", not '
            f"{outer_jacobian_strategy!r}"
        )
    number = _scalar(func, "hessian")
    if outer_jacobian_strategy == "forward-mode":
        from ..func import grad as func_grad
        from ..func import jacfwd

        places = tuple(range(len(given)))
        rows = jacfwd(func_grad(number, places), places)(*(x.detach() for x in given))
        return tuple(map(tuple, rows)) if several else rows[0][0]

    def gradient(*args: Tensor) -> Any:
        out = number(*args)
        _check_strict((out,), strict)
        found = _gradients((out,), args, (None,), True)
        first = tuple(zeros_like(x) if g is None else g for g, x in zip(found, args, strict=True))
        _check_strict(first, strict, first=True)
        return first

    found = jacobian(gradient, given, create_graph, strict, vectorize)
    return found if several else found[0][0]
