"""Runs on two neighbouring datasets, the lower bound on ε that follows, and its comparison with the certificate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

import numpy as np

from dpbounds.algorithms.guards.guarded import examined
from dpbounds.algorithms.ledger import Ledger, PrivacyBudget, WhichRelease
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.run import Run
from dpbounds.algorithms.verification.attacks.audits import Audit, enough_runs
from dpbounds.algorithms.verification.attacks.betting import LIKELIHOOD, SequentialAudit, Sides, divided
from dpbounds.algorithms.verification.attacks.neighbours import Pair, Shape, pairs_of_norms, shapes_for, worst_pair
from dpbounds.algorithms.verification.attacks.outputs import candidates_of, pair_for, ratio_of_output
from dpbounds.algorithms.verification.attacks.transcripts import Witness, listening
from dpbounds.algorithms.verification.catalogue import example
from dpbounds.algorithms.verification.studies.running import Algorithm
from dpbounds.algorithms.verification.sweeping.cells import NO_PROOF
from dpbounds.errors import InvalidValue
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.privacy.mechanisms import (
    BallsInBins,
    Gaussian,
    MatrixMechanism,
    PoissonSampled,
    RandomlyAllocated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Shuffled,
    TruncatedPoisson,
)
from dpbounds.privacy.mechanisms.core import parts_of
from dpbounds.privacy.relations import Relation

# From a problem, a seed and a number of repetitions to scores by name, one number per repetition.
Experiment = Callable[[Any, int, int], Mapping[str, Array]]

_AT_ONCE = 2048  # repetitions per call: bounds the memory
_PILOT, _FEWEST = 192, 32  # runs that choose between canaries, or say which scores there are; not counted
_FIRST, _LARGEST = 1024, 32_768  # runs between two looks: each time half as many again, up to the largest
_OTHER = 0.05  # share of the runs, and of the wealth, for each pair but the loudest
_LOUDER = 1.2  # times the variance of the first canary's ratio: else another is not preferred, as a few runs may err
NEAR = 0.9  # share of the certified ε at which an audit may stop
_DRAWN = {Gaussian, PoissonSampled, SampledWithoutReplacement, SampledWithReplacement, TruncatedPoisson}
_DRAWN |= {BallsInBins, RandomlyAllocated, Shuffled, MatrixMechanism}
_CHOSEN, _SAMPLED, _GAUSSIAN = "choices", "random batches", "Gaussian releases"

# What an audit aims at, as a part of the certified ε, by what a ledger holds.
AIMS: Mapping[str, float] = {_GAUSSIAN: 0.7, _SAMPLED: 0.5, _CHOSEN: 0.4}


@dataclass(frozen=True, slots=True)
class AuditedAlgorithm:
    """An audit, compared with the certificate and the claim.

    Attributes:
        name: The algorithm.
        attack: The score that found most, and on which pair if it was not the worst.
        audit: The lower bound on ε, the larger one where there are two.
        unassuming: The one that assumes nothing but independent runs.
        certified: Upper bound of the certified ε of what the ledger says was released; infinite where nothing is
            proven.
        claim: The budget that the run claims to keep.
        runs: The number of all runs; 1 for an audit in one run.
        ended: Why it ended: "near" the certified ε, "exceeded", "runs" or "seconds" used up.
        reach: About the ε of the pair that was run most, where known; see ``SequentialAudit.reach``.
        releases: The kind of releases in the ledger, a key of ``AIMS``.
        heard: Average number of answers of that pair's runs with a known likelihood.
        paid: Number of answers in the ledger. A run may ask for fewer than it reserves.
    """

    name: str
    attack: str
    audit: Audit
    unassuming: Audit
    certified: float
    claim: PrivacyBudget
    runs: int
    ended: str
    reach: float = math.nan
    releases: str = _CHOSEN
    heard: float = math.nan
    paid: int = 0

    @property
    def limit(self) -> str:
        """Reason why the bound is below its aim: "" (it is not), "pair" or, if a better attack is possible, ``ended``.

        "pair": these two datasets show less than is certified. Where runs ask for fewer answers than are paid for,
        or some of them tell this attack nothing, how many do is said, too.
        """
        aim = AIMS[self.releases] * min(self.certified, float(self.claim.epsilon))
        if self.audit.epsilon >= aim:
            return ""
        if not NEAR * self.reach < aim:
            return self.ended
        told = f", {self.heard:.3g} of {self.paid} answers" if self.heard < 0.95 * self.paid else ""
        return f"pair{told}"

    @property
    def sound(self) -> bool:
        """Whether the lower bound is at most the certified upper one."""
        return self.audit.epsilon <= self.certified

    @property
    def refutes_claim(self) -> bool:
        """Whether the lower bound exceeds the claimed ε."""
        return self.audit.epsilon > self.claim.epsilon


def audit_example(
    name: str,
    budget: PrivacyBudget,
    *,
    runs: int = 20_000,
    seconds: float = math.inf,
    enough: float = NEAR,
    confidence: float = 0.95,
    seed: int = 0,
) -> AuditedAlgorithm:
    """Audit the example of that name (see ``dpbounds.algorithms.verification.catalogue``) at a budget."""
    algorithm, problem = example(name).calibrated(budget)
    return audit_algorithm(
        name,
        algorithm,
        problem,
        budget,
        runs=runs,
        seconds=seconds,
        enough=enough,
        confidence=confidence,
        seed=seed,
    )


def audit_examples(
    names: Sequence[str], budget: PrivacyBudget, *, jobs: int = 1, **named: Any
) -> Iterator[AuditedAlgorithm]:
    """Audit several examples, in their order, in ``jobs`` processes; other arguments as for one."""
    from joblib import Parallel, delayed

    one = partial(audit_example, budget=budget, **named)
    yield from Parallel(n_jobs=jobs, return_as="generator", batch_size=1)(delayed(one)(name) for name in names)


def audit_algorithm(
    name: str,
    algorithm: Algorithm,
    problem: object,
    claim: PrivacyBudget,
    *,
    runs: int = 20_000,
    seconds: float = math.inf,
    enough: float = NEAR,
    confidence: float = 0.95,
    seed: int = 0,
) -> AuditedAlgorithm:
    """Run an algorithm on neighbouring datasets and bound ε from below, by all that it releases.

    Of a run whose budget is for its last iterate alone the attack sees that, and the certified ε is what it spends.

    Most runs are on the pair on which canaries move answers the most, the rest on pairs of small and large records
    (see ``neighbours``). It ends as soon as the bound is near enough to the certified ε, or above it; or when the runs
    or the seconds are used up: the bound holds whenever it ends (see ``betting``).

    Where the ledger holds nothing but full-batch Gaussian releases, half of the error goes to a bound that takes its
    word for the *shape* of the trade-off curve: one above the certified ε then refutes the ledger.

    Args:
        name: For the finding.
        algorithm: Anything with ``run``.
        problem: The problem of the algorithm, with a known ``worst_pair``, whose records replace its own; or a pair to
            run it on.
        claim: ε, δ and the relation that the runs claim to keep.
        runs: At most, on all datasets together, at least 8.
        seconds: Approximate CPU time of this process: the result then depends on the machine.
        enough: Part of the certified ε at which it ends.
        confidence: In (0, 1), of the lower bound, however many scores and pairs are tried.
        seed: At least 0; all randomness follows from it.

    Raises:
        BudgetExceeded: A guard found something before any attack (``dpbounds.algorithms.guards``), or a run did.
    """
    source, ledgers, begun = checked_source(seed), list[Ledger](), time.process_time()
    release: WhichRelease = getattr(algorithm, "release", "every-iterate")
    examined(algorithm, problem.first if isinstance(problem, Pair) else problem, seed)
    pairs = {"": problem} if isinstance(problem, Pair) else _pairs(algorithm, problem, claim.relation)
    heard: dict[str, list[float]] = {title: [] for title in pairs}
    played = {
        title: Game(partial(_heard, algorithm, pair, ledgers, heard[title]), pair) for title, pair in pairs.items()
    }
    loudest = _loudest(played, source, seconds)
    games = [replace(played.pop(loudest), title="", part=1 - _OTHER * (len(pairs) - 1))]
    games += [replace(game, title=title, part=_OTHER) for title, game in played.items()]
    if not ledgers:
        games[0].scores(_PILOT, source)
    certified = _certified(ledgers, claim, release)
    betting, made, ended = sequentially(
        games,
        source,
        delta=float(claim.delta),
        confidence=confidence,
        certified=certified if 0 < certified < math.inf else float(claim.epsilon),
        gaussian=release == "every-iterate" and all(map(_only_gaussian, set(ledgers))),
        runs=runs,
        seconds=seconds - (time.process_time() - begun),
        enough=enough * certified,
    )
    certified = _certified(ledgers, claim, release)  # certified value of all runs: later ones may have released more
    gaussian_still = release == "every-iterate" and all(map(_only_gaussian, set(ledgers)))
    audit = betting.audit if gaussian_still else betting.unassuming
    if audit.epsilon > certified:
        ended = "exceeded"
    elif ended == "seconds":
        ended = f"{seconds:g} seconds"
    releases, paid = _described(ledgers)
    answers = float(np.mean(heard[loudest]))
    if answers > paid:  # on disjoint parts of the records, of which one release holds
        answers = math.nan
    return AuditedAlgorithm(
        name,
        betting.attack,
        audit,
        betting.unassuming,
        certified,
        claim,
        made,
        ended,
        betting.reach,
        releases,
        answers,
        paid,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Game:
    """An experiment on a pair, its share of the runs (and of the wealth), and its name among others."""

    experiment: Experiment
    pair: Pair
    part: float = 1.0
    title: str = ""

    def scores(self, count: int, source: np.random.Generator) -> tuple[dict[str, Array], Sides]:
        """Return scores of independent runs, each on the first or second dataset by a fair coin, and the datasets.

        The coins are independent of the runs, which are ordered by them: the first ones are those on the first one.
        """
        on_second = int(source.binomial(count, 0.5))
        parts: dict[str, list[Array]] = {}
        for problem, number in ((self.pair.first, count - on_second), (self.pair.second, on_second)):
            for done in range(0, number, _AT_ONCE):
                scores = self.experiment(problem, int(source.integers(2**62)), min(_AT_ONCE, number - done))
                for name, values in scores.items():
                    parts.setdefault(f"{self.title}: {name}" if self.title else name, []).append(values)
        return {name: np.concatenate(each) for name, each in parts.items()}, np.arange(count) >= count - on_second


def sequentially(
    games: Sequence[Game],
    source: np.random.Generator,
    *,
    delta: float,
    confidence: float,
    certified: float,
    gaussian: bool,
    runs: int,
    seconds: float = math.inf,
    enough: float = math.inf,
) -> tuple[SequentialAudit, int, str]:
    """Play until the bound reaches ``enough``, or the runs or the CPU seconds are used up.

    Returns:
        The bets, how many runs were made (in all, those that were not counted included), and why it ended.
    """
    limit, begun = enough_runs(runs), time.process_time()
    # the first runs say which scores there are, and are not counted: shares are fixed before the bets
    pilots = [_at_first(game, max(2, min(_PILOT, limit // (4 * len(games)))), source, seconds) for game in games]
    shares = {
        name: game.part * share
        for game, (scores, _) in zip(games, pilots, strict=True)
        for name, share in divided(scores).items()
    }
    betting = SequentialAudit(shares, delta, confidence, certified=certified, gaussian=gaussian)
    for scores, second in pilots:
        betting.add(scores, second, bet=False)
    made, batch = sum(len(second) for _, second in pilots), _FIRST
    while True:
        allowed = min(batch, limit - made)
        if math.isfinite(seconds):  # as many as the time is likely to be enough for
            left, each = begun + seconds - time.process_time(), (time.process_time() - begun) / made
            allowed = min(allowed, math.ceil(left / each))
        allowed = max(allowed, 2 * len(games))
        for game in games:
            count = max(2, int(game.part * allowed))
            betting.add(*game.scores(count, source))
            made += count
        batch = min(batch + batch // 2, _LARGEST)
        if betting.audit.epsilon >= enough:
            return betting, made, "near"
        if made >= limit:
            return betting, made, "runs"
        if time.process_time() - begun > seconds:
            return betting, made, "seconds"


def attacked(
    experiment: Experiment,
    pair: Pair,
    *,
    delta: float,
    expected: float,
    gaussian: bool = False,
    runs: int,
    confidence: float,
    seed: int,
    enough: float = math.inf,
) -> tuple[str, Audit]:
    """Return the score that found most on one pair, and the bound; it ends where that is enough."""
    betting, *_ = sequentially(
        [Game(experiment, pair)],
        checked_source(seed),
        delta=delta,
        confidence=confidence,
        certified=expected,
        gaussian=gaussian,
        runs=runs,
        enough=enough,
    )
    return betting.attack, betting.audit


def checked_source(seed: int) -> np.random.Generator:
    """Return a generator of this seed, a whole number at least 0."""
    if isinstance(seed, bool) or seed < 0:
        raise InvalidValue("seed", seed, "a whole number at least 0")
    return np.random.default_rng(seed)


def _certified(ledgers: Sequence[Ledger], claim: PrivacyBudget, release: WhichRelease) -> float:
    # the runs on either side write the same releases unless the number of steps depends on what was released
    return max(
        certified_or_infinite(partial(ledger.spent, claim.delta, claim.relation, release)) for ledger in set(ledgers)
    )


def _pairs(algorithm: Algorithm, problem: Any, relation: Relation) -> dict[str, Pair]:
    own = pair_for(algorithm, problem, relation)
    if own is not None:
        return {"": own}
    canaries: dict[str, Pair] = {shape: worst_pair(problem, relation, shape) for shape in shapes_for(problem)}
    return canaries | dict(pairs_of_norms(problem, relation))


def _heard(
    algorithm: Algorithm, pair: Pair, ledgers: list[Ledger], heard: list[float], side: Any, seed: int, count: int
) -> dict[str, Array]:
    witness = Witness(pair, candidates_of(algorithm))
    alone = getattr(algorithm, "release", "every-iterate") == "last-iterate"
    with nullcontext() if alone else listening(witness.hear):
        run = algorithm.run(side, seed=seed, repetitions=count)
    ledgers.append(run.ledger)
    scores = witness.scores(count) | scores_of_output(run, pair)
    returned = ratio_of_output(algorithm, pair, run)
    heard.append(witness.answers_of_a_run(count) + (returned is not None))
    return scores if returned is None else scores | {LIKELIHOOD: returned + scores.get(LIKELIHOOD, 0.0)}


def _at_first(game: Game, runs: int, source: np.random.Generator, seconds: float) -> tuple[dict[str, Array], Sides]:
    """Return the scores of ``runs`` runs, or of as many as take a tenth of the time (of 32, if that takes longer)."""
    if math.isinf(seconds) or runs <= _FEWEST:
        return game.scores(runs, source)
    begun = time.process_time()
    scores, second = game.scores(_FEWEST, source)
    each = (time.process_time() - begun) / _FEWEST
    more = min(runs - _FEWEST, int(seconds / 10 / each) - _FEWEST if each else runs)
    if more < 2:
        return scores, second
    others, sides = game.scores(more, source)
    both = {name: np.append(values, others[name]) for name, values in scores.items() if name in others}
    return both, np.append(second, sides)


def _loudest(games: Mapping[str, Game], source: np.random.Generator, seconds: float = math.inf) -> str:
    """Return the canary whose log-likelihood ratio varies most, in runs that do not count; the first one on a tie.

    The difference of its means, which for Gaussian releases is the same number, is known far less well.
    """

    def apart(title: str) -> float:
        scores, second = _at_first(games[title], 4 * _PILOT, source, seconds)
        ratio = scores.get(LIKELIHOOD, np.zeros(len(second)))
        return float(ratio[second].var() + ratio[~second].var())

    canaries = [title for title in games if title in get_args(Shape)]
    if len(canaries) < 2:
        return next(iter(games))
    varied = {title: apart(title) for title in canaries}
    best = max(canaries, key=lambda title: varied[title])
    return best if varied[best] > _LOUDER * varied[canaries[0]] else canaries[0]


def scores_of_output(run: Run, pair: Pair) -> dict[str, Array]:
    """Return scores of the output: its distance from the start, its component along the first shift, other numbers.

    Where nothing was returned (NaN), the score is -1.
    """
    start = pair.first.initial_point
    moved = run.output - start
    shift = (pair.second.gradient(start[None]) - pair.first.gradient(start[None]))[0]
    scores = {"distance of the output": np.linalg.norm(moved, axis=1), "output along the shift": moved @ shift}
    scores |= {name: values.astype(np.float64) for name, values in run.outputs.items() if values.ndim == 1}
    return {name: np.nan_to_num(values, nan=-1.0) for name, values in scores.items()}


def _only_gaussian(ledger: Ledger) -> bool:
    parts = parts_of(ledger.mechanism()) if ledger.releases else ()
    return bool(parts) and all(isinstance(part, Gaussian) for part, _ in parts)


def _described(ledgers: Sequence[Ledger]) -> tuple[str, int]:
    """Return a key of ``AIMS``, and how many releases there are at most."""
    parts = [list(parts_of(ledger.mechanism())) for ledger in set(ledgers)]
    kinds = {type(part) for each in parts for part, _ in each}
    releases = _GAUSSIAN if kinds == {Gaussian} else _SAMPLED if kinds <= _DRAWN else _CHOSEN
    return releases, max(sum(count for _, count in each) for each in parts)


def certified_or_infinite(spent: Callable[[], Enclosure]) -> float:
    """Return the upper bound of the spent ε; infinite where nothing is proven."""
    try:
        return spent().upper
    except NO_PROOF:
        return math.inf
