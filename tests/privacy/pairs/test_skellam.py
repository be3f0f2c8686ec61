"""Skellam noise: against sums over Poisson numbers at 50 digits, in one dimension and of vectors, and refusals."""

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from flint import arb

from dpbounds.errors import NotCertified, UnsupportedMechanism
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import account, delta, epsilon
from dpbounds.privacy.mechanisms import DiscreteGaussian, PoissonSampled, Skellam
from dpbounds.privacy.pairs.pairs import Combined
from dpbounds.privacy.pairs.skellam import ShiftedSkellams, is_listed, skellam_masses
from dpbounds.privacy.relations import Order
from dpbounds.privacy.renyi.accountant import renyi_curve

RELATIONS = ("add-or-remove-one", "replace-one", "zero-out-one")
VARIANCES = ("0.01", "0.5", "4", "900")


@cache
@mpmath.workdps(60)
def mass(variance, k):
    """From the definition: two independent Poisson numbers of mean μ that differ by k, added up."""
    mu = mpmath.mpf(Fraction(variance).numerator) / Fraction(variance).denominator / 2
    term = mpmath.exp(-2 * mu) * mu**k / mpmath.factorial(k)  # the smaller number is 0
    total, j = mpmath.mpf(0), 0
    while j <= mu or term > total * mpmath.eps:
        total, j = total + term, j + 1
        term *= mu * mu / (j * (j + k))
    return total


def profile(variance, distance, e):
    """The sum of the positive part over all whole numbers."""
    reach = int(12 * float(Fraction(variance)) ** 0.5) + 60
    f = [mass(variance, k) for k in range(reach + distance + 1)]
    terms = (f[abs(x - distance)] - mpmath.exp(e) * f[abs(x)] for x in range(-reach, reach + 1))
    return mpmath.fsum(each for each in terms if each > 0)


def assert_is(found, value):
    """To 25 digits, on either side."""
    wanted = Fraction(mpmath.nstr(value, 35))
    assert abs(found.exact_lower - wanted) <= wanted / 10**25
    assert abs(found.exact_upper - wanted) <= wanted / 10**25


@pytest.mark.parametrize("variance", VARIANCES)
def test_masses_are_those_of_the_difference_of_two_poisson_numbers(variance):
    with working(256), mpmath.workdps(60):
        masses, rest = skellam_masses(Fraction(variance), 5)
        for k in (0, 1, 2, 7, 20):
            ours, theirs = mpmath.mpf(masses[k].mid().str(45, radius=False)), mass(variance, k)
            assert abs(ours - theirs) <= theirs * mpmath.mpf(10) ** -40
        whole = 2 * sum(masses, arb(0)) - masses[0]
        assert whole < 1 + arb(2) ** -200
        assert whole + 2 * rest > 1 - arb(2) ** -200
        assert rest < arb(2) ** -500


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("variance", VARIANCES[:3])
def test_one_release_in_one_dimension(variance, relation):
    distance = 4 if relation == "replace-one" else 2
    with mpmath.workdps(50):
        for e in ("0", "0.3", "1.7"):
            found = delta(Skellam(variance, "2.5", dimension=1), e, relation)
            assert_is(found, profile(variance, distance, mpmath.mpf(e)))


@pytest.mark.seconds
def test_two_releases_are_every_pair_of_outcomes():
    f = np.array([float(mass("2", abs(k))) for k in range(-41, 42)])
    p, q = np.outer(f[:-2], f[:-2]), np.outer(f[1:-1], f[1:-1])
    both = Fraction(float(np.maximum(p - math.e * q, 0).sum()))
    found = delta(Skellam(2) ** 2, 1)
    assert found.exact_lower <= both <= found.exact_upper <= found.exact_lower * (1 + Fraction(1, 10**4))
    vector = Skellam(2, "1.5")  # two ones
    assert vector.dominated_by(Order.REMOVE).pair == Combined(((ShiftedSkellams(Fraction(2), 1, scalar=False), 2),))


