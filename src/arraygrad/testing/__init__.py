"""Checks for tests: of derivatives against finite differences, and of arrays against each other.

For users' tests as well as our own.
"""

from ..core.describing import describe as _describe
from .closeness import assert_close
from .derivatives import GradcheckError, gradcheck, gradgradcheck
from .libraries import check_backend
from .strategies import tensors

__all__ = [
    "GradcheckError", "assert_close", "check_backend", "gradcheck", "gradgradcheck", "tensors",
]  # fmt: skip

_describe((assert_close, check_backend), {}, {}, {})


def __dir__() -> list[str]:
    return __all__
