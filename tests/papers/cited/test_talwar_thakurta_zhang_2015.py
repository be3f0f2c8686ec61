"""Talwar, Thakurta & Zhang: the order in n, and how it compares with the non-convex one."""

from tests.papers.reference_formulas import evaluated


def test_eight_times_the_records_are_a_quarter_of_the_risk():
    evaluate = evaluated("cited/talwar-thakurta-zhang-2015/main-result")
    first, second = (evaluate(n=n).value.lower for n in (1000, 8000))
    assert abs(first / second - 4) < 1e-9
