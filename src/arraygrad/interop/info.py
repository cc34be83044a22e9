"""The inspection API of the Array API standard: capabilities, devices and dtypes.

It describes the arrays that arraygrad creates, which are NumPy arrays. Arrays of other libraries
keep the devices and dtypes of their library.
"""

from __future__ import annotations

from typing import Any

from ..backends.dtypes import KINDS, complex128, float64, int64

_GROUPS = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}


class NamespaceInfo:
    """The inspection API of the standard.

    Examples
    --------
    >>> import arraygrad as ag
    >>> info = ag.__array_namespace_info__()
    >>> info.default_dtypes()["real floating"]
    dtype('float64')
    """

    def capabilities(self) -> dict[str, Any]:
        """Whether shapes may depend on values, and how many axes an array may have."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The device of new arrays."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """All devices."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of new arrays if no dtype is given."""
        _check_device(device)
        return {
            "real floating": float64,
            "complex floating": complex128,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes by name: all of them, or those of one or several kinds."""
        _check_device(device)
        if kind is None:
            kinds: tuple[str, ...] = tuple(KINDS)
        elif isinstance(kind, tuple):
            return {name: dtype for k in kind for name, dtype in self.dtypes(kind=k).items()}
        elif kind in KINDS:
            kinds = (kind,)
        elif kind in _GROUPS:
            kinds = _GROUPS[kind]
        else:
            known = ", ".join(map(repr, [*KINDS, *_GROUPS]))
            raise ValueError(f"kind must be one of {known}, or a tuple of them, not {kind!r}")
        return {dtype.name: dtype for k in kinds for dtype in KINDS[k]}


def _check_device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f"device must be 'cpu' or None, not {device!r}")


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807  (the standard's name)
    """The inspection API of the standard.

    >>> ag.__array_namespace_info__().default_dtypes()["indexing"]
    dtype('int64')
    """
    return NamespaceInfo()
