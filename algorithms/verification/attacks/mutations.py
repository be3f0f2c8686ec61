"""Deliberately broken copies of algorithms, each with the claim that it breaks, which an audit has to catch.

The descents below are written out by hand, apart from the algorithms of the library and without a ledger, because the
ledger would refuse most of them: it counts the noise that reaches the answers. Here nothing but the audit may speak.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms.ledger import OpenLedger, PrivacyBudget
from dpbounds.algorithms.noise import Array, Kind, standard_gaussian, streams
from dpbounds.algorithms.oracles import GradientDifferenceOracle, GradientOracle
from dpbounds.algorithms.planning import multiplier_of_steps, root_above
from dpbounds.algorithms.problems.problem import Problem
from dpbounds.algorithms.sampling import Batch
from dpbounds.algorithms.verification.attacks.audits import Audit
from dpbounds.algorithms.verification.attacks.experiments import attacked
from dpbounds.algorithms.verification.attacks.neighbours import Pair, Shape, worst_pair
from dpbounds.algorithms.verification.attacks.selections import as_printed, audit_selection, repaired
from dpbounds.algorithms.verification.attacks.transcripts import Answer, Listener, Witness, gradient, listening
from dpbounds.algorithms.verification.studies.problems import design
from dpbounds.expressions.exact import to_float
from dpbounds.papers.ganesh_liu_oh_thakurta_2023 import theorem_4_2
from dpbounds.privacy.accountants import certified as accountants
from dpbounds.privacy.mechanisms import ZCDP, Gaussian, UniformBall
from dpbounds.privacy.mechanisms.core import parts_of
from dpbounds.privacy.relations import Relation
from dpbounds.theorems.parts import Numbers

Rows = NDArray[np.int64]
# From the streams, the dimension, the standard deviation (or radius) and the step to the noise that is really added.
Draw = Callable[[Sequence[np.random.Generator], int, float, int], Array]

_CLAIM = PrivacyBudget.of(1, "1e-5", Relation.REPLACE_ONE)
_RECORDS, _DIMENSION, _STEPS, _BATCH = 200, 4, 10, 10
_CANDIDATES = 20
_BEYOND = 1.2  # times a claim: a copy that is caught by that much is caught
SOUND = "nothing: sound"


@dataclass(frozen=True, slots=True)
class Mutation:
    """A copy, its mistake, its claim, and the audit that should find the mistake.

    Attributes:
        name: Short.
        flaw: The change; for a sound copy, ``SOUND``.
        claim: ε that is claimed.
        delta: δ of the claim.
        scale: Runs that it takes, in units of the runs asked for: rare events take more.
        audit: From runs, confidence and seed to the score that found most, and the lower bound.
    """

    name: str
    flaw: str
    claim: float
    delta: float
    scale: int
    audit: Callable[[int, float, int], tuple[str, Audit]]

    @property
    def broken(self) -> bool:
        """Whether the claim is false."""
        return self.flaw != SOUND


@dataclass(frozen=True, slots=True)
class AuditedCopy:
    """The outcome of a broken copy."""

    mutation: Mutation
    attack: str
    audit: Audit

    @property
    def caught(self) -> bool:
        """Whether the lower bound exceeds the claim."""
        return self.audit.epsilon > self.mutation.claim

    @property
    def right(self) -> bool:
        """Whether it was caught if and only if it is broken."""
        return self.caught == self.mutation.broken


def judged(mutation: Mutation, *, runs: int = 4000, confidence: float = 0.95, seed: int = 0) -> AuditedCopy:
    """Audit one copy; ``runs`` on both datasets together, times the copy's scale."""
    attack, audit = mutation.audit(runs * mutation.scale, confidence, seed)
    return AuditedCopy(mutation, attack, audit)


# --- A plain descent, one possible flaw at a time


def as_written(generators: Sequence[np.random.Generator], dimension: int, amount: float, step: int) -> Array:
    """Return N(0, amount² I) noise."""
    return amount * standard_gaussian(generators, dimension)


def scaled(factor: Callable[[int, int], float]) -> Draw:
    """Return the same times a factor of the dimension and the step."""
    return lambda generators, dimension, amount, step: as_written(
        generators, dimension, factor(dimension, step) * amount, step
    )


