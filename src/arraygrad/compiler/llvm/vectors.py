"""Writing LLVM's text: numbers and vectors of them, and the instructions on both.

A value with no lanes is a single number. All methods take both, so that a function that is made of
them can be computed for one element or for a vector of elements. Kernels are in `loops`, elementary
functions in `functions`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

# The types of elements that native code computes with: LLVM's name in registers and in memory.
TYPES = {
    np.dtype(np.float16): "half",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
    np.dtype(np.bool_): "i1",
}
_IN_MEMORY = {"i1": "i8"}
BYTES = {"half": 2, "float": 4, "double": 8, "i32": 4, "i64": 8, "i1": 1, "i8": 1}
_SUFFIX = {
    "half": "f16",
    "float": "f32",
    "double": "f64",
    "i32": "i32",
    "i64": "i64",
    "i1": "i1",
    "i8": "i8",
}
_INTEGERS = {"float": "i32", "double": "i64"}  # of the same length
LONG = 7  # coefficients of a polynomial, from which on it is summed in two parts
ALIGNMENT = 64  # bytes: a vector of the widest kind, and a line of the processor's cache
FLOATS = ("float", "double")  # that are computed with; a half is converted first


class Value(NamedTuple):
    """A number or vector: its text, the type of an element, and the number of lanes, or 0."""

    text: str
    kind: str
    lanes: int = 0

    @property
    def type(self) -> str:
        """LLVM's type."""
        return f"<{self.lanes} x {self.kind}>" if self.lanes else self.kind


def memory_type(kind: str) -> str:
    """The type of an element in memory: a bool takes a byte."""
    return _IN_MEMORY.get(kind, kind)


def literal(kind: str, number: Any) -> str:
    """A number as LLVM writes it."""
    if kind in FLOATS:
        rounded = float(np.float32(number)) if kind == "float" else float(number)
        return "0x" + struct.pack(">d", rounded).hex().upper()
    if kind == "half":
        return "0xH" + struct.pack(">e", float(number)).hex().upper()
    if kind == "i1":
        return "true" if number else "false"
    return str(int(number))


class Module:
    """The text of a module: declarations, and functions with bodies of their own."""

    def __init__(self) -> None:
        self._declared: dict[str, str] = {}

    def declare(self, name: str, text: str) -> None:
        """Declare, or define, a function that kernels call."""
        self._declared.setdefault(name, text)

    def take_over(self, other: Module) -> None:
        """Declare what another module does."""
        for name, text in other._declared.items():
            self.declare(name, text)

    def text(self, functions: Sequence[str]) -> str:
        """The whole text."""
        return "\n".join([*self._declared.values(), *functions, "!0 = !{}"])


