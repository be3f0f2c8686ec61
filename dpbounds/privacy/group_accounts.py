"""What a mechanism spends when k records differ instead of one: proven ε(δ) and δ(ε) for groups.

Where every release runs on the full data, each pair is enlarged k-fold and composed as usual; for Gaussian and Laplace
noise nothing is lost. Anything else goes by a chain of k neighbours (``group_privacy.py``) whose links have the
certified profile of one record; that profile is enclosed at some forty points and bounded by chords in between.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import ctx

from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.privacy.accountants import (
    DEFAULT_TOLERANCE,
    account,
    prove_delta,
    prove_epsilon,
    valid_delta,
    valid_epsilon,
)
from dpbounds.privacy.domination import dominating_products
from dpbounds.privacy.group_privacy import Link, group_epsilon, group_profile
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs import Product, enlarged
from dpbounds.privacy.profiles import ball
from dpbounds.privacy.relations import Relation, as_relation

_POINTS = 40
_PRECISION = 160
_SEARCH_TOLERANCE = 1e-4  # relative, of ε along the chain


def group_account(
    mechanism: Mechanism,
    group_size: int,
    *,
    delta: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    relation: str | Relation = Relation.ADD_OR_REMOVE_ONE,
) -> Enclosure:
    """Enclose ε(δ) or δ(ε) for data sets up to ``group_size`` steps of the relation apart.

    Args:
        mechanism: What ran, or will run.
        group_size: k >= 1; 1 is what ``account`` answers. Under add-or-remove-one some may join while others leave.
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
    products = dominating_products(mechanism, neighbours)
    try:
        grown = tuple(_grown(product, k) for product in products)
    except UnsupportedMechanism:
        bound = _by_chain(products, k, target, wanted_is_epsilon=delta is not None)
        return Enclosure(single.exact_lower, max(single.exact_lower, bound), "group privacy", single.precision)
    prove = prove_epsilon if delta is not None else prove_delta
    found = prove(grown[0], target, DEFAULT_TOLERANCE).enclosure
    for product in grown[1:]:
        found = found.larger(prove(product, target, DEFAULT_TOLERANCE).enclosure)
    return found


def _grown(product: Product, k: int) -> Product:
    return tuple((enlarged(pair, k), count) for pair, count in product)


def _by_chain(products: tuple[Product, ...], k: int, target: Fraction, *, wanted_is_epsilon: bool) -> Fraction:
    # Some of the k may join while others leave: every link gets the larger profile of both orders, in both directions.
    curves = [ChordCurve.of(product, target if wanted_is_epsilon else None, k) for product in products]
    link = Link.symmetric(lambda e: max(curve(e) for curve in curves))
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
        points = tuple(reach * i / _POINTS for i in range(_POINTS + 1))
        return cls(
            points, tuple(_upper(lambda e: prove_delta(product, e, DEFAULT_TOLERANCE).enclosure, e) for e in points)
        )

    def __call__(self, epsilon: Fraction) -> Fraction:
        """The bound at ε >= 0, rounded up."""
        right = bisect_right(self.points, epsilon)
        if right == len(self.points):
            return self.uppers[-1]
        (a, b), (low, high) = self.points[right - 1 : right + 1], self.uppers[right - 1 : right + 1]
        with ctx.workprec(_PRECISION):
            weight = ball(epsilon - a).expm1() / ball(b - a).expm1()
            return min(low, ball_end(ball(low) + weight * ball(high - low), "up")) if low >= high else max(low, high)


def _upper(value: Callable[[Fraction], Enclosure], epsilon: Fraction) -> Fraction:
    return Fraction(value(epsilon).exact_upper)


def _reach(product: Product, delta: Fraction, k: int) -> Fraction:
    """An ε at which one record's δ is far below what the chain's last link may weigh."""
    single = prove_epsilon(product, delta, DEFAULT_TOLERANCE).enclosure.exact_upper
    if isinstance(single, float):
        raise NotCertified(f"one record already has an infinite loss with probability above {float(delta):g}")
    reach = max(single, Fraction(1, 8))
    with ctx.workprec(_PRECISION):
        aim = ball_end(ball(delta) * (-2 * k * ball(reach)).exp(), "down")
    further = prove_epsilon(product, max(aim, Fraction(1, 10**280)), DEFAULT_TOLERANCE).enclosure.exact_upper
    return max(reach, Fraction(float(further))) if isinstance(further, Fraction) else 2 * reach
