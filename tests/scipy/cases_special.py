"""Cases of `scipy.special`."""

from __future__ import annotations

from typing import Any

import numpy as np
from crossing import IS_RECENT, Case

_rng = np.random.default_rng(0)


def _numbers(low: float, high: float, size: int = 3) -> Any:
    return _rng.uniform(low, high, size)


def _function(name: str, *arrays: Any, label: str = "", **flags: Any) -> Case:
    return Case(
        f"special.{name}{label}",
        lambda sp, *args: getattr(sp.special, name)(*args),
        arrays,
        **flags,
    )


def _of_last(name: str, *first: Any, at: Any, label: str = "", **flags: Any) -> Case:
    return Case(
        f"special.{name}{label or first}",
        lambda sp, x: getattr(sp.special, name)(*first, x),
        (at,),
        **flags,
    )


_DOMAINS = {
    (-4, 4): "j0 j1 i0 i1 erf erfc dawsn erfcx erfi cosm1 exp10 exp2 expm1 expit log_expit ndtr "
    "log_ndtr airy fresnel sinc wrightomega exprel",
    (0.3, 4): "y0 y1 k0 k1 k0e k1e i0e i1e airye sici shichi exp1 expi entr gamma gammaln "
    "loggamma rgamma digamma psi spence lambertw log1p cbrt",
    (-3, -0.2): "airy i0e i1e ndtri_exp sici",
    (0.15, 0.9): "logit ndtri erfinv erfcinv ellipk ellipe ellipkm1",
    (-0.09, 0.09): "ellipk ellipe exprel",
    (0.91, 0.99): "ellipkm1",
    (0.99, 1.01): "spence",
    (0.4, 3): "ber bei ker kei berp beip kerp keip kelvin",
    (-5, -0.2): "ellipk ellipe",
}
CASES = [
    _function(name, _numbers(*domain), label=f" in {domain}")
    for domain, names in _DOMAINS.items()
    for name in names.split()
]
CASES += [
    _of_last(_name, 1.3, at=_numbers(0.4, 5))
    for _name in "jv yv iv kv jve yve ive kve hankel1 hankel2 hankel1e hankel2e".split()
]
CASES += [_of_last(_name, np.arange(3), at=np.array([0.0, 0.0, 0.5])) for _name in ("jv", "iv")]
CASES += [
    _of_last(f"spherical_{_name}", _n, at=_numbers(0.5, 4))
    for _name in ("jn", "yn", "in", "kn")
    for _n in (0, 2)
]
CASES += [
    _of_last("spherical_jn", np.array([0, 1, 3]), at=_numbers(0.5, 4)),
    Case(
        "special.spherical_jn, derivative",
        lambda sp, z: sp.special.spherical_jn(2, z, derivative=True),
        (_numbers(0.5, 3),),
    ),
    _of_last("yn", 2, at=_numbers(0.5, 4)),
    _of_last("kn", 0, at=_numbers(0.5, 4)),
    _of_last("struve", 0.5, at=_numbers(0.5, 4)),
    _of_last("modstruve", 0.5, at=_numbers(0.5, 4)),
    _function("ellipkinc", _numbers(0.2, 1.2), _numbers(0.2, 0.8)),
    _function("ellipkinc", _numbers(-9, 9), _numbers(-0.09, 0.09), label=", small m"),
    _function("ellipeinc", _numbers(0.2, 1.2), _numbers(-3, -0.2)),
    _function("ellipeinc", _numbers(-9, 9), _numbers(-0.09, 0.09), label=", small m"),
    _function("ellipj", _numbers(0.2, 1.2), _numbers(0.2, 0.8)),
    _of_last("lambertw", at=_numbers(0.3, 2) + 1j),
    Case(
        "special.lambertw, k=-1",
        lambda sp, z: sp.special.lambertw(z, -1),
        (_numbers(-0.3, -0.1),),
    ),
    _of_last("wofz", at=_numbers(0.3, 2) + 1j * _numbers(0.2, 1)),
    _of_last("jv", 2, at=_numbers(0.3, 2) + 1j * _numbers(0.2, 1), label="complex"),
    _of_last("airy", at=_numbers(0.3, 2) + 1j * _numbers(0.2, 1), label="complex"),
    _function("voigt_profile", _numbers(-2, 2), _numbers(0.5, 1), _numbers(0.3, 1)),
    _function("owens_t", _numbers(-2, 2), _numbers(0.3, 2)),
    _of_last("expn", 3, at=_numbers(0.3, 2)),
    _of_last("expn", np.array([0, 1, 2]), at=_numbers(0.3, 2)),
    _of_last("hyp0f1", 1.5, at=_numbers(-2, 2)),
    _of_last("hyp1f1", 1.5, 2.5, at=_numbers(-2, 2)),
    _of_last("hyp2f1", 0.5, 1.5, 2.5, at=_numbers(-0.8, 0.7)),
    _of_last("hyperu", 0.5, 1.5, at=_numbers(0.5, 2)),
    _function("huber", _numbers(1, 1.2), np.array([0.5, -2.0, 3.0])),
    _function("pseudo_huber", _numbers(1, 1.2), np.array([0.5, -2.0, 3.0])),
    _function("boxcox", _numbers(0.5, 3), np.array([0.0, 0.5, -1.5])),
    _function("inv_boxcox", _numbers(0.2, 0.6), np.array([0.0, 0.5, -1.5])),
    _function("factorial", _numbers(0.2, 4.6)),
    _function("xlogy", _numbers(0.5, 3), _numbers(0.5, 3)),
    _function("xlog1py", _numbers(0.5, 3), _numbers(0.5, 3)),
    _function("rel_entr", _numbers(0.5, 3), _numbers(0.5, 3)),
    _function("kl_div", _numbers(0.5, 3), _numbers(0.5, 3)),
    _function("beta", _numbers(0.5, 3), _numbers(0.5, 3)),
    _function("betaln", _numbers(0.5, 3), _numbers(0.5, 3)),
    _function("poch", _numbers(0.5, 3), _numbers(0.5, 3)),
    _function("binom", _numbers(4, 6), _numbers(0.5, 3)),
    _of_last("polygamma", 2, at=_numbers(0.5, 3)),
    _of_last("zeta", 2.5, at=_numbers(0.5, 3)),
    Case("special.multigammaln", lambda sp, a: sp.special.multigammaln(a, 3), (_numbers(2, 4),)),
    Case(
        "special.softmax", lambda sp, a: sp.special.softmax(a, axis=1), (_rng.normal(size=(2, 3)),)
    ),
    Case("special.log_softmax", lambda sp, a: sp.special.log_softmax(a), (_numbers(-2, 2),)),
    Case(
        "special.logsumexp",
        lambda sp, a, b: sp.special.logsumexp(a, b=b, axis=-1, keepdims=True),
        (_numbers(-2, 2), _numbers(0.5, 2)),
    ),
]
# --- distributions -------------------------------------------------------------------------------
for _name in ("gammainc", "gammaincc"):
    CASES.append(_function(_name, _numbers(0.4, 4), _numbers(0.2, 6)))
