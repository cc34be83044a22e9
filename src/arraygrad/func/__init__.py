"""Transforms of functions: derivatives and vectorisation, which compose in any order; and loops.

Derivatives of tensors that have been computed already are in `autograd`.
"""

from ..core.describing import describe as _describe
from .associative import associative_scan
from .collectives import axis_index, pmax, pmean, pmin, psum
from .custom_rules import custom
from .forward import jvp
from .jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from .looking import tap
from .loops import cond, fori_loop, map, scan, switch, while_loop
from .recompute import checkpoint
from .reverse import grad, linear_transpose, linearize, stop_gradient, value_and_grad, vjp
from .shapes import eval_shape
from .sparse import sparsity
from .vectorize import vmap

__all__ = [
    "associative_scan", "axis_index", "checkpoint", "cond", "custom", "eval_shape", "fori_loop",
    "grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jvp", "linear_transpose",
    "linearize", "map", "pmax", "pmean", "pmin", "psum", "scan", "sparsity", "stop_gradient",
    "switch", "tap", "value_and_grad", "vjp", "vmap", "while_loop",
]  # fmt: skip

_LIKE = "structure of arrays | Like"
_describe(
    [globals()[name] for name in __all__],
    {
        "*primals": "any structures | The arguments at which to differentiate.",
        "**vjps": "callables | ``vjp_x=...``: the reverse rule of the input `x`.",
        "argnums": "int, str or tuple of these | The arguments to differentiate by.",
        "axis_name": "hashable | The `axis_name` of a `vmap` around this call.",
        "chunk_size": "int | How many products to compute at once; by default, all.",
        "f": "callable | Takes a slice of `xs`, and returns any structure of arrays.",
        "function": "callable | A function of arrays, or of structures of arrays.",
        "has_aux": "bool | Whether the function returns a pair: its value, and something else.",
        "holomorphic": "bool | Whether complex inputs and results are meant.",
        "sparse": "bool | Whether to return a sparse array of SciPy.",
        "sparsity": "sparse array | Where there can be nonzeros; by default, this is found out.",
        "tree": "any structure | The values.",
        "x": "any structure of arrays and numbers | The values of this member.",
        "xs": "any structure of arrays | Their first axis has the slices.",
    },
    {
        "associative_scan": f"{_LIKE} `xs`: the partial results.",
        "axis_index": "array | An integer, from 0 on.",
        "checkpoint": "callable | Called like `function`.",
        "cond": "structure | What the function returns that was called.",
        "custom": "callable | A decorator for the function.",
        "eval_shape": "structure of `ShapeDtype` | Like the result of `function`.",
        "fori_loop": f"{_LIKE} `init_val`: the last state.",
        "grad": "callable | Called like `function`. It returns a structure like the argument.",
        "linear_transpose": "callable | From a cotangent, a tuple with one for each argument.",
        "map": "structure of arrays | The results, along a new first axis.",
        **dict.fromkeys(("pmax", "pmean", "pmin", "psum"), f"{_LIKE} `x`."),
        "stop_gradient": f"{_LIKE} `tree`.",
        "switch": "structure | What the function returns that was called.",
        "vmap": "callable | Called like `function`, with a new axis in its arguments.",
        "AnyFunction": "callable | Called like `function`. Axes of results come first.",
    },
    {
        name: f"""
>>> import numpy as np
>>> import arraygrad as ag
>>> ag.func.{name}(lambda x: x**2)(np.array([1.0, 2.0]))
array([[2., 0.],
       [0., 4.]])
"""
        for name in ("jacfwd", "jacobian")
    },
)


def __dir__() -> list[str]:
    return __all__
