"""Items of an array that are to change places, ``x[i], x[j] = x[j], x[i]``: refused.

Both items are views. So the first assignment changes the value of the second, and one of the items
is lost. A NumPy array of one axis gives numbers instead of views, and there it works. Functions
that shuffle a sequence do this with its items.
"""

from __future__ import annotations

from typing import Any

from ..ops.indexing import _getitem
from ..ops.regions import Step

Steps = tuple[Step, ...]


def item_written(steps: Steps, index: tuple[Any, tuple[Any, ...]]) -> Steps | None:
    """The steps from the base to what an index names in a view of it, if this is an item.

    Only an index of integers gives items. Slices are views in every NumPy array, too.
    """
    template, arrays = index
    if arrays or not all(part is Ellipsis or isinstance(part, int) for part in template):
        return None
    return (*steps, (_getitem, {"template": template}))


def refuse_exchange() -> None:
    """Raise the error for the second half of an exchange."""
    raise RuntimeError(
        "x[i], x[j] = x[j], x[i] would lose an item of the array: x[i] is a view, and the first "
        "assignment has overwritten it. Write x[[i, j]] = x[[j, i]]; instead of a shuffle in "
        "place, take x[permutation]"
    )
