"""The Rényi accountant, held against 50-digit quadrature, binomial sums, other accountants, brute force and itself."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent  # type: ignore[import-untyped]  # ships no types
from dp_accounting.rdp import RdpAccountant  # type: ignore[import-untyped]  # ships no types
from flint import arb, ctx
from hypothesis import given, settings, strategies as st
from mpmath import mp, mpf

import dpbounds.privacy.mechanisms as dp
from dpbounds.errors import InvalidValue, NotCertified, UnsupportedMechanism
from dpbounds.privacy.pairs import gaussian_moments as numerics
from dpbounds.privacy.pairs.losses import ball, law_of
from dpbounds.privacy.pairs.pairs import (
    BoundedRangeProfile,
    Combined,
    Diluted,
    Direction,
    DrawnGaussians,
    Draws,
    FourPoints,
    Moments,
    Pair,
    RenyiProfile,
    Responses,
    Sampled,
    SampledGaussians,
    SampledLaplaces,
    ShiftedDiscreteGaussians,
    ShiftedDiscreteLaplaces,
    ShiftedGaussians,
    ShiftedLaplaces,
    Tagged,
    TwoGuarantees,
    TwoPoints,
    UniformBalls,
)
from dpbounds.privacy.relations import Relation
from dpbounds.privacy.renyi.accountant import renyi_curve, renyi_delta, renyi_epsilon
from dpbounds.privacy.renyi.concentrated_accounts import gdp_clt_epsilon, zcdp_epsilon, zcdp_rho
from dpbounds.privacy.renyi.moments import log_moment
from dpbounds.privacy.routes.closed_forms import closed_form_delta
from tests.privacy.products import products_of
from tests.privacy.small_laws import divergence, m, swapped
from tests.work import calls

Density = Callable[[mpf], mpf]
F = Fraction
AR, REPLACE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE
DIGITS = 50


def poisson(q: str, z: str, steps: int) -> dp.Mechanism:
    return dp.PoissonSampled(dp.Gaussian(z), q) ** steps


# --- Twins: plain integrals of P^λ Q^(1-λ), written down again from the densities -------------------------------------


def normal(x: mpf, mean: mpf) -> mpf:
    return mp.exp(-((x - mean) ** 2) / 2) / mp.sqrt(2 * mp.pi)


def laplace(x: mpf, centre: mpf) -> mpf:
    return mp.exp(-abs(x - centre)) / 2


def densities(pair: Pair) -> tuple[Density, Density]:
    """P and Q on the line, in units of the noise: means with their weights, for either sign."""
    match pair:
        case SampledGaussians(direction=direction, sample_rate=rate, variance=variance):
            noise, q = normal, m(rate)
            weights = {0: 1 - q, 1 / mp.sqrt(m(variance)): q}
        case DrawnGaussians(direction=direction, draws=draws, squared_shift=squared):
            noise, q, n = normal, m(draws.rate), draws.slots
            weights = {k * mp.sqrt(m(squared)): mp.binomial(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)}
        case Sampled(direction=direction, draws=draws, base=ShiftedLaplaces(shift=shift)):
            noise, weights = laplace, {0: 1 - m(draws.rate), m(shift): m(draws.rate)}
        case SampledLaplaces(sample_rate=rate, shift=shift):
            noise, direction, weights = laplace, Direction.REPLACE, {0: 1 - m(rate), m(shift): m(rate)}
        case ShiftedLaplaces(shift=shift):
            noise, direction, weights = laplace, Direction.REMOVE, {m(shift): mpf(1)}

    def mixture(sign: int) -> Density:
        return lambda x: mp.fsum(weight * noise(x, sign * mean) for mean, weight in weights.items())

    def alone(x: mpf) -> mpf:
        return noise(x, mpf(0))

    return {
        Direction.REMOVE: (mixture(1), alone),
        Direction.ADD: (alone, mixture(1)),
        Direction.REPLACE: (mixture(1), mixture(-1)),
    }[direction]


def agrees(value: arb, expected: mpf, digits: int = 30) -> bool:
    """Whether a ball computed at high precision holds the expected number, up to the quadrature's own error."""
    with ctx.workprec(300):
        distance = abs(value - arb(mp.nstr(expected, 45)))
        return bool(distance < arb(10) ** -digits * (abs(arb(mp.nstr(expected, 20))) + arb(10) ** -8))


