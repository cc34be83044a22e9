"""The tour: `python -m arraygrad`."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import __main__ as tour


@pytest.fixture(scope="module")
def printed() -> str:
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-m", "arraygrad"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert finished.stderr == ""
    return finished.stdout


def result(printed: str, code: str) -> str:
    """What stands below a line of code in the tour."""
    return printed.partition(f">>> {code}\n")[2].partition("\n")[0]


def test_every_step_is_shown(printed: str) -> None:
    for number, (title, *_) in enumerate(tour.STEPS, 1):
        assert f"{number}. {title}\n" in printed


def test_gradient_of_squares(printed: str) -> None:
    assert result(printed, "ag.grad((x * x).sum(), x)") == "tensor([ 2., -4.,  6.])"


def test_line(printed: str) -> None:
    t = np.linspace(0, 1, 100)
    error = 0.5 * t + 0.9 - (2 * t + 1)
    found = re.findall(r"tensor\((.*?)\)", result(printed, "ag.grad((error**2).mean(), model)"))
    expected = [np.mean(2 * error * t), np.mean(2 * error)]
    np.testing.assert_allclose([float(n) for n in found], expected, rtol=1e-7)


def test_hessian_vector_product(printed: str) -> None:
    code = "ag.grad(slope, p, grad_outputs=ag.tensor([1.0, 0.0, 0.0, 0.0]))"
    # 1200 p0² - 400 p1 + 2 and -400 p0, at p = (-1, 1, ...)
    assert result(printed, code) == "tensor([802., 400.,   0.,   0.])"


def test_hessian(printed: str) -> None:
    block = printed.partition("ag.func.hessian(rosenbrock)")[2].partition("\n")[2]
    rows = block.partition("\n\n")[0].removeprefix("array(").removesuffix(")")
    # On the diagonal 1200 p² - 400 p' + 2 and 200 for the neighbour before; beside it -400 p.
    expected = [[802, 400, 0, 0], [400, 1202, -400, 0], [0, -400, -298, -200], [0, 0, -200, 200]]
    assert ast.literal_eval(rows) == expected


def test_jacobian(printed: str) -> None:
    code = 'ag.grad(xy, {"r": r, "phi": phi}, grad_outputs=ag.eye(2), is_grads_batched=True)'
    found = [
        ast.literal_eval(numbers)
        for numbers in re.findall(r"tensor\((\[.*?\])\)", result(printed, code))
    ]
    cos, sin = np.cos(0.5), np.sin(0.5)
    np.testing.assert_allclose(found, [[cos, sin], [-2 * sin, 2 * cos]], rtol=1e-7)


def test_loss_falls(printed: str) -> None:
    losses = [float(n) for n in re.findall(r"^step .* loss (.*)$", printed, re.MULTILINE)]
    assert len(losses) == 5
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 2
    share = re.search(r"^(.*)% of the points", printed, re.MULTILINE)
    assert share is not None
    assert float(share.group(1)) > 90


def test_solver(printed: str) -> None:
    found = re.findall(
        r"-?\d\.\d+", result(printed, "ag.func.grad(end)(np.array(0.5)), -6 * np.exp(-1)")
    )
    assert np.allclose([float(n) for n in found], -6 * np.exp(-1))


def test_steps_without_their_libraries(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tour, "STEPS", [("A step", "        1 / 0", "no_such_library", "none")])
    assert tour.main([]) == 0
    assert "pip install 'arraygrad[none]'" in capsys.readouterr().out


def test_help() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "arraygrad", "--help"], capture_output=True, text=True, check=True
    )
    assert "python -m arraygrad" in finished.stdout
    assert ">>>" not in finished.stdout


def test_unknown_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        tour.main(["--fast"])
    assert stop.value.code == 2
    assert "--fast" in capsys.readouterr().err


def test_what_is_printed_is_what_was_run(capsys: pytest.CaptureFixture[str]) -> None:
    names = {"ag": ag}
    tour.show("        y = ag.tensor(\n            2.0)\n        y * 3\n", names)
    assert capsys.readouterr().out == (">>> y = ag.tensor(\n...     2.0)\n>>> y * 3\ntensor(6.)\n")
    assert "y" in names


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        tour.main(["--version"])
    assert end.value.code == 0
    words = " ".join(capsys.readouterr().out.split())
    assert words.startswith(f"arraygrad {ag.__version__}, Python 3.")
    assert f"numpy {np.__version__}" in words
