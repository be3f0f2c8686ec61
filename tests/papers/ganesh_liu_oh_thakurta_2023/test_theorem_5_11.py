"""Theorem 5.11: the paper's own upper bound that refutes its first term.

With constants: below every upper bound here, and below an algorithm's exact risk.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from mpmath import ln, mpf
from scipy.stats import binom

from tests.papers.reference_formulas import evaluated, reference_of

explicit = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.11/explicit")
twin = reference_of("ganesh-liu-oh-thakurta-2023/theorem-5.11")


def upper(size, dimension):
    """Theorem 5.8 with constants on the unit ball, at its printed radius and ε = 1: pure, so for every δ."""
    explicit = evaluated("ganesh-liu-oh-thakurta-2023/theorem-5.8/explicit")
    found = explicit(n=size, d=dimension, epsilon=1, G=1, D=2, R=1, r_n=Fraction(2 * dimension, size))
    assert found.applies is True
    return mpf(found.value.upper)


def test_the_first_term_exceeds_the_upper_bound_of_the_paper():
    at_a_million = twin("printed", d=1000, delta=mpf(2) ** -1000, epsilon=1, n=10**6)  # δ = 2^{-√n}
    assert float(at_a_million) == pytest.approx(0.693, abs=1e-3)
    assert float(upper(10**6, 1000)) == pytest.approx(0.147, abs=1e-3)
    # whatever the constant in Ω is, it fails: d = ln²(n), δ = 2^{-n^{3/4}}, along which the term tends to 0
    ratios, terms = [], []
    for power in (8, 12, 16, 24, 32):
        size = 10**power
        dimension = int(ln(size) ** 2)
        terms.append(dimension * mpf(size) ** mpf("0.75") * ln(2) / size)
        ratios.append(terms[-1] / upper(size, dimension))
    assert all(later > 2 * earlier for earlier, later in pairwise(ratios))
    assert ratios[-1] > 10**5
    assert terms[-1] < terms[0]
    assert terms[-1] < 1e-4


@pytest.mark.parametrize("epsilon", ["0.01", "1", "5"])
@pytest.mark.parametrize(("size", "dimension"), [(10, 4), (10**3, 4), (10**3, 5000), (10**6, 100)])
def test_below_the_upper_bounds(epsilon, size, dimension):
    values = {"n": size, "d": dimension, "epsilon": epsilon, "G": 1, "D": 2}
    lower = max(explicit("bound", delta="1e-300", **values).value.upper, explicit("pure_privacy", **values).value.upper)
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
    stated = explicit("pure_privacy", n=size, d=dimension, epsilon=epsilon, G=1, D=2).value
    assert risk >= stated.upper
