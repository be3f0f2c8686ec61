"""Abadi et al., Theorem 1: the condition, where its constant is given."""

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("cited/abadi-et-al-2016/theorem-1")
VALUES = {"epsilon": 1, "delta": "1e-6", "T": 10_000, "q": "0.01"}


def test_the_range_is_checked_where_its_constant_is_given():
    for constant, applies in (("1.01", True), ("0.99", False)):  # q²T = 1
        found = evaluate(**VALUES, c=2, range_constant=constant)
        assert found.applies is applies
    assert evaluate(**VALUES, c=2).applies is None
