"""The one table of sample inputs that every check of the ops runs over.

A sample names the op it is for and calls it through a namespace, `xp`, so that the same row runs
on arraygrad, on NumPy, which says what the values must be, and on torch. `reference` is given
where NumPy spells the op differently.

Rows differ in what makes ops go wrong: broadcasting, 0-d and empty arrays, layouts, repeated
inputs, Python numbers, every form of axis and index.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rows import Row


class Draw:
    """Random arrays for a sample: float64, or complex128 where the sample is run as complex."""

    def __init__(self, seed: int, complex_numbers: bool = False) -> None:
        self.rng = np.random.default_rng(seed)
        self.complex_numbers = complex_numbers

    def _parts(self, part: Callable[[], Any]) -> Any:
        return part() + 1j * part() if self.complex_numbers else part()

    def any(self, *shape: int) -> Any:
        """Anything, but not near zero, where kinks and poles are."""
        return self._parts(
            lambda: self.rng.uniform(0.3, 1.7, shape) * self.rng.choice([-1.0, 1.0], shape)
        )

    def positive(self, *shape: int) -> Any:
        """Between a half and two; complex: in the first quadrant, away from every branch cut."""
        return self._parts(lambda: self.rng.uniform(0.5, 2.0, shape))

    def unit(self, *shape: int) -> Any:
        """Well inside the unit interval; complex: inside the unit disc."""
        return self._parts(
            lambda: self.rng.uniform(0.1, 0.6, shape) * self.rng.choice([-1.0, 1.0], shape)
        )

    def above_one(self, *shape: int) -> Any:
        """Between 1.2 and 3."""
        return self._parts(lambda: self.rng.uniform(1.2, 3.0, shape))

    def distinct(self, *shape: int) -> Any:
        """Real numbers, no two of them close: for what depends on order."""
        size = int(np.prod(shape))
        values = self.rng.permutation(size) * 0.25 - size / 9
        return values.reshape(shape) + self.rng.uniform(-0.02, 0.02, shape)

    def fractional(self, *shape: int) -> Any:
        """Real numbers away from the integers, where steps are."""
        return self.rng.integers(-3, 3, shape) + self.rng.uniform(0.2, 0.4, shape)

    def integers(self, *shape: int, low: int = 0, high: int = 5) -> Any:
        """Integers of NumPy's default dtype."""
        return self.rng.integers(low, high, shape)

    def booleans(self, *shape: int) -> Any:
        """Booleans, some of each where there are several."""
        return self.rng.permutation(np.arange(int(np.prod(shape))) % 2 == 0).reshape(shape)


@dataclass(frozen=True)
class Sample:
    """One way to call one op.

    Attributes
    ----------
    op : str
        The public name the row is for, or the operator's method.
    label : str
        What is special about it.
    call : callable
        `call(xp, *arrays)`.
    inputs : callable
        `inputs(draw)` gives the arrays, of the same shapes every time.
    reference : callable, optional
        `reference(*arrays)` on NumPy arrays, where `call(numpy, *arrays)` does not do.
    complex : bool
        Whether the row is also run with complex numbers.
    differentiable : bool
        Whether the result depends smoothly on the floating-point inputs; if not, the result must
        not require gradients.
    flat : bool
        The derivative is zero wherever it exists.
    batch : bool
        Whether the row can be run on batched arrays.
    torch : bool or "complex"
        Whether torch can run `call` through array-api-compat, perhaps for complex numbers only.
    half : bool
        Whether NumPy computes it in half precision.
    variant : str
        A quick run takes the first row of each variant of an op.
    """

    op: str
    label: str
    call: Callable[..., Any]
    inputs: Callable[[Draw], tuple[Any, ...]]
    reference: Callable[..., Any] | None = None
    complex: bool = False
    differentiable: bool = True
    flat: bool = False
    batch: bool = True
    torch: bool | str = True
    half: bool = True
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.op}-{self.label}" if self.label else self.op

    def arrays(self, complex_numbers: bool = False, seed: int = 0) -> tuple[Any, ...]:
        """The inputs."""
        return self.inputs(Draw(seed, complex_numbers))

    def expected(self, *arrays: Any) -> Any:
        """What NumPy says."""
        return self.reference(*arrays) if self.reference else self.call(np, *arrays)


SAMPLES: list[Sample] = []


def choices_of(count: int) -> list[tuple[bool, ...]]:
    """Which of so many inputs are in a batch: every choice, or of many inputs one, or all but one.

    At least one is.
    """
    if count < 5:
        return [c for c in itertools.product([False, True], repeat=count) if any(c)]
    single = [tuple(i == k for i in range(count)) for k in range(count)]
    return [(True,) * count, *single, *(tuple(not c for c in choice) for choice in single)]


def cases_of(samples: Iterable[Sample]) -> list[Row]:
    """Rows of a sample and whether it runs with complex numbers, which all that can do, too."""
    return [
        Row(s.op, f"{s}{' complex' * c}", (s, c), variant=s.variant + "complex" * c)
        for s in samples
        for c in (False, True)
        if s.complex or not c
    ]


def row(
    op: str,
    inputs: Callable[[Draw], Any],
    call: Callable[..., Any] | None = None,
    label: str = "",
    *,
    keywords: dict[str, Any] | None = None,
    **flags: Any,
) -> None:
    """Add a sample; without `call`, the function `op` on the inputs, with the keywords."""
    given = keywords or {}
    if call is None:

        def call(xp: Any, *arrays: Any) -> Any:
            return operator.attrgetter(op)(xp)(*arrays, **given)

        label = label or ",".join(f"{k}={v}" for k, v in given.items())

    def made(draw: Draw) -> tuple[Any, ...]:
        arrays = inputs(draw)
        return arrays if isinstance(arrays, tuple) else (arrays,)

    SAMPLES.append(Sample(op, label, call, made, **flags))