for _name in ("gammaincinv", "gammainccinv"):
    CASES.append(_function(_name, _numbers(0.6, 4), _numbers(0.2, 0.8)))
for _name in ("betainc", "betaincc", "betaincinv", "betainccinv"):
    CASES.append(_function(_name, _numbers(0.6, 4), _numbers(0.6, 4), _numbers(0.2, 0.8)))
CASES += [
    _function("stdtr", _numbers(1.5, 6), np.array([-1.2, 0.4, 2.5])),
    _of_last("stdtr", 3.5, at=np.array([-1.0, 0.0, 0.7])),
    _function("stdtrit", _numbers(1.5, 6), _numbers(0.1, 0.9), tolerance=1e-5),
    _function("chdtr", _numbers(1.5, 6), _numbers(0.5, 5)),
    _function("chdtrc", _numbers(1.5, 6), _numbers(0.5, 5)),
    _function("chdtri", _numbers(1.5, 6), _numbers(0.1, 0.9)),
    _function("fdtr", _numbers(1.5, 6), _numbers(1.5, 6), _numbers(0.3, 3)),
    _function("fdtrc", _numbers(1.5, 6), _numbers(1.5, 6), _numbers(0.3, 3)),
    _function("fdtri", _numbers(1.5, 6), _numbers(1.5, 6), _numbers(0.2, 0.8)),
    _function("gdtr", _numbers(0.5, 2), _numbers(0.5, 3), _numbers(0.3, 3)),
    _function("gdtrc", _numbers(0.5, 2), _numbers(0.5, 3), _numbers(0.3, 3)),
    _of_last("pdtr", np.arange(3.0), at=_numbers(0.5, 3)),
    _of_last("pdtrc", np.arange(3.0), at=_numbers(0.5, 3)),
    _of_last("pdtri", np.arange(3), at=_numbers(0.2, 0.8)),
    _of_last("bdtr", np.arange(3.0), 5, at=_numbers(0.2, 0.8)),
    _of_last("bdtrc", np.arange(3.0), 5, at=_numbers(0.2, 0.8)),
    _of_last("bdtri", np.arange(3.0), 5, at=_numbers(0.2, 0.8)),
    _of_last("nbdtr", np.arange(3), 5, at=_numbers(0.2, 0.8)),
    _of_last("nbdtrc", np.arange(3), 5, at=_numbers(0.2, 0.8)),
]
# --- polynomials ---------------------------------------------------------------------------------
for _name in (
    "legendre chebyt chebyu laguerre hermite hermitenorm sh_legendre sh_chebyt sh_chebyu chebys "
    "chebyc"
).split():
    CASES.append(_of_last(f"eval_{_name}", np.array([0, 1, 4]), at=_numbers(-0.9, 0.9)))
