"""Random numbers by keys: the same everywhere, of the right distributions, differentiable."""

import threading
from typing import Any

import numpy as np
import pytest
from scipy import stats

import arraygrad as ag
from arraygrad import random

KEY = random.key(0)
LAWS = {
    "uniform": (lambda k, n: random.uniform(k, n, -1.0, 3.0), stats.uniform(-1, 4)),
    "normal": (lambda k, n: random.normal(k, n, 1.0, 2.0), stats.norm(1, 2)),
    "exponential": (lambda k, n: random.exponential(k, n, 2.0), stats.expon(scale=2)),
    "gumbel": (lambda k, n: random.gumbel(k, n, 1.0, 2.0), stats.gumbel_r(1, 2)),
    "logistic": (lambda k, n: random.logistic(k, n, 1.0, 2.0), stats.logistic(1, 2)),
    "cauchy": (lambda k, n: random.cauchy(k, n, 1.0, 2.0), stats.cauchy(1, 2)),
    "laplace": (lambda k, n: random.laplace(k, n, 1.0, 2.0), stats.laplace(1, 2)),
    "gamma": (lambda k, n: random.gamma(k, 2.5, n, 2.0), stats.gamma(2.5, scale=2)),
    "beta": (lambda k, n: random.beta(k, 2.5, 1.5, n), stats.beta(2.5, 1.5)),
}


@pytest.mark.parametrize("name", LAWS)
def test_numbers_have_their_distribution(name):
    draw, law = LAWS[name]
    x = draw(KEY, 4000)
    assert x.shape == (4000,)
    assert np.isfinite(x).all()
    assert stats.kstest(x, law.cdf).pvalue > 1e-3
    y = draw(random.key(1), 4000)
    assert abs(np.corrcoef(np.argsort(np.argsort(x)), np.argsort(np.argsort(y)))[0, 1]) < 0.1


def test_whole_numbers():
    x = random.integers(KEY, -2, 3, (4000,))
    assert x.dtype == np.int64
    assert sorted(set(x.tolist())) == [-2, -1, 0, 1, 2]
    assert abs(random.bernoulli(KEY, 0.3, 4000).mean() - 0.3) < 0.03
    assert abs(random.poisson(KEY, 4.0, 4000).mean() - 4) < 0.2
    logits = np.log(np.array([0.1, 0.6, 0.3]))
    counts = np.bincount(random.categorical(KEY, logits, shape=4000)) / 4000
    np.testing.assert_allclose(counts, [0.1, 0.6, 0.3], atol=0.03)
    assert random.categorical(KEY, np.zeros((3, 5)), axis=0).shape == (5,)
    order = random.permutation(KEY, 10)
    assert sorted(order.tolist()) == list(range(10)) != order.tolist()
    moved = random.permutation(KEY, np.arange(20).reshape(2, 10), axis=1)
    assert moved.tolist() == np.arange(20).reshape(2, 10)[:, order].tolist()
    vectors = random.dirichlet(KEY, np.array([1.0, 2.0, 3.0]), 1000)
    np.testing.assert_allclose(vectors.sum(-1), 1)
    np.testing.assert_allclose(vectors.mean(0), [1 / 6, 1 / 3, 1 / 2], atol=0.03)
    with pytest.raises(ValueError, match="high must be greater"):
        random.integers(KEY, 3, 3)


def test_keys():
    keys = random.split(KEY, 50)
    assert keys.shape == (50, 2)
    assert len({tuple(k) for k in keys.tolist()}) == 50
    assert keys.tolist() == random.split(KEY, 50).tolist()
    folded = {tuple(random.fold_in(KEY, i).tolist()) for i in range(50)}
    assert len(folded | {tuple(k) for k in keys.tolist()}) == 100
    assert random.key(3).tolist() != random.key(4).tolist()
    with pytest.raises(TypeError, match=r"random\.key"):
        random.normal(np.zeros(2), (3,))
    with pytest.raises(TypeError, match=r"random\.key"):
        random.normal(7, (3,))


