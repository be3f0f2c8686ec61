"""The proof of secure noise (in ``secure_noise.py``): each step against direct sums and integrals."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats


def gaussian_divergence(shift, epsilon):
    """H_{e^ε} of N(shift, 1) from N(0, 1)."""
    return stats.norm.cdf(shift / 2 - epsilon / shift) - np.exp(epsilon) * stats.norm.cdf(-shift / 2 - epsilon / shift)


def discrete_divergence(variance, shift, epsilon, rate=1.0, replaced=False):
    """The same of discrete Gaussians around ``shift`` and 0, by summing; of mixtures on a Poisson sample, too."""
    x = np.arange(-6000, 6001)
    P0, P1, P2 = (np.exp(-((x - at) ** 2) / (2 * variance)) for at in (0, shift, -shift))
    upper, lower = (1 - rate) * P0 + rate * P1, (1 - rate) * P0 + rate * P2 if replaced else P0
    return np.maximum(upper - np.exp(epsilon) * lower, 0).sum() / P0.sum()


@pytest.mark.parametrize("stddev", [0.6, 2.0, 10.0, 300.0])
@pytest.mark.parametrize("shift", [1, 3, 10])
def test_a_discrete_gaussian_with_four_more_variance_is_dominated_and_without_is_not(stddev, shift):
    """With c = 2 in the place of 64, where η is 1e-33; this is why secure noise is larger than the ledger says."""
    epsilons = np.linspace(0, 8, 33)
    ideal = np.array([gaussian_divergence(shift / stddev, epsilon) for epsilon in epsilons])
    smoothed, bare = (
        np.array([discrete_divergence(variance, shift, epsilon) for epsilon in epsilons])
        for variance in (stddev**2 + 4, stddev**2)
    )
    assert (smoothed <= ideal + 1e-13).all()
    if shift <= 5 * stddev < 500:
        assert (bare > ideal + 1e-6).any()


@pytest.mark.parametrize(("rate", "replaced"), [(0.01, False), (0.3, False), (0.3, True), (0.01, True)])
def test_so_are_poisson_samples(rate, replaced):
    density = stats.norm.pdf
    x = np.linspace(-12, 12, 400_001)
    for stddev, shift in ((1.0, 1), (10.0, 5)):
        mu = shift / stddev
        upper = (1 - rate) * density(x) + rate * density(x - mu)
        lower = (1 - rate) * density(x) + rate * density(x + mu) if replaced else density(x)
        for epsilon in np.linspace(0, 3, 13):
            ideal = np.maximum(upper - np.exp(epsilon) * lower, 0).sum() * (x[1] - x[0])
            assert discrete_divergence(stddev**2 + 4, shift, epsilon, rate, replaced) <= ideal + 1e-9


@pytest.mark.parametrize("c", [0.5, 0.7, 1.0])
@pytest.mark.parametrize("centre", [0, 3])
def test_a_gaussian_rounded_at_random_is_nearly_a_discrete_gaussian(c, centre):
    """Step 1 by integration: the ratio is within the stated factor, which for c <= 1 can be seen."""
    sigma = 1.5
    k = np.arange(-40, 41)
    y = np.linspace(-25, 25, 20_001)
    weights = np.exp(-((k[:, None] - y) ** 2) / (2 * c * c))
    rounded = (stats.norm.pdf(y, centre, sigma) * weights / weights.sum(axis=0)).sum(axis=1) * (y[1] - y[0])
    discrete = np.exp(-((k - centre) ** 2) / (2 * (sigma**2 + c**2)))
    near = discrete / discrete.sum() > 1e-12
    ratios = np.log((discrete / discrete.sum())[near] / rounded[near])
    tau = 3 * math.exp(-2 * math.pi**2 * c * c)
    assert np.abs(ratios).max() <= math.log((1 + tau) / (1 - tau)) + 1e-9
    if c == 0.5:
        assert np.abs(ratios).max() > 1e-4  # it is not nothing


@pytest.mark.parametrize("mu", ["1e-9", "0.01", "1", "7", "20"])
def test_a_little_more_noise_pays_for_what_smoothing_leaves(mu):
    """Step 3, with an η that can be computed with, at 80 digits; a thousandth of the κ it asks for is too little."""
    with mpmath.workdps(80):
        mu, eta = mpmath.mpf(mu), mpmath.mpf("1e-40")

        def F(shift, epsilon):
            return mpmath.ncdf(shift / 2 - epsilon / shift) - mpmath.exp(epsilon) * mpmath.ncdf(
                -shift / 2 - epsilon / shift
            )

        def holds(kappa, epsilon):
            return mpmath.exp(eta) * F(mu, epsilon - 2 * eta) <= F((1 + kappa) * mu, epsilon)

        kappa = 8 * eta * mpmath.exp(mu**2 / 8 + 1) / mu
        epsilons = [mu * t + mu**2 / 2 for t in (-mu / 2, -1, 0, 1, 5)]
        assert all(holds(kappa, epsilon) for epsilon in epsilons if epsilon >= 0)
        assert not all(holds(kappa / 1000, epsilon) for epsilon in epsilons if epsilon >= 0)