class Writer:
    """Writes the body of a function, instruction by instruction."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self.head: list[str] = []  # the first instructions of the function
        self.block = "entry"
        self._count = 0

    # --- text ---

    def say(self, text: str) -> None:
        """Write an instruction that gives no value."""
        self.lines.append("  " + text)

    def name(self, start: str = "v") -> str:
        """A new name."""
        self._count += 1
        return f"{start}{self._count}"

    def let(self, text: str, kind: str, lanes: int = 0) -> Value:
        """Write an instruction that gives a value."""
        name = "%" + self.name()
        self.say(f"{name} = {text}")
        return Value(name, kind, lanes)

    def start(self, block: str) -> None:
        """Begin a block of instructions."""
        self.block = block
        self.lines.append(f"{block}:")

    def jump(self, block: str) -> None:
        """Go on at another block."""
        self.say(f"br label %{block}")

    def branch(self, condition: Value, yes: str, no: str) -> None:
        """Go on at one of two blocks."""
        self.say(f"br i1 {condition.text}, label %{yes}, label %{no}")

    def loop(self, start: Value, end: Value, step: int, body: Callable[[Value], None]) -> Value:
        """A loop: `body` writes what is done at an index. Returns where it stopped."""
        before, head, tail, after = (
            self.block,
            self.name("loop"),
            self.name("next"),
            self.name("end"),
        )
        self.branch(self.compare("lt", start, end), head, after)
        self.start(head)
        index, following = Value("%" + self.name("i"), "i64"), Value("%" + self.name("n"), "i64")
        ends = f"[ {start.text}, %{before} ], [ {following.text}, %{tail} ]"
        self.say(f"{index.text} = phi i64 {ends}")
        body(index)
        self.jump(tail)
        self.start(tail)
        self.say(f"{following.text} = add nsw i64 {index.text}, {step}")
        self.branch(self.compare("lt", following, end), head, after)
        self.start(after)
        return self.let(f"phi i64 {ends}", "i64")

    def intrinsic(self, name: str, result: str, *args: Value, kind: str, lanes: int) -> Value:
        """Call a function of LLVM, and declare it."""
        self.module.declare(name, f"declare {result} @{name}({', '.join(a.type for a in args)})")
        given = ", ".join(f"{a.type} {a.text}" for a in args)
        return self.let(f"call {result} @{name}({given})", kind, lanes)

    # --- constants and conversions ---

    def number(self, value: Any, kind: str, lanes: int = 0) -> Value:
        """A constant."""
        text = literal(kind, value)
        return Value(f"splat ({kind} {text})" if lanes else text, kind, lanes)

    def like(self, x: Value, value: Any) -> Value:
        """A constant of the type of `x`."""
        return self.number(value, x.kind, x.lanes)

    def spread(self, x: Value, lanes: int) -> Value:
        """A number in all lanes of a vector."""
        if x.lanes == lanes:
            return x
        vector = Value("poison", x.kind, lanes)
        first = self.let(f"insertelement {vector.type} poison, {x.type} {x.text}, i64 0", x.kind)
        zeros = f"<{lanes} x i32> zeroinitializer"
        text = f"shufflevector {vector.type} {first.text}, {vector.type} poison, {zeros}"
        return self.let(text, x.kind, lanes)

    def shuffle(self, x: Value, y: Value, lanes: Sequence[int]) -> Value:
        """Some lanes of two vectors; those of the second follow those of the first."""
        chosen = ", ".join(f"i32 {i}" for i in lanes)
        text = (
            f"shufflevector {x.type} {x.text}, {y.type} {y.text}, <{len(lanes)} x i32> <{chosen}>"
        )
        return self.let(text, x.kind, len(lanes))

    def lane(self, x: Value, index: int) -> Value:
        """One lane of a vector."""
        return self.let(f"extractelement {x.type} {x.text}, i64 {index}", x.kind)

    def steps(self, step: int, lanes: int) -> Value:
        """The integers 0, step, 2 step, … as a vector."""
        return Value(f"<{', '.join(f'i64 {i * step}' for i in range(lanes))}>", "i64", lanes)

    def cast(self, x: Value, kind: str) -> Value:
        """The numbers in another type, as NumPy converts them."""
        if x.kind == kind:
            return x
        if x.kind == "half" and kind != "float":
            return self.cast(self.cast(x, "float"), kind)
        if kind == "i1":
            return self.compare("ne", x, self.like(x, 0))
        to = Value("", kind, x.lanes).type
        if "half" in (x.kind, kind):
            how = "fptrunc" if kind == "half" else "fpext"  # to a float, and from it
        elif x.kind in FLOATS and kind in FLOATS:
            how = "fpext" if kind == "double" else "fptrunc"
        elif x.kind in FLOATS:
            how = "fptosi"  # which must be in the range of the integers
        elif kind in FLOATS:
            how = "uitofp" if x.kind == "i1" else "sitofp"
        elif BYTES[kind] > BYTES[x.kind]:
            how = "zext" if x.kind == "i1" else "sext"
        else:
            how = "trunc"
        return self.let(f"{how} {x.type} {x.text} to {to}", kind, x.lanes)

    def bits(self, x: Value, kind: str) -> Value:
        """The same bits as another type."""
        to = Value("", kind, x.lanes).type
        return self.let(f"bitcast {x.type} {x.text} to {to}", kind, x.lanes)

    def integer_kind(self, x: Value) -> str:
        """The integers with as many bits as the floats of `x`."""
        return _INTEGERS[x.kind]

    # --- arithmetic ---

    def _two(self, how: str, x: Value, y: Value) -> Value:
        return self.let(f"{how} {x.type} {x.text}, {y.text}", x.kind, x.lanes)

    def add(self, x: Value, y: Value) -> Value:
        """The sum. With a product, it may be rounded once: so may the two below."""
        return self._two("fadd contract" if x.kind in FLOATS else "add", x, y)

    def subtract(self, x: Value, y: Value) -> Value:
        """The difference."""
        return self._two("fsub contract" if x.kind in FLOATS else "sub", x, y)

    def multiply(self, x: Value, y: Value) -> Value:
        """The product."""
        return self._two("fmul contract" if x.kind in FLOATS else "mul", x, y)

    def exact(self, how: str, x: Value, y: Value) -> Value:
        """An operation of two floats that is rounded as it is written: `fadd`, `fsub`, `fmul`."""
        return self._two(how, x, y)

    def divide(self, x: Value, y: Value) -> Value:
        """The quotient of floats."""
        return self._two("fdiv", x, y)

    def logic(self, how: str, x: Value, y: Value) -> Value:
        """An operation of integers: `and`, `or`, `xor`, `shl`, `ashr`, `add`, `sub`."""
        return self._two(how, x, y)

    def negate(self, x: Value) -> Value:
        """The negative."""
        if x.kind in FLOATS:
            return self.let(f"fneg {x.type} {x.text}", x.kind, x.lanes)
        return self._two("sub", self.like(x, 0), x)

    def math(self, name: str, *args: Value) -> Value:
        """A function of LLVM on floats, such as `fma`, `fabs`, `sqrt` and `floor`."""
        x = args[0]
        suffix = (f"v{x.lanes}" if x.lanes else "") + _SUFFIX[x.kind]
        return self.intrinsic(f"llvm.{name}.{suffix}", x.type, *args, kind=x.kind, lanes=x.lanes)

    def compare(self, how: str, x: Value, y: Value) -> Value:
        """A comparison: `eq`, `ne`, `lt`, `le`, `gt`, `ge`; `uno` if one is NaN."""
        if x.kind in FLOATS:
            ordered = {"ne": "une", "uno": "uno"}.get(how, "o" + how)
            return self.let(f"fcmp {ordered} {x.type} {x.text}, {y.text}", "i1", x.lanes)
        signed = how if how in ("eq", "ne") else ("u" if x.kind == "i1" else "s") + how
        return self.let(f"icmp {signed} {x.type} {x.text}, {y.text}", "i1", x.lanes)

    def choose(self, condition: Value, x: Value, y: Value) -> Value:
        """`x` where the condition is true, else `y`."""
        text = f"select {condition.type} {condition.text}, {x.type} {x.text}, {y.type} {y.text}"
        return self.let(text, x.kind, x.lanes)

    def extreme(self, how: str, x: Value, y: Value) -> Value:
        """The larger (`gt`) or smaller (`lt`) of two; NaN if one is NaN."""
        found = self.choose(self.compare(how, x, y), x, y)  # y, if either is NaN
        return self.choose(self.compare("uno", x, x), x, found) if x.kind in FLOATS else found

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """The value of a polynomial, with the lowest coefficient first.

        Even and odd powers of a long one are summed by themselves: a processor that waits for one
        sum has the other to do.
        """
        if len(coefficients) >= LONG:
            square = self.exact("fmul", x, x)
            even, odd = (self._horner(square, coefficients[i::2]) for i in (0, 1))
            return self.math("fma", odd, x, even)
        return self._horner(x, coefficients)

    def _horner(self, x: Value, coefficients: Sequence[float]) -> Value:
        found = self.like(x, coefficients[-1])
        for c in coefficients[-2::-1]:
            found = self.math("fma", found, x, self.like(x, c))
        return found

    # --- memory ---

    def offset(self, pointer: Value, index: Value, kind: str) -> Value:
        """The address of an element."""
        unit = memory_type(kind)
        return self.let(f"getelementptr {unit}, ptr {pointer.text}, i64 {index.text}", "ptr")

    def load(self, address: Value, kind: str, lanes: int, mask: Value | None = None) -> Value:
        """Read an element, or neighbouring elements; where the mask is false, zeros."""
        unit = memory_type(kind)
        to = Value("", unit, lanes)
        if mask is None or not lanes:
            found = self.let(
                f"load {to.type}, ptr {address.text}, align {BYTES[unit]}", unit, lanes
            )
        else:
            found = self._masked_load(address, to, mask)
        return self.cast(found, kind) if unit != kind else found

    def _masked_load(self, address: Value, to: Value, mask: Value) -> Value:
        name = f"llvm.masked.load.v{to.lanes}{_SUFFIX[to.kind]}.p0"
        self.module.declare(
            name, f"declare {to.type} @{name}(ptr, i32 immarg, {mask.type}, {to.type})"
        )
        align = BYTES[to.kind]
        given = (
            f"ptr {address.text}, i32 {align}, {mask.type} {mask.text}, {to.type} zeroinitializer"
        )
        return self.let(f"call {to.type} @{name}({given})", to.kind, to.lanes)

    def store(self, x: Value, address: Value, mask: Value | None = None) -> None:
        """Write an element, or neighbouring elements; only those where the mask is true."""
        unit = memory_type(x.kind)
        if unit != x.kind:
            x = self.let(
                f"zext {x.type} {x.text} to {Value('', unit, x.lanes).type}", unit, x.lanes
            )
        align = BYTES[unit]
        if mask is None or not x.lanes:
            self.say(f"store {x.type} {x.text}, ptr {address.text}, align {align}")
            return
        name = f"llvm.masked.store.v{x.lanes}{_SUFFIX[unit]}.p0"
        self.module.declare(name, f"declare void @{name}({x.type}, ptr, i32 immarg, {mask.type})")
        given = f"{x.type} {x.text}, ptr {address.text}, i32 {align}, {mask.type} {mask.text}"
        self.say(f"call void @{name}({given})")

    def gather(self, base: Value, places: Value, kind: str, mask: Value | None = None) -> Value:
        """Read elements at any distances from an address; where the mask is false, zeros."""
        unit, lanes = memory_type(kind), places.lanes
        to = Value("", unit, lanes)
        found = Value("zeroinitializer", unit, lanes)
        if mask is None:  # single loads are faster than the processor's instruction for it
            for i in range(lanes):
                one = self.load(self.offset(base, self.lane(places, i), kind), unit, 0)
                text = f"insertelement {to.type} {found.text}, {unit} {one.text}, i64 {i}"
                found = self.let(text, unit, lanes)
            return self.cast(found, kind) if unit != kind else found
        pointers = self.let(
            f"getelementptr {unit}, ptr {base.text}, {places.type} {places.text}", "ptr", lanes
        )
        name = f"llvm.masked.gather.v{lanes}{_SUFFIX[unit]}.v{lanes}p0"
        self.module.declare(
            name, f"declare {to.type} @{name}({pointers.type}, i32 immarg, {mask.type}, {to.type})"
        )
        given = f"{pointers.type} {pointers.text}, i32 {BYTES[unit]}, {mask.type} {mask.text}"
        found = self.let(f"call {to.type} @{name}({given}, {to.type} zeroinitializer)", unit, lanes)
        return self.cast(found, kind) if unit != kind else found

    def scatter(self, x: Value, base: Value, step: int, mask: Value | None = None) -> None:
        """Write elements at equal distances; only those where the mask is true."""
        unit = memory_type(x.kind)
        if unit != x.kind:
            x = self.let(
                f"zext {x.type} {x.text} to {Value('', unit, x.lanes).type}", unit, x.lanes
            )
        lanes, places = x.lanes, self.steps(step, x.lanes)
        pointers = self.let(
            f"getelementptr {unit}, ptr {base.text}, {places.type} {places.text}", "ptr", lanes
        )
        where = mask or self.number(True, "i1", lanes)
        name = f"llvm.masked.scatter.v{lanes}{_SUFFIX[unit]}.v{lanes}p0"
        self.module.declare(
            name, f"declare void @{name}({x.type}, {pointers.type}, i32 immarg, {where.type})"
        )
        self.say(
            f"call void @{name}({x.type} {x.text}, {pointers.type} {pointers.text}, "
            f"i32 {BYTES[unit]}, {where.type} {where.text})"
        )

    def stack(self, kind: str, count: int) -> Value:
        """Memory of the function itself, taken at its start."""
        name = "%" + self.name("stack")
        # As an array, not a count: LLVM keeps only those in registers.
        self.head.append(f"  {name} = alloca [{count} x {memory_type(kind)}], align 64")
        return Value(name, "ptr")
