"""What an op is: its kind, a value that is declared with the op and never changes.

A kind says how the elements of an op's results depend on those of its inputs. Whatever works on ops
asks for the kind, never for a name. From it follow

- how an op runs on a batch (`ops.batching`),
- its forward rule, where it is linear or acts element by element (`ops.forward`),
- which elements depend on which: sparse derivatives (`arrays.spread`), and what was overwritten
  (`sweep.liveness`),
- whether large arrays are computed in blocks (`backends.numpy.blocks`, `sweep.blocks`),
- how Dask's chunks are computed (`backends.dask.kernels`).

============  ============================================  ==================================
kind          an element of the result comes from           examples
============  ============================================  ==================================
Elementwise   the elements at the same place                ``sin``, ``add``, ``where``
Moves         one element somewhere, or none                ``reshape``, ``concat``, ``take``
Reduces       a line: the elements along some axes          ``sum``, ``max``, ``var``
AlongAxis     a line; lines are independent of each other   ``sort``, ``softmax``, ``fft``
Contracts     sums of products                              ``matmul``
Matrices      the matrix in the last two axes               ``inv``, ``svd``
Opaque        anything                                      functions of the user's
============  ============================================  ==================================

Fields that hold a name name one of the op's inputs or keywords.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What all kinds can say.

    Attributes
    ----------
    linear : bool or "each"
        Whether the op is linear in the inputs that have rules: in all together, or in each if the
        others are fixed. Then the op is its own forward rule.
    flat : tuple of str, or "real"
        The inputs by which the derivative is zero wherever it exists, as for `floor`. "real" if it
        is so for real numbers only, as for `sign`.
    """

    linear: bool | Literal["each"] = False
    flat: Names | Literal["real"] = ()

    @property
    def view(self) -> bool:
        """Whether the result may share memory with the first input, so writes show in both."""
        return False

    @property
    def overwrites(self) -> bool:
        """Whether some elements of the inputs can have no part in the result."""
        return False

    @property
    def keywords(self) -> Names:
        """The names of the op's keywords that the kind knows of."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Elementwise(Kind):
    """Each element of the result comes from the elements at the same place; inputs broadcast.

    Attributes
    ----------
    whole : tuple of str
        Inputs that each element needs all of, such as the sorted array of `searchsorted`.
    real : bool
        Whether the result is real for complex numbers, too, as for `abs`.
    part : bool
        Whether the result is a view of a part of each element, as for `real`.
    chooses : bool
        Whether the first input says which of the others counts, and the rest is as if overwritten.
    """

    whole: Names = ()
    real: bool = False
    part: bool = False
    chooses: bool = False

    @property
    def view(self) -> bool:
        return self.part

    @property
    def overwrites(self) -> bool:
        return self.chooses


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves(Kind):
    """Each element of the result is one element of an input, or zero; or a sum, if `adds`.

    Without any of the names below, the op moves elements within the last two axes.

    Attributes
    ----------
    axis, shape, order : str or None
        The keywords that hold an axis or several, the shape of the result, the order of the axes.
    indices : tuple of str
        The inputs that are index arrays.
    template : str or None
        The keyword with the index that has holes for these; see `core.indices`.
    adds : bool
        Whether elements that come to one place are added up.
    inputs : {"own", "same", "broadcast"}
        Whether inputs have shapes of their own, the same number of axes, or are broadcast.
    shares : bool
        Whether the result may share memory with the first input.
    puts : bool
        Whether elements of the second input take the places of some of the first.
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
    def view(self) -> bool:
        return self.shares

    @property
    def overwrites(self) -> bool:
        return self.puts

    @property
    def keywords(self) -> Names:
        return tuple(n for n in (self.axis, self.shape, self.order, self.template) if n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduces(Kind):
    """Lines become numbers: the elements along some axes give one.

    The op has the keywords `axis`, a tuple or None for all axes, and `keepdims`, unless `axis` is
    named otherwise.

    Attributes
    ----------
    axis : str
        The keyword with the axes.
    real : bool
        Whether the result is real for complex numbers, too, as for `var`.
    """

    axis: str = "axis"
    real: bool = False

    @property
    def keywords(self) -> Names:
        return (self.axis, "keepdims")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlongAxis(Kind):
    """Lines become lines, each by itself; several inputs broadcast.

    Attributes
    ----------
    axis : str
        The keyword with the axis, or a tuple of axes.
    running : bool
        Whether an element comes only from those up to its place, as for `cumulative_sum`.
    symmetric : bool
        Whether the derivative is its own transpose: then the reverse rule is the forward rule, too.
    lengths : callable or None
        ``lengths(axes, **others)`` gives the lengths of the result along the axes, as a dictionary,
        from them and the op's other keywords; None if they stay.
    """

    axis: str = "axis"
    running: bool = False
    symmetric: bool = False
    lengths: Callable[..., dict[int, int]] | None = None

    @property
    def keywords(self) -> Names:
        return (self.axis,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contracts(Kind):
    """Sums of products of two inputs, linear in each.

    Attributes
    ----------
    labels : tuple of str, callable or None
        The keywords with the labels of the axes of both inputs and of the result, as in
        ``einsum``; or a function that gives these labels from the numbers of axes of both inputs.
        None if the op cannot be written so.
    """

    linear: bool | Literal["each"] = "each"
    labels: Names | Callable[[int, int], tuple[str, str, str]] | None = None

    @property
    def keywords(self) -> Names:
        return self.labels if isinstance(self.labels, tuple) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrices(Kind):
    """Functions of the matrix in the last two axes; the axes before are a batch, and broadcast.

    Attributes
    ----------
    shapes : callable
        ``shapes(*shapes of single matrices, **keywords)`` gives the shapes of the results for one,
        as a tuple.
    """

    shapes: Callable[..., tuple[tuple[int, ...], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque(Kind):
    """Nothing is known.

    Attributes
    ----------
    leading : bool
        Whether the op leaves leading axes alone, so that they can be a batch.
    shape_by_values : bool
        Whether the shape of the result depends on values, as for `nonzero`.
    """

    leading: bool = False
    shape_by_values: bool = False


KINDS = (Elementwise, Moves, Reduces, AlongAxis, Contracts, Matrices, Opaque)