def same_every_time(generators: Sequence[np.random.Generator], dimension: int, amount: float, step: int) -> Array:
    """Return the same noise in every step: as from a seed that is set anew each time."""
    streams = [generator.bit_generator.state["state"]["inc"] for generator in generators]  # whatever their positions
    return as_written([np.random.default_rng(stream) for stream in streams], dimension, amount, step)


def on_the_sphere(generators: Sequence[np.random.Generator], dimension: int, amount: float, step: int) -> Array:
    """Return vectors of length ``amount`` exactly, in random directions."""
    drawn = standard_gaussian(generators, dimension)
    drawn *= amount / np.linalg.norm(drawn, axis=1, keepdims=True)
    return drawn


def in_the_ball(generators: Sequence[np.random.Generator], dimension: int, amount: float, step: int) -> Array:
    """Return noise uniform in the ball of that radius."""
    shrink = np.array([[generator.random()] for generator in generators]) ** (1 / dimension)
    return shrink * on_the_sphere(generators, dimension, amount, step)


def first_records(records: int, size: int, generator: np.random.Generator) -> Rows:
    """Return a "random" batch that always holds the first records."""
    return np.arange(size)


def random_records(records: int, size: int, generator: np.random.Generator) -> Rows:
    """Return a random batch without replacement."""
    return generator.choice(records, size=size, replace=False)


def public_step(problem: Problem) -> float:
    """Return 1/(2L), L the public constant."""
    return 1 / (2 * float(problem.smoothness))


def fitted_step(problem: Problem) -> float:
    """Return 1/(2L) with the L of the given records."""
    largest = np.linalg.norm(problem.signed_features, axis=1).max()
    return 1 / (2 * float(largest) ** 2 * float(problem.loss.largest_curvature))


@dataclass(frozen=True, slots=True)
class Descent:
    """x <- x - γ (∇F(x) + noise) for a number of steps; every answer and the last point are released.

    Attributes:
        multiplier: Multiplier of the recorded noise, in units of G on the sum.
        draw: The noise that is added.
        step_size: From the problem.
        kind: Kind of the recorded noise.
        batch: Chooses the records of every step; None for all of them.
        steps: The number of steps.
    """

    multiplier: float
    draw: Draw = as_written
    step_size: Callable[[Problem], float] = public_step
    kind: Kind = "gaussian"
    batch: Callable[[int, int, np.random.Generator], Rows] | None = None
    steps: int = _STEPS

    def run(self, problem: Problem, seed: int, repetitions: int, hear: Listener) -> Array:
        """Return the last points, shape (R, p), after passing every answer to ``hear``."""
        generators = streams(seed, repetitions)
        divisor = problem.records if self.batch is None else _BATCH
        amount = self.multiplier * float(problem.lipschitz) / divisor
        gamma = self.step_size(problem)
        x = np.tile(problem.initial_point, (repetitions, 1))
        for step in range(self.steps):
            if self.batch is None:
                exact = gradient(x, problem)
            else:
                rows = np.stack([self.batch(problem.records, _BATCH, generator) for generator in generators])
                exact = problem.batch_gradient(x, rows)
            noisy = exact + self.draw(generators, problem.dimension, amount, step)
            sampling = None if self.batch is None else Batch(_BATCH, problem.records, replacement=False)
            about, written = partial(gradient, x), np.full(repetitions, amount)
            hear(Answer(noisy, written, self.kind, generators, about, sampling, problem.records, problem.dimension))
            x = x - gamma * noisy
        return x


@cache
def _problem() -> Problem:
    return design(_RECORDS, _DIMENSION)


def _worst(shape: Shape = "steep") -> Pair:
    return worst_pair(_problem(), _CLAIM.relation, shape)


