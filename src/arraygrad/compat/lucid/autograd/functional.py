"""Derivatives of functions: Jacobians, Hessians, products with them, checks, checkpoints.

They differentiate a graph that the function records on tensors, so that a `Function` works in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import func, testing
from ....arrays.creation import ones_like, zeros_like
from ....autograd import enable_grad
from ....autograd import grad as native_grad
from ...facade import Facade, unwrapped
from ..tensors import Tensor


def _inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Lucid's tensors as a function of arraygrad's."""
    return lambda *args: unwrapped(function(*Tensor._wrapped(args)))


class _Recorded:
    """A function, recorded at some inputs, and what `grad` gives of it."""

    def __init__(self, function: Callable[..., Any], inputs: Any, create_graph: bool) -> None:
        self.single = isinstance(inputs, Facade)
        self.create_graph = create_graph
        given = [unwrapped(x) for x in ([inputs] if self.single else inputs)]
        # Without a graph afterwards, and for inputs without one, the function gets leaves.
        self.inputs = [
            x if create_graph and x.requires_grad else x.detach().requires_grad_() for x in given
        ]
        with enable_grad():
            self.output = _inner(function)(*self.inputs)

    def scalar(self, name: str) -> Any:
        """The output, if it has one element."""
        if self.output.size != 1:
            raise RuntimeError(
                f"{name}() needs a function with one element, and its result has shape "
                f"{self.output.shape}"
            )
        return self.output.reshape(())

    def gradients(self, output: Any, seed: Any, inputs: Any = None, **keywords: Any) -> list[Any]:
        """Gradients with respect to the inputs; zeros where the output does not depend on them."""
        wanted = self.inputs if inputs is None else inputs
        batch = (len(seed),) if keywords.get("is_grads_batched") else ()
        outputs = output if isinstance(output, tuple | list) else [output]
        seeds = seed if isinstance(output, tuple | list) else [seed]
        live = [(o, s) for o, s in zip(outputs, seeds, strict=True) if o.requires_grad]
        if not live:
            return [zeros_like(np.empty((*batch, *x.shape), x.dtype)) for x in wanted]
        keywords = {"create_graph": self.create_graph, "retain_graph": True, **keywords}
        found = native_grad(
            [o for o, _ in live], wanted, [s for _, s in live], materialize_grads=True, **keywords
        )
        return list(found)

    def jacobians(self, output: Any) -> Any:
        """The Jacobians of an output with respect to the inputs."""
        if isinstance(output, tuple | list):
            return tuple(self.jacobians(o) for o in output)
        n = output.size
        seeds = np.eye(n, dtype=output.dtype).reshape(n, *output.shape)
        rows = self.gradients(output, seeds, is_grads_batched=True)
        return self.given(
            [r.reshape(*output.shape, *x.shape) for r, x in zip(rows, self.inputs, strict=True)]
        )

    def given(self, results: Any) -> Any:
        """Results, one for each input, in the form in which the inputs were given."""
        return results[0] if self.single else tuple(results)

    def tensors(self, value: Any) -> Any:
        """Results as tensors of Lucid, outside of the graph unless it is wanted."""
        if isinstance(value, tuple | list):
            return type(value)(self.tensors(item) for item in value)
        return Tensor._of(value if self.create_graph else value.detach())

    def vectors(self, v: Any) -> list[Any]:
        """A vector for each input; ones by default."""
        if v is None:
            return [ones_like(x) for x in self.inputs]
        vectors = [unwrapped(t) for t in ([v] if isinstance(v, Facade) else v)]
        shapes = [tuple(t.shape) for t in vectors]
        if shapes != [tuple(x.shape) for x in self.inputs]:
            raise RuntimeError(
                f"v has the shapes {shapes}, but the inputs have "
                f"{[tuple(x.shape) for x in self.inputs]}"
            )
        return vectors


def jacobian(function: Callable[..., Any], inputs: Any, create_graph: bool = False) -> Any:
    """The Jacobian; for a tuple of inputs, a tuple with one for each."""
    recorded = _Recorded(function, inputs, create_graph)
    return recorded.tensors(recorded.jacobians(recorded.output))


def hessian(function: Callable[..., Any], inputs: Any, create_graph: bool = False) -> Any:
    """The Hessian of a function with one value; for a tuple of inputs, a tuple of tuples."""
    recorded = _Recorded(function, inputs, create_graph)
    first = recorded.gradients(recorded.scalar("hessian"), 1.0, create_graph=True)
    return recorded.tensors(recorded.given([recorded.jacobians(g) for g in first]))


def vjp(
    function: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False
) -> Any:
    """The value, and the product of a cotangent with the Jacobian."""
    recorded = _Recorded(function, inputs, create_graph)
    out = recorded.output
    seed = ones_like(out) if v is None else unwrapped(v)
    if tuple(seed.shape) != tuple(out.shape):
        raise RuntimeError(
            f"v has shape {tuple(seed.shape)}, but the result has shape {tuple(out.shape)}"
        )
    product = recorded.given(recorded.gradients(out, seed))
    return recorded.tensors(out), recorded.tensors(product)


def jvp(
    function: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False
) -> Any:
    """The value, and the product of the Jacobian with a tangent."""
    recorded = _Recorded(function, inputs, create_graph)
    tangents = recorded.vectors(v)
    several = isinstance(recorded.output, tuple | list)
    outputs = list(recorded.output) if several else [recorded.output]
    # A product with the transpose is linear in its cotangent. Its derivative is the product wanted.
    cotangents = [zeros_like(o).requires_grad_() for o in outputs]
    pulled = recorded.gradients(outputs, cotangents, create_graph=True)
    found = recorded.gradients(pulled, tangents, cotangents)
    out, product = (tuple(outputs), tuple(found)) if several else (outputs[0], found[0])
    return recorded.tensors(out), recorded.tensors(product)


def hvp(
    function: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False
) -> Any:
    """The value, and the product of the Hessian with a vector."""
    recorded = _Recorded(function, inputs, create_graph)
    first = recorded.gradients(recorded.scalar("hvp"), 1.0, create_graph=True)
    product = recorded.given(recorded.gradients(first, recorded.vectors(v)))
    return recorded.tensors(recorded.output), recorded.tensors(product)


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
