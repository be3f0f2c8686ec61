"""Runs on two neighbouring data sets, the lower bound on ε that follows, and what it is held against."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpbounds.algorithms.ledger import Ledger, PrivacyBudget
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.verification.attacks.audits import Audit, at_threshold, by_threshold, enough_runs
from dpbounds.algorithms.verification.attacks.neighbours import Pair, worst_pair
from dpbounds.algorithms.verification.attacks.transcripts import Witness, listening
from dpbounds.algorithms.verification.catalogue import example
from dpbounds.algorithms.verification.judging.checks import valid_share
from dpbounds.algorithms.verification.studies.running import Algorithm
from dpbounds.algorithms.verification.sweeping.cells import NO_PROOF
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.mechanisms import Gaussian
from dpbounds.privacy.mechanisms.algebra import parts_of

LIKELIHOOD = "likelihood ratio"

# From a problem, a seed and a number of repetitions to scores by name, one number per repetition.
Experiment = Callable[[Any, int, int], Mapping[str, Array]]

_AT_ONCE = 1024  # repetitions per call: bounds the memory


@dataclass(frozen=True, slots=True)
class AuditedAlgorithm:
    """An audit, held against the certificate and the claim.

    Attributes:
        name: Of the algorithm.
        attack: The score that found most.
        audit: The lower bound on ε.
        certified: Upper end of the certified ε of what the ledger says was released; infinite where nothing is proven.
        claim: The budget that the run claims to keep.
        runs: In all, on both data sets together; 1 for an audit in one run.
    """

    name: str
    attack: str
    audit: Audit
    certified: float
    claim: PrivacyBudget
    runs: int

    @property
    def sound(self) -> bool:
        """Whether the lower bound is at most the certified upper one."""
        return self.audit.epsilon <= self.certified

    @property
    def refutes_claim(self) -> bool:
        """Whether the lower bound exceeds the claimed ε."""
        return self.audit.epsilon > self.claim.epsilon


def audit_example(
    name: str, budget: PrivacyBudget, *, runs: int = 4000, confidence: float = 0.95, seed: int = 0
) -> AuditedAlgorithm:
    """Audit the example of that name (see ``dpbounds.algorithms.verification.catalogue``) at a budget."""
    algorithm, problem = example(name).calibrated(budget)
    return audit_algorithm(name, algorithm, problem, budget, runs=runs, confidence=confidence, seed=seed)


def audit_algorithm(
    name: str,
    algorithm: Algorithm,
    problem: object,
    claim: PrivacyBudget,
    *,
    runs: int = 4000,
    confidence: float = 0.95,
    seed: int = 0,
) -> AuditedAlgorithm:
    """Run an algorithm on the worst pair of its problem and bound ε from below, by all that it releases.

    Where the ledger holds nothing but full-batch Gaussian releases, rates are converted by the Gaussian trade-off curve
    that it certifies: a bound above the certified ε then refutes the ledger.

    Args:
        name: For the finding.
        algorithm: Anything with ``run``.
        problem: What it is for, with a known ``worst_pair``, whose records replace its own; or such a pair.
        claim: ε, δ and the relation that the runs claim to keep.
        runs: On both data sets together, at least 8.
        confidence: In (0, 1), of the lower bound, however many scores are tried.
        seed: At least 0.
    """
    pair = problem if isinstance(problem, Pair) else worst_pair(problem, claim.relation)
    ledgers: list[Ledger] = []

    def experiment(side: Any, run_seed: int, repetitions: int) -> Mapping[str, Array]:
        witness = Witness(pair)
        with listening(witness.hear):
            run = algorithm.run(side, seed=run_seed, repetitions=repetitions)
        ledgers.append(run.ledger)
        return witness.scores(repetitions) | scores_of_output(run, pair)

    scores = collected(experiment, pair, runs, seed)
    attack, audit = best(scores, float(claim.delta), confidence, gaussian=all(map(_only_gaussian, set(ledgers))))
    # the runs on either side write the same releases unless the number of steps depends on what was released
    spent = (partial(ledger.spent, claim.delta, claim.relation) for ledger in set(ledgers))
    certified = max(map(certified_or_infinite, spent))
    return AuditedAlgorithm(name, attack, audit, certified, claim, runs)


def scores_of_output(run: Run, pair: Pair) -> dict[str, Array]:
    """Scores of what was returned: its distance from the start, how far it lies along the first shift, other numbers.

    Where nothing was returned (NaN), the score is -1.
    """
    start = pair.first.initial_point
    moved = run.output - start
    shift = (pair.second.gradient(start[None]) - pair.first.gradient(start[None]))[0]
    scores = {"distance of the output": np.linalg.norm(moved, axis=1), "output along the shift": moved @ shift}
    scores |= {name: values.astype(np.float64) for name, values in run.outputs.items() if values.ndim == 1}
    return {name: np.nan_to_num(values, nan=-1.0) for name, values in scores.items()}


def collected(experiment: Experiment, pair: Pair, runs: int, seed: int) -> dict[str, tuple[Array, Array]]:
    """Scores of independent runs: half of them on the first data set, half on the second.

    Args:
        experiment: One batch of runs.
        pair: The two problems.
        runs: On both together, at least 8.
        seed: All randomness follows from it.
    """
    count = enough_runs(runs)
    if isinstance(seed, bool) or seed < 0:
        raise InvalidValue("seed", seed, "a whole number at least 0")
    source = np.random.default_rng(seed)
    sides: list[dict[str, Array]] = []
    for problem, half in ((pair.first, count // 2), (pair.second, count - count // 2)):
        parts = [
            experiment(problem, int(source.integers(2**62)), min(_AT_ONCE, half - done))
            for done in range(0, half, _AT_ONCE)
        ]
        sides.append({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    return {name: (sides[0][name], sides[1][name]) for name in sides[0]}


def best(
    scores: Mapping[str, tuple[Array, Array]], delta: float, confidence: float, *, gaussian: bool = False
) -> tuple[str, Audit]:
    """The largest of the bounds of several scores: each has its share of the error probability, so all hold at once.

    The threshold of a likelihood ratio of Gaussian releases is 0, fixed in advance, and all runs count; others are
    chosen on one half of the runs.

    Args:
        scores: By name, of runs on the first and on the second data set.
        delta: δ in [0, 1).
        confidence: In (0, 1), of the statement about the largest bound.
        gaussian: Whether the trade-off curve is said to be Gaussian.
    """
    valid_share("confidence", confidence)
    audits = {}
    for name, (first, second) in scores.items():
        share = 1 - (1 - confidence) * _share(name, scores)
        if gaussian and name == LIKELIHOOD:
            audits[name] = at_threshold(first, second, 0.0, delta, share, gaussian=True)
        else:
            audits[name] = by_threshold(first, second, delta, share, gaussian=gaussian)
    attack = max(audits, key=lambda name: audits[name].epsilon)
    return attack, replace(audits[attack], confidence=confidence)


def _share(name: str, scores: Mapping[str, object]) -> float:
    """Of the error probability: half for the likelihood ratio, which finds most where nothing is broken."""
    others = len(scores) - (LIKELIHOOD in scores)
    if LIKELIHOOD not in scores or others == 0:
        return 1 / len(scores)
    return 0.5 if name == LIKELIHOOD else 0.5 / others


def _only_gaussian(ledger: Ledger) -> bool:
    parts = parts_of(ledger.mechanism()) if ledger.releases else ()
    return bool(parts) and all(isinstance(part, Gaussian) for part, _ in parts)


def certified_or_infinite(spent: Callable[[], Enclosure]) -> float:
    """The upper end of what is spent; infinite where nothing is proven."""
    try:
        return spent().upper
    except NO_PROOF:
        return math.inf
