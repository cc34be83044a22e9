"""Modified Bessel functions of integer order, for libraries that only have orders 0 and 1."""

from __future__ import annotations

import math
from typing import Any

from .base import Kernel


def scaled_bessel(xp: Any, i0e: Kernel, i1e: Kernel, n: Any, x: Any) -> Any:
    """``exp(-abs(x))`` times the modified Bessel function of the first kind of order `n`.

    Neighbouring orders satisfy ``I[k-1] - I[k+1] = 2k/x I[k]``. Where `x` is much larger than the
    order, the recurrence runs upwards: each order follows from the two before. For smaller `x`, the
    upward recurrence would lose digits. There the ratios ``I[k] / I[k-1]`` are computed downwards,
    from an order so high that the ratio is practically zero.
    """
    n = abs(int(n))  # orders n and -n have the same function
    if n < 2:
        return i1e(x) if n else i0e(x)
    bound = max(10.0, n * n / 2)
    near = xp.abs(x) < bound
    small, large = xp.where(near, x, xp.zeros_like(x)), xp.where(near, xp.ones_like(x), x)
    ratio, product = xp.zeros_like(x), xp.ones_like(x)
    for k in range(n + 30 + int(6 * math.sqrt(bound)), 0, -1):
        ratio = small / (2 * k + small * ratio)
        if k <= n:
            product = product * ratio
    before, this = i0e(large), i1e(large)
    for k in range(1, n):
        before, this = this, before - 2 * k / large * this
    return xp.where(near, i0e(small) * product, this)
