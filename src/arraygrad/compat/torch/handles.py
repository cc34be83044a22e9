"""`Tensor`: PyTorch's tensor, which is a name for an array of arraygrad.

The array is a tensor of arraygrad or, inside a transform, one of its batched or dual arrays. That
the name and the array are two objects costs a tenth of a microsecond for each op. It lets PyTorch's
methods mean what they mean in PyTorch (`x.size()`, `x.transpose(0, 1)`, `x.dtype`), and lets a
tensor change its array: by `x.data = y`, `x.t_()`, or when a dual number is written into it.

Here is what all tensors need: to get at the array, and its place in the graph. Methods that compute
are attached in `methods`.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays.batched import Batched
from ...arrays.creation import asarray
from ...arrays.dual import Dual
from ...arrays.tensor import Tensor as Native
from ...arrays.tensor import tensor_type, tensor_type_at
from ...autograd.forward_ad import open_levels
from ...core.array import Array
from ...core.levels import in_flight
from ...core.nodes import recorder
from ..operators import Operators
from .dtypes import Size, device, dtype, no_gradients, numpy_of, of_numpy
from .inside import refuse_inside

new = object.__new__


class Tensor(Operators):
    """An array with PyTorch's methods, which can be differentiated."""

    __slots__ = ("__dict__", "__weakref__", "_g", "_of", "_t")
    _t: Any  # the array: a tensor of arraygrad, or a batched or dual array
    _g: Tensor  # the tensor that `grad` returned last
    _of: Tensor  # the tensor that this one is a view of
    # Set on few, and read often: how a view was made, if that matters (see `views`), and the
    # views that were taken of this tensor.
    _how: str | None = None
    _taken: list[weakref.ref[Tensor]] | None = None
    _bumps = 0  # how many more writes there were than to the present memory
    __array_priority__ = 2000
    __guarded__ = ("_t",)  # what a compiled function that uses the tensor looks at before each call

    if TYPE_CHECKING:  # the methods that `methods` attaches
        data: Any
        grad: Any
        grad_fn: Any

        def __init__(self, *data: Any, **keywords: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, key: Any) -> Tensor: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...

    # --- shape and type ---

    @property
    def native(self) -> Any:
        """The array of arraygrad that this tensor is a name for."""
        return self._t

    @property
    def shape(self) -> Size:
        """The lengths of the axes."""
        return Size(self._t.shape)

    @property
    def dtype(self) -> dtype:
        """The type of the elements."""
        return of_numpy(self._t.dtype)

    @property
    def device(self) -> device:
        """Where the tensor is: on the CPU."""
        return _CPU

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self._t.ndim)

    @property
    def layout(self) -> str:
        """How the elements are stored: all of them, in equal steps."""
        return "torch.strided"

    is_cuda = is_sparse = is_quantized = is_meta = is_mkldnn = is_mps = is_nested = False
    is_cpu = True
    names = None

    def size(self, dim: int | None = None) -> Any:
        """The lengths of all axes, or of one."""
        return self.shape if dim is None else self.shape[checked(dim, self.ndim)]

    def dim(self) -> int:
        """The number of axes."""
        return int(self._t.ndim)

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return self.shape.numel()

    nelement = numel

    def element_size(self) -> int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.numel() * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    def is_floating_point(self) -> bool:
        """Whether the elements are real floating-point numbers."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether elements can be negative."""
        return self.dtype.is_signed

    def get_device(self) -> int:
        """-1: the tensor is on the CPU."""
        return -1

    def __len__(self) -> int:
        if not self._t.ndim:
            raise TypeError("len() of a 0-d tensor")
        return int(self._t.shape[0])

    def __hash__(self) -> int:
        return id(self)

    def __dir__(self) -> list[str]:
        hidden = ("_g", "_of")  # set on few tensors
        return [name for name in object.__dir__(self) if name not in hidden]

    # --- Python's values ---

    def item(self) -> Any:
        """The only element as a Python number."""
        try:
            return _number_of(self._t)
        except (TypeError, ValueError) as error:
            raise RuntimeError(str(error)) from error

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers."""
        return asarray(self._t).tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """The values as a NumPy array, on the same memory."""
        array = self._t.detach() if force else self._t
        if not isinstance(array, Native):
            raise RuntimeError(
                f"numpy() on a {type(array).__name__} array: there are no plain values inside a "
                "transform"
            )
        if is_recorded(array) and recorder() is not None:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                "instead."
            )
        with as_torch_raises():
            return array.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.numpy().__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False
    ) -> Tensor:
        return wrap(asarray(array))  # type: ignore[no-any-return]  # np.sin(t) is a tensor

    def __bool__(self) -> bool:
        if isinstance(self._t, Batched):
            raise RuntimeError(
                "vmap: It looks like you're attempting to use a Tensor in some data-dependent "
                "control flow: use torch.where, or take the decision outside vmap"
            )
        with as_torch_raises(TypeError):
            return bool(self._t)

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        with as_torch_raises(TypeError):
            return float(self._t if isinstance(self._t, Native) else self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype.kind not in "biu":
            raise TypeError("only integer tensors of a single element can be an index")
        return int(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.item() if not self._t.ndim else str(self), spec)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._t.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    # --- its place in the graph ---

    @property
    def requires_grad(self) -> bool:
        """Whether what is computed from this tensor can be differentiated."""
        return is_recorded(self._t)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("Deleting tensor.requires_grad is not possible: set it to False")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make this tensor one that gradients are computed for, or stop that."""
        refuse_inside("Tensor.requires_grad_() (or torch.autograd.functional.*)")
        return self._require(requires_grad)

    def _require(self, requires_grad: bool = True) -> Tensor:
        array = self._t
        if not isinstance(array, Native) and requires_grad and not is_recorded(array):
            array = self._t = tensor_type(array)(array)
        if isinstance(array, Native):
            if requires_grad and is_recorded(array):
                return self
            if requires_grad and array.dtype.kind not in "fc":
                raise no_gradients(
                    "only Tensors of floating point and complex dtype can require gradients",
                    self.dtype,
                )
            array.requires_grad_(requires_grad)
            remember(self)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op made this tensor."""
        return not isinstance(self._t, Native) or self._t.is_leaf

    @property
    def output_nr(self) -> int:
        """Which of its op's outputs this tensor is."""
        return self._t.output_nr if isinstance(self._t, Native) else 0

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this tensor that is no leaf."""
        return isinstance(self._t, Native) and self._t.retains_grad

    def retain_grad(self) -> None:
        """Have `backward` keep the gradient of this tensor, which is no leaf."""
        refuse_inside("Tensor.retain_grad()")
        self._t.retain_grad()

    def detach(self) -> Tensor:
        """The same values on the same memory, cut off from the graph."""
        made = wrap(self._t.detach())
        made._of = self
        return made  # type: ignore[no-any-return]

    def detach_(self) -> Tensor:
        """Cut this tensor itself off from the graph."""
        if isinstance(self._t, Native):
            self._t.detach_()
        else:
            self._t = asarray(self._t.detach())
        return self

    def is_inference(self) -> bool:
        """Whether it was made under `inference_mode`."""
        return isinstance(self._t, Native) and self._t.is_inference

    @property
    def _version(self) -> int:
        if self.is_inference():
            raise RuntimeError("Inference tensors do not track version counter.")
        own = self._t._version if isinstance(self._t, Native) else 0
        return int(own + self._bumps)

    @property
    def _base(self) -> Tensor | None:
        base = self._t._base if isinstance(self._t, Native) else None
        return None if base is None else name_of(base, self)

    def _is_view(self) -> bool:
        array = self._t
        return isinstance(array, Native) and array._base is not None and not array.is_inference


def attach(**members: Any) -> None:
    """Give `Tensor` methods, or other members, that other modules define."""
    for name, member in members.items():
        setattr(Tensor, name, member)


_CPU = device("cpu")


def checked(dim: int, ndim: int) -> int:
    """An axis counted from the front."""
    span = max(ndim, 1)
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise TypeError(f"dim must be an int, not {type(dim).__name__}")
    if not -span <= dim < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got "
            f"{dim})"
        )
    return int(dim) % span


def _number_of(array: Any) -> Any:
    """The number in a dual array; what differs over a batch has none."""
    if isinstance(array, Dual):
        return _number_of(array.primal)
    if isinstance(array, Batched):
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor that differs over the batch: "
            "keep it a tensor, or take it outside vmap"
        )
    return array.item()


def is_recorded(array: Any) -> bool:
    """Whether an array, or one inside it, has a place in a graph."""
    while isinstance(array, Array):
        if isinstance(array, Native) and array._node is not None:
            return True
        if isinstance(array, Dual) and is_recorded(array.tangent):
            return True
        array = array._array
    return False


# --- from arrays to names and back ---------------------------------------------------------------

# The names of leaves, by the number of their array: a gradient finds the tensor that the user has.
_names: dict[int, weakref.ref[Tensor]] = {}


def remember(tensor: Tensor) -> None:
    """Have `name_of` find this tensor by its array."""
    key = id(tensor._t)
    _names[key] = weakref.ref(tensor, lambda dead: _forget(key, dead))


def _forget(key: int, dead: Any) -> None:
    if _names.get(key) is dead:
        del _names[key]


def name_of(array: Any, near: Tensor | None = None) -> Tensor:
    """The tensor that the user has for an array: of a leaf, or that `near` is a view of."""
    reference = _names.get(id(array))
    known = None if reference is None else reference()
    if known is not None and known._t is array:
        return known
    while near is not None:
        if near._t is array:
            return near
        near = getattr(near, "_of", None)
    made = wrap(array)
    remember(made)
    return made  # type: ignore[no-any-return]


def wrap(value: Any) -> Any:
    """The arrays in a result as tensors."""
    if isinstance(value, Array):
        made = new(Tensor)
        made._t = value
        return made
    if isinstance(value, np.ndarray | np.generic):
        made = new(Tensor)
        made._t = asarray(value)
        return made
    kind = type(value)
    if kind is tuple or kind is list:
        return kind(map(wrap, value))
    if kind is dict:
        return {key: wrap(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*map(wrap, value))
    return value


def unwrap(value: Any) -> Any:
    """The tensors and dtypes in an argument as those of arraygrad."""
    if isinstance(value, Tensor):
        return value._t
    kind = type(value)
    if kind is tuple or kind is list:
        return kind(map(unwrap, value))
    if kind is dict:
        return {key: unwrap(item) for key, item in value.items()}
    if kind is dtype:
        return numpy_of(value)
    if isinstance(value, slice):
        return slice(*map(unwrap, (value.start, value.stop, value.step)))
    return value


class as_torch_raises:  # noqa: N801  (it is used like a function)
    """Turn ValueErrors, and other errors that are named, into the RuntimeErrors PyTorch raises."""

    __slots__ = ("_kinds",)

    def __init__(self, *others: type[Exception]) -> None:
        self._kinds: tuple[type[Exception], ...] = (ValueError, *others)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, self._kinds):
            raise RuntimeError(str(error)) from error


def origin_of(array: Any) -> Any:
    """What an array is a view of, and by which steps; None if it is no view."""
    return getattr(array, "_view", None)


def lift(tensor: Tensor, value: Any) -> None:
    """Give a tensor an array of the transform of `value`, so that this can be written into it.

    The tensor that it is a view of gets one, too, and with it all of its views.
    """
    array = tensor._t
    if not isinstance(value, Array) or value.level <= array.level:
        return
    origin = origin_of(array)
    if origin is not None:
        base = name_of(origin.base, tensor)
        lift(base, value)
        if base._t is not origin.base:
            _follow(tensor, origin.base, base._t)
        return
    lift(tensor, value._array)
    array = tensor._t
    if isinstance(value, Dual | Native) and value.level > array.level:
        _check_own(array, value)
    if isinstance(value, Dual):
        tensor._t = type(value)(array, array * 0)
    elif isinstance(value, Native) and value.level > array.level:
        tensor._t = tensor_type_at(value.level)(array)
    # One tensor cannot hold a whole batch: the write will say so.
    if tensor._t is not array:
        _follow_all(tensor, array, tensor._t)


def note_birth(result: Any, args: tuple[Any, ...]) -> None:
    """Remember that a constant was made inside a transform: it may be written there.

    A function may also give the array of one of its arguments.
    """
    if isinstance(result, Native):
        given = any(isinstance(a, Tensor) and a._t is result for a in args)
        if result._node is None and result._view is None and not given:
            result._born = in_flight()
    elif isinstance(result, tuple | list):
        for part in result:
            note_birth(part, args)


def _check_own(array: Any, value: Any) -> None:
    """Raise if a value of a transform would be written into a tensor from outside it."""
    if getattr(array, "_born", 0) >= int(value.level):
        return
    if any(value.level == opened.level for opened in open_levels()):
        return  # a level of `forward_ad`: a tensor gets a tangent there
    raise RuntimeError(
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call "
        "in-place operation that would mutate a captured Tensor. This is not supported: the value "
        "would outlive the transform. Pass the tensor as an argument and return it, or write to a "
        "clone() of it"
    )


def _follow_all(tensor: Tensor, before: Any, now: Any) -> None:
    """Make all views of a tensor views of another array."""
    for reference in tensor._taken or ():
        view = reference()
        if view is not None:
            _follow(view, before, now)
            _follow_all(view, before, now)


def _follow(view: Tensor, before: Any, now: Any) -> None:
    """Make a view of one array the same view of another."""
    origin = origin_of(view._t)
    if origin is not None and origin.base is before:
        for step, keywords in origin.steps:
            now = step(now, **keywords)
        view._t = now
