"""Adding noise to answers: the one place where the kind of noise is chosen, the ledger written, the noise counted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, get_args

import numpy as np
import sympy

from dpbounds.algorithms import noise, secure_noise
from dpbounds.algorithms.ledger import Sampling
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.exact import to_float
from dpbounds.privacy.relations import Relation


class HasRecords(Protocol):
    """What every oracle asks of a problem; every ``FiniteSum`` has it."""

    @property
    def records(self) -> int:
        """The number of records n, public."""

    @property
    def dimension(self) -> int:
        """The number of parameters p."""

    @property
    def lipschitz(self) -> sympy.Expr | None:
        """G: the l2 norm of one record's gradient is at most this everywhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One answer of an oracle for R repetitions.

    Attributes:
        noisy: Shape (R, ...): what the algorithm may use.
        exact: The same without noise: for measurement only; it is not covered by the ledger and must not steer a run.
    """

    noisy: Array
    exact: Array


class Perturbing:
    """An oracle whose answers get noise of one level.

    Attributes:
        problem: Is asked about its records and its constants.
        noise_multiplier: Greater than 0, exact; per unit of the per-record bound.
        generators: One stream per repetition.
        ledger: Gets one entry per answer.
        noise: "gaussian", "ball", "sphere" or, for all records only, "secure".
        relation: For "secure" only, the relation its entry is written for.
    """

    __slots__ = ()

    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records
    noise: Kind

    @property
    @abstractmethod
    def per_record_bound(self) -> Fraction:
        """How far one record can move the answer by being added."""

    @property
    def noise_stddev(self) -> float:
        """The standard deviation (or radius) that is drawn on the answer: the planned one, rounded up to a double."""
        return to_float(self.noise_multiplier * self.per_record_bound, "up")

    def _perturbed(self, values: Array, **more: Any) -> Array:
        return perturbed(
            values,
            kind=self.noise,
            amount=self.noise_stddev,
            per_record_bound=self.per_record_bound,
            generators=self.generators,
            ledger=self.ledger,
            **more,
        )


def perturbed(
    values: Array,
    *,
    kind: Kind,
    amount: float,
    per_record_bound: Fraction,
    generators: Sequence[np.random.Generator],
    ledger: noise.Records,
    sampling: Sampling = None,
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
        sampling: Of the records that the answer is about.
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
        if sampling is not None:
            why = "the discretised noise has no proven account on random batches: use the full batch"
            raise UnsupportedMechanism(why)
        if relation is None:
            raise InvalidValue("relation", None, "a neighbouring relation", "secure noise is written for one of them")
        return secure_noise.gaussian(
            values, noise_stddev=amount, per_record_bound=per_record_bound, relation=relation, ledger=ledger
        )
    shape = generators, values.shape[1]
    entry: Any = {"per_record_bound": per_record_bound, "ledger": ledger, "sampling": sampling}
    if kind == "gaussian":
        drawn = noise.gaussian(*shape, noise_stddev=amount, **entry)
    else:
        drawn = noise.ball(kind, *shape, radius=amount, **entry)
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
