"""Lemma E.1."""

from mpmath import mpf, sqrt

from tests.papers.reference_formulas import reference_of

twin = reference_of("lowy-ullman-wright-2024/lemma-e.1")


def test_the_middle_term_never_dominates_at_constants_of_order_one():
    # L/√ρ_H h √s <= (L²h²/ρ_H + s)/2: at most the others where L²h <= G ρ_H
    for n in (100, 10**6):
        for epsilon in (mpf("0.1"), mpf(2)):
            values = {"lipschitz": 1, "smoothness": 1, "initial_gap": 1, "dataset_size": n, "dimension": 5}
            values |= {"delta": mpf("0.01"), "epsilon": epsilon}
            s = twin("first_order", **values)
            h = 1 / (n * epsilon) + 1 / sqrt(mpf(n))
            assert h <= 1
            assert h * sqrt(s) <= (s + h) / 2
