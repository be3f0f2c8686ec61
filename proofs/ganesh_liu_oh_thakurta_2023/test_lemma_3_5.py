"""Lemma 3.5: the chain of its proof breaks in the middle, and its ends hold."""

import numpy as np


def test_the_printed_chain_breaks_in_its_middle():
    # γ = M = 1, |∇F| = 1, the estimate shorter by γ/4
    estimate = 0.75
    assert -(estimate**2) / 6 > -1 / 6
    change = -(1 - 0.25**2) / 2  # what smoothness gives
    assert change <= -1 / 6
    assert change <= -(estimate**2) / 6


def test_both_ends_hold_with_their_best_constants():
    worst = [np.inf, np.inf]
    for gradient in (1.0, 1.3, 4.0):
        for error in np.linspace(0, 0.25, 11):
            for angle in np.linspace(0, np.pi, 13):
                estimate = np.hypot(gradient + error * np.cos(angle), error * np.sin(angle))
                fall = (gradient**2 - error**2) / 2
                worst = [min(worst[0], fall / estimate**2), min(worst[1], fall)]
    assert abs(worst[0] - 3 / 10) < 1e-12
    assert abs(worst[1] - 15 / 32) < 1e-12
