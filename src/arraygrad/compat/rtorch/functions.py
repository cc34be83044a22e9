"""The functions `torch_…` and `nnf_…` of R: those of `compat.torch`, by a table.

In R, dimensions and places count from one, and numbers may arrive as floats. In R, each function
`torch_…` is a method of tensors as well: `torch_sum(x)` is `x$sum()`.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator
from typing import Any

from ... import nn, ops
from ...arrays.tensor import Tensor
from .numbers import axes, axis, dtype_of, from_one, sizes, whole

__all__ = ["FUNCTIONS", "NNF", "in_place", "load", "recurrent", "save"]


First = Tensor | None  # the first tensor among the arguments


def _ndim(first: First) -> int:
    return 0 if first is None else first.ndim


def _dim(value: Any, first: First) -> Any:
    """An axis; a tensor in its place, as in `torch_max(x, y)`, stays one."""
    tensor = isinstance(value, Tensor)
    return _tensors(value, first) if tensor else axis(value, max(_ndim(first), 1))


def _tensors(value: Any, first: First) -> Any:
    from ..torch.handles import wrap  # which takes time to import

    return wrap(value)


def _operand(value: Any, first: First) -> Any:
    """A number as a tensor, for functions that take tensors only."""
    from .. import torch

    if not isinstance(value, bool | int | float | complex):
        return _tensors(value, first)
    return torch.as_tensor(value, dtype=torch.result_type(value, _tensors(first, first)))


def _places(index: Any, first: First) -> Any:
    from .. import torch

    return torch.as_tensor(from_one(index))


def _summed(dims: Any, first: First) -> Any:
    """Of `tensordot`: how many dimensions are summed over, or which of each tensor."""
    if not isinstance(dims, list | tuple):
        return whole(dims, "dims")
    return [[axis(d, _ndim(first)) for d in sizes([part])] for part in dims]


def _widths(value: Any, first: First) -> Any:
    if isinstance(value, str):
        return value
    return sizes([value]) if isinstance(value, list | tuple) else int(value)


# How an argument is converted, given the first tensor among all.
_FORMS: dict[str, Callable[[Any, First], Any]] = {
    "·": _tensors,
    "dim": _dim,
    "dims": lambda value, first: axes(value, max(_ndim(first), 1)),
    "dtype": lambda value, first: dtype_of(value),
    "new-dim": lambda value, first: axis(value, _ndim(first) + 1),
    "operand": _operand,
    "place": lambda value, first: int(from_one(whole(value, "the place"))),
    "places": _places,
    "sizes": lambda value, first: sizes([value]),
    "summed": _summed,
    "whole": lambda value, first: whole(value, "the argument"),
    "wholes": lambda value, first: (
        sizes(value) if isinstance(value, list | tuple) else whole(value, "the argument")
    ),
    "widths": _widths,
}
# The functions, then the forms of their arguments. A tensor, or a value as it is, is "·". A name
# says that the argument has to be passed by it. A star takes the rest of the arguments. After the
# arrow: the numbers of the results that are places.
_TABLE = """
abs acos acosh angle asin asinh atan atanh bernoulli bitwise_not ceil clone conj cos cosh: ·
deg2rad detach digamma dstack erf erfc erfinv exp exp2 expm1 floor frac hstack i0 imag: ·
isfinite isinf isnan lgamma log log10 log1p log2 logical_not logit neg rad2deg real: ·
reciprocal relu rsqrt selu sgn sigmoid sign signbit sin sinh sqrt square t tan tanh: ·
trace trunc vstack: ·
bmm celu complex div dot einsum equal expand_as floor_divide kron masked_select matmul: · ·
mm mul mv outer pow remainder vdot: · ·
atan2 bitwise_and bitwise_or bitwise_xor copysign eq fmax fmin fmod ge gt: operand operand
heaviside hypot le logaddexp logaddexp2 logical_and logical_or logical_xor: operand operand
lt maximum minimum ne xlogy: operand operand
cdist dist lerp masked_fill where: · · ·
add sub: · · alpha=·
addbmm addmm addmv addr baddbmm: · · · beta=· alpha=·
addcdiv addcmul: · · · value=·
all amax amin any logsumexp nansum: · dims keepdim=·
allclose isclose: · · rtol=· atol=·
argmax argmin: · dim keepdim=· -> 0
argsort: · dim descending=· -> 0
broadcast_to tile: · sizes
cat unbind: · dim
chunk: · whole dim
clamp: · min=· max=·
cosine_similarity: · · dim eps=·
count_nonzero: · dims
cross: · · dim
cummax cummin: · dim -> 1
cumprod cumsum log_softmax logcumsumexp softmax squeeze: · dim
diag tril triu mvlgamma matrix_power: · whole
diag_embed: · whole new-dim new-dim
diagonal: · whole dim dim
diff: · whole dim
expand repeat reshape view: · *sizes
flatten transpose: · dim dim
flip: · dims=dims
gather index_select: · dim places
index_add index_copy index_fill scatter scatter_add: · dim places ·
kthvalue: · whole dim keepdim=· -> 1
max min: · dim keepdim=· other=· -> 1
mean prod sum: · dims keepdim=· dtype=dtype
median: · dims keepdim=· -> 1
mode: · dim keepdim=· -> 1
movedim: · dims dims
multinomial: · whole · -> 0
nan_to_num: · nan=· posinf=· neginf=·
narrow: · dim place whole
nonzero: · -> 0
norm: · p=· dim=dims keepdim=·
normal: · · sizes
permute: · *dims
polygamma: whole ·
quantile: · · dims keepdim=·
roll: · wholes dims
rot90: · whole dims
round: · decimals=whole
select: · dim place
sort: · dim descending=· -> 1
split: · wholes dim
stack: · new-dim
std std_mean var var_mean: · dims unbiased=· keepdim=·
take: · places
tensordot: · · summed
topk: · whole dim largest=· -> 1
unsqueeze: · new-dim
empty ones rand randn zeros: *sizes dtype=dtype requires_grad=·
empty_like ones_like rand_like randn_like zeros_like: · dtype=dtype requires_grad=·
eye: whole whole dtype=dtype requires_grad=·
full: sizes · dtype=dtype requires_grad=·
full_like: · · dtype=dtype requires_grad=·
linspace: · · whole dtype=dtype requires_grad=·
logspace: · · whole base=· dtype=dtype requires_grad=·
randperm: whole -> 0
linalg.cholesky linalg.det linalg.eig linalg.eigvals linalg.inv linalg.matrix_rank: ·
linalg.multi_dot linalg.pinv linalg.slogdet linalg.svdvals: ·
linalg.eigh linalg.eigvalsh: · UPLO=·
linalg.lstsq linalg.solve: · ·
linalg.matrix_norm linalg.norm linalg.vector_norm: · ord=· dim=dims keepdim=·
linalg.matrix_power: · whole
linalg.qr: · mode=·
linalg.svd: · full_matrices=·
nn.functional.avg_pool2d nn.functional.max_pool2d: · widths stride=widths padding=widths
nn.functional.batch_norm: · running_mean=· running_var=· weight=· bias=· training=· momentum=· eps=·
nn.functional.binary_cross_entropy: · · weight=· reduction=·
nn.functional.binary_cross_entropy_with_logits: · · weight=· reduction=·
nn.functional.celu nn.functional.elu nn.functional.leaky_relu nn.functional.softplus: · ·
nn.functional.conv1d: · · bias=· stride=widths padding=widths dilation=widths groups=whole
nn.functional.conv2d: · · bias=· stride=widths padding=widths dilation=widths groups=whole
nn.functional.conv3d: · · bias=· stride=widths padding=widths dilation=widths groups=whole
nn.functional.cosine_similarity: · · dim eps=·
nn.functional.cross_entropy nn.functional.nll_loss: · places weight=· reduction=·
nn.functional.dropout: · p=· training=·
nn.functional.embedding: places ·
nn.functional.gelu nn.functional.logsigmoid nn.functional.relu nn.functional.relu6: ·
nn.functional.selu nn.functional.sigmoid nn.functional.silu nn.functional.softsign: ·
nn.functional.tanh: ·
nn.functional.hardtanh: · · ·
nn.functional.kl_div nn.functional.l1_loss nn.functional.mse_loss: · · reduction=·
nn.functional.smooth_l1_loss: · · reduction=·
nn.functional.layer_norm: · sizes weight=· bias=· eps=·
nn.functional.linear: · · bias=·
nn.functional.normalize: · p=· dim=dim eps=·
nn.functional.one_hot: places whole
"""


def _first(args: Any) -> First:
    """The first tensor, which may be in a list."""
    flat = (x for arg in args for x in (arg if isinstance(arg, list | tuple) else [arg]))
    return next((x for x in flat if isinstance(x, Tensor)), None)


def _adapted(path: str, forms: list[str], places: tuple[int, ...]) -> Callable[..., Any]:
    named = dict(word.split("=") for word in forms if "=" in word)

    def arguments(args: tuple[Any, ...], first: First) -> Iterator[tuple[str, Any]]:
        rest = iter(args)
        for word in forms:
            if word.startswith("*"):  # `2, 3` or `c(2, 3)`
                given = [n for a in rest for n in (a if isinstance(a, list | tuple) else [a])]
                yield "", _FORMS[word[1:]](given, first)
                continue
            name, _, form = word.rpartition("=")
            arg = next(rest, None)
            if arg is not None:  # NULL stands for what the function does by default
                yield name, _FORMS[form](arg, first)

    def function(*args: Any, **keywords: Any) -> Any:
        from .. import torch
        from ..torch.handles import unwrap

        first = _first(args)
        pairs = list(arguments(args, first))
        by_name = {name: value for name, value in pairs if name}
        target = operator.attrgetter(path)(torch)
        for name, value in keywords.items():
            if value is not None:
                own = list(inspect.signature(target).parameters)
                form = named[name] if name in named else forms[own.index(name)]
                by_name[name] = _FORMS[form](value, first)
        found = target(*(v for n, v in pairs if not n), **by_name)
        if not isinstance(found, tuple | list):
            result = unwrap(found)
            return result + 1 if places == (0,) else result
        return tuple(part + 1 if i in places else part for i, part in enumerate(map(unwrap, found)))

    function.__name__ = path.replace(".", "_")
    return function


def _rows() -> Iterator[tuple[str, Callable[..., Any]]]:
    for line in _TABLE.strip().splitlines():
        paths, _, row = line.partition(":")
        forms, _, results = row.partition("->")
        places = tuple(map(int, results.split()))
        for path in paths.split():
            yield path, _adapted(path, forms.split(), places)


_NN = "nn.functional."
NNF = {f"nnf_{path.removeprefix(_NN)}": made for path, made in _rows() if _NN in path}
# By the names they have after `torch_`.
FUNCTIONS = {path.replace(".", "_"): made for path, made in _rows() if _NN not in path}


def _to(self: Tensor, dtype: Any = None) -> Tensor:
    """The tensor in another dtype."""
    return self if dtype is None else ops.astype(self, dtype_of(dtype))


FUNCTIONS["to"] = _to


def in_place(self: Tensor, name: str, *args: Any, **keywords: Any) -> Tensor:
    """Write the result of a function to its first tensor: `x$exp_()`, `x$add_(1)`."""
    if name not in FUNCTIONS:
        raise AttributeError(f"tensors have no method {name}_")
    result = FUNCTIONS[name](self, *args, **keywords)
    if not isinstance(result, Tensor) or result.shape != self.shape:
        raise RuntimeError(
            f"{name}_() cannot write its result in place: it must have the shape of the tensor"
        )
    return self.copy_(result)


def recurrent(
    kind: str,
    input: Tensor,
    weights: Any,
    state: Any,
    bidirectional: bool,
    batch_first: bool,
    dropout: float,
) -> Any:
    """A recurrent network of a kind, "rnn", "gru" or "lstm", over a sequence."""
    from ..torch.nn.forms import Source

    options = {"bidirectional": bidirectional, "batch_first": batch_first, "dropout": dropout}
    state = tuple(state) if isinstance(state, list) else state
    return getattr(nn, kind)(input, weights, state, **options, key=Source)


def save(obj: Any, names: list[str], path: str) -> None:
    """Write a tensor, or a list of tensors with their names, to a file."""
    from .. import torch

    value = _tensors(obj, None)
    torch.save(dict(zip(names, value, strict=True)) if names else value, path)


def load(path: str) -> tuple[Any, list[str]]:
    """What `save` wrote: a tensor, or a list, and the names."""
    from .. import torch
    from ..torch.handles import unwrap

    found = torch.load(path)
    if isinstance(found, dict):
        return [unwrap(value) for value in found.values()], list(found)
    return unwrap(found), []
