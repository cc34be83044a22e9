"""Special functions with their derivatives, with `scipy.special`'s names.

Functions that are common in training loops (`expit`, `softplus`, `softmax`, `logsumexp`, …) are
computed here or by a kernel of the backend. The array library's own special functions compute the
others (see `backends.special`): for NumPy, these are SciPy's, imported at the first use.
"""
