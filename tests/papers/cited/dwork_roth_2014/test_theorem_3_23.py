"""Dwork & Roth, Theorem 3.23: against the exact chance of a report."""

import pytest
from mpmath import exp, inf, log, mpf, quad

from tests.papers.twins import evaluated

evaluate = evaluated("cited/dwork-roth-2014/theorem-3.23")


def chance(answers, first, second):
    """Of no report for all answers but the last one, and a report there; threshold 0, noise of the given scales."""

    def below(gap):  # P(answer + noise < threshold), gap = threshold - answer
        return 1 - exp(-gap / second) / 2 if gap >= 0 else exp(gap / second) / 2

    def integrand(t):
        value = exp(-abs(t) / first) / (2 * first) * (1 - below(t - answers[-1]))
        for answer in answers[:-1]:
            value *= below(t - answer)
        return value

    return quad(integrand, [-inf, *sorted({-20, 0, *answers, 20}), inf])


@pytest.mark.thorough_cases("50")
@pytest.mark.parametrize("count", [1, 5, 50])
def test_the_loss_stays_within_the_budget_and_comes_close_to_it(count):
    scales = [mpf(evaluate(name, epsilon=1).value.lower) for name in ("threshold-scale", "query-scale")]
    losses = []
    for level in (-30, -3, 0):
        lower = chance(
            [level] * count + [level], *scales
        )  # a neighbour lowers all answers but the last, which it raises
        upper = chance([level - 1] * count + [level + 1], *scales)
        losses.append(float(log(upper / lower)))
    assert max(losses) <= 1 + 1e-9
    if count == 50:
        assert max(losses) > 0.6


def test_the_budget_of_two_scales():
    assert evaluate("epsilon", threshold_scale=2, query_scale=4).value.lower == 1
