"""The examples run, and their results are right."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_every_example_is_tested() -> None:
    # Those that write in place are tested in tests/inplace.
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {
        "dask_lbfgs",
        "digits",
        "heat_equation",
        "kalman_smoother",
        "lattice",
        "logistic_regression",
        "newton_cg",
    }


def test_newton_cg() -> None:
    result = load("newton_cg")["main"](100)
    assert result.success
    np.testing.assert_allclose(result.x, 1.0, atol=1e-6)


def test_dask_lbfgs(capsys: pytest.CaptureFixture[str]) -> None:
    for module in ("dask.array", "scipy.optimize"):
        pytest.importorskip(module)
    example = load("dask_lbfgs")
    found = example["main"]()
    assert found.success
    np.testing.assert_allclose(found.x, example["TRUTH"], atol=0.1)
    assert capsys.readouterr().out.count("100% Completed") == found.nfev


def test_digits(tmp_path: Path) -> None:
    for module in ("sklearn", "matplotlib"):
        pytest.importorskip(module)
    picture = tmp_path / "digits.png"
    assert load("digits")["main"](3, str(picture)) > 0.9
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_logistic_regression() -> None:
    example = load("logistic_regression")
    truth, beta, error = example["main"]()
    assert np.all(np.abs(beta - truth) < 4 * error)
    assert np.all(error < 0.2)


def test_logistic_regression_hessian() -> None:
    example = load("logistic_regression")
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(20, 3)), rng.integers(0, 2, 20).astype(float)
    beta = rng.normal(size=3)
    p = 1 / (1 + np.exp(-features @ beta))
    gradient, hessian = example["gradient_and_hessian"](beta, features, labels)
    np.testing.assert_allclose(gradient, features.T @ (p - labels), atol=1e-12)
    np.testing.assert_allclose(hessian, (features.T * (p * (1 - p))) @ features, atol=1e-12)
