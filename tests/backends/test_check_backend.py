"""Every library passes `check_backend`."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

import arraygrad as ag

LIBRARIES = {
    "array_api_strict": array_api_strict.asarray,
    "dask.array": lambda x: pytest.importorskip("dask.array").asarray(x, chunks=2),
    "mlx.core": lambda x: pytest.importorskip("mlx.core").array(x.astype(np.float32)),
    "numpy": np.asarray,
    "torch": lambda x: pytest.importorskip("torch").asarray(x),
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_library_passes(name: str) -> None:
    ag.testing.check_backend(LIBRARIES[name])


@pytest.mark.parametrize("name", ["array_api_strict", "mlx.core"])
def test_second_derivatives_of_plain_arrays(name: str) -> None:
    x = LIBRARIES[name](np.array([1.0, 2.0]))
    found = ag.func.hvp(lambda x: ag.sum(x**3), (x,), (x,))
    assert type(found) is type(x)
    np.testing.assert_allclose(np.asarray(found), [6.0, 24.0])
    _, slopes = ag.func.jvp(ag.func.grad(lambda x: ag.sum(x * ag.sin(x))), (x,), (x,))
    assert type(slopes) is type(x)
