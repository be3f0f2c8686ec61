"""Truncated noise on whole numbers: against sums over all outcomes at 40 digits, also of vectors and of runs."""

import itertools
import math
from fractions import Fraction

import mpmath
import pytest

import dpbounds as dp
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.pairs.bounded_support import MOST_REACH, ShiftedTruncatedNoise, truncated_noises
from dpbounds.privacy.pairs.pairs import FourPoints
from dpbounds.privacy.relations import Order, Relation
from dpbounds.privacy.renyi.accountant import renyi_epsilon
from dpbounds.privacy.renyi.concentrated_accounts import zcdp_epsilon

ADD, REPLACE, ZERO = Relation
EPSILONS = ("0", "0.3", "1", "2.5")
NOISES = {
    "laplace": (dp.TruncatedDiscreteLaplace, "1.5", lambda x: mpmath.exp(-abs(x) / mpmath.mpf("1.5"))),
    "gaussian": (dp.TruncatedDiscreteGaussian, "2.5", lambda x: mpmath.exp(-x * x / (2 * mpmath.mpf("2.5") ** 2))),
}


def masses(weight, reach):
    """The noise from its definition: what is left of the weights on [-k, k]."""
    total = mpmath.fsum(weight(x) for x in range(-reach, reach + 1))
    return {x: weight(x) / total for x in range(-reach, reach + 1)}


def profile(first, second, e):
    """The sum of the positive part over all outcomes of either."""
    alpha = mpmath.exp(mpmath.mpf(e))
    return mpmath.fsum(max(first.get(x, 0) - alpha * second.get(x, 0), 0) for x in {*first, *second})


def moved(noise, distance):
    return {x + distance: mass for x, mass in noise.items()}


def is_value(found, value):
    """Whether an enclosure holds a value, to 30 digits."""
    wanted = Fraction(mpmath.nstr(value, 38))
    return found.exact_lower <= wanted * (1 + Fraction(1, 10**30)) and wanted * (1 - Fraction(1, 10**30)) <= Fraction(
        found.exact_upper
    )


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("relation", [ADD, REPLACE, ZERO])
@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize(("reach", "bound"), [(1, 1), (4, 1), (9, 3), (4, 3)])
@mpmath.workdps(40)
def test_one_release(name, relation, reach, bound, epsilon):
    kind, scale, weight = NOISES[name]
    noise, distance = masses(weight, reach), bound * relation.sensitivity_factor
    found = dp.delta(kind(scale, reach, bound), epsilon, relation)
    assert is_value(found, profile(moved(noise, distance), noise, epsilon))
    assert found.width <= 1e-14
    assert found.exact_upper > 0


@pytest.mark.parametrize("name", NOISES)
@mpmath.workdps(40)
def test_three_releases_are_all_their_outcomes(name):
    kind, scale, weight = NOISES[name]
    noise = masses(weight, 4)

    def together(one):
        return {key: math.prod(one[x] for x in key) for key in itertools.product(one, repeat=3)}

    for epsilon in EPSILONS[:3]:
        found = dp.delta(kind(scale, 4) ** 3, epsilon)
        value = profile(together(moved(noise, 1)), together(noise), epsilon)
        assert found.upper == pytest.approx(float(value), rel=1e-9)
        assert found.exact_lower <= Fraction(mpmath.nstr(value, 38)) * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("reach", [1, 3])
@mpmath.workdps(40)
def test_no_vector_spends_more_than_one_coordinate(name, reach):
    """Two coordinates, all vectors of l1 norm at most 3: at every threshold, those below 1 included."""
    _, _, weight = NOISES[name]
    noise = masses(weight, reach)

    def vector(v, w):
        first, second = moved(noise, v), moved(noise, w)
        return {(x, y): p * q for x, p in first.items() for y, q in second.items()}

    still = vector(0, 0)
    for v, w in [(1, 1), (2, 1), (1, 2), (1, -1), (0, 3)]:
        for epsilon in ("-2", "-0.5", *EPSILONS):
            most = profile(moved(noise, abs(v) + abs(w)), noise, epsilon)
            spent = profile(vector(v, w), still, epsilon)
            assert spent <= most + mpmath.mpf(10) ** -35
            assert (spent >= most - mpmath.mpf(10) ** -35) or v * w != 0


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("order", ["remove", "add"])
@mpmath.workdps(40)
def test_samples_are_mixtures_with_both_supports(name, order):
    kind, scale, weight = NOISES[name]
    noise = masses(weight, 4)
    there = moved(noise, 1)
    mixed = {x: mpmath.mpf(3) / 4 * noise.get(x, 0) + there.get(x, 0) / 4 for x in {*noise, *there}}
    pair = (mixed, noise) if order == "remove" else (noise, mixed)
    for epsilon in ("0", "0.1", "0.5"):
        found = dp.delta(dp.PoissonSampled(kind(scale, 4), "1/4"), epsilon, order=order)
        assert found.upper == pytest.approx(float(profile(*pair, epsilon)), rel=1e-12, abs=1e-30)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("order", ["remove", "add"])