def _audit_descent(
    copy: Descent,
    pair: Pair,
    claim: float,
    delta: float,
    gaussian: bool,
    runs: int,
    confidence: float,
    seed: int,
) -> tuple[str, Audit]:
    def experiment(problem: Problem, run_seed: int, repetitions: int) -> Mapping[str, Array]:
        witness = Witness(pair)
        output = copy.run(problem, run_seed, repetitions, witness.hear)
        return witness.scores(repetitions) | {"distance of the output": np.linalg.norm(output, axis=1)}

    return attacked(
        experiment,
        pair,
        delta=delta,
        expected=claim,
        enough=_BEYOND * claim if claim else math.inf,
        gaussian=gaussian,
        runs=runs,
        confidence=confidence,
        seed=seed,
    )


def _planned(relation: Relation) -> float:
    return to_float(multiplier_of_steps(replace(_CLAIM, relation=relation), _STEPS), "up")


_ON_BATCHES = 2  # noise multiplier of one answer about a random batch


def _batch_claim() -> float:
    """Return the ε claimed for one answer about a random batch."""
    mechanism = Batch(_BATCH, _RECORDS, replacement=False).sample(Gaussian(_ON_BATCHES))
    return accountants.epsilon(mechanism, delta=_CLAIM.delta, relation=_CLAIM.relation).upper


_RADIUS = Fraction(40)  # radius of the ball, in units of G on the sum


def _ball_delta() -> float:
    """Return the δ of one answer with noise in the ball, which is (0, δ)-private."""
    return accountants.delta(UniformBall(_RADIUS, _DIMENSION), epsilon=0, relation=_CLAIM.relation).upper


def _with_records(first: Array, second: Array) -> Pair:
    one, other = (design(_RECORDS, _DIMENSION) for _ in range(2))
    for problem, rows in ((one, first), (other, second)):
        object.__setattr__(problem, "signed_features", rows)  # after the records were checked
    return Pair(one, other, _CLAIM.relation)


def _with_unclipped_records() -> Pair:
    pair = _worst()
    return _with_records(4 * pair.first.signed_features, 4 * pair.second.signed_features)


def _with_a_large_record() -> Pair:
    """Return a pair of small records, and a large one on the first side, to which a step size is fitted."""
    small = np.zeros((_RECORDS, _DIMENSION))
    small[:, 0] = float(_problem().feature_bound) / 8
    large = small.copy()
    large[0, 0] *= 8
    return _with_records(large, small)


# --- Stochastic Spider with full-batch estimates

_RHO = Fraction(1)  # φ: the theorem's estimates claim φ/2-zCDP


def _spider_multipliers(printed: bool) -> tuple[Fraction, Fraction]:
    """Return the noise multipliers of fresh estimates and of differences, as printed, or larger by √8.

    An answer with multiplier z costs 2/z² in zCDP if a record is replaced: T of them with z = √(8T/φ) cost φ/4.
    """
    half = _STEPS // 2
    sizes = {"fresh_estimates": half, "steps": half, "rho": _RHO}
    parts = parts_of(theorem_4_2.mechanism(Numbers(sizes, Relation.REPLACE_ONE)))
    fresh, differences = (
        part.noise_multiplier for part, _ in parts if isinstance(part, Gaussian) and part.noise_multiplier is not None
    )
    factor = Fraction(1) if printed else root_above(8)
    return fresh * factor, differences * factor


def _spider_claim() -> float:
    claim = ZCDP(_RHO / 2, relation=Relation.REPLACE_ONE)
    return accountants.epsilon(claim, delta=_CLAIM.delta, relation=Relation.REPLACE_ONE).upper


def _audit_spider(printed: bool, runs: int, confidence: float, seed: int) -> tuple[str, Audit]:
    """Audit SPIDER with every other estimate fresh; the others add a difference."""
    pair = worst_pair(_problem(), Relation.REPLACE_ONE, "curved")
    fresh, differences = _spider_multipliers(printed)
    gamma = public_step(_problem())

    def experiment(problem: Problem, run_seed: int, repetitions: int) -> Mapping[str, Array]:
        generators, ledger, witness = streams(run_seed, repetitions), OpenLedger(), Witness(pair)
        anchor = GradientOracle(problem, fresh, generators, ledger)
        drift = GradientDifferenceOracle(problem, differences, generators, ledger)
        x = np.tile(problem.initial_point, (repetitions, 1))
        previous = estimate = x
        with listening(witness.hear):
            for step in range(_STEPS):
                estimate = anchor(x).noisy if step % 2 == 0 else estimate + drift(x, previous).noisy
                previous, x = x, x - gamma * estimate
        return witness.scores(repetitions)

    return attacked(
        experiment,
        pair,
        delta=float(_CLAIM.delta),
        expected=_spider_claim(),
        enough=_BEYOND * _spider_claim(),
        gaussian=True,
        runs=runs,
        confidence=confidence,
        seed=seed,
    )


