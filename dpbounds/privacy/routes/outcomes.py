"""Products of few atoms: δ(ε) summed over all outcomes of the composition, in ball arithmetic.

Randomised responses, (ε, δ)-guarantees, two-point pairs, noise in balls and samples of them have finitely many losses.
T equal releases with n atoms have C(T+n-1, n-1) outcomes that differ in more than their order; where the outcomes of a
product are few, they are listed, and nothing is rounded but balls. Full-batch Gaussian releases may be composed with
them: given an outcome, they have the rest of ε. Proof: ``losses.md``, section 11.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from flint import arb

from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working, working_bits
from dpbounds.privacy.pairs.gaussian_profiles import shifted_delta
from dpbounds.privacy.pairs.losses import LossAtom, ball, law_at, positive_part
from dpbounds.privacy.pairs.pairs import Product, ShiftedGaussians
from dpbounds.privacy.proofs import Declined, Proof
from dpbounds.privacy.routes.closed_forms import squared_shift_of
from dpbounds.privacy.routes.inversion import invert

ROUTE = "outcomes"

_MOST = 40_000  # outcomes: some tenths of a second
_MOST_BESIDE_GAUSSIANS = 4_000  # the same, each with a Gaussian tail
_DOUBLES = 60  # bits of ε up to which doubles find it
_PRECISIONS = 2, 8  # bits of the balls, relative to the bits wanted: tried in this order


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """All outcomes of a product, by falling loss, at the working precision."""

    places: tuple[arb, ...]  # minus the centre of each loss
    radius: arb  # no loss lies farther from its centre
    masses: tuple[tuple[arb, arb], ...]  # P-mass and Q-mass of each outcome
    first_law: tuple[arb, ...]  # P-mass of the first 0, 1, 2, ... outcomes
    second_law: tuple[arb, ...]  # their Q-mass
    infinite: arb  # P-mass at infinite loss
    squared_shift: Fraction  # sum over the Gaussian releases composed with them

    @classmethod
    def of(cls, product: Product) -> _Outcomes:
        """List them."""
        squared_shift = squared_shift_of(product)
        laws = [(law_at(pair, working_bits()), count) for pair, count in _atomic(product)]
        most = _MOST_BESIDE_GAUSSIANS if squared_shift else _MOST
        if _how_many((len(law.points), count) for law, count in laws) > most:
            raise Declined(f"{ROUTE}: there are more than {most} outcomes")
        if not all(law.infinite < 1 for law, _ in laws):
            raise Declined(f"{ROUTE}: all losses of a release are infinite")
        infinite = -sum((count * (-law.infinite).log1p() for law, count in laws), arb(0)).expm1()
        found = [LossAtom(arb(0), arb(1), arb(1))]
        for law, count in laws:
            repeated = _repeated(law.points, count)
            found = [_both(one, other) for one in found for other in repeated]
        found.sort(key=lambda outcome: -outcome.loss.mid())
        return cls(
            tuple(-outcome.loss.mid() for outcome in found),
            max((outcome.loss.rad() for outcome in found), default=arb(0)),
            tuple((outcome.p, outcome.r) for outcome in found),
            tuple(accumulate((outcome.p for outcome in found), initial=arb(0))),
            tuple(accumulate((outcome.r for outcome in found), initial=arb(0))),
            infinite,
            squared_shift,
        )

    def curve(self, epsilon: Fraction) -> tuple[arb, arb]:
        """Return δ(ε), twice the same ball."""
        value = self._beside_gaussians(epsilon) if self.squared_shift else self._alone(epsilon)
        return value, value

    def _beside_gaussians(self, epsilon: Fraction) -> arb:
        """Return the mean of the Gaussian releases' δ at the rest of ε that each outcome leaves."""
        value, at = self.infinite, ball(epsilon)
        for place, (p, _) in zip(self.places, self.masses, strict=True):
            checkpoint()
            loss = arb(-place, self.radius)
            value = value + p * shifted_delta(self.squared_shift, at - loss)
        return value

    def _alone(self, epsilon: Fraction) -> arb:
        at, alpha = ball(epsilon), ball(epsilon).exp()
        surely = bisect_left(self.places, -(at + self.radius).upper())
        possibly = bisect_left(self.places, -(at - self.radius).lower())
        value = self.infinite + self.first_law[surely] - alpha * self.second_law[surely]
        for p, r in self.masses[surely:possibly]:
            value = value + positive_part(p - alpha * r)
        return value

    def estimate(self) -> Callable[[Fraction], arb]:
        """Return δ(ε) in floating point, including Gaussian releases that are composed with them."""
        import numpy as np
        from scipy.special import log_ndtr  # a quarter of a second, which not every answer needs

        mu, infinite = float(self.squared_shift) ** 0.5, float(self.infinite)
        losses = -np.array([float(place) for place in self.places])
        masses = np.array([float(p) for p, _ in self.masses])

        def delta(epsilon: Fraction) -> arb:
            at = float(epsilon) - losses
            log_first, log_second = log_ndtr(mu / 2 - at / mu), at + log_ndtr(-mu / 2 - at / mu)
            each = np.exp(log_first) * -np.expm1(np.minimum(log_second - log_first, 0.0))
            return arb(float(masses @ each) + infinite)

        return delta

    def crossing(self, delta: arb) -> Fraction:
        """Return about where δ(ε) crosses δ, at least 0: between two losses e^ε is (P + infinite - δ)/Q."""

        def exceeds(index: int) -> bool:
            level = self.infinite + self.first_law[index] - (-self.places[index]).exp() * self.second_law[index]
            return bool((level - delta).mid() > 0)

        above = bisect_left(range(len(self.places)), True, key=exceeds)
        if above == 0:
            return Fraction(0)
        ratio = ((self.infinite + self.first_law[above] - delta) / self.second_law[above]).mid()
        return Fraction(ball_end(ratio.log(), "down")) if ratio > 1 else Fraction(0)


