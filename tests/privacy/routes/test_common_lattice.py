"""The Fourier sum on a common lattice: against tilted convolutions, closed forms, every outcome, and other routes."""

import math
from fractions import Fraction
from itertools import product as choices

import mpmath
import numpy as np
import pytest
from flint import arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import delta_curve, epsilon, prove_delta, prove_epsilon
from dpbounds.privacy.mechanisms import DiscreteGaussian, RandomizedResponse, Skellam
from dpbounds.privacy.pairs.lattice_laws import DiscreteGaussianLosses, Tilted, least_variance
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import (
    FourPoints,
    Responses,
    ShiftedDiscreteGaussians,
    ShiftedDiscreteLaplaces,
    ShiftedGaussians,
    TwoPoints,
    TwoResponses,
)
from dpbounds.privacy.pairs.skellam import ShiftedSkellams
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes import common_lattice
from dpbounds.privacy.routes.common_lattice import (
    ROUTE,
    delta_on_lattice,
    epsilon_on_lattice,
    frequencies_that_matter,
    heaviest,
)
from dpbounds.privacy.routes.inversion import invert
from dpbounds.privacy.routes.lattice import delta_bounds, epsilon_bounds
from dpbounds.privacy.routes.outcomes import delta_by_outcomes
from tests.privacy.routes.test_grouping import ALONE, GROUPED
from tests.privacy.routes.twins import real

HALF, TENTH = Fraction(1, 2), Fraction(1, 10)
DIGITS = 50


def gaussian(variance, distance=1):
    return ShiftedDiscreteGaussians(Fraction(variance), distance)


TWO_LEVELS = ((gaussian(20), 6), (gaussian("25/3"), 4))
# a file of counts: 1/σ² of each geographic level, ten queries each; every loss lies on the lattice of 1/80000
LEVELS = [Fraction(73, 10_000), Fraction(999, 10_000), Fraction(17_843, 80_000), Fraction(3, 25), Fraction(1, 25)]
CENSUS = tuple((ShiftedDiscreteGaussians(1 / rho, 1), 10) for rho in LEVELS)


def losses_of(pair):
    """(loss, P-mass) of each finite loss, from the definitions."""
    match pair:
        case ShiftedDiscreteGaussians(variance=v, distance=d):
            reach = math.ceil(12 * math.sqrt(float(v))) + 8  # the rest has less than 1e-30
            masses = [mpmath.exp(-mpmath.mpf(y * y) / (2 * real(v))) for y in range(-reach, reach + 1)]
            total = mpmath.fsum(masses)
            losses = [(2 * (d + y) * d - d * d) / (2 * v) for y in range(-reach, reach + 1)]
            return [(loss, mass / total) for loss, mass in zip(losses, masses, strict=True)]
        case ShiftedDiscreteLaplaces(parameter=a, distance=d):
            p = mpmath.exp(-real(a))
            weights = [p**d / (1 + p), *((1 - p) / (1 + p) * p ** (d - j) for j in range(1, d)), 1 / (1 + p)]
            return [(a * (2 * j - d), weight) for j, weight in enumerate(weights)]
        case Responses(epsilon=e, options=k):
            odds = mpmath.exp(real(e))
            rest = [(Fraction(0), (k - 2) / (odds + k - 1))] if k > 2 else []
            return [(e, odds / (odds + k - 1)), *rest, (-e, 1 / (odds + k - 1))]
        case TwoResponses(epsilon=e):
            high = 1 / (1 + mpmath.exp(-real(e)))
            low = high * mpmath.exp(-2 * real(e))
            return [(2 * e, high), (Fraction(0), 1 - high - low), (-2 * e, low)]
        case FourPoints(epsilon=e, delta=d):
            return [(loss, mass * (1 - real(d))) for loss, mass in losses_of(Responses(e))]
        case TwoPoints(high=t, span=s):
            low = t - s
            share = (1 - mpmath.exp(-real(low))) / (mpmath.exp(-real(t)) - mpmath.exp(-real(low)))
            return [(t, share), (low, 1 - share)]
    raise AssertionError(pair)


