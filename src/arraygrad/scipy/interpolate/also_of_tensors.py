"""`AlsoOfTensors`: a class of SciPy's that can also be made of tensors and called with tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..twins import Extended, any_arrays


class AlsoOfTensors(metaclass=Extended):
    """A base beside a class of SciPy's. `of_tensors` is the class for tensors.

    Made of plain arrays, an object is SciPy's. It remembers its arguments, so that it can be made
    again of tensors when it is called with them.
    """

    of_tensors: type[Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """An interpolator of tensors if they are among the arguments, else SciPy's object."""
        if any_arrays(args, kwargs):
            return cls.of_tensors(*args, **kwargs)
        return super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._given = _copied(args), {key: _copied(value) for key, value in kwargs.items()}

    def again(self) -> Any:
        """The same object, for tensors."""
        args, kwargs = self._given
        return self.of_tensors(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any_arrays(args, kwargs):
            return self.again()(*args, **kwargs)
        return super().__call__(*args, **kwargs)  # type: ignore[misc]


def _copied(item: Any) -> Any:
    """An argument that does not change if the user writes to an array."""
    if type(item) in (list, tuple):
        return type(item)(map(_copied, item))
    return item.copy() if isinstance(item, np.ndarray) else item
