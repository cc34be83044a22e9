"""Optimisers, and a bridge to SciPy's."""

from ...optimisers import SGD, Adam, RMSprop, SGDMomentum
from ...optimisers import Plain as Optimizer
from .scipy_bridge import ScipyBridge

__all__ = ["SGD", "Adam", "Optimizer", "RMSprop", "SGDMomentum", "ScipyBridge"]
