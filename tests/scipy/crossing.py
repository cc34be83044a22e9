"""Cases of SciPy's functions, and the checks that every case goes through.

SciPy's own results are what values must equal, and their differences what derivatives must equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.fft
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.special
import scipy.stats

import arraygrad as ag

# SciPy's version; and whether it has what came after the oldest one that arraygrad needs.
VERSION = tuple(map(int, scipy.__version__.split(".")[:2]))
IS_RECENT = VERSION > (1, 14)
# Functions of which this version's results are of another precision than arraygrad's.
OTHER_PRECISION = {"signal.freqz", "signal.resample"} if not IS_RECENT else set()
if VERSION >= (1, 18):
    OTHER_PRECISION = {"signal.lsim", "signal.ss2tf"}
    OTHER_PRECISION |= {"spatial.distance.euclidean", "spatial.distance.minkowski"}

AnyFunction = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One way to call a function.

    Attributes
    ----------
    name : str
        The function, and what is special about the call.
    call : callable
        ``call(sp, *arrays)``, where `sp` is ``scipy`` or ``arraygrad.scipy``.
    arrays : tuple of arrays
        The arguments to differentiate by.
    second, batch : bool
        Whether second derivatives exist, and whether it can run inside `vmap`.
    rtol : float
        How well values on tensors must agree with SciPy's.
    step : float
        The step of the differences.
    tolerance : float
        How well derivatives must agree with differences, relative to the largest value.
    """

    name: str
    call: AnyFunction
    arrays: tuple[Any, ...]
    second: bool = True
    batch: bool = True
    rtol: float = 1e-10
    step: float = 1e-5
    tolerance: float = 2e-6

    def __str__(self) -> str:
        return self.name

    @property
    def op(self) -> str:
        """The function, with its module."""
        return re.split(r"[^\w.]", self.name, maxsplit=1)[0]

    @property
    def variant(self) -> str:
        """Whether its numbers are complex."""
        return "complex" if any(map(np.iscomplexobj, self.arrays)) else ""


def results(case: Case, sp: Any, *arrays: Any) -> list[Any]:
    """All arrays in the result of a case."""
    return flat(case.call(sp, *arrays))


def flat(result: Any) -> list[Any]:
    """The arrays in nested tuples and lists."""
    if isinstance(result, tuple | list):
        return [array for item in result for array in flat(item)]
    return [result]


def directions(case: Case, seed: int = 1) -> tuple[Any, ...]:
    """A random direction in the space of the arguments."""
    rng = np.random.default_rng(seed)
    made = []
    for array in case.arrays:
        t = rng.normal(size=np.shape(array))
        if np.iscomplexobj(array):
            t = t + 1j * rng.normal(size=np.shape(array))
        made.append(t)
    return tuple(made)


def loss(case: Case, sp: Any, xp: Any) -> AnyFunction:
    """A real number made of all results, with weights."""

    def total(*arrays: Any) -> Any:
        out: Any = 0.0
        for k, y in enumerate(results(case, sp, *arrays)):
            if isinstance(y, float | complex) and not hasattr(y, "shape"):
                y = np.asarray(y)
            if not hasattr(y, "shape") or "int" in str(y.dtype) or "bool" in str(y.dtype):
                continue
            weights = np.cos(1.0 + k + np.arange(int(np.prod(y.shape)))).reshape(y.shape)
            if "complex" in str(y.dtype):
                out = out + xp.sum(xp.real(y) * weights) + xp.sum(xp.imag(y) * (weights**2 - 0.3))
            else:
                out = out + xp.sum(y * weights)
        return out

    return total


def moved(arrays: tuple[Any, ...], along: tuple[Any, ...], step: float) -> tuple[Any, ...]:
    return tuple(a + step * t for a, t in zip(arrays, along, strict=True))


def difference(function: AnyFunction, case: Case, along: tuple[Any, ...]) -> Any:
    """The derivative along a direction, of fourth order in the step."""
    h = case.step
    near = function(*moved(case.arrays, along, h)) - function(*moved(case.arrays, along, -h))
    far = function(*moved(case.arrays, along, 2 * h)) - function(*moved(case.arrays, along, -2 * h))
    return (8 * near - far) / (12 * h)


def dot(gradients: Any, along: tuple[Any, ...]) -> float:
    """The real derivative along a direction, of gradients as PyTorch has them for complex."""
    return float(
        sum(
            np.sum(np.real(np.conj(np.asarray(g)) * t))
            for g, t in zip(gradients, along, strict=True)
        )
    )


def check_values(case: Case) -> None:
    expected = results(case, scipy, *case.arrays)
    plain = results(case, ag.scipy, *case.arrays)
    tensors = [ag.tensor(a, requires_grad=True) for a in case.arrays]
    found = results(case, ag.scipy, *tensors)
    # In forward mode, too: on plain arrays, a twin is SciPy's function, and compared with itself.
    dual, _ = ag.func.jvp(
        lambda *arrays: results(case, ag.scipy, *arrays), case.arrays, directions(case)
    )
    assert len(expected) == len(plain) == len(found) == len(dual)
    for value, same, tensor, primal in zip(expected, plain, found, dual, strict=True):
        np.testing.assert_array_equal(same, value)
        assert type(same) is type(value)
        scale = np.max(np.abs(value), initial=0.0)
        for ours in (tensor, primal):
            values = np.asarray(getattr(ours, "array", ours))
            assert values.shape == np.shape(value)
            if np.asarray(value).dtype.kind in "iu":
                assert values.dtype == np.asarray(value).dtype
            np.testing.assert_allclose(values, value, rtol=case.rtol, atol=case.rtol * scale)
    assert any(getattr(tensor, "requires_grad", False) for tensor in found)


