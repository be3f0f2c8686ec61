"""Theorem 5: a robust loss on which it fails."""

import math

import numpy as np
import pytest

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("wang-chen-xu-2019/theorem-5")


def influence(t):
    """ψ' of a robust loss; d = 1, x = 1, w* = -1, ξ = ±3 with probability 1/2 each, so Y = 4 and |t| <= 5."""
    size = np.abs(t)
    bump = 0.3 * (size / 3) ** 2 * (size - 3) * np.exp(-4 * (size - 3) ** 2)
    return np.sign(t) * (np.tanh(4 * size) * (0.6 - 0.1 * size) + bump)


SHIFTS = np.linspace(0, 2, 20_001)  # s = w - w*
SCORE = (influence(SHIFTS + 3) + influence(SHIFTS - 3)) / 2  # h(s)
EXCESS = np.concatenate([[0], np.cumsum((SCORE[1:] + SCORE[:-1]) / 2 * 1e-4)])  # L_P(w) - L_P(w*)


def excess_of_frank_wolfe(records, seed=0, chains=24, constant=8.0, share=0.1):
    """Mean excess over min L_P of DP-FW-L2 from w₁ = w*, on data with as many ξ = 3 as ξ = -3; ε = 1, δ = 1e-5."""
    generator = np.random.default_rng(seed)
    logarithm = math.log(1e5)
    steps = math.ceil(share * records / math.sqrt(logarithm))
    fraction = 1 / math.sqrt(steps)
    bound = 2.41  # C_ψ >= sup |ψ'|, sup |ψ''|
    sigma = bound * math.sqrt(constant * steps * logarithm) / records
    shifts, total = np.zeros(chains), 0.0
    for noise in generator.normal(0, sigma, (steps, chains)):
        total += np.interp(shifts, SHIFTS, EXCESS).mean()
        vertices = np.where(np.interp(shifts, SHIFTS, SCORE) + noise < 0, 2.0, 0.0)  # v = 1 or -1, as s
        shifts += fraction * (vertices - shifts)
    return total / steps - EXCESS.min()


@pytest.mark.seconds
def test_a_slope_at_zero_is_not_enough():
    # Assumption 3: ψ' odd by its form, positive on (0, 5], bounded with its derivative; h'(0) > 0
    grid = np.linspace(1e-3, 5, 5_000)
    assert (influence(grid) > 0).all()
    assert np.abs(np.gradient(influence(grid), grid)).max() < 2.41
    assert SCORE[1] / SHIFTS[1] == pytest.approx(0.2, abs=1e-3)
    # the inequality fails for every μ > 0 at s = 0.6: positive excess, negative inner product
    assert np.interp(0.6, SHIFTS, EXCESS) > 0.01
    assert np.interp(0.6, SHIFTS, SCORE) * 0.6 < -0.009
    # w* is stationary (<∇L_P(w*), v - w*> = 0 for all v), but no minimiser
    assert SCORE[0] == 0
    assert EXCESS[-1] == pytest.approx(-0.1614, abs=1e-3)
    # and DP-FW-L2 stays there, at a hundred times the rate, however many records
    for records in (10**6, 2 * 10**6):
        claimed = evaluate("rate", d=1, delta="1e-5", n=records, epsilon=1).value.upper
        assert excess_of_frank_wolfe(records) > 0.15 > 80 * claimed
