"""Noise in shares: against convolutions and closed forms, dropouts played through, and what is refused."""

import itertools
import math
from fractions import Fraction
from functools import cache

import mpmath
import pytest
from flint import arb

from dpbounds.errors import InvalidValue, UnsupportedMechanism
from dpbounds.expressions.working import working
from dpbounds.privacy.accountants.certified import account, delta
from dpbounds.privacy.mechanisms import (
    DiscreteGaussian,
    Gaussian,
    NoiseInShares,
    PoissonSampled,
    SampledWithoutReplacement,
    Skellam,
)
from dpbounds.privacy.pairs.core import Pair
from dpbounds.privacy.pairs.discrete_gaussian_sums import (
    ShiftedSumsOfDiscreteGaussians,
    closeness,
    masses_of_sum,
    sum_is_listed,
)
from dpbounds.privacy.pairs.pairs import Combined, Diluted, DiscreteGaussianVectors, RenyiProfile
from dpbounds.privacy.relations import Order

ZERO, REPLACE = "zero-out-one", "replace-one"


@cache
@mpmath.workdps(50)
def sums(variance, shares, reach=80):
    """The distribution of a sum of discrete Gaussians on -reach, ..., reach: one added after the other."""
    widest = math.ceil(12 * math.sqrt(float(variance))) + 18
    weights = [mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(variance))) for x in range(-widest, widest + 1)]
    one = [weight / mpmath.fsum(weights) for weight in weights]
    found = {x - widest: mass for x, mass in enumerate(one)}
    for _ in range(shares - 1):
        more = dict.fromkeys(range(-reach, reach + 1), mpmath.mpf(0))
        for x, mass in found.items():
            for y, other in enumerate(one, start=-widest):
                if -reach <= x + y <= reach:
                    more[x + y] += mass * other
        found = more
    return found


def profile(first, second, alpha):
    """The sum of the positive part over all outcomes of either."""
    return mpmath.fsum(max(first.get(x, 0) - alpha * second.get(x, 0), 0) for x in {*first, *second})


def moved(masses, distance):
    return {x + distance: mass for x, mass in masses.items()}


def assert_is(found, value):
    """To 20 digits, on either side."""
    wanted = Fraction(mpmath.nstr(value, 30))
    assert abs(found.exact_lower - wanted) <= wanted / 10**20
    assert abs(found.exact_upper - wanted) <= wanted / 10**20


def pair_of(mechanism: NoiseInShares, order: Order = Order.ZERO) -> Pair:
    return mechanism.dominated_by(order).pair


# --- What the sum is worth --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", [ZERO, REPLACE])
def test_gaussian_shares_are_gaussian_noise_of_the_honest_clients_variance(relation: str) -> None:
    shared = NoiseInShares("gaussian", "1/4", 20, 3, colluding=4)  # standard deviation 2
    assert pair_of(shared) == Gaussian(noise_stddev=2, sensitivity=3).dominated_by(Order.ZERO).pair
    mu = (6 if relation == REPLACE else 3) / mpmath.mpf(2)
    e = mpmath.mpf("0.5")
    wanted = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
    found = delta(shared, "0.5", relation)
    assert found.lower - 1e-15 <= wanted <= found.upper + 1e-15
    assert found.width < 1e-14


@pytest.mark.parametrize("order", [Order.ZERO, Order.RESTORE, Order.REPLACE])
def test_skellam_shares_are_skellam_noise_of_the_honest_clients_variance(order: Order) -> None:
    shared = NoiseInShares("skellam", "1/4", 20, "2.5", dimension=1, colluding=4)
    assert pair_of(shared, order) == Skellam(4, "2.5", dimension=1).dominated_by(order).pair


