"""arraygrad inside JAX's own transforms, and what JAX's arrays need otherwise."""

from __future__ import annotations

import functools
import gc
from typing import Any

import numpy as np
import pytest

import arraygrad as ag

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

X = jnp.linspace(0.1, 1.2, 6).reshape(2, 3)
W = jnp.linspace(-0.5, 0.7, 9).reshape(3, 3)


def ours(w: Any, x: Any) -> Any:
    """A loss in arraygrad's words, over arrays or tensors."""
    hidden = ag.tanh(ag.matmul(x, w))
    return ag.sum(ag.special.logsumexp(hidden, axis=-1)) + ag.mean(w * w) + hidden[0, 1] ** 2


def theirs(w: Any, x: Any) -> Any:
    """The same in JAX's."""
    hidden = jnp.tanh(x @ w)
    total = jnp.sum(jax.scipy.special.logsumexp(hidden, axis=-1))
    return total + jnp.mean(w * w) + hidden[0, 1] ** 2


def gradient(w: Any, x: Any) -> Any:
    """By recording and one sweep."""
    leaf = ag.tensor(w, requires_grad=True)
    return ag.grad(ours(leaf, x), leaf).array


def close(found: Any, expected: Any) -> None:
    assert isinstance(found, jax.Array)
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=2e-5, atol=1e-6)


def test_grad_compiles() -> None:
    compiled = jax.jit(gradient)
    close(compiled(W, X), jax.grad(theirs)(W, X))
    assert compiled._cache_size() == 1
    compiled(W + 1, X)
    assert compiled._cache_size() == 1  # not traced again for other values


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda w: ag.func.grad(ours)(w, X), lambda w: jax.grad(theirs)(w, X)),
        (lambda w: ag.func.hessian(ours)(w, X), lambda w: jax.hessian(theirs)(w, X)),
        (lambda w: ag.func.jacrev(ag.sin)(w), lambda w: jax.jacrev(jnp.sin)(w)),
        (lambda w: ag.func.jacfwd(ag.sin)(w), lambda w: jax.jacfwd(jnp.sin)(w)),
        (
            lambda w: ag.func.jvp(lambda w: ours(w, X), (w,), (w,))[1],
            lambda w: jax.jvp(lambda w: theirs(w, X), (w,), (w,))[1],
        ),
        (
            lambda w: ag.func.vmap(ag.func.grad(ours), (None, 0))(w, X[:, None]),
            lambda w: jax.vmap(jax.grad(theirs), (None, 0))(w, X[:, None]),
        ),
        (
            lambda w: ag.func.hvp(lambda w: ours(w, X), (w,), (w,)),
            lambda w: jax.jvp(jax.grad(lambda w: theirs(w, X)), (w,), (w,))[1],
        ),
    ],
    ids=["grad", "hessian", "jacrev", "jacfwd", "jvp", "vmap", "hvp"],
)
def test_transforms_compile(found: Any, expected: Any) -> None:
    result = jax.jit(found)(W)
    result = result[-1] if isinstance(result, tuple) else result
    close(getattr(result, "array", result), expected(W))


def test_inside_vmap_grad_and_scan() -> None:
    many = jnp.stack([W, 2 * W])
    close(jax.vmap(gradient, (0, None))(many, X), jax.vmap(jax.grad(theirs), (0, None))(many, X))
    # JAX differentiates our sweep.
    close(
        jax.grad(lambda w: jnp.sum(gradient(w, X) ** 2))(W),
        jax.grad(lambda w: jnp.sum(jax.grad(theirs)(w, X) ** 2))(W),
    )

    def descend(step: Any, w: Any) -> Any:
        return jax.lax.scan(lambda w, _: (w - 0.1 * step(w, X), None), w, None, length=5)[0]

    close(descend(gradient, W), descend(jax.grad(theirs), W))


def test_static_and_donated_arguments() -> None:
    @functools.partial(jax.jit, static_argnums=1, donate_argnums=0)
    def step(w: Any, power: int) -> Any:
        leaf = ag.tensor(w, requires_grad=True)
        return w - ag.grad((leaf**power).sum(), leaf).array

    close(step(W + 0, 3), W - 3 * W**2)


def test_a_gradient_can_be_donated() -> None:
    x = ag.tensor(W, requires_grad=True)
    seed = jnp.ones((3, 3))
    g = ag.grad(x + 1, x, seed).array  # its values are those of the seed, its memory is not
    jax.jit(lambda g: g * 2, donate_argnums=0)(g).block_until_ready()
    assert float(seed[0, 0]) == 1.0


def test_writing_compiles() -> None:
    def written(w: Any) -> Any:
        leaf = ag.tensor(w, requires_grad=True)
        y = leaf * 2
        y[0] = leaf[1] * leaf[2]
        y += 1
        return ag.grad((y * y).sum(), leaf).array

    close(jax.jit(written)(W), written(W))


