"""Rows of the table of samples for `arraygrad.fft`: every norm, length and choice of axes."""

from __future__ import annotations

from typing import Any

from samples import row


def transform(name: str, shape: tuple[int, ...], **given: Any) -> None:
    """A row for one call of a transform; of complex numbers, too, where it takes them."""
    row(
        f"fft.{name}",
        lambda d: d.any(*shape),
        lambda xp, x: getattr(xp.fft, name)(x, **given),
        ",".join([str(shape), *(f"{k}={v}" for k, v in given.items())]),
        complex=name not in ("rfft", "rfftn", "ihfft"),
        torch=0 not in shape,  # it refuses to transform nothing
    )


_NORMS = ("backward", "ortho", "forward")

for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    for _norm in _NORMS:
        for _n in (4, 5):  # even and odd: in half a spectrum they differ at its end
            transform(_name, (4,), n=_n, norm=_norm)
    for _n in (1, 2, 3, 7, 8):  # shorter and longer than the axis
        transform(_name, (2, 4), n=_n)
    transform(_name, (4, 2), axis=0)
    transform(_name, (3, 4, 2), axis=1, n=3)
    transform(_name, (3, 4, 2), axis=-2, n=6, norm="ortho")
    transform(_name, (5,))
    transform(_name, (0, 3))
transform("rfft", (1,))
transform("irfft", (1,), n=1)

for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    for _norm in _NORMS:
        transform(_name, (3, 4), norm=_norm)
        transform(_name, (2, 3, 4), s=(5, 3), axes=(0, 2), norm=_norm)
    transform(_name, (2, 3, 4))
    transform(_name, (2, 3, 4), axes=(1,))
    transform(_name, (2, 4, 3), axes=(2, 0))
    transform(_name, (2, 3, 2), axes=(-1, 1, 0), s=(1, 4, 2))
    transform(_name, (4,), s=(6,), axes=(0,))

for _name in ("fftshift", "ifftshift"):
    for _shape, _given in (
        ((4,), {}),
        ((5,), {}),
        ((2, 3), {}),
        ((2, 3), {"axes": 1}),
        ((2, 3, 4), {"axes": (0, -1)}),
    ):
        transform(_name, _shape, **_given)
