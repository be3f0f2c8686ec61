"""Remark 1: how it follows from Theorem 2."""

from mpmath import exp, ln, mpf

from tests.papers.reference_formulas import evaluated, reference_of

twin = reference_of("wang-chen-xu-2019/remark-1")


def test_it_follows_from_theorem_2():

    growth, dimension = mpf("0.4"), 1
    for records in (10**4, 10**8, 10**16):
        beta = ln(records)  # κβ < ln n
        limit = evaluated("wang-chen-xu-2019/theorem-2")(
            "many_steps", growth_rate="0.4", beta=str(beta), delta="1e-5", n=records, epsilon=1, d=1
        )
        assert exp(growth * beta) / records < records ** mpf("-0.5")
        assert (
            limit.value.upper
            < 3 * ln(beta) * twin("rate", delta=mpf(10) ** -5, n=mpf(records), epsilon=1, d=dimension) + 1 / beta
        )
