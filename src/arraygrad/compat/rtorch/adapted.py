"""Functions of `compat.torch` as R has them: dimensions and places count from one.

How each argument is converted is in a table; its words are in `_FORMS`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ...arrays.tensor import Tensor
from .numbers import axes, axis, sizes, whole
from .shapes import from_one

__all__ = ["ADAPTED", "NNF"]


def _spread(dims: Any, ndim: int) -> Any:
    """Of `tensordot`: how many dimensions are summed over, or which of each tensor."""
    if not isinstance(dims, list | tuple):
        return whole(dims, "dims")
    return [list(sizes([[axis(d, ndim) for d in sizes([part])]])) for part in dims]


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _places(index: Any, ndim: int) -> Any:
    from .. import torch  # which takes time to import

    return torch.as_tensor(from_one(index))


_FORMS: dict[str, Callable[[Any, int], Any]] = {
    "dim": axis,
    "dims": lambda value, ndim: axes(value, ndim),
    "new-dim": lambda value, ndim: axis(value, ndim + 1),
    "whole": lambda value, ndim: whole(value, "the argument"),
    "wholes": lambda value, ndim: (
        sizes(value) if isinstance(value, list | tuple) else whole(value, "the argument")
    ),
    "sizes": lambda value, ndim: sizes([value]),
    "widths": lambda value, ndim: (
        value if isinstance(value, str) else sizes([value]) if _is_list(value) else int(value)
    ),
    "summed": _spread,
    "places": _places,
}
# For each function, its arguments: tensors and values as they are (·), or the form of the others.
# A name says that the argument has to be passed by it. After the arrow: the numbers of the results
# that are places.
_TABLE = """
addbmm: · · · beta=· alpha=·
addcdiv: · · · value=·
addcmul: · · · value=·
addmm: · · · beta=· alpha=·
addmv: · · · beta=· alpha=·
addr: · · · beta=· alpha=·
amax: · dims keepdim=·
amin: · dims keepdim=·
angle: ·
baddbmm: · · · beta=· alpha=·
broadcast_to: · sizes
cdist: · · ·
celu: · ·
cosine_similarity: · · dim eps=·
count_nonzero: · dims
cross: · · dim
cummax: · dim -> 1
cummin: · dim -> 1
deg2rad: ·
diag_embed: · whole new-dim new-dim
diagonal: · whole dim dim
diff: · whole dim
dist: · · ·
dstack: ·
hstack: ·
i0: ·
index_add: · dim places ·
index_copy: · dim places ·
index_fill: · dim places ·
isclose: · · rtol=· atol=·
kron: · ·
kthvalue: · whole dim keepdim=· -> 1
logcumsumexp: · dim
matrix_power: · whole
median: · dims keepdim=· -> 1
mode: · dim keepdim=· -> 1
movedim: · dims dims
mvlgamma: · whole
nan_to_num: · nan=· posinf=· neginf=·
nansum: · dims keepdim=·
nonzero: · -> 0
polygamma: whole ·
quantile: · · dims keepdim=·
rad2deg: ·
roll: · wholes dims
rot90: · whole dims
scatter: · dim places ·
scatter_add: · dim places ·
selu: ·
sgn: ·
signbit: ·
std_mean: · dims unbiased=· keepdim=·
take: · places
tensordot: · · summed
tile: · sizes
var_mean: · dims unbiased=· keepdim=·
vdot: · ·
vstack: ·
linalg.eig: ·
linalg.eigh: · UPLO=·
linalg.eigvals: ·
linalg.eigvalsh: · UPLO=·
linalg.lstsq: · ·
linalg.matrix_norm: · ord=· dim=dims keepdim=·
linalg.matrix_power: · whole
linalg.matrix_rank: ·
linalg.multi_dot: ·
linalg.norm: · ord=· dim=dims keepdim=·
linalg.pinv: ·
linalg.qr: · mode=·
linalg.slogdet: ·
linalg.svd: · full_matrices=·
linalg.svdvals: ·
linalg.vector_norm: · ord=· dim=dims keepdim=·
nn.functional.avg_pool2d: · widths stride=widths padding=widths
nn.functional.batch_norm: · running_mean=· running_var=· weight=· bias=· training=· momentum=· eps=·
nn.functional.binary_cross_entropy: · · weight=· reduction=·
nn.functional.binary_cross_entropy_with_logits: · · weight=· reduction=·
nn.functional.celu: · ·
nn.functional.conv1d: · · bias=· stride=widths padding=widths dilation=widths groups=whole
nn.functional.conv2d: · · bias=· stride=widths padding=widths dilation=widths groups=whole
nn.functional.conv3d: · · bias=· stride=widths padding=widths dilation=widths groups=whole
nn.functional.cosine_similarity: · · dim eps=·
nn.functional.cross_entropy: · places weight=· reduction=·
nn.functional.elu: · ·
nn.functional.embedding: places ·
nn.functional.gelu: ·
nn.functional.hardtanh: · · ·
nn.functional.kl_div: · · reduction=·
nn.functional.l1_loss: · · reduction=·
nn.functional.layer_norm: · sizes weight=· bias=· eps=·
nn.functional.leaky_relu: · ·
nn.functional.linear: · · bias=·
nn.functional.logsigmoid: ·
nn.functional.max_pool2d: · widths stride=widths padding=widths
nn.functional.mse_loss: · · reduction=·
nn.functional.nll_loss: · places weight=· reduction=·
nn.functional.normalize: · p=· dim=dim eps=·
nn.functional.one_hot: places whole
nn.functional.relu: ·
nn.functional.relu6: ·
nn.functional.selu: ·
nn.functional.sigmoid: ·
nn.functional.silu: ·
nn.functional.smooth_l1_loss: · · reduction=·
nn.functional.softplus: · ·
nn.functional.softsign: ·
nn.functional.tanh: ·
"""


def _adapted(path: str, row: str) -> Callable[..., Any]:
    arguments, _, results = row.partition("->")
    forms = [word.rpartition("=")[::2] for word in arguments.split()]
    places = tuple(map(int, results.split()))

    def function(*args: Any) -> Any:
        from .. import torch
        from ..torch.handles import unwrap, wrap

        ndim = next((arg.ndim for arg in args if isinstance(arg, Tensor)), 0)
        given: list[Any] = []
        named: dict[str, Any] = {}
        for (name, form), arg in zip(forms, args, strict=False):
            if arg is None:  # NULL, which stands for what the function does by default
                continue
            value = wrap(arg) if form == "·" else _FORMS[form](arg, ndim)
            if name:
                named[name] = value
            else:
                given.append(value)
        found = operator.attrgetter(path)(torch)(*given, **named)
        parts = tuple(map(unwrap, found)) if isinstance(found, tuple | list) else unwrap(found)
        return _counted_from_one(parts, places)

    function.__name__ = path.replace(".", "_")
    return function


def _counted_from_one(found: Any, places: tuple[int, ...]) -> Any:
    """The results, with one added to those that are places."""
    if isinstance(found, tuple):
        return tuple(part + 1 if i in places else part for i, part in enumerate(found))
    return found + 1 if 0 in places else found


_ALL = {
    path: _adapted(path, row)
    for path, row in (line.split(":") for line in _TABLE.strip().splitlines())
}
_NN = "nn.functional."
# The functions `torch_…`, by the names they have after that, and the functions `nnf_…`.
ADAPTED: dict[str, Callable[..., Any]] = {
    path.replace(".", "_"): function for path, function in _ALL.items() if _NN not in path
}
NNF: dict[str, Callable[..., Any]] = {
    f"nnf_{path.removeprefix(_NN)}": function for path, function in _ALL.items() if _NN in path
}
