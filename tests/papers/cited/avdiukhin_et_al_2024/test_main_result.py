"""Avdiukhin et al.: of private gradient descent for first-order points."""

from mpmath import ln, root

from dpbounds.theorems.registry import theorem


def test_it_is_the_order_of_private_gradient_descent_without_the_logarithm():
    values = {"n": 5000, "d": 20, "epsilon": "0.5"}
    own = theorem("cited/avdiukhin-et-al-2024/main-result").evaluate(**values).value.lower
    other = theorem("cited/wang-ye-xu-2017/main-result").evaluate(**values, delta="1e-5").value.lower
    assert abs(other / own - float(root(5 * ln(10), 4))) < 1e-9
