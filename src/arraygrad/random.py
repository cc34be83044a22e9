"""Random numbers by keys: the same key gives the same numbers, wherever and whenever it is used.

A key is an array, and no function changes it: `split` makes new ones from it. So a function that
draws by a key is reproducible in a batch, in a thread, in `checkpoint` and in `compile`, where the
key is an input of the program. Numbers are drawn by NumPy's counter-based generator, Philox.

Where a distribution has parameters with derivatives, a sample has derivatives with respect to them.

>>> import arraygrad as ag
>>> key = ag.random.key(0)
>>> first, second = ag.random.split(key)
>>> ag.random.normal(first, (2,)).shape
(2,)
>>> bool((ag.random.uniform(first, (3,)) == ag.random.uniform(first, (3,))).all())
True
>>> mean = ag.tensor(2.0, requires_grad=True)
>>> ag.grad(ag.random.normal(second, (5,), loc=mean).sum(), mean)
tensor(5.)
"""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import ops
from .backends import backend_of
from .core.array import plain
from .core.describing import describe as _describe
from .linalg import cholesky
from .ops.define import Opaque, constant, declare
from .special import gammainc, gammaln

__all__ = [
    "Stream", "bernoulli", "beta", "categorical", "cauchy", "dirichlet", "exponential", "fold_in",
    "gamma", "gumbel", "integers", "key", "laplace", "logistic", "multivariate_normal", "normal",
    "permutation", "poisson", "split", "uniform",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


Shape = int | Sequence[int] | None


# --- keys ---


def key(seed: int | Sequence[int]) -> Any:
    """The key of a seed: an array of two unsigned integers.

    >>> ag.random.key(0).shape
    (2,)
    """
    return np.random.SeedSequence(seed).generate_state(2, np.uint64)


def generator(key: Any) -> np.random.Generator:
    """NumPy's generator that starts from a key, which must have values: not inside a transform."""
    return np.random.Generator(np.random.Philox(key=np.asarray(plain(key), np.uint64)))


def _drawn(xp: Any, key: Any, x: Any = (), *, law: str, shape: Any, dtype: Any, more: Any) -> Any:
    """What a method of NumPy's generator draws, for each key of a batch."""
    keys = np.asarray(key)
    if keys.dtype != np.uint64 or keys.shape[-1:] != (2,):
        raise TypeError(
            f"key must be made by random.key() or random.split(), but is an array of dtype "
            f"{keys.dtype} and shape {keys.shape}"
        )
    made = np.empty((*keys.shape[:-1], *shape), dtype)
    for place in np.ndindex(keys.shape[:-1]):
        source = generator(keys[place])
        if law == "bits":
            count = math.prod(shape)
            made[place] = source.bit_generator.random_raw(count).reshape(shape)
        elif law in ("random", "standard_normal"):
            kind = np.float32 if made.itemsize == 4 else np.float64
            drawn = getattr(source, law)(shape, dtype=kind)
            if law == "random" and made.itemsize == 2:  # the nearest float16 could be one
                drawn = np.floor(drawn * 2048) / 2048
            made[place] = drawn
        else:
            parameters = more if more else (np.asarray(x),)
            made[place] = getattr(source, law)(*parameters, size=shape)
    return made


_draw_op = declare("random_draw", "key", kind=Opaque(leading=True), compute=_drawn)
_draw_by_op = declare("random_draw_by", "key", "x", kind=Opaque(), compute=_drawn)


def _draw(
    key: Any, *x: Any, law: str, shape: tuple[int, ...], dtype: Any, more: tuple[int, ...] = ()
) -> Any:
    op = _draw_by_op if x else _draw_op
    return op(key, *x, law=law, shape=shape, dtype=np.dtype(dtype), more=more)


# A value that has no derivative.
_held = constant("held", "x", compute=lambda xp, x: x + 0)


def split(key: Any, num: int = 2) -> Any:
    """New keys from a key, which must not be used for anything else then.

    Returns
    -------
    array
        The keys, along the first axis.

    Examples
    --------
    >>> import arraygrad as ag
    >>> first, second = ag.random.split(ag.random.key(0))
    >>> first.shape
    (2,)
    """
    return _draw(key, law="bits", shape=(num, 2), dtype=np.uint64)


def fold_in(key: Any, number: Any) -> Any:
    """A new key from a key and a number, such as that of a step or of a thread.

    The number is an integer, or an array of one, as in the body of a loop.

    >>> ag.random.fold_in(ag.random.key(0), 7).shape
    (2,)
    """
    first = _draw(key, law="bits", shape=(2,), dtype=np.uint64)
    if getattr(number, "ndim", None) == 0 and getattr(number.dtype, "kind", "") in ("i", "u"):
        bits = ops.astype(number, np.uint64)  # whose value may not be known yet
    else:
        bits = np.asarray(operator.index(number), np.uint64)
    mixed = ops.bitwise_xor(first, ops.multiply(bits, np.asarray([0, 1], np.uint64)))
    return _draw(mixed, law="bits", shape=(2,), dtype=np.uint64)


class Stream:
    """Keys one after another, from a seed. All threads take from the same stream.

    Parameters
    ----------
    seed : int, optional
        By default, one that the system draws.

    Attributes
    ----------
    seed, count : int
        The state: the same seed and count give the same keys from there on.

    Examples
    --------
    >>> import arraygrad as ag
    >>> stream = ag.random.Stream(0)
    >>> bool((stream.key() == stream.key()).all())
    False
    """

    def __init__(self, seed: int | None = None) -> None:
        self._lock = threading.Lock()
        self.restart(int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed)

    def restart(self, seed: int, count: int = 0) -> None:
        """Start anew from a seed, after the first `count` keys."""
        if seed < 0 or count < 0:
            raise ValueError(f"seed and count must not be negative, but are {seed} and {count}")
        self.seed, self.count = seed, count

    def key(self) -> Any:
        """The next key."""
        with self._lock:
            self.count += 1
            return key([self.seed, self.count])

    def generator(self) -> np.random.Generator:
        """NumPy's generator of the next key."""
        return generator(self.key())


# --- distributions ---


def _shape(shape: Shape, *parameters: Any) -> tuple[int, ...]:
    if isinstance(shape, int):
        return (shape,)
    if shape is not None:
        return tuple(shape)
    return tuple(np.broadcast_shapes(*(tuple(getattr(p, "shape", ())) for p in parameters)))


def _standard(law: str, key: Any, shape: tuple[int, ...], dtype: Any, *parameters: Any) -> Any:
    """Numbers of a distribution without parameters, in the library of the parameters."""
    like = next((p for p in parameters if hasattr(p, "dtype")), None)
    name = str(like.dtype).rpartition(".")[2] if dtype is None and like is not None else dtype
    wanted = np.dtype("float64" if name is None else name)
    if wanted.kind == "c":
        parts = _standard(law, key, (*shape, 2), np.empty(0, wanted).real.dtype)
        return (parts[..., 0] + 1j * parts[..., 1]) / (2**0.5 if law != "random" else 1)
    if wanted.kind != "f":
        if dtype is not None:
            raise TypeError(f"dtype must be one of floating-point or complex numbers, not {wanted}")
        wanted = np.dtype("float64")
    drawn = _draw(key, law=law, shape=shape, dtype=wanted)
    if like is None or isinstance(plain(like), np.ndarray | np.generic):
        return drawn
    backend = backend_of(plain(like))
    return backend.from_numpy(drawn, backend.device(plain(like)))


def uniform(
    key: Any, shape: Shape = None, low: Any = 0.0, high: Any = 1.0, *, dtype: Any = None
) -> Any:
    """Numbers from `low` up to, and without, `high`.

    >>> u = ag.random.uniform(ag.random.key(0), 1000)
    >>> bool(u.min() >= 0), bool(u.max() < 1)
    (True, True)
    """
    u = _standard("random", key, _shape(shape, low, high), dtype, low, high)
    return u * (high - low) + low


def normal(
    key: Any, shape: Shape = None, loc: Any = 0.0, scale: Any = 1.0, *, dtype: Any = None
) -> Any:
    """Numbers of the normal distribution; complex ones have independent parts.

    >>> scale = ag.tensor(2.0, requires_grad=True)
    >>> x = ag.random.normal(ag.random.key(0), 1000, scale=scale)
    >>> bool(ag.grad(ag.mean(x**2), scale) > 3)  # about 2 * scale
    True
    """
    z = _standard("standard_normal", key, _shape(shape, loc, scale), dtype, loc, scale)
    return z * scale + loc


def exponential(key: Any, shape: Shape = None, scale: Any = 1.0, *, dtype: Any = None) -> Any:
    """Numbers of the exponential distribution, with mean `scale`.

    >>> bool(ag.random.exponential(ag.random.key(0), 1000).min() >= 0)
    True
    """
    u = _standard("random", key, _shape(shape, scale), dtype, scale)
    return -ops.log1p(-u) * scale


def _of_uniform(name: str, quantile: Any) -> Any:
    def function(
        key: Any, shape: Shape = None, loc: Any = 0.0, scale: Any = 1.0, *, dtype: Any = None
    ) -> Any:
        u = _standard("random", key, _shape(shape, loc, scale), dtype, loc, scale)
        # NumPy's numbers can be 0 and not 1: without both, all quantiles are finite.
        smallest = backend_of(plain(u)).xp.finfo(u.dtype).smallest_normal
        return quantile(ops.clip(u, float(smallest), None)) * scale + loc

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Numbers of the {name} distribution.

    >>> ag.random.{name}(ag.random.key(0), 3).shape
    (3,)
    """
    return function


gumbel = _of_uniform("gumbel", lambda u: -ops.log(-ops.log(u)))
logistic = _of_uniform("logistic", lambda u: ops.log(u) - ops.log1p(-u))
cauchy = _of_uniform("cauchy", lambda u: ops.tan(np.pi * (u - 0.5)))
laplace = _of_uniform(
    "laplace", lambda u: -ops.sign(u - 0.5) * ops.log1p(-2 * ops.abs(u - 0.5) * (1 - 2**-52))
)


def integers(key: Any, low: int, high: int, shape: Shape = (), *, dtype: Any = np.int64) -> Any:
    """Integers from `low` up to, and without, `high`.

    >>> sorted(set(ag.random.integers(ag.random.key(0), 0, 3, 100).tolist()))
    [0, 1, 2]
    """
    if not high > low:
        raise ValueError(f"high must be greater than low, but they are {high} and {low}")
    return _draw(key, law="integers", shape=_shape(shape), dtype=dtype, more=(low, high))


def bernoulli(key: Any, p: Any = 0.5, shape: Shape = None) -> Any:
    """True with probability `p`.

    >>> ag.random.bernoulli(ag.random.key(0), 1.0, 3)
    array([ True,  True,  True])
    """
    known = plain(p)
    if isinstance(known, int | float | np.ndarray | np.generic):
        values = np.asarray(known)
        if not ((values >= 0) & (values <= 1)).all():  # NaN is not either
            raise ValueError(f"p must be between 0 and 1, not {known}")
    return _standard("random", key, _shape(shape, p), None, p) < p


def categorical(key: Any, logits: Any, axis: int = -1, shape: Shape = None) -> Any:
    """Indices, with probabilities in proportion to the exponentials of `logits` along an axis.

    >>> ag.random.categorical(ag.random.key(0), np.array([-100.0, 0.0]), shape=3)
    array([1, 1, 1])
    """
    front = _shape(shape) if shape is not None else ()
    axis = axis % logits.ndim - logits.ndim
    return ops.argmax(gumbel(key, (*front, *logits.shape)) + logits, axis=axis)


def permutation(key: Any, x: Any, axis: int = 0) -> Any:
    """The numbers below `x` in random order, or an array with the items along an axis so ordered.

    >>> sorted(ag.random.permutation(ag.random.key(0), 4).tolist())
    [0, 1, 2, 3]
    """
    is_array = getattr(x, "ndim", 0) > 0
    count = x.shape[axis] if is_array else operator.index(x)
    order = ops.argsort(_draw(key, law="random", shape=(count,), dtype=np.float64))
    return ops.take(x, order, axis=axis) if is_array else order


def poisson(key: Any, rate: Any, shape: Shape = None) -> Any:
    """Integers of the Poisson distribution.

    >>> bool(ag.random.poisson(ag.random.key(0), 4.0, 1000).min() >= 0)
    True
    """
    full = _shape(shape, rate)
    rate = ops.broadcast_to(rate if hasattr(rate, "dtype") else np.asarray(rate), full)
    return _draw(key, _held(rate), law="poisson", shape=full, dtype=np.int64)


def gamma(key: Any, a: Any, shape: Shape = None, scale: Any = 1.0) -> Any:
    """Numbers of the gamma distribution. They have derivatives by `a`, too.

    >>> a = ag.tensor(3.0, requires_grad=True)
    >>> x = ag.random.gamma(ag.random.key(0), a, 1000)
    >>> bool(abs(ag.grad(ag.mean(x), a) - 1) < 0.1)  # the mean is a
    True
    """
    full = _shape(shape, a, scale)
    a = ops.broadcast_to(a if hasattr(a, "dtype") else np.asarray(a, np.float64), full)
    x = _draw(key, _held(a), law="standard_gamma", shape=full, dtype=np.float64)
    # A sample keeps its quantile F when a changes: its slope is that of F, over the density.
    share = gammainc(a, x)
    density = ops.exp((_held(a) - 1) * ops.log(x) - x - gammaln(_held(a)))
    return (x - (share - _held(share)) / density) * scale


def beta(key: Any, a: Any, b: Any, shape: Shape = None) -> Any:
    """Numbers of the beta distribution, from two of the gamma distribution.

    >>> bool(ag.random.beta(ag.random.key(0), 2.0, 3.0, 1000).max() <= 1)
    True
    """
    first, second = split(key)
    full = _shape(shape, a, b)
    x, y = gamma(first, a, full), gamma(second, b, full)
    return x / (x + y)


def dirichlet(key: Any, alpha: Any, shape: Shape = None) -> Any:
    """Vectors of the Dirichlet distribution: positive numbers whose sum is one.

    >>> ag.random.dirichlet(ag.random.key(0), np.ones(3)).sum().round(6)
    np.float64(1.0)
    """
    front = _shape(shape) if shape is not None else ()
    x = gamma(key, alpha, (*front, *alpha.shape))
    return x / ops.sum(x, axis=-1, keepdims=True)


def multivariate_normal(key: Any, mean: Any, cov: Any, shape: Shape = None) -> Any:
    """Vectors of the normal distribution, with derivatives by the mean and the covariance.

    >>> ag.random.multivariate_normal(ag.random.key(0), np.zeros(2), np.eye(2), 5).shape
    (5, 2)
    """
    front = _shape(shape) if shape is not None else ()
    z = _standard("standard_normal", key, (*front, *mean.shape), None, mean, cov)
    return mean + ops.matmul(cholesky(cov), z[..., None])[..., 0]


_FRONT = "int or tuple of int | Axes in front of those of the parameters: how many draws."
_describe(
    [globals()[name] for name in __all__],
    {
        "a": "float or array | The first shape parameter.",
        "alpha": "array | The parameters, along the last axis.",
        "axis": "int | The axis of the items.",
        "b": "float or array | The second shape parameter.",
        "categorical.shape": _FRONT,
        "cov": "array | The covariance matrix, which must be positive definite.",
        "dirichlet.shape": _FRONT,
        "dtype": "dtype | By default that of the parameters if they are arrays, else float64.",
        "high": "float or array | The upper bound, which is never drawn.",
        "integers.dtype": "dtype | The dtype.",
        "integers.shape": "int or tuple of int | The shape.",
        "key": "array | The key, from `key` or `split`. The same key gives the same numbers.",
        "loc": "float or array | The mean, or the middle.",
        "logits": "array | Logarithms of probabilities, up to a constant.",
        "low": "float or array | The lower bound.",
        "mean": "array | The mean vector.",
        "multivariate_normal.shape": _FRONT,
        "num": "int | The number of new keys.",
        "number": "int | A number that is not negative and below 2⁶⁴.",
        "p": "float or array | Probabilities.",
        "rate": "float or array | The mean.",
        "scale": "float or array | The standard deviation, or the scale.",
        "seed": "int or sequence of int | Where the numbers start; not negative.",
        "shape": "int or tuple of int | By default, the shape of the parameters.",
        "x": "int or array | The number of items, or the array.",
    },
    {"Any": "array | The numbers; with tensors as parameters, a tensor that depends on them."},
    {},
)
