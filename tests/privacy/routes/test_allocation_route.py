"""The mean of many likelihood ratios, against enumeration and quadrature."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.integrate import quad
from scipy.special import ndtr

import dpbounds as dp
from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import account, prove_delta, prove_epsilon
from dpbounds.privacy.pairs.losses import ball, law_at
from dpbounds.privacy.pairs.pairs import (
    Allocated,
    AllocatedTo,
    Combined,
    Direction,
    Pair,
    Responses,
    SampledGaussians,
    ShiftedGaussians,
    ShiftedLaplaces,
    UniformBalls,
)
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.allocation import discrete_pairs, engine, lower_distribution, rounding, upper_distribution
from dpbounds.privacy.routes.allocation.lower_distribution import LowerDistribution
from dpbounds.privacy.routes.allocation.upper_distribution import UpperDistribution

F = Fraction
H = F(1, 8)


def delta_of(pair: Pair, epsilon: Fraction, count: int = 1, tolerance: float = 1e-9) -> Enclosure:
    return prove_delta(((pair, count),), epsilon, tolerance).enclosure


# --- Against quadrature and enumeration -----------------------------------------------------------------------------


def two_of_gaussians(z: float, epsilon: float, *, removed: bool) -> float:
    """H of one of two steps with Gaussian noise, one integral by quadrature and the other one in closed form."""
    mu, alpha = 1 / z, math.exp(epsilon)

    def call(strike: float) -> float:  # E (X - strike)_+, X = exp(mu Y - mu²/2)
        if strike <= 0:
            return 1 - strike
        edge = math.log(strike) / mu + mu / 2
        return float(ndtr(mu - edge) - strike * ndtr(-edge))

    def put(strike: float) -> float:  # E (strike - X)_+, where a call is all but 1 - strike
        edge = math.log(strike) / mu + mu / 2
        return float(strike * ndtr(edge) - ndtr(edge - mu))

    def inner(y: float) -> float:
        x, density = math.exp(mu * y - mu * mu / 2), math.exp(-y * y / 2) / math.sqrt(2 * math.pi)
        if removed:
            return density * call(2 * alpha - x) / 2
        strike = 2 / alpha - x  # (1 - α(x + X)/2)_+ = α/2 (strike - X)_+
        return density * (alpha / 2) * put(strike) if strike > 0 else 0.0

    points = [(math.log(c) / mu + mu / 2) for c in (2 * alpha, 2 / alpha)]
    return float(
        sum(
            quad(inner, low, high, epsabs=1e-13, limit=200)[0]
            for low, high in itertools.pairwise(sorted([-12.0, *points, 12.0 + mu]))
        )
    )


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("z", "epsilon", "anchors"),
    [  # to many digits, from the specification
        ("1", "1", ("0.0592065010858926533", "0.0501976623694882364")),
        pytest.param("0.7", "3", ("0.0117982992143036955", "0.00380135804970715134"), marks=pytest.mark.seconds),
        pytest.param("2", "0.25", ("0.059802832710352687", "0.0589990927490112705"), marks=pytest.mark.seconds),
    ],
)
def test_one_of_two_gaussian_steps(z: str, epsilon: str, anchors: tuple[str, str]) -> None:
    base = ShiftedGaussians(1 / F(z) ** 2)
    for way, anchor in zip((Direction.REMOVE, Direction.ADD), anchors, strict=True):
        by_quadrature = two_of_gaussians(float(z), float(epsilon), removed=way is Direction.REMOVE)
        assert by_quadrature == pytest.approx(float(anchor), rel=1e-8)
        found = delta_of(Allocated(way, 2, ((base, 2),)), F(epsilon))
        assert found.contains(anchor)
        assert found.width < 1e-3 * found.upper


# --- Many targets of one law ----------------------------------------------------------------------------------------


def test_one_law_holds_quadrature_at_every_target_whatever_their_order() -> None:
    epsilons = [F(k, 4) for k in (3, 0, 8, 5, 1, 5)]
    found = dp.delta_curve(dp.RandomlyAllocated(dp.Gaussian(1), 2), epsilons, tolerance=1e-2)
    for epsilon, ends in zip(epsilons, found, strict=True):
        truth = max(two_of_gaussians(1.0, float(epsilon), removed=removed) for removed in (True, False))
        assert ends.lower * (1 - 1e-9) <= truth <= ends.upper * (1 + 1e-9)
        assert ends.width <= 0.02 * max(1, -math.log(ends.upper)) * ends.upper
    assert found[3] == found[5]


def test_a_curve_makes_a_law_or_two_for_each_order(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Allocated] = []
    plain = discrete_pairs.dominating
    monkeypatch.setattr(discrete_pairs, "dominating", lambda pair, grid: made.append(pair) or plain(pair, grid))
    dp.delta_curve(dp.RandomlyAllocated(dp.Gaussian(2), 5), [F(k, 10) for k in range(21)], tolerance=3e-2)
    assert {pair.direction for pair in made} == {Direction.REMOVE, Direction.ADD}
    assert len(made) <= 6  # (at 21 targets)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("mechanism", "relation"),
    [
        pytest.param(dp.RandomlyAllocated(dp.Gaussian(1), 30) ** 4, "add-or-remove-one", marks=pytest.mark.minutes),
        pytest.param(dp.RandomlyAllocated(dp.Gaussian(1), 10) ** 2, "replace-one", marks=pytest.mark.minutes),
        (dp.RandomlyAllocated(dp.Gaussian(2), 6, 2) ** 2, "add-or-remove-one"),
        (dp.BallsInBins(dp.Gaussian(2), 20, epochs=3, redraw=False), "add-or-remove-one"),
        (dp.Composed(((dp.RandomlyAllocated(dp.Laplace(3), 10), 2), (dp.Gaussian(3), 1))), "add-or-remove-one"),
        (dp.TruncatedPoisson(dp.Gaussian(1), "0.01", 150, 10000) ** 200, "add-or-remove-one"),
    ],
    ids=["fresh", "replaced", "several", "kept", "composed", "cut"],
)
def test_targets_that_share_a_law_agree_with_those_that_have_their_own(mechanism, relation) -> None:
    reach = dp.epsilon(mechanism, "1e-5", relation, tolerance=1e-2).exact_upper
    epsilons = [reach * k / 5 for k in range(9)]
    found = dp.delta_curve(mechanism, epsilons, relation, tolerance=1e-2)
    for index in (0, 5, 8):
        alone = dp.delta(mechanism, epsilons[index], relation, tolerance=1e-3)
        assert max(alone.exact_lower, found[index].exact_lower) <= min(alone.exact_upper, found[index].exact_upper)
        assert found[index].width <= max(0.05 * max(1, -math.log(alone.upper)) * alone.upper, 2 * alone.width)
    assert found[5].exact_lower <= F(1, 10**5)  # δ(ε) at an ε that suffices


def enumerated(epsilon: float, bins: int, chosen: int, shares: list[int], alpha: float, *, removed: bool) -> float:
    """H of k of so many visits' products by enumeration: a bin of v visits of randomised response, none for 0."""
    odds = math.exp(epsilon)
    total = 0.0
    for outcome in itertools.product((1, -1), repeat=sum(shares)):
        signs, ratios = iter(outcome), []
        for visits in shares:
            ratios += [odds ** sum(next(signs) for _ in range(visits))]
        q = math.prod(odds / (1 + odds) if sign < 0 else 1 / (1 + odds) for sign in outcome)
        sets = list(itertools.combinations(ratios, chosen))
        r = sum(map(math.prod, sets)) / len(sets)
        assert len(ratios) == bins
        total += q * max(0.0, r - alpha if removed else 1 - alpha * r)
    return total


