"""ε at δ = 0, against profiles, closed forms and mechanisms on tiny datasets that are enumerated."""

import itertools
import math
import random
from fractions import Fraction

import pytest
from flint import arb

import dpbounds as dp
from dpbounds.errors import InvalidValue
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.pure import pure_epsilon
from dpbounds.privacy.pairs.losses import as_ball, ball, law_at
from dpbounds.privacy.pairs.pairs import Direction, Draws, Responses, Sampled, TwoGuarantees, Zeroed
from tests.privacy.pairs.test_every_pair import KNOWN, PAIRS

ADD, REPLACE = "add-or-remove-one", "replace-one"


def upper(mechanism, relation=ADD):
    return dp.epsilon(mechanism, 0, relation).exact_upper


def is_read_off_its_profile(pair):
    """Whether the largest loss is that of the profile, and not less, by a proof of its own."""
    several = isinstance(pair, (Sampled, Zeroed)) and pair.draws.slots > 1
    return not (isinstance(pair, (TwoGuarantees, Zeroed)) or several)


@pytest.mark.parametrize("pair", [pair for pair in KNOWN if is_read_off_its_profile(pair)], ids=str)
def test_the_profile_ends_at_the_largest_loss(pair):
    with working(200):
        law, largest = law_at(pair, 200), as_ball(pair.largest_loss())
        if largest.is_finite():
            step = arb("1e-9")
            assert abs(law.delta(largest + step)) < 1e-30
            assert law.delta(largest - step) > 0
        else:
            assert all(law.delta(arb(loss)) > 0 for loss in (0, 1, 5))


@pytest.mark.parametrize("pair", [pair for pair in KNOWN if not is_read_off_its_profile(pair)], ids=str)
def test_where_more_is_proven_than_by_the_profile_it_is_no_larger(pair):
    with working(200):
        largest, of_profile = as_ball(pair.largest_loss()), law_at(pair, 200).largest_loss()
        if largest.is_finite():
            assert law_at(pair, 200).delta(largest / 4) > 0
            assert of_profile is not None
            assert 0 < largest < of_profile + arb("1e-30")
        else:
            assert of_profile is None or law_at(pair, 200).infinite > 0


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if not pair.has_distribution], ids=str)
def test_secret_places_are_no_dearer_than_published_ones(pair):
    published = pair.revealed()
    if published is not None:
        ends = [pure_epsilon(each).enclosure.exact_upper for each in (((pair, 1),), published)]
        assert ends[0] <= ends[1]


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (dp.PureDP("0.1", relation=ADD) ** 10, 1),
        (dp.Laplace(4) ** 3 @ dp.DiscreteLaplace(2), Fraction(5, 4)),
        (dp.ExponentialMechanism("0.3", relation=ADD) ** 2, Fraction(3, 5)),
        (dp.RandomlyAllocated(dp.Laplace(2), 10) ** 3, Fraction(3, 2)),
        (dp.BallsInBins(dp.Laplace(2), 10, 3, redraw=False), Fraction(3, 2)),
        (dp.PoissonSampled(dp.Laplace(2), 1) ** 2, 1),
        (dp.InParallel((dp.Laplace(2), dp.Laplace(4))), Fraction(1, 2)),
    ],
    ids=str,
)
def test_it_is_exact_where_the_parts_are(mechanism, expected):
    found = dp.epsilon(mechanism, 0)
    assert found.exact_lower == found.exact_upper == expected


@pytest.mark.parametrize(
    "mechanism",
    [
        dp.Gaussian(10),
        dp.Laplace(1) @ dp.Gaussian(10),
        dp.PoissonSampled(dp.Gaussian(10), "0.01"),
        dp.ApproximateDP(1, "1e-9", relation=ADD),
        dp.ZCDP("0.01", relation=ADD),
        dp.UniformBall(10, 3),
        dp.Skellam(100),
        dp.TruncatedDiscreteLaplace(1, 30),
        dp.DiscreteGaussian(10),
        dp.RandomlyAllocated(dp.Gaussian(10), 5),
    ],
    ids=str,
)
def test_unbounded_losses_are_pure_for_no_epsilon(mechanism):
    found = dp.account(mechanism, delta=0)
    assert found.enclosure.exact_upper == math.inf
    assert "not pure" in found.enclosure.method
    assert math.isfinite(dp.epsilon(mechanism, "0.5").upper)


def test_closed_forms_of_samples():
    q = Fraction(1, 10)
    with working(150):
        rate = ball(q)
        cases = [
            (dp.PoissonSampled(dp.Laplace(1), q), ADD, (rate * arb(1).expm1()).log1p()),
            (
                dp.PoissonSampled(dp.Laplace(1), q),
                REPLACE,
                (1 + rate * arb(1).expm1()).log() - (1 + rate * arb(-1).expm1()).log(),
            ),
            (dp.SampledWithoutReplacement(dp.Laplace(1), 10, 100), REPLACE, (rate * arb(2).expm1()).log1p()),
            (dp.SampledWithReplacement(dp.Laplace(1), 3, 10), REPLACE, 3 * (rate * arb(2).expm1()).log1p()),
        ]
        for mechanism, relation, expected in cases:
            assert abs(ball(upper(mechanism, relation)) - expected) < 1e-30


