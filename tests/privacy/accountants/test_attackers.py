"""An attacker's error rates, against closed forms, enumerated tests and explicit thresholds."""

import itertools
import math
import random
from fractions import Fraction

import mpmath
import pytest

import dpbounds as dp
from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.privacy.accountants.attackers import _Curve, largest_true_positive_rate
from dpbounds.privacy.domination.composition import neighbour_classes
from dpbounds.privacy.pairs.pairs import (
    Allocated,
    AllocatedTo,
    Direction,
    FourPoints,
    ShiftedGaussians,
    TwoPoints,
)
from dpbounds.privacy.relations import Relation
from tests.privacy.small_laws import m

ADD, REPLACE = "add-or-remove-one", "replace-one"
RATES = ["1e-12", "1e-6", "0.01", "0.2", "0.5", "0.7", "0.99"]


def phi(x):
    return mpmath.ncdf(x)


def quantile(p):
    return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)


def holds(found, exactly, relative=1e-8):
    """Whether an enclosure holds a number, and is narrow for either error rate."""
    lower, upper = m(found.exact_lower), m(found.exact_upper)
    assert lower <= exactly + mpmath.mpf(10) ** -40 * exactly
    assert exactly <= upper + mpmath.mpf(10) ** -40 * exactly
    assert upper - lower <= relative * min(exactly, 1 - exactly) + mpmath.mpf(10) ** -45
    return True


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("noise", ["10", "1", "0.1"])
def test_gaussian_noise(rate, noise):
    """Dong, Roth & Su 2022, equation 6."""
    with mpmath.workdps(120):
        exactly = phi(-quantile(m(Fraction(rate))) - 1 / m(Fraction(noise)))
        assert holds(dp.trade_off(dp.Gaussian(noise), rate), exactly)


@pytest.mark.parametrize("rate", RATES)
def test_laplace_noise(rate):
    """Dong, Roth & Su 2022, Proposition A.6."""
    with mpmath.workdps(60):
        a = m(Fraction(rate))
        shift = mpmath.exp(-1)
        exactly = 1 - a / shift if a < shift / 2 else shift / (4 * a) if a < mpmath.mpf(1) / 2 else shift * (1 - a)
        assert holds(dp.trade_off(dp.Laplace(1), rate), exactly)


@pytest.mark.parametrize("rate", RATES)
def test_black_boxes_and_balls(rate):
    with mpmath.workdps(60):
        a = m(Fraction(rate))
        e, zero = mpmath.e, mpmath.mpf(0)
        for delta in ("0", "0.1"):
            rest = 1 - m(Fraction(delta))
            exactly = max(rest - e * a, (rest - a) / e, zero)
            box = dp.ApproximateDP(1, delta, relation=ADD) if delta != "0" else dp.PureDP(1, relation=ADD)
            assert holds(dp.trade_off(box, rate), exactly)
        apart = m(dp.delta(dp.UniformBall(2, 3), 1).exact_upper)
        found = dp.trade_off(dp.UniformBall(2, 3), rate)
        exactly = max(1 - apart - a, zero)
        assert m(found.exact_lower) <= exactly <= m(found.exact_upper) + mpmath.mpf(10) ** -15
        assert found.width < 1e-8


def test_balls_that_do_not_meet_protect_nothing():
    assert dp.trade_off(dp.UniformBall("0.1", 3), "0.3").upper < 1e-300


@pytest.mark.parametrize("rate", ["1e-6", "0.01", "0.3", "0.9"])
def test_one_poisson_sample_of_either_order(rate):
    """By thresholds on x: the record is in the first dataset, or in the second; the lesser of the two is the answer."""
    with mpmath.workdps(40):
        q, a = m(Fraction(1, 10)), m(Fraction(rate))
        mixed = lambda x: (1 - q) * phi(x) + q * phi(x - 1)  # noqa: E731
        start = float(quantile(a))
        leaving = phi(-mpmath.findroot(lambda x: mixed(x) - a, start))  # P mixed: accuses on small x
        joining = mixed(-quantile(a))  # Q mixed: accuses on large x
        sampled = dp.PoissonSampled(dp.Gaussian(1), "0.1")
        found = dp.trade_off(sampled, rate)
        assert holds(found, min(leaving, joining))
        assert largest_true_positive_rate(sampled, Fraction(rate), Relation.ADD_OR_REMOVE_ONE) == 1 - found.exact_lower
        each = {found.name: found.product for found in neighbour_classes(sampled, Relation.ADD_OR_REMOVE_ONE).every()}
        for name, exactly in (("remove", leaving), ("add", joining)):
            lower, upper = map(m, _Curve(each[name]).at(Fraction(rate)))
            assert lower <= exactly <= upper < lower + mpmath.mpf(10) ** -8


