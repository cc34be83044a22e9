"""What docstrings of ops leave to tables: the parameters, the results, and points as examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.describing import ARRAY
from ..core.describing import describe as by_tables

PARAMETERS = {
    "*arrays": "arrays | Any number of arrays.",
    "*arrays_and_dtypes": "arrays, dtypes and numbers | What the result is made of.",
    "*operands": "arrays | The arrays that the subscripts name.",
    "*shapes": "tuples of int | Any number of shapes.",
    "a": "array | The first operand.",
    "arrays": "sequence of arrays | The arrays to join.",
    "axes": "tuple of int | The axes to work along; all axes by default.",
    "axis": "int | The axis to work along; negative ones count from the last axis.",
    "axis1": "int | The first axis of the plane.",
    "axis2": "int | The second axis of the plane.",
    "axis: Axis": "int or tuple of int | The axes to work along; all axes by default.",
    "axis: int | None": "int | The axis to work along; by default, the array is flattened first.",
    "b": "array | The second operand.",
    "bins": "int or array | The edges of the bins; for an int, so many bins of equal width.",
    "condition": "array of bool | Where to take the elements of `x`.",
    "copy": "bool | Whether to copy even where this is not needed.",
    "copy: bool | None": "bool | True always copies, False never; by default, where it is needed.",
    "correction": "float | The variance has ``n - correction`` in its denominator.",
    "d": "float | The distance of the samples.",
    "density": "bool | Whether to divide by the number of elements and the widths of the bins.",
    "descending": "bool | Whether the largest element comes first.",
    "destination": "int or tuple of int | Where these axes go.",
    "device": "device | By default, that of `x`; without `x`, the default device of the library.",
    "dfd": "array or number | The degrees of freedom of the denominator.",
    "dfn": "array or number | The degrees of freedom of the numerator.",
    "dtype": "dtype | By default, it follows from the other arguments.",
    "end_axis": "int | The last axis to merge.",
    "endpoint": "bool | Whether `stop` is the last value.",
    "fill_value": "number | The value of all elements.",
    "from_": "dtype or array | What is to be converted.",
    "h": "array or number | The value at zero.",
    "include_initial": "bool | Whether the result begins with that of no elements: zero or one.",
    "indices": "array of int | Which elements to read.",
    "indices_or_sections": "int or sequence of int | The number of parts, or where they start.",
    "invert": "bool | Whether to find the elements that are not in `x2`.",
    "k": "int | The diagonal: 0 for the main one, above zero for one above it.",
    "keepdims": "bool | Whether the reduced axes stay, with length one.",
    "kind": 'str, dtype or tuple | A kind of the standard, such as "real floating"; or several.',
    "length": "int | The length of the result.",
    "max": "array or number | The upper bound; none by default.",
    "method": "str | How to interpolate; see `quantile`.",
    "min": "array or number | The lower bound; none by default.",
    "minlength": "int | The result has at least this length.",
    "mode": 'str | "full", "same" or "valid": which part of the result; see `convolve`.',
    "n": "int | The length of the result; by default, that of the axis.",
    "n_cols": "int | The number of columns; by default, as many as rows.",
    "n_rows": "int | The number of rows.",
    "nan": "float | What takes the place of NaN.",
    "neginf": "float | What takes the place of minus infinity; by default, the lowest number.",
    "norm": '"backward", "ortho" or "forward" | Where to divide: inverse, both by a root, forward.',
    "num": "int | The number of values.",
    "number": "int | The number of threads.",
    "offset": "int | The diagonal: 0 for the main one, above zero for one above it.",
    "posinf": "float | What takes the place of infinity; by default, the largest number.",
    "q": "number or array | The parts; the axes of an array come first in the result.",
    "range": "tuple of two numbers | The outermost edges; by default, the ends of the data.",
    "repeats": "int or array of int | How often to repeat all elements, or each of them.",
    "repetitions": "int or tuple of int | How often to repeat the array along each axis.",
    "right": "bool | Whether a bin contains its right edge.",
    "rowvar": "bool | Whether the rows are the variables; otherwise, the columns are.",
    "rtol": "number | What is smaller than this share of the largest one counts as zero.",
    "s": "tuple of int | The lengths of the result; by default, those of the axes.",
    "shape": "int or tuple of int | The shape of the result.",
    "shift": "int or tuple of int | By how many places.",
    "source": "int or tuple of int | Which axes to move.",
    "stable": "bool | Whether equal elements keep their order.",
    "start": "number | The first value; the end, if there is no `stop`.",
    "start_axis": "int | The first axis to merge.",
    "step": "number | The distance of neighbours.",
    "stop": "number | The end.",
    "stream": "None | Streams are not supported.",
    "subscripts": 'str | The letters of the axes, as in "ij,jk->ik".',
    "to": "dtype | What it is to be converted to.",
    "type": "dtype or array | The dtype in question.",
    "v": "array | The second operand.",
    "weights": "array | The weights of the elements.",
    "x": "array | The input.",
    "x1": "array | The first operand.",
    "x2": "array | The second operand.",
    "y": "array or number | The second operand; both are broadcast.",
}
RETURNS = {
    "Any": ARRAY,
    "Tensor": "Tensor",
    "list[Any]": "list of arrays | The parts.",
    "tuple[Any, ...]": "tuple of arrays | Of the library of the arguments; tensors for tensors.",
    "tuple[Any, Any]": "tuple of two arrays | The counts, and the edges.",
    "builtins.bool": "bool",
}

# The name, the points, the results there, and the gradient of their sum by each input.
_POINTS = """abs | [-2.0, 0.0, 3.0] | [2., 0., 3.] | [-1., 0., 1.]
acos | [0.0, 0.5] | [1.57079633, 1.04719755] | [-1. , -1.15470054]
acosh | [1.25, 2.0] | [0.69314718, 1.3169579 ] | [1.33333333, 0.57735027]
add | [1.0, 2.0]; [3.0, 5.0] | [4., 7.] | [1., 1.]; [1., 1.]
angle | [1 + 1j, -2.0] | [0.78539816, 3.14159265] | [-0.5+0.5j, 0. -0.5j]
asin | [0.0, 0.5] | [0. , 0.52359878] | [1. , 1.15470054]
asinh | [0.0, 0.75] | [0. , 0.69314718] | [1. , 0.8]
atan | [0.0, 1.0] | [0. , 0.78539816] | [1. , 0.5]
atan2 | [0.0, 1.0]; [0.0, 1.0] | [0. , 0.78539816] | [0. , 0.5]; [-0. , -0.5]
atanh | [0.0, 0.5] | [0. , 0.54930614] | [1. , 1.33333333]
betaln | [2.0]; [1.0] | [-0.69314718] | [-0.5]; [-1.5]
bitwise_and | [5, 6]; [4, 3] | [4, 2]
bitwise_invert | [0, 5] | [-1, -6]
bitwise_left_shift | [1, 5]; [2, 1] | [ 4, 10]
bitwise_or | [5, 6]; [4, 3] | [5, 7]
bitwise_right_shift | [4, 5]; [2, 1] | [1, 2]
bitwise_xor | [5, 6]; [4, 3] | [1, 5]
cbrt | [8.0, -1.0] | [ 2., -1.] | [0.08333333, 0.33333333]
ceil | [0.5, 2.0] | [1., 2.] | [0., 0.]
conj | [1 + 2j] | [1.-2.j]
copy | [1.0, 2.0] | [1., 2.] | [1., 1.]
copysign | [-3.0, 0.0]; [1.0, -1.0] | [ 3., -0.] | [-1., 0.]; [0., 0.]
cos | [0.0, 1.0] | [1. , 0.54030231] | [-0. , -0.84147098]
cosh | [0.0, 1.0] | [1. , 1.54308063] | [0. , 1.17520119]
digamma | [1.0, 2.0] | [-0.57721566, 0.42278434] | [1.64493407, 0.64493407]
divide | [1.0, 6.0]; [2.0, 4.0] | [0.5, 1.5] | [0.5 , 0.25]; [-0.25 , -0.375]
entr | [0.5, 1.0] | [ 0.34657359, -0. ] | [-0.30685282, -1. ]
equal | [1.0, 2.0]; [1.0, 3.0] | [ True, False]
erf | [0.0, 1.0] | [0. , 0.84270079] | [1.12837917, 0.4151075 ]
erfc | [0.0, 1.0] | [1. , 0.15729921] | [-1.12837917, -0.4151075 ]
erfinv | [0.0, 0.5] | [0. , 0.47693628] | [0.88622693, 1.11258482]
exp | [0.0, 1.0] | [1. , 2.71828183] | [1. , 2.71828183]
exp1 | [1.0, 2.0] | [0.21938393, 0.04890051] | [-0.36787944, -0.06766764]
exp2 | [0.0, 3.0] | [1., 8.] | [0.69314718, 5.54517744]
expi | [1.0, 2.0] | [1.89511782, 4.95423436] | [2.71828183, 3.69452805]
expit | [0.0, 2.0] | [0.5 , 0.88079708] | [0.25 , 0.10499359]
expm1 | [0.0, 1e-20] | [0.e+00, 1.e-20] | [1., 1.]
floor | [0.5, 2.0] | [0., 2.] | [0., 0.]
floor_divide | [7.0, -7.0]; [2.0, 2.0] | [ 3., -4.] | [0., 0.]; [0., 0.]
fmod | [7.0, -7.0]; [4.0, 4.0] | [ 3., -3.] | [1., 1.]; [-1., 1.]
gamma | [0.5, 4.0] | [1.77245385, 6. ] | [-3.48023091, 7.53670601]
gammainc | [1.0]; [1.0] | [0.63212056] | [-0.43172971]; [0.36787944]
gammaincc | [1.0]; [1.0] | [0.36787944] | [0.43172971]; [-0.36787944]
gammaln | [0.5, 4.0] | [0.57236494, 1.79175947] | [-1.96351003, 1.25611767]
greater | [1.0, 2.0]; [1.0, 1.0] | [False, True]
greater_equal | [1.0, 2.0]; [1.0, 3.0] | [ True, False]
hypot | [3.0, 0.0]; [4.0, 2.0] | [5., 2.] | [0.6, 0. ]; [0.8, 1. ]
i0 | [0.0, 1.0] | [1. , 1.26606588] | [0. , 0.5651591]
i0e | [0.0, 1.0] | [1. , 0.46575961] | [ 0. , -0.25784919]
i1 | [0.0, 1.0] | [0. , 0.5651591] | [0.5 , 0.70090677]
i1e | [0.0, 1.0] | [0. , 0.20791042] | [0.5 , 0.04993878]
imag | [1 + 2j] | [2.] | [0.+1.j]
isfinite | [1.0, ag.inf, ag.nan] | [ True, False, False]
isinf | [1.0, -ag.inf, ag.nan] | [False, True, False]
isnan | [1.0, ag.inf, ag.nan] | [False, False, True]
kl_div | [1.0, 2.0]; [1.0, 1.0] | [0. , 0.38629436] | [0. , 0.69314718]; [ 0., -1.]
less | [1.0, 2.0]; [1.0, 3.0] | [False, True]
less_equal | [1.0, 2.0]; [1.0, 1.0] | [ True, False]
log | [1.0, 2.0] | [0. , 0.69314718] | [1. , 0.5]
log10 | [1.0, 100.0] | [0., 2.] | [0.43429448, 0.00434294]
log1p | [0.0, 1e-20] | [0.e+00, 1.e-20] | [1., 1.]
log2 | [1.0, 8.0] | [0., 3.] | [1.44269504, 0.18033688]
log_expit | [0.0, -2.0] | [-0.69314718, -2.12692801] | [0.5 , 0.88079708]
log_ndtr | [0.0, -20.0] | [ -0.69314718, -203.91715537] | [ 0.79788456, 20.04975307]
logaddexp | [0.0]; [0.0] | [0.69314718] | [0.5]; [0.5]
logical_and | [True, True]; [True, False] | [ True, False]
logical_not | [True, False] | [False, True]
logical_or | [True, False]; [False, False] | [ True, False]
logical_xor | [True, True]; [True, False] | [False, True]
logit | [0.5, 0.75] | [0. , 1.09861229] | [4. , 5.33333333]
matmul | [1.0, 2.0]; [3.0, 5.0] | 13. | [3., 5.]; [1., 2.]
maximum | [1.0, 2.0]; [3.0, 2.0] | [3., 2.] | [0. , 0.5]; [1. , 0.5]
minimum | [1.0, 2.0]; [3.0, 2.0] | [1., 2.] | [1. , 0.5]; [0. , 0.5]
multiply | [1.0, 2.0]; [3.0, 5.0] | [ 3., 10.] | [3., 5.]; [1., 2.]
ndtr | [0.0, 2.0] | [0.5 , 0.97724987] | [0.39894228, 0.05399097]
ndtri | [0.5, 0.975] | [0. , 1.95996398] | [ 2.50662827, 17.11008308]
negative | [1.0, -2.0] | [-1., 2.] | [-1., -1.]
nextafter | [1.0]; [2.0] | [1.] | [1.]; [0.]
not_equal | [1.0, 2.0]; [1.0, 3.0] | [False, True]
positive | [1.0, -2.0] | [ 1., -2.] | [1., 1.]
pow | [2.0, 0.0]; [3.0, 0.0] | [8., 1.] | [12., 0.]; [5.54517744, 0. ]
real | [1 + 2j] | [1.] | [1.+0.j]
reciprocal | [2.0, -4.0] | [ 0.5 , -0.25] | [-0.25 , -0.0625]
rel_entr | [1.0, 3.0]; [1.0, 3.0] | [0., 0.] | [1., 1.]; [-1., -1.]
remainder | [7.0, -7.0]; [4.0, 4.0] | [3., 1.] | [1., 1.]; [-1., 2.]
round | [0.5, 1.5, 2.6] | [0., 2., 3.] | [0., 0., 0.]
sign | [-2.0, 0.0, 3.0] | [-1., 0., 1.] | [0., 0., 0.]
signbit | [0.0, -0.0, -2.0] | [False, True, True]
sin | [0.0, 1.0] | [0. , 0.84147098] | [1. , 0.54030231]
sinc | [0.0, 0.5] | [1. , 0.63661977] | [-0. , -1.27323954]
sinh | [0.0, 1.0] | [0. , 1.17520119] | [1. , 1.54308063]
softplus | [0.0, 2.0] | [0.69314718, 2.12692801] | [0.5 , 0.88079708]
sqrt | [1.0, 4.0] | [1., 2.] | [0.5 , 0.25]
square | [1.0, -3.0] | [1., 9.] | [ 2., -6.]
subtract | [1.0, 2.0]; [3.0, 5.0] | [-2., -3.] | [1., 1.]; [-1., -1.]
tan | [0.0, 1.0] | [0. , 1.55740772] | [1. , 3.42551882]
tanh | [0.0, 1.0] | [0. , 0.76159416] | [1. , 0.41997434]
trunc | [-1.5, 1.5] | [-1., 1.] | [0., 0.]
xlog1py | [0.0, 2.0]; [1.0, 1.0] | [0. , 1.38629436] | [0.69314718, 0.69314718]; [0., 1.]
xlogy | [0.0, 2.0]; [1.0, 1.0] | [0., 0.] | [0., 0.]; [0., 2.]
"""


def describe(functions: Iterable[Any], namespace: str) -> None:
    """Complete the docstrings of a namespace's functions."""
    by_tables(functions, PARAMETERS, RETURNS, _examples(namespace))


def _examples(namespace: str) -> dict[str, str]:
    """Doctests from the points, for functions of a namespace."""
    found = {}
    for row in _POINTS.strip().splitlines():
        name, points, result, *gradient = row.split(" | ")
        keeps = ", requires_grad=True" if gradient else ""
        inputs = [f"ag.tensor({point}{keeps})" for point in points.split("; ")]
        letters = "x, y"[: 3 * len(inputs) - 2]
        call = f"{namespace}.{name}({letters})"
        lines = [f">>> {letter} = {text}" for letter, text in zip("xy", inputs, strict=False)]
        lines += [f">>> {call}{'.detach()' if gradient else ''}", f"tensor({result})"]
        if gradient:
            tensors = ", ".join(f"tensor({part})" for part in gradient[0].split("; "))
            both = len(inputs) == 2
            lines.append(f">>> ag.grad({call}.sum(), {f'[{letters}]' if both else letters})")
            lines.append(f"({tensors})" if both else tensors)
        found[name] = "\n".join(lines)
    return found
