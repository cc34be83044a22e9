"""Random tensors, and the state of the generator they are drawn from.

The numbers are those of `ag.random`: a seed gives other numbers than in PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ... import ops
from ...arrays.batched import Batched
from ...arrays.creation import asarray as native
from ...core.array import plain
from ...errors import OuterWriteError
from ...random import Stream
from .creation import check_layout, filled, makes, tensor, usual
from .dtypes import check_device, numpy_of, uint8
from .handles import Tensor, wrap
from .views import not_written

# The names of `torch` that are made here.
__all__ = [
    "Generator", "bernoulli", "default_generator", "fork_rng", "get_rng_state", "initial_seed",
    "manual_seed", "multinomial", "normal", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "randperm", "seed", "set_rng_state",
]  # fmt: skip


class Generator:
    """A source of random numbers."""

    def __init__(self, device: Any = "cpu") -> None:
        check_device(device)
        self._stream, self._seed = Stream(0), 0

    @property
    def _source(self) -> np.random.Generator:
        """NumPy's generator for one draw."""
        return self._stream.generator()

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from a seed."""
        self._seed = int(seed)
        self._stream.restart(self._seed % 2**64)
        return self

    def seed(self) -> int:
        """Start anew from a seed that the system draws."""
        return self.manual_seed(Stream().seed)._seed

    def initial_seed(self) -> int:
        """The seed that it was started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """The state, as a tensor of bytes."""
        held = np.array([self._stream.seed, self._stream.count], np.uint64)
        return tensor(held.view(np.uint8), dtype=uint8)

    def set_state(self, new_state: Tensor) -> Generator:
        """Go back to a state."""
        if new_state.dtype != uint8 or tuple(new_state.shape) != (16,):
            raise RuntimeError("set_state(): this is no state that get_state() gave")
        start, count = new_state.numpy().copy().view(np.uint64).tolist()
        self._stream.restart(start, count)
        self._seed = start
        return self


default_generator = Generator()
manual_seed, seed = default_generator.manual_seed, default_generator.seed
initial_seed, get_rng_state = default_generator.initial_seed, default_generator.get_state


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the default generator."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Leave the default generator as it was after the block."""
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def _source(generator: Generator | None) -> Any:
    return (default_generator if generator is None else generator)._source


# The batches around, from the outermost: their type, size, and what random functions do in them.
_batches: ContextVar[tuple[tuple[Any, int, str], ...]] = ContextVar(
    "arraygrad_random_batches", default=()
)


@contextmanager
def batch_of_random_numbers(kind: Any, size: int, randomness: str) -> Iterator[None]:
    """Draw the same, or other, numbers for each member of a batch inside; or refuse to."""
    token = _batches.set((*_batches.get(), (kind, size, randomness)))
    try:
        yield
    finally:
        _batches.reset(token)


def current_randomness() -> str:
    """What random functions do in the innermost batch."""
    return _batches.get()[-1][2] if _batches.get() else "error"


def _check_batches(*parameters: Any) -> None:
    """Raise if numbers that are the same in a batch depend on what differs over it."""
    differ = any(isinstance(p, Tensor) and isinstance(p._t, Batched) for p in parameters)
    if differ and current_randomness() == "same":
        raise RuntimeError(
            "Vmap does not currently support same randomness with a batched tensor input: the "
            'parameters differ over the batch, so use randomness="different"'
        )


def _expect(fits: Any, words: str, *values: Any) -> None:
    """Raise PyTorch's error for a parameter that does not fit."""
    if not fits:
        raise RuntimeError(words % values)


def _check_chance(chance: Any, name: str) -> None:
    values = np.asarray(plain(chance))
    inside = (values >= 0) & (values <= 1)
    _expect(inside.all(), "%s expects p to be in [0, 1], but got p=%s", name, values.tolist())


def _array(draw: Any, shape: Any, dtype: Any) -> Any:
    """An array of what `draw(shape)` gives; inside vmap, perhaps one for each member."""
    each = []
    for kind, size, randomness in _batches.get():
        if randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode: say by "
                'randomness="same" or "different" whether the members get the same numbers'
            )
        if randomness == "different":
            each.append((kind, size))
    drawn = np.asarray(draw((*(size for _, size in each), *shape)), dtype=usual(dtype))
    array: Any = drawn if each else native(drawn)
    for kind, _ in each:
        array = kind(array)
    return array


