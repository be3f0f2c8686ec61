"""Algorithm 1: its line 9, its kick, its logarithms."""

import math

import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("ganesh-liu-oh-thakurta-2023/algorithm-1")


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


def test_the_two_kicks_differ():
    values = {"B": 1, "L": 1, "d": 100, "rho_H": 1, "zeta": "0.01"}
    gamma = evaluate(
        "gradient_accuracy",
        universal_constant=1,
        first_oracle_noise="0.001",
        second_oracle_noise=1,
        kappa="1e-9",
        **values,
    ).value.lower
    algorithm, lemma = 0.001**2 / 100, gamma**2 / (100 * math.log(100 / 0.01))
    assert lemma / algorithm >= 16 * math.log(1e4) / math.log(1e4) * 0.999


def test_logarithms_depend_on_units():
    values = {"B": 1, "L": 1, "d": 10, "zeta": "0.1", "gradient_accuracy": "0.1"}
    metres = evaluate("steps", rho_H=1, **values).value.lower
    # the same problem with lengths in thousandths: w -> 1000 w
    scaled = {**values, "L": "1e-6", "gradient_accuracy": "1e-4"}
    millimetres = evaluate("steps", rho_H="1e-9", **scaled).value.lower
    assert millimetres / metres > 10
    assert math.log(10 / 200 / 0.1) < 0  # at ρ = 200 > BMd/ω = 100 the printed γ² is negative
