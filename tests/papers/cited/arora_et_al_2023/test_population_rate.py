"""Arora et al., population rates: convexity helps wherever the rate says anything."""

from dpbounds.theorems.registry import theorem


def test_convex_losses_are_easier_where_the_rate_is_below_1():
    statement = theorem("cited/arora-et-al-2023/population-rate")
    for n, d in ((100, 1), (10**4, 100), (10**6, 10**5)):
        values = {"n": n, "d": d, "epsilon": 1}
        assert statement.evaluate("convex", **values).value < statement.evaluate("rate", **values).value.lower
