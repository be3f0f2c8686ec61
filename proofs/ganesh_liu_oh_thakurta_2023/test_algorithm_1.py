"""Algorithm 1: line 9 as printed misses the last step."""

import math

import pytest


def longest_stretch(threshold, slope, is_printed, steps=40):
    """The largest sum of squared steps since a fresh estimate at which a difference is asked for; F linear, M = 1."""
    drift, since, longest = [threshold], math.inf, 0.0
    for t in range(steps):
        tested = drift[t - 1] if is_printed and t > 0 else drift[t]
        if t == 0 or tested >= threshold:
            since = drift[t] = 0.0
        else:
            longest = max(longest, since)
        since += slope**2
        drift.append(drift[t] + slope**2)
    return longest


@pytest.mark.parametrize("threshold", [0.5, 0.01])
def test_line_9_as_printed_misses_the_last_step(threshold):
    assert longest_stretch(threshold, 1.0, is_printed=True) >= 1.0 > threshold
    assert longest_stretch(threshold, 1.0, is_printed=False) == 0.0
    assert longest_stretch(threshold, 0.04, is_printed=False) < threshold
    assert longest_stretch(threshold, 0.04, is_printed=True) < threshold + 2 * 0.04**2
