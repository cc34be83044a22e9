"""Programs: the nodes that a traced function becomes, each of which exists once.

A node is an input, a constant, an array with one value, an op on other nodes, or one result of an
op that has several. Nodes never change. `Program` makes them: a node that is asked for again, with
the same op, arguments and keywords, is the same object. So a value that is computed twice in the
user's function is computed once in the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...ops.define.op import Op

Shape = tuple[int, ...]
Argument = Any  # a Node, or a number, which has no dtype of its own


class Node:
    """One value of a program: an array of known shape and dtype.

    Attributes
    ----------
    number : int
        The place of the node in its program. Arguments have smaller numbers.
    args : tuple of Node and numbers
        What the value is computed from.
    """

    __slots__ = ("__weakref__", "args", "dtype", "number", "shape")
    args: tuple[Argument, ...]

    def __init__(self, shape: Shape, dtype: Any, args: tuple[Argument, ...] = ()) -> None:
        self.shape = shape
        self.dtype = dtype
        self.args = args
        self.number = -1

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def nodes(self) -> list[Node]:
        """The arguments that are nodes."""
        return [a for a in self.args if isinstance(a, Node)]

    def what(self) -> str:
        """How the value comes about, for people."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"%{self.number} = {self.what()}: {self.dtype}{list(self.shape)}"


class Input(Node):
    """An argument of the program."""

    __slots__ = ("position",)

    def __init__(self, shape: Shape, dtype: Any, position: int) -> None:
        super().__init__(shape, dtype)
        self.position = position

    def what(self) -> str:
        return f"input {self.position}"


class Constant(Node):
    """A NumPy array that the function did not get as an argument.

    The program refers to the array itself. So a change of its elements is seen by the next call.
    """

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        super().__init__(array.shape, array.dtype)
        self.array = array

    def what(self) -> str:
        return "constant"


class Full(Node):
    """An array whose elements all have one value, a NumPy scalar."""

    __slots__ = ("value",)

    def __init__(self, value: Any, shape: Shape) -> None:
        super().__init__(shape, value.dtype)
        self.value = value

    def what(self) -> str:
        return f"full {self.value}"


class Call(Node):
    """An op on arguments.

    Attributes
    ----------
    op : Op
    params : dict
        The keywords.
    names : tuple of str
        The keywords that are values of the program. They are the last arguments.
    results : list of (shape, dtype) or None
        The types of the results, if the op has several. `Result` nodes stand for these.
    """

    __slots__ = ("names", "op", "params", "results")

    def __init__(
        self,
        op: Op,
        args: tuple[Argument, ...],
        params: dict[str, Any],
        types: Any,
        names: tuple[str, ...] = (),
    ) -> None:
        self.results = types if op.multiple else None
        shape, dtype = ((), None) if op.multiple else types
        super().__init__(shape, dtype, args)
        self.op = op
        self.params = params
        self.names = names

    def what(self) -> str:
        given = [f"%{a.number}" if isinstance(a, Node) else repr(a) for a in self.args]
        split = len(given) - len(self.names)
        given[split:] = [f"{n}={a}" for n, a in zip(self.names, given[split:], strict=True)]
        given += [f"{name}={value!r}" for name, value in self.params.items()]
        return f"{self.op.name}({', '.join(given)})"


class Result(Node):
    """One result of an op that has several."""

    __slots__ = ("index",)

    def __init__(self, call: Call, index: int) -> None:
        assert call.results is not None
        shape, dtype = call.results[index]
        super().__init__(shape, dtype, (call,))
        self.index = index

    def what(self) -> str:
        return f"%{self.args[0].number}[{self.index}]"


class Program:
    """The nodes of a program, in an order in which they can be computed."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Any, Node] = {}

    def input(self, shape: Shape, dtype: Any) -> Input:
        """A new input, after those made before."""
        position = sum(isinstance(node, Input) for node in self.nodes)
        node: Input = self._add(Input(shape, np.dtype(dtype), position))
        return node

    def constant(self, array: Any) -> Constant:
        """The node for a NumPy array."""
        key = (Constant, id(array))  # which the node keeps alive
        return self._known.get(key) or self._add(Constant(array), key)  # type: ignore[return-value]

    def captured(self, array: Any) -> Constant:
        """A node for the array of a tensor from outside, which may become an input of an op."""
        return self._add(Constant(array))  # type: ignore[no-any-return]

    def constants(self) -> list[Any]:
        """The NumPy arrays that the program refers to."""
        return [node.array for node in self.nodes if isinstance(node, Constant)]

    def full(self, value: Any, shape: Shape, dtype: Any) -> Full:
        """An array with one value."""
        scalar = np.dtype(dtype).type(value)
        key = (Full, _key(scalar), shape)
        return self._known.get(key) or self._add(Full(scalar, shape), key)  # type: ignore[return-value]

    def call(
        self,
        op: Op,
        args: tuple[Argument, ...],
        params: dict[str, Any],
        types: Any,
        names: tuple[str, ...] = (),
    ) -> Call:
        """The node of an op on arguments, with results of these types.

        A user's op may do more than return a value, so each call of it is a node of its own.
        """
        try:
            key = (op, names, tuple(map(_key, args)), _key(params)) if op.is_library else None
        except TypeError:  # a keyword that cannot be compared
            key = None
        found = self._known.get(key) if key is not None else None
        return found or self._add(Call(op, args, params, types, names), key)  # type: ignore[return-value]

    def result(self, call: Call, index: int) -> Result:
        """One result of a call."""
        key = (Result, call, index)
        return self._known.get(key) or self._add(Result(call, index), key)  # type: ignore[return-value]

    def _add(self, node: Any, key: Any = None) -> Any:
        node.number = len(self.nodes)
        self.nodes.append(node)
        if key is not None:
            self._known[key] = node
        return node


def needed(outputs: Iterable[Node], given: Iterable[Node] = ()) -> list[Node]:
    """The nodes that outputs are computed from, in order, without what only `given` needs."""
    stop = set(given)
    found: set[Node] = set()
    rest = list(outputs)
    while rest:
        node = rest.pop()
        if node not in found:
            found.add(node)
            if node not in stop:
                rest += node.nodes
    return sorted(found, key=lambda node: node.number)


def text(outputs: Sequence[Node]) -> str:
    """A program as text: one line for each value, and one for the outputs."""
    lines = [repr(node) for node in needed(outputs)]
    return "\n".join([*lines, f"return {', '.join(f'%{o.number}' for o in outputs)}"])


def _key(value: Any) -> Any:
    """What tells a value in a program from others; raises TypeError if that is not known."""
    if isinstance(value, Node):
        return value
    if isinstance(value, np.generic):
        return value.dtype, value.tobytes()
    if isinstance(value, float):
        return float, value.hex()
    if isinstance(value, complex):
        return complex, value.real.hex(), value.imag.hex()
    if isinstance(value, slice):
        return slice, _key(value.start), _key(value.stop), _key(value.step)
    if isinstance(value, tuple | list):
        return type(value), *map(_key, value)
    if isinstance(value, dict):
        return dict, *((name, _key(item)) for name, item in sorted(value.items()))
    hash(value)
    return type(value), value
