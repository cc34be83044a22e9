"""A compiled function as an op: it is differentiated, batched and hooked like any other.

The function and its pullback are traced together and then cut in two. The first program also
returns the values that the second one needs: results of the arguments that are costly to compute
again. Other transforms of the function are compiled functions themselves: its pullback as a
function of the arguments (for higher orders), its forward derivative, and its batch.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...arrays.tensor import Tensor, tensor_type
from ...autograd import grad
from ...backends.numpy.native import NotFinite
from ...core.array import Array
from ...core.closing import Closing
from ...core.kinds import Opaque
from ...core.locks import held
from ...core.modes import ModeContext, current_modes
from ...core.structures import taken_apart
from ...func import jvp, vjp, vmap
from ...ops import zeros_like
from ...ops.define.op import Own, declare
from ...ops.define.rules import Rule
from ...ops.reductions import _sum
from ..lower.worth import worth_saving
from ..run.entry import Runner
from ..run.executable import Executable
from ..trace.bodies import is_recorded
from ..trace.program import Call, Node
from ..trace.traced import Traced
from .decisions import Decisions
from .tracing import NotTraceable, Outcome, check_target, has_values, run_traced, values_like

Backward = tuple[Runner, list[int], list[int]]
Compile = Callable[[Callable[..., Any]], Callable[..., Any]]


class Saved:
    """What a program keeps for its derivative. As the last result of the op, it acts as an array.

    It is its own tangent, and has no elements.
    """

    is_private = True  # the hooks of a user do not get it
    shape = (0,)
    ndim = 1
    dtype = np.dtype(np.float64)

    def __init__(self, arrays: Sequence[Any] = ()) -> None:
        self.arrays = arrays


class Differentiable:
    """A traced function as an op.

    Parameters
    ----------
    function : callable
        Takes a list of leaves, and returns a structure of arrays.
    leaves : list
        The leaves of the arguments in the first call.
    positions : list of int
        The leaves that are arrays: the inputs of the op.
    compiled : callable
        Compiles other functions.
    make : callable
        Makes an executable program: `Executable`, or a class like it.
    specialize : bool
        Whether the function may decide by the values of the arguments.
    name : str
        The name of the op.
    reports : bool
        Whether to raise `NotFinite` if there is an infinity or NaN in a result.
    outcome : Outcome, optional
        That of a trace of the function on these leaves, which is still open; by default, the
        function is traced here.
    """

    def __init__(
        self,
        function: Callable[[list[Any]], Any],
        leaves: list[Any],
        positions: list[int],
        compiled: Compile,
        make: Callable[..., Executable] = Executable,
        specialize: bool = False,
        name: str = "compiled",
        reports: bool = False,
        outcome: Outcome | None = None,
    ) -> None:
        self._function, self._positions, self._name = function, positions, name
        self._reports = reports
        self._fixed = [None if i in positions else leaf for i, leaf in enumerate(leaves)]
        self._compiled, self._make = compiled, make
        self._made: dict[Any, Any] = {}  # the compiled transforms
        self._lock = threading.Lock()
        arrays = [leaves[i] for i in positions]
        self.moving = [i for i, a in enumerate(arrays) if moves(a)]
        if outcome is not None:
            self._finish(False, outcome)
        else:
            model = list(leaves)
            for i in self.moving:
                model[positions[i]] = _leaf_over(values_like(arrays[i]))
            finish = functools.partial(self._finish, any(map(is_recorded, arrays)))
            can_decide = specialize and all(map(has_values, arrays))
            run_traced(function, model, positions, finish, can_decide, leaves)
        self.run = self._declared()

    # --- the two programs ---

    def _finish(self, records: bool, outcome: Outcome) -> None:
        """Take from the trace what the op needs."""
        self.build = outcome.form()
        self.places = outcome.places
        self.read, self.reads = outcome.trace.read, outcome.reads
        self.decisions = Decisions(outcome, self._make)
        self.hidden, self._asked = outcome.captured, outcome.asked
        count = len(outcome.inputs)
        self.moving += [count + i for i, t in enumerate(outcome.stand_ins) if t.requires_grad]
        self.outputs = outcome.outputs
        self.smooth = outcome.smooth
        self.rough = [k for k in range(len(self.outputs)) if k not in self.smooth]
        program = outcome.trace.program
        stand_ins = [outcome.trace.node(t.array) for t in outcome.stand_ins]
        self.inputs: list[Node] = [*outcome.inputs, *stand_ins]
        self.seeds: list[Node] = []
        self.gradients: list[Node | None] = [None] * len(self.moving)
        if self.smooth and (records or any(t.requires_grad for t in outcome.stand_ins)):
            tensors: list[Any] = [outcome.tensors[k] for k in self.smooth]
            seeds = [outcome.trace.input_like(t) for t in tensors]
            self.seeds = [s.node for s in seeds]
            targets = [t for t in (*outcome.own, *outcome.stand_ins) if t.requires_grad]
            found: Any = grad(tensors, targets, seeds, allow_unused=True)
            self.gradients = [None if g is None else outcome.trace.node(g.array) for g in found]
        self.saved, self._kept = worth_saving(self.outputs, self.seeds, self.gradients)
        self._program = program
        more = list(self.saved)
        if self._reports:
            floats = [_before_reshape(x) for x in self.outputs if x.dtype.kind == "f"]
            zeros = [_sum(Traced(x, outcome.trace) * 0, axis=None, keepdims=False) for x in floats]
            more.append(outcome.trace.node(sum(zeros[1:], zeros[0])))
        self.forward = Runner(self._make(program, self.inputs, self.outputs, more))

    def backward(self, wanted: tuple[bool, ...]) -> Backward:
        """The program that computes the cotangents of some inputs.

        With it come the numbers of what it takes, among the inputs, outputs, saved values and
        seeds; and the numbers of the inputs whose cotangents it gives.
        """

        def made() -> Backward:
            nodes = [g for g, w in zip(self.gradients, wanted, strict=True) if w and g]
            given = [*self.inputs, *self.outputs, *self.saved, *self.seeds]
            last = {node: i for i, node in enumerate(given)}
            read, stack = set(), list(nodes)
            while stack:
                node = stack.pop()
                if node not in read:
                    read.add(node)
                    stack += [] if node in last else node.nodes
            # Not what is not read: results that no gradient reads have been left out.
            taken = [i for node, i in last.items() if node in read]
            runner = Runner(self._make(self._program, [given[i] for i in taken], nodes))
            asked = zip(self.moving, self.gradients, wanted, strict=True)
            return runner, taken, [i for i, g, w in asked if w and g is not None]

        return self._made.get(wanted) or self._once(wanted, made)  # type: ignore[no-any-return]

    # --- the op ---

    def fits(self, leaves: Sequence[Any]) -> bool:
        """Whether gradients inside it, by its arguments, depend on nothing else."""
        try:
            for i in self._asked:
                check_target(leaves[i], [*self.hidden, *leaves])
        except NotTraceable:
            return False
        return True

    def executables(self) -> list[Executable]:
        """The programs that it has run so far, for its value and its derivatives."""
        made = [found[0] for found in self._made.values() if isinstance(found, tuple)]
        return [runner.executable for runner in (self.forward, *made)]

    def _declared(self) -> Any:
        count = len(self.inputs)
        names = tuple(f"x{i}" for i in range(count))
        tangents = tuple(f"t_{name}" for name in names)

        def compute(xp: Any, *arrays: Any) -> Any:
            return self._compute(arrays)

        compute.__module__ = ""  # so that the op can be made again, and no table keeps it
        return declare(
            self._name,
            *names,
            kind=Opaque(),
            compute=compute,
            joint=Rule(
                ("gs", "wanted", "out", *names),
                lambda gs, wanted, out, *arrays: self._pull(gs, wanted, out, arrays),
            ),
            jvp=Rule(
                ("out", *names, *tangents),
                lambda out, *given: self._push(out, given[:count], given[count:]),
            ),
            holomorphic=False,
            multiple=True,
            own=Own(batch=self._batch, kept=self._with_kept),
        )

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """The function's results for some arrays."""
        if not self.hidden and {*map(type, arrays)} == {np.ndarray}:  # nothing is recorded
            return self.build(list(self._compute(arrays)[:-1]))
        out = list(self.run(*arrays, *self.hidden)[:-1])
        for k in self.rough:
            if isinstance(out[k], Array):
                out[k] = out[k].detach()
        return self.build(out)

    def _compute(self, arrays: Sequence[Any]) -> Any:
        out = self.forward([np.asarray(a) for a in arrays])
        if self._reports:
            *out, zero = out
            if zero.item() != 0:
                raise NotFinite
        count = len(self.outputs)
        return (*out[:count], Saved(out[count:]))

    def _with_kept(self, out: Any) -> Any:
        """The results, of which those that no gradient reads are left out."""
        outputs = zip(self.outputs, out, strict=False)
        return (*[v if node in self._kept else Saved() for node, v in outputs], out[-1])

    def _pull(self, gs: list[Any], wanted: Any, out: Any, arrays: Sequence[Any]) -> list[Any]:
        wanted = tuple(wanted[i] for i in self.moving)
        saved = out[-1]
        # If it was traced where nobody records, it saves nothing for its derivative.
        can_run = type(saved) is Saved and len(self.seeds) == len(self.smooth)
        if not can_run or any(isinstance(a, Array) for a in (*arrays, *gs)):
            places, found = self.moving, self._pulled_by_tensors(gs, arrays)
        else:
            program, taken, places = self.backward(wanted)
            values = [*arrays, *out[:-1], *saved.arrays, *self._seeds(gs)]
            found = program([values[i] for i in taken])
        parts: list[Any] = [None] * len(arrays)
        for i, part in zip(places, found, strict=True):
            parts[i] = part
        return parts

    def _pulled_by_tensors(self, gs: list[Any], arrays: Sequence[Any]) -> Any:
        """The pullback, compiled as a function of the arguments, which can be differentiated."""
        return self._transform("pull", self._pullback)(arrays, self._seeds(gs))

    def _seeds(self, gs: list[Any]) -> list[Any]:
        """The cotangents of the results that have derivatives: zeros for those that got none."""
        outputs = self.outputs
        return [
            np.zeros(outputs[k].shape, outputs[k].dtype) if gs[k] is None else gs[k]
            for k in self.smooth
        ]

    def _pullback(self, arrays: list[Any], cotangents: list[Any]) -> list[Any]:
        function, primals = self._of_moving(arrays, self.moving)
        return list(vjp(function, *primals)[1](cotangents))

    def _push(self, out: Any, arrays: Sequence[Any], tangents: Sequence[Any]) -> Any:
        # Captured tensors have no tangents. The function that is compiled here captures them anew.
        count = len(self._positions)
        found = iter(self._transform("push", self._pushed)(arrays[:count], tangents[:count]))
        pushed = [
            next(found) if k in self.smooth else zeros_like(out[k]) for k in range(len(out) - 1)
        ]
        return (*pushed, out[-1])

    def _pushed(self, arrays: list[Any], tangents: list[Any]) -> Any:
        positions = [i for i in self.moving if i < len(arrays)]
        function, primals = self._of_moving(arrays, positions)
        return jvp(function, primals, tuple(tangents[i] for i in positions))[1]

    def _of_moving(self, arrays: Sequence[Any], positions: list[int]) -> tuple[Any, Any]:
        """The smooth outputs as a function of some of the arrays, and these arrays."""

        def function(*moving: Any) -> list[Any]:
            full = list(arrays)
            for i, value in zip(positions, moving, strict=True):
                full[i] = value
            outputs = self._outputs_of(full)
            return [outputs[k] for k in self.smooth]

        return function, tuple(arrays[i] for i in positions)

    def _batch(self, op: Any, arrays: Any, flags: tuple[bool, ...], params: Any) -> Any:
        count = len(self._positions)
        axes = tuple(0 if flag else None for flag in flags[:count])
        mapped = vmap(lambda *values: self._outputs_of(values), in_axes=axes)
        return (*self._transform(axes, mapped)(*arrays[:count]), Saved())

    def _outputs_of(self, arrays: Sequence[Any]) -> list[Any]:
        """The results that are outputs of the program, as the user's function returns them.

        After the arguments, `arrays` may have what takes the place of captured tensors.
        """
        leaves = list(self._fixed)
        count = len(self._positions)
        for i, array in zip(self._positions, arrays[:count], strict=True):
            leaves[i] = array
        closing = Closing(lambda x: x, current_modes().closing)
        for x, array in zip(self.hidden, arrays[count:], strict=False):
            closing.put(x, array)
        with ModeContext(closing=closing):
            results = [closing.inside(r) for r in taken_apart(self._function(leaves))[0]]
        return [results[i] for i in self.places]

    def _transform(self, key: Any, function: Callable[..., Any]) -> Any:
        return self._once(key, lambda: self._compiled(function))

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is made for a key, by the first thread that asks for it."""

        def found() -> Any:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]

        return held(self._lock, found)


def _before_reshape(node: Node) -> Node:
    """The same elements, in the shape in which a pass computes them."""
    while isinstance(node, Call) and node.op.view == "reshape":
        (node,) = node.nodes
    return node


def moves(array: Any) -> bool:
    """Whether an argument may have a derivative: it is in a transform, or requires gradients."""
    if not isinstance(array, Array) or array.dtype.kind not in "fc":
        return False
    return not isinstance(array, Tensor) or isinstance(array._array, Array) or array.requires_grad


def _leaf_over(array: Any) -> Any:
    """An array as a tensor that requires gradients, if it is none yet."""
    if isinstance(array, Tensor) and array.requires_grad:
        return array
    return tensor_type(array)(array).requires_grad_()
