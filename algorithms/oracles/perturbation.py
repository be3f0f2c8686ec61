"""Adding noise to answers: the one place where the kind of noise is chosen, the ledger written, the noise counted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol, TypeVar, get_args

import numpy as np
import sympy

from dpbounds.algorithms import noise
from dpbounds.algorithms.noise import Array, Kind
from dpbounds.algorithms.oracles.constants import at_least
from dpbounds.algorithms.oracles.secured import Rows, secured_means
from dpbounds.algorithms.oracles.watching import Question, answered
from dpbounds.algorithms.sampling import Sampling
from dpbounds.errors import InvalidValue
from dpbounds.expressions.exact import to_float

A = TypeVar("A", bound="Answer")

_KINDS = get_args(Kind)


class HasRecords(Protocol):
    """The requirements of every oracle on a problem; every ``FiniteSum`` satisfies them."""

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
        exact: The same without noise, ``Unreleased``: for measurement only, as no ledger covers it.
    """

    noisy: Array
    exact: Array


class Perturbing:
    """An oracle whose answers get noise of one level.

    Attributes:
        problem: Supplies its records and its constants.
        noise_multiplier: Greater than 0, exact; per unit of the per-record bound.
        generators: One stream per repetition.
        ledger: Gets one entry per answer.
        noise: "gaussian", "ball", "sphere" or "secure".
    """

    question: ClassVar[str]

    problem: Any
    noise_multiplier: Fraction
    generators: Sequence[np.random.Generator]
    ledger: noise.Records
    noise: Kind

    @property
    @abstractmethod
    def per_record_bound(self) -> Fraction:
        """The largest norm of one record's contribution to the answer."""

    @property
    def noise_stddev(self) -> float:
        """The standard deviation (or radius) that is drawn on the answer: the planned one, rounded up to a double."""
        return self._stddev

    @cached_property  # asked for at every step of a run
    def _stddev(self) -> float:
        return to_float(self.noise_multiplier * self.per_record_bound, "up")

    def _secured(
        self, points: tuple[Array, ...], rows: tuple[Rows, ...] | None = None, sampling: Sampling = None
    ) -> Array:
        """Return the same answer with secure noise, at these points, of these records."""
        bound = at_least(self.problem.lipschitz, "lipschitz")
        return secured_means(
            self.problem,
            points,
            rows,
            bounds=[bound] * len(self.generators),
            divisor=bound / self.per_record_bound,
            noise_multiplier=self.noise_multiplier,
            sampling=sampling,
            ledger=self.ledger,
        )

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


def asked_at(oracle: Any, answer: Callable[..., A], *points: Array) -> A:
    """Query an oracle at some points, through the active watchers."""
    terms = (oracle.noise_multiplier, oracle.noise, getattr(oracle, "sampling", None))
    question = Question(oracle.question, points, terms, oracle.generators, oracle.ledger, oracle)
    return answered(question, partial(answer, *points))


def perturbed(
    values: Array,
    *,
    kind: Kind,
    amount: float,
    per_record_bound: Fraction,
    generators: Sequence[np.random.Generator],
    ledger: noise.Records,
    sampling: Sampling = None,
) -> Array:
    """Return the values plus noise, having written the release.

    Args:
        values: Exact answers, shape (R, p).
        kind: "gaussian", "ball" or "sphere"; secure noise comes to sums that are made for it, see ``secured``.
        amount: Standard deviation, or radius, in the units of the answer.
        per_record_bound: The largest norm of one record's contribution, in the same units.
        generators: One per repetition.
        ledger: The ledger of one repetition.
        sampling: The sampling of the records of the answer.

    Raises:
        InvalidValue: The kind or the amount is not allowed, or a value is not finite.
        BudgetExceeded: The ledger keeps a budget that has no room for the release.
    """
    demand_kind(kind)
    if not np.isfinite(values).all():
        raise not_finite()
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
    """Report the noise of the answers to the ledger, without noise that rounding removed.

    Noise on a sphere has no guarantee, so that it is not compared.

    Args:
        kind: "gaussian", "ball" or "sphere".
        difference: Noisy minus exact answers, shape (R, p); overwritten.
        amount: Standard deviation or radius, one for all or shape (R, 1).
        ledger: Keeps count.
        level: Distinguishes this noise from other noise in the ledger.
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
    if kind not in _KINDS:
        raise InvalidValue("noise", repr(kind), "one of " + ", ".join(_KINDS))


def demand_points(X: Array, generators: Sequence[np.random.Generator], dimension: int, name: str = "X") -> None:
    """Raise ``InvalidValue`` unless there is one point of p numbers per stream."""
    if X.shape != (len(generators), dimension):
        allowed = f"({len(generators)}, {dimension}), one point per stream"
        raise InvalidValue(f"{name}.shape", X.shape, allowed)


def not_finite() -> InvalidValue:
    """Return the error of an answer that cannot be released."""
    return InvalidValue("answer", "not finite", "finite numbers", "the run left the range of doubles: shorten the step")
