"""Group privacy: certified ε(δ) and δ(ε) of a mechanism where k records differ instead of one.

A group is k records that are all in one dataset and not in the other (add-or-remove-one: a person with k records), or
that are all replaced (replace-one).

Full-batch releases are enlarged k-fold and composed as usual. How many of the group a sample holds is Binomial(k, q)
(Poisson), hypergeometric (fixed size) or Binomial(b, k/n) (b draws with replacement), which gives pairs, too
(``pairs/groups.md``). For Gaussian noise nothing is lost, except that records replaced in batches of a fixed size have
one bound and an attack. Blocks in parallel share the group in every possible way, and the largest ε counts
(``pairs.md``, section 6). All other mechanisms use a chain of k neighbours (``group_privacy.py``), whose links have the
certified profile of one record. A search with estimates splits ε into links; the profile is then certified at those
points.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.exact import ExactLike, positive_integer
from dpbounds.expressions.working import OUTER_PRECISION, working
from dpbounds.privacy.accountants.certified import account_at, prove_delta, prove_epsilon
from dpbounds.privacy.accountants.pure import pure_epsilon
from dpbounds.privacy.accountants.questions import DEFAULT_TOLERANCE
from dpbounds.privacy.domination.composition import NeighbourClasses, neighbour_classes
from dpbounds.privacy.mechanisms import (
    Composed,
    Gaussian,
    InParallel,
    Mechanism,
    PoissonSampled,
    SampledWithoutReplacement,
    SampledWithReplacement,
    parts_of,
)
from dpbounds.privacy.mechanisms.bounds import blocks_of, grouped, single_pair
from dpbounds.privacy.notions.group_privacy import Chain, Link
from dpbounds.privacy.pairs.gaussian import together
from dpbounds.privacy.pairs.pairs import (
    Direction,
    Pair,
    Product,
    Sampled,
    ShiftedGaussians,
    ShiftedLaplaces,
    as_gaussian,
    holds_allocation,
)
from dpbounds.privacy.relations import Order, Relation, as_relation
from dpbounds.privacy.routes.closed_forms import ball, closed_form_delta, has_closed_form
from dpbounds.privacy.routes.combined import resolved
from dpbounds.privacy.routes.contour.estimate import quick_log_delta
from dpbounds.privacy.routes.lattice import estimated_profile
from dpbounds.privacy.values import Target

_MOST_WAYS = 64  # largest number of ways in which a group lies in blocks; each needs an account of its own
_POINTS = 28  # largest number of points of a profile that are certified along one chain
_PRECISION = 160
_TOLERANCE = 1e-2  # relative, of δ at a point and of the lower bound (the ε of one record): a chain loses more
_SEARCH_TOLERANCE = 1e-5  # relative, of ε along the chain
_DEEPEST, _LEAST_LOG = -500.0, -700.0  # least log δ of an estimate; anything smaller counts as 0
_FIRST_NODE, _NODES_PER_DOUBLING = 2.0**-20, 16  # nodes of the estimates in ε: 0, and a geometric sequence
_STEEP = 3.0  # largest decrease of log δ between two nodes that is interpolated linearly
_ROUNDS, _ENOUGH = 6, 0.99  # rounds of the search for ε; share of δ that a found ε has to use
_LEAP = Fraction(2) ** 100  # largest growth of the δ aimed at from one round to the next
# factors of the number of parts, tried if no round succeeded with fewer
_GROWTHS = (Fraction(11, 10), Fraction(3, 2), Fraction(4))


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

    Arguments and errors as for :func:`dpbounds.privacy.accountants.certified.account`, which is the case of a group of
    1. Publish the upper bound. The lower bound is that of one record, or of a known attack by the group, unless the
    analysis is tight. Under add-or-remove-one, a ``dataset_size`` includes the group.

    Raises:
        UnsupportedMechanism: Also if no whole batch is left without the group.

    >>> from dpbounds.privacy.mechanisms import Gaussian
    >>> group_account(Gaussian(15), 3, delta="1e-5").contains("0.72552175085779582692")  # as Gaussian(5) for one
    True
    """
    k, neighbours = positive_integer(group_size, "group_size"), as_relation(relation)
    target = Target.of(delta, epsilon, pure=True)
    if k == 1:
        return account_at(mechanism, target, neighbours).enclosure
    neighbour_classes(mechanism, neighbours)  # refuses mechanisms without a proven pair
    if target.is_pure:
        return _purely(mechanism, neighbours, k)
    prove = prove_epsilon if target.for_epsilon else prove_delta
    attacks: tuple[Product, ...] = ()
    try:
        ways, exact = group_products(mechanism, neighbours, k)
    except UnsupportedMechanism:
        chains = _chains(neighbour_classes(with_fewest(mechanism, neighbours, k), neighbours), neighbours, k)
        if not target.for_epsilon and target.value == 0:  # the total variation, which has no direction
            chains = chains[:1]
        bounds = [chain.epsilon(target.value) if target.for_epsilon else chain.delta(target.value) for chain in chains]
        found = Enclosure(Fraction(0), max(bounds), "group privacy")
    else:
        found, *others = (prove(way, target.value, DEFAULT_TOLERANCE).enclosure for way in ways)
        for other in others:
            found = found.larger(other)
        if exact:
            return found
        attacks = _attacks(mechanism, ways)
    one = account_at(mechanism, target, neighbours, _TOLERANCE).enclosure  # ε of one record: the group spends no less
    ends = [prove(attack, target.value, _TOLERANCE).enclosure.exact_lower for attack in attacks]
    lower = max([one.exact_lower, *ends])
    return Enclosure(lower, max(lower, found.exact_upper), found.method, one.precision)