@pytest.mark.parametrize("way", [Direction.REMOVE, Direction.ADD])
@pytest.mark.parametrize("visits", [[1] * 5, [1] * 3 + [0] * 3, [2] * 2 + [1] * 3], ids=["whole", "cut short", "kept"])
def test_randomised_response_by_enumeration(visits: list[int], way: Direction) -> None:
    bases = {1: Responses(F(1)), 2: Combined(((Responses(F(1)), 2),))}
    shares = tuple((bases[v], visits.count(v)) for v in (2, 1) if visits.count(v))
    pair = Allocated(way, len(visits), shares)
    for epsilon in (F(0), F(1, 4)):
        truth = enumerated(1.0, len(visits), 1, visits, math.exp(epsilon), removed=way is Direction.REMOVE)
        found = delta_of(pair, epsilon, tolerance=1e-3)
        assert found.lower * (1 - 1e-9) <= truth <= found.upper * (1 + 1e-9)
        assert found.width < 5e-3 * found.upper


@pytest.mark.seconds
def test_several_participations_by_enumeration() -> None:
    mechanism = dp.RandomlyAllocated(dp.PureDP(1, relation="add-or-remove-one"), 5, 2)
    truth = enumerated(1.0, 5, 2, [1] * 5, math.exp(0.5), removed=True)
    found = dp.delta(mechanism, "0.5", tolerance=1e-2)
    assert truth <= found.upper * (1 + 1e-9)
    attacked = delta_of(AllocatedTo(Direction.REMOVE, 5, 2, Responses(F(1))), F(1, 2), tolerance=1e-3)
    assert 0.9 * truth < attacked.lower <= truth * (1 + 1e-9)
    assert found.exact_lower > 0


