"""Copies of a tensor itself: `copy`, `deepcopy`, `pickle`; printing; `torch.Tensor(...)`."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from . import creation
from .handles import Tensor, attach, new, remember
from .printing import described


def _attributes(self: Tensor) -> dict[str, Any]:
    """What the user has set, without what a view knows of itself."""
    return {key: v for key, v in self.__dict__.items() if key not in ("_bumps", "_how", "_taken")}


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if id(self) in memo:
        return memo[id(self)]  # type: ignore[no-any-return]
    if not self.is_leaf:
        raise RuntimeError("only leaves can be copied by deepcopy: detach() the tensor first")
    made = new(type(self))
    made._t = copy.deepcopy(self._t, memo)
    memo[id(self)] = made
    made.__dict__.update(copy.deepcopy(_attributes(self), memo))
    if made.requires_grad:
        remember(made)
    return made


def _rebuild(kind: type[Tensor], array: Any, requires_grad: bool, attributes: Any) -> Tensor:
    made = creation.parameter(kind, array, requires_grad)
    made.__dict__.update(attributes)
    return made  # type: ignore[no-any-return]


def _reduce(self: Tensor, protocol: Any = None) -> Any:
    values = np.asarray(self._t.detach().numpy())
    return _rebuild, (type(self), values, self.requires_grad, _attributes(self))


def _shallow(self: Tensor) -> Tensor:
    made = new(type(self))
    made._t = self._t
    made.__dict__.update(_attributes(self))
    return made


attach(
    __copy__=_shallow,
    __deepcopy__=_deepcopy,
    __new__=lambda cls, *args, **keywords: creation.legacy(cls, args),
    __reduce_ex__=_reduce,
    __repr__=described,
)
