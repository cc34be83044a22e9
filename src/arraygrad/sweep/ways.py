"""The nodes that are not simple. Simple nodes are run by the loop in `sweep.engine`.

The functions compute the cotangents of a node's inputs from its own cotangent `g` and its saved
values, and add them to the sweep's table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from ..backends import backend_of
from ..core.array import Array
from ..core.nodes import Node, Output, output_node
from ..errors import AnomalyError
from ..ops.define.rules import Pullback
from .fit import fit, is_complex
from .liveness import Followed, cleared

if TYPE_CHECKING:
    from .engine import Sweep


def collect(sweep: Sweep, node: Output, g: Any) -> None:
    """For one of several outputs: put its cotangent into the list that the op's rules take."""
    parent = node.edges[0]
    if parent not in sweep.needed:
        return
    slots = sweep.table.setdefault(parent, [None] * len(parent.shape))
    have = slots[node.index]
    slots[node.index] = g if have is None else have + g
    sweep.live.collect(node)


def run_carefully(sweep: Sweep, node: Node, g: Any, saved: tuple[Any, ...]) -> None:
    """Step by step, for all other cases: hooks, rules on tensors, masks, anomaly detection."""
    pullback, extras = node.pullback, node.extras
    assert pullback is not None
    if extras is not None and extras.pre:
        g = sweep.call_prehooks(node, g)
    followed = sweep.live.follow(node, g, saved)
    try:
        parts = run_rules(sweep, node, g, saved, followed)
    except Exception as error:
        if sweep.anomaly:
            error.add_note(recorded_at(node))
            if not hasattr(error, "place"):
                error.place = node, None  # type: ignore[attr-defined]
        raise
    if sweep.anomaly == "nan":
        parts = _without_nan(node, parts)
    if extras is not None and extras.post:
        parts = sweep.call_posthooks(node, parts, g)
    for edge, part in zip(node.edges, parts, strict=True):
        if part is not None:
            sweep.add_fitted(edge, part)


def parts_at_once(sweep: Sweep, node: Node, g: Any, saved: tuple[Any, ...]) -> list[Any] | None:
    """The cotangents of the inputs of a node with one rule for all of them, in a plain sweep.

    None if the node has no such rule, or has to be run with care.
    """
    pullback = node.pullback
    assert pullback is not None
    if pullback.backward is not None:
        return pullback.backward(sweep, node, g)  # type: ignore[no-any-return]
    if pullback.joint is None or pullback.kind.overwrites:
        return None
    if pullback.holomorphic:
        if any(map(is_complex, node.dtype if pullback.multiple else [node.dtype])):
            return None
    wanted = list(map(sweep.needed.__contains__, node.edges))
    return _by_joint_rule(pullback, g, saved, wanted)


# --- the steps of `run_carefully` -----------------------------------------------------------------


def run_rules(sweep: Sweep, node: Node, g: Any, saved: Any, followed: Followed) -> list[Any]:
    """The cotangents of a node's inputs, from its rules; None for inputs that get none."""
    pullback, (wanted, of_output, of_inputs) = node.pullback, followed
    assert pullback is not None
    conjugate = False
    if pullback.backward is not None:
        parts = pullback.backward(sweep, node, g)
        given = [part is not None for part in parts]
    else:
        if sweep.create_graph and pullback.sources:
            saved = _restored(sweep, node, pullback, saved)
        dtypes = node.dtype if pullback.multiple else [node.dtype]
        conjugate = pullback.holomorphic and any(map(is_complex, dtypes))
        g = _conj(g) if conjugate else g
        if pullback.joint is not None:
            parts = _by_joint_rule(pullback, g, saved, wanted)
            given = [part is not None for part in parts]
        else:
            given = wanted
            parts = [
                (g if rule is None else rule(g, saved)) if is_wanted else None
                for rule, is_wanted in zip(pullback.rules, given, strict=True)
            ]
    for i, edge in enumerate(node.edges):
        if given[i]:
            part = cleared(parts[i], of_output) if of_output is not None else parts[i]
            part = fit(ops.conj(part) if conjugate else part, edge, node)
            part = cleared(part, of_inputs[i]) if of_inputs[i] is not None else part
            # A constant cotangent, such as zeros, becomes a tensor, too.
            is_bare = sweep.create_graph and not isinstance(part, Array)
            parts[i] = sweep.tensor_type(part) if is_bare else part
    return [part if is_given else None for part, is_given in zip(parts, given, strict=True)]


def _by_joint_rule(pullback: Pullback, g: Any, saved: Any, wanted: list[bool]) -> list[Any]:
    """The cotangents of the inputs that have edges, from one rule for all inputs."""
    of_inputs = [False] * pullback.arity
    for position, is_wanted in zip(pullback.positions, wanted, strict=True):
        of_inputs[position] = is_wanted
    assert pullback.joint is not None
    found = pullback.joint(g, tuple(of_inputs), saved)
    return [found[position] for position in pullback.positions]


def _restored(sweep: Sweep, node: Node, pullback: Pullback, saved: Any) -> tuple[Any, ...]:
    """A node's saved arrays, as tensors with the nodes that they had when they were saved."""
    make = sweep.tensor_type
    nodes = dict(zip(pullback.positions, node.edges, strict=True))
    values = []
    for value, source in zip(saved, pullback.sources, strict=True):
        if source == -1 and pullback.multiple:
            value = tuple(make(v, output_node(node, i)) for i, v in enumerate(value))
        elif source == -1:
            value = make(value, node)
        elif source in nodes:
            value = make(value, nodes[source])
        values.append(value)
    if pullback.starred is not None:
        place, first = pullback.starred
        values[place] = tuple(
            make(value, nodes[position]) if position in nodes else value
            for position, value in enumerate(values[place], first)
        )
    return tuple(values)


def _conj(g: Any) -> Any:
    if isinstance(g, list):
        return [None if part is None else ops.conj(part) for part in g]
    return ops.conj(g)


# --- anomaly detection ---------------------------------------------------------------------------


def _without_nan(node: Node, parts: list[Any]) -> list[Any]:
    """The cotangents of a node's inputs; raise if there is a NaN, or when a NaN is computed."""
    assert node.pullback is not None
    checked = []
    for position, part in zip(node.pullback.positions, parts, strict=True):
        if part is not None:
            error = AnomalyError(
                f"{node.name()} returned NaN in the gradient of its input {position}.\n"
                + recorded_at(node)
            )
            error.place = node, position
            part = _over_plain(part, lambda a, e=error: backend_of(a).without_nan(a, e))
        checked.append(part)
    return checked


def _over_plain(value: Any, function: Any) -> Any:
    """A value with `function` applied to each plain array under its transforms."""
    if isinstance(value, Array):
        return value.over(lambda inner: _over_plain(inner, function))
    return function(value)


def recorded_at(node: Node) -> str:
    """A text that says where in the user's code a node was recorded."""
    trace = None if node.extras is None else node.extras.metadata.get("traceback")
    if trace is None:
        return f"{node.name()} was recorded outside detect_anomaly(), so its line is not known."
    return f"{node.name()} was recorded here:\n{trace}"