def _drawn(draw: Any, shape: Any, dtype: Any) -> Tensor:
    made: Tensor = wrap(_array(draw, shape, None if dtype is None else numpy_of(dtype)))
    return made


def _normal(dtype: Any, generator: Generator | None) -> Any:
    return _of_kind(_source(generator).standard_normal, dtype, np.sqrt(2))


def _uniform(dtype: Any, generator: Generator | None) -> Any:
    return _of_kind(_source(generator).random, dtype, 1)


def _of_kind(draw: Any, dtype: Any, size: float) -> Any:
    """What draws real numbers, or complex numbers from two of them."""
    if dtype is None or numpy_of(dtype).kind != "c":
        return draw
    return lambda shape: (draw(shape) + 1j * draw(shape)) / size


randn = filled(
    "randn",
    "Numbers from the normal distribution.",
    lambda shape, dtype, generator=None: _array(_normal(dtype, generator), shape, dtype),
)
rand = filled(
    "rand",
    "Numbers between 0 and 1.",
    lambda shape, dtype, generator=None: _array(_uniform(dtype, generator), shape, dtype),
)


@makes
def randint(
    low: int = 0, high: Any = None, size: Any = None, *, dtype: Any, generator: Any = None
) -> Any:
    """Integers from `low` up to, and without, `high`."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    said = "random_ expects 'from' to be less than 'to', but got from=%s >= to=%s"
    _expect(low < high, said, low, high)
    source = _source(generator)
    wanted = np.int64 if dtype is None else dtype
    return _array(lambda shape: source.integers(low, high, shape), tuple(size), wanted)


@makes
def randperm(n: int, *, dtype: Any, generator: Any = None) -> Any:
    """The integers below `n` in a random order."""
    _expect(n >= 0, "n must be non-negative, got %s", n)
    source = _source(generator)

    def shuffled(shape: tuple[int, ...]) -> Any:
        return source.permuted(np.broadcast_to(np.arange(n), shape), axis=-1)

    return _array(shuffled, (n,), np.int64 if dtype is None else dtype)


def _like(draw: Any) -> Any:
    def made(input: Tensor, *args: Any, dtype: Any = None, **keywords: Any) -> Tensor:
        wanted = input.dtype if dtype is None else dtype
        found: Tensor = draw(*args, size=tuple(input.shape), dtype=wanted, **keywords)
        return found

    made.__name__ = made.__qualname__ = f"{draw.__name__}_like"
    made.__doc__ = f"`{draw.__name__}`, in the shape and dtype of another tensor."
    return made


randn_like, rand_like, randint_like = map(_like, (randn, rand, randint))


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **keywords: Any,
) -> Tensor:
    """Numbers from normal distributions."""
    check_layout("normal", keywords)
    for value in (std,) if not isinstance(std, Tensor) else ():
        _expect(value >= 0, "normal expects std >= 0.0, but found std %s", value)
    check_device(device)
    _check_batches(mean, std)
    given = [v for v in (mean, std) if isinstance(v, Tensor)]
    shape = np.broadcast_shapes(*(v.shape for v in given)) if size is None else tuple(size)
    centre, width = (v.detach() if isinstance(v, Tensor) else v for v in (mean, std))
    drawn = _drawn(_normal(dtype, generator), shape, dtype)
    if given:
        drawn = drawn.to(given[0].dtype)
    return (drawn * width + centre).requires_grad_(requires_grad)


def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Ones with the given probabilities, or with probability `p`, and zeros."""
    _check_batches(input)
    drawn = _drawn(_uniform(None, generator), tuple(input.shape), None)
    chance = input._t.detach() if p is None else p
    _check_chance(chance, "bernoulli")
    return wrap(ops.astype(drawn._t < chance, input._t.dtype))  # type: ignore[no-any-return]


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Indices drawn with the given weights."""
    array, source = input._t.detach(), _source(generator)
    _expect(input.ndim in (1, 2), "prob_dist must be 1 or 2 dim")
    _expect(array.dtype.kind == "f", "multinomial only supports floating-point dtypes for input")
    _expect(num_samples > 0, "cannot sample n_sample <= 0 samples")
    weights = np.asarray(plain(array), np.float64)  # those of a batch have its axis in front
    bad = not np.isfinite(weights).all() or (weights < 0).any()
    _expect(not bad, "probability tensor contains either `inf`, `nan` or element < 0")
    _expect(
        (weights.sum(-1) > 0).all(), "invalid multinomial distribution (sum of probabilities <= 0)"
    )
    few = not replacement and num_samples > weights.shape[-1]
    said = "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
    _expect(not few, said)

    def draw(shape: tuple[int, ...]) -> Any:
        each = np.broadcast_to(weights, (*shape[:-1], weights.shape[-1]))
        lines = each.reshape(-1, weights.shape[-1])
        rows: Any
        if replacement:
            rows = [source.choice(w.size, num_samples, p=w / w.sum()) for w in lines]
        else:  # the largest of exponential numbers over their rates; weights of zero come last
            with np.errstate(divide="ignore"):
                rows = np.argsort(source.exponential(size=lines.shape) / lines)[:, :num_samples]
        return np.reshape(rows, shape)

    _check_batches(input)
    return _drawn(draw, (*input.shape[:-1], num_samples), np.int64)


# --- in place ---


def _fill(self: Tensor, draw: Any) -> Tensor:
    return _written(self, _drawn(draw, tuple(self.shape), self.dtype))


def _written(self: Tensor, drawn: Tensor) -> Tensor:
    if isinstance(drawn._t, Batched) and not isinstance(self._t, Batched):
        raise RuntimeError(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor, to fill it "
            "with other numbers for each member of the batch: make it inside, by rand_like() or "
            "randn_like()"
        )
    return self.copy_(drawn)  # type: ignore[no-any-return]


def uniform_(
    self: Tensor, a: float = 0.0, b: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers between `a` and `b`."""
    said = "uniform_ expects to return a [from, to) range, but found from=%s > to=%s"
    _expect(a <= b, said, a, b)
    draw = _uniform(self.dtype, generator)
    return _fill(self, lambda shape: a + (b - a) * draw(shape))