@pytest.mark.parametrize(("variance", "shares"), [("1", 2), ("1", 5), ("2", 3)])
def test_sums_of_discrete_gaussians_are_convolutions(variance: str, shares: int) -> None:
    theirs = sums(variance, shares)
    with working(128), mpmath.workdps(50):
        masses, rest = masses_of_sum(Fraction(variance), shares)
        for k in (0, 1, 4, 9):
            assert (
                abs(mpmath.mpf(masses[k].mid().str(40, radius=False)) - theirs[k]) <= theirs[k] * mpmath.mpf(10) ** -33
            )
        whole = 2 * sum(masses, arb(0)) - masses[0]
        assert abs(whole - 1) < arb(2) ** -100
        assert 0 < rest < arb(2) ** -600
        assert all(mass.rel_accuracy_bits() >= 120 for mass in masses)
    with mpmath.workdps(50):
        for relation, distance in ((ZERO, 2), (REPLACE, 4)):
            shared = NoiseInShares("discrete-gaussian", variance, shares, "2.5", dimension=1)
            for e in ("0", "0.4", "1.5"):
                found = delta(shared, e, relation)
                assert_is(found, profile(moved(theirs, distance), theirs, mpmath.exp(mpmath.mpf(e))))


def test_wide_shares_are_one_discrete_gaussian_to_the_working_precision() -> None:
    theirs = sums("36", 2, reach=85)
    with working(128), mpmath.workdps(50):
        masses, rest = masses_of_sum(Fraction(36), 2, 2)
        assert closeness(Fraction(36), 10**6) < Fraction(1, 2**500)
        for k in (0, 1, 9, 25):
            assert (
                abs(mpmath.mpf(masses[k].mid().str(40, radius=False)) - theirs[k]) <= theirs[k] * mpmath.mpf(10) ** -18
            )
        assert all(mass.rel_accuracy_bits() >= 100 for mass in masses)
        assert 0 < rest < arb(2) ** -600
    assert NoiseInShares("discrete-gaussian", 400, 100, 100).dominated_by(Order.ZERO).attacks


def test_a_sum_of_discrete_gaussians_is_not_one_and_as_close_as_stated() -> None:
    with mpmath.workdps(50):
        for variance, shares in (("1", 2), ("1", 5)):
            theirs, one = sums(variance, shares), sums(int(variance) * shares, 1)
            # around 0, where the whole numbers left out do not matter
            apart = max(abs(mpmath.log(theirs[x] / one[x])) for x in range(-20, 21))
            stated = mpmath.mpf(float(closeness(Fraction(variance), shares)))
            assert (stated / 3 if shares == 2 else 0) < apart <= stated
    assert closeness(Fraction(4), 1) == 0
    assert closeness(Fraction(4), 100) < Fraction(3, 10**17)
    assert closeness(Fraction(1), 100) < Fraction(22, 10**5)
    assert closeness(Fraction(1), 1000) > closeness(Fraction(1), 100)


@pytest.mark.parametrize("order", ["1.5", "4"])
def test_moments_of_sums_are_sums_over_all_whole_numbers(order: str) -> None:
    with mpmath.workdps(50):
        power, masses = mpmath.mpf(order), sums("1", 3)
        total = mpmath.fsum(masses[x - 2] ** power * masses[x] ** (1 - power) for x in range(-60, 61))
        wanted = mpmath.log(total)
    with working(128):
        found = ShiftedSumsOfDiscreteGaussians(Fraction(1), 3, 2).log_moment(Fraction(order))
        assert found.contains(arb(mpmath.nstr(wanted, 35)))
        assert found.rad() < 0.002
        pair = ShiftedSumsOfDiscreteGaussians(Fraction(1), 3, 2)
        near_one = pair.log_moment(Fraction(1001, 1000)) * 1000
        assert near_one < 1.001 * 4 / arb(6) + arb("2.2e-4")
        assert near_one > 0


@pytest.mark.parametrize("order", ["1.5", "4"])
def test_vectors_keep_the_concentration_that_is_claimed(order: str) -> None:
    """Two coordinates that move by 3 and 2, of vectors known only by their norm."""
    known = pair_of(NoiseInShares("discrete-gaussian", 1, 3, "3.7", dimension=2))
    assert isinstance(known, DiscreteGaussianVectors)
    curve = known.divergences
    assert curve == RenyiProfile((), Fraction(math.floor(3.7**2), 6), 2 * closeness(Fraction(1), 3))
    with mpmath.workdps(50):
        power, masses = mpmath.mpf(order), sums("1", 3)
        both = sum(
            mpmath.log(mpmath.fsum(masses[x - w] ** power * masses[x] ** (1 - power) for x in range(-60, 61)))
            for w in (3, 2)
        )
        assert curve.rho is not None
        claimed = (power - 1) * (float(curve.xi) + power * float(curve.rho))
        assert 0.9 * claimed < both <= claimed