def _purely(mechanism: Mechanism, relation: Relation, k: int) -> Enclosure:
    """Enclose ε(0): the smaller of the bound by the group's own pairs and k times the ε of one record."""
    pure = Target("delta", Fraction(0))
    one = account_at(mechanism, pure, relation).enclosure  # ε of one record: the group spends no less
    found = account_at(with_fewest(mechanism, relation, k), pure, relation).enclosure * k
    try:
        ways, exact = group_products(mechanism, relation, k)
        together = [pure_epsilon(way).enclosure for way in ways]
    except UnsupportedMechanism:
        pass
    else:
        largest = max(together, key=lambda each: each.exact_upper)
        if exact:
            return largest
        found = min(found, largest, key=lambda each: each.exact_upper)
    return Enclosure(one.exact_lower, max(one.exact_lower, found.exact_upper), found.method, one.precision)


def group_products(mechanism: Mechanism, relation: Relation, k: int) -> tuple[tuple[Product, ...], bool]:
    """Return products, the worst of them dominating for a group of k records, and whether they are attained.

    Raises:
        UnsupportedMechanism: No such pair is proven for a part.
    """
    ways = tuple(dict.fromkeys(way for order in relation.orders for way in _grown(mechanism, order, k)))
    return ways, neighbour_classes(mechanism, relation).tight and all(map(_is_exact, ways))


def is_attained(mechanism: Mechanism, relation: Relation, k: int) -> bool:
    """Return whether some datasets spend the value of :func:`group_account`."""
    try:
        return group_products(mechanism, relation, k)[1]
    except UnsupportedMechanism:
        return False


# --- Dominating pairs for k records at once ---------------------------------------------------------------------------


def _grown(mechanism: Mechanism, order: Order, k: int) -> tuple[Product, ...]:
    """Return dominating products for a group that is removed, added or replaced, for each distribution to blocks.

    Raises:
        UnsupportedMechanism: For a part no such pair is proven, or there are too many ways.
    """
    if k == 0:
        return ((),)
    options: list[tuple[Product, ...]] = []
    for key, members in grouped(parts_of(mechanism)).items():
        if isinstance(key, InParallel):
            options.append(_shared_out(blocks_of(key, members), order, k))
        else:
            options += [
                (((part.group_pair(order, k) or single_pair(part, order).enlarged(k), count),),)
                for part, count in members
            ]
    return _dearest(together(itertools.chain.from_iterable(choice)) for choice in itertools.product(*options))


def _shared_out(partition: InParallel, order: Order, k: int) -> tuple[Product, ...]:
    """Return the products for all distributions of k records to the blocks.

    Replaced records may change blocks: k removals and k additions, 2k steps in all, are shared out then.
    """
    blocks = partition.blocks
    if order is Order.REPLACE and partition.partition == "record" and len(partition.blocks) > 1:
        order, k = Order.REMOVE, 2 * k
        if any(isinstance(part, PoissonSampled) for block in blocks for part, _ in parts_of(block)):
            raise UnsupportedMechanism("records that change blocks, of which samples are taken, are not one pair")
    blocks = tuple(
        block
        for index, block in enumerate(blocks)
        if block not in blocks[:index] or not _gathers(_grown(block, order, 1))
    )
    reached: list[tuple[Product, ...]] = [((),), *(() for _ in range(k))]
    for block in blocks:
        grown = [_grown(block, order, j) for j in range(k + 1)]
        reached = [
            _dearest(
                together(before + more)
                for j in range(used + 1)
                for before, more in itertools.product(reached[used - j], grown[j])
            )
            for used in range(k + 1)
        ]
    return reached[k]


def _gathers(products: Sequence[Product]) -> bool:
    """Return whether, of equal blocks, one that holds all the records spends the most: proven for these pairs."""
    bases = [pair.base if isinstance(pair, Sampled) else pair for product in products for pair, _ in product]
    return all(base.gathers for base in bases)


