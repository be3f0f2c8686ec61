"""Lower bounds with constants: below every upper bound here, and below an algorithm's exact risk."""

import numpy as np
import pytest
from scipy.stats import binom

from tests.papers.twins import evaluated

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.11/explicit")


@pytest.mark.parametrize("epsilon", ["0.01", "1", "5"])
@pytest.mark.parametrize(("size", "dimension"), [(10, 4), (10**3, 4), (10**3, 5000), (10**6, 100)])
def test_below_the_upper_bounds(epsilon, size, dimension):
    values = {"n": size, "d": dimension, "epsilon": epsilon, "G": 1, "D": 2}
    lower = max(evaluate("bound", delta="1e-300", **values).value.upper, evaluate("pure_privacy", **values).value.upper)
    for name in ("theorem-5.6/explicit", "theorem-5.8/explicit"):
        upper = evaluated(f"ganesh-liu-oh-thakurta-2023/{name}")("tuned", **values).value.lower
        assert 0 < lower < upper


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("dimension", [4, 10, 20])
@pytest.mark.parametrize("size", [5, 50, 500])
def test_below_the_risk_of_the_exponential_mechanism_on_the_centres(epsilon, dimension, size):
    """Unit ball; scores -M/4 of 2^d centres; the loss spans β/(2n) = ε. Exact, over M ~ Bin(n, q)."""
    level = (dimension - 1) * np.log(2)
    share = min(1.0, level / (size * np.expm1(epsilon)))
    counts = np.arange(size + 1)
    success = 1 / (1 + (2.0**dimension - 1) * np.exp(-epsilon * counts / 2))
    risk = share / 4 * (binom.pmf(counts, size, share) @ (1 - success))
    stated = evaluate("pure_privacy", n=size, d=dimension, epsilon=epsilon, G=1, D=2).value
    assert risk >= stated.upper


def test_group_privacy_averaged_over_the_number_of_records():
    size, share, epsilon = 40, 0.07, 0.8
    counts = np.arange(size + 1)
    mean = binom.pmf(counts, size, share) @ np.exp(epsilon * counts)
    assert mean == pytest.approx((1 + share * np.expm1(epsilon)) ** size)
    assert mean <= np.exp(size * share * np.expm1(epsilon))