@mpmath.workdps(40)
def test_random_allocation_to_one_of_three_steps(name, order):
    kind, scale, weight = NOISES[name]
    noise = masses(weight, 2)
    there = moved(noise, 1)

    def steps(*ones):
        return {key: math.prod(one.get(x, 0) for one, x in zip(ones, key, strict=True)) for key in outcomes}

    outcomes = list(itertools.product({*noise, *there}, repeat=3))
    ways = [steps(*(there if step == drawn else noise for step in range(3))) for drawn in range(3)]
    mixed, still = {key: mpmath.fsum(way[key] for way in ways) / 3 for key in outcomes}, steps(noise, noise, noise)
    pair = (mixed, still) if order == "remove" else (still, mixed)
    for epsilon in ("0", "0.2"):
        found = dp.delta(dp.RandomlyAllocated(kind(scale, 2), 3), epsilon, order=order)
        value = float(profile(*pair, epsilon))
        assert found.lower <= value * (1 + 1e-12) <= found.upper * (1 + 2e-12)
        assert found.upper == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("name", NOISES)
@mpmath.workdps(40)
def test_batches_of_one_of_five_records(name):
    """Replaced: in a fifth of the batches 1 or -1 is the record's; the others contribute as one of the two does."""
    kind, scale, weight = NOISES[name]
    noise = masses(weight, 3)
    ends = [{x: moved(noise, v).get(x, mpmath.mpf(0)) for x in range(-4, 5)} for v in (1, -1)]
    mixed = {x: (ends[0][x] + 4 * ends[1][x]) / 5 for x in ends[0]}
    found = dp.delta(dp.SampledWithoutReplacement(kind(scale, 3), 1, 5), "0.1", REPLACE)
    for pair in ((mixed, ends[1]), (ends[1], mixed)):
        assert float(profile(*pair, "0.1")) <= found.upper * (1 + 1e-12)
    assert found.lower == pytest.approx(float(max(profile(mixed, ends[1], "0.1"), profile(ends[1], mixed, "0.1"))))


def test_several_records_move_the_sum_several_times():
    pair = ShiftedTruncatedNoise(Fraction(1, 2), 1, 9, 2)
    assert pair.enlarged(4) == ShiftedTruncatedNoise(Fraction(1, 2), 1, 9, 8)
    assert pair.enlarged(10) == FourPoints(Fraction(0), Fraction(1))
    assert truncated_noises(Fraction(1, 2), 1, 9, 18).atom_count == 1
    spent = dp.group_account(dp.TruncatedDiscreteLaplace(2, 9), 4, epsilon=1)
    assert spent.overlaps(dp.delta(dp.TruncatedDiscreteLaplace(2, 9, bound=4), 1))


def test_answers_that_share_no_value_are_not_private():
    found = dp.delta(dp.TruncatedDiscreteGaussian(3, reach=1, bound=2), 5, REPLACE)
    assert found.exact_lower == found.exact_upper == 1
    assert dp.epsilon(dp.TruncatedDiscreteGaussian(3, reach=1, bound=2), "0.5", REPLACE).exact_upper == math.inf


def test_it_is_the_noise_without_bounds_where_it_reaches_far():
    for truncated, whole, method in (
        (dp.TruncatedDiscreteLaplace(2, 200), dp.DiscreteLaplace(2), "outcomes"),
        (dp.TruncatedDiscreteGaussian(2, 60), dp.DiscreteGaussian(2, dimension=1), "common lattice"),
    ):
        near, far = dp.epsilon(truncated**10, "1e-5"), dp.epsilon(whole**10, "1e-5")
        assert near.method == method
        assert near.upper == pytest.approx(far.upper, rel=1e-8)


def test_neither_of_two_scales_spends_less_everywhere():
    less, more = dp.TruncatedDiscreteLaplace(1, 4), dp.TruncatedDiscreteLaplace(2, 4)
    assert dp.delta(less, 0).exact_lower > dp.delta(more, 0).exact_upper
    assert dp.delta(less, 5).exact_upper < dp.delta(more, 5).exact_lower
    assert less.dominated_by(Order.REMOVE).pair.costs() is None


def test_pure_and_concentrated_privacy_are_refused():
    noise = dp.TruncatedDiscreteLaplace(2, 9)
    assert dp.epsilon(noise, 0).exact_upper == math.inf
    assert dp.account(noise, delta="1e-2").tight
    with pytest.raises(UnsupportedMechanism, match=r"infinite Rényi divergences.*no ρ holds"):
        zcdp_epsilon(noise, "1e-5")
    assert renyi_epsilon(noise, "1e-2").enclosure.exact_upper == math.inf


def test_numbers_out_of_their_domain():
    for wrong in ({"reach": 0}, {"reach": "1.5"}, {"reach": 3, "bound": 0}):
        with pytest.raises(InvalidValue, match=next(reversed(wrong))):
            dp.TruncatedDiscreteLaplace(2, **wrong)
    for kind in (dp.TruncatedDiscreteLaplace, dp.TruncatedDiscreteGaussian):
        with pytest.raises(InvalidValue, match="noise"):
            kind(0, 3)
        with pytest.raises(UnsupportedMechanism, match=f"at most {MOST_REACH}, not {MOST_REACH + 1}"):
            dp.delta(kind(2, MOST_REACH + 1), 1)


def test_a_larger_scale_may_spend_more():
    """So a scale is said exactly, and not rounded to a side."""
    narrow, wide = (dp.TruncatedDiscreteLaplace(scale, reach=12) for scale in ("1", "4/3"))
    assert dp.delta(narrow, "1.1") < dp.delta(wide, "1.1")
    assert "scale 4/3 on" in wide.in_words(lambda value, side: f"{float(value):.3f}" if side == "up" else "at least")