def test_numbers_that_are_folded_in_may_be_those_of_a_loop() -> None:
    def draws(key: Any) -> Any:
        def step(i: Any, total: Any) -> Any:
            return total + random.normal(random.fold_in(key, i), (3,))

        return ag.func.fori_loop(0, 4, step, np.zeros(3))

    wanted = sum(random.normal(random.fold_in(KEY, i), (3,)) for i in range(4))
    np.testing.assert_allclose(draws(KEY), wanted)
    np.testing.assert_allclose(ag.compile(draws)(KEY), wanted)
    several = ag.func.vmap(lambda i: random.fold_in(KEY, i))(np.arange(4))
    for i in range(4):
        np.testing.assert_array_equal(several[i], random.fold_in(KEY, i))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_dtypes(dtype):
    x = random.normal(KEY, (4000,), dtype=dtype)
    assert x.dtype == dtype
    assert abs((abs(x) ** 2).mean() - 1) < 0.1
    assert random.normal(KEY, loc=np.zeros(3, dtype)).dtype == dtype
    assert random.uniform(KEY, (2,), dtype=dtype).dtype == dtype


BAD = [
    (lambda: random.bernoulli(KEY, 1.5), ValueError, "p must be between 0 and 1"),
    (lambda: random.bernoulli(KEY, np.array([0.5, -0.1])), ValueError, "p must be between 0 and 1"),
    (lambda: random.bernoulli(KEY, np.nan), ValueError, "p must be between 0 and 1"),
    (lambda: random.normal(KEY, (3,), dtype=np.int32), TypeError, "dtype must be .* not int32"),
    (lambda: random.fold_in(KEY, 1.5), TypeError, "float"),
    (lambda: random.fold_in(KEY, -1), ValueError, "number must not be negative"),
    (lambda: random.permutation(KEY, 2.5), TypeError, "float"),
    (lambda: random.permutation(KEY, -2), ValueError, "x must be a number that is not negative"),
    (lambda: random.permutation(KEY, np.ones(3), 1), IndexError, "axis 1 is out of range"),
    (lambda: random.split(KEY, -1), ValueError, "num must be"),
    (lambda: random.integers(KEY, 0.5, 3), TypeError, "float"),
    (lambda: random.integers(KEY, 0, 300, dtype=np.uint8), ValueError, "uint8.*high=300"),
    (lambda: random.integers(KEY, 0, 3, dtype=float), TypeError, "dtype must be one of integers"),
    (lambda: random.normal(KEY, -1), ValueError, "shape must not have negative lengths"),
    (lambda: random.normal(KEY, 1.5), TypeError, "shape"),
    (lambda: random.normal(KEY, 3, np.zeros((2, 3))), ValueError, r"shape is \(3,\), but .*2, 3"),
    (lambda: random.bernoulli(KEY, np.ones((2, 3)), 3), ValueError, r"shape is \(3,\)"),
    (lambda: random.gamma(KEY, 0.0), ValueError, "a must be at least 1e-150, and finite, not 0.0"),
    (lambda: random.gamma(KEY, ag.tensor(np.inf)), ValueError, "a must be .* finite, not inf"),
    (lambda: random.beta(KEY, 1.0, np.array([1.0, -1.0])), ValueError, "b must be at least"),
    (lambda: random.dirichlet(KEY, np.zeros(3)), ValueError, "alpha must be at least"),
    (lambda: random.dirichlet(KEY, 2.0), ValueError, "alpha must have at least one axis"),
    (lambda: random.poisson(KEY, np.nan), ValueError, "rate must be at least 0"),
    (lambda: random.categorical(KEY, np.full(3, -np.inf)), ValueError, "logits must be .* not all"),
    (lambda: random.categorical(KEY, np.array([0.0, np.nan])), ValueError, "logits must be"),
    (lambda: random.categorical(KEY, np.zeros((2, 3)), 5), IndexError, "axis 5 is out of range"),
    (lambda: random.normal(KEY, "a"), TypeError, "shape must be an integer or a sequence"),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("a", [0.3, 1e-3, 1e-10, 1e-150, 1e12, 1e300])
def test_samples_of_extreme_parameters(a):
    x = ag.tensor(a, requires_grad=True)
    for sample in (
        random.gamma(KEY, x, (50,)),
        random.beta(KEY, x, 2 * x, (50,)),
        random.dirichlet(KEY, ag.stack([x, x, x]), (50,)),
    ):
        values = sample.detach().numpy()
        assert ((values >= 0) & (values < np.inf)).all()
        assert np.isfinite(ag.grad(sample.sum(), x).item())
    np.testing.assert_allclose(values.sum(-1), 1)
    if a < 1:
        assert stats.kstest(random.gamma(KEY, 0.3, 4000), stats.gamma(0.3).cdf).pvalue > 1e-3
        shares = random.beta(KEY, a, 2 * a, 4000)
        assert abs(shares.mean() - 1 / 3) < 0.03


def test_lists_as_parameters():
    key, two, matrix = random.key(0), [1.0, 2.0], [[1.0, 0.5], [0.5, 1.0]]
    for call in (
        lambda of: random.normal(key, loc=of(two)),
        lambda of: random.exponential(key, scale=of(two)),
        lambda of: random.laplace(key, scale=of(two)),
        lambda of: random.bernoulli(key, of([0.2, 0.7])),
        lambda of: random.poisson(key, of(two)),
        lambda of: random.gamma(key, of(two)),
        lambda of: random.beta(key, of(two), 1.0),
        lambda of: random.dirichlet(key, of(two)),
        lambda of: random.categorical(key, of(two), shape=3),
        lambda of: random.multivariate_normal(key, of(two), of(matrix), 3),
    ):
        np.testing.assert_array_equal(call(list), call(np.asarray))
    assert random.categorical(KEY, [-100.0, 0.0]) == 1
    assert random.dirichlet(KEY, [1.0, 2.0]).shape == (2,)
    assert random.normal(KEY, np.int64(3)).shape == random.normal(KEY, None, [0.0] * 3).shape
    assert random.multivariate_normal(KEY, [0.0, 0.0], np.stack([np.eye(2)] * 4)).shape == (4, 2)


def test_half_precision_is_never_one():
    assert random.uniform(KEY, 100_000, dtype=np.float16).max() < 1
    assert np.isfinite(random.exponential(KEY, 100_000, dtype=np.float16)).all()


def test_a_batch_of_keys_gives_what_a_loop_gives():
    keys = random.split(KEY, 4)
    for draw in (
        lambda k: random.normal(k, (3,)),
        lambda k: random.gamma(k, 2.0, (3,)),
        lambda k: random.split(k),
        lambda k: random.permutation(k, 5),
        lambda k: random.integers(k, 0, 9, (2, 2)),
    ):
        found = ag.func.vmap(draw)(keys)
        np.testing.assert_array_equal(found, np.stack([draw(k) for k in keys]))
    means = np.arange(4.0)
    found = ag.func.vmap(lambda k, m: random.normal(k, (3,), m))(keys, means)
    np.testing.assert_allclose(
        found, np.stack([random.normal(k, (3,), m) for k, m in zip(keys, means, strict=True)])
    )
    same = ag.func.vmap(lambda m: random.normal(KEY, (3,), m))(means)
    np.testing.assert_allclose(
        same - means[:, None], np.broadcast_to(random.normal(KEY, (3,)), (4, 3))
    )


def test_a_compiled_function_draws_by_its_key():
    def noisy(x, key):
        first, second = random.split(key)
        kept = random.bernoulli(first, 0.5, (4,))
        return ((x * kept + random.normal(second, (4,))) ** 2).sum()

    x, compiled = np.arange(4.0), ag.compile(noisy)
    slope, compiled_slope = ag.func.grad(noisy), ag.compile(ag.func.grad(noisy))
    for seed in (1, 2, 1):
        key = random.key(seed)
        np.testing.assert_allclose(compiled(x, key), noisy(x, key), 1e-12)
        np.testing.assert_allclose(compiled_slope(x, key), slope(x, key), 1e-12)


def test_checkpoint_draws_the_same_again():
    def noisy(x):
        return (x * random.normal(KEY, (4,))).sum() ** 2

    x = np.arange(1.0, 5.0)
    np.testing.assert_array_equal(
        ag.func.grad(ag.func.checkpoint(noisy))(x), ag.func.grad(noisy)(x)
    )


def test_threads():
    found = {}

    def run(i):
        found[i] = random.normal(random.fold_in(KEY, i), (100,))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(8):
        np.testing.assert_array_equal(found[i], random.normal(random.fold_in(KEY, i), (100,)))


def test_samples_have_derivatives():
    def check(function, *values):
        tensors = [ag.tensor(v, requires_grad=True) for v in values]
        assert ag.testing.gradcheck(function, tensors)

    loc, scale = np.array([1.0, -2.0, 0.5]), np.array([0.5, 2.0, 1.5])
    for name in ("normal", "uniform", "gumbel", "logistic", "cauchy", "laplace"):
        check(lambda a, b, name=name: getattr(random, name)(KEY, None, a, b), loc, scale)
    check(lambda a: random.exponential(KEY, None, a), scale)
    cov = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.5]])
    check(lambda m, c: random.multivariate_normal(KEY, m, (c + c.T) / 2, 2), loc, cov)


