"""Ways around an op that must not change its gradient.

Each wrapper takes a function and arrays, and gives the gradients by another way: recomputed, by
rules of the user's own, with packed values, with hooks, from other layouts, in several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import arraygrad as ag
from arraygrad.autograd.graph import saved_tensors_hooks

Function = Callable[..., Any]


# --- gradients -----------------------------------------------------------------------------------


def leaves_of(arrays: Any) -> list[Any]:
    """Leaves on the same memory, and so with the same layout."""
    made = [ag.asarray(a) for a in arrays]
    return [
        x.requires_grad_() if a.dtype.kind in "fc" else x for x, a in zip(made, arrays, strict=True)
    ]


def results_of(function: Function, leaves: list[Any]) -> list[Any]:
    """The results that can be differentiated."""
    found = function(*leaves)
    found = found if isinstance(found, tuple | list) else [found]
    return [r for r in found if isinstance(r, ag.Tensor) and r.requires_grad]


def seeds_of(results: list[Any]) -> list[Any]:
    rng = np.random.default_rng(0)
    seeds = [rng.standard_normal((2, *r.shape)) for r in results]
    return [
        s[0] + 1j * s[1] if r.dtype.kind == "c" else s[0]
        for s, r in zip(seeds, results, strict=True)
    ]


def gradients(function: Function, arrays: Any, **keywords: Any) -> list[Any]:
    """The gradients of a function by its floating-point inputs, as NumPy arrays."""
    leaves = leaves_of(arrays)
    results = results_of(function, leaves)
    inputs = [x for x in leaves if x.requires_grad]
    found = ag.grad(results, inputs, seeds_of(results), materialize_grads=True, **keywords)
    return [g.detach().array for g in found]


# --- wrappers ------------------------------------------------------------------------------------


def again(function: Function, arrays: Any) -> list[Any]:
    """From a graph that was swept before."""
    leaves = leaves_of(arrays)
    results = results_of(function, leaves)
    inputs = [x for x in leaves if x.requires_grad]
    keywords = {"materialize_grads": True}
    ag.grad(results, inputs, seeds_of(results), retain_graph=True, **keywords)
    return [g.array for g in ag.grad(results, inputs, seeds_of(results), **keywords)]


def with_a_graph(function: Function, arrays: Any) -> list[Any]:
    return gradients(function, arrays, create_graph=True)


def by_backward(function: Function, arrays: Any) -> list[Any]:
    leaves = leaves_of(arrays)
    results = results_of(function, leaves)
    ag.autograd.backward(results, seeds_of(results))
    inputs = [x for x in leaves if x.requires_grad]
    return [np.zeros(x.shape, x.dtype) if x.grad is None else x.grad.array for x in inputs]


def checkpointed(function: Function, arrays: Any) -> list[Any]:
    return gradients(ag.func.checkpoint(function), arrays)


def pulled_back(function: Function, inputs: Any, cotangents: Any) -> list[Any]:
    """The gradients of a function by its floating-point inputs, in a rule; None for the others."""
    places = [
        i for i, x in enumerate(inputs) if "float" in str(x.dtype) or "complex" in str(x.dtype)
    ]

    def of_floats(*values: Any) -> Any:
        full = list(inputs)
        for i, value in zip(places, values, strict=True):
            full[i] = value
        found = function(*full)
        return tuple(found) if isinstance(found, tuple | list) else (found,)

    results, pull = ag.func.vjp(of_floats, *(inputs[i] for i in places))
    given = [ag.zeros_like(r) if g is None else g for r, g in zip(results, cotangents, strict=True)]
    found: list[Any] = [None] * len(inputs)
    for i, gradient in zip(places, pull(tuple(given)), strict=True):
        found[i] = gradient
    return found


def by_rules_of_its_own(function: Function, arrays: Any) -> list[Any]:
    several = isinstance(function(*arrays), tuple | list)

    def whole(*inputs: Any) -> Any:
        found = function(*inputs)
        return tuple(found) if several else found

    if several:
        rule = lambda gs, inputs, i: pulled_back(function, inputs, gs)[i]  # noqa: E731
    else:
        rule = lambda g, inputs, i: pulled_back(function, inputs, [g])[i]  # noqa: E731
    custom = ag.func.custom(vjp_inputs=rule, multiple=several, holomorphic=False)
    return gradients(custom(whole), arrays)


def by_a_class(function: Function, arrays: Any) -> list[Any]:
    class Wrapped(ag.autograd.Function):
        @staticmethod
        def forward(*inputs: Any) -> Any:
            found = function(*inputs)
            return tuple(found) if isinstance(found, list) else found

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            return tuple(pulled_back(function, ctx.saved_tensors, cotangents))

    return gradients(Wrapped.apply, arrays)


def packed(function: Function, arrays: Any) -> list[Any]:
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        return gradients(function, arrays)


def packed_as_copies(function: Function, arrays: Any) -> list[Any]:
    with saved_tensors_hooks(lambda t: t.array.copy(), ag.asarray):
        return gradients(function, arrays)


def under_anomaly_detection(function: Function, arrays: Any) -> list[Any]:
    with ag.autograd.detect_anomaly(check_nan=False):
        return gradients(function, arrays)


def with_hooks(function: Function, arrays: Any) -> list[Any]:
    """On all tensors and nodes, which the sweep has to run with more care."""

    def hooked(*inputs: Any) -> Any:
        inputs = tuple(x * 1 if x.requires_grad else x for x in inputs)
        results = results_of(function, list(inputs))
        stack = [r.grad_fn for r in results]
        seen: set[Any] = set()
        while stack:
            node = stack.pop()
            if node is None or node in seen or node.name() == "AccumulateGrad":
                continue
            seen.add(node)
            node.register_prehook(lambda gs: gs)
            node.register_hook(lambda parts, gs: None)
            stack += [edge for edge, _ in node.next_functions]
        for tensor in (*inputs, *results):
            if tensor.requires_grad:
                tensor.register_hook(lambda g: g * 1)
        return results

    return gradients(hooked, arrays)


def in_two_threads(function: Function, arrays: Any) -> list[Any]:
    """At once: what both find must be the same."""
    together = threading.Barrier(2, timeout=20)
    found: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        together.wait()
        for _ in range(3):
            found[number] = gradients(function, arrays)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(found[0], found[1], strict=True):
        np.testing.assert_array_equal(one, other)
    return found[0]


def rearranged(arrange: Callable[[Any], Any]) -> Callable[[Function, Any], list[Any]]:
    """The floating-point inputs in another layout."""

    def run(function: Function, arrays: Any) -> list[Any]:
        others = [arrange(a) if a.dtype.kind in "fc" else a for a in arrays]
        for a, other in zip(arrays, others, strict=True):
            np.testing.assert_array_equal(a, other)
        return gradients(function, others)

    return run


def backwards(a: Any) -> Any:
    """With negative strides along all axes."""
    index = (slice(None, None, -1),) * a.ndim
    return a[index].copy()[index]


def spaced(a: Any) -> Any:
    """Every second element along all axes of a larger array."""
    wide = np.full(tuple(2 * n for n in a.shape), np.nan, a.dtype)
    index = (slice(None, None, 2),) * a.ndim
    wide[index] = a
    return wide[index]


def read_only(a: Any) -> Any:
    a = np.array(a)
    a.flags.writeable = False
    return a


WRAPPERS: dict[str, Callable[[Function, Any], list[Any]]] = {
    "again": again,
    "with a graph": with_a_graph,
    "backward": by_backward,
    "checkpoint": checkpointed,
    "custom": by_rules_of_its_own,
    "Function": by_a_class,
    "packed": packed,
    "packed as copies": packed_as_copies,
    "anomaly detection": under_anomaly_detection,
    "hooks": with_hooks,
    "two threads": in_two_threads,
    "Fortran order": rearranged(lambda a: np.array(a, order="F")),
    "negative strides": rearranged(backwards),
    "other strides": rearranged(spaced),
    "read-only": rearranged(read_only),
}
