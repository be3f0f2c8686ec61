"""The pair behind points of a profile: their convex hull, which has the guarantee and no more."""

import itertools
from fractions import Fraction

import mpmath
import pytest
from mpmath import mp

import dpbounds as dp
from dpbounds.privacy.pairs.pairs import ProfilePoints, RenyiProfile
from dpbounds.privacy.publishing.certificates import certificate_text
from dpbounds.privacy.publishing.statements import statement

RE = "replace-one"


def hull(points, epsilon):
    """The largest profile at ε by all chords of the points, their mirror images and (0, 1), at 50 digits."""
    known = [(mpmath.mpf(0), mpmath.mpf(1))]
    for e, d in points.items():
        alpha, delta = mpmath.exp(mpmath.mpf(e)), mpmath.mpf(d)
        known += [(alpha, delta), (1 / alpha, 1 - 1 / alpha + delta / alpha)]
    at = mpmath.exp(mpmath.mpf(epsilon))
    chords = [
        h + (g - h) * (at - a) / (b - a)
        for (a, h), (b, g) in itertools.permutations(known, 2)
        if a <= at <= b and a < b
    ]
    return min([*chords, *(h for a, h in known if a <= at)])


POINTS = [
    {"1": "0.01"},
    {"0.5": "0.1", "1": "0.001", "2": "0.00001"},
    {"0.5": "0.1", "0.6": "0.0999", "2": "0"},
    {"0": "0.05"},
]


@pytest.mark.parametrize("points", POINTS, ids=str)
def test_the_profile_is_the_convex_hull(points):
    box = dp.ProfileDP(points, relation=RE)
    with mp.workdps(50):
        for epsilon in ("0", "0.2", "0.55", "1.3", "2.5"):
            truth, found = hull(points, epsilon), dp.delta(box, epsilon, RE)
            assert abs(mpmath.mpf(found.exact_upper.numerator) / found.exact_upper.denominator - truth) < 1e-25
            assert found.width < 1e-15


def test_one_point_is_approximate_privacy():
    one, same = dp.ProfileDP({1: "0.01"}, relation=RE), dp.ApproximateDP(1, "0.01", relation=RE)
    for count in (1, 3):
        for epsilon in ("0.3", "1", "2"):
            assert dp.delta(one**count, epsilon, RE).overlaps(dp.delta(same**count, epsilon, RE))
    assert dp.trade_off(one, "0.1", RE).overlaps(dp.trade_off(same, "0.1", RE))


def test_a_trade_off_function_is_kept():
    """The hull of the points of a mechanism allows no better test than the points do, and none worse."""
    curve = dp.TradeOff.of(dp.Gaussian(2), [Fraction(k, 10) for k in range(30)])
    box = dp.ProfileDP(curve.points, relation=RE)
    for a in ("0.01", "0.1", "0.4"):
        assert float(curve(a)) == pytest.approx(dp.trade_off(box, a, RE).lower, rel=1e-12)


def test_renyi_divergences_are_those_of_the_hull():
    """Of the worst (ε, 0)-private pair that of randomised response; infinite where a δ remains."""
    pure = dp.convert(dp.ProfileDP({1: 0}, relation=RE), "renyi", order="5/2").enclosure
    assert pure.overlaps(dp.convert(dp.PureDP(1, relation=RE), "renyi", order="5/2").enclosure)
    assert (
        ProfilePoints(((Fraction(1), Fraction(0)),)).zcdp_rho() == dp.convert(dp.PureDP(1, relation=RE), "zcdp").proven
    )
    some = dp.convert(dp.ProfileDP({1: "0.1", 2: 0}, relation=RE), "renyi", order=3).enclosure
    assert dp.convert(dp.PureDP(1, relation=RE), "renyi", order=3).proven < some.exact_lower
    assert some.exact_upper < dp.convert(dp.PureDP(2, relation=RE), "renyi", order=3).proven
    with mp.workdps(50):  # by its integral, λ(λ-1) ∫ a^(λ-2) H_a da from 0, twice by reversal
        points = {"1": "0.1", "2": "0"}

        def inner(x):
            return (mpmath.exp(2 * x) + mpmath.exp(-3 * x)) * hull(points, x)

        value = mpmath.log(1 + 6 * mpmath.quad(inner, [0, 1, 2])) / 2
    assert float(value) == pytest.approx(float(some.exact_upper), rel=1e-12)


