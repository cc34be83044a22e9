"""The kinds of ops. Each op declares its kind, which never changes.

A kind says how the elements of an op's results depend on the elements of its inputs. Code that
treats ops differently asks for the kind, never for the op's name. The kind decides

- how an op runs on a batch (`ops.batching`),
- the forward rule of ops that are linear or act element by element (`ops.forward`),
- which elements depend on which: for sparse derivatives (`arrays.spread`) and for overwritten
  elements (`sweep.liveness`),
- whether large arrays are computed in blocks (`backends.numpy.blocks`, `sweep.blocks`),
- how Dask's chunks are computed (`backends.dask.kernels`).

============  ============================================  ==================================
kind          an element of the result comes from           examples
============  ============================================  ==================================
Elementwise   the elements at the same place                ``sin``, ``add``, ``where``
Moves         one element at any place, or none             ``reshape``, ``concat``, ``take``
Reduces       a line: the elements along some axes          ``sum``, ``max``, ``var``
AlongAxis     a line; lines are independent of each other   ``sort``, ``softmax``, ``fft``
Contracts     sums of products                              ``matmul``
Matrices      the matrix in the last two axes               ``inv``, ``svd``
Opaque        anything                                      the user's functions
============  ============================================  ==================================

A string in a field is the name of one of the op's inputs or keywords.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, dataclass_transform

Names = tuple[str, ...]
View = Literal["", "always", "reshape", "index", "part"]


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False)
class _Record:
    """An object with the fields that its class lists.

    For type checkers it is a dataclass. The module `dataclasses` would write and compile functions
    for each class, which takes milliseconds.
    """

    def __init__(self, **fields: Any) -> None:
        known = self.fields()
        for name in fields:
            if name not in known:
                raise TypeError(f"{type(self).__name__}() has no field {name}, but {known}")
        vars(self).update(fields)
        for name in known:
            if not hasattr(self, name):
                raise TypeError(f"{type(self).__name__}() needs its field {name}")

    @classmethod
    def fields(cls) -> list[str]:
        """The names of the fields."""
        return [*dict.fromkeys(n for kind in cls.__mro__[-2::-1] for n in kind.__annotations__)]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a kind never changes, so {name} cannot be set")

    def __repr__(self) -> str:
        fields = [f"{name}={getattr(self, name)!r}" for name in self.fields()]
        return f"{type(self).__name__}({', '.join(fields)})"


class Kind(_Record):
    """Base of all kinds.

    Attributes
    ----------
    linear : bool or "each"
        True if the op is linear in all inputs that have rules together, "each" if it is linear in
        each of them while the others are fixed. A linear op is its own forward rule.
    flat : tuple of str, or "real"
        The inputs with respect to which the derivative is zero wherever it exists, as for `floor`.
        "real" if that holds for real numbers only, as for `sign`.
    """

    linear: bool | Literal["each"] = False
    flat: Names | Literal["real"] = ()

    @property
    def view(self) -> View:
        """Whether the result shares memory with the first input: then a write to one changes both.

        "always"; "reshape" if the layout of the input allows it; "part" if it is the real or
        imaginary part of complex numbers; "" for never.
        """
        return ""

    @property
    def overwrites(self) -> bool:
        """Whether the result may be independent of some elements of the inputs."""
        return False

    @property
    def keywords(self) -> Names:
        """The names of the op's keywords that the kind uses."""
        return ()


class Elementwise(Kind):
    """Each element of the result comes from the elements at the same place; inputs broadcast.

    Attributes
    ----------
    whole : tuple of str
        Inputs of which each element of the result needs all elements, such as the sorted array of
        `searchsorted`.
    real : bool
        Whether the result is real even for complex inputs, as for `abs`.
    part : {"real", "imag"} or None
        Which part of each element the result is a view of, if it is one.
    chooses : bool
        Whether the first input chooses for each element which other input the result takes. The
        elements that are not chosen count as overwritten.
    """

    whole: Names = ()
    real: bool = False
    part: Literal["real", "imag"] | None = None
    chooses: bool = False

    @property
    def view(self) -> View:
        return "" if self.part is None else "part"

    @property
    def overwrites(self) -> bool:
        return self.chooses


