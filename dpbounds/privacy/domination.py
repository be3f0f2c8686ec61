"""Which mechanism is dominated by which pairs, under which relation; and which pairs an actual attack attains.

For every class of ordered neighbours there is one product of pairs that dominates the mechanism, and there are products
that some mechanism of the description, on some two data sets of the class, attains. Where the two are the same the
analysis is *tight*: what it proves is exactly what is spent. What has no proven pair is refused with
``UnsupportedMechanism``, which names what is missing and what could be asked instead.

The proofs are in ``pairs.md``, ``laws.md`` and ``sampling.md``, whose section 9 says for each attack which data sets
attain it; the brute-force oracle of the tests tries to refute every line.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpbounds.errors import UnsupportedMechanism
from dpbounds.privacy.mechanisms import (
    ZCDP,
    AboveThreshold,
    ApproximateDP,
    Composed,
    ExponentialMechanism,
    Gaussian,
    InParallel,
    Laplace,
    Mechanism,
    PoissonSampled,
    PureDP,
    RandomizedResponse,
    RenyiDP,
    SampledWithoutReplacement,
    SampledWithReplacement,
    UniformBall,
    parts_of,
)
from dpbounds.privacy.pairs import (
    BoundedRange,
    Combined,
    DrawnGaussians,
    Draws,
    FourPoints,
    Order,
    Pair,
    Product,
    RenyiCurve,
    Responses,
    Sampled,
    SampledBalls,
    SampledGaussians,
    SampledLaplaces,
    ShiftedGaussians,
    ShiftedLaplaces,
    TwoGuarantees,
    TwoPoints,
    UniformBalls,
    enlarged,
)
from dpbounds.privacy.relations import Relation

_MOST_CLASSES = 64  # of blocks that a record may lie in
_TWO_POINT_ATTACKS = (Fraction(1, 2), Fraction(5, 8), Fraction(3, 4))  # of the range; the best depends on ε


@dataclass(frozen=True, slots=True)
class NeighbourClass:
    """What is proven about one class of ordered neighbours.

    Attributes:
        name: "remove", "add", "replace", or "both orders" where they spend the same; with the blocks, if there are any.
        product: Dominates the mechanism for this class.
        attacks: Products, each attained by some mechanism of this description and two data sets of this class (or by
            what remains after leaving out some of the outputs). Empty where none is known.
    """

    name: str
    product: Product
    attacks: tuple[Product, ...]

    @property
    def tight(self) -> bool:
        """Whether the dominating product is itself attained."""
        return self.product in self.attacks


@dataclass(frozen=True, slots=True)
class _Bound:
    """One step: the pair that dominates it, and pairs that attacks attain.

    ``only_once``: in a single step, not in a composition, the dominating pair itself is attained at every ε.
    """

    pair: Pair
    attacks: tuple[Pair, ...]
    only_once: bool = False

    @classmethod
    def attained(cls, pair: Pair) -> _Bound:
        return cls(pair, (pair,))


_Steps = tuple[tuple[_Bound, int], ...]  # of one class


def dominating_products(mechanism: Mechanism, relation: Relation) -> tuple[Product, ...]:
    """Return one product of pairs per class of ordered neighbours; the curve is at most the maximum of theirs.

    Full-batch Gaussian parts are merged into one ``ShiftedGaussians``, equal parts are counted together, and an order
    whose curve is the mirror image of another's is left out.

    Raises:
        UnsupportedMechanism: A part has no proven pair under this relation.
    """
    return tuple(neighbours.product for neighbours in neighbour_classes(mechanism, relation))


def neighbour_classes(mechanism: Mechanism, relation: Relation) -> tuple[NeighbourClass, ...]:
    """Return, per class of ordered neighbours, the dominating product and products that are attained.

    Raises:
        UnsupportedMechanism: A part has no proven pair under this relation.
    """
    orders = (Order.REMOVE, Order.ADD) if relation is Relation.ADD_OR_REMOVE_ONE else (Order.REPLACE,)
    found: dict[Product, NeighbourClass] = {}
    for order in orders:
        choices = _classes(mechanism, order)
        for index, steps in enumerate(choices):
            product = _product((bound.pair, count) for bound, count in steps)
            name = str(order) if len(choices) == 1 else f"{order}, blocks {index + 1} of {len(choices)}"
            if product in found or all(isinstance(pair, ShiftedGaussians) for pair, _ in product):
                name = name.replace(str(order), "both orders")
            found[product] = NeighbourClass(name, product, _attacks(steps, product))
    return tuple(found.values())


def _attacks(steps: _Steps, product: Product) -> tuple[Product, ...]:
    if all(bound.attacks == (bound.pair,) for bound, _ in steps):
        return (product,)
    alone = len(steps) == 1 and steps[0][1] == 1
    if alone and steps[0][0].only_once:
        return (product,)
    most = max(len(bound.attacks) for bound, _ in steps)
    options = [
        _product(
            (bound.attacks[min(index, len(bound.attacks) - 1)], count) for bound, count in steps if bound.attacks
        )  # leaving out the outputs of a step is post-processing
        for index in range(most)
    ]
    return tuple(dict.fromkeys(option for option in options if option))


def _product(parts: Iterable[tuple[Pair, int]]) -> Product:
    """Merge what is one Gaussian, count equal pairs together."""
    squared_shift = Fraction(0)
    counts: Counter[Pair] = Counter()
    for pair, count in parts:
        if isinstance(pair, ShiftedGaussians):
            squared_shift += count * pair.squared_shift
        elif isinstance(pair, Combined):
            for inner, times in pair.product:
                counts[inner] += times * count
        else:
            counts[pair] += count
    merged: Product = ((ShiftedGaussians(squared_shift), 1),) if squared_shift else ()
    return merged + tuple(counts.items())


def _as_pair(product: Product) -> Pair:
    (pair, count), *others = product
    return pair if count == 1 and not others else Combined(product)


# --- One class at a time ----------------------------------------------------------------------------------------------


def _classes(mechanism: Mechanism, order: Order) -> list[_Steps]:
    """The classes of ordered neighbours: one, unless blocks of a partition tell where the record may lie."""
    match mechanism:
        case Composed(parts=parts):
            return _composed(parts, order)
        case InParallel():
            return _in_parallel(mechanism, order)
        case PoissonSampled(mechanism=PoissonSampled(mechanism=inner, sample_rate=first), sample_rate=second):
            return _classes(PoissonSampled(inner, first * second), order)
        case PoissonSampled(mechanism=inner, sample_rate=rate) if rate == 1:
            return _classes(inner, order)
        case PoissonSampled():
            return [((bound, 1),) for bound in _poisson(mechanism, order)]
        case SampledWithoutReplacement():
            return _without_replacement(mechanism, order)
        case SampledWithReplacement():
            return _with_replacement(mechanism, order)
    return [((_full_batch(mechanism, order), 1),)]


def _composed(parts: Sequence[tuple[Mechanism, int]], order: Order) -> list[_Steps]:
    # A mechanism that occurs several times sees the same partition each time: the record stays in its block.
    counts: Counter[Mechanism] = Counter()
    for mechanism, count in parts:
        counts[mechanism] += count
    options = [
        [tuple((bound, times * count) for bound, times in steps) for steps in _classes(mechanism, order)]
        for mechanism, count in counts.items()
    ]
    return [sum(choice, ()) for choice in _bounded_product(options)]


def _bounded_product(options: Sequence[Sequence[_Steps]]) -> list[tuple[_Steps, ...]]:
    number = 1
    for some in options:
        number *= len(some)
    if number > _MOST_CLASSES:
        raise UnsupportedMechanism(
            f"{number} ways in which a record can lie in blocks are too many (at most {_MOST_CLASSES}): use one "
            "partition throughout (the same InParallel object counts once), or bound a partition by its worst block"
        )
    return list(itertools.product(*options))


def _in_parallel(mechanism: InParallel, order: Order) -> list[_Steps]:
    if mechanism.partition == "index" and order is not Order.REPLACE:
        raise UnsupportedMechanism(
            "blocks by position under add-or-remove-one: removing one record shifts all later ones into other blocks; "
            "partition by the record's content, or ask under replace-one"
        )
    if mechanism.partition == "record":
        for block in mechanism.blocks:
            if _has_fixed_size(block):
                raise UnsupportedMechanism(
                    "fixed-size samples inside a block whose size depends on the data: the rate is not public; use "
                    "Poisson samples inside the blocks, or blocks by index"
                )
    same = [steps for block in mechanism.blocks for steps in _classes(block, order)]
    if order is not Order.REPLACE or mechanism.partition == "index":
        return list(dict.fromkeys(same))
    crossing = [
        leaving + entering
        for first, second in itertools.permutations(mechanism.blocks, 2)
        for leaving in _classes(first, Order.REMOVE)
        for entering in _classes(second, Order.ADD)
    ]
    return list(dict.fromkeys([*same, *crossing]))


def _has_fixed_size(mechanism: Mechanism) -> bool:
    match mechanism:
        case SampledWithoutReplacement() | SampledWithReplacement():
            return True
        case PoissonSampled(mechanism=inner):
            return _has_fixed_size(inner)
        case InParallel(blocks=blocks):
            return any(map(_has_fixed_size, blocks))
        case Composed(parts=parts):
            return any(_has_fixed_size(part) for part, _ in parts)
    return False


def _bases(mechanism: Mechanism, order: Order) -> list[tuple[Pair, tuple[Pair, ...]]]:
    """What runs on a sample, per class: the pair that dominates it, and pairs that are attained."""
    found = []
    for steps in _classes(mechanism, order):
        product = _product((bound.pair, count) for bound, count in steps)
        attained = [pair for attack in _attacks(steps, product) for pair in _one_of(attack)]
        found.append((_as_pair(product), tuple(dict.fromkeys(attained))))
    return found


def _one_of(product: Product) -> tuple[Pair, ...]:
    """An attained product as single pairs that are attained: itself, or each of its parts, the others left out."""
    return tuple(pair for pair, _ in product)


# --- Full batch -------------------------------------------------------------------------------------------------------


def _full_batch(mechanism: Mechanism, order: Order) -> _Bound:
    replace = order is Order.REPLACE
    match mechanism:
        case Gaussian():
            return _Bound.attained(ShiftedGaussians(_gaussian_shift(mechanism, replace) ** 2))
        case Laplace():
            return _Bound.attained(ShiftedLaplaces(_laplace_shift(mechanism, replace)))
        case UniformBall():
            return _Bound.attained(UniformBalls(_ball_shift(mechanism, replace) ** 2, mechanism.dimension))
        case RandomizedResponse():
            if not replace:
                raise UnsupportedMechanism(
                    "randomised response publishes one answer per record, and so the number of records: it is private "
                    "under replace-one only; ask with relation='replace-one'"
                )
            return _Bound.attained(Responses(mechanism.epsilon, mechanism.options))
        case ExponentialMechanism():
            span = mechanism.loss_range * _times(mechanism, mechanism.relation, replace)
            two_points = tuple(TwoPoints(share * span, span) for share in _TWO_POINT_ATTACKS)
            return _Bound(BoundedRange(span), two_points)
        case AboveThreshold():
            times = _times(mechanism, mechanism.relation, replace)
            return _Bound(Responses(mechanism.epsilon * times), ())
        case PureDP() | ApproximateDP() | ZCDP() | RenyiDP():
            return _black_box(mechanism, replace)
    raise UnsupportedMechanism(f"no dominating pair is proven here for {mechanism!r} ({order})")


def _gaussian_shift(mechanism: Gaussian, replace: bool) -> Fraction:
    if mechanism.noise_multiplier is not None:
        return (2 if replace else 1) / mechanism.noise_multiplier
    assert mechanism.noise_stddev is not None
    assert mechanism.sensitivity is not None
    return mechanism.sensitivity / mechanism.noise_stddev


def _laplace_shift(mechanism: Laplace, replace: bool) -> Fraction:
    if mechanism.noise_multiplier is not None:
        return (2 if replace else 1) / mechanism.noise_multiplier
    assert mechanism.noise_scale is not None
    assert mechanism.sensitivity is not None
    return mechanism.sensitivity / mechanism.noise_scale


def _ball_shift(mechanism: UniformBall, replace: bool) -> Fraction:
    if mechanism.sensitivity is None:
        return (2 if replace else 1) / mechanism.radius
    return mechanism.sensitivity / mechanism.radius


def _times(mechanism: Mechanism, declared: Relation, replace: bool) -> int:
    """How many steps of the declared relation one step of the relation asked for takes: 1, or 2 (remove, then add)."""
    if declared is Relation.REPLACE_ONE and not replace:
        raise UnsupportedMechanism(
            f"{mechanism!r} is private under replace-one, which says nothing about adding or removing a record (it may "
            "publish how many there are): establish the guarantee under add-or-remove-one, or ask under replace-one"
        )
    return 2 if replace and declared is Relation.ADD_OR_REMOVE_ONE else 1


def _black_box(mechanism: PureDP | ApproximateDP | ZCDP | RenyiDP, replace: bool) -> _Bound:
    times = _times(mechanism, mechanism.relation, replace)
    pair: Pair
    instance: Pair
    match mechanism:
        case PureDP(epsilon=epsilon):
            pair = instance = Responses(epsilon)
        case ApproximateDP(epsilon=epsilon, delta=delta):
            pair = instance = FourPoints(epsilon, delta)
        case ZCDP(rho=rho):
            pair, instance = RenyiCurve((), rho), ShiftedGaussians(2 * rho * times**2)
        case RenyiDP(points=points):
            if times > 1:
                raise UnsupportedMechanism(
                    "a Rényi guarantee under add-or-remove-one gives none here under replace-one (the triangle "
                    "inequality of Rényi divergences changes the orders): declare it under replace-one, or use ZCDP"
                )
            pair = RenyiCurve(points)
            least = min(value / order for order, value in points)
            return _Bound(pair, (ShiftedGaussians(2 * least),) if least > 0 else ())
    if isinstance(mechanism, PureDP | ApproximateDP) and times == 1:
        return _Bound.attained(pair)
    return _Bound(pair if times == 1 else enlarged(pair, times), (instance,))


# --- Samples ----------------------------------------------------------------------------------------------------------


def _poisson(mechanism: PoissonSampled, order: Order) -> list[_Bound]:
    rate, inner = mechanism.sample_rate, mechanism.mechanism
    if order is Order.REPLACE:
        return _poisson_replace(inner, rate)
    found = []
    for base, attained in _bases(inner, Order.REMOVE):
        found.append(
            _Bound(_sampled(order, Draws(rate), base), tuple(_sampled(order, Draws(rate), pair) for pair in attained))
        )
    return found


def _sampled(order: Order, draws: Draws, base: Pair) -> Pair:
    """The mixture ((1-q)Q + qP, Q) of a base pair, or its mirror image."""
    if isinstance(base, ShiftedGaussians):
        return SampledGaussians(order, draws.rate, 1 / base.squared_shift)
    return Sampled(order, draws, base)


def _poisson_replace(inner: Mechanism, rate: Fraction) -> list[_Bound]:
    (only, count), *others = parts_of(inner)
    alone = count == 1 and not others
    match only:
        case Gaussian(noise_multiplier=multiplier) if alone and multiplier is not None:
            return [_Bound.attained(SampledGaussians(Order.REPLACE, rate, multiplier**2))]
        case Laplace(noise_multiplier=multiplier, dimension=dimension) if alone and multiplier is not None:
            tight = SampledLaplaces(rate, 1 / multiplier)
            if dimension == 1:
                return [_Bound.attained(tight)]
            return [
                _Bound(TwoGuarantees(rate, ShiftedLaplaces(1 / multiplier), ShiftedLaplaces(2 / multiplier)), (tight,))
            ]
        case UniformBall(radius=radius, dimension=dimension, sensitivity=None) if alone:
            return [_Bound.attained(SampledBalls(rate, 1 / radius**2, dimension))]
        case Gaussian() | Laplace() | UniformBall() if alone:
            raise UnsupportedMechanism(
                f"a Poisson-sampled {type(only).__name__} under replace-one needs the per-record bound C, of which the "
                "distance between two answers says too little: give the noise per unit of C (noise_multiplier, or "
                "radius) instead of a sensitivity"
            )
    _demand_presence(inner)
    bounds = []
    for (present, attained), (replaced, _) in itertools.product(
        _bases(inner, Order.REMOVE), _bases(inner, Order.REPLACE)
    ):
        attacks = tuple(_sampled(Order.REMOVE, Draws(rate), pair) for pair in attained)
        bounds.append(_Bound(TwoGuarantees(rate, present, replaced), attacks))
    return bounds


def _demand_presence(inner: Mechanism) -> None:
    """A Poisson sample may hold the record or not, whatever the relation: presence must be covered, too."""
    for part, _ in parts_of(inner):
        declared = getattr(part, "relation", None)
        if declared is Relation.REPLACE_ONE or isinstance(part, RandomizedResponse):
            raise UnsupportedMechanism(
                f"{part!r} on a Poisson sample needs a guarantee under add-or-remove-one even where the question is "
                "about replace-one: one sample holds the record and another does not; declare it under "
                "add-or-remove-one, or sample a fixed number of records without replacement"
            )


def _without_replacement(mechanism: SampledWithoutReplacement, order: Order) -> list[_Steps]:
    b, n, inner = mechanism.batch_size, mechanism.dataset_size, mechanism.mechanism
    _demand_final_distances_make_sense(inner, order)
    rate = Fraction(b, n)
    if order is Order.REPLACE:
        if rate == 1:
            return _classes(inner, order)
        base, attained = _one_base(inner)
        tight = attained == (base,)
        attacks = tuple(
            _sampled(direction, Draws(rate), pair) for direction in (Order.REMOVE, Order.ADD) for pair in attained
        )
        return [((_Bound(Sampled(order, Draws(rate), base), attacks, only_once=tight), 1),)]
    _demand_room(b, n, "batch_size")
    base, attained = _one_base(inner)
    attacks = tuple(_sampled(order, Draws(rate), pair) for pair in attained)
    return [((_Bound(_sampled(order, Draws(rate), base), attacks), 1),)]


def _with_replacement(mechanism: SampledWithReplacement, order: Order) -> list[_Steps]:
    b, n, inner = mechanism.batch_size, mechanism.dataset_size, mechanism.mechanism
    if b == 1:
        return _without_replacement(SampledWithoutReplacement(inner, 1, n), order)
    _demand_final_distances_make_sense(inner, order)
    base, _ = _one_base(inner)
    enlarged(base, 2)  # refuses what has no proven pair for a record that is drawn several times
    draws = Draws(Fraction(1, n), b)
    if order is not Order.REPLACE:
        _demand_room(1, n, "dataset_size")
        if isinstance(base, ShiftedGaussians) and isinstance(inner, Gaussian):  # not several, chosen one by one
            return [((_Bound.attained(DrawnGaussians(order, draws, base.squared_shift)), 1),)]
        return [((_Bound(Sampled(order, draws, base), ()), 1),)]
    attacks: tuple[Pair, ...] = ()
    if isinstance(base, ShiftedGaussians) and n > 1:
        attacks = tuple(DrawnGaussians(way, draws, base.squared_shift) for way in (Order.REMOVE, Order.ADD))
    return [((_Bound(Sampled(order, draws, base), attacks), 1),)]


def _one_base(inner: Mechanism) -> tuple[Pair, tuple[Pair, ...]]:
    bases = _bases(inner, Order.REPLACE)
    if len(bases) > 1:
        raise UnsupportedMechanism(
            "a fixed-size sample of a mechanism that runs in parallel on blocks has no proven pair here: sample inside "
            "the blocks with Poisson sampling, or run the blocks one after the other"
        )
    return bases[0]


def _demand_room(b: int, n: int, name: str) -> None:
    if b >= n:
        raise UnsupportedMechanism(
            f"{name}: under add-or-remove-one the smaller of two neighbours must still hold a whole batch of {b}, and "
            f"dataset_size {n} (a lower bound on the larger one) does not promise that; take a smaller batch"
        )


def _demand_final_distances_make_sense(inner: Mechanism, order: Order) -> None:
    for part, _ in parts_of(inner):
        if order is not Order.REPLACE and getattr(part, "sensitivity", None) is not None:
            raise UnsupportedMechanism(
                f"a fixed-size sample under add-or-remove-one swaps one record of the batch for another, so that the "
                f"final distance given for {type(part).__name__} is not the one that counts: give the noise per unit "
                "of the per-record bound (noise_multiplier, or radius) instead"
            )
