"""A private choice among finitely many candidates by their scores: exponential mechanism, or report noisy max."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms import noise
from dpbounds.algorithms.ledger import DescribedRelease, OpenLedger
from dpbounds.algorithms.noise import Array
from dpbounds.algorithms.oracles.watching import Question, answered
from dpbounds.algorithms.unreleased import opened
from dpbounds.errors import BudgetExceeded, InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, positive_integer, to_float
from dpbounds.privacy.mechanisms import ZCDP, ExponentialMechanism, Mechanism, PureDP
from dpbounds.privacy.relations import Relation

WhichChoice = Literal["exponential", "concentrated", "noisy-max"]


def choice(epsilon: ExactLike, relation: Relation, method: WhichChoice = "exponential") -> Mechanism:
    """Return one choice as a mechanism: the exponential mechanism has bounded range, which composes better than ε.

    "concentrated" is the same draw, described only by ρ = ε²/8 of zCDP (Cesar & Rogers 2021, Lemma 3.4), for a few
    choices beside other releases, whose exact composition takes long. 20 and more of ε <= 4 each are accounted for as
    Gaussian noise, which spends less (``many_choices.md``).

    Report noisy max with Laplace noise of scale β = 2Δ/ε is described only as ε-private. Proof: fix all noises but
    candidate y's. With the best of the others at m on one side and m' on the other, |m - m'| <= Δ, y is chosen where
    its noise exceeds m - u(y), or m' - u'(y): two thresholds within 2Δ of each other, and a Laplace tail changes by a
    factor of at most e^{2Δ/β} = e^ε. Integrate over the others; finitely many outcomes: add up.

    Raises:
        InvalidValue: ε is not positive, or there is no such method.
    """
    if method not in get_args(WhichChoice):
        raise InvalidValue("method", repr(method), " or ".join(get_args(WhichChoice)))
    if method == "concentrated":
        return ZCDP(ExponentialMechanism(epsilon, relation=relation).epsilon ** 2 / 8, relation=relation)
    mechanism = ExponentialMechanism if method == "exponential" else PureDP
    return mechanism(epsilon, relation=relation)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The scores of a choice, for watchers that have the records.

    Attributes:
        scores: Shape (R, N).
        scale: Scale of the noise on the scores, 2Δ/ε.
        records: n of what the scores are about: a part of the records, maybe.
    """

    scores: Array
    scale: float
    records: int


class PaidTogether:
    """A number of concentrated choices with equal ε: one zCDP release in the ledger, and no more choices than that.

    Args:
        epsilon: ε of each choice.
        count: The number of choices, at least 1, fixed in advance.
        relation: The neighbouring relation of the choices.
        ledger: Gets the release now, and the noise counts of the choices when they are made.

    Attributes:
        taken, last: The number of choices so far, and the last one.
    """

    def __init__(self, epsilon: ExactLike, count: int, relation: Relation, ledger: OpenLedger) -> None:
        self._each, self._count = choice(epsilon, relation, "concentrated"), positive_integer(count, "count")
        self.ledger, self.taken, self.last = ledger, 0, DescribedRelease(self._each)
        ledger.release(self.together(epsilon, count, relation))

    @staticmethod
    def together(epsilon: ExactLike, count: int, relation: Relation) -> ZCDP:
        """Return all of them as one mechanism: their ρ add up (Bun & Steinke 2016, Lemma 2.3)."""
        return ZCDP(count * exact(epsilon, "epsilon") ** 2 / 8, relation=relation)

    def release(self, mechanism: Mechanism, count: int = 1) -> None:
        """Take one choice; ``BudgetExceeded`` where it is another one, or one too many."""
        if mechanism != self._each or count != 1 or self.taken == self._count:
            raise BudgetExceeded(f"a release beyond the {self._count} choices that were paid for: {mechanism!r}")
        self.taken += 1

    def gaussian(self, *, noise_stddev: Fraction, per_record_bound: Fraction, sampling: object = None) -> None:
        """Raise an error: not supported."""
        raise BudgetExceeded("choices were paid for, no Gaussian release")

    def added(self, squares: float, numbers: int, level: float = 1.0) -> None:
        """Keep count of Gaussian noise, in the ledger."""
        self.ledger.added(squares, numbers, level)

    def waited(self, total: float, numbers: int, level: float = 1.0) -> None:
        """Keep count of other noise, in the ledger."""
        self.ledger.waited(total, numbers, level)