def check_gradient(case: Case) -> None:
    reference, ours = loss(case, scipy, np), loss(case, ag.scipy, ag)
    tensors = [ag.tensor(a, requires_grad=True) for a in case.arrays]
    gradients = [g.numpy() for g in ag.grad(ours(*tensors), tensors)]
    scale = 1 + max(np.max(np.abs(g), initial=0.0) for g in gradients)
    for argument in range(len(case.arrays)):
        along = tuple(
            t if i == argument else np.zeros_like(t) for i, t in enumerate(directions(case))
        )
        expected = difference(reference, case, along)
        assert abs(dot(gradients, along) - expected) < case.tolerance * scale, argument


def check_forward(case: Case) -> None:
    ours, along = loss(case, ag.scipy, ag), directions(case)
    gradients = ag.func.grad(ours, argnums=tuple(range(len(case.arrays))))(*case.arrays)
    expected = dot(gradients, along)
    _, tangent = ag.func.jvp(ours, case.arrays, along)
    np.testing.assert_allclose(float(tangent), expected, rtol=1e-7, atol=1e-9)


def check_second(case: Case) -> None:
    ours, along, other = loss(case, ag.scipy, ag), directions(case), directions(case, 2)
    argnums = tuple(range(len(case.arrays)))

    def slope(*arrays: Any) -> Any:
        _, tangent = ag.func.jvp(ours, arrays, along)
        return tangent

    def by_numpy(*arrays: Any) -> Any:
        return dot(ag.func.grad(ours, argnums=argnums)(*arrays), along)

    expected = difference(by_numpy, case, other)
    gradients = ag.func.grad(slope, argnums=argnums)(*case.arrays)  # reverse over forward
    scale = 1 + max(np.max(np.abs(np.asarray(g)), initial=0.0) for g in gradients)
    assert abs(dot(gradients, other) - expected) < 20 * case.tolerance * scale
    tensors = [ag.tensor(a, requires_grad=True) for a in case.arrays]
    first = ag.grad(ours(*tensors), tensors, create_graph=True)  # reverse over reverse
    total = sum(
        ag.sum(ag.real(g * np.conj(t)) if np.iscomplexobj(t) else g * t)
        for g, t in zip(first, along, strict=True)
    )
    again = ag.grad(total, tensors, materialize_grads=True)
    assert abs(dot([g.numpy() for g in again], other) - expected) < 20 * case.tolerance * scale


def check_batch(case: Case) -> None:
    """`vmap` over all arguments, or the last one, gives what a loop gives, with gradients."""
    argnums = tuple(range(len(case.arrays)))
    both = ag.func.value_and_grad(loss(case, ag.scipy, ag), argnums=argnums)
    other = moved(case.arrays, directions(case), 1e-2)
    first = case.arrays, both(*case.arrays)
    _compare_with_loop(both, [first, (other, both(*other))], (0,) * len(argnums))
    if len(argnums) > 1:
        last = (*case.arrays[:-1], other[-1])
        axes = (None,) * (len(argnums) - 1) + (0,)
        _compare_with_loop(both, [first, (last, both(*last))], axes)


def _compare_with_loop(both: AnyFunction, members: list[Any], axes: tuple[Any, ...]) -> None:
    """Compare `vmap` with what each member gives: `members` are pairs of arrays and results."""
    batch = tuple(
        np.stack(columns) if axis == 0 else columns[0]
        for columns, axis in zip(zip(*(m for m, _ in members), strict=True), axes, strict=True)
    )
    values, gradients = ag.func.vmap(both, axes)(*batch)
    for i, (_, (value, gradient)) in enumerate(members):
        np.testing.assert_allclose(np.asarray(values)[i], value, rtol=1e-9, atol=1e-10)
        for found, expected in zip(gradients, gradient, strict=True):
            scale = 1 + np.max(np.abs(expected), initial=0.0)
            np.testing.assert_allclose(np.asarray(found)[i], expected, rtol=0, atol=1e-8 * scale)


def _shortened(array: Any) -> Any:
    return np.asarray(array).astype(np.complex64 if np.iscomplexobj(array) else np.float32)


def check_precision(case: Case) -> None:
    """Of arrays of single precision, or one of them: values as SciPy's, gradients as inputs."""
    every = range(len(case.arrays))
    for short in {frozenset(every), *(frozenset([i]) for i in every)}:
        arrays = [_shortened(a) if i in short else a for i, a in enumerate(case.arrays)]
        try:
            expected = results(case, scipy, *arrays)
        except TypeError:  # SciPy refuses some
            continue
        tensors = [ag.tensor(a, requires_grad=True) for a in arrays]
        found = results(case, ag.scipy, *tensors)
        for value, tensor in zip(expected, found, strict=True):
            ours, theirs = (getattr(x, "dtype", type(x)) for x in (tensor, value))
            is_other = case.op in OTHER_PRECISION
            assert np.dtype(ours).kind == np.dtype(theirs).kind if is_other else ours == theirs
        total = sum(ag.sum(ag.real(y)) for y in found if getattr(y, "requires_grad", False))
        for array, gradient in zip(arrays, ag.grad(total, tensors, allow_unused=True), strict=True):
            assert gradient is None or gradient.dtype == array.dtype, short