def convolved(product, epsilon):
    """δ(ε) by all sums of losses, one release after the other, in units that all losses are whole numbers of."""
    laws = [losses_of(pair) for pair, count in product for _ in range(count)]
    unit = math.lcm(*(loss.denominator for law in laws for loss, _ in law))
    found = {0: mpmath.mpf(1)}
    for law in laws:
        grown = {}
        scaled = [(int(loss * unit), mass) for loss, mass in law]
        for (loss, mass), (more, share) in choices(found.items(), scaled):
            grown[loss + more] = grown.get(loss + more, 0) + mass * share
        found = {loss: mass for loss, mass in grown.items() if mass > 1e-32}
    infinite = 1 - mpmath.fprod(mpmath.fsum(mass for _, mass in law) for law in laws)
    above = ((Fraction(loss, unit), mass) for loss, mass in found.items() if loss > epsilon * unit)
    return mpmath.fsum(mass * -mpmath.expm1(real(epsilon - loss)) for loss, mass in above) + infinite


def by_tilted_transform(product, epsilon, tilt, points):
    """δ(ε) of releases of discrete Gaussian noise, as mpmath sums the transform of the tilted losses at every point.

    The transform of one release is a plain sum over whole numbers; no theta function, no bound, no ball.
    """
    step = Fraction(0)
    for pair, _ in product:
        denominator = math.lcm(step.denominator, (1 / pair.variance).denominator)
        step = Fraction(math.gcd(int(step * denominator), int(denominator / pair.variance)), denominator)
    offset = sum((count / (2 * pair.variance) for pair, count in product), Fraction(0))
    laws = []
    for pair, count in product:
        reach = math.ceil(16 * math.sqrt(float(pair.variance))) + 4
        middle = round(float(tilt))  # where the tilted noise is: y about c
        ys = range(middle - reach, middle + reach + 1)
        masses = [mpmath.exp((2 * real(tilt) * y - y * y) / (2 * real(pair.variance))) for y in ys]
        every = range(-6 * reach, 6 * reach + 1)
        whole = mpmath.fsum(mpmath.exp(-mpmath.mpf(y * y) / (2 * real(pair.variance))) for y in every)
        laws.append((ys, [mass / whole for mass in masses], int(1 / (pair.variance * step)), count))
    first = math.floor((epsilon - offset) / step) + 1
    beyond = real(offset + step * first - epsilon)
    total = mpmath.mpf(0)
    h, c = real(step), real(tilt)
    for m in range(points // 2 + 1):  # the others are conjugate
        value = mpmath.mpc(1)
        for ys, masses, multiple, count in laws:
            turn = mpmath.mpf(multiple * m % points) / points
            near = turn - 1 if turn > 0.5 else turn
            value *= (
                mpmath.fsum(mass * mpmath.expjpi(2 * near * y) for y, mass in zip(ys, masses, strict=True)) ** count
            )
            if abs(value) < mpmath.mpf(10) ** -60:
                break
        else:
            z = mpmath.exp(-c * h) * mpmath.expjpi(mpmath.mpf(-2 * m) / points)
            weight = 1 / (1 - z) - mpmath.exp(-beyond) / (1 - z * mpmath.exp(-h))
            term = value * mpmath.expjpi(mpmath.mpf(-2 * m * first % (2 * points)) / points) * weight
            total += term.real * (2 if m else 1)
    return total / points * mpmath.exp(-c * (h * first))


PRODUCTS = {
    "one variance": ((gaussian(3), 4),),
    "two variances": ((gaussian("5/2"), 2), (gaussian("4/3"), 1)),
    "little noise": ((gaussian(TENTH), 2), (gaussian("1/3"), 1)),
    "far apart": ((gaussian(4, 4), 1), (gaussian(2, 3), 1)),
    "discrete Laplace": ((ShiftedDiscreteLaplaces(Fraction(1, 3), 3), 2), (ShiftedDiscreteLaplaces(HALF, 1), 3)),
    "responses": ((Responses(TENTH), 4), (Responses(Fraction(3, 7), 5), 3), (TwoResponses(HALF), 2)),
    "infinite losses": ((FourPoints(HALF, Fraction(1, 1000)), 3), (FourPoints(TENTH, TENTH), 1), (gaussian(2), 1)),
    "not symmetric": ((TwoPoints(Fraction(1, 3), HALF), 3), (TwoPoints(Fraction(1, 7), Fraction(2, 5)), 2)),
    "of all kinds": ((gaussian(2), 1), (ShiftedDiscreteLaplaces(Fraction(1, 3), 2), 2), (Responses(TENTH, 3), 2)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_sum_of_losses(name):
    product = PRODUCTS[name]
    with mpmath.workdps(DIGITS):
        for asked in (Fraction(0), Fraction(1, 7), Fraction(9, 10)):
            value = convolved(product, asked)
            found = delta_on_lattice(product, asked, 1e-9).enclosure
            assert real(found.exact_lower) - 1e-25 <= value <= real(found.exact_upper) + 1e-25
            assert found.width <= 2e-15 * found.upper


@pytest.mark.seconds
@pytest.mark.parametrize(("asked", "tilt", "points"), [(2, 4, 1901), (7, 12, 1501), (30, 38, 1501)])
def test_two_levels_by_a_tilted_transform(asked, tilt, points):
    """A lattice of 1/100, at 50 digits, as a plain sum of all its points."""
    with mpmath.workdps(DIGITS):
        value = by_tilted_transform(TWO_LEVELS, Fraction(asked), Fraction(tilt), points)
        found = delta_on_lattice(TWO_LEVELS, Fraction(asked), 1e-9).enclosure
        assert abs(real(found.exact_upper) / value - 1) < 1e-15
        assert abs(real(found.exact_lower) / value - 1) < 1e-15


@pytest.mark.parametrize(("asked", "tilt"), [(2, 1.2), (9, 4.5), (40, 14.5)])
def test_a_file_of_counts_by_fft(asked, tilt):
    """Tilted masses on all points of a lattice of 1/10000, multiplied out in doubles."""
    product = tuple((gaussian(1 / rho), 10) for rho in LEVELS if (10_000 * rho).denominator == 1)
    points, transform, scale, offset = 2**19, 1.0, 0.0, 0.0
    for pair, count in product:
        v, multiple = float(pair.variance), int(10_000 / pair.variance)
        ys = np.arange(-1500, 1501)
        logs = -(ys**2) / (2 * v)
        weights, law = np.exp(logs + tilt * ys / v - tilt**2 / (2 * v)), np.zeros(points)
        np.add.at(law, multiple * ys % points, weights)
        transform = transform * np.fft.rfft(law) ** count
        scale += count * (tilt**2 / (2 * v) - math.log(np.exp(logs).sum()))
        offset += count / (2 * v)
    tilted = np.fft.irfft(transform, points)
    first = round(10_000 * (asked - offset)) - points // 2  # a period with ε in its middle
    losses = offset + (first + (np.arange(points) - first) % points) / 10_000
    above = losses > asked
    terms = tilted[above] * np.exp(-tilt * (losses[above] - offset - asked)) * -np.expm1(asked - losses[above])
    log_delta = math.log(terms.sum()) + scale - tilt * asked
    found = delta_on_lattice(product, Fraction(asked), 1e-9).enclosure
    assert found.width < 1e-15 * found.upper
    assert log_delta == pytest.approx(math.log(found.upper), abs=1e-9)


@pytest.mark.parametrize("count", [1, 200])
@pytest.mark.parametrize("asked", ["1/10", "7/5"])
def test_equal_responses_are_binomial(count, asked):
    """Where all are alike: T responses, of which k are true, lose (2k - T)ε."""
    one, at = Fraction(1, 11), Fraction(asked)
    with mpmath.workdps(DIGITS):
        p = 1 / (1 + mpmath.exp(-real(one)))
        value = mpmath.mpf(0)
        for k in range(count + 1):
            loss = real((2 * k - count) * one)
            value += mpmath.binomial(count, k) * p**k * (1 - p) ** (count - k) * max(0, 1 - mpmath.exp(real(at) - loss))
        if value == 0:
            return
        found = delta_on_lattice(((Responses(one), count),), at, 1e-9).enclosure
        assert real(found.exact_lower) <= value * (1 + mpmath.mpf(10) ** -40)
        assert real(found.exact_upper) >= value * (1 - mpmath.mpf(10) ** -40)
        assert found.width <= 1e-15 * found.upper


@pytest.mark.parametrize("delta", ["1/10", "1e-6", "1e-23", "1e-300"])
def test_a_file_of_counts_has_ten_digits(delta):
    found = epsilon_on_lattice(CENSUS, Fraction(delta), 1e-9)
    assert found.enclosure.width <= 1e-15 * found.enclosure.upper
    assert found.parameters["frequencies"] < 1000 < 10**6 < found.parameters["points"]
    for end, above in ((found.enclosure.exact_lower, True), (found.enclosure.exact_upper, False)):
        back = delta_on_lattice(CENSUS, end, 1e-12).enclosure
        assert (back.exact_upper >= Fraction(delta)) if above else (back.exact_lower <= Fraction(delta))
        assert back.upper == pytest.approx(float(Fraction(delta)), rel=1e-12)


@pytest.mark.seconds
@pytest.mark.parametrize("name", ["one variance", "discrete Laplace", "of all kinds"])
def test_the_other_lattice_overlaps(name):
    product = tuple((pair, 7 * count) for pair, count in PRODUCTS[name])
    delta, asked = Fraction(1, 10**6), Fraction(2)
    assert epsilon_on_lattice(product, delta, 1e-9).enclosure.overlaps(epsilon_bounds(product, delta).enclosure)
    assert delta_on_lattice(product, asked, 1e-9).enclosure.overlaps(delta_bounds(product, asked).enclosure)


def test_outcomes_agree():
    product = ((Responses(TENTH), 30), (Responses(HALF, 3), 12))
    for asked in (Fraction(0), Fraction(3, 2), Fraction(5)):
        listed = delta_by_outcomes(product, asked, 1e-9).enclosure
        assert delta_on_lattice(product, asked, 1e-9).enclosure.overlaps(listed)


def test_unlike_responses_are_narrow():
    """Sixty different ε: no two outcomes of a response are alike, and all lie on the lattice of 1/100."""
    product = tuple((Responses(Fraction(5 + k, 100)), 1) for k in range(60))
    found = prove_epsilon(product, Fraction(1, 10**6), 1e-9)
    assert found.route == ROUTE
    assert found.enclosure.width < 1e-14 * found.enclosure.upper


def test_hundreds_of_losses_of_one_release():
    """Next to the sum of the largest losses, 40, ε is 40 + log(1 - δ/p), p the probability that all are the largest."""
    found = epsilon_on_lattice(((ShiftedDiscreteLaplaces(Fraction(1, 100), 400), 10),), Fraction(1, 10**6), 1e-9)
    with mpmath.workdps(30):
        value = 40 + mpmath.log(1 - mpmath.mpf("1e-6") * (1 + mpmath.exp(mpmath.mpf(-1) / 100)) ** 10)
    assert real(found.enclosure.exact_lower) <= value <= real(found.enclosure.exact_upper)
    assert found.enclosure.width < 1e-13


@pytest.mark.seconds
def test_a_hundred_unlike_releases():
    product = tuple((gaussian(Fraction(10_000, 100 + k)), 1) for k in range(120))
    found = epsilon_on_lattice(product, Fraction(1, 10**10), 1e-9).enclosure
    assert found.width < 1e-14 * found.upper
    spread = sum(1 / float(pair.variance) for pair, _ in product)  # noise so large is all but Gaussian
    assert found.upper == pytest.approx(
        prove_epsilon(((ShiftedGaussians(Fraction(spread)), 1),), Fraction(1, 10**10), 1e-9).enclosure.upper, rel=1e-9
    )


def test_more_digits_where_they_are_asked_for():
    found = delta_on_lattice(TWO_LEVELS, Fraction(5), 1e-60).enclosure
    assert found.exact_upper - found.exact_lower < Fraction(1, 10**60) * found.exact_upper
    assert delta_on_lattice(TWO_LEVELS, Fraction(5), 1e-9).enclosure.contains(found)


def test_steps_without_a_short_common_one_are_wider():
    """σ² of twenty digits each: what cannot be looked at is counted, and the answer holds."""
    variances = [Fraction(math.isqrt(int(10**40 / rho)), 10**20) ** 2 for rho in LEVELS]
    product = tuple((ShiftedDiscreteGaussians(v, 1), 10) for v in variances)
    found = delta_on_lattice(product, Fraction(5), 1e-9, most_work=60_000)
    near = delta_on_lattice(CENSUS, Fraction(5), 1e-9).enclosure
    assert found.parameters["points"] > 10**100
    assert 1e-12 < found.enclosure.width / found.enclosure.upper < 1e-3
    assert found.enclosure.exact_lower < near.exact_lower < near.exact_upper < found.enclosure.exact_upper


def test_losses_on_no_lattice_are_declined():
    for pair in (ShiftedSkellams(Fraction(4), 1), ShiftedGaussians(HALF)):
        with pytest.raises(Declined, match="lattices of rational steps"):
            delta_on_lattice(((gaussian(2), 3), (pair, 1)), Fraction(1), 1e-9)


def test_beyond_all_losses_no_tilt_is_large_enough():
    with pytest.raises(Declined, match="no tilt"):
        delta_on_lattice(((Responses(TENTH), 3),), Fraction(2), 1e-9)
    with pytest.raises(Declined, match="infinite"):
        epsilon_on_lattice(((FourPoints(TENTH, TENTH), 2),), Fraction(1, 100), 1e-9)


def test_where_delta_exceeds_the_total_variation_epsilon_is_0():
    assert epsilon_on_lattice(((gaussian(100), 2),), HALF, 1e-9).enclosure.upper == 0


# --- What bounds the terms that are left out --------------------------------------------------------------------------


@pytest.mark.parametrize("pair", [*(pair for product in PRODUCTS.values() for pair, _ in product)], ids=repr)
def test_no_transform_exceeds_its_bound(pair):
    with working(200):
        law = pair.on_lattice()
        for tilt in (Fraction(1, 5), Fraction(3), Fraction(17, 2)):
            tilted = law.tilted(tilt)
            whole = tilted.at(Fraction(0))
            assert law.moment(tilt).overlaps(whole.real)
            for turn in (Fraction(k, 48) for k in range(1, 48)):
                square = (arb.pi() * ball(turn)).sin() ** 2
                share = abs(tilted.at(turn) / whole)
                assert share <= (-2 * arb(tilted.spread) * square).exp()
                if tilted.lone:
                    assert share**2 <= 1 - 4 * arb(tilted.spread) * square


@pytest.mark.parametrize(("variance", "slope"), [(0.05, 0.0), (0.3, 1.2), (0.9, 7.0), (1.0, 0.4), (12.0, 3.0)])
def test_the_variance_of_tilted_noise(variance, slope):
    ys = np.arange(-400, 401)
    masses = np.exp(-(ys**2) / (2 * variance) + slope * ys - slope**2 * variance / 2)
    masses /= masses.sum()
    exact = (ys**2 * masses).sum() - (ys * masses).sum() ** 2
    assert exact * (1 - 3e-6) <= least_variance(variance, slope) <= exact
    assert least_variance(variance / 100, 1e9) == 0


@pytest.mark.parametrize(
    "pair", [gaussian(3), gaussian("1/5", 2), Responses(HALF, 4), TwoPoints(TENTH, HALF)], ids=repr
)
def test_transforms_are_sums_over_losses(pair):
    with working(200), mpmath.workdps(DIGITS):
        law, tilt, turn = pair.on_lattice(), Fraction(6, 5), Fraction(3, 11)
        value = law.tilted(tilt).at(turn)
        total = mpmath.mpc(0)
        for loss, mass in losses_of(pair):
            index = (loss - law.offset) / law.step
            assert index.denominator == 1
            total += mass * mpmath.exp(real(tilt * loss)) * mpmath.expjpi(2 * real(turn * index))
        for part, exactly in ((value.real, total.real), (value.imag, total.imag)):
            assert abs(mpmath.mpf(part.mid().str(45, radius=False)) - exactly) < 1e-25 * abs(total)


@pytest.mark.parametrize(
    ("step", "tilt", "points"), [(0.01, 3.0, 1501), (0.7, 2.0, 31), (2.5, 0.4, 9), (1e-6, 9.0, 41)]
)
def test_no_weight_exceeds_its_bound(step, tilt, points):
    with working(100):
        bound = float(heaviest(Fraction(step), Fraction(tilt), points))
    found = []
    for beyond in (step / 100, step / 3, step):
        for m in range(1, points // 2 + 1):
            z = np.exp(-tilt * step - 2j * np.pi * m / points)
            found.append(2 * m**2 * abs(1 / (1 - z) - np.exp(-beyond) / (1 - z * np.exp(-step))) / points)
    assert max(found) <= bound <= 5 * max(found)


@pytest.mark.parametrize(("other", "side"), [(6.0, 1), (5.0, 1), (1.0, -1), (0.5, -1)])
def test_what_lies_whole_periods_away_is_bounded(other, side):
    """Against δ(ε + nNh) itself, for a tilt above that of the sum, and one below."""
    product, asked, tilt, period = ((gaussian(3), 2),), Fraction(3, 2), Fraction(2), 2
    with working(100):
        losses = common_lattice._Losses.of(product)
        sums = common_lattice._FourierSum(losses, tilt, 3 * period, (), arb(0), ())
        bound = float(sums._whole_periods_away(asked, Fraction(other), losses.log_moment(Fraction(other)).exp()))
    with mpmath.workdps(DIGITS):
        away = [convolved(product, asked + side * n * period) * math.exp(2 * side * n * period) for n in range(1, 4)]
    assert sum(away) <= bound <= 12 * sum(away)


def test_too_short_a_period_widens_the_answer(monkeypatch):
    product, asked = ((gaussian(3), 2),), Fraction(1)
    exactly = delta_on_lattice(product, asked, 1e-9).enclosure
    monkeypatch.setattr(common_lattice, "_period", lambda *_: (3, Fraction(6), HALF))
    found = delta_on_lattice(product, asked, 1e-9).enclosure
    assert found.exact_lower <= exactly.exact_lower
    assert found.exact_upper > exactly.exact_upper * (1 + Fraction(1, 10**6))


def shares(laws, points, m):
    """|Φ_m/Φ_0| by the bounds of section 3, in plain doubles."""
    found = 1.0
    for law, multiple, count in laws:
        square = math.sin(math.pi * (multiple * m % points) / points) ** 2
        one = math.sqrt(1 - 4 * law.spread * square) if law.lone else math.exp(-2 * law.spread * square)
        found *= one**count
    return found


@pytest.mark.parametrize("points", [101, 1001, 40_001])
@pytest.mark.parametrize("budget", [-25.0, -12.0, -5.0])
def test_what_is_left_out_is_bounded(points, budget):
    """Every frequency is kept, or in the bound: against the sum over all of them."""

    def law(spread, lone):
        return Tilted(lambda turn: None, spread, lone)

    laws = [(law(2.0, False), 7, 2), (law(0.2, True), 13, 9), (law(0.6, False), points - 11, 5)]
    kept, left_out = frequencies_that_matter(laws, points, budget, 10**6)
    assert kept == sorted(set(kept))
    others = set(range(1, points // 2 + 1)) - set(kept)
    exactly = sum(shares(laws, points, m) / m**2 for m in others)
    assert exactly <= left_out <= math.exp(budget)
    few, more = frequencies_that_matter(laws, points, budget, 3)
    assert len(few) <= 3
    assert sum(shares(laws, points, m) / m**2 for m in set(range(1, points // 2 + 1)) - set(few)) <= more


def test_octaves_with_too_many_intervals_are_counted(monkeypatch):
    monkeypatch.setattr(common_lattice, "_MOST_INTERVALS", 4)
    with pytest.raises(Declined, match="too many frequencies"):
        delta_on_lattice(CENSUS, Fraction(5), 1e-9)
    loose = delta_on_lattice(CENSUS, Fraction(5), 1e-9, widest=math.inf).enclosure
    monkeypatch.undo()
    tight = delta_on_lattice(CENSUS, Fraction(5), 1e-9).enclosure
    assert loose.exact_lower < tight.exact_lower < tight.exact_upper < loose.exact_upper
    assert loose.width > 100 * tight.width


# --- Where routing asks for it ----------------------------------------------------------------------------------------


def test_accounts_come_from_the_common_lattice():
    mechanism = DiscreteGaussian(3, dimension=1) ** 10 @ DiscreteGaussian("5/2", 2, dimension=1) ** 4
    found = epsilon(mechanism, "1e-6")
    assert found.method == ROUTE
    assert found.width < 1e-14 * found.upper
    unlike = RandomizedResponse("0.1") ** 50 @ RandomizedResponse("0.13", 4) ** 40 @ RandomizedResponse("0.17") ** 50
    assert epsilon(unlike, "1e-6", "replace-one").method == ROUTE


def test_unlike_responses_on_no_short_lattice_are_sums_of_random_signs():
    unlike = [Fraction(5, 100) + Fraction(k * k * 7919 % 10007, 20007) for k in range(18)]
    product = (*((Responses(one), 1) for one in unlike), (FourPoints(TENTH, Fraction(1, 10**8)), 1))
    found = prove_epsilon(product, Fraction(1, 10**6), 1e-9)
    assert found.route == "optimal composition"
    assert found.enclosure.width < 1e-14 * found.enclosure.upper
    wider = epsilon_bounds(product, Fraction(1, 10**6), tolerance=1e-4).enclosure
    assert wider.contains(found.enclosure)
    back = prove_delta(product, found.enclosure.exact_upper, 1e-9).enclosure
    assert back.exact_lower <= Fraction(1, 10**6)
    assert back.upper == pytest.approx(1e-6, rel=1e-4)
    assert [pair.worst_of for pair in (Responses(TENTH), Responses(TENTH, 3), gaussian(2))] == [(TENTH, 0), None, None]


def test_a_curve_is_as_narrow():
    mechanism = DiscreteGaussian(3, dimension=1) ** 10 @ DiscreteGaussian(2, dimension=1) ** 4
    for found in delta_curve(mechanism, ["0.5", 3, 12]):
        assert found.method == ROUTE
        assert found.width < 1e-14 * found.upper


@pytest.mark.seconds
def test_other_losses_beside_them_go_elsewhere():
    found = epsilon(DiscreteGaussian(3, dimension=1) ** 3 @ Skellam(9) ** 2, "1e-6")
    assert found.method == "lattice"


def test_the_middle_of_a_curve_is_where_it_crosses():
    product = PRODUCTS["two variances"]
    at = prove_delta(product, Fraction(2), 1e-9).enclosure
    back = prove_epsilon(product, at.exact_upper, 1e-9).enclosure
    assert back.exact_lower <= 2 <= back.exact_upper + Fraction(1, 10**12)
    with pytest.raises(NotCertified):
        invert(lambda e: (arb(0), arb(2)), ball(HALF), 1)


ON_LATTICES = [pair for pair in (*GROUPED, *ALONE) if pair.on_lattice() is not None]


@pytest.mark.parametrize("pair", ON_LATTICES, ids=repr)
def test_moments_are_those_of_the_pair(pair):
    with working(160):
        law = pair.on_lattice()
        if law.infinite.is_zero():
            for order in (Fraction(3, 2), Fraction(4)):
                assert law.moment(order - 1).log().overlaps(pair.closed_log_moment(ball(order)))
        for point in pair.distribution().points[:50]:
            assert ((point.loss - ball(law.offset)) / ball(law.step)).contains_integer()


def test_laws_say_where_their_losses_are():
    with working(100):
        law = DiscreteGaussianLosses(Fraction(5, 2), 3)
        assert (law.step, law.offset, law.infinite) == (Fraction(6, 5), Fraction(9, 5), 0)
        assert Responses(TENTH).on_lattice().step == 2 * TENTH
        assert Responses(TENTH, 3).on_lattice().step == TENTH
        assert FourPoints(Fraction(0), TENTH).on_lattice() is None
