"""The instructions of a kernel over loop variables, before they become text.

An instruction reads memory, computes a scalar function, or folds a line. Those that do not depend
on the innermost variable belong to the line: they are computed once for it. The stage of an
instruction is the number of folds of a line that must be known before it: each stage is one pass
over the line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..lower.core import Core, Fold, Scalar, in_order


@dataclass(eq=False)
class Address:
    """The place of an element: where it starts, and the step of each variable.

    `along` has the steps of integers that are computed, too. With `other`, the argument does not
    say whether to read at all, but whether to read here or there.
    """

    memory: Core
    start: int
    steps: dict[int, int]
    along: tuple[int, ...] = ()
    other: Address | None = None


@dataclass(eq=False)
class Inside:
    """A condition: a number, which depends on the variables, is from 0 on and below a length."""

    start: int
    steps: dict[int, int]
    length: int


@dataclass(eq=False)
class Instruction:
    """One value of the body, for one element.

    Attributes
    ----------
    kind : str
        The type of the element.
    args : tuple of Instruction
    does : Address, Scalar, Fold, Inside or NumPy scalar
        Read memory, compute, fold a line, test a condition, or give a constant. The arguments of
        reading are integers that the place depends on, and conditions: memory is read only where
        all of them are true.
    varies : bool
        Whether it depends on the innermost variable.
    stage : int
    """

    kind: str
    args: tuple[Instruction, ...]
    does: Any
    varies: bool = False
    stage: int = 0

    @property
    def cost(self) -> int:
        """About how many cycles it takes for a vector."""
        return self.does.cost if isinstance(self.does, Scalar) else 1


@dataclass(eq=False)
class Store:
    """A value that is written to memory."""

    value: Instruction
    at: Address

    @property
    def roots(self) -> list[Instruction]:
        """The instructions that it needs."""
        return [self.value]


@dataclass(eq=False)
class Total:
    """A fold over variables that are not just the innermost one, collected in memory.

    `over` has the variables. `has_inner` says whether the folded values belong to all elements of
    a line, or to the line. `indices` are integers that the place in memory depends on.
    """

    value: Instruction
    at: Address
    fold: Fold
    over: set[int]
    has_inner: bool
    indices: tuple[Instruction, ...] = ()

    @property
    def roots(self) -> list[Instruction]:
        """The instructions that it needs."""
        return [self.value, *self.indices]


@dataclass
class KernelBody:
    """A kernel's loops and instructions.

    Attributes
    ----------
    dims : list of int
        The lengths of the loops.
    limit : int or None
        The length of a line that was cut into blocks: the last block may be shorter.
    """

    dims: list[int]
    stores: list[Store] = field(default_factory=list)
    totals: list[Total] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    limit: int | None = None

    @property
    def inner(self) -> int:
        """The innermost variable."""
        return len(self.dims) - 1

    @property
    def addresses(self) -> list[Any]:
        """All places in memory that are read or written, and all conditions."""
        reads = [i.does for i in self.instructions if isinstance(i.does, Address | Inside)]
        others = [a.other for a in reads if isinstance(a, Address) and a.other is not None]
        return [*reads, *others, *(s.at for s in self.stores), *(t.at for t in self.totals)]

    @property
    def cost(self) -> int:
        """About how many cycles the kernel takes, for vectors."""
        each = sum(i.cost for i in self.instructions if i.varies)
        return math.prod(self.dims) * max(each, 1)


def below(roots: Iterable[Instruction]) -> list[Instruction]:
    """All instructions that some are computed from, with these, arguments first."""
    return in_order(roots, lambda i: i.args)