REAL_ORDERS = [F("1.01"), F("2.5"), F(17)]
LAPLACE = [-120.0, -20.0, -0.75, 0.0, 0.75, 20.0, 120.0]
SAMPLED = [(way, F(q), F(v)) for q, v in (("1/2", "9"), ("1/2", "1"), ("1/1000", "1/4")) for way in Direction]
INTEGRALS = [
    *(pytest.param(SampledGaussians(*case), None, marks=pytest.mark.minutes) for case in SAMPLED),
    *(pytest.param(SampledGaussians(way, F(1, 100), F(1)), None, marks=pytest.mark.seconds) for way in Direction),
    *(
        pytest.param(DrawnGaussians(way, Draws(F(1, 20), 4), F(9, 4)), None, marks=pytest.mark.seconds)
        for way in (Direction.REMOVE, Direction.ADD)
    ),
    *((Sampled(way, Draws(F(1, 10)), ShiftedLaplaces(F(3, 4))), LAPLACE) for way in (Direction.REMOVE, Direction.ADD)),
    pytest.param(ShiftedLaplaces(F(3, 4)), LAPLACE, marks=pytest.mark.seconds),
    pytest.param(SampledLaplaces(F(1, 10), F(3, 4)), LAPLACE, marks=pytest.mark.seconds),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("pair", "corners"), INTEGRALS)
def test_moments_equal_their_integrals(pair: Pair, corners: list[float] | None) -> None:
    with mp.workdps(DIGITS):
        p, q = densities(pair)
    for order in REAL_ORDERS if not isinstance(pair, DrawnGaussians) else [F("2.25")]:
        with mp.workdps(DIGITS):
            power = m(order)
            ends = corners or mp.linspace(-18 - 6 * float(order), 18 + 6 * float(order), 25)
            expected = mp.log(mp.quad(lambda x, power=power: p(x) ** power * q(x) ** (1 - power), list(ends)))
        value = log_moment(pair, order, 120)
        assert agrees(value, expected), (value, expected)
        if isinstance(pair, SampledGaussians):  # a planted error the twin must see
            nearby = replace(pair, sample_rate=pair.sample_rate * (1 + F(1, 10**9)))
            assert not agrees(log_moment(nearby, order, 120), expected, 12)


def gaussian_profile(a: mpf) -> mpf:
    return mp.ncdf(mpf(1) / 4 - 2 * mp.log(a)) - a * mp.ncdf(-mpf(1) / 4 - 2 * mp.log(a))


def laplace_profile(a: mpf) -> mpf:
    return -mp.expm1((mp.log(a) - mpf(3) / 4) / 2)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("order", REAL_ORDERS)
@pytest.mark.parametrize(
    ("base", "profile", "top", "digits"),
    [
        (ShiftedLaplaces(F(3, 4)), laplace_profile, lambda power: mpf(3) / 4, 30),
        (ShiftedGaussians(F(1, 4)), gaussian_profile, lambda power: (power + 14) / 2, 16),
    ],
)
def test_fixed_size_samples_under_replace_one_equal_the_integral_of_their_profile(
    order: Fraction, base: Pair, profile: Density, top: Density, digits: int
) -> None:
    """1 + λ(λ-1) ∫ (a^(λ-2) + a^(-λ-1)) q h(b) db over a = 1 + q(b-1), b = e^loss."""
    with mp.workdps(DIGITS if digits == 30 else 30):
        power, rate = m(order), mpf("0.1")

        def integrand(loss: mpf) -> mpf:
            b = mp.exp(loss)
            a = 1 + rate * (b - 1)
            return (a ** (power - 2) + a ** (-power - 1)) * rate**2 * profile(b) * b

        total = mp.quad(integrand, [float(x) for x in mp.linspace(0, float(top(power)), 12)])
        expected = mp.log1p(power * (power - 1) * total)
        found = log_moment(Sampled(Direction.REPLACE, Draws(F(1, 10)), base), order, 120 if digits == 30 else 90)
        assert agrees(found, expected, digits)


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize(
    "base", [ShiftedLaplaces(F(1, 4)), ShiftedGaussians(F(1, 16)), Responses(F(1, 4)), RenyiProfile((), F(1, 32))]
)
def test_several_draws_average_over_their_number(base: Pair, direction: Direction) -> None:
    masses = [math.comb(3, k) * 0.1**k * 0.9 ** (3 - k) for k in range(4)]
    eta = F(1 - masses[0])
    for order in (F("1.5"), F(6)):
        once = [log_moment(Sampled(direction, Draws(eta), base.enlarged(k)), order) for k in (1, 2, 3)]
        mean = sum(mass * math.exp(value) for mass, value in zip(masses[1:], once, strict=True)) / float(eta)
        whole = log_moment(Sampled(direction, Draws(F(1, 10), 3), base), order)
        assert float(whole) == pytest.approx(math.log(mean), rel=1e-10)


