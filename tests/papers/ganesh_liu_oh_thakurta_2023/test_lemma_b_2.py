"""Lemma B.2: the stuck region of the example of Lemma 3.4 is wide."""

import math

import numpy as np

from tests.papers.reference_formulas import evaluated


def test_a_wide_region_is_stuck():
    gamma, dimension, omega = 1e-6, 20, 0.01
    alpha = gamma * math.log(dimension / omega) ** 3
    evaluate = evaluated("ganesh-liu-oh-thakurta-2023/lemma-b.2")
    values = {"L": 1, "gradient_accuracy": gamma}
    claimed = evaluate("bound", d=dimension, zeta=omega, **values).value.upper
    width = evaluate("counterexample", alpha=alpha, rho_H=1, **values).value.upper
    curvature = math.sqrt(alpha)
    inside = np.linspace(-width / 2, width / 2, 101)
    assert np.abs(inside).max() <= alpha  # the ball of radius ηα
    errors = curvature**2 * np.sin(inside / curvature)  # minus the slope: every point stays where it is
    assert np.abs(errors).max() <= gamma
    assert width > 1e4 * claimed
