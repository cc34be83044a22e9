"""A facade in the place of the package that it stands for, for one process."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys


def take_place(package: str, of: str) -> None:
    """Have ``import <of>`` give a package of `compat`, and all modules in it, from now on.

    Nothing on disk changes, and other processes are not affected.

    Raises
    ------
    RuntimeError
        If the other package has been imported already: functions that were imported from it would
        not know the tensors of this one.
    """
    present = sys.modules.get(of)
    if present is not None and present is not sys.modules[package]:
        raise RuntimeError(
            f"{of} has been imported already, so install() cannot take its place: call "
            f"{package}.install() before anything that imports {of}"
        )
    has_scipy = importlib.util.find_spec("scipy") is not None
    paths = sys.modules[package].__path__
    for found in pkgutil.walk_packages(paths, package + ".", onerror=lambda name: None):
        if has_scipy or not found.name.startswith(package + ".scipy"):
            importlib.import_module(found.name)
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(package + "."):
            sys.modules[of + name.removeprefix(package)] = module
