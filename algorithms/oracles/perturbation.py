"""Adding noise to answers: the one place where the kind of noise is chosen, the ledger written, the noise counted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import get_args

import numpy as np

from dpbounds.algorithms import noise, secure_noise
from dpbounds.algorithms.ledger import Batch
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.relations import Relation


def perturbed(
    values: Array,
    *,
    kind: Kind,
    amount: float,
    per_record_bound: Fraction,
    generators: Sequence[np.random.Generator],
    ledger: noise.Records,
    batch: Batch | None = None,
    sample_rate: Fraction | None = None,
    relation: Relation | None = None,
) -> Array:
    """Return the values plus noise, having written the release.

    Args:
        values: Exact answers, shape (R, p).
        kind: "gaussian", "ball", "sphere" or "secure".
        amount: Standard deviation, or radius, in the units of the answer.
        per_record_bound: How far one record can move the answer by being added, in the same units.
        generators: One per repetition (not used by "secure", whose randomness is the operating system's).
        ledger: That of one repetition.
        batch: Where the answer is about a batch of fixed size.
        sample_rate: Where it is about a Poisson sample.
        relation: Needed for "secure" only: its guarantee is written for one relation.

    Raises:
        InvalidValue: The kind or the amount is not allowed, or a value is not finite.
        UnsupportedMechanism: Secure noise on a random batch.
        BudgetExceeded: The ledger keeps a budget that has no room for the release.
    """
    demand_kind(kind)
    if not np.isfinite(values).all():
        raise not_finite()
    if kind == "secure":
        if batch is not None or sample_rate is not None:
            raise UnsupportedMechanism(
                "the discretised noise has no proven account on random batches: use the full batch"
            )
        if relation is None:
            raise InvalidValue("relation", None, "a neighbouring relation", "secure noise is written for one of them")
        return secure_noise.gaussian(
            values, noise_stddev=amount, per_record_bound=per_record_bound, relation=relation, ledger=ledger
        )
    dimension = values.shape[1]
    if kind == "gaussian":
        drawn = noise.gaussian(
            generators,
            dimension,
            noise_stddev=amount,
            per_record_bound=per_record_bound,
            ledger=ledger,
            sample_rate=sample_rate,
            batch=batch,
        )
    else:
        drawn = noise.ball(
            kind,
            generators,
            dimension,
            radius=amount,
            per_record_bound=per_record_bound,
            ledger=ledger,
            sample_rate=sample_rate,
            batch=batch,
        )
    drawn += values
    count_noise(kind, drawn - values, amount, ledger, amount)
    return drawn


def count_noise(kind: Kind, difference: Array, amount: float | Array, ledger: noise.Records, level: float) -> None:
    """Tell the ledger what really reached the answers: noise that rounding swallowed is missing here, too.

    Nothing is promised by noise on a sphere, so that there is nothing to hold it against.

    Args:
        kind: "gaussian", "ball" or "sphere".
        difference: Noisy minus exact answers, shape (R, p); overwritten.
        amount: Standard deviation or radius, one for all or shape (R, 1).
        ledger: Keeps count.
        level: Tells this noise from other noise in the ledger.
    """
    difference /= amount
    if kind == "gaussian":
        flat = difference.ravel()
        ledger.added(float(flat @ flat), flat.size, level)
    elif kind == "ball":
        inside = np.sqrt((difference * difference).sum(axis=1)) ** difference.shape[1]  # uniform on (0, 1)
        below = np.minimum(inside, 1 - 2.0**-53)  # on the rim rounding may go beyond
        ledger.waited(float(-np.log1p(-below).sum()), len(below), level)


def demand_kind(kind: str) -> None:
    """Raise ``InvalidValue`` unless there is such a kind of noise."""
    if kind not in get_args(Kind):
        raise InvalidValue("noise", repr(kind), "one of " + ", ".join(get_args(Kind)))


def demand_points(X: Array, generators: Sequence[np.random.Generator], dimension: int, name: str = "X") -> None:
    """Raise ``InvalidValue`` unless there is one point of p numbers per stream."""
    if X.shape != (len(generators), dimension):
        allowed = f"({len(generators)}, {dimension}), one point per stream"
        raise InvalidValue(f"{name}.shape", X.shape, allowed)


def not_finite() -> InvalidValue:
    """The error of an answer that cannot be released."""
    return InvalidValue("answer", "not finite", "finite numbers", "the run left the range of doubles: shorten the step")
