"""`autograd.util`: small helpers of HIPS autograd that programs import."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .helpers import func, subval, subvals, toposort
from .test_util import check_grads

__all__ = ["func", "quick_grad_check", "subval", "subvals", "toposort"]


def quick_grad_check(
    fun: Callable[..., Any],
    arg0: Any,
    extra_args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    **unused: Any,
) -> None:
    """`test_util.check_grads` of the first argument, in reverse mode; deprecated by HIPS."""
    if unused.keys() - {"verbose", "eps", "rtol", "atol", "rs"}:
        raise TypeError(f"quick_grad_check() has no arguments {', '.join(unused)}")
    warnings.warn("quick_grad_check is deprecated: use check_grads", stacklevel=2)
    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=["rev"], order=1)(arg0)
