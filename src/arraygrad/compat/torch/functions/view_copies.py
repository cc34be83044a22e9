"""Functions with `_copy` in their names: views, each with memory of its own."""

from __future__ import annotations

from typing import Any

from .... import ops
from ..publish import Published, function
from . import joining, shapes, turning

# The names of `torch` that are made here.
__all__ = [
    "alias_copy", "as_strided_copy", "detach_copy", "diagonal_copy", "expand_copy", "narrow_copy",
    "permute_copy", "select_copy", "split_copy", "split_with_sizes_copy", "squeeze_copy", "t_copy",
    "transpose_copy", "unbind_copy", "unfold_copy", "unsqueeze_copy", "view_as_complex_copy",
    "view_as_real_copy", "view_copy",
]  # fmt: skip


def _copied(view: Any, name: str | None = None) -> Published:
    """The function that copies what a function of views returns."""
    native = view.__wrapped__

    def made(*args: Any, **kwargs: Any) -> Any:
        found = native(*args, **kwargs)
        return tuple(map(ops.copy, found)) if isinstance(found, tuple) else ops.copy(found)

    made.__doc__ = f"`{view.__name__}`, as a copy."
    own = name or f"{view.__name__}_copy"
    return function(made, name=own, method=own == "narrow_copy")


@function(method=False)
def _detached(input: Any) -> Any:
    """A tensor without its past."""
    return input.detach()


alias_copy = _copied(turning.clone, "alias_copy")
as_strided_copy = _copied(shapes.as_strided)
detach_copy = _copied(_detached, "detach_copy")
diagonal_copy = _copied(shapes.diagonal)
expand_copy = _copied(shapes.expand)
narrow_copy = _copied(shapes.narrow)
permute_copy = _copied(shapes.permute)
select_copy = _copied(shapes.select)
split_copy = _copied(joining.split)
split_with_sizes_copy = _copied(joining.split_with_sizes)
squeeze_copy = _copied(shapes.squeeze)
t_copy = _copied(shapes.t)
transpose_copy = _copied(shapes.transpose, "transpose_copy")
unbind_copy = _copied(joining.unbind)
unfold_copy = _copied(shapes.unfold)
unsqueeze_copy = _copied(shapes.unsqueeze)
view_as_complex_copy = _copied(shapes.view_as_complex)
view_as_real_copy = _copied(shapes.view_as_real)
view_copy = _copied(shapes.view)
