"""`torch.autograd.functional`: Jacobians, Hessians and their products with vectors.

Functions of one tensor or of a tuple of them, which return one tensor or a tuple of them.
"""

from __future__ import annotations

from typing import Any

from ....autograd import enable_grad, is_grad_enabled
from ....autograd.differentiate import _CONSTANT
from ..creation import zeros_like
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


def _check_strict(outputs: tuple[Tensor, ...], strict: bool) -> None:
    for i, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise RuntimeError(
                f"{_OUTPUT.format(i)} does not require gradients. It does not depend on the "
                "inputs, which strict=True does not allow"
            )


def _check_first(derivatives: tuple[Tensor, ...], strict: bool) -> None:
    """Raise if a first derivative does not depend on the inputs, which `strict` does not allow."""
    for i, first in enumerate(derivatives):
        if strict and (not first.requires_grad or _is_constant(first)):
            raise RuntimeError(
                f"The jacobian of the user-provided function with respect to input {i} is "
                "independent of the input. This is not allowed in strict mode"
            )


def _vectors(v: Any, like: tuple[Tensor, ...], several: bool, function: str) -> tuple[Tensor, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            whose = (
                "user-provided function returns"
                if function == "vjp"
                else ("input to the user-provided function is")
            )
            raise RuntimeError(
                f"The vector v can only be None if the {whose} a single Tensor with a single "
                f"element: pass v to {function}()"
            )
        return tuple(_ones(x) for x in like)
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


def _ones(x: Tensor) -> Tensor:
    return zeros_like(x) + 1


def _gradients(
    outputs: tuple[Tensor, ...],
    inputs: tuple[Tensor, ...],
    vectors: tuple[Any, ...] | None,
    create_graph: bool,
) -> tuple[Any, ...]:
    """Gradients, with None for inputs that no output depends on."""
    pairs = [
        (o, None if vectors is None else v)
        for o, v in zip(outputs, vectors or (None,) * len(outputs), strict=True)
        if o.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    found: tuple[Any, ...] = grad(
        [o for o, _ in pairs],
        inputs,
        None if vectors is None else [v for _, v in pairs],
        create_graph=create_graph,
        allow_unused=True,
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


def vjp(
    func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of a function, and the product of a vector with its Jacobian."""
    with enable_grad():
        several, given = _tuple(inputs, "inputs", "vjp")
        leaves = _leaves(given, create_graph)
        several_out, outputs = _tuple(func(*leaves), "outputs", "vjp")
        _check_strict(outputs, strict)
        vectors = _vectors(v, outputs, several_out, "vjp")
    keep = create_graph or is_grad_enabled()
    with _recording(keep):
        found = _gradients(outputs, leaves, vectors, create_graph)
        products = _filled(found, leaves, strict, create_graph)
    return (
        _closed(_one(several_out, outputs), create_graph),
        _closed(_one(several, products), create_graph),
    )


def _recording(wanted: bool) -> Any:
    from ....autograd import set_grad_enabled

    return set_grad_enabled(wanted)


def _products(
    outputs: Any, leaves: Any, vectors: Any, create_graph: bool, strict: bool
) -> tuple[Any, ...]:
    """The product of the Jacobian of outputs by leaves with a vector.

    The gradient is linear in the cotangents: its own gradient is the product.
    """
    dummies = tuple(zeros_like(o).requires_grad_() for o in outputs)
    rows = _filled(_gradients(outputs, leaves, dummies, True), leaves, strict, False)
    _check_first(rows, strict)
    live = [(r, w) for r, w in zip(rows, vectors, strict=True) if r.requires_grad]
    found: tuple[Any, ...] = (None,) * len(dummies)
    if live:
        found = grad(
            [r for r, _ in live],
            dummies,
            [w for _, w in live],
            create_graph=create_graph,
            allow_unused=True,
        )
    return _filled(found, outputs, strict, create_graph)


def jvp(
    func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of a function, and the product of its Jacobian with a vector."""
    with enable_grad():
        several, given = _tuple(inputs, "inputs", "jvp")
        leaves = _leaves(given, create_graph)
        vectors = _vectors(v, leaves, several, "jvp")
        several_out, outputs = _tuple(func(*leaves), "outputs", "jvp")
        _check_strict(outputs, strict)
        products = _products(outputs, leaves, vectors, create_graph, strict)
    return (
        _closed(_one(several_out, outputs), create_graph),
        _closed(_one(several_out, products), create_graph),
    )


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
    shape = tuple(output.shape)
    if not output.requires_grad:
        return tuple(_zeros(shape, x) for x in leaves)
    if vectorize and output.numel():
        from ..creation import eye

        basis = eye(output.numel(), dtype=output.dtype).reshape(output.numel(), *shape)
        found = grad(
            output,
            leaves,
            basis,
            retain_graph=True,
            create_graph=create_graph,
            allow_unused=True,
            is_grads_batched=True,
        )
        return tuple(
            _zeros(shape, x) if g is None else g.reshape(*shape, *x.shape)
            for g, x in zip(found, leaves, strict=True)
        )
    columns: list[list[Tensor]] = [[] for _ in leaves]
    flat = output.reshape(-1)
    for k in range(output.numel()):
        found = grad(
            flat[k],
            leaves,
            _ones(flat[k]),
            retain_graph=True,
            create_graph=create_graph,
            allow_unused=True,
        )
        filled = _filled(found, leaves, strict, create_graph, _OUTPUT.format(number))
        for column, g in zip(columns, filled, strict=True):
            column.append(g)
    return tuple(
        stack(column).reshape(*shape, *x.shape) if column else _zeros(shape, x)
        for column, x in zip(columns, leaves, strict=True)
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
        found = _gradients((out,), args, None, True)
        first = tuple(zeros_like(x) if g is None else g for g, x in zip(found, args, strict=True))
        _check_first(first, strict)
        return first

    found = jacobian(gradient, given, create_graph, strict, vectorize)
    return found if several else found[0][0]


def _second(
    func: Any, inputs: Any, v: Any, create_graph: bool, strict: bool, function: str
) -> tuple[bool, Tensor, tuple[Tensor, ...], tuple[Tensor, ...], tuple[Tensor, ...]]:
    """A number, its gradient, and the vectors for the second derivative."""
    several, given = _tuple(inputs, "inputs", function)
    leaves = _leaves(given, create_graph)
    vectors = _vectors(v, leaves, several, function)
    out = _scalar(func, function)(*leaves)
    _check_strict((out,), strict)
    first = _filled(_gradients((out,), leaves, None, True), leaves, strict, False)
    _check_first(first, strict)
    return several, out, leaves, vectors, first


def vhp(
    func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of a function, and the product of a vector with its Hessian."""
    with enable_grad():
        several, out, leaves, vectors, first = _second(func, inputs, v, create_graph, strict, "vhp")
        found = _gradients(first, leaves, vectors, create_graph)
        products = _filled(found, leaves, strict, create_graph)
    return _closed(out, create_graph), _closed(_one(several, products), create_graph)


def hvp(
    func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of a function, and the product of its Hessian with a vector."""
    with enable_grad():
        several, out, leaves, vectors, first = _second(func, inputs, v, create_graph, strict, "hvp")
        products = _products(first, leaves, vectors, create_graph, strict)
    return _closed(out, create_graph), _closed(_one(several, products), create_graph)
