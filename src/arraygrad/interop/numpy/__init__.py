"""NumPy's protocols: what NumPy's own functions do with the array types of arraygrad.

`ufuncs.py` answers `__array_ufunc__`, `functions.py` answers `__array_function__`. A NumPy function
that has no rule here raises and names itself, so a gradient is never dropped without a word.
"""

from ...arrays.methods import ArrayMethods
from .functions import array_function
from .ufuncs import array_ufunc

ArrayMethods.__array_function__ = array_function
ArrayMethods.__array_ufunc__ = array_ufunc
