"""Random programs of arrays, the same for every seed, to be compared with eager."""

from __future__ import annotations

from typing import Any

import numpy as np

import arraygrad as ag

LENGTHS = (1, 2, 3, 5, 8, 17, 33)


class RandomProgram:
    """A function of some arrays, made of random ops.

    Values stay moderate, so that rounding does not grow. Comparisons, and other ops with steps, are
    applied to arguments only: there rounding cannot change what they give.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.seed = seed
        ndim = int(rng.integers(0, 4))
        self.shape = tuple(int(n) for n in rng.choice(LENGTHS, ndim))
        if rng.random() < 0.03:
            self.shape = (0, *self.shape)
        if rng.random() < 0.05:
            self.shape = (int(rng.integers(4000, 20000)),)
        self.dtype = rng.choice([np.float32, np.float64])
        self.steps = int(rng.integers(1, 14))
        self.arrays = [self._array(rng) for _ in range(int(rng.integers(1, 4)))]

    def _array(self, rng: Any) -> Any:
        shape = list(self.shape)
        for i in range(len(shape)):
            if rng.random() < 0.15 and shape[i]:
                shape[i] = 1
        shape = shape[int(rng.integers(0, len(shape) + 1)) :] if rng.random() < 0.2 else shape
        if rng.random() < 0.1:
            return rng.integers(-3, 4, shape)
        array = rng.normal(size=shape).astype(self.dtype)
        layout = rng.random()
        if layout < 0.1:
            return np.asfortranarray(array)
        if layout < 0.2 and array.ndim:
            return np.repeat(array, 2, axis=-1)[..., ::2]
        return array

    def __call__(self, *arrays: Any) -> list[Any]:
        rng = np.random.default_rng(self.seed + 10**6)
        given = list(arrays)
        values = [ag.asarray(a) * self.dtype(1) for a in given]
        for _ in range(self.steps):
            values.append(self._step(rng, values, given))
        count = int(rng.integers(1, 4))
        return [values[-1], *(values[int(i)] for i in rng.integers(0, len(values), count))]

    def total(self, *arrays: Any) -> Any:
        """A number that depends on all results, to be differentiated."""
        results = self(*arrays)
        return sum((ag.sum(ag.tanh(r)) for r in results), start=ag.asarray(self.dtype(0)))

    def _step(self, rng: Any, values: list[Any], given: list[Any]) -> Any:
        x = values[int(rng.integers(0, len(values)))]
        kinds = ["unary", "binary", "reduce", "move", "where", "line", "product", "odd"]
        choice = rng.choice(kinds, p=[0.25, 0.25, 0.14, 0.16, 0.06, 0.06, 0.04, 0.04])
        return getattr(self, f"_{choice}")(rng, x, values, given)

    def _unary(self, rng: Any, x: Any, values: Any, given: Any) -> Any:
        functions = [
            ag.sin, ag.cos, ag.tanh, ag.special.erf, ag.special.expit, ag.atan, ag.negative, ag.abs,
            lambda x: ag.exp(-x * x), lambda x: ag.log(1 + x * x), lambda x: ag.log1p(ag.abs(x)),
            lambda x: ag.sqrt(x * x + 1), lambda x: 1 / (2 + x * x), lambda x: ag.expm1(ag.tanh(x)),
            lambda x: ag.tanh(x) ** 3, lambda x: x * 0.5 + 0.25, ag.special.softplus,
            ag.special.ndtr, ag.asinh, lambda x: ag.sinh(ag.tanh(x)), lambda x: ag.tan(ag.tanh(x)),
            lambda x: ag.log2(1 + x * x), lambda x: ag.asin(0.9 * ag.tanh(x)),
            lambda x: ag.atan2(x, 1 + x * x), lambda x: (1 + x * x) ** -0.7,
        ]  # fmt: skip
        return functions[int(rng.integers(0, len(functions)))](x)

    def _binary(self, rng: Any, x: Any, values: Any, given: Any) -> Any:
        y = values[int(rng.integers(0, len(values)))]
        try:
            np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            y = ag.sum(y) * 0.01
        functions = [ag.add, ag.subtract, lambda x, y: ag.tanh(x) * ag.tanh(y), ag.maximum,
                     lambda x, y: x / (1 + y * y), ag.logaddexp]  # fmt: skip
        return functions[int(rng.integers(0, len(functions)))](x, y)

    def _reduce(self, rng: Any, x: Any, values: Any, given: Any) -> Any:
        if not x.size:
            return ag.sum(x)
        axes = [i for i in range(x.ndim) if rng.random() < 0.5]
        axis = tuple(axes) if rng.random() < 0.7 else None
        functions = [ag.mean, ag.mean, ag.max, ag.min, ag.var, ag.special.logsumexp,
                     lambda x, **k: ag.sum(x, **k) * 0.1]  # fmt: skip
        function = functions[int(rng.integers(0, len(functions)))]
        return function(x, axis=axis, keepdims=bool(rng.random() < 0.5))

    def _move(self, rng: Any, x: Any, values: Any, given: Any) -> Any:
        kind = int(rng.integers(0, 10))
        if not x.ndim:
            return ag.broadcast_to(x, (3,))
        axis = int(rng.integers(0, x.ndim))
        n = x.shape[axis]
        if kind == 0:
            return ag.permute_dims(x, tuple(int(i) for i in rng.permutation(x.ndim)))
        if kind == 1:
            start, step = int(rng.integers(0, n + 1)), int(rng.choice([1, 1, 2, -1]))
            part = slice(start, None, step) if rng.random() < 0.5 else slice(0, n // 2 + 1)
            return x[(slice(None),) * axis + (part,)]
        if kind == 2:
            return ag.flip(x, axis=axis)
        if kind == 3:
            return ag.reshape(x, (-1,)) if x.size else x
        if kind == 4:
            return ag.concat([x, x * 2], axis=axis)
        if kind == 5 and n:
            return ag.take(x, np.asarray(rng.integers(0, n, 3)), axis=axis)
        if kind == 7 and n:
            places = np.asarray(rng.integers(-n, n, (2, 3)))
            return x[(slice(None),) * axis + (places,)]
        if kind == 8 and n:
            shape = tuple(4 if i == axis else m for i, m in enumerate(x.shape))
            return ag.take_along_axis(x, np.asarray(rng.integers(0, n, shape)), axis=axis)
        if kind == 9 and x.ndim > 1 and x.shape[0] and x.shape[-1]:
            first, last = (np.asarray(rng.integers(-m, m, 5)) for m in (x.shape[0], x.shape[-1]))
            return x[first, ..., last]
        return ag.expand_dims(x, axis=axis)

    def _where(self, rng: Any, x: Any, values: Any, given: Any) -> Any:
        mask = given[int(rng.integers(0, len(given)))] > 0.1
        try:
            np.broadcast_shapes(x.shape, mask.shape)
        except ValueError:
            return x
        return ag.where(mask, x, -0.5)

    def _line(self, rng: Any, x: Any, values: Any, given: Any) -> Any:
        if not x.size or not x.ndim:
            return x
        axis = int(rng.integers(0, x.ndim))
        functions = [ag.special.softmax, ag.special.log_softmax,
                     lambda x, axis: ag.tanh(ag.cumulative_sum(x, axis=axis)),
                     lambda x, axis: x - ag.mean(x, axis=axis, keepdims=True)]  # fmt: skip
        return functions[int(rng.integers(0, len(functions)))](x, axis=axis)

    def _product(self, rng: Any, x: Any, values: Any, given: Any) -> Any:
        if x.ndim < 1 or not x.size:
            return x
        return ag.tanh(x @ ag.permute_dims(x, (*range(x.ndim - 2), *range(x.ndim)[-2:][::-1])))

    def _odd(self, rng: Any, x: Any, values: Any, given: Any) -> Any:
        y = x.clone()
        if y.ndim and y.shape[0]:
            y[0] = 0.25
            y[-1:] += 0.5
        return y
