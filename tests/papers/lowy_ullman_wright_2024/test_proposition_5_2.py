"""Proposition 5.2: the printed batch, and what is really spent."""

import pytest
from mpmath import erfc, exp, ln, mpf, sqrt
from sympy import limit, simplify
from sympy import sqrt as sqrt_of

from dpbounds.expressions.symbols import (
    batch_size,
    dataset_size,
    delta,
    dimension,
    epsilon,
    noise_stddev,
    quasar_convexity,
)
from dpbounds.papers.lowy_ullman_wright_2024 import proposition_5_2 as statement
from dpbounds.papers.lowy_ullman_wright_2024.proposition_d_1 import at_the_prescribed_step


def tail(x):
    return erfc(x / sqrt(2)) / 2


@pytest.mark.parametrize(
    ("constant", "loss", "parameters", "failure"), [(1, "1e-4", 10_000, "1e-8"), (10, "1e-6", 10_000, "1e-12")]
)
def test_the_printed_batch_is_too_small_for_small_epsilon(constant, loss, parameters, failure):
    # One step; gradients 0 but for one record, +G in one of the data sets and -G in the other, along one coordinate.
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


def test_abadi_et_al_ask_for_the_larger_batch():
    # ε <= c₁ (b/n)² T at T = ε²n²/(d ln(1/δ))
    share = (batch_size / dataset_size) ** 2 * statement.number_of_steps / epsilon
    assert simplify(share.subs(batch_size, statement.batch)) == 1
    assert limit(share.subs(batch_size, sqrt_of(dimension * epsilon)), epsilon, 0) == 0


def test_the_intermediate_display_lacks_the_quasar_constant():
    # one run's expected gap, divided by what is displayed, grows like 1/q_c
    gap = at_the_prescribed_step.subs(noise_stddev, sqrt_of(statement.variance))
    displayed = statement.rate * quasar_convexity
    assert quasar_convexity not in displayed.free_symbols
    ratio = gap / displayed
    values = {symbol: 1 for symbol in ratio.free_symbols if symbol not in (quasar_convexity, delta)}
    at = [float(ratio.subs({**values, delta: 0.001, quasar_convexity: q})) for q in (1, 0.1, 0.01)]
    assert at[1] == pytest.approx(10 * at[0])
    assert at[2] == pytest.approx(100 * at[0])


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
