"""JAX-privacy accounts with our accountant: its samplers draw what the events say, and its training loop runs on it.

Skipped where JAX-privacy is not installed.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb
from typing import Any

import dp_accounting as dpa
import numpy as np
import pytest
from scipy.stats import chi2

import dpbounds as dp

jax = pytest.importorskip("jax")
jax_privacy = pytest.importorskip("jax_privacy")

from jax_privacy import batch_selection, noise_addition  # noqa: E402

pytestmark = [pytest.mark.seconds, pytest.mark.filterwarnings("ignore:optax:DeprecationWarning")]  # inside theirs
RECORDS, BATCH, STEPS = 5, 2, 20_000
IMPLAUSIBLE = 1e-6


def events() -> Any:
    """The functions that make events: they moved."""
    try:
        from jax_privacy.experimental import accounting
    except ImportError:
        from jax_privacy import accounting
    return accounting


def is_plausible(counts: Counter[Any], chances: dict[Any, float]) -> bool:
    """Pearson's test of counts against chances."""
    assert set(counts) <= set(chances)
    total = sum(counts.values())
    statistic = sum((counts[key] - total * chance) ** 2 / (total * chance) for key, chance in chances.items())
    return bool(chi2.sf(statistic, len(chances) - 1) > IMPLAUSIBLE)


def batches(strategy: Any, seed: int = 0) -> list[tuple[int, ...]]:
    return [tuple(sorted(map(int, batch))) for batch in strategy.batch_iterator(RECORDS, rng=seed)]


def followed(drawn: list[Any]) -> Counter[Any]:
    return Counter(zip(drawn[::2], drawn[1::2], strict=True))


def test_batches_of_a_fixed_size_are_uniform_and_independent() -> None:
    drawn = batches(batch_selection.FixedBatchSampling(batch_size=BATCH, iterations=STEPS))
    subsets = dict.fromkeys(combinations(range(RECORDS), BATCH), 1 / comb(RECORDS, BATCH))
    assert is_plausible(Counter(drawn), subsets)
    assert is_plausible(followed(drawn), {(a, b): p * r for a, p in subsets.items() for b, r in subsets.items()})


def test_batches_with_replacement_are_independent_draws() -> None:
    drawn = batches(batch_selection.FixedBatchSampling(batch_size=BATCH, iterations=STEPS, replace=True))
    pairs = {(a, b): (1 if a == b else 2) / RECORDS**2 for a in range(RECORDS) for b in range(a, RECORDS)}
    assert is_plausible(Counter(drawn), pairs)


@pytest.mark.parametrize("rate", [0.3, 0.75])
def test_poisson_samples_are_poisson_samples(rate: float) -> None:
    drawn = batches(batch_selection.CyclicPoissonSampling(sampling_prob=rate, iterations=STEPS))
    chances = {
        subset: rate ** len(subset) * (1 - rate) ** (RECORDS - len(subset))
        for size in range(RECORDS + 1)
        for subset in combinations(range(RECORDS), size)
    }
    assert is_plausible(Counter(drawn), chances)
    inside = [(0 in batch) for batch in drawn]
    odds = {True: rate, False: 1 - rate}
    assert is_plausible(followed(inside), {(a, b): odds[a] * odds[b] for a in odds for b in odds})


def test_another_law_would_be_seen() -> None:
    """Poisson samples are no batches of a fixed size, and bins that are kept are no independent draws."""
    kept = batches(batch_selection.BallsInBinsSampling(iterations=STEPS, cycle_length=2))
    inside = [(0 in batch) for batch in kept]
    assert not is_plausible(followed(inside), dict.fromkeys([(a, b) for a in (0, 1) for b in (0, 1)], 0.25))


@pytest.mark.parametrize("relation", list(dpa.NeighboringRelation))
def test_their_events_are_accounted(relation: dpa.NeighboringRelation) -> None:
    """Fixed batches under every relation; Poisson samples as their own accountant has them, and never below."""
    made = events()
    ours, theirs = dp.CertifiedPrivacyAccountant(relation), dpa.pld.PLDAccountant(relation)
    batch = made.fixed_dpsgd_event(2.0, 3, dataset_size=100, batch_size=10)
    proven = dp.epsilon(dp.SampledWithoutReplacement(dp.Gaussian(2), 10, 100) ** 3, 1e-5, ours.relation)
    assert not theirs.supports(batch)
    assert dp.CertifiedPrivacyAccountant(relation).compose(batch).get_epsilon(1e-5) == proven.upper
    poisson = made.dpsgd_event(2.0, 100, sampling_prob=0.1)
    found, other = ours.compose(poisson).get_epsilon(1e-5), theirs.compose(poisson).get_epsilon(1e-5)
    assert found - 1e-6 <= other <= found + 2e-3


@pytest.mark.minutes
def test_training_on_fixed_batches_by_their_loop() -> None:
    """Calibrate, draw, clip, add noise: the noise is that of the event, and a record's slot is worth what it says."""
    made, relation = events(), dpa.NeighboringRelation.REPLACE_SPECIAL
    records, size, steps, bound = 60, 6, 5, 0.5

    def event(noise: float) -> dpa.DpEvent:
        return made.fixed_dpsgd_event(noise, steps, dataset_size=records, batch_size=size)

    noise = dpa.calibrate_dp_mechanism(lambda: dp.CertifiedPrivacyAccountant(relation), event, 1.0, 1e-5, tol=1e-2)
    spent = dp.CertifiedPrivacyAccountant(relation).compose(event(noise)).get_epsilon(1e-5)
    assert 0.9 < spent <= 1

    gradients = jax_privacy.clipped_grad(
        lambda w, x: jax.numpy.sum((w - x) ** 2), l2_clip_norm=bound, keep_batch_dim=False
    )
    assert gradients.sensitivity(relation) == bound
    adding = noise_addition.gaussian_privatizer if hasattr(noise_addition, "gaussian_privatizer") else None
    privatizer = (
        adding(stddev=noise * bound, prng_key=jax.random.key(0))
        if adding
        else noise_addition.matrix_factorization_privatizer(
            np.eye(steps), stddev=noise * bound, prng_key=jax.random.key(0)
        )
    )
    data = np.random.default_rng(0).normal(size=(records, 3)).astype(np.float32)
    weights = jax.numpy.zeros(3)
    state, added = privatizer.init(weights), []
    strategy = batch_selection.FixedBatchSampling(batch_size=size, iterations=steps)
    for batch in strategy.batch_iterator(records, rng=1):
        clipped = gradients(weights, data[batch])
        assert np.linalg.norm(clipped) <= size * bound * (1 + 1e-5)
        noisy, state = privatizer.update(clipped, state)
        added.append(np.asarray(noisy) - np.asarray(clipped))
        weights = weights - 0.05 * noisy / size
    squares = float(np.sum(np.square(added))) / (noise * bound) ** 2
    assert IMPLAUSIBLE < chi2.cdf(squares, 3 * steps) < 1 - IMPLAUSIBLE
