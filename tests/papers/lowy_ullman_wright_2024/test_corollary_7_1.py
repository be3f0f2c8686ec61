"""Corollary 7.1: it follows from the repaired Corollary E.4 where n d ε² >= 1, and only there."""

import pytest
from mpmath import cbrt, mpf, sqrt

from tests.papers.reference_formulas import evaluated, reference_of

twin = reference_of("lowy-ullman-wright-2024/corollary-7.1")

ONES = {"G": 1, "L": 1, "D": 1, "rho_H": 1, "delta": mpf("0.36787944117144233")}


def full(d, epsilon, n):
    values = {**ONES, "dimension": d, "epsilon": epsilon, "dataset_size": n}
    return evaluated("lowy-ullman-wright-2024/corollary-e.4")("rate", **{k: str(v) for k, v in values.items()})


@pytest.mark.parametrize("n", [10**3, 10**6, 10**9])
@pytest.mark.parametrize("d", [1, 30, 5000])
@pytest.mark.parametrize("epsilon", ["0.05", "1"])
def test_the_terms_left_out_are_of_lower_order(n, d, epsilon):
    assert n * d * mpf(epsilon) ** 2 >= 1
    ratio = full(d, epsilon, n).value.upper / float(twin("rate", d=d, epsilon=mpf(epsilon), n=mpf(n)))
    assert 1 <= ratio <= 5


def test_without_the_condition_they_are_not():
    ratios = [
        full(1, f"1e-{k}", 10**6).value.lower / float(twin("rate", d=1, epsilon=mpf(10) ** -k, n=mpf(10**6)))
        for k in (4, 5, 5.5)[:2]
    ]
    assert ratios[1] > 2
    found = evaluated("lowy-ullman-wright-2024/corollary-7.1")("rate", d=1, n=10**6, epsilon="1e-5")
    assert found.applies is False


def test_for_constant_dimension_and_budget_it_is_the_sampling_error():
    values = [twin("rate", d=3, epsilon=mpf(1), n=mpf(n)) * sqrt(mpf(n)) for n in (10**8, 10**16, 10**32)]
    assert values[1] / values[2] < mpf("1.3")  # (√d Z/(εn))^{3/7} is n^{-9/14}
    assert values[2] > 1


def test_it_improves_on_the_cold_start_where_z_is_below_one():
    for d, epsilon, n in ((10, mpf(1), mpf(100)), (10, mpf(1), mpf(12)), (100, mpf("0.1"), mpf(10**5))):
        z = d / (epsilon * n) + sqrt(d / n)
        cold = 1 / cbrt(n) + (sqrt(mpf(d)) / (epsilon * n)) ** (mpf(3) / 7)
        assert (twin("rate", d=d, epsilon=epsilon, n=n) < cold) is bool(z < 1)
