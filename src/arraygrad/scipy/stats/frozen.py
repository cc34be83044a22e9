"""Distributions with fixed parameters, some of which are tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import plain
from ..twins import any_arrays


class Frozen:
    """A distribution with fixed parameters.

    Parameters
    ----------
    parent : object
        The distribution, whose methods take the parameters.
    frozen : object or None
        SciPy's distribution with the same parameters; None if there are tensors among them.
    args, kwargs
        The parameters.
    """

    def __init__(
        self, parent: Any, frozen: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.dist, self._scipy, self.args, self.kwds = parent, frozen, args, kwargs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._scipy is None:
            return self._of_tensors(name)
        own = getattr(self._scipy, name)
        if name not in _OF_POINTS or not callable(own):
            return own
        return lambda *args, **kwargs: (
            self._of_tensors(name) if any_arrays(args, kwargs) else own
        )(*args, **kwargs)

    def _of_tensors(self, name: str) -> Any:
        found = getattr(self.dist, name)
        if name in _OF_POINTS:
            return lambda x: found(x, *self.args, **self.kwds)
        if name == "interval":
            return lambda confidence=None: found(confidence, *self.args, **self.kwds)
        if name in _OF_PARAMETERS:
            return lambda **options: found(*self.args, **options, **self.kwds)
        if name == "rvs":
            return lambda size=None, random_state=None: found(
                *self.args, **self.kwds, size=size, random_state=random_state
            )
        raise NotImplementedError(f"{name} of a distribution with tensors has no derivative here")


_OF_POINTS = set("pdf logpdf pmf logpmf cdf sf logcdf logsf ppf isf".split())
_OF_PARAMETERS = set("mean median var std entropy cov support stats".split())


def no_batch(values: Any) -> None:
    """Raise if parameters are batches: random numbers need their values."""
    if any(np.ndim(plain(v)) > np.ndim(v) for v in values):
        raise NotImplementedError("rvs needs the values of parameters: call it outside vmap")
