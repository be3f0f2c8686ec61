"""Noise on whole numbers, mixtures of Gaussians and permute-and-flip, against brute force from their definitions."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import mpmath
import numpy as np
import pytest

import dpbounds as dp
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import account
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.mechanisms import Mechanism
from dpbounds.privacy.pairs.losses import ball, law_of
from dpbounds.privacy.pairs.pairs import Direction, MixedGaussians, Pair, ShiftedDiscreteGaussians, TwoPoints
from dpbounds.privacy.pairs.whole_numbers import discrete_gaussian_masses
from dpbounds.privacy.relations import Order as PairOrder, Relation
from dpbounds.privacy.renyi.moments import log_moment
from tests.privacy.oracle.attacks import attacks, attained, played
from tests.privacy.oracle.games import Grid, game, losses
from tests.privacy.oracle.noise import Additive, Array, GaussianNoise, Sum, Table, divergence
from tests.privacy.oracle.samplings import (
    Full,
    Order,
    Poisson,
    Sampling,
    WithoutReplacement,
    WithReplacement,
    multisets,
    neighbours,
)
from tests.privacy.products import curve_of, sampled, the_class

AR, RE, ZO = Relation
ALPHAS = np.exp(np.linspace(-3, 3, 41))
GRID = Grid(0.02, 400, 800)
SHOWN = GRID.between(-2.5, 2.5)
ROUNDING = 1e-12
WITH_CHANCE = {0: Fraction(1, 2), 1: Fraction(3, 10), 2: Fraction(1, 5)}  # norms of a mixture


def curve(mechanism: Mechanism, order: Order) -> Array:
    """H_α of what dominates one release."""
    ((pair, count),) = the_class(mechanism, order).product
    if count == 1:
        return curve_of(pair, ALPHAS)
    several = reduce(lambda one, other: tuple(map(np.multiply.outer, one, other)), [as_table(pair)] * count)
    first, second = (side.ravel() for side in several)
    return np.asarray(divergence((first, second), ALPHAS))


def as_table(pair: Pair) -> Table:
    """The outcomes of a pair of finitely many losses."""
    with working(120):
        law = law_of(pair)
        assert law.discrete
        first = [*(point.p for point in law.points), law.infinite.upper(), 0]
        second = [*(point.r for point in law.points), 0, law.vanishing.upper()]
    return np.array([float(mass) for mass in first]), np.array([float(mass) for mass in second])


# --- Noise on whole numbers -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WholeNoise:
    """Noise on the whole numbers with these log weights, |x| <= reach, in each coordinate."""

    scale: float
    power: int  # 1: e^-|x|/scale; 2: e^-x²/2 scale²
    reach: int = 60

    def _weights(self) -> Array:
        x = np.abs(np.arange(-self.reach, self.reach + 1, dtype=float))
        weights = np.exp(-x / self.scale if self.power == 1 else -((x / self.scale) ** 2) / 2)
        return np.asarray(weights / weights.sum())

    def table(self, first: Sum, second: Sum, width: float) -> Table:
        return self._masses(first), self._masses(second)

    def _masses(self, law: Sum) -> Array:
        most, noise = 8, self._weights()  # answers lie in [-8, 8]
        total = np.zeros((2 * (self.reach + most) + 1,) * law.values.shape[1])
        for weight, value in zip(law.weights, law.values.round().astype(int), strict=True):
            along = []
            for at in value:
                line = np.zeros(total.shape[0])
                line[most + at : most + at + len(noise)] = noise
                along.append(line)
            total += weight * (along[0] if len(along) == 1 else np.outer(*along))
        return total.ravel()


SCHEMES: list[tuple[Sampling, int]] = [
    (Full(), 2),
    (Poisson(0.3), 2),
    (WithoutReplacement(1), 2),
    (WithoutReplacement(2), 3),
    (WithReplacement(2), 2),
]
LINE = [(float(x),) for x in (-1, 0, 1)]
NOISES: dict[str, tuple[Mechanism, WholeNoise]] = {
    "laplace": (dp.DiscreteLaplace("1.5"), WholeNoise(1.5, 1)),
    "gaussian": (dp.DiscreteGaussian("0.8", dimension=1), WholeNoise(0.8, 2)),
    "wide gaussian": (dp.DiscreteGaussian(2, dimension=1), WholeNoise(2.0, 2)),
}


@pytest.mark.seconds_cases(
    "gaussian-WithoutReplacement(batch=2)-3-zero", "wide gaussian-WithoutReplacement(batch=1)-2-restore"
)
@pytest.mark.one_in(8)
@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize(("sampling", "size"), SCHEMES, ids=str)
@pytest.mark.parametrize("name", NOISES)
def test_whole_numbers_on_the_line(name: str, sampling: Sampling, size: int, order: Order) -> None:
    mechanism, noise = NOISES[name]
    if isinstance(sampling, WithReplacement) and name != "laplace":
        noise = WholeNoise(noise.scale, noise.power, 40)
    pairs = list(neighbours(order, multisets(LINE, [size - 1]), LINE))
    tables = list(attacks(Additive(noise), sampling, pairs))
    found = the_class(sampled(mechanism, sampling, size), order)
    claimed = curve(sampled(mechanism, sampling, size), order)
    over = attained(tables, ALPHAS) - claimed
    assert over.max() < ROUNDING
    if found.tight:
        assert over.min() > -1e-9
    for attack in found.attacks:
        ((pair, _),) = attack
        assert (curve_of(pair, ALPHAS) <= attained(tables, ALPHAS) + 1e-9).all()


@pytest.mark.seconds
@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("name", NOISES)
def test_two_adaptive_steps_on_whole_numbers(name: str, order: Order) -> None:
    mechanism, noise = NOISES[name]
    for sampling, size in SCHEMES[:3]:
        tables = list(attacks(Additive(noise), sampling, neighbours(order, multisets(LINE, [size - 1]), LINE)))
        ((pair, _),) = the_class(sampled(mechanism, sampling, size), order).product
        claimed = game([losses([as_table(pair)], GRID)] * 2, GRID)
        assert (played([tables, tables], GRID)[SHOWN] - claimed[SHOWN]).max() < 1e-8


PLANE = [(float(x), float(y)) for x, y in itertools.product((-1, 0, 1), repeat=2)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("order", list(Order))
def test_whole_vectors_in_the_plane(order: Order) -> None:
    """Laplace: all of the l1 distance along one axis is the worst. Gaussian: one coordinate, or any vector."""
    for mechanism, noise, records in (
        (
            dp.DiscreteLaplace("1.5", 2),
            WholeNoise(1.5, 1),
            [v for v in PLANE if abs(v[0]) + abs(v[1]) <= 2] + [(2.0, 0.0)],
        ),
        (dp.DiscreteGaussian("0.9", "1.2"), WholeNoise(0.9, 2), [v for v in PLANE if abs(v[0]) + abs(v[1]) <= 1]),
        (dp.DiscreteGaussian("0.9", "1.5"), WholeNoise(0.9, 2), PLANE),
        (dp.DiscreteGaussian(2, 2), WholeNoise(2.0, 2), [*PLANE, (2.0, 0.0), (0.0, -2.0)]),
    ):
        tables = list(attacks(Additive(noise, 2), Full(), neighbours(order, [()], records)))
        over = attained(tables, ALPHAS) - curve(mechanism, order)
        assert over.max() < ROUNDING
        exact = isinstance(mechanism, dp.DiscreteLaplace) or mechanism.bound < 2
        if exact and order is not Order.REPLACE:
            assert over.min() > -1e-9


@pytest.mark.parametrize(
    ("bound", "dimension", "moved"), [("1.5", None, 2), ("1.75", None, 3), ("1.75", 2, 2), (2, None, 0)]
)
def test_no_coordinate_moves_by_two(bound: str, dimension: int | None, moved: int) -> None:
    """Norms below 2: as many coordinates move by one as the norm allows; from 2 on no one vector is the worst."""
    mechanism = dp.DiscreteGaussian("0.9", bound, dimension=dimension)
    found = the_class(mechanism, Order.REMOVE)
    assert found.tight is (moved > 0)
    if moved:
        assert found.product == ((ShiftedDiscreteGaussians(Fraction("0.81"), 1, scalar=False), moved),)
    assert not the_class(mechanism, Order.REPLACE).tight
    one = curve_of(ShiftedDiscreteGaussians(Fraction("0.81"), 1), ALPHAS)
    if moved:  # a coordinate forgotten would be seen
        assert (curve(mechanism, Order.REMOVE) - one).max() > 0.05


def joint_delta(variance: float, moves: tuple[int, ...], epsilon: float) -> float:
    """δ(ε) of independent discrete Gaussians that move, as a sum over all outcomes, in floating point."""
    x = np.arange(-14, 19)
    p, q = np.ones(1), np.ones(1)
    for move in moves:
        f, g = (np.exp(-((x - at) ** 2) / (2 * variance)) for at in (move, 0))
        p, q = np.outer(p, f / g.sum()).ravel(), np.outer(q, g / g.sum()).ravel()
    return float(np.maximum(p - np.exp(epsilon) * q, 0).sum())


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("bound", "dimension", "relation", "moves"),
    [
        ("2.3", None, AR, (2, 1)),
        ("2.9", 3, AR, (2, 2)),
        ("2.9", 1, AR, (2,)),
        ("1.5", None, RE, (2, 2)),
        (2, None, AR, (2,)),
    ],
)
def test_an_attack_moves_as_many_coordinates_as_the_norm_allows(
    bound: str, dimension: int | None, relation: Relation, moves: tuple[int, ...]
) -> None:
    mechanism = dp.DiscreteGaussian("1.13", bound, dimension=dimension)
    found = account(mechanism, epsilon="0.4", relation=relation).enclosure
    assert float(found.exact_lower) == pytest.approx(joint_delta(1.13**2, moves, 0.4), rel=1e-9)
    assert found.exact_lower <= found.exact_upper
    twice = account(mechanism**2, epsilon="0.4", relation=relation).enclosure
    assert float(twice.exact_lower) == pytest.approx(joint_delta(1.13**2, (*moves, *moves), 0.4), rel=1e-5)


def test_discrete_gaussian_noise_is_given_by_its_parameter_or_its_square() -> None:
    given, squared = (
        dp.DiscreteGaussian("1.5", 2, dimension=1),
        dp.DiscreteGaussian(noise_variance="2.25", bound=2, dimension=1),
    )
    assert given.variance == squared.variance == Fraction("2.25")
    assert the_class(given, Order.REPLACE) == the_class(squared, Order.REPLACE)
    assert the_class(dp.DiscreteGaussian(noise_variance=2), Order.ADD).product == (
        (ShiftedDiscreteGaussians(Fraction(2), 1, scalar=False), 1),
    )
    for wrong in ({}, {"noise_stddev": 1, "noise_variance": 1}, {"noise_variance": 0}):
        with pytest.raises(dp.InvalidValue, match="noise"):
            dp.DiscreteGaussian(**wrong)


def test_no_curve_of_the_continuous_gaussian() -> None:
    """σ = 2, D = 1: at ε = 1/4 the continuous curve lies below the discrete one, which is attained."""
    assert account(dp.DiscreteGaussian(2, dimension=1), epsilon="0.25").enclosure.lower > 0.11234
    assert account(dp.Gaussian(2), epsilon="0.25").enclosure.upper < 0.11030


ANCHORS: list[tuple[Mechanism, str, str]] = [
    (dp.DiscreteLaplace(2), "0.2", "0.1613301170141645583839"),
    (dp.DiscreteLaplace("10/3", 3), "0.4", "0.2260255181228979453724"),
    (dp.DiscreteLaplace(10, 5), "0.3", "0.09516258196404042683575"),
    (dp.DiscreteGaussian(1), "0.5", "0.2039828137634389534283"),
    (dp.DiscreteGaussian(2), "0.25", "0.1123451424623906884049"),
    (dp.DiscreteGaussian(2, 2, dimension=1), "0.5", "0.2300398870763041598052"),
    (dp.DiscreteGaussian("0.5"), "1", "0.6032048691666065"),
]


@pytest.mark.parametrize(("mechanism", "epsilon", "expected"), ANCHORS, ids=str)
def test_anchors(mechanism: Mechanism, epsilon: str, expected: str) -> None:
    """Sums over the whole numbers at many digits, written down a second time."""
    with mpmath.workdps(40):
        e = mpmath.mpf(epsilon)
        if isinstance(mechanism, dp.DiscreteLaplace):
            distance, scale = (
                mechanism.bound,
                mpmath.mpf(mechanism.noise_scale.numerator) / mechanism.noise_scale.denominator,
            )
            weights = {x: mpmath.exp(-abs(x) / scale) for x in range(-1500, 1500)}
        else:
            assert isinstance(mechanism, dp.DiscreteGaussian)
            distance, sigma = int(mechanism.bound), mpmath.mpf(float(mechanism.noise_stddev))
            weights = {x: mpmath.exp(-(x**2) / (2 * sigma**2)) for x in range(-60, 60)}
        total = mpmath.fsum(weights.values())
        value = mpmath.fsum(max(weights.get(x - distance, 0) - mpmath.exp(e) * weights[x], 0) for x in weights) / total
        assert mpmath.almosteq(value, mpmath.mpf(expected), rel_eps=mpmath.mpf(10) ** (2 - len(expected)))
        found = account(mechanism, epsilon=epsilon).enclosure
        assert found.exact_lower <= Fraction(str(value)) + Fraction(1, 10**16)
        assert abs(found.upper - float(value)) < 1e-15
    assert neighbour_classes(mechanism**3, AR).tight


@pytest.mark.parametrize("distance", [1, 3])
@pytest.mark.parametrize("variance", [Fraction(1, 20), Fraction(1, 4), Fraction(9, 4)])
def test_renyi_divergences_of_discrete_gaussians(variance: Fraction, distance: int) -> None:
    with mpmath.workdps(40):
        s = mpmath.mpf(variance.numerator) / variance.denominator
        for order in (Fraction("1.01"), Fraction("2.5"), Fraction(7)):
            power, numbers = (
                mpmath.mpf(float(order)) if order != Fraction("1.01") else mpmath.mpf("1.01"),
                range(-90, 120),
            )

            def log_weight(x: int, at: int) -> mpmath.mpf:
                return -((x - at) ** 2) / (2 * s)

            total = mpmath.fsum(mpmath.exp(log_weight(x, 0)) for x in numbers)
            expected = mpmath.log(
                mpmath.fsum(
                    mpmath.exp(power * log_weight(x, distance) + (1 - power) * log_weight(x, 0)) for x in numbers
                )
                / total
            )
            found = log_moment(ShiftedDiscreteGaussians(variance, distance), order)
            assert abs(float(found.mid()) - float(expected)) <= 1e-12 * max(1.0, abs(float(expected)))
            gaussian = float(order) * float(order - 1) * distance**2 / (2 * float(variance))
            assert float(found.upper()) <= gaussian * (1 + 1e-12)  # ρ = D²/2σ²


def test_groups_on_whole_numbers() -> None:
    """k records move a count by k; of vectors nothing is said of several records at once but by chains."""
    three = dp.group_account(dp.DiscreteGaussian(6, dimension=1), 3, epsilon="0.5")
    assert three.upper == pytest.approx(account(dp.DiscreteGaussian(6, 3, dimension=1), epsilon="0.5").enclosure.upper)
    both = dp.group_account(dp.DiscreteGaussian(3), 2, epsilon="0.5")
    vectors = attained(
        attacks(
            Additive(WholeNoise(3.0, 2), 2), Full(), [(((1.0, 0.0), other), ()) for other in ((1.0, 0.0), (0.0, 1.0))]
        ),
        np.exp([0.5]),
    )
    assert both.upper >= vectors[0]
    assert dp.group_account(dp.DiscreteLaplace(3), 2, epsilon="0.1").upper == pytest.approx(
        account(dp.DiscreteLaplace(3, 2), epsilon="0.1").enclosure.upper
    )


# --- Mixtures of Gaussians --------------------------------------------------------------------------------------------


def mixture_tables(order: Order, noise: GaussianNoise, rest: Sum) -> list[Table]:
    """All datasets: a record with vectors of the norms in WITH_CHANCE, and others that contribute by chance, too."""
    chances = [float(chance) for chance in WITH_CHANCE.values()]

    def law(vectors: tuple[float, ...]) -> Sum:
        weights = np.outer(chances, rest.weights).ravel()
        return Sum(weights, (np.array(vectors)[:, None] + rest.values[None, :, 0]).reshape(-1, 1))

    choices = list(itertools.product((0.0,), (-1.0, 0.4, 1.0), (-2.0, -1.1, 2.0)))
    match order:
        case Order.REPLACE:
            pairs = [(law(one), law(other)) for one, other in itertools.permutations(choices, 2)]
        case Order.REMOVE | Order.ZERO:
            pairs = [(law(one), rest) for one in choices]
        case _:
            pairs = [(rest, law(one)) for one in choices]
    return [noise.table(first, second, 0.02) for first, second in pairs]


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("stddev", [0.7, 2.0])
def test_mixtures_of_gaussians(order: Order, stddev: float) -> None:
    mechanism = dp.MixtureOfGaussians(str(stddev), WITH_CHANCE)
    alone = Sum(np.array([1.0]), np.array([[0.0]]))
    tables = mixture_tables(order, GaussianNoise(stddev), alone)
    claimed = curve(mechanism, order)
    assert the_class(mechanism, order).tight
    over = attained(tables, ALPHAS) - claimed
    assert over.max() < ROUNDING
    assert over.min() > -2e-4
    others = Sum(np.array([0.5, 0.3, 0.2]), np.array([[0.0], [1.0], [-2.0]]))
    assert (attained(mixture_tables(order, GaussianNoise(stddev), others), ALPHAS) - claimed).max() < ROUNDING
    if order is Order.ADD:  # one direction for the other is caught
        assert (attained(tables, ALPHAS) - curve(mechanism, Order.REMOVE)).max() > 0.01


@pytest.mark.seconds
@pytest.mark.parametrize("order", list(Order))
def test_two_adaptive_steps_of_mixtures(order: Order) -> None:
    tables = mixture_tables(order, GaussianNoise(2.0), Sum(np.array([1.0]), np.array([[0.0]])))
    worst = max(tables, key=lambda table: float(divergence(table, np.array([1.0]))[0]))
    found = played([tables, tables], GRID)[SHOWN]
    claimed = game([losses([worst], GRID)] * 2, GRID)[SHOWN]  # the extreme vectors in both steps
    assert (found - claimed).max() < 1e-8
    total = account(dp.MixtureOfGaussians(2, WITH_CHANCE) ** 2, epsilon="0.5", relation=_relation(order)).enclosure
    assert np.interp(0.5, np.log(GRID.alphas[SHOWN]), found) <= total.upper + 1e-4


def _relation(order: Order) -> Relation:
    return next(each for each in Relation if PairOrder(order.value) in each.orders)


@pytest.mark.parametrize("relation", list(Relation))
def test_mixtures_that_have_another_name(relation: Relation) -> None:
    plain, poisson = dp.MixtureOfGaussians(3, {2: 1}), dp.MixtureOfGaussians(3, {0: "0.9", 2: "0.1"})
    assert neighbour_classes(plain, relation) == neighbour_classes(dp.Gaussian("1.5"), relation)
    assert neighbour_classes(poisson**5, relation) == neighbour_classes(
        dp.PoissonSampled(dp.Gaussian("1.5"), "0.1") ** 5, relation
    )
    thinned = dp.PoissonSampled(dp.MixtureOfGaussians(3, {1: "0.5", 2: "0.5"}), "0.2")
    whole = dp.MixtureOfGaussians(3, {0: "0.8", 1: "0.1", 2: "0.1"})
    assert neighbour_classes(thinned, relation) == neighbour_classes(whole, relation)


@pytest.mark.parametrize("direction", list(Direction))
def test_the_law_of_a_mixture_that_is_a_sample(direction: Direction) -> None:
    """Norms 0 and c by the general law, and by the formula of a sampled Gaussian."""
    rate, squared = Fraction(1, 10), Fraction(4, 9)
    mixed = curve_of(MixedGaussians(direction, ((Fraction(0), 1 - rate), (squared, rate))), ALPHAS)
    ((pair, _),) = the_class(dp.PoissonSampled(dp.Gaussian("1.5"), "0.1"), Order(direction.value)).product
    assert mixed == pytest.approx(curve_of(pair, ALPHAS), abs=1e-13)


@pytest.mark.parametrize(
    "norms",
    [{}, {1: "0.5"}, {1: "0.5", 2: "0.6"}, {-1: 1}, {0: 1}, {1: 2, 2: -1}, [(1, 2, 3)], "x", {float("nan"): 1}],
)
def test_norms_out_of_their_domain_are_refused(norms: dict[object, object]) -> None:
    with pytest.raises(InvalidValue):
        dp.MixtureOfGaussians(1, norms)  # type: ignore[arg-type]


# --- Permute-and-flip -------------------------------------------------------------------------------------------------


def permute_and_flip(utilities: tuple[float, ...], epsilon: float) -> Array:
    """From the definition: every order of the candidates, Δu = 1."""
    chance = np.exp(epsilon * (np.array(utilities) - max(utilities)) / 2)
    found = np.zeros(len(utilities))
    orders = list(itertools.permutations(range(len(utilities))))
    for order in orders:
        left = 1.0
        for candidate in order:
            found[candidate] += left * chance[candidate] / len(orders)
            left *= 1 - chance[candidate]
    return found


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_permute_and_flip_from_its_definition(epsilon: float, monotone: bool) -> None:
    """Never above the pair; and two candidates attain it, for each α with a distance of its own."""
    generator, worst = np.random.default_rng(3), []
    for _ in range(60):
        size = int(generator.integers(2, 5))
        before = generator.integers(-4, 5, size) * generator.choice([0.25, 1.0])
        moves = generator.choice([0.0, 1.0] if monotone else [-1.0, 0.0, 1.0], size)
        worst.append((permute_and_flip(tuple(before + moves), epsilon), permute_and_flip(tuple(before), epsilon)))
    pairs = [
        (permute_and_flip((lead + 1, 0.0), epsilon), permute_and_flip((lead, 0.0 if monotone else 1.0), epsilon))
        for lead in np.arange(-2, 2, 0.004)
    ]
    for order in (Order.REMOVE, Order.ADD):
        mechanism = dp.PermuteAndFlip(epsilon, relation=AR, monotone=monotone)
        turned = [table if order is Order.REMOVE else table[::-1] for table in [*worst, *pairs]]
        over = attained(turned, ALPHAS) - curve(mechanism, order)
        assert over.max() < ROUNDING
        assert over.min() > -1e-4
        assert not the_class(mechanism**2, order).tight
        for product in the_class(mechanism, order).attacks:
            ((pair, _),) = product
            if isinstance(pair, TwoPoints):
                assert (curve_of(pair, ALPHAS) <= attained(turned, ALPHAS) + 1e-5).all()
    half = dp.PermuteAndFlip(epsilon / 2, relation=AR, monotone=monotone)  # half of it is too little
    assert (attained([*worst, *pairs], ALPHAS) - curve(half, Order.REMOVE)).max() > 0.01


@pytest.mark.seconds
def test_permute_and_flip_twice() -> None:
    """Composed, the best that two candidates do, adaptively, lies between both ends (epsilon 0.2, 0.8, 1.4)."""
    twice = dp.PermuteAndFlip(1, relation=AR) ** 2
    for at, pair, attack in (("0.2", 0.41057, 0.39822), ("0.8", 0.28663, 0.28079), ("1.4", 0.14812, 0.14686)):
        found = account(twice, epsilon=at).enclosure
        assert found.lower <= attack + 1e-5
        assert found.lower > 0.9 * attack
        assert found.upper == pytest.approx(pair, abs=2e-4)


@pytest.mark.parametrize("mechanism", [dp.PermuteAndFlip(1, relation=AR)])
def test_a_selection_is_asked_under_its_relation_or_as_two_links(mechanism: Mechanism) -> None:
    assert account(mechanism, epsilon="0.5", relation=RE).enclosure.upper == pytest.approx(
        account(dp.Laplace("0.5"), epsilon="0.5").enclosure.upper
    )
    with pytest.raises(UnsupportedMechanism, match="zero-out-one"):
        account(mechanism, epsilon="0.5", relation=ZO)
    with pytest.raises(InvalidValue, match="raise one count and lower another"):
        dp.PermuteAndFlip(1, relation=RE, monotone=True)


# --- Calibration ------------------------------------------------------------------------------------------------------


@pytest.mark.seconds
@pytest.mark.parametrize("make", [dp.DiscreteLaplace, lambda z: dp.MixtureOfGaussians(z, WITH_CHANCE) ** 3])
def test_noise_is_calibrated(make: object) -> None:
    assert callable(make)
    found = dp.calibrate(make, 1, "1e-5")
    assert account(make(found.value), delta="1e-5").enclosure.at_most(1)
    assert not account(make(found.value * Fraction(99, 100)), delta="1e-5").enclosure.at_most(1)
    assert math.isfinite(found.value)


@pytest.mark.parametrize("variance", ["0.1", "30", "4e4"])
def test_what_lies_beyond_the_cut_of_a_discrete_gaussian_is_bounded(variance: str) -> None:
    with working(128), mpmath.workdps(30):
        masses, rest = discrete_gaussian_masses(ball(Fraction(variance)))
        ratio = mpmath.exp(-1 / (2 * mpmath.mpf(variance)))
        whole, last = mpmath.jtheta(3, 0, ratio), len(masses) - 1
        beyond = mpmath.fsum(ratio ** ((last + k) ** 2) for k in range(1, 3000)) / whole
        ours = mpmath.mpf(rest.upper().str(20, radius=False))
        assert beyond * (1 - 1e-15) <= ours <= 1.5 * beyond
        assert abs(mpmath.mpf(masses[0].mid().str(25, radius=False)) * whole - 1) < mpmath.mpf(10) ** -20
