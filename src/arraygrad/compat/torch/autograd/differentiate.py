"""`grad` and `backward`, with all of PyTorch's parameters, and the methods of tensors for them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, overload

from .... import ops
from ....arrays.batched import Batched
from ....arrays.dual import Dual
from ....arrays.tensor import Tensor as Native
from ....autograd import differentiate as native
from ....backends import backend_of
from ....core.array import Array
from ....core.modes import current_modes
from ....core.nodes import GradientEdge as NativeEdge
from ....core.nodes import RemovableHandle, output_node
from ....errors import NoGradientError
from ...arguments import several
from ..dtypes import Size, of_numpy
from ..handles import Tensor, attach, is_recorded, name_of, unwrap, wrap
from ..inside import is_transforming
from ..wording import reword
from .anomaly import warn_of
from .callbacks import engine
from .nodes import GradientEdge, edge_of, on_tensors, shown

One = Tensor | GradientEdge
_SINGLE = (Tensor, NativeEdge, Array)
K = TypeVar("K")


@overload
def grad(  # type: ignore[overload-overlap]
    outputs: One | Iterable[One],
    inputs: Mapping[K, One],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> dict[K, Tensor]: ...
@overload
def grad(
    outputs: One | Iterable[One],
    inputs: One | Iterable[One],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]: ...
def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Gradients of outputs with respect to inputs, summed over the outputs.

    Parameters
    ----------
    outputs : Tensor, GradientEdge, or sequence of them
    inputs : Tensor, GradientEdge, sequence of them, or dict of them
    grad_outputs : Tensor or sequence of Tensor or None
        More entries than outputs are ignored.
    retain_graph, create_graph, allow_unused, is_grads_batched, materialize_grads
        As in `arraygrad.grad`.
    only_inputs : bool
        Deprecated, and ignored with a FutureWarning.

    Returns
    -------
    tuple of Tensor, or dict of Tensor
        A dict for a dict of inputs; otherwise a tuple, also for a single input.
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs is deprecated and ignored: use torch.autograd.backward to accumulate "
            "gradients in other leaves",
            FutureWarning,
            stacklevel=2,
        )
    keys, wanted = _inputs(inputs)
    out = _outputs(outputs, "outputs")
    if is_transforming():
        _check_mapped((*out, *wanted))
    seeds = _seeds(out, grad_outputs, is_grads_batched, "grad_outputs")
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True"
        )
    edges = materialize_grads and any(isinstance(x, NativeEdge) for x in wanted)
    try:
        found = native.gradients(
            out,
            wanted,
            seeds,
            retain_graph,
            create_graph,
            bool(edges or materialize_grads or allow_unused),
            is_grads_batched,
            materialize_grads and not edges,
            tuple,
            bool(current_modes().keeps_written),
        )
    except Exception as error:
        _reword(error)
        raise
    gradients = tuple(map(wrap, found))
    if edges:
        gradients = tuple(map(_materialized, gradients, wanted))
    return gradients if keys is None else dict(zip(keys, gradients, strict=True))


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves, or of `inputs`."""
    out = _outputs(tensors, "tensors")
    wanted = None if inputs is None else _inputs(inputs, "backward")[1]
    seeds = _seeds(out, grad_tensors, False, "grad_tensors")
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True keeps the graph alive by the .grad of "
            "leaves: use autograd.grad, or set .grad to None afterwards",
            stacklevel=3,
        )
    # The gradient of a dual number's value: its tangent is not differentiated.
    out = [o.primal if isinstance(o, Dual) else o for o in out]
    names = "tensors[{}]", "grad_tensors[{}]"
    restores = bool(current_modes().keeps_written)
    given = out, seeds, retain_graph, create_graph, wanted, names, restores
    try:
        engine.run(native.backward_from, *given)
    except Exception as error:
        _reword(error)
        raise


def _reword(error: Exception) -> None:
    """Say an error of arraygrad in PyTorch's words."""
    if current_modes().anomaly is not None:
        warn_of(error)
    reword(error)


def _check_mapped(tensors: tuple[Any, ...]) -> None:
    for array in tensors:
        while isinstance(array, Array):
            if isinstance(array, Batched):
                raise RuntimeError(
                    "autograd.grad() with outputs or inputs that differ over the batch is called "
                    "inside torch.vmap: use torch.func.grad there"
                )
            array = array._array


