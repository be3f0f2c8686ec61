"""Corollary 7.1: it follows from the repaired Corollary E.4 where n d ε² >= 1, and only there."""

import pytest
from mpmath import mpf

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("lowy-ullman-wright-2024/corollary-7.1")

ONES = {"G": 1, "L": 1, "D": 1, "rho_H": 1, "delta": mpf("0.36787944117144233")}


def full(d, epsilon, n):
    values = {**ONES, "dimension": d, "epsilon": epsilon, "dataset_size": n}
    return evaluated("lowy-ullman-wright-2024/corollary-e.4")("rate", **{k: str(v) for k, v in values.items()})


@pytest.mark.parametrize("n", [10**3, 10**6, 10**9])
@pytest.mark.parametrize("d", [1, 30, 5000])
@pytest.mark.parametrize("epsilon", ["0.05", "1"])
def test_the_terms_left_out_are_of_lower_order(n, d, epsilon):
    assert n * d * mpf(epsilon) ** 2 >= 1
    ratio = full(d, epsilon, n).value.upper / evaluate("rate", d=d, epsilon=epsilon, n=n).value.lower
    assert 1 <= ratio <= 5


def test_without_the_condition_they_are_not():
    found = evaluate("rate", d=1, n=10**6, epsilon="1e-5")
    assert found.applies is False
    assert full(1, "1e-5", 10**6).value.lower > 2 * found.formula_value.upper
