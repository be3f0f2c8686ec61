"""Bounded losses at a tiny δ: every pure mechanism gets an answer, next to the sum of its largest losses."""

from fractions import Fraction

import mpmath
import pytest

import dpbounds as dp
from dpbounds.errors import NotCertified
from dpbounds.privacy.pairs.pairs import (
    Direction,
    Draws,
    FourPoints,
    Responses,
    Sampled,
    ShiftedGaussians,
    ShiftedLaplaces,
)
from dpbounds.privacy.proofs import Declined, planned_in_doubles
from dpbounds.privacy.routes.largest_losses import ROUTE, delta_by_largest_losses, epsilon_by_largest_losses
from dpbounds.privacy.routes.lattice import delta_bounds, epsilon_bounds
from dpbounds.privacy.routes.outcomes import delta_by_outcomes, epsilon_by_outcomes
from tests.privacy.products import products_of

AR = "add-or-remove-one"
TENTH = Fraction(1, 10)
PURE = {  # with the ε of one release
    "laplace": (dp.Laplace(4), Fraction(1, 4)),
    "little noise": (dp.Laplace(Fraction(1, 2)), Fraction(2)),
    "much noise": (dp.Laplace(100), Fraction(1, 100)),
    "scalar": (dp.Laplace(4, dimension=1), Fraction(1, 4)),
    "discrete": (dp.DiscreteLaplace(4), Fraction(1, 4)),
    "guarantee": (dp.PureDP(TENTH, relation=AR), TENTH),
    "permute and flip": (dp.PermuteAndFlip(TENTH, relation=AR), TENTH),
    "above threshold": (dp.AboveThreshold(TENTH, relation=AR), TENTH),
}


@pytest.mark.parametrize("delta", ["1e-17", "1e-20", "1e-300"])
@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("name", PURE)
def test_the_sum_of_epsilons_suffices_at_a_tiny_delta(name, count, delta):
    mechanism, once = PURE[name]
    found = dp.epsilon(mechanism**count, delta)
    assert found.exact_lower <= count * once
    assert found.exact_upper <= count * once * (1 + Fraction(1, 10**30))
    if name not in ("permute and flip", "above threshold"):  # of which no attack attains the whole ε
        assert found.exact_lower >= count * once * (1 - Fraction(1, 10**6))


def test_so_do_choices_whose_largest_loss_has_no_probability():
    found = dp.epsilon(dp.ExponentialMechanism(TENTH, relation=AR) ** 3, "1e-300")
    assert found.exact_lower < 3 * TENTH
    assert found.exact_upper <= 3 * TENTH * (1 + Fraction(1, 10**12))


@pytest.mark.seconds
@pytest.mark.parametrize(
    "sampled", [dp.PoissonSampled(dp.Laplace(4), TENTH), dp.SampledWithoutReplacement(dp.Laplace(4), 2, 20)], ids=repr
)
def test_samples_and_unlike_releases_have_answers_too(sampled):
    alone, twice = dp.epsilon(sampled, "1e-30"), dp.epsilon(sampled**2, "1e-30")
    assert ROUTE in twice.method
    assert 2 * alone.exact_lower * (1 - Fraction(1, 10**9)) <= twice.exact_upper <= 2 * alone.exact_upper
    both = dp.epsilon(sampled @ dp.Laplace(4), "1e-30")
    assert both.exact_upper <= alone.exact_upper + Fraction(1, 4)


@pytest.mark.seconds
def test_a_budget_of_pure_releases_is_planned_at_a_tiny_delta():
    found = dp.calibrate(lambda z: dp.Laplace(z) ** 2, 1, "1e-300")
    assert 2 * (1 - Fraction(1, 10**6)) <= found.value <= 2 * (1 + Fraction(1, 10**6))