@pytest.mark.parametrize("rate", ["0.001", "0.1", "0.35", "0.8"])
def test_the_best_test_of_three_answers(rate):
    """Neyman and Pearson: answers in the order of their likelihood ratios, the last with a coin."""
    a, left, missed = Fraction(rate), Fraction(rate), Fraction(1)
    odds = Fraction(math.e)
    true, other = odds / (odds + 2), 1 / (odds + 2)
    first, second = (true, other, other), (other, true, other)
    outcomes = [
        (math.prod(first[k] for k in each), math.prod(second[k] for k in each))
        for each in itertools.product(range(3), repeat=3)
    ]
    for p, q in sorted(outcomes, key=lambda pair: pair[1] / pair[0], reverse=True):
        share = min(Fraction(1), left / p)
        left, missed = left - share * p, missed - share * q
    found = dp.trade_off(dp.RandomizedResponse(1, 3) ** 3, a, REPLACE)
    assert float(found.exact_lower) <= float(missed) * (1 + 1e-12)
    assert float(found.exact_upper) >= float(missed) * (1 - 1e-12)
    assert found.width < 1e-9


def two_points(high, span):
    h, low = m(high), m(high - span)
    share = (1 - mpmath.exp(-low)) / (mpmath.exp(-h) - mpmath.exp(-low))
    return [share, 1 - share], [share * mpmath.exp(-h), (1 - share) * mpmath.exp(-low)]


def four_points(epsilon, delta):
    odds, d = mpmath.exp(m(epsilon)), m(delta)
    likely, unlikely = (1 - d) * odds / (1 + odds), (1 - d) / (1 + odds)
    return [d, 0, likely, unlikely], [0, d, unlikely, likely]


@pytest.mark.parametrize("seed", range(40))
def test_random_pairs_of_few_losses(seed):
    """Neyman and Pearson, to 500 digits: also where losses are hundreds, or error rates 1e-12."""
    draw = random.Random(seed)
    with mpmath.workdps(500):
        if seed % 2:
            span = Fraction(draw.randint(1, 4000), draw.choice([10, 100, 1000]))
            pair = TwoPoints(span * Fraction(draw.randint(1, 99), 100), span)
            first, second = two_points(pair.high, pair.span)
        else:
            pair = FourPoints(Fraction(draw.randint(1, 3000), 100), Fraction(draw.randint(1, 99), 100))
            first, second = four_points(pair.epsilon, pair.delta)
        rate = draw.choice([Fraction(1, 10 ** draw.randint(1, 12)), Fraction(draw.randint(1, 99), 100)])
        left, missed = m(rate), mpmath.mpf(1)
        pairs = zip(first, second, strict=True)
        for p, q in sorted(pairs, key=lambda each: -each[1] / each[0] if each[0] else -mpmath.inf):
            share = min(mpmath.mpf(1), left / p) if p else 1
            left, missed = left - share * p, missed - share * q
        lower, upper = map(m, _Curve(((pair, 1),)).at(rate))
        assert lower <= missed + mpmath.mpf(10) ** -45
        assert missed <= upper + mpmath.mpf(10) ** -45
        assert upper - lower <= mpmath.mpf("1e-7") * min(missed, 1 - missed) + mpmath.mpf(10) ** -30


def test_nothing_is_accused_without_fear():
    assert dp.trade_off(dp.Gaussian(1), 0).lower > 1 - 1e-15
    assert dp.trade_off(dp.Gaussian(1), 0).exact_upper == 1
    box = dp.trade_off(dp.ApproximateDP(1, "0.1", relation=ADD) ** 2, 0)
    assert box.contains("0.81")
    assert box.width < 1e-30
    assert dp.trade_off(dp.Gaussian(1), 1).exact_upper == 0
    assert dp.true_positive_rate(dp.Gaussian(1), 1).exact_lower == 1


@pytest.mark.seconds
def test_training_lies_beside_what_other_ways_say():
    training = dp.PoissonSampled(dp.Gaussian(1), "0.01") ** 1000
    grid = dp.TradeOff.of(training, [Fraction(k, 50) for k in range(200)])
    for rate in ("1e-4", "0.05", "0.4"):
        found = dp.trade_off(training, rate)
        assert found.width < 1e-8 * min(found.lower, 1 - found.lower)
        assert grid(rate) <= found.exact_upper
        assert float(grid(rate)) == pytest.approx(found.lower, rel=5e-3)
    everyone = dp.trade_off(dp.Gaussian(1) ** 1000, "0.05")
    assert everyone.exact_upper < found.exact_lower


