"""The plugin of the tests' tables; and what the search for doctests leaves out."""

from __future__ import annotations

from importlib.util import find_spec

pytest_plugins = ["rows"]

# Files for array libraries that are not installed.
collect_ignore_glob = [
    f"src/arraygrad/backends/{name}{rest}"
    for name in ("array_api_strict", "cupy", "dask", "jax", "mlx", "torch")
    for rest in (".py", "/*")
    if find_spec(name) is None
]
