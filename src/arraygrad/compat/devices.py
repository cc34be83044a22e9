"""Where tensors are, as the systems say it: always the processor's memory here."""

from __future__ import annotations

from typing import Any


class Device:
    """A kind of device, and its number if there is one: `cpu`, `cuda:0`."""

    __slots__ = ("index", "type")

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        self.type, _, number = str(type).partition(":")
        self.index = int(number) if number else index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"
