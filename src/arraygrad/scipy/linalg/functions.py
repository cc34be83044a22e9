"""Functions of a matrix: exponential, logarithm, roots, powers, trigonometric functions.

The derivative of a function f along E is its Fréchet derivative L(A, E). It is a block of f of a
larger matrix: f([[A, E], [0, A]]) = [[f(A), L(A, E)], [0, f(A)]]. So the derivative of L is an L of
twice the size, and derivatives of all orders follow. The transposed derivative is L(Aᵀ, ·).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...backends.filled import zeros_like
from ...core.array import AnyFunction, Array
from ...linalg import eig, inv, solve
from ...ops import (
    broadcast_to,
    concat,
    expand_dims,
    imag,
    is_complex,
    matmul,
    matrix_transpose,
    real,
)
from ..formula import const
from ..twins import has_values, refuse, twin
from ..values import attach
from .equations import sylvester
from .exponential import expm_along
from .stacked import SCIPY, matrix, matrix_op, regular

__all__ = [
    "coshm",
    "cosm",
    "expm",
    "expm_frechet",
    "fractional_matrix_power",
    "funm",
    "logm",
    "sinhm",
    "sinm",
    "sqrtm",
    "tanhm",
    "tanm",
]

_NEAR = 0.1  # how close to the negative real axis, as an angle, an eigenvalue is on it


def _blocks(a: Any, b: Any, c: Any, d: Any) -> Any:
    top, bottom = concat((a, b), axis=-1), concat((c, d), axis=-1)
    return concat((top, bottom), axis=-2)


def _same(*shapes: Any, **keywords: Any) -> Any:
    return (shapes[0],)


def _doubled(a: Any, e: Any) -> Any:
    return _blocks(a, e, zeros_like(a), a)


def _scale(e: Any, a: Any) -> Any:
    """A number by which `e` is of the size of `a`."""
    size, wanted = np.max(np.abs(e), initial=0.0), np.max(np.abs(a), initial=0.0)
    return wanted / size if 0 < size < np.inf and 0 < wanted < np.inf else e.real.dtype.type(1)


def _core(a: Any) -> Any:
    """The block on the diagonal of the larger matrices of derivatives, where it is repeated."""
    while (n := len(a) // 2) and len(a) == 2 * n and np.array_equal(a[:n, :n], a[n:, n:]):
        if a[n:, :n].any() and a[:n, n:].any():
            break
        a = a[:n, :n]
    return a


def _turn(a: Any) -> float:
    """The angle by which the negative real axis is turned, so that it is far from all eigenvalues.

    The logarithm and powers jump there. Eigenvalues on the axis count to its upper side, as in
    SciPy. In the larger matrices of derivatives, each is there several times, and by rounding
    errors on both sides.
    """
    a = _core(a)
    angles = np.angle(np.linalg.eigvals(a if np.imag(a).any() else np.real(a)))
    if not len(angles) or np.max(np.abs(angles)) < math.pi - _NEAR:
        return 0.0
    return float(np.max(angles) + np.min(angles)) / 2


def _function(name: str, compute: AnyFunction, along: AnyFunction | None = None) -> Any:
    """The ops of a function of matrices, and of its derivative along `e`.

    `compute` and `along` take a keyword `power`, which only powers of matrices use.
    """

    def by_block(a: Any, e: Any, *, power: Any) -> Any:
        if power is None or power <= 0 or power != int(power):
            regular(_core(a), name)
        n, scale = a.shape[0], _scale(e, a)  # blocks of one size keep all digits
        doubled = np.block([[a, e * scale], [np.zeros_like(a), a]])
        angle = _turn(a)
        if angle:
            found = compute(doubled * np.exp(-1j * angle), power=power)[:n, n:] / scale
            return found if power is None else found * np.exp(1j * angle * power)
        return compute(doubled, power=power)[:n, n:] / scale

    def transposed(g: Any, a: Any, power: Any) -> Any:
        return frechet(matrix_transpose(a), g, power=power)

    def by_a(g: Any, a: Any, e: Any, power: Any) -> Any:
        n, zero = a.shape[-1], zeros_like(g)
        out = transposed(_blocks(zero, g, zero, zero), _doubled(a, e), power)
        return out[..., :n, :n] + out[..., n:, n:]

    def forward(t_a: Any, t_e: Any, a: Any, e: Any, power: Any) -> Any:
        n = a.shape[-1]
        return frechet(_doubled(a, e), _doubled(t_a, t_e), power=power)[..., :n, n:]

    function = matrix_op(
        name,
        "a",
        compute=compute,
        shapes=_same,
        vjp=transposed,
        jvp=lambda t, a, power: frechet(a, t, power=power),
    )
    frechet = matrix_op(
        f"{name}_frechet",
        "a",
        "e",
        compute=along or by_block,
        shapes=_same,
        vjp_a=by_a,
        vjp_e=transposed,
        jvp=forward,
    )
    return function, frechet


_expm, _expm_frechet = _function(
    "expm", lambda a, *, power: SCIPY.expm(a), lambda a, e, *, power: expm_along(a, e)
)
_logm, _ = _function("logm", lambda a, *, power: SCIPY.logm(a))
_power, _ = _function(
    "fractional_matrix_power", lambda a, *, power: SCIPY.fractional_matrix_power(a, power)
)


def _root_along(e: Any, a: Any, root: Any) -> Any:
    """The derivative of the root X of A satisfies X dX + dX X = dA."""
    regular(a, "sqrtm")
    return sylvester(root, root, e)


_sqrtm = matrix_op(
    "sqrtm",
    "a",
    compute=lambda a: SCIPY.sqrtm(a),
    shapes=_same,
    vjp=lambda g, a, out: _root_along(g, a, matrix_transpose(out)),
    jvp=lambda t, a, out: _root_along(t, a, out),
)


@twin(SCIPY.expm)
def expm(A: Any) -> Any:
    """The exponential of matrices."""
    return _expm(matrix(A, "expm"), power=None)


@twin(SCIPY.expm_frechet)
def expm_frechet(A: Any, E: Any, method: str | None, compute_expm: bool) -> Any:
    """The derivative of the exponential at `A` along `E`, and the exponential itself."""
    if method not in (None, "SPS", "blockEnlarge"):
        raise ValueError(f"Unknown implementation {method}")
    a, e = matrix(A, "expm_frechet"), matrix(E, "expm_frechet")
    if a.shape != e.shape:
        shape = np.broadcast_shapes(tuple(a.shape), tuple(e.shape))
        a, e = broadcast_to(a, shape), broadcast_to(e, shape)
    along = _expm_frechet(a, e, power=None)
    return (_expm(a, power=None), along) if compute_expm else along


@twin(SCIPY.logm)
def logm(A: Any, disp: Any = True) -> Any:  # which SciPy 1.18 no longer has
    """The logarithm of matrices."""
    refuse("logm", disp=(disp is not False, True))
    return _logm(matrix(A, "logm"), power=None)


@twin(SCIPY.sqrtm)
def sqrtm(A: Any) -> Any:
    """The square root of matrices."""
    return _sqrtm(matrix(A, "sqrtm"))


@twin(SCIPY.fractional_matrix_power)
def fractional_matrix_power(A: Any, t: Any) -> Any:
    """The power `t` of matrices, by both arguments."""
    a = matrix(A, "fractional_matrix_power")
    if not isinstance(t, Array):
        return _power(a, power=t)
    out = _expm(_logm(a, power=None) * t, power=None)
    number = const(t)
    if isinstance(number, Array) or not has_values(number):
        return out
    value = _power(const(a), power=float(number))  # at a singular matrix, `out` has other values
    if is_complex(value) != is_complex(out):
        out = real(out) if is_complex(out) else out + 0j
    return attach(value, out)


@twin(SCIPY.funm)
def funm(A: Any, func: AnyFunction) -> Any:
    """A function of matrices by their eigenvalues, which must be different from each other."""
    a = matrix(A, "funm")
    values, vectors = eig(a)
    out = matmul(vectors * expand_dims(func(values), axis=-2), inv(vectors))
    return out if is_complex(a) else real(out)


# --- trigonometric and hyperbolic functions ------------------------------------------------------


def _exp(a: Any) -> Any:
    return _expm(a, power=None)


def _cosm(a: Any) -> Any:
    return (_exp(a * 1j) + _exp(a * -1j)) * 0.5 if is_complex(a) else real(_exp(a * 1j))


def _sinm(a: Any) -> Any:
    return (_exp(a * 1j) - _exp(a * -1j)) * -0.5j if is_complex(a) else imag(_exp(a * 1j))


def _of_matrix(name: str, function: AnyFunction) -> AnyFunction:
    return twin(getattr(SCIPY, name))(lambda A: function(matrix(A, name)))


cosm = _of_matrix("cosm", _cosm)
sinm = _of_matrix("sinm", _sinm)
tanm = _of_matrix("tanm", lambda a: solve(_cosm(a), _sinm(a)))
coshm = _of_matrix("coshm", lambda a: (_exp(a) + _exp(-a)) * 0.5)
sinhm = _of_matrix("sinhm", lambda a: (_exp(a) - _exp(-a)) * 0.5)
tanhm = _of_matrix("tanhm", lambda a: solve(_exp(a) + _exp(-a), _exp(a) - _exp(-a)))
