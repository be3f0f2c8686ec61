"""Lemma D.2: the estimate on which the rejection rests."""

import numpy as np
import pytest
from mpmath import e, factorial, fsum, mp, mpf


def test_the_estimate_is_unbiased_and_costs_2e():
    difference = mpf("-0.3")  # F(Z) - F(X), the mean of the random differences
    assert mp.almosteq(fsum(difference**k / factorial(k) for k in range(40)), e**difference)
    assert mp.almosteq(2 * fsum(k / factorial(k) for k in range(1, 40)), 2 * e)


@pytest.mark.parametrize(("step", "unbiased"), [(0.01, True), (0.05, True), (1.0, False)])
def test_rejection_draws_from_the_inner_density(step, unbiased):
    """Two kinds of records on [-1, 1], the estimate simulated literally; compared by its mean."""
    generator = np.random.default_rng(6)
    count, centre, beta = 100_000, 0.1, 1.0 if unbiased else 4.0  # the last step is far too long
    draws = generator.normal(centre, step**0.5, size=(8 * count, 1))
    draws = draws[np.abs(draws) <= 1][: 2 * count]
    first, second = draws[:count], draws[count:]

    def losses(x):
        return beta * np.stack([np.abs(x - 0.4), -np.abs(x + 0.2)])

    changes = losses(second) - losses(first)
    length = (generator.random(count)[:, None] <= 1 / np.cumprod(np.arange(1, 9))).sum(axis=1)  # P(a >= k) = 1/k!
    estimate = np.ones(count)
    for k in range(1, 9):
        picks = generator.integers(2, size=(k, count))
        product = np.prod(changes[picks, np.arange(count)], axis=0)
        estimate += np.where(length >= k, product, 0)
    kept = first[generator.random(count) <= estimate / 2]
    grid = np.linspace(-1, 1, 20001)
    weight = np.exp(-losses(grid).mean(axis=0) - (grid - centre) ** 2 / (2 * step))
    distance = abs(kept.mean() - (weight @ grid) / weight.sum())
    assert bool(distance <= 4 * kept.std() / len(kept) ** 0.5) is unbiased
    assert len(kept) / count > 0.49 or not unbiased
