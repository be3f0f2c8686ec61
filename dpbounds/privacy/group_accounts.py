"""What a mechanism spends when k records differ instead of one: proven ε(δ) and δ(ε) for groups.

A group is k records that are all in one data set and not in the other (add-or-remove-one: a person with k records), or
that are all replaced (replace-one).

Full-batch releases are enlarged k-fold and composed as usual. On a Poisson sample under add-or-remove-one the number of
the group's records that are drawn is Binomial(k, q), which gives a pair, too. For Gaussian noise nothing is lost in
either. Anything else goes by a chain of k neighbours (``group_privacy.py``) whose links have the certified profile of
one record; that profile is enclosed at some points and bounded by chords in between.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants import (
    DEFAULT_TOLERANCE,
    account,
    prove_delta,
    prove_epsilon,
    valid_delta,
    valid_epsilon,
)
from dpbounds.privacy.domination import dominating_products, neighbour_classes
from dpbounds.privacy.group_privacy import Link, group_epsilon, group_profile
from dpbounds.privacy.mechanisms import Mechanism, PoissonSampled, parts_of
from dpbounds.privacy.pairs import (
    DrawnGaussians,
    Draws,
    Order,
    Pair,
    Product,
    Sampled,
    ShiftedGaussians,
    ShiftedLaplaces,
    UniformBalls,
    as_gaussian,
    enlarged,
)
from dpbounds.privacy.profiles import ball
from dpbounds.privacy.relations import Relation, as_relation

_POINTS, _FINE_POINTS, _ROUNDS = 28, 150, 6
_PRECISION = 160
_SEARCH_TOLERANCE = 1e-4  # relative, of ε along the chain


@working(OUTER_PRECISION)
def group_account(
    mechanism: Mechanism,
    group_size: int,
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Enclosure:
    """Enclose ε(δ) or δ(ε) for groups of at most ``group_size`` records.

    Args:
        mechanism: What ran, or will run.
        group_size: k >= 1; 1 is what ``account`` answers.
        delta: In (0, 1), or None.
        epsilon: At least 0, or None; exactly one of the two.
        relation: The neighbouring relation whose steps are counted.

    Returns:
        Proven ends; publish the upper one. The lower end is what one record spends, unless the pairs enlarge exactly.

    Raises:
        InvalidValue: A value is not allowed.
        UnsupportedMechanism: No dominating pair is proven for this mechanism under this relation.
        NotCertified: No route could prove an answer.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> group_account(Gaussian(15), 3, delta="1e-5").contains("0.72552175085779582692")  # as Gaussian(5) for one
    True
    """
    k = positive_integer(group_size, "group_size")
    if (delta is None) == (epsilon is None):
        raise InvalidValue("delta, epsilon", (delta, epsilon), "exactly one of the two")
    neighbours = as_relation(relation)
    target = valid_delta(delta) if delta is not None else valid_epsilon(epsilon if epsilon is not None else 0)
    single = account(mechanism, delta=delta, epsilon=epsilon, relation=neighbours).enclosure
    if k == 1:
        return single
    orders = (Order.REMOVE, Order.ADD) if neighbours is Relation.ADD_OR_REMOVE_ONE else (Order.REPLACE,)
    try:
        grown = dict.fromkeys(_grown(mechanism, order, k) for order in orders)
    except UnsupportedMechanism:
        bound = _by_chain(dominating_products(mechanism, neighbours), k, target, wanted_is_epsilon=delta is not None)
        return Enclosure(single.exact_lower, max(single.exact_lower, bound), "group privacy", single.precision)
    prove = prove_epsilon if delta is not None else prove_delta
    found: Enclosure | None = None
    for product in grown:
        proven = prove(product, target, DEFAULT_TOLERANCE).enclosure
        found = proven if found is None else found.larger(proven)
    assert found is not None
    return found if all(map(_is_exact, grown)) else Enclosure(single.exact_lower, found.exact_upper, found.method)


def _grown(mechanism: Mechanism, order: Order, k: int) -> Product:
    """The product that dominates for a group that leaves (remove), joins (add) or is replaced.

    Raises:
        UnsupportedMechanism: For a part no such pair is proven.
    """
    squared_shift = Fraction(0)
    counts: Counter[Pair] = Counter()
    for part, count in parts_of(mechanism):
        pair = _grown_part(part, order, k)
        if isinstance(pair, ShiftedGaussians):
            squared_shift += count * pair.squared_shift
        else:
            counts[pair] += count
    merged: Product = ((ShiftedGaussians(squared_shift), 1),) if squared_shift else ()
    return merged + tuple(counts.items())


def _grown_part(part: Mechanism, order: Order, k: int) -> Pair:
    if isinstance(part, PoissonSampled) and order is not Order.REPLACE and part.sample_rate < 1:
        # the records of the group are drawn independently: j of them with probability Binomial(k, q)(j)
        base = _single(part.mechanism, Order.REMOVE)
        enlarged(base, k)  # refuses what has no proven pair for several records
        if isinstance(base, ShiftedGaussians):
            return DrawnGaussians(order, Draws(part.sample_rate, k), base.squared_shift)
        return Sampled(order, Draws(part.sample_rate, k), base)
    return enlarged(_single(part, order), k)


def _single(mechanism: Mechanism, order: Order) -> Pair:
    """The one pair of a mechanism that is a single release on all it is given."""
    relation = Relation.REPLACE_ONE if order is Order.REPLACE else Relation.ADD_OR_REMOVE_ONE
    classes = neighbour_classes(mechanism, relation)
    for each in classes:
        if len(classes) == 1 and len(each.product) == 1 and each.product[0][1] == 1:
            return each.product[0][0]
    raise UnsupportedMechanism(f"what {mechanism!r} spends on several records together is not known as one pair")


def _is_exact(product: Product) -> bool:
    """Whether the enlarged pairs are attained: Gaussian, Laplace and ball noise."""
    return all(
        isinstance(pair, ShiftedGaussians | ShiftedLaplaces | UniformBalls | DrawnGaussians) for pair, _ in product
    )


def _by_chain(products: tuple[Product, ...], k: int, target: Fraction, *, wanted_is_epsilon: bool) -> Fraction:
    curves = [ChordCurve.of(product, target if wanted_is_epsilon else None, k) for product in products]
    link = Link(curves[0], curves[1]) if len(curves) == 2 else Link.symmetric(lambda e: max(c(e) for c in curves))
    if wanted_is_epsilon:
        return Fraction(group_epsilon(link, k, target, _SEARCH_TOLERANCE).exact_upper)
    return Fraction(group_profile(link, k, target).exact_upper)


@dataclass(frozen=True, slots=True)
class ChordCurve:
    """An upper bound on δ(ε) for every ε >= 0, from certified values at some points.

    δ is a convex function of e^ε, so that it lies below the chord between two certified upper ends; beyond the last
    point it is at most the value there.

    Attributes:
        points: Increasing ε >= 0, the first of them 0.
        uppers: Certified upper ends there.
    """

    points: tuple[Fraction, ...]
    uppers: tuple[Fraction, ...]

    @classmethod
    def of(cls, product: Product, delta: Fraction | None, k: int) -> ChordCurve:
        """Certified at points that reach from 0 to where a chain of k at ``delta`` has no more use for them."""
        reach = _reach(product, delta if delta is not None else Fraction(1, 10**12), k)
        number = _POINTS if as_gaussian(product) is None else _FINE_POINTS
        points = tuple(reach * i / number for i in range(number + 1))
        proofs = (prove_delta(product, e, DEFAULT_TOLERANCE) for e in points)
        return cls(points, tuple(Fraction(proof.enclosure.exact_upper) for proof in proofs))

    def __call__(self, epsilon: Fraction) -> Fraction:
        """The bound at ε >= 0, rounded up."""
        right = bisect_right(self.points, epsilon)
        if right == len(self.points):
            return self.uppers[-1]
        (a, b), (low, high) = self.points[right - 1 : right + 1], self.uppers[right - 1 : right + 1]
        with working(_PRECISION):
            weight = ball(epsilon - a).expm1() / ball(b - a).expm1()
            return min(low, ball_end(ball(low) + weight * ball(high - low), "up")) if low >= high else max(low, high)


def _reach(product: Product, delta: Fraction, k: int) -> Fraction:
    """An ε at which one record's δ is as small as the chain needs it: about δ e^(-kε) / k."""
    reach = Fraction(1, 16)
    for _ in range(_ROUNDS):
        with working(_PRECISION):
            aim = ball_end(ball(delta / k) * (-k * ball(reach)).exp(), "down")
        found = prove_epsilon(product, max(aim, Fraction(1, 10**250)), DEFAULT_TOLERANCE).enclosure.exact_upper
        if isinstance(found, float):
            raise NotCertified(f"one record has an infinite loss with a probability that exceeds {float(aim):.3g}")
        if found <= reach:
            break
        reach = Fraction(float(found) * 1.02)
    return reach
