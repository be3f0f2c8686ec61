"""Table 3: its rows against Table 1."""

from dpbounds.theorems.registry import theorem


def test_the_same_rates_as_in_table_1():
    first, third = (theorem(f"ganesh-liu-oh-thakurta-2023/table-{k}") for k in (1, 3))
    values = {"n": 3000, "d": 7}
    for name in ("empirical", "population"):
        one = first.evaluate(f"{name}-sosp", epsilon=1, **values).value
        assert one.overlaps(third.evaluate(name, **values).value)
