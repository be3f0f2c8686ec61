"""PLDs of dp-accounting, read and written, against exact sums of their masses."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as theirs
from mpmath import mp

import dpbounds as dp
from dpbounds.privacy.publishing.interoperability import loss_distributions
from dpbounds.privacy.publishing.interoperability.loss_distributions import LossesRead, Masses
from dpbounds.privacy.relations import Relation

AR, RE, ZO = map(str, Relation)
EPSILONS = [0, "1/10", "1/2", 1, 2]
SAMPLE = dp.PoissonSampled(dp.Gaussian(1), "0.1") ** 3


def masses(pld):
    """All masses of both orders: (k, p_k), and p_∞, as dp-accounting holds them."""
    found = []
    for pmf in (pld._pmf_remove, pld._pmf_add):
        dense = pmf.to_dense_pmf()
        listed = {dense._lower_loss + k: float(p) for k, p in enumerate(dense._probs)}
        found.append((listed, float(dense._infinity_mass), dense._discretization))
    return found


def exact_delta(pld, epsilon):
    """δ(ε) of the masses, at 50 digits: the larger of both orders."""
    with mp.workdps(50):
        wanted, above = Fraction(epsilon), []
        for listed, infinite, d in masses(pld):
            losses = ((k * Fraction(d), p) for k, p in listed.items())
            terms = (mpmath.mpf(p) * -mpmath.expm1(mpf(wanted - loss)) for loss, p in losses if loss > wanted)
            above.append(infinite + mpmath.fsum(terms))
        return max(above)


def mpf(value):
    return mpmath.mpf(value.numerator) / value.denominator


def gaussian(pessimistic=True, **more):
    return theirs.from_gaussian_mechanism(
        1.5, value_discretization_interval=0.05, pessimistic_estimate=pessimistic, **more
    )


@pytest.mark.parametrize("more", [{}, {"sampling_prob": 0.1}], ids=["symmetric", "both orders"])
@pytest.mark.parametrize("pessimistic", [True, False])
def test_a_pld_is_read_exactly(pessimistic, more):
    pld = gaussian(pessimistic, **more)
    read = dp.from_privacy_loss_distribution(pld)
    assert (read.pessimistic, read.interval) == (pessimistic, Fraction(0.05))
    for epsilon in EPSILONS:
        found, truth = read.delta(epsilon), exact_delta(pld, epsilon)
        with mp.workdps(50):
            near, other = (found.exact_upper, 0) if pessimistic else (found.exact_lower, 1)
            assert found.contains(other)
            gap = mpf(near) - truth
            assert mpmath.mpf("-1e-45") <= (gap if pessimistic else -gap) <= mpmath.mpf("1e-40")


def test_the_bounds_enclose_the_mechanism():
    """Its own profile lies between that of an optimistic and that of a pessimistic PLD, up to the doubles of both."""
    upper, lower = (dp.from_privacy_loss_distribution(gaussian(side)) for side in (True, False))
    for epsilon in EPSILONS:
        truth = dp.delta(dp.Gaussian("1.5"), epsilon)
        assert lower.delta(epsilon).lower * (1 - 1e-12) <= truth.upper
        assert truth.lower * (1 - 1e-12) <= upper.delta(epsilon).upper
        assert lower.delta(epsilon).upper == 1
        assert upper.delta(epsilon).lower == 0


@pytest.mark.parametrize("more", [{}, {"sampling_prob": 0.1}], ids=["symmetric", "both orders"])
def test_a_guarantee_is_the_larger_delta_at_every_loss(more):
    pld = gaussian(**more)
    box = dp.from_privacy_loss_distribution(pld).guarantee(AR)
    points = dict(box.points)
    step = Fraction(0.05)
    assert set(points) == {k * step for k in range(len(points))}
    assert box.relation is Relation.ADD_OR_REMOVE_ONE
    with mp.workdps(50):
        for k in (0, 1, 7, 40, len(points) - 1):
            truth = exact_delta(pld, k * step)
            assert truth <= mpf(points[k * step]) <= truth * (1 + mpmath.mpf(2) ** -52) + mpmath.mpf("1e-300")
            assert dp.delta(box, k * step).upper <= float(points[k * step]) * (1 + 1e-15)
    assert dp.epsilon(box, "1e-6").upper == pytest.approx(pld.get_epsilon_for_delta(1e-6), rel=1e-9)
    both = dp.epsilon(box @ dp.Gaussian(3), "1e-6").upper
    assert both >= dp.epsilon(dp.Gaussian("1.5") @ dp.Gaussian(3), "1e-6").lower or more


def test_fewer_losses_raise_delta_between_them_only(monkeypatch):
    pld = gaussian()
    whole = dict(dp.from_privacy_loss_distribution(pld).guarantee(RE).points)
    monkeypatch.setattr(loss_distributions, "_MOST_POINTS", 10)
    few = dp.from_privacy_loss_distribution(pld).guarantee(RE)
    assert len(few.points) <= 11
    assert few.points[-1][0] == max(whole)
    assert all(whole[epsilon] == delta for epsilon, delta in few.points)
    for epsilon in ("0.3", "1"):
        assert dp.delta(few, epsilon, RE).upper >= dp.from_privacy_loss_distribution(pld).delta(epsilon).upper


def test_masses_of_compositions_may_be_negative():
    """The convolution of dp-accounting leaves some: they count as 0 in an upper bound."""
    pld = theirs.PrivacyLossDistribution.create_from_rounded_probability({1: 0.5, -1: 0.5, 2: -1e-18}, 0.0, 0.25)
    read = dp.from_privacy_loss_distribution(pld)
    assert read.remove == Masses(((-1, Fraction(1, 2)), (1, Fraction(1, 2))), Fraction(0))
    pld = theirs.PrivacyLossDistribution.create_from_rounded_probability({1: 0.5, 2: -1e-18}, 0.0, 0.25, False)
    with pytest.raises(dp.InvalidValue, match="at least 0"):
        dp.from_privacy_loss_distribution(pld)


def test_what_is_no_guarantee():
    with pytest.raises(dp.UnsupportedMechanism, match="optimistic"):
        dp.from_privacy_loss_distribution(gaussian(False)).guarantee(RE)
    with pytest.raises(dp.InvalidValue, match="PrivacyLossDistribution"):
        dp.from_privacy_loss_distribution(dp.Gaussian(1))
    with pytest.raises(dp.InvalidValue, match="pessimistic"):
        dp.to_privacy_loss_distribution(dp.Gaussian(1), pessimistic=1)
    pld = theirs.PrivacyLossDistribution.create_from_rounded_probability({1: math.nan}, 0.0, 0.25)
    with pytest.raises(dp.InvalidValue, match="finite"):
        dp.from_privacy_loss_distribution(pld)


def test_losses_that_all_lie_below_zero():
    """Nothing is spent at ε = 0 but what is infinite."""
    read = LossesRead(Fraction(1, 4), True, *[Masses(((-2, Fraction(7, 8)),), Fraction(1, 8))] * 2)
    assert read.guarantee(RE).points == ((0, Fraction(1, 8)),)


WRITTEN = [
    (dp.Gaussian(2), AR),
    (SAMPLE, AR),
    (dp.Laplace(1), RE),
    (dp.ZCDP("0.1", relation=RE), RE),
    (dp.RandomizedResponse(1), RE),
    (dp.PoissonSampled(dp.Laplace(1), "0.2"), ZO),
]


@pytest.mark.seconds
@pytest.mark.parametrize(("mechanism", "relation"), WRITTEN, ids=lambda value: getattr(value, "name", str(value)))
def test_a_pld_is_written_to_the_safe_side(mechanism, relation):
    upper = dp.to_privacy_loss_distribution(mechanism, relation, interval=0.1)
    lower = dp.to_privacy_loss_distribution(mechanism, relation, interval=0.1, pessimistic=False)
    step = Fraction(0.1)
    for epsilon in (*EPSILONS, step, 7 * step):
        truth, above, below = (
            dp.delta(mechanism, epsilon, relation),
            exact_delta(upper, epsilon),
            exact_delta(lower, epsilon),
        )
        with mp.workdps(50):
            assert above >= mpf(Fraction(truth.exact_lower))
            assert below <= mpf(Fraction(truth.exact_upper))
            if (Fraction(epsilon) / step).denominator == 1:  # nothing is lost at a loss of the lattice
                loose = (
                    mpmath.mpf("1e-12") if truth.width < 1e-9 else mpmath.mpf("1e-3")
                )  # of several bounds, the curve's
                assert above <= mpf(Fraction(truth.exact_upper)) * (1 + loose) + mpmath.mpf("1e-14")
            shifted = dp.delta(mechanism, Fraction(epsilon) + 2 * step, relation)
            assert below >= mpf(Fraction(shifted.exact_lower)) * mpmath.mpf("0.999") - mpmath.mpf("1e-14")
    assert lower.get_epsilon_for_delta(1e-4) <= dp.epsilon(mechanism, "1e-4", relation).upper
    assert upper.get_epsilon_for_delta(1e-4) >= dp.epsilon(mechanism, "1e-4", relation).lower - 1e-9


@pytest.mark.seconds
def test_masses_are_those_of_distributions():
    """P-masses of an upper bound add up to 1 at least, of a lower bound to 1 at most; Q-masses to 1 at most."""
    for mechanism, relation in WRITTEN:
        for pessimistic in (True, False):
            pld = dp.to_privacy_loss_distribution(mechanism, relation, interval=0.1, pessimistic=pessimistic)
            for listed, infinite, step in masses(pld):
                assert all(p >= 0 for p in listed.values())
                total = sum(map(Fraction, listed.values()), Fraction(infinite))
                assert (1 <= total <= 1 + 1e-12) if pessimistic else (0 < total <= 1)
                assert math.fsum(p * math.exp(-k * step) for k, p in listed.items()) <= 1 + 1e-9


def test_the_orders_are_those_of_dp_accounting():
    """Of Poisson samples, a removed record costs more; both orders are near dp-accounting's own."""
    ours = dp.to_privacy_loss_distribution(dp.PoissonSampled(dp.Gaussian(1), "0.1"), interval=0.01)
    own = theirs.from_gaussian_mechanism(1.0, sampling_prob=0.1, value_discretization_interval=1e-4)
    for name in ("_pmf_remove", "_pmf_add"):
        for epsilon in (0.02, 0.3):
            mine, found = (getattr(pld, name).get_delta_for_epsilon(epsilon) for pld in (ours, own))
            assert mine == pytest.approx(found, rel=0.05, abs=1e-9), name
    assert ours._pmf_remove.get_delta_for_epsilon(0.3) > ours._pmf_add.get_delta_for_epsilon(0.3) + 1e-4
    assert not ours._symmetric
    assert dp.to_privacy_loss_distribution(dp.Laplace(1), RE, interval=0.1)._symmetric