# --- AboveThreshold


def _audit_selection(printed: bool, runs: int, confidence: float, seed: int) -> tuple[str, Audit]:
    mechanism = as_printed if printed else repaired
    audit = audit_selection(mechanism, _CANDIDATES, 1.0, runs=runs, confidence=confidence, seed=seed)
    return "the last candidate is returned", audit


# --- The table


def _descent(
    name: str,
    flaw: str,
    copy: Descent,
    pair: Pair | None = None,
    claim: float = float(_CLAIM.epsilon),
    delta: float = float(_CLAIM.delta),
    scale: int = 1,
    gaussian: bool = True,
) -> Mutation:
    audit = partial(_audit_descent, copy, pair or _worst(), claim, delta, gaussian)
    return Mutation(name, flaw, claim, delta, scale, audit)


@cache
def mutations() -> tuple[Mutation, ...]:
    """Return all copies, sound ones for comparison included; names are unique."""
    plain, delta = Descent(_planned(_CLAIM.relation)), float(_CLAIM.delta)
    small = _planned(Relation.ADD_OR_REMOVE_ONE)
    batches = partial(_descent, claim=_batch_claim(), scale=4, gaussian=False)
    ball = partial(_descent, claim=0.0, delta=_ball_delta(), gaussian=False)
    spider, threshold = (_spider_claim(), delta, 1), (1.0, 0.0, 100)
    two_tests = f"two tests joined by 'and', {_CANDIDATES} candidates, its claim read for a replaced record"
    return (
        _descent("descent", SOUND, plain),
        _descent(
            "noise halved", "half of the noise that was written down", replace(plain, draw=scaled(lambda *_: 0.5))
        ),
        _descent(
            "noise of the norm",
            "the norm of the noise has the size that each coordinate needs",
            replace(plain, draw=scaled(lambda dimension, step: dimension**-0.5)),
        ),
        _descent(
            "noise forgotten once",
            "no noise in the last step",
            replace(plain, draw=scaled(lambda dimension, step: float(step < _STEPS - 1))),
        ),
        _descent(
            "noise used twice", "the same noise in every step", replace(plain, draw=same_every_time), _worst("curved")
        ),
        _descent(
            "sensitivity forgotten",
            "noise for a record that is removed, claimed for one that is replaced",
            Descent(small),
        ),
        _descent("clipping forgotten", "records of four times the bound", plain, _with_unclipped_records()),
        _descent(
            "data-dependent step size",
            "a step size from the largest record at hand",
            replace(plain, step_size=fitted_step),
            _with_a_large_record(),
        ),
        batches("random batches", SOUND, Descent(_ON_BATCHES, batch=random_records, steps=1)),
        batches(
            "batches not random",
            "noise for random batches, always the same records",
            Descent(_ON_BATCHES, batch=first_records, steps=1),
        ),
        ball("noise in the ball", SOUND, Descent(float(_RADIUS), in_the_ball, kind="ball", steps=1)),
        ball(
            "noise on the sphere",
            "the ball's claim, noise on its surface",
            Descent(float(_RADIUS), on_the_sphere, kind="sphere", steps=1),
        ),
        Mutation("Stochastic Spider, noise enlarged", SOUND, *spider, partial(_audit_spider, False)),
        Mutation(
            "Stochastic Spider as printed",
            "the printed noise, its claim read for a replaced record",
            *spider,
            partial(_audit_spider, True),
        ),
        Mutation("AboveThreshold, one test", SOUND, *threshold, partial(_audit_selection, False)),
        Mutation("AboveThreshold as printed", two_tests, *threshold, partial(_audit_selection, True)),
    )
