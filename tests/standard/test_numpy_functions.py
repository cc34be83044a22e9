"""NumPy's own functions on tensors: values like NumPy's, derivatives like finite differences."""

from __future__ import annotations

import inspect
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import Row, over

import arraygrad as ag
from arraygrad.arrays.batched import batched_type
from arraygrad.arrays.dual import dual_type
from arraygrad.errors import NoGradientError
from arraygrad.interop.numpy.rules import RULES
from arraygrad.interop.numpy.ufuncs import CALLS
from arraygrad.testing import assert_close, gradcheck

RNG = np.random.default_rng(0)


def tensors(*arrays: Any) -> list[Any]:
    return [ag.tensor(a, requires_grad=a.dtype.kind in "fc") for a in arrays]


def as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def check(call: Callable[..., Any], *arrays: Any, differentiable: bool = True) -> None:
    """The values of a call on tensors and on arrays; and its derivatives."""
    expected = as_tuple(call(*(a.copy() for a in arrays)))
    results = as_tuple(call(*tensors(*arrays)))
    assert len(results) == len(expected)
    for result, value in zip(results, expected, strict=True):
        if isinstance(value, np.ndarray | np.generic) and not isinstance(result, bool | int):
            # What does not depend on a tensor may stay an array.
            assert isinstance(result, ag.Tensor | np.ndarray)
            result = result.detach() if isinstance(result, ag.Tensor) else result
            assert_close(result, value, rtol=1e-9, atol=1e-9, equal_nan=True)
        else:
            assert result == value
    live = [r for r in results if isinstance(r, ag.Tensor) and r.requires_grad]
    assert bool(live) == differentiable
    if live:

        def smooth(*inputs: Any) -> Any:
            outputs = as_tuple(call(*inputs))
            return tuple(o for o in outputs if isinstance(o, ag.Tensor) and o.requires_grad)

        assert gradcheck(smooth, tensors(*arrays), atol=1e-6, rtol=1e-5)