def test_discrete_pairs_are_sums_over_their_atoms() -> None:
    for pair in (Responses(F(1, 2)), Responses(F(1, 2), 5), TwoPoints(F(1, 4), F(1, 2)), FourPoints(F(1, 2), F(0))):
        atoms = [(float(point.p), float(point.p) / math.exp(point.loss)) for point in law_of(pair).points]
        assert sum(p for p, _ in atoms) == pytest.approx(1)
        drawn = [(0.9 * q + 0.1 * p, q) for p, q in atoms]
        for order in (F("1.5"), F(9)):
            cases = [(atoms, pair)]
            if pair == Responses(F(1, 2)):
                remove, add = (Sampled(way, Draws(F(1, 10)), pair) for way in (Direction.REMOVE, Direction.ADD))
                cases += [(drawn, remove), (swapped(drawn), add)]
            for law, known in cases:
                direct = float(divergence(law, float(order))) * float(order - 1)
                assert float(log_moment(known, order)) == pytest.approx(direct, rel=1e-9)


def test_samples_that_are_none_and_samples_of_samples() -> None:
    """A sample that always holds the record is none, and of nested samples the rates multiply."""
    always, order = Draws(F(1), 3), F("2.5")
    for direction in Direction:
        for base, whole in ((ShiftedGaussians(F(1)), ShiftedGaussians(F(9))), (Responses(F(1)), Responses(F(3)))):
            assert log_moment(Sampled(direction, always, base), order).overlaps(log_moment(whole, order))
    drawn = log_moment(DrawnGaussians(Direction.ADD, always, F(1)), order)
    assert drawn.overlaps(log_moment(ShiftedGaussians(F(9)), order))
    full = renyi_epsilon(dp.SampledWithReplacement(dp.Gaussian(2), 3, 1), "1e-5", REPLACE).enclosure
    assert full.overlaps(renyi_epsilon(dp.Gaussian(noise_stddev=2, sensitivity=6), "1e-5").enclosure)
    for direction in (Direction.REMOVE, Direction.ADD):
        inner = SampledGaussians(Direction.REMOVE, F(1, 2), F(1))
        nested = log_moment(Sampled(direction, Draws(F(1, 5)), inner), order)
        for same in (
            SampledGaussians(direction, F(1, 10), F(1)),
            Sampled(direction, Draws(F(1, 10)), ShiftedGaussians(F(1))),
        ):
            assert nested.overlaps(log_moment(same, order))


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_integer_orders_are_binomial_sums(n: int) -> None:
    for q, v in ((F(1, 100), F(1)), (F(1, 3), F(4))):
        with ctx.workprec(200):
            weights = (ball(math.comb(n, k) * (1 - q) ** (n - k) * q**k) for k in range(n + 1))
            total = sum(weight * ball(F(k * (k - 1)) / (2 * v)).exp() for k, weight in enumerate(weights))
            assert log_moment(SampledGaussians(Direction.REMOVE, q, v), n, 100).overlaps(total.log())


# --- The worst pairs of a range ---------------------------------------------------------------------------------------


@pytest.mark.seconds
@pytest.mark.one_in(4)
@pytest.mark.parametrize("span", [F(1, 10), F(1), F(5)])
def test_the_bounded_range_bound_is_the_worst_two_point_pair(span: Fraction) -> None:
    whole = BoundedRangeProfile(span)
    drawn = [lambda pair, way=way: Sampled(way, Draws(F(1, 10)), pair) for way in (Direction.REMOVE, Direction.ADD)]
    for order in (F("1.1"), F(2), F("6.5"), F(50)):
        assert float(log_moment(whole, order)) <= float(order * (order - 1) * span**2 / 8)
        for seen, near in ((lambda pair: pair, 1e-3), *((sample, 1e-2) for sample in drawn)):
            bound = float(log_moment(seen(whole), order).mid())
            values = [float(log_moment(seen(TwoPoints(F(j, 300) * span, span)), order).mid()) for j in range(1, 300)]
            assert bound * (1 - near) <= max(values) <= bound * (1 + 1e-12)


# --- Guarantees: nothing that keeps them exceeds the bounds -----------------------------------------------------------


def random_laws(generator: random.Random, count: int) -> list[list[float]]:
    rows = [[math.exp(generator.gauss(0, 0.7)) for _ in range(3)] for _ in range(count)]
    return [[weight / sum(weights) for weight in weights] for weights in rows]


def moment(p: list[float], q: list[float], order: float) -> float:
    return math.log(sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True)))


def mixed(q: float, without: list[float], drawn: list[float]) -> list[float]:
    return [(1 - q) * a + q * b for a, b in zip(without, drawn, strict=True)]


def curve_of(laws: list[list[float]]) -> RenyiProfile:
    """The divergences between any two of the laws, at integer orders, rounded up."""
    ordered = list(itertools.permutations(laws, 2))
    worst = {order: max(moment(p, q, order) for p, q in ordered) / (order - 1) for order in range(2, 13)}
    return RenyiProfile(tuple((F(order), F(value * (1 + 1e-9))) for order, value in worst.items()))


