"""Fourier transforms, beyond the rows of the table."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from samples import SAMPLES

import arraygrad as ag
from arraygrad.testing import assert_close, gradcheck

FREQUENCIES = {"fftfreq", "rfftfreq"}  # of numbers, not of arrays: tested below


def test_every_transform_has_a_row() -> None:
    assert set(ag.fft.__all__) - FREQUENCIES - {s.op.removeprefix("fft.") for s in SAMPLES} == set()


def test_the_whole_extension_with_its_signatures() -> None:
    strict = pytest.importorskip("array_api_strict")
    names = {n for n in dir(strict.fft) if "fft" in n} & set(ag.fft.__all__)
    assert len(names) == 14
    for name in names:
        expected = inspect.signature(getattr(strict.fft, name)).parameters
        found = inspect.signature(getattr(ag.fft, name)).parameters
        assert [(p.name, p.kind) for p in found.values()] == [
            (p.name, p.kind) for p in expected.values()
        ]


# --- derivatives ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 5, 6, 7])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_half_spectra_there_and_back(n: int, norm: str) -> None:
    rng = np.random.default_rng(n)
    x = ag.tensor(rng.standard_normal((2, n)), requires_grad=True)
    back = ag.fft.irfft(ag.fft.rfft(x, norm=norm), n=n, norm=norm)
    assert_close(back.detach(), x.detach())
    seed = rng.standard_normal((2, n))
    assert_close(ag.grad(back, x, seed), seed)


def test_imaginary_parts_that_do_not_count_have_no_gradient() -> None:
    """Of a real signal the mean is real, and so is the highest of an even number."""
    x = ag.tensor(np.array([1 + 1j, 2 + 2j, 3 + 3j]), requires_grad=True)
    even = ag.grad(ag.fft.irfft(x, n=4), x, np.array([1.0, 2.0, 3.0, 5.0])).array
    assert even[0].imag == even[2].imag == 0
    assert even[1].imag != 0
    odd = ag.grad(ag.fft.irfft(x, n=5), x, np.array([1.0, 2.0, 3.0, 5.0, 7.0])).array
    assert odd[0].imag == 0
    assert odd[2].imag != 0


def test_real_numbers_have_real_gradients() -> None:
    x = ag.tensor([1.0, 2.0, 4.0], requires_grad=True)
    (gradient,) = ag.grad(ag.sum(ag.abs(ag.fft.fft(x)) ** 2), [x])
    assert gradient.dtype == np.float64
    assert_close(gradient, 6 * x.detach())  # Parseval: n times the sum of squares


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_a_power_spectrum(order: int) -> None:
    """Not linear any more: the fourth power of the amplitudes, differentiated again and again."""
    x = ag.tensor(np.random.default_rng(0).standard_normal(5), requires_grad=True)

    def function(x: Any) -> Any:
        spectrum = ag.fft.rfft(x, n=6, norm="ortho")
        y = ag.sum(ag.real(spectrum * ag.conj(spectrum)) ** 2)
        for _ in range(order - 1):
            (g,) = ag.grad(y, [x], create_graph=True)
            y = ag.sum(g**3) * 1e-2
        return y

    assert gradcheck(function, x, check_forward=order == 1)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision_stays(dtype: Any) -> None:
    x = ag.tensor(np.arange(6.0).reshape(2, 3), dtype=dtype, requires_grad=True)
    for name in ("fft", "ifft", "irfft", "hfft", "fftn", "irfftn"):
        y = getattr(ag.fft, name)(x)
        assert y.dtype == (np.float32 if name in ("irfft", "hfft", "irfftn") else np.complex64)
        assert ag.grad(ag.sum(ag.abs(y)), x).dtype == dtype
    if dtype is np.float32:
        for name in ("rfft", "ihfft", "rfftn"):
            y = getattr(ag.fft, name)(x)
            assert y.dtype == np.complex64
            assert ag.grad(ag.sum(ag.abs(y)), x).dtype == np.float32


@pytest.mark.parametrize(
    "shape", [(7,), (8,), (3, 8), (4, 5, 6)], ids=lambda s: "x".join(map(str, s))
)
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("longer", [-1, 0, 2])
def test_against_torch(name: str, norm: str, shape: tuple[int, ...], longer: int) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape)
    if name != "rfftn":
        x = x + 1j * rng.standard_normal(shape)
    lengths = tuple(n + longer for n in shape)
    ours, theirs = ag.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    y = getattr(ag.fft, name)(ours, s=lengths, axes=tuple(range(len(shape))), norm=norm)
    expected = getattr(torch.fft, name)(theirs, s=lengths, norm=norm)
    assert_close(y.detach(), expected.detach().numpy())
    seed = rng.standard_normal(y.shape)
    if y.dtype.kind == "c":
        seed = seed + 1j * rng.standard_normal(y.shape)
    gradient = ag.grad(y, ours, seed)
    (value,) = torch.autograd.grad(expected, theirs, torch.tensor(seed))
    assert_close(gradient, value.numpy())


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft", "fftn", "rfftn"])
def test_over_other_libraries(library: str, name: str) -> None:
    xp = pytest.importorskip(library)
    array = xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], dtype=xp.float64)
    x, reference = (ag.tensor(a, requires_grad=True) for a in (array, np.asarray(array)))
    y, z = (getattr(ag.fft, name)(a, norm="ortho") for a in (x, reference))
    assert isinstance(y.array, type(array))
    gradient = ag.grad(ag.sum(ag.abs(y) ** 3), x)
    expected = ag.grad(ag.sum(ag.abs(z) ** 3), reference)
    np.testing.assert_allclose(np.asarray(gradient.array), expected.array)


# --- frequencies ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("d", [1.0, 0.1])
def test_frequencies(n: int, d: float) -> None:
    assert_close(ag.fft.fftfreq(n, d=d), np.fft.fftfreq(n, d=d))
    assert_close(ag.fft.rfftfreq(n, d=d), np.fft.rfftfreq(n, d=d))


def test_frequencies_of_a_dtype() -> None:
    assert ag.fft.fftfreq(4, dtype=np.float32).dtype == np.float32
    assert ag.fft.rfftfreq(4, dtype=np.float32).dtype == np.float32
    with pytest.raises(TypeError, match="dtype cannot be"):
        ag.fft.fftfreq(4, dtype=np.int64)


def test_shifts_undo_each_other() -> None:
    x = ag.arange(35.0).reshape(5, 7)
    assert_close(ag.fft.ifftshift(ag.fft.fftshift(x)), x)
    assert_close(ag.fft.ifftshift(ag.fft.fftshift(x, axes=0), axes=(0,)), x)


# --- arguments that are wrong --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: ag.fft.fft(x, norm="orthogonal"), ValueError, "norm must be"),
        (lambda x: ag.fft.fft(x, n=0), ValueError, "n must be at least 1, got 0"),
        (lambda x: ag.fft.fft(x, n=2.5), TypeError, "n must be an integer"),
        (lambda x: ag.fft.fft(x, axis=2), IndexError, "axis 2 is out of range"),
        (lambda x: ag.fft.fftn(x, axes=(0, 0)), ValueError, "axes names an axis twice"),
        (lambda x: ag.fft.fftn(x, axes=()), ValueError, "at least one axis"),
        (lambda x: ag.fft.fftn(x, s=4), TypeError, "s must be a sequence"),
        (lambda x: ag.fft.fftn(x, s=(4,), axes=(0, 1)), ValueError, "1 lengths for 2 axes"),
        (lambda x: ag.fft.fftn(x, s=(4, 4, 4)), ValueError, "s has 3 lengths"),
        (lambda x: ag.fft.rfft(x + 1j), TypeError, "rfft transforms real numbers"),
        (lambda x: ag.fft.irfft(x[:, :1]), ValueError, "leaves no signal"),
        (lambda x: ag.fft.fft(x[:, :0]), ValueError, "leaves no signal"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(ag.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True))


def test_lengths_that_are_left_open() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    assert_close(ag.fft.fftn(ag.asarray(x), s=(5, -1)), np.fft.fftn(x, s=(5, 4), axes=(1, 2)))
    half = ag.fft.rfftn(ag.asarray(x))
    assert_close(ag.fft.irfftn(half, s=(-1, -1, 4), axes=(0, 1, 2)), x)
    assert_close(
        ag.fft.irfftn(half, s=(-1, -1), axes=(0, 2)), np.fft.irfftn(half.array, axes=(0, 2))
    )
