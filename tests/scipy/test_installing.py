"""`arraygrad.scipy.install`: packages that call SciPy differentiate, unchanged."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.linalg
import scipy.stats

import arraygrad as ag
from arraygrad.func import grad

_PACKAGE = """
import scipy
import scipy.optimize as so
from scipy import integrate
from scipy.linalg import expm
from scipy.stats import norm

class Model:
    def root(self, a):
        return so.brentq(lambda x: x**2 - a, 0, 2)

    def area(self, a):
        from scipy.integrate import quad  # imported when it is needed
        return quad(lambda x: a * x, 0, 1)[0] + integrate.quad(lambda x: a * x, 0, 1)[0]

    def matrix(self, a):
        return expm(a * 2 + scipy.linalg.inv(scipy.linalg.expm(a * 1)))[0, 0]

    def spline(self, a):
        return scipy.interpolate.CubicSpline([0.0, 1.0, 2.0, 3.0], a * 1)(0.5).sum()

    def tail(self, a):
        return norm.logsf(a).sum()
"""
_METHODS = {"root": 1.5, "area": 0.3, "matrix": np.eye(2), "spline": np.arange(4.0), "tail": 0.5}


def _module(name: str) -> ModuleType:
    module = ModuleType(name)
    sys.modules[name] = module
    exec(_PACKAGE, vars(module))
    return module


@pytest.fixture
def package() -> Iterator[ModuleType]:
    before = set(sys.modules)
    yield _module("package_that_calls_scipy")
    for name in set(sys.modules) - before:
        if name.startswith("package_"):
            del sys.modules[name]


def test_packages_differentiate_while_it_is_installed(package: ModuleType) -> None:
    before = dict(vars(package))
    with ag.scipy.install() as installed:
        modules = package, _module("package_imported_later")
        for module in modules:
            for method, at in _METHODS.items():
                function = getattr(module.Model(), method)
                slope = np.asarray(grad(function)(np.asarray(at)))
                along = np.ones_like(at)
                change = (function(at + 1e-5 * along) - function(at - 1e-5 * along)) / 2e-5
                assert slope.sum() == pytest.approx(float(change), rel=1e-6)
    assert "scipy.optimize.brentq" in installed.replaced
    assert "scipy.optimize.brentq" in repr(installed)
    for module in modules:
        now = vars(module)
        assert all(now[k] is before[k] for k in ("scipy", "so", "integrate", "expm", "norm"))
    assert sys.modules["scipy"] is scipy
    assert sys.modules["scipy.linalg"] is scipy.linalg


def test_what_depends_on_types_stays(package: ModuleType) -> None:
    with ag.scipy.install():
        own: Any = package.scipy
        assert isinstance(scipy.sparse.eye_array(3, format="csr"), own.sparse.csr_array)
        assert isinstance(own.special.gamma, np.ufunc)
        spline = own.interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
        assert isinstance(spline, own.interpolate.CubicSpline)
        assert own.__version__ == scipy.__version__
        x = np.array([1.0, 2.0])
        assert type(own.stats.norm.fit(x)[0]) is type(scipy.stats.norm.fit(x)[0])


def test_it_is_installed_once() -> None:
    installed = ag.scipy.install()
    try:
        with pytest.raises(RuntimeError, match=r"call undo\(\)"):
            ag.scipy.install()
    finally:
        installed.undo()
    installed.undo()  # does nothing
    ag.scipy.install().undo()
