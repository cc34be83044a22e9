"""Functions that were written for NumPy, differentiated unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import in_one_direction
from standard import numpy_code

import arraygrad as ag
from arraygrad.testing import assert_close, gradcheck, gradgradcheck

RNG = np.random.default_rng(3)

Case = tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]

# The function, its arguments, and which of them to differentiate with respect to.
CASES: list[Case] = [
    (
        numpy_code.kalman_filter,
        (RNG.standard_normal(6), np.array([[1.0, 0.1], [-0.1, 0.9]]), np.array(0.3), np.ones(2)),
        (0, 1, 2, 3),
    ),
    (
        numpy_code.runge_kutta,
        (np.array([1.0, 0.5]), np.array([1.1, 0.4, 0.4, 0.1])),
        (0, 1),
    ),
    (
        numpy_code.gaussian_process,
        (np.array([0.2, -0.3, -1.0]), RNG.standard_normal((7, 2)), RNG.standard_normal(7)),
        (0, 1, 2),
    ),
    (numpy_code.rosenbrock, (RNG.standard_normal(5),), (0,)),
    (numpy_code.svd_denoiser, (RNG.standard_normal((5, 4)), np.array(0.5)), (0, 1)),
    (
        numpy_code.spline,
        (np.linspace(0.1, 3.9, 9), np.array([0.0, 0.7, 2.0, 3.1, 4.0]), RNG.standard_normal(5)),
        (0, 2),
    ),
    (
        numpy_code.softmax_regression,
        (
            RNG.standard_normal((3, 4)),
            RNG.standard_normal(4),
            RNG.standard_normal((8, 3)),
            RNG.integers(0, 4, 8),
        ),
        (0, 1, 2),
    ),
    (numpy_code.fourier_filter, (RNG.standard_normal(9), np.array(0.2)), (0, 1)),
    (
        numpy_code.lennard_jones,
        (1.4 * RNG.permutation(np.indices((2, 2, 2)).reshape(3, -1).T),),
        (0,),
    ),
    (
        numpy_code.black_scholes,
        (
            np.array(100.0),
            np.array(0.2),
            np.array(0.03),
            np.array([80.0, 95.0, 130.0]),
            np.array(0.5),
        ),
        (0, 1, 2, 3, 4),
    ),
]


def name(example: Case) -> str:
    return example[0].__name__


def test_the_functions_know_numpy_only() -> None:
    source = Path(numpy_code.__file__).read_text(encoding="utf-8")
    imports = [line for line in source.splitlines() if line.startswith(("import", "from"))]
    assert imports == ["import math", "import numpy as np"]
    functions = [f for f in vars(numpy_code).values() if callable(f)]
    assert len(functions) == len(CASES) == 10


@pytest.mark.parametrize("example", CASES, ids=name)
def test_values(example: Case) -> None:
    function, arguments, chosen = example
    inputs = [ag.tensor(a, requires_grad=i in chosen) for i, a in enumerate(arguments)]
    result = function(*inputs)
    assert isinstance(result, ag.Tensor)
    assert result.requires_grad
    assert_close(result.detach(), np.asarray(function(*arguments)), rtol=1e-10, atol=1e-12)


def as_function(example: Case) -> tuple[Callable[..., Any], list[Any]]:
    """The function of the chosen arguments, the others being NumPy arrays still."""
    function, arguments, chosen = example

    def of_chosen(*values: Any) -> Any:
        full = list(arguments)
        for i, value in zip(chosen, values, strict=True):
            full[i] = value
        return function(*full)

    return of_chosen, [ag.tensor(arguments[i], requires_grad=True) for i in chosen]


@pytest.mark.parametrize("example", CASES, ids=name)
def test_derivatives(example: Case) -> None:
    function, inputs = as_function(example)
    assert gradcheck(function, inputs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("example", CASES, ids=name)
def test_second_derivatives(example: Case, pytestconfig: Any) -> None:
    function, inputs = as_function(example)
    fast = in_one_direction(pytestconfig, *inputs)
    assert gradgradcheck(function, inputs, rtol=1e-4, atol=1e-5, fast_mode=fast)


@pytest.mark.parametrize("example", CASES, ids=name)
def test_transforms(example: Case) -> None:
    """Forward mode and reverse mode as functions give the same Jacobians."""
    function, arguments, chosen = example
    for i in chosen:

        def of_one(x: Any, i: int = i) -> Any:
            return function(*(x if j == i else a for j, a in enumerate(arguments)))

        x = arguments[i]
        assert_close(ag.func.jacfwd(of_one)(x), ag.func.jacrev(of_one)(x), rtol=1e-8, atol=1e-9)
        if function is numpy_code.spline and i == 0:
            continue  # an array of NumPy's cannot be indexed by a batched one
        batch = np.stack([x, x * 1.01])
        expected = np.stack([of_one(x), of_one(x * 1.01)])
        assert_close(ag.func.vmap(of_one)(batch), expected, rtol=1e-8, atol=1e-10)