def test_vectors_of_ones_move_as_many_coordinates_as_their_norm_allows() -> None:
    one = ShiftedSumsOfDiscreteGaussians(Fraction(2), 3, 1, scalar=False)
    shared = NoiseInShares("discrete-gaussian", 2, 3, "1.5")
    assert pair_of(shared) == Combined(((one, 2),))
    assert pair_of(NoiseInShares("discrete-gaussian", 2, 3)) == one
    assert isinstance(pair_of(shared, Order.REPLACE), DiscreteGaussianVectors)
    alone = NoiseInShares("discrete-gaussian", 2, 3, colluding=2)
    assert pair_of(alone) == DiscreteGaussian(noise_variance=2).dominated_by(Order.ZERO).pair
    assert not sum_is_listed(Fraction(35), 300, 1)
    assert not sum_is_listed(Fraction(1), 4, 41)
    far = NoiseInShares("discrete-gaussian", 35, 300, dimension=1)
    assert far.dominated_by(Order.ZERO).attacks == ()
    assert not account(far, delta="1e-5", relation=ZERO).tight


# --- Clients that drop out --------------------------------------------------------------------------------------------


def test_dropouts_and_colluders_are_covered_by_the_noise_of_the_fewest() -> None:
    """Three clients, the third colludes; each arrives with probability 0.8, and two are enough: all that is seen."""
    share = sums("1", 1)

    def seen(vector: int) -> dict[tuple[frozenset[int], int], mpmath.mpf]:
        found: dict[tuple[frozenset[int], int], mpmath.mpf] = {}
        for size in range(4):
            for here in itertools.combinations(range(3), size):
                chance = mpmath.mpf("0.8") ** size * mpmath.mpf("0.2") ** (3 - size)
                honest = [client for client in here if client < 2]
                if size < 2:
                    found[frozenset(here), 0] = chance
                    continue
                for x, mass in sums("1", len(honest)).items() if len(honest) > 1 else share.items():
                    found[frozenset(here), x + (vector if 0 in honest else 0)] = chance * mass
        return found

    with mpmath.workdps(30):
        present, absent = seen(2), seen(0)
        bound = NoiseInShares("discrete-gaussian", 1, 2, 2, dimension=1, colluding=1)
        trusting = NoiseInShares("discrete-gaussian", 1, 2, 2, dimension=1)
        for e in ("0.2", "2"):
            spent = profile(present, absent, mpmath.exp(mpmath.mpf(e)))
            assert spent <= delta(bound, e, ZERO).lower
            # of all rounds in which the client takes part, those with one honest client more are better
            assert delta(trusting, e, ZERO).upper < delta(bound, e, ZERO).lower
        # where they alone arrive, it is attained
        only = {x: mass for (here, x), mass in present.items() if here == {0, 2}}
        none = {x: mass for (here, x), mass in absent.items() if here == {0, 2}}
        chance = mpmath.mpf("0.128")
        assert abs(profile(only, none, mpmath.e) / chance - delta(bound, 1, ZERO).lower) < 1e-12


