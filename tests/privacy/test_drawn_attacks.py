"""No explicit attack on a random run is above what is proven to suffice, and none of the known ones is exaggerated."""

from __future__ import annotations

from collections import Counter

import pytest

from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.mechanisms import Gaussian, parts_of
from tests.privacy import drawn_attacks
from tests.privacy.drawn_attacks import check, drawn

SOME = 14
ONCE = 3  # a seed with batches cut to a size beside kept bins


@pytest.mark.minutes
def test_random_runs() -> None:
    outcomes = Counter(check(seed) for seed in (ONCE, *range(100, 100 + SOME)))
    assert outcomes["attained"] >= SOME // 3
    assert outcomes["within"] >= SOME // 10
    assert outcomes["refused"] <= SOME // 10


def test_every_way_of_drawing_is_drawn() -> None:
    assert [drawn(seed).run for seed in range(5)] == [drawn(seed).run for seed in range(5)]
    seen = {type(part).__name__ for seed in range(45) for part, _ in parts_of(drawn(seed).run)}
    assert seen == {
        *("PoissonSampled", "TruncatedPoisson", "SampledWithReplacement", "SampledWithoutReplacement", "Shuffled"),
        *("RandomlyAllocated", "BallsInBins", "LastIterate", "MatrixMechanism", "MixtureOfGaussians"),
    }


def test_an_upper_end_that_is_too_small_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all that runs were one full batch with much noise."""
    monkeypatch.setattr(drawn_attacks, "account", lambda run, **asked: account(Gaussian(9), **asked))
    with pytest.raises(AssertionError):
        check(6)


def test_a_lower_end_that_is_too_large_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_attacks, "account", lambda run, **asked: account(Gaussian("0.1"), **asked))
    with pytest.raises(AssertionError):
        check(7)
