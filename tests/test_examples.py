"""The examples run, and their results are right."""

from __future__ import annotations

import runpy
import subprocess
import sys
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
        "autoencoder",
        "characters",
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


def test_digits(tmp_path: Path) -> None:
    for module in ("sklearn", "matplotlib"):
        pytest.importorskip(module)
    picture = tmp_path / "digits.png"
    assert load("digits")["main"](3, str(picture)) > 0.9
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_characters(capsys: pytest.CaptureFixture[str]) -> None:
    assert load("characters")["main"](25) < 3.9  # equal chances for all letters: 4.6
    assert len(capsys.readouterr().out) > 200  # what it has written


def test_a_script_for_pytorch(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    script = tmp_path / "two.py"
    script.write_text(
        "import runpy, sys\n"
        "first, last = runpy.run_path(sys.argv[1])['main'](2)\n"
        "print(last < 30 < first < 40)\n"
    )
    command = [sys.executable, "-m", "arraygrad.compat.torch"]
    run = subprocess.run(
        [*command, str(script), str(EXAMPLES / "autoencoder.py")], capture_output=True, text=True
    )
    assert run.stdout.splitlines()[-1:] == ["True"], run.stderr
    without = subprocess.run(command, capture_output=True, text=True)
    assert without.returncode == 1
    assert "usage:" in without.stderr


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
