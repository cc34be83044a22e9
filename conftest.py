"""The plugin of the tests' tables; and where pytest looks for doctests."""

from __future__ import annotations

import gc
import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from _pytest.doctest import DoctestModule

pytest_plugins = ["rows"]

# Several workers share the processors. Threads of a BLAS in each would wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine is no failure.
hypothesis.settings.register_profile(
    "ours", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("ours")

SOURCE = Path(__file__).parent / "src" / "arraygrad"

# Files and folders for libraries that are not installed.
_UNUSABLE = {
    SOURCE / place / f"{name}{suffix}"
    for place, names in (
        ("backends", ("array_api_strict", "cupy", "dask", "jax", "mlx", "torch")),
        ("interop", ("einops", "xarray")),
    )
    for name in names
    for suffix in ("", ".py")
    if find_spec(name) is None
}


def pytest_collect_file(file_path: Path, parent: Any) -> DoctestModule | None:
    """Look for doctests in modules of the library that have some.

    With its option for doctests, pytest looks at every object of every file, which takes seconds.
    """
    if file_path.suffix != ".py" or SOURCE not in file_path.parents:
        return None
    if not _UNUSABLE.isdisjoint((file_path, *file_path.parents)) or not _has_examples(file_path):
        return None
    return DoctestModule.from_parent(parent, path=file_path)


def _has_examples(file: Path) -> bool:
    """Whether a module has an example in its text, or in a docstring that is made elsewhere."""
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    module = import_module(".".join(parts).removesuffix(".__init__"))
    if ">>>" in file.read_text(encoding="utf-8"):
        return True
    own = [x for x in vars(module).values() if getattr(x, "__module__", "") == module.__name__]
    return any(">>>" in str(x.__doc__) for x in own)


@pytest.fixture(autouse=True, scope="session")
def _names_of_examples(doctest_namespace: dict[str, Any]) -> None:
    """Docstrings may show an example without importing what everybody imports."""
    doctest_namespace.update(ag=import_module("arraygrad"), np=import_module("numpy"))


def pytest_sessionstart() -> None:
    """Collect no garbage while the tests are collected, as there is none."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector leave out the tests: it would look at all of them each time."""
    gc.freeze()
    gc.enable()
