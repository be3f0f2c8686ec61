"""Wang & Xu 2020: where it is worse than first-order rates."""

from dpbounds.theorems.registry import theorem


def test_it_exceeds_the_first_order_rate_wherever_that_is_below_1():
    """(d/N)^(4/7) against (√d/N)^(2/3): the quotient is d^(5/21) N^(2/21)."""
    for n, d in ((100, 1), (10**6, 10), (10**6, 10**5)):
        slow = theorem("cited/wang-xu-2020/main-result").evaluate(n=n, d=d, epsilon=1).value.lower
        fast = theorem("cited/tran-cutkosky-2022/main-result").evaluate("rate", n=n, d=d, epsilon=1).value.lower
        assert abs(slow / fast / (d ** (5 / 21) * n ** (2 / 21)) - 1) < 1e-9