def test_the_profile_of_one_order_is_the_reversal_of_the_other():
    """At α < 1 an order is bounded by the δ of the other one: H_α = 1 - α + α δ(-log α), exactly at the losses kΔ."""
    mechanism, step = dp.PoissonSampled(dp.Gaussian(1), "0.1"), Fraction(0.1)
    (_, remove), (_, add) = dp.account(mechanism, epsilon=3 * step).proofs
    for side in (True, False):
        known = masses(dp.to_privacy_loss_distribution(mechanism, interval=0.1, pessimistic=side))
        for (listed, infinite, _), other in zip(known, (add, remove), strict=True):
            at = -3 * float(step)
            found = infinite + math.fsum(-p * math.expm1(at - k * float(step)) for k, p in listed.items() if k > -3)
            truth = 1 - math.exp(at) + math.exp(at) * other.enclosure.upper
            assert found == pytest.approx(truth, rel=1e-9) if side else found <= truth


def twice_at_half(known):
    """δ(1/2) of two steps, by a convolution."""
    listed, infinite, step = known
    low, p = min(listed), np.array([listed.get(k, 0.0) for k in range(min(listed), max(listed) + 1)])
    twice = np.convolve(p, p)
    losses = (2 * low + np.arange(len(twice))) * step
    return 1 - (1 - infinite) ** 2 + np.maximum(0, -np.expm1(0.5 - losses)) @ twice