def _dearest(products: Iterable[Product]) -> tuple[Product, ...]:
    """Return the products that are not dominated by another one for a simple reason."""
    kept: list[Product] = []
    for product in products:
        if not any(_is_at_least(other, product) for other in kept):
            kept = [*(other for other in kept if not _is_at_least(product, other)), product]
        if len(kept) > _MOST_WAYS:
            raise UnsupportedMechanism(f"the group can lie in blocks in more than {_MOST_WAYS} ways")
    return tuple(kept)


def _is_at_least(one: Product, other: Product) -> bool:
    """Return whether one product dominates the other: no smaller shifts of Gaussians and Laplaces, all else equal."""
    gaussian, laplace, rest = _sorted_out(one)
    other_gaussian, other_laplace, other_rest = _sorted_out(other)
    shifts = sum(shift * count for shift, count in other_laplace.items())
    return (
        gaussian >= other_gaussian
        and rest == other_rest
        and (laplace == other_laplace or (laplace.total() == 1 and max(laplace) >= shifts))
    )


def _sorted_out(product: Product) -> tuple[Fraction, Counter[Fraction], dict[Pair, int]]:
    gaussian, laplace, rest = Fraction(0), Counter[Fraction](), dict[Pair, int]()
    for pair, count in product:
        match pair:
            case ShiftedGaussians(squared_shift=squared):
                gaussian += count * squared
            case ShiftedLaplaces(shift=shift):
                laplace[shift] += count
            case _:
                rest[pair] = count
    return gaussian, laplace, rest


def _is_exact(product: Product) -> bool:
    """Return whether the enlarged pairs are attained: Gaussian, Laplace and ball noise."""
    return all(pair.enlarges_exactly for pair, _ in product)


def _attacks(mechanism: Mechanism, ways: Iterable[Product]) -> tuple[Product, ...]:
    """Return attacks on replaced records in fixed-size batches: all other records act like those in their places."""
    drawn = Gaussian | SampledWithReplacement | SampledWithoutReplacement
    if not all(isinstance(part, drawn) for part, _ in parts_of(mechanism)):
        return ()

    return tuple(
        tuple((pair.attack(way) or pair, count) for pair, count in product)
        for product in ways
        for way in (Direction.REMOVE, Direction.ADD)
        if any(pair.attack(way) is not None for pair, _ in product)
    )


# --- Chains of k neighbours -------------------------------------------------------------------------------------------


def _chains(classes: NeighbourClasses, relation: Relation, k: int) -> tuple[_GroupChain, ...]:
    """Return the chains of k removals and of k additions, or of k replacements.

    Records of a group may lie in different blocks: each link has the largest profile of its direction.
    """
    products = {order: tuple(each.product for each in classes.along(order)) for order in relation.orders}
    if len({frozenset(some) for some in products.values()}) == 1:  # both orders spend the same
        (same, *_) = products.values()
        return (_GroupChain(same, same, k),)
    leaving, joining = products.values()
    return _GroupChain(leaving, joining, k), _GroupChain(joining, leaving, k)


def with_fewest(mechanism: Mechanism, relation: Relation, k: int) -> Mechanism:
    """Return the mechanism at the last link: k - 1 of n records are gone, and samples spend more then.

    Raises:
        UnsupportedMechanism: Nothing is left to draw from.
    """
    if relation is not Relation.ADD_OR_REMOVE_ONE:
        return mechanism
    return Composed(tuple((part.at_last_removal(k), count) for part, count in parts_of(mechanism)))


@dataclass(frozen=True, slots=True)
class _GroupChain:
    """A chain of k equal links.

    Attributes:
        forward: Products, one of which dominates each link.
        backward: The same for the links' reversals.
        k: The number of links.
    """

    forward: tuple[Product, ...]
    backward: tuple[Product, ...]
    k: int

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return a proven upper bound on δ_k(ε)."""
        search = self._estimated()
        parts = search.best(epsilon)
        return self._proven(parts) if search.upper(parts) < 1 else Fraction(1)  # 1 needs no proof

    def epsilon(self, delta: Fraction) -> Fraction:
        """Return a proven upper bound on ε_k(δ).

        Raises:
            NotCertified: None was found.
        """
        search, aim, best = self._estimated(), delta, None
        for _ in range(_ROUNDS):
            parts = search.parts_for(aim, _SEARCH_TOLERANCE)
            found = self._proven(parts)
            if found <= delta and (best is None or sum(parts) < best):
                best = sum(parts, Fraction(0))
            if _ENOUGH * delta <= found <= delta or (found <= delta and best == 0) or found >= 1:
                break
            short = min(delta / found, _LEAP) if found else _LEAP  # where proofs and estimates differ
            aim *= Fraction(float(short)) * (1 + Fraction(_ENOUGH)) / 2
        for growth in _GROWTHS:  # where estimates mislead
            if best is not None:
                break
            longer = [growth * part for part in parts]
            best = sum(longer, Fraction(0)) if self._proven(longer) <= delta else None
        if best is None:
            raise NotCertified(
                f"no ε was proven to suffice for {self.k} records at δ = {float(delta):.3g}; ask for fewer records or "
                "a larger δ, or for the mechanism without sampling, which spends no less"
            )
        return best

    def _estimated(self) -> Chain:
        forward = _estimate(self.forward)
        backward = forward if self.backward == self.forward else _estimate(self.backward)
        return Chain((Link(forward, backward),) * self.k)

    def _proven(self, parts: Sequence[Fraction]) -> Fraction:
        """Return the chain's bound at a split of ε, with certified profiles."""
        forward = ChordCurve.of(self.forward, [part for part in parts if part >= 0])
        backward = ChordCurve.of(self.backward, [-part for part in parts if part < 0])
        return Chain((Link(forward, backward),) * self.k).upper(parts)