@pytest.mark.seconds
def test_lower_ends_follow_from_delta_at_any_epsilon():
    mechanism, rate = dp.SampledWithoutReplacement(dp.Gaussian(1), 10, 100) ** 3, Fraction(2, 5)
    found = dp.trade_off(mechanism, rate, REPLACE)
    assert 0 < found.exact_lower < found.exact_upper < 1 - rate
    for epsilon in (0, Fraction(1, 4), 1):
        growth, rest = math.exp(epsilon), 1 - dp.delta(mechanism, epsilon, REPLACE).upper
        assert found.upper >= max(rest - growth * float(rate), (rest - float(rate)) / growth) - 1e-9
    assert largest_true_positive_rate(mechanism, rate, Relation.REPLACE_ONE) == 1 - found.exact_lower


@pytest.mark.seconds
def test_an_attack_that_is_known_from_below_attains_what_it_says():
    """Two steps, the record in one of them: what is attained exactly, and what is proven of the same as an attack."""
    rate, base = Fraction(1, 5), ShiftedGaussians(Fraction(1))
    lower, upper = _Curve(((Allocated(Direction.REMOVE, 2, ((base, 2),)), 1),)).at(rate)
    attained = _Curve(((AllocatedTo(Direction.REMOVE, 2, 1, base), 1),)).attained(rate)
    assert lower <= attained
    assert float(attained) == pytest.approx(float(upper), abs=5e-3)


def test_where_pairs_are_not_attained_an_attack_and_guessing_bound_the_other_side():
    mechanism = dp.SampledWithReplacement(dp.Laplace(1), 3, 10)
    found = dp.trade_off(mechanism, "0.3", REPLACE)
    assert found.exact_upper == Fraction(7, 10)  # no attack is known: a guess
    assert found.exact_lower < Fraction(6, 10)


# --- Bayes risk, reconstruction ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", ["0.5", "0.01", "0.9", "1/3"])
def test_bayes_risk_of_gaussian_noise(prior):
    """The two densities weighed by the prior cross once."""
    with mpmath.workdps(50):
        p = m(Fraction(prior))
        threshold = mpmath.log((1 - p) / p) + mpmath.mpf(1) / 2
        exactly = (1 - p) * phi(-threshold) + p * phi(threshold - 1)
        found = dp.bayes_risk(dp.Gaussian(1), prior)
        assert m(found.exact_lower) <= exactly <= m(found.exact_upper)
        assert found.width < 1e-12
    assert dp.bayes_risk(dp.Gaussian(1), 0).exact_upper == 0


def test_bayes_risk_is_half_of_what_the_advantage_leaves():
    training = dp.Laplace(1)
    advantage = dp.membership_advantage(training)
    assert float(dp.bayes_risk(training).lower) == pytest.approx((1 - advantage.upper) / 2, rel=1e-12)
    least = min(
        0.8 * float(a) + 0.2 * dp.trade_off(training, a).lower for a in (Fraction(k, 100) for k in range(1, 40, 3))
    )
    assert dp.bayes_risk(training, "0.2").lower <= least + 1e-12


def test_reconstruction_is_at_least_the_baseline_and_grows():
    baselines = ("0", "0.01", "0.2", "0.6", "1")
    found = [dp.reconstruction_risk(dp.Gaussian(1), baseline) for baseline in baselines]
    assert found == sorted(found)
    assert all(risk >= Fraction(baseline) for risk, baseline in zip(found, baselines, strict=True))
    assert found[-1] == 1
    with mpmath.workdps(30):
        assert float(found[1]) == pytest.approx(float(phi(quantile(mpmath.mpf("0.01")) + 1)), rel=1e-9)


# --- Calibration ------------------------------------------------------------------------------------------------------