# --- elementwise, one input ----------------------------------------------------------------------

_everywhere = (
    "sin cos tan sinh cosh tanh exp exp2 expm1 negative positive square reciprocal abs conj real "
    "imag angle sign atan asinh"
).split()
_on_positive = "log log2 log10 log1p sqrt".split()
_on_unit = "asin acos atanh".split()

for _name in [*_everywhere, *_on_positive, *_on_unit, "acosh"]:
    _domain = (
        "positive"
        if _name in _on_positive
        else "unit"
        if _name in _on_unit
        else "above_one"
        if _name == "acosh"
        else "any"
    )
    for _shape in ((2, 3), (), (0, 2)):
        row(
            _name,
            lambda d, domain=_domain, shape=_shape: getattr(d, domain)(*shape),
            label=f"shape={_shape}",
            complex=_name != "exp2",
            flat=_name in ("sign", "angle"),
            torch="complex" if _name == "imag" else True,  # it has no imag of real numbers
        )
    row(
        _name,
        lambda d, domain=_domain: getattr(d, domain)(4, 6).T[::-2],
        label="strided",
        complex=_name != "exp2",
        flat=_name in ("sign", "angle"),
        torch="complex" if _name == "imag" else True,
    )

for _name in ("floor", "ceil", "trunc", "round"):
    row(_name, lambda d: d.fractional(2, 3), flat=True)
    row(_name, lambda d: d.fractional(), label="0-d", flat=True)
for _name in ("isfinite", "isinf", "isnan", "logical_not", "signbit"):
    row(
        _name,
        lambda d: d.any(2, 3),
        differentiable=False,
        complex=_name != "signbit",
    )
row("isnan", lambda d: np.array([1.0, np.nan, np.inf]), label="nan", differentiable=False)
row("isfinite", lambda d: np.array([1.0, np.nan, np.inf]), label="nan", differentiable=False)
row("isinf", lambda d: np.array([1.0, np.nan, -np.inf]), label="nan", differentiable=False)
row("bitwise_invert", lambda d: d.integers(4), differentiable=False)
row("logical_not", lambda d: d.booleans(4), label="booleans", differentiable=False)

# --- elementwise, two inputs ---------------------------------------------------------------------

_arithmetic = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "remainder": lambda x, y: x % y,
    "floor_divide": lambda x, y: x // y,
}
_magic = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "pow": "pow",
    "remainder": "mod",
    "floor_divide": "floordiv",
}
_shapes_of_two = [
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((3,), (2, 1)),
    ((), (2, 3)),
    ((2, 1), (1, 3)),
    ((), ()),
    ((0, 3), (1, 3)),
    ((2, 1, 3), (4, 1)),
]
_kinked = ("remainder", "floor_divide")