CASES += [
    _of_last("eval_jacobi", np.array([0, 1, 4]), 0.5, 1.5, at=_numbers(-0.9, 0.9)),
    _of_last("eval_gegenbauer", 3, 0.7, at=_numbers(-0.9, 0.9)),
    _of_last("eval_genlaguerre", 3, 0.7, at=_numbers(-0.9, 0.9)),
    _of_last("eval_legendre", 2.5, at=_numbers(-0.5, 0.9)),
    _of_last("lpmv", 1, 3, at=_numbers(-0.5, 0.9)),
]

# Carlson's integrals.
CASES += [
    _function(_name, *(_numbers(0.3, 3) for _ in range(_count)))
    for _name, _count in {
        "elliprf": 3,
        "elliprd": 3,
        "elliprg": 3,
        "elliprc": 2,
        "elliprj": 4,
    }.items()
]
CASES += [
    _function("elliprc", _numbers(0.3, 3), _numbers(-3, -0.3), label=" principal value"),
    _of_last("struve", 0, at=_numbers(-3, -0.5), label=" of negative numbers"),
    _of_last("modstruve", 2, at=_numbers(-3, -0.5), label=" of negative numbers"),
]

# Where other formulas divide by zero, or lose digits.
CASES += [
    _of_last("rgamma", at=np.array([-3.0, -1.0, 0.0, 0.3]), label=" at its zeros"),
    _function(
        "voigt_profile", _numbers(1, 2), _numbers(0.002, 0.01), _numbers(0.3, 1), label=" far"
    ),
    _of_last("voigt_profile", 0.7, 0.0, at=_numbers(0.3, 1), label=" without Gauss"),
    _of_last("elliprc", 0.0, at=_numbers(0.3, 3), label=" of zero"),
    _of_last("boxcox", 0.0, at=_numbers(0.3, 3), label=" of zero"),
]

if IS_RECENT:
    CASES += [
        Case(
            f"special.sph_harm_y({_n}, {_m})",
            lambda sp, theta, phi, n=_n, m=_m: sp.special.sph_harm_y(n, m, theta, phi),
            (np.array([0.4, 1.9, 0.001, 3.14]), _numbers(-2, 2, 4)),
        )
        for _n, _m in ((0, 0), (1, 0), (1, 1), (2, -1), (3, 2), (3, -3), (5, 0))
    ]
    CASES.append(
        Case(
            "special.sph_harm_y of many orders",
            lambda sp, theta, phi: sp.special.sph_harm_y(
                np.array([[1], [2]]), np.array([[-1], [1]]), theta, phi
            ),
            (_numbers(0.2, 3), _numbers(-2, 2)),
        )
    )
