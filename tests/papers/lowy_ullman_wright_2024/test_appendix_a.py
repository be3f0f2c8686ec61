"""Rates of earlier work: in the order in which they improve."""

from dpbounds.theorems.registry import theorem


def test_upper_bounds_are_above_lower_bounds_where_they_say_something():
    statement = theorem("lowy-ullman-wright-2024/appendix-a")
    for d, n in ((10, 1000), (1000, 10**6), (10, 10**9)):
        values = {"d": d, "n": n, "epsilon": 1}
        lower, spider, descent = (
            statement.evaluate(part, **values, **({} if part == "lower-empirical" else {"delta": "1e-6"})).value
            for part in ("lower-empirical", "arora-empirical", "before-2022")
        )
        assert lower.upper < spider.lower < descent.lower
        low, high = (statement.evaluate(part, **values).value for part in ("lower-population", "arora-population"))
        assert low.upper < high.lower
