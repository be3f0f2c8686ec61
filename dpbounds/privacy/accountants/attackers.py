"""The success of an attacker: certified error rates of tests (``attackers.md``).

A test guesses from everything that is released whether one record is in the data. It errs in two ways: with its false
positive rate it says so of data without the record, with its false negative rate it denies it of data with the record.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, as_allowed
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import delta as delta_of, prove_delta, prove_deltas
from dpbounds.privacy.accountants.questions import DEFAULT_TOLERANCE
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.losses import ball, law_at
from dpbounds.privacy.pairs.pairs import Product, is_attack
from dpbounds.privacy.relations import Order, Relation, as_relation, orders_of
from dpbounds.privacy.values import probability

METHOD = "trade-off function from δ(ε)"
_PRECISION = 320
_FARTHEST = Fraction(10**6)  # log α beyond which the bound no longer changes
_LOOSE = 1e-3  # relative width of δ, until the range of log α is as small as such proofs can make it
_PARTS, _ROUNDS = 12, 24  # number of parts of the range of log α in a round; number of rounds
_SMALLEST = Fraction(1, 1 << 10)  # length of a range of log α, for an attack
_NARROW = Fraction(1, 10**9)  # relative width, of either error rate, that is enough


def trade_off(
    mechanism: Mechanism,
    false_positive_rate: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    order: str | Order | None = None,
) -> Enclosure:
    """Enclose the least false negative rate of any test with this false positive rate.

    Args:
        mechanism: The mechanism.
        false_positive_rate: From 0 to 1; of a float the larger of its binary value and its decimal counts.
        relation: The neighbouring relation.
        order: The only order of neighbours that counts, and then a test detects the second dataset: "add" for
            tests that the record is in the data, "remove" for tests that it is not. None for the smaller rate of both.

    Returns:
        Certified bounds; publish the lower one. No test has a smaller false negative rate. The upper one is attained by
        a test, or by guessing if no better test is known.

    Raises:
        InvalidValue: A value is not allowed.
        UnsupportedMechanism: No dominating pair is proven for this mechanism under this relation.
        NotCertified: No route could prove an answer.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> trade_off(Gaussian(1), "0.05").decimals(6)  # Φ(Φ^-1(0.95) - 1)
    ('0.740488', '0.740489')
    """
    rate = probability(as_allowed(false_positive_rate, "false_positive_rate"), "false_positive_rate")
    neighbours = as_relation(relation)
    only = None if order is None else orders_of(neighbours, order)[0]
    if rate == 1:
        return Enclosure.exactly(0, METHOD)
    lowers, uppers = [], [1 - rate]  # a guess that ignores the release
    with working(OUTER_PRECISION):
        for each in neighbour_classes(mechanism, neighbours, only).every():
            below, above = _Curve(each.product).at(rate)
            lowers.append(below)
            uppers.extend([above] if each.tight else [_Curve(attack).attained(rate) for attack in each.attacks])
    return Enclosure(min(lowers), max(min(lowers), min(uppers)), METHOD, _PRECISION)


def true_positive_rate(
    mechanism: Mechanism,
    false_positive_rate: ExactLike,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
    *,
    order: str | Order | None = None,
) -> Enclosure:
    """Enclose the largest true positive rate of any test with this false positive rate: publish the upper bound.

    Arguments and errors as for :func:`trade_off`.

    >>> from dpbounds.privacy.mechanisms import Laplace
    >>> round(true_positive_rate(Laplace(1), "0.01").upper, 12)  # e/100
    0.027182818285
    """
    return 1 - trade_off(mechanism, false_positive_rate, relation, order=order)


@working(OUTER_PRECISION)
def largest_true_positive_rate(mechanism: Mechanism, false_positive_rate: Fraction, relation: Relation) -> Fraction:
    """Return the upper bound of :func:`true_positive_rate` alone, for 0 <= ``false_positive_rate`` < 1."""
    classes = neighbour_classes(mechanism, relation)
    return 1 - min(_Curve(each.product).at(false_positive_rate)[0] for each in classes.every())


def bayes_risk(
    mechanism: Mechanism,
    prior: ExactLike = Fraction(1, 2),
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Enclosure:
    """Enclose the least probability of a wrong guess whether the record is in the data: publish the lower bound.

    With m the smaller of ``prior`` and 1 - ``prior`` it is m (1 - δ(log((1-m)/m))) (``attackers.md``, section 3).

    Args:
        mechanism: The mechanism.
        prior: The attacker's probability, before the release, that the record is in the data; from 0 to 1.
        relation: The neighbouring relation.

    Errors as for :func:`trade_off`.

    >>> from dpbounds.privacy.mechanisms import PureDP
    >>> round(bayes_risk(PureDP(1, relation="add-or-remove-one")).lower, 12)  # 1/(1 + e)
    0.26894142137
    """
    known = probability(prior, "prior")
    least = min(known, 1 - known)
    if least == 0:
        return Enclosure.exactly(0, METHOD)
    with working(_PRECISION):
        odds = ball((1 - least) / least).log()
        below, above = max(Fraction(0), ball_end(odds, "down")), max(Fraction(0), ball_end(odds, "up"))
    largest, smallest = delta_of(mechanism, below, relation), delta_of(mechanism, above, relation)
    return Enclosure(
        least * (1 - Fraction(largest.exact_upper)), least * (1 - Fraction(smallest.exact_lower)), METHOD, _PRECISION
    )


def reconstruction_risk(
    mechanism: Mechanism, baseline: ExactLike, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE
) -> Fraction:
    """Bound the probability that an attacker reconstructs a record, given that of success without the release.

    Args:
        mechanism: The mechanism.
        baseline: The probability of success, from 0 to 1, of the best guess that does not depend on the release, for a
            record that is drawn from the attacker's prior.
        relation: The neighbouring relation.

    Returns:
        1 - f(``baseline``) with f the trade-off function, rounded up (Hayes, Mahloujifar & Balle 2023, Theorem 2;
        ``attackers.md``, section 4).

    Errors as for :func:`trade_off`.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> float(reconstruction_risk(Gaussian(2), "0.1")) < 0.2174
    True
    """
    guessed = probability(as_allowed(baseline, "baseline"), "baseline")
    return Fraction(true_positive_rate(mechanism, guessed, relation).exact_upper)


# --- The trade-off function of one product of pairs -------------------------------------------------------------------


@dataclass(slots=True)
class _Curve:
    """The trade-off function T(a) = sup over α of (1 - a - H_α)/α of a product (P, Q): a under P, T(a) under Q.

    As a function of α it rises up to its supremum, and falls then (``attackers.md``, section 2).

    Attributes:
        product: The pairs. H_α for α >= 1 is δ(log α) of the product, for α < 1 that of its mirror image.
    """

    product: Product
    _mirror: Product | None = None
    _heights: dict[Fraction, tuple[arb, arb]] = field(default_factory=dict)

    @property
    def mirror(self) -> Product:
        """Return the product from the other side."""
        if self._mirror is None:
            self._mirror = tuple((pair.mirrored(), count) for pair, count in self.product)
        return self._mirror

    def at(self, a: Fraction) -> tuple[Fraction, Fraction]:
        """Return a lower and an upper bound on T(a), for 0 <= a < 1."""
        if a == 0:
            return self._at_zero()
        lower, upper = Fraction(0), 1 - a
        places, tolerance = _first_places(a), _LOOSE
        beyond: Fraction | None = None  # an upper bound to the right of all places; None as long as there is none
        for _ in range(_ROUNDS):
            self._prove(places, tolerance)
            lines = [self._line(a, x) for x in places]
            least = max(low for low, _ in lines)
            best = next(k for k, (low, _) in enumerate(lines) if low == least)
            first = next((k for k in range(best - 1, -1, -1) if lines[k][1] <= least), 0)
            last = next((k for k in range(best + 1, len(places)) if lines[k][1] <= least), len(places) - 1)
            if beyond is None and best < last and lines[last][1] <= least:
                beyond = Fraction(0)
            elif beyond is None and places[last] >= _FARTHEST:
                beyond = _largest_beyond(places[last])
            elif beyond is None:
                places = [*places, *dict.fromkeys(min(_FARTHEST, places[-1] * 4**k) for k in range(1, 6))]
                continue
            width, lower = upper - lower, max(lower, least)
            upper = min(upper, max(beyond, self._above(a, places, first, last)))
            if upper - lower <= _NARROW * min(lower, 1 - lower):
                break
            if 2 * (upper - lower) > width and last - first > len(places) // 2:
                if tolerance == DEFAULT_TOLERANCE:
                    break
                tolerance = DEFAULT_TOLERANCE
            places = _between(places[first], places[last])
        return lower, max(lower, upper)

    def attained(self, a: Fraction) -> Fraction:
        """Return an upper bound on T(a) for an attack with only lower bounds on H.

        H does not increase: between two places it is at least what it is at the right one.
        """
        if not is_attack(self.product) or a == 0:
            return self.at(a)[1]
        places = _first_places(a)
        places = [*places, *(places[-1] * 4**k for k in range(1, 4))]
        self._prove(places, _LOOSE)
        for _ in range(_ROUNDS):
            largest = [self._falling(a, *ends) for ends in itertools.pairwise(places)]
            worst = max(range(len(largest)), key=largest.__getitem__)
            low, high = places[worst], places[worst + 1]
            if high - low < _SMALLEST:
                break
            inner = _between(low, high)[1:-1]
            self._prove(inner, _LOOSE)
            places = sorted([*places, *inner])
        return min(1 - a, max(_largest_beyond(places[-1]), *largest))

    def _falling(self, a: Fraction, low: Fraction, high: Fraction) -> Fraction:
        """Return an upper bound on (1 - a - H)/α between two logarithms of α."""
        with working(_PRECISION):
            return ball_end((1 - ball(a) - self._heights[high][0]) / ball(low).exp(), "up")

    def _at_zero(self) -> tuple[Fraction, Fraction]:
        """Return T(0) = 1 - H'_∞, with H' that of the mirror image: such a test accuses where only Q is possible."""
        lower = 1 - Fraction(prove_delta(self.mirror, _FARTHEST, DEFAULT_TOLERANCE).enclosure.exact_upper)
        with working(_PRECISION):
            log_rest = arb(0)
            for pair, count in self.mirror:
                if pair.has_distribution:
                    log_rest = log_rest + count * (-law_at(pair, _PRECISION).infinite).log1p()
            upper = ball_end(log_rest.exp(), "up")
        return max(Fraction(0), lower), min(Fraction(1), max(upper, lower))

    def _prove(self, places: Sequence[Fraction], tolerance: float) -> None:
        """Prove H_α at all places, those of each side at once."""
        for side, asked in ((self.product, [x for x in places if x >= 0]), (self.mirror, [x for x in places if x < 0])):
            for x, proof in zip(asked, prove_deltas(side, [abs(x) for x in asked], tolerance), strict=True):
                known = proof.enclosure
                with working(_PRECISION):
                    alpha, ends = ball(x).exp(), [ball(Fraction(end)) for end in (known.exact_lower, known.exact_upper)]
                    if x < 0:  # H_α = 1 - α + α H'_{1/α}
                        ends = [1 - alpha + alpha * end for end in ends]
                self._heights[x] = ends[0], ends[1]

    def _line(self, a: Fraction, x: Fraction) -> tuple[Fraction, Fraction]:
        """Return bounds on (1 - a - H_α)/α at α = e^x."""
        with working(_PRECISION):
            (low, high), alpha = self._heights[x], ball(x).exp()
            return ball_end((1 - ball(a) - high) / alpha, "down"), ball_end((1 - ball(a) - low) / alpha, "up")

    def _above(self, a: Fraction, places: Sequence[Fraction], first: int, last: int) -> Fraction:
        """Return an upper bound on the supremum, which lies between two places.

        H is convex: between two neighbouring places it lies above the lines through the two before, and the two after.
        """

        def beyond(before: int, at: int, to: int) -> Fraction:
            """Return (1 - a - H)/α where the line through two places reaches a third."""
            one, two, three = (ball(places[k]).exp() for k in (before, at, to))
            share = (three - two) / (two - one)
            height = self._heights[places[at]][0] * (1 + share) - self._heights[places[before]][1] * share
            return ball_end((1 - ball(a) - height) / three, "up")

        largest = Fraction(0)
        with working(_PRECISION):
            for k in range(first, last):
                ends = []
                if k > 0:
                    ends.append(max(self._line(a, places[k])[1], beyond(k - 1, k, k + 1)))
                if k + 2 < len(places):
                    ends.append(max(self._line(a, places[k + 1])[1], beyond(k + 2, k + 1, k)))
                largest = max(largest, min(ends))
        return largest


def _first_places(a: Fraction) -> list[Fraction]:
    """Return logarithms of α; (1 - a - H_α)/α is negative at the first one and before it."""
    with working(_PRECISION):
        least = Fraction(math.ceil(ball_end(-ball(a).log(), "up")) + 1)
    sizes = [Fraction(2) ** k for k in range(-3, 4)]
    inner = [size for size in (*sizes, *(Fraction(2) ** k for k in range(4, 12))) if size < least]
    return [-least, *(-size for size in reversed(inner)), Fraction(0), *sizes]


def _largest_beyond(x: Fraction) -> Fraction:
    """Return 1/α, an upper bound on (1 - a - H_α)/α for log α >= x."""
    with working(_PRECISION):
        return ball_end((-ball(x)).exp(), "up")


def _between(low: Fraction, high: Fraction) -> list[Fraction]:
    """Return the ends of equal parts of a range of log α."""
    return [low + (high - low) * k / _PARTS for k in range(_PARTS + 1)]
