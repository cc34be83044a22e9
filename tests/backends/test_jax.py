"""The table of samples over JAX's arrays, traced and compiled as a whole by `jax.jit`.

Op by op, JAX compiles each operation for each shape anew, which takes minutes; so that is for the
rows that `jax.jit` cannot trace, because the shapes of their results depend on values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from backend_table import MIXED, Case, Library, check, routes_of

from arraygrad.testing import assert_close

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

JAX = Library(
    name="JAX",
    make=lambda array: jnp.asarray(np.array(array, order="C")),
    gaps={"special.erf-complex complex": "JAX has no error function of complex numbers"},
)

# What jax.jit cannot trace, because the shape of the result depends on values.
UNTRACED = {
    "__getitem__-mask of itself",
    "bincount",
    "histogram",
    "nonzero",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
}
_QUICKLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    """The table is in double precision, which JAX has to be told."""
    with jax.enable_x64(True):
        yield


def test_rows(case: Case) -> None:
    sample, complex_numbers = case
    name = f"{sample}{' complex' * complex_numbers}"
    if str(sample) in MIXED or JAX.gap(case):
        check(JAX, case)
        return
    made: list[Any] = []

    def record(array: Any) -> Any:
        made.append(np.array(array, order="C"))
        return made[-1]

    arrays = sample.arrays(complex_numbers)
    routes = routes_of(sample)
    expected = [r for route in routes for r in route(sample, arrays, record)]

    def program(inputs: list[Any]) -> list[Any]:
        rest = iter(inputs)
        return [r for route in routes for r in route(sample, arrays, lambda _: next(rest))]

    if UNTRACED & {name, sample.op} and name != "bincount-length":
        # JAX says "concrete value", we "values … not known yet".
        with pytest.raises((TypeError, IndexError), match=r"concrete|known"):
            jax.eval_shape(program, made)
        check(JAX, case)
        return
    found = jax.jit(program, compiler_options=_QUICKLY)(list(map(JAX.make, made)))
    for result, value in zip(found, expected, strict=True):
        if value is not None:
            assert (result.shape, result.dtype) == (value.shape, value.dtype)
            assert_close(np.asarray(result), value, rtol=1e-10, atol=1e-10, equal_nan=True)
    assert [r is None for r in found] == [value is None for value in expected]
