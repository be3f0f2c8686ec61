"""Classical composition theorems for (ε, δ)-private releases: basic and advanced composition.

All guarantees hold under one neighbouring relation, in both orders of the neighbours; a release may depend on what
earlier ones published, while its guarantee and the number of releases are fixed in advance. Proofs are in
``composition_theorems.md``. Every value is an enclosure of the ε of the theorem: its upper bound may be published.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from flint import arb, fmpz

from dpbounds.errors import InvalidValue, NotCertified, demand_one_of
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.expressions.working import working
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.values import at_least_zero, probability

Form = Literal["classical", "sharp"]

_PRECISIONS = (128, 512, 2048, 8192)
_ACCURACY_BITS = 64
_LARGEST_EXACT = 1 << 28  # bits of an exact product of survival probabilities


@dataclass(frozen=True, slots=True)
class CompositionTheorem:
    """A composition theorem, with its name.

    Attributes:
        name: The name, which enclosures have as their method.
        source: Authors and year.
        why: In one line, why its value lies above what a given mechanism really spends.
    """

    name: str
    source: str
    why: str


BASIC = CompositionTheorem(
    "basic composition",
    "Dwork, Kenthapadi, McSherry, Mironov & Naor 2006",
    "adds up worst cases, as though every release leaked the most it can on one and the same run",
)
ADVANCED_CLASSICAL = CompositionTheorem(
    "advanced composition",
    "Dwork, Rothblum & Vadhan 2010; Dwork & Roth 2014, Theorem 3.20",
    "bounds the mean loss by its largest conceivable value and the tail by Azuma's inequality, and adds every δ",
)
ADVANCED_SHARP = CompositionTheorem(
    "advanced composition, sharp mean",
    "Kairouz, Oh & Viswanath 2015",
    "has the right mean loss, but bounds the tail by Hoeffding's inequality, which ignores its shape",
)
OPTIMAL = CompositionTheorem(
    "optimal composition",
    "Kairouz, Oh & Viswanath 2015; Murtagh & Vadhan 2016",
    "is attained by some releases with these (ε, δ); knows a single point of each release's profile, nothing else",
)


@dataclass(frozen=True, slots=True, init=False)
class EpsilonDelta:
    """The guarantee of one release: (ε, δ)-differential privacy, ε >= 0 and δ in [0, 1].

    >>> EpsilonDelta("0.1", "1e-6").epsilon
    Fraction(1, 10)
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: ExactLike, delta: ExactLike = 0) -> None:
        object.__setattr__(self, "epsilon", at_least_zero(epsilon))
        object.__setattr__(self, "delta", probability(delta))


Parts = tuple[tuple[EpsilonDelta, int], ...]


def checked(parts: Parts) -> Parts:
    """Return the parts with their counts as integers, or raise ``InvalidValue``."""
    if not parts:
        raise InvalidValue("parts", parts, "at least one guarantee with its count")
    return tuple((guarantee, positive_integer(count, "count")) for guarantee, count in parts)


def basic(parts: Parts) -> EpsilonDelta:
    """Return the basic composition theorem: (Σ k_i ε_i, min(1, Σ k_i δ_i)), exactly, for guarantees taken k_i times.

    Source: Dwork, Kenthapadi, McSherry, Mironov & Naor 2006.

    >>> basic(((EpsilonDelta("0.1", "1e-6"), 10), (EpsilonDelta(2), 1)))
    EpsilonDelta(epsilon=Fraction(3, 1), delta=Fraction(1, 100000))
    """
    known = checked(parts)
    epsilon = sum((count * guarantee.epsilon for guarantee, count in known), Fraction(0))
    delta = sum((count * guarantee.delta for guarantee, count in known), Fraction(0))
    return EpsilonDelta(epsilon, min(Fraction(1), delta))


def basic_epsilon(parts: Parts, delta: ExactLike) -> Enclosure:
    """Return ε by basic composition: Σ ε_i where Σ δ_i <= δ, 0 at δ = 1, else infinite (the theorem is silent)."""
    target, total = probability(delta), basic(parts)
    if target == 1:
        return Enclosure.exactly(0, BASIC.name)
    return Enclosure.exactly(total.epsilon, BASIC.name) if total.delta <= target else _nothing(BASIC)


