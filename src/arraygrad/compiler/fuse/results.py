"""The results of a program as values of their own: each is computed in its place, none is a view.

Native code makes new, contiguous arrays for results. So a result that is a view, an argument or a
constant becomes a copy, which is a kernel like any other. The transpose of a product that nobody
else reads becomes the product of the transposed matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..llvm.vectors import TYPES
from ..lower.core import COPY, Builder, Core, Elements, Product, Reduction, Stored, View, is_whole
from ..trace.program import Call, Node, Result
from .fusion import base_of


def own_results(
    outputs: Sequence[Core],
    others: Sequence[Core],
    builder: Builder,
    lowered: Mapping[Node, Core],
) -> list[Core]:
    """The outputs of a program as values of their own; `others` are read, too."""
    readers = _readers([*outputs, *others], lowered)
    for x in (*outputs, *others):
        readers.setdefault(x, []).append(None)
    found = []
    for x in outputs:
        base = base_of(x)
        is_plain = isinstance(base, Elements | Reduction | Product)
        is_by_numpy = isinstance(base, Stored) and isinstance(base.node, Call | Result)
        is_own = is_plain and (x is base or is_whole(x))
        if is_own or is_by_numpy or x.dtype not in TYPES or not x.size:
            found.append(x)
        elif _is_transposed_product(x) and len(readers[base]) == 1:
            a, b = (_transposed(builder, y) for y in base.args)
            found.append(builder.product(b, a))
        else:
            found.append(builder.elements(COPY, [x], x.dtype))
    return found


def _readers(roots: Iterable[Core], lowered: Mapping[Node, Core]) -> dict[Core, list[Core | None]]:
    """For each value, those that are computed from it."""
    found: dict[Core, list[Core | None]] = {}
    rest, seen = list(roots), set[Core]()
    while rest:
        x = rest.pop()
        if x in seen:
            continue
        seen.add(x)
        args = list(x.args)
        if isinstance(x, Stored):
            args += [lowered[node] for node in x.node.nodes if node in lowered]
        for a in args:
            found.setdefault(a, []).append(x)
        rest += args
    return found


def _is_transposed_product(x: Core) -> bool:
    """Whether a value is a product with its last two axes exchanged."""
    if not isinstance(x, View) or type(x.args[0]) is not Product:
        return False
    *batch, m, n = x.args[0].shape
    return x.shape == (*batch, n, m) and x.map == _turned_map(x.args[0].shape)


def _transposed(builder: Builder, x: Core) -> Core:
    shape = (*x.shape[:-2], x.shape[-1], x.shape[-2])
    return builder.view(x, shape, _turned_map(x.shape))


def _turned_map(shape: tuple[int, ...]) -> tuple[tuple[int | None, int, int], ...]:
    last = len(shape) - 1
    order = [*range(last - 1), last, last - 1]
    return tuple((None, 0, 0) if n == 1 else (order[i], 0, 1) for i, n in enumerate(shape))
