"""Special functions, under `scipy.special`'s names.

What training loops live on (`expit`, `softplus`, `softmax`, `logsumexp`, …) is computed here or by
the backend. The rest is computed by the special functions that come with the array library:
SciPy's for NumPy, imported when first used. All derivatives are ours.
"""
