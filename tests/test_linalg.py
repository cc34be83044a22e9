"""What the table of samples does not say about `linalg`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from samples import SAMPLES, Draw
from samples_linalg import hermitian, rectangular

import arraygrad as ag
from arraygrad.arrays.batched import batched_type
from arraygrad.arrays.dual import dual_type
from arraygrad.errors import SingularError
from arraygrad.ops.padding import WARN_FALLBACK
from arraygrad.testing import assert_close, gradcheck, gradgradcheck

linalg = ag.linalg
RESULTS = {"EigResult", "EighResult", "LstsqResult", "QRResult", "SVDResult", "SlogdetResult"}
ROWS = [s for s in SAMPLES if s.op.startswith("linalg.")]


def leaf(data: Any) -> ag.Tensor:
    return ag.tensor(data, requires_grad=True)


def gradient(function: Callable[..., Any], data: Any) -> Any:
    x = leaf(data)
    return ag.grad(function(x), x).array


def draw(*shape: int, seed: int = 0, complex_numbers: bool = False) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if complex_numbers else x


# --- the namespace -------------------------------------------------------------------------------


def test_every_function_has_a_row() -> None:
    assert set(linalg.__all__) - RESULTS == {s.op.removeprefix("linalg.") for s in ROWS}


def test_the_extension_is_complete() -> None:
    strict = pytest.importorskip("array_api_strict")
    standard = {n for n in strict.linalg.__all__ if n[0].islower()} | {"eig", "eigvals"}
    assert standard <= set(linalg.__all__)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("eigh", ("eigenvalues", "eigenvectors")),
        ("eig", ("eigenvalues", "eigenvectors")),
        ("qr", ("Q", "R")),
        ("slogdet", ("sign", "logabsdet")),
        ("svd", ("U", "S", "Vh")),
    ],
)
def test_results_are_named(name: str, fields: tuple[str, ...]) -> None:
    for x, kind in ((np.eye(2), np.ndarray | np.generic), (leaf(np.eye(2)), ag.Tensor)):
        result = getattr(linalg, name)(x)
        assert result._fields == fields
        assert all(isinstance(part, kind) for part in result)


def test_no_row_runs_in_a_loop() -> None:
    """Every op has a batching rule, and so do its rules."""
    token = WARN_FALLBACK.set(True)  # a warning is an error in these tests
    try:
        for sample in ROWS:
            arrays = sample.arrays()
            batched = batched_type(1.0)
            inputs = [ag.tensor(batched(np.stack([a, a]))).requires_grad_() for a in arrays]
            results = sample.call(ag, *inputs)
            results = results if isinstance(results, tuple) else (results,)
            live = [r for r in results if r.requires_grad]
            if live:
                ag.grad(live, inputs, [batched(np.ones((2, *r.shape), r.dtype)) for r in live])
    finally:
        WARN_FALLBACK.reset(token)


# --- solve ---------------------------------------------------------------------------------------


def test_solve_takes_only_one_axis_for_a_vector() -> None:
    a = np.stack([np.eye(2), 2 * np.eye(2)])
    assert linalg.solve(a, np.ones(2)).shape == (2, 2)
    expected = np.linalg.solve(a, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert expected.shape == (2, 2, 2)
    assert_close(linalg.solve(leaf(a), ag.tensor([[1.0, 2.0], [3.0, 4.0]])).detach(), expected)


def test_solve_of_real_matrices_and_complex_vectors() -> None:
    a, b = leaf(draw(3, 3) + 4 * np.eye(3)), leaf(draw(3, seed=1, complex_numbers=True))
    assert gradcheck(linalg.solve, (a, b), check_forward=True)
    assert gradgradcheck(linalg.solve, (a, b))
    assert ag.grad(ag.sum(ag.abs(linalg.solve(a, b))), a).dtype == np.float64


def test_a_batch_of_right_hand_sides_needs_one_system(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = draw(3, 3) + 4 * np.eye(3), draw(3)
    shapes = []
    kernel = np.linalg.solve

    def recording(a: Any, b: Any) -> Any:
        shapes.append((a.shape, b.shape))
        return kernel(a, b)

    monkeypatch.setattr(np.linalg, "solve", recording)
    jacobian = ag.func.jacrev(lambda b: linalg.solve(a, b))(ag.tensor(b))
    assert_close(jacobian, np.linalg.inv(a), rtol=1e-12)
    assert shapes == [((3, 3), (3, 1)), ((3, 3), (3, 3))]


# --- determinants of singular matrices -----------------------------------------------------------

SINGULAR = {
    "one of rank 1": np.outer([1.0, 2.0], [1.0, 2.0]),
    "3 of rank 2": np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 0.5]]),
    "3 of rank 1": np.outer([1.0, -2.0, 0.5], [1.0, 2.0, 3.0]),
    "4 of rank 2": draw(4, 2) @ draw(2, 4, seed=1),
    "zeros": np.zeros((3, 3)),
    "complex": draw(3, 2, complex_numbers=True) @ draw(2, 3, complex_numbers=True),
    "one of two": np.stack([np.ones((3, 3)), np.diag([1.0, 2.0, 3.0])]),
    "nearly": np.array([[1.0, 1.0], [1.0, 1.0 + 1e-14]]),
}


@pytest.mark.parametrize("matrix", SINGULAR.values(), ids=SINGULAR)
def test_det_of_singular_matrices(matrix: Any) -> None:
    x = leaf(matrix)
    assert gradcheck(linalg.det, x, check_forward=True)
    assert gradgradcheck(linalg.det, x, check_forward=True)


@pytest.mark.parametrize("matrix", SINGULAR.values(), ids=SINGULAR)
def test_third_derivatives_of_det(matrix: Any) -> None:
    def along(x: Any) -> Any:
        first = ag.grad(ag.sum(ag.real(linalg.det(x)) * weights), x, create_graph=True)
        return ag.grad(ag.sum(ag.real(first * direction)), x, create_graph=True)

    weights = draw(*matrix.shape[:-2], seed=2)
    direction = draw(*matrix.shape, seed=3)
    if matrix.shape[-1] == 2:  # a quadratic form
        assert not np.any(gradient(lambda x: ag.sum(along(x)), matrix))
    else:
        assert gradcheck(along, leaf(matrix), atol=1e-6)


def test_det_of_a_known_singular_matrix() -> None:
    x = [[1.0, 2.0], [2.0, 4.0]]
    assert_close(gradient(linalg.det, x), np.array([[4.0, -2.0], [-2.0, 1.0]]), atol=1e-14)


def test_det_of_nan_has_a_gradient_of_nan() -> None:
    with np.errstate(invalid="ignore"):
        found = gradient(linalg.det, [[math.nan, 1.0], [2.0, 3.0]])
    assert np.isnan(found).any()


# --- degenerate points, as torch has them --------------------------------------------------------

_eye = np.eye(2)


@pytest.mark.parametrize(
    ("function", "data", "expected"),
    [
        (lambda x: linalg.vector_norm(x, ord=math.inf), [3.0, -3.0], [0.5, -0.5]),
        (lambda x: linalg.vector_norm(x, ord=3), [0.0, 2.0], [0.0, 1.0]),
        (lambda x: linalg.vector_norm(x, ord=0.5), [0.0, 2.0], [0.0, 1.0]),
        *(
            (lambda x, p=p: linalg.vector_norm(x, ord=p), [0.0, 0.0], [0.0, 0.0])
            for p in (1, 2, 3, 0.5, 1.5, math.inf, -math.inf)
        ),
        (lambda x: linalg.vector_norm(x), [0j, 0j], [0j, 0j]),
        (linalg.matrix_norm, np.zeros((2, 2)), np.zeros((2, 2))),
        (lambda x: linalg.matrix_norm(x, ord=2), _eye, _eye / 2),
        (lambda x: linalg.svd(x).S.sum(), _eye, _eye),
        (lambda x: linalg.svdvals(x).sum(), _eye, _eye),
        (lambda x: linalg.eigh(x).eigenvalues.sum(), _eye, _eye),
        (lambda x: linalg.eigvalsh(x).sum(), _eye, _eye),
        (lambda x: linalg.eigvals(x).real.sum(), _eye, _eye),
        (
            lambda x: linalg.pinv(x).sum(),
            [[1.0, 2.0], [2.0, 4.0]],
            [[0.0048, -0.0144], [-0.0144, -0.0768]],
        ),
        (lambda x: linalg.matrix_power(x, 0).sum(), _eye, np.zeros((2, 2))),
        (lambda x: linalg.slogdet(x).sign, _eye, np.zeros((2, 2))),
    ],
)
def test_degenerate_points(function: Any, data: Any, expected: Any) -> None:
    assert_close(gradient(function, data), np.asarray(expected), atol=1e-12, equal_nan=True)


def test_the_second_derivative_of_a_norm_at_zero_is_finite() -> None:
    for ord in (2, 3):
        x = leaf([0.0, 0.0])
        first = ag.grad(linalg.vector_norm(x, ord=ord), x, create_graph=True)
        assert_close(ag.grad(first.sum(), x), ag.tensor([0.0, 0.0]))


_weights = np.arange(9.0).reshape(3, 3)


@pytest.mark.parametrize(
    ("function", "data", "message"),
    [
        (lambda x: linalg.eigh(x).eigenvectors, np.eye(3), "eigh: values coincide .their gap is 0"),
        (lambda x: linalg.svd(x).U, np.eye(3), "svd: values coincide"),
        (lambda x: linalg.svd(x).Vh, np.eye(3), "svd: values coincide"),
        (lambda x: linalg.eig(x).eigenvectors.real, np.eye(3) + 0.0, "eig: values coincide"),
        (lambda x: linalg.eigvals(x).real, np.eye(3) + np.eye(3, k=1), "condition number"),
        # A function of the matrix: its limit is not known from the cotangents.
        (
            lambda x: (lambda w, v: (v * w**2) @ v.mT)(*linalg.eigh(x)),
            np.diag([1.0, 1.0, 2.0]),
            "values coincide",
        ),
        (lambda x: linalg.svd(x, full_matrices=False).U, np.eye(4, 3) * [2, 1, 0], "is zero"),
    ],
)
def test_vectors_of_values_that_coincide_have_no_gradient(
    function: Any, data: Any, message: str
) -> None:
    def loss(x: Any) -> Any:
        out = function(x)
        return (out * np.resize(_weights, out.shape)).sum()

    with pytest.raises(SingularError, match=message):
        gradient(loss, data)
    directions = np.resize(_weights, data.shape)
    with pytest.raises(SingularError, match=message):
        ag.func.jvp(loss, (data,), (directions,))
    with pytest.raises(SingularError, match=message):
        ag.func.vmap(lambda t: ag.func.jvp(function, (data,), (t,)))(directions[None])


@pytest.mark.parametrize("values", [[1.0, 1.0, 2.0], [0.0, 0.0, 2.0]])
def test_a_space_of_equal_values_has_a_gradient(values: Any) -> None:
    turn = np.linalg.qr(draw(3, 3))[0]
    x = leaf((turn * values) @ turn.T)

    def lower_space(x: Any) -> Any:
        vectors = linalg.eigh((x + x.mT) / 2).eigenvectors[:, :2]
        return vectors @ vectors.mT

    def right_space(x: Any) -> Any:
        vectors = linalg.svd(x).Vh[1:]
        return vectors.mT @ vectors

    def unitary(x: Any) -> Any:
        u, _, vh = linalg.svd(x)
        return u @ vh

    def whole_space(x: Any) -> Any:
        vectors = linalg.eigh((x + x.mT) / 2).eigenvectors
        return vectors @ vectors.mT

    functions = [right_space] if values[0] == 0 else [unitary]
    functions += [lower_space, whole_space]
    for function in functions:
        assert gradcheck(function, (x,), check_forward=False)


def test_vectors_on_both_sides_turn_together_where_values_coincide() -> None:
    (x, back), turn = np.linalg.qr(draw(2, 3, 3))[0], np.triu(draw(3, 3), k=1)

    def product(x: Any) -> Any:  # of the unitary factor, along a direction that turns it alone
        u, _, vh = linalg.svd(x)
        return u @ vh

    along = x @ (turn - turn.T) @ back
    assert_close(ag.func.jvp(product, (x @ back,), (along,))[1], along, atol=1e-12)


def test_values_that_coincide_have_tangents() -> None:
    x = dual_type(1.0)(np.eye(3), np.diag([1.0, 2.0, 3.0]))
    for function in (linalg.eigvalsh, linalg.svdvals):
        assert_close(np.sort(function(x).tangent), np.array([1.0, 2.0, 3.0]))
    # Along a direction that mixes no vectors.
    for function in (linalg.eigh, ag.scipy.linalg.eigh, linalg.eig):
        values, vectors = function(x)
        assert_close(np.sort(ag.real(values.tangent)), np.array([1.0, 2.0, 3.0]))
        assert not vectors.tangent.any()
    u, s, vh = linalg.svd(x)
    assert_close(np.sort(s.tangent), np.array([1.0, 2.0, 3.0]))
    assert not u.tangent.any()
    assert not vh.tangent.any()


@pytest.mark.parametrize(
    "function",
    [
        linalg.eigvalsh,
        ag.scipy.linalg.eigvalsh,
        lambda x: linalg.eigh(x)[0],
        lambda x: ag.scipy.linalg.eigh(x)[0],
        lambda x: linalg.svd(x)[1],
        lambda x: ag.real(linalg.eig(x)[0]),
    ],
)
def test_values_that_coincide_have_tangents_in_all_directions(function: Any) -> None:
    assert_close(ag.func.jacfwd(lambda x: function(x).sum())(np.eye(3)), np.eye(3))


@pytest.mark.parametrize("keywords", [{}, {"axis": 1}, {"axis": (0, 1), "keepdims": True}])
@pytest.mark.parametrize("data", [[[0.0, 3.0, 4.0]], [[0j, 3.0 + 0j, 1j]]])
def test_a_count_has_a_gradient_of_zeros(data: Any, keywords: Any) -> None:
    def count(x: Any) -> Any:
        return linalg.vector_norm(x, ord=0, **keywords)

    x, array = leaf(data), np.asarray(data)
    norm = count(x)
    assert norm.requires_grad
    assert norm.dtype == np.float64
    assert norm.detach().numpy().ravel().tolist() == [2.0]
    zeros = np.zeros_like(array)
    first = ag.grad(norm.sum(), x, create_graph=True)
    assert_close(first.detach(), zeros)
    assert first.requires_grad
    second = ag.grad(ag.real(first).sum(), x, materialize_grads=True)
    assert_close(second, zeros)
    seeds = np.ones((2, *norm.shape))
    assert_close(ag.grad(count(x), x, seeds, is_grads_batched=True), np.stack([zeros, zeros]))
    value, tangent = ag.func.jvp(count, (array,), (array,))
    assert type(tangent) is type(value)
    assert_close(tangent, np.zeros_like(value))
    rows = np.stack([array, array * 0, array])
    assert_close(ag.func.vmap(count)(rows).ravel(), np.array([2.0, 0.0, 2.0]))
    assert_close(ag.func.vmap(ag.func.grad(lambda x: count(x).sum()))(rows), 0 * rows)
    if not ag.isdtype(x.dtype, "complex floating"):
        assert_close(ag.func.hessian(lambda x: count(x).sum())(array), np.zeros((1, 3, 1, 3)))


def test_cholesky_has_a_symmetric_gradient() -> None:
    expected = [[0.20634446, 0.17462216], [0.17462216, 0.30151134]]
    for upper in (False, True):
        found = gradient(lambda x, u=upper: linalg.cholesky(x, upper=u).sum(), [[4, 1.0], [1, 3]])
        assert_close(found, np.array(expected), atol=1e-8)


def test_cholesky_reads_one_triangle() -> None:
    x = np.array([[4.0, 2.0], [1.0, 3.0]])
    for upper in (False, True):
        assert_close(linalg.cholesky(x, upper=upper), np.linalg.cholesky(x, upper=upper))


# --- what is arbitrary ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("eigh", lambda x: linalg.eigh(x @ ag.conj(x).mT).eigenvectors.real.sum()),
        ("eig", lambda x: linalg.eig(x).eigenvectors.real.sum()),
        ("svd", lambda x: linalg.svd(x).U.real.sum()),
    ],
)
def test_a_loss_must_not_depend_on_phases(name: str, loss: Any) -> None:
    x = leaf(draw(3, 3, complex_numbers=True))
    with pytest.raises(RuntimeError, match=f"phase of the vectors of {name}, which is arbitrary"):
        ag.grad(loss(x), x)


def test_rounding_of_a_large_gradient_does_not_depend_on_phases() -> None:
    x = leaf(draw(5, 5, complex_numbers=True))

    def loss(factor: float) -> ag.Tensor:
        vectors = linalg.eigh(x @ ag.conj(x).mT).eigenvectors
        return factor * ag.sum(ag.abs(vectors[0] * vectors[1]) ** 3)

    expected = ag.grad(loss(1.0), x)
    assert_close(ag.grad(loss(1e18), x) / 1e18, expected, atol=1e-10)


def test_a_loss_must_not_depend_on_the_basis_of_a_complement() -> None:
    x = leaf(rectangular(Draw(0), 4, 2))
    with pytest.raises(RuntimeError, match="full_matrices=False"):
        ag.grad(ag.sum(linalg.svd(x).U ** 3), x)
    y = leaf(rectangular(Draw(0), 2, 4))
    with pytest.raises(RuntimeError, match="full_matrices=False"):
        ag.grad(ag.sum(linalg.svd(y).Vh ** 3), y)


def test_a_complement_of_one_vector_is_not_arbitrary() -> None:
    """But for its sign."""
    x = leaf(rectangular(Draw(0), 3, 2))
    assert gradcheck(lambda x: ag.abs(linalg.svd(x).U), x, check_forward=True)
    assert gradgradcheck(lambda x: ag.abs(linalg.svd(x).U), x)


def test_complete_qr_has_no_derivative() -> None:
    x = draw(3, 2)
    result = linalg.qr(leaf(x), mode="complete")
    assert result.Q.shape == (3, 3)
    with pytest.raises(RuntimeError, match="mode='complete' has no derivative"):
        ag.grad(result.R.sum(), result.R.grad_fn.next_functions[0][0].variable)
    with pytest.raises(RuntimeError, match="mode='complete' has no derivative"):
        linalg.qr(dual_type(1.0)(x, x), mode="complete")


# --- parameters ----------------------------------------------------------------------------------


def test_a_tolerance_for_each_matrix() -> None:
    x = np.stack([np.diag([1.0, 0.1]), np.diag([1.0, 0.1])])
    rtol = np.array([0.5, 0.01])
    for given in (rtol, ag.tensor(rtol)):
        assert linalg.matrix_rank(ag.tensor(x), rtol=given).tolist() == [1, 2]
        found = linalg.pinv(leaf(x), rtol=given).detach()
        assert_close(found, np.linalg.pinv(x, rtol=rtol))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_least_squares_of_many_systems(dtype: Any) -> None:
    rng = np.random.default_rng(1)

    def draw(*shape: int) -> Any:
        x = rng.standard_normal(shape)
        return x if dtype is np.float64 else x + 1j * rng.standard_normal(shape)

    for m, n in [(4, 2), (2, 3)]:
        a, b = draw(2, 1, m, n), draw(1, m, 2)
        found = linalg.lstsq(a, b)
        for i, j in np.ndindex(2, 1):
            expected = np.linalg.lstsq(a[i, j], b[j])
            for value, wanted in zip(found, expected, strict=True):
                np.testing.assert_allclose(value[i, j], wanted, atol=1e-12)
        assert gradcheck(
            lambda a, b: linalg.lstsq(a, b).solution, (leaf(a), leaf(b)), check_forward=True
        )


def test_least_squares_without_full_rank() -> None:
    a = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    b = np.array([1.0, 0.0, 2.0])
    found = linalg.lstsq(leaf(a), leaf(b))
    solution, _, rank, values = np.linalg.lstsq(a, b)
    np.testing.assert_allclose(found.solution.detach().array, solution)
    np.testing.assert_allclose(found.singular_values.detach().array, values, atol=1e-12)
    assert found.rank.item() == rank == 1
    assert linalg.lstsq(np.diag([1.0, 0.1]), np.ones(2), rcond=0.5).rank == 1
    assert linalg.lstsq(np.ones((3, 0)), np.ones(3)).rank == 0
    with pytest.raises(np.linalg.LinAlgError, match=r"b must have 3 rows, but it has shape \(2,\)"):
        linalg.lstsq(a, np.ones(2))


@pytest.mark.parametrize("shape", [(4, 4), (6, 4), (4, 6)])
def test_values_that_are_cut_off(shape: tuple[int, int]) -> None:
    """The derivative of a truncated pseudo-inverse is that of the truncated decomposition."""
    u, v = np.linalg.qr(draw(shape[0], 4))[0], np.linalg.qr(draw(shape[1], 4, seed=1))[0]
    a, b = leaf((u * [3.0, 2.0, 0.5, 0.3]) @ v.T), leaf(draw(shape[0]))
    assert gradcheck(lambda a: linalg.pinv(a, rtol=0.4), (a,), check_forward=True)
    assert gradgradcheck(lambda a: linalg.pinv(a, rtol=0.4), (a,))
    assert gradcheck(lambda a, b: linalg.lstsq(a, b, rcond=0.4).solution, (a, b))
    assert gradcheck(lambda a, b: np.linalg.lstsq(a, b, rcond=0.4)[0], (a, b))


def test_values_that_are_cut_off_need_a_gap() -> None:
    with pytest.raises(SingularError, match=r"the gap between both, 5.0e-10, is too small"):
        gradient(lambda x: linalg.pinv(x, rtol=0.5 + 1e-11).sum(), np.diag([1, 0.5 + 5e-10, 0.5]))


def test_pinv_keeps_the_rank() -> None:
    """The derivative among matrices of one rank, in a direction that keeps it."""
    u, v = leaf(draw(4, 2)), leaf(draw(2, 3, seed=1))
    assert gradcheck(lambda u, v: linalg.pinv(u @ v), (u, v), check_forward=True)


def test_trace_in_another_dtype() -> None:
    assert linalg.trace(ag.tensor(np.eye(2, dtype=np.float32)), dtype=np.float64).dtype == "float64"
    assert linalg.trace(np.ones((2, 2), np.int8)).dtype == np.int64


def test_eigenvalues_are_always_complex() -> None:
    for dtype, expected in ((np.float32, np.complex64), (np.float64, np.complex128)):
        x = np.eye(2, dtype=dtype)
        for given in (x, ag.tensor(x)):
            assert linalg.eigvals(given).dtype == expected
            assert all(part.dtype == expected for part in linalg.eig(given))


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", "cholesky det eig eigh eigvals eigvalsh inv slogdet matrix_power solve".split()
)
def test_matrices_must_be_square(name: str) -> None:
    rest = {"matrix_power": (2,), "solve": (np.ones(2),)}.get(name, ())
    function = getattr(linalg, name)
    with pytest.raises(np.linalg.LinAlgError, match=rf"{name}: .* equal, got shape \(2, 3\)"):
        function(ag.tensor(np.ones((2, 3))), *rest)
    with pytest.raises(np.linalg.LinAlgError, match=rf"{name}: .*at least 2 dimensions"):
        function(np.ones(3), *rest)


@pytest.mark.parametrize(
    "name", "diagonal trace qr svd svdvals pinv matrix_rank matrix_norm".split()
)
def test_matrices_must_have_two_axes(name: str) -> None:
    with pytest.raises(np.linalg.LinAlgError, match=rf"{name if name != 'trace' else 'diagonal'}:"):
        getattr(linalg, name)(ag.tensor(np.ones(3)))


def test_singular_matrices_have_no_inverse() -> None:
    for function in (linalg.inv, lambda x: linalg.solve(x, x[0])):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            function(leaf(np.zeros((2, 2))))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        linalg.cholesky(leaf(-np.eye(2)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: linalg.solve(x, x[0, 0]), ValueError, r"x2 must have shape \(2,\) or"),
        (lambda x: linalg.solve(x, ag.ones((3,))), ValueError, r"x2 must have shape \(2,\) or"),
        (lambda x: linalg.solve(x, ag.ones((3, 2))), ValueError, r"x2 must have shape \(2,\) or"),
        (lambda x: linalg.cross(x, x), ValueError, "x1 must have length 3 along axis -1, not 2"),
        (lambda x: linalg.outer(x[0], x), ValueError, "x2 must be one-dimensional"),
        (lambda x: linalg.matrix_norm(x, ord=3), ValueError, "ord must be 'fro', 'nuc'"),
        (lambda x: linalg.vector_norm(x, ord="fro"), ValueError, "ord must be a number"),
        (lambda x: linalg.qr(x, mode="r"), ValueError, "mode must be 'reduced' or 'complete'"),
        (lambda x: linalg.matrix_power(x, 0.5), TypeError, "n must be an integer, not float"),
        (lambda x: linalg.vector_norm(x, axis=2), IndexError, "axis 2 is out of range"),
        (lambda x: linalg.inv(ag.astype(x, np.float16)), TypeError, "float16 is unsupported"),
    ],
)
def test_errors_name_the_argument(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(ag.tensor(np.eye(2)))


# --- against torch -------------------------------------------------------------------------------


def _both(function: Any, theirs: Any, x: Any) -> tuple[Any, Any]:
    torch = pytest.importorskip("torch")
    y = torch.tensor(x, requires_grad=True)
    return gradient(function, x), torch.autograd.grad(theirs(torch, y), y)[0].resolve_conj().numpy()


@pytest.mark.parametrize("complex_numbers", [False, True])
@pytest.mark.parametrize(
    "name", ["cholesky", "eigh", "eigvalsh", "svd", "qr", "wide qr", "pinv", "slogdet", "inv"]
)
def test_larger_matrices_against_torch(name: str, complex_numbers: bool) -> None:
    d = Draw(0, complex_numbers)
    shape = {"svd": (2, 8, 5), "qr": (2, 8, 5), "wide qr": (2, 5, 8), "pinv": (2, 5, 8)}
    x = rectangular(d, *shape[name]) if name in shape else hermitian(d, 2, 6, 6)

    def loss(xp: Any, y: Any) -> Any:
        result = getattr(xp.linalg, name.split()[-1])(
            y, **({"full_matrices": False} if name == "svd" else {})
        )
        parts = result if isinstance(result, tuple) else (result,)
        return sum(xp.sum(xp.abs(part) ** 3) for part in parts)

    found, expected = _both(lambda y: loss(ag, y), loss, x)
    assert_close(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("function", ["det", "slogdet", "svdvals", "eigvalsh", "inv"])
def test_hessians_against_torch(function: str) -> None:
    torch = pytest.importorskip("torch")
    x = hermitian(Draw(0), 3, 3) + np.diag([0.0, 0.5, 2.0])

    def loss(xp: Any, y: Any) -> Any:
        result = getattr(xp.linalg, function)((y + y.mT) * 0.5)
        return xp.sum((result[1] if function == "slogdet" else result) ** 2)

    found = ag.func.hessian(lambda y: loss(ag, y))(ag.tensor(x))
    expected = torch.autograd.functional.hessian(lambda y: loss(torch, y), torch.tensor(x))
    assert_close(found, expected.numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 0, 3), (0, 2, 2)])
@pytest.mark.parametrize("ord", [1, 2, math.inf, "fro", "nuc"])
def test_norms_of_nothing_are_zero(shape: tuple[int, ...], ord: Any) -> None:
    x = ag.tensor(np.ones(shape), requires_grad=True)
    norm = linalg.matrix_norm(x, ord=ord)
    np.testing.assert_array_equal(norm.array, np.zeros(shape[:-2]))
    assert linalg.matrix_norm(x, ord=ord, keepdims=True).shape == (*shape[:-2], 1, 1)
    assert ag.grad(ag.sum(norm), x).shape == shape
    if not isinstance(ord, str):
        norm = linalg.vector_norm(x, ord=ord, axis=-1)
        np.testing.assert_array_equal(norm.array, np.linalg.norm(x.array, axis=-1))