def test_epsilon_falls_to_no_more_than_that_as_delta_grows():
    mechanism = dp.RandomizedResponse("0.5") ** 5
    pure, almost = dp.epsilon(mechanism, 0, REPLACE), dp.epsilon(mechanism, "1e-12", REPLACE)
    assert almost.exact_upper <= pure.exact_upper
    assert almost.exact_lower > pure.exact_lower * Fraction(99, 100)
    assert dp.delta(mechanism, pure.exact_upper, REPLACE).exact_upper == 0
    assert dp.delta(mechanism, pure.exact_lower * Fraction(999, 1000), REPLACE).exact_lower > 0


# --- Mechanisms on tiny datasets --------------------------------------------------------------------------------------


def distributions(generator, batches, distance, epsilon, outcomes=4):
    """For each batch a distribution, e^ε apart at most for batches at distance 1: the largest of shifted cones."""
    peaks = [(generator.choice(batches), generator.uniform(0, 3 * epsilon)) for _ in range(outcomes - 1)]
    found = {}
    for batch in batches:
        # log-probabilities of all but the last outcome change by at most ε a step, and stay so small that the last,
        # which has the rest, changes by less
        shares = [math.exp(-9 - min(height, epsilon * distance(batch, peak))) for peak, height in peaks]
        found[batch] = [*shares, 1 - sum(shares)]
    return found


def ratio(first, second):
    return max(abs(math.log(p / q)) for p, q in zip(first, second, strict=True))


def averaged(found, weighted):
    weighted = list(weighted)
    return [sum(weight * found[batch][k] for weight, batch in weighted) for k in range(len(found[weighted[0][1]]))]


def steps_of_one_record(first, second):
    """How many records have to be added or removed to come from one batch to another."""
    return sum(abs(first.count(each) - second.count(each)) for each in set(first) | set(second))


def poisson_samples(records, rate):
    for kept in itertools.product([False, True], repeat=len(records)):
        weight = math.prod(rate if each else 1 - rate for each in kept)
        yield weight, tuple(sorted(record for record, each in zip(records, kept, strict=True) if each))


@pytest.mark.parametrize("seed", range(8))
def test_no_mechanism_on_poisson_samples_spends_more(seed):
    generator, epsilon, rate = random.Random(seed), 0.7, 0.3
    records = "abcd"
    batches = [tuple(sorted(batch)) for size in range(4) for batch in itertools.combinations(records, size)]
    found = distributions(generator, batches, steps_of_one_record, epsilon)
    sampled = dp.PoissonSampled(dp.PureDP("0.7", relation=ADD), "0.3")
    without, there = (averaged(found, poisson_samples(each, rate)) for each in ("ab", "abc"))
    instead = averaged(found, poisson_samples("abd", rate))
    assert ratio(without, there) <= float(upper(sampled))
    assert ratio(there, instead) <= float(upper(sampled, REPLACE))


@pytest.mark.parametrize("seed", range(8))
def test_no_mechanism_on_draws_with_replacement_spends_more(seed):
    generator, epsilon = random.Random(seed), 0.7
    records = "abcd"
    batches = [tuple(sorted(batch)) for batch in itertools.product(records, repeat=3)]

    def replaced(first, second):
        return steps_of_one_record(first, second) / 2

    found = distributions(generator, batches, replaced, epsilon)
    sampled = dp.SampledWithReplacement(dp.PureDP("0.7", relation=REPLACE), 3, 3)

    def drawn(dataset):
        return averaged(found, ((1 / 27, tuple(sorted(batch))) for batch in itertools.product(dataset, repeat=3)))

    assert ratio(drawn("abc"), drawn("abd")) <= float(upper(sampled, REPLACE))


