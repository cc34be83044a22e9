"""Libraries that have to be told about our arrays: each is told as soon as it is imported.

Nothing is imported for the sake of a library that the program does not use.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# The module of a library after which it can be told, and the module of ours that does.
_TELLING = {"einops._backends": ".einops", "xarray": ".xarray"}


class _Finder:
    """Finds a module as everybody does, and lets our module follow when it has been run."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The method of Python's import system. None leaves the module to the other finders."""
        ours = _TELLING.pop(name, None)
        if ours is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_tell(module: ModuleType) -> None:
                run(module)
                importlib.import_module(ours, __package__)

            spec.loader.exec_module = run_and_tell  # type: ignore[method-assign]
        return spec


def expect() -> None:
    """Tell the libraries that have been imported, and the others when they are."""
    for name in [name for name in _TELLING if name in sys.modules]:
        importlib.import_module(_TELLING.pop(name), __package__)
    sys.meta_path.insert(0, _Finder)