def _inputs(inputs: Any, function: str = "grad") -> tuple[list[Any] | None, list[Any]]:
    """The keys of the inputs, or None if they are not a dict; and the inputs as a list."""
    keys = None
    wanted: Any
    if type(inputs) is list or type(inputs) is tuple:
        wanted = inputs
    elif _is_single(inputs):
        wanted = [inputs]
    elif type(inputs) is dict and function == "grad":
        keys, wanted = list(inputs), list(inputs.values())
    elif isinstance(inputs, Mapping) or not isinstance(inputs, Iterable):
        raise TypeError(
            f"inputs of {function}() must be a Tensor, a GradientEdge, or a sequence"
            f"{' or plain dict' if function == 'grad' else ''} of them, not "
            f"{type(inputs).__name__}"
        )
    else:
        wanted = list(inputs)
    if not wanted:
        raise RuntimeError(
            f"`inputs` argument to `{function}()` cannot be empty: inputs of {function}() is empty"
        )
    found = []
    for i, x in enumerate(wanted):
        if isinstance(x, Tensor) and type(x._t) is Native and x._t._node is not None:
            found.append(x._t)
            continue
        if not _is_single(x):
            raise RuntimeError(
                f"inputs[{i}] must be a Tensor or a GradientEdge, not {type(x).__name__}"
            )
        if isinstance(x, Tensor | Native) and not x.requires_grad:
            raise NoGradientError(
                "One of the differentiated Tensors does not require grad, so it appears to not "
                f"have been used in the graph: inputs[{i}] does not require gradients. Make it "
                "with requires_grad=True"
            )
        found.append(edge_of(x))
    return keys, found


def _is_single(value: Any) -> bool:
    return isinstance(value, _SINGLE)


def _outputs(outputs: Any, name: str) -> list[Any]:
    if type(outputs) is Tensor:
        return [outputs._t]
    kinds = "a Tensor, a GradientEdge or a sequence of them"
    found = several(outputs, _is_single(outputs), name, kinds)
    for i, output in enumerate(found):
        if not _is_single(output):
            # PyTorch raises AssertionError here, which its users may catch.
            raise AssertionError(
                f"{name}[{i}] must be a Tensor or a GradientEdge, not {type(output).__name__}"
            )
    return list(map(edge_of, found))


def _seeds(outputs: list[Any], given: Any, batched: bool, name: str) -> list[Any]:
    """One cotangent per output, with PyTorch's checks."""
    if len(outputs) == 1 and type(outputs[0]) is Native and not batched:
        array = outputs[0]._array
        if given is None and array.shape == () and array.dtype.kind == "f":
            return [None]
        if type(given) is Tensor and type(given._t) is Native:
            other = given._t._array
            if array.shape == other.shape and array.dtype == other.dtype:
                return [given._t]
    values: list[Any] = [None] * len(outputs)
    if given is not None:
        kinds = "a Tensor or a sequence of Tensors and None"
        values = several(given, isinstance(given, Tensor | Array), name, kinds)
    for i, (output, value) in enumerate(zip(outputs, values, strict=False)):
        _check_seed(output, value, batched, f"{name}[{i}]", i)
    if len(values) < len(outputs):
        raise RuntimeError(f"{name} has {len(values)} entries for {len(outputs)} outputs")
    return list(map(unwrap, values[: len(outputs)]))


def _materialized(gradient: Any, x: Any) -> Any:
    """A gradient, or zeros for an input that was not used."""
    if gradient is not None:
        return gradient
    if isinstance(x, NativeEdge):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge that is not "
            "used: it has no values in whose form zeros could be made"
        )
    return wrap(ops.zeros_like(x))


