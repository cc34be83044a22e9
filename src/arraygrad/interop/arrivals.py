"""Libraries that have to be told about our arrays: each is told as soon as it is imported.

Nothing is imported for the sake of a library that the program does not use.
"""

from __future__ import annotations

import importlib
import sys
import warnings
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
        if name not in _TELLING:
            return None
        others = (finder for finder in sys.meta_path if finder is not _Finder)
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_tell(module: ModuleType) -> None:
                run(module)
                _tell(name)

            spec.loader.exec_module = run_and_tell  # type: ignore[method-assign]
        return spec


def _tell(name: str) -> None:
    try:
        importlib.import_module(_TELLING[name], __package__)
    except (AttributeError, ImportError) as error:  # the library works without us
        library = name.partition(".")[0]
        warnings.warn(
            f"arraygrad does not know this version of {library}, whose functions may refuse "
            f"tensors: {error}",
            stacklevel=2,
        )


def expect() -> None:
    """Tell the libraries that have been imported, and the others when they are."""
    for name in _TELLING:
        if name in sys.modules:
            _tell(name)
    sys.meta_path.insert(0, _Finder)
