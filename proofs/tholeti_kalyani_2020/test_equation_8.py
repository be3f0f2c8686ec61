"""Equation (8): its left-hand side, by mpmath's own incomplete beta function; and the sum for more terms."""

import pytest
from mpmath import betainc, factorial, mpf, rf, workdps


@pytest.mark.parametrize("m", [1, 4, 17])
@pytest.mark.parametrize(("z", "a"), [("0.2", "0.5"), ("0.9", "3.7")])
def test_the_identity(m, z, a):
    with workdps(40):
        z, a = mpf(z), mpf(a)
        right = sum(z**a * rf(a, k) * (1 - z) ** k / factorial(k) for k in range(m))
        assert abs(betainc(a, m, 0, z, regularized=True) - right) < mpf(10) ** -37
