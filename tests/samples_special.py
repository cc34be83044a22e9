"""Rows of the table of samples for `arraygrad.special`; SciPy says what the values must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from samples import Draw, row
from scipy import special as scipy_special


def by_scipy(name: str) -> Callable[..., Any]:
    """SciPy's function of a name."""
    if name == "softplus":  # which SciPy has had since 1.15
        return lambda x: np.logaddexp(x, 0)
    found: Callable[..., Any] = getattr(scipy_special, name)
    return found


def function(
    name: str, inputs: Callable[[Draw], Any], label: str = "", *, given: Any = None, **flags: Any
) -> None:
    """A row for one call of a special function, with keywords."""
    keywords = given or {}

    def reference(*arrays: Any) -> Any:
        out = by_scipy(name)(*arrays, **keywords)
        # SciPy computes halves, and some functions of single precision, in a wider dtype.
        return out.astype(np.result_type(*(a for a in arrays if a.dtype.kind in "fc")))

    row(
        f"special.{name}",
        inputs,
        lambda xp, *arrays: getattr(xp.special, name)(*arrays, **keywords),
        label or ",".join(f"{k}={v}" for k, v in keywords.items()),
        reference=reference,
        torch=False,  # it has them in another place: see test_special.py
        **flags,
    )


# --- elementwise ---------------------------------------------------------------------------------


def _between(low: float, high: float) -> Callable[..., Any]:
    return lambda d, *shape: d.rng.uniform(low, high, shape)


_DOMAINS: dict[str, Callable[..., Any]] = {
    "expit": _between(-3, 3),
    "softplus": _between(-3, 3),
    "log_expit": _between(-3, 3),
    "logit": _between(0.1, 0.9),
    "erf": _between(-2, 2),
    "erfc": _between(-2, 2),
    "erfinv": _between(-0.8, 0.8),
    "ndtr": _between(-2, 2),
    "log_ndtr": _between(-5, 3),
    "ndtri": _between(0.1, 0.9),
    "gammaln": _between(0.4, 4),
    "digamma": _between(0.6, 4),
    "psi": _between(0.6, 4),
    "entr": _between(0.2, 2),
    "i0": _between(-2, 2),
    "i1": _between(-2, 2),
    "i0e": _between(0.2, 3),
    "i1e": _between(0.2, 3),
    "sinc": _between(-2, 2),
    "gamma": _between(0.5, 3),
    "exp1": _between(0.3, 3),
    "expi": _between(0.5, 3),
}
for _name, _domain in _DOMAINS.items():
    for _shape in ((2, 3), (), (0, 2)):
        function(_name, lambda d, f=_domain, s=_shape: f(d, *s), f"shape={_shape}")
    function(_name, lambda d, f=_domain: f(d, 4, 6).T[::-2], "strided")
for _name in ("gammaln", "digamma"):
    function(_name, lambda d: -d.rng.uniform(1.2, 1.8, (3,)), "negative")
for _name in ("i0e", "i1e"):
    function(_name, lambda d: -d.rng.uniform(0.2, 3, (3,)), "negative")
function("erf", lambda d: d.unit(2, 3), "complex", complex=True)

_pair = _between(0.3, 2)
for _name in ("xlogy", "xlog1py", "rel_entr", "kl_div", "betaln"):
    for _a, _b in (((2, 3), (2, 3)), ((3,), (2, 1)), ((), (2,)), ((0, 2), (2,))):
        function(_name, lambda d, a=_a, b=_b: (_pair(d, *a), _pair(d, *b)), f"{_a},{_b}")
function("xlogy", lambda d: (np.array([0.0, 0.0, 1.5]), d.positive(3)), "zero")
function("xlog1py", lambda d: (np.array([0.0, 0.0, 1.5]), d.positive(3)), "zero")

for _n in (0, 1, 2, 3):
    row(
        "special.polygamma",
        lambda d: d.rng.uniform(0.8, 3, (2, 3)),
        lambda xp, x, n=_n: xp.special.polygamma(n, x),
        f"n={_n}",
        reference=lambda x, n=_n: scipy_special.polygamma(n, x).astype(x.dtype),
        torch=False,
    )
