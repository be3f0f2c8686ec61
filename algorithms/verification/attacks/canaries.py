"""Audits with many canaries in one run: each record is in or out at random, and the attack guesses which.

It needs no second run, and says less than many runs do: canaries are in each other's way, and (ε, δ) of one run allows
for all of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbounds.algorithms.guards.guarded import examined
from dpbounds.algorithms.ledger import PrivacyBudget
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.verification.attacks.audits import Audit, in_one_run
from dpbounds.algorithms.verification.attacks.experiments import AuditedAlgorithm, certified_or_infinite
from dpbounds.algorithms.verification.attacks.transcripts import Answer, Choice, Listener, listening
from dpbounds.algorithms.verification.catalogue import example
from dpbounds.algorithms.verification.studies.running import Algorithm
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_float
from dpbounds.privacy.accountants import certified as accountants
from dpbounds.privacy.accountants.audits.scores import guessed

Coins = NDArray[np.bool_]
_MOST_CANARIES = 1000  # each has a coordinate of its own: memory goes like the square


def by_guesses(
    scores: ArrayLike, included: ArrayLike, guesses: int, delta: float = 0.0, confidence: float = 0.95
) -> Audit:
    """Guess "in" for the highest scores and "out" for the lowest, abstain in between, and bound ε.

    By ``audits.in_one_run``: it is about records that are added or removed.

    Args:
        scores: One per canary; larger ones speak for its being in. Made without a look at the coins.
        included: The coins, fair and independent.
        guesses: The number of all guesses, half of them at either end; fixed in advance, at most the number of
            canaries.
        delta: δ in [0, 1).
        confidence: In (0, 1).
    """
    values, coins = np.asarray(scores, dtype=np.float64), np.asarray(included, dtype=bool)
    if values.ndim != 1 or values.shape != coins.shape or not np.isfinite(values).all():
        raise InvalidValue("scores.shape", values.shape, f"finite numbers of shape {coins.shape}, one per canary")
    if not 0 <= guesses <= len(values):
        raise InvalidValue("guesses", guesses, f"a whole number from 0 to {len(values)}")
    return in_one_run(len(values), guesses, guessed(values, coins, guesses).correct, delta, confidence)


def with_canaries(problem: Problem, coins: Coins) -> Problem:
    """Return the public constants of a problem whose record i pulls along coordinate i if its coin is heads.

    Args:
        problem: With at least as many records and parameters as there are coins.
        coins: One per canary, shape (m,).
    """
    count = len(coins)
    if not 1 <= count <= min(problem.records, problem.dimension):
        allowed = f"from 1 to {min(problem.records, problem.dimension)}: each needs a record and a coordinate"
        raise InvalidValue("canaries", count, allowed)
    rows = np.zeros(problem.signed_features.shape)
    rows[np.arange(count), np.arange(count)] = np.where(coins, to_float(problem.feature_bound, "down"), 0.0)
    rows.flags.writeable = False
    return replace(problem, signed_features=rows)


def audit_in_one_run(
    algorithm: Algorithm,
    problem: Problem,
    canaries: int,
    guesses: int,
    delta: float,
    confidence: float = 0.95,
    seed: int = 0,
) -> Audit:
    """Audit one run of an algorithm on one dataset with canaries, guessed from all its noisy gradients.

    The score of a canary is how far the answers point along what its gradient would be at the points they are about: up
    to terms that hardly depend on the coin, its log-likelihood ratio.

    Args:
        algorithm: Anything with ``run`` whose oracles are asked about all records; not about random batches.
        problem: A ``Problem``; only its constants count.
        canaries: m.
        guesses: r <= m, on how many of them to commit.
        delta: δ in [0, 1).
        confidence: In (0, 1).
        seed: The seed of coins and run.
    """
    chance, run_seed = (np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(2))
    coins = chance.random(canaries) < 0.5
    everyone = with_canaries(problem, np.ones(canaries, dtype=bool))
    examined(algorithm, everyone, seed)
    total = np.zeros(canaries)
    side = with_canaries(problem, coins)
    with listening(_adding_to(total, everyone)):
        algorithm.run(side, seed=int(run_seed.integers(2**62)), repetitions=1)
    return by_guesses(total, coins, guesses, delta, confidence)


def audit_example_in_one_run(
    name: str, budget: PrivacyBudget, *, confidence: float = 0.95, seed: int = 0
) -> AuditedAlgorithm:
    """Return the example of that name for one run on canaries: as many as it has records, a quarter guessed.

    That a canary is silent is a record that is removed, n public, and one that is replaced as well: the bound is about
    either relation.

    An example that does not run on records that are as many as their coordinates is refused.
    """
    algorithm, problem = example(name).calibrated(budget)
    count = problem.records
    if not isinstance(problem, Problem) or count > _MOST_CANARIES:
        raise InvalidValue("algorithm", name, f"one for a generalised linear model of at most {_MOST_CANARIES} records")
    wide = replace(problem, signed_features=np.zeros((count, count)))
    try:
        audit = audit_in_one_run(algorithm, wide, count, count // 4, float(budget.delta), confidence, seed)
    except InvalidValue as error:
        allowed = f"one that runs in {count} dimensions, as many as there are canaries"
        raise InvalidValue("algorithm", name, allowed, str(error)) from None
    certified = certified_or_infinite(
        lambda: accountants.epsilon(algorithm.planned, delta=budget.delta, relation=budget.relation)
    )
    guessed = f"guesses of {count // 4} of {count} canaries"
    return AuditedAlgorithm(name, guessed, audit, audit, certified, budget, runs=1, ended="one run")


def _adding_to(total: Array, everyone: Problem) -> Listener:
    def hear(answer: Answer | Choice) -> None:
        if isinstance(answer, Choice):
            return
        if answer.sampling is None and answer.noisy.shape[1] == everyone.dimension and answer.amount[0] > 0:
            # the canaries' gradients lie along different coordinates: each is its own coordinate of their mean
            pull = answer.exact(everyone)[0, : len(total)]
            total[:] += (answer.noisy[0, : len(total)] - pull / 2) * pull / answer.amount[0] ** 2

    return hear
