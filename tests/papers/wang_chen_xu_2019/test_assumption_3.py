"""Assumption 3 and its example: a small tuning constant is excluded."""

from tests.papers.reference_formulas import evaluated


def test_a_small_tuning_constant_is_excluded():
    evaluate = evaluated("wang-chen-xu-2019/assumption-3")
    flat = [evaluate("biweight", residual=s, tuning_constant="1.5").value for s in ("1.6", "1.8", "2")]
    assert len({(one.lower, one.upper) for one in flat}) == 1  # ψ' = 0 at s > 0 within [-(1 + Y), 1 + Y] for Y = 1
