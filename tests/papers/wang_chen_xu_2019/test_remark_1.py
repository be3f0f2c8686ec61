"""Remark 1: how it follows from Theorem 2."""

from mpmath import exp, ln, mpf

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("wang-chen-xu-2019/remark-1")


def test_it_follows_from_theorem_2():
    growth = mpf("0.4")
    for records in (10**4, 10**8, 10**16):
        beta = ln(records)  # κβ < ln n
        limit = evaluated("wang-chen-xu-2019/theorem-2")(
            "many_steps", growth_rate="0.4", beta=str(beta), delta="1e-5", n=records, epsilon=1, d=1
        )
        assert exp(growth * beta) / records < records ** mpf("-0.5")
        rate = evaluate("rate", delta="1e-5", n=records, epsilon=1, d=1).value.lower
        assert limit.value.upper < 3 * ln(beta) * rate + 1 / beta
