"""The plugin of the tests' tables; and where pytest looks for doctests."""

from __future__ import annotations

import gc
from collections.abc import Generator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from _pytest.doctest import DoctestModule

pytest_plugins = ["rows"]

# A busy machine is no failure.
hypothesis.settings.register_profile(
    "ours", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("ours")

# Files for libraries that are not installed.
collect_ignore_glob = [
    f"src/arraygrad/{place}/{name}{rest}"
    for place, names in (
        ("backends", ("array_api_strict", "cupy", "dask", "jax", "mlx", "torch")),
        ("interop", ("einops", "xarray")),
    )
    for name in names
    for rest in (".py", "/*")
    if find_spec(name) is None
]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """Look for doctests in the library only. To look for them, pytest imports a test once more."""
    found = yield
    if (Path(__file__).parent / "src") in file_path.parents:
        return found
    return [item for item in found if not isinstance(item, DoctestModule)]


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
