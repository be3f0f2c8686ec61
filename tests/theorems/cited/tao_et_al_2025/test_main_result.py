"""Tao et al.: the order, a second time; between what was claimed before and after."""

from mpmath import mpf, power

from dpbounds.theorems.registry import theorem

TWINS = {
    "rate": lambda dimension, dataset_size, epsilon: (
        power(dataset_size, -mpf(1) / 3) + power(dimension, mpf(1) / 5) * power(dataset_size * epsilon, -mpf(2) / 5)
    ),
}


def test_it_is_weaker_than_the_rate_of_liu_and_talwar():
    for n, d in ((10**4, 10), (10**6, 10**4)):
        values = {"n": n, "d": d, "epsilon": "0.5"}
        own = theorem("cited/tao-et-al-2025/main-result").evaluate(**values).value
        assert theorem("cited/liu-talwar-2024/main-result").evaluate(**values).value < own.lower
