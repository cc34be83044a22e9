"""The error function and the normal distribution, as instructions; see `functions`.

The tails are products of an exponential and a function that varies slowly, so they are as accurate
as the rest, down to the smallest numbers.
"""

from __future__ import annotations

import math

from .functions import exp, exp_within
from .vectors import Value, Writer

# erf(x) / x as a function of x², up to 1; log(1 - erf(x)) + x² as a function of x, from 1 on.
_ERF_NEAR = {
    "float": [
        1.1283791658815026, -0.3761262690358044, 0.1128359746348805, -0.02685432879606716,
        0.005189311942686476, -0.0008018854992785251, 7.882497110083168e-05,
    ],
    "double": [
        1.1283791670955126, -0.3761263890318375, 0.11283791670954882, -0.026866170645077334,
        0.005223977624823223, -0.0008548326981129666, 0.00012055331122299266,
        -1.4925595519506043e-05, 1.6461004480962028e-06, -1.6350354461959578e-07,
        1.4660051998394367e-08, -1.1373902296429162e-09, 5.95893074313214e-11,
    ],
}  # fmt: skip
_ERF_FAR = {
    "float": [
        -0.00034196234341326946, -1.1270889234968302, 0.3618575135846237, -0.1031114566341104,
        0.02184170711544981, -0.002948945949547566, 0.0001865517095990864,
    ],
    "double": [
        -1.1099972277084511e-06, -1.128368293889114, 0.3633306780033303, -0.10263319310505478,
        0.018857562454267812, 0.000594055357042817, -0.0021083822640124454,
        0.0009270357577996269, -0.00023470991600722284, 2.9808260366256587e-05,
        2.985580158470623e-06, -2.5073075655187453e-06, 6.547534764812026e-07,
        -1.0344390435283523e-07, 1.0429304151631975e-08, -6.230047989509798e-10,
        1.689635903442928e-11,
    ],
}  # fmt: skip

# exp(a²/2) ndtr(-a) (a + c), and exp(a²) erfc(a) (a + c), as functions of (a - c) / (a + c); for
# float32, exp(-a²/2) / ndtr(-a) - √(2π) a, and exp(-a²) / erfc(a) - √π a. These are small beside
# the line that is added to them, so their rounding matters less.
# From the ends on, the results are zero.
_CENTRE = {"float": 3.0, "double": 5.0}
_NDTR_END = {"float": 14.5, "double": 38.7}
_ERFC_END = {"float": 10.2, "double": 27.4}
_NDTR = {
    "float": [
        0.7096230983734131, -1.0611954927444458, 0.3587387800216675, 0.07045549154281616,
        -0.08813250064849854, -0.012541007250547409, 0.025403231382369995, 0.005288456566631794,
        -0.006038197781890631, -0.0024130677338689566,
    ],
    "double": [
        0.769193049750063, -0.6653825028900568, 0.4953056159699761, -0.31353315667128745,
        0.16502036617040702, -0.06911863870687801, 0.020795066799262733, -0.00299337676186944,
        -0.0007978693893219596, 0.0005448989927521901, -5.937580719746401e-05,
        -4.976245606842442e-05, 1.6681639003552632e-05, 3.97980433807949e-06,
        -2.770719146152548e-06, -3.345721937861036e-07, 4.362911487401573e-07,
        4.017523150089386e-08, -7.014184378551324e-08, -8.553364558046826e-09,
        1.0798061850653808e-08, 2.2201175016558965e-09, -1.1613988117963691e-09,
        -3.817059749433349e-10,
    ],
}  # fmt: skip
_ERFC = {
    "float": [
        0.269194632768631, -0.453100323677063, 0.25630348920822144, -0.07054298371076584,
        -0.022552525624632835, 0.029981547966599464, -0.006103424355387688, -0.008154389448463917,
        0.003644812386482954, 0.002303151646628976,
    ],
    "double": [
        1.1070463773306862, -1.0262325991519448, 0.8811773333024991, -0.6996919595788723,
        0.5124334779626569, -0.34481387856665263, 0.21201689211921246, -0.118196338432047,
        0.059064351246532684, -0.025995100918337077, 0.009781836119771256, -0.0029684072443209655,
        0.0006206095475793376, -2.4823118204354924e-05, -4.4176567532925866e-05,
        1.9052878595508365e-05, -2.464037488543549e-06, -1.1216057888297135e-06,
        6.144414012024712e-07, -4.8115313852823637e-08, -6.649867280746422e-08,
        1.5839467127988396e-08, 7.0199358408316785e-09,
    ],
}  # fmt: skip