def test_infinite_losses_and_losses_at_minus_infinity() -> None:
    """A ball: the step tells for sure with probability τ. One of two: (1 - τ/2 ... ) by hand."""
    base = UniformBalls(F(1), 2)
    with working(128):
        tau = float(law_at(base, 128).infinite)
    found = delta_of(Allocated(Direction.REMOVE, 2, ((base, 2),)), F(1, 2), tolerance=1e-3)
    # R under Q is 1, 1/2 or 0, and P-mass τ is at infinity
    assert found.lower <= tau <= found.upper
    assert found.width < 1e-2 * found.upper
    truth = sum(
        q * max(0.0, 1 - math.exp(0.5) * r)
        for r, q in ((1.0, (1 - tau) ** 2), (0.5, 2 * tau * (1 - tau)), (0.0, tau**2))
    )
    found = delta_of(Allocated(Direction.ADD, 2, ((base, 2),)), F(1, 2), tolerance=1e-3)
    assert found.lower * (1 - 1e-9) <= truth <= found.upper * (1 + 1e-9)
    assert found.width < 1e-2 * found.upper


@pytest.mark.seconds
def test_several_steps_that_may_tell_for_sure() -> None:
    """A ball of one dimension less than a half apart, over three bins visited twice: P(a loss is infinite) by hand."""
    with working(128):
        tau = float(law_at(UniformBalls(F(1), 2), 128).infinite)
    visited = dp.BallsInBins(dp.UniformBall(1, 2), 3, 2, redraw=False)
    assert dp.epsilon(visited, Fraction(1 - (1 - tau) ** 2) - F(1, 10**6)).exact_lower == math.inf
    assert dp.epsilon(visited, Fraction(1 - (1 - tau) ** 2) + F(1, 100), tolerance=1e-2).exact_upper < math.inf
    several = delta_of(AllocatedTo(Direction.REMOVE, 4, 2, UniformBalls(F(1), 2)), F(9), tolerance=1e-2)
    assert several.lower == pytest.approx(1 - (1 - tau) ** 2, rel=1e-6)


@pytest.mark.seconds
def test_beside_other_releases() -> None:
    gaussian, allocated = dp.Gaussian(2), dp.RandomlyAllocated(dp.Gaussian(1), 4)
    both = dp.epsilon(allocated @ gaussian, "0.01", tolerance=1e-2)
    assert both.exact_lower > max(
        dp.epsilon(each, "0.01", tolerance=1e-2).exact_upper for each in (gaussian, allocated)
    )
    without = dp.epsilon(dp.Gaussian(1) @ gaussian, "0.01")
    assert both.exact_upper < without.exact_lower


@pytest.mark.minutes
def test_the_figures_of_the_specification() -> None:
    for mechanism, relation, low, high in (
        (dp.RandomlyAllocated(dp.Gaussian(1), 100) ** 10, "add-or-remove-one", "1.7010", "1.7018"),
        (dp.BallsInBins(dp.Gaussian(1), 100, 10, redraw=True), "zero-out-one", "1.7010", "1.7018"),
        (dp.BallsInBins(dp.Gaussian(1), 100, 10, redraw=False), "add-or-remove-one", "13.2513", "13.2517"),
        (dp.BallsInBins(dp.Gaussian(4), 100, 10, redraw=False), "add-or-remove-one", ".34165", ".34181"),
        (dp.RandomlyAllocated(dp.Gaussian(3), 20) ** 10, "add-or-remove-one", ".89502", ".89616"),
    ):
        found = dp.epsilon(mechanism, "1e-5", relation)
        assert F(low) <= found.exact_lower <= found.exact_upper <= F(high)
        assert found.width <= 1e-3 * found.upper


