"""Kernels for arrays of any length. `open_entry` has the functions of Python around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backends.numpy.native import Kind
from ..emit.nests import Nest
from ..fuse.fusion import Kernel, Plan, base_of
from ..fuse.kernels import body_of
from ..llvm.native import vector_bytes
from ..llvm.vectors import FLOATS, TYPES, Module, Value, Writer
from ..lower.core import Elements, Fold, Reduction, is_whole
from ..lower.lowering import Lowering
from ..trace.inference import stand_in
from ..trace.program import Call, Shape, needed
from ..trace.traced import Trace

LENGTH = 1 << 20  # of the arrays that a kernel is traced with; it is not in the kernel


class NotOpen(Exception):
    """There is no single kernel for a function."""


class NotWorthIt(Exception):
    """NumPy computes a function as fast."""


def _type(kind: Kind) -> tuple[Shape, Any]:
    """The shape and dtype that a kernel is traced with."""
    shape: Shape = () if kind.how in ("one", "number") else (LENGTH,)
    return (shape if kind.last is None else (*shape, kind.last)), kind.dtype


class OpenKernel:
    """A kernel for arrays whose first axis has any length.

    Attributes
    ----------
    types : list of (shape, dtype)
        Those of the results.
    text : str
        The kernel, a function of the module.
    module : Module
    is_of_lines, is_cut : bool
        Whether it computes lines; whether its only loop is cut into blocks.
    order : list of int
        For each entry of the kernel's table, from the third on: the number of an argument; after
        these come the results, what is reported, and scratch memory.
    scratch : list of int
        The bytes of scratch memory for each chunk.
    """

    def __init__(
        self, function: Callable[..., Any], kinds: Sequence[Kind], reports: bool, least: int = 1
    ) -> None:
        trace = Trace()
        given = [trace.input(stand_in(*_type(kind))) for kind in kinds]
        lowering = Lowering([x.node for x in given], trace)
        results = [x.node for x in function(*given)]
        if sum(isinstance(node, Call) for node in needed(results)) < least:
            raise NotWorthIt
        outputs = lowering.lower(results)
        inputs = [lowering.values[x.node] for x in given]
        self.types = [(x.shape, x.dtype) for x in outputs]
        if any(x.shape[:1] != (LENGTH,) for x in outputs):
            raise NotOpen  # one value for all elements, of which the kernel would write the first
        found = list(outputs)
        if reports:
            if len(outputs) != 1 or TYPES[outputs[0].dtype] not in FLOATS:
                raise NotOpen
            axes = range(len(outputs[0].shape))
            found.append(lowering.builder.reduction(_FINITE, outputs[0], axes))
        plan = Plan(inputs, found, lowering.values.__getitem__)
        bases = [base_of(x) for x in found]
        is_plain = len(set(bases)) == len(bases) and all(
            isinstance(b, Elements | Reduction) and (x is b or is_whole(x))
            for x, b in zip(found, bases, strict=True)
        )
        if not is_plain or len(plan.steps) != 1 or not isinstance(plan.steps[0], Kernel):
            raise NotOpen
        module = Module()
        body = body_of(plan.steps[0], plan.stored, is_open=True)
        nest = Nest(body, module, vector_bytes(), is_open=True)
        self.module, self.text = module, nest.text.replace("@NAME(", "@kernel(", 1)
        self.reports = reports
        self.is_of_lines = kinds[0].last is not None
        self.is_cut = body.limit is not None  # else each of its steps is a line
        places = {x: i for i, x in enumerate([*inputs, *bases, *nest.scratch])}
        if not all(x in places for x in nest.memory):
            raise NotOpen  # it reads an array from outside
        self.order = [places[x] for x in nest.memory]
        self.scratch = [x.size for x in nest.scratch]
        if len(nest.partial) > reports:
            raise NotOpen  # sums of all elements


def _all_finite(w: Writer, finite: Value, x: Value) -> Value:
    """One, if all numbers so far are finite; NaN otherwise. It takes one instruction."""
    return w.math("fma", x, w.like(x, 0.0), finite)


_FINITE = Fold("finite", _all_finite, 1.0, np.maximum)
