"""Equation (8): its left-hand side, by mpmath's own incomplete beta function; and the sum for more terms."""

import pytest
from mpmath import mpf, workdps

from tests.papers.reference_formulas import Point
from tests.papers.tholeti_kalyani_2020.reference_formulas import equation_8_kth, equation_8_left


@pytest.mark.parametrize("m", [1, 4, 17])
@pytest.mark.parametrize(("z", "a"), [("0.2", "0.5"), ("0.9", "3.7")])
def test_the_identity(m, z, a):
    with workdps(40):
        q = Point({"argument": mpf(z), "parameter": mpf(a)})
        right = sum(equation_8_kth(q, k) for k in range(m))
        assert abs(equation_8_left(q, m) - right) < mpf(10) ** -37
