"""What `dir`, tab completion and `from arraygrad import *` show: the public names, no others."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from rows import over

import arraygrad as ag

# What a program that does not name them should not pay for.
LAZY = {
    "compat",
    "fft",
    "func",
    "linalg",
    "nn",
    "optim",
    "optimize",
    "random",
    "scipy",
    "special",
    "testing",
    "tree",
}


def public_modules(module: ModuleType) -> Iterator[ModuleType]:
    """A module, and those among its public names, all the way down."""
    yield module
    for name in module.__all__:
        if isinstance(getattr(module, name), ModuleType):
            yield from public_modules(getattr(module, name))


MODULES = {module.__name__: module for module in public_modules(ag)}


def is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def run(code: str) -> str:
    """What a new interpreter prints that finds the same arraygrad."""
    env = {**os.environ, "PYTHONPATH": str(Path(ag.__file__).parents[1])}
    return subprocess.check_output([sys.executable, "-c", code], text=True, env=env).strip()


def test_the_public_modules_are_found() -> None:
    assert {f"arraygrad.{name}" for name in LAZY} < set(MODULES)
    assert "arraygrad.autograd.graph" in MODULES
    assert "arraygrad.compat.torch.autograd" in MODULES


@over("name", MODULES)
def test_dir_shows_the_public_names(name: str) -> None:
    module = MODULES[name]
    shown = {n for n in dir(module) if not is_dunder(n)}
    assert shown == {n for n in module.__all__ if not is_dunder(n)}
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, n) for n in module.__all__)


def test_dir_shows_no_more_in_a_new_interpreter() -> None:
    # Before anything lazy has been imported, and with what Python itself puts into a module.
    code = "import arraygrad as ag; print(*(set(dir(ag)) ^ set(ag.__all__)))"
    assert all(map(is_dunder, run(code).split()))


@over("name", MODULES)
def test_a_star_brings_the_public_names(name: str) -> None:
    brought: dict[str, object] = {}
    exec(f"from {name} import *", brought)
    del brought["__builtins__"]
    assert set(brought) == set(MODULES[name].__all__)


def test_lazy_parts_are_not_imported_before_they_are_named() -> None:
    code = "import sys, arraygrad; print(*(m for m in sys.modules if m.startswith('arraygrad.')))"
    loaded = set(run(code).split())
    assert "arraygrad.autograd" in loaded
    assert not loaded & {f"arraygrad.{name}" for name in LAZY}
    assert not loaded & {f"arraygrad.autograd.{n}" for n in ("forward_ad", "function", "graph")}
    code = "import sys, arraygrad as ag; ag.linalg.inv; print('arraygrad.linalg' in sys.modules)"
    assert run(code) == "True"


def test_a_misspelt_name_is_an_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="module 'arraygrad' has no attribute 'sinn'"):
        ag.sinn  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"module 'arraygrad\.linalg' has no attribute 'invv'"):
        ag.linalg.invv  # type: ignore[attr-defined]
    for module, name in ((ag.nn, "Linear"), (ag.optim, "Adam")):
        with pytest.raises(
            AttributeError, match=rf"{name}.*classes are in arraygrad\.compat\.torch"
        ):
            getattr(module, name)


@over("name", MODULES)
def test_no_module_has_the_name_of_a_public_function(name: str) -> None:
    """Else it depends on who imported what whether the name is the function or the module."""
    module = MODULES[name]
    files = {found.name for found in pkgutil.iter_modules(getattr(module, "__path__", []))}
    if name == "arraygrad.compat.sorix":
        files -= {"tensor"}  # both in sorix, too
    values = {n: getattr(module, n) for n in files & set(module.__all__)}
    assert [n for n, value in values.items() if not isinstance(value, ModuleType)] == []


def test_dir_of_an_array_shows_the_public_names() -> None:
    seen: list[list[str]] = []
    x = ag.ones(2)
    ag.func.vmap(lambda x: seen.append(dir(x)) or x)(x)
    ag.func.jvp(lambda x: seen.append(dir(x)) or x, (x,), (x,))
    for names in (dir(x), *seen):
        assert {"sum", "at", "__add__", "__dlpack__"} <= set(names)
        assert not [name for name in names if name[0] == "_" and not is_dunder(name)]
        assert not {"apply", "caller", "kept", "level", "like", "operator", "over"} & set(names)
