"""NumPy's protocols: how NumPy's own functions work on the array types of arraygrad.

`ufuncs.py` implements `__array_ufunc__`, `functions.py` implements `__array_function__`. A NumPy
function without a rule here raises an error with its name, so a gradient is never lost silently.
"""

from ...arrays.methods import ArrayMethods
from .functions import array_function
from .ufuncs import array_ufunc

ArrayMethods.__array_function__ = array_function
ArrayMethods.__array_ufunc__ = array_ufunc
