"""Distributions of the privacy loss (PLDs) of dp-accounting, read and written.

A PLD of dp-accounting lists doubles p_k at the losses kΔ, k a whole number and Δ a double, and a mass p_∞ at infinite
loss. It says δ(ε) = p_∞ + Σ p_k (1 - e^(ε-kΔ))₊: at most that where the estimate is *pessimistic*, at least that where
it is *optimistic*. What is read here is evaluated in exact and interval arithmetic; what is written has every mass
rounded to the safe side. What dp-accounting computes from a PLD, in doubles, is its own. ``loss_distributions.md`` has
the proofs. It is read from private attributes, those of dp-accounting 0.6.0, as no others have the masses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from flint import arb

from dpbounds.errors import DpboundsError, InvalidValue, UnsupportedMechanism, demand, shown
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import Direction, ExactLike, to_float
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import epsilon as epsilon_of, prove_deltas
from dpbounds.privacy.accountants.questions import DEFAULT_TOLERANCE
from dpbounds.privacy.domination.composition import NeighbourClass, neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism, ProfileDP
from dpbounds.privacy.pairs.losses import ball, hull_law
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.relations import Order, Relation, as_relation
from dpbounds.privacy.values import at_least_zero, open_unit, positive

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_PRECISION = 256
_MOST_POINTS = 1 << 13  # kept of a PLD that is read
_MOST_LOSSES = 1 << 13  # on each side of 0, in a PLD that is written
_LARGEST_INTERVAL = 10**6  # largest interval of losses in a PLD that is written: a choice
_METHOD = "masses of a PLD"
_Curve = list[tuple[Fraction, Fraction]]  # at losses 0, Δ, 2Δ, ...: both bounds of δ


@dataclass(frozen=True, slots=True)
class Masses:
    """The masses of one order of neighbours.

    Attributes:
        finite: (k, p_k) with increasing k; no p_k is negative.
        infinite: p_∞.
    """

    finite: tuple[tuple[int, Fraction], ...]
    infinite: Fraction


@dataclass(frozen=True, slots=True)
class LossesRead:
    """A PLD that was read, with exact numbers.

    Attributes:
        interval: Δ, the value discretisation interval.
        pessimistic: Whether its δ(ε) is an upper bound; else it is a lower bound.
        remove: The masses with the record in the first dataset.
        add: The masses with the record in the second; the same for a symmetric PLD.
    """

    interval: Fraction
    pessimistic: bool
    remove: Masses
    add: Masses

    def delta(self, epsilon: ExactLike) -> Enclosure:
        """Enclose δ(ε), at ε >= 0, of the mechanism that the PLD was made for, as far as the PLD is right.

        The upper bound is that of a pessimistic PLD, beside 0; the lower one that of an optimistic PLD, beside 1.
        """
        wanted = at_least_zero(epsilon)
        with working(_PRECISION):
            found = [self._delta(masses, wanted) for masses in (self.remove, self.add)]
            if self.pessimistic:
                return Enclosure(Fraction(0), min(Fraction(1), max(ball_end(one, "up") for one in found)), _METHOD)
            lower = max(Fraction(0), *(ball_end(one, "down") for one in found))
            return Enclosure(min(Fraction(1), lower), Fraction(1), _METHOD)

    def _delta(self, masses: Masses, epsilon: Fraction) -> arb:
        above = ((k, p) for k, p in masses.finite if k * self.interval > epsilon)
        terms = (-ball(p) * (ball(epsilon - k * self.interval)).expm1() for k, p in above)
        return sum(terms, ball(masses.infinite))

    def guarantee(self, relation: str | Relation) -> ProfileDP:
        """Return the guarantee of a pessimistic PLD as a mechanism: the larger δ of both orders at the losses kΔ >= 0.

        Every δ is rounded up to a double. Between two losses the chord in e^ε counts, as in the PLD itself. Of more
        than 8192 losses equally distant ones are kept, which raises δ between them only.

        Args:
            relation: The relation that the PLD was made for.

        Raises:
            UnsupportedMechanism: The PLD is optimistic.
        """
        neighbours = as_relation(relation)
        if not self.pessimistic:
            raise UnsupportedMechanism(
                "an optimistic PLD bounds delta from below and gives no guarantee: read the pessimistic one"
            )
        sides = {self.remove, self.add}
        last = max(max((k for k, _ in masses.finite), default=0) for masses in sides)
        stride = -(-(max(0, last) + 1) // _MOST_POINTS)
        places = [*range(0, last, stride), max(0, last)]
        ends = [max(several) for several in zip(*(self._at_losses(masses, places) for masses in sides), strict=True)]
        points = {
            k * self.interval: Fraction(to_float(min(Fraction(1), end), "up"))
            for k, end in zip(places, ends, strict=True)
        }
        return ProfileDP(points, relation=neighbours)

    def _at_losses(self, masses: Masses, places: Sequence[int]) -> list[Fraction]:
        """Upper bounds of δ at the losses kΔ for some k >= 0, in increasing order."""
        rest, found = list(masses.finite), []
        with working(_PRECISION):
            above, tilted, place = arb(0), arb(0), places[-1]  # Σ p_j and Σ p_j e^((k-j)Δ) over j > k
            for k in reversed(places):
                tilted *= (-ball((place - k) * self.interval)).exp()
                while rest and rest[-1][0] > k:
                    j, mass = rest.pop()
                    above += ball(mass)
                    tilted += ball(mass) * (-ball((j - k) * self.interval)).exp()
                found.append(ball_end(above - tilted + ball(masses.infinite), "up"))
                place = k
        return found[::-1]


def from_privacy_loss_distribution(pld: PrivacyLossDistribution) -> LossesRead:
    """Read a PLD of dp-accounting, as an upper or a lower bound of δ(ε), as its estimate is.

    Masses below 0, which rounding leaves behind in compositions of dp-accounting, are read as 0 in a pessimistic PLD.

    Args:
        pld: The PLD.

    Returns:
        The masses, exactly; ``guarantee(relation)`` is a mechanism, which composes with others, and ``delta`` a bound.

    Raises:
        InvalidValue: It is not such a PLD, or a mass is not a finite number, or negative in an optimistic one.

    >>> from dp_accounting.pld import privacy_loss_distribution as theirs
    >>> read = from_privacy_loss_distribution(theirs.from_gaussian_mechanism(2, value_discretization_interval=0.01))
    >>> import dpbounds as dp
    >>> read.delta(1).upper < 1.01 * dp.delta(dp.Gaussian(2), 1).upper
    True
    """
    try:
        remove, add = pld._pmf_remove, pld._pmf_add
        interval, pessimistic = remove._discretization, remove._pessimistic_estimate
        sides = [_masses_of(side, pessimistic) for side in (remove, add)]
    except AttributeError as error:
        wanted = "a PrivacyLossDistribution of dp-accounting 0.6.0"
        raise InvalidValue("pld", shown(pld), wanted, str(error)) from None
    return LossesRead(positive(interval, "interval"), bool(pessimistic), *sides)


def _masses_of(pmf: Any, pessimistic: bool) -> Masses:
    listed = getattr(pmf, "_loss_probs", None)
    if listed is None:
        listed = {pmf._lower_loss + k: p for k, p in enumerate(pmf._probs)}
    finite = []
    for k, p in sorted(listed.items()):
        mass = _mass(p, pessimistic)
        if mass:
            finite.append((int(k), mass))
    return Masses(tuple(finite), _mass(pmf._infinity_mass, pessimistic))


def _mass(value: Any, pessimistic: bool) -> Fraction:
    double = float(value)
    if not math.isfinite(double) or (double < 0 and not pessimistic):
        raise InvalidValue("mass", double, "a finite number that is at least 0")
    return max(Fraction(0), Fraction(double))


def to_privacy_loss_distribution(
    mechanism: Mechanism,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    interval: float = 0.01,
    pessimistic: bool = True,
    tail: ExactLike = "1e-15",
) -> PrivacyLossDistribution:
    """Write the certified δ(ε) of a mechanism as a PLD of dp-accounting.

    The exact δ(ε) of the masses written is proven to be at least that of the mechanism, at every ε, and with it that of
    any composition; or at most that of an attack, if not ``pessimistic``. dp-accounting evaluates and composes them in
    doubles, whose rounding is not covered.

    Args:
        mechanism: The mechanism.
        relation: The neighbouring relation.
        interval: Δ; the smaller, the closer and the slower.
        pessimistic: Whether to write the upper bound, or else the lower one of an attack: about δ(ε + Δ).
        tail: The δ whose ε is the largest finite loss; beyond it losses count as infinite (as none, in a lower bound).

    Raises:
        InvalidValue: A value is not allowed, or Δ is so small that there would be more than 8192 losses on a side.
        UnsupportedMechanism: No dominating pair is proven under this relation, or no attack is known.
        NotCertified: No method could prove an answer.
        DpboundsError: dp-accounting is not installed.

    >>> import dpbounds as dp
    >>> pld = to_privacy_loss_distribution(dp.Gaussian(2), interval=0.05)
    >>> 1 <= float(pld.get_delta_for_epsilon(1.0)) / dp.delta(dp.Gaussian(2), 1).lower < 1.01
    True
    """
    try:
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution as Theirs
    except ModuleNotFoundError:
        raise DpboundsError(
            "dp-accounting is not installed; install it with: pip install 'dpbounds[interoperability]'"
        ) from None
    demand("pessimistic", pessimistic, bool)
    step, neighbours = positive(interval, "interval"), as_relation(relation)
    if step > _LARGEST_INTERVAL:
        raise InvalidValue("interval", interval, f"at most {_LARGEST_INTERVAL}")
    step = Fraction(to_float(step, "up"))
    farthest = epsilon_of(mechanism, open_unit(tail, "tail"), neighbours).exact_upper
    if farthest == math.inf:
        raise InvalidValue("tail", str(tail), "greater than the probability of an infinite loss")
    if farthest > _MOST_LOSSES * step:
        raise InvalidValue("interval", interval, f"at least {to_float(Fraction(farthest) / _MOST_LOSSES, 'up'):.3g}")
    count = math.ceil(farthest / step) + 1
    grid = [k * step for k in range(count + 1)]
    sides = _pessimistic(mechanism, neighbours, grid) if pessimistic else _optimistic(mechanism, neighbours, grid)
    written = [_as_doubles(masses, "up" if pessimistic else "down") for masses in sides]
    more = {} if len(written) == 1 else _second(written[1])
    return Theirs.create_from_rounded_probability(
        written[0][0], written[0][1], float(step), pessimistic, symmetric=len(written) == 1, **more
    )


def _second(written: tuple[dict[int, float], float]) -> dict[str, Any]:
    return {"rounded_probability_mass_function_add": written[0], "infinity_mass_add": written[1]}


def _as_doubles(masses: tuple[dict[int, arb], arb], side: Direction) -> tuple[dict[int, float], float]:
    finite, infinite = masses

    def double(mass: arb) -> float:
        return to_float(max(Fraction(0), ball_end(mass, side)), side)

    return {k: double(mass) for k, mass in finite.items()}, double(infinite)


@working(OUTER_PRECISION)
def _pessimistic(
    mechanism: Mechanism, relation: Relation, grid: Sequence[Fraction]
) -> list[tuple[dict[int, arb], arb]]:
    """The convex hulls of the certified upper bounds, for each order (``loss_distributions.md``, section 2)."""
    classes = neighbour_classes(mechanism, relation)

    def upper(order: Order) -> list[Fraction]:
        curves = [_curve(each.product, grid) for each in classes.along(order)]
        return [max(curve[k][1] for curve in curves) for k in range(len(grid))]

    known = [upper(order) for order in relation.orders]
    found = []
    with working(_PRECISION):
        for forwards, backwards in zip(known, reversed(known), strict=True):
            law = hull_law(_balls(grid, forwards), _balls(grid, backwards))
            finite = {round(float(point.loss / ball(grid[1]))): point.p for point in law.points}
            found.append((finite, law.infinite))
    return found


def _balls(grid: Sequence[Fraction], values: Sequence[Fraction]) -> list[tuple[arb, arb]]:
    return [(ball(loss), ball(value)) for loss, value in zip(grid, values, strict=True)]


def _curve(product: Product, grid: Sequence[Fraction]) -> _Curve:
    proofs = prove_deltas(product, grid, DEFAULT_TOLERANCE)
    return [(Fraction(each.enclosure.exact_lower), Fraction(each.enclosure.exact_upper)) for each in proofs]


@working(OUTER_PRECISION)
def _optimistic(mechanism: Mechanism, relation: Relation, grid: Sequence[Fraction]) -> list[tuple[dict[int, arb], arb]]:
    """Convex functions below the profile of one attack per order (``loss_distributions.md``, section 3)."""
    classes = neighbour_classes(mechanism, relation)
    return [_below(_best_attack(list(classes.along(order)), grid), grid) for order in relation.orders]


def _best_attack(classes: Sequence[NeighbourClass], grid: Sequence[Fraction]) -> Product:
    """The attack with the largest δ at the middle loss."""
    attacks = list(dict.fromkeys(attack for each in classes for attack in each.attacks))
    if not attacks:
        raise UnsupportedMechanism("no attack is known, so that there is no optimistic PLD: write the pessimistic one")
    return max(attacks, key=lambda attack: _curve(attack, [grid[len(grid) // 4]])[0][0])


def _below(attack: Product, grid: Sequence[Fraction]) -> tuple[dict[int, arb], arb]:
    mirror: Product = tuple((pair.mirrored(), count) for pair, count in attack)
    right, left = _curve(attack, grid), _curve(mirror, grid)
    last = len(grid) - 1
    with working(_PRECISION):
        alphas = [ball(grid[abs(k)] if k >= 0 else -grid[-k]).exp() for k in range(-last, last + 1)]
        heights = [1 - alpha + alpha * ball(left[last - k][0]) for k, alpha in enumerate(alphas[:last])]
        heights += [ball(low) for low, _ in right]
        # a profile does not increase: what is known further right counts, too
        known = list(accumulate((arb(height.lower()) for height in reversed(heights)), arb.max))[::-1]
        return _lower_masses(alphas, [*known[1:], arb(0)])


def _lower_masses(alphas: Sequence[arb], shifted: Sequence[arb]) -> tuple[dict[int, arb], arb]:
    """The masses of the convex hull of (α_k, the lower bound at α_{k+1}), begun where its slope is at least -1."""
    corners: list[int] = []
    for k in range(len(alphas)):
        while len(corners) > 1 and not _turns_left(alphas, shifted, corners[-2], corners[-1], k):
            corners.pop()
        corners.append(k)
    slopes = [(shifted[b] - shifted[a]) / (alphas[b] - alphas[a]) for a, b in pairwise(corners)]
    begins = 0
    while begins < len(slopes) and not (
        slopes[begins] >= -1 and shifted[corners[begins]] <= 1 - alphas[corners[begins]]
    ):
        begins += 1
    middle = len(alphas) // 2
    found = {}
    for index in range(begins + 1, len(corners)):
        after = slopes[index] if index < len(slopes) else arb(0)
        found[corners[index] - middle] = (after - slopes[index - 1]) * alphas[corners[index]]
    return found, arb(0)


def _turns_left(xs: Sequence[arb], ys: Sequence[arb], a: int, b: int, c: int) -> bool:
    """Whether the second of three points is proven to lie below the chord of the others."""
    return bool((xs[b] - xs[a]) * (ys[c] - ys[a]) - (ys[b] - ys[a]) * (xs[c] - xs[a]) > 0)