# (ndtr(x) - 1/2) / x as a function of x², for |x| < 0.7
_NDTR_NEAR = [
    0.3989422804014327, -0.06649038006690496, 0.009973557010009501, -0.0011873282149393709,
    0.00011543468203839274, -9.444623920664533e-06, 6.658589845581663e-07,
    -4.100625267192469e-08, 2.033742058621596e-09,
]  # fmt: skip


def erf(w: Writer, x: Value) -> Value:
    """The error function."""
    a = w.math("fabs", x)
    near = w.exact("fmul", a, w.polynomial(w.exact("fmul", a, a), _ERF_NEAR[x.kind]))
    limit = w.like(x, 4.0 if x.kind == "float" else 6.0)
    b = w.choose(w.compare("gt", a, limit), limit, a)
    tail = w.math("fma", w.negate(b), b, w.polynomial(b, _ERF_FAR[x.kind]))
    far = w.exact("fsub", w.like(x, 1.0), exp(w, tail))
    y = w.choose(w.compare("lt", a, w.like(x, 1.0)), near, far)
    return w.math("copysign", y, x)


def _tail(w: Writer, x: Value, factor: float, end: float, coefficients: list[float]) -> Value:
    """The function of the absolute value that decays as ``exp(-factor x²)``."""
    a = w.math("fabs", x)
    bounded = w.choose(w.compare("gt", a, w.like(x, end)), w.like(x, end), a)
    part = w.exact("fmul", bounded, w.like(x, factor))
    square = w.exact("fmul", part, bounded)
    lost = w.math("fma", part, bounded, w.negate(square))
    power = exp_within(w, w.negate(square), w.negate(lost))
    centre = w.like(x, _CENTRE[x.kind])
    below = w.exact("fadd", bounded, centre)
    slow = w.polynomial(w.divide(w.exact("fsub", bounded, centre), below), coefficients)
    if x.kind == "float":
        slope = w.like(x, math.sqrt(math.pi / factor))
        return w.divide(power, w.math("fma", slope, bounded, slow))
    return w.exact("fmul", power, w.divide(slow, below))


def _near_zero(w: Writer, x: Value, start: float, coefficients: list[float]) -> Value:
    """`start` and the odd function with some coefficients."""
    slope = w.polynomial(w.exact("fmul", x, x), coefficients)
    return w.math("fma", slope, x, w.like(x, start))


def ndtr(w: Writer, x: Value) -> Value:
    """The distribution function of the normal distribution."""
    y = _tail(w, x, 0.5, _NDTR_END[x.kind], _NDTR[x.kind])
    y = w.choose(w.compare("gt", x, w.like(x, 0.0)), w.exact("fsub", w.like(x, 1.0), y), y)
    if x.kind == "float":
        return y
    near = _near_zero(w, x, 0.5, _NDTR_NEAR)
    return w.choose(w.compare("lt", w.math("fabs", x), w.like(x, 0.7)), near, y)


def erfc(w: Writer, x: Value) -> Value:
    """One minus the error function."""
    y = _tail(w, x, 1.0, _ERFC_END[x.kind], _ERFC[x.kind])
    y = w.choose(w.compare("lt", x, w.like(x, 0.0)), w.exact("fsub", w.like(x, 2.0), y), y)
    near = _near_zero(w, w.negate(x), 1.0, _ERF_NEAR[x.kind])
    return w.choose(w.compare("lt", w.math("fabs", x), w.like(x, 0.4)), near, y)
