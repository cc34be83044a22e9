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
from .core.axes import one_axis, shape_tuple
from .core.describing import describe as _describe
from .linalg import cholesky
from .ops.define import Opaque, binary, constant, declare
from .ops.special.parameters import gammainc_slope
from .special import digamma, expit, gammaln, softmax

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
        elif law == "log_gamma":
            # The sample of a small `a` is too close to zero for its dtype. Its logarithm follows
            # from a sample of `a + 1` and one of the exponential distribution.
            small = np.asarray(x) < 1
            drawn = np.log(source.standard_gamma(np.where(small, x + 1, x), shape))
            down = source.standard_exponential(shape) / x
            made[place] = drawn - np.where(small, down, 0)
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


def _check(name: str, value: Any, test: Any, words: str) -> None:
    """Raise an error if the known values of an argument fail a test; NaN fails each."""
    known = plain(value)
    if isinstance(known, int | float | list | np.ndarray | np.generic):
        if not np.all(test(np.asarray(known))):
            raise ValueError(f"{name} must be {words}, not {known}")


def _array(x: Any) -> Any:
    return x if hasattr(x, "dtype") else np.asarray(x, np.float64)


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
    _check("num", operator.index(num), lambda n: n >= 0, "a number that is not negative")
    return _draw(key, law="bits", shape=(num, 2), dtype=np.uint64)


def fold_in(key: Any, number: Any) -> Any:
    """A new key from a key and a number, such as that of a step or of a thread.

    The number is an integer, or an array of one, as in the body of a loop.

    >>> ag.random.fold_in(ag.random.key(0), 7).shape
    (2,)
    """
    if getattr(number, "ndim", None) == 0 and getattr(number.dtype, "kind", "") in ("i", "u"):
        _check("number", number, lambda n: n >= 0, "not negative")
        bits = ops.astype(number, np.uint64)  # whose value may not be known yet
    else:
        number = operator.index(number)
        if not 0 <= number < 2**64:
            raise ValueError(f"number must not be negative and below 2⁶⁴, not {number}")
        bits = np.asarray(number, np.uint64)
    first = _draw(key, law="bits", shape=(2,), dtype=np.uint64)
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
    """The shape of the numbers; without `shape`, that of the parameters."""
    arrays = [p for p in parameters if not isinstance(p, int | float | complex)]
    shapes = [tuple(p.shape if hasattr(p, "shape") else np.shape(p)) for p in arrays]
    together = np.broadcast_shapes(*shapes) if any(shapes) else ()
    if shape is None:
        return together
    wanted = shape_tuple(shape)
    if min(wanted, default=0) < 0:
        raise ValueError(f"shape must not have negative lengths, but is {wanted}")
    try:
        fits = not together or np.broadcast_shapes(wanted, together) == wanted
    except ValueError:
        fits = False
    if not fits:  # else several of the numbers would be the same
        raise ValueError(f"shape is {wanted}, but the parameters have the shape {together}")
    return wanted


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
    low, high = operator.index(low), operator.index(high)
    if not high > low:
        raise ValueError(f"high must be greater than low, but they are {high} and {low}")
    if np.dtype(dtype).kind not in "iu":
        raise TypeError(f"dtype must be one of integers, not {dtype}")
    range_ = np.iinfo(dtype)
    if low < range_.min or high - 1 > range_.max:
        raise ValueError(f"{dtype} does not hold all integers from low={low} up to high={high}")
    return _draw(key, law="integers", shape=_shape(shape), dtype=dtype, more=(low, high))


def bernoulli(key: Any, p: Any = 0.5, shape: Shape = None) -> Any:
    """True with probability `p`.

    >>> ag.random.bernoulli(ag.random.key(0), 1.0, 3)
    array([ True,  True,  True])
    """
    _check("p", p, lambda p: (p >= 0) & (p <= 1), "between 0 and 1")
    return _standard("random", key, _shape(shape, p), None, p) < p


def categorical(key: Any, logits: Any, axis: int = -1, shape: Shape = None) -> Any:
    """Indices, with probabilities in proportion to the exponentials of `logits` along an axis.

    >>> ag.random.categorical(ag.random.key(0), np.array([-100.0, 0.0]), shape=3)
    array([1, 1, 1])
    """
    front, logits = _shape(shape), _array(logits)
    axis = one_axis(axis, logits.ndim) - logits.ndim
    _check(
        "logits",
        logits,
        lambda x: np.isfinite(np.max(x, axis)),
        "numbers or -inf, not all -inf along the axis",
    )
    return ops.argmax(gumbel(key, (*front, *logits.shape)) + logits, axis=axis)


