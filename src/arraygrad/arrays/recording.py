"""Ops on tensors: compute on the arrays inside, then record a node.

`Recording.apply` does this for any op. `_recording` does the same for ops on one or two arrays,
which are most ops: it writes a function for each op and for each choice of operands that are
tensors. All decisions that are known beforehand are made while the function is written, so that a
call makes none of them. Nodes themselves are in `core.nodes`.

This is the only text that becomes code in the core. Closures take 1.0 to 1.1 of the time for ops
without keywords, and 1.2 for ops with keywords, such as `sum`: the saved values of these ops need
more calls.
"""

from __future__ import annotations

import functools
import linecache
from typing import Any, ClassVar

from numpy import generic, ndarray

from ..core.array import AnyFunction, Array
from ..core.closing import Staged
from ..core.nodes import make_outputs, record, stage
from ..errors import MixedArraysError
from ..ops.define.op import Op
from ..ops.define.rules import SUFFIXES, Pullback, device_of, shape_of
from .writes.transforms import Replaceable


class Recording(Array):
    """The part of `Tensor` that runs ops and records them."""

    __slots__ = ()
    is_inference: ClassVar[bool]
    _recorded: ClassVar[Any]  # the type of the results of ops

    @classmethod
    def apply(cls, op: Op, arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        make = stage()
        if type(make) is Staged:
            if make.views or not op.view:
                given = tuple(map(make.inside, arrays))
                if any(y is not x for x, y in zip(arrays, given, strict=True)):
                    return op.function(*given, **params)
            make = make.make
        level, raw, wanted, inference = cls.level, [], [], False
        for position, array in enumerate(arrays):
            if isinstance(array, Recording) and array.level == level:
                raw.append(array._array)
                inference = inference or array.is_inference
                if array._node is not None:  # type: ignore[attr-defined]
                    wanted.append(position)
            else:
                raw.append(fixed(array))
        if op.view and isinstance(raw[0], generic):
            raw[0] = arrays[0].array  # a number becomes an array, which can be shared
        kernel = op.kernels.get(tuple(map(type, raw)))  # of plain arrays met before, or None
        out = (kernel or op.function)(*raw, **params)
        if op.view and cls.is_inference and len(arrays) == 1:  # it shares memory with one
            made = cls._inferred  # type: ignore[attr-defined]
            if op.multiple:
                return arrays[0]._as_slices(params["axis"], tuple(map(made, out)))
            return arrays[0]._as_view((op.function, params), made(out))
        pullback = op.pullback(tuple(wanted)) if wanted and make is not None else None
        if make is None or pullback is None:
            result = cls._bare(out, op.multiple)  # type: ignore[attr-defined]
        else:
            if inference:
                _check_savable(op, pullback, arrays)
            edges = tuple([arrays[p]._node for p in pullback.positions])
            saved = pullback.keep(tuple(raw), out, params)
            made = cls._recorded
            if not op.multiple:
                return made(out, make(pullback, edges, saved, out.shape, out.dtype))
            node = make(pullback, edges, saved, [o.shape for o in out], [o.dtype for o in out])
            result = tuple(map(made, out, make_outputs(node)))
        if op.view and op.multiple:
            return arrays[0]._as_slices(params["axis"], result)
        return result

    @classmethod
    def caller(cls, op: Op, types: tuple[type, ...]) -> AnyFunction:
        ours = tuple([issubclass(k, Recording) and k.level == cls.level for k in types])
        inference = any(o and k.is_inference for o, k in zip(ours, types, strict=True))  # type: ignore[attr-defined]
        if op.multiple or inference or (op.view and len(types) == 2):
            return super().caller(op, types)
        lower = tuple([issubclass(k, Array) and not o for o, k in zip(ours, types, strict=True)])
        return _recording(cls, op, ours, params=len(types) == 1 and not op.is_bare, lower=lower)

    @classmethod
    def operator(cls, function: Any) -> AnyFunction:
        """The method for a Python operator: like `function.operator`, but faster for tensors."""
        return _recording(cls, function.op, (True, True), others=function.operator)


def fixed(value: Any) -> Any:
    """How a node saves a value of a lower level: in a new wrapper that no user holds.

    For a constant whose level can change, it is the plain array.
    """
    if isinstance(value, Replaceable):
        return value.over(lambda array: array)  # type: ignore[attr-defined]
    if not isinstance(value, Recording):
        return value
    tensor: Any = value
    if tensor._node is None:
        base = tensor if tensor._view is None else tensor._view.base
        if getattr(base, "_born", 0):
            return tensor.array
    kept = tensor.like(tensor._array, tensor._node)
    kept._fixed = True
    return kept


def _check_savable(op: Op, pullback: Pullback, arrays: tuple[Any, ...]) -> None:
    for source in pullback.sources:
        if source is not None and source >= 0:
            if getattr(arrays[source], "is_inference", False):
                raise RuntimeError(
                    "Inference tensors cannot be saved for backward, which the gradient of "
                    f"{op.name} needs: clone() it outside inference_mode first"
                )


# --- functions written for one op on one or two arrays -------------------------------------------


def _recording(
    cls: Any,
    op: Op,
    ours: tuple[bool, ...],
    *,
    params: bool = False,
    lower: tuple[bool, ...] = (False, False),
    others: AnyFunction | None = None,
) -> AnyFunction:
    """Write the function that runs an op on tensors of the type `cls`, and records it.

    Parameters
    ----------
    ours : tuple of bool
        Which operands are tensors of this level.
    params : bool
        Whether the function takes a dictionary of keywords, too.
    lower : tuple of bool
        Which operands are arrays of lower levels.
    others : callable, optional
        Called instead for operands of other types, or of several libraries.
    """
    x = [f"x{i}" for i in range(len(ours))]
    arrays = [f"a{i}" for i in range(len(ours))]
    given = ", ".join(x)
    lines = [f"def record({given}{', params' if params else ''}):"]
    if others is not None:
        odd = " or ".join(f"type({n}) is not made" for n in x)
        lines += [f"    if {odd}:", f"        return others({given})"]
    lines += ["    make = stage()", "    if make is not plainly and type(make) is Staged:"]
    for i in range(len(ours)):
        kept = f" if make.views else x{i}" if op.view else ""
        lines += [f"        y{i} = make.inside(x{i}){kept}"]
    lines += ["        if " + " or ".join(f"y{i} is not x{i}" for i in range(len(ours))) + ":"]
    again = ", ".join(f"y{i}" for i in range(len(ours)))
    lines += [f"            return function({again}{', **params' if params else ''})"]
    lines += ["        make = make.make"]
    for i, (own, low) in enumerate(zip(ours, lower, strict=False)):
        lines += [f"    a{i} = " + (f"x{i}._array" if own else f"fixed(x{i})" if low else f"x{i}")]
    if op.view:  # a number becomes an array, whose memory can be shared
        lines += ["    if isinstance(a0, generic):", "        a0 = x0.array"]
    types = "".join(f"type({a}), " for a in arrays)
    compute = f"out = table[{types}]({', '.join(arrays)}{', params' if params else ''})"
    if others is None:
        lines += [f"    {compute}"]
    else:
        lines += ["    try:", f"        {compute}", "    except MixedArraysError:"]
        lines += [f"        return others({given})"]
    step = "(function, params)" if params else "(function, {})"
    unrecorded = f"x0._as_view({step}, bare(out))" if op.view else "bare(out)"
    names: dict[str, Any] = {"node": "None"}
    node_lines = _node_lines(op, ours, names)
    if node_lines:
        lines += ["    if make is None:", f"        return {unrecorded}"]
        lines += node_lines
    if not node_lines:  # there is no rule
        lines += [f"    return {unrecorded}"]
    elif op.view:
        lines += [f"    return x0._shared({step}, a0, out, node)"]
    else:
        lines += [
            "    tensor = new(made)",
            "    tensor._array = out",
            "    tensor._node = node",
            "    return tensor",
        ]
    text = "\n".join(lines)
    scope = {
        **names,
        "ndarray": ndarray,
        "shape_of": shape_of,
        "device_of": device_of,
        "MixedArraysError": MixedArraysError,
        "bare": cls._bare,
        "fixed": fixed,
        "function": op.function,
        "generic": generic,
        "made": cls._recorded,
        "new": object.__new__,
        "others": others,
        "Staged": Staged,
        "plainly": record,
        "stage": stage,
        "table": op.table,
    }
    exec(_compiled(text, op.name), scope)
    return scope["record"]  # type: ignore[no-any-return]


def _node_lines(op: Op, ours: tuple[bool, ...], names: dict[str, Any]) -> list[str]:
    """The lines that record a node, if an operand with a rule requires gradients.

    There are none if no operand has a rule.
    """
    usable = [i for i, own in enumerate(ours) if own and op.input_name(i) in op.rules]
    lines = [f"    n{i} = x{i}._node" for i in usable]
    if len(usable) == 2:
        cases = [((0, 1), "n0 is not None and n1 is not None"), ((0,), "n0 is not None")]
        cases += [((1,), "n1 is not None")]
    else:
        cases = [((i,), f"n{i} is not None") for i in usable]
    word = "if"
    for positions, condition in cases:
        pullback = op.pullback(positions)
        assert pullback is not None
        name = "p" + "".join(map(str, positions))
        names[name] = pullback
        edges = "".join(f"n{i}, " for i in positions)
        saved = "".join(_expression(op, n, len(ours)) + ", " for n in pullback.kept)
        lines += [f"    {word} {condition}:"]
        lines += [f"        node = make({name}, ({edges}), ({saved}), out.shape, out.dtype)"]
        word = "elif"
    return [*lines, "    else:", "        node = None"] if cases else []


def _expression(op: Op, name: str, count: int) -> str:
    """The value of a rule's parameter, as an expression of `a0`, `a1`, `out` and `params`.

    `source_of` in `ops.define.rules` finds the same value for ops on more arrays.
    """
    if name == "out":
        return name
    if name in op.inputs:
        position = op.inputs.index(name)
        if op.variadic and position == len(op.inputs) - 1:
            return "(" + "".join(f"a{k}, " for k in range(position, count)) + ")"
        return f"a{position}"
    if name == "shapes":
        return "[" + ", ".join(f"a{k}.shape" for k in range(count)) + "]"
    for suffix in SUFFIXES:
        if name.endswith(suffix) and name.removesuffix(suffix) in op.inputs:
            array = _expression(op, name.removesuffix(suffix), count)
            own = f"{array}.{suffix[1:]}"
            if suffix == "_dtype":
                return own
            return f"({own} if type({array}) is ndarray else {suffix[1:]}_of({array}))"
    return f"params[{name!r}]"


@functools.cache
def _compiled(text: str, name: str) -> Any:
    """The compiled text. Tracebacks can show its lines."""
    place = f"<recording of {name} {len(linecache.cache)}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    return compile(text, place, "exec")