def has_few_outcomes(product: Product) -> bool:
    """Return whether all pairs have few atoms and no continuous losses; their outcomes may still be too many.

    If full-batch Gaussian releases are composed with them, these are few.
    """
    atomic = _atomic(product)
    sizes = [(pair.atom_count, count) for pair, count in atomic]
    known = [(atoms, count) for atoms, count in sizes if atoms is not None and atoms <= _MOST]
    if len(known) < len(sizes) or len(atomic) == len(product):
        return len(known) == len(sizes)
    return bool(atomic) and _how_many(known) <= _MOST_BESIDE_GAUSSIANS


def delta_by_outcomes(product: Product, epsilon: Fraction, tolerance: float) -> Proof:
    """Prove an enclosure of δ(ε) of a relative width of at most ``tolerance`` and 2^-64.

    Raises:
        Declined: The outcomes are too many, or δ(ε) cannot be distinguished from 0.
    """
    bits = max(64, math.ceil(-math.log2(tolerance)) + 8)
    for factor in _PRECISIONS:
        with working(factor * bits):
            outcomes = _Outcomes.of(product)
            value, _ = outcomes.curve(epsilon)
            if value.is_zero() or (value > 0 and value.rel_accuracy_bits() >= bits):
                return _proof(Enclosure.from_balls(value, value, ROUTE, factor * bits).within(0, 1), outcomes)
    raise Declined(f"{ROUTE}: δ cannot be distinguished from 0 at {factor * bits} bits")


def log_delta_by_outcomes(product: Product, epsilon: Fraction) -> float:
    """Log δ(ε) in floating point beside Gaussian releases, not proven: to look for a calibration with."""
    with working(2 * _DOUBLES):
        value = float(_Outcomes.of(product).estimate()(epsilon))
    return math.log(value) if value > 0 else -math.inf


def epsilon_by_outcomes(product: Product, delta: Fraction, tolerance: float) -> Proof:
    """Prove an enclosure of ε(δ), to some 15 digits or ``tolerance``, whichever is narrower.

    Raises:
        Declined: The outcomes are too many, or δ is not proven to exceed the probability of an infinite loss.
        NotCertified: The two ends could not be proven.
    """
    bits = max(_DOUBLES, math.ceil(-math.log2(tolerance)) + 12)
    with working(4 * bits):
        outcomes, target = _Outcomes.of(product), ball(delta)
        if not outcomes.infinite < target:
            raise Declined(f"{ROUTE}: δ cannot be distinguished from the probability that the loss is infinite")
        if outcomes.squared_shift:
            estimate = outcomes.estimate() if bits == _DOUBLES else None
            low, high = invert(outcomes.curve, target, 1, estimate, bits=bits)
        else:
            low, high = invert(outcomes.curve, target, outcomes.crossing(target), bits=bits)
        return _proof(Enclosure(low, high, ROUTE, 4 * bits), outcomes)


def _proof(enclosure: Enclosure, outcomes: _Outcomes) -> Proof:
    return Proof(enclosure, ROUTE, {"outcomes": len(outcomes.masses), "working precision": enclosure.precision})


def _atomic(product: Product) -> Product:
    """Return all pairs but full-batch Gaussian ones."""
    return tuple((pair, count) for pair, count in product if not isinstance(pair, ShiftedGaussians))


def _how_many(sizes: Iterable[tuple[int, int]]) -> int:
    """Return the number of outcomes of releases, given numbers of atoms and multiplicities; capped above ``_MOST``."""
    total = 1
    for atoms, count in sizes:
        for k in range(1, min(atoms - 1, count) + 1):  # C(T+n-1, min(n-1, T)), which grows with each factor
            total = total * (max(atoms - 1, count) + k) // k
            if total > _MOST:
                return total
    return total


def _both(one: LossAtom, other: LossAtom) -> LossAtom:
    return LossAtom(one.loss + other.loss, one.p * other.p, one.r * other.r)


def _repeated(points: Sequence[LossAtom], count: int) -> list[LossAtom]:
    """Return the outcomes of ``count`` equal releases: how often each atom occurs, with the multinomial masses."""
    found = [(count, LossAtom(arb(0), arb(1), arb(1)))] if points else []
    for point in points[:-1]:
        grown = []
        for left, outcome in found:
            checkpoint()
            p, r = outcome.p, outcome.r
            for k in range(left + 1):
                grown.append((left - k, LossAtom(outcome.loss + k * point.loss, p, r)))
                p, r = p * point.p * (left - k) / (k + 1), r * point.r * (left - k) / (k + 1)
        found = grown
    rest = points[-1:]
    return [
        LossAtom(outcome.loss + left * last.loss, outcome.p * last.p**left, outcome.r * last.r**left)
        for left, outcome in found
        for last in rest
    ]
