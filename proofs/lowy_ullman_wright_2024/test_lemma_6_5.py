"""Lemma 6.5: the step of its proof that fails."""

import pytest
from mpmath import mpf


@pytest.mark.parametrize("power", ["1.2", "1.5", "2"])
def test_a_large_mean_power_does_not_make_the_mean_large(power):
    # F = (γ|w|)^p, 1/p + 1/k = 1, scaled so that F = γᵏ|∇F|ᵏ everywhere on the ball: the gradient's norm G is reached
    # with probability (c/G)ᵏ, else it is 0. Then E[F - inf F] = (γc)ᵏ, as the lower bound asks, and E|∇F| is below c.
    k, lipschitz, gamma = mpf(power), mpf(1), mpf("0.3")
    ratios = []
    for c in (mpf("0.1"), mpf("0.01"), mpf("0.001")):
        chance = (c / lipschitz) ** k
        excess = chance * gamma**k * lipschitz**k
        mean = chance * lipschitz
        assert abs(excess - (gamma * c) ** k) < mpf("1e-12")
        assert abs(mean - c**k / lipschitz ** (k - 1)) < mpf("1e-12")  # what survives, attained
        ratios.append(mean / c)
    assert ratios[2] < ratios[1] < ratios[0] < 1
    assert ratios[2] <= mpf("0.001") ** (k - 1) * mpf("1.0001")


@pytest.mark.parametrize("power", [1.25, 2.0])
def test_such_a_loss_exists(power):
    # in one dimension F = a|w|^p, p = k/(k-1): F/|F'|ᵏ = a|w|^p / (a p |w|^(p-1))ᵏ is constant, as (p-1)k = p
    k = power
    p = k / (k - 1) if k > 1 else float("inf")
    values = [abs(w) ** p / (p * abs(w) ** (p - 1)) ** k for w in (0.1, 0.5, 2.0)]
    assert max(values) == pytest.approx(min(values))
    assert p >= 2  # smooth near 0
