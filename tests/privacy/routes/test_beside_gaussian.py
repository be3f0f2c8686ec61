"""One law beside Gaussian releases: against quadrature at high precision, the lattice, and what must hold."""

from fractions import Fraction

import mpmath
import pytest

from dpbounds.privacy.accountants import certified as accountants
from dpbounds.privacy.mechanisms import ApproximateDP, ExponentialMechanism, Gaussian, Laplace, PureDP
from dpbounds.privacy.pairs.pairs import (
    BoundedRangeProfile,
    Direction,
    Responses,
    SampledGaussians,
    ShiftedGaussians,
    TwoPoints,
)
from dpbounds.privacy.proofs import Declined
from dpbounds.privacy.routes.beside_gaussian import ROUTE, delta_beside, epsilon_beside, lies_beside
from tests.privacy.routes.twins import gaussian_profile

REPLACE = "replace-one"
GAUSSIAN = ShiftedGaussians(Fraction(1, 4))


def by_quadrature(span, mu, epsilon):
    """∫ over the P-density e^((l-η)/2) / (2 (1 - e^-η)) on [-η, η] of the bounded-range pair."""
    with mpmath.workdps(40):
        eta = mpmath.mpf(span)
        norm = 2 * (1 - mpmath.exp(-eta))
        return mpmath.quad(
            lambda loss: mpmath.exp((loss - eta) / 2) / norm * gaussian_profile(mpmath.mpf(mu), epsilon - loss),
            [-eta, -eta / 2, 0, eta / 2, eta],
        )


@pytest.mark.one_in(4)
@pytest.mark.parametrize("epsilon", ["0", "0.3", "1", "2.5"])
def test_bounded_range_against_quadrature(epsilon):
    product = ((GAUSSIAN, 1), (BoundedRangeProfile(Fraction(7, 10)), 1))
    found = delta_beside(product, Fraction(epsilon), 1e-5).enclosure
    exact = by_quadrature("0.7", "0.5", mpmath.mpf(epsilon))
    # a density, and no atom: the law has all its mass on (-η, η)
    assert found.contains(mpmath.nstr(exact, 25))
    assert found.upper - found.lower <= 2e-5 * found.upper


def test_two_points_against_the_sum():
    with mpmath.workdps(60):
        t, low = mpmath.mpf("0.5"), mpmath.mpf("-0.2")
        share = (1 - mpmath.exp(-low)) / (mpmath.exp(-t) - mpmath.exp(-low))
        exact = share * gaussian_profile(mpmath.mpf("0.5"), 1 - t) + (1 - share) * gaussian_profile(
            mpmath.mpf("0.5"), 1 - low
        )
    found = delta_beside(((TwoPoints(Fraction(1, 2), Fraction(7, 10)), 1), (GAUSSIAN, 1)), Fraction(1), 1e-9)
    assert abs(found.enclosure.exact_upper / Fraction(mpmath.nstr(exact, 50)) - 1) < Fraction(1, 10**24)
    assert found.route == ROUTE


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("mechanism", "relation"),
    [
        (ExponentialMechanism("0.7", relation=REPLACE) @ Gaussian(5), REPLACE),
        (PureDP("0.5", relation=REPLACE) @ Gaussian(8) ** 4, REPLACE),
        (Laplace(4) @ Gaussian(6), REPLACE),
        (Laplace(4) @ Gaussian(6), "add-or-remove-one"),
        (ApproximateDP("0.3", "1e-7", relation="add-or-remove-one") @ Gaussian(10) ** 4, "add-or-remove-one"),
    ],
    ids=["exponential", "pure", "laplace", "laplace, add or remove", "approximate"],
)
def test_the_lattice_agrees(mechanism, relation):
    ours = accountants.account(mechanism, delta="1e-5", relation=relation)
    assert {proof.route for _, proof in ours.proofs} <= {ROUTE, "dominated"}
    other = accountants.account(mechanism, delta="1e-5", relation=relation, route="lattice", tolerance=1e-3)
    assert ours.enclosure.exact_lower <= other.enclosure.exact_upper
    assert other.enclosure.exact_lower <= ours.enclosure.exact_upper
    for (_, one), (_, two) in zip(ours.proofs, other.proofs, strict=True):
        assert one.enclosure.exact_upper <= two.enclosure.exact_upper * (1 + Fraction(1, 1000))


def test_epsilon_and_delta_invert_each_other():
    product = ((GAUSSIAN, 1), (Responses(Fraction(1, 2), 2), 1))
    epsilon = epsilon_beside(product, Fraction(1, 10**6), 1e-9).enclosure
    above = delta_beside(product, epsilon.exact_upper, 1e-12).enclosure
    below = delta_beside(product, epsilon.exact_lower, 1e-12).enclosure
    assert above.exact_upper <= Fraction(1, 10**6) <= below.exact_upper
    assert below.exact_upper <= above.exact_lower * (1 + Fraction(1, 10**6))


def test_without_a_law_to_speak_of_it_is_the_gaussian():
    alone = accountants.epsilon(Gaussian(4), delta="1e-6", relation=REPLACE)
    product = ((ShiftedGaussians(Fraction(1, 4)), 1), (BoundedRangeProfile(Fraction(1, 10**9)), 1))
    found = epsilon_beside(product, Fraction(1, 10**6), 1e-6).enclosure
    assert found.lower == pytest.approx(alone.upper, rel=1e-5)


def test_what_it_declines():
    assert not lies_beside(((GAUSSIAN, 1),))
    assert not lies_beside(((GAUSSIAN, 1), (Responses(Fraction(1), 2), 2)))
    contour = ((GAUSSIAN, 1), (SampledGaussians(Direction.ADD, Fraction(1, 10), Fraction(1)), 1))
    assert not lies_beside(contour)
    for product in (((GAUSSIAN, 1), (Responses(Fraction(1), 2), 2)), contour):
        with pytest.raises(Declined):
            delta_beside(product, Fraction(1), 1e-3)


@pytest.mark.parametrize(
    ("pair", "width"),
    [
        (Responses(Fraction(1, 2), 2), 1e-14),
        (TwoPoints(Fraction(1, 2), Fraction(7, 10)), 1e-14),
        (BoundedRangeProfile(Fraction(7, 10)), 5e-6),
    ],
)
def test_ends_of_epsilon_are_as_close_as_the_curve_allows(pair, width):
    found = epsilon_beside(((GAUSSIAN, 1), (pair, 1)), Fraction(1, 10**6), 1e-5).enclosure
    assert 0 < found.upper - found.lower <= width * found.upper
