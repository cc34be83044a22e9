"""`sorix.utils`."""

from . import math

__all__ = ["math"]
