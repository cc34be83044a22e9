"""The derivative of the exponential of a matrix along another, L(A, E), on plain arrays.

The exponential of A is that of A / 2ˢ, squared s times. For a small matrix it is its Taylor
polynomial of degree 18, which Bader, Blanes and Casas compute by five products ("Computing the
matrix exponential with an optimized Taylor polynomial approximation", Mathematics 7, 2019). Each
product is differentiated here by two more. There are no equations to solve.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_DEGREE = 18

# The weights of A, A², A³ and A⁶ in the five matrices B₁ to B₅, and those of the unit matrix.
# With C = B₁ B₅ + B₄, the polynomial is B₂ + (B₃ + C) C.
_SUMS = np.array(
    [
        [-1.00365581030144618291e-01, -8.02924648241156932449e-03, -8.92138498045729985177e-04, 0],
        [
            3.97849749499645077844e-01,
            1.36783778460411720168e00,
            4.98289622525382669416e-01,
            -6.37898194594723280150e-04,
        ],
        [
            1.68015813878906206114e00,
            5.71779846478865511061e-02,
            -6.98210122488052056106e-03,
            3.34975017086070470649e-05,
        ],
        [
            -6.76404519071381882256e-02,
            6.75961301770459654925e-02,
            2.95552570429315521194e-02,
            -1.39180257516060693404e-05,
        ],
        [0, -9.23364619367118555360e-02, -1.69364939002081722752e-02, -1.40086798182036094347e-05],
    ]
)
_UNIT = {2: -1.09676396052962061844e01, 3: -9.04316832390810593223e-02}
_FACTORIALS = [math.log2(math.factorial(_DEGREE + k)) for k in range(6)]


def expm_along(a: Any, e: Any) -> Any:
    """L(a, e), the derivative of the exponential at `a` along `e`, for two matrices."""
    n, kind = a.shape[0], np.result_type(a, e)
    powers, changes = np.empty((2, 4, n, n), kind)  # of A, A², A³, A⁶
    powers[0], changes[0] = a, e
    halved = _halved_at_first(powers[0])
    if halved:  # or A⁶ would overflow
        powers[0] *= 0.5**halved
        changes[0] *= 0.5**halved
    _multiply(powers, changes, 0, 0, 1)
    _multiply(powers, changes, 0, 1, 2)
    _multiply(powers, changes, 2, 2, 3)
    squarings = _squarings(powers)
    if squarings:
        scales = 0.5 ** (squarings * np.array([1, 2, 3, 6], powers.real.dtype)[:, None, None])
        powers *= scales
        changes *= scales
    sums, d_sums = _combined(powers), _combined(changes)
    for i, weight in _UNIT.items():
        sums[i].flat[:: n + 1] += weight
    c = sums[0] @ sums[4] + sums[3]
    d_c = sums[0] @ d_sums[4] + d_sums[0] @ sums[4] + d_sums[3]
    left = sums[2] + c
    along = left @ d_c + (d_sums[2] + d_c) @ c + d_sums[1]
    squarings += halved
    power: Any = left @ c + sums[1] if squarings else None
    for k in reversed(range(squarings)):
        along = power @ along + along @ power
        power = power @ power if k else power
    return along


def _halved_at_first(a: Any) -> int:
    largest = float(np.abs(a).max(initial=0.0))
    most = np.finfo(a.dtype).maxexp // 8
    return max(0, math.frexp(largest * len(a))[1] - most) if largest < math.inf else 0


def _multiply(powers: Any, changes: Any, i: int, j: int, k: int) -> None:
    """Make power k the product of powers i and j, with its change."""
    np.matmul(powers[i], powers[j], out=powers[k])
    np.matmul(powers[i], changes[j], out=changes[k])
    changes[k] += changes[i] @ powers[j]


def _combined(powers: Any) -> Any:
    """The five sums of powers."""
    parts = powers.view(powers.real.dtype)  # complex numbers as pairs of real ones
    sums = _SUMS.astype(parts.dtype, copy=False) @ parts.reshape(4, -1)
    return sums.view(powers.dtype).reshape(5, *powers.shape[1:])


def _squarings(powers: Any) -> int:
    """How often A must be halved for L of the polynomial to be exact to rounding.

    Its error is the sum of ``Aⁱ E Aʲ / (i + j + 1)!`` over i + j ≥ 18. The norm of each power is at
    most the product of norms of A, A², A³ and A⁶, whose logarithms are added here.
    """
    sizes = np.abs(powers).sum(axis=1).max(axis=1, initial=0.0).tolist()
    if not all(map(math.isfinite, sizes)):
        return 0
    one, two, three, six = (math.log2(size) if size else -1e9 for size in sizes)
    two = min(two, 2 * one)
    three = min(three, one + two)
    four, five = min(one + three, 2 * two), two + three
    six = min(six, 2 * three, 3 * two)
    bits = math.log2(np.finfo(powers.dtype).eps) - 1
    # For i + j = 18 + k, the logarithm of the largest product is 2 * six plus this.
    largest = (
        max(six, one + five, two + four, 2 * three),
        max(six + one, two + five, three + four),
        max(six + two, six + 2 * one, three + five, 2 * four),
        max(six + three, six + one + two, four + five),
        max(six + four, six + one + three, six + 2 * two, 2 * five),
        max(six + five, six + one + four, six + two + three),
    )
    return max(
        0,
        *(
            math.ceil((2 * six + more - factorial - bits) / (_DEGREE + k))
            for k, (more, factorial) in enumerate(zip(largest, _FACTORIALS, strict=True))
        ),
    )
