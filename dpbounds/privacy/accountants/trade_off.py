"""Limits of any attack: a certified lower bound on the trade-off function, from certified δ(ε).

A test that distinguishes D from D' errs in two ways: with probability a it answers D' for data D, with probability b it
answers D for data D'. For any two neighbours in either order, (ε, δ)-privacy says 1 - b <= e^ε a + δ and 1 - a <= e^ε
b + δ (an event, and its complement, under the two distributions), that is

    b >= 1 - δ - e^ε a   and   b >= e^(-ε) (1 - δ - a).

Both hold at every ε, with any δ that suffices there, so that the largest of them bounds the trade-off function f(a),
the least b of all tests, from below (Wasserman & Zhou 2010; Dong, Roth & Su 2022, Proposition 2.12).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.displayed import Displayed, Sheet
from dpbounds.errors import InvalidValue, NotCertified
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, rational, to_decimal
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import delta, delta_curve
from dpbounds.privacy.accountants.questions import DEFAULT_TOLERANCE
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.mechanisms.core import listed, listed_pairs
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.routes.closed_forms import ball
from dpbounds.privacy.values import at_least_zero, positive, probability

_PRECISION = 128
_WITHIN = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(8))  # ε of quick bounds
_ERRORS = ("0.001", "0.01", "0.05", "0.1", "0.2", "0.3", "0.4", "0.5")  # false positive rates that are shown


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TradeOff(Displayed):
    """A lower bound on the trade-off function f(a) of every two neighbours, in either order.

    Attributes:
        points: Pairs (ε, δ), each of them a guarantee under one relation, in any order.

    Raises:
        InvalidValue: There is no point, an ε is negative, or a δ not in [0, 1].

    >>> pure = TradeOff([(1, 0)])
    >>> pure(0), float(pure("0.1")) > 1 - 0.1 * 2.7183
    (Fraction(1, 1), True)
    """

    points: tuple[tuple[Fraction, Fraction], ...]

    def __init__(self, points: Iterable[tuple[ExactLike, ExactLike]]) -> None:
        pairs = listed_pairs(points, "points", "pairs of ε and δ")
        known = tuple((at_least_zero(epsilon), rational(delta, "delta")) for epsilon, delta in pairs)
        if not known or any(not 0 <= delta <= 1 for _, delta in known):
            raise InvalidValue("points", [(str(e), str(d)) for e, d in known], "pairs of ε >= 0 and δ from 0 to 1")
        object.__setattr__(self, "points", known)

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        epsilons: Iterable[ExactLike],
        relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
        *,
        tolerance: float = DEFAULT_TOLERANCE,
    ) -> TradeOff:
        """Build the bound from certified upper bounds of δ(ε) at some ε >= 0; more of them give a better bound.

        Raises:
            InvalidValue: A value is not allowed.
            UnsupportedMechanism: No dominating pair is proven for this mechanism under this relation.
            NotCertified: No route could prove an answer.
        """
        given = listed(epsilons, "epsilons", "numbers that are at least 0")
        found = delta_curve(mechanism, given, relation, tolerance=tolerance)
        return cls((epsilon, Fraction(ends.exact_upper)) for epsilon, ends in zip(given, found, strict=True))

    @classmethod
    def within(
        cls, mechanism: Mechanism, seconds: ExactLike, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE
    ) -> TradeOff:
        """Build the bound from upper bounds of δ(ε), at ε from 0 to 8, that are proven within a number of seconds.

        Raises:
            InvalidValue: A value is not allowed.
            UnsupportedMechanism: No dominating pair is proven for this mechanism under this relation.
            NotCertified: No δ below 1 was proven in time.
        """
        share, points = positive(seconds, "seconds") / len(_WITHIN), []
        for epsilon in _WITHIN:
            with contextlib.suppress(NotCertified):
                points.append((epsilon, Fraction(delta(mechanism, epsilon, relation, time_limit=share).exact_upper)))
        if all(proven >= 1 for _, proven in points):
            raise NotCertified("the time limit passed before any delta below 1 was proven; allow more")
        return cls(points)

    def __call__(self, type_one_error: ExactLike) -> Fraction:
        """Return the smallest false negative rate at this false positive rate, rounded down.

        Args:
            type_one_error: a in [0, 1].

        Raises:
            InvalidValue: a is not in [0, 1].
        """
        a, least = probability(type_one_error, "type_one_error"), Fraction(0)
        with working(_PRECISION):
            for epsilon, delta in self.points:
                if delta + a < 1:
                    least = max(least, ball_end(ball(1 - delta - a) * (-ball(epsilon)).exp(), "down"))
                    least = max(least, 1 - delta - a * ball_end(ball(epsilon).exp(), "up"))
        return least

    def _sheet(self) -> Sheet:
        facts = (("points of δ(ε)", str(len(self.points))),)
        rows = [(a, to_decimal(self(a), 6, "down")) for a in _ERRORS]
        columns = ("error of the first kind", "the second's is at least (proven)")
        return Sheet("trade-off of an attacker's errors", facts, columns, rows)

    def __str__(self) -> str:
        return self._sheet().text()


def membership_advantage(
    mechanism: Mechanism, relation: str | Relation = Relation.ADD_OR_REMOVE_ONE, *, tolerance: float = DEFAULT_TOLERANCE
) -> Enclosure:
    """Enclose δ(0), the largest total variation distance: the maximum of true minus false positive rates.

    If the record is in the data in half of the cases, a guess is right in a share of (1 + δ(0))/2 of them at most.
    Errors as for :func:`dpbounds.privacy.accountants.certified.delta`.

    >>> from dpbounds.privacy.mechanisms import PureDP
    >>> membership_advantage(PureDP(1, relation="add-or-remove-one")).decimals(12)  # tanh(1/2)
    ('0.462117157260', '0.462117157261')
    """
    return delta(mechanism, 0, relation, tolerance=tolerance)