def permutation(key: Any, x: Any, axis: int = 0) -> Any:
    """The numbers below `x` in random order, or an array with the items along an axis so ordered.

    >>> sorted(ag.random.permutation(ag.random.key(0), 4).tolist())
    [0, 1, 2, 3]
    """
    is_array = getattr(x, "ndim", 0) > 0
    count = x.shape[one_axis(axis, x.ndim)] if is_array else operator.index(x)
    _check("x", count, lambda n: n >= 0, "a number that is not negative")
    order = ops.argsort(_draw(key, law="random", shape=(count,), dtype=np.float64))
    return ops.take(x, order, axis=axis) if is_array else order


def poisson(key: Any, rate: Any, shape: Shape = None) -> Any:
    """Integers of the Poisson distribution.

    >>> bool(ag.random.poisson(ag.random.key(0), 4.0, 1000).min() >= 0)
    True
    """
    full = _shape(shape, rate)
    _check("rate", rate, lambda rate: (rate >= 0) & (rate < 2**62), "at least 0 and below 2⁶²")
    rate = ops.broadcast_to(_array(rate), full)
    return _draw(key, _held(rate), law="poisson", shape=full, dtype=np.int64)


def gamma(key: Any, a: Any, shape: Shape = None, scale: Any = 1.0) -> Any:
    """Numbers of the gamma distribution. They have derivatives by `a`, too.

    >>> a = ag.tensor(3.0, requires_grad=True)
    >>> x = ag.random.gamma(ag.random.key(0), a, 1000)
    >>> bool(abs(ag.grad(ag.mean(x), a) - 1) < 0.1)  # the mean is a
    True
    """
    full = _shape(shape, a, scale)
    return ops.exp(_log_gamma(key, "a", a, full)) * scale


def _log_gamma(key: Any, name: str, a: Any, shape: tuple[int, ...]) -> Any:
    """Logarithms of numbers of the gamma distribution."""
    # The square of the reciprocal must be finite, too.
    _check(name, a, lambda a: (a >= 1e-150) & (a < math.inf), "at least 1e-150, and finite")
    a = ops.broadcast_to(_array(a), shape)
    return _following(a, _draw(key, _held(a), law="log_gamma", shape=shape, dtype=np.float64))


def _log_gamma_slope(a: Any, y: Any) -> Any:
    """The derivative by `a` of the logarithm `y` of a sample, which keeps its quantile.

    It is minus the derivative by `a` of the share below the sample, over the density. Where the
    sample `x` is tiny, the share is ``x**a / Γ(a + 1)``; where `a` is large, ``(x - a) / sqrt(a)``
    has the normal distribution.
    """
    tiny, large = y < -40, a > 1e8
    known = ops.logical_or(tiny, large)
    p, log = ops.where(known, 1, a), ops.where(known, 0, y)
    x = ops.exp(log)
    usual = -gammainc_slope(p, x, n=1) / ops.exp(p * log - x - gammaln(p))
    at_large = (1 / a + ops.exp(-ops.where(large, y, 0))) / 2
    return ops.where(tiny, (digamma(a + 1) - y) / a, ops.where(large, at_large, usual))


# `y`, a constant, with a derivative by `x`.
_following = binary(
    "log_gamma_following",
    dx=lambda x, out: _log_gamma_slope(x, out),
    compute=lambda xp, x, y: y + 0,
)


def beta(key: Any, a: Any, b: Any, shape: Shape = None) -> Any:
    """Numbers of the beta distribution, from two of the gamma distribution.

    >>> bool(ag.random.beta(ag.random.key(0), 2.0, 3.0, 1000).max() <= 1)
    True
    """
    first, second = split(key)
    full = _shape(shape, a, b)
    return expit(_log_gamma(first, "a", a, full) - _log_gamma(second, "b", b, full))


def dirichlet(key: Any, alpha: Any, shape: Shape = None) -> Any:
    """Vectors of the Dirichlet distribution: positive numbers whose sum is one.

    >>> ag.random.dirichlet(ag.random.key(0), np.ones(3)).sum().round(6)
    np.float64(1.0)
    """
    alpha = _array(alpha)
    if alpha.ndim == 0:
        raise ValueError("alpha must have at least one axis, but is a number")
    return softmax(_log_gamma(key, "alpha", alpha, (*_shape(shape), *alpha.shape)), axis=-1)


def multivariate_normal(key: Any, mean: Any, cov: Any, shape: Shape = None) -> Any:
    """Vectors of the normal distribution, with derivatives by the mean and the covariance.

    >>> ag.random.multivariate_normal(ag.random.key(0), np.zeros(2), np.eye(2), 5).shape
    (5, 2)
    """
    mean, cov = _array(mean), _array(cov)
    vectors = np.broadcast_shapes(mean.shape, cov.shape[:-1])
    z = _standard("standard_normal", key, (*_shape(shape), *vectors), None, mean, cov)
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
        "integers.high": "int | The upper bound, which is never drawn.",
        "integers.low": "int | The lower bound.",
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