@pytest.mark.parametrize("a", [0.3, 1.0, 4.5, 30.0])
def test_the_slope_of_a_gamma_sample_keeps_its_quantile(a):
    x = ag.tensor(a, requires_grad=True)
    sample = random.gamma(KEY, x, (5,))
    share = stats.gamma.cdf(sample.detach().numpy(), a)
    slopes = [ag.grad(s, x, retain_graph=True).item() for s in ag.unstack(sample)]
    h = 1e-5 * a
    expected = (stats.gamma.ppf(share, a + h) - stats.gamma.ppf(share, a - h)) / (2 * h)
    np.testing.assert_allclose(slopes, expected, 1e-4)
    forward = ag.func.jacfwd(lambda a: random.gamma(KEY, a, (5,)))(np.asarray(a))
    np.testing.assert_allclose(forward, slopes, 1e-8)
    h = 1e-3 * a
    low, middle, high = (stats.gamma.ppf(share, b) for b in (a - h, a, a + h))
    second = ag.func.jacfwd(ag.func.jacrev(lambda a: random.gamma(KEY, a, (5,))))(np.asarray(a))
    np.testing.assert_allclose(second, (low - 2 * middle + high) / h**2, 1e-3)


def test_covariances():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    x = random.multivariate_normal(KEY, np.array([1.0, 2.0]), cov, 4000)
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.15)
    np.testing.assert_allclose(x.mean(0), [1, 2], atol=0.1)


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_parameters_of_other_libraries(library):
    xp = pytest.importorskip(library)
    loc = xp.asarray([1.0, 2.0])
    x = random.normal(KEY, None, loc, 0.5)
    assert type(x) is type(loc)
    assert x.dtype == loc.dtype
    plain = random.normal(KEY, None, np.array([1.0, 2.0], np.float32), 0.5)
    np.testing.assert_allclose(np.asarray(x), plain, 1e-6)


def test_streams():
    stream = random.Stream(3)
    first = [stream.key().tolist() for _ in range(3)]
    again = random.Stream(3)
    again.restart(3, 2)
    assert again.key().tolist() == first[2]
    assert random.Stream().key().tolist() != random.Stream().key().tolist()
    assert stream.generator().random() != stream.generator().random()
    with pytest.raises(ValueError, match="negative"):
        stream.restart(-1)
