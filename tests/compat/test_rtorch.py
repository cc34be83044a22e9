"""The Python side of the R package: dimensions and places from one, dtypes, indices, print."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from rows import over

import arraygrad as ag
from arraygrad.compat import rtorch, torch
from arraygrad.compat.rtorch import functions, torch_tensor

MATRIX = np.arange(12.0, dtype=np.float32).reshape(3, 4)


def x() -> Any:
    return rtorch.torch_tensor(MATRIX)


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        ([0.5], [" 0.5000"]),
        ([-1.0210], ["-1.0210"]),
        ([1.0, 20.0], ["  1", " 20"]),
        ([1234.5, 1.0], [" 1234.5000", "    1.0000"]),
        ([0.001, 0.002], ["0.001 *", " 1.0000", " 2.0000"]),
        ([1e6, 2.5], [" 1.0000e+06", " 2.5000e+00"]),
        ([float("nan"), 1.5], ["    nan", " 1.5000"]),
        ([1, -2], [" 1", "-2"]),
        ([True, False], [" 1", " 0"]),
        ([[1, 2], [3, 4]], [" 1  2", " 3  4"]),
        ([[[1.0]], [[2.0]]], ["(1,.,.) = ", "  1", "", "(2,.,.) = ", "  2"]),
    ],
)
def test_values_in_print(values: Any, lines: list[str]) -> None:
    assert rtorch.printed(rtorch.torch_tensor(values)).splitlines()[1:-1] == lines


def test_last_line_in_print() -> None:
    w = rtorch.torch_tensor(0.5, requires_grad=True)
    assert rtorch.printed(w).endswith("[ CPUFloatType{1} ][ requires_grad = TRUE ]")
    assert rtorch.printed(w * 2).endswith("[ CPUFloatType{1} ][ grad_fn = <MultiplyBackward> ]")
    assert rtorch.printed(rtorch.torch_tensor([[1, 2]])).endswith("[ CPULongType{1,2} ]")
    assert rtorch.printed(rtorch.torch_zeros(0)) == "torch_tensor\n[ CPUFloatType{0} ]"
    assert rtorch.printed(None) == "torch_tensor\n[ Tensor (undefined) ]"
    assert len(rtorch.printed(rtorch.torch_zeros(50), 7).splitlines()) == 10
    assert max(map(len, rtorch.printed(rtorch.torch_rand(2, 99)).splitlines())) <= 80


@pytest.mark.parametrize("shape", [(70,), (70, 3), (3, 90), (5, 40, 2), (4, 3, 2, 2)])
@pytest.mark.parametrize("n", [0, 1, 30])
def test_the_first_lines_in_print_are_those_of_the_whole(shape: tuple[int, ...], n: int) -> None:
    x = rtorch.torch_randn(*shape)
    whole, part = (rtorch.printed(x, k).splitlines() for k in (-1, n))
    assert len(whole) == len(part) or len(part) == n + 3
    assert part[: n + 1] == whole[: n + 1]
    assert part[-1] == whole[-1]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([("at", 1)], MATRIX[0]),
        ([("all",), ("at", -1.0)], MATRIX[:, -1]),
        ([("range", 2, 3, None), ("range", None, None, 2)], MATRIX[1:3, ::2]),
        ([("range", 2, -1, None)], MATRIX[1:]),
        ([("places", [1, 3]), ("places", [2, 2, 4])], MATRIX[[0, 2]][:, [1, 1, 3]]),
        ([("places", [True, False, True])], MATRIX[[0, 2]]),
        ([("at", 2), ("places", [1, 4])], MATRIX[1, [0, 3]]),
        ([("rest",), ("at", 2)], MATRIX[:, 1]),
        ([("new",), ("at", 2)], MATRIX[1][None]),
        ([("places", MATRIX > 5)], MATRIX[MATRIX > 5]),
    ],
)
def test_indices(parts: Any, expected: Any) -> None:
    ag.testing.assert_close(rtorch.indexing.read(x(), parts).detach().numpy(), expected)
    written = x()
    value = rtorch.torch_tensor(-expected)
    rtorch.indexing.write(written, parts, value)
    ag.testing.assert_close(rtorch.indexing.read(written, parts).detach().numpy(), -expected)
    assert np.count_nonzero(written.numpy() < 0) == len(set(expected.ravel()) - {0})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([("at", 0)], "index 1 must be from 1 to 3"),
        ([("all",), ("at", 5)], "index 2"),
        ([("places", [1, 4])], "beyond its 3 elements"),
        ([("places", [0])], "no place 0"),
        ([("places", [True])], "mask"),
        ([("range", 3, 2, None)], "upwards"),
        ([("at", 1)] * 3, "3 indices"),
        ([("rest",), ("rest",)], "only once"),
    ],
)
def test_indices_that_do_not_exist(parts: Any, message: str) -> None:
    with pytest.raises(IndexError, match=message):
        rtorch.indexing.read(x(), parts)


def test_dimensions_count_from_one() -> None:
    ag.testing.assert_close(rtorch.torch_sum(x(), 1.0).numpy(), MATRIX.sum(0))
    ag.testing.assert_close(rtorch.torch_sum(x(), -1).numpy(), MATRIX.sum(1))
    ag.testing.assert_close(rtorch.torch_sum(x(), dim=1, keepdim=True).numpy(), MATRIX.sum(0)[None])
    assert rtorch.torch_unsqueeze(x(), dim=3).shape == (3, 4, 1)
    assert rtorch.torch_permute(x(), 2, 1).shape == (4, 3)
    values, places = rtorch.torch_max(x(), 2)
    assert values.tolist() == [3, 7, 11]
    assert places.tolist() == [4, 4, 4]
    values, places = rtorch.torch_sort(x(), 2, descending=True)
    assert values[0].tolist() == [3, 2, 1, 0]
    assert places[0].tolist() == [4, 3, 2, 1]
    assert rtorch.torch_argsort(x(), 2)[0].tolist() == [1, 2, 3, 4]
    assert rtorch.torch_argmin(x(), 2).tolist() == [1, 1, 1]
    assert rtorch.torch_topk(x(), 2, 2)[1][0].tolist() == [4, 3]
    with pytest.raises(IndexError, match="dim must be from 1 to 2"):
        rtorch.torch_sum(x(), 0)
    with pytest.raises(ValueError, match="whole number"):
        rtorch.torch_sum(x(), 1.5)


def test_dtypes_are_libtorchs() -> None:
    whole, single = rtorch.torch_tensor([1, 2]), rtorch.torch_tensor([1.0, 2.0])
    double = rtorch.torch_tensor([1.0, 2.0], dtype="float64")
    one = rtorch.torch_scalar_tensor(1.0, dtype="float64")
    assert rtorch.torch_mul(whole, 0.5).dtype == np.float32
    assert rtorch.torch_mul(whole, single).dtype == np.float32
    assert rtorch.torch_mul(single, double).dtype == np.float64
    assert rtorch.torch_mul(single, one).dtype == np.float32
    assert rtorch.torch_div(whole, whole).dtype == np.float32
    assert rtorch.torch_sin(whole).dtype == np.float32
    with pytest.raises(RuntimeError, match="floating point"):
        rtorch.torch_mean(whole)


def test_values_of_r() -> None:
    made = rtorch.from_r(bytearray(np.arange(6.0).tobytes()), "double", [2, 3])
    assert made.dtype == np.float32
    assert made.tolist() == [[0, 2, 4], [1, 3, 5]]
    data, kind, shape = rtorch.to_r(rtorch.torch_tensor([[1, 2], [3, 4]]))
    assert np.frombuffer(data, "i4").tolist() == [1, 3, 2, 4]
    assert (kind, shape) == ("integer", (2, 2))
    assert rtorch.to_r(rtorch.torch_tensor([2**40]))[1] == "double"
    with pytest.raises(OverflowError, match=r"2\^53"):
        rtorch.to_r(rtorch.torch_tensor([2**60]))
    with pytest.raises(ValueError, match="NA"):
        rtorch.from_r(bytearray(np.array([-(2**31)], "i4").tobytes()), "integer", [1])


def test_results_in_place() -> None:
    w = x()
    assert rtorch.in_place(w, "add", 1) is w
    assert w.tolist() == (MATRIX + 1).tolist()
    with pytest.raises(RuntimeError, match="in place"):
        rtorch.in_place(w, "sum")
    with pytest.raises(AttributeError, match="no method nothing_"):
        rtorch.in_place(w, "nothing")


UNARY = """
abs acos acosh asin asinh atan atanh bitwise_not ceil conj cos cosh digamma erf erfc erfinv
exp exp2 expm1 floor frac imag isfinite isinf isnan lgamma log log10 log1p log2 logical_not logit
neg real reciprocal relu rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc""".split()
BINARY = """
atan2 bitwise_and bitwise_or bitwise_xor copysign div eq floor_divide fmax fmin fmod ge gt
heaviside hypot le logaddexp logaddexp2 logical_and logical_or logical_xor lt maximum minimum mul ne
pow remainder xlogy""".split()
ELEMENTWISE = [(name, whole) for name in sorted([*UNARY, *BINARY]) for whole in (False, True)]
# PyTorch has these for real or complex numbers only.
NOT_WHOLE = ("real", "imag", "conj", "frac", "hypot", "logaddexp", "logaddexp2")
ELEMENTWISE = [case for case in ELEMENTWISE if case[0] not in NOT_WHOLE]
ELEMENTWISE += [(name, False) for name in NOT_WHOLE]


@over("name, whole", ELEMENTWISE, first=2)
def test_elementwise_functions_are_libtorchs(name: str, whole: bool) -> None:
    torch = pytest.importorskip("torch")
    a, b = np.array([[0.3, 0.6], [0.9, 0.2]], np.float32), np.array([0.5, 0.7], np.float32)
    if name == "acosh":
        a = a + 1
    if whole or name.startswith("bitwise"):
        a, b = np.array([[1, 2], [3, 4]]), np.array([2, 3])
    if name in ("real", "imag", "conj"):
        a = (a + 1j * a[::-1]).astype(np.complex64)
    arrays = (a, b) if name in BINARY else (a,)
    expected = getattr(torch, name)(*map(torch.from_numpy, arrays)).resolve_conj().numpy()
    with np.errstate(all="ignore"):
        found = rtorch.__getattr__(f"torch_{name}")(*map(rtorch.torch_tensor, arrays)).numpy()
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_optimisers_change_the_tensors_of_r() -> None:
    w = rtorch.torch_tensor([1.0, -2.0], requires_grad=True)
    optimizer = rtorch.optim.optimizer("SGD", [w], {"lr": 0.1})
    rtorch.autograd_backward([(w**2).sum()])
    optimizer.step()
    np.testing.assert_allclose(w.detach(), [0.8, -1.6], rtol=1e-6)
    optimizer.zero_grad(False)
    assert w.grad is not None
    assert w.grad.tolist() == [0.0, 0.0]


X = np.array([[3.0, 2.0, 5.0], [1.0, 6.0, 4.0]], np.float32)


def test_every_row_of_the_table_of_adapted_functions_can_be_called() -> None:
    for line in functions._TABLE.strip().splitlines():
        paths, row = line.split(":")
        for path in paths.split():
            assert callable(operator.attrgetter(path)(torch)), path
        words = [word.lstrip("*").rpartition("=")[2] for word in row.partition("->")[0].split()]
        assert set(words) <= set(functions._FORMS), line


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("amax", (2.0, True), X.max(axis=1, keepdims=True)),
        ("amin", (None, False), X.min()),
        ("diff", (1.0, -1.0), np.diff(X)),
        ("quantile", (0.5, 1.0, False), np.quantile(X, 0.5, axis=0)),
        ("roll", ([1.0, 1.0], [1.0, 2.0]), np.roll(X, (1, 1), (0, 1))),
        ("roll", (2.0, None), np.roll(X, 2)),
        ("take", ([1, -1],), X.ravel()[[0, -1]]),
        ("movedim", (1.0, -1.0), X.T),
        ("index_fill", (2.0, [1], 0.0), X * [0, 1, 1]),
        ("nan_to_num", (None, 1.0, None), X),
        ("linalg_vector_norm", (1.0, 1.0, False), X.sum(axis=0)),
    ],
)
def test_dimensions_and_places_of_adapted_functions(name: str, args: Any, expected: Any) -> None:
    found = getattr(rtorch, f"torch_{name}")(torch_tensor(X), *args)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_tensor_of_an_adapted_function_need_not_come_first() -> None:
    found = rtorch.torch_polygamma(1.0, torch_tensor(1.0))
    np.testing.assert_allclose(found, [np.pi**2 / 6], rtol=1e-6)


def test_places_among_the_results_of_adapted_functions() -> None:
    x = torch_tensor(X)
    for name, args, values, places in (
        ("median", (2.0, False), np.median(X, axis=1), [1, 3]),
        ("kthvalue", (1.0, 1.0, False), X.min(axis=0), [2, 1, 2]),
        ("cummax", (2.0,), np.maximum.accumulate(X, axis=1), [[1, 1, 3], [1, 2, 2]]),
    ):
        found = getattr(rtorch, f"torch_{name}")(x, *args)
        np.testing.assert_array_equal(found[0], values)
        np.testing.assert_array_equal(found[1], places)
    np.testing.assert_array_equal(rtorch.torch_nonzero(x > 4), [[1, 3], [2, 2]])
    assert rtorch.torch_median(x).item() == 3
    summed = rtorch.torch_tensordot(x, x, [[1.0, 2.0], [1.0, 2.0]])
    assert summed.item() == (X * X).sum()


def test_gradients_of_adapted_functions() -> None:
    x = torch_tensor([1.0, 2.0, 3.0], requires_grad=True)
    added = rtorch.torch_scatter_add(x, 1.0, [1, 1], torch_tensor([5.0, 6.0]))
    rtorch.autograd_backward(rtorch.torch_amax(added))
    np.testing.assert_array_equal(x.grad, [1, 0, 0])


def test_draws() -> None:
    rtorch.torch_manual_seed(0)
    ones = rtorch.torch_bernoulli(rtorch.torch_full([2000], 0.25))
    assert abs(ones.numpy().mean() - 0.25) < 0.05
    places = rtorch.torch_multinomial(torch_tensor([[0.0, 1.0], [1.0, 0.0]]), 1.0)
    np.testing.assert_array_equal(places, [[2], [1]])
    assert rtorch.torch_normal(0.0, torch_tensor([1.0, 2.0])).shape == (2,)
    assert rtorch.torch_normal(0.0, 1.0, [2.0, 3.0]).shape == (2, 3)
    np.testing.assert_array_equal(rtorch.torch_logspace(0, 2, 3), [1, 10, 100])


def test_functions_of_networks() -> None:
    x, target = torch_tensor(X), torch_tensor([3, 1])
    logs = X - np.log(np.exp(X).sum(axis=1, keepdims=True))
    found = rtorch.nnf_cross_entropy(x, target, None, "none")
    np.testing.assert_allclose(found, -logs[[0, 1], [2, 0]], rtol=1e-6)
    with pytest.raises(IndexError):
        rtorch.nnf_cross_entropy(x, torch_tensor([4, 1]))
    p = torch_tensor([0.0, 1.0], requires_grad=True)
    rtorch.autograd_backward(rtorch.nnf_binary_cross_entropy(p, torch_tensor([0.0, 1.0])))
    np.testing.assert_array_equal(p.grad, [0, 0])
    images, weight = rtorch.torch_ones([1, 2, 4, 4]), rtorch.torch_ones([3, 2, 3, 3])
    assert rtorch.nnf_conv2d(images, weight, None, 1.0, "same").shape == (1, 3, 4, 4)
    assert rtorch.nnf_max_pool2d(images, [2.0, 4.0]).shape == (1, 2, 2, 1)
    mean, var = rtorch.torch_zeros([3]), rtorch.torch_ones([3])
    rtorch.nnf_batch_norm(x, mean, var, None, None, True, 1.0)
    np.testing.assert_allclose(mean, X.mean(axis=0))
    np.testing.assert_array_equal(rtorch.nnf_one_hot(target, -1.0), [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(rtorch.nnf_embedding(target, rtorch.torch_eye(3)).sum(1), [1, 1])