def _check_seed(output: Any, value: Any, batched: bool, name: str, i: int) -> None:
    place = output_node(*output) if isinstance(output, NativeEdge) else output
    if value is None:
        if isinstance(place, Array) and not is_recorded(place):
            return  # the sweep raises
        shape = tuple(place.shape)
        if not batched and math.prod(shape) != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs, and "
                f"outputs[{i}] has shape {shape}: pass {name}"
            )
        if not batched and place.dtype.kind == "c":
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs but got "
                f"{of_numpy(place.dtype)}: pass {name}"
            )
        if batched and math.prod(place.shape) != 1:
            raise RuntimeError(
                f"{name} is missing for an output of shape {tuple(place.shape)}: with "
                "is_grads_batched=True, pass cotangents with a batch axis in front"
            )
        return
    if not isinstance(value, Tensor | Array):
        raise TypeError(f"{name} must be a Tensor or None, not {type(value).__name__}")
    value = unwrap(value)
    found, wanted = tuple(value.shape), tuple(place.shape)
    if batched:
        if not found:
            raise IndexError(f"{name} is 0-d: with is_grads_batched=True it needs a batch axis")
        found = found[1:]
    if found != wanted:
        shapes = (
            f"grad_output[{i}] has a shape of {Size(value.shape)} and output[{i}] has a shape of "
            f"{Size(wanted)}."
        )
        if batched:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first axis of each grad_output as "
                f"the batch axis, the rest must be as in the output. Mismatch in shape: {shapes}"
            )
        raise RuntimeError(f"Mismatch in shape: {shapes}")
    backend = backend_of(value)
    if (backend.kind(value.dtype) == "c") != (backend.kind(place.dtype) == "c"):
        raise RuntimeError(
            f"For complex Tensors, grad_output[{i}] and output[{i}] are required to have the same "
            f"dtype, not {of_numpy(value.dtype)} and {of_numpy(place.dtype)}"
        )


# --- methods of tensors ---


def _get_grad(self: Tensor) -> Tensor | None:
    """The gradient that `backward` accumulated; None before."""
    array = self._t
    if not isinstance(array, Native):
        return None
    if getattr(array, "_grad", None) is None and not array.is_leaf and not array.retains_grad:
        warnings.warn(
            "the .grad of a tensor that is not a leaf is not kept by backward(): call "
            "retain_grad() on it first, or use autograd.grad",
            stacklevel=2,
        )
        return None
    found = getattr(array, "_grad", None)
    if found is None:
        return None
    known = getattr(self, "_g", None)
    if known is None or known._t is not found:
        known = self._g = wrap(found)
    return known  # type: ignore[no-any-return]


def _set_grad(self: Tensor, value: Tensor | None) -> None:
    if value is None:
        self._t.grad = None
        return
    if not isinstance(value, Tensor):
        raise TypeError(f"grad must be a Tensor or None, not {type(value).__name__}")
    if value is self:
        raise RuntimeError("a tensor cannot be its own gradient")
    array = value._t
    if isinstance(self._t, Native) and not isinstance(array, Native):
        raise RuntimeError("a value of a transform cannot be the .grad of a tensor from outside it")
    self._t.grad = array
    self._g = value


def _delete_grad(self: Tensor) -> None:
    self._t.grad = None


def _backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of this tensor to the `.grad` of the leaves."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def _register_hook(self: Tensor, hook: Any) -> RemovableHandle:
    """Call `hook(gradient)` when the gradient of this tensor has been computed."""
    if not is_recorded(self._t):
        raise RuntimeError("register_hook() needs a tensor that requires gradients")
    return self._t.register_hook(on_tensors(hook))  # type: ignore[no-any-return]


def _register_post_accumulate_grad_hook(self: Tensor, hook: Any) -> RemovableHandle:
    """Call `hook(tensor)` after `backward` has added to the `.grad` of this leaf."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")

    if not self.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")

    def call(array: Any) -> None:
        if hook(name_of(array)) is not None:
            raise RuntimeError("Tensor post accumulate grad hooks should return None.")

    return self._t.register_post_accumulate_grad_hook(call)  # type: ignore[no-any-return]


def _get_grad_fn(self: Tensor) -> Any:
    """The node of the op that made this tensor; None for a leaf."""
    if not isinstance(self._t, Native):
        return None
    try:
        return shown(self._t.grad_fn)
    except RuntimeError as error:
        how = self._how
        if how not in ("no_grad", "inference"):
            raise
        mode = "inference mode" if how == "inference" else "no_grad mode"
        raise RuntimeError(
            f"A view was created in {mode} and its base or another view of its base has been "
            f"modified inplace in normal mode: {error}"
        ) from error


attach(
    grad=property(_get_grad, _set_grad, _delete_grad),
    grad_fn=property(_get_grad_fn),
    backward=_backward,
    register_hook=_register_hook,
    register_post_accumulate_grad_hook=_register_post_accumulate_grad_hook,
)