def test_noise_for_a_true_positive_rate():
    found = dp.calibrate_to_true_positive_rate(dp.Gaussian, "0.1", "0.01")
    with mpmath.workdps(30):
        exactly = 1 / (quantile(mpmath.mpf("0.99")) - quantile(mpmath.mpf("0.9")))
        assert m(found.fails_at) < exactly < m(found.value)
    assert found.value < found.fails_at * (1 + Fraction(1, 10**8))
    assert found.attained.exact_upper <= Fraction(1, 10)
    assert dp.true_positive_rate(dp.Gaussian(found.fails_at), "0.01").exact_lower > Fraction(1, 10)
    assert "0.957124" in str(found)
    laplace = dp.calibrate_to_true_positive_rate(dp.Laplace, "0.1", "0.01")
    assert float(laplace.fails_at) < 1 / math.log(10) < float(laplace.value)


@pytest.mark.seconds
def test_noise_for_gaussian_privacy():
    """μ of T full batches is √T/z; of Laplace noise it is the largest along its trade-off function."""
    found = dp.calibrate_to_gdp(lambda z: dp.Gaussian(z) ** 9, "0.5")
    assert found.fails_at < 6 <= found.value < found.fails_at * (1 + Fraction(1, 10**8))
    assert found.attained.exact_upper <= Fraction(1, 2)
    assert dp.gdp_parameter(dp.Gaussian(found.fails_at) ** 9).exact_lower > Fraction(1, 2)
    laplace = dp.calibrate_to_gdp(dp.Laplace, "1")
    assert dp.gdp_parameter(dp.Laplace(laplace.value)).exact_upper <= 1
    assert dp.gdp_parameter(dp.Laplace(laplace.fails_at)).exact_lower > 1
    assert laplace.value < laplace.fails_at * (1 + Fraction(1, 10**4))
    assert (laplace.measure, laplace.rate) == ("mu", Fraction(1, 10**6))
    assert "least error rate" in str(laplace)


@pytest.mark.seconds
def test_noise_for_gaussian_privacy_of_samples():
    def run(z):
        return dp.PoissonSampled(dp.Gaussian(z), "0.1") ** 20

    found = dp.calibrate_to_gdp(run, "0.5", least_rate="1e-3")
    assert dp.gdp_parameter(run(found.value), least_rate="1e-3").exact_upper <= Fraction(1, 2)
    assert dp.gdp_parameter(run(found.fails_at), least_rate="1e-3").exact_lower > Fraction(1, 2)
    assert found.value < found.fails_at * (1 + Fraction(1, 10**3))


def test_no_noise_gives_what_other_releases_exceed():
    with pytest.raises(InvalidValue, match="larger: other releases"):
        dp.calibrate_to_gdp(lambda z: dp.Gaussian(1) @ dp.Gaussian(z), "0.5")
    with pytest.raises(InvalidValue, match="less than 1/2"):
        dp.calibrate_to_gdp(dp.Gaussian, 1, least_rate="0.5")


@pytest.mark.seconds
def test_noise_where_no_attack_is_known():
    found = dp.calibrate_to_true_positive_rate(
        lambda z: dp.SampledWithReplacement(dp.Laplace(z), 3, 10), "0.1", "0.05", REPLACE
    )
    assert found.fails_at is None
    assert dp.true_positive_rate(found.mechanism, "0.05", REPLACE).exact_upper <= Fraction(1, 10)


def test_what_is_no_rate_is_refused():
    with pytest.raises(InvalidValue, match="from 0 to 1"):
        dp.trade_off(dp.Gaussian(1), "1.5")
    with pytest.raises(InvalidValue, match="guessing attains"):
        dp.calibrate_to_true_positive_rate(dp.Gaussian, "0.01", "0.1")
    with pytest.raises(InvalidValue, match="greater than 0 and less than 1"):
        dp.calibrate_to_true_positive_rate(dp.Gaussian, "0.1", 0)
    with pytest.raises(UnsupportedMechanism):
        dp.trade_off(dp.PureDP(1, relation=ADD) ** 2, "0.1", "zero-out-one")
    with pytest.raises(InvalidValue, match="larger: other releases"):
        dp.calibrate_to_true_positive_rate(lambda z: dp.Gaussian(1) @ dp.Gaussian(z), "0.02", "0.01")


def test_rates_that_are_typed_as_floats_hold_at_the_decimal():
    """0.3 as a double lies below 3/10: a bound for the double would be too small for the decimal that was meant."""
    assert Fraction(0.3) < Fraction("0.3")
    typed, meant = (dp.true_positive_rate(dp.PureDP(1, relation=ADD), rate) for rate in (0.3, "0.3"))
    assert typed.exact_upper == meant.exact_upper
    assert dp.reconstruction_risk(dp.Gaussian(1), 0.3) == dp.reconstruction_risk(dp.Gaussian(1), "0.3")
