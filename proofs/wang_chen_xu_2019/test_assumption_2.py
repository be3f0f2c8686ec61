"""Assumption 2: why its bars are needed, and the sigmoid link."""

import math

import pytest


def smoothness(slope, bound):
    """Of the loss, for a link of bounded slope, curvature and size."""
    return 2 * slope * (slope + bound + 1)


@pytest.mark.parametrize("sharpness", [10.0, 1e3, 1e5])
def test_without_absolute_values_the_loss_is_not_smooth(sharpness):
    # σ' = 1/2 - tanh(Ks)/4 and σ'' = -K sech²(Ks)/4 <= 0: max{σ', σ''} <= 3/4 <= C = 1, σ' >= 1/4, |σ| <= 5/4
    points = [k / 1000 for k in range(-1000, 1001)]
    slopes = [0.5 - math.tanh(sharpness * s) / 4 for s in points]
    seconds = [-sharpness * (1 - math.tanh(sharpness * s) ** 2) / 4 for s in points]
    assert all(max(first, second) <= 1 and first >= 0.25 for first, second in zip(slopes, seconds, strict=True))
    # σ(0) = 1/2, y = 1: φ''(0) = 2σ'² + 2(σ - 1)σ''
    curvature = 2 * 0.5**2 + 2 * (0.5 - 1) * (-sharpness / 4)
    assert curvature > 2 * sharpness / 10
    if sharpness > 100:
        assert curvature > smoothness(1, 1.25)


def test_the_sigmoid_link():
    bound = math.exp(1) / (1 + math.exp(1))  # of σ on [-1, 1]
    steepest = sharpest = 0.0
    for k in range(-1000, 1001):
        sigma = 1 / (1 + math.exp(-k / 1000))
        first = sigma * (1 - sigma)
        second = first * (1 - 2 * sigma)
        for label in (0, 1):
            steepest = max(steepest, abs(2 * (sigma - label) * first))
            sharpest = max(sharpest, abs(2 * first**2 + 2 * (sigma - label) * second))
    assert steepest <= 2 + 2 * bound
    assert sharpest <= smoothness(1, bound)
