"""How arraygrad works with NumPy's functions, the Array API standard, and Dask's lazy arrays.

How arraygrad computes on arrays of other libraries is in `backends`.
"""

from . import arrivals, numpy

__all__ = ["numpy"]

arrivals.expect()
