"""Equation (7)."""

from dpbounds.theorems.registry import theorem


def test_it_is_the_number_of_theorem_1():
    values = {"steps": 30, "dataset_size": 1000, "sensitivity": "0.7", "radius": "1.1", "dimension": 12}
    first, second = (theorem(f"tholeti-kalyani-2020/{name}").evaluate(**values) for name in ("equation-7", "theorem-1"))
    assert first.value.overlaps(second.value)
    assert first.applies is True
    assert theorem("tholeti-kalyani-2020/equation-7").evaluate(**{**values, "sensitivity": 3}).applies is False
