"""Theorem 6: the example of Theorem 5 defeats selection, too."""

import math

import numpy as np

from tests.papers.reference_formulas import evaluated
from tests.papers.wang_chen_xu_2019.test_theorem_5 import EXCESS, SCORE, SHIFTS

evaluate = evaluated("wang-chen-xu-2019/theorem-6")


def test_the_example_of_theorem_5_defeats_selection_too():
    records, failure, chains = 10**6, 0.05, 24
    values = {"n": records, "epsilon": 1, "delta": "1e-5", "d": 1, "zeta": "0.05"}
    steps = math.ceil(evaluate("steps", **values).value.upper)
    fraction, budget = math.sqrt(2 / steps), 1 / math.sqrt(8 * steps * math.log(1e5))
    generator = np.random.default_rng(5)
    at, total = np.zeros(chains), np.zeros(chains)
    for draw in generator.random((steps, chains)):
        total += np.interp(at, SHIFTS, EXCESS) - EXCESS[-1]
        # the two vertices' scores are -h and h: weights exp(ε₀ score/(2Δ)), Δ = 2C_ψ/n
        towards = 1 / (1 + np.exp(budget * np.interp(at, SHIFTS, SCORE) * records / (2 * 2.41)))
        at += fraction * (np.where(draw < towards, 2.0, 0.0) - at)
    claimed = evaluate("rate", **values).value.upper
    assert np.quantile(total / steps, failure) > 0.15 > 10 * claimed
