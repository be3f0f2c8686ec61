"""Dwork & Roth: exact laws of choices, of reports and of Gaussian noise; the accountant's own compositions."""

from fractions import Fraction

import pytest
from mpmath import exp, inf, log, mpf, quad

from dpbounds.privacy.mechanisms import ExponentialMechanism
from dpbounds.privacy.notions.composition_theorems import EpsilonDelta, advanced_epsilon, basic
from dpbounds.privacy.notions.optimal_composition import optimal_delta
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from dpbounds.theorems.registry import theorem
from dpbounds.theorems.spending import spending
from tests.papers.reference_formulas import evaluated

choice = evaluated("cited/dwork-roth-2014/theorem-3.10")
basic_composition = evaluated("cited/dwork-roth-2014/theorem-3.16")
advanced_composition = evaluated("cited/dwork-roth-2014/theorem-3.20")
above_threshold = evaluated("cited/dwork-roth-2014/theorem-3.23")
GAUSSIAN_NOISE = theorem("cited/dwork-roth-2014/theorem-a.1")
gaussian_noise = evaluated("cited/dwork-roth-2014/theorem-a.1")
worst_choice = evaluated("cited/dwork-roth-2014/theorem-3.11")


def test_the_losses_of_two_candidates_span_the_budget_and_no_more():
    """Scores (s, 0), and (s - 1, 1) for the neighbour, with Δ_u = 1."""
    weight = mpf(choice("score-weight", epsilon=2, Delta_u=1).value.lower)
    for score in (-40, -3, mpf("0.5"), 40):
        first = [exp(weight * score), mpf(1)]
        second = [exp(weight * (score - 1)), exp(weight)]
        losses = [log(a / sum(first)) - log(b / sum(second)) for a, b in zip(first, second, strict=True)]
        assert max(map(abs, losses)) <= 2 + mpf(10) ** -12
        assert float(losses[0] - losses[1]) == pytest.approx(2)


def test_the_accountant_charges_this_much_zcdp():
    for epsilon in ("0.1", 2):
        charged = zcdp_rho(ExponentialMechanism(epsilon, relation="replace-one"), Relation.REPLACE_ONE)
        assert charged <= choice("rho", epsilon=epsilon).value.exact_upper


@pytest.mark.parametrize(("size", "best"), [(2, 1), (50, 1), (50, 7), (10_000, 3)])
@pytest.mark.parametrize("failure", ["0.3", "1e-3"])
def test_the_worst_scores_come_close_to_the_bound_and_stay_below(size, best, failure):
    found = worst_choice(Delta_u="0.5", epsilon_0=2, N=size, best_candidates=best, zeta=failure)
    shortfall = mpf(found.value.upper)
    worse = (size - best) * exp(-2 * shortfall / (2 * mpf("0.5")))  # all others fall short by exactly that much
    chance = worse / (best + worse)
    assert chance <= mpf(failure)
    assert chance >= mpf(failure) / 2 * (size - best) / size  # and no bound of this form is much better


def test_it_is_the_accountants_basic_composition():
    values = {"steps": 7, "step_epsilon": "0.3", "step_delta": "1e-3"}
    total = basic(((EpsilonDelta("0.3", "1e-3"), 7),))
    assert basic_composition("epsilon", T=7, epsilon_0="0.3").value.contains(total.epsilon)
    found = basic_composition("delta", T=values["steps"], step_delta=values["step_delta"]).value
    assert found.contains(total.delta)


def test_the_optimal_composition_leaks_no_more_and_nearly_as_much():
    least = optimal_delta(((EpsilonDelta("0.3", "1e-3"), 7),), Fraction(21, 10))
    assert 0.99 * 7e-3 < least.lower <= least.upper <= 7e-3


@pytest.mark.parametrize(("steps", "step"), [(1, "0.5"), (100, "0.1"), (10_000, "0.01"), (50, 1)])
@pytest.mark.parametrize("slack", ["1e-6", "0.2"])
def test_it_is_the_accountants_and_above_the_exact_composition(steps, step, slack):
    promised = advanced_composition("epsilon", T=steps, epsilon_0=step, delta=slack).value
    own = advanced_epsilon(((EpsilonDelta(step, 0), steps),), slack, "classical")
    assert promised.overlaps(own)
    exact = optimal_delta(((EpsilonDelta(step, 0), steps),), promised.exact_upper)
    assert exact.upper <= float(slack)


def test_failures_add_up():
    found = advanced_composition("delta", T=100, step_delta="1e-8", delta="1e-6").value
    assert found.lower == pytest.approx(2e-6)
    promised = advanced_composition("epsilon", T=100, epsilon_0="0.1", delta="1e-6").value
    assert optimal_delta(((EpsilonDelta("0.1", "1e-8"), 100),), promised.exact_upper).upper <= found.upper


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


@pytest.mark.seconds_cases("50")
@pytest.mark.parametrize("count", [1, 5, 50])
def test_the_loss_stays_within_the_budget_and_comes_close_to_it(count):
    scales = [mpf(above_threshold(name, epsilon=1).value.lower) for name in ("threshold-scale", "query-scale")]
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
    assert above_threshold("epsilon", threshold_scale=2, query_scale=4).value.lower == 1


@pytest.mark.parametrize(
    ("delta", "edge"), [("0.5", 4.465), ("1e-2", 6.772), ("1e-3", 7.463), ("1e-5", 8.420), ("1e-8", 9.374)]
)
def test_it_fails_beyond_where_the_note_says(delta, edge):
    for epsilon, is_kept in ((edge - 0.01, True), (edge + 0.01, False)):
        assert spending(GAUSSIAN_NOISE, {"epsilon": epsilon, "delta": delta}).kept is is_kept
        assert gaussian_noise(epsilon=epsilon, delta=delta).applies is False  # the theorem stops at 1
