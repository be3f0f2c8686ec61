"""Algorithm 2: what it spends."""

from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending


def test_the_promise_is_kept():
    for epsilon, failure, share in ((1, "1e-6", 0.99), ("0.1", "0.2", 0.5)):  # what is left is δ²/4
        found = spending(theorem("lowy-ullman-wright-2024/algorithm-2"), {"epsilon": epsilon, "delta": failure})
        assert found.kept is True
        assert found.spent.lower > share * float(epsilon)
