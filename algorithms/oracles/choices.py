"""A private choice among finitely many candidates by their scores: exponential mechanism, or report noisy max."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpbounds.algorithms import noise
from dpbounds.algorithms.noise import Array
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import ExactLike, exact, to_float
from dpbounds.privacy.mechanisms import ExponentialMechanism, Mechanism, PureDP
from dpbounds.privacy.relations import Relation

WhichChoice = Literal["exponential", "noisy-max"]


def choice(epsilon: ExactLike, relation: Relation, method: WhichChoice = "exponential") -> Mechanism:
    """One choice as a mechanism: the exponential mechanism is of bounded range, which composes better than its ε says.

    Of report noisy max with Laplace noise of scale β = 2Δ/ε no more is said than that it is ε-private. Proof: fix all
    noises but candidate y's. With the best of the others at m on one side and m' on the other, |m - m'| <= Δ, y is
    chosen where its noise exceeds m - u(y), or m' - u'(y): two thresholds within 2Δ of each other, and a Laplace tail
    changes by a factor of at most e^{2Δ/β} = e^ε. Integrate over the others; finitely many outcomes: add up.

    Raises:
        InvalidValue: ε is not positive, or there is no such method.
    """
    if method not in get_args(WhichChoice):
        raise InvalidValue("method", repr(method), " or ".join(get_args(WhichChoice)))
    mechanism = ExponentialMechanism if method == "exponential" else PureDP
    return mechanism(epsilon, relation=relation)


def choose(
    scores: Array,
    *,
    epsilon: ExactLike,
    sensitivity: ExactLike,
    relation: Relation,
    generators: Sequence[np.random.Generator],
    ledger: noise.Records,
    method: WhichChoice = "exponential",
) -> NDArray[np.int64]:
    """Write the choice into the ledger, then draw one candidate for every repetition.

    "exponential": y with probability proportional to exp(ε u(y)/(2Δ)), drawn as the largest of u + (2Δ/ε) Gumbel: with
    independent standard Gumbel g_y, P(u_y/β + g_y is the largest) = e^{u_y/β}/Σ e^{u_z/β}, exactly.
    "noisy-max": the largest of u + Laplace of scale 2Δ/ε.

    Args:
        scores: u, the higher the better, shape (R, N), one row per generator; where all rows are one, its
            ``np.broadcast_to`` will do.
        epsilon: ε > 0 of this choice.
        sensitivity: Δ > 0: under the relation, no score moves by more than this (or all scores move within a range of
            2Δ, which is all that the exponential mechanism needs: what moves every score alike cancels).
        relation: The relation for which that holds.
        generators: One per repetition.
        ledger: That of one repetition.
        method: Which.

    Returns:
        The index that was chosen, shape (R,).

    Raises:
        InvalidValue: A number is not allowed, or a score is not finite.
        BudgetExceeded: The ledger keeps a budget that has no room for the choice.
    """
    reach = exact(sensitivity, "sensitivity")
    if reach <= 0:
        raise InvalidValue("sensitivity", sensitivity, "greater than 0")
    if scores.ndim != 2 or scores.shape[0] != len(generators) or scores.shape[1] == 0:
        raise InvalidValue("scores.shape", scores.shape, f"({len(generators)}, N), one row per stream, N >= 1")
    if not all(np.isfinite(row).all() for row in scores):
        raise InvalidValue("scores", "not finite", "finite numbers", "candidates where the objective has a value")
    described = choice(epsilon, relation, method)
    scale = to_float(2 * reach / exact(epsilon, "epsilon"), "up")
    ledger.release(described)
    # one repetition at a time: the rows may be one and the same, and N numbers are all that is held then
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
    waited = np.exp(-used / scale) if method == "exponential" else np.abs(used) / scale
    ledger.waited(float(waited.sum()), waited.size, scale)
    return int((used + scores).argmax())


def _used(unit: Array, scale: float) -> Array:
    return unit * scale