def test_the_bounds_on_samples_are_nearly_attained():
    """By a mechanism with one rare outcome that says whether, and how often, a record is in the batch."""
    epsilon, rate, rare = 0.7, 0.3, 1e-12
    samples = list(poisson_samples("abc", rate))
    there = sum(weight * rare * math.exp(epsilon * batch.count("c")) for weight, batch in samples)
    instead = sum(weight * rare * math.exp(-epsilon * batch.count("c")) for weight, batch in samples)
    sampled = dp.PoissonSampled(dp.PureDP("0.7", relation=ADD), "0.3")
    assert math.log(there / rare) == pytest.approx(float(upper(sampled)), rel=1e-9)
    assert math.log(there / instead) == pytest.approx(float(upper(sampled, REPLACE)), rel=1e-9)
    often = sum(math.exp(epsilon * batch.count("c")) / 27 for batch in itertools.product("abc", repeat=3))
    drawn = dp.SampledWithReplacement(dp.PureDP("0.7", relation=REPLACE), 3, 3)
    assert math.log(often) == pytest.approx(float(upper(drawn, REPLACE)), rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_no_pure_mechanism_spends_more_where_a_record_is_zeroed(seed):
    """V, Z and O as free distributions of two outcomes, each e^ε from Z at most."""
    generator, epsilon, rate = random.Random(seed), 0.7, Fraction(1, 4)
    pair = Zeroed(Direction.REMOVE, Draws(rate), Responses(Fraction(7, 10)))
    leaving, joining = (float(pure_epsilon(((each, 1),)).enclosure.exact_upper) for each in (pair, pair.mirrored()))
    for _ in range(500):
        z = math.exp(generator.uniform(-9, -3))
        v, o = (z * math.exp(generator.choice([-1, 1, generator.uniform(-1, 1)]) * epsilon) for _ in range(2))
        first, second = 0.75 * o + 0.25 * v, 0.75 * o + 0.25 * z
        assert math.log(first / second) <= leaving + 1e-12
        assert math.log(second / first) <= joining + 1e-12
    assert math.log((0.75 * math.exp(-epsilon) + 0.25 * math.exp(epsilon)) / (0.75 * math.exp(-epsilon) + 0.25)) == (
        pytest.approx(leaving, rel=1e-9)
    )


# --- Groups, calibration ----------------------------------------------------------------------------------------------


def test_groups_spend_as_often_as_they_have_records():
    assert dp.group_account(dp.Laplace(2), 3, delta=0).exact_upper == Fraction(3, 2)
    assert dp.group_account(dp.RandomlyAllocated(dp.Laplace(2), 10), 3, delta=0).exact_upper == Fraction(3, 2)
    one = dp.epsilon(dp.PoissonSampled(dp.Laplace(2), "0.1"), 0)
    group = dp.group_account(dp.PoissonSampled(dp.Laplace(2), "0.1"), 3, delta=0)
    assert float(group.exact_upper) == pytest.approx(3 * float(one.exact_upper), rel=1e-12)
    assert group.exact_lower == one.exact_lower


@pytest.mark.parametrize(
    ("factory", "solve", "expected"),
    [
        (lambda z: dp.Laplace(z), "noise", 1),
        (lambda z: dp.Laplace(z) ** 10, "noise", 10),
        (lambda count: dp.Laplace(10) ** int(count), "steps", 10),
        (lambda rate: dp.PoissonSampled(dp.Laplace(1), rate), "sample-rate", 1),
    ],
)
def test_calibration_finds_short_numbers_exactly(factory, solve, expected):
    found = dp.calibrate(factory, 1, 0, solve=solve)
    assert found.value == expected
    assert found.epsilon.exact_upper <= 1
    assert found.target_delta == 0
    assert found.fails_at is None or upper(factory(found.fails_at)) > 1
    assert found.gap is not None
    assert found.gap < 1e-10


def test_calibration_of_samples_encloses_the_closed_form():
    found = dp.calibrate(lambda z: dp.PoissonSampled(dp.Laplace(z), "0.01") ** 100, 1, 0)
    exact = 1 / math.log1p(math.expm1(0.01) / 0.01)
    assert float(found.fails_at) < exact < float(found.value)
    assert found.gap < 1e-10


@pytest.mark.parametrize("beside", range(-4, 5))
def test_what_is_calibrated_suffices_beside_a_short_decimal_and_where_no_attack_is_known(beside):
    budget = 1 + Fraction(beside, 10**12)
    found = dp.calibrate(dp.Laplace, budget, 0)
    assert 1 / found.value <= budget
    drawn = dp.calibrate(lambda z: dp.SampledWithReplacement(dp.Laplace(z), 3, 10), budget, 0, REPLACE)
    assert upper(drawn.mechanism, REPLACE) <= budget
    assert drawn.fails_at is None


def test_no_gaussian_noise_is_pure():
    with pytest.raises(InvalidValue, match="not pure"):
        dp.calibrate(dp.Gaussian, 1, 0)
    with pytest.raises(InvalidValue, match="one step already spends more"):
        dp.calibrate(lambda count: dp.Laplace(1) ** int(count), "0.5", 0, solve="steps")


def test_what_needs_a_delta_says_so():
    with pytest.raises(InvalidValue, match="greater than 0"):
        dp.by_method("rdp", dp.Laplace(1), delta=0)
    with pytest.raises(InvalidValue, match="at least 0"):
        dp.epsilon(dp.Laplace(1), -1)


def test_an_undecided_loss_is_refused_and_not_taken_for_an_impossible_outcome() -> None:
    """1 - q + q e^-200 cannot be told from 0 at this precision; taken for it, ε was -0.69."""
    nearly = 1 - Fraction(1, 10**90)
    mechanism = dp.SampledWithoutReplacement(dp.PoissonSampled(dp.Laplace(Fraction(1, 200)), nearly), 1, 2)
    with pytest.raises(dp.NotCertified, match="the largest loss"):
        dp.epsilon(mechanism, 0, "replace-one")
