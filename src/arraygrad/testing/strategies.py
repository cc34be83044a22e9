"""Strategies for hypothesis, which tries a function on many inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays.creation import tensor
from ..arrays.tensor import Tensor

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def tensors(
    shape: Any = None,
    *,
    dtype: Any = np.float64,
    min_value: float = -10.0,
    max_value: float = 10.0,
    unique: bool = False,
    requires_grad: bool = True,
) -> SearchStrategy[Tensor]:
    """A strategy of hypothesis that makes tensors, for tests such as `gradcheck` of any input.

    Parameters
    ----------
    shape : tuple, int or strategy, optional
        By default, up to three axes of up to four elements.
    dtype : dtype
        A real floating one.
    min_value, max_value : float
        The range of the elements. Finite differences need one in which the function is smooth.
    unique : bool
        Whether all elements of a tensor differ, and by enough for finite differences: for
        functions such as `max` and `sort`, which have a kink where elements are equal.
    requires_grad : bool
        Whether the tensors are to be differentiated by.

    Returns
    -------
    hypothesis.strategies.SearchStrategy
        A strategy for ``@hypothesis.given``.

    Examples
    --------
    >>> import arraygrad as ag
    >>> from hypothesis import given, settings
    >>> @settings(max_examples=5)
    ... @given(ag.testing.tensors(min_value=0.5, max_value=2.0))
    ... def test_logarithm(x):
    ...     assert ag.testing.gradcheck(ag.log, x)
    >>> test_logarithm()
    """
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as of_numpy

    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        raise TypeError(f"tensors() makes tensors of real floating dtypes, not of {dtype}")
    # A grid of the range: so elements that differ differ by enough.
    steps = 2**10
    elements = st.integers(0, steps).map(lambda k: min_value + (max_value - min_value) * k / steps)
    if shape is None:
        shape = of_numpy.array_shapes(max_dims=3, max_side=4)
    arrays = of_numpy.arrays(np.float64, shape, elements=elements, unique=unique)
    return arrays.map(lambda a: tensor(a.astype(dtype), requires_grad=requires_grad))
