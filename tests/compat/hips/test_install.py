"""`install` takes the place of autograd, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

INSTALLED = """
import sys
from arraygrad.compat import hips
hips.install()
hips.install()  # again, which changes nothing
import autograd, autograd.numpy as np
from autograd import grad
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.misc.optimizers import adam
import autograd.numpy.linalg
import autograd.numpy.random as npr
assert autograd is hips
assert sys.modules["autograd.core"] is autograd.core
def f(x):
    assert isinstance(x, ArrayBox)
    assert str(type(x)) == "<class 'autograd.numpy.numpy_boxes.ArrayBox'>"
    return np.sum(np.linalg.norm(x))
assert (grad(f)(np.array([3.0, 4.0])) == [0.6, 0.8]).all()
"""
TOO_LATE = """
import sys, types
sys.modules["autograd"] = types.ModuleType("autograd")
from arraygrad.compat import hips
hips.install()
"""
WITHOUT_SCIPY = """
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "scipy":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Nothing())
from arraygrad.compat import hips
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "scipy" else find(name, *rest)
hips.install()
import autograd.numpy as np
assert autograd.grad(np.sin)(0.0) == 1.0 if "autograd" in globals() else True
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("program", [INSTALLED, WITHOUT_SCIPY], ids=["with", "without SciPy"])
def test_it_takes_the_place_of_autograd(program: str) -> None:
    done = run(program)
    assert done.returncode == 0, done.stderr


def test_it_refuses_if_autograd_is_there_already() -> None:
    done = run(TOO_LATE)
    assert "autograd has been imported already" in done.stderr
