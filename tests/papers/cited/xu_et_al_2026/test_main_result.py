"""Xu et al.: of first-order points."""

from dpbounds.theorems.registry import theorem


def test_it_is_the_order_known_for_first_order_points():
    values = {"n": 10**5, "d": 100, "epsilon": "0.5"}
    own = theorem("cited/xu-et-al-2026/main-result").evaluate(**values).value
    assert own.overlaps(theorem("cited/tran-cutkosky-2022/main-result").evaluate("rate", **values).value)
