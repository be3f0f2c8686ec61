"""AboveThreshold that keeps its threshold for several crossings: exact probabilities of small sequences of queries."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dpbounds as dp
from dpbounds.errors import InvalidValue
from proofs.privacy.boxes import above_threshold


def test_crossings_of_one_threshold_are_all_outcomes() -> None:
    answers = np.array([0.5, -1.0, 2.0, 0.0])
    one, two, all_of_them = (above_threshold(answers, 2.0, 4.0, crossings) for crossings in (1, 2, 4))
    assert (len(one), len(two), len(all_of_them)) == (5, 11, 16)
    for outcomes in (one, two, all_of_them):
        assert outcomes.sum() == pytest.approx(1, abs=1e-13)
    assert one[-1] == pytest.approx(two[-1], abs=1e-13)  # nothing is above


def losses(answers: list[float], shifts: list[float], crossings: int) -> np.ndarray:
    """The privacy losses of all outcomes, of which some are too rare for doubles."""
    at = above_threshold(np.array(answers), 4.0, 4.0, crossings)
    beside = above_threshold(np.array(answers) + shifts, 4.0, 4.0, crossings)
    seen = (at > 1e-250) & (beside > 1e-250)
    return np.abs(np.log(at[seen] / beside[seen]))


@pytest.mark.seconds
@pytest.mark.parametrize("crossings", [2, 3])
def test_the_largest_loss_is_that_of_a_session(crossings: int) -> None:
    """General answers: 1/b1 + 2c/b2. Answers that all move up: 1/b1 + c/b2. Both are nearly attained.

    Enough high answers that are below hold the threshold up, and then low answers are above.
    """
    general, one_signed = (
        float(
            dp.AboveThreshold(
                threshold_noise=4, query_noise=4, relation=relation, monotone=monotone, crossings=crossings
            ).epsilon
        )
        for relation, monotone in (("replace-one", False), ("add-or-remove-one", True))
    )
    assert (general, one_signed) == (0.25 + crossings / 2, 0.25 + crossings / 4)
    many = crossings + 3
    worst = [40.0] * many + [-40.0] * crossings
    assert 0.98 * general < losses(worst, [1.0] * many + [-1.0] * crossings, crossings).max() <= general * (1 + 1e-9)
    one_way = [
        losses([high] * many + [-40.0] * crossings, [first] * many + [last] * crossings, crossings).max()
        for high, first, last in itertools.product((40.0, 0.0), (1.0, 0.0), (1.0, 0.0))
    ]
    assert 0.98 * one_signed < max(one_way) <= one_signed * (1 + 1e-9)
    for answers in itertools.product((-20.0, 0.0, 20.0), repeat=4):
        for shifts in itertools.product((-1.0, 1.0), repeat=4):
            largest = losses(list(answers), list(shifts), crossings).max()
            assert largest <= (one_signed if min(shifts) > 0 else general) * (1 + 1e-9)


def test_the_noise_for_a_budget() -> None:
    kept = dp.AboveThreshold("0.5", relation="replace-one", crossings=10)
    assert (kept.threshold_noise, kept.query_noise, kept.epsilon) == (
        4,
        80,
        dp.PureDP("0.5", relation="replace-one").epsilon,
    )
    assert dp.AboveThreshold(1, relation="replace-one", crossings=1) == dp.AboveThreshold(1, relation="replace-one")
    assert "crossings" in str(kept.in_words(lambda value, side: str(value)))
    with pytest.raises(InvalidValue, match="crossings"):
        dp.AboveThreshold(1, relation="replace-one", crossings=0)
