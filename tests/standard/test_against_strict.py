"""The namespace beside array-api-strict, which is the standard and nothing else.

Every public name with its signature, then every function on a table of inputs and dtypes: values,
dtypes, shapes, and what becomes of NaN, infinities and signed zeros.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from rows import Row, over

import arraygrad as ag

NAMESPACES = {"": (ag, strict), "linalg.": (ag.linalg, strict.linalg), "fft.": (ag.fft, strict.fft)}
# How array-api-strict itself is set up: not of the standard.
OWN = {
    "ArrayAPIStrictFlags",
    "Device",
    "__version__",
    "get_array_api_strict_flags",
    "reset_array_api_strict_flags",
    "set_array_api_strict_flags",
}
DTYPES = {
    name: getattr(strict, name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 "
        "complex128"
    ).split()
}
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = tuple(name for name in DTYPES if "int" in name)
NUMBERS = (*INTEGERS, *FLOATS, *COMPLEX)


def names() -> list[str]:
    return [
        prefix + name
        for prefix, (_, theirs) in NAMESPACES.items()
        for name in theirs.__all__
        if name not in OWN and not (prefix and name.endswith("Result"))
    ]


def lookup(space: Any, name: str) -> Any:
    for part in name.split("."):
        space = getattr(space, part)
    return space


# --- names and signatures ------------------------------------------------------------------------


@over("name", names())
def test_every_name_of_the_standard(name: str) -> None:
    found, expected = lookup(ag, name), lookup(strict, name)
    assert callable(found) == callable(expected)
    assert (
        name.rpartition(".")[2]
        in (NAMESPACES[name.rpartition(".")[0] + "."][0] if "." in name else ag).__all__
    )


@over("name", [n for n in names() if inspect.isfunction(lookup(strict, n))])
def test_signatures(name: str) -> None:
    ours = inspect.signature(lookup(ag, name))
    theirs = inspect.signature(lookup(strict, name))
    expected = list(theirs.parameters.values())
    for i, parameter in enumerate(expected):
        kinds = type(parameter)
        if parameter.kind is kinds.VAR_POSITIONAL:
            assert any(p.kind is kinds.VAR_POSITIONAL for p in ours.parameters.values())
        elif parameter.kind is kinds.POSITIONAL_ONLY:
            found = list(ours.parameters.values())[i]
            assert found.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
            assert (found.default is kinds.empty) == (parameter.default is kinds.empty)
        else:
            found = ours.parameters[parameter.name]
            assert found.kind in (kinds.KEYWORD_ONLY, kinds.POSITIONAL_OR_KEYWORD)
            if parameter.kind is kinds.POSITIONAL_OR_KEYWORD:
                assert list(ours.parameters).index(parameter.name) == i
                assert found.kind is kinds.POSITIONAL_OR_KEYWORD
            if isinstance(parameter.default, int | float | str | type(None)):
                # Where the standard has no default, ours may have one.
                assert found.default == parameter.default
    required = [p for p in ours.parameters.values() if p.default is p.empty]
    required = [p for p in required if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    assert {p.name for p in required if p.kind is not p.POSITIONAL_ONLY} <= set(theirs.parameters)


def test_methods_and_attributes() -> None:
    array = strict.asarray([[1.0]])
    public = {n for n in dir(array) if not n.startswith("_")}
    magic = {n for n in vars(type(array)) if n.startswith("__")}
    python = {"__annotations__", "__dict__", "__doc__", "__init__", "__module__", "__new__"}
    python |= {"__weakref__", "__static_attributes__", "__firstlineno__", "__buffer__"}
    tensor = ag.asarray([[1.0]])
    assert [n for n in public | (magic - python) if not hasattr(tensor, n)] == []


# --- comparing results ---------------------------------------------------------------------------


def as_numpy(array: Any) -> Any:
    if isinstance(array, ag.Tensor):
        return array.numpy()
    return array._array


def assert_same(found: Any, expected: Any, rtol: float = 0.0) -> None:
    """The same structure of arrays, with the same dtypes and bits; NaN is NaN."""
    if isinstance(expected, tuple | list):
        assert isinstance(found, tuple)
        assert type(found).__name__ == type(expected).__name__
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b, rtol)
        return
    if not hasattr(expected, "dtype"):
        assert found == expected
        assert type(found) is type(expected)
        return
    a, b = as_numpy(found), as_numpy(expected)
    assert a.dtype == b.dtype
    assert found.shape == expected.shape
    for x, y in ((a.real, b.real), (a.imag, b.imag)) if a.dtype.kind == "c" else ((a, b),):
        np.testing.assert_allclose(x, y, rtol=1e-6 * bool(rtol) if x.dtype == np.float32 else rtol)
        if x.dtype.kind == "f":
            zeros = (x == 0) & (y == 0)
            np.testing.assert_array_equal(np.signbit(x)[zeros], np.signbit(y)[zeros])


def both(
    call: Callable[..., Any], *arrays: Any, dtypes: tuple[str | None, ...] = (), rtol: float = 0.0
) -> None:
    """Run a call on tensors and on strict arrays, and compare."""
    results = []
    for space in (ag, strict):
        made = [
            a
            if not isinstance(a, np.ndarray)
            else space.asarray(a, dtype=None if d is None else getattr(space, d))
            for a, d in itertools.zip_longest(arrays, dtypes)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            results.append(call(space, *made))
    assert_same(*results, rtol=rtol)


def special_values(dtype: str) -> Any:
    """All that is not ordinary about a dtype, and some that is."""
    if dtype == "bool":
        return np.array([True, False])
    if "int" in dtype:
        limits = np.iinfo(dtype)
        few = [0, 1, 2, 3, 5, 17, limits.max] + ([-1, -2, -7, limits.min] if limits.min else [])
        return np.array(few, dtype)
    reals = [0.0, -0.0, 1.0, -1.0, 0.3, -0.7, 2.5, -3.5, np.inf, -np.inf, np.nan]
    if dtype in COMPLEX:
        return np.array([complex(a, b) for a in reals for b in reals], dtype)
    return np.array([*reals, 1e-30, 700.0], dtype)


# --- element by element --------------------------------------------------------------------------

_FLOATING = (*FLOATS, *COMPLEX)
_REAL = (*INTEGERS, *FLOATS)
UNARY = {
    "abs": NUMBERS,
    "acos": _FLOATING,
    "acosh": _FLOATING,
    "asin": _FLOATING,
    "asinh": _FLOATING,
    "atan": _FLOATING,
    "atanh": _FLOATING,
    "bitwise_invert": ("bool", *INTEGERS),
    "ceil": _REAL,
    "conj": NUMBERS,
    "cos": _FLOATING,
    "cosh": _FLOATING,
    "exp": _FLOATING,
    "expm1": FLOATS,
    "floor": _REAL,
    "imag": COMPLEX,
    "isfinite": NUMBERS,
    "isinf": NUMBERS,
    "isnan": NUMBERS,
    "log": _FLOATING,
    "log10": _FLOATING,
    "log1p": _FLOATING,
    "log2": _FLOATING,
    "logical_not": ("bool",),
    "negative": NUMBERS,
    "positive": NUMBERS,
    "real": NUMBERS,
    "reciprocal": _FLOATING,
    "round": NUMBERS,
    "sign": NUMBERS,
    "signbit": FLOATS,
    "sin": _FLOATING,
    "sinh": _FLOATING,
    "sqrt": _FLOATING,
    "square": NUMBERS,
    "tan": _FLOATING,
    "tanh": _FLOATING,
    "trunc": _REAL,
}
BINARY = {
    "add": NUMBERS,
    "atan2": FLOATS,
    "bitwise_and": ("bool", *INTEGERS),
    "bitwise_or": ("bool", *INTEGERS),
    "bitwise_xor": ("bool", *INTEGERS),
    "copysign": FLOATS,
    "divide": _FLOATING,
    "equal": tuple(DTYPES),
    "greater": _REAL,
    "greater_equal": _REAL,
    "hypot": FLOATS,
    "less": _REAL,
    "less_equal": _REAL,
    "logaddexp": FLOATS,
    "logical_and": ("bool",),
    "logical_or": ("bool",),
    "logical_xor": ("bool",),
    "maximum": _REAL,
    "minimum": _REAL,
    "multiply": NUMBERS,
    "nextafter": FLOATS,
    "not_equal": tuple(DTYPES),
    "pow": _FLOATING,
    "remainder": FLOATS,
    "subtract": NUMBERS,
}


@over("name, dtype", [(n, d) for n, ds in UNARY.items() for d in ds])
def test_unary(name: str, dtype: str) -> None:
    x = special_values(dtype)
    if name in ("reciprocal", "sign") and dtype in COMPLEX:
        x = x[np.isfinite(x) & (x.real != 0) & (x.imag != 0)]  # nothing is said of the others
    if name == "acosh" and dtype in COMPLEX:
        x = x[(x.real != 0) | ~np.isnan(x.imag)]  # where not all builds of NumPy are right
    for array in (x, x[:1].reshape(()), x[:0], x[:2].reshape(1, 2)):
        both(lambda xp, a: getattr(xp, name)(a), array, rtol=1e-14)


@over("name, dtype", [(n, d) for n, ds in BINARY.items() for d in ds])
def test_binary(name: str, dtype: str) -> None:
    x = special_values(dtype)
    if dtype in COMPLEX:
        x = x[::5]
    both(lambda xp, a, b: getattr(xp, name)(a, b), x[:, None], x[None, :], rtol=1e-14)
    both(lambda xp, a, b: getattr(xp, name)(a, b), x[:1].reshape(()), x, rtol=1e-14)
    number = x[1].item()
    both(lambda xp, a: getattr(xp, name)(a, number), x, rtol=1e-14)
    both(lambda xp, a: getattr(xp, name)(number, a), x, rtol=1e-14)


@over("name, dtype", itertools.product(["floor_divide", "remainder"], INTEGERS))
def test_division_of_integers(name: str, dtype: str) -> None:
    x = special_values(dtype)
    both(lambda xp, a, b: getattr(xp, name)(a, b), x[:, None], x[x != 0][None, :])


@over("name, dtype", itertools.product(["bitwise_left_shift", "bitwise_right_shift"], INTEGERS))
def test_shifts(name: str, dtype: str) -> None:
    x = special_values(dtype)
    both(lambda xp, a, b: getattr(xp, name)(a, b), x[:, None], np.arange(8, dtype=dtype)[None, :])


@pytest.mark.parametrize("dtype", FLOATS)
def test_floor_divide_where_numpy_deviates(dtype: str) -> None:
    """At infinities the standard wants what division gives."""
    inf, nan = np.inf, np.nan
    rows = {
        inf: {inf: nan, -inf: nan, 2.0: inf, -2.0: -inf, 0.0: inf, nan: nan},
        -inf: {inf: nan, -inf: nan, 2.0: -inf, -2.0: inf, 0.0: -inf},
        3.0: {inf: 0.0, -inf: -0.0, 2.0: 1.0, -2.0: -2.0, 0.0: inf},
        -3.0: {inf: -0.0, -inf: 0.0, 2.0: -2.0, -2.0: 1.0, 0.0: -inf},
        0.0: {inf: 0.0, -inf: -0.0, 2.0: 0.0, -2.0: -0.0, 0.0: nan},
    }
    x, y, expected = zip(
        *((a, b, c) for a, row in rows.items() for b, c in row.items()), strict=True
    )
    left, right = (ag.asarray(list(v), dtype=getattr(ag, dtype)) for v in (x, y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for found in (ag.floor_divide(left, right), left // right):
            assert found.dtype == dtype
            np.testing.assert_array_equal(found.array, expected)
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(
                np.signbit(found.array)[numbers], np.signbit(expected)[numbers]
            )


@pytest.mark.parametrize("dtype", COMPLEX)
def test_expm1_where_numpy_deviates(dtype: str) -> None:
    inf, nan = np.inf, np.nan
    cases = {
        0j: (0.0, 0.0),
        complex(-0.0, 0.0): (0.0, 0.0),
        complex(inf, 0.0): (inf, 0.0),
        complex(-inf, 0.0): (-1.0, 0.0),
        complex(-inf, 2.0): (-1.0, -0.0 if np.cos(2.0) > 0 else 0.0),
        complex(inf, 2.0): (-inf, inf),
        complex(-inf, inf): (-1.0, 0.0),
        complex(-inf, nan): (-1.0, 0.0),
        complex(inf, inf): (inf, nan),
        complex(inf, nan): (inf, nan),
        complex(nan, 0.0): (nan, 0.0),
        complex(nan, 1.0): (nan, nan),
        complex(nan, nan): (nan, nan),
        complex(1.0, inf): (nan, nan),
        complex(1.0, nan): (nan, nan),
    }
    x = ag.asarray(list(cases), dtype=getattr(ag, dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = ag.expm1(x).array
        small = ag.expm1(ag.asarray([1e-20 + 1e-20j], dtype=getattr(ag, dtype))).array
    expected = np.array([complex(*value) for value in cases.values()])
    np.testing.assert_array_equal(np.abs(found.real), np.abs(expected.real))
    numbers = ~np.isnan(expected.real)
    np.testing.assert_array_equal(
        np.signbit(found.real)[numbers], np.signbit(expected.real)[numbers]
    )
    np.testing.assert_array_equal(np.abs(found.imag), np.abs(expected.imag))
    np.testing.assert_allclose(small, [1e-20 + 1e-20j], rtol=1e-6)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_clip_and_where(dtype: str) -> None:
    x = special_values(dtype)
    mask = np.arange(x.size) % 2 == 0
    both(lambda xp, c, a, b: xp.where(c, a, b), mask, x, x[::-1].copy())
    both(lambda xp, c, a: xp.where(c, a, 1), mask, x)
    if dtype not in COMPLEX:
        both(lambda xp, a: xp.clip(a, 1, 3), x)
        both(lambda xp, a: xp.clip(a, min=1), x)
        both(lambda xp, a: xp.clip(a, max=2), x)
        both(lambda xp, a: xp.clip(a), x)
        wide = "float64" if dtype in FLOATS else "uint64" if dtype[0] == "u" else "int64"
        both(lambda xp, a, b: xp.clip(a, b, 5), x, np.ones(x.shape), dtypes=(dtype, wide))


_OPERATORS: dict[Callable[..., Any], tuple[str, ...]] = {
    operator.add: NUMBERS,
    operator.sub: NUMBERS,
    operator.mul: NUMBERS,
    operator.truediv: _FLOATING,
    operator.mod: FLOATS,
    operator.pow: _FLOATING,
    operator.and_: ("bool", *INTEGERS),
    operator.or_: ("bool", *INTEGERS),
    operator.xor: ("bool", *INTEGERS),
    operator.lt: _REAL,
    operator.le: _REAL,
    operator.gt: _REAL,
    operator.ge: _REAL,
    operator.eq: tuple(DTYPES),
    operator.ne: tuple(DTYPES),
    operator.iadd: NUMBERS,
    operator.isub: NUMBERS,
    operator.imul: NUMBERS,
    operator.itruediv: _FLOATING,
    operator.ipow: _FLOATING,
    operator.iand: ("bool", *INTEGERS),
    operator.ior: ("bool", *INTEGERS),
    operator.ixor: ("bool", *INTEGERS),
}


@over("function, dtype", [(f, d) for f, ds in _OPERATORS.items() for d in ds])
def test_operators(function: Callable[..., Any], dtype: str) -> None:
    x = special_values(dtype)[:8]
    y = x[::-1].copy()
    number = x[1].item()
    both(lambda xp, a, b: function(a, b), x.copy(), y, rtol=1e-14)
    both(lambda xp, a: function(a, number), x.copy(), rtol=1e-14)
    if not function.__name__.startswith("i"):
        both(lambda xp, a: function(number, a), x, rtol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversion_to_python(dtype: str) -> None:
    one = np.ones((), dtype)
    for convert in (complex, float, int, bool):
        if convert in (float, int) and dtype in COMPLEX:
            continue
        both(lambda xp, a, f=convert: f(a), one)
    if "int" in dtype:
        both(lambda xp, a: operator.index(a), one)


# --- everything else -----------------------------------------------------------------------------

_A = np.array([[3.0, -1.0, 2.0], [0.0, 5.0, 2.0]])
_B = np.arange(24.0).reshape(2, 3, 4) % 7 - 3
_REDUCED: list[dict[str, Any]] = [
    {},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": (0, 1)},
    {"axis": ()},
]
CALLS: dict[str, list[tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...]]]] = {}


def case(
    name: str, call: Callable[..., Any], *arrays: Any, dtypes: tuple[str, ...] = ("float64",)
) -> None:
    CALLS.setdefault(name, []).append((call, arrays, dtypes))


for _name in ("sum", "prod", "mean", "max", "min", "std", "var", "all", "any", "count_nonzero"):
    _dtypes = {
        "sum": NUMBERS,
        "prod": NUMBERS,
        "mean": (*FLOATS, *COMPLEX),
        "max": _REAL,
        "min": _REAL,
        "std": FLOATS,
        "var": FLOATS,
    }.get(_name, tuple(DTYPES))
    for _keywords in _REDUCED:
        if _keywords.get("axis") == () and _name in ("mean", "max", "min", "std", "var"):
            continue
        case(
            _name,
            lambda xp, x, n=_name, k=_keywords: getattr(xp, n)(x, **k),
            np.abs(_A),
            dtypes=_dtypes,
        )
    if _name in ("sum", "prod", "all", "any"):
        case(_name, lambda xp, x, n=_name: getattr(xp, n)(x, axis=0), _A[:0], dtypes=_dtypes)
for _name in ("sum", "prod", "cumulative_sum", "cumulative_prod"):
    case(
        _name,
        lambda xp, x, n=_name: getattr(xp, n)(x, axis=1, dtype=xp.float32),
        _A,
        dtypes=("float64", "int16"),
    )
    case(
        _name, lambda xp, x, n=_name: getattr(xp, n)(x, axis=1, dtype=xp.int8), _A, dtypes=INTEGERS
    )
for _name in ("std", "var"):
    case(_name, lambda xp, x, n=_name: getattr(xp, n)(x, correction=1, axis=1), _A, dtypes=FLOATS)
for _name in ("cumulative_sum", "cumulative_prod"):
    case(_name, lambda xp, x, n=_name: getattr(xp, n)(x, axis=1), np.abs(_A), dtypes=NUMBERS)
    case(
        _name,
        lambda xp, x, n=_name: getattr(xp, n)(x, axis=0, include_initial=True),
        np.abs(_A),
        dtypes=NUMBERS,
    )
for _name in ("argmax", "argmin"):
    for _keywords in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}, {"keepdims": True}):
        case(
            _name,
            lambda xp, x, n=_name, k=_keywords: getattr(xp, n)(x, **k),
            np.abs(_A),
            dtypes=_REAL,
        )
for _name in ("sort", "argsort"):
    for _keywords in ({}, {"axis": 0}, {"descending": True}, {"stable": False}):
        case(
            _name,
            lambda xp, x, n=_name, k=_keywords: getattr(xp, n)(x, **k),
            np.abs(_A),
            dtypes=_REAL,
        )


def without_signs_of_zeros(result: Any) -> Any:
    """A result, or several, of which the standard leaves open which of equal zeros it is."""
    return tuple(r + 0 for r in result) if isinstance(result, tuple) else result + 0


_repeated = np.array([[3, 1, 3], [2, 1, 1]])
for _name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    case(_name, lambda xp, x, n=_name: getattr(xp, n)(x), _repeated, dtypes=tuple(DTYPES))
    case(_name, lambda xp, x, n=_name: getattr(xp, n)(x), np.array(2.0))
    case(
        _name,
        lambda xp, x, n=_name: without_signs_of_zeros(getattr(xp, n)(x)),
        np.array([np.nan, 1.0, np.nan, -0.0, 0.0]),
    )
case("nonzero", lambda xp, x: xp.nonzero(x), _A, dtypes=tuple(DTYPES)[:1] + FLOATS + COMPLEX)
_sorted = np.array([1, 2, 2, 3])
for _side in ("left", "right"):
    case(
        "searchsorted",
        lambda xp, x, s=_side: xp.searchsorted(
            x, xp.asarray([[0, 2], [3, 4]], dtype=x.dtype), side=s
        ),
        _sorted,
        dtypes=_REAL,
    )
case("searchsorted", lambda xp, x: xp.searchsorted(x, 2), _sorted, dtypes=("int64",))
case(
    "searchsorted",
    lambda xp, x: xp.searchsorted(x, x, sorter=xp.argsort(x)),
    _sorted[::-1].copy(),
    dtypes=_REAL,
)
case("isin", lambda xp, x: xp.isin(x, x[0, :2]), _repeated, dtypes=INTEGERS)
case("isin", lambda xp, x: xp.isin(x, 1), _repeated, dtypes=("int64",))
for _keywords in ({}, {"axis": 0}, {"n": 2}, {"n": 0}):
    case("diff", lambda xp, x, k=_keywords: xp.diff(x, **k), np.abs(_A), dtypes=NUMBERS)
case(
    "diff", lambda xp, x: xp.diff(x, prepend=x[:, :1], append=x[:, -2:]), np.abs(_A), dtypes=NUMBERS
)

case("matmul", lambda xp, x: xp.matmul(x, xp.matrix_transpose(x)), np.abs(_A), dtypes=NUMBERS)
case("matmul", lambda xp, x: x @ x[0, :], np.abs(_A), dtypes=NUMBERS)
case("matrix_transpose", lambda xp, x: xp.matrix_transpose(x), _B, dtypes=FLOATS)
case("matrix_transpose", lambda xp, x: x.mT, _B)
case("matrix_transpose", lambda xp, x: x.T, _A)
for _axes in (0, 1, ((1,), (1,)), ((0, 1), (0, 1))):
    _other = (lambda xp, x: xp.matrix_transpose(x)) if _axes == 1 else (lambda xp, x: x)
    case(
        "tensordot",
        lambda xp, x, axes=_axes, other=_other: xp.tensordot(x, other(xp, x), axes=axes),
        np.abs(_A),
        dtypes=NUMBERS,
    )
case("vecdot", lambda xp, x: xp.vecdot(x, x), np.abs(_A), dtypes=NUMBERS)
case("vecdot", lambda xp, x: xp.vecdot(x, x[0, :]), np.abs(_A), dtypes=NUMBERS)
case("vecdot", lambda xp, x: xp.vecdot(x, x, axis=-2), np.abs(_A), dtypes=NUMBERS)
case("vecdot", lambda xp, x: xp.vecdot(x * (1 + 2j), x), _A, dtypes=COMPLEX)

case("broadcast_arrays", lambda xp, x: xp.broadcast_arrays(x, x[0, :], x[:, :1]), _A)
case("broadcast_to", lambda xp, x: xp.broadcast_to(x, (4, 2, 3)), _A)
case("broadcast_shapes", lambda xp, x: xp.broadcast_shapes((2, 1), (3,), ()), _A)
for _axis in (0, -1, None):
    case("concat", lambda xp, x, a=_axis: xp.concat([x, x], axis=a), _A, dtypes=tuple(DTYPES))
case(
    "concat",
    lambda xp, x: xp.concat([xp.asarray(x, dtype=xp.float32), x]),
    _A,
)
case("stack", lambda xp, x: xp.stack([x, x], axis=-1), _A, dtypes=tuple(DTYPES))
case("expand_dims", lambda xp, x: xp.expand_dims(x, axis=1), _A)
case("expand_dims", lambda xp, x: xp.expand_dims(x, -1), _A)
case("flip", lambda xp, x: xp.flip(x), _B)
case("flip", lambda xp, x: xp.flip(x, axis=(0, -1)), _B)
case("moveaxis", lambda xp, x: xp.moveaxis(x, 0, -1), _B)
case("moveaxis", lambda xp, x: xp.moveaxis(x, (0, 1), (1, 2)), _B)
case("permute_dims", lambda xp, x: xp.permute_dims(x, (2, 0, 1)), _B)
case("repeat", lambda xp, x: xp.repeat(x, 2), _A)
case("repeat", lambda xp, x: xp.repeat(x, xp.asarray([1, 0, 2]), axis=1), _A)
case("reshape", lambda xp, x: xp.reshape(x, (3, -1)), _A)
case("reshape", lambda xp, x: xp.reshape(x, (6,), copy=True), _A)
case("roll", lambda xp, x: xp.roll(x, 2), _A)
case("roll", lambda xp, x: xp.roll(x, (1, -1), axis=(0, 1)), _A)
case("squeeze", lambda xp, x: xp.squeeze(x[:1, :], 0), _A)
case("squeeze", lambda xp, x: xp.squeeze(x[:1, :1], (0, 1)), _A)
case("tile", lambda xp, x: xp.tile(x, (2, 1, 3)), _A)
case("unstack", lambda xp, x: xp.unstack(x, axis=-1), _A)
case("tril", lambda xp, x: xp.tril(x, k=1), _B)
case("triu", lambda xp, x: xp.triu(x, k=-1), _B)
case("take", lambda xp, x: xp.take(x, xp.asarray([2, 0, 0]), axis=1), _A, dtypes=tuple(DTYPES))
case("take", lambda xp, x: xp.take(x[0, :], xp.asarray([2, 0, 1, 1])), _A)
case("take_along_axis", lambda xp, x: xp.take_along_axis(x, xp.argsort(x)), _A)
case("take_along_axis", lambda xp, x: xp.take_along_axis(x, xp.argsort(x, axis=0), axis=0), _A)
case("astype", lambda xp, x: xp.astype(x, xp.float32), _A, dtypes=_REAL)
case("astype", lambda xp, x: xp.astype(x, xp.int8), np.abs(_A), dtypes=_REAL)
case("astype", lambda xp, x: xp.astype(x, xp.bool), _A, dtypes=("bool", *_REAL))
case("astype", lambda xp, x: xp.astype(x, xp.float64, copy=False), _A)

for _name in ("zeros", "ones"):
    case(_name, lambda xp, x, n=_name: getattr(xp, n)((2, 3)), _A)
    case(_name, lambda xp, x, n=_name: getattr(xp, n)(3, dtype=xp.int8), _A)
    case(
        f"{_name}_like",
        lambda xp, x, n=_name: getattr(xp, f"{n}_like")(x),
        _A,
        dtypes=tuple(DTYPES),
    )
case("empty", lambda xp, x: xp.empty((2, 0)), _A)
case("empty_like", lambda xp, x: xp.empty_like(x[:0, :], dtype=xp.int32), _A)
for _value in (True, 2, 2.5, 1j):
    case("full", lambda xp, x, v=_value: xp.full((2,), v), _A)
case("full", lambda xp, x: xp.full((2, 1), 3, dtype=xp.float32), _A)
case("full_like", lambda xp, x: xp.full_like(x, 3), _A, dtypes=NUMBERS)
for _args in ((3,), (3.0,), (1, 4), (4, 1), (4, 1, -1), (0, 1, 0.25), (1, 8, 3)):
    case("arange", lambda xp, x, a=_args: xp.arange(*a), _A)
case("arange", lambda xp, x: xp.arange(4, dtype=xp.float32), _A)
case("linspace", lambda xp, x: xp.linspace(0, 1, 5), _A)
case("linspace", lambda xp, x: xp.linspace(0.0, 2.0, num=4, endpoint=False), _A)
case("linspace", lambda xp, x: xp.linspace(0, 1, 3, dtype=xp.float32), _A)
case("linspace", lambda xp, x: xp.linspace(0, 1j, 3), _A)
case("eye", lambda xp, x: xp.eye(3), _A)
case("eye", lambda xp, x: xp.eye(2, 4, k=1, dtype=xp.int16), _A)
for _indexing in ("xy", "ij"):
    case(
        "meshgrid",
        lambda xp, x, i=_indexing: xp.meshgrid(x[0, :], x[:, 0], x[0, :1], indexing=i),
        _A,
        dtypes=tuple(DTYPES),
    )
for _data in (True, 3, 2.5, 1j, [1, 2], [[1.0, 2], [3, 4]], [True, False], []):
    case("asarray", lambda xp, x, d=_data: xp.asarray(d), _A)
    case("asarray", lambda xp, x, d=_data: xp.asarray(d, dtype=xp.complex64), _A)
case("asarray", lambda xp, x: xp.asarray(x, dtype=xp.float32), _A)
case("asarray", lambda xp, x: xp.asarray(x, copy=True), _A)
case("from_dlpack", lambda xp, x: xp.from_dlpack(x), _A, dtypes=FLOATS + INTEGERS)


@over(
    "name, index, dtype",
    [(n, i, d) for n, cases in CALLS.items() for i, c in enumerate(cases) for d in c[2]],
)
def test_calls(name: str, index: int, dtype: str) -> None:
    call, arrays, _ = CALLS[name][index]
    both(call, *arrays, dtypes=(dtype,) * len(arrays), rtol=1e-14)


def test_every_function_is_called() -> None:
    alone = {"can_cast", "finfo", "iinfo", "isdtype", "result_type", "__array_namespace_info__"}
    alone |= {"floor_divide", "bitwise_left_shift", "bitwise_right_shift", "clip", "where"}
    called = {*UNARY, *BINARY, *CALLS, *alone}
    assert {n for n in names() if "." not in n and callable(lookup(strict, n))} - called == set()


_INDICES: list[Any] = [
    0,
    -1,
    (1, 2),
    slice(None, None, 2),
    (slice(None), slice(None, None, -1)),
    (..., 0),
    (None, ..., None),
    (0, None, 1),
    (np.array([1, 0]), np.array([2, 1])),
    (np.array([1, 0, 1]), 2),
    np.array([True, False]),
]


@over(
    "index, dtype",
    [
        Row("__getitem__", f"{index!r}, {dtype}", (index, dtype), variant=dtype)
        for index in _INDICES
        for dtype in ("bool", "int32", "float32", "complex128")
    ],
)
def test_indexing(index: Any, dtype: str) -> None:
    def key(xp: Any) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        made = tuple(xp.asarray(p) if isinstance(p, np.ndarray) else p for p in parts)
        # The standard wants all axes of an array to be named.
        full = len(made) > 1 or any(p is Ellipsis for p in made)
        mask = isinstance(index, np.ndarray) and index.dtype == bool
        return made if full or mask else (*made, ...)

    if isinstance(index, np.ndarray) and index.dtype == bool:
        both(lambda xp, x: x[key(xp)[0]], np.array([3, 0]), dtypes=(dtype,))
        return
    both(lambda xp, x: x[key(xp)], np.abs(_A), dtypes=(dtype,))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("invert", [False, True])
def test_isin(dtype: str, invert: bool) -> None:
    x, y = np.array([[3, 1, 3], [2, 1, 0]], dtype), np.array([[3], [0]], dtype)
    found = ag.isin(ag.asarray(x), ag.asarray(y), invert=invert)
    np.testing.assert_array_equal(found.array, np.isin(x, y, invert=invert))


# --- dtypes --------------------------------------------------------------------------------------

_PAIRS = list(itertools.product(DTYPES, repeat=2))


@over("first, second", _PAIRS, first=len(DTYPES))
def test_promotion(first: str, second: str) -> None:
    try:
        expected = strict.result_type(getattr(strict, first), getattr(strict, second))
    except TypeError:
        return  # which the standard leaves open
    name = str(expected).rpartition(".")[2]
    assert ag.result_type(getattr(ag, first), getattr(ag, second)) == getattr(ag, name)
    x, y = (ag.ones(2, dtype=getattr(ag, d)) for d in (first, second))
    assert ag.result_type(x, y) == getattr(ag, name)
    if first != "bool":
        assert (x + y).dtype == getattr(ag, name)


@over("first, second", _PAIRS, first=len(DTYPES))
def test_casts(first: str, second: str) -> None:
    try:
        strict.result_type(getattr(strict, first), getattr(strict, second))
    except TypeError:
        return  # which the standard leaves open
    expected = strict.can_cast(getattr(strict, first), getattr(strict, second))
    assert ag.can_cast(getattr(ag, first), getattr(ag, second)) is expected
    assert ag.can_cast(ag.ones(1, dtype=getattr(ag, first)), getattr(ag, second)) is expected


@pytest.mark.parametrize("dtype", NUMBERS)
def test_python_numbers_take_the_dtype(dtype: str) -> None:
    x = ag.ones(2, dtype=getattr(ag, dtype))
    assert (x + 1).dtype == x.dtype
    assert ag.result_type(x, 1) == x.dtype
    if dtype in _FLOATING:
        assert (2.5 * x).dtype == x.dtype
        assert ag.result_type(2.5, x) == x.dtype
    if dtype in COMPLEX:
        assert (x - 1j).dtype == x.dtype


KINDS: list[Any] = [
    "bool",
    "signed integer",
    "unsigned integer",
    "integral",
    "real floating",
    "complex floating",
    "numeric",
    ("integral", "bool"),
]


@over("dtype, kind", itertools.product(DTYPES, KINDS), first=len(KINDS))
def test_kinds(dtype: str, kind: Any) -> None:
    expected = strict.isdtype(getattr(strict, dtype), kind)
    assert ag.isdtype(getattr(ag, dtype), kind) is expected
    assert ag.isdtype(getattr(ag, dtype), (getattr(ag, dtype), kind)) is True


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, *INTEGERS])
def test_limits(dtype: str) -> None:
    function = "iinfo" if dtype in INTEGERS else "finfo"
    for thing in (lambda xp: getattr(xp, dtype), lambda xp: xp.ones(1, dtype=getattr(xp, dtype))):
        ours, theirs = (getattr(xp, function)(thing(xp)) for xp in (ag, strict))
        for attribute in ("bits", "max", "min", "eps", "smallest_normal"):
            if hasattr(theirs, attribute):
                found, expected = getattr(ours, attribute), getattr(theirs, attribute)
                assert type(found) is type(expected)
                assert found == expected
        assert str(theirs.dtype).endswith(f".{ours.dtype}")


def test_limits_of_the_wrong_kind() -> None:
    with pytest.raises(ValueError, match="finfo is for floating-point dtypes, not int8: use iinfo"):
        ag.finfo(ag.int8)
    with pytest.raises(ValueError, match="iinfo is for integer dtypes, not float32: use finfo"):
        ag.iinfo(ag.float32)


def test_constants() -> None:
    for name in ("e", "inf", "pi", "newaxis"):
        assert getattr(ag, name) == getattr(strict, name)
    assert np.isnan(ag.nan)
    assert ag.__array_api_version__ == strict.__array_api_version__ == "2025.12"


@pytest.mark.parametrize(
    "call",
    [
        lambda xp: xp.meshgrid(xp.ones(2), xp.ones(3)),
        lambda xp: xp.meshgrid(xp.ones(2), indexing="ij"),
        lambda xp: xp.broadcast_arrays(xp.ones(2), xp.ones((3, 1))),
        lambda xp: xp.broadcast_arrays(xp.ones(2)),
        lambda xp: xp.unstack(xp.ones((2, 3))),
        lambda xp: xp.nonzero(xp.ones(2)),
        lambda xp: xp.broadcast_shapes((2,), (3, 1)),
        lambda xp: xp.__array_namespace_info__().devices(),
    ],
)
def test_several_results_come_in_a_tuple(call: Any) -> None:
    """Since the revision of 2025, which had lists before."""
    assert type(call(strict)) is tuple
    assert type(call(ag)) is tuple


def test_several_results_come_in_a_tuple_for_all_arrays() -> None:
    x = np.ones(2)
    for kind in (x, ag.tensor(x), ag.tensor(x, requires_grad=True)):
        assert type(ag.meshgrid(kind, kind)) is tuple
        assert type(ag.broadcast_arrays(kind, kind)) is tuple


# --- inspection ----------------------------------------------------------------------------------


def test_inspection() -> None:
    ours, theirs = ag.__array_namespace_info__(), strict.__array_namespace_info__()
    assert ours.capabilities() == theirs.capabilities()
    assert ours.default_device() in ours.devices()
    for device in (None, *ours.devices()):
        default = ours.default_dtypes(device=device)
        assert default.keys() == theirs.default_dtypes().keys()
        assert {k: str(v) for k, v in default.items()} == {
            k: str(v).rpartition(".")[2] for k, v in theirs.default_dtypes().items()
        }
        for kind in (None, *KINDS, ()):
            found = ours.dtypes(device=device, kind=kind)
            assert found.keys() == theirs.dtypes(kind=kind).keys()
            assert all(getattr(ag, name) == dtype for name, dtype in found.items())
    for made in (ag.zeros(2), ag.asarray([1.0]), ag.ones_like(ag.zeros(2)), ag.arange(3)):
        assert made.device in ours.devices()
        assert made.to_device(made.device).device == made.device
    with pytest.raises(ValueError, match="kind must be one of"):
        ours.dtypes(kind="float")
    with pytest.raises(ValueError, match="device must be 'cpu' or None, not 'gpu'"):
        ours.dtypes(device="gpu")