def test_the_least_delta_has_the_first_epsilon_with_it():
    """Exactly; a bit more δ has less, and a bit less has none."""
    box = dp.ProfileDP({"0.5": "0.1", 1: "0.01", 2: "0.01"}, relation=RE)
    assert dp.epsilon(box, "0.01", RE).exact_upper == dp.epsilon(box, "0.01", RE).exact_lower == 1
    assert 0.9 < dp.epsilon(box, "0.0100001", RE).upper < 1
    assert dp.epsilon(box, "0.0099999", RE).lower == float("inf")


def test_largest_losses():
    assert dp.epsilon(dp.ProfileDP({1: "0.1", 2: 0, 3: 0}, relation=RE), 0, RE).exact_upper == 2
    assert dp.epsilon(dp.ProfileDP({1: "0.1"}, relation=RE), 0, RE).lower == float("inf")


@pytest.mark.seconds
def test_concentrated_privacy_with_xi():
    """ξ moves ε(δ), where it is positive, and adds to every divergence."""
    plain, moved = (dp.ZCDP("0.1", relation=RE, xi=xi) for xi in (0, "0.25"))
    assert plain == dp.ZCDP("0.1", relation=RE)
    assert dp.epsilon(moved, "1e-5", RE).upper == pytest.approx(dp.epsilon(plain, "1e-5", RE).upper + 0.25, rel=1e-4)
    pair = RenyiProfile((), Fraction(1, 10), Fraction(1, 4))
    assert pair.with_costs(pair.costs()) == pair
    assert pair.concentration is None
    assert pair.zcdp_rho() == Fraction(35, 100)
    assert dp.epsilon(moved**2, "1e-5", RE).upper > dp.epsilon(plain**2, "1e-5", RE).upper


@pytest.mark.parametrize("box", [dp.GaussianDP(1, relation=RE), dp.ProfileDP({1: "0.1"}, relation=RE)])
def test_what_samples_of_them_spend_is_not_proven(box):
    with pytest.raises(dp.UnsupportedMechanism):
        dp.epsilon(dp.PoissonSampled(box, "0.1"), "1e-3", RE)


@pytest.mark.parametrize("points", [{}, {1: 2}, {-1: "0.1"}, [(1, "0.1"), ("1", "0.2")], 3])
def test_what_is_refused(points):
    with pytest.raises(dp.InvalidValue):
        dp.ProfileDP(points, relation=RE)


def test_refusals_do_not_list_thousands_of_points():
    many = dp.ProfileDP(dict.fromkeys(range(3000), 0), relation="add-or-remove-one")
    with pytest.raises(dp.UnsupportedMechanism) as refused:
        dp.delta(many, 1, "zero-out-one")
    with pytest.raises(dp.CertificateError) as uncertified:
        certificate_text(dp.account(many, delta="1e-5"))
    with pytest.raises(dp.CertificateError) as unstated:
        statement(dp.account(many, delta="1e-5"))
    assert max(len(str(each.value)) for each in (refused, uncertified, unstated)) < 800


@pytest.mark.parametrize("points", [{"0.01": "0.1"}, {"1e-6": "0.1", "0.01": "0.1"}, {0: "1/3", 1: "1/7", 2: "1e-300"}])
def test_no_lower_end_exceeds_the_points(points):
    """0.1 is no binary fraction: an enclosure of it has it inside."""
    mechanism = dp.ProfileDP(points, relation=RE)
    for epsilon, delta in points.items():
        found = dp.delta(mechanism, epsilon, RE)
        assert found.exact_lower <= Fraction(delta) <= found.exact_upper


def test_a_profile_stays_horizontal_far_beyond_its_points():
    mechanism = dp.ProfileDP({"1e-6": "0.1", "0.01": "0.1", 2: "0.3"}, relation=RE)
    for epsilon in ("0.05", 3, 60, 80, 150, 1000):
        found = dp.delta(mechanism, epsilon, RE)
        assert found.exact_lower <= Fraction(1, 10) <= found.exact_upper < Fraction("0.1000000000000001")


def test_every_atom_of_the_hull_has_a_proven_mass():
    for points in ({"1e-6": "0.1", "0.01": "0.1"}, {1: "0.1", 2: "0.1", 3: "0.3"}, {0: 1, 1: 1}, {0: "1/3", 1: "1/7"}):
        pair = ProfilePoints(tuple((Fraction(epsilon), Fraction(delta)) for epsilon, delta in points.items()))
        assert all(atom.p > 0 and atom.r > 0 for atom in pair.distribution().points)
