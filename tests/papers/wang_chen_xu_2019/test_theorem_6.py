"""Theorem 6: the example of Theorem 5 defeats selection, too."""

import math

import numpy as np

from tests.papers.reference_formulas import evaluated

evaluate = evaluated("wang-chen-xu-2019/theorem-6")


def influence(t):
    size = np.abs(t)
    bump = 0.3 * (size / 3) ** 2 * (size - 3) * np.exp(-4 * (size - 3) ** 2)
    return np.sign(t) * (np.tanh(4 * size) * (0.6 - 0.1 * size) + bump)


def test_the_example_of_theorem_5_defeats_selection_too():
    records, failure, chains = 10**6, 0.05, 24
    values = {"n": records, "epsilon": 1, "delta": "1e-5", "d": 1, "zeta": "0.05"}
    steps = math.ceil(evaluate("steps", **values).value.upper)
    fraction, budget = math.sqrt(2 / steps), 1 / math.sqrt(8 * steps * math.log(1e5))
    shifts = np.linspace(0, 2, 20_001)
    score = (influence(shifts + 3) + influence(shifts - 3)) / 2
    excess = np.concatenate([[0], np.cumsum((score[1:] + score[:-1]) / 2 * 1e-4)])
    generator = np.random.default_rng(5)
    at, total = np.zeros(chains), np.zeros(chains)
    for draw in generator.random((steps, chains)):
        total += np.interp(at, shifts, excess) - excess[-1]
        # the two vertices' scores are -h and h: weights exp(ε₀ score/(2Δ)), Δ = 2C_ψ/n
        towards = 1 / (1 + np.exp(budget * np.interp(at, shifts, score) * records / (2 * 2.41)))
        at += fraction * (np.where(draw < towards, 2.0, 0.0) - at)
    claimed = evaluate("rate", **values).value.upper
    assert np.quantile(total / steps, failure) > 0.15 > 10 * claimed
