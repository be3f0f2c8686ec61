"""Theorem 3: the second equality of (5)."""

from tests.papers.reference_formulas import evaluated


def test_the_combined_term_vanishes_where_the_sum_does_not():
    evaluate = evaluated("wang-xu-2019/theorem-3")
    values = {"tau": 1, "d": 4, "zeta": "0.1", "n": 1000, "epsilon": 1}
    ratios = []
    for failure in ("0.5", "0.99", "0.9999999999"):
        summed, combined = (evaluate(part, delta=failure, **values).value.lower for part in ("rate", "combined"))
        ratios.append(summed / combined)
    assert ratios[0] < 3
    assert ratios[1] < ratios[2]
    assert ratios[2] > 100