def tracers() -> dict[int, Any]:
    gc.collect()
    return {id(o): o for o in gc.get_objects() if issubclass(type(o), jax.core.Tracer)}


def test_no_tracer_stays_behind() -> None:
    before = tracers()  # of programs that could not be traced to their end
    with jax.checking_leaks():
        jax.jit(gradient)(W, X)
        jax.jit(lambda w: ag.func.hessian(ours)(w, X))(W)
    assert tracers().keys() <= before.keys()


def test_values_that_are_not_known() -> None:
    with pytest.raises(TypeError, match="concrete value"):
        jax.eval_shape(lambda x: ag.tensor(x).sum().item(), W)
    with pytest.raises(TypeError, match="concrete value"):
        jax.eval_shape(lambda x: x if ag.tensor(x).sum() > 0 else -x, W)
    with pytest.raises(TypeError, match="not known while JAX traces"):
        jax.eval_shape(lambda x: ag.tensor(x).numpy(), W)
    with pytest.raises(TypeError, match="bincount needs the values"):
        jax.eval_shape(lambda i: ag.bincount(i), jnp.asarray([0, 1]))


def test_a_loss_without_a_gradient_is_nan_where_it_cannot_be_an_error() -> None:
    def loss(x: Any) -> Any:
        leaf = ag.tensor(x, requires_grad=True)
        return ag.grad(ag.real(ag.linalg.eigh(leaf)[1][0, 0] * (1 + 1j)), leaf).array

    x = jnp.asarray(np.array([[2, 1j], [-1j, 3]], np.complex64))
    with pytest.raises(RuntimeError, match="depends on the phase"):
        loss(x)
    assert np.isnan(np.asarray(jax.jit(loss)(x))).all()


def functions(x: Any) -> list[Any]:
    """Numbers of many kinds that depend on a matrix."""
    return [
        ours(W, x),
        ag.median(x),
        ag.quantile(x, 0.3),
        ag.nanmean(x),
        ag.std(x, correction=1),
        ag.linalg.det(ag.matmul(x, ag.permute_dims(x, (1, 0)))),
        ag.special.gammaln(x).sum(),
        ag.special.i1e(x).sum(),
        abs(ag.fft.fft(x)).sum(),
        ag.take(x, jnp.asarray([0, 2, 1]), axis=1)[0, 0],
        ag.cumulative_prod(x, axis=1)[0, 2],
        ag.sort(x, descending=True)[0, 0],
        ag.interp(x, jnp.asarray([0.0, 1, 2]), jnp.asarray([1.0, 3, 2])).sum(),
    ]


def test_single_precision_is_kept() -> None:
    def derivatives(x: Any) -> Any:
        leaf = ag.tensor(x, requires_grad=True)
        out = functions(leaf)
        first = [ag.grad(o, leaf, create_graph=True, retain_graph=True) for o in out]
        second = [ag.grad(g.sum(), leaf, materialize_grads=True) for g in first]
        return [t.detach().array for t in (*out, *first, *second)]

    assert X.dtype == np.float32  # JAX's default; and nobody is warned of a double
    assert {r.dtype for r in jax.eval_shape(derivatives, X)} == {np.dtype(np.float32)}
    assert jax.eval_shape(lambda i: ag.median(i), jnp.asarray([0, 2, 1])).dtype == np.float32
    half = jax.eval_shape(lambda x: gradient(x, X.astype(jnp.bfloat16)), W.astype(jnp.bfloat16))
    assert half.dtype == jnp.bfloat16


def test_values_stay_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(self: Any, *_: Any, **__: Any) -> Any:
        raise AssertionError("the values of an array were moved to the host")

    def guarded(function: Any) -> Any:  # which would read the memory of an array on the host
        def convert(array: Any, *args: Any, **keywords: Any) -> Any:
            return (moved if isinstance(array, jax.Array) else function)(array, *args, **keywords)

        return convert

    w = ag.tensor(W, requires_grad=True)
    expected = jax.grad(theirs)(W, X)
    number = X[0, 0]
    with monkeypatch.context() as patched, jax.transfer_guard_device_to_host("disallow"):
        for name in ("__array__", "__bool__", "__float__", "__index__", "__int__", "item"):
            patched.setattr(type(X), name, moved)
        for name in ("array", "asarray"):
            patched.setattr(np, name, guarded(getattr(np, name)))
        with pytest.raises(AssertionError, match="moved to the host"):
            float(number)
        g = ag.grad(ours(w, X), w, create_graph=True)
        second = ag.grad((g * g).sum(), w)
        y = w * 1
        y[0] = y[1] * 2
        third = ag.grad((y * y).sum(), w)
    close(g.detach().array, expected)
    assert second.array.device == third.array.device == X.device
