"""Proposition 5.2: the printed batch is too small, and what the selection spends."""

import numpy as np
import pytest
from mpmath import erfc, exp, ln, mpf, sqrt


def tail(x):
    return erfc(x / sqrt(2)) / 2


@pytest.mark.parametrize(
    ("constant", "loss", "parameters", "failure"), [(1, "1e-4", 10_000, "1e-8"), (10, "1e-6", 10_000, "1e-12")]
)
def test_the_printed_batch_is_too_small_for_small_epsilon(constant, loss, parameters, failure):
    # One step; gradients 0 but for one record, +G in one of the datasets and -G in the other, along one coordinate.
    loss, failure = mpf(loss), mpf(failure)
    b = int(constant * sqrt(parameters * loss) + mpf("1e-9"))
    assert b == 1 == round(float(constant * sqrt(parameters * loss)))  # what is printed, with that constant
    n = int(sqrt(parameters * ln(1 / failure)) / loss)
    assert (loss * n) ** 2 / (parameters * ln(1 / failure)) <= 1  # hence T = 1 after rounding up
    sigma = sqrt(1000 * ln(1 / failure)) / (loss * n)  # in units of G
    best = 0
    for threshold in (1, mpf("1.2"), mpf("1.5"), 2, 3, 4, 5, 6):
        drawn, other = tail((threshold - 1) / sigma), tail((threshold + 1) / sigma)
        first = drawn / n + (1 - mpf(1) / n) * tail(threshold / sigma)
        second = other / n + (1 - mpf(1) / n) * tail(threshold / sigma)
        best = max(best, first - exp(loss) * second)
    assert best > failure


@pytest.mark.parametrize("candidates", [2, 7])
def test_the_selection_is_as_private_as_claimed(candidates):
    # the largest change of a loss over points at distance at most 2D: h(i) between -2GD/n·... and +..., range 4GD/n
    draw = np.random.default_rng(candidates)
    lipschitz, diameter, n, loss = 1.5, 2.0, 50, 0.7
    scale = loss * n / (4 * lipschitz * diameter)
    worst = 0.0
    for _ in range(300):
        scores = draw.uniform(0, 3, candidates)
        change = draw.choice([0.0, 4 * lipschitz * diameter / n], candidates)
        first, second = (np.exp(-scale * (one - one.min())) for one in (scores, scores + change))
        shift = np.exp(-scale * (scores.min() - (scores + change).min()))
        assert shift > 0
        worst = max(worst, np.abs(np.log(first / first.sum()) - np.log(second / second.sum())).max())
    assert 0.5 * loss < worst <= loss * (1 + 1e-12)


def test_candidates_far_apart_cost_more_than_half_of_epsilon():
    """Definition 4.1's weights exp(-εnF/(4GD)) on the candidates 0 and r, for losses Gw but one, which is ±Gw."""
    n, epsilon = 100, mpf(1)
    for reach, exceeds in ((mpf("0.99"), False), (mpf("1.2"), True), (mpf(3), True)):  # r/D
        totals = (n, n - 2)  # n (F(r) - F(0)), in units of Gr
        chosen = [1 / (1 + exp(epsilon * reach * total / 4)) for total in totals]
        assert (ln(chosen[1] / chosen[0]) > epsilon / 2) is exceeds
    # d = 1, all gradients 0: w_i - w_1 is N(0, D² i/T) where noise dominates, and the outputs are drawn uniformly
    grid = [mpf(2 * i + 1) / 100 for i in range(50)]
    apart = sum(2 * tail(2 / sqrt(one + other)) for one in grid for other in grid) / len(grid) ** 2
    assert mpf("0.03") < apart < mpf("0.07")
