"""`Tensor`: an array that records what is done with it, so that it can be differentiated."""

from __future__ import annotations

import copy
import functools
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy import generic, ndarray

from .. import ops
from ..backends import backend_of
from ..core import upward
from ..core.array import AnyFunction, Array, is_transformed
from ..core.indices import at
from ..core.modes import current_modes, note_gradient, stand_in_for
from ..core.nodes import (
    RECORDER,
    STAGE,
    Leaf,
    Node,
    RemovableHandle,
    public_edge,
    record,
    recorder,
)
from ..errors import NoGradientError
from ..ops.indexing import _getitem
from ..ops.regions import Step
from ..ops.writing import detached
from .methods import ArrayMethods
from .numbers import (
    check_not_in_scipy,
    check_not_refused,
    check_not_stored,
    is_drawn,
)
from .recording import Recording
from .writes.tensors import TensorInPlace, keep_retaining
from .writes.views import PartOf, is_shared, is_view, refuse_unsure

if TYPE_CHECKING:
    from numpy.typing import NDArray

new = object.__new__


class Tensor(Recording, TensorInPlace, ArrayMethods):
    """An array of any library, and the place of its value in the graph.

    Made by `arraygrad.tensor` and `arraygrad.asarray`, and by every op on tensors.

    A tensor that requires gradients is either a *leaf*, made by the user, or the result of an op,
    in which case `grad_fn` is the node that stands for that op.

    Parameters
    ----------
    array : array
        The values. Users call `arraygrad.tensor`, which checks and copies them.
    node : Node, optional
        The place in the graph.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> ag.grad((x * x).sum(), x)
    tensor([2., 4.])
    """

    # Few tensors have the attributes from `_born` to `_made`: they are read by `getattr`.
    __slots__ = (
        "__weakref__", "_array", "_born", "_family", "_fixed", "_grad", "_leaf", "_made", "_node",
    )  # fmt: skip
    _node: Node | None
    _grad: Tensor | None
    _leaf: Leaf | None
    _born: int  # the level of the transform that it was made in
    _fixed: bool  # whether only a node refers to it, so that nobody writes to it
    _made: bool  # whether it is a NumPy array that no user brought
    level: ClassVar[float] = 0.5
    is_inference: ClassVar[bool] = False

    def __init__(self, array: Any, node: Node | None = None) -> None:
        if not hasattr(array, "shape"):
            raise TypeError(
                f"a Tensor wraps an array, not {type(array).__name__}: use arraygrad.tensor()"
            )
        self._array = array
        self._node = node

    @classmethod
    def _bare(cls, out: Any, multiple: bool = False) -> Any:
        """A result that is not recorded."""
        made: type[Tensor] = cls._recorded
        if made is Tensor and current_modes().inference:
            made = InferenceTensor
        return tuple(map(made, out)) if multiple else made(out)

    @classmethod
    def _leaf_over(cls, array: Any) -> Tensor:
        """A leaf of a transform, over an array that is known to have floating-point numbers."""
        if type(array) is not ndarray:
            backend_of(array).check_leaf(ops.plain(array))
        tensor = cls(array)
        tensor._leaf = tensor._node = Leaf(tensor, cls)
        return tensor

    @staticmethod
    def _inferred(array: Any) -> Tensor:
        """A tensor that never takes part in differentiation."""
        return InferenceTensor(array)

    # --- the plain array, and Python numbers ---

    @property
    def array(self) -> Any:
        """The plain array: not a copy, and without its place in the graph."""
        if isinstance(self._array, generic):
            self._array = np.asarray(self._array)
        return self._array

    def numpy(self) -> NDArray[Any]:
        """The values as a NumPy array.

        A tensor that requires gradients must be detached first, unless nothing is recorded.
        """
        if self.requires_grad and recorder() is not None:
            raise NoGradientError(
                "numpy() on a tensor that requires gradients would cut it off from them: call "
                "detach().numpy() if that is meant"
            )
        plain: NDArray[Any] = backend_of(self).to_numpy(_readable(self))
        return plain

    # With no particular dtype: else checkers would take the type of `ndarray @ tensor` from NumPy.
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.generic]:
        if self.requires_grad and not is_drawn():
            check_not_in_scipy()
            raise NoGradientError(
                "a tensor that requires gradients cannot become a NumPy array without losing "
                "them: join tensors by numpy.stack() rather than numpy.array(), write to a tensor, "
                "as ag.zeros() gives, rather than to a NumPy array, or call detach() first if that "
                "is meant"
            )
        if is_transformed(self._array):
            check_not_in_scipy()
            raise TypeError(f"{type(self._array).__name__} has no plain values inside a transform")
        plain = backend_of(self).to_numpy(_readable(self))
        return np.array(plain, dtype=dtype, copy=copy)

    def _exported(self) -> Any:
        if self.requires_grad:
            raise BufferError(
                "a tensor that requires gradients cannot be exported by DLPack without losing "
                "them: call detach() first if that is meant"
            )
        array = _readable(self)
        return array._exported() if isinstance(array, Array) else array  # type: ignore[attr-defined]

    def item(self) -> Any:
        """The only element as a Python number."""
        if self.size != 1:
            raise ValueError(f"item() is for tensors with one element, this one has {self.size}")
        x = stand_in_for(self)
        array = x._array if isinstance(x, Tensor) else x
        if isinstance(array, (ndarray, generic)):
            return array.item()
        return backend_of(x).item(ops.plain(x))

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers."""
        x = stand_in_for(self)
        return backend_of(x).to_numpy(ops.plain(x)).tolist()

    def _number(self, kind: type) -> Any:
        if self.size != 1:
            raise TypeError(
                f"{kind.__name__}() is for tensors with one element, this one has {self.size}"
            )
        if self._node is not None and kind is not bool and not is_drawn():
            check_not_stored(2)
            check_not_refused(kind)
            check_not_in_scipy()
            warnings.warn(
                f"{kind.__name__}() of a tensor that requires gradients cuts the number off from "
                "them: use item(), or detach() first, if that is meant",
                stacklevel=3,
            )
        return kind(self._array) if isinstance(self._array, Array) else kind(self.item())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth of a tensor with {self.size} elements is ambiguous: use any() or all()"
            )
        return bool(self._number(bool))

    def __int__(self) -> int:
        return int(self._number(int))

    def __float__(self) -> float:
        return float(self._number(float))

    def __complex__(self) -> complex:
        return complex(self._number(complex))

    def __index__(self) -> int:
        if self.ndim or backend_of(self).kind(self.dtype) not in "bi":
            raise TypeError("only a 0-d tensor of integers can be used as an index")
        return int(self._number(int))

    def like(self, array: Any, node: Node | None = None) -> Tensor:
        """A tensor of the same level and kind over another array, which is no view."""
        made = InferenceTensor if self.is_inference else tensor_type_at(self.level)
        return made(array, node)

    constant = like

    # --- views ---

    def _as_view(self, step: Step, result: Any) -> Any:
        """The result of a step on this tensor, as a view of it, if it is one."""
        return self._shared(step, self._array, result._array, result._node)

    def _as_slices(self, axis: int, parts: tuple[Any, ...]) -> tuple[Any, ...]:
        """The slices of this tensor along an axis, as views of it."""
        return tuple(
            self._as_view((_getitem, {"template": at(i, axis, self.ndim)}), part)
            for i, part in enumerate(parts)
        )

    def _shared(self, step: Step, source: Any, array: Any, node: Node | None) -> Any:
        """The result of a step on this tensor's array `source`: a view, or a tensor of its own."""
        function, params = step
        op = function.op  # type: ignore[attr-defined]
        if op.view == "index" and not (array.shape or Ellipsis in params["template"]):
            return self.like(array[()] if isinstance(array, ndarray) else array, node)  # an item
        shares: bool | None
        base = source if self._view is None else self._view.base._array
        if isinstance(array, ndarray) and isinstance(base, ndarray) and base.flags.c_contiguous:
            shares = is_shared(source, array)
        else:
            shares = is_view(op, self, params, array)
        if shares is False:
            return self.like(array, node)
        part = PartOf(self, step)
        if shares is None:
            part.is_unsure = part.family.has_unsure = True
        view = new(_InferenceView if self.is_inference else view_type_at(self.level))
        view._view = part
        view._array_now = array
        view._node_now = node
        if part.family.views is not None:
            part.family.add(view)
        return view

    def _move_to_level(self, level: float) -> None:
        """Make this tensor, which is in no graph, and its views tensors of a higher level."""
        self.__class__ = tensor_type_at(level)
        family = getattr(self, "_family", None)
        for view in () if family is None else family.alive():
            view.__class__ = view_type_at(level)

    # --- its place in the graph ---

    @property
    def requires_grad(self) -> bool:
        """Whether ops on this tensor are recorded."""
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start, or stop, recording what is done with this leaf. Returns the tensor itself."""
        if not self.is_leaf:
            if requires_grad:
                return self  # it does already
            raise RuntimeError(
                "requires_grad can only be changed on a leaf; this tensor is the result of "
                f"{self._node!r}: use detach() to get one that is cut off"
            )
        family = getattr(self, "_family", None)
        if family is not None:  # views take their places in the graph from it anew
            family.stamp += 1
        if not requires_grad:
            self._node = None
        elif self._node is None:
            check_differentiable(self._array)
            if self.is_inference and not current_modes().inference:
                raise RuntimeError(
                    "an inference tensor cannot require gradients outside inference_mode: "
                    "clone() it first"
                )
            self._leaf = getattr(self, "_leaf", None) or Leaf(self, tensor_type(self._array))
            self._node = self._leaf
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user rather than recorded as an op's result."""
        return self._node is None or isinstance(self._node, Leaf)

    @property
    def grad_fn(self) -> Node | None:
        """The node of the op that made this tensor; None for a leaf."""
        if self._node is None or isinstance(self._node, Leaf):
            return None
        return public_edge(self._node).node

    @property
    def output_nr(self) -> int:
        """Which of its op's outputs this tensor is."""
        return 0 if self._node is None else public_edge(self._node).output_nr

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward()` accumulated; None before."""
        kept: Tensor | None = getattr(self, "_grad", None)
        note_gradient(self, kept)
        if kept is None and not self.is_leaf and not self.retains_grad:
            warnings.warn(
                "the .grad of a tensor that is not a leaf is not kept by backward(): call "
                "retain_grad() on it first, or use grad()",
                stacklevel=2,
            )
        return kept

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is None:
            self._grad = None
            return
        if not isinstance(value, Tensor):
            raise TypeError(f"grad must be a Tensor or None, not {type(value).__name__}")
        if value is self:
            raise RuntimeError("a tensor cannot be its own gradient")
        if value.shape != self.shape or value.dtype != self.dtype:
            raise RuntimeError(
                f"grad has shape {value.shape} and dtype {value.dtype}, but the tensor has shape "
                f"{self.shape} and dtype {self.dtype}"
            )
        self._grad = value

    def retain_grad(self) -> None:
        """Have `backward()` keep this tensor's gradient in `.grad` although it is no leaf."""
        if self._node is None:
            raise NoGradientError(
                "retain_grad() needs a tensor that requires gradients: nothing this one was "
                "computed from does"
            )
        if not self.is_leaf:
            self._node.extra().retained = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad()` was called on this tensor that is not a leaf."""
        extras = None if self._node is None else self._node.extras
        return extras is not None and extras.retained is not None

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor to the `.grad` of the leaves. See `autograd.backward`.

        Examples
        --------
        >>> import arraygrad as ag
        >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        names = "this tensor", "gradient"
        seeds = None if gradient is None else [gradient]
        upward.backward_from([self], seeds, retain_graph, create_graph, inputs, names)

    def detach(self) -> Tensor:
        """A tensor on the same array, cut off from the graph.

        Inside transforms it is cut off from all of them.
        """
        array = self.array
        if isinstance(array, ndarray):
            return self.like(array)
        constant = self.like(array.detach() if isinstance(array, Array) else array)
        if isinstance(constant._array, ndarray):
            return constant
        # There is no memory to share: a write has to find its way to the values of this tensor.
        return self._shared((detached, {}), array, constant._array, None)  # type: ignore[no-any-return]

    def over(self, function: AnyFunction) -> Tensor:
        return self.like(function(self._array), self._node)

    def clone(self) -> Tensor:
        """A copy of the array, still in the graph."""
        copied: Tensor = ops.copy(self)
        return copied

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call `hook(gradient)` whenever this tensor's total gradient has been computed.

        What the hook returns, unless None, takes the gradient's place.

        Examples
        --------
        >>> import arraygrad as ag
        >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
        >>> handle = x.register_hook(lambda g: 10 * g)
        >>> ag.grad((x * x).sum(), x)
        tensor([20., 40.])
        >>> handle.remove()
        """
        if self._node is None:
            raise NoGradientError(
                "register_hook() needs a tensor that requires gradients: call requires_grad_() "
                "first"
            )
        return RemovableHandle(self._node.extra().hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call `hook(tensor)` after `backward()` has added to this leaf's `.grad`."""
        if self._node is None:
            raise NoGradientError(
                "register_post_accumulate_grad_hook() needs a tensor that requires gradients: call "
                "requires_grad_() first"
            )
        if not isinstance(self._node, Leaf):
            raise RuntimeError(
                "post-accumulate hooks belong to leaves, and this tensor is the result of an op: "
                "use register_hook()"
            )
        return RemovableHandle(self._node.accumulated, hook)

    # --- values that are not computed yet ---

    def compute(self, **keywords: Any) -> Tensor:
        """The tensor over the values of a lazy array, as a constant; see `arraygrad.compute`."""
        computed: Tensor = upward.compute(self, **keywords)[0]
        return computed

    def persist(self, **keywords: Any) -> Tensor:
        """The same tensor, with its array kept computed; see `arraygrad.persist`."""
        persisted: Tensor = upward.persist(self, **keywords)[0]
        return persisted

    # --- other ---

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """The tensor on another device."""
        moved: Tensor = ops.to_device(self, device, stream=stream)
        return moved

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self._is_transformed:
            return self.clone()
        self._check_copy("deepcopy")
        copied = self.like(ops.copy(self.array))
        memo[id(self)] = copied
        if self.requires_grad:
            copied.requires_grad_()
        if self.grad is not None:
            copied.grad = copy.deepcopy(self.grad, memo)
        return copied

    def __copy__(self) -> Tensor:
        """For a leaf, another leaf on the same array; else a copy like NumPy's, as `clone()`."""
        if self._is_transformed or not self.is_leaf:
            return self.clone()
        copied = self.like(self.array)
        if self.requires_grad:
            copied.requires_grad_()
        copied.grad = self.grad
        return copied

    def __reduce__(self) -> Any:
        if self._is_transformed:
            raise TypeError(
                "cannot pickle a tensor that stands for values inside a transform: use clone() to "
                "copy it, or detach() to pickle its values"
            )
        self._check_copy("pickle")
        return _rebuild, (self.array, self.requires_grad, self.grad)

    @property
    def _is_transformed(self) -> bool:
        """Whether a transform differentiates it: a leaf in its place would get no derivative."""
        return self.level == int(self.level) and self.requires_grad

    def _check_copy(self, what: str) -> None:
        if not self.is_leaf:
            raise RuntimeError(
                f"cannot {what} a tensor that is the result of an op: detach() it first, or use "
                "clone() for a copy with its gradients"
            )

    def __repr__(self) -> str:
        return _describe(self)

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        return upward.tensor_html(self)  # type: ignore[no-any-return]

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self.size != 1:
            raise TypeError(
                f"a tensor with {self.size} elements cannot be formatted as {spec!r}: format its "
                "elements, or leave the format out"
            )
        return format(self.item(), spec)


Tensor._recorded = Tensor


class InferenceTensor(Tensor):
    """A tensor made under `inference_mode`: it never takes part in differentiation."""

    __slots__ = ()
    is_inference: ClassVar[bool] = True


class View(Tensor):
    """A tensor that shares its memory with a base: writes to either show in both.

    Its place in the graph follows from the base's, and is found anew after the base, or another
    view of it, was written.
    """

    __slots__ = ("_array_now", "_node_now", "_view")
    _array_now: Any
    _node_now: Node | None
    _view: PartOf

    @property
    def _node(self) -> Node | None:
        view = self._view
        if view.seen != view.family.stamp:
            self._refresh()
        return self._node_now

    @_node.setter
    def _node(self, node: Node | None) -> None:
        self._node_now = node

    @property
    def _array(self) -> Any:
        view = self._view
        if view.seen != view.family.stamp:
            if type(view.base._array) is not ndarray or view.is_unsure:
                self._refresh()
        return self._array_now

    @_array.setter
    def _array(self, array: Any) -> None:
        self._array_now = array

    def _refresh(self) -> None:
        """Follow the steps from the base again."""
        view = self._view
        if view.is_unsure:
            refuse_unsure("the tensor cannot be used after its base was written")
        if view.unrecorded is not None and view.unrecorded != view.family.recorded:
            if recorder() is not None:
                raise RuntimeError(
                    "the tensor is a view that was made under no_grad(), and its base has since "
                    "been written by an operation that is differentiated: whether that should "
                    "show in the view's gradient is not clear. Make the view outside no_grad()"
                )
        value: Any = view.base
        node = None if view.unrecorded is not None else value._node
        own_leaf = node is None and isinstance(self._node_now, Leaf)
        base = tensor_type_at(self.level)(value._array, node)
        before = RECORDER.get(), STAGE.get()
        try:
            RECORDER.set(record)
            STAGE.set(record)
            for function, keywords in view.steps:
                base = function(base, **keywords)
        finally:
            RECORDER.set(before[0])
            STAGE.set(before[1])
        if not own_leaf:
            keep_retaining(self, self._node_now, base._node)
            self._node_now = base._node
        if type(value._array) is not ndarray:  # not written but replaced
            self._array_now = base._array
        if view.unrecorded is None or view.unrecorded == view.family.recorded:
            view.seen = view.family.stamp


class _InferenceView(View):
    """A view of a tensor that was made under `inference_mode`."""

    __slots__ = ()
    is_inference: ClassVar[bool] = True


@functools.cache
def tensor_type_at(level: float) -> type[Tensor]:
    """The type of tensors at a level: `Tensor` itself for those over plain arrays."""
    if level == Tensor.level:
        return Tensor
    made = type("Tensor", (Tensor,), {"__slots__": (), "level": level})
    made._recorded = made  # type: ignore[attr-defined]
    return made


@functools.cache
def view_type_at(level: float) -> type[View]:
    """The type of views at a level."""
    members = {"__slots__": (), "level": level, "_recorded": tensor_type_at(level)}
    return type("Tensor", (View,), members)


def tensor_type(array: Any) -> type[Tensor]:
    """The type of a tensor over `array`: one half-level above it."""
    return tensor_type_at(array.level + 0.5) if is_transformed(array) else Tensor


def check_differentiable(array: Any) -> None:
    """Raise unless the array holds real or complex floating-point numbers."""
    if backend_of(array).kind(array.dtype) not in "fc":
        raise TypeError(
            f"only floating-point and complex tensors can require gradients, not {array.dtype}: "
            "pass dtype=, or convert with astype()"
        )
    backend_of(array).check_leaf(ops.plain(array))


def _rebuild(array: Any, requires_grad: bool, grad: Tensor | None) -> Tensor:
    tensor = Tensor(array)
    if requires_grad:
        tensor.requires_grad_()
    tensor.grad = grad
    return tensor


def _readable(tensor: Tensor) -> Any:
    """The array of a tensor, for Python and other libraries to read."""
    array = stand_in_for(tensor).array
    return array.concrete() if isinstance(array, Array) else array


def _describe(tensor: Tensor) -> str:
    array = tensor.array
    if isinstance(array, Array):
        array = array.concrete()
    if isinstance(array, ndarray):
        values = np.array2string(array, separator=", ", prefix="tensor(")
        parts = [values]
        if not array.size and array.shape != (0,):
            parts.append(f"shape={array.shape}")
        shown = (np.float64, np.int64, np.bool_, np.complex128)  # by what the values look like
        if array.dtype not in (shown if array.size else shown[:1]):
            parts.append(f"dtype={array.dtype}")
    else:
        parts = [repr(array)]
    if tensor.grad_fn is not None:
        parts.append(f"grad_fn={tensor.grad_fn!r}")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return f"tensor({', '.join(parts)})"


def _built_when_used(name: str, function: Any) -> AnyFunction:
    """The method for an operator: its code is written by the first call."""
    build = functools.cache(lambda: Tensor.operator(function))

    def operator(x: Any, y: Any, /) -> Any:
        setattr(Tensor, name, build())
        return build()(x, y)

    return operator


for _name, _function in {
    "__add__": ops.add,
    "__sub__": ops.subtract,
    "__mul__": ops.multiply,
    "__truediv__": ops.divide,
    "__pow__": ops.pow,
}.items():
    setattr(Tensor, _name, _built_when_used(_name, _function))
