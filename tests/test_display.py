"""Errors that nobody catches, and results of solvers: what is shown."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import arraygrad as ag
from arraygrad.core import upward
from arraygrad.core.display import install

PROGRAM = """
import numpy as np
import arraygrad as ag

def loss(x):
    try:
        return x @ np.ones(4)
    except ValueError as error:
        raise TypeError("a loss needs four numbers") from error

ag.compile(ag.func.grad(loss))(np.ones(3))
"""


def printed(tmp_path: Path, **environment: str) -> str:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    path = os.pathsep.join([str(Path(ag.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(tmp_path / "program.py")],
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    return done.stderr


def test_only_the_lines_of_the_user_are_printed(tmp_path: Path) -> None:
    found = printed(tmp_path)
    frames = [line for line in found.splitlines() if line.startswith("  File ")]
    assert len(frames) == 3
    assert all("program.py" in frame for frame in frames)
    assert "mismatch" in found  # the error that led to the other one
    assert found.splitlines()[0].endswith("ARRAYGRAD_TRACEBACK=full)")
    assert found.splitlines()[-1] == "TypeError: a loss needs four numbers"


def test_all_frames_are_printed_on_request(tmp_path: Path) -> None:
    found = printed(tmp_path, ARRAYGRAD_TRACEBACK="full")
    assert "compiled.py" in found
    assert "reverse.py" in found


def test_in_jupyter(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    class Formatter:
        def for_type_by_name(self, *given: Any) -> None:
            self.given = given

    class Shell:
        custom_exceptions: Any = ()

        def __init__(self) -> None:
            self.html = Formatter()
            self.display_formatter = types.SimpleNamespace(formatters={"text/html": self.html})

        def set_custom_exc(self, kinds: Any, handler: Any) -> None:
            self.custom_exceptions, self.handler = kinds, handler

        def showtraceback(self, given: Any, tb_offset: Any) -> None:
            place = given[2]
            while place is not None:
                seen.append(place.tb_frame.f_code.co_filename)
                place = place.tb_next

    shell, module = Shell(), types.ModuleType("IPython")
    module.get_ipython = lambda: shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    install()
    with pytest.raises(ValueError, match="mismatch") as caught:
        ag.tensor([1.0]) @ ag.tensor([1.0, 2.0])
    whole = caught.value.__traceback__
    shell.handler(shell, *caught._excinfo, tb_offset=1)
    assert seen == [__file__]
    assert caught.value.__traceback__ is whole  # a debugger can go to our frames
    module_name, name, shown = shell.html.given
    kind = scipy.optimize.OptimizeResult
    assert (kind.__module__, kind.__name__) == (module_name, name)
    found = ag.optimize.minimize(lambda x: (x**2).sum(), np.ones(20))
    assert "<td>x</td><td>(20,) float64: " in shown(found)


def test_a_trajectory_is_drawn() -> None:
    start = ag.tensor([1.0, 0.5], requires_grad=True)
    found = ag.scipy.integrate.solve_ivp(lambda t, y: -y, (0, 1), start)
    shown = upward.result_html(found)
    assert shown.count("<polyline") == 2
    assert "0.0,0.0 " in shown  # the first state starts at the top
    assert "<td>success</td><td>True</td>" in shown
    assert (
        "nan" not in upward.result_html(found | {"y": np.full((2, 3), np.nan)}).split("<table")[0]
    )