@pytest.mark.seconds
def test_monotone() -> None:
    def spent(steps: int, epochs: str, z: int = 1) -> Enclosure:
        return dp.delta(dp.BallsInBins(dp.Gaussian(z), steps, epochs, redraw=True), 1, tolerance=1e-2)

    assert spent(10, "1").exact_upper < spent(5, "1").exact_lower
    assert spent(10, "1").exact_upper < spent(10, "1.3").exact_lower
    assert spent(10, "1.3").exact_upper < spent(10, "2").exact_lower
    assert spent(10, "1", 2).exact_upper < spent(10, "1").exact_lower


# --- What floating point and the grid may do: Φ of measures, exactly --------------------------------------------------

THRESHOLDS = (0.2, 0.9, 1.5, 3.0, 7.0)


def integral(part: UpperDistribution, threshold: float, sign: int) -> arb:
    """∫ (x - a)_+ (sign 1: P-mass at infinity counts) or ∫ (a - x)_+ in balls."""
    h, total = ball(part.spacing), arb(0)
    for i, mass in enumerate(part.masses):
        value = sign * (((part.first + i) * h).exp() - threshold)
        total = total + arb(float(mass)) * (value if value > 0 else arb(0))
    return total + (arb(part.infinite) if sign > 0 else arb(part.zero) * threshold)


def joined(
    one: UpperDistribution,
    other: UpperDistribution,
    threshold: float,
    sign: int,
    product: bool,
) -> arb:
    """The same of the exact sum (or product) of two independent ratios."""
    h, total = ball(one.spacing), arb(0)

    def points(part: UpperDistribution) -> Iterator[tuple[arb, arb]]:
        yield arb(0), arb(part.zero)
        for i, mass in enumerate(part.masses):
            yield ((part.first + i) * h).exp(), arb(float(mass))

    for x, p in points(one):
        for y, q in points(other):
            value = sign * ((x * y if product else x + y) - threshold)
            total = total + p * q * (value if value > 0 else arb(0))
    if sign < 0:
        return total
    sizes = [
        (sum((q for _, q in points(p)), arb(0)), sum((q * x for x, q in points(p)), arb(p.infinite)))
        for p in (one, other)
    ]
    (size, mean), (other_size, other_mean) = sizes
    return total + (
        arb(one.infinite) * other_mean + arb(other.infinite) * (mean - arb(one.infinite))
        if product
        else arb(one.infinite) * other_size + arb(other.infinite) * size
    )


def measures() -> list[tuple[UpperDistribution, UpperDistribution]]:
    rng = np.random.default_rng(5)

    def one(first: int, length: int, scale: float) -> UpperDistribution:
        masses = rng.random(length) * scale
        return UpperDistribution(H, first, masses, float(rng.random()) / 9, float(rng.random()) / 99, 1)

    tiny = UpperDistribution(H, 30, np.array([1e-130, 1e-120]), 1e-125, 1e-130, 1)
    same = one(-3, 9, 0.1)
    return [(one(-7, 12, 0.1), one(-2, 5, 0.1)), (one(0, 1, 0.1), one(9, 4, 0.1)), (same, same), (tiny, tiny)]


def test_sums_and_products_are_never_lowered() -> None:
    """Sums, products and what is trimmed are above what they stand for, and not by much."""
    with working(256):
        for one, other in measures():
            for product in (False, True):
                found = (upper_distribution.multiplied if product else upper_distribution.added)(one, other)
                for threshold, sign in itertools.product(THRESHOLDS, (1, -1)):
                    truth = joined(one, other, threshold, sign, product)
                    assert integral(found, threshold, sign) >= truth
            cut = one.trimmed(0.05)
            assert all(
                integral(cut, a, sign) * (1 + arb(2) ** -200) >= integral(one, a, sign)
                for a in THRESHOLDS
                for sign in (1, -1)
            )
    with working(128):
        one, other = measures()[0]
        found = upper_distribution.added(one, other)
        for threshold, sign in itertools.product(THRESHOLDS[1:4], (1, -1)):
            assert integral(found, threshold, sign) < joined(one, other, threshold, sign, False) * 1.2 + 1e-3


@pytest.mark.parametrize("spacing", [F(1, 3), F(1, 64), F(3, 1000), F(1, 5000)])
def test_weights_lie_between_0_and_1_and_keep_the_mean(spacing: Fraction) -> None:
    found = rounding.table(spacing, 600)
    with working(200):
        h = ball(spacing)
        for d in (*range(9), 99, 511):
            near, far, s = arb(float(found.near[d])), arb(float(found.far[d])), int(found.places[d])
            assert near.min(far) > 0
            mean = near * (s * h).exp() + far * ((s + 1) * h).exp()
            assert mean >= 1 + (-d * h).exp()
            assert near + far >= 1
            assert near + far < 1 + 1e-12