def quietly(function: Any, *args: Any) -> Any:
    """Call a function that newer versions of NumPy warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return function(*args)


# --- universal functions -------------------------------------------------------------------------

_INTEGERS = {"left_shift", "right_shift", "bitwise_and", "bitwise_or", "bitwise_xor", "invert"}
_CONSTANT = {
    "isfinite",
    "isinf",
    "isnan",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
}
_CONSTANT |= {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "signbit"}
_DOMAIN = {"arccosh": 1.5, "arccos": 0.3, "arcsin": 0.3, "arctanh": 0.3}
_VECTORS = {"matmul", "vecdot", "matvec", "vecmat"}


@over("ufunc", CALLS)
def test_ufuncs(ufunc: Any) -> None:
    name = ufunc.__name__
    x = _DOMAIN.get(name, 0.73) + 0.11 * np.arange(6.0).reshape(2, 3)
    y = np.array([0.45, 1.93, 2.31])
    if name in _INTEGERS:
        x, y = np.arange(6).reshape(2, 3), np.array([1, 2, 0])
    if name == "ldexp":
        y = np.array([1, 2, 0])
    arrays = (x, y)[: ufunc.nin]
    if name == "vecmat":
        arrays = (y, np.ascontiguousarray(x.T))
    constant = name in _CONSTANT | _INTEGERS
    check(ufunc, *arrays, differentiable=not constant)
    if ufunc.nin == 2 and name not in _VECTORS:
        check(lambda x: ufunc(x, y), x, differentiable=not constant)
        if name != "ldexp":
            check(lambda y: ufunc(x, y), y, differentiable=not constant)
            check(lambda x: ufunc.outer(x, y), x, differentiable=not constant)


def test_every_ufunc_of_numpy_has_a_rule_or_a_reason() -> None:
    everything = {f for f in vars(np).values() if isinstance(f, np.ufunc)}
    without = {f.__name__ for f in everything - CALLS.keys()}
    about_integers = {"gcd", "lcm", "bitwise_count", "isnat"}
    about_bits = {"frexp", "spacing"}
    assert without - about_integers - about_bits == set()


def test_a_ufunc_without_a_rule_names_itself() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    for call, name in (
        (lambda: np.frexp(x), "numpy.frexp"),
        (lambda: np.spacing(x), "numpy.spacing"),
        (lambda: np.maximum.accumulate(x), "numpy.maximum.accumulate"),
        (lambda: np.divide.reduce(x), "numpy.divide.reduce"),
        (lambda: np.add.reduceat(x, [0, 1]), "numpy.add.reduceat"),
        (lambda: np.multiply.at(x, [0], 2.0), "numpy.multiply.at"),
    ):
        with pytest.raises(TypeError, match=f"^{name} has no derivative rule"):
            call()
    assert np.gcd(ag.asarray([4, 6]), 10).tolist() == [2, 2]  # there is nothing to lose
    assert isinstance(np.spacing(ag.asarray([1.0])), ag.Tensor)


def test_ufuncs_of_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    x = np.array([0.2, 0.7])
    check(special.expit, x)
    check(special.log1p, x)
    check(special.gammaln, x)
    check(special.xlogy, x, x + 1)
    check(special.ellipk, x)
    with pytest.raises(TypeError, match=r"agm has no derivative rule"):
        special.agm(ag.tensor(x, requires_grad=True), 1.0)


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda x: np.add.reduce(x), (2, 3)),
        (lambda x: np.add.reduce(x, axis=None), (2, 3)),
        (lambda x: np.add.reduce(x, axis=1, keepdims=True), (2, 3)),
        (lambda x: np.add.reduce(x, initial=2.0), (3,)),
        (lambda x: np.add.reduce(x, where=np.array([True, False, True])), (3,)),
        (lambda x: np.multiply.reduce(x, axis=1), (2, 3)),
        (lambda x: np.maximum.reduce(x), (2, 3)),
        (lambda x: np.minimum.reduce(x, axis=1, initial=0.1), (2, 3)),
        (lambda x: np.add.accumulate(x), (2, 3)),
        (lambda x: np.multiply.accumulate(x, axis=1), (2, 3)),
        (lambda x: np.subtract.outer(x, x), (3,)),
        (lambda x: np.add(x, [1.0, 2.0, 3.0]), (3,)),
        (lambda x: np.add([1.0, 2.0, 3.0], x), (3,)),
        (lambda x: np.multiply(x, 2, dtype=np.complex128), (3,)),
        (lambda x: np.vecdot(x, x + 1, axis=0), (2, 3)),
    ],
)
def test_methods_of_ufuncs(call: Any, shape: tuple[int, ...]) -> None:
    check(call, RNG.uniform(0.5, 1.5, shape))


def test_logical_reductions() -> None:
    x = ag.asarray([[True, False], [True, True]])
    assert np.logical_and.reduce(x).tolist() == [True, False]
    assert np.logical_or.reduce(x, axis=1).tolist() == [True, True]


def test_out() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    out = ag.zeros(2)
    assert np.multiply(x, 3, out=out) is out
    assert ag.grad(out.sum(), x).tolist() == [3, 3]
    target = ag.zeros(())
    np.sum(x * x, out=target)
    assert ag.grad(target, x).tolist() == [2, 4]
    array = np.zeros(2)
    with pytest.raises(TypeError, match=r"numpy.add: the result takes part in differentiation"):
        np.add(x, 1, out=array)
    with pytest.raises(TypeError, match="a = a"):
        array += x
    assert array.tolist() == [0, 0]
    array += x.detach()
    assert array.tolist() == [1, 2]


def test_where_of_ufuncs() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    out = ag.full(2, 7.0)
    np.multiply(x, 3, out=out, where=np.array([True, False]))
    assert out.detach().tolist() == [3, 7]
    assert ag.grad(out.sum(), x).tolist() == [3, 0]
    with pytest.raises(TypeError, match=r"numpy.multiply: where= without out="):
        np.multiply(x, 3, where=np.array([True, False]))
    with pytest.raises(TypeError, match=r"numpy.matmul: axes= is not supported"):
        np.matmul(x, x, axes=[(0,), (0,), ()])


def test_adding_at_indices() -> None:
    x = ag.tensor([1.0, 2.0, 3.0], requires_grad=True)
    out = ag.zeros(2)
    np.add.at(out, [0, 0, 1], x)
    np.subtract.at(out, ([1],), 1.0)
    assert out.detach().tolist() == [3, 2]
    assert ag.grad((out**2).sum(), x).tolist() == [6, 6, 4]
    with pytest.raises(TypeError, match=r"numpy.add.at: the values take part"):
        np.add.at(np.zeros(2), [0, 0, 1], x)
    array = np.zeros(2)
    np.add.at(array, [0, 0], ag.asarray([1.0, 2.0]))
    assert array.tolist() == [3, 0]


@pytest.mark.parametrize("ufunc", [np.add, np.subtract])
@pytest.mark.parametrize(
    ("index", "values"),
    [
        (([0, 0, 1], [1, 1, 2]), [1.0, 2.0, 4.0]),
        ((np.array([0, 1]), slice(None)), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        ((1, 2), 3.0),
        ((..., [2, 2]), [[1.0, 2.0], [3.0, 4.0]]),
        ([[0, 0], [1, 0]], 1.0),
        (([True, False], [0, 0]), [1.0, 2.0]),
        (1, [1.0, 2.0, 3.0]),
    ],
)
def test_adding_at_indices_of_several_axes(ufunc: Any, index: Any, values: Any) -> None:
    def added(y: Any, v: Any) -> Any:
        y = y * 1.0
        ufunc.at(y, index, v)
        return y

    check(added, np.arange(6.0).reshape(2, 3), np.asarray(values))
    expected, out = np.zeros((2, 3)), ag.zeros((2, 3))
    ufunc.at(expected, index, values)
    ufunc.at(out, index, values)
    assert out.tolist() == expected.tolist()
    one = ag.tensor(2.0, requires_grad=True)
    ufunc.at(out, (0, [0, 0]), [one, 1.0])
    assert abs(ag.grad(out.sum(), one)) == 1


@pytest.mark.parametrize(
    "shapes", [((3, 4), (3,)), ((3,), (3, 4)), ((3, 1), (3, 5, 4)), ((3, 3), (3,))]
)
def test_cross_products_of_different_ranks(shapes: Any) -> None:
    check(lambda x, y: np.linalg.cross(x, y, axis=0), *(RNG.normal(size=n) for n in shapes))


@pytest.mark.parametrize("triangle", ["L", "U", "l", "u"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_eigenvectors_have_the_signs_of_numpys(triangle: Any, dtype: Any) -> None:
    x = RNG.normal(size=(2, 4, 4)).astype(dtype)
    x = x + 1j * RNG.normal(size=(2, 4, 4)) if dtype is np.complex128 else x
    expected = np.linalg.eigh(x, triangle)
    found = np.linalg.eigh(ag.tensor(x, requires_grad=True), triangle)
    assert_close(found.eigenvalues.detach(), expected.eigenvalues)
    assert_close(found.eigenvectors.detach(), expected.eigenvectors)
    batched = ag.func.vmap(lambda x: np.linalg.eigh(x, triangle).eigenvectors)(x)
    assert_close(batched, expected.eigenvectors)
    other = np.linalg.eigvalsh(ag.tensor(x, requires_grad=True), triangle)
    assert_close(other.detach(), expected.eigenvalues)
    with pytest.raises(ValueError, match="UPLO must be 'L' or 'U', not 'N'"):
        np.linalg.eigh(found.eigenvectors, "N")  # type: ignore[arg-type]


# --- operators with NumPy on the left ------------------------------------------------------------

_OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.mod,
    operator.floordiv,
]


@pytest.mark.parametrize("function", _OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "left", [np.array([1.3, 2.6]), np.float64(1.3), np.float32(1.5), np.array(2.25), np.int64(3)]
)
def test_operators(function: Any, left: Any) -> None:
    right = np.array([0.7, 1.9])
    x = ag.tensor(right, requires_grad=True)
    result = function(left, x)
    assert isinstance(result, ag.Tensor)
    assert result.requires_grad
    np.testing.assert_allclose(result.detach().array, function(left, right))
    assert gradcheck(lambda x: function(left, x), [x])
    dual = dual_type(1.0)
    pushed = function(left, dual(right, np.ones(2)))
    assert isinstance(pushed, dual)
    batched = batched_type(1.0)
    member = function(left, batched(np.stack([right, right + 1])))
    assert isinstance(member, batched)
    assert member.shape == (2,)


def test_matrix_products() -> None:
    a, x = np.arange(6.0).reshape(2, 3), np.ones(3)
    check(lambda x: a @ x, x)
    assert isinstance(a @ batched_type(1.0)(np.ones((4, 3))), batched_type(1.0))
    assert isinstance(a @ dual_type(1.0)(x, x), dual_type(1.0))


def test_comparisons() -> None:
    x = ag.tensor([1.0, 3.0], requires_grad=True)
    assert (np.array([2.0, 2.0]) < x).tolist() == [False, True]
    assert (np.float64(2.0) >= x).tolist() == [True, False]


# --- the other functions -------------------------------------------------------------------------

_x = RNG.uniform(0.5, 1.5, (3, 4)) * RNG.choice([-1.0, 1.0], (3, 4))
_v = RNG.permutation(6) * 0.5 - 1.3
_m = RNG.standard_normal((3, 3))
_p = _m @ _m.T + 3 * np.eye(3)
_gaps = np.arange(12).reshape(3, 4) % 5 == 1


def _holed(x: Any) -> Any:
    return np.where(_gaps, np.nan, x)


_mask = _x > 0

# What to call, and on what; a row is for the function named first in it.
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "sum": [
        (lambda x: np.sum(x), _x),
        (lambda x: np.sum(x, 0), _x),
        (lambda x: np.sum(x, axis=(0, 1), keepdims=True), _x),
        (lambda x: np.sum(x, axis=1, dtype=np.complex128), _x),
        (lambda x: np.sum(x, where=_mask, initial=2.0), _x),
    ],
    "prod": [(lambda x: np.prod(x, 1), _x), (lambda x: np.prod(x, where=_mask), _x)],
    "mean": [
        (lambda x: np.mean(x), _x),
        (lambda x: np.mean(x, axis=0, keepdims=True), _x),
        (lambda x: np.mean(x, where=_mask), _x),
    ],
    "var": [(lambda x: np.var(x, 0, ddof=1), _x), (lambda x: np.var(x, correction=1), _x)],
    "std": [(lambda x: np.std(x), _x), (lambda x: np.std(x, axis=1, keepdims=True), _x)],
    "nanvar": [(lambda x: np.nanvar(_holed(x), axis=1, ddof=1), _x)],
    "nanstd": [(lambda x: np.nanstd(_holed(x)), _x)],
    "max": [(lambda x: np.max(x, 0), _x), (lambda x: np.max(x, initial=0.1), _x)],
    "amax": [(lambda x: np.amax(x), _x)],
    "min": [
        (lambda x: np.min(x, axis=1), _x),
        (lambda x: np.min(x, where=_mask, initial=9.0), _x),
    ],
    "amin": [(lambda x: np.amin(x, axis=1, keepdims=True), _x)],
    "nanmax": [(lambda x: np.nanmax(_holed(x)), _x)],
    "nanmin": [(lambda x: np.nanmin(_holed(x), axis=0), _x)],
    "ptp": [(lambda x: np.ptp(x, axis=1), _x)],
    "cumsum": [(lambda x: np.cumsum(x), _x), (lambda x: np.cumsum(x, axis=1), _x)],
    "cumprod": [(lambda x: np.cumprod(x, 0), _x)],
    "nancumsum": [(lambda x: np.nancumsum(_holed(x)), _x)],
    "nancumprod": [(lambda x: np.nancumprod(_holed(x), axis=1), _x)],
    "nanquantile": [(lambda x: np.nanquantile(_holed(x), [0.2, 0.8], axis=0), _x)],
    "nanpercentile": [(lambda x: np.nanpercentile(_holed(x), 40.0, method="hazen"), _x)],
    "cumulative_sum": [(lambda x: np.cumulative_sum(x, axis=1, include_initial=True), _x)],
    "cumulative_prod": [(lambda x: np.cumulative_prod(x, axis=0), _x)],
    "nansum": [
        (lambda x: np.nansum(_holed(x), 0), _x),
        (lambda x: np.nansum(_holed(x), 1, where=_mask, initial=2.0), _x),
    ],
    "nanprod": [
        (lambda x: np.nanprod(_holed(x), axis=1), _x),
        (lambda x: np.nanprod(_holed(x), initial=2.0), _x),
    ],
    "nanmean": [(lambda x: np.nanmean(_holed(x), axis=1, keepdims=True), _x)],
    "median": [(lambda x: np.median(x, axis=1), _x), (lambda x: np.median(x), _x)],
    "nanmedian": [
        (lambda x: np.nanmedian(_holed(x)), _x),
        (lambda x: np.nanmedian(_holed(x), axis=1, keepdims=True), _x),
    ],
    "quantile": [(lambda x: np.quantile(x, [0.2, 0.8], axis=0), _x)],
    "percentile": [(lambda x: np.percentile(x, 35), _x)],
    "average": [
        (lambda x: np.average(x, axis=0, weights=[1.0, 2.0, 3.0]), _x),
        (lambda x: np.average(x, returned=True), _x),
    ],
    "cov": [
        (lambda x: np.cov(x), _x),
        (lambda x: np.cov(x, rowvar=False, bias=True), _x),
        (lambda x: np.cov(x, x**2), _x),
        (lambda x: np.cov(x[0], [1.0, 2.0, 4.0, 8.0], ddof=2), _x),
        (lambda x: np.cov([1.0, 2.0, 4.0], x[:, :2], rowvar=False), _x),
        (lambda x: np.cov(x, fweights=[1, 0, 2, 3]), _x),
        (lambda x: np.cov(x, aweights=x[0] ** 2), _x),
        (lambda x: np.cov(x, x[1], fweights=[1, 1, 2, 3], aweights=np.exp(x[1]), ddof=0), _x),
        (lambda x: np.cov(x + 1j * x**2, 1j * x[0]), _x),
        (lambda x: np.cov(x[0]), _x),
    ],
    "corrcoef": [
        (lambda x: np.corrcoef(x), _x),
        (lambda x: np.corrcoef(x[0], x[1]), _x),
        (lambda x: np.corrcoef(x, x**2, rowvar=False), _x[:, :2]),
        (lambda x: np.corrcoef(x + 1j * x**2, 1j * x[0]), _x),
    ],
    "reshape": [
        (lambda x: np.reshape(x, (4, 3)), _x),
        (lambda x: np.reshape(x, -1), _x),
    ],
    "ravel": [(lambda x: np.ravel(x), _x)],
    "transpose": [
        (lambda x: np.transpose(x), _x),
        (lambda x: np.transpose(x, (1, 0)), _x),
        (lambda x: np.permute_dims(x, (1, 0)), _x),
    ],
    "rollaxis": [(lambda x: np.rollaxis(x[None], 2), _x)],
    "expand_dims": [(lambda x: np.expand_dims(x, (0, -1)), _x)],
    "squeeze": [(lambda x: np.squeeze(x[:, :1]), _x)],
    "broadcast_to": [(lambda x: np.broadcast_to(x, (2, 3, 4)), _x)],
    "broadcast_arrays": [(lambda x: np.broadcast_arrays(x, x[:1], 3.0), _x)],
    "flip": [(lambda x: np.flip(x), _x), (lambda x: np.flip(x, 1), _x)],
    "flipud": [(lambda x: np.flipud(x), _x)],
    "fliplr": [(lambda x: np.fliplr(x), _x)],
    "roll": [(lambda x: np.roll(x, 1), _x), (lambda x: np.roll(x, (1, 2), axis=(0, 1)), _x)],
    "lib.stride_tricks.sliding_window_view": [
        (lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=1), _x),
        (lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 3)), _x),
    ],
    "trim_zeros": [
        (lambda x: np.trim_zeros(np.stack([0 * x[0], x[1], x[2], 0 * x[0]])), _v),
        (lambda x: np.trim_zeros(np.stack([0 * x[0], x[1], 0 * x[0]]), "f"), _v),
        (lambda x: np.poly1d(x)(2.0), _v),
    ],
    "rot90": [(lambda x: np.rot90(x, 3), _x)],
    "moveaxis": [(lambda x: np.moveaxis(x, 0, 1), _x)],
    "swapaxes": [(lambda x: np.swapaxes(x, 0, 1), _x)],
    "matrix_transpose": [(lambda x: np.matrix_transpose(x), _x)],
    "concatenate": [
        (lambda x: np.concatenate([x, np.ones((1, 4))]), _x),
        (lambda x: np.concatenate((x, x), axis=1), _x),
        (lambda x: np.concatenate([[1.0], x[0], [2.0, 3.0]]), _x),
        (lambda x: np.concat([x, x], axis=None), _x),
    ],
    "stack": [
        (lambda x: np.stack([x, x**2]), _x),
        (lambda x: np.stack([x[0], np.ones(4), [1, 2, 3, 4]], axis=1), _x),
        (lambda x: np.stack([x[0, 0], 1.0, x[1, 2]]), _x),
    ],
    "hstack": [(lambda x: np.hstack([x, x]), _x), (lambda x: np.hstack([x[0], [1.0]]), _x)],
    "vstack": [(lambda x: np.vstack([x, x[0]]), _x)],
    "dstack": [(lambda x: np.dstack([x, x]), _x)],
    "column_stack": [(lambda x: np.column_stack([x[:, 0], x]), _x)],
    "append": [(lambda x: np.append(x, [1.0, 2.0]), _x), (lambda x: np.append(x, x, axis=0), _x)],
    "block": [
        (lambda x: np.block([[x, np.zeros((3, 1))], [np.ones((1, 4)), 2.0]]), _x),
        (lambda x: np.block([x[0], x[1]]), _x),
    ],
    "split": [(lambda x: np.split(x, 2, axis=1), _x)],
    "array_split": [(lambda x: np.array_split(x, 3, 1), _x)],
    "hsplit": [(lambda x: np.hsplit(x, 2), _x)],
    "vsplit": [(lambda x: np.vsplit(x, [1]), _x)],
    "unstack": [(lambda x: np.unstack(x), _x)],
    "tile": [(lambda x: np.tile(x, (2, 1)), _x)],
    "repeat": [(lambda x: np.repeat(x, 2), _x), (lambda x: np.repeat(x, [1, 2, 0], 0), _x)],
    "tril": [(lambda x: np.tril(x, -1), _x)],
    "triu": [(lambda x: np.triu(x), _x)],
    "diag": [(lambda x: np.diag(x), _m), (lambda x: np.diag(x, 1), _v)],
    "diagonal": [(lambda x: np.diagonal(x, 1), _x)],
    "trace": [(lambda x: np.trace(x), _m)],
    "atleast_1d": [(lambda x: np.atleast_1d(x.sum()), _x)],
    "atleast_2d": [(lambda x: np.atleast_2d(x), _v)],
    "atleast_3d": [(lambda x: np.atleast_3d(x), _x)],
    "copy": [(lambda x: np.copy(x), _x)],
    "astype": [(lambda x: np.astype(x, np.complex128), _x)],
    "meshgrid": [
        (lambda x: np.meshgrid(x, [1.0, 2.0], indexing="ij"), _v),
        (lambda x: np.meshgrid(x, [1.0, 2.0], 3.0, copy=False), _v),
    ],
    "pad": [
        (lambda x: np.pad(x, 1), _x),
        (lambda x: np.pad(x, ((1, 2), (0, 1)), mode="reflect"), _x),
        (lambda x: np.pad(x, 2, "constant", constant_values=1.5), _x),
    ],
    "where": [
        (lambda x: np.where(x > 0, x, 0.1 * x), _x),
        (lambda x: np.where(_mask, x, [1, 2, 3, 4]), _x),
    ],
    "clip": [
        (lambda x: np.clip(x, -1, 1), _x),
        (lambda x: np.clip(x, None, 0.2), _x),
        (lambda x: np.clip(x, min=0.0), _x),
    ],
    "round": [(lambda x: np.round(x, 1), _x), (lambda x: np.round(x), _x)],
    "around": [(lambda x: np.around(x), _x)],
    "fix": [(lambda x: quietly(np.fix, x), 3 * _x)],
    "real": [(lambda x: np.real(x * 1j), _x)],
    "imag": [(lambda x: np.imag(x * (1 + 2j)), _x)],
    "angle": [(lambda x: np.angle(x + 1j), _x), (lambda x: np.angle(x + 1j, deg=True), _x)],
    "nan_to_num": [(lambda x: np.nan_to_num(_holed(x), nan=3.0), _x)],
    "real_if_close": [(lambda x: np.real_if_close(x + 0j), _x)],
    "select": [(lambda x: np.select([x > 1, x > 0], [x**2, x**3], -1.0), _x)],
    "sinc": [(lambda x: np.sinc(x), _x)],
    "i0": [(lambda x: np.i0(x), _x)],
    "polyval": [
        (lambda x: np.polyval([1.0, -2.0, 3.0], x), _x),
        (lambda p: np.polyval(p, 0.3), _v),
    ],
    "polyfit": [
        (lambda y: np.polyfit(np.arange(6.0), y, 2), _v),
        (lambda x: np.polyfit(x, _v**3, 1, w=np.arange(1.0, 7.0)), _v),
        (lambda y: np.polyfit(np.arange(3.0), y, 1), _m),
    ],
    "poly": [(lambda x: np.poly(x), _v), (lambda x: np.real(np.poly(x @ x.T)), _m)],
    "roots": [
        (lambda x: np.sort(np.real(np.roots(np.append(1.0, np.cumsum(x**2 + 3))))), _v[:2]),
        (lambda x: np.abs(np.roots(np.append(np.append([0.0], x), [0.0, 0.0])))[1:], _v[:3]),
    ],
    "polyadd": [(lambda x: np.polyadd(x, [1.0, 2.0]), _v), (lambda x: np.polyadd(2.0, x), _v)],
    "polysub": [(lambda x: np.polysub([1.0, 2.0, 3.0], x), _v[:2])],
    "polymul": [(lambda x: np.polymul(x, x[1:]), _v), (lambda x: np.polymul(x, 3.0), _v)],
    "polyder": [(lambda x: np.polyder(x), _v), (lambda x: np.polyder(x, 2), _v)],
    "polyint": [(lambda x: np.polyint(x), _v), (lambda x: np.polyint(x, 2, k=[1.0, 2.0]), _v)],
    "apply_along_axis": [
        (lambda x: np.apply_along_axis(np.sum, 0, x), _x),
        (lambda x: np.apply_along_axis(lambda v: v[::-1] * v[0], 1, x), _x),
        (lambda x: np.apply_along_axis(np.diag, 0, x), _m),
        (lambda x: np.apply_along_axis(np.outer, -1, x, [1.0, 2.0]), _x),
    ],
    "apply_over_axes": [(lambda x: np.apply_over_axes(np.sum, x**2, [0, 1]), _x)],
    "choose": [
        (lambda x: np.choose([2, 0, 1, 1], [x[0], x[1] ** 2, x[2]]), _x),
        (lambda x: np.choose([[3], [-1]], [x[0], x[1] ** 2], mode="wrap"), _x),
        (lambda x: np.choose([[3], [-1]], [x[0], x[1] ** 2], mode="clip"), _x),
    ],
    "diagflat": [(lambda x: np.diagflat(x[:2, :2], 1), _x)],
    "dsplit": [(lambda x: np.dsplit(np.reshape(x, (1, 3, 4)), 2)[1], _x)],
    "resize": [(lambda x: np.resize(x, (5, 3)), _x), (lambda x: np.resize(x, 4), _x)],
    "union1d": [(lambda x: np.union1d(x, [x[0, 0], 9.0]), _x)],
    "intersect1d": [(lambda x: np.intersect1d(x, np.append(x[0], 9.0)), _x)],
    "setxor1d": [(lambda x: np.setxor1d(x, np.append(x[0], 9.0)), _x)],
    "setdiff1d": [
        (lambda x: np.setdiff1d(x, np.append(x[0], 9.0)), _x),
        (lambda x: np.setdiff1d(x, x[0], assume_unique=True), _x),
    ],
    "put": [
        (lambda x: _written(np.put, x, [0, -1, 5], x[0, :2] ** 2), _x),
        (lambda x: _written(np.put, x, [12, 30], 0.0, mode="wrap"), _x),
        (lambda x: _written(np.put, x, [-3, 30], 0.0, mode="clip"), _x),
    ],
    "putmask": [(lambda x: _written(np.putmask, x, _mask, x[0, :3] ** 2), _x)],
    "place": [(lambda x: _written(np.place, x, _mask, x[0, :2] ** 2), _x)],
    "put_along_axis": [
        (lambda x: _written(np.put_along_axis, x, np.array([[1], [0], [3]]), x[:, :1] ** 2, 1), _x),
        (lambda x: _written(np.put_along_axis, x, np.array([[1, 2, 0, 0]]), 2.0, 0), _x),
        (lambda x: _written(np.put_along_axis, x, np.array([1, 7]), x[0, :2] ** 2, None), _x),
    ],
    "interp": [
        (lambda x: np.interp(x, [-2.0, 0.1, 2.0], [1.0, 5.0, 2.0]), _x),
        (lambda f: np.interp([0.3, 1.7], np.arange(6), f), _v),
    ],
    "trapezoid": [(lambda x: np.trapezoid(x, dx=0.1), _x)],
    "gradient": [(lambda x: np.gradient(x), _x), (lambda x: np.gradient(x, 0.5), _v)],
    "diff": [(lambda x: np.diff(x), _x), (lambda x: np.diff(x, 2, prepend=0.0), _v)],
    "ediff1d": [(lambda x: np.ediff1d(x), _v)],
    "convolve": [(lambda x: np.convolve(x, [0.25, 0.5, 0.25], "same"), _v)],
    "correlate": [(lambda x: np.correlate(x, x[:3]), _v)],
    "kron": [(lambda x: np.kron(x, np.eye(2)), _m)],
    "inner": [(lambda x: np.inner(x, x), _x)],
    "vdot": [(lambda x: np.vdot(x, x), _x)],
    "dot": [(lambda x: np.dot(x, x.T), _x), (lambda x: np.dot(2.0, x), _x)],
    "outer": [(lambda x: np.outer(x, x), _v)],
    "tensordot": [(lambda x: np.tensordot(x, x, axes=([0, 1], [0, 1])), _x)],
    "einsum": [
        (lambda x: np.einsum("ij,kj->ik", x, x), _x),
        (lambda x: np.einsum("ij,jk,kl", np.ones((2, 3)), x, np.ones((4, 2)), optimize=True), _x),
        (lambda x: np.einsum(x, [0, 1], x, [2, 1], [2, 0]), _x),
        (lambda x: np.einsum([1.0, 2.0, 3.0], (5,), x, [5, ...]), _x),
    ],
    "cross": [
        (lambda x: np.cross(x[:, 0], x[:, 1]), _x),
        (lambda x: np.cross(x, x**2, axis=0), _x),
    ],
    "sort": [(lambda x: np.sort(x), _x), (lambda x: np.sort(x, axis=None), _x)],
    "partition": [(lambda x: np.partition(x, 5)[5], _v)],
    "unique": [(lambda x: np.unique(x), _v), (lambda x: np.unique(x, return_counts=True), _v)],
    "unique_all": [(lambda x: tuple(np.unique_all(x)), _v)],
    "unique_counts": [(lambda x: tuple(np.unique_counts(x)), _v)],
    "unique_inverse": [(lambda x: tuple(np.unique_inverse(x)), _v)],
    "unique_values": [(lambda x: np.unique_values(x), _v)],
    "bincount": [(lambda w: np.bincount([0, 2, 2, 1, 0, 0], w), _v)],
    "take": [(lambda x: np.take(x, [0, 2, 2], axis=0), _x), (lambda x: np.take(x, 5), _x)],
    "take_along_axis": [
        (lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1), _x),
        (lambda x: np.take_along_axis(x, np.array([0, 3]), axis=None), _x),
    ],
    "compress": [(lambda x: np.compress([True, False, True], x, axis=0), _x)],
    "extract": [(lambda x: np.extract(x > 0, x), _v)],
    "linspace": [
        (lambda x: np.linspace(x[0], 2.0, 4), _v),
        (lambda x: np.linspace(x, 2 * x, 3, axis=1), _v),
    ],
    "logspace": [(lambda x: np.logspace(x[0], 2.0, 4), _v)],
    "geomspace": [(lambda x: np.geomspace(np.exp(x[0]), 2.0, 4), _v)],
    "vander": [(lambda x: np.vander(x, 3), _v), (lambda x: np.vander(x, increasing=True), _v)],
    "delete": [
        (lambda x: np.delete(x, 1), _x),
        (lambda x: np.delete(x, [0, -1], axis=1), _x),
        (lambda x: np.delete(x, slice(1, 3), axis=1), _x),
    ],
    "insert": [
        (lambda x: np.insert(x, 1, 5.0), _v),
        (lambda x: np.insert(x, 2, [5.0, 6.0]), _v),
        (lambda x: np.insert(x, [1, 1, 4], x[:3]), _v),
        (lambda x: np.insert(x, 1, x[:, 0], axis=1), _x.T),
        (lambda x: np.insert(x, [0, 2], 1.5, axis=1), _x),
    ],
    "fill_diagonal": [(lambda x: _filled(x), _m)],
    "unwrap": [(lambda x: np.unwrap(x), 4 * _v)],
    "piecewise": [
        (lambda x: np.piecewise(x, [x < 0, x >= 0], [-1.0, lambda v: v**2]), _v),
        (lambda x: np.piecewise(x, [x < 0], [lambda v: v**3, np.sin]), _v),
    ],
    "linalg.norm": [
        (lambda x: np.linalg.norm(x), _x),
        (lambda x: np.linalg.norm(x, axis=1, keepdims=True), _x),
        (lambda x: np.linalg.norm(x, ord=1), _v),
        (lambda x: np.linalg.norm(x, ord=np.inf, axis=0), _x),
        (lambda x: np.linalg.norm(x, "nuc"), _x),
        (lambda x: np.linalg.norm(x, 2, axis=(0, 1), keepdims=True), _x),
    ],
    "linalg.vector_norm": [(lambda x: np.linalg.vector_norm(x, axis=1), _x)],
    "linalg.matrix_norm": [(lambda x: np.linalg.matrix_norm(x), _x)],
    "linalg.solve": [
        (lambda a: np.linalg.solve(a, np.ones(3)), _m),
        (lambda b: np.linalg.solve(_p, b), _m),
    ],
    "linalg.inv": [(lambda a: np.linalg.inv(a), _p)],
    "linalg.det": [(lambda a: np.linalg.det(a), _m)],
    "linalg.slogdet": [(lambda a: np.linalg.slogdet(a)[1], _p)],
    "linalg.cholesky": [(lambda a: np.linalg.cholesky(a @ a.T + np.eye(3)), _m)],
    "linalg.eigh": [
        (lambda a: np.linalg.eigh(a + a.T)[0], _m),
        (lambda a: np.linalg.eigh(a + a.T, UPLO="U")[0], _m),
    ],
    "linalg.eigvalsh": [(lambda a: np.linalg.eigvalsh(a + a.T), _m)],
    "linalg.eig": [(lambda a: np.abs(np.linalg.eig(a + a.T)[0]), _m)],
    "linalg.eigvals": [(lambda a: np.sum(np.abs(np.linalg.eigvals(a))), _m)],
    "linalg.svd": [
        (lambda a: np.linalg.svd(a, compute_uv=False), _x),
        (lambda a: _rebuilt(*np.linalg.svd(a, full_matrices=False)), _x),
    ],
    "linalg.svdvals": [(lambda a: np.linalg.svdvals(a), _x)],
    "linalg.qr": [
        (lambda a: np.linalg.qr(a), _m),
        (lambda a: np.linalg.qr(a, mode="r"), _m),
    ],
    "linalg.pinv": [(lambda a: np.linalg.pinv(a), _x)],
    "linalg.matrix_power": [(lambda a: np.linalg.matrix_power(a, 3), _m)],
    "linalg.multi_dot": [(lambda a: np.linalg.multi_dot([a, _m, a]), _m)],
    "linalg.lstsq": [
        (lambda a: np.linalg.lstsq(a.T, np.ones(4)), _x),
        (lambda a: np.linalg.lstsq(a, _m), _x),
        (lambda b: np.linalg.lstsq(_x.T, b), _v[:4]),
        (lambda b: np.linalg.lstsq(np.ones((6, 2)), b), _v),
    ],
    "linalg.tensorinv": [(lambda a: np.linalg.tensorinv(np.reshape(a, (3, 3, 1)), ind=1), _p)],
    "linalg.tensorsolve": [
        (lambda a: np.linalg.tensorsolve(np.reshape(a, (1, 3, 3)), [[1.0, 2.0, 3.0]]), _p),
        (lambda a: np.linalg.tensorsolve(a, [1.0, 2.0, 3.0], axes=(0,)), _p),
    ],
    "linalg.cond": [(lambda a: np.linalg.cond(a), _p), (lambda a: np.linalg.cond(a, 1), _p)],
    "linalg.cross": [(lambda x: np.linalg.cross(x[:, 0], x[:, 1]), _x)],
    "linalg.diagonal": [(lambda x: np.linalg.diagonal(x), _m)],
    "linalg.trace": [(lambda x: np.linalg.trace(x), _m)],
    "linalg.outer": [(lambda x: np.linalg.outer(x, x), _v)],
    "linalg.matmul": [(lambda x: np.linalg.matmul(x, x), _m)],
    "linalg.tensordot": [(lambda x: np.linalg.tensordot(x, x, axes=1), _m)],
    "linalg.vecdot": [(lambda x: np.linalg.vecdot(x, x), _m)],
    "linalg.matrix_transpose": [(lambda x: np.linalg.matrix_transpose(x), _m)],
    "fft.fft": [(lambda x: np.fft.fft(x), _v), (lambda x: np.fft.fft(x, 4, 0, "ortho"), _x)],
    "fft.ifft": [(lambda x: np.fft.ifft(x, axis=0), _x)],
    "fft.rfft": [(lambda x: np.fft.rfft(x, n=7, norm="forward"), _v)],
    "fft.irfft": [(lambda x: np.fft.irfft(x), _v)],
    "fft.hfft": [(lambda x: np.fft.hfft(x), _v)],
    "fft.ihfft": [(lambda x: np.fft.ihfft(x), _v)],
    "fft.fftn": [(lambda x: np.fft.fftn(x), _x)],
    "fft.ifftn": [(lambda x: np.fft.ifftn(x), _x)],
    "fft.rfftn": [(lambda x: np.fft.rfftn(x), _x)],
    "fft.irfftn": [(lambda x: np.fft.irfftn(x), _x)],
    "fft.fft2": [(lambda x: np.fft.fft2(x), _x)],
    "fft.ifft2": [(lambda x: np.fft.ifft2(x), _x)],
    "fft.rfft2": [(lambda x: np.fft.rfft2(x), _x)],
    "fft.irfft2": [(lambda x: np.fft.irfft2(x), _x)],
    "fft.fftshift": [(lambda x: np.fft.fftshift(x), _x)],
    "fft.ifftshift": [(lambda x: np.fft.ifftshift(x, axes=1), _x)],
}
CONSTANT_ROWS: dict[str, list[tuple[Any, ...]]] = {
    "all": [(lambda x: np.all(x > 0, axis=1), _x)],
    "any": [(lambda x: np.any(x > 0), _x)],
    "argmax": [(lambda x: np.argmax(x, 1), _x)],
    "argmin": [(lambda x: np.argmin(x), _x)],
    "count_nonzero": [(lambda x: np.count_nonzero(x, axis=1), _x)],
    "argsort": [(lambda x: np.argsort(x, axis=0), _x)],
    "argpartition": [(lambda x: np.argpartition(np.sort(x), 2), _v)],
    "searchsorted": [(lambda x: np.searchsorted([0.0, 1.0], x, side="right"), _x)],
    "digitize": [(lambda x: np.digitize(x, [-1.0, 0.0, 1.0]), _x)],
    "histogram": [(lambda x: np.histogram(x, bins=3), _x)],
    "nonzero": [(lambda x: np.nonzero(x > 0), _x)],
    "flatnonzero": [(lambda x: np.flatnonzero(x > 0), _x)],
    "argwhere": [(lambda x: np.argwhere(x > 0), _x)],
    "isin": [(lambda x: np.isin(x, [_x[0, 0], 3.0]), _x)],
    "isclose": [(lambda x: np.isclose(x, _x[0]), _x)],
    "isneginf": [(lambda x: np.isneginf(x), _x)],
    "isposinf": [(lambda x: np.isposinf(x), _x)],
    "iscomplex": [(lambda x: np.iscomplex(x), _x)],
    "isreal": [(lambda x: np.isreal(x), _x)],
    "allclose": [(lambda x: np.allclose(x, _x), _x)],
    "array_equal": [(lambda x: np.array_equal(x, _x), _x)],
    "array_equiv": [(lambda x: np.array_equiv(x, _x), _x)],
    "common_type": [(lambda x: np.common_type(x, np.float32([1])), _x)],
    "iscomplexobj": [(lambda x: np.iscomplexobj(x), _x)],
    "isrealobj": [(lambda x: np.isrealobj(x), _x)],
    "shares_memory": [(lambda x: np.shares_memory(x, x[0]), _x)],
    "may_share_memory": [(lambda x: np.may_share_memory(x, np.ones(2)), _x)],
    "result_type": [(lambda x: np.result_type(x, np.float32), _x)],
    "can_cast": [(lambda x: np.can_cast(x, np.float32), _x)],
    "lexsort": [(lambda x: np.lexsort((x[0], x[1])), _x)],
    "nanargmax": [(lambda x: np.nanargmax(_holed(x), axis=1), _x)],
    "nanargmin": [(lambda x: np.nanargmin(_holed(x)), _x)],
    "ravel_multi_index": [(lambda x: np.ravel_multi_index(np.nonzero(x > 0), (3, 4)), _x)],
    "unravel_index": [(lambda x: np.unravel_index(np.argmax(x, axis=0), (3, 4)), _x)],
    "einsum_path": [(lambda x: np.einsum_path("ij,kj->ik", x, x)[0], _x)],
    "histogram_bin_edges": [(lambda x: np.histogram_bin_edges(x, 3), _x)],
    "min_scalar_type": [(lambda x: np.min_scalar_type(x), _x)],
    "ix_": [(lambda x: np.ix_(np.argmax(x, axis=0), np.argmax(x, axis=1)), _x)],
    "diag_indices_from": [(lambda x: np.diag_indices_from(x), _m)],
    "tril_indices_from": [(lambda x: np.tril_indices_from(x), _x)],
    "triu_indices_from": [(lambda x: np.triu_indices_from(x, 1), _x)],
    "shape": [(lambda x: np.shape(x), _x)],
    "ndim": [(lambda x: np.ndim(x), _x)],
    "size": [(lambda x: np.size(x, 1), _x), (lambda x: np.size(x), _x)],
    "zeros_like": [(lambda x: np.zeros_like(x), _x), (lambda x: np.zeros_like(x, np.int8), _x)],
    "ones_like": [(lambda x: np.ones_like(x, shape=(2, 2)), _x)],
    "full_like": [(lambda x: np.full_like(x, 3), _x)],
    "empty_like": [(lambda x: np.empty_like(x[:0]), _x)],
    "linalg.matrix_rank": [(lambda a: np.linalg.matrix_rank(a), _x)],
}


def _written(function: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    y = 2 * x
    function(y, *args, **kwargs)
    return y


def _filled(x: Any) -> Any:
    y = 2 * x
    np.fill_diagonal(y, x[0] ** 2)
    return y


def _rebuilt(u: Any, s: Any, vh: Any) -> Any:
    return (u * s**2) @ vh


def _cases(rows: dict[str, list[tuple[Any, ...]]]) -> list[Row]:
    return [
        Row(name, f"{name}-{i}", row) for name, found in rows.items() for i, row in enumerate(found)
    ]


@over("call, array", _cases(ROWS))
def test_functions(call: Any, array: Any) -> None:
    check(call, array)


@over("call, array", _cases(CONSTANT_ROWS))
def test_functions_without_derivatives(call: Any, array: Any) -> None:
    check(call, array, differentiable=False)


_INF, _NAN = math.inf, math.nan
# Calls of which NumPy's value is not what the formula for usual numbers gives.
SPECIAL_ROWS: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: np.trim_zeros(x, "b"), [0.0, 0.0]),
    (lambda x: np.geomspace(x[0], x[1], 4), [1j, 1000j]),
    (lambda x: np.geomspace(x[0], x[1], 4), [-1.0, -1000.0]),
    (lambda x: np.unique(x), [_NAN, 1, _NAN]),
    (lambda x: np.unique(x, True, True, True), [_NAN, 1, _NAN, _NAN, 1]),
    (lambda x: np.unique(x, return_counts=True, equal_nan=False), [_NAN, 1, _NAN]),
    (lambda x: np.union1d(x, [_NAN]), [_NAN, 1.0]),
    (lambda x: np.setxor1d(x, [2.0]), [_NAN, 1.0, _NAN]),
    (lambda x: np.setdiff1d(x, [1.0]), [_NAN, 1.0, _NAN]),
    (lambda x: np.ldexp(x, 1100), [1e-300, 0.0, _INF, 1.0]),
    (lambda x: np.ldexp(x, np.array([-2000, 2000, -9])), [_INF, 0.0, 3.0]),
    (lambda x: np.ldexp(x, 200), np.array([1e-30, 0], np.float32)),
    (lambda x: np.modf(x), [_INF, -_INF, _NAN, -1.5]),
    (lambda x: np.linspace(x[0], x[1], 5, dtype=int), [-1.0, 1.0]),
    (lambda x: np.round(x, -2), [1250, 1350, -49]),
    (lambda x: np.round(x, 1), [1250, 3]),
    (lambda x: np.linalg.cond(x), np.zeros((2, 2))),
    (lambda x: np.linalg.cond(x, -2), np.zeros((2, 2))),
    (lambda x: np.digitize(x, [1.0, 1.0, 1.0]), [0.5, 1.0]),
]
if "axis" in inspect.signature(np.trim_zeros).parameters:  # since NumPy 2.2
    SPECIAL_ROWS += [
        (lambda x: np.trim_zeros(x), [[0.0, 0, 0], [0, 1, 2], [0, 3, 0]]),
        (lambda x: np.trim_zeros(x, "f", axis=0), [[0.0, 0, 0], [0, 1, 2], [0, 0, 0]]),
    ]


@pytest.mark.parametrize(("call", "values"), SPECIAL_ROWS)
def test_values_at_special_points(call: Any, values: Any) -> None:
    values = np.asarray(values)
    x = ag.tensor(values, requires_grad=values.dtype.kind in "fc")
    with np.errstate(all="ignore"):
        found, expected = as_tuple(call(x)), as_tuple(call(values.copy()))
    assert len(found) == len(expected)
    for result, value in zip(found, expected, strict=True):
        assert result.dtype == value.dtype
        assert_close(result.detach(), value, rtol=1e-14, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: np.choose(x, [[1.0], [2.0]]), TypeError, "a must be integers, not float64"),
        (lambda x: np.digitize(x, x), ValueError, "bins must be sorted"),
        (lambda x: np.histogram(x, x), ValueError, "bins must be sorted"),
    ],
)
def test_wrong_arguments(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        call(ag.tensor([0.0, 2.0, 1.0]))


def test_every_rule_has_a_row() -> None:
    def find(name: str) -> Any:
        space: Any = np
        for part in name.split("."):
            space = getattr(space, part)
        return space

    tested = {find(name) for name in (*ROWS, *CONSTANT_ROWS)}
    elsewhere = {np.array_repr, np.array_str, np.array2string, np.copyto}
    by_like = {np.zeros, np.ones, np.empty, np.full, np.arange, np.eye}
    by_like |= {np.array, np.asarray, np.asanyarray}
    assert {f.__name__ for f in RULES.keys() - tested - elsewhere - by_like} == set()


_TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad of grad": lambda f: ag.func.grad(lambda x: ag.func.grad(f)(x).sum())(_ROWS[0]),
    "jvp of grad": lambda f: ag.func.jvp(ag.func.grad(f), (_ROWS[0],), (_ROWS[0],)),
    "grad of jvp": lambda f: ag.func.grad(lambda x: ag.func.jvp(f, (x,), (x,))[1])(_ROWS[0]),
    "vmap": lambda f: ag.func.vmap(f)(_ROWS),
    "vmap of grad": lambda f: ag.func.vmap(ag.func.grad(f))(_ROWS),
    "grad of vmap": lambda f: ag.func.grad(lambda x: ag.func.vmap(f)(x).sum())(_ROWS),
    "vmap of vmap": lambda f: ag.func.vmap(ag.func.vmap(f))(_ROWS[None]),
}
_ROWS = np.array([[1.0, 2.0], [1.0, 3.0]])


@pytest.mark.parametrize("transform", _TRANSFORMS)
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (np.iscomplexobj, False),
        (np.common_type, np.float64),
        (np.isrealobj, True),
        (lambda x: np.allclose(x, x), True),
        (lambda x: np.array_equal(x, x + 1), False),
        (lambda x: np.array_equiv(x, x), True),
        (lambda x: np.result_type(x, np.float32), np.float64),
        (lambda x: np.shares_memory(x, x), True),
        (lambda x: np.may_share_memory(x, x * 2), False),
        (np.min_scalar_type, np.float64),
        (lambda x: np.einsum_path("i,i", x, x)[0], ["einsum_path", (0, 1)]),
    ],
)
def test_questions_inside_nested_transforms(transform: str, question: Any, answer: Any) -> None:
    def f(x: Any) -> Any:
        assert question(x) == answer
        return (x**3).sum()

    _TRANSFORMS[transform](f)


@pytest.mark.parametrize("transform", _TRANSFORMS)
@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.lexsort((x,)),
        np.nanargmax,
        np.histogram_bin_edges,
        lambda x: np.unwrap(x, period=1.5),
        lambda x: np.mean(x, where=x > 1.5),
    ],
)
def test_values_inside_nested_transforms(transform: str, call: Any) -> None:
    assert ag.func.vmap(call)(_ROWS[:0]).shape == (0, *call(_ROWS[0]).shape)
    assert_close(ag.func.vmap(call)(_ROWS), np.stack([call(row) for row in _ROWS]))
    _TRANSFORMS[transform](lambda x: (x**3).sum() * (1 + call(x)).sum())


def test_answers_that_differ_over_a_batch() -> None:
    with pytest.raises(TypeError, match=r"numpy.allclose has one answer, which is not the same"):
        ag.func.vmap(lambda x: x * np.allclose(x, 1.0))(np.array([1.0, 2.0]))
    with pytest.raises(TypeError, match=r"the values of a batched array are needed"):
        ag.func.vmap(lambda x: np.compress(x > 1.5, x))(_ROWS)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(x * x),
        lambda x: np.linalg.norm(np.stack([x, 2 * x])),
        lambda x: np.real(np.fft.fft(x)),
        lambda x: np.where(x > 0, x, np.sin(x)),
        lambda x: np.concatenate([x, [1.0]]),
        lambda x: np.ones(3) @ np.outer(x, x),
        lambda x: np.linalg.lstsq(np.stack([x, x**2], axis=1), np.ones(3))[0],
        lambda x: np.linalg.lstsq(np.stack([x, 2 * x], axis=1), np.ones(3))[0],
    ],
)
def test_functions_inside_transforms(call: Any) -> None:
    x, t = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.7, -1.1])
    value, slope = ag.func.jvp(call, (x,), (t,))
    step = 1e-6
    np.testing.assert_allclose(value, call(x))
    np.testing.assert_allclose(
        slope, (call(x + step * t) - call(x - step * t)) / (2 * step), rtol=1e-6, atol=1e-8
    )
    many = ag.func.vmap(call)(np.stack([x, t]))
    np.testing.assert_allclose(many, np.stack([call(x), call(t)]))


# --- what is refused, and what may fall back -----------------------------------------------------


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: np.polydiv(x[0], x[1]), "numpy.polydiv"),
        (lambda x: np.sort_complex(x[0]), "numpy.sort_complex"),
        (lambda x: np.histogram2d(x[0], x[1]), "numpy.histogram2d"),
        (lambda x: np.sort_complex(x), "numpy.sort_complex"),
        (lambda x: np.savez("nowhere", x=x), "numpy.savez"),
    ],
)
def test_a_function_without_a_rule_names_itself(call: Any, name: str) -> None:
    x = ag.tensor(_m, requires_grad=True)
    with pytest.raises(TypeError, match=f"^{name} has no derivative rule in arraygrad"):
        call(x)
    with pytest.raises(TypeError, match=f"^{name} has no derivative rule in arraygrad"):
        call(dual_type(1.0)(_m, _m))


def test_functions_without_a_rule_on_tensors_without_gradients() -> None:
    x = ag.tensor(_x)
    result = np.sort_complex(x)
    assert isinstance(result, ag.Tensor)
    assert_close(result, np.sort_complex(_x))
    counts, *_ = np.histogram2d(x[0], x[1], bins=2)
    assert counts.tolist() == np.histogram2d(_x[0], _x[1], bins=2)[0].tolist()


@pytest.mark.parametrize("function", [np.put, np.putmask, np.place, np.copyto])
def test_values_with_gradients_are_not_written_to_arrays_of_numpys(function: Any) -> None:
    array, x = np.zeros(2), ag.tensor([1.0, 2.0], requires_grad=True)
    where: Any = (np.array([True, False]),) if function in (np.putmask, np.place) else ()
    where = ([0],) if function is np.put else where
    with pytest.raises(TypeError, match=rf"^numpy.{function.__name__}: the .* would lose that"):
        function(array, *where, x)
    assert not array.any()
    function(array, *where, x.detach())
    assert array[0] == 1


# Arguments that NumPy gave up in version 2.4, after years of warnings.
FORMER = {"corrcoef": ("bias", "ddof"), "reshape": ("newshape",)}
FORMER |= dict.fromkeys(
    ("quantile", "percentile", "nanquantile", "nanpercentile"), ("interpolation",)
)


def test_rules_take_what_numpys_functions_take() -> None:
    """By position and by name."""
    kinds = inspect.Parameter
    fixed = (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    for function, rule in RULES.items():
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:  # NumPy, up to version 2.3, does not tell it of what is written in C
            continue
        wanted = [p for p in parameters if p.name not in FORMER.get(function.__name__, ())]
        given = list(inspect.signature(rule, follow_wrapped=False).parameters.values())
        if function in (np.eye, np.array, np.asarray, np.asanyarray):
            continue  # which are asked only by `like=`, and tested by that
        if not any(p.kind is kinds.VAR_POSITIONAL for p in given):
            assert sum(p.kind in fixed for p in given) >= sum(p.kind in fixed for p in wanted)
        if not any(p.kind is kinds.VAR_KEYWORD for p in given):
            names = {p.name for p in given if p.kind is not kinds.POSITIONAL_ONLY}
            by_name = (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
            assert {p.name for p in wanted if p.kind in by_name} <= names, function


def test_descending_order() -> None:
    """Which NumPy has had since version 2.5."""
    x = ag.tensor(_x, requires_grad=True)
    assert_close(RULES[np.sort](x, descending=True).detach(), -np.sort(-_x))
    assert_close(RULES[np.sort](x, None, descending=True).detach(), -np.sort(-_x, None))
    assert_close(RULES[np.argsort](x, 0, descending=True), np.argsort(-_x, 0))


def test_arguments_by_their_names_in_numpy() -> None:
    x = ag.tensor(_m, requires_grad=True)
    assert_close(np.linalg.solve(a=x, b=_m).detach(), np.eye(3), atol=1e-9)
    assert np.moveaxis(a=x, source=0, destination=1).shape == (3, 3)
    assert len(np.split(x, indices_or_sections=3, axis=1)) == 3
    assert np.diag(v=x, k=1).shape == (2,)
    assert_close(np.trace(a=x, offset=1, dtype=np.float32).detach(), np.float32(np.trace(_m, 1)))
    assert_close(RULES[np.bincount](np.array([0, 1]), weights=x[0, :2]).detach(), _m[0, :2])
    with pytest.raises(TypeError, match=r"^numpy.tril: got two values for k"):
        RULES[np.tril](x, 1, k=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.var(x, where=_mask), r"numpy.var: where= is not supported"),
        (lambda x: np.nanmean(x, where=_mask), r"numpy.nanmean: where= is not supported"),
        (lambda x: np.take(x, 20, mode="wrap"), r"numpy.take: mode='wrap' is not supported"),
        (lambda x: np.unique(x, axis=0), r"numpy.unique: axis= is not supported"),
        (lambda x: np.polyfit(x[0], x[1], 1, cov=True), r"numpy.polyfit: cov= is not supported"),
        (lambda x: np.meshgrid(x[0], sparse=True), r"numpy.meshgrid: sparse= is not supported"),
    ],
)
def test_arguments_that_are_refused(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(ag.tensor(_x, requires_grad=True))


def test_becoming_an_array_is_refused() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    array = np.zeros(2)
    for lose in (
        lambda: np.array(x),
        lambda: np.asarray([x[0], x[1]]),
        lambda: array.__setitem__(slice(None), x),
        lambda: np.full(2, x[0]),
        lambda: np.array([1.0, x[0]]),
    ):
        with pytest.raises(NoGradientError, match=r"numpy.stack\(\)"):
            lose()
    assert array.tolist() == [0, 0]


def test_arrays_of_others_are_left_alone() -> None:
    class Other:
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return "theirs"

        def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
            return "theirs"

    x = ag.tensor([1.0], requires_grad=True)
    assert np.stack([x, Other()]) == "theirs"
    assert np.add(x, Other()) == "theirs"


# --- other ---------------------------------------------------------------------------------------


def test_copyto() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    out = ag.zeros(2)
    np.copyto(out, 2 * x)
    np.copyto(out, x, where=np.array([True, False]))
    assert ag.grad(out.sum(), x).tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"numpy.copyto"):
        np.copyto(np.zeros(2), x)


def test_like() -> None:
    x = ag.tensor([1.0, 2.0])
    for made, values in (
        (np.zeros(2, like=x), [0, 0]),
        (np.ones((2,), like=x), [1, 1]),
        (np.full(2, 3.0, like=x), [3, 3]),
        (np.arange(2, like=x), [0, 1]),
        (np.eye(2, like=x), [[1, 0], [0, 1]]),
        (np.array([1, 2], like=x), [1, 2]),
        (np.asarray([1, 2], like=x), [1, 2]),
    ):
        assert isinstance(made, ag.Tensor)
        assert made.tolist() == values
    assert np.empty(2, like=x).shape == (2,)


def test_np_array_copies() -> None:
    values = np.array([1.0, 2.0])
    x = ag.asarray(values)
    made = np.array(x, like=x)
    assert isinstance(made, ag.Tensor)
    assert not np.shares_memory(made.array, values)


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, x: xp.mean(x, dtype=np.float32),
        lambda xp, x: xp.nanmean(x, 1, dtype=np.float32),
        lambda xp, x: xp.std(x, ddof=1),
        lambda xp, x: xp.nanvar(x, axis=0, ddof=1),
        lambda xp, x: xp.nanquantile(x, q=[0.3, 0.5], axis=0),
        lambda xp, x: xp.max(x, initial=9.0),
        lambda xp, x: xp.sum(x, where=x > 0.5),
        lambda xp, x: xp.concatenate([x, x], axis=1),
        lambda xp, x: xp.cumsum(x),
        lambda xp, x: xp.transpose(x, (1, 0)),
        lambda xp, x: xp.power(x, 2) + xp.absolute(x),
        lambda xp, x: xp.arccos(x / 9),
        lambda xp, x: xp.r_[x[0], 1.0, 2:4, x[1]],
        lambda xp, x: xp.c_[x[0], x[1]],
        lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, 2, 0),
        lambda xp, x: xp.array(x, dtype=xp.float16),
        lambda xp, x: xp.array(x, ndmin=3),
        lambda xp, x: xp.array(x, xp.double, ndmin=1),
        lambda xp, x: xp.linalg.norm(x, "nuc"),
        lambda xp, x: xp.linalg.multi_dot([x, x.T, x]) + xp.linalg.cond(x),
        lambda xp, x: xp.fft.fft2(x),
        lambda xp, x: xp.poly1d(x[0])(2.0),
        lambda xp, x: xp.polynomial.chebyshev.chebval(x, [1.0, 2.0, 3.0]),
    ],
)
def test_numpys_names_and_arguments_in_arraygrad(call: Callable[..., Any]) -> None:
    x = np.array([[0.5, 2.0, 1.0], [3.0, 0.25, 4.0]])
    found = call(ag, ag.tensor(x, requires_grad=True))
    assert found.requires_grad
    expected = call(np, x)
    assert found.dtype == expected.dtype
    assert_close(found.detach(), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, a: xp.vecdot(a(np.ones(200, bool)), a(np.ones(200, bool))),
        lambda xp, a: xp.vdot(a(np.ones(200, bool)), a(np.ones(200, np.uint8))),
        lambda xp, a: xp.gradient(a(np.array([1.0, np.nan, 3.0, np.inf, 5.0]))),
        lambda xp, a: xp.nanvar(a(np.array([[np.inf, 1.0, np.nan], [1.0, np.nan, 3.0]])), axis=1),
        lambda xp, a: xp.nanstd(a(np.array([np.inf, -np.inf, 1.0]))),
        lambda xp, a: xp.bincount(a(np.array([True, False, True]))),
        *[
            lambda xp, a, i=i: xp.unique(a(np.array([2.0, np.nan, 1.0, np.nan])), True, True, True)[
                i
            ]
            for i in range(4)
        ],
        lambda xp, a: xp.unique(a(np.array([np.nan, 1.0, np.nan])), equal_nan=False),
        lambda xp, a: xp.unique(a(np.array([2 + 1j, np.nan, 1.0, np.nan]))),
        lambda xp, a: xp.unwrap(a(np.array([0.0, 7.0, 14.0]))),
        lambda xp, a: xp.modf(a(np.array([1.5, -np.inf, np.nan])))[0],
        lambda xp, a: xp.modf(a(np.array([True, False])))[0].astype(float),
        lambda xp, a: xp.vander(a(np.array([200, 3], np.uint8)), 3),
        lambda xp, a: xp.linalg.norm(a(np.array([-128, 3], np.int8)), 1),
        lambda xp, a: a(np.array([1.25, -0.35, 12.0])).round(1),
        lambda xp, a: xp.linalg.pinv(a(np.array([[1, 2], [3, 4], [5, 7]]))),
        lambda xp, a: xp.linalg.lstsq(a(np.array([[1, 2], [3, 4], [5, 7]])), a(np.arange(3)))[0],
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_values_and_dtypes_as_numpys(call: Callable[..., Any]) -> None:
    expected = call(np, np.asarray)
    for wrap in (np.asarray, ag.asarray):
        found = call(ag, wrap)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected)


def test_arguments_that_nobody_has() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'requires_grad'"):
        ag.array([1.0], requires_grad=True)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="takes 1 positional argument but 2"):
        ag.deg2rad(np.ones(2), np.ones(2))  # type: ignore[call-arg]

    x = ag.tensor([1.0, 2.0])
    for call in (ag.mean, ag.sum, ag.std, ag.zeros_like, lambda x, **k: ag.concat([x, x], **k)):
        with pytest.raises(TypeError, match="nonsense"):
            call(x, nonsense=1)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ag.nonsense


def test_covariances_as_numpys() -> None:
    x = np.random.default_rng(0).normal(size=(2, 5))
    t = ag.tensor(x, requires_grad=True)
    for a, b in ((x, t), (x.astype(np.float32), ag.astype(t, ag.float32))):
        for call in (np.cov, np.corrcoef, lambda x: np.cov(x, x[0] ** 2)):
            assert call(b).dtype == call(a).dtype == np.float64
        assert np.cov(b, dtype=np.float32).dtype == np.float32
    for call in (lambda x: np.corrcoef(x[0], 3 * x[0]), lambda x: np.corrcoef(x[0], -x[0])):
        assert np.abs(call(t).detach().numpy()).max() <= 1
    with pytest.warns(RuntimeWarning, match="Degrees of freedom <= 0"):
        found = np.cov(t[:, :2], ddof=2)
    with pytest.warns(RuntimeWarning):
        np.testing.assert_array_equal(found.detach(), np.cov(x[:, :2], ddof=2))
    assert np.cov(t[:0]).shape == np.cov(x[:0]).shape == (0, 0)
    for call, error in (
        (lambda x: np.cov(x, fweights=[1, 2]), RuntimeError),
        (lambda x: np.cov(x, fweights=[1, 2, 0.5, 1, 1]), TypeError),
        (lambda x: np.cov(x, aweights=[1, 2, -0.5, 1, 1]), ValueError),
        (lambda x: np.cov(x, aweights=np.zeros(5)), ZeroDivisionError),
        (lambda x: np.cov(x, ddof=0.5), ValueError),
        (lambda x: np.cov(x[None]), ValueError),
        (lambda x: np.cov(x, x[:, :3]), ValueError),
    ):
        for given in (x, t):
            with pytest.raises(error):
                call(given)
    batch = np.random.default_rng(1).normal(size=(3, 2, 5))
    weighted = lambda x: np.cov(x, x[0] ** 2, aweights=np.exp(x[1]))  # noqa: E731
    for call in (weighted, lambda x: np.corrcoef(x[0], x[1])):
        assert_close(ag.func.vmap(call)(batch), np.stack([call(x) for x in batch]))
        assert ag.testing.gradgradcheck(call, t)


def test_text() -> None:
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    assert np.array_repr(x) == repr(x)
    assert np.array_str(x) == np.array2string(x) == str(x)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(0),
        lambda x: x.mean(1, keepdims=True),
        lambda x: x.std(ddof=1),
        lambda x: x.var(0, ddof=1),
        lambda x: x.max(1),
        lambda x: x.cumsum(),
        lambda x: x.cumprod(axis=1),
        lambda x: x.dot(x.T),
        lambda x: x.copy(),
        lambda x: x.conjugate(),
        lambda x: x.diagonal(),
        lambda x: x.trace(),
        lambda x: x.take([0, 1], 1),
        lambda x: x.repeat(2, 0),
        lambda x: x.reshape(4, -1).transpose().ravel(),
        lambda x: x.flatten(),
        lambda x: x.swapaxes(0, 1),
        lambda x: x.clip(-1, 1),
        lambda x: x.T.real,
        lambda x: x.compress([True, False, True, False], axis=1),
        lambda x: x.compress([False, True, True]),
    ],
)
def test_methods_of_numpys_arrays(call: Any) -> None:
    check(call, _x)


def test_the_range_is_a_method_too() -> None:  # which NumPy's arrays had before version 2
    t = ag.tensor(_x, requires_grad=True)
    for keywords in ({}, {"axis": 1}, {"axis": (0, 1), "keepdims": True}):
        assert_close(t.ptp(**keywords).detach(), np.ptp(_x, **keywords))
        assert gradcheck(lambda x, k=keywords: x.ptp(**k), t)


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.sort(),
        lambda y: y.sort(0),
        lambda y: y.sort(axis=1, kind="mergesort"),
        lambda y: y[1:].sort(stable=True),
        lambda y: y.T[::2].sort(0),
        lambda y: y.partition(2, axis=1),
        lambda y: y[0].partition([1, -1]),
        lambda y: y[:, 1].fill(3.0),
    ],
)
def test_methods_that_write(write: Any) -> None:
    distinct = np.random.default_rng(0).permutation(np.arange(12.0)).reshape(3, 4)

    def run(x: Any) -> Any:
        y = x * 1.0
        assert write(y) is None
        return (y * y.shape[0]) ** 2

    if "partition" not in write.__code__.co_names:  # within whose parts there is no order
        np.testing.assert_array_equal(run(ag.asarray(distinct)).numpy(), run(distinct))
    t = ag.tensor(distinct, requires_grad=True)
    assert gradcheck(run, t)
    assert ag.testing.gradgradcheck(run, t)
    assert_close(ag.func.jacfwd(run)(distinct), ag.func.jacrev(run)(distinct))
    assert_close(ag.func.vmap(run)(np.stack([distinct, -distinct]))[0], run(t).detach())
    with pytest.raises(RuntimeError, match="leaf"):
        write(t)


@pytest.mark.parametrize("call", [np.partition, np.argpartition])
def test_partitions_bring_elements_to_their_places(call: Any) -> None:
    x = np.random.default_rng(0).normal(size=(3, 5))
    t = ag.asarray(x)
    for kth in (0, 2, -1, [1, 3], np.array([4])):
        found = call(t, kth, axis=1).numpy()
        rows = found if call is np.partition else np.take_along_axis(x, found, 1)
        np.testing.assert_array_equal(rows[:, kth], np.sort(x, 1)[:, kth])
        method = t.clone() if call is np.partition else t.argpartition(kth)
        if call is np.partition:
            method.partition(kth)
        np.testing.assert_array_equal(method.numpy(), found)
    assert call(t, 14, axis=None).shape == (15,)
    for wrong, error in ((5, ValueError), ([1, -6], ValueError), (1.5, TypeError)):
        for array in (x, t):
            with pytest.raises(error):
                call(array, wrong)
    with pytest.raises(ValueError, match="introselect"):
        call(t, 1, kind="other")


def test_conditions_that_do_not_fit() -> None:
    x = np.ones((2, 3))
    for array in (x, ag.asarray(x)):
        for call in (
            lambda x: np.compress(np.ones((2, 3), bool), x, axis=0),
            lambda x: x.compress(np.ones((2, 3), bool)),
        ):
            with pytest.raises(ValueError, match="condition"):
                call(array)
        with pytest.raises(IndexError):
            array.compress([True, True, True], axis=0)
