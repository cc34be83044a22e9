"""Hypergeometric functions: by the argument. There is no formula for their parameters."""

from __future__ import annotations

from .declaring import special

__all__ = ["hyp0f1", "hyp1f1", "hyp2f1", "hyperu"]

hyp0f1 = special("hyp0f1", "v", "z", d_z=lambda v, z: hyp0f1(v + 1, z) / v)
hyp1f1 = special("hyp1f1", "a", "b", "z", d_z=lambda a, b, z: hyp1f1(a + 1, b + 1, z) * (a / b))
hyp2f1 = special(
    "hyp2f1",
    "a",
    "b",
    "c",
    "z",
    d_z=lambda a, b, c, z: hyp2f1(a + 1, b + 1, c + 1, z) * (a * b / c),
)
hyperu = special("hyperu", "a", "b", "x", d_x=lambda a, b, x: hyperu(a + 1, b + 1, x) * -a)
