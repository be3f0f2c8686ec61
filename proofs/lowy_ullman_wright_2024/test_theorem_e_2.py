"""Theorem E.2: given the start, the records are not independent draws."""

import itertools
import math

import pytest


def test_given_the_start_the_records_are_tilted():
    """Three fair coins, A answers by randomised response on their majority: ε-DP, and still it tilts what B sees."""
    epsilon = 0.5
    honest = math.exp(epsilon) / (1 + math.exp(epsilon))
    law = {}
    for coins in itertools.product((0, 1), repeat=3):
        says_one = honest if sum(coins) >= 2 else 1 - honest
        law[coins] = says_one / 8 / 0.5  # given that A says 1, which it does half of the time
    assert sum(law.values()) == pytest.approx(1)
    mean = sum(chance * sum(coins) / 3 for coins, chance in law.items())
    assert mean > 0.5 + 0.05  # no draw from the distribution
    both = sum(chance for coins, chance in law.items() if coins[0] == coins[1] == 1)
    assert abs(both - mean**2) > 0.001  # and not independent
