"""Algorithm 5: a point that passes although it should not."""

import pytest
from mpmath import mpf, ncdf

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("wang-chen-xu-2019/algorithm-5")


@pytest.mark.parametrize("records", [10**6, 10**9, 10**12])
def test_a_point_just_above_the_threshold_often_passes(records):
    # d = 1, a convex quadratic, whose curvature passes (by more than the noise), so the first test
    # decides; w₁, the first point that is tested, has F'(w₁) = α + σ₁/10 > α: not an α-SOSP
    alpha = mpf("0.1")
    values = {"c": 8, "G": 1, "T": 1000, "delta": "1e-5", "n": records, "epsilon": 1}
    sigma = mpf(evaluate("noise_variance", **values).value.upper) ** mpf("0.5")
    slope = alpha + sigma / 10
    passes = ncdf((alpha - slope) / sigma) - ncdf((-alpha - slope) / sigma)
    assert passes > mpf("0.45")
    tightened = ncdf((3 * alpha / 4 - slope) / sigma)
    assert tightened < mpf("1e-4")