def test_a_weight_that_is_not_proven_to_lie_there_is_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "PRECISION", 2)
    rounding._table.cache_clear()
    with pytest.raises(Declined, match="cannot be distinguished"):
        rounding.table(F(1, 977), 600)
    rounding._table.cache_clear()


def test_doubles_are_at_least_what_they_stand_for() -> None:
    with working(128):
        for x in (arb(1) / 3, arb(2).exp(), arb("1e-30"), arb(0.1), arb(1, 1e-3)):
            value = rounding.double_above(x)
            assert arb(value) >= x
            assert value <= float(x.upper()) * (1 + 2**-51)


def test_nothing_underflows() -> None:
    """Masses are 0 or at least 2^-450, after every step, so that a product keeps its relative accuracy."""
    tiny = UpperDistribution(H, 0, np.array([1e-300, 0.0, 0.5]), 1e-200, 0.0, 1)
    for found in (
        upper_distribution.added(tiny, tiny),
        upper_distribution.multiplied(tiny, tiny),
        tiny.trimmed(1e-250),
    ):
        used = found.masses[found.masses > 0]
        assert used.min() >= rounding.LEAST
        assert found.zero == 0 or found.zero >= rounding.LEAST
    cells = LowerDistribution(H, 0, np.array([[1e-300, 0.5], [1e-10, 0.5]]), np.zeros(2), 0.0, 1, 1)
    assert not lower_distribution.added(cells, cells).counts[0, 0]


