"""`lucid.utils.checkpoint`."""

from ..autograd import checkpoint

__all__ = ["checkpoint"]