function("polygamma", lambda d: (d.integers(3), d.rng.uniform(0.8, 3, (2, 3))), "orders")
row(
    "special.polygamma",
    lambda d: d.rng.uniform(-1.8, -1.2, (3,)),
    lambda xp, x: xp.special.polygamma(1, x),
    "negative",
    reference=lambda x: scipy_special.polygamma(1, x).astype(x.dtype),
    torch=False,
)
row(
    "special.zeta",
    lambda d: d.rng.uniform(0.8, 3, (2, 3)),
    lambda xp, q: xp.special.zeta(2.5, q),
    "q",
    reference=lambda q: scipy_special.zeta(2.5, q).astype(q.dtype),
    torch=False,
)
row(
    "special.zeta",
    lambda d: d.rng.uniform(1.5, 4, (2, 3)),
    lambda xp, x: xp.special.zeta(x),
    "x",
    reference=lambda x: scipy_special.zeta(x).astype(x.dtype),
    torch=False,
)
row(
    "special.zeta",
    lambda d: (d.rng.uniform(1.5, 4, (2, 3)), d.rng.uniform(0.8, 3, (3,))),
    lambda xp, x, q: xp.special.zeta(x, q),
    "both",
    reference=lambda x, q: scipy_special.zeta(x, q).astype(x.dtype),
    torch=False,
)
for _name in ("gammainc", "gammaincc"):
    row(
        f"special.{_name}",
        lambda d: d.rng.uniform(0.5, 3, (2, 3)),
        lambda xp, x, n=_name: getattr(xp.special, n)(1.5, x),
        "x",
        reference=lambda x, n=_name: getattr(scipy_special, n)(1.5, x).astype(x.dtype),
        torch=False,
    )
    function(
        _name,
        lambda d: (d.rng.uniform(0.5, 3, (2, 1)), d.rng.uniform(0.5, 3, (3,))),
        "both",
        half=False,
    )
function(
    "betainc",
    lambda d: tuple(d.rng.uniform(*ends, (3,)) for ends in ((1.5, 3), (1.5, 3), (0.2, 0.8))),
    "all",
    half=False,
)
for _name, _high in (("betainc", 0.9), ("fdtr", 3.0), ("fdtrc", 3.0)):
    row(
        f"special.{_name}",
        lambda d, high=_high: d.rng.uniform(0.1, high, (2, 3)),
        lambda xp, x, n=_name: getattr(xp.special, n)(1.5, 2.5, x),
        "x",
        reference=lambda x, n=_name: getattr(scipy_special, n)(1.5, 2.5, x).astype(x.dtype),
        torch=False,
    )

# --- over axes -----------------------------------------------------------------------------------

_AXES: list[tuple[tuple[int, ...], Any]] = [
    ((4,), None),
    ((2, 3), None),
    ((2, 3), 0),
    ((2, 3), -1),
    ((2, 3, 2), (0, 2)),
    ((2, 3, 2), (-1, 1, 0)),
    ((), None),
    ((), 0),
    ((), -1),
    ((0, 3), 1),
]
for _name in ("softmax", "log_softmax", "logsumexp"):
    for _shape, _axis in _AXES:
        function(
            _name, lambda d, s=_shape: d.any(*s), f"{_shape},axis={_axis}", given={"axis": _axis}
        )
    function(_name, lambda d: d.any(4, 6).T[::-2], "strided", given={"axis": 0})
    function(_name, lambda d: d.any(2, 3) + 1000, "large", given={"axis": -1})
for _shape, _axis in _AXES:
    if not _shape:  # of which SciPy makes one axis
        continue
    function(
        "logsumexp",
        lambda d, s=_shape: d.any(*s),
        f"{_shape},axis={_axis},keepdims",
        given={"axis": _axis, "keepdims": True},
    )
for _shapes, _axis in (
    (((2, 3), (2, 3)), None),
    (((2, 3), (3,)), -1),
    (((3,), (2, 1)), 0),
    (((2, 1, 3), (2, 2, 1)), (0, 2)),
):
    for _keepdims in (False, True):
        row(
            "special.logsumexp",
            lambda d, shapes=_shapes: (d.any(*shapes[0]), d.positive(*shapes[1])),
            lambda xp, a, b, axis=_axis, keep=_keepdims: xp.special.logsumexp(
                a, axis=axis, b=b, keepdims=keep
            ),
            f"b={_shapes},axis={_axis}{',keepdims' * _keepdims}",
            reference=lambda a, b, axis=_axis, keep=_keepdims: scipy_special.logsumexp(
                a, axis=axis, b=b, keepdims=keep
            ).astype(a.dtype),
            torch=False,
        )
