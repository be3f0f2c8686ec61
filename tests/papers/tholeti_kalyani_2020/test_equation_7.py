"""Equation (7)."""

from tests.papers.reference_formulas import evaluated


def test_it_is_the_number_of_theorem_1():
    values = {"T": 30, "n": 1000, "Delta": "0.7", "r_u": "1.1", "d": 12}
    first, second = (evaluated(f"tholeti-kalyani-2020/{name}")(**values) for name in ("equation-7", "theorem-1"))
    assert first.value.overlaps(second.value)
    assert first.applies is True
    assert evaluated("tholeti-kalyani-2020/equation-7")(**{**values, "sensitivity": 3}).applies is False