def choose(
    scores: Array,
    *,
    records: int,
    epsilon: ExactLike,
    sensitivity: ExactLike,
    relation: Relation,
    generators: Sequence[np.random.Generator],
    ledger: noise.Records,
    method: WhichChoice = "exponential",
) -> NDArray[np.int64]:
    """Write the choice into the ledger, then draw one candidate for every repetition.

    "exponential" and "concentrated": y with probability proportional to exp(ε u(y)/(2Δ)), drawn as the largest of
    u + (2Δ/ε) Gumbel: with independent standard Gumbel g_y and β = 2Δ/ε, P(u_y/β + g_y is the largest) = e^{u_y/β}/Σ
    e^{u_z/β}, exactly.
    "noisy-max": the largest of u + Laplace of scale 2Δ/ε.

    Args:
        scores: u, the higher the better, shape (R, N), one row per generator; they may be ``Unreleased``. Where all
            rows are equal, ``np.broadcast_to`` of one row is enough.
        records: n of what they are about.
        epsilon: ε > 0 of this choice.
        sensitivity: Δ > 0: under the relation, no score moves by more than this (or all scores move within a range of
            2Δ, which is all that the exponential mechanism needs: what moves every score alike cancels).
        relation: The relation for which that holds.
        generators: One per repetition.
        ledger: The ledger of one repetition.
        method: The mechanism of the choice.

    Returns:
        The index that was chosen, shape (R,).

    Raises:
        InvalidValue: A number is not allowed, or a score is not finite.
        BudgetExceeded: The ledger keeps a budget that has no room for the choice.
    """
    scores, reach = opened(scores), exact(sensitivity, "sensitivity")
    if reach <= 0:
        raise InvalidValue("sensitivity", sensitivity, "greater than 0")
    if scores.ndim != 2 or scores.shape[0] != len(generators) or scores.shape[1] == 0:
        raise InvalidValue("scores.shape", scores.shape, f"({len(generators)}, N), one row per stream, N >= 1")
    if not all(np.isfinite(row).all() for row in scores):
        raise InvalidValue("scores", "not finite", "finite numbers", "candidates where the objective has a value")
    described = choice(epsilon, relation, method)
    scale = to_float(2 * reach / exact(epsilon, "epsilon"), "up")
    terms = (scores.shape, described, reach, method)
    question = Question("choice", (), terms, generators, ledger, Scored(scores, scale, records))
    return answered(question, partial(_choose, scores, scale, described, method, generators, ledger))


def _choose(
    scores: Array,
    scale: float,
    described: Mechanism,
    method: WhichChoice,
    generators: Sequence[np.random.Generator],
    ledger: noise.Records,
) -> NDArray[np.int64]:
    ledger.release(described)
    # one repetition at a time: where all rows are one array, no more than N numbers are held
    drawn = [_chosen(row, generator, scale, method, ledger) for generator, row in zip(generators, scores, strict=True)]
    return np.array(drawn, dtype=np.int64)


def _chosen(
    scores: Array, generator: np.random.Generator, scale: float, method: WhichChoice, ledger: noise.Records
) -> int:
    # standard exponential numbers, so that the ledger can count what was really used
    unit = generator.standard_exponential(len(scores))
    if method == "noisy-max":
        unit *= np.where(generator.random(len(scores)) < 0.5, -1.0, 1.0)
    else:
        # a Gumbel variable is -log of an exponential one; a zero would be an infinite score: kept from being one
        unit = -np.log(np.maximum(unit, np.finfo(np.float64).tiny))
    used = _used(unit, scale)
    # Gumbel noise g is counted by exp(-e^-g), which is uniform: the count falls if noise is missing, to .46 if all is
    counted = np.abs(used / scale) if method == "noisy-max" else -np.log(-np.expm1(-np.exp(-used / scale)))
    ledger.waited(float(counted.sum()), counted.size, scale)
    return int((used + scores).argmax())


def _used(unit: Array, scale: float) -> Array:
    return unit * scale
