"""Liu & Talwar: of first-order points."""

from dpbounds.theorems.registry import theorem


def test_second_order_points_cost_no_more_than_first_order_ones():
    for n, d in ((10**4, 10), (10**6, 10**4)):
        values = {"n": n, "d": d, "epsilon": "0.5"}
        own = theorem("cited/liu-talwar-2024/main-result").evaluate(**values).value
        assert own.overlaps(theorem("cited/arora-et-al-2023/population-rate").evaluate("rate", **values).value)
