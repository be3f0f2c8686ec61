"""Mechanisms that are known by a guarantee: selection, tests, randomised response, and black boxes.

Each says under which neighbouring relation its guarantee (or the sensitivity that it rests on) was established.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from dpbounds.errors import InvalidValue, UnsupportedMechanism, demand, shortened, shown
from dpbounds.expressions.exact import ExactLike, exact, positive_integer
from dpbounds.privacy import pairs
from dpbounds.privacy.mechanisms.core import (
    ANYWHERE,
    CODE,
    Assumption,
    Loss,
    Mechanism,
    Trait,
    Writer,
    listed_pairs,
)
from dpbounds.privacy.mechanisms.parameters import COUNT, FLAG, NUMBER, RELATION, pairs_of, parameter
from dpbounds.privacy.relations import Order, Relation, as_relation
from dpbounds.privacy.values import at_least_zero, positive, probability

_PRECISION = 128
_TWO_POINT_ATTACKS = (Fraction(1, 2), Fraction(5, 8), Fraction(3, 4))  # shares of the range; the best depends on ε


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RandomizedResponse(Mechanism):
    """Each record publishes one of k answers: the true one with odds e^ε against each of the others.

    P(true) = e^ε / (e^ε + k - 1). One answer is published per record, so the number of records is, too: the mechanism
    is private under replace-one, and under zero-out-one where a null record answers as if it held one of the k answers,
    fixed or drawn (uniformly, in dp-accounting).

    Args:
        epsilon: Greater than 0.
        options: k, at least 2.

    Raises:
        InvalidValue: A value is out of its domain.
    """

    name = "randomized-response"
    phrase = "randomised response of {options} options, epsilon {epsilon}"

    epsilon: Fraction = field(metadata=parameter(NUMBER))
    options: int = field(metadata=parameter(COUNT))

    def __init__(self, epsilon: ExactLike, options: int = 2) -> None:
        count = positive_integer(options, "options")
        if count < 2:
            raise InvalidValue("options", options, "a whole number that is at least 2")
        self._hold(epsilon=positive(epsilon, "epsilon"), options=count)

    @property
    def traits(self) -> frozenset[Trait]:
        """It publishes the number of records, and whether a record has an answer."""
        return ANYWHERE | {Trait.PER_RECORD, Trait.CERTAIN}

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption that the answers are drawn as described, those of null records too."""
        zeroed = relation is Relation.ZERO_OUT_ONE
        null = "; a null record answers as if it held one of the answers, fixed or drawn" if zeroed else ""
        drawn = "each record's answer is drawn independently, and nothing else about it is released"
        return (Assumption(CODE, drawn + null),)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the responses to the two answers (``losses.md``, section 2; null records: ``zero_out.md``)."""
        if order.counts_records:
            raise UnsupportedMechanism(
                "randomised response publishes one answer per record, and so the number of records: it is private "
                "under replace-one; ask with relation='replace-one', or with relation='zero-out-one' if a null record "
                "answers as if it held one of the answers"
            )
        return pairs.StepBound.attained(pairs.Responses(self.epsilon, self.options))

    def shuffled_reports(self, reports: int) -> pairs.StepBound | None:
        """Return the counts of answers among those of other records (``shuffle_model.md``)."""
        pair, attacks = pairs.shuffled_reports.of_responses(self.epsilon, self.options, reports)
        alone = pairs.Responses(self.epsilon, self.options)
        return pairs.StepBound(pair, attacks) if pairs.shuffled_reports.hides(pair, alone) else None


class Declared(Mechanism):
    """A mechanism that is known by a guarantee, or by the sensitivity of its scores, under a declared relation."""

    __slots__ = ()

    relation: Relation

    @property
    def traits(self) -> frozenset[Trait]:
        """Properties: presence is protected if the guarantee was declared for that relation."""
        covers = self.relation is Relation.ADD_OR_REMOVE_ONE
        return ANYWHERE | {Trait.PER_RECORD, Trait.CERTAIN} | ({Trait.PRESENCE} if covers else set())

    def assumptions(self, relation: Relation) -> tuple[Assumption, ...]:
        """Return the assumption that the declared guarantee holds."""
        return (
            Assumption(
                CODE,
                "black boxes keep their guarantees, and scores their sensitivity, under the relation stated for them",
            ),
        )

    def _links(self, order: Order) -> int:
        """Return the number of links of the declared relation for one step of that order: 1, or 2 (out, then in)."""
        if order in self.relation.orders:
            return 1
        told = shortened(repr(self))
        match order:
            case Order.REPLACE:
                return 2  # remove and add; or zero, and restore with other content
            case Order.ZERO | Order.RESTORE:
                raise UnsupportedMechanism(
                    f"{told} is private under {self.relation}: declare it under zero-out-one if its guarantee covers "
                    "a record that contributes nothing in the place of a real one (as it does where that is a legal "
                    "record under replace-one, or where nothing distinguishes it from one that is absent)"
                )
            case Order.REMOVE | Order.ADD:
                raise UnsupportedMechanism(
                    f"{told} is private under {self.relation}, which says nothing about adding or removing a record "
                    "(it may publish how many there are): establish the guarantee under add-or-remove-one, or ask "
                    f"under {self.relation}"
                )
        assert_never(order)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ExponentialMechanism(Declared):
    """Choose y with probability proportional to exp(ε u(D, y) / (2 Δu)), or report the largest of u plus Gumbel noise.

    Args:
        epsilon: Greater than 0.
        relation: The relation for which |u(D, y) - u(D', y)| <= Δu holds for all y.
        monotone: Whether adding a record never lowers (or never raises) any score. Under add-or-remove-one and
            zero-out-one the loss then spans ε/2 instead of ε. Under replace-one this does not hold, and raises an
            error.

    Raises:
        InvalidValue: ε is not positive, or ``monotone`` is claimed under replace-one.
    """

    name = "exponential"
    chooses = True

    epsilon: Fraction = field(metadata=parameter(NUMBER))
    relation: Relation = field(metadata=parameter(RELATION))
    monotone: bool = field(metadata=parameter(FLAG))

    def __init__(self, epsilon: ExactLike, *, relation: str | Relation, monotone: bool = False) -> None:
        declared = as_relation(relation)
        self._hold(epsilon=positive(epsilon, "epsilon"), relation=declared, monotone=_monotone(monotone, declared))

    def records_read(self, records: int) -> Fraction | None:
        """Return all of them."""
        return Fraction(records)

    @property
    def loss_range(self) -> Fraction:
        """η, the distance between the largest and the smallest privacy loss of two neighbours."""
        return self.epsilon / 2 if self.monotone else self.epsilon

    def in_words(self, write: Writer) -> str:
        """Return its ε, and its neighbouring relation."""
        return self.filled(
            f"exponential mechanism, epsilon {{epsilon}} ({{relation}}{', monotone' if self.monotone else ''})", write
        )

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the least upper bound of all two-point pairs of that range (``losses.md``, section 2)."""
        span = self.loss_range * self._links(order)
        attacks = tuple(pairs.TwoPoints(share * span, span) for share in _TWO_POINT_ATTACKS)
        return pairs.StepBound(pairs.BoundedRangeProfile(span), attacks)

    def loss(self) -> Loss:
        """Return its ε as the loss."""
        return Loss((ExponentialMechanism, self.relation, self.monotone), self.epsilon)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PermuteAndFlip(Declared):
    """Go through the candidates in random order, and take y with probability exp(ε (u(D, y) - max u) / (2 Δu)).

    The first that is taken is published (McKenna & Sheldon 2020); or, with the same distribution, the largest of u plus
    exponential noise of scale 2 Δu / ε. It is ε-DP, and spends as much as Laplace noise of scale 1/ε on a count.

    Args:
        epsilon: Greater than 0.
        relation: The relation for which |u(D, y) - u(D', y)| <= Δu holds for all y.
        monotone: As for :class:`ExponentialMechanism`: then it spends half of ε.

    Raises:
        InvalidValue: ε is not positive, or ``monotone`` is claimed under replace-one.
    """

    name = "permute-and-flip"
    chooses = True

    epsilon: Fraction = field(metadata=parameter(NUMBER))
    relation: Relation = field(metadata=parameter(RELATION))
    monotone: bool = field(metadata=parameter(FLAG))

    def __init__(self, epsilon: ExactLike, *, relation: str | Relation, monotone: bool = False) -> None:
        declared = as_relation(relation)
        self._hold(epsilon=positive(epsilon, "epsilon"), relation=declared, monotone=_monotone(monotone, declared))

    @property
    def largest_loss(self) -> Fraction:
        """The largest privacy loss: ε, or half of it."""
        return self.epsilon / 2 if self.monotone else self.epsilon

    def in_words(self, write: Writer) -> str:
        """Return its ε, and its neighbouring relation."""
        return self.filled(
            f"permute-and-flip, epsilon {{epsilon}} ({{relation}}{', monotone' if self.monotone else ''})", write
        )

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return two Laplace distributions (``losses.md``, section 2); two candidates attain part of it."""
        shift = self.largest_loss * self._links(order)
        return pairs.StepBound(pairs.ShiftedLaplaces(shift), _two_candidates(shift), only_once=True)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class AboveThreshold(Declared):
    """Compare adaptively chosen queries with a noisy threshold, and stop at the first above it (Laplace noise).

    Laplace(b1) is added to the threshold once, Laplace(b2) to each query; any number of "below" is answered, and no
    value is released. Queries may depend on other releases in between (``interleaving.md``). With ``crossings`` c the
    same noisy threshold is kept until c queries were above it. ``AboveThreshold(...) ** c`` draws it anew each time.

    Args:
        epsilon: The classical choice b1 = 2/ε, b2 = 4c/ε (Dwork & Roth 2014, Theorem 3.23, for c = 1); or
        threshold_noise: b1 in units of the queries' common sensitivity, together with
        query_noise: b2 in the same units.
        relation: The relation for which each query's sensitivity holds.
        monotone: Whether adding a record moves all queries in one direction. Under add-or-remove-one and zero-out-one
            the mechanism then spends 1/b1 + c/b2 instead of 1/b1 + 2c/b2. Under replace-one this does not hold, and
            raises an error.
        crossings: c, the number of queries above the threshold after which it stops; None for 1.

    Raises:
        InvalidValue: A value is out of its domain, both ways of giving the noise (or neither) are used, or
            ``monotone`` is claimed under replace-one.
    """

    name = "above-threshold"
    waits = True

    threshold_noise: Fraction = field(metadata=parameter(NUMBER, rounds="down"))
    query_noise: Fraction = field(metadata=parameter(NUMBER, rounds="down"))
    relation: Relation = field(metadata=parameter(RELATION))
    monotone: bool = field(metadata=parameter(FLAG))
    crossings: int | None = field(metadata=parameter(COUNT, optional=True))

    def __init__(
        self,
        epsilon: ExactLike | None = None,
        *,
        threshold_noise: ExactLike | None = None,
        query_noise: ExactLike | None = None,
        relation: str | Relation,
        monotone: bool = False,
        crossings: int | None = None,
    ) -> None:
        count = 1 if crossings is None else positive_integer(crossings, "crossings")
        if epsilon is not None and threshold_noise is None and query_noise is None:
            budget = positive(epsilon, "epsilon")
            noises = (2 / budget, 4 * count / budget)
        elif epsilon is None and threshold_noise is not None and query_noise is not None:
            noises = (positive(threshold_noise, "threshold_noise"), positive(query_noise, "query_noise"))
        else:
            told = (shown(value) for value in (epsilon, threshold_noise, query_noise))
            given = "epsilon={}, threshold_noise={}, query_noise={}".format(*told)
            raise InvalidValue("AboveThreshold noise", given, "either epsilon alone, or both noise scales")
        declared = as_relation(relation)
        flag = _monotone(monotone, declared)
        self._hold(threshold_noise=noises[0], query_noise=noises[1], relation=declared, monotone=flag)
        self._hold(crossings=None if count == 1 else count)

    @property
    def epsilon(self) -> Fraction:
        """The pure ε it spends (Dwork & Roth 2014, Theorem 3.23; monotone, or several crossings: Lyu, Su & Li 2017)."""
        return 1 / self.threshold_noise + (1 if self.monotone else 2) * (self.crossings or 1) / self.query_noise

    def in_words(self, write: Writer) -> str:
        """Return its ε, how often it stops, and its neighbouring relation."""
        kept = "" if self.crossings is None else ", {crossings} crossings of one threshold"
        return self.filled(f"above-threshold test, epsilon {write(self.epsilon, 'up')} ({{relation}}{kept})", write)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return a randomised response, once or twice (``losses.md``, section 2)."""
        pair = pairs.TwoResponses if self._links(order) == 2 else pairs.Responses
        return pairs.StepBound(pair(self.epsilon), ())


def _monotone(claimed: bool, relation: Relation) -> bool:
    demand("monotone", claimed, bool)
    if claimed and relation is Relation.REPLACE_ONE:
        raise InvalidValue(
            "monotone",
            claimed,
            "False under replace-one",
            "replacing a record can raise one count and lower another, whatever adding a record does",
        )
    return claimed


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PureDP(Declared):
    """A mechanism given by its guarantee: (ε, 0)-DP under a relation.

    Raises:
        InvalidValue: ε is not positive.
    """

    name = "pure"
    phrase = "a black box with epsilon {epsilon} ({relation})"

    epsilon: Fraction = field(metadata=parameter(NUMBER))
    relation: Relation = field(metadata=parameter(RELATION))

    def __init__(self, epsilon: ExactLike, *, relation: str | Relation) -> None:
        self._hold(epsilon=positive(epsilon, "epsilon"), relation=as_relation(relation))

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return a randomised response, once or twice (``losses.md``, section 2)."""
        pair = pairs.TwoResponses if self._links(order) == 2 else pairs.Responses
        return pairs.StepBound.attained(pair(self.epsilon))

    def shuffled_reports(self, reports: int) -> pairs.StepBound | None:
        """Return clones; under replace-one, a response of three options is such a black box (``shuffle_model.md``)."""
        if self._links(Order.REPLACE) > 1:
            return None
        pair, _ = pairs.shuffled_reports.of_responses(self.epsilon, 2, reports)
        if not pairs.shuffled_reports.hides(pair, pairs.Responses(self.epsilon)):
            return None
        return pairs.StepBound(pair, _responses_of_three(self.epsilon, reports))

    def loss(self) -> Loss:
        """Return its ε as the loss."""
        return Loss((PureDP, self.relation), self.epsilon)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ApproximateDP(Declared):
    """A mechanism given by its guarantee: (ε, δ)-DP under a relation.

    Raises:
        InvalidValue: ε is negative, or δ not in [0, 1].
    """

    name = "approximate"
    phrase = "a black box with epsilon {epsilon}, delta {delta} ({relation})"

    epsilon: Fraction = field(metadata=parameter(NUMBER))
    delta: Fraction = field(metadata=parameter(NUMBER))
    relation: Relation = field(metadata=parameter(RELATION))

    def __init__(self, epsilon: ExactLike, delta: ExactLike, *, relation: str | Relation) -> None:
        loss, failure = exact(epsilon, "epsilon"), exact(delta, "delta")
        if loss < 0:
            raise InvalidValue("epsilon", epsilon, "at least 0")
        if not 0 <= failure <= 1:
            raise InvalidValue("delta", delta, "a number between 0 and 1")
        self._hold(epsilon=loss, delta=failure, relation=as_relation(relation))

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the worst (ε, δ)-private pair (``losses.md``, section 2), for two links that of a group of two."""
        pair, links = pairs.FourPoints(self.epsilon, self.delta), self._links(order)
        return pairs.StepBound.attained(pair) if links == 1 else pairs.StepBound(pairs.enlarged(pair, links), (pair,))

    def shuffled_reports(self, reports: int) -> pairs.StepBound | None:
        """Return clones, but for the reports that are not pure (``shuffle_model.md``, section 6)."""
        if self._links(Order.REPLACE) > 1:
            return None
        pair = pairs.shuffled_reports.approximate(self.epsilon, self.delta, reports)
        return None if pair is None else pairs.StepBound(pair, _responses_of_three(self.epsilon, reports))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ZCDP(Declared):
    """A mechanism given by its guarantee: (ξ, ρ)-zCDP under a relation (Bun & Steinke 2016).

    D_λ <= ξ + λρ for every λ > 1.

    Args:
        rho: ρ, greater than 0.
        relation: The relation.
        xi: ξ, at least 0; with 0 it is ρ-zCDP.

    Raises:
        InvalidValue: ρ is not positive, or ξ is negative.
    """

    name = "zcdp"
    phrase = "a black box with rho-zCDP, rho {rho} ({relation})"

    rho: Fraction = field(metadata=parameter(NUMBER))
    relation: Relation = field(metadata=parameter(RELATION))
    xi: Fraction | None = field(metadata=parameter(NUMBER, optional=True))

    def __init__(self, rho: ExactLike, *, relation: str | Relation, xi: ExactLike | None = None) -> None:
        given = None if xi is None else at_least_zero(xi, "xi")
        self._hold(rho=positive(rho, "rho"), relation=as_relation(relation), xi=given or None)

    def in_words(self, write: Writer) -> str:
        """Return its numbers, and its neighbouring relation."""
        if self.xi is None:
            return self.filled(self.phrase, write)
        return self.filled("a black box with (xi, rho)-zCDP, xi {xi}, rho {rho} ({relation})", write)

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the largest profile that the divergences allow (``losses.md``, section 2); a Gaussian has them.

        So has a randomised response with ε = ξ.
        """
        links, xi = self._links(order), self.xi or Fraction(0)
        if xi and links > 1:
            raise UnsupportedMechanism(
                f"a (xi, rho)-zCDP guarantee with xi > 0 under {self.relation} gives none here under replace-one: "
                f"declare it under replace-one, or use ZCDP({shown(self.rho + xi)}, relation='{self.relation}')"
            )
        pair: pairs.Pair = pairs.RenyiProfile((), self.rho, xi)
        attacks = (pairs.ShiftedGaussians(2 * self.rho * links**2), *((pairs.Responses(xi),) if xi else ()))
        return pairs.StepBound(pair if links == 1 else pairs.enlarged(pair, links), attacks)

    def loss(self) -> Loss:
        """Return its ρ as the loss; with ξ > 0 two of them are not compared."""
        if self.xi is not None:
            return Loss((self,))
        return Loss((ZCDP, self.relation), self.rho, True, "rho")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class GaussianDP(Declared):
    """A mechanism given by its guarantee: μ-Gaussian DP under a relation (Dong, Roth & Su 2022).

    No test between neighbours is better than the best one between N(0, 1) and N(μ, 1).

    Args:
        mu: μ, greater than 0.
        relation: The relation.

    Raises:
        InvalidValue: μ is not positive.
    """

    name = "gaussian-dp"
    phrase = "a black box with mu-Gaussian privacy, mu {mu} ({relation})"

    mu: Fraction = field(metadata=parameter(NUMBER))
    relation: Relation = field(metadata=parameter(RELATION))

    def __init__(self, mu: ExactLike, *, relation: str | Relation) -> None:
        self._hold(mu=positive(mu, "mu"), relation=as_relation(relation))

    @property
    def traits(self) -> frozenset[Trait]:
        """Return no trait: samples of shifted Gaussians are analysed for noise on sums only."""
        return frozenset()

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return shifted Gaussians; two links are a shift of 2μ (``conversions.md``, section 7)."""
        return pairs.StepBound.attained(pairs.ShiftedGaussians((self.mu * self._links(order)) ** 2))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RenyiDP(Declared):
    """A mechanism given by its guarantee: D_λ <= ε(λ) at finitely many orders λ > 1, under a relation (Mironov 2017).

    Args:
        points: Orders and their ε, as a mapping or as pairs.
        relation: The relation.

    Raises:
        InvalidValue: There is no point, an order is not above 1, given twice, or its ε is negative.

    >>> RenyiDP({2: "0.1", "2.5": "0.2"}, relation="replace-one").points[1]
    (Fraction(5, 2), Fraction(1, 5))
    """

    name = "renyi"

    points: tuple[tuple[Fraction, Fraction], ...] = field(metadata=parameter(pairs_of("order", "epsilon")))
    relation: Relation = field(metadata=parameter(RELATION))

    def __init__(
        self,
        points: Mapping[ExactLike, ExactLike] | Iterable[tuple[ExactLike, ExactLike]],
        *,
        relation: str | Relation,
    ) -> None:
        pairs = listed_pairs(points, "points", "pairs of an order and an ε")
        read = sorted((exact(order, "order"), exact(value, "epsilon")) for order, value in pairs)
        orders = [order for order, _ in read]
        if not read or orders[0] <= 1 or len(set(orders)) < len(orders):
            raise InvalidValue("orders", [str(order) for order in orders], "at least one order above 1, each once")
        if any(value < 0 for _, value in read):
            raise InvalidValue("epsilon", [str(value) for _, value in read], "numbers that are at least 0")
        self._hold(points=tuple(read), relation=as_relation(relation))

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the largest profile that the divergences allow (``losses.md``, section 2)."""
        if self._links(order) > 1:
            raise UnsupportedMechanism(
                f"a Rényi guarantee under {self.relation} gives none here under replace-one (the triangle inequality "
                "of Rényi divergences changes the orders): declare it under replace-one, or use ZCDP"
            )
        least = min(value / at for at, value in self.points)
        attacks = (pairs.ShiftedGaussians(2 * least),) if least > 0 else ()
        return pairs.StepBound(pairs.RenyiProfile(self.points), attacks)

    def in_words(self, write: Writer) -> str:
        """Return the number of orders, and the neighbouring relation."""
        return self.filled(f"a black box with Rényi bounds at {len(self.points)} orders ({{relation}})", write)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ProfileDP(Declared):
    """A mechanism given by points of its privacy profile: (ε, δ)-DP for every one of them, under a relation.

    Points of a trade-off function (``TradeOff.points``) make such a mechanism, and so does a distribution of the
    privacy loss that was read from dp-accounting (``from_privacy_loss_distribution``).

    Args:
        points: Values of ε and their δ, as a mapping or as pairs.
        relation: The relation.

    Raises:
        InvalidValue: There is no point, an ε is negative or given twice, or a δ not in [0, 1].

    >>> ProfileDP({1: "0.01", 2: "1e-6"}, relation="replace-one").points[0]
    (Fraction(1, 1), Fraction(1, 100))
    """

    name = "profile"

    points: tuple[tuple[Fraction, Fraction], ...] = field(metadata=parameter(pairs_of("epsilon", "delta")))
    relation: Relation = field(metadata=parameter(RELATION))

    def __init__(
        self,
        points: Mapping[ExactLike, ExactLike] | Iterable[tuple[ExactLike, ExactLike]],
        *,
        relation: str | Relation,
    ) -> None:
        given = listed_pairs(points, "points", "pairs of an ε and a δ")
        read = sorted((at_least_zero(epsilon), probability(delta)) for epsilon, delta in given)
        if not read or len({epsilon for epsilon, _ in read}) < len(read):
            raise InvalidValue("points", [str(epsilon) for epsilon, _ in read], "at least one ε, each once")
        self._hold(points=tuple(read), relation=as_relation(relation))

    @property
    def traits(self) -> frozenset[Trait]:
        """Return no trait: nothing is proven here about samples of it."""
        return frozenset()

    def dominated_by(self, order: Order) -> pairs.StepBound:
        """Return the convex hull of the points (``losses.md``, section 2), which has the guarantee itself."""
        links = self._links(order)
        if links > 1:
            raise UnsupportedMechanism(
                f"points of a profile under {self.relation} give none here under replace-one: declare them under "
                "replace-one, or use ApproximateDP with one of them"
            )
        return pairs.StepBound.attained(pairs.ProfilePoints(self.points))

    def in_words(self, write: Writer) -> str:
        """Return the number of points, and the neighbouring relation."""
        many = "1 point" if len(self.points) == 1 else f"{len(self.points)} points"
        return self.filled(f"a black box with {many} of its privacy profile ({{relation}})", write)


def _responses_of_three(epsilon: Fraction, reports: int) -> tuple[pairs.Pair, ...]:
    """Return attacks on shuffled mechanisms given by ε: they may be randomised responses of three options."""
    _, attacks = pairs.shuffled_reports.of_responses(epsilon, 3, reports)
    return attacks


def _two_candidates(shift: Fraction) -> tuple[pairs.Pair, ...]:
    """Return two candidates: whether Laplace noise, moved or not, exceeds a part of the shift; losses towards 0."""
    from dpbounds.expressions.enclosure import ball_end
    from dpbounds.expressions.working import working
    from dpbounds.privacy.pairs.losses import ball

    def loss(near: Fraction, far: Fraction) -> Fraction:
        """Log (1 - e^-far / 2) / (e^-near / 2), rounded down."""
        return ball_end(ball(near) + (2 - (-ball(far)).exp()).log(), "down")

    with working(_PRECISION):
        places = [part * shift for part in _TWO_POINT_ATTACKS]
        ends = [(loss(place, shift - place), loss(shift - place, place)) for place in places]
    return tuple(pairs.TwoPoints(high, high + low) for high, low in ends)