@pytest.mark.seconds
def test_no_mechanism_that_keeps_a_curve_exceeds_what_is_derived_for_samples() -> None:
    generator = random.Random(7)
    closest = dict.fromkeys(("remove", "add", "replace", "poisson"), 0.0)
    for _ in range(40):
        without, drawn, other = laws = random_laws(generator, 3)
        q = generator.choice((0.01, 0.1, 0.4, 0.9))
        draws, every = Draws(F(q)), curve_of(laws)
        present, sides = curve_of([without, drawn]), curve_of([drawn, other])
        p, exchanged = mixed(q, without, drawn), mixed(q, without, other)
        pairs = {
            "remove": (Sampled(Direction.REMOVE, draws, present), p, without),
            "add": (Sampled(Direction.ADD, draws, present), without, p),
            "replace": (Sampled(Direction.REPLACE, draws, every), p, exchanged),
            "poisson": (TwoGuarantees(F(q), every, sides), p, exchanged),
        }
        for order, (name, (pair, first, second)) in itertools.product((1.3, 2.0, 2.6, 5.0, 9.5), pairs.items()):
            true, bound = moment(first, second, order), float(log_moment(pair, F(order)).upper())
            assert true <= bound, (name, order, true, bound)
            closest[name] = max(closest[name], true / bound)
    assert closest["remove"] > 0.97
    assert closest["add"] > 0.5
    assert closest["replace"] > 0.2


def test_concentrated_guarantees_are_attained_by_gaussians_on_samples() -> None:
    """The remove bound of a ρ-zCDP box is that of the Gaussian with the same curve, at integer orders exactly."""
    rho = F(1, 8)
    for order in (F(2), F(3), F(11)):
        box = log_moment(Sampled(Direction.REMOVE, Draws(F(1, 20)), RenyiProfile((), rho)), order)
        gaussian = log_moment(SampledGaussians(Direction.REMOVE, F(1, 20), 1 / (2 * rho)), order)
        assert float(box.mid()) == pytest.approx(float(gaussian.mid()), rel=1e-9)
    for order in (F("1.2"), F("2.5"), F("7.3")):
        for direction in Direction:
            draws = Draws(F(1, 20))
            gaussian = log_moment(Sampled(direction, draws, ShiftedGaussians(2 * rho)), order)
            box = log_moment(Sampled(direction, draws, RenyiProfile((), rho)), order)
            assert gaussian <= box
            if direction is not Direction.REPLACE:
                assert float(box.mid()) <= 1.3 * float(gaussian.mid())


def test_half_the_sensitivity_in_a_fixed_size_sample_is_caught() -> None:
    """A planted error of the kind found in the wild: the replace curve of one record's bound instead of twice it."""
    gaussian = dp.Gaussian(2)
    (true,) = products_of(dp.SampledWithoutReplacement(gaussian, 10, 100), REPLACE)
    wrong = Sampled(Direction.REPLACE, Draws(F(1, 10)), RenyiProfile((), F(1, 8)))  # λ/2z², as if Δ = C
    exact_moment = log_moment(true[0][0], F(8))
    assert log_moment(wrong, F(8)) < exact_moment
    right = Sampled(Direction.REPLACE, Draws(F(1, 10)), RenyiProfile((), F(1, 2)))
    assert log_moment(right, F(8)) > exact_moment


def test_bounds_from_moments_dominate_bounds_from_the_loss() -> None:
    """Two equal releases on one sample, known by their integer moments; and the same as one Gaussian."""
    one = ShiftedGaussians(F(1, 2))
    for direction in Direction:
        together = Sampled(direction, Draws(F(1, 50)), ShiftedGaussians(F(3, 4)))
        apart = Sampled(direction, Draws(F(1, 50)), Combined(((one, 1), (ShiftedGaussians(F(1, 4)), 1))))
        for order in (F("1.5"), F(2), F("3.5"), F(20)):
            exact_moment, bound = log_moment(together, order), log_moment(apart, order)
            assert exact_moment <= bound * (1 + arb(2) ** -40)
            assert float(bound.mid()) <= 3 * float(exact_moment.mid())


@pytest.mark.seconds
def test_two_guarantees_dominate_the_tight_pairs() -> None:
    rate = F(1, 20)
    vector = TwoGuarantees(rate, ShiftedLaplaces(F(1, 2)), ShiftedLaplaces(F(1)))
    gaussian = TwoGuarantees(rate, ShiftedGaussians(F(1)), ShiftedGaussians(F(4)))
    for order in (F("1.2"), F(2), F("4.5"), F(12)):
        tight = log_moment(SampledLaplaces(rate, F(1, 2)), order)
        assert tight <= log_moment(vector, order) < 1.6 * tight
        assert log_moment(SampledGaussians(Direction.REPLACE, rate, F(1)), order) <= log_moment(gaussian, order)
    beyond = F(200)  # an order at which losses count that lie beyond the last chord of the profile
    assert log_moment(SampledGaussians(Direction.REMOVE, rate, F(1)), beyond) <= log_moment(gaussian, beyond)
    unsampled = replace(vector, sample_rate=1 - F(1, 2**30))
    nearly, whole = (float(log_moment(pair, F("4.5")).mid()) for pair in (unsampled, ShiftedLaplaces(F(1))))
    assert nearly == pytest.approx(whole, rel=1e-3)