def advanced_epsilon(parts: Parts, delta: ExactLike, form: Form = "sharp") -> Enclosure:
    """Return ε by advanced composition, μ + √(2 V ln(1/δ')), V = Σ k_i ε_i² over (ε_i, δ_i) taken k_i times.

    "classical": μ = Σ k_i ε_i (e^ε_i - 1), δ' = δ - Σ k_i δ_i. "sharp": μ = Σ k_i ε_i tanh(ε_i/2), and δ' solves
    1 - (1-δ') Π (1-δ_i)^k_i = δ. Both hold for guarantees that differ; the sharp value is never the larger one. For few
    releases it exceeds basic composition.

    Args:
        parts: (guarantee, count) pairs; counts are positive integers.
        delta: The target, in [0, 1).
        form: The form of the theorem.

    Returns:
        An enclosure of the theorem's value (publish its upper bound); infinite where δ' is not positive.

    Source: Dwork, Rothblum & Vadhan 2010 (classical, equal guarantees: Dwork & Roth 2014, Theorem 3.20); Kairouz, Oh &
    Viswanath 2015 (the sharp mean and δ').

    >>> parts = ((EpsilonDelta("0.1", 0), 100),)
    >>> advanced_epsilon(parts, "1e-6", "classical").decimals(5)[1], advanced_epsilon(parts, "1e-6").decimals(5)[1]
    ('6.3083', '5.7562')
    """
    demand_one_of("form", form, get_args(Form))
    theorem = ADVANCED_CLASSICAL if form == "classical" else ADVANCED_SHARP
    target, known = probability(delta), checked(parts)
    if target == 1:
        raise InvalidValue("delta", delta, "less than 1")
    variance = sum((count * guarantee.epsilon**2 for guarantee, count in known), Fraction(0))
    added = basic(known).delta
    spare = (target > added) - (target < added) if form == "classical" else spare_sign(known, target)
    if variance == 0 and spare >= 0:
        return Enclosure.exactly(0, theorem.name)
    if spare <= 0:
        return _nothing(theorem)

    def value() -> arb:
        tail = ball(target - added) if form == "classical" else pure_target(known, target)  # δ'
        return _mean(known, form) + (-2 * ball(variance) * tail.log()).sqrt()

    enclosed, precision = accurate(value)
    return Enclosure.from_balls(enclosed, enclosed, theorem.name, precision)


def log_survival(parts: Parts) -> arb:
    """Return a ball around log Π (1-δ_i)^k_i; every δ_i is less than 1."""
    return sum((count * (-ball(guarantee.delta)).log1p() for guarantee, count in parts), arb(0))


def with_failures(parts: Parts, pure: arb) -> arb:
    """Return a ball around 1 - (1-h) Π (1-δ_i)^k_i, for a ball h: the δ of pure releases, with the δ_i added."""
    if any(guarantee.delta == 1 for guarantee, _ in parts):
        return arb(1)
    survival = log_survival(parts)
    return -survival.expm1() + survival.exp() * pure


def pure_target(parts: Parts, delta: Fraction) -> arb:
    """Return a ball around the h with 1 - (1-h) Π (1-δ_i)^k_i = δ < 1."""
    return -((-ball(delta)).log1p() - log_survival(parts)).expm1()


def spare_sign(parts: Parts, delta: Fraction) -> int:
    """Return the sign of δ - (1 - Π (1-δ_i)^k_i), decided exactly, for δ < 1.

    Raises:
        NotCertified: The two are too close to be distinguished by balls, and too long to be compared exactly.
    """
    if any(guarantee.delta == 1 for guarantee, _ in parts):
        return -1
    for precision in _PRECISIONS[:2]:
        with working(precision):
            spare = log_survival(parts) - (-ball(delta)).log1p()
            if spare > 0:
                return 1
            if spare < 0:
                return -1
    length = sum(count * guarantee.delta.denominator.bit_length() for guarantee, count in parts)
    if length > _LARGEST_EXACT:
        raise NotCertified(f"δ = {float(delta):g} is too close to what the single δ add up to; give a larger δ")
    survives, everything = fmpz(delta.denominator), fmpz(delta.denominator - delta.numerator)
    for guarantee, count in parts:
        survives *= fmpz(guarantee.delta.denominator - guarantee.delta.numerator) ** count
        everything *= fmpz(guarantee.delta.denominator) ** count
    return int(survives > everything) - int(survives < everything)


def accurate(compute: Callable[[], arb]) -> tuple[arb, int]:
    """Evaluate at growing precision until the ball is finite with 64 good bits (or exact); the ball and the precision.

    Raises:
        NotCertified: The largest precision does not suffice.
    """
    for precision in _PRECISIONS:
        with working(precision):
            value = compute()
            if value.is_finite() and (value.is_exact() or value.rel_accuracy_bits() >= _ACCURACY_BITS):
                return value, precision
    raise NotCertified(f"{_PRECISIONS[-1]} bits of precision do not suffice; the values differ by too many magnitudes")


def _mean(parts: Parts, form: Form) -> arb:
    total = arb(0)
    for guarantee, count in parts:
        epsilon = ball(guarantee.epsilon)
        total += count * epsilon * (epsilon.expm1() if form == "classical" else (epsilon / 2).tanh())
    return total


def _nothing(theorem: CompositionTheorem) -> Enclosure:
    return Enclosure(math.inf, math.inf, theorem.name)
