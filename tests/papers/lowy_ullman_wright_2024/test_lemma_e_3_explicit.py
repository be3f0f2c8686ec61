"""Lemma E.3 with constants: against the exact law of a small problem."""

import numpy as np
import pytest

from tests.papers.twins import evaluated

evaluate = evaluated("lowy-ullman-wright-2024/lemma-e.3/explicit")


@pytest.mark.parametrize(("n", "epsilon"), [(40, 1.0), (400, 0.3)])
def test_the_exact_law_of_a_small_problem_stays_below(n, epsilon):
    # W = [-1, 1], w̃ = 0, D = 1; f(w, x) = |w - x| for x = ±1 (population mean F = 1 + (1 - 2p)w, minimised at 1)
    # and a third record value x = 0, so that the minimiser is inside
    net = np.linspace(-1, 1, 21)
    chances = np.array([0.2, 0.5, 0.3])
    losses = np.abs(net[:, None] - np.array([-1.0, 0.0, 1.0])[None])
    risk = losses @ chances
    draw = np.random.default_rng(n)
    counts = draw.multinomial(n, chances, 4000)
    empirical = counts / n @ losses.T
    weight = np.exp(-epsilon * n / 4 * (empirical - empirical.min(1, keepdims=True)))
    law = (weight / weight.sum(1, keepdims=True)).mean(0)  # exact selection, averaged over data sets
    gap = risk - risk.min()
    values = {"G": 1, "D": 1, "r_n": "0.05", "psi": 0, "N": 21}
    values |= {"n": n, "epsilon": epsilon}
    # w̃ = 0 has excess risk 0 here, as 0 is the population's minimiser
    assert gap[10] == 0
    for zeta in ("0.5", "0.1", "0.01"):
        bound = evaluate("bound", zeta=zeta, **values).value.lower
        assert law[gap > bound].sum() <= float(zeta)
    assert law @ gap > 0.01 * bound  # the bound is not absurdly far


@pytest.mark.parametrize("n", [30, 300])
def test_deviations_are_as_rare_as_claimed(n):
    # the worst case for Hoeffding: f(w_j, x) - f(w̃, x) = ±GD with equal chances
    draw = np.random.default_rng(n)
    means = 2 * draw.binomial(n, 0.5, (20_000, 8)) / n - 1
    for zeta in ("0.5", "0.05"):
        p = evaluate("deviation", G=1, D=1, N=8, zeta=zeta, n=n).value.lower
        assert (np.abs(means).max(1) > p).mean() <= float(zeta) / 2
        assert (np.abs(means).max(1) > p / 3).mean() > float(zeta) / 2
