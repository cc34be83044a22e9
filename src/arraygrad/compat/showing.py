"""What `dir()` and completion show of a facade: the names of its system, and no others."""

from __future__ import annotations

import sys


def show_public_names(package: str) -> None:
    """Let `dir()` of a package, and of the modules in it, give the names in `__all__`."""
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(package + "."):
            own = vars(module)
            if "__all__" in own:
                own.setdefault("__dir__", own["__all__"].copy)
