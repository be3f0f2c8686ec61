"""Arora et al., Theorem 4.3: below the upper ones."""

from dpbounds.theorems.registry import theorem


def test_upper_bounds_lie_above():
    for n, d in ((100, 1), (100, 10**6), (10**6, 100)):
        values = {"n": n, "d": d, "epsilon": 1, "lipschitz": 3}
        lower = theorem("cited/arora-et-al-2023/theorem-4.3").evaluate(**values).value
        upper = theorem("cited/arora-et-al-2023/theorem-4.2").evaluate(
            **values, smoothness=1, initial_gap=1, delta="0.3"
        )
        assert lower < upper.value.lower
