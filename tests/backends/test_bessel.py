"""Modified Bessel functions from those of order 0 and 1, over all sizes of argument."""

from __future__ import annotations

import numpy as np
import pytest

from arraygrad.backends.bessel import scaled_bessel

special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize("n", [-3, 0, 1, 2, 3, 5, 9])
def test_integer_orders(n: int) -> None:
    sizes = np.geomspace(1e-3, 1e4, 200)
    x = np.concatenate([-sizes, [0.0], sizes])
    found = scaled_bessel(np, special.i0e, special.i1e, n, x)
    np.testing.assert_allclose(found, special.ive(n, x), rtol=1e-12)
