"""Lemma E.3: the deviation that its proof takes; with constants, the exact law of a small problem."""

import numpy as np
import pytest
from mpmath import log, sqrt

from dpbounds.papers.lowy_ullman_wright_2024.lemma_e_3 import needed_deviation, printed_deviation
from tests.papers.reference_formulas import evaluated

explicit = evaluated("lowy-ullman-wright-2024/lemma-e.3/explicit")


def test_the_recorded_formulas_are_the_ones_compared():
    names = {symbol.name: symbol for symbol in printed_deviation.free_symbols | needed_deviation.free_symbols}
    point = {names["lipschitz"]: 1, names["diameter"]: 1, names["dimension"]: 5, names["dataset_size"]: 10_000}
    point |= {names["failure_probability"]: 0.05, names["candidates"]: 4000**5}
    assert float(printed_deviation.subs(point)) == pytest.approx(float(sqrt((log(160) + 5) / 10_000)))
    assert float(needed_deviation.subs(point)) > 2 * float(printed_deviation.subs(point))


def test_equation_4_at_the_deviation_of_the_record():
    values = {"N": 1000, "n": 500, "G": 1, "D": 2}
    evaluate = evaluated("lowy-ullman-wright-2024/lemma-e.3")
    p = evaluate("deviation", zeta="0.1", **values).value.upper
    assert evaluate("equation-4", deviation=p, **values).value.upper <= 0.1 / 4 * (1 + 1e-9)


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
    law = (weight / weight.sum(1, keepdims=True)).mean(0)  # exact selection, averaged over datasets
    gap = risk - risk.min()
    values = {"G": 1, "D": 1, "r_n": "0.05", "psi": 0, "N": 21}
    values |= {"n": n, "epsilon": epsilon}
    # w̃ = 0 has excess risk 0 here, as 0 is the population's minimiser
    assert gap[10] == 0
    for zeta in ("0.5", "0.1", "0.01"):
        bound = explicit("bound", zeta=zeta, **values).value.lower
        assert law[gap > bound].sum() <= float(zeta)
    assert law @ gap > 0.01 * bound  # the bound is not absurdly far


@pytest.mark.parametrize("n", [30, 300])
def test_deviations_are_as_rare_as_claimed(n):
    # the worst case for Hoeffding: f(w_j, x) - f(w̃, x) = ±GD with equal chances
    draw = np.random.default_rng(n)
    means = 2 * draw.binomial(n, 0.5, (20_000, 8)) / n - 1
    for zeta in ("0.5", "0.05"):
        p = explicit("deviation", G=1, D=1, N=8, zeta=zeta, n=n).value.lower
        assert (np.abs(means).max(1) > p).mean() <= float(zeta) / 2
        assert (np.abs(means).max(1) > p / 3).mean() > float(zeta) / 2
