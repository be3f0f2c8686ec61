"""DP-STORM: its leading constant."""

import math

import numpy as np
import pytest


def square(T, eta, k, share, y):
    """Of the bound where G = L = Δ = 1 and d = y n²ρ; large where a condition fails."""
    first, later = 2 * y / share, 2 * y * (T - 1) / (1 - share)  # d σ², d σ₂²
    if k > 1 or share >= 1 or T < 2 or 2 * later * (1 - k) ** 2 * eta**2 > (1 - eta) * k * (2 - k):
        return 1e9
    return (2 / eta + (first + 2 * (T - 1) * k**2 * later) / (k * (2 - k))) / (T + 1 / eta)


@pytest.mark.parametrize(("eta", "constant"), [(0.05, 2.20), (0.2, 2.27), (0.5, 2.45)])
def test_the_leading_constant(eta, constant):
    y = 1e-12
    found = math.inf
    for T in np.geomspace(0.1, 2, 60) / (eta * y ** (2 / 3)):
        for share in (1e-3, 1e-2):
            k = 2 * eta**2 * 2 * y * T / ((1 - share) * (1 - eta)) / 2 * 1.001  # what the condition asks for
            found = min(found, square(T, eta, k, share, y))
    assert math.sqrt(found) / y ** (1 / 3) == pytest.approx(constant, rel=0.01)