@pytest.mark.parametrize("order", ["1.5", "2", "8"])
@pytest.mark.parametrize(("variance", "distance"), [("0.5", 1), ("4", 2), ("30", 3)])
def test_renyi_divergences_are_sums_over_all_whole_numbers(variance, distance, order):
    with mpmath.workdps(60):
        power, reach = mpmath.mpf(order), 120
        f = [mass(variance, k) for k in range(reach + distance + 1)]
        total = mpmath.fsum(f[abs(x - distance)] ** power * f[abs(x)] ** (1 - power) for x in range(-reach, reach + 1))
        wanted = Fraction(mpmath.nstr(mpmath.log(total) / (power - 1), 25))
    found = renyi_curve(Skellam(variance, distance, dimension=1)).upper(order)
    assert wanted <= found <= wanted * (1 + Fraction(1, 10**15))


def test_an_order_that_is_far_out_is_refused():
    with working(128), pytest.raises(NotCertified, match="too far out"):
        ShiftedSkellams(Fraction(10_000), 1).log_moment(Fraction(10**7))


def test_clients_share_the_noise():
    """The sum of two shares has the distribution of one noise of both variances; more noise spends less."""
    with working(256), mpmath.workdps(60):
        whole, _ = skellam_masses(Fraction(4))
        for k in (0, 1, 5):
            both = mpmath.fsum(mass("1", abs(j)) * mass("3", abs(k - j)) for j in range(-60, 61))
            assert abs(mpmath.mpf(whole[k].mid().str(45, radius=False)) - both) <= both * mpmath.mpf(10) ** -40
    for e in ("0.1", "1"):
        assert delta(Skellam(12), e).exact_upper < delta(Skellam(11), e).exact_lower


def test_it_is_nearly_gaussian_where_there_is_much_noise():
    skellam, gaussian = (epsilon(each**10, "1e-6") for each in (Skellam(400), DiscreteGaussian(20)))
    assert abs(skellam.upper - gaussian.upper) < 0.005 * gaussian.upper


def test_samples_spend_what_a_mixture_of_both_spends():
    """A record that is in the sample with chance 1/10: 0.9 f + 0.1 f(· - 1) against f, and the other way round."""
    with mpmath.workdps(40):
        f, q, alpha = [mass("2", k) for k in range(80)], mpmath.mpf("0.1"), mpmath.exp("0.05")
        mixed = {x: (1 - q) * f[abs(x)] + q * f[abs(x - 1)] for x in range(-60, 61)}
        remove = mpmath.fsum(max(mixed[x] - alpha * f[abs(x)], 0) for x in mixed)
        add = mpmath.fsum(max(f[abs(x)] - alpha * mixed[x], 0) for x in mixed)
        found = delta(PoissonSampled(Skellam(2), "0.1"), "0.05")
        assert_is(found, max(remove, add))


def test_what_is_not_proven_is_refused():
    assert account(Skellam(4), delta="1e-5", relation="add-or-remove-one").tight
    for bound, relation in ((2, "add-or-remove-one"), (1, "replace-one")):
        with pytest.raises(UnsupportedMechanism, match=r"closer than 2 in the l2 norm.*dimension=1"):
            delta(Skellam(4, bound), 1, relation)
    assert not is_listed(Fraction(10**6), 1)
    with pytest.raises(UnsupportedMechanism, match="too many losses to be listed: take DiscreteGaussian"):
        delta(Skellam(10**6), 1)
    with pytest.raises(UnsupportedMechanism, match="3 records"):
        ShiftedSkellams(Fraction(4), 1, scalar=False).enlarged(3)
    assert ShiftedSkellams(Fraction(4), 1).enlarged(3) == ShiftedSkellams(Fraction(4), 3)


@pytest.mark.parametrize("variance", ["0.1", "30", "4000"])
def test_what_lies_beyond_the_cut_is_bounded(variance):
    with working(128), mpmath.workdps(30):
        masses, rest = skellam_masses(Fraction(variance))
        beyond = mpmath.fsum(mass(variance, len(masses) + k) for k in range(40))
        ours = mpmath.mpf(rest.upper().str(20, radius=False))
        assert beyond * (1 - 1e-15) <= ours <= 1.5 * beyond