# --- Structure ------------------------------------------------------------------------------------------------------


SYMMETRIC = [
    ShiftedGaussians(F(1)),
    ShiftedLaplaces(F(1, 2)),
    Responses(F(1)),
    Responses(F(1), 4),
    ShiftedDiscreteLaplaces(F(1, 2), 3),
    BoundedRangeProfile(F(1)),
]


@pytest.mark.parametrize("order", [10**3, 10**6, 10**9])
def test_a_divergence_of_high_order_sees_its_peak(order: int) -> None:
    """Laplace on a sample: the atom at the largest loss, and beside it a peak of width 1/λ, divided by e^(λ·loss)."""
    with mp.workdps(DIGITS):
        q, s = mpf(1) / 2, mpf(2)
        c, most = 1 - q + q * mp.exp(-s), 1 - q + q * mp.exp(s)

        def beside(u: mpf) -> mpf:
            return c * mp.exp(u - s) / 2 * ((1 - q + q * mp.exp(s - 2 * u)) / most) ** order

        peak = c * mp.exp(-s) / 2 + mp.quad(beside, [0, mpf(10) / order, mpf(100) / order, mpf(300) / order])
        expected = order * mp.log(most / c) + mp.log(peak)
    assert agrees(log_moment(SampledLaplaces(Fraction(1, 2), Fraction(2)), order, 100), expected, 28)


@pytest.mark.parametrize("base", SYMMETRIC)
def test_add_spends_less_than_remove_at_every_order(base: Pair) -> None:
    for q, order in itertools.product((F(1, 100), F(9, 10)), (F("1.001"), F("1.5"), F(2), F(20))):
        add, remove = (log_moment(Sampled(way, Draws(q), base), order) for way in (Direction.ADD, Direction.REMOVE))
        assert add <= remove


def test_an_asymmetric_base_breaks_the_reversal_lemma() -> None:
    """Why the lemma asks for symmetry: a base whose losses are mostly slightly positive, rarely very negative."""
    add, remove = (
        log_moment(Sampled(way, Draws(F(9, 10)), TwoPoints(F(1, 50), F(4))), F(8))
        for way in (Direction.ADD, Direction.REMOVE)
    )
    assert add > remove


EVERY_PAIR: list[Pair] = [
    *SYMMETRIC,
    TwoPoints(F(1, 4), F(1)),
    ShiftedDiscreteGaussians(F(1, 4), 2),
    SampledLaplaces(F(1, 10), F(1)),
    DrawnGaussians(Direction.REMOVE, Draws(F(1, 10), 3), F(1)),
    DrawnGaussians(Direction.ADD, Draws(F(1, 10), 3), F(1)),
    *(SampledGaussians(direction, F(1, 10), F(1)) for direction in Direction),
    *(Diluted(F(1, 10), base) for base in (ShiftedLaplaces(F(1)), TwoPoints(F(1, 4), F(1)))),
    *(Sampled(direction, Draws(F(1, 10), 2), base) for direction in Direction for base in SYMMETRIC[:3]),
    Tagged(((F(2, 3), ShiftedGaussians(F(1))), (F(1, 3), SampledGaussians(Direction.ADD, F(1, 10), F(1))))),
]


def test_the_moment_of_a_tagged_pair_is_the_mean_of_its_parts() -> None:
    tagged = EVERY_PAIR[-1]
    assert isinstance(tagged, Tagged)
    for order in REAL_ORDERS:
        mean = sum((ball(weight) * log_moment(part, order).exp() for weight, part in tagged.parts), arb(0))
        assert log_moment(tagged, order).exp().overlaps(mean)


@pytest.mark.parametrize("pair", EVERY_PAIR)
def test_the_curve_is_convex_and_its_divergence_grows(pair: Pair) -> None:
    assert Moments.EXACT in pair.moments
    for orders in ([F("1.25"), F("1.5"), F("1.75")], [F(3), F(5), F(7)]):
        moments = [log_moment(pair, order) for order in orders]
        rates = [value / ball(order - 1) for order, value in zip(orders, moments, strict=True)]
        assert rates[0] < rates[1] < rates[2]
        interpolated = [
            (value.expm1() / ball(order * (order - 1))).log() for order, value in zip(orders, moments, strict=True)
        ]
        for curve in (moments, interpolated):
            assert curve[1] < (curve[0] + curve[2]) / 2
    assert pair.mirrored().mirrored() == pair


