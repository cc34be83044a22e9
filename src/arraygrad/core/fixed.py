"""NumPy arrays that arraygrad has made and nobody writes to: a compiler may rely on their elements.

Examples are the unit vectors by which a Jacobian is computed. Arrays of users are never among them.
"""

from __future__ import annotations

import weakref
from typing import Any

_fixed: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def fix(array: Any) -> None:
    """Take note that the elements of an array stay as they are."""
    _fixed[id(array)] = array


def is_fixed(array: Any) -> bool:
    """Whether the elements of an array stay as they are."""
    return _fixed.get(id(array)) is array
