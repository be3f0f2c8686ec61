"""The exponential mechanism on a set: the loss of a tilted interval."""

from mpmath import expm1, log, mpf


def largest_loss(temperature, size):
    """K = [0, 1], n - 1 losses +x, and one that is replaced, +x by -x: log of the ratio of the densities at 1."""
    tilts = temperature, temperature * (size - 2) / size
    masses = [-expm1(-tilt) / tilt for tilt in tilts]
    return abs(-tilts[0] + tilts[1] - log(masses[0] / masses[1]))


def test_a_tilted_interval_spends_twice_epsilon():
    epsilon, size = mpf("0.5"), 10**4
    printed = epsilon * size  # εn/(GD)
    assert largest_loss(printed, size) > mpf("1.99") * epsilon
    assert mpf("0.99") * epsilon < largest_loss(printed / 2, size) <= epsilon