def _estimate(products: Sequence[Product]) -> Callable[[Fraction], Fraction]:
    """Estimate the largest of the products' profiles: evaluated near the argument, interpolated in between."""
    profiles = [_estimated_log_delta(resolved(product)) for product in products]

    @cache
    def at_node(index: int) -> float:
        return max(profile(_node(index)) for profile in profiles)

    def at(epsilon: Fraction) -> Fraction:
        right = max(1, math.ceil(_NODES_PER_DOUBLING * math.log2(max(float(epsilon) / _FIRST_NODE, 1.0))) + 1)
        low, high = at_node(right - 1), at_node(right)
        share = (float(epsilon) - _node(right - 1)) / (_node(right) - _node(right - 1))
        if low - high < _STEEP:
            log_delta = low + share * (high - low)
        else:  # where the loss ends: the chord
            log_delta = low + math.log1p(-share) if share < 1 else high
        return Fraction(math.exp(min(0.0, log_delta))) if log_delta > _LEAST_LOG else Fraction(0)

    return at


def _node(index: int) -> float:
    return _FIRST_NODE * 2 ** ((index - 1) / _NODES_PER_DOUBLING) if index else 0.0


def _estimated_log_delta(product: Product) -> Callable[[float], float]:
    if holds_allocation(product):
        from dpbounds.privacy.routes.allocation.engine import rough

        product = rough(product)
    if has_closed_form(product):
        ((pair, _),) = product

        def closed(epsilon: float) -> float:
            with working(_PRECISION):
                middle = closed_form_delta(pair, Fraction(epsilon), 30)[0].mid()
                return float(middle.log().mid()) if middle > 0 else -math.inf

        return closed
    gaussian = as_gaussian(product)
    if gaussian is not None:
        return lambda epsilon: quick_log_delta(gaussian, epsilon, False)
    return estimated_profile(product, _DEEPEST)


@dataclass(frozen=True, slots=True)
class ChordCurve:
    """An upper bound on δ(ε) for every ε >= 0, from certified values at some points.

    δ is a convex function of e^ε, so that it lies below the chord between two certified upper bounds; beyond the last
    point it is at most the value there, before the first at most 1.

    Attributes:
        points: Increasing ε >= 0.
        uppers: Certified upper bounds there.
    """

    points: tuple[Fraction, ...]
    uppers: tuple[Fraction, ...]

    @classmethod
    def of(cls, products: Sequence[Product], wanted: Sequence[Fraction]) -> ChordCurve:
        """Return the largest of the products' profiles, certified at given points, or at evenly spaced ones."""
        points = sorted(set(wanted))
        if len(points) > _POINTS:
            low, high = points[0], points[-1]
            points = [low + (high - low) * i / (_POINTS - 1) for i in range(_POINTS)]
        return cls(
            tuple(points),
            tuple(
                max(Fraction(prove_delta(product, e, _TOLERANCE).enclosure.exact_upper) for product in products)
                for e in points
            ),
        )

    def __call__(self, epsilon: Fraction) -> Fraction:
        """Return the bound at ε >= 0, rounded up."""
        right = bisect_right(self.points, epsilon)
        if right == 0:
            return Fraction(1)
        if right == len(self.points) or self.points[right - 1] == epsilon:
            return self.uppers[right - 1]
        (a, b), (low, high) = self.points[right - 1 : right + 1], self.uppers[right - 1 : right + 1]
        if low < high:
            return high
        with working(_PRECISION):
            weight = ball(epsilon - a).expm1() / ball(b - a).expm1()  # in [0, 1], and so is its upper bound
            return min(low, ball_end(ball(low) + weight * ball(high - low), "up"))