@pytest.mark.seconds
def test_bounds_survive_composition():
    """Two steps composed exactly: between both lies what two steps spend."""
    for mechanism in (dp.Laplace(1), dp.PoissonSampled(dp.Gaussian(1), "0.3")):
        written = {
            side: dp.to_privacy_loss_distribution(mechanism, interval=0.1, pessimistic=side) for side in (True, False)
        }
        spent = [proof.enclosure for _, proof in dp.account(mechanism**2, epsilon="1/2").proofs]
        for order, first in enumerate(spent):
            sides = {side: twice_at_half(masses(pld)[order]) for side, pld in written.items()}
            assert sides[False] <= first.upper * (1 + 1e-12)
            assert sides[True] >= first.lower * (1 - 1e-12)
            assert sides[False] > (0.5 * sides[True] if order == 0 else 0)


def test_what_is_not_written():
    with pytest.raises(dp.InvalidValue, match="interval"):
        dp.to_privacy_loss_distribution(dp.Gaussian(1), interval=1e-5)
    with pytest.raises(dp.InvalidValue, match="interval must be at most 1000000"):
        dp.to_privacy_loss_distribution(dp.Gaussian(1), interval=10**400)
    with pytest.raises(dp.InvalidValue, match="tail"):
        dp.to_privacy_loss_distribution(dp.ApproximateDP(1, "1e-3", relation=RE), RE)
    with pytest.raises(dp.UnsupportedMechanism, match="no attack"):
        dp.to_privacy_loss_distribution(dp.AboveThreshold(1, relation=RE), RE, pessimistic=False)
    written = dp.to_privacy_loss_distribution(dp.ApproximateDP(1, "1e-3", relation=RE), RE, interval=0.25, tail="1e-2")
    assert written._pmf_remove._infinity_mass == pytest.approx(1e-3, rel=1e-12)
    assert written.get_delta_for_epsilon(0.5) >= dp.delta(dp.ApproximateDP(1, "1e-3", relation=RE), "0.5", RE).upper


def test_there_and_back():
    pld = dp.to_privacy_loss_distribution(dp.Gaussian(2), interval=0.1)
    again = dp.from_privacy_loss_distribution(pld).guarantee(AR)
    for epsilon in (0, Fraction(0.1), 10 * Fraction(0.1)):
        spent = dp.delta(dp.Gaussian(2), epsilon).upper
        assert spent <= dp.delta(again, epsilon).upper <= spent * (1 + 1e-12)