@pytest.mark.seconds
@given(
    st.fractions(F(1, 1000), F(99, 100)), st.fractions(F(1, 5), F(20)), st.fractions(F(101, 100), F(12)), st.booleans()
)
@settings(max_examples=25, derandomize=True, deadline=None)
def test_sums_on_two_grids_agree(q: Fraction, variance: Fraction, order: Fraction, replace: bool) -> None:
    """At another precision, step, strip and nodes all change: what is proven must not."""
    for way in [Direction.REPLACE] if replace else [Direction.REMOVE, Direction.ADD]:
        pair = SampledGaussians(way, q, variance)
        coarse, fine = log_moment(pair, order, 30), log_moment(pair, order, 110)
        assert coarse.overlaps(fine)
        assert fine.rel_accuracy_bits() >= 100


def test_too_wide_a_step_is_paid_for_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error bound must cover a bad choice of the free parameters, whatever it is."""
    pair = SampledGaussians(Direction.REMOVE, F(1, 10), F(1, 4))
    true = log_moment(pair, F("3.5"), 100)
    chosen = numerics._step
    for factor in (2, 4, 8, 40):
        monkeypatch.setattr(numerics, "_step", lambda z, b, factor=factor: (chosen(z, b)[0] * factor, chosen(z, b)[1]))
        try:
            found = log_moment(pair, F("3.5"))
        except NotCertified:
            assert factor == 40
        else:
            assert found.overlaps(true)
    monkeypatch.setattr(numerics, "_step", lambda z, b: (chosen(z, b)[0], 4.0 * z))  # beyond the branch points
    with pytest.raises(NotCertified):
        log_moment(pair, F("3.5"))


def test_infinite_losses_have_infinite_divergences() -> None:
    for pair in (UniformBalls(F(1, 4), 3), FourPoints(F(1), F(1, 100))):
        assert log_moment(pair, 2) == arb("inf")
        assert log_moment(Sampled(Direction.REMOVE, Draws(F(1, 10)), pair), 2) == arb("inf")
        assert log_moment(Sampled(Direction.ADD, Draws(F(1, 10)), pair), 2).is_finite()
    assert log_moment(RenyiProfile(((F(2), F(1)),)), "2.01") == arb("inf")
    assert renyi_curve(dp.PoissonSampled(dp.UniformBall(2, 3), "0.1")).upper(2) == math.inf
    assert renyi_epsilon(dp.UniformBall(2, 3), "1e-6").enclosure.exact_upper == math.inf
    assert renyi_delta(dp.ApproximateDP(1, "1e-9", relation=AR), 2).enclosure.exact_upper == 1
    with pytest.raises(InvalidValue):
        log_moment(Responses(F(1)), 1)


# --- From the curve to (ε, δ) -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "z", "steps", "delta"), [(0.01, 1.0, 10_000, 1e-6), (0.01, 1.0, 10_000, 1e-50), (0.1, 2.0, 100, 1e-5)]
)
def test_no_worse_than_dp_accounting_and_equal_at_the_same_order(q: float, z: float, steps: int, delta: float) -> None:
    mechanism = dp.PoissonSampled(dp.Gaussian(z), q) ** steps
    found = renyi_epsilon(mechanism, delta)

    def theirs(*orders: float) -> float:
        accountant = RdpAccountant(orders) if orders else RdpAccountant()
        accountant.compose(PoissonSampledDpEvent(q, GaussianDpEvent(z)), steps)
        return float(accountant.get_epsilon(delta))

    assert found.enclosure.upper <= theirs() <= found.enclosure.upper * (1 + 1e-4)
    # their series at fractional orders stops early: a little above
    assert found.enclosure.upper <= theirs(float(found.order)) <= found.enclosure.upper * (1 + 2e-5)
    whole = round(float(found.order))
    level = float(renyi_curve(mechanism).upper(whole))
    expected = level + math.log1p(-1 / whole) - (math.log(delta) + math.log(whole)) / (whole - 1)
    assert theirs(float(whole)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.seconds
@pytest.mark.one_in(4)
def test_no_list_of_orders_caps_the_answer() -> None:
    """One step of rate 1/1000, noise 50: the best order is 34533, far beyond the lists that libraries try."""
    found = renyi_epsilon(poisson("0.001", "50", 1), "1e-8")
    accountant = RdpAccountant()
    accountant.compose(PoissonSampledDpEvent(0.001, GaussianDpEvent(50.0)), 1)
    assert accountant.get_epsilon(1e-8) > 49 * found.enclosure.upper
    assert found.order > 30_000
    assert found.enclosure.width < 1e-6 * found.enclosure.upper


@pytest.mark.seconds_cases("mechanism2-add-or-remove-one")
@pytest.mark.parametrize(
    ("mechanism", "relation"),
    [
        (dp.Gaussian(1), AR),
        (dp.PoissonSampled(dp.Gaussian(1), "0.01"), AR),
        (dp.PoissonSampled(dp.Gaussian(50), "0.001"), AR),
        (dp.PoissonSampled(dp.Gaussian(1), "0.1"), REPLACE),
    ],
)
def test_at_least_the_exact_curve_of_one_release(mechanism: dp.Mechanism, relation: Relation) -> None:
    for delta in ("1e-3", "1e-8"):
        found = renyi_epsilon(mechanism, delta, relation)
        for ((pair, _),) in products_of(mechanism, relation):
            assert closed_form_delta(pair, found.enclosure.exact_upper)[0] <= ball(F(delta))
        at = renyi_delta(mechanism, found.enclosure.exact_upper, relation)
        assert at.enclosure.exact_upper <= F(delta) * (1 + F(1, 10**6))


EVERYTHING: list[tuple[dp.Mechanism, Relation]] = [
    (poisson("0.01", "1", 10_000), AR),
    (poisson("1e-5", "1", 10**7), AR),
    (poisson("0.01", "1", 1_000), REPLACE),
    (dp.Laplace(1) ** 100, AR),
    (dp.PoissonSampled(dp.Laplace(1), "0.01") ** 1000, AR),
    (dp.PoissonSampled(dp.Laplace(1, dimension=1), "0.01") ** 1000, REPLACE),
    (dp.ExponentialMechanism("0.5", relation=AR) ** 10, REPLACE),
    (dp.PoissonSampled(dp.ExponentialMechanism("0.5", relation=AR), "0.01") ** 1000, AR),
    (dp.SampledWithoutReplacement(dp.PureDP("0.5", relation=REPLACE), 10, 1000) ** 1000, AR),
    (dp.SampledWithoutReplacement(dp.Gaussian(2), 10, 1000) ** 100, REPLACE),
    (dp.SampledWithReplacement(dp.Gaussian(2), 3, 1000) ** 100, AR),
    (dp.RandomizedResponse(1, 4) ** 20, REPLACE),
    (dp.AboveThreshold(1, relation=AR) @ dp.Gaussian(2), AR),
    (dp.InParallel((dp.PoissonSampled(dp.Gaussian(1), "0.5"), dp.Laplace(1))) ** 3, REPLACE),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("mechanism", "relation"), EVERYTHING)
def test_the_ends_enclose_the_best_of_all_orders(mechanism: dp.Mechanism, relation: Relation) -> None:
    """A dense list of orders never beats the lower end, and comes close to the upper one."""
    delta = F(1, 10**6)
    found = renyi_epsilon(mechanism, delta, relation)
    assert found.two_sided
    assert found.enclosure.width <= 1e-5 * found.enclosure.upper
    curve = renyi_curve(mechanism, relation)

    def converted(order: Fraction) -> float:
        level = float(curve.upper(order))
        shift = math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / float(order - 1)
        return level + shift

    factors = [0.2, 0.9, 0.99, 0.9999, 1, 1.0001, 1.01, 1.1, 5]
    values = [converted(1 + (found.order - 1) * F(factor)) for factor in factors]
    assert min(values) >= found.enclosure.lower * (1 - 1e-9)
    assert min(values) <= found.enclosure.upper * (1 + 1e-6)
    back = renyi_delta(mechanism, found.enclosure.exact_upper, relation)
    assert back.two_sided
    assert back.enclosure.exact_upper == pytest.approx(float(delta), rel=1e-4)


def test_extreme_targets() -> None:
    assert renyi_epsilon(dp.Gaussian(1), "0.9").enclosure.exact_upper == 0
    assert renyi_epsilon(poisson("0.01", "1", 100), "1e-300").two_sided
    assert renyi_epsilon(dp.Laplace(1), "1e-100").enclosure.upper <= 1 + 1e-6
    assert renyi_delta(dp.Gaussian("0.001"), 0).enclosure.exact_upper == 1
    tiny = renyi_epsilon(dp.PoissonSampled(dp.PureDP("1e-6", relation=AR), "1e-6"), "1e-9").enclosure
    assert 0 <= tiny.upper < 1e-11
    for wrong in ("0", "1", "-1"):
        with pytest.raises(InvalidValue):
            renyi_epsilon(dp.Gaussian(1), wrong)
    with pytest.raises(InvalidValue):
        renyi_delta(dp.Gaussian(1), -1)


def test_black_boxes_are_composed_by_their_curves() -> None:
    concentrated = renyi_epsilon(dp.ZCDP("0.01", relation=AR) ** 50, "1e-6")
    assert not concentrated.two_sided
    assert concentrated.enclosure.upper == pytest.approx(
        renyi_epsilon(dp.Gaussian(1), "1e-6").enclosure.upper, rel=1e-9
    )
    given_orders = dp.RenyiDP({2: "0.1", 4: "0.2", 16: "0.8"}, relation=AR)
    assert renyi_curve(given_orders).orders_hint == (2, 4, 16)
    assert renyi_curve(given_orders).upper(4) == pytest.approx(0.2)
    assert renyi_curve(given_orders).upper("1.5") == pytest.approx(0.1)
    assert renyi_curve(given_orders).upper(17) == math.inf
    assert 0.2 < renyi_curve(given_orders).upper(10) < 0.8
    assert renyi_epsilon(given_orders, "1e-6").order == 16
    low = renyi_epsilon(dp.PoissonSampled(dp.RenyiDP({"1.5": "0.1"}, relation=AR), "0.01") ** 10, "1e-6")
    assert low.order == F(3, 2)


# --- Concentrated differential privacy, and the approximation ---------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "pair"),
    [
        (dp.Laplace(2), ShiftedLaplaces(F(1, 2))),
        (dp.Laplace("0.2"), ShiftedLaplaces(F(5))),
        (dp.PureDP("0.5", relation=AR), Responses(F(1, 2))),
        (dp.PureDP(4, relation=AR), Responses(F(4))),
        (dp.ExponentialMechanism(3, relation=AR), BoundedRangeProfile(F(3))),
        (dp.Gaussian(2), ShiftedGaussians(F(1, 4))),
    ],
)
def test_rho_bounds_the_whole_curve_and_is_the_least(mechanism: dp.Mechanism, pair: Pair) -> None:
    rho = zcdp_rho(mechanism)
    orders = [1 + F(2) ** k for k in range(-20, 12)]
    ratios = [log_moment(pair, order) / ball(order * (order - 1)) for order in orders]
    assert all(ratio <= ball(rho) * (1 + arb(2) ** -40) for ratio in ratios)
    nearly = 0.85 if isinstance(pair, BoundedRangeProfile) else 1 - 1e-5
    assert float(ratios[0].mid()) >= nearly * float(rho)


def test_concentrated_conversions() -> None:
    mechanism = dp.Gaussian(2) ** 4 @ dp.PureDP("0.5", relation=AR)
    classical = zcdp_epsilon(mechanism, "1e-6", form="classical")
    tight = zcdp_epsilon(mechanism, "1e-6")
    assert tight < classical
    assert tight >= renyi_epsilon(mechanism, "1e-6").enclosure.lower
    rho = float(zcdp_rho(mechanism))
    assert rho == pytest.approx(0.5 + 0.5 * math.tanh(0.25))
    assert classical.upper == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1e6)))
    assert tight.width < 1e-6
    sampled = dp.PoissonSampled(dp.Gaussian(2), "0.01") ** 4
    assert zcdp_rho(sampled) == F(1, 2)  # no gain, and sound
    assert zcdp_rho(sampled, REPLACE) == 2
    assert zcdp_rho(dp.SampledWithoutReplacement(dp.Gaussian(2), 1, 10), REPLACE) == F(1, 2)
    for refused in (dp.UniformBall(2, 3), dp.ApproximateDP(1, "0.1", relation=AR), dp.RenyiDP({2: 1}, relation=AR)):
        with pytest.raises(UnsupportedMechanism, match="renyi_curve"):
            zcdp_rho(refused)
    with pytest.raises(InvalidValue):
        zcdp_epsilon(dp.Gaussian(1), "1e-6", form="best")  # type: ignore[arg-type]  # what a user may type


def test_the_central_limit_approximation_is_labelled_as_one() -> None:
    found = gdp_clt_epsilon(poisson("0.01", "1", 10_000), "1e-6")
    assert found.certified is False
    assert found.mu == pytest.approx(0.01 * math.sqrt(1e4 * math.expm1(1)))
    assert found.epsilon < 6.9073  # below what is really spent: that is why it is never certified
    full = gdp_clt_epsilon(dp.Gaussian(1), "1e-6")
    assert float(closed_form_delta(ShiftedGaussians(F(1)), F(full.epsilon))[0].mid()) == pytest.approx(1e-6, rel=1e-9)
    assert gdp_clt_epsilon(dp.PoissonSampled(dp.Gaussian("0.01"), "0.5"), "1e-6").epsilon == math.inf
    for mechanism, relation in ((dp.Laplace(1), AR), (poisson("0.1", "1", 5), REPLACE)):
        with pytest.raises(UnsupportedMechanism):
            gdp_clt_epsilon(mechanism, "1e-6", relation)


def test_the_usual_question_is_little_work() -> None:
    mechanism = poisson("0.01", "1", 10_000)
    renyi_epsilon(mechanism, "1e-6")
    assert calls(lambda: renyi_epsilon(mechanism, "1e-6")) < 40_000  # three times what it takes, some milliseconds
