"""Dwork & Roth, Theorem 3.11: against the mechanism's exact law on the worst scores."""

import pytest
from mpmath import exp, mpf

from tests.papers.twins import evaluated


@pytest.mark.parametrize(("size", "best"), [(2, 1), (50, 1), (50, 7), (10_000, 3)])
@pytest.mark.parametrize("failure", ["0.3", "1e-3"])
def test_the_worst_scores_come_close_to_the_bound_and_stay_below(size, best, failure):
    found = evaluated("cited/dwork-roth-2014/theorem-3.11")(
        Delta_u="0.5", epsilon_0=2, N=size, best_candidates=best, zeta=failure
    )
    shortfall = mpf(found.value.upper)
    worse = (size - best) * exp(-2 * shortfall / (2 * mpf("0.5")))  # all others fall short by exactly that much
    chance = worse / (best + worse)
    assert chance <= mpf(failure)
    assert chance >= mpf(failure) / 2 * (size - best) / size  # and no bound of this form is much better


def test_more_best_candidates_than_candidates_are_reported():
    found = evaluated("cited/dwork-roth-2014/theorem-3.11")(Delta_u=1, epsilon_0=1, N=2, best_candidates=3, zeta="0.1")
    assert found.applies is False