def _two(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Where the operands of an op with two inputs are drawn from."""
    if name == "pow":
        return lambda d, s: d.positive(*s), lambda d, s: d.any(*s)
    if name in _kinked:  # the quotient stays away from the integers
        return lambda d, s: d.fractional(*s) + 0.1, lambda d, s: d.integers(*s, low=2, high=4) * 1.0
    if name in ("maximum", "minimum"):
        return lambda d, s: d.distinct(*s), lambda d, s: d.distinct(*s) + 0.1
    return lambda d, s: d.any(*s), lambda d, s: d.any(*s)


for _name in [*_arithmetic, "atan2", "hypot", "logaddexp", "copysign", "maximum", "minimum"]:
    _left, _right = _two(_name)
    for _a, _b in _shapes_of_two:
        row(
            _name,
            lambda d, left=_left, right=_right, a=_a, b=_b: (left(d, a), right(d, b)),
            label=f"{_a},{_b}",
            complex=_name in ("add", "subtract", "multiply", "divide", "pow"),
            flat=_name == "floor_divide",
            torch=_name != "floor_divide",  # it has no derivative of that
        )

for _name in ("add", "subtract", "multiply", "divide"):
    row(
        _name,
        lambda d: (d.any(2, 3), Draw(1, complex_numbers=True).any(3)),
        label="real and complex",
        variant="real and complex",
    )

for _name, _operator in _arithmetic.items():
    _left, _right = _two(_name)
    _flags = {
        "complex": _name not in _kinked,
        "flat": _name == "floor_divide",
        "torch": _name != "floor_divide",
    }
    row(
        f"__{_magic[_name]}__",
        lambda d, left=_left, right=_right: (left(d, (2, 3)), right(d, (3,))),
        lambda xp, x, y, f=_operator: f(x, y),
        "arrays",
        **_flags,
    )
    for _number in (2, 2.5, 3):
        row(
            f"__{_magic[_name]}__",
            lambda d, left=_left: left(d, (2, 3)),
            lambda xp, x, f=_operator, n=_number: f(x, n),
            f"number={_number}",
            **_flags,
        )
    row(
        f"__r{_magic[_name]}__",
        (lambda d: d.fractional(2, 3) + 3.3) if _name in _kinked else (lambda d: d.any(2, 3)),
        lambda xp, x, f=_operator: f(2.5, x),
        "number=2.5",
        **_flags | {"torch": _name not in _kinked},
    )
    row(
        f"__r{_magic[_name]}__",
        lambda d, right=_right: right(d, (3,)),
        # a plain NumPy array on the left leaves the operation to us
        lambda xp, y, f=_operator: f(np.asarray([7.25, 8.25, 9.25]), y),
        "array on the left",
        **_flags | {"torch": False},
    )

row("__add__", lambda d: d.any(2, 3), lambda xp, x: x + x, "same input twice", complex=True)
row("__mul__", lambda d: d.any(2, 3), lambda xp, x: x * x, "same input twice", complex=True)
row("__truediv__", lambda d: d.any(3), lambda xp, x: x / (x * x), "same inputs", complex=True)
row("__pow__", lambda d: d.positive(3), lambda xp, x: x**x, "same input twice", complex=True)
row("__pow__", lambda d: d.any(3), lambda xp, x: x**0, "number=0", complex=True)
row("__rpow__", lambda d: d.positive(3), lambda xp, x: 0.0**x, "number=0.0")
row(
    "pow",
    lambda d: (d.any(3), np.array([0.0, 1.0, 2.0])),
    lambda xp, x, p: xp.square(x) ** p,
    "0 1 2",
)
row("__rpow__", lambda d: d.any(3), lambda xp, x: (1 + 2j) ** x, "complex number", complex=True)
row("__pow__", lambda d: d.any(3), lambda xp, x: x**1, "number=1", complex=True)
row("__pow__", lambda d: d.any(3), lambda xp, x: x**-1.0, "number=-1.0", complex=True)
row("__pow__", lambda d: d.positive(3), lambda xp, x: x**0.5, "number=0.5", complex=True)
row("__add__", lambda d: d.any(2, 3), lambda xp, x: x + x[:, :1], "with part of itself")
row("__add__", lambda d: d.any(3), lambda xp, x: x + True, "number=True")
row("__mul__", lambda d: d.any(3), lambda xp, x: x * (1 + 2j), "complex number", complex=True)
row("__rmul__", lambda d: d.any(3), lambda xp, x: (1 + 2j) * x, "complex number", complex=True)
row("__add__", lambda d: d.any(3), lambda xp, x: x + 1j, "complex number", complex=True)
row("__truediv__", lambda d: d.any(3), lambda xp, x: 1j / x, "complex number", complex=True)
row("__mul__", lambda d: (d.any(3), d.integers(3, low=1)), lambda xp, x, n: x * n, "integers")
row("__neg__", lambda d: d.any(3), lambda xp, x: -x, complex=True)
row("__pos__", lambda d: d.any(3), lambda xp, x: +x, complex=True)
row("__abs__", lambda d: d.any(3), lambda xp, x: abs(x), complex=True)
row(
    "__divmod__",
    lambda d: d.fractional(3) + 0.1,
    lambda xp, x: divmod(x, 2.0),
    torch=False,
)
row(
    "__rdivmod__",
    lambda d: d.fractional(3) + 3.3,
    lambda xp, x: divmod(2.5, x),
    torch=False,
)

for _name, _operator, _magic_name in (
    ("equal", lambda x, y: x == y, "eq"),
    ("not_equal", lambda x, y: x != y, "ne"),
    ("less", lambda x, y: x < y, "lt"),
    ("less_equal", lambda x, y: x <= y, "le"),
    ("greater", lambda x, y: x > y, "gt"),
    ("greater_equal", lambda x, y: x >= y, "ge"),
):
    row(_name, lambda d: (d.any(2, 3), d.any(3)), differentiable=False)
    row(
        f"__{_magic_name}__",
        lambda d: (d.any(2, 3), d.any(3)),
        lambda xp, x, y, f=_operator: f(x, y),
        differentiable=False,
    )
    row(
        f"__{_magic_name}__",
        lambda d: d.any(2, 3),
        lambda xp, x, f=_operator: f(0.5, x),
        "number",
        differentiable=False,
    )
for _name in ("logical_and", "logical_or", "logical_xor"):
    row(_name, lambda d: (d.booleans(2, 3), d.booleans(3)), differentiable=False)
for _name, _operator, _magic_name in (
    ("bitwise_and", lambda x, y: x & y, "and"),
    ("bitwise_or", lambda x, y: x | y, "or"),
    ("bitwise_xor", lambda x, y: x ^ y, "xor"),
    ("bitwise_left_shift", lambda x, y: x << y, "lshift"),
    ("bitwise_right_shift", lambda x, y: x >> y, "rshift"),
):
    row(_name, lambda d: (d.integers(2, 3), d.integers(3)), differentiable=False)
    row(
        f"__{_magic_name}__",
        lambda d: (d.integers(2, 3), d.integers(3)),
        lambda xp, x, y, f=_operator: f(x, y),
        differentiable=False,
    )
    row(
        f"__r{_magic_name}__",
        lambda d: d.integers(2, 3),
        lambda xp, x, f=_operator: f(3, x),
        differentiable=False,
    )
row("__invert__", lambda d: d.booleans(4), lambda xp, x: ~x, differentiable=False)
row("nextafter", lambda d: (d.any(3), d.any(3)))

# --- choosing ------------------------------------------------------------------------------------

row("where", lambda d: (d.booleans(2, 3), d.any(2, 3), d.any(3)), label="arrays", complex=True)
row("where", lambda d: (d.booleans(3), d.any(2, 1), d.any()), label="broadcast", complex=True)
row(
    "where",
    lambda d: (d.booleans(4), d.any(4)),
    lambda xp, c, x: xp.where(c, x, 0.0),
    "number",
    complex=True,
)
row(
    "where",
    lambda d: (d.booleans(4), d.any(4)),
    lambda xp, c, x: xp.where(c, 1.5, x),
    "number first",
    complex=True,
)
row("where", lambda d: d.any(4), lambda xp, x: xp.where(x > 0, x, x * x), "same input")
row("clip", lambda d: d.any(2, 3), keywords={"min": -0.2, "max": 0.2})
row("clip", lambda d: d.any(2, 3), keywords={"min": -0.2})
row("clip", lambda d: d.any(2, 3), keywords={"max": 0.2})
row("clip", lambda d: d.any(2, 3), keywords={"min": 0.3, "max": -0.3})
row("clip", lambda d: d.any(3), lambda xp, x: xp.clip(x), "no bounds", reference=np.copy)
row(
    "clip",
    lambda d: (d.any(2, 3), d.unit(3) - 0.75, d.unit(2, 1) + 0.75),
    label="array bounds",
)
row("clip", lambda d: d.integers(6), keywords={"min": 1, "max": 3}, differentiable=False)
for _name in ("maximum", "minimum"):
    row(_name, lambda d: d.any(3), lambda xp, x, n=_name: getattr(xp, n)(x, x), "same input")

# --- shapes --------------------------------------------------------------------------------------

row("reshape", lambda d: d.any(2, 3), keywords={"shape": (3, 2)}, complex=True)
row("reshape", lambda d: d.any(2, 3), keywords={"shape": (-1,)})
row("reshape", lambda d: d.any(2, 3), keywords={"shape": (1, 2, -1)})
row("reshape", lambda d: d.any(), keywords={"shape": (1, 1)})
row("reshape", lambda d: d.any(0, 3), keywords={"shape": (3, 0, 2)})
row("reshape", lambda d: d.any(4, 3).T[:, ::2], keywords={"shape": (6,)})
row("permute_dims", lambda d: d.any(2, 3, 4), keywords={"axes": (2, 0, 1)}, complex=True)
row("permute_dims", lambda d: d.any(2, 3), keywords={"axes": (-1, 0)})
row("permute_dims", lambda d: d.any(), keywords={"axes": ()})
row("matrix_transpose", lambda d: d.any(2, 3))
row("matrix_transpose", lambda d: d.any(2, 3, 4), label="batch")
row("moveaxis", lambda d: d.any(2, 3, 4), lambda xp, x: xp.moveaxis(x, 0, -1), "one")
row("moveaxis", lambda d: d.any(2, 3, 4), lambda xp, x: xp.moveaxis(x, (0, 1), (-1, 0)), "two")
row("swapaxes", lambda d: d.any(2, 3, 4), lambda xp, x: xp.swapaxes(x, 0, -1))
row("expand_dims", lambda d: d.any(2, 3), keywords={"axis": 1})
row("expand_dims", lambda d: d.any(2, 3), keywords={"axis": -1})
row("expand_dims", lambda d: d.any(2, 3), keywords={"axis": (0, 2)})
row("squeeze", lambda d: d.any(1, 3, 1), keywords={"axis": 0})
row("squeeze", lambda d: d.any(1, 3, 1), keywords={"axis": (0, -1)})
row("squeeze", lambda d: d.any(1, 3, 1), lambda xp, x: xp.squeeze(x), "all", torch=False)
row("ravel", lambda d: d.any(2, 3))
row("ravel", lambda d: d.any(3, 2).T, label="transposed")
row("flatten", lambda d: d.any(2, 3, 2), reference=lambda x: x.reshape(-1))
row("flatten", lambda d: d.any(), label="0-d", reference=lambda x: x.reshape(-1))
row(
    "flatten",
    lambda d: d.any(2, 3, 2),
    lambda xp, x: xp.flatten(x, 1, 2),
    "part",
    reference=lambda x: x.reshape(2, 6),
)
row("broadcast_to", lambda d: d.any(3), keywords={"shape": (2, 3)}, complex=True)
row("broadcast_to", lambda d: d.any(2, 1), keywords={"shape": (4, 2, 3)})
row("broadcast_to", lambda d: d.any(), keywords={"shape": (2, 2)})
row("broadcast_to", lambda d: d.any(2), keywords={"shape": (2,)})
row("broadcast_to", lambda d: d.any(1, 2), keywords={"shape": (0, 2)})
row("broadcast_arrays", lambda d: (d.any(3), d.any(2, 1), d.any()))
row("flip", lambda d: d.any(2, 3), lambda xp, x: xp.flip(x), "all")
row("flip", lambda d: d.any(2, 3), keywords={"axis": -1})
row("flip", lambda d: d.any(2, 3, 2), keywords={"axis": (0, 2)})
row("roll", lambda d: d.any(2, 3), keywords={"shift": 2})
row("roll", lambda d: d.any(2, 3), keywords={"shift": -1, "axis": 1})
row("roll", lambda d: d.any(2, 3), keywords={"shift": (1, -2), "axis": (0, 1)})
row("roll", lambda d: d.any(2, 3), keywords={"shift": 1, "axis": (0, 1)}, torch=False)
row("roll", lambda d: d.any(0, 3), keywords={"shift": 1, "axis": 0})
row("concat", lambda d: (d.any(2, 3), d.any(1, 3)), lambda xp, *a: xp.concat(a), complex=True)
row(
    "concat",
    lambda d: (d.any(2, 1), d.any(2, 3), d.any(2, 0)),
    lambda xp, *a: xp.concat(a, axis=-1),
    "axis=-1",
)
row("concat", lambda d: (d.any(2, 1), d.any()), lambda xp, *a: xp.concat(a, axis=None), "None")
row("concat", lambda d: d.any(3), lambda xp, x: xp.concat([x, x * x, x]), "same input")
row("stack", lambda d: (d.any(2, 3), d.any(2, 3)), lambda xp, *a: xp.stack(a), complex=True)
row("stack", lambda d: (d.any(2), d.any(2)), lambda xp, *a: xp.stack(a, axis=-1), "axis=-1")
row("stack", lambda d: (d.any(), d.any()), lambda xp, *a: xp.stack(a), "0-d")
row("unstack", lambda d: d.any(2, 3), complex=True)
row("unstack", lambda d: d.any(2, 3), keywords={"axis": -1})
row("unstack", lambda d: d.any(3, 2), lambda xp, x: xp.unstack(x)[1], "one of them")
row("tile", lambda d: d.any(2, 3), lambda xp, x: xp.tile(x, (2, 1)))
row("tile", lambda d: d.any(2), lambda xp, x: xp.tile(x, (3, 2)), "more axes")
row("tile", lambda d: d.any(2, 3), lambda xp, x: xp.tile(x, (2,)), "fewer axes")
row("tile", lambda d: d.any(2, 3), lambda xp, x: xp.tile(x, (0, 1)), "none")
row("tile", lambda d: d.any(), lambda xp, x: xp.tile(x, (2,)), "0-d")
row("repeat", lambda d: d.any(2, 3), lambda xp, x: xp.repeat(x, 2), "flat")
row("repeat", lambda d: d.any(2, 3), lambda xp, x: xp.repeat(x, 2, axis=-1), "axis=-1")
row(
    "repeat",
    lambda d: d.any(2, 3),
    lambda xp, x: xp.repeat(x, np.array([1, 0, 2]), axis=1),
    "each its own",
    torch=False,
)
row("repeat", lambda d: d.any(2, 3), lambda xp, x: xp.repeat(x, 0, axis=0), "none")
for _name in ("tril", "triu"):
    for _k in (0, 1, -1, 5):
        row(_name, lambda d: d.any(3, 4), keywords={"k": _k}, complex=True)
    row(_name, lambda d: d.any(2, 3, 3), label="batch")
row("copy", lambda d: d.any(2, 3), complex=True, torch=False)
row(
    "to_device",
    lambda d: d.any(2),
    lambda xp, x: xp.to_device(x, "cpu"),
    reference=np.asarray,
    torch=False,
)
row("astype", lambda d: d.any(2, 3), lambda xp, x: xp.astype(x, x.dtype), "same", complex=True)
row(
    "astype",
    lambda d: d.fractional(2, 3),
    lambda xp, x: xp.astype(x, np.int64),
    "integers",
    reference=lambda x: x.astype(np.int64),
    differentiable=False,
    torch=False,
)
row(
    "astype",
    lambda d: d.any(2, 3),
    lambda xp, x: xp.astype(x, np.complex128),
    "complex",
    torch=False,
)
row(
    "astype",
    lambda d: d.any(2, 3),
    lambda xp, x: xp.astype(x, np.float64, copy=False) * 2,
    "no copy",
    torch=False,
)

# --- reductions ----------------------------------------------------------------------------------

_axes: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 3), {}),
    ((2, 3), {"axis": 0}),
    ((2, 3), {"axis": -1, "keepdims": True}),
    ((2, 3, 2), {"axis": (0, -1)}),
    ((2, 3, 2), {"axis": (2, 0), "keepdims": True}),
    ((2, 3), {"keepdims": True}),
    ((2, 3), {"axis": ()}),
    ((), {}),
]
for _name in ("sum", "mean", "prod", "max", "min", "var", "std"):
    for _shape, _keywords in _axes:
        if _name in ("var", "std") and (_shape == () or _keywords.get("axis") == ()):
            continue  # flat at best: the variance of one element
        row(
            _name,
            lambda d, n=_name, s=_shape: d.distinct(*s) if n in ("max", "min") else d.any(*s),
            label=f"{_shape},{_keywords}",
            keywords=_keywords,
            complex=_name not in ("max", "min"),
            torch=_name not in ("var", "std") or _keywords.get("axis") != (),
        )
    row(
        _name,
        lambda d, n=_name: (d.distinct if n in ("max", "min") else d.any)(4, 6).T[::-2],
        label="strided",
        keywords={"axis": 0},
    )
for _name in ("var", "std"):
    for _correction in (1, 0.5):
        row(
            _name,
            lambda d: d.any(2, 4),
            keywords={"axis": 1, "correction": _correction},
            torch=_correction == 1,
            variant="correction",
        )
for _name in ("sum", "prod"):
    row(_name, lambda d: d.any(0, 3), label="empty", keywords={"axis": 0}, complex=True)
    row(_name, lambda d: d.any(0, 3), label="empty, all")
row("mean", lambda d: d.any(0, 3), label="empty", keywords={"axis": 1})
row("prod", lambda d: d.any(3) * np.array([1.0, 0.0, 1.0]), label="one zero", complex=True)
row("prod", lambda d: d.any(4) * np.array([1.0, 0.0, 0.0, 1.0]), label="two zeros", complex=True)
row(
    "prod",
    lambda d: d.any(2, 3) * np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
    label="zeros, axis",
    keywords={"axis": 1},
)
row(
    "sum",
    lambda d: d.any(2, 3),
    lambda xp, x: xp.sum(x, axis=1, dtype=np.complex128),
    "dtype",
    reference=lambda x: np.sum(x, axis=1, dtype=np.complex128),
    torch=False,
)
row("max", lambda d: d.any(2, 3), lambda xp, x: xp.max(x * x + x), "of an expression")
for _name in ("sum", "prod", "max", "min", "mean", "cumulative_sum", "cumulative_prod"):
    row(
        _name,
        lambda d: d.integers(5, low=1),
        label="integers",
        differentiable=False,
        torch=_name != "mean",
    )
    if _name not in ("max", "min"):
        row(
            _name,
            lambda d: d.booleans(5),
            label="booleans",
            differentiable=False,
            torch=_name != "mean",
        )
for _name in ("all", "any", "count_nonzero"):
    row(_name, lambda d: d.booleans(2, 3), differentiable=False, label="all of it")
    row(_name, lambda d: d.booleans(2, 3), keywords={"axis": 1}, differentiable=False)
    row(_name, lambda d: d.any(2, 3), keywords={"axis": (0, 1)}, differentiable=False)
    row(_name, lambda d: d.any(2, 3), keywords={"axis": ()}, differentiable=False, torch=False)
for _name in ("argmax", "argmin"):
    row(_name, lambda d: d.distinct(2, 3), differentiable=False, label="all of it")
    row(_name, lambda d: d.distinct(2, 3), keywords={"axis": -1}, differentiable=False)
    row(
        _name,
        lambda d: d.distinct(2, 3),
        keywords={"axis": 0, "keepdims": True},
        differentiable=False,
    )
    row(_name, lambda d: d.distinct(2, 3), keywords={"keepdims": True}, differentiable=False)
for _axis in (0, -1):  # of a number, by all that take it in NumPy and in torch
    _given = {"keywords": {"axis": _axis}, "label": f"0-d, axis={_axis}"}
    for _name in ("sum", "prod", "max", "min", "squeeze"):
        row(_name, lambda d: d.any(), torch=_name != "squeeze", **_given)
    for _name in ("all", "any", "count_nonzero", "argmax", "argmin"):
        row(_name, lambda d: d.any(), differentiable=False, **_given)
for _name in ("cumulative_sum", "cumulative_prod"):
    row(_name, lambda d: d.any(4), complex=True, label="1-d")
    row(_name, lambda d: d.any(2, 3), keywords={"axis": 0})
    row(_name, lambda d: d.any(2, 3), keywords={"axis": -1}, complex=True)
    row(_name, lambda d: d.any(2, 3), keywords={"axis": 1, "include_initial": True})
    row(_name, lambda d: d.any(0, 3), label="empty", keywords={"axis": 0})
    row(_name, lambda d: d.any(1), label="one")
row(
    "cumulative_prod",
    lambda d: d.any(5) * np.array([1.0, 0.0, 1.0, 0.0, 1.0]),
    label="zeros",
    complex=True,
)

# --- indexing ------------------------------------------------------------------------------------

_i = np.array([0, 2, 2])
_j = np.array([[1, 0], [-1, 1]])
_mask = np.array([True, False, True])
_mask2 = np.array([[True, False, True, True], [False] * 4, [True, True, False, False]])
_keys: list[tuple[str, Any]] = [
    ("int", 1),
    ("negative int", -1),
    ("NumPy int", np.int64(2)),
    ("two ints", (1, -2)),
    ("slice", slice(1, 3)),
    ("slice, step 2", slice(None, None, 2)),
    ("slice, step -1", slice(None, None, -1)),
    ("slice, step -2", (slice(None), slice(3, 0, -2))),
    ("empty slice", slice(2, 1)),
    ("slice out of range", slice(-10, 10)),
    ("all", slice(None)),
    ("ellipsis", ...),
    ("ellipsis, int", (..., 0)),
    ("int, ellipsis", (0, ...)),
    ("None", None),
    ("None inside", (slice(None), None, 1)),
    ("None, ellipsis, slice", (None, ..., slice(None, None, 2))),
    ("empty tuple", ()),
    ("integer array", _i),
    ("repeated", np.array([1, 1, 1])),
    ("2-d integer array", _j),
    ("list", [0, 2, -1]),
    ("empty list", []),
    ("empty array", np.zeros((0,), np.int64)),
    ("boolean mask", _mask),
    ("boolean list", [True, False, True]),
    ("mask of nothing", np.zeros(3, bool)),
    ("2-d mask", _mask2),
    ("True", True),
    ("mask on axis 1", (slice(None), np.array([True, False, True, True]))),
    ("array, slice", (_i, slice(1, 3))),
    ("slice, array", (slice(None, None, -1), _i)),
    ("array, array", (_i, np.array([3, 0, 0]))),
    ("arrays that broadcast", (_i[:, None], np.array([1, 3]))),
    ("array, int", (_i, 1)),
    ("int, array", (1, _i)),
    ("array, None", (_i, None)),
    ("None between", (_i, None, _i)),
    ("ellipsis, array", (..., _i)),
    ("mask, array", (_mask, np.array([0, 3]))),
    ("0-d array", np.array(1)),
]
_keys3: list[tuple[str, Any]] = [
    ("3-d separated", (_i[:2], slice(None), np.array([1, 0]))),
    ("3-d separated by int", (0, slice(None), np.array([1, 0]))),
    ("3-d int, array apart", (np.array([0, 1]), slice(None), 1)),
    ("3-d separated, 2-d", (np.array([[0, 1], [1, 2]]), slice(None), _j)),
    ("3-d array in the middle", (slice(None), np.array([1, 0, 1]), slice(None))),
    ("3-d two at the end", (slice(None), np.array([1, 0]), np.array([0, 1]))),
    ("3-d ellipsis between", (np.array([0, 1]), ..., np.array([0, 1]))),
    ("3-d mask of two axes", (_mask2[:, :2], slice(None, None, -1))),
    ("3-d mask after slice", (slice(None), np.array([[True, False], [True, True]]))),
    ("3-d None before", (None, slice(None), np.array([1, 0]), 0)),
]
for _label, _key in _keys:
    row(
        "__getitem__",
        lambda d: d.any(3, 4),
        lambda xp, x, key=_key: x[key],
        _label,
        complex=_label in ("slice", "repeated", "boolean mask", "array, array"),
        variant=_label if _label in ("boolean mask", "array, array") else "",
        torch=" step -" not in _label and _label != "slice, array",  # no negative steps
    )
for _label, _key in _keys3:
    row(
        "__getitem__",
        lambda d: d.any(3, 2, 2),
        lambda xp, x, key=_key: x[key],
        _label,
        # no negative steps; and an integer is no index array to torch, so not apart from others
        torch=_label not in ("3-d mask of two axes", "3-d separated by int"),
        variant="3-d",
    )
row("__getitem__", lambda d: d.any(), lambda xp, x: x[()], "0-d")
row("__getitem__", lambda d: d.any(), lambda xp, x: x[None, ...], "0-d, None")
row("__getitem__", lambda d: d.any(0, 3), lambda xp, x: x[:, 1], "of nothing")
row("__getitem__", lambda d: d.any(4, 6).T[::-2], lambda xp, x: x[1:, 1], "strided")
row(
    "__getitem__",
    lambda d: (d.any(3, 4), d.integers(2, high=3)),
    lambda xp, x, i: x[i],
    "index is an input",
    variant="input",
)
row(
    "__getitem__",
    lambda d: (d.any(3, 4), d.integers(2, high=3)),
    lambda xp, x, i: x[:, i],
    "index is an input, axis 1",
)
row(
    "__getitem__",
    lambda d: (d.any(3, 2, 4), d.integers(2, high=3), d.integers(2, high=4)),
    lambda xp, x, i, j: x[i, :, j],
    "indices are inputs, apart",
)
row(
    "__getitem__",
    lambda d: (d.any(3, 4), d.integers(2, 1, high=3), d.integers(2, high=4)),
    lambda xp, x, i, j: x[i, j],
    "indices are inputs that broadcast",
)
row("__getitem__", lambda d: d.any(4), lambda xp, x: x[x > 0], "mask of itself", batch=False)
row(
    "__getitem__",
    lambda d: (d.any(2, 3, 4), d.integers(2, high=4)),
    lambda xp, x, i: x[..., i],
    "index is an input, ellipsis",
)
row(
    "__getitem__",
    lambda d: (d.any(2, 3, 4), d.integers(2, high=4)),
    lambda xp, x, i: x[:, _mask, i],
    "index is an input, mask",
)
row(
    "__getitem__",
    lambda d: (d.any(2, 3, 4), d.integers(3, high=3)),
    lambda xp, x, i: x[None, ::-1, i, 1],
    "index is an input, None, step, int",
    torch=False,
)
row("__iter__", lambda d: d.any(3, 2), lambda xp, x: tuple(2 * part for part in x))
row("take", lambda d: (d.any(4), d.integers(3, high=4)), lambda xp, x, i: xp.take(x, i), "1-d")
row(
    "take",
    lambda d: (d.any(2, 3), d.integers(4, high=3)),
    lambda xp, x, i: xp.take(x, i, axis=-1),
    "axis=-1",
    complex=True,
)
row(
    "take",
    lambda d: (d.any(2, 3), d.integers(2, high=2)),
    lambda xp, x, i: xp.take(x, i, axis=0),
    "axis=0",
)
row("take", lambda d: d.any(3), lambda xp, x: xp.take(x, np.array([0, 0, 0])), torch=False)
row(
    "take_along_axis",
    lambda d: (d.any(2, 3), d.integers(2, 4, high=3)),
    lambda xp, x, i: xp.take_along_axis(x, i, axis=1),
    "axis=1",
    complex=True,
)
row(
    "take_along_axis",
    lambda d: (d.any(3, 2), d.integers(1, 2, high=3)),
    lambda xp, x, i: xp.take_along_axis(x, i, axis=0),
    "axis=0",
)
row(
    "take_along_axis",
    lambda d: (d.any(3, 2), d.integers(4, 1, high=3)),
    lambda xp, x, i: xp.take_along_axis(x, i, axis=0),
    "indices broadcast",
)
row("sort", lambda d: d.distinct(2, 4))
row("sort", lambda d: d.distinct(3, 2), keywords={"axis": 0})
row(
    "sort",
    lambda d: d.distinct(2, 4),
    keywords={"descending": True},
    reference=lambda x: -np.sort(-x),
)
row("sort", lambda d: d.distinct(0, 2), label="empty", keywords={"axis": 0})
row("argsort", lambda d: d.distinct(2, 4), differentiable=False)
row("argsort", lambda d: d.distinct(3, 2), keywords={"axis": 0}, differentiable=False)
row(
    "argsort",
    lambda d: d.distinct(2, 4),
    keywords={"descending": True},
    reference=lambda x: np.argsort(-x),
    differentiable=False,
)

# --- contractions --------------------------------------------------------------------------------

for _a, _b in [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 2)),
    ((4, 2, 3), (3,)),
    ((3,), (4, 3, 2)),
    ((4, 2, 3), (3, 2)),
    ((2, 3), (4, 3, 2)),
    ((4, 2, 3), (4, 3, 2)),
    ((4, 1, 2, 3), (2, 3, 2)),
    ((1, 2, 3), (4, 3, 2)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((0,), (0,)),
    ((0, 2, 3), (3, 2)),
    ((2, 0), (0,)),
]:
    row("matmul", lambda d, a=_a, b=_b: (d.any(*a), d.any(*b)), label=f"{_a},{_b}", complex=True)
row("__matmul__", lambda d: (d.any(2, 3), d.any(3)), lambda xp, x, y: x @ y, complex=True)
row("__matmul__", lambda d: d.any(3, 3), lambda xp, x: x @ x, "same input", complex=True)
row("__matmul__", lambda d: d.any(3), lambda xp, x: x @ x, "same vector", complex=True)
row(
    "__rmatmul__",
    lambda d: d.any(3, 2),
    lambda xp, x: np.arange(6.0).reshape(2, 3) @ x,
    torch=False,
)
row("matmul", lambda d: (d.any(4, 6).T[::-2], d.any(4, 2)[::-1]), label="strided")
row(
    "matmul",
    lambda d: (Draw(1, complex_numbers=True).any(2, 3), d.any(3, 2)),
    label="complex and real",
    variant="real and complex",
)
row("vecdot", lambda d: (d.any(2, 3), d.any(2, 3)), complex=True)
row("vecdot", lambda d: (d.any(3), d.any(2, 3)), label="broadcast", complex=True)
row("vecdot", lambda d: (d.any(3, 2), d.any(3, 2)), keywords={"axis": -2})
row("outer", lambda d: (d.any(2), d.any(3)), complex=True)
for _keywords in ({"axes": 1}, {"axes": 0}, {"axes": ((1, 0), (0, 1))}, {"axes": (1, 0)}):
    row(
        "tensordot",
        lambda d: (d.any(2, 3), d.any(3, 2)),
        keywords=_keywords,
        complex=True,
        torch=_keywords["axes"] != (1, 0),
    )
row("tensordot", lambda d: (d.any(2, 2, 3), d.any(2, 3, 2)), label="axes=2")
row("tensordot", lambda d: (d.any(2, 0), d.any(0, 2)), label="empty", keywords={"axes": 1})

_subscripts: list[tuple[str, list[tuple[int, ...]]]] = [
    ("i->", [(3,)]),
    ("ij->ji", [(2, 3)]),
    ("ij->i", [(2, 3)]),
    ("ij", [(2, 3)]),
    ("ji", [(2, 3)]),
    ("ii", [(3, 3)]),
    ("ii->i", [(3, 3)]),
    ("iij->ij", [(2, 2, 3)]),
    ("iji->j", [(2, 3, 2)]),
    ("iii->i", [(2, 2, 2)]),
    ("iijj->ij", [(2, 2, 3, 3)]),
    ("...ii->...", [(2, 3, 3)]),
    ("...->...", [(2, 3)]),
    ("i,i->", [(3,), (3,)]),
    ("i,i->i", [(3,), (3,)]),
    ("i,j->ij", [(2,), (3,)]),
    ("i,j->ji", [(2,), (3,)]),
    ("ij,jk->ik", [(2, 3), (3, 2)]),
    ("ij,jk", [(2, 3), (3, 2)]),
    ("ij,jk->ki", [(2, 3), (3, 2)]),
    ("ij,ij->", [(2, 3), (2, 3)]),
    ("ij,ji->", [(2, 3), (3, 2)]),
    ("ij,kl->", [(2, 3), (2, 2)]),
    ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
    ("bij,jk->bki", [(2, 2, 3), (3, 2)]),
    ("ij,j->i", [(2, 3), (3,)]),
    (",ij->ij", [(), (2, 3)]),
    (",->", [(), ()]),
    ("...ij,...jk->...ik", [(2, 2, 3), (3, 2)]),
    ("...i,...i", [(2, 3), (3,)]),
    ("i...,i...->...", [(2, 3), (2, 3)]),
    ("b...i,ij->b...j", [(2, 2, 3), (3, 2)]),
    ("ii,ij->j", [(3, 3), (3, 2)]),
    ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 2)]),
    ("i,ij,j->", [(2,), (2, 3), (3,)]),
    ("i,i,i->i", [(3,), (3,), (3,)]),
    ("ij,ik,il->jkl", [(2, 2), (2, 2), (2, 2)]),
    ("ij,jk->ik", [(2, 0), (0, 3)]),
    ("ij,jk->ik", [(0, 2), (2, 3)]),
    ("i j , j k -> i k", [(2, 3), (3, 2)]),
    ("...i,...i->...", [(2, 1, 3), (2, 3)]),
]
for _text, _shapes in _subscripts:
    row(
        "einsum",
        lambda d, shapes=_shapes: tuple(d.any(*s) for s in shapes),
        lambda xp, *a, text=_text: xp.einsum(text, *a),
        f"{_text} {_shapes}",
        complex=_text in ("ij,jk->ik", "ii", "i,ij,j->"),
    )
row("einsum", lambda d: d.any(3, 3), lambda xp, x: xp.einsum("ij,jk->ik", x, x), "same input")
row(
    "einsum",
    lambda d: (d.any(2, 3), d.any(2, 3, 2)),
    lambda xp, x, y: xp.einsum(x, [0, 30], y, [0, 30, ...], [..., 0]),
    "lists of numbers",
    complex=True,
)
row("einsum", lambda d: d.any(3, 2), lambda xp, x: xp.einsum(x, [30, 2]), "numbers, implied output")
row("einsum", lambda d: d.any(2), lambda xp, x: xp.einsum("i,j,k->ijk", x, x, x), "same thrice")

# --- extensions, in files of their own -----------------------------------------------------------

import samples_fft  # noqa: E402, F401  (adds its rows)
import samples_linalg  # noqa: E402, F401  (adds its rows)
import samples_nn  # noqa: E402, F401  (adds its rows)
import samples_quantiles  # noqa: E402, F401  (adds its rows)
import samples_special  # noqa: E402, F401  (adds its rows)
import samples_standard  # noqa: E402, F401  (adds its rows)
