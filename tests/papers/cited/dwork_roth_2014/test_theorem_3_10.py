"""Dwork & Roth, Theorem 3.10: against the exact law of a choice between two."""

import pytest
from mpmath import exp, log, mpf

from dpbounds.privacy.mechanisms import ExponentialMechanism
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_rho
from tests.papers.twins import evaluated

evaluate = evaluated("cited/dwork-roth-2014/theorem-3.10")


def test_the_losses_of_two_candidates_span_the_budget_and_no_more():
    """Scores (s, 0), and (s - 1, 1) for the neighbour, with Δ_u = 1."""
    weight = mpf(evaluate("score-weight", epsilon=2, Delta_u=1).value.lower)
    for score in (-40, -3, mpf("0.5"), 40):
        first = [exp(weight * score), mpf(1)]
        second = [exp(weight * (score - 1)), exp(weight)]
        losses = [log(a / sum(first)) - log(b / sum(second)) for a, b in zip(first, second, strict=True)]
        assert max(map(abs, losses)) <= 2 + mpf(10) ** -12
        assert float(losses[0] - losses[1]) == pytest.approx(2)


def test_the_accountant_charges_this_much_zcdp():
    for epsilon in ("0.1", 2):
        charged = zcdp_rho(ExponentialMechanism(epsilon, relation="replace-one"), Relation.REPLACE_ONE)
        assert charged <= evaluate("rho", epsilon=epsilon).value.exact_upper