class Moves(Kind):
    """Each element of the result is one element of an input, or zero; with `adds`, also a sum.

    If `axis`, `shape`, `order`, `indices` and `template` are all empty, the op moves elements
    within the last two axes.

    Attributes
    ----------
    axis, shape, order : str or None
        The keywords for the axis or axes, for the shape of the result, and for the order of the
        axes.
    indices : tuple of str
        The inputs that are index arrays.
    template : str or None
        The keyword for the index, with holes for the index arrays; see `core.indices`.
    adds : bool
        Whether elements that move to the same place are added.
    inputs : {"own", "same", "broadcast"}
        Whether each input has a shape of its own, all inputs have the same number of axes, or the
        inputs are broadcast.
    shares : bool
        Whether the result may share memory with the first input.
    puts : bool
        Whether elements of the second input replace some elements of the first.
    """

    linear: bool | Literal["each"] = True
    axis: str | None = None
    shape: str | None = None
    order: str | None = None
    indices: Names = ()
    template: str | None = None
    adds: bool = False
    inputs: Literal["own", "same", "broadcast"] = "own"
    shares: bool = False
    puts: bool = False

    @property
    def view(self) -> View:
        if not self.shares:
            return ""
        if self.shape is not None and self.inputs == "own":
            return "reshape"
        return "always" if self.template is None else "index"

    @property
    def overwrites(self) -> bool:
        return self.puts

    @property
    def keywords(self) -> Names:
        return tuple(n for n in (self.axis, self.shape, self.order, self.template) if n)


class Reduces(Kind):
    """Each line becomes one number: the elements along some axes are combined.

    The op has the keywords `axis` (a tuple, or None for all axes; its name may differ) and
    `keepdims`.

    Attributes
    ----------
    axis : str
        The keyword for the axes.
    real : bool
        Whether the result is real even for complex inputs, as for `var`.
    """

    axis: str = "axis"
    real: bool = False

    @property
    def keywords(self) -> Names:
        return (self.axis, "keepdims")


class AlongAxis(Kind):
    """Each line becomes a line, independently of the other lines; several inputs broadcast.

    Attributes
    ----------
    axis : str
        The keyword for the axis, or for a tuple of axes.
    running : bool
        Whether an element depends only on the elements up to its place, as for `cumulative_sum`.
    symmetric : bool
        Whether the derivative equals its transpose. Then the reverse rule is also the forward rule.
    lengths : callable or None
        ``lengths(axes, **others)`` returns the lengths of the result along the axes, as a
        dictionary; `others` are the op's other keywords. None if the op keeps the lengths.
    """

    axis: str = "axis"
    running: bool = False
    symmetric: bool = False
    lengths: Callable[..., dict[int, int]] | None = None

    @property
    def keywords(self) -> Names:
        return (self.axis,)


class Contracts(Kind):
    """Sums of products of two inputs, linear in each.

    Attributes
    ----------
    labels : tuple of str, callable or None
        The keywords for the labels of the axes, as in ``einsum``: of the first input, the second
        input and the result. Or a function that returns the three labels, given the number of axes
        of each input; it may raise a ValueError for numbers that the op does not take. None if
        ``einsum`` cannot express the op.
    """

    linear: bool | Literal["each"] = "each"
    labels: Names | Callable[[int, int], tuple[str, str, str]] | None = None

    @property
    def keywords(self) -> Names:
        return self.labels if isinstance(self.labels, tuple) else ()


class Matrices(Kind):
    """Functions of the matrix in the last two axes. The axes before are a batch, and broadcast.

    Attributes
    ----------
    shapes : callable
        ``shapes(*shapes, **keywords)`` returns a tuple: the shapes of the results for one matrix
        from each input. `shapes` are the shapes of these matrices.
    """

    shapes: Callable[..., tuple[tuple[int, ...], ...]]


class Opaque(Kind):
    """Any element of the result may depend on any element of the inputs.

    Attributes
    ----------
    leading : bool
        Whether the op treats leading axes as a batch.
    shape_by_values : bool
        Whether the shape of the result depends on values, as for `nonzero`.
    """

    leading: bool = False
    shape_by_values: bool = False


KINDS = (Elementwise, Moves, Reduces, AlongAxis, Contracts, Matrices, Opaque)