PAIRS = [
    Responses(TENTH),
    FourPoints(TENTH, Fraction(1, 10**12)),
    Sampled(Direction.REMOVE, Draws(TENTH), Responses(Fraction(2))),
    Sampled(Direction.ADD, Draws(TENTH), Responses(Fraction(2))),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_agrees_with_the_sum_over_all_outcomes(pair):
    """One of atoms; with infinite losses of probability 4e-12, most of δ is theirs."""
    product = ((pair, 3), (Responses(Fraction(1, 3)), 1))
    for delta in (Fraction(1, 10**11), Fraction(1, 10**6), Fraction(1, 10**4)):
        found = epsilon_by_largest_losses(product, delta).enclosure
        whole = epsilon_by_outcomes(product, delta, 1e-15).enclosure
        assert found.exact_lower <= whole.exact_upper
        assert whole.exact_lower <= found.exact_upper
    # a third of the mass that lies at the largest losses: next to them there is a gap, so that the lower end is exact
    assert found.exact_lower >= whole.exact_lower - Fraction(1, 10**15)


def test_declines_where_nothing_is_gained():
    with pytest.raises(Declined, match="probability that all losses are the largest"):
        epsilon_by_largest_losses(((Responses(TENTH), 3),), Fraction(1, 2))
    with pytest.raises(Declined, match="probability that all losses are the largest"):
        epsilon_by_largest_losses(((FourPoints(TENTH, Fraction(1, 10**6)), 3),), Fraction(1, 10**6))
    with pytest.raises(Declined, match="Gaussian"):
        epsilon_by_largest_losses(((ShiftedGaussians(Fraction(1)), 1),), Fraction(1, 10**6))


def test_a_number_that_doubles_do_not_hold_makes_a_route_decline():
    product = ((Responses(TENTH), 3), (Responses(Fraction(1, 7)), 2))
    assert delta_bounds(product, Fraction(1, 2)).enclosure.exact_upper < 1
    with pytest.raises(Declined, match="cannot be planned in doubles"):
        epsilon_bounds(product, Fraction(1, 10**300))


def test_only_arithmetic_declines():
    def route(kind):
        raise kind

    for kind in (OverflowError, ZeroDivisionError, FloatingPointError):
        with pytest.raises(Declined):
            planned_in_doubles(route)(kind)
    with pytest.raises(TypeError):
        planned_in_doubles(route)(TypeError)


def two_laplaces(c, s):
    """δ(2c - s) of two releases of Laplace noise, of which c is the largest loss, by an integral; s < 2c.

    The loss of one is c with P-mass 1/2, and c - t with density e^(-t/2)/4 for t < 2c.
    """

    def expected(t):
        """One loss is the largest, the other has t less; or both have less, t together."""
        return (mpmath.mpf(1) / 4 + t / 16) * mpmath.exp(-t / 2) * -mpmath.expm1(t - s)

    return -mpmath.expm1(-s) / 4 + mpmath.quad(expected, [0, s])


@pytest.mark.parametrize("short", [Fraction(1, 4), Fraction(1, 100), Fraction(1, 10**9), Fraction(1, 10**40)])
@pytest.mark.parametrize("scale", [2, 4])
def test_delta_next_to_the_sum_of_the_largest_losses_is_the_integral(scale, short):
    product, epsilon = ((ShiftedLaplaces(Fraction(1, scale)), 2),), Fraction(2, scale) - short
    with mpmath.workdps(60):
        exact = Fraction(str(two_laplaces(mpmath.mpf(1) / scale, mpmath.mpf(short.numerator) / short.denominator)))
    found = delta_by_largest_losses(product, epsilon).enclosure
    room = Fraction(1, 10**50)
    assert found.exact_lower * (1 - room) <= exact <= found.exact_upper * (1 + room)
    assert found.exact_upper <= found.exact_lower * (1 + 2 * short)


@pytest.mark.parametrize("pair", PAIRS)
def test_delta_agrees_with_the_sum_over_all_outcomes(pair):
    product = ((pair, 3), (Responses(Fraction(1, 3)), 1))
    top = epsilon_by_largest_losses(product, Fraction(1, 10**11)).enclosure.exact_upper
    for epsilon in (top / 2, top - Fraction(1, 10**3), top - Fraction(1, 10**9), top + 1):
        found = delta_by_largest_losses(product, epsilon).enclosure
        whole = delta_by_outcomes(product, epsilon, 1e-15).enclosure
        assert found.exact_lower <= whole.exact_upper
        assert whole.exact_lower <= found.exact_upper
        assert epsilon < top - Fraction(1, 10**3) or found.exact_upper <= found.exact_lower * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("name", PURE)
def test_delta_agrees_with_a_lattice(name):
    mechanism, once = PURE[name]
    for product in products_of(mechanism**3, dp.Relation.ADD_OR_REMOVE_ONE):
        found = delta_by_largest_losses(product, 3 * once * Fraction(9, 10)).enclosure
        whole = delta_bounds(product, 3 * once * Fraction(9, 10), tolerance=1e-3).enclosure
        assert found.exact_lower <= whole.exact_upper
        assert whole.exact_lower <= found.exact_upper


@pytest.mark.parametrize("short", [0, Fraction(1, 10**12), Fraction(1, 10**100)])
def test_delta_is_asked_there_first(short):
    found = dp.delta(dp.Laplace(10) ** 100, 10 - short)
    assert ROUTE in found.method
    assert found.exact_upper - found.exact_lower <= short * found.exact_upper * 100 + Fraction(1, 10**1200)


def test_so_is_what_it_leaves_a_little_wide():
    found = dp.delta(dp.Laplace(4) ** 2 @ dp.Laplace(3), Fraction(5, 6) - Fraction(1, 10**8))
    assert ROUTE in found.method
    assert Fraction(1, 10**9) < found.exact_upper / found.exact_lower - 1 < Fraction(1, 10**6)


@pytest.mark.seconds
def test_where_it_breaks_down_another_route_is_asked():
    mechanism, far = dp.PoissonSampled(dp.DiscreteGaussian(2, 1), "0.01") ** 300, Fraction(1, 4)
    _, added = products_of(mechanism, dp.Relation.ADD_OR_REMOVE_ONE)
    with pytest.raises(NotCertified):
        delta_by_largest_losses(added, far)
    assert dp.delta(mechanism, far).exact_upper < Fraction(2, 10**4)


def test_at_the_sum_of_the_largest_losses_only_infinite_ones_are_left():
    product = ((FourPoints(TENTH, Fraction(1, 10**12)), 2),)
    for epsilon in (Fraction(1, 5), Fraction(3)):
        found = delta_by_largest_losses(product, epsilon).enclosure
        exact = 1 - (1 - Fraction(1, 10**12)) ** 2
        assert found.exact_lower <= exact <= found.exact_upper
        assert found.exact_upper - found.exact_lower <= Fraction(1, 10**40)
