"""Ops called wrongly: the error names the argument and what was wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraygrad as ag

x = ag.tensor(np.ones((2, 3)), requires_grad=True)
v = ag.tensor(np.ones(3), requires_grad=True)
s = ag.tensor(1.0, requires_grad=True)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        # axes
        (lambda: ag.sum(x, axis=2), IndexError, "axis 2 is out of range .* 2 dimensions"),
        (lambda: ag.sum(x, axis=-3), IndexError, "axis -3 is out of range"),
        (lambda: ag.sum(x, axis=(0, 0)), ValueError, r"axis names an axis twice: \(0, 0\)"),
        (lambda: ag.sum(s, axis=1), IndexError, "axis 1 is out of range .* 0 dimensions"),
        (lambda: ag.max(s, axis=-2), IndexError, "axis -2 is out of range .* 0 dimensions"),
        (lambda: ag.sum(s, axis=(0,)), IndexError, "axis 0 is out of range .* 0 dimensions"),
        (lambda: ag.sum(s, axis=0.0), TypeError, "axis must be an integer, not float"),
        (lambda: ag.argmax(s, axis=1), IndexError, "axis 1 is out of range .* 0 dimensions"),
        (lambda: ag.mean(s, axis=0), IndexError, "axis 0 is out of range .* 0 dimensions"),
        (lambda: ag.cumulative_sum(s, axis=0), IndexError, "axis 0 is out of range"),
        (lambda: ag.sort(s), IndexError, "axis -1 is out of range .* 0 dimensions"),
        (lambda: ag.mean(x, axis=1.5), TypeError, "axis must be an integer, not float"),
        (lambda: ag.argmax(x, axis=5), IndexError, "axis 5 is out of range"),
        (lambda: ag.sort(x, axis=3), IndexError, "axis 3 is out of range"),
        (lambda: ag.argsort(s), IndexError, "axis -1 is out of range .* 0 dimensions"),
        (lambda: ag.cumulative_sum(x), ValueError, "axis must be given"),
        (lambda: ag.cumulative_prod(x, axis=2), IndexError, "axis 2 is out of range"),
        (lambda: ag.moveaxis(x, 0, 5), IndexError, "destination 5 is out of range"),
        (lambda: ag.moveaxis(x, (0, 1), 0), ValueError, "source and destination"),
        (lambda: ag.swapaxes(x, 0, 2), IndexError, "axis2 2 is out of range"),
        (lambda: ag.expand_dims(x, axis=5), IndexError, "axis 5 is out of range"),
        (lambda: ag.flip(x, axis=2), IndexError, "axis 2 is out of range"),
        (lambda: ag.take(x, np.array([0]), axis=2), IndexError, "axis 2 is out of range"),
        (lambda: ag.concat([s, s]), IndexError, "axis 0 is out of range .* 0 dimensions"),
        (lambda: ag.stack([x, x], axis=3), IndexError, "axis 3 is out of range"),
        (lambda: ag.unstack(s), IndexError, "axis 0 is out of range"),
        (lambda: ag.vecdot(x, x, axis=4), IndexError, "out of range"),
        (lambda: ag.flatten(x, 1, 0), ValueError, "start_axis 1 comes after end_axis 0"),
        (lambda: ag.squeeze(x, axis=0), ValueError, "cannot squeeze axis 0 of length 2"),
        (lambda: ag.permute_dims(x, (0, 0)), ValueError, "axes must name each of the 2 axes once"),
        (lambda: ag.permute_dims(x, (0,)), ValueError, "axes must name each of the 2 axes once"),
        # shapes
        (lambda: ag.reshape(x, (4, 2)), ValueError, r"shape \(2, 3\) into \(4, 2\)"),
        (lambda: ag.reshape(x, (-1, -1)), ValueError, r"shape \(2, 3\) into \(-1, -1\)"),
        (lambda: ag.reshape(x, (-1, 4)), ValueError, r"shape \(2, 3\) into \(-1, 4\)"),
        (lambda: ag.reshape(x, (-2, -3)), ValueError, r"shape \(2, 3\) into \(-2, -3\)"),
        (lambda: ag.reshape(x, (1.5, 4)), TypeError, "shape must be an integer or a sequence"),
        (lambda: ag.broadcast_to(x, (3,)), ValueError, r"\(2, 3\) does not broadcast to \(3,\)"),
        (lambda: ag.broadcast_to(x, (2, 4)), ValueError, r"\(2, 3\), \(2, 4\) do not broadcast"),
        (
            lambda: ag.broadcast_to(x, (1, 3)),
            ValueError,
            r"\(2, 3\) does not broadcast to \(1, 3\)",
        ),
        (lambda: ag.broadcast_arrays(x, ag.ones(2)), ValueError, "do not broadcast"),
        (lambda: ag.matrix_transpose(v), ValueError, "at least 2 dimensions"),
        (lambda: ag.tril(v), ValueError, "tril needs at least 2 dimensions"),
        (lambda: v.mT, ValueError, "at least 2 dimensions"),
        (lambda: ag.concat([]), ValueError, "arrays must not be empty"),
        (lambda: ag.stack([]), ValueError, "arrays must not be empty"),
        (lambda: ag.concat([x, v]), ValueError, "dimension"),
        (lambda: ag.stack([x, v]), ValueError, "same shape"),
        (lambda: x + ag.ones(2), ValueError, r"broadcast together with shapes \(2,3\) \(2,\)"),
        (lambda: x @ x, ValueError, "matmul"),
        (lambda: ag.matmul(x, s), ValueError, "matmul"),
        (lambda: ag.vecdot(x, ag.ones((2, 4))), ValueError, "x has length 3 .* y has 4"),
        (lambda: ag.tensordot(x, x, axes=1), ValueError, "do not match"),
        (lambda: ag.tensordot(x, x, axes=3), ValueError, "axes=3 is out of range"),
        (lambda: ag.tensordot(x, x, axes="a"), TypeError, "axes must be an integer or a pair"),
        (lambda: ag.trace(v), ValueError, r"x must have at least 2 dimensions, got shape \(3,\)"),
        (lambda: ag.pad(x, (1, 2, 3)), ValueError, "pad_width must be .* each of 2 axes"),
        (lambda: ag.pad(x, [(1, 1)] * 3), ValueError, "pad_width must be .* each of 2 axes"),
        # repetitions
        (lambda: ag.roll(x, (1, 2), axis=0), ValueError, "shift and axis must have the same len"),
        (lambda: ag.roll(x, (1, 2)), TypeError, "shift must be an integer"),
        (lambda: ag.roll(x, 1.5), TypeError, "shift must be an integer"),
        (lambda: ag.tile(x, (-1,)), ValueError, "repetitions must not be negative"),
        (lambda: ag.repeat(x, -1), ValueError, "repeats must not be negative"),
        (lambda: ag.repeat(x, [1, 2], axis=1), ValueError, "repeats has length 2, axis 1 has 3"),
        # einsum
        (lambda: ag.einsum("ij,jk", x), ValueError, "2 terms in 'ij,jk', 1 operands"),
        (lambda: ag.einsum("ij,jk", x, x), ValueError, "label 'j' has lengths 3 and 2"),
        (lambda: ag.einsum("ijk", x), ValueError, r"'ijk' .* does not fit shape \(2, 3\)"),
        (lambda: ag.einsum("ii", x), ValueError, r"'ii' .* does not fit shape \(2, 3\)"),
        (lambda: ag.einsum("ii", x[:1]), ValueError, r"'ii' .* does not fit shape \(1, 3\)"),
        (lambda: ag.einsum("i1", x), ValueError, "does not fit"),
        (lambda: ag.einsum("ij->k", x), ValueError, "output label 'k'"),
        (lambda: ag.einsum("ij->ii", x), ValueError, "output label 'i'"),
        (lambda: ag.einsum(x, "ij"), TypeError, "a list of numbers after each operand, not str"),
        (lambda: ag.einsum(x, [0, 1], x), TypeError, "after each operand, not Tensor"),
        (lambda: ag.einsum(x, [0, "j"]), TypeError, "must be integers and ellipses, not 'j'"),
        (lambda: ag.einsum(x, [0, 52]), ValueError, "subscript 52 is not within 0 and 51"),
        (lambda: ag.einsum(x, [0, -1]), ValueError, "subscript -1 is not within 0 and 51"),
        (lambda: ag.einsum(x), TypeError, "there must be subscripts"),
        # indices
        (lambda: x[0, 0, 0], IndexError, "too many indices: 3 for an array of 2 dimensions"),
        (lambda: x[0, 3], IndexError, "index 3 is out of range for axis 1 with length 3"),
        (lambda: x[..., ...], IndexError, "only one"),
        (lambda: x[1.0], IndexError, "must be integers or booleans, got dtype float64"),
        (lambda: x[np.array([5])], IndexError, "index 5 is out of bounds"),
        (lambda: x[np.array([True])], IndexError, "boolean index did not match"),
        (lambda: ag.take(v, np.array([0.5])), IndexError, "must be integers"),
        (lambda: ag.take(v, np.array([5])), IndexError, "index 5 is out of bounds"),
        (lambda: ag.take_along_axis(x, np.array([0])), ValueError, "indices has 1 dimensions"),
        (lambda: list(s), TypeError, "0-d"),
        # what is no array
        (lambda: x + "a", TypeError, "Tensor.*str"),
        (lambda: x + None, TypeError, "Tensor.*NoneType"),
        (lambda: x @ 2, TypeError, "Tensor.*int"),
        (lambda: ag.sin([1.0]), TypeError, r"an array or a number, got list: .* asarray\(\)"),
        (lambda: ag.grad(lambda x: x, x), TypeError, r"func\.grad\(\) takes functions"),
        (lambda: ag.grad(1.0, x), TypeError, "not float: compute with tensors from the start"),
        (lambda: ag.grad(x.sum(), np.ones(2)), TypeError, "not ndarray: compute with tensors"),
        (lambda: ag.func.switch(0, ag.sin, x), TypeError, "branches must be a sequence"),
        (lambda: ag.add(x, [1.0]), TypeError, "expected an array or a number, got list"),
        (lambda: ag.astype(x, "no dtype"), TypeError, "no dtype"),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_wrong_number_of_arrays(count: int) -> None:
    x = np.ones(2)
    for given in (x, ag.tensor(x), ag.tensor(x, requires_grad=True)):
        with pytest.raises(TypeError, match=rf"where takes 3 arrays .*, not {count}"):
            ag.where(*[given] * count)