def test_samples_of_clients_show_who_was_drawn() -> None:
    """A drawn client adds its share, so that the noise shows whether it was drawn."""
    shared, drawn = NoiseInShares("gaussian", 1, 4), NoiseInShares("gaussian", 1, 4, client_rate="0.1")
    for order in (Order.ZERO, Order.RESTORE, Order.REPLACE):
        assert pair_of(drawn, order) == Diluted(Fraction(1, 10), pair_of(shared, order))
    assert math.isclose(delta(drawn, 1, ZERO).upper, delta(shared, 1, ZERO).upper / 10, rel_tol=1e-9)
    # zero-out-one, one client beside four: drawn or not, with its vector 1 or with noise alone
    e = mpmath.mpf(1)
    mixed = mpmath.quad(
        lambda y: max(
            0.9 * (1 - mpmath.exp(e)) * mpmath.npdf(y, 0, mpmath.sqrt(4))
            + 0.1 * (mpmath.npdf(y, 1, mpmath.sqrt(5)) - mpmath.exp(e) * mpmath.npdf(y, 0, mpmath.sqrt(5))),
            0,
        ),
        [-20, 0, 5, 10, 20, 40, 60],
    )
    amplified = delta(PoissonSampled(Gaussian(2), "0.1"), 1, ZERO).upper
    assert amplified < mixed < delta(drawn, 1, ZERO).upper


@pytest.mark.seconds
def test_nothing_is_claimed_from_below_of_datasets_with_too_few_clients() -> None:
    """Of two clients nobody sees a sum, so that no attack on it is known."""
    few = SampledWithoutReplacement(Gaussian(100), 1, 2)
    for shared in (NoiseInShares("gaussian", 1, 4), NoiseInShares("gaussian", 1, 4, client_rate="0.1")):
        assert account(shared, delta="1e-5", relation=REPLACE).tight
        found = delta(shared @ few, 1, REPLACE)
        assert found.lower <= delta(few, 1, REPLACE).upper < delta(shared, 1, REPLACE).lower <= found.upper


# --- What is refused --------------------------------------------------------------------------------------------------


def test_what_is_not_proven_is_refused() -> None:
    shared = NoiseInShares("gaussian", 1, 4)
    for mechanism in (shared, NoiseInShares("gaussian", 1, 4, client_rate="0.1"), shared**3):
        with pytest.raises(UnsupportedMechanism, match="takes its noise along: ask with relation='zero-out-one'"):
            delta(mechanism, 1, "add-or-remove-one")
    for scheme in (PoissonSampled(shared, "0.1"), SampledWithoutReplacement(shared, 5, 9)):
        with pytest.raises(UnsupportedMechanism, match=r"nothing is proven here of a sample.*give client_rate"):
            delta(scheme, 1, REPLACE)
    with pytest.raises(UnsupportedMechanism, match="closer than 2 in the l2 norm"):
        delta(NoiseInShares("skellam", 4, 10, 3), 1, ZERO)
    with pytest.raises(InvalidValue, match="colluding must be less than shares = 4"):
        NoiseInShares("gaussian", 1, 4, colluding=4)
    with pytest.raises(
        InvalidValue, match=r"share_variance must be at least 1 for discrete Gaussian noise.*finer unit"
    ):
        NoiseInShares("discrete-gaussian", "0.9", 4)
    with pytest.raises(InvalidValue, match="distribution must be gaussian or skellam or discrete-gaussian"):
        NoiseInShares("laplace", 1, 4)
    with pytest.raises(InvalidValue, match="bound must be at least 1"):
        NoiseInShares("skellam", 1, 4, "0.5")
    assert NoiseInShares("gaussian", 1, 4, "0.5", colluding=0).honest == 4
    assert ShiftedSumsOfDiscreteGaussians(Fraction(1), 4, 1).enlarged(3).distance == 3
    with pytest.raises(UnsupportedMechanism, match="50 records"):
        ShiftedSumsOfDiscreteGaussians(Fraction(1), 4, 1).enlarged(50)
    with pytest.raises(UnsupportedMechanism, match="2 records"):
        ShiftedSumsOfDiscreteGaussians(Fraction(1), 4, 1, scalar=False).enlarged(2)


def test_its_assumptions_name_the_fewest_clients() -> None:
    said = " ".join(each.text for each in NoiseInShares("gaussian", 1, 40, colluding=7).assumptions(ZERO))
    assert "no sum of fewer than 40 clients is opened" in said
    assert "7 clients of a sum collude at most" in said
    assert "clients drop out independently of all vectors and of all noise of the round" in said
    assert "no clients of a sum collude" in NoiseInShares("gaussian", 1, 40).assumptions(ZERO)[1].text
