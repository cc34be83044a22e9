"""sorix: tensors on NumPy arrays, `grad` that returns a tuple and keeps the graph.

Two differences are intended. A graph that was freed cannot be differentiated again: here that is an
error, and sorix gives wrong numbers. And nothing is recursive, so long chains of ops work.

>>> import arraygrad.compat.sorix as sorix
>>> x = sorix.tensor([1.0, 2.0], requires_grad=True)
>>> sorix.grad((x**3).sum(), x)
(tensor([ 3., 12.]),)
>>> x.data
array([1., 2.], dtype=float32)
"""

from . import autograd, nn, optim
from .autograd import grad
from .functions import (  # type: ignore[attr-defined]
    abs,
    add,
    arange,
    argmax,
    argmin,
    as_tensor,
    cat,
    ceil,
    chunk,
    clamp,
    cos,
    diag,
    div,
    empty,
    empty_like,
    exp,
    eye,
    flatten,
    floor,
    from_numpy,
    full,
    full_like,
    gather,
    linspace,
    load,
    log,
    logspace,
    manual_seed,
    matmul,
    mean,
    mul,
    ones,
    ones_like,
    permute,
    pow,
    rand,
    randint,
    randn,
    randperm,
    repeat,
    reshape,
    round,
    save,
    sigmoid,
    sign,
    sin,
    softmax,
    split,
    sqrt,
    squeeze,
    stack,
    sub,
    sum,
    t,
    tanh,
    transpose,
    unbind,
    unsqueeze,
    where,
    zeros,
    zeros_like,
)
from .tensor import Device as device  # noqa: N813  (sorix has this name)
from .tensor import (
    Tensor,
    bool_,
    float16,
    float32,
    float64,
    get_xp,
    int16,
    int32,
    int64,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    tensor,
    uint8,
)

float, double, half = float32, float64, float16
int, long, short, byte, bool = int32, int64, int16, uint8, bool_

__all__ = [
    "Tensor", "abs", "add", "arange", "argmax", "argmin", "as_tensor", "autograd", "bool", "bool_",
    "byte", "cat", "ceil", "chunk", "clamp", "cos", "device", "diag", "div", "double", "empty",
    "empty_like", "exp", "eye", "flatten", "float", "float16", "float32", "float64", "floor",
    "from_numpy", "full", "full_like", "gather", "get_xp", "grad", "half", "int", "int16", "int32",
    "int64", "is_grad_enabled", "linspace", "load", "log", "logspace", "long", "manual_seed",
    "matmul", "mean", "mul", "nn", "no_grad", "ones", "ones_like", "optim", "permute", "pow",
    "rand", "randint", "randn", "randperm", "repeat", "reshape", "round", "save",
    "set_grad_enabled", "short", "sigmoid", "sign", "sin", "softmax", "split", "sqrt", "squeeze",
    "stack", "sub", "sum", "t", "tanh", "tensor", "transpose", "uint8", "unbind", "unsqueeze",
    "where", "zeros", "zeros_like",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
