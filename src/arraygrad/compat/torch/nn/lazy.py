"""Layers that learn the number of their input's features, or channels, from their first input."""

from __future__ import annotations

from typing import Any

from ..creation import empty
from ..handles import Tensor
from . import layers, norms
from .module import Module
from .parameter import Parameter

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
]  # fmt: skip


class _Lazy(Module):
    """A layer whose parameters are empty until it is first called: then it is one of `_kind`.

    The parameters stay the same objects, so that an optimiser can be made before the first call.
    """

    _kind: Any  # the type of the layer
    _axis: int  # of the input, whose length the layer learns

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__()
        self._given = args, options
        for name, value in self._kind(1, *args, **options)._parameters.items():
            self._parameters[name] = None if value is None else Parameter(empty(0))

    def __call__(self, input: Tensor, *args: Any, **keywords: Any) -> Any:
        given, options = self._given
        made = self._kind(input.shape[self._axis], *given, **{"dtype": input.dtype, **options})
        made.train(self.training)
        for name, value in self._parameters.items():
            if value is not None:
                value.data = made._parameters[name].data
        own = {key: held for key, held in vars(self).items() if isinstance(held, dict)}
        own |= {key: vars(made)[key] for key in ("_buffers", "_modules")}
        self.__class__ = self._kind
        self.__dict__ = {**vars(made), **own}
        return self(input, *args, **keywords)

    def __repr__(self) -> str:
        given, options = self._given
        shown = [*map(repr, given), *(f"{name}={value!r}" for name, value in options.items())]
        return f"{type(self).__name__}({', '.join(shown)})"


def _lazy(kind: Any, axis: int) -> Any:
    members = {"_kind": kind, "_axis": axis, "__doc__": f"`{kind.__name__}`, of any input."}
    return type(f"Lazy{kind.__name__}", (_Lazy,), {**members, "__module__": __name__})


LazyLinear = _lazy(layers.Linear, -1)
LazyConv1d, LazyConv2d, LazyConv3d = (
    _lazy(getattr(layers, f"Conv{n}d"), -1 - n) for n in (1, 2, 3)
)
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy(getattr(layers, f"ConvTranspose{n}d"), -1 - n) for n in (1, 2, 3)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (
    _lazy(getattr(norms, f"BatchNorm{n}d"), 1) for n in (1, 2, 3)
)
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (
    _lazy(getattr(norms, f"InstanceNorm{n}d"), -1 - n) for n in (1, 2, 3)
)