def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers from a normal distribution."""
    _expect(std >= 0, "normal expects std >= 0.0, but found std %s", std)
    draw = _normal(self.dtype, generator)
    return _fill(self, lambda shape: mean + std * draw(shape))


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones, with a probability, and zeros."""
    _check_batches(p)
    drawn = _drawn(_uniform(None, generator), tuple(self.shape), None)
    chance = p._t.detach() if isinstance(p, Tensor) else p
    _check_chance(chance, "bernoulli_")
    if isinstance(chance, Batched) and not isinstance(self._t, Batched):
        raise not_written(self, "bernoulli_", OuterWriteError("make the tensor inside vmap"))
    return _written(self, wrap(ops.astype(drawn._t < chance, self._t.dtype)))


def random_(
    self: Tensor, low: int = 0, high: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Fill with random integers."""
    low, high = (0, low) if high is None and low else (low, high or 2**24)
    source = _source(generator)
    return _fill(self, lambda shape: source.integers(low, high, shape))


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from an exponential distribution."""
    _expect(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda=%s", lambd)
    source = _source(generator)
    return _fill(self, lambda shape: source.exponential(1 / lambd, shape))


def cauchy_(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers from a Cauchy distribution."""
    _expect(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=%s", sigma)
    source = _source(generator)
    return _fill(self, lambda shape: median + sigma * source.standard_cauchy(shape))


def log_normal_(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers whose logarithm is from a normal distribution."""
    _expect(std > 0, "log_normal_ expects std > 0.0, but found std=%s", std)
    source = _source(generator)
    return _fill(self, lambda shape: source.lognormal(mean, std, shape))


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from a geometric distribution."""
    _expect(0 < p < 1, "geometric_ expects p to be in (0, 1), but got p=%s", p)
    source = _source(generator)
    return _fill(self, lambda shape: source.geometric(p, shape))


IN_PLACE = [uniform_, normal_, bernoulli_, random_, exponential_, cauchy_, log_normal_, geometric_]
