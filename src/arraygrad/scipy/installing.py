"""`install`: functions of SciPy with derivatives in the place of SciPy's, for one process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from .finding import MODULES
from .names import scipy_module


def _keeps_scipy(module: str) -> bool:
    """Whether a module keeps SciPy's own functions; SciPy's tests are its users."""
    return module.partition(".")[0] in ("scipy", "arraygrad") and ".tests." not in module


class Installed:
    """What `install` replaced, until `undo` is called, or to the end of a ``with`` block.

    Attributes
    ----------
    replaced : tuple of str
        The names of SciPy's functions and classes that are replaced.
    pairs : list of pairs
        What was replaced, modules included, and by what.
    """

    active: Installed | None = None

    def __init__(self) -> None:
        scipy = scipy_module("scipy")
        self.pairs: list[tuple[Any, Any]] = []
        names: list[str] = []
        copies = {"scipy": _copy(scipy)}
        for name in sorted([*MODULES, "scipy.sparse", "scipy.spatial"]):  # parents come first
            copy = copies[name] = _copy(scipy_module(name))
            parent, _, own = name.rpartition(".")
            setattr(copies[parent], own, copy)
            for key, original, ours in _differences(name):
                setattr(copy, key, ours)
                self.pairs.append((original, ours))
                names.append(f"{name}.{key}")
        self.pairs += [(scipy_module(name), copy) for name, copy in copies.items()]
        self.replaced = tuple(names)
        _swap(self.pairs)
        Installed.active = self

    def undo(self) -> None:
        """Put SciPy's own functions back, also in modules that were imported in between."""
        if Installed.active is self:
            _swap((ours, original) for original, ours in self.pairs)
            Installed.active = None

    def __enter__(self) -> Installed:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()

    def __repr__(self) -> str:
        state = "replaced" if Installed.active is self else "replaced no more"
        return f"<{len(self.replaced)} names of SciPy {state}: {', '.join(self.replaced)}>"


def install() -> Installed:
    """Let all packages that call SciPy differentiate, unchanged.

    Functions of SciPy are replaced by those of `arraygrad.scipy`, in SciPy's modules as other
    packages see them, and in modules that have imported them by name. On plain arrays, they are
    SciPy's own. SciPy itself keeps its functions, and so does what was stored elsewhere: in
    attributes of objects, in default arguments, in closures. Universal functions of
    `scipy.special` take tensors anyway, and classes of sparse arrays stay what they are.

    It holds for the whole process, in all threads.

    Returns
    -------
    Installed
        It says what was replaced, and has ``undo()``. It is also a context manager.

    Raises
    ------
    RuntimeError
        If it is installed already.

    Examples
    --------
    >>> import arraygrad as ag
    >>> with ag.scipy.install() as installed:
    ...     from scipy.optimize import brentq  # as a package does
    ...     slope = ag.func.grad(lambda a: brentq(lambda x: x**2 - a, 0, 2))(2.0)
    >>> round(float(slope), 6)
    0.353553
    >>> "scipy.optimize.brentq" in installed.replaced
    True
    """
    if Installed.active is not None:
        raise RuntimeError(
            "arraygrad.scipy.install() was called already: call undo() of what it returned first"
        )
    return Installed()


def _copy(module: ModuleType) -> ModuleType:
    """A module with the same names; what is not there yet is looked up in the module itself."""
    copy = ModuleType(module.__name__, module.__doc__)
    vars(copy).update(vars(module))
    vars(copy)["__getattr__"] = lambda name: getattr(module, name)
    return copy


def _differences(name: str) -> Iterable[tuple[str, Any, Any]]:
    """The names of a module of SciPy that stand for something else here; both."""
    ours, module = importlib.import_module(f"arraygrad.{name}"), scipy_module(name)
    for key in ours.__all__:
        own, original = getattr(ours, key), getattr(module, key, None)
        # A class must stay a class, for isinstance().
        same_kind = isinstance(own, type) == isinstance(original, type)
        if callable(original) and same_kind and not hasattr(original, "nout"):
            yield key, original, own


def _swap(pairs: Iterable[tuple[Any, Any]]) -> None:
    """Put one object in the place of another, in all modules and among the modules."""
    new_of = {id(old): (old, new) for old, new in pairs}
    for name, module in list(sys.modules.items()):
        if id(module) in new_of:
            sys.modules[name] = new_of[id(module)][1]
        elif not _keeps_scipy(name):
            names = getattr(module, "__dict__", {})
            for key, value in list(names.items()):
                if id(value) in new_of:
                    names[key] = new_of[id(value)][1]
