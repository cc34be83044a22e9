"""What other libraries' functions do with the arrays of arraygrad."""

from . import numpy

__all__ = ["numpy"]
