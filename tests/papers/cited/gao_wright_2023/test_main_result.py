"""Gao & Wright."""

from dpbounds.theorems.registry import theorem


def test_with_constant_privacy_it_is_the_order_of_private_gradient_descent():
    own = theorem("cited/gao-wright-2023/main-result").evaluate(n=5000, d=20).value
    other = theorem("cited/avdiukhin-et-al-2024/main-result").evaluate(n=5000, d=20, epsilon=1).value
    assert own.overlaps(other)
