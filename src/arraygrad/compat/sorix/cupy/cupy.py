"""sorix asks here whether there is CUDA. For this facade there is not.

arraygrad itself works on CuPy arrays.
"""

_cupy_available = False