def test_the_logarithm_of_the_number_of_bins_is_rounded_to_larger_losses() -> None:
    grid = discrete_pairs.Grid(F(1, 16), 1e-9)
    for way, sign in ((Direction.REMOVE, -1), (Direction.ADD, 1)):
        pair = Allocated(way, 3, ((ShiftedLaplaces(F(1)), 3),))
        points = discrete_pairs.dominating(pair, grid).pair.points
        with working(200):
            for loss, _ in points[:: max(1, len(points) // 5)]:
                exact = sign * arb(3).log()
                steps = ((ball(loss) - exact) * 16).mid()
                index = int((steps + arb(0.5)).floor().unique_fmpz())
                assert ball(loss) >= exact + ball(F(index, 16))


@pytest.mark.seconds
def test_a_finer_grid_encloses_no_less() -> None:
    pair = Allocated(Direction.REMOVE, 6, ((ShiftedGaussians(F(1)), 6),))
    ends = []
    for spacing in (F(1, 4), F(1, 16), F(1, 64)):
        grid = discrete_pairs.Grid(spacing, 1e-12)
        dearer, cheaper = discrete_pairs.dominating(pair, grid), discrete_pairs.attained(pair, grid)
        high = prove_delta(((dearer.pair, 3),), F(1), 1e-4).enclosure.exact_upper * dearer.factor**3
        ends.append((prove_delta(((cheaper, 3),), F(1), 1e-4).enclosure.exact_lower, high))
    lows, highs = zip(*ends, strict=True)
    assert max(lows) <= min(highs)
    assert float(highs[-1] - lows[-1]) < 0.1 * float(highs[0] - lows[0])


def test_what_is_asked_beyond_a_grid_is_refused() -> None:
    with pytest.raises(NotCertified, match="too far for a grid"):
        prove_epsilon(((Allocated(Direction.REMOVE, 3, ((ShiftedLaplaces(F(10**4)), 3),)), 1),), F(1, 10**5), 1e-3)


def two_replaced(mu: float, epsilon: float) -> float:
    """H of one of two steps under replace-one, on a grid of both outputs."""
    y = np.linspace(-mu - 9, mu + 9, 801)

    def mixture(shift: float) -> np.ndarray:
        moved, still = np.exp(-((y - shift) ** 2) / 2), np.exp(-(y**2) / 2)
        found: np.ndarray = (np.outer(moved, still) + np.outer(still, moved)) / (4 * math.pi)
        return found

    excess = np.maximum(mixture(mu) - math.exp(epsilon) * mixture(-mu), 0)
    return float(excess.sum()) * float(y[1] - y[0]) ** 2


@pytest.mark.seconds
@pytest.mark.parametrize("epsilon", [1, 40, 90])
def test_so_little_noise_that_no_grid_holds_it_has_an_answer(epsilon: int) -> None:
    base, mu = ShiftedGaussians(F(100)), 10.0
    for way in (Direction.REMOVE, Direction.ADD):
        found = delta_of(Allocated(way, 2, ((base, 2),)), F(epsilon))
        exact = two_of_gaussians(1 / mu, epsilon, removed=way is Direction.REMOVE)
        assert found.lower * (1 - 1e-9) <= exact <= found.upper * (1 + 1e-9)
    found = delta_of(Allocated(Direction.REPLACE, 2, ((base, 2),)), F(epsilon))
    exact = two_replaced(mu, epsilon)
    assert found.lower - 1e-3 <= exact <= found.upper + 1e-3  # what the grid may be off
    alone = delta_of(Allocated(Direction.REPLACE, 2, ((base, 1),)), F(epsilon))  # the other bin is not run
    y = np.linspace(-mu - 9, mu + 9, 100_001)
    shown, still, other = (np.exp(-((y - at) ** 2) / 2) / math.sqrt(8 * math.pi) for at in (mu, 0, -mu))
    exact = float(np.maximum(shown + still - math.exp(epsilon) * (other + still), 0).sum()) * float(y[1] - y[0])
    assert alone.lower * (1 - 1e-6) <= exact <= alone.upper * (1 + 1e-6)
    assert alone.exact_upper <= delta_of(ShiftedGaussians(F(400)), F(epsilon)).exact_upper


@pytest.mark.seconds
def test_no_delta_is_too_small() -> None:
    steps = Allocated(Direction.REMOVE, 2, ((ShiftedGaussians(F(1)), 2),))
    found = prove_epsilon(((steps, 3), (ShiftedGaussians(F(1, 4)), 1)), F(1, 10**300), 1e-2).enclosure
    whole = prove_epsilon(((ShiftedGaussians(F(13, 4)), 1),), F(1, 10**300), 1e-2).enclosure
    assert F(1, 2) * found.exact_upper < found.exact_lower
    assert found.exact_upper <= whole.exact_upper * F(1001, 1000)


@pytest.mark.seconds
def test_replace_one_is_never_taken_for_another_order() -> None:
    three = {way: ((Allocated(way, 3, ((ShiftedGaussians(F(1)), 3),)), 1),) for way in Direction}
    removed, replaced = (prove_epsilon(three[way], F(1, 10**3), 1e-2).enclosure for way in ("remove", "replace"))
    assert replaced.exact_lower > F(3, 2) * removed.exact_upper


@pytest.mark.seconds
def test_the_account_says_how() -> None:
    found = account(dp.RandomlyAllocated(dp.Gaussian(1), 3) ** 2, delta="0.01", tolerance=1e-2)
    assert found.tight
    assert {proof.route for _, proof in found.proofs} == {"allocation"}
    assert [name for name, _ in found.proofs] == ["remove", "add"]


@pytest.mark.parametrize("direction", [Direction.REMOVE, Direction.ADD])
def test_where_no_grid_holds_the_ratios_steps_are_told_apart_or_one_is_looked_at(direction: Direction) -> None:
    loud, count = ShiftedGaussians(Fraction(10**6)), 3
    attack = AllocatedTo(direction, 20, 4, loud)
    seen = SampledGaussians(direction, Fraction(1, 5), Fraction(1, 10**6))
    assert engine.rough(((attack, count),)) == ((seen, count),)
    one_of = Allocated(direction, 20, ((loud, 20),))
    assert engine.rough(((one_of, count),)) == ((ShiftedGaussians(Fraction(count * 10**6)), 1),)
    found = prove_delta(((attack, 1),), Fraction(1, 10), 1e-3).enclosure
    assert found.exact_upper == 1
    alone = prove_delta(((seen, 1),), Fraction(1, 10), 1e-3).enclosure
    if direction is Direction.REMOVE:  # the whole set is told from all others
        assert found.exact_lower > 1 - Fraction(1, 10**9) > alone.exact_upper
    else:
        assert 0.05 < found.exact_lower <= alone.exact_upper


@pytest.mark.seconds
def test_where_the_grid_shows_nothing_from_below_one_step_is_looked_at() -> None:
    found = dp.epsilon(dp.BallsInBins(dp.Gaussian("0.331"), 216, 33, redraw=False), "1e-9")
    seen = SampledGaussians(Direction.REMOVE, Fraction(1, 216), Fraction("0.331") ** 2 / 33)
    assert found.exact_lower >= prove_epsilon(((seen, 1),), Fraction("1e-9"), 1e-3).enclosure.exact_lower > 200
